//! Games of a Quintain journal with the scores that the engines reported.

use super::error::DataError;
use super::lines::ByteStream;
use super::record::Entry;
use destrier::board::Board;
use destrier::datagen::viriformat::{GameResult, NO_SCORE, ScoredGame, ScoredMove};
use destrier::types::{Color, MATE};
use quintain::journal;
use quintain::record::{GameId, GameRecord, Leg, Outcome, PairId, Score, SearchInfo, Termination};
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread;

/// Capacity of the channel of games read ahead.
const AHEAD: usize = 64;

/// Returns the games of a journal that ended on the board or by adjudication, in the order in which
/// their pairs were completed. Incomplete pairs come last. All other games are counted as passed
/// over, void ones only if they were not played again.
pub fn games(
    path: PathBuf,
    input: ByteStream,
    passed: Arc<AtomicU64>,
) -> impl Iterator<Item = Result<Entry, DataError>> {
    let (sender, receiver) = sync_channel(AHEAD);
    thread::spawn(move || {
        let mut each = |_: GameId, game: Option<ReadGame>| match game {
            // The receiver may be gone already.
            Some(game) => _ = sender.send(game.map(Entry::Game)),
            None => _ = passed.fetch_add(1, Ordering::Relaxed),
        };
        let mut pairs = OpenPairs::default();
        match journal::read_from(input, &path, |record| pairs.record(&path, &record, &mut each)) {
            Ok(_) => pairs.finish(&mut each),
            Err(error) => _ = sender.send(Err(DataError::Journal { error })),
        }
    });
    receiver.into_iter()
}

/// Games of a complete run.
pub struct JournalGames {
    /// Games in the order of the schedule, whatever order they ended in.
    pub games: Vec<ScoredGame>,
    /// Games without a result on the board or by adjudication. Void games that were played again
    /// are not among them.
    pub passed_over: u64,
}

/// Reads the games of a journal in the order of the schedule.
///
/// # Errors
/// Fails if the journal cannot be read, or has a game that cannot be played.
pub fn journal_games(path: &Path) -> Result<JournalGames, DataError> {
    let (mut found, mut passed_over) = (BTreeMap::new(), 0);
    let mut each = |id: GameId, game: Option<ReadGame>| match game {
        Some(game) => _ = found.insert(id, game),
        None => passed_over += 1,
    };
    let mut pairs = OpenPairs::default();
    let ended = journal::read(path, |record| pairs.record(path, &record, &mut each));
    ended.map_err(|error| DataError::Journal { error })?;
    pairs.finish(&mut each);
    Ok(JournalGames { games: found.into_values().collect::<Result<_, _>>()?, passed_over })
}

/// Game of a record, or the reason that nothing can be learnt from it.
type ReadGame = Result<ScoredGame, DataError>;

/// Newest record of a game.
struct LatestRecord {
    is_void: bool,
    /// `None` for a void, forfeited, failed or empty game.
    game: Option<ReadGame>,
}

/// Most pairs held back. Beyond that, the missing game of the first one is no longer waited for.
const MOST_OPEN: usize = 4096;

/// Pairs of a journal whose games may still become void. After a void game both games of its pair
/// are played again, so a game waits for the other one.
#[derive(Default)]
struct OpenPairs {
    /// Records read.
    number: u64,
    open: BTreeMap<PairId, [Option<LatestRecord>; 2]>,
    /// Complete pairs, of which no later record counts.
    complete: HashSet<PairId>,
}

impl OpenPairs {
    /// Records a game in the order of the journal. If that completes its pair, both games go to
    /// `each`.
    fn record(&mut self, path: &Path, record: &GameRecord, each: &mut impl FnMut(GameId, Option<ReadGame>)) {
        let number = self.number;
        self.number += 1;
        let GameId { pair, leg } = record.id;
        if self.complete.contains(&pair) {
            return;
        }
        let legs = self.open.entry(pair).or_default();
        if record.is_void {
            legs.iter_mut().flatten().for_each(|other| *other = LatestRecord { is_void: true, game: None });
        }
        legs[leg.index()] = Some(LatestRecord { is_void: record.is_void, game: read(path, number, record) });
        let is_complete = legs.iter().all(|leg| leg.as_ref().is_some_and(|latest| !latest.is_void));
        let next = if is_complete {
            self.complete.insert(pair);
            self.open.remove_entry(&pair)
        } else if self.open.len() > MOST_OPEN {
            self.open.pop_first()
        } else {
            None
        };
        if let Some((pair, legs)) = next {
            pass_on(pair, legs, each);
        }
    }

    /// Passes on the games of incomplete pairs, in the order of the schedule.
    fn finish(self, each: &mut impl FnMut(GameId, Option<ReadGame>)) {
        for (pair, legs) in self.open {
            pass_on(pair, legs, each);
        }
    }
}

fn pass_on(pair: PairId, legs: [Option<LatestRecord>; 2], each: &mut impl FnMut(GameId, Option<ReadGame>)) {
    for (leg, latest) in Leg::BOTH.into_iter().zip(legs) {
        if let Some(latest) = latest {
            each(GameId { pair, leg }, latest.game);
        }
    }
}

/// Converts a record to a scored game; `None` for a void, forfeited, failed or empty game.
fn read(path: &Path, number: u64, record: &GameRecord) -> Option<ReadGame> {
    let is_forfeit = record.ending.termination.is_failure() || record.ending.termination == Termination::TimeForfeit;
    if record.is_void || is_forfeit || record.moves.is_empty() {
        return None;
    }
    // A move that was played took some time.
    if record.moves.iter().all(|played| played.elapsed.is_zero() && played.info == SearchInfo::default()) {
        return Some(Err(DataError::MovesOnly { path: path.to_owned() }));
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

#[cfg(test)]
mod tests {
    use super::*;
    use quintain::journal::{Header, Journal};
    use quintain::record::{ByColor, Ending, EngineId, MoveRecord, Opening, PlayerId};
    use std::time::Duration;

    fn record(number: u64, termination: Termination, is_void: bool) -> GameRecord {
        let played = MoveRecord { uci: "e2e4".to_owned(), elapsed: Duration::from_millis(5), ..MoveRecord::default() };
        GameRecord {
            id: GameId::from_number(number).unwrap(),
            players: ByColor { white: PlayerId(0), black: PlayerId(1) },
            engines: ByColor { white: EngineId::default(), black: EngineId::default() },
            opening: Opening {
                index: 0,
                fen: "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1".to_owned(),
                moves: Vec::new(),
            },
            moves: vec![played],
            ending: Ending { outcome: Outcome::Draw, termination, detail: String::new() },
            started: Duration::from_secs(1),
            took: Duration::from_secs(1),
            overstep: None,
            is_void,
            values: None,
            worker: None,
            scale: None,
        }
    }

    #[test]
    fn void_games_that_were_played_again_are_not_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(journal::FILE_NAME);
        let header = Header { plan_sha256: "0".repeat(64), program: "test".to_owned() };
        let mut journal = Journal::create(&path, &header).unwrap();
        let good = Termination::DrawAdjudication;
        for (number, termination, is_void) in [
            (3, good, false),
            // A failure counts, if its pair is not played again.
            (1, Termination::Crash, false),
            (2, good, true),
            (1, good, false),
            (2, good, true),
            (4, Termination::Crash, false),
            (1, good, false),
            (2, good, false),
        ] {
            journal.append(&record(number, termination, is_void)).unwrap();
        }
        drop(journal);
        let found = journal_games(&path).unwrap();
        assert_eq!((found.games.len(), found.passed_over), (3, 1));
    }
}
