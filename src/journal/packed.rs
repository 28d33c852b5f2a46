//! Compressed games: the journal line, deflated.

use std::io::{Read as _, Write as _};

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;

use super::format::{self, Line};
use crate::record::GameRecord;

/// Compresses a game to a fraction of its memory. Times are rounded to microseconds, as in the
/// journal.
#[must_use]
pub fn pack(game: &GameRecord) -> Vec<u8> {
    let mut line = Vec::new();
    format::write_game(game, &mut line);
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
    // Writing into memory does not fail. If it did, unpacking would return `None`.
    let written = encoder.write_all(&line);
    written.and_then(|()| encoder.finish()).unwrap_or_default()
}

/// Decompresses a game; `None` for bytes that [`pack`] did not make.
#[must_use]
pub fn unpack(packed: &[u8]) -> Option<GameRecord> {
    let mut line = Vec::new();
    DeflateDecoder::new(packed).read_to_end(&mut line).ok()?;
    match format::parse_line(&line) {
        Ok(Line::Game(game)) => Some(*game),
        _ => None,
    }
}
