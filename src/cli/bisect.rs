//! `quintain bisect`: search for the commit that changed an engine's strength.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use serde::Serialize;
use serde_json::{Value, json};

use crate::cli::flags::RunFlags;
use crate::cli::runs::run_parser;
use crate::cli::versions::GatheredGames;
use crate::cli::versions::play::condition;
use crate::files::write_atomically;
use crate::report::figures;
use crate::run::drive::default_place;
use crate::run::notify::Receivers;
use crate::run::series::{BuiltProgram, MatchResult, Series};
use crate::run::{Exit, progress, resolve};
use crate::settings::AnyCommand;
use crate::source::{self, Commit, Context};
use crate::stats::bisect::{Posterior, Suspects};
use crate::stats::elo::{self, fixed};
use crate::stats::{Pentanomial, race};
use crate::text::{self, printable, shell_path, short_hash, with_causes};

const EXAMPLES: &str = "\
GOOD and BAD first play each other until they are shown to differ, by a betting e-process, so \
that looking after each batch is free. Then commits between them play GOOD. Each time the commit \
is chosen that splits the posterior most evenly (probabilistic bisection). Only commits on the \
first-parent line that touch the engine's sources are considered. A commit that does not build or \
start is skipped. Between two commits that build the same program there is no change.

The search ends when one commit, or a group that cannot be distinguished, has the probability \
--confidence. It assumes a single change. If there were several, it ends at one of them; the \
table of each commit's score shows that.

Everything is stored in --out. The same command with the same --out continues there and replays no \
game.

Exit codes:
  0  the commit is found
  3  no change is shown, --limit or --max-time is reached, or GOOD and a commit have played every opening of the book: a bet needs an opening that was not seen before

Examples:
  quintain bisect v1.2 main --tc 8+0.08
  quintain bisect v1.2 main --nodes 20000 --reuse results/runs/20260101-120000-sprt --out results/bisect/slower
  quintain bisect abc1234 HEAD --repository ../engine --json

JSON: `found` (`commits, probability`), `change` (Elo), `commits` (`commit, date, subject, \
skipped, same_as, probability, pairs, ptnml, elo, elo_lo, elo_hi`), `pairs`, `reason` \
(found|no-change|limit|out-of-openings|time). `same_as` is a commit that builds the same program.";

/// Name of the file with the programs of commits, in the directory of a search.
const PROGRAMS: &str = "programs.json";

/// Finds the commit that lost (or won) Elo by a noisy binary search.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES, allow_negative_numbers = true)]
#[command(mut_arg("until_width", |arg| arg.hide(true)))]
pub(super) struct BisectArgs {
    /// The older commit, branch or tag.
    #[arg(value_name = "GOOD")]
    good: String,
    /// The newer commit, with a different strength.
    #[arg(value_name = "BAD")]
    bad: String,
    /// Repository of the commits [default: that of the current directory].
    #[arg(long, value_name = "PATH-OR-URL", help_heading = "Search")]
    repository: Option<String>,
    /// Confidence to reach, as a probability.
    #[arg(long, value_name = "P", default_value_t = 0.95, help_heading = "Search")]
    confidence: f64,
    /// Pairs between two decisions.
    #[arg(long, value_name = "N", default_value_t = 20, help_heading = "Search")]
    pairs: u64,
    /// Maximum number of pairs in all.
    #[arg(long, value_name = "N", default_value_t = 10_000, help_heading = "Search")]
    limit: u64,
    /// A run whose games between these commits count as well; may be repeated.
    #[arg(long, value_name = "RUN", value_parser = run_parser(), help_heading = "Search")]
    reuse: Vec<PathBuf>,
    #[command(flatten)]
    flags: RunFlags<AnyCommand>,
}

/// Reason for the end of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SearchEnd {
    Found,
    NoChange,
    Limit,
    OutOfOpenings,
    Time,
}

impl SearchEnd {
    const fn name(self) -> &'static str {
        match self {
            Self::Found => "found",
            Self::NoChange => "no-change",
            Self::Limit => "limit",
            Self::OutOfOpenings => "out-of-openings",
            Self::Time => "time",
        }
    }
}

/// Next action of a search.
enum NextAction {
    /// Play this commit.
    Play(usize),
    End(SearchEnd),
}

/// State of a search.
struct BisectSearch<'a> {
    args: &'a BisectArgs,
    place: Option<String>,
    commits: Vec<Commit>,
    /// Reasons for which commits cannot be played; `None` for playable ones.
    skipped: Vec<Option<String>>,
    /// Programs of the commits that were built.
    programs: Vec<Option<BuiltProgram>>,
    /// False for a commit that cannot be the first that differs. It comes after one commit and
    /// before, or as, another one of the same program.
    possible: Vec<bool>,
    pairs: Vec<Pentanomial>,
}

/// JSON document; field names are a public contract.
#[derive(Serialize)]
struct BisectJson<'a> {
    reason: &'static str,
    found: Option<JsonSuspects<'a>>,
    change: f64,
    pairs: u64,
    commits: Vec<JsonCommit<'a>>,
}

#[derive(Serialize)]
struct JsonSuspects<'a> {
    commits: Vec<&'a str>,
    probability: f64,
}

#[derive(Serialize)]
struct JsonCommit<'a> {
    commit: &'a str,
    date: &'a str,
    subject: &'a str,
    skipped: Option<&'a str>,
    same_as: Option<&'a str>,
    probability: f64,
    pairs: u64,
    ptnml: [u64; 5],
    elo: Option<f64>,
    elo_lo: Option<f64>,
    elo_hi: Option<f64>,
}

/// Reads the programs by commit; none if there is no file.
fn kept_programs(path: &Path) -> Result<BTreeMap<String, BuiltProgram>> {
    let bytes = match std::fs::read(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        read => read.with_context(|| format!("{}: cannot read it", path.display()))?,
    };
    let fault = || format!("{}: not a list of programs; remove it to build them again", path.display());
    serde_json::from_slice(&bytes).with_context(fault)
}

pub(super) fn run(args: &BisectArgs) -> Result<Exit> {
    if !(args.confidence > 0.5 && args.confidence < 1.0) {
        bail!("--confidence {}: give a probability between 0.5 and 1", args.confidence);
    }
    if args.pairs == 0 {
        bail!("--pairs 0 plays nothing; the minimum is 1");
    }
    let mut raw = args.flags.typed().clone();
    if raw.until_width.is_some() {
        bail!("--until-width ends a single match; --confidence and --limit end a search");
    }
    let limit = raw.max_time.take().map(|text| resolve::time("--max-time", &text)).transpose()?;
    let receivers = Receivers::of(&raw)?;
    let context = Context::from_env()?;
    let place = source::place_of(&context, args.repository.as_deref());
    let commits = source::stretch(&context, place.as_deref(), (&args.good, &args.bad), &mut progress::step)?;
    if commits.len() < 2 {
        bail!("{} and {} are one commit; there is nothing to search", args.good, args.bad);
    }
    let root = raw.out.clone().unwrap_or_else(|| default_place("bisect").wanted().to_owned());
    let mut reused = GatheredGames::default();
    for run in &args.reuse {
        reused.add(run)?;
    }
    if !args.reuse.is_empty() {
        reused.check_reused(&condition(&raw, &context)?.0)?;
    }
    let series = Series::open(root, raw)?;
    let count = commits.len();
    progress::note(&format!(
        "{} after {} {} the engine; games in {}",
        text::count(count as u64 - 1, "commit"),
        short_hash(&commits[0].id),
        if count == 2 { "touches" } else { "touch" },
        series.root().display()
    ));
    let none = Pentanomial::default();
    let search = BisectSearch {
        args,
        place,
        commits,
        skipped: vec![None; count],
        programs: vec![None; count],
        possible: vec![true; count],
        pairs: vec![none; count],
    };
    let root = series.root().to_owned();
    let result = search.run(series, &reused, &context, limit)?;
    if matches!(result.exit, Exit::Interrupted | Exit::Aborted) {
        progress::note(&format!("continue with the same command and `--out {}`", shell_path(&root)));
    }
    receivers.tell_of("bisect", (result.document, &result.headline), &root, result.exit);
    Ok(result.exit)
}

/// End of a search.
struct SearchResult {
    exit: Exit,
    headline: String,
    document: Value,
}

impl From<Exit> for SearchResult {
    /// A match that did not end as it should ends the search.
    fn from(exit: Exit) -> Self {
        Self { exit, headline: "stopped by a match that could not go on".to_owned(), document: json!({}) }
    }
}

impl BisectSearch<'_> {
    fn run(
        mut self,
        mut series: Series,
        reused: &GatheredGames,
        context: &Context,
        limit: Option<Duration>,
    ) -> Result<SearchResult> {
        let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
        match series.finish()? {
            Exit::Done => {}
            exit => return Ok(exit.into()),
        }
        // Before any game: the programs of both ends.
        let specs = [self.commits.len() - 1, 0].map(|commit| self.spec(commit));
        let ends = specs.each_ref().map(|spec| series.program(spec, context));
        if let [Ok(Ok(bad)), Ok(Ok(good))] = &ends {
            if good == bad {
                bail!("{} and {} build the same program; there is nothing to search", self.args.good, self.args.bad);
            }
            series.check_flags(&specs, "bisect")?;
            let last = self.commits.len() - 1;
            (self.programs[last], self.programs[0]) = (Some(bad.clone()), Some(good.clone()));
        }
        self.restore_programs(series.root())?;
        let mut gathered = reused.clone();
        loop {
            self.gather(&mut series, &mut gathered)?;
            let commit = match self.next() {
                NextAction::Play(_) if deadline.is_some_and(|deadline| Instant::now() >= deadline) => {
                    return self.report(&series, SearchEnd::Time);
                }
                NextAction::Play(commit) => commit,
                NextAction::End(end) => return self.report(&series, end),
            };
            let own = self.spec(commit);
            match series.program(&own, context)? {
                Err(why) => {
                    self.skip(commit, why)?;
                    continue;
                }
                Ok(program) if self.programs[commit].is_none() => {
                    let is_known = self.record_program(commit, program);
                    self.keep_programs(series.root())?;
                    if is_known {
                        continue;
                    }
                }
                Ok(_) => {}
            }
            if self.spent() >= self.args.limit {
                return self.report(&series, SearchEnd::Limit);
            }
            let specs = [own, self.spec(0)];
            let known = reused.met(&self.commits[commit].id, &self.commits[0].id).pairs();
            let pairs = self.args.pairs.min(self.args.limit.saturating_sub(self.spent()));
            match series.play(&specs, pairs, known, true, "bisect")? {
                MatchResult::Played(Exit::Done) => {}
                MatchResult::OutOfOpenings => return self.report(&series, SearchEnd::OutOfOpenings),
                MatchResult::Played(exit) => return Ok(exit.into()),
                MatchResult::NoStart(0, error) => self.skip(commit, with_causes(&error))?,
                MatchResult::NoStart(_, error) => {
                    bail!("GOOD {} cannot be played: {}", short_hash(&self.commits[0].id), with_causes(&error));
                }
            }
        }
    }

    /// Engine of a commit, given by its place.
    fn spec(&self, commit: usize) -> String {
        source::spec_of(&self.commits[commit].id, self.place.as_deref())
    }

    /// Adds the matches that were not read before to `gathered`, and counts all its games.
    fn gather(&mut self, series: &mut Series, gathered: &mut GatheredGames) -> Result<()> {
        for run in series.new_runs()? {
            gathered.add(&run)?;
        }
        for (pairs, commit) in self.pairs.iter_mut().zip(&self.commits).skip(1) {
            *pairs = gathered.met(&commit.id, &self.commits[0].id);
        }
        Ok(())
    }

    fn playable(&self) -> Vec<bool> {
        self.skipped.iter().map(Option::is_none).collect()
    }

    fn spent(&self) -> u64 {
        self.pairs.iter().map(Pentanomial::pairs).sum()
    }

    fn next(&self) -> NextAction {
        let last = self.commits.len() - 1;
        // Two claims, stronger and weaker, share the error level.
        let shown = (2.0 / (1.0 - self.args.confidence)).ln();
        let is_shown = race::evidence(&self.pairs[last]).into_iter().any(|evidence| evidence >= shown);
        let is_spent = self.spent() >= self.args.limit;
        if !is_shown {
            return if is_spent { NextAction::End(SearchEnd::NoChange) } else { NextAction::Play(last) };
        }
        let Some(posterior) = Posterior::among(&self.pairs, &self.possible) else {
            return NextAction::End(SearchEnd::Found);
        };
        let playable = self.playable();
        if posterior.suspects(&playable).probability >= self.args.confidence {
            return NextAction::End(SearchEnd::Found);
        }
        posterior.next(&self.candidates(), &self.pairs).map_or(NextAction::End(SearchEnd::Limit), NextAction::Play)
    }

    /// The commits to choose from. Of those between which there can be no change, it is the one
    /// with the most games, and among equals one that is built.
    fn candidates(&self) -> Vec<bool> {
        let count = self.commits.len();
        let mut candidates = vec![false; count];
        for start in (0..count).filter(|commit| *commit == 0 || self.possible[*commit]) {
            let end = (start + 1..count).find(|commit| self.possible[*commit]).unwrap_or(count);
            let rank =
                |commit: &usize| (self.pairs[*commit].pairs(), self.programs[*commit].is_some(), Reverse(*commit));
            let playable = (start..end).filter(|commit| self.skipped[*commit].is_none());
            if let Some(commit) = playable.max_by_key(rank) {
                candidates[commit] = true;
            }
        }
        candidates
    }

    /// Records the program of a commit. Returns true if it is that of another commit, so that the
    /// change is not between the two.
    fn record_program(&mut self, commit: usize, program: BuiltProgram) -> bool {
        self.programs[commit] = Some(program);
        let Some(other) = self.same_as(commit) else { return false };
        let mut possible = self.possible.clone();
        possible[commit.min(other) + 1..=commit.max(other)].fill(false);
        let [name, other] = [commit, other].map(|commit| short_hash(&self.commits[commit].id));
        if !possible[1..].contains(&true) {
            progress::warn(&format!("{name} builds the program of {other}, so there were several changes"));
            return false;
        }
        progress::note(&format!("{name} builds the program of {other}: the change is not between them"));
        self.possible = possible;
        true
    }

    /// Keeps the programs beside the matches, for a later session of the search.
    fn keep_programs(&self, root: &Path) -> Result<()> {
        let path = root.join(PROGRAMS);
        let mut kept = kept_programs(&path)?;
        for (commit, program) in self.commits.iter().zip(&self.programs) {
            kept.extend(program.clone().map(|program| (commit.id.clone(), program)));
        }
        let text = serde_json::to_string_pretty(&kept)? + "\n";
        write_atomically(&path, text.as_bytes()).with_context(|| format!("{}: cannot write it", path.display()))
    }

    /// Takes the programs of an earlier session of the search; those of both ends were built anew.
    fn restore_programs(&mut self, root: &Path) -> Result<()> {
        let mut kept = kept_programs(&root.join(PROGRAMS))?;
        for commit in 1..self.commits.len() - 1 {
            if let Some(program) = kept.remove(&self.commits[commit].id) {
                self.record_program(commit, program);
            }
        }
        Ok(())
    }

    /// Another commit with the program of this one, the first if there are several.
    fn same_as(&self, commit: usize) -> Option<usize> {
        let own = self.programs[commit].as_ref()?;
        (0..self.commits.len()).find(|other| *other != commit && self.programs[*other].as_ref() == Some(own))
    }

    /// Skips a commit. Fails for BAD, because the search rests on it.
    fn skip(&mut self, commit: usize, why: String) -> Result<()> {
        let first = why.lines().next().unwrap_or_default().to_owned();
        let name = short_hash(&self.commits[commit].id);
        if commit + 1 == self.commits.len() {
            bail!("BAD {name} cannot be played: {why}");
        }
        progress::warn(&format!("{name} is skipped: {first}"));
        self.skipped[commit] = Some(first);
        Ok(())
    }

    /// Prints the result and keeps it in `bisect.json` beside the matches.
    fn report(&self, series: &Series, end: SearchEnd) -> Result<SearchResult> {
        let posterior = Posterior::among(&self.pairs, &self.possible).context("no commits to choose from")?;
        let suspects = posterior.suspects(&self.playable());
        let result = self.json(&posterior, &suspects, end);
        let document = serde_json::to_value(&result)?;
        let json = serde_json::to_string_pretty(&result)? + "\n";
        let path = series.root().join("bisect.json");
        write_atomically(&path, json.as_bytes()).with_context(|| format!("{}: cannot write it", path.display()))?;
        let text = self.text(&posterior, &suspects, end, series);
        progress::result(if self.args.flags.json { &json } else { &text });
        let exit = if end == SearchEnd::Found { Exit::Done } else { Exit::Inconclusive };
        Ok(SearchResult { exit, headline: self.headline(&posterior, &suspects, end), document })
    }

    fn json<'b>(&'b self, posterior: &Posterior, suspects: &Suspects, end: SearchEnd) -> BisectJson<'b> {
        let ids = |commits: std::ops::RangeInclusive<usize>| commits.map(|c| self.commits[c].id.as_str()).collect();
        BisectJson {
            reason: end.name(),
            found: (end == SearchEnd::Found)
                .then(|| JsonSuspects { commits: ids(suspects.commits.clone()), probability: suspects.probability }),
            change: posterior.change,
            pairs: self.spent(),
            commits: (0..self.commits.len())
                .map(|place| {
                    let (commit, pairs) = (&self.commits[place], &self.pairs[place]);
                    let estimate = elo::logistic(pairs);
                    let interval = estimate.and_then(|estimate| estimate.interval);
                    JsonCommit {
                        commit: &commit.id,
                        date: &commit.date,
                        subject: &commit.subject,
                        skipped: self.skipped[place].as_deref(),
                        same_as: self.same_as(place).map(|other| self.commits[other].id.as_str()),
                        probability: posterior.first[place],
                        pairs: pairs.pairs(),
                        ptnml: pairs.0,
                        elo: estimate.and_then(|estimate| estimate.value.finite()),
                        elo_lo: interval.and_then(|(low, _)| low.finite()),
                        elo_hi: interval.and_then(|(_, high)| high.finite()),
                    }
                })
                .collect(),
        }
    }

    fn headline(&self, posterior: &Posterior, suspects: &Suspects, end: SearchEnd) -> String {
        let name = |commit: usize| {
            let commit = &self.commits[commit];
            format!("{} ({}, {})", short_hash(&commit.id), commit.date, printable(&commit.subject))
        };
        let (first, last) = (*suspects.commits.start(), *suspects.commits.end());
        let sure = format!("{} %", fixed(100.0 * suspects.probability, 1));
        let word = if posterior.change < 0.0 { "lost" } else { "won" };
        let change = format!("{word} about {} Elo", fixed(posterior.change.abs(), 0));
        match end {
            SearchEnd::Found if first == last => format!("{} {change}; probability {sure}", name(last)),
            SearchEnd::Found => format!(
                "one of {} to {} {change}, those before the last can't be played; probability {sure}",
                name(first),
                name(last)
            ),
            SearchEnd::NoChange => "no change of strength is shown between GOOD and BAD".to_owned(),
            SearchEnd::Limit => {
                format!("not found within {} pairs; most likely {} with {sure}", self.spent(), name(last))
            }
            SearchEnd::OutOfOpenings => {
                format!("out of openings, take a larger --book; most likely {} with {sure}", name(last))
            }
            SearchEnd::Time => format!("out of time; most likely {} with {sure}", name(last)),
        }
    }

    fn text(&self, posterior: &Posterior, suspects: &Suspects, end: SearchEnd, series: &Series) -> String {
        let mut out = self.headline(posterior, suspects, end);
        out.push_str("\n\n  commit    date        first to differ    pairs  Elo against GOOD\n");
        for (place, commit) in self.commits.iter().enumerate() {
            let pairs = &self.pairs[place];
            let told = match (&self.skipped[place], self.same_as(place), place) {
                (Some(why), ..) => format!("skipped: {}", printable(why)),
                (None, _, 0) => "GOOD".to_owned(),
                (None, Some(other), _) if pairs.pairs() == 0 => {
                    format!("the program of {}", short_hash(&self.commits[other].id))
                }
                (None, None, _) if pairs.pairs() == 0 => "-".to_owned(),
                (None, ..) => figures::estimate(elo::logistic(pairs)),
            };
            let mark = if end == SearchEnd::Found && suspects.commits.contains(&place) { ">" } else { " " };
            // Writing into memory cannot fail.
            let _ = writeln!(
                out,
                "{mark} {}  {}  {:>13} %  {:>7}  {told}  {}",
                short_hash(&commit.id),
                commit.date,
                fixed(100.0 * posterior.first[place], 1),
                pairs.pairs(),
                printable(&commit.subject)
            );
        }
        let _ = writeln!(out, "\n{} pairs in all, kept in {}", self.spent(), series.root().display());
        out
    }
}
