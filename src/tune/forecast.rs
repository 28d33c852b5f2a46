//! Simulation of tunings by the default method: Elo left after a number of games.

use serde::Serialize;

use super::auto::Rule;
use super::landscape::Landscape;

/// Elo at stake per parameter in first tunings.
pub const STAKE_EACH: f64 = 0.9;

/// Pairs in a block if nothing is known of the run: what a few games at once use.
pub const BLOCK: u32 = 16;

/// Games of the table's first row; the next are 2, 5 and 10 times as many, and so on.
const FIRST_ROW: u64 = 1_000;

/// A tuning to play: parameters, Elo of the start below the optimum, games, pairs in a block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setting {
    /// Number of parameters.
    pub params: usize,
    /// Elo of the start below the optimum.
    pub elo: f64,
    /// Number of games.
    pub games: u64,
    /// Pairs in a block.
    pub block: u32,
}

/// A row of the table: names and order are the contract of `quintain simulate --tune --json`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ForecastRow {
    /// Number of games.
    pub games: u64,
    /// Median of the Elo left.
    pub left: f64,
    /// Elo left in the best tenth of the runs.
    pub left_10: f64,
    /// Elo left in all but the worst tenth of the runs.
    pub left_90: f64,
    /// Elo won at the median.
    pub gain: f64,
    /// Share of the runs that end below their start.
    pub worse: f64,
    /// Hours, if the pace is known.
    pub hours: Option<f64>,
}

impl Setting {
    /// Games after which a run is looked at.
    #[must_use]
    pub fn rows(&self) -> Vec<u64> {
        let decades = std::iter::successors(Some(FIRST_ROW), |decade| decade.checked_mul(10));
        let below = decades.flat_map(|decade| [1, 2, 5].map(|times| times * decade));
        let mut rows: Vec<u64> = below.take_while(|games| *games < self.games).collect();
        rows.push(self.games);
        rows
    }

    /// Elo left after the games of each row in the run of a seed.
    #[must_use]
    pub fn play(&self, seed: u64) -> Vec<f64> {
        let landscape = Landscape::new(self.params, 1.0, seed).with_stake(self.elo);
        let Some(space) = landscape.space() else { return Vec::new() };
        let pairs = self.games / 2;
        let rows = self.rows();
        let mut left = Vec::with_capacity(rows.len());
        let run = landscape.tune(Rule::new(space, seed, self.block, Some(pairs)), pairs, |run| {
            while rows.get(left.len()).is_some_and(|games| run.pairs() * 2 >= *games) {
                left.push(landscape.loss(run.mean()));
            }
        });
        // The last pairs may be no whole block.
        left.resize_with(rows.len(), || landscape.loss(run.mean()));
        left
    }

    /// The table of the Elo left in runs as [`play`](Self::play) has them.
    #[must_use]
    pub fn table(&self, runs: &[Vec<f64>], pairs_per_minute: Option<f64>) -> Vec<ForecastRow> {
        let row = |(index, games): (usize, u64)| {
            let mut left: Vec<f64> = runs.iter().filter_map(|run| run.get(index).copied()).collect();
            left.sort_by(f64::total_cmp);
            let quantile = |share: f64| left.get((left.len() as f64 * share) as usize).copied().unwrap_or(self.elo);
            ForecastRow {
                games,
                left: quantile(0.5),
                left_10: quantile(0.1),
                left_90: quantile(0.9),
                gain: self.elo - quantile(0.5),
                worse: left.iter().filter(|left| **left > self.elo).count() as f64 / left.len().max(1) as f64,
                hours: pairs_per_minute.map(|pace| games as f64 / 2.0 / pace / 60.0),
            }
        };
        self.rows().into_iter().enumerate().map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_played_in_its_own_blocks() {
        let play = |block| Setting { params: 4, elo: 30.0, games: 2_000, block }.play(7);
        let (small, large) = (play(BLOCK), play(128));
        // In 500 pairs, large blocks change the values less often.
        assert!(small.len() == 2 && large.len() == 2 && small != large, "{small:?} {large:?}");
    }
}
