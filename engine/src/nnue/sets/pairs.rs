//! Block `top-pairs`: chosen pairs of pieces.

use super::active::ActiveFeatures;
use super::oriented::OrientedBoard;
use std::fmt;

/// Features of the block `piece`, of which pairs are made.
const PIECE_FEATURES: u16 = 768;

/// Features of own pieces in the block `piece`.
const OWN_FEATURES: u16 = 384;

/// Two features of the block `piece`, the lower one first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FeaturePair(u16, u16);

impl FeaturePair {
    /// Creates a pair from two features of `piece` in any order; `None` if they are equal, none is
    /// of an own piece, or one is out of range.
    pub fn new(a: u16, b: u16) -> Option<FeaturePair> {
        let (low, high) = (a.min(b), a.max(b));
        (low < high && low < OWN_FEATURES && high < PIECE_FEATURES).then_some(FeaturePair(low, high))
    }

    /// Returns both features, the lower one first.
    pub fn features(self) -> [u16; 2] {
        [self.0, self.1]
    }
}

/// Pairs of `top-pairs`; the feature of a pair is its place in the list.
#[derive(Clone, PartialEq, Eq)]
pub struct PairList {
    pairs: Vec<FeaturePair>,
    /// Places of the pairs, sorted by the first feature.
    places: Vec<u16>,
    /// First entry of `places` of each first feature.
    starts: Vec<u32>,
}

impl PairList {
    /// Maximum number of pairs.
    pub const MAX: usize = 32_768;

    /// Creates a list.
    ///
    /// # Errors
    /// Returns an error if the list is empty, too long, or has a pair twice.
    pub fn new(pairs: Vec<FeaturePair>) -> Result<PairList, PairListError> {
        if pairs.is_empty() || pairs.len() > PairList::MAX {
            return Err(PairListError::Length(pairs.len()));
        }
        let mut places: Vec<u16> = (0..pairs.len() as u16).collect();
        places.sort_unstable_by_key(|&place| (pairs[usize::from(place)], place));
        let same = places.windows(2).find(|two| pairs[usize::from(two[0])] == pairs[usize::from(two[1])]);
        if let Some(two) = same {
            return Err(PairListError::Twice { first: two[0], second: two[1] });
        }
        let before = |feature: u16| places.partition_point(|&place| pairs[usize::from(place)].0 < feature) as u32;
        let starts = (0..=OWN_FEATURES).map(before).collect();
        Ok(PairList { pairs, places, starts })
    }

    /// Returns the pairs in the order of their features.
    pub fn pairs(&self) -> &[FeaturePair] {
        &self.pairs
    }

    /// Adds the place of each pair that stands on the board.
    #[inline]
    pub(super) fn add(&self, board: &OrientedBoard, first: usize, on: &mut ActiveFeatures) {
        let pieces = board.pieces();
        for (code, &set) in pieces[..6].iter().enumerate() {
            for square in set {
                let feature = 64 * code + square.index();
                for &place in &self.places[self.starts[feature] as usize..self.starts[feature + 1] as usize] {
                    let other = self.pairs[usize::from(place)].1;
                    if pieces[usize::from(other >> 6)].0 >> (other & 63) & 1 != 0 {
                        on.insert(first + usize::from(place));
                    }
                }
            }
        }
    }
}

impl fmt::Debug for PairList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PairList({} pairs)", self.pairs.len())
    }
}

/// Reason why pairs are not a list of `top-pairs`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PairListError {
    /// The number of pairs is out of range.
    Length(usize),
    /// A pair is in the list twice, at these places.
    Twice {
        /// Place of the first one, from 0.
        first: u16,
        /// Place of the second one, from 0.
        second: u16,
    },
}

impl fmt::Display for PairListError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PairListError::Length(found) => {
                let remedy = if *found == 0 { "add one" } else { "leave some out" };
                write!(f, "{found} pairs, expected 1 to {}; {remedy}, or restore a damaged network file", PairList::MAX)
            }
            PairListError::Twice { first, second } => {
                write!(f, "pairs {first} and {second} are the same; remove one")
            }
        }
    }
}

impl std::error::Error for PairListError {}
