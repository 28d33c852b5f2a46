//! The values that the two sides of a tuning pair play around a centre.
//!
//! An integer parameter is rounded randomly, with one fraction for both sides. So its mean is
//! right, and the sides never get the same value, because they differ by at least one. What the lot
//! decides is worked out once a block, so that a pair costs a few operations a parameter, none of
//! them a branch on chance.

use super::draws::PairDraws;
use super::space::{Param, ParamKind};

/// The fraction 1 in 2^-32.
const ONE: f64 = (1u64 << 32) as f64;

/// Parameters whose signs are in a byte.
const BYTE: usize = 8;

/// The two sides in every pair of a block, parameter by parameter.
#[derive(Clone, Debug)]
pub(super) struct Sides {
    low: Roundings,
    high: Roundings,
}

/// Values to be rounded. Columns rather than rows, because those become vector code.
#[derive(Clone, Debug)]
struct Roundings {
    /// Values that are sent if they are not rounded up, by 1.
    below: Vec<f64>,
    /// Fractions below which they are rounded up, in 2^-32.
    up: Vec<u32>,
}

impl Roundings {
    fn push(&mut self, (below, up): (f64, u32)) {
        self.below.push(below);
        self.up.push(up);
    }

    /// Values chosen by the fractions of a pair.
    fn values(&self, fractions: &[u32]) -> Vec<f64> {
        let rounded = self.below.iter().zip(&self.up).zip(fractions);
        rounded.map(|((below, up), fraction)| below + one_if_below(*fraction, *up)).collect()
    }
}

/// 1 if `fraction` is below `up`, else 0: by arithmetic, because compilers make a branch of the
/// comparison, and a branch on chance is guessed wrong half of the time.
const fn one_if_below(fraction: u32, up: u32) -> f64 {
    let below = (fraction as u64).wrapping_sub(up as u64) >> 63;
    f64::from_bits(0u64.wrapping_sub(below) & 1f64.to_bits())
}

/// Exchanges two values if bit `bit` of `byte` is set, without a branch as well.
const fn exchange(first: &mut f64, second: &mut f64, byte: u8, bit: usize) {
    let (low, high) = (first.to_bits(), second.to_bits());
    let differing = (low ^ high) & 0u64.wrapping_sub((byte >> bit & 1) as u64);
    *first = f64::from_bits(low ^ differing);
    *second = f64::from_bits(high ^ differing);
}

/// Whole number at or below a value of a magnitude up to 2^53. `f64::floor` is a library call on
/// processors that the build does not name.
pub(super) fn floor(value: f64) -> f64 {
    let whole = (value as i64) as f64;
    if whole > value { whole - 1.0 } else { whole }
}

/// The whole number below a value, and the fractions below which the one above is chosen.
fn parts(value: f64) -> (f64, u32) {
    let below = floor(value);
    (below, ((value - below) * ONE) as u32)
}

/// A whole value that is not sent beyond the ends `min` and `max`.
fn within((below, up): (f64, u32), min: f64, max: f64) -> (f64, u32) {
    if below < min {
        (min, 0)
    } else if below >= max {
        (max, 0)
    } else {
        (below, up)
    }
}

impl Sides {
    /// No parameters yet, and room for some.
    pub(super) fn with_capacity(params: usize) -> Self {
        let roundings = || Roundings { below: Vec::with_capacity(params), up: Vec::with_capacity(params) };
        Self { low: roundings(), high: roundings() }
    }

    /// Adds a parameter: sides `half` below and above a centre, which is moved so that both fit in
    /// the range. Clipping one side instead would halve the information of the pair.
    pub(super) fn push(&mut self, param: &Param, centre: f64, half: f64) {
        let Param { min, max, .. } = *param;
        if max <= min {
            // Narrowed to a single value.
            self.low.push((min, 0));
            self.high.push((min, 0));
            return;
        }
        let half = half.min((max - min) / 2.0);
        // `max` after `min`: rounding errors may leave the two ends the wrong way round by a hair.
        let centre = centre.min(max - half).max(min + half);
        let (low, high) = (centre - half, centre + half);
        if param.kind == ParamKind::Float {
            self.low.push((low.max(min), 0));
            self.high.push((high.min(max), 0));
            return;
        }
        let (low, mut high) = (parts(low), parts(high));
        // Rounding errors may close a gap of exactly one.
        if high.0 <= low.0 {
            high = (low.0 + 1.0, low.1);
        } else if high.0 <= low.0 + 1.0 {
            high.1 = high.1.max(low.1);
        }
        self.low.push(within(low, min, max - 1.0));
        self.high.push(within(high, min + 1.0, max));
    }

    /// Values of the sides of one pair: the first is on the high side of each parameter whose sign
    /// is positive. `fractions` is room for the pair's fractions.
    pub(super) fn draw(&self, seed: u64, pair: u64, fractions: &mut Vec<u32>) -> [Vec<f64>; 2] {
        let params = self.low.below.len();
        let (signs, mut draws) = PairDraws::new(seed, pair, params);
        fractions.resize(params, 0);
        draws.fill(fractions);
        let mut sides = [self.low.values(fractions), self.high.values(fractions)];
        let [first, second] = &mut sides;
        let (firsts, first_rest) = first.as_chunks_mut::<BYTE>();
        let (seconds, second_rest) = second.as_chunks_mut::<BYTE>();
        let mut bytes = signs.bytes();
        for ((firsts, seconds), byte) in firsts.iter_mut().zip(seconds).zip(bytes.by_ref()) {
            for bit in 0..BYTE {
                exchange(&mut firsts[bit], &mut seconds[bit], byte, bit);
            }
        }
        if let Some(byte) = bytes.next() {
            for (bit, (first, second)) in first_rest.iter_mut().zip(second_rest).enumerate() {
                exchange(first, second, byte, bit);
            }
        }
        sides
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn param(kind: ParamKind, min: f64, max: f64) -> Param {
        Param { name: "a".to_owned(), kind, start: min, min, max, step: 1.0, rate: 0.002 }
    }

    fn sides(params: &[(Param, f64, f64)]) -> Sides {
        let mut sides = Sides::with_capacity(params.len());
        params.iter().for_each(|(param, centre, half)| sides.push(param, *centre, *half));
        sides
    }

    #[test]
    fn values_are_rounded_down_to_whole_ones() {
        for value in [-3.0, -2.5, -0.1, 0.0, 0.9, 7.0, 1e15 + 0.5, 9_007_199_254_740_992.0] {
            assert_eq!(floor(value), value.floor());
        }
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
            let sides = sides(&[(param(ParamKind::Int, min, max), centre, half)]);
            let (mut low, mut high, mut first_is_high) = (0.0, 0.0, 0);
            for pair in 0..pairs {
                let [first, second] = sides.draw(3, pair, &mut Vec::new()).map(|side| side[0]);
                assert!(first != second && first.fract() == 0.0 && second.fract() == 0.0);
                assert!([first, second].iter().all(|value| (min..=max).contains(value)), "{first} {second}");
                let positive = PairDraws::new(3, pair, 1).0.iter().next() == Some(1.0);
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
    fn a_range_that_is_narrowed_to_one_value_leaves_it_to_both_sides() {
        for kind in [ParamKind::Int, ParamKind::Float] {
            let sides = sides(&[(param(kind, 7.0, 7.0), 7.4, 0.5)]);
            assert!((0..20).all(|pair| sides.draw(3, pair, &mut Vec::new()) == [[7.0], [7.0]]));
        }
    }

    #[test]
    fn both_sides_are_rounded_with_one_fraction() {
        // 2.2 and 5.2: a lot below 0.2 rounds both up, so they stay 3 apart.
        let sides = sides(&[(param(ParamKind::Int, 0.0, 9.0), 3.7, 1.5)]);
        for pair in 0..1_000 {
            let [first, second] = sides.draw(3, pair, &mut Vec::new()).map(|side| side[0]);
            assert_eq!((first - second).abs(), 3.0);
        }
    }

    #[test]
    fn rounding_errors_close_no_gap_and_leave_no_range() {
        // Sides exactly one apart in decimals, not in binary; ends where nothing is left to move.
        for tenths in -400..400 {
            for (min, max) in [(-40.0, 40.0), (-40.0, -39.0), (39.0, 40.0)] {
                for half in [0.5, 0.5 + 1e-16, 0.6] {
                    let sides = sides(&[(param(ParamKind::Int, min, max), f64::from(tenths) / 10.0, half)]);
                    let ends = [sides.low.up[0], sides.high.up[0]];
                    let fractions =
                        [0, u32::MAX].into_iter().chain(ends.iter().flat_map(|end| [*end, end.wrapping_sub(1)]));
                    for fraction in fractions {
                        let [low, high] = [&sides.low, &sides.high].map(|side| side.values(&[fraction])[0]);
                        assert!(min <= low && low < high && high <= max, "{tenths} {half}: {low} {high}");
                    }
                }
            }
        }
    }

    #[test]
    fn decimal_values_are_not_rounded_and_more_parameters_than_a_word_has_signs_have_their_own() {
        let params = 70;
        let sides = sides(&vec![(param(ParamKind::Float, 0.0, 10.0), 4.25, 0.5); params]);
        let (signs, _) = PairDraws::new(9, 4, params);
        let [first, second] = sides.draw(9, 4, &mut Vec::new());
        for ((first, second), sign) in first.iter().zip(&second).zip(signs.iter()) {
            assert_eq!((*first, *second), (4.25 + sign * 0.5, 4.25 - sign * 0.5));
        }
        let edge = self::sides(&[(param(ParamKind::Float, 0.0, 10.0), 9.9, 0.5)]);
        assert_eq!(edge.high.values(&[0]), [10.0]);
    }
}
