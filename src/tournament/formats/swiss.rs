//! The Swiss system, after FIDE's Dutch system (FIDE Handbook C.04.3).
//!
//! Before each round the players are ranked by points, equal ones in the order of the plan, and
//! paired from the top. An opponent is one not met before, if possible of equal points, and of
//! these first from the other half. Colours need no rule, because every encounter is played with
//! both. With an odd number of players the lowest of those with the fewest byes so far has one,
//! worth a won encounter. Rematches come only if they cannot be avoided, and first between those
//! who have met least often.

use std::collections::BTreeMap;

use crate::record::PlayerId;
use crate::tournament::formats::{
    Definition, Encounter, Format, FormatError, FormatRules, PairResult, Pairs, Parameters, Stages, in_order, in_turn,
};

/// Entry in the table of formats.
pub static DEFINITION: Definition = Definition {
    takes: &["rounds"],
    choose: Some(choose),
    ends_with_rounds: true,
    ..Definition::new("swiss", "a Swiss", |parameters| Some(Format::new(Swiss { rounds: parameters.rounds? })))
};

/// Maximum number of rounds that a user may request.
const MAX_ROUNDS: u32 = 1_000;

/// Step limit of the search for a round whose players have met a number of times at most. Past it,
/// or if no such round exists, one meeting more is allowed.
const MAX_STEPS: u32 = 100_000;

/// A Swiss: in each round, players of about equal points meet who have not met before.
#[derive(Clone, Copy, Debug)]
pub struct Swiss {
    /// Number of rounds, from 1.
    pub rounds: u32,
}

fn choose(parameters: &Parameters, players: u16) -> Result<Format, FormatError> {
    // One round more than a knockout has: enough to find the best player.
    let usual = || players.max(1).ilog2() + 1 + u32::from(!players.is_power_of_two());
    let rounds = parameters.rounds.unwrap_or_else(usual);
    if rounds == 0 || rounds > MAX_ROUNDS {
        return Err(FormatError::Value(format!("--rounds {rounds}: 1 to {MAX_ROUNDS}")));
    }
    Ok(Format::new(Swiss { rounds }))
}

impl FormatRules for Swiss {
    fn definition(&self) -> &'static Definition {
        &DEFINITION
    }

    fn parameters(&self) -> Parameters {
        Parameters { rounds: Some(self.rounds), ..Parameters::default() }
    }

    fn encounters(&self, players: u16) -> u64 {
        u64::from(self.rounds) * u64::from(players / 2)
    }

    fn pairs(&self, players: u16, pairs: Option<u64>) -> Pairs {
        Pairs::Stages(Box::new(SwissRounds { players, rounds: self.rounds, pairs: pairs.unwrap_or(1) }))
    }
}

/// Rounds of a Swiss, replayed from its results for each next one.
#[derive(Debug)]
struct SwissRounds {
    players: u16,
    rounds: u32,
    pairs: u64,
}

impl Stages for SwissRounds {
    fn next(&mut self, before: &[PairResult]) -> Vec<Encounter> {
        stage(self.players, self.rounds, self.pairs, before)
    }
}

/// Pairs of the next round; empty after the last round.
fn stage(players: u16, rounds: u32, pairs: u64, results: &[PairResult]) -> Vec<Encounter> {
    let mut table = SwissTable::new(players);
    let mut rest = results;
    for _ in 0..rounds {
        let (round, bye) = table.pair();
        if round.is_empty() {
            return Vec::new();
        }
        let stage = in_turn(&round, pairs);
        let Some((played, later)) = rest.split_at_checked(stage.len()) else { return stage };
        rest = later;
        table.record(&round, bye, pairs, played);
    }
    Vec::new()
}

/// Half points by player, byes included, after the whole rounds of `results`.
#[must_use]
pub fn points(players: u16, rounds: u32, pairs: u64, results: &[PairResult]) -> Vec<u64> {
    let mut table = SwissTable::new(players);
    let mut rest = results;
    for _ in 0..rounds {
        let (round, bye) = table.pair();
        let Some((played, later)) = rest.split_at_checked(in_turn(&round, pairs).len()) else { break };
        rest = later;
        table.record(&round, bye, pairs, played);
    }
    table.points
}

/// State that pairing depends on.
struct SwissTable {
    points: Vec<u64>,
    /// Number of meetings, by the two players in order.
    met: BTreeMap<Encounter, u64>,
    /// Number of byes.
    byes: BTreeMap<PlayerId, u64>,
}

impl SwissTable {
    fn new(players: u16) -> Self {
        Self { points: vec![0; usize::from(players)], met: BTreeMap::new(), byes: BTreeMap::new() }
    }

    fn points(&self, player: PlayerId) -> u64 {
        self.points.get(usize::from(player.0)).copied().unwrap_or(0)
    }

    fn meetings(&self, first: PlayerId, second: PlayerId) -> u64 {
        self.met.get(&in_order((first, second))).copied().unwrap_or(0)
    }

    fn byes(&self, player: PlayerId) -> u64 {
        self.byes.get(&player).copied().unwrap_or(0)
    }

    /// The next round and the player who has a bye in it.
    fn pair(&self) -> (Vec<Encounter>, Option<PlayerId>) {
        let mut ranked: Vec<PlayerId> = (0..self.points.len() as u16).map(PlayerId).collect();
        ranked.sort_by_key(|player| (std::cmp::Reverse(self.points(*player)), *player));
        let bye = if ranked.len() % 2 == 1 {
            let lowest = (0..ranked.len()).rev().min_by_key(|place| self.byes(ranked[*place]));
            lowest.map(|place| ranked.remove(place))
        } else {
            None
        };
        let mut limit = self.least_limit(&ranked);
        // Ends: at the most meetings of any two players, everybody may meet everybody.
        loop {
            let (mut round, mut steps) = (Vec::new(), 0);
            if self.search(&ranked, limit, &mut round, &mut steps) {
                return (round, bye);
            }
            limit += 1;
        }
    }

    /// Number of meetings that leaves each player an opponent: below it there is no round.
    fn least_limit(&self, ranked: &[PlayerId]) -> u64 {
        let least = |player: &PlayerId| {
            let others = ranked.iter().filter(|other| *other != player);
            others.map(|other| self.meetings(*player, *other)).min()
        };
        ranked.iter().filter_map(least).max().unwrap_or(0)
    }

    /// Pairs all of `left` with players whom they have met `limit` times at most. Returns false if
    /// it finds no way.
    fn search(&self, left: &[PlayerId], limit: u64, round: &mut Vec<Encounter>, steps: &mut u32) -> bool {
        let Some((&first, _)) = left.split_first() else { return true };
        for opponent in self.candidates(left, limit) {
            *steps += 1;
            if *steps > MAX_STEPS {
                return false;
            }
            round.push((first, opponent));
            if self.search(&without(left, first, opponent), limit, round, steps) {
                return true;
            }
            round.pop();
        }
        false
    }

    /// Opponents of the first of `left` whom it has met `limit` times at most, the best first.
    /// Those not met before lead: of equal points from the middle down, then the upper half of
    /// these, then players with fewer points. The others follow, the least met first, and of
    /// equally many meetings the nearest in rank.
    fn candidates(&self, left: &[PlayerId], limit: u64) -> Vec<PlayerId> {
        let Some((&first, others)) = left.split_first() else { return Vec::new() };
        let equal = others.iter().take_while(|other| self.points(**other) == self.points(first)).count();
        let (group, lower) = others.split_at(equal);
        let (upper_half, lower_half) = group.split_at(equal / 2);
        let mut candidates = [lower_half, upper_half, lower].concat();
        candidates.retain(|other| self.meetings(first, *other) == 0);
        let mut again = others.to_vec();
        again.retain(|other| (1..=limit).contains(&self.meetings(first, *other)));
        again.sort_by_key(|other| self.meetings(first, *other));
        candidates.extend(again);
        candidates
    }

    fn record(&mut self, round: &[Encounter], bye: Option<PlayerId>, pairs: u64, played: &[PairResult]) {
        for result in played {
            let (first, second) = result.players;
            let all = 2 * u64::from(result.games);
            let theirs =
                [(first, u64::from(result.half_points)), (second, all - u64::from(result.half_points).min(all))];
            for (player, points) in theirs {
                if let Some(sum) = self.points.get_mut(usize::from(player.0)) {
                    *sum += points;
                }
            }
        }
        for encounter in round {
            *self.met.entry(in_order(*encounter)).or_default() += 1;
        }
        if let Some(player) = bye {
            *self.byes.entry(player).or_default() += 1;
            if let Some(sum) = self.points.get_mut(usize::from(player.0)) {
                *sum += 4 * pairs;
            }
        }
    }
}

fn without(left: &[PlayerId], first: PlayerId, second: PlayerId) -> Vec<PlayerId> {
    left.iter().copied().filter(|player| *player != first && *player != second).collect()
}
