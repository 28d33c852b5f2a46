//! Networks as whole numbers, in the engine's file format and in Bullet's layout.

use super::network::{Parameters, Shape};
use destrier::nnue::{self, HIDDEN_2, Kind};

/// One unit of an activation of a SCReLU network.
pub const QA: f32 = 255.0;
/// One unit of an output weight of a SCReLU network, and of a weight of a layered one's second layer.
pub const QB: f32 = 64.0;
/// One unit of an activation of a layered network.
pub const QC: f32 = 127.0;
/// An output of 1 in the last sum of a layered network: 400 centipawns in sixteenths.
pub const QO: f32 = 400.0 * 16.0;

/// What keeps a network from being written as whole numbers.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    #[error("{group}: {value} does not fit its whole number at {unit} a unit; train with a smaller `clip`")]
    Overflow { group: &'static str, value: f32, unit: f32 },
    #[error(transparent)]
    Format(#[from] nnue::FormatError),
}

/// Bullet's `quantised.bin`, which is the payload of a network file too.
///
/// SCReLU: i16 first-layer weights `[input][H]` and biases `[H]` at 255 a unit, output weights `[bucket][2H]` at 64 a unit,
/// output biases at 255 * 64 a unit. Layered: i16 first-layer weights and biases at 127 a unit, i8 second-layer weights
/// `[32][2H]` at 64, i32 biases `[32]` at 127 * 64, i8 output weights `[32]` at 400 * 16 / 127, i32 bias at 400 * 16, so
/// that the last sum is sixteenths of a centipawn.
/// Filled up with zeros to a multiple of 64 bytes.
///
/// # Errors
/// [`ExportError::Overflow`] for a weight out of its number's range.
pub fn payload(shape: &Shape, weights: &Parameters) -> Result<Vec<u8>, ExportError> {
    let mut bytes = Vec::new();
    let features = weights.merged_features();
    match shape.kind {
        Kind::Screlu => {
            words(&mut bytes, "first layer", &features, QA)?;
            words(&mut bytes, "first biases", &weights.bias, QA)?;
            words(&mut bytes, "output weights", &weights.output, QB)?;
            words(&mut bytes, "output biases", &weights.head, QA * QB)?;
        }
        Kind::Layered => {
            let (biases, rest) = weights.head.split_at(HIDDEN_2);
            let (output, bias) = rest.split_at(HIDDEN_2);
            words(&mut bytes, "first layer", &features, QC)?;
            words(&mut bytes, "first biases", &weights.bias, QC)?;
            octets(&mut bytes, "second layer", &weights.output, QB)?;
            longs(&mut bytes, "second biases", biases, QC * QB)?;
            octets(&mut bytes, "output weights", output, QO / QC)?;
            longs(&mut bytes, "output bias", bias, QO)?;
        }
    }
    bytes.resize(shape.layout().payload_len(), 0);
    Ok(bytes)
}

/// A network file: the engine's header, then the payload.
///
/// # Errors
/// [`ExportError::Format`] for a shape that the engine does not know.
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
