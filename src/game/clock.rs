//! Time left to a side. The limit that it starts from is in `plan::time_control`.
//!
//! All arithmetic is on `Duration`s and nothing is rounded to milliseconds: a quick move is charged
//! its exact time, and no time is lost at `1+0.01`. A clock starts at base + increment. After each
//! move the time taken is deducted (down to zero, if the margin covered the rest) and the increment
//! is added. At the end of a session the base is added as well. Both are those of the coming move's
//! period.

use std::time::Duration;

use crate::plan::time_control::{Limit, Period};

/// One side's clock, or its time for each move, or neither.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    running: Option<RunningClock>,
    movetime: Option<Duration>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RunningClock {
    /// Period of the coming move.
    period: Period,
    /// Period after its first session, if that differs.
    next: Option<Period>,
    left: Duration,
    /// Moves to the next time control, from 1; `None` if the session is the whole game.
    moves_to_go: Option<u32>,
}

/// Effect of a move's time on the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChargeResult {
    /// The move is in time: the clock is charged and the increment added.
    Ok,
    /// The flag fell; the clock stands at zero.
    Flag {
        /// The time taken beyond what there was; the margin is not deducted.
        overrun: Duration,
    },
}

impl Clock {
    /// A full clock.
    #[must_use]
    pub fn new(limit: &Limit) -> Self {
        let running = limit.clock.map(|control| RunningClock {
            period: control.first(),
            next: control.second,
            left: control.base.saturating_add(control.increment),
            moves_to_go: control.moves,
        });
        Self { running, movetime: limit.movetime }
    }

    /// Time left on the clock; `None` if no clock runs (time per move, nodes, depth).
    #[must_use]
    pub fn left(&self) -> Option<Duration> {
        self.running.map(|running| running.left)
    }

    /// Time added after each move; `None` if no clock runs.
    #[must_use]
    pub fn increment(&self) -> Option<Duration> {
        self.running.map(|running| running.period.increment)
    }

    /// Moves to the next time control, from 1; `None` if there is none.
    #[must_use]
    pub fn moves_to_go(&self) -> Option<u32> {
        self.running.and_then(|running| running.moves_to_go)
    }

    /// Time available for the coming move: the clock, the time per move, or the smaller of the two
    /// if both are set. `None` if the move is not timed.
    #[must_use]
    pub fn budget(&self) -> Option<Duration> {
        match (self.left(), self.movetime) {
            (Some(left), Some(movetime)) => Some(left.min(movetime)),
            (left, movetime) => left.or(movetime),
        }
    }

    /// Time from the start of the move to its forfeit: budget + margin. `None` if the move is not
    /// timed.
    #[must_use]
    pub fn deadline(&self, margin: Duration) -> Option<Duration> {
        self.budget().map(|budget| budget.saturating_add(margin))
    }

    /// Charges a move that took `elapsed`. An overrun of at most `margin` is forgiven: the clock is
    /// then clipped at zero before the increment.
    pub fn charge(&mut self, elapsed: Duration, margin: Duration) -> ChargeResult {
        let budget = self.budget();
        let flag = budget.filter(|budget| elapsed > budget.saturating_add(margin));
        if let Some(running) = &mut self.running {
            running.left = running.left.saturating_sub(elapsed);
            if flag.is_none() {
                running.next_move();
            }
        }
        flag.map_or(ChargeResult::Ok, |budget| {
            if let Some(running) = &mut self.running {
                running.left = Duration::ZERO;
            }
            ChargeResult::Flag { overrun: elapsed.saturating_sub(budget) }
        })
    }
}

impl RunningClock {
    fn next_move(&mut self) {
        self.moves_to_go = match self.moves_to_go {
            Some(1) => {
                self.period = self.next.take().unwrap_or(self.period);
                self.left = self.left.saturating_add(self.period.base);
                self.period.moves
            }
            to_go => to_go.map(|n| n.saturating_sub(1)),
        };
        self.left = self.left.saturating_add(self.period.increment);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::time_control::TimeControl;
    use proptest::prelude::*;

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    /// Charges moves of `taken` milliseconds and checks what is left in milliseconds after each;
    /// `Err` is the overrun.
    fn check(limit: &str, margin: u64, moves: &[(u64, Result<u64, u64>)]) {
        let mut clock = Clock::new(&limit.parse().expect(limit));
        for (i, (taken, expected)) in moves.iter().enumerate() {
            let result = clock.charge(ms(*taken), ms(margin));
            match expected {
                Ok(left) => {
                    assert_eq!(result, ChargeResult::Ok, "{limit}, move {i}");
                    assert_eq!(clock.left(), Some(ms(*left)), "{limit}, move {i}");
                }
                Err(overrun) => {
                    assert_eq!(result, ChargeResult::Flag { overrun: ms(*overrun) }, "{limit}, move {i}");
                    assert_eq!(clock.left(), Some(Duration::ZERO), "{limit}, move {i}");
                }
            }
        }
    }

    #[test]
    fn clocks() {
        // The increment counts from the first move on: 8.08 s at the start.
        check("8+0.08", 0, &[(80, Ok(8080)), (0, Ok(8160)), (8160, Ok(80)), (81, Err(1))]);
        // The flag falls after the last moment, not at it.
        check("1", 0, &[(1000, Ok(0)), (1, Err(1))]);
        // The margin forgives, but buys no time: clipped at zero before the increment, move after
        // move.
        check("1+0.1", 10, &[(1105, Ok(100)), (110, Ok(100)), (111, Err(11))]);
        // The margin does not change what is charged in time.
        check("1+0.1", 10, &[(500, Ok(700))]);
        // Sessions: the base comes again after the third move and what was saved is kept.
        check(
            "3/1",
            0,
            &[(100, Ok(900)), (100, Ok(800)), (100, Ok(1700)), (0, Ok(1700)), (0, Ok(1700)), (0, Ok(2700))],
        );
        check("1/1+0.5", 0, &[(1500, Ok(1500)), (1500, Ok(1500)), (1600, Err(100))]);
        // Two periods: the second one's time comes after the second move, its increment from then
        // on, and its own sessions follow.
        check(
            "2/1+0.1:1/0.5+0.2",
            0,
            &[(100, Ok(1100)), (100, Ok(1700)), (0, Ok(2400)), (0, Ok(3100)), (3101, Err(1))],
        );
        check("2/1+0:3", 0, &[(0, Ok(1000)), (0, Ok(4000)), (3900, Ok(100)), (100, Ok(0)), (1, Err(1))]);
        check("0+0.1", 0, &[(50, Ok(150)), (150, Ok(100)), (101, Err(1))]);
    }

    #[test]
    fn time_for_each_move() {
        let mut clock = Clock::new(&"movetime=0.1".parse().expect("limit"));
        assert_eq!((clock.left(), clock.increment(), clock.moves_to_go()), (None, None, None));
        assert_eq!((clock.budget(), clock.deadline(ms(10))), (Some(ms(100)), Some(ms(110))));
        for _ in 0..3 {
            assert_eq!(clock.charge(ms(110), ms(10)), ChargeResult::Ok);
        }
        assert_eq!(clock.charge(ms(111), ms(10)), ChargeResult::Flag { overrun: ms(11) });
        let both = Limit { movetime: Some(ms(100)), ..Limit::from("0.15".parse::<TimeControl>().expect("tc")) };
        let mut clock = Clock::new(&both);
        assert_eq!(clock.deadline(ms(10)), Some(ms(110)));
        assert_eq!(clock.charge(ms(100), ms(10)), ChargeResult::Ok);
        assert_eq!((clock.deadline(ms(10)), clock.left()), (Some(ms(60)), Some(ms(50))));
    }

    #[test]
    fn without_time_nothing_is_charged() {
        for limit in ["nodes=5000", "depth=9"] {
            let mut clock = Clock::new(&limit.parse().expect(limit));
            assert_eq!((clock.budget(), clock.deadline(ms(10)), clock.left()), (None, None, None));
            assert_eq!(clock.charge(Duration::MAX, Duration::ZERO), ChargeResult::Ok);
        }
    }

    #[test]
    fn moves_to_go_count_down_and_start_anew() {
        let mut clock = Clock::new(&"3/10".parse().expect("limit"));
        let seen: Vec<_> = (0..7)
            .map(|_| {
                let before = clock.moves_to_go();
                clock.charge(Duration::ZERO, Duration::ZERO);
                before
            })
            .collect();
        assert_eq!(seen, [3, 2, 1, 3, 2, 1, 3].map(Some));
        // Three moves, then sessions of two; and three moves, then the rest of the game.
        for (text, expected) in [
            ("3/10+1:2/5", [Some(3), Some(2), Some(1), Some(2), Some(1), Some(2)]),
            ("3/10+1:5+2", [Some(3), Some(2), Some(1), None, None, None]),
        ] {
            let mut clock = Clock::new(&text.parse().expect("limit"));
            let mut seen = Vec::new();
            for to_go in expected {
                seen.push((clock.moves_to_go(), clock.increment()));
                clock.charge(Duration::ZERO, Duration::ZERO);
                assert_eq!(seen.last().map(|seen| seen.0), Some(to_go), "{text}");
            }
            let second: TimeControl = text.parse().expect("clock");
            assert_eq!(seen[2].1, Some(ms(1000)), "{text}");
            assert_eq!(seen[3].1, second.second.map(|period| period.increment), "{text}");
        }
    }

    proptest! {
        /// No time is made or lost: what is left is base + increments - what was taken, to the
        /// microsecond.
        #[test]
        fn the_books_balance(taken in proptest::collection::vec(0u64..80_000, 1..100)) {
            let mut clock = Clock::new(&"8+0.08".parse().expect("limit"));
            for micros in &taken {
                prop_assert_eq!(clock.charge(Duration::from_micros(*micros), Duration::ZERO), ChargeResult::Ok);
            }
            let expected = 8_080_000 + 80_000 * taken.len() as u64 - taken.iter().sum::<u64>();
            prop_assert_eq!(clock.left(), Some(Duration::from_micros(expected)));
        }

        #[test]
        fn extremes_do_not_overflow(seconds in any::<[u64; 3]>(), nanos in 0u32..1_000_000_000, moves in proptest::option::of(any::<u32>())) {
            let [base, increment, elapsed] = seconds.map(|s| Duration::new(s, nanos));
            let second = Some(Period { moves, base: increment, increment: base }).filter(|_| base.subsec_nanos() % 2 == 0);
            let mut clock = Clock::new(&TimeControl { moves, base, increment, second }.into());
            for _ in 0..4 {
                let _ = clock.deadline(Duration::MAX);
                let _ = clock.charge(elapsed, Duration::ZERO);
            }
        }
    }
}
