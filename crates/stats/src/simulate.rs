//! The cost of a test before it is started.
//!
//! Its probability of passing and its number of pairs, for an engine of an assumed strength.
//!
//! [`forecast`] takes the log-likelihood ratio for a Brownian motion, with Siegmund's correction
//! for steps over a bound (`exit`), and is immediate. [`play`] draws pair results and runs the test
//! itself, exact ratio and all, which shows the error of the formula. Sources: A. Wald, "Sequential
//! Analysis" (1947); D. Siegmund, "Sequential Analysis" (1985), ch. 3, for the motion between two
//! bounds.

use super::exit::BoundedMotion;
use super::likelihood::{ObservedShares, ZERO_COUNT};
use super::random::SplitMix64;
use super::sprt::{Bounds, Model, Sprt, Verdict};
use super::{Counts, Pentanomial};

/// The tilt that makes nearly every pair a win; no assumed strength needs a larger one.
const STEEPEST: f64 = 200.0;

/// Number of pairs that stands for shares in the closed form, large enough that rounding to whole
/// pairs does not matter.
const PAIRS: f64 = 1e15;

/// Shares of the pair results `[LL, LD, DD+WL, WD, WW]` from the tested engine's view, each
/// positive, 1 in all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Law([f64; 5]);

impl Law {
    /// Shares of engines of similar strength from balanced, varied openings at fast time controls.
    pub const TYPICAL: Self = Self([0.005, 0.235, 0.52, 0.235, 0.005]);

    /// The shares in counts that were played; a class that never occurred counts as a thousandth.
    /// `None` without pairs.
    #[must_use]
    pub fn of_counts(counts: &Pentanomial) -> Option<Self> {
        let counts = counts.0.map(|count| if count == 0 { ZERO_COUNT } else { count as f64 });
        let total: f64 = counts.iter().sum();
        (total > 1.0).then(|| Self(counts.map(|count| count / total)))
    }

    /// Two independent games with this share of draws and this score; `None` if no games have both.
    #[must_use]
    pub fn independent(draws: f64, score: f64) -> Option<Self> {
        let (win, loss) = (score - draws / 2.0, 1.0 - score - draws / 2.0);
        let sound = draws > 0.0 && win > 0.0 && loss > 0.0;
        sound.then_some(Self([
            loss * loss,
            2.0 * loss * draws,
            draws * draws + 2.0 * win * loss,
            2.0 * win * draws,
            win * win,
        ]))
    }

    /// Shares of the pairs that make 0, 1/2, 1, 3/2 and 2 points.
    #[must_use]
    pub const fn shares(&self) -> &[f64; 5] {
        &self.0
    }

    /// Share of pairs that are not of the commonest class.
    fn telling(&self) -> f64 {
        let commonest = (0..self.0.len()).max_by(|a, b| self.0[*a].total_cmp(&self.0[*b]));
        // Summed and not subtracted from 1, so that a small share keeps its digits.
        (0..self.0.len()).filter(|class| Some(*class) != commonest).map(|class| self.0[class]).sum()
    }

    /// Mean score per game.
    #[must_use]
    pub fn score(&self) -> f64 {
        self.0.iter().zip(Pentanomial::SCORES).map(|(share, score)| share * score).sum()
    }

    /// Variance of the score of one pair, per game.
    #[must_use]
    pub fn variance(&self) -> f64 {
        let (score, square) = (self.score(), |value: f64| value * value);
        self.0.iter().zip(Pentanomial::SCORES).map(|(share, at)| share * square(at - score)).sum()
    }

    /// Elo in the unit of `model`; BayesElo is not defined for pairs and is taken as logistic.
    #[must_use]
    pub fn elo(&self, model: Model) -> f64 {
        let score = self.score();
        match model {
            Model::Normalized => (score - 0.5) / (2.0 * self.variance()).sqrt() * 800.0 / std::f64::consts::LN_10,
            Model::Logistic | Model::Bayesian => 400.0 * (score / (1.0 - score)).log10(),
        }
    }

    /// Returns these shares, tilted by a factor exponential in the score so that the Elo is `elo`,
    /// or tilted to the limit if that Elo is out of reach.
    #[must_use]
    pub fn leaned(&self, elo: f64, model: Model) -> Self {
        let (mut low, mut high) = (-STEEPEST, STEEPEST);
        for _ in 0..100 {
            let middle = f64::midpoint(low, high);
            if self.tilted(middle).elo(model) < elo {
                low = middle;
            } else {
                high = middle;
            }
        }
        self.tilted(f64::midpoint(low, high))
    }

    /// Like [`leaned`](Self::leaned), but `None` if that Elo is out of reach.
    #[must_use]
    pub fn reaching(&self, elo: f64, model: Model) -> Option<Self> {
        let law = self.leaned(elo, model);
        (elo.is_finite() && (law.elo(model) - elo).abs() <= 1e-3).then_some(law)
    }

    fn tilted(&self, slope: f64) -> Self {
        let mut shares = [0.0; 5];
        for (class, share) in shares.iter_mut().enumerate() {
            // Shares stay positive; the least one after a tilt is far below one pair in any test.
            *share = (self.0[class] * (slope * (Pentanomial::SCORES[class] - 0.5)).exp()).max(1e-300);
        }
        let total: f64 = shares.iter().sum();
        Self(shares.map(|share| share / total))
    }

    /// Half points, 0 to 4, of a pair drawn from these shares.
    #[must_use]
    pub fn draw_half_points(&self, random: &mut SplitMix64) -> u8 {
        u8::try_from(self.class(random.unit())).unwrap_or(4)
    }

    /// Adds a pair drawn from these shares.
    pub(super) fn draw(&self, counts: &mut Pentanomial, random: &mut SplitMix64) {
        counts.0[self.class(random.unit())] += 1;
    }

    /// One test, to its verdict or until the pairs run out. The change of the ratio by a pair is
    /// bounded by the steps of the classes, which change with the observed shares. Let the nearer
    /// bound be `n` of the largest steps away. No look is taken within the next `n / 2` pairs, and
    /// while the sample grows by at most a quarter, because none can bring a verdict.
    pub(super) fn play(
        &self,
        sprt: &Sprt,
        max_pairs: u64,
        step: u64,
        random: &mut SplitMix64,
    ) -> (Pentanomial, Verdict) {
        let step = step.max(1);
        let mut counts = Pentanomial::default();
        let mut pairs = 0;
        let mut safe = 0;
        loop {
            let wanted = (safe / step).max(1) * step;
            for _ in 0..wanted.min(max_pairs - pairs) {
                self.draw(&mut counts, random);
                pairs += 1;
            }
            let Some((llr, largest)) = sprt.llr_and_step(&counts) else { return (counts, Verdict::Continue) };
            let verdict = sprt.verdict_at(llr);
            if verdict != Verdict::Continue || pairs >= max_pairs {
                return (counts, verdict);
            }
            let near = (sprt.upper() - llr).min(llr - sprt.lower());
            safe = ((near / (2.0 * largest)) as u64).min(pairs / 4);
        }
    }

    /// The class of a uniformly random `u` in `0.0..1.0`.
    fn class(&self, u: f64) -> usize {
        let mut below = 0.0;
        self.0
            .iter()
            .position(|share| {
                below += share;
                u < below
            })
            .unwrap_or(self.0.len() - 1)
    }
}

/// Expected number of pairs unlike the commonest one above which the closed form holds. With fewer,
/// most looks use shares of results that hardly occurred, and the ratio is far from a Brownian
/// motion. By simulation the mean number of pairs is then up to a third too small. From this number
/// on it is right within 6 %.
const TELLING: f64 = 50.0;

/// Expected course of a test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Forecast {
    /// Probability, `0.0..=1.0`, that H1 is accepted.
    pub pass: f64,
    /// Probability that the pairs run out before a verdict; 0 without a limit.
    pub undecided: f64,
    /// Mean number of pairs.
    pub pairs: f64,
    /// Number of pairs within which half of such tests end.
    pub median: f64,
    /// Number of pairs within which 95 % of such tests end.
    pub pairs95: f64,
    /// True if the test sees enough pairs unlike the commonest one for the closed form to hold
    /// (`TELLING`). If false, only played tests ([`play`]) are reliable.
    pub is_sound: bool,
}

/// The closed form, for a test of at most `max_pairs`.
///
/// `None` if pairs of this law do not distinguish the hypotheses.
#[must_use]
pub fn forecast(sprt: &Sprt, law: &Law, max_pairs: Option<u64>) -> Option<Forecast> {
    let many = Pentanomial(law.0.map(|share| (share * PAIRS).round().max(1.0) as u64));
    let observed = ObservedShares::new(&many)?;
    let step = sprt.step::<Pentanomial>(&observed);
    let exit = BoundedMotion { drift: step.mean, variance: step.variance, below: -sprt.lower(), above: sprt.upper() }
        .stepped();
    let is_sound = |pairs: f64| pairs * law.telling() >= TELLING;
    let forecast = match max_pairs.map(|pairs| pairs as f64) {
        None => Forecast {
            is_sound: is_sound(exit.mean_time()),
            pass: exit.pass_probability(),
            undecided: 0.0,
            pairs: exit.mean_time(),
            median: exit.quantile(0.5),
            pairs95: exit.quantile(0.95),
        },
        Some(limit) => Forecast {
            is_sound: is_sound(exit.mean_time_within(limit)),
            pass: exit.above_by(limit),
            undecided: exit.open_at(limit),
            pairs: exit.mean_time_within(limit),
            median: exit.quantile(0.5).min(limit),
            pairs95: exit.quantile(0.95).min(limit),
        },
    };
    (forecast.pass.is_finite() && forecast.pairs.is_finite()).then_some(forecast)
}

/// Probability that all tests of a chain pass, and the mean number of pairs of each. A test is
/// played if all before it pass, and has no pairs otherwise.
#[must_use]
pub fn in_turn(forecasts: &[Forecast]) -> (f64, Vec<f64>) {
    let mut pass = 1.0;
    let mut pairs = Vec::with_capacity(forecasts.len());
    for forecast in forecasts {
        pairs.push(pass * forecast.pairs);
        pass *= forecast.pass;
    }
    (pass, pairs)
}

/// Mean number of pairs of a test between engines whose pairs have this shape, the tested one of
/// strength `elo` in the unit of the test's model.
///
/// `None` if such pairs do not distinguish the hypotheses.
#[must_use]
pub fn expected_pairs(sprt: &Sprt, shape: &Law, elo: f64) -> Option<f64> {
    forecast(sprt, &shape.leaned(elo, sprt.model()), None).map(|found| found.pairs)
}

/// The largest of a forecast's `cost` over 17 strengths from one hypothesis to the other, with
/// pairs of this shape.
///
/// It is that of an engine halfway between the hypotheses if the error rates are equal. A larger
/// alpha moves it towards H0, a larger beta towards H1. The Bayesian model moves it too, because
/// its unit is not that of the strength. `None` if pairs of no strength distinguish the hypotheses.
fn most(sprt: &Sprt, shape: &Law, cost: impl Fn(&Forecast) -> f64) -> Option<f64> {
    const STEPS: u32 = 16;
    let Bounds { elo0, elo1 } = sprt.bounds();
    let strengths = (0..=STEPS).map(|step| elo0 + (elo1 - elo0) * f64::from(step) / f64::from(STEPS));
    let costs = strengths.filter_map(|elo| forecast(sprt, &shape.leaned(elo, sprt.model()), None));
    costs.map(|found| cost(&found)).max_by(f64::total_cmp)
}

/// The largest of [`expected_pairs`] of typical pairs over strengths between the hypotheses.
#[must_use]
pub fn most_expected_pairs(sprt: &Sprt) -> Option<f64> {
    most(sprt, &Law::TYPICAL, |found| found.pairs)
}

/// The narrowest bounds from `sprt`'s `elo0` up, in tenths of an Elo, whose test ends within
/// `pairs` at any strength of the engine between the hypotheses, where tests take longest.
///
/// It does so in 95 % of cases, or on average if `on_average`. `None` if no bounds are wide enough.
#[must_use]
pub fn bounds_within(sprt: &Sprt, shape: &Law, pairs: f64, on_average: bool) -> Option<Bounds> {
    let Bounds { elo0, .. } = sprt.bounds();
    let test = |tenths: u32| {
        // Rounded, or 0.25 and 6.1 would be 6.35 and something.
        let elo1 = ((elo0 + f64::from(tenths) / 10.0) * 1e9).round() / 1e9;
        let bounds = Bounds { elo0, elo1 };
        Sprt::new(bounds, sprt.model(), sprt.alpha(), sprt.beta()).ok()
    };
    let fits = |tenths: u32| {
        let cost = |found: &Forecast| if on_average { found.pairs } else { found.pairs95 };
        test(tenths).and_then(|test| most(&test, shape, cost)).is_some_and(|most| most <= pairs)
    };
    let (mut low, mut high) = (0, 1);
    while !fits(high) {
        (low, high) = (high, high * 2);
        test(high)?;
    }
    while high - low > 1 {
        let middle = u32::midpoint(low, high);
        if fits(middle) { high = middle } else { low = middle }
    }
    test(high).map(|test| test.bounds())
}

/// Results of simulated tests.
#[derive(Clone, Debug, PartialEq)]
pub struct Simulation {
    /// Tests run.
    pub runs: u32,
    /// Tests that accepted H1.
    pub accepted_h1: u32,
    /// Tests without a verdict when the pairs ran out.
    pub undecided: u32,
    /// Number of pairs of each test, in rising order.
    pub pairs: Vec<u64>,
}

impl Simulation {
    /// Several simulations of one test, joined.
    #[must_use]
    pub fn joined(parts: &[Self]) -> Self {
        let mut all = Self { runs: 0, accepted_h1: 0, undecided: 0, pairs: Vec::new() };
        for part in parts {
            all.runs += part.runs;
            all.accepted_h1 += part.accepted_h1;
            all.undecided += part.undecided;
            all.pairs.extend(&part.pairs);
        }
        all.pairs.sort_unstable();
        all
    }

    /// Share of tests that accepted H1; `None` without tests.
    #[must_use]
    pub fn pass(&self) -> Option<f64> {
        (self.runs > 0).then(|| f64::from(self.accepted_h1) / f64::from(self.runs))
    }

    /// Mean number of pairs; `None` without tests.
    #[must_use]
    pub fn mean_pairs(&self) -> Option<f64> {
        (!self.pairs.is_empty())
            .then(|| self.pairs.iter().map(|pairs| *pairs as f64).sum::<f64>() / self.pairs.len() as f64)
    }

    /// Number of pairs within which the given share (`0.0..=1.0`) of the tests ended; `None`
    /// without tests.
    #[must_use]
    pub fn quantile(&self, share: f64) -> Option<u64> {
        let last = self.pairs.len().checked_sub(1)?;
        self.pairs.get((last as f64 * share.clamp(0.0, 1.0)).round() as usize).copied()
    }
}

/// Runs the test `runs` times on pairs drawn from `law`, looking at the exact ratio after each
/// `step` pairs (0 is taken as 1), at most `max_pairs` a test.
///
/// The same seed gives the same results.
#[must_use]
pub fn play(sprt: &Sprt, law: &Law, runs: u32, max_pairs: u64, step: u64, seed: u64) -> Simulation {
    let mut simulation = Simulation { runs, accepted_h1: 0, undecided: 0, pairs: Vec::new() };
    for run in 0..runs {
        // A stream of its own for each test, so that none depends on the length of another.
        let mut random = SplitMix64::new(SplitMix64::new(seed).next_u64() ^ SplitMix64::new(u64::from(run)).next_u64());
        let (counts, verdict) = law.play(sprt, max_pairs, step, &mut random);
        simulation.pairs.push(counts.pairs());
        match verdict {
            Verdict::AcceptH1 => simulation.accepted_h1 += 1,
            Verdict::AcceptH0 => {}
            Verdict::Continue => simulation.undecided += 1,
        }
    }
    simulation.pairs.sort_unstable();
    simulation
}

#[cfg(test)]
mod tests {
    use super::super::elo;
    use super::super::sprt::Bounds;
    use super::*;

    fn test(elo0: f64, elo1: f64, model: Model) -> Sprt {
        Sprt::new(Bounds { elo0, elo1 }, model, 0.05, 0.05).expect("a sound test")
    }

    #[test]
    fn laws_have_the_strength_asked_for() {
        let independent = Law::independent(0.4, 0.55).expect("sound");
        assert!((independent.score() - 0.55).abs() < 1e-12);
        assert!((independent.shares().iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert_eq!((Law::independent(0.4, 0.9), Law::independent(1.2, 0.5)), (None, None));
        for law in [Law::TYPICAL, independent] {
            for (elo, model) in [
                (0.0, Model::Normalized),
                (5.0, Model::Normalized),
                (-300.0, Model::Normalized),
                (37.5, Model::Logistic),
            ] {
                let leaned = law.leaned(elo, model);
                assert!((leaned.elo(model) - elo).abs() < 1e-9, "{leaned:?}");
                assert!((leaned.shares().iter().sum::<f64>() - 1.0).abs() < 1e-12);
            }
        }
        // The shares of counts have the Elo that the counts have.
        let counts = Pentanomial([379, 10170, 21828, 10640, 343]);
        let law = Law::of_counts(&counts).expect("pairs");
        let estimates = [(Model::Normalized, elo::normalized(&counts)), (Model::Logistic, elo::logistic(&counts))];
        for (model, estimate) in estimates {
            let value = estimate.and_then(|estimate| estimate.value.finite()).expect("finite");
            assert!((law.elo(model) - value).abs() < 1e-9);
        }
        assert_eq!(Law::of_counts(&Pentanomial::default()), None);
    }

    #[test]
    fn a_test_keeps_its_error_rates() {
        let sprt = test(0.0, 5.0, Model::Normalized);
        let at = |elo: f64| forecast(&sprt, &Law::TYPICAL.leaned(elo, Model::Normalized), None).expect("defined");
        assert!((at(0.0).pass - 0.05).abs() < 0.002, "{:?}", at(0.0));
        assert!((at(5.0).pass - 0.95).abs() < 0.002, "{:?}", at(5.0));
        assert!((at(2.5).pass - 0.5).abs() < 0.002, "{:?}", at(2.5));
        // Between the hypotheses it takes longest: (ln 19)^2 / variance, and the ratio's variance a
        // pair is, for small Elo, 2 (nelo1 - nelo0)^2 (ln 10 / 800)^2.
        let longest = 19f64.ln().powi(2) / (2.0 * (5.0 * std::f64::consts::LN_10 / 800.0).powi(2));
        assert!((at(2.5).pairs / longest - 1.0).abs() < 0.01, "{:?}, not {longest}", at(2.5));
        assert!(at(-20.0).pass < 1e-6 && at(30.0).pass > 1.0 - 1e-6);
        assert!(at(-20.0).pairs < at(0.0).pairs && at(0.0).pairs < at(2.5).pairs);
    }

    #[test]
    fn expected_pairs_are_most_between_the_hypotheses() {
        // Figures that the documentation gives for the default test: 12,900 pairs of equals, 21,000
        // at worst.
        let sprt = test(0.0, 5.0, Model::Normalized);
        let (equal, most) =
            (expected_pairs(&sprt, &Law::TYPICAL, 0.0).expect("defined"), most_expected_pairs(&sprt).expect("defined"));
        assert!((equal / 12_900.0 - 1.0).abs() < 0.02 && (most / 21_000.0 - 1.0).abs() < 0.02, "{equal}, {most}");
        for (model, elo1) in [(Model::Normalized, 5.0), (Model::Logistic, 3.0), (Model::Bayesian, 10.0)] {
            let sprt = test(0.0, elo1, model);
            let most = most_expected_pairs(&sprt).expect("defined");
            for elo in [-2.0 * elo1, 0.0, elo1, 3.0 * elo1] {
                assert!(expected_pairs(&sprt, &Law::TYPICAL, elo).expect("defined") <= most, "{model} at {elo}");
            }
        }
    }

    #[test]
    fn played_tests_agree_with_the_closed_form() {
        for (elo, model) in [(0.0, Model::Normalized), (40.0, Model::Normalized), (20.0, Model::Logistic)] {
            let sprt = test(0.0, 40.0, model);
            let law = Law::TYPICAL.leaned(elo, model);
            const RUNS: u32 = 200;
            let played = play(&sprt, &law, RUNS, 100_000, 1, 11);
            let formula = forecast(&sprt, &law, None).expect("defined");
            let (pass, pairs) = (played.pass().expect("runs"), played.mean_pairs().expect("runs"));
            let error = |variance: f64| 3.0 * (variance / f64::from(RUNS)).sqrt();
            let spread = played.pairs.iter().map(|run| (*run as f64 - pairs).powi(2)).sum::<f64>() / f64::from(RUNS);
            assert!(
                (pass - formula.pass).abs() < error(formula.pass * (1.0 - formula.pass)) + 0.01,
                "{elo} {model}: {pass} for {formula:?}"
            );
            assert!(
                (pairs - formula.pairs).abs() < error(spread) + 0.02 * formula.pairs,
                "{elo} {model}: {pairs} for {formula:?}"
            );
            assert_eq!(played.undecided, 0);
            assert!(played.pairs.is_sorted() && played.quantile(0.5) < played.quantile(0.95));
        }
    }

    #[test]
    fn the_closed_form_holds_for_every_shape_or_says_that_it_does_not() {
        const RUNS: u32 = 200;
        let mut unsound = 0;
        for (draws, elo1) in [(0.4, 60.0), (0.8, 60.0), (0.9, 40.0), (0.99, 60.0)] {
            let sprt = test(0.0, elo1, Model::Normalized);
            for elo in [0.0, elo1 / 2.0] {
                let law = Law::independent(draws, 0.5).expect("sound").leaned(elo, Model::Normalized);
                let formula = forecast(&sprt, &law, None).expect("defined");
                let played = play(&sprt, &law, RUNS, 100_000, 1, 3);
                let (pass, pairs) = (played.pass().expect("runs"), played.mean_pairs().expect("runs"));
                let spread = played.pairs.iter().map(|run| (*run as f64 - pairs).powi(2)).sum::<f64>();
                let error = 3.0 * spread.sqrt() / f64::from(RUNS);
                let is_near =
                    (pairs - formula.pairs).abs() < error + 0.06 * formula.pairs && (pass - formula.pass).abs() < 0.09;
                assert!(is_near || !formula.is_sound, "{draws} {elo1} {elo}: {pass}, {pairs} for {formula:?}");
                unsound += u32::from(!is_near);
                // A limit that cuts tests short leaves too few pairs; another changes nothing.
                for (limit, is_sound) in [(50, false), (1_000_000, formula.is_sound)] {
                    assert_eq!(forecast(&sprt, &law, Some(limit)).map(|short| short.is_sound), Some(is_sound));
                }
            }
        }
        assert!(unsound > 0, "every shape fits the closed form: nothing is tested");
        assert!(forecast(&test(0.0, 5.0, Model::Normalized), &Law::TYPICAL, None).is_some_and(|found| found.is_sound));
    }

    #[test]
    fn a_limit_cuts_tests_short() {
        let sprt = test(0.0, 40.0, Model::Normalized);
        let law = Law::TYPICAL.leaned(20.0, Model::Normalized);
        for limit in [100, 300, 1000] {
            const RUNS: u32 = 400;
            let formula = forecast(&sprt, &law, Some(limit)).expect("defined");
            let played = play(&sprt, &law, RUNS, limit, 1, 5);
            let close = |found: f64, share: f64| {
                (found - share).abs() < 3.0 * (share * (1.0 - share) / f64::from(RUNS)).sqrt() + 0.01
            };
            assert!(close(played.pass().expect("runs"), formula.pass), "{played:?} {formula:?}");
            assert!(close(f64::from(played.undecided) / f64::from(RUNS), formula.undecided), "{played:?} {formula:?}");
            let mean = played.mean_pairs().expect("runs");
            assert!((mean / formula.pairs - 1.0).abs() < 0.08, "{mean} {formula:?}");
        }
        let free = forecast(&sprt, &law, None).expect("defined");
        let wide = forecast(&sprt, &law, Some(1_000_000)).expect("defined");
        assert!((free.pass - wide.pass).abs() < 1e-9 && (free.pairs / wide.pairs - 1.0).abs() < 1e-4);
        assert!(free.median < free.pairs && free.pairs < free.pairs95);
    }

    #[test]
    fn skipped_looks_change_nothing() {
        for (elo0, elo1, strength, model) in [
            (0.0, 40.0, 30.0, Model::Normalized),
            (-20.0, 60.0, 10.0, Model::Logistic),
            (0.0, 300.0, 200.0, Model::Logistic),
        ] {
            let sprt = test(elo0, elo1, model);
            let law = Law::TYPICAL.leaned(strength, model);
            for seed in 0..10 {
                let quick = law.play(&sprt, 3000, 1, &mut SplitMix64::new(seed));
                let mut random = SplitMix64::new(seed);
                let mut counts = Pentanomial::default();
                let mut verdict = Verdict::Continue;
                while verdict == Verdict::Continue && counts.pairs() < 3000 {
                    law.draw(&mut counts, &mut random);
                    verdict = sprt.verdict(&counts);
                }
                assert_eq!(quick, (counts, verdict), "{elo0} {elo1} {strength} {model} {seed}");
            }
        }
    }

    #[test]
    fn bounds_for_a_budget_fit_it() {
        let sprt = test(0.0, 5.0, Model::Normalized);
        for (pairs, on_average) in [(20_000.0, false), (20_000.0, true), (500.0, false)] {
            let bounds = bounds_within(&sprt, &Law::TYPICAL, pairs, on_average).expect("wide enough");
            let cost = |elo1: f64| {
                let sprt = test(0.0, elo1, Model::Normalized);
                let found =
                    forecast(&sprt, &Law::TYPICAL.leaned(elo1 / 2.0, Model::Normalized), None).expect("defined");
                if on_average { found.pairs } else { found.pairs95 }
            };
            assert!(bounds.elo0 == 0.0 && cost(bounds.elo1) <= pairs && cost(bounds.elo1 - 0.1) > pairs, "{bounds}");
        }
        assert_eq!(bounds_within(&sprt, &Law::TYPICAL, 0.5, false), None);
        // What is printed is what is played.
        let odd = test(0.25, 5.0, Model::Normalized);
        let bounds = bounds_within(&odd, &Law::TYPICAL, 14_400.0, true).expect("wide enough");
        assert_eq!(format!("{:.2}", bounds.elo1).parse(), Ok(bounds.elo1), "{bounds}");
    }

    #[test]
    fn bounds_for_a_budget_fit_it_with_unequal_error_rates() {
        let bounds = Bounds { elo0: 0.0, elo1: 5.0 };
        let sprt = Sprt::new(bounds, Model::Normalized, 0.001, 0.4).expect("a sound test");
        for on_average in [false, true] {
            let found = bounds_within(&sprt, &Law::TYPICAL, 14_400.0, on_average).expect("wide enough");
            let sprt = Sprt::new(found, Model::Normalized, 0.001, 0.4).expect("a sound test");
            for step in 0..=40 {
                let elo = found.elo1 * (f64::from(step) / 20.0 - 0.5);
                let law = Law::TYPICAL.leaned(elo, Model::Normalized);
                let cost = forecast(&sprt, &law, None).expect("defined");
                let cost = if on_average { cost.pairs } else { cost.pairs95 };
                // The longest test lies between two of the strengths that are looked at.
                assert!(cost <= 14_400.0 * 1.01, "{found} at {elo}: {cost}");
            }
        }
    }

    #[test]
    fn the_seed_decides_and_limits_hold() {
        let sprt = test(0.0, 5.0, Model::Normalized);
        let run = |seed| play(&sprt, &Law::TYPICAL, 5, 100, 7, seed);
        assert_eq!(run(1), run(1));
        assert_eq!((run(1).undecided, run(1).quantile(1.0)), (5, Some(100)));
        let none = play(&sprt, &Law::TYPICAL, 0, 100, 1, 1);
        assert_eq!((none.pass(), none.mean_pairs(), none.quantile(0.5)), (None, None, None));
    }
}
