//! Layout of the terms in the table of weights.
//!
//! A term is a block of weights; the evaluation adds `count` times one of them for a side. This is
//! the only definition of the terms, for the tuner and for the generated `weights.rs`.

/// Consecutive weights of one term.
#[derive(Debug, Clone, Copy)]
pub struct Block {
    /// Name in the generated file.
    pub name: &'static str,
    /// Index of the first weight in the table.
    pub start: usize,
    /// Number of weights.
    pub len: usize,
}

impl Block {
    /// Returns the index in the table of one of the block's weights.
    #[inline]
    pub const fn at(self, index: usize) -> usize {
        debug_assert!(index < self.len);
        self.start + index
    }
}

macro_rules! layout {
    ($($(#[$doc:meta])* $name:ident: $len:expr;)*) => {
        #[derive(Clone, Copy)]
        #[allow(non_camel_case_types, clippy::upper_case_acronyms, reason = "these only number the blocks")]
        enum BlockOrder { $($name),* }

        const LENGTHS: &[usize] = &[$($len),*];

        const fn start(order: BlockOrder) -> usize {
            let (mut sum, mut index) = (0, 0);
            while index < order as usize {
                sum += LENGTHS[index];
                index += 1;
            }
            sum
        }

        $($(#[$doc])* pub const $name: Block = Block { name: stringify!($name), start: start(BlockOrder::$name), len: $len };)*

        /// All terms in the order of the table.
        pub const BLOCKS: &[Block] = &[$($name),*];

        /// Number of weights.
        pub const COUNT: usize = {
            let last = BLOCKS[BLOCKS.len() - 1];
            last.start + last.len
        };
    };
}

layout! {
    /// Material, pawn to queen.
    MATERIAL: 5;
    /// Placement by piece type and square from the own side. Squares are mirrored so that the own
    /// king is on files e to h, except for the king itself.
    PLACEMENT: 6 * 64;
    /// Mobility of a knight, by the number of attacked squares in the mobility area.
    MOBILITY_KNIGHT: 9;
    /// Mobility of a bishop, counted in the same way.
    MOBILITY_BISHOP: 14;
    /// Mobility of a rook, counted in the same way.
    MOBILITY_ROOK: 15;
    /// Mobility of a queen, counted in the same way.
    MOBILITY_QUEEN: 28;
    /// Knight, times the own pawns beyond five.
    KNIGHT_WITH_PAWNS: 1;
    /// Rook, times the own pawns beyond five.
    ROOK_WITH_PAWNS: 1;
    /// Bishop pair.
    BISHOP_PAIR: 1;
    /// Bishop, by the number of own pawns on its square colour.
    BISHOP_WITH_PAWNS: 9;
    /// Bishop that sees both inner centre squares of a long diagonal.
    BISHOP_LONG_DIAGONAL: 1;
    /// Trapped bishop on the edge's seventh rank, on its sixth: a guarded enemy pawn bars the way
    /// back.
    TRAPPED_BISHOP: 2;
    /// Knight or bishop right behind a pawn.
    MINOR_BEHIND_PAWN: 1;
    /// Knight or bishop on a square that is guarded by a pawn and that no enemy pawn can ever
    /// attack.
    OUTPOST: 2;
    /// Knight or bishop on such a square without a pawn's guard.
    OUTPOST_ALONE: 2;
    /// Knight that can reach such a square in one move.
    OUTPOST_IN_REACH: 1;
    /// Rook on a file without pawns.
    ROOK_OPEN_FILE: 1;
    /// Rook on a file without own pawns.
    ROOK_HALF_OPEN_FILE: 1;
    /// Rook guarded by another own rook, on a closed, half-open or open file.
    ROOK_SUPPORTED: 3;
    /// Rook behind a passed pawn: its own, the enemy's.
    ROOK_BEHIND_PASSED: 2;
    /// Doubled pawn.
    DOUBLED: 1;
    /// Isolated pawn with an enemy pawn ahead on the file, without.
    ISOLATED: 2;
    /// Backward pawn with an enemy pawn ahead on the file, without.
    BACKWARD: 2;
    /// Pawn with a neighbour beside it, by rank.
    PHALANX: 8;
    /// Pawn guarded by pawns, by rank.
    SUPPORTED: 8;
    /// Pawn one exchange away from being passed, by rank.
    CANDIDATE: 8;
    /// Passed pawn, by rank.
    PASSED: 8;
    /// Passed pawn with a free square ahead, by rank.
    PASSED_CAN_MOVE: 8;
    /// Passed pawn with no enemy piece on or attacking its way, by rank.
    PASSED_WAY_SAFE: 8;
    /// Distance of the own king to the square ahead of a passed pawn, times the ranks beyond the
    /// third.
    PASSED_OWN_KING: 8;
    /// Distance of the enemy king to the square ahead of a passed pawn, times the ranks beyond the
    /// third.
    PASSED_ENEMY_KING: 8;
    /// Passed pawn that the lone enemy king cannot catch.
    UNSTOPPABLE: 1;
    /// Shelter on the king's file, on other files, by the rank of the nearest own pawn from the
    /// king on, 0 for none.
    SHELTER: 2 * 8;
    /// Storm of enemy pawns not blocked, blocked by an own pawn, by the rank of the nearest enemy
    /// pawn from the king on, 0 for none.
    STORM: 2 * 8;
    /// King's file, other files beside it; without own pawns, without any pawns.
    KING_FILE: 2 * 2;
    /// King danger without, with a queen among the attackers, by attack units on the king's zone.
    KING_DANGER: 2 * 40;
    /// Square of the attack units in sixteenths, without, with a queen among the attackers.
    KING_DANGER_SQUARED: 2;
    /// Check by a knight, bishop, rook or queen that the enemy cannot simply capture.
    SAFE_CHECK: 4;
    /// Squares of the enemy king's zone that are attacked and hardly defended.
    WEAK_ZONE: 1;
    /// King without pawns of either side on its wing.
    PAWNLESS_FLANK: 1;
    /// Threat of a pawn, by the piece attacked.
    THREAT_BY_PAWN: 6;
    /// Threat of a knight or bishop, by the piece attacked.
    THREAT_BY_MINOR: 6;
    /// Threat of a rook, by the piece attacked.
    THREAT_BY_ROOK: 6;
    /// Threat of the king to any piece.
    THREAT_BY_KING: 1;
    /// Attacked pieces without defence, or without enough.
    HANGING: 1;
    /// Enemy pieces that a safe pawn push would attack.
    PUSH_THREAT: 1;
    /// Squares that the enemy attacks but can hardly use.
    RESTRICTED: 1;
    /// Safe squares from which a knight, a slider could attack the enemy queen.
    QUEEN_IN_REACH: 2;
    /// Safe squares behind the own front in the centre.
    SPACE: 1;
    /// Right to move.
    TEMPO: 1;
}
