//! Basic types of the engine: colours, pieces, squares, bitboards, moves and scores.
//!
//! All are plain data that know nothing of the rules of chess, which are in [`crate::board`].

mod bitboard;
mod chess_move;
mod color;
mod move_list;
mod piece;
mod random;
mod score;
mod square;

pub use bitboard::{Bitboard, Squares};
pub use chess_move::{Flag, Move};
pub use color::Color;
pub use move_list::{MAX_MOVES, MoveList};
pub use piece::{Piece, PieceType};
pub use random::SplitMix64;
pub use score::{
    DRAW, INFINITE, MATE, MATE_IN_MAX, MAX_DEPTH, MAX_PLY, Score, TABLE_WIN, TABLE_WIN_IN_MAX, is_decisive, is_mate,
    mate_in, mated_in,
};
pub use square::Square;
