//! Games of PGN text, reduced to what ratings need: players, condition, result and identity.
//!
//! Moves are read as text, without a board, in a few microseconds per game.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{ErrorKind, Read};
use std::ops::ControlFlow;

use pgn_reader::{RawComment, RawTag, Reader, SanPlus, Visitor};

use crate::chess::Variant;
use crate::record::{ByColor, Outcome};
use crate::report::identity::GameLine;
use crate::report::pgn_spelling::RespelledPgn;

/// Bytes of the longest tag line that is read. The standard allows 255.
const TAG_LINE: usize = 8192;

/// Tags of a game, with `\"` and `\\` resolved. Values are bytes, because old files are not UTF-8.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GameTags {
    /// Player of White; empty if the tag is missing.
    pub white: Vec<u8>,
    /// Player of Black; empty if the tag is missing.
    pub black: Vec<u8>,
    /// `None` for a game without result (`*`, or no tag).
    pub outcome: Option<Outcome>,
    /// Event tag.
    pub event: Vec<u8>,
    /// Round tag, such as `12` or `12.1`.
    pub round: Vec<u8>,
    /// Start position; empty for the usual one.
    pub fen: Vec<u8>,
    /// Day, such as `2026.01.31`, in UTC if the game states it.
    pub date: Vec<u8>,
    /// Limits of both sides.
    pub limits: ByColor<LimitTags>,
    /// Chess variant; empty for the usual one.
    pub variant: Vec<u8>,
    /// Hash of start and moves; `None` if moves were played but the text lacks them.
    pub moves: Option<u64>,
    /// Hash of the opening; `None` if it is unknown: the usual start position, and no move marked
    /// `book`.
    pub opening: Option<u64>,
    /// Hash of all tags, including those without a field here.
    pub all_tags: u64,
    /// True if the tags say that no move was played.
    is_moveless: bool,
    /// Bits of the tags seen so far, by their place in [`TAGS`].
    seen: u32,
}

/// Tags on one side's limit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LimitTags {
    /// `TimeControl`, or `WhiteTimeControl` and `BlackTimeControl`.
    pub time_control: Vec<u8>,
    /// `Limit`, or `WhiteLimit` and `BlackLimit`: the whole limit, if it has more than a clock.
    pub limit: Vec<u8>,
}

/// Statistics of a PGN text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PgnSummary {
    /// Number of games passed on.
    pub games: u64,
    /// Number of tag lines too long to be read. Their games may lack a tag.
    pub overlong: u64,
    /// Comment that takes up the rest of the text.
    pub open_comment: Option<OpenComment>,
}

/// Comment `{` without `}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenComment {
    /// Number of its line, from 1.
    pub line: u64,
    /// Number of the game that it is in or after, from 1; 0 before the first one.
    pub game: u64,
}

/// Passes each game of a PGN text to `each`.
///
/// Text in comments is never read as tags. Words without tags are not a game and are skipped.
///
/// # Errors
/// Returns the errors of `source`.
pub fn read(source: impl Read, mut each: impl FnMut(&GameTags)) -> std::io::Result<PgnSummary> {
    let mut reader = Reader::build(RespelledPgn::new(source)).set_supported_tag_line_length(TAG_LINE).finish();
    let mut tags = Tags {
        game: GameTags::default(),
        all: DefaultHasher::new(),
        is_in_moves: false,
        each: &mut each,
        read: PgnSummary::default(),
    };
    loop {
        match reader.read_game(&mut tags) {
            Ok(Some(())) => {}
            Ok(None) => break,
            // The reader continues on the next line or, after an unterminated comment, at the end.
            Err(error) if error.kind() == ErrorKind::InvalidData => {
                tags.read.overlong += u64::from(!tags.is_in_moves);
            }
            Err(error) => return Err(error),
        }
    }
    tags.finish(None);
    let game = tags.read.games;
    let open_comment = reader.into_inner().open_comment().map(|line| OpenComment { line, game });
    Ok(PgnSummary { open_comment, ..tags.read })
}

struct Tags<'a, F> {
    game: GameTags,
    all: DefaultHasher,
    is_in_moves: bool,
    each: &'a mut F,
    read: PgnSummary,
}

impl<F: FnMut(&GameTags)> Tags<'_, F> {
    /// Passes the game on, with its moves if there are any.
    fn finish(&mut self, line: Option<&GameLine>) {
        if self.game.seen == 0 {
            return;
        }
        let line = line.filter(|line| line.plies() > 0 || self.game.is_moveless);
        self.game.moves = line.map(GameLine::moves);
        self.game.opening = match line {
            Some(line) => line.opening(),
            None => GameLine::new(&self.game.fen).opening(),
        };
        self.game.all_tags = self.all.finish();
        self.read.games += 1;
        (self.each)(&self.game);
        self.game = GameTags::default();
        self.all = DefaultHasher::new();
    }
}

/// Known tags, in the order of their bits in `seen`.
const TAGS: [&[u8]; 16] = [
    b"White",
    b"Black",
    b"Result",
    b"Event",
    b"Round",
    b"FEN",
    b"Date",
    b"UTCDate",
    b"TimeControl",
    b"WhiteTimeControl",
    b"BlackTimeControl",
    b"Limit",
    b"WhiteLimit",
    b"BlackLimit",
    b"Variant",
    b"PlyCount",
];

impl GameTags {
    /// Variant that its tag names.
    pub(super) fn variant(&self) -> Variant {
        let names = |name: &&str| self.variant.eq_ignore_ascii_case(name.as_bytes());
        if Variant::CHESS960_TAGS.iter().any(names) { Variant::Chess960 } else { Variant::Standard }
    }

    fn set(&mut self, name: &[u8], value: &[u8]) {
        let value = || value.to_vec();
        match name {
            b"White" => self.white = value(),
            b"Black" => self.black = value(),
            b"Event" => self.event = value(),
            b"Round" => self.round = value(),
            b"FEN" => self.fen = value(),
            b"UTCDate" => self.date = value(),
            b"Date" if self.date.is_empty() => self.date = value(),
            b"WhiteTimeControl" => self.limits.white.time_control = value(),
            b"BlackTimeControl" => self.limits.black.time_control = value(),
            b"TimeControl" => [self.limits.white.time_control, self.limits.black.time_control] = [value(), value()],
            b"WhiteLimit" => self.limits.white.limit = value(),
            b"BlackLimit" => self.limits.black.limit = value(),
            b"Limit" => [self.limits.white.limit, self.limits.black.limit] = [value(), value()],
            b"Variant" => self.variant = value(),
            b"PlyCount" => self.is_moveless = value().trim_ascii() == b"0",
            b"Result" => {
                self.outcome = match value().trim_ascii() {
                    b"1-0" => Some(Outcome::WhiteWins),
                    b"0-1" => Some(Outcome::BlackWins),
                    b"1/2-1/2" => Some(Outcome::Draw),
                    _ => None,
                };
            }
            _ => {}
        }
    }
}

impl<F: FnMut(&GameTags)> Visitor for Tags<'_, F> {
    type Tags = ();
    type Movetext = (GameLine, String);
    type Output = ();

    fn begin_tags(&mut self) -> ControlFlow<(), ()> {
        self.is_in_moves = false;
        ControlFlow::Continue(())
    }

    fn tag(&mut self, (): &mut (), name: &[u8], value: RawTag<'_>) -> ControlFlow<()> {
        let place = TAGS.iter().position(|known| *known == name);
        // A repeated tag starts a new game, because the reader does not see the end of games
        // without moves.
        if let Some(place) = place {
            if self.game.seen & (1 << place) != 0 {
                self.finish(None);
            }
            self.game.seen |= 1 << place;
        }
        let value = value.decode();
        (name, &*value).hash(&mut self.all);
        if place.is_some() {
            self.game.set(name, &value);
        }
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, (): ()) -> ControlFlow<(), Self::Movetext> {
        if self.game.seen == 0 {
            // Words without tags are not a game.
            return ControlFlow::Break(());
        }
        self.is_in_moves = true;
        ControlFlow::Continue((GameLine::of_variant(&self.game.fen, self.game.variant()), String::new()))
    }

    fn san(&mut self, (line, text): &mut Self::Movetext, san: SanPlus) -> ControlFlow<()> {
        use std::fmt::Write as _;
        text.clear();
        // Writing into memory cannot fail.
        let _ = write!(text, "{}", san.san);
        line.push(text.as_bytes());
        ControlFlow::Continue(())
    }

    fn comment(&mut self, (line, _): &mut Self::Movetext, comment: RawComment<'_>) -> ControlFlow<()> {
        let text = comment.as_bytes().trim_ascii();
        // The reason of the end follows if no engine has moved.
        if text == b"book" || text.starts_with(b"book, ") {
            line.end_book();
        }
        ControlFlow::Continue(())
    }

    fn end_game(&mut self, (line, _): Self::Movetext) {
        self.finish(Some(&line));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Checks White, Black, result token and round of each game.
    fn check(text: &[u8], expected: &[(&str, &str, &str, &str)]) {
        let mut games = Vec::new();
        let read = read(text, |game| games.push(game.clone())).expect("memory can be read");
        let lossy = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let found: Vec<_> = games
            .iter()
            .map(|game| {
                let outcome = game.outcome.map_or("*", |outcome| outcome.token());
                (lossy(&game.white), lossy(&game.black), outcome.to_owned(), lossy(&game.round))
            })
            .collect();
        let own = |&(white, black, result, round): &(&str, &str, &str, &str)| {
            (white.to_owned(), black.to_owned(), result.to_owned(), round.to_owned())
        };
        assert_eq!(found, expected.iter().map(own).collect::<Vec<_>>(), "{}", lossy(text));
        assert_eq!(read.games as usize, games.len());
    }

    #[test]
    fn games_are_their_tags() {
        check(b"", &[]);
        check(b"1. e4 e5 1-0\n", &[]);
        check(
            b"\xef\xbb\xbf[Event \"x\"]\r\n[Round \"3.1\"]\r\n[White \"A \\\"q\\\" \\\\\"]\r\n[Black \"B\"]\r\n[Result \"1-0\"]\r\n\r\n1. e4 *\r\n",
            &[("A \"q\" \\", "B", "1-0", "3.1")],
        );
        // A result or tag inside a comment does not count.
        check(
            b"[White \"A\"]\n[Black \"B\"]\n[Result \"1/2-1/2\"]\n\n1. e4 {\n\n[Result \"0-1\"]\n} e5 ; [White \"C\"]\n1/2-1/2\n\n[White \"B\"]\n[Black \"A\"]\n[Result \"*\"]\n\n*\n",
            &[("A", "B", "1/2-1/2", ""), ("B", "A", "*", "")],
        );
        // Games without moves, also with the event first.
        let game = "[Event \"e\"]\n[Round \"1\"]\n[White \"A\"]\n[Black \"B\"]\n[Result \"0-1\"]\n\n";
        check(game.repeat(3).as_bytes(), &[("A", "B", "0-1", "1"); 3]);
        check(b"[Black \"B\"]\n\n1-0\n", &[("", "B", "*", "")]);
        check(b"[White \"\xe9\"]\n[Black \"B\"]\n[Result \"0-1\"]\n\n0-1\n", &[("\u{fffd}", "B", "0-1", "")]);
    }

    #[test]
    fn an_opening_ends_at_its_last_mark() {
        let opening = |moves: &str| {
            let mut found = None;
            let text = format!("[White \"A\"]\n[Black \"B\"]\n[Result \"1-0\"]\n\n{moves} 1-0\n");
            read(text.as_bytes(), |game| found = game.opening).expect("memory can be read");
            found
        };
        let whole = opening("1. e4 {book} 1... e5 {book} 2. Nf3");
        assert!(whole.is_some() && whole != opening("1. e4 {book} 1... e5 2. Nf3"));
        // No engine has moved.
        assert_eq!(opening("1. e4 {book} 1... e5 {book, A disconnects}"), whole);
        assert_eq!(opening("1. e4 {bookish} 1... e5"), None);
    }

    #[test]
    fn an_overlong_tag_is_passed_over() {
        let text = format!(
            "[White \"A\"]\n[Comment \"{}\"]\n[Black \"B\"]\n[Result \"1-0\"]\n\n1-0\n",
            "x".repeat(3 * TAG_LINE)
        );
        let mut games = Vec::new();
        let read = read(text.as_bytes(), |game| games.push(game.clone())).expect("memory can be read");
        assert_eq!((read.games, read.overlong), (1, 1));
        assert_eq!((games[0].white.as_slice(), games[0].black.as_slice()), (&b"A"[..], &b"B"[..]));
    }

    #[test]
    fn an_open_comment_is_told_with_its_place() {
        let check = |text: &str, expected: Option<(u64, u64)>| {
            let read = read(text.as_bytes(), |_| ()).expect("memory can be read");
            let expected = expected.map(|(line, game)| OpenComment { line, game });
            assert_eq!(read.open_comment, expected, "{text}");
        };
        let game = "[White \"A\"]\n[Black \"{\"]\n\n1. e4 {good} 1-0\n\n";
        check(game, None);
        check(&format!("{game}{game}"), None);
        let open = game.replace('}', "");
        check(&format!("{{ a file\n{open}"), Some((1, 0)));
        check(&format!("{game}{open}"), Some((9, 2)));
        check(&format!("{game}{}", open.replace('{', "(1. d4 {")), Some((9, 2)));
        // The next comment closes it, and the game between them is lost.
        check(&format!("{open}{game}"), None);
    }

    proptest! {
        #[test]
        fn no_text_stops_the_reader(text in "([\\[\\]\"{}();%\\\\\n\r *]|White|Result|1-0|\u{e9}){0,60}") {
            let mut count = 0;
            let read = read(text.as_bytes(), |_| count += 1).expect("memory can be read");
            prop_assert_eq!(read.games, count);
        }
    }
}
