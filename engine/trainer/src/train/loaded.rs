//! An exported network as Destrier itself loads and runs it: what counts in the end.

use super::integer::Integer;
use crate::data::record::Position;
use bulletformat::ChessBoard;
use destrier::nnue::{self, EVAL_LIMIT, FormatError};
use std::path::{Path, PathBuf};

/// What is wrong with a network that was just written.
#[derive(Debug, thiserror::Error)]
pub enum LoadedError {
    #[error("{}: Destrier cannot load what was just written: {error}", path.display())]
    Refused { path: PathBuf, error: FormatError },
    #[error(
        "{}: Destrier says {engine} cp of `{fen}` and the file's own numbers {expected}: a sum overflows; train with a smaller `clip`",
        path.display()
    )]
    Differs { path: PathBuf, fen: String, engine: i64, expected: i64 },
}

/// Loads a network file in Destrier and holds its evaluations to the trainer's whole numbers. Returns how many of the positions
/// were compared: records that are no legal position, which Destrier has no board for, are left out.
///
/// # Errors
/// [`LoadedError`] for a file that Destrier does not take, and for the first position it says something else of.
pub fn check(path: &Path, network: &Integer, positions: &[ChessBoard]) -> Result<usize, LoadedError> {
    let engine = nnue::read_file(path).map_err(|error| LoadedError::Refused { path: path.to_owned(), error })?;
    let limit = i64::from(EVAL_LIMIT);
    let mut compared = 0;
    for record in positions {
        let Ok(Position { board, .. }) = Position::from_bullet(record) else { continue };
        let expected = network.evaluate(record).clamp(-limit, limit);
        let found = i64::from(engine.evaluate_alone(&board));
        if found != expected {
            return Err(LoadedError::Differs {
                path: path.to_owned(),
                fen: board.to_fen(false),
                engine: found,
                expected,
            });
        }
        compared += 1;
    }
    Ok(compared)
}
