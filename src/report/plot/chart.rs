//! Frame of a plot: axes, ticks, and shapes inside.

use std::fmt::Write as _;

use super::page::{Page, Sheet, TOP, fitted, number, text_width};

/// Lower edge of the plot, by sheet.
const BOTTOM: f64 = 384.0;
const NARROW_BOTTOM: f64 = 300.0;
/// Height of ticks and axis label below the lower axis.
const AXIS_DEPTH: f64 = 46.0;
/// Minimum distance between the baselines of two labels in the right margin.
const LABEL_STEP: f64 = 15.0;
/// Approximate number of ticks along an axis, and along the lower one of a narrow sheet.
const X_TICKS: f64 = 6.0;
const NARROW_TICKS: f64 = 4.0;
const Y_TICKS: f64 = 6.0;
/// Maximum number of ticks along a logarithmic axis.
const MOST_LOG_TICKS: usize = 9;
/// Minimum number of ticks along a logarithmic axis at 1, 2 and 5 times powers of ten.
const FEWEST_LOG_TICKS: usize = 3;

/// A range of values, `low < high`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Span {
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Span {
    /// Smallest span of all values; of width 1 around a single one.
    pub(super) fn around(values: impl Iterator<Item = f64>) -> Self {
        let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
        if low < high {
            Self { low, high }
        } else if low.is_finite() && low == high {
            Self { low: low - 0.5, high: high + 0.5 }
        } else {
            Self { low: -0.5, high: 0.5 }
        }
    }

    /// Span widened by a share of itself on either side.
    pub(super) fn widened(self, share: f64) -> Self {
        let more = (self.high - self.low) * share;
        Self { low: self.low - more, high: self.high + more }
    }

    /// Round values in the span, with the decimals that they need. They lie at a step of 1, 2 or 5
    /// times a power of ten, which is at least `least`.
    pub(super) fn ticks(self, wanted: f64, least: f64) -> (Vec<f64>, usize) {
        let rough = ((self.high - self.low) / wanted).max(least);
        let power = rough.log10().floor();
        let step = [1.0, 2.0, 5.0, 10.0]
            .map(|factor| factor * 10f64.powf(power))
            .into_iter()
            .find(|step| *step >= rough)
            .unwrap_or(rough);
        let decimals = if step >= 1.0 { 0 } else { (-step.log10()).ceil() as usize };
        let first = (self.low / step).ceil();
        let count = ((self.high / step).floor() - first).max(0.0) as usize;
        ((0..=count).map(|place| (first + place as f64) * step).collect(), decimals)
    }

    /// Ticks of a logarithmic axis, with their texts; its span is in decimal logarithms. They are
    /// powers of ten, and 2 and 5 or 3 times these if that gives at most `most` ticks. A span with
    /// few of these has round values.
    fn log_ticks(self, most: usize) -> Vec<(f64, String)> {
        let powers = self.low.floor() as i32..=self.high.ceil() as i32;
        let of = |factors: &[f64]| -> Vec<(f64, String)> {
            let values =
                powers.clone().flat_map(|power| factors.iter().map(move |factor| (factor * 10f64.powi(power), power)));
            let shown = values.filter(|(value, _)| (self.low..=self.high).contains(&value.log10()));
            shown.map(|(value, power)| (value.log10(), count(value, power))).collect()
        };
        let finest = [&[1.0, 2.0, 5.0][..], &[1.0, 3.0]].into_iter().map(of).find(|ticks| ticks.len() <= most);
        let ticks = finest.unwrap_or_else(|| of(&[1.0]));
        if ticks.len() < FEWEST_LOG_TICKS {
            let values = Self { low: 10f64.powf(self.low), high: 10f64.powf(self.high) };
            let (values, decimals) = values.ticks(Y_TICKS, 0.0);
            let values = values.into_iter().filter(|value| *value > 0.0);
            return values.map(|value| (value.log10(), plain(value, decimals))).collect();
        }
        let step = ticks.len().div_ceil(most).max(1);
        ticks.into_iter().step_by(step).collect()
    }

    /// Position of a value between `from` (the low end) and `to`.
    pub(super) fn place(self, value: f64, from: f64, to: f64) -> f64 {
        from + (value - self.low) / (self.high - self.low) * (to - from)
    }
}

/// Text of a tick on a linear axis.
fn plain(value: f64, decimals: usize) -> String {
    if value.abs() < 1e6 { number(value, decimals) } else { number(value / 1e6, 1) + " M" }
}

/// Text of a tick at `value`, whose first digit is at ten to the `power`: 0.05, 300, 20 k, 5 M.
fn count(value: f64, power: i32) -> String {
    match value {
        value if value >= 1e9 => number(value / 1e9, 0) + " G",
        value if value >= 1e6 => number(value / 1e6, 0) + " M",
        value if value >= 1e4 => number(value / 1e3, 0) + " k",
        value => number(value, usize::try_from(-power).unwrap_or(0)),
    }
}

/// Scale of the values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Equal steps for equal differences.
    #[default]
    Linear,
    /// Equal steps for equal ratios. Values at or below zero are not drawn.
    Log,
}

impl Scale {
    /// Position of a value on an axis of this scale; not finite if it has none.
    pub(super) fn place(self, value: f64) -> f64 {
        match self {
            Self::Linear => value,
            Self::Log => value.log10(),
        }
    }
}

/// Ticks along the lower edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ticks {
    /// Ticks at whole numbers.
    Whole,
    /// Ticks at round numbers.
    Fine,
    /// Ticks of a logarithmic axis, whose span is of decimal logarithms.
    Log,
    /// No ticks: the caller names the positions, with `depth` more room below.
    Named { depth: u16 },
}

/// Titles, axes and ranges of a plot.
pub(super) struct Frame<'a> {
    pub(super) sheet: Sheet,
    pub(super) title: &'a str,
    pub(super) subtitle: &'a str,
    pub(super) caption: &'a str,
    pub(super) x_label: &'a str,
    pub(super) y_label: &'a str,
    pub(super) x_ticks: Ticks,
    pub(super) x: Span,
    /// Positions of values on `y_scale`.
    pub(super) y: Span,
    pub(super) y_scale: Scale,
}

/// A plot being drawn, later shapes over earlier ones.
pub(super) struct Chart {
    pub(super) page: Page,
    x: Span,
    y: Span,
    bottom: f64,
    /// Baselines of the labels in the right margin.
    labels: Vec<f64>,
}

impl Chart {
    /// Creates a page with titles, axes and ticks.
    pub(super) fn new(frame: &Frame<'_>) -> Self {
        Self::styled(frame, "")
    }

    /// Creates a page as [`new`](Self::new) does, with CSS besides that of all pages.
    pub(super) fn styled(frame: &Frame<'_>, style: &str) -> Self {
        let depth = match frame.x_ticks {
            Ticks::Named { depth } => f64::from(depth),
            Ticks::Whole | Ticks::Fine | Ticks::Log => 0.0,
        };
        let bottom = if frame.sheet == Sheet::Wide { BOTTOM } else { NARROW_BOTTOM };
        let heads = [frame.title, frame.subtitle, frame.caption];
        let page = Page::on(frame.sheet, heads, bottom + AXIS_DEPTH + depth, style);
        let mut chart = Self { page, x: frame.x, y: frame.y, bottom, labels: Vec::new() };
        chart.axes(frame, depth);
        chart
    }

    fn axes(&mut self, frame: &Frame<'_>, depth: f64) {
        let (left, right, bottom) = (self.left(), self.right(), self.bottom);
        let is_wide = frame.sheet == Sheet::Wide;
        let wanted = if is_wide { X_TICKS } else { NARROW_TICKS };
        let most = if is_wide { MOST_LOG_TICKS } else { MOST_LOG_TICKS / 2 };
        let named = |(ticks, decimals): (Vec<f64>, usize)| -> Vec<(f64, String)> {
            ticks.into_iter().map(|tick| (tick, number(tick, decimals))).collect()
        };
        let ticks = match frame.x_ticks {
            Ticks::Whole => named(self.x.ticks(wanted, 1.0)),
            Ticks::Fine => named(self.x.ticks(wanted, 0.0)),
            Ticks::Log => self.x.log_ticks(most),
            Ticks::Named { .. } => Vec::new(),
        };
        for (tick, text) in ticks {
            let x = self.x_of(tick);
            self.page.rule("axis", (x, bottom), (x, bottom + 5.0));
            self.page.text_at(x, bottom + 19.0, "middle", "", &text);
        }
        let ticks = match frame.y_scale {
            Scale::Log => self.y.log_ticks(MOST_LOG_TICKS),
            Scale::Linear => {
                let (ticks, decimals) = self.y.ticks(Y_TICKS, 0.0);
                ticks.into_iter().map(|tick| (tick, plain(tick, decimals))).collect()
            }
        };
        for (tick, text) in ticks {
            let y = self.y_of(tick);
            self.page.rule("grid", (left, y), (right, y));
            self.page.text_at(left - 8.0, y + 4.0, "end", "", &text);
        }
        self.page.rule("axis", (left, bottom), (right, bottom));
        self.page.rule("axis", (left, TOP), (left, bottom));
        self.page.text_at(f64::midpoint(left, right), bottom + 39.0 + depth, "middle", "", frame.x_label);
        if is_wide {
            self.page.text_upwards(18.0, f64::midpoint(TOP, bottom), frame.y_label);
        } else {
            let label = fitted(frame.y_label, 12.0, frame.sheet.width() - left - 8.0);
            self.page.text(left + 4.0, TOP - 6.0, "", &label);
        }
    }

    /// Draws a horizontal line across the plot, named in the right margin.
    pub(super) fn level(&mut self, value: f64, class: &str, name: &str) {
        let y = self.y_of(value);
        self.page.rule(&format!("level {class}"), (self.left(), y), (self.right(), y));
        if !name.is_empty() {
            self.label(value, class, name);
        }
    }

    /// Writes text in the right margin beside a value, moved as little as avoids earlier labels.
    pub(super) fn label(&mut self, value: f64, class: &str, text: &str) {
        let wanted = self.y_of(value).clamp(TOP, self.bottom) + 4.0;
        let free = |y: f64| self.labels.iter().all(|taken| (taken - y).abs() >= LABEL_STEP);
        // Labels are few, so a free position is near.
        let tries = (0..200).map(f64::from).flat_map(|shift| [wanted - shift, wanted + shift]);
        let y = tries.into_iter().find(|y| free(*y)).unwrap_or(wanted);
        self.labels.push(y);
        let gap = if self.page.sheet == Sheet::Wide { 10.0 } else { 6.0 };
        self.page.text(self.right() + gap, y, class, text);
    }

    /// Draws a line through the points.
    pub(super) fn line(&mut self, points: &[(f64, f64)], class: &str) {
        let text = self.polyline(points.iter());
        self.page.put(&format!("<polyline class=\"{class}\" points=\"{text}\"/>"));
    }

    /// Draws a line that is broken between points farther than `longest` apart. A point without
    /// neighbours is a mark.
    pub(super) fn broken_line(&mut self, points: &[(f64, f64)], class: &str, longest: Option<f64>) {
        for part in points.chunk_by(|a, b| joins(a.0, b.0, longest)) {
            match part {
                [point] if points.len() > 1 => self.end_mark(*point, "dot"),
                _ => self.line(part, class),
            }
        }
    }

    /// Fills the area between lines of lower and upper values, broken as [`Self::broken_line`] is.
    pub(super) fn broken_band(&mut self, area: &[(f64, f64, f64)], class: &str, longest: Option<f64>) {
        for part in area.chunk_by(|a, b| joins(a.0, b.0, longest)).filter(|part| part.len() > 1) {
            let edge = |of: fn(&(f64, f64, f64)) -> f64| part.iter().map(|at| (at.0, of(at))).collect::<Vec<_>>();
            self.band(&edge(|at| at.1), &edge(|at| at.2), class);
        }
    }

    /// Fills the area between two lines over the same positions.
    pub(super) fn band(&mut self, low: &[(f64, f64)], high: &[(f64, f64)], class: &str) {
        let text = self.polyline(high.iter().chain(low.iter().rev()));
        self.page.put(&format!("<polygon class=\"{class}\" points=\"{text}\"/>"));
    }

    /// Draws a bar from the lower edge to `value`. It is `width` wide around `x`, both in units of
    /// the lower axis.
    pub(super) fn bar(&mut self, class: &str, (x, width): (f64, f64), value: f64, told: &str) {
        let (left, right) = (self.x_of(x - width / 2.0), self.x_of(x + width / 2.0));
        let top = self.y_of(value).clamp(TOP, self.bottom);
        self.page.rect(class, (left, top), (right - left, self.bottom - top), told);
    }

    /// Draws a mark at the end of a line: a disc for H1, a square for H0, a ring for neither.
    pub(super) fn end_mark(&mut self, at: (f64, f64), class: &str) {
        let (x, y) = (self.x_of(at.0), self.y_of(at.1));
        self.page.put(&if class == "h0" {
            format!("<rect class=\"mark h0\" x=\"{:.1}\" y=\"{:.1}\" width=\"10\" height=\"10\"/>", x - 5.0, y - 5.0)
        } else {
            format!("<circle class=\"mark {class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"5\"/>")
        });
    }

    /// Writes the verdict of the line's end beyond its bound, clear of the line.
    pub(super) fn verdict(&mut self, value: f64, class: &str, text: &str) {
        let y = self.y_of(value);
        let baseline = if class == "h1" { y - 11.0 } else { y + 20.0 }.clamp(TOP + 10.0, self.bottom - 5.0);
        self.page.text_at(self.right(), baseline, "end", &format!("halo {class}"), text);
    }

    /// Writes a remark in the middle of an empty plot.
    pub(super) fn note(&mut self, text: &str) {
        let (x, y) = (f64::midpoint(self.left(), self.right()), f64::midpoint(TOP, self.bottom) - 12.0);
        self.page.text_at(x, y, "middle", "halo", text);
    }

    /// Returns the SVG document.
    pub(super) fn finish(self) -> String {
        self.page.finish()
    }

    /// Lower edge of the plot.
    pub(super) const fn bottom(&self) -> f64 {
        self.bottom
    }

    fn polyline<'a>(&self, points: impl Iterator<Item = &'a (f64, f64)>) -> String {
        let mut text = String::new();
        for (x, y) in points {
            let separator = if text.is_empty() { "" } else { " " };
            // Values off the scale run along the edge. Writing into memory cannot fail.
            let _ = write!(text, "{separator}{:.1},{:.1}", self.x_of(*x), self.y_of(*y).clamp(TOP, self.bottom));
        }
        text
    }

    /// Left edge of the plot.
    pub(super) const fn left(&self) -> f64 {
        self.page.sheet.left()
    }

    /// Right edge of the plot.
    pub(super) const fn right(&self) -> f64 {
        self.page.sheet.right()
    }

    pub(super) fn x_of(&self, value: f64) -> f64 {
        self.x.place(value, self.left(), self.right())
    }

    pub(super) fn y_of(&self, value: f64) -> f64 {
        self.y.place(value, self.bottom, TOP)
    }

    /// Like [`Self::y_of`], but at the edge for a value beyond the axis, such as an infinite one.
    pub(super) fn y_within(&self, value: f64) -> f64 {
        self.y_of(value.clamp(self.y.low, self.y.high))
    }
}

/// True if a line joins points at these positions.
fn joins(left: f64, right: f64, longest: Option<f64>) -> bool {
    longest.is_none_or(|longest| right - left <= longest)
}

/// True if these texts fit side by side at positions `pitch` apart.
pub(super) fn fit_side_by_side<'a>(texts: impl Iterator<Item = &'a str>, pitch: f64) -> bool {
    texts.map(|text| text_width(text, 12.0)).fold(0.0, f64::max) + 8.0 <= pitch
}
