//! Use of limits in nodes and plies, as players report it.
//!
//! An engine that ignores `go nodes` wins by its extra nodes, and no game shows it. Its own reports
//! do. A rough count is not a fault. An engine that checks its counter every 1,024 or 2,048 nodes
//! exceeds a limit by that much at most, and the mean of its reports shows it.

use crate::game::stall;
use crate::plan::Plan;
use crate::plan::time_control::Limit;
use crate::record::GameRecord;

/// Minimum number of searches by which a player is judged.
const LEAST_SEARCHES: u64 = 10;

/// Excess over a limit, in the mean of all searches, that a rough count explains.
const ROUGH_COUNT: f64 = 2_048.0;

/// Factor above which two players under one limit are uneven beyond chance. The mean must exceed
/// the limit by the same factor, because a low mean may come from an engine that reports at the end
/// of each iteration.
const UNEVEN: f64 = 1.3;

/// Minimum difference in nodes between uneven players. A search of one ply takes a few dozen under
/// any limit.
const LEAST_DIFFERENCE: f64 = 256.0;

/// Share of searches deeper than a limit in plies above which the limit is disobeyed.
const DEEP_SHARE: f64 = 0.1;

/// Maximum number of players named. The others are only counted.
const NAMED: usize = 3;

/// Use that each player makes of its limit in nodes or plies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LimitUse {
    players: Vec<PlayerUse>,
}

/// Searches of one player, as it reports them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlayerUse {
    limit: Limit,
    /// Searches under a limit in nodes whose nodes are known.
    searches: u64,
    nodes: u128,
    /// Searches under a limit in plies whose depth is known.
    deepened: u64,
    too_deep: u64,
    deepest: u32,
}

impl PlayerUse {
    /// Mean of the nodes of its searches under a limit in nodes.
    #[must_use]
    pub fn nodes_a_move(&self) -> Option<f64> {
        (self.searches > 0).then(|| self.nodes as f64 / self.searches as f64)
    }

    /// Searches that went deeper than the limit in plies.
    #[must_use]
    pub const fn too_deep(&self) -> u64 {
        self.too_deep
    }

    /// Limit in nodes and mean of the nodes, if there are enough searches to judge.
    fn judged(&self) -> Option<(u64, f64)> {
        (self.searches >= LEAST_SEARCHES).then_some(self.limit.nodes?).zip(self.nodes_a_move())
    }
}

/// True if a number of nodes is beyond a limit by more than a rough count explains.
#[must_use]
pub fn is_beyond(nodes: f64, limit: u64) -> bool {
    let limit = limit as f64;
    nodes - limit > ROUGH_COUNT.max(limit / 2.0)
}

impl LimitUse {
    /// No searches yet, for players with these limits.
    #[must_use]
    pub fn new(limits: impl IntoIterator<Item = Limit>) -> Self {
        let player = |limit| PlayerUse { limit, ..PlayerUse::default() };
        Self { players: limits.into_iter().map(player).collect() }
    }

    /// Records a finished game.
    pub fn record(&mut self, game: &GameRecord) {
        for (_, color, ply) in game.plies() {
            let Some(player) = self.players.get_mut(usize::from(game.players.get(color).0)) else { continue };
            if let (Some(_), Some(nodes)) = (player.limit.nodes, ply.info.nodes)
                && stall::is_plausible(nodes, ply.elapsed)
            {
                player.searches += 1;
                player.nodes += u128::from(nodes);
            }
            if let (Some(limit), Some(depth)) = (player.limit.depth, ply.info.depth) {
                player.deepened += 1;
                player.too_deep += u64::from(depth > limit);
                player.deepest = player.deepest.max(depth);
            }
        }
    }

    /// The players in the order of the plan.
    #[must_use]
    pub fn players(&self) -> &[PlayerUse] {
        &self.players
    }

    /// Number of players that do not obey their limits.
    #[must_use]
    pub fn offenders(&self) -> usize {
        (0..self.players.len()).filter(|place| self.is_offender(*place)).count()
    }

    fn is_offender(&self, place: usize) -> bool {
        let player = &self.players[place];
        player.judged().is_some_and(|(limit, mean)| is_beyond(mean, limit))
            || self.unlike(place).is_some()
            || player.deepened >= LEAST_SEARCHES && player.too_deep as f64 > DEEP_SHARE * player.deepened as f64
    }

    /// Thriftiest player under the same limit, if this one exceeds the limit and that player by
    /// far.
    fn unlike(&self, place: usize) -> Option<(usize, f64)> {
        let (limit, mean) = self.players[place].judged()?;
        let is_far = |used: f64| mean > UNEVEN * used && mean - used > LEAST_DIFFERENCE;
        if !is_far(limit as f64) {
            return None;
        }
        let same = |(other, player): (usize, &PlayerUse)| {
            let (others, used) = player.judged()?;
            (others == limit).then_some((other, used))
        };
        let least = self.players.iter().enumerate().filter_map(same).min_by(|a, b| a.1.total_cmp(&b.1))?;
        is_far(least.1).then_some(least)
    }

    /// Remark beside a result that a disobeyed limit may have shaped; `None` if all players obey.
    #[must_use]
    pub fn stamp(&self, plan: &Plan) -> Option<String> {
        let names: Vec<&str> = plan.players.iter().map(|player| player.name.as_str()).collect();
        self.stamp_of(&names)
    }

    fn stamp_of(&self, names: &[&str]) -> Option<String> {
        let offenders: Vec<usize> = (0..self.players.len()).filter(|place| self.is_offender(*place)).collect();
        let mut remarks: Vec<_> = offenders.iter().take(NAMED).map(|place| self.remark(*place, names)).collect();
        if offenders.len() > NAMED {
            remarks.push(format!("{} more do not obey their limits", offenders.len() - NAMED));
        }
        (!remarks.is_empty()).then(|| remarks.join("; "))
    }

    fn remark(&self, place: usize, names: &[&str]) -> String {
        let name = |place: usize| names.get(place).copied().unwrap_or("?");
        let player = &self.players[place];
        if let Some((limit, mean)) = player.judged() {
            let beside = self.unlike(place);
            if beside.is_some() || is_beyond(mean, limit) {
                let beside = beside.map(|(other, used)| format!(", {} {used:.0}", name(other))).unwrap_or_default();
                return format!("{} used {mean:.0} nodes a move at a limit of {limit}{beside}", name(place));
            }
        }
        format!(
            "{} went deeper than its limit of {} plies in {} of {} searches, to depth {}",
            name(place),
            player.limit.depth.unwrap_or_default(),
            player.too_deep,
            player.deepened,
            player.deepest
        )
    }

    /// Warning on one line with the remedy.
    #[must_use]
    pub fn alarm(&self, plan: &Plan) -> Option<String> {
        let stamp = self.stamp(plan)?;
        Some(format!("a limit is not obeyed, so the result is not one at equal terms: {stamp}; use --tc or --movetime"))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::record::{
        ByColor, Ending, GameId, Leg, MoveRecord, Opening, Outcome, PairId, PlayerId, RecordedOutput, SearchInfo,
        Termination,
    };

    /// A game in which `info` gives the reports of White (player 0) and Black (player 1) by ply.
    fn game(plies: usize, info: impl Fn(usize) -> SearchInfo) -> GameRecord {
        let ply = |place| MoveRecord {
            uci: String::new(),
            elapsed: Duration::from_millis(1),
            left: None,
            info: info(place),
            waited: None,
            said: RecordedOutput::default(),
        };
        GameRecord {
            id: GameId { pair: PairId(0), leg: Leg::First },
            players: ByColor { white: PlayerId(0), black: PlayerId(1) },
            engines: ByColor::default(),
            opening: Opening { index: 0, fen: String::new(), moves: Vec::new() },
            moves: (0..plies).map(ply).collect(),
            ending: Ending { outcome: Outcome::Draw, termination: Termination::Stalemate, detail: String::new() },
            started: Duration::ZERO,
            took: Duration::ZERO,
            overstep: None,
            is_void: false,
            values: None,
            worker: None,
            scale: None,
        }
    }

    /// Stamp after `plies`, if each side reports its own number of nodes.
    fn nodes(plies: usize, limits: [u64; 2], used: [u64; 2]) -> Option<String> {
        let mut tally = LimitUse::new(limits.map(Limit::nodes));
        tally.record(&game(plies, |ply| SearchInfo { nodes: Some(used[ply % 2]), ..SearchInfo::default() }));
        tally.stamp_of(&["new", "base"])
    }

    #[test]
    fn players_that_use_more_nodes_than_their_limit_are_named() {
        let new = "new used 20000 nodes a move at a limit of 1000";
        for (plies, limits, used, stamp) in [
            (40, [1_000; 2], [20_000, 1_000], format!("{new}, base 1000")),
            (40, [1_000; 2], [20_000, 20_000], format!("{new}; {}", new.replace("new", "base"))),
            (40, [1_000, 2_000], [20_000, 2_000], new.to_owned()),
            (40, [1_000; 2], [2_048, 1_000], "new used 2048 nodes a move at a limit of 1000, base 1000".to_owned()),
            (
                40,
                [100_000; 2],
                [100_000, 140_000],
                "base used 140000 nodes a move at a limit of 100000, new 100000".into(),
            ),
            (
                40,
                [100_000; 2],
                [160_000, 160_000],
                "new used 160000 nodes a move at a limit of 100000; base used 160000 \
                nodes a move at a limit of 100000"
                    .into(),
            ),
        ] {
            assert_eq!(nodes(plies, limits, used).as_deref(), Some(stamp.as_str()), "{limits:?} {used:?}");
        }
    }

    #[test]
    fn rough_counts_and_low_reports_are_no_offence() {
        for (plies, limits, used) in [
            (40, [1_000; 2], [1_000, 1_000]),
            // Both read their counters every 2,048 nodes.
            (40, [1_000; 2], [2_048, 2_048]),
            (40, [1_000; 2], [1_024, 1_000]),
            // One reports the end of its last iteration alone.
            (40, [1_000; 2], [1_000, 550]),
            // A search of one ply takes a few dozen nodes under any limit.
            (40, [1; 2], [40, 20]),
            // Different limits by the plan.
            (40, [20_000, 1_000], [20_000, 1_000]),
            // Too few searches to judge.
            (18, [1_000; 2], [20_000, 1_000]),
            // No machine is that fast.
            (40, [1_000; 2], [u64::MAX, 1_000]),
        ] {
            assert_eq!(nodes(plies, limits, used), None, "{limits:?} {used:?}");
        }
    }

    #[test]
    fn searches_deeper_than_their_limit_are_found() {
        let limit = Limit { depth: Some(8), ..Limit::default() };
        for (deep, stamp) in [
            (0, None),
            (2, None),
            (3, Some("base went deeper than its limit of 8 plies in 3 of 20 searches, to depth 12")),
        ] {
            let mut tally = LimitUse::new([limit; 2]);
            let depth = |ply: usize| if ply % 2 == 1 && ply / 2 < deep { 12 } else { 8 };
            tally.record(&game(40, |ply| SearchInfo { depth: Some(depth(ply)), ..SearchInfo::default() }));
            assert_eq!(tally.stamp_of(&["new", "base"]).as_deref(), stamp, "{deep}");
        }
    }
}
