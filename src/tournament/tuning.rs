//! Progress of a tuning: a fold over its counted pairs, like the scoreboard.

use serde::Serialize;

use crate::record::{ByColor, GameId, GameRecord, PlayerId};
use crate::stats::clusters::ClusteredCounts;
use crate::stats::elo::Elo;
use crate::stats::estimates::Estimates;
use crate::tournament::formats::PairResult;
use crate::tournament::formats::tune::{self, TuneRule};
use crate::tune::auto::{Auto, Purpose, Vectors};
use crate::tune::course::Course;
use crate::tune::factors::{Effect, FactorRun};
use crate::tune::narrow::RangeCut;
use crate::tune::space::Space;

/// Minimum number of tuning pairs of a flat run. Earlier its result is too young to have moved
/// much.
const LEAST_FLAT_PAIRS: u64 = 2_000;

/// Maximum distance in steps that the result of a flat run moves in the run's last quarter.
const FLAT_DRIFT: f64 = 0.1;

/// Gain in Elo that a flat run can no longer reach.
const FLAT_GAIN: Elo = Elo::Finite(1.0);

/// Progress of a tuning with its rule and statistics.
#[derive(Clone, Debug)]
pub struct TuningProgress {
    rule: TuneRule,
    course: Course,
    pairs: PairsByPurpose,
    is_flat: bool,
    foreign: Option<GameId>,
}

/// Counted pairs by their purpose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PairsByPurpose {
    /// Calibration pairs: the start against values with all parameters moved.
    pub calibrate: u64,
    /// Tuning pairs: two opposite perturbations of the centre.
    pub tune: u64,
    /// Validation pairs: the mean so far against the start.
    pub validate: u64,
}

impl TuningProgress {
    /// A tuning before its first pair.
    #[must_use]
    pub fn new(rule: &TuneRule) -> Self {
        Self {
            rule: rule.clone(),
            course: Course::new(rule.tuning()),
            pairs: PairsByPurpose::default(),
            is_flat: false,
            foreign: None,
        }
    }

    /// Records the next pair and its games.
    pub(super) fn record(&mut self, pair: &PairResult, games: &[GameRecord]) {
        let tuning = self.course.tuning();
        let block = tuning.completed();
        if let Some(vectors) = self.course.next_values() {
            let foreign = games.iter().find(|game| !plays(game, &self.rule, vectors)).map(|game| game.id);
            self.foreign = self.foreign.or(foreign);
        }
        match tuning.purpose(block) {
            Purpose::Calibrate => self.pairs.calibrate += 1,
            Purpose::Tune => self.pairs.tune += 1,
            Purpose::Validate => self.pairs.validate += 1,
        }
        self.course.record_failures(tune::result(pair), pair.failed);
        if self.course.tuning().completed() > block {
            self.is_flat = self.is_flat || self.rule.until_flat && self.hardly_moves_or_gains();
        }
    }

    fn hardly_moves_or_gains(&self) -> bool {
        let drift = self.course.tuning().as_auto().and_then(Auto::drift);
        let hardly_moves = drift.is_some_and(|drift| drift < FLAT_DRIFT) && self.pairs.tune >= LEAST_FLAT_PAIRS;
        hardly_moves || self.pairs.validate > 0 && self.course.validation().interval().1 < FLAT_GAIN
    }

    /// Rule that decided the values.
    #[must_use]
    pub const fn rule(&self) -> &TuneRule {
        &self.rule
    }

    /// Course of the run: its state and history.
    #[must_use]
    pub const fn course(&self) -> &Course {
        &self.course
    }

    /// Counted pairs by purpose.
    #[must_use]
    pub const fn pairs(&self) -> PairsByPurpose {
        self.pairs
    }

    /// True if the plan ends the run once it gains nothing more, and it gains nothing more.
    #[must_use]
    pub const fn is_flat(&self) -> bool {
        self.is_flat
    }

    /// First counted game whose recorded values differ from those of this rule.
    #[must_use]
    pub const fn foreign(&self) -> Option<GameId> {
        self.foreign
    }

    /// Figures of the run for documents.
    #[must_use]
    pub fn figures(&self) -> TuningEstimates<'_> {
        let tuning = self.course.tuning();
        let (run, counts) = (tuning.as_auto(), self.course.validation().counts());
        let rows = self.course.rows(&self.rule.dead);
        let effects = tuning.as_factors().map(FactorRun::effects).unwrap_or_default();
        let params = tuning.space().params().iter().zip(rows).zip(tuning.theta()).enumerate();
        let params = params.map(|(place, ((param, row), theta))| ParamFigures {
            name: &param.name,
            kind: param.kind.name(),
            start: param.start,
            min: param.min,
            max: param.max,
            step: param.step,
            theta: *theta,
            result: row.now,
            rounded: row.rounded,
            moved: row.moved,
            error: row.error,
            better: row.better,
            effect: effects.get(place).copied(),
            dead: row.is_dead,
        });
        let estimates = Estimates::of_pairs(&ClusteredCounts::new(counts, 1.0));
        TuningEstimates {
            method: self.rule.method.name(),
            seed: self.rule.seed,
            block: tuning.block(),
            pairs: self.pairs,
            step_loss: run.and_then(Auto::measured_loss),
            perturbation: run.map(Auto::perturbation),
            drift: run.and_then(Auto::drift),
            noise: self.course.noise(),
            validation: ValidationFigures { ptnml: counts.0, estimates },
            narrowed: tuning.cuts().iter().filter_map(|cut| cut_figures(tuning.space(), cut)).collect(),
            dead: &self.rule.dead,
            params: params.collect(),
        }
    }
}

fn cut_figures<'a>(space: &'a Space, cut: &RangeCut) -> Option<CutFigures<'a>> {
    let RangeCut { param, end, from, to, failures, pairs } = *cut;
    Some(CutFigures { name: &space.params().get(param)?.name, end: end.name(), from, to, failures, pairs })
}

/// True if both sides of a game have the values of `vectors`, or if the journal does not have them.
fn plays(game: &GameRecord, rule: &TuneRule, vectors: &Vectors) -> bool {
    let Some(values) = &game.values else { return true };
    let options = rule.options(vectors);
    let side = |player: PlayerId, values: &[String]| {
        let wanted = options.get(usize::from(player.0)).map(|options| options.iter().map(|(_, value)| value));
        wanted.is_some_and(|wanted| wanted.eq(values))
    };
    let ByColor { white, black } = game.players;
    side(white, &values.white) && side(black, &values.black)
}

/// Figures of a tuning in documents. Their names and order are a contract.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TuningEstimates<'a> {
    /// Method: `auto`, `fishtest`, `openbench` or `factors`.
    pub method: &'static str,
    /// Seed of everything random.
    pub seed: u64,
    /// Pairs in a block.
    pub block: u32,
    /// Counted pairs.
    pub pairs: PairsByPurpose,
    /// Elo that a parameter loses on average at one step; `None` until games have measured it.
    pub step_loss: Option<f64>,
    /// Perturbation of the next pairs, in steps.
    pub perturbation: Option<f64>,
    /// Steps by which the result moved in the last quarter.
    pub drift: Option<f64>,
    /// Share of the step from start to result that chance alone would have made.
    pub noise: Option<f64>,
    /// Validation: the mean so far against the start. A tuning has no other Elo.
    pub validation: ValidationFigures,
    /// Narrowed ranges, the first one first; absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub narrowed: Vec<CutFigures<'a>>,
    /// Names of the parameters found to change nothing, those that were left out included.
    pub dead: &'a [String],
    /// The parameters, in the order of the plan.
    pub params: Vec<ParamFigures<'a>>,
}

/// Validation of a tuning in documents.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ValidationFigures {
    /// Pairs by the points of the mean so far.
    pub ptnml: [u64; 5],
    /// Estimates from these pairs.
    #[serde(flatten)]
    pub estimates: Estimates,
}

/// A range of a tuning that was narrowed because the engine failed beyond it, in documents.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CutFigures<'a> {
    /// Name of the parameter.
    pub name: &'a str,
    /// `min` or `max`.
    pub end: &'static str,
    /// Value of that end before.
    pub from: f64,
    /// Value of that end now.
    pub to: f64,
    /// Values that failed beyond all that worked.
    pub failures: usize,
    /// Pairs after which it was narrowed.
    pub pairs: u64,
}

/// A parameter of a tuning in documents.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ParamFigures<'a> {
    /// UCI option that sets it.
    pub name: &'a str,
    /// `int`, `float` or `check`.
    pub kind: &'static str,
    /// Value before the tuning.
    pub start: f64,
    /// Lowest value.
    pub min: f64,
    /// Highest value.
    pub max: f64,
    /// Change that was expected to matter.
    pub step: f64,
    /// Centre of the next pairs.
    pub theta: f64,
    /// Result so far.
    pub result: f64,
    /// Nearest value that the engine accepts.
    pub rounded: f64,
    /// Steps from the start to the result.
    pub moved: f64,
    /// Standard error of its optimum in steps.
    pub error: Option<f64>,
    /// Probability that the rounded value alone is better than the start.
    pub better: Option<f64>,
    /// Effect of a randomised switch, from its first pair on; absent for other methods.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
    /// True if the parameter was found to change nothing.
    pub dead: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{GameId, Leg, PairId};
    use crate::tournament::formats::tune::tests::rule;

    const PLAYERS: (PlayerId, PlayerId) = (PlayerId(0), PlayerId(1));

    fn pair(half_points: u8) -> PairResult {
        PairResult { players: PLAYERS, half_points, games: 2, failed: [false; 2] }
    }

    /// Pairs until the run is flat, at most `most`; `score` gives the half points of one.
    fn until_flat(rule: &TuneRule, most: u64, score: impl Fn(Purpose) -> u8) -> Option<u64> {
        let mut progress = TuningProgress::new(rule);
        (1..=most).find(|_| {
            progress.record(&pair(score(progress.course().purpose())), &[]);
            progress.is_flat()
        })
    }

    #[test]
    fn a_run_is_flat_if_its_result_stays_or_cannot_gain() {
        let auto = rule("auto");
        // Two calibrating blocks of 16, then 2,000 tuning pairs and every tenth block's.
        let pairs = until_flat(&auto, 4_000, |_| 2);
        assert_eq!(pairs, Some(32 + 2_000 + 2_000 / 144 * 16));
        // A result that loses to the start is known sooner to gain nothing.
        let lost = until_flat(&auto, 4_000, |purpose| if purpose == Purpose::Validate { 1 } else { 2 });
        assert!(lost.is_some_and(|lost| lost < 2_000), "{lost:?}");
        let asked = TuneRule { until_flat: false, ..auto };
        assert_eq!(until_flat(&asked, 4_000, |_| 2), None);
    }

    #[test]
    fn pairs_are_counted_by_purpose_and_validation_alone_has_an_elo() {
        let mut progress = TuningProgress::new(&rule("auto"));
        for _ in 0..12 * 16 {
            let wins = if progress.course().purpose() == Purpose::Validate { 3 } else { 0 };
            progress.record(&pair(wins), &[]);
        }
        assert_eq!(progress.pairs(), PairsByPurpose { calibrate: 32, tune: 144, validate: 16 });
        let figures = progress.figures();
        assert_eq!((figures.validation.ptnml, figures.method, figures.params.len()), ([0, 0, 0, 16, 0], "auto", 3));
        assert!(figures.validation.estimates.score.is_some_and(|score| score == 0.75));
        assert!(figures.params[1].dead && !figures.params[0].dead);
        for method in ["fishtest", "openbench", "factors"] {
            let mut progress = TuningProgress::new(&rule(method));
            (0..40).for_each(|_| progress.record(&pair(3), &[]));
            assert_eq!(progress.pairs(), PairsByPurpose { tune: 40, ..PairsByPurpose::default() });
        }
    }

    #[test]
    fn documents_have_the_effect_of_each_switch_and_of_nothing_else() {
        let effects = |method: &str, pairs: u32| {
            let mut progress = TuningProgress::new(&rule(method));
            (0..pairs).for_each(|pair| progress.record(&self::pair((pair % 5) as u8), &[]));
            let figures = serde_json::to_value(progress.figures()).expect("plain data");
            let params = figures["params"].as_array().cloned().unwrap_or_default();
            let known = progress.course().tuning().as_factors().map(FactorRun::effects).unwrap_or_default().to_vec();
            (params.into_iter().map(|param| param.get("effect").cloned()).collect::<Vec<_>>(), known)
        };
        let (told, known) = effects("factors", 40);
        assert_eq!((told.len(), known.len()), (3, 3));
        for (told, known) in told.iter().zip(known) {
            let told = told.as_ref().expect("an effect of each switch");
            for (key, value) in [("elo", known.elo), ("error95", known.error95), ("p", known.p)] {
                assert_eq!(told[key].as_f64(), Some(value), "{key}");
            }
            assert!(known.error95 > 0.0 && (0.0..=1.0).contains(&known.p), "{known:?}");
        }
        assert_eq!(effects("factors", 0).0, [None, None, None]);
        assert_eq!(effects("auto", 40).0, [None, None, None]);
    }

    #[test]
    fn games_with_other_values_are_found() {
        let rule = rule("auto");
        let asked = rule.options(&rule.tuning().ask(0).expect("the first block")[0]);
        let values = |player: usize| asked[player].iter().map(|(_, value)| value.clone()).collect::<Vec<_>>();
        let game = |leg: Leg, white: usize, values| GameRecord {
            id: GameId { pair: PairId(0), leg },
            players: if white == 0 {
                ByColor { white: PLAYERS.0, black: PLAYERS.1 }
            } else {
                ByColor { white: PLAYERS.1, black: PLAYERS.0 }
            },
            values,
            ..crate::tournament::scoreboard::tests::game(0, leg, 0)
        };
        let right =
            |leg, white: usize| game(leg, white, Some(ByColor { white: values(white), black: values(1 - white) }));
        let foreign = |games: [GameRecord; 2]| {
            let mut progress = TuningProgress::new(&rule);
            progress.record(&pair(2), &games);
            progress.foreign()
        };
        let (first, second) = (right(Leg::First, 0), right(Leg::Second, 1));
        assert_eq!(foreign([first.clone(), second.clone()]), None);
        // The same values on the wrong sides.
        let turned = game(Leg::Second, 0, second.values.clone());
        assert_eq!(foreign([first.clone(), turned.clone()]), Some(turned.id));
        let mut other = second.clone();
        if let Some(values) = &mut other.values {
            values.white[0] = "51.5".to_owned();
        }
        assert_eq!(foreign([first.clone(), other]), Some(second.id));
        // A game without values is not checked.
        assert_eq!(foreign([first, game(Leg::Second, 1, None)]), None);
    }
}
