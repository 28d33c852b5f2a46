//! Results of each two players, for blocks, score lines and the configuration file.

use std::collections::BTreeMap;

use crate::record::{Color, GameRecord, PairScore, PlayerId};
use crate::stats::{Pentanomial, Trinomial};

/// Games and pairs of one player against one or all others.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tally {
    /// Games by result.
    pub wdl: Trinomial,
    /// Those of them in which this player had White.
    pub white: Trinomial,
    /// Pairs by points.
    pub ptnml: Pentanomial,
    /// Pairs of one point that are a win and a loss, not two draws.
    pub mixed: u64,
    /// Factor of repeated openings and pairs on the variance of the score; at most 1 if none came
    /// twice.
    pub design_effect: f64,
}

impl Tally {
    /// The same results from the opponent's view.
    #[must_use]
    pub fn reversed(&self) -> Self {
        let white = self.black().reversed();
        Self { wdl: self.wdl.reversed(), white, ptnml: self.ptnml.reversed(), ..*self }
    }

    /// Games in which this player had Black, by result.
    #[must_use]
    pub fn black(&self) -> Trinomial {
        Trinomial {
            wins: self.wdl.wins - self.white.wins,
            draws: self.wdl.draws - self.white.draws,
            losses: self.wdl.losses - self.white.losses,
        }
    }

    fn merge(&mut self, other: &Self) {
        self.wdl += other.wdl;
        self.white += other.white;
        self.ptnml += other.ptnml;
        self.mixed += other.mixed;
    }

    /// Points: 1 for a win, 0.5 for a draw.
    #[must_use]
    pub fn points(&self) -> f64 {
        self.wdl.points()
    }
}

/// Results of all encounters.
#[derive(Clone, Debug, Default)]
pub struct Scores {
    /// Results by two players, the lower number first, from that player's view.
    encounters: BTreeMap<(u16, u16), Tally>,
}

impl Scores {
    /// Records the games of one encounter. Two games also count as a pair.
    pub fn record(&mut self, games: &[GameRecord]) {
        let Some(game) = games.first() else { return };
        let (white, black) = (game.players.white.0, game.players.black.0);
        let key = (white.min(black), white.max(black));
        let tally = self.encounters.entry(key).or_default();
        let view = PlayerId(key.0);
        let mut scores = Vec::with_capacity(2);
        for game in games {
            let Some(score) = game.half_points(view) else { continue };
            scores.push(score);
            tally.wdl.record(score);
            if game.players.white == view {
                tally.white.record(score);
            }
        }
        if let [first, second] = *scores.as_slice() {
            tally.ptnml.record(PairScore { first, second });
            tally.mixed += u64::from(first.abs_diff(second) == 2);
        }
    }

    /// Sets the factor of repeated openings and pairs of two players, the lower number first.
    pub fn weigh(&mut self, (low, high): (PlayerId, PlayerId), design_effect: f64) {
        if let Some(tally) = self.encounters.get_mut(&(low.0, high.0)) {
            tally.design_effect = design_effect;
        }
    }

    /// Results of `first` against `second`.
    #[must_use]
    pub fn between(&self, first: PlayerId, second: PlayerId) -> Tally {
        let key = (first.0.min(second.0), first.0.max(second.0));
        let tally = self.encounters.get(&key).copied().unwrap_or_default();
        if first.0 <= second.0 { tally } else { tally.reversed() }
    }

    /// Results of `player` against all others. The design effect is the mean over its encounters,
    /// weighted by games. It treats one opening's effects in several encounters as independent.
    #[must_use]
    pub fn of(&self, player: PlayerId) -> Tally {
        let mut sum = Tally::default();
        let mut effects = 0.0;
        for (&(low, high), tally) in &self.encounters {
            let own = if low == player.0 {
                *tally
            } else if high == player.0 {
                tally.reversed()
            } else {
                continue;
            };
            effects += own.wdl.games() as f64 * own.design_effect.max(1.0);
            sum.merge(&own);
        }
        let games = sum.wdl.games() as f64;
        Tally { design_effect: if games > 0.0 { effects / games } else { 1.0 }, ..sum }
    }

    /// Number of games.
    #[must_use]
    pub fn games(&self) -> u64 {
        self.encounters.values().map(|tally| tally.wdl.games()).sum()
    }
}

/// Loser of a game; `None` for a draw.
pub(super) fn loser(game: &GameRecord) -> Option<PlayerId> {
    [Color::White, Color::Black]
        .into_iter()
        .map(|color| *game.players.get(color))
        .find(|player| game.half_points(*player) == Some(0))
}
