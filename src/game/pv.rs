//! Principal variations checked against the rules.
//!
//! A wrong variation costs no game, but it is counted and reported, because most faults of a search
//! or a hash table show there first.

use crate::chess::Position;
use crate::record::{PvFault, Score, Termination};

/// Returns the first fault of the variation `pv` (words separated by blanks), received before
/// `best` was played from `position`.
///
/// An empty one has no fault. `score` is the score that came with it, if that was exact.
///
/// A variation may be shorter than its mate score: hash tables cut them. It contradicts the score
/// if it is longer, if it mates at another move, or if it is as long and does not mate.
#[must_use]
pub fn check(position: &Position, pv: &[u8], score: Option<Score>, best: &str) -> Option<PvFault> {
    let Ok(pv) = std::str::from_utf8(pv) else { return Some(PvFault::IllegalMove) };
    let mut words = pv.split_ascii_whitespace().peekable();
    let first = words.peek()?;
    if *first != best && !position.same_move(first, best) && position.same_move(first, first) {
        return Some(PvFault::OtherMove);
    }
    let mut board = position.clone();
    let mut plies = 0;
    let mut end = None;
    for word in words {
        if end.is_some() {
            return Some(PvFault::PastEnd);
        }
        if board.advance_by(word).is_err() {
            return Some(PvFault::IllegalMove);
        }
        plies += 1;
        end = board.over().map(|(_, termination)| termination);
    }
    let Some(Score::Mate(moves)) = score else { return None };
    // The mover mates with its own move, and is mated by the other side's.
    let due = if moves > 0 { i64::from(moves) * 2 - 1 } else { i64::from(moves) * -2 };
    let mated = end == Some(Termination::Checkmate);
    (plies > due || mated != (plies == due)).then_some(PvFault::MateLength)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::{START_FEN, Variant};

    const LADDER: &str = "7k/8/8/8/8/8/R7/1R5K w - - 0 1";

    #[track_caller]
    fn check_pv(fen: &str, best: &str, pv: &str, score: Option<Score>, expected: Option<PvFault>) {
        let position = Position::from_fen(fen, Variant::Standard).unwrap();
        assert_eq!(check(&position, pv.as_bytes(), score, best), expected, "{pv}, {score:?}");
    }

    #[test]
    fn variations_are_held_against_the_rules() {
        use PvFault::{IllegalMove, MateLength, OtherMove, PastEnd};
        let mate = |moves| Some(Score::Mate(moves));
        for (best, pv, expected) in [
            ("e2e4", "", None),
            ("e2e4", "e2e4", None),
            ("e2e4", "e2e4 e7e5  g1f3", None),
            ("e2e4", "d2d4 d7d5", Some(OtherMove)),
            ("e2e4", "e2e5 d7d5", Some(IllegalMove)),
            ("e2e4", "e2e4 e7e5 e4e5", Some(IllegalMove)),
            ("e2e4", "e2e4 E7E5", Some(IllegalMove)),
            ("f2f3", "f2f3 e7e5 g2g4 d8h4", None),
            ("f2f3", "f2f3 e7e5 g2g4 d8h4 e1f2", Some(PastEnd)),
        ] {
            check_pv(START_FEN, best, pv, None, expected);
        }
        let castling = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1";
        check_pv(castling, "e1g1", "e1h1 e8c8", None, None);
        // Nobody can mate after the capture.
        check_pv("7k/8/8/8/8/8/6q1/7K w - - 0 1", "h1g2", "h1g2 h8g8", None, Some(PastEnd));
        for (pv, score, expected) in [
            ("a2a7 h8g8 b1b8", mate(2), None),
            ("a2a7 h8g8", mate(2), None),
            ("a2a7 h8g8 b1b8", mate(3), Some(MateLength)),
            ("a2a7 h8g8 b1b8", mate(1), Some(MateLength)),
            ("a2a7 h8g8 b1b7", mate(2), Some(MateLength)),
            ("a2a7 h8g8 b1b8", mate(-2), Some(MateLength)),
            ("a2a7 h8g8 b1b8", Some(Score::Cp(900)), None),
            ("a2a7", mate(i32::MAX), None),
            ("a2a7", mate(i32::MIN), None),
        ] {
            check_pv(LADDER, "a2a7", pv, score, expected);
        }
        check_pv("7k/R7/8/8/8/8/8/1R5K b - - 0 1", "h8g8", "h8g8 b1b8", mate(-1), None);
        let position = Position::default();
        assert_eq!(check(&position, b"\xff", None, "e2e4"), Some(IllegalMove));
    }
}
