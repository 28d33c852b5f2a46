//! Games already in a run's PGN, compared with their records one by one.
//!
//! Moves in standard notation take most of the time of writing a PGN, so games in the file are not
//! made again. A game counts as written if its tags equal its record's, byte for byte, and its
//! moves end with its result. They must hold no NUL, as a page lost in a power cut does. From the
//! first different or incomplete game on, all games are written again.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use crate::files::open_regular;

/// Bytes read of the tags or moves of a game. One with longer ones counts as different, so it is
/// written again.
const LONGEST: u64 = 16 << 20;

/// PGN file that is read game by game.
pub(super) struct PgnScan<R = BufReader<File>> {
    reader: R,
    /// Bytes of the games found so far.
    whole: u64,
    section: Vec<u8>,
}

impl PgnScan {
    /// Opens the file at `path`.
    ///
    /// # Errors
    /// Returns an error if it cannot be read.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self::new(BufReader::with_capacity(1 << 16, open_regular(path)?)))
    }
}

impl<R: BufRead> PgnScan<R> {
    const fn new(reader: R) -> Self {
        Self { reader, whole: 0, section: Vec::new() }
    }

    /// True if the next games of the file have these tags and results. After a false answer no
    /// further game is found.
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

    /// Bytes of the games found so far.
    pub(super) const fn whole(&self) -> u64 {
        self.whole
    }

    /// Reads up to the end of the next empty line; false if there is none.
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

/// True if a section may be the moves of a game with this result.
fn is_movetext(section: &[u8], result: &str) -> bool {
    let before = section.strip_suffix(b"\n\n").and_then(|text| text.strip_suffix(result.as_bytes()));
    before.is_some_and(|text| matches!(text, [] | [.., b' ' | b'\n']) && !text.contains(&0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TAGS: &str = "[Event \"a\"]\n";

    /// Number of games found in `text`, out of five like the first, and their bytes.
    fn found(text: &[u8]) -> (usize, u64) {
        let mut written = PgnScan::new(text);
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
        // Text cut at any byte yields its whole games alone.
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
        let mut written = PgnScan::new(text.as_bytes());
        let pair = || [(TAGS.to_owned(), "1-0"), (TAGS.to_owned(), "1-0")];
        assert!(written.has(pair()).unwrap() && !written.has(pair()).unwrap());
        assert_eq!(written.whole(), 2 * text.len() as u64 / 3);
    }

    #[test]
    fn a_line_without_an_end_is_not_read_to_it() {
        let mut written = PgnScan::new(BufReader::new(io::Read::take(io::repeat(b'x'), 1 << 40)));
        assert!(!written.has([(TAGS.to_owned(), "1-0")]).unwrap());
    }
}
