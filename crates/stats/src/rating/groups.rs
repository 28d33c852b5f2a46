//! Groups of comparable players: ratings are finite only among players of whom no part made every
//! point against the rest.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::{Anchor, BOUND_PROBABILITY, EncounterCounts, RatingKind};

/// Players joined by points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Group {
    /// Players with exact ratings: points lead from each of them to each other.
    pub(super) exact: Vec<usize>,
    /// Parts that made every point against the exact ones or against such a part, the nearest
    /// first. The players of one part are joined among themselves.
    pub(super) above: Vec<Vec<usize>>,
    /// The same for parts that made no point.
    pub(super) below: Vec<Vec<usize>>,
}

impl Group {
    /// Every part, the exact one first.
    pub(super) fn parts(&self) -> impl Iterator<Item = &Vec<usize>> {
        std::iter::once(&self.exact).chain(&self.above).chain(&self.below)
    }
}

/// The number of each player's part, counted through the groups.
pub(super) fn part_of(players: usize, groups: &[Group]) -> Vec<usize> {
    let mut of = vec![0; players];
    for (number, part) in groups.iter().flat_map(Group::parts).enumerate() {
        part.iter().for_each(|&player| of[player] = number);
    }
    of
}

/// Divides the players into groups: the one with anchors first, then by players and by games
/// played. Anchors count as joined, because their distances are known.
pub(super) fn groups(players: usize, encounters: &[EncounterCounts], anchors: &[Anchor]) -> Vec<Group> {
    let mut took = vec![Vec::new(); players];
    let mut gave = vec![Vec::new(); players];
    let mut joined = |winner: usize, loser: usize| {
        took[winner].push(loser);
        gave[loser].push(winner);
    };
    let mut games = vec![0u64; players];
    for met in encounters {
        if scored(met) {
            joined(met.a, met.b);
        }
        if scored(&met.reversed()) {
            joined(met.b, met.a);
        }
        for player in [met.a, met.b] {
            games[player] = games[player].saturating_add(met.games());
        }
    }
    for both in anchors.windows(2) {
        joined(both[0].player, both[1].player);
        joined(both[1].player, both[0].player);
    }
    let parts = strong_parts(&took, &gave);
    let mut part_of = vec![0; players];
    for (number, part) in parts.iter().enumerate() {
        part.iter().for_each(|&player| part_of[player] = number);
    }
    let weight = |part: &Vec<usize>| {
        let anchored = anchors.iter().any(|anchor| part.contains(&anchor.player));
        let games = part.iter().fold(0u64, |sum, &player| sum.saturating_add(games[player]));
        (Reverse((anchored, part.len(), games)), part.first().copied())
    };
    // The anchored part first, then the largest: each takes those above and below with it.
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by_cached_key(|&number| weight(&parts[number]));
    let mut taken = vec![false; parts.len()];
    let mut groups = Vec::new();
    for number in order {
        if taken[number] {
            continue;
        }
        let reached = |edges: &[Vec<usize>]| reachable(number, &parts, &part_of, edges, &taken);
        let (mut above, below) = (reached(&gave), reached(&took));
        // Parts are numbered downwards, so that the nearest above are the last.
        above.reverse();
        above.iter().chain(&below).chain([&number]).for_each(|&part| taken[part] = true);
        let members = |numbers: Vec<usize>| numbers.into_iter().map(|part| parts[part].clone()).collect();
        groups.push(Group { exact: parts[number].clone(), above: members(above), below: members(below) });
    }
    groups
}

/// Returns true if `a` made any point.
fn scored(met: &EncounterCounts) -> bool {
    met.pentanomial().0[1..].iter().any(|count| *count > 0)
        || [met.white, met.black].iter().any(|games| games.wins > 0 || games.draws > 0)
}

/// The strongly connected parts, numbered so that points go only from lower to higher numbers
/// (Kosaraju's algorithm).
fn strong_parts(took: &[Vec<usize>], gave: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut seen = vec![false; took.len()];
    let mut finished = Vec::new();
    for start in 0..took.len() {
        // An explicit stack: a chain of thousands of players must not overflow the program's.
        let mut stack = Vec::new();
        if !std::mem::replace(&mut seen[start], true) {
            stack.push((start, 0));
        }
        while let Some((player, next)) = stack.pop() {
            if let Some(&other) = took[player].get(next) {
                stack.push((player, next + 1));
                if !std::mem::replace(&mut seen[other], true) {
                    stack.push((other, 0));
                }
            } else {
                finished.push(player);
            }
        }
    }
    let mut parts = Vec::new();
    let mut placed = vec![false; took.len()];
    for &start in finished.iter().rev() {
        let mut part = Vec::new();
        let mut stack = vec![start];
        while let Some(player) = stack.pop() {
            if !std::mem::replace(&mut placed[player], true) {
                part.push(player);
                stack.extend(gave[player].iter().filter(|&&other| !placed[other]));
            }
        }
        if !part.is_empty() {
            part.sort_unstable();
            parts.push(part);
        }
    }
    parts
}

/// Parts that `edges` lead to from part `from`, itself excluded, in rising order; those taken are
/// not entered.
fn reachable(from: usize, parts: &[Vec<usize>], part_of: &[usize], edges: &[Vec<usize>], taken: &[bool]) -> Vec<usize> {
    let mut seen = taken.to_vec();
    seen[from] = true;
    let mut found = Vec::new();
    let mut stack = vec![from];
    while let Some(part) = stack.pop() {
        for &next in parts[part].iter().flat_map(|&player| &edges[player]) {
            let next = part_of[next];
            if !std::mem::replace(&mut seen[next], true) {
                found.push(next);
                stack.push(next);
            }
        }
    }
    found.sort_unstable();
    found
}

/// Shift (natural units) of the ratings `theta` of a part that won, or lost, everything against the
/// players in `near`, which has their ratings. After the shift this result has the probability
/// [`BOUND_PROBABILITY`]. A pair counts as one game.
pub(super) fn bound(
    part: &[usize],
    theta: &[f64],
    near: &BTreeMap<usize, f64>,
    encounters: &[EncounterCounts],
    bound: RatingKind,
) -> f64 {
    let sign = if bound == RatingKind::AtMost { -1.0 } else { 1.0 };
    // The lead of the winner over the opponent before the shift, and the number of wins.
    let mut wins: Vec<(f64, f64)> = Vec::new();
    for met in encounters {
        for (own, other) in [(met.a, met.b), (met.b, met.a)] {
            let (true, Some(rating)) = (part.binary_search(&own).is_ok(), near.get(&other)) else { continue };
            let units = met.pentanomial().pairs() as f64 + met.white.games() as f64 + met.black.games() as f64;
            wins.push((sign * (theta[own] - rating), units));
        }
    }
    let surprise = |shift: f64| wins.iter().map(|(lead, units)| units * softplus(-lead - shift)).sum::<f64>();
    let nearest = wins.iter().map(|(lead, _)| -lead).fold(0.0, f64::max);
    let farthest = wins.iter().map(|(lead, _)| -lead).fold(0.0, f64::min);
    // At the low end one game alone is too improbable, at the high end all games together are not.
    let (mut low, mut high) = (farthest - 10.0, nearest + 60.0);
    for _ in 0..80 {
        let middle = f64::midpoint(low, high);
        if surprise(middle) > -BOUND_PROBABILITY.ln() {
            low = middle;
        } else {
            high = middle;
        }
    }
    sign * f64::midpoint(low, high)
}

/// Opponents of the players of a part in other parts and in this one; some may come more than once.
pub(super) fn opponents<'a>(
    part: &'a [usize],
    encounters: &'a [EncounterCounts],
) -> impl Iterator<Item = usize> + use<'a> {
    let sides = encounters.iter().flat_map(|met| [(met.a, met.b), (met.b, met.a)]);
    sides.filter(|(own, _)| part.binary_search(own).is_ok()).map(|(_, other)| other)
}

/// ln(1 + e^x).
pub(super) fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;
    use quintain_record::Color;

    /// The exact part, those above, those below.
    type Expected<'a> = (&'a [usize], &'a [&'a [usize]], &'a [&'a [usize]]);

    /// `a>b` a win, `a=b` a draw.
    fn check(players: usize, games: &str, anchors: &[usize], expected: &[Expected<'_>]) {
        let encounters: Vec<EncounterCounts> = games
            .split_whitespace()
            .map(|game| {
                let (result, [a, b]) = match game.split_once('>') {
                    Some((a, b)) => (2, [a, b]),
                    None => (1, game.split_once('=').map(|(a, b)| [a, b]).expect("a game")),
                };
                let mut met = EncounterCounts::new(a.parse().expect("a player"), b.parse().expect("a player"));
                met.record_game(Color::White, result);
                met
            })
            .collect();
        let anchors: Vec<Anchor> = anchors.iter().map(|&player| Anchor { player, elo: 0.0, error95: 0.0 }).collect();
        let own = |parts: &[&[usize]]| parts.iter().map(|part| part.to_vec()).collect();
        let expected: Vec<Group> = expected
            .iter()
            .map(|(exact, above, below)| Group { exact: exact.to_vec(), above: own(above), below: own(below) })
            .collect();
        assert_eq!(groups(players, &encounters, &anchors), expected, "{games}");
    }

    #[test]
    fn players_are_parted_by_the_points_between_them() {
        check(0, "", &[], &[]);
        check(2, "", &[], &[(&[0], &[], &[]), (&[1], &[], &[])]);
        check(2, "", &[1, 0], &[(&[0, 1], &[], &[])]);
        check(2, "0=1", &[], &[(&[0, 1], &[], &[])]);
        check(3, "0>1 1>2 2>0", &[], &[(&[0, 1, 2], &[], &[])]);
        // One who won everything, one who lost everything.
        check(4, "0>1 0>2 1=2 1>3", &[], &[(&[1, 2], &[&[0]], &[&[3]])]);
        // A chain, the nearest first; two islands.
        check(5, "4>3 3>2 2=1 1>0", &[], &[(&[1, 2], &[&[3], &[4]], &[&[0]])]);
        check(5, "0=1 1=2 3=4", &[], &[(&[0, 1, 2], &[], &[]), (&[3, 4], &[], &[])]);
        // Both beat the same player, and nothing joins them.
        check(4, "0=1 0>2 3>2", &[], &[(&[0, 1], &[], &[&[2]]), (&[3], &[], &[])]);
        // The anchor decides what is exact, and joins what games do not.
        check(4, "0>1 1=2 2=3", &[0], &[(&[0], &[], &[&[1, 2, 3]])]);
        check(4, "0=1 2=3", &[1, 2], &[(&[0, 1, 2, 3], &[], &[])]);
    }
}
