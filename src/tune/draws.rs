//! Chance in a tuning: signs and fractions of each pair, from the seed and the pair's number alone.

use crate::stats::random::SplitMix64;

/// Signs in a word.
const WORD: usize = 64;

/// Fractions in `0.0..1.0` are 32-bit numbers over this.
const FRACTIONS: f64 = (1u64 << 32) as f64;

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

    /// The signs as bits, 8 parameters a byte from its lowest bit; 1 stands for a positive one.
    pub(super) fn bytes(&self) -> impl Iterator<Item = u8> + '_ {
        self.words.iter().flat_map(|word| word.to_le_bytes())
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
        // Bytes spread over constant masks become vector code; shifts by a bit's number do not.
        for (sums, byte) in sums.chunks_mut(8).zip(self.bytes()) {
            for (sum, mask) in sums.iter_mut().zip([1, 2, 4, 8, 16, 32, 64, 128]) {
                *sum += if byte & mask == 0 { -by } else { by };
            }
        }
    }
}

/// Draws of a pair, in a fixed order: its signs first, then fractions, two to a number.
#[derive(Clone, Debug)]
pub struct PairDraws {
    random: SplitMix64,
}

impl PairDraws {
    /// Draws of a pair of a run with `params` parameters, and its signs.
    #[must_use]
    pub fn new(seed: u64, pair: u64, params: usize) -> (Signs, Self) {
        let mut random = stream(seed, pair);
        let words = (0..params.div_ceil(WORD)).map(|_| random.next_u64()).collect();
        (Signs { words, len: params }, Self { random })
    }

    /// Fills `numbers` with fractions in 2^-32: the next ones, each as likely as any other.
    pub(super) fn fill(&mut self, numbers: &mut [u32]) {
        let (twos, last) = numbers.as_chunks_mut();
        for [low, high] in twos {
            let draw = self.random.next_u64();
            (*low, *high) = (draw as u32, (draw >> 32) as u32);
        }
        if let [last] = last {
            *last = self.random.next_u64() as u32;
        }
    }

    /// The next `count` fractions in `0.0..1.0`, which decide whether values are rounded up.
    #[must_use]
    pub fn fractions(&mut self, count: usize) -> Vec<f64> {
        let mut numbers = vec![0; count];
        self.fill(&mut numbers);
        numbers.into_iter().map(|number| f64::from(number) / FRACTIONS).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_depend_on_seed_and_pair_alone_and_are_fair() {
        let draw = |seed, pair| {
            let (signs, mut draws) = PairDraws::new(seed, pair, 130);
            (signs, draws.fractions(3))
        };
        assert_eq!(draw(1, 2), draw(1, 2));
        assert_ne!(draw(1, 2).0, draw(1, 3).0);
        assert_ne!(draw(1, 2).0, draw(2, 2).0);
        let mut sums = vec![0; 130];
        let mut fractions = [0.0; 3];
        for pair in 0..4_000 {
            let (signs, drawn) = draw(7, pair);
            assert!(signs.iter().all(|sign| sign.abs() == 1.0) && signs.iter().count() == 130);
            signs.add_to(&mut sums, 1);
            assert!(drawn.iter().all(|fraction| (0.0..1.0).contains(fraction)));
            assert!(drawn[0] != drawn[1] && drawn[1] != drawn[2] && drawn[0] != drawn[2]);
            fractions.iter_mut().zip(drawn).for_each(|(sum, fraction)| *sum += fraction);
        }
        // Five standard deviations of a sum of 4,000 signs: 316.
        assert!(sums.iter().all(|sum| sum.abs() < 316), "{sums:?}");
        assert!(fractions.iter().all(|sum| (sum / 4_000.0 - 0.5).abs() < 0.025), "{fractions:?}");
    }

    #[test]
    fn sums_are_those_of_the_signs_and_reversed_signs_cancel() {
        let (signs, _) = PairDraws::new(3, 5, 70);
        let mut sums = vec![0; 70];
        signs.add_to(&mut sums, -2);
        assert!(sums.iter().zip(signs.iter()).all(|(sum, sign)| f64::from(*sum) == -2.0 * sign));
        signs.reversed().add_to(&mut sums, -2);
        assert!(sums.iter().all(|sum| *sum == 0));
    }
}
