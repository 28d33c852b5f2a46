//! Quantised networks in the engine's file format and in Bullet's layout.

use super::network::{Parameters, Shape};
use destrier::nnue::{self, Activation, Kind, Layout, PAIR_DISTANCE};
use std::borrow::Cow;

/// Quantisation factor of the first layer in SCReLU, squared and pairwise networks.
pub const QA: f32 = 255.0;
/// Quantisation factor of the output weights in a SCReLU network, and of the second layer's weights
/// in all others.
pub const QB: f32 = 64.0;
/// Quantisation factor of units, and of the first layer in a layered network.
pub const QC: f32 = 127.0;
/// Quantisation factor of the last sum in a layered network: an output of 1 is 400 centipawns in
/// sixteenths.
pub const QO: f32 = 400.0 * 16.0;

/// Error of a network that cannot be quantised.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    #[error(
        "{group}: {value} does not fit its whole number at {unit} a unit; train with a smaller `clip`, and with `clip-features`"
    )]
    Overflow { group: &'static str, value: f32, unit: f32 },
    #[error(transparent)]
    Format(#[from] nnue::FormatError),
}

/// Quantises a network to Bullet's `quantised.bin`, which is also the payload of a network file.
///
/// SCReLU: i16 first-layer weights `[input][H]` and biases `[H]` at 255 a unit, output weights
/// `[bucket][2H]` at 64 a unit, output biases at 255 x 64 a unit. Layered: i16 first-layer weights
/// and biases at 127 a unit. Then i8 second-layer weights `[bucket][L][2H]` at 64 and i32 biases
/// `[bucket][L]` at 127 x 64, L of 8 to 64. Last, i8 output weights `[bucket][L]` at 400 x 16 / 127
/// and i32 biases `[bucket]` at 400 x 16. The last sum is then in sixteenths of a centipawn. Deep:
/// the same with i8 third-layer weights `[bucket][32][32]` at 64 and i32 biases `[bucket][32]` at
/// 127 x 64 before the output weights. Pairwise: the first layer at 255 a unit, the later ones like
/// those of deep, with second-layer weights `[bucket][L][H]` and third-layer weights
/// `[bucket][32][L]`. Those of the third layer and of the outputs are i16 and 16 times as large,
/// and their biases 16 x 64 times. Squared: the same with second-layer weights `[bucket][L][2H]`.
/// The payload is padded with zeros to a multiple of 64 bytes.
///
/// # Errors
/// [`ExportError::Overflow`] if a weight is outside the range of its integer type.
pub fn payload(shape: &Shape, weights: &Parameters) -> Result<Vec<u8>, ExportError> {
    let mut bytes = Vec::new();
    let features = weights.merged_features(shape);
    let mut groups = [&features[..], &weights.bias, &weights.output, &weights.head];
    for (place, part) in parts(shape).iter().enumerate() {
        let group = &mut groups[place.min(3)];
        let (values, rest) = group.split_at(part.len());
        *group = rest;
        part.write(&part.order.in_file(values), &mut bytes)?;
    }
    bytes.resize(shape.layout().payload_len(), 0);
    Ok(bytes)
}

/// Returns the weights that [`payload`] quantised, each with the error of its rounding.
///
/// # Panics
/// Panics if the payload is shorter than the weights of the shape.
pub fn dequantised(shape: &Shape, payload: &[u8]) -> Parameters {
    let mut rest = payload;
    filled(shape, |part| {
        let (bytes, after) = rest.split_at(part.len() * part.width);
        rest = after;
        part.read(bytes)
    })
}

/// Returns the payload of a network with this layout as that of a shape that differs in its king
/// buckets alone: each of them has the weights of the bucket that its squares had before. `None` if
/// they had several.
///
/// # Panics
/// Panics if the payload is shorter than its first layer.
pub fn in_king_buckets(shape: &Shape, from: &Layout, payload: &[u8]) -> Option<Vec<u8>> {
    let (first, rest) = payload.split_at(2 * from.features() * from.hidden);
    let bucket_len = first.len() / from.king_buckets;
    let mut bytes = Vec::new();
    for bucket in 0..shape.inputs.king_buckets() {
        let squares = shape.inputs.map().iter().zip(&from.bucket_map).filter(|(own, _)| usize::from(**own) == bucket);
        let mut before = squares.map(|(_, before)| usize::from(*before));
        let source = before.next().unwrap_or(0);
        if before.any(|other| other != source) {
            return None;
        }
        bytes.extend_from_slice(&first[source * bucket_len..][..bucket_len]);
    }
    bytes.extend_from_slice(rest);
    Some(bytes)
}

/// Returns weights whose parts have these values, in the order of a file. A factorised network gets
/// them all in the inputs' own part, and zero in the common one.
///
/// # Panics
/// Panics if a part has another number of values.
pub fn filled(shape: &Shape, mut values: impl FnMut(&Part) -> Vec<f32>) -> Parameters {
    let mut weights = Parameters::zero(shape);
    let mut groups = [&mut weights.features[..], &mut weights.bias, &mut weights.output, &mut weights.head];
    for (place, part) in parts(shape).iter().enumerate() {
        let group = &mut groups[place.min(3)];
        let (to, rest) = std::mem::take(group).split_at_mut(part.len());
        *group = rest;
        part.order.put(&values(part), to);
    }
    weights
}

/// Weights or biases of a layer, as they are in files.
#[derive(Debug, Clone)]
pub struct Part {
    /// Name in errors.
    name: &'static str,
    /// Name of the array in a file of `export --from-npz`.
    pub array: &'static str,
    /// Sizes, the outermost first; those of the third layer are units, then inputs.
    pub sizes: Vec<usize>,
    /// Bytes of a whole number: 1, 2 or 4.
    width: usize,
    /// Whole number that stands for 1.
    unit: f32,
    /// Order of the values in a file.
    pub order: Order,
}

/// Order of the values of a part in a file, by that in [`Parameters`].
#[derive(Debug, Clone, Copy)]
pub enum Order {
    /// The same.
    Same,
    /// Matrices `[rows][columns][run]` in place of `[columns][rows][run]`.
    Transposed { rows: usize, columns: usize, run: usize },
}

impl Order {
    /// Returns the place in [`Parameters`] of a value of a file.
    fn place(self, place: usize) -> usize {
        match self {
            Order::Same => place,
            Order::Transposed { rows, columns, run } => {
                let (line, column, within) = (place / run / columns, place / run % columns, place % run);
                ((line / rows * columns + column) * rows + line % rows) * run + within
            }
        }
    }

    /// Returns values of [`Parameters`] in the order of a file.
    pub fn in_file(self, values: &[f32]) -> Cow<'_, [f32]> {
        match self {
            Order::Same => values.into(),
            Order::Transposed { .. } => (0..values.len()).map(|place| values[self.place(place)]).collect(),
        }
    }

    /// Puts values of a file into those of [`Parameters`].
    ///
    /// # Panics
    /// Panics if `to` has another number of values.
    fn put(self, values: &[f32], to: &mut [f32]) {
        assert_eq!(values.len(), to.len(), "as many values as places");
        for (place, value) in values.iter().enumerate() {
            to[self.place(place)] = *value;
        }
    }
}

/// Returns the parts of a network in the order of its file. That is the order of [`Parameters`],
/// whose last group has all parts from the fourth on.
pub fn parts(shape: &Shape) -> Vec<Part> {
    let part = |name, array, sizes: &[usize], width, unit| {
        let order = Order::Same;
        Part { name, array, sizes: sizes.to_vec(), width, unit, order }
    };
    let (inputs, hidden, columns) = (shape.inputs.size(), shape.hidden, shape.columns());
    let unit = shape.kind.one() as f32;
    let mut parts = vec![
        part("first layer", "features", &[inputs, hidden], 2, unit),
        part("first biases", "biases", &[hidden], 2, unit),
    ];
    if shape.kind == Kind::Screlu {
        parts.push(part("output weights", "output", &[columns, 2 * hidden], 2, QB));
        parts.push(part("output biases", "output_biases", &[columns], 2, QA * QB));
        return parts;
    }
    let (buckets, units, third) = (shape.output_buckets, shape.kind.second_layer(), shape.kind.third_layer());
    let (grain, fineness) = (shape.kind.grain() as f32, shape.kind.fineness() as f32);
    let (width, later) = (shape.kind.later_weight_len(), grain * fineness);
    let mut second = part("second layer", "second", &[columns, shape.kind.second_inputs(hidden)], 1, QB);
    if shape.kind.activation() == Activation::Products {
        second.order = Order::Transposed { rows: 2, columns: hidden / (2 * PAIR_DISTANCE), run: PAIR_DISTANCE };
    }
    parts.extend([second, part("second biases", "second_biases", &[columns], 4, QC * QB)]);
    if third > 0 {
        let order = Order::Transposed { rows: third, columns: units, run: 1 };
        parts.push(Part { order, ..part("third layer", "third", &[buckets * third, units], width, fineness * QB) });
        parts.push(part("third biases", "third_biases", &[buckets * third], 4, later * QC * QB));
    }
    parts.push(part("output weights", "output", &[buckets * shape.kind.last_layer()], width, fineness * QO / QC));
    parts.push(part("output biases", "output_biases", &[buckets], 4, later * QO));
    parts
}

impl Part {
    /// Number of values.
    pub fn len(&self) -> usize {
        self.sizes.iter().product()
    }

    /// Appends the whole numbers of values.
    fn write(&self, values: &[f32], bytes: &mut Vec<u8>) -> Result<(), ExportError> {
        let limit = f64::from(1_u32 << (8 * self.width - 1));
        for &value in values {
            let scaled = (f64::from(value) * f64::from(self.unit)).round();
            if !(scaled >= -limit && scaled < limit) {
                return Err(ExportError::Overflow { group: self.name, value, unit: self.unit });
            }
            bytes.extend_from_slice(&(scaled as i32).to_le_bytes()[..self.width]);
        }
        Ok(())
    }

    /// Returns the values of whole numbers.
    fn read(&self, bytes: &[u8]) -> Vec<f32> {
        let number = |bytes: &[u8]| {
            let mut high = [0; 4];
            high[4 - self.width..].copy_from_slice(bytes);
            // The shift takes the sign along.
            i32::from_le_bytes(high) >> (8 * (4 - self.width))
        };
        bytes.chunks_exact(self.width).map(|bytes| number(bytes) as f32 / self.unit).collect()
    }
}

/// Creates a network file: the engine's header, then the payload.
///
/// # Errors
/// [`ExportError::Format`] if the engine does not support the shape.
pub fn network(shape: &Shape, payload: &[u8]) -> Result<Vec<u8>, ExportError> {
    Ok(nnue::encode(&shape.layout(), payload)?)
}
