//! Pairs that two workers play at fixed nodes. Their games must be equal. This detects workers that
//! report games that their engines did not play.

use std::collections::VecDeque;
use std::fmt;

use super::super::link::worker_name;
use super::super::takers::Taker;
use super::super::wire::PairGames;
use super::{Coordinator, LeasePurpose};
use crate::record::{GameRecord, MoveRecord, PairId, Score};
use crate::schedule::remote::RemoteEvent;
use crate::stats::random::SplitMix64;
use crate::text::printable;
use crate::tournament::events::{Failure, PairTask, Stop};

/// Most pairs that wait for another worker. Older ones are given up.
const MOST_DUE: usize = 64;

/// Times that a pair with a void game is played again to be verified.
const MOST_TRIES: u32 = 3;

/// A pair that was played, to be played again by another worker.
#[derive(Debug)]
pub(super) struct VerifiedPair {
    /// Name of the worker that played it.
    worker: String,
    games: Vec<GameRecord>,
    tries: u32,
}

/// Draw of the pairs to verify, and those that wait for another worker.
#[derive(Debug)]
pub(super) struct Verification {
    /// Part of the pairs, from 0 to 1.
    share: f64,
    random: SplitMix64,
    due: VecDeque<(PairTask, Box<VerifiedPair>)>,
}

/// First difference between two plays of a game.
#[derive(Debug, PartialEq, Eq)]
struct Difference {
    game: u64,
    /// First different ply, from 1, with the moves of both games; `None` if only the ends differ.
    ply: Option<(usize, [String; 2])>,
}

impl Verification {
    /// Verifies `percent` of the pairs. No worker knows the draw, which `seed` decides.
    pub(super) fn new(percent: f64, seed: u64) -> Self {
        Self { share: percent / 100.0, random: SplitMix64::new(seed), due: VecDeque::new() }
    }

    /// Draws whether a pair that was just played is verified.
    fn draw(&mut self, task: &PairTask, result: &PairGames) {
        if is_comparable(result, task.legs.len()) && self.random.unit() < self.share {
            let games = counted(result).iter().map(|(game, _)| game.clone()).collect();
            let worker = worker_name(&result.worker).to_owned();
            self.push(task.clone(), Box::new(VerifiedPair { worker, games, tries: 0 }));
        }
    }

    fn push(&mut self, task: PairTask, pair: Box<VerifiedPair>) {
        self.due.push_back((task, pair));
        if self.due.len() > MOST_DUE {
            self.due.pop_front();
        }
    }

    /// Oldest pair that another worker than `worker` has played.
    fn pop_for(&mut self, worker: &str) -> Option<(PairTask, Box<VerifiedPair>)> {
        let place = self.due.iter().position(|(_, pair)| pair.worker != worker)?;
        self.due.remove(place)
    }
}

/// Games of a result that count: those after the last void one.
fn counted(result: &PairGames) -> &[(GameRecord, Option<Failure>)] {
    let after = result.games.iter().rposition(|(game, _)| game.is_void).map_or(0, |place| place + 1);
    &result.games[after..]
}

/// True if this number of a result's games count, all played to their end without a failure.
fn is_comparable(result: &PairGames, games: usize) -> bool {
    let counted = counted(result);
    counted.len() == games && counted.iter().all(|(_, failure)| failure.is_none())
}

impl VerifiedPair {
    /// First difference to the games of another play. Times are not compared.
    fn difference(&self, others: &PairGames) -> Option<Difference> {
        self.games.iter().zip(counted(others)).find_map(|(game, (other, _))| {
            let is_equal = |ply: &usize| match (game.moves.get(*ply), other.moves.get(*ply)) {
                (Some(a), Some(b)) => (&a.uci, a.info.score, a.info.depth) == (&b.uci, b.info.score, b.info.depth),
                _ => false,
            };
            let ply = (0..game.moves.len().max(other.moves.len())).find(|ply| !is_equal(ply));
            let ply = ply.map(|ply| (ply + 1, [game, other].map(|game| shown(game.moves.get(ply)))));
            (ply.is_some() || game.ending != other.ending).then(|| Difference { game: game.id.number(), ply })
        })
    }
}

/// A move with its depth and score.
fn shown(one: Option<&MoveRecord>) -> String {
    let Some(one) = one else { return "no move".to_owned() };
    let depth = one.info.depth.map(|depth| format!(" at depth {depth}")).unwrap_or_default();
    let score = match one.info.score {
        Some(Score::Cp(score)) => format!(" ({score} cp)"),
        Some(Score::Mate(moves)) => format!(" (mate {moves})"),
        None => String::new(),
    };
    format!("{}{depth}{score}", printable(&one.uci))
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.ply {
            Some((ply, [first, second])) => write!(f, "game {} at ply {ply}: {first}, then {second}", self.game),
            None => write!(f, "the end of game {}", self.game),
        }
    }
}

impl Coordinator {
    /// Decides at random whether another worker replays a pair.
    pub(super) fn draw_verified(&mut self, task: &PairTask, result: &PairGames) {
        if let Some(verification) = &mut self.verification {
            verification.draw(task, result);
        }
    }

    /// Lends a slot a pair to verify, if one waits that another worker has played.
    ///
    /// # Errors
    /// Returns the slot if there is none.
    pub(super) async fn lend_verified(&mut self, taker: Taker) -> Result<(), Taker> {
        let is_idle = self.past.is_some() || self.end.orders.borrow().paused;
        let due = self.verification.as_mut().filter(|_| !is_idle);
        let Some((task, pair)) = due.and_then(|verification| verification.pop_for(worker_name(&taker.worker))) else {
            return Err(taker);
        };
        let work = self.work(LeasePurpose::Verifies(pair), task);
        self.lease(taker, work).await;
        Ok(())
    }

    /// Puts a pair back that its second worker has not played.
    pub(super) fn postpone_verified(&mut self, task: PairTask, pair: Box<VerifiedPair>) {
        if self.stop() == Stop::No
            && let Some(verification) = &mut self.verification
        {
            verification.push(task, pair);
        }
    }

    /// True if the games of a pair count already, and another worker plays it to verify them.
    pub(super) fn is_verified(&self, pair: PairId) -> bool {
        self.leases.of_pair(pair).is_some_and(|lease| matches!(lease.work.purpose, LeasePurpose::Verifies(_)))
    }

    /// Compares both plays of a pair. A difference ends the run: one of its workers sends games
    /// that its engines did not play, and nobody knows which of its games.
    pub(super) fn verify(&mut self, task: PairTask, mut pair: Box<VerifiedPair>, result: &PairGames) {
        if !is_comparable(result, pair.games.len()) {
            pair.tries += 1;
            if pair.tries < MOST_TRIES {
                self.postpone_verified(task, pair);
            }
            return;
        }
        let second = worker_name(&result.worker);
        match pair.difference(result) {
            None => self.roster.verify([&pair.worker, second]),
            Some(difference) => {
                let text = format!(
                    "workers {} and {second} both played pair {}, and their games differ ({difference}): one of them sends games that \
                     these engines do not play; `quintain replay RUN --game {}` shows what they play; start another run without it",
                    pair.worker,
                    result.pair.0 + 1,
                    difference.game
                );
                self.tell(RemoteEvent::Broken(text));
            }
        }
    }
}
