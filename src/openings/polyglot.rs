//! Polyglot books: positions by their Zobrist key, each with the moves to play there.
//!
//! An entry is 16 bytes, big-endian: key (8), move (2), weight (2), and 4 bytes for learning that
//! are not read here; entries are sorted by key (hgm.nubati.net/book_format.html). A move is
//! to-file, to-rank, from-file, from-rank and promotion, three bits each from the lowest; castling
//! is king takes rook. A move of weight 0 is never played.
//!
//! Such a book holds no list of openings. The list here is every line from the starting position
//! with the given number of plies, depth first. The heavier move comes first, and of equal ones the
//! lower number. Lines that end where an earlier one does, or in which the game is over, are left
//! out.

use std::collections::HashSet;
use std::io::Read;

use super::BookOptions;
use super::error::Trouble;
use super::store::{LONGEST_LINE, Store};
use crate::chess::{Position, START_FEN, Variant};

/// Bytes of an entry.
const ENTRY: usize = 16;

/// Plies of a line by default.
const DEFAULT_PLIES: u32 = 8;

/// The most positions visited for a list.
const MOST_POSITIONS: usize = 4_000_000;

/// The largest book, in bytes: all of it must be in memory during the search for lines.
const LARGEST: u64 = 256 << 20;

/// The most bytes that the lines may fill.
const MOST_TEXT: usize = 64 << 20;

/// Returns true if the first bytes contain some that never occur in text.
pub(super) fn looks_like(bytes: &[u8]) -> bool {
    bytes[..bytes.len().min(1024)].contains(&0)
}

/// Stores the lines: UCI moves with a space between them and a line feed at each end.
pub(super) fn read(reader: impl Read, options: &BookOptions, store: &mut Store) -> Result<(), Trouble> {
    let mut bytes = Vec::new();
    if reader.take(LARGEST + 1).read_to_end(&mut bytes)? as u64 > LARGEST {
        let what = format!("it is larger than {} MiB; take a smaller one", LARGEST >> 20);
        return Err(Trouble::Polyglot(what));
    }
    if bytes.is_empty() {
        return Ok(());
    }
    let plies = options.plies.unwrap_or(DEFAULT_PLIES);
    let (lines, begins) = lines_up_to(MOST_POSITIONS, &bytes, options.variant, plies).map_err(Trouble::Polyglot)?;
    store.add(&lines, begins).map_err(Trouble::Store)
}

fn lines_up_to(most: usize, bytes: &[u8], variant: Variant, plies: u32) -> Result<(Vec<u8>, Vec<u32>), String> {
    let start = Position::from_fen(START_FEN, variant).map_err(|error| error.to_string())?;
    let mut walk = Walk {
        book: Entries::new(bytes)?,
        plies: plies as usize,
        seen: HashSet::new(),
        most,
        deepest: 0,
        line: Vec::new(),
        text: Vec::new(),
        offsets: Vec::new(),
    };
    walk.run(start)?;
    if walk.offsets.is_empty() {
        return Err(match walk.deepest {
            0 => {
                "no move of it can be played from the starting position; it is not a book of standard chess".to_owned()
            }
            deepest => format!("its longest line has {deepest} plies; ask for as many with `--book-plies {deepest}`"),
        });
    }
    Ok((walk.text, walk.offsets))
}

/// The entries, checked as far as possible without a position.
struct Entries<'a> {
    entries: &'a [[u8; ENTRY]],
}

impl<'a> Entries<'a> {
    fn new(bytes: &'a [u8]) -> Result<Self, String> {
        let (entries, rest) = bytes.as_chunks::<ENTRY>();
        if !rest.is_empty() {
            return Err(format!(
                "{} bytes are not a multiple of Polyglot's 16-byte entries; the file is truncated, or not a Polyglot book",
                bytes.len()
            ));
        }
        if let Some(at) = entries.windows(2).position(|two| key(&two[0]) > key(&two[1])) {
            let number = at + 2;
            return Err(format!("entry {number} is out of order; it is no Polyglot book, or was not sorted by key"));
        }
        Ok(Self { entries })
    }

    /// The moves to play at a key with their index in the file, the heaviest first.
    fn moves(&self, at: u64) -> Vec<(usize, u16)> {
        let begin = self.entries.partition_point(|entry| key(entry) < at);
        let here = self.entries[begin..].iter().take_while(|entry| key(entry) == at);
        let mut moves: Vec<_> = here
            .zip(begin..)
            .map(|(entry, place)| (number(entry, 10), number(entry, 8), place))
            .filter(|(weight, _, _)| *weight > 0)
            .collect();
        moves.sort_by_key(|(weight, played, place)| (std::cmp::Reverse(*weight), *played, *place));
        moves.into_iter().map(|(_, played, place)| (place, played)).collect()
    }
}

fn key(entry: &[u8; ENTRY]) -> u64 {
    entry[..8].iter().fold(0, |key, byte| key << 8 | u64::from(*byte))
}

fn number(entry: &[u8; ENTRY], at: usize) -> u16 {
    u16::from_be_bytes([entry[at], entry[at + 1]])
}

/// A move in UCI notation, castling as king takes rook; `None` for a promotion to no piece.
fn uci(played: u16) -> Option<String> {
    let part = |shift: u32| u8::try_from(played >> shift & 7).unwrap_or(0);
    let square = |shift: u32| [char::from(b'a' + part(shift)), char::from(b'1' + part(shift + 3))];
    let promotion = ["", "n", "b", "r", "q"].get(usize::from(played >> 12))?;
    Some(square(6).into_iter().chain(square(0)).collect::<String>() + promotion)
}

/// A walk through a book.
struct Walk<'a> {
    book: Entries<'a>,
    plies: usize,
    /// Depth and key of every position visited. The lines behind a position do not depend on the
    /// moves before it.
    seen: HashSet<(usize, u64)>,
    most: usize,
    deepest: usize,
    line: Vec<String>,
    text: Vec<u8>,
    offsets: Vec<u32>,
}

impl Walk<'_> {
    fn run(&mut self, start: Position) -> Result<(), String> {
        // A position and its moves left to play, the next one last.
        let mut stack = Vec::new();
        if let Some(moves) = self.arrive(&start)? {
            stack.push((start, moves));
        }
        while let Some((position, moves)) = stack.last_mut() {
            let Some((place, played)) = moves.pop() else {
                stack.pop();
                self.line.pop();
                continue;
            };
            let mut next = position.clone();
            let fault = |what: &str| format!("entry {}: {what}", place + 1);
            let text = uci(played).ok_or_else(|| fault(&format!("{played:#06x} is not a move")))?;
            let played = next.play(&text).map_err(|error| fault(&format!("{error} (`{}`)", position.fen())))?;
            self.line.push(played.uci);
            match self.arrive(&next)? {
                Some(moves) => stack.push((next, moves)),
                None => drop(self.line.pop()),
            }
        }
        Ok(())
    }

    /// Records a visit; returns the moves to play there, if any.
    fn arrive(&mut self, position: &Position) -> Result<Option<Vec<(usize, u16)>>, String> {
        let depth = self.line.len();
        if position.over().is_some() || !self.seen.insert((depth, position.polyglot_key())) {
            return Ok(None);
        }
        if self.seen.len() > self.most {
            return Err(format!(
                "it leads to more than {} positions within {} plies; ask for fewer with `--book-plies`",
                self.most, self.plies
            ));
        }
        self.deepest = self.deepest.max(depth);
        if depth == self.plies {
            self.offsets.push(u32::try_from(self.text.len()).unwrap_or(u32::MAX));
            let line = self.line.join(" ");
            if line.len() >= LONGEST_LINE || self.text.len() + line.len() >= MOST_TEXT {
                let most = MOST_TEXT >> 20;
                return Err(format!("its lines fill more than {most} MiB; ask for fewer plies with `--book-plies`"));
            }
            self.text.extend_from_slice(line.as_bytes());
            self.text.push(b'\n');
            return Ok(None);
        }
        let mut moves = self.book.moves(position.polyglot_key());
        moves.reverse();
        Ok(Some(moves))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Entries of the position that the moves lead to, king takes rook in castling: (moves before,
    /// move, weight).
    fn book(entries: &[(&str, &str, u16)]) -> Vec<u8> {
        let mut keyed: Vec<(u64, Vec<u8>)> = Vec::new();
        for (before, played, weight) in entries {
            let mut position = Position::default();
            for word in before.split_whitespace() {
                position.play(word).expect(word);
            }
            let square = |at: usize| {
                let word = played.as_bytes();
                u16::from(word[at] - b'a') | u16::from(word[at + 1] - b'1') << 3
            };
            let promotion = "nbrq".find(&played[4..]).filter(|_| played.len() > 4).map_or(0, |at| at as u16 + 1);
            let code = square(2) | square(0) << 6 | promotion << 12;
            let mut bytes = position.polyglot_key().to_be_bytes().to_vec();
            bytes.extend([code.to_be_bytes(), weight.to_be_bytes()].concat());
            bytes.extend([0; 4]);
            keyed.push((position.polyglot_key(), bytes));
        }
        keyed.sort_by_key(|(key, _)| *key);
        keyed.into_iter().flat_map(|(_, bytes)| bytes).collect()
    }

    fn read(bytes: &[u8], plies: u32) -> Result<String, String> {
        let (text, offsets) = lines_up_to(1000, bytes, Variant::Standard, plies)?;
        let text = String::from_utf8(text).expect("UCI");
        let begins: Vec<u32> = text
            .lines()
            .scan(0, |at, line| {
                let begin = *at;
                *at += line.len() as u32 + 1;
                Some(begin)
            })
            .collect();
        assert_eq!(begins, offsets);
        Ok(text)
    }

    #[test]
    fn lines_of_a_book() {
        const RUY: &str = "e2e4 e7e5 g1f3 b8c6 f1b5 g8f6";
        let small = book(&[
            ("", "e2e4", 10),
            ("", "d2d4", 10),
            ("", "g1f3", 90),
            ("", "h2h4", 0),
            ("e2e4", "e7e5", 1),
            ("d2d4", "d7d5", 1),
            ("g1f3", "d7d5", 1),
            ("g1f3 d7d5", "d2d4", 1),
            ("d2d4 d7d5", "g1f3", 1),
            ("e2e4 e7e5", "g1f3", 1),
            ("e2e4 e7e5 g1f3", "b8c6", 1),
            ("e2e4 e7e5 g1f3 b8c6", "f1b5", 1),
            ("e2e4 e7e5 g1f3 b8c6 f1b5", "g8f6", 1),
            (RUY, "e1h1", 1),
        ]);
        let cases = [
            (0, "\n".to_owned()),
            // The heavier first; d2d4 is the lower number of the two.
            (1, "g1f3\nd2d4\ne2e4\n".to_owned()),
            (2, "g1f3 d7d5\nd2d4 d7d5\ne2e4 e7e5\n".to_owned()),
            // Two ways to one position: the first counts.
            (3, "g1f3 d7d5 d2d4\ne2e4 e7e5 g1f3\n".to_owned()),
            (4, "e2e4 e7e5 g1f3 b8c6\n".to_owned()),
            (7, format!("{RUY} e1g1\n")),
        ];
        for (plies, lines) in cases {
            assert_eq!(read(&small, plies), Ok(lines), "{plies}");
        }
        let (text, _) = lines_up_to(1000, &small, Variant::Chess960, 7).expect("read");
        assert_eq!(String::from_utf8(text), Ok(format!("{RUY} e1h1\n")));
    }

    #[test]
    fn rings_end_and_mates_are_left_out() {
        let ring =
            book(&[("", "g1f3", 1), ("g1f3", "g8f6", 1), ("g1f3 g8f6", "f3g1", 1), ("g1f3 g8f6 f3g1", "f6g8", 1)]);
        assert_eq!(read(&ring, 6), Ok("g1f3 g8f6 f3g1 f6g8 g1f3 g8f6\n".to_owned()));
        let error = read(&ring, 1000).expect_err("threefold");
        assert_eq!(error, "its longest line has 7 plies; ask for as many with `--book-plies 7`");
        let mate =
            book(&[("", "f2f3", 1), ("f2f3", "e7e5", 1), ("f2f3 e7e5", "g2g4", 1), ("f2f3 e7e5 g2g4", "d8h4", 1)]);
        assert_eq!(read(&mate, 3), Ok("f2f3 e7e5 g2g4\n".to_owned()));
        assert!(read(&mate, 4).expect_err("mate").starts_with("its longest line has 3 plies"));
    }

    #[test]
    fn broken_books() {
        let good = book(&[("", "e2e4", 1), ("e2e4", "e7e5", 1)]);
        let swapped = [&good[16..], &good[..16]].concat();
        let promotion = {
            let mut bytes = book(&[("", "e2e4", 1)]);
            bytes[8] |= 0x70;
            bytes
        };
        let all_moves: Vec<_> = Position::default().legal_moves();
        let wide: Vec<_> = all_moves.iter().map(|played| ("", played.as_str(), 1)).collect();
        let cases = [
            (good[..30].to_vec(), "30 bytes are not a multiple of Polyglot's 16-byte entries"),
            (swapped, "entry 2 is out of order"),
            (promotion, "entry 1: 0x731c is not a move"),
            (book(&[("", "e2e5", 1)]), "entry 1: `e2e5` is not legal here (`rnbqkbnr/"),
            (book(&[("", "e1h1", 1)]), "entry 1: `e1h1` is not legal here"),
            (book(&[("e2e4", "e7e5", 1)]), "no move of it can be played from the starting position"),
            (book(&[("", "e2e4", 0)]), "no move of it can be played from the starting position"),
            (good, "its longest line has 2 plies; ask for as many with `--book-plies 2`"),
        ];
        for (bytes, part) in cases {
            let error = read(&bytes, 8).expect_err(part);
            assert!(error.starts_with(part), "{error}");
        }
        let error = lines_up_to(10, &book(&wide), Variant::Standard, 1).expect_err("wide");
        assert_eq!(error, "it leads to more than 10 positions within 1 plies; ask for fewer with `--book-plies`");
        assert_eq!(lines_up_to(21, &book(&wide), Variant::Standard, 1).expect("fits").1.len(), 20);
    }

    proptest! {
        /// Against a plain enumeration: every line, then those dropped whose end was seen.
        #[test]
        fn no_line_is_lost(games in proptest::collection::vec(proptest::collection::vec((0..4usize, 1..4u16), 4), 1..12)) {
            let mut entries = std::collections::BTreeMap::new();
            for game in games {
                let mut before = String::new();
                let mut position = Position::default();
                for (pick, weight) in game {
                    let mut legal = position.legal_moves();
                    legal.sort_unstable();
                    let played = legal[pick * 5 % legal.len()].clone();
                    position.play(&played).expect("legal");
                    entries.insert((before.clone(), played.clone()), weight);
                    before = format!("{before} {played}").trim().to_owned();
                }
            }
            let listed: Vec<_> = entries.iter().map(|((before, played), weight)| (before.as_str(), played.as_str(), *weight)).collect();
            let bytes = book(&listed);
            let mut ends = HashSet::new();
            let mut plain = vec![(Position::default(), String::new())];
            for _ in 0..4 {
                let all = Entries::new(&bytes).expect("whole");
                plain = plain.into_iter().flat_map(|(position, line)| {
                    all.moves(position.polyglot_key()).into_iter().map(|(_, code)| {
                        let (mut next, played) = (position.clone(), uci(code).expect("a move"));
                        next.play(&played).expect("legal");
                        (next, format!("{line} {played}").trim().to_owned())
                    }).collect::<Vec<_>>()
                }).collect();
            }
            let expected: String = plain.into_iter()
                .filter(|(end, _)| ends.insert(end.polyglot_key()))
                .fold(String::new(), |text, (_, line)| text + &line + "\n");
            prop_assert_eq!(read(&bytes, 4), Ok(expected));
        }

        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200), code in any::<u16>(), plies in 0..5u32) {
            let _ = read(&bytes, plies);
            let mut one = book(&[("", "e2e4", 1)]);
            one[8..10].copy_from_slice(&code.to_be_bytes());
            let _ = read(&one, plies);
        }
    }
}
