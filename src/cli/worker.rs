//! `quintain worker URL`: plays pairs of a run that another process coordinates.

use std::io::{IsTerminal as _, Read as _};
use std::path::PathBuf;

use anyhow::{Result, bail};

use crate::cluster::{self, Access, Role, WorkerError};
use crate::run::{Exit, prepare};

/// Plays pairs of a run that another process coordinates. `--workers local:N` starts it.
#[derive(Debug, clap::Args)]
pub(super) struct WorkerArgs {
    /// Address of the server.
    #[arg(value_name = "URL")]
    url: String,
    /// Name of the run on the server.
    #[arg(long, value_name = "RUN")]
    run: String,
    /// Name of this worker.
    #[arg(long, value_name = "NAME")]
    session: String,
    /// Number of its slot on this machine, which chooses its CPUs.
    #[arg(long, value_name = "N")]
    slot: u16,
    /// User of the server. The password comes through the standard input.
    #[arg(long, value_name = "NAME")]
    user: String,
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
        bail!("no password on the standard input: a worker is started by `--workers local:N` of a command that plays");
    }
    Ok(password)
}

pub(super) fn run(args: WorkerArgs) -> Result<Exit> {
    let password = password()?;
    let runtime = prepare::runtime()?;
    let stderr = tempfile::Builder::new().prefix("quintain-worker-").tempdir()?;
    let settings = cluster::Settings {
        access: Access { url: args.url, user: args.user, role: Role::Owner, password, certificate: None },
        run: args.run,
        session: args.session,
        slot: args.slot,
        stderr_dir: PathBuf::from(stderr.path()),
    };
    match runtime.block_on(cluster::serve(settings)) {
        Ok(()) => Ok(Exit::Done),
        // Another life of the worker may succeed.
        Err(error @ (WorkerError::Link(_) | WorkerError::Forsaken { .. })) => {
            crate::run::progress::warn(&error.to_string());
            Ok(Exit::Aborted)
        }
        Err(error) => Err(error.into()),
    }
}
