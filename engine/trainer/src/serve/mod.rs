//! Batch service: encoded positions for trainers in other programs, such as PyTorch on a GPU.
//!
//! The service reads bulletformat files, or triplets of `data triplets`, in the order of `train`
//! for the same seed, and encodes the inputs of a feature set. It hands over batches by shared
//! memory ([`--shm`](ServeArgs)) or by stdout. Each batch is a function of the seed and the files.
//!
//! The header of 64 bytes, all little endian, at the start of a segment or stream:
//!
//! | bytes | contents |
//! | --- | --- |
//! | 0..8 | `DTRBATCH` |
//! | 8..12 | version, 1 |
//! | 12..14 | layout: 0 bits, 1 sparse |
//! | 14..16 | method: 0 eval, 1 pqr |
//! | 16..20 | positions of a batch, N; three for each triplet |
//! | 20..24 | features of the set, F |
//! | 24..28 | words of a view's bits, W |
//! | 28..32 | room for features in the lists of a batch; 0 in bits |
//! | 32..40 | bytes of a slot |
//! | 40..56 | number of the batch in each slot, from 1 on, u64; 0 while it is written |
//! | 56..64 | positions of the batch in each slot, u32 |
//!
//! A segment goes on with two slots, a stream with batches (`outlet.rs`). In shared memory, the
//! service writes one byte (64) to stdout when the next batch lies in its slot, batch 1 in slot 0
//! and then in turn. The consumer writes one byte to its stdin when it has copied a batch. The
//! service runs up to two batches ahead. It removes the segment's name with the consumer's first
//! byte, so open it before; and at its end, also by a signal. The end of stdout is the end of the
//! data.
//!
//! Reading order: `batch.rs` (the bytes of a batch), `outlet.rs`, `segment.rs`.

mod batch;
pub mod bench;
mod error;
mod outlet;
mod segment;

#[cfg(test)]
mod tests;

pub use batch::BatchLayout;
pub use error::ServeError;
pub use segment::SegmentName;

use crate::train::{Records, Source, read_pairs};
use batch::{BatchEncoder, BatchMethod, BatchShape};
use clap::{ArgGroup, Args};
use destrier::nnue::sets::FeatureSet;
use outlet::{BatchOutlet, Consumer, SharedOutlet, StreamOutlet};
use segment::SharedSegment;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::sync::Arc;

const EXAMPLES: &str = "\
Examples:
  destrier-trainer data serve --features king-piece --sparse --stdout shuffled.bf | my-trainer
  destrier-trainer data serve --features piece+file+rank --shm batches --loop --seed 7 shuffled.bf
  destrier-trainer data serve --method pqr --stdout games.pqr | my-trainer

For --shm, a program starts the service with pipes for its stdin and stdout. `engine/trainer/python/serve.py` does it, and \
`train.py` beside it trains a network.";

/// Hands encoded positions to another program, batch by batch
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(group(ArgGroup::new("outlet").required(true).args(["shm", "stdout"])))]
pub struct ServeArgs {
    /// Files of positions in bulletformat, shuffled as for `train`; with --method pqr, of `data
    /// triplets`
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Sum of feature blocks, such as piece+file+rank
    #[arg(long, value_name = "SET", default_value = "piece")]
    features: String,
    /// File with the pairs of a block top-pairs:K
    #[arg(long, value_name = "FILE")]
    pairs: Option<PathBuf>,
    /// Training method
    #[arg(long, value_name = "METHOD", default_value = "eval")]
    method: BatchMethod,
    /// Positions of a batch; with --method pqr, its triplets
    #[arg(long, value_name = "N", default_value_t = 16_384, value_parser = clap::value_parser!(u32).range(1..))]
    batch: u32,
    /// Write batches to a segment of shared memory of this name, with a handshake by stdin and
    /// stdout
    #[arg(long, value_name = "NAME")]
    shm: Option<String>,
    /// Write batches to stdout
    #[arg(long)]
    stdout: bool,
    /// Lists of the features that are on, instead of bits
    #[arg(long)]
    sparse: bool,
    /// Begin again at the end of the files, in another order
    #[arg(long = "loop")]
    endless: bool,
    /// Seed of the order
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Threads that encode
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    threads: u16,
    #[arg(skip)]
    segment: SegmentName,
}

impl ServeArgs {
    /// Returns the name of the segment while there is one.
    pub fn segment(&self) -> SegmentName {
        self.segment.clone()
    }

    /// Serves until the consumer goes away, or without --loop until the end of the files.
    ///
    /// # Errors
    /// Fails if an argument or a file is not right, or there is too little shared memory.
    pub fn run(&self) -> anyhow::Result<()> {
        let pairs = self.pairs.as_ref().map(|path| read_pairs(path).map(Arc::new)).transpose()?;
        let set = FeatureSet::parse(&self.features, pairs.as_ref())?;
        let layout = if self.sparse { BatchLayout::Sparse } else { BatchLayout::Bits };
        let shape = BatchShape::new(&set, self.method, layout, self.batch as usize)?;
        let records = Records::open(&self.files).map_err(ServeError::from)?;
        let total = records.total() - records.total() % self.method.group() as u64;
        let source = match self.method {
            BatchMethod::Eval => Source::new(records, total, self.seed, 0),
            BatchMethod::Pqr => Source::of_triplets(records, total, self.seed, 0),
        }
        .map_err(ServeError::from)?;
        let encoder = BatchEncoder::new(&set, shape, usize::from(self.threads));
        let left = if self.endless { u64::MAX } else { total };
        let sent = match &self.shm {
            Some(name) => {
                let segment = SharedSegment::create(name, &shape, &self.segment)?;
                serve(source, left, encoder, &mut SharedOutlet::new(segment, io::stdin().lock(), io::stdout().lock()))
            }
            None if io::stdout().is_terminal() => Err(ServeError::Terminal),
            None => serve(source, left, encoder, &mut StreamOutlet::new(io::stdout().lock(), &shape)),
        }?;
        // A closed stderr is ignored.
        let _ = writeln!(io::stderr(), "{sent} batches of {set} ({} features)", set.size());
        Ok(())
    }
}

/// Sends up to `left` positions in batches. Returns the number of batches.
fn serve(
    mut source: Source,
    mut left: u64,
    mut encoder: BatchEncoder,
    outlet: &mut impl BatchOutlet,
) -> Result<u64, ServeError> {
    let mut number = 0;
    while left > 0 {
        let count = left.min(encoder.positions() as u64);
        let boards = source.take(count as usize)?;
        let payload = encoder.encode(&boards)?;
        if outlet.send(number + 1, count as u32, payload)? == Consumer::Gone {
            return Ok(number);
        }
        (left, number) = (left - count, number + 1);
    }
    outlet.finish()?;
    Ok(number)
}
