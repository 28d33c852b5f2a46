//! Time management: from what the clock shows to how long to think. Pure; nothing here reads a clock.

use std::time::Duration;

/// A side's clock at the start of its move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clock {
    pub remaining: Duration,
    pub increment: Duration,
    /// Moves until more time is given; none in sudden death.
    pub moves_to_go: Option<u32>,
}

/// How long a move may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeBudget {
    /// After this no new iteration is started.
    pub soft: Duration,
    /// At this the search stops where it is.
    pub hard: Duration,
}

/// Moves a game is expected to last on when no number is given.
const EXPECTED_MOVES: u32 = 25;
/// Never plan for more moves than this, however many the control has.
const MAX_MOVES: u32 = 40;

/// The budget of a move on a clock.
///
/// `overhead` is the time lost between the engine and whoever holds the clock, for one move; as much again is kept in reserve for
/// a move that is lost twice that. Soft is an even share of the clock and most of the increment; hard is a few times that, and
/// never more than a fixed part of what is left, so that no single move, however badly timed, loses the game.
pub fn budget(clock: Clock, overhead: Duration) -> TimeBudget {
    let usable = clock.remaining.saturating_sub(overhead * 2).max(clock.remaining / 20);
    let moves = clock.moves_to_go.unwrap_or(EXPECTED_MOVES).clamp(1, MAX_MOVES);
    // Each of the moves to come costs its overhead as well.
    let later = overhead.saturating_mul(moves - 1);
    let share = usable.saturating_sub(later).max(usable / 4) / moves;
    let ceiling = if moves == 1 { usable.mul_f64(0.8) } else { usable / 2 };
    let soft = (share + clock.increment.mul_f64(0.7)).min(ceiling);
    let hard = soft.saturating_mul(3).min(ceiling);
    TimeBudget { soft, hard }
}

/// The budget of `go movetime`: all of it, less the overhead, or a tenth of a time hardly longer than that.
pub fn fixed(movetime: Duration, overhead: Duration) -> TimeBudget {
    let hard = movetime.saturating_sub(overhead).max(movetime / 10);
    TimeBudget { soft: hard, hard }
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
            (8_000, 80, None, 10, 365, 1096),
            (60_000, 600, None, 10, 2809, 8428),
            (1_000, 10, None, 10, 36, 109),
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
    fn a_fixed_time_is_used_up_to_the_overhead() {
        for (movetime, overhead, hard) in [(1000, 10, 990), (100, 0, 100), (10, 10, 1), (50, 100, 5)] {
            assert_eq!(fixed(ms(movetime), ms(overhead)), TimeBudget { soft: ms(hard), hard: ms(hard) });
        }
    }

    #[test]
    fn a_whole_game_at_a_tiny_control_never_runs_dry() {
        for (base, increment, overhead, lost) in [(1_000, 10, 10, 9), (100, 1, 10, 0), (100, 1, 0, 0)] {
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
