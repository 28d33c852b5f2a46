//! The sequential probability ratio test (SPRT) of `elo1` against `elo0`.
//!
//! The log-likelihood ratio is the exact one of the generalised SPRT (see `likelihood`), not the
//! normal approximation.

use super::Counts;
use super::exit::BoundedMotion;
use super::likelihood::{LogRatios, Moments, ObservedShares};
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

/// Normalized hypotheses beyond this many Elo are rejected: past 694 the distributions of that
/// t-value split into islands around single results, which no engine match needs.
const NORMALIZED_LIMIT: f64 = 600.0;
/// Logistic and BayesElo hypotheses beyond this many Elo (a score of 0.99999) are rejected.
const LOGISTIC_LIMIT: f64 = 2000.0;

/// Unit of the hypotheses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Model {
    /// Normalized Elo: the score's distance from one half in standard deviations of a game, times
    /// 800/ln 10.
    #[default]
    Normalized,
    /// Logistic Elo: the score is 1/(1+10^(-elo/400)).
    Logistic,
    /// BayesElo, with the draw rate estimated from the counts. Meant for [`super::Trinomial`]
    /// counts; for pairs, the middle class is taken as two draws.
    Bayesian,
}

impl Model {
    /// Every model.
    pub const ALL: [Self; 3] = [Self::Normalized, Self::Logistic, Self::Bayesian];

    /// The name used on the command line and in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Normalized => "normalized",
            Self::Logistic => "logistic",
            Self::Bayesian => "bayesian",
        }
    }

    /// Unit of its bounds.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Normalized => "nElo",
            Self::Logistic => "Elo",
            Self::Bayesian => "BayesElo",
        }
    }

    /// Units of one strength in tests of these models, such as `Elo or nElo`.
    #[must_use]
    pub fn units(models: impl Iterator<Item = Self>) -> String {
        let units: BTreeSet<&str> = models.map(Self::unit).collect();
        units.into_iter().collect::<Vec<_>>().join(" or ")
    }

    const fn limit(self) -> f64 {
        match self {
            Self::Normalized => NORMALIZED_LIMIT,
            Self::Logistic | Self::Bayesian => LOGISTIC_LIMIT,
        }
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Model {
    type Err = SprtError;

    fn from_str(text: &str) -> Result<Self, SprtError> {
        let found = Self::ALL.into_iter().find(|model| model.name() == text);
        found.ok_or_else(|| SprtError::Model(text.to_owned()))
    }
}

/// The two hypotheses, in Elo of the test's [`Model`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// H0: difference in Elo, from the tested engine's view, that it does not exceed.
    pub elo0: f64,
    /// H1: difference in Elo that it reaches at least.
    pub elo1: f64,
}

impl FromStr for Bounds {
    type Err = SprtError;

    /// Reads `elo0,elo1`. [`Sprt::new`] checks that `elo0` is the lower one.
    fn from_str(text: &str) -> Result<Self, SprtError> {
        let number = |part: &str| part.trim().parse::<f64>().ok().filter(|value| value.is_finite());
        text.split_once(',')
            .and_then(|(elo0, elo1)| Some(Self { elo0: number(elo0)?, elo1: number(elo1)? }))
            .ok_or_else(|| SprtError::BoundsText(text.to_owned()))
    }
}

impl fmt::Display for Bounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}, {}]", self.elo0 + 0.0, self.elo1 + 0.0)
    }
}

/// Reason that a test cannot be run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SprtError {
    /// Not a model's name.
    #[error("unknown model `{0}`: use normalized, logistic or bayesian")]
    Model(String),
    /// Not two numbers.
    #[error("`{0}` are not bounds: write elo0,elo1 as in 0,5")]
    BoundsText(String),
    /// Bounds in the wrong order, or equal.
    #[error("bounds {elo0},{elo1}: elo0 must be below elo1{}", swap_hint(*elo0, *elo1))]
    Order {
        /// As given.
        elo0: f64,
        /// As given.
        elo1: f64,
    },
    /// Bounds beyond the range that the model can distinguish, or NaN.
    #[error("bound {elo} is out of reach: {model} bounds lie within -{limit} and {limit} Elo")]
    OutOfReach {
        /// As given.
        elo: f64,
        /// The model asked for.
        model: Model,
        /// Its limit on either side.
        limit: f64,
    },
    /// An error rate outside its range.
    #[error("{name} is {value}: it must be more than 0 and less than 1, as in 0.05")]
    ErrorRate {
        /// `alpha` or `beta`.
        name: &'static str,
        /// As given.
        value: f64,
    },
    /// Error rates that would make the bounds cross.
    #[error("alpha {alpha} and beta {beta} add up to 1 or more: lower one of them")]
    ErrorRates {
        /// As given.
        alpha: f64,
        /// As given.
        beta: f64,
    },
}

fn swap_hint(elo0: f64, elo1: f64) -> String {
    if elo0 > elo1 { format!(", write {elo1},{elo0}") } else { String::new() }
}

/// Decision of the counts so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[must_use]
pub enum Verdict {
    /// The ratio fell to the lower bound: not better than `elo0`.
    AcceptH0,
    /// The ratio rose to the upper bound: at least `elo1`.
    AcceptH1,
    /// Between the bounds.
    Continue,
}

impl Verdict {
    /// Every verdict.
    pub const ALL: [Self; 3] = [Self::AcceptH0, Self::AcceptH1, Self::Continue];

    /// The name used in documents.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::AcceptH0 => "H0",
            Self::AcceptH1 => "H1",
            Self::Continue => "continue",
        }
    }
}

/// A test: hypotheses, model and error rates, checked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sprt {
    bounds: Bounds,
    model: Model,
    alpha: f64,
    beta: f64,
}

impl Sprt {
    /// A test of `bounds` in the unit of `model`, with `alpha` the rate of wrong acceptances of H1
    /// and `beta` that of H0.
    ///
    /// # Errors
    /// [`SprtError`] if the bounds are in the wrong order or out of reach, or if the rates are not
    /// positive with a sum below 1.
    pub fn new(bounds: Bounds, model: Model, alpha: f64, beta: f64) -> Result<Self, SprtError> {
        let limit = model.limit();
        for elo in [bounds.elo0, bounds.elo1] {
            // NaN is rejected as well: no range contains it.
            if !(-limit..=limit).contains(&elo) {
                return Err(SprtError::OutOfReach { elo, model, limit });
            }
        }
        if bounds.elo0 >= bounds.elo1 {
            return Err(SprtError::Order { elo0: bounds.elo0, elo1: bounds.elo1 });
        }
        for (name, value) in [("alpha", alpha), ("beta", beta)] {
            if !(value > 0.0 && value < 1.0) {
                return Err(SprtError::ErrorRate { name, value });
            }
        }
        if alpha + beta >= 1.0 {
            return Err(SprtError::ErrorRates { alpha, beta });
        }
        Ok(Self { bounds, model, alpha, beta })
    }

    /// The hypotheses.
    #[must_use]
    pub const fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// The unit of the hypotheses.
    #[must_use]
    pub const fn model(&self) -> Model {
        self.model
    }

    /// Probability of accepting H1 if H0 is true.
    #[must_use]
    pub const fn alpha(&self) -> f64 {
        self.alpha
    }

    /// Probability of accepting H0 if H1 is true.
    #[must_use]
    pub const fn beta(&self) -> f64 {
        self.beta
    }

    /// The ratio at or below which H0 is accepted: ln(beta/(1-alpha)), negative.
    #[must_use]
    pub fn lower(&self) -> f64 {
        (self.beta / (1.0 - self.alpha)).ln()
    }

    /// The ratio at or above which H1 is accepted: ln((1-beta)/alpha), positive.
    #[must_use]
    pub fn upper(&self) -> f64 {
        ((1.0 - self.beta) / self.alpha).ln()
    }

    /// The log-likelihood ratio (natural logarithm) of H1 to H0, by exact maximum likelihood. 0
    /// without samples; finite for all counts. A class that never occurred counts as a thousandth
    /// of a sample.
    #[must_use]
    pub fn llr<C: Counts>(&self, counts: &C) -> f64 {
        ObservedShares::new(counts).map_or(0.0, |observed| observed.total() * self.step::<C>(&observed).mean + 0.0)
    }

    /// The verdict of the counts.
    pub fn verdict<C: Counts>(&self, counts: &C) -> Verdict {
        self.verdict_at(self.llr(counts))
    }

    /// The verdict of a ratio.
    pub fn verdict_at(&self, llr: f64) -> Verdict {
        if llr >= self.upper() {
            Verdict::AcceptH1
        } else if llr <= self.lower() {
            Verdict::AcceptH0
        } else {
            Verdict::Continue
        }
    }

    /// Progress of a ratio: 1 at the upper bound, -1 at the lower one.
    #[must_use]
    pub fn fraction(&self, llr: f64) -> f64 {
        if llr >= 0.0 { llr / self.upper() } else { -(llr / self.lower()) }
    }

    /// Expected samples (pairs or games) before a verdict, if the results continue as before. It is
    /// the mean time to a bound of a Brownian motion with the ratio's drift and variance per
    /// sample. 0 after a verdict; `None` without samples.
    #[must_use]
    pub fn expected_remaining<C: Counts>(&self, counts: &C) -> Option<f64> {
        let observed = ObservedShares::new(counts)?;
        let step = self.step::<C>(&observed);
        let llr = observed.total() * step.mean;
        if self.verdict_at(llr) != Verdict::Continue {
            return Some(0.0);
        }
        let exit = BoundedMotion {
            drift: step.mean,
            variance: step.variance,
            below: llr - self.lower(),
            above: self.upper() - llr,
        };
        Some(exit.mean_time()).filter(|samples| samples.is_finite())
    }

    /// The ratio, and the largest change of it by one sample of any class; `None` without samples.
    pub(super) fn llr_and_step<C: Counts>(&self, counts: &C) -> Option<(f64, f64)> {
        let observed = ObservedShares::new(counts)?;
        let (low, high) = self.fits::<C>(&observed);
        Some((observed.total() * observed.ratio(&high, &low).mean + 0.0, high.farthest(&low)))
    }

    /// Mean and variance of one sample's contribution to the ratio.
    pub(super) fn step<C: Counts>(&self, observed: &ObservedShares) -> Moments {
        let (low, high) = self.fits::<C>(observed);
        observed.ratio(&high, &low)
    }

    /// The most likely distributions under H0 and H1.
    pub(super) fn fits<C: Counts>(&self, observed: &ObservedShares) -> (LogRatios, LogRatios) {
        let Bounds { elo0, elo1 } = self.bounds;
        match self.model {
            Model::Normalized => {
                let per_game = std::f64::consts::LN_10 / 800.0;
                let factor = per_game * f64::from(C::GAMES_PER_SAMPLE).sqrt();
                (observed.under_t_value(elo0 * factor), observed.under_t_value(elo1 * factor))
            }
            Model::Logistic => (observed.under_mean(expected_score(elo0)), observed.under_mean(expected_score(elo1))),
            Model::Bayesian => {
                let draw_elo = draw_elo(observed);
                let mean = |elo| observed.under_mean(bayes_score(elo, draw_elo));
                (mean(elo0), mean(elo1))
            }
        }
    }
}

/// Expected score at a logistic Elo difference.
pub(super) fn expected_score(elo: f64) -> f64 {
    1.0 / (1.0 + 10f64.powf(-elo / 400.0))
}

/// BayesElo's draw parameter at the observed shares of wins and losses.
fn draw_elo(observed: &ObservedShares) -> f64 {
    let (win, loss) = observed.odds_against();
    200.0 * (loss * win).log10()
}

/// Expected score at a BayesElo difference.
fn bayes_score(elo: f64, draw_elo: f64) -> f64 {
    let win = expected_score(elo - draw_elo);
    let loss = expected_score(-elo - draw_elo);
    win + (1.0 - win - loss) / 2.0
}

#[cfg(test)]
mod tests;
