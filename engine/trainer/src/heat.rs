//! Heat maps: cells coloured by their values, as SVG documents for light and dark themes.

use std::fmt::Write as _;

/// Colour steps on either side of zero.
const STEPS: i32 = 8;
/// Colour scales from vermilion over the page's colour to blue as red, green, blue, for the light
/// and the dark theme.
const LIGHT: [[f64; 3]; 3] = [[184.0, 74.0, 0.0], [240.0, 242.0, 245.0], [0.0, 98.0, 163.0]];
const DARK: [[f64; 3]; 3] = [[245.0, 160.0, 90.0], [42.0, 49.0, 58.0], [108.0, 184.0, 240.0]];

/// Width of a cell of the legend in SVG units.
const LEGEND_CELL: f64 = 13.5;
/// Width of the name of its lower end.
const LEGEND_NAME: f64 = 42.0;

/// Names of the kinds of pieces, by their index.
pub const PIECE_NAMES: [&str; 6] = ["pawn", "knight", "bishop", "rook", "queen", "king"];

/// Appearance of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextStyle {
    /// Label beside or above cells.
    Label,
    /// Title of the document.
    Title,
    /// Remark in small letters.
    Small,
}

/// Document under construction. Places are in SVG units from the upper left corner.
#[derive(Debug)]
pub struct HeatMap {
    svg: String,
}

impl HeatMap {
    /// Starts a document of a size.
    #[must_use]
    pub fn new(title: &str, width: u32, height: u32) -> HeatMap {
        let title = escape(title);
        let svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"heat\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"img\">\n\
             <title>{title}</title>\n<style>{}</style>\n<rect class=\"page\" width=\"{width}\" height=\"{height}\"/>\n",
            style()
        );
        HeatMap { svg }
    }

    /// Writes a text whose baseline starts at a place.
    pub fn text(&mut self, (x, y): (f64, f64), style: TextStyle, text: &str) {
        let class = match style {
            TextStyle::Label => "",
            TextStyle::Title => "title",
            TextStyle::Small => "small",
        };
        let _ = writeln!(self.svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" class=\"{class}\">{}</text>", escape(text));
    }

    /// Writes a text upwards, centred on a place.
    pub fn upward(&mut self, (x, y): (f64, f64), text: &str) {
        let text = escape(text);
        let _ = writeln!(self.svg, "<text class=\"side\" transform=\"translate({x} {y}) rotate(-90)\">{text}</text>");
    }

    /// Draws a cell. `value` is on a scale from -1 to 1 and is clamped to it; `tip` is shown under
    /// the pointer.
    pub fn cell(&mut self, (x, y): (f64, f64), (width, height): (f64, f64), value: f64, tip: &str) {
        let limit = f64::from(STEPS);
        let step = (value * limit).round().clamp(-limit, limit) as i32 + STEPS;
        let tip = escape(tip);
        let _ = writeln!(
            self.svg,
            "<rect class=\"c{step}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width}\" height=\"{height}\"><title>{tip}</title></rect>"
        );
    }

    /// Draws the scale between the names of its ends, from -1 to 1, or from 0 without negative
    /// values.
    pub fn legend(&mut self, (x, y): (f64, f64), [low, high]: [&str; 2], has_negative: bool) {
        let from = if has_negative { -STEPS } else { 0 };
        for (place, step) in (from..=STEPS).enumerate() {
            let left = x + LEGEND_NAME + place as f64 * LEGEND_CELL;
            let _ = writeln!(
                self.svg,
                "<rect class=\"c{}\" x=\"{left:.1}\" y=\"{:.1}\" width=\"{LEGEND_CELL}\" height=\"12\"/>",
                step + STEPS,
                y - 10.0
            );
        }
        self.text((x, y), TextStyle::Label, low);
        let end = x + LEGEND_NAME + 6.0 + f64::from(STEPS - from + 1) * LEGEND_CELL;
        self.text((end, y), TextStyle::Label, high);
    }

    /// Returns the complete document.
    #[must_use]
    pub fn finish(self) -> String {
        self.svg + "</svg>\n"
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

fn style() -> String {
    format!(
        ".heat{{font-family:system-ui,-apple-system,\"Segoe UI\",Helvetica,Arial,\"DejaVu Sans\",sans-serif}}\n\
         .heat .page{{fill:#ffffff}}\n.heat text{{fill:#57606a;font-size:12px}}\n\
         .heat .title{{fill:#1b1f24;font-size:18px;font-weight:600}}\n.heat .small{{font-size:11px}}\n\
         .heat .side{{text-anchor:middle}}\n{}\
         @media (prefers-color-scheme:dark){{\n.heat .page{{fill:#14181d}}\n.heat text{{fill:#9aa5b1}}\n.heat .title{{fill:#e6edf3}}\n{}}}\n",
        steps(&LIGHT),
        steps(&DARK)
    )
}

fn steps(colors: &[[f64; 3]; 3]) -> String {
    (-STEPS..=STEPS).fold(String::new(), |mut css, step| {
        let end = if step < 0 { colors[0] } else { colors[2] };
        let part = f64::from(step.abs()) / f64::from(STEPS);
        let [r, g, b] = [0, 1, 2].map(|at| (colors[1][at] + (end[at] - colors[1][at]) * part).round() as u8);
        let _ = writeln!(css, ".heat .c{}{{fill:#{r:02x}{g:02x}{b:02x}}}", step + STEPS);
        css
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_beyond_the_scale_have_its_last_colours() {
        let mut map = HeatMap::new("A & <B>", 100, 50);
        for value in [-3.0, -1.0, 0.0, 1.0, 9.0] {
            map.cell((0.0, 0.0), (5.0, 5.0), value, "<tip>");
        }
        let svg = map.finish();
        for (class, count) in [("c0", 2), ("c8", 1), ("c16", 2)] {
            assert_eq!(svg.matches(&format!("<rect class=\"{class}\"")).count(), count, "{svg}");
        }
        assert!(svg.contains("<title>A &amp; &lt;B></title>") && svg.contains("&lt;tip>"), "{svg}");
        let mut one_sided = HeatMap::new("", 1, 1);
        one_sided.legend((0.0, 20.0), ["0", "1"], false);
        let svg = one_sided.finish();
        assert!(svg.contains("<rect class=\"c8\"") && !svg.contains("<rect class=\"c7\""), "{svg}");
    }
}
