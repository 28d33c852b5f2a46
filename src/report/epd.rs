//! Final positions of games as EPD: four fields of a FEN and the two counters as operations.
//!
//! ```text
//! 8/8/8/4k3/8/8/4K3/8 w - - hmvc 12; fmvn 71;
//! ```
//!
//! Edwards's "Portable Game Notation Specification", 1994, section 16.2.5 defines `hmvc` and
//! `fmvn`.

use crate::chess::{Position, Variant};
use crate::record::GameRecord;
use crate::report::pgn::PgnError;

/// EPD line of a game's final position, with its line end.
///
/// # Errors
/// [`PgnError`] for a record that can't be replayed.
pub fn line(record: &GameRecord, variant: Variant) -> Result<String, PgnError> {
    let position = final_position(record, variant)?;
    let fen = position.fen();
    let fields: Vec<_> = fen.split(' ').take(4).collect();
    Ok(format!("{} hmvc {}; fmvn {};\n", fields.join(" "), position.halfmoves(), position.fullmoves()))
}

/// FEN of a game's final position, as cutechess-cli writes it, with its line end.
///
/// # Errors
/// [`PgnError`] for a record that can't be replayed.
pub fn fen_line(record: &GameRecord, variant: Variant) -> Result<String, PgnError> {
    final_position(record, variant).map(|position| position.fen() + "\n")
}

fn final_position(record: &GameRecord, variant: Variant) -> Result<Position, PgnError> {
    let game = record.id.number();
    let mut position =
        Position::from_fen(&record.opening.fen, variant).map_err(|source| PgnError::Fen { game, source })?;
    let moves = record.opening.moves.iter().chain(record.moves.iter().map(|played| &played.uci));
    for (ply, uci) in (1..).zip(moves) {
        position.advance_by(uci).map_err(|source| PgnError::Move { game, ply, source })?;
    }
    Ok(position)
}
