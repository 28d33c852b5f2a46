//! Heat maps of piece-square tables.

use std::fmt::Write as _;

use destrier::eval::layout::PLACEMENT;

use super::Weights;

const PIECES: [&str; 6] = ["pawn", "knight", "bishop", "rook", "queen", "king"];
/// Size of a square in SVG units; the picture is 800 wide. `PITCH` is the distance between boards.
const SIDE: f64 = 13.5;
const PITCH: f64 = 121.0;
const LEFT: f64 = 70.0;
/// Colour steps on either side of zero. `END` is the end of the scale in centipawns.
const STEPS: i32 = 8;
const END: f32 = 60.0;
/// Colour scales from vermilion over the page's colour to blue as red, green, blue, for the light
/// and the dark theme.
const LIGHT: [[f64; 3]; 3] = [[184.0, 74.0, 0.0], [240.0, 242.0, 245.0], [0.0, 98.0, 163.0]];
const DARK: [[f64; 3]; 3] = [[245.0, 160.0, 90.0], [42.0, 49.0, 58.0], [108.0, 184.0, 240.0]];

/// Draws the tables of all pieces, middlegame above endgame, as a complete SVG document for light
/// and dark themes.
///
/// A board is seen from the own side with its king on files e to h, and a tooltip shows each
/// square's weight. Colours show the difference from the board's mean, because the mean is part of
/// the piece's value.
#[must_use]
pub fn to_svg(title: &str, caption: &str, weights: &Weights) -> String {
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"heat\" viewBox=\"0 0 800 404\" width=\"800\" height=\"404\" role=\"img\">\n\
         <title>{title}</title>\n<style>{}</style>\n<rect class=\"page\" width=\"800\" height=\"404\"/>\n",
        style()
    );
    text(&mut svg, (LEFT, 30.0), "title", title);
    for (half, name) in ["middle game", "endgame"].iter().enumerate() {
        let top = 74.0 + 148.0 * half as f64;
        let _ = writeln!(
            svg,
            "<text class=\"side\" transform=\"translate(44 {}) rotate(-90)\">{name}</text>",
            top + 4.0 * SIDE
        );
        for (piece, name) in PIECES.iter().enumerate() {
            let left = LEFT + PITCH * piece as f64;
            text(&mut svg, (left, top - 7.0), "", name);
            board(&mut svg, (left, top), piece, half, weights);
        }
    }
    for step in -STEPS..=STEPS {
        let x = LEFT + 34.0 + f64::from(step + STEPS) * SIDE;
        let _ =
            writeln!(svg, "<rect class=\"c{}\" x=\"{x:.1}\" y=\"352\" width=\"13.5\" height=\"12\"/>", step + STEPS);
    }
    text(&mut svg, (LEFT, 362.0), "", "\u{2212}60");
    text(
        &mut svg,
        (LEFT + 40.0 + f64::from(2 * STEPS + 1) * SIDE, 362.0),
        "",
        "+60 centipawns, from the mean of the board",
    );
    text(&mut svg, (LEFT, 390.0), "small", caption);
    svg + "</svg>\n"
}

fn board(svg: &mut String, (left, top): (f64, f64), piece: usize, half: usize, weights: &Weights) {
    // Pawns are never on the first and last rank.
    let used = if piece == 0 { 8..56 } else { 0..64 };
    let value = |square: usize| weights[PLACEMENT.at(piece * 64 + square)][half];
    let mean = used.clone().map(value).sum::<f32>() / used.len() as f32;
    for square in used {
        let (file, rank) = (square % 8, square / 8);
        let (x, y) = (left + SIDE * file as f64, top + SIDE * (7 - rank) as f64);
        let step = ((value(square) - mean) / END * STEPS as f32).round().clamp(-STEPS as f32, STEPS as f32);
        let name = format!("{}{}", char::from(b'a' + file as u8), rank + 1);
        let _ = writeln!(
            svg,
            "<rect class=\"c{}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"13\" height=\"13\"><title>{name}: {:+.0}</title></rect>",
            step as i32 + STEPS,
            value(square)
        );
    }
}

fn text(svg: &mut String, (x, y): (f64, f64), class: &str, text: &str) {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" class=\"{class}\">{text}</text>");
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
