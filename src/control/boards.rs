//! The games being played, for clients that want to see moves.
//!
//! The publisher keeps them as the workers tell; each client looks a few times a second and is told what it has not heard.
//! So a run whose games last milliseconds costs a client no more than one at a long clock, and a slow client nobody else.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use crate::chess::Variant;
use crate::control::protocol::{GameSay, PlySay, Say, VERSION, line};
use crate::game::clock::Clock;
use crate::plan::Plan;
use crate::record::{ByColor, GameId, GameRecord, PlayerId, Score};
use crate::schedule::events::{Moved, Ply, RunEvent};

/// Games that are over are kept until so many others are, so that clients hear how they ended.
const MAX_OVER: usize = 64;

/// A game that is being played, or was.
#[derive(Debug)]
struct Board {
    players: ByColor<PlayerId>,
    /// Where it began; `None` until the worker tells.
    start: Option<(String, Vec<String>)>,
    plies: Vec<Ply>,
    /// When the last of them came.
    since: Instant,
    over: Option<(&'static str, &'static str)>,
}

/// Every game that is being played.
#[derive(Debug)]
pub(super) struct Boards {
    names: Vec<String>,
    clocks: Vec<Option<Duration>>,
    chess960: bool,
    /// By the user's number.
    boards: BTreeMap<u64, Board>,
    over: VecDeque<u64>,
}

impl Boards {
    pub(super) fn new(plan: &Plan) -> Self {
        Self {
            names: plan.players.iter().map(|player| player.name.clone()).collect(),
            clocks: plan.players.iter().map(|player| Clock::new(&player.limit).left()).collect(),
            chess960: plan.rules.variant == Variant::Chess960,
            boards: BTreeMap::new(),
            over: VecDeque::new(),
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
        let board = Board { players, start: None, plies: Vec::new(), since: Instant::now(), over: None };
        // A void game is played again under its number.
        self.over.retain(|number| *number != game.number());
        self.boards.insert(game.number(), board);
    }

    fn moved(&mut self, game: GameId, moved: &Moved) {
        let Some(board) = self.boards.get_mut(&game.number()) else { return };
        if let Some(opening) = &moved.opening {
            board.start = Some((opening.fen.clone(), opening.moves.clone()));
        }
        board.plies.truncate(moved.from);
        board.plies.extend(moved.plies.iter().cloned());
        board.since = Instant::now();
    }

    fn ended(&mut self, record: &GameRecord) {
        let number = record.id.number();
        let Some(board) = self.boards.get_mut(&number) else { return };
        if board.start.is_none() {
            // Nobody was told of it, and nobody is to be told of it now.
            self.boards.remove(&number);
            return;
        }
        let told = board.plies.len();
        board.plies.extend(record.moves.iter().skip(told).map(Ply::from));
        board.over = Some((record.ending.outcome.token(), record.ending.termination.name()));
        self.over.push_back(number);
        if self.over.len() > MAX_OVER
            && let Some(oldest) = self.over.pop_front()
        {
            self.boards.remove(&oldest);
        }
    }

    fn game(&self, number: u64, board: &Board) -> Option<Say> {
        let (fen, opening) = board.start.clone()?;
        let name = |player: PlayerId| self.names.get(usize::from(player.0)).cloned().unwrap_or_default();
        let clock = |player: PlayerId| self.clocks.get(usize::from(player.0)).copied().flatten().map(millis);
        let (result, termination) = board.over.map(|(result, why)| (result.to_owned(), why.to_owned())).unzip();
        Some(Say::Game(Box::new(GameSay {
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

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// What one client has heard.
#[derive(Debug, Default)]
pub(super) struct Teller {
    /// By game: its plies; `None` once it heard that it is over.
    told: BTreeMap<u64, Option<usize>>,
}

impl Teller {
    /// Lines of what it has not heard, in order; empty where there is nothing new.
    pub(super) fn news(&mut self, boards: &Boards) -> String {
        self.told.retain(|number, _| boards.boards.contains_key(number));
        let mut text = String::new();
        for (number, board) in &boards.boards {
            let (told, is_new) = match self.told.get(number) {
                Some(Some(told)) => (*told, false),
                // It is over, and it heard so; unless it is played anew.
                Some(None) if board.over.is_some() => continue,
                Some(None) => (0, true),
                // What was over before it came is not worth a word.
                None if board.over.is_some() => {
                    self.told.insert(*number, None);
                    continue;
                }
                None => (0, true),
            };
            // Fewer plies than it heard of: the game is played anew.
            let (told, is_new) = if board.plies.len() < told { (0, true) } else { (told, is_new) };
            if board.start.is_none() {
                continue;
            }
            if is_new && let Some(say) = boards.game(*number, board).filter(|_| board.over.is_none()) {
                text.push_str(&line(&say));
            }
            for (ply, place) in board.plies[told..].iter().zip(told as u64 + 1..) {
                text.push_str(&line(&say_ply(*number, place, ply, board)));
            }
            let is_over = board.over.is_some();
            if is_over && let Some(say) = boards.game(*number, board) {
                text.push_str(&line(&say));
            }
            self.told.insert(*number, (!is_over).then_some(board.plies.len()));
        }
        text
    }
}

fn say_ply(game: u64, place: u64, ply: &Ply, board: &Board) -> Say {
    let (cp, mate) = match ply.score {
        Some(Score::Cp(cp)) => (Some(cp), None),
        Some(Score::Mate(moves)) => (None, Some(moves)),
        None => (None, None),
    };
    Say::Ply(Box::new(PlySay {
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
