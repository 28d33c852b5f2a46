//! `quintain worker URL`: plays pairs of runs that other machines coordinate.

use std::io::{IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use tokio::sync::{mpsc, watch};

use crate::cluster::{self, Access, PoolSettings, Role, SimulationSettings, Terms, UnitArgs, WorkerError};
use crate::os::{StopSignal, StopSignals};
use crate::run::{Exit, prepare, progress, resolve};
use crate::schedule::affinity::Topology;
use crate::schedule::capacity::Supply;
use crate::tournament::events::Stop;

/// Name of the file with the owner's terms, in the folder of the user's settings.
const TERMS: &str = "worker.toml";

/// Concurrent games of a simulated worker.
const SIMULATED_SLOTS: u16 = 8;

/// Plays games for the runs of a hub, within the limits of worker.toml.
#[derive(Debug, clap::Args)]
#[command(
    after_long_help = "It runs until interrupted: a first Ctrl-C finishes the pairs in play, a second one hands them back. It \
                             runs only programs that worker.toml allows, from plans signed by a trusted author.\n\n\
                             Examples:\n  quintain worker tls://hub.example:4222 --check\n  \
                             quintain worker tls://hub.example:4222 -j 6"
)]
pub(super) struct WorkerArgs {
    /// Address of the hub.
    #[arg(value_name = "URL")]
    url: String,
    /// Concurrent games of single-threaded engines [default: `slots` of worker.toml, else the
    /// physical cores less one].
    #[arg(short = 'j', long = "slots", value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    slots: Option<u16>,
    /// File of what this machine's owner allows [default: ~/.config/quintain/worker.toml].
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Credentials for the hub [default: those stored by `quintain hub join`].
    #[arg(long, value_name = "FILE")]
    credentials: Option<PathBuf>,
    /// Also serves coordinators of another version of this program.
    #[arg(long)]
    any_version: bool,
    /// Prints what this machine offers and what is missing, then exits, with 1 if anything is.
    ///
    /// Of each listed run it checks author, version, threads, memory and endgame tables.
    /// `quintain workers URL` shows why a worker refuses a program, its arguments or an option.
    #[arg(long)]
    check: bool,
    /// Prints a hardened systemd unit, then exits.
    #[arg(long, conflicts_with = "check")]
    systemd: bool,
    #[command(flatten)]
    simulated: SimulatedArgs,
    #[command(flatten)]
    own: OwnArgs,
}

/// Simulated load that measures a hub.
#[derive(Debug, clap::Args)]
struct SimulatedArgs {
    /// Simulates N workers without engines, only for runs with `--workers "URL simulated"`.
    ///
    /// They request pairs, wait, and send random games, to measure the load that a hub and a
    /// coordinator can handle. -j sets the concurrent games of each worker [default: 8].
    #[arg(long, value_name = "N", hide_short_help = true, value_parser = clap::value_parser!(u16).range(1..), conflicts_with_all = ["check", "systemd", "run"])]
    simulate: Option<u16>,
    /// Mean duration of a simulated pair.
    #[arg(long, value_name = "SECONDS", default_value_t = 50.0, hide_short_help = true, requires = "simulate")]
    pair_time: f64,
    /// Maximum number of plies of a simulated game.
    #[arg(long, value_name = "N", default_value_t = 80, hide_short_help = true, requires = "simulate")]
    plies: u16,
}

/// Arguments that `--workers local:N` passes to its workers.
#[derive(Debug, clap::Args)]
struct OwnArgs {
    /// Name of the run on the server.
    #[arg(long, value_name = "RUN", hide = true, requires_all = ["session", "slot", "user", "folder"])]
    run: Option<String>,
    /// Name of this worker.
    #[arg(long, value_name = "NAME", hide = true, requires = "run")]
    session: Option<String>,
    /// Number of its slot on this machine, which chooses its CPUs.
    #[arg(long, value_name = "N", hide = true, requires = "run")]
    slot: Option<u16>,
    /// User of the server. The password comes through the standard input.
    #[arg(long, value_name = "NAME", hide = true, requires = "run")]
    user: Option<String>,
    /// Folder for its files, which the run removes.
    #[arg(long, value_name = "DIR", hide = true, requires = "run")]
    folder: Option<PathBuf>,
}

pub(super) fn run(args: WorkerArgs) -> Result<Exit> {
    let OwnArgs { run, session, slot, user, folder } = args.own;
    if let (Some(run), Some(session), Some(slot), Some(user), Some(folder)) = (run, session, slot, user, folder) {
        let access = Access { url: args.url, user, role: Role::Owner, password: password()?, certificate: None };
        return serve_own(cluster::Settings { access, run, session, slot, stderr_dir: folder });
    }
    if let Some(workers) = args.simulated.simulate {
        return simulate(&args.url, args.credentials.as_deref(), workers, args.slots, &args.simulated);
    }
    if args.systemd {
        let program = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("/usr/local/bin/quintain"));
        let WorkerArgs { slots, config, credentials, any_version, .. } = args;
        let unit = UnitArgs { slots, config, credentials, any_version };
        if let Some(warning) = cluster::systemd_warning(&program, &unit) {
            progress::warn(&warning);
        }
        progress::result(cluster::systemd_unit(&program, &args.url, &unit).trim_end());
        return Ok(Exit::Done);
    }
    let config =
        args.config.map_or_else(|| Ok::<_, cluster::AccessError>(cluster::config_folder()?.join(TERMS)), Ok)?;
    if args.check {
        let checked =
            cluster::check_worker(&args.url, &config, args.credentials.as_deref(), args.slots, args.any_version);
        let lines = prepare::runtime()?.block_on(checked);
        for (is_fine, line) in &lines {
            progress::result(&format!("{}  {line}", if *is_fine { "ok   " } else { "FAULT" }));
        }
        return Ok(if lines.iter().all(|(is_fine, _)| *is_fine) { Exit::Done } else { Exit::Failed });
    }
    let terms = Terms::read(&config)?;
    let access = Access::find(&args.url, Role::Worker, args.credentials.as_deref())?;
    let scratch = tempfile::Builder::new().prefix("quintain-worker-").tempdir()?;
    let settings = PoolSettings {
        slots: cluster::slots(&terms, args.slots, Topology::detect().physical_cores()),
        memory_mib: cluster::memory_mib(&terms),
        cpu: resolve::cpu(),
        cache: cluster::cache_folder(&access.user)?,
        scratch: PathBuf::from(scratch.path()),
        any_version: args.any_version,
        access,
        terms,
    };
    until_stopped(|stopped, lines| cluster::serve_runs(settings, stopped, lines))
}

/// Serves simulated runs of a hub until a signal arrives.
fn simulate(
    url: &str,
    credentials: Option<&Path>,
    workers: u16,
    slots: Option<u16>,
    args: &SimulatedArgs,
) -> Result<Exit> {
    let pair = Duration::try_from_secs_f64(args.pair_time)
        .with_context(|| format!("--pair-time {}: give seconds, as in 50", args.pair_time))?;
    // It raises the limit on open files: each worker has a connection.
    let _ = Supply::claim();
    let access = Access::find(url, Role::Worker, credentials)?;
    let slots = slots.unwrap_or(SIMULATED_SLOTS);
    let simulation = SimulationSettings { access, workers, slots, pair, plies: args.plies };
    until_stopped(|stopped, lines| cluster::simulate(simulation, stopped, lines))
}

/// Serves until a signal arrives.
fn until_stopped<E: std::error::Error + Send + Sync + 'static, F: Future<Output = Result<(), E>>>(
    serve: impl FnOnce(watch::Receiver<Stop>, mpsc::UnboundedSender<String>) -> F,
) -> Result<Exit> {
    let runtime = prepare::runtime()?;
    runtime.block_on(async {
        let (stop, stopped) = watch::channel(Stop::No);
        let mut signals = StopSignals::listen();
        let (lines, mut said) = mpsc::unbounded_channel();
        let mut serving = std::pin::pin!(serve(stopped, lines));
        loop {
            tokio::select! {
                served = &mut serving => {
                    while let Ok(line) = said.try_recv() {
                        progress::note(&line);
                    }
                    served?;
                    return Ok(if *stop.borrow() == Stop::No { Exit::Done } else { Exit::Interrupted });
                }
                Some(line) = said.recv() => progress::note(&line),
                signal = signals.recv() => stop.send_modify(|stop| {
                    let is_first = signal == StopSignal::Interrupt && *stop == Stop::No;
                    *stop = if is_first { Stop::AfterGame } else { Stop::Now };
                }),
            }
        }
    })
}

/// Serves one run of this machine.
fn serve_own(settings: cluster::Settings) -> Result<Exit> {
    let runtime = prepare::runtime()?;
    match runtime.block_on(cluster::serve(settings)) {
        Ok(()) => Ok(Exit::Done),
        // Another life of the worker may succeed.
        Err(error @ (WorkerError::Link(_) | WorkerError::Forsaken { .. })) => {
            progress::warn(&error.to_string());
            Ok(Exit::Aborted)
        }
        Err(WorkerError::NotReady { why, pairs }) => {
            progress::warn(&why);
            // One that came to nothing is counted by `cluster/children`.
            Ok(if pairs == 0 { Exit::Failed } else { Exit::Aborted })
        }
        Err(error) => Err(error.into()),
    }
}

/// Reads the password of the server from the standard input.
fn password() -> Result<String> {
    let mut input = std::io::stdin().lock();
    let mut password = String::new();
    if !input.is_terminal() {
        // Far longer than any password.
        input.by_ref().take(1 << 10).read_to_string(&mut password)?;
    }
    if password.is_empty() {
        bail!("no password on standard input: --run is only for workers that `--workers local:N` starts");
    }
    Ok(password)
}
