//! Check of an exported network in Destrier itself.

use super::integer::Integer;
use crate::data::record::Position;
use bulletformat::ChessBoard;
use destrier::nnue::{self, EVAL_LIMIT, FormatError};
use std::path::{Path, PathBuf};

/// Error of a network that is about to be written.
#[derive(Debug, thiserror::Error)]
pub enum LoadedError {
    #[error("{}: Destrier cannot load what would be written: {error}", path.display())]
    Refused { path: PathBuf, error: FormatError },
    #[error(
        "{}: Destrier says {engine} cp of `{fen}` and the file's own numbers {expected}: a sum overflows; train with smaller weights, in a plan by `clip` and `clip-features`",
        path.display()
    )]
    Differs { path: PathBuf, fen: String, engine: i64, expected: i64 },
}

/// Loads the bytes of a network file in Destrier and compares its evaluations with the trainer's
/// integer evaluations. `path` names the file in errors. Returns the number of positions compared.
/// Records that are not legal positions are skipped, because Destrier has no board for them.
///
/// # Errors
/// [`LoadedError`] if Destrier refuses the file, or at the first position with a different
/// evaluation.
pub fn check(path: &Path, bytes: &[u8], network: &Integer, positions: &[ChessBoard]) -> Result<usize, LoadedError> {
    let engine = nnue::parse(bytes).map_err(|error| LoadedError::Refused { path: path.to_owned(), error })?;
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
