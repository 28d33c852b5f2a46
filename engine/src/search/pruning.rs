//! Pruning margins as pure functions. Depths are in plies, scores in centipawns.

use super::params;
use crate::types::{Score, is_mate};

/// Reverse futility pruning (RFP, static null-move pruning): returns the margin above beta at which
/// a node is taken to fail high.
///
/// It is futility pruning (E. Heinz, ICCA Journal 21(2), 1998) for the other side.
pub fn reverse_futility_margin(depth: i32) -> Option<Score> {
    (depth <= params::reverse_futility_depth()).then(|| params::reverse_futility_slope() * depth)
}

/// RFP: returns the part of the margin for own pieces that lesser ones attack (common practice).
pub fn threat_margin(pieces: u32) -> Score {
    params::reverse_futility_threat() * pieces as Score
}

/// RFP: returns the score of a pruned node.
///
/// It lies between beta and the evaluation, which no search has confirmed ("fail medium", common
/// practice).
pub fn reverse_futility_score(eval: Score, beta: Score) -> Score {
    beta + (eval - beta) * params::reverse_futility_blend() / 64
}

/// Razoring: returns the margin below alpha within which moves are still searched.
///
/// Below it only a capture can help, and quiescence search decides ("Computer chess methods", J.
/// Birmingham and P. Kent, Advances in Computer Chess 1, 1977).
pub fn razoring_margin(depth: i32) -> Option<Score> {
    (depth <= params::razoring_depth()).then(|| params::razoring_base() + params::razoring_slope() * depth * depth)
}

/// ProbCut: returns the bound above beta that a capture must reach in a reduced search (M. Buro,
/// "ProbCut: an effective selective extension of the alpha-beta algorithm", ICCA Journal 18(2),
/// 1995).
pub fn probcut_bound(depth: i32, beta: Score) -> Option<Score> {
    (depth >= params::probcut_depth() && !is_mate(beta)).then(|| beta + params::probcut_margin())
}

/// ProbCut: reduction of the search that stands in for the full one, in plies.
pub const PROBCUT_REDUCTION: i32 = 4;

/// Null-move pruning (NMP): returns whether the side to move may try a null move (C. Donninger,
/// "Null move and deep search", ICCA Journal 16(3), 1993).
///
/// Without pieces zugzwang is too likely, and mates must be proven by moves. At low depth little
/// can be saved, so the static evaluation must be higher (common practice).
pub fn may_try_null_move(depth: i32, eval: Score, static_eval: Score, beta: Score, has_pieces: bool) -> bool {
    let surplus = params::null_move_static_base() - params::null_move_static_slope() * depth;
    depth >= 3 && eval >= beta && static_eval >= beta + surplus && has_pieces && !is_mate(beta)
}

/// NMP: returns the reduction in plies.
///
/// It grows with depth ("adaptive null-move pruning", E. Heinz, ICCA Journal 22(3), 1999) and with
/// the evaluation's surplus over beta, by up to three plies (common practice).
pub fn null_move_reduction(depth: i32, eval: Score, beta: Score) -> i32 {
    let surplus = ((eval - beta) / params::null_move_eval_divisor()).clamp(0, 3);
    (params::null_move_base() + params::null_move_slope() * depth) / 100 + surplus
}

/// NMP: returns whether a fail high at this depth needs verification by a search without null
/// moves.
///
/// At high depth an overlooked zugzwang costs more than the search ("verified null-move pruning",
/// O. David-Tabibi and N. Netanyahu, ICGA Journal 25(3), 2002). At low depth RFP may still prune
/// the root of the verification search.
pub fn wants_verification(depth: i32) -> bool {
    depth >= params::null_move_verified_depth()
}

/// NMP: returns the ply from which null moves are allowed again during verification.
pub fn verification_end(ply: usize, depth: i32) -> usize {
    ply + usize::try_from(3 * depth / 4).unwrap_or(0)
}

/// Late move pruning (LMP, move-count pruning; common practice): returns the number of moves after
/// which quiet moves are skipped.
///
/// At low depth a good quiet move is rarely ordered that late, least of all if the side to move is
/// not improving.
pub fn late_move_count(depth: i32, improving: bool) -> Option<usize> {
    let all = params::late_move_base() + params::late_move_slope() * depth * depth;
    let count = if improving { all } else { all * params::late_move_not_improving() / 100 };
    (depth <= params::late_move_depth()).then(|| usize::try_from(count / 100).unwrap_or(0))
}

/// Futility pruning: returns the margin below alpha within which a quiet move is still searched (E.
/// Heinz, "Extended futility pruning", ICCA Journal 21(2), 1998).
///
/// The depth is reduced by late move reductions (LMR).
pub fn futility_margin(depth: i32) -> Option<Score> {
    (depth <= params::futility_depth()).then(|| params::futility_base() + params::futility_slope() * depth)
}

/// History pruning (common practice): returns the least history score of a quiet move that is still
/// searched.
///
/// The depth is reduced by LMR.
pub fn history_threshold(depth: i32) -> Option<i32> {
    (depth <= params::history_pruning_depth()).then(|| -params::history_pruning_slope() * depth)
}

/// Returns the quiescence score of a stand-pat cutoff.
///
/// It lies between beta and the evaluation ("fail medium", common practice).
pub fn stand_pat_score(eval: Score, beta: Score) -> Score {
    beta + (eval - beta) * params::stand_pat_blend() / 64
}

/// Delta pruning: returns the upper bound of the score after a capture that wins `gain`.
///
/// The capture is skipped if this does not exceed alpha (E. Heinz, "AEL pruning", ICGA Journal
/// 23(1), 2000, calls it futility pruning).
pub fn delta_bound(stand_pat: Score, gain: Score) -> Score {
    stand_pat + gain + params::delta_margin()
}

/// SEE pruning (common practice): returns the least static exchange value of a move that is still
/// searched, in centipawns.
///
/// It falls with depth, because a deeper search can win more back. For quiet moves the depth is
/// reduced by LMR.
pub fn exchange_threshold(depth: i32, is_quiet: bool) -> Option<Score> {
    let loss = if is_quiet {
        params::quiet_exchange_slope() * depth + params::quiet_exchange_square() * depth * depth
    } else {
        params::capture_exchange_slope() * depth
    };
    (depth <= params::exchange_pruning_depth()).then_some(-loss)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::MATE_IN_MAX;

    #[test]
    fn a_null_move_is_searched_less_deep_the_deeper_and_the_better() {
        for depth in 0..128 {
            for eval in (0..2000).step_by(50) {
                let reduction = null_move_reduction(depth, eval, 0);
                assert!(reduction <= null_move_reduction(depth + 1, eval, 0));
                assert!(reduction <= null_move_reduction(depth, eval + 50, 0));
            }
        }
        assert_eq!(null_move_reduction(5, 0, 0) + 3, null_move_reduction(5, 20_000, 0));
    }

    #[test]
    fn hopeless_nodes_are_razored_at_low_depths() {
        assert!(razoring_margin(1) < razoring_margin(2));
        assert_eq!(razoring_margin(20), None);
    }

    #[test]
    fn a_cut_by_a_shallow_search_wants_depth_and_no_mate() {
        let wanted = params::probcut_depth();
        assert!(probcut_bound(wanted, 10).is_some_and(|bound| bound > 10));
        for (depth, beta) in [(wanted - 1, 10), (wanted, MATE_IN_MAX), (wanted, -MATE_IN_MAX)] {
            assert_eq!(probcut_bound(depth, beta), None);
        }
    }

    #[test]
    fn deep_null_moves_are_verified_and_the_verification_ends() {
        let from = params::null_move_verified_depth();
        for depth in 1..128 {
            assert_eq!(wants_verification(depth), depth >= from);
            assert!((5..=5 + depth as usize).contains(&verification_end(5, depth)));
        }
    }

    #[test]
    fn quiet_moves_are_left_out_at_low_depths_only() {
        for improving in [false, true] {
            for depth in 1..8 {
                let (here, deeper) = (late_move_count(depth, improving), late_move_count(depth + 1, improving));
                assert!(here < deeper || deeper.is_none());
                assert!(late_move_count(depth, false) <= late_move_count(depth, true));
            }
            assert_eq!((late_move_count(30, improving), futility_margin(30)), (None, None));
        }
        assert!(futility_margin(1) < futility_margin(2));
    }

    #[test]
    fn reverse_futility_is_for_low_depths() {
        assert_eq!(reverse_futility_margin(1), Some(params::reverse_futility_slope()));
        assert!(reverse_futility_margin(3) > reverse_futility_margin(2));
        assert_eq!(reverse_futility_margin(20), None);
        assert_eq!((threat_margin(0), threat_margin(2)), (0, 2 * params::reverse_futility_threat()));
        for (eval, beta) in [(100, 0), (0, 0), (900, -300)] {
            assert!((beta..=eval).contains(&reverse_futility_score(eval, beta)));
        }
    }

    #[test]
    fn the_less_depth_the_better_a_move_must_have_been() {
        for depth in 1..params::history_pruning_depth() {
            assert!(history_threshold(depth) > history_threshold(depth + 1));
        }
        assert!(history_threshold(1).is_some_and(|least| least < 0));
        assert_eq!(history_threshold(30), None);
    }

    #[test]
    fn standing_pat_scores_between_beta_and_the_evaluation() {
        for (eval, beta) in [(100, 0), (0, 0), (900, -300)] {
            assert!((beta..=eval).contains(&stand_pat_score(eval, beta)));
        }
    }

    #[test]
    fn a_capture_brings_what_it_takes_and_a_little_more() {
        for gain in [0, 100, 900] {
            assert!(delta_bound(-50, gain) > gain - 50);
        }
    }

    #[test]
    fn an_exchange_may_lose_more_with_more_depth() {
        for is_quiet in [false, true] {
            for depth in 1..8 {
                assert!(exchange_threshold(depth, is_quiet) > exchange_threshold(depth + 1, is_quiet));
            }
            assert_eq!(exchange_threshold(20, is_quiet), None);
        }
    }

    #[test]
    fn a_null_move_needs_depth_value_and_pieces() {
        let surplus = params::null_move_static_base() - params::null_move_static_slope() * 4;
        for (depth, eval, static_eval, beta, pieces, may) in [
            (3, 10, 900, 10, true, true),
            (4, 10, 900, 10, true, true),
            (2, 10, 900, 10, true, false),
            (9, 9, 900, 10, true, false),
            (9, 50, 900, 10, false, false),
            (9, 0, 900, -MATE_IN_MAX, true, false),
            (4, 900, 10 + surplus, 10, true, true),
            (4, 900, 9 + surplus, 10, true, false),
        ] {
            let found = may_try_null_move(depth, eval, static_eval, beta, pieces);
            assert_eq!(found, may, "{depth} {eval} {static_eval} {beta} {pieces}");
        }
    }
}
