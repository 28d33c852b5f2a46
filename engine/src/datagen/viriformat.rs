//! Scored games in the file format viriformat (<https://github.com/cosmobobak/viriformat>,
//! specified in its README).
//!
//! A file is a sequence of games. A game is its starting position (32 bytes), four bytes per ply
//! (move and score, both 16 bits, little endian), and four zero bytes. Scores are White's, in
//! centipawns.

use crate::board::{Board, CastlingSide};
use crate::types::{Bitboard, Color, Flag, Move, Piece, PieceType, Square};
use std::fmt;
use std::io::{self, BufRead, ErrorKind, Read, Seek, SeekFrom, Write};

/// Length of a starting position in bytes.
const HEAD_BYTES: usize = 32;
/// Length of a ply, and of the end mark of a game, in bytes.
const PLY_BYTES: usize = 4;
/// Maximum plies of a valid game. By the 75-move rule the longest game has fewer than 18,000.
pub const MAX_PLIES: usize = 20_000;
/// Most zeros at the end of a whole game: one without moves ends with the high byte of its move
/// number, a score, a result, a spare byte and the end mark.
pub const MOST_ZEROS: u64 = 9;
/// Score of a ply without one; beyond every filter.
pub const NO_SCORE: i16 = i16::MAX;

/// Code of a rook that may castle, among the piece codes of a starting position.
const UNMOVED_ROOK: u8 = 6;
const BLACK: u8 = 8;
const NO_EN_PASSANT: u8 = 64;

/// Result of a game, from White's view.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum GameResult {
    /// Black wins.
    BlackWins = 0,
    /// Draw.
    Draw = 1,
    /// White wins.
    WhiteWins = 2,
}

impl GameResult {
    /// All results, by White's half points.
    pub const ALL: [GameResult; 3] = [GameResult::BlackWins, GameResult::Draw, GameResult::WhiteWins];

    /// Creates the result from its code 0, 1 or 2: White's half points.
    pub fn from_half_points(code: u8) -> Option<GameResult> {
        GameResult::ALL.get(usize::from(code)).copied()
    }

    /// Returns White's half points, 0, 1 or 2.
    pub const fn half_points(self) -> u8 {
        self as u8
    }

    /// Returns the result of a win by a side.
    pub const fn win(winner: Color) -> GameResult {
        match winner {
            Color::White => GameResult::WhiteWins,
            Color::Black => GameResult::BlackWins,
        }
    }

    /// Returns the result from the other side's view.
    #[must_use]
    pub const fn reversed(self) -> GameResult {
        match self {
            GameResult::BlackWins => GameResult::WhiteWins,
            GameResult::Draw => GameResult::Draw,
            GameResult::WhiteWins => GameResult::BlackWins,
        }
    }
}

/// Move and the score of the position it was played in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScoredMove {
    /// The move.
    pub mv: Move,
    /// White's score in centipawns, or [`NO_SCORE`].
    pub score: i16,
}

/// Game with scores and legal moves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScoredGame {
    /// Starting position.
    pub start: Board,
    /// White's score of the starting position if no move carries it; else 0.
    pub start_score: i16,
    /// Result of the game.
    pub result: GameResult,
    /// Moves from the starting position, with their scores.
    pub plies: Vec<ScoredMove>,
}

impl ScoredGame {
    /// Iterates over the positions in which a move was played, with that move and its score.
    pub fn positions(&self) -> impl Iterator<Item = (Board, ScoredMove)> {
        self.plies.iter().scan(self.start, |board, &ply| {
            let before = *board;
            board.play(ply.mv);
            Some((before, ply))
        })
    }

    /// Appends the game's bytes.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.reserve(HEAD_BYTES + PLY_BYTES * (self.plies.len() + 1));
        out.extend_from_slice(&pack(&self.start, self.start_score, self.result));
        for ply in &self.plies {
            out.extend_from_slice(&encode_move(ply.mv).to_le_bytes());
            out.extend_from_slice(&ply.score.to_le_bytes());
        }
        out.extend_from_slice(&[0; PLY_BYTES]);
    }

    /// Writes the game's bytes in one go.
    ///
    /// # Errors
    /// Returns the errors of the writer.
    pub fn write_to(&self, out: &mut impl Write) -> io::Result<()> {
        let mut bytes = Vec::new();
        self.write(&mut bytes);
        out.write_all(&bytes)
    }
}

/// Damage of a game in a file.
#[derive(Debug)]
pub enum Damage {
    /// The file ends within the game.
    Torn,
    /// The starting position is not legal, with the reason.
    Start(String),
    /// The result byte is not a valid code.
    Result(u8),
    /// A move is not legal.
    Move {
        /// Ply in the game, from 0.
        ply: usize,
        /// Bits of the move as stored.
        bits: u16,
    },
    /// The game has more than [`MAX_PLIES`].
    TooLong,
    /// The file cannot be read.
    Io(io::Error),
}

/// Error of a reader, with the place of the damaged game.
#[derive(Debug)]
pub struct ReadError {
    /// Bytes before the game.
    pub offset: u64,
    /// Games before it.
    pub game: u64,
    /// Kind of the damage.
    pub damage: Damage,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ReadError { offset, game, damage } = self;
        write!(f, "offset {offset} (after {game} games): ")?;
        match damage {
            Damage::Torn => write!(f, "the file ends within a game; cut it to {offset} bytes to use the rest"),
            Damage::Start(why) => write!(f, "bad start position ({why}); is this a viriformat file?"),
            Damage::Result(code) => write!(f, "bad result {code}, expected 0, 1 or 2; is this a viriformat file?"),
            Damage::Move { ply, bits } => {
                write!(f, "move {bits:#06x} at ply {ply} is not legal; cut the file to {offset} bytes to use the rest")
            }
            Damage::TooLong => write!(f, "game of more than {MAX_PLIES} plies; is this a viriformat file?"),
            Damage::Io(error) => write!(f, "cannot read: {error}"),
        }
    }
}

impl std::error::Error for ReadError {}

/// Reader of games that checks every position and move.
#[derive(Debug)]
pub struct Reader<R> {
    source: R,
    offset: u64,
    games: u64,
}

impl<R: BufRead> Reader<R> {
    /// Creates a reader from the start of a file.
    pub fn new(source: R) -> Reader<R> {
        Reader { source, offset: 0, games: 0 }
    }

    /// Returns the bytes of the games read so far.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the number of games read so far.
    pub fn games(&self) -> u64 {
        self.games
    }

    /// Reads the next game; `None` at the end of the file.
    ///
    /// # Errors
    /// Returns a [`ReadError`] if the file is not viriformat, damaged or torn. Nothing more can be
    /// read after it.
    pub fn next_game(&mut self) -> Result<Option<ScoredGame>, ReadError> {
        match self.read_game() {
            Ok(None) => Ok(None),
            Ok(Some(game)) => {
                self.offset += (HEAD_BYTES + PLY_BYTES * (game.plies.len() + 1)) as u64;
                self.games += 1;
                Ok(Some(game))
            }
            Err(damage) => Err(ReadError { offset: self.offset, game: self.games, damage }),
        }
    }

    fn read_game(&mut self) -> Result<Option<ScoredGame>, Damage> {
        if self.source.fill_buf().map_err(Damage::Io)?.is_empty() {
            return Ok(None);
        }
        let mut head = [0; HEAD_BYTES];
        self.fill(&mut head)?;
        let (start, start_score, result) = unpack(&head)?;
        let mut game = ScoredGame { start, start_score, result, plies: Vec::new() };
        let mut board = start;
        loop {
            let mut bytes = [0; PLY_BYTES];
            self.fill(&mut bytes)?;
            let [a, b, c, d] = bytes;
            let bits = u16::from_le_bytes([a, b]);
            if bits == 0 && (c, d) == (0, 0) {
                return Ok(Some(game));
            }
            if game.plies.len() == MAX_PLIES {
                return Err(Damage::TooLong);
            }
            let mv = decode_move(&board, bits).ok_or(Damage::Move { ply: game.plies.len(), bits })?;
            game.plies.push(ScoredMove { mv, score: i16::from_le_bytes([c, d]) });
            board.play(mv);
        }
    }

    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), Damage> {
        self.source.read_exact(bytes).map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof => Damage::Torn,
            _ => Damage::Io(error),
        })
    }
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = Result<ScoredGame, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_game().transpose()
    }
}

/// Returns the length of a file without the zeros that a power cut left at its end in place of
/// data: more than `most_zeros`, which a whole record may have. Leaves the file at its start.
///
/// # Errors
/// Returns the errors of the file.
pub fn written_length(file: &mut (impl Read + Seek), most_zeros: u64) -> io::Result<u64> {
    let length = file.seek(SeekFrom::End(0))?;
    let (mut end, mut buffer) = (length, [0; 4096]);
    while end > 0 {
        let part = &mut buffer[..end.min(4096) as usize];
        let start = end - part.len() as u64;
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(part)?;
        if let Some(last) = part.iter().rposition(|byte| *byte != 0) {
            end = start + last as u64 + 1;
            break;
        }
        end = start;
    }
    file.rewind()?;
    Ok(if length - end > most_zeros { end } else { length })
}

/// Encodes a move as in the file: squares, promotion piece and kind of move.
fn encode_move(mv: Move) -> u16 {
    let squares = mv.raw() & 0x0fff;
    let (piece, kind) = match mv.promotion() {
        Some(kind) => (kind.index() as u16 - 1, 3),
        None if mv.is_castling() => (0, 2),
        None if mv.is_en_passant() => (0, 1),
        None => (0, 0),
    };
    squares | piece << 12 | kind << 14
}

/// Decodes the bits of a legal move.
fn decode_move(board: &Board, bits: u16) -> Option<Move> {
    let (from, to) = (Square::new((bits & 63) as u8), Square::new((bits >> 6 & 63) as u8));
    let captures = board.piece_at(to).is_some();
    let flag = match bits >> 14 {
        0 if captures => Flag::Capture,
        0 => {
            let is_pawn = board.kind(PieceType::Pawn).has(from);
            if is_pawn && from.rank().abs_diff(to.rank()) == 2 { Flag::DoublePush } else { Flag::Quiet }
        }
        1 => Flag::EnPassant,
        2 => Flag::Castling,
        _ => Flag::promotion(PieceType::from_index(1 + (bits >> 12 & 3) as usize), captures),
    };
    let mv = Move::new(from, to, flag);
    board.is_legal(mv).then_some(mv)
}

fn pack(board: &Board, score: i16, result: GameResult) -> [u8; HEAD_BYTES] {
    let mut bytes = [0; HEAD_BYTES];
    bytes[..8].copy_from_slice(&bits_of(board.occupied()).to_le_bytes());
    for (place, square) in board.occupied().iter().enumerate() {
        let Some(piece) = board.piece_at(square) else { continue };
        let may_castle = CastlingSide::ALL.iter().any(|&side| board.castling_rook(piece.color(), side) == Some(square));
        let kind = if may_castle { UNMOVED_ROOK } else { piece.kind().index() as u8 };
        let color = if piece.color() == Color::Black { BLACK } else { 0 };
        bytes[8 + place / 2] |= (kind | color) << (4 * (place & 1));
    }
    let turn = if board.turn() == Color::Black { 0x80 } else { 0 };
    bytes[24] = turn | board.en_passant().map_or(NO_EN_PASSANT, Square::raw);
    bytes[25] = u8::try_from(board.halfmove_clock()).unwrap_or(u8::MAX);
    bytes[26..28].copy_from_slice(&board.fullmove_number().to_le_bytes());
    bytes[28..30].copy_from_slice(&score.to_le_bytes());
    bytes[30] = result.half_points();
    bytes
}

fn bits_of(set: Bitboard) -> u64 {
    set.iter().fold(0, |bits, square| bits | 1 << square.index())
}

/// Parses the position by way of its FEN, so that legality has a single definition.
fn unpack(bytes: &[u8; HEAD_BYTES]) -> Result<(Board, i16, GameResult), Damage> {
    let word = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
    let occupied = bytes[..8].iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte));
    if occupied.count_ones() > 32 {
        return Err(Damage::Start(format!("{} pieces", occupied.count_ones())));
    }
    let mut squares = [None; 64];
    let mut castling = String::new();
    let filled = Square::all().filter(|square| occupied >> square.index() & 1 == 1);
    for (place, square) in filled.enumerate() {
        let code = bytes[8 + place / 2] >> (4 * (place & 1)) & 15;
        let color = if code & BLACK == 0 { Color::White } else { Color::Black };
        let kind = match code & 7 {
            UNMOVED_ROOK if square.relative(color).rank() == 0 => {
                let letter = char::from(b'a' + square.file());
                castling.push(if color == Color::White { letter.to_ascii_uppercase() } else { letter });
                PieceType::Rook
            }
            kind @ 0..=5 => PieceType::from_index(usize::from(kind)),
            kind => return Err(Damage::Start(format!("piece code {kind} on {square}"))),
        };
        squares[square.index()] = Some(Piece::new(color, kind));
    }
    if castling.is_empty() {
        castling.push('-');
    }
    let mut fen = String::with_capacity(90);
    for rank in (0..8).rev() {
        for file in 0..8 {
            fen.push(squares[Square::at(file, rank).index()].map_or('1', Piece::letter));
        }
        fen.push(if rank > 0 { '/' } else { ' ' });
    }
    let turn = if bytes[24] & 0x80 == 0 { 'w' } else { 'b' };
    let en_passant = match bytes[24] & 0x7f {
        NO_EN_PASSANT => "-".to_owned(),
        square @ 0..64 => Square::new(square).to_string(),
        other => return Err(Damage::Start(format!("en passant square {other}"))),
    };
    fen += &format!("{turn} {castling} {en_passant} {} {}", bytes[25], word(26));
    let board = Board::from_fen(&fen).map_err(|error| Damage::Start(error.to_string()))?;
    let result = GameResult::from_half_points(bytes[30]).ok_or(Damage::Result(bytes[30]))?;
    Ok((board, word(28).cast_signed(), result))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::MoveList;
    use crate::types::SplitMix64;

    /// Returns a game of random moves with random scores.
    fn random_game(fen: &str, seed: u64) -> ScoredGame {
        let start = Board::from_fen(fen).unwrap();
        let mut random = SplitMix64::from_seeds(&[seed]);
        let mut game = ScoredGame { start, start_score: 0, result: GameResult::ALL[seed as usize % 3], plies: vec![] };
        let mut board = start;
        for _ in 0..60 {
            let mut moves = MoveList::new();
            board.legal_moves(&mut moves);
            let Some(&mv) = moves.get(random.below(moves.len().max(1))) else { break };
            game.plies.push(ScoredMove { mv, score: random.next_u64() as u16 as i16 });
            board.play(mv);
        }
        game
    }

    const STARTS: &[&str] = &[
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3",
        "8/PPPk4/8/8/8/8/4Kppp/8 b - - 12 70",
        "nrk1brnb/pp1ppppp/2p5/3q4/5P2/PQ6/1PPPP1PP/NRK1BRNB w FBfb - 1 9",
    ];

    fn file() -> (Vec<ScoredGame>, Vec<u8>) {
        let games: Vec<_> = STARTS.iter().flat_map(|fen| (0..6).map(move |seed| random_game(fen, seed))).collect();
        let mut bytes = Vec::new();
        games.iter().for_each(|game| game.write(&mut bytes));
        (games, bytes)
    }

    #[test]
    fn games_come_back() {
        let (games, bytes) = file();
        let read: Vec<_> = Reader::new(&bytes[..]).map(Result::unwrap).collect();
        assert_eq!(read, games);
    }

    /// Example of the specification: 1. e4 e5 2. Qh5 Ke7 3. Qxe5#.
    #[test]
    fn the_specifications_example_is_read_and_written() {
        let bytes: Vec<u8> = [
            [0xff, 0xff, 0, 0, 0, 0, 0xff, 0xff],
            [0x16, 0x42, 0x25, 0x61, 0, 0, 0, 0],
            [0x88, 0x88, 0x88, 0x88, 0x9e, 0xca, 0xad, 0xe9],
            [0x40, 0, 1, 0, 0, 0, 2, 0],
            [0x0c, 0x07, 0x0a, 0, 0x34, 0x09, 0x14, 0],
            [0xc3, 0x09, 0xe2, 0xff, 0x3c, 0x0d, 0xff, 0x7f],
            [0x27, 0x09, 0xff, 0x7f, 0, 0, 0, 0],
        ]
        .concat();
        let game = Reader::new(&bytes[..]).next_game().unwrap().unwrap();
        let moves: Vec<_> = game.positions().map(|(board, ply)| board.to_uci(ply.mv, false)).collect();
        assert_eq!(moves, ["e2e4", "e7e5", "d1h5", "e8e7", "h5e5"]);
        assert_eq!(game.plies.iter().map(|ply| ply.score).collect::<Vec<_>>(), [10, 20, -30, 32767, 32767]);
        assert_eq!(game.result, GameResult::WhiteWins);
        let mut written = Vec::new();
        game.write(&mut written);
        assert_eq!(written, bytes);
    }

    #[test]
    fn a_cut_anywhere_leaves_the_whole_games() {
        let (games, bytes) = file();
        let mut ends = vec![0];
        for game in &games {
            ends.push(ends[ends.len() - 1] + 36 + 4 * game.plies.len());
        }
        for cut in 0..bytes.len() {
            let whole = ends.iter().rposition(|&end| end <= cut).unwrap();
            let mut reader = Reader::new(&bytes[..cut]);
            let error = loop {
                match reader.next_game() {
                    Ok(Some(_)) => {}
                    Ok(None) => break None,
                    Err(error) => break Some(error),
                }
            };
            assert_eq!((reader.games() as usize, reader.offset() as usize), (whole, ends[whole]), "cut at {cut}");
            assert_eq!(error.is_none(), ends[whole] == cut);
            assert!(error.is_none_or(|error| matches!(error.damage, Damage::Torn)));
        }
    }

    #[test]
    fn hostile_bytes_are_errors() {
        let (_, bytes) = file();
        let mut random = SplitMix64::from_seeds(&[7]);
        for _ in 0..3000 {
            let mut bytes = bytes.clone();
            for _ in 0..1 + random.below(3) {
                let place = random.below(bytes.len());
                bytes[place] = random.next_u64() as u8;
            }
            assert!(Reader::new(&bytes[..]).map_while(Result::ok).count() <= bytes.len() / 36);
        }
    }
}
