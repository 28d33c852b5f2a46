//! Results of each two players: what the blocks, the lines and the configuration file are made of.

use std::collections::BTreeMap;

use crate::record::{Color, GameRecord, PairScore, PlayerId};
use crate::stats::{Pentanomial, Trinomial};

/// Games and pairs of one player against others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Games.
    pub wdl: Trinomial,
    /// Pairs.
    pub ptnml: Pentanomial,
    /// Of the pairs with one point, those with a win and a loss.
    pub mixed: u64,
}

impl Tally {
    /// From the other side.
    #[must_use]
    pub fn reversed(&self) -> Self {
        Self { wdl: self.wdl.reversed(), ptnml: self.ptnml.reversed(), mixed: self.mixed }
    }

    fn add(&mut self, other: &Self) {
        self.wdl.wins += other.wdl.wins;
        self.wdl.draws += other.wdl.draws;
        self.wdl.losses += other.wdl.losses;
        for (mine, theirs) in self.ptnml.0.iter_mut().zip(other.ptnml.0) {
            *mine += theirs;
        }
        self.mixed += other.mixed;
    }

    /// Points: one for a win, half of one for a draw.
    #[must_use]
    pub fn points(&self) -> f64 {
        self.wdl.wins as f64 + self.wdl.draws as f64 / 2.0
    }
}

/// The results of all encounters.
#[derive(Clone, Debug, Default)]
pub struct Scores {
    /// By two players, the lower number first, from its view.
    encounters: BTreeMap<(u16, u16), Tally>,
}

impl Scores {
    /// Counts games of one encounter. Two games of a pair count as a pair as well.
    pub fn count(&mut self, games: &[GameRecord]) {
        let Some(game) = games.first() else { return };
        let (white, black) = (game.players.white.0, game.players.black.0);
        let key = (white.min(black), white.max(black));
        let tally = self.encounters.entry(key).or_default();
        let view = PlayerId(key.0);
        let scores: Vec<u8> = games.iter().filter_map(|game| game.half_points(view)).collect();
        for score in &scores {
            tally.wdl.add(*score);
        }
        if let [first, second] = *scores.as_slice() {
            tally.ptnml.add(PairScore { first, second });
            tally.mixed += u64::from(first.abs_diff(second) == 2);
        }
    }

    /// What `first` has against `second`.
    #[must_use]
    pub fn between(&self, first: PlayerId, second: PlayerId) -> Tally {
        let key = (first.0.min(second.0), first.0.max(second.0));
        let tally = self.encounters.get(&key).copied().unwrap_or_default();
        if first.0 <= second.0 { tally } else { tally.reversed() }
    }

    /// What `player` has against all others.
    #[must_use]
    pub fn of(&self, player: PlayerId) -> Tally {
        let mut sum = Tally::default();
        for (&(low, high), tally) in &self.encounters {
            if low == player.0 {
                sum.add(tally);
            } else if high == player.0 {
                sum.add(&tally.reversed());
            }
        }
        sum
    }

    /// Counted games.
    #[must_use]
    pub fn games(&self) -> u64 {
        self.encounters.values().map(|tally| tally.wdl.games()).sum()
    }
}

/// Who lost a game; `None` for a draw.
pub(super) fn loser(game: &GameRecord) -> Option<PlayerId> {
    [Color::White, Color::Black]
        .into_iter()
        .map(|color| *game.players.get(color))
        .find(|player| game.half_points(*player) == Some(0))
}
