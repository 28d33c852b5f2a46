//! Tunable numbers of the search. Each row has a name, a default, a range and a step.
//!
//! Numbers that give a rule its shape are constants where they are used: minimum depths of two or
//! three plies, fractions of a depth, move counts, caps. The rows `time_*` act only on a clock;
//! at fixed nodes a tuner finds them dead.
//!
//! In a normal build every name is a constant function. With the feature `tune` it reads a value
//! set by the UCI option of the same name. `destrier spsa` prints the rows for a tuner.

/// Tunable number of the search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Param {
    /// Name of the row and of the UCI option.
    pub name: &'static str,
    /// Value in play, in the row's own unit.
    pub default: i32,
    /// Lowest value for a tuner.
    pub min: i32,
    /// Highest value for a tuner.
    pub max: i32,
    /// Perturbation at the end of a tuning run (`c_end` of SPSA).
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

        /// Sets a value for all searches of this process. Returns false if the name is unknown or
        /// the value out of range.
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
    aspiration_delta: 16, 5, 60, 4;
    /// Aspiration windows: width added to each side, in 64ths of the distance between the last
    /// score and the mean of earlier ones.
    aspiration_swing: 48, 0, 128, 8;
    /// Aspiration windows: maximum reduction after scores above the window, in plies.
    aspiration_reduction: 3, 0, 5, 1;
    /// Reverse futility pruning (RFP): maximum depth.
    reverse_futility_depth: 8, 4, 12, 1;
    /// RFP: margin in centipawns per ply of depth.
    reverse_futility_slope: 45, 10, 150, 8;
    /// RFP: margin in centipawns per own piece that a lesser one attacks.
    reverse_futility_threat: 60, 0, 200, 10;
    /// Razoring: maximum depth.
    razoring_depth: 4, 1, 8, 1;
    /// Razoring: constant part of the margin, in centipawns.
    razoring_base: 185, 80, 500, 20;
    /// Razoring: margin in centipawns per square of the depth.
    razoring_slope: 97, 40, 300, 12;
    /// ProbCut: minimum depth.
    probcut_depth: 6, 3, 9, 1;
    /// ProbCut: margin above beta, in centipawns.
    probcut_margin: 123, 60, 350, 15;
    /// Null-move pruning (NMP): minimum depth at which a fail high is verified.
    null_move_verified_depth: 13, 8, 20, 1;
    /// RFP: weight of the evaluation against beta in the returned score, in 64ths.
    reverse_futility_blend: 27, 0, 64, 6;
    /// Late move pruning (LMP): maximum depth.
    late_move_depth: 8, 3, 12, 1;
    /// LMP: constant part of the move count, in hundredths.
    late_move_base: 545, 100, 1000, 50;
    /// LMP: move count per square of the depth, in hundredths.
    late_move_slope: 123, 25, 250, 12;
    /// LMP: share of the move count for a side that is not improving, in hundredths.
    late_move_not_improving: 58, 30, 100, 5;
    /// Futility pruning: maximum depth after late move reductions (LMR).
    futility_depth: 8, 2, 12, 1;
    /// Futility pruning: constant part of the margin, in centipawns.
    futility_base: 9, 0, 250, 15;
    /// Futility pruning: margin in centipawns per ply of depth.
    futility_slope: 77, 30, 200, 10;
    /// History pruning: maximum depth after LMR.
    history_pruning_depth: 5, 2, 10, 1;
    /// History pruning: history score a quiet move may fall below zero per ply of depth.
    history_pruning_slope: 7075, 1000, 12000, 400;
    /// Delta pruning: margin above the value of the captured piece, in centipawns.
    delta_margin: 240, 60, 400, 15;
    /// SEE pruning: maximum depth, for quiet moves after LMR.
    exchange_pruning_depth: 8, 3, 12, 1;
    /// SEE pruning: allowed loss of a quiet move per ply of depth, in centipawns.
    quiet_exchange_slope: 71, 20, 120, 6;
    /// SEE pruning: allowed loss of a quiet move per square of the depth, in centipawns.
    quiet_exchange_square: 7, 0, 60, 3;
    /// SEE pruning: allowed loss of a capture per ply of depth, in centipawns.
    capture_exchange_slope: 117, 40, 200, 10;
    /// NMP: constant part of the reduction, in hundredths of a ply.
    null_move_base: 446, 200, 600, 25;
    /// NMP: reduction per ply of depth, in hundredths of a ply.
    null_move_slope: 41, 5, 60, 3;
    /// NMP: centipawns above beta per further ply of reduction.
    null_move_eval_divisor: 252, 80, 400, 15;
    /// NMP: margin of the static evaluation above beta at depth 0, in centipawns.
    null_move_static_base: 104, -200, 400, 20;
    /// NMP: decrease of that margin per ply of depth, in centipawns.
    null_move_static_slope: 12, 0, 60, 3;
    /// LMR: history score per ply less of reduction.
    reduction_history_divisor: 15526, 4000, 60000, 1500;
    /// History: bonus of a cutoff per ply of depth.
    history_bonus_slope: 202, 50, 400, 20;
    /// History: constant subtracted from every bonus.
    history_bonus_offset: 133, 0, 400, 20;
    /// History: maximum bonus.
    history_bonus_max: 1850, 500, 4000, 200;
    /// History: malus per ply of depth, for the moves searched before a cutoff.
    history_malus_slope: 200, 50, 400, 20;
    /// History: constant subtracted from every malus.
    history_malus_offset: 45, 0, 400, 20;
    /// History: maximum malus.
    history_malus_max: 728, 500, 4000, 200;
    /// History: malus in nodes of the principal variation, in 64ths of the malus elsewhere.
    history_pv_share: 16, 0, 64, 6;
    /// History: bonus of a quiet move after which every reply failed low, in 64ths of a cutoff's
    /// bonus.
    history_prior_share: 63, 0, 192, 10;
    /// History: bonus of the quiet move of a transposition table (TT) cutoff, in 64ths of a
    /// cutoff's bonus.
    history_tt_share: 5, 0, 192, 10;
    /// History: bonus of a quiet move per centipawn by which the static evaluation changed, in
    /// eighths.
    evaluation_bonus_slope: 19, 0, 100, 5;
    /// History: maximum of that bonus.
    evaluation_bonus_max: 707, 0, 2500, 100;
    /// History: malus of an early quiet move refuted by a TT score, in 64ths of a cutoff's malus.
    history_refuted_share: 36, 0, 192, 10;
    /// Move ordering: bonus of a quiet move that gives check.
    check_bonus: 12722, 0, 24000, 1000;
    /// Move ordering: allowed loss of a capture that still comes before quiet moves, in 64ths of
    /// its score.
    good_capture_share: 1, 0, 16, 1;
    /// Move ordering: weight of the low-ply history at the root, in sixteenths.
    low_ply_weight: 50, 0, 96, 6;
    /// LMR: constant part of the reduction, in 1024ths of a ply.
    reduction_base: 1413, 0, 2000, 100;
    /// LMR: divisor of the product of the logarithms of depth and move number, in hundredths.
    reduction_divisor: 275, 120, 400, 20;
    /// LMR: reduction less in the principal variation, in 1024ths of a ply.
    reduction_pv: 463, 0, 2048, 100;
    /// LMR: reduction less in nodes that were once in the principal variation, in 1024ths of a ply.
    reduction_was_pv: 389, 0, 2048, 100;
    /// LMR: reduction less for a capture or promotion, in 1024ths of a ply.
    reduction_capture: 1094, 0, 3072, 100;
    /// LMR: reduction more if the side to move is not improving, in 1024ths of a ply.
    reduction_not_improving: 801, 0, 2048, 100;
    /// LMR: reduction more if the TT move is a capture, in 1024ths of a ply.
    reduction_tt_capture: 200, 0, 2048, 100;
    /// Do-deeper: constant part of the margin above the best score, in centipawns.
    deeper_base: 78, 10, 150, 8;
    /// Do-deeper: margin in centipawns per ply of depth.
    deeper_slope: 1, 0, 20, 2;
    /// Do-shallower: margin above the best score, in centipawns.
    shallower_margin: 4, 0, 40, 3;
    /// LMR: reduction less for the second move, in 1024ths of a ply.
    reduction_second: 1402, 0, 4096, 150;
    /// LMR: reduction less for a killer move, in 1024ths of a ply.
    reduction_killer: 701, 0, 2048, 100;
    /// LMR: reduction less for a move that gives check, in 1024ths of a ply.
    reduction_check: 894, 0, 3072, 100;
    /// LMR: reduction less for an evasion, in 1024ths of a ply.
    reduction_evasion: 582, 0, 4096, 150;
    /// LMR: reduction more in a cut node, in 1024ths of a ply.
    reduction_cut: -176, -1024, 3072, 200;
    /// LMR: reduction more after several cutoffs at the next ply, in 1024ths of a ply.
    reduction_refuted: 720, -1024, 3072, 200;
    /// LMR: reduction more once a move of the node has raised alpha, in 1024ths of a ply.
    reduction_raised: 284, -1024, 3072, 200;
    /// LMR: reduction less per 64 centipawns of correction, in 1024ths of a ply.
    reduction_correction: 530, -400, 2048, 100;
    /// Hindsight: minimum reduction for an extension of a ply, in plies.
    hindsight_deeper: 4, 2, 8, 1;
    /// Hindsight: minimum sum of the evaluations before and after the move for a reduction of a
    /// ply, in centipawns.
    hindsight_shallower: 151, 0, 600, 25;
    /// Move ordering: weight of the capture history in 64ths, in sixteenths of a centipawn.
    capture_history_weight: 33, 0, 160, 6;
    /// Singular extension: minimum depth.
    singular_depth: 5, 4, 10, 1;
    /// Singular extension: margin below the TT score per ply of depth, in sixteenths of a
    /// centipawn.
    singular_slope: 24, 8, 64, 3;
    /// Double extension: further margin below the singular bound, in centipawns.
    double_extension_margin: 24, 0, 80, 4;
    /// Double extension: maximum number in a line.
    double_extensions_max: 6, 0, 16, 1;
    /// Internal iterative reduction (IIR): minimum depth.
    internal_reduction_depth: 6, 2, 8, 1;
    /// Correction history: weight of the pawn structure. A weight of 1024 allows up to 64
    /// centipawns.
    correction_pawns: 1190, 0, 2048, 100;
    /// Correction history: weight of each side's pieces.
    correction_pieces: 1469, 0, 2048, 100;
    /// Correction history: weight of the minor and of the major pieces.
    correction_kinds: 580, 0, 2048, 100;
    /// Correction history: weight of the last two moves.
    correction_moves: 1225, 0, 2048, 100;
    /// Quiescence search: weight of the evaluation against beta in a stand-pat score, in 64ths.
    stand_pat_blend: 26, 0, 64, 6;
    /// Quiescence search: minimum static exchange value of a capture, in centipawns. Even trades
    /// are skipped above zero.
    quiescence_see: 42, -200, 100, 15;
    /// Time management: expected number of moves to the end of the game.
    time_moves: 22, 10, 40, 2;
    /// Time management: share of the increment in the soft limit, in percent.
    time_increment: 70, 30, 110, 6;
    /// Time management: hard limit, in percent of the soft limit.
    time_hard: 300, 120, 800, 30;
    /// Time management: maximum share of the usable time for one move, in percent.
    time_ceiling: 50, 15, 80, 5;
    /// Time management: factor of the soft limit after a change of the best move, in percent.
    time_unstable: 160, 100, 260, 10;
    /// Time management: decrease of that factor per iteration without a change, in tenths of a
    /// percent. It ends after ten iterations.
    time_stable: 100, 0, 100, 8;
    /// Time management: drop of the score that doubles the soft limit, in centipawns.
    time_drop: 40, 15, 120, 5;
    /// Time management: share of the nodes spent on the best move that leaves the soft limit as it
    /// is, in percent.
    time_share: 70, 40, 95, 4;
    /// Time management: increase of the soft limit per percent of the nodes below that share, in
    /// hundredths of a percent.
    time_share_slope: 275, 50, 600, 20;
}

/// Formats the rows for a tuner: `name, int, default, min, max, step, learning rate`.
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
