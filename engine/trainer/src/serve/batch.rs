//! Bytes of a batch, the same in shared memory and in a stream.
//!
//! A payload, all little endian, of a batch of `N` positions and sets of `F` features:
//!
//! | bytes | contents |
//! | --- | --- |
//! | method `eval`: `4 N` | scores in centipawns from the side to move's view, f32 |
//! | method `eval`: `4 N` | results from the side to move's view: 0, 0.5 or 1, f32 |
//! | `N` | pieces on the board, 2 to 32, u8 |
//! | up to 7 | zeros, so that the inputs begin at a multiple of 8 |
//! | layout `bits`: `16 N W` | inputs as bits, u64 `[N][2][W]` with `W` = F / 64, rounded up |
//! | layout `sparse`: `4 (2 N + 1)` | starts of the lists, u32: side to move, then opponent |
//! | layout `sparse`: `2 L` | inputs that are on, u16, all lists one after the other |
//!
//! Feature `f` is bit `f % 64` of word `f / 64`. In a list, the order has no meaning. The last
//! batch of the files may hold fewer positions: the rest of its arrays is zero, its lists empty.
//! Of the method `pqr`, positions `3 t`, `3 t + 1` and `3 t + 2` are P, Q and R of triplet `t`.

use super::error::ServeError;
use crate::train::{Inputs, TRIPLET, oriented};
use bulletformat::ChessBoard;
use clap::ValueEnum;
use destrier::nnue::sets::{ActiveFeatures, FeatureBlock, FeatureSet, OrientedBoard};
use std::thread;

/// Length of the header of a segment or stream in bytes.
pub(super) const HEADER_LEN: usize = 64;

const MAGIC: &[u8; 8] = b"DTRBATCH";
const VERSION: u32 = 1;

/// Maximum length of a payload in bytes.
const MAX_PAYLOAD: usize = 1 << 30;

/// Largest number of destinations of a piece: a queen in the middle of an empty board.
const MOST_DESTINATIONS: usize = 27;
/// Most pieces of a position.
const MOST_PIECES: usize = 32;

/// Training method of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BatchMethod {
    /// Positions with scores and results.
    Eval,
    /// Triplets of positions, from a file of `data triplets`.
    Pqr,
}

impl BatchMethod {
    /// Returns the number of positions that stay together.
    pub const fn group(self) -> usize {
        match self {
            BatchMethod::Eval => 1,
            BatchMethod::Pqr => TRIPLET,
        }
    }
}

/// Form of the inputs of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BatchLayout {
    /// One bit for each feature.
    Bits,
    /// Lists of the features that are on.
    Sparse,
}

/// Sizes of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchShape {
    method: BatchMethod,
    layout: BatchLayout,
    positions: usize,
    features: usize,
    /// Most features that all lists of a batch can have; 0 in bits.
    listed: usize,
}

impl BatchShape {
    /// Computes the sizes of batches of a set. `count` is the number of positions, or of triplets.
    ///
    /// # Errors
    /// [`ServeError::BatchSize`] if a batch would be too large.
    pub fn new(
        set: &FeatureSet,
        method: BatchMethod,
        layout: BatchLayout,
        count: usize,
    ) -> Result<BatchShape, ServeError> {
        let positions = count * method.group();
        let most: usize = set.blocks().iter().map(|(block, _)| most_active(block)).sum();
        let listed = match layout {
            BatchLayout::Bits => 0,
            BatchLayout::Sparse => 2 * positions * most,
        };
        let shape = BatchShape { method, layout, positions, features: set.size(), listed };
        match shape.payload_len() {
            bytes if bytes > MAX_PAYLOAD => Err(ServeError::BatchSize { count, bytes, limit: MAX_PAYLOAD }),
            _ => Ok(shape),
        }
    }

    /// Returns the words of a view's bits.
    fn words(&self) -> usize {
        self.features.div_ceil(64)
    }

    /// Returns the place of the numbers of pieces in a payload.
    fn pieces_at(&self) -> usize {
        match self.method {
            BatchMethod::Eval => 8 * self.positions,
            BatchMethod::Pqr => 0,
        }
    }

    /// Returns the place of the inputs in a payload.
    fn inputs_at(&self) -> usize {
        (self.pieces_at() + self.positions).next_multiple_of(8)
    }

    /// Returns the length of the longest payload in bytes, a multiple of 64.
    pub fn payload_len(&self) -> usize {
        let inputs = match self.layout {
            BatchLayout::Bits => 16 * self.positions * self.words(),
            BatchLayout::Sparse => 4 * (2 * self.positions + 1) + 2 * self.listed,
        };
        (self.inputs_at() + inputs).next_multiple_of(64)
    }

    /// Returns the header of a segment or stream, without numbers of batches.
    pub(super) fn header(&self) -> [u8; HEADER_LEN] {
        let numbers = [
            VERSION,
            self.layout as u32 | (self.method as u32) << 16,
            self.positions as u32,
            self.features as u32,
            self.words() as u32,
            self.listed as u32,
        ];
        let mut header = [0; HEADER_LEN];
        header[..8].copy_from_slice(MAGIC);
        for (place, number) in header[8..32].as_chunks_mut::<4>().0.iter_mut().zip(numbers) {
            *place = number.to_le_bytes();
        }
        header[32..40].copy_from_slice(&(self.payload_len() as u64).to_le_bytes());
        header
    }
}

/// Returns a bound of the number of features of a block that are on in a view.
fn most_active(block: &FeatureBlock) -> usize {
    let most = match block {
        FeatureBlock::MobilitySquares | FeatureBlock::Moves => MOST_PIECES * MOST_DESTINATIONS,
        FeatureBlock::MobilityCounts => 12,
        // Pairs of different pieces.
        FeatureBlock::TopPairs(_) => MOST_PIECES * (MOST_PIECES - 1) / 2,
        _ => MOST_PIECES,
    };
    most.min(block.size())
}

/// Work of one thread on a part of a batch.
#[derive(Debug, Default)]
struct EncoderShare {
    active: ActiveFeatures,
    us: Vec<u16>,
    them: Vec<u16>,
    /// Features of all lists of the part.
    features: Vec<u16>,
    /// Ends of the lists in `features`.
    ends: Vec<u32>,
}

impl EncoderShare {
    fn encode_bits(&mut self, set: &FeatureSet, boards: &[ChessBoard], rows: &mut [u8]) {
        let view = rows.len() / (2 * boards.len().max(1));
        if self.active.words().len() * 8 != view {
            self.active = ActiveFeatures::new(set.size());
        }
        let mut put = |view: &OrientedBoard, row: &mut [u8]| {
            set.activate(view, &mut self.active);
            for (place, word) in row.as_chunks_mut::<8>().0.iter_mut().zip(self.active.words()) {
                *place = word.to_le_bytes();
            }
        };
        for (board, row) in boards.iter().zip(rows.chunks_exact_mut(2 * view)) {
            let own = oriented(board);
            let (us, them) = row.split_at_mut(view);
            put(&own, us);
            put(&own.turned(), them);
        }
    }

    fn encode_lists(&mut self, inputs: &Inputs, boards: &[ChessBoard]) {
        self.features.clear();
        self.ends.clear();
        for board in boards {
            self.us.clear();
            self.them.clear();
            inputs.append(board, &mut self.active, &mut self.us, &mut self.them);
            for list in [&self.us, &self.them] {
                self.features.extend_from_slice(list);
                self.ends.push(self.features.len() as u32);
            }
        }
    }
}

/// Writer of positions as the bytes of batches.
#[derive(Debug)]
pub struct BatchEncoder {
    shape: BatchShape,
    inputs: Inputs,
    shares: Vec<EncoderShare>,
    payload: Vec<u8>,
}

impl BatchEncoder {
    /// Creates an encoder that divides the work between `threads` threads.
    pub fn new(set: &FeatureSet, shape: BatchShape, threads: usize) -> BatchEncoder {
        let mut shares = Vec::new();
        shares.resize_with(threads.max(1), EncoderShare::default);
        BatchEncoder { shape, inputs: Inputs::of_set(set.clone()), shares, payload: Vec::new() }
    }

    /// Returns the number of positions of a full batch.
    pub fn positions(&self) -> usize {
        self.shape.positions
    }

    /// Encodes up to a batch of positions. Lists end where they end; bits have the full length.
    ///
    /// # Errors
    /// [`ServeError::Thread`] if the system has no thread to give.
    pub fn encode(&mut self, boards: &[ChessBoard]) -> Result<&[u8], ServeError> {
        let positions = self.shape.positions;
        let boards = &boards[..boards.len().min(positions)];
        let inputs_at = self.shape.inputs_at();
        self.payload.clear();
        self.payload.resize(inputs_at, 0);
        let pieces_at = self.shape.pieces_at();
        for (place, board) in boards.iter().enumerate() {
            if self.shape.method == BatchMethod::Eval {
                let (score, result) = (f32::from(board.score), f32::from(board.result) / 2.0);
                self.payload[4 * place..][..4].copy_from_slice(&score.to_le_bytes());
                self.payload[4 * (positions + place)..][..4].copy_from_slice(&result.to_le_bytes());
            }
            self.payload[pieces_at + place] = board.occ.count_ones() as u8;
        }
        match self.shape.layout {
            BatchLayout::Bits => self.encode_bits(boards)?,
            BatchLayout::Sparse => self.encode_lists(boards)?,
        }
        Ok(&self.payload)
    }

    fn encode_bits(&mut self, boards: &[ChessBoard]) -> Result<(), ServeError> {
        let row = 16 * self.shape.words();
        self.payload.resize(self.shape.payload_len(), 0);
        let part = boards.len().div_ceil(self.shares.len()).max(1);
        let set = self.inputs.set();
        let parts = boards.chunks(part).zip(self.payload[self.shape.inputs_at()..].chunks_mut(part * row));
        let jobs = self.shares.iter_mut().zip(parts).map(|(share, (boards, rows))| {
            let rows = &mut rows[..row * boards.len()];
            move || share.encode_bits(set, boards, rows)
        });
        run_together(jobs)
    }

    fn encode_lists(&mut self, boards: &[ChessBoard]) -> Result<(), ServeError> {
        let part = boards.len().div_ceil(self.shares.len()).max(1);
        let inputs = &self.inputs;
        let jobs = self
            .shares
            .iter_mut()
            .zip(boards.chunks(part))
            .map(|(share, boards)| move || share.encode_lists(inputs, boards));
        run_together(jobs)?;
        let used = &self.shares[..boards.chunks(part).len()];
        let mut before = 0;
        self.payload.extend_from_slice(&[0; 4]);
        for share in used {
            append(&mut self.payload, share.ends.iter().map(|end| (before + end).to_le_bytes()));
            before += share.features.len() as u32;
        }
        for _ in 2 * boards.len()..2 * self.shape.positions {
            self.payload.extend_from_slice(&before.to_le_bytes());
        }
        for share in used {
            append(&mut self.payload, share.features.iter().map(|feature| feature.to_le_bytes()));
        }
        Ok(())
    }
}

/// Appends numbers of `N` bytes.
fn append<const N: usize>(bytes: &mut Vec<u8>, numbers: impl ExactSizeIterator<Item = [u8; N]>) {
    let end = bytes.len();
    bytes.resize(end + N * numbers.len(), 0);
    bytes[end..].as_chunks_mut::<N>().0.iter_mut().zip(numbers).for_each(|(place, number)| *place = number);
}

/// Runs jobs in a thread each, or one job alone in this one.
fn run_together<J: FnOnce() + Send>(mut jobs: impl ExactSizeIterator<Item = J>) -> Result<(), ServeError> {
    if jobs.len() == 1 {
        jobs.by_ref().for_each(|job| job());
        return Ok(());
    }
    thread::scope(|scope| {
        jobs.try_for_each(|job| match thread::Builder::new().spawn_scoped(scope, job) {
            Ok(_) => Ok(()),
            Err(error) => Err(ServeError::Thread(error)),
        })
    })
}
