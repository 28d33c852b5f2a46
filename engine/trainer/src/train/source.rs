//! Positions from files larger than memory, in an order determined by a seed and a position
//! counter.
//!
//! The files form one sequence of records, read in blocks. Each pass takes the blocks, and the
//! records of each block, in another order. The place in the data is therefore one number, from
//! which a run can resume.

use super::features::fault;
use super::network::Random;
use super::triplet::TRIPLET;
use crate::data::TRIPLET_MARKS;
use crate::data::read::sample;
use crate::data::record::bullet_record;
use bulletformat::ChessBoard;
use quintain::files::open_regular;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;

/// Records per block, which is 32 MiB.
const BLOCK: u64 = 1 << 20;

/// Bytes per record.
const RECORD: u64 = 32;

/// Error in training data.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// Failed read.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The cause.
        error: io::Error,
    },
    /// File that is not a whole number of records.
    #[error("{}: {size} bytes are not a multiple of 32-byte records; convert it to bulletformat first", path.display())]
    Size {
        /// The file.
        path: PathBuf,
        /// Length of the file in bytes.
        size: u64,
    },
    /// Record that is not a position.
    #[error("{}: record {record} has {fault}; run `data check` on the file", path.display())]
    Record {
        /// The file.
        path: PathBuf,
        /// Number of the record, from 0.
        record: u64,
        /// The fault.
        fault: &'static str,
    },
    /// Record that is not at its place in a triplet.
    #[error("{}: record {record} is not at its place in a triplet; make the file with `data triplets`, and do not shuffle it", path.display())]
    NoTriplet {
        /// The file.
        path: PathBuf,
        /// Number of the record, from 0.
        record: u64,
    },
    /// Record of a triplet among positions.
    #[error("{}: record {record} is of a triplet; name the file in `data.triplets`, or give positions", path.display())]
    OfTriplet {
        /// The file.
        path: PathBuf,
        /// Number of the record, from 0.
        record: u64,
    },
    /// File of training whose positions are not held out.
    #[error("{}: it is in `data.files` and in `data.validation`; hold its positions out with `data split`, or leave out `validation`", path.display())]
    NotHeldOut {
        /// The file.
        path: PathBuf,
    },
    /// Files without positions.
    #[error("no positions to train on or to hold out; name files with positions in `data.files` and `data.validation`")]
    Empty,
}

/// Files as one sequence of records.
#[derive(Debug)]
pub struct Records {
    files: Vec<(PathBuf, File, u64)>,
    total: u64,
}

impl Records {
    /// Opens bulletformat files.
    ///
    /// # Errors
    /// [`SourceError`] if a file cannot be opened or is not a whole number of records.
    pub fn open(paths: &[PathBuf]) -> Result<Records, SourceError> {
        let mut files = Vec::with_capacity(paths.len());
        for path in paths {
            let io = |error| SourceError::Io { path: path.clone(), error };
            let file = open_regular(path).map_err(io)?;
            let size = file.metadata().map_err(io)?.len();
            if size % RECORD != 0 {
                return Err(SourceError::Size { path: path.clone(), size });
            }
            files.push((path.clone(), file, size / RECORD));
        }
        let total = files.iter().map(|(_, _, records)| records).sum();
        Ok(Records { files, total })
    }

    /// Returns a digest of the files' lengths and of a [`sample`] of each. Their paths do not
    /// count.
    ///
    /// # Errors
    /// [`SourceError::Io`].
    pub fn digest(&mut self) -> Result<[u8; 32], SourceError> {
        let mut digest = Sha256::new();
        for (path, file, records) in &mut self.files {
            digest.update(records.to_le_bytes());
            let io = |error| SourceError::Io { path: path.clone(), error };
            digest.update(sample(file, *records * RECORD, RECORD).map_err(io)?);
        }
        Ok(digest.finalize().into())
    }

    /// Returns the number of records in all files.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Reads the records from `from` up to, but excluding, `to`.
    ///
    /// # Errors
    /// [`SourceError`] if reading fails or a record is not a position.
    pub fn read(&mut self, from: u64, to: u64) -> Result<Vec<ChessBoard>, SourceError> {
        let mut boards = Vec::with_capacity(to.saturating_sub(from) as usize);
        let mut first = 0;
        for (path, file, records) in &mut self.files {
            let (begin, end) = (from.clamp(first, first + *records) - first, to.clamp(first, first + *records) - first);
            first += *records;
            if begin >= end {
                continue;
            }
            let mut bytes = vec![0; ((end - begin) * RECORD) as usize];
            let io = |error| SourceError::Io { path: path.clone(), error };
            file.seek(SeekFrom::Start(begin * RECORD)).map_err(io)?;
            file.read_exact(&mut bytes).map_err(io)?;
            for (record, bytes) in bytes.as_chunks::<32>().0.iter().enumerate() {
                let board = bullet_record(bytes);
                if let Some(fault) = fault(&board) {
                    return Err(SourceError::Record { path: path.clone(), record: begin + record as u64, fault });
                }
                boards.push(board);
            }
        }
        Ok(boards)
    }
}

impl Records {
    /// Reads records as [`read`](Self::read) does, none of which is of a triplet: the third
    /// position of a triplet has neither its own score nor its own result.
    ///
    /// # Errors
    /// As [`read`](Self::read), and [`SourceError::OfTriplet`].
    pub fn read_positions(&mut self, from: u64, to: u64) -> Result<Vec<ChessBoard>, SourceError> {
        let boards = self.read(from, to)?;
        match boards.iter().position(|board| TRIPLET_MARKS.contains(&board.extra)) {
            Some(place) => {
                Err(self.fault_at(from + place as u64, |path, record| SourceError::OfTriplet { path, record }))
            }
            None => Ok(boards),
        }
    }

    /// Reads records as [`read`](Self::read) does, which are whole triplets.
    ///
    /// # Errors
    /// As [`read`](Self::read), and [`SourceError::NoTriplet`].
    pub fn read_triplets(&mut self, from: u64, to: u64) -> Result<Vec<ChessBoard>, SourceError> {
        let boards = self.read(from, to)?;
        let marks = TRIPLET_MARKS.iter().cycle();
        match boards.iter().zip(marks).position(|(board, mark)| board.extra != *mark) {
            Some(place) => {
                Err(self.fault_at(from + place as u64, |path, record| SourceError::NoTriplet { path, record }))
            }
            None => Ok(boards),
        }
    }

    /// Returns the error of a record, with its file and its number there.
    fn fault_at(&self, mut record: u64, error: impl Fn(PathBuf, u64) -> SourceError) -> SourceError {
        for (path, _, records) in &self.files {
            if record < *records {
                return error(path.clone(), record);
            }
            record -= records;
        }
        SourceError::Empty
    }
}

/// Endless sequence of positions.
#[derive(Debug)]
pub struct Source {
    records: Records,
    /// Number of records to train on; those after them are held out.
    used: u64,
    seed: u64,
    /// Records that stay together: 1, or 3 for triplets.
    group: u64,
    /// Number of positions returned so far, over all passes.
    position: u64,
    block: Vec<ChessBoard>,
    /// Number of the block in memory, counted over all passes.
    loaded: Option<u64>,
}

impl Source {
    /// Creates a source of the first `used` records that continues after `position` returned
    /// positions.
    ///
    /// # Errors
    /// [`SourceError::Empty`] if there are none.
    pub fn new(records: Records, used: u64, seed: u64, position: u64) -> Result<Source, SourceError> {
        let used = used.min(records.total());
        if used == 0 {
            return Err(SourceError::Empty);
        }
        Ok(Source { records, used, seed, group: 1, position, block: Vec::new(), loaded: None })
    }

    /// Creates a source of the triplets in the first `used` records that continues after `position`
    /// returned positions.
    ///
    /// # Errors
    /// [`SourceError::Empty`] if there are none.
    pub fn of_triplets(records: Records, used: u64, seed: u64, position: u64) -> Result<Source, SourceError> {
        let group = TRIPLET as u64;
        let whole = |count: u64| count - count % group;
        Ok(Source { group, ..Source::new(records, whole(used), seed, whole(position))? })
    }

    /// Returns the next `count` positions.
    ///
    /// # Errors
    /// [`SourceError`] if reading fails.
    pub fn take(&mut self, count: usize) -> Result<Vec<ChessBoard>, SourceError> {
        let mut taken = Vec::with_capacity(count);
        while taken.len() < count {
            let offset = self.load()?;
            let run = (self.block.len() - offset).min(count - taken.len());
            taken.extend_from_slice(&self.block[offset..offset + run]);
            self.position += run as u64;
        }
        Ok(taken)
    }

    /// Loads the block of the next position and returns the position's index in it.
    fn load(&mut self) -> Result<usize, SourceError> {
        let size = BLOCK - BLOCK % self.group;
        let blocks = self.used.div_ceil(size);
        let (pass, mut rest) = (self.position / self.used, self.position % self.used);
        let mut order: Vec<u64> = (0..blocks).collect();
        Random::new(self.seed ^ pass.wrapping_mul(0xA076_1D64_78BD_642F)).shuffle(&mut order);
        for (number, block) in order.into_iter().enumerate() {
            let (from, to) = (block * size, self.used.min((block + 1) * size));
            if rest < to - from {
                let number = pass * blocks + number as u64;
                if self.loaded != Some(number) {
                    let mut random = Random::new(self.seed ^ number.wrapping_mul(0xE703_7ED1_A0B4_28DB) ^ 1);
                    if self.group == 1 {
                        self.block = self.records.read_positions(from, to)?;
                        random.shuffle(&mut self.block);
                    } else {
                        self.block = self.records.read_triplets(from, to)?;
                        random.shuffle(self.block.as_chunks_mut::<TRIPLET>().0);
                    }
                    self.loaded = Some(number);
                }
                return Ok(rest as usize);
            }
            rest -= to - from;
        }
        Err(SourceError::Empty)
    }
}
