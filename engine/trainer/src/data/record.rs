//! Labelled positions, and the 32-byte record that training reads.

use super::error::RecordFault;
use bulletformat::ChessBoard;
use destrier::board::{Board, CastlingSide};
use destrier::datagen::viriformat::{GameResult, NO_SCORE, ScoredGame, ScoredMove};
use destrier::types::{Bitboard, Color, Move, MoveList, PieceType, Score, Square};

/// Marks of the positions P, Q and R of a triplet, in the last bytes of their records.
pub const TRIPLET_MARKS: [[u8; 3]; 3] = [*b"pqP", *b"pqQ", *b"pqR"];

/// Bytes of a bulletformat record.
pub const BULLET_BYTES: usize = 32;

/// Score of a position without one in Stockfish's formats, its `VALUE_NONE`.
const VALUE_NONE: i16 = 32_002;

/// Position with its labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// Position before the move.
    pub board: Board,
    /// Move played; [`Move::NULL`] if unknown.
    pub mv: Move,
    /// White's score in centipawns; [`NO_SCORE`] if there is none.
    pub score: i16,
    /// Result of the game.
    pub result: GameResult,
}

impl Position {
    /// Returns the ply of the game according to the move number.
    pub fn ply(&self) -> u32 {
        ply(&self.board)
    }

    /// Creates a position of Stockfish's formats, whose score and result are the side to move's.
    pub fn of_stockfish(board: Board, mv: Move, score: i16, result: GameResult) -> Self {
        // A change of view is its own inverse.
        let (white_score, result) = Self { board, mv, score, result }.relative();
        Self { board, mv, score: if score == VALUE_NONE { NO_SCORE } else { white_score }, result }
    }

    /// Returns the score and the result from the side to move's view.
    pub fn relative(&self) -> (i16, GameResult) {
        match self.board.turn() {
            Color::White => (self.score, self.result),
            Color::Black => (self.score.saturating_neg(), self.result.reversed()),
        }
    }

    /// Converts to the record that training reads: pieces, score and result from the side to move's
    /// view. Side to move, castling rights, en passant, clocks and the move are lost.
    ///
    /// # Panics
    /// Never, because every piece of a board has a kind, and a missing kind is the only possible
    /// fault.
    pub fn to_bullet(&self) -> ChessBoard {
        let bits = |set: Bitboard| set.iter().fold(0, |bits, square| bits | 1 << square.index());
        let mut boards = [0; 8];
        boards[0] = bits(self.board.colored(Color::White));
        boards[1] = bits(self.board.colored(Color::Black));
        for kind in 0..PieceType::COUNT {
            boards[2 + kind] = bits(self.board.kind(PieceType::from_index(kind)));
        }
        let score = self.score.max(-i16::MAX);
        let result = f32::from(self.result.half_points()) / 2.0;
        ChessBoard::from_raw(boards, self.board.turn().index(), score, result)
            .expect("every piece of a board has a kind")
    }

    /// Converts a record to a position with White to move.
    ///
    /// # Errors
    /// Fails if the record is invalid, with the reason.
    pub fn from_bullet(record: &ChessBoard) -> Result<Position, RecordFault> {
        if record.occ().count_ones() > 32 {
            return Err(RecordFault(format!("{} pieces, expected at most 32", record.occ().count_ones())));
        }
        let mut letters = ['1'; 64];
        for (code, square) in *record {
            let letter = "PNBRQK??pnbrqk??".as_bytes()[usize::from(code & 15)];
            letters[usize::from(square)] = char::from(letter);
        }
        let ranks: Vec<String> = letters.chunks(8).rev().map(|rank| rank.iter().collect()).collect();
        let board = Board::from_fen(&format!("{} w - - 0 1", ranks.join("/")))
            .map_err(|error| RecordFault(error.to_string()))?;
        let result = GameResult::from_half_points(record.result)
            .ok_or_else(|| RecordFault(format!("bad result {}, expected 0, 1 or 2", record.result)))?;
        let kings = (record.our_ksq(), record.opp_ksq());
        if kings != (board.king(Color::White).raw(), Square::flip(board.king(Color::Black)).raw()) {
            return Err(RecordFault("its kings do not stand where it says".to_owned()));
        }
        Ok(Position { board, mv: Move::NULL, score: record.score, result })
    }
}

/// Returns the ply of the game according to the move number.
pub fn ply(board: &Board) -> u32 {
    2 * (u32::from(board.fullmove_number()) - 1) + u32::from(board.turn() == Color::Black)
}

/// Returns true if a capture or queen promotion wins at least this by static exchange, in
/// centipawns.
pub fn wins_material(board: &Board, least: Score) -> bool {
    let mut captures = MoveList::new();
    board.legal_captures(&mut captures);
    captures.iter().any(|&mv| board.see_ge(mv, least))
}

/// Serialises a record.
pub fn bullet_bytes(record: &ChessBoard) -> [u8; BULLET_BYTES] {
    let mut bytes = [0; BULLET_BYTES];
    bytes[..8].copy_from_slice(&record.occ.to_le_bytes());
    bytes[8..24].copy_from_slice(&record.pcs);
    bytes[24..26].copy_from_slice(&record.score.to_le_bytes());
    bytes[26..29].copy_from_slice(&[record.result, record.ksq, record.opp_ksq]);
    bytes[29..].copy_from_slice(&record.extra);
    bytes
}

/// Deserialises a record without validation.
pub fn bullet_record(bytes: &[u8; BULLET_BYTES]) -> ChessBoard {
    let mut pcs = [0; 16];
    pcs.copy_from_slice(&bytes[8..24]);
    ChessBoard {
        occ: u64::from_le_bytes(bytes.as_chunks().0[0]),
        pcs,
        score: i16::from_le_bytes([bytes[24], bytes[25]]),
        result: bytes[26],
        ksq: bytes[27],
        opp_ksq: bytes[28],
        extra: [bytes[29], bytes[30], bytes[31]],
    }
}

/// Returns true if a side may castle with a king or rook that is not on its standard file. Only the
/// Chess960 notation, king takes rook, can express such moves.
pub fn is_chess960(board: &Board) -> bool {
    Color::ALL.into_iter().any(|color| {
        [(CastlingSide::King, 7), (CastlingSide::Queen, 0)].into_iter().any(|(side, file)| {
            board.castling_rook(color, side).is_some_and(|rook| rook.file() != file || board.king(color).file() != 4)
        })
    })
}

/// Entry of a data file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// Game with its scored moves.
    Game(ScoredGame),
    /// Single position from a file without games.
    Position(Position),
}

impl Entry {
    /// Returns every labelled position in order. A game without moves yields its start.
    pub fn positions(&self) -> Vec<Position> {
        match self {
            Entry::Position(position) => vec![*position],
            Entry::Game(game) if game.plies.is_empty() => {
                vec![Position { board: game.start, mv: Move::NULL, score: game.start_score, result: game.result }]
            }
            Entry::Game(game) => game
                .positions()
                .map(|(board, ply)| Position { board, mv: ply.mv, score: ply.score, result: game.result })
                .collect(),
        }
    }

    /// Converts the entry to a game. A single position becomes a game of one ply, or of none if its
    /// move is unknown.
    pub fn into_game(self) -> ScoredGame {
        match self {
            Entry::Game(game) => game,
            Entry::Position(Position { board, mv, score, result }) if mv.is_null() => {
                ScoredGame { start: board, start_score: score, result, plies: Vec::new() }
            }
            Entry::Position(Position { board, mv, score, result }) => {
                ScoredGame { start: board, start_score: 0, result, plies: vec![ScoredMove { mv, score }] }
            }
        }
    }

    /// Replaces the scores by one for each of [`Self::positions`].
    #[must_use]
    pub fn with_scores(mut self, scores: &[i16]) -> Entry {
        match &mut self {
            Entry::Position(position) => position.score = scores.first().copied().unwrap_or(NO_SCORE),
            Entry::Game(game) if game.plies.is_empty() => {
                game.start_score = scores.first().copied().unwrap_or(NO_SCORE);
            }
            Entry::Game(game) => {
                game.plies.iter_mut().zip(scores).for_each(|(ply, &score)| ply.score = score);
            }
        }
        self
    }
}
