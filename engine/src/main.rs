//! The command line of the engine. Without arguments it speaks UCI.

use destrier::board::attacks::{SlidingMethod, choose_sliding};
use destrier::board::{Board, perft};
use destrier::nnue::simd::Kernels;
use destrier::search::EvalConfig;
use destrier::search::params::spsa_rows;
use destrier::types::MAX_DEPTH;
use destrier::{bench, datagen, uci};
use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use std::time::{Duration, Instant};

const USAGE: &str = "usage: destrier [bench [DEPTH [KERNELS]] | perft DEPTH [FEN] | eval FEN | spsa | datagen OPTIONS]; without arguments it speaks UCI";

/// Exit code of a usage error.
const EXIT_USAGE: u8 = 2;

fn main() -> ExitCode {
    choose_sliding(SlidingMethod::fastest());
    let arguments: Vec<String> = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Usage(message)) => fail(&format!("{message}; {USAGE}"), EXIT_USAGE),
        Err(Failure::Datagen(message)) => fail(&message, EXIT_USAGE),
        // The reader of our output is gone.
        Err(Failure::Io(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(Failure::Io(error)) => fail(&error.to_string(), 1),
    }
}

enum Failure {
    Usage(String),
    /// Usage message of `datagen`, complete as it is.
    Datagen(String),
    Io(io::Error),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::Io(error)
    }
}

fn usage(message: impl Display) -> Failure {
    Failure::Usage(message.to_string())
}

fn fail(message: &str, code: u8) -> ExitCode {
    // If stderr is closed, no one can be told.
    let _ = writeln!(io::stderr(), "destrier: {message}");
    ExitCode::from(code)
}

fn run(words: &[&str]) -> Result<(), Failure> {
    let mut out = io::stdout();
    match words {
        [] => uci::run(io::stdin().lock(), io::stdout())?,
        ["bench"] => print_bench(bench::DEFAULT_DEPTH)?,
        ["bench", depth] => print_bench(parse_depth(depth)?)?,
        ["bench", depth, kernels] => {
            let depth = parse_depth(depth)?;
            choose_kernels(kernels)?;
            print_bench(depth)?;
        }
        ["perft", depth, fen @ ..] => {
            let (depth, board) = (parse_depth(depth)?, parse_fen(fen)?);
            writeln!(out, "{}", perft(&board, depth as u32))?;
        }
        ["eval", fen @ ..] if !fen.is_empty() => {
            let board = parse_fen(fen)?;
            writeln!(out, "{}", EvalConfig::default().describe(&board))?;
        }
        ["spsa"] => write!(out, "{}", spsa_rows())?,
        ["datagen", "-h" | "--help"] => write!(out, "{}", datagen::USAGE)?,
        ["datagen", options @ ..] => {
            make_data(&datagen::parse(options).map_err(|error| Failure::Datagen(error.to_string()))?)?;
        }
        ["-h" | "--help" | "help"] => writeln!(out, "{}\n{USAGE}", uci::NAME)?,
        ["-V" | "--version"] => writeln!(out, "{}", uci::NAME)?,
        _ => return Err(usage(format_args!("unknown arguments `{}`", words.join(" ")))),
    }
    out.flush()?;
    Ok(())
}

fn parse_depth(word: &str) -> Result<i32, Failure> {
    word.parse()
        .ok()
        .filter(|depth| (1..=MAX_DEPTH).contains(depth))
        .ok_or_else(|| usage(format_args!("bad depth `{word}`, expected 1 to {MAX_DEPTH}")))
}

/// Parses a FEN given as one argument or as several. `startpos` or no argument is the starting
/// position.
fn parse_fen(words: &[&str]) -> Result<Board, Failure> {
    if matches!(words, [] | ["startpos"]) {
        return Ok(Board::startpos());
    }
    Board::from_fen(&words.join(" ")).map_err(usage)
}

/// Sets the kernels of the network, which are those of the processor otherwise.
fn choose_kernels(name: &str) -> Result<(), Failure> {
    if Kernels::choose(name) {
        return Ok(());
    }
    let names: Vec<&str> = Kernels::available().iter().map(|kernels| kernels.name).collect();
    Err(usage(format_args!("this processor has no kernels `{name}`, but {}", names.join(", "))))
}

fn print_bench(depth: i32) -> io::Result<()> {
    let mut number = 0;
    let measured = bench::run(depth, |fen, nodes| {
        number += 1;
        // A closed stdout shows in the last line.
        let _ = writeln!(io::stdout(), "{number:>2}/{} {nodes:>9} {fen}", bench::POSITIONS.len());
    })?;
    writeln!(io::stdout(), "{} nodes {} nps", measured.nodes, measured.nps())
}

/// Interval between progress lines, on a terminal and in a log.
const PROGRESS_INTERVALS: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(60)];

/// Formats progress as a bar with a percentage.
fn bar(done: u64, wanted: u64) -> String {
    const WIDTH: u64 = 20;
    let done = done.min(wanted);
    let full = u128::from(done) * u128::from(WIDTH) / u128::from(wanted.max(1));
    let percent = u128::from(done) * 100 / u128::from(wanted.max(1));
    format!("[{:<width$}] {percent} %", "#".repeat(full as usize), width = WIDTH as usize)
}

fn make_data(job: &datagen::Job) -> io::Result<()> {
    let is_terminal = io::stderr().is_terminal();
    let interval = PROGRESS_INTERVALS[usize::from(!is_terminal)];
    let start = Instant::now();
    let mut said = start;
    let mut before = None;
    let tally = datagen::run(job, |tally| {
        let before = *before.get_or_insert(*tally);
        if said.elapsed() >= interval {
            said = Instant::now();
            let seconds = start.elapsed().as_secs_f64();
            let rate = (tally.positions - before.positions) as f64 / seconds;
            let ((done, wanted), (begun, _)) = (tally.progress(job.target), before.progress(job.target));
            let left = wanted.saturating_sub(done) as f64 * seconds / (done - begun).max(1) as f64;
            let bar = bar(done, wanted);
            let end = if is_terminal { "   \r" } else { "\n" };
            // If stderr is closed, no one can be told.
            let _ = write!(io::stderr(), "{bar} {tally}, {rate:.0} positions/s, {left:.0} s left{end}");
        }
    })
    .map_err(io::Error::other)?;
    writeln!(io::stdout(), "{tally} in {}", job.out.display())
}
