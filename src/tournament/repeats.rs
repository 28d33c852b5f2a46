//! Detection of pairs that repeat earlier ones move for move.

use std::collections::HashSet;

use crate::chess;
use crate::plan::Plan;
use crate::record::GameRecord;

/// Games of the counted pairs of a run, as hashes of opening and moves.
#[derive(Clone, Debug)]
pub struct Repeats {
    /// `None` if repeats count.
    seen: Option<HashSet<u64>>,
    /// True if a player has a clock.
    is_timed: bool,
}

impl Repeats {
    /// Creates the empty set for `plan`.
    #[must_use]
    pub fn new(plan: &Plan) -> Self {
        Self { is_timed: plan.is_timed(), ..Self::unless(plan.count_repeats) }
    }

    /// True if repeats are left out of all counts. Under a clock they are not, because a repeat
    /// there depends on the result: a short draw comes again, a long win does not. To leave them
    /// out would bias the score. They add no weight instead
    /// ([`Openings::record_repeat`](crate::stats::clusters::Openings::record_repeat)).
    #[must_use]
    pub fn are_left_out(&self) -> bool {
        !self.is_timed
    }

    /// Creates the empty set. If repeats are `counted`, nothing is ever a repeat.
    #[must_use]
    pub fn unless(counted: bool) -> Self {
        Self { seen: (!counted).then(HashSet::new), is_timed: false }
    }

    /// True if every game of the next pair in order repeats an earlier one. Records the games
    /// otherwise. `openings` are the keys of the games' openings.
    pub fn is_repeat(&mut self, games: &[GameRecord], openings: &[u64]) -> bool {
        let Some(seen) = &mut self.seen else { return false };
        // Enters all games, also those after a new one: no short circuit.
        let keys = games.iter().zip(openings).map(|(game, opening)| chess::game_key(game, *opening));
        !keys.fold(false, |is_new, key| seen.insert(key) | is_new)
    }
}
