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

use destrier::bench::POSITIONS;
use std::env;
use std::error::Error;
use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

const ROUNDS: usize = 3;
/// Milliseconds for each position.
const MOVE_TIME: u32 = 1000;
/// Positions of a round: an opening, middle games and an endgame of the bench.
const PLACES: [usize; 6] = [0, 1, 2, 3, 11, 24];
/// What every player is set to before its own options.
const COMMON: [&str; 2] = ["Hash=16", "Threads=1"];

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// A UCI program.
struct Player {
    name: String,
    child: Child,
    commands: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
}

impl Player {
    /// Starts `PROGRAM[,OPTION=VALUE]...`.
    fn start(spec: &str) -> Result<Player> {
        let mut parts = spec.split(',');
        let program = parts.next().unwrap_or_default();
        let mut command = Command::new(program);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let advice = "name a program with its path, or one that PATH has";
        let mut child = command.spawn().map_err(|e| format!("{program} cannot be started ({e}): {advice}"))?;
        let commands = child.stdin.take().ok_or("no input")?;
        let answers = BufReader::new(child.stdout.take().ok_or("no output")?).lines();
        let file = program.rsplit('/').next().unwrap_or(program);
        let name = [file].into_iter().chain(parts.clone()).collect::<Vec<_>>().join(" ");
        let mut player = Player { name, child, commands, answers };
        player.say("uci")?;
        player.listen("uciok", |_| ())?;
        for option in COMMON.into_iter().chain(parts) {
            let (name, value) = option.split_once('=').ok_or_else(|| format!("{option} is no OPTION=VALUE"))?;
            player.say(&format!("setoption name {name} value {value}"))?;
        }
        Ok(player)
    }

    fn say(&mut self, line: &str) -> Result<()> {
        writeln!(self.commands, "{line}").map_err(|e| format!("{} is gone: {e}", self.name).into())
    }

    /// Gives every line to `hear` until one begins with `last`.
    fn listen(&mut self, last: &str, mut hear: impl FnMut(&str)) -> Result<()> {
        for line in &mut self.answers {
            let line = line?;
            if line.split_whitespace().next() == Some(last) {
                return Ok(());
            }
            hear(&line);
        }
        Err(format!("{} ended before it said {last}", self.name).into())
    }

    /// Nodes per second over the positions of a round.
    fn round(&mut self) -> Result<f64> {
        self.say("ucinewgame")?;
        self.say("isready")?;
        self.listen("readyok", |_| ())?;
        let (mut nodes, mut milliseconds) = (0, 0);
        for place in PLACES {
            self.say(&format!("position fen {}", POSITIONS[place]))?;
            self.say(&format!("go movetime {MOVE_TIME}"))?;
            let mut last = None;
            self.listen("bestmove", |line| {
                last = number(line, "nodes").zip(number(line, "time")).or(last);
            })?;
            let (some_nodes, some_time) =
                last.ok_or_else(|| format!("{} says neither nodes nor time of its searches", self.name))?;
            nodes += some_nodes;
            milliseconds += some_time;
        }
        Ok(nodes as f64 * 1000.0 / milliseconds.max(1) as f64)
    }
}

impl Drop for Player {
    fn drop(&mut self) {
        // Whether it is still there or not, it is gone after this.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
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
        own.into_iter().chain(others).map(|spec| Player::start(&spec)).collect::<Result<_>>()?;
    let mut speeds = vec![Vec::new(); players.len()];
    for _ in 0..ROUNDS {
        for (player, speeds) in players.iter_mut().zip(&mut speeds) {
            speeds.push(player.round()?);
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
