//! Accumulators of a line, updated by the pieces that moved.
//!
//! A move only records its changes. When a position is evaluated, each side's accumulator is
//! updated from the nearest ply that has one. If a king's move on the way changed the side's view,
//! the accumulator is refreshed from the last one with this view, because few pieces have moved in
//! between. (This is called a Finny table, after its inventor's handle.)
//!
//! The rows of the usual set `piece` are combined in one pass. Other sets whose features are of
//! single pieces, such as `king-piece`, list the rows of the moved pieces.

use super::counters::{Counters, PLIES};
use super::features::{Features, View};
use super::network::Network;
use super::simd::{AlignedArray, Kernels};
use crate::board::{Board, CastlingSide};
use crate::types::{Bitboard, Color, Move, Piece, PieceType, Score, Square};
use std::sync::Arc;

type PlacedPiece = (Piece, Square);

/// Change of the board by a move.
#[derive(Clone, Copy)]
enum BoardChange {
    /// No change is known: the first ply.
    Root,
    /// One piece is removed and one added; promotions included.
    Move {
        add: PlacedPiece,
        sub: PlacedPiece,
    },
    /// One piece is also captured; en passant included.
    Capture {
        add: PlacedPiece,
        sub: PlacedPiece,
        victim: PlacedPiece,
    },
    Castling {
        adds: [PlacedPiece; 2],
        subs: [PlacedPiece; 2],
    },
}

impl BoardChange {
    /// Returns the changes by a legal move.
    #[inline]
    fn of(board: &Board, mv: Move) -> BoardChange {
        let us = board.turn();
        let (from, to) = (mv.from(), mv.to());
        let Some(piece) = board.piece_at(from) else { return BoardChange::Root };
        if mv.is_castling() {
            let side = if to > from { CastlingSide::King } else { CastlingSide::Queen };
            let rook = Piece::new(us, PieceType::Rook);
            let adds = [(piece, side.king_target(us)), (rook, side.rook_target(us))];
            return BoardChange::Castling { adds, subs: [(piece, from), (rook, to)] };
        }
        let add = (mv.promotion().map_or(piece, |kind| Piece::new(us, kind)), to);
        let sub = (piece, from);
        let victim = if mv.is_en_passant() { to.offset(-us.forward()) } else { to };
        match board.piece_at(victim) {
            Some(captured) if mv.is_capture() => BoardChange::Capture { add, sub, victim: (captured, victim) },
            _ => BoardChange::Move { add, sub },
        }
    }

    /// Returns the target square of the mover's king, if it moves.
    #[inline]
    fn king_target(&self) -> Option<Square> {
        match *self {
            BoardChange::Move { add: (piece, to), .. } | BoardChange::Capture { add: (piece, to), .. } => {
                (piece.kind() == PieceType::King).then_some(to)
            }
            BoardChange::Castling { adds: [(_, to), _], .. } => Some(to),
            BoardChange::Root => None,
        }
    }

    /// Returns the pieces that appear and those that vanish.
    fn pieces(&self) -> ([Option<PlacedPiece>; 2], [Option<PlacedPiece>; 2]) {
        match *self {
            BoardChange::Root => ([None; 2], [None; 2]),
            BoardChange::Move { add, sub } => ([Some(add), None], [Some(sub), None]),
            BoardChange::Capture { add, sub, victim } => ([Some(add), None], [Some(sub), Some(victim)]),
            BoardChange::Castling { adds, subs } => (adds.map(Some), subs.map(Some)),
        }
    }
}

#[derive(Clone, Copy)]
struct Ply {
    /// Change from the previous ply.
    change: BoardChange,
    views: [View; 2],
    /// Sides whose accumulator is up to date.
    ready: [bool; 2],
}

/// Accumulators of a line of moves, for sets of features of single pieces. `LISTS` is false for the
/// set `piece`.
pub(super) struct PieceLine<const LISTS: bool> {
    network: Arc<Network>,
    kernels: &'static Kernels,
    plies: Vec<Ply>,
    /// Plies at which a king changed its side's view, with their positions. Later plies start from
    /// there, so that no two branches repeat a refresh.
    turns: Vec<(usize, Board)>,
    /// Accumulators `[ply][colour][hidden]`.
    values: AlignedArray<i16>,
    /// Refresh cache `[colour][slot][hidden]`, and the pieces of each of its accumulators.
    cached: AlignedArray<i16>,
    cached_pieces: Vec<[Bitboard; Piece::COUNT]>,
    /// Rows to add and subtract, if the set is not `piece`.
    lists: RowLists,
    counters: Counters,
}

/// Rows to add and to subtract, reused between updates.
#[derive(Default)]
struct RowLists {
    adds: Vec<u16>,
    subs: Vec<u16>,
}

impl RowLists {
    fn clear(&mut self) {
        self.adds.clear();
        self.subs.clear();
    }

    fn rows(&self) -> u64 {
        (self.adds.len() + self.subs.len()) as u64
    }
}

impl<const LISTS: bool> PieceLine<LISTS> {
    /// Creates accumulators at the starting position.
    pub(super) fn new(network: Arc<Network>, kernels: &'static Kernels) -> PieceLine<LISTS> {
        let hidden = network.layout().hidden;
        let slots = 2 * View::slots(network.layout());
        let biases = network.feature_biases().iter().copied().cycle();
        let cached = AlignedArray::collect(slots * hidden, biases);
        let mut line = PieceLine {
            kernels,
            plies: Vec::with_capacity(PLIES),
            turns: Vec::with_capacity(PLIES),
            values: AlignedArray::zeroed(PLIES * 2 * hidden),
            cached,
            cached_pieces: vec![[Bitboard::EMPTY; Piece::COUNT]; slots],
            lists: RowLists::default(),
            counters: Counters::default(),
            network,
        };
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
        let views = Color::ALL.map(|color| View::new(self.network.layout(), color, board.king(color)));
        self.plies.clear();
        self.turns.clear();
        self.plies.push(Ply { change: BoardChange::Root, views, ready: [false; 2] });
        // Refreshed now, while the board is known: otherwise every branch below would refresh by
        // itself.
        for color in Color::ALL {
            self.refresh(0, board, color);
        }
    }

    /// Records a legal move from the current position. Null moves change nothing and are not
    /// recorded.
    #[inline]
    pub(super) fn push(&mut self, board: &Board, mv: Move) {
        let us = board.turn();
        let change = BoardChange::of(board, mv);
        let before = self.top().views;
        let mut views = before;
        if let Some(king) = change.king_target() {
            views[us.index()] = View::new(self.network.layout(), us, king);
        }
        if views != before {
            let mut after = *board;
            after.play(mv);
            self.turns.push((self.plies.len(), after));
        }
        self.counters.moves += 1;
        self.plies.push(Ply { change, views, ready: [false; 2] });
    }

    /// Takes back the last move; the first position of the line stays.
    #[inline]
    pub(super) fn pop(&mut self) {
        if self.plies.len() > 1 {
            self.plies.pop();
            self.turns.pop_if(|(ply, _)| *ply == self.plies.len());
        }
    }

    /// Returns the evaluation of the current position in centipawns, from the side to move's view.
    #[inline]
    pub(super) fn evaluate(&mut self, board: &Board) -> Score {
        self.counters.evaluations += 1;
        let room = self.plies.len() * 2 * self.network.layout().hidden;
        if self.values.len() < room {
            self.values.grow(2 * room);
        }
        for color in Color::ALL {
            self.bring_up(color);
        }
        let [own, other] = [board.turn(), !board.turn()].map(|color| self.accumulator(self.plies.len() - 1, color));
        self.network.evaluate(self.kernels, own, other, self.network.output_bucket(board.occupied().count()))
    }

    #[inline]
    fn top(&self) -> &Ply {
        &self.plies[self.plies.len() - 1]
    }

    /// Returns the start of a side's accumulator at a ply.
    #[inline]
    fn start(&self, ply: usize, color: Color) -> usize {
        (2 * ply + color.index()) * self.network.layout().hidden
    }

    #[inline]
    fn accumulator(&self, ply: usize, color: Color) -> &[i16] {
        &self.values[self.start(ply, color)..][..self.network.layout().hidden]
    }

    /// Updates a side's accumulator at the top, from the last ply that has one or at which its view
    /// began.
    #[inline]
    fn bring_up(&mut self, color: Color) {
        let us = color.index();
        let top = self.plies.len() - 1;
        let mut from = top;
        // The first ply is always up to date.
        while !self.plies[from].ready[us] {
            if self.plies[from - 1].views[us] != self.plies[from].views[us] {
                self.begin_view(from, color);
                break;
            }
            from -= 1;
        }
        for ply in from + 1..=top {
            self.update(ply, color);
        }
    }

    /// Updates an accumulator from that of the previous ply.
    #[inline]
    fn update(&mut self, ply: usize, color: Color) {
        if LISTS {
            return self.update_by_list(ply, color);
        }
        let hidden = self.network.layout().hidden;
        let start = self.start(ply, color);
        let Ply { change, views, .. } = self.plies[ply];
        let view = views[color.index()];
        let (before, after) = self.values.split_at_mut(start);
        let (src, dst) = (&before[start - 2 * hidden..][..hidden], &mut after[..hidden]);
        let row = |(piece, square): PlacedPiece| self.network.row(view.feature(piece, square));
        match change {
            BoardChange::Move { add, sub } => (self.kernels.move_piece)(dst, src, [row(add), row(sub)]),
            BoardChange::Capture { add, sub, victim } => {
                (self.kernels.capture)(dst, src, [row(add), row(sub), row(victim)])
            }
            BoardChange::Castling { adds: [a, b], subs: [c, d] } => {
                (self.kernels.castle)(dst, src, [row(a), row(b), row(c), row(d)]);
            }
            BoardChange::Root => dst.copy_from_slice(src),
        }
        self.plies[ply].ready[color.index()] = true;
        self.counters.updates += 1;
    }

    /// Updates an accumulator by all features of the pieces that moved.
    fn update_by_list(&mut self, ply: usize, color: Color) {
        let hidden = self.network.layout().hidden;
        let start = self.start(ply, color);
        let Ply { change, views, .. } = self.plies[ply];
        let view = views[color.index()];
        let set = &self.network.layout().set;
        let mut lists = std::mem::take(&mut self.lists);
        lists.clear();
        let (adds, subs) = change.pieces();
        adds.iter().flatten().for_each(|&(piece, square)| view.features(set, piece, square, |f| lists.adds.push(f)));
        subs.iter().flatten().for_each(|&(piece, square)| view.features(set, piece, square, |f| lists.subs.push(f)));
        let (before, after) = self.values.split_at_mut(start);
        let (src, dst) = (&before[start - 2 * hidden..][..hidden], &mut after[..hidden]);
        dst.copy_from_slice(src);
        (self.kernels.apply)(dst, self.network.feature_weights(), &lists.adds, &lists.subs);
        self.plies[ply].ready[color.index()] = true;
        self.counters.updates += 1;
        self.counters.list_rows += lists.rows();
        self.lists = lists;
    }

    /// Computes a side's accumulator at a ply to which its king moved.
    #[inline(never)]
    fn begin_view(&mut self, ply: usize, color: Color) {
        let turn = self.turns.iter().rev().find(|(at, _)| *at == ply).map(|(_, board)| *board);
        self.refresh(ply, &turn.expect("a view that changed was noted"), color);
    }

    /// Computes a side's accumulator at a ply from the last one with its view.
    fn refresh(&mut self, ply: usize, board: &Board, color: Color) {
        let view = self.plies[ply].views[color.index()];
        let hidden = self.network.layout().hidden;
        if LISTS {
            return self.refresh_by_list(ply, board, color);
        }
        let slot = color.index() * View::slots(self.network.layout()) + view.slot();
        let (mut adds, mut subs) = (Features::new(), Features::new());
        for (piece, cached) in Piece::ALL.into_iter().zip(&mut self.cached_pieces[slot]) {
            let now = board.pieces(piece.color(), piece.kind());
            adds.extend(view, piece, now - *cached);
            subs.extend(view, piece, *cached - now);
            *cached = now;
        }
        let acc = &mut self.cached[slot * hidden..][..hidden];
        (self.kernels.apply)(acc, self.network.feature_weights(), adds.as_slice(), subs.as_slice());
        self.take_cached(ply, color, slot);
        self.counters.refresh_rows += (adds.len + subs.len) as u64;
    }

    /// Refreshes by all features of the pieces that changed since the view was cached.
    fn refresh_by_list(&mut self, ply: usize, board: &Board, color: Color) {
        let view = self.plies[ply].views[color.index()];
        let hidden = self.network.layout().hidden;
        let slot = color.index() * View::slots(self.network.layout()) + view.slot();
        let set = &self.network.layout().set;
        let mut lists = std::mem::take(&mut self.lists);
        lists.clear();
        for (piece, cached) in Piece::ALL.into_iter().zip(&mut self.cached_pieces[slot]) {
            let now = board.pieces(piece.color(), piece.kind());
            (now - *cached).iter().for_each(|square| view.features(set, piece, square, |f| lists.adds.push(f)));
            (*cached - now).iter().for_each(|square| view.features(set, piece, square, |f| lists.subs.push(f)));
            *cached = now;
        }
        let acc = &mut self.cached[slot * hidden..][..hidden];
        (self.kernels.apply)(acc, self.network.feature_weights(), &lists.adds, &lists.subs);
        self.counters.refresh_rows += lists.rows();
        self.lists = lists;
        self.take_cached(ply, color, slot);
    }

    /// Copies a cached accumulator to a ply.
    fn take_cached(&mut self, ply: usize, color: Color, slot: usize) {
        let hidden = self.network.layout().hidden;
        let start = self.start(ply, color);
        self.values[start..][..hidden].copy_from_slice(&self.cached[slot * hidden..][..hidden]);
        self.plies[ply].ready[color.index()] = true;
        self.counters.refreshes += 1;
    }
}
