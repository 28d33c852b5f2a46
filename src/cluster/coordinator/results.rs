//! Results of workers, before their games count.

use async_nats::header::NATS_MESSAGE_ID;
use async_nats::jetstream;

use super::super::leases::Attempt;
use super::super::link::{is_from, worker_name};
use super::super::outbox::result_id;
use super::super::wire::PairGames;
use super::Coordinator;
use crate::chess::{Position, Variant};
use crate::journal;
use crate::record::{Leg, Opening, PairId};
use crate::tournament::events::PairTask;

/// Unusable results after which a worker is excluded.
const MOST_UNUSABLE: u32 = 3;

/// Lease that a result names in the id of its message.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NamedLease {
    pub(super) session: String,
    pub(super) pair: PairId,
    pub(super) attempt: Attempt,
}

impl NamedLease {
    /// Lease of a message; `None` if it names none, or one of another user.
    pub(super) fn of(message: &jetstream::Message) -> Option<Self> {
        let id = message.headers.as_ref()?.get(NATS_MESSAGE_ID)?.as_str();
        let (pair, attempt, session) = result_id::parse(id)?;
        let is_own = is_from(&message.subject, session);
        is_own.then(|| Self { session: session.to_owned(), pair: PairId(pair), attempt: Attempt(attempt) })
    }
}

impl Coordinator {
    /// Unpacks the games of a lease that is held, and checks that they are those of its task.
    ///
    /// # Errors
    /// Returns the reason that they cannot be used.
    pub(super) fn unpack(&self, message: &jetstream::Message, named: &NamedLease) -> Result<PairGames, String> {
        let mut result = PairGames::unpack(&message.payload).map_err(|error| error.to_string())?;
        if (&result.worker, result.pair, result.attempt) != (&named.session, named.pair, named.attempt.0) {
            return Err("its message names another lease".to_owned());
        }
        if result.is_simulated != self.is_simulated() {
            let what = if result.is_simulated { "simulated" } else { "of engines" };
            return Err(format!("it is {what}, and this run is not"));
        }
        let Some(lease) = self.leases.get(named.pair, named.attempt) else { return Err("nobody plays it".to_owned()) };
        if result.games.iter().all(|(game, _)| !game.is_void) {
            // The process may have ended between the two games of the pair.
            result.games.retain(|(game, _)| lease.work.task.legs.contains(&game.id.leg));
        }
        for (game, failure) in &mut result.games {
            if !game.ending.termination.is_fault() {
                *failure = None;
            }
        }
        check(&result, &lease.work.task)?;
        if let Some((game, _)) = result.games.iter().find(|(game, _)| !journal::is_readable(game)) {
            return Err(format!("game {} has more text of the engines than a journal takes", game.id.number()));
        }
        if !result.is_simulated {
            for (game, _) in &result.games {
                let moves = game.moves.iter().map(|played| played.uci.as_str());
                check_moves(game.id.number(), &game.opening, moves, self.plan.rules.variant)?;
            }
        }
        Ok(result)
    }

    /// Drops a result that no worker sends by mistake. Its pair is played again. A worker that
    /// sends several is excluded, because it would take that pair again and again.
    pub(super) async fn reject(&mut self, named: &NamedLease, why: &str, message: jetstream::Message) {
        let NamedLease { session, pair, attempt } = named;
        self.warn(format!("worker {session}: the result of pair {} was dropped: {why}", pair.0 + 1));
        let _ = message.ack().await;
        if let Some(lease) = self.leases.settle(session, *pair, *attempt) {
            self.give_back(lease);
        }
        let name = worker_name(session);
        let times = self.unusable.entry(name.to_owned()).or_default();
        *times += 1;
        if *times >= MOST_UNUSABLE && !self.roster.is_dropped(session) {
            let text = format!("{MOST_UNUSABLE} of its results could not be used, the last one because: {why}");
            self.warn(format!("worker {name}: {text}; it is excluded: look at its program and its memory"));
            self.take_out(name, &format!("excluded: {text}")).await;
        }
    }
}

/// Checks that the moves of a game can be played, or nobody could read its journal.
fn check_moves<'a>(
    number: u64,
    opening: &'a Opening,
    moves: impl Iterator<Item = &'a str>,
    variant: Variant,
) -> Result<(), String> {
    let mut position = Position::from_fen(&opening.fen, variant).map_err(|error| format!("game {number}: {error}"))?;
    for played in opening.moves.iter().map(String::as_str).chain(moves) {
        position.advance_by(played).map_err(|error| format!("game {number}: {error}"))?;
    }
    Ok(())
}

/// Checks that the games of a result are those of the task.
fn check(result: &PairGames, task: &PairTask) -> Result<(), String> {
    let counted: Vec<Leg> =
        result.games.iter().filter(|(game, _)| !game.is_void).map(|(game, _)| game.id.leg).collect();
    // After a void game all legs are played again.
    let is_voided = result.games.iter().any(|(game, _)| game.is_void);
    if counted != task.legs && !(is_voided && counted.ends_with(task.all_legs)) {
        return Err(format!(
            "it has {} games, {} of them void",
            result.games.len(),
            result.games.len() - counted.len()
        ));
    }
    for (game, _) in &result.games {
        let leg = game.id.leg;
        let is_of_task = game.players == task.sides(leg) && game.opening == *task.opening(leg);
        if !is_of_task || game.values != task.values(leg) {
            return Err(format!("game {} has other players, values or another opening", game.id.number()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_that_nobody_can_play_are_refused() {
        let fen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1".to_owned();
        let opening = Opening { index: 0, fen, moves: vec!["e2e4".to_owned()] };
        let check = |moves: &[&'static str]| check_moves(7, &opening, moves.iter().copied(), Variant::Standard);
        assert_eq!(check(&["e7e5", "g1f3"]), Ok(()));
        for moves in [["e7e5", "zzzz"], ["e7e5", "e7e5"]] {
            let why = check(&moves).unwrap_err();
            assert!(why.starts_with("game 7: "), "{why}");
        }
    }
}
