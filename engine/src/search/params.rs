//! The numbers of the search that are tuned, each in one row: name, default, range and step. What gives a rule its shape is fixed
//! and stands where it is used: the least depths of two or three plies, parts of a depth, counts of moves, caps, and all of `time.rs`,
//! which games at fixed nodes cannot tune.
//!
//! In a normal build every name is a constant function. With the feature `tune` it reads a value that a UCI option of the same
//! name sets. `destrier spsa` prints the rows for a tuner.

/// A number that can be tuned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Param {
    pub name: &'static str,
    pub default: i32,
    pub min: i32,
    pub max: i32,
    /// The distance a tuner perturbs by at its end (`c_end` of SPSA).
    pub step: i32,
}

macro_rules! params {
    ($($(#[$doc:meta])* $name:ident: $default:literal, $min:literal, $max:literal, $step:literal;)*) => {
        /// All rows, in the order of the table.
        pub const ALL: &[Param] = &[$(Param {
            name: stringify!($name),
            default: $default,
            min: $min,
            max: $max,
            step: $step,
        }),*];

        $(
            $(#[$doc])*
            #[cfg(not(feature = "tune"))]
            #[inline]
            pub const fn $name() -> i32 {
                $default
            }
        )*

        #[cfg(feature = "tune")]
        mod values {
            use std::sync::atomic::AtomicI32;
            $(
                #[expect(non_upper_case_globals, reason = "named as the row")]
                pub static $name: AtomicI32 = AtomicI32::new($default);
            )*
        }

        $(
            $(#[$doc])*
            #[cfg(feature = "tune")]
            #[inline]
            pub fn $name() -> i32 {
                values::$name.load(std::sync::atomic::Ordering::Relaxed)
            }
        )*

        /// Sets a value for all searches of this process; false when there is no such name or the value is out of range.
        #[cfg(feature = "tune")]
        pub fn set(name: &str, value: i32) -> bool {
            match name {
                $(stringify!($name) if ($min..=$max).contains(&value) => {
                    values::$name.store(value, std::sync::atomic::Ordering::Relaxed);
                    true
                })*
                _ => false,
            }
        }
    };
}

params! {
    /// Half width of the first aspiration window, in centipawns.
    aspiration_delta: 19, 5, 60, 4;
    /// Aspiration: by how many plies at most a search is repeated less deep after scores above its window.
    aspiration_reduction: 2, 0, 5, 1;
    /// Reverse futility pruning: the greatest depth.
    reverse_futility_depth: 8, 4, 12, 1;
    /// Reverse futility pruning: margin in centipawns for each ply of depth.
    reverse_futility_slope: 40, 10, 150, 8;
    /// Razoring: the greatest depth.
    razoring_depth: 4, 1, 8, 1;
    /// Razoring: margin in centipawns at any depth.
    razoring_base: 249, 80, 500, 20;
    /// Razoring: margin in centipawns for the square of the depth.
    razoring_slope: 107, 40, 300, 12;
    /// ProbCut: the least depth.
    probcut_depth: 5, 3, 9, 1;
    /// ProbCut: centipawns above beta.
    probcut_margin: 152, 60, 350, 15;
    /// Null move: the least depth at which a fail high is verified.
    null_move_verified_depth: 13, 8, 20, 1;
    /// Reverse futility pruning: 64ths of the way from beta to the evaluation that the score is.
    reverse_futility_blend: 42, 0, 64, 6;
    /// Late move pruning: the greatest depth.
    late_move_depth: 8, 3, 12, 1;
    /// Late move pruning: hundredths of moves looked at at any depth.
    late_move_base: 545, 100, 1000, 50;
    /// Late move pruning: and for the square of the depth.
    late_move_slope: 136, 25, 250, 12;
    /// Late move pruning: the part of the moves looked at by a side that is not improving, in hundredths.
    late_move_not_improving: 70, 30, 100, 5;
    /// Futility pruning: the greatest depth that late move reductions leave.
    futility_depth: 7, 2, 12, 1;
    /// Futility pruning: margin in centipawns at any depth.
    futility_base: 57, 0, 250, 15;
    /// Futility pruning: margin in centipawns for each ply of depth.
    futility_slope: 62, 30, 200, 10;
    /// History pruning: the greatest depth that late move reductions leave.
    history_pruning_depth: 5, 2, 10, 1;
    /// History pruning: how bad what is remembered of a quiet move may be for each ply of depth.
    history_pruning_slope: 5209, 1000, 12000, 400;
    /// Delta pruning: centipawns beside what a capture wins.
    delta_margin: 166, 60, 400, 15;
    /// Exchange pruning: the greatest depth; of quiet moves that which late move reductions leave.
    exchange_pruning_depth: 8, 3, 12, 1;
    /// Exchange pruning: what a quiet move may lose for each ply of depth, in centipawns.
    quiet_exchange_slope: 55, 20, 120, 6;
    /// Exchange pruning: and for the square of the depth.
    quiet_exchange_square: 15, 0, 60, 3;
    /// Exchange pruning: what a capture may lose for each ply of depth, in centipawns.
    capture_exchange_slope: 95, 40, 200, 10;
    /// Null move: reduction at any depth, in hundredths of a ply.
    null_move_base: 377, 200, 600, 25;
    /// Null move: and for each ply of depth.
    null_move_slope: 26, 5, 60, 3;
    /// Null move: one ply more of reduction for so many centipawns above beta.
    null_move_eval_divisor: 201, 80, 400, 15;
    /// Null move: centipawns above beta that the static evaluation must be at any depth.
    null_move_static_base: 100, -200, 400, 20;
    /// Null move: and centipawns less for each ply of depth.
    null_move_static_slope: 14, 0, 60, 3;
    /// Late move reductions: one ply less for so much history.
    reduction_history_divisor: 19136, 4000, 60000, 1500;
    /// History: what one ply of depth adds to the bonus of a cutoff.
    history_bonus_slope: 195, 50, 400, 20;
    /// History: what is taken off every bonus.
    history_bonus_offset: 159, 0, 400, 20;
    /// History: the greatest bonus.
    history_bonus_max: 1850, 500, 4000, 200;
    /// History: what one ply of depth adds to the malus of the moves tried in vain.
    history_malus_slope: 204, 50, 400, 20;
    /// History: what is taken off every malus.
    history_malus_offset: 43, 0, 400, 20;
    /// History: the greatest malus.
    history_malus_max: 936, 500, 4000, 200;
    /// History: 64ths of a cutoff's bonus that a quiet move gets after which no move of the other side is good enough.
    history_prior_share: 31, 0, 192, 10;
    /// History: 64ths of a cutoff's bonus that the table's quiet move gets when its score ends the search of a node.
    history_tt_share: 24, 0, 192, 10;
    /// History: what is learnt of a quiet move for each centipawn that the evaluations before and after it differ by, in eighths.
    evaluation_bonus_slope: 24, 0, 100, 5;
    /// History: and the most of it.
    evaluation_bonus_max: 700, 0, 2500, 100;
    /// History: 64ths of a cutoff's malus that an early quiet move gets that the table's score refutes.
    history_refuted_share: 30, 0, 192, 10;
    /// Ordering: what a quiet move that gives check is worth more.
    check_bonus: 6000, 0, 24000, 1000;
    /// Ordering: 64ths of its score that a capture may lose in the exchange and come before the quiet moves.
    good_capture_share: 3, 0, 16, 1;
    /// Ordering: the weight of the low-ply history at the root, in sixteenths.
    low_ply_weight: 43, 0, 96, 6;
    /// Late move reductions: what every late move is reduced by, in 1024ths of a ply.
    reduction_base: 1394, 0, 2000, 100;
    /// Late move reductions: one ply for so many hundredths of the product of the logarithms.
    reduction_divisor: 262, 120, 400, 20;
    /// Late move reductions: 1024ths of a ply less in the principal variation.
    reduction_pv: 404, 0, 2048, 100;
    /// Late move reductions: 1024ths of a ply less where a principal variation went.
    reduction_was_pv: 308, 0, 2048, 100;
    /// Late move reductions: 1024ths of a ply less for a capture or promotion.
    reduction_capture: 937, 0, 3072, 100;
    /// Late move reductions: 1024ths of a ply more where the side to move is not improving.
    reduction_not_improving: 525, 0, 2048, 100;
    /// Late move reductions: 1024ths of a ply more where the table's move is a capture.
    reduction_tt_capture: 8, 0, 2048, 100;
    /// Second search: centipawns above the best score at any depth for a ply more.
    deeper_base: 73, 10, 150, 8;
    /// Second search: and for each ply of depth.
    deeper_slope: 4, 0, 20, 2;
    /// Second search: a ply less below so many centipawns above the best score.
    shallower_margin: 2, 0, 40, 3;
    /// Late move reductions: 1024ths of a ply less for the second move.
    reduction_second: 2046, 0, 4096, 150;
    /// Late move reductions: 1024ths of a ply less for a killer.
    reduction_killer: 933, 0, 2048, 100;
    /// Late move reductions: 1024ths of a ply less for a move that gives check.
    reduction_check: 1178, 0, 3072, 100;
    /// Late move reductions: 1024ths of a ply less for a move out of check.
    reduction_evasion: 982, 0, 4096, 150;
    /// Late move reductions: 1024ths of a ply more in a node that is expected to fail high.
    reduction_cut: 26, -1024, 3072, 200;
    /// Late move reductions: 1024ths of a ply more once several replies of the next ply have failed high.
    reduction_refuted: 601, -1024, 3072, 200;
    /// Late move reductions: 1024ths of a ply more once a move of the node has raised alpha.
    reduction_raised: 301, -1024, 3072, 200;
    /// Late move reductions: 1024ths of a ply less where the evaluation is corrected by 64 centipawns.
    reduction_correction: 300, -400, 2048, 100;
    /// Hindsight: plies that a move is reduced by for its position to be searched a ply deeper.
    hindsight_deeper: 3, 2, 8, 1;
    /// Hindsight: centipawns that the evaluations before and after a reduced move must add up to for a ply less.
    hindsight_shallower: 150, 0, 600, 25;
    /// Ordering of captures: the weight of their history in 64ths, in sixteenths of a centipawn.
    capture_history_weight: 36, 0, 160, 6;
    /// Singular extensions: the least depth.
    singular_depth: 6, 4, 10, 1;
    /// Singular extensions: sixteenths of a centipawn that other moves must stay below the table's score for each ply of depth.
    singular_slope: 25, 8, 64, 3;
    /// Double extensions: centipawns that other moves must stay below that bound.
    double_extension_margin: 37, 0, 80, 4;
    /// Double extensions: the most in a line.
    double_extensions_max: 6, 0, 16, 1;
    /// Internal iterative reduction: the least depth.
    internal_reduction_depth: 7, 2, 8, 1;
    /// Correction history: the weight of what the pawns say; 1024 lets it say up to 64 centipawns.
    correction_pawns: 1068, 0, 2048, 100;
    /// Correction history: the weight of what each side's pieces say.
    correction_pieces: 1200, 0, 2048, 100;
    /// Correction history: the weight of what the minor and the major pieces say.
    correction_kinds: 509, 0, 2048, 100;
    /// Correction history: the weight of what the last two moves say.
    correction_moves: 990, 0, 2048, 100;
    /// Quiescence: 64ths of the way from beta to the evaluation that the score of standing pat is.
    stand_pat_blend: 27, 0, 64, 6;
    /// Quiescence: the least that a capture must win in the exchange, in centipawns; above zero even trades are left out.
    quiescence_see: 11, -200, 100, 15;
}

/// The rows as a tuner reads them: `name, int, default, min, max, step, learning rate`.
pub fn spsa_rows() -> String {
    ALL.iter()
        .map(|p| format!("{}, int, {}.0, {}.0, {}.0, {}.0, 0.002\n", p.name, p.default, p.min, p.max, p.step))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sane() {
        for (index, row) in ALL.iter().enumerate() {
            assert!(row.min < row.max && row.step > 0, "{row:?}");
            assert!((row.min..=row.max).contains(&row.default), "{row:?}");
            assert!(ALL[..index].iter().all(|other| other.name != row.name), "{row:?} twice");
        }
        assert_eq!(spsa_rows().lines().count(), ALL.len());
    }
}
