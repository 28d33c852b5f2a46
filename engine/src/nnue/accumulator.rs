//! Accumulators of the first layer for every ply of the line being searched.
//!
//! A move only records its changes. When a position is evaluated, each side's accumulator is
//! updated from the nearest ply that has one. If a king's move on the way changed the side's view,
//! the accumulator is refreshed from the last one with this view, because few pieces have moved in
//! between. (This is called a Finny table, after its inventor's handle.)

use super::features::View;
use super::network::Network;
use super::simd::{AlignedArray, Kernels};
use crate::board::{Board, CastlingSide};
use crate::types::{Bitboard, Color, Move, Piece, PieceType, Score, Square};
use std::sync::Arc;

/// Initial capacity in plies: a search line with its quiescence search.
const PLIES: usize = 160;

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
}

#[derive(Clone, Copy)]
struct Ply {
    /// Change from the previous ply.
    change: BoardChange,
    views: [View; 2],
    /// Sides whose accumulator is up to date.
    ready: [bool; 2],
}

/// Features to add or subtract; a board has at most 64 pieces.
struct Features {
    list: [u16; 64],
    len: usize,
}

impl Features {
    fn new() -> Features {
        Features { list: [0; 64], len: 0 }
    }

    #[inline]
    fn extend(&mut self, view: View, piece: Piece, squares: Bitboard) {
        for square in squares {
            self.list[self.len & 63] = view.feature(piece, square);
            self.len += 1;
        }
    }

    fn as_slice(&self) -> &[u16] {
        &self.list[..self.len.min(64)]
    }
}

/// Counts of the work done, for the benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// Number of evaluations.
    pub evaluations: u64,
    /// Moves recorded.
    pub moves: u64,
    /// Updates of one side's accumulator by a move.
    pub updates: u64,
    /// Refreshes of one side's accumulator from the cache.
    pub refreshes: u64,
    /// Rows added or subtracted by refreshes.
    pub refresh_rows: u64,
}

/// Accumulators of a line of moves, and their network.
pub struct Accumulators {
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
    counters: Counters,
}

impl Accumulators {
    /// Creates accumulators at the starting position, with the best kernels of this processor.
    pub fn new(network: Arc<Network>) -> Accumulators {
        Accumulators::with_kernels(network, Kernels::detect())
    }

    /// Creates accumulators with given kernels, for tests and benchmarks.
    pub fn with_kernels(network: Arc<Network>, kernels: &'static Kernels) -> Accumulators {
        let hidden = network.layout().hidden;
        let slots = 2 * 2 * network.layout().king_buckets;
        let biases = network.feature_biases().iter().copied().cycle();
        let cached = AlignedArray::collect(slots * hidden, biases);
        let mut accumulators = Accumulators {
            kernels,
            plies: Vec::with_capacity(PLIES),
            turns: Vec::with_capacity(PLIES),
            values: AlignedArray::zeroed(PLIES * 2 * hidden),
            cached,
            cached_pieces: vec![[Bitboard::EMPTY; Piece::COUNT]; slots],
            counters: Counters::default(),
            network,
        };
        accumulators.reset(&Board::startpos());
        accumulators
    }

    /// Returns the network.
    pub fn network(&self) -> &Arc<Network> {
        &self.network
    }

    /// Returns the counts of the work done so far.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Starts a line at a position.
    pub fn reset(&mut self, board: &Board) {
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
    pub fn push(&mut self, board: &Board, mv: Move) {
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
    pub fn pop(&mut self) {
        if self.plies.len() > 1 {
            self.plies.pop();
            self.turns.pop_if(|(ply, _)| *ply == self.plies.len());
        }
    }

    /// Returns the evaluation of the current position in centipawns, from the side to move's view.
    #[inline]
    pub fn evaluate(&mut self, board: &Board) -> Score {
        self.counters.evaluations += 1;
        let room = self.plies.len() * 2 * self.network.layout().hidden;
        if self.values.len() < room {
            self.values.grow(2 * room);
        }
        for color in Color::ALL {
            self.bring_up(color);
        }
        let [own, other] = [board.turn(), !board.turn()].map(|color| self.accumulator(self.plies.len() - 1, color));
        let value =
            self.network.evaluate(self.kernels, own, other, self.network.output_bucket(board.occupied().count()));
        debug_assert_eq!(value, self.network.evaluate_alone(board), "the line is not at this position");
        value
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
        let slot = color.index() * 2 * self.network.layout().king_buckets + view.slot();
        let (mut adds, mut subs) = (Features::new(), Features::new());
        for (piece, cached) in Piece::ALL.into_iter().zip(&mut self.cached_pieces[slot]) {
            let now = board.pieces(piece.color(), piece.kind());
            adds.extend(view, piece, now - *cached);
            subs.extend(view, piece, *cached - now);
            *cached = now;
        }
        let acc = &mut self.cached[slot * hidden..][..hidden];
        (self.kernels.apply)(acc, self.network.feature_weights(), adds.as_slice(), subs.as_slice());
        let start = self.start(ply, color);
        self.values[start..][..hidden].copy_from_slice(&self.cached[slot * hidden..][..hidden]);
        self.plies[ply].ready[color.index()] = true;
        self.counters.refreshes += 1;
        self.counters.refresh_rows += (adds.len + subs.len) as u64;
    }
}

impl Network {
    /// Evaluates a position from scratch: every piece is added to the biases.
    pub fn evaluate_alone(&self, board: &Board) -> Score {
        self.evaluate_alone_with(Kernels::detect(), board)
    }

    /// Evaluates like [`Self::evaluate_alone`], with given kernels.
    pub fn evaluate_alone_with(&self, kernels: &Kernels, board: &Board) -> Score {
        self.evaluate_pieces(kernels, board, board.occupied())
    }

    /// Computes the share of each piece but the kings in the evaluation, in centipawns from White's
    /// view. It is the evaluation less that of the same board without the piece.
    pub fn piece_shares(&self, board: &Board) -> Vec<(Square, Score)> {
        let kernels = Kernels::detect();
        let white = |value: Score| if board.turn() == Color::White { value } else { -value };
        let whole = self.evaluate_alone(board);
        let kings = board.kind(PieceType::King);
        (board.occupied() - kings)
            .into_iter()
            .map(|square| {
                let rest = board.occupied() - Bitboard::from_square(square);
                (square, white(whole - self.evaluate_pieces(kernels, board, rest)))
            })
            .collect()
    }

    /// Evaluates a board with only the pieces on `kept`.
    fn evaluate_pieces(&self, kernels: &Kernels, board: &Board, kept: Bitboard) -> Score {
        let [own, other] = [board.turn(), !board.turn()].map(|color| {
            let view = View::new(self.layout(), color, board.king(color));
            let mut features = Features::new();
            for piece in Piece::ALL {
                features.extend(view, piece, board.pieces(piece.color(), piece.kind()) & kept);
            }
            let mut acc = AlignedArray::collect(self.layout().hidden, self.feature_biases().iter().copied());
            (kernels.apply)(&mut acc, self.feature_weights(), features.as_slice(), &[]);
            acc
        });
        self.evaluate(kernels, &own, &other, self.output_bucket(kept.count()))
    }
}
