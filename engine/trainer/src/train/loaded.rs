//! Check of an exported network in Destrier itself, before its file is written.

use super::export::{self, ExportError};
use super::integer::Integer;
use super::network::{Parameters, Shape};
use crate::data::record::Position;
use crate::data::{DataError, replace};
use bulletformat::ChessBoard;
use destrier::bench::POSITIONS;
use destrier::board::Board;
use destrier::datagen::viriformat::GameResult;
use destrier::nnue::{self, EVAL_LIMIT, FormatError, sha256_hex};
use destrier::types::Move;
use std::io::Write;
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
    #[error("{}: {error}", path.display())]
    Export { path: PathBuf, error: ExportError },
    #[error(transparent)]
    Data(#[from] DataError),
}

/// Quantises weights that no run of the trainer holds, checks them on the positions of the bench,
/// and writes the network file `path`. Says what it is on `out`. Errors name the file `source` for
/// a weight that is out of range.
///
/// # Errors
/// [`LoadedError`], with the file.
pub fn write(
    path: &Path,
    source: &Path,
    shape: &Shape,
    weights: &Parameters,
    out: &mut dyn Write,
) -> Result<(), LoadedError> {
    let export = |error| LoadedError::Export { path: source.to_owned(), error };
    let payload = export::payload(shape, weights).map_err(export)?;
    let bytes = export::network(shape, &payload).map_err(export)?;
    check(path, &bytes, &Integer::new(shape, &payload), &sample())?;
    replace(path, &bytes)?;
    // A closed stdout is ignored.
    let _ = writeln!(out, "{}: {}, sha256 {}", path.display(), shape.layout().describe(), sha256_hex(&bytes));
    Ok(())
}

/// Returns the positions of the engine's bench as records without a score, to check a network on.
pub(super) fn sample() -> Vec<ChessBoard> {
    let boards = POSITIONS.iter().filter_map(|fen| Board::from_fen(fen).ok());
    let position = |board| Position { board, mv: Move::NULL, score: 0, result: GameResult::Draw };
    boards.map(|board| position(board).to_bullet()).collect()
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
