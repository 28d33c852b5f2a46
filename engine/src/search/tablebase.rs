//! Syzygy endgame tablebases: win, draw or loss in the tree, and moves that make progress at the
//! root.
//!
//! The crate `shakmaty-syzygy` reads the files; this module converts positions and results. A WDL
//! value respects the fifty-move rule only right after a capture or pawn move, so the tree probes
//! only there. Positions with castling rights are in no table.

use crate::board::{Board, CastlingSide};
use crate::nnue::EVAL_LIMIT;
use crate::types::{Bitboard, Color, Move, PieceType, TABLE_WIN_IN_MAX};
use shakmaty::{ByColor, ByRole, CastlingMode, Chess, FromSetup, Setup};
use shakmaty_syzygy::{Dtz, Tablebase, Wdl};
use std::path::{Path, PathBuf};
use std::{fmt, io};

const _: () = assert!(EVAL_LIMIT < TABLE_WIN_IN_MAX);

/// Reason why tablebases cannot be used.
#[derive(Debug)]
pub enum TablebaseError {
    /// A folder cannot be read.
    Folder {
        /// The folder.
        folder: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A file of tables is damaged or cannot be read.
    File {
        /// The file.
        file: PathBuf,
        /// Fault in it.
        source: io::Error,
    },
    /// No folder has tables.
    Empty,
}

impl fmt::Display for TablebaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TablebaseError::Folder { folder, source } => {
                write!(f, "`{}`: {source}; give the folder that the .rtbw files are in", folder.display())
            }
            TablebaseError::File { file, source } => {
                write!(f, "`{}`: {source}; fetch the file again, or take it away", file.display())
            }
            TablebaseError::Empty => write!(f, "no .rtbw files such as KRvK.rtbw in the folders given"),
        }
    }
}

impl std::error::Error for TablebaseError {}

/// Tablebases of some folders. Files are opened on their first probe.
pub struct Tablebases {
    tables: Tablebase<Chess>,
    /// Number of WDL files.
    count: usize,
}

impl Tablebases {
    /// Opens the tablebases in folders, separated as in the system's `PATH`.
    ///
    /// # Errors
    /// Returns an error if a folder cannot be read, a file is not a tablebase, or there is none.
    pub fn open(path: &str) -> Result<Tablebases, TablebaseError> {
        let mut found = Tablebases { tables: Tablebase::new(), count: 0 };
        for folder in std::env::split_paths(path) {
            found.add_folder(&folder)?;
        }
        if found.count == 0 { Err(TablebaseError::Empty) } else { Ok(found) }
    }

    fn add_folder(&mut self, folder: &Path) -> Result<(), TablebaseError> {
        let no_folder = |source| TablebaseError::Folder { folder: folder.to_owned(), source };
        for entry in std::fs::read_dir(folder).map_err(no_folder)? {
            let file = entry.map_err(no_folder)?.path();
            let kind = file.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
            if !matches!(kind, "rtbw" | "rtbz") {
                continue;
            }
            match self.tables.add_file(&file) {
                Ok(()) => self.count += usize::from(kind == "rtbw"),
                // The file name is not one of a tablebase.
                Err(error) if error.kind() == io::ErrorKind::InvalidInput => {}
                Err(source) => return Err(TablebaseError::File { file, source }),
            }
        }
        Ok(())
    }

    /// Returns the number of WDL files.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns the largest number of men in a table, kings included.
    pub fn most_men(&self) -> u32 {
        self.tables.max_pieces() as u32
    }

    /// Returns the value of a position right after a capture or pawn move: 1 if the side to move
    /// wins within the fifty-move rule, 0 for a draw, -1 for a loss. `None` if no table has the
    /// position.
    pub fn probe(&self, board: &Board) -> Option<i32> {
        let wdl = self.tables.probe_wdl_after_zeroing(&convert(board)?).ok()?;
        Some(match wdl {
            Wdl::Win => 1,
            Wdl::Loss => -1,
            Wdl::CursedWin | Wdl::Draw | Wdl::BlessedLoss => 0,
        })
    }

    /// Returns the best of these legal moves under the fifty-move rule: the quickest wins by
    /// distance to zeroing (DTZ), the draws, or the slowest losses. Without DTZ files all moves
    /// that keep the result are returned. `None` if a table is missing, or there is no move.
    pub fn best_moves(&self, board: &Board, moves: &[Move]) -> Option<Vec<Move>> {
        let by_distance: Option<Vec<i32>> = moves.iter().map(|&mv| self.rank_by_distance(board, mv)).collect();
        let ranks = match by_distance {
            Some(ranks) => ranks,
            None => moves.iter().map(|&mv| Some(-self.probe(&after(board, mv))?)).collect::<Option<Vec<i32>>>()?,
        };
        let best = *ranks.iter().max()?;
        Some(moves.iter().zip(ranks).filter(|&(_, rank)| rank == best).map(|(&mv, _)| mv).collect())
    }

    /// Ranks a move by DTZ: earlier wins and later losses rank higher.
    fn rank_by_distance(&self, board: &Board, mv: Move) -> Option<i32> {
        let child = after(board, mv);
        if child.in_check() && child.count_legal_moves() == 0 {
            return Some(rank(1, 0));
        }
        let distance = if child.halfmove_clock() == 0 {
            let wdl = self.tables.probe_wdl_after_zeroing(&convert(&child)?).ok()?;
            Dtz::before_zeroing(-wdl).0
        } else {
            let dtz = self.tables.probe_dtz(&convert(&child)?).ok()?;
            let dtz = -dtz.ignore_rounding().0;
            dtz + dtz.signum()
        };
        Some(rank(distance, i32::from(board.halfmove_clock())))
    }
}

/// Ranks a DTZ, negative if losing, given the halfmove clock. DTZ values may be off by one ply, so
/// a win that needs the last ply of the fifty-move rule ranks as a possible draw.
fn rank(distance: i32, clock: i32) -> i32 {
    match distance {
        0 => 0,
        1.. if distance + clock <= 99 => 10_000 - distance,
        1.. => 1_000 - (distance + clock).min(999),
        _ if clock - distance <= 99 => -10_000 - distance,
        _ => -1_000 + (clock - distance).min(999),
    }
}

fn after(board: &Board, mv: Move) -> Board {
    let mut child = *board;
    child.play(mv);
    child
}

/// Converts a position for the library; `None` if the library rejects it.
fn convert(board: &Board) -> Option<Chess> {
    let bits = |set: Bitboard| shakmaty::Bitboard(set.0);
    let by_role = ByRole {
        pawn: bits(board.kind(PieceType::Pawn)),
        knight: bits(board.kind(PieceType::Knight)),
        bishop: bits(board.kind(PieceType::Bishop)),
        rook: bits(board.kind(PieceType::Rook)),
        queen: bits(board.kind(PieceType::Queen)),
        king: bits(board.kind(PieceType::King)),
    };
    let by_color = ByColor { black: bits(board.colored(Color::Black)), white: bits(board.colored(Color::White)) };
    let setup = Setup {
        board: shakmaty::Board::try_from_bitboards(by_role, by_color).ok()?,
        turn: if board.turn() == Color::White { shakmaty::Color::White } else { shakmaty::Color::Black },
        ep_square: board.en_passant().map(|square| shakmaty::Square::new(square.index() as u32)),
        halfmoves: u32::from(board.halfmove_clock()),
        ..Setup::empty()
    };
    Chess::from_setup(setup, CastlingMode::Chess960).ok()
}

fn has_castling_rights(board: &Board) -> bool {
    let has = |color, side| board.castling_rook(color, side).is_some();
    Color::ALL.iter().any(|&color| CastlingSide::ALL.iter().any(|&side| has(color, side)))
}

/// Limits of tablebase probes in the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProbeLimits {
    /// Minimum remaining depth, in plies, for positions with the maximum number of men.
    pub depth: i32,
    /// Maximum number of men, if the tables have as many.
    pub men: u32,
}

impl Default for ProbeLimits {
    fn default() -> ProbeLimits {
        ProbeLimits { depth: 1, men: 7 }
    }
}

/// Tablebases and probe limits of a search.
#[derive(Clone, Copy)]
pub struct Prober<'a> {
    /// The tables.
    pub tables: &'a Tablebases,
    /// Limits of the probes.
    pub probing: ProbeLimits,
}

impl Prober<'_> {
    /// Returns whether the tables may contain the position, whatever its halfmove clock.
    pub fn is_in_reach(&self, board: &Board) -> bool {
        let men = board.occupied().count();
        men <= self.probing.men.min(self.tables.most_men()) && !has_castling_rights(board)
    }

    /// Probes a position at a remaining depth in plies. Returns the tables' result from the side to
    /// move's view; `None` if the position is out of reach or not in the tables.
    pub fn probe(&self, board: &Board, depth: i32) -> Option<i32> {
        if board.halfmove_clock() != 0 || !self.is_in_reach(board) {
            return None;
        }
        let is_smaller = board.occupied().count() < self.probing.men.min(self.tables.most_men());
        if is_smaller || depth >= self.probing.depth { self.tables.probe(board) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::MoveList;

    /// Opens real tables if `QUINTAIN_SYZYGY` names a folder that holds at least those of three and
    /// four men.
    fn tables(test: &str) -> Option<Tablebases> {
        let Some(folder) = std::env::var_os("QUINTAIN_SYZYGY") else {
            crate::skip::skip(test, "set QUINTAIN_SYZYGY to a folder with 3- and 4-man tables");
            return None;
        };
        Some(Tablebases::open(&folder.to_string_lossy()).expect("tables"))
    }

    fn legal(board: &Board) -> Vec<Move> {
        let mut moves = MoveList::new();
        board.legal_moves(&mut moves);
        moves.iter().copied().collect()
    }

    fn board(fen: &str) -> Board {
        Board::from_fen(fen).expect("a legal position")
    }

    #[test]
    fn ranks_keep_their_order() {
        // Distance and clock, from the best to the worst.
        let ranked = [(1, 0), (2, 0), (30, 69), (31, 69), (101, 0), (0, 50), (-101, 0), (-30, 70), (-30, 0), (-2, 0)];
        let ranks: Vec<i32> = ranked.iter().map(|&(distance, clock)| rank(distance, clock)).collect();
        assert!(ranks.is_sorted_by(|a, b| a > b || a == b && *a > 9_000), "{ranks:?}");
    }

    #[test]
    fn positions_convert() {
        for fen in
            ["8/8/8/3pP3/8/8/4k3/K7 w - d6 0 1", "8/8/8/3k4/8/8/8/KBN5 b - - 7 30", "4k3/8/4K3/4P3/8/8/8/8 b - - 0 1"]
        {
            let converted = convert(&board(fen)).expect("a position");
            let text = shakmaty::fen::Fen::from_position(&converted, shakmaty::EnPassantMode::Always).to_string();
            let fields = |fen: &str| fen.split(' ').take(5).map(str::to_owned).collect::<Vec<_>>();
            assert_eq!(fields(&text), fields(fen));
        }
    }

    #[test]
    fn folders_without_tables_are_named() {
        for (path, message) in [("/no/such/folder", "`/no/such/folder`: "), ("", "no .rtbw files")] {
            let error = Tablebases::open(path).err().expect("no tables").to_string();
            assert!(error.starts_with(message) || path.is_empty(), "{error}");
        }
    }

    #[test]
    fn real_tables_know_values_and_moves() {
        let Some(tables) = tables("real_tables_know_values_and_moves") else { return };
        assert!(tables.count() >= 35 && tables.most_men() >= 4);
        // The depth is for positions with as many men as may be probed.
        let prober = Prober { tables: &tables, probing: ProbeLimits { depth: 9, men: 3 } };
        let most = board("4k3/8/4K3/4P3/8/8/8/8 w - - 0 1");
        assert_eq!([8, 9].map(|depth| prober.probe(&most, depth)), [None, Some(1)]);
        for (fen, value, moves) in [
            ("4k3/8/4K3/4P3/8/8/8/8 w - - 0 1", 1, "e6d6 e6f6"),
            ("4k3/8/4K3/4P3/8/8/8/8 b - - 0 1", -1, ""),
            ("8/4k3/8/4K3/4P3/8/8/8 w - - 0 1", 0, ""),
            ("k7/8/K7/P7/8/8/8/8 w - - 0 1", 0, ""),
            ("8/8/8/3k4/8/8/8/KBN5 w - - 0 1", 1, ""),
            ("7k/5Q2/6K1/8/8/8/8/8 w - - 0 1", 1, "f7f8 f7h7 f7g7 f7e8"),
        ] {
            let board = board(fen);
            assert_eq!(tables.probe(&board), Some(value), "{fen}");
            let best = tables.best_moves(&board, &legal(&board)).expect("known");
            assert!(!best.is_empty());
            if !moves.is_empty() {
                let wanted: Vec<Move> = moves.split(' ').filter_map(|word| board.parse_uci(word)).collect();
                assert!(best.iter().all(|mv| wanted.contains(mv)), "{fen}: {best:?}");
            }
        }
    }

    /// The best moves lead from a won position to mate within the fifty-move rule against any
    /// defence.
    #[test]
    fn real_tables_lead_to_mate() {
        let Some(tables) = tables("real_tables_lead_to_mate") else { return };
        for fen in
            ["8/8/8/3k4/8/8/8/KBN5 w - - 0 1", "8/8/8/3kr3/8/8/8/KQ6 w - - 0 1", "8/8/8/3K4/3P4/8/3k4/8 w - - 0 1"]
        {
            let mut board = board(fen);
            for ply in 0.. {
                let best = tables.best_moves(&board, &legal(&board)).expect("known");
                let Some(&mv) = best.first() else { break };
                board.play(mv);
                assert!(board.halfmove_clock() < 100 && ply < 300, "{fen}");
                if board.count_legal_moves() == 0 {
                    break;
                }
            }
            assert!(board.in_check() && board.count_legal_moves() == 0, "{fen}: {}", board.to_fen(false));
        }
    }
}
