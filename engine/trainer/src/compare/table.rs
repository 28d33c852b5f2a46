//! Results of a comparison as text and JSON.

use super::evaluation::Entrant;
use crate::data::write_texts;
use quintain::report::standings::{self, StandingsRow};
use quintain::run::play::PlayedRun;
use serde::Serialize;
use std::path::Path;

/// Likelihood of superiority from which a lead counts as certain.
const SURE: f64 = 0.95;

/// Results of a comparison so far.
#[derive(Debug)]
pub struct Outcome {
    /// Table for people.
    pub text: String,
    /// JSON document of the same results.
    pub json: String,
}

/// JSON document; its field names are a stable interface.
#[derive(Serialize)]
struct CompareJson<'a> {
    /// Name of the first player in the standings; `None` before the first game.
    best: Option<&'a str>,
    /// Probability that the first player is stronger than the second.
    los: Option<f64>,
    pairs: u64,
    players: Vec<JsonPlayer<'a>>,
}

#[derive(Serialize)]
struct JsonPlayer<'a> {
    rank: usize,
    name: &'a str,
    evaluation: String,
    sha256: Option<String>,
    /// Elo rating, relative to the mean of all players.
    elo: Option<f64>,
    /// Half the width of the 95 % interval.
    elo_error: Option<f64>,
    games: u64,
    wins: u64,
    draws: u64,
    losses: u64,
}

impl Outcome {
    /// Creates the results of the games so far.
    pub fn of(players: &[Entrant], played: &PlayedRun) -> Outcome {
        let rows = standings::rows(&played.plan, &played.scoreboard);
        let first = rows.first().filter(|row| row.wdl.games() > 0);
        let los = match (&played.scoreboard.ratings(), rows.as_slice()) {
            (Ok(ratings), [first, second, ..]) => {
                ratings.los(usize::from(first.player.0), usize::from(second.player.0))
            }
            _ => None,
        };
        let mut lines = standings::table(&rows, None);
        lines.push(verdict(&rows, los, players));
        Outcome { text: lines.join("\n"), json: json(players, &rows, first, los, played.scoreboard.pairs()) }
    }

    /// Writes both forms into a folder.
    ///
    /// # Errors
    /// Fails if a file cannot be written.
    pub fn write(&self, folder: &Path) -> anyhow::Result<()> {
        Ok(write_texts(folder, &[("compare.txt", &self.text), ("compare.json", &self.json)])?)
    }
}

fn verdict(rows: &[StandingsRow], los: Option<f64>, players: &[Entrant]) -> String {
    let [first, second, ..] = rows else { return String::new() };
    if first.wdl.games() == 0 {
        return "nothing was played yet".to_owned();
    }
    let evaluation = players.get(usize::from(first.player.0)).map(|player| player.evaluation.to_string());
    let best = format!("best: {}, {}", first.name, evaluation.unwrap_or_default());
    los.map_or_else(|| best.clone(), |los| format!("{best}; {}", lead(&second.name, los)))
}

/// Describes the first player's lead by its probability of being stronger than the second.
pub(super) fn lead(second: &str, los: f64) -> String {
    let percent = 100.0 * los;
    if los >= SURE {
        return format!("stronger than {second} with {percent:.1} %");
    }
    // A run keeps its number of pairs, so more pairs need another folder.
    format!("but {second} is not significantly weaker ({percent:.1} %): play more --pairs with another --out")
}

fn json(
    players: &[Entrant],
    rows: &[StandingsRow],
    first: Option<&StandingsRow>,
    los: Option<f64>,
    pairs: u64,
) -> String {
    let player = |row: &StandingsRow| {
        let evaluation = &players.get(usize::from(row.player.0))?.evaluation;
        Some((row.clone(), evaluation))
    };
    let rows: Vec<_> = rows.iter().filter_map(player).collect();
    let document = CompareJson {
        best: first.map(|row| row.name.as_str()),
        los: los.filter(|_| first.is_some()),
        pairs,
        players: rows
            .iter()
            .map(|(row, evaluation)| JsonPlayer {
                rank: row.rank,
                name: &row.name,
                evaluation: evaluation.to_string(),
                sha256: evaluation.sha256(),
                elo: row.elo(),
                elo_error: row.error(),
                games: row.wdl.games(),
                wins: row.wdl.wins,
                draws: row.wdl.draws,
                losses: row.wdl.losses,
            })
            .collect(),
    };
    serde_json::to_string_pretty(&document).unwrap_or_default()
}
