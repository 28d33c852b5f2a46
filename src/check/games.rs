//! Games in one process, and the clock as the harness reads it.

use std::time::Duration;

use super::peer::{At, Peer};
use super::{Answer, Bench, Finding};
use crate::plan::openings::order::SplitMix64;

/// What a clock may be overstepped by, as in a plan that says nothing else.
const MARGIN: Duration = Duration::from_millis(10);

/// A legal move that nobody thought about.
fn any_move(at: &At, random: &mut SplitMix64) -> Option<String> {
    let mut moves = at.position().legal_moves();
    moves.sort();
    let count = u32::try_from(moves.len()).ok().filter(|count| *count > 0)?;
    moves.into_iter().nth(random.below(count) as usize)
}

pub(super) fn games(peer: &mut Peer, _: &Bench) -> Answer {
    const GAMES: u64 = 4;
    const PLIES: usize = 60;
    let mut searches = 0;
    for game in 0..GAMES {
        peer.say("ucinewgame");
        peer.ready()?;
        let mut random = SplitMix64::new(game);
        let mut at = At::start();
        // In the first game it plays both sides, then Black or White against moves at random.
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

/// By how much a search overstepped what it had; an error if the machine does not excuse it.
fn overstep(bench: &Bench, taken: Duration, had: Duration, what: &str) -> Result<Option<String>, String> {
    let Some(over) = taken.checked_sub(had + MARGIN).filter(|over| !over.is_zero()) else { return Ok(None) };
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    let text = format!("{what}: took {:.1} ms of {:.1} ms (margin {:.0} ms)", ms(taken), ms(had), ms(MARGIN));
    let lag = bench.lag.worst();
    if lag >= over {
        return Ok(Some(format!("{text}, but this machine woke a thread {:.1} ms late meanwhile", ms(lag))));
    }
    Err(text)
}

pub(super) fn clock(peer: &mut Peer, bench: &Bench) -> Answer {
    const BASE: Duration = Duration::from_millis(200);
    const INCREMENT: Duration = Duration::from_millis(10);
    const PLIES: usize = 120;
    let mut at = At::start();
    let mut left = [BASE; 2];
    let mut least = BASE;
    let mut plies = 0;
    peer.say("ucinewgame");
    peer.ready()?;
    while plies < PLIES && at.position().over().is_none() {
        let clock = &mut left[plies % 2];
        let had = *clock;
        let ms = |time: Duration| time.as_millis().max(1);
        let go = if plies % 2 == 0 {
            format!("wtime {} btime {} winc 10 binc 10", ms(had), ms(left[1]))
        } else {
            format!("wtime {} btime {} winc 10 binc 10", ms(left[0]), ms(had))
        };
        bench.lag.reset();
        let begun = peer.begin(&at.text(), &go);
        let search = peer.answer(begun, had + peer.patience)?;
        at.check(&search.best)?;
        plies += 1;
        if let Some(excused) = overstep(bench, search.elapsed, had, &format!("move {plies} at 0.2+0.01"))? {
            return Finding::warn(excused);
        }
        let rest = had.saturating_sub(search.elapsed);
        least = least.min(rest);
        left[(plies - 1) % 2] = rest + INCREMENT;
        at.play(&search.best)?;
    }
    Finding::pass(format!("{plies} moves at 0.2+0.01, least left {:.1} ms", least.as_secs_f64() * 1e3))
}

pub(super) fn fixed_time(peer: &mut Peer, bench: &Bench) -> Answer {
    const TIME: Duration = Duration::from_millis(100);
    const PLIES: usize = 10;
    let mut at = At::start();
    let mut worst = Duration::ZERO;
    for ply in 0..PLIES {
        bench.lag.reset();
        let search = peer.go_legal(&at, "movetime 100")?;
        if let Some(excused) = overstep(bench, search.elapsed, TIME, &format!("move {} at 0.1 s a move", ply + 1))? {
            return Finding::warn(excused);
        }
        worst = worst.max(search.elapsed);
        at.play(&search.best)?;
        if at.position().over().is_some() {
            break;
        }
    }
    Finding::pass(format!("longest of {PLIES} moves at 0.1 s: {:.1} ms", worst.as_secs_f64() * 1e3))
}
