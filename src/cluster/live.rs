//! Moves of games that workers play, for those who watch the run.
//!
//! They are published once and never repeated: a message that is lost leaves a gap on a screen
//! until the game's record comes. Nothing that counts depends on them.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::wire::VERSION;
use crate::record::{GameId, GameRecord, Outcome, Score, Termination, micros};
use crate::tournament::events::{MoveUpdate, PairTask, Ply};

/// Maximum number of plies of a game on a board. Longer games are watched up to here.
const MOST_PLIES: usize = 10_000;

/// Maximum size of a move in bytes.
const MOST_MOVE: usize = 8;

/// Moves of a game since the last message about it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Live {
    v: u32,
    worker: String,
    pub(super) pair: u64,
    pub(super) attempt: u64,
    /// Number of the game.
    game: u64,
    /// Plies that earlier messages held.
    from: usize,
    plies: Vec<WirePly>,
    /// Result and reason of a game that is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    over: Option<(String, String)>,
}

#[derive(Debug, Serialize, Deserialize)]
struct WirePly {
    m: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    us: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    left_us: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cp: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mate: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    depth: Option<u32>,
}

impl From<&Ply> for WirePly {
    fn from(ply: &Ply) -> Self {
        let (cp, mate) = ply.score.map(Score::parts).unwrap_or_default();
        let (us, left_us) = (ply.elapsed.map(micros), ply.left.map(micros));
        Self { m: ply.uci.clone(), us, left_us, cp, mate, depth: ply.depth }
    }
}

impl From<WirePly> for Ply {
    fn from(WirePly { m, us, left_us, cp, mate, depth }: WirePly) -> Self {
        let [elapsed, left] = [us, left_us].map(|time| time.map(Duration::from_micros));
        Self { uci: m, elapsed, left, score: Score::of_parts(cp, mate), depth }
    }
}

impl Live {
    /// Message about moves that a slot reported.
    pub(super) fn new(worker: &str, attempt: u64, game: GameId, moved: &MoveUpdate) -> Self {
        Self {
            v: VERSION,
            worker: worker.to_owned(),
            pair: game.pair.0,
            attempt,
            game: game.number(),
            from: moved.from,
            plies: moved.plies.iter().map(WirePly::from).collect(),
            over: None,
        }
    }

    /// Message about the end of a game, with all its moves: the last ones were not reported.
    pub(super) fn ended(worker: &str, attempt: u64, record: &GameRecord) -> Self {
        let plies = record.moves.iter().map(Ply::from).collect();
        let mut live = Self::new(worker, attempt, record.id, &MoveUpdate { opening: None, from: 0, plies, over: None });
        live.over = Some((record.ending.outcome.token().to_owned(), record.ending.termination.name().to_owned()));
        live
    }

    /// Returns the game and its moves if `worker` sent them about a game of `task`, which it plays.
    pub(super) fn moved(self, worker: &str, task: &PairTask) -> Option<(GameId, MoveUpdate)> {
        let game = GameId::from_number(self.game)?;
        let is_of_task = self.worker == worker && game.pair == task.pair && task.all_legs.contains(&game.leg);
        let fits = self.from.saturating_add(self.plies.len()) <= MOST_PLIES;
        let is_move =
            |ply: &WirePly| ply.m.len() <= MOST_MOVE && ply.m.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if self.v != VERSION || !is_of_task || !fits || !self.plies.iter().all(is_move) {
            return None;
        }
        let over = match &self.over {
            Some((outcome, termination)) => Some((Outcome::from_token(outcome)?, Termination::from_name(termination)?)),
            None => None,
        };
        let plies = self.plies.into_iter().map(Ply::from).collect();
        // The opening is named with every message: the first one may have been lost.
        Some((game, MoveUpdate { opening: Some(task.opening(game.leg).clone()), from: self.from, plies, over }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::wire;
    use super::*;
    use crate::record::{ByColor, Leg, Opening, PairId, PlayerId};

    const GAME: GameId = GameId { pair: PairId(4), leg: Leg::Second };

    fn task() -> PairTask {
        let sides = ByColor { white: PlayerId(0), black: PlayerId(1) };
        let opening = |index| Opening { index, fen: crate::chess::START_FEN.to_owned(), moves: Vec::new() };
        PairTask {
            pair: GAME.pair,
            sides: [sides, ByColor { white: PlayerId(1), black: PlayerId(0) }],
            openings: [opening(7), opening(8)],
            legs: Leg::BOTH.to_vec(),
            all_legs: &Leg::BOTH,
            options: None,
        }
    }

    fn ply(uci: &str, score: Option<Score>) -> Ply {
        let (elapsed, left) = (Some(Duration::from_micros(70_001)), Some(Duration::from_micros(5_000_001)));
        Ply { uci: uci.to_owned(), elapsed, left, score, depth: Some(9) }
    }

    fn read(live: &Live) -> Live {
        wire::from_bytes(&wire::to_bytes(live)).unwrap()
    }

    #[test]
    fn moves_travel_whole_with_the_opening_of_their_game() {
        let plies = vec![ply("e7e8q", Some(Score::Cp(-31))), ply("e1g1", Some(Score::Mate(3))), ply("a2a3", None)];
        let sent = MoveUpdate { opening: None, from: 12, plies: plies.clone(), over: None };
        let (game, moved) = read(&Live::new("box", 3, GAME, &sent)).moved("box", &task()).unwrap();
        assert_eq!(game, GAME);
        assert_eq!(moved, MoveUpdate { opening: Some(task().openings[1].clone()), ..sent });
    }

    #[test]
    fn moves_of_others_and_moves_that_are_none_are_not_heard() {
        let good = |plies: Vec<Ply>, from: usize, game: GameId| {
            Live::new("box", 3, game, &MoveUpdate { opening: None, from, plies, over: None })
        };
        let plies = || vec![ply("a2a3", None)];
        assert!(good(plies(), 0, GAME).moved("box", &task()).is_some());
        assert!(good(plies(), 0, GAME).moved("bax", &task()).is_none(), "another worker");
        let other = GameId { pair: PairId(5), ..GAME };
        assert!(good(plies(), 0, other).moved("box", &task()).is_none(), "another pair");
        let half = PairTask { all_legs: &[Leg::First], ..task() };
        assert!(good(plies(), 0, GAME).moved("box", &half).is_none(), "no such leg");
        assert!(good(vec![ply("<b>a2a3", None)], 0, GAME).moved("box", &task()).is_none(), "no move");
        assert!(good(vec![ply("a2a3a4a5a", None)], 0, GAME).moved("box", &task()).is_none(), "too long");
        assert!(good(plies(), usize::MAX, GAME).moved("box", &task()).is_none(), "too many");
        let mut over = good(plies(), 0, GAME);
        over.over = Some(("1-0".to_owned(), "boredom".to_owned()));
        assert!(over.moved("box", &task()).is_none(), "no reason");
    }
}
