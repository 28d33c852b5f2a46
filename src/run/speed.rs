//! Measurement of two programs' speed: the same work by both, in turns.
//!
//! The cost of a run is the CPU time of the engine's processes, so that a run loses nothing while
//! other programs have the CPU. What remains of the machine's noise (caches, clock frequency,
//! hyper-threads) changes slowly, and most of it is the same for the two runs of a round.

mod meter;

use std::time::Duration;

use crate::chess::Variant;
use crate::openings::builtin;
use crate::plan::affinity::Affinity;
use crate::run::error::{Result, fail};
use crate::run::prepare::{self, positions};
use crate::run::progress;
use crate::schedule::affinity::{Topology, check_cpus};
use crate::source::{Bench, ResolvedEngine};
use crate::stats::random::SplitMix64;
use crate::stats::speed::{FEWEST_ROUNDS, Speedup};
use crate::text::with_causes;
use crate::uci::Go;
use crate::uci::process::{Engine, EngineConfig, SearchOutcome};

pub(crate) use meter::Cost;
use meter::Meter;

/// Deadline of one run.
const LIMIT: Duration = Duration::from_mins(10);

/// Positions of the built-in book that an engine without a bench searches.
const POSITIONS: usize = 24;

/// Rounds before the width of the interval may end a measurement, and the factor between two looks
/// at it. An interval that ends the rounds at its first narrow moment is too narrow too often.
const LOOKS: (usize, f64) = (12, 1.2);

/// Rounds between two lines on the progress.
const TOLD: usize = 10;

/// Work that both programs do.
#[derive(Clone, Debug)]
pub(crate) enum Workload {
    /// The program's own bench: these arguments, or else those of its recipe.
    Bench(Option<String>),
    /// Searches to a depth, by UCI, with these options.
    Depth(u32, Vec<(String, String)>),
}

/// Settings of a measurement.
#[derive(Clone, Debug)]
pub(crate) struct SpeedSettings {
    pub(crate) work: Workload,
    /// Rounds at most; each runs both programs once.
    pub(crate) rounds: usize,
    /// Half the width of the interval, in percent, that ends the measurement.
    pub(crate) width: Option<f64>,
    /// CPUs of the runs.
    pub(crate) affinity: Affinity,
    /// Decides which program begins a round.
    pub(crate) seed: u64,
}

/// A measured program.
#[derive(Debug)]
pub(crate) struct MeasuredProgram {
    pub(crate) engine: ResolvedEngine,
    /// Nodes of every run.
    pub(crate) nodes: u64,
    /// Costs by round.
    pub(crate) costs: Vec<Cost>,
}

/// Result of a measurement, of the first program against the second.
#[derive(Debug)]
pub(crate) struct SpeedMeasurement {
    pub(crate) sides: [MeasuredProgram; 2],
    /// CPUs that the programs were bound to.
    pub(crate) cpus: Vec<usize>,
    /// Comparison by CPU time.
    pub(crate) time: Speedup,
    /// Comparison by instructions, if the system counts them.
    pub(crate) instructions: Option<Speedup>,
    /// Comparison by cycles, if the system counts them.
    pub(crate) cycles: Option<Speedup>,
    /// Time that the runs waited for a CPU or a disk, as a share of their wall time.
    pub(crate) waiting: f64,
}

/// Measures two programs. The first run of each warms caches up and is not counted.
///
/// # Errors
/// Returns an error if a run fails, or if the node counts differ though the networks do not: then
/// the programs do not do the same work.
pub(crate) fn measure(engines: [ResolvedEngine; 2], settings: &SpeedSettings) -> Result<SpeedMeasurement> {
    let topology = Topology::detect();
    check_cpus(1, 1, &settings.affinity, &topology)?;
    let cpus = topology.slots(&settings.affinity, 1);
    let cpus = match &settings.affinity {
        Affinity::Cpus(cpus) => cpus.clone(),
        _ => cpus.into_iter().next().unwrap_or_default(),
    };
    let runners = [runner(&engines[0], settings, &cpus)?, runner(&engines[1], settings, &cpus)?];
    let is_per_node = engines[0].origin.network != engines[1].origin.network;
    let [first, second] = engines;
    let mut sides = [first, second].map(|engine| MeasuredProgram { engine, nodes: 0, costs: Vec::new() });
    let mut firsts = [Cost::default(); 2];
    for ((side, runner), cost) in sides.iter_mut().zip(&runners).zip(&mut firsts) {
        progress::note(&format!("{}: first run, not counted", side.engine.name));
        (side.nodes, *cost) = runner.run()?;
    }
    if sides[0].nodes != sides[1].nodes && !is_per_node {
        for (side, runner) in sides.iter().zip(&runners) {
            same_work(side, runner.run()?.0)?;
        }
        fail!(
            Setting,
            "{} searches {} nodes and {} {}: they do not do the same work, so their times cannot be compared; `quintain sprt` finds out which is stronger",
            sides[0].engine.name,
            sides[0].nodes,
            sides[1].engine.name,
            sides[1].nodes
        );
    }
    for (side, cost) in sides.iter().zip(&firsts) {
        check_time(&side.engine.name, cost)?;
    }
    let seconds: f64 = firsts.iter().map(|cost| cost.wall.as_secs_f64()).sum();
    progress::note(&format!("up to {} rounds of about {seconds:.1} s", settings.rounds));
    let mut order = SplitMix64::new(settings.seed);
    let mut look = LOOKS.0;
    let mut time = None;
    for round in 1..=settings.rounds {
        let begins = order.below(2) as usize;
        for place in [begins, 1 - begins] {
            let side = &mut sides[place];
            let (nodes, cost) = runners[place].run()?;
            same_work(side, nodes)?;
            check_time(&side.engine.name, &cost)?;
            side.costs.push(cost);
        }
        if round != look && !round.is_multiple_of(TOLD) && round != settings.rounds {
            continue;
        }
        time = Speedup::of_rounds(&pairs(&sides, |cost| cost.cpu.as_secs_f64()));
        if round == look {
            look = (LOOKS.1 * look as f64).ceil() as usize;
            if settings.width.zip(time).is_some_and(|(width, found)| found.half_width() <= width) {
                break;
            }
        }
        tell(round, settings.rounds, time.as_ref());
    }
    let Some(time) = time else { fail!(Setting, "--rounds {}: at least {FEWEST_ROUNDS} are needed", settings.rounds) };
    let counted = |count: fn(&Cost) -> Option<u64>| {
        let all = sides.iter().flat_map(|side| &side.costs).all(|cost| count(cost).is_some());
        all.then(|| Speedup::of_rounds(&pairs(&sides, |cost| count(cost).unwrap_or(0) as f64))).flatten()
    };
    let (instructions, cycles) = (counted(|cost| cost.instructions), counted(|cost| cost.cycles));
    let sum = |part: fn(&Cost) -> Duration| sides.iter().flat_map(|side| &side.costs).map(part).sum::<Duration>();
    let (cpu, wall) = (sum(|cost| cost.cpu).as_secs_f64(), sum(|cost| cost.wall).as_secs_f64());
    let waiting = if wall > 0.0 { (1.0 - cpu / wall).max(0.0) } else { 0.0 };
    Ok(SpeedMeasurement { sides, cpus, time, instructions, cycles, waiting })
}

/// Returns an error for a run of other nodes than the first run of the same program.
fn same_work(side: &MeasuredProgram, nodes: u64) -> Result<()> {
    if nodes != side.nodes {
        fail!(
            Engine,
            "{} searched {} nodes and now {nodes}: its work is not the same each time; measure it with one thread",
            side.engine.name,
            side.nodes
        );
    }
    Ok(())
}

/// Returns an error for a run without any CPU time: the system counts in larger steps, or not at
/// all.
fn check_time(name: &str, cost: &Cost) -> Result<()> {
    if cost.cpu.is_zero() {
        fail!(
            Setting,
            "{name}: the system counted no CPU time for a run of {:.3} s; give it more work with --bench or --depth",
            cost.wall.as_secs_f64()
        );
    }
    Ok(())
}

/// Costs of a node by round. With equal node counts their ratios are those of the runs.
fn pairs(sides: &[MeasuredProgram; 2], part: impl Fn(&Cost) -> f64) -> Vec<(f64, f64)> {
    let [first, second] = sides.each_ref().map(|side| {
        let part = &part;
        side.costs.iter().map(move |cost| part(cost) / side.nodes.max(1) as f64)
    });
    first.zip(second).collect()
}

fn tell(round: usize, rounds: usize, time: Option<&Speedup>) {
    if let Some(found) = time.filter(|_| round.is_multiple_of(TOLD) && round < rounds) {
        progress::note(&format!("round {round}: {:+.2} % [{:+.2}, {:+.2}]", found.percent, found.lo, found.hi));
    }
}

/// Way to run a program's work once.
enum SpeedRunner {
    Bench(Bench),
    Depth { config: Box<EngineConfig>, cpus: Vec<usize>, depth: u32 },
}

fn runner(engine: &ResolvedEngine, settings: &SpeedSettings, cpus: &[usize]) -> Result<SpeedRunner> {
    match &settings.work {
        Workload::Bench(words) => {
            if words.as_ref().is_some_and(|words| words.trim().is_empty()) {
                fail!(Setting, "--bench: write the arguments of a bench, or use --depth N");
            }
            let words = words.as_ref().unwrap_or(&engine.bench);
            if words.trim().is_empty() {
                fail!(Setting, "{}: its recipe says that it has no bench; use --depth N", engine.name);
            }
            if let Some(option) = engine.origin.network.as_ref().and_then(|network| network.option.as_ref()) {
                fail!(
                    Setting,
                    "{}: its network is set by the option {option}, which a bench does not read; use --depth N",
                    engine.name
                );
            }
            let args = engine.args.iter().cloned().chain(words.split_whitespace().map(str::to_owned));
            Ok(SpeedRunner::Bench(Bench {
                program: engine.program.clone(),
                args: args.collect(),
                dir: engine.dir.clone(),
                cpus: cpus.to_vec(),
                limit: LIMIT,
            }))
        }
        Workload::Depth(depth, typed) => {
            let config = Box::new(engine.config().with_options(typed));
            Ok(SpeedRunner::Depth { config, cpus: cpus.to_vec(), depth: *depth })
        }
    }
}

impl SpeedRunner {
    /// Runs the program once. Returns its node count and the cost.
    fn run(&self) -> Result<(u64, Cost)> {
        let meter = Meter::start();
        let nodes = match self {
            Self::Bench(bench) => match bench.run() {
                Ok(nodes) => nodes,
                Err(error) => fail!(
                    Engine,
                    "{}; --bench names other arguments, and --depth N measures an engine that has no bench",
                    with_causes(&error)
                ),
            },
            Self::Depth { config, cpus, depth } => prepare::runtime()?.block_on(search(config, cpus, *depth))?,
        };
        Ok((nodes, meter.stop()))
    }
}

/// Starts the engine, searches positions of the built-in book to a depth, and ends it. Returns the
/// nodes of all searches.
async fn search(config: &EngineConfig, cpus: &[usize], depth: u32) -> Result<u64> {
    let lines = positions(&builtin::book(Variant::Standard)?, POSITIONS, Variant::Standard)?;
    let mut engine = Engine::start(config, cpus).await?;
    let go = Go { depth: Some(depth), ..Go::default() };
    let mut nodes: u64 = 0;
    for line in &lines {
        if let Err(fault) = engine.new_game().await {
            fail!(Engine, "engine {}: {fault}", config.name);
        }
        match engine.go(line.as_bytes(), &go, Some(LIMIT)).await {
            SearchOutcome::BestMove { info, .. } => match info.nodes {
                Some(count) => nodes = nodes.saturating_add(count),
                None => fail!(Engine, "engine {}: no `info` with `nodes` after `go depth {depth}`", config.name),
            },
            SearchOutcome::Overrun { elapsed, .. } => {
                fail!(
                    Engine,
                    "engine {}: no move within {} s after `go depth {depth}`; use a lower --depth",
                    config.name,
                    elapsed.as_secs()
                )
            }
            SearchOutcome::Exited { status, .. } => {
                let said = engine.last_words();
                fail!(Engine, "engine {}: {status} after `go depth {depth}`{said}", config.name)
            }
        }
    }
    engine.quit().await;
    Ok(nodes)
}
