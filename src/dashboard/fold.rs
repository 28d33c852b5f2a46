//! The course of a run, computed from its journal: in full on the first request, and from then on
//! from the lines added.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Cursor, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::OwnedMutexGuard;

use crate::chess::Variant;
use crate::files::open_regular;
use crate::journal::{self, GameChecksums, JournalError, PlanFacts, archive};
use crate::plan::Plan;
use crate::record::{GameRecord, Outcome, PairId, Termination};
use crate::report::eco::{OpeningName, OpeningNames};
use crate::report::figures;
use crate::report::html::tuning;
use crate::report::plot::{EloPlot, EloPoint, LlrPlot, Sheet};
use crate::report::stored::FileStamp;
use crate::report::summary::Summary;
use crate::report::tune;
use crate::run::error::RunError;
use crate::run::extension;
use crate::stats::elo::{self, Estimate};
use crate::text::{count, with_causes};
use crate::tournament::events::Finish;
use crate::tournament::events::StopReason;
use crate::tournament::scoreboard::Scoreboard;

/// Runs whose course is kept in memory.
const MAX_KEPT: usize = 16;

/// Games of a run that are listed.
const MAX_GAMES: usize = 500_000;

/// Plies of a game, book included, by which its opening is named in a list.
const NAMED_PLIES: usize = 16;

/// Minimum time between two reads of a journal that grows.
const MIN_AGE: Duration = Duration::from_secs(2);

/// Points of the Elo curve for each doubling of the pairs, approximately.
const ELO_STEPS: u64 = 200;

/// Reason that a run has no course.
#[derive(Debug, thiserror::Error)]
pub(super) enum FoldError {
    /// Run of which only the summary was kept.
    #[error("this run has no plan or no journal")]
    Missing,
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error("{0}: cannot read it: {1}")]
    Io(PathBuf, std::io::Error),
    /// The plan does not describe a valid test.
    #[error("{0}")]
    Plan(String),
}

/// A finished game, as far as lists of games need it.
#[derive(Clone, Copy, Debug)]
pub(super) struct GameRow {
    /// The user's number of the game.
    pub(super) number: u64,
    pair: PairId,
    pub(super) white: u16,
    pub(super) black: u16,
    pub(super) outcome: Outcome,
    pub(super) termination: Termination,
    /// Plies after the book.
    pub(super) plies: usize,
    pub(super) seconds: f64,
    /// Number of the opening in the book, from 0.
    pub(super) index: u64,
    pub(super) opening: Option<OpeningName>,
    pub(super) is_void: bool,
    /// Bytes of the journal before the game's line.
    offset: u64,
}

impl GameRow {
    fn of(game: &GameRecord, offset: u64, names: &OpeningNames, variant: Variant) -> Self {
        Self {
            number: game.id.number(),
            pair: game.id.pair,
            white: game.players.white.0,
            black: game.players.black.0,
            outcome: game.ending.outcome,
            termination: game.ending.termination,
            plies: game.moves.len(),
            seconds: game.took.as_secs_f64(),
            index: game.opening.index,
            opening: names.of_beginning(game, variant, NAMED_PLIES),
            is_void: game.is_void,
            offset,
        }
    }
}

/// The games of a run read so far.
#[derive(Debug)]
pub(super) struct Fold {
    dir: PathBuf,
    plan: Plan,
    /// Stamp of the extension of a tuning that is in the plan.
    extension: FileStamp,
    scoreboard: Scoreboard,
    elo: Vec<EloPoint>,
    /// The finished games in the order in which they ended.
    games: Vec<GameRow>,
    /// The games read, by which a later record of the same game is known.
    known: GameChecksums,
    names: Arc<OpeningNames>,
    /// The journal's first line, without which the rest cannot be read.
    header: Vec<u8>,
    /// Bytes of the whole lines read so far.
    offset: u64,
    looked: Option<Instant>,
}

impl Fold {
    fn new(dir: &Path, names: &Arc<OpeningNames>) -> Result<Self, FoldError> {
        // Taken first, so that a change during the read is seen later.
        let extension = extension::stamp(dir);
        let plan = extension::stored_plan(dir).map_err(|error| unreadable(&error))?;
        let plan = plan.ok_or(FoldError::Missing)?;
        let scoreboard = Scoreboard::new(&plan).map_err(|error| FoldError::Plan(error.to_string()))?;
        let (elo, header) = (Vec::new(), Vec::new());
        let (games, names) = (Vec::new(), Arc::clone(names));
        let known = GameChecksums::default();
        Ok(Self {
            dir: dir.to_owned(),
            plan,
            extension,
            scoreboard,
            elo,
            games,
            known,
            names,
            header,
            offset: 0,
            looked: None,
        })
    }

    /// Reads the lines added to the journal.
    fn update(&mut self) -> Result<(), FoldError> {
        if self.looked.is_some_and(|looked| looked.elapsed() < MIN_AGE) {
            return Ok(());
        }
        if extension::stamp(&self.dir) != self.extension {
            // A tuning was extended. Its pairs count again, and others after them.
            *self = Self::new(&self.dir, &self.names)?;
        }
        if archive::is_archived(&self.dir) {
            return self.read_archive();
        }
        let path = self.dir.join(journal::FILE_NAME);
        let about = std::fs::symlink_metadata(&path).ok().filter(std::fs::Metadata::is_file);
        let length = about.ok_or(FoldError::Missing)?.len();
        if length < self.offset {
            // Another journal: read it from its beginning.
            *self = Self::new(&self.dir, &self.names)?;
        }
        if length > self.offset {
            self.read(&path, length).map_err(|error| FoldError::Io(path.clone(), error))??;
        }
        self.looked = Some(Instant::now());
        Ok(())
    }

    /// Facts by which a journal is checked, the games read before, and the closure that records its
    /// games.
    fn recorder(&mut self) -> (PlanFacts, &mut GameChecksums, impl FnMut(GameRecord, u64)) {
        let Self { scoreboard, elo, games, known, names, plan, .. } = self;
        let facts = PlanFacts::new(plan, None);
        let record = |game: GameRecord, offset: u64| {
            keep(games, &game, offset, names, plan.rules.variant);
            scoreboard.record(game, |scoreboard, _| note_elo(elo, scoreboard));
        };
        (facts, known, record)
    }

    /// Reads an archive whole, once.
    fn read_archive(&mut self) -> Result<(), FoldError> {
        if self.looked.is_none() {
            let path = self.dir.join(journal::FILE_NAME);
            let (facts, _, mut record) = self.recorder();
            // An archive has no lines to go to.
            facts.read(&path, |game| record(game, 0))?;
        }
        self.looked = Some(Instant::now());
        Ok(())
    }

    fn read(&mut self, path: &Path, length: u64) -> std::io::Result<Result<(), JournalError>> {
        let mut file = open_regular(path)?;
        file.seek(SeekFrom::Start(self.offset))?;
        let added = BufReader::with_capacity(1 << 16, file.take(length - self.offset));
        let reader = Cursor::new(self.header.clone()).chain(added);
        // The header is read again before the lines added.
        let skipped = self.offset - self.header.len() as u64;
        let (facts, known, mut record) = self.recorder();
        let replayed = facts.read_placed(reader, path, known, move |game, offset| record(game, skipped + offset));
        match replayed {
            Ok(replayed) => self.offset = length - replayed.torn_bytes,
            Err(error) => return Ok(Err(error)),
        }
        if self.header.is_empty() {
            BufReader::new(open_regular(path)?).read_until(b'\n', &mut self.header)?;
        }
        Ok(Ok(()))
    }

    /// The finished games, the first [`MAX_GAMES`] of them.
    pub(super) fn games(&self) -> &[GameRow] {
        &self.games
    }

    /// Bytes of the journal before the line of a game that counts; `None` if it is not listed.
    fn offset_of(&self, number: u64) -> Option<u64> {
        self.games.iter().find(|game| game.number == number && !game.is_void).map(|game| game.offset)
    }

    /// Names of the players.
    pub(super) fn names(&self) -> Vec<&str> {
        self.plan.players.iter().map(|player| player.name.as_str()).collect()
    }

    pub(super) const fn plan(&self) -> &Plan {
        &self.plan
    }

    pub(super) const fn scoreboard(&self) -> &Scoreboard {
        &self.scoreboard
    }

    /// The summary as it would be written if the run ended now.
    pub(super) fn summary(&self) -> serde_json::Value {
        let finish = Finish { scoreboard: self.scoreboard.clone(), reason: StopReason::Interrupted, time: None };
        Summary::live(&self.plan, &finish, &self.dir).json().clone()
    }

    fn title(&self) -> String {
        let who = tune::title(&self.plan).or_else(|| self.plan.duel());
        self.plan.noted(who.as_ref().unwrap_or(&self.plan.name))
    }

    fn caption(&self) -> String {
        let machine = self.plan.playing_machine().map(|machine| format!(", {}", machine.cpu)).unwrap_or_default();
        format!("{}, {}{machine}", figures::limits(&self.plan), figures::games_at_once(&self.plan))
    }

    fn subtitle(&self) -> String {
        format!("{}, {}", count(self.scoreboard.pairs(), "pair"), self.scoreboard.estimates().elo_short())
    }

    /// The LLR between its bounds; `None` without a test.
    pub(super) fn llr_svg(&self, sheet: Sheet) -> Option<String> {
        let sprt = self.scoreboard.sprt()?;
        let plot = LlrPlot {
            title: self.title(),
            subtitle: self.subtitle(),
            caption: self.caption(),
            points: self.scoreboard.llr_path().to_vec(),
            lower: sprt.lower(),
            upper: sprt.upper(),
        };
        Some(plot.to_svg_on(sheet))
    }

    /// Course of a tuning's parameters over the pairs; `None` if the run is not a tuning.
    pub(super) fn tune_svg(&self, sheet: Sheet) -> Option<String> {
        Some(tuning::traces_svg(self.scoreboard.tuning()?.course(), &self.caption(), sheet))
    }

    /// Distances that a tuning's parameters moved; `None` if the run is not a tuning, or one of
    /// switches.
    pub(super) fn moves_svg(&self, sheet: Sheet) -> Option<String> {
        let progress = self.scoreboard.tuning()?;
        tuning::moves_svg(progress.course(), &progress.rule().dead, &self.caption(), sheet)
    }

    /// Elo with its interval over the pairs, of a tuning that of its validation; `None` if more
    /// than two players play.
    pub(super) fn elo_svg(&self, sheet: Sheet) -> Option<String> {
        if let Some(progress) = self.scoreboard.tuning() {
            return tuning::validation_svg(progress.course(), &self.caption(), sheet);
        }
        (self.plan.players.len() == 2).then(|| {
            let (title, subtitle, caption) = (self.title(), self.subtitle(), self.caption());
            let mut points = self.elo.clone();
            let now = elo_point(&self.scoreboard).filter(|now| points.last().is_none_or(|last| last.pairs < now.pairs));
            points.extend(now);
            EloPlot { title, subtitle, caption, unit: "Elo", points }.to_svg_on(sheet)
        })
    }
}

fn unreadable(error: &RunError) -> FoldError {
    FoldError::Plan(with_causes(error))
}

/// Lists a game, if there is room. With a void game, its pair's other game is played again, too.
fn keep(games: &mut Vec<GameRow>, game: &GameRecord, offset: u64, names: &OpeningNames, variant: Variant) {
    if game.is_void {
        let pair = game.id.pair;
        games.iter_mut().filter(|other| other.pair == pair).for_each(|other| other.is_void = true);
    }
    if games.len() < MAX_GAMES {
        games.push(GameRow::of(game, offset, names, variant));
    }
}

/// Records the estimate at growing intervals, because it changes less and less.
fn note_elo(points: &mut Vec<EloPoint>, scoreboard: &Scoreboard) {
    let pairs = scoreboard.pairs();
    let last = points.last().map_or(0, |point| point.pairs);
    if pairs < last + 1 + last / ELO_STEPS {
        return;
    }
    points.extend(elo_point(scoreboard));
}

/// The current estimate; `None` if it or its interval is infinite.
fn elo_point(scoreboard: &Scoreboard) -> Option<EloPoint> {
    let Estimate { value, interval, .. } = elo::logistic(&scoreboard.evidence())?;
    let (low, high) = interval?;
    Some(EloPoint { pairs: scoreboard.pairs(), elo: value.finite()?, low: low.finite()?, high: high.finite()? })
}

/// The course of one run, once it was requested. Requests wait for it without a thread.
type SharedFold = Arc<tokio::sync::Mutex<Option<Fold>>>;

/// The course of one run, locked for one request.
pub(super) type LockedFold = OwnedMutexGuard<Option<Fold>>;

/// The courses of recently requested runs, with the times of the requests.
#[derive(Debug, Default)]
pub(super) struct Folds {
    kept: Mutex<BTreeMap<String, (Instant, SharedFold)>>,
    /// Loaded on the first request.
    names: OnceLock<Arc<OpeningNames>>,
}

impl Folds {
    /// Locks the course of a run. The lock is held during a read, so that many requests at once
    /// cause one read.
    pub(super) async fn lock(&self, id: &str) -> LockedFold {
        self.place(id).lock_owned().await
    }

    /// Passes the course of a run, brought up to date, to `asks`. Blocks on the disk.
    ///
    /// # Errors
    /// Returns an error if there is no journal, or a damaged one.
    pub(super) fn ask<T>(
        &self,
        mut fold: LockedFold,
        dir: &Path,
        asks: impl FnOnce(&Fold) -> T,
    ) -> Result<T, FoldError> {
        let mut now = match fold.take() {
            Some(fold) => fold,
            None => Fold::new(dir, self.names.get_or_init(|| Arc::new(OpeningNames::builtin())))?,
        };
        // A fold that failed midway is dropped: the next request starts again.
        now.update()?;
        Ok(asks(fold.insert(now)))
    }

    /// Bytes of the journal before the line of a game, if the course of its run is in memory.
    /// Blocks on the disk.
    pub(super) fn offset_of(&self, id: &str, dir: &Path, number: u64) -> Option<u64> {
        let kept =
            self.kept.lock().unwrap_or_else(PoisonError::into_inner).get(id).map(|(_, fold)| Arc::clone(fold))?;
        let fold = kept.blocking_lock_owned();
        if fold.is_some() { self.ask(fold, dir, |fold| fold.offset_of(number)).ok()? } else { None }
    }

    fn place(&self, id: &str) -> SharedFold {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if !kept.contains_key(id)
            && kept.len() >= MAX_KEPT
            && let Some(oldest) = kept.iter().min_by_key(|(_, (at, _))| *at).map(|(id, _)| id.clone())
        {
            kept.remove(&oldest);
        }
        let (at, fold) = kept.entry(id.to_owned()).or_insert_with(|| (Instant::now(), Arc::default()));
        *at = Instant::now();
        Arc::clone(fold)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Format, file};
    use crate::tournament::formats::tune::{Tune, tests};

    #[test]
    fn a_tuning_that_is_extended_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let format = Format::new(Tune { rule: tests::rule("auto") });
        let plan = file::from_toml(include_str!("../../tests/it/fixtures/v1/plan.toml")).unwrap();
        let plan = Plan { format, test: None, max_pairs: Some(100), count_repeats: true, ..plan };
        for (name, text) in [(file::FILE_NAME, file::to_toml(&plan)), (journal::FILE_NAME, String::new())] {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let mut fold = Fold::new(folder.path(), &Arc::new(OpeningNames::builtin())).unwrap();
        let mut ends = || {
            fold.looked = None;
            fold.update().unwrap();
            let rule = fold.scoreboard().tuning().unwrap().rule();
            (fold.plan().max_pairs, rule.until_flat)
        };
        assert_eq!(ends(), (Some(100), true));
        extension::store(folder.path(), 200, true).unwrap();
        assert_eq!(ends(), (Some(200), false));
    }

    #[test]
    fn each_game_is_found_at_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let lines: Vec<&str> = include_str!("../../tests/it/fixtures/v1/games.jsonl").split_inclusive('\n').collect();
        let path = folder.path().join(journal::FILE_NAME);
        std::fs::write(folder.path().join(file::FILE_NAME), include_str!("../../tests/it/fixtures/v1/plan.toml"))
            .unwrap();
        let mut fold = Fold::new(folder.path(), &Arc::new(OpeningNames::builtin())).unwrap();
        // The journal grows between two updates.
        for end in [3, lines.len()] {
            let text = lines[..end].concat();
            std::fs::write(&path, &text).unwrap();
            fold.looked = None;
            fold.update().unwrap();
            assert_eq!(fold.games().len(), end - 1);
            for game in fold.games() {
                let offset = usize::try_from(fold.offset_of(game.number).unwrap()).unwrap();
                let line = text[offset..].split_inclusive('\n').next().unwrap();
                assert_eq!(journal::game_of(line.as_bytes()).unwrap().id.number(), game.number);
            }
        }
        assert_eq!(fold.offset_of(99), None);
        // A record of a known game is no game of its own, though it comes with a later read.
        std::fs::write(&path, lines.concat() + lines[1]).unwrap();
        fold.looked = None;
        fold.update().unwrap();
        assert_eq!(fold.games().len(), lines.len() - 1);
    }

    /// The other game of a void one's pair was over, and is played again, too.
    #[test]
    fn of_a_pair_that_is_played_again_the_last_games_count() {
        let lines: Vec<&str> = include_str!("../../tests/it/fixtures/v1/games.jsonl").split_inclusive('\n').collect();
        let records: Vec<GameRecord> =
            lines.iter().filter_map(|line| journal::game_of(line.as_bytes())).take(4).collect();
        let void = GameRecord { is_void: true, ..records[1].clone() };
        let (names, mut games) = (OpeningNames::builtin(), Vec::new());
        for (offset, game) in (0..).zip([&records[0], &records[2], &void, &records[0], &records[1]]) {
            keep(&mut games, game, offset, &names, Variant::Standard);
        }
        assert_eq!(records[0].id.pair, records[1].id.pair);
        assert_eq!(games.iter().map(|game| game.is_void).collect::<Vec<_>>(), [true, false, true, false, false]);
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(file::FILE_NAME), include_str!("../../tests/it/fixtures/v1/plan.toml"))
            .unwrap();
        let mut fold = Fold::new(folder.path(), &Arc::new(OpeningNames::builtin())).unwrap();
        fold.games = games;
        assert_eq!([&records[0], &records[1]].map(|game| fold.offset_of(game.id.number())), [Some(3), Some(4)]);
    }
}
