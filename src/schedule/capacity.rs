//! Number of concurrent games that the system's limits allow: open files, processes and threads. A
//! check before the start can report the number that fits, while an error during the run costs a
//! slot.

use crate::os;
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

/// Maximum soft limit of open files that is requested. More are not needed, and some programs
/// iterate over all of them.
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
        let engines = plan.players.len().min(KEPT_ENGINES);
        Self::new(engines as u64, plan.engine_threads() as u64, plan.is_timed())
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
        let open = os::open_files();
        let files = os::raise_open_files(MOST_FILES).map(|limit| limit.saturating_sub(open + OTHER_FILES));
        let tasks = os::free_tasks().map(|tasks| tasks.saturating_sub(OTHER_TASKS));
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
pub struct CapacityError {
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
/// Returns [`CapacityError`] with the number that fits.
pub fn check(games: u16, running: u16, demand: Demand, supply: Supply) -> Result<(), CapacityError> {
    let rows = [
        (supply.files, demand.files, "open files", "`ulimit -Hn` shows the limit"),
        (supply.tasks, demand.tasks, "processes and threads", "`ulimit -u` and the container's limit on processes"),
    ];
    let more = u64::from(games.saturating_sub(running));
    let refusals = rows.into_iter().filter_map(|(free, each, what, limit)| {
        let free = free?;
        let most = u64::from(running) + free / each.max(1);
        (more.saturating_mul(each) > free).then_some(CapacityError { games, each, what, free, limit, most })
    });
    refusals.min_by_key(|refusal| refusal.most).map_or(Ok(()), Err)
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
}
