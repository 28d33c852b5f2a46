//! Runs as parts of something larger, such as matches of other programs.
//!
//! Their directories also work with `quintain resume` and `report`.

use std::path::Path;
use std::sync::Arc;

use tokio::sync::mpsc;

use crate::journal::{self, PlanFacts};
use crate::openings::Book;
use crate::plan::{Plan, file};
use crate::run::dir::{Place, RunDir};
use crate::run::drive::{self, OutputStyle};
use crate::run::error::{Result, ResultContext as _, fail};
use crate::run::{Exit, prepare, resolve, signals};
use crate::settings::RawPlan;
use crate::text::file_sha256;
use crate::tournament::scoreboard::Scoreboard;

/// Hexadecimal digits of its SHA-256 in a file's name, by which a moved file is recognised.
const NAMED_DIGITS: usize = 12;

/// A run that was played, complete or not.
#[derive(Debug)]
pub struct PlayedRun {
    /// Plan of the run.
    pub plan: Plan,
    /// Standing after the counted games.
    pub scoreboard: Scoreboard,
    /// Result. After [`Exit::Interrupted`] and [`Exit::Aborted`] the same call resumes the run.
    pub exit: Exit,
}

/// Plays the games of `raw` in the directory `root`: starts the run, resumes it, or counts it if it
/// is complete.
///
/// It is a test if `raw` has `new` or `base`, and otherwise a match of its `players`. `seed` must
/// be set, so that the same call is the same run. Only the caller gets the results; the progress
/// goes to standard error.
///
/// # Errors
/// Returns an error if keys contradict each other, if an engine is not found or does not start, or
/// if the directory has a run of other settings. The message names the difference.
pub fn play(raw: &RawPlan, name: &'static str, root: &Path) -> Result<PlayedRun> {
    if raw.seed.is_none() {
        fail!(Setting, "no `seed`: a run that can be resumed needs one");
    }
    let (plan, book) = resolved(raw, name)?;
    go(plan, book, root)
}

/// Plays a plan in the directory `root`: starts, resumes or counts the run.
pub(super) fn go(plan: Plan, book: Book, root: &Path) -> Result<PlayedRun> {
    if !root.join(file::FILE_NAME).exists() {
        let place = Place::Given(root.to_owned());
        place.check()?;
        let exit = drive::start(Arc::new(plan.clone()), book, &place, OutputStyle::quiet())?;
        return Ok(PlayedRun { scoreboard: count(&plan, root)?, plan, exit });
    }
    let (dir, begun) = RunDir::open(root)?;
    let begun = found_again(begun, &plan);
    same(&begun, &plan).within(|| format!("{}", root.display()))?;
    let scoreboard = count(&begun, root)?;
    if let Some(exit) = Exit::of_counted(&begun, &scoreboard) {
        return Ok(PlayedRun { plan: begun, scoreboard, exit });
    }
    // The concurrency may change between sessions, and so may the workers. At the same hub the run
    // keeps its name.
    let keeps = begun.workers.as_ref().zip(plan.workers.as_ref()).is_some_and(|(was, is)| was.are_those_of(is));
    let workers = if keeps { begun.workers.clone() } else { plan.workers };
    let going = Plan { concurrency: plan.concurrency, workers, affinity: plan.affinity, ..begun };
    let exit = drive::resume(Arc::new(going.clone()), &dir, OutputStyle::quiet())?;
    Ok(PlayedRun { scoreboard: count(&going, root)?, plan: going, exit })
}

/// Runs only the part of [`play`] before the first game: checks `raw`, finds or builds the engines,
/// reads the book.
///
/// # Errors
/// Returns the errors of [`play`], except those of engines that do not start.
pub fn check(raw: &RawPlan, name: &'static str) -> Result<()> {
    resolved(raw, name).map(|_| ())
}

fn resolved(raw: &RawPlan, name: &'static str) -> Result<(Plan, Book)> {
    let is_test = raw.new.is_some() || raw.base.is_some();
    if is_test { resolve::sprt(raw) } else { resolve::games(raw, name) }
}

/// Calls `act` on its own thread for each stop signal. Runs hear the signals too, the next run also
/// those that came before it.
///
/// Signals that the program was started to ignore stay ignored. Programs that do more than play
/// need this, because after the first run signals lose their default effect. Call it before the
/// first run.
///
/// # Errors
/// Returns an error if the thread cannot be started.
pub fn on_interrupt(act: impl Fn() + Send + 'static) -> Result<()> {
    let runtime = prepare::runtime()?;
    let (interrupts, mut seen) = mpsc::channel(4);
    // Every signal from here on counts, also one that comes before the thread runs.
    let watch = signals::watch_new_signals(interrupts);
    let listen = move || {
        runtime.block_on(async {
            let watching = tokio::spawn(watch);
            while seen.recv().await.is_some() {
                act();
            }
            watching.abort();
        });
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(listen).within(|| "cannot listen for signals")?;
    Ok(())
}

fn count(plan: &Plan, root: &Path) -> Result<Scoreboard> {
    let mut scoreboard = Scoreboard::new(plan)?;
    PlanFacts::new(plan, None).read(&root.join(journal::FILE_NAME), |game| scoreboard.record(game, |_, _| {}))?;
    Ok(scoreboard)
}

/// Returns `begun` with the paths in its options replaced by those of `asked`, if they are the same
/// file in another directory. A file is recognised by a name that contains a part of its SHA-256.
fn found_again(mut begun: Plan, asked: &Plan) -> Plan {
    let players = begun.players.iter_mut().zip(&asked.players);
    let options = players.flat_map(|(before, player)| before.options.iter_mut().zip(&player.options));
    for ((name, was), (key, is)) in options {
        if name == key && is_moved(Path::new(was), Path::new(is)) {
            was.clone_from(is);
        }
    }
    begun
}

fn is_moved(was: &Path, is: &Path) -> bool {
    let Some(name) = is.file_name().filter(|name| was.file_name() == Some(name)).and_then(|name| name.to_str()) else {
        return false;
    };
    was != is && file_sha256(is).is_ok_and(|sha256| name.contains(&sha256[..NAMED_DIGITS]))
}

/// Checks that the requested settings are those of the run. The machine, its load, the current
/// directory, what engines reported, and the length of files may differ.
fn same(begun: &Plan, asked: &Plan) -> Result<()> {
    let mut players = asked.players.clone();
    for (player, before) in players.iter_mut().zip(&begun.players) {
        player.dir.clone_from(&before.dir);
        player.complaints.clone_from(&before.complaints);
    }
    let mut recording = asked.recording.clone();
    // The run itself has made the files longer.
    let pgn = recording.pgn.as_mut().map(|pgn| &mut pgn.file).zip(begun.recording.pgn.as_ref().map(|pgn| &pgn.file));
    for (file, before) in pgn.into_iter().chain(recording.epd.as_mut().zip(begun.recording.epd.as_ref())) {
        if file.append_after.is_some() && before.append_after.is_some() {
            file.append_after = before.append_after;
        }
    }
    let asked = Plan {
        players,
        concurrency: begun.concurrency,
        workers: begun.workers.clone(),
        affinity: begun.affinity.clone(),
        machine: begun.machine.clone(),
        max_time: begun.max_time,
        max_failures: begun.max_failures,
        max_time_losses: begun.max_time_losses,
        recording,
        ..asked.clone()
    };
    let (was, is) = (file::to_toml(begun), file::to_toml(&asked));
    match was.lines().zip(is.lines()).find(|(was, is)| was != is) {
        Some((was, is)) => {
            fail!(OtherRun, "started with `{was}`, not `{is}`; give the same settings, or another folder")
        }
        None if was.len() != is.len() => {
            fail!(OtherRun, "started with other settings; give the same, or another folder")
        }
        None => Ok(()),
    }
}
