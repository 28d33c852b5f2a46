//! The processes of `--workers local:N`: a private nats-server and N workers, which end with this
//! process whatever happens.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use serde::Deserialize;
use tempfile::TempDir;
use tokio::io::AsyncWriteExt as _;
use tokio::process::{Child, Command};
use tokio::sync::{mpsc, watch};

use super::link::{Address, Link, LinkError, MOST_MESSAGE};
use crate::source::find_program;
use crate::text::random_hex;
use crate::tournament::events::{Orders, Stop};
use crate::uci::process::bind_to_caller;

/// Name of the server's program.
const PROGRAM: &str = "nats-server";

/// Folder of servers, which is not in the PATH of every user.
const SERVERS: &str = "/usr/sbin";

/// User of coordinator and workers on one machine.
const USER: &str = "quintain";

/// Limit of the server's start. It takes a tenth of a second on an idle machine.
const START_LIMIT: Duration = Duration::from_mins(2);

/// Pause between two looks for the server's port.
const START_PAUSE: Duration = Duration::from_millis(10);

/// Pause before a process that ended is started again.
const RESTART_PAUSE: Duration = Duration::from_millis(500);

/// Starts of a server without a successful one, after which the run stops.
const MOST_STARTS: u32 = 5;

/// Reason that the processes of a run cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum ChildError {
    /// The server is not installed.
    #[error(
        "--workers local needs the program `{PROGRAM}`, which is not in PATH or {SERVERS}; install it (Debian and Ubuntu: `apt install {PROGRAM}`), or use -j"
    )]
    NotInstalled,
    /// The system refused something.
    #[error("{PROGRAM}: cannot {act}: {source}")]
    Io {
        /// Refused operation.
        act: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// The server ended instead of starting.
    #[error("{PROGRAM} did not start ({status}); the end of its log:\n{log}")]
    Ended {
        /// Exit status.
        status: String,
        /// Last lines of its log.
        log: String,
    },
    /// The server did not listen in time.
    #[error("{PROGRAM} does not listen after {} s", START_LIMIT.as_secs())]
    Slow,
    /// The server lets in whoever comes.
    #[error("{PROGRAM} accepts clients without a password; it is too old or was changed, and is not used")]
    Open,
    /// The server cannot be used.
    #[error(transparent)]
    Link(#[from] LinkError),
}

/// A server on this machine alone, with a random password and port. Its folder goes with it.
#[derive(Debug)]
pub(crate) struct Server {
    folder: TempDir,
    child: Child,
    /// Address for coordinator and workers.
    pub(crate) address: Address,
}

/// File that the server writes once it listens.
#[derive(Deserialize)]
struct Ports {
    nats: Vec<String>,
}

impl Server {
    /// Starts a server. Call it on a thread that lives as long as the server.
    ///
    /// # Errors
    /// Returns an error if the program is missing, does not start, or lets strangers in.
    pub(crate) async fn start() -> Result<Self, ChildError> {
        let io = |act: &'static str| move |source: io::Error| ChildError::Io { act, source };
        let folder = tempfile::Builder::new().prefix("quintain-hub-").tempdir().map_err(io("make its folder"))?;
        let password = random_hex().map_err(io("make its password"))?;
        let child = start_program(&folder, &password, -1)?;
        let address = Address { url: String::new(), user: USER.to_owned(), password };
        let mut server = Self { folder, child, address };
        server.address.url = server.listens().await?;
        server.refuses_strangers().await?;
        Ok(server)
    }

    /// Waits until the process has ended, and starts it again at the same port with the same store.
    ///
    /// # Errors
    /// Returns an error if it does not start several times.
    pub(crate) async fn keep_alive(&mut self) -> Result<(), ChildError> {
        // An error would mean that the process was waited for already.
        let _ = self.child.wait().await;
        let port = self.address.url.rsplit(':').next().and_then(|port| port.parse().ok()).unwrap_or(-1);
        let mut starts = 0;
        loop {
            starts += 1;
            tokio::time::sleep(RESTART_PAUSE).await;
            self.child = start_program(&self.folder, &self.address.password, port)?;
            match self.listens().await {
                Ok(_) => return Ok(()),
                Err(error) if starts >= MOST_STARTS => return Err(error),
                Err(_) => {}
            }
        }
    }

    /// Waits until the server listens, and returns its address.
    async fn listens(&mut self) -> Result<String, ChildError> {
        let began = tokio::time::Instant::now();
        let id = self.child.id().unwrap_or_default();
        let file = self.folder.path().join(format!("{PROGRAM}_{id}.ports"));
        while began.elapsed() < START_LIMIT {
            if let Ok(text) = std::fs::read_to_string(&file)
                && let Ok(Ports { nats }) = serde_json::from_str(&text)
                && let Some(url) = nats.into_iter().next()
            {
                return Ok(url);
            }
            if let Ok(Some(status)) = self.child.try_wait() {
                return Err(ChildError::Ended { status: status.to_string(), log: self.log() });
            }
            tokio::time::sleep(START_PAUSE).await;
        }
        Err(ChildError::Slow)
    }

    /// Tries a connection without a password.
    async fn refuses_strangers(&self) -> Result<(), ChildError> {
        match async_nats::connect(&self.address.url).await {
            Ok(_) => Err(ChildError::Open),
            Err(_) => Ok(()),
        }
    }

    /// Last lines of the server's log.
    fn log(&self) -> String {
        let text = std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        let lines: Vec<_> = text.lines().collect();
        lines[lines.len().saturating_sub(5)..].join("\n")
    }
}

fn start_program(folder: &TempDir, password: &str, port: i32) -> Result<Child, ChildError> {
    let io = |act: &'static str| move |source: io::Error| ChildError::Io { act, source };
    let root = folder.path().display();
    // All users are in a named account: next to `authorization`, Debian's 2.9.10 accepts clients
    // without credentials (CVE-2023-47090).
    let config = format!(
        "listen: \"127.0.0.1:{port}\"\nports_file_dir: \"{root}\"\nlog_file: \"{root}/log\"\nmax_payload: {MOST_MESSAGE}\n\
         jetstream {{ store_dir: \"{root}/store\" }}\n\
         accounts {{ Q {{ jetstream: enabled, users: [ {{ user: {USER}, password: \"{password}\" }} ] }}, SYS {{}} }}\n\
         system_account: SYS\n"
    );
    let file = folder.path().join("nats.conf");
    std::fs::write(&file, config).map_err(io("write its configuration"))?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let program = find_program(Path::new(PROGRAM), &path, &[Path::new(SERVERS)]).ok_or(ChildError::NotInstalled)?;
    let mut command = Command::new(program);
    command.arg("-c").arg(&file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    bind_to_caller(&mut command);
    command.spawn().map_err(io("start it"))
}

/// A worker on this machine that ended.
#[derive(Debug)]
pub(crate) struct Ended {
    /// Its session.
    pub(crate) session: String,
    /// Its exit status in words.
    pub(crate) status: String,
    /// Its message, if it could not serve the run.
    pub(crate) refusal: Option<String>,
}

/// Exit code of a worker that cannot serve the run.
pub(crate) const REFUSES: i32 = 2;

/// Keeps worker `number` alive until the run stops. Each end of its process is reported.
pub(crate) async fn keep_worker(
    address: Address,
    run: String,
    number: u16,
    orders: watch::Receiver<Orders>,
    ends: mpsc::UnboundedSender<Ended>,
) {
    for life in 1_u64.. {
        let session = format!("local-{}-{life}", number + 1);
        let ended = match start_worker(&address, &run, number, &session).await {
            Ok(child) => wait(child).await,
            Err(error) => (format!("cannot be started: {error}"), None),
        };
        let (status, refusal) = ended;
        let is_last = refusal.is_some();
        if ends.send(Ended { session, status, refusal }).is_err() || is_last || orders.borrow().stop != Stop::No {
            return;
        }
        tokio::time::sleep(RESTART_PAUSE).await;
    }
}

/// Starts a worker. Its password goes through its standard input: argument lists can be read by
/// everybody, and engines inherit the environment.
async fn start_worker(address: &Address, run: &str, number: u16, session: &str) -> io::Result<Child> {
    let program = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("quintain"));
    let mut command = Command::new(program);
    command
        .args(["worker", &address.url, "--run", run, "--session", session, "--slot", &number.to_string()])
        .args(["--user", &address.user])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    bind_to_caller(&mut command);
    let mut child = command.spawn()?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all(address.password.as_bytes()).await?;
    }
    Ok(child)
}

/// Waits for the end of a worker. Returns its status and, if it refused the run, its reason.
async fn wait(child: Child) -> (String, Option<String>) {
    match child.wait_with_output().await {
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            (words(output.status, &said), (output.status.code() == Some(REFUSES)).then_some(said))
        }
        Err(error) => (error.to_string(), None),
    }
}

fn words(status: ExitStatus, said: &str) -> String {
    match said.lines().last() {
        Some(last) => format!("{status}: {last}"),
        None => status.to_string(),
    }
}

/// Connects to a private server as its coordinator.
///
/// # Errors
/// Returns an error if it refuses.
pub(crate) async fn connect(server: &Server) -> Result<Link, ChildError> {
    let link = Link::open(&server.address, "coordinator").await?;
    link.create_stream().await?;
    Ok(link)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_server_is_named_with_the_remedy() {
        let text = ChildError::NotInstalled.to_string();
        assert!(text.contains("apt install nats-server") && text.contains("or use -j"), "{text}");
    }
}
