//! Entry of the queue: the plans of a test or match, and its progress.

use std::cmp::Reverse;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::run::begin::GameCommand;
use crate::run::error::{Result, RunError, fail};
use crate::run::queue::EntryId;
use crate::run::stamp;
use crate::settings::{ConfigError, RawPlan};
use crate::text::from_toml;

/// Version of the file. It rises if an older reader would misread it.
const VERSION: u32 = 1;

/// Prefix of the signed text.
const PURPOSE: &[u8] = b"quintain queue entry 1\n";

/// First lines of a file.
const HEAD: &str = "# An entry of `quintain queue`: `queue ls` lists it, `queue up` and `queue rm` change it.\n";

/// State of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum QueueState {
    /// Played now, or when the last daemon ended.
    Playing,
    /// Waiting to be played or resumed.
    Waiting,
    /// Stopped by the user's `ctl`.
    Stopped,
    /// Not startable because of an error.
    Failed,
    /// Over.
    Done,
}

/// An entry.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct QueueEntry {
    version: u32,
    /// Command whose settings the plans are.
    pub(crate) command: GameCommand,
    pub(crate) state: QueueState,
    /// Entries of a higher one are played first, and stop those of a lower one.
    pub(crate) priority: i32,
    /// Place among entries of one priority, lowest first.
    pub(crate) rank: i64,
    /// Directory that the paths of the plans start from.
    pub(crate) dir: PathBuf,
    /// Folders of the runs begun so far, below the folder of results, one for each plan in turn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) runs: Vec<PathBuf>,
    /// Exit codes of the runs that are over.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) exits: Vec<u8>,
    /// Reason that it could not be played.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
    /// Branch for the proven values of a tuning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) apply: Option<String>,
    /// Title of each plan, from the names that the user typed for its engines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) titles: Vec<String>,
    /// Signature of the user whose programs it starts.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    signature: String,
    /// Settings of the run, then those of each run that follows if the one before passes.
    pub(crate) plans: Vec<RawPlan>,
}

/// Parts of an entry that decide about the programs it starts.
#[derive(Serialize)]
struct SignedParts<'a> {
    command: GameCommand,
    dir: &'a Path,
    #[serde(skip_serializing_if = "Option::is_none")]
    apply: Option<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    titles: &'a [String],
    plans: &'a [RawPlan],
}

impl QueueEntry {
    /// Entry that waits, not yet signed.
    pub(crate) fn new(command: GameCommand, dir: PathBuf, priority: i32, plans: Vec<RawPlan>) -> Self {
        Self {
            version: VERSION,
            command,
            state: QueueState::Waiting,
            priority,
            rank: 0,
            dir,
            runs: Vec::new(),
            exits: Vec::new(),
            error: None,
            apply: None,
            titles: Vec::new(),
            signature: String::new(),
            plans,
        }
    }

    /// Signs the plans as this user's own.
    pub(crate) fn signed(mut self) -> Result<Self> {
        self.signature = stamp::sign(PURPOSE, &self.signed_text()?)?;
        Ok(self)
    }

    /// Gives the plans that are not begun another note, and signs them again.
    pub(crate) fn noted(mut self, note: &str) -> Result<Self> {
        let begun = self.runs.len();
        for plan in self.plans.iter_mut().skip(begun) {
            plan.note = Some(note.to_owned());
        }
        self.signed()
    }

    fn signed_text(&self) -> Result<String> {
        text(&SignedParts {
            command: self.command,
            dir: &self.dir,
            apply: self.apply.as_deref(),
            titles: &self.titles,
            plans: &self.plans,
        })
    }

    /// True if this user's program wrote the plans.
    pub(crate) fn is_own(&self) -> bool {
        self.signed_text().is_ok_and(|text| stamp::is_signed(PURPOSE, &text, &self.signature))
    }

    /// Reads the text of the file `path`.
    pub(crate) fn parse(path: &Path, text: &str) -> Result<Self> {
        let entry: Self = from_toml(path, text).map_err(ConfigError::Toml)?;
        if entry.version > VERSION {
            fail!(
                Setting,
                "{}: version {} is newer than this program reads ({VERSION}); update quintain",
                path.display(),
                entry.version
            );
        }
        // They are not signed, and the daemon makes them.
        if let Some(run) = entry.runs.iter().find(|run| !stays_inside(run)) {
            fail!(Setting, "{}, key `runs`: `{}` leads out of the results; remove it", path.display(), run.display());
        }
        if entry.plans.is_empty() {
            fail!(Setting, "{}: it has no [[plans]]; remove it and add it again", path.display());
        }
        Ok(entry)
    }

    /// Writes the text of the file.
    pub(crate) fn to_toml(&self) -> Result<String> {
        Ok(format!("{HEAD}{}", text(self)?))
    }

    /// True if something is left to play.
    pub(crate) const fn is_open(&self) -> bool {
        matches!(self.state, QueueState::Playing | QueueState::Waiting)
    }

    /// Run that was begun and is not over, below the folder of results.
    pub(crate) fn begun(&self) -> Option<&Path> {
        self.runs.get(self.exits.len()).map(PathBuf::as_path)
    }

    /// Settings of the next run; `None` if all are over.
    pub(crate) fn next_plan(&self) -> Option<&RawPlan> {
        self.plans.get(self.exits.len())
    }

    /// Key that sorts entries: those left to play by priority and rank, then the rest by number.
    /// A begun run continues before a new one of its priority.
    pub(super) fn place(&self, id: EntryId) -> impl Ord + use<> {
        let is_begun = self.begun().is_some();
        if !self.is_open() {
            return (true, Reverse(0), false, i64::from(id), id);
        }
        (false, Reverse(self.priority), !is_begun, self.rank, id)
    }
}

/// True if a path leads to a place below the folder that it starts from.
fn stays_inside(path: &Path) -> bool {
    let mut parts = path.components().peekable();
    parts.peek().is_some() && parts.all(|part| matches!(part, Component::Normal(_)))
}

fn text(value: &impl Serialize) -> Result<String> {
    toml::to_string(value).map_err(|error| RunError::Config(ConfigError::Value(error.to_string())))
}
