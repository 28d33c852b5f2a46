//! Shape of a network: architecture, sizes and the output bucket formula, for the engine and the
//! trainer.

use super::sets::FeatureSet;
use crate::types::Square;
use std::fmt;

/// Features of the block `piece`, which are those of one king bucket: own and enemy pieces of six
/// kinds on 64 squares.
pub const FEATURES: usize = 768;

/// Value of one in the first layer of kinds 1, 4 and 5.
pub const QA: i64 = 255;

/// Neurons of every third layer, of the second layer of kind 3, and of that of other kinds unless
/// the header says otherwise.
pub const HIDDEN_2: usize = 32;

/// Neurons that the second layer of kinds 2, 4 and 5 may have.
pub const SECOND_LAYERS: [usize; 4] = [8, 16, HIDDEN_2, MAX_SECOND_LAYER];

/// Largest of [`SECOND_LAYERS`].
pub const MAX_SECOND_LAYER: usize = 64;

/// Divisor of the first layer's size of most kinds.
pub(super) const HIDDEN_STEP: usize = 32;

/// Distance of the two neurons of a pair of kind 4: of each 64 neurons, the first 32 are multiplied
/// with the last 32.
pub const PAIR_DISTANCE: usize = 32;

pub(super) const MAX_HIDDEN: usize = 4096;
/// Maximum number of king buckets.
pub const MAX_KING_BUCKETS: usize = 32;
/// Divisor of the payload's length in bytes.
const PADDING: usize = 64;
/// Maximum length of the weights in bytes.
const MAX_WEIGHTS: usize = 255 << 20;

/// Function that makes inputs of the second layer of a side's neurons.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activation {
    /// Clipped ReLU.
    Clipped,
    /// Square of the clipped ReLU.
    Squared,
    /// Products of two clipped neurons each.
    Products,
}

impl Activation {
    /// Returns the number of steps of a unit of later layers within 1/127: after clipped ReLU,
    /// units are rounded to 127ths.
    pub const fn grain(self) -> i64 {
        match self {
            Activation::Clipped => 1,
            Activation::Squared | Activation::Products => 64,
        }
    }

    /// Returns the factor of the weights after the second layer over those after clipped ReLU,
    /// which are bytes in 64ths and 50.4ths.
    pub const fn fineness(self) -> i64 {
        match self {
            Activation::Clipped => 1,
            Activation::Squared | Activation::Products => 16,
        }
    }
}

/// Architecture of the layers after the first.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Squared clipped ReLU and one output for each bucket.
    Screlu,
    /// Clipped ReLU, a layer of this many neurons, one of [`SECOND_LAYERS`], and one output, all
    /// for each bucket.
    Layered(usize),
    /// Clipped ReLU, two layers of [`HIDDEN_2`] neurons and one output, all for each bucket.
    Deep,
    /// Products of two clipped neurons each, a layer of this many neurons, one of
    /// [`SECOND_LAYERS`], a layer of [`HIDDEN_2`] neurons and one output, all for each bucket.
    Pairwise(usize),
    /// Squared clipped ReLU and the later layers of [`Kind::Pairwise`].
    Squared(usize),
}

/// The usual second layer goes without its size: digests of plans are made of this text.
impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Kind::Screlu => f.write_str("Screlu"),
            Kind::LAYERED => f.write_str("Layered"),
            Kind::Layered(neurons) => write!(f, "Layered({neurons})"),
            Kind::Deep => f.write_str("Deep"),
            Kind::Pairwise(neurons) => write!(f, "Pairwise({neurons})"),
            Kind::Squared(neurons) => write!(f, "Squared({neurons})"),
        }
    }
}

impl Kind {
    /// All kinds, each size of a second layer as its own.
    pub const ALL: [Kind; 14] = [
        Kind::Screlu,
        Kind::LAYERED,
        Kind::Deep,
        Kind::Layered(8),
        Kind::Layered(16),
        Kind::Layered(64),
        Kind::Pairwise(8),
        Kind::Pairwise(16),
        Kind::Pairwise(HIDDEN_2),
        Kind::Pairwise(64),
        Kind::Squared(8),
        Kind::Squared(16),
        Kind::Squared(HIDDEN_2),
        Kind::Squared(64),
    ];

    /// Kind 2 with the usual size of the second layer.
    pub const LAYERED: Kind = Kind::Layered(HIDDEN_2);

    /// Name of the kind in plans: `screlu`, `layered`, `deep`, or `layered-`, `pairwise-` and
    /// `squared-` with the size of the second layer.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Screlu => "screlu",
            Kind::Layered(8) => "layered-8",
            Kind::Layered(16) => "layered-16",
            Kind::Layered(64) => "layered-64",
            Kind::Layered(_) => "layered",
            Kind::Deep => "deep",
            Kind::Pairwise(8) => "pairwise-8",
            Kind::Pairwise(16) => "pairwise-16",
            Kind::Pairwise(64) => "pairwise-64",
            Kind::Pairwise(_) => "pairwise-32",
            Kind::Squared(8) => "squared-8",
            Kind::Squared(16) => "squared-16",
            Kind::Squared(64) => "squared-64",
            Kind::Squared(_) => "squared-32",
        }
    }

    /// Number of the kind in a file's header.
    pub(super) const fn code(self) -> u32 {
        match self {
            Kind::Screlu => 1,
            Kind::Layered(_) => 2,
            Kind::Deep => 3,
            Kind::Pairwise(_) => 4,
            Kind::Squared(_) => 5,
        }
    }

    /// Returns the number of neurons of the second layer, 0 if there is none.
    pub const fn second_layer(self) -> usize {
        match self {
            Kind::Screlu => 0,
            Kind::Layered(neurons) | Kind::Pairwise(neurons) | Kind::Squared(neurons) => neurons,
            Kind::Deep => HIDDEN_2,
        }
    }

    /// Returns the number of neurons of the third layer, 0 if there is none.
    pub const fn third_layer(self) -> usize {
        match self {
            Kind::Screlu | Kind::Layered(_) => 0,
            Kind::Deep | Kind::Pairwise(_) | Kind::Squared(_) => HIDDEN_2,
        }
    }

    /// Returns the number of neurons before the output of a bucket: those of the last layer.
    pub const fn last_layer(self) -> usize {
        if self.third_layer() > 0 { self.third_layer() } else { self.second_layer() }
    }

    /// Returns the divisor of the first layer's size. Vectors hold up to 32 numbers. The trainer
    /// splits a layer into parts of 64 neurons, which hold whole blocks of pairs, only if its size
    /// is a multiple of 128.
    pub const fn hidden_step(self) -> usize {
        match self {
            Kind::Screlu | Kind::Layered(_) | Kind::Deep | Kind::Squared(_) => HIDDEN_STEP,
            Kind::Pairwise(_) => 4 * PAIR_DISTANCE,
        }
    }

    /// Returns the function after the first layer.
    pub const fn activation(self) -> Activation {
        match self {
            Kind::Screlu | Kind::Squared(_) => Activation::Squared,
            Kind::Layered(_) | Kind::Deep => Activation::Clipped,
            Kind::Pairwise(_) => Activation::Products,
        }
    }

    /// Returns the value of one in the first layer.
    pub const fn one(self) -> i64 {
        match self.activation() {
            Activation::Squared | Activation::Products => QA,
            Activation::Clipped => 127,
        }
    }

    /// Returns [`Activation::grain`] of the kind.
    pub const fn grain(self) -> i64 {
        self.activation().grain()
    }

    /// Returns [`Activation::fineness`] of the kind.
    pub const fn fineness(self) -> i64 {
        self.activation().fineness()
    }

    /// Returns the length in bytes of a weight after the second layer.
    pub const fn later_weight_len(self) -> usize {
        if self.fineness() == 1 { 1 } else { 2 }
    }

    /// Returns the inputs of the layer after the first, whose sides have `hidden` neurons each.
    pub const fn second_inputs(self, hidden: usize) -> usize {
        match self.activation() {
            Activation::Products => hidden,
            Activation::Clipped | Activation::Squared => 2 * hidden,
        }
    }

    /// Returns the output buckets of a network of this kind, unless its header gives another
    /// number.
    pub const fn usual_output_buckets(self) -> usize {
        match self {
            Kind::Screlu | Kind::Pairwise(_) | Kind::Squared(_) => 8,
            Kind::Layered(_) | Kind::Deep => 1,
        }
    }
}

/// Returns the output bucket of a position with `pieces` pieces (2 to 32, kings included) in a
/// network of `buckets` outputs: `(pieces - 2) / ceil(32 / buckets)`, Bullet's material count.
#[inline]
pub const fn output_bucket(pieces: u32, buckets: usize) -> usize {
    (pieces.saturating_sub(2) / 32_u32.div_ceil(buckets as u32)) as usize
}

/// Shape of a network: the contents of its header except the hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// Layers after the accumulators.
    pub kind: Kind,
    /// Inputs of one side's view.
    pub set: FeatureSet,
    /// Neurons of the first layer per side: a multiple of 32, at most 4096.
    pub hidden: usize,
    /// Number of sets of feature weights, selected by the own king's square; 1 to 32, and 1
    /// unless the set is `piece`.
    pub king_buckets: usize,
    /// Number of outputs, with all layers after the first, selected by the number of pieces; 8 or
    /// 1.
    pub output_buckets: usize,
    /// Set if the board is mirrored so that the own king is on files a to d; only if the set is
    /// `piece`.
    pub mirrored: bool,
    /// King bucket of `rank * 4 + file`, with files e to h folded onto d to a.
    pub bucket_map: [u8; 32],
}

impl Layout {
    /// Creates a layout of the set `piece` without king buckets and mirroring, with the kind's
    /// usual output buckets.
    pub fn plain(kind: Kind, hidden: usize) -> Layout {
        Layout::of_set(kind, FeatureSet::piece(), hidden)
    }

    /// Creates a layout of a set with the kind's usual output buckets.
    pub fn of_set(kind: Kind, set: FeatureSet, hidden: usize) -> Layout {
        let output_buckets = kind.usual_output_buckets();
        Layout { kind, set, hidden, king_buckets: 1, output_buckets, mirrored: false, bucket_map: [0; 32] }
    }

    /// Returns the number of rows of the first layer: the features of all king buckets.
    pub fn features(&self) -> usize {
        self.king_buckets * self.set.size()
    }

    /// Returns the king bucket of a perspective by the square of its king, seen from its own side.
    #[inline]
    pub fn king_bucket(&self, king: Square) -> usize {
        let file = king.file().min(7 - king.file());
        usize::from(self.bucket_map[usize::from(king.rank() * 4 + file) & 31])
    }

    /// Returns the length of the weights in bytes, without padding.
    pub fn weights_len(&self) -> usize {
        let features = 2 * self.hidden * (self.features() + 1);
        let head = match self.kind {
            Kind::Screlu => 2 * self.output_buckets * (2 * self.hidden + 1),
            Kind::Layered(_) | Kind::Deep | Kind::Pairwise(_) | Kind::Squared(_) => {
                let (neurons, third) = (self.kind.second_layer(), self.kind.third_layer());
                let second = neurons * (self.kind.second_inputs(self.hidden) + 4);
                let later = self.kind.later_weight_len() * (third * neurons + self.kind.last_layer());
                self.output_buckets * (second + later + 4 * third + 4)
            }
        };
        features + head
    }

    /// Returns the length of the weights in bytes, padding included.
    pub fn payload_len(&self) -> usize {
        self.weights_len().next_multiple_of(PADDING)
    }

    /// Returns the length of the list of `top-pairs` in bytes, which precedes the weights; 0
    /// without one.
    pub(super) fn pairs_len(&self) -> usize {
        self.set.pairs().map_or(0, |list| 4 + 4 * list.pairs().len())
    }

    /// Returns the length of a file's part after the header, padding included.
    pub(super) fn body_len(&self) -> usize {
        (self.pairs_len() + self.weights_len()).next_multiple_of(PADDING)
    }

    /// Checks each size against its range, within which no array size overflows.
    ///
    /// # Errors
    /// Returns an error if a size is out of range.
    pub fn validate(&self) -> Result<(), SizeError> {
        let bad = |what, found: usize, expected| Err(SizeError { what, found, expected });
        if self.hidden == 0 || self.hidden > MAX_HIDDEN || !self.hidden.is_multiple_of(HIDDEN_STEP) {
            return bad("hidden", self.hidden, "a multiple of 32 up to 4096");
        }
        if self.king_buckets == 0 || self.king_buckets > MAX_KING_BUCKETS {
            return bad("king buckets", self.king_buckets, "1 to 32");
        }
        if self.king_buckets > 1 && !self.set.is_piece() {
            return bad("king buckets", self.king_buckets, "1 with another feature set than `piece`");
        }
        if self.mirrored && !self.set.is_piece() {
            return bad("mirrored", 1, "0 with another feature set than `piece`");
        }
        if !matches!(self.output_buckets, 1 | 8) {
            return bad("output buckets", self.output_buckets, "1 or 8");
        }
        if !self.hidden.is_multiple_of(self.kind.hidden_step()) {
            return bad("hidden", self.hidden, "a multiple of 128 in a pairwise network");
        }
        if let Kind::Layered(neurons) | Kind::Pairwise(neurons) | Kind::Squared(neurons) = self.kind
            && !SECOND_LAYERS.contains(&neurons)
        {
            return bad("neurons of the second layer", neurons, "8, 16, 32 or 64");
        }
        if self.weights_len() > MAX_WEIGHTS {
            let remedy = "at most 267386880: fewer hidden neurons or a smaller feature set";
            return bad("bytes of weights", self.weights_len(), remedy);
        }
        match self.bucket_map.iter().find(|&&bucket| usize::from(bucket) >= self.king_buckets) {
            Some(&bucket) => bad("an entry of the king bucket map", usize::from(bucket), "less than the king buckets"),
            None => Ok(()),
        }
    }

    /// Formats the shape in the usual notation, such as `(768x4hm -> 256)x2 -> 1x8`, with `/2` or
    /// `^2` for products of pairs or squares, `(768 -> 512^2)x2 -> (16 -> 32 -> 1)x8`, or
    /// `(piece+file[864] -> 256)x2 -> (16 -> 1)x8` if the set is not `piece`.
    pub fn describe(&self) -> String {
        let buckets = if self.king_buckets > 1 { format!("x{}", self.king_buckets) } else { String::new() };
        let mirrored = if self.mirrored { "hm" } else { "" };
        let head = match self.kind {
            Kind::Screlu => format!("1x{}", self.output_buckets),
            Kind::Layered(neurons) => self.in_buckets(format!("{neurons} -> 1")),
            Kind::Deep => self.in_buckets(format!("{HIDDEN_2} -> {HIDDEN_2} -> 1")),
            Kind::Pairwise(neurons) | Kind::Squared(neurons) => {
                self.in_buckets(format!("{neurons} -> {HIDDEN_2} -> 1"))
            }
        };
        // A kind whose layers are those of another has its activation after the neurons.
        let mark = match self.kind {
            Kind::Pairwise(_) => "/2",
            Kind::Squared(_) => "^2",
            Kind::Screlu | Kind::Layered(_) | Kind::Deep => "",
        };
        let inputs = if self.set.is_piece() {
            format!("{FEATURES}{buckets}{mirrored}")
        } else {
            format!("{}[{}]", self.set, self.set.size())
        };
        format!("({inputs} -> {}{mark})x2 -> {head}", self.hidden)
    }

    fn in_buckets(&self, layers: String) -> String {
        if self.output_buckets == 1 { layers } else { format!("({layers})x{}", self.output_buckets) }
    }
}

/// Size of a layout that is out of range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SizeError {
    /// Name of the size.
    pub what: &'static str,
    /// Value of the size.
    pub found: usize,
    /// Values that are allowed, in words.
    pub expected: &'static str,
}

impl fmt::Display for SizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}, expected {}", self.what, self.found, self.expected)
    }
}

impl std::error::Error for SizeError {}

#[cfg(test)]
mod tests {
    use super::*;

    /// A changed text would refuse to continue trainings that were begun before.
    #[test]
    fn kinds_have_the_texts_of_digests() {
        let texts = Kind::ALL.map(|kind| format!("{kind:?}"));
        let layered = ["Screlu", "Layered", "Deep", "Layered(8)", "Layered(16)", "Layered(64)"];
        let pairwise = ["Pairwise(8)", "Pairwise(16)", "Pairwise(32)", "Pairwise(64)"];
        assert_eq!(texts[..6], layered);
        assert_eq!(texts[6..10], pairwise);
        assert_eq!(texts[10..], ["Squared(8)", "Squared(16)", "Squared(32)", "Squared(64)"]);
        assert!(Kind::ALL.iter().all(|kind| Kind::ALL.iter().filter(|other| other.name() == kind.name()).count() == 1));
    }

    /// Each of eight buckets has four piece counts, except the last with three; a single bucket has
    /// all.
    #[test]
    fn output_buckets_cover_all_piece_counts() {
        for (pieces, of_eight) in [(2, 0), (5, 0), (6, 1), (29, 6), (30, 7), (32, 7)] {
            assert_eq!(output_bucket(pieces, 8), of_eight, "{pieces} pieces");
            assert_eq!(output_bucket(pieces, 1), 0, "{pieces} pieces");
        }
        for buckets in 1..=16 {
            assert!((2..=32).all(|pieces| output_bucket(pieces, buckets) < buckets), "{buckets} buckets");
        }
    }
}
