//! Speed of the encoding of batches, for the benchmark.

use super::batch::{BatchEncoder, BatchLayout, BatchMethod, BatchShape};
use super::error::ServeError;
use crate::train::bench::{Speed, positions, processor_seconds};
use destrier::nnue::sets::FeatureSet;
use std::time::Instant;

/// Positions of a batch.
const BATCH: usize = 16_384;

/// Measures how fast one thread encodes batches of a set, with random positions in memory.
///
/// # Errors
/// Fails if the batch would be too large.
pub fn measure(set: &FeatureSet, layout: BatchLayout, batches: usize) -> Result<Speed, ServeError> {
    let boards = positions(BATCH);
    let mut encoder = BatchEncoder::new(set, BatchShape::new(set, BatchMethod::Eval, layout, BATCH)?, 1);
    encoder.encode(&boards)?;
    let (begun, used) = (Instant::now(), processor_seconds());
    for _ in 0..batches {
        std::hint::black_box(encoder.encode(&boards)?);
    }
    let encoded = (batches * BATCH) as f64;
    Ok(Speed {
        per_second: encoded / begun.elapsed().as_secs_f64().max(1e-9),
        per_processor: encoded / (processor_seconds() - used).max(1e-9),
    })
}
