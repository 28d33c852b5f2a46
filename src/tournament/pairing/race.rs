//! A race: the base, the first player, meets every other one; who is shown to be hopeless plays no more.
//!
//! Rounds are of some pairs of every take that is left. Who plays a round is decided by the results before the round that precedes it,
//! so that no slot waits for the last game of a round.

use crate::plan::RaceRule;
use crate::record::PlayerId;
use crate::stats::race::{Race, Settings};
use crate::tournament::pairing::{Encounter, PairResult, in_turn};

/// A race on its way.
#[derive(Clone, Debug)]
pub struct Rounds {
    race: Race,
    /// Results taken so far.
    taken: usize,
    rule: RaceRule,
    /// Pairs that each take which is left may still be given.
    left: u64,
}

impl Rounds {
    /// At the start. `pairs` is the most that a take plays.
    #[must_use]
    pub fn new(players: u16, rule: RaceRule, pairs: u64) -> Self {
        let settings = Settings { alpha: rule.alpha, gain: rule.gain, close: rule.close };
        Self { race: Race::new(usize::from(players.saturating_sub(1)), settings), taken: 0, rule, left: pairs }
    }

    /// Takes the results that are new among `results`.
    fn take(&mut self, results: &[PairResult]) {
        for result in results.get(self.taken..).unwrap_or_default() {
            self.taken += 1;
            let (base, take) = result.players;
            let number = usize::from(take.0.saturating_sub(1));
            match result.games {
                _ if base != PlayerId(0) => {}
                2 => self.race.record(number, 4u8.saturating_sub(result.half_points)),
                // Not left out: the take's later pairs are from later openings.
                _ => self.race.pass_over(number),
            }
        }
    }

    /// The next round, given the results that decide it; empty at the end.
    pub fn stage(&mut self, before: &[PairResult]) -> Vec<Encounter> {
        self.take(before);
        let pairs = self.left.min(u64::from(self.rule.step));
        if self.race.is_over() || pairs == 0 {
            return Vec::new();
        }
        self.left -= pairs;
        let playing: Vec<Encounter> = self
            .race
            .left()
            .into_iter()
            .filter_map(|take| Some((PlayerId(0), PlayerId(u16::try_from(take + 1).ok()?))))
            .collect();
        in_turn(&playing, pairs)
    }
}

/// How a race of these results stands.
#[must_use]
pub fn replay(players: u16, rule: RaceRule, results: &[PairResult]) -> Race {
    let mut rounds = Rounds::new(players, rule, 0);
    rounds.take(results);
    rounds.race
}
