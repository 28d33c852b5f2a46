//! Queue of plans in a folder: one file an entry, which one daemon plays in order.
//!
//! An entry is a TOML file that is replaced whole, so that a reader sees it before or after a
//! change. Changes take a lock in turn. The daemon holds another one for as long as it lives.
//!
//! Reading order: `entry` (a file), this file (the folder), `daemon` (plays the entries), `watcher`
//! (stops the run being played), `title` and `listed` (the entries as users see them), `again`
//! (runs that began elsewhere).

pub(crate) mod again;
pub(crate) mod daemon;
pub(crate) mod entry;
pub(crate) mod listed;
pub(crate) mod title;
mod watcher;

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

pub(crate) use self::entry::{QueueEntry, QueueState};
use crate::files::{MOST_DOCUMENT_BYTES, read_text, write_atomically};
use crate::journal;
use crate::run::dir::keep_out_of_git;
use crate::run::error::{Result, ResultContext as _, fail};
use crate::run::resolve;
use crate::text::with_causes;

/// Name of the queue in the folder of results.
const FOLDER: &str = "queue";

/// Name of the file that a change of an entry locks.
const EDIT_LOCK: &str = ".edit.lock";

/// Name of the file with the highest number that was ever given to an entry.
const LAST_ID: &str = ".last";

/// Name of the file that the daemon locks.
const DAEMON_LOCK: &str = ".daemon.lock";

/// Longest step of the times that file systems give to changes.
const TIME_STEP: Duration = Duration::from_secs(2);

/// Number of an entry, from 1.
pub(crate) type EntryId = u32;

/// Folder of the entries.
#[derive(Clone, Debug)]
pub(crate) struct Queue {
    /// Absolute path of the folder of results.
    results: PathBuf,
    folder: PathBuf,
}

/// Lock of a daemon, held until it is dropped.
#[derive(Debug)]
pub(crate) struct DaemonLock(File);

impl Drop for DaemonLock {
    fn drop(&mut self) {
        // Closing the file is not enough: a child that is being started shares the lock. One that
        // cannot be released ends with the process.
        let _ = self.0.unlock();
    }
}

/// Entry that was taken out of the queue.
#[derive(Debug)]
pub(crate) struct RemovedEntry {
    pub(crate) entry: QueueEntry,
    /// True if a daemon was playing it.
    pub(crate) was_playing: bool,
}

/// Entries in the order of their numbers, and those that cannot be read, with the reason.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    pub(crate) entries: Vec<(EntryId, QueueEntry)>,
    pub(crate) damaged: Vec<(EntryId, String)>,
}

impl Listing {
    /// Entries in the order of play, then the finished ones.
    pub(crate) fn in_order(mut self) -> Self {
        self.entries.sort_by_key(|(id, entry)| entry.place(*id));
        self
    }
}

impl Queue {
    /// Opens the queue of a folder of results; the folder is made by the first change.
    pub(crate) fn of(results: &Path) -> Result<Self> {
        let results = std::path::absolute(results).within(|| format!("{}: no such place", results.display()))?;
        Ok(Self { folder: results.join(FOLDER), results })
    }

    /// Folder of results.
    pub(crate) fn results(&self) -> &Path {
        &self.results
    }

    fn file(&self, id: EntryId) -> PathBuf {
        self.folder.join(format!("{id}.toml"))
    }

    /// Time of the folder's last change; `None` if that is unknown, or so new that the next change
    /// may get the same time.
    fn settled_change(&self) -> Option<SystemTime> {
        let changed = self.folder.metadata().and_then(|folder| folder.modified()).ok()?;
        changed.elapsed().is_ok_and(|age| age > TIME_STEP).then_some(changed)
    }

    /// Reads all entries.
    pub(crate) fn list(&self) -> Result<Listing> {
        let mut listing = Listing::default();
        for id in self.ids()? {
            match self.read(id) {
                Ok(Some(entry)) => listing.entries.push((id, entry)),
                // Removed since the folder was read.
                Ok(None) => {}
                Err(error) => listing.damaged.push((id, with_causes(&error))),
            }
        }
        Ok(listing)
    }

    fn ids(&self) -> Result<Vec<EntryId>> {
        let unreadable = || format!("{}: cannot read it", self.folder.display());
        let found = match std::fs::read_dir(&self.folder) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            found => found.within(unreadable)?,
        };
        let mut ids = Vec::new();
        for file in found {
            let name = file.within(unreadable)?.file_name();
            let number = name.to_str().and_then(|name| name.strip_suffix(".toml"));
            ids.extend(number.and_then(|number| number.parse::<EntryId>().ok()));
        }
        ids.sort_unstable();
        Ok(ids)
    }

    /// Reads an entry; `None` if there is none of this number.
    pub(crate) fn read(&self, id: EntryId) -> Result<Option<QueueEntry>> {
        let path = self.file(id);
        match read_text(&path, MOST_DOCUMENT_BYTES) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            text => QueueEntry::parse(&path, &text.within(|| format!("{}: cannot read it", path.display()))?).map(Some),
        }
    }

    fn write(&self, id: EntryId, entry: &QueueEntry) -> Result<()> {
        let path = self.file(id);
        write_atomically(&path, entry.to_toml()?.as_bytes()).within(|| format!("{}: cannot write it", path.display()))
    }

    /// Opens a lock file of the folder, which is made if there is none.
    fn lock_file(&self, name: &str) -> Result<File> {
        std::fs::create_dir_all(&self.folder).within(|| format!("{}: cannot write there", self.folder.display()))?;
        keep_out_of_git(&self.folder);
        let path = self.folder.join(name);
        let opened = File::options().create(true).truncate(false).write(true).open(&path);
        opened.within(|| format!("{}: cannot open it", path.display()))
    }

    /// Changes the entry `id` while no other process changes the folder.
    fn edit<T>(&self, id: EntryId, change: impl FnOnce() -> Result<T>) -> Result<T> {
        // A mistyped folder is not made.
        if self.folder.is_dir() { self.edit_folder(change) } else { self.missing(id) }
    }

    /// Changes the folder, which is made if there is none, while no other process does.
    fn edit_folder<T>(&self, change: impl FnOnce() -> Result<T>) -> Result<T> {
        let lock = self.lock_file(EDIT_LOCK)?;
        lock.lock().within(|| format!("{}: cannot lock it", self.folder.display()))?;
        change()
    }

    /// Adds an entry behind the others of its priority. Its number was never given before, because
    /// a daemon may still play an entry that was removed.
    pub(crate) fn add(&self, entry: QueueEntry) -> Result<EntryId> {
        self.edit_folder(|| self.append(entry))
    }

    /// Adds an entry that resumes a run, unless there is one of this run that is not over. Returns
    /// the number of the run's entry.
    fn add_begun(&self, entry: QueueEntry) -> Result<EntryId> {
        self.edit_folder(|| {
            // Another process may have added it since this one looked.
            let is_same = |other: &QueueEntry| other.state != QueueState::Done && other.begun() == entry.begun();
            let known = self.list()?.entries.into_iter().find(|(_, other)| is_same(other));
            known.map_or_else(|| self.append(entry), |(id, _)| Ok(id))
        })
    }

    /// Writes a new entry while no other process changes the folder.
    fn append(&self, mut entry: QueueEntry) -> Result<EntryId> {
        let path = self.folder.join(LAST_ID);
        let given = read_text(&path, MOST_DOCUMENT_BYTES).ok().and_then(|text| text.trim().parse().ok());
        let last: EntryId = self.ids()?.last().copied().max(given).unwrap_or(0);
        let Some(id) = last.checked_add(1) else {
            fail!(Setting, "{}: an entry has the highest number, {last}; remove it", self.folder.display());
        };
        write_atomically(&path, id.to_string().as_bytes()).within(|| format!("{}: cannot write it", path.display()))?;
        entry.rank = i64::from(id);
        self.write(id, &entry)?;
        Ok(id)
    }

    /// Changes an entry; false if it is not there any more.
    pub(crate) fn update(&self, id: EntryId, change: impl FnOnce(&mut QueueEntry)) -> Result<bool> {
        if !self.folder.is_dir() {
            return Ok(false);
        }
        self.edit_folder(|| {
            let Some(mut entry) = self.read(id)? else { return Ok(false) };
            change(&mut entry);
            self.write(id, &entry)?;
            Ok(true)
        })
    }

    fn missing<T>(&self, id: EntryId) -> Result<T> {
        fail!(Setting, "{}: no entry {id}; `quintain queue ls --all` lists them", self.folder.display())
    }

    /// Puts an entry before all others of its priority, or of `priority`. An entry that failed or
    /// was stopped waits again.
    pub(crate) fn up(&self, id: EntryId, priority: Option<i32>) -> Result<QueueEntry> {
        self.edit(id, || {
            let Some(mut entry) = self.read(id)? else { return self.missing(id) };
            if entry.state == QueueState::Done {
                fail!(Setting, "entry {id} is over; add it again to play it again");
            }
            let open = self.list()?.entries.into_iter().map(|(_, entry)| entry).filter(QueueEntry::is_open);
            let (ranks, priorities): (Vec<_>, Vec<_>) = open.map(|entry| (entry.rank, entry.priority)).unzip();
            // Without a number it comes first of all, but nothing that is played stops for it.
            entry.priority = priority.unwrap_or_else(|| priorities.into_iter().max().unwrap_or(0).max(entry.priority));
            entry.rank = ranks.into_iter().min().unwrap_or(0).min(entry.rank).saturating_sub(1);
            if matches!(entry.state, QueueState::Failed | QueueState::Stopped) {
                entry.state = QueueState::Waiting;
                entry.error = None;
            }
            self.write(id, &entry)?;
            Ok(entry)
        })
    }

    /// Entry with a begun run that is played before the entry `id` although both have one priority.
    pub(crate) fn begun_before(&self, id: EntryId) -> Result<Option<EntryId>> {
        let Some(own) = self.read(id)? else { return Ok(None) };
        let listed = self.list()?.in_order().entries;
        let mut before = listed.iter().take_while(|(known, _)| *known != id);
        let found = before.find(|(_, entry)| entry.priority == own.priority && entry.begun().is_some());
        Ok(found.map(|(begun, _)| *begun))
    }

    /// Puts an entry that is not over right before `other`, or behind all, and gives it the
    /// priority that stands there. An entry whose run has begun stays before those of its priority
    /// that have not.
    pub(crate) fn move_before(&self, id: EntryId, other: Option<EntryId>) -> Result<()> {
        self.edit(id, || {
            let mut open = self.list()?.in_order().entries;
            open.retain(|(_, entry)| entry.is_open());
            let Some(place) = open.iter().position(|(known, _)| *known == id) else {
                fail!(
                    Setting,
                    "entry {id} does not wait; `quintain queue up {id}` lets one that was stopped wait again"
                );
            };
            let (_, mut moved) = open.remove(place);
            let target = match other {
                Some(other) => match open.iter().find(|(known, _)| *known == other) {
                    Some((_, entry)) => Some(entry),
                    None => return self.missing(other),
                },
                None => open.last().map(|(_, entry)| entry),
            };
            let Some(priority) = target.map(|entry| entry.priority) else { return Ok(()) };
            moved.priority = priority;
            open.retain(|(_, entry)| entry.priority == priority);
            let place = open.iter().position(|(known, _)| Some(*known) == other).unwrap_or(open.len());
            open.insert(place, (id, moved));
            check_begun_first(&open)?;
            let first = open.iter().map(|(_, entry)| entry.rank).min().unwrap_or(0);
            for (rank, (id, mut entry)) in (first..).zip(open) {
                entry.rank = rank;
                self.write(id, &entry)?;
            }
            Ok(())
        })
    }

    /// Sets the note of the runs that an entry has yet to begin.
    pub(crate) fn note(&self, id: EntryId, note: &str) -> Result<()> {
        let note = resolve::one_line("the note", note)?;
        self.edit(id, || {
            let Some(entry) = self.read(id)? else { return self.missing(id) };
            if entry.runs.len() >= entry.plans.len() {
                fail!(
                    Setting,
                    "entry {id}: its last run has begun; write a note on the run's page of `quintain serve`"
                );
            }
            if !entry.is_own() {
                fail!(Setting, "entry {id}: you did not add it on this machine, or it was changed since");
            }
            self.write(id, &entry.noted(&note)?)
        })
    }

    /// Takes an entry out. A daemon that plays it stops the run.
    pub(crate) fn remove(&self, id: EntryId) -> Result<RemovedEntry> {
        let has_daemon = self.has_daemon()?;
        self.edit(id, || {
            let path = self.file(id);
            let entry = self.read(id);
            if matches!(entry, Ok(None)) {
                return self.missing(id);
            }
            std::fs::remove_file(&path).within(|| format!("{}: cannot remove it", path.display()))?;
            let Ok(Some(entry)) = entry else {
                fail!(Setting, "entry {id} could not be read, and is removed");
            };
            Ok(RemovedEntry { was_playing: has_daemon && entry.state == QueueState::Playing, entry })
        })
    }

    /// Locks the folder for the one daemon that plays its entries.
    pub(crate) fn claim(&self) -> Result<DaemonLock> {
        let file = self.lock_file(DAEMON_LOCK)?;
        match journal::lock(&file) {
            Ok(()) => Ok(DaemonLock(file)),
            Err(TryLockError::WouldBlock) => {
                fail!(Setting, "{}: another process plays this queue; stop it first", self.folder.display())
            }
            Err(TryLockError::Error(error)) => {
                Err(error).within(|| format!("{}: cannot lock it", self.folder.display()))
            }
        }
    }

    /// True if a daemon plays this queue.
    pub(crate) fn has_daemon(&self) -> Result<bool> {
        if !self.folder.join(DAEMON_LOCK).exists() {
            return Ok(false);
        }
        let file = self.lock_file(DAEMON_LOCK)?;
        // A shared lock, so that two who ask do not take each other for the daemon.
        let found = matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock));
        // As of the daemon's lock.
        let _ = file.unlock();
        Ok(found)
    }
}

/// Refuses an order of entries of one priority in which one whose run has begun comes after one
/// whose run has not.
fn check_begun_first(entries: &[(EntryId, QueueEntry)]) -> Result<()> {
    let is_begun = |(_, entry): &&(EntryId, QueueEntry)| entry.begun().is_some();
    let mut rest = entries.iter().skip_while(is_begun);
    if let Some((first, entry)) = rest.next()
        && let Some((begun, _)) = rest.find(is_begun)
    {
        fail!(
            Setting,
            "the run of entry {begun} has begun, so it continues before entry {first} of its priority; `quintain queue up {first} --priority {}` puts that one before it",
            entry.priority.saturating_add(1)
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests;
