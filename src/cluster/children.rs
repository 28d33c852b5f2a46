//! The processes of `--workers local:N`: a private nats-server and N workers, which end with this
//! process whatever happens.

use std::io;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};

use tempfile::TempDir;
use tokio::io::AsyncWriteExt as _;
use tokio::process::{Child, Command};
use tokio::sync::{mpsc, watch};

use super::access::Access;
use super::link::Link;
use super::server::{self, ChildError, MOST_STARTS, RESTART_PAUSE, Server};
use super::users::Register;
use crate::os;
use crate::text::random_hex;
use crate::tournament::events::{Orders, Stop};
use crate::uci::process::bind_to_caller;

/// Maximum number of bytes that a server of one run keeps.
const MOST_BYTES: u64 = 10 << 30;

/// A server on this machine alone, with a random password and port. Its folder goes with it.
#[derive(Debug)]
pub(crate) struct PrivateServer {
    // Ends before its folder does.
    server: Server,
    folder: TempDir,
    /// Access of coordinator and workers.
    pub(crate) access: Access,
}

impl PrivateServer {
    /// Starts a server, and connects to it as its coordinator. Call it on a thread that lives as
    /// long as the server. If something kills the server meanwhile, another one is started.
    ///
    /// # Errors
    /// Returns an error if the program is missing, does not start, or lets strangers in.
    pub(crate) async fn start() -> Result<(Self, Link), ChildError> {
        let mut starts = 1;
        loop {
            let mut server = Self::begin().await?;
            match server.connect().await {
                Ok(link) => return Ok((server, link)),
                Err(_) if starts < MOST_STARTS && server.server.is_killed() => starts += 1,
                Err(error) => return Err(error),
            }
        }
    }

    async fn begin() -> Result<Self, ChildError> {
        let io = |act: &'static str| move |source: io::Error| ChildError::Io { act, source };
        let folder = tempfile::Builder::new().prefix("quintain-hub-").tempdir().map_err(io("make its folder"))?;
        let register = Register {
            listen: (Ipv4Addr::LOCALHOST, server::lasting_port(Ipv4Addr::LOCALHOST.into())?).into(),
            host: Ipv4Addr::LOCALHOST.to_string(),
            certificate: None,
            password: random_hex().map_err(io("make its password"))?,
            most_bytes: MOST_BYTES,
            users: Vec::new(),
        };
        server::configure(folder.path(), &register.configuration(folder.path()))?;
        let server = Server::start(folder.path()).await?;
        let access = register.owner(server.url.clone());
        Ok(Self { server, folder, access })
    }

    async fn connect(&self) -> Result<Link, ChildError> {
        server::refuses_strangers(&self.access).await?;
        let link = Link::open(&self.access, "coordinator").await?;
        link.create_stream().await?;
        Ok(link)
    }

    /// Folder for files of workers on this machine, which are killed and remove none.
    pub(crate) fn folder(&self) -> PathBuf {
        self.folder.path().to_owned()
    }

    /// Waits until the process has ended, and starts it again at the same port with the same store.
    ///
    /// # Errors
    /// Returns an error if it does not start several times.
    pub(crate) async fn keep_alive(&mut self) -> Result<(), ChildError> {
        self.server.keep_alive().await
    }
}

/// A worker on this machine that ended.
#[derive(Debug)]
pub(crate) struct ChildExit {
    /// Its session.
    pub(crate) session: String,
    /// Its exit status in words.
    pub(crate) status: String,
    /// Its message, if no worker takes its place.
    pub(crate) refusal: Option<String>,
}

/// Exit code of a worker that cannot serve the run.
const REFUSES: i32 = 2;

/// Exit code of a worker that played no pair because its engines did not get ready.
const IN_VAIN: i32 = 1;

/// Consequence of the end of a worker's process, with the reason.
enum LifeEnd {
    /// Another life follows.
    Passing,
    /// Another life follows, unless several in a row ended so.
    InVain(String),
    /// No life can serve the run.
    Refusal(String),
}

/// Keeps worker `number` alive until the run stops, it refuses the run, or several lives in a row
/// come to nothing. Its files lie in `folder`. Each end of its process is reported.
pub(crate) async fn keep_worker(
    access: Access,
    folder: PathBuf,
    run: String,
    number: u16,
    orders: watch::Receiver<Orders>,
    ends: mpsc::UnboundedSender<ChildExit>,
) {
    let mut failures = 0;
    for life in 1_u64.. {
        let session = format!("local-{}-{life}", number + 1);
        let (status, end) = match start_worker(&access, &folder, &run, number, &session).await {
            Ok(child) => wait(child).await,
            Err(error) => {
                let status = format!("cannot be started: {error}");
                (status.clone(), LifeEnd::InVain(status))
            }
        };
        let refusal = match end {
            LifeEnd::Passing => {
                failures = 0;
                None
            }
            LifeEnd::InVain(why) => {
                failures += 1;
                (failures >= MOST_STARTS).then_some(why)
            }
            LifeEnd::Refusal(why) => Some(why),
        };
        let is_last = refusal.is_some();
        if ends.send(ChildExit { session, status, refusal }).is_err() || is_last || orders.borrow().stop != Stop::No {
            return;
        }
        tokio::time::sleep(RESTART_PAUSE).await;
    }
}

/// Starts a worker with a folder of its own in `folder`. Its password goes through its standard
/// input: argument lists can be read by everybody, and engines inherit the environment.
async fn start_worker(access: &Access, folder: &Path, run: &str, number: u16, session: &str) -> io::Result<Child> {
    let folder = folder.join(session);
    std::fs::create_dir(&folder)?;
    let mut command = Command::new(os::own_program()?);
    command
        .args(["worker", &access.url, "--run", run, "--session", session, "--slot", &number.to_string()])
        .args(["--user", &access.user])
        .arg("--folder")
        .arg(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    bind_to_caller(&mut command);
    let mut child = command.spawn()?;
    if let Some(mut input) = child.stdin.take() {
        // A worker that ended before it read this says why by its status.
        let _ = input.write_all(access.password.as_bytes()).await;
    }
    Ok(child)
}

/// Waits for the end of a worker. Returns its status and the consequence.
async fn wait(child: Child) -> (String, LifeEnd) {
    match child.wait_with_output().await {
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            let status = words(output.status, &said);
            let end = match output.status.code() {
                Some(REFUSES) => LifeEnd::Refusal(said),
                Some(IN_VAIN) => LifeEnd::InVain(said),
                _ => LifeEnd::Passing,
            };
            (status, end)
        }
        Err(error) => (error.to_string(), LifeEnd::Passing),
    }
}

fn words(status: ExitStatus, said: &str) -> String {
    match said.lines().last() {
        Some(last) => format!("{status}: {last}"),
        None => status.to_string(),
    }
}
