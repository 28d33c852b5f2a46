//! Scores of the search.

/// Score in centipawns, or a distance to mate near the ends of the range.
pub type Score = i32;

/// Bound above every score.
pub const INFINITE: Score = 32_000;
/// Score of mate on the board; a mate in `n` plies is `MATE - n`.
pub const MATE: Score = 31_000;
/// Lowest score of a mate.
pub const MATE_IN_MAX: Score = MATE - 256;
/// Score of a draw, in centipawns.
pub const DRAW: Score = 0;

/// Maximum length of a line below the root, in plies.
pub const MAX_PLY: usize = 128;
/// Maximum depth of a search and of a perft, in plies.
pub const MAX_DEPTH: i32 = MAX_PLY as i32 - 1;

/// Score of a tablebase win on the board, less the plies to it.
///
/// It is below every mate and above every evaluation.
pub const TABLE_WIN: Score = 25_000;
/// Lowest score of a tablebase win; evaluations are below it.
pub const TABLE_WIN_IN_MAX: Score = TABLE_WIN - MAX_PLY as Score;
const _: () = assert!(TABLE_WIN < MATE_IN_MAX);

/// Returns the score of mating `ply` plies from the root.
#[inline]
pub const fn mate_in(ply: i32) -> Score {
    MATE - ply
}

/// Returns the score of being mated `ply` plies from the root.
#[inline]
pub const fn mated_in(ply: i32) -> Score {
    ply - MATE
}

/// Returns whether a score is a forced mate or a tablebase result of a win for either side.
#[inline]
pub const fn is_decisive(score: Score) -> bool {
    score.abs() >= TABLE_WIN_IN_MAX
}

/// Returns whether a score is a forced mate for either side.
#[inline]
pub const fn is_mate(score: Score) -> bool {
    score.abs() >= MATE_IN_MAX
}
