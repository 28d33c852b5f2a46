//! Input features of a position.

use bulletformat::ChessBoard;
use destrier::nnue::sets::{ActiveFeatures, FeatureBlock, FeatureSet, Locality, OrientedBoard};
use destrier::nnue::{FEATURES, Layout};
use destrier::types::{Bitboard, Square};

/// Mapping from positions to input indices: a feature set, and for the set `piece` also king
/// buckets and mirroring.
///
/// Index of a piece for a perspective in the set `piece`: `bucket * 768 + (own 0 | enemy 384) +
/// kind * 64 + square`. The square is seen from that side. In a mirrored network, the board is
/// mirrored horizontally if that side's king stands on files e to h.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inputs {
    set: FeatureSet,
    mirrored: bool,
    king_buckets: usize,
    map: [u8; 32],
}

impl Inputs {
    /// Creates a mapping of the set `piece`. `map` holds the bucket of each square of the own king,
    /// `rank * 4 + file` with files a to d, after mirroring.
    pub fn new(mirrored: bool, map: [u8; 32]) -> Inputs {
        let king_buckets = usize::from(map.iter().copied().max().unwrap_or(0)) + 1;
        Inputs { set: FeatureSet::piece(), mirrored, king_buckets, map }
    }

    /// Creates the mapping of a network file.
    pub fn of_layout(layout: &Layout) -> Inputs {
        let Layout { set, mirrored, king_buckets, bucket_map, .. } = layout;
        Inputs { set: set.clone(), mirrored: *mirrored, king_buckets: *king_buckets, map: *bucket_map }
    }

    /// Creates a mapping of a set without king buckets and mirroring.
    pub fn of_set(set: FeatureSet) -> Inputs {
        Inputs { set, mirrored: false, king_buckets: 1, map: [0; 32] }
    }

    /// Returns the feature set.
    pub fn set(&self) -> &FeatureSet {
        &self.set
    }

    /// Returns true if the board is mirrored to keep the own king on files a to d.
    pub fn mirrored(&self) -> bool {
        self.mirrored
    }

    /// Returns the bucket of each of the 32 king squares.
    pub fn map(&self) -> &[u8; 32] {
        &self.map
    }

    /// Returns the number of king buckets, 1 to 32.
    pub fn king_buckets(&self) -> usize {
        self.king_buckets
    }

    /// Returns the number of inputs of one perspective.
    pub fn size(&self) -> usize {
        self.king_buckets * self.set.size()
    }

    /// Returns the inputs that may share a common part during training: those of all king buckets,
    /// or of the first block with pieces for each square of the own king. `None` if there are none.
    pub fn shared(&self) -> Option<SharedInputs> {
        if self.king_buckets > 1 {
            return Some(SharedInputs { first: 0, end: self.size(), period: FEATURES });
        }
        self.set.blocks().iter().find_map(|(block, first)| {
            let period = match block {
                FeatureBlock::KingPiece | FeatureBlock::KingAll => block.size() / Square::COUNT,
                _ => return None,
            };
            Some(SharedInputs { first: *first, end: first + block.size(), period })
        })
    }

    /// Returns the bucket and the mask that mirrors squares, for a king seen from its own side. The
    /// bucket is given as the offset of its first input.
    fn view(&self, king: u8) -> (u16, u8) {
        let (file, rank) = (king & 7, king >> 3 & 7);
        let bucket = u16::from(self.map[usize::from(rank * 4 + file.min(7 - file))]);
        let flip = if self.mirrored && file > 3 { 7 } else { 0 };
        (bucket * FEATURES as u16, flip)
    }

    /// Appends the inputs of the side to move and of the opponent. `active` is storage that calls
    /// share.
    pub fn append(&self, board: &ChessBoard, active: &mut ActiveFeatures, us: &mut Vec<u16>, them: &mut Vec<u16>) {
        if !self.set.is_piece() {
            let own = oriented(board);
            self.append_view(&own, active, us);
            self.append_view(&own.turned(), active, them);
            return;
        }
        let (our_base, our_flip) = self.view(board.ksq);
        let (their_base, their_flip) = self.view(board.opp_ksq);
        for (piece, square) in *board {
            let enemy = u16::from(piece >> 3) * 384;
            let kind = u16::from(piece & 7) * 64;
            us.push(our_base + enemy + kind + u16::from(square ^ our_flip));
            them.push(their_base + (384 - enemy) + kind + u16::from(square ^ 56 ^ their_flip));
        }
    }

    /// Returns the king buckets of the side to move and of the opponent.
    pub fn king_buckets_of(&self, board: &ChessBoard) -> [u8; 2] {
        [board.ksq, board.opp_ksq]
            .map(|king| if self.set.is_piece() { (self.view(king).0 / FEATURES as u16) as u8 } else { 0 })
    }

    /// Appends the inputs of one view.
    fn append_view(&self, view: &OrientedBoard, active: &mut ActiveFeatures, list: &mut Vec<u16>) {
        if matches!(self.set.locality(), Locality::Board) {
            if active.words().len() != self.set.size().div_ceil(64) {
                *active = ActiveFeatures::new(self.set.size());
            }
            self.set.activate(view, active);
            active.for_each(|feature| list.push(feature));
            return;
        }
        // Sets of single pieces may be large, so they need no bitset.
        let king = view.king();
        for (block, first) in self.set.blocks() {
            for (code, &squares) in view.pieces().iter().enumerate() {
                let features = squares.iter().filter_map(|square| block.of_piece(king, code, square));
                list.extend(features.map(|feature| (first + feature) as u16));
            }
        }
    }
}

/// Inputs `first..end` that share a common part: those whose distances are multiples of `period`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SharedInputs {
    /// First input.
    pub first: usize,
    /// End of the inputs.
    pub end: usize,
    /// Number of common parts.
    pub period: usize,
}

impl SharedInputs {
    /// Returns the number of the common part of an input; `None` if it has none.
    #[inline]
    pub fn of(&self, input: usize) -> Option<usize> {
        (self.first..self.end).contains(&input).then(|| (input - self.first) % self.period)
    }
}

/// Returns the board of a record from the view of the side to move.
pub fn oriented(board: &ChessBoard) -> OrientedBoard {
    let mut pieces = [Bitboard::EMPTY; 12];
    for (piece, square) in *board {
        let code = usize::from(piece >> 3) * 6 + usize::from(piece & 7);
        if let Some(set) = pieces.get_mut(code) {
            *set |= Bitboard::from(Square::new(square));
        }
    }
    OrientedBoard::new(pieces)
}

/// Returns the reason if a record is not a valid position.
pub fn fault(board: &ChessBoard) -> Option<&'static str> {
    let count = board.occ.count_ones();
    if !(2..=32).contains(&count) {
        return Some("fewer than 2 or more than 32 pieces");
    }
    let used = u128::MAX >> (128 - 4 * count);
    let pieces = u128::from_le_bytes(board.pcs) & used;
    if pieces >> 1 & pieces >> 2 & 0x1111_1111_1111_1111_1111_1111_1111_1111 != 0 {
        return Some("a piece of no known kind");
    }
    if board.result > 2 {
        return Some("a result other than loss, draw and win");
    }
    let holds = |square: u8, piece: u8| {
        if square > 63 || board.occ >> square & 1 == 0 {
            return false;
        }
        let below = (board.occ & ((1 << square) - 1)).count_ones();
        pieces >> (4 * below) & 15 == u128::from(piece)
    };
    if !holds(board.ksq, 5) || !holds(board.opp_ksq ^ 56, 13) {
        return Some("no king where the record says it stands");
    }
    None
}
