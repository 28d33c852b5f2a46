//! Consistency of a journal's games with their plan.
//!
//! A right checksum says that a line is as it was written, not that its game can be one of the
//! plan.

use std::io::BufRead;
use std::path::Path;

use super::{GameChecksums, JournalError, JournalReading};
use crate::chess::{Position, Variant};
use crate::plan::{Colors, Plan};
use crate::record::{GameRecord, Leg};

/// Facts of a plan that each of its games must agree with.
#[derive(Clone, Debug)]
pub struct PlanFacts {
    /// SHA-256 of the plan's text; `None` accepts a header with any hash. A header with another
    /// hash means games of another plan, which are not checked.
    plan_sha256: Option<String>,
    players: usize,
    variant: Variant,
    /// Colours by leg, given if the player of the lower number comes first in each pair.
    colors: Option<Colors>,
}

impl PlanFacts {
    /// Creates the check for games of `plan`. `plan_sha256` is the hash of its text, if known.
    #[must_use]
    pub fn new(plan: &Plan, plan_sha256: Option<String>) -> Self {
        Self {
            plan_sha256,
            players: plan.players.len(),
            variant: plan.rules.variant,
            colors: plan.format.definition().lower_first.then_some(plan.colors),
        }
    }

    /// Reads a journal as [`read`](super::read) does and checks its games against the plan.
    ///
    /// # Errors
    /// As [`read`](super::read), and [`JournalError::Damaged`] for a game that cannot be one of the
    /// plan.
    pub fn read(&self, path: &Path, each: impl FnMut(GameRecord)) -> Result<JournalReading, JournalError> {
        super::read_file(path, Some(self), each)
    }

    /// Reads lines as [`read_from`](super::read_from) does and checks their games against the plan.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_from(
        &self,
        reader: impl BufRead,
        path: &Path,
        mut each: impl FnMut(GameRecord),
    ) -> Result<JournalReading, JournalError> {
        self.read_placed(reader, path, &mut GameChecksums::default(), |game, _| each(game))
    }

    /// Reads lines as [`read_from`](Self::read_from) does, and passes with each game the number of
    /// bytes before its line. `known` has the games of earlier lines, and takes these.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub(crate) fn read_placed(
        &self,
        reader: impl BufRead,
        path: &Path,
        known: &mut GameChecksums,
        each: impl FnMut(GameRecord, u64),
    ) -> Result<JournalReading, JournalError> {
        super::read_lines(reader, path, Some(self), known, each)
    }

    /// True if games under a header with this hash are checked.
    pub(super) fn is_of(&self, plan_sha256: &str) -> bool {
        self.plan_sha256.as_ref().is_none_or(|own| own == plan_sha256)
    }

    /// Reason for which a game cannot be one of the plan, if there is one.
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
