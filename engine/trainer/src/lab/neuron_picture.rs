//! Picture of the weights of one neuron: the panels of all blocks, as SVG.

use super::panels::{Panel, king_stride, panels};
use crate::heat::{HeatMap, TextStyle};
use destrier::nnue::Layout;
use destrier::nnue::sets::FeatureBlock;
use destrier::types::Square;

/// Width of the picture in SVG units.
const WIDTH: f64 = 800.0;
/// Margin on each side.
const MARGIN: f64 = 24.0;
/// Distance between panels.
const GAP: f64 = 16.0;
/// Height of a line of text above panels.
const LINE: f64 = 20.0;

/// Network's neuron to draw.
pub struct NeuronPicture<'a> {
    /// Layout of the network.
    pub layout: &'a Layout,
    /// Name of the picture.
    pub title: String,
    /// Square of the own king, for features and king buckets that depend on it.
    pub king: Square,
    /// Weights of the neuron, 1.0 for the largest activation, by row of the first layer.
    pub weights: Vec<f64>,
    /// Bias on the same scale.
    pub bias: f64,
}

/// Block in its place.
struct Section {
    name: String,
    top: f64,
    /// Panels with their upper left corners and sizes of cells.
    panels: Vec<(Panel, (f64, f64), f64)>,
    /// First row of the block.
    first: usize,
    size: usize,
}

impl NeuronPicture<'_> {
    /// Returns the SVG document.
    pub fn to_svg(&self) -> String {
        let first = self.layout.king_bucket(self.king) * self.layout.set.size();
        let mut top = 64.0;
        let sections = self.layout.set.blocks().iter().map(|(block, offset)| {
            let section = section(block, self.king, first + offset, top);
            top = section.1;
            section.0
        });
        let sections: Vec<Section> = sections.collect();
        let mut map = HeatMap::new(&self.title, WIDTH as u32, top as u32);
        map.text((MARGIN, 30.0), TextStyle::Title, &self.title);
        let mut about = format!("bias {}", signed(self.bias, 3));
        if self.depends_on_king() {
            about += &format!("; own king on {}", self.king);
        }
        map.text((MARGIN, 50.0), TextStyle::Small, &about);
        sections.iter().for_each(|section| self.draw(&mut map, section));
        map.finish()
    }

    /// Returns true if the picture is another one for another square of the own king.
    fn depends_on_king(&self) -> bool {
        self.layout.king_buckets > 1 || self.layout.set.blocks().iter().any(|(block, _)| king_stride(block) > 0)
    }

    fn draw(&self, map: &mut HeatMap, section: &Section) {
        let weights = self.weights.get(section.first..section.first + section.size).unwrap_or_default();
        let most = weights.iter().fold(0.0_f64, |most, weight| most.max(weight.abs())).max(1e-9);
        map.text((MARGIN, section.top + 14.0), TextStyle::Label, &section.name);
        let ends = [signed(-most, 2), signed(most, 2)];
        map.legend((WIDTH - 330.0, section.top + 14.0), ends.each_ref().map(String::as_str), true);
        for (panel, (left, top), side) in &section.panels {
            map.text((*left, top - 6.0), TextStyle::Small, &panel.title);
            for cell in &panel.cells {
                let weight = weights.get(cell.feature).copied().unwrap_or(0.0);
                let (column, row) = cell.place;
                let place = (left + side * column as f64, top + side * row as f64);
                let number = (section.first + cell.feature) % self.layout.set.size();
                let tip = format!("{}, feature {number}: {}", cell.name, signed(weight, 3));
                map.cell(place, (side - 0.5, side - 0.5), weight / most, &tip);
            }
        }
    }
}

/// Places the panels of a block in rows, from `top` on. Returns the end of the section too.
fn section(block: &FeatureBlock, king: Square, first: usize, top: f64) -> (Section, f64) {
    let (mut left, mut line, mut lowest) = (MARGIN, top + 2.0 * LINE + 4.0, top);
    let mut placed = Vec::new();
    for panel in panels(block, king) {
        let side = side_of(panel.columns);
        let (width, height) = (side * panel.columns as f64, side * panel.rows as f64);
        if left > MARGIN && left + width > WIDTH - MARGIN {
            (left, line) = (MARGIN, lowest + LINE);
        }
        lowest = lowest.max(line + height);
        placed.push((panel, (left, line), side));
        left += width + GAP;
    }
    let name = format!("{block}: {} features", block.size());
    (Section { name, top, panels: placed, first, size: block.size() }, lowest + LINE)
}

/// Returns the size of a cell of a panel.
fn side_of(columns: usize) -> f64 {
    match columns {
        0..=8 => 13.5,
        9..=15 => 9.0,
        _ => ((WIDTH - 2.0 * MARGIN) / columns as f64).floor().min(13.5),
    }
}

fn signed(value: f64, digits: usize) -> String {
    format!("{value:+.digits$}").replace('-', "\u{2212}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use destrier::nnue::Kind;
    use destrier::nnue::sets::FeatureSet;

    #[test]
    fn a_picture_has_a_cell_for_each_weight_and_names_the_largest() {
        let set = FeatureSet::parse("piece+king-all+moves", None).expect("a set");
        let layout = Layout::of_set(Kind::Screlu, set, 16);
        let mut weights = vec![0.0; layout.features()];
        // The own rook on a1 in the block `piece`, and for a king on g1 the own pawn on a1 in
        // `king-all`.
        weights[64 * 3] = -0.5;
        weights[768 + 768 * 6] = 0.25;
        let king = Square::at(6, 0);
        let picture = NeuronPicture { layout: &layout, title: "Neuron 3".to_owned(), king, weights, bias: 0.125 };
        let svg = picture.to_svg();
        let cells = 768 + 768 + 4096;
        assert_eq!(svg.matches("</title></rect>").count(), cells);
        let strongest = |class: &str, tip: &str| {
            svg.lines().any(|line| line.starts_with(&format!("<rect class=\"{class}\"")) && line.contains(tip))
        };
        let tips = [">a1, feature 192: \u{2212}0.500<", ">a1, feature 5376: +0.250<"];
        assert!(strongest("c0", tips[0]) && strongest("c16", tips[1]));
        for text in ["Neuron 3", "bias +0.125; own king on g1", "moves: 4096 features", "king-all: 49152 features"] {
            assert!(svg.contains(text), "{text}");
        }
        let other = NeuronPicture { king: Square::at(4, 0), title: String::new(), weights: picture.weights, ..picture };
        assert!(!other.to_svg().contains("+0.250"), "another king, other weights");
    }
}
