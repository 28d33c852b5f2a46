//! Search speed beside other engines: nodes per second of UCI programs that take turns over the same positions.
//!
//! ```sh
//! cargo bench -p destrier --bench peers -- ethereal-chess toga2 ./destrier,EvalFile=other.nnue
//! ```
//!
//! Destrier itself, with its network and with the classical evaluation, is always there. A player is a program, and after
//! commas the options it is given; a network of another engine's size makes the ratios those of the searches alone. Nodes and
//! time are those of an engine's last line of information, since not all say how far they were at the end. One thread and
//! 16 MiB for all; the median of the rounds.
#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]

mod uci;

use destrier::bench::POSITIONS;
use std::env;
use uci::{Player, Result};

const ROUNDS: usize = 3;
/// Milliseconds for each position.
const MOVE_TIME: u32 = 1000;
/// Positions of a round: an opening, middle games and an endgame of the bench.
const PLACES: [usize; 6] = [0, 1, 2, 3, 11, 24];
/// What every player is set to before its own options.
const COMMON: [&str; 2] = ["Hash=16", "Threads=1"];

/// Nodes per second over the positions of a round.
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

/// The number after a key in a line of information.
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
