//! Reasons of game ends, in the words of the leading runners.

use crate::record::{Color, GameRecord, Outcome, Termination};

/// Reason of a game's end. Sides are named by colour, because scripts search for that.
#[must_use]
pub fn side_reason(game: &GameRecord) -> String {
    let ending = &game.ending;
    let winner = match ending.outcome {
        Outcome::WhiteWins => Some(Color::White),
        Outcome::BlackWins => Some(Color::Black),
        Outcome::Draw => None,
    };
    let name = |side: Option<Color>| side.map_or_else(|| "Nobody".to_owned(), |side| side.to_string());
    let (winner, loser) = (name(winner), name(winner.map(Color::other)));
    let drawn = ending.outcome == Outcome::Draw;
    match ending.termination {
        Termination::Checkmate => format!("{winner} mates"),
        Termination::Stalemate => "Draw by stalemate".to_owned(),
        Termination::InsufficientMaterial => "Draw by insufficient mating material".to_owned(),
        Termination::ThreefoldRepetition => "Draw by 3-fold repetition".to_owned(),
        Termination::FiftyMoves => "Draw by fifty moves rule".to_owned(),
        Termination::TimeForfeit if ending.detail.is_empty() => format!("{loser} loses on time"),
        Termination::TimeForfeit => format!("{loser} loses on time ({})", ending.detail),
        Termination::IllegalMove => format!("{loser} makes an illegal move"),
        Termination::Crash => format!("{loser} disconnects"),
        Termination::Stall => format!("{loser}'s connection stalls"),
        Termination::ResignAdjudication | Termination::DrawAdjudication | Termination::MaxPliesAdjudication => {
            if drawn { "Draw by adjudication".to_owned() } else { format!("{winner} wins by adjudication") }
        }
        Termination::TablebaseAdjudication => {
            if drawn {
                "Draw by adjudication: SyzygyTB".to_owned()
            } else {
                format!("{winner} wins by adjudication: SyzygyTB")
            }
        }
    }
}

/// Illegal move that ended a game: the part of the ending's detail in backquotes, or all of it.
#[must_use]
pub fn illegal_move(game: &GameRecord) -> Option<&str> {
    let detail = game.ending.detail.as_str();
    let word = detail.split('`').nth(1).filter(|word| !word.is_empty()).unwrap_or(detail);
    (game.ending.termination == Termination::IllegalMove && !word.is_empty()).then_some(word)
}
