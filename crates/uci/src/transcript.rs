//! Latest traffic of a game with one engine, for crash reports.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

/// Direction of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Sent to the engine.
    ToEngine,
    /// Received from the engine.
    FromEngine,
}

/// Ring buffer of the latest traffic.
///
/// Chunks are stored as they were written and read; lines are assembled on request.
#[derive(Debug)]
pub struct Transcript {
    ring: VecDeque<u8>,
    capacity: usize,
    started: Instant,
    dropped: bool,
}

/// Size of a chunk's header: microseconds (8 bytes), direction (1) and length (4).
const HEADER: usize = 13;

impl Transcript {
    /// Capacity in bytes, enough for a game of a few hundred moves.
    pub const CAPACITY: usize = 256 * 1024;

    /// Creates an empty transcript of at most `capacity` bytes, whose stamps count from `started`.
    #[must_use]
    pub fn new(capacity: usize, started: Instant) -> Self {
        Self { ring: VecDeque::new(), capacity: capacity.max(2 * HEADER), started, dropped: false }
    }

    /// Clears the transcript and restarts its clock.
    pub fn clear(&mut self, started: Instant) {
        self.ring.clear();
        self.started = started;
        self.dropped = false;
    }

    /// Records bytes written or read at `at`. If a chunk is too large, its end is kept.
    pub fn push(&mut self, at: Instant, direction: Direction, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        // Limited so that no chunk drops more than half of the earlier traffic.
        let keep = bytes.len().min(self.capacity / 2 - HEADER);
        self.dropped |= keep < bytes.len();
        let bytes = &bytes[bytes.len() - keep..];
        while self.ring.len() + HEADER + bytes.len() > self.capacity {
            self.drop_oldest();
        }
        let micros = u64::try_from(at.saturating_duration_since(self.started).as_micros()).unwrap_or(u64::MAX);
        let mut header = [0; HEADER];
        header[..8].copy_from_slice(&micros.to_le_bytes());
        header[8] = u8::from(direction == Direction::FromEngine);
        header[9..].copy_from_slice(&u32::try_from(keep).unwrap_or(u32::MAX).to_le_bytes());
        self.ring.extend(&header);
        self.ring.extend(bytes);
    }

    fn drop_oldest(&mut self) {
        self.dropped = true;
        match self.header_at(0) {
            Some((_, _, length)) => drop(self.ring.drain(..(HEADER + length).min(self.ring.len()))),
            None => self.ring.clear(),
        }
    }

    fn header_at(&self, at: usize) -> Option<(Duration, Direction, usize)> {
        let mut header = [0; HEADER];
        for (to, from) in header.iter_mut().zip(self.ring.range(at.min(self.ring.len())..)) {
            *to = *from;
        }
        if at + HEADER > self.ring.len() {
            return None;
        }
        let (micros, rest) = header.split_first_chunk::<8>()?;
        let direction = if rest[0] == 0 { Direction::ToEngine } else { Direction::FromEngine };
        let length = u32::from_le_bytes(*rest.last_chunk::<4>()?);
        Some((Duration::from_micros(u64::from_le_bytes(*micros)), direction, length as usize))
    }

    /// Returns the engine's output since the last `go`, as far as it is stored, from the start of a
    /// line to its `bestmove`.
    #[must_use]
    pub fn since_go(&self) -> Vec<u8> {
        let mut output = Vec::new();
        // If the ring dropped its beginning, the first line may be incomplete.
        let mut is_whole = !self.dropped;
        let mut at = 0;
        while let Some((_, direction, length)) = self.header_at(at) {
            let end = (at + HEADER + length).min(self.ring.len());
            let chunk = self.ring.range((at + HEADER).min(end)..end).copied();
            if direction == Direction::FromEngine {
                output.extend(chunk);
            } else if chunk.collect::<Vec<_>>().split(|byte| *byte == b'\n').any(|line| line.starts_with(b"go")) {
                output.clear();
                is_whole = true;
            }
            at += HEADER + length;
        }
        let start = output.iter().position(|byte| *byte == b'\n').filter(|_| !is_whole).map_or(0, |at| at + 1);
        let mut end = start;
        for line in output[start..].split_inclusive(|byte| *byte == b'\n') {
            end += line.len();
            if line.trim_ascii_start().starts_with(b"bestmove") {
                break;
            }
        }
        output.truncate(end);
        output.drain(..start);
        output
    }

    /// Formats the lines, oldest first: microseconds since the start, `>` to the engine or `<` from
    /// it, and the text. A line has the stamp of its end. Control characters and bytes that are not
    /// UTF-8 are escaped.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::with_capacity(self.ring.len() + self.ring.len() / 4);
        if self.dropped {
            text.push_str("(earlier lines were dropped)\n");
        }
        let mut pending = [Vec::new(), Vec::new()];
        let mut last = [Duration::ZERO; 2];
        let mut at = 0;
        while let Some((stamp, direction, length)) = self.header_at(at) {
            let side = usize::from(direction == Direction::FromEngine);
            last[side] = stamp;
            for &byte in
                self.ring.range((at + HEADER).min(self.ring.len())..(at + HEADER + length).min(self.ring.len()))
            {
                if byte == b'\n' {
                    write_line(&mut text, stamp, direction, &pending[side]);
                    pending[side].clear();
                } else {
                    pending[side].push(byte);
                }
            }
            at += HEADER + length;
        }
        for (side, direction) in [Direction::ToEngine, Direction::FromEngine].into_iter().enumerate() {
            if !pending[side].is_empty() {
                pending[side].extend_from_slice(b" (no line end)");
                write_line(&mut text, last[side], direction, &pending[side]);
            }
        }
        text
    }
}

/// Returns the lines to the engine in a formatted transcript, in order.
pub fn sent(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let (stamp, rest) = line.trim_start().split_once(' ')?;
        let digits = !stamp.is_empty() && stamp.bytes().all(|byte| byte.is_ascii_digit());
        if digits { rest.strip_prefix("> ") } else { None }
    })
}

fn write_line(text: &mut String, stamp: Duration, direction: Direction, line: &[u8]) {
    let arrow = if direction == Direction::ToEngine { '>' } else { '<' };
    write!(text, "{:>12} {arrow} ", stamp.as_micros()).expect("a String takes every character");
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    for chunk in line.utf8_chunks() {
        for c in chunk.valid().chars() {
            if c.is_control() && c != '\t' {
                text.extend(c.escape_default());
            } else {
                text.push(c);
            }
        }
        for byte in chunk.invalid() {
            write!(text, "\\x{byte:02x}").expect("a String takes every character");
        }
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(start: Instant, micros: u64) -> Instant {
        start + Duration::from_micros(micros)
    }

    #[test]
    fn lines_are_put_together_and_stamped_at_their_end() {
        let start = Instant::now();
        let mut transcript = Transcript::new(Transcript::CAPACITY, start);
        transcript.push(at(start, 5), Direction::ToEngine, b"position fen x\ngo nodes 1\n");
        transcript.push(at(start, 10), Direction::FromEngine, b"info depth 1\r\nbest");
        transcript.push(at(start, 30), Direction::FromEngine, b"move \xffe2\0\n");
        transcript.push(at(start, 1_000_040), Direction::FromEngine, b"info str");
        assert_eq!(
            transcript.text(),
            concat!(
                "           5 > position fen x\n",
                "           5 > go nodes 1\n",
                "          10 < info depth 1\n",
                "          30 < bestmove \\xffe2\\u{0}\n",
                "     1000040 < info str (no line end)\n",
            )
        );
        assert_eq!(sent(&transcript.text()).collect::<Vec<_>>(), ["position fen x", "go nodes 1"]);
        transcript.clear(start);
        assert_eq!(transcript.text(), "");
    }

    #[test]
    fn the_output_of_a_search_ends_with_its_answer() {
        let start = Instant::now();
        let check = |capacity, chunks: &[(Direction, &[u8])], expected: &str| {
            let mut transcript = Transcript::new(capacity, start);
            for (direction, bytes) in chunks {
                transcript.push(start, *direction, bytes);
            }
            assert_eq!(String::from_utf8_lossy(&transcript.since_go()), expected);
        };
        let to = Direction::ToEngine;
        let from = Direction::FromEngine;
        let go: (Direction, &[u8]) = (to, b"position startpos\ngo nodes 1\n");
        let full = Transcript::CAPACITY;
        check(full, &[], "");
        check(full, &[go, (from, b"info a\nbest"), (from, b"move e2e4\ninfo late\n")], "info a\nbestmove e2e4\n");
        check(full, &[go, (from, b"bestmove e2e4\n"), go, (from, b"info b\nbestmove e7e5")], "info b\nbestmove e7e5");
        // Other commands do not begin a search.
        check(full, &[go, (from, b"info a\n"), (to, b"ponderhit\n"), (from, b"info b\n")], "info a\ninfo b\n");
        // The ring lost `go` and half a line.
        let long = [b'x'; 40];
        check(
            100,
            &[go, (from, &long), (from, &long), (from, b"y\ninfo c\nbestmove e2e4\n")],
            "info c\nbestmove e2e4\n",
        );
    }

    #[test]
    fn memory_stays_flat_and_the_end_is_kept() {
        let start = Instant::now();
        let mut transcript = Transcript::new(1000, start);
        for i in 0..500u64 {
            transcript.push(at(start, i), Direction::FromEngine, format!("info nodes {i}\n").as_bytes());
            assert!(transcript.ring.len() <= 1000);
        }
        transcript.push(at(start, 500), Direction::FromEngine, &[b'x'; 5000]);
        assert!(transcript.ring.len() <= 1000);
        transcript.push(at(start, 501), Direction::FromEngine, b"\nbestmove e2e4\n");
        let text = transcript.text();
        assert!(text.starts_with("(earlier lines were dropped)\n"), "{text}");
        assert!(text.contains("info nodes 499\n"), "{text}");
        assert!(text.ends_with("501 < bestmove e2e4\n"), "{text}");
    }
}
