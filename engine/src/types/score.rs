//! Scores of the search.

/// A score in centipawns, or a distance to mate near the ends of the range.
pub type Score = i32;

/// Above every score.
pub const INFINITE: Score = 32_000;
/// Mate on the board; a mate in `n` plies is `MATE - n`.
pub const MATE: Score = 31_000;
/// Scores beyond this are mates.
pub const MATE_IN_MAX: Score = MATE - 256;
pub const DRAW: Score = 0;

/// The score of giving mate `ply` plies from the root.
#[inline]
pub const fn mate_in(ply: i32) -> Score {
    MATE - ply
}

/// The score of being mated `ply` plies from the root.
#[inline]
pub const fn mated_in(ply: i32) -> Score {
    ply - MATE
}

/// True for a forced mate of either side.
#[inline]
pub const fn is_mate(score: Score) -> bool {
    score.abs() >= MATE_IN_MAX
}
