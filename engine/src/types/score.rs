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

/// Plies a line may have below the root.
pub const MAX_PLY: usize = 128;

/// Score of a win that an endgame table knows, less the plies to it: below every mate that was
/// seen, above every evaluation.
pub const TABLE_WIN: Score = 25_000;
/// Scores from here up to the mates are wins by endgame tables, and evaluations are below it.
pub const TABLE_WIN_IN_MAX: Score = TABLE_WIN - MAX_PLY as Score;
const _: () = assert!(TABLE_WIN < MATE_IN_MAX);

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
