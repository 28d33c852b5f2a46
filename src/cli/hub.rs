//! `quintain hub`: the server to which workers and coordinators connect, and its users.

use std::io::{BufRead as _, IsTerminal as _, Read as _};
use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::Result;

use crate::cluster::{self, Access, HubSettings, Role};
use crate::os::StopSignals;
use crate::run::{Exit, prepare, progress};

/// Maximum size of an invitation in bytes.
const INVITATION_BYTES: u64 = 4 << 10;

/// Runs a hub, to which the workers of several machines connect.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_long_help = "It needs the program nats-server. Beyond loopback all connections are encrypted, and an invitation holds the \
                  fingerprint of this hub's certificate. Files and results that no run needs are removed.\n\nExamples:\n  \
                  quintain hub --listen 0.0.0.0:4222\n  quintain hub invite box2\n  quintain hub join < invitation"
)]
pub(super) struct HubArgs {
    #[command(flatten)]
    serve: HubServeArgs,
    #[command(subcommand)]
    command: Option<HubCommand>,
}

#[derive(Debug, clap::Args)]
struct HubServeArgs {
    /// Address and port; 0.0.0.0 for all networks of this machine, port 0 for a free one [default:
    /// the previous one, initially 127.0.0.1:4222].
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
    /// Name or address by which other machines reach this one [default: the previous one; initially
    /// and with another --listen address, that on the local network].
    #[arg(long, value_name = "HOST")]
    host: Option<String>,
    /// Maximum size of stored results and files, in GiB.
    #[arg(long, value_name = "GIB", default_value_t = 10, value_parser = clap::value_parser!(u64).range(2..1 << 20))]
    disk: u64,
    #[command(flatten)]
    data: DataArgs,
}

#[derive(Debug, clap::Args)]
struct DataArgs {
    /// Folder of the hub [default: ~/.config/quintain/hub].
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
}

#[derive(Debug, clap::Subcommand)]
enum HubCommand {
    /// Creates credentials and prints them as one line for `quintain hub join`.
    Invite {
        /// Name of the machine or person: a-z, 0-9 and -. A known name gets new credentials.
        #[arg(value_name = "NAME")]
        name: String,
        /// Invites somebody who starts runs, not a worker.
        #[arg(long)]
        coordinator: bool,
        /// Writes a credentials file instead of the line.
        #[arg(long, value_name = "FILE")]
        file: Option<PathBuf>,
        #[command(flatten)]
        data: DataArgs,
    },
    /// Lists the users.
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        data: DataArgs,
    },
    /// Revokes a user's credentials and drops its connections.
    Revoke {
        /// Name of the user.
        #[arg(value_name = "NAME")]
        name: String,
        #[command(flatten)]
        data: DataArgs,
    },
    /// Reads the line of `quintain hub invite` from standard input and stores the credentials.
    Join,
}

impl DataArgs {
    fn folder(self) -> Result<PathBuf> {
        Ok(self.data.map_or_else(cluster::default_folder, Ok)?)
    }
}

pub(super) fn run(args: HubArgs) -> Result<Exit> {
    match args.command {
        None => serve(args.serve)?,
        Some(HubCommand::Invite { name, coordinator, file, data }) => {
            let role = if coordinator { Role::Coordinator } else { Role::Worker };
            let access = prepare::runtime()?.block_on(cluster::invite(&data.folder()?, &name, role))?;
            match file {
                Some(file) => access.write(&file)?,
                None => {
                    progress::note(&format!(
                        "paste the next line into `quintain hub join` on the machine of {name}; anybody who has the line can act as {name}"
                    ));
                    progress::result(&access.invitation());
                }
            }
        }
        Some(HubCommand::List { json, data }) => list(json, data)?,
        Some(HubCommand::Revoke { name, data }) => {
            prepare::runtime()?.block_on(cluster::revoke(&data.folder()?, &name))?;
            progress::note(&format!("{name} is revoked, and its connections are dropped"));
        }
        Some(HubCommand::Join) => join()?,
    }
    Ok(Exit::Done)
}

fn serve(args: HubServeArgs) -> Result<()> {
    let settings = HubSettings {
        folder: args.data.folder()?,
        config: Some(cluster::config_folder()?),
        listen: args.listen,
        host: args.host,
        most_bytes: args.disk << 30,
    };
    let runtime = prepare::runtime()?;
    let entered = runtime.enter();
    let mut signals = StopSignals::listen();
    drop(entered);
    let end = async move {
        signals.recv().await;
    };
    Ok(runtime.block_on(cluster::serve_hub(settings, progress::note, end))?)
}

fn list(json: bool, data: DataArgs) -> Result<()> {
    let register = cluster::users(&data.folder()?)?;
    if json {
        let users: Vec<_> = register
            .users
            .iter()
            .map(|user| serde_json::json!({ "name": user.name, "role": user.role.word() }))
            .collect();
        progress::result(&serde_json::json!({ "url": register.url(), "users": users }).to_string());
        return Ok(());
    }
    progress::result(&register.url());
    for user in &register.users {
        progress::result(&format!("{:<32}  {}", user.name, user.role.word()));
    }
    Ok(())
}

fn join() -> Result<()> {
    let mut input = std::io::stdin().lock();
    let mut text = String::new();
    if input.is_terminal() {
        progress::note("paste the line that `quintain hub invite` printed, and press Enter:");
        input.read_line(&mut text)?;
    } else {
        input.by_ref().take(INVITATION_BYTES).read_to_string(&mut text)?;
    }
    let access = Access::from_invitation(&text)?;
    let path = access.keep(&cluster::config_folder()?)?;
    progress::note(&format!("kept in {}", path.display()));
    match access.role {
        Role::Worker => progress::note(&format!("play for the hub: quintain worker {}", access.url)),
        _ => progress::note(&format!("play with its workers: quintain sprt ... --workers {}", access.url)),
    }
    Ok(())
}
