//! Heat maps of piece-square tables.

use destrier::eval::layout::PLACEMENT;

use super::Weights;
use crate::heat::{HeatMap, PIECE_NAMES, TextStyle};

/// Size of a square in SVG units; the picture is 800 wide. `PITCH` is the distance between boards.
const SIDE: f64 = 13.5;
const PITCH: f64 = 121.0;
const LEFT: f64 = 70.0;
/// End of the colour scale in centipawns.
const END: f32 = 60.0;

/// Draws the tables of all pieces, middlegame above endgame, as a complete SVG document for light
/// and dark themes.
///
/// A board is seen from the own side with its king on files e to h, and a tooltip shows each
/// square's weight. Colours show the difference from the board's mean, because the mean is part of
/// the piece's value.
#[must_use]
pub fn to_svg(title: &str, caption: &str, weights: &Weights) -> String {
    let mut map = HeatMap::new(title, 800, 404);
    map.text((LEFT, 30.0), TextStyle::Title, title);
    for (half, name) in ["middle game", "endgame"].iter().enumerate() {
        let top = 74.0 + 148.0 * half as f64;
        map.upward((44.0, top + 4.0 * SIDE), name);
        for (piece, name) in PIECE_NAMES.iter().enumerate() {
            let left = LEFT + PITCH * piece as f64;
            map.text((left, top - 7.0), TextStyle::Label, name);
            board(&mut map, (left, top), piece, half, weights);
        }
    }
    map.legend((LEFT, 362.0), ["\u{2212}60", "+60 centipawns, from the mean of the board"], true);
    map.text((LEFT, 390.0), TextStyle::Small, caption);
    map.finish()
}

fn board(map: &mut HeatMap, (left, top): (f64, f64), piece: usize, half: usize, weights: &Weights) {
    // Pawns are never on the first and last rank.
    let used = if piece == 0 { 8..56 } else { 0..64 };
    let value = |square: usize| weights[PLACEMENT.at(piece * 64 + square)][half];
    let mean = used.clone().map(value).sum::<f32>() / used.len() as f32;
    for square in used {
        let (file, rank) = (square % 8, square / 8);
        let place = (left + SIDE * file as f64, top + SIDE * (7 - rank) as f64);
        let tip = format!("{}{}: {:+.0}", char::from(b'a' + file as u8), rank + 1, value(square));
        map.cell(place, (13.0, 13.0), f64::from((value(square) - mean) / END), &tip);
    }
}
