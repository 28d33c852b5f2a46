//! `quintain progress`: ratings of an engine's versions.

pub(super) mod play;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use chrono::DateTime;
use serde_json::json;

use crate::cli::flags::RunFlags;
use crate::cli::picture::{PictureFormat, check_folder};
use crate::cli::rate;
use crate::cli::runs::run_parser;
use crate::files::{open_regular, write_atomically};
use crate::plan::{Network, Player};
use crate::report::collection::{Collection, RunPlayer};
use crate::report::plot::Sheet;
use crate::report::progress::{Curve, Version, first_days};
use crate::report::results::Results;
use crate::run::notify::Receivers;
use crate::run::{Exit, progress, rated};
use crate::settings::AnyCommand;
use crate::source::{self, Context, Spec};
use crate::stats::Pentanomial;
use crate::stats::progress::{Progress, progress as rate_versions};
use crate::stats::rating::EncounterCounts;
use crate::text::{count, printable, short_hash};

const EXAMPLES: &str = "\
Examples:
  quintain progress results/runs/*                              every version that was ever played, by its commit
  quintain progress results/runs/* --at 8+0.08                  the same, with the games of one time control
  quintain progress games.pgn --sparring Stockfish --out elo.svg
  quintain progress results/runs/* --out elo.csv
  quintain progress results/runs/* --json
  quintain progress --revs v1.0..main --vs stockfish --nodes 20000 --limit 5000 --out elo.svg

In a run a version is a player built from `.` or git:REV; in a PGN one whose name is, or ends in, \
a commit of the repository, and if there is none, every player but those of --sparring. Versions \
stand in the order of their commits, else by date. All games are rated together (see `quintain \
rate`, also for the folders of `tune` and `bisect`), so games against sparring partners count as \
well; the first version is 0.

Games count once, and only games of one condition (such as 8+0.08 or nodes=2000) are taken together, \
unless --mix is given; --at chooses one (see `quintain rate`). Games with a network for all players \
(--net) are of a condition of their own, such as `nodes=2000 net-1a2b3c4d`.

The change from each version to the next is tested against none at all, by Student's law; \
p-values are corrected over all steps (Holm), so that the probability of any mark by chance alone \
is at most --alpha.

With --revs A..B the commits of that range that touch the engine's sources (the first-parent \
line; at most --versions of them) are built and play, each against the one before and against \
--vs, in batches, always for the step of the curve that is least certain, until every step is \
known to +/- --width Elo or --limit pairs are played. Games in --runs count; the same command \
continues there.

JSON of --conditions: a list of `condition` and `games`.

JSON: `versions` (`version, commit, date, subject, elo, elo_error, elo_lo, elo_hi, bound, games, \
score`), `steps` (`from, to, elo, elo_error, p, p_adjusted, mark (drop|gain|open)`), `anchor, \
level, games, sparring, conditions, skipped_games, given_again, repeated_games`. Intervals are of \
95 %; null stands for what is not known.";

/// Elo of each version over its commits or dates, with error bands; says which drops are real.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES, allow_negative_numbers = true)]
#[command(mut_arg("out", |arg| arg.value_name("FILE").help("File for the curve: .svg, .png, .html, .json or .csv")))]
#[command(mut_arg("json", |arg| arg.help("Print the curve as one JSON document")))]
#[command(mut_args(of_playing))]
pub(super) struct ProgressArgs {
    /// PGN files, also packed by gzip or zstd, and runs (directories, ids or `latest`); players of
    /// the same commit or name are one.
    #[arg(value_name = "FILE.pgn|RUN", value_parser = run_parser())]
    inputs: Vec<PathBuf>,
    /// A player that is not a version; may be repeated.
    #[arg(long = "sparring", value_name = "NAME", help_heading = "Versions")]
    sparring: Vec<String>,
    /// commit or date [default: commit, if all are known].
    #[arg(long, value_name = "ORDER", help_heading = "Versions")]
    order: Option<String>,
    /// Repository of the commits [default: the repository of the current directory].
    #[arg(long, value_name = "PATH", help_heading = "Versions")]
    repository: Option<String>,
    /// Probability that any change is marked if there is none.
    #[arg(long, value_name = "P", default_value_t = 0.05, help_heading = "Versions")]
    alpha: f64,
    /// Count only the games of this condition, named as in the list of conditions.
    #[arg(long, value_name = "CONDITION", conflicts_with = "mix", help_heading = "Versions")]
    at: Option<String>,
    /// Rate games of different conditions together.
    #[arg(long, help_heading = "Versions")]
    mix: bool,
    /// Only list the conditions, with their numbers of games.
    #[arg(long, conflicts_with_all = ["at", "mix", "out", "revs"], help_heading = "Versions")]
    conditions: bool,
    /// Draw the curve of --out 360 pixels wide, for a phone.
    #[arg(long, help_heading = "Versions")]
    narrow: bool,
    /// Build and play the versions in this range of commits, if games are missing.
    #[arg(long, value_name = "A..B", help_heading = "Playing")]
    revs: Option<String>,
    /// Maximum number of versions, evenly spread over the range, first and last included.
    #[arg(long, value_name = "N", default_value_t = 40, help_heading = "Playing")]
    versions: usize,
    /// A sparring partner of every version; may be repeated.
    #[arg(long = "vs", value_name = "SPEC", help_heading = "Playing")]
    partners: Vec<String>,
    /// Directory of the matches of --revs.
    #[arg(long, value_name = "DIR", default_value = "results/progress", help_heading = "Playing")]
    runs: PathBuf,
    /// Pairs of each match, after which the curve is computed again.
    #[arg(long, value_name = "N", default_value_t = 20, help_heading = "Playing")]
    pairs: u64,
    /// Maximum number of pairs to play in this call.
    #[arg(long, value_name = "N", default_value_t = 2000, help_heading = "Playing")]
    limit: u64,
    /// Precision of each step: half the width of its 95 % interval, in Elo.
    #[arg(long, value_name = "ELO", default_value_t = 15.0, help_heading = "Playing")]
    width: f64,
    #[command(flatten)]
    flags: RunFlags<AnyCommand>,
}

/// Makes the flags for games of --revs require it, because without it they would have no effect,
/// and hides those that it always refuses.
fn of_playing(arg: clap::Arg) -> clap::Arg {
    let is_of_curve = matches!(arg.get_help_heading(), None | Some("Versions"));
    let is_refused = ["until_width", "name"].contains(&arg.get_id().as_str());
    let arg = arg.hide(is_refused);
    if is_of_curve || ["revs", "out", "json"].contains(&arg.get_id().as_str()) { arg } else { arg.requires("revs") }
}

/// Origin of a player's program.
#[derive(Clone, Debug)]
struct ProgramOrigin {
    commit: String,
    place: Option<String>,
    dirty: bool,
}

/// SHA-256 of a program, and the options that it is played with.
type ProgramKey = (String, Vec<(String, String)>);

/// All games, with the origins and first days of their players.
#[derive(Clone, Debug, Default)]
pub(super) struct GatheredGames {
    collection: Collection,
    made: HashMap<String, ProgramOrigin>,
    days: HashMap<String, String>,
    /// Versions by program.
    programs: BTreeMap<ProgramKey, BTreeSet<String>>,
}

impl GatheredGames {
    /// Adds a PGN file or a run.
    pub(super) fn add(&mut self, input: &Path) -> Result<()> {
        if input.is_dir() {
            return self.add_run(input);
        }
        rate::add_pgn(input, open_regular, &mut self.collection)?;
        let text = rate::pgn_text(input, open_regular)?;
        for (name, day) in first_days(text).with_context(|| format!("{}: cannot read it", input.display()))? {
            self.seen(&name, day);
        }
        Ok(())
    }

    fn add_run(&mut self, input: &Path) -> Result<()> {
        let (dir, plan) = rated::open(input)?;
        let mut first: Option<std::time::Duration> = None;
        let games = dir.rated_games(&plan, |game| {
            first = Some(first.map_or(game.started, |first| first.min(game.started)));
        })?;
        let names = keys(&plan.players);
        let day = first.and_then(|at| DateTime::from_timestamp(i64::try_from(at.as_secs()).ok()?, 0));
        for (name, player) in names.iter().zip(&plan.players) {
            if let Some(day) = day {
                self.seen(name, day.format("%Y-%m-%d").to_string());
            }
            if let Some(made) = made(player, &plan.players) {
                if !player.origin.sha256.is_empty() {
                    let program = (player.origin.sha256.clone(), player.options.clone());
                    self.programs.entry(program).or_default().insert(name.clone());
                }
                self.made.insert(name.clone(), made);
            }
        }
        let players: Vec<RunPlayer<'_>> = names
            .iter()
            .zip(&plan.players)
            .map(|(key, player)| {
                let network = player.origin.network.as_ref().map_or("", Network::short);
                RunPlayer { name: &player.name, key, limit: player.limit, network }
            })
            .collect();
        self.collection.add_run(games, &players);
        Ok(())
    }

    /// Games of the curve: those of one condition, unless conditions are mixed.
    pub(super) fn results(&self, args: &ProgressArgs) -> Result<Results> {
        let known = self.collection.conditions();
        // The condition of games that --revs is yet to play is not known here.
        let is_yet_to_come = args.revs.is_some() && args.at.as_ref().is_some_and(|at| !known.contains_key(at));
        if known.is_empty() || is_yet_to_come {
            return Ok(Results::default());
        }
        let pools = rate::chosen(&self.collection, args.at.as_deref())?;
        match pools[..] {
            [] => Ok(Results::default()),
            [(_, results)] => Ok(results.clone()),
            _ => bail!(
                "these games are of {} conditions: {}; give --at with one of them, or --mix to rate them together",
                pools.len(),
                rate::listed(&self.collection)
            ),
        }
    }

    /// Refuses to play at a condition whose games would not count together with the existing ones.
    pub(super) fn is_at(&self, args: &ProgressArgs, condition: &str) -> Result<()> {
        if let Some(at) = args.at.as_deref().filter(|at| *at != condition) {
            bail!("--at `{at}`: --revs would play at `{condition}`; give the limits of `{at}`, or leave out --at");
        }
        let known = self.collection.conditions();
        if args.mix || args.at.is_some() || known.keys().all(|known| known == condition) {
            return Ok(());
        }
        bail!(
            "--revs would play at `{condition}`, and there are {}; give --at `{condition}` to leave those out, or --mix",
            rate::listed(&self.collection)
        )
    }

    /// Refuses games of a search that were not played at its condition: its posterior would count
    /// them as if they were.
    pub(super) fn check_reused(&self, condition: &str) -> Result<()> {
        if self.collection.conditions().keys().all(|known| known == condition) {
            return Ok(());
        }
        bail!(
            "--reuse: this search plays at `{condition}`, and those games are of {}; give their limits, or leave them out",
            rate::listed(&self.collection)
        )
    }

    /// Pairs between two commits, given by full id, from the view of the first.
    pub(super) fn met(&self, a: &str, b: &str) -> Pentanomial {
        let mut all = Pentanomial::default();
        for (_, results) in self.collection.pools() {
            let names = results.names();
            let place = |commit: &str| names.iter().position(|name| *name == short_hash(commit));
            let Some(pair) = place(a).zip(place(b)) else { continue };
            for met in results.encounters() {
                let pairs = match (met.a, met.b) {
                    met_by if met_by == pair => met.pentanomial(),
                    met_by if met_by == (pair.1, pair.0) => met.pentanomial().reversed(),
                    _ => continue,
                };
                all += pairs;
            }
        }
        all
    }

    /// Warnings about steps between two versions of one program. They stay two, because a commit
    /// that takes another one back is a version of its own.
    fn empty_steps(&self, versions: &[Version]) -> Vec<String> {
        let are_one = |two: &&[Version]| {
            self.programs.values().any(|names| two.iter().all(|version| names.contains(&version.label)))
        };
        let line = |two: &[Version]| {
            let [before, after] = [&two[0], &two[1]].map(|version| printable(&version.label));
            format!("{before} and {after} are one program with the same options, so the step between them is chance")
        };
        versions.windows(2).filter(are_one).map(line).collect()
    }

    fn seen(&mut self, name: &str, day: String) {
        let first = self.days.entry(name.to_owned()).or_insert_with(|| day.clone());
        if day < *first {
            *first = day;
        }
    }

    /// Players that are versions, in order.
    fn versions(&self, results: &Results, args: &ProgressArgs, context: &Context) -> Result<Vec<Version>> {
        let names = results.names();
        for name in &args.sparring {
            if !names.contains(name) {
                bail!("--sparring `{name}`: no such player in these games");
            }
        }
        let played: BTreeSet<usize> =
            results.encounters().iter().flat_map(|met: &EncounterCounts| [met.a, met.b]).collect();
        let candidates: Vec<usize> =
            played.into_iter().filter(|player| !args.sparring.contains(&names[*player])).collect();
        let asked: Vec<String> =
            candidates.iter().map(|&player| self.revision(&names[player]).unwrap_or_default()).collect();
        let place = match &args.repository {
            Some(place) => Some(place.clone()),
            None => candidates.iter().find_map(|&player| self.made.get(&names[player])?.place.clone()),
        };
        let known = source::known(context, place.as_deref(), &asked)?;
        let mut found: Vec<(usize, Version)> = Vec::new();
        for (&player, known) in candidates.iter().zip(known) {
            let name = &names[player];
            let made = self.made.get(name);
            let (rank, commit) = known.map_or((usize::MAX, None), |(rank, commit)| (rank, Some(commit)));
            found.push((
                rank,
                Version {
                    player,
                    label: name.clone(),
                    commit: commit.as_ref().map(|c| c.id.clone()).or_else(|| made.map(|made| made.commit.clone())),
                    date: commit.as_ref().map(|c| c.date.clone()).or_else(|| self.days.get(name).cloned()),
                    subject: commit.map(|commit| commit.subject),
                },
            ));
        }
        if found.iter().any(|(_, version)| version.commit.is_some()) {
            found.retain(|(_, version)| version.commit.is_some());
        }
        let by_commit = match args.order.as_deref() {
            None => found.iter().all(|(rank, _)| *rank != usize::MAX),
            Some("commit") => true,
            Some("date") => false,
            Some(other) => bail!("--order `{other}`: give commit or date"),
        };
        let is_dirty = |version: &Version| self.made.get(&version.label).is_some_and(|made| made.dirty);
        found.sort_by(|(rank, a), (other, b)| {
            // Unknown days come last.
            let days = (a.date.is_none(), &a.date).cmp(&(b.date.is_none(), &b.date));
            let commits = rank.cmp(other).then(is_dirty(a).cmp(&is_dirty(b)));
            if by_commit { commits.then(days) } else { days.then(commits) }.then(a.player.cmp(&b.player))
        });
        Ok(found.into_iter().map(|(_, version)| version).collect())
    }

    /// Revision by which Git may know a player.
    fn revision(&self, name: &str) -> Option<String> {
        if let Some(made) = self.made.get(name) {
            return Some(made.commit.clone());
        }
        let last = name.rsplit([' ', '-', '_', '.', '/']).next()?;
        let is_id = (7..=40).contains(&last.len()) && last.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        is_id.then(|| last.to_owned())
    }
}

/// Rating curve of these games.
pub(super) fn curve(results: &Results, players: &[usize], level: f64) -> Result<Progress> {
    let shared = results.shared_openings();
    Ok(rate_versions(results.names().len(), &results.encounters(), &shared, players, level)?)
}

/// Names of a plan's players across plans. A commit has the same name everywhere, unless it plays
/// against itself; uncommitted changes have that of their program.
fn keys(players: &[Player]) -> Vec<String> {
    let key = |player: &Player| {
        let made = made(player, players)?;
        // Two uncommitted changes of one commit are two programs.
        let program = player.origin.sha256.get(..6).unwrap_or_default();
        Some(
            short_hash(&made.commit).to_owned() + &if made.dirty { format!("-dirty-{program}") } else { String::new() },
        )
    };
    let keys: Vec<Option<String>> = players.iter().map(key).collect();
    let mut players_of: HashMap<&str, u64> = HashMap::new();
    for key in keys.iter().flatten() {
        *players_of.entry(key).or_default() += 1;
    }
    let is_alone = |key: &&String| players_of.get(key.as_str()).is_some_and(|players| *players == 1);
    keys.iter()
        .zip(players)
        .map(|(key, player)| key.as_ref().filter(is_alone).unwrap_or(&player.name).clone())
        .collect()
}

/// Origin of a player built from the working tree or a Git revision. Engines of the registry are
/// sparring partners, even if they are built from Git. So is a commit with a network that not all
/// players have: it is another engine.
fn made(player: &Player, players: &[Player]) -> Option<ProgramOrigin> {
    let network = &player.origin.network;
    if network.is_some() && players.iter().any(|other| other.origin.network != *network) {
        return None;
    }
    let place = match Spec::parse(&player.origin.spec).ok()? {
        Spec::Tree => None,
        Spec::Git { repository, .. } => repository,
        Spec::Program(_) => return None,
    };
    Some(ProgramOrigin { commit: player.origin.commit.clone()?, place, dirty: player.origin.dirty })
}

pub(super) fn run(args: &ProgressArgs) -> Result<Exit> {
    if !(args.alpha > 0.0 && args.alpha < 1.0) {
        bail!("--alpha {}: give a probability between 0 and 1", args.alpha);
    }
    let raw = args.flags.typed();
    let receivers = Receivers::of(raw)?;
    let form = raw.out.as_deref().map(CurveFormat::of).transpose()?;
    let mut gathered = GatheredGames { collection: Collection::new(args.mix), ..GatheredGames::default() };
    for input in rate::sources(&args.inputs) {
        gathered.add(&input)?;
    }
    if args.conditions {
        return print(&conditions(&gathered.collection, args.flags.json));
    }
    if args.revs.is_none() {
        gathered.results(args)?;
    }
    let context = Context::from_env()?;
    if let Some(range) = &args.revs {
        match play::play(args, range, raw, &mut gathered, &context)? {
            Exit::Done => {}
            exit => {
                let stopped = (json!({}), "stopped by a match that could not go on");
                receivers.tell_of("progress", stopped, &args.runs, exit);
                return Ok(exit);
            }
        }
    }
    rate::warn(gathered.collection.skipped());
    let results = gathered.results(args)?;
    let versions = gathered.versions(&results, args, &context)?;
    if versions.is_empty() {
        bail!("no finished games of any version; give PGN files or run directories");
    }
    gathered.empty_steps(&versions).iter().for_each(|line| progress::warn(line));
    let players: Vec<usize> = versions.iter().map(|version| version.player).collect();
    let progress = curve(&results, &players, args.alpha)?;
    let names = results.names();
    let conditions = gathered.collection.conditions();
    let conditions = conditions.keys().filter(|name| args.at.as_ref().is_none_or(|at| at == *name)).cloned().collect();
    let curve = Curve {
        names: &names,
        versions: &versions,
        progress: &progress,
        level: args.alpha,
        games: results.games(),
        conditions,
        skipped: gathered.collection.skipped(),
    };
    if let (Some(form), Some(path)) = (form, &raw.out) {
        let bytes = form.write(&curve, if args.narrow { Sheet::Narrow } else { Sheet::Wide })?;
        write_atomically(path, &bytes).with_context(|| format!("{}: cannot write it", path.display()))?;
        progress::note(&format!("wrote {}", path.display()));
    }
    if args.revs.is_some() {
        let headline = format!("the Elo of {} versions from {} games", versions.len(), results.games());
        receivers.tell_of("progress", (serde_json::from_str(&curve.json()?)?, &headline), &args.runs, Exit::Done);
    }
    print(&if args.flags.json { curve.json()? } else { curve.text() })
}

fn print(text: &str) -> Result<Exit> {
    progress::write(&mut std::io::stdout().lock(), text.as_bytes())?;
    Ok(Exit::Done)
}

/// Conditions of the games with their numbers, most games first.
fn conditions(collection: &Collection, is_json: bool) -> String {
    let mut all: Vec<(&String, &u64)> = collection.conditions().iter().collect();
    all.sort_by_key(|(_, games)| std::cmp::Reverse(**games));
    if is_json {
        let one = |(condition, games): &(&String, &u64)| json!({ "condition": condition, "games": games });
        return format!("{}\n", json!(all.iter().map(one).collect::<Vec<_>>()));
    }
    let line =
        |(condition, games): &(&String, &u64)| format!("{:>10}  {}\n", count(**games, "game"), printable(condition));
    all.iter().map(line).collect()
}

/// Format of the file of `--out`.
#[derive(Clone, Copy, Debug)]
enum CurveFormat {
    Picture(PictureFormat),
    Json,
    Csv,
}

impl CurveFormat {
    fn of(path: &Path) -> Result<Self> {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("json") => check_folder(path).map(|()| Self::Json),
            Some("csv") => check_folder(path).map(|()| Self::Csv),
            _ => PictureFormat::of(path, ".svg, .png, .html, .json or .csv").map(Self::Picture),
        }
    }

    fn write(self, curve: &Curve, sheet: Sheet) -> Result<Vec<u8>> {
        match self {
            Self::Picture(format) => format.write("Elo of the versions", &curve.svg(sheet), &curve.text()),
            Self::Json => Ok(curve.json()?.into_bytes()),
            Self::Csv => Ok(curve.csv().into_bytes()),
        }
    }
}
