//! Continuation of one entry of a file by the next. Files of single positions do not separate
//! games, and `.plain` and binpack separate them only by their moves, so filtered or shuffled games
//! fall into pieces. Converted to a format that separates games, each piece is one.

use super::error::{DataError, Place, WHICH_GAME};
use super::format::Format;
use super::record::{Entry, ply};
use destrier::board::{Board, CastlingSide};
use destrier::datagen::viriformat::{GameResult, ScoredGame};
use destrier::types::{Color, PieceType};
use std::path::{Path, PathBuf};

/// Most plies of a game that may be a piece of one in a format that separates games: a single
/// position, or the plies between two that a filter left out. Whole games are longer.
const MAX_PIECE: usize = 8;

/// Number of games after which a file of a format that separates games is judged, and the share of
/// pieces by which it holds torn games: two for each game at least. A short game of another opening
/// may seem to go on from the one before, but seldom does.
const TORN: (u64, f64) = (32, 0.3);

/// End of the entry before, which the next may continue.
#[derive(Debug, Default)]
pub struct PreviousEntry(Option<EntryEnd>);

/// Last known position of an entry.
#[derive(Debug)]
struct EntryEnd {
    board: Board,
    result: GameResult,
    /// Least plies from the board to a later position: 0 after a move, 1 if no move is known.
    least: u32,
}

impl PreviousEntry {
    /// Records the next entry of a file. Returns true if it may continue the one before, because
    /// their results are the same and moves may lead from one to the other.
    pub fn record(&mut self, entry: &Entry) -> bool {
        let (start, result) = match entry {
            Entry::Position(position) => (&position.board, position.result),
            Entry::Game(game) => (&game.start, game.result),
        };
        let mut end = EntryEnd { board: *start, result, least: 1 };
        if let Entry::Game(game) = entry {
            game.plies.iter().for_each(|played| end.board.play(played.mv));
            end.least = u32::from(game.plies.is_empty());
        }
        self.0.replace(end).is_some_and(|before| {
            before.result == result
                && ply(start) >= ply(&before.board) + before.least
                && may_follow(&before.board, start)
        })
    }
}

/// Check of files for games that are not whole.
#[derive(Debug, Default)]
pub struct WholeGames {
    path: PathBuf,
    /// Games of the current file so far.
    games: u64,
    previous: PreviousEntry,
    /// Those of them that may continue the one before.
    pieces: u64,
}

impl WholeGames {
    /// Checks the next game of a file. `remedy` ends the message: the harm of games that are not
    /// whole, and a way around it.
    ///
    /// # Errors
    /// Fails if the game may continue the previous one of its file.
    pub fn check(&mut self, path: &Path, format: Format, entry: &Entry, remedy: &str) -> Result<(), DataError> {
        if self.path != path {
            *self = WholeGames { path: path.to_owned(), ..WholeGames::default() };
        }
        let may_go_on = self.previous.record(entry);
        let is_piece = may_go_on && matches!(entry, Entry::Game(game) if may_be_piece(game, format));
        self.pieces += u64::from(is_piece);
        let separates_by_moves = matches!(format, Format::Plain | Format::Binpack);
        let is_torn = separates_by_moves || (self.games >= TORN.0 && self.pieces as f64 >= TORN.1 * self.games as f64);
        if is_piece && is_torn {
            let why = format!("may be the rest of the game before it, with plies left out: {remedy}");
            return Err(DataError::bad(path, Place::Game(self.games), why));
        }
        self.games += 1;
        Ok(())
    }
}

/// Checks that an entry is a game, and not a single position in the place of one.
///
/// # Errors
/// Fails for an entry without moves.
pub fn check_has_moves(path: &Path, format: Format, entry: &Entry, remedy: &'static str) -> Result<(), DataError> {
    match entry {
        Entry::Game(game) if !game.plies.is_empty() => Ok(()),
        _ => Err(format.lacks(path, WHICH_GAME, remedy)),
    }
}

/// Returns true if a game of a file may be a piece of one.
pub fn may_be_piece(game: &ScoredGame, format: Format) -> bool {
    match format {
        // They separate games only by their moves.
        Format::Plain | Format::Binpack => true,
        Format::Viriformat | Format::SelfPlay => game.plies.len() <= MAX_PIECE,
        _ => false,
    }
}

/// Returns false only if no moves can lead from `before` to `after`, judged by ply, clock, pieces
/// and castling rights.
fn may_follow(before: &Board, after: &Board) -> bool {
    let Some(plies) = ply(after).checked_sub(ply(before)) else { return false };
    let lost = before.occupied().count().checked_sub(after.occupied().count());
    lost.is_some_and(|lost| lost <= plies)
        && u32::from(after.halfmove_clock()) <= u32::from(before.halfmove_clock()) + plies
        && Color::ALL.into_iter().all(|color| {
            let pawns = |board: &Board| board.pieces(color, PieceType::Pawn).count();
            let kept = |side| {
                let rook = after.castling_rook(color, side);
                rook.is_none() || rook == before.castling_rook(color, side)
            };
            after.colored(color).count() <= before.colored(color).count()
                && pawns(after) <= pawns(before)
                && CastlingSide::ALL.into_iter().all(kept)
        })
}
