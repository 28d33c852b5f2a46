//! Log of `-log`, `-show-latency` and `-debug`: one line per event, with the time.
//!
//! Slots keep the UCI traffic of engines away from their clocks. It reaches the log only with games
//! that an engine lost by its own fault, and so does the end of their standard error. The journal
//! has each move of every other game.

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::Path;

use super::invocation::{LogArgs, LogLevel};
use crate::compat::console::number;
use crate::record::{GameRecord, PairId};
use crate::text::printable;
use crate::tournament::events::{Observer, RunEvent};

/// Observer that writes the log.
pub(super) struct Log {
    out: Box<dyn Write + Send>,
    args: LogArgs,
    latency: bool,
    names: Vec<String>,
    /// First pair that is a single game.
    halves_from: Option<PairId>,
}

impl Log {
    /// Opens the log; `None` if `args` names no file. `latency` adds a line per move with the time
    /// charged beyond the time that the engine reported.
    ///
    /// # Errors
    /// I/O error if the file cannot be opened.
    pub(super) fn open(
        args: &LogArgs,
        latency: bool,
        names: Vec<String>,
        halves_from: Option<PairId>,
    ) -> std::io::Result<Option<Self>> {
        let out: Box<dyn Write + Send> = match args.file.as_str() {
            "" => return Ok(None),
            "-" => Box::new(std::io::stdout()),
            file => Box::new(BufWriter::new(Self::file(Path::new(file), args.append)?)),
        };
        let mut log = Self { out, args: args.clone(), latency, names, halves_from };
        log.line(LogLevel::Info, &format!("quintain {}", env!("CARGO_PKG_VERSION")));
        if args.engine {
            log.line(LogLevel::Info, "UCI traffic follows only of games that an engine loses by its own fault");
        }
        Ok(Some(log))
    }

    /// Checks that the log can be written, and leaves its contents.
    ///
    /// # Errors
    /// I/O error if the file cannot be opened.
    pub(super) fn probe(args: &LogArgs) -> std::io::Result<()> {
        match args.file.as_str() {
            "" | "-" => Ok(()),
            file => Self::file(Path::new(file), true).map(drop),
        }
    }

    fn file(path: &Path, append: bool) -> std::io::Result<File> {
        OpenOptions::new().write(true).create(true).append(append).truncate(!append).open(path)
    }

    fn line(&mut self, level: LogLevel, text: &str) {
        if level < self.args.level {
            return;
        }
        let label = match level {
            LogLevel::Trace => "TRACE",
            LogLevel::Info => "INFO",
            LogLevel::Warn => "WARN",
            LogLevel::Err => "ERR",
            LogLevel::Fatal => "FATAL",
        };
        let time = chrono::Local::now().format("%H:%M:%S%.6f");
        // A log that cannot be written does not stop the run.
        let _ = writeln!(self.out, "[{label:<6}] [{time}] quintain --- {text}");
        if self.args.realtime {
            let _ = self.out.flush();
        }
    }

    fn name(&self, player: crate::record::PlayerId) -> String {
        self.names.get(usize::from(player.0)).cloned().unwrap_or_default()
    }

    fn latencies(&mut self, game: &GameRecord) {
        for (place, color, played) in game.plies() {
            let Some(said) = played.info.time else { continue };
            let name = self.name(*game.players.get(color));
            let [charged, said] = [played.elapsed, said].map(|time| time.as_secs_f64() * 1e3);
            let text = format!(
                "Game {}, ply {}: {name} latency {:.3} ms (elapsed {charged:.3}, reported {said:.3})",
                number(game.id, self.halves_from),
                place,
                charged - said
            );
            self.line(LogLevel::Info, &text);
        }
    }
}

impl Observer for Log {
    fn observe(&mut self, event: RunEvent<'_>) {
        match event {
            RunEvent::GameBegan { game, players } => {
                let (white, black) = (self.name(players.white), self.name(players.black));
                let number = number(game, self.halves_from);
                self.line(LogLevel::Trace, &format!("Game {number} between {white} and {black} starting"));
            }
            RunEvent::GameEnded { record, failure } => {
                if self.latency {
                    self.latencies(record);
                }
                let (ending, number) = (&record.ending, number(record.id, self.halves_from));
                let text = format!(
                    "Game {number} finished with result {}, {} {}",
                    ending.outcome.token(),
                    ending.termination.name(),
                    ending.detail
                );
                self.line(LogLevel::Trace, text.trim_end());
                if let Some(failure) = failure {
                    let name = self.name(failure.player);
                    self.line(LogLevel::Warn, &format!("Game {number}: {name} failed: {}", failure.status));
                    if self.args.engine {
                        let _ = self.out.write_all(failure.transcript.as_bytes());
                        for line in failure.stderr.lines() {
                            let _ = writeln!(self.out, "<stderr> {name} ---> {}", printable(line));
                        }
                    }
                }
            }
            RunEvent::Warning { text } | RunEvent::PvWarning { text } => self.line(LogLevel::Warn, text),
            RunEvent::Closed { reason, .. } => {
                self.line(LogLevel::Info, &format!("Stopped: {reason:?}"));
                let _ = self.out.flush();
            }
            _ => {}
        }
    }
}
