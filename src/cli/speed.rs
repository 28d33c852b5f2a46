//! `quintain speed`: speed of one program against another.

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use serde_json::json;

use crate::plan::affinity::Affinity;
use crate::run::resolve::networks;
use crate::run::speed::{self, Cost, MeasuredProgram, SpeedMeasurement, SpeedSettings, Workload};
use crate::run::{Exit, progress};
use crate::settings::{RawPlan, value};
use crate::source::{self, Context, ResolvedEngine};
use crate::stats::median;
use crate::stats::speed::{FEWEST_ROUNDS, SpeedVerdict, Speedup};

/// Waiting share from which a warning is printed: the machine is busy.
const BUSY: f64 = 0.1;

const EXAMPLES: &str = "\
Both programs run their `bench` in turns, bound to one CPU, and the CPU time of each run is \
measured. A round is one run of each; a coin decides which goes first. The result is the \
Hodges-Lehmann estimate of the rounds' log ratios with the 95 % interval of Wilcoxon's signed \
ranks, as a difference in speed of NEW against BASE: +2 % is 2 % more nodes a second. The interval \
holds on a busy machine too, but is wider there: CPU time leaves out the time that a run waits for \
a CPU, not what other programs do to caches, clock frequency and hyper-threads. The start of the \
program counts too.

Both have to search the same number of nodes, which is what a non-functional change does. Two \
networks (--new-net, --base-net) search different trees, so the cost of a node is compared. A \
network that is set as an option needs --depth, because a bench does not read it. A \
program without a bench searches positions of the built-in book to --depth N.

Exit code: 0 NEW is faster, 1 it is slower, 3 the interval contains zero. With 95 % intervals, \
one of 20 comparisons of equal programs ends with 0 or 1.

Examples:
  quintain speed                                  the working tree against its default base
  quintain speed git:my-branch git:main
  quintain speed ./new ./old --rounds 200 --width 0.3
  quintain speed stockfish ./stockfish-patched --bench 'bench 16 1 13'
  quintain speed --new-net wide.nnue              a network against the one of the tree
  quintain speed ./new ./old --depth 12 --option Hash=64 --json

JSON: `new`, `base` (`name, sha256, nodes, seconds, nps`: medians), `rounds`, `speed` (`percent, \
lo, hi, deviation`), `instructions`, `cycles` (the same, or null where the system does not count \
them; + is fewer), `answer` (faster|slower|open), `cpus`, `waiting`.";

/// Is NEW faster than BASE? Runs both in turns and compares their CPU time.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES, allow_negative_numbers = true)]
pub(super) struct SpeedArgs {
    /// The engine whose speed is in question [default: `.`, the working tree].
    #[arg(value_name = "NEW")]
    new: Option<String>,
    /// The engine it is compared with [default: the last commit with other engine sources].
    #[arg(value_name = "BASE")]
    base: Option<String>,
    /// Rounds at most, from 6.
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = rounds)]
    rounds: usize,
    /// End once the interval is this narrow: half its width, in percent.
    #[arg(long, value_name = "PERCENT")]
    width: Option<f64>,
    /// Arguments of the bench [default: those of the recipe, or `bench`].
    #[arg(long, value_name = "WORDS", conflicts_with = "depth")]
    bench: Option<String>,
    /// Search to this depth by UCI instead of the bench.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    depth: Option<u32>,
    /// A UCI option of both, with --depth; may be repeated.
    #[arg(long = "option", value_name = "NAME=VALUE", value_parser = value::option, requires = "depth")]
    options: Vec<(String, String)>,
    /// A network for both, built in or set as an option as their recipes say.
    #[arg(long, value_name = "FILE")]
    net: Option<PathBuf>,
    /// A network for NEW alone; without BASE both are then the same engine.
    #[arg(long, value_name = "FILE")]
    new_net: Option<PathBuf>,
    /// A network for BASE alone.
    #[arg(long, value_name = "FILE")]
    base_net: Option<PathBuf>,
    /// CPUs that each run is bound to: auto (one), off, or a list such as 2,3.
    #[arg(long, value_name = "CPUS", default_value = "auto")]
    affinity: String,
    /// Decides which program goes first.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

fn rounds(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(rounds @ FEWEST_ROUNDS..=100_000) => Ok(rounds),
        _ => Err(format!("write a number from {FEWEST_ROUNDS} to 100000")),
    }
}

pub(super) fn run(args: &SpeedArgs) -> Result<Exit> {
    if args.width.is_some_and(|width| !(width > 0.0 && width.is_finite())) {
        bail!("--width: write a number of percent above 0");
    }
    let settings = SpeedSettings {
        work: match args.depth {
            Some(depth) => Workload::Depth(depth, args.options.clone()),
            None => Workload::Bench(args.bench.clone()),
        },
        rounds: args.rounds,
        width: args.width,
        affinity: args.affinity.parse::<Affinity>().context("--affinity")?,
        seed: args.seed,
    };
    let context = Context::from_env()?;
    let new = args.new.as_deref().unwrap_or(".");
    let nets = [&args.new_net, &args.base_net];
    let raw =
        RawPlan { net: args.net.clone(), new_net: nets[0].clone(), base_net: nets[1].clone(), ..RawPlan::default() };
    let nets = networks::of_sides(&raw, &context)?;
    let base = match &args.base {
        Some(base) => base.clone(),
        None if networks::differ(&nets) => new.to_owned(),
        None => source::default_base(&context, new, &mut progress::step)
            .context("BASE is missing, and cannot be found automatically")?,
    };
    let [new, base] = [(new, &nets[0]), (&base, &nets[1])]
        .map(|(spec, net)| source::resolve_with(spec, net.as_ref(), &context, &mut progress::step));
    let engines = [new?, base?];
    engines.iter().try_for_each(|engine| networks::check_typed(engine, &args.options))?;
    let is_same = |one: &ResolvedEngine, other: &ResolvedEngine| {
        one.origin.sha256 == other.origin.sha256 && one.args == other.args && one.options == other.options
    };
    if is_same(&engines[0], &engines[1]) {
        progress::warn("both are the same program: the result is the noise of this machine");
    }
    let names = names(&engines);
    let measured = speed::measure(engines, &settings)?;
    if measured.waiting > BUSY {
        progress::warn(&format!(
            "the runs waited {:.0} % of the time for a CPU or a disk: the machine is busy, so the interval is wider",
            measured.waiting * 100.0
        ));
    }
    progress::result(&if args.json { to_json(&measured)? } else { text(&measured, &names, settings.width) });
    Ok(match measured.time.answer() {
        SpeedVerdict::Faster => Exit::Done,
        SpeedVerdict::Slower => Exit::Failed,
        SpeedVerdict::Open => Exit::Inconclusive,
    })
}

/// Names of the programs, or their specs if the names are the same.
fn names(engines: &[ResolvedEngine; 2]) -> [String; 2] {
    let [new, base] = engines;
    if new.name == base.name && new.origin.spec != base.origin.spec {
        [new.origin.spec.clone(), base.origin.spec.clone()]
    } else {
        [new.name.clone(), base.name.clone()]
    }
}

/// Median CPU time of a run, in seconds.
fn seconds(side: &MeasuredProgram) -> f64 {
    median(side.costs.iter().map(|cost: &Cost| cost.cpu.as_secs_f64()).collect()).unwrap_or(0.0)
}

/// Nodes per second of CPU time.
fn nps(side: &MeasuredProgram) -> f64 {
    let seconds = seconds(side);
    if seconds > 0.0 { side.nodes as f64 / seconds } else { 0.0 }
}

fn text(measured: &SpeedMeasurement, names: &[String; 2], wanted: Option<f64>) -> String {
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(4);
    let mut text = format!("{:<width$}  {:>12}  {:>9}  {:>12}\n", "", "nodes", "CPU s", "nodes/s");
    for (side, name) in measured.sides.iter().zip(names) {
        let _ = writeln!(text, "{name:<width$}  {:>12}  {:>9.4}  {:>12.0}", side.nodes, seconds(side), nps(side));
    }
    if measured.sides[0].nodes != measured.sides[1].nodes {
        text += "\nThe networks lead to different searches: what follows is the cost of a node.\n";
    }
    let found = &measured.time;
    let interval = |found: &Speedup| format!("{:+.2} % [{:+.2}, {:+.2}]", found.percent, found.lo, found.hi);
    let verdict = match found.answer() {
        SpeedVerdict::Faster => format!("{} is faster", names[0]),
        SpeedVerdict::Slower => format!("{} is slower", names[0]),
        SpeedVerdict::Open => "no difference shown".to_owned(),
    };
    let _ = writeln!(text, "\nspeed         {}  {verdict}", interval(found));
    for (label, count) in [("instructions", &measured.instructions), ("cycles", &measured.cycles)] {
        if let Some(count) = count {
            let _ = writeln!(text, "{label:<12}  {}  (+ is fewer)", interval(count));
        }
    }
    let cpus = match measured.cpus.as_slice() {
        [] => "not bound to a CPU".to_owned(),
        [cpu] => format!("CPU {cpu}"),
        cpus => format!("CPUs {}", cpus.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")),
    };
    let _ = write!(text, "{} rounds, {cpus}, 95 % interval", found.rounds);
    let wanted = wanted.unwrap_or(0.5);
    let needed = found.rounds_for(wanted);
    if found.half_width() > wanted && needed <= 1e5 {
        let _ = write!(text, "; for +-{wanted} % about {needed:.0} rounds are needed (--rounds)");
    }
    text
}

fn to_json(measured: &SpeedMeasurement) -> Result<String> {
    let side = |side: &MeasuredProgram| {
        json!({
            "name": side.engine.name,
            "sha256": side.engine.origin.sha256,
            "nodes": side.nodes,
            "seconds": seconds(side),
            "nps": nps(side),
        })
    };
    let speedup = |found: &Speedup| json!({ "percent": found.percent, "lo": found.lo, "hi": found.hi, "deviation": found.deviation });
    let document = json!({
        "new": side(&measured.sides[0]),
        "base": side(&measured.sides[1]),
        "rounds": measured.time.rounds,
        "speed": speedup(&measured.time),
        "instructions": measured.instructions.as_ref().map(speedup),
        "cycles": measured.cycles.as_ref().map(speedup),
        "answer": match measured.time.answer() {
            SpeedVerdict::Faster => "faster",
            SpeedVerdict::Slower => "slower",
            SpeedVerdict::Open => "open",
        },
        "cpus": measured.cpus,
        "waiting": measured.waiting,
    });
    Ok(serde_json::to_string_pretty(&document)?)
}
