//! The frame of a picture: page, axes, ticks, and what is drawn inside.

use std::fmt::Write as _;

use crate::stats::elo::fixed;

/// The page, in SVG units (pixels at full size).
const WIDTH: f64 = 800.0;
/// The plot area, from the page's left and top edge.
const LEFT: f64 = 70.0;
const RIGHT: f64 = WIDTH - 88.0;
const TOP: f64 = 74.0;
const BOTTOM: f64 = 384.0;
/// Baseline of the first caption line, and the step to the next.
const CAPTION: f64 = 448.0;
const CAPTION_STEP: f64 = 15.0;
/// Least distance between the baselines of two labels in the right margin.
const LABEL_STEP: f64 = 15.0;
/// Ticks wanted along an axis, more or less.
const X_TICKS: f64 = 6.0;
const Y_TICKS: f64 = 5.0;
/// Characters that fit into a line of the page, by the size of the letters.
const TITLE_CHARS: usize = 72;
const SUBTITLE_CHARS: usize = 108;
const CAPTION_CHARS: usize = 122;
const CAPTION_LINES: usize = 3;

// Colours: Okabe and Ito's blue and vermilion, darker on white and lighter on black so that each has contrast enough.
// Plain values and no CSS variables, which only browsers know.
const STYLE: &str = "\
.qp{font-family:system-ui,-apple-system,\"Segoe UI\",Helvetica,Arial,\"DejaVu Sans\",sans-serif}
.qp .page{fill:#ffffff}
.qp text{fill:#57606a;font-size:12px}
.qp .title{fill:#1b1f24;font-size:18px;font-weight:600}
.qp .subtitle{fill:#1b1f24;font-size:13px}
.qp .caption{font-size:11px}
.qp .axis{stroke:#57606a;stroke-width:1}
.qp .grid{stroke:#dfe4ea;stroke-width:1}
.qp .level{stroke-width:1.5}
.qp .level.zero{stroke:#8c959f;stroke-width:1}
.qp .level.h1{stroke:#0062a3;stroke-dasharray:7 4}
.qp .level.h0{stroke:#b84a00;stroke-dasharray:2 3}
.qp text.h1{fill:#0062a3;font-weight:600}
.qp text.h0{fill:#b84a00;font-weight:600}
.qp text.open{fill:#1b1f24;font-weight:600}
.qp .halo{paint-order:stroke;stroke:#ffffff;stroke-width:4;stroke-linejoin:round}
.qp .path{fill:none;stroke:#1b1f24;stroke-width:1.6;stroke-linejoin:round}
.qp .band{fill:#0062a3;fill-opacity:.2}
.qp .mark{stroke:#ffffff;stroke-width:1.5}
.qp .mark.h1{fill:#0062a3}
.qp .mark.h0{fill:#b84a00}
.qp .mark.open{fill:#ffffff;stroke:#1b1f24;stroke-width:2}
@media (prefers-color-scheme:dark){
.qp .page{fill:#14181d}
.qp text{fill:#9aa5b1}
.qp .title,.qp .subtitle,.qp text.open{fill:#e6edf3}
.qp .axis{stroke:#9aa5b1}
.qp .grid{stroke:#2a313a}
.qp .level.zero{stroke:#6b7683}
.qp .level.h1{stroke:#6cb8f0}
.qp .level.h0{stroke:#f5a05a}
.qp text.h1{fill:#6cb8f0}
.qp text.h0{fill:#f5a05a}
.qp .halo{stroke:#14181d}
.qp .path{stroke:#e6edf3}
.qp .band{fill:#6cb8f0}
.qp .mark{stroke:#14181d}
.qp .mark.h1{fill:#6cb8f0}
.qp .mark.h0{fill:#f5a05a}
.qp .mark.open{fill:#14181d;stroke:#e6edf3}
}";

/// A range of values, `low < high`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Span {
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Span {
    /// The least span that holds all values; of width 1 around a single one.
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

    /// Wider by this share on either side.
    pub(super) fn widened(self, share: f64) -> Self {
        let more = (self.high - self.low) * share;
        Self { low: self.low - more, high: self.high + more }
    }

    /// Round values within, at a step of 1, 2 or 5 times a power of ten, and the decimals that they need.
    /// The step is at least `least`.
    fn ticks(self, wanted: f64, least: f64) -> (Vec<f64>, usize) {
        let rough = ((self.high - self.low) / wanted).max(least);
        let power = rough.log10().floor();
        let step = [1.0, 2.0, 5.0, 10.0]
            .map(|factor| factor * 10f64.powf(power))
            .into_iter()
            .find(|step| *step >= rough)
            .unwrap_or(rough);
        let decimals = if step >= 1.0 { 0 } else { (-step.log10()).ceil() as usize };
        let first = (self.low / step).ceil();
        let count = ((self.high / step).floor() - first) as usize;
        ((0..=count).map(|place| (first + place as f64) * step).collect(), decimals)
    }

    /// Where a value lies between `from` (the low end) and `to`.
    fn place(self, value: f64, from: f64, to: f64) -> f64 {
        from + (value - self.low) / (self.high - self.low) * (to - from)
    }
}

/// What surrounds the plot.
pub(super) struct Frame<'a> {
    pub(super) title: &'a str,
    pub(super) subtitle: &'a str,
    pub(super) caption: &'a str,
    pub(super) x_label: &'a str,
    pub(super) y_label: &'a str,
    /// Of whole numbers.
    pub(super) x: Span,
    pub(super) y: Span,
}

/// A picture being drawn, later things over earlier ones.
pub(super) struct Chart {
    svg: String,
    x: Span,
    y: Span,
    /// Baselines of the labels in the right margin.
    labels: Vec<f64>,
}

impl Chart {
    /// A page with titles, axes and ticks.
    pub(super) fn new(frame: &Frame<'_>) -> Self {
        let captions = wrapped(frame.caption, CAPTION_CHARS, CAPTION_LINES);
        let height = CAPTION + CAPTION_STEP * captions.len().saturating_sub(1) as f64 + 12.0;
        let mut chart = Self { svg: String::with_capacity(16 * 1024), x: frame.x, y: frame.y, labels: Vec::new() };
        chart.put(&format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"qp\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
             height=\"{height}\" role=\"img\">"
        ));
        chart.put(&format!("<title>{}: {}</title>", escaped(frame.title), escaped(frame.subtitle)));
        chart.put(&format!("<style>{STYLE}</style>"));
        chart.put(&format!("<rect class=\"page\" width=\"{WIDTH}\" height=\"{height}\"/>"));
        chart.text(LEFT, 30.0, "title", &cut(frame.title, TITLE_CHARS));
        chart.text(LEFT, 52.0, "subtitle", &cut(frame.subtitle, SUBTITLE_CHARS));
        for (line, text) in captions.iter().enumerate() {
            chart.text(LEFT, CAPTION + CAPTION_STEP * line as f64, "caption", text);
        }
        chart.axes(frame);
        chart
    }

    fn axes(&mut self, frame: &Frame<'_>) {
        let (ticks, decimals) = self.x.ticks(X_TICKS, 1.0);
        for tick in ticks {
            let x = self.x_of(tick);
            self.rule("axis", (x, BOTTOM), (x, BOTTOM + 5.0));
            self.text_at(x, BOTTOM + 19.0, "middle", "", &number(tick, decimals));
        }
        let (ticks, decimals) = self.y.ticks(Y_TICKS, 0.0);
        for tick in ticks {
            let y = self.y_of(tick);
            self.rule("grid", (LEFT, y), (RIGHT, y));
            self.text_at(LEFT - 8.0, y + 4.0, "end", "", &number(tick, decimals));
        }
        self.rule("axis", (LEFT, BOTTOM), (RIGHT, BOTTOM));
        self.rule("axis", (LEFT, TOP), (LEFT, BOTTOM));
        self.text_at(f64::midpoint(LEFT, RIGHT), BOTTOM + 39.0, "middle", "", frame.x_label);
        let middle = f64::midpoint(TOP, BOTTOM);
        self.put(&format!(
            "<text x=\"18\" y=\"{middle}\" text-anchor=\"middle\" transform=\"rotate(-90 18 {middle})\">{}</text>",
            escaped(frame.y_label)
        ));
    }

    /// A horizontal line across the plot, named in the right margin.
    pub(super) fn level(&mut self, value: f64, class: &str, name: &str) {
        let y = self.y_of(value);
        self.rule(&format!("level {class}"), (LEFT, y), (RIGHT, y));
        if !name.is_empty() {
            self.label(value, class, name);
        }
    }

    /// Text in the right margin beside a value, moved just so far that it covers no earlier one.
    pub(super) fn label(&mut self, value: f64, class: &str, text: &str) {
        let wanted = self.y_of(value).clamp(TOP, BOTTOM) + 4.0;
        let free = |y: f64| self.labels.iter().all(|taken| (taken - y).abs() >= LABEL_STEP);
        // Few labels are ever there, so a free place is near.
        let tries = (0..200).map(f64::from).flat_map(|shift| [wanted - shift, wanted + shift]);
        let y = tries.into_iter().find(|y| free(*y)).unwrap_or(wanted);
        self.labels.push(y);
        self.text_at(RIGHT + 10.0, y, "start", class, text);
    }

    /// A line through the points.
    pub(super) fn line(&mut self, points: &[(f64, f64)], class: &str) {
        let text = self.polyline(points.iter());
        self.put(&format!("<polyline class=\"{class}\" points=\"{text}\"/>"));
    }

    /// The area between two lines over the same places.
    pub(super) fn band(&mut self, low: &[(f64, f64)], high: &[(f64, f64)]) {
        let text = self.polyline(high.iter().chain(low.iter().rev()));
        self.put(&format!("<polygon class=\"band\" points=\"{text}\"/>"));
    }

    /// A mark at the end of a line: a disc for H1, a square for H0, a ring for neither.
    pub(super) fn end_mark(&mut self, at: (f64, f64), class: &str) {
        let (x, y) = (self.x_of(at.0), self.y_of(at.1));
        self.put(&if class == "h0" {
            format!("<rect class=\"mark h0\" x=\"{:.1}\" y=\"{:.1}\" width=\"10\" height=\"10\"/>", x - 5.0, y - 5.0)
        } else {
            format!("<circle class=\"mark {class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"5\"/>")
        });
    }

    /// What the end of the line means, beyond a bound and so clear of the line.
    pub(super) fn verdict(&mut self, value: f64, class: &str, text: &str) {
        let y = self.y_of(value);
        let baseline = if class == "h1" { y - 11.0 } else { y + 20.0 }.clamp(TOP + 10.0, BOTTOM - 5.0);
        self.text_at(RIGHT, baseline, "end", &format!("halo {class}"), text);
    }

    /// A remark in the middle of an empty plot.
    pub(super) fn note(&mut self, text: &str) {
        self.text_at(f64::midpoint(LEFT, RIGHT), f64::midpoint(TOP, BOTTOM) - 12.0, "middle", "halo", text);
    }

    /// The document.
    pub(super) fn finish(mut self) -> String {
        self.put("</svg>");
        self.svg
    }

    fn polyline<'a>(&self, points: impl Iterator<Item = &'a (f64, f64)>) -> String {
        let mut text = String::new();
        for (x, y) in points {
            let separator = if text.is_empty() { "" } else { " " };
            // Values off the scale run along the edge. Writing into memory cannot fail.
            let _ = write!(text, "{separator}{:.1},{:.1}", self.x_of(*x), self.y_of(*y).clamp(TOP, BOTTOM));
        }
        text
    }

    fn x_of(&self, value: f64) -> f64 {
        self.x.place(value, LEFT, RIGHT)
    }

    fn y_of(&self, value: f64) -> f64 {
        self.y.place(value, BOTTOM, TOP)
    }

    fn rule(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        self.put(&format!(
            "<line class=\"{class}\" x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\"/>",
            from.0, from.1, to.0, to.1
        ));
    }

    fn text(&mut self, x: f64, y: f64, class: &str, text: &str) {
        self.text_at(x, y, "start", class, text);
    }

    fn text_at(&mut self, x: f64, y: f64, anchor: &str, class: &str, text: &str) {
        let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
        self.put(&format!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\"{class}>{}</text>", escaped(text)));
    }

    fn put(&mut self, element: &str) {
        self.svg.push_str(element);
        self.svg.push('\n');
    }
}

/// A number for people: a true minus sign, thousands apart, no sign on a rounded zero.
pub(super) fn number(value: f64, decimals: usize) -> String {
    let text = fixed(value.abs(), decimals);
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let mut out = String::new();
    if fixed(value, decimals).starts_with('-') {
        out.push('\u{2212}');
    }
    for (place, digit) in whole.chars().enumerate() {
        if place > 0 && (whole.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out + rest
}

/// The same with a plus before positive numbers.
pub(super) fn signed(value: f64, decimals: usize) -> String {
    let text = number(value, decimals);
    let zero = text.chars().all(|c| matches!(c, '0' | '.'));
    if value > 0.0 && !zero { format!("+{text}") } else { text }
}

/// Text as it may stand in XML: markup escaped, characters that XML forbids replaced.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' | '\r' => out.push(' '),
            '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            _ => out.push(c),
        }
    }
    out
}

/// At most `limit` characters, with an ellipsis where some were cut.
fn cut(text: &str, limit: usize) -> String {
    if text.chars().nth(limit).is_none() {
        return text.to_owned();
    }
    text.chars().take(limit - 1).collect::<String>().trim_end().to_owned() + "…"
}

/// Words in lines of at most `limit` characters; what does not fit into so many lines is cut.
fn wrapped(text: &str, limit: usize, lines: usize) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let full = out.len() == lines;
        match out.last_mut() {
            Some(line) if full || line.chars().count() + 1 + word.chars().count() <= limit => {
                line.push(' ');
                line.push_str(word);
            }
            _ => out.push(word.to_owned()),
        }
    }
    out.iter().map(|line| cut(line, limit)).collect()
}
