//! Reasons of game ends, in the words of the leading runners.

use crate::plan::recording::Layout;
use crate::record::{ByColor, Color, GameRecord, Termination};

/// Reason of a game's end with the players' names: `White mates`, `Draw by 3-fold repetition`, `new
/// loses on time (12ms overrun)`.
#[must_use]
pub fn named_reason(game: &GameRecord, names: &ByColor<&str>) -> String {
    let name = |side: Option<Color>| side.map_or("nobody", |side| names.get(side)).to_owned();
    reason(game, name, &game.ending.detail)
}

/// Reason of a game's end in the words of cutechess-cli, or of fastchess in all other layouts.
/// Sides are named by colour, because scripts search for that. Details of failures are left out.
#[must_use]
pub fn side_reason(game: &GameRecord, layout: Layout) -> String {
    let ending = &game.ending;
    let loser = color_name(ending.outcome.winner().map(Color::other));
    let is_cutechess = layout == Layout::Cutechess;
    let illegal = illegal_move(game).filter(|_| is_cutechess);
    match (ending.termination, illegal) {
        (Termination::TimeForfeit, _) if is_cutechess => format!("{loser} loses on time"),
        (Termination::TimeForfeit, _) if !ending.detail.is_empty() => {
            format!("{loser} loses on time ({})", in_whole_millis(&ending.detail))
        }
        (Termination::IllegalMove, Some(word)) => format!("{loser} makes an illegal move: {word}"),
        (Termination::MaxPliesAdjudication, _) if is_cutechess => {
            "Draw by adjudication: maximal game length".to_owned()
        }
        _ => reason(game, color_name, ""),
    }
}

fn color_name(side: Option<Color>) -> String {
    side.map_or_else(|| "Nobody".to_owned(), |side| side.to_string())
}

/// Reason of a game's end, with `failure` behind the failure of an engine.
fn reason(game: &GameRecord, name: impl Fn(Option<Color>) -> String, failure: &str) -> String {
    let ending = &game.ending;
    let winner = ending.outcome.winner();
    let loser = name(winner.map(Color::other));
    let failed = |text: &str| format!("{loser}{text}{}{failure}", if failure.is_empty() { "" } else { ": " });
    let adjudicated = |by: &str| match winner {
        None => format!("Draw by adjudication{by}"),
        Some(_) => format!("{} wins by adjudication{by}", name(winner)),
    };
    match ending.termination {
        Termination::Checkmate => format!("{} mates", color_name(winner)),
        Termination::Stalemate => "Draw by stalemate".to_owned(),
        Termination::InsufficientMaterial => "Draw by insufficient mating material".to_owned(),
        Termination::ThreefoldRepetition => "Draw by 3-fold repetition".to_owned(),
        Termination::FiftyMoves => "Draw by fifty moves rule".to_owned(),
        Termination::TimeForfeit if ending.detail.is_empty() => format!("{loser} loses on time"),
        Termination::TimeForfeit => format!("{loser} loses on time ({})", ending.detail),
        Termination::IllegalMove => failed(" makes an illegal move"),
        Termination::Crash => failed(" disconnects"),
        Termination::Stall => failed("'s connection stalls"),
        Termination::ResignAdjudication | Termination::DrawAdjudication | Termination::MaxPliesAdjudication => {
            adjudicated("")
        }
        Termination::TablebaseAdjudication => adjudicated(": SyzygyTB"),
    }
}

/// Detail of a loss on time (`11.25ms overrun`) in whole milliseconds, cut as in fastchess.
fn in_whole_millis(detail: &str) -> String {
    match detail.split_once("ms ") {
        Some((millis, rest)) => format!("{}ms {rest}", millis.split('.').next().unwrap_or(millis)),
        None => detail.to_owned(),
    }
}

/// Illegal move that ended a game: the part of the ending's detail in backquotes, or all of it.
#[must_use]
pub fn illegal_move(game: &GameRecord) -> Option<&str> {
    let detail = game.ending.detail.as_str();
    let word = detail.split('`').nth(1).unwrap_or(detail);
    (game.ending.termination == Termination::IllegalMove && !word.is_empty()).then_some(word)
}
