//! Page `lab.html`: results of a grid in one self-contained file.

use super::table::{HEAD, LabRow, LabTable, RowElo};
use quintain::report::html;
use quintain::report::plot::{Heads, ScatterPlot, ScatterPoint, Sheet};
use quintain::text::escaped;
use std::fmt::Write as _;

/// Creates the page.
pub fn page(table: &LabTable) -> String {
    let mut body = String::new();
    for note in signed(table.notes()) {
        let _ = writeln!(body, "<p class=\"soft\">{}</p>", escaped(&note));
    }
    let plots = plots(table);
    for (class, sheet) in [("plots broad", Sheet::Wide), ("narrow", Sheet::Narrow)] {
        let _ = writeln!(body, "<div class=\"{class}\">");
        plots.iter().for_each(|plot| body.push_str(&plot.to_svg_on(sheet)));
        body.push_str("</div>\n");
    }
    body.push_str("<h2>Sets</h2>\n");
    let columns: Vec<String> = HEAD
        .iter()
        .enumerate()
        .map(|(place, head)| if (1..3).contains(&place) { String::new() } else { "#".to_owned() } + head)
        .collect();
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    let rows: Vec<Vec<String>> = table.rows.iter().map(|row| signed(row.cells().to_vec())).collect();
    html::table(&mut body, &columns, &rows);
    body.push_str("<h2>Networks</h2>\n");
    html::table(&mut body, &CELLS, &cells(table));
    html::document(&table.title, &body, "")
}

/// Heads of the table of networks.
const CELLS: [&str; 8] =
    ["network", "#loss", "#score", "#int error cp", "#worst %", "#Elo, equal nodes", "#Elo, equal time", "#k nodes/s"];

fn cells(table: &LabTable) -> Vec<Vec<String>> {
    let dash = || "-".to_owned();
    let cell = |row: &super::cell::CellRow| {
        let training = row.training.as_ref();
        let elo = |games: Option<&super::cell::CellGames>| match games {
            Some(games) => {
                let pairs = games.pairs();
                match (games.elo, games.standard_error()) {
                    (Some(elo), Some(error)) => format!("{elo:+.1} +- {error:.1}, {pairs} pairs"),
                    _ => format!("{} won, {} lost, {pairs} pairs", games.wins, games.losses),
                }
            }
            None => dash(),
        };
        let nps = row.time.as_ref().or(row.nodes.as_ref()).and_then(|games| games.nps);
        signed(vec![
            row.name.clone(),
            training.map_or_else(dash, |training| format!("{:.6}", training.validation)),
            training.map_or_else(dash, |training| format!("{:.6}", training.score)),
            training.map_or_else(dash, |training| format!("{:.2}", training.mean_error)),
            training.map_or_else(dash, |training| format!("{:.2}", 100.0 * training.win_worst)),
            elo(row.nodes.as_ref()),
            elo(row.time.as_ref()),
            nps.map_or_else(dash, |nps| format!("{:.0}", nps / 1e3)),
        ])
    };
    table.cells.iter().map(cell).collect()
}

/// Writes plus or minus as one sign.
fn signed(cells: Vec<String>) -> Vec<String> {
    cells.into_iter().map(|cell| cell.replace("+-", "±")).collect()
}

/// Value with half its 95 % interval, if that is known.
type PlotValue = (f64, Option<f64>);

/// Pictures of the grid: strength by loss, strength by speed, and both strengths.
fn plots(table: &LabTable) -> Vec<ScatterPlot> {
    let [nodes, time] = &table.limits;
    let shapes = table.rows.iter().map(|row| (&row.kind, row.hidden));
    let is_one_shape = shapes.clone().all(|shape| Some(shape) == shapes.clone().next());
    let name = |row: &LabRow| match is_one_shape {
        true => row.set.clone(),
        false => format!("{} {} {}", row.set, row.kind, row.hidden),
    };
    let elo = |row: &LabRow, of: fn(&LabRow) -> Option<RowElo>| match of(row) {
        Some(elo) => Some((elo.elo?, LabRow::interval(elo.error))),
        None => row.is_opponent.then_some((0.0, None)),
    };
    let at_nodes: fn(&LabRow) -> Option<RowElo> = |row| row.elo_at_nodes;
    let at_time: fn(&LabRow) -> Option<RowElo> = |row| row.elo_at_time;
    let loss = |row: &LabRow| row.loss.map(|loss| (loss.mean, LabRow::interval(loss.error)));
    let speed = |row: &LabRow| row.nps.map(|nps| (nps.mean / 1e3, LabRow::interval(nps.error.map(|e| e / 1e3))));
    let points = |x: &dyn Fn(&LabRow) -> Option<PlotValue>, y: fn(&LabRow) -> Option<RowElo>| {
        let point = |row: &LabRow| {
            let nothing = (f64::NAN, None);
            let ((x, x_error), (y, y_error)) = (x(row).unwrap_or(nothing), elo(row, y).unwrap_or(nothing));
            ScatterPoint { name: name(row), x, y, x_error, y_error }
        };
        table.rows.iter().map(point).collect::<Vec<_>>()
    };
    let heads = |title: &str, subtitle: String| Heads {
        title: title.to_owned(),
        subtitle,
        caption: format!("{}: against {}, bars of 95 %", table.title, table.opponent),
    };
    let mut plots = Vec::new();
    if let Some(limit) = nodes {
        plots.push(ScatterPlot {
            heads: heads("Strength by loss", format!("equal nodes: {limit}")),
            x_label: "loss on held-out positions".to_owned(),
            y_label: "Elo at equal nodes".to_owned(),
            points: points(&loss, at_nodes),
        });
    }
    if let Some(limit) = time {
        plots.push(ScatterPlot {
            heads: heads("Strength by loss, with its cost", format!("equal time: {limit}")),
            x_label: "loss on held-out positions".to_owned(),
            y_label: "Elo at equal time".to_owned(),
            points: points(&loss, at_time),
        });
        plots.push(ScatterPlot {
            heads: heads("Strength by speed", format!("equal time: {limit}")),
            x_label: "thousand nodes per second".to_owned(),
            y_label: "Elo at equal time".to_owned(),
            points: points(&speed, at_time),
        });
    }
    if let (Some(_), Some(_)) = (nodes, time) {
        plots.push(ScatterPlot {
            heads: heads("Prediction and cost", "below the diagonal a set pays for its updates".to_owned()),
            x_label: "Elo at equal nodes".to_owned(),
            y_label: "Elo at equal time".to_owned(),
            points: points(&|row| elo(row, at_nodes), at_time),
        });
    }
    plots
}
