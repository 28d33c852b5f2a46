//! Plot of values along an axis, such as losses over the epochs of a training.

use super::chart::{Chart, Frame, Scale, Span, Ticks};
use super::page::{Sheet, number};
use super::thinned;

/// Maximum number of lines drawn, limited by the distinct colours and dashes.
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

/// Colours of the areas behind the lines from the third on.
const BANDS: &str = "\
.qp .band.s2{fill:#00785a;fill-opacity:.14}
.qp .band.s3{fill:#a3477f;fill-opacity:.14}
.qp .band.s4{fill:#8a6d00;fill-opacity:.14}
.qp .band.s5{fill:#57606a;fill-opacity:.14}
@media (prefers-color-scheme:dark){
.qp .band.s2{fill:#3fc79a}
.qp .band.s3{fill:#e39cc4}
.qp .band.s4{fill:#e3c34a}
.qp .band.s5{fill:#9aa5b1}
}
";

/// Area behind a line: `x` with the lower and the upper value, by rising `x`.
pub type Band = Vec<(f64, f64, f64)>;

/// Plot of named lines over one axis.
#[derive(Clone, Debug, PartialEq)]
pub struct CurvePlot {
    /// Title of the plot.
    pub title: String,
    /// Small print: data, settings, machine, date.
    pub caption: String,
    /// Label of the lower axis. Ticks of a linear one are whole numbers if all points are.
    pub x_label: String,
    /// Scale of the lower axis.
    pub x_scale: Scale,
    /// Label of the values.
    pub y_label: String,
    /// Scale of the values.
    pub y_scale: Scale,
    /// Longest distance along the lower axis, by its scale, over which a line joins two points;
    /// `None` for any.
    pub longest_join: Option<f64>,
    /// Names with points by rising `x`. At most six are drawn, without points that are not numbers.
    pub series: Vec<(String, Vec<(f64, f64)>)>,
    /// Areas behind the lines, by series; empty for none.
    pub bands: Vec<Band>,
}

impl CurvePlot {
    /// Draws the plot as a complete SVG document, 800 units wide, light and dark.
    #[must_use]
    pub fn to_svg(&self) -> String {
        let finite = |point: &(f64, f64)| point.0.is_finite() && point.1.is_finite();
        let placed = |points: &[(f64, f64)]| {
            let points = points.iter().map(|(x, value)| (self.x_scale.place(*x), self.y_scale.place(*value)));
            thinned(&points.filter(finite).collect::<Vec<_>>())
        };
        let series: Vec<(&str, Vec<(f64, f64)>)> =
            self.series.iter().take(MAX_SERIES).map(|(name, points)| (name.as_str(), placed(points))).collect();
        let areas: Vec<Band> = self.bands.iter().take(series.len()).map(|band| self.placed_band(band)).collect();
        let all = || series.iter().flat_map(|(_, points)| points);
        let whole = all().all(|(x, _)| x.fract() == 0.0);
        let edges = areas.iter().flatten().flat_map(|(_, low, high)| [*low, *high]);
        let y = Span::around(all().map(|point| point.1).chain(edges)).widened(0.05);
        let frame = Frame {
            sheet: Sheet::Wide,
            title: &self.title,
            subtitle: "",
            caption: &self.caption,
            x_label: &self.x_label,
            y_label: &self.y_label,
            x_ticks: match self.x_scale {
                Scale::Log => Ticks::Log,
                Scale::Linear if whole => Ticks::Whole,
                Scale::Linear => Ticks::Fine,
            },
            x: Span::around(all().map(|point| point.0).chain(areas.iter().flatten().map(|at| at.0))),
            y,
            y_scale: self.y_scale,
        };
        let style = if areas.is_empty() { STYLE.to_owned() } else { STYLE.to_owned() + BANDS };
        let mut chart = Chart::styled(&frame, &style);
        for (place, area) in areas.iter().enumerate().filter(|(_, area)| !area.is_empty()) {
            chart.broken_band(area, &format!("band s{place}"), self.longest_join);
        }
        let classes: Vec<String> = (0..series.len()).map(|place| format!("path s{place}")).collect();
        for ((_, points), class) in series.iter().zip(&classes) {
            chart.broken_line(points, class, self.longest_join);
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

    /// Area on the scale of the values, without points that have no place on it.
    fn placed_band(&self, band: &Band) -> Band {
        let place = |(x, low, high): &(f64, f64, f64)| {
            (self.x_scale.place(*x), self.y_scale.place(*low), self.y_scale.place(*high))
        };
        let placed = band.iter().map(place);
        placed.filter(|(x, low, high)| x.is_finite() && low.is_finite() && high.is_finite()).collect()
    }
}

/// Formats a value with three significant digits: `0.0512`, `12.3`, `45,600`.
fn significant(value: f64) -> String {
    let digits = (2.0 - value.log10().floor()).clamp(0.0, 9.0);
    number(value, digits as usize)
}
