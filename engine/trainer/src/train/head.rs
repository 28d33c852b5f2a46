//! Forward and backward pass between the shards' sums and the loss. It is cheap, so every thread
//! repeats it.

use super::dispatch::Kernel;
use super::kernels::{LANES, Step, fold};
use super::network::{HeadPlaces, Shape};
use super::tile::Tile;
use destrier::nnue::{HIDDEN_2, Kind, MAX_SECOND_LAYER};
use std::ops::Range;

/// One value for each unit of a third layer.
type Units = [f32; HIDDEN_2];

/// One value for each unit of a second layer; zero for those that it does not have.
type SecondUnits = [f32; MAX_SECOND_LAYER];

/// Dependence of the loss on the error, which is that of two win probabilities.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ErrorForm {
    /// The absolute error to this power.
    Power(f32),
    /// The absolute error less this margin, and zero within it (epsilon-insensitive loss).
    Margin(f32),
}

/// Loss function.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Loss {
    /// Dependence on the error.
    pub form: ErrorForm,
    /// Share of the game's result in the target, 0 to 1; the rest is the score.
    pub blend: f32,
    /// Centipawns of a score at which the sigmoid reaches 0.73.
    pub scale: f32,
    /// Factor of the output in its sigmoid.
    pub gain: f32,
}

impl Loss {
    /// Returns the target of the output's sigmoid, from a score for the side to move and a result
    /// of 0 (loss), 1 (draw) or 2 (win).
    pub fn target(&self, score: i16, result: u8) -> f32 {
        self.blend * (f32::from(result) / 2.0) + (1.0 - self.blend) * sigmoid(f32::from(score) / self.scale)
    }

    /// Returns the loss of `sigmoid(gain * output) - target` and its derivative with respect to the
    /// output.
    pub fn of(&self, output: f32, target: f32) -> (f32, f32) {
        let expected = sigmoid(self.gain * output);
        let error = expected - target;
        let slope = self.gain * (expected * (1.0 - expected));
        match self.form {
            ErrorForm::Power(2.0) => (error * error, 2.0 * error * slope),
            ErrorForm::Power(power) => {
                let rest = error.abs().powf(power - 1.0);
                (rest * error.abs(), power * rest * error.signum() * slope)
            }
            ErrorForm::Margin(margin) if error.abs() > margin => (error.abs() - margin, error.signum() * slope),
            ErrorForm::Margin(_) => (0.0, 0.0),
        }
    }
}

/// Logistic function in single precision; `data::sigmoid` is that in double precision.
pub fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

/// Weights after the sums, with their gradients and moments.
#[derive(Debug, Clone, PartialEq)]
pub struct Head {
    kind: Kind,
    places: HeadPlaces,
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
        let (kind, places) = (shape.kind, HeadPlaces::of(shape));
        Head { kind, places, gradients: vec![0.0; weights.len()], weights, momentum, velocity }
    }

    /// Returns the network's output for a position's sums.
    #[inline(always)]
    pub fn forward(&self, sums: &[f32], bucket: usize) -> f32 {
        match self.kind {
            Kind::Screlu => sums[0] + self.weights[bucket],
            Kind::Layered(neurons) => {
                let biases = &self.weights[bucket * neurons..][..neurons];
                let weights = &self.weights[self.places.output.start + bucket * neurons..][..neurons];
                let bias = self.weights[self.places.output_biases.start + bucket];
                let units = sums.iter().zip(biases).map(|(sum, bias)| (sum + bias).clamp(0.0, 1.0));
                units.zip(weights).fold(bias, |output, (unit, weight)| output + unit * weight)
            }
            Kind::Deep | Kind::Pairwise(_) | Kind::Squared(_) => {
                let units = self.third(&self.second(sums, bucket), bucket);
                let weights = &self.weights[self.places.output.start + bucket * HIDDEN_2..][..HIDDEN_2];
                let terms = units.iter().zip(weights);
                let output = self.weights[self.places.output_biases.start + bucket];
                terms.fold(output, |output, (unit, weight)| output + unit.clamp(0.0, 1.0) * weight)
            }
        }
    }

    /// Returns the activations of the second layer before a third one.
    #[inline(always)]
    fn second(&self, sums: &[f32], bucket: usize) -> SecondUnits {
        let biases = &self.weights[bucket * sums.len()..][..sums.len()];
        let mut units = [0.0; MAX_SECOND_LAYER];
        for ((unit, sum), bias) in units.iter_mut().zip(sums).zip(biases) {
            *unit = (sum + bias).clamp(0.0, 1.0);
        }
        units
    }

    /// Returns the sums of a third layer.
    #[inline(always)]
    fn third(&self, second: &SecondUnits, bucket: usize) -> Units {
        let biases = &self.weights[self.places.third_biases.start + bucket * HIDDEN_2..][..HIDDEN_2];
        let mut sums: Units = std::array::from_fn(|unit| biases[unit]);
        let rows = &self.weights[self.third_of(bucket)];
        for (value, row) in second.iter().zip(rows.as_chunks::<HIDDEN_2>().0) {
            for (sum, weight) in sums.iter_mut().zip(row) {
                *sum += value * weight;
            }
        }
        sums
    }

    /// Returns the place of the third layer's weights of a bucket.
    #[inline(always)]
    fn third_of(&self, bucket: usize) -> Range<usize> {
        let len = self.kind.second_layer() * HIDDEN_2;
        let start = self.places.third.start + bucket * len;
        start..start + len
    }

    /// Backward pass of a network with a third layer.
    #[inline(always)]
    fn backward_deep(&mut self, sums: &mut [f32], bucket: usize, slope: f32) {
        let second = self.second(sums, bucket);
        let third = self.third(&second, bucket);
        let output = self.places.output.start + bucket * HIDDEN_2;
        let third_biases = self.places.third_biases.start + bucket * HIDDEN_2;
        self.gradients[self.places.output_biases.start + bucket] += slope;
        let mut slopes: Units = [0.0; HIDDEN_2];
        for unit in 0..HIDDEN_2 {
            self.gradients[output + unit] += slope * third[unit].clamp(0.0, 1.0);
            let open = third[unit] > 0.0 && third[unit] < 1.0;
            slopes[unit] = if open { slope * self.weights[output + unit] } else { 0.0 };
            self.gradients[third_biases + unit] += slopes[unit];
        }
        let rows = self.third_of(bucket);
        let gradients = self.gradients[rows.clone()].as_chunks_mut::<HIDDEN_2>().0.iter_mut();
        let rows = gradients.zip(self.weights[rows].as_chunks::<HIDDEN_2>().0);
        for (unit, (gradients, weights)) in rows.enumerate() {
            let mut lanes = [0.0; LANES];
            for (place, (gradient, weight)) in gradients.iter_mut().zip(weights).enumerate() {
                *gradient += second[unit] * slopes[place];
                lanes[place % LANES] += slopes[place] * weight;
            }
            let open = second[unit] > 0.0 && second[unit] < 1.0;
            sums[unit] = if open { fold(lanes) } else { 0.0 };
        }
        let own = &mut self.gradients[bucket * sums.len()..][..sums.len()];
        own.iter_mut().zip(sums).for_each(|(gradient, slope)| *gradient += *slope);
    }

    /// Accumulates the gradients for the output's slope, and replaces a position's sums by their
    /// slopes.
    #[inline(always)]
    pub fn backward(&mut self, sums: &mut [f32], bucket: usize, slope: f32) {
        match self.kind {
            Kind::Screlu => {
                self.gradients[bucket] += slope;
                sums[0] = slope;
            }
            Kind::Layered(neurons) => {
                let (first, output) = (bucket * neurons, self.places.output.start + bucket * neurons);
                self.gradients[self.places.output_biases.start + bucket] += slope;
                for (unit, sum) in sums.iter_mut().enumerate() {
                    let value = *sum + self.weights[first + unit];
                    self.gradients[output + unit] += slope * value.clamp(0.0, 1.0);
                    let open = value > 0.0 && value < 1.0;
                    *sum = if open { slope * self.weights[output + unit] } else { 0.0 };
                    self.gradients[first + unit] += *sum;
                }
            }
            Kind::Deep | Kind::Pairwise(_) | Kind::Squared(_) => self.backward_deep(sums, bucket, slope),
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

/// Outputs, loss and slopes of a tile's positions.
pub struct Judgement<'a> {
    /// Weights after the sums.
    pub head: &'a mut Head,
    /// Output buckets and targets.
    pub tile: &'a Tile,
    /// Sums of the second layer, or outputs without one; replaced by their slopes.
    pub sums: &'a mut [f32],
    /// Number of sums of a position.
    pub width: usize,
    /// Loss function.
    pub form: Loss,
    /// Weight of a position in the mean loss.
    pub per_position: f32,
    /// Running total of the losses.
    pub loss: &'a mut f64,
}

impl Kernel for Judgement<'_> {
    #[inline(always)]
    fn run(self) {
        let expected = self.tile.buckets.iter().zip(&self.tile.targets);
        for ((&bucket, &target), sums) in expected.zip(self.sums.chunks_exact_mut(self.width)) {
            let bucket = usize::from(bucket);
            let (error, slope) = self.form.of(self.head.forward(sums, bucket), target);
            *self.loss += f64::from(error);
            self.head.backward(sums, bucket, slope * self.per_position);
        }
    }
}
