//! The games being played, for clients that want to see moves.
//!
//! The publisher keeps them up to date from the workers' events. Each client looks a few times a
//! second and is sent the changes since its last look. So games of a few milliseconds cost a client
//! no more than long ones, and a slow client delays nobody else.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use crate::chess::Variant;
use crate::control::protocol::{GameMessage, PlyMessage, ServerMessage, VERSION, line};
use crate::game::clock::Clock;
use crate::plan::Plan;
use crate::record::{ByColor, GameId, GameRecord, PlayerId, Score, millis};
use crate::tournament::events::{MoveUpdate, Ply, RunEvent};

/// Games that are over and kept, so that clients learn their results. The oldest goes first.
const MAX_OVER: usize = 256;

/// A game that is being played, or was.
#[derive(Debug)]
struct Board {
    /// Distinguishes a game from its replay under the same number after it was void.
    serial: u64,
    players: ByColor<PlayerId>,
    /// The opening; `None` until the worker reports it.
    start: Option<(String, Vec<String>)>,
    plies: Vec<Ply>,
    /// Arrival of the last of them.
    since: Instant,
    over: Option<(&'static str, &'static str)>,
}

/// Every game that is being played.
#[derive(Debug)]
pub(super) struct Boards {
    names: Vec<String>,
    clocks: Vec<Option<Duration>>,
    chess960: bool,
    /// Boards by the user's number of the game.
    boards: BTreeMap<u64, Board>,
    over: VecDeque<u64>,
    begun: u64,
}

impl Boards {
    pub(super) fn new(plan: &Plan) -> Self {
        Self {
            names: plan.players.iter().map(|player| player.name.clone()).collect(),
            clocks: plan.players.iter().map(|player| Clock::new(&player.limit).left()).collect(),
            chess960: plan.rules.variant == Variant::Chess960,
            boards: BTreeMap::new(),
            over: VecDeque::new(),
            begun: 0,
        }
    }

    pub(super) fn observe(&mut self, event: &RunEvent<'_>) {
        match event {
            RunEvent::GameBegan { game, players } => self.began(*game, *players),
            RunEvent::GameMoved { game, moved } => self.moved(*game, moved),
            RunEvent::GameEnded { record, .. } => self.ended(record),
            _ => {}
        }
    }

    fn began(&mut self, game: GameId, players: ByColor<PlayerId>) {
        self.begun += 1;
        let (serial, since) = (self.begun, Instant::now());
        let board = Board { serial, players, start: None, plies: Vec::new(), since, over: None };
        // A void game is played again under its number.
        self.over.retain(|number| *number != game.number());
        self.boards.insert(game.number(), board);
    }

    fn moved(&mut self, game: GameId, moved: &MoveUpdate) {
        let Some(board) = self.boards.get_mut(&game.number()) else { return };
        if let Some(opening) = &moved.opening {
            board.start = Some((opening.fen.clone(), opening.moves.clone()));
        }
        // Moves before these were lost on their way, and will come with the record.
        if moved.from > board.plies.len() {
            return;
        }
        board.plies.truncate(moved.from);
        board.plies.extend(moved.plies.iter().cloned());
        board.since = Instant::now();
        if let Some((outcome, termination)) = moved.over
            && board.start.is_some()
        {
            self.close(game.number(), (outcome.token(), termination.name()));
        }
    }

    fn ended(&mut self, record: &GameRecord) {
        let number = record.id.number();
        let Some(board) = self.boards.get_mut(&number) else { return };
        if board.start.is_none() {
            // No client was sent it, and none is to be sent it now.
            self.boards.remove(&number);
            return;
        }
        let told = board.plies.len();
        board.plies.extend(record.moves.iter().skip(told).map(Ply::from));
        self.close(number, (record.ending.outcome.token(), record.ending.termination.name()));
    }

    /// Keeps a game that is over for some time, so that clients learn its result.
    fn close(&mut self, number: u64, end: (&'static str, &'static str)) {
        let Some(board) = self.boards.get_mut(&number) else { return };
        if board.over.replace(end).is_none() {
            self.over.push_back(number);
        }
        if self.over.len() > MAX_OVER
            && let Some(oldest) = self.over.pop_front()
        {
            self.boards.remove(&oldest);
        }
    }

    fn game(&self, number: u64, board: &Board) -> Option<ServerMessage> {
        let (fen, opening) = board.start.clone()?;
        let name = |player: PlayerId| self.names.get(usize::from(player.0)).cloned().unwrap_or_default();
        let clock = |player: PlayerId| self.clocks.get(usize::from(player.0)).copied().flatten().map(millis);
        let (result, termination) = board.over.map(|(result, why)| (result.to_owned(), why.to_owned())).unzip();
        Some(ServerMessage::Game(Box::new(GameMessage {
            v: VERSION,
            game: number,
            white: name(board.players.white),
            black: name(board.players.black),
            chess960: self.chess960,
            fen,
            opening,
            white_ms: clock(board.players.white),
            black_ms: clock(board.players.black),
            result,
            termination,
        })))
    }
}

/// The state that one client has been sent.
#[derive(Debug, Default)]
pub(super) struct ClientView {
    /// Serial and number of sent plies of each game; `None` once its end was sent.
    told: BTreeMap<u64, (u64, Option<usize>)>,
}

impl ClientView {
    /// Lines for the client about changes since the last call, in order; empty if there are none.
    pub(super) fn news(&mut self, boards: &Boards) -> String {
        self.told.retain(|number, _| boards.boards.contains_key(number));
        let mut text = String::new();
        for (number, board) in &boards.boards {
            let (told, is_new) = match self.told.get(number) {
                Some((serial, None)) if *serial == board.serial => continue,
                Some((serial, Some(told))) if *serial == board.serial => (*told, false),
                // A game that ended before the client looked is not worth a line.
                None if board.over.is_some() => {
                    self.told.insert(*number, (board.serial, None));
                    continue;
                }
                _ => (0, true),
            };
            if board.start.is_none() {
                continue;
            }
            let is_over = board.over.is_some();
            if is_new
                && !is_over
                && let Some(say) = boards.game(*number, board)
            {
                text.push_str(&line(&say));
            }
            let told = if is_new && is_over { board.plies.len() } else { told };
            for (ply, place) in board.plies.iter().skip(told).zip(told as u64 + 1..) {
                text.push_str(&line(&say_ply(*number, place, ply, board)));
            }
            if is_over && let Some(say) = boards.game(*number, board) {
                text.push_str(&line(&say));
            }
            self.told.insert(*number, (board.serial, (!is_over).then_some(board.plies.len())));
        }
        text
    }
}

fn say_ply(game: u64, place: u64, ply: &Ply, board: &Board) -> ServerMessage {
    let (cp, mate) = ply.score.map(Score::parts).unwrap_or_default();
    ServerMessage::Ply(Box::new(PlyMessage {
        game,
        ply: place,
        uci: ply.uci.clone(),
        clock_ms: ply.left.map(millis),
        cp,
        mate,
        depth: ply.depth,
        ago_ms: millis(board.since.elapsed()),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Leg, Opening, PairId};

    const GAME: GameId = GameId { pair: PairId(0), leg: Leg::First };
    const PLAYERS: ByColor<PlayerId> = ByColor { white: PlayerId(0), black: PlayerId(1) };

    fn told(boards: &mut Boards, from: usize, moves: &str) {
        let start = Opening { index: 0, fen: crate::chess::START_FEN.to_owned(), moves: Vec::new() };
        let ply = |uci: &str| Ply { uci: uci.to_owned(), elapsed: None, left: None, score: None, depth: None };
        let plies = moves.split(' ').map(ply).collect();
        boards.moved(GAME, &MoveUpdate { opening: (from == 0).then_some(start), from, plies, over: None });
    }

    /// Lines that a client is sent: `game` for one that begins, else the move.
    #[track_caller]
    fn check(teller: &mut ClientView, boards: &Boards, expected: &str) {
        let news = teller.news(boards);
        let heard = news.lines().map(|line| match serde_json::from_str(line).unwrap() {
            ServerMessage::Game(said) => said.result.unwrap_or_else(|| "game".to_owned()),
            ServerMessage::Ply(said) => said.uci,
            other => panic!("{other:?}"),
        });
        assert_eq!(heard.collect::<Vec<_>>().join(" "), expected);
    }

    #[test]
    fn a_client_hears_each_ply_once_and_a_game_played_anew_from_its_beginning() {
        let names = vec!["a".to_owned(), "b".to_owned()];
        let (boards, over) = (BTreeMap::new(), VecDeque::new());
        let mut boards = Boards { names, clocks: vec![None; 2], chess960: false, boards, over, begun: 0 };
        let mut teller = ClientView::default();
        boards.began(GAME, PLAYERS);
        check(&mut teller, &boards, "");
        told(&mut boards, 0, "e2e4 e7e5");
        check(&mut teller, &boards, "game e2e4 e7e5");
        check(&mut teller, &boards, "");
        told(&mut boards, 2, "g1f3");
        check(&mut teller, &boards, "g1f3");
        check(&mut ClientView::default(), &boards, "game e2e4 e7e5 g1f3");
        boards.began(GAME, PLAYERS);
        check(&mut teller, &boards, "");
        told(&mut boards, 0, "d2d4 d7d5 c2c4 e7e6");
        check(&mut teller, &boards, "game d2d4 d7d5 c2c4 e7e6");
    }
}
