//! Network files: a header of 128 bytes and the weights, all little endian.
//!
//! | bytes | meaning |
//! |---|---|
//! | 0..8 | `DESTRIER` |
//! | 8..12 | version, 1 or 2 |
//! | 12..16 | kind: 1 = SCReLU, 2 = layered, 3 = deep, 4 = pairwise, 5 = squared; see below |
//! | 16..20 | hidden neurons H |
//! | 20..24 | king buckets K of the input, 1 = none |
//! | 24..28 | output buckets, 8 or 1 |
//! | 28..32 | flags: bit 0 = horizontally mirrored |
//! | 32..64 | king bucket of 32 squares, rank * 4 + file a..d, as the side sees them mirrored |
//! | 64..96 | SHA-256 of all that follows the header |
//! | 96..98 | version 2: number of feature blocks, 1 to 14 |
//! | 98..126 | version 2: code of each block, u16; zero after the last |
//! | 126..128 | version 2: neurons L of the second layer of kinds 2, 4, 5, u16; 0 stands for 32 |
//!
//! Version 1 has the inputs `piece` and kinds 1 and 2, the latter with 32 neurons in the second
//! layer; its bytes from 96 on are zero. Version 2 is written for all else. A set with `top-pairs`
//! has the number of its pairs as u32 and two u16 features a pair, the lower one first, between the
//! header and the weights.
//!
//! The payload of kind 1 is Bullet's `quantised.bin`. It holds feature weights i16 `[K * 768][H]`
//! and biases i16 `[H]` (both times QA). Output weights i16 `[buckets][2 * H]` (times QB; the side
//! to move's half first) and output biases i16 `[buckets]` (times QA * QB) follow.
//!
//! The payload of kind 2 holds feature weights i16 `[K * 768][H]` and biases i16 `[H]` (times 127).
//! Weights i8 `[buckets][L][2 * H]` (times 64) and biases i32 `[buckets][L]` (times 127 * 64) of
//! the second layer follow, L of 8, 16, 32 or 64. The last are output weights i8 `[buckets][L]`
//! (times 400 * 16 / 127, which is 50.4) and biases i32 `[buckets]` (times 400 * 16). Kind 3 has
//! L = 32, and weights i8 `[buckets][32][32]` (times 64) and biases i32 `[buckets][32]` (times
//! 127 * 64) of one more layer before the output weights.
//!
//! Kind 4 multiplies neurons: of each 64 of a side, `a` of the first 32 and `b` of the last 32
//! become the input `(a * b + 256) >> 9`, with both clamped to 0 to 255. Feature weights and biases
//! are times 255. The second layer has weights i8 `[buckets][L][H]` (times 64), the side to move's
//! H / 2 products first, and biases i32 `[buckets][L]` (times 127 * 64). The third has weights i16
//! `[buckets][32][L]` (times 1,024) and biases i32 `[buckets][32]` (times 127 * 64 * 1,024). The
//! last are output weights i16 `[buckets][32]` (times 400 * 16 * 16 / 127, which is 806.3) and
//! biases i32 `[buckets]` (times 400 * 16 * 1,024). Kind 5 squares each neuron in place of
//! products, with `b = a`; its second layer has weights `[buckets][L][2 * H]`. `Network::evaluate`
//! has the shifts and clamps.
//!
//! All are padded to a multiple of 64 bytes; the contents of the padding are ignored.
//!
//! A file without the magic is read as a bare `quantised.bin` if its size is right for some H: no
//! king buckets, not mirrored, eight output buckets.

use super::layout::{HIDDEN_2, HIDDEN_STEP, Kind, Layout, MAX_HIDDEN, SizeError};
use super::network::Network;
use super::sets::{FeaturePair, FeatureSet, MAX_BLOCKS, PairList, PairListError, SetError, TOP_PAIRS_CODE};
use super::sha256::sha256;
use std::fmt;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

/// Length of the header in bytes.
pub const HEADER_LEN: usize = 128;

/// Place of the size of the second layer in the header.
const SECOND_LAYER_AT: usize = 126;

const MAGIC: &[u8; 8] = b"DESTRIER";
/// Version of networks whose inputs are `piece`, of kinds 1 and 2 with the usual second layer.
const PIECE_VERSION: u32 = 1;
/// Version of all other networks.
const SET_VERSION: u32 = 2;
const MIRRORED: u32 = 1;

/// Maximum length of a file that could be a network.
const MAX_FILE_LEN: u64 = 256 << 20;

/// Reason why a file is not a network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FormatError {
    /// The file cannot be read.
    Io(String),
    /// The file has no magic, and its length is not that of any `quantised.bin`.
    NoNetwork {
        /// Length of the file in bytes.
        len: usize,
    },
    /// The header is cut off.
    Truncated {
        /// Length of the file in bytes.
        len: usize,
    },
    /// The format's version is unknown.
    Version(u32),
    /// The kind of network is unknown.
    Kind(u32),
    /// The flags are those of a later version.
    Flags(u32),
    /// The codes in the header are no feature set.
    Set(SetError),
    /// A byte that must be zero is not.
    Reserved {
        /// Place of the byte in the file.
        at: usize,
    },
    /// The pairs of `top-pairs` are no list.
    PairList(PairListError),
    /// A pair of `top-pairs` is not of two `piece` features, an own one among them, the lower one
    /// first.
    Pair {
        /// Place in the list, from 0.
        place: usize,
    },
    /// A size in the header is out of range.
    Size(SizeError),
    /// The payload's length differs from that of the header's sizes.
    PayloadLen {
        /// Length of the payload in bytes.
        found: usize,
        /// Length by the header in bytes.
        expected: usize,
    },
    /// The payload's hash differs from the header's.
    Hash,
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FormatError::Io(error) => write!(f, "cannot be read: {error}"),
            FormatError::NoNetwork { len } => {
                write!(
                    f,
                    "no network: no magic `DESTRIER`, and {len} bytes is not the size of a quantised.bin 768 -> Hx2 -> 1x8"
                )
            }
            FormatError::Truncated { len } => write!(f, "the header is cut off at byte {len}, expected {HEADER_LEN}"),
            FormatError::Version(found) => {
                write!(f, "version {found} is not known, expected {PIECE_VERSION} or {SET_VERSION}")
            }
            FormatError::Kind(found) => {
                write!(
                    f,
                    "network kind {found} is not known, expected 1 (SCReLU), 2 (layered) or, in version 2, 3 (deep), 4 (pairwise) or 5 (squared)"
                )
            }
            FormatError::Flags(found) => write!(f, "flags {found:#x} are not known, expected 0 or {MIRRORED}"),
            FormatError::Set(error) => error.fmt(f),
            FormatError::Reserved { at } => {
                write!(f, "byte {at} of the header is not 0: the file is of a later version or damaged")
            }
            FormatError::PairList(error) => write!(f, "top-pairs: {error}"),
            FormatError::Pair { place } => {
                write!(f, "pair {place} of top-pairs is not of two features of `piece`, an own one among them")
            }
            FormatError::Size(error) => error.fmt(f),
            FormatError::PayloadLen { found, expected } => {
                write!(f, "wrong size: {found} bytes of weights, expected {expected} by the header; is it cut off?")
            }
            FormatError::Hash => {
                write!(f, "the SHA-256 of the weights is not the one in the header: the file is damaged")
            }
        }
    }
}

impl std::error::Error for FormatError {}

impl From<SetError> for FormatError {
    fn from(error: SetError) -> FormatError {
        FormatError::Set(error)
    }
}

impl From<SizeError> for FormatError {
    fn from(error: SizeError) -> FormatError {
        FormatError::Size(error)
    }
}

/// Reads a network from a file.
///
/// # Errors
/// Returns an error if the file cannot be read or is not a network. The message does not name the
/// file.
pub fn read_file(path: &Path) -> Result<Network, FormatError> {
    parse(&read_bytes(path)?)
}

/// Reads the bytes of a file, up to one more than a network may have.
///
/// # Errors
/// Returns an error if the file cannot be read. The message does not name the file.
pub fn read_bytes(path: &Path) -> Result<Vec<u8>, FormatError> {
    let io = |error: std::io::Error| FormatError::Io(error.to_string());
    // Checked before it is opened: opening a FIFO waits for a writer, and a device may never end.
    if !fs::metadata(path).map_err(io)?.is_file() {
        return Err(FormatError::Io("it is not a regular file".to_owned()));
    }
    let file = File::open(path).map_err(io)?;
    let mut bytes = Vec::new();
    // One byte more than allowed makes a longer file fail by its size.
    file.take(MAX_FILE_LEN + 1).read_to_end(&mut bytes).map_err(io)?;
    Ok(bytes)
}

/// Parses a network from the bytes of a file. Nothing is allocated before the sizes are known to
/// fit the length.
///
/// # Errors
/// Returns an error if the bytes are not a network.
pub fn parse(bytes: &[u8]) -> Result<Network, FormatError> {
    let (network, hash) = parse_unhashed(bytes)?;
    match hash {
        Some(expected) if sha256(&bytes[HEADER_LEN..]) != expected => Err(FormatError::Hash),
        _ => Ok(network),
    }
}

/// Parses like [`parse`], but returns the hash of the payload instead of checking it.
pub(super) fn parse_unhashed(bytes: &[u8]) -> Result<(Network, Option<[u8; 32]>), FormatError> {
    if !bytes.starts_with(MAGIC) {
        let layout = raw_layout(bytes.len()).ok_or(FormatError::NoNetwork { len: bytes.len() })?;
        return Ok((Network::from_payload(layout, bytes), None));
    }
    let Some((header, payload)) = bytes.split_first_chunk::<HEADER_LEN>() else {
        return Err(FormatError::Truncated { len: bytes.len() });
    };
    let layout = parse_header(header, payload)?;
    if payload.len() != layout.body_len() {
        return Err(FormatError::PayloadLen { found: payload.len(), expected: layout.body_len() });
    }
    let mut hash = [0; 32];
    hash.copy_from_slice(&header[64..96]);
    let weights = &payload[layout.pairs_len()..];
    Ok((Network::from_payload(layout, weights), Some(hash)))
}

/// Reads the layout; `body` is all that follows the header.
fn parse_header(header: &[u8; HEADER_LEN], body: &[u8]) -> Result<Layout, FormatError> {
    let word = |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
    let version = word(8);
    let set = match version {
        PIECE_VERSION => FeatureSet::piece(),
        SET_VERSION => parse_set(&header[96..SECOND_LAYER_AT], body)?,
        _ => return Err(FormatError::Version(version)),
    };
    let neurons = u16::from_le_bytes([header[SECOND_LAYER_AT], header[SECOND_LAYER_AT + 1]]);
    let second_layer = (version == SET_VERSION && neurons > 0).then_some(usize::from(neurons));
    let kind = match word(12) {
        1 => Kind::Screlu,
        2 => Kind::Layered(second_layer.unwrap_or(HIDDEN_2)),
        3 if version == SET_VERSION => Kind::Deep,
        4 if version == SET_VERSION => Kind::Pairwise(second_layer.unwrap_or(HIDDEN_2)),
        5 if version == SET_VERSION => Kind::Squared(second_layer.unwrap_or(HIDDEN_2)),
        other => return Err(FormatError::Kind(other)),
    };
    if second_layer.is_some() && matches!(kind, Kind::Screlu | Kind::Deep) {
        return Err(FormatError::Reserved { at: SECOND_LAYER_AT });
    }
    if word(28) & !MIRRORED != 0 {
        return Err(FormatError::Flags(word(28)));
    }
    let size = |at| usize::try_from(word(at)).unwrap_or(usize::MAX);
    let layout = Layout {
        kind,
        set,
        hidden: size(16),
        king_buckets: size(20),
        output_buckets: size(24),
        mirrored: word(28) & MIRRORED != 0,
        bucket_map: std::array::from_fn(|square| header[32 + square]),
    };
    layout.validate()?;
    Ok(layout)
}

/// Reads the feature set from its 30 bytes of the header; `body` begins with the pairs, if the
/// set has any.
fn parse_set(bytes: &[u8], body: &[u8]) -> Result<FeatureSet, FormatError> {
    let words: Vec<u16> = bytes.as_chunks::<2>().0.iter().map(|word| u16::from_le_bytes(*word)).collect();
    let count = usize::from(words[0]);
    if count > MAX_BLOCKS {
        return Err(SetError::Blocks(count).into());
    }
    let (codes, rest) = words[1..].split_at(count);
    if let Some(place) = rest.iter().position(|&word| word != 0) {
        return Err(FormatError::Reserved { at: SECOND_LAYER_AT - 2 * (rest.len() - place) });
    }
    let pairs = if codes.contains(&TOP_PAIRS_CODE) { Some(parse_pairs(body)?) } else { None };
    Ok(FeatureSet::from_codes(codes, pairs)?)
}

/// Reads the list of `top-pairs`.
fn parse_pairs(body: &[u8]) -> Result<PairList, FormatError> {
    let cut_off = |expected| FormatError::PayloadLen { found: body.len(), expected };
    let (count, rest) = body.split_first_chunk::<4>().ok_or(cut_off(4))?;
    let count = u32::from_le_bytes(*count) as usize;
    if count > PairList::MAX {
        return Err(FormatError::PairList(PairListError::Length(count)));
    }
    let bytes = rest.get(..4 * count).ok_or(cut_off(4 + 4 * count))?;
    let pair = |(place, &[a, b, c, d]): (usize, &[u8; 4])| {
        let (low, high) = (u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d]));
        FeaturePair::new(low, high).filter(|_| low < high).ok_or(FormatError::Pair { place })
    };
    let pairs = bytes.as_chunks::<4>().0.iter().enumerate().map(pair).collect::<Result<_, _>>()?;
    PairList::new(pairs).map_err(FormatError::PairList)
}

/// Returns the 30 bytes of the header with the codes of the blocks.
fn set_bytes(set: &FeatureSet) -> [u8; 30] {
    let mut bytes = [0; 30];
    let codes = set.blocks().iter().map(|(block, _)| block.code());
    let words = std::iter::once(set.blocks().len() as u16).chain(codes);
    for (place, word) in bytes.as_chunks_mut::<2>().0.iter_mut().zip(words) {
        *place = word.to_le_bytes();
    }
    bytes
}

/// Returns the layout of a bare `quantised.bin` of a length, padded or not.
fn raw_layout(len: usize) -> Option<Layout> {
    let layouts = (1..=MAX_HIDDEN / HIDDEN_STEP).map(|step| Layout::plain(Kind::Screlu, step * HIDDEN_STEP));
    layouts.into_iter().find(|layout| len == layout.payload_len() || len == layout.weights_len())
}

/// Returns the weights of a network from the bytes of its file, which has this layout.
pub fn weights<'a>(bytes: &'a [u8], layout: &Layout) -> &'a [u8] {
    let start = if bytes.starts_with(MAGIC) { HEADER_LEN + layout.pairs_len() } else { 0 };
    bytes.get(start..).unwrap_or_default()
}

/// Encodes a network file: header, pairs if the set has them, weights, padding.
///
/// The payload is the weights and may lack its padding.
///
/// # Errors
/// Returns an error if the layout is out of range or the payload's size differs from it.
pub fn encode(layout: &Layout, payload: &[u8]) -> Result<Vec<u8>, FormatError> {
    layout.validate()?;
    if payload.len() != layout.payload_len() && payload.len() != layout.weights_len() {
        return Err(FormatError::PayloadLen { found: payload.len(), expected: layout.payload_len() });
    }
    let mut file = vec![0; HEADER_LEN];
    if let Some(list) = layout.set.pairs() {
        file.extend_from_slice(&(list.pairs().len() as u32).to_le_bytes());
        let features = list.pairs().iter().flat_map(|pair| pair.features());
        file.extend(features.flat_map(u16::to_le_bytes));
        file.extend_from_slice(&payload[..layout.weights_len()]);
    } else {
        file.extend_from_slice(payload);
    }
    file.resize(HEADER_LEN + layout.body_len(), 0);
    let hash = sha256(&file[HEADER_LEN..]);
    file[..8].copy_from_slice(MAGIC);
    let sizes = [layout.hidden, layout.king_buckets, layout.output_buckets].map(|size| size as u32);
    let is_first_version = layout.set.is_piece() && matches!(layout.kind, Kind::Screlu | Kind::LAYERED);
    let version = if is_first_version { PIECE_VERSION } else { SET_VERSION };
    let words = [version, layout.kind.code(), sizes[0], sizes[1], sizes[2], u32::from(layout.mirrored)];
    for (place, word) in file[8..32].as_chunks_mut::<4>().0.iter_mut().zip(words) {
        *place = word.to_le_bytes();
    }
    file[32..64].copy_from_slice(&layout.bucket_map);
    file[64..96].copy_from_slice(&hash);
    if !is_first_version {
        file[96..SECOND_LAYER_AT].copy_from_slice(&set_bytes(&layout.set));
        let neurons = match layout.kind {
            Kind::Screlu | Kind::Deep => 0,
            kind if kind.second_layer() == HIDDEN_2 => 0,
            kind => kind.second_layer() as u16,
        };
        file[SECOND_LAYER_AT..HEADER_LEN].copy_from_slice(&neurons.to_le_bytes());
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::super::random::random_payload;
    use super::*;

    fn file(kind: Kind) -> Vec<u8> {
        let mut layout = Layout::plain(kind, kind.hidden_step());
        (layout.king_buckets, layout.mirrored) = (2, true);
        layout.bucket_map[16..].fill(1);
        encode(&layout, &random_payload(&layout, 1)).expect("a good layout")
    }

    #[test]
    fn what_is_written_is_read() {
        for kind in Kind::ALL {
            let bytes = file(kind);
            assert_eq!(bytes[8], if matches!(kind, Kind::Screlu | Kind::LAYERED) { 1 } else { 2 }, "the version");
            let network = parse(&bytes).expect("a network");
            assert_eq!((network.layout().kind, network.layout().king_buckets), (kind, 2));
            assert_eq!(network.layout().bucket_map[15..17], [0, 1]);
            assert_eq!(encode(network.layout(), &bytes[HEADER_LEN..]).expect("the same file"), bytes);
        }
    }

    /// Changed bytes of the header give this error.
    #[test]
    fn bad_headers_say_what_is_wrong() {
        type Case = (usize, u32, &'static str);
        let cases: [Case; 11] = [
            (0, 7, "no network: no magic"),
            (8, 3, "version 3 is not known, expected 1 or 2"),
            (8, 2, "a feature set without blocks"),
            (12, 3, "network kind 3 is not known, expected 1 (SCReLU), 2 (layered) or, in version 2, 3"),
            (16, 33, "hidden 33, expected a multiple of 32"),
            (16, u32::MAX, "hidden 4294967295, expected a multiple of 32"),
            (16, 64, "wrong size: "),
            (20, 0, "king buckets 0, expected 1 to 32"),
            (24, 7, "output buckets 7, expected 1"),
            (28, 3, "flags 0x3 are not known"),
            (60, 9, "an entry of the king bucket map 9, expected less"),
        ];
        for kind in [Kind::Screlu, Kind::LAYERED] {
            for (at, word, message) in cases {
                let mut bytes = file(kind);
                bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
                let error = parse(&bytes).expect_err(message).to_string();
                assert!(error.contains(message), "{error}");
            }
        }
    }

    fn set_file(kind: Kind) -> Vec<u8> {
        let pairs = (0..20).filter_map(|feature| FeaturePair::new(feature, 767 - feature)).collect();
        let pairs = std::sync::Arc::new(PairList::new(pairs).expect("different pairs"));
        let set = FeatureSet::parse("file+top-pairs:20+rank", Some(&pairs)).expect("a set");
        let layout = Layout::of_set(kind, set, kind.hidden_step());
        encode(&layout, &random_payload(&layout, 1)).expect("a good layout")
    }

    #[test]
    fn a_feature_set_is_read_as_it_was_written() {
        for kind in Kind::ALL {
            let bytes = set_file(kind);
            assert_eq!((bytes[8], bytes.len() % 64), (2, 0));
            let network = parse(&bytes).expect("a network");
            let layout = network.layout();
            assert_eq!(layout.set.to_string(), "file+top-pairs:20+rank");
            let inputs = "(file+top-pairs:20+rank[212] -> ";
            let neurons = match kind {
                Kind::Pairwise(_) => "128/2",
                Kind::Squared(_) => "32^2",
                Kind::Screlu | Kind::Layered(_) | Kind::Deep => "32",
            };
            assert!(layout.describe().starts_with(&format!("{inputs}{neurons})x2 -> ")), "{}", layout.describe());
            let weights = &bytes[HEADER_LEN + 4 + 20 * 4..][..layout.weights_len()];
            assert_eq!(encode(layout, weights).expect("the same file"), bytes);
        }
    }

    #[test]
    fn bad_sets_say_what_is_wrong() {
        let pair = HEADER_LEN + 4;
        let cases: [(usize, u16, &str); 12] = [
            (96, 0, "byte 98 of the header is not 0"),
            (96, 15, "15 feature blocks, expected 1 to 14; leave some out, or restore a damaged network file"),
            (96, 2, "byte 102 of the header is not 0"),
            (98, 99, "unknown feature block, code 99"),
            (98, 3, "feature block `rank` twice"),
            (126, 1, "byte 126 of the header is not 0"),
            (20, 2, "king buckets 2, expected 1 with another feature set than `piece`"),
            (28, 1, "mirrored 1, expected 0 with another feature set than `piece`"),
            (HEADER_LEN, 0, "top-pairs: 0 pairs, expected 1 to 32768; add one, or restore"),
            (HEADER_LEN, 40_000, "top-pairs: 40000 pairs"),
            (pair, 800, "pair 0 of top-pairs is not of two features"),
            (pair + 8, 1, "top-pairs: pairs 1 and 2 are the same"),
        ];
        for (at, word, message) in cases {
            let mut bytes = set_file(Kind::Deep);
            bytes[at..at + 2].copy_from_slice(&word.to_le_bytes());
            if at == pair + 8 {
                bytes.copy_within(pair + 4..pair + 8, pair + 8);
            }
            let error = parse(&bytes).expect_err(message).to_string();
            assert!(error.contains(message), "{error}");
        }
        let mut sized = set_file(Kind::Layered(16));
        sized[126] = 24;
        let error = parse(&sized).expect_err("24 neurons").to_string();
        assert_eq!(error, "neurons of the second layer 24, expected 8, 16, 32 or 64");
        let mut odd = set_file(Kind::Pairwise(16));
        odd[16] = 64;
        let error = parse(&odd).expect_err("64 neurons").to_string();
        assert_eq!(error, "hidden 64, expected a multiple of 128 in a pairwise network");
        let good = set_file(Kind::LAYERED);
        for len in [HEADER_LEN, HEADER_LEN + 3, HEADER_LEN + 50, good.len() - 1] {
            assert!(matches!(parse(&good[..len]), Err(FormatError::PayloadLen { .. })), "{len} bytes");
        }
    }

    #[test]
    fn a_network_beyond_the_file_limit_is_refused() {
        let layout = Layout::of_set(Kind::Screlu, "king-all".parse().expect("a set"), 4096);
        let error = layout.validate().expect_err("403 MB").to_string();
        assert!(error.contains("bytes of weights") && error.contains("a smaller feature set"), "{error}");
    }

    #[test]
    fn a_damaged_or_cut_off_file_is_refused() {
        for kind in Kind::ALL {
            let good = file(kind);
            for len in (0..200).chain([good.len() - 64, good.len() - 1]) {
                assert!(parse(&good[..len]).is_err(), "{len} bytes");
            }
            let mut long = good.clone();
            long.push(0);
            assert!(matches!(parse(&long), Err(FormatError::PayloadLen { .. })));
            for at in [64, 95, HEADER_LEN, good.len() - 1] {
                let mut bytes = good.clone();
                bytes[at] ^= 1;
                assert_eq!(parse(&bytes).err(), Some(FormatError::Hash), "byte {at}");
            }
        }
    }

    #[test]
    fn a_bare_quantised_bin_is_known_by_its_size() {
        for hidden in [32, 128, 1024] {
            let layout = Layout::plain(Kind::Screlu, hidden);
            let mut payload = random_payload(&layout, 3);
            assert_eq!(parse(&payload).expect("a network").layout(), &layout);
            payload.truncate(layout.weights_len());
            assert_eq!(parse(&payload).expect("a network without padding").layout(), &layout);
            payload.pop();
            assert!(matches!(parse(&payload), Err(FormatError::NoNetwork { .. })));
        }
    }

    #[test]
    fn noise_is_never_more_than_an_error() {
        let kinds = [Kind::Screlu, Kind::Layered(8), Kind::Squared(16), Kind::Pairwise(8)];
        let files = [set_file(Kind::Deep)].into_iter().chain(kinds.map(file)).collect::<Vec<_>>();
        let mut state = 1u64;
        for round in 0..4000 {
            let mut bytes = files[round % files.len()].clone();
            for _ in 0..4 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let at = 8 + (state >> 33) as usize % (HEADER_LEN - 8);
                bytes[at] = (state >> 56) as u8;
            }
            assert!(parse(&bytes[..HEADER_LEN + 64]).is_err());
            // With all of its weights present, header bytes may change where nothing is read.
            let _ = parse(&bytes);
        }
    }
}
