//! Plot of values along an axis, such as losses over the epochs of a training.

use super::chart::{Chart, Frame, Scale, Span, Ticks};
use super::page::number;
use super::thinned;

/// Most lines drawn, limited by the distinct colours and dashes.
const MAX_SERIES: usize = 6;

// The first two series have the colours of all plots. The others are Okabe and Ito's too, with
// dashes of their own.
const STYLE: &str = "\
.qp .path.s2{stroke:#00785a;stroke-width:2;stroke-dasharray:2 3}
.qp .path.s3{stroke:#a3477f;stroke-width:2;stroke-dasharray:10 3 2 3}
.qp .path.s4{stroke:#8a6d00;stroke-width:2;stroke-dasharray:12 4}
.qp .path.s5{stroke:#57606a;stroke-width:2;stroke-dasharray:4 2 1 2}
@media (prefers-color-scheme:dark){
.qp .path.s2{stroke:#3fc79a}
.qp .path.s3{stroke:#e39cc4}
.qp .path.s4{stroke:#e3c34a}
.qp .path.s5{stroke:#9aa5b1}
}
";

/// Plot of named lines over one axis.
#[derive(Clone, Debug, PartialEq)]
pub struct CurvePlot {
    /// Title of the plot.
    pub title: String,
    /// Small print: data, settings, machine, date.
    pub caption: String,
    /// Label of the lower axis. Its ticks are whole numbers if all points are.
    pub x_label: String,
    /// Label of the values.
    pub y_label: String,
    /// Scale of the values.
    pub y_scale: Scale,
    /// Longest distance in `x` over which a line joins two points; `None` for any.
    pub longest_join: Option<f64>,
    /// Names with points by rising `x`. At most six are drawn, without points that are no number.
    pub series: Vec<(String, Vec<(f64, f64)>)>,
}

impl CurvePlot {
    /// Draws the plot as a complete SVG document, 800 units wide, light and dark.
    #[must_use]
    pub fn to_svg(&self) -> String {
        let finite = |point: &(f64, f64)| point.0.is_finite() && point.1.is_finite();
        let placed = |points: &[(f64, f64)]| {
            let points = points.iter().map(|(x, value)| (*x, self.y_scale.place(*value)));
            thinned(&points.filter(finite).collect::<Vec<_>>())
        };
        let series: Vec<(&str, Vec<(f64, f64)>)> =
            self.series.iter().take(MAX_SERIES).map(|(name, points)| (name.as_str(), placed(points))).collect();
        let all = || series.iter().flat_map(|(_, points)| points);
        let whole = all().all(|(x, _)| x.fract() == 0.0);
        let y = Span::around(all().map(|point| point.1)).widened(0.05);
        let frame = Frame {
            title: &self.title,
            subtitle: "",
            caption: &self.caption,
            x_label: &self.x_label,
            y_label: &self.y_label,
            x_ticks: if whole { Ticks::Whole } else { Ticks::Fine },
            x: Span::around(all().map(|point| point.0)),
            y,
            y_scale: self.y_scale,
        };
        let mut chart = Chart::styled(&frame, STYLE);
        let classes: Vec<String> = (0..series.len()).map(|place| format!("path s{place}")).collect();
        for ((_, points), class) in series.iter().zip(&classes) {
            self.draw(&mut chart, points, class);
        }
        // Two digits more than the span needs.
        let decimals = (2.0 - (y.high - y.low).log10()).ceil().clamp(0.0, 9.0) as usize;
        for (x, place) in series.iter().filter_map(|(_, points)| points.last()) {
            chart.end_mark((*x, *place), "dot");
            let text = match self.y_scale {
                Scale::Linear => number(*place, decimals),
                Scale::Log => significant(10f64.powf(*place)),
            };
            chart.label(*place, "", &text);
        }
        let named: Vec<(&str, &str)> =
            series.iter().zip(&classes).map(|((name, _), class)| (class.as_str(), *name)).collect();
        chart.page.legend(&named);
        if all().next().is_none() {
            chart.note("nothing measured yet");
        }
        chart.finish()
    }

    /// Draws a line, broken where two points lie too far apart. A point without neighbours is a
    /// mark.
    fn draw(&self, chart: &mut Chart, points: &[(f64, f64)], class: &str) {
        let joins = |a: &(f64, f64), b: &(f64, f64)| self.longest_join.is_none_or(|longest| b.0 - a.0 <= longest);
        for part in points.chunk_by(joins) {
            match part {
                [(x, place)] if points.len() > 1 => chart.end_mark((*x, *place), "dot"),
                _ => chart.line(part, class),
            }
        }
    }
}

/// Formats a value with three significant digits: `0.0512`, `12.3`, `45,600`.
fn significant(value: f64) -> String {
    let digits = (2.0 - value.log10().floor()).clamp(0.0, 9.0);
    number(value, digits as usize)
}
