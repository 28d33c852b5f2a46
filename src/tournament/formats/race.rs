//! A race: the base, the first player, meets every other one; who is shown to be hopeless plays no more.
//!
//! Rounds are of some pairs of every take that is left. Who plays a round is decided by the results before the round that precedes it,
//! so that no slot waits for the last game of a round.

use serde::{Deserialize, Serialize};

use crate::record::PlayerId;
use crate::stats::race::{self, Settings};
use crate::tournament::formats::{
    Definition, Encounter, Format, PairResult, Pairs, Parameters, Rules, Stages, in_turn,
};

/// Entry in the table of formats. Openings may not come again, because the bets of a race are on
/// pairs that are independent of each other.
pub static DEFINITION: Definition = Definition {
    takes: &["race"],
    is_open: true,
    needs_fresh_openings: true,
    lower_first: true,
    ..Definition::new("race", "a race", |parameters| Some(Format::new(Race { rule: parameters.race? })))
};

/// Rule by which a take is dropped from a race ([`crate::stats::race`]); a table of a stored plan.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RaceRule {
    /// The probability that anything the race says is false, between 0 and 1.
    pub alpha: f64,
    /// Elo that a take must gain on the first player.
    pub gain: f64,
    /// Elo by which another take may be stronger than the winner; 0 if the winner must be the only
    /// one left.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub close: f64,
    /// Pairs of each take between two decisions, from 1.
    pub step: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(elo: &f64) -> bool {
    *elo == 0.0
}

/// A race: all others meet the first player until they are shown to be hopeless.
#[derive(Clone, Copy, Debug)]
pub struct Race {
    /// When a take is dropped.
    pub rule: RaceRule,
}

impl Rules for Race {
    fn definition(&self) -> &'static Definition {
        &DEFINITION
    }

    fn parameters(&self) -> Parameters {
        Parameters { race: Some(self.rule), ..Parameters::default() }
    }

    fn encounters(&self, players: u16) -> u64 {
        u64::from(players.saturating_sub(1))
    }

    fn pairs(&self, players: u16, pairs: Option<u64>) -> Pairs {
        Pairs::Stages(Box::new(Rounds::new(players, self.rule, pairs.unwrap_or(u64::MAX))))
    }
}

/// The rounds of a race on its way.
#[derive(Debug)]
struct Rounds {
    race: race::Race,
    /// Results taken so far.
    taken: usize,
    rule: RaceRule,
    /// Pairs that each take which is left may still be given.
    left: u64,
}

impl Rounds {
    /// At the start. `pairs` is the most that a take plays.
    fn new(players: u16, rule: RaceRule, pairs: u64) -> Self {
        let settings = Settings { alpha: rule.alpha, gain: rule.gain, close: rule.close };
        Self { race: race::Race::new(usize::from(players.saturating_sub(1)), settings), taken: 0, rule, left: pairs }
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
}

impl Stages for Rounds {
    fn next(&mut self, before: &[PairResult]) -> Vec<Encounter> {
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

    fn looks_ahead(&self) -> bool {
        true
    }
}

/// How a race of these results stands.
#[must_use]
pub fn replay(players: u16, rule: RaceRule, results: &[PairResult]) -> race::Race {
    let mut rounds = Rounds::new(players, rule, 0);
    rounds.take(results);
    rounds.race
}
