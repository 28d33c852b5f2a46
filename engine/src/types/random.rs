//! Pseudorandom numbers that are the same on every machine.

/// SplitMix64 generator (Steele, Lea and Flood, "Fast splittable pseudorandom number generators",
/// OOPSLA 2014, fig. 13).
///
/// Its sequences must never change: Zobrist keys, self-play games and the initial weights of
/// networks depend on them.
#[derive(Debug, Clone)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// Creates the sequence of a seed.
    #[inline]
    pub const fn new(seed: u64) -> SplitMix64 {
        SplitMix64(seed)
    }

    /// Creates the sequence of several numbers, such as a seed and a game number.
    pub fn from_seeds(seeds: &[u64]) -> SplitMix64 {
        let mut random = SplitMix64(0);
        for seed in seeds {
            random.0 = random.next_u64() ^ seed;
        }
        random.next_u64();
        random
    }

    /// Returns 64 random bits. The first of a sequence are a good hash of its seed.
    #[inline]
    pub const fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ bits >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ bits >> 31
    }

    /// Returns true with a probability from 0 to 1, by 53 random bits.
    #[inline]
    pub fn chance(&mut self, probability: f64) -> bool {
        ((self.next_u64() >> 11) as f64) < probability * (1_u64 << 53) as f64
    }

    /// Returns a number from 0 to below `bound`, which must not be 0. It is the high half of a
    /// product, with a bias below `bound / 2^64`.
    #[inline]
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next_u64()) * bound as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::SplitMix64;

    /// First outputs of the reference implementation (Vigna, splitmix64.c) for the seed 1234567.
    #[test]
    fn numbers_match_the_reference() {
        let mut random = SplitMix64::new(1_234_567);
        let numbers = [(); 5].map(|()| random.next_u64());
        let reference = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ];
        assert_eq!(numbers, reference);
        assert!((0..1000).all(|_| random.below(1) == 0 && random.below(7) < 7));
        assert!((0..1000).all(|_| random.chance(1.0) && !random.chance(0.0)));
        let quarter = (0..10_000).filter(|_| random.chance(0.25)).count();
        assert!((2_300..2_700).contains(&quarter), "{quarter}");
    }

    #[test]
    fn each_of_several_seeds_counts() {
        let first = |seeds: &[u64]| SplitMix64::from_seeds(seeds).next_u64();
        let lists: [&[u64]; 7] = [&[], &[0], &[1], &[0, 0], &[1, 2], &[2, 1], &[1, 2, 0]];
        for (index, seeds) in lists.iter().enumerate() {
            assert!(lists[..index].iter().all(|others| first(others) != first(seeds)), "{seeds:?}");
        }
        let mut random = SplitMix64::from_seeds(&[1, 2, 3]);
        assert_eq!(random.next_u64(), 8_675_578_458_278_028_105);
        assert_eq!([(); 8].map(|()| random.below(1000)), [918, 636, 184, 108, 670, 372, 65, 233]);
    }
}
