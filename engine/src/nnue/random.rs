//! Networks of noise, for tests and benchmarks: the same from the same seed on every machine.

use super::format::{Kind, Layout};
use super::network::HIDDEN_2;

/// splitmix64 (Steele, Lea, Flood 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// From `-limit` to `limit`.
    fn within(&mut self, limit: i32) -> i32 {
        let span = 2 * u64::from(limit.unsigned_abs()) + 1;
        (self.next() % span) as i32 - limit
    }
}

/// The payload of a random network whose numbers are about as large as a trained one's: about half of the neurons are active, a
/// few saturate, and evaluations are some hundreds of centipawns.
pub fn random_payload(layout: &Layout, seed: u64) -> Vec<u8> {
    let mut random = Random(seed);
    let mut bytes = Vec::with_capacity(layout.payload_len());
    for _ in 0..layout.king_buckets * super::FEATURES * layout.hidden {
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
        Kind::Layered => {
            bytes.extend((0..HIDDEN_2 * 2 * layout.hidden).map(|_| random.within(40) as u8));
            for _ in 0..HIDDEN_2 {
                bytes.extend_from_slice(&random.within(8000).to_le_bytes());
            }
            bytes.extend((0..HIDDEN_2).map(|_| random.within(127) as u8));
            bytes.extend_from_slice(&random.within(6400).to_le_bytes());
        }
    }
    bytes.resize(layout.payload_len(), 0);
    bytes
}
