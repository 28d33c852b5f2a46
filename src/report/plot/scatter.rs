//! Plot of named points, such as the strength of players against their speed.

use super::chart::{Chart, Frame, Scale, Span, Ticks};
use super::page::{Heads, Sheet, TOP, text_width};
use crate::text::escaped;

/// Maximum number of points drawn.
const MAX_POINTS: usize = 100;
/// Size of the letters beside a point, in SVG units.
const LETTERS: f64 = 12.0;
/// Radius of a point, and its distance from its name.
const RADIUS: f64 = 5.0;
const GAP: f64 = 5.0;

/// Named point with the errors of its values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScatterPoint {
    /// Name of the point. It is shown beside the point if there is room.
    pub name: String,
    /// Value along the lower axis.
    pub x: f64,
    /// Value along the left axis.
    pub y: f64,
    /// Half the length of the horizontal error bar; `None` for no bar.
    pub x_error: Option<f64>,
    /// Half the length of the vertical error bar; `None` for no bar.
    pub y_error: Option<f64>,
}

/// Plot of named points over two axes. Each point bears its number, from 1.
#[derive(Clone, Debug, PartialEq)]
pub struct ScatterPlot {
    /// Title, subtitle and caption.
    pub heads: Heads,
    /// Label of the lower axis.
    pub x_label: String,
    /// Label of the left axis.
    pub y_label: String,
    /// Points, numbered from 1. At most 100 are drawn, without those that are not numbers.
    pub points: Vec<ScatterPoint>,
}

/// Rectangle on the sheet: left, top, right, bottom.
type Area = [f64; 4];

fn overlaps(a: &Area, b: &Area) -> bool {
    a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3]
}

impl ScatterPlot {
    /// Draws the plot as a complete SVG document.
    #[must_use]
    pub fn to_svg(&self) -> String {
        self.to_svg_on(Sheet::Wide)
    }

    /// Draws the plot on a sheet.
    #[must_use]
    pub fn to_svg_on(&self, sheet: Sheet) -> String {
        let finite = |point: &(usize, &ScatterPoint)| point.1.x.is_finite() && point.1.y.is_finite();
        let points: Vec<(usize, &ScatterPoint)> = (1..).zip(&self.points).filter(finite).take(MAX_POINTS).collect();
        let ends = |of: fn(&ScatterPoint) -> (f64, Option<f64>)| {
            let ends = points.iter().map(move |(_, point)| of(point));
            let ends = ends.flat_map(|(value, error)| [value - size(error), value + size(error)]);
            Span::around(ends).widened(0.08)
        };
        let frame = Frame {
            sheet,
            title: &self.heads.title,
            subtitle: &self.heads.subtitle,
            caption: &self.heads.caption,
            x_label: &self.x_label,
            y_label: &self.y_label,
            y_scale: Scale::Linear,
            x_ticks: Ticks::Fine,
            x: ends(|point| (point.x, point.x_error)),
            y: ends(|point| (point.y, point.y_error)),
        };
        let mut chart = Chart::new(&frame);
        for (_, point) in &points {
            bars(&mut chart, point);
        }
        let at = |point: &ScatterPoint| (chart.x_of(point.x), chart.y_of(point.y));
        let places: Vec<(f64, f64)> = points.iter().map(|(_, point)| at(point)).collect();
        let mut taken: Vec<Area> =
            places.iter().map(|(x, y)| [x - RADIUS, y - RADIUS, x + RADIUS, y + RADIUS]).collect();
        for ((number, point), (x, y)) in points.iter().zip(&places) {
            let name = escaped(&format!("{number} {}", point.name));
            chart.page.put(&format!(
                "<circle class=\"mark h1\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{RADIUS}\"><title>{name}</title></circle>"
            ));
        }
        for ((number, point), place) in points.iter().zip(&places) {
            let texts = [format!("{number} {}", point.name), number.to_string()];
            label(&mut chart, &texts, *place, &mut taken);
        }
        if points.is_empty() {
            chart.note("nothing measured yet");
        }
        chart.finish()
    }
}

/// Length of an error bar's half; 0 for no bar.
fn size(error: Option<f64>) -> f64 {
    error.filter(|error| error.is_finite()).unwrap_or(0.0)
}

fn bars(chart: &mut Chart, point: &ScatterPoint) {
    let (x, y) = (chart.x_of(point.x), chart.y_of(point.y));
    let (dx, dy) = (size(point.x_error), size(point.y_error));
    if dx > 0.0 {
        let ends = (chart.x_of(point.x - dx), chart.x_of(point.x + dx));
        chart.page.rule("error", (ends.0, y), (ends.1, y));
    }
    if dy > 0.0 {
        let ends = (chart.y_of(point.y - dy), chart.y_of(point.y + dy));
        chart.page.rule("error", (x, ends.0), (x, ends.1));
    }
}

/// Writes the first of the texts that is free of all taken areas in one of the quadrants around a
/// point. Without room for any, the last stands in the first quadrant.
fn label(chart: &mut Chart, texts: &[String], (x, y): (f64, f64), taken: &mut Vec<Area>) {
    let sheet = [chart.left(), TOP, chart.right(), chart.bottom()];
    let area = |text: &str, place: usize| -> Area {
        let width = text_width(text, LETTERS);
        // Beside the arms of the error bars.
        let left = if place < 2 { x + GAP } else { x - GAP - width };
        let top = if place.is_multiple_of(2) { y - LETTERS - 2.0 } else { y + 2.0 };
        [left, top, left + width, top + LETTERS]
    };
    let is_free = |area: &Area| {
        let is_within = area[0] >= sheet[0] && area[1] >= sheet[1] && area[2] <= sheet[2] && area[3] <= sheet[3];
        is_within && !taken.iter().any(|other| overlaps(area, other))
    };
    let tries = texts.iter().flat_map(|text| (0..4).map(move |place| (text, place)));
    let found = tries.map(|(text, place)| (text, area(text, place))).find(|(_, area)| is_free(area));
    let last = texts.last().map(|text| (text, area(text, 0)));
    let Some((text, area)) = found.or(last) else { return };
    chart.page.text(area[0], area[3] - 2.0, "halo ink", text);
    taken.push(area);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(points: Vec<ScatterPoint>) -> ScatterPlot {
        ScatterPlot { heads: Heads::default(), x_label: "loss".to_owned(), y_label: "Elo".to_owned(), points }
    }

    fn point(name: &str, x: f64, y: f64) -> ScatterPoint {
        ScatterPoint { name: name.to_owned(), x, y, x_error: Some(0.5), y_error: None }
    }

    #[test]
    fn points_bear_their_names_and_crowded_ones_their_numbers() {
        let svg = plot(vec![point("piece", 1.0, 2.0), point("file & rank", 30.0, 40.0)]).to_svg();
        assert_eq!((svg.matches("<circle").count(), svg.matches("class=\"error\"").count()), (2, 2));
        assert!(svg.contains(">1 piece</text>") && svg.contains(">2 file &amp; rank</text>"), "{svg}");
        // Many points on one place: the names have no room, the numbers remain.
        let crowd: Vec<ScatterPoint> = (0..20).map(|_| point("a long name of a set", 1.0, 1.0)).collect();
        let svg = plot(crowd).to_svg_on(Sheet::Narrow);
        assert!(svg.contains(">20</text>") && svg.matches("<title>").count() == 21, "{svg}");
    }

    #[test]
    fn points_without_values_are_not_drawn() {
        let svg = plot(vec![point("a", f64::NAN, 1.0), point("b", 1.0, f64::INFINITY)]).to_svg();
        assert!(svg.contains("nothing measured yet") && !svg.contains("<circle") && !svg.contains("NaN"), "{svg}");
        let svg = plot(vec![point("a", f64::NAN, 1.0), point("b", 1.0, 1.0)]).to_svg();
        assert!(svg.contains(">2 b</text>"), "the number is the place in the list: {svg}");
    }
}
