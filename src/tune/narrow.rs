//! Narrowing of ranges beyond which the engine fails: crashes, stalls or plays an illegal move.
//!
//! All parameters move at once, so one failing vector does not show which value is to blame. A
//! value is suspected while it is beyond every value of its parameter that played without
//! failing. Every vector has a counterpart with the opposite signs: the other side of a tuning
//! pair, the other pair of two that calibrate. That of an unmoved side of a calibration is the
//! moved side. A failing vector says something only if its counterpart played, which clears about
//! half of the innocent ends. A range is narrowed if at least `LEAST_FAILURES` such vectors are
//! suspected there and nowhere else, or if their number is unlikely by chance (`CHANCE`).
//!
//! The new end is halfway between the farthest value that played and the nearest that failed.
//! Values that fail only sometimes are not cut off: they have played, and lose games like others.

use super::space::{RangeEnd, Space};

/// Fewest failing vectors for which a range is narrowed.
const LEAST_FAILURES: usize = 3;

/// Largest probability that an innocent end is narrowed while several are suspected.
const CHANCE: f64 = 0.001;

/// Place of the vector with the opposite signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counterpart {
    /// The other side of its pair.
    Side,
    /// The second side of the other pair of two; for a first side, the second one.
    Pair,
    /// None.
    Nowhere,
}

/// A range that was narrowed.
#[derive(Clone, Debug, PartialEq)]
pub struct RangeCut {
    /// Index of the parameter in its [`Space`], from 0.
    pub param: usize,
    /// End of its range that was moved.
    pub end: RangeEnd,
    /// Value of that end before, in the parameter's own unit.
    pub from: f64,
    /// Value of that end now, in the parameter's own unit.
    pub to: f64,
    /// Number of vectors that failed beyond every value that played.
    pub failures: usize,
    /// Number of pairs after which it was narrowed.
    pub pairs: u64,
}

/// Values that played and vectors that failed: a fold of the pairs, in their order.
#[derive(Clone, Debug)]
pub(super) struct Narrowing {
    /// Pairs in a row that play the same vectors.
    same: usize,
    /// Lowest value of each parameter that played.
    lowest: Vec<f64>,
    /// Highest value of each parameter that played.
    highest: Vec<f64>,
    /// Failing vectors whose counterpart played, and that no narrowed range explains.
    failed: Vec<Vec<f64>>,
    cuts: Vec<RangeCut>,
}

/// A suspected end of a range.
#[derive(Clone, Copy, Debug)]
struct Suspect {
    param: usize,
    end: RangeEnd,
    failures: usize,
    /// Failing value nearest to those that played.
    nearest: f64,
}

impl Narrowing {
    /// The state before the first pair. The start is taken to play. `same` pairs in a row play the
    /// same vectors, which then fail once at most.
    pub(super) fn new(space: &Space, same: u32) -> Self {
        let start = space.nearest(&space.start());
        let same = usize::try_from(same).unwrap_or(usize::MAX).max(1);
        Self { same, lowest: start.clone(), highest: start, failed: Vec::new(), cuts: Vec::new() }
    }

    /// Narrowed ranges, the first one first.
    pub(super) fn cuts(&self) -> &[RangeCut] {
        &self.cuts
    }

    /// Takes the pairs of a block, and which of their sides failed.
    pub(super) fn record_block<'a>(
        &mut self,
        pairs: impl Iterator<Item = &'a [Vec<f64>; 2]>,
        failed: &[[bool; 2]],
        counterpart: Counterpart,
    ) {
        let mut counted = [false; 2];
        for (place, (values, sides)) in pairs.zip(failed).enumerate() {
            if place % self.same == 0 {
                counted = [false; 2];
            }
            let counterparts = match counterpart {
                Counterpart::Side => [sides[1], sides[0]],
                Counterpart::Pair => [sides[1], failed.get(place ^ 1).is_none_or(|sides| sides[1])],
                Counterpart::Nowhere => [true; 2],
            };
            for side in 0..2 {
                if !sides[side] {
                    self.record(&values[side]);
                } else if !counterparts[side] && !std::mem::replace(&mut counted[side], true) {
                    self.failed.push(values[side].clone());
                }
            }
        }
    }

    /// Takes the values of a side that played.
    fn record(&mut self, values: &[f64]) {
        for ((lowest, highest), value) in self.lowest.iter_mut().zip(&mut self.highest).zip(values) {
            // Not `f64::min`, which handles NaN and does not become vector code.
            *lowest = if *value < *lowest { *value } else { *lowest };
            *highest = if *value > *highest { *value } else { *highest };
        }
    }

    /// Narrows the ranges of `space` after `pairs`; `None` if they stay.
    pub(super) fn narrow(&mut self, space: &Space, pairs: u64) -> Option<Space> {
        if self.failed.len() < LEAST_FAILURES {
            return None;
        }
        let mut space = space.clone();
        let before = self.cuts.len();
        self.drop_explained(&space);
        loop {
            let guilty = self.guilty(&space);
            if guilty.is_empty() {
                break;
            }
            for Suspect { param, end, failures, nearest } in guilty {
                let to = self.new_end(&space, param, end, nearest);
                let from = space.move_end(param, end, to);
                self.cuts.push(RangeCut { param, end, from, to, failures, pairs });
            }
            self.drop_explained(&space);
        }
        (self.cuts.len() > before).then_some(space)
    }

    /// Drops failing vectors that reach out of the ranges of `space`.
    fn drop_explained(&mut self, space: &Space) {
        self.failed.retain(|values| {
            let mut params = space.params().iter().zip(values);
            params.all(|(param, value)| (param.min..=param.max).contains(value))
        });
    }

    /// Ends that are to be narrowed.
    fn guilty(&self, space: &Space) -> Vec<Suspect> {
        let mut suspects: Vec<Suspect> =
            (0..space.len()).flat_map(|param| RangeEnd::BOTH.map(|end| self.suspect(param, end))).flatten().collect();
        if suspects.len() > 1 {
            // A failing vector is as likely on either side of an innocent parameter.
            let certain = (2.0 * space.len() as f64 / CHANCE).log2();
            suspects.retain(|suspect| suspect.failures as f64 >= certain);
        }
        suspects
    }

    fn suspect(&self, param: usize, end: RangeEnd) -> Option<Suspect> {
        let played = self.played(param, end);
        let beyond = || self.failed.iter().map(|values| values[param]).filter(|value| end.is_beyond(*value, played));
        let failures = beyond().count();
        let nearest = beyond().reduce(|one, other| if end.is_beyond(one, other) { other } else { one })?;
        (failures >= LEAST_FAILURES).then_some(Suspect { param, end, failures, nearest })
    }

    /// Farthest value of a parameter that played.
    fn played(&self, param: usize, end: RangeEnd) -> f64 {
        match end {
            RangeEnd::Min => self.lowest[param],
            RangeEnd::Max => self.highest[param],
        }
    }

    fn new_end(&self, space: &Space, param: usize, end: RangeEnd, nearest: f64) -> f64 {
        let played = self.played(param, end);
        let middle = f64::midpoint(played, nearest);
        match end {
            _ if !space.params()[param].kind.is_whole() => middle,
            RangeEnd::Max => middle.floor(),
            RangeEnd::Min => middle.ceil(),
        }
    }
}

#[cfg(test)]
mod tests;
