//! The rules of chess, for the referee.
//!
//! Only this file and `tablebase` know the rules library (shakmaty). A [`Position`] is a game in
//! progress: the board and as much of its past as the rules need. It is changed in place and
//! answers in the harness's own words ([`Color`], [`Outcome`], [`Termination`], UCI text), so that
//! the library can be exchanged without any other file noticing.

mod identity;

use shakmaty::attacks::queen_attacks;
use shakmaty::fen::Fen;
use shakmaty::san::{SanPlus, Suffix};
use shakmaty::uci::UciMove;
use shakmaty::zobrist::Zobrist64;
use shakmaty::{
    Bitboard, Board, CastlingMode, CastlingSide, Chess, EnPassantMode, Move, Position as _, PositionErrorKinds, Role,
};
use thiserror::Error;

use crate::record::{Color, Outcome, Termination};
pub use identity::{game_key, opening_key};

/// The standard starting position.
pub const START_FEN: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

/// Castling rules: those of standard chess, or those of Chess960 with rooks on any file and
/// castling sent as king takes rook (`UCI_Chess960`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Variant {
    /// Castling from e1/e8 with the corner rooks, sent as the king's own move (`e1g1`).
    #[default]
    Standard,
    /// Castling from anywhere, sent as king takes rook (`e1h1`).
    Chess960,
}

impl Variant {
    /// Names of Chess960 in the tag `Variant` of a PGN: the usual one, and that of cutechess.
    pub const CHESS960_TAGS: [&str; 2] = ["Chess960", "fischerandom"];

    /// Option by which an engine castles as in Chess960.
    pub const OPTION: &'static str = "UCI_Chess960";

    /// Has the variant alone set [`Self::OPTION`] among an engine's options.
    pub fn set_option(self, options: &mut Vec<(String, String)>) {
        options.retain(|(name, _)| !name.eq_ignore_ascii_case(Self::OPTION));
        if self == Self::Chess960 {
            options.push((Self::OPTION.to_owned(), "true".to_owned()));
        }
    }

    const fn mode(self) -> CastlingMode {
        match self {
            Self::Standard => CastlingMode::Standard,
            Self::Chess960 => CastlingMode::Chess960,
        }
    }
}

/// Reason that a FEN gives no position to play from.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FenError {
    /// The notation cannot be read.
    #[error("malformed FEN ({0})")]
    Malformed(String),
    /// The position can be read, but no game reaches it.
    #[error("{0}")]
    Illegal(String),
}

/// Reason that a move text was not played. The position is unchanged.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MoveError {
    /// The text is not in the required notation. UCI is lower case: `E2E4` and `e7e8Q` are
    /// malformed.
    #[error("`{0}` is not a move")]
    Malformed(String),
    /// A well-formed move that the position does not allow (the null move `0000` among them).
    #[error("`{0}` is not legal here")]
    Illegal(String),
}

impl MoveError {
    fn malformed(text: &str) -> Self {
        Self::Malformed(printable(text))
    }

    fn illegal(text: &str) -> Self {
        Self::Illegal(printable(text))
    }
}

/// `text` made safe for a terminal or a file: control characters escaped, cut after 32 characters.
/// Engines can print anything, and a mebibyte of it must not end up in a journal line.
fn printable(text: &str) -> String {
    const LONGEST: usize = 32;
    let mut shown: String = text.chars().take(LONGEST).flat_map(char::escape_debug).collect();
    if text.chars().nth(LONGEST).is_some() {
        shown.push('…');
    }
    shown
}

/// True if a FEN names castling rights by rook files, as Shredder does (`HAha`).
pub(crate) fn has_rook_files(fen: &str) -> bool {
    let rights = fen.split_ascii_whitespace().nth(2).unwrap_or_default();
    rights.bytes().any(|byte| matches!(byte.to_ascii_lowercase(), b'a'..=b'h'))
}

/// A move that was played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayedMove {
    /// The move in the notation of the game's variant, as it goes to the engines.
    pub uci: String,
    /// True if castling came in the other variant's notation (`e1h1` in standard chess, `e1g1` in
    /// Chess960). The move was played and `uci` holds the proper form, but the user should be told.
    pub foreign_castling: bool,
    /// True for a capture or pawn move, after which the fifty-move count starts again.
    pub zeroing: bool,
}

/// A game in progress. Playing a move, `over` after it included, costs well under a microsecond.
#[derive(Clone, Debug)]
pub struct Position {
    chess: Chess,
    variant: Variant,
    /// True if the FEN of a Chess960 game used Shredder's rook files (`HAha`), in which FENs are
    /// then written.
    shredder: bool,
    /// Keys of the positions since the last capture or pawn move, the current one last. Older ones
    /// cannot occur again.
    keys: Vec<Zobrist64>,
}

impl Default for Position {
    fn default() -> Self {
        Self::from_chess(Chess::default(), Variant::Standard, false)
    }
}

impl Position {
    /// Reads a FEN of 4 to 6 fields; missing counters are 0 and 1. Castling rights as `KQkq`, X-FEN
    /// or Shredder-FEN.
    ///
    /// # Errors
    /// [`FenError`] if it cannot be read or is no legal position under `variant`. Castling rights
    /// without king and rook in place are one such fault: a Chess960 position read as standard
    /// chess.
    pub fn from_fen(fen: &str, variant: Variant) -> Result<Self, FenError> {
        // Engines for standard chess know `KQkq` alone.
        let shredder = variant == Variant::Chess960 && has_rook_files(fen);
        Ok(Self::from_chess(Self::read_fen(fen, variant)?, variant, shredder))
    }

    /// The end of the game at a FEN, if it is over there: [`Position::over`] without the cost of a
    /// game to be played.
    ///
    /// # Errors
    /// As [`Position::from_fen`].
    pub fn over_at(fen: &str, variant: Variant) -> Result<Option<Termination>, FenError> {
        Ok(Self::over_without_past(&Self::read_fen(fen, variant)?))
    }

    fn read_fen(fen: &str, variant: Variant) -> Result<Chess, FenError> {
        if fen.split_ascii_whitespace().nth(3).is_none() {
            return Err(FenError::Malformed("fewer than 4 fields".to_owned()));
        }
        let parsed = Fen::from_ascii(fen.as_bytes()).map_err(|error| FenError::Malformed(error.to_string()))?;
        let setup = parsed.into_setup();
        if setup.pockets.is_some() || setup.remaining_checks.is_some() {
            return Err(FenError::Malformed("pockets and check counters belong to other variants".to_owned()));
        }
        setup.position(variant.mode()).map_err(|error| {
            let hint = if error.kinds().contains(PositionErrorKinds::INVALID_CASTLING_RIGHTS)
                && variant == Variant::Standard
            {
                "; a Chess960 position needs `--chess960`"
            } else {
                ""
            };
            FenError::Illegal(format!("{error}{hint}"))
        })
    }

    /// A starting position of Chess960, or of double Chess960 if the two numbers differ:
    /// Scharnagl's numbers of White's and of Black's back rank, 0 to 959 (518 is the standard one).
    /// `None` for a larger number.
    #[must_use]
    pub fn chess960(white: u32, black: u32) -> Option<Self> {
        let back_rank = |number: u32| {
            let board = (number < 960).then(|| Board::chess960(number))?;
            board.board_fen().to_string().rsplit('/').next().map(str::to_owned)
        };
        let (white, black) = (back_rank(white)?, back_rank(black)?.to_lowercase());
        // Shredder's rook files, the king's side first.
        let rooks = |rank: &str| -> String {
            let files = rank.chars().zip('a'..='h').filter(|(piece, _)| piece.eq_ignore_ascii_case(&'r'));
            files.map(|(_, file)| file).collect::<Vec<_>>().iter().rev().collect()
        };
        let rights = rooks(&white).to_uppercase() + &rooks(&black);
        let fen = format!("{black}/pppppppp/8/8/8/8/PPPPPPPP/{white} w {rights} - 0 1");
        Self::from_fen(&fen, Variant::Chess960).ok()
    }

    fn from_chess(chess: Chess, variant: Variant, shredder: bool) -> Self {
        let mut keys = Vec::with_capacity(128);
        keys.push(chess.zobrist_hash(EnPassantMode::Legal));
        Self { chess, variant, shredder, keys }
    }

    /// The side to move.
    #[must_use]
    pub fn turn(&self) -> Color {
        match self.chess.turn() {
            shakmaty::Color::White => Color::White,
            shakmaty::Color::Black => Color::Black,
        }
    }

    /// The rules in force.
    #[must_use]
    pub const fn variant(&self) -> Variant {
        self.variant
    }

    /// Plies since the last capture or pawn move; the fifty-move rule ends the game at 100.
    #[must_use]
    pub fn halfmoves(&self) -> u32 {
        self.chess.halfmoves()
    }

    /// The number of the coming full move, from 1; it grows after Black's move.
    #[must_use]
    pub fn fullmoves(&self) -> u32 {
        self.chess.fullmoves().get()
    }

    /// Pieces and pawns of both sides, kings included: 2 to 32.
    #[must_use]
    pub fn men(&self) -> u32 {
        u32::try_from(self.chess.board().occupied().count()).unwrap_or(u32::MAX)
    }

    /// Returns true if either side may still castle, now or later.
    #[must_use]
    pub fn has_castling_rights(&self) -> bool {
        self.chess.castles().any()
    }

    /// The rules library's own board, for its endgame tables (`tablebase`) alone.
    pub(crate) const fn library(&self) -> &Chess {
        &self.chess
    }

    /// Returns true if the side to move is in check.
    #[must_use]
    pub fn in_check(&self) -> bool {
        self.chess.is_check()
    }

    /// The repetition key (Zobrist), equal for positions that the threefold rule takes as equal. An
    /// en-passant square counts only if the capture is legal.
    #[must_use]
    pub fn key(&self) -> u64 {
        self.keys.last().map_or(0, |key| key.0)
    }

    /// The key of the position in a Polyglot book: an en-passant square counts if a pawn stands
    /// beside it, pinned or not.
    #[must_use]
    pub fn polyglot_key(&self) -> u64 {
        self.chess.zobrist_hash::<Zobrist64>(EnPassantMode::PseudoLegal).0
    }

    /// Number of occurrences of the current position since the FEN, this one included.
    #[must_use]
    pub fn repetitions(&self) -> usize {
        let Some(current) = self.keys.last() else { return 0 };
        // The side to move is part of the position: only every second key can be equal.
        self.keys.iter().rev().step_by(2).filter(|key| *key == current).count()
    }

    /// The end of the game by the rules, if it is over. Mate comes first: a mate on the hundredth
    /// ply wins.
    #[must_use]
    pub fn over(&self) -> Option<(Outcome, Termination)> {
        match Self::over_without_past(&self.chess) {
            Some(Termination::Checkmate) => Some((Outcome::win(self.turn().other()), Termination::Checkmate)),
            // Repetition is named before the fifty moves.
            None | Some(Termination::FiftyMoves) if self.repetitions() >= 3 => {
                Some((Outcome::Draw, Termination::ThreefoldRepetition))
            }
            over => over.map(|termination| (Outcome::Draw, termination)),
        }
    }

    fn over_without_past(chess: &Chess) -> Option<Termination> {
        if Self::free_pawns(chess).is_empty() && chess.legal_moves().is_empty() {
            Some(if chess.is_check() { Termination::Checkmate } else { Termination::Stalemate })
        } else if chess.is_insufficient_material() {
            Some(Termination::InsufficientMaterial)
        } else {
            (chess.halfmoves() >= 100).then_some(Termination::FiftyMoves)
        }
    }

    /// Pawns of a mover who is not in check that can be pushed and stand on no line with the king,
    /// so that they are not pinned. Nearly every position has one, found without making all moves.
    fn free_pawns(chess: &Chess) -> Bitboard {
        let king = chess.board().king_of(chess.turn()).filter(|_| !chess.is_check());
        let Some(king) = king else { return Bitboard::EMPTY };
        let forward = chess.turn().fold_wb(8, -8);
        let pushed = chess.our(Role::Pawn).shift(forward) & !chess.board().occupied();
        pushed.shift(-forward) & !queen_attacks(king, Bitboard::EMPTY)
    }

    /// Every legal move in UCI notation, in no stated order.
    #[must_use]
    pub fn legal_moves(&self) -> Vec<String> {
        self.chess.legal_moves().iter().map(|m| self.uci(*m)).collect()
    }

    /// Plays a move given in UCI notation.
    ///
    /// # Errors
    /// [`MoveError`]; the position is unchanged.
    pub fn play(&mut self, text: &str) -> Result<PlayedMove, MoveError> {
        let m = self.find_uci(text)?;
        Ok(self.play_found(m, text))
    }

    /// Returns true if both texts are legal here and mean the same move (castling has two
    /// notations).
    #[must_use]
    pub fn same_move(&self, one: &str, other: &str) -> bool {
        self.find_uci(one).is_ok_and(|one| self.find_uci(other) == Ok(one))
    }

    /// Plays a move without describing it: [`play`](Self::play) for many moves in a row.
    ///
    /// # Errors
    /// [`MoveError`]; the position is unchanged.
    pub fn advance_by(&mut self, text: &str) -> Result<(), MoveError> {
        let m = self.find_uci(text)?;
        self.advance(m);
        Ok(())
    }

    /// Plays a move given in standard algebraic notation; check marks and `!?` are ignored, `0-0`
    /// is read as `O-O`.
    ///
    /// # Errors
    /// [`MoveError`]; an ambiguous move is illegal. The position is unchanged.
    pub fn play_san(&mut self, text: &str) -> Result<PlayedMove, MoveError> {
        let bare = text.trim_end_matches(['!', '?']);
        let zeros = bare.starts_with("0-0").then(|| bare.replace('0', "O"));
        let letters = zeros.as_deref().unwrap_or(bare).as_bytes();
        let san = SanPlus::from_ascii(letters).map_err(|_| MoveError::malformed(text))?.san;
        let m = san.to_move(&self.chess).map_err(|_| MoveError::illegal(text))?;
        let uci = self.uci(m);
        Ok(self.play_found(m, &uci))
    }

    /// Plays a move given in UCI notation and returns its standard algebraic notation, check mark
    /// included.
    ///
    /// # Errors
    /// [`MoveError`]; the position is unchanged.
    pub fn play_to_san(&mut self, text: &str) -> Result<String, MoveError> {
        let m = self.find_uci(text)?;
        let san = shakmaty::san::San::from_move(&self.chess, m);
        self.advance(m);
        Ok(SanPlus { san, suffix: self.check_mark() }.to_string())
    }

    /// Plays a move given in UCI notation and returns its long algebraic notation (`Ng1f3`,
    /// `e4xd5`, `e7e8=Q+`, `O-O`), check mark included.
    ///
    /// # Errors
    /// [`MoveError`]; the position is unchanged.
    pub fn play_to_lan(&mut self, text: &str) -> Result<String, MoveError> {
        let m = self.find_uci(text)?;
        let mut lan = match m {
            Move::Castle { .. } => shakmaty::san::San::from_move(&self.chess, m).to_string(),
            _ => {
                let piece = if m.role() == Role::Pawn { String::new() } else { m.role().upper_char().to_string() };
                let from = m.from().map_or_else(String::new, |square| square.to_string());
                let takes = if m.is_capture() { "x" } else { "" };
                let promotes = m.promotion().map_or_else(String::new, |role| format!("={}", role.upper_char()));
                format!("{piece}{from}{takes}{}{promotes}", m.to())
            }
        };
        self.advance(m);
        if let Some(suffix) = self.check_mark() {
            lan.push_str(&suffix.to_string());
        }
        Ok(lan)
    }

    /// A legal move in standard algebraic notation, without playing it.
    ///
    /// # Errors
    /// [`MoveError`].
    pub fn san(&self, text: &str) -> Result<String, MoveError> {
        let m = self.find_uci(text)?;
        Ok(SanPlus::from_move(self.chess.clone(), m).to_string())
    }

    /// Mark of the move that led here: check, mate or none. All moves are generated only in check.
    fn check_mark(&self) -> Option<Suffix> {
        let is_mate = || self.chess.legal_moves().is_empty();
        self.chess.is_check().then(|| if is_mate() { Suffix::Checkmate } else { Suffix::Check })
    }

    /// The position as a six-field FEN. Castling rights are written as `KQkq`, or as rook files if
    /// the FEN of a Chess960 game used Shredder's form. An en-passant square is written only if the
    /// capture is legal.
    #[must_use]
    pub fn fen(&self) -> String {
        let fen = Fen::from_position(&self.chess, EnPassantMode::Legal).to_string();
        if !self.shredder {
            return fen;
        }
        let rights = self.rook_files();
        let fields = fen.split(' ').enumerate().map(|(i, field)| if i == 2 { rights.as_str() } else { field });
        fields.collect::<Vec<_>>().join(" ")
    }

    fn rook_files(&self) -> String {
        let mut rights = String::with_capacity(4);
        for color in [shakmaty::Color::White, shakmaty::Color::Black] {
            for side in [CastlingSide::KingSide, CastlingSide::QueenSide] {
                if let Some(rook) = self.chess.castles().rook(color, side) {
                    rights.push(color.fold_wb(rook.file().upper_char(), rook.file().char()));
                }
            }
        }
        if rights.is_empty() {
            rights.push('-');
        }
        rights
    }

    fn uci(&self, m: Move) -> String {
        m.to_uci(self.variant.mode()).to_string()
    }

    fn find_uci(&self, text: &str) -> Result<Move, MoveError> {
        let shape = match *text.as_bytes() {
            [from_file, from_rank, to_file, to_rank, ref promotion @ ..] => {
                let square = |file: u8, rank: u8| (b'a'..=b'h').contains(&file) && (b'1'..=b'8').contains(&rank);
                square(from_file, from_rank)
                    && square(to_file, to_rank)
                    && matches!(promotion, [] | [b'n' | b'b' | b'r' | b'q'])
            }
            _ => false,
        };
        if !shape && text != "0000" {
            return Err(MoveError::malformed(text));
        }
        let parsed = UciMove::from_ascii(text.as_bytes()).map_err(|_| MoveError::malformed(text))?;
        parsed.to_move(&self.chess).map_err(|_| MoveError::illegal(text))
    }

    fn play_found(&mut self, m: Move, text: &str) -> PlayedMove {
        let uci = self.uci(m);
        let foreign_castling = uci != text;
        self.advance(m);
        PlayedMove { uci, foreign_castling, zeroing: m.is_zeroing() }
    }

    fn advance(&mut self, m: Move) {
        let current = self.keys.last().copied().unwrap_or_default();
        let next = self.chess.update_zobrist_hash(current, m, EnPassantMode::Legal);
        self.chess.play_unchecked(m);
        if m.is_zeroing() {
            self.keys.clear();
        }
        self.keys.push(next.unwrap_or_else(|| self.chess.zobrist_hash(EnPassantMode::Legal)));
    }
}

#[cfg(test)]
mod tests;
