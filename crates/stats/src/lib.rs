//! Statistics of chess engine tests: numbers in, numbers out, about the strength of engines.
//!
//! Two engines play game pairs, each pair from one opening with colours reversed. Results are
//! counted by pairs ([`Pentanomial`]), because the two games of a pair are not independent. A
//! sequential test says if the new version is stronger:
//!
//! ```
//! use quintain_stats::sprt::{Bounds, Model, Sprt, Verdict};
//! use quintain_stats::{Pentanomial, elo, unbiased};
//!
//! // Pairs by points of the new version: 0, 1/2, 1, 3/2, 2.
//! let pairs = Pentanomial([80, 400, 880, 520, 120]);
//!
//! let test = Sprt::new(Bounds { elo0: 0.0, elo1: 5.0 }, Model::Normalized, 0.05, 0.05)?;
//! assert_eq!(test.verdict(&pairs), Verdict::AcceptH1);
//!
//! // Logistic Elo with its 95 % interval, and the estimate that is valid after the stop.
//! let estimate = elo::logistic(&pairs).expect("there are pairs");
//! assert_eq!(estimate.to_string(), "+17.4 [+10.4, +24.4]");
//! let after = unbiased::after(&test, &pairs).expect("the test is over");
//! assert!(after.elo.value < estimate.value);
//! # Ok::<(), quintain_stats::sprt::SprtError>(())
//! ```
//!
//! Many players are rated together, each on the scale of a player whose rating is given:
//!
//! ```
//! use quintain_stats::Pentanomial;
//! use quintain_stats::rating::{Anchor, EncounterCounts, rate};
//!
//! // Player 0 against player 1, and 1 against 2, by pairs from the first player's view.
//! let met = |a, b, counts| {
//!     let pairs = Pentanomial(counts);
//!     EncounterCounts { pairs, ..EncounterCounts::new(a, b) }
//! };
//! let encounters = [met(0, 1, [10, 40, 90, 45, 15]), met(1, 2, [5, 30, 80, 60, 25])];
//! let ratings = rate(3, &encounters, &[Anchor { player: 1, elo: 3000.0, error95: 0.0 }])?;
//! assert!(ratings.players[0].elo > 3000.0 && ratings.players[2].elo < 3000.0);
//! # Ok::<(), quintain_stats::rating::RatingError>(())
//! ```
//!
//! # Conventions
//!
//! - Elo differences are logistic unless a name says `normalized` or `nelo`. They are positive if
//!   the first (new, tested) engine is stronger.
//! - Shares and probabilities are in `0.0..=1.0`, scores are points per game, LLRs are in nats.
//! - Intervals are two-sided and of 95 %.
//! - No input gives `NaN` or a panic: an undefined figure is `None`, and an infinite one is marked
//!   as such. The exception is [`dense`], in which an index beyond a matrix panics as in a slice.
//! - Nothing does I/O. Random numbers come from seeds and are the same on every machine.
//!
//! # Modules by question
//!
//! | question | modules | method |
//! | --- | --- | --- |
//! | Is the new version stronger? | [`sprt`], [`sequence`] | GSPRT; intervals at any time |
//! | By how much? | [`elo`], [`unbiased`], [`clusters`] | median-unbiased after a stop |
//! | May a run stop? | [`stopping`] | intervals that are narrow enough (Chow and Robbins 1965) |
//! | What will a test cost? | [`simulate`], [`sample_size`] | Brownian motion; normal law |
//! | How strong are many players? | [`rating`] | maximum likelihood, clusters of pairs |
//! | Which version gained? | [`progress`], [`bisect`] | Holm; a posterior over commits |
//! | Which candidate is best? | [`race`] | e-processes, alpha shared by the candidates |
//! | Where did the points come from? | [`explain`] | cluster variances over pairs, Holm |
//! | Which book decides tests soonest? | [`sensor`] | variance of games less that of pairs |
//! | Which program is faster? | [`speed`], [`signed_rank`] | signed ranks of paired logarithms |
//! | How does a search scale? | [`scaling`] | ratio of sums over positions, censored quartiles |
//! | Who solves more? | [`proportion`], [`mcnemar`], [`fisher`] | Wilson; McNemar; Fisher |
//!
//! The others are tools: [`estimates`] (the figures of a match as one struct), [`student`],
//! [`dense`] and [`random`]. To read the code, begin with the counts below, then `likelihood`,
//! [`sprt`], `exit` and [`simulate`].

#![deny(missing_docs)]

pub mod bisect;
pub mod clusters;
pub mod dense;
pub mod elo;
pub mod estimates;
mod exit;
pub mod explain;
pub mod fisher;
mod likelihood;
pub mod mcnemar;
pub mod progress;
pub mod proportion;
pub mod race;
pub mod random;
pub mod rating;
pub mod sample_size;
pub mod scaling;
pub mod sensor;
pub mod sequence;
pub mod signed_rank;
pub mod simulate;
pub mod speed;
pub mod sprt;
pub mod stopping;
pub mod student;
pub mod unbiased;

pub use quintain_record::{Color, Outcome, PairScore};

/// Returns the median, of an even number of values the mean of the two in the middle; `None` if
/// there are no values.
#[must_use]
pub fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let upper = *values.get(values.len() / 2)?;
    let lower = values[(values.len() - 1) / 2];
    Some(lower + (upper - lower) / 2.0)
}

/// Counts of independent samples by score class, lowest class first: the one interface that the
/// algorithms need.
///
/// A sample is a game ([`Trinomial`]) or a game pair ([`Pentanomial`]). The two games of a pair
/// share an opening and are not independent; pairs are.
pub trait Counts {
    /// Mean score per game of each class, rising from 0 to 1.
    const SCORES: &'static [f64];
    /// Games in a sample: 1 or 2.
    const GAMES_PER_SAMPLE: u32;

    /// Samples in class `class` of [`Self::SCORES`]; 0 beyond the last.
    fn count(&self, class: usize) -> u64;

    /// All samples.
    fn samples(&self) -> u64 {
        (0..Self::SCORES.len()).fold(0u64, |sum, class| sum.saturating_add(self.count(class)))
    }

    /// Ratio of the variance of the mean score to that of as many independent samples
    /// ([`clusters`]), at least 1.
    fn design_effect(&self) -> f64 {
        1.0
    }

    /// Number of independent samples with the same evidence.
    fn effective_samples(&self) -> f64 {
        self.samples() as f64 / self.design_effect()
    }

    /// Mean score per game in `0.0..=1.0`; `None` without samples.
    fn score(&self) -> Option<f64> {
        // In floating point, so that no count can overflow the sum.
        let total: f64 = (0..Self::SCORES.len()).map(|class| self.count(class) as f64).sum();
        let points: f64 = Self::SCORES.iter().enumerate().map(|(class, score)| self.count(class) as f64 * score).sum();
        (total > 0.0).then(|| points / total)
    }
}

/// Counts of game pairs by the tested engine's points: `[LL, LD, DD+WL, WD, WW]`, that is 0, 1/2,
/// 1, 3/2 and 2 points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Pentanomial(pub [u64; 5]);

impl Pentanomial {
    /// Counts one finished pair. More than 2 half points a game do not exist and are taken as a
    /// win.
    pub fn record(&mut self, pair: PairScore) {
        let class = &mut self.0[usize::from(pair.first.min(2)) + usize::from(pair.second.min(2))];
        *class = class.saturating_add(1);
    }

    /// Pairs counted.
    #[must_use]
    pub fn pairs(&self) -> u64 {
        self.samples()
    }

    /// Games in the pairs counted.
    #[must_use]
    pub fn games(&self) -> u64 {
        self.samples().saturating_mul(2)
    }

    /// The same pairs from the other engine's view.
    #[must_use]
    pub fn reversed(&self) -> Self {
        let [ll, ld, even, wd, ww] = self.0;
        Self([ww, wd, even, ld, ll])
    }

    /// Share of pairs that ended level (DD or WL), `0.0..=1.0`; `None` without pairs.
    #[must_use]
    pub fn draw_ratio(&self) -> Option<f64> {
        share(self.0[2], self.samples())
    }

    /// Pairs won over pairs lost, (WD+WW)/(LL+LD); `None` if none was lost.
    #[must_use]
    pub fn pairs_ratio(&self) -> Option<f64> {
        let [ll, ld, _, wd, ww] = self.0.map(|count| count as f64);
        (ll + ld > 0.0).then(|| (wd + ww) / (ll + ld))
    }
}

impl std::ops::AddAssign for Pentanomial {
    /// Adds pairs; a class keeps within `u64`.
    fn add_assign(&mut self, other: Self) {
        self.0.iter_mut().zip(other.0).for_each(|(into, count)| *into = into.saturating_add(count));
    }
}

impl Counts for Pentanomial {
    const SCORES: &'static [f64] = &[0.0, 0.25, 0.5, 0.75, 1.0];
    const GAMES_PER_SAMPLE: u32 = 2;

    fn count(&self, class: usize) -> u64 {
        self.0.get(class).copied().unwrap_or(0)
    }
}

/// Counts of games from the tested engine's view, all taken as independent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Trinomial {
    /// Games won.
    pub wins: u64,
    /// Games drawn.
    pub draws: u64,
    /// Games lost.
    pub losses: u64,
}

impl std::ops::AddAssign for Trinomial {
    /// Adds games; a count keeps within `u64`.
    fn add_assign(&mut self, other: Self) {
        self.wins = self.wins.saturating_add(other.wins);
        self.draws = self.draws.saturating_add(other.draws);
        self.losses = self.losses.saturating_add(other.losses);
    }
}

impl Trinomial {
    /// Counts one game in which the tested engine made `half_points` (0, 1, 2; more is taken as a
    /// win).
    pub fn record(&mut self, half_points: u8) {
        let count = match half_points {
            0 => &mut self.losses,
            1 => &mut self.draws,
            _ => &mut self.wins,
        };
        *count = count.saturating_add(1);
    }

    /// Games counted.
    #[must_use]
    pub fn games(&self) -> u64 {
        self.samples()
    }

    /// Points, with a half for a draw.
    #[must_use]
    pub fn points(&self) -> f64 {
        self.wins as f64 + self.draws as f64 / 2.0
    }

    /// The same games from the other engine's view.
    #[must_use]
    pub fn reversed(&self) -> Self {
        Self { wins: self.losses, draws: self.draws, losses: self.wins }
    }

    /// Share of games drawn, `0.0..=1.0`; `None` without games.
    #[must_use]
    pub fn draw_ratio(&self) -> Option<f64> {
        share(self.draws, self.samples())
    }
}

impl Counts for Trinomial {
    const SCORES: &'static [f64] = &[0.0, 0.5, 1.0];
    const GAMES_PER_SAMPLE: u32 = 1;

    fn count(&self, class: usize) -> u64 {
        [self.losses, self.draws, self.wins].get(class).copied().unwrap_or(0)
    }
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_two_is_their_mean() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![7.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median(Vec::new()), None);
    }

    #[test]
    fn every_pair_result_has_its_class() {
        // (half points with White, with Black) -> class
        let table = [(0, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 2), (2, 0, 2), (0, 2, 2), (2, 1, 3), (1, 2, 3), (2, 2, 4)];
        for (first, second, class) in table {
            let mut counts = Pentanomial::default();
            counts.record(PairScore { first, second });
            let mut expected = [0; 5];
            expected[class] = 1;
            assert_eq!(counts.0, expected, "{first} {second}");
            assert_eq!(counts.score(), Some(f64::from(first + second) / 4.0));
        }
    }

    #[test]
    fn scores_and_ratios() {
        let none = Pentanomial::default();
        assert_eq!((none.score(), none.draw_ratio(), none.pairs_ratio()), (None, None, None));
        let counts = Pentanomial([1, 2, 3, 4, 0]);
        assert_eq!((counts.pairs(), counts.games()), (10, 20));
        assert_eq!(counts.score(), Some(0.5));
        assert_eq!(counts.draw_ratio(), Some(0.3));
        assert_eq!(counts.pairs_ratio(), Some(4.0 / 3.0));
        assert_eq!(Pentanomial([0, 0, 3, 4, 0]).pairs_ratio(), None);
        assert_eq!(counts.reversed().0, [0, 4, 3, 2, 1]);

        let games = Trinomial { wins: 3, draws: 1, losses: 0 };
        assert_eq!((games.games(), games.score(), games.draw_ratio()), (4, Some(0.875), Some(0.25)));
        assert_eq!(games.points(), 3.5);
        assert_eq!(games.reversed().score(), Some(0.125));
    }

    #[test]
    fn the_largest_counts_do_not_overflow() {
        let mut counts = Pentanomial([u64::MAX; 5]);
        assert_eq!(counts.score(), Some(0.5));
        assert_eq!(counts.games(), u64::MAX);
        counts += counts;
        counts.record(PairScore { first: 1, second: 1 });
        assert_eq!(counts, Pentanomial([u64::MAX; 5]));

        let mut games = Trinomial { wins: u64::MAX, draws: u64::MAX, losses: u64::MAX };
        let before = games;
        games += games;
        (0..=2).for_each(|half_points| games.record(half_points));
        assert_eq!(games, before);
    }
}
