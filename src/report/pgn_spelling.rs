//! PGN text with moves in the spelling that the PGN reader knows.
//!
//! The reader drops a word that it does not know, and with it a ply. Among them are promotions
//! without `=` (`e7e8q` of UCI, `e8Q`) and long moves with a hyphen (`Ng1-f3`). Tags and comments
//! are left as they are.

use std::io::Read;

/// Bytes read at once.
const CHUNK: u64 = 1 << 16;

/// The longest word that is kept whole between two reads. No move is longer.
const LONGEST_WORD: usize = 256;

/// Lexical state of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PgnState {
    /// Before the first character of a line that is not blank, or after a tag.
    Line,
    Moves,
    Tag,
    TagValue,
    /// After a backslash in the value of a tag.
    Escape,
    Comment,
    /// After `;`, or `%` at the start of a line.
    RestOfLine,
}

/// PGN text of `source`, respelled as it is read.
#[derive(Debug)]
pub(super) struct RespelledPgn<R> {
    source: R,
    /// Start of a word whose end is not read yet.
    input: Vec<u8>,
    output: Vec<u8>,
    /// Number of bytes of `output` that were handed out.
    given: usize,
    state: PgnState,
    line: u64,
    /// Line of the last comment.
    comment_line: u64,
    is_last: bool,
}

impl<R: Read> RespelledPgn<R> {
    pub(super) const fn new(source: R) -> Self {
        Self {
            source,
            input: Vec::new(),
            output: Vec::new(),
            given: 0,
            state: PgnState::Line,
            line: 1,
            comment_line: 0,
            is_last: false,
        }
    }

    /// Line of a comment `{` whose `}` has not been read.
    pub(super) fn open_comment(&self) -> Option<u64> {
        (self.state == PgnState::Comment).then_some(self.comment_line)
    }

    fn refill(&mut self) -> std::io::Result<()> {
        self.output.clear();
        self.given = 0;
        let mut input = std::mem::take(&mut self.input);
        self.is_last = ((&mut self.source).take(CHUNK).read_to_end(&mut input)? as u64) < CHUNK;
        let mut rest = input.as_slice();
        while !rest.is_empty() {
            let is_word = matches!(self.state, PgnState::Line | PgnState::Moves);
            let length = self.step(rest);
            if length == 0 {
                break;
            }
            let (bytes, after) = rest.split_at(length);
            if is_word {
                respell(bytes, &mut self.output)
            } else {
                self.output.extend_from_slice(bytes)
            }
            self.line += bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
            rest = after;
        }
        self.input = rest.to_vec();
        Ok(())
    }

    /// Number of bytes up to the next change of state or the end of a word; 0 if the word may
    /// continue.
    fn step(&mut self, rest: &[u8]) -> usize {
        let find = |ends: fn(&u8) -> bool| rest.iter().position(ends);
        let (end, next) = match self.state {
            PgnState::Comment => (find(|byte| *byte == b'}'), PgnState::Moves),
            PgnState::RestOfLine => (find(|byte| *byte == b'\n'), PgnState::Line),
            PgnState::Escape => (Some(0), PgnState::TagValue),
            PgnState::Tag => {
                let end = find(|byte| b"\"]\n".contains(byte));
                let is_value = end.is_some_and(|end| rest[end] == b'"');
                (end, if is_value { PgnState::TagValue } else { PgnState::Line })
            }
            PgnState::TagValue => {
                let end = find(|byte| b"\"\\\n".contains(byte));
                let next = match end.map(|end| rest[end]) {
                    Some(b'"') => PgnState::Tag,
                    Some(b'\\') => PgnState::Escape,
                    _ => PgnState::Line,
                };
                (end, next)
            }
            PgnState::Line | PgnState::Moves => return self.step_in_moves(rest),
        };
        match end {
            Some(end) => {
                self.state = next;
                end + 1
            }
            None => rest.len(),
        }
    }

    fn step_in_moves(&mut self, rest: &[u8]) -> usize {
        let at_start = self.state == PgnState::Line;
        self.state = match rest[0] {
            b'[' if at_start => PgnState::Tag,
            b'%' if at_start => PgnState::RestOfLine,
            // Blanks, and the byte order mark.
            b' ' | b'\t' | b'\r' | b'\xef' | b'\xbb' | b'\xbf' if at_start => PgnState::Line,
            b'\n' => PgnState::Line,
            b';' => PgnState::RestOfLine,
            b'{' => {
                self.comment_line = self.line;
                PgnState::Comment
            }
            byte => {
                self.state = PgnState::Moves;
                return match rest.iter().position(ends_word) {
                    _ if ends_word(&byte) => 1,
                    Some(end) => end,
                    None if self.is_last || rest.len() > LONGEST_WORD => rest.len(),
                    None => 0,
                };
            }
        };
        1
    }
}

impl<R: Read> Read for RespelledPgn<R> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        while self.given == self.output.len() && !self.is_last {
            self.refill()?;
        }
        let bytes = &self.output[self.given..];
        let count = bytes.len().min(into.len());
        into[..count].copy_from_slice(&bytes[..count]);
        self.given += count;
        Ok(count)
    }
}

/// True for the bytes that end a word for the reader.
fn ends_word(byte: &u8) -> bool {
    b" \t\n\r{}()!?$;.*".contains(byte)
}

/// Appends a word to `output`: a promotion with `=`, a long move without hyphen, any other as it
/// is.
fn respell(word: &[u8], output: &mut Vec<u8>) {
    let end = word.iter().rposition(|byte| !b"+#".contains(byte)).map_or(0, |last| last + 1);
    let bare = &word[..end];
    if !(3..=8).contains(&bare.len()) {
        return output.extend_from_slice(word);
    }
    let is_square = |at: usize| matches!(bare.get(at..at + 2), Some([b'a'..=b'h', b'1'..=b'8']));
    let hyphen =
        [2, 3].into_iter().find(|at| bare[*at..].first() == Some(&b'-') && is_square(at - 2) && is_square(at + 1));
    let is_promotion = matches!(bare, [b'a'..=b'h', .., b'1' | b'8', piece] if b"qrbnQRBN".contains(piece));
    let piece = Some(end - 1).filter(|at| is_promotion && is_square(at - 2));
    for (at, byte) in word.iter().enumerate().filter(|(at, _)| Some(*at) != hyphen) {
        output.extend((Some(at) == piece).then_some(b'='));
        output.push(*byte);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Source that hands out this many bytes at once.
    struct Drops<'a>(&'a [u8], usize);

    impl Read for Drops<'_> {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            let most = into.len().min(self.1);
            self.0.read(&mut into[..most])
        }
    }

    /// Text as it is read, and the line of the open comment.
    fn read(text: &[u8]) -> (String, Option<u64>) {
        let mut reader = RespelledPgn::new(Drops(text, 7));
        let mut read = Vec::new();
        reader.read_to_end(&mut read).expect("memory can be read");
        (String::from_utf8(read).expect("the text is UTF-8"), reader.open_comment())
    }

    #[test]
    fn moves_are_respelled() {
        let check = |text: &str, expected: &str| assert_eq!(read(text.as_bytes()), (expected.to_owned(), None));
        check("1.e7e8q d7xe8Q+ 2. e8N# a2b1r", "1.e7e8=q d7xe8=Q+ 2. e8=N# a2b1=r");
        check("e2-e4 Ng1-f3 d7-d8Q a7-a8=Q+ e7-e8q", "e2e4 Ng1f3 d7d8=Q a7a8=Q+ e7e8=q");
        for same in ["e8=Q e4 Bb8 O-O-O 0-1 1/2-1/2 a1d *", "e7q Bh8q e7e7q x8q e1h1 aaaaaaaa8q", "", "[", "Q"] {
            check(same, same);
        }
    }

    #[test]
    fn tags_and_comments_stay() {
        let tags = "\u{feff}[White \"e8q {\"]\n  [Black \"\\\"e8q {\"] [Event \"e8q\n[Round e8q]\n% e8q {\n";
        let moves = "e4 {e8q ;\n[Event \"e8q\"]\n} e5 ; e8q {\n";
        let text = format!("{tags}\n{moves}");
        assert_eq!(read(format!("{text}e8q\n{text}e8q").as_bytes()).0, format!("{text}e8=q\n{text}e8=q"));
    }

    #[test]
    fn words_and_comments_are_whole_between_two_reads() {
        for length in CHUNK as usize - 12..CHUNK as usize + 2 {
            let text = " ".repeat(length);
            assert_eq!(read(format!("{text}e7e8q\n{{").as_bytes()), (format!("{text}e7e8=q\n{{"), Some(2)), "{length}");
            let comment = format!("{{{text}e7e8q}}");
            assert_eq!(read(comment.as_bytes()), (comment, None), "{length}");
        }
        let word = "x".repeat(2 * CHUNK as usize);
        assert_eq!(read(word.as_bytes()).0, word);
    }

    #[test]
    fn an_open_comment_is_told_with_its_line() {
        let check = |text: &str, line| assert_eq!(read(text.as_bytes()).1, line, "{text}");
        check("[A \"{\"]\n\n{\n} {\n e4\n", Some(4));
        check("e4 { }\n; {\n% {\n", None);
        check("{", Some(1));
    }
}
