//! Number of concurrent games that the system's limits allow: open files, processes and threads. A
//! check before the start can report the number that fits, while an error during the run costs a
//! slot.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::plan::Plan;
use crate::schedule::worker::KEPT_ENGINES;

/// Open files of a run besides its games: journal, PGN, report, clients, and pipes of engines that
/// are starting.
const OTHER_FILES: u64 = 160;

/// Open files for endgame tablebases.
const TABLE_FILES: u64 = 512;

/// Open files of a slot's event loop.
const FILES_OF_A_SLOT: u64 = 4;

/// Open files of an engine: three pipes, its process, and the log of its standard error.
const FILES_OF_AN_ENGINE: u64 = 5;

/// Threads of a run besides its games: the event loop, the screen, and their blocking work.
const OTHER_TASKS: u64 = 32;

/// Most open files that the soft limit is raised to. More are not needed, and some programs iterate
/// over all of them.
const MOST_FILES: u64 = 1 << 16;

/// Resources that one concurrent game needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demand {
    files: u64,
    tasks: u64,
}

impl Demand {
    /// Demand of the smallest game: two engines of one thread.
    #[must_use]
    pub const fn least() -> Self {
        Self::new(2, 1, false)
    }

    /// Demand of a game of `plan`.
    #[must_use]
    pub fn of(plan: &Plan) -> Self {
        let threads = if plan.rules.ponder { plan.threads() / 2 } else { plan.threads() };
        let timed = plan.is_timed();
        Self::new(plan.players.len().min(KEPT_ENGINES) as u64, threads as u64, timed)
    }

    const fn new(engines: u64, threads: u64, timed: bool) -> Self {
        // With a clock, `schedstat` stays open for each thread and for the runner.
        let figures = if timed { threads.saturating_add(1) } else { 0 };
        let files = FILES_OF_AN_ENGINE.saturating_add(figures).saturating_mul(engines).saturating_add(FILES_OF_A_SLOT);
        Self { files, tasks: threads.saturating_add(1).saturating_mul(engines).saturating_add(1) }
    }
}

/// Resources that this process may still use. `None` if there is no limit or it is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Supply {
    files: Option<u64>,
    tasks: Option<u64>,
}

impl Supply {
    /// Raises the soft limit on open files to the hard one, and returns the resources that are
    /// left.
    #[must_use]
    pub fn claim() -> Self {
        let open = fs::read_dir("/proc/self/fd").map_or(0, |files| files.count() as u64);
        let files = raise_files().map(|limit| limit.saturating_sub(open + OTHER_FILES));
        let tasks = free_tasks().map(|tasks| tasks.saturating_sub(OTHER_TASKS));
        Self { files, tasks }
    }

    /// Subtracts the files of endgame tablebases, if `plan` uses them.
    #[must_use]
    pub fn after_tables(self, plan: &Plan) -> Self {
        let tables = if plan.rules.syzygy.is_some() { TABLE_FILES } else { 0 };
        Self { files: self.files.map(|files| files.saturating_sub(tables)), ..self }
    }
}

/// Error: more concurrent games than the system's limits allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "--concurrency {games}: a game takes {each} {what}, and there is room for {free} more ({limit}); {}",
    if *most == 0 { "not one more game fits".to_owned() } else { format!("at most {most} at once fit") }
)]
pub struct NoRoom {
    games: u16,
    each: u64,
    what: &'static str,
    free: u64,
    limit: &'static str,
    most: u64,
}

/// Checks that `games` concurrent games fit, of which `running` already have their resources.
///
/// # Errors
/// Returns [`NoRoom`] with the number that fits.
pub fn check(games: u16, running: u16, demand: Demand, supply: Supply) -> Result<(), NoRoom> {
    let rows = [
        (supply.files, demand.files, "open files", "`ulimit -Hn` shows the limit"),
        (supply.tasks, demand.tasks, "processes and threads", "`ulimit -u` and the container's limit on processes"),
    ];
    let more = u64::from(games.saturating_sub(running));
    let refusals = rows.into_iter().filter_map(|(free, each, what, limit)| {
        let free = free?;
        let most = u64::from(running) + free / each.max(1);
        (more.saturating_mul(each) > free).then_some(NoRoom { games, each, what, free, limit, most })
    });
    refusals.min_by_key(|refusal| refusal.most).map_or(Ok(()), Err)
}

/// Raises the soft limit on open files as far as possible and returns it.
fn raise_files() -> Option<u64> {
    let limit = getrlimit(Resource::Nofile);
    let wanted = limit.maximum.unwrap_or(u64::MAX).min(MOST_FILES);
    if limit.current.is_some_and(|current| current < wanted) {
        // On failure the current limit suffices for most runs.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), ..limit });
    }
    getrlimit(Resource::Nofile).current
}

/// Returns the number of tasks that may still start under the limits of the user, the container and
/// the system.
fn free_tasks() -> Option<u64> {
    // The user's limit does not apply to root.
    let of_user = if rustix::process::geteuid().is_root() {
        None
    } else {
        getrlimit(Resource::Nproc).current.map(|limit| limit.saturating_sub(tasks_of_user()))
    };
    [of_user, free_in_container(), free_in_system()].into_iter().flatten().min()
}

/// Number of threads of all processes of this user.
fn tasks_of_user() -> u64 {
    let user = rustix::process::getuid().as_raw().to_string();
    let Ok(entries) = fs::read_dir("/proc") else { return 0 };
    let threads = |entry: fs::DirEntry| {
        entry.file_name().to_str()?.parse::<u32>().ok()?;
        let status = fs::read_to_string(entry.path().join("status")).ok()?;
        let value = |key: &str| status.lines().find_map(|line| line.strip_prefix(key))?.split_whitespace().next();
        if value("Uid:") == Some(user.as_str()) { value("Threads:")?.parse::<u64>().ok() } else { None }
    };
    entries.flatten().filter_map(threads).sum()
}

/// Returns the number of tasks that the control groups (v1 and v2) leave, from this process's group
/// upwards.
fn free_in_container() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let roots = groups.lines().filter_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        match (parts.next()?, parts.next()?) {
            ("", path) => Some((Path::new("/sys/fs/cgroup"), path)),
            (names, path) if names.split(',').any(|name| name == "pids") => {
                Some((Path::new("/sys/fs/cgroup/pids"), path))
            }
            _ => None,
        }
    });
    roots.flat_map(|(root, path)| free_up_from(root, path.trim_start_matches('/'))).min()
}

fn free_up_from(root: &Path, path: &str) -> Vec<u64> {
    let number = |file: PathBuf| fs::read_to_string(file).ok()?.trim().parse::<u64>().ok();
    let within = root.join(path);
    let groups = within.ancestors().take_while(|group| group.starts_with(root));
    groups
        .filter_map(|group| Some(number(group.join("pids.max"))?.saturating_sub(number(group.join("pids.current"))?)))
        .collect()
}

/// Returns the number of tasks that the kernel's own limit leaves.
fn free_in_system() -> Option<u64> {
    let number = |file: &str| fs::read_to_string(file).ok()?.trim().parse::<u64>().ok();
    let most =
        [number("/proc/sys/kernel/threads-max"), number("/proc/sys/kernel/pid_max")].into_iter().flatten().min()?;
    let load = fs::read_to_string("/proc/loadavg").ok()?;
    let running = load.split_whitespace().nth(3)?.split_once('/')?.1.parse::<u64>().ok()?;
    Some(most.saturating_sub(running))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Concurrent games, running ones, free files and tasks, and a part of the refusal.
    #[track_caller]
    fn fits(games: u16, running: u16, files: Option<u64>, tasks: Option<u64>, refusal: Option<&str>) {
        let demand = Demand { files: 14, tasks: 5 };
        let result = check(games, running, demand, Supply { files, tasks });
        let said = result.err().map(|error| error.to_string());
        match (said, refusal) {
            (None, None) => {}
            (Some(said), Some(words)) => assert!(said.contains(words), "{said}"),
            (said, _) => panic!("{games}, {running}: {said:?}"),
        }
    }

    #[test]
    fn the_number_that_fits_is_named() {
        fits(65_535, 0, None, None, None);
        fits(64, 0, Some(896), Some(320), None);
        fits(
            65,
            0,
            Some(896),
            Some(325),
            Some("--concurrency 65: a game takes 14 open files, and there is room for 896"),
        );
        fits(65, 0, Some(910), Some(324), Some("5 processes and threads"));
        fits(3_000, 0, Some(14_000), Some(1_000), Some("at most 200 at once fit"));
        fits(3_000, 0, Some(1_400), Some(5_000), Some("at most 100 at once fit"));
        fits(1, 0, Some(13), None, Some("not one more game fits"));
        // Running games already have their resources.
        fits(64, 64, Some(0), Some(0), None);
        fits(66, 64, Some(14), Some(100), Some("at most 65 at once fit"));
        fits(3, 64, Some(0), Some(0), None);
    }

    #[test]
    fn more_threads_and_a_clock_take_more() {
        assert_eq!(Demand::least(), Demand { files: 14, tasks: 5 });
        assert_eq!(Demand::new(2, 1, true), Demand { files: 18, tasks: 5 });
        assert_eq!(Demand::new(4, 8, true), Demand { files: 60, tasks: 37 });
        assert_eq!(Demand::new(2, u64::MAX, true).tasks, u64::MAX);
    }

    #[test]
    fn a_group_has_what_the_tightest_above_it_leaves() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("a/b");
        fs::create_dir_all(&inner).unwrap();
        for (group, most, current) in [("a/b", "max", "10"), ("a", "100", "40")] {
            fs::write(folder.path().join(group).join("pids.max"), most).unwrap();
            fs::write(folder.path().join(group).join("pids.current"), current).unwrap();
        }
        assert_eq!(free_up_from(folder.path(), "a/b"), [60]);
        assert_eq!(free_up_from(folder.path(), ""), [0; 0]);
    }
}
