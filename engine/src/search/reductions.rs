//! Reductions of late moves, and adjustments of their re-search, as pure functions.
//!
//! Depths are in plies, reductions in 1024ths of a ply.

use super::params;
use crate::types::Score;

/// One ply of reduction.
pub const PLY: i32 = 1024;

/// Inputs of late move reductions (LMR) for one move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LateMove {
    /// Remaining depth in plies.
    pub depth: i32,
    /// Place in the move order, from 1.
    pub number: usize,
    /// History score.
    pub history: i32,
    /// Set in nodes of the principal variation.
    pub is_pv: bool,
    /// Set in nodes that are in the principal variation now or were in an earlier search.
    pub was_pv: bool,
    /// Set if the static evaluation of the side to move has risen or reaches beta.
    pub improving: bool,
    /// Set if the node's move from the transposition table (TT) is a capture. Quiet moves are then
    /// less likely to be best.
    pub tt_captures: bool,
    /// Set for captures and promotions.
    pub is_capture: bool,
    /// Set for killer moves.
    pub is_killer: bool,
    /// Set for moves that give check.
    pub gives_check: bool,
    /// Set if the node is expected to fail high; late moves matter least there.
    pub is_cut: bool,
    /// Set if moves at the child's ply have caused many cutoffs.
    pub is_refuted: bool,
    /// Set if an earlier move of the node has raised alpha.
    pub alpha_raised: bool,
    /// Set if the side to move is in check.
    pub is_evasion: bool,
    /// Size of the correction of the static evaluation, in centipawns.
    pub correction: Score,
}

/// Late move reductions (LMR): returns the reduction of a move late in the order, in 1024ths of a
/// ply; negative values are allowed (T. Romstad, "An introduction to late move reductions").
///
/// The base grows with the logarithms of depth and move number. The adjustments are common
/// practice.
pub fn late_move_reduction(mv: LateMove) -> i32 {
    let logarithms = natural_log_1024(mv.depth.max(1) as usize) * natural_log_1024(mv.number) / 1024;
    let mut reduction = params::reduction_base() + 100 * logarithms / params::reduction_divisor();
    reduction -= params::reduction_correction() * mv.correction / 64;
    reduction -= PLY * mv.history / params::reduction_history_divisor();
    for (applies, adjustment) in [
        (mv.is_pv, -params::reduction_pv()),
        (mv.was_pv, -params::reduction_was_pv()),
        (!mv.improving, params::reduction_not_improving()),
        (mv.tt_captures, params::reduction_tt_capture()),
        (mv.is_capture, -params::reduction_capture()),
        (mv.number == 2, -params::reduction_second()),
        (mv.is_killer, -params::reduction_killer()),
        (mv.gives_check, -params::reduction_check()),
        (mv.is_cut, params::reduction_cut()),
        (mv.is_refuted, params::reduction_refuted()),
        (mv.alpha_raised, params::reduction_raised()),
        (mv.is_evasion, -params::reduction_evasion()),
    ] {
        reduction += adjustment * i32::from(applies);
    }
    reduction
}

/// Returns the depth of a reduced search: at least one ply, and at most the full `depth`.
pub fn reduced_depth(depth: i32, reduction: i32) -> i32 {
    (depth - reduction.max(0) / PLY).max(1).min(depth)
}

/// Do-deeper and do-shallower (common practice): returns the change in depth of a re-search. One
/// ply more if the reduced score is far above the best so far, one less if it is barely above.
pub fn research_adjustment(score: Score, best: Score, depth: i32) -> i32 {
    let deeper = score > best + params::deeper_base() + params::deeper_slope() * depth;
    let shallower = score < best + params::shallower_margin();
    i32::from(deeper) - i32::from(shallower)
}

/// Hindsight adjustment (common practice): returns the change in depth of a node reached by a
/// reduced move.
///
/// One ply more if the reduction was large and the move cost its side nothing. One ply less if the
/// move lost so much that the side to move has little to find. `eval` is from the side to move's
/// view, `eval_before` from the opponent's before its move.
pub fn hindsight_adjustment(reduction: i32, depth: i32, eval: Score, eval_before: Score) -> i32 {
    if reduction >= params::hindsight_deeper() && eval <= -eval_before {
        1
    } else if reduction >= 2 && depth >= 2 && eval + eval_before > params::hindsight_shallower() {
        -1
    } else {
        0
    }
}

/// Returns 1024 times the natural logarithm of `n`, which must be at least 1. Larger numbers than
/// the table holds count as its last.
fn natural_log_1024(n: usize) -> i32 {
    NATURAL_LOG_1024[n.min(NATURAL_LOG_1024.len() - 1)]
}

/// Logarithms made without floating point, so they are the same on every machine.
static NATURAL_LOG_1024: [i32; 128] = {
    let mut table = [0; 128];
    let mut n = 2;
    while n < table.len() {
        // ln 2 in 65536ths is 45426.
        table[n] = ((log2_65536(n as u64) * 45_426 + (1 << 21)) >> 22) as i32;
        n += 1;
    }
    table
};

/// Returns 65536 times the binary logarithm. Each squaring of the mantissa yields one binary digit.
const fn log2_65536(n: u64) -> u64 {
    let whole = n.ilog2();
    let mut mantissa = (n << 32) >> whole;
    let mut places = 0;
    let mut place = 0;
    while place < 16 {
        mantissa = ((mantissa as u128 * mantissa as u128) >> 32) as u64;
        let carry = mantissa >> 33;
        mantissa >>= carry;
        places = places << 1 | carry;
        place += 1;
    }
    (whole as u64) << 16 | places
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: LateMove = LateMove {
        depth: 8,
        number: 10,
        history: 0,
        is_pv: false,
        was_pv: false,
        improving: true,
        tt_captures: false,
        is_capture: false,
        is_killer: false,
        gives_check: false,
        is_cut: false,
        is_refuted: false,
        alpha_raised: false,
        is_evasion: false,
        correction: 0,
    };

    #[test]
    fn reductions_grow_with_depth_and_move_number() {
        for depth in 0..128 {
            for number in 1..200 {
                let reduction = |mv: LateMove| late_move_reduction(LateMove { depth, number, ..mv });
                let plain = reduction(PLAIN);
                // The first move is never reduced, and the second less than its number implies.
                assert!(number == 1 || plain <= late_move_reduction(LateMove { depth, number: number + 1, ..PLAIN }));
                assert!(plain <= late_move_reduction(LateMove { depth: depth + 1, number, ..PLAIN }));
                for less in [
                    LateMove { history: 20_000, ..PLAIN },
                    LateMove { is_pv: true, ..PLAIN },
                    LateMove { was_pv: true, ..PLAIN },
                    LateMove { is_capture: true, ..PLAIN },
                    LateMove { is_killer: true, ..PLAIN },
                    LateMove { gives_check: true, ..PLAIN },
                    LateMove { is_evasion: true, ..PLAIN },
                    LateMove { is_cut: true, ..PLAIN },
                    LateMove { correction: 64, ..PLAIN },
                ] {
                    assert!(reduction(less) < plain, "{depth} {number}: {less:?}");
                }
                for more in [
                    LateMove { history: -20_000, ..PLAIN },
                    LateMove { improving: false, ..PLAIN },
                    LateMove { tt_captures: true, ..PLAIN },
                    LateMove { is_refuted: true, ..PLAIN },
                    LateMove { alpha_raised: true, ..PLAIN },
                ] {
                    assert!(reduction(more) > plain, "{depth} {number}: {more:?}");
                }
            }
        }
    }

    #[test]
    fn a_reduced_depth_is_between_one_and_the_whole() {
        for (depth, reduction, reduced) in [
            (5, 0, 5),
            (5, 1023, 5),
            (5, 1024, 4),
            (5, 9 * 1024, 1),
            (5, -9999, 5),
            (1, 4096, 1),
            (0, 2048, 0),
            (0, 0, 0),
        ] {
            assert_eq!(reduced_depth(depth, reduction), reduced, "{depth} {reduction}");
        }
    }

    #[test]
    fn a_second_search_follows_its_score() {
        for (score, change) in [(0, -1), (1000, 1), (params::shallower_margin(), 0)] {
            assert_eq!(research_adjustment(score, 0, 4), change, "{score}");
        }
    }

    #[test]
    fn hindsight_wants_depth_back_where_too_much_was_taken_off() {
        let (much, sum) = (params::hindsight_deeper(), params::hindsight_shallower());
        for (reduction, depth, eval, before, change) in [
            (much, 1, -10, 10, 1),
            (much, 1, -500, 10, 1),
            (much - 1, 1, -500, 10, 0),
            (much, 5, 10, 10, 0),
            (2, 5, sum, 1, -1),
            (2, 5, sum, 0, 0),
            (2, 1, sum, 1, 0),
            (1, 5, sum, 1, 0),
        ] {
            assert_eq!(hindsight_adjustment(reduction, depth, eval, before), change, "{reduction} {eval} {before}");
        }
    }

    #[test]
    fn logarithms_are_right_to_one_in_1024() {
        for n in 1..128 {
            let exact = 1024.0 * f64::from(n).ln();
            assert!((f64::from(natural_log_1024(n as usize)) - exact).abs() < 1.0, "{n}");
        }
        assert_eq!(natural_log_1024(1000), natural_log_1024(127));
    }
}
