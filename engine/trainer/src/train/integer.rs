//! Reference inference of exported networks in integer arithmetic, to compare with float outputs.
//!
//! It is written from the file format alone and independent of the engine's kernels, so that each
//! checks the other.

use super::network::Shape;
use crate::data::sigmoid;
use bulletformat::ChessBoard;
use destrier::nnue::sets::ActiveFeatures;
use destrier::nnue::{self, Activation, FormatError, HIDDEN_2, Kind};
use quintain::report::plot::{CurvePlot, Scale};

/// Centipawns of an output of 1 in the engine.
const SCALE: i64 = 400;

/// Bins of the histogram of errors in win probability.
const BINS: usize = 50;

/// Width of a bin in win probability; the last bin has all larger errors.
pub const BIN: f64 = 0.002;

/// Quantisation error, as differences between whole numbers and floats.
#[derive(Debug, Clone, PartialEq)]
pub struct Rounding {
    /// Mean absolute error in centipawns.
    pub mean: f64,
    /// Largest absolute error in centipawns.
    pub worst: f64,
    /// Mean absolute error in win probability.
    pub win_mean: f64,
    /// Error in win probability that 99 % of the positions do not exceed.
    pub win_most: f64,
    /// Largest absolute error in win probability.
    pub win_worst: f64,
    /// Share of the positions by error in win probability.
    pub histogram: [f64; BINS],
}

impl Rounding {
    /// Compares float outputs with the integer evaluations of the same positions. `gain` is the
    /// factor of the output in the sigmoid of its win probability.
    pub fn of(network: &Integer, positions: &[ChessBoard], outputs: &[f32], gain: f32) -> Rounding {
        let count = positions.len().max(1) as f64;
        let win = |output: f64| sigmoid(f64::from(gain) * output);
        let (mut mean, mut worst) = (0.0, 0.0_f64);
        let mut errors = Vec::with_capacity(positions.len());
        for (board, &output) in positions.iter().zip(outputs) {
            let (whole, float) = (network.evaluate(board) as f64 / SCALE as f64, f64::from(output));
            let error = (whole - float).abs() * SCALE as f64;
            mean += error / count;
            worst = worst.max(error);
            errors.push((win(whole) - win(float)).abs());
        }
        errors.sort_unstable_by(f64::total_cmp);
        let mut histogram = [0.0; BINS];
        for error in &errors {
            histogram[((error / BIN) as usize).min(BINS - 1)] += 1.0 / count;
        }
        let most = errors.get((errors.len() * 99).div_ceil(100).saturating_sub(1)).copied().unwrap_or(0.0);
        let win_mean = errors.iter().sum::<f64>() / count;
        let win_worst = errors.last().copied().unwrap_or(0.0);
        Rounding { mean, worst, win_mean, win_most: most, win_worst, histogram }
    }

    /// Draws the histogram of errors in win probability as an SVG document.
    pub fn to_svg(&self, name: &str) -> String {
        let share = (0..).zip(&self.histogram).map(|(bin, share)| ((f64::from(bin) + 0.5) * BIN, 100.0 * share));
        let (mean, most, worst) = (self.win_mean, self.win_most, self.win_worst);
        CurvePlot {
            title: format!("Whole numbers against floats of {name}"),
            caption: format!("mean {mean:.4}, 99 % within {most:.4}, worst {worst:.4}; a bin is {BIN}"),
            x_label: "error in win probability".to_owned(),
            x_scale: Scale::Linear,
            y_label: "% of the positions".to_owned(),
            y_scale: Scale::Linear,
            longest_join: None,
            series: vec![("positions".to_owned(), share.collect())],
            bands: Vec::new(),
        }
        .to_svg()
    }
}

/// Payload split into its groups.
#[derive(Debug)]
pub struct Integer {
    shape: Shape,
    features: Vec<i16>,
    bias: Vec<i64>,
    output: Vec<i64>,
    /// Biases of the columns. In a layered network, also the weights and biases of the outputs.
    head: Vec<i64>,
    /// Rows `[bucket][unit][input]` and biases `[bucket][unit]` of the third layers.
    third: Option<[Vec<i64>; 2]>,
}

impl Integer {
    /// Reads a network of the engine's from the bytes of its file.
    ///
    /// # Errors
    /// Fails if the bytes are not a network.
    pub fn of_file(bytes: &[u8]) -> Result<Integer, FormatError> {
        let network = nnue::parse(bytes)?;
        Ok(Integer::new(&Shape::of_layout(network.layout()), nnue::weights(bytes, network.layout())))
    }

    /// Reads a payload that [`super::export::payload`] wrote for this shape.
    pub fn new(shape: &Shape, payload: &[u8]) -> Integer {
        let [features, _, bias, output, _] = shape.sizes();
        let mut rest = payload;
        let mut numbers = |count: usize, width: usize| -> Vec<i64> {
            let (head, tail) = rest.split_at((count * width).min(rest.len()));
            rest = tail;
            head.chunks_exact(width).map(number).collect()
        };
        let features = numbers(features, 2).into_iter().map(|weight| weight as i16).collect();
        let bias = numbers(bias, 2);
        let mut third = None;
        let (output, head) = match shape.kind {
            Kind::Screlu => (numbers(output, 2), numbers(shape.output_buckets, 2)),
            Kind::Layered(_) | Kind::Deep | Kind::Pairwise(_) | Kind::Squared(_) => {
                let (kind, buckets, len) = (shape.kind, shape.output_buckets, shape.kind.later_weight_len());
                let output = numbers(output, 1);
                let biases = numbers(shape.columns(), 4);
                if kind.third_layer() > 0 {
                    third =
                        Some([numbers(buckets * HIDDEN_2 * kind.second_layer(), len), numbers(buckets * HIDDEN_2, 4)]);
                }
                let weights = numbers(buckets * kind.last_layer(), len);
                (output, [biases, weights, numbers(buckets, 4)].concat())
            }
        };
        Integer { shape: shape.clone(), features, bias, output, head, third }
    }

    /// Returns the shape of the network.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Returns the value of a first-layer neuron from which on it is saturated.
    pub fn one(&self) -> i64 {
        self.shape.kind.one()
    }

    /// Returns the value of a unit of a later layer from which on it is saturated.
    pub fn unit_one(&self) -> i64 {
        127 * self.shape.kind.grain()
    }

    /// Returns the first-layer weights of an input.
    pub fn row(&self, input: usize) -> &[i16] {
        &self.features[input * self.shape.hidden..][..self.shape.hidden]
    }

    /// Returns the squares summed over the output weights of each bucket.
    pub fn output_norms(&self) -> Vec<f64> {
        let square = |weights: &[i64]| weights.iter().map(|weight| (weight * weight) as f64).sum::<f64>().sqrt();
        self.output.chunks_exact(self.shape.kind.second_inputs(self.shape.hidden)).map(square).collect()
    }

    /// Returns the inputs of a position: those of the side to move, then those of the opponent.
    pub fn inputs(&self, board: &ChessBoard) -> [Vec<u16>; 2] {
        let (mut us, mut them) = (Vec::new(), Vec::new());
        self.shape.inputs.append(board, &mut ActiveFeatures::default(), &mut us, &mut them);
        [us, them]
    }

    /// Returns the sums of the first layer: those of the side to move, then those of the opponent.
    pub fn sides(&self, board: &ChessBoard) -> [Vec<i64>; 2] {
        self.inputs(board).map(|inputs| self.accumulate(&inputs))
    }

    /// Returns the activations of each dense layer of a position's output bucket; none in a SCReLU
    /// network.
    pub fn units(&self, sides: &[Vec<i64>; 2], bucket: usize) -> Vec<Vec<i64>> {
        if self.shape.kind == Kind::Screlu {
            return Vec::new();
        }
        let (kind, grain) = (self.shape.kind, self.shape.kind.grain());
        let active = |sum: i64, step: i64| sum.div_euclid(step).clamp(0, 127 * grain);
        let inputs: Vec<i64> = sides.iter().flat_map(|side| self.second_inputs(side)).collect();
        let second = |unit| self.column(unit, &inputs) + self.head[unit];
        let neurons = self.shape.kind.second_layer();
        let own = bucket * neurons..(bucket + 1) * neurons;
        let mut layers = vec![own.map(second).map(|sum| active(sum, 64 / grain)).collect::<Vec<i64>>()];
        if let Some([rows, biases]) = &self.third {
            let dot = |row: &[i64]| row.iter().zip(&layers[0]).map(|(weight, unit)| weight * unit).sum::<i64>();
            let own = rows.chunks_exact(neurons).zip(biases).skip(bucket * HIDDEN_2).take(HIDDEN_2);
            let sums = own.map(|(row, bias)| dot(row) + bias);
            let third = sums.map(|sum| active(sum, 64 * kind.fineness())).collect();
            layers.push(third);
        }
        layers
    }

    /// Evaluates a position in centipawns for the side to move.
    pub fn evaluate(&self, board: &ChessBoard) -> i64 {
        let sides = self.sides(board);
        let bucket = usize::from(self.shape.bucket(board.occ.count_ones()));
        if let Some(units) = self.units(&sides, bucket).last() {
            let last = self.shape.kind.last_layer();
            let (weights, biases) = self.head[self.shape.columns()..].split_at(self.shape.output_buckets * last);
            let weights = &weights[bucket * last..];
            let sum: i64 = units.iter().zip(weights).map(|(unit, weight)| unit * weight).sum();
            return (sum + biases[bucket]) / (16 * self.shape.kind.grain() * self.shape.kind.fineness());
        }
        let squares: Vec<i64> = sides.iter().flatten().map(|value| (*value).clamp(0, 255).pow(2)).collect();
        (self.column(bucket, &squares) / 255 + self.head[bucket]) * SCALE / (255 * 64)
    }

    /// Returns the inputs that a layered network's second layer has from one side's sums.
    pub fn second_inputs(&self, side: &[i64]) -> Vec<i64> {
        // In 512ths that are rounded.
        let product = |a: usize, b: usize| (side[a].clamp(0, 255) * side[b].clamp(0, 255) + 256) / 512;
        match self.shape.kind.activation() {
            Activation::Clipped => side.iter().map(|value| (*value).clamp(0, 127)).collect(),
            Activation::Squared => (0..side.len()).map(|neuron| product(neuron, neuron)).collect(),
            Activation::Products => {
                // Of each 64 neurons, the first 32 times the last 32.
                let first = (0..side.len() / 2).map(|number| number / 32 * 64 + number % 32);
                first.map(|first| product(first, first + 32)).collect()
            }
        }
    }

    fn accumulate(&self, inputs: &[u16]) -> Vec<i64> {
        let mut sums = self.bias.clone();
        for &input in inputs {
            let row = &self.features[usize::from(input) * self.shape.hidden..][..self.shape.hidden];
            sums.iter_mut().zip(row).for_each(|(sum, weight)| *sum += i64::from(*weight));
        }
        sums
    }

    fn column(&self, column: usize, inputs: &[i64]) -> i64 {
        let weights = &self.output[column * inputs.len()..];
        inputs.iter().zip(weights).map(|(input, weight)| input * weight).sum()
    }
}

/// Decodes a signed little-endian number.
fn number(bytes: &[u8]) -> i64 {
    let shift = 64 - 8 * bytes.len() as u32;
    let raw = bytes.iter().rev().fold(0_u64, |value, &byte| value << 8 | u64::from(byte));
    (raw << shift).cast_signed() >> shift
}
