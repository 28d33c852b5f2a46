//! Time management: how long to think, as pure functions of the clock.

use super::params::{
    time_ceiling, time_drop, time_hard, time_increment, time_moves, time_share, time_share_slope, time_stable,
    time_unstable,
};
use crate::types::Score;
use std::time::Duration;

/// Clock of a side at the start of its move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clock {
    /// Time left on the clock.
    pub remaining: Duration,
    /// Time added after each move.
    pub increment: Duration,
    /// Moves until more time is given; `None` in sudden death.
    pub moves_to_go: Option<u32>,
}

/// Time limits of one move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeBudget {
    /// Time after which no new iteration is started, scaled by the progress of the search.
    pub soft: Duration,
    /// Time at which the search stops at once.
    pub hard: Duration,
    /// Set if all the time should be used, unless there is a single move or no depth left.
    pub is_fixed: bool,
}

/// Maximum number of moves to plan for.
const MAX_MOVES: u32 = 40;

/// Computes the budget of a move on a clock.
///
/// `overhead` is the time lost per move between the engine and the clock. As much again is kept in
/// reserve for a move that loses twice that. The soft limit is an even share of the clock and most
/// of the increment. The hard limit is a few times that, but at most a share of the time left,
/// so no single move can lose the game on time. The numbers are rows of the table of parameters.
pub fn budget(clock: Clock, overhead: Duration) -> TimeBudget {
    let usable = clock.remaining.saturating_sub(overhead * 2).max(clock.remaining / 20);
    let moves = clock.moves_to_go.unwrap_or(time_moves().unsigned_abs()).clamp(1, MAX_MOVES);
    // Each later move costs its overhead too, less the part that its increment pays.
    let later = overhead.saturating_sub(clock.increment).saturating_mul(moves - 1);
    let share = usable.saturating_sub(later).max(usable / 4) / moves;
    let ceiling = if moves == 1 { percent(usable, 80) } else { percent(usable, time_ceiling()) };
    let soft = (share + percent(clock.increment, time_increment())).min(ceiling);
    let hard = percent(soft, time_hard()).min(ceiling);
    TimeBudget { soft, hard, is_fixed: false }
}

/// Returns a share of a time, in percent.
fn percent(time: Duration, percent: i32) -> Duration {
    time.saturating_mul(percent.unsigned_abs()) / 100
}

/// Overhead per move unless the user sets one.
pub const DEFAULT_OVERHEAD: Duration = Duration::from_millis(10);
/// Time to notice the limit and write the answer.
const ANSWER_TIME: Duration = Duration::from_millis(1);

/// Computes the budget of `go movetime`.
///
/// The user expects the given time to be used, and lost time does not add up over moves. The
/// default overhead, which protects a clock, would only shorten the search. The reserve is
/// therefore the answer time, or the part of a user's overhead above the default, as that is a
/// known lag. At least a tenth of the time is used.
pub fn fixed(movetime: Duration, overhead: Duration) -> TimeBudget {
    let reserve = overhead.saturating_sub(DEFAULT_OVERHEAD).max(overhead.min(ANSWER_TIME));
    let hard = movetime.saturating_sub(reserve).max(movetime / 10);
    TimeBudget { soft: hard, hard, is_fixed: true }
}

/// Progress of the iterations, which scales the soft limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pace {
    /// Iterations in a row without a change of the best move.
    pub stability: u32,
    /// Drop of the score in the last iteration, in centipawns.
    pub drop: Score,
    /// Share of the nodes spent on the best move, 0 to 1.
    pub best_share: f64,
    /// Duration of the last iteration.
    pub last: Duration,
    /// Ratio of the last iteration's duration to that of the one before.
    pub growth: f64,
}

/// Returns the factor for the stability of the best move: highest after a change, lower with each
/// iteration without one, up to ten.
fn stability_factor(stability: u32) -> f64 {
    f64::from(time_unstable()) / 100.0 - f64::from(time_stable()) / 1000.0 * f64::from(stability.min(10))
}

/// Returns the factor for a falling score, 1 to 2.
fn drop_factor(drop: Score) -> f64 {
    1.0 + f64::from(drop.clamp(0, time_drop())) / f64::from(time_drop())
}

/// Returns the factor for the best move's share of the nodes: 1 at [`time_share`], lower if nearly
/// all nodes went into it, higher if other moves needed many.
fn share_factor(best_share: f64) -> f64 {
    let missing = f64::from(time_share()) / 100.0 - best_share.clamp(0.0, 1.0);
    1.0 + f64::from(time_share_slope()) / 100.0 * missing
}

/// Returns the factor of the soft limit, 0.2 to 3 and about 1 on average.
///
/// Its parts were fitted to 2,600 searches of positions from games at 1+0.01 (`results/LEARNT.md`).
/// A rule was measured by the loss of its move against the best move of a search of 600,000 nodes,
/// both rated by a longer search. All rules used the same nodes on average. In games the factors
/// averaged 0.8, so the last was moved to make it 1.
fn soft_scale(pace: Pace) -> f64 {
    let scale = stability_factor(pace.stability) * drop_factor(pace.drop) * share_factor(pace.best_share);
    scale.clamp(0.2, 3.0)
}

/// Estimates how long the next iteration takes for its first move. This is the last iteration's
/// time, scaled by its growth and by the best move's share of the nodes.
fn estimate_of_first_move(pace: Pace) -> Duration {
    pace.last.mul_f64(pace.growth.clamp(1.2, 4.0) * pace.best_share.clamp(0.1, 1.0))
}

/// Returns whether another iteration should be started. It should not if the soft limit has passed.
/// It should not either if the hard limit would end it before its first move is finished, because
/// the result could not change.
pub fn may_start_iteration(elapsed: Duration, budget: TimeBudget, pace: Pace) -> bool {
    if budget.is_fixed {
        return elapsed < budget.hard;
    }
    let soft = budget.soft.mul_f64(soft_scale(pace)).min(budget.hard);
    elapsed < soft && elapsed + estimate_of_first_move(pace) <= budget.hard
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn clock(remaining: u64, increment: u64, moves_to_go: Option<u32>) -> Clock {
        Clock { remaining: ms(remaining), increment: ms(increment), moves_to_go }
    }

    #[test]
    fn budgets_are_sane_on_every_clock() {
        for remaining in [0, 1, 5, 10, 11, 50, 100, 1_000, 60_000, 10_000_000] {
            for increment in [0, 1, 10, 100, 10_000] {
                for moves_to_go in [None, Some(0), Some(1), Some(2), Some(40), Some(1000)] {
                    for overhead in [0, 10, 100, 5000] {
                        let budget = budget(clock(remaining, increment, moves_to_go), ms(overhead));
                        let case = format!("{remaining}+{increment}/{moves_to_go:?} -{overhead}: {budget:?}");
                        assert!(budget.soft <= budget.hard, "{case}");
                        assert!(budget.hard <= ms(remaining) * 4 / 5, "{case}");
                        if remaining > 2 * overhead {
                            assert!(budget.hard + ms(overhead) <= ms(remaining), "{case}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn shares_of_common_clocks() {
        for (remaining, increment, moves_to_go, overhead, soft, hard) in [
            (8_000, 80, None, 10, 418, 1256),
            (60_000, 600, None, 10, 3146, 9439),
            (1_000, 10, None, 10, 51, 154),
            // The part of the overhead that the increment does not pay, 8 ms for each of 21 later
            // moves, is kept.
            (1_000, 2, None, 10, 38, 114),
            (100, 1, None, 10, 1, 4),
            (60_000, 0, Some(40), 10, 1489, 4469),
            (1_000, 0, Some(1), 10, 784, 784),
            (15, 1, None, 10, 0, 0),
        ] {
            let budget = budget(clock(remaining, increment, moves_to_go), ms(overhead));
            let case = format!("{remaining}+{increment}/{moves_to_go:?}");
            assert_eq!((budget.soft.as_millis(), budget.hard.as_millis()), (soft, hard), "{case}");
        }
    }

    #[test]
    fn a_fixed_time_is_used_but_for_the_answer() {
        for (movetime, overhead, hard) in
            [(1000, 10, 999), (100, 0, 100), (100, 1, 99), (10, 10, 9), (1000, 40, 970), (50, 100, 5), (1, 10, 0)]
        {
            let budget = fixed(ms(movetime), ms(overhead));
            assert_eq!((budget.hard.as_millis(), budget.is_fixed), (hard, true), "{movetime} -{overhead}");
            assert!(may_start_iteration(budget.hard / 2, budget, pace(9, -20, 1.0, 1000, 4.0)));
        }
    }

    fn pace(stability: u32, drop: Score, best_share: f64, last: u64, growth: f64) -> Pace {
        Pace { stability, drop, best_share, last: ms(last), growth }
    }

    #[test]
    fn the_soft_limit_follows_the_search() {
        for (stability, drop, best_share, percent) in [
            (0, 0, 0.7, 160),
            (2, 0, 0.7, 140),
            (4, 0, 0.7, 120),
            (10, 0, 0.7, 60),
            (400, 0, 0.7, 60),
            (2, 20, 0.7, 210),
            (4, 5000, 0.7, 240),
            (2, -20, 0.7, 140),
            (2, -5000, 0.7, 140),
            (2, 0, 0.9, 63),
            (2, 0, 0.3, 294),
            (9, -50, 1.0, 20),
            (0, 50, 0.0, 300),
        ] {
            let scale = soft_scale(pace(stability, drop, best_share, 1, 2.0));
            assert_eq!((scale * 100.0).round() as u32, percent, "{stability} {drop} {best_share}");
        }
    }

    #[test]
    fn an_iteration_that_cannot_pay_is_not_begun() {
        let budget = TimeBudget { soft: ms(100), hard: ms(300), is_fixed: false };
        for (elapsed, pace, may) in [
            (0, pace(0, 0, 0.6, 0, 2.0), true),
            // A soft limit of 160 ms.
            (159, pace(0, 0, 0.7, 50, 2.0), true),
            (161, pace(0, 0, 0.7, 50, 2.0), false),
            // A soft limit of 60 ms.
            (61, pace(10, 0, 0.7, 10, 2.0), false),
            // The last iteration took 100 ms; the next would take 300 ms, its first move 180 ms.
            (119, pace(0, 0, 0.6, 100, 3.0), true),
            (121, pace(0, 0, 0.6, 100, 3.0), false),
            // Growth is capped.
            (100, pace(0, 0, 0.6, 80, 50.0), true),
            (100, pace(0, 0, 0.6, 90, 50.0), false),
        ] {
            assert_eq!(may_start_iteration(ms(elapsed), budget, pace), may, "{elapsed} {pace:?}");
        }
    }

    #[test]
    fn a_whole_game_at_a_tiny_control_never_runs_dry() {
        for (base, increment, overhead, lost) in
            [(1_000, 10, 10, 9), (1_000, 10, 15, 9), (100, 1, 10, 0), (100, 1, 0, 0)]
        {
            let mut left = ms(base);
            for mv in 0..300 {
                let budget =
                    budget(Clock { remaining: left, increment: ms(increment), moves_to_go: None }, ms(overhead));
                let used = budget.hard + ms(lost);
                assert!(used <= left, "{base}+{increment} move {mv}: {left:?} left, {used:?} used");
                left = left - used + ms(increment);
            }
        }
    }
}
