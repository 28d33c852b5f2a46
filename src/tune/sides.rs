//! The values that the two sides of a tuning pair play around a centre.
//!
//! A whole parameter is rounded by lot, with one fraction for both sides: right on average, and
//! never equal, as the sides are one apart at least. What the lot decides between is worked out
//! once a block, so that a pair costs a comparison and two selections a parameter.

use super::draws::Draws;
use super::space::{Kind, Param};

/// Fractions below 1, in 2^-32.
const ONE: f64 = (1u64 << 32) as f64;

/// A value to be rounded: the bits of the two that the lot decides between, and the fraction from
/// which it is the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rounding {
    below: u64,
    /// Bits in which the second differs from the first.
    differing: u64,
    /// In 2^-32; above all fractions if the first is always chosen.
    threshold: u64,
}

impl Rounding {
    fn new(below: f64, above: f64, threshold: u64) -> Self {
        Self { below: below.to_bits(), differing: below.to_bits() ^ above.to_bits(), threshold }
    }

    /// Bits of the value chosen by a fraction.
    const fn bits(self, fraction: u32) -> u64 {
        // All ones if the fraction reaches the threshold: a subtraction, because a branch on a lot
        // is guessed wrong half of the time.
        let chosen = ((fraction as u64).wrapping_sub(self.threshold) >> 63).wrapping_sub(1);
        self.below ^ (self.differing & chosen)
    }
}

/// The two sides of one parameter in every pair of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sides {
    low: Rounding,
    high: Rounding,
}

impl Sides {
    /// Sides `half` below and above a centre, which is moved so that both fit in the range:
    /// clipping one side instead would halve what the pair tells.
    pub(super) fn new(param: &Param, centre: f64, half: f64) -> Self {
        let Param { min, max, .. } = *param;
        let half = half.min((max - min) / 2.0);
        // `max` after `min`: rounding errors may leave the two ends the wrong way round by a hair.
        let centre = centre.min(max - half).max(min + half);
        let (low, high) = (centre - half, centre + half);
        if param.kind == Kind::Float {
            let (low, high) = (low.max(min), high.min(max));
            return Self { low: Rounding::new(low, low, 0), high: Rounding::new(high, high, 0) };
        }
        // The whole number below a value, and the fraction from which the one above is chosen.
        let parts = |value: f64| (value.floor(), ((1.0 - (value - value.floor())) * ONE) as u64);
        let ((low, low_from), (mut high, mut high_from)) = (parts(low), parts(high));
        // Rounding errors may close a gap of exactly one.
        if high <= low {
            (high, high_from) = (low + 1.0, low_from);
        } else if high <= low + 1.0 {
            high_from = high_from.min(low_from);
        }
        let (low_end, high_end) = (|value: f64| value.clamp(min, max - 1.0), |value: f64| value.clamp(min + 1.0, max));
        Self {
            low: Rounding::new(low_end(low), low_end(low + 1.0), low_from),
            high: Rounding::new(high_end(high), high_end(high + 1.0), high_from),
        }
    }
}

/// Values of the sides of one pair: the first is on the high side of each parameter whose sign is
/// positive. `fractions` is room for a fraction of each parameter.
pub(super) fn draw(sides: &[Sides], seed: u64, pair: u64, fractions: &mut [u32]) -> [Vec<f64>; 2] {
    let (signs, mut draws) = Draws::new(seed, pair, sides.len());
    draws.fill(fractions);
    let mut drawn = [vec![0.0; sides.len()], vec![0.0; sides.len()]];
    let [first, second] = &mut drawn;
    let lots = sides.chunks(64).zip(fractions.chunks(64)).zip(signs.words());
    for (((sides, fractions), word), (first, second)) in lots.zip(first.chunks_mut(64).zip(second.chunks_mut(64))) {
        let values = sides.iter().zip(fractions).zip(first.iter_mut().zip(second));
        for (bit, ((sides, fraction), (first, second))) in values.enumerate() {
            let (low, high) = (sides.low.bits(*fraction), sides.high.bits(*fraction));
            // Exchanged without a branch, because a sign cannot be guessed.
            let exchanged = (low ^ high) & 0u64.wrapping_sub(word >> bit & 1);
            *first = f64::from_bits(low ^ exchanged);
            *second = f64::from_bits(high ^ exchanged);
        }
    }
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;

    fn param(kind: Kind, min: f64, max: f64) -> Param {
        Param { name: "a".to_owned(), kind, start: min, min, max, step: 1.0, rate: 0.002 }
    }

    #[test]
    fn whole_values_are_right_on_average_and_apart_in_every_pair() {
        let pairs = 20_000;
        // Centre, half width, range; average of the lower and of the upper side.
        let cases = [
            (50.3, 1.7, (0.0, 100.0), (48.6, 52.0)),
            (50.3, 0.5, (0.0, 100.0), (49.8, 50.8)),
            (-7.75, 0.5, (-9.0, 9.0), (-8.25, -7.25)),
            // Moved from the end, and a range of two values.
            (99.9, 2.0, (0.0, 100.0), (96.0, 100.0)),
            (0.4, 0.5, (0.0, 1.0), (0.0, 1.0)),
        ];
        for (centre, half, (min, max), wanted) in cases {
            let sides = [Sides::new(&param(Kind::Int, min, max), centre, half)];
            let (mut low, mut high, mut first_is_high) = (0.0, 0.0, 0);
            for pair in 0..pairs {
                let [first, second] = draw(&sides, 3, pair, &mut [0]).map(|side| side[0]);
                assert!(first != second && first.fract() == 0.0 && second.fract() == 0.0);
                assert!([first, second].iter().all(|value| (min..=max).contains(value)), "{first} {second}");
                let positive = Draws::new(3, pair, 1).0.iter().next() == Some(1.0);
                assert_eq!(first > second, positive);
                low += first.min(second) / pairs as f64;
                high += first.max(second) / pairs as f64;
                first_is_high += u32::from(positive);
            }
            // Five standard errors of a rounding: 0.018.
            assert!((low - wanted.0).abs() < 0.02 && (high - wanted.1).abs() < 0.02, "{centre}: {low} {high}");
            assert!((9_600..=10_400).contains(&first_is_high), "{first_is_high}");
        }
    }

    #[test]
    fn both_sides_are_rounded_with_one_fraction() {
        // 2.2 and 5.2: a lot of 0.8 and more rounds both up, so they stay 3 apart.
        let sides = [Sides::new(&param(Kind::Int, 0.0, 9.0), 3.7, 1.5)];
        for pair in 0..1_000 {
            let [first, second] = draw(&sides, 3, pair, &mut [0]).map(|side| side[0]);
            assert_eq!((first - second).abs(), 3.0);
        }
    }

    #[test]
    fn rounding_errors_close_no_gap_and_leave_no_range() {
        // Sides exactly one apart in decimals, not in binary; ends where nothing is left to move.
        for tenths in -400..400 {
            for (min, max) in [(-40.0, 40.0), (-40.0, -39.0), (39.0, 40.0)] {
                for half in [0.5, 0.5 + 1e-16, 0.6] {
                    let Sides { low, high } = Sides::new(&param(Kind::Int, min, max), f64::from(tenths) / 10.0, half);
                    let ends = [low.threshold, high.threshold];
                    for fraction in [0, 1, u32::MAX].into_iter().chain(ends.map(|end| end.min(1 << 31) as u32)) {
                        let [low, high] = [low, high].map(|side| f64::from_bits(side.bits(fraction)));
                        assert!(min <= low && low < high && high <= max, "{tenths} {half}: {low} {high}");
                    }
                }
            }
        }
    }

    #[test]
    fn decimal_values_are_not_rounded_and_more_parameters_than_a_word_has_signs_have_their_own() {
        let params = 70;
        let sides = vec![Sides::new(&param(Kind::Float, 0.0, 10.0), 4.25, 0.5); params];
        let (signs, _) = Draws::new(9, 4, params);
        let [first, second] = draw(&sides, 9, 4, &mut vec![0; params]);
        for ((first, second), sign) in first.iter().zip(&second).zip(signs.iter()) {
            assert_eq!((*first, *second), (4.25 + sign * 0.5, 4.25 - sign * 0.5));
        }
        let edge = Sides::new(&param(Kind::Float, 0.0, 10.0), 9.9, 0.5);
        assert_eq!(f64::from_bits(edge.high.bits(0)), 10.0);
    }
}
