//! The pictures of a run directory: `report.html` and, of a test, `llr.svg`.

use std::path::Path;

use anyhow::{Context as _, Result};

use crate::cli::run_dir::{RunDir, write_atomically};
use crate::journal;
use crate::plan::Plan;
use crate::report::crashes;
use crate::report::html::{self, Crash, Story};

/// Failed games that a page shows; all of them lie in `crashes/`.
const MOST_CRASHES: usize = 50;

/// Reads a run's journal, which may be that of a live run.
fn story<'a>(dir: &RunDir, plan: &'a Plan) -> Result<Story<'a>> {
    let mut story = Story::new(plan)?;
    let replayed = journal::read(&dir.path(journal::FILE_NAME), |game| story.tell(game))?;
    dir.check_plan(&replayed.header)?;
    Ok(story)
}

/// The page of a run; `headline` is what came of it, where more is known than its games tell.
pub(super) fn of(dir: &RunDir, plan: &Plan, headline: Option<&str>) -> Result<String> {
    Ok(html::page(&story(dir, plan)?, headline, &failed(&dir.path("crashes"))))
}

/// Writes the page and the picture of a run that has come to its end.
pub(super) fn write(dir: &RunDir, plan: &Plan, headline: &str) -> Result<()> {
    let story = story(dir, plan)?;
    let put = |name: &str, text: &str| {
        write_atomically(&dir.path(name), text.as_bytes()).with_context(|| format!("cannot write {name}"))
    };
    if let Some(svg) = html::llr_svg(&story, headline) {
        put("llr.svg", &svg)?;
    }
    put("report.html", &html::page(&story, Some(headline), &failed(&dir.path("crashes"))))
}

/// What `crashes/` tells, by number of the game. What cannot be read is left out: a page is no place to fail over it.
fn failed(folder: &Path) -> Vec<Crash> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut games: Vec<u64> = entries.filter_map(|entry| crashes::game_of(entry.file_name().to_str()?)).collect();
    games.sort_unstable();
    games.truncate(MOST_CRASHES);
    let read = |game: u64, name: &str| {
        let bytes = std::fs::read(folder.join(crashes::folder_name(game)).join(name)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let crash = |game: u64| Crash {
        game,
        about: read(game, "about.txt"),
        transcript: read(game, crashes::TRANSCRIPT),
        stderr: read(game, "stderr.txt"),
    };
    games.into_iter().map(crash).collect()
}
