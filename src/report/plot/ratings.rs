//! Plot of players on one scale, the best first, with error bars.

use super::chart::Span;
use super::page::{Heads, Page, TOP, WIDTH, arrow_head, fitted, number, signed};

/// Maximum number of rows drawn.
const MAX_ROWS: usize = 100;
/// Left edges of names and bars, and the edge between bars and numbers.
const NAMES: f64 = 70.0;
const BARS: f64 = 250.0;
const NUMBERS: f64 = WIDTH - 150.0;

/// Rating of a player.
#[derive(Clone, Debug, PartialEq)]
pub struct RatingRow {
    /// Rank from 1, which players of equal strength share.
    pub rank: usize,
    /// Name of the player.
    pub name: String,
    /// Rating in Elo.
    pub elo: f64,
    /// Half the width of the interval; `None` if there is none, as of an anchor.
    pub error: Option<f64>,
    /// Sign of a bound: `> ` for a player who made every point, `< ` for one who made none; else
    /// empty.
    pub sign: &'static str,
    /// Number of games behind the rating.
    pub games: u64,
}

/// Plot of ratings with their intervals.
#[derive(Clone, Debug, PartialEq)]
pub struct RatingPlot {
    /// Title, subtitle and caption.
    pub heads: Heads,
    /// Label of the scale, such as `Elo, zero is the mean of all`.
    pub scale: String,
    /// Ratings, the best first. Those that are not numbers are left out.
    pub rows: Vec<RatingRow>,
}

impl RatingPlot {
    /// Draws the plot as a complete SVG document.
    #[must_use]
    pub fn to_svg(&self) -> String {
        let finite: Vec<&RatingRow> = self.rows.iter().filter(|row| row.elo.is_finite()).collect();
        let shown = &finite[..finite.len().min(MAX_ROWS)];
        let step = if shown.len() > 30 { 17.0 } else { 24.0 };
        let top = TOP - 4.0;
        let bottom = top + step * shown.len().max(2) as f64 + 4.0;
        let left_out = if shown.len() < finite.len() { 16.0 } else { 0.0 };
        let heads = [&self.heads.title, &self.heads.subtitle, &self.heads.caption].map(String::as_str);
        let mut page = Page::new(heads, bottom + 46.0 + left_out, "");
        let error = |row: &RatingRow| row.error.filter(|error| error.is_finite()).unwrap_or(0.0);
        let ends = shown.iter().flat_map(|row| [row.elo - error(row), row.elo + error(row)]);
        let x = Span::around(ends).widened(0.06);
        let x_of = |value: f64| x.place(value, BARS, NUMBERS);
        let (ticks, decimals) = x.ticks(6.0, 0.0);
        for tick in ticks {
            page.rule("grid", (x_of(tick), top), (x_of(tick), bottom));
            page.text_at(x_of(tick), bottom + 17.0, "middle", "", &number(tick, decimals));
        }
        page.rule("axis", (BARS, bottom), (NUMBERS, bottom));
        page.text_at(f64::midpoint(BARS, NUMBERS), bottom + 37.0, "middle", "", &self.scale);
        for (place, row) in shown.iter().enumerate() {
            let y = top + step * (place as f64 + 0.5);
            page.text_at(NAMES - 8.0, y + 4.0, "end", "", &row.rank.to_string());
            page.text(NAMES, y + 4.0, "ink", &fitted(&row.name, 12.0, BARS - NAMES - 12.0));
            let (low, high) = (x_of(row.elo - error(row)), x_of(row.elo + error(row)));
            if high > low {
                page.rule("error", (low, y), (high, y));
                page.rule("error", (low, y - 4.0), (low, y + 4.0));
                page.rule("error", (high, y - 4.0), (high, y + 4.0));
            }
            let middle = x_of(row.elo);
            match row.sign.trim() {
                "<" => arrow(&mut page, (middle, y), BARS, 6.0),
                ">" => arrow(&mut page, (middle, y), NUMBERS, -6.0),
                _ => page.put(&format!("<circle class=\"mark h1\" cx=\"{middle:.1}\" cy=\"{y:.1}\" r=\"5\"/>")),
            }
            let around = row.error.map_or_else(String::new, |error| format!(" ±{}", number(error, 1)));
            let text = format!("{}{}{around}", row.sign, signed(row.elo, 1));
            page.text(NUMBERS + 10.0, y + 4.0, "ink", &text);
            page.text_at(WIDTH - 8.0, y + 4.0, "end", "small", &number(row.games as f64, 0));
        }
        page.text_at(WIDTH - 8.0, bottom + 17.0, "end", "small", "games");
        if shown.is_empty() {
            page.text_at(f64::midpoint(BARS, NUMBERS), f64::midpoint(top, bottom), "middle", "halo", "no rating yet");
        }
        if left_out > 0.0 {
            let text = format!("and {} more", number((finite.len() - shown.len()) as f64, 0));
            page.text(NAMES, bottom + 37.0 + left_out, "", &text);
        }
        page.finish()
    }
}

/// Draws a bound: an arrow from it to the edge of the scale, because the rating lies somewhere on
/// that side. `head` leads from the edge back into the scale.
fn arrow(page: &mut Page, (bound, y): (f64, f64), edge: f64, head: f64) {
    page.rule("error", (bound, y - 4.0), (bound, y + 4.0));
    page.rule("error", (edge, y), (bound, y));
    arrow_head(page, (edge, y), head);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_is_an_arrow_to_the_edge() {
        let row = |sign, elo| RatingRow { rank: 7, name: "x".to_owned(), elo, error: None, sign, games: 2 };
        let svg = |rows| RatingPlot { heads: Heads::default(), scale: "Elo".to_owned(), rows }.to_svg();
        let plain = svg(vec![row("", -95.0), row("", 541.0)]);
        let bounds = svg(vec![row("", -95.0), row("< ", 541.0), row("> ", 10.0)]);
        assert_eq!([plain.matches("<circle").count(), bounds.matches("<circle").count()], [2, 1]);
        let errors = |svg: &str| svg.matches("class=\"error\"").count();
        assert_eq!((errors(&plain), errors(&bounds)), (0, 8));
        assert_eq!(plain.matches(">7</text>").count(), 2, "the rank is that of the table: {plain}");
    }
}
