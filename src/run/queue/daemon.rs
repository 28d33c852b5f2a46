//! The daemon: plays the entries of a queue one after another.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant, SystemTime};

use crate::plan::{Chain, Plan};
use crate::report::stored;
use crate::run::begin::{self, GameCommand};
use crate::run::dir::{self, Place, RunDir};
use crate::run::drive::{self, OutputStyle};
use crate::run::error::{Result, ResultContext as _, fail};
use crate::run::notify::{self, Receivers};
use crate::run::queue::watcher::{LOOK, QueueWatch, StopCause};
use crate::run::queue::{DaemonLock, EntryId, Queue, QueueEntry, QueueState, again};
use crate::run::tuning::session;
use crate::run::{Exit, chain, chain_report, forecast, progress, trust};
use crate::settings::RawPlan;
use crate::text::with_causes;

/// Pause after an entry whose state could not be read or written.
const PAUSE: Duration = Duration::from_secs(30);

/// Name of the runs in the folder of results.
const RUNS: &str = "runs";

/// Switch that ends a daemon, shared with the thread that receives the user's signals.
#[derive(Clone, Debug, Default)]
pub(crate) struct StopSwitch(Arc<AtomicBool>);

impl StopSwitch {
    /// Ends the daemon after the current run, which receives the same signal.
    pub(crate) fn set(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// True once the daemon was told to end.
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

/// Time at which a daemon ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline {
    at: Option<Instant>,
    /// Time of day. It is reached during a machine's sleep too, in which an `Instant` stands still.
    until: Option<SystemTime>,
}

impl Deadline {
    /// Deadline after a duration from now.
    pub(crate) fn after(time: Duration) -> Self {
        Self { at: Instant::now().checked_add(time), until: None }
    }

    /// Deadline at the time of day that comes after `time` from now. A clock that is set back does
    /// not defer it.
    pub(crate) fn at_clock(time: Duration) -> Self {
        Self { until: SystemTime::now().checked_add(time), ..Self::after(time) }
    }

    /// Time left.
    fn left(self) -> Duration {
        let by_clock = self.until.map(|until| until.duration_since(SystemTime::now()).unwrap_or_default());
        let by_duration = self.at.map(|at| at.saturating_duration_since(Instant::now()));
        by_clock.into_iter().chain(by_duration).min().unwrap_or(Duration::MAX)
    }

    /// True if no time is left.
    pub(super) fn is_over(self) -> bool {
        self.left().is_zero()
    }
}

/// Conditions on which a daemon ends.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DaemonLimits {
    /// End of the time in which entries are played.
    pub(crate) end: Option<Deadline>,
    /// True to end as soon as nothing is left to play.
    pub(crate) until_empty: bool,
}

/// A daemon at work.
struct Daemon<'a> {
    queue: &'a Queue,
    stop: &'a StopSwitch,
    deadline: Option<Deadline>,
    /// Entries that do not fit into the time left.
    put_off: Vec<EntryId>,
    /// Entries that could not be read at the last look.
    damaged: Vec<EntryId>,
}

/// Result of an attempt to play an entry.
enum PlayResult {
    /// The run ended, with this exit and cause.
    Ended(Exit, Option<StopCause>),
    /// The entry does not fit into the time left.
    TooLong,
    /// The daemon was told to end, or to play another entry, before the first game.
    NotBegun,
}

/// Plays entries until the switch is set or a limit is reached.
///
/// # Errors
/// Returns an error if the folder cannot be read or written.
pub(crate) fn run(queue: &Queue, lock: DaemonLock, limits: DaemonLimits, stop: &StopSwitch) -> Result<Exit> {
    let exit = play_all(queue, limits, stop);
    drop(lock);
    exit
}

fn play_all(queue: &Queue, limits: DaemonLimits, stop: &StopSwitch) -> Result<Exit> {
    let deadline = limits.end;
    let mut daemon = Daemon { queue, stop, deadline, put_off: Vec::new(), damaged: Vec::new() };
    daemon.let_interrupted_wait()?;
    let mut is_idle = false;
    loop {
        if stop.is_set() {
            return Ok(Exit::Interrupted);
        }
        if deadline.is_some_and(Deadline::is_over) {
            progress::note("queue: the time is over");
            return Ok(Exit::Done);
        }
        match daemon.next()? {
            Some((id, entry)) => {
                is_idle = false;
                if let Err(error) = daemon.play(id, &entry) {
                    // The disk may be full for a while, and nobody watches.
                    progress::warn(&format!("queue: entry {id}: {}; it is tried again", with_causes(&error)));
                    let end = Instant::now() + PAUSE;
                    while Instant::now() < end && !stop.is_set() {
                        std::thread::sleep(LOOK);
                    }
                }
            }
            None if limits.until_empty => return Ok(Exit::Done),
            None => {
                if !is_idle {
                    progress::note("queue: nothing to play; waiting for `quintain queue add`");
                }
                is_idle = true;
                std::thread::sleep(LOOK);
            }
        }
    }
}

impl Daemon<'_> {
    /// Lets the entries wait that the last daemon played when it died. The lock shows that nobody
    /// plays them now.
    fn let_interrupted_wait(&self) -> Result<()> {
        let entries = self.queue.list()?.entries;
        entries.iter().filter(|(_, entry)| entry.state == QueueState::Playing).try_for_each(|(id, _)| self.wait(*id))
    }

    /// Entry to play next.
    fn next(&mut self) -> Result<Option<(EntryId, QueueEntry)>> {
        let listing = self.queue.list()?.in_order();
        for (id, why) in listing.damaged.iter().filter(|(id, _)| !self.damaged.contains(id)) {
            progress::warn(&format!("queue: entry {id} is left out: {why}"));
        }
        self.damaged = listing.damaged.into_iter().map(|(id, _)| id).collect();
        for (id, entry) in listing.entries.into_iter().filter(|(_, entry)| entry.is_open()) {
            if self.put_off.contains(&id) {
                continue;
            }
            if entry.is_own() {
                return Ok(Some((id, entry)));
            }
            let why = "you did not add it on this machine, or it was changed since; remove it and add it again";
            self.fail(id, why)?;
        }
        Ok(None)
    }

    /// Keeps an entry with the reason that it cannot be played.
    fn fail(&self, id: EntryId, why: &str) -> Result<()> {
        progress::warn(&format!("queue: entry {id} cannot be played: {why}"));
        self.queue.update(id, |entry| {
            entry.state = QueueState::Failed;
            entry.error = Some(why.to_owned());
            self.forget_unbegun(entry);
        })?;
        Ok(())
    }

    fn play(&mut self, id: EntryId, entry: &QueueEntry) -> Result<()> {
        let Some(raw) = entry.next_plan().cloned() else {
            self.queue.update(id, |entry| entry.state = QueueState::Done)?;
            return Ok(());
        };
        // The paths of a plan start where it was added, and so does its repository's [notify].
        let entered =
            std::env::set_current_dir(&entry.dir).within(|| format!("{}: cannot enter it", entry.dir.display()));
        if let Err(error) = entered {
            return self.fail(id, &with_causes(&error));
        }
        let run = match (entry.begun(), self.follower(entry)) {
            (Some(run), _) => run.to_owned(),
            (None, None) => self.free_run(id, entry.command, &raw),
            (None, Some(next)) => match next.strip_prefix(self.queue.results()) {
                Ok(run) => run.to_owned(),
                Err(_) => return self.left(id, &next),
            },
        };
        let is_there = self.queue.update(id, |entry| {
            entry.state = QueueState::Playing;
            if entry.begun().is_none() {
                entry.runs.push(run.clone());
            }
        })?;
        if !is_there {
            return Ok(());
        }
        let receivers = Receivers::of_checked(&raw);
        let resumes_only = again::only_resumes(&raw);
        match self.play_run(id, entry, raw, &self.queue.results().join(&run)) {
            // Nothing of it can be shown or resumed.
            Ok(PlayResult::Ended(..)) if !self.queue.results().join(&run).exists() => {
                let remedy = if resumes_only { remedy_of_lost(id) } else { format!("`queue up {id}` plays it again") };
                self.fail(id, &format!("{} was removed while it was played; {remedy}", run.display()))
            }
            Ok(PlayResult::Ended(exit, cause)) => {
                let root = self.queue.results().join(&run);
                let told = if entry.command == GameCommand::Tune { session::last_run(&root) } else { root };
                receivers.tell(&told, exit);
                self.ended((id, entry.command), exit, cause, &run)
            }
            Ok(PlayResult::TooLong) => {
                self.put_off.push(id);
                self.wait(id)
            }
            Ok(PlayResult::NotBegun) => self.wait(id),
            // It ends compilers, too.
            Err(_) if self.stop.is_set() => self.wait(id),
            Err(error) => self.fail(id, &with_causes(&error)),
        }
    }

    /// Run that follows the entry's last one already, because `quintain resume` went on with the
    /// chain; `None` if the entry has begun its next run, or has to begin it.
    fn follower(&self, entry: &QueueEntry) -> Option<PathBuf> {
        if entry.begun().is_some() {
            return None;
        }
        let last = entry.runs.get(entry.exits.len().checked_sub(1)?)?;
        let next = chain_report::follower(&self.queue.results().join(last))?;
        Some(std::path::absolute(&next).unwrap_or(next))
    }

    /// Ends an entry whose chain goes on outside the folder of results.
    fn left(&self, id: EntryId, next: &Path) -> Result<()> {
        progress::note(&format!("queue: entry {id} is over: its chain continued in {}", next.display()));
        self.queue.update(id, |entry| entry.state = QueueState::Done)?;
        Ok(())
    }

    /// True if the entry was not removed, and no entry of a higher priority waits.
    fn is_first(&self, id: EntryId) -> Result<bool> {
        let watch =
            QueueWatch { queue: self.queue, id, run: Path::new(""), deadline: self.deadline, put_off: &self.put_off };
        let Some(cause) = watch.cause()? else { return Ok(true) };
        progress::note(&format!("queue: entry {id} does not begin: {}", cause.reason()));
        Ok(false)
    }

    /// Lets an entry wait again.
    fn wait(&self, id: EntryId) -> Result<()> {
        self.queue.update(id, |entry| {
            entry.state = QueueState::Waiting;
            self.forget_unbegun(entry);
        })?;
        Ok(())
    }

    /// Takes the name of a run that was not begun from its entry. One that was begun elsewhere, and
    /// is gone, keeps its name: it may come back.
    fn forget_unbegun(&self, entry: &mut QueueEntry) {
        if entry.next_plan().is_some_and(again::only_resumes) {
            return;
        }
        if entry.begun().is_some_and(|run| !self.queue.results().join(run).exists()) {
            entry.runs.pop();
        }
    }

    /// Name of a new run, below the folder of results.
    fn free_run(&self, id: EntryId, command: GameCommand, raw: &RawPlan) -> PathBuf {
        let name = raw.name.as_deref().unwrap_or(command.name());
        let place = drive::place_in(Path::new(RUNS), &format!("{name}-q{id}"));
        let free = place.names().find(|name| self.queue.results().join(name).symlink_metadata().is_err());
        free.unwrap_or_default()
    }

    fn play_run(&self, id: EntryId, entry: &QueueEntry, raw: RawPlan, root: &Path) -> Result<PlayResult> {
        let over = |exit, cause| Ok(PlayResult::Ended(exit, cause));
        let verb = if root.exists() { "continues" } else { "begins" };
        progress::note(&format!("queue: entry {id} {verb} in {}", root.display()));
        if entry.command == GameCommand::Tune {
            let (exit, cause) = self.watched(id, root, || self.tune(&raw, entry.apply.as_deref(), root));
            return over(exit?, cause);
        }
        if root.exists() {
            let (dir, plan) = RunDir::open(root)?;
            trust::check_stamp(&dir, &plan)?;
            let (exit, cause) = self.watched(id, root, || drive::resume(Arc::new(plan), &dir, OutputStyle::new(false)));
            return over(exit?, cause);
        }
        if again::only_resumes(&raw) {
            fail!(OtherRun, "{}: the run that this entry resumes is gone; {}", root.display(), remedy_of_lost(id));
        }
        let (mut plan, book) = begin::resolved(entry.command, raw.clone())?;
        plan.chain = self.chain(entry)?;
        // Much may have changed while the engines were built.
        if self.stop.is_set() || !self.is_first(id)? {
            return Ok(PlayResult::NotBegun);
        }
        if let Some(why) = self.too_long(&plan) {
            progress::note(&format!("queue: entry {id} is put off: {why}"));
            return Ok(PlayResult::TooLong);
        }
        self.make_folder()?;
        let place = Place::Given(root.to_owned());
        let keep = |root: &Path| notify::keep(&raw, root);
        let start =
            || drive::start_at(Arc::new(plan), book, &place, OutputStyle::new(false), keep).map(|outcome| outcome.exit);
        let (exit, cause) = self.watched(id, root, start);
        over(exit?, cause)
    }

    /// Creates the folder of the runs.
    fn make_folder(&self) -> Result<()> {
        let runs = self.queue.results().join(RUNS);
        std::fs::create_dir_all(&runs).within(|| format!("{}: cannot create it", runs.display()))?;
        dir::keep_out_of_git(&runs);
        Ok(())
    }

    /// Plays a tuning with its proof, new or begun.
    fn tune(&self, raw: &RawPlan, branch: Option<&str>, root: &Path) -> Result<Exit> {
        self.make_folder()?;
        session::play(raw, &Place::Given(root.to_owned()), branch, OutputStyle::new(false)).map(|tuned| tuned.exit)
    }

    /// Place of the next run of an entry in its chain. The first run of the entry may have been
    /// begun elsewhere, in the middle of the chain.
    fn chain(&self, entry: &QueueEntry) -> Result<Chain> {
        let over = entry.exits.len();
        let runs = self.queue.results().join(RUNS);
        let own: Vec<PathBuf> = entry.runs.iter().take(over).map(|run| self.queue.results().join(run)).collect();
        let first = own.first().and_then(|run| Some((run.parent()?, stored::plan(run)?.chain.before)));
        let earlier = first.into_iter().flat_map(|(beside, before)| before.into_iter().map(|run| beside.join(run)));
        let before = earlier.chain(own.iter().cloned()).map(|run| chain_report::name_of(&run, &runs));
        let then = entry.plans.get(over + 1..).unwrap_or_default();
        Ok(Chain { before: before.collect(), then: chain::tables(then)? })
    }

    /// Reason that a run does not fit into the time left, if it is known to need more.
    fn too_long(&self, plan: &Plan) -> Option<String> {
        let left = self.deadline?.left();
        let needed = forecast::time(plan).filter(|needed| *needed > left)?;
        Some(format!("it takes about {}, and {} are left", forecast::length(needed), forecast::length(left)))
    }

    /// Plays a run while another thread watches the queue.
    fn watched(
        &self,
        id: EntryId,
        root: &Path,
        play: impl FnOnce() -> Result<Exit>,
    ) -> (Result<Exit>, Option<StopCause>) {
        let watched = QueueWatch { queue: self.queue, id, run: root, deadline: self.deadline, put_off: &self.put_off };
        let (is_over, over) = mpsc::channel::<()>();
        std::thread::scope(|scope| {
            let watcher =
                std::thread::Builder::new().name("queue".to_owned()).spawn_scoped(scope, move || watched.watch(&over));
            let watcher = match watcher {
                Ok(watcher) => watcher,
                Err(error) => return (Err(error.into()), None),
            };
            let exit = play();
            drop(is_over);
            (exit, watcher.join().unwrap_or_default())
        })
    }

    /// Records the end of a run.
    fn ended(
        &self,
        (id, command): (EntryId, GameCommand),
        exit: Exit,
        cause: Option<StopCause>,
        run: &Path,
    ) -> Result<()> {
        if exit == Exit::Interrupted {
            if cause.is_some() || self.stop.is_set() {
                return self.wait(id);
            }
            progress::note(&format!("queue: entry {id} was stopped; `quintain queue up {id}` continues it"));
            self.queue.update(id, |entry| entry.state = QueueState::Stopped)?;
            return Ok(());
        }
        self.queue.update(id, |entry| {
            entry.exits.push(exit.code());
            let goes_on = exit == Exit::Done && entry.next_plan().is_some();
            entry.state = if goes_on { QueueState::Waiting } else { QueueState::Done };
        })?;
        chain::redraw(&self.queue.results().join(run));
        progress::note(&format!("queue: entry {id} is over: {}, {}", command.result(exit), run.display()));
        if self.queue.read(id)?.is_none_or(|entry| !entry.is_open()) {
            chain::print(&self.queue.results().join(run));
        }
        Ok(())
    }
}

/// Remedy for an entry whose run was begun elsewhere and is gone.
fn remedy_of_lost(id: EntryId) -> String {
    format!("put it back and use `queue up {id}`, or remove the entry: `queue rm {id}`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_dead_daemon_played_waits() {
        let results = tempfile::tempdir().unwrap();
        let queue = Queue::of(results.path()).unwrap();
        let mut entry = QueueEntry::new(GameCommand::Sprt, "/somewhere".into(), 0, vec![RawPlan::default()]);
        entry.state = QueueState::Playing;
        let id = queue.add(entry).unwrap();
        let stop = StopSwitch::default();
        stop.set();
        play_all(&queue, DaemonLimits::default(), &stop).unwrap();
        assert_eq!(queue.read(id).unwrap().unwrap().state, QueueState::Waiting);
    }

    #[test]
    fn an_entry_that_can_be_read_again_is_looked_at() {
        let results = tempfile::tempdir().unwrap();
        let queue = Queue::of(results.path()).unwrap();
        let id =
            queue.add(QueueEntry::new(GameCommand::Sprt, "/somewhere".into(), 0, vec![RawPlan::default()])).unwrap();
        let stop = StopSwitch::default();
        let mut daemon =
            Daemon { queue: &queue, stop: &stop, deadline: None, put_off: Vec::new(), damaged: Vec::new() };
        let file = queue.file(id);
        let text = std::fs::read(&file).unwrap();
        for damaged in [1, 0, 1] {
            std::fs::write(&file, if damaged == 1 { b"junk" } else { &text[..] }).unwrap();
            assert!(daemon.next().unwrap().is_none());
            assert_eq!(daemon.damaged.len(), damaged);
            // Nobody signed it.
            let is_refused = queue.read(id).is_ok_and(|entry| entry.unwrap().state == QueueState::Failed);
            assert_eq!(is_refused, damaged == 0);
        }
    }

    #[test]
    fn a_deadline_is_the_earlier_of_clock_and_duration() {
        let [past, hour] = [Duration::from_secs(60), Duration::from_secs(3_600)];
        let (now, clock) = (Instant::now(), SystemTime::now());
        // A machine that slept past the time of day, and a clock that was set back.
        assert!(Deadline { at: Some(now + hour), until: Some(clock - past) }.is_over());
        assert!(Deadline { at: Some(now), until: Some(clock + hour) }.is_over());
        assert!(!Deadline::after(hour).is_over() && !Deadline::at_clock(hour).is_over());
        assert!(Deadline::after(Duration::ZERO).is_over());
        assert!(Deadline::at_clock(hour).left() <= hour);
        // Longer than a clock can tell is no end.
        assert!(!Deadline::at_clock(Duration::MAX).is_over());
    }
}
