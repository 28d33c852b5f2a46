//! What was typed, and what the shell gets back.

mod book;
mod progress;
mod replay;
mod resolve;
mod resume;
mod run;
mod run_dir;
mod sprt;
mod stats;

use std::process::ExitCode;

use clap::{ColorChoice, Parser, Subcommand};

/// What a command tells the shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done; for a test, H1 was accepted.
    Done,
    /// H0 was accepted.
    H0,
    /// A replayed engine failed again.
    FailedAgain,
    /// Out of pairs, time or patience.
    Inconclusive,
    /// Too many engine failures, or the run could not be recorded.
    Aborted,
    /// Interrupted, resumable.
    Interrupted,
}

impl Exit {
    /// The exit code.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::H0 | Self::FailedAgain => 1,
            Self::Inconclusive => 3,
            Self::Aborted => 4,
            Self::Interrupted => 130,
        }
    }
}

/// Bad usage, a bad plan or file, or an engine that does not start.
const EXIT_USAGE: u8 = 2;

const AFTER_HELP: &str = "\
Exit codes:
  0    done (sprt: H1 accepted)
  1    sprt: H0 accepted; replay: the engine failed again
  2    bad usage, plan, file, or engine that does not start
  3    inconclusive: out of pairs or time
  4    aborted by engine failures beyond the limit
  130  interrupted; `quintain resume` goes on

Examples:
  quintain sprt                                     is the working tree stronger than the last engine commit?
  quintain sprt --new git:my-branch --base git:main --tc 8+0.08 --bounds 0,5
  quintain resume results/runs/20260101-120000-sprt
  quintain stats --ptnml 379,10170,21828,10640,343 --bounds 0,2";

/// Tests UCI chess engines: is this commit stronger than that one?
#[derive(Debug, Parser)]
#[command(name = "quintain", version, after_help = AFTER_HELP, max_term_width = 110)]
struct Cli {
    /// When to colour the output.
    #[arg(long, value_name = "WHEN", default_value = "auto", global = true)]
    color: ColorChoice,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Is `new` stronger than `base`? Plays pairs until a sequential test can say.
    Sprt(Box<sprt::SprtArgs>),
    /// Goes on with a run that was stopped, killed or cut off by a power failure.
    Resume(resume::ResumeArgs),
    /// Says to an engine again what it was told in a game of a run: does it fail again?
    Replay(replay::ReplayArgs),
    /// Elo, LOS and LLR of given counts.
    Stats(stats::StatsArgs),
    /// Makes, describes and checks opening books.
    Book(book::BookArgs),
}

/// Parses the command line, runs the command, and reports errors in one line.
#[must_use]
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { EXIT_USAGE } else { 0 });
        }
    };
    tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::try_from_env("QUINTAIN_LOG").unwrap_or_else(|_| "warn".into()))
        .with_writer(std::io::stderr)
        .without_time()
        .with_target(false)
        .init();
    let result = match cli.command {
        Command::Sprt(args) => sprt::run(&args),
        Command::Resume(args) => resume::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Stats(args) => stats::run(&args, &mut std::io::stdout().lock()).map(|()| Exit::Done),
        Command::Book(args) => book::run(&args),
    };
    match result {
        Ok(exit) => ExitCode::from(exit.code()),
        Err(error) => {
            progress::error(&error);
            ExitCode::from(EXIT_USAGE)
        }
    }
}
