//! Text, JSON and picture of `quintain scaling`.

use std::fmt::Write as _;

use anyhow::{Result, bail};
use serde_json::{Value, json};

use crate::report::plot::{Band, CurvePlot, Scale, stacked};
use crate::run::scaling::{IterationCosts, PositionSearch};
use crate::stats::scaling::{self, CostPath, DepthCost, Growth};
use crate::stats::speed::Speedup;
use crate::stats::{self, elo::fixed};
use crate::text::count;

/// Median nodes from which growth is measured. Smaller trees are noise.
const LEAST_NODES: f64 = 1000.0;

/// Median seconds from which growth is measured. Engines report whole milliseconds.
const LEAST_SECONDS: f64 = 0.02;

/// One kind of cost by depth.
struct Costs {
    depths: Vec<DepthCost>,
    growth: Option<Growth>,
}

impl Costs {
    fn of(paths: &[CostPath], least: f64) -> Self {
        Self { depths: scaling::by_depth(paths), growth: scaling::growth(paths, least) }
    }

    fn json(&self) -> Value {
        json!({ "growth": self.growth, "depths": self.depths })
    }
}

/// Results of an engine with a number of threads.
pub(super) struct EngineScaling {
    name: String,
    spec: String,
    threads: Option<u32>,
    /// Costs by position; `None` if the position is left out.
    found: Vec<Option<IterationCosts>>,
    mates: usize,
    early: usize,
    silent: usize,
    nodes: Costs,
    seconds: Costs,
    /// Speed-up of nodes a second, and of the time to a depth.
    speed_ups: Option<[Option<Speedup>; 2]>,
}

impl EngineScaling {
    /// Sums up the searches of an engine.
    ///
    /// # Errors
    /// Returns an error if no search gives anything to measure.
    pub(super) fn new(name: String, spec: String, threads: Option<u32>, searches: Vec<PositionSearch>) -> Result<Self> {
        let number = |what: &PositionSearch| searches.iter().filter(|search| *search == what).count();
        let (mates, early, silent) =
            (number(&PositionSearch::Mate), number(&PositionSearch::Early), number(&PositionSearch::Silent));
        if silent == searches.len() {
            bail!("engine {name}: it prints no `info` with `depth` and `score`, so there is nothing to measure");
        }
        let found: Vec<Option<IterationCosts>> = searches
            .into_iter()
            .map(|search| match search {
                PositionSearch::Path(costs) => Some(costs),
                _ => None,
            })
            .collect();
        if found.iter().flatten().next().is_none() {
            bail!(
                "engine {name}: no search can be used: {mates} found a mate, {early} ended before the depth, {silent} were silent"
            );
        }
        let paths = |of: fn(&IterationCosts) -> &CostPath| -> Vec<CostPath> {
            found.iter().flatten().map(|costs| of(costs).clone()).collect()
        };
        let nodes = Costs::of(&paths(|costs| &costs.nodes), LEAST_NODES);
        let seconds = Costs::of(&paths(|costs| &costs.seconds), LEAST_SECONDS);
        Ok(Self { name, spec, threads, found, mates, early, silent, nodes, seconds, speed_ups: None })
    }

    /// Warnings about missing reports of the engine.
    pub(super) fn doubts(&self) -> Vec<String> {
        let mut doubts = Vec::new();
        for (costs, word) in [(&self.nodes, "nodes"), (&self.seconds, "time")] {
            if costs.depths.is_empty() {
                doubts.push(format!(
                    "{}: no complete depth has `{word}` in its `info`; that half is empty",
                    self.label()
                ));
            }
        }
        if self.silent > 0 {
            doubts.push(format!("{}: {} searches printed no `info` with a depth", self.label(), self.silent));
        }
        doubts
    }

    fn label(&self) -> String {
        match self.threads {
            None => self.name.clone(),
            Some(1) => format!("{}, 1 thread", self.name),
            Some(threads) => format!("{}, {threads} threads", self.name),
        }
    }

    fn searched(&self) -> usize {
        self.found.iter().flatten().count()
    }

    /// Median of the nodes a second.
    fn nps(&self) -> Option<f64> {
        stats::median(self.found.iter().flatten().filter_map(|costs| costs.nps).collect())
    }

    /// Speed-up against the same engine with other threads, position by position.
    fn against(&self, first: &Self) -> [Option<Speedup>; 2] {
        let both =
            || self.found.iter().zip(&first.found).filter_map(|(own, base)| Some((own.as_ref()?, base.as_ref()?)));
        let nps: Vec<(f64, f64)> = both().filter_map(|(own, base)| Some((base.nps?, own.nps?))).collect();
        let times: Vec<(f64, f64)> = both().filter_map(|(own, base)| deepest(&own.seconds, &base.seconds)).collect();
        [Speedup::of_positions(&nps), Speedup::of_positions(&times)]
    }
}

/// Times to the deepest depth that both searches reached, unless one is too short to be told.
fn deepest(own: &CostPath, base: &CostPath) -> Option<(f64, f64)> {
    own.iter()
        .rev()
        .find_map(|(depth, time)| Some((*time, base.iter().find(|point| point.0 == *depth)?.1)))
        .filter(|(own, base)| *own > 0.0 && *base > 0.0)
}

/// Compares the engines of each group of `group` with the first of it.
pub(super) fn compared(mut engines: Vec<EngineScaling>, group: usize) -> Vec<EngineScaling> {
    for one in engines.chunks_mut(group.max(1)) {
        let Some((first, others)) = one.split_first_mut() else { continue };
        for other in others {
            other.speed_ups = Some(other.against(first));
        }
    }
    engines
}

/// Everything that is printed.
pub(super) struct Picture {
    pub(super) limit: String,
    pub(super) book: String,
    pub(super) positions: usize,
    pub(super) forced: usize,
    pub(super) engines: Vec<EngineScaling>,
}

impl Picture {
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for engine in &self.engines {
            self.engine(&mut text, engine);
        }
        self.threads(&mut text);
        let forced =
            if self.forced > 0 { format!(", {} with one legal move left out", self.forced) } else { String::new() };
        let _ =
            write!(text, "{} positions of {}, {}{forced}; intervals of 95 %", self.positions, self.book, self.limit);
        text
    }

    fn engine(&self, text: &mut String, engine: &EngineScaling) {
        // Writing into memory cannot fail.
        let _ = writeln!(text, "{}", engine.label());
        let _ = writeln!(
            text,
            "{:>5} {:>9} {:>14} {:>7} {:>12} {:>7}",
            "depth", "reached", "nodes", "growth", "ms", "growth"
        );
        let mut depths: Vec<u32> =
            engine.nodes.depths.iter().chain(&engine.seconds.depths).map(|row| row.depth).collect();
        depths.sort_unstable();
        depths.dedup();
        for depth in depths {
            let at = |costs: &Costs| costs.depths.iter().find(|row| row.depth == depth).copied();
            let (nodes, time) = (at(&engine.nodes), at(&engine.seconds));
            let median = |row: Option<DepthCost>, scale: f64, decimals: usize| {
                row.and_then(|row| row.cost.median).map_or("-".to_owned(), |median| fixed(median * scale, decimals))
            };
            let growth = |row: Option<DepthCost>| {
                row.and_then(|row| row.growth).map_or("-".to_owned(), |growth| fixed(growth, 2))
            };
            let reached = nodes.or(time).map_or(0, |row| row.reached);
            let _ = writeln!(
                text,
                "{depth:>5} {:>9} {:>14} {:>7} {:>12} {:>7}",
                format!("{reached}/{}", engine.searched()),
                median(nodes, 1.0, 0),
                growth(nodes),
                median(time, 1e3, 0),
                growth(time)
            );
        }
        for (costs, what) in [(&engine.nodes, "nodes"), (&engine.seconds, "time")] {
            let found = match &costs.growth {
                Some(found) => format!(
                    "x{} [{}, {}] a ply, depth {} to {}, {} positions",
                    fixed(found.ratio, 3),
                    fixed(found.lo, 3),
                    fixed(found.hi, 3),
                    found.from,
                    found.to,
                    found.positions
                ),
                None => "not known: the searches are too short".to_owned(),
            };
            let _ = writeln!(text, "{what:<6} {found}");
        }
        if engine.mates + engine.early > 0 {
            let _ = writeln!(
                text,
                "left out: {}, {} ended before the depth",
                count(engine.mates as u64, "mate"),
                engine.early
            );
        }
        text.push('\n');
    }

    fn threads(&self, text: &mut String) {
        if self.engines.iter().all(|engine| engine.threads.is_none()) {
            return;
        }
        let width = self.engines.iter().map(|engine| engine.label().chars().count()).max().unwrap_or(0);
        let _ = writeln!(
            text,
            "{:<width$}  {:>12}  {:<22}  {:<22}",
            "", "nodes/s", "speed-up of nodes/s", "of the time to a depth"
        );
        for engine in &self.engines {
            let nps = engine.nps().map_or("-".to_owned(), |nps| fixed(nps, 0));
            let [speed, time] = match engine.speed_ups {
                None => ["-".to_owned(), "-".to_owned()],
                Some(found) => found.map(|found| {
                    found.map_or("not known".to_owned(), |found| {
                        let [factor, lo, hi] = factors(&found).map(|factor| fixed(factor, 2));
                        format!("x{factor} [{lo}, {hi}]")
                    })
                }),
            };
            let row = format!("{:<width$}  {nps:>12}  {speed:<22}  {time}", engine.label());
            let _ = writeln!(text, "{}", row.trim_end());
        }
        text.push('\n');
    }

    pub(super) fn json(&self) -> Value {
        let speed = |found: Option<Speedup>| {
            found.map(|found| {
                let [factor, lo, hi] = factors(&found);
                json!({ "factor": factor, "lo": lo, "hi": hi, "positions": found.rounds })
            })
        };
        let engine = |engine: &EngineScaling| {
            let [nps, time] = engine.speed_ups.unwrap_or_default();
            json!({
                "name": engine.name, "spec": engine.spec, "threads": engine.threads, "searched": engine.searched(),
                "mates": engine.mates, "early": engine.early, "nodes": engine.nodes.json(),
                "seconds": engine.seconds.json(), "nps": engine.nps(), "speed_up": speed(nps), "time_to_depth": speed(time),
            })
        };
        json!({
            "limit": self.limit, "book": self.book, "positions": self.positions, "forced": self.forced,
            "engines": self.engines.iter().map(engine).collect::<Vec<_>>(),
        })
    }

    /// Plots of nodes and time by depth, and of the speed-up by threads if there are several.
    pub(super) fn svg(&self, cpu: &str) -> String {
        let caption = format!(
            "medians and middle half of {} positions of {}, {}, {cpu}, quintain {}",
            self.positions,
            self.book,
            self.limit,
            env!("CARGO_PKG_VERSION")
        );
        let plot = |title: &str, y_label: &str, scale: f64, of: fn(&EngineScaling) -> &Costs| {
            let line = |engine: &EngineScaling| {
                let medians =
                    of(engine).depths.iter().filter_map(|row| Some((f64::from(row.depth), row.cost.median? * scale)));
                (engine.label(), medians.collect::<Vec<_>>())
            };
            let band = |engine: &EngineScaling| -> Band {
                let rows = of(engine).depths.iter();
                rows.filter_map(|row| Some((f64::from(row.depth), row.cost.lower? * scale, row.cost.upper? * scale)))
                    .collect()
            };
            CurvePlot {
                title: title.to_owned(),
                caption: caption.clone(),
                x_label: "depth (plies)".to_owned(),
                x_scale: Scale::Linear,
                y_label: y_label.to_owned(),
                y_scale: Scale::Log,
                longest_join: Some(2.0),
                series: self.engines.iter().map(line).collect(),
                bands: self.engines.iter().map(band).collect(),
            }
            .to_svg()
        };
        let mut plots = vec![
            plot("Nodes by depth", "nodes", 1.0, |engine| &engine.nodes),
            plot("Time by depth", "time (ms)", 1e3, |engine| &engine.seconds),
        ];
        plots.extend(self.speed_up_plot(&caption));
        stacked(&plots)
    }

    fn speed_up_plot(&self, caption: &str) -> Option<String> {
        self.engines.iter().find(|engine| engine.speed_ups.is_some())?;
        let (mut series, mut bands) = (Vec::new(), Vec::new());
        for group in self.engines.chunk_by(|_, next| next.speed_ups.is_some()) {
            for (which, what) in ["nodes/s", "time to a depth"].into_iter().enumerate() {
                let mut points: Vec<(f64, [f64; 3])> = group
                    .iter()
                    .filter_map(|engine| {
                        let found = engine.speed_ups.map_or(Some([1.0; 3]), |found| found[which].as_ref().map(factors));
                        Some((f64::from(engine.threads?), found?))
                    })
                    .collect();
                points.sort_by(|one, other| one.0.total_cmp(&other.0));
                let line = points.iter().map(|(threads, [factor, ..])| (*threads, *factor));
                series.push((format!("{}, {what}", group[0].name), line.collect::<Vec<_>>()));
                bands.push(points.iter().map(|(threads, [_, lo, hi])| (*threads, *lo, *hi)).collect::<Band>());
            }
        }
        let plot = CurvePlot {
            title: "Speed-up by threads".to_owned(),
            caption: caption.to_owned(),
            x_label: "threads".to_owned(),
            x_scale: Scale::Linear,
            y_label: "speed-up with 95 % interval".to_owned(),
            y_scale: Scale::Linear,
            longest_join: None,
            series,
            bands,
        };
        Some(plot.to_svg())
    }
}

/// Factor of a speed-up, with its interval.
fn factors(found: &Speedup) -> [f64; 3] {
    [found.percent, found.lo, found.hi].map(|percent| 1.0 + percent / 100.0)
}
