//! Plots of a tuning's parameters: traces over the pairs, and distances from the start.

use super::chart::Span;
use super::page::{Heads, LEFT, Page, Sheet, TOP, WIDTH, arrow_head, fitted, number, signed};
use super::{evenly, page};
use crate::stats::elo::Z_95;

/// Maximum number of panels drawn, and their number in a row, by sheet.
const MAX_PANELS: usize = 12;
const COLUMNS: usize = 4;
const NARROW_COLUMNS: usize = 2;
/// Size of a panel, by sheet, gap between two, and room for its name above.
const PANEL_WIDTH: f64 = 168.0;
const NARROW_PANEL_WIDTH: f64 = 142.0;
const PANEL_HEIGHT: f64 = 84.0;
const GAP: f64 = 14.0;
const NAME_HEIGHT: f64 = 20.0;
/// Room below the last panels for ticks and axis label.
const AXIS_DEPTH: f64 = 40.0;

/// Part of an error that is drawn at most, relative to the largest value of the plot.
const BAND_REACH: f64 = 2.5;

/// Classes and names of a trace's parts.
const LEGEND: [(&str, &str); 3] =
    [("path", "result so far"), ("path thin", "centre"), ("band", "± 1.96 standard errors")];

/// Maximum number of bars drawn, and the height of one with its gap.
const MAX_BARS: usize = 40;
const BAR_STEP: f64 = 20.0;
/// Left edges of the names, of the bars and of the numbers beside them, by sheet.
const WIDE_EDGES: [f64; 3] = [LEFT, 250.0, WIDTH - 170.0];
const NARROW_EDGES: [f64; 3] = [10.0, 120.0, 305.0];

/// A parameter after a number of pairs, in steps from the start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TracePoint {
    /// Number of counted pairs.
    pub pairs: u64,
    /// Centre of the perturbations.
    pub theta: f64,
    /// Result so far.
    pub mean: f64,
    /// Standard error around the result, if it is known.
    pub error: Option<f64>,
}

/// Trace of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// Name of the parameter.
    pub name: String,
    /// Points by rising number of pairs.
    pub points: Vec<TracePoint>,
}

/// Plot of traces, a panel each, all on one scale.
#[derive(Clone, Debug, PartialEq)]
pub struct TracePlot {
    /// Title, subtitle and caption.
    pub heads: Heads,
    /// Traces, the most important first. At most twelve are drawn.
    pub traces: Vec<Trace>,
}

impl TracePlot {
    /// Draws the plot as a complete SVG document.
    #[must_use]
    pub fn to_svg(&self) -> String {
        self.to_svg_on(Sheet::Wide)
    }

    /// Draws the plot on a sheet.
    #[must_use]
    pub fn to_svg_on(&self, sheet: Sheet) -> String {
        let shown = &self.traces[..self.traces.len().min(MAX_PANELS)];
        let (columns, width) = match sheet {
            Sheet::Wide => (COLUMNS, PANEL_WIDTH),
            Sheet::Narrow => (NARROW_COLUMNS, NARROW_PANEL_WIDTH),
        };
        let rows = shown.len().div_ceil(columns).max(1);
        let heads = [&self.heads.title, &self.heads.subtitle, &self.heads.caption].map(String::as_str);
        let top = TOP + 8.0 + Page::legend_depth(sheet, LEGEND.len());
        let bottom = top + rows as f64 * (PANEL_HEIGHT + NAME_HEIGHT);
        let mut page = Page::on(sheet, heads, bottom + AXIS_DEPTH, "");
        page.legend(&LEGEND);
        let y = span(shown);
        let last = shown.iter().filter_map(|trace| trace.points.last()).map(|point| point.pairs).max().unwrap_or(0);
        let x = Span { low: 0.0, high: (last as f64).max(1.0) };
        for (place, trace) in shown.iter().enumerate() {
            let at = Panel {
                left: sheet.left() + (place % columns) as f64 * (width + GAP),
                top: top + NAME_HEIGHT + (place / columns) as f64 * (PANEL_HEIGHT + NAME_HEIGHT),
                width,
                x,
                y,
            };
            at.draw(&mut page, trace, place.is_multiple_of(columns));
            if place + columns >= shown.len() {
                at.name_ends(&mut page, last);
            }
        }
        let middle = sheet.left() + f64::midpoint(0.0, columns as f64 * (width + GAP) - GAP);
        page.text_at(middle, bottom + 34.0, "middle", "", "game pairs counted");
        let edge = if sheet == Sheet::Wide { 18.0 } else { 15.0 };
        page.text_upwards(edge, f64::midpoint(top, bottom), "steps from the start");
        if shown.iter().all(|trace| trace.points.is_empty()) {
            page.text_at(middle, f64::midpoint(top, bottom), "middle", "halo", "no block of pairs counted yet");
        }
        page.finish()
    }
}

/// Value range of all panels. Bands in the first half of a trace do not decide it, because they
/// are far wider. Bands far beyond all values would flatten them. Both are cut.
fn span(traces: &[Trace]) -> Span {
    let finite = |value: &f64| value.is_finite();
    let points = || traces.iter().flat_map(|trace| &trace.points);
    let values = || points().flat_map(|point| [point.theta, point.mean]).filter(finite);
    let most = BAND_REACH * values().map(f64::abs).fold(0.0, f64::max);
    let bands = traces.iter().flat_map(|trace| trace.points.iter().skip(trace.points.len() / 2)).flat_map(|point| {
        let error = point.error.unwrap_or(0.0) * Z_95;
        [point.mean - error, point.mean + error]
    });
    let bands = bands.filter(finite).map(|value| value.clamp(-most, most));
    Span::around(values().chain(bands).chain([0.0])).widened(0.05)
}

/// Position of a panel and its scales.
struct Panel {
    left: f64,
    top: f64,
    width: f64,
    x: Span,
    y: Span,
}

impl Panel {
    fn x_of(&self, value: f64) -> f64 {
        self.x.place(value, self.left, self.left + self.width)
    }

    fn y_of(&self, value: f64) -> f64 {
        let (top, bottom) = (self.top, self.top + PANEL_HEIGHT);
        self.y.place(value, bottom, top).clamp(top, bottom)
    }

    fn draw(&self, page: &mut Page, trace: &Trace, has_ticks: bool) {
        let (left, right, bottom) = (self.left, self.left + self.width, self.top + PANEL_HEIGHT);
        let (ticks, decimals) = self.y.ticks(4.0, 0.0);
        for tick in ticks {
            page.rule("grid", (left, self.y_of(tick)), (right, self.y_of(tick)));
            if has_ticks {
                page.text_at(left - 6.0, self.y_of(tick) + 4.0, "end", "small", &number(tick, decimals));
            }
        }
        page.rule("level zero", (left, self.y_of(0.0)), (right, self.y_of(0.0)));
        let finite = |point: &&TracePoint| point.theta.is_finite() && point.mean.is_finite();
        let points: Vec<TracePoint> = evenly(&trace.points.iter().filter(finite).copied().collect::<Vec<_>>());
        let banded: Vec<&TracePoint> = points.iter().filter(|point| point.error.is_some_and(f64::is_finite)).collect();
        if banded.len() > 1 {
            let edge = |sign: f64| {
                let end = move |point: &&TracePoint| {
                    (point.pairs, point.mean + sign * Z_95 * point.error.unwrap_or_default())
                };
                banded.iter().map(end).collect::<Vec<_>>()
            };
            let outline: Vec<(u64, f64)> = edge(1.0).into_iter().chain(edge(-1.0).into_iter().rev()).collect();
            self.path(page, "polygon", "band", &outline);
        }
        let along = |value: fn(&TracePoint) -> f64| -> Vec<(u64, f64)> {
            std::iter::once((0, 0.0)).chain(points.iter().map(|point| (point.pairs, value(point)))).collect()
        };
        self.path(page, "polyline", "path thin", &along(|point| point.theta));
        self.path(page, "polyline", "path", &along(|point| point.mean));
        page.rule("axis", (left, bottom), (right, bottom));
        let moved = points.last().map_or_else(String::new, |point| signed(point.mean, 2));
        page.text_at(right, self.top - 6.0, "end", "ink", &moved);
        let room = self.width - page::text_width(&moved, 12.0) - 8.0;
        page.text(left, self.top - 6.0, "ink", &fitted(&trace.name, 12.0, room));
    }

    /// Writes the first and last number of pairs below the panel.
    fn name_ends(&self, page: &mut Page, last: u64) {
        let baseline = self.top + PANEL_HEIGHT + 14.0;
        page.text_at(self.left, baseline, "start", "small", "0");
        page.text_at(self.left + self.width, baseline, "end", "small", &number(last as f64, 0));
    }

    fn path(&self, page: &mut Page, element: &str, class: &str, points: &[(u64, f64)]) {
        let place = |(pairs, value): &(u64, f64)| format!("{:.1},{:.1}", self.x_of(*pairs as f64), self.y_of(*value));
        let text = points.iter().map(place).collect::<Vec<_>>().join(" ");
        page.put(&format!("<{element} class=\"{class}\" points=\"{text}\"/>"));
    }
}

/// Final move of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Move {
    /// Name of the parameter.
    pub name: String,
    /// Distance from the start in steps.
    pub moved: f64,
    /// Standard error, if it is known.
    pub error: Option<f64>,
    /// First and last value as text.
    pub told: String,
}

/// Plot of the distances moved: a bar each, with a 95 % error bar.
#[derive(Clone, Debug, PartialEq)]
pub struct MovePlot {
    /// Title, subtitle and caption.
    pub heads: Heads,
    /// Moves, the most important first. At most forty are drawn, without those that are not
    /// numbers.
    pub moves: Vec<Move>,
}

impl MovePlot {
    /// Draws the plot as a complete SVG document.
    #[must_use]
    pub fn to_svg(&self) -> String {
        self.to_svg_on(Sheet::Wide)
    }

    /// Draws the plot on a sheet. A narrow one has no room for the values before and after.
    #[must_use]
    pub fn to_svg_on(&self, sheet: Sheet) -> String {
        let [left, bars, numbers] = if sheet == Sheet::Wide { WIDE_EDGES } else { NARROW_EDGES };
        let finite: Vec<&Move> = self.moves.iter().filter(|one| one.moved.is_finite()).collect();
        let shown = &finite[..finite.len().min(MAX_BARS)];
        let (top, left_out) = (TOP - 4.0, finite.len() - shown.len());
        let bottom = top + BAR_STEP * shown.len().max(2) as f64 + 4.0;
        let heads = [&self.heads.title, &self.heads.subtitle, &self.heads.caption].map(String::as_str);
        let mut page = Page::on(sheet, heads, bottom + if left_out > 0 { 62.0 } else { 46.0 }, "");
        let error = |one: &Move| one.error.filter(|error| error.is_finite()).map(|error| Z_95 * error);
        // An error far beyond all bars would flatten them, so it is cut.
        let most = shown.iter().map(|one| one.moved.abs()).fold(0.0, f64::max) * BAND_REACH;
        let reach = |one: &Move| error(one).unwrap_or(0.0).min((most - one.moved.abs()).max(0.0));
        let ends = shown.iter().flat_map(|one| [one.moved - reach(one), one.moved + reach(one)]);
        let x = Span::around(ends.chain([0.0])).widened(0.04);
        let x_of = |value: f64| x.place(value, bars, numbers).clamp(bars, numbers);
        let (ticks, decimals) = x.ticks(if sheet == Sheet::Wide { 6.0 } else { 3.0 }, 0.0);
        for tick in ticks {
            page.rule("grid", (x_of(tick), top), (x_of(tick), bottom));
            page.text_at(x_of(tick), bottom + 17.0, "middle", "", &number(tick, decimals));
        }
        for (place, one) in shown.iter().enumerate() {
            let y = top + BAR_STEP * (place as f64 + 0.5);
            page.text(left, y + 4.0, "ink", &fitted(&one.name, 12.0, bars - left - 12.0));
            let (from, to) = (x_of(one.moved.min(0.0)), x_of(one.moved.max(0.0)));
            let class = if one.moved < 0.0 { "bar b1" } else { "bar b3" };
            page.rect(class, (from, y - 6.0), (to - from, 12.0), &format!("{}: {}", one.name, one.told));
            if let Some(error) = error(one) {
                let [low, high] = [one.moved - error, one.moved + error];
                page.rule("error", (x_of(low), y), (x_of(high), y));
                for (end, edge, back) in [(low, bars, 6.0), (high, numbers, -6.0)] {
                    if (x.place(end, bars, numbers) - edge) * back < 0.0 {
                        arrow_head(&mut page, (edge, y), back);
                    }
                }
            }
            page.text(numbers + 10.0, y + 4.0, "ink", &signed(one.moved, 2));
            if sheet == Sheet::Wide {
                page.text_at(WIDTH - 8.0, y + 4.0, "end", "small", &fitted(&one.told, 10.0, 100.0));
            }
        }
        page.rule("level zero", (x_of(0.0), top), (x_of(0.0), bottom));
        page.rule("axis", (bars, bottom), (numbers, bottom));
        let middle = f64::midpoint(bars, numbers);
        page.text_at(middle, bottom + 37.0, "middle", "", "steps from the start, with 95 % intervals");
        if left_out > 0 {
            page.text(left, bottom + 53.0, "", &format!("and {} more", number(left_out as f64, 0)));
        }
        if shown.is_empty() {
            page.text_at(middle, f64::midpoint(top, bottom), "middle", "halo", "nothing moved yet");
        }
        page.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::well_formed_below;
    use super::*;

    fn trace(name: &str, points: usize) -> Trace {
        let point = |place: usize| {
            let pairs = (place as u64 + 1) * 16;
            let moved = place as f64 / 50.0;
            TracePoint { pairs, theta: moved + 0.1, mean: moved, error: Some(40.0 / (1.0 + place as f64)) }
        };
        Trace { name: name.to_owned(), points: (0..points).map(point).collect() }
    }

    #[test]
    fn traces_have_a_panel_each_and_stay_on_the_page() {
        let heads = Heads { title: "Traces".to_owned(), ..Heads::default() };
        for (traces, points) in [(0, 0), (1, 0), (1, 1), (3, 2), (12, 240), (40, 30)] {
            let traces = (0..traces).map(|place| trace(&format!("<param {place}>"), points)).collect::<Vec<_>>();
            let svg = TracePlot { heads: heads.clone(), traces: traces.clone() }.to_svg();
            well_formed_below(&svg, 520.0);
            assert_eq!(svg.matches("class=\"path thin\" points").count(), traces.len().min(12) + 1);
            assert_eq!(svg.matches("&lt;param").count(), traces.len().min(12));
            assert_eq!(svg.matches("class=\"band\" points").count(), if points > 1 { traces.len().min(12) } else { 0 });
        }
    }

    #[test]
    fn wide_bands_do_not_flatten_the_traces() {
        let mut wide = trace("p", 100);
        for point in &mut wide.points {
            point.error = Some(1e6);
        }
        let y = span(&[wide]);
        assert!(y.high > 3.0 && y.high < 10.0 && y.low < -3.0 && y.low > -10.0, "{} {}", y.low, y.high);
    }

    #[test]
    fn bars_begin_at_zero_and_reach_what_moved() {
        let one = |name: &str, moved: f64, error: Option<f64>| Move {
            name: name.to_owned(),
            moved,
            error,
            told: "80 to 92".to_owned(),
        };
        let heads = Heads::default();
        let moves = vec![one("up", 2.0, Some(0.5)), one("down", -1.0, Some(1e9)), one("absent", f64::NAN, None)];
        let svg = MovePlot { heads: heads.clone(), moves }.to_svg();
        well_formed_below(&svg, 520.0);
        assert_eq!(
            (svg.matches("<rect class=\"bar b3\"").count(), svg.matches("<rect class=\"bar b1\"").count()),
            (1, 1)
        );
        // Two intervals, and two arrow heads of two strokes at the ends of the one that is cut.
        assert_eq!(svg.matches("class=\"error\"").count(), 2 + 2 * 2);
        assert!(svg.contains("+2.00") && svg.contains("\u{2212}1.00") && !svg.contains("absent"));
        let many = (0..60).map(|place| one(&format!("p{place}"), f64::from(place), None)).collect();
        let many = MovePlot { heads: heads.clone(), moves: many };
        for (sheet, width) in [(Sheet::Wide, 800), (Sheet::Narrow, 360)] {
            let svg = many.to_svg_on(sheet);
            well_formed_below(&svg, 1_000.0);
            assert!(svg.contains("and 20 more") && svg.contains(&format!("viewBox=\"0 0 {width} ")), "{svg}");
            assert_eq!(svg.matches("class=\"bar b3\"").count(), 40);
        }
        well_formed_below(&MovePlot { heads, moves: Vec::new() }.to_svg(), 520.0);
    }
}
