//! The user's end of the socket, for `quintain watch` and `quintain ctl`.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::control::place;
use crate::control::protocol::{Ask, Say, line};

/// How long a run may take to answer a command.
const PATIENCE: Duration = Duration::from_secs(10);

/// Why a run could not be asked.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// Nobody is at the other end.
    #[error("{dir}: no process is playing this run; begin with `quintain resume {dir}`", dir = dir.display())]
    NotLive {
        /// The run.
        dir: PathBuf,
    },
    /// The connection failed, or the run did not answer in time.
    #[error("{dir}: the run does not answer: {source}", dir = dir.display())]
    Io {
        /// The run.
        dir: PathBuf,
        /// The system's word.
        source: std::io::Error,
    },
}

/// A connection to a live run.
#[derive(Debug)]
pub struct Client {
    dir: PathBuf,
    stream: BufReader<UnixStream>,
}

impl Client {
    /// Connects to the run in `dir`.
    ///
    /// # Errors
    /// [`ClientError::NotLive`] where nobody plays it, else [`ClientError::Io`].
    pub fn connect(dir: &Path) -> Result<Self, ClientError> {
        let stream = place::find(dir).and_then(UnixStream::connect).map_err(|source| match source.kind() {
            // A path that is too long for an address is no socket of ours: ours would be noted.
            std::io::ErrorKind::NotFound
            | std::io::ErrorKind::ConnectionRefused
            | std::io::ErrorKind::InvalidInput
            | std::io::ErrorKind::NotADirectory => ClientError::NotLive { dir: dir.to_owned() },
            _ => ClientError::Io { dir: dir.to_owned(), source },
        })?;
        Ok(Self { dir: dir.to_owned(), stream: BufReader::new(stream) })
    }

    fn failed(&self, source: std::io::Error) -> ClientError {
        ClientError::Io { dir: self.dir.clone(), source }
    }

    fn write(&mut self, ask: Ask) -> Result<(), ClientError> {
        let sent = self.stream.get_mut().write_all(line(&ask).as_bytes());
        sent.map_err(|source| self.failed(source))
    }

    /// Sends a command and waits for its answer, as it came and as it reads.
    ///
    /// # Errors
    /// [`ClientError::Io`].
    pub fn ask(&mut self, ask: Ask) -> Result<(String, Say), ClientError> {
        let limited = self.stream.get_ref().set_read_timeout(Some(PATIENCE));
        limited.map_err(|source| self.failed(source))?;
        self.write(ask)?;
        self.read()?.ok_or_else(|| self.failed(std::io::ErrorKind::UnexpectedEof.into()))
    }

    /// Asks for the run's events; [`Client::read`] yields them.
    ///
    /// # Errors
    /// [`ClientError::Io`].
    pub fn watch(&mut self) -> Result<(), ClientError> {
        self.write(Ask::Watch { moves: false })
    }

    /// As [`watch`](Self::watch), with the games being played and their moves.
    ///
    /// # Errors
    /// [`ClientError::Io`].
    pub fn watch_moves(&mut self) -> Result<(), ClientError> {
        self.write(Ask::Watch { moves: true })
    }

    /// Asks how the run is played; the answer is among what [`read`](Self::read) yields.
    ///
    /// # Errors
    /// [`ClientError::Io`].
    pub fn ask_status(&mut self) -> Result<(), ClientError> {
        self.write(Ask::Status)
    }

    /// The next line, as it came and as it reads; `None` when the run is gone.
    ///
    /// # Errors
    /// [`ClientError::Io`].
    pub fn read(&mut self) -> Result<Option<(String, Say)>, ClientError> {
        let mut text = String::new();
        let read = self.stream.read_line(&mut text);
        match read {
            Ok(0) => Ok(None),
            Ok(_) => {
                let say = serde_json::from_str(&text).unwrap_or(Say::Other);
                Ok(Some((text, say)))
            }
            Err(source) if source.kind() == std::io::ErrorKind::ConnectionReset => Ok(None),
            Err(source) => Err(self.failed(source)),
        }
    }
}
