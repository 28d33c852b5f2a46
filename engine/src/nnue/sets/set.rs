//! Sums of blocks, and their names.

use super::active::ActiveFeatures;
use super::block::{BLOCKS, FeatureBlock, Locality, TOP_PAIRS_ALIASES, TOP_PAIRS_CODE, TOP_PAIRS_NAME};
use super::oriented::OrientedBoard;
use super::pairs::PairList;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// Maximum number of features of a set, so that an index has 16 bits.
pub const MAX_SET_SIZE: usize = 1 << 16;

/// Maximum number of blocks of a set, which is the space in a network file's header.
pub const MAX_BLOCKS: usize = 14;

/// Names that stand for sums.
const SUMS: [(&str, &str); 4] =
    [("compact", "file+rank"), ("COMPACT", "file+rank"), ("half-compact", "file+rank"), ("PIECE-MOVE", "piece+moves")];

/// Sum of blocks; the inputs of a network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeatureSet {
    /// Blocks with their first features.
    blocks: Vec<(FeatureBlock, usize)>,
    size: usize,
    locality: Locality,
}

impl FeatureSet {
    /// Creates the set of the block `piece` alone.
    pub fn piece() -> FeatureSet {
        FeatureSet {
            size: FeatureBlock::Piece.size(),
            locality: FeatureBlock::Piece.locality(),
            blocks: vec![(FeatureBlock::Piece, 0)],
        }
    }

    /// Creates a set from blocks in the order of their features.
    ///
    /// # Errors
    /// Returns an error if there is no block, one is repeated, or there are too many blocks or
    /// features.
    pub fn new(list: Vec<FeatureBlock>) -> Result<FeatureSet, SetError> {
        if list.is_empty() {
            return Err(SetError::Empty);
        }
        if list.len() > MAX_BLOCKS {
            return Err(SetError::Blocks(list.len()));
        }
        let mut blocks: Vec<(FeatureBlock, usize)> = Vec::with_capacity(list.len());
        let mut size = 0;
        for block in list {
            if blocks.iter().any(|(other, _)| other.code() == block.code()) {
                return Err(SetError::Twice(block.to_string()));
            }
            let first = size;
            size += block.size();
            blocks.push((block, first));
        }
        if size > MAX_SET_SIZE {
            return Err(SetError::Size(size));
        }
        let locality =
            blocks.iter().map(|(block, _)| block.locality()).fold(FeatureBlock::Piece.locality(), Locality::and);
        Ok(FeatureSet { blocks, size, locality })
    }

    /// Parses names of blocks joined by `+`, with the list of a block `top-pairs:K` if there is
    /// one.
    ///
    /// # Errors
    /// Returns an error if a name is not known, `top-pairs` and the list do not agree, or as in
    /// [`FeatureSet::new`].
    pub fn parse(text: &str, pairs: Option<&Arc<PairList>>) -> Result<FeatureSet, SetError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(SetError::Empty);
        }
        let mut list = Vec::new();
        let mut has_pairs = false;
        for name in text.split('+').map(str::trim) {
            let expanded = SUMS.iter().find(|(sum, _)| *sum == name).map_or(name, |(_, names)| names);
            for name in expanded.split('+') {
                list.push(parse_block(name, pairs)?);
                has_pairs |= matches!(list.last(), Some(FeatureBlock::TopPairs(_)));
            }
        }
        match pairs {
            Some(pairs) if !has_pairs => Err(SetError::UnusedPairs { found: pairs.pairs().len() }),
            _ => FeatureSet::new(list),
        }
    }

    /// Creates a set from the codes of blocks in a network file.
    ///
    /// # Errors
    /// Returns an error if a code is not known, `top-pairs` lacks its list, or as in
    /// [`FeatureSet::new`].
    pub fn from_codes(codes: &[u16], pairs: Option<PairList>) -> Result<FeatureSet, SetError> {
        let mut pairs = pairs.map(Arc::new);
        let block = |code: u16| match BLOCKS.iter().find(|row| row.code == code) {
            Some(row) => Ok(row.block.clone()),
            None if code == TOP_PAIRS_CODE => {
                pairs.take().map(FeatureBlock::TopPairs).ok_or(SetError::NoPairs { wanted: None })
            }
            None => Err(SetError::Code(code)),
        };
        FeatureSet::new(codes.iter().copied().map(block).collect::<Result<_, _>>()?)
    }

    /// Returns the blocks with their first features.
    pub fn blocks(&self) -> &[(FeatureBlock, usize)] {
        &self.blocks
    }

    /// Returns the number of features, 1 to [`MAX_SET_SIZE`].
    #[inline]
    pub fn size(&self) -> usize {
        self.size
    }

    /// Returns whether the set is the block `piece` alone.
    pub fn is_piece(&self) -> bool {
        matches!(self.blocks[..], [(FeatureBlock::Piece, _)])
    }

    /// Returns the pairs of the block `top-pairs`, if the set has it.
    pub fn pairs(&self) -> Option<&PairList> {
        self.blocks.iter().find_map(|(block, _)| match block {
            FeatureBlock::TopPairs(list) => Some(&**list),
            _ => None,
        })
    }

    /// Returns the dependence of the features on the board: that of all blocks together.
    #[inline]
    pub fn locality(&self) -> Locality {
        self.locality
    }

    /// Replaces a set of active features by those of a view.
    #[inline]
    pub fn activate(&self, board: &OrientedBoard, on: &mut ActiveFeatures) {
        on.clear();
        for (block, first) in &self.blocks {
            block.add_active(board, *first, on);
        }
    }

    /// Returns the active features of a view.
    pub fn active(&self, board: &OrientedBoard) -> ActiveFeatures {
        let mut on = ActiveFeatures::new(self.size);
        self.activate(board, &mut on);
        on
    }
}

/// Parses the name of one block.
fn parse_block(name: &str, pairs: Option<&Arc<PairList>>) -> Result<FeatureBlock, SetError> {
    let is = |row: &&super::block::BlockRow| row.name == name || row.aliases.contains(&name);
    if let Some(row) = BLOCKS.iter().find(is) {
        return Ok(row.block.clone());
    }
    let (head, count) = name.split_once(':').unwrap_or((name, ""));
    if head != TOP_PAIRS_NAME && !TOP_PAIRS_ALIASES.contains(&head) {
        return Err(SetError::Unknown(name.to_owned()));
    }
    let wanted: usize = match count.parse() {
        Ok(count) if (1..=PairList::MAX).contains(&count) => count,
        _ => return Err(SetError::PairCount(name.to_owned())),
    };
    let list = pairs.ok_or(SetError::NoPairs { wanted: Some(wanted) })?;
    if list.pairs().len() != wanted {
        return Err(SetError::OtherPairs { wanted, found: list.pairs().len() });
    }
    Ok(FeatureBlock::TopPairs(Arc::clone(list)))
}

impl FromStr for FeatureSet {
    type Err = SetError;

    /// Parses the names of a set without `top-pairs`.
    fn from_str(text: &str) -> Result<FeatureSet, SetError> {
        FeatureSet::parse(text, None)
    }
}

impl fmt::Display for FeatureSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, (block, _)) in self.blocks.iter().enumerate() {
            let plus = if place > 0 { "+" } else { "" };
            write!(f, "{plus}{block}")?;
        }
        Ok(())
    }
}

/// Reason why names or codes are not a feature set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SetError {
    /// There is no block.
    Empty,
    /// No block has this name.
    Unknown(String),
    /// No block has this code.
    Code(u16),
    /// A block is named twice.
    Twice(String),
    /// There are too many blocks.
    Blocks(usize),
    /// There are too many features.
    Size(usize),
    /// The number of pairs after `top-pairs:` is missing or out of range.
    PairCount(String),
    /// The set has `top-pairs`, and there is no list of pairs.
    NoPairs {
        /// Number of pairs of the name, if it is known.
        wanted: Option<usize>,
    },
    /// The list has another number of pairs than the name.
    OtherPairs {
        /// Number in the name.
        wanted: usize,
        /// Number in the list.
        found: usize,
    },
    /// There is a list of pairs, and the set has no `top-pairs`.
    UnusedPairs {
        /// Number of pairs in the list.
        found: usize,
    },
}

impl fmt::Display for SetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SetError::Empty => write!(f, "a feature set without blocks; `piece` is the usual one"),
            SetError::Unknown(name) => {
                let names: Vec<&str> = BLOCKS.iter().map(|row| row.name).collect();
                write!(f, "unknown feature block `{name}`; the blocks are {}, {TOP_PAIRS_NAME}:K", names.join(", "))
            }
            SetError::Code(code) => {
                write!(f, "unknown feature block, code {code}; the file is of a later version or damaged")
            }
            SetError::Twice(name) => write!(f, "feature block `{name}` twice; name it once"),
            SetError::Blocks(found) => {
                write!(
                    f,
                    "{found} feature blocks, expected 1 to {MAX_BLOCKS}; leave some out, or restore a damaged network file"
                )
            }
            SetError::Size(found) => {
                write!(f, "a feature set of {found} features, expected at most {MAX_SET_SIZE}; leave out a block")
            }
            SetError::PairCount(name) => {
                write!(f, "`{name}` is not {TOP_PAIRS_NAME}:K with K from 1 to {}", PairList::MAX)
            }
            SetError::NoPairs { wanted: Some(wanted) } => {
                write!(f, "`{TOP_PAIRS_NAME}:{wanted}` without its list; name a file with {wanted} pairs")
            }
            SetError::NoPairs { wanted: None } => {
                write!(
                    f,
                    "`{TOP_PAIRS_NAME}` without its list of pairs; the file is damaged, restore or export it again"
                )
            }
            SetError::OtherPairs { wanted, found } => {
                write!(f, "`{TOP_PAIRS_NAME}:{wanted}` with a list of {found} pairs; make both numbers equal")
            }
            SetError::UnusedPairs { found } => {
                write!(
                    f,
                    "a list of {found} pairs and no `{TOP_PAIRS_NAME}:{found}` in the set; remove one or add the other"
                )
            }
        }
    }
}

impl std::error::Error for SetError {}
