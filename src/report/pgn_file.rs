//! `games.pgn` of a run: exactly the counted games, in schedule order, made anew from the journal when a run resumes.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::plan::Plan;
use crate::record::{ByColor, GameRecord, PlayerId};
use crate::report::pgn::{self, Meta};
use crate::schedule::events::{Observer, RunEvent};

/// Writes each pair when it counts. A failing disk is said once; it never stops a run, for the journal holds all games.
pub struct PgnFile {
    plan: Arc<Plan>,
    path: PathBuf,
    out: Option<BufWriter<File>>,
    published: bool,
}

impl PgnFile {
    /// Begins the file under a temporary name; [`PgnFile::publish`] puts it in place of the one that is there.
    ///
    /// # Errors
    /// Where the folder cannot be written.
    pub fn begin(path: &Path, plan: Arc<Plan>) -> std::io::Result<Self> {
        let out = BufWriter::new(File::create(scratch_name(path))?);
        Ok(Self { plan, path: path.to_owned(), out: Some(out), published: false })
    }

    /// Adds a pair replayed from the journal.
    ///
    /// # Errors
    /// Where the file cannot be written.
    pub fn add(&mut self, games: &[GameRecord]) -> std::io::Result<()> {
        for game in games {
            let text = self.text(game)?;
            if let Some(out) = &mut self.out {
                out.write_all(text.as_bytes())?;
            }
        }
        Ok(())
    }

    fn text(&self, game: &GameRecord) -> std::io::Result<String> {
        let player = |id: PlayerId| self.plan.players.get(usize::from(id.0));
        let (Some(white), Some(black)) = (player(game.players.white), player(game.players.black)) else {
            return Err(std::io::Error::other(format!(
                "game {} names a player that is not in the plan",
                game.id.number()
            )));
        };
        let meta = Meta {
            event: &self.plan.name,
            site: "?",
            names: ByColor { white: &white.name, black: &black.name },
            limits: ByColor { white: white.limit, black: black.limit },
            variant: self.plan.rules.variant,
        };
        pgn::game(game, &meta).map_err(std::io::Error::other)
    }

    /// Puts the file in its place; later pairs are appended to it.
    ///
    /// # Errors
    /// Where the file cannot be written or renamed.
    pub fn publish(&mut self) -> std::io::Result<()> {
        if let Some(out) = &mut self.out {
            out.flush()?;
        }
        std::fs::rename(scratch_name(&self.path), &self.path)?;
        self.published = true;
        Ok(())
    }
}

impl Drop for PgnFile {
    fn drop(&mut self) {
        if !self.published {
            // A run that is refused keeps the file it has, and nothing beside it.
            let _ = std::fs::remove_file(scratch_name(&self.path));
        }
    }
}

fn scratch_name(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    PathBuf::from(name)
}

impl Observer for PgnFile {
    fn observe(&mut self, event: RunEvent<'_>) {
        let RunEvent::PairCounted { games, .. } = event else { return };
        let written = self.add(games).and_then(|()| self.out.as_mut().map_or(Ok(()), Write::flush));
        if let Err(error) = written {
            // Half a game may stand at the end now; `quintain resume` makes the file anew.
            tracing::warn!(
                "{}: {error}; no more games are written to it, the journal has them all",
                self.path.display()
            );
            self.out = None;
        }
    }
}
