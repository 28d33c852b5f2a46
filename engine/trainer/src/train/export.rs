//! Quantised networks in the engine's file format and in Bullet's layout.

use super::network::{Parameters, Shape};
use destrier::nnue::{self, HIDDEN_2, Kind};

/// Quantisation factor of activations in a SCReLU network.
pub const QA: f32 = 255.0;
/// Quantisation factor of the output weights in a SCReLU network, and of the second layer's weights
/// in a layered one.
pub const QB: f32 = 64.0;
/// Quantisation factor of activations in a layered network.
pub const QC: f32 = 127.0;
/// Quantisation factor of the last sum in a layered network: an output of 1 is 400 centipawns in
/// sixteenths.
pub const QO: f32 = 400.0 * 16.0;

/// Error of a network that cannot be quantised.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    #[error("{group}: {value} does not fit its whole number at {unit} a unit; train with a smaller `clip`")]
    Overflow { group: &'static str, value: f32, unit: f32 },
    #[error(transparent)]
    Format(#[from] nnue::FormatError),
}

/// Quantises a network to Bullet's `quantised.bin`, which is also the payload of a network file.
///
/// SCReLU: i16 first-layer weights `[input][H]` and biases `[H]` at 255 a unit, output weights
/// `[bucket][2H]` at 64 a unit, output biases at 255 x 64 a unit. Layered: i16 first-layer weights
/// and biases at 127 a unit. Then i8 second-layer weights `[32][2H]` at 64 and i32 biases `[32]` at
/// 127 x 64. Last, i8 output weights `[32]` at 400 x 16 / 127 and an i32 bias at 400 x 16. The last
/// sum is then in sixteenths of a centipawn. Deep: the same with i8 third-layer weights `[32][32]`
/// at 64 and i32 biases `[32]` at 127 x 64 before the output weights. The payload is padded with
/// zeros to a multiple of 64 bytes.
///
/// # Errors
/// [`ExportError::Overflow`] if a weight is outside the range of its integer type.
pub fn payload(shape: &Shape, weights: &Parameters) -> Result<Vec<u8>, ExportError> {
    let mut bytes = Vec::new();
    let features = weights.merged_features(shape);
    match shape.kind {
        Kind::Screlu => {
            words(&mut bytes, "first layer", &features, QA)?;
            words(&mut bytes, "first biases", &weights.bias, QA)?;
            words(&mut bytes, "output weights", &weights.output, QB)?;
            words(&mut bytes, "output biases", &weights.head, QA * QB)?;
        }
        Kind::Layered | Kind::Deep => {
            let (biases, mut rest) = weights.head.split_at(HIDDEN_2);
            words(&mut bytes, "first layer", &features, QC)?;
            words(&mut bytes, "first biases", &weights.bias, QC)?;
            octets(&mut bytes, "second layer", &weights.output, QB)?;
            longs(&mut bytes, "second biases", biases, QC * QB)?;
            if shape.kind == Kind::Deep {
                let (third, after) = rest.split_at(HIDDEN_2 * HIDDEN_2);
                let (biases, after) = after.split_at(HIDDEN_2);
                octets(&mut bytes, "third layer", &transposed(third), QB)?;
                longs(&mut bytes, "third biases", biases, QC * QB)?;
                rest = after;
            }
            let (output, bias) = rest.split_at(HIDDEN_2);
            octets(&mut bytes, "output weights", output, QO / QC)?;
            longs(&mut bytes, "output bias", bias, QO)?;
        }
    }
    bytes.resize(shape.layout().payload_len(), 0);
    Ok(bytes)
}

/// Returns the rows of the third layer by unit, from rows by input, or the other way round.
pub fn transposed(weights: &[f32]) -> Vec<f32> {
    (0..HIDDEN_2).flat_map(|unit| (0..HIDDEN_2).map(move |input| weights[input * HIDDEN_2 + unit])).collect()
}

/// Returns the weights that [`payload`] quantised, each with the error of its rounding. A
/// factorised network gets them all in the inputs' own part, and zero in the common one.
///
/// # Panics
/// Panics if the payload is shorter than the weights of the shape.
pub fn dequantised(shape: &Shape, payload: &[u8]) -> Parameters {
    let mut weights = Parameters::zero(shape);
    let mut numbers = Numbers(payload);
    match shape.kind {
        Kind::Screlu => {
            numbers.words(&mut weights.features, QA);
            numbers.words(&mut weights.bias, QA);
            numbers.words(&mut weights.output, QB);
            numbers.words(&mut weights.head, QA * QB);
        }
        Kind::Layered | Kind::Deep => {
            let (biases, mut rest) = weights.head.split_at_mut(HIDDEN_2);
            numbers.words(&mut weights.features, QC);
            numbers.words(&mut weights.bias, QC);
            numbers.octets(&mut weights.output, QB);
            numbers.longs(biases, QC * QB);
            if shape.kind == Kind::Deep {
                let (third, after) = rest.split_at_mut(HIDDEN_2 * HIDDEN_2);
                let (biases, after) = after.split_at_mut(HIDDEN_2);
                numbers.octets(third, QB);
                third.copy_from_slice(&transposed(third));
                numbers.longs(biases, QC * QB);
                rest = after;
            }
            let (output, bias) = rest.split_at_mut(HIDDEN_2);
            numbers.octets(output, QO / QC);
            numbers.longs(bias, QO);
        }
    }
    weights
}

/// Creates a network file: the engine's header, then the payload.
///
/// # Errors
/// [`ExportError::Format`] if the engine does not support the shape.
pub fn network(shape: &Shape, payload: &[u8]) -> Result<Vec<u8>, ExportError> {
    Ok(nnue::encode(&shape.layout(), payload)?)
}

macro_rules! writer {
    ($name:ident, $number:ty) => {
        fn $name(bytes: &mut Vec<u8>, group: &'static str, values: &[f32], unit: f32) -> Result<(), ExportError> {
            for &value in values {
                let scaled = (f64::from(value) * f64::from(unit)).round();
                if !(scaled >= f64::from(<$number>::MIN) && scaled <= f64::from(<$number>::MAX)) {
                    return Err(ExportError::Overflow { group, value, unit });
                }
                bytes.extend_from_slice(&(scaled as $number).to_le_bytes());
            }
            Ok(())
        }
    };
}

writer!(octets, i8);
writer!(words, i16);
writer!(longs, i32);

/// Whole numbers of a payload that were not read yet.
struct Numbers<'a>(&'a [u8]);

macro_rules! reader {
    ($name:ident, $number:ty) => {
        /// Fills `values` with the next numbers, which have `unit` a unit.
        fn $name(&mut self, values: &mut [f32], unit: f32) {
            let (bytes, rest) = self.0.split_at(values.len() * size_of::<$number>());
            let numbers = bytes.as_chunks().0.iter().map(|bytes| <$number>::from_le_bytes(*bytes));
            values.iter_mut().zip(numbers).for_each(|(value, number)| *value = number as f32 / unit);
            self.0 = rest;
        }
    };
}

impl Numbers<'_> {
    reader!(octets, i8);
    reader!(words, i16);
    reader!(longs, i32);
}
