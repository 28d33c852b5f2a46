//! Contents of a run's page: a fold over its games that keeps little of each.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use crate::plan::Plan;
use crate::record::{Color, GameRecord, PlayerId, Score};
use crate::report::plot::{EloPoint, TimeUse};
use crate::stats::elo;
use crate::stats::sprt::SprtError;
use crate::tournament::events::StopReason;
use crate::tournament::scoreboard::Scoreboard;

/// Games that the page can replay: the last ones, and the first of the earlier ones that ended by a
/// fault.
const LAST_GAMES: usize = 200;
const FAULTY_GAMES: usize = 50;
/// Approximate number of points of the Elo curve.
const ELO_POINTS: u64 = 400;
/// Range and bin width of the score histogram, in pawns.
pub(super) const SCORE_LOW: f64 = -10.0;
pub(super) const SCORE_WIDTH: f64 = 0.5;
const SCORE_BINS: usize = 40;
/// Bins of times per octave, from 1 us to about a day.
const TIME_STEPS: f64 = 16.0;
const TIME_BINS: usize = 37 * 16;
/// Last move that is timed. Few games get there.
const MAX_MOVE: usize = 300;

/// Statistics of one of two sides over all games.
#[derive(Clone, Debug, Default)]
pub(super) struct SideStatistics {
    /// Histograms of the time, by move number and logarithm.
    times: Vec<Vec<u32>>,
    /// Moves by their score, from the mover's view.
    pub(super) scores: Vec<u64>,
}

/// Contents of a run's page.
#[derive(Clone, Debug)]
pub struct Story {
    pub(super) plan: Arc<Plan>,
    pub(super) scoreboard: Scoreboard,
    pub(super) elo: Vec<EloPoint>,
    /// Sides of the statistics: first and second of two players, otherwise White and Black.
    pub(super) sides: [SideStatistics; 2],
    /// True if a move has a time or a score. Games may be stored without both.
    pub(super) has_searches: bool,
    /// True if the run directory has a PGN of the games.
    pub(super) has_pgn: bool,
    last: VecDeque<GameRecord>,
    faulty: Vec<GameRecord>,
    /// Games before the last ones that ended by a fault, those that the page cannot replay too.
    pub(super) earlier_faults: usize,
    /// Number of finished games, void ones included.
    pub(super) games: u64,
    pub(super) started: Option<Duration>,
    pub(super) ended: Option<Duration>,
    /// Reason for which the run stopped; `None` if it goes on, or if nobody knows.
    pub(super) reason: Option<StopReason>,
}

impl Story {
    /// Plan of the run.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Creates the story before the first game.
    ///
    /// # Errors
    /// Returns an error if the plan's SPRT has impossible numbers.
    pub fn new(plan: Arc<Plan>) -> Result<Self, SprtError> {
        Ok(Self {
            scoreboard: Scoreboard::new(&plan)?,
            plan,
            elo: Vec::new(),
            sides: [SideStatistics::default(), SideStatistics::default()],
            has_searches: false,
            has_pgn: true,
            last: VecDeque::new(),
            faulty: Vec::new(),
            earlier_faults: 0,
            games: 0,
            started: None,
            ended: None,
            reason: None,
        })
    }

    /// Tells that the run directory has no PGN of the games.
    #[must_use]
    pub fn without_pgn(self) -> Self {
        Self { has_pgn: false, ..self }
    }

    /// Records a game of the journal.
    pub fn record(&mut self, game: GameRecord) {
        self.record_ended(game.clone());
        let (elo, plan) = (&mut self.elo, &self.plan);
        self.scoreboard.record(game, |scoreboard, _| add_point(elo, plan, scoreboard));
    }

    /// Records a game of a live run, whose scoreboard its dispatcher keeps. The page needs
    /// [`Story::record_counted`] and [`Story::finish`] besides.
    pub fn record_ended(&mut self, game: GameRecord) {
        self.games += 1;
        self.started = Some(self.started.map_or(game.started, |first| first.min(game.started)));
        let end = game.started.saturating_add(game.took);
        self.ended = Some(self.ended.map_or(end, |last| last.max(end)));
        if !game.is_void {
            self.sides(&game);
        }
        self.keep(game);
    }

    /// Records that a pair of a live run counts, with the scoreboard that includes it.
    pub fn record_counted(&mut self, scoreboard: &Scoreboard) {
        add_point(&mut self.elo, &self.plan, scoreboard);
    }

    /// Takes the final scoreboard of a live run.
    pub fn finish(&mut self, scoreboard: Scoreboard) {
        self.scoreboard = scoreboard;
    }

    /// Records that the run has stopped.
    pub fn stop(&mut self, reason: StopReason) {
        self.reason = Some(reason);
    }

    /// Standing after the games recorded so far.
    #[must_use]
    pub const fn scoreboard(&self) -> &Scoreboard {
        &self.scoreboard
    }

    fn keep(&mut self, game: GameRecord) {
        if game.is_void {
            // The pair's other game is played again, too.
            let kept = self.last.iter_mut().chain(&mut self.faulty);
            kept.filter(|other| other.id.pair == game.id.pair).for_each(|other| other.is_void = true);
        }
        self.last.push_back(game);
        if self.last.len() <= LAST_GAMES {
            return;
        }
        let Some(old) = self.last.pop_front() else { return };
        let is_faulty = old.ending.termination.is_failure() || old.overstep.is_some() || old.is_void;
        if !is_faulty {
            return;
        }
        self.earlier_faults += 1;
        if self.faulty.len() < FAULTY_GAMES {
            self.faulty.push(old);
        }
    }

    /// Number of games before the last ones that ended by a fault and can be replayed.
    pub(super) const fn kept_faults(&self) -> usize {
        self.faulty.len()
    }

    /// Games that the page can replay, by number.
    pub(super) fn kept(&self) -> Vec<&GameRecord> {
        let mut kept: Vec<_> = self.faulty.iter().chain(&self.last).collect();
        kept.sort_by_key(|game| game.id.number());
        kept
    }

    fn sides(&mut self, game: &GameRecord) {
        let (first, mut number) = start_of(&game.opening.fen);
        let mut mover = first;
        let book = game.opening.moves.len();
        for ply in 0..book + game.moves.len() {
            if let Some(played) = ply.checked_sub(book).and_then(|at| game.moves.get(at)) {
                let second = match self.plan.players.len() {
                    2 => *game.players.get(mover) != PlayerId::NEW,
                    _ => mover == Color::Black,
                };
                let side = &mut self.sides[usize::from(second)];
                side.record(number, played.elapsed, played.info.score);
                self.has_searches |= !played.elapsed.is_zero() || played.info.score.is_some();
            }
            if mover == Color::Black {
                number = number.saturating_add(1);
            }
            mover = mover.other();
        }
    }

    /// Elo curve with its last point.
    pub(super) fn elo_points(&self) -> Vec<EloPoint> {
        let mut points = self.elo.clone();
        if points.last().map(|point| point.pairs) != Some(self.scoreboard.pairs()) {
            points.extend(elo_point(&self.scoreboard));
        }
        points
    }
}

/// Side to move in a start position, and its move number.
pub(super) fn start_of(fen: &str) -> (Color, usize) {
    let number = fen.split_ascii_whitespace().nth(5).and_then(|number| number.parse().ok());
    (Color::to_move(fen), number.unwrap_or(1))
}

/// Adds a point to the Elo curve of two players, every few pairs.
fn add_point(elo: &mut Vec<EloPoint>, plan: &Plan, scoreboard: &Scoreboard) {
    let pairs = scoreboard.pairs();
    if plan.players.len() == 2 && pairs.is_multiple_of(1 + pairs / ELO_POINTS) {
        elo.extend(elo_point(scoreboard));
    }
}

fn elo_point(scoreboard: &Scoreboard) -> Option<EloPoint> {
    let estimate = elo::logistic(&scoreboard.evidence())?;
    let (low, high) = estimate.interval?;
    Some(EloPoint {
        pairs: scoreboard.pairs(),
        elo: estimate.value.finite()?,
        low: low.finite()?,
        high: high.finite()?,
    })
}

impl SideStatistics {
    fn record(&mut self, number: usize, time: Duration, score: Option<Score>) {
        if (1..=MAX_MOVE).contains(&number) {
            if self.times.len() < number {
                self.times.resize(number, Vec::new());
            }
            count(&mut self.times[number - 1], TIME_BINS, time.as_secs_f64() * 1e6);
        }
        let pawns = match score {
            Some(Score::Cp(cp)) => f64::from(cp) / 100.0,
            Some(Score::Mate(moves)) => {
                if moves > 0 {
                    f64::INFINITY
                } else {
                    f64::NEG_INFINITY
                }
            }
            None => return,
        };
        self.scores.resize(SCORE_BINS, 0);
        // A conversion to integer saturates, so values beyond the range are in the outermost bins.
        let bin = (((pawns - SCORE_LOW) / SCORE_WIDTH).floor() as usize).min(SCORE_BINS - 1);
        self.scores[bin] += 1;
    }

    /// Time use of each move number that enough games reached: a fiftieth of the most frequent one.
    pub(super) fn time_use(&self) -> Vec<TimeUse> {
        let totals: Vec<u64> = self.times.iter().map(|bins| bins.iter().map(|bin| u64::from(*bin)).sum()).collect();
        let enough = (totals.iter().copied().max().unwrap_or(0) / 50).max(1);
        let known = self.times.iter().zip(totals).zip(1u32..).filter(|((_, total), _)| *total >= enough);
        known
            .map(|((bins, total), number)| TimeUse {
                number,
                tenths: [0.1, 0.5, 0.9].map(|share| quantile(bins, total, share)),
            })
            .collect()
    }
}

/// Counts a value, at least 1, by its logarithm.
fn count(bins: &mut Vec<u32>, size: usize, value: f64) {
    bins.resize(size, 0);
    let bin = ((value.max(1.0).log2() * TIME_STEPS) as usize).min(size - 1);
    bins[bin] = bins[bin].saturating_add(1);
}

/// Quantile of the times in seconds, as the middle of its bin.
fn quantile(bins: &[u32], total: u64, share: f64) -> f64 {
    let wanted = total as f64 * share;
    let mut seen = 0.0;
    for (bin, count) in bins.iter().enumerate() {
        seen += f64::from(*count);
        if seen >= wanted && *count > 0 {
            return ((bin as f64 + 0.5) / TIME_STEPS).exp2() / 1e6;
        }
    }
    0.0
}
