//! The user's end of the socket, for `quintain watch` and `quintain ctl`.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::control::place;
use crate::control::protocol::{ClientMessage, ServerMessage, line};
use crate::os::LocalClient;
use crate::text::shell_path;

/// Longest wait for a run's answer to a command.
const PATIENCE: Duration = Duration::from_secs(10);

/// Bytes of the longest line that is accepted; the longest that is sent is a summary.
const MAX_LINE: usize = 16 << 20;

/// Reason that a run did not answer.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// No process listens on the socket.
    #[error("{}: no process is playing this run; unless it is over, `quintain resume {}` continues it", dir.display(), shell_path(dir))]
    NotLive {
        /// The run.
        dir: PathBuf,
    },
    /// The connection failed, or the run did not answer in time.
    #[error("{dir}: the run does not answer: {source}", dir = dir.display())]
    Io {
        /// The run.
        dir: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
}

/// A connection to a live run.
#[derive(Debug)]
pub struct Client {
    dir: PathBuf,
    stream: BufReader<LocalClient>,
}

impl Client {
    /// Connects to the run in `dir`.
    ///
    /// # Errors
    /// [`ClientError::NotLive`] if no process plays it, else [`ClientError::Io`].
    pub fn connect(dir: &Path) -> Result<Self, ClientError> {
        let connected = place::find(dir).and_then(|path| LocalClient::connect(&path));
        let stream = connected.map_err(|source| match source.kind() {
            // A path too long for an address is not our socket, because the server would have left
            // a note.
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

    fn write(&mut self, ask: ClientMessage) -> Result<(), ClientError> {
        let sent = self.stream.get_mut().write_all(line(&ask).as_bytes());
        sent.map_err(|source| self.failed(source))
    }

    /// Sends a command and waits for its answer; returns the line and its parsed form.
    ///
    /// # Errors
    /// [`ClientError::Io`].
    pub fn ask(&mut self, ask: ClientMessage) -> Result<(String, ServerMessage), ClientError> {
        self.write(ask)?;
        self.read_until(Instant::now().checked_add(PATIENCE))?
            .ok_or_else(|| self.failed(std::io::ErrorKind::UnexpectedEof.into()))
    }

    /// Asks for the run's events; [`Client::read`] yields them.
    ///
    /// # Errors
    /// [`ClientError::Io`].
    pub fn watch(&mut self) -> Result<(), ClientError> {
        self.write(ClientMessage::Watch { moves: false })
    }

    /// Like [`watch`](Self::watch), with the games being played and their moves.
    ///
    /// # Errors
    /// [`ClientError::Io`].
    pub fn watch_moves(&mut self) -> Result<(), ClientError> {
        self.write(ClientMessage::Watch { moves: true })
    }

    /// Asks for the run's status; the answer is among the lines that [`read`](Self::read) yields.
    ///
    /// # Errors
    /// [`ClientError::Io`].
    pub fn ask_status(&mut self) -> Result<(), ClientError> {
        self.write(ClientMessage::Status)
    }

    /// The next line and its parsed form; `None` once the run has closed the connection.
    ///
    /// # Errors
    /// [`ClientError::Io`].
    pub fn read(&mut self) -> Result<Option<(String, ServerMessage)>, ClientError> {
        self.read_until(None)
    }

    fn read_until(&mut self, deadline: Option<Instant>) -> Result<Option<(String, ServerMessage)>, ClientError> {
        match self.line(deadline) {
            Ok(line) if line.is_empty() => Ok(None),
            Ok(line) => {
                let say = serde_json::from_slice(&line).unwrap_or(ServerMessage::Other);
                Ok(Some((String::from_utf8_lossy(&line).into_owned(), say)))
            }
            Err(source) if source.kind() == std::io::ErrorKind::ConnectionReset => Ok(None),
            Err(source) => Err(self.failed(source)),
        }
    }

    /// A line with its end, or what there is before the end of the stream.
    fn line(&mut self, deadline: Option<Instant>) -> std::io::Result<Vec<u8>> {
        let mut line = Vec::new();
        loop {
            // One deadline for the whole line, however its bytes arrive.
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) {
                return Err(std::io::ErrorKind::TimedOut.into());
            }
            self.stream.get_ref().set_read_timeout(left)?;
            let held = match self.stream.fill_buf() {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                held => held?,
            };
            let end = held.iter().position(|byte| *byte == b'\n').map(|at| at + 1);
            let length = end.unwrap_or(held.len());
            line.extend_from_slice(&held[..length]);
            self.stream.consume(length);
            if end.is_some() || length == 0 {
                return Ok(line);
            }
            if line.len() > MAX_LINE {
                return Err(std::io::Error::new(std::io::ErrorKind::InvalidData, "it sent a line without an end"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    /// A client of a run directory whose socket sends `parts` one after another and then closes.
    fn with_sender(parts: Vec<Vec<u8>>, check: impl FnOnce(Client)) {
        let dir = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(dir.path().join("control.sock")).unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let (mut stream, _) = listener.accept().unwrap();
                for part in &parts {
                    // The client hangs up once it has read enough.
                    if stream.write_all(part).is_err() {
                        return;
                    }
                }
            });
            check(Client::connect(dir.path()).unwrap());
        });
    }

    #[test]
    fn lines_are_read_whole_and_an_endless_one_is_refused() {
        let parts = [&b"{\"event\":\"line\",\"te"[..], b"xt\":\"a\"}\n{\"event\":\"x\"}\nrest"].map(<[u8]>::to_vec);
        with_sender(parts.into(), |mut client| {
            assert_eq!(client.read().unwrap().unwrap().1, ServerMessage::Line { text: "a".to_owned() });
            assert_eq!(client.read().unwrap().unwrap().1, ServerMessage::Other);
            assert_eq!(client.read().unwrap().unwrap().0, "rest");
            assert!(client.read().unwrap().is_none());
        });
        with_sender(vec![vec![b'x'; 1 << 20]; 64], |mut client| {
            let error = client.ask(ClientMessage::Status).unwrap_err();
            assert!(
                matches!(&error, ClientError::Io { source, .. } if source.kind() == std::io::ErrorKind::InvalidData
                || source.kind() == std::io::ErrorKind::TimedOut),
                "{error}"
            );
        });
    }
}
