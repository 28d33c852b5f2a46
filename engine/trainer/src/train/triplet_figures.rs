//! Values of held-out triplets: whether a network knows their order before it is trained on it.

use super::triplet::TRIPLET;
use destrier::nnue::SCALE;
use quintain::report::plot::{CurvePlot, Heads, HistogramPlot, HistogramSeries, Scale, stacked};

/// Parts of equal size, by the value of P, of which the picture has a point each.
const PARTS: usize = 24;
/// Width of a bin of the histogram in centipawns, and its bins on each side of zero.
const BIN: f64 = 25.0;
const BINS: usize = 24;

/// Values of P, Q and R in centipawns, each from the view of its side to move.
#[derive(Debug, Clone, PartialEq)]
pub struct TripletFigures(Vec<[f64; TRIPLET]>);

impl TripletFigures {
    /// Creates the figures of the outputs of a network; `None` without triplets.
    pub fn of(outputs: &[[f32; TRIPLET]]) -> Option<TripletFigures> {
        let mut values: Vec<_> =
            outputs.iter().map(|outputs| outputs.map(|output| SCALE as f64 * f64::from(output))).collect();
        values.sort_by(|one, other| one[0].total_cmp(&other[0]));
        (!values.is_empty()).then_some(TripletFigures(values))
    }

    /// Returns the correlation of P and Q; -1 for opposite values, NaN if all are equal.
    fn correlation(&self) -> f64 {
        let count = self.0.len() as f64;
        let mean = |place: usize| self.0.iter().map(|values| values[place]).sum::<f64>() / count;
        let means = [mean(0), mean(1)];
        let product = |one: usize, other: usize| -> f64 {
            self.0.iter().map(|values| (values[one] - means[one]) * (values[other] - means[other])).sum()
        };
        product(0, 1) / (product(0, 0) * product(1, 1)).sqrt()
    }

    /// Returns the share of triplets with R above Q.
    fn ordered(&self) -> f64 {
        self.0.iter().filter(|[_, q, r]| r > q).count() as f64 / self.0.len() as f64
    }

    /// Formats the correlation of P and Q, the order of Q and R, and their mean distance.
    pub fn text(&self) -> String {
        let distance = self.0.iter().map(|[_, q, r]| r - q).sum::<f64>() / self.0.len() as f64;
        format!(
            "correlation of P and Q {:+.3}, R above Q in {:.1} % and by {distance:+.0} cp on average, {} triplets",
            self.correlation(),
            100.0 * self.ordered(),
            self.0.len()
        )
    }

    /// Draws the values of Q by those of P, and the histogram of R less Q, as one SVG document.
    /// `stage` says when, as in "before training".
    pub fn to_svg(&self, name: &str, stage: &str) -> String {
        stacked(&[self.opposites(name, stage), self.differences(name, stage)])
    }

    fn opposites(&self, name: &str, stage: &str) -> String {
        let mut parts = Vec::new();
        for part in self.0.chunks(self.0.len().div_ceil(PARTS)) {
            let mut q: Vec<f64> = part.iter().map(|values| values[1]).collect();
            q.sort_by(f64::total_cmp);
            let at = |share: f64| q[((q.len() - 1) as f64 * share).round() as usize];
            parts.push((part[part.len() / 2][0], [at(0.1), at(0.5), at(0.9)]));
        }
        CurvePlot {
            title: format!("P and the position after the move played, Q: {name}, {stage}"),
            caption: format!(
                "median of Q with the range of 80 %, by P in {} parts of equal size; {}",
                parts.len(),
                self.text()
            ),
            x_label: "evaluation of P, centipawns".to_owned(),
            x_scale: Scale::Linear,
            y_label: "evaluation of Q, centipawns".to_owned(),
            y_scale: Scale::Linear,
            longest_join: None,
            series: vec![
                ("network".to_owned(), parts.iter().map(|(p, [_, q, _])| (*p, *q)).collect()),
                ("opposite of P".to_owned(), parts.iter().map(|(p, _)| (*p, -p)).collect()),
            ],
            bands: vec![parts.iter().map(|(p, [low, _, high])| (*p, *low, *high)).collect()],
        }
        .to_svg()
    }

    fn differences(&self, name: &str, stage: &str) -> String {
        let mut counts = vec![0; 2 * BINS];
        for [_, q, r] in &self.0 {
            let bin = ((r - q) / BIN).floor() + BINS as f64;
            counts[bin.clamp(0.0, (2 * BINS - 1) as f64) as usize] += 1;
        }
        HistogramPlot {
            heads: Heads {
                title: format!("Another move instead of the one played: {name}, {stage}"),
                subtitle: "above zero the opponent is better off after another move".to_owned(),
                caption: self.text(),
            },
            x_label: "evaluation of R less that of Q, centipawns".to_owned(),
            of: "triplets".to_owned(),
            low: -BIN * BINS as f64,
            width: BIN,
            series: vec![HistogramSeries { name: "triplets".to_owned(), counts }],
        }
        .to_svg()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opposite_values_are_known_and_the_order_is_counted() {
        // Q is the opposite of P, and R is a quarter of a unit above Q in three of four.
        let outputs: Vec<[f32; 3]> = (0..200)
            .map(|place| {
                let p = place as f32 / 100.0 - 1.0;
                [p, -p, if place % 4 == 0 { -p - 0.05 } else { -p + 0.25 }]
            })
            .collect();
        let figures = TripletFigures::of(&outputs).expect("triplets");
        assert!((figures.correlation() + 1.0).abs() < 1e-6);
        assert_eq!(
            figures.text(),
            "correlation of P and Q -1.000, R above Q in 75.0 % and by +70 cp on average, 200 triplets"
        );
        let svg = figures.to_svg("net", "before training");
        assert!(svg.contains("triplets (200)") && svg.contains("opposite of P") && !svg.contains("NaN"), "{svg}");
        assert_eq!(TripletFigures::of(&[]), None);
        // One triplet, and values that are all equal, are drawn as well.
        for outputs in [vec![[0.5, -0.5, 0.0]], vec![[0.0; 3]; 50]] {
            let figures = TripletFigures::of(&outputs).expect("triplets");
            assert!(figures.to_svg("net", "after training").contains("<svg"), "{outputs:?}");
        }
    }
}
