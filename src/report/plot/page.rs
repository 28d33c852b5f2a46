//! Page of a plot: size, colours, titles, caption, and the basic texts and shapes.

use crate::stats::elo::fixed;
use crate::text::escaped;

/// Width of a wide page in SVG units (pixels at full size).
pub(super) const WIDTH: f64 = 800.0;
/// Edges of the plot area of a wide page, from the page's left and top edge.
pub(super) const LEFT: f64 = 70.0;
pub(super) const RIGHT: f64 = WIDTH - 88.0;
pub(super) const TOP: f64 = 74.0;
/// Width of a narrow page, and the left and right margins of its plot area.
const NARROW: f64 = 360.0;
const NARROW_LEFT: f64 = 50.0;
const NARROW_RIGHT: f64 = NARROW - 70.0;
/// Distance of texts from the edges of a narrow page.
const NARROW_MARGIN: f64 = 10.0;
/// Distance from the end of the plot to the first caption line's baseline, and between lines.
const CAPTION_GAP: f64 = 18.0;
const CAPTION_STEP: f64 = 15.0;
/// Distance between the rows of a legend.
const LEGEND_STEP: f64 = 17.0;

/// Sheet that a plot is drawn on. Texts have one size on both, so that a plot is readable as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sheet {
    /// 800 units wide, for documents and screens.
    #[default]
    Wide,
    /// 360 units wide, for phones.
    Narrow,
}

impl Sheet {
    /// Width of the page.
    pub(super) const fn width(self) -> f64 {
        match self {
            Self::Wide => WIDTH,
            Self::Narrow => NARROW,
        }
    }

    /// Left edge of the plot area.
    pub(super) const fn left(self) -> f64 {
        match self {
            Self::Wide => LEFT,
            Self::Narrow => NARROW_LEFT,
        }
    }

    /// Right edge of the plot area.
    pub(super) const fn right(self) -> f64 {
        match self {
            Self::Wide => RIGHT,
            Self::Narrow => NARROW_RIGHT,
        }
    }

    /// Left edge of titles and captions.
    const fn head(self) -> f64 {
        match self {
            Self::Wide => LEFT,
            Self::Narrow => NARROW_MARGIN,
        }
    }

    /// Longest line of text.
    const fn line(self) -> f64 {
        match self {
            Self::Wide => WIDTH - LEFT - 16.0,
            Self::Narrow => NARROW - 2.0 * NARROW_MARGIN,
        }
    }

    /// Size of the title's letters.
    const fn title_size(self) -> f64 {
        match self {
            Self::Wide => 18.0,
            Self::Narrow => 15.0,
        }
    }

    /// Characters of a caption's line, and its lines.
    const fn caption(self) -> (usize, usize) {
        match self {
            Self::Wide => (122, 3),
            Self::Narrow => (52, 6),
        }
    }
}

// Colours are Okabe and Ito's blue and vermilion, darker on white and lighter on black for
// contrast. They are plain values, because only browsers know CSS variables.
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
.qp .band,.qp .band.s0{fill:#0062a3;fill-opacity:.2}
.qp .band.s1{fill:#b84a00;fill-opacity:.16}
.qp .mark{stroke:#ffffff;stroke-width:1.5}
.qp .mark.h1{fill:#0062a3}
.qp .mark.h0{fill:#b84a00}
.qp .mark.open{fill:#ffffff;stroke:#1b1f24;stroke-width:2}
.qp .mark.dot{fill:#1b1f24;stroke-width:1}
.qp .path.s0{stroke:#0062a3;stroke-width:2}
.qp .path.s1{stroke:#b84a00;stroke-width:2;stroke-dasharray:6 3}
.qp .path.thin{stroke:#8c959f;stroke-width:1}
.qp .error{stroke:#57606a;stroke-width:1.4}
.qp .bar{stroke:none}
.qp .b0{fill:#b84a00}
.qp .b1{fill:#e0935a}
.qp .b2{fill:#8c959f}
.qp .b3{fill:#5b9fd0}
.qp .b4{fill:#0062a3}
.qp text.ink{fill:#1b1f24}
.qp text.small{font-size:10px}
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
.qp .band,.qp .band.s0{fill:#6cb8f0}
.qp .band.s1{fill:#f5a05a}
.qp .mark{stroke:#14181d}
.qp .mark.h1{fill:#6cb8f0}
.qp .mark.h0{fill:#f5a05a}
.qp .mark.open{fill:#14181d;stroke:#e6edf3}
.qp .mark.dot{fill:#e6edf3}
.qp .path.s0{stroke:#6cb8f0}
.qp .path.s1{stroke:#f5a05a}
.qp .path.thin{stroke:#6b7683}
.qp .error{stroke:#9aa5b1}
.qp .b0{fill:#f5a05a}
.qp .b1{fill:#a9683a}
.qp .b2{fill:#6b7683}
.qp .b3{fill:#3f7dab}
.qp .b4{fill:#6cb8f0}
.qp text.ink{fill:#e6edf3}
}
";

/// Title, subtitle and caption of a plot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Heads {
    /// Title, which names the subject.
    pub title: String,
    /// Subtitle, which states the result.
    pub subtitle: String,
    /// Small print: conditions (time control, book, pairs, machine, date). At most three lines are
    /// shown.
    pub caption: String,
}

/// A page being drawn, later shapes over earlier ones.
pub(super) struct Page {
    svg: String,
    pub(super) sheet: Sheet,
}

impl Page {
    /// Creates a wide page for a plot that ends at `bottom`, with titles above and the caption
    /// below. `style` is CSS besides that of all pages.
    pub(super) fn new(heads: [&str; 3], bottom: f64, style: &str) -> Self {
        Self::on(Sheet::Wide, heads, bottom, style)
    }

    /// Creates a page as [`new`](Self::new) does, on a sheet.
    pub(super) fn on(sheet: Sheet, heads: [&str; 3], bottom: f64, style: &str) -> Self {
        let [title, subtitle, caption] = heads;
        let (width, left, line) = (sheet.width(), sheet.head(), sheet.line());
        let (characters, lines) = sheet.caption();
        let captions = wrapped(caption, characters, lines);
        let first = bottom + CAPTION_GAP;
        let height = first + CAPTION_STEP * captions.len().saturating_sub(1) as f64 + 12.0;
        let mut page = Self { svg: String::with_capacity(16 * 1024), sheet };
        page.put(&format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"qp\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" role=\"img\">"
        ));
        page.put(&format!("<title>{}: {}</title>", escaped(title), escaped(subtitle)));
        let size = sheet.title_size();
        let own = if sheet == Sheet::Wide { String::new() } else { format!(".qp .title{{font-size:{size}px}}") };
        page.put(&format!("<style>{STYLE}{style}{own}</style>"));
        page.put(&format!("<rect class=\"page\" width=\"{width}\" height=\"{height}\"/>"));
        page.text(left, 30.0, "title", &fitted(title, size + 1.0, line));
        page.text(left, 52.0, "subtitle", &fitted(subtitle, 13.0, line));
        for (line, text) in captions.iter().enumerate() {
            page.text(left, first + CAPTION_STEP * line as f64, "caption", text);
        }
        page
    }

    /// Returns the SVG document.
    pub(super) fn finish(mut self) -> String {
        self.put("</svg>");
        self.svg
    }

    /// Draws swatches and their names above the plot: in a row, and in a row each on a narrow
    /// sheet.
    pub(super) fn legend(&mut self, entries: &[(&str, &str)]) {
        let count = entries.len().max(1) as f64;
        let is_wide = self.sheet == Sheet::Wide;
        let room = if is_wide { self.sheet.line() / count - 40.0 } else { self.sheet.line() - 30.0 };
        let (mut x, mut y) = (self.sheet.head(), 66.0);
        for (class, name) in entries {
            let name = fitted(name, 12.0, room);
            if class.starts_with("path") {
                self.put(&format!("<polyline class=\"{class}\" points=\"{x:.1},{y:.1} {:.1},{y:.1}\"/>", x + 24.0));
            } else {
                self.rect(class, (x + 6.0, y - 6.0), (12.0, 12.0), "");
            }
            self.text(x + 30.0, y + 4.0, "", &name);
            if is_wide {
                x += 30.0 + text_width(&name, 12.0) + 18.0;
            } else {
                y += LEGEND_STEP;
            }
        }
    }

    /// Height of a legend's rows after the first.
    pub(super) fn legend_depth(sheet: Sheet, entries: usize) -> f64 {
        if sheet == Sheet::Wide { 0.0 } else { LEGEND_STEP * entries.saturating_sub(1) as f64 }
    }

    pub(super) fn rule(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        self.put(&format!(
            "<line class=\"{class}\" x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\"/>",
            from.0, from.1, to.0, to.1
        ));
    }

    /// Draws a rectangle from its upper left corner. `told` is the text that a browser shows at the
    /// pointer.
    pub(super) fn rect(&mut self, class: &str, at: (f64, f64), size: (f64, f64), told: &str) {
        let told = if told.is_empty() { "/>".to_owned() } else { format!("><title>{}</title></rect>", escaped(told)) };
        self.put(&format!(
            "<rect class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\"{told}",
            at.0, at.1, size.0, size.1
        ));
    }

    pub(super) fn text(&mut self, x: f64, y: f64, class: &str, text: &str) {
        self.text_at(x, y, "start", class, text);
    }

    pub(super) fn text_at(&mut self, x: f64, y: f64, anchor: &str, class: &str, text: &str) {
        let class = class_of(class);
        self.put(&format!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\"{class}>{}</text>", escaped(text)));
    }

    /// Writes text that rises to the right and ends at the point.
    pub(super) fn text_rising(&mut self, x: f64, y: f64, class: &str, text: &str) {
        let class = class_of(class);
        self.put(&format!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"end\" transform=\"rotate(-45 {x:.1} {y:.1})\"{class}>{}</text>",
            escaped(text)
        ));
    }

    /// Writes text along the left edge, read upwards.
    pub(super) fn text_upwards(&mut self, x: f64, middle: f64, text: &str) {
        self.put(&format!(
            "<text x=\"{x}\" y=\"{middle}\" text-anchor=\"middle\" transform=\"rotate(-90 {x} {middle})\">{}</text>",
            escaped(text)
        ));
    }

    pub(super) fn put(&mut self, element: &str) {
        self.svg.push_str(element);
        self.svg.push('\n');
    }
}

fn class_of(class: &str) -> String {
    if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") }
}

/// Head of an arrow that points at `tip`, along a row; `back` leads from the tip to its other end.
pub(super) fn arrow_head(page: &mut Page, (tip, y): (f64, f64), back: f64) {
    for side in [-4.0, 4.0] {
        page.rule("error", (tip, y), (tip + back, y + side));
    }
}

/// Approximate largest width of a text in the fonts that a reader may have, in SVG units.
pub(super) fn text_width(text: &str, size: f64) -> f64 {
    let em = |c: char| match c {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' => 0.32,
        'f' | 't' | 'r' | '(' | ')' | '[' | ']' | ' ' | '/' => 0.42,
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '…' | '—' => 0.95,
        'A'..='Z' => 0.74,
        '\u{1100}'.. => 1.05,
        _ => 0.62,
    };
    text.chars().map(em).sum::<f64>() * size
}

/// Text cut with an ellipsis to a width.
pub(super) fn fitted(text: &str, size: f64, width: f64) -> String {
    let mut text = text.to_owned();
    if text_width(&text, size) <= width {
        return text;
    }
    while !text.is_empty() && text_width(&text, size) + 0.95 * size > width {
        text.pop();
    }
    text.truncate(text.trim_end().len());
    text + "…"
}

/// Number for people: a true minus sign, thousands separated, no sign on a rounded zero.
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

/// [`number`] with a plus before positive numbers.
pub(super) fn signed(value: f64, decimals: usize) -> String {
    let text = number(value, decimals);
    let zero = text.chars().all(|c| matches!(c, '0' | '.'));
    if value > 0.0 && !zero { format!("+{text}") } else { text }
}

/// Text cut to at most `limit` characters, with an ellipsis if some were cut.
fn cut(text: &str, limit: usize) -> String {
    if text.chars().nth(limit).is_none() {
        return text.to_owned();
    }
    text.chars().take(limit - 1).collect::<String>().trim_end().to_owned() + "…"
}

/// Words in lines of at most `limit` characters. Words beyond the last line are cut.
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
