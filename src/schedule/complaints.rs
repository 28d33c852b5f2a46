//! Failures that engines report during the games of a run, shown once each.

use crate::plan::Plan;
use crate::record::{GameId, PlayerId};

/// Maximum number of failures shown per player, because an engine may put a number into each.
const MOST_TOLD: usize = 8;

/// Failures already shown, by player.
#[derive(Debug)]
pub(super) struct Complaints {
    told: Vec<Vec<String>>,
}

impl Complaints {
    /// Starts with the failures from before the first game as shown.
    pub(super) fn new(plan: &Plan) -> Self {
        Self { told: plan.players.iter().map(|player| player.complaints.clone()).collect() }
    }

    /// Returns the message for a failure; `None` if it was already shown, or too many were.
    pub(super) fn message(&mut self, plan: &Plan, game: GameId, player: PlayerId, text: String) -> Option<String> {
        let place = usize::from(player.0);
        let (told, player) = (self.told.get_mut(place)?, plan.players.get(place)?);
        if told.contains(&text) || told.len() >= player.complaints.len() + MOST_TOLD {
            return None;
        }
        let message = format!("engine {}, in game {}: {text}", player.name, game.number());
        told.push(text);
        Some(message)
    }
}
