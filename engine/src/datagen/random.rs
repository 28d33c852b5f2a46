//! Numbers that look random and are the same on every machine.

/// The generator SplitMix64: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014, fig. 13.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// A generator for these numbers, such as a seed and the number of a game; others give another sequence.
    pub fn new(seeds: &[u64]) -> Random {
        let mut random = Random(0);
        for seed in seeds {
            random.0 = random.next() ^ seed;
        }
        random.next();
        random
    }

    /// 64 random bits.
    #[expect(clippy::should_implement_trait, reason = "a generator is no iterator: it never ends")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ bits >> 31
    }

    /// A number from 0 to below `bound`, which must not be 0. The bias is below `bound / 2^64`.
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }
}
