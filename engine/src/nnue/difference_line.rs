//! Accumulators of a line, updated by the difference of active features.
//!
//! A move is not recorded at all. When a position is evaluated, its active features are computed
//! from the board and compared with those of the nearest ply that has an accumulator. Plies between
//! are skipped, and moves back and forth cancel. A refresh is the same, so both agree by
//! construction.

use super::counters::{Counters, PLIES};
use super::network::Network;
use super::sets::{ActiveFeatures, OrientedBoard};
use super::simd::{AlignedArray, Kernels};
use crate::board::Board;
use crate::types::{Color, Score};
use std::sync::Arc;

/// Active features of both sides of a ply.
#[derive(Clone)]
struct FeaturePly {
    active: [ActiveFeatures; 2],
    /// Set if features and accumulators are those of the ply's position.
    is_ready: bool,
}

/// Accumulators of a line of moves, for sets with features of several pieces.
pub(super) struct DifferenceLine {
    network: Arc<Network>,
    kernels: &'static Kernels,
    /// Plies by number; those past the end of the line keep their storage.
    plies: Vec<FeaturePly>,
    /// Number of plies in the line, at least 1.
    len: usize,
    /// Accumulators `[ply][colour][hidden]`.
    values: AlignedArray<i16>,
    /// Features of the position that is brought up.
    scratch: ActiveFeatures,
    adds: Vec<u16>,
    subs: Vec<u16>,
    counters: Counters,
}

impl DifferenceLine {
    /// Creates accumulators at the starting position.
    pub(super) fn new(network: Arc<Network>, kernels: &'static Kernels) -> DifferenceLine {
        let hidden = network.layout().hidden;
        let active = ActiveFeatures::new(network.layout().set.size());
        let empty = FeaturePly { active: [active.clone(), active.clone()], is_ready: false };
        // The first ply begins as a board without any feature.
        let biases = network.feature_biases().iter().copied().cycle().take(2 * hidden);
        let values = AlignedArray::collect(PLIES * 2 * hidden, biases);
        let (adds, subs) = (Vec::new(), Vec::new());
        let counters = Counters::default();
        let plies = vec![empty; PLIES];
        let mut line =
            DifferenceLine { network, kernels, plies, len: 1, values, scratch: active, adds, subs, counters };
        line.reset(&Board::startpos());
        line
    }

    pub(super) fn network(&self) -> &Arc<Network> {
        &self.network
    }

    pub(super) fn counters(&self) -> Counters {
        self.counters
    }

    /// Starts a line at a position.
    pub(super) fn reset(&mut self, board: &Board) {
        self.len = 1;
        let rows = self.bring_up(0, 0, board);
        self.counters.refreshes += 2;
        self.counters.refresh_rows += rows;
    }

    /// Follows a move.
    #[inline]
    pub(super) fn push(&mut self) {
        if self.len == self.plies.len() {
            self.plies.extend_from_within(..);
            self.values.grow(self.plies.len() * 2 * self.network.layout().hidden);
        }
        self.plies[self.len].is_ready = false;
        self.len += 1;
        self.counters.moves += 1;
    }

    /// Takes back the last move; the first position of the line stays.
    #[inline]
    pub(super) fn pop(&mut self) {
        self.len = (self.len - 1).max(1);
    }

    /// Returns the evaluation of the current position in centipawns, from the side to move's view.
    #[inline]
    pub(super) fn evaluate(&mut self, board: &Board) -> Score {
        self.counters.evaluations += 1;
        let top = self.len - 1;
        if !self.plies[top].is_ready {
            // The first ply is always ready.
            let from = self.plies[..top].iter().rposition(|ply| ply.is_ready).unwrap_or(0);
            let rows = self.bring_up(from, top, board);
            self.counters.updates += 2;
            self.counters.list_rows += rows;
        }
        let hidden = self.network.layout().hidden;
        let half = |color: Color| &self.values[(2 * top + color.index()) * hidden..][..hidden];
        let bucket = self.network.output_bucket(board.occupied().count());
        self.network.evaluate(self.kernels, half(board.turn()), half(!board.turn()), bucket)
    }

    /// Computes both accumulators of a ply at a position from those of an earlier ply, or from its
    /// own previous ones. Returns the number of rows added and subtracted.
    fn bring_up(&mut self, from: usize, to: usize, board: &Board) -> u64 {
        let hidden = self.network.layout().hidden;
        let white = OrientedBoard::from((board, Color::White));
        let views = [white, white.turned()];
        let mut rows = 0;
        for (side, view) in views.iter().enumerate() {
            self.network.layout().set.activate(view, &mut self.scratch);
            self.list_difference(from, side);
            std::mem::swap(&mut self.scratch, &mut self.plies[to].active[side]);
            if from != to {
                let start = (2 * from + side) * hidden;
                self.values.copy_within(start..start + hidden, (2 * to + side) * hidden);
            }
            let acc = &mut self.values[(2 * to + side) * hidden..][..hidden];
            (self.kernels.apply)(acc, self.network.feature_weights(), &self.adds, &self.subs);
            rows += (self.adds.len() + self.subs.len()) as u64;
        }
        self.plies[to].is_ready = true;
        rows
    }

    /// Lists the rows that lead from the features of a side at a ply to those in `scratch`.
    #[inline]
    fn list_difference(&mut self, from: usize, side: usize) {
        self.adds.clear();
        self.subs.clear();
        self.scratch.for_each_difference(&self.plies[from].active[side], |feature, is_on| {
            if is_on {
                self.adds.push(feature);
            } else {
                self.subs.push(feature);
            }
        });
    }
}
