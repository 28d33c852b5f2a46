//! Who meets whom, pair by pair: a pure function of the plan and of the pairs that count.
//!
//! Pairs are numbered as they are scheduled. In a round robin and a gauntlet the encounters take turns, so that at any moment all have
//! played about as many pairs, and the standings are of equal openings. A Swiss and a knockout go by stages: the pairs of a stage are
//! fixed when every pair before it counts, so a replayed journal gives the same stages.
//!
//! The nth pair of two players has the nth opening of the order, whoever they are: every encounter is played from the same openings.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use crate::plan::Plan;
use crate::record::PairId;
use crate::tournament::formats::{Encounter, Format, PairOptions, PairResult, Pairs, Stages, in_order};

/// A pair to be played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fixture {
    /// Who meet.
    pub players: Encounter,
    /// How many pairs these two have been given before, from 0.
    pub nth: u64,
    /// True for the last pair of an encounter where that is one game.
    pub is_half: bool,
}

/// What is known of a pair's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// It is this one.
    Pair(Fixture),
    /// Results of pairs before it decide.
    Wait,
    /// There is none: everything is scheduled.
    Done,
    /// There is none: its players have met from every opening of the book.
    OutOfOpenings,
}

/// The pairs of a plan.
#[derive(Debug)]
pub struct Pairing {
    order: Order,
    /// Encounters that there will be; `None` if results decide it.
    encounters: Option<u64>,
    /// Pairs of each encounter.
    pairs: Option<u64>,
    /// The most of them that the book has openings for; `None` if openings may come again.
    fresh: Option<u64>,
    half_last: bool,
}

#[derive(Debug)]
enum Order {
    /// Encounters that take turns.
    Turns(Vec<Encounter>),
    Stages {
        stages: Box<dyn Stages>,
        given: Vec<Fixture>,
        /// Options of the pairs given last.
        options: VecDeque<Arc<PairOptions>>,
        met: BTreeMap<Encounter, u64>,
        /// Pairs given before the last stage.
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

    /// The pairs of a format, from openings without an end.
    fn of(format: &Format, players: u16, pairs: Option<u64>) -> Self {
        let order = match format.pairs(players, pairs) {
            Pairs::Turns(encounters) => Order::Turns(encounters),
            Pairs::Stages(stages) => {
                let (given, options, met) = (Vec::new(), VecDeque::new(), BTreeMap::new());
                Order::Stages { stages, given, options, met, before_last: 0, is_over: false }
            }
        };
        let encounters = (!format.definition().is_open).then(|| format.encounters(players));
        Self { order, encounters, pairs, fresh: None, half_last: false }
    }

    /// True if results decide which players meet.
    #[must_use]
    pub const fn needs_results(&self) -> bool {
        matches!(self.order, Order::Stages { .. })
    }

    /// The first of the pairs that are one game, if any are.
    #[must_use]
    pub fn halves_from(&self) -> Option<PairId> {
        match &self.order {
            Order::Turns(encounters) if self.half_last => {
                Some(PairId(self.pairs?.saturating_sub(1).saturating_mul(encounters.len() as u64)))
            }
            _ => None,
        }
    }

    /// All pairs there will be; `None` if that is not known.
    #[must_use]
    pub fn total(&self) -> Option<u64> {
        let pairs = match (self.pairs, self.fresh) {
            (Some(pairs), Some(fresh)) => pairs.min(fresh),
            (one, other) => one.or(other)?,
        };
        Some(pairs.saturating_mul(self.encounters?))
    }

    /// What pair `id` is, given the pairs that count, in order. Ids are asked for in rising order, or again.
    pub fn next(&mut self, id: PairId, results: &[PairResult]) -> Next {
        match self.scheduled(id, results) {
            Next::Pair(fixture) if self.fresh.is_some_and(|fresh| fixture.nth >= fresh) => Next::OutOfOpenings,
            next => next,
        }
    }

    /// Options of pair `id`'s own, if it has some; it is of the last two stages that were asked for.
    #[must_use]
    pub fn options(&self, id: PairId) -> Option<Arc<PairOptions>> {
        let Order::Stages { given, options, .. } = &self.order else { return None };
        let first = (given.len() as u64).checked_sub(options.len() as u64)?;
        options.get(usize::try_from(id.0.checked_sub(first)?).ok()?).cloned()
    }

    fn scheduled(&mut self, id: PairId, results: &[PairResult]) -> Next {
        let (pairs, half_last) = (self.pairs, self.half_last);
        let is_half = |nth: u64| half_last && pairs.is_some_and(|pairs| nth + 1 == pairs);
        match &mut self.order {
            Order::Turns(encounters) => {
                let among = encounters.len() as u64;
                let Some(turn) = id.0.checked_rem(among) else { return Next::Done };
                let nth = id.0 / among;
                if pairs.is_some_and(|pairs| nth >= pairs) {
                    return Next::Done;
                }
                // Below `among`, which came from a length.
                let players = encounters[usize::try_from(turn).unwrap_or(0)];
                Next::Pair(Fixture { players, nth, is_half: is_half(nth) })
            }
            Order::Stages { stages, given, options, met, before_last, is_over } => {
                let place = usize::try_from(id.0).unwrap_or(usize::MAX);
                while place >= given.len() {
                    let needed = if stages.looks_ahead() { *before_last } else { given.len() };
                    let Some(before) = results.get(..needed) else { return Next::Wait };
                    if *is_over {
                        return Next::Done;
                    }
                    let stage = stages.next(before);
                    // Those of the stage before are still to be asked for, and no older ones.
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
                Next::Pair(given[place])
            }
        }
    }
}

#[cfg(test)]
mod tests;
