//! Forward and backward pass between the shards' sums and the loss. It is cheap, so every thread
//! repeats it.

use super::kernels::Step;
use super::network::Shape;
use destrier::nnue::{HIDDEN_2, Kind};

/// Loss function.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Loss {
    /// Exponent of the error.
    pub power: f32,
    /// Share of the game's result in the target, 0 to 1; the rest is the score.
    pub blend: f32,
    /// Centipawns at which the sigmoid reaches 0.73.
    pub scale: f32,
}

impl Loss {
    /// Returns the target of the output's sigmoid, from a score for the side to move and a result
    /// of 0 (loss), 1 (draw) or 2 (win).
    pub fn target(&self, score: i16, result: u8) -> f32 {
        self.blend * (f32::from(result) / 2.0) + (1.0 - self.blend) * sigmoid(f32::from(score) / self.scale)
    }

    /// Returns the loss `|sigmoid(output) - target|^power` and its derivative with respect to the
    /// output.
    pub fn of(&self, output: f32, target: f32) -> (f32, f32) {
        let expected = sigmoid(output);
        let error = expected - target;
        let slope = expected * (1.0 - expected);
        if self.power == 2.0 {
            return (error * error, 2.0 * error * slope);
        }
        let rest = error.abs().powf(self.power - 1.0);
        (rest * error.abs(), self.power * rest * error.signum() * slope)
    }
}

/// Logistic function.
pub fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

/// Weights after the sums, with their gradients and moments.
#[derive(Debug, Clone, PartialEq)]
pub struct Head {
    kind: Kind,
    /// Weights in the order of the network's shape.
    pub weights: Vec<f32>,
    /// Gradients of the loss, one for each weight.
    pub gradients: Vec<f32>,
    /// First moments of AdamW, one for each weight.
    pub momentum: Vec<f32>,
    /// Second moments of AdamW, one for each weight.
    pub velocity: Vec<f32>,
}

impl Head {
    pub fn new(shape: &Shape, weights: Vec<f32>, momentum: Vec<f32>, velocity: Vec<f32>) -> Head {
        Head { kind: shape.kind, gradients: vec![0.0; weights.len()], weights, momentum, velocity }
    }

    /// Returns the network's output for a position's sums.
    pub fn forward(&self, sums: &[f32], bucket: usize) -> f32 {
        match self.kind {
            Kind::Screlu => sums[0] + self.weights[bucket],
            Kind::Layered => {
                let (biases, rest) = self.weights.split_at(HIDDEN_2);
                let (weights, bias) = rest.split_at(HIDDEN_2);
                let units = sums.iter().zip(biases).map(|(sum, bias)| (sum + bias).clamp(0.0, 1.0));
                units.zip(weights).fold(bias[0], |output, (unit, weight)| output + unit * weight)
            }
        }
    }

    /// Accumulates the gradients for the output's slope, and replaces a position's sums by their
    /// slopes.
    pub fn backward(&mut self, sums: &mut [f32], bucket: usize, slope: f32) {
        match self.kind {
            Kind::Screlu => {
                self.gradients[bucket] += slope;
                sums[0] = slope;
            }
            Kind::Layered => {
                self.gradients[2 * HIDDEN_2] += slope;
                for (unit, sum) in sums.iter_mut().enumerate() {
                    let value = *sum + self.weights[unit];
                    self.gradients[HIDDEN_2 + unit] += slope * value.clamp(0.0, 1.0);
                    let open = value > 0.0 && value < 1.0;
                    *sum = if open { slope * self.weights[HIDDEN_2 + unit] } else { 0.0 };
                    self.gradients[unit] += *sum;
                }
            }
        }
    }

    /// Runs one step of the optimiser and resets the gradients to zero.
    pub fn step(&mut self, step: &Step) {
        let moments = self.momentum.iter_mut().zip(&mut self.velocity);
        for ((weight, gradient), (momentum, velocity)) in self.weights.iter_mut().zip(&mut self.gradients).zip(moments)
        {
            step.apply(weight, *gradient, momentum, velocity);
            *gradient = 0.0;
        }
    }
}
