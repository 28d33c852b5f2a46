//! Chance in a tuning: signs and fractions of each pair, from the seed and the pair's number alone.

use crate::stats::random::SplitMix64;

/// Signs in a word.
const WORD: usize = 64;

/// Stream of random numbers of a pair. Neighbouring pairs and seeds have unrelated streams.
fn stream(seed: u64, pair: u64) -> SplitMix64 {
    let seed = SplitMix64::new(seed).next_u64();
    SplitMix64::new(SplitMix64::new(seed ^ pair).next_u64())
}

/// Directions in which a pair's vector leaves the centre: one sign a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signs {
    words: Vec<u64>,
    len: usize,
}

impl Signs {
    /// The sign of each parameter, 1 or -1.
    pub fn iter(&self) -> impl Iterator<Item = f64> + '_ {
        self.words
            .iter()
            .flat_map(|word| (0..WORD).map(move |bit| if word >> bit & 1 == 1 { 1.0 } else { -1.0 }))
            .take(self.len)
    }

    /// The opposite directions.
    #[must_use]
    pub fn reversed(mut self) -> Self {
        for word in &mut self.words {
            *word = !*word;
        }
        self
    }

    /// Adds `by` times each sign to `sums`.
    pub fn add_to(&self, sums: &mut [i32], by: i32) {
        for (sums, word) in sums.chunks_mut(WORD).zip(&self.words) {
            for (bit, sum) in sums.iter_mut().enumerate() {
                // 1 for a set bit, -1 for a clear one.
                *sum += by * ((word >> bit & 1) as i32 * 2 - 1);
            }
        }
    }
}

/// Draws of a pair, in a fixed order: its signs first, then fractions as often as they are asked
/// for.
#[derive(Clone, Debug)]
pub struct Draws {
    random: SplitMix64,
}

impl Draws {
    /// Draws of a pair of a run with `params` parameters, and its signs.
    #[must_use]
    pub fn new(seed: u64, pair: u64, params: usize) -> (Signs, Self) {
        let mut random = stream(seed, pair);
        let words = (0..params.div_ceil(WORD)).map(|_| random.next_u64()).collect();
        (Signs { words, len: params }, Self { random })
    }

    /// Fraction in `0.0..1.0` that decides whether a value is rounded up.
    pub fn fraction(&mut self) -> f64 {
        self.random.unit()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_depend_on_seed_and_pair_alone_and_are_fair() {
        let draw = |seed, pair| {
            let (signs, mut draws) = Draws::new(seed, pair, 130);
            (signs, draws.fraction())
        };
        assert_eq!(draw(1, 2), draw(1, 2));
        assert_ne!(draw(1, 2).0, draw(1, 3).0);
        assert_ne!(draw(1, 2).0, draw(2, 2).0);
        let mut sums = vec![0; 130];
        let mut fractions = 0.0;
        for pair in 0..4_000 {
            let (signs, fraction) = draw(7, pair);
            assert!(signs.iter().all(|sign| sign.abs() == 1.0) && signs.iter().count() == 130);
            signs.add_to(&mut sums, 1);
            fractions += fraction;
        }
        // Five standard deviations of a sum of 4,000 signs: 316.
        assert!(sums.iter().all(|sum| sum.abs() < 316), "{sums:?}");
        assert!((fractions / 4_000.0 - 0.5).abs() < 0.025, "{fractions}");
    }

    #[test]
    fn sums_are_those_of_the_signs_and_reversed_signs_cancel() {
        let (signs, _) = Draws::new(3, 5, 70);
        let mut sums = vec![0; 70];
        signs.add_to(&mut sums, -2);
        assert!(sums.iter().zip(signs.iter()).all(|(sum, sign)| f64::from(*sum) == -2.0 * sign));
        signs.reversed().add_to(&mut sums, -2);
        assert!(sums.iter().all(|sum| *sum == 0));
    }
}
