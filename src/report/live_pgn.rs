//! PGN of the games in play, for broadcasts: one file that always holds the moves so far, replaced
//! as a whole about once a second. Readers see the old file or the new one, never half of it.
//!
//! It is an observer, so no game waits for it. Another thread writes the file, so the dispatcher
//! does not wait for a disk either: a file that is still being written skips a second.

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
use crate::tournament::events::{MoveUpdate, Observer, Ply, RunEvent};

/// Maximum number of games of the file, as broadcasters take them in one round. Games in play come
/// first, then those that ended last.
const MOST_GAMES: usize = 64;

/// Observer that keeps the file.
pub struct LivePgn {
    plan: Arc<Plan>,
    games: LiveGames,
    writer: Option<PgnWriter>,
}

/// Games in play, and the last ones that are over.
#[derive(Debug, Default)]
struct LiveGames {
    /// By the user's number of the game.
    games: BTreeMap<u64, KnownGame>,
    /// Numbers of games that are over, the oldest first.
    over: VecDeque<u64>,
    /// True if the file does not have the latest moves.
    is_stale: bool,
}

#[derive(Debug)]
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
    /// Creates the observer of a run, whose games `file` is to hold.
    #[must_use]
    pub fn new(file: &Path, plan: Arc<Plan>) -> Self {
        let writer = PgnWriter::start(file.to_owned());
        let writer = writer.map_err(|error| tracing::warn!("{}: no live PGN: {error}", file.display())).ok();
        Self { plan, games: LiveGames { is_stale: true, ..LiveGames::default() }, writer }
    }

    /// Hands the present state to the writer, unless that is busy or knows it.
    fn write(&mut self) {
        if let Some(writer) = self.writer.as_ref().filter(|_| self.games.is_stale) {
            self.games.is_stale = !writer.take(self.games.text(&self.plan));
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
                    writer.finish(self.games.text(&self.plan));
                }
            }
            _ => {}
        }
    }
}

impl LiveGames {
    fn begin(&mut self, id: GameId, players: ByColor<PlayerId>) {
        let started = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let (opening, plies) = (None, Vec::new());
        // A void game is played again under its number.
        self.over.retain(|number| *number != id.number());
        self.games.insert(id.number(), KnownGame { id, players, started, opening, plies, over: None, scale: None });
        self.shrink();
    }

    fn extend(&mut self, id: GameId, moved: &MoveUpdate) {
        let Some(game) = self.games.get_mut(&id.number()).filter(|game| game.over.is_none()) else { return };
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
    }

    fn end(&mut self, record: &GameRecord, plan: &Plan) {
        let number = record.id.number();
        let Some(game) = self.games.get_mut(&number) else { return };
        if record.is_void {
            self.games.remove(&number);
            self.is_stale = true;
            return;
        }
        let reason = meta_of(plan, record.players, record.scale).map(|meta| pgn::reason(record, &meta.names));
        game.opening = Some(record.opening.clone());
        game.plies = record.moves.iter().map(Ply::from).collect();
        (game.started, game.scale) = (record.started, record.scale);
        if game.over.replace((record.ending.outcome, reason.unwrap_or_default())).is_none() {
            self.over.push_back(number);
        }
        self.is_stale = true;
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

    fn text(&self, plan: &Plan) -> String {
        let text = |game: &KnownGame| {
            let meta = meta_of(plan, game.players, game.scale)?;
            let (opening, over) = (game.opening.as_ref()?, game.over.clone());
            let live = LiveGame { id: game.id, opening, plies: &game.plies, started: game.started, over };
            // A worker may send moves that are none; the record of the game will have its own.
            pgn::live(&live, &meta).ok()
        };
        self.games.values().filter_map(text).collect()
    }
}

/// Thread that writes the file.
struct PgnWriter {
    texts: SyncSender<String>,
    thread: JoinHandle<()>,
}

impl PgnWriter {
    fn start(file: PathBuf) -> std::io::Result<Self> {
        let (texts, asked) = sync_channel::<String>(1);
        let write = move || {
            let mut is_told = false;
            for text in asked {
                let written = write_atomically(&file, text.as_bytes());
                if let Err(error) = written
                    && !std::mem::replace(&mut is_told, true)
                {
                    tracing::warn!("{}: cannot write the live PGN: {error}; the run goes on", file.display());
                }
            }
        };
        let thread = std::thread::Builder::new().name("live-pgn".to_owned()).spawn(write)?;
        Ok(Self { texts, thread })
    }

    /// Returns false if the last text is still to be written.
    fn take(&self, text: String) -> bool {
        self.texts.try_send(text).is_ok()
    }

    /// Writes the last text, and waits for it.
    fn finish(self, text: String) {
        let Self { texts, thread } = self;
        // An error means that the thread is gone, which has said why.
        let _ = texts.send(text);
        drop(texts);
        let _ = thread.join();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::START_FEN;
    use crate::plan::file;
    use crate::record::Score;

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
        assert_eq!(games.text(&plan()), "");
        games.extend(id(3), &moves(0, vec![ply("e7e5", 12)]));
        games.extend(id(3), &moves(1, vec![ply("g1f3", -7)]));
        // A gap is not filled with moves that do not fit.
        games.extend(id(3), &moves(5, vec![ply("a1a8", 0)]));
        let text = games.text(&plan());
        assert!(text.contains("[Round \"2.1\"]\n") && text.contains("[Result \"*\"]\n"), "{text}");
        let played =
            "1. e4 {book} 1... e5 {+0.12/9 0.051s [%clk 1:02:05]} 2. Nf3 {-0.07/9 0.051s [%clk 1:02:05]} *\n\n";
        assert_eq!(text.split("\n\n").nth(1).unwrap().replace('\n', " ") + "\n\n", played);
        assert!(text.ends_with("*\n\n"), "{text:?}");
        // The game begins anew.
        games.begin(id(3), PLAYERS);
        assert_eq!(games.text(&plan()), "");
    }

    #[test]
    fn games_that_ended_first_make_room() {
        let mut games = LiveGames::default();
        for number in 1..=200 {
            games.begin(id(number), PLAYERS);
            games.extend(id(number), &moves(0, vec![ply("e7e5", 1)]));
            if number > 3 {
                let game = games.games.get_mut(&number).unwrap();
                game.over = Some((Outcome::Draw, "x".to_owned()));
                games.over.push_back(number);
            }
        }
        let known: Vec<u64> = games.games.keys().copied().collect();
        assert_eq!((known.len(), &known[..4]), (MOST_GAMES, &[1, 2, 3, 140][..]));
        assert_eq!(games.text(&plan()).matches("[Result \"*\"]").count(), 3);
    }

    #[test]
    fn the_file_is_whole_at_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("live.pgn");
        let writer = PgnWriter::start(file.clone()).unwrap();
        while !writer.take("first".to_owned()) {}
        writer.finish("last".to_owned());
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "last");
        // A folder that is gone ends no run.
        let writer = PgnWriter::start(folder.path().join("no/live.pgn")).unwrap();
        writer.finish("text".to_owned());
    }
}
