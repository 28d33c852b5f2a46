//! Packed books, games and positions: gzip and zstd, detected by their first bytes whatever the
//! file's name.

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Chain, Cursor, Read, Write as _};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, DEFAULT_MAX_WINDOW_SIZE, FrameDecoder};

/// The most bytes that any archive may unpack to: 2 GiB.
const MOST_UNPACKED: u64 = 1 << 31;

/// The most bytes that one byte of an archive may unpack to, once there are more than
/// [`LEAST_LIMIT`]. Books of positions and games unpack to 5 to 20 bytes a byte. An archive made to
/// fill the memory, or to keep a reader busy, unpacks to hundreds or thousands. The limit applies
/// to the bytes read so far, so that such an archive is refused at its beginning.
const MOST_RATIO: u64 = 50;

/// Bytes that an archive of any size may unpack to: 64 MiB.
const LEAST_LIMIT: u64 = 64 << 20;

/// Packing of a file.
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
        // Gzip's third byte is the only method in use; with it in the magic number, few other files
        // match.
        let magics: [(&[u8], Self); 2] = [(b"\x1f\x8b\x08", Self::Gzip), (b"\x28\xb5\x2f\xfd", Self::Zstd)];
        magics.into_iter().find(|(magic, _)| bytes.starts_with(magic)).map(|(_, packing)| packing)
    }

    /// The packing that a file's last extension stands for: `gz` or `zst`.
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

    /// Packs bytes. The same bytes give the same archive, because it holds no time and no name.
    ///
    /// # Errors
    /// Only those of running out of memory.
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

/// Reason to refuse an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ArchiveRefusal {
    /// The file has an unsupported format, or is packed twice.
    Unknown(&'static str),
    /// The file cannot be unpacked.
    Broken(&'static str, String),
    /// The file unpacks to more bytes than this limit.
    TooLarge(&'static str, u64),
}

impl fmt::Display for ArchiveRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(kind) => write!(f, "it is a {kind} archive; unpack it first"),
            Self::Broken(kind, fault) => write!(f, "it is a broken {kind} archive: {fault}; fetch or pack it again"),
            Self::TooLarge(kind, most) => write!(
                f,
                "it is a {kind} archive of more than {} MiB, too much for its size; unpack it first, or split it",
                most >> 20
            ),
        }
    }
}

impl std::error::Error for ArchiveRefusal {}

impl From<ArchiveRefusal> for io::Error {
    fn from(refusal: ArchiveRefusal) -> Self {
        Self::other(refusal)
    }
}

/// The refusal inside a read error, if it is one.
pub(super) fn refusal(error: &io::Error) -> Option<&ArchiveRefusal> {
    error.get_ref().and_then(|inner| inner.downcast_ref())
}

/// Content of a file of games or positions: of an archive the bytes inside, within the limits of a
/// book.
///
/// # Errors
/// Returns the system's error, and an error with the remedy for an archive that cannot be unpacked.
/// A read returns the same errors.
pub(crate) fn unpacked_file(file: File) -> io::Result<impl Read> {
    let about = file.metadata()?;
    // The length of a pipe is not known.
    let bytes = if about.is_file() { about.len() } else { u64::MAX };
    UnpackedStream::new(BufReader::with_capacity(64 << 10, file), bytes)
}

/// The bytes inside an archive as a stream, or the bytes themselves if they are not an archive.
/// Never yields more than the limit.
pub(super) struct UnpackedStream<R: BufRead> {
    packing: Option<Packing>,
    /// First bytes inside, read ahead to see if they are another archive.
    head: Cursor<Vec<u8>>,
    inner: CappedDecoder<R>,
}

/// First bytes of a stream, and the stream from its beginning.
type PeekedStream<R> = CountingReader<Chain<Cursor<Vec<u8>>, R>>;

/// A reader that counts the bytes taken from it.
struct CountingReader<R> {
    inner: R,
    taken: u64,
}

impl<R: Read> Read for CountingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.taken += read as u64;
        Ok(read)
    }
}

impl<R: BufRead> BufRead for CountingReader<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.taken += amount as u64;
        self.inner.consume(amount);
    }
}

impl<R: BufRead> UnpackedStream<R> {
    /// Begins to unpack `source`, which holds `packed_bytes` bytes.
    pub(super) fn new(source: R, packed_bytes: u64) -> io::Result<Self> {
        let most = packed_bytes.saturating_mul(MOST_RATIO).clamp(LEAST_LIMIT, MOST_UNPACKED);
        Self::within(UnpackLimits { least: LEAST_LIMIT, most }, source)
    }

    fn within(bounds: UnpackLimits, mut source: R) -> io::Result<Self> {
        let head = read_head(&mut source)?;
        let packing = Packing::of_bytes(&head);
        if packing.is_none()
            && let Some(kind) = foreign(&head)
        {
            return Err(ArchiveRefusal::Unknown(kind).into());
        }
        let source = CountingReader { inner: Cursor::new(head).chain(source), taken: 0 };
        let decoder = match packing {
            None => Decoder::Plain(source),
            Some(Packing::Gzip) => Decoder::Gzip(Box::new(flate2::bufread::MultiGzDecoder::new(source))),
            Some(Packing::Zstd) => Decoder::Zstd(Box::new(Frames::new(source, bounds.most))),
        };
        let mut inner = CappedDecoder { decoder, packing, bounds, given: 0 };
        let head = if packing.is_some() { read_head(&mut inner)? } else { Vec::new() };
        match foreign(&head).or(Packing::of_bytes(&head).map(Packing::name)) {
            Some(kind) => Err(ArchiveRefusal::Unknown(kind).into()),
            None => Ok(Self { packing, head: Cursor::new(head), inner }),
        }
    }

    /// Packing of the source.
    pub(super) const fn packing(&self) -> Option<Packing> {
        self.packing
    }

    /// The source, at the decoder's position.
    pub(super) fn into_source(self) -> R {
        let source = match self.inner.decoder {
            Decoder::Plain(source) => source,
            Decoder::Gzip(decoder) => decoder.into_inner(),
            Decoder::Zstd(frames) => frames.source,
        };
        source.inner.into_inner().1
    }
}

impl<R: BufRead> Read for UnpackedStream<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.head.read(buffer)? {
            0 => self.inner.read(buffer),
            read => Ok(read),
        }
    }
}

/// Bytes that an archive may unpack to.
#[derive(Clone, Copy, Debug)]
struct UnpackLimits {
    /// Minimum limit, valid for an archive of any size.
    least: u64,
    /// Limit of the whole.
    most: u64,
}

/// A decoder with a limit on its output.
struct CappedDecoder<R: BufRead> {
    decoder: Decoder<PeekedStream<R>>,
    packing: Option<Packing>,
    bounds: UnpackLimits,
    given: u64,
}

impl<R: BufRead> Read for CappedDecoder<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(kind) = self.packing.map(Packing::name) else { return self.decoder.read(buffer) };
        let read = match self.decoder.read(buffer) {
            Ok(read) => read,
            Err(error) if refusal(&error).is_some() => return Err(error),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                return Err(ArchiveRefusal::Broken(kind, TRUNCATED.to_owned()).into());
            }
            Err(error) => return Err(ArchiveRefusal::Broken(kind, one_line(&error)).into()),
        };
        self.given = self.given.saturating_add(read as u64);
        let UnpackLimits { least, most } = self.bounds;
        let allowed = self.decoder.taken().saturating_mul(MOST_RATIO).max(least).min(most);
        if self.given > allowed {
            return Err(ArchiveRefusal::TooLarge(kind, allowed).into());
        }
        Ok(read)
    }
}

enum Decoder<S: BufRead> {
    Plain(S),
    Gzip(Box<flate2::bufread::MultiGzDecoder<S>>),
    Zstd(Box<Frames<S>>),
}

impl<R: BufRead> Decoder<PeekedStream<R>> {
    /// Bytes of the archive read so far.
    fn taken(&self) -> u64 {
        match self {
            Self::Plain(source) => source.taken,
            Self::Gzip(decoder) => decoder.get_ref().taken,
            Self::Zstd(frames) => frames.source.taken,
        }
    }
}

impl<S: BufRead> Read for Decoder<S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(source) => source.read(buffer),
            Self::Gzip(decoder) => decoder.read(buffer),
            Self::Zstd(frames) => frames.read(buffer),
        }
    }
}

/// The first bytes, up to the length of the longest magic number.
fn read_head(source: &mut impl Read) -> io::Result<Vec<u8>> {
    const LONGEST_MAGIC: u64 = 6;
    let mut head = Vec::new();
    source.take(LONGEST_MAGIC).read_to_end(&mut head)?;
    Ok(head)
}

/// The unsupported format of an archive that begins with these bytes.
fn foreign(bytes: &[u8]) -> Option<&'static str> {
    let magics: [(&[u8], &str); 4] =
        [(b"PK\x03\x04", "zip"), (b"BZh", "bzip2"), (b"\xfd7zXZ", "xz"), (b"7z\xbc\xaf\x27\x1c", "7z")];
    magics.into_iter().find(|(magic, _)| bytes.starts_with(magic)).map(|(_, kind)| kind)
}

const TRUNCATED: &str = "it ends too early";

/// Zstd frames, one after the other: the decoder handles one at a time, and leaves the checksum to
/// its caller.
struct Frames<S> {
    source: S,
    /// The decoder of the frame being read; `None` between frames.
    frame: Option<FrameDecoder>,
    most: u64,
    most_window: u64,
}

impl<S: BufRead> Frames<S> {
    /// Accepts frames whose window is no larger than the limit on their output, or than the window
    /// that every decoder must support.
    fn new(source: S, most: u64) -> Self {
        const EVERY_DECODERS: u64 = 8 << 20;
        Self { source, frame: None, most, most_window: most.clamp(EVERY_DECODERS, DEFAULT_MAX_WINDOW_SIZE) }
    }

    /// Starts the next frame; `None` at the end.
    fn begin(&mut self) -> io::Result<Option<FrameDecoder>> {
        while !self.source.fill_buf()?.is_empty() {
            let mut frame = FrameDecoder::new();
            frame.set_max_window_size(self.most_window);
            match frame.init(&mut self.source) {
                Ok(()) if frame.content_size() > self.most => {
                    return Err(ArchiveRefusal::TooLarge(Packing::Zstd.name(), self.most).into());
                }
                Ok(()) => return Ok(Some(frame)),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                    let skipped = io::copy(&mut (&mut self.source).take(length.into()), &mut io::sink())?;
                    if skipped < u64::from(length) {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                }
                Err(error) => return Err(self.fault(&error)),
            }
        }
        Ok(None)
    }

    /// The error for a fault of the decoder: a cut file if the source has no bytes left, else a
    /// damaged one.
    fn fault(&mut self, error: &dyn std::error::Error) -> io::Error {
        match self.source.fill_buf() {
            Ok([]) => io::ErrorKind::UnexpectedEof.into(),
            Ok(_) => io::Error::other(one_line(error)),
            Err(error) => error,
        }
    }
}

impl<S: BufRead> Read for Frames<S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            let mut frame = match self.frame.take() {
                Some(frame) => frame,
                None => match self.begin()? {
                    Some(frame) => frame,
                    None => return Ok(0),
                },
            };
            while frame.can_collect() == 0 && !frame.is_finished() {
                if let Err(error) = frame.decode_blocks(&mut self.source, BlockDecodingStrategy::UptoBlocks(1)) {
                    return Err(self.fault(&error));
                }
            }
            let read = frame.read(buffer)?;
            if read > 0 {
                self.frame = Some(frame);
                return Ok(read);
            }
            let (written, computed) = (frame.get_checksum_from_data(), frame.get_calculated_checksum());
            if written.is_some() && written != computed {
                return Err(io::Error::other("its checksum does not fit its content"));
            }
        }
    }
}

/// An error and what caused it, on one line.
fn one_line(error: &dyn std::error::Error) -> String {
    error.to_string().lines().map(str::trim).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn unpacked_up_to(most: u64, bytes: &[u8]) -> Result<Vec<u8>, ArchiveRefusal> {
        unpacked_within(UnpackLimits { least: LEAST_LIMIT, most }, bytes)
    }

    fn unpacked_within(bounds: UnpackLimits, bytes: &[u8]) -> Result<Vec<u8>, ArchiveRefusal> {
        let mut unpacked = Vec::new();
        let read = UnpackedStream::within(bounds, bytes).and_then(|mut stream| stream.read_to_end(&mut unpacked));
        match read {
            Ok(_) => Ok(unpacked),
            Err(error) => Err(refusal(&error).expect("an archive's fault").clone()),
        }
    }

    fn unpacked(bytes: Vec<u8>) -> Result<Vec<u8>, ArchiveRefusal> {
        unpacked_up_to(MOST_UNPACKED, &bytes)
    }

    /// The words `hello, book` and a line feed, as the programs `gzip -9n` and `zstd -19` pack
    /// them.
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
                assert_eq!(refusal, ArchiveRefusal::Broken(packing.name(), TRUNCATED.to_owned()), "{cut}");
            }
            // Packed twice.
            assert_eq!(unpacked(packing.pack(&one).expect("packed")), Err(ArchiveRefusal::Unknown(packing.name())));
        }
        // A skippable frame has no content.
        let skippable = b"\x50\x2a\x4d\x18\x03\x00\x00\x00abc";
        assert_eq!(unpacked([ZSTD, skippable].concat()).as_deref(), Ok(HELLO));
        assert_eq!(unpacked(b"1. e4 *".to_vec()).as_deref(), Ok(b"1. e4 *".as_slice()));
        for (bytes, kind) in [("PK\x03\x04....", "zip"), ("BZh9", "bzip2")] {
            assert_eq!(unpacked(bytes.as_bytes().to_vec()), Err(ArchiveRefusal::Unknown(kind)));
        }
    }

    #[test]
    fn an_archive_may_not_grow_without_end() {
        let zeros = vec![0; 100_000];
        for packing in [Packing::Gzip, Packing::Zstd] {
            let bomb = packing.pack(&zeros).expect("packed");
            assert!(bomb.len() < 2000, "{packing:?}: {}", bomb.len());
            let up_to = |most| unpacked_up_to(most, &bomb).map(|bytes| bytes.len());
            assert_eq!(up_to(99_999), Err(ArchiveRefusal::TooLarge(packing.name(), 99_999)));
            assert_eq!(up_to(100_000), Ok(100_000));
            // The limit is for all members and frames together.
            let two = unpacked_up_to(150_000, &[bomb.clone(), bomb.clone()].concat());
            assert_eq!(two, Err(ArchiveRefusal::TooLarge(packing.name(), 150_000)));
        }
    }

    /// An archive with far more in it than in those of books is refused at its beginning, however
    /// large it is: an incompressible end would otherwise raise its limit.
    #[test]
    fn an_archive_is_held_to_what_was_read_of_it() {
        let mut noise = crate::stats::random::SplitMix64::new(1);
        let noise: Vec<u8> = (0..10_000).flat_map(|_| noise.next_u64().to_le_bytes()).collect();
        let bounds = UnpackLimits { least: 1 << 20, most: MOST_UNPACKED };
        let bytes = [vec![b'#'; 2 << 20], noise].concat();
        for packing in [Packing::Gzip, Packing::Zstd] {
            let packed = packing.pack(&bytes).expect("packed");
            assert!(packed.len() as u64 * MOST_RATIO > bytes.len() as u64, "{packing:?}");
            assert_eq!(unpacked_within(bounds, &packed), Err(ArchiveRefusal::TooLarge(packing.name(), bounds.least)));
        }
    }

    /// A frame whose header claims 1 GiB in a small window is refused before its first block; here
    /// it has none.
    #[test]
    fn a_frame_that_says_that_it_is_too_large_is_not_begun() {
        let bytes = [b"\x28\xb5\x2f\xfd\x80\x00".as_slice(), &(1_u32 << 30).to_le_bytes()].concat();
        let refusal = |most| unpacked_up_to(most, &bytes).expect_err("no archive");
        assert_eq!(refusal(1 << 20), ArchiveRefusal::TooLarge("zstd", 1 << 20));
        assert!(matches!(refusal(1 << 30), ArchiveRefusal::Broken(..)));
    }

    #[test]
    fn damage_is_seen() {
        for packing in [Packing::Gzip, Packing::Zstd] {
            let mut packed = packing.pack(&b"rnbqkbnr/pppppppp/8/8 w KQkq - ".repeat(20)).expect("packed");
            // Both formats end with a checksum (gzip's comes before the length).
            let at = packed.len() - 5;
            packed[at] ^= 0x10;
            assert!(matches!(unpacked(packed), Err(ArchiveRefusal::Broken(..))), "{packing:?}");
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
