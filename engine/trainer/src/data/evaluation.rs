//! Evaluations without a search in what an engine prints for the command `eval`.
//!
//! UCI has no such command, but many engines do. Stockfish 15.1 prints a table, and then
//! `NNUE evaluation        +0.28 (white side)`; Destrier prints `nnue: 29 cp for the side to move`.

use super::journal::white_score;
use clap::ValueEnum;
use destrier::types::Color;
use quintain::record::Score;

/// Side whose advantage is positive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EvaluationView {
    /// White
    White,
    /// The side to move
    Mover,
}

/// Reason why a line has no evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvaluationFault {
    /// No number stands behind the words.
    NoNumber,
    /// The line does not say whose advantage is positive.
    NoView,
}

/// Returns the evaluation in centipawns of White from a line that begins with `words`, with nothing
/// but blanks, colons, equals signs, bars and `cp` between them and the number. A number with a
/// decimal point is in pawns unless `cp` stands at it, and one without is in centipawns. The line
/// has `white`, `side to move` or `stm` if no view is given.
///
/// # Errors
/// [`EvaluationFault`].
pub fn white_evaluation(
    line: &[u8],
    words: &str,
    turn: Color,
    view: Option<EvaluationView>,
) -> Result<i16, EvaluationFault> {
    let line = String::from_utf8_lossy(line).to_lowercase();
    let rest = line.trim_start().strip_prefix(&words.to_lowercase()).ok_or(EvaluationFault::NoNumber)?;
    let (value, is_centipawns) = number(rest).ok_or(EvaluationFault::NoNumber)?;
    // As wide as any score: a cast does not wrap.
    let centipawns = (if is_centipawns { value } else { value * 100.0 }).round() as i32;
    let told = if rest.contains("side to move") || rest.contains("stm") {
        Some(EvaluationView::Mover)
    } else {
        rest.contains("white").then_some(EvaluationView::White)
    };
    let side = match view.or(told).ok_or(EvaluationFault::NoView)? {
        EvaluationView::White => Color::White,
        EvaluationView::Mover => turn,
    };
    Ok(white_score(Score::Cp(centipawns), side))
}

/// Number behind the words of a line, and true if it is in centipawns.
fn number(rest: &str) -> Option<(f64, bool)> {
    // The words end where they are said to end: `eval` does not begin the line `eval2 5`.
    if rest.starts_with(|next: char| next.is_alphanumeric() || next == '.') {
        return None;
    }
    let between = |text: char| text.is_whitespace() || matches!(text, ':' | '=' | '|' | '(' | '[');
    let rest = rest.trim_start_matches(between);
    let (rest, is_told) = match rest.strip_prefix("cp") {
        Some(rest) if rest.starts_with(between) => (rest.trim_start_matches(between), true),
        _ => (rest, false),
    };
    let (sign, rest) = match rest.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, rest.strip_prefix('+').unwrap_or(rest)),
    };
    let rest = rest.trim_start();
    let digits = &rest[..rest.find(|text: char| !(text.is_ascii_digit() || text == '.')).unwrap_or(rest.len())];
    let after = rest[digits.len()..].trim_start();
    let value: f64 = digits.parse().ok()?;
    Some((sign * value, is_told || after.starts_with("cp") || !digits.contains('.')))
}

#[cfg(test)]
mod tests {
    use super::*;
    use EvaluationFault::{NoNumber, NoView};
    use EvaluationView::{Mover, White};

    fn found(line: &str, words: &str, turn: Color) -> Result<i16, EvaluationFault> {
        white_evaluation(line.as_bytes(), words, turn, None)
    }

    #[test]
    fn the_unit_and_the_view_are_those_of_the_line() {
        for turn in [Color::White, Color::Black] {
            assert_eq!(found("NNUE evaluation        +0.28 (white side)", "NNUE evaluation", turn), Ok(28));
            assert_eq!(
                found("  Final evaluation       -0.35 (white side) [scaled]", "Final evaluation", turn),
                Ok(-35)
            );
            assert_eq!(found("eval: -31 (White)", "Eval", turn), Ok(-31));
            assert_eq!(found("eval = cp 29.5 of white", "eval", turn), Ok(30));
            assert_eq!(found("eval | - 0.02 | white", "eval", turn), Ok(-2));
        }
        for (turn, sign) in [(Color::White, 1), (Color::Black, -1)] {
            let line = "nnue: 29 cp for the side to move, (768 -> 512)x2";
            assert_eq!(found(line, "nnue:", turn), Ok(29 * sign));
            assert_eq!(found("eval -0.1 (side to move)", "eval", turn), Ok(-10 * sign));
            assert_eq!(found("eval 29cp (stm)", "eval", turn), Ok(29 * sign));
        }
    }

    #[test]
    fn a_view_that_is_given_goes_before_that_of_the_line() {
        for (line, expected) in [("eval 17", [17, -17]), ("eval 0.17 (white)", [17, -17])] {
            let read = [White, Mover].map(|view| white_evaluation(line.as_bytes(), "eval", Color::Black, Some(view)));
            assert_eq!(read, expected.map(Ok), "{line}");
        }
        assert_eq!(found("eval 17", "eval", Color::White), Err(NoView));
    }

    #[test]
    fn other_numbers_of_the_line_do_not_count() {
        for line in [
            "Final evaluation: none (in check), white",
            "Final evaluation none at move 12, white",
            "Final evaluation2 5 white",
            "Final evaluation.5 white",
            "Final evaluation inf white",
            "Final evaluation 1.2.3 white",
            "Final evaluation",
            "",
        ] {
            assert_eq!(found(line, "Final evaluation", Color::White), Err(NoNumber), "{line}");
        }
    }

    #[test]
    fn nothing_overflows() {
        let most = white_score(Score::Cp(i32::MAX), Color::White);
        for line in [format!("eval {} white", "9".repeat(400)), "eval 99999999999.0 white".to_owned()] {
            assert_eq!(found(&line, "eval", Color::White), Ok(most), "{line}");
        }
        assert_eq!(white_evaluation(b"eval \xff\xfe 1", "eval", Color::White, Some(White)), Err(NoNumber));
    }
}
