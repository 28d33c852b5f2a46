//! Plot of strength over versions: a point with an error bar each, and names below if there is
//! room.

use super::chart::{Chart, Frame, Scale, Span, Ticks, fit_side_by_side};
use super::page::{Heads, Sheet, TOP, fitted, signed, text_width};

/// Minimum distance between names that rise at 45 degrees, which is a line's height across.
const RISING_PITCH: f64 = 19.0;
/// Longest rising name, so that the first one stays on the page.
const RISING_LENGTH: f64 = 92.0;
/// Room below the axis for rising names, and for a second line of level ones.
const RISING_DEPTH: u16 = 66;
const DATE_DEPTH: u16 = 15;

/// Mark of a version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VersionMark {
    /// No mark.
    #[default]
    None,
    /// Significant loss of strength.
    Drop,
    /// Significant gain of strength.
    Gain,
}

/// Strength of a version.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlottedVersion {
    /// Name: a tag, or an abbreviated commit.
    pub label: String,
    /// Day, such as `2026-11-21`.
    pub date: Option<String>,
    /// Estimate in Elo.
    pub elo: f64,
    /// Lower end of the interval: infinite if the estimate is an upper bound, NaN if unknown.
    pub low: f64,
    /// Upper end of the interval: infinite if the estimate is a lower bound, NaN if unknown.
    pub high: f64,
    /// Mark of the version.
    pub mark: VersionMark,
    /// Note beside the mark, such as `p 0.003`; shown if there is room.
    pub note: String,
}

/// Plot of strength over versions.
#[derive(Clone, Debug, PartialEq)]
pub struct ProgressionPlot {
    /// Title, subtitle and caption.
    pub heads: Heads,
    /// Label of the estimates, such as `Elo against v1 (95 % intervals)`.
    pub unit: String,
    /// Versions, the oldest first. Those without a finite estimate are left out.
    pub versions: Vec<PlottedVersion>,
}

impl PlottedVersion {
    /// Sign of an estimate that is a bound.
    fn bound(&self) -> Option<&'static str> {
        if self.high == f64::INFINITY {
            Some("> ")
        } else if self.low == f64::NEG_INFINITY {
            Some("< ")
        } else {
            None
        }
    }
}

impl ProgressionPlot {
    /// Draws the plot as a complete SVG document.
    #[must_use]
    pub fn to_svg(&self) -> String {
        self.to_svg_on(Sheet::Wide)
    }

    /// Draws the plot on a sheet.
    #[must_use]
    pub fn to_svg_on(&self, sheet: Sheet) -> String {
        let shown: Vec<&PlottedVersion> = self.versions.iter().filter(|version| version.elo.is_finite()).collect();
        let pitch = (sheet.right() - sheet.left()) / shown.len().max(1) as f64;
        let level = fit_side_by_side(shown.iter().flat_map(|one| [one.label.as_str(), date(one)]), pitch);
        let dated = shown.iter().any(|version| version.date.is_some());
        let depth = match (level, dated) {
            (false, _) => RISING_DEPTH,
            (true, true) => DATE_DEPTH,
            (true, false) => 0,
        };
        let ends = shown.iter().flat_map(|one| [one.elo, one.low, one.high]).filter(|value| value.is_finite());
        let mut chart = Chart::new(&Frame {
            sheet,
            title: &self.heads.title,
            subtitle: &self.heads.subtitle,
            caption: &self.heads.caption,
            x_label: &x_label(&shown, level),
            y_label: &self.unit,
            y_scale: Scale::Linear,
            x_ticks: Ticks::Named { depth },
            x: Span { low: -0.5, high: shown.len().max(1) as f64 - 0.5 },
            // Room above and below for the notes.
            y: Span::around(ends).widened(0.1),
        });
        if shown.is_empty() {
            chart.note("no version was measured yet");
            return chart.finish();
        }
        if chart.y_of(0.0) > TOP && chart.y_of(0.0) < chart.bottom() {
            chart.level(0.0, "zero", "");
        }
        // A bound is no point of the curve.
        for stretch in shown.iter().enumerate().collect::<Vec<_>>().split(|(_, one)| one.bound().is_some()) {
            let middle: Vec<(f64, f64)> = stretch.iter().map(|(place, one)| (*place as f64, one.elo)).collect();
            if !middle.is_empty() {
                chart.line(&middle, "path thin");
            }
        }
        for (place, version) in shown.iter().enumerate() {
            point(&mut chart, place, version, pitch);
        }
        notes(&mut chart, &shown);
        names(&mut chart, &shown, level);
        if let Some(last) = shown.last() {
            chart.label(last.elo, "open", &format!("{}{}", last.bound().unwrap_or_default(), signed(last.elo, 1)));
        }
        chart.finish()
    }
}

fn date(version: &PlottedVersion) -> &str {
    version.date.as_deref().unwrap_or_default()
}

/// Label of the lower axis, with the days if they are not shown below each version.
fn x_label(shown: &[&PlottedVersion], level: bool) -> String {
    let first = shown.iter().find_map(|version| version.date.as_deref());
    let last = shown.iter().rev().find_map(|version| version.date.as_deref());
    match (first, last) {
        (Some(first), Some(last)) if !level && first != last => format!("version, {first} to {last}"),
        (Some(first), Some(_)) if !level => format!("version, {first}"),
        _ => "version, the oldest first".to_owned(),
    }
}

/// Draws the error bar and the point.
fn point(chart: &mut Chart, place: usize, version: &PlottedVersion, pitch: f64) {
    let x = chart.x_of(place as f64);
    if !version.low.is_nan() && !version.high.is_nan() {
        let (low, high) = (chart.y_within(version.low), chart.y_within(version.high));
        chart.page.rule("error", (x, low), (x, high));
        let cap = (pitch / 4.0).min(4.0);
        // An end that goes on to the edge has no cap.
        for (end, y) in [(version.low, low), (version.high, high)] {
            if cap >= 1.5 && end.is_finite() {
                chart.page.rule("error", (x - cap, y), (x + cap, y));
            }
        }
    }
    let y = chart.y_of(version.elo);
    let radius = (pitch / 3.0).clamp(2.0, 5.0);
    let wide = radius + 2.5;
    let triangle = |class: &str, tip: f64| {
        let (base, tip) = (y - tip * wide * 0.6, y + tip * wide);
        format!(
            "<polygon class=\"mark {class}\" points=\"{:.1},{base:.1} {:.1},{base:.1} {x:.1},{tip:.1}\"/>",
            x - wide,
            x + wide
        )
    };
    chart.page.put(&match version.mark {
        VersionMark::None => format!("<circle class=\"mark dot\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\"/>"),
        VersionMark::Drop => triangle("h0", 1.0),
        VersionMark::Gain => triangle("h1", -1.0),
    });
}

/// Writes the notes: below the error bar of a drop, above that of a gain, if they cover no other
/// note.
fn notes(chart: &mut Chart, shown: &[&PlottedVersion]) {
    let mut taken: Vec<(f64, f64, f64)> = Vec::new();
    for (place, version) in
        shown.iter().enumerate().filter(|(_, one)| one.mark != VersionMark::None && !one.note.is_empty())
    {
        let half = text_width(&version.note, 12.0) / 2.0 + 3.0;
        let x = chart.x_of(place as f64).clamp(chart.left() + half, (chart.right() - half).max(chart.left() + half));
        let (class, baseline) = if version.mark == VersionMark::Drop {
            ("halo h0", chart.y_within(version.low.min(version.elo)) + 15.0)
        } else {
            ("halo h1", chart.y_within(version.high.max(version.elo)) - 7.0)
        };
        let covers =
            |(from, to, y): &(f64, f64, f64)| x + half > *from && x - half < *to && (baseline - y).abs() < 13.0;
        let inside = baseline > TOP + 8.0 && baseline < chart.bottom() - 3.0;
        if inside && !taken.iter().any(covers) {
            taken.push((x - half, x + half, baseline));
            chart.page.text_at(x, baseline, "middle", class, &version.note);
        }
    }
}

/// Writes the versions' names below the axis: level if all fit, otherwise rising, and thinned out
/// if they would touch.
fn names(chart: &mut Chart, shown: &[&PlottedVersion], level: bool) {
    let bottom = chart.bottom();
    for place in 0..shown.len() {
        let x = chart.x_of(place as f64);
        chart.page.rule("axis", (x, bottom), (x, bottom + 4.0));
    }
    if level {
        for (place, version) in shown.iter().enumerate() {
            let x = chart.x_of(place as f64);
            chart.page.text_at(x, bottom + 19.0, "middle", ink(version), &version.label);
            if !date(version).is_empty() {
                chart.page.text_at(x, bottom + 34.0, "middle", "", date(version));
            }
        }
        return;
    }
    for place in named(shown, (chart.right() - chart.left()) / shown.len() as f64) {
        let version = shown[place];
        let x = chart.x_of(place as f64) + 4.0;
        let length = RISING_LENGTH.min((x - 6.0) * std::f64::consts::SQRT_2);
        chart.page.text_rising(x, bottom + 14.0, ink(version), &fitted(&version.label, 12.0, length));
    }
}

const fn ink(version: &PlottedVersion) -> &'static str {
    match version.mark {
        VersionMark::None => "",
        VersionMark::Drop => "h0",
        VersionMark::Gain => "h1",
    }
}

/// Positions of the named versions: marked ones, the last, the first, then at even steps. None are
/// too close to another.
fn named(shown: &[&PlottedVersion], pitch: f64) -> Vec<usize> {
    let apart = (RISING_PITCH / pitch).ceil().max(1.0) as usize;
    let marked = (0..shown.len()).filter(|place| shown[*place].mark != VersionMark::None);
    let last = shown.len().saturating_sub(1);
    let even = (0..shown.len()).rev().step_by(apart);
    let mut named: Vec<usize> = Vec::new();
    for place in marked.chain([last, 0]).chain(even) {
        if place < shown.len() && named.iter().all(|other| other.abs_diff(place) >= apart) {
            named.push(place);
        }
    }
    named.sort_unstable();
    named
}
