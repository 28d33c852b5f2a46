//! Series of matches that answer one question, in one directory.
//!
//! Earlier matches count, and interrupted ones are resumed.

use std::collections::BTreeSet;
use std::collections::btree_map::{BTreeMap, Entry};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::openings::order::Order;
use crate::plan::{Plan, Player, file};
use crate::run::dir::{MATCHES, Place, RunDir};
use crate::run::drive::{self, OutputStyle};
use crate::run::error::{Result, ResultContext as _, RunError, fail};
use crate::run::resolve::networks;
use crate::run::trust;
use crate::run::tuning::session;
use crate::run::{Exit, extension, prepare, progress, resolve};
use crate::settings::{RawPlan, RawPlayer};
use crate::source::{self, Context};
use crate::tournament::scoreboard::Scoreboard;

/// Maximum number of failures of a match. The change under test may cause failures, and a lost game
/// is a result.
const MAX_FAILURES: u64 = 1_000_000;

/// Directory of the matches and their common settings.
#[derive(Debug)]
pub(crate) struct Series {
    root: PathBuf,
    raw: RawPlan,
    /// Plan of the first match, which the others must agree with.
    first: Option<Plan>,
    /// Matches that were counted once they had been played: none of them changes any more.
    counted: BTreeMap<PathBuf, CountedMatch>,
    /// Matches that the caller was given to read.
    given: BTreeSet<PathBuf>,
}

/// Openings that a match has used, and between whom.
#[derive(Debug)]
struct CountedMatch {
    /// Identities of the first two players.
    players: Vec<(String, String)>,
    /// Place in the book of its first opening.
    start: u64,
    openings: u64,
}

impl CountedMatch {
    /// Pairs that do not count, because they repeat others, have used their openings too.
    fn of(plan: &Plan, scoreboard: &Scoreboard) -> Self {
        let encounters = (plan.players.len() as u64).saturating_sub(1).max(1);
        let openings = scoreboard.settled().div_ceil(encounters);
        Self { players: first_two(plan), start: plan.book.start, openings }
    }
}

/// Program of a commit with the options of its recipe: two commits with equal ones are one engine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BuiltProgram {
    sha256: String,
    options: Vec<(String, String)>,
}

/// Result of a match.
#[derive(Debug)]
pub(crate) enum MatchResult {
    /// The run was played or stopped, with this exit.
    Played(Exit),
    /// The place, from 0, of an engine that does not start, and the reason.
    NoStart(usize, RunError),
    /// The players have played every opening of the book.
    OutOfOpenings,
}

/// Name and program by which a player of one match is recognized in another.
fn identity(player: &Player) -> (&str, &str) {
    (&player.name, &player.origin.sha256)
}

/// Identities of the first two players of a match.
fn first_two(plan: &Plan) -> Vec<(String, String)> {
    let owned = |(name, sha256): (&str, &str)| (name.to_owned(), sha256.to_owned());
    plan.players.iter().take(2).map(identity).map(owned).collect()
}

/// Returns the matches in the directory of a series, in the order of their start.
pub(crate) fn runs_in(root: &Path) -> Result<Vec<PathBuf>> {
    let folder = root.join(MATCHES);
    let unreadable = || format!("{}: cannot read it", folder.display());
    let mut runs = Vec::new();
    for entry in std::fs::read_dir(&folder).within(unreadable)? {
        let path = entry.within(unreadable)?.path();
        if is_run(&path) {
            runs.push(path);
        }
    }
    runs.sort();
    Ok(runs)
}

/// Returns the run directory to watch and steer in a folder of several: the proof of a tuning or
/// its games, or the last match of a series. Returns `root` itself if it is a run, or holds none.
pub(crate) fn newest_run(root: &Path) -> PathBuf {
    let newest = match root {
        _ if is_run(root) => None,
        _ if root.join(file::TUNING_SETTINGS).is_file() => Some(session::last_run(root)).filter(|run| is_run(run)),
        _ => runs_in(root).unwrap_or_default().pop(),
    };
    newest.unwrap_or_else(|| root.to_owned())
}

fn is_run(dir: &Path) -> bool {
    dir.join(file::FILE_NAME).is_file()
}

impl Series {
    /// Opens the directory `root`, new or not; `raw` has the settings of its matches.
    pub(crate) fn open(root: PathBuf, mut raw: RawPlan) -> Result<Self> {
        raw.out = None;
        raw.max_failures.get_or_insert(MAX_FAILURES);
        let (counted, given) = (BTreeMap::new(), BTreeSet::new());
        let mut series = Self { root, raw, first: None, counted, given };
        std::fs::create_dir_all(series.matches())
            .within(|| format!("{}: cannot create it; choose another --out", series.root.display()))?;
        if let Some(first) = series.runs()?.first() {
            let (_, plan) = RunDir::open(first)?;
            if let Some(seed) = series.raw.seed.filter(|seed| *seed != plan.seed) {
                fail!(
                    OtherRun,
                    "{}: its matches have the seed {}, not {seed}; leave out --seed, or give another folder",
                    series.root.display(),
                    plan.seed
                );
            }
            // The same seed, and so the same openings, for all matches.
            series.raw.seed = Some(plan.seed);
            series.first = Some(plan);
        }
        Ok(series)
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Program of a commit, which is built for it, or the reason if the commit itself is at fault.
    pub(crate) fn program(&self, spec: &str, context: &Context) -> Result<std::result::Result<BuiltProgram, String>> {
        let network = networks::of_all(&self.raw, context)?;
        match source::resolve_with(spec, network.as_ref(), context, &mut progress::step) {
            Ok(engine) => Ok(Ok(BuiltProgram { sha256: engine.origin.sha256, options: engine.options })),
            Err(error) if source::is_bad_commit(&error) => Ok(Err(error.to_string())),
            Err(error) => Err(error.into()),
        }
    }

    fn matches(&self) -> PathBuf {
        self.root.join(MATCHES)
    }

    /// Returns the matches in the order of their start.
    pub(crate) fn runs(&self) -> Result<Vec<PathBuf>> {
        runs_in(&self.root)
    }

    /// Returns the matches that no earlier call returned, in the order of their start. A match that
    /// is resumed later is not returned again, so call it after [`finish`](Self::finish).
    pub(crate) fn new_runs(&mut self) -> Result<Vec<PathBuf>> {
        let mut runs = self.runs()?;
        runs.retain(|run| self.given.insert(run.clone()));
        Ok(runs)
    }

    /// Resumes interrupted matches.
    pub(crate) fn finish(&mut self) -> Result<Exit> {
        for path in self.runs()? {
            let (dir, mut plan) = RunDir::open(&path)?;
            let scoreboard = dir.scoreboard(&plan)?;
            if drive::is_over(&plan, &scoreboard, &dir) {
                self.counted.insert(path, CountedMatch::of(&plan, &scoreboard));
                continue;
            }
            trust::check(&dir, &plan, false)?;
            extension::renewed(&self.raw, &mut plan)?;
            let exit = drive::resume(Arc::new(plan), &dir, OutputStyle::quiet())?;
            if exit != Exit::Done {
                return Ok(exit);
            }
        }
        Ok(Exit::Done)
    }

    /// Plays a match of `pairs` pairs between the first of `specs` and each other one, from the
    /// openings after those of earlier matches of the first two, and after `known` of other runs.
    /// The place in the book where the first two began stays, whatever the settings say now. No
    /// opening is used twice if `once` is set, or if its games would only repeat.
    pub(crate) fn play(
        &mut self,
        specs: &[String],
        pairs: u64,
        known: u64,
        once: bool,
        name: &'static str,
    ) -> Result<MatchResult> {
        let (mut plan, book) = resolve::games(&self.raw_match(specs, pairs), name)?;
        let (first, used) = self.used(&plan)?;
        if let Some(first) = first {
            // The openings of other runs come before it. In the order of the file it may have begun
            // again.
            plan.book.start = match plan.book.order {
                Order::Sequential => {
                    let all = plan.book.openings.max(1);
                    (first + all - known % all) % all
                }
                Order::Random { .. } => first.saturating_sub(known),
            };
        }
        let played = known + used;
        if once || plan.ends_with_book() {
            let left = plan.fresh_pairs().saturating_sub(played);
            if left == 0 {
                return Ok(MatchResult::OutOfOpenings);
            }
            plan.max_pairs = plan.max_pairs.map(|pairs| pairs.min(left));
        }
        plan.book.start = (plan.book.start + played) % plan.book.openings.max(1);
        self.check_plan(&plan)?;
        self.raw.seed = Some(plan.seed);
        if let Err((place, error)) = prepare::runtime()?.block_on(prepare::preflight_by_player(&plan, &book))? {
            return Ok(MatchResult::NoStart(place, error));
        }
        let number = self.runs()?.len() + 1;
        let players: Vec<String> = plan.players.iter().take(2).map(Player::file_name).collect();
        let place = Place::Default(self.matches().join(format!("{number:04}-{}", players.join("-"))));
        if self.first.is_none() {
            self.first = Some(plan.clone());
        }
        Ok(MatchResult::Played(drive::start(Arc::new(plan), book, &place, OutputStyle::quiet())?))
    }

    /// Checks the flags of a series that may have played all its matches: they are those of the
    /// earlier matches, as far as a match of `specs` tells.
    pub(crate) fn check_flags(&self, specs: &[String], name: &'static str) -> Result<()> {
        self.continued(specs, name)?.map_or(Ok(()), |plan| self.check_plan(&plan))
    }

    /// Checks the flags as [`check_flags`](Self::check_flags), and that the first two of `specs`
    /// are the programs of every earlier match.
    pub(crate) fn check_programs(&self, specs: &[String], name: &'static str) -> Result<()> {
        let Some(plan) = self.continued(specs, name)? else { return Ok(()) };
        for path in self.runs()? {
            let (_, earlier) = RunDir::open(&path)?;
            let programs = [&earlier, &plan].map(|plan| plan.players.iter().take(2).map(|one| &one.origin.sha256));
            let [earlier, now] = programs;
            if !earlier.eq(now) {
                fail!(
                    OtherRun,
                    "{}: its matches were played by other programs; give another --out",
                    self.root.display()
                );
            }
        }
        self.check_plan(&plan)
    }

    /// Plan of the next match; `None` if the series has none yet.
    fn continued(&self, specs: &[String], name: &'static str) -> Result<Option<Plan>> {
        let resolved = self.first.as_ref().map(|_| resolve::games(&self.raw_match(specs, 1), name)).transpose()?;
        Ok(resolved.map(|(plan, _)| plan))
    }

    fn raw_match(&self, specs: &[String], pairs: u64) -> RawPlan {
        RawPlan {
            pairs: Some(pairs),
            heroes: (specs.len() > 2).then_some(1),
            players: specs.iter().map(|spec| RawPlayer { spec: Some(spec.clone()), ..RawPlayer::default() }).collect(),
            ..self.raw.clone()
        }
    }

    fn check_plan(&self, plan: &Plan) -> Result<()> {
        let Some(first) = &self.first else { return Ok(()) };
        // Recipes may give other commits other options, so only a player who was there tells.
        let agree = |one: &Player, other: &Player| identity(one) != identity(other) || one.options == other.options;
        let limits = |plan: &Plan| -> Vec<_> { plan.players.iter().take(2).map(|player| player.limit).collect() };
        let same = first.book.sha256 == plan.book.sha256
            && first.book.order == plan.book.order
            && first.book.plies == plan.book.plies
            && first.rules == plan.rules
            && limits(first) == limits(plan)
            && first.players.iter().take(2).all(|one| plan.players.iter().take(2).all(|other| agree(one, other)));
        if !same {
            fail!(
                OtherRun,
                "{}: its matches have other limits, options or rules, or other openings; give the flags they were \
                 started with, or another folder",
                self.root.display()
            );
        }
        Ok(())
    }

    /// Place in the book of the first opening of the earlier matches between the first two players
    /// of a plan, if there were any, and the number of their openings. Reads only the matches that
    /// were not counted before.
    fn used(&mut self, plan: &Plan) -> Result<(Option<u64>, u64)> {
        for path in self.runs()? {
            if let Entry::Vacant(place) = self.counted.entry(path) {
                let (dir, earlier) = RunDir::open(place.key())?;
                place.insert(CountedMatch::of(&earlier, &dir.scoreboard(&earlier)?));
            }
        }
        let players = first_two(plan);
        let of_both = || self.counted.values().filter(|counted| counted.players == players);
        let first = of_both().next().map(|counted| counted.start);
        Ok((first, of_both().map(|counted| counted.openings).sum()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal;

    #[test]
    fn the_newest_run_of_a_folder_is_the_one_that_it_plays() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        assert_eq!(newest_run(root), root, "an empty folder");
        let runs = ["series/matches/0001-a", "series/matches/0002-b", "tuning/tune", "tuning/prove"];
        let [first, second, games, proof] = runs.map(|name| root.join(name));
        let begin = |run: &Path| {
            std::fs::create_dir_all(run).unwrap();
            std::fs::write(run.join(file::FILE_NAME), "").unwrap();
        };
        for (folder, run) in [("series", &first), ("series", &second), ("tuning", &games), ("tuning", &proof)] {
            begin(run);
            std::fs::write(root.join("tuning").join(file::TUNING_SETTINGS), "").ok();
            assert_eq!(newest_run(&root.join(folder)), *run);
            assert_eq!(newest_run(run), *run);
        }
        // A folder of runs of one's own is neither.
        assert_eq!(newest_run(root), root);
    }

    #[test]
    fn a_match_is_counted_and_given_once() {
        let folder = tempfile::tempdir().unwrap();
        let mut series = Series::open(folder.path().to_owned(), RawPlan::default()).unwrap();
        let run = |name: &str| {
            let run = folder.path().join("matches").join(name);
            std::fs::create_dir(&run).unwrap();
            std::fs::write(run.join(file::FILE_NAME), include_str!("../../tests/it/fixtures/v1/plan.toml")).unwrap();
            let games = include_str!("../../tests/it/fixtures/v1/games.jsonl");
            std::fs::write(run.join(journal::FILE_NAME), games).unwrap();
            run
        };
        let first = run("0001-a");
        let (_, plan) = RunDir::open(&first).unwrap();
        let start = plan.book.start;
        let (began, pairs) = series.used(&plan).unwrap();
        assert_eq!(began, Some(start));
        assert!(pairs > 0);
        assert_eq!(series.new_runs().unwrap(), std::slice::from_ref(&first));
        // A journal that is read again would be missed.
        std::fs::remove_file(first.join(journal::FILE_NAME)).unwrap();
        let second = run("0002-a");
        assert_eq!(series.used(&plan).unwrap(), (Some(start), 2 * pairs));
        assert_eq!(series.new_runs().unwrap(), [second]);
        assert!(series.new_runs().unwrap().is_empty());
        let mut others = plan.clone();
        others.players.swap(0, 1);
        assert_eq!(series.used(&others).unwrap(), (None, 0));
    }
}
