//! A race: the base, the first player, meets every candidate. Candidates shown to be hopeless are
//! dropped.
//!
//! A round is a number of pairs of each candidate that is left. The results before the previous
//! round decide the players of a round, so no slot waits for the last game of a round.

use serde::{Deserialize, Serialize};

use crate::record::PlayerId;
use crate::stats::race::{self, RaceSettings};
use crate::tournament::formats::{
    Definition, Encounter, Format, FormatRules, PairResult, Pairs, Parameters, Stages, in_turn,
};

/// Entry in the table of formats.
///
/// Openings may not come again, because the bets of a race are on pairs that are independent of
/// each other.
pub static DEFINITION: Definition = Definition {
    command: "race",
    takes: &["race"],
    is_open: true,
    needs_fresh_openings: true,
    lower_first: true,
    ..Definition::new("race", "a race", |parameters| Some(Format::new(Race { rule: parameters.race? })))
};

/// Rule by which a candidate is dropped from a race ([`crate::stats::race`]); a table of a stored
/// plan.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RaceRule {
    /// Probability that any conclusion of the race is false, between 0 and 1.
    pub alpha: f64,
    /// Elo that a candidate must gain on the first player.
    pub gain: f64,
    /// Elo by which another candidate may be stronger than the winner; 0 if the winner must be the
    /// only one left.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub close: f64,
    /// Pairs of each candidate between two decisions, from 1.
    pub step: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(elo: &f64) -> bool {
    *elo == 0.0
}

/// A race: all others meet the first player until they are shown to be hopeless.
#[derive(Clone, Copy, Debug)]
pub struct Race {
    /// Rule by which a candidate is dropped.
    pub rule: RaceRule,
}

impl FormatRules for Race {
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
        Pairs::Stages(Box::new(RaceRounds::new(players, self.rule, pairs.unwrap_or(u64::MAX))))
    }
}

/// Rounds of a race in progress.
#[derive(Debug)]
struct RaceRounds {
    race: race::RaceState,
    /// Number of results recorded so far.
    taken: usize,
    rule: RaceRule,
    /// Pairs that each remaining candidate may still play.
    left: u64,
}

impl RaceRounds {
    /// Creates a race before its first round. `pairs` is the limit of each candidate.
    fn new(players: u16, rule: RaceRule, pairs: u64) -> Self {
        let settings = RaceSettings { alpha: rule.alpha, gain: rule.gain, close: rule.close };
        Self {
            race: race::RaceState::new(usize::from(players.saturating_sub(1)), settings),
            taken: 0,
            rule,
            left: pairs,
        }
    }

    /// Records the results that are new among `results`.
    fn record(&mut self, results: &[PairResult]) {
        for result in results.get(self.taken..).unwrap_or_default() {
            self.taken += 1;
            let (base, candidate) = result.players;
            let number = usize::from(candidate.0.saturating_sub(1));
            match result.games {
                _ if base != PlayerId(0) => {}
                2 => self.race.record(number, 4u8.saturating_sub(result.half_points)),
                // Passed over, not ignored, because the candidate's later pairs have later
                // openings.
                _ => self.race.pass_over(number),
            }
        }
    }
}

impl Stages for RaceRounds {
    fn next(&mut self, before: &[PairResult]) -> Vec<Encounter> {
        self.record(before);
        let pairs = self.left.min(u64::from(self.rule.step));
        if self.race.is_over() || pairs == 0 {
            return Vec::new();
        }
        self.left -= pairs;
        let playing: Vec<Encounter> = self
            .race
            .left()
            .into_iter()
            .filter_map(|candidate| Some((PlayerId(0), PlayerId(u16::try_from(candidate + 1).ok()?))))
            .collect();
        in_turn(&playing, pairs)
    }

    fn looks_ahead(&self) -> bool {
        true
    }
}

/// State of a race after these results.
#[must_use]
pub fn replay(players: u16, rule: RaceRule, results: &[PairResult]) -> race::RaceState {
    let mut rounds = RaceRounds::new(players, rule, 0);
    rounds.record(results);
    rounds.race
}
