//! Random networks for tests and benchmarks, the same on every machine for the same seed.

use super::layout::{HIDDEN_2, Kind, Layout};
use crate::types::SplitMix64;

/// Noise from a seed.
struct Random(SplitMix64);

impl Random {
    /// Returns a number from `-limit` to `limit`.
    fn within(&mut self, limit: i32) -> i32 {
        let span = 2 * u64::from(limit.unsigned_abs()) + 1;
        (self.0.next_u64() % span) as i32 - limit
    }
}

/// Returns the payload of a random network with numbers about as large as a trained one's.
///
/// About half of the neurons are active, a few saturate, and evaluations are some hundreds of
/// centipawns.
pub fn random_payload(layout: &Layout, seed: u64) -> Vec<u8> {
    let mut random = Random(SplitMix64::new(seed));
    let mut bytes = Vec::with_capacity(layout.payload_len());
    for _ in 0..layout.features() * layout.hidden {
        bytes.extend_from_slice(&(random.within(48) as i16).to_le_bytes());
    }
    for _ in 0..layout.hidden {
        bytes.extend_from_slice(&(random.within(64) as i16 + 32).to_le_bytes());
    }
    match layout.kind {
        Kind::Screlu => {
            for _ in 0..layout.output_buckets * 2 * layout.hidden {
                bytes.extend_from_slice(&(random.within(40) as i16).to_le_bytes());
            }
            for _ in 0..layout.output_buckets {
                bytes.extend_from_slice(&(random.within(1000) as i16).to_le_bytes());
            }
        }
        Kind::Layered(_) | Kind::Deep => {
            let buckets = layout.output_buckets;
            let neurons = buckets * layout.kind.second_layer();
            bytes.extend((0..neurons * 2 * layout.hidden).map(|_| random.within(40) as u8));
            for _ in 0..neurons {
                bytes.extend_from_slice(&random.within(8000).to_le_bytes());
            }
            if layout.kind == Kind::Deep {
                bytes.extend((0..buckets * HIDDEN_2 * HIDDEN_2).map(|_| random.within(80) as u8));
                for _ in 0..buckets * HIDDEN_2 {
                    bytes.extend_from_slice(&random.within(8000).to_le_bytes());
                }
            }
            bytes.extend((0..neurons).map(|_| random.within(127) as u8));
            for _ in 0..buckets {
                bytes.extend_from_slice(&random.within(6400).to_le_bytes());
            }
        }
    }
    bytes.resize(layout.payload_len(), 0);
    bytes
}
