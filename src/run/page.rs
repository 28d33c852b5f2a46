//! Graphics of a run directory: `report.html`, `llr.svg` of a test, and three of a tuning.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::files::{MOST_DOCUMENT_BYTES, inside, read_bytes, read_text, write_atomically};
use crate::plan::Plan;
use crate::record::GameRecord;
use crate::report::crashes;
use crate::report::html::{self, Crash, Story};
use crate::report::pgn_file;
use crate::run::chain_report::{self, ChainReport};
use crate::run::dir::RunDir;
use crate::run::error::{Result, ResultContext as _};
use crate::tournament::events::{Finish, Observer, RunEvent, StopReason};
use crate::tournament::scoreboard::Scoreboard;

/// Name of the page.
pub(crate) const PAGE: &str = "report.html";

/// Maximum size of a stored page.
const MOST_PAGE_BYTES: u64 = 1 << 30;

/// Maximum number of failed games on a page; `crashes/` has all of them.
const MOST_CRASHES: usize = 50;

/// Page of a live run, which records each game at its end instead of rereading the journal. The
/// run's own scoreboard serves it: a second one would hold all waiting games again.
#[derive(Clone, Debug)]
pub(crate) struct PageFold(Arc<Mutex<Story>>);

impl PageFold {
    pub(crate) fn new(plan: Arc<Plan>) -> Result<Self> {
        Ok(Self(Arc::new(Mutex::new(Story::new(plan)?))))
    }

    fn story(&self) -> MutexGuard<'_, Story> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a finished game.
    pub(crate) fn record_ended(&self, game: GameRecord) {
        self.story().record_ended(game);
    }

    /// Records that a pair counts, with the scoreboard that includes it.
    pub(crate) fn record_counted(&self, scoreboard: &Scoreboard) {
        self.story().record_counted(scoreboard);
    }

    /// Writes the page and the graphics to `dir`.
    pub(crate) fn write(&self, dir: &RunDir, finish: &Finish, headline: &str) -> Result<()> {
        let mut story = self.story();
        story.finish(finish.scoreboard.clone());
        story.stop(finish.reason.clone());
        write(dir, &story, headline)
    }
}

impl Observer for PageFold {
    fn observe(&mut self, event: RunEvent<'_>) {
        match event {
            RunEvent::GameEnded { record, .. } => self.record_ended(record.clone()),
            RunEvent::PairCounted { scoreboard, .. } => self.record_counted(scoreboard),
            _ => {}
        }
    }
}

/// Reads a run's journal, which may belong to a live run.
fn story(dir: &RunDir, plan: &Plan) -> Result<Story> {
    let story = Story::new(Arc::new(plan.clone()))?;
    let mut story = if dir.path(pgn_file::FILE_NAME).is_file() { story } else { story.without_pgn() };
    dir.read(plan, |game| story.record(game))?;
    Ok(story)
}

/// Returns the page of a run. `ended` is the result of one that does not go on, in a line, and the
/// reason of its stop.
pub(crate) fn of(dir: &RunDir, plan: &Plan, ended: Option<(&str, &StopReason)>) -> Result<String> {
    let mut story = story(dir, plan)?;
    if let Some((_, reason)) = ended {
        story.stop(reason.clone());
    }
    Ok(html::page_with(&story, ended.map(|(headline, _)| headline), &failed(dir.root()), &chain(dir, plan)))
}

fn write(dir: &RunDir, story: &Story, headline: &str) -> Result<()> {
    let put = |name: &str, text: &str| {
        write_atomically(&dir.path(name), text.as_bytes()).within(|| format!("cannot write {name}"))
    };
    for (name, svg) in html::kept_svgs(story, headline) {
        put(name, &svg)?;
    }
    let crashes = failed(dir.root());
    put(PAGE, &html::page_with(story, Some(headline), &crashes, &chain(dir, story.plan())))
}

/// Draws the chain on the stored page again, if the page shows it.
pub(crate) fn redraw_chain(dir: &RunDir, plan: &Plan) -> Result<()> {
    let path = dir.path(PAGE);
    let old = read_text(&path, MOST_PAGE_BYTES).within(|| format!("cannot read {PAGE}"))?;
    let Some(new) = chain_report::replaced(&old, &chain(dir, plan)).filter(|new| *new != old) else { return Ok(()) };
    write_atomically(&path, new.as_bytes()).within(|| format!("cannot write {PAGE}"))
}

/// Section of the chain that the run is in; empty if it is in none.
fn chain(dir: &RunDir, plan: &Plan) -> String {
    ChainReport::of(dir.root(), plan).map(|chain| chain.html()).unwrap_or_default()
}

/// Reads the failed games in `crashes/` of the run in `root`, by number. Unreadable files are left
/// out, because they must not prevent the page. So are those behind links, which may be others'.
fn failed(root: &Path) -> Vec<Crash> {
    let read = |game: u64, name: &str| {
        let found = inside(root, crashes::file(game, name));
        let bytes = found.and_then(|path| read_bytes(&path, MOST_DOCUMENT_BYTES).ok()).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let crash = |game: u64| Crash {
        game,
        about: read(game, crashes::ABOUT),
        transcript: read(game, crashes::TRANSCRIPT),
        stderr: read(game, crashes::STDERR),
    };
    crashes::games(root, MOST_CRASHES).into_iter().map(crash).collect()
}
