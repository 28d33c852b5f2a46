//! A race: several takes against one base, on the same openings; hopeless ones are dropped, the best one is found.
//!
//! # Method
//! Every claim is a bet (an e-process). Of a claim "the mean of x is above m", with x within `m +- reach`, a gambler who stakes a share
//! of his fortune on each pair is, as long as the claim is false, never expected to gain; so the probability that his fortune
//! ever reaches `1/a` is at most `a` (Ville's inequality), however often one looks and whenever one stops. The fortune here is
//! the mean of those of [`STAKES`] gamblers with fixed stakes, so that it depends on the counts alone and no stake must be guessed.
//!
//! For each take there are two claims on its pair scores against the base (weaker than the base and what it must gain; stronger than the
//! base), and for each two takes a claim in either direction on the difference of their scores of the same opening, where the opening's
//! own luck cancels. Of `n` takes these are `n(n+1)` claims; each is accepted at the level `alpha / (n(n+1))`, so the probability that
//! any of what a race says is false is at most `alpha` (Bonferroni), over the whole race. Nothing is asymptotic.
//!
//! # What is assumed
//! Scores are bounded, and the mean of the next score (or difference), given all before it, is always the same. Pairs that are
//! independent and played alike have that. Exchangeable pairs need not: if the same few games come again and again, what was seen
//! foretells what comes, and the claims are about those games alone. So openings must not run out. Takes may depend on each other
//! in any way, for Bonferroni does not ask, and a pair of one take on those of another that were played before it.
//!
//! A take is dropped once it is shown to be weaker than base and gain, or than any other take. The race is over when none is left,
//! or one that is shown to be stronger than the base.
//!
//! # Sources
//! J. Ville (1939); I. Waudby-Smith, A. Ramdas, "Estimating means of bounded random variables by betting" (2024), section 4;
//! E. Even-Dar, S. Mannor, Y. Mansour, "Action elimination and stopping conditions for the multi-armed bandit problem" (2006), for
//! successive elimination.

use super::sprt::expected_score;

/// How many gamblers there are; their stakes fall by the root of two from nine tenths of what they could lose at once.
const STAKES: usize = 18;

/// The settings of a race.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// The probability that anything said is false, between 0 and 1.
    pub alpha: f64,
    /// Elo that a take must gain on the base: whoever is shown to gain less is dropped.
    pub gain: f64,
}

/// Why a take is out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Weaker than the base and what it must gain.
    Base,
    /// Weaker than this take, counted from 0.
    Take(usize),
}

/// How a take stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Pairs by points against the base, those played after it was dropped too.
    pub pairs: super::Pentanomial,
    /// Why it was dropped, and after how many of its pairs.
    pub dropped: Option<(Reason, u64)>,
    /// Whether it is shown to be stronger than the base.
    pub is_better: bool,
}

/// The fortunes of those who bet on one claim.
#[derive(Clone, Copy, Debug)]
struct Bet {
    /// Natural logarithms.
    fortunes: [f64; STAKES],
    /// The most they had together, as a logarithm.
    best: f64,
}

impl Bet {
    const NEW: Self = Self { fortunes: [0.0; STAKES], best: 0.0 };

    /// Takes an outcome: `gain` within `-reach..=reach`, expected to be at most 0 where the claim is false.
    fn add(&mut self, gain: f64, reach: f64) {
        let mut stake = 0.9 / reach;
        for fortune in &mut self.fortunes {
            *fortune += (stake * gain).ln_1p();
            stake *= std::f64::consts::FRAC_1_SQRT_2;
        }
        let most = self.fortunes.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = self.fortunes.iter().map(|fortune| (fortune - most).exp()).sum();
        self.best = self.best.max(most + (sum / STAKES as f64).ln());
    }
}

/// What pairs say of two claims, that their mean is above and that it is below one half, each as an e-value (natural logarithm):
/// where a claim is false, the probability that it ever exceeds `ln(1/a)` is at most `a`.
#[must_use]
pub fn evidence(pairs: &super::Pentanomial) -> [f64; 2] {
    [1.0, -1.0].map(|sign| {
        let mut stake = 0.9 / 0.5;
        let fortunes: [f64; STAKES] = std::array::from_fn(|_| {
            let of =
                |(class, count): (usize, &u64)| *count as f64 * (stake * sign * (class as f64 / 4.0 - 0.5)).ln_1p();
            let fortune = pairs.0.iter().enumerate().map(of).sum();
            stake *= std::f64::consts::FRAC_1_SQRT_2;
            fortune
        });
        let most = fortunes.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        most + (fortunes.iter().map(|fortune| (fortune - most).exp()).sum::<f64>() / STAKES as f64).ln()
    })
}

/// A race so far.
#[derive(Clone, Debug)]
pub struct Race {
    settings: Settings,
    takes: Vec<Standing>,
    /// Pair scores of each take, in quarters of a pair, by opening.
    scores: Vec<Vec<u8>>,
    /// By take: weaker than base and gain, stronger than the base.
    against_base: Vec<[Bet; 2]>,
    /// `between[a][b]`: the claim that take `a` is stronger than take `b`.
    between: Vec<Vec<Bet>>,
}

impl Race {
    /// So many takes at the start.
    #[must_use]
    pub fn new(takes: usize, settings: Settings) -> Self {
        let none = Standing { pairs: super::Pentanomial::default(), dropped: None, is_better: false };
        Self {
            settings,
            takes: vec![none; takes],
            scores: vec![Vec::new(); takes],
            against_base: vec![[Bet::NEW; 2]; takes],
            between: vec![vec![Bet::NEW; takes]; takes],
        }
    }

    /// Counts the next pair of a take: its half points, 0 to 4, from the opening after that of its last pair.
    pub fn add(&mut self, take: usize, half_points: u8) {
        let half_points = half_points.min(4);
        let Some(standing) = self.takes.get_mut(take) else { return };
        standing.pairs.0[usize::from(half_points)] += 1;
        let score = f64::from(half_points) / 4.0;
        let wanted = expected_score(self.settings.gain);
        let [weaker, stronger] = &mut self.against_base[take];
        weaker.add(wanted - score, wanted.max(1.0 - wanted));
        stronger.add(score - 0.5, 0.5);
        let opening = self.scores[take].len();
        self.scores[take].push(half_points);
        for other in 0..self.takes.len() {
            let Some(theirs) = self.scores[other].get(opening).filter(|_| other != take) else { continue };
            let lead = score - f64::from(*theirs) / 4.0;
            self.between[take][other].add(lead, 1.0);
            self.between[other][take].add(-lead, 1.0);
        }
        self.judge();
    }

    /// Drops who is shown to be hopeless; what was shown once stays.
    fn judge(&mut self) {
        let count = self.takes.len();
        let bound = ((count * (count + 1)) as f64 / self.settings.alpha).ln();
        for take in 0..count {
            self.takes[take].is_better |= self.against_base[take][1].best >= bound;
            if self.takes[take].dropped.is_some() {
                continue;
            }
            let by_base = (self.against_base[take][0].best >= bound).then_some(Reason::Base);
            let by_other = || (0..count).find(|&other| self.between[other][take].best >= bound).map(Reason::Take);
            if let Some(reason) = by_base.or_else(by_other) {
                self.takes[take].dropped = Some((reason, self.scores[take].len() as u64));
            }
        }
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

    /// Whether nothing is left to be found.
    #[must_use]
    pub fn is_over(&self) -> bool {
        match self.left().as_slice() {
            [] => true,
            [last] => self.takes[*last].is_better,
            _ => false,
        }
    }

    /// The take that is shown to be the best and stronger than the base.
    #[must_use]
    pub fn winner(&self) -> Option<usize> {
        match self.left().as_slice() {
            [last] if self.takes[*last].is_better => Some(*last),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::simulate::Law;
    use crate::stats::sprt::Model;

    struct Dice(u64);

    impl Dice {
        fn unit(&mut self) -> f64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 11) as f64 / (1u64 << 53) as f64
        }

        /// Half points of a pair; `u` is the opening's own luck.
        fn pair(law: &Law, u: f64) -> u8 {
            let mut below = 0.0;
            let class = law.shares().iter().position(|share| {
                below += share;
                u < below
            });
            u8::try_from(class.unwrap_or(4)).unwrap()
        }
    }

    /// Races takes of these strengths; openings are shared to this share.
    fn race(elos: &[f64], gain: f64, shared: f64, rounds: u64, dice: &mut Dice) -> Race {
        let laws: Vec<Law> = elos.iter().map(|elo| Law::TYPICAL.leaned(*elo, Model::Logistic)).collect();
        let mut race = Race::new(elos.len(), Settings { alpha: 0.05, gain });
        for _ in 0..rounds {
            let common = dice.unit();
            for take in race.left() {
                let own = dice.unit();
                let u = if dice.unit() < shared { common } else { own };
                race.add(take, Dice::pair(&laws[take], u));
            }
            if race.is_over() {
                break;
            }
        }
        race
    }

    #[test]
    fn the_best_take_wins() {
        let mut dice = Dice(1);
        let (mut won, mut spent) = (0, 0);
        for _ in 0..40 {
            let race = race(&[-40.0, 0.0, 60.0, 10.0], 0.0, 0.5, 4000, &mut dice);
            won += u32::from(race.winner() == Some(2));
            spent += race.takes().iter().map(|take| take.pairs.pairs()).sum::<u64>();
        }
        assert!(won >= 39, "{won} of 40");
        assert!(spent / 40 < 4000, "{} pairs a race", spent / 40);
    }

    #[test]
    fn what_is_false_is_seldom_said() {
        // All as strong as the base: whoever is dropped or called better is wronged.
        let mut dice = Dice(2);
        let wronged = (0..300)
            .filter(|_| {
                let race = race(&[0.0; 4], 0.0, 0.5, 400, &mut dice);
                race.takes().iter().any(|take| take.dropped.is_some() || take.is_better)
            })
            .count();
        // 5 % of 300 is 15, and the bound is no estimate: it is stayed below.
        assert!(wronged <= 15, "{wronged} of 300");
    }

    #[test]
    fn who_gains_too_little_is_dropped() {
        let mut dice = Dice(3);
        let race = race(&[0.0, 0.0], 60.0, 0.0, 4000, &mut dice);
        assert!(race.is_over() && race.winner().is_none());
        assert!(race.takes().iter().any(|take| matches!(take.dropped, Some((Reason::Base, _)))));
    }

    #[test]
    fn one_take_alone_is_a_test_against_the_base() {
        let mut dice = Dice(4);
        assert_eq!(race(&[50.0], 0.0, 0.0, 4000, &mut dice).winner(), Some(0));
        assert_eq!(race(&[-50.0], 0.0, 0.0, 4000, &mut dice).left(), [] as [usize; 0]);
        assert!(Race::new(0, Settings { alpha: 0.05, gain: 0.0 }).is_over());
    }

    #[test]
    fn evidence_is_what_the_bets_come_to() {
        let pairs = super::super::Pentanomial([3, 5, 20, 9, 8]);
        let mut bet = Bet::NEW;
        for (class, count) in pairs.0.iter().enumerate() {
            // The losses first, so that the fortune is largest at the end.
            (0..*count).for_each(|_| bet.add(class as f64 / 4.0 - 0.5, 0.5));
        }
        let [above, below] = evidence(&pairs);
        assert!((above - bet.best).abs() < 1e-9 || bet.best == 0.0 && above < 0.0);
        assert!(above > below);
        assert_eq!(evidence(&super::super::Pentanomial::default()), [0.0, 0.0]);
    }

    #[test]
    fn a_shared_opening_tells_more() {
        let mut dice = Dice(5);
        let mut pairs = |shared: f64| -> u64 {
            (0..20)
                .map(|_| race(&[30.0, -10.0], -500.0, shared, 6000, &mut dice).takes()[1].dropped.map_or(6000, |d| d.1))
                .sum()
        };
        assert!(pairs(0.9) < pairs(0.0));
    }
}
