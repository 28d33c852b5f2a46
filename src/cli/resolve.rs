//! From what was typed to a [`Plan`]: defaults filled in, values checked, engines built, the book read.

use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use indicatif::{ProgressBar, ProgressStyle};

use crate::chess::Variant;
use crate::cli::{progress, records, run};
use crate::plan::config::RawPlan;
use crate::plan::openings::Book;
use crate::plan::openings::order::Order;
use crate::plan::rules::{DrawRule, ResignRule, Rules};
use crate::plan::time_control::Limit;
use crate::plan::{BookRef, BookSource, Machine, Origin, Plan, Player, Test, Timeouts};
use crate::schedule::affinity::{self, Topology};
use crate::source::{self, Context, Resolved};
use crate::stats::sprt::{Bounds, Model, Sprt};
use crate::uci::process::EngineConfig;

/// The clock of a test unless told otherwise.
const DEFAULT_TC: &str = "8+0.08";

/// The hypotheses unless told otherwise, in normalized Elo.
const DEFAULT_BOUNDS: [f64; 2] = [0.0, 5.0];

/// Both error rates unless told otherwise.
const DEFAULT_ERROR: f64 = 0.05;

/// Engine failures that a run may have unless told otherwise.
const DEFAULT_MAX_FAILURES: u64 = 10;

/// `ELO0,ELO1`.
pub(super) fn bounds(text: &str) -> Result<[f64; 2]> {
    let parse = |part: &str| part.trim().parse::<f64>().ok();
    match text.split_once(',').map(|(low, high)| (parse(low), parse(high))) {
        Some((Some(low), Some(high))) => Ok([low, high]),
        _ => bail!("--bounds `{text}`: two numbers with a comma between them, such as 0,5"),
    }
}

/// `NAME=VALUE` words; a button needs no value.
pub(super) fn options(words: &[String]) -> Result<Vec<(String, String)>> {
    words
        .iter()
        .map(|word| match word.split_once('=') {
            Some((name, value)) if !name.trim().is_empty() => Ok((name.trim().to_owned(), value.trim().to_owned())),
            None if !word.trim().is_empty() => Ok((word.trim().to_owned(), String::new())),
            _ => bail!("--option `{word}`: write NAME=VALUE, such as Hash=16"),
        })
        .collect()
}

/// `90s`, `30m`, `8h`, or plain seconds.
pub(super) fn time(key: &str, text: &str) -> Result<Duration> {
    let (number, unit) = match text.trim().split_at_checked(text.trim().len().saturating_sub(1)) {
        Some((number, "s")) => (number, 1.0),
        Some((number, "m")) => (number, 60.0),
        Some((number, "h")) => (number, 3600.0),
        _ => (text.trim(), 1.0),
    };
    let seconds = number.parse::<f64>().ok().map(|number| number * unit);
    match seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()) {
        Some(time) if !time.is_zero() => Ok(time),
        _ => bail!("{key} `{text}`: write a time such as 90s, 30m or 8h"),
    }
}

fn seconds(key: &str, value: f64) -> Result<Duration> {
    match Duration::try_from_secs_f64(value) {
        Ok(time) => Ok(time),
        Err(_) => bail!("{key} `{value}`: a number of seconds, 0 or more"),
    }
}

fn positive_seconds(key: &str, value: f64) -> Result<Duration> {
    match seconds(key, value)? {
        Duration::ZERO => bail!("{key} 0 gives no engine the time to answer; give a positive number of seconds"),
        time => Ok(time),
    }
}

/// The limits of `new` and `base`.
fn limits(raw: &RawPlan) -> Result<[Limit; 2]> {
    let untimed = raw.nodes.is_some() || raw.depth.is_some() || raw.movetime.is_some();
    if [&raw.tc, &raw.new_tc, &raw.base_tc].iter().any(|tc| tc.is_some()) && raw.movetime.is_some() {
        bail!("a clock and a fixed time a move exclude each other; leave out --tc or --movetime");
    }
    let fixed = Limit {
        clock: None,
        movetime: raw.movetime.map(|value| seconds("--movetime", value)).transpose()?,
        nodes: raw.nodes,
        depth: raw.depth,
    };
    if raw.nodes == Some(0) || raw.depth == Some(0) || fixed.movetime.is_some_and(|time| time.is_zero()) {
        bail!("a limit of 0 leaves no search; give --nodes, --depth or --movetime a positive value");
    }
    let common = raw.tc.as_deref().or((!untimed).then_some(DEFAULT_TC));
    let side = |own: Option<&str>, key: &str| -> Result<Limit> {
        let clock =
            own.or(common).map(|text| text.parse().map_err(|error| anyhow::anyhow!("{key}: {error}"))).transpose()?;
        Ok(Limit { clock, ..fixed })
    };
    Ok([side(raw.new_tc.as_deref(), "--new-tc")?, side(raw.base_tc.as_deref(), "--base-tc")?])
}

/// `none` takes back what a plan file says.
fn rule<T: std::str::FromStr<Err: std::error::Error + Send + Sync + 'static>>(text: Option<&str>) -> Result<Option<T>> {
    match text {
        None | Some("none") => Ok(None),
        Some(text) => Ok(Some(text.parse()?)),
    }
}

fn rules(raw: &RawPlan) -> Result<Rules> {
    let margin = raw.margin_ms.unwrap_or(10.0);
    Ok(Rules {
        variant: if raw.chess960 == Some(true) { Variant::Chess960 } else { Variant::Standard },
        draw: rule::<DrawRule>(raw.draw.as_deref())?,
        resign: rule::<ResignRule>(raw.resign.as_deref())?,
        max_plies: raw.max_plies,
        margin: seconds("--margin-ms", margin / 1e3)?,
        stall_timeout: positive_seconds("--stall-timeout", raw.stall_timeout.unwrap_or(60.0))?,
    })
}

fn test(raw: &RawPlan) -> Result<Test> {
    let [elo0, elo1] = raw.bounds.unwrap_or(DEFAULT_BOUNDS);
    let test = Test {
        bounds: Bounds { elo0, elo1 },
        model: raw.model.as_deref().map(str::parse::<Model>).transpose()?.unwrap_or(Model::Normalized),
        alpha: raw.alpha.unwrap_or(DEFAULT_ERROR),
        beta: raw.beta.unwrap_or(DEFAULT_ERROR),
    };
    // Says what is wrong with the numbers, before an engine is built for them.
    Sprt::new(test.bounds, test.model, test.alpha, test.beta)?;
    Ok(test)
}

fn book(raw: &RawPlan, variant: Variant, seed: u64) -> Result<(BookRef, Book)> {
    let source = match &raw.book {
        None => BookSource::Builtin,
        // Absolute: `resume` may be called in another folder.
        Some(path) => BookSource::File(
            std::path::absolute(path).with_context(|| format!("--book `{}`: no such place", path.display()))?,
        ),
    };
    if variant == Variant::Chess960 && raw.book.is_none() {
        bail!("the book inside the program is for standard chess; give a Chess960 book with --book");
    }
    let book = run::read_book(&source, raw.book_plies, variant)?;
    let order = match raw.book_order.as_deref() {
        None | Some("random") => Order::Random { seed },
        Some("sequential") => Order::Sequential,
        Some(other) => bail!("--book-order `{other}`: random or sequential"),
    };
    let openings = book.len() as u64;
    let start = raw.book_start.unwrap_or(1);
    if start == 0 || start > openings {
        bail!("--book-start {start}: the book has openings 1 to {openings}");
    }
    let reference =
        BookRef { source, sha256: book.sha256().to_owned(), openings, order, start: start - 1, plies: raw.book_plies };
    Ok((reference, book))
}

/// Resolves a test of two engines.
pub(super) fn sprt(raw: RawPlan) -> Result<(Plan, Book)> {
    // Everything cheap is checked before anything is built.
    let test = test(&raw)?;
    let limits = limits(&raw)?;
    let rules = rules(&raw)?;
    let max_time = raw.max_time.as_deref().map(|text| time("--max-time", text)).transpose()?;
    let recording = records::recording(&raw)?;
    if raw.max_pairs == Some(0) {
        bail!("--max-pairs 0 plays nothing; leave it out for no limit");
    }
    let topology = Topology::detect();
    let concurrency = match raw.concurrency {
        Some(0) => bail!("--concurrency 0 plays nothing; 1 is the least"),
        Some(games) => games,
        None => topology.default_concurrency(1),
    };
    let timed = limits.iter().any(Limit::is_timed) && raw.force_concurrency != Some(true);
    affinity::check_concurrency(concurrency, 1, timed, &topology)?;
    let seed = raw.seed.unwrap_or_else(random_seed);
    let (book, openings) = book(&raw, rules.variant, seed)?;
    let players = players(&raw, limits)?;
    let mut plan = Plan {
        name: raw.name.clone().unwrap_or_else(|| "sprt".to_owned()),
        players,
        book,
        seed,
        rules,
        test,
        max_pairs: raw.max_pairs,
        max_time,
        concurrency,
        affinity: raw.affinity == Some(true),
        restart: raw.restart == Some(true),
        void_disturbed: raw.void_disturbed == Some(true),
        max_failures: raw.max_failures.unwrap_or(DEFAULT_MAX_FAILURES),
        timeouts: timeouts(&raw)?,
        recording,
        machine: machine(&topology),
    };
    // What a recipe or the registry says of an engine's threads is known only now.
    if raw.concurrency.is_none() {
        plan.concurrency = topology.default_concurrency(plan.threads());
    }
    affinity::check_concurrency(plan.concurrency, plan.threads(), timed, &topology)?;
    Ok((plan, openings))
}

/// The deadlines besides the clock.
fn timeouts(raw: &RawPlan) -> Result<Timeouts> {
    let Some(limit) = raw.start_timeout else { return Ok(Timeouts::default()) };
    let limit = positive_seconds("--start-timeout", limit)?;
    Ok(Timeouts { start: limit, ready: limit, new_game: limit, ..Timeouts::default() })
}

/// One engine as it is to be started, for commands that play no match: found or built, with the options typed for it.
pub(super) fn one_engine(spec: &str, typed: &[String]) -> Result<EngineConfig> {
    let typed = options(typed)?;
    let found = source::resolve(spec, &Context::from_env()?, &mut |step| progress::note(step))?;
    let mut options = found.options;
    for (name, value) in typed {
        options.retain(|(known, _)| !known.eq_ignore_ascii_case(&name));
        options.push((name, value));
    }
    Ok(EngineConfig {
        name: found.name,
        program: found.program,
        args: found.args,
        dir: found.dir,
        options,
        timeouts: Timeouts::default(),
        ..EngineConfig::default()
    })
}

/// Builds or finds both engines.
fn players(raw: &RawPlan, [new_limit, base_limit]: [Limit; 2]) -> Result<Vec<Player>> {
    let context = Context::from_env()?;
    let spinner = ProgressBar::new_spinner().with_style(
        ProgressStyle::with_template("{spinner} {msg}").unwrap_or_else(|_| ProgressStyle::default_spinner()),
    );
    spinner.enable_steady_tick(Duration::from_millis(120));
    let mut progress = |text: &str| spinner.set_message(text.to_owned());
    let new_spec = raw.new.as_deref().unwrap_or(".");
    let new = source::resolve(new_spec, &context, &mut progress).with_context(|| format!("new `{new_spec}`"))?;
    let base_spec = match &raw.base {
        Some(spec) => spec.clone(),
        None => source::default_base(&context, new_spec).context("base")?,
    };
    let base = source::resolve(&base_spec, &context, &mut progress).with_context(|| format!("base `{base_spec}`"))?;
    spinner.finish_and_clear();
    let mut players = vec![
        player(new, &context, new_limit, [&raw.options, &raw.new_options]),
        player(base, &context, base_limit, [&raw.options, &raw.base_options]),
    ];
    // Two players of one name would be one player to every reader of the PGN.
    if players[0].name == players[1].name {
        players[0].name.push_str("-new");
        players[1].name.push_str("-base");
    }
    Ok(players)
}

fn player(found: Resolved, context: &Context, limit: Limit, typed: [&Vec<(String, String)>; 2]) -> Player {
    let mut options = found.options;
    // What was typed wins over what the engine's own files say, and a side's own over both sides'.
    for (name, value) in typed.into_iter().flatten() {
        options.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        options.push((name.clone(), value.clone()));
    }
    Player {
        name: found.name,
        program: found.program,
        args: found.args,
        // Said, and not left to where the harness is: `resume` may be called in another folder.
        dir: Some(found.dir.unwrap_or_else(|| context.cwd.clone())),
        options,
        limit,
        origin: Origin {
            spec: found.spec,
            commit: found.commit,
            tree: found.tree,
            dirty: found.dirty,
            recipe: found.recipe,
            toolchain: found.toolchain,
            sha256: found.sha256,
            bench_nodes: found.bench_nodes,
        },
    }
}

/// A seed nobody chose: from the time and this process, mixed by the standard library's hasher keys.
fn random_seed() -> u64 {
    use std::hash::{BuildHasher as _, Hasher as _};
    let mut hasher = std::hash::RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    // 53 bits, so that every JSON reader keeps it whole.
    hasher.finish() >> 11
}

fn machine(topology: &Topology) -> Machine {
    let first = |path: &str, key: &str| {
        let text = std::fs::read_to_string(path).ok()?;
        let line = text.lines().find(|line| line.starts_with(key))?;
        Some(line.split_once([':', '='])?.1.trim().trim_matches('"').to_owned())
    };
    Machine {
        cpu: first("/proc/cpuinfo", "model name").unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
        cores: topology.physical_cores(),
        os: first("/etc/os-release", "PRETTY_NAME").unwrap_or_else(|| std::env::consts::OS.to_owned()),
    }
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

    #[test]
    fn bounds_and_options() {
        assert_eq!(bounds("-3,1").ok(), Some([-3.0, 1.0]));
        assert!(bounds("5").is_err() && bounds("a,b").is_err());
        let words = ["Hash=16".to_owned(), "Clear Hash".to_owned(), "Path=a=b".to_owned()];
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(options(&words).ok(), Some(vec![pair("Hash", "16"), pair("Clear Hash", ""), pair("Path", "a=b")]));
        assert!(options(&["=1".to_owned()]).is_err());
    }
}
