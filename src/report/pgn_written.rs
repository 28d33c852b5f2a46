//! The games that stand in a run's PGN already, held to their records one after another.
//!
//! Moves in standard notation take most of the time that a PGN costs, so what is there is not made again. A game is taken for
//! written if its tags are those of its record, byte for byte, and its moves end with its result and hold no NUL, as a page
//! that a power cut lost does. The first game that differs, or is cut off, ends what is known: all from there on is made anew.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use crate::files::open_regular;

/// Bytes that no game's tags and no game's moves have.
const LONGEST: u64 = 16 << 20;

/// A PGN file read game by game.
pub(super) struct Written<R = BufReader<File>> {
    reader: R,
    /// Bytes of the games that were found.
    whole: u64,
    section: Vec<u8>,
}

impl Written {
    /// Opens the file at `path`.
    ///
    /// # Errors
    /// Returns an error if it cannot be read.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self::new(BufReader::with_capacity(1 << 16, open_regular(path)?)))
    }
}

impl<R: BufRead> Written<R> {
    const fn new(reader: R) -> Self {
        Self { reader, whole: 0, section: Vec::new() }
    }

    /// True if the next games of the file are these, told by their tags and the token of their result. After a false answer no
    /// game is known any more.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read.
    pub(super) fn has<'a>(&mut self, games: impl IntoIterator<Item = (String, &'a str)>) -> io::Result<bool> {
        let mut length = 0;
        for (tags, result) in games {
            let has_tags = self.section()? && self.section.strip_suffix(b"\n") == Some(tags.as_bytes());
            length += self.section.len() as u64;
            if !has_tags || !self.section()? || !is_movetext(&self.section, result) {
                return Ok(false);
            }
            length += self.section.len() as u64;
        }
        self.whole += length;
        Ok(true)
    }

    /// Bytes of the games that were found.
    pub(super) const fn whole(&self) -> u64 {
        self.whole
    }

    /// Reads on to the end of the next empty line; false if there is none.
    fn section(&mut self) -> io::Result<bool> {
        self.section.clear();
        let mut reader = io::Read::take(&mut self.reader, LONGEST);
        loop {
            let begin = self.section.len();
            reader.read_until(b'\n', &mut self.section)?;
            match &self.section[begin..] {
                b"\n" => return Ok(true),
                [.., b'\n'] => {}
                _ => return Ok(false),
            }
        }
    }
}

/// Whether a section may be the moves of a game with this result.
fn is_movetext(section: &[u8], result: &str) -> bool {
    let before = section.strip_suffix(b"\n\n").and_then(|text| text.strip_suffix(result.as_bytes()));
    before.is_some_and(|text| matches!(text, [] | [.., b' ' | b'\n']) && !text.contains(&0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TAGS: &str = "[Event \"a\"]\n";

    /// How many of five games like the first are found in `text`, and how many bytes they are.
    fn found(text: &[u8]) -> (usize, u64) {
        let mut written = Written::new(text);
        let found = (0..5).take_while(|_| written.has([(TAGS.to_owned(), "1-0")]).unwrap()).count();
        (found, written.whole())
    }

    #[test]
    fn games_are_known_until_the_first_that_differs() {
        let game = format!("{TAGS}\n1. e4 {{a}}\ne5 1-0\n\n");
        let length = game.len() as u64;
        let three = game.repeat(3);
        assert_eq!(found(three.as_bytes()), (3, 3 * length));
        assert_eq!(found(b""), (0, 0));
        // Cut anywhere, only whole games are known.
        for cut in 0..three.len() {
            let whole = cut / game.len();
            assert_eq!(found(&three.as_bytes()[..cut]), (whole, whole as u64 * length), "cut at {cut}");
        }
        for (from, to) in [
            (TAGS, "[Event \"b\"]\n"),
            (TAGS, ""),
            ("1-0", "0-1"),
            ("5 1-0", "51-0"),
            ("e4", "e\0"),
            ("\n\n", "\n"),
            ("[Event", "\0\0\0\0\0\0"),
        ] {
            let other = format!("{game}{}{game}", game.replacen(from, to, 1));
            assert_eq!(found(other.as_bytes()), (1, length), "{from:?} {to:?}");
        }
    }

    #[test]
    fn a_pair_is_known_whole_or_not_at_all() {
        let text = format!("{TAGS}\n1-0\n\n").repeat(3);
        let mut written = Written::new(text.as_bytes());
        let pair = || [(TAGS.to_owned(), "1-0"), (TAGS.to_owned(), "1-0")];
        assert!(written.has(pair()).unwrap() && !written.has(pair()).unwrap());
        assert_eq!(written.whole(), 2 * text.len() as u64 / 3);
    }

    #[test]
    fn a_line_without_an_end_is_not_read_to_it() {
        let mut written = Written::new(BufReader::new(io::Read::take(io::repeat(b'x'), 1 << 40)));
        assert!(!written.has([(TAGS.to_owned(), "1-0")]).unwrap());
    }
}
