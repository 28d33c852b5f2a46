//! Races of several takes against one base on the same openings: hopeless takes are dropped, and
//! the best one is found.
//!
//! # Method
//! Every claim is a bet (an e-process). The claim is "the mean of x is above m", with x within `m
//! +- reach`, and a gambler stakes a share of his fortune on each pair. As long as the claim is
//! false he is never expected to gain. So the probability that his fortune ever reaches `1/a` is at
//! most `a` (Ville's inequality), at any number of looks and for any stopping rule. The fortune
//! here is the mean of those of `STAKES` gamblers with fixed stakes, so it depends on the counts
//! alone and no stake must be guessed.
//!
//! Each take has three claims on its pair scores against the base: weaker than the base plus the
//! required gain, stronger than the base, and weaker than the base plus [`Settings::close`]. Each
//! ordered pair of takes has two claims on the difference of their scores of the same opening, in
//! which the opening's own luck cancels: the first is stronger, and the second is not stronger by
//! `close`. With `n` takes these are `n(2n+1)` claims. Each is accepted at the level
//! `alpha/(n(2n+1))`, so the probability that any statement of a whole race is false is at most
//! `alpha` (Bonferroni). Without `close` the claims about it are not made, and `n(n+1)` are left.
//! No bound is asymptotic.
//!
//! A take is dropped once it is shown to be weaker than the base plus the gain, or than any other
//! take. With `close`, a take not shown to be stronger than the base is also dropped once it is
//! shown to be weaker than the base plus `close` (or the gain, if that is more). A winner stronger
//! than the base can then be behind the dropped take by less than `close` only. The race is over if
//! no take is left, or if one is shown to be stronger than the base and no other one left can be
//! stronger than it by `close`. Without `close` it must be the only one left, and two equally good
//! takes play until their pairs run out.
//!
//! `close` is applied on the scale of scores, as the score difference of `close` Elo between two
//! players.
//!
//! # Assumptions
//! Pairs of a take are independent of each other and have the same distribution: each opening is
//! drawn at random from a population, and the engines play it as they would at any other time. Then
//! the mean of the next score (or difference), given all before it, is one number, and the claims
//! are about that number. Exchangeable pairs are not enough: if openings are repeated, or a small
//! book is used up, the past predicts the next score. So openings must not run out. Takes may
//! depend on each other in any way, because Bonferroni's bound needs no independence. A pair of one
//! take may depend on pairs of another take that were played before it.
//!
//! # Sources
//! J. Ville (1939); I. Waudby-Smith, A. Ramdas, "Estimating means of bounded random variables by
//! betting" (2024), section 4; E. Even-Dar, S. Mannor, Y. Mansour, "Action elimination and stopping
//! conditions for the multi-armed bandit problem" (2006), for successive elimination.

mod forecast;

use super::sprt::expected_score;
pub use forecast::{pairs_of_equals, pairs_to_drop};

/// Number of gamblers. Their stakes fall by the root of two from nine tenths of the largest loss
/// possible at once.
const STAKES: usize = 18;

/// The settings of a race.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// The probability that any statement is false, between 0 and 1.
    pub alpha: f64,
    /// Elo that a take must gain on the base; a take shown to gain less is dropped.
    pub gain: f64,
    /// Elo by which another take may be stronger than the winner; 0 if it must be the only one
    /// left.
    pub close: f64,
}

impl Settings {
    /// `close` as a difference of scores.
    fn close_score(&self) -> f64 {
        expected_score(self.close) - 0.5
    }

    /// Gain over the base in Elo below which a take can be dropped as close.
    fn enough(&self) -> f64 {
        self.gain.max(self.close)
    }

    /// Logarithm of the fortune at which a claim of a race of `takes` is accepted.
    fn bound(&self, takes: usize) -> f64 {
        let claims = if self.close > 0.0 { takes * (2 * takes + 1) } else { takes * (takes + 1) };
        (claims.max(1) as f64 / self.alpha).ln()
    }
}

/// Reason that a take was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Weaker than the base plus the required gain.
    Base,
    /// Weaker than the base plus [`Settings::close`].
    Close,
    /// Weaker than this take, counted from 0.
    Take(usize),
}

/// State of a take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Pairs by points against the base, those played after it was dropped too.
    pub pairs: super::Pentanomial,
    /// Reason that it was dropped, and the number of its pairs at that time.
    pub dropped: Option<(Reason, u64)>,
    /// True if it is shown to be stronger than the base.
    pub is_better: bool,
}

/// The fortunes of the gamblers who bet on one claim.
#[derive(Clone, Copy, Debug)]
struct Bet {
    /// Natural logarithms of the fortunes.
    fortunes: [f64; STAKES],
    /// Largest mean of the fortunes so far, as a logarithm.
    best: f64,
}

impl Bet {
    const NEW: Self = Self { fortunes: [0.0; STAKES], best: 0.0 };

    /// Records an outcome: `gain` within `-reach..=reach`, expected to be at most 0 if the claim is
    /// false.
    fn record(&mut self, gain: f64, reach: f64) {
        for (fortune, stake) in self.fortunes.iter_mut().zip(stakes(reach)) {
            *fortune += (stake * gain).ln_1p();
        }
        self.best = self.best.max(together(&self.fortunes));
    }
}

/// The stakes on outcomes within `-reach..=reach`.
fn stakes(reach: f64) -> [f64; STAKES] {
    let mut stake = 0.9 / reach;
    std::array::from_fn(|_| {
        let own = stake;
        stake *= std::f64::consts::FRAC_1_SQRT_2;
        own
    })
}

/// The mean of fortunes; all values are logarithms.
fn together(fortunes: &[f64; STAKES]) -> f64 {
    let most = fortunes.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    most + (fortunes.iter().map(|fortune| (fortune - most).exp()).sum::<f64>() / STAKES as f64).ln()
}

/// Evidence of pairs for two claims, that their mean is above one half and that it is below, each
/// as an e-value (natural logarithm): if a claim is false, the probability that its value ever
/// exceeds `ln(1/a)` is at most `a`.
#[must_use]
pub fn evidence(pairs: &super::Pentanomial) -> [f64; 2] {
    [1.0, -1.0].map(|sign| {
        let fortune = |stake: f64| {
            let of =
                |(class, count): (usize, &u64)| *count as f64 * (stake * sign * (class as f64 / 4.0 - 0.5)).ln_1p();
            pairs.0.iter().enumerate().map(of).sum()
        };
        together(&stakes(0.5).map(fortune))
    })
}

/// A race so far.
#[derive(Clone, Debug)]
pub struct Race {
    settings: Settings,
    takes: Vec<Standing>,
    /// Half points of each take's pairs, by opening; `None` for a pair that does not count.
    scores: Vec<Vec<Option<u8>>>,
    /// State of each take against the base.
    against_base: Vec<AgainstBase>,
    /// `between[a][b]`: the claims that take `a` is stronger than take `b`, and that `b` is not
    /// stronger than `a` by `close`.
    between: Vec<Vec<Between>>,
    winner: Option<usize>,
}

/// Claims on the scores of a take against the base.
#[derive(Clone, Copy, Debug)]
struct AgainstBase {
    gains_too_little: Bet,
    is_better: Bet,
    /// Gains less than [`Settings::enough`].
    is_close: Bet,
}

/// Claims on the difference of two takes' scores.
#[derive(Clone, Copy, Debug)]
struct Between {
    is_better: Bet,
    is_as_good: Bet,
}

impl Race {
    /// A race of this number of takes, at the start.
    #[must_use]
    pub fn new(takes: usize, settings: Settings) -> Self {
        let none = Standing { pairs: super::Pentanomial::default(), dropped: None, is_better: false };
        let bets = AgainstBase { gains_too_little: Bet::NEW, is_better: Bet::NEW, is_close: Bet::NEW };
        Self {
            settings,
            takes: vec![none; takes],
            scores: vec![Vec::new(); takes],
            against_base: vec![bets; takes],
            between: vec![vec![Between { is_better: Bet::NEW, is_as_good: Bet::NEW }; takes]; takes],
            winner: None,
        }
    }

    /// Records the next pair of a take: its half points, 0 to 4, from the opening after that of its
    /// last pair.
    pub fn record(&mut self, take: usize, half_points: u8) {
        let half_points = half_points.min(4);
        let Some(standing) = self.takes.get_mut(take) else { return };
        standing.pairs.0[usize::from(half_points)] += 1;
        let score = f64::from(half_points) / 4.0;
        let bets = &mut self.against_base[take];
        let below = |bet: &mut Bet, wanted: f64| bet.record(wanted - score, wanted.max(1.0 - wanted));
        below(&mut bets.gains_too_little, expected_score(self.settings.gain));
        bets.is_better.record(score - 0.5, 0.5);
        let close = self.settings.close_score();
        let is_close_meant = self.settings.close > 0.0;
        if is_close_meant {
            below(&mut bets.is_close, expected_score(self.settings.enough()));
        }
        let opening = self.scores[take].len();
        self.scores[take].push(Some(half_points));
        for other in 0..self.takes.len() {
            let Some(theirs) = self.scores[other].get(opening).copied().flatten().filter(|_| other != take) else {
                continue;
            };
            let lead = score - f64::from(theirs) / 4.0;
            for (one, two, lead) in [(take, other, lead), (other, take, -lead)] {
                let bets = &mut self.between[one][two];
                bets.is_better.record(lead, 1.0);
                if is_close_meant {
                    bets.is_as_good.record(lead + close, 1.0 + close);
                }
            }
        }
        self.judge();
    }

    /// Skips the next opening of a take, whose pair does not count.
    pub fn pass_over(&mut self, take: usize) {
        if let Some(scores) = self.scores.get_mut(take) {
            scores.push(None);
        }
    }

    /// Drops takes that are shown to be hopeless, and finds the winner; a claim once shown stays
    /// shown.
    fn judge(&mut self) {
        let count = self.takes.len();
        let bound = self.settings.bound(count);
        for take in 0..count {
            let bets = &self.against_base[take];
            self.takes[take].is_better |= bets.is_better.best >= bound;
            if self.takes[take].dropped.is_some() {
                continue;
            }
            let is_better = self.takes[take].is_better;
            let by_base = (bets.gains_too_little.best >= bound).then_some(Reason::Base);
            let by_close = || (!is_better && bets.is_close.best >= bound).then_some(Reason::Close);
            let by_other =
                || (0..count).find(|&other| self.between[other][take].is_better.best >= bound).map(Reason::Take);
            if let Some(reason) = by_base.or_else(by_other).or_else(by_close) {
                self.takes[take].dropped = Some((reason, self.takes[take].pairs.pairs()));
            }
        }
        self.winner = self.winner.or_else(|| self.find_winner(bound));
    }

    /// Of the takes that are stronger than the base, and that none which is left beats by `close`,
    /// the one with the best score.
    fn find_winner(&self, bound: f64) -> Option<usize> {
        let left = self.left();
        let wins = |take: usize| {
            self.takes[take].is_better
                && left.iter().all(|&other| other == take || self.between[take][other].is_as_good.best >= bound)
        };
        let score = |take: usize| super::Counts::score(&self.takes[take].pairs).unwrap_or(0.0);
        left.iter().copied().filter(|&take| wins(take)).max_by(|a, b| score(*a).total_cmp(&score(*b)).then(b.cmp(a)))
    }

    /// All takes.
    #[must_use]
    pub fn takes(&self) -> &[Standing] {
        &self.takes
    }

    /// The takes that go on.
    #[must_use]
    pub fn left(&self) -> Vec<usize> {
        (0..self.takes.len()).filter(|&take| self.takes[take].dropped.is_none()).collect()
    }

    /// Returns true if the race has its winner or no take is left.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.winner.is_some() || self.left().is_empty()
    }

    /// The take that is shown to be stronger than the base, with no other left that is stronger
    /// than it by `close`.
    #[must_use]
    pub const fn winner(&self) -> Option<usize> {
        self.winner
    }
}

#[cfg(test)]
mod tests;
