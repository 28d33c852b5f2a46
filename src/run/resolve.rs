//! Resolution of settings to a [`Plan`]: fills in defaults, checks values, builds engines, reads
//! the book.

mod missing;
pub(crate) mod networks;
pub(crate) mod obeyed;
mod rules;
mod workers;

use std::path::Path;
use std::time::Duration;

use crate::chess::Variant;
use crate::openings::Book;
use crate::openings::order::Order;
use crate::plan::affinity::Affinity;
use crate::plan::time_control::Limit;
use crate::plan::{BookRef, BookSource, Format, Plan, Player, SIMULATED, Test, Timeouts, Workers, override_options};
use crate::run::building::Building;
use crate::run::error::{Result, ResultContext as _, RunError, fail};
use crate::run::resolve::networks::NetworkInputs;
use crate::run::{prepare, progress, records};
use crate::schedule::affinity::{self, Topology};
use crate::schedule::capacity::{self, Demand, Supply};
use crate::settings::{self, RawPlan, RawPlayer, value};
use crate::source::{self, Context, NetworkFile, ResolvedEngine};
use crate::stats::sprt::{Bounds, Model, Sprt};
use crate::text::{count, printable};
use crate::tournament::formats::race::{Race, RaceRule};
use crate::tournament::formats::round_robin::RoundRobin;
use crate::uci::process::EngineConfig;

/// Default clock of a test.
const DEFAULT_TC: &str = "8+0.08";

/// Default hypotheses in normalized Elo.
const DEFAULT_BOUNDS: [f64; 2] = [0.0, 5.0];

/// Default of both error rates.
const DEFAULT_ERROR: f64 = 0.05;

/// Default pairs per encounter.
const DEFAULT_PAIRS: u64 = 50;

/// Default of the most pairs per candidate of a race.
const DEFAULT_RACE_PAIRS: u64 = 2_000;

/// Default pairs of a tuning without another end.
pub(crate) const DEFAULT_TUNING_PAIRS: u64 = 10_000;

/// Maximum number of pairs of a run, far more than anyone plays.
pub(crate) const MAX_PAIRS: u64 = 10_000_000;

/// Maximum number of players of a match.
const MAX_PLAYERS: u16 = 1_000;

/// Default number of engine failures after which a run stops.
pub(crate) const DEFAULT_MAX_FAILURES: u64 = 10;

/// Default percentage of games that may be lost on time.
const DEFAULT_MAX_TIME_LOSSES: f64 = 10.0;

/// Parses a time: `90s`, `30m`, `8h`, or plain seconds.
pub(crate) fn time(key: &str, text: &str) -> Result<Duration> {
    let (number, unit) = match text.trim().split_at_checked(text.trim().len().saturating_sub(1)) {
        Some((number, "s")) => (number, 1.0),
        Some((number, "m")) => (number, 60.0),
        Some((number, "h")) => (number, 3600.0),
        _ => (text.trim(), 1.0),
    };
    let seconds = number.parse::<f64>().ok().map(|number| number * unit);
    match seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()) {
        Some(time) if !time.is_zero() => Ok(time),
        _ => fail!(Setting, "{key} `{text}`: write a time such as 90s, 30m or 8h"),
    }
}

fn seconds(key: &str, value: f64) -> Result<Duration> {
    match Duration::try_from_secs_f64(value) {
        Ok(time) => Ok(time),
        Err(_) => fail!(Setting, "{key} `{value}`: a number of seconds, 0 or more"),
    }
}

fn positive_seconds(key: &str, value: f64) -> Result<Duration> {
    match seconds(key, value)? {
        Duration::ZERO => {
            fail!(Setting, "{key} 0 gives no engine the time to answer; give a positive number of seconds")
        }
        time => Ok(time),
    }
}

/// Limit of a move as the user wrote it, of one player or of all.
#[derive(Clone, Copy, Debug, Default)]
struct RawLimit<'a> {
    tc: Option<&'a str>,
    movetime: Option<f64>,
    nodes: Option<u64>,
    depth: Option<u32>,
}

impl<'a> RawLimit<'a> {
    fn of_all(raw: &'a RawPlan) -> Self {
        Self { tc: raw.tc.as_deref(), movetime: raw.movetime, nodes: raw.nodes, depth: raw.depth }
    }

    fn of_player(player: &'a RawPlayer) -> Self {
        Self { tc: player.tc.as_deref(), movetime: player.movetime, nodes: player.nodes, depth: player.depth }
    }

    const fn is_empty(&self) -> bool {
        self.tc.is_none() && self.movetime.is_none() && self.nodes.is_none() && self.depth.is_none()
    }

    /// Checks the limit and fills in the default clock if it is empty. `key` is the flag of the
    /// clock.
    fn resolve(self, key: &str) -> Result<Limit> {
        if self.tc.is_some() && self.movetime.is_some() {
            fail!(Setting, "a clock and a fixed time a move exclude each other; leave out --tc or --movetime");
        }
        let movetime = self.movetime.map(|value| seconds("--movetime", value)).transpose()?;
        let is_zero = movetime.is_some_and(|time| time.is_zero());
        let zeros = [("nodes", self.nodes == Some(0)), ("depth", self.depth == Some(0)), ("movetime", is_zero)];
        if let Some((flag, _)) = zeros.into_iter().find(|(_, is_zero)| *is_zero) {
            fail!(Setting, "a limit of 0 leaves no search; give --{flag} a positive value");
        }
        let tc = self.tc.or(self.is_empty().then_some(DEFAULT_TC));
        let clock =
            tc.map(|text| text.parse().map_err(|error| RunError::Setting(format!("{key}: {error}")))).transpose()?;
        Ok(Limit { clock, movetime, nodes: self.nodes, depth: self.depth })
    }
}

/// Returns the limits of `new` and `base`.
pub(crate) fn limits(raw: &RawPlan) -> Result<[Limit; 2]> {
    let all = RawLimit::of_all(raw);
    let side = |own: Option<&str>, key: &str| match own {
        Some(own) => RawLimit { tc: Some(own), ..all }.resolve(key),
        None => all.resolve("--tc"),
    };
    Ok([side(raw.new_tc.as_deref(), "--new-tc")?, side(raw.base_tc.as_deref(), "--base-tc")?])
}

pub(crate) fn test(raw: &RawPlan) -> Result<Test> {
    let [elo0, elo1] = raw.bounds.unwrap_or(DEFAULT_BOUNDS);
    let test = Test {
        bounds: Bounds { elo0, elo1 },
        model: raw
            .model
            .as_deref()
            .map(|text| text.parse().map_err(RunError::value("--model")))
            .transpose()?
            .unwrap_or(Model::Normalized),
        alpha: raw.alpha.unwrap_or(DEFAULT_ERROR),
        beta: raw.beta.unwrap_or(DEFAULT_ERROR),
    };
    // Checks the numbers before an engine is built for them.
    Sprt::new(test.bounds, test.model, test.alpha, test.beta)?;
    Ok(test)
}

fn book(raw: &RawPlan, variant: Variant, seed: u64) -> Result<(BookRef, Book)> {
    let source = match &raw.book {
        None => BookSource::Builtin,
        // Absolute, because `resume` may run in another directory.
        Some(path) => BookSource::File(
            std::path::absolute(path).within(|| format!("--book `{}`: no such place", path.display()))?,
        ),
    };
    if variant == Variant::Chess960 && raw.book.is_none() {
        fail!(Setting, "chess960: the book inside the program is for standard chess; give a Chess960 book with --book");
    }
    let book = match prepare::read_book(&source, raw.book_plies, variant) {
        // The book inside the program has no flag.
        Err(RunError::Book(error)) if raw.book.is_some() => return Err(RunError::value("--book")(error)),
        read => read?,
    };
    let order = match raw.book_order.as_deref() {
        None | Some("random") => Order::Random { seed },
        Some("sequential") => Order::Sequential,
        Some(other) => fail!(Setting, "--book-order `{other}`: write random or sequential"),
    };
    let openings = book.len() as u64;
    let start = raw.book_start.unwrap_or(1);
    if start == 0 || start > openings {
        fail!(Setting, "--book-start {start}: the book has openings 1 to {openings}");
    }
    let reference =
        BookRef { source, sha256: book.sha256().to_owned(), openings, order, start: start - 1, plies: raw.book_plies };
    Ok((reference, book))
}

/// Properties of a run that differ by command.
pub(crate) struct Shape {
    /// Default name of the run.
    name: &'static str,
    format: Format,
    test: Option<Test>,
    max_pairs: Option<u64>,
    /// Limits in the order of the players.
    limits: Vec<Limit>,
}

/// Resolves a test of two engines.
pub(crate) fn sprt(raw: &RawPlan) -> Result<(Plan, Book)> {
    finish(raw, sprt_shape(raw)?, |limits| players(raw, limits))
}

/// Checks settings as far as that needs no engine.
pub(crate) fn check(raw: &RawPlan, shape: Shape) -> Result<()> {
    // The engine that the times are scaled by is known once it is found.
    finish(&RawPlan { scale: None, ..raw.clone() }, shape, |_| Ok(Vec::new())).map(|_| ())
}

/// Shape of a test.
pub(crate) fn sprt_shape(raw: &RawPlan) -> Result<Shape> {
    refuse(raw, "sprt", "a test")?;
    if raw.max_pairs == Some(0) {
        fail!(Setting, "--max-pairs 0 plays nothing; leave it out for no limit");
    }
    if raw.base.is_some() && raw.base_from.is_some() {
        fail!(Setting, "--base names the base, and --base-from where to search for one; leave out one of them");
    }
    if let Some(budget) = &raw.budget {
        time("--budget", budget)?;
        if matches!(workers::read(raw)?, Some(Workers::Hub(_))) {
            fail!(
                Setting,
                "--budget {budget}: nobody knows how many of a hub's workers will play; give --bounds and --max-time"
            );
        }
    }
    Ok(Shape {
        name: "sprt",
        format: Format::new(RoundRobin),
        test: Some(test(raw)?),
        max_pairs: raw.max_pairs,
        limits: limits(raw)?.to_vec(),
    })
}

/// Resolves games between any number of engines. `name` is the default name of the run.
pub(crate) fn games(raw: &RawPlan, name: &'static str) -> Result<(Plan, Book)> {
    refuse(raw, "match", "a match")?;
    let raw = &missing::without(raw)?;
    finish(raw, games_shape(raw, name)?, |limits| entrants(raw, limits))
}

/// Shape of a match or a gauntlet.
pub(crate) fn games_shape(raw: &RawPlan, name: &'static str) -> Result<Shape> {
    refuse(raw, "match", "a match")?;
    // A run with `until-width` needs no other end.
    let max_pairs = pairs(raw)?.or_else(|| raw.until_width.is_none().then_some(DEFAULT_PAIRS));
    let all = RawLimit::of_all(raw);
    let limit = |player: &RawPlayer| match RawLimit::of_player(player) {
        own if own.is_empty() => all.resolve("--tc"),
        own => own.resolve("players.tc"),
    };
    Ok(Shape {
        name,
        format: format(raw)?,
        test: None,
        max_pairs,
        limits: raw.players.iter().map(limit).collect::<Result<_>>()?,
    })
}

/// Pairs that the settings name, if any.
fn pairs(raw: &RawPlan) -> Result<Option<u64>> {
    match raw.pairs {
        Some(0) => fail!(Setting, "--pairs 0 plays nothing; the minimum is 1"),
        Some(pairs) if pairs > MAX_PAIRS => fail!(Setting, "--pairs {pairs}: {MAX_PAIRS} is the most"),
        pairs => Ok(pairs),
    }
}

/// Checks the settings that all matches of a series share, before anything is built.
pub(crate) fn series(raw: &RawPlan) -> Result<(Limit, Variant)> {
    refuse(raw, "match", "a match")?;
    let limit = RawLimit::of_all(raw).resolve("--tc")?;
    let shape =
        Shape { name: "series", format: Format::new(RoundRobin), test: None, max_pairs: None, limits: vec![limit] };
    // It names an engine, and these are not known yet.
    let raw = RawPlan { scale: None, ..raw.clone() };
    let (plan, _) = finish(&raw, shape, |_| Ok(Vec::new()))?;
    Ok((limit, plan.rules.variant))
}

/// Engine of a tuning, the folders in which it was found, and its network.
pub(crate) type TunedEngine = (ResolvedEngine, Context, Option<NetworkFile>);

/// Resolves a tuning's plan except its parameters and its format. The only player is the engine.
/// `found` finds or builds it after all cheap checks.
pub(crate) fn tuned(raw: &RawPlan, found: impl FnOnce() -> Result<TunedEngine>) -> Result<(Plan, Book)> {
    let shape = tune_shape(raw)?;
    let limit = shape.limits[0];
    finish(raw, shape, |_| {
        let (found, context, network) = found()?;
        obeyed::check(&found, limit)?;
        let player = Player { limit, ..player(found, &context, [&raw.options, &Vec::new()]) };
        networks::check(&player, network.as_ref())?;
        Ok(vec![player])
    })
}

/// Shape of a tuning.
pub(crate) fn tune_shape(raw: &RawPlan) -> Result<Shape> {
    refuse(raw, "tune", "a tuning")?;
    // A time limit or a flat result ends it as well.
    let has_end = raw.max_time.is_some() || raw.until_flat == Some(true);
    let max_pairs = pairs(raw)?.or_else(|| (!has_end).then_some(DEFAULT_TUNING_PAIRS));
    let limit = RawLimit::of_all(raw).resolve("--tc")?;
    Ok(Shape { name: "tune", format: Format::new(RoundRobin), test: None, max_pairs, limits: vec![limit] })
}

/// Resolves a race of all players after the first one against the first.
pub(crate) fn race(raw: &RawPlan, rule: RaceRule) -> Result<(Plan, Book)> {
    finish(raw, race_shape(raw, rule)?, |limits| entrants(raw, limits))
}

/// Shape of a race.
pub(crate) fn race_shape(raw: &RawPlan, rule: RaceRule) -> Result<Shape> {
    let max_pairs = pairs(raw)?.unwrap_or(DEFAULT_RACE_PAIRS);
    if raw.players.len() > usize::from(MAX_PLAYERS) {
        fail!(Setting, "{} players: {MAX_PLAYERS} is the most", raw.players.len());
    }
    let all = RawLimit::of_all(raw).resolve("--tc")?;
    Ok(Shape {
        name: "race",
        format: Format::new(Race { rule }),
        test: None,
        max_pairs: Some(max_pairs),
        limits: vec![all; raw.players.len()],
    })
}

/// Refuses a plan with keys that `command` does not have, and names the command that has them.
pub(crate) fn refuse(raw: &RawPlan, command: &str, what: &str) -> Result<()> {
    let set = raw.table()?;
    match settings::keys().iter().find(|key| !key.is_of(command) && set.contains_key(&key.name)) {
        None => Ok(()),
        Some(key) => {
            let fits = |name: &&str| settings::keys().iter().all(|key| key.is_of(name) || !set.contains_key(&key.name));
            let mut all = key.commands().iter().map(String::as_str);
            let first = all.clone().next();
            let other = all.find(fits).or(first).unwrap_or("match");
            fail!(
                Setting,
                "{}: {what} does not have this key; remove it, or play the plan with `quintain {other}`",
                key.name
            )
        }
    }
}

/// Resolves the tournament format.
fn format(raw: &RawPlan) -> Result<Format> {
    let given = raw.players.len();
    let players = u16::try_from(given).ok().filter(|players| *players <= MAX_PLAYERS);
    let Some(players) = players else { fail!(Setting, "{given} players: {MAX_PLAYERS} is the most") };
    if players < 2 {
        fail!(Setting, "{}: a match needs at least two", count(players.into(), "player"));
    }
    Ok(Format::choose(raw.format.as_deref(), &raw.format_parameters(), players)?)
}

/// Resolves the settings that every plan has. All cheap checks come before `players` builds the
/// engines.
fn finish(raw: &RawPlan, shape: Shape, players: impl FnOnce(&[Limit]) -> Result<Vec<Player>>) -> Result<(Plan, Book)> {
    let rules = rules::rules(raw)?;
    let recording = records::recording(raw)?;
    let max_time = raw.max_time.as_deref().map(max_time).transpose()?;
    let until_width = until_width(raw, &shape.format)?;
    let affinity = raw
        .affinity
        .as_deref()
        .map(|text| text.parse::<Affinity>().map_err(RunError::value("--affinity")))
        .transpose()?;
    let affinity = affinity.unwrap_or_default();
    let topology = Topology::detect();
    let workers = workers::read(raw)?;
    let asked = workers.as_ref().map(Workers::games).or(raw.concurrency);
    let concurrency = match asked {
        Some(games) => some_games(games)?,
        None => topology.default_concurrency(1),
    };
    let timed = shape.limits.iter().any(Limit::is_timed);
    // The race that proves a tuning may have a clock of its own.
    let has_clock = raw.prove_tc.is_some() || shape.limits.iter().any(|limit| limit.clock.is_some());
    if rules.ponder && !has_clock {
        fail!(Setting, "--ponder has no effect without a clock; give one with --tc, or leave out --ponder");
    }
    let forced = raw.force_concurrency == Some(true);
    if !forced {
        affinity::check_concurrency(concurrency, 1, timed, &topology)?;
    }
    // Without a number of games it depends on the engines' threads, and is checked below.
    if asked.is_some() {
        affinity::check_cpus(concurrency, 1, &affinity, &topology)?;
    }
    capacity::check(concurrency, 0, Demand::least(), Supply::claim())?;
    let seed = raw.seed.unwrap_or_else(random_seed);
    let (book, openings) = book(raw, rules.variant, seed)?;
    let timeouts = timeouts(raw)?;
    workers::check_scale(raw, timed)?;
    let verify = workers::verified(raw, timed)?;
    let note = raw.note.as_deref().map(|note| one_line("--note", note)).transpose()?;
    let name = raw.name.as_deref().map(|name| one_line("--name", name)).transpose()?;
    let max_time_losses = raw.max_time_losses.as_deref().map_or(Ok(DEFAULT_MAX_TIME_LOSSES), max_time_losses)?;
    let players = players(&shape.limits)?;
    rules::check_chess960(&players, rules.variant)?;
    let scale = workers::scale(raw, &players, shape.test.is_some())?;
    let mut name = name.unwrap_or_else(|| shape.name.to_owned());
    if workers.as_ref().is_some_and(Workers::are_simulated) {
        // It appears in reports, lists, PGN and the run's folder.
        name = format!("{SIMULATED}: {name}");
    }
    let mut plan = Plan {
        note,
        format: shape.format,
        test: shape.test,
        max_pairs: shape.max_pairs,
        max_time,
        until_width,
        concurrency,
        workers,
        scale,
        verify,
        affinity,
        restart: raw.restart == Some(true),
        void_disturbed: raw.void_disturbed == Some(true),
        max_time_losses,
        max_failures: raw.max_failures.unwrap_or(DEFAULT_MAX_FAILURES),
        timeouts,
        recording,
        ..Plan::new(name, players, book, seed, rules, topology.machine())
    };
    if plan.verify.is_some() && plan.threads() > 1 {
        fail!(
            Setting,
            "--verify compares games, and engines with several threads play others each time; set Threads to 1"
        );
    }
    // The number of threads that a recipe or the registry sets is known only now.
    if asked.is_none() {
        plan.concurrency = topology.default_concurrency(plan.threads());
    }
    if !forced {
        affinity::check_concurrency(plan.concurrency, plan.threads(), timed, &topology)?;
    }
    affinity::check_cpus(plan.concurrency, plan.threads(), &plan.affinity, &topology)?;
    Ok((plan, openings))
}

/// Checks and returns the interval width at which a run stops.
fn until_width(raw: &RawPlan, format: &Format) -> Result<Option<f64>> {
    let Some(width) = raw.until_width else { return Ok(None) };
    if !(width.is_finite() && width > 0.0) {
        fail!(Setting, "--until-width {width}: a positive number of Elo, as in 5");
    }
    if format.definition().ends_with_rounds {
        fail!(
            Setting,
            "--until-width: a {} ends with its last round; leave it out, or play a round robin",
            format.name()
        );
    }
    Ok(Some(width))
}

/// Returns a number of games at once, unless it is zero.
pub(crate) fn some_games(concurrency: u16) -> Result<u16> {
    if concurrency == 0 {
        fail!(Setting, "--concurrency 0 plays nothing; the minimum is 1");
    }
    Ok(concurrency)
}

/// Parses the time of `--max-time`.
pub(crate) fn max_time(text: &str) -> Result<Duration> {
    time("--max-time", text)
}

/// Parses the share of `--max-time-losses`, in percent.
pub(crate) fn max_time_losses(text: &str) -> Result<f64> {
    percent("--max-time-losses", "games", text)
}

/// Parses a share such as `5%`, in percent.
fn percent(flag: &str, of: &str, text: &str) -> Result<f64> {
    let number = text.trim().strip_suffix('%').unwrap_or(text).trim();
    match number.parse::<f64>() {
        Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(percent),
        _ => fail!(Setting, "{flag} `{text}`: a share of the {of} in percent, as in 5%"),
    }
}

/// Resolves the timeouts besides the clock.
fn timeouts(raw: &RawPlan) -> Result<Timeouts> {
    let Some(limit) = raw.start_timeout else { return Ok(Timeouts::default()) };
    let limit = positive_seconds("--start-timeout", limit)?;
    Ok(Timeouts { start: limit, ready: limit, new_game: limit, ..Timeouts::default() })
}

/// Finds or builds one engine with its options and its network, if it has one of the user's, for
/// commands that play no match. Its searches will have this limit.
pub(crate) fn one_engine(spec: &str, typed: &[String], net: Option<&Path>, limit: Limit) -> Result<EngineConfig> {
    let option =
        |word: &String| value::option(word).map_err(|why| RunError::Setting(format!("--option `{word}`: {why}")));
    let typed: Vec<_> = typed.iter().map(option).collect::<Result<_>>()?;
    let context = Context::from_env()?;
    let network = net.map(|net| networks::keep("--net", net, &context)).transpose()?;
    let found = source::resolve_with(spec, network.as_ref(), &context, &mut progress::step)?;
    obeyed::check(&found, limit)?;
    networks::check_typed(&found, &typed)?;
    Ok(found.config().with_options(&typed))
}

/// Finds or builds both engines of a test.
fn players(raw: &RawPlan, limits: &[Limit]) -> Result<Vec<Player>> {
    let limit = |place: usize| limits.get(place).copied().unwrap_or_default();
    let building = Building::begin(2)?;
    let new_spec = raw.new.as_deref().unwrap_or(".");
    let networks = networks::of_sides(raw, &building.context)?;
    let in_one_program = networks::in_one_program(raw, &networks)?;
    let [new_network, base_network] = networks.each_ref().map(Option::as_ref);
    let new = building.engine(1, "new", new_spec, new_network)?;
    obeyed::check(&new, limit(0))?;
    let new = Player { limit: limit(0), ..player(new, &building.context, [&raw.options, &raw.new_options]) };
    networks::check(&new, new_network)?;
    let as_base =
        |found| Player { limit: limit(1), ..player(found, &building.context, [&raw.options, &raw.base_options]) };
    let base = match &raw.base {
        Some(spec) => building.engine(2, "base", spec, base_network)?,
        None if in_one_program => building.engine(2, "base", new_spec, base_network)?,
        None => building.other(2, (new_spec, raw.base_from.as_deref()), base_network, |found| {
            raw.allow_same != Some(true) && limit(0) == limit(1) && new.is_same_engine(&as_base(found.clone()))
        })?,
    };
    obeyed::check(&base, limit(1))?;
    let base = as_base(base);
    networks::check(&base, base_network)?;
    let change = source::change(&building.context, &new.origin, &base.origin);
    // If only limits or options differ, the subject of the commit is not the change.
    let build = |player: &Player| (player.origin.commit.clone(), player.origin.dirty);
    let has_network = |player: &Player| player.origin.network.is_some();
    let is_one_build = build(&new) == build(&base) && !has_network(&new) && !has_network(&base);
    let mut players = vec![new, base];
    if change.is_some() || is_one_build {
        players[0].origin.subject = change;
    }
    for (player, name) in players.iter_mut().zip([&raw.new_name, &raw.base_name]) {
        call(player, name.as_deref())?;
    }
    // The names must differ, because PGN readers identify players by them.
    if players[0].name == players[1].name {
        players[0].name.push_str("-new");
        players[1].name.push_str("-base");
    }
    Ok(players)
}

/// Finds or builds the engines of a match.
fn entrants(raw: &RawPlan, limits: &[Limit]) -> Result<Vec<Player>> {
    let building = Building::begin(raw.players.len())?;
    let mut networks = NetworkInputs::new(raw, &building.context);
    let mut players: Vec<Player> = Vec::new();
    for ((number, entrant), limit) in (1..).zip(&raw.players).zip(limits) {
        let spec = spec_of(number, entrant)?;
        let network = networks.of("players.net", entrant.net.as_ref())?;
        let found = building.engine(number, "player", spec, network.as_ref())?;
        obeyed::check(&found, *limit)?;
        let mut player = Player { limit: *limit, ..player(found, &building.context, [&raw.options, &entrant.options]) };
        networks::check(&player, network.as_ref())?;
        call(&mut player, entrant.name.as_deref())?;
        players.push(player);
    }
    distinguish(&mut players);
    Ok(players)
}

/// Source of the engine of a `[[players]]` table, by its number from 1.
pub(crate) fn spec_of(number: usize, player: &RawPlayer) -> Result<&str> {
    match &player.spec {
        Some(spec) => Ok(spec),
        None => {
            fail!(Setting, "player {number} has no `spec`: give the source of its engine, as in spec = \"./my-engine\"")
        }
    }
}

/// Checks that a text is one non-empty line.
pub(crate) fn one_line(key: &str, text: &str) -> Result<String> {
    if text.trim().is_empty() || text.contains(char::is_control) {
        fail!(Setting, "{key} {text:?}: give one line that is not empty, or leave it out");
    }
    Ok(text.trim().to_owned())
}

/// Sets a player's name to the requested one, if any.
fn call(player: &mut Player, name: Option<&str>) -> Result<()> {
    let Some(name) = name else { return Ok(()) };
    if name.trim().is_empty() || name.contains(char::is_control) {
        fail!(Setting, "{name:?} is not a player's name: give one line that is not empty, or leave it out");
    }
    name.clone_into(&mut player.name);
    Ok(())
}

/// Adds a number, from 2, to duplicate names.
pub(crate) fn distinguish(players: &mut [Player]) {
    for place in 1..players.len() {
        let (before, rest) = players.split_at_mut(place);
        let is_taken = |name: &str| before.iter().any(|player| player.name == name);
        if is_taken(&rest[0].name) {
            let free = (2u32..).map(|number| format!("{}_{number}", rest[0].name)).find(|name| !is_taken(name));
            rest[0].name = free.unwrap_or_default();
        }
    }
}

fn player(found: ResolvedEngine, context: &Context, typed: [&Vec<(String, String)>; 2]) -> Player {
    let mut options = found.options;
    // Typed options override those of the engine's own files, and a player's own override those of
    // all.
    override_options(&mut options, typed.into_iter().flatten().cloned());
    Player {
        name: printable(&found.name),
        program: found.program,
        args: found.args,
        // Stored, because `resume` may run in another directory.
        dir: Some(found.dir.unwrap_or_else(|| context.cwd.clone())),
        options,
        origin: found.origin,
        ..Player::default()
    }
}

/// Returns a random seed: a hash of the process id with the standard library's random keys.
pub(crate) fn random_seed() -> u64 {
    use std::hash::{BuildHasher as _, Hasher as _};
    let mut hasher = std::hash::RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    // 53 bits, so that JSON readers keep it exactly.
    hasher.finish() >> 11
}

/// Name of this machine's processor.
pub(crate) fn cpu() -> String {
    Topology::detect().machine().cpu
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        let cases = [("90s", Some(90)), ("30m", Some(1_800)), ("8h", Some(28_800)), ("7", Some(7)), ("0", None)];
        for (text, expected) in cases {
            assert_eq!(time("--max-time", text).ok(), expected.map(Duration::from_secs), "{text}");
        }
        for text in ["", "h", "-1s", "nan", "1e400h", "5d"] {
            assert!(time("--max-time", text).is_err(), "{text}");
        }
    }

    #[test]
    fn limits_default_to_a_clock_only_where_nothing_else_bounds_a_move() {
        let shown = |raw: RawPlan| limits(&raw).map(|both| both.map(|limit| limit.to_string())).ok();
        let both = |text: &str| Some([text.to_owned(), text.to_owned()]);
        assert_eq!(shown(RawPlan::default()), both("8+0.08"));
        assert_eq!(shown(RawPlan { nodes: Some(5), ..RawPlan::default() }), both("nodes=5"));
        let odds = RawPlan { tc: Some("2+0.02".into()), base_tc: Some("1+0.01".into()), ..RawPlan::default() };
        assert_eq!(shown(odds), Some(["2+0.02".to_owned(), "1+0.01".to_owned()]));
        assert_eq!(shown(RawPlan { tc: Some("8".into()), movetime: Some(1.0), ..RawPlan::default() }), None);
        assert_eq!(shown(RawPlan { nodes: Some(0), ..RawPlan::default() }), None);
    }
}
