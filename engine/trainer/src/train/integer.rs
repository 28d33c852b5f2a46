//! Reference inference of exported networks in integer arithmetic, to compare with float outputs.
//!
//! It is written from the file format alone and independent of the engine's kernels, so that each
//! checks the other.

use super::network::Shape;
use bulletformat::ChessBoard;
use destrier::nnue::{HIDDEN_2, Kind};

/// Centipawns of an output of 1 in the engine.
const SCALE: i64 = 400;

/// Quantisation error in centipawns.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Rounding {
    /// Mean absolute error.
    pub mean: f64,
    /// Largest absolute error.
    pub worst: f64,
}

impl Rounding {
    /// Compares float outputs with the integer evaluations of the same positions.
    pub fn of(shape: &Shape, payload: &[u8], positions: &[ChessBoard], outputs: &[f32]) -> Rounding {
        let network = Integer::new(shape, payload);
        let errors = positions.iter().zip(outputs);
        let errors = errors.map(|(board, &out)| (network.evaluate(board) as f64 - f64::from(out) * SCALE as f64).abs());
        let (sum, worst) = errors.fold((0.0, 0.0), |(sum, worst): (f64, f64), error| (sum + error, worst.max(error)));
        Rounding { mean: sum / positions.len().max(1) as f64, worst }
    }
}

/// Payload split into its groups.
#[derive(Debug)]
pub struct Integer {
    shape: Shape,
    features: Vec<i64>,
    bias: Vec<i64>,
    output: Vec<i64>,
    /// Biases of the columns; in a layered network, also the output's weights and bias.
    head: Vec<i64>,
}

impl Integer {
    /// Reads a payload that [`super::export::payload`] wrote for this shape.
    pub fn new(shape: &Shape, payload: &[u8]) -> Integer {
        let [features, _, bias, output, _] = shape.sizes();
        let mut rest = payload;
        let mut numbers = |count: usize, width: usize| -> Vec<i64> {
            let (head, tail) = rest.split_at((count * width).min(rest.len()));
            rest = tail;
            head.chunks_exact(width).map(number).collect()
        };
        let (features, bias) = (numbers(features, 2), numbers(bias, 2));
        let (output, head) = match shape.kind {
            Kind::Screlu => (numbers(output, 2), numbers(shape.output_buckets, 2)),
            Kind::Layered => {
                let output = numbers(output, 1);
                let biases = numbers(HIDDEN_2, 4);
                let weights = numbers(HIDDEN_2, 1);
                (output, [biases, weights, numbers(1, 4)].concat())
            }
        };
        Integer { shape: *shape, features, bias, output, head }
    }

    /// Evaluates a position in centipawns for the side to move.
    pub fn evaluate(&self, board: &ChessBoard) -> i64 {
        let (mut us, mut them) = (Vec::new(), Vec::new());
        self.shape.inputs.append(board, &mut us, &mut them);
        let sides = [self.accumulate(&us), self.accumulate(&them)];
        match self.shape.kind {
            Kind::Screlu => {
                let bucket = usize::from(self.shape.bucket(board.occ.count_ones()));
                let square = |value: &i64| (*value).clamp(0, 255).pow(2);
                (self.column(bucket, &sides, square) / 255 + self.head[bucket]) * SCALE / (255 * 64)
            }
            Kind::Layered => {
                let units = (0..HIDDEN_2).map(|unit| {
                    let sum = self.column(unit, &sides, |value| (*value).clamp(0, 127)) + self.head[unit];
                    (sum >> 6).clamp(0, 127)
                });
                let sum: i64 = units.zip(&self.head[HIDDEN_2..2 * HIDDEN_2]).map(|(unit, weight)| unit * weight).sum();
                (sum + self.head[2 * HIDDEN_2]) / 16
            }
        }
    }

    fn accumulate(&self, inputs: &[u16]) -> Vec<i64> {
        let mut sums = self.bias.clone();
        for &input in inputs {
            let row = &self.features[usize::from(input) * self.shape.hidden..][..self.shape.hidden];
            sums.iter_mut().zip(row).for_each(|(sum, weight)| *sum += weight);
        }
        sums
    }

    fn column(&self, column: usize, sides: &[Vec<i64>; 2], activation: impl Fn(&i64) -> i64) -> i64 {
        let weights = &self.output[column * 2 * self.shape.hidden..];
        sides.iter().flatten().zip(weights).map(|(value, weight)| activation(value) * weight).sum()
    }
}

/// Decodes a signed little-endian number.
fn number(bytes: &[u8]) -> i64 {
    let shift = 64 - 8 * bytes.len() as u32;
    let raw = bytes.iter().rev().fold(0_u64, |value, &byte| value << 8 | u64::from(byte));
    (raw << shift).cast_signed() >> shift
}
