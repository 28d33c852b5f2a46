//! Which pairs repeat earlier ones move for move.

use std::collections::HashSet;

use crate::plan::Plan;
use crate::record::GameRecord;

/// Games of the counted pairs of a run, known by their moves.
#[derive(Clone, Debug)]
pub struct Repeats {
    /// `None` if the plan has repeats counted.
    seen: Option<HashSet<u64>>,
}

impl Repeats {
    /// No games yet of `plan`.
    #[must_use]
    pub fn new(plan: &Plan) -> Self {
        Self::unless(plan.count_repeats)
    }

    /// No games yet; nothing is ever a repeat if they are `counted`.
    #[must_use]
    pub fn unless(counted: bool) -> Self {
        Self { seen: (!counted).then(HashSet::new) }
    }

    /// True if every game of the next pair in order repeats one that came before; if not, its games are known from now on.
    pub fn is_repeat(&mut self, games: &[GameRecord]) -> bool {
        let Some(seen) = &mut self.seen else { return false };
        // All games are entered, also after one that is new: no short circuit.
        !games.iter().fold(false, |is_new, game| seen.insert(game.move_hash()) | is_new)
    }
}
