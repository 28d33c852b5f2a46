//! The workers of a run as a table: `ctl workers`, summaries, pages and the dashboard.

use serde::{Deserialize, Serialize};

use crate::stats::elo::fixed;
use crate::text::{columns, printable};
use crate::tournament::scoreboard::Scoreboard;
use crate::tournament::workers::{WorkerFigures, WorkerStatus};

/// A worker with the figures of its games. Null if not known: a finished run has no states.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkerRow {
    /// Name of the worker.
    pub name: String,
    /// Processor and number of cores.
    #[serde(default)]
    pub machine: Option<String>,
    /// Games that it plays at once.
    #[serde(default)]
    pub slots: Option<u16>,
    /// Nodes per second of the reference engine in its last games.
    #[serde(default)]
    pub nps: Option<u64>,
    /// Factor of its times; null if they are those of the plan.
    #[serde(default)]
    pub scale: Option<f64>,
    /// Finished games, void ones included.
    pub games: u64,
    /// Counted pairs.
    pub pairs: u64,
    /// Score of its pairs against that of the others, in standard errors. Nothing is decided by it.
    pub score_z: Option<f64>,
    /// Games lost on time.
    pub time_losses: u64,
    /// Void games.
    pub voided: u64,
    /// Games lost by a crash, a stall or an illegal move.
    pub failures: u64,
    /// Pairs that were played again because the worker was lost.
    #[serde(default)]
    pub lost: Option<u64>,
    /// Pairs that another worker played alike.
    #[serde(default)]
    pub verified: Option<u64>,
    /// State in words, with its reason.
    #[serde(default)]
    pub state: Option<String>,
}

/// Heads of the table's columns; `#` marks numbers.
pub const HEADS: [&str; 14] = [
    "worker",
    "machine",
    "#slots",
    "#nps",
    "#scale",
    "#games",
    "#pairs",
    "#score z",
    "#time losses",
    "#void",
    "#failures",
    "#lost",
    "#verified",
    "state",
];

/// Rows of the workers that played games of the run or are known to its coordinator, by name.
///
/// Workers that were seen last are those of `scoreboard`, unless `statuses` are newer.
#[must_use]
pub fn rows(scoreboard: &Scoreboard, statuses: &[WorkerStatus]) -> Vec<WorkerRow> {
    let statuses = if statuses.is_empty() { scoreboard.workers().last_seen() } else { statuses };
    let played = scoreboard.workers().rows().map(|(name, figures, score_z)| row(name, figures, score_z));
    let mut rows: Vec<WorkerRow> = played.collect();
    for status in statuses {
        let place = rows.iter().position(|row| row.name == status.name).unwrap_or_else(|| {
            rows.push(row(&status.name, WorkerFigures::default(), None));
            rows.len() - 1
        });
        let row = &mut rows[place];
        row.machine = (!status.machine.is_empty()).then(|| status.machine.clone());
        (row.slots, row.lost, row.verified) = (Some(status.slots), Some(status.lost), status.verified);
        row.state = Some(status.state.clone());
    }
    rows.sort_by(|a, b| a.name.cmp(&b.name));
    rows
}

fn row(name: &str, figures: WorkerFigures, score_z: Option<f64>) -> WorkerRow {
    let WorkerFigures { games, pairs, time_losses, voided, failures, nps, scale, .. } = figures;
    let name = name.to_owned();
    let scale = scale.map(|scale| f64::from(scale.millionths()) / 1e6);
    let (machine, slots, lost, verified, state) = (None, None, None, None, None);
    WorkerRow {
        name,
        machine,
        slots,
        nps,
        scale,
        games,
        pairs,
        score_z,
        time_losses,
        voided,
        failures,
        lost,
        verified,
        state,
    }
}

impl WorkerRow {
    /// Cells under [`HEADS`].
    #[must_use]
    pub fn cells(&self) -> [String; HEADS.len()] {
        let known = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
        let text = |value: &Option<String>| known(value.as_deref().map(printable));
        [
            printable(&self.name),
            text(&self.machine),
            known(self.slots.map(|slots| slots.to_string())),
            known(self.nps.map(|nps| nps.to_string())),
            known(self.scale.map(|scale| fixed(scale, 6))),
            self.games.to_string(),
            self.pairs.to_string(),
            known(self.score_z.map(|z| format!("{}{}", if z > 0.0 { "+" } else { "" }, fixed(z, 1)))),
            self.time_losses.to_string(),
            self.voided.to_string(),
            self.failures.to_string(),
            known(self.lost.map(|lost| lost.to_string())),
            known(self.verified.map(|verified| verified.to_string())),
            text(&self.state),
        ]
    }
}

/// Lines of the table, without columns that are not known of any worker.
#[must_use]
pub fn table(rows: &[WorkerRow]) -> Vec<String> {
    let cells: Vec<_> = rows.iter().map(WorkerRow::cells).collect();
    let known: Vec<_> = (0..HEADS.len()).filter(|column| cells.iter().any(|row| row[*column] != "-")).collect();
    let heads: Vec<_> = known.iter().map(|column| HEADS[*column]).collect();
    let rows: Vec<Vec<_>> = cells.iter().map(|row| known.iter().map(|column| row[*column].clone()).collect()).collect();
    columns(&heads, &rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_leaves_out_what_is_not_known() {
        let mut figures = WorkerFigures::default();
        (figures.games, figures.pairs) = (25, 12);
        let [mut first, mut second] = [row("anna-box", figures, Some(-0.44)), row("b\u{1b}[31m", figures, None)];
        assert_eq!(
            table(&[first.clone(), second.clone()]),
            [
                "worker    games  pairs  score z  time losses  void  failures",
                "anna-box     25     12     -0.4            0     0         0",
                "b\u{fffd}[31m       25     12        -            0     0         0",
            ]
        );
        (first.nps, first.scale) = (Some(2_190_000), Some(1.36));
        let lines = table(&[first.clone(), second.clone()]);
        assert_eq!(lines[0], "worker        nps     scale  games  pairs  score z  time losses  void  failures");
        assert!(lines[1].starts_with("anna-box  2190000  1.360000     25"), "{lines:?}");
        first.state = Some("playing pair 13".to_owned());
        second.state = Some("dropped".to_owned());
        let lines = table(&[first, second]);
        assert!(lines[0].ends_with("  state") && lines[1].ends_with("  playing pair 13"), "{lines:?}");
    }
}
