//! Test positions in EPD: the position, and operations that say what a good answer is.
//!
//! | operation | meaning |
//! | --- | --- |
//! | `bm Qg6;`, `am Nf3 Nd5;` | best moves, moves to avoid |
//! | `dm 4;`, `bm #4;` | the side to move mates in this many moves |
//! | `bm #-4;` | it is mated in this many moves |
//! | `c0 "f5=10, Be5+=2";` | points by move (STS) |
//! | `c8 "10 5"; c9 "e2e4 d2d4";` | the same with the moves apart (STS) |
//! | `;D1 20 ;D2 400` | perft counts by depth |
//! | `id "WAC.001";` | name; its text before the number is the theme |
//!
//! Other operations are passed over. The format is that of "Portable Game Notation Specification
//! and Implementation Guide", section 16.2 (Edwards 1994), and what test suites made of it.

use std::path::{Path, PathBuf};

use crate::chess::{Position, Variant, has_rook_files};
use crate::text::printable;

/// A test position.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TestPosition {
    /// Name of the position, or the number of its line.
    pub(crate) id: String,
    /// The part of the suite that it belongs to; empty for a suite without parts.
    pub(crate) theme: String,
    /// The position.
    pub(crate) fen: String,
    /// Standard chess or Chess960.
    pub(crate) variant: Variant,
    /// Task of the test.
    pub(crate) task: Task,
}

impl TestPosition {
    /// The position on the board.
    ///
    /// # Errors
    /// Returns an error if it is illegal, which `parse` refuses.
    pub(crate) fn position(&self) -> Result<Position, String> {
        Position::from_fen(&self.fen, self.variant).map_err(|error| error.to_string())
    }
}

/// Question of a test.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Task {
    /// Search for the best move.
    Move {
        /// Points by move, in UCI notation. The greatest are the best moves.
        points: Vec<(String, f64)>,
        /// Moves to avoid, in UCI notation.
        avoid: Vec<String>,
    },
    /// Search for a mate in this many moves; negative if the side to move is mated.
    Mate(i32),
    /// Count of the lines of legal moves, by depth.
    Perft(Vec<(u32, u64)>),
}

impl Task {
    /// Points of a perfect answer.
    pub(crate) fn most(&self) -> f64 {
        match self {
            Self::Move { points, .. } if !points.is_empty() => {
                points.iter().map(|(_, points)| *points).fold(0.0, f64::max)
            }
            Self::Move { .. } | Self::Mate(_) => 1.0,
            Self::Perft(counts) => counts.len() as f64,
        }
    }
}

/// Fault in a suite, with its place.
#[derive(Debug, thiserror::Error)]
#[error("{}:{line}: {why}", path.display())]
pub struct EpdError {
    path: PathBuf,
    line: usize,
    why: String,
}

/// Parses a suite. Empty lines and lines that begin with `#` are passed over.
///
/// # Errors
/// Returns an error with file and line for a position that cannot be, a move that is not legal in
/// it, or a test that asks nothing.
pub(crate) fn parse(path: &Path, text: &str, variant: Variant) -> Result<Vec<TestPosition>, EpdError> {
    let mut tests = Vec::new();
    for (place, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let test =
            test(line, place + 1, variant).map_err(|why| EpdError { path: path.to_owned(), line: place + 1, why })?;
        tests.push(test);
    }
    if tests.is_empty() {
        return Err(EpdError { path: path.to_owned(), line: 1, why: "there is no position in it".to_owned() });
    }
    let is_whole = tests.iter().all(|test| test.theme == tests[0].theme);
    if is_whole {
        tests.iter_mut().for_each(|test| test.theme.clear());
    }
    Ok(tests)
}

/// Fields before the operations, and the rest.
fn split(line: &str) -> (String, &str) {
    let mut rest = line;
    let mut fields: Vec<&str> = Vec::new();
    while fields.len() < 6 {
        let trimmed = rest.trim_start();
        let end = trimmed.find([' ', '\t', ';']).unwrap_or(trimmed.len());
        let word = &trimmed[..end];
        // A FEN has two counters after the fields of an EPD.
        if word.is_empty() || fields.len() >= 4 && word.parse::<u32>().is_err() {
            break;
        }
        fields.push(word);
        rest = &trimmed[end..];
    }
    (fields.join(" "), rest)
}

fn test(line: &str, number: usize, variant: Variant) -> Result<TestPosition, String> {
    let (mut fen, rest) = split(line);
    match fen.split(' ').count() {
        4 => fen += " 0 1",
        6 => {}
        _ => return Err(format!("`{}` is not a position: give the four fields of an EPD", printable(line))),
    }
    let position = Position::from_fen(&fen, variant).map_err(|error| error.to_string())?;
    // Rook files, as in `HAha`, are known to engines for Chess960 alone.
    if variant == Variant::Standard && has_rook_files(&fen) {
        fen = position.fen();
    }
    let operations = operations(rest);
    let find = |code: &str| operations.iter().find(|(known, _)| known == code).map(|(_, operand)| operand.as_str());
    let id = find("id").map_or_else(|| number.to_string(), str::to_owned);
    let counts: Vec<(u32, u64)> = operations.iter().filter_map(|(code, count)| perft(code, count)).collect();
    let task = if !counts.is_empty() {
        Task::Perft(counts)
    } else if let Some(moves) = find("dm") {
        match moves.trim().parse() {
            Ok(moves @ 1..=999) => Task::Mate(moves),
            _ => return Err(format!("dm {}: write a number of moves", printable(moves))),
        }
    } else if let Some(moves) = find("bm").and_then(|best| best.strip_prefix('#')) {
        match moves.trim().parse() {
            Ok(moves @ (-999..=-1 | 1..=999)) => Task::Mate(moves),
            _ => return Err(format!("bm #{}: write a number of moves", printable(moves))),
        }
    } else {
        move_task(&position, find)?
    };
    Ok(TestPosition { theme: theme(&id), id, fen, variant, task })
}

fn move_task<'a>(position: &Position, find: impl Fn(&str) -> Option<&'a str>) -> Result<Task, String> {
    let read = |text: &str| uci(position, text);
    let all = |code: &str| -> Result<Vec<String>, String> {
        let texts = find(code).unwrap_or_default().split_whitespace().map(|text| text.trim_matches(','));
        texts.filter(|text| *text != EN_PASSANT).map(read).collect()
    };
    let (best, avoid) = (all("bm")?, all("am")?);
    let mut points: Vec<(String, f64)> = Vec::new();
    if let (Some(counts), Some(moves)) = (find("c8"), find("c9")) {
        let words = |text: &'a str| text.split_whitespace().filter(|text| *text != EN_PASSANT).collect::<Vec<_>>();
        let [counts, moves] = [words(counts), words(moves)];
        if counts.len() != moves.len() {
            return Err(format!("c8 has {} points for the {} moves of c9; write as many", counts.len(), moves.len()));
        }
        for (count, text) in counts.into_iter().zip(moves) {
            points.push((read(text)?, count_of("c8", count)?));
        }
    } else if let Some(listed) = find("c0").filter(|text| text.contains('=')) {
        for item in listed.split(',') {
            // A move may hold `=` itself, as in e8=Q=10.
            let Some((text, count)) = item.trim().rsplit_once('=') else { continue };
            match (read(text.trim()), count_of("c0", count.trim())) {
                // A comment.
                (Err(_), Err(_)) => {}
                (text, count) => points.push((text?, count?)),
            }
        }
    }
    if !points.is_empty() && points.iter().all(|(_, points)| *points <= 0.0) {
        return Err("no move has points above 0; give the best one its points".to_owned());
    }
    if points.is_empty() {
        points = best.into_iter().map(|best| (best, 1.0)).collect();
    }
    if points.is_empty() && avoid.is_empty() {
        return Err("no task: there is neither bm, am, dm, points (c0, or c8 and c9), nor perft counts".to_owned());
    }
    Ok(Task::Move { points, avoid })
}

/// Reads the points of a move.
fn count_of(code: &str, text: &str) -> Result<f64, String> {
    let count = text.parse().ok().filter(|count: &f64| count.is_finite() && *count >= 0.0);
    count.ok_or_else(|| format!("{code}: `{}` is no number of points; write 0 or more", printable(text)))
}

/// Note after a move, or at its end. It says nothing that the move does not.
const EN_PASSANT: &str = "e.p.";

/// Reads a move in standard algebraic or UCI notation, and returns it in UCI notation.
fn uci(position: &Position, text: &str) -> Result<String, String> {
    let text = text.strip_suffix(EN_PASSANT).map_or(text, str::trim_end);
    if position.clone().advance_by(text).is_ok() {
        return Ok(text.to_owned());
    }
    position.clone().play_san(text).map(|played| played.uci).map_err(|error| error.to_string())
}

/// Operation codes with their operands, less quotation marks.
fn operations(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches([' ', '\t', ';']);
        if rest.is_empty() {
            return found;
        }
        let end = rest.find([' ', '\t', ';']).unwrap_or(rest.len());
        let code = &rest[..end];
        let mut is_quoted = false;
        let close = rest[end..].find(|c| {
            is_quoted ^= c == '"';
            c == ';' && !is_quoted
        });
        let operand_end = close.map_or(rest.len(), |close| end + close);
        let operand = rest[end..operand_end].trim().trim_matches('"').trim();
        found.push((code.to_owned(), operand.to_owned()));
        rest = &rest[operand_end..];
    }
}

/// Depth and count of a perft operation, such as `D3 8902`.
fn perft(code: &str, count: &str) -> Option<(u32, u64)> {
    Some((code.strip_prefix('D')?.parse().ok()?, count.trim().parse().ok()?))
}

/// Text of an id before the number at its end: `STS(v2.2) Open Files` of `STS(v2.2) Open
/// Files.012`.
fn theme(id: &str) -> String {
    let text = id.trim_end_matches(|c: char| c.is_ascii_digit());
    text.trim_end_matches([' ', '.', '-', '#', '_', ':']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(line: &str) -> Result<TestPosition, String> {
        test(line, 7, Variant::Standard)
    }

    fn moves(points: &[(&str, f64)], avoid: &[&str]) -> Task {
        Task::Move {
            points: points.iter().map(|(text, points)| ((*text).to_owned(), *points)).collect(),
            avoid: avoid.iter().map(|text| (*text).to_owned()).collect(),
        }
    }

    const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -";

    #[test]
    fn operations_of_known_suites_are_read() {
        for (operations, task) in [
            (" bm e4;", moves(&[("e2e4", 1.0)], &[])),
            (" bm e4 Nf3+!; id \"x\";", moves(&[("e2e4", 1.0), ("g1f3", 1.0)], &[])),
            (" 0 1 bm e2e4;", moves(&[("e2e4", 1.0)], &[])),
            (" am f3 g4; c1 \"no = sign; here\";", moves(&[], &["f2f3", "g2g4"])),
            (" bm e4; c0 \"e4=10, d4=7, Nf3=2.5\";", moves(&[("e2e4", 10.0), ("d2d4", 7.0), ("g1f3", 2.5)], &[])),
            (" bm e4; c7 \"e4 d4\"; c8 \"10 5\"; c9 \"e2e4 d2d4\";", moves(&[("e2e4", 10.0), ("d2d4", 5.0)], &[])),
            (" bm e4; c0 \"from a game\";", moves(&[("e2e4", 1.0)], &[])),
            (" bm e4; c0 \"+= for White\";", moves(&[("e2e4", 1.0)], &[])),
            (" dm 3; bm e4;", Task::Mate(3)),
            (" bm #12;", Task::Mate(12)),
            (" bm #-1; id \"x\";", Task::Mate(-1)),
            (" 0 1 ;D1 20 ;D2 400", Task::Perft(vec![(1, 20), (2, 400)])),
        ] {
            assert_eq!(one(&format!("{START}{operations}")).map(|test| test.task), Ok(task), "{operations}");
        }
        for operations in [
            "bm exd6 e.p.;",
            "bm exd6 e.p., Kd1;",
            "bm exd6e.p. Kd1;",
            "c0 \"exd6 e.p.=1, Kd1=1\";",
            "c8 \"1 1\"; c9 \"exd6 e.p. Kd1\";",
        ] {
            let found = one(&format!("4k3/8/8/3pP3/8/8/8/4K3 w - d6 {operations}")).map(|test| test.task);
            let all = [("e5d6", 1.0), ("e1d1", 1.0)];
            assert_eq!(
                found,
                Ok(moves(if operations.contains("Kd1") { &all } else { &all[..1] }, &[])),
                "{operations}"
            );
        }
        let promotes = one("7k/4P3/8/8/8/8/8/K7 w - - c0 \"e8=Q+=10, e8=N=1\";").unwrap();
        assert_eq!(promotes.task, moves(&[("e7e8q", 10.0), ("e7e8n", 1.0)], &[]));
    }

    #[test]
    fn rook_files_are_for_chess960() {
        let (board, rest) = ("r3k2r/8/8/8/8/8/8/R3K2R w", "- bm e1g1;");
        let fen = |rights: &str, variant| test(&format!("{board} {rights} {rest}"), 1, variant).unwrap().fen;
        assert_eq!(fen("HAh", Variant::Standard), format!("{board} KQk - 0 1"));
        assert_eq!(fen("HAh", Variant::Chess960), format!("{board} HAh - 0 1"));
    }

    #[test]
    fn faults_are_named_with_their_line() {
        for (line, says) in [
            ("", "there is no position"),
            ("rnbqkbnr/pppppppp w", "suite.epd:1: `rnbqkbnr/pppppppp w` is not a position"),
            (&format!("# comment\n\n{START} bm e5;"), "suite.epd:3: `e5` is not legal here"),
            (&format!("{START} id \"nothing\";"), "no task"),
            (&format!("{START} dm soon;"), "dm soon: write a number of moves"),
            (&format!("{START} bm #0;"), "bm #0: write a number of moves"),
            (&format!("\n{START} c0 \"e4=nan\";"), "suite.epd:2: c0: `nan` is no number of points; write 0 or more"),
            (&format!("{START} c0 \"e4=10, d4=-1\";"), "c0: `-1` is no number"),
            (&format!("{START} c0 \"e4=10, d4=x\";"), "c0: `x` is no number"),
            (&format!("{START} c8 \"10 inf\"; c9 \"e2e4 d2d4\";"), "c8: `inf` is no number"),
            (&format!("{START} c8 \"10 5 1\"; c9 \"e2e4 d2d4\";"), "c8 has 3 points for the 2 moves of c9"),
            (&format!("{START} c8 \"0 0\"; c9 \"e2e4 d2d4\";"), "no move has points above 0"),
            ("1r3kr1/pppppppp/8/8/8/8/PPPPPPPP/1R3KR1 w GBgb - bm e4;", "needs `--chess960`"),
            ("8/8/8/8/8/8/8/8 w - - bm e4;", "suite.epd:1:"),
        ] {
            let error = parse(Path::new("suite.epd"), line, Variant::Standard).unwrap_err().to_string();
            assert!(error.contains(says), "{line}: {error}");
        }
        let shuffled = "1r3kr1/pppppppp/8/8/8/8/PPPPPPPP/1R3KR1 w GBgb - ;D1 19";
        assert!(parse(Path::new("suite.epd"), shuffled, Variant::Chess960).is_ok());
    }

    #[test]
    fn parts_of_a_suite_are_its_themes() {
        let line = |id: &str| format!("{START} bm e4; id \"{id}\";\n");
        let themes = |ids: &[&str]| {
            let text: String = ids.iter().map(|id| line(id)).collect();
            let tests = parse(Path::new("x"), &text, Variant::Standard).unwrap();
            tests.into_iter().map(|test| test.theme).collect::<Vec<_>>()
        };
        assert_eq!(themes(&["WAC.001", "WAC.002"]), ["", ""]);
        assert_eq!(
            themes(&["STS(v1.0) Undermine.001", "STS(v2.2) Open Files.012"]),
            ["STS(v1.0) Undermine", "STS(v2.2) Open Files"]
        );
    }

    proptest::proptest! {
        #[test]
        fn no_line_panics(line in "\\PC{0,80}", tail in "[a-z0-9 \";=,D]{0,40}") {
            let _ = test(&line, 1, Variant::Chess960);
            let _ = test(&format!("{START} {tail}"), 1, Variant::Standard);
        }
    }
}
