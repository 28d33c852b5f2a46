//! Split of an engine's output into lines, in a buffer of fixed size.

use std::io::BufRead as _;

/// Longest line kept, in bytes; the rest of a longer line is discarded.
///
/// The longest genuine line is a principal variation (PV) of a few hundred moves.
pub const MAX_LINE: usize = 64 * 1024;

/// Space for one read. A pipe holds 64 KiB by default on Linux.
const READ_ROOM: usize = 64 * 1024;

/// Bounded buffer that splits an engine's output into lines.
///
/// Bytes are read into [`space`](Self::space), and [`next_line`](Self::next_line) returns the
/// complete lines. A line ends at LF. Blanks and NULs before a line and blanks (including CR) after
/// it are removed, and empty lines are skipped.
#[derive(Debug)]
pub struct LineBuffer {
    buf: Box<[u8]>,
    /// First byte not yet returned.
    start: usize,
    /// One past the last byte received.
    end: usize,
    /// Number of bytes from `start` that are known to contain no LF.
    scanned: usize,
    /// True if the line at `start` was longer than `MAX_LINE` and has lost bytes.
    cut: bool,
    overlong: u64,
}

impl Default for LineBuffer {
    fn default() -> Self {
        Self::new()
    }
}

impl LineBuffer {
    /// An empty buffer.
    #[must_use]
    pub fn new() -> Self {
        Self {
            buf: vec![0; MAX_LINE + READ_ROOM].into_boxed_slice(),
            start: 0,
            end: 0,
            scanned: 0,
            cut: false,
            overlong: 0,
        }
    }

    /// Free space for the next read, never empty. Call it after [`next_line`](Self::next_line) has
    /// returned `None`.
    pub fn space(&mut self) -> &mut [u8] {
        let partial = self.end - self.start;
        if partial == 0 {
            self.start = 0;
            self.end = 0;
        } else if self.start > 0 && self.buf.len() - self.end < READ_ROOM {
            self.buf.copy_within(self.start..self.end, 0);
            self.start = 0;
            self.end = partial;
        }
        if partial > MAX_LINE && self.scanned == partial {
            self.cut = true;
            self.end = self.start + MAX_LINE;
            self.scanned = MAX_LINE;
        } else if self.end == self.buf.len() {
            // Reached only if the caller left 128 KiB of lines unread. They are discarded.
            self.take_partial();
            return self.space();
        }
        &mut self.buf[self.end..]
    }

    /// Records that `count` bytes were written to the front of [`space`](Self::space).
    pub fn advance(&mut self, count: usize) {
        self.end = (self.end + count).min(self.buf.len());
    }

    /// The next complete line.
    pub fn next_line(&mut self) -> Option<&[u8]> {
        loop {
            let Some(offset) = find_lf(&self.buf[self.start + self.scanned..self.end]) else {
                self.scanned = self.end - self.start;
                return None;
            };
            let first = self.start;
            let lf = first + self.scanned + offset;
            let last = lf.min(first + MAX_LINE);
            if self.cut || last < lf {
                self.overlong += 1;
                self.cut = false;
            }
            self.start = lf + 1;
            self.scanned = 0;
            let (first, last) = trim(&self.buf, first, last);
            if first < last {
                return Some(&self.buf[first..last]);
            }
        }
    }

    /// The unfinished last line.
    #[must_use]
    pub fn partial(&self) -> &[u8] {
        let (first, last) = trim(&self.buf, self.start, self.end.min(self.start + MAX_LINE));
        &self.buf[first..last]
    }

    /// Takes the unfinished last line, at the end of output or if the rest is no longer awaited.
    pub fn take_partial(&mut self) -> Option<&[u8]> {
        let (first, last) = trim(&self.buf, self.start, self.end.min(self.start + MAX_LINE));
        self.start = self.end;
        self.scanned = 0;
        self.cut = false;
        (first < last).then(|| &self.buf[first..last])
    }

    /// Returns the number of lines longer than [`MAX_LINE`] since the last call.
    pub fn take_overlong(&mut self) -> u64 {
        std::mem::take(&mut self.overlong)
    }
}

fn trim(buf: &[u8], mut first: usize, mut last: usize) -> (usize, usize) {
    while first < last && (is_blank(buf[first]) || buf[first] == 0) {
        first += 1;
    }
    while first < last && is_blank(buf[last - 1]) {
        last -= 1;
    }
    (first, last)
}

/// True for the white space that separates words.
pub(super) const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | 0x0b | 0x0c)
}

/// Finds the first LF through `BufRead` on a slice, because that uses a vectorised `memchr`.
fn find_lf(mut bytes: &[u8]) -> Option<usize> {
    let all = bytes;
    let count = bytes.skip_until(b'\n').unwrap_or(0);
    (count > 0 && all[count - 1] == b'\n').then(|| count - 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Frames `input` in chunks of the given sizes, in turn. Returns the lines, the last partial
    /// line and the number of overlong ones.
    fn frame(input: &[u8], chunks: &[usize]) -> (Vec<Vec<u8>>, Option<Vec<u8>>, u64) {
        let mut buffer = LineBuffer::new();
        let mut lines = Vec::new();
        let mut rest = input;
        for &size in chunks.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let space = buffer.space();
            assert!(!space.is_empty());
            let count = size.max(1).min(space.len()).min(rest.len());
            space[..count].copy_from_slice(&rest[..count]);
            buffer.advance(count);
            rest = &rest[count..];
            while let Some(line) = buffer.next_line() {
                lines.push(line.to_vec());
            }
        }
        let partial = buffer.take_partial().map(<[u8]>::to_vec);
        assert_eq!(buffer.take_partial(), None);
        (lines, partial, buffer.take_overlong())
    }

    /// Slow reference: splits the whole input at once.
    fn reference(input: &[u8]) -> (Vec<Vec<u8>>, Option<Vec<u8>>, u64) {
        let mut pieces: Vec<&[u8]> = input.split(|&b| b == b'\n').collect();
        let last = pieces.pop().unwrap();
        let cut = |piece: &[u8]| {
            let piece = &piece[..piece.len().min(MAX_LINE)];
            let (first, last) = trim(piece, 0, piece.len());
            piece[first..last].to_vec()
        };
        let overlong = pieces.iter().filter(|p| p.len() > MAX_LINE).count() as u64;
        let lines = pieces.into_iter().map(cut).filter(|l| !l.is_empty()).collect();
        (lines, Some(cut(last)).filter(|l| !l.is_empty()), overlong)
    }

    fn check(input: &[u8], chunks: &[usize]) {
        assert_eq!(frame(input, chunks), reference(input), "chunks {chunks:?}");
    }

    #[test]
    fn lines_come_out_whole_however_they_come_in() {
        let long = [b"info string ".as_slice(), &vec![b'x'; 200_000], b"\nbestmove e2e4\n"].concat();
        let at_cap = [vec![b'y'; MAX_LINE], b"\n".to_vec(), vec![b'z'; MAX_LINE + 1], b"\nuciok".to_vec()].concat();
        let short: &[&[u8]] = &[
            b"",
            b"\n",
            b"uciok\n",
            b"uciok\r\n",
            b"\r\n\r\n \t readyok \t\r\n",
            b"bestmove e2e4",
            b"\0\0bestmove e2e4\n\0readyok\n",
            b"bestmove e2e4\0\n",
            b"a\nb\nc",
            b"\xff\xfe\x00\n\x80",
        ];
        for chunks in [&[1][..], &[2], &[3, 1], &[7], &[4096], &[65_536], &[MAX_LINE + READ_ROOM]] {
            for input in short {
                check(input, chunks);
            }
        }
        for chunks in [&[1000][..], &[65_535], &[65_536], &[65_537], &[MAX_LINE + READ_ROOM]] {
            check(&long, chunks);
            check(&at_cap, chunks);
        }
    }

    #[test]
    fn an_endless_line_is_cut_and_the_next_one_read() {
        let mut buffer = LineBuffer::new();
        let mut fed = 0;
        while fed < 8 << 20 {
            let space = buffer.space();
            assert!(space.len() >= READ_ROOM);
            space.fill(b'x');
            fed += space.len();
            let count = space.len();
            buffer.advance(count);
            assert_eq!(buffer.next_line(), None);
        }
        let space = buffer.space();
        space[..9].copy_from_slice(b"\nreadyok\n");
        buffer.advance(9);
        assert_eq!(buffer.next_line().map(<[u8]>::len), Some(MAX_LINE));
        assert_eq!(buffer.next_line(), Some(b"readyok".as_slice()));
        assert_eq!(buffer.take_overlong(), 1);
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_frame_as_the_reference_says(
            pieces in prop::collection::vec(
                (prop::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), Just(b' '), Just(0u8), any::<u8>()], 0..60),
                 prop_oneof![9 => Just(0usize), 1 => 60_000..140_000usize]),
                0..6,
            ),
            chunks in prop::collection::vec(1usize..90_000, 1..5),
        ) {
            let input: Vec<u8> = pieces
                .into_iter()
                .flat_map(|(mut bytes, filler)| { bytes.resize(bytes.len() + filler, b'.'); bytes })
                .collect();
            prop_assert_eq!(frame(&input, &chunks), reference(&input));
        }
    }
}
