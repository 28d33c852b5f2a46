//! `quintain serve`.

use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};

use crate::cli::{Exit, progress};
use crate::dashboard::{self, Settings};

/// Shows stored and live runs in a browser: verdicts, Elo, pictures, games in progress; pauses, resumes and stops live runs.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Steering a run needs the token in the printed address; where --listen names an address that other machines \
                  reach, reading does too. The connection is not encrypted: away from your own network, forward a port with \
                  `ssh -L 7171:127.0.0.1:7171 HOST` instead.\n\nExamples:\n  quintain serve\n  quintain serve --listen 0.0.0.0:7171"
)]
pub(super) struct ServeArgs {
    /// The folder of results.
    #[arg(value_name = "RESULTS", default_value = "results")]
    results: PathBuf,
    /// Address and port; port 0 takes a free one.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7171")]
    listen: SocketAddr,
    /// The token, at least 16 characters of A-Z, a-z, 0-9, `-`, `.`, `_` [default: made anew at each start].
    #[arg(long, value_name = "TOKEN")]
    token: Option<String>,
    /// A further name by which browsers may ask for the dashboard; may be repeated. `localhost` and addresses always do.
    #[arg(long = "host", value_name = "NAME")]
    hosts: Vec<String>,
}

pub(super) fn run(args: &ServeArgs) -> Result<Exit> {
    let results = &args.results;
    if !results.is_dir() {
        bail!("{}: no such folder; name the folder of results, or play a run first", results.display());
    }
    let token = match &args.token {
        Some(token) => token.clone(),
        None => dashboard::token()?,
    };
    let listener = TcpListener::bind(args.listen)
        .with_context(|| format!("{}: cannot listen there; choose another --listen", args.listen))?;
    let address = listener.local_addr()?;
    if !address.ip().is_loopback() {
        progress::warn("other machines can connect: whoever has the token can read all runs and steer live ones");
    }
    progress::result(&format!("http://{address}/#token={token}"));
    let settings = Settings { results: results.clone(), token, hosts: args.hosts.clone() };
    dashboard::serve(listener, settings)?;
    Ok(Exit::Done)
}
