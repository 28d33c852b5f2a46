//! An engine's `bench`: the number of nodes it searches over its fixed positions, which identifies
//! a version.

use std::path::Path;
use std::time::Duration;

use crate::source::command::Task;

const LIMIT: Duration = Duration::from_secs(120);

/// Runs `program` with the arguments of `bench` in `dir`; `None` if it fails, hangs or prints no
/// count.
pub(super) fn run(program: &Path, bench: &str, dir: &Path) -> Option<u64> {
    let task = Task::guarded(program, LIMIT).args(bench.split_whitespace()).dir(dir).merged();
    let ran = task.run().ok()?;
    if ran.status.success() { bench_nodes(&ran.stdout) } else { None }
}

/// Runs `program` with `args` followed by `bench` and returns the nodes it counts; `None` if it
/// fails, hangs or prints no count.
#[must_use]
pub fn bench(program: &Path, args: &[String], dir: Option<&Path>) -> Option<u64> {
    let task = Task::guarded(program, LIMIT).args(args).args(["bench"]).dir(dir.unwrap_or(Path::new("."))).merged();
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
