//! Search speed compared with other engines: nodes per second of UCI programs that take turns over
//! the same positions.
//!
//! ```sh
//! cargo bench -p destrier --bench peers -- ethereal-chess toga2 ./destrier,EvalFile=other.nnue
//! ```
//!
//! Destrier itself always takes part, with its network and with the classical evaluation. A player
//! is a program, followed by its options after commas. With a network of the other engine's size,
//! the ratios are those of the searches alone. Nodes and time are those of an engine's last `info`
//! line, because not all engines report them at the end. All use one thread and 16 MiB of hash. The
//! result is the median of the rounds.
#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]

mod uci;

use destrier::bench::POSITIONS;
use std::env;
use uci::{Player, Result};

const ROUNDS: usize = 3;
/// Milliseconds per position.
const MOVE_TIME: u32 = 1000;
/// Positions per round: an opening, middlegames and an endgame of the bench.
const PLACES: [usize; 6] = [0, 1, 2, 3, 11, 24];
/// Options set for every player before its own.
const COMMON: [&str; 2] = ["Hash=16", "Threads=1"];

/// Returns the nodes per second over the positions of a round.
fn round(player: &mut Player) -> Result<f64> {
    player.say("ucinewgame")?;
    player.say("isready")?;
    player.listen("readyok", |_| ())?;
    let (mut nodes, mut milliseconds) = (0, 0);
    for place in PLACES {
        player.say(&format!("position fen {}", POSITIONS[place]))?;
        player.say(&format!("go movetime {MOVE_TIME}"))?;
        let mut last = None;
        player.listen("bestmove", |line| {
            last = number(line, "nodes").zip(number(line, "time")).or(last);
        })?;
        let (some_nodes, some_time) =
            last.ok_or_else(|| format!("{} says neither nodes nor time of its searches", player.name))?;
        nodes += some_nodes;
        milliseconds += some_time;
    }
    Ok(nodes as f64 * 1000.0 / milliseconds.max(1) as f64)
}

/// Returns the number after a key in an `info` line.
fn number(line: &str, key: &str) -> Option<u64> {
    let mut words = line.split_whitespace();
    words.next().filter(|first| *first == "info")?;
    words.find(|word| *word == key)?;
    words.next()?.parse().ok()
}

fn main() -> Result<()> {
    let destrier = env!("CARGO_BIN_EXE_destrier");
    let own = [destrier.to_owned(), format!("{destrier},EvalMode=classical")];
    // Cargo passes `--bench`.
    let others = env::args().skip(1).filter(|arg| !arg.starts_with("--"));
    let mut players: Vec<Player> =
        own.into_iter().chain(others).map(|spec| Player::start(&spec, &COMMON)).collect::<Result<_>>()?;
    let mut speeds = vec![Vec::new(); players.len()];
    for _ in 0..ROUNDS {
        for (player, speeds) in players.iter_mut().zip(&mut speeds) {
            speeds.push(round(player)?);
        }
    }
    println!(
        "{} positions of {MOVE_TIME} ms, median of {ROUNDS} rounds: million nodes per second, ratio to the first",
        PLACES.len()
    );
    let medians = speeds.iter_mut().map(|speeds| {
        speeds.sort_by(f64::total_cmp);
        speeds[ROUNDS / 2]
    });
    let medians: Vec<f64> = medians.collect();
    for (player, median) in players.iter().zip(&medians) {
        println!("{:40} {:>6.2} {:>6.2}", player.name, median / 1e6, median / medians[0]);
    }
    Ok(())
}
