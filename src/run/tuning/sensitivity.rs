//! Sensitivity of an engine's moves to its parameters, measured without games by searches at fixed
//! nodes, or at the depth of the games if that ends them sooner.
//!
//! Each position is searched twice with all parameters at their start, and with each parameter a
//! step up and a step down. A switch is searched at both ends of its range instead. A parameter is
//! dead if no answer changes at all, in move, score, depth or nodes. Its name may be mistyped, it
//! may belong to a table that is built only at the start, or these searches may never reach its
//! rule. The steps of the others are evened: a step that changes the best move more rarely than the
//! median grows, and a more frequent one shrinks. The factor is in proportion but at most two,
//! because the rate of changed moves is only a rough measure of the effect.
//!
//! Each search starts with a new game and a small hash table, so its answer depends on position and
//! values alone. If the games start their engines anew, so do these searches for other values. The
//! second search at the start finds engines that do not behave so, and none of their parameters is
//! called dead.

use std::collections::hash_map::DefaultHasher;
use std::fmt;
use std::hash::{Hash as _, Hasher as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::record::{Score, SearchInfo};
use crate::run::error::{Result, fail};
use crate::run::lanes::{self, in_lanes};
use crate::stats::median;
use crate::tune::space::{Param, Space};
use crate::uci::process::{Engine, EngineConfig, SearchOutcome};
use crate::uci::{Go, OptionKind, PositionLine};

/// Maximum number of positions searched.
pub(crate) const POSITIONS: usize = 500;

/// Nodes of a search, unless the games have fewer.
pub(crate) const NODES: u64 = 10_000;

/// Timeout of an answer, far more than a search takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// Greatest factor by which evening changes a step.
const MOST_EVENED: f64 = 2.0;

/// Minimum number of steps in a range after evening.
const LEAST_STEPS: f64 = 4.0;

/// Length of a search. Either limit ends it, and an engine that knows only one of the two obeys
/// that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct SearchLength {
    pub(crate) nodes: u64,
    /// Depth in plies, if the games have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) depth: Option<u32>,
}

impl SearchLength {
    /// True if a search was ended by its depth, or by a mate before it, and not by its nodes, as
    /// far as its last line shows.
    fn is_ended_by_depth(self, info: &SearchInfo) -> bool {
        let is_mate = matches!(info.score, Some(Score::Mate(_)));
        let is_reached = self.depth.zip(info.depth).is_some_and(|(wanted, depth)| depth >= wanted);
        self.depth.is_some() && (is_mate || is_reached) && info.nodes.is_some_and(|nodes| nodes < self.nodes)
    }

    fn go(self) -> Go {
        Go { nodes: Some(self.nodes), depth: self.depth, ..Go::default() }
    }
}

impl fmt::Display for SearchLength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} nodes", self.nodes)?;
        self.depth.map_or(Ok(()), |depth| write!(f, " or depth {depth}"))
    }
}

/// Hashes of an answer: the move, and the figures of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct AnswerHash {
    best: u64,
    whole: u64,
}

/// Answers of the searches with the same values, in the order of the positions.
#[derive(Clone, Debug)]
struct AnswerRow {
    answers: Vec<AnswerHash>,
    /// True if the depth of its length, or a mate before it, ended each search.
    is_deep: bool,
}

/// Answers of a parameter's searches that differ from those at the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Changes {
    /// Number of searches.
    pub(crate) searches: usize,
    /// Number of searches with another best move.
    pub(crate) moves: usize,
    /// Number of searches with any difference.
    pub(crate) any: usize,
}

impl Changes {
    fn record(&mut self, start: &[AnswerHash], moved: &[AnswerHash]) {
        for (start, moved) in start.iter().zip(moved) {
            self.searches += 1;
            self.moves += usize::from(start.best != moved.best);
            self.any += usize::from(start != moved);
        }
    }

    /// Share of the searches with another best move.
    pub(crate) fn share(self) -> f64 {
        self.moves as f64 / self.searches.max(1) as f64
    }
}

/// Changes by each parameter, in the order of the space.
#[derive(Clone, Debug)]
pub(crate) struct Sensitivity {
    pub(crate) length: SearchLength,
    pub(crate) positions: usize,
    pub(crate) changes: Vec<Changes>,
    /// Changes between two searches with the same values.
    pub(crate) noise: Changes,
    /// True if the depth of its length, or a mate before it, ended every search, and not the nodes.
    pub(crate) is_deep: bool,
    pub(crate) took: Duration,
}

impl Sensitivity {
    /// True if a parameter changes nothing at all.
    pub(crate) fn is_dead(&self, index: usize) -> bool {
        self.noise.any == 0 && self.changes.get(index).is_some_and(|changes| changes.any == 0)
    }

    /// Returns the space without its dead parameters; an error if no other is left.
    pub(crate) fn without_dead(&self, space: &Space) -> Result<Space> {
        let kept = space.params().iter().enumerate().filter(|(index, _)| !self.is_dead(*index));
        let kept: Vec<_> = kept.map(|(_, param)| (None, param.clone())).collect();
        if kept.is_empty() {
            fail!(
                Setting,
                "no parameter changes anything in searches of {}: are these the options of this engine, and read after \
                 its start? --no-sensitivity tunes them nevertheless",
                self.length
            );
        }
        Ok(Space::new("parameters", kept)?)
    }

    /// Returns the space with steps that change about the same number of moves each.
    pub(crate) fn evened(&self, space: &Space) -> Result<Space> {
        let share = |changes: &Changes| (changes.share() - self.noise.share()).max(0.0);
        let shares = self.changes.iter().map(share).filter(|share| *share > 0.0);
        let Some(median) = median(shares.collect()) else { return Ok(space.clone()) };
        let evened = space.params().iter().zip(&self.changes).map(|(param, changes)| {
            // If best moves never change, the step is too small by more than the greatest factor.
            let factor = (median / share(changes)).clamp(1.0 / MOST_EVENED, MOST_EVENED);
            (None, Param { step: step(param, factor), ..param.clone() })
        });
        Ok(Space::new("parameters", evened.collect())?)
    }
}

/// Multiplies a step by a factor. The result is at least one for whole numbers and at most a part
/// of the range, unless the step was longer than that before.
fn step(param: &Param, factor: f64) -> f64 {
    let least = param.least_step();
    let most = param.step.max((param.max - param.min) / LEAST_STEPS).max(least);
    (param.step * factor).clamp(least, most)
}

/// Values at which a parameter is searched besides its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProbedValues {
    /// A step below the start and a step above.
    Steps,
    /// Both ends of the range, between which a switch is thrown.
    Ends,
}

/// Returns the values of a parameter besides its start, each if the range allows it.
fn moved(param: &Param, values: ProbedValues) -> Vec<f64> {
    let start = param.nearest(param.start);
    let by = param.step.max(param.least_step());
    let wanted = match values {
        ProbedValues::Steps => [start - by, start + by],
        ProbedValues::Ends => [param.min, param.max],
    };
    wanted.into_iter().map(|value| param.nearest(value)).filter(|value| *value != start).collect()
}

/// Values of all parameters, and the one parameter that is not at its start.
#[derive(Debug)]
struct Item {
    param: Option<usize>,
    options: Vec<(String, String)>,
}

fn items(space: &Space, values: ProbedValues) -> Vec<Item> {
    let start: Vec<_> =
        space.params().iter().map(|param| (param.name.clone(), param.text(param.nearest(param.start)))).collect();
    let mut items: Vec<Item> = (0..2).map(|_| Item { param: None, options: start.clone() }).collect();
    for (index, param) in space.params().iter().enumerate() {
        for value in moved(param, values) {
            let mut options = start.clone();
            options[index].1 = param.text(value);
            items.push(Item { param: Some(index), options });
        }
    }
    items
}

/// Searches of a measurement.
#[derive(Debug)]
pub(crate) struct ProbePlan<'a> {
    pub(crate) config: &'a EngineConfig,
    pub(crate) space: &'a Space,
    pub(crate) values: ProbedValues,
    pub(crate) positions: &'a [PositionLine],
    pub(crate) length: SearchLength,
    /// Maximum number of concurrent engines.
    pub(crate) engines: usize,
    /// True to start the engine anew for other values, which may be read only then.
    pub(crate) restarts: bool,
}

impl ProbePlan<'_> {
    /// Number of searches.
    pub(crate) fn searches(&self) -> usize {
        items(self.space, self.values).len() * self.positions.len()
    }

    /// Starts the engine with further options and its smallest hash table, because it is cleared
    /// before every search.
    async fn start(&self, options: &[(String, String)]) -> Result<Engine> {
        let mut engine = Engine::start(&self.config.clone().with_options(options), &[]).await?;
        let hash = engine.options().iter().find(|option| option.name.eq_ignore_ascii_case("Hash"));
        if let Some(OptionKind::Spin { min: Some(min), .. }) = hash.map(|hash| &hash.kind) {
            let value = min.max(&1).to_string();
            // An engine that refuses its own least value keeps its default.
            let _ = engine.set_options(&[("Hash".to_owned(), value)]);
        }
        Ok(engine)
    }

    /// Returns the engine with which a lane begins; `None` if each item starts its own.
    async fn first(&self) -> Result<Option<Engine>> {
        if self.restarts { Ok(None) } else { self.start(&[]).await.map(Some) }
    }

    /// Returns an engine with the values of an item: the one of the lane, or a new process.
    async fn prepared(&self, lane: Option<Engine>, item: &Item) -> Result<Engine> {
        match lane {
            Some(mut engine) if !self.restarts => {
                if let Err(error) = engine.set_options(&item.options) {
                    fail!(Engine, "engine {}: {error}", self.config.name);
                }
                Ok(engine)
            }
            lane => {
                quit(lane).await;
                self.start(&item.options).await
            }
        }
    }
}

async fn quit(lane: Option<Engine>) {
    if let Some(engine) = lane {
        engine.quit().await;
    }
}

/// Measures with several concurrent engines; `tell` gets the expected time after the first item.
pub(crate) fn measure(plan: &ProbePlan<'_>, tell: &(dyn Fn(Duration) + Sync)) -> Result<Sensitivity> {
    let begun = Instant::now();
    let items = items(plan.space, plan.values);
    let whole = items.len() as f64 / lanes::count(items.len(), plan.engines) as f64;
    let is_told = AtomicBool::new(false);
    let work = async |lane: &mut Option<Engine>, _: usize, item: &Item| {
        let begun = Instant::now();
        let mut engine = plan.prepared(lane.take(), item).await?;
        let found = search(&mut engine, item, plan).await?;
        *lane = Some(engine);
        if !is_told.swap(true, Ordering::Relaxed) {
            tell(begun.elapsed().mul_f64(whole));
        }
        Ok(found)
    };
    let answers = in_lanes((&items, plan.engines), async || plan.first().await, work, quit, &|_| ())?;
    let is_deep = answers.iter().all(|row| row.is_deep);
    let mut answers = items.iter().map(|item| item.param).zip(answers.into_iter().map(|row| row.answers));
    let start = answers.next().map(|(_, found)| found).unwrap_or_default();
    let (mut noise, mut changes) = (Changes::default(), vec![Changes::default(); plan.space.len()]);
    for (param, found) in answers {
        param.map_or(&mut noise, |param| &mut changes[param]).record(&start, &found);
    }
    let (length, positions) = (plan.length, plan.positions.len());
    Ok(Sensitivity { length, positions, changes, noise, is_deep, took: begun.elapsed() })
}

async fn search(engine: &mut Engine, item: &Item, plan: &ProbePlan<'_>) -> Result<AnswerRow> {
    let ProbePlan { space, positions, length, .. } = *plan;
    let name = engine.config().name.clone();
    let with = || match item.param {
        None => "with all parameters at their start".to_owned(),
        Some(index) => format!("with `{}` at {}", space.params()[index].name, item.options[index].1),
    };
    let go = length.go();
    let mut answers = Vec::with_capacity(positions.len());
    let mut is_deep = true;
    for position in positions {
        let outcome = match engine.new_game().await {
            Ok(()) => engine.go(position.as_bytes(), &go, Some(PATIENCE)).await,
            Err(fault) => SearchOutcome::Exited { elapsed: Duration::ZERO, status: fault.to_string() },
        };
        let why = match outcome {
            SearchOutcome::BestMove { text, info, .. } => {
                let said = format!("{:?} {:?} {:?}", info.score, info.depth, info.nodes);
                is_deep &= length.is_ended_by_depth(&info);
                answers.push(AnswerHash { best: hash(&text), whole: hash(&said) });
                continue;
            }
            SearchOutcome::Overrun { elapsed, .. } => format!("no answer within {} s", elapsed.as_secs()),
            SearchOutcome::Exited { status, .. } => status,
        };
        let remedy = match item.param {
            None => "if the engine does not know this limit, skip these searches with --no-sensitivity",
            Some(_) => {
                "narrow the range, leave the parameter out with --skip, or skip these searches with --no-sensitivity"
            }
        };
        let said = engine.last_words();
        let line = String::from_utf8_lossy(position.as_bytes());
        fail!(Engine, "engine {name}: {why} after `{go}` {}, {line}{said}; {remedy}", with());
    }
    Ok(AnswerRow { answers, is_deep })
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::random::SplitMix64;
    use crate::tune::auto::Rule;
    use crate::tune::landscape::Landscape;
    use crate::tune::read;

    fn space(lines: &str) -> Space {
        read::lines("p", lines).unwrap()
    }

    #[test]
    fn a_step_either_way_is_searched_if_the_range_has_room() {
        for (line, wanted) in [
            ("a, int, 80, 20, 160, 8, .002", vec!["72", "88"]),
            ("a, int, 20, 20, 160, 8, .002", vec!["28"]),
            ("a, int, 158, 20, 160, 8, .002", vec!["150", "160"]),
            ("a, int, 1, 0, 3, 0.4, .002", vec!["0", "2"]),
            ("a, float, 0.5, 0, 2, 0.25, .002", vec!["0.25", "0.75"]),
        ] {
            let space = space(line);
            let items = items(&space, ProbedValues::Steps);
            let texts: Vec<&str> = items[2..].iter().map(|item| item.options[0].1.as_str()).collect();
            assert_eq!(texts, wanted, "{line}");
            assert!(items[..2].iter().all(|item| item.param.is_none()), "{line}");
        }
    }

    #[test]
    fn a_switch_is_searched_at_both_ends_of_its_range() {
        for (line, wanted) in [
            ("a, int, 0, 0, 1, 1, .002", vec!["1"]),
            ("a, int, 1, 0, 1, 1, .002", vec!["0"]),
            ("a, int, 5, 0, 100, 1, .002", vec!["0", "100"]),
            ("a, float, 0.5, 0, 2, 0.25, .002", vec!["0", "2"]),
        ] {
            let items = items(&space(line), ProbedValues::Ends);
            let texts: Vec<&str> = items[2..].iter().map(|item| item.options[0].1.as_str()).collect();
            assert_eq!(texts, wanted, "{line}");
        }
    }

    #[test]
    fn a_search_is_ended_by_its_depth_or_a_mate_below_its_nodes() {
        let length = |depth| SearchLength { nodes: 1_000, depth };
        let info =
            |depth, score, nodes| SearchInfo { depth: Some(depth), score: Some(score), nodes, ..SearchInfo::default() };
        let (even, mate) = (Score::Cp(0), Score::Mate(3));
        for (wanted, info, ended) in [
            (Some(4), info(4, even, Some(999)), true),
            (Some(4), info(4, even, Some(1_000)), false),
            (Some(4), info(4, even, None), false),
            (Some(4), info(3, even, Some(999)), false),
            (Some(4), info(3, mate, Some(999)), true),
            (None, info(4, mate, Some(999)), false),
        ] {
            assert_eq!(length(wanted).is_ended_by_depth(&info), ended, "{wanted:?} {info:?}");
        }
    }

    fn measured(moves: &[usize], noise: usize) -> Sensitivity {
        let changes = |moves: &usize| Changes { searches: 100, moves: *moves, any: *moves };
        Sensitivity {
            length: SearchLength { nodes: 1, depth: None },
            positions: 50,
            changes: moves.iter().map(changes).collect(),
            noise: changes(&noise),
            is_deep: false,
            took: Duration::ZERO,
        }
    }

    #[test]
    fn steps_are_evened_by_a_factor_of_two_at_most_and_the_dead_left_out() {
        let lines = "a, int, 80, 20, 180, 8, .002\nb, int, 80, 20, 180, 8, .002\nc, int, 80, 20, 180, 8, .002\n\
                     d, int, 2, 0, 5, 1, .002\ne, float, 1, 0, 2, .5, .002\n";
        let found = measured(&[10, 16, 90, 90, 2], 0);
        let steps: Vec<f64> = found.evened(&space(lines)).unwrap().params().iter().map(|param| param.step).collect();
        // Median 16: steps with rarer changes grow, bounded by the factor 2, by whole numbers and
        // by the range.
        let expected = [12.8, 8.0, 4.0, 1.0, 0.5];
        assert!(steps.iter().zip(expected).all(|(step, expected)| (step - expected).abs() < 1e-12), "{steps:?}");
        let found = measured(&[10, 0, 16, 90, 0], 0);
        assert!([1, 4].into_iter().all(|index| found.is_dead(index)) && !found.is_dead(0));
        let kept = found.without_dead(&space(lines)).unwrap();
        assert_eq!(kept.params().iter().map(|param| param.name.as_str()).collect::<String>(), "acd");
        let error = measured(&[0; 5], 0).without_dead(&space(lines)).unwrap_err().to_string();
        assert!(error.starts_with("no parameter changes anything in searches of 1 nodes"), "{error}");
        // If two equal searches differ, unchanged answers prove nothing.
        assert!(!measured(&[0; 5], 1).is_dead(0));
    }

    /// Median Elo left of 36 by 20 runs of 5,000 games. Each step is wrong by its own factor, four
    /// at most, before `even`.
    fn left(even: impl Fn(Space, &mut SplitMix64) -> Space) -> f64 {
        let mut left: Vec<f64> = (0..20)
            .map(|seed| {
                let landscape = Landscape::new(40, 1.0, seed).with_stake(36.0);
                let mut random = SplitMix64::new(seed);
                let given = landscape.space().unwrap();
                let wrong = given.params().iter().map(|param| {
                    let step = 4f64.powf(2.0 * random.unit() - 1.0);
                    (None, Param { step, ..param.clone() })
                });
                let space = even(Space::new("wrong", wrong.collect()).unwrap(), &mut random);
                let run = landscape.tune(Rule::new(space, seed, 16, Some(2_500)), 2_500, |_| ());
                landscape.loss(run.mean())
            })
            .collect();
        left.sort_by(f64::total_cmp);
        left[10]
    }

    #[test]
    fn evened_steps_win_back_a_part_of_what_wrong_ones_cost() {
        // A step changes moves in proportion to its size, times a factor of chance that is 2 or
        // more either way for a third of the parameters.
        let evened = |deviation: f64| {
            left(|space, random| {
                let moves: Vec<usize> = space
                    .params()
                    .iter()
                    .map(|param| {
                        // Twelve uniform numbers are nearly a normal one.
                        let normal = (0..12).map(|_| random.unit()).sum::<f64>() - 6.0;
                        (5.0 * param.step * (deviation * normal).exp()).round() as usize
                    })
                    .collect();
                measured(&moves, 0).evened(&space).unwrap()
            })
        };
        let right = left(|space, _| {
            let right = space.params().iter().map(|param| (None, Param { step: 1.0, ..param.clone() }));
            Space::new("right", right.collect()).unwrap()
        });
        let (wrong, exact, rough) = (left(|space, _| space), evened(0.0), evened(0.7));
        // In this order they are 12.0, 14.4, 16.1 and 19.7.
        assert!(right < exact && exact < rough && rough < wrong - 1.0, "{right} {exact} {rough} {wrong}");
    }
}
