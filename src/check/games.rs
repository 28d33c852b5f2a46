//! Games in one process, and the clock as the harness reads it.

use std::time::Duration;

use super::peer::{CheckedProcess, SentPosition};
use super::{CheckAnswer, CheckedEngine, Finding};
use crate::stats::random::SplitMix64;

/// Time by which a clock may be overstepped, the default margin of a plan.
const MARGIN: Duration = Duration::from_millis(10);

/// A random legal move.
fn any_move(at: &SentPosition, random: &mut SplitMix64) -> Option<String> {
    let mut moves = at.position().legal_moves();
    moves.sort();
    let count = u32::try_from(moves.len()).ok().filter(|count| *count > 0)?;
    moves.into_iter().nth(random.below(count) as usize)
}

pub(super) fn games(peer: &mut CheckedProcess, _: &CheckedEngine) -> CheckAnswer {
    const GAMES: u64 = 4;
    const PLIES: usize = 60;
    let mut searches = 0;
    for game in 0..GAMES {
        peer.say("ucinewgame");
        peer.ready()?;
        let mut random = SplitMix64::new(game);
        let mut at = SentPosition::start();
        // In the first game it plays both sides, then Black or White against random moves.
        for ply in 0..PLIES {
            if at.position().over().is_some() {
                break;
            }
            if game > 0 && ply as u64 % 2 == game % 2 {
                let Some(word) = any_move(&at, &mut random) else { break };
                at.play(&word)?;
            } else {
                let search = peer.go_legal(&at, "depth 3").map_err(|why| format!("game {}: {why}", game + 1))?;
                at.play(&search.best)?;
                searches += 1;
            }
        }
    }
    Finding::pass(format!("{GAMES} games, {searches} moves"))
}

/// Result of an attempt under a clock.
enum ClockTrial {
    /// Answer in time, with a remark for the report.
    InTime(String),
    /// Late answer, although this machine was not delayed.
    Late(String),
    /// Late answer on a machine that was delayed by as much.
    Disturbed(String),
}

/// Repeats an attempt that was late. A busy machine may delay a reader without a trace, so an
/// overrun counts only if it occurs twice: an engine repeats its faults.
fn again(
    peer: &mut CheckedProcess,
    bench: &CheckedEngine,
    attempt: fn(&mut CheckedProcess, &CheckedEngine) -> Result<ClockTrial, String>,
) -> CheckAnswer {
    const TRIES: usize = 3;
    let mut late: Option<String> = None;
    let mut disturbed = None;
    for _ in 0..TRIES {
        peer.say("ucinewgame");
        peer.ready()?;
        match (attempt(peer, bench)?, &late) {
            (ClockTrial::InTime(text), None) => return Finding::pass(text),
            (ClockTrial::InTime(_), Some(first)) => {
                return Finding::warn(format!("{first}; not in a second attempt"));
            }
            (ClockTrial::Late(text), Some(_)) => return Err(text),
            (ClockTrial::Late(text), None) => late = Some(text),
            (ClockTrial::Disturbed(text), _) => disturbed = Some(text),
        }
    }
    Finding::warn(late.or(disturbed).unwrap_or_default())
}

/// Compares the time of a search with the time that it had. `kept` is the time for which this
/// machine kept the engine, or a thread of ours, from a CPU.
fn overstep(kept: Duration, taken: Duration, had: Duration, what: &str) -> Option<ClockTrial> {
    let over = taken.checked_sub(had + MARGIN).filter(|over| !over.is_zero())?;
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    let text = format!("{what}: took {:.1} ms of {:.1} ms (margin {:.0} ms)", ms(taken), ms(had), ms(MARGIN));
    Some(if kept >= over {
        ClockTrial::Disturbed(format!("{text}, but this machine kept it from a CPU for {:.1} ms meanwhile", ms(kept)))
    } else {
        ClockTrial::Late(text)
    })
}

pub(super) fn clock(peer: &mut CheckedProcess, bench: &CheckedEngine) -> CheckAnswer {
    again(peer, bench, game_under_a_clock)
}

fn game_under_a_clock(peer: &mut CheckedProcess, bench: &CheckedEngine) -> Result<ClockTrial, String> {
    const BASE: Duration = Duration::from_millis(200);
    const INCREMENT: Duration = Duration::from_millis(10);
    const PLIES: usize = 120;
    let ms = |time: Duration| time.as_millis().max(1);
    let mut at = SentPosition::start();
    let mut left = [BASE; 2];
    let mut least = BASE;
    let mut plies = 0;
    // Of the whole game, because the clock has paid for all of them.
    let mut waited = Duration::ZERO;
    bench.lag.reset();
    while plies < PLIES && at.position().over().is_none() {
        let had = left[plies % 2];
        let begun = peer.begin(&at.text(), &format!("wtime {} btime {} winc 10 binc 10", ms(left[0]), ms(left[1])));
        let search = peer.answer(begun, had + peer.patience)?;
        at.check(&search.best)?;
        waited += search.waited;
        let (kept, what) = (bench.lag.worst() + waited, format!("move {} at 0.2+0.01", plies + 1));
        if let Some(late) = overstep(kept, search.elapsed, had, &what) {
            return Ok(late);
        }
        let rest = had.saturating_sub(search.elapsed);
        least = least.min(rest);
        left[plies % 2] = rest + INCREMENT;
        at.play(&search.best)?;
        plies += 1;
    }
    Ok(ClockTrial::InTime(format!("{plies} moves at 0.2+0.01, least left {:.1} ms", least.as_secs_f64() * 1e3)))
}

pub(super) fn fixed_time(peer: &mut CheckedProcess, bench: &CheckedEngine) -> CheckAnswer {
    again(peer, bench, moves_of_fixed_time)
}

fn moves_of_fixed_time(peer: &mut CheckedProcess, bench: &CheckedEngine) -> Result<ClockTrial, String> {
    const TIME: Duration = Duration::from_millis(100);
    const PLIES: usize = 10;
    let mut at = SentPosition::start();
    let mut worst = Duration::ZERO;
    for ply in 0..PLIES {
        bench.lag.reset();
        let search = peer.go_legal(&at, "movetime 100")?;
        let (kept, what) = (bench.lag.worst() + search.waited, format!("move {} at 0.1 s a move", ply + 1));
        if let Some(late) = overstep(kept, search.elapsed, TIME, &what) {
            return Ok(late);
        }
        worst = worst.max(search.elapsed);
        at.play(&search.best)?;
        if at.position().over().is_some() {
            break;
        }
    }
    Ok(ClockTrial::InTime(format!("longest of {PLIES} moves at 0.1 s: {:.1} ms", worst.as_secs_f64() * 1e3)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lateness_beyond_the_machines_own_is_the_engines() {
        let ms = Duration::from_millis;
        for (kept, taken, found) in
            [(0, 100, "in time"), (0, 110, "in time"), (0, 111, "late"), (4, 115, "late"), (5, 115, "disturbed")]
        {
            let told = match overstep(ms(kept), ms(taken), ms(100), "a move") {
                None => "in time",
                Some(ClockTrial::Late(_)) => "late",
                Some(ClockTrial::Disturbed(text)) if text.contains("from a CPU for 5.0 ms") => "disturbed",
                Some(_) => "?",
            };
            assert_eq!(told, found, "{taken} ms, kept {kept} ms");
        }
    }
}
