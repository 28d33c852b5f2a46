//! Who meets whom, pair by pair: a pure function of the plan and of the pairs that count.
//!
//! Pairs are numbered as they are scheduled. In a round robin and a gauntlet the encounters take turns, so that at any moment all have
//! played about as many pairs, and the standings are of equal openings. A Swiss and a knockout go by stages: the pairs of a stage are
//! fixed when every pair before it counts, so a replayed journal gives the same stages.
//!
//! The nth pair of two players has the nth opening of the order, whoever they are: every encounter is played from the same openings.

pub mod knockout;
pub mod race;
pub mod swiss;

use std::collections::BTreeMap;

use crate::plan::{Format, Plan};
use crate::record::{PairId, PlayerId};

/// Two players who meet; of a pair, the one named first has White in its first game unless the plan reverses that.
pub type Encounter = (PlayerId, PlayerId);

/// A pair that counts, as far as pairing needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PairResult {
    /// Who met.
    pub players: Encounter,
    /// Half points of the player named first, of both games.
    pub half_points: u8,
    /// Games in it: 2, or 1 for half a pair.
    pub games: u8,
}

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
#[derive(Clone, Debug)]
pub struct Pairing {
    players: u16,
    kind: Kind,
    /// Pairs of each encounter.
    pairs: Option<u64>,
    /// The most of them that the book has openings for; `None` if openings may come again.
    fresh: Option<u64>,
    half_last: bool,
}

#[derive(Clone, Debug)]
enum Kind {
    /// Encounters that take turns.
    Turns(Vec<Encounter>),
    Stages {
        rule: Rule,
        given: Vec<Fixture>,
        met: BTreeMap<Encounter, u64>,
        /// Pairs given before the last stage.
        before_last: usize,
        is_over: bool,
    },
}

#[derive(Clone, Debug)]
enum Rule {
    Swiss { rounds: u32 },
    Knockout,
    Race(Box<race::Rounds>),
}

impl Pairing {
    /// The pairs of `plan`.
    #[must_use]
    pub fn new(plan: &Plan) -> Self {
        let players = u16::try_from(plan.players.len()).unwrap_or(u16::MAX);
        let stages =
            |rule| Kind::Stages { rule, given: Vec::new(), met: BTreeMap::new(), before_last: 0, is_over: false };
        let kind = match plan.format {
            Format::RoundRobin => Kind::Turns(encounters(players, players)),
            Format::Gauntlet { heroes } => Kind::Turns(encounters(heroes, players)),
            Format::Swiss { rounds } => stages(Rule::Swiss { rounds }),
            Format::Knockout => stages(Rule::Knockout),
            Format::Race(rule) => {
                stages(Rule::Race(Box::new(race::Rounds::new(players, rule, plan.max_pairs.unwrap_or(u64::MAX)))))
            }
        };
        let fresh = plan.ends_with_book().then(|| plan.fresh_pairs());
        Self { players, kind, pairs: plan.max_pairs, fresh, half_last: plan.half_last }
    }

    /// True where results decide who meets whom.
    #[must_use]
    pub const fn needs_results(&self) -> bool {
        matches!(self.kind, Kind::Stages { .. })
    }

    /// The first of the pairs that are one game, if any are.
    #[must_use]
    pub fn halves_from(&self) -> Option<PairId> {
        match &self.kind {
            Kind::Turns(encounters) if self.half_last => {
                Some(PairId(self.pairs?.saturating_sub(1).saturating_mul(encounters.len() as u64)))
            }
            _ => None,
        }
    }

    /// All pairs there will be; `None` where that is not known.
    #[must_use]
    pub fn total(&self) -> Option<u64> {
        let pairs = match (self.pairs, self.fresh) {
            (Some(pairs), Some(fresh)) => pairs.min(fresh),
            (one, other) => one.or(other)?,
        };
        let encounters = match &self.kind {
            Kind::Turns(encounters) => encounters.len() as u64,
            Kind::Stages { rule: Rule::Swiss { rounds }, .. } => u64::from(*rounds) * u64::from(self.players / 2),
            // And what ties need to be broken; and who is dropped when.
            Kind::Stages { rule: Rule::Knockout | Rule::Race(_), .. } => return None,
        };
        Some(pairs.saturating_mul(encounters))
    }

    /// What pair `id` is, given the pairs that count, in order. Ids are asked for in rising order, or again.
    pub fn next(&mut self, id: PairId, results: &[PairResult]) -> Next {
        match self.scheduled(id, results) {
            Next::Pair(fixture) if self.fresh.is_some_and(|fresh| fixture.nth >= fresh) => Next::OutOfOpenings,
            next => next,
        }
    }

    fn scheduled(&mut self, id: PairId, results: &[PairResult]) -> Next {
        let (pairs, half_last, players) = (self.pairs, self.half_last, self.players);
        let is_half = |nth: u64| half_last && pairs.is_some_and(|pairs| nth + 1 == pairs);
        match &mut self.kind {
            Kind::Turns(encounters) => {
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
            Kind::Stages { rule, given, met, before_last, is_over } => {
                let place = usize::try_from(id.0).unwrap_or(usize::MAX);
                while place >= given.len() {
                    // A race goes on while the last round is still being played.
                    let needed = if matches!(rule, Rule::Race(_)) { *before_last } else { given.len() };
                    let Some(before) = results.get(..needed) else { return Next::Wait };
                    if *is_over {
                        return Next::Done;
                    }
                    let stage = match rule {
                        Rule::Swiss { rounds } => swiss::stage(players, *rounds, pairs.unwrap_or(1), before),
                        Rule::Knockout => knockout::Bracket::replay(players, pairs.unwrap_or(1), before).stage,
                        Rule::Race(rounds) => rounds.stage(before),
                    };
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

/// The first `heroes` players against all that come after them.
fn encounters(heroes: u16, players: u16) -> Vec<Encounter> {
    let ids = |from: u16, to: u16| (from..to).map(PlayerId);
    if heroes >= players {
        return ids(0, players).flat_map(|a| ids(a.0 + 1, players).map(move |b| (a, b))).collect();
    }
    ids(0, heroes).flat_map(|a| ids(heroes, players).map(move |b| (a, b))).collect()
}

/// The same two, the lower number first.
#[must_use]
pub fn in_order((a, b): Encounter) -> Encounter {
    if a <= b { (a, b) } else { (b, a) }
}

/// Each encounter's pairs, one of each in turn.
fn in_turn(encounters: &[Encounter], pairs: u64) -> Vec<Encounter> {
    (0..pairs).flat_map(|_| encounters.iter().copied()).collect()
}

#[cfg(test)]
mod tests;
