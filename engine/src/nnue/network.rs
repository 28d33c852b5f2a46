//! Weights of a network, and its output from two accumulators.

use super::layout::{Kind, Layout, QA, output_bucket};
use super::simd::{AlignedArray, Kernels, LayeredHead, MiddleLayer, SecondLayer};
use crate::types::Score;
use std::fmt;

/// Value of one in the output weights of kind 1.
pub const QB: i64 = 64;
/// Centipawns of an output of one.
pub const SCALE: i64 = 400;
/// Bound of every evaluation, far below the mate scores, whatever the weights are.
pub const EVAL_LIMIT: Score = 20_000;

/// Largest output weight whose product with an activation of up to 255 fits 16 bits.
const NARROW: u16 = 128;

enum Head {
    Screlu {
        /// Weights `[bucket][2 * hidden]`, the side to move's half first.
        weights: AlignedArray<i16>,
        biases: Vec<i16>,
        /// Set if no weight is beyond [`NARROW`], so that the kernels' 16-bit products are exact.
        narrow: bool,
    },
    /// A head for each bucket.
    Layered(Vec<LayeredHead>),
}

/// Network ready for evaluation, shared between threads.
pub struct Network {
    layout: Layout,
    /// Weights `[feature][hidden]`.
    feature_weights: AlignedArray<i16>,
    feature_biases: AlignedArray<i16>,
    head: Head,
}

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Network").field("layout", &self.layout).finish_non_exhaustive()
    }
}

/// Reader of numbers from a payload whose length was checked.
struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    fn take(&mut self, len: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(len);
        self.0 = rest;
        taken
    }

    fn i16s(&mut self, count: usize) -> impl Iterator<Item = i16> {
        self.take(2 * count).as_chunks::<2>().0.iter().map(|bytes| i16::from_le_bytes(*bytes))
    }

    fn i32s(&mut self, count: usize) -> impl Iterator<Item = i32> {
        self.take(4 * count).as_chunks::<4>().0.iter().map(|bytes| i32::from_le_bytes(*bytes))
    }

    fn i8s(&mut self, count: usize) -> impl Iterator<Item = i8> {
        self.take(count).iter().map(|&byte| byte as i8)
    }

    /// Reads numbers of one byte or two.
    fn of_len(&mut self, count: usize, len: usize) -> Vec<i16> {
        if len == 1 { self.i8s(count).map(i16::from).collect() } else { self.i16s(count).collect() }
    }
}

impl Network {
    /// Builds the network of a payload of at least [`Layout::weights_len`] bytes.
    pub(super) fn from_payload(layout: Layout, payload: &[u8]) -> Network {
        let hidden = layout.hidden;
        let mut cursor = Cursor(payload);
        let rows = layout.features();
        let feature_weights = AlignedArray::collect(rows * hidden, cursor.i16s(rows * hidden));
        let feature_biases = AlignedArray::collect(hidden, cursor.i16s(hidden));
        let head = match layout.kind {
            Kind::Screlu => {
                let count = layout.output_buckets * 2 * hidden;
                let weights = AlignedArray::collect(count, cursor.i16s(count));
                let biases = cursor.i16s(layout.output_buckets).collect();
                let narrow = weights.iter().all(|weight| weight.unsigned_abs() <= NARROW);
                Head::Screlu { weights, biases, narrow }
            }
            Kind::Layered(_) | Kind::Deep | Kind::Pairwise(_) | Kind::Squared(_) => {
                let (kind, buckets) = (layout.kind, layout.output_buckets);
                let (neurons, third, last) = (kind.second_layer(), kind.third_layer(), kind.last_layer());
                let weights = neurons * kind.second_inputs(hidden);
                let rows: Vec<i8> = cursor.i8s(buckets * weights).collect();
                let biases: Vec<i32> = cursor.i32s(buckets * neurons).collect();
                let len = kind.later_weight_len();
                let middle_rows = cursor.of_len(buckets * third * neurons, len);
                let middle_biases: Vec<i32> = cursor.i32s(buckets * third).collect();
                let output = cursor.of_len(buckets * last, len);
                let heads = (0..buckets).zip(cursor.i32s(buckets)).map(|(bucket, output_bias)| {
                    let middle = (third > 0).then(|| {
                        let rows = &middle_rows[bucket * third * neurons..][..third * neurons];
                        MiddleLayer::new(rows, &middle_biases[bucket * third..][..third])
                    });
                    let layer = SecondLayer {
                        rows: &rows[bucket * weights..][..weights],
                        biases: &biases[bucket * neurons..][..neurons],
                        activation: kind.activation(),
                    };
                    LayeredHead::new(&layer, middle, &output[bucket * last..][..last], output_bias)
                });
                Head::Layered(heads.collect())
            }
        };
        Network { layout, feature_weights, feature_biases, head }
    }

    /// Returns the sizes of the layers.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Returns the weights of all features, `[feature][hidden]`.
    #[inline]
    pub(super) fn feature_weights(&self) -> &[i16] {
        &self.feature_weights
    }

    /// Returns the weights of one feature, one per hidden neuron.
    #[inline]
    pub(super) fn row(&self, feature: u16) -> &[i16] {
        let hidden = self.layout.hidden;
        &self.feature_weights[usize::from(feature) * hidden..][..hidden]
    }

    #[inline]
    pub(super) fn feature_biases(&self) -> &[i16] {
        &self.feature_biases
    }

    /// Returns false for a network of kind 1 with output weights too large for 16-bit products,
    /// which scalar code evaluates.
    pub fn is_narrow(&self) -> bool {
        match &self.head {
            Head::Screlu { narrow, .. } => *narrow,
            Head::Layered(_) => true,
        }
    }

    /// Returns the evaluation in centipawns within [`EVAL_LIMIT`], from the view of the side to
    /// move, whose accumulator is `own`.
    ///
    /// Kind 1: the sum over both accumulators of clamp(a, 0, QA)^2 * w, divided by QA, plus the
    /// bias, times SCALE / (QA * QB). Kind 2: clamp(a, 0, 127) times the second layer plus bias,
    /// shifted right by 6, clamped to 0..127, times the output weights, plus bias, divided by 16.
    /// Kind 3: the same with one more such layer before the output. Kinds 4 and 5: the inputs of
    /// the second layer are clamp(a, 0, QA) * clamp(b, 0, QA) / 512 rounded, of pairs or with b =
    /// a. Its sums, clamped to 0..127 * 64, times the third layer plus bias, shifted right by 10,
    /// clamped to 0..127 * 64, times the output weights, plus bias, are divided by 16,384. Sums of
    /// later layers wrap. Divisions round towards zero.
    #[inline]
    pub(super) fn evaluate(&self, kernels: &Kernels, own: &[i16], other: &[i16], bucket: usize) -> Score {
        let limit = i64::from(EVAL_LIMIT);
        let value = match &self.head {
            Head::Screlu { weights, biases, narrow } => {
                let hidden = self.layout.hidden;
                let weights = &weights[bucket * 2 * hidden..][..2 * hidden];
                let dot = if *narrow { kernels.screlu } else { super::simd::screlu_wide };
                (dot(own, other, weights) / QA + i64::from(biases[bucket])) * SCALE / (QA * QB)
            }
            Head::Layered(heads) => i64::from((kernels.layered)(own, other, &heads[bucket]) / heads[bucket].divisor()),
        };
        value.clamp(-limit, limit) as Score
    }

    /// Returns the output bucket of a position with `pieces` pieces.
    #[inline]
    pub(super) fn output_bucket(&self, pieces: u32) -> usize {
        output_bucket(pieces, self.layout.output_buckets)
    }
}
