//! Stop latency: milliseconds from `stop` to `bestmove`, with one thread and with two.
#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]

mod uci;

use std::thread;
use std::time::{Duration, Instant};
use uci::{Player, Result};

const STOPS: usize = 300;
/// Milliseconds of the shortest search. Later searches are longer in turn, so that the stops do not
/// fall into step with anything.
const SEARCH: u64 = 150;
const SPREAD: u64 = 97;

/// Returns the latencies of [`STOPS`] searches in milliseconds, the shortest first.
fn latencies(threads: usize) -> Result<Vec<f64>> {
    let spec = format!("{},Threads={threads}", env!("CARGO_BIN_EXE_destrier"));
    let mut player = Player::start(&spec, &[])?;
    player.say("isready")?;
    player.listen("readyok", |_| ())?;
    let mut found = Vec::with_capacity(STOPS);
    for stop in 0..STOPS as u64 {
        player.say("position startpos moves e2e4")?;
        player.say("go infinite")?;
        thread::sleep(Duration::from_millis(SEARCH + stop * 31 % SPREAD));
        let start = Instant::now();
        player.say("stop")?;
        player.listen("bestmove", |_| ())?;
        found.push(start.elapsed().as_secs_f64() * 1000.0);
    }
    found.sort_by(f64::total_cmp);
    Ok(found)
}

fn main() -> Result<()> {
    for threads in [1, 2] {
        let found = latencies(threads)?;
        let [median, most, last] = [50, 95, 100].map(|percent| found[(STOPS * percent / 100).min(STOPS - 1)]);
        println!(
            "{threads} threads, {STOPS} stops: median {median:.1} ms, 95 % within {most:.1} ms, all within {last:.1} ms"
        );
    }
    Ok(())
}
