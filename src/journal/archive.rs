//! Archive of a journal: the same games in about a tenth of the bytes, small enough for Git.
//!
//! `games.json.gz` is gzip over JSON lines: a header, then blocks of games. A block stores the
//! plies of its games by columns, because numbers of one kind compress well side by side. A number
//! that others predict is stored as its difference from the prediction. Every field of a record is
//! kept, unless only the moves are asked for ([`Detail`]). Lines that the journal's readers skip,
//! such as a second record of a game, are left out.
//!
//! All readers of a run take the archive if there is no journal ([`open`]). Only a journal can be
//! appended to, and [`unpack`] makes one.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::format;
use super::lines::JournalLines;
use super::{FILE_NAME, Header, JournalError, PlanFacts, read_from, run_of};
use crate::files::open_regular;
use crate::record::{GameRecord, MoveRecord};

/// Name of an archive in a run directory.
pub const ARCHIVE_NAME: &str = "games.json.gz";

/// Version of the archive's format.
const VERSION: u32 = 1;

/// Kinds of lines.
const HEADER: &str = "archive";
const BLOCK: &str = "games";

/// Bytes of journal lines from which a block is written. A reader keeps one block in memory.
const BLOCK_BYTES: usize = 4 << 20;

/// Part of a game that an archive keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Every field.
    Full,
    /// Moves without times and engine output: about a third of the bytes. Results, counts and PGN
    /// stay the same. Statistics of times and searches have no data.
    Moves,
}

impl Detail {
    fn keep(self, mut game: GameRecord) -> GameRecord {
        if self == Self::Moves {
            for played in &mut game.moves {
                *played = MoveRecord { uci: std::mem::take(&mut played.uci), ..MoveRecord::default() };
            }
        }
        game
    }
}

/// Size of an archive that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArchiveReport {
    /// Number of games, void ones included.
    pub games: u64,
    /// Bytes of these games' lines in their journal.
    pub journal_bytes: u64,
    /// Bytes of the archive.
    pub archive_bytes: u64,
}

#[derive(Serialize, Deserialize)]
struct ArchiveHeaderV1 {
    v: u32,
    kind: String,
    plan_sha256: String,
    program: String,
}

/// Games without their plies, the number of plies of each game, and the plies of all by key: a
/// value for each ply, null if it has none.
#[derive(Serialize, Deserialize)]
struct BlockV1 {
    v: u32,
    kind: String,
    games: Vec<Map<String, Value>>,
    plies: Vec<usize>,
    columns: BTreeMap<String, Vec<Value>>,
}

impl Default for BlockV1 {
    fn default() -> Self {
        let (games, plies, columns) = Default::default();
        Self { v: VERSION, kind: BLOCK.to_owned(), games, plies, columns }
    }
}

/// Forecasts of a ply's numbers from numbers that are read before them.
#[derive(Clone, Copy, Default)]
struct Forecasts {
    /// Time left to both sides after their last moves, the mover's first, in microseconds.
    left: [Option<u64>; 2],
}

/// Keys with a forecast, in an order in which each needs only keys without one and those before it.
const FORETOLD: [&str; 3] = ["us", "nps", "left"];

impl Forecasts {
    /// Forecast of the number under `key`, if the ply has what it depends on.
    fn of(&self, key: &str, ply: &Map<String, Value>) -> u64 {
        let number = |key: &str| ply.get(key).and_then(Value::as_u64);
        match key {
            // The time charged is the engine's own time and a little more.
            "us" => number("t").unwrap_or(0),
            "nps" => number("n").zip(number("t")).map_or(0, |(nodes, time)| {
                let quotient = (u128::from(nodes) * 1_000_000).checked_div(u128::from(time)).unwrap_or(0);
                u64::try_from(quotient).unwrap_or(0)
            }),
            // Without the increment, which is the same for nearly all moves.
            _ => self.left[0].zip(number("us")).map_or(0, |(left, charged)| left.wrapping_sub(charged)),
        }
    }

    /// Goes on to the next ply after one whose numbers are whole.
    fn advance(&mut self, ply: &Map<String, Value>) {
        self.left = [self.left[1], ply.get("left").and_then(Value::as_u64)];
    }
}

impl BlockV1 {
    /// Appends a game: the object of its journal line.
    fn push(&mut self, mut game: Map<String, Value>) {
        game.remove("crc");
        let Some(Value::Array(moves)) = game.remove("moves") else { return };
        self.games.push(game);
        self.plies.push(moves.len());
        let first = self.columns.values().next().map_or(0, Vec::len);
        let mut forecasts = Forecasts::default();
        for (ply, moved) in moves.into_iter().enumerate() {
            let Value::Object(mut moved) = moved else { continue };
            let whole = moved.clone();
            for key in FORETOLD {
                let foretold = forecasts.of(key, &whole);
                if let Some(value) = moved.get_mut(key)
                    && let Some(number) = value.as_u64()
                {
                    *value = number.wrapping_sub(foretold).cast_signed().into();
                }
            }
            forecasts.advance(&whole);
            for (key, value) in moved {
                let column = self.columns.entry(key).or_default();
                column.resize(first + ply, Value::Null);
                column.push(value);
            }
        }
        let plies = self.plies.iter().sum();
        self.columns.values_mut().for_each(|column| column.resize(plies, Value::Null));
    }

    /// Returns the games as the objects of their journal lines.
    fn games(mut self) -> Result<Vec<Map<String, Value>>, String> {
        if self.games.len() != self.plies.len() {
            return Err(format!("{} games with {} numbers of plies", self.games.len(), self.plies.len()));
        }
        let plies = self.plies.iter().try_fold(0usize, |sum, plies| sum.checked_add(*plies));
        for (key, column) in &self.columns {
            if Some(column.len()) != plies {
                return Err(format!("column `{key}` has {} values, which is not one for each ply", column.len()));
            }
        }
        if self.columns.is_empty() && plies != Some(0) {
            return Err("plies without columns".to_owned());
        }
        let mut first = 0;
        let mut games = std::mem::take(&mut self.games);
        for (game, plies) in games.iter_mut().zip(std::mem::take(&mut self.plies)) {
            game.insert("moves".to_owned(), self.plies(first, plies).into());
            first += plies;
        }
        Ok(games)
    }

    /// Takes the plies of one game out of the columns.
    fn plies(&mut self, first: usize, plies: usize) -> Vec<Value> {
        let mut forecasts = Forecasts::default();
        let mut moves = Vec::with_capacity(plies);
        for ply in first..first + plies {
            let values = self.columns.iter_mut().map(|(key, column)| (key, column[ply].take()));
            let mut moved: Map<_, _> =
                values.filter(|(_, value)| !value.is_null()).map(|(key, value)| (key.clone(), value)).collect();
            for key in FORETOLD {
                let foretold = forecasts.of(key, &moved);
                if let Some(value) = moved.get_mut(key)
                    && let Some(difference) = value.as_i64()
                {
                    *value = foretold.wrapping_add(difference.cast_unsigned()).into();
                }
            }
            forecasts.advance(&moved);
            moves.push(moved.into());
        }
        moves
    }
}

/// Writer of an archive, a block at a time.
struct ArchiveWriter<W: Write> {
    encoder: GzEncoder<W>,
    block: BlockV1,
    block_bytes: usize,
    totals: Totals,
}

/// Count and checksum of games' journal lines.
#[derive(Clone, Default)]
struct Totals {
    games: u64,
    lines: crc32fast::Hasher,
    line: Vec<u8>,
}

impl Totals {
    fn record(&mut self, game: &GameRecord) {
        format::write_game(game, &mut self.line);
        self.games += 1;
        self.lines.update(&self.line);
    }
}

impl<W: Write> ArchiveWriter<W> {
    fn new(to: W, header: &Header) -> io::Result<Self> {
        let encoder = GzEncoder::new(to, Compression::best());
        let mut writer = Self { encoder, block: BlockV1::default(), block_bytes: 0, totals: Totals::default() };
        let Header { plan_sha256, program } = header.clone();
        writer.write(&ArchiveHeaderV1 { v: VERSION, kind: HEADER.to_owned(), plan_sha256, program })?;
        Ok(writer)
    }

    fn write(&mut self, line: &impl Serialize) -> io::Result<()> {
        serde_json::to_writer(&mut self.encoder, line)?;
        self.encoder.write_all(b"\n")
    }

    fn record(&mut self, game: &GameRecord) -> io::Result<()> {
        self.totals.record(game);
        self.block.push(serde_json::from_slice(&self.totals.line)?);
        self.block_bytes += self.totals.line.len();
        if self.block_bytes >= BLOCK_BYTES { self.end_block() } else { Ok(()) }
    }

    fn end_block(&mut self) -> io::Result<()> {
        self.block_bytes = 0;
        let block = std::mem::take(&mut self.block);
        if block.games.is_empty() { Ok(()) } else { self.write(&block) }
    }

    fn finish(mut self) -> io::Result<(W, Totals)> {
        self.end_block()?;
        Ok((self.encoder.finish()?, self.totals))
    }
}

/// Reader of an archive as the lines of a journal.
struct ArchiveReader<R> {
    lines: JournalLines<BufReader<GzDecoder<R>>>,
    path: Box<Path>,
    text: Vec<u8>,
    at: usize,
}

impl<R: Read> ArchiveReader<R> {
    fn new(from: R, path: &Path) -> Self {
        let lines = JournalLines::new(BufReader::with_capacity(1 << 16, GzDecoder::new(from)));
        Self { lines, path: path.into(), text: Vec::new(), at: 0 }
    }

    fn damaged(&self, why: impl std::fmt::Display) -> io::Error {
        let what = format!("{}: damaged archive, line {}: {why}", self.path.display(), self.lines.number);
        io::Error::new(io::ErrorKind::InvalidData, what)
    }

    /// Reads the next line of the archive and makes lines of a journal of it; false at the end.
    fn advance(&mut self) -> io::Result<bool> {
        self.at = 0;
        self.text.clear();
        if self.lines.advance().map_err(|error| self.damaged(error))? == 0 {
            return Ok(false);
        }
        let mut line = Vec::new();
        if self.lines.number == 1 {
            let header: ArchiveHeaderV1 =
                serde_json::from_slice(&self.lines.line).map_err(|error| self.damaged(error))?;
            self.check(header.v, &header.kind, HEADER)?;
            let ArchiveHeaderV1 { plan_sha256, program, .. } = header;
            format::write_header(&Header { plan_sha256, program }, &mut self.text);
            return Ok(true);
        }
        let block: BlockV1 = serde_json::from_slice(&self.lines.line).map_err(|error| self.damaged(error))?;
        self.check(block.v, &block.kind, BLOCK)?;
        for game in block.games().map_err(|why| self.damaged(why))? {
            format::finish_line(&game, &mut line);
            self.text.extend_from_slice(&line);
        }
        Ok(true)
    }

    fn check(&self, version: u32, kind: &str, wanted: &str) -> io::Result<()> {
        if version > VERSION {
            return Err(self.damaged(format_args!(
                "format {version} is newer than this program reads ({VERSION}); update quintain"
            )));
        }
        if kind == wanted { Ok(()) } else { Err(self.damaged(format_args!("`{kind}` in place of `{wanted}`"))) }
    }
}

impl<R: Read> Read for ArchiveReader<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(into)?;
        self.consume(count);
        Ok(count)
    }
}

impl<R: Read> BufRead for ArchiveReader<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.at >= self.text.len() {
            if !self.advance()? {
                return Ok(&[]);
            }
        }
        Ok(&self.text[self.at..])
    }

    fn consume(&mut self, amount: usize) {
        self.at += amount;
    }
}

/// Opens the journal at `path`, or, if there is none, the archive beside it, as the lines of a
/// journal.
///
/// A journal is read up to its present length, because a line that grows during the read would look
/// like two.
///
/// # Errors
/// Returns the error of opening the journal. Reading returns an error that names the archive if
/// that is damaged.
pub fn open(path: &Path) -> io::Result<Box<dyn BufRead>> {
    match open_regular(path) {
        Ok(file) => {
            let length = file.metadata()?.len();
            Ok(Box::new(BufReader::with_capacity(1 << 16, file.take(length))))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound && is_archived(run_of(path)) => {
            let archive = path.with_file_name(ARCHIVE_NAME);
            Ok(Box::new(ArchiveReader::new(open_regular(&archive)?, &archive)))
        }
        Err(error) => Err(error),
    }
}

/// Reads bytes of an archive as the lines of a journal. `path` is for messages.
pub fn reader<'a>(bytes: impl Read + 'a, path: &Path) -> impl BufRead + 'a {
    ArchiveReader::new(bytes, path)
}

/// Writes the games of the journal at `from`, which may be live, to a new archive at `to`, and
/// reads the archive again to compare them.
///
/// `detail` is what it keeps of each.
///
/// # Errors
/// As [`PlanFacts::read`], and [`JournalError::Io`] if the archive cannot be written or does not
/// hold the same games.
pub fn pack(from: &Path, to: &Path, expected: &PlanFacts, detail: Detail) -> Result<ArchiveReport, JournalError> {
    let io = |act| move |source| JournalError::Io { path: to.to_owned(), act, source };
    let header = header(from)?;
    let file = File::create_new(to).map_err(io("create it"))?;
    let mut writer = ArchiveWriter::new(file, &header).map_err(io("write it"))?;
    let mut written = Ok(());
    let mut journal_bytes = 0;
    let mut line = Vec::new();
    expected.read(from, |game| {
        if written.is_ok() {
            format::write_game(&game, &mut line);
            journal_bytes += line.len() as u64;
            written = writer.record(&detail.keep(game));
        }
    })?;
    let (file, totals) = written.and_then(|()| writer.finish()).map_err(io("write it"))?;
    file.sync_all().map_err(io("write it to disk"))?;
    let mut found = Totals::default();
    let archive = open_regular(to).map_err(io("read it"))?;
    let archive_bytes = archive.metadata().map_err(io("read it"))?.len();
    let lines = ArchiveReader::new(archive, to);
    let replayed = expected.read_from(lines, to, |game| found.record(&game))?;
    let differs = found.games != totals.games || found.lines.finalize() != totals.lines.finalize();
    if differs || replayed.header != header {
        let differs = io::Error::other("what was read back is not what was written");
        return Err(io("check it")(differs));
    }
    Ok(ArchiveReport { games: totals.games, journal_bytes, archive_bytes })
}

/// Writes the games of the archive at `from` to a new journal at `to`. Returns their number.
///
/// # Errors
/// As [`PlanFacts::read_from`], and [`JournalError::Io`] if the journal cannot be written.
pub fn unpack(from: &Path, to: &Path, expected: &PlanFacts) -> Result<u64, JournalError> {
    let io = |source| JournalError::Io { path: from.to_owned(), act: "read it", source };
    let lines = || open_regular(from).map(|file| ArchiveReader::new(file, from)).map_err(io);
    let mut journal = super::Journal::create(to, &header_of(lines()?, from)?)?;
    let mut written = Ok(());
    let replayed = expected.read_from(lines()?, from, |game| {
        if written.is_ok() {
            written = journal.append(&game);
        }
    })?;
    written?;
    journal.sync()?;
    Ok(replayed.games)
}

/// Header of the journal at `path`.
fn header(path: &Path) -> Result<Header, JournalError> {
    let journal = open(path).map_err(|source| JournalError::Io { path: path.to_owned(), act: "read it", source })?;
    header_of(journal, path)
}

fn header_of(reader: impl BufRead, path: &Path) -> Result<Header, JournalError> {
    let mut lines = JournalLines::new(reader);
    lines.advance().map_err(|source| JournalError::Io { path: path.to_owned(), act: "read it", source })?;
    Ok(read_from(lines.line.as_slice(), path, |_| {})?.header)
}

/// Name of the file that holds the games of the run directory `root`: its journal, else its
/// archive; `None` if it has neither.
#[must_use]
pub fn stored_name(root: &Path) -> Option<&'static str> {
    // The file in the journal's place keeps an archive from being mistaken for it.
    if root.join(FILE_NAME).symlink_metadata().is_ok() {
        return Some(FILE_NAME);
    }
    root.join(ARCHIVE_NAME).is_file().then_some(ARCHIVE_NAME)
}

/// True if the run directory has an archive and no journal.
#[must_use]
pub fn is_archived(root: &Path) -> bool {
    stored_name(root) == Some(ARCHIVE_NAME)
}

#[cfg(test)]
mod tests;
