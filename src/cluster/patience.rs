//! Bounds on how long a worker may hold a pair that it does not play. No clock and no I/O.
//!
//! A lease ends by silence, never by slowness. But a worker whose slot hangs may give signs of life
//! forever, and no later pair counts before its pair. So it loses the pair after a time that no
//! game can last on any machine. There is such a time, because the referee ends each search at its
//! deadline and the rules of chess end each game.

use std::time::Duration;

use super::wire::MOST_GAMES;
use crate::plan::time_control::{Limit, Period};
use crate::plan::{Plan, Player};
use crate::record::{PlayerId, TimeScale};

/// Time for which a worker may hold a pair in any case. Engines take turns to start. On a machine
/// without a free CPU each of up to three starts may take twenty times its limit.
pub(super) const LEAST: Duration = Duration::from_hours(1);

/// Maximum number of moves of a side. The fifty-move rule ends each game before.
const MOST_MOVES: u32 = 6_000;

/// Longest times of a pair on one machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PairPatience {
    /// Maximum time from one move to the next, or to the first one.
    pub(super) between_moves: Duration,
    /// Maximum time from the lease to the result.
    pub(super) pair: Duration,
}

impl PairPatience {
    /// Times for a plan on a machine whose times are scaled.
    pub(super) fn of(plan: &Plan, scale: Option<TimeScale>) -> Self {
        let moves = plan.rules.max_plies.map_or(MOST_MOVES, |plies| (plies / 2 + 1).min(MOST_MOVES));
        let stall = plan.rules.stall_timeout;
        let searches = |(place, player): (usize, &Player)| {
            let margin = plan.margin(PlayerId(u16::try_from(place).unwrap_or(u16::MAX)));
            let limit = player.limit.scaled(scale);
            let (one, all) = longest_searches(limit, moves, stall);
            (one.saturating_add(margin), all.saturating_add(margin.saturating_mul(moves)))
        };
        let searches: Vec<_> = plan.players.iter().enumerate().map(searches).collect();
        let longest = |of: fn(&(Duration, Duration)) -> Duration| searches.iter().map(of).max().unwrap_or_default();
        let set_up = LEAST.saturating_add(plan.pause);
        let game = longest(|(_, all)| *all).saturating_mul(2).saturating_add(set_up);
        Self { between_moves: set_up.saturating_add(longest(|(one, _)| *one)), pair: game.saturating_mul(MOST_GAMES) }
    }

    /// Reason that a pair is taken from its worker, which has held it for `held` and not moved for
    /// `still`. `None` as long as the worker may be honest.
    pub(super) fn overdue(self, held: Duration, still: Duration) -> Option<String> {
        let minutes = |time: Duration| time.as_secs() / 60;
        if still > self.between_moves {
            Some(format!("gives signs of life and has not moved for {} min", minutes(still)))
        } else if held > self.pair {
            Some(format!("has held it for {} min, longer than its games can last", minutes(held)))
        } else {
            None
        }
    }
}

/// Longest search of a side, and all its searches of a game together.
fn longest_searches(limit: Limit, moves: u32, stall: Duration) -> (Duration, Duration) {
    let of_period = |Period { moves: session, base, increment }: Period| {
        let sessions = session.map_or(1, |session| moves / session.max(1) + 1);
        base.saturating_mul(sessions).saturating_add(increment.saturating_mul(moves + 1))
    };
    let on_clock = limit.clock.map(|clock| {
        // A side may save all its time for its last move. Two periods together are a bound.
        let all = of_period(clock.first()).saturating_add(clock.second.map(of_period).unwrap_or_default());
        (all, all)
    });
    let each = |time: Duration| (time, time.saturating_mul(moves));
    on_clock.or(limit.movetime.map(each)).unwrap_or_else(|| each(stall))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::file;

    fn patience(limits: [&str; 2], max_plies: Option<u32>, scale: Option<u32>) -> [u64; 2] {
        let mut plan = file::from_toml(include_str!("../../tests/it/fixtures/v1/plan.toml")).unwrap();
        for (player, limit) in plan.players.iter_mut().zip(limits) {
            (player.limit, player.margin) = (limit.parse().unwrap(), Some(Duration::from_millis(100)));
        }
        plan.rules.max_plies = max_plies;
        plan.pause = Duration::from_secs(2);
        let PairPatience { between_moves, pair } = PairPatience::of(&plan, scale.and_then(TimeScale::from_millionths));
        [between_moves, pair].map(|time| time.as_secs())
    }

    #[test]
    fn no_game_lasts_longer() {
        let set_up = 3_602;
        for (limits, max_plies, scale, search, game) in [
            (["nodes=1", "nodes=1"], None, None, 60, 2 * 60 * 6_000 + 2 * 600),
            (["nodes=1", "depth=3"], Some(100), None, 60, 2 * 60 * 51 + 10),
            (["8+0.5", "nodes=1"], Some(20), None, 60, 2 * 60 * 11 + 2),
            (["8+0.5", "8+0.5"], None, None, 8 + 3_000, 2 * (8 + 3_000 + 600)),
            (["8+0.5", "8+0.5"], None, Some(2_000_000), 16 + 6_001, 2 * (16 + 6_001 + 600)),
            (["40/60", "40/60"], None, None, 151 * 60, 2 * (151 * 60 + 600)),
            (["40/60:300/60", "1+0"], None, None, 151 * 60 + 21 * 60, 2 * ((151 + 21) * 60 + 600)),
            (["movetime=2", "1+0"], None, None, 2, 2 * (12_000 + 600)),
        ] {
            let [found_move, found_pair] = patience(limits, max_plies, scale);
            let expected = [set_up + search, 8 * (set_up + game)];
            for (found, expected) in [(found_move, expected[0]), (found_pair, expected[1])] {
                assert!(found.abs_diff(expected) <= expected / 1_000, "{limits:?}: {found} instead of {expected}");
            }
        }
    }

    #[test]
    fn a_slow_worker_is_not_overdue() {
        let patience = PairPatience { between_moves: Duration::from_mins(60), pair: Duration::from_mins(600) };
        for (held, still, why) in [
            (600, 60, None),
            (61, 61, Some("has not moved for 61 min")),
            (601, 1, Some("has held it for 601 min, longer than")),
        ] {
            let found = patience.overdue(Duration::from_mins(held), Duration::from_mins(still));
            assert_eq!(found.is_some(), why.is_some(), "{found:?}");
            assert!(found.unwrap_or_default().contains(why.unwrap_or_default()), "{why:?}");
        }
    }
}
