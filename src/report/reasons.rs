//! Reasons of game ends, in the words of the leading runners.

use crate::record::{ByColor, Color, GameRecord, Termination};

/// Reason of a game's end with the players' names: `White mates`, `Draw by 3-fold repetition`, `new
/// loses on time (12ms overrun)`.
#[must_use]
pub fn named_reason(game: &GameRecord, names: &ByColor<&str>) -> String {
    let name = |side: Option<Color>| side.map_or("nobody", |side| names.get(side)).to_owned();
    reason(game, name, &game.ending.detail)
}

/// Reason of a game's end. Sides are named by colour, because scripts search for that. Details of
/// failures are left out.
#[must_use]
pub fn side_reason(game: &GameRecord) -> String {
    reason(game, color_name, "")
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

/// Illegal move that ended a game: the part of the ending's detail in backquotes, or all of it.
#[must_use]
pub fn illegal_move(game: &GameRecord) -> Option<&str> {
    let detail = game.ending.detail.as_str();
    let word = detail.split('`').nth(1).filter(|word| !word.is_empty()).unwrap_or(detail);
    (game.ending.termination == Termination::IllegalMove && !word.is_empty()).then_some(word)
}
