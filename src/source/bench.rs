//! An engine's `bench`: the number of nodes it searches over its fixed positions, which identifies
//! a version.

use std::path::{Path, PathBuf};
use std::time::Duration;

use thiserror::Error;

use crate::source::command::{ProgramError, ProgramRun};
use crate::text::excerpt;

/// Characters of a failed bench's output in an error.
const MOST_SHOWN: usize = 120;

const LIMIT: Duration = Duration::from_secs(120);

/// Runs `program` with the arguments of `bench` in `dir`; `None` if it fails, hangs or prints no
/// count.
pub(super) fn run(program: &Path, bench: &str, dir: &Path) -> Option<u64> {
    let task = ProgramRun::guarded(program, LIMIT).args(bench.split_whitespace()).dir(dir).merged();
    let ran = task.run().ok()?;
    if ran.status.success() { bench_nodes(&ran.stdout) } else { None }
}

/// Reason that a bench gives no count.
#[derive(Debug, Error)]
pub enum BenchError {
    /// The program cannot be run to its end.
    #[error(transparent)]
    Run(#[from] ProgramError),
    /// The program ended with an error.
    #[error("`{command}` ended with {status}{said}")]
    Failed {
        /// Program and arguments.
        command: String,
        /// Exit status or signal.
        status: String,
        /// The last line of its output, after a colon.
        said: String,
    },
    /// The output has no node count.
    #[error("`{command}` prints no node count (`N nodes M nps`, `Nodes searched: N` or `bench: N`){said}")]
    NoCount {
        /// Program and arguments.
        command: String,
        /// The last line of its output, after a colon.
        said: String,
    },
}

/// Bench of a program, to be run on chosen CPUs.
#[derive(Clone, Debug)]
pub struct Bench {
    /// The program.
    pub program: PathBuf,
    /// Arguments of the program, including those of the bench.
    pub args: Vec<String>,
    /// Directory in which it runs; `None` for the current one.
    pub dir: Option<PathBuf>,
    /// CPUs that it is bound to; none for any.
    pub cpus: Vec<usize>,
    /// Deadline of one bench.
    pub limit: Duration,
}

impl Bench {
    /// Runs the bench to its end and returns the nodes it counts. The program is started by this
    /// thread.
    ///
    /// # Errors
    /// Returns an error if the bench fails, passes its deadline or prints no count.
    pub fn run(&self) -> Result<u64, BenchError> {
        let task = ProgramRun::guarded(&self.program, self.limit).args(&self.args).cpus(&self.cpus).merged();
        let ran = task.dir(self.dir.as_deref().unwrap_or(Path::new("."))).run()?;
        let command = || format!("{} {}", self.program.display(), self.args.join(" "));
        let last = ran.stdout.lines().rev().map(str::trim).find(|line| !line.is_empty());
        let said = || last.map_or_else(String::new, |line| format!(": {}", excerpt(line, MOST_SHOWN)));
        if !ran.status.success() {
            return Err(BenchError::Failed { command: command(), status: ran.status.to_string(), said: said() });
        }
        bench_nodes(&ran.stdout).ok_or_else(|| BenchError::NoCount { command: command(), said: said() })
    }
}

/// Runs `program` with `args` followed by `bench` and returns the nodes it counts; `None` if it
/// fails, hangs or prints no count.
#[must_use]
pub fn bench(program: &Path, args: &[String], dir: Option<&Path>) -> Option<u64> {
    let task =
        ProgramRun::guarded(program, LIMIT).args(args).args(["bench"]).dir(dir.unwrap_or(Path::new("."))).merged();
    let ran = task.run().ok()?;
    if ran.status.success() { bench_nodes(&ran.stdout) } else { None }
}

/// The node count in a bench's output: `N nodes M nps`, `Nodes searched : N` or `bench: N`; the
/// last one counts.
#[must_use]
pub fn bench_nodes(output: &str) -> Option<u64> {
    output.lines().rev().find_map(line_nodes)
}

fn line_nodes(line: &str) -> Option<u64> {
    let line = line.trim().to_ascii_lowercase();
    let words: Vec<&str> = line.split_whitespace().collect();
    if let [count, "nodes", _, "nps", ..] = words.as_slice() {
        return number(count);
    }
    let (label, value) = line.split_once([':', '='])?;
    if !matches!(label.trim(), "nodes searched" | "bench" | "nodes" | "total nodes") {
        return None;
    }
    number(value.split_whitespace().next()?)
}

fn number(word: &str) -> Option<u64> {
    word.replace([',', '_'], "").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_forms_are_read() {
        assert_eq!(bench_nodes("position 1\n1234 nodes 99 nps\n"), Some(1234));
        assert_eq!(bench_nodes("Total time (ms) : 3\nNodes searched  : 2030154\nNodes/second : 12\n"), Some(2_030_154));
        assert_eq!(bench_nodes("bench: 77\n"), Some(77));
        assert_eq!(bench_nodes("Bench: 4,321\n"), Some(4321));
        assert_eq!(bench_nodes("info depth 1 nodes 5 nps 6\nerror: no\n"), None);
    }
}
