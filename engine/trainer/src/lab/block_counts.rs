//! Counts of the active features of one block, and of their changes by moves.

use destrier::board::Board;
use destrier::nnue::sets::{ActiveFeatures, FeatureBlock, FeatureSet, Locality, OrientedBoard};
use destrier::types::{Color, Move, Piece, PieceType};
use serde::Serialize;

/// Changes by moves, summed over both sides' views.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ChangeCounts {
    /// Views of moves without a refresh.
    pub updates: u64,
    /// Views whose accumulator needs a refresh, because the own king left the bits that matter.
    pub refreshes: u64,
    /// Features that a move without a refresh switches on.
    pub adds: u64,
    /// Features that it switches off.
    pub removes: u64,
}

impl ChangeCounts {
    /// Returns adds, removes and refreshes for each move and side.
    pub fn means(&self) -> [f64; 3] {
        let per = |count: u64, of: u64| count as f64 / of.max(1) as f64;
        [
            per(self.adds, self.updates),
            per(self.removes, self.updates),
            per(self.refreshes, self.updates + self.refreshes),
        ]
    }
}

/// Counts of one block.
#[derive(Debug)]
pub struct BlockCounts {
    set: FeatureSet,
    /// Bits of the own king's square whose change makes a refresh.
    king_mask: u8,
    /// Views counted; two for each position.
    pub views: u64,
    /// Views in which each feature is on.
    pub frequency: Vec<u64>,
    /// Changes by legal moves drawn at random.
    pub legal: ChangeCounts,
    /// Changes by the moves that were played.
    pub played: ChangeCounts,
    active: [ActiveFeatures; 2],
    after: ActiveFeatures,
}

impl BlockCounts {
    /// Creates empty counts.
    pub fn new(block: FeatureBlock) -> Option<BlockCounts> {
        let king_mask = match block.locality() {
            Locality::Piece { king_mask } => king_mask,
            Locality::Board => 0,
        };
        let size = block.size();
        let set = FeatureSet::new(vec![block]).ok()?;
        let empty = ActiveFeatures::new(size);
        Some(BlockCounts {
            set,
            king_mask,
            views: 0,
            frequency: vec![0; size],
            legal: ChangeCounts::default(),
            played: ChangeCounts::default(),
            active: [empty.clone(), empty.clone()],
            after: empty,
        })
    }

    /// Returns the block.
    pub fn block(&self) -> &FeatureBlock {
        &self.set.blocks()[0].0
    }

    /// Returns the name of the block.
    pub fn name(&self) -> String {
        self.set.to_string()
    }

    /// Records a position with a move that was played, if it is known, and others drawn at random.
    pub fn record(&mut self, board: &Board, played: Option<Move>, legal: &[Move]) {
        for (color, active) in Color::ALL.into_iter().zip(&mut self.active) {
            self.set.activate(&OrientedBoard::from((board, color)), active);
            active.for_each(|feature| self.frequency[usize::from(feature)] += 1);
            self.views += 1;
        }
        for &mv in legal {
            let mut counts = std::mem::take(&mut self.legal);
            self.change(&mut counts, board, mv);
            self.legal = counts;
        }
        if let Some(mv) = played {
            let mut counts = std::mem::take(&mut self.played);
            self.change(&mut counts, board, mv);
            self.played = counts;
        }
    }

    fn change(&mut self, counts: &mut ChangeCounts, board: &Board, mv: Move) {
        let mut next = *board;
        next.play(mv);
        for color in Color::ALL {
            let moved = board.king(color).relative(color).raw() ^ next.king(color).relative(color).raw();
            if moved & self.king_mask != 0 {
                counts.refreshes += 1;
                continue;
            }
            self.set.activate(&OrientedBoard::from((&next, color)), &mut self.after);
            counts.updates += 1;
            self.after.for_each_difference(&self.active[color.index()], |_, is_on| {
                if is_on { counts.adds += 1 } else { counts.removes += 1 }
            });
        }
    }

    /// Returns the mean number of active features of a view.
    pub fn mean_active(&self) -> f64 {
        self.frequency.iter().sum::<u64>() as f64 / self.views.max(1) as f64
    }

    /// Returns the number of features that were on at least once.
    pub fn ever_on(&self) -> usize {
        self.frequency.iter().filter(|&&count| count > 0).count()
    }

    /// Returns the most frequent features with their numbers of views.
    pub fn most_frequent(&self, count: usize) -> Vec<(usize, u64)> {
        let mut list: Vec<(usize, u64)> = self.frequency.iter().copied().enumerate().collect();
        list.sort_by_key(|&(feature, views)| (std::cmp::Reverse(views), feature));
        list.retain(|&(_, views)| views > 0);
        list.truncate(count);
        list
    }
}

/// Numbers of legal moves that are told apart; the last one stands for more.
pub const LEGAL: usize = 100;
/// Move numbers that are told apart; the last one stands for later moves.
const MOVES: usize = 200;

/// Steps of moves and numbers of legal moves.
#[derive(Debug, Clone, Serialize)]
pub struct MoveCounts {
    /// Played moves by files crossed, 0 to 7; castling as the king's move.
    pub file_steps: [u64; 8],
    /// Played moves by ranks crossed, 0 to 7.
    pub rank_steps: [u64; 8],
    /// Positions by side to move and number of legal moves, 0 to 99 and more.
    pub legal: [Vec<u64>; 2],
    /// Sum of legal moves and positions by side to move and move number, 0 to 199.
    pub by_move: [Vec<(u64, u64)>; 2],
    /// Positions by side to move, move number, 0 to 199, and number of legal moves, 0 to 99 and
    /// more.
    #[serde(skip)]
    pub legal_by_move: [Vec<[u32; LEGAL]>; 2],
    /// Positions of both views by kind and number of squares that its pieces can go to, 0 to 31.
    pub mobility: [Vec<u64>; 6],
}

impl Default for MoveCounts {
    fn default() -> MoveCounts {
        MoveCounts {
            file_steps: [0; 8],
            rank_steps: [0; 8],
            legal: [vec![0; LEGAL], vec![0; LEGAL]],
            by_move: [vec![(0, 0); MOVES], vec![(0, 0); MOVES]],
            legal_by_move: [(); 2].map(|()| vec![[0; LEGAL]; MOVES]),
            mobility: [(); 6].map(|()| vec![0; 32]),
        }
    }
}

impl MoveCounts {
    /// Records a position with its number of legal moves and the move played.
    pub fn record(&mut self, board: &Board, legal: usize, played: Option<Move>) {
        let side = board.turn().index();
        let (number, column) = (usize::from(board.fullmove_number()).min(MOVES - 1), legal.min(LEGAL - 1));
        self.legal[side][column] += 1;
        self.legal_by_move[side][number][column] += 1;
        let cell = &mut self.by_move[side][number];
        *cell = (cell.0 + legal as u64, cell.1 + 1);
        if let Some(mv) = played {
            let to = if mv.is_castling() { castling_target(board, mv) } else { mv.to() };
            self.file_steps[usize::from(mv.from().file().abs_diff(to.file()))] += 1;
            self.rank_steps[usize::from(mv.from().rank().abs_diff(to.rank()))] += 1;
        }
    }

    /// Records the squares of `mobility-squares` of a view.
    pub fn record_mobility(&mut self, squares: &ActiveFeatures) {
        for (code, word) in squares.words().iter().enumerate() {
            self.mobility[code % PieceType::COUNT][(word.count_ones() as usize).min(31)] += 1;
        }
    }
}

/// Returns the square that the king reaches by castling, whose move names the rook.
fn castling_target(board: &Board, mv: Move) -> destrier::types::Square {
    let mut after = *board;
    after.play(mv);
    debug_assert!(board.piece_at(mv.from()).map(Piece::kind) == Some(PieceType::King));
    after.king(board.turn())
}
