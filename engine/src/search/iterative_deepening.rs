//! Iterative deepening: one ply deeper at a time, with an aspiration window around the previous
//! score.

use super::info::{Info, Report};
use super::limits::Limits;
use super::params;
use super::root::BestLine;
use super::time::Pace;
use super::window::{RootNode, Window};
use super::worker::Worker;
use crate::board::Board;
use crate::types::{DRAW, INFINITE, MAX_DEPTH, MAX_PLY, Move, Score, mate_in};
use std::time::Duration;

/// Depth from which iterations start with an aspiration window.
const ASPIRATION_DEPTH: i32 = 4;
/// Distance from the last score, in centipawns, at which the mean of earlier ones says nothing.
const FAR_FROM_MEAN: Score = 200;
/// Depth of the last iteration for a position with a single move, on a clock or in a fixed time.
/// The move is then played at once, because no search can change it.
const FORCED_MOVE_DEPTH: i32 = 6;

/// Result of one thread's search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Best line; `None` without a legal move or a finished search.
    pub best: Option<BestLine>,
    /// Move of the TT, or else the first legal one, played if there is no line; `None` without a
    /// legal move.
    pub fallback: Option<Move>,
    /// Depth of the last finished iteration.
    pub depth: i32,
}

/// Progress of the iterations, from which the time to use is derived.
#[derive(Default)]
struct Course {
    best: Option<Move>,
    /// Iterations since the best move changed.
    stability: u32,
    score: Score,
    /// Loss of score in the last iteration, in centipawns.
    drop: Score,
    ended: Duration,
    last: Duration,
    /// Ratio of the last iteration's time to that of the one before.
    growth: f64,
}

impl Course {
    /// Records an iteration that ended after `elapsed` with this line.
    fn note(&mut self, best: &BestLine, elapsed: Duration) {
        let mv = best.moves[0];
        self.stability = if self.best == Some(mv) { self.stability + 1 } else { 0 };
        self.drop = if self.best.is_some() { self.score - best.score } else { 0 };
        let took = elapsed.saturating_sub(self.ended);
        self.growth = took.as_secs_f64() / self.last.as_secs_f64().max(1e-6);
        (self.best, self.score, self.ended, self.last) = (Some(mv), best.score, elapsed, took);
    }
}

impl Worker<'_> {
    /// Searches a position with iterative deepening until a limit is reached or a signal arrives.
    pub fn deepen(&mut self, board: &Board, limits: &Limits, report: &mut dyn Report) -> Finding {
        let max_depth = limits.depth.unwrap_or(i32::MAX).clamp(1, MAX_DEPTH);
        let mut finished = 0;
        let mut mean = None;
        let mut course = Course::default();
        if self.root.moves().is_empty() {
            return Finding { best: None, fallback: None, depth: 0 };
        }
        self.filter_root_by_tablebase(board);
        for depth in self.first_depth(max_depth)..=max_depth {
            self.seldepth = 0;
            for index in 0..self.root.wanted() {
                self.root.begin_line(index, depth);
                self.search_aspiring(board, depth, mean.filter(|_| index == 0));
                if self.control.is_stopped() {
                    break;
                }
                self.root.end_line(self.seldepth);
                self.control.heed_clock();
            }
            if self.control.is_stopped() {
                break;
            }
            finished = depth;
            self.report(report);
            let Some(best) = self.root.best() else { break };
            course.note(best, self.control.elapsed());
            let score = best.score;
            mean = Some(mean.map_or(score, |mean| Score::midpoint(mean, score)));
            if self.control.should_stop_iterating(self.pace(&course)) || self.is_settled(depth, score, limits) {
                break;
            }
        }
        self.root.end_search();
        self.control.publish();
        Finding { best: self.root.best().cloned(), fallback: self.fallback(board), depth: finished }
    }

    /// Returns the move to play without a finished search.
    fn fallback(&self, board: &Board) -> Option<Move> {
        let known = self.tt.probe(board.key(), 0).map(|entry| entry.mv);
        let moves = self.root.moves();
        known.filter(|mv| moves.contains(mv)).or(moves.first().copied())
    }

    /// Starts every other helper a ply deeper, so that the threads are not all in the same
    /// iteration.
    fn first_depth(&self, max_depth: i32) -> i32 {
        (1 + (self.control.thread() % 2) as i32).min(max_depth)
    }

    fn pace(&self, course: &Course) -> Pace {
        Pace {
            stability: course.stability,
            drop: course.drop,
            best_share: self.root.best_share(),
            last: course.last,
            growth: course.growth,
        }
    }

    /// Searches one line with a narrow window around its last score, widened until the score lies
    /// inside ("aspiration search", G. Baudet, "The design and analysis of algorithms for
    /// asynchronous multiprocessors", 1978).
    ///
    /// Scores of even and odd depths differ, so the window is around `mean`, the running mean of
    /// earlier scores, if it is near, and wider the further that is (common practice).
    fn search_aspiring(&mut self, board: &Board, depth: i32, mean: Option<Score>) {
        let last = self.root.line().map_or(DRAW, |line| line.score);
        let mean = mean.filter(|mean| (mean - last).abs() < FAR_FROM_MEAN).unwrap_or(last);
        let mut delta = params::aspiration_delta() + params::aspiration_swing() * (last - mean).abs() / 64;
        // After a fail high the search is repeated at lower depth (common practice), because the
        // move is known and only its score is missing. The line is still reported at the
        // iteration's depth.
        let mut fails_high = 0;
        let mut window = Window { alpha: -INFINITE, beta: INFINITE };
        if depth >= ASPIRATION_DEPTH {
            window = Window { alpha: (mean - delta).max(-INFINITE), beta: (mean + delta).min(INFINITE) };
        }
        loop {
            let score = self.search::<RootNode>(board, window, (depth - fails_high).max(1), 0);
            if self.control.is_stopped() {
                return;
            }
            if score <= window.alpha {
                fails_high = 0;
                window =
                    Window { alpha: (score - delta).max(-INFINITE), beta: i32::midpoint(window.alpha, window.beta) };
            } else if score >= window.beta {
                window.beta = (score + delta).min(INFINITE);
                fails_high = (fails_high + 1).min(params::aspiration_reduction());
            } else {
                return;
            }
            delta *= 2;
        }
    }

    /// Returns whether deeper search is pointless: the soft node limit is reached, the requested
    /// mate is found, or there is only one move.
    fn is_settled(&mut self, depth: i32, score: Score, limits: &Limits) -> bool {
        if limits.soft_nodes.is_some_and(|nodes| self.control.total_nodes() >= nodes) {
            return true;
        }
        if let Some(moves) = limits.mate
            && score.abs() >= mate_in(moves.saturating_mul(2).min(MAX_PLY as u32) as i32)
            // A mate that a helper suffers is not the line that will be reported, nor is any of its
            // lines if there are several.
            && (score > 0 && limits.lines <= 1 || self.control.leads())
        {
            // Whichever thread found it.
            self.control.stop();
            return true;
        }
        self.root.is_forced() && depth >= FORCED_MOVE_DEPTH && self.control.settle()
    }

    /// Reports the lines, best first, if this thread leads.
    fn report(&mut self, report: &mut dyn Report) {
        self.root.is_news = false;
        if !self.control.leads() {
            return;
        }
        self.nodes_reported = self.control.total_nodes();
        for (index, line) in self.root.lines().iter().enumerate() {
            report.iteration(&self.info(index, line));
        }
    }

    /// Reports the final result after all threads have ended. That is the elected line of another
    /// thread, or the own lines if they or the node count have changed since the last report.
    pub fn report_end(&mut self, elected: Option<&BestLine>, report: &mut dyn Report) {
        if let Some(line) = elected {
            report.iteration(&self.info(0, line));
        } else if self.root.is_news || self.nodes_reported != self.control.total_nodes() {
            self.report(report);
        }
    }

    fn info<'a>(&self, index: usize, line: &'a BestLine) -> Info<'a> {
        Info {
            depth: line.depth,
            seldepth: line.seldepth,
            line: index + 1,
            score: line.score,
            bound: line.bound,
            nodes: self.control.total_nodes(),
            tablebase_hits: self.control.total_tablebase_hits(),
            elapsed: self.control.elapsed(),
            hashfull: self.tt.hashfull(),
            pv: &line.moves,
        }
    }
}
