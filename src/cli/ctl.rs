//! `quintain ctl DIR COMMAND`: control of a live run.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Subcommand;

use crate::cli::runs::run_parser;
use crate::control::client::Client;
use crate::control::protocol::{ClientMessage, ServerMessage};
use crate::plan::Workers;
use crate::report::workers;
use crate::run::dir::RunDir;
use crate::run::{progress, series};

/// Steers a live run over the socket in its directory, and prints how it is played then.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "Exit codes: 0 done, 2 not done: the run is not live, or it refused.\n\nExamples:\n  \
                  quintain ctl results/runs/20260101-120000-sprt pause\n  \
                  quintain ctl results/runs/20260101-120000-sprt concurrency 4\n  \
                  quintain ctl results/runs/20260101-120000-sprt workers drop local-2")]
pub(super) struct CtlArgs {
    /// The run: its directory, an id of `quintain runs`, the end of one, or `latest`. Of a
    /// tuning and of a series of matches, the run that it plays.
    #[arg(value_name = "RUN", value_parser = run_parser())]
    dir: PathBuf,
    /// Print the answer as one line of JSON.
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: CtlCommand,
}

#[derive(Clone, Debug, Subcommand)]
enum CtlCommand {
    /// Show the state of the run.
    Status,
    /// Finish the games in play or being started, and start no other until `resume`.
    ///
    /// Workers in other processes finish the pairs that they hold. `status` says at once that the
    /// run is paused, and how many games are still being played.
    Pause,
    /// Continue after `pause`.
    Resume,
    /// Let running games finish, then end, as one Ctrl-C does; `quintain resume` continues.
    Stop {
        /// Let started pairs finish, too, so that none is cut in two.
        #[arg(long)]
        after_pairs: bool,
    },
    /// Play N concurrent games from now on: new slots start at once, surplus slots end after their
    /// game.
    Concurrency {
        /// Number of games: at least 1; at most one per CPU under a clock and 64 without, and no
        /// more than the limits on open files and processes allow.
        #[arg(value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
        games: u16,
    },
    /// List the workers in other processes, with their games and states.
    Workers {
        #[command(subcommand)]
        command: Option<WorkersCommand>,
    },
}

#[derive(Clone, Debug, Subcommand)]
enum WorkersCommand {
    /// Play no more pairs on a worker, and its pairs in play on others. It stays out until the run
    /// is resumed.
    Drop {
        /// Name of the worker, as listed.
        #[arg(value_name = "NAME")]
        name: String,
    },
}

pub(super) fn run(args: &CtlArgs) -> Result<()> {
    let (dir, plan) = RunDir::open(&series::newest_run(&args.dir))?;
    let ask = match &args.command {
        CtlCommand::Status => ClientMessage::Status,
        CtlCommand::Pause => ClientMessage::Pause,
        CtlCommand::Resume => ClientMessage::Resume,
        CtlCommand::Stop { after_pairs: false } => ClientMessage::Stop,
        CtlCommand::Stop { after_pairs: true } => ClientMessage::StopAfterPairs,
        CtlCommand::Concurrency { games } => ClientMessage::Concurrency { games: *games },
        CtlCommand::Workers { command: None } => ClientMessage::Workers,
        CtlCommand::Workers { command: Some(WorkersCommand::Drop { name }) } => {
            ClientMessage::DropWorker { name: name.clone() }
        }
    };
    let (text, answer) = Client::connect(dir.root())?.ask(ask)?;
    match answer {
        ServerMessage::Status { .. } | ServerMessage::Workers { .. } if args.json => progress::result(&text),
        ServerMessage::Workers { workers, .. } if workers.is_empty() => {
            progress::result(&no_worker(plan.workers.as_ref()));
        }
        ServerMessage::Workers { workers, .. } => progress::result(&workers::table(&workers).join("\n")),
        ServerMessage::Status { phase, concurrency, playing, .. } => {
            progress::result(&format!("{phase}, concurrency {concurrency}, {playing} being played"));
        }
        ServerMessage::Error { error } => bail!("{}: {error}", dir.root().display()),
        _ => {
            bail!("{}: the run sent an unknown answer: {}", dir.root().display(), text.trim_end())
        }
    }
    Ok(())
}

/// Answer of a run without workers, whose plan may have some.
fn no_worker(planned: Option<&Workers>) -> String {
    match planned {
        None => "no worker: this run is played by threads of its own".to_owned(),
        Some(Workers::Local(_)) => "no worker: none has started yet, or the run was resumed with -j".to_owned(),
        Some(Workers::Hub(hub)) => format!(
            "no worker: none has come yet, or the run was resumed with -j; `quintain workers {}` lists those of the hub",
            hub.url
        ),
    }
}
