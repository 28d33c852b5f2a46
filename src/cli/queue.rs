//! `quintain queue`: plans that wait, in the order in which a daemon plays them.

mod add;
mod list;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, bail};
use chrono::{DateTime, Days, Local, MappedLocalTime, NaiveDateTime, NaiveTime, TimeDelta, TimeZone};
use clap::Subcommand;

use crate::cli::runs::folder_of;
use crate::run::dir::RESULTS;
use crate::run::queue::again;
use crate::run::queue::daemon::{self, DaemonLimits, Deadline, StopSwitch};
use crate::run::queue::{EntryId, Queue};
use crate::run::{Exit, play, progress, resolve};
use crate::source::{self, Context};

const EXAMPLES: &str = "\
Entries are TOML files in results/queue. `queue run`, or `serve --run`, plays them one after \
another: the highest priority first, then the oldest. An entry of a higher priority stops the run \
being played after its started pairs, and that run resumes later. A daemon that is killed loses \
nothing: the next one resumes the run.

A Git revision is resolved when an entry is added, so that later commits do not change the test. \
The working tree with its uncommitted changes is kept as a commit of its own.

Examples:
  quintain queue add configs/sprt-stc.toml
  quintain queue add --priority 2 sprt --new git:my-idea --base git:main --tc 8+0.08
  quintain queue add match ./engine-a ./engine-b --pairs 100
  quintain queue add race git:idea-1 git:idea-2 --base git:main --nodes 20000
  quintain queue add tune.toml --apply tuned
  quintain queue ls
  quintain queue up 3
  quintain queue run --until 07:00";

const ADD_EXAMPLES: &str = "\
Examples:
  quintain queue add configs/sprt-stc.toml
  quintain queue add --priority 2 sprt --new git:my-idea --base git:main --tc 8+0.08
  quintain queue add race git:idea-1 git:idea-2 --base git:main --nodes 20000
  quintain queue add --json configs/sprt-stc.toml          for scripts: its `id`, `title` and `state`";

const RUN_EXAMPLES: &str = "\
Examples:
  quintain queue run
  quintain queue run --until 07:00
  quintain queue run --budget 8h --until-empty";

/// Queues tests and matches, and plays them one after another.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct QueueArgs {
    /// Folder of results, which contains the queue.
    #[arg(long, value_name = "DIR", default_value = RESULTS, global = true)]
    results: PathBuf,
    #[command(subcommand)]
    command: QueueCommand,
}

#[derive(Debug, Subcommand)]
enum QueueCommand {
    /// Adds a plan, or a command line of sprt, match, gauntlet, race or tune.
    #[command(after_long_help = ADD_EXAMPLES)]
    Add(add::AddArgs),
    /// Lists the entries in the order of play.
    Ls(list::LsArgs),
    /// Moves an entry to the front. A failed or stopped one is played again. An entry whose run has
    /// begun stays before it, unless its priority is lower.
    #[command(after_long_help = "Examples:\n  quintain queue up 3\n  quintain queue up 3 --priority 2")]
    Up {
        /// Number of the entry.
        #[arg(value_name = "ID")]
        id: EntryId,
        /// New priority; one above that of the current run stops that run [default: the highest of
        /// the queue].
        #[arg(long, value_name = "N", allow_negative_numbers = true)]
        priority: Option<i32>,
    },
    /// Removes an entry. Its run, if in progress, stops and is kept.
    #[command(after_long_help = "Example:\n  quintain queue rm 3")]
    Rm {
        /// Number of the entry.
        #[arg(value_name = "ID")]
        id: EntryId,
    },
    /// Sets the note of an entry's future runs.
    #[command(after_long_help = "Example:\n  quintain queue note 3 wider aspiration windows")]
    Note {
        /// Number of the entry.
        #[arg(value_name = "ID")]
        id: EntryId,
        /// One line, shown wherever the run is named. Its words need no quotes.
        #[arg(value_name = "TEXT", required = true)]
        text: Vec<String>,
    },
    /// Queues an interrupted run to be resumed.
    #[command(after_long_help = "Example:\n  quintain queue resume latest")]
    Resume {
        /// The run: its directory, an id of `quintain runs`, the end of one, or `latest`. It must
        /// be in the folder of results.
        #[arg(value_name = "RUN")]
        run: OsString,
    },
    /// Plays the entries and waits for new ones, until Ctrl-C.
    #[command(after_long_help = RUN_EXAMPLES)]
    Run(RunArgs),
}

/// Conditions that end `quintain queue run`.
#[derive(Debug, clap::Args)]
pub(super) struct RunArgs {
    /// End at this time of day. No run starts whose forecast exceeds the time left, and the current
    /// run stops after its started pairs.
    #[arg(long, value_name = "HH:MM", value_parser = time_until, conflicts_with = "budget")]
    until: Option<Duration>,
    /// End after this duration, in the same way: `90s`, `30m`, `8h`.
    #[arg(long, value_name = "TIME")]
    budget: Option<String>,
    /// End as soon as the queue is empty.
    #[arg(long)]
    until_empty: bool,
}

/// Longest gap in minutes that a change of the clock makes.
const LONGEST_GAP: i64 = 24 * 60;

/// Time from now to the next time of the day `text`.
fn time_until(text: &str) -> Result<Duration, String> {
    let wanted =
        NaiveTime::parse_from_str(text, "%H:%M").map_err(|_| "write a time of the day such as 07:00".to_owned())?;
    let unknown = || "the time zone of this machine does not tell when that is; give --budget".to_owned();
    time_to(&Local::now(), wanted).ok_or_else(unknown)
}

/// Time from `now` to the next moment at which a clock of its zone shows `wanted`. If the clock
/// skips it, the next time that it shows counts.
fn time_to<Z: TimeZone>(now: &DateTime<Z>, wanted: NaiveTime) -> Option<Duration> {
    let zone = now.timezone();
    let today = now.date_naive().and_time(wanted);
    let next = (0..=2).flat_map(|days| moments(&zone, today + Days::new(days))).find(|moment| moment > now)?;
    (next.naive_utc() - now.naive_utc()).to_std().ok()
}

/// Moments at which a clock shows `local`, in their order: two if it is set back over that time.
fn moments<Z: TimeZone>(zone: &Z, local: NaiveDateTime) -> Vec<DateTime<Z>> {
    let shown =
        (0..=LONGEST_GAP).find_map(|later| match zone.from_local_datetime(&(local + TimeDelta::minutes(later))) {
            MappedLocalTime::None => None,
            MappedLocalTime::Single(moment) => Some(vec![moment]),
            MappedLocalTime::Ambiguous(first, second) => Some(vec![first, second]),
        });
    shown.unwrap_or_default()
}

impl RunArgs {
    fn limits(&self) -> Result<DaemonLimits> {
        let budget = self.budget.as_deref().map(|text| resolve::time("--budget", text)).transpose()?;
        let end = self.until.map(Deadline::at_clock).or(budget.map(Deadline::after));
        Ok(DaemonLimits { end, until_empty: self.until_empty })
    }
}

pub(super) fn run(args: &QueueArgs) -> Result<Exit> {
    let queue = Queue::of(&args.results)?;
    match &args.command {
        QueueCommand::Add(add) => add::run(&queue, add)?,
        QueueCommand::Ls(ls) => list::run(&queue, ls)?,
        QueueCommand::Up { id, priority } => {
            let priority = queue.up(*id, *priority)?.priority;
            progress::result(&match queue.begun_before(*id)? {
                Some(begun) => format!(
                    "entry {id} is first of the entries of priority {priority} that have not begun; entry {begun} has begun and goes before it. `quintain queue up {id} --priority {}` puts entry {id} first",
                    priority.saturating_add(1)
                ),
                None => format!("entry {id} is first of priority {priority}"),
            });
        }
        QueueCommand::Rm { id } => remove(&queue, *id)?,
        QueueCommand::Note { id, text } => {
            queue.note(*id, &text.join(" "))?;
            progress::result(&format!("the note of entry {id} is set"));
        }
        QueueCommand::Resume { run } => {
            let root = std::path::absolute(folder_of(queue.results(), run.clone())?)?;
            let Ok(run) = root.strip_prefix(queue.results()) else {
                bail!("{}: it is not in {}; give --results", root.display(), queue.results().display());
            };
            let id = again::go_on(&queue, run, Context::from_env()?.cwd)?;
            progress::result(&format!("entry {id} resumes {}", run.display()));
        }
        QueueCommand::Run(run) => {
            let limits = run.limits()?;
            let lock = queue.claim()?;
            return Ok(daemon::run(&queue, lock, limits, &stop_switch()?)?);
        }
    }
    Ok(Exit::Done)
}

/// Switch that Ctrl-C and the system's signals set. They end builds, too.
pub(super) fn stop_switch() -> Result<StopSwitch> {
    let stop = StopSwitch::default();
    let switch = stop.clone();
    play::on_interrupt(move || {
        switch.set();
        source::end_builds();
    })?;
    Ok(stop)
}

fn remove(queue: &Queue, id: EntryId) -> Result<()> {
    let removed = queue.remove(id)?;
    let run = removed.entry.runs.last().map(|run| queue.results().join(run));
    progress::result(&match run {
        Some(run) if removed.was_playing && run.exists() => format!(
            "entry {id} is removed; its run stops after the pairs being played and is kept in {}",
            run.display()
        ),
        Some(_) if removed.was_playing => format!("entry {id} is removed; its run will not begin"),
        Some(run) if run.exists() => format!("entry {id} is removed; its run is kept in {}", run.display()),
        _ => format!("entry {id} is removed"),
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use chrono::{FixedOffset, NaiveDate};

    use super::*;

    /// Zone of a clock that skips an hour on 29 March 2026 and repeats one on 25 October.
    #[derive(Clone, Copy, Debug)]
    struct CentralEurope;

    impl TimeZone for CentralEurope {
        type Offset = FixedOffset;

        fn from_offset(_: &FixedOffset) -> Self {
            Self
        }

        fn offset_from_local_date(&self, local: &NaiveDate) -> MappedLocalTime<FixedOffset> {
            self.offset_from_local_datetime(&local.and_time(NaiveTime::MIN))
        }

        fn offset_from_local_datetime(&self, local: &NaiveDateTime) -> MappedLocalTime<FixedOffset> {
            let [summer, winter] = [2, 1].map(|hours| FixedOffset::east_opt(hours * 3_600).unwrap());
            let holds = |offset: FixedOffset| self.offset_from_utc_datetime(&(*local - offset)) == offset;
            match (holds(summer), holds(winter)) {
                (true, true) => MappedLocalTime::Ambiguous(summer, winter),
                (true, false) => MappedLocalTime::Single(summer),
                (false, true) => MappedLocalTime::Single(winter),
                (false, false) => MappedLocalTime::None,
            }
        }

        fn offset_from_utc_date(&self, utc: &NaiveDate) -> FixedOffset {
            self.offset_from_utc_datetime(&utc.and_time(NaiveTime::MIN))
        }

        fn offset_from_utc_datetime(&self, utc: &NaiveDateTime) -> FixedOffset {
            let change = |month, day| NaiveDate::from_ymd_opt(2026, month, day).unwrap().and_hms_opt(1, 0, 0).unwrap();
            let is_summer = (change(3, 29)..change(10, 25)).contains(utc);
            FixedOffset::east_opt(if is_summer { 7_200 } else { 3_600 }).unwrap()
        }
    }

    #[test]
    fn a_time_of_the_day_is_told_by_the_clock_over_its_changes() {
        for (month, day, hour, minute, wanted, minutes) in [
            (6, 1, 22, 0, "07:00", 9 * 60),
            (6, 1, 7, 0, "07:00", 24 * 60),
            (3, 28, 22, 0, "07:00", 8 * 60),
            (10, 24, 22, 0, "07:00", 10 * 60),
            // Skipped: the clock goes from 02:00 to 03:00.
            (3, 29, 1, 0, "02:30", 60),
            (3, 29, 3, 10, "02:30", 23 * 60 + 20),
            // Shown twice: the clock goes from 03:00 to 02:00.
            (10, 25, 1, 0, "02:30", 90),
            (10, 25, 2, 45, "02:30", 45),
        ] {
            let now = CentralEurope.with_ymd_and_hms(2026, month, day, hour, minute, 0).earliest().unwrap();
            let wanted = NaiveTime::parse_from_str(wanted, "%H:%M").unwrap();
            assert_eq!(time_to(&now, wanted), Some(Duration::from_secs(minutes * 60)), "{now:?} {wanted}");
        }
    }

    #[test]
    fn a_time_of_the_day_is_within_a_day() {
        for text in ["00:00", "07:00", "23:59"] {
            // A day of a change to winter time has 25 hours.
            assert!(time_until(text).unwrap() <= Duration::from_secs(25 * 3_600), "{text}");
        }
        for text in ["7", "24:00", "7h", ""] {
            assert_eq!(time_until(text), Err("write a time of the day such as 07:00".to_owned()), "{text}");
        }
    }
}
