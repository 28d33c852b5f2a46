//! Random networks for tests and benchmarks, the same on every machine for the same seed.

use super::layout::{Kind, Layout};
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
        Kind::Layered(_) | Kind::Deep | Kind::Pairwise(_) | Kind::Squared(_) => {
            let (kind, buckets) = (layout.kind, layout.output_buckets);
            let (neurons, third) = (buckets * kind.second_layer(), buckets * kind.third_layer());
            bytes.extend((0..neurons * kind.second_inputs(layout.hidden)).map(|_| random.within(40) as u8));
            for _ in 0..neurons {
                bytes.extend_from_slice(&random.within(8000).to_le_bytes());
            }
            let (fineness, len) = (kind.fineness() as i32, kind.later_weight_len());
            let grain = kind.grain() as i32 * fineness;
            for _ in 0..third * kind.second_layer() {
                bytes.extend_from_slice(&random.within(80 * fineness).to_le_bytes()[..len]);
            }
            for _ in 0..third {
                bytes.extend_from_slice(&random.within(8000 * grain).to_le_bytes());
            }
            for _ in 0..buckets * kind.last_layer() {
                bytes.extend_from_slice(&random.within(127 * fineness).to_le_bytes()[..len]);
            }
            for _ in 0..buckets {
                bytes.extend_from_slice(&random.within(6400 * grain).to_le_bytes());
            }
        }
    }
    bytes.resize(layout.payload_len(), 0);
    bytes
}
