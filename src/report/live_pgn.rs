//! PGN of the games in play, for broadcasts: one file that always holds the moves so far, replaced
//! as a whole about once a second.
//!
//! Readers see the old file or the new one, never half of it.
//!
//! It is an observer, so no game waits for it. Another thread makes the text and writes the file,
//! so the dispatcher only hands it the games. While a file is being written, one more waits at
//! most.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};

use crate::files::write_atomically;
use crate::plan::Plan;
use crate::record::{ByColor, GameId, GameRecord, Opening, Outcome, PlayerId, TimeScale};
use crate::report::pgn::{self, LiveGame};
use crate::report::pgn_file::meta_of;
use crate::report::reasons::named_reason;
use crate::tournament::events::{MoveUpdate, Observer, Ply, RunEvent};

/// Maximum number of games of the file, as broadcasters take them in one round. Games in play come
/// first, then those that ended last.
const MOST_GAMES: usize = 64;

/// Observer that keeps the file. That of a resumed run stays as it is until a game begins.
pub struct LivePgn {
    plan: Arc<Plan>,
    games: LiveGames,
    writer: Option<PgnWriter>,
}

/// Games in play, and the last ones that are over.
#[derive(Debug, Default)]
struct LiveGames {
    /// Games by the user's number. The writer shares them; a game that it still holds is copied
    /// before it changes.
    games: BTreeMap<u64, Arc<KnownGame>>,
    /// Numbers of games that are over, the oldest first.
    over: VecDeque<u64>,
    /// True if the file does not have the latest moves.
    is_stale: bool,
}

/// Games of the file, in its order.
type LivePgnGames = Vec<Arc<KnownGame>>;

#[derive(Clone, Debug)]
struct KnownGame {
    id: GameId,
    players: ByColor<PlayerId>,
    started: Duration,
    /// `None` until the worker reports it.
    opening: Option<Opening>,
    plies: Vec<Ply>,
    over: Option<(Outcome, String)>,
    scale: Option<TimeScale>,
}

impl LivePgn {
    /// Creates the observer of a new run, whose games `file` is to hold.
    #[must_use]
    pub fn new(file: &Path, plan: Arc<Plan>) -> Self {
        let mut live = Self::resumed(file, plan);
        // A file of another run gives way at once.
        live.games.is_stale = true;
        live
    }

    /// Creates the observer of a run that was played in part. Its games so far are
    /// [recorded](Self::record).
    #[must_use]
    pub fn resumed(file: &Path, plan: Arc<Plan>) -> Self {
        let writer = PgnWriter::start(file.to_owned(), Arc::clone(&plan));
        let writer = writer.map_err(|error| tracing::warn!("{}: no live PGN: {error}", file.display())).ok();
        Self { plan, games: LiveGames::default(), writer }
    }

    /// Records a game of an earlier session.
    pub fn record(&mut self, game: &GameRecord) {
        self.games.record(game, &self.plan);
    }

    /// Hands the present state to the writer, unless that has one waiting or knows it.
    fn write(&mut self) {
        if let Some(writer) = self.writer.as_ref().filter(|_| self.games.is_stale) {
            self.games.is_stale = !writer.take(self.games.snapshot());
        }
    }
}

impl Observer for LivePgn {
    fn observe(&mut self, event: RunEvent<'_>) {
        match event {
            RunEvent::GameBegan { game, players } => self.games.begin(game, players),
            RunEvent::GameMoved { game, moved } => self.games.extend(game, moved),
            RunEvent::GameEnded { record, .. } => self.games.end(record, &self.plan),
            RunEvent::Opened { .. } | RunEvent::Tick { .. } => self.write(),
            RunEvent::Closed { .. } => {
                if let Some(writer) = self.writer.take() {
                    writer.finish(self.games.is_stale.then(|| self.games.snapshot()));
                }
            }
            _ => {}
        }
    }
}

impl LiveGames {
    /// Records a game of an earlier session, which the file may have.
    fn record(&mut self, record: &GameRecord, plan: &Plan) {
        self.begin(record.id, record.players);
        self.end(record, plan);
        self.is_stale = false;
    }

    fn begin(&mut self, id: GameId, players: ByColor<PlayerId>) {
        let started = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let (opening, plies) = (None, Vec::new());
        // A void game is played again under its number.
        self.over.retain(|number| *number != id.number());
        let game = KnownGame { id, players, started, opening, plies, over: None, scale: None };
        self.games.insert(id.number(), Arc::new(game));
        self.is_stale = true;
        self.shrink();
    }

    fn extend(&mut self, id: GameId, moved: &MoveUpdate) {
        let Some(game) = self.games.get_mut(&id.number()).filter(|game| game.over.is_none()) else { return };
        let game = Arc::make_mut(game);
        if let Some(opening) = &moved.opening {
            game.opening = Some(opening.clone());
        }
        // Moves before these were lost on their way, and will come with the record.
        if moved.from > game.plies.len() {
            return;
        }
        game.plies.truncate(moved.from);
        game.plies.extend(moved.plies.iter().cloned());
        self.is_stale = true;
        if let Some((outcome, termination)) = moved.over {
            self.finish(id.number(), (outcome, termination.name().to_owned()));
        }
    }

    fn end(&mut self, record: &GameRecord, plan: &Plan) {
        let number = record.id.number();
        let Some(game) = self.games.get_mut(&number) else { return };
        if record.is_void {
            self.games.remove(&number);
            self.over.retain(|over| *over != number);
            self.is_stale = true;
            return;
        }
        let game = Arc::make_mut(game);
        let reason = meta_of(plan, record.players, record.scale).map(|meta| named_reason(record, &meta.names));
        game.opening = Some(record.opening.clone());
        game.plies = record.moves.iter().map(Ply::from).collect();
        (game.started, game.scale) = (record.started, record.scale);
        self.is_stale = true;
        self.finish(number, (record.ending.outcome, reason.unwrap_or_default()));
    }

    /// Gives a game its result, which its last move and its record both have.
    fn finish(&mut self, number: u64, over: (Outcome, String)) {
        let Some(game) = self.games.get_mut(&number) else { return };
        if Arc::make_mut(game).over.replace(over).is_none() {
            self.over.push_back(number);
        }
        self.shrink();
    }

    /// Drops the games that ended first, if there are too many.
    fn shrink(&mut self) {
        while self.games.len() > MOST_GAMES
            && let Some(oldest) = self.over.pop_front()
        {
            self.games.remove(&oldest);
        }
    }

    fn snapshot(&self) -> LivePgnGames {
        self.games.values().cloned().collect()
    }
}

impl KnownGame {
    /// The game as PGN; `None` if nothing is known of it.
    fn text(&self, plan: &Plan) -> Option<String> {
        let meta = meta_of(plan, self.players, self.scale)?;
        let (opening, over) = (self.opening.as_ref()?, self.over.clone());
        let live = LiveGame { id: self.id, opening, plies: &self.plies, started: self.started, over };
        // A worker may send moves that are none; the record of the game will have its own.
        pgn::live(&live, &meta).ok()
    }
}

fn text(games: &LivePgnGames, plan: &Plan) -> String {
    games.iter().filter_map(|game| game.text(plan)).collect()
}

/// Thread that makes the text and writes the file.
struct PgnWriter {
    snapshots: SyncSender<LivePgnGames>,
    thread: JoinHandle<()>,
}

impl PgnWriter {
    fn start(file: PathBuf, plan: Arc<Plan>) -> std::io::Result<Self> {
        let (snapshots, received) = sync_channel::<LivePgnGames>(1);
        let write = move || {
            let mut is_told = false;
            for games in received {
                let written = write_atomically(&file, text(&games, &plan).as_bytes());
                if let Err(error) = written
                    && !std::mem::replace(&mut is_told, true)
                {
                    tracing::warn!("{}: cannot write the live PGN: {error}; the run continues", file.display());
                }
            }
        };
        let thread = std::thread::Builder::new().name("live-pgn".to_owned()).spawn(write)?;
        Ok(Self { snapshots, thread })
    }

    /// Returns false if the last games are still to be written.
    fn take(&self, games: LivePgnGames) -> bool {
        self.snapshots.try_send(games).is_ok()
    }

    /// Writes the last games, if they are not with the thread already, and waits for it.
    fn finish(self, games: Option<LivePgnGames>) {
        let Self { snapshots, thread } = self;
        if let Some(games) = games {
            // An error means that the thread is gone, which has said why.
            let _ = snapshots.send(games);
        }
        drop(snapshots);
        let _ = thread.join();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::START_FEN;
    use crate::journal;
    use crate::plan::file;
    use crate::record::{Score, Termination};
    use crate::tournament::events::StopReason;
    use crate::tournament::scoreboard::Scoreboard;

    const PLAYERS: ByColor<PlayerId> = ByColor { white: PlayerId(0), black: PlayerId(1) };

    fn plan() -> Plan {
        file::from_toml(include_str!("../../tests/it/fixtures/v1/plan.toml")).unwrap()
    }

    fn id(number: u64) -> GameId {
        GameId::from_number(number).unwrap()
    }

    fn ply(uci: &str, centipawns: i32) -> Ply {
        Ply {
            uci: uci.to_owned(),
            elapsed: Some(Duration::from_millis(51)),
            left: Some(Duration::from_millis(3_725_900)),
            score: Some(Score::Cp(centipawns)),
            depth: Some(9),
        }
    }

    fn moves(from: usize, plies: Vec<Ply>) -> MoveUpdate {
        let opening = Opening { index: 0, fen: START_FEN.to_owned(), moves: vec!["e2e4".to_owned()] };
        MoveUpdate { opening: (from == 0).then_some(opening), from, plies, over: None }
    }

    #[test]
    fn a_game_in_play_has_its_moves_and_no_result() {
        let mut games = LiveGames::default();
        games.begin(id(3), PLAYERS);
        // Nothing is known of it.
        assert_eq!(text(&games.snapshot(), &plan()), "");
        games.extend(id(3), &moves(0, vec![ply("e7e5", 12)]));
        games.extend(id(3), &moves(1, vec![ply("g1f3", -7)]));
        // A gap is not filled with moves that do not fit.
        games.extend(id(3), &moves(5, vec![ply("a1a8", 0)]));
        let shown = text(&games.snapshot(), &plan());
        assert!(shown.contains("[Round \"2.1\"]\n") && shown.contains("[Result \"*\"]\n"), "{shown}");
        let played =
            "1. e4 {book} 1... e5 {+0.12/9 0.051s [%clk 1:02:05]} 2. Nf3 {-0.07/9 0.051s [%clk 1:02:05]} *\n\n";
        assert_eq!(shown.split("\n\n").nth(1).unwrap().replace('\n', " ") + "\n\n", played);
        assert!(shown.ends_with("*\n\n"), "{shown:?}");
        // The game begins anew.
        games.begin(id(3), PLAYERS);
        assert_eq!(text(&games.snapshot(), &plan()), "");
    }

    /// The record of a worker's game comes with its pair.
    #[test]
    fn a_game_that_is_over_has_its_result_before_its_record() {
        let mut games = LiveGames::default();
        let record = GameRecord { id: id(3), ..stored().remove(0) };
        games.begin(id(3), PLAYERS);
        let over = Some((Outcome::WhiteWins, Termination::TimeForfeit));
        games.extend(id(3), &MoveUpdate { over, ..moves(0, vec![ply("e7e5", 12)]) });
        // Late moves change nothing.
        games.extend(id(3), &moves(1, vec![ply("g1f3", -7)]));
        let shown = text(&games.snapshot(), &plan());
        assert!(shown.contains("[Result \"1-0\"]\n") && shown.ends_with("time-forfeit} 1-0\n\n"), "{shown}");
        games.end(&record, &plan());
        assert_eq!(games.over, [3], "it ended once");
        games.end(&GameRecord { is_void: true, ..record }, &plan());
        assert_eq!((games.games.len(), games.over.len()), (0, 0));
    }

    #[test]
    fn games_that_ended_first_make_room() {
        let mut games = LiveGames::default();
        for number in 1..=200 {
            games.begin(id(number), PLAYERS);
            games.extend(id(number), &moves(0, vec![ply("e7e5", 1)]));
            if number > 3 {
                let game = Arc::make_mut(games.games.get_mut(&number).unwrap());
                game.over = Some((Outcome::Draw, "x".to_owned()));
                games.over.push_back(number);
            }
        }
        let known: Vec<u64> = games.games.keys().copied().collect();
        assert_eq!((known.len(), &known[..4]), (MOST_GAMES, &[1, 2, 3, 140][..]));
        assert_eq!(text(&games.snapshot(), &plan()).matches("[Result \"*\"]").count(), 3);
    }

    #[test]
    fn the_file_is_whole_at_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("live.pgn");
        let plan = Arc::new(plan());
        let mut games = LiveGames::default();
        games.begin(id(3), PLAYERS);
        games.extend(id(3), &moves(0, vec![ply("e7e5", 12)]));
        let writer = PgnWriter::start(file.clone(), Arc::clone(&plan)).unwrap();
        let first = games.snapshot();
        while !writer.take(first.clone()) {}
        // The games that the writer has do not change with those of the run.
        games.extend(id(3), &moves(1, vec![ply("g1f3", -7)]));
        assert_eq!(first[0].plies.len(), 1);
        writer.finish(Some(games.snapshot()));
        let written = std::fs::read_to_string(&file).unwrap();
        assert_eq!(written, text(&games.snapshot(), &plan));
        assert!(written.contains("2. Nf3"), "{written}");
        // A folder that is gone ends no run.
        let writer = PgnWriter::start(folder.path().join("no/live.pgn"), plan).unwrap();
        writer.finish(Some(games.snapshot()));
    }

    /// Games of the stored run, of which the last pair is not complete.
    fn stored() -> Vec<GameRecord> {
        let journal = include_str!("../../tests/it/fixtures/v1/games.jsonl");
        let mut games = Vec::new();
        journal::read_from(journal.as_bytes(), Path::new(journal::FILE_NAME), |game| games.push(game)).unwrap();
        games
    }

    #[test]
    fn a_resumed_run_has_its_last_games() {
        let (mut games, first) = (LiveGames::default(), stored().remove(0));
        for number in 1..=200 {
            games.record(&GameRecord { id: id(number), ..first.clone() }, &plan());
        }
        let known: Vec<u64> = games.games.keys().copied().collect();
        assert_eq!((known.len(), known[0], games.is_stale), (MOST_GAMES, 137, false));
        assert_eq!(text(&games.snapshot(), &plan()).matches("[Result \"1/2-1/2\"]").count(), MOST_GAMES);
        // The pair of a void game is played again.
        games.record(&GameRecord { id: id(200), is_void: true, ..first }, &plan());
        assert_eq!((games.games.len(), games.over.len()), (MOST_GAMES - 1, MOST_GAMES - 1));
    }

    #[test]
    fn the_file_of_a_run_that_plays_nothing_more_stays() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("live.pgn");
        std::fs::write(&file, "old").unwrap();
        let plan = Arc::new(plan());
        let scoreboard = Scoreboard::new(&plan).unwrap();
        let observed = |mut live: LivePgn, begun: Option<GameId>| {
            live.observe(RunEvent::Opened { scoreboard: &scoreboard });
            if let Some(game) = begun {
                live.observe(RunEvent::GameBegan { game, players: PLAYERS });
            }
            let reason = StopReason::OutOfPairs;
            live.observe(RunEvent::Closed { scoreboard: &scoreboard, reason: &reason, elapsed: Duration::ZERO });
            std::fs::read_to_string(&file).unwrap()
        };
        let resumed = || {
            let mut live = LivePgn::resumed(&file, Arc::clone(&plan));
            stored().iter().for_each(|game| live.record(game));
            live
        };
        assert_eq!(observed(resumed(), None), "old");
        assert_eq!(observed(resumed(), Some(id(6))).matches("[Event ").count(), stored().len());
        assert_eq!(observed(LivePgn::new(&file, Arc::clone(&plan)), None), "");
    }
}
