//! The Swiss system, after FIDE's Dutch system (FIDE Handbook C.04.3).
//!
//! Before each round the players are ranked by points, equal ones in the order of the plan, and
//! paired from the top. An opponent is one not met before, if possible of equal points, and of
//! these first from the other half. Colours need no rule, because every encounter is played with
//! both. With an odd number of players the lowest of those with the fewest byes so far has one,
//! worth a won encounter. Rematches come only if they cannot be avoided, and first between those
//! who have met least often.

mod matching;

use std::collections::{BTreeMap, BTreeSet};

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

    fn byes(&self, players: u16, pairs: Option<u64>, results: &[PairResult]) -> Option<Vec<u64>> {
        let pairs = pairs.unwrap_or(1);
        let table = SwissTable::after(players, self.rounds, pairs, results);
        Some((0..players).map(|player| table.byes(PlayerId(player)) * points_of_bye(pairs)).collect())
    }
}

/// Rounds of a Swiss, each paired by the results before it.
#[derive(Debug)]
struct SwissRounds {
    players: u16,
    rounds: u32,
    pairs: u64,
}

impl Stages for SwissRounds {
    fn next(&mut self, before: &[PairResult]) -> Vec<Encounter> {
        let table = SwissTable::after(self.players, self.rounds, self.pairs, before);
        if table.rounds < self.rounds { in_turn(&table.pair(), self.pairs) } else { Vec::new() }
    }
}

/// Half points for a bye: those of an encounter of `pairs` pairs that was won throughout.
const fn points_of_bye(pairs: u64) -> u64 {
    4 * pairs
}

/// State that pairing depends on.
struct SwissTable {
    /// Number of whole rounds.
    rounds: u32,
    points: Vec<u64>,
    /// Number of meetings, by the two players in order.
    met: BTreeMap<Encounter, u64>,
    /// Number of byes.
    byes: BTreeMap<PlayerId, u64>,
}

impl SwissTable {
    fn new(players: u16) -> Self {
        Self { rounds: 0, points: vec![0; usize::from(players)], met: BTreeMap::new(), byes: BTreeMap::new() }
    }

    /// State after the whole rounds of `results`, `rounds` of them at most.
    fn after(players: u16, rounds: u32, pairs: u64, results: &[PairResult]) -> Self {
        let mut table = Self::new(players);
        let round = usize::try_from(pairs).unwrap_or(usize::MAX).saturating_mul(usize::from(players / 2));
        results.chunks_exact(round.max(1)).take(rounds as usize).for_each(|played| table.record(pairs, played));
        table
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

    /// The next round. Of an odd number of players the one left out has a bye.
    fn pair(&self) -> Vec<Encounter> {
        let mut ranked: Vec<PlayerId> = (0..self.points.len() as u16).map(PlayerId).collect();
        ranked.sort_by_key(|player| (std::cmp::Reverse(self.points(*player)), *player));
        if ranked.len() % 2 == 1 {
            let lowest = (0..ranked.len()).rev().min_by_key(|place| self.byes(ranked[*place]));
            lowest.map(|place| ranked.remove(place));
        }
        // Ends: at the most meetings of any two players, everybody may meet everybody.
        let mut limits = self.least_limit(&ranked)..;
        limits.find_map(|limit| self.pair_within(&ranked, limit)).unwrap_or_default()
    }

    /// Pairs all of `left` with players whom they have met `limit` times at most; `None` if there
    /// is no way. Each pair leaves a round of the others, so none is taken back.
    fn pair_within(&self, left: &[PlayerId], limit: u64) -> Option<Vec<Encounter>> {
        let has_round = |left: &[PlayerId]| {
            matching::is_perfect(left.len(), |one, other| self.meetings(left[one], left[other]) <= limit)
        };
        let (mut left, mut round) = (left.to_vec(), Vec::new());
        if !has_round(&left) {
            return None;
        }
        while let Some(&first) = left.first() {
            let rest = |opponent: PlayerId| without(&left, first, opponent);
            let found = self.candidates(&left, limit).into_iter().find(|opponent| has_round(&rest(*opponent)))?;
            round.push((first, found));
            left = rest(found);
        }
        Some(round)
    }

    /// Number of meetings that leaves each player an opponent: below it there is no round.
    fn least_limit(&self, ranked: &[PlayerId]) -> u64 {
        let least = |player: &PlayerId| {
            let others = ranked.iter().filter(|other| *other != player);
            others.map(|other| self.meetings(*player, *other)).min()
        };
        ranked.iter().filter_map(least).max().unwrap_or(0)
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

    /// Records a round by its results. Of an odd number of players the one without any had a bye.
    fn record(&mut self, pairs: u64, played: &[PairResult]) {
        self.rounds += 1;
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
        let round: BTreeSet<Encounter> = played.iter().map(|result| in_order(result.players)).collect();
        let is_in = |player: PlayerId| round.iter().any(|(first, second)| [*first, *second].contains(&player));
        let bye = (0..self.points.len() as u16).map(PlayerId).find(|player| !is_in(*player));
        for encounter in round {
            *self.met.entry(encounter).or_default() += 1;
        }
        if let Some(player) = bye {
            *self.byes.entry(player).or_default() += 1;
            if let Some(sum) = self.points.get_mut(usize::from(player.0)) {
                *sum += points_of_bye(pairs);
            }
        }
    }
}

fn without(left: &[PlayerId], first: PlayerId, second: PlayerId) -> Vec<PlayerId> {
    left.iter().copied().filter(|player| *player != first && *player != second).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::random::SplitMix64;

    /// Step limit of the search that the rounds are compared with.
    const MAX_STEPS: u32 = 2_000;

    impl SwissTable {
        /// Pairs all of `left` with players whom they have met `limit` times at most. Returns
        /// false if it finds no way.
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
    }

    /// Plays rounds that stronger players, of lower numbers, win with a probability of three
    /// quarters, and passes each to `check` before it counts.
    fn play(players: u16, rounds: u32, mut check: impl FnMut(&SwissTable, &[Encounter])) {
        let (mut table, mut random) = (SwissTable::new(players), SplitMix64::new(u64::from(players)));
        for _ in 0..rounds {
            let round = table.pair();
            check(&table, &round);
            let played = round.iter().map(|&(first, second)| {
                let is_won = (first < second) != (random.below(4) == 0);
                let half_points = if is_won { 4 } else { 0 };
                PairResult { players: (first, second), half_points, games: 2, failed: [false; 2] }
            });
            table.record(1, &played.collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_foreseen_round_is_the_one_that_a_search_finds() {
        let mut pairable = 0;
        for players in [2, 5, 8, 10] {
            play(players, 24, |table, _| {
                let ranked: Vec<PlayerId> = (0..players & !1).map(PlayerId).collect();
                for limit in 0..3 {
                    let (mut round, mut steps) = (Vec::new(), 0);
                    let is_found = table.search(&ranked, limit, &mut round, &mut steps);
                    assert!(steps <= MAX_STEPS, "the search is exhaustive");
                    assert_eq!(table.pair_within(&ranked, limit), is_found.then_some(round), "{players} {limit}");
                    pairable += u32::from(is_found);
                }
            });
        }
        assert!(pairable > 20, "{pairable}");
    }

    #[test]
    fn rematches_come_only_if_they_cannot_be_avoided() {
        let mut hard = 0;
        play(50, 30, |table, round| {
            let mut ranked: Vec<PlayerId> = (0..50).map(PlayerId).collect();
            ranked.sort_by_key(|player| (std::cmp::Reverse(table.points(*player)), *player));
            let (mut found, mut steps) = (Vec::new(), 0);
            hard += u32::from(!table.search(&ranked, 0, &mut found, &mut steps));
            let rematches = round.iter().filter(|(first, second)| table.meetings(*first, *second) > 0).count();
            assert_eq!(rematches > 0, table.pair_within(&ranked, 0).is_none(), "{rematches}");
        });
        assert!(hard > 0, "no round was hard to find");
    }
}
