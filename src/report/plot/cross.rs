//! Cross table of players as a map of colours.

use std::fmt::Write as _;

use super::page::{Heads, Page, TOP, WIDTH, fitted, number};

/// Maximum number of players drawn.
const MAX_PLAYERS: usize = 100;
/// Left edge of the cells, and their largest size.
const LEFT: f64 = 236.0;
const LARGEST: f64 = 52.0;
/// Colours from 0 to 100 percent of the points: from vermilion over the page's colour to blue.
const STEPS: usize = 11;
/// Colours of both ends and the middle in light and in dark: red, green, blue.
const LIGHT: [[f64; 3]; 3] = [[184.0, 74.0, 0.0], [240.0, 242.0, 245.0], [0.0, 98.0, 163.0]];
const DARK: [[f64; 3]; 3] = [[245.0, 160.0, 90.0], [42.0, 49.0, 58.0], [108.0, 184.0, 240.0]];

/// Result of the row's player against the column's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CrossCell {
    /// Points, with a half for a draw.
    pub points: f64,
    /// Number of games.
    pub games: u64,
}

/// Cross table.
#[derive(Clone, Debug, PartialEq)]
pub struct CrossPlot {
    /// Title, subtitle and caption.
    pub heads: Heads,
    /// Players, the best first.
    pub names: Vec<String>,
    /// Results row by row; `None` for players that did not meet. Missing rows and cells count as
    /// that.
    pub cells: Vec<Vec<Option<CrossCell>>>,
}

impl CrossPlot {
    /// Draws the plot as a complete SVG document.
    #[must_use]
    pub fn to_svg(&self) -> String {
        let players = self.names.len().min(MAX_PLAYERS);
        let size = ((WIDTH - LEFT - 24.0) / players.max(1) as f64).min(LARGEST);
        // Names need a line's height, so the letters shrink with the cells.
        let letters = size.clamp(5.0, 12.0);
        let top = TOP + 20.0;
        let bottom = top + size * players.max(1) as f64;
        let heads = [&self.heads.title, &self.heads.subtitle, &self.heads.caption].map(String::as_str);
        let mut page = Page::new(heads, bottom + 44.0, &style());
        for (row, name) in self.names.iter().take(players).enumerate() {
            let y = top + size * (row as f64 + 0.5);
            self.row(&mut page, (row, players), (top, size));
            let base = y + letters * 0.36;
            let sized = |page: &mut Page, x: f64, anchor: &str, text: &str| {
                page.text_at(x, base, anchor, &format!("ink t{}", letters.floor()), text);
            };
            sized(&mut page, 48.0, "end", &(row + 1).to_string());
            sized(&mut page, 56.0, "start", &fitted(name, letters, LEFT - 66.0));
            // Numbers every nth column alone, if columns are too narrow for all numbers.
            let every = (20.0 / size).ceil().max(1.0) as usize;
            if row == 0 || (row + 1).is_multiple_of(every) {
                page.text_at(LEFT + size * (row as f64 + 0.5), top - 6.0, "middle", "", &(row + 1).to_string());
            }
        }
        key(&mut page, bottom);
        if players == 0 {
            page.text_at(WIDTH / 2.0, top + 20.0, "middle", "halo", "no players");
        }
        if players < self.names.len() {
            page.text(56.0, bottom + 30.0, "", &format!("and {} more", self.names.len() - players));
        }
        page.finish()
    }

    fn row(&self, page: &mut Page, (row, players): (usize, usize), (top, size): (f64, f64)) {
        for column in 0..players {
            let at = (LEFT + size * column as f64, top + size * row as f64);
            let gap = if size > 10.0 { 1.0 } else { 0.25 };
            let side = (size - gap, size - gap);
            let cell = self.cells.get(row).and_then(|cells| cells.get(column)).copied().flatten();
            let cell = cell.filter(|cell| row != column && cell.games > 0 && cell.points.is_finite());
            let Some(CrossCell { points, games }) = cell else {
                page.rect(if row == column { "self" } else { "none" }, at, side, "");
                continue;
            };
            let share = (points / games as f64).clamp(0.0, 1.0);
            let step = (share * (STEPS - 1) as f64).round();
            let decimals = if points.fract() == 0.0 { 0 } else { 1 };
            let told =
                format!("{} against {}: {}/{games}", self.names[row], self.names[column], number(points, decimals));
            page.rect(&format!("c{step}"), at, side, &told);
            let ink = match (step - 5.0).abs() {
                4.0.. => "on",
                3.0.. => "mid",
                _ => "ink",
            };
            let (x, y) = (at.0 + size / 2.0, at.1 + size / 2.0 + 4.0);
            if size >= 40.0 {
                page.text_at(x, y - 5.0, "middle", ink, &number(share * 100.0, 0));
                page.text_at(x, y + 9.0, "middle", &format!("small {ink}"), &games_text(games));
            } else if size >= 20.0 {
                page.text_at(x, y, "middle", &format!("small {ink}"), &number(share * 100.0, 0));
            }
        }
    }
}

/// Formats `of 12`, shortened for large numbers.
fn games_text(games: u64) -> String {
    match games {
        0..10_000 => format!("of {games}"),
        _ => format!("of {}k", games / 1000),
    }
}

/// Draws the key to the colours.
fn key(page: &mut Page, bottom: f64) {
    let side = 18.0;
    let y = bottom + 16.0;
    let left = LEFT + 40.0;
    page.text_at(left - 8.0, y + 13.0, "end", "", "0 %");
    for step in 0..STEPS {
        page.rect(&format!("c{step}"), (left + side * step as f64, y), (side, side), "");
    }
    page.text(left + side * STEPS as f64 + 8.0, y + 13.0, "", "100 % of the points, by the player of the row");
}

/// CSS rules for the steps between these three colours.
fn steps(colors: &[[f64; 3]; 3]) -> String {
    let half = (STEPS - 1) / 2;
    let mut css = String::new();
    for step in 0..STEPS {
        let (from, to, part) =
            if step <= half { (colors[0], colors[1], step) } else { (colors[1], colors[2], step - half) };
        let part = part as f64 / half as f64;
        let [r, g, b] = [0, 1, 2].map(|at| (from[at] + (to[at] - from[at]) * part).round() as u8);
        // Writing into memory cannot fail.
        let _ = writeln!(css, ".qp .c{step}{{fill:#{r:02x}{g:02x}{b:02x}}}");
    }
    css
}

/// CSS for the cells, light and dark.
fn style() -> String {
    let (light, dark) = (steps(&LIGHT), steps(&DARK));
    let sizes: String = (5..12).map(|size| format!(".qp text.t{size}{{font-size:{size}px}}\n")).collect();
    format!(
        "{light}.qp .self{{fill:#c4cad1}}\n.qp .none{{fill:none;stroke:#dfe4ea;stroke-width:.5}}\n\
         .qp text.on{{fill:#ffffff}}\n.qp text.mid{{fill:#1b1f24}}\n{sizes}\
         @media (prefers-color-scheme:dark){{\n{dark}.qp .self{{fill:#4a535d}}\n.qp .none{{stroke:#2a313a}}\n\
         .qp text.on,.qp text.mid{{fill:#14181d}}\n}}\n"
    )
}
