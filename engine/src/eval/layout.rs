//! Where each term's weights lie in the one table of weights.
//!
//! A term is a block of weights; the evaluation adds `count` times one of them for a side. The tuner and the generated file
//! `weights.rs` know the terms from here and from nowhere else.

/// Some weights in a row that belong to one term.
#[derive(Debug, Clone, Copy)]
pub struct Block {
    /// The name the generated file shows.
    pub name: &'static str,
    pub start: usize,
    pub len: usize,
}

impl Block {
    /// The place of one of the block's weights in the table.
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
        enum Order { $($name),* }

        const LENGTHS: &[usize] = &[$($len),*];

        const fn start(order: Order) -> usize {
            let (mut sum, mut index) = (0, 0);
            while index < order as usize {
                sum += LENGTHS[index];
                index += 1;
            }
            sum
        }

        $($(#[$doc])* pub const $name: Block = Block { name: stringify!($name), start: start(Order::$name), len: $len };)*

        /// All terms in the order of the table.
        pub const BLOCKS: &[Block] = &[$($name),*];

        /// The number of weights.
        pub const COUNT: usize = {
            let last = BLOCKS[BLOCKS.len() - 1];
            last.start + last.len
        };
    };
}

layout! {
    /// Pawn to queen.
    MATERIAL: 5;
    /// By piece type and square from the own side; mirrored so that the own king is on files e to h, but for the king itself.
    PLACEMENT: 6 * 64;
    /// By the number of squares in the mobility area a knight attacks; likewise the next three.
    MOBILITY_KNIGHT: 9;
    MOBILITY_BISHOP: 14;
    MOBILITY_ROOK: 15;
    MOBILITY_QUEEN: 28;
    /// Times the own pawns beyond five.
    KNIGHT_WITH_PAWNS: 1;
    /// Times the own pawns beyond five.
    ROOK_WITH_PAWNS: 1;
    BISHOP_PAIR: 1;
    /// By the number of own pawns on the bishop's colour.
    BISHOP_WITH_PAWNS: 9;
    /// A bishop that sees both inner centre squares of a long diagonal.
    BISHOP_LONG_DIAGONAL: 1;
    /// On the edge's seventh rank, on its sixth: the way back barred by a guarded enemy pawn.
    TRAPPED_BISHOP: 2;
    MINOR_BEHIND_PAWN: 1;
    /// Knight, bishop: on a square guarded by a pawn that no enemy pawn can ever attack.
    OUTPOST: 2;
    /// Knight, bishop: on such a square without a pawn's guard.
    OUTPOST_ALONE: 2;
    /// A knight's step to such a square.
    OUTPOST_IN_REACH: 1;
    ROOK_OPEN_FILE: 1;
    ROOK_HALF_OPEN_FILE: 1;
    /// A rook that another own rook guards, on a closed, half-open, open file.
    ROOK_SUPPORTED: 3;
    /// A rook on the file of a passed pawn, behind it: its own, the enemy's.
    ROOK_BEHIND_PASSED: 2;
    DOUBLED: 1;
    /// With an enemy pawn ahead on the file, without.
    ISOLATED: 2;
    /// With an enemy pawn ahead on the file, without.
    BACKWARD: 2;
    /// By rank: a pawn with a neighbour beside it.
    PHALANX: 8;
    /// By rank: a pawn guarded by pawns.
    SUPPORTED: 8;
    /// By rank: one exchange away from being passed.
    CANDIDATE: 8;
    /// By rank.
    PASSED: 8;
    /// By rank: a passed pawn with a free square ahead.
    PASSED_CAN_MOVE: 8;
    /// By rank: a passed pawn with no enemy piece on or attacking its way.
    PASSED_WAY_SAFE: 8;
    /// By distance of the own king to the square ahead of a passed pawn, times the ranks beyond the third.
    PASSED_OWN_KING: 8;
    /// By distance of the enemy king, likewise.
    PASSED_ENEMY_KING: 8;
    /// A passed pawn the lone enemy king cannot catch.
    UNSTOPPABLE: 1;
    /// King's file, other files; by the rank of the nearest own pawn from the king on, 0 for none.
    SHELTER: 2 * 8;
    /// Enemy pawn not blocked, blocked by an own pawn; by the rank of the nearest enemy pawn from the king on, 0 for none.
    STORM: 2 * 8;
    /// King's file, other files beside it; without own pawns, without pawns.
    KING_FILE: 2 * 2;
    /// Attackers without, with a queen; by attack units on the king's zone.
    KING_DANGER: 2 * 40;
    /// Attackers without, with a queen; times the square of the attack units, in sixteenths.
    KING_DANGER_SQUARED: 2;
    /// Knight to queen: a check the enemy cannot simply take.
    SAFE_CHECK: 4;
    /// Squares of the enemy king's zone that are attacked and hardly defended.
    WEAK_ZONE: 1;
    /// A king without pawns of any side on its wing.
    PAWNLESS_FLANK: 1;
    /// By the piece attacked, likewise the next two.
    THREAT_BY_PAWN: 6;
    THREAT_BY_MINOR: 6;
    THREAT_BY_ROOK: 6;
    THREAT_BY_KING: 1;
    /// Attacked pieces without defence, or without enough.
    HANGING: 1;
    /// Enemy pieces a safe pawn push would attack.
    PUSH_THREAT: 1;
    /// Squares the enemy attacks but can hardly use.
    RESTRICTED: 1;
    /// Safe squares from which a knight, a slider could attack the enemy queen.
    QUEEN_IN_REACH: 2;
    /// Safe squares behind the own front in the centre.
    SPACE: 1;
    /// The side to move.
    TEMPO: 1;
}
