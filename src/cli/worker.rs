//! `quintain worker URL`: plays pairs of a run that another process coordinates.

use std::path::PathBuf;

use anyhow::{Result, bail};

use crate::cluster::{self, Address, WorkerError};
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
    /// User of the server. The password is in the environment.
    #[arg(long, value_name = "NAME")]
    user: String,
}

pub(super) fn run(args: WorkerArgs) -> Result<Exit> {
    let Ok(password) = std::env::var(cluster::PASSWORD) else {
        bail!("{} is not set: a worker is started by `--workers local:N` of a command that plays", cluster::PASSWORD);
    };
    let runtime = prepare::runtime()?;
    let stderr = tempfile::Builder::new().prefix("quintain-worker-").tempdir()?;
    let settings = cluster::Settings {
        address: Address { url: args.url, user: args.user, password },
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
