//! Games of a Quintain journal with the scores that the engines reported.

use super::error::DataError;
use super::lines::ByteStream;
use super::record::Entry;
use destrier::board::Board;
use destrier::datagen::viriformat::{GameResult, NO_SCORE, ScoredGame, ScoredMove};
use destrier::types::{Color, MATE};
use quintain::journal;
use quintain::record::{GameRecord, Outcome, Score, Termination};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread;

/// Capacity of the channel of games read ahead.
const AHEAD: usize = 64;

/// Returns the games of a journal that ended on the board or by adjudication. All others are
/// counted as passed over.
pub fn games(
    path: PathBuf,
    input: ByteStream,
    passed: Arc<AtomicU64>,
) -> impl Iterator<Item = Result<Entry, DataError>> {
    let (sender, receiver) = sync_channel(AHEAD);
    thread::spawn(move || {
        let mut number = 0;
        let found = journal::read_from(input, &path, |record| {
            match read(&path, number, &record) {
                Some(game) => {
                    // The receiver may be gone already.
                    let _ = sender.send(game.map(Entry::Game));
                }
                None => {
                    passed.fetch_add(1, Ordering::Relaxed);
                }
            }
            number += 1;
        });
        if let Err(error) = found {
            let _ = sender.send(Err(DataError::Journal { error }));
        }
    });
    receiver.into_iter()
}

/// Games of a complete run.
pub struct JournalGames {
    /// Games in the order of the schedule, whatever order they ended in.
    pub games: Vec<ScoredGame>,
    /// Games without a result on the board or by adjudication.
    pub passed_over: u64,
}

/// Reads the games of a journal in the order of the schedule.
///
/// # Errors
/// Fails if the journal cannot be read, or has a game that cannot be played.
pub fn journal_games(path: &Path) -> Result<JournalGames, DataError> {
    let (mut found, mut passed_over, mut number) = (BTreeMap::new(), 0, 0);
    journal::read(path, |record| {
        match read(path, number, &record) {
            Some(game) => _ = found.insert(record.id, game),
            None => passed_over += 1,
        }
        number += 1;
    })
    .map_err(|error| DataError::Journal { error })?;
    Ok(JournalGames { games: found.into_values().collect::<Result<_, _>>()?, passed_over })
}

/// Converts a record to a scored game; `None` for a void, forfeited, failed or empty game.
fn read(path: &Path, number: u64, record: &GameRecord) -> Option<Result<ScoredGame, DataError>> {
    let is_forfeit = record.ending.termination.is_failure() || record.ending.termination == Termination::TimeForfeit;
    if record.is_void || is_forfeit || record.moves.is_empty() {
        return None;
    }
    let result = match record.ending.outcome {
        Outcome::WhiteWins => GameResult::WhiteWins,
        Outcome::Draw => GameResult::Draw,
        Outcome::BlackWins => GameResult::BlackWins,
    };
    let bad = |why: String| DataError::bad_game(path, number, why);
    let play = || {
        let mut board = Board::from_fen(&record.opening.fen).map_err(|error| bad(error.to_string()))?;
        let step = |board: &mut Board, word: &str| {
            let mv = board.parse_uci(word).ok_or_else(|| bad(format!("move `{word}` is not legal")))?;
            board.play(mv);
            Ok(mv)
        };
        for word in &record.opening.moves {
            step(&mut board, word)?;
        }
        let start = board;
        let mut plies = Vec::new();
        for played in &record.moves {
            let turn = board.turn();
            let score = played.info.score.map_or(NO_SCORE, |score| white_score(score, turn));
            plies.push(ScoredMove { mv: step(&mut board, &played.uci)?, score });
        }
        Ok(ScoredGame { start, start_score: 0, result, plies })
    };
    Some(play())
}

/// Converts the mover's score to White's in centipawns. A mate in `n` moves is `2n` below [`MATE`].
pub fn white_score(score: Score, turn: Color) -> i16 {
    let mover = match score {
        Score::Cp(cp) => cp.clamp(-MATE, MATE),
        Score::Mate(moves) if moves > 0 => MATE - moves.saturating_mul(2).min(1000),
        Score::Mate(moves) => -MATE - moves.saturating_mul(2).max(-1000),
    };
    (if turn == Color::White { mover } else { -mover }) as i16
}
