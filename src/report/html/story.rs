//! What a page tells of a run: a fold over its games that keeps little of each.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use crate::plan::Plan;
use crate::record::{Color, GameRecord, PlayerId, Score, SearchInfo};
use crate::report::plot::{EloPoint, TimeUse};
use crate::stats::elo;
use crate::stats::sprt::SprtError;
use crate::tournament::standing::Standing;

/// Games that the page can replay: the last ones, and before them those that ended by a fault.
const LAST_GAMES: usize = 200;
const FAULTY_GAMES: usize = 50;
/// Points of the Elo curve, more or less.
const ELO_POINTS: u64 = 400;
/// Scores are counted in half pawns from -10 to +10.
pub(super) const SCORE_LOW: f64 = -10.0;
pub(super) const SCORE_WIDTH: f64 = 0.5;
const SCORE_BINS: usize = 40;
/// Times are counted in steps of a sixteenth of an octave, from 1 us to about a day.
const TIME_STEPS: f64 = 16.0;
const TIME_BINS: usize = 37 * 16;
/// Nodes are counted in the same steps, from 1 on.
const NODE_BINS: usize = 50 * 16;
/// Moves after this one are not timed: few games get there.
const MAX_MOVE: usize = 300;
/// Deeper searches are of positions where hardly anything can move.
const MAX_DEPTH: usize = 128;

/// What one of two sides did over all games.
#[derive(Clone, Debug, Default)]
pub(super) struct Side {
    /// By the move's number: how many, by logarithm of their time.
    times: Vec<Vec<u32>>,
    /// Moves by the score that came with them, from the mover's view.
    pub(super) scores: Vec<u64>,
    /// By depth: how many moves, by logarithm of their time and of their nodes.
    depths: Vec<[Vec<u32>; 2]>,
}

/// What a search to a depth took, and how much it looked at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct DepthUse {
    pub(super) depth: usize,
    /// Median, charged.
    pub(super) seconds: f64,
    /// Median; zero where engines do not say.
    pub(super) nodes: f64,
}

/// A run as its games tell it.
#[derive(Clone, Debug)]
pub struct Story {
    pub(super) plan: Arc<Plan>,
    pub(super) standing: Standing,
    pub(super) elo: Vec<EloPoint>,
    /// Of two players the first and the second; of more, White and Black.
    pub(super) sides: [Side; 2],
    last: VecDeque<GameRecord>,
    faulty: Vec<GameRecord>,
    /// Finished games, void ones included.
    pub(super) games: u64,
    pub(super) started: Option<Duration>,
    pub(super) ended: Option<Duration>,
}

impl Story {
    /// Nothing played yet.
    ///
    /// # Errors
    /// Where the plan's test has numbers that no test can have.
    pub fn new(plan: Arc<Plan>) -> Result<Self, SprtError> {
        Ok(Self {
            standing: Standing::new(&plan)?,
            plan,
            elo: Vec::new(),
            sides: [Side::default(), Side::default()],
            last: VecDeque::new(),
            faulty: Vec::new(),
            games: 0,
            started: None,
            ended: None,
        })
    }

    /// Takes a game as the journal has it.
    pub fn tell(&mut self, game: GameRecord) {
        self.games += 1;
        self.started = Some(self.started.map_or(game.started, |first| first.min(game.started)));
        let end = game.started.saturating_add(game.took);
        self.ended = Some(self.ended.map_or(end, |last| last.max(end)));
        if !game.is_void {
            self.sides(&game);
        }
        self.keep(game.clone());
        let (elo, two) = (&mut self.elo, self.plan.players.len() == 2);
        self.standing.tell(game, |standing, _| {
            let pairs = standing.pairs();
            if two && pairs.is_multiple_of(1 + pairs / ELO_POINTS) {
                elo.extend(elo_point(standing));
            }
        });
    }

    /// What stands at the end.
    #[must_use]
    pub const fn standing(&self) -> &Standing {
        &self.standing
    }

    fn keep(&mut self, game: GameRecord) {
        self.last.push_back(game);
        if self.last.len() <= LAST_GAMES {
            return;
        }
        let Some(old) = self.last.pop_front() else { return };
        let is_faulty = old.ending.termination.is_failure() || old.overstep.is_some() || old.is_void;
        if is_faulty && self.faulty.len() < FAULTY_GAMES {
            self.faulty.push(old);
        }
    }

    /// The games that the page can replay, by number.
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
                side.add(number, played.elapsed, played.info.score);
                side.add_depth(played.elapsed, &played.info);
            }
            if mover == Color::Black {
                number = number.saturating_add(1);
            }
            mover = mover.other();
        }
    }

    /// The Elo curve with its end.
    pub(super) fn elo_points(&self) -> Vec<EloPoint> {
        let mut points = self.elo.clone();
        if points.last().map(|point| point.pairs) != Some(self.standing.pairs()) {
            points.extend(elo_point(&self.standing));
        }
        points
    }
}

/// Who moves first, and the number of that move.
pub(super) fn start_of(fen: &str) -> (Color, usize) {
    let mut fields = fen.split_ascii_whitespace().skip(1);
    let first = if fields.next() == Some("b") { Color::Black } else { Color::White };
    (first, fields.nth(3).and_then(|number| number.parse().ok()).unwrap_or(1))
}

fn elo_point(standing: &Standing) -> Option<EloPoint> {
    let estimate = elo::logistic(&standing.evidence())?;
    let (low, high) = estimate.interval?;
    Some(EloPoint { pairs: standing.pairs(), elo: estimate.value.finite()?, low: low.finite()?, high: high.finite()? })
}

impl Side {
    fn add(&mut self, number: usize, time: Duration, score: Option<Score>) {
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
        // A conversion saturates: what lies beyond is in the outermost bins.
        let bin = (((pawns - SCORE_LOW) / SCORE_WIDTH).floor() as usize).min(SCORE_BINS - 1);
        self.scores[bin] += 1;
    }

    /// Counts a move by its depth, where the engine says one. A score that is mate ends many searches early, and is left out.
    fn add_depth(&mut self, time: Duration, info: &SearchInfo) {
        let Some(depth) = info.depth.and_then(|depth| usize::try_from(depth).ok()) else { return };
        if !(1..=MAX_DEPTH).contains(&depth) || matches!(info.score, Some(Score::Mate(_))) {
            return;
        }
        if self.depths.len() < depth {
            self.depths.resize(depth, [Vec::new(), Vec::new()]);
        }
        let [times, nodes] = &mut self.depths[depth - 1];
        count(times, TIME_BINS, time.as_secs_f64() * 1e6);
        if let Some(searched) = info.nodes {
            count(nodes, NODE_BINS, searched as f64);
        }
    }

    /// What the depths took that enough moves reached: a fiftieth of the commonest.
    pub(super) fn depth_use(&self) -> Vec<DepthUse> {
        let total = |bins: &[u32]| bins.iter().map(|bin| u64::from(*bin)).sum::<u64>();
        let totals: Vec<u64> = self.depths.iter().map(|[times, _]| total(times)).collect();
        let enough = (totals.iter().copied().max().unwrap_or(0) / 50).max(1);
        let known = self.depths.iter().zip(totals).enumerate().filter(|(_, (_, moves))| *moves >= enough);
        known
            .map(|(place, ([times, nodes], moves))| DepthUse {
                depth: place + 1,
                seconds: quantile(times, moves, 0.5),
                // The same bins, without the microsecond.
                nodes: quantile(nodes, total(nodes), 0.5) * 1e6,
            })
            .collect()
    }

    /// The times of the moves that enough games had: a fiftieth of the commonest.
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

/// Counts one value, at least 1, by its logarithm.
fn count(bins: &mut Vec<u32>, size: usize, value: f64) {
    bins.resize(size, 0);
    let bin = ((value.max(1.0).log2() * TIME_STEPS) as usize).min(size - 1);
    bins[bin] = bins[bin].saturating_add(1);
}

/// The time in seconds below which that share of the moves lies: the middle of its bin.
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
