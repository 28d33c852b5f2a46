//! Stockfish's binpack format, read and written by the crate sfbinpack (GPL-3.0). Scores and
//! results are relative to the side to move.
//!
//! The crate does not validate its input. This module converts its panics to errors and bounds the
//! sizes.

use super::error::{DataError, Place};
use super::format::Format;
use super::lines::ByteStream;
use super::record::{Entry, Position, is_chess960};
use super::write::Sink;
use destrier::board::Board;
use destrier::datagen::viriformat::{GameResult, NO_SCORE};
use destrier::types::{Color, PieceType};
use sfbinpack::chess::coords::Square;
use sfbinpack::chess::r#move::{Move, MoveType};
use sfbinpack::chess::piece::Piece;
use sfbinpack::chess::position::Position as PackedPosition;
use sfbinpack::{ChunkReader, CompressedTrainingDataEntryWriter, TrainingDataEntry};
use std::cell::Cell;
use std::io::{self, BufRead, Read, Write};
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Once;

/// Largest chunk in bytes. Usual chunks have about 8 MiB, and the reference reader refuses more
/// than this.
const MAX_CHUNK: u32 = 100 << 20;
const MAGIC: &[u8; 4] = b"BINP";

/// Reader of the positions of a file. It must not be used after an error.
pub struct Positions {
    path: PathBuf,
    input: ByteStream,
    chunk: Vec<u8>,
    reader: ChunkReader,
    /// Offset of the current chunk in the file; `next` is that of the following chunk.
    offset: u64,
    next: u64,
}

impl Positions {
    pub fn new(path: PathBuf, input: ByteStream) -> Positions {
        Positions { path, input, chunk: Vec::new(), reader: ChunkReader::default(), offset: 0, next: 0 }
    }

    fn bad(&self, why: impl Into<String>) -> DataError {
        DataError::bad(&self.path, Place::Offset(self.offset), why)
    }

    /// Loads the next chunk; returns false at the end of the file.
    fn load(&mut self) -> Result<bool, DataError> {
        self.offset = self.next;
        if self.input.fill_buf().map_err(DataError::io(&self.path, "read it"))?.is_empty() {
            return Ok(false);
        }
        let mut head = Vec::new();
        (&mut self.input).take(8).read_to_end(&mut head).map_err(DataError::io(&self.path, "read it"))?;
        let Some((MAGIC, &[a, b, c, d])) = head.split_first_chunk::<4>() else {
            return Err(self.bad("no chunk of a binpack begins here; is this a binpack file?"));
        };
        let size = u32::from_le_bytes([a, b, c, d]);
        if size > MAX_CHUNK {
            return Err(self.bad(format!("chunk of {size} bytes, at most {MAX_CHUNK} expected")));
        }
        self.chunk.clear();
        let count = (&mut self.input).take(u64::from(size)).read_to_end(&mut self.chunk);
        let count = count.map_err(DataError::io(&self.path, "read it"))?;
        if count < size as usize {
            let why = format!("the file ends within a chunk; cut it to {} bytes to use the rest", self.offset);
            return Err(self.bad(why));
        }
        self.reader = ChunkReader::default();
        self.next += 8 + u64::from(size);
        Ok(true)
    }

    fn read(&mut self) -> Result<Option<Position>, DataError> {
        while !self.reader.has_next(&self.chunk) {
            if !self.load()? {
                return Ok(None);
            }
        }
        // The reader's state is undefined after a panic, so callers stop at the first error.
        let read = unless_it_panics(|| {
            let entry = self.reader.next(&self.chunk);
            let fen = entry.pos.fen().ok()?;
            Some((fen, entry.mv.as_uci(), entry.score, entry.result))
        });
        let Some(Some((fen, word, score, result))) = read else {
            return Err(self.bad("damaged chunk; cut the file before it to use the rest"));
        };
        let board = Board::from_fen(&fen).map_err(|error| self.bad(error.to_string()))?;
        let mv = board.parse_uci(&word).ok_or_else(|| self.bad(format!("move `{word}` is not legal in `{fen}`")))?;
        let result = u8::try_from(result + 1).ok().and_then(GameResult::from_half_points);
        let result = result.ok_or_else(|| self.bad("bad result, expected -1, 0 or 1"))?;
        Ok(Some(Position::of_stockfish(board, mv, score, result)))
    }
}

thread_local! {
    /// True while this thread runs code that may panic on damaged bytes.
    static IS_READING: Cell<bool> = const { Cell::new(false) };
}

/// Returns the closure's result, or `None` if it panics. The panic hook stays silent for this panic
/// only.
fn unless_it_panics<T>(read: impl FnOnce() -> T) -> Option<T> {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let others = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !IS_READING.get() {
                others(info);
            }
        }));
    });
    IS_READING.set(true);
    let read = catch_unwind(AssertUnwindSafe(read));
    IS_READING.set(false);
    read.ok()
}

impl Iterator for Positions {
    type Item = Result<Position, DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

/// Writer from the crate to the sink. The crate drops errors of its final flush, so the first error
/// is kept here.
struct Chunks<'a> {
    sink: &'a mut Sink,
    failed: Option<DataError>,
}

impl Write for Chunks<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // After an error the output is discarded, so further bytes are ignored.
        if self.failed.is_none()
            && let Err(error) = self.sink.put(bytes)
        {
            self.failed = Some(error);
            return Err(io::ErrorKind::Other.into());
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Counts of a finished write.
#[derive(Debug, Default)]
pub struct WriteCounts {
    /// Positions written.
    pub positions: u64,
    /// Positions without a move or a score.
    pub left_out: u64,
}

/// Writes every position that has a move and a score. `read` passes each entry to its closure
/// argument.
pub fn write<T>(
    path: &Path,
    sink: &mut Sink,
    read: impl FnOnce(&mut dyn FnMut(Entry) -> Result<(), DataError>) -> Result<T, DataError>,
) -> Result<(WriteCounts, T), DataError> {
    let mut chunks = Chunks { sink, failed: None };
    let failed = |error: &dyn std::fmt::Display| DataError::bad(path, Place::Offset(0), error.to_string());
    let mut writer = CompressedTrainingDataEntryWriter::new(&mut chunks).map_err(|error| failed(&error))?;
    let mut written = WriteCounts::default();
    let read = read(&mut |entry| {
        for position in entry.positions() {
            if is_chess960(&position.board) {
                let what = "from where kings and rooks of Chess960 may castle";
                return Err(Format::Binpack.lacks(path, what, "write viriformat, plain or self-play"));
            }
            match packed(&position) {
                Some(entry) => {
                    writer.write_entry(&entry).map_err(|error| failed(&error))?;
                    written.positions += 1;
                }
                None => written.left_out += 1,
            }
        }
        Ok(())
    });
    writer.flush_and_end();
    drop(writer);
    match chunks.failed {
        Some(error) => Err(error),
        None => Ok((written, read?)),
    }
}

/// Converts a position to a binpack entry; `None` if it has no move or no score.
fn packed(position: &Position) -> Option<TrainingDataEntry> {
    let Position { board, mv, .. } = position;
    if mv.is_null() || position.score == NO_SCORE {
        return None;
    }
    let (score, result) = position.relative();
    let color = board.turn();
    let (kind, promoted) = match mv.promotion() {
        Some(kind) => (MoveType::Promotion, piece(kind, color)),
        None if mv.is_castling() => (MoveType::Castle, Piece::none()),
        None if mv.is_en_passant() => (MoveType::EnPassant, Piece::none()),
        None => (MoveType::Normal, Piece::none()),
    };
    let square = |square: destrier::types::Square| Square::new(u32::from(square.raw()));
    // The format stores the halfmove clock in a byte.
    let fen = board.to_fen(false);
    let mut fields: Vec<&str> = fen.split(' ').collect();
    let clock = board.halfmove_clock().min(255).to_string();
    *fields.get_mut(4)? = &clock;
    let pos = unless_it_panics(|| PackedPosition::from_fen(&fields.join(" ")).ok())??;
    Some(TrainingDataEntry {
        pos,
        mv: Move::new(square(mv.from()), square(mv.to()), kind, promoted),
        score,
        // The format stores the ply in 14 bits.
        ply: position.ply().min(0x3fff) as u16,
        result: i16::from(result.half_points()) - 1,
    })
}

fn piece(kind: PieceType, color: Color) -> Piece {
    match (kind, color) {
        (PieceType::Knight, Color::White) => Piece::WHITE_KNIGHT,
        (PieceType::Bishop, Color::White) => Piece::WHITE_BISHOP,
        (PieceType::Rook, Color::White) => Piece::WHITE_ROOK,
        (_, Color::White) => Piece::WHITE_QUEEN,
        (PieceType::Knight, Color::Black) => Piece::BLACK_KNIGHT,
        (PieceType::Bishop, Color::Black) => Piece::BLACK_BISHOP,
        (PieceType::Rook, Color::Black) => Piece::BLACK_ROOK,
        (_, Color::Black) => Piece::BLACK_QUEEN,
    }
}
