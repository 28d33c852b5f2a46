//! Games of whole runs.

use std::process::Command;
use std::time::{Duration, Instant};

use quintain::journal;
use quintain::record::GameRecord;

/// Plays a run of `quintain` with these arguments to its end, with this exit code, and visits its
/// games. Returns the time from its start to its exit.
pub fn play(args: &[&str], code: i32, visit: impl FnMut(GameRecord)) -> Duration {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path().join("run");
    let mut command = Command::new(env!("CARGO_BIN_EXE_quintain"));
    command.args(args).arg("--out").arg(&dir);
    let begun = Instant::now();
    let output = command.output().expect("the runner runs");
    let wall = begun.elapsed();
    assert_eq!(output.status.code(), Some(code), "{}", String::from_utf8_lossy(&output.stderr));
    journal::read(&dir.join(journal::FILE_NAME), visit).expect("a journal");
    wall
}
