//! `quintain serve`: the dashboard in a browser.

use std::io::Read as _;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use crate::cli::queue::stop_switch;
use crate::dashboard::{self, ServeSettings};
use crate::os;
use crate::run::dir::RESULTS;
use crate::run::queue::Queue;
use crate::run::queue::daemon::{self, DaemonLimits};
use crate::run::{Exit, progress};
use crate::source::OwnProgram;
use crate::text::with_causes;

/// Environment variable with the token.
const TOKEN_VARIABLE: &str = "QUINTAIN_TOKEN";

/// Maximum number of bytes read from a token file.
const TOKEN_BYTES: u64 = 4_096;

/// Shows stored and live runs in a browser: verdicts, pictures, games, reports; steers live runs,
/// changes the queue and adds tests to it.
#[derive(Debug, clap::Args)]
#[command(
    after_long_help = "Every change needs the token of the printed address. If --listen names an address that other machines reach, \
                  reading needs it too, and new tests need --new-tests. The connection is not encrypted: outside your own \
                  network forward a port with `ssh -L 7171:127.0.0.1:7171 HOST` instead.\n\nExamples:\n  quintain serve\n  quintain serve --run\n  quintain serve --listen 0.0.0.0:7171 --token-file ~/.config/quintain/token"
)]
pub(super) struct ServeArgs {
    /// The folder of results.
    #[arg(value_name = "RESULTS", default_value = RESULTS)]
    results: PathBuf,
    /// Address and port; port 0 takes a free one.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7171")]
    listen: SocketAddr,
    /// The token, at least 16 characters of A-Z, a-z, 0-9, `-`, `.`, `_` [default: a new one at
    /// each start]. Other users of the machine see it in the list of processes; --token-file and
    /// $QUINTAIN_TOKEN keep it from them.
    #[arg(long, value_name = "TOKEN", conflicts_with = "token_file")]
    token: Option<String>,
    /// A file whose first line is the token; without it, $QUINTAIN_TOKEN is taken if set.
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Play the queue of RESULTS too, as `quintain queue run` does.
    #[arg(long)]
    run: bool,
    /// Allow new tests from the page even if other machines can reach it. A test can start any
    /// program, so trust everybody who has the token.
    #[arg(long)]
    new_tests: bool,
    /// Another host name under which browsers may open the dashboard; may be repeated. `localhost`
    /// and addresses are always allowed.
    #[arg(long = "host", value_name = "NAME")]
    hosts: Vec<String>,
}

pub(super) fn run(args: &ServeArgs) -> Result<Exit> {
    let results = &args.results;
    if args.run {
        // Runs may come later.
        std::fs::create_dir_all(results).with_context(|| format!("{}: cannot create it", results.display()))?;
    }
    if !results.is_dir() {
        bail!("{}: no such folder; name the folder of results, or play a run first", results.display());
    }
    let token = token(args)?;
    dashboard::check_token(&token)?;
    let listener = TcpListener::bind(args.listen)
        .with_context(|| format!("{}: cannot listen there; choose another --listen", args.listen))?;
    let address = listener.local_addr()?;
    if !address.ip().is_loopback() {
        progress::warn("other machines can connect: anybody with the token can read all runs and control live ones");
    }
    progress::result(&format!("http://{address}/#token={token}"));
    // The queue changes the current directory.
    let own = OwnProgram::here()?;
    let results = std::path::absolute(results)?;
    let settings = ServeSettings { results, token, hosts: args.hosts.clone(), makes_tests: args.new_tests, own };
    if !args.run {
        dashboard::serve(listener, settings, &|| false)?;
        return Ok(Exit::Done);
    }
    let queue = Queue::of(&settings.results)?;
    let lock = queue.claim()?;
    let stop = stop_switch()?;
    let switch = stop.clone();
    let daemon = std::thread::Builder::new().name("daemon".to_owned()).spawn(move || {
        if let Err(error) = daemon::run(&queue, lock, DaemonLimits::default(), &switch) {
            progress::warn(&format!("the queue has stopped: {}", with_causes(&error)));
        }
    })?;
    let served = dashboard::serve(listener, settings, &|| stop.is_set());
    stop.set();
    // The run being played ends its games first, because it heard the same Ctrl-C.
    if daemon.join().is_err() {
        progress::warn("the queue ended unexpectedly; `quintain queue run` continues it");
    }
    served?;
    Ok(Exit::Done)
}

/// Token of the flag, the file or the environment; otherwise a new one.
fn token(args: &ServeArgs) -> Result<String> {
    if let Some(token) = &args.token {
        progress::warn(&format!(
            "--token is visible to all users of this machine in the list of processes; use --token-file or ${TOKEN_VARIABLE}"
        ));
        return Ok(token.clone());
    }
    if let Some(path) = &args.token_file {
        return token_of(path);
    }
    match std::env::var(TOKEN_VARIABLE) {
        Ok(token) => Ok(token),
        Err(std::env::VarError::NotPresent) => Ok(dashboard::token()?),
        Err(error) => Err(error).context(format!("${TOKEN_VARIABLE}")),
    }
}

fn token_of(path: &Path) -> Result<String> {
    let unreadable = || format!("--token-file `{}`: cannot read it", path.display());
    let file = std::fs::File::open(path).with_context(unreadable)?;
    if let Some(command) = os::remedy_for_readers(path, &file.metadata().with_context(unreadable)?) {
        progress::warn(&format!(
            "--token-file `{}`: other users may read it; `{command}` keeps it from them",
            path.display()
        ));
    }
    let mut text = String::new();
    file.take(TOKEN_BYTES).read_to_string(&mut text).with_context(unreadable)?;
    match text.lines().next() {
        Some(token) => Ok(token.trim().to_owned()),
        None => bail!("--token-file `{}`: it is empty; put a token on its first line", path.display()),
    }
}
