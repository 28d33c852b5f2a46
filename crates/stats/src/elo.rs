//! Differences in strength: Elo, normalized Elo, likelihood of superiority, with 95 % intervals.
//!
//! Sources: fishtest `stat_util.py` and `LLRcalc.py` for the formulas; M. Van den Bergh,
//! "Normalized Elo practical". The normal distribution is that of `statrs`.

use super::Counts;
use statrs::distribution::{ContinuousCDF, Normal};
use std::f64::consts::LN_10;
use std::fmt;

/// The two-sided 95 % quantile of the normal distribution.
pub const Z_95: f64 = 1.959_963_984_540_054;

/// An Elo difference that may be infinite: a side that won every game has no finite one.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub enum Elo {
    /// Every point lost.
    MinusInfinity,
    /// An ordinary number, neither NaN nor -0.
    Finite(f64),
    /// Every point won.
    PlusInfinity,
}

impl Elo {
    /// The number; `None` if it is infinite.
    #[must_use]
    pub fn finite(self) -> Option<f64> {
        match self {
            Self::Finite(value) => Some(value),
            Self::MinusInfinity | Self::PlusInfinity => None,
        }
    }

    /// Logistic Elo of a score in points per game: `400 log10(score / (1 - score))`. A score of 0
    /// or less, or of 1 or more, is infinite.
    #[must_use]
    pub fn of_score(score: f64) -> Self {
        if score <= 0.0 {
            Self::MinusInfinity
        } else if score >= 1.0 {
            Self::PlusInfinity
        } else {
            // Adding 0 turns -0 into 0.
            Self::Finite(400.0 * (score / (1.0 - score)).log10() + 0.0)
        }
    }

    /// `value` if it is finite, else the infinity of its sign; `None` for NaN.
    fn of(value: f64) -> Option<Self> {
        if value.is_nan() {
            None
        } else if value.is_finite() {
            Some(Self::Finite(value + 0.0))
        } else if value > 0.0 {
            Some(Self::PlusInfinity)
        } else {
            Some(Self::MinusInfinity)
        }
    }
}

impl fmt::Display for Elo {
    /// Uses the formatter's precision (default 2), no sign for a rounded zero, and `inf` and `-inf`
    /// for infinities.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::MinusInfinity => "-inf".to_owned(),
            Self::PlusInfinity => "inf".to_owned(),
            Self::Finite(value) => fixed(*value, f.precision().unwrap_or(2)),
        };
        // Not `pad`, which would use the precision as a maximal width.
        match f.width() {
            Some(width) => write!(f, "{text:>width$}"),
            None => f.write_str(&text),
        }
    }
}

/// A finite number with this many decimals, never `-0.00`.
#[must_use]
pub fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    match text.strip_prefix('-') {
        Some(rest) if rest.bytes().all(|byte| byte == b'0' || byte == b'.') => rest.to_owned(),
        _ => text,
    }
}

/// A number with a sign and this many decimals. A rounded zero has no sign.
#[must_use]
pub fn signed(value: f64, decimals: usize) -> String {
    let text = fixed(value, decimals);
    if text.starts_with('-') || text.bytes().all(|byte| matches!(byte, b'0' | b'.')) {
        text
    } else {
        format!("+{text}")
    }
}

/// An estimate with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The estimate itself.
    pub value: Elo,
    /// Both ends of the interval; `None` if all samples are in one class, which gives no
    /// information about their spread.
    pub interval: Option<(Elo, Elo)>,
}

impl Estimate {
    /// Half the interval's width, the figure after `+/-`; `None` if the interval is not finite.
    #[must_use]
    pub fn error(&self) -> Option<f64> {
        let (low, high) = self.interval?;
        Some((high.finite()? - low.finite()?) / 2.0)
    }
}

impl fmt::Display for Estimate {
    /// Formats `+12.3 [+1.0, +23.6]`; an infinite end is `inf` or `-inf`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = |elo: Elo| elo.finite().map_or_else(|| elo.to_string(), |value| signed(value, 1));
        match self.interval {
            Some((low, high)) => write!(f, "{} [{}, {}]", end(self.value), end(low), end(high)),
            None => f.write_str(&end(self.value)),
        }
    }
}

/// Mean and spread of a sample's score per game, the score of a sample lying in `0.0..=1.0`.
#[derive(Clone, Copy, Debug)]
struct ScoreSpread {
    /// Number of independent samples with the same evidence as the counts.
    samples: f64,
    games_per_sample: f64,
    score: f64,
    /// `score - 1/2`, summed as such: by subtraction, a lead of one pair in 1e18 would be lost.
    lead: f64,
    /// Variance of one sample, not of the mean; 0 only if all are in one class.
    variance: f64,
    skewness: f64,
    excess_kurtosis: f64,
}

impl ScoreSpread {
    fn new<C: Counts>(counts: &C) -> Option<Self> {
        let score = counts.score()?;
        let weights = || (0..C::SCORES.len()).map(|class| (counts.count(class) as f64, C::SCORES[class] - score));
        let samples: f64 = weights().map(|(count, _)| count).sum();
        let lead = (0..C::SCORES.len()).map(|class| counts.count(class) as f64 * (C::SCORES[class] - 0.5)).sum::<f64>();
        let moment = |power: i32| weights().map(|(count, offset)| count * offset.powi(power)).sum::<f64>() / samples;
        let one_class = weights().filter(|(count, _)| *count > 0.0).count() == 1;
        let variance = if one_class { 0.0 } else { moment(2) };
        Some(Self {
            samples: samples / counts.design_effect(),
            games_per_sample: f64::from(C::GAMES_PER_SAMPLE),
            score,
            lead: lead / samples,
            variance,
            skewness: moment(3) / variance.powf(1.5),
            excess_kurtosis: moment(4) / (variance * variance) - 3.0,
        })
    }

    /// Standard deviation of the mean score.
    fn deviation(&self) -> f64 {
        (self.variance / self.samples).sqrt()
    }
}

/// Logistic Elo: the mean score through -400 log10(1/s - 1).
///
/// The ends of the score's interval are mapped likewise, so the interval is wider on the far side.
/// `None` without samples.
#[must_use]
pub fn logistic<C: Counts>(counts: &C) -> Option<Estimate> {
    let spread = ScoreSpread::new(counts)?;
    let interval = (spread.variance > 0.0).then(|| {
        let reach = Z_95 * spread.deviation();
        (Elo::of_score(spread.score - reach), Elo::of_score(spread.score + reach))
    });
    Some(Estimate { value: Elo::of_score(spread.score), interval })
}

/// Normalized Elo: (s - 1/2)/(standard deviation of a game) * 800/ln 10.
///
/// The error is by the delta method, which accounts for the estimated deviation. It is not less
/// than without an effect: where nearly all pairs are won, the method's variance falls to zero,
/// which no counts justify. `None` if it is 0/0: no samples, or only level ones.
#[must_use]
pub fn normalized<C: Counts>(counts: &C) -> Option<Estimate> {
    let spread = ScoreSpread::new(counts)?;
    let scale = 800.0 / LN_10;
    let value = Elo::of(spread.lead / (spread.games_per_sample * spread.variance).sqrt() * scale)?;
    let interval = value.finite().and_then(|nelo| {
        let t = spread.lead / spread.variance.sqrt();
        let factor = 1.0 - t * spread.skewness + t * t / 4.0 * (spread.excess_kurtosis + 2.0);
        let error = Z_95 / (spread.samples * spread.games_per_sample).sqrt() * scale * factor.max(1.0).sqrt();
        Some((Elo::of(nelo - error)?, Elo::of(nelo + error)?))
    });
    Some(Estimate { value, interval })
}

/// Stopping condition of a run that stops as soon as its 95 % interval is this narrow, `half_width`
/// in logistic Elo either way.
///
/// Unlike a stop at a verdict, a stop by width alone hardly biases the plain interval, because the
/// width hardly depends on who is ahead: Y. S. Chow and H. Robbins, "On the asymptotic theory of
/// fixed-width sequential confidence intervals for the mean", Ann. Math. Stat. 36 (1965). The 1/n
/// added to the variance here is theirs and guards against stops after a few equal results; it
/// costs 1 to 2 % more pairs at +-5 Elo. A side that wins everything never reaches the width,
/// because its Elo has no upper end.
#[must_use]
pub fn is_within<C: Counts>(counts: &C, half_width: f64) -> bool {
    ScoreSpread::new(counts).is_some_and(|spread| {
        let reach = Z_95 * ((spread.variance + 1.0 / spread.samples) / spread.samples).sqrt();
        let ends = (Elo::of_score(spread.score - reach).finite(), Elo::of_score(spread.score + reach).finite());
        matches!(ends, (Some(low), Some(high)) if high - low <= 2.0 * half_width)
    })
}

/// Likelihood of superiority: the probability, `0.0..=1.0`, that the tested engine is the stronger
/// one.
///
/// `None` without samples and if all were level. It is [`normal_superiority`], bounded by the
/// evidence of wins alone. Suppose that all `d` samples that were not level were won. From a
/// uniform prior on the share of wins, `1 - 2^-(d+1)` is then the probability that the share is
/// above one half (Laplace). So one won game is worth 75 % and not 100 %. From 20 decisive samples
/// on the bound is less than a millionth below certainty.
#[must_use]
pub fn superiority<C: Counts>(counts: &C) -> Option<f64> {
    let doubt = doubt(counts);
    Some(normal_superiority(counts)?.clamp(doubt, 1.0 - doubt))
}

/// Probability above 0 that the weaker engine is ahead, by the same rule as [`superiority`].
pub(super) fn doubt<C: Counts>(counts: &C) -> f64 {
    let decisive: f64 =
        (0..C::SCORES.len()).filter(|class| C::SCORES[*class] != 0.5).map(|class| counts.count(class) as f64).sum();
    // Repeated openings are no further evidence.
    (-decisive / counts.design_effect() - 1.0).exp2()
}

/// Likelihood of superiority by the normal tail alone, Phi((s-1/2)/sqrt(v/n)), as other runners
/// print it; it is 1 after one won game.
///
/// `None` without samples and if all were level.
#[must_use]
pub fn normal_superiority<C: Counts>(counts: &C) -> Option<f64> {
    let spread = ScoreSpread::new(counts)?;
    if spread.variance > 0.0 {
        Some(Normal::standard().cdf(spread.lead / spread.deviation()))
    } else if spread.lead == 0.0 {
        None
    } else {
        Some(f64::from(u8::from(spread.lead > 0.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Pentanomial, Trinomial};
    use super::*;
    use proptest::prelude::*;

    fn check(estimate: Option<Estimate>, value: f64, error: f64) {
        let estimate = estimate.expect("defined");
        let (found, spread) = (estimate.value.finite().expect("finite"), estimate.error().expect("finite"));
        assert!((found - value).abs() < 0.006, "{found}, not {value}");
        assert!((spread - error).abs() < 0.006, "+/- {spread}, not {error}");
    }

    #[test]
    fn numbers_read_well() {
        let cases = [(0.0, "0.0"), (-0.01, "0.0"), (0.04, "0.0"), (1.25, "+1.2"), (-3.0, "-3.0")];
        for (value, expected) in cases {
            assert_eq!(signed(value, 1), expected);
        }
        let unbounded = Estimate { value: Elo::Finite(12.34), interval: Some((Elo::MinusInfinity, Elo::Finite(20.0))) };
        assert_eq!(unbounded.to_string(), "+12.3 [-inf, +20.0]");
    }

    #[test]
    fn published_values() {
        // fastchess, app/tests/elo_test.cpp, classes LL, LD, DD+WL, WD, WW.
        check(logistic(&Pentanomial([34, 54, 63, 64, 75])), 55.58, 27.65);
        check(logistic(&Pentanomial([332, 433, 498, 333, 334])), -8.64, 10.33);
        // A run of 43,360 pairs, Elo and nElo as the leading runner printed them.
        check(logistic(&Pentanomial([379, 10170, 21828, 10640, 343])), 1.59, 1.21);
        check(normalized(&Pentanomial([379, 10170, 21828, 10640, 343])), 3.05, 2.31);
    }

    #[test]
    fn the_normalized_error_never_vanishes() {
        // A third of all pairs won 2-0 and the rest by half a point: the delta method's variance is
        // zero.
        for counts in [[0, 0, 0, 20, 10], [0, 0, 0, 7, 4], [0, 0, 0, 2_000, 1_000]] {
            let pairs: u64 = counts.iter().sum();
            let error = normalized(&Pentanomial(counts)).and_then(|estimate| estimate.error()).expect("finite");
            let least = Z_95 / (2.0 * pairs as f64).sqrt() * 800.0 / LN_10;
            assert!((error - least).abs() < 1e-9, "{counts:?}: {error}, not {least}");
        }
    }

    #[test]
    fn the_normalized_error_knows_the_results() {
        let one_sided = Pentanomial([2, 10, 40, 120, 90]);
        let estimate = normalized(&one_sided).expect("defined");
        assert!((estimate.value.finite().expect("finite") - 318.0).abs() < 0.5);
        // By bootstrap 54.3; the formula that ignores the results says 29.7.
        assert!((estimate.error().expect("finite") - 53.8).abs() < 0.05);
    }

    #[test]
    fn what_is_not_defined_says_so() {
        let none = Pentanomial::default();
        assert_eq!((logistic(&none), normalized(&none), superiority(&none)), (None, None, None));

        let level = Pentanomial([0, 0, 500, 0, 0]);
        assert_eq!(logistic(&level), Some(Estimate { value: Elo::Finite(0.0), interval: None }));
        assert_eq!((normalized(&level), superiority(&level)), (None, None));

        let won = Trinomial { wins: 100, draws: 0, losses: 0 };
        let infinite = Some(Estimate { value: Elo::PlusInfinity, interval: None });
        assert_eq!((logistic(&won), normalized(&won), superiority(&won)), (infinite, infinite, Some(1.0)));
        let lost = Some(Estimate { value: Elo::MinusInfinity, interval: None });
        assert_eq!(logistic(&won.reversed()), lost);
        assert!(superiority(&won.reversed()).is_some_and(|los| los < 1e-9));

        // 30 WW and one WD: the score's interval passes 1, so Elo has no upper end.
        let nearly = logistic(&Pentanomial([0, 0, 0, 1, 30])).expect("defined");
        let (low, high) = nearly.interval.expect("two classes");
        assert!((nearly.value.finite().expect("finite") - 835.96).abs() < 0.006);
        assert!(low.finite().expect("finite") < 835.0);
        assert_eq!((high, nearly.error()), (Elo::PlusInfinity, None));
    }

    #[test]
    fn few_results_are_not_certain() {
        let games = |wins, draws, losses| superiority(&Trinomial { wins, draws, losses }).expect("defined");
        let pairs = |counts| superiority(&Pentanomial(counts)).expect("defined");
        let table = [
            (games(1, 0, 0), 0.75),
            (games(0, 0, 1), 0.25),
            (games(2, 1, 0), 0.875),
            (games(3, 0, 0), 0.9375),
            (pairs([0, 0, 0, 0, 1]), 0.75),
            (pairs([0, 0, 0, 5, 0]), 1.0 - 1.0 / 64.0),
            (pairs([0, 1, 0, 0, 0]), 0.25),
            // From here on the normal tail is the smaller one.
            (games(2, 1, 1), Normal::standard().cdf(0.125 / (0.171_875_f64 / 4.0).sqrt())),
            (pairs([379, 10170, 21828, 10640, 343]), 0.995_139),
        ];
        for (found, expected) in table {
            assert!((found - expected).abs() < 1e-6, "{found}, not {expected}");
        }
    }

    #[test]
    fn an_even_score_is_zero_without_a_sign() {
        let even = logistic(&Pentanomial([1, 1, 1, 1, 1])).expect("defined");
        assert!(matches!(even.value, Elo::Finite(value) if value == 0.0 && value.is_sign_positive()));
        let table = [(0.0, "0.00"), (-0.001, "0.00"), (-0.005_1, "-0.01"), (12.345_6, "12.35")];
        for (value, text) in table {
            assert_eq!(Elo::Finite(value).to_string(), text);
        }
        assert_eq!(
            format!("{:.1} {:>6} {}", Elo::Finite(-0.04), Elo::PlusInfinity, Elo::MinusInfinity),
            "0.0    inf -inf"
        );
    }

    fn sound(estimate: Option<Estimate>) {
        let Some(estimate) = estimate else { return };
        let ends = estimate.interval.map_or(vec![], |(low, high)| vec![low, estimate.value, high]);
        assert!(ends.is_sorted(), "{ends:?}");
        for elo in ends.into_iter().chain([estimate.value]) {
            assert!(elo.finite().is_none_or(|value| value.is_finite() && !(value == 0.0 && value.is_sign_negative())));
        }
    }

    proptest! {
        #[test]
        fn no_counts_give_nan(counts in prop::array::uniform5(prop_oneof![Just(0), 0u64..4, 0u64..1_000_000, any::<u64>()])) {
            let pairs = Pentanomial(counts);
            let games = Trinomial { wins: counts[0], draws: counts[1], losses: counts[2] };
            for estimate in [logistic(&pairs), normalized(&pairs), logistic(&games), normalized(&games)] {
                sound(estimate);
            }
            for los in [superiority(&pairs), superiority(&games)].into_iter().flatten() {
                prop_assert!((0.0..=1.0).contains(&los));
            }
            if let (Some(los), Some(other)) = (superiority(&pairs), superiority(&pairs.reversed())) {
                prop_assert!((los + other - 1.0).abs() < 1e-6);
            }
        }
    }
}
