//! Which pairs repeat earlier ones move for move.

use std::collections::HashSet;

use crate::chess;
use crate::plan::Plan;
use crate::record::GameRecord;

/// Games of the counted pairs of a run, known by their moves.
#[derive(Clone, Debug)]
pub struct Repeats {
    /// `None` if repeats count.
    seen: Option<HashSet<u64>>,
    /// Whether a player has a clock.
    is_timed: bool,
}

impl Repeats {
    /// No games yet of `plan`.
    #[must_use]
    pub fn new(plan: &Plan) -> Self {
        Self { is_timed: plan.is_timed(), ..Self::unless(plan.count_repeats) }
    }

    /// True if repeats are left out of all counts. Under a clock they are not: whether a game comes
    /// again depends on how it goes (a short draw does, a long win does not), so leaving them out
    /// would move the score. They add no weight there
    /// ([`Openings::record_repeat`](crate::stats::clusters::Openings::record_repeat)).
    #[must_use]
    pub fn are_left_out(&self) -> bool {
        !self.is_timed
    }

    /// No games yet; nothing is ever a repeat if they are `counted`.
    #[must_use]
    pub fn unless(counted: bool) -> Self {
        Self { seen: (!counted).then(HashSet::new), is_timed: false }
    }

    /// True if every game of the next pair in order repeats one that came before; if not, its games
    /// are known from now on. `openings` are the keys of the games' openings.
    pub fn is_repeat(&mut self, games: &[GameRecord], openings: &[u64]) -> bool {
        let Some(seen) = &mut self.seen else { return false };
        // All games are entered, also after one that is new: no short circuit.
        let keys = games.iter().zip(openings).map(|(game, opening)| chess::game_key(game, *opening));
        !keys.fold(false, |is_new, key| seen.insert(key) | is_new)
    }
}
