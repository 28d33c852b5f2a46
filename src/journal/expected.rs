//! Games that a journal may hold: a right checksum says that a line is as it was written, not that its game can be.

use std::io::BufRead;
use std::path::Path;

use super::{JournalError, Replayed};
use crate::chess::{Position, Variant};
use crate::plan::{Colors, Plan};
use crate::record::{GameRecord, Leg};

/// What a run's plan says of each of its games.
#[derive(Clone, Debug)]
pub struct Expected {
    /// SHA-256 of the plan's text; `None` holds any journal to it. Games of another plan are told by their header.
    plan_sha256: Option<String>,
    players: usize,
    variant: Variant,
    /// Given if the player of the lower number comes first in each pair.
    colors: Option<Colors>,
}

impl Expected {
    /// What `plan`, whose text has this hash if it is known, says of its games.
    #[must_use]
    pub fn new(plan: &Plan, plan_sha256: Option<String>) -> Self {
        Self {
            plan_sha256,
            players: plan.players.len(),
            variant: plan.rules.variant,
            colors: plan.format.definition().lower_first.then_some(plan.colors),
        }
    }

    /// [`read`](super::read), held to what the plan says.
    ///
    /// # Errors
    /// As [`read`](super::read), and [`JournalError::Damaged`] for a game that cannot be one of the plan's.
    pub fn read(&self, path: &Path, each: impl FnMut(GameRecord)) -> Result<Replayed, JournalError> {
        super::read_file(path, Some(self), each)
    }

    /// [`read_from`](super::read_from), held to what the plan says.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_from(
        &self,
        reader: impl BufRead,
        path: &Path,
        each: impl FnMut(GameRecord),
    ) -> Result<Replayed, JournalError> {
        super::read_lines(reader, path, Some(self), each)
    }

    /// True if it is about the games under a header with this hash.
    pub(super) fn is_of(&self, plan_sha256: &str) -> bool {
        self.plan_sha256.as_ref().is_none_or(|own| own == plan_sha256)
    }

    /// What cannot be in a record, if anything cannot.
    pub(super) fn fault(&self, game: &GameRecord) -> Option<String> {
        let (white, black) = (game.players.white, game.players.black);
        if white == black {
            return Some(format!("player {} is both sides", white.0));
        }
        if let Some(player) = [white, black].into_iter().find(|player| usize::from(player.0) >= self.players) {
            return Some(format!("the plan has no player {}", player.0));
        }
        if let Some(Colors { swap, reverse }) = self.colors {
            let is_reversed = reverse != (swap && game.id.leg == Leg::Second);
            if (white > black) != is_reversed {
                return Some(format!("player {} has White in a game where the plan gives it Black", white.0));
            }
        }
        Position::from_fen(&game.opening.fen, self.variant).err().map(|error| error.to_string())
    }
}
