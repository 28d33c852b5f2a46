//! Warnings of faulty PVs, scores and moves in the words of fastchess, which scripts search for.

use super::{ConsoleSettings, Style};
use crate::chess::{Position, START_FEN};
use crate::record::{ByColor, GameRecord, MoveRecord, PvFault, Score, Termination};
use crate::text::printable;

/// Fault of a PV as fastchess names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct NamedFault<'a> {
    what: &'static str,
    /// Move that the warning names, if it names one.
    word: Option<&'a str>,
}

/// Warnings of the PVs and mate scores of a game, in the order of its plies. `number` is that of
/// the game, `names` are those of the engines.
pub(super) fn warnings(game: &GameRecord, number: u64, names: ByColor<&str>, setup: &ConsoleSettings) -> Vec<String> {
    let mut warnings = Vec::new();
    let mut before: Option<i32> = None;
    for (place, color, played) in game.plies() {
        if played.info.pv_fault.is_some() {
            warnings.extend(of_pv(game, number, (place, played), names.get(color), setup));
        }
        let mate = match played.info.score {
            Some(Score::Mate(moves)) if setup.style != Style::Cutechess => moves,
            _ => 0,
        };
        if let Some(other) = before.replace(mate).filter(|other| other.signum() * mate.signum() > 0) {
            let [them, us] = [color.other(), color].map(|color| format!("{} ({color})", names.get(color)));
            let what = format!("Sign mismatch in mate scores {other} and {mate} from {them} and {us}");
            let infos = format!("Infos; game {number}, ply {}, mate {other} ; ply {place}, mate {mate}", place - 1);
            warnings.push(text(game, &what, infos, place, setup));
        }
    }
    warnings
}

/// Warning of the fault in the PV of a ply, whose place is counted from 1 with those of the
/// opening; `None` if fastchess does not warn of it.
fn of_pv(
    game: &GameRecord,
    number: u64,
    (place, played): (usize, &MoveRecord),
    name: &str,
    setup: &ConsoleSettings,
) -> Option<String> {
    let mut position = Position::from_fen(&game.opening.fen, setup.variant).ok()?;
    moves(game, place - 1).try_for_each(|word| position.advance_by(word)).ok()?;
    let NamedFault { what, word } = fault(&position, played, setup.check_mate_pvs)?;
    let word = word.map_or_else(String::new, |word| format!("move {word} "));
    let info = format!("Info; game {number}, ply {place}, pv {}", played.said.pv);
    Some(text(game, &format!("{what} - {word}from {name}"), info, place - 1, setup))
}

/// First `plies` moves of a game, with those of the opening.
fn moves(game: &GameRecord, plies: usize) -> impl Iterator<Item = &str> {
    let played = game.moves.iter().map(|played| played.uci.as_str());
    game.opening.moves.iter().map(String::as_str).chain(played).take(plies)
}

/// Parts of a warning after `plies` plies, as fastchess arranges them.
fn text(game: &GameRecord, what: &str, info: String, plies: usize, setup: &ConsoleSettings) -> String {
    let fen = &game.opening.fen;
    let start = if fen == START_FEN { "startpos".to_owned() } else { format!("fen {fen}") };
    let moves = moves(game, plies).collect::<Vec<_>>().join(" ");
    let parts = [format!("Warning; {what}"), info, format!("Position; {start}"), format!("Moves; {moves}")];
    parts.map(|part| printable(&part)).join(if setup.test_env { " :: " } else { "\n" })
}

/// True for a word of the format that fastchess asks of a move: two squares, and the piece of a
/// promotion.
pub(super) const fn has_uci_format(word: &str) -> bool {
    matches!(
        word.as_bytes(),
        [b'a'..=b'h', b'1'..=b'8', b'a'..=b'h', b'1'..=b'8']
            | [b'a'..=b'h', b'1'..=b'8', b'a'..=b'h', b'1'..=b'8', b'n' | b'b' | b'r' | b'q']
    )
}

/// Fault of a PV as fastchess names it; `None` if fastchess finds none. Only the first fault of a
/// PV is known without the PV itself.
fn fault<'a>(position: &Position, played: &'a MoveRecord, check_mates: bool) -> Option<NamedFault<'a>> {
    let unnamed = |what| NamedFault { what, word: None };
    let pv = played.said.pv.as_str();
    match played.info.pv_fault? {
        PvFault::OtherMove => {
            let what = "Bestmove does not match beginning of last PV";
            Some(NamedFault { what, word: Some(&played.uci) })
        }
        PvFault::IllegalMove if pv.is_empty() => Some(unnamed("Illegal PV move")),
        PvFault::PastEnd if pv.is_empty() => Some(unnamed("PV continues after the end of the game")),
        PvFault::IllegalMove | PvFault::PastEnd => fault_of_moves(position, pv),
        PvFault::MateLength if check_mates => Some(unnamed(fault_of_mate(pv, played.info.score))),
        PvFault::MateLength => None,
    }
}

/// First illegal move of a PV, or the one after the end of the game. fastchess goes on where
/// nobody has enough material to mate.
fn fault_of_moves<'a>(position: &Position, pv: &'a str) -> Option<NamedFault<'a>> {
    let mut board = position.clone();
    for word in pv.split_ascii_whitespace() {
        let what = match board.over().map(|(_, end)| end) {
            Some(Termination::Checkmate) => "PV continues after checkmate",
            Some(Termination::Stalemate) => "PV continues after stalemate",
            Some(Termination::ThreefoldRepetition) => "PV continues after threefold repetition",
            Some(Termination::FiftyMoves) => "PV continues after fifty-move rule",
            _ if board.advance_by(word).is_err() => "Illegal PV move",
            _ => continue,
        };
        return Some(NamedFault { what, word: Some(word) });
    }
    None
}

/// Contradiction of a PV and its mate score.
fn fault_of_mate(pv: &str, score: Option<Score>) -> &'static str {
    let Some(Score::Mate(moves)) = score else { return "Mating PV does not end with checkmate" };
    let due = if moves > 0 { i64::from(moves) * 2 - 1 } else { i64::from(moves) * -2 };
    let plies = i64::try_from(pv.split_ascii_whitespace().count()).unwrap_or(i64::MAX);
    match plies.cmp(&due) {
        std::cmp::Ordering::Less => "Incomplete mating PV",
        std::cmp::Ordering::Greater => "Too long mating PV",
        std::cmp::Ordering::Equal => "Mating PV does not end with checkmate",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::Variant;
    use crate::record::{RecordedOutput, SearchInfo};

    #[test]
    fn moves_have_two_squares_and_a_piece() {
        for word in ["e2e4", "a7a8q", "h1h1", "e1g1n"] {
            assert!(has_uci_format(word), "{word}");
        }
        for word in ["", "e2", "E2E4", "e2e9", "i1a1", "a7a8Q", "a7a8k", "e7e8qq", "(none)", "0000", "Nf3"] {
            assert!(!has_uci_format(word), "{word}");
        }
    }

    #[test]
    fn faults_have_the_names_of_fastchess() {
        use PvFault::{IllegalMove, MateLength, OtherMove, PastEnd};
        let lone = "7k/8/8/8/8/8/6q1/7K w - - 0 1";
        let stale = "7k/8/6K1/8/8/8/8/5Q2 w - - 0 1";
        let ladder = "7k/8/8/8/8/8/R7/1R5K w - - 0 1";
        let late = "7k/8/8/8/8/8/R7/1R5K w - - 99 80";
        let mate = |moves| Some(Score::Mate(moves));
        for (fen, pv, pv_fault, score, expected) in [
            (START_FEN, "d2d4", OtherMove, None, Some(("Bestmove does not match beginning of last PV", Some("e2e4")))),
            (START_FEN, "e2e4 e4e5", IllegalMove, None, Some(("Illegal PV move", Some("e4e5")))),
            (START_FEN, "", IllegalMove, None, Some(("Illegal PV move", None))),
            (ladder, "a2a7 h8g8 b1b8 b8b7", PastEnd, None, Some(("PV continues after checkmate", Some("b8b7")))),
            (stale, "f1f7 h8g8", PastEnd, None, Some(("PV continues after stalemate", Some("h8g8")))),
            (late, "a2a3 h8h7", PastEnd, None, Some(("PV continues after fifty-move rule", Some("h8h7")))),
            // Nobody can mate after the capture.
            (lone, "h1g2 h8g8", PastEnd, None, None),
            (lone, "h1g2 h8h1", PastEnd, None, Some(("Illegal PV move", Some("h8h1")))),
            (ladder, "a2a7 h8g8 b1b8", MateLength, mate(3), Some(("Incomplete mating PV", None))),
            (ladder, "a2a7 h8g8 b1b8", MateLength, mate(1), Some(("Too long mating PV", None))),
            (ladder, "a2a7 h8g8 b1b7", MateLength, mate(2), Some(("Mating PV does not end with checkmate", None))),
        ] {
            let position = Position::from_fen(fen, Variant::Standard).unwrap();
            let played = MoveRecord {
                uci: "e2e4".to_owned(),
                info: SearchInfo { pv_fault: Some(pv_fault), score, ..SearchInfo::default() },
                said: RecordedOutput { pv: pv.to_owned(), ..RecordedOutput::default() },
                ..MoveRecord::default()
            };
            let named = fault(&position, &played, true).map(|fault| (fault.what, fault.word));
            assert_eq!(named, expected, "{fen}: {pv}");
            assert_eq!(fault(&position, &played, false).is_none(), named.is_none() || pv_fault == MateLength, "{pv}");
        }
    }
}
