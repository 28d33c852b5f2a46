//! Packed books: gzip and zstd, told by their first bytes, whatever the file is called.

use std::borrow::Cow;
use std::io::{self, Read, Write as _};

use ruzstd::decoding::StreamingDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};

/// The most bytes that an archive may unpack to: 2 GiB.
const MOST_UNPACKED: u64 = 1 << 31;

/// How a file is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// RFC 1952, one member or several.
    Gzip,
    /// RFC 8878, one frame or several.
    Zstd,
}

impl Packing {
    /// The packing whose archives begin with these bytes.
    #[must_use]
    pub fn of_bytes(bytes: &[u8]) -> Option<Self> {
        // Gzip's third byte is the only method it knows, so that few other files look like it.
        let magics: [(&[u8], Self); 2] = [(b"\x1f\x8b\x08", Self::Gzip), (b"\x28\xb5\x2f\xfd", Self::Zstd)];
        magics.into_iter().find(|(magic, _)| bytes.starts_with(magic)).map(|(_, packing)| packing)
    }

    /// The packing that a file's name asks for by its last extension: `gz` or `zst`.
    #[must_use]
    pub fn of_extension(extension: &str) -> Option<Self> {
        match extension.to_ascii_lowercase().as_str() {
            "gz" | "gzip" => Some(Self::Gzip),
            "zst" | "zstd" => Some(Self::Zstd),
            _ => None,
        }
    }

    /// `gzip` or `zstd`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }

    /// Packs. The same bytes give the same archive: no time and no name is in it.
    ///
    /// # Errors
    /// None that memory does not give.
    pub fn pack(self, bytes: &[u8]) -> io::Result<Vec<u8>> {
        match self {
            Self::Gzip => {
                let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
                encoder.write_all(bytes)?;
                encoder.finish()
            }
            Self::Zstd => Ok(ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)),
        }
    }
}

/// An archive that is not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// It is packed otherwise, or twice.
    Unknown(&'static str),
    /// It cannot be unpacked.
    Broken(&'static str, String),
    /// It would be larger than may be.
    TooLarge(&'static str),
}

/// The bytes inside the archive, or the bytes themselves where they are none.
pub(super) fn unpack(bytes: Cow<'static, [u8]>) -> Result<Cow<'static, [u8]>, Refusal> {
    unpack_up_to(MOST_UNPACKED, bytes)
}

fn unpack_up_to(most: u64, bytes: Cow<'static, [u8]>) -> Result<Cow<'static, [u8]>, Refusal> {
    let Some(packing) = Packing::of_bytes(&bytes) else {
        return foreign(&bytes).map_or(Ok(bytes), |kind| Err(Refusal::Unknown(kind)));
    };
    let unpacked = match packing {
        Packing::Gzip => gunzip(&bytes, most),
        Packing::Zstd => unzstd(&bytes, most),
    };
    let unpacked = match unpacked {
        Ok(Some(unpacked)) => unpacked,
        Ok(None) => return Err(Refusal::TooLarge(packing.name())),
        Err(what) => return Err(Refusal::Broken(packing.name(), what)),
    };
    match foreign(&unpacked).or(Packing::of_bytes(&unpacked).map(Packing::name)) {
        Some(kind) => Err(Refusal::Unknown(kind)),
        None => Ok(Cow::Owned(unpacked)),
    }
}

/// The archive that begins with these bytes and is not read here.
fn foreign(bytes: &[u8]) -> Option<&'static str> {
    let magics: [(&[u8], &str); 4] =
        [(b"PK\x03\x04", "zip"), (b"BZh", "bzip2"), (b"\xfd7zXZ", "xz"), (b"7z\xbc\xaf\x27\x1c", "7z")];
    magics.into_iter().find(|(magic, _)| bytes.starts_with(magic)).map(|(_, kind)| kind)
}

/// Reads to the end; `None` where there is more than `most` in all.
fn read_up_to(most: u64, reader: impl Read, into: &mut Vec<u8>) -> io::Result<Option<()>> {
    let room = most.saturating_sub(into.len() as u64);
    let read = reader.take(room.saturating_add(1)).read_to_end(into)?;
    Ok((read as u64 <= room).then_some(()))
}

fn gunzip(bytes: &[u8], most: u64) -> Result<Option<Vec<u8>>, String> {
    let mut unpacked = Vec::new();
    match read_up_to(most, flate2::bufread::MultiGzDecoder::new(bytes), &mut unpacked) {
        Ok(fits) => Ok(fits.map(|()| unpacked)),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Err(TRUNCATED.to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

const TRUNCATED: &str = "it ends too early";

/// Frame by frame: the decoder knows of one at a time, and leaves the checksum to its caller.
fn unzstd(mut bytes: &[u8], most: u64) -> Result<Option<Vec<u8>>, String> {
    let mut unpacked = Vec::new();
    while !bytes.is_empty() {
        let before = bytes.len();
        let mut decoder = match StreamingDecoder::new(&mut bytes) {
            Ok(decoder) => decoder,
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                bytes = usize::try_from(length).ok().and_then(|length| bytes.get(length..)).ok_or(TRUNCATED)?;
                continue;
            }
            // A header cut short, or what stands behind the last frame.
            Err(error) => return Err(if before < 18 { TRUNCATED.to_owned() } else { one_line(&error) }),
        };
        match read_up_to(most, &mut decoder, &mut unpacked) {
            Ok(Some(())) => {}
            Ok(None) => return Ok(None),
            Err(error) => {
                // What the reader has left tells a cut file from a damaged one.
                let cut = decoder.get_ref().is_empty();
                return Err(if cut { TRUNCATED.to_owned() } else { one_line(&error) });
            }
        }
        let frame = decoder.into_frame_decoder();
        let (written, computed) = (frame.get_checksum_from_data(), frame.get_calculated_checksum());
        if written.is_some() && written != computed {
            return Err("its checksum does not fit its content".to_owned());
        }
    }
    Ok(Some(unpacked))
}

/// An error and what caused it, on one line.
fn one_line(error: &dyn std::error::Error) -> String {
    error.to_string().lines().map(str::trim).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn unpacked(bytes: Vec<u8>) -> Result<Vec<u8>, Refusal> {
        unpack(Cow::Owned(bytes)).map(Cow::into_owned)
    }

    /// The words `hello, book` and a line feed, as the programs `gzip -9n` and `zstd -19` pack them.
    const GZIP: &[u8] = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xcb\x48\xcd\xc9\xc9\xd7\x51\x48\xca\xcf\xcf\xe6\x02\x00\x73\x80\x1e\xa6\x0c\x00\x00\x00";
    const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd\x04\x68\x61\x00\x00hello, book\n\xae\x6a\xac\xd2";
    const HELLO: &[u8] = b"hello, book\n";

    #[test]
    fn archives_of_other_programs() {
        for (packing, one) in [(Packing::Gzip, GZIP.to_vec()), (Packing::Zstd, ZSTD.to_vec())] {
            assert_eq!(Packing::of_bytes(&one), Some(packing));
            assert_eq!(unpacked(one.clone()).as_deref(), Ok(HELLO));
            // Members and frames one after the other are one file.
            assert_eq!(unpacked([one.clone(), one.clone()].concat()), Ok([HELLO, HELLO].concat()));
            for cut in 5..one.len() {
                let refusal = unpacked(one[..cut].to_vec()).expect_err("cut");
                assert_eq!(refusal, Refusal::Broken(packing.name(), TRUNCATED.to_owned()), "{cut}");
            }
            // Packed twice.
            assert_eq!(unpacked(packing.pack(&one).expect("packed")), Err(Refusal::Unknown(packing.name())));
        }
        // A skippable frame says nothing.
        let skippable = b"\x50\x2a\x4d\x18\x03\x00\x00\x00abc";
        assert_eq!(unpacked([ZSTD, skippable].concat()).as_deref(), Ok(HELLO));
        assert_eq!(unpacked(b"1. e4 *".to_vec()).as_deref(), Ok(b"1. e4 *".as_slice()));
        for (bytes, kind) in [("PK\x03\x04....", "zip"), ("BZh9", "bzip2")] {
            assert_eq!(unpacked(bytes.as_bytes().to_vec()), Err(Refusal::Unknown(kind)));
        }
    }

    #[test]
    fn an_archive_may_not_grow_without_end() {
        let zeros = vec![0; 100_000];
        for packing in [Packing::Gzip, Packing::Zstd] {
            let bomb = packing.pack(&zeros).expect("packed");
            assert!(bomb.len() < 2000, "{packing:?}: {}", bomb.len());
            let up_to = |most| unpack_up_to(most, Cow::Owned(bomb.clone())).map(|bytes| bytes.len());
            assert_eq!(up_to(99_999), Err(Refusal::TooLarge(packing.name())));
            assert_eq!(up_to(100_000), Ok(100_000));
            // The limit is for all members and frames together.
            let two = unpack_up_to(150_000, Cow::Owned([bomb.clone(), bomb.clone()].concat()));
            assert_eq!(two, Err(Refusal::TooLarge(packing.name())));
        }
    }

    #[test]
    fn damage_is_seen() {
        for packing in [Packing::Gzip, Packing::Zstd] {
            let mut packed = packing.pack(&b"rnbqkbnr/pppppppp/8/8 w KQkq - ".repeat(20)).expect("packed");
            // Both formats end with a checksum (gzip's stands before the length).
            let at = packed.len() - 5;
            packed[at] ^= 0x10;
            assert!(matches!(unpacked(packed), Err(Refusal::Broken(..))), "{packing:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_packed_is_unpacked(bytes in proptest::collection::vec(any::<u8>(), 0..3000), text in "[a-h1-8 /\n]{0,2000}") {
            for bytes in [bytes, text.into_bytes()] {
                prop_assume!(Packing::of_bytes(&bytes).is_none() && foreign(&bytes).is_none());
                for packing in [Packing::Gzip, Packing::Zstd] {
                    prop_assert_eq!(unpacked(packing.pack(&bytes).expect("packed")), Ok(bytes.clone()));
                }
            }
        }

        #[test]
        fn no_archive_panics(bytes in proptest::collection::vec(any::<u8>(), 0..300), flips in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 0..4)) {
            for (packing, magic) in [(Packing::Gzip, b"\x1f\x8b\x08".as_slice()), (Packing::Zstd, b"\x28\xb5\x2f\xfd")] {
                let _ = unpacked([magic, &bytes].concat());
                let mut packed = packing.pack(&bytes).expect("packed");
                for (at, byte) in &flips {
                    let at = at.index(packed.len());
                    packed[at] ^= byte;
                }
                let _ = unpacked(packed);
            }
        }
    }
}
