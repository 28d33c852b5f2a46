//! Loss of the training method `pqr`: order of positions instead of scores.
//!
//! P is a position, Q the one after the move that was played, R the one after another legal move.
//! Q and R are the opponent's, so that the values of P and Q should be opposite, and that of R
//! above that of Q.

use super::head::sigmoid;
use serde::Deserialize;

/// Positions of a triplet.
pub const TRIPLET: usize = 3;

/// Space in which values are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TripletSpace {
    /// Win probability, from -1 to 1. The loss of ordered triplets is bounded below by 1.513.
    Wdl,
    /// Centipawns divided by the scale.
    Raw,
}

/// Form of the loss.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TripletForm {
    /// `-ln sigmoid(r - q)` and `equality` times `-ln sigmoid(p + q) - ln sigmoid(-p - q)`.
    Logistic {
        /// Weight of the equality of P and Q.
        equality: f32,
    },
    /// `max(0, |p + q| - |p + r| + margin)`: the triplet loss with P as anchor.
    Margin {
        /// Least difference that has no loss.
        margin: f32,
    },
}

/// Loss of triplets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TripletLoss {
    /// Space of the values.
    pub space: TripletSpace,
    /// Form of the loss.
    pub form: TripletForm,
    /// Factor of the outputs before the space.
    pub gain: f32,
}

/// Natural logarithm of the logistic function, negated, without overflow.
fn minus_ln_sigmoid(x: f32) -> f32 {
    (-x.abs()).exp().ln_1p() + (-x).max(0.0)
}

/// Sign with zero at zero, where a slope of the absolute value is zero.
fn sign(x: f32) -> f32 {
    if x == 0.0 { 0.0 } else { x.signum() }
}

impl TripletLoss {
    /// Returns the value of an output in the space, and its derivative.
    fn value(&self, output: f32) -> (f32, f32) {
        let x = self.gain * output;
        match self.space {
            TripletSpace::Raw => (x, self.gain),
            TripletSpace::Wdl => {
                let win = sigmoid(x);
                (2.0 * win - 1.0, 2.0 * self.gain * win * (1.0 - win))
            }
        }
    }

    /// Returns the loss of the outputs of P, Q and R, and its derivatives with respect to them.
    pub fn of(&self, outputs: [f32; TRIPLET]) -> (f32, [f32; TRIPLET]) {
        let values = outputs.map(|output| self.value(output));
        let [p, q, r] = values.map(|value| value.0);
        let (loss, slopes) = match self.form {
            TripletForm::Logistic { equality } => {
                let pull = sigmoid(q - r);
                let turn = equality * ((p + q) / 2.0).tanh();
                let equal = minus_ln_sigmoid(p + q) + minus_ln_sigmoid(-p - q);
                (minus_ln_sigmoid(r - q) + equality * equal, [turn, pull + turn, -pull])
            }
            TripletForm::Margin { margin } => {
                let loss = (p + q).abs() - (p + r).abs() + margin;
                let (near, far) = (sign(p + q), sign(p + r));
                if loss > 0.0 { (loss, [near - far, near, -far]) } else { (0.0, [0.0; TRIPLET]) }
            }
        };
        let mut of_outputs = slopes;
        of_outputs.iter_mut().zip(values).for_each(|(slope, (_, inner))| *slope *= inner);
        (loss, of_outputs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn losses() -> Vec<TripletLoss> {
        let forms = [
            TripletForm::Logistic { equality: 1.0 },
            TripletForm::Logistic { equality: 3.0 },
            TripletForm::Margin { margin: 0.2 },
        ];
        let of = |form| [TripletSpace::Wdl, TripletSpace::Raw].map(|space| TripletLoss { space, form, gain: 1.108 });
        forms.into_iter().flat_map(of).collect()
    }

    #[test]
    fn slopes_are_differences_of_the_loss() {
        let points = [[0.3, -0.2, 0.9], [-1.5, 1.0, 0.2], [0.0, 0.1, -0.4], [4.0, -3.5, -3.0], [0.6, 0.5, -0.9]];
        for loss in losses() {
            for point in points {
                let (_, slopes) = loss.of(point);
                for place in 0..TRIPLET {
                    let at = |shift: f32| {
                        let mut moved = point;
                        moved[place] += shift;
                        loss.of(moved).0
                    };
                    let step = 1e-3;
                    let slope = (at(step) - at(-step)) / (2.0 * step);
                    assert!((slope - slopes[place]).abs() < 2e-3, "{loss:?} {point:?} {place}: {slope} {slopes:?}");
                }
            }
        }
    }

    #[test]
    fn the_bounds_of_the_logistic_loss_are_known() {
        let loss = losses()[0];
        // Three times the logarithm of two.
        assert!((loss.of([0.0; TRIPLET]).0 - 2.0794).abs() < 1e-3);
        // Far apart and in order, in win probability: never below ln(1 + e^-2) + 2 ln 2.
        assert!((loss.of([30.0, -30.0, 30.0]).0 - 1.5132).abs() < 1e-3);
        let raw = losses()[1];
        assert!((raw.of([30.0, -30.0, 30.0]).0 - 1.3863).abs() < 1e-3, "only the equality is left");
        assert!(raw.of([500.0, 500.0, -500.0]).0.is_finite());
    }
}
