//! Workers on which an engine fails far more often than on others. No clock and no I/O.
//!
//! A faulty machine makes engines crash, stall, or lose on time. Scores are not looked at: to set a
//! worker aside by its results would choose the results. Its games count, and it plays no more.
//!
//! Games that crash are short. Such a machine may reach the run's limit of failures before others
//! have played the games that a test needs. So a second rule counts crashes, stalls and illegal
//! moves, which that limit is of.

use std::collections::BTreeMap;

use crate::record::{GameRecord, PlayerId};
use crate::stats::fisher;

/// Probability of a false alarm at a failure, over all workers. Each failure is looked at, so it is
/// small.
const ALARM: f64 = 1e-4;

/// Minimum number of games of an engine on other workers, by which one is judged.
const LEAST_ELSEWHERE: u64 = 20;

/// Games of an engine on a worker.
#[derive(Clone, Copy, Debug, Default)]
struct EngineGames {
    /// Failures and losses on time.
    faults: u64,
    /// Crashes, stalls and illegal moves, which the run limits.
    failures: u64,
    games: u64,
}

/// Failures of each engine on each worker.
#[derive(Debug, Default)]
pub(super) struct FailuresByWorker {
    by_player: BTreeMap<PlayerId, BTreeMap<String, EngineGames>>,
}

/// An engine that fails on one worker.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FailureFinding {
    /// The engine.
    pub(super) player: PlayerId,
    /// Its failures and games on the worker, and on all others.
    pub(super) counts: [(u64, u64); 2],
}

impl FailuresByWorker {
    /// Records a game of a worker. Returns a finding if its loser is at fault there beyond chance,
    /// or fails at least `limit` times, in half of its games there, and nowhere else.
    pub(super) fn record(&mut self, worker: &str, game: &GameRecord, limit: Option<u64>) -> Option<FailureFinding> {
        let failing = failing(game);
        let is_failure = game.ending.termination.is_failure();
        for player in [game.players.white, game.players.black] {
            let of_player = self.by_player.entry(player).or_default();
            let games = of_player.entry(worker.to_owned()).or_default();
            games.games += 1;
            games.faults += u64::from(failing == Some(player));
            games.failures += u64::from(failing == Some(player) && is_failure);
        }
        let player = failing?;
        let of_player = self.by_player.get(&player)?;
        let here = of_player.get(worker)?;
        let counts = |of: fn(&EngineGames) -> u64| {
            let sum = of_player.values().map(of).sum::<u64>();
            let games = of_player.values().map(|games| games.games).sum::<u64>();
            [(of(here), here.games), (sum - of(here), games - here.games)]
        };
        let faults = counts(|games| games.faults);
        let is_beyond =
            faults[1].1 >= LEAST_ELSEWHERE && fisher::excess(faults[0], faults[1]) * (of_player.len() as f64) < ALARM;
        if is_beyond {
            return Some(FailureFinding { player, counts: faults });
        }
        let failures @ [(here, games), (elsewhere, _)] = counts(|games| games.failures);
        let is_alone = is_failure && elsewhere == 0 && here * 2 >= games && limit.is_some_and(|limit| here >= limit);
        is_alone.then_some(FailureFinding { player, counts: failures })
    }
}

/// Player that lost a game by a failure of its engine or by time.
fn failing(game: &GameRecord) -> Option<PlayerId> {
    let winner = game.ending.outcome.winner().filter(|_| game.ending.termination.is_fault())?;
    Some(*game.players.get(winner.other()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::coordinator::tests::task;
    use crate::cluster::simulation::game as random_game;
    use crate::record::{Leg, Outcome, Termination};
    use crate::stats::random::SplitMix64;

    fn game(leg: Leg, ending: (Outcome, Termination)) -> GameRecord {
        let mut game = random_game(&task(), leg, crate::chess::Variant::Standard, 0, &mut SplitMix64::new(1));
        (game.ending.outcome, game.ending.termination) = ending;
        game
    }

    /// Number of findings over a worker's games: pairs in which player 1 loses both as given.
    fn play(failures: &mut FailuresByWorker, worker: &str, pairs: u32, termination: Termination) -> usize {
        play_to(None, failures, worker, pairs, termination)
    }

    /// The same with a limit.
    fn play_to(
        limit: Option<u64>,
        failures: &mut FailuresByWorker,
        worker: &str,
        pairs: u32,
        termination: Termination,
    ) -> usize {
        let lost = |leg| match leg {
            Leg::First => Outcome::WhiteWins,
            Leg::Second => Outcome::BlackWins,
        };
        let legs = (0..pairs).flat_map(|_| Leg::BOTH);
        legs.filter_map(|leg| failures.record(worker, &game(leg, (lost(leg), termination)), limit)).count()
    }

    #[test]
    fn an_engine_that_fails_on_one_machine_only_is_found() {
        for termination in [Termination::Crash, Termination::Stall, Termination::IllegalMove, Termination::TimeForfeit]
        {
            let mut failures = FailuresByWorker::default();
            assert_eq!(play(&mut failures, "a", 10, Termination::Checkmate), 0);
            assert_eq!(play(&mut failures, "b", 10, Termination::Checkmate), 0);
            assert!(play(&mut failures, "c", 3, termination) > 0, "{termination:?}");
        }
    }

    #[test]
    fn an_engine_that_fails_everywhere_or_loses_by_chess_is_no_machines_fault() {
        let mut failures = FailuresByWorker::default();
        for worker in ["a", "b", "c"] {
            assert_eq!(play(&mut failures, worker, 20, Termination::Crash), 0, "{worker}");
        }
        let mut losses = FailuresByWorker::default();
        assert_eq!(play(&mut losses, "a", 20, Termination::DrawAdjudication), 0);
        assert_eq!(play(&mut losses, "b", 20, Termination::Checkmate), 0);
    }

    /// The others may have played no game yet.
    #[test]
    fn an_engine_that_fails_on_one_machine_only_is_found_before_the_runs_limit() {
        let mut failures = FailuresByWorker::default();
        assert_eq!(play_to(Some(5), &mut failures, "a", 2, Termination::Crash), 0);
        assert_eq!(play_to(Some(5), &mut failures, "a", 1, Termination::Crash), 2);
        // It fails elsewhere, too.
        assert_eq!(play_to(Some(5), &mut failures, "b", 3, Termination::Crash), 0);
        // It fails in less than half of its games.
        let mut failures = FailuresByWorker::default();
        assert_eq!(play_to(Some(5), &mut failures, "a", 4, Termination::Checkmate), 0);
        assert_eq!(play_to(Some(5), &mut failures, "a", 3, Termination::Crash), 0);
        assert_eq!(play_to(Some(5), &mut failures, "a", 1, Termination::Crash), 1);
        // The run's limit is not of losses on time.
        let mut failures = FailuresByWorker::default();
        assert_eq!(play_to(Some(5), &mut failures, "a", 50, Termination::TimeForfeit), 0);
    }

    #[test]
    fn nobody_is_judged_without_others() {
        let mut failures = FailuresByWorker::default();
        assert_eq!(play(&mut failures, "a", 100, Termination::Crash), 0);
        assert_eq!(play(&mut failures, "b", 9, Termination::Checkmate), 0);
        assert_eq!(play(&mut failures, "a", 100, Termination::Crash), 0, "too few elsewhere");
    }
}
