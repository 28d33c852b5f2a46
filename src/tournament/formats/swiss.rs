//! The Swiss system, after FIDE's Dutch system (FIDE Handbook C.04.3).
//!
//! Before each round the players are ranked by points, equal ones in the order of the plan, and
//! paired from the top. An opponent is one not met before, if possible of equal points, and of
//! these first from the other half. Colours need no rule, because every encounter is played with
//! both. With an odd number of players the lowest without a bye so far has one, worth a won
//! encounter. Rematches come only if they cannot be avoided.

use std::collections::BTreeSet;

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

/// Step limit of the search for a round without rematches. Past it, or if no such round exists,
/// rematches are allowed.
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
    met: BTreeSet<Encounter>,
    byes: BTreeSet<PlayerId>,
}

impl SwissTable {
    fn new(players: u16) -> Self {
        Self { points: vec![0; usize::from(players)], met: BTreeSet::new(), byes: BTreeSet::new() }
    }

    fn points(&self, player: PlayerId) -> u64 {
        self.points.get(usize::from(player.0)).copied().unwrap_or(0)
    }

    /// The next round and the player who has a bye in it.
    fn pair(&self) -> (Vec<Encounter>, Option<PlayerId>) {
        let mut ranked: Vec<PlayerId> = (0..self.points.len() as u16).map(PlayerId).collect();
        ranked.sort_by_key(|player| (std::cmp::Reverse(self.points(*player)), *player));
        let bye = if ranked.len() % 2 == 1 {
            let lowest = ranked.iter().rposition(|player| !self.byes.contains(player)).unwrap_or(ranked.len() - 1);
            Some(ranked.remove(lowest))
        } else {
            None
        };
        let mut round = Vec::new();
        let mut steps = 0;
        if !self.search(&ranked, &mut round, &mut steps) {
            round.clear();
            self.settle(&ranked, &mut round);
        }
        (round, bye)
    }

    /// Pairs all of `left` without a rematch. Returns false if it finds no way.
    fn search(&self, left: &[PlayerId], round: &mut Vec<Encounter>, steps: &mut u32) -> bool {
        let Some((&first, _)) = left.split_first() else { return true };
        for opponent in self.candidates(left) {
            *steps += 1;
            if *steps > MAX_STEPS {
                return false;
            }
            if self.met.contains(&in_order((first, opponent))) {
                continue;
            }
            round.push((first, opponent));
            if self.search(&without(left, first, opponent), round, steps) {
                return true;
            }
            round.pop();
        }
        false
    }

    /// Pairs all of `left`, with a rematch if a player has met all candidates.
    fn settle(&self, left: &[PlayerId], round: &mut Vec<Encounter>) {
        let mut left = left.to_vec();
        while let Some((&first, _)) = left.split_first() {
            let candidates = self.candidates(&left);
            let fresh = candidates.iter().find(|other| !self.met.contains(&in_order((first, **other))));
            let Some(&opponent) = fresh.or(candidates.first()) else { return };
            round.push((first, opponent));
            left = without(&left, first, opponent);
        }
    }

    /// Opponents of the first of `left`, the best first: of equal points from the middle down, then
    /// the upper half of these, then players with fewer points.
    fn candidates(&self, left: &[PlayerId]) -> Vec<PlayerId> {
        let Some((&first, others)) = left.split_first() else { return Vec::new() };
        let equal = others.iter().take_while(|other| self.points(**other) == self.points(first)).count();
        let (group, lower) = others.split_at(equal);
        let (upper_half, lower_half) = group.split_at(equal / 2);
        [lower_half, upper_half, lower].concat()
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
        self.met.extend(round.iter().map(|encounter| in_order(*encounter)));
        if let Some(player) = bye {
            self.byes.insert(player);
            if let Some(sum) = self.points.get_mut(usize::from(player.0)) {
                *sum += 4 * pairs;
            }
        }
    }
}

fn without(left: &[PlayerId], first: PlayerId, second: PlayerId) -> Vec<PlayerId> {
    left.iter().copied().filter(|player| *player != first && *player != second).collect()
}
