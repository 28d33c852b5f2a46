//! A run by the updates of fishtest or OpenBench ([`super::spsa`]), in blocks as every tuning.
//!
//! Both programs hand out vectors with the step number k of that moment. So does this one: k counts
//! the pairs of the blocks from which a block's values follow. The result is theta itself.

use std::sync::Arc;

use super::auto::{Purpose, Vectors};
use super::draws::PairDraws;
use super::lag::{self, StateHistory};
use super::narrow::{Counterpart, Narrowing, RangeCut};
use super::space::Space;
use super::spsa::{Gain, Peer, Schedule};

/// State of a run after a block.
#[derive(Clone, Debug)]
struct CompatState {
    theta: Vec<f64>,
    /// Parameters with their ranges as narrowed so far.
    space: Arc<Space>,
}

/// A run: the fold of its results in the order of its pairs.
#[derive(Clone, Debug)]
pub struct Compat {
    schedule: Schedule,
    params: usize,
    seed: u64,
    /// Pairs in a block, a multiple of those in a step.
    block: u32,
    /// States after the last blocks.
    past: StateHistory<CompatState, Vectors>,
    /// Results of the open block's pairs.
    open: Vec<i8>,
    /// Sides of the open block's pairs that failed.
    failed: Vec<[bool; 2]>,
    /// Narrowing of ranges, if the run does it.
    narrowing: Option<Narrowing>,
}

impl Compat {
    /// A run before its first pair. The pairs of a block are raised to a multiple of those that
    /// play one pair of vectors.
    #[must_use]
    pub fn new(space: &Space, schedule: Schedule, seed: u64, block: u32) -> Self {
        let step = schedule.pairs_per_step();
        let block = block.max(1).div_ceil(step).saturating_mul(step);
        let before = CompatState { theta: space.start(), space: Arc::new(space.clone()) };
        Self {
            schedule,
            params: space.len(),
            seed,
            block,
            past: StateHistory::new(before),
            open: Vec::new(),
            failed: Vec::new(),
            narrowing: None,
        }
    }

    /// The same run before its first pair, if it narrows ranges beyond which the engine fails.
    #[must_use]
    pub fn narrowing(mut self) -> Self {
        self.narrowing = Some(Narrowing::new(self.space(), self.schedule.pairs_per_step()));
        self
    }

    /// Ranges that were narrowed, the first one first.
    #[must_use]
    pub fn cuts(&self) -> &[RangeCut] {
        self.narrowing.as_ref().map_or(&[], Narrowing::cuts)
    }

    /// Parameters with their ranges as narrowed so far.
    #[must_use]
    pub fn space(&self) -> &Space {
        &self.past.newest().space
    }

    /// Pairs in a block.
    #[must_use]
    pub const fn block(&self) -> u32 {
        self.block
    }

    /// Pairs that count.
    #[must_use]
    pub fn pairs(&self) -> u64 {
        self.past.completed() * u64::from(self.block) + self.open.len() as u64
    }

    /// Theta after the last complete block, in the parameters' own units.
    #[must_use]
    pub fn theta(&self) -> &[f64] {
        &self.past.newest().theta
    }

    /// Theta after the last complete step, that of the open block included.
    #[must_use]
    pub fn result(&self) -> Vec<f64> {
        let state = self.past.newest();
        let mut theta = state.theta.clone();
        let steps = self.open.chunks_exact(self.schedule.pairs_per_step() as usize);
        self.update(&state.space, &mut theta, steps);
        theta
    }

    /// Moves theta by steps of the open block, from its first on.
    fn update<'a>(&self, space: &Space, theta: &mut [f64], steps: impl Iterator<Item = &'a [i8]>) {
        let block = self.past.completed();
        let gains = self.gains(block);
        let mut pair = block * u64::from(self.block);
        for results in steps {
            let (signs, _) = self.signs(pair);
            let sum: f64 = results.iter().map(|result| f64::from(*result)).sum();
            self.schedule.update(space, theta, &gains, &signs, sum);
            pair += results.len() as u64;
        }
    }

    /// Perturbations and rates of a block's steps.
    fn gains(&self, block: u64) -> Vec<Gain> {
        let known = lag::blocks_known(block).saturating_mul(u64::from(self.block));
        self.schedule.gains(self.schedule.step(known))
    }

    /// Signs of the step that begins with a pair, and the draws after them.
    fn signs(&self, pair: u64) -> (Vec<f64>, PairDraws) {
        let (signs, draws) = PairDraws::new(self.seed, pair, self.params);
        (signs.iter().collect(), draws)
    }

    /// Values of the pairs of a block. `None` until every pair before the last block counts, and if
    /// the block is too far back.
    #[must_use]
    pub fn ask(&self, block: u64) -> Option<Arc<[Vectors]>> {
        self.past.values(block, |basis| self.vectors(block, basis))
    }

    fn vectors(&self, block: u64, CompatState { theta, space }: &CompatState) -> Option<Arc<[Vectors]>> {
        let gains = self.gains(block);
        let first = block.checked_mul(u64::from(self.block))?;
        let step = self.schedule.pairs_per_step();
        let steps = (first..first.checked_add(u64::from(self.block))?).step_by(step as usize);
        let asked = steps.flat_map(|pair| {
            let (signs, mut draws) = self.signs(pair);
            let own = draws.fractions(self.params);
            let other = match self.schedule.peer() {
                Peer::Fishtest => draws.fractions(self.params),
                Peer::OpenBench => own.clone(),
            };
            let sides = self.schedule.vectors(space, theta, &gains, &signs, [&own, &other]);
            std::iter::repeat_n(Vectors { purpose: Purpose::Tune, sides }, step as usize)
        });
        Some(asked.collect())
    }

    /// Takes the result of the next pair, in which no side failed: wins minus losses of its first
    /// side, -2 to 2.
    pub fn record(&mut self, result: i8) {
        self.record_failures(result, [false; 2]);
    }

    /// Takes the result of the next pair, and which of its sides failed.
    pub fn record_failures(&mut self, result: i8, failed: [bool; 2]) {
        self.open.push(result.clamp(-2, 2));
        self.failed.push(failed);
        if self.open.len() < self.block as usize {
            return;
        }
        let mut next = self.past.newest().clone();
        let space = Arc::clone(&next.space);
        self.update(&space, &mut next.theta, self.open.chunks(self.schedule.pairs_per_step() as usize));
        self.narrow(&mut next);
        self.past.push(next);
        self.open.clear();
        self.failed.clear();
    }

    /// Narrows ranges beyond which the engine fails, after a block.
    fn narrow(&mut self, next: &mut CompatState) {
        let (block, pairs) = (self.past.completed(), self.pairs());
        let asked = self.ask(block).unwrap_or_default();
        let Some(narrowing) = &mut self.narrowing else { return };
        narrowing.record_block(asked.iter().map(|vectors| &vectors.sides), &self.failed, Counterpart::Side);
        if let Some(space) = narrowing.narrow(&next.space, pairs) {
            space.clamp(&mut next.theta);
            next.space = Arc::new(space);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::landscape::Landscape;
    use super::super::read;
    use super::super::spsa::Constants;
    use super::*;
    use crate::stats::random::SplitMix64;

    #[test]
    fn a_block_waits_for_the_one_before_the_last_and_steps_share_vectors() {
        let space = read::lines("p", "a, int, 50, 0, 100, 4, .002\nb, float, 5, 0, 9, 1, .002").expect("sound");
        let schedule = Schedule::openbench(&space, 100, 8, Constants::default());
        let mut run = Compat::new(&space, schedule.clone(), 3, 20);
        assert_eq!(run.block(), 24);
        assert!(run.ask(1).is_some() && run.ask(2).is_none());
        let asked = run.ask(1).expect("one block of lag");
        assert_eq!(asked.len(), 24);
        for step in asked.chunks(8) {
            assert!(step.iter().all(|pair| *pair == step[0]));
        }
        assert_ne!(asked[0], asked[8]);
        let results: Vec<i8> = (0..48).map(|pair| (pair * 7 % 5) as i8 - 2).collect();
        results.iter().for_each(|result| run.record(*result));
        // By hand: both blocks with the gains of k = 1, for nothing counted when they were asked
        // for.
        let mut theta = space.start();
        let gains = schedule.gains(1.0);
        for (step, results) in results.chunks(8).enumerate() {
            let signs: Vec<f64> = PairDraws::new(3, step as u64 * 8, 2).0.iter().collect();
            schedule.update(&space, &mut theta, &gains, &signs, results.iter().map(|result| f64::from(*result)).sum());
        }
        assert_eq!((run.theta(), run.result(), run.pairs()), (&theta[..], theta.clone(), 48));
        // A complete step of the open block counts in the result, and an incomplete one does not.
        let gains = schedule.gains(1.0 + 24.0 / 8.0);
        let signs: Vec<f64> = PairDraws::new(3, 48, 2).0.iter().collect();
        schedule.update(&space, &mut theta, &gains, &signs, 8.0);
        let mut longer = run.clone();
        (0..8).for_each(|_| longer.record(1));
        assert_eq!((longer.result(), longer.theta()), (theta.clone(), run.theta()));
        (0..7).for_each(|_| longer.record(2));
        assert_eq!(longer.result(), theta);
        assert_eq!(run.gains(3), schedule.gains(1.0 + 48.0 / 8.0));
    }

    #[test]
    fn both_programs_gain_what_simulation_found() {
        // 36 Elo at stake in 40 parameters; 7.0 left after 20,000 games by either, with 16 pairs a
        // block and one of lag.
        for peer in [Peer::Fishtest, Peer::OpenBench] {
            let mut left: Vec<f64> = (0..7)
                .map(|seed| {
                    let landscape = Landscape::new(40, 1.0, seed).with_stake(36.0);
                    let space = landscape.space().expect("sound");
                    let schedule = match peer {
                        Peer::Fishtest => Schedule::fishtest(&space, 10_000, Constants::default()),
                        Peer::OpenBench => Schedule::openbench(&space, 1_250, 8, Constants::default()),
                    };
                    let mut run = Compat::new(&space, schedule, seed, 16);
                    let mut random = SplitMix64::new(seed);
                    for block in 0..625 {
                        for pair in run.ask(block).expect("in order").iter() {
                            run.record(landscape.play(&pair.sides, &mut random));
                        }
                    }
                    landscape.loss(run.theta())
                })
                .collect();
            left.sort_by(f64::total_cmp);
            assert!((4.5..10.0).contains(&left[3]), "{peer:?}: {left:?}");
        }
    }
}
