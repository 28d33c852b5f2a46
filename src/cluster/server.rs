//! A nats-server as a child of this process: its start, its end, and a test of its door.

use std::io;
use std::net::{IpAddr, TcpListener};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde::Deserialize;
use tokio::process::{Child, Command};

use super::access::Access;
use super::link::{self, Door, LinkError};
use super::users::quoted;
use crate::files::write_secret;
use crate::os;
use crate::source::find_program;
use crate::uci::process::bind_to_caller;

/// Name of the server's program.
const PROGRAM: &str = "nats-server";

/// Folder of servers, which is not in the PATH of every user.
const SERVERS: &str = "/usr/sbin";

/// Name of the configuration in the server's folder.
pub(crate) const CONFIGURATION: &str = "nats.conf";

/// Name of the file with the server's standard error: what it says before it has its log.
const STDERR: &str = "stderr";

/// Limit of the server's start. It takes a tenth of a second on an idle machine.
const START_LIMIT: Duration = Duration::from_mins(2);

/// Ports of servers that may have any. Systems give connections of their own accord ports from
/// 32,768 (Linux) or 49,152 (RFC 6335, section 6) on. So nobody gets that of a server that ended
/// while it is started again.
const PORTS: Range<u16> = 10_000..32_768;

/// Ports that are tried before none is said to be free.
const PORT_TRIES: u32 = 100;

/// Pause between two looks for the server's port.
const START_PAUSE: Duration = Duration::from_millis(10);

/// Pause before a process that ended is started again.
pub(super) const RESTART_PAUSE: Duration = Duration::from_millis(500);

/// Starts of a server without a successful one, after which it is given up.
pub(super) const MOST_STARTS: u32 = 5;

/// Attempts to be let in without credentials, if something else than a refusal comes.
const DOOR_TRIES: u32 = 10;

/// Reason that the processes of a run or of a hub cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum ChildError {
    /// The server is not installed.
    #[error(
        "playing with workers needs the program `{PROGRAM}`, which is not in PATH or {SERVERS}; install it (Debian and Ubuntu: `apt install {PROGRAM}`), or use -j"
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
        /// True if a signal ended it.
        is_killed: bool,
    },
    /// The server did not listen in time.
    #[error("{PROGRAM} does not listen after {} s; this machine may be too busy: try again", START_LIMIT.as_secs())]
    Slow,
    /// The server accepts clients without a password.
    #[error("{PROGRAM} accepts clients without a password; it is too old or was changed, and is not used")]
    Open,
    /// Unknown whether the server accepts clients without a password.
    #[error("{PROGRAM}: cannot test that it refuses clients without a password: {0}")]
    Untested(String),
    /// The server cannot be used.
    #[error(transparent)]
    Link(#[from] LinkError),
}

/// File that the server writes once it listens.
#[derive(Deserialize)]
struct Ports {
    nats: Vec<String>,
}

/// A running server. It ends with this value and with the thread that started it.
#[derive(Debug)]
pub(crate) struct Server {
    folder: PathBuf,
    child: Child,
    /// Address that it listens at.
    pub(crate) url: String,
}

/// A free port of this machine's address `ip`, chosen at random, at which a server can be started
/// again after its end.
///
/// # Errors
/// Returns an error if the machine does not have the address or no free port.
pub(crate) fn lasting_port(ip: IpAddr) -> Result<u16, ChildError> {
    let mut result = Ok(0);
    for _ in 0..PORT_TRIES {
        result = getrandom::u32().map_err(io::Error::from).and_then(|random| {
            let port = PORTS.start + (random % u32::from(PORTS.end - PORTS.start)) as u16;
            Ok(TcpListener::bind((ip, port))?.local_addr()?.port())
        });
        if result.is_ok() {
            break;
        }
    }
    result.map_err(|source| ChildError::Io { act: "get a port", source })
}

/// Writes the configuration of a server with its files in `folder`.
///
/// # Errors
/// Returns an error if the system refuses.
pub(crate) fn configure(folder: &Path, text: &str) -> Result<(), ChildError> {
    let text = format!("{text}ports_file_dir: {}\n", quoted(&folder.display().to_string()));
    write_secret(&folder.join(CONFIGURATION), &text)
        .map_err(|source| ChildError::Io { act: "write its configuration", source })
}

impl Server {
    /// Starts a server that [`configure`] has prepared. Call it on a thread that lives as long as
    /// the server.
    ///
    /// # Errors
    /// Returns an error if the program is missing, ends by itself, or is killed several times.
    pub(crate) async fn start(folder: &Path) -> Result<Self, ChildError> {
        let child = spawn(folder)?;
        let mut server = Self { folder: folder.to_owned(), child, url: String::new() };
        let is_killed = |error: &ChildError| matches!(error, ChildError::Ended { is_killed: true, .. });
        server.url = server.listens_at_last(is_killed).await?;
        Ok(server)
    }

    /// True if a signal has ended the process.
    pub(crate) fn is_killed(&mut self) -> bool {
        self.child.try_wait().is_ok_and(|status| status.is_some_and(os::is_killed))
    }

    /// Waits until the process has ended, and starts it again by its configuration, which must name
    /// its port.
    ///
    /// # Errors
    /// Returns an error if it does not start several times.
    pub(crate) async fn keep_alive(&mut self) -> Result<(), ChildError> {
        // An error would mean that the process was waited for already.
        let _ = self.child.wait().await;
        tokio::time::sleep(RESTART_PAUSE).await;
        self.child = spawn(&self.folder)?;
        self.listens_at_last(|_| true).await.map(|_| ())
    }

    /// Kills the process, and waits until it has ended. Its store outlives that.
    pub(crate) async fn stop(mut self) {
        // An error means that it has ended already.
        let _ = self.child.kill().await;
    }

    /// Waits until the server listens, and starts it again after a failure that `is_passing`.
    /// Returns its address.
    async fn listens_at_last(&mut self, is_passing: impl Fn(&ChildError) -> bool) -> Result<String, ChildError> {
        let mut starts = 1;
        loop {
            match self.listens().await {
                Ok(url) => return Ok(url),
                Err(error) if starts >= MOST_STARTS || !is_passing(&error) => return Err(error),
                Err(_) => {}
            }
            starts += 1;
            tokio::time::sleep(RESTART_PAUSE).await;
            self.child = spawn(&self.folder)?;
        }
    }

    /// Waits until the server listens, and returns its address.
    async fn listens(&mut self) -> Result<String, ChildError> {
        let began = tokio::time::Instant::now();
        let id = self.child.id().unwrap_or_default();
        let file = self.folder.join(format!("{PROGRAM}_{id}.ports"));
        while began.elapsed() < START_LIMIT {
            if let Ok(text) = std::fs::read_to_string(&file)
                && let Ok(Ports { nats }) = serde_json::from_str(&text)
                && let Some(url) = nats.into_iter().next()
            {
                return Ok(url);
            }
            if let Ok(Some(status)) = self.child.try_wait() {
                let is_killed = os::is_killed(status);
                return Err(ChildError::Ended { status: status.to_string(), log: self.log(), is_killed });
            }
            tokio::time::sleep(START_PAUSE).await;
        }
        Err(ChildError::Slow)
    }

    /// Last lines of the server's standard error, or else of its log.
    fn log(&self) -> String {
        let read = |name| std::fs::read_to_string(self.folder.join(name)).unwrap_or_default();
        let text = Some(read(STDERR)).filter(|text| !text.is_empty()).unwrap_or_else(|| read("log"));
        let lines: Vec<_> = text.lines().collect();
        lines[lines.len().saturating_sub(5)..].join("\n")
    }
}

/// Checks that a server refuses clients without credentials.
///
/// # Errors
/// Returns an error if it lets one in, or if that cannot be tested.
pub(crate) async fn refuses_strangers(access: &Access) -> Result<(), ChildError> {
    let mut why = String::new();
    for _ in 0..DOOR_TRIES {
        match link::door(access, false).await {
            Door::Shut => return Ok(()),
            Door::Open => return Err(ChildError::Open),
            Door::Unknown(error) => why = error,
        }
        tokio::time::sleep(RESTART_PAUSE).await;
    }
    Err(ChildError::Untested(why))
}

fn spawn(folder: &Path) -> Result<Child, ChildError> {
    let io = |act: &'static str| move |source: io::Error| ChildError::Io { act, source };
    // Those of an earlier life, whose process number may come again.
    for entry in std::fs::read_dir(folder).map_err(io("read its folder"))?.flatten() {
        if entry.path().extension().is_some_and(|extension| extension == "ports") {
            std::fs::remove_file(entry.path()).map_err(io("remove an old file of its ports"))?;
        }
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let program = find_program(Path::new(PROGRAM), &path, &[Path::new(SERVERS)]).ok_or(ChildError::NotInstalled)?;
    let stderr = std::fs::File::create(folder.join(STDERR)).map_err(io("make a file for its errors"))?;
    let mut command = Command::new(program);
    command.arg("-c").arg(folder.join(CONFIGURATION)).kill_on_drop(true);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(stderr);
    bind_to_caller(&mut command);
    command.spawn().map_err(io("start it"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_of_servers_are_no_ones_by_chance() {
        let port = lasting_port("127.0.0.1".parse().unwrap()).unwrap();
        assert!(PORTS.contains(&port), "{port}");
        // Link-local, without its interface: refused even if a machine binds addresses of others.
        let error = lasting_port("fe80::c0de".parse().unwrap()).unwrap_err().to_string();
        assert!(error.starts_with("nats-server: cannot get a port: "), "{error}");
    }

    #[test]
    fn a_missing_server_is_named_with_the_remedy() {
        let text = ChildError::NotInstalled.to_string();
        assert!(text.contains("apt install nats-server") && text.contains("or use -j"), "{text}");
    }
}
