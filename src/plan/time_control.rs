//! Limits of a side on a game or a move. `game::clock` keeps the time left.
//!
//! Their text is the same on the command line, in the plan file and in PGN:
//!
//! ```text
//! tc     [moves/][min:]sec[+inc]        8+0.08   40/60   40/1:30+0.5
//!        moves/...:[moves/]...          40/60+0.6:20/10   40/60+0:30
//! limit  tc | movetime=sec | nodes=N | depth=N, one or more, separated by spaces
//! ```
//!
//! Seconds have up to six decimals, so a time is always a whole number of microseconds. A second
//! period follows a colon after the increment, or one before its own `moves/`. Any other colon
//! parts minutes and seconds.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use thiserror::Error;

use crate::record::TimeScale;

/// Bound on a time in a text: ten million seconds, about four months. Sums of a few times stay far
/// from overflow.
const LONGEST_S: u64 = 10_000_000;

/// Settings of a chess clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeControl {
    /// Moves in a session, after which `base` is added again; `None` for one session per game.
    pub moves: Option<u32>,
    /// Time of a session.
    pub base: Duration,
    /// Time added after each move and once before the first, as FIDE clocks and the leading runners
    /// do. A side at `8+0.08` starts with 8.08 s.
    pub increment: Duration,
    /// Period after the first session; `None` if sessions of the first kind follow.
    pub second: Option<Period>,
}

/// Period of a chess clock after the first session. Its time is added at its begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period {
    /// Moves in each of its sessions; `None` for the rest of the game.
    pub moves: Option<u32>,
    /// Time of each session.
    pub base: Duration,
    /// Time added before each of its moves.
    pub increment: Duration,
}

impl TimeControl {
    /// Clock of one kind of session.
    #[must_use]
    pub const fn new(moves: Option<u32>, base: Duration, increment: Duration) -> Self {
        Self { moves, base, increment, second: None }
    }

    /// Settings of the first session, as a period.
    #[must_use]
    pub const fn first(&self) -> Period {
        Period { moves: self.moves, base: self.base, increment: self.increment }
    }

    /// Time of a game of `moves` moves of this side, if all of it is used.
    #[must_use]
    pub fn seconds_of_game(&self, moves: f64) -> f64 {
        let within = |period: &Period, moves: f64, sessions: f64| {
            period.base.as_secs_f64() * sessions + period.increment.as_secs_f64() * moves
        };
        let sessions =
            |period: &Period, moves: f64| period.moves.map_or(1.0, |session| moves / f64::from(session.max(1)));
        let first = self.first();
        match (self.second, self.moves.map(f64::from)) {
            (Some(second), Some(session)) if moves > session => {
                let rest = moves - session;
                within(&first, session, 1.0) + within(&second, rest, sessions(&second, rest))
            }
            _ => within(&first, moves, sessions(&first, moves)),
        }
    }
}

/// Limits on one side's search. A parsed limit has at least one field set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limit {
    /// Chess clock.
    pub clock: Option<TimeControl>,
    /// Fixed time per move.
    pub movetime: Option<Duration>,
    /// Nodes per move.
    pub nodes: Option<u64>,
    /// Search depth per move, in plies.
    pub depth: Option<u32>,
}

/// Text of a limit that cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LimitError {
    /// Invalid time control.
    #[error(
        "`{text}` is not a time control: {reason}; write [moves/][min:]sec[+inc], as 8+0.08, 40/60 or 40/1:30+0.5, or two periods as 40/60+0.6:20/10"
    )]
    TimeControl {
        /// Text that was given.
        text: String,
        /// Fault in words.
        reason: &'static str,
    },
    /// Invalid time.
    #[error("`{text}` is not a time: {reason}; write seconds, as 0.1 or 30")]
    Seconds {
        /// Text that was given.
        text: String,
        /// Fault in words.
        reason: &'static str,
    },
    /// Invalid part of a limit.
    #[error("`{text}` is not a limit; write a time control, movetime=SECONDS, nodes=N or depth=N, N from 1")]
    Part {
        /// Text that was given.
        text: String,
    },
    /// Part that excludes another one or is repeated.
    #[error("`{text}` sets {what} twice; give one of them")]
    Twice {
        /// Text of the whole limit.
        text: String,
        /// Setting that is set twice.
        what: &'static str,
    },
}

impl Limit {
    /// Limit in nodes per move alone.
    #[must_use]
    pub const fn nodes(nodes: u64) -> Self {
        Self { clock: None, movetime: None, nodes: Some(nodes), depth: None }
    }

    /// True if a clock or a time per move runs. To overrun it forfeits the game.
    #[must_use]
    pub const fn is_timed(&self) -> bool {
        self.clock.is_some() || self.movetime.is_some()
    }

    /// The limit on a machine whose times are scaled. Nodes and depth stay.
    #[must_use]
    pub fn scaled(mut self, scale: Option<TimeScale>) -> Self {
        let Some(scale) = scale else { return self };
        if let Some(TimeControl { base, increment, second, .. }) = &mut self.clock {
            (*base, *increment) = (scale.of(*base), scale.of(*increment));
            *second = second.map(|period| Period {
                base: scale.of(period.base),
                increment: scale.of(period.increment),
                ..period
            });
        }
        self.movetime = self.movetime.map(|time| scale.of(time));
        self
    }

    /// True if no field is set.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        !self.is_timed() && self.nodes.is_none() && self.depth.is_none()
    }
}

/// One kind of limit. An engine's entry in the registry says which it obeys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LimitKind {
    /// `wtime` and what belongs to it.
    Clock,
    /// `movetime`
    Movetime,
    /// `nodes`
    Nodes,
    /// `depth`
    Depth,
}

impl LimitKind {
    /// Name in the registry.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Clock => "clock",
            Self::Movetime => "movetime",
            Self::Nodes => "nodes",
            Self::Depth => "depth",
        }
    }
}

impl Limit {
    /// Kinds of limit that are set.
    pub fn kinds(&self) -> impl Iterator<Item = LimitKind> {
        let kinds = [
            (LimitKind::Clock, self.clock.is_some()),
            (LimitKind::Movetime, self.movetime.is_some()),
            (LimitKind::Nodes, self.nodes.is_some()),
            (LimitKind::Depth, self.depth.is_some()),
        ];
        kinds.into_iter().filter(|(_, is_set)| *is_set).map(|(kind, _)| kind)
    }
}

impl From<TimeControl> for Limit {
    fn from(clock: TimeControl) -> Self {
        Self { clock: Some(clock), ..Self::default() }
    }
}

/// Parses a time in seconds with up to six decimals: `30`, `0.1`, `.5`.
///
/// # Errors
/// [`LimitError::Seconds`] for any other text, a negative time or one above ten million seconds.
pub fn parse_seconds(text: &str) -> Result<Duration, LimitError> {
    seconds(text).map_err(|reason| LimitError::Seconds { text: text.to_owned(), reason })
}

fn seconds(text: &str) -> Result<Duration, &'static str> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if whole.is_empty() && fraction.is_empty() {
        return Err("the number of seconds is missing");
    }
    if !whole.bytes().chain(fraction.bytes()).all(|b| b.is_ascii_digit()) {
        return Err("seconds are a plain decimal number");
    }
    if fraction.len() > 6 {
        return Err("a time has at most six decimals (microseconds)");
    }
    let whole_s = if whole.is_empty() { 0 } else { whole.parse().unwrap_or(u64::MAX) };
    if whole_s >= LONGEST_S {
        return Err("a time is below 10000000 seconds");
    }
    // At most six digits, so padded on the right they are always a number.
    let micros = format!("{fraction:0<6}").parse::<u64>().map_err(|_| "seconds are a plain decimal number")?;
    Ok(Duration::from_micros(whole_s * 1_000_000 + micros))
}

/// Parses `[min:]sec`.
fn minutes_and_seconds(text: &str) -> Result<Duration, &'static str> {
    let Some((minutes, rest)) = text.split_once(':') else { return seconds(text) };
    let minutes: u64 = digits(minutes).ok_or("minutes are a whole number")?;
    let rest = seconds(rest)?;
    let total = minutes.checked_mul(60).map(Duration::from_secs).and_then(|m| m.checked_add(rest));
    total.filter(|total| total.as_secs() < LONGEST_S).ok_or("a time is below 10000000 seconds")
}

/// Parses a whole number without a sign.
fn digits<T: FromStr>(text: &str) -> Option<T> {
    text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

/// Parses one period.
fn period(text: &str) -> Result<Period, &'static str> {
    let (moves, rest) = match text.split_once('/') {
        Some((moves, rest)) => {
            let moves = digits(moves).filter(|n: &u32| *n > 0);
            (Some(moves.ok_or("moves in a session are a whole number from 1")?), rest)
        }
        None => (None, text),
    };
    let (base, increment) = match rest.split_once('+') {
        Some((base, increment)) => (base, seconds(increment)?),
        None => (rest, Duration::ZERO),
    };
    let base = minutes_and_seconds(base)?;
    if base.is_zero() && increment.is_zero() {
        return Err("there is no time at all in it");
    }
    Ok(Period { moves, base, increment })
}

/// Splits the text at the colon before a second period, if there is one.
fn periods(text: &str) -> (&str, Option<&str>) {
    let starts_period = |at: usize| {
        let is_after_increment = text[..at].contains('+');
        let moves = text[at + 1..].split_once('/').map(|(moves, _)| moves);
        is_after_increment || moves.is_some_and(|moves| moves.bytes().all(|b| b.is_ascii_digit()))
    };
    match text.match_indices(':').map(|(at, _)| at).find(|at| starts_period(*at)) {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    }
}

impl FromStr for TimeControl {
    type Err = LimitError;

    fn from_str(text: &str) -> Result<Self, LimitError> {
        let refuse = |reason| LimitError::TimeControl { text: text.to_owned(), reason };
        let (first, second) = periods(text);
        let Period { moves, base, increment } = period(first).map_err(refuse)?;
        let second = match second {
            Some(_) if moves.is_none() => return Err(refuse("a period before another one needs its number of moves")),
            Some(rest) if periods(rest).1.is_some() => return Err(refuse("it has more than two periods")),
            second => second.map(period).transpose().map_err(refuse)?,
        };
        Ok(Self { moves, base, increment, second })
    }
}

/// Displays seconds without trailing zeros. Fractions of a microsecond are not shown.
pub struct Seconds(pub Duration);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, micros) = (self.0.as_secs(), self.0.subsec_micros());
        if micros == 0 {
            return write!(f, "{whole}");
        }
        let fraction = format!("{micros:06}");
        write!(f, "{whole}.{}", fraction.trim_end_matches('0'))
    }
}

impl fmt::Display for TimeControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.first())?;
        let Some(second) = self.second else { return Ok(()) };
        // A colon after an increment begins a period, any other only before its moves.
        let gap = if self.increment.is_zero() && second.moves.is_none() { "+0" } else { "" };
        write!(f, "{gap}:{second}")
    }
}

impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(moves) = self.moves {
            write!(f, "{moves}/")?;
        }
        write!(f, "{}", Seconds(self.base))?;
        if !self.increment.is_zero() {
            write!(f, "+{}", Seconds(self.increment))?;
        }
        Ok(())
    }
}

impl FromStr for Limit {
    type Err = LimitError;

    fn from_str(text: &str) -> Result<Self, LimitError> {
        let mut limit = Self::default();
        for part in text.split_whitespace() {
            let refuse = || LimitError::Part { text: part.to_owned() };
            let twice = |what| LimitError::Twice { text: text.to_owned(), what };
            match part.split_once('=') {
                None | Some(("tc", _)) if limit.is_timed() => return Err(twice("the time")),
                Some(("movetime", _)) if limit.is_timed() => return Err(twice("the time")),
                Some(("nodes", _)) if limit.nodes.is_some() => return Err(twice("the nodes")),
                Some(("depth", _)) if limit.depth.is_some() => return Err(twice("the depth")),
                None => limit.clock = Some(part.parse()?),
                Some(("tc", clock)) => limit.clock = Some(clock.parse()?),
                Some(("movetime", time)) => {
                    limit.movetime = Some(parse_seconds(time)?).filter(|time| !time.is_zero());
                    limit.movetime.ok_or_else(refuse)?;
                }
                Some(("nodes", n)) => limit.nodes = Some(digits(n).filter(|n: &u64| *n > 0).ok_or_else(refuse)?),
                Some(("depth", n)) => limit.depth = Some(digits(n).filter(|n: &u32| *n > 0).ok_or_else(refuse)?),
                Some(_) => return Err(refuse()),
            }
        }
        if limit.is_empty() { Err(LimitError::Part { text: text.to_owned() }) } else { Ok(limit) }
    }
}

impl fmt::Display for Limit {
    /// Writes `8+0.08`, `nodes=5000`, `movetime=0.1` or `8+0.08 depth=9`; `none` if nothing is set.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            self.clock.map(|clock| clock.to_string()),
            self.movetime.map(|time| format!("movetime={}", Seconds(time))),
            self.nodes.map(|nodes| format!("nodes={nodes}")),
            self.depth.map(|depth| format!("depth={depth}")),
        ];
        let parts: Vec<_> = parts.into_iter().flatten().collect();
        f.write_str(if parts.is_empty() { "none".to_owned() } else { parts.join(" ") }.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn us(micros: u64) -> Duration {
        Duration::from_micros(micros)
    }

    #[test]
    fn time_controls_that_are_read() {
        let tc = |moves, base, increment| TimeControl::new(moves, us(base), us(increment));
        let two = |first: TimeControl, moves, base, increment| TimeControl {
            second: Some(Period { moves, base: us(base), increment: us(increment) }),
            ..first
        };
        let cases = [
            ("8+0.08", tc(None, 8_000_000, 80_000), "8+0.08"),
            ("40/60", tc(Some(40), 60_000_000, 0), "40/60"),
            ("40/1:30+0.5", tc(Some(40), 90_000_000, 500_000), "40/90+0.5"),
            ("1:00", tc(None, 60_000_000, 0), "60"),
            ("0:00.5", tc(None, 500_000, 0), "0.5"),
            ("0+0.1", tc(None, 0, 100_000), "0+0.1"),
            (".000001", tc(None, 1, 0), "0.000001"),
            ("10.", tc(None, 10_000_000, 0), "10"),
            ("60+0", tc(None, 60_000_000, 0), "60"),
            ("40/60+0.6:20/10", two(tc(Some(40), 60_000_000, 600_000), Some(20), 10_000_000, 0), "40/60+0.6:20/10"),
            ("40/1:00:20/0:10", two(tc(Some(40), 60_000_000, 0), Some(20), 10_000_000, 0), "40/60:20/10"),
            ("40/60+0:1:30+2", two(tc(Some(40), 60_000_000, 0), None, 90_000_000, 2_000_000), "40/60+0:90+2"),
            ("40/60:30", tc(Some(40), 3_630_000_000, 0), "40/3630"),
            ("2/1+0.1:0+0.5", two(tc(Some(2), 1_000_000, 100_000), None, 0, 500_000), "2/1+0.1:0+0.5"),
            (
                "9999999.999999+9999999.999999",
                tc(None, 9_999_999_999_999, 9_999_999_999_999),
                "9999999.999999+9999999.999999",
            ),
        ];
        for (text, expected, printed) in cases {
            assert_eq!(text.parse(), Ok(expected), "{text}");
            assert_eq!(expected.to_string(), printed, "{text}");
        }
    }

    #[test]
    fn a_machine_scales_times_to_the_microsecond() {
        let scaled = |limit: &str, millionths: u32| {
            limit.parse::<Limit>().unwrap().scaled(TimeScale::from_millionths(millionths)).to_string()
        };
        for (limit, millionths, expected) in [
            ("1+0.01", 1_400_000, "1.4+0.014"),
            ("40/60 nodes=5000", 666_667, "40/40.00002 nodes=5000"),
            ("movetime=0.1 depth=9", 1_333_333, "movetime=0.133333 depth=9"),
            ("0.000001", 1_500_000, "0.000002"),
            ("40/60+0.6:20/10+1", 1_500_000, "40/90+0.9:20/15+1.5"),
            ("8+0.08", 1_000_000, "8+0.08"),
        ] {
            assert_eq!(scaled(limit, millionths), expected, "{limit}");
        }
        let limit: Limit = "8+0.08".parse().unwrap();
        assert_eq!(limit.scaled(None), limit);
        for (reference, own, shown) in [
            (2_400_000.0, 1_800_000.0, Some("1.333333")),
            (1.0, 100.0, Some("0.010000")),
            (1.0, 101.0, None),
            (1.0, 0.0, None),
            (f64::NAN, 1.0, None),
        ] {
            assert_eq!(TimeScale::of_speeds(reference, own).map(|scale| scale.to_string()).as_deref(), shown);
        }
    }

    #[test]
    fn time_controls_that_are_refused() {
        let cases = [
            ("", "missing"),
            ("+", "missing"),
            ("8+", "missing"),
            ("+0.1", "missing"),
            ("/60", "whole number from 1"),
            ("0/60", "whole number from 1"),
            ("+40/60", "whole number from 1"),
            ("4294967296/60", "whole number from 1"),
            ("0", "no time at all"),
            ("0+0", "no time at all"),
            ("-8+0.08", "plain decimal"),
            ("8+-0.08", "plain decimal"),
            ("8 + 0.08", "plain decimal"),
            ("8,5", "plain decimal"),
            ("1e3", "plain decimal"),
            ("inf", "plain decimal"),
            ("8+0.08+1", "plain decimal"),
            ("8.0.1", "plain decimal"),
            ("1:2:3", "plain decimal"),
            (":30", "minutes"),
            ("x:30", "minutes"),
            ("0.0000001", "six decimals"),
            ("10000000", "below"),
            ("99999999999999999999999", "below"),
            ("99999999999999999:00", "below"),
            ("18446744073709551615:00", "below"),
            ("60+0.6:20/10", "needs its number of moves"),
            ("40/60+0.6:20/10:30/5", "more than two periods"),
            ("40/60+0.6:20/10+1:5", "more than two periods"),
            ("40/60+0.6:0/10", "whole number from 1"),
            ("40/60+0.6:", "missing"),
            ("40/60:20/", "missing"),
            ("40/60:20/0", "no time at all"),
        ];
        for (text, part) in cases {
            let error = text.parse::<TimeControl>().expect_err(text).to_string();
            assert!(error.contains(part) && error.contains(&format!("`{text}`")), "{text}: {error}");
            assert!(error.contains("[moves/][min:]sec[+inc]"), "{text}: {error}");
        }
    }

    #[test]
    fn the_time_of_a_game_counts_both_periods() {
        for (text, moves, expected) in [
            ("8+0.08", 50.0, 12.0),
            ("40/60", 60.0, 90.0),
            ("40/60+0.5:20/10+1", 80.0, 60.0 + 20.0 + 20.0 + 40.0),
            ("40/60+0.5:30", 80.0, 60.0 + 20.0 + 30.0),
            ("40/60+0.5:30", 20.0, 30.0 + 10.0),
        ] {
            let clock: TimeControl = text.parse().expect(text);
            assert!((clock.seconds_of_game(moves) - expected).abs() < 1e-9, "{text}");
        }
    }

    #[test]
    fn limits() {
        let good = [
            ("8+0.08", "8+0.08", true),
            ("tc=40/60", "40/60", true),
            ("movetime=0.1", "movetime=0.1", true),
            ("nodes=5000", "nodes=5000", false),
            ("depth=9", "depth=9", false),
            ("  depth=9   nodes=5000 8+0.08", "8+0.08 nodes=5000 depth=9", true),
        ];
        for (text, printed, timed) in good {
            let limit: Limit = text.parse().expect(text);
            assert_eq!((limit.to_string().as_str(), limit.is_timed()), (printed, timed), "{text}");
            assert_eq!(printed.parse(), Ok(limit), "{text}");
        }
        let bad = [
            ("", "not a limit"),
            ("nodes=0", "`nodes=0` is not a limit"),
            ("nodes=-1", "`nodes=-1` is not a limit"),
            ("nodes=18446744073709551616", "not a limit"),
            ("depth=4294967296", "not a limit"),
            ("movetime=0", "`movetime=0` is not a limit"),
            ("movetime=x", "`x` is not a time"),
            ("colour=red", "`colour=red` is not a limit"),
            ("nodes=5 nodes=6", "sets the nodes twice"),
            ("depth=5 depth=6", "sets the depth twice"),
            ("8+0.08 movetime=1", "sets the time twice"),
            ("movetime=1 8+0.08", "sets the time twice"),
            ("8+0.08 tc=9", "sets the time twice"),
            ("fast", "`fast` is not a time control"),
        ];
        for (text, part) in bad {
            let error = text.parse::<Limit>().expect_err(text).to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
        assert_eq!(Limit::default().to_string(), "none");
        assert!(Limit::default().is_empty() && !Limit::nodes(1).is_empty());
    }

    fn any_time() -> impl Strategy<Value = Duration> {
        (0..LONGEST_S * 1_000_000).prop_map(us)
    }

    proptest! {
        #[test]
        fn no_text_panics(text in ".*", near in "[0-9/:+. =a-z]{0,24}") {
            for text in [text, near] {
                if let Ok(limit) = text.parse::<Limit>() {
                    prop_assert_eq!(limit.to_string().parse(), Ok(limit));
                }
            }
        }

        #[test]
        fn what_is_printed_is_read_back(
            moves in proptest::option::of(1u32..), base in any_time(), increment in any_time(),
            nodes in proptest::option::of(1u64..), depth in proptest::option::of(1u32..),
            later in proptest::option::of((proptest::option::of(1u32..), any_time(), any_time())),
        ) {
            prop_assume!(!base.is_zero() || !increment.is_zero());
            let second = later.map(|(moves, base, increment)| Period { moves, base, increment });
            prop_assume!(second.is_none_or(|second| !second.base.is_zero() || !second.increment.is_zero()));
            let second = second.filter(|_| moves.is_some());
            let clock = TimeControl { moves, base, increment, second };
            let limit = Limit { clock: Some(clock), movetime: None, nodes, depth };
            prop_assert_eq!(limit.to_string().parse(), Ok(limit));
            if !base.is_zero() {
                let limit = Limit { clock: None, movetime: Some(base), nodes, depth };
                prop_assert_eq!(limit.to_string().parse(), Ok(limit));
            }
        }
    }
}
