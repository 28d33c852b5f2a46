//! Reads who played whom, and how it ended, from PGN: tags only, moves are skipped, a few hundred nanoseconds a game.

use std::io::{ErrorKind, Read};
use std::ops::ControlFlow;

use pgn_reader::{RawTag, Reader, Visitor};

use crate::record::Outcome;

/// The longest line of a tag that is read; the standard allows 255 bytes.
const TAG_LINE: usize = 8192;

/// The tags of a game that say who, how it ended, and what it was a part of; as the file has them, `\"` and `\\` resolved. Text is
/// bytes, for old files are not UTF-8.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GameTags {
    /// Who had White; empty where the tag is missing.
    pub white: Vec<u8>,
    /// Who had Black; empty where the tag is missing.
    pub black: Vec<u8>,
    /// `None` for a game without result (`*`, or no tag).
    pub outcome: Option<Outcome>,
    /// The event.
    pub event: Vec<u8>,
    /// The round, as `12` or `12.1`.
    pub round: Vec<u8>,
    /// The position where the game began; empty for the usual one.
    pub fen: Vec<u8>,
    /// The day, as `2026.01.31`, in UTC where the game says so.
    pub date: Vec<u8>,
    /// Which of these tags were seen.
    seen: u8,
}

impl GameTags {
    fn clear(&mut self) {
        for text in [&mut self.white, &mut self.black, &mut self.event, &mut self.round, &mut self.fen, &mut self.date]
        {
            text.clear();
        }
        (self.outcome, self.seen) = (None, 0);
    }
}

/// What a file held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Games handed over.
    pub games: u64,
    /// Tag lines too long to be read; their games may lack a tag.
    pub overlong: u64,
}

/// Hands each game of a PGN text to `each`. Whatever stands in comments is not mistaken for tags. What is no game (words
/// without tags) is passed over.
///
/// # Errors
/// Those of `source`.
pub fn read(source: impl Read, mut each: impl FnMut(&GameTags)) -> std::io::Result<Summary> {
    let mut reader = Reader::build(source).set_supported_tag_line_length(TAG_LINE).finish();
    let mut tags = Tags { game: GameTags::default(), each: &mut each, read: Summary::default() };
    loop {
        match reader.read_game(&mut tags) {
            Ok(Some(())) => {}
            Ok(None) => break,
            // The reader has gone on to the next line.
            Err(error) if error.kind() == ErrorKind::InvalidData => tags.read.overlong += 1,
            Err(error) => return Err(error),
        }
    }
    tags.finish();
    Ok(tags.read)
}

struct Tags<'a, F> {
    game: GameTags,
    each: &'a mut F,
    read: Summary,
}

impl<F: FnMut(&GameTags)> Tags<'_, F> {
    fn finish(&mut self) {
        if self.game.seen != 0 {
            self.read.games += 1;
            (self.each)(&self.game);
            self.game.clear();
        }
    }
}

impl<F: FnMut(&GameTags)> Visitor for Tags<'_, F> {
    type Tags = ();
    type Movetext = ();
    type Output = ();

    fn begin_tags(&mut self) -> ControlFlow<(), ()> {
        ControlFlow::Continue(())
    }

    fn tag(&mut self, (): &mut (), name: &[u8], value: RawTag<'_>) -> ControlFlow<()> {
        let place = match name {
            b"White" => 0,
            b"Black" => 1,
            b"Result" => 2,
            b"Event" => 3,
            b"Round" => 4,
            b"FEN" => 5,
            b"Date" => 6,
            b"UTCDate" => 7,
            _ => return ControlFlow::Continue(()),
        };
        // A tag for the second time belongs to a next game: of games without moves the reader does not see the end.
        if self.game.seen & (1 << place) != 0 {
            self.finish();
        }
        self.game.seen |= 1 << place;
        let value = value.decode();
        let into = match place {
            0 => &mut self.game.white,
            1 => &mut self.game.black,
            2 => {
                self.game.outcome = match value.trim_ascii() {
                    b"1-0" => Some(Outcome::WhiteWins),
                    b"0-1" => Some(Outcome::BlackWins),
                    b"1/2-1/2" => Some(Outcome::Draw),
                    _ => None,
                };
                return ControlFlow::Continue(());
            }
            3 => &mut self.game.event,
            4 => &mut self.game.round,
            5 => &mut self.game.fen,
            _ => {
                if place == 7 || self.game.date.is_empty() {
                    self.game.date.clear();
                    self.game.date.extend_from_slice(&value);
                }
                return ControlFlow::Continue(());
            }
        };
        into.extend_from_slice(&value);
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, (): ()) -> ControlFlow<(), ()> {
        self.finish();
        ControlFlow::Break(())
    }

    fn end_game(&mut self, (): ()) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// White, Black, result token, round of each game.
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
        // A result inside a comment is none, nor is a tag.
        check(
            b"[White \"A\"]\n[Black \"B\"]\n[Result \"1/2-1/2\"]\n\n1. e4 {\n\n[Result \"0-1\"]\n} e5 ; [White \"C\"]\n1/2-1/2\n\n[White \"B\"]\n[Black \"A\"]\n[Result \"*\"]\n\n*\n",
            &[("A", "B", "1/2-1/2", ""), ("B", "A", "*", "")],
        );
        // Games without any moves, also with the event first.
        let game = "[Event \"e\"]\n[Round \"1\"]\n[White \"A\"]\n[Black \"B\"]\n[Result \"0-1\"]\n\n";
        check(game.repeat(3).as_bytes(), &[("A", "B", "0-1", "1"); 3]);
        check(b"[Black \"B\"]\n\n1-0\n", &[("", "B", "*", "")]);
        check(b"[White \"\xe9\"]\n[Black \"B\"]\n[Result \"0-1\"]\n\n0-1\n", &[("\u{fffd}", "B", "0-1", "")]);
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

    proptest! {
        #[test]
        fn no_text_stops_the_reader(text in "([\\[\\]\"{}();%\\\\\n\r *]|White|Result|1-0|\u{e9}){0,60}") {
            let mut count = 0;
            let read = read(text.as_bytes(), |_| count += 1).expect("memory can be read");
            prop_assert_eq!(read.games, count);
        }
    }
}
