//! Order of the pairs: a pure function of the plan and of the pairs that count.
//!
//! Pairs are numbered as they are scheduled. In a round robin and a gauntlet the encounters take
//! turns. At any moment all of them have played about the same number of pairs, and the standings
//! rest on the same openings. A Swiss and a knockout go by stages. The pairs of a stage are fixed
//! when every pair before it counts, so a replayed journal gives the same stages.
//!
//! The nth pair of any two players has the nth opening of the order, so every encounter is played
//! from the same openings.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use crate::plan::Plan;
use crate::record::PairId;
use crate::tournament::formats::{Encounter, Format, PairOptions, PairResult, Pairs, Stages, in_order};

/// A pair to be played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fixture {
    /// The two players.
    pub players: Encounter,
    /// Number of pairs that these two were given before.
    pub nth: u64,
    /// True for the last pair of an encounter if that is one game.
    pub is_half: bool,
}

/// Schedule entry of a pair's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScheduleEntry {
    /// The pair.
    Pair(Fixture),
    /// Undecided until pairs before it have results.
    Wait,
    /// No pair: everything is scheduled.
    Done,
    /// No pair: its players have met from every opening of the book.
    OutOfOpenings,
}

/// The pairs of a plan.
#[derive(Debug)]
pub struct Pairing {
    order: EncounterOrder,
    /// Number of encounters; `None` if results decide it.
    encounters: Option<u64>,
    /// Pairs of each encounter; `None` without a limit.
    pairs: Option<u64>,
    /// Pairs of an encounter for which the book has openings; `None` if openings may come again.
    fresh: Option<u64>,
    half_last: bool,
}

#[derive(Debug)]
enum EncounterOrder {
    /// Encounters that take turns.
    Turns(Vec<Encounter>),
    Stages {
        stages: Box<dyn Stages>,
        given: Vec<Fixture>,
        /// Options of the pairs of the last two stages.
        options: VecDeque<Arc<PairOptions>>,
        met: BTreeMap<Encounter, u64>,
        /// Number of pairs given before the last stage.
        before_last: usize,
        is_over: bool,
    },
}

impl Pairing {
    /// The pairs of `plan`.
    #[must_use]
    pub fn new(plan: &Plan) -> Self {
        let players = u16::try_from(plan.players.len()).unwrap_or(u16::MAX);
        let fresh = plan.ends_with_book().then(|| plan.fresh_pairs());
        Self { fresh, half_last: plan.half_last, ..Self::of(&plan.format, players, plan.max_pairs) }
    }

    /// Pairs of a format, without a limit on openings.
    fn of(format: &Format, players: u16, pairs: Option<u64>) -> Self {
        let order = match format.pairs(players, pairs) {
            Pairs::Turns(encounters) => EncounterOrder::Turns(encounters),
            Pairs::Stages(stages) => {
                let (given, options, met) = (Vec::new(), VecDeque::new(), BTreeMap::new());
                EncounterOrder::Stages { stages, given, options, met, before_last: 0, is_over: false }
            }
        };
        let encounters = (!format.definition().is_open).then(|| format.encounters(players));
        Self { order, encounters, pairs, fresh: None, half_last: false }
    }

    /// True if results decide which players meet.
    #[must_use]
    pub const fn needs_results(&self) -> bool {
        matches!(self.order, EncounterOrder::Stages { .. })
    }

    /// Number of the first pair that is a single game, if the plan has such pairs.
    #[must_use]
    pub fn halves_from(&self) -> Option<PairId> {
        match &self.order {
            EncounterOrder::Turns(encounters) if self.half_last => {
                Some(PairId(self.pairs?.saturating_sub(1).saturating_mul(encounters.len() as u64)))
            }
            _ => None,
        }
    }

    /// Number of encounters; `None` if results decide it.
    #[must_use]
    pub const fn encounters(&self) -> Option<u64> {
        self.encounters
    }

    /// Total number of pairs; `None` if it is not known.
    #[must_use]
    pub fn total(&self) -> Option<u64> {
        let pairs = match (self.pairs, self.fresh) {
            (Some(pairs), Some(fresh)) => pairs.min(fresh),
            (one, other) => one.or(other)?,
        };
        Some(pairs.saturating_mul(self.encounters?))
    }

    /// Schedule entry of pair `id`, given the results of the counted pairs in order. A caller asks
    /// for ids in rising order, or for one again.
    pub fn next(&mut self, id: PairId, results: &[PairResult]) -> ScheduleEntry {
        match self.scheduled(id, results) {
            ScheduleEntry::Pair(fixture) if self.fresh.is_some_and(|fresh| fixture.nth >= fresh) => {
                ScheduleEntry::OutOfOpenings
            }
            next => next,
        }
    }

    /// Engine options of pair `id` alone, if it has some and is in one of the last two stages.
    #[must_use]
    pub fn options(&self, id: PairId) -> Option<Arc<PairOptions>> {
        let EncounterOrder::Stages { given, options, .. } = &self.order else { return None };
        let first = (given.len() as u64).checked_sub(options.len() as u64)?;
        options.get(usize::try_from(id.0.checked_sub(first)?).ok()?).cloned()
    }

    fn scheduled(&mut self, id: PairId, results: &[PairResult]) -> ScheduleEntry {
        let (pairs, half_last) = (self.pairs, self.half_last);
        let is_half = |nth: u64| half_last && pairs.is_some_and(|pairs| nth + 1 == pairs);
        match &mut self.order {
            EncounterOrder::Turns(encounters) => {
                let among = encounters.len() as u64;
                let Some(turn) = id.0.checked_rem(among) else { return ScheduleEntry::Done };
                let nth = id.0 / among;
                if pairs.is_some_and(|pairs| nth >= pairs) {
                    return ScheduleEntry::Done;
                }
                // Fits, because it is below `among`, which is a length.
                let players = encounters[usize::try_from(turn).unwrap_or(0)];
                ScheduleEntry::Pair(Fixture { players, nth, is_half: is_half(nth) })
            }
            EncounterOrder::Stages { stages, given, options, met, before_last, is_over } => {
                let place = usize::try_from(id.0).unwrap_or(usize::MAX);
                while place >= given.len() {
                    let needed = if stages.looks_ahead() { *before_last } else { given.len() };
                    let Some(before) = results.get(..needed) else { return ScheduleEntry::Wait };
                    if *is_over {
                        return ScheduleEntry::Done;
                    }
                    let stage = stages.next(before);
                    // Keeps the options of the stage before, whose pairs are still asked for, and
                    // no older ones.
                    options.drain(..options.len().saturating_sub(given.len() - *before_last));
                    options.extend(stages.options().into_iter().map(Arc::new));
                    *before_last = given.len();
                    *is_over = stage.is_empty();
                    for players in stage {
                        let nth = met.entry(in_order(players)).or_default();
                        given.push(Fixture { players, nth: *nth, is_half: false });
                        *nth += 1;
                    }
                }
                ScheduleEntry::Pair(given[place])
            }
        }
    }
}

#[cfg(test)]
mod tests;
