//! Pseudorandom numbers that are the same on every machine.

/// SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", OOPSLA 2014).
///
/// It is small, takes any seed, and stands here so that no release of a dependency changes the
/// order of a run.
#[derive(Clone, Debug)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// A stream for each seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub const fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in `0.0..1.0`.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A number below `bound`, each equally likely (Lemire: "Fast random integer generation in an
    /// interval", 2019); 0 for a bound of 0.
    pub fn below(&mut self, bound: u32) -> u32 {
        let bound = u64::from(bound);
        loop {
            let product = (self.next_u64() >> 32) * bound;
            let low = product & 0xffff_ffff;
            // Reject the few values that would make some results more likely than others.
            if low >= bound || low >= ((1 << 32) - bound) % bound {
                // The product of two numbers below 2^32, shifted by 32: it always fits.
                return u32::try_from(product >> 32).unwrap_or(0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generator_matches_the_reference() {
        // First outputs of the reference implementation (Vigna, splitmix64.c) for seed 1234567.
        let mut random = SplitMix64::new(1_234_567);
        let expected = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ];
        assert_eq!([(); 5].map(|()| random.next_u64()), expected);
        assert!((0..1000).all(|_| random.below(1) == 0 && random.below(0) == 0 && random.below(7) < 7));
        assert!((0..1000).all(|_| (0.0..1.0).contains(&random.unit())));
    }
}
