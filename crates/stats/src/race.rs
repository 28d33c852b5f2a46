//! Races of several candidates against one base, with hopeless ones dropped.
//!
//! All play the same openings, until the best candidate is found.
//!
//! # Method
//! Every claim is a bet (an e-process). The claim is "the mean of x is above m", with x within `m
//! +- reach`, and a gambler stakes a share of his fortune on each pair. As long as the claim is
//! false he is never expected to gain. So the probability that his fortune ever reaches `1/a` is at
//! most `a` (Ville's inequality), at any number of looks and for any stopping rule. The fortune
//! here is the mean of those of `STAKES` gamblers with fixed stakes, so it depends on the counts
//! alone and no stake must be guessed.
//!
//! Each candidate has three claims on its pair scores against the base. It is weaker than the base
//! plus the required gain; it is stronger than the base; it is weaker than the base plus
//! [`RaceSettings::close`]. Each ordered pair of candidates has two claims on the difference of
//! their scores of the same opening: the first is stronger; the second is not stronger by `close`.
//! The opening's own luck cancels in the difference. With `n` candidates these are `n(2n+1)`
//! claims. Each is accepted at the level `alpha/(n(2n+1))`, so the probability that any statement
//! of a whole race is false is at most `alpha` (Bonferroni). Without `close` the claims about it
//! are not made, and `n(n+1)` are left. No bound is asymptotic.
//!
//! A candidate is dropped once it is shown to be weaker than the base plus the gain, or than any
//! other candidate. With `close`, a candidate is also dropped once it is shown to gain less than
//! `close` or the required gain, whichever is more. One that is shown to be stronger than the base
//! stays. A winner that is stronger than the base can then be behind the dropped candidate by less
//! than `close`. The race is over if no candidate is left. It is also over if one is shown to be
//! stronger than the base, and no other one left can be stronger than it by `close`. Without
//! `close` it must be the only one left, and two equally good candidates play until their pairs run
//! out.
//!
//! `close` is applied on the scale of scores, as the score difference of `close` Elo between two
//! players.
//!
//! # Assumptions
//! Pairs of a candidate are independent of each other and have the same distribution. This holds if
//! each opening is drawn at random from a population, and the engines play it as they would at any
//! other time. Then the mean of the next score (or difference), given all before it, is one number,
//! and the claims are about that number. Exchangeable pairs are not enough: if openings are
//! repeated, or a small book is used up, the past predicts the next score. So openings must not run
//! out. Candidates may depend on each other in any way, because Bonferroni's bound needs no
//! independence. A pair of one candidate may depend on pairs of another candidate that were played
//! before it.
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
pub struct RaceSettings {
    /// The probability that any statement is false, between 0 and 1.
    pub alpha: f64,
    /// Elo that a candidate must gain on the base; a candidate shown to gain less is dropped.
    pub gain: f64,
    /// Elo by which another candidate may be stronger than the winner; 0 if it must be the only one
    /// left.
    pub close: f64,
}

impl RaceSettings {
    /// `close` as a difference of scores.
    fn close_score(&self) -> f64 {
        expected_score(self.close) - 0.5
    }

    /// Gain over the base in Elo below which a candidate can be dropped as close.
    fn enough(&self) -> f64 {
        self.gain.max(self.close)
    }

    /// Logarithm of the fortune at which a claim of a race of `candidates` is accepted.
    fn bound(&self, candidates: usize) -> f64 {
        let claims = if self.close > 0.0 { candidates * (2 * candidates + 1) } else { candidates * (candidates + 1) };
        (claims.max(1) as f64 / self.alpha).ln()
    }
}

/// Reason that a candidate was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Weaker than the base plus the required gain.
    Base,
    /// Weaker than the base plus [`RaceSettings::close`].
    Close,
    /// Weaker than this candidate, counted from 0.
    Candidate(usize),
}

/// State of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CandidateState {
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

/// Evidence of pairs for two claims, each as the natural logarithm of an e-value: their mean is
/// above one half, and it is below.
///
/// If a claim is false, the probability that its value ever exceeds `ln(1/a)` is at most `a`.
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
pub struct RaceState {
    settings: RaceSettings,
    candidates: Vec<CandidateState>,
    /// Half points of each candidate's pairs, by opening; `None` for a pair that does not count.
    scores: Vec<Vec<Option<u8>>>,
    /// State of each candidate against the base.
    against_base: Vec<BaseClaims>,
    /// `between[a][b]`: the claims that candidate `a` is stronger than candidate `b`, and that `b`
    /// is not stronger than `a` by `close`.
    between: Vec<Vec<DifferenceClaims>>,
    winner: Option<usize>,
}

/// Claims on the scores of a candidate against the base.
#[derive(Clone, Copy, Debug)]
struct BaseClaims {
    gains_too_little: Bet,
    is_better: Bet,
    /// Gains less than [`RaceSettings::enough`].
    is_close: Bet,
}

/// Claims on the difference of two candidates' scores.
#[derive(Clone, Copy, Debug)]
struct DifferenceClaims {
    is_better: Bet,
    is_as_good: Bet,
}

impl RaceState {
    /// A race of this number of candidates, at the start.
    #[must_use]
    pub fn new(candidates: usize, settings: RaceSettings) -> Self {
        let none = CandidateState { pairs: super::Pentanomial::default(), dropped: None, is_better: false };
        let bets = BaseClaims { gains_too_little: Bet::NEW, is_better: Bet::NEW, is_close: Bet::NEW };
        Self {
            settings,
            candidates: vec![none; candidates],
            scores: vec![Vec::new(); candidates],
            against_base: vec![bets; candidates],
            between: vec![vec![DifferenceClaims { is_better: Bet::NEW, is_as_good: Bet::NEW }; candidates]; candidates],
            winner: None,
        }
    }

    /// Records the next pair of a candidate: its half points, 0 to 4, from the opening after that
    /// of its last pair.
    pub fn record(&mut self, candidate: usize, half_points: u8) {
        let half_points = half_points.min(4);
        let Some(state) = self.candidates.get_mut(candidate) else { return };
        state.pairs.0[usize::from(half_points)] += 1;
        let score = f64::from(half_points) / 4.0;
        let bets = &mut self.against_base[candidate];
        let below = |bet: &mut Bet, wanted: f64| bet.record(wanted - score, wanted.max(1.0 - wanted));
        below(&mut bets.gains_too_little, expected_score(self.settings.gain));
        bets.is_better.record(score - 0.5, 0.5);
        let close = self.settings.close_score();
        let is_close_meant = self.settings.close > 0.0;
        if is_close_meant {
            below(&mut bets.is_close, expected_score(self.settings.enough()));
        }
        let opening = self.scores[candidate].len();
        self.scores[candidate].push(Some(half_points));
        for other in 0..self.candidates.len() {
            let Some(theirs) = self.scores[other].get(opening).copied().flatten().filter(|_| other != candidate) else {
                continue;
            };
            let lead = score - f64::from(theirs) / 4.0;
            for (one, two, lead) in [(candidate, other, lead), (other, candidate, -lead)] {
                let bets = &mut self.between[one][two];
                bets.is_better.record(lead, 1.0);
                if is_close_meant {
                    bets.is_as_good.record(lead + close, 1.0 + close);
                }
            }
        }
        self.judge();
    }

    /// Skips the next opening of a candidate, whose pair does not count.
    pub fn pass_over(&mut self, candidate: usize) {
        if let Some(scores) = self.scores.get_mut(candidate) {
            scores.push(None);
        }
    }

    /// Drops candidates that are shown to be hopeless, and finds the winner; a claim once shown
    /// stays shown.
    fn judge(&mut self) {
        let count = self.candidates.len();
        let bound = self.settings.bound(count);
        for candidate in 0..count {
            let bets = &self.against_base[candidate];
            self.candidates[candidate].is_better |= bets.is_better.best >= bound;
            if self.candidates[candidate].dropped.is_some() {
                continue;
            }
            let is_better = self.candidates[candidate].is_better;
            let by_base = (bets.gains_too_little.best >= bound).then_some(Reason::Base);
            let by_close = || (!is_better && bets.is_close.best >= bound).then_some(Reason::Close);
            let by_other = || {
                (0..count).find(|&other| self.between[other][candidate].is_better.best >= bound).map(Reason::Candidate)
            };
            if let Some(reason) = by_base.or_else(by_other).or_else(by_close) {
                self.candidates[candidate].dropped = Some((reason, self.candidates[candidate].pairs.pairs()));
            }
        }
        self.winner = self.winner.or_else(|| self.find_winner(bound));
    }

    /// Candidate with the best score among those that are stronger than the base and that no
    /// remaining one beats by `close`.
    fn find_winner(&self, bound: f64) -> Option<usize> {
        let left = self.left();
        let wins = |candidate: usize| {
            self.candidates[candidate].is_better
                && left
                    .iter()
                    .all(|&other| other == candidate || self.between[candidate][other].is_as_good.best >= bound)
        };
        let score = |candidate: usize| super::Counts::score(&self.candidates[candidate].pairs).unwrap_or(0.0);
        left.iter()
            .copied()
            .filter(|&candidate| wins(candidate))
            .max_by(|a, b| score(*a).total_cmp(&score(*b)).then(b.cmp(a)))
    }

    /// All candidates.
    #[must_use]
    pub fn candidates(&self) -> &[CandidateState] {
        &self.candidates
    }

    /// Indices of the candidates that continue.
    #[must_use]
    pub fn left(&self) -> Vec<usize> {
        (0..self.candidates.len()).filter(|&candidate| self.candidates[candidate].dropped.is_none()).collect()
    }

    /// Returns true if the race has its winner or no candidate is left.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.winner.is_some() || self.left().is_empty()
    }

    /// Index of the candidate that is shown to be stronger than the base, with no other left that
    /// is stronger than it by [`RaceSettings::close`].
    #[must_use]
    pub const fn winner(&self) -> Option<usize> {
        self.winner
    }
}

#[cfg(test)]
mod tests;
