//! A tuning by any method: one interface to the methods for all that plays, replays or reports one.

use std::borrow::Cow;
use std::sync::Arc;

use super::auto::{Auto, Purpose, Rule, Vectors};
use super::compat::Compat;
use super::factors::FactorRun;
use super::narrow::RangeCut;
use super::space::Space;
use super::spsa::Schedule;

/// Run by one of the methods: a fold of results in pair order.
#[derive(Clone, Debug)]
pub enum Tuning {
    /// The default method.
    Auto(Box<Auto>),
    /// The updates of another program.
    Compat {
        /// Parameters.
        space: Space,
        /// The run.
        run: Box<Compat>,
    },
    /// Switches by lot.
    Factors(Box<FactorRun>),
}

impl Tuning {
    /// A run by the default method before its first pair.
    #[must_use]
    pub fn auto(rule: Rule) -> Self {
        Self::Auto(Box::new(Auto::new(rule)))
    }

    /// A run by the updates of another program before its first pair. The pairs of a block are
    /// raised as [`Compat::new`] says.
    #[must_use]
    pub fn compat(space: Space, schedule: Schedule, seed: u64, block: u32) -> Self {
        let run = Box::new(Compat::new(&space, schedule, seed, block));
        Self::Compat { space, run }
    }

    /// Run of randomised switches before its first pair: a parameter's lowest value is off, its
    /// highest on.
    #[must_use]
    pub fn factors(space: Space, seed: u64, block: u32) -> Self {
        Self::Factors(Box::new(FactorRun::new(space, seed, block)))
    }

    /// The same run before its first pair, if it narrows ranges beyond which the engine fails.
    /// Randomised switches have no ranges.
    #[must_use]
    pub fn narrowing(self) -> Self {
        match self {
            Self::Auto(run) => Self::Auto(Box::new(run.narrowing())),
            Self::Compat { space, run } => Self::Compat { space, run: Box::new(run.narrowing()) },
            Self::Factors(_) => self,
        }
    }

    /// Run of randomised switches, if this is one.
    #[must_use]
    pub fn as_factors(&self) -> Option<&FactorRun> {
        match self {
            Self::Factors(run) => Some(run),
            Self::Auto(_) | Self::Compat { .. } => None,
        }
    }

    /// The run by the default method, if it is one.
    #[must_use]
    pub fn as_auto(&self) -> Option<&Auto> {
        match self {
            Self::Auto(run) => Some(run),
            Self::Compat { .. } | Self::Factors(_) => None,
        }
    }

    /// Parameters.
    #[must_use]
    pub fn space(&self) -> &Space {
        match self {
            Self::Auto(run) => &run.rule().space,
            Self::Compat { space, .. } => space,
            Self::Factors(run) => run.space(),
        }
    }

    /// Parameters with their ranges as narrowed so far.
    #[must_use]
    pub fn narrowed(&self) -> &Space {
        match self {
            Self::Auto(run) => run.space(),
            Self::Compat { run, .. } => run.space(),
            Self::Factors(run) => run.space(),
        }
    }

    /// Ranges that were narrowed, the first one first.
    #[must_use]
    pub fn cuts(&self) -> &[RangeCut] {
        match self {
            Self::Auto(run) => run.cuts(),
            Self::Compat { run, .. } => run.cuts(),
            Self::Factors(_) => &[],
        }
    }

    /// Pairs in a block, at least 1.
    #[must_use]
    pub fn block(&self) -> u32 {
        match self {
            Self::Auto(run) => run.rule().block,
            Self::Compat { run, .. } => run.block(),
            Self::Factors(run) => run.block(),
        }
    }

    /// Pairs that count.
    #[must_use]
    pub fn pairs(&self) -> u64 {
        match self {
            Self::Auto(run) => run.pairs(),
            Self::Compat { run, .. } => run.pairs(),
            Self::Factors(run) => run.pairs(),
        }
    }

    /// Blocks whose pairs all count.
    #[must_use]
    pub fn completed(&self) -> u64 {
        self.pairs() / u64::from(self.block())
    }

    /// Purpose of the pairs of a block.
    #[must_use]
    pub fn purpose(&self, block: u64) -> Purpose {
        match self {
            Self::Auto(run) => run.rule().purpose(block),
            Self::Compat { .. } | Self::Factors(_) => Purpose::Tune,
        }
    }

    /// Values of the pairs of a block. `None` until every pair before the last block counts, and if
    /// the block is too far back.
    #[must_use]
    pub fn ask(&self, block: u64) -> Option<Arc<[Vectors]>> {
        match self {
            Self::Auto(run) => run.ask(block),
            Self::Compat { run, .. } => run.ask(block),
            Self::Factors(run) => run.ask(block),
        }
    }

    /// Takes the result of the next pair, in which no side failed: wins minus losses of its first
    /// side, -2 to 2.
    pub fn record(&mut self, result: i8) {
        self.record_failures(result, [false; 2]);
    }

    /// Takes the result of the next pair, and which of its sides failed: crashed, stalled or played
    /// an illegal move.
    pub fn record_failures(&mut self, result: i8, failed: [bool; 2]) {
        match self {
            Self::Auto(run) => run.record_failures(result, failed),
            Self::Compat { run, .. } => run.record_failures(result, failed),
            Self::Factors(run) => run.record(result),
        }
    }

    /// Values before the tuning, in the parameters' own units.
    #[must_use]
    pub fn start(&self) -> Vec<f64> {
        self.space().start()
    }

    /// Centre after the last complete block, in the parameters' own units; that of randomised
    /// switches stays the start.
    #[must_use]
    pub fn theta(&self) -> &[f64] {
        match self {
            Self::Auto(run) => run.theta(),
            Self::Compat { run, .. } => run.theta(),
            Self::Factors(run) => run.start(),
        }
    }

    /// Result so far: the mean of the default method, theta of other programs', and, for randomised
    /// switches, the start with the switches that were found.
    #[must_use]
    pub fn result(&self) -> Cow<'_, [f64]> {
        match self {
            Self::Auto(run) => run.mean().into(),
            Self::Compat { run, .. } => run.result().into(),
            Self::Factors(run) => run.keepers().into(),
        }
    }

    /// Values of both sides as the texts that the engine is sent.
    #[must_use]
    pub fn texts(&self, vectors: &Vectors) -> [Vec<String>; 2] {
        let params = self.space().params();
        [0, 1].map(|side| params.iter().zip(&vectors.sides[side]).map(|(param, value)| param.text(*value)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use super::super::spsa::Constants;
    use super::*;

    #[test]
    fn every_method_is_asked_and_told_alike() {
        let space = read::lines("p", "a, int, 50, 0, 100, 4, .002\nb, float, 5, 0, 9, 1, .002").expect("sound");
        let fishtest = Schedule::fishtest(&space, 1_000, Constants::default());
        let openbench = Schedule::openbench(&space, 100, 8, Constants::default());
        let runs = [
            Tuning::auto(Rule { space: space.clone(), seed: 3, block: 16, calibration: 2 }),
            Tuning::compat(space.clone(), fishtest, 3, 16),
            Tuning::compat(space.clone(), openbench, 3, 20),
        ];
        let blocks = [16, 16, 24];
        let first = [Purpose::Calibrate, Purpose::Tune, Purpose::Tune];
        for ((mut run, block), first) in runs.into_iter().zip(blocks).zip(first) {
            assert_eq!((run.block(), run.purpose(0), run.purpose(2)), (block, first, Purpose::Tune));
            assert_eq!((run.start(), run.space().len()), (vec![50.0, 5.0], 2));
            for asked in 0..6 {
                let vectors = run.ask(asked).expect("in order");
                assert!(run.ask(asked + 1).is_some() && run.ask(asked + 2).is_none());
                assert_eq!((vectors.len(), vectors[0].purpose), (block as usize, run.purpose(asked)));
                let [plus, minus] = run.texts(&vectors[0]);
                assert!(plus[0].parse::<i64>().is_ok() && minus[1].parse::<f64>().is_ok(), "{plus:?} {minus:?}");
                for pair in 0..block {
                    assert_eq!((run.pairs(), run.completed()), (asked * u64::from(block) + u64::from(pair), asked));
                    run.record(if pair % 3 == 0 { 2 } else { -1 });
                }
            }
            // The mean of auto begins with half of the tuning blocks; the others' result is theta.
            assert_eq!(*run.result() == *run.theta(), run.as_auto().is_none());
            assert!(run.theta() != run.start());
        }
    }
}
