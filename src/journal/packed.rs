//! Games outside the journal: its line, as text or deflated.

use std::io::{Read as _, Write as _};

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;

use super::format::{self, JournalLine};
use crate::record::GameRecord;

/// Returns the line that the journal has of a game, its line feed included.
#[must_use]
pub fn line(game: &GameRecord) -> String {
    let mut line = Vec::new();
    format::write_game(game, &mut line);
    String::from_utf8(line).unwrap_or_default()
}

/// Reads a line that [`line()`] made; `None` if it is damaged.
#[must_use]
pub fn game_of(line: &str) -> Option<GameRecord> {
    match format::parse_line(line.as_bytes()) {
        Ok(JournalLine::Game(game)) => Some(*game),
        _ => None,
    }
}

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
    game_of(std::str::from_utf8(&line).ok()?)
}
