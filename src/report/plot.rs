//! Plots of a run as SVG, written by hand. The same numbers give the same bytes on any machine.
//!
//! Every plot is 800 units wide, and some also 360 for phones. It follows the reader's light or
//! dark setting by itself. Its colours differ for the colour-blind too, and nothing is told by
//! colour alone. Input is plain numbers and strings. `page` has the sheet, colours and texts,
//! `chart` the axes. With the feature `png` plots are also written as bitmaps, in a font of their
//! own.

mod bars;
mod chart;
mod cross;
mod curve;
mod page;
#[cfg(feature = "png")]
pub mod png;
mod progression;
mod ratings;
mod scatter;
mod stacked;
mod time;
mod tuned;

pub use bars::{HistogramPlot, HistogramSeries, PtnmlPlot};
pub use chart::Scale;
pub use cross::{CrossCell, CrossPlot};
pub use curve::{Band, CurvePlot};
pub use page::{Heads, Sheet};
pub use progression::{PlottedVersion, ProgressionPlot, VersionMark};
pub use ratings::{RatingPlot, RatingRow};
pub use scatter::{ScatterPlot, ScatterPoint};
pub use stacked::stacked;
pub use time::{TimePlot, TimeSeries, TimeUse};
pub use tuned::{Move, MovePlot, Trace, TracePlot, TracePoint};

use chart::{Chart, Frame, Span, Ticks};

/// Maximum number of points drawn. More would not be visible and make files large.
const MAX_POINTS: usize = 1000;

/// Plot of a test's log-likelihood ratio (LLR) between its bounds.
#[derive(Clone, Debug, PartialEq)]
pub struct LlrPlot {
    /// Title, which names the test.
    pub title: String,
    /// Subtitle, which states the result.
    pub subtitle: String,
    /// Small print: conditions, machine, date.
    pub caption: String,
    /// LLR after each counted pair.
    pub points: Vec<f64>,
    /// Bound at which H0 is accepted, negative.
    pub lower: f64,
    /// Bound at which H1 is accepted, positive.
    pub upper: f64,
}

impl LlrPlot {
    /// Draws the plot as a complete SVG document.
    #[must_use]
    pub fn to_svg(&self) -> String {
        self.to_svg_on(Sheet::Wide)
    }

    /// Draws the plot on a sheet.
    #[must_use]
    pub fn to_svg_on(&self, sheet: Sheet) -> String {
        // The path begins at an LLR of 0.
        let mut path = vec![(0.0, 0.0)];
        path.extend(numbered(&self.points));
        let path = thinned(&path);
        let (pairs, last) = path[path.len() - 1];
        let values = path.iter().map(|point| point.1).chain([self.lower, self.upper]);
        // Room above and below the bounds for their labels.
        let frame = Frame {
            sheet,
            title: &self.title,
            subtitle: &self.subtitle,
            caption: &self.caption,
            x_label: "game pairs counted",
            y_label: "log-likelihood ratio (natural log)",
            y_scale: Scale::Linear,
            x_ticks: Ticks::Whole,
            x: Span { low: 0.0, high: pairs.max(1.0) },
            y: Span::around(values).widened(0.1),
        };
        let mut chart = Chart::new(&frame);
        chart.level(0.0, "zero", "");
        chart.level(self.upper, "h1", &format!("H1 {}", page::number(self.upper, 2)));
        chart.level(self.lower, "h0", &format!("H0 {}", page::number(self.lower, 2)));
        chart.line(&path, "path");
        let reached = page::number(last, 2);
        if path.len() == 1 {
            chart.note("no pair counted yet");
        } else if last >= self.upper {
            chart.end_mark((pairs, last), "h1");
            chart.verdict(last, "h1", &format!("{reached}: H1 accepted"));
        } else if last <= self.lower {
            chart.end_mark((pairs, last), "h0");
            chart.verdict(last, "h0", &format!("{reached}: H0 accepted"));
        } else {
            chart.end_mark((pairs, last), "open");
            chart.label(last, "open", &reached);
        }
        chart.finish()
    }
}

/// Elo estimate after a number of pairs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EloPoint {
    /// Number of counted pairs.
    pub pairs: u64,
    /// Estimate in Elo.
    pub elo: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end of its interval.
    pub high: f64,
}

/// Plot of an Elo estimate and its narrowing interval.
#[derive(Clone, Debug, PartialEq)]
pub struct EloPlot {
    /// Title, which names the measurement.
    pub title: String,
    /// Subtitle, which states the result.
    pub subtitle: String,
    /// Small print: conditions, machine, date.
    pub caption: String,
    /// Unit of the estimates, such as `Elo` or `nElo`.
    pub unit: &'static str,
    /// Estimates by rising number of pairs. Infinite ones are not drawn.
    pub points: Vec<EloPoint>,
}

impl EloPlot {
    /// Draws the plot as a complete SVG document.
    #[must_use]
    pub fn to_svg(&self) -> String {
        self.to_svg_on(Sheet::Wide)
    }

    /// Draws the plot on a sheet.
    #[must_use]
    pub fn to_svg_on(&self, sheet: Sheet) -> String {
        let finite = |point: &&EloPoint| [point.elo, point.low, point.high].into_iter().all(f64::is_finite);
        let points: Vec<&EloPoint> = self.points.iter().filter(finite).collect();
        let along = |value: fn(&EloPoint) -> f64| -> Vec<(f64, f64)> {
            evenly(&points).into_iter().map(|point| (point.pairs as f64, value(point))).collect()
        };
        let (middle, low, high) = (along(|point| point.elo), along(|point| point.low), along(|point| point.high));
        // The first tenth of the intervals does not decide the scale, because they are far wider.
        // They are cut.
        let settled = low.len() / 10;
        let seen = low[settled..].iter().chain(&high[settled..]).map(|point| point.1).chain([0.0]);
        let frame = Frame {
            sheet,
            title: &self.title,
            subtitle: &self.subtitle,
            caption: &self.caption,
            x_label: "game pairs counted",
            y_label: &format!("{} with 95 % interval", self.unit),
            y_scale: Scale::Linear,
            x_ticks: Ticks::Whole,
            x: Span { low: 0.0, high: middle.last().map_or(1.0, |point| point.0.max(1.0)) },
            y: Span::around(seen).widened(0.05),
        };
        let mut chart = Chart::new(&frame);
        chart.band(&low, &high, "band");
        chart.level(0.0, "zero", "");
        chart.line(&middle, "path");
        match points.last() {
            Some(last) => {
                chart.end_mark((last.pairs as f64, last.elo), "open");
                chart.label(last.elo, "open", &page::signed(last.elo, 1));
                chart.label(last.high, "", &page::signed(last.high, 1));
                chart.label(last.low, "", &page::signed(last.low, 1));
            }
            None if self.points.is_empty() => chart.note("no estimate yet"),
            None => chart.note("no finite estimate yet"),
        }
        chart.finish()
    }
}

/// Finite values with their positions, from 1.
fn numbered(values: &[f64]) -> impl Iterator<Item = (f64, f64)> {
    values.iter().enumerate().filter(|(_, value)| value.is_finite()).map(|(place, value)| (place as f64 + 1.0, *value))
}

/// Returns at most [`MAX_POINTS`] of the points: first, last, and the lowest and highest of each
/// stretch, so no excursion towards a bound is lost.
fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    if points.len() <= MAX_POINTS {
        return points.to_vec();
    }
    let stretches = MAX_POINTS / 2 - 1;
    let inner = &points[1..points.len() - 1];
    let mut kept = vec![points[0]];
    for stretch in 0..stretches {
        let part = &inner[stretch * inner.len() / stretches..(stretch + 1) * inner.len() / stretches];
        let by_value = |a: &&(f64, f64), b: &&(f64, f64)| a.1.total_cmp(&b.1);
        let (Some(low), Some(high)) = (part.iter().min_by(by_value), part.iter().max_by(by_value)) else { continue };
        kept.push(if low.0 < high.0 { *low } else { *high });
        if low.0 != high.0 {
            kept.push(if low.0 < high.0 { *high } else { *low });
        }
    }
    kept.push(points[points.len() - 1]);
    kept
}

/// Returns at most [`MAX_POINTS`] of the items at even steps, including the last.
fn evenly<T: Copy>(items: &[T]) -> Vec<T> {
    let kept = items.len().min(MAX_POINTS);
    (1..=kept).map(|place| items[place * items.len() / kept - 1]).collect()
}

#[cfg(test)]
pub(super) mod tests;
