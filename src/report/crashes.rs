//! Folder `crashes/` of a run: evidence for a bug report on each game lost by an engine's fault.
//!
//! `game-N/transcript.txt` is the UCI traffic with the engine at fault, line by line with
//! microsecond timestamps. `stderr.txt` is the end of its standard error. `about.txt` holds all
//! else as `key: value` lines. `quintain replay` reads the first and the last.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::plan::Plan;
use crate::record::GameRecord;
use crate::tournament::events::{Failure, Observer, RunEvent};

/// Name of the folder in a run's directory.
pub const FOLDER: &str = "crashes";

/// File name of the description in a game's folder.
pub const ABOUT: &str = "about.txt";

/// File name of the end of the standard error in a game's folder.
pub const STDERR: &str = "stderr.txt";

/// File name of the transcript in a game's folder.
pub const TRANSCRIPT: &str = "transcript.txt";

/// Name of a game's folder in `crashes/`.
#[must_use]
pub fn folder_name(game: u64) -> String {
    format!("game-{game}")
}

/// Path of one of a game's files in the run's directory.
#[must_use]
pub fn file(game: u64, name: &str) -> PathBuf {
    PathBuf::from(FOLDER).join(folder_name(game)).join(name)
}

/// Number of the game with this folder name.
fn game_of(folder: &str) -> Option<u64> {
    folder.strip_prefix("game-")?.parse().ok()
}

/// Numbers of the games in `crashes/` of the run in `root`, at most `most`, the lowest first.
#[must_use]
pub fn games(root: &Path, most: usize) -> Vec<u64> {
    let entries = fs::read_dir(root.join(FOLDER)).into_iter().flatten().flatten();
    let mut games: Vec<u64> = entries.filter_map(|entry| game_of(entry.file_name().to_str()?)).collect();
    games.sort_unstable();
    games.truncate(most);
    games
}

/// Engine at fault, read from the text of an `about.txt`.
#[must_use]
pub fn engine_named(about: &str) -> Option<&str> {
    about.lines().find_map(|line| line.strip_prefix("engine: "))
}

/// Returns true if the text of an `about.txt` is of a game that was played again.
#[must_use]
pub fn is_void(about: &str) -> bool {
    about.lines().any(|line| line.starts_with("void: "))
}

/// Writes `crashes/game-N/` with the transcript, the standard error and a summary.
pub struct Crashes {
    folder: PathBuf,
    plan: Arc<Plan>,
}

impl Crashes {
    /// Creates a writer for `folder`, which is made at the first failure.
    #[must_use]
    pub const fn new(folder: PathBuf, plan: Arc<Plan>) -> Self {
        Self { folder, plan }
    }

    fn write(&self, record: &GameRecord, failure: &Failure) -> std::io::Result<()> {
        let folder = self.folder.join(folder_name(failure.game.number()));
        fs::create_dir_all(&folder)?;
        fs::write(folder.join(TRANSCRIPT), &failure.transcript)?;
        fs::write(folder.join(STDERR), &failure.stderr)?;
        fs::write(folder.join(ABOUT), self.about(record, failure))
    }

    fn about(&self, record: &GameRecord, failure: &Failure) -> String {
        let player = self.plan.players.get(usize::from(failure.player.0));
        let moves: Vec<_> = record.opening.moves.iter().chain(record.moves.iter().map(|ply| &ply.uci)).collect();
        let mut about = String::new();
        let mut line = |key: &str, value: &str| {
            let _ = writeln!(about, "{key}: {value}");
        };
        line("game", &failure.game.number().to_string());
        if record.is_void {
            line("void", "it was played again");
        }
        line("engine", player.map_or("?", |player| player.name.as_str()));
        line("program", &player.map_or_else(String::new, |player| player.program.display().to_string()));
        let options = self.plan.tuned_options(record, failure.player);
        if !options.is_empty() {
            let options: Vec<_> = options.iter().map(|(name, value)| format!("{name}={value}")).collect();
            line("tuned options", &options.join(", "));
        }
        line("termination", record.ending.termination.name());
        line("detail", &record.ending.detail);
        line("status", &failure.status);
        if let Some(overstep) = &record.overstep {
            line("allowed", &format!("{:?}", overstep.allowed));
            line("answered", &overstep.answered.map_or_else(|| "never".to_owned(), |at| format!("after {at:?}")));
            line("machine", &overstep.load.to_string());
        }
        line("limit", &player.map_or_else(String::new, |player| player.limit.scaled(record.scale).to_string()));
        let (rules, timeouts) = (&self.plan.rules, &self.plan.timeouts);
        let margin = player.and_then(|player| player.margin).unwrap_or(rules.margin);
        line("margin ms", &(margin.as_secs_f64() * 1e3).to_string());
        line("stall timeout s", &rules.stall_timeout.as_secs_f64().to_string());
        let [start, ready, new_game, stop] =
            [timeouts.start, timeouts.ready, timeouts.new_game, timeouts.stop].map(|timeout| timeout.as_secs_f64());
        line("other timeouts s", &format!("uciok {start}, readyok {ready}, new game {new_game}, stop {stop}"));
        if let Some(worker) = &record.worker {
            // The load of its machine is not known here.
            line("worker", worker);
        } else {
            let cpus = std::thread::available_parallelism();
            line("load average", &load_average());
            line("cpus", &cpus.map_or_else(|_| "?".to_owned(), |cpus| cpus.to_string()));
            line("games at once", &self.plan.concurrency.to_string());
        }
        line("fen", &record.opening.fen);
        line("moves", &moves.iter().map(|text| text.as_str()).collect::<Vec<_>>().join(" "));
        about
    }
}

/// Load average over 1, 5 and 15 minutes, then runnable and all threads, from the kernel; `?` if it
/// is not available.
fn load_average() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    // Leaves out the last field, the number of the newest process.
    text.trim().rsplit_once(' ').map_or_else(|| "?".to_owned(), |(load, _)| load.to_owned())
}

impl Observer for Crashes {
    fn observe(&mut self, event: RunEvent<'_>) {
        if let RunEvent::GameEnded { record, failure: Some(failure) } = event
            && let Err(error) = self.write(record, failure)
        {
            tracing::warn!(
                "{}: {error}; the transcript of game {} is lost",
                self.folder.display(),
                failure.game.number()
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn games_are_listed_by_number_up_to_the_limit() {
        let folder = tempfile::tempdir().unwrap();
        assert!(games(folder.path(), 9).is_empty());
        for name in ["game-10", "game-9", "game-2", "game-x", "other"] {
            fs::create_dir_all(folder.path().join(FOLDER).join(name)).unwrap();
        }
        assert_eq!(games(folder.path(), 9), [2, 9, 10]);
        assert_eq!(games(folder.path(), 2), [2, 9]);
    }
}
