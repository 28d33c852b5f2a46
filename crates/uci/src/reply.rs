//! Replies of an engine, parsed from lines.
//!
//! Engines print thousands of `info` lines during a search, on the thread that stamps the next
//! `bestmove`. This parser therefore works on bytes, allocates nothing for `info` and `bestmove`,
//! skips unknown words and cannot fail.

use vampirc_uci::UciMessage;

use super::framing::is_blank;
use super::grammar;
use super::option::EngineOption;
use quintain_record::Score;

/// One line from an engine, without its line end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply<'a> {
    /// `uciok`
    UciOk,
    /// `readyok`
    ReadyOk,
    /// `bestmove`
    BestMove(BestMove<'a>),
    /// `info`
    Info(InfoLine<'a>),
    /// `id`
    Id(IdField, String),
    /// `option`
    Option(EngineOption),
    /// Any other line, such as `registration`, `copyprotection` or a banner.
    Unknown,
}

/// Kind of an `id` line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdField {
    /// `id name`
    Name,
    /// `id author`
    Author,
}

impl<'a> Reply<'a> {
    /// Parses one line.
    #[must_use]
    pub fn read(line: &'a [u8]) -> Self {
        Self::read_in(line, true)
    }

    /// Parses one line after the handshake. There `id` and `option`, which take long to parse, are
    /// unknown.
    #[must_use]
    pub fn read_after_handshake(line: &'a [u8]) -> Self {
        Self::read_in(line, false)
    }

    fn read_in(line: &'a [u8], handshake: bool) -> Self {
        let mut words = Words(line);
        match words.next() {
            Some(b"info") => Self::Info(InfoLine::read(words)),
            Some(b"bestmove") => Self::BestMove(BestMove::read(words)),
            Some(b"readyok") => Self::ReadyOk,
            Some(b"uciok") => Self::UciOk,
            Some(b"id") if handshake => read_id(line),
            Some(b"option") if handshake => {
                EngineOption::read(&String::from_utf8_lossy(line)).map_or(Self::Unknown, Self::Option)
            }
            _ => Self::Unknown,
        }
    }
}

fn read_id(line: &[u8]) -> Reply<'static> {
    match grammar::read(&String::from_utf8_lossy(line)) {
        Some(UciMessage::Id { name: Some(name), .. }) => Reply::Id(IdField::Name, name.trim().to_owned()),
        Some(UciMessage::Id { author: Some(author), .. }) => Reply::Id(IdField::Author, author.trim().to_owned()),
        _ => Reply::Unknown,
    }
}

/// Arguments of `bestmove`. The referee checks that the move is legal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BestMove<'a> {
    /// Unaltered word after `bestmove`: `e2e4`, `(none)`, `0000` or anything else; empty if absent.
    pub text: &'a [u8],
    /// The word after `ponder`.
    pub ponder: Option<&'a [u8]>,
}

impl<'a> BestMove<'a> {
    fn read(mut words: Words<'a>) -> Self {
        let text = words.next().unwrap_or_default();
        let ponder = words.next().filter(|&word| word == b"ponder").and_then(|_| words.next());
        Self { text, ponder }
    }

    /// True if an unfinished line can be used as it is, because the engine forgot the newline.
    #[must_use]
    pub fn is_whole(line: &[u8]) -> bool {
        let mut words = Words(line);
        words.next() == Some(b"bestmove") && words.next().is_some_and(|word| word.len() >= 4)
    }
}

/// Kind of a score: exact or a bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bound {
    /// Exact score.
    #[default]
    Exact,
    /// Lower bound.
    Lower,
    /// Upper bound.
    Upper,
}

/// Fields of one `info` line.
///
/// A field is `None` if it is absent or has no whole number. Numbers too large for their type
/// saturate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InfoLine<'a> {
    /// Depth in plies.
    pub depth: Option<u32>,
    /// Selective depth in plies.
    pub seldepth: Option<u32>,
    /// Rank of this PV among the engine's best, from 1.
    pub multipv: Option<u32>,
    /// Score from the side to move's point of view.
    pub score: Option<Score>,
    /// Kind of `score`.
    pub bound: Bound,
    /// Nodes searched.
    pub nodes: Option<u64>,
    /// Nodes per second.
    pub nps: Option<u64>,
    /// Search time in milliseconds.
    pub time_ms: Option<u64>,
    /// Hash table fill in per mille.
    pub hashfull: Option<u16>,
    /// Number of endgame table hits.
    pub tbhits: Option<u64>,
    /// Unaltered principal variation (PV); empty if absent.
    pub pv: &'a [u8],
}

impl<'a> InfoLine<'a> {
    fn read(mut words: Words<'a>) -> Self {
        let mut line = Self::default();
        let mut word = words.next();
        while let Some(keyword) = word {
            match keyword {
                b"depth" => line.depth = words.number().map(small).or(line.depth),
                b"seldepth" => line.seldepth = words.number().map(small).or(line.seldepth),
                b"multipv" => line.multipv = words.number().map(small).or(line.multipv),
                b"nodes" => line.nodes = words.number().and_then(natural).or(line.nodes),
                b"nps" => line.nps = words.number().and_then(natural).or(line.nps),
                b"time" => line.time_ms = words.number().and_then(natural).or(line.time_ms),
                b"tbhits" => line.tbhits = words.number().and_then(natural).or(line.tbhits),
                b"hashfull" => {
                    let value = words.number().and_then(natural);
                    line.hashfull = value.map(|n| u16::try_from(n).unwrap_or(u16::MAX)).or(line.hashfull);
                }
                b"cp" => line.score = words.number().map(|n| Score::Cp(int(n))).or(line.score),
                b"mate" => line.score = words.number().map(|n| Score::Mate(int(n))).or(line.score),
                b"lowerbound" => line.bound = Bound::Lower,
                b"upperbound" => line.bound = Bound::Upper,
                b"pv" => {
                    word = line.read_pv(&mut words);
                    continue;
                }
                b"string" => break,
                _ => {}
            }
            word = words.next();
        }
        line
    }

    /// Takes the words of the PV and returns the keyword that ends it.
    fn read_pv(&mut self, words: &mut Words<'a>) -> Option<&'a [u8]> {
        let all = words.0;
        let mut length = 0;
        let end = loop {
            match words.next() {
                Some(word) if is_square(word) || !is_keyword(word) => length = all.len() - words.0.len(),
                other => break other,
            }
        };
        self.pv = all[..length].trim_ascii();
        end
    }
}

fn is_square(word: &[u8]) -> bool {
    matches!(word, [b'a'..=b'h', b'1'..=b'8', ..])
}

fn is_keyword(word: &[u8]) -> bool {
    matches!(
        word,
        b"depth"
            | b"seldepth"
            | b"time"
            | b"nodes"
            | b"pv"
            | b"multipv"
            | b"score"
            | b"cp"
            | b"mate"
            | b"wdl"
            | b"currmove"
            | b"currmovenumber"
            | b"hashfull"
            | b"nps"
            | b"tbhits"
            | b"sbhits"
            | b"cpuload"
            | b"string"
            | b"refutation"
            | b"currline"
    )
}

fn small(value: i64) -> u32 {
    u32::try_from(value.max(0)).unwrap_or(u32::MAX)
}

/// Returns `None` for a negative count.
fn natural(value: i64) -> Option<u64> {
    u64::try_from(value).ok()
}

fn int(value: i64) -> i32 {
    i32::try_from(value).unwrap_or(if value < 0 { i32::MIN } else { i32::MAX })
}

/// Iterator over the words of a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Words<'a>(pub(super) &'a [u8]);

impl<'a> Words<'a> {
    /// Takes the next word if it is a whole number, limited to `i64`. Any other word stays, because
    /// it may be the next keyword.
    fn number(&mut self) -> Option<i64> {
        let mut ahead = *self;
        let value = whole_number(ahead.next()?)?;
        *self = ahead;
        Some(value)
    }
}

impl<'a> Iterator for Words<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let mut bytes = self.0;
        while let [first, rest @ ..] = bytes
            && is_blank(*first)
        {
            bytes = rest;
        }
        if bytes.is_empty() {
            self.0 = bytes;
            return None;
        }
        let length = bytes.iter().position(|&b| is_blank(b)).unwrap_or(bytes.len());
        let (word, rest) = bytes.split_at(length);
        self.0 = rest;
        Some(word)
    }
}

fn whole_number(word: &[u8]) -> Option<i64> {
    let (negative, digits) = match word {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    if digits.is_empty() {
        return None;
    }
    let mut value: i64 = 0;
    for &byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value.saturating_mul(10).saturating_add(i64::from(digit));
    }
    Some(if negative { -value } else { value })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use vampirc_uci::UciInfoAttribute;

    use super::*;

    fn info(line: &str) -> InfoLine<'_> {
        match Reply::read(line.as_bytes()) {
            Reply::Info(info) => info,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn one_word_replies() {
        let cases: &[(&str, Reply<'_>)] = &[
            ("uciok", Reply::UciOk),
            ("  uciok \r", Reply::UciOk),
            ("readyok", Reply::ReadyOk),
            ("readyok now", Reply::ReadyOk),
            ("readyokay", Reply::Unknown),
            ("uci", Reply::Unknown),
            ("", Reply::Unknown),
            ("Stockfish 15.1 by the Stockfish developers", Reply::Unknown),
            ("registration checking", Reply::Unknown),
            ("id name  Crafty 25  ", Reply::Id(IdField::Name, "Crafty 25".into())),
            ("id author A. U. Thor\r", Reply::Id(IdField::Author, "A. U. Thor".into())),
            ("id elo 3000", Reply::Unknown),
            ("id name", Reply::Unknown),
        ];
        for (line, expected) in cases {
            assert_eq!(Reply::read(line.as_bytes()), *expected, "{line:?}");
        }
    }

    #[test]
    fn bestmove_is_passed_on_as_it_came() {
        let cases: &[(&str, &str, Option<&str>)] = &[
            ("bestmove e2e4", "e2e4", None),
            ("bestmove\te7e8q  ponder\ta7a8q", "e7e8q", Some("a7a8q")),
            ("bestmove e2e4 ponder", "e2e4", None),
            ("bestmove e2e4 ponder (none)", "e2e4", Some("(none)")),
            ("bestmove e2e4 junk d7d5", "e2e4", None),
            ("bestmove (none)", "(none)", None),
            ("bestmove 0000", "0000", None),
            ("bestmove NULL", "NULL", None),
            ("bestmove", "", None),
            ("bestmove E2E4", "E2E4", None),
            ("bestmove e2e4e5", "e2e4e5", None),
            ("bestmove e2e4\0", "e2e4\0", None),
        ];
        for (line, text, ponder) in cases {
            let expected = BestMove { text: text.as_bytes(), ponder: ponder.map(str::as_bytes) };
            assert_eq!(Reply::read(line.as_bytes()), Reply::BestMove(expected), "{line:?}");
        }
        assert_eq!(Reply::read(b"bestmovee2e4"), Reply::Unknown);
        assert!(BestMove::is_whole(b"bestmove e2e4"));
        assert!(BestMove::is_whole(b"bestmove (none)"));
        assert!(!BestMove::is_whole(b"bestmove e2e"));
        assert!(!BestMove::is_whole(b"bestmove"));
        assert!(!BestMove::is_whole(b"info string bestmove e2e4"));
    }

    #[test]
    fn info_lines_from_real_engines_and_worse() {
        let none = InfoLine::default();
        let full = InfoLine {
            depth: Some(12),
            seldepth: Some(18),
            multipv: Some(1),
            score: Some(Score::Cp(33)),
            nodes: Some(10_893),
            nps: Some(518_714),
            time_ms: Some(21),
            hashfull: Some(4),
            tbhits: Some(0),
            pv: b"e2e4 e7e5 g1f3",
            bound: Bound::Exact,
        };
        let cases: &[(&str, InfoLine<'_>)] = &[
            ("info", none),
            (
                "info depth 12 seldepth 18 multipv 1 score cp 33 nodes 10893 nps 518714 hashfull 4 tbhits 0 time 21 pv e2e4 e7e5 g1f3",
                full,
            ),
            (
                "info depth 12 seldepth 18 multipv 1 score cp +33 wdl 41 941 18 nodes 10893 nps 518714 hashfull 4 tbhits 0 ebf 1.7 time 21 pv e2e4 e7e5 g1f3 ",
                full,
            ),
            (
                "info pv e2e4 e7e5 g1f3 multipv 1 depth 12 seldepth 18 score cp 33 nodes 10893 nps 518714 hashfull 4 tbhits 0 time 21",
                full,
            ),
            ("info score cp -20 lowerbound", InfoLine { score: Some(Score::Cp(-20)), bound: Bound::Lower, ..none }),
            ("info score mate -3 upperbound", InfoLine { score: Some(Score::Mate(-3)), bound: Bound::Upper, ..none }),
            ("info score mate 0", InfoLine { score: Some(Score::Mate(0)), ..none }),
            ("info depth 20 currmove e2e4 currmovenumber 1", InfoLine { depth: Some(20), ..none }),
            ("info string depth 5 score cp 900", none),
            ("info depth 3 string score cp 900", InfoLine { depth: Some(3), ..none }),
            ("info depth seldepth 7", InfoLine { seldepth: Some(7), ..none }),
            ("info depth 1000 seldepth 300", InfoLine { depth: Some(1000), seldepth: Some(300), ..none }),
            (
                "info nodes 9223372036854775808 score cp 99999999999 hashfull 70000 depth 99999999999999999999",
                InfoLine {
                    nodes: Some(i64::MAX as u64),
                    score: Some(Score::Cp(i32::MAX)),
                    hashfull: Some(u16::MAX),
                    depth: Some(u32::MAX),
                    ..none
                },
            ),
            ("info nodes -1 time -5 score cp 0.33 depth x", none),
            ("info score cp - depth 4", InfoLine { depth: Some(4), ..none }),
            ("info pv e2e4 0000 O-O Nf3", InfoLine { pv: b"e2e4 0000 O-O Nf3", ..none }),
            ("info pv", none),
            ("info pv score cp 5", InfoLine { score: Some(Score::Cp(5)), ..none }),
        ];
        for (line, expected) in cases {
            assert_eq!(info(line), *expected, "{line}");
        }
    }

    /// The fields that `vampirc-uci` parses correctly, from the same line.
    fn through_the_crate(line: &str) -> InfoLine<'static> {
        let Some(UciMessage::Info(attributes)) = grammar::read(line) else { panic!("{line}") };
        let mut info = InfoLine::default();
        let millis = |d: &chrono::Duration| u64::try_from(d.num_milliseconds()).ok();
        for attribute in &attributes {
            match attribute {
                UciInfoAttribute::Depth(d) => info.depth = Some(u32::from(*d)),
                UciInfoAttribute::SelDepth(d) => info.seldepth = Some(u32::from(*d)),
                UciInfoAttribute::MultiPv(n) => info.multipv = Some(u32::from(*n)),
                UciInfoAttribute::Nodes(n) => info.nodes = Some(*n),
                UciInfoAttribute::Nps(n) => info.nps = Some(*n),
                UciInfoAttribute::Time(t) => info.time_ms = millis(t),
                UciInfoAttribute::HashFull(h) => info.hashfull = Some(*h),
                UciInfoAttribute::TbHits(n) => info.tbhits = Some(*n),
                UciInfoAttribute::Score { cp, mate, lower_bound, upper_bound } => {
                    info.score =
                        cp.map(Score::Cp).or_else(|| mate.map(|moves| Score::Mate(i32::from(moves)))).or(info.score);
                    info.bound = match (lower_bound, upper_bound) {
                        (Some(true), _) => Bound::Lower,
                        (_, Some(true)) => Bound::Upper,
                        _ => Bound::Exact,
                    };
                }
                _ => {}
            }
        }
        info
    }

    proptest! {
        /// Both parsers agree on lines that the crate supports: fields in any order, no unknown
        /// words, small numbers.
        #[test]
        fn agrees_with_the_protocol_crate(
            depth in 1u8..=255, seldepth in 1u8..=255, cp in -30_000i32..30_000, mate in -120i8..=120, is_mate: bool,
            bound in 0usize..3, nodes in 0u64..1_000_000_000_000, time in 0u64..1_000_000_000, hashfull in 0u16..=1000,
            order in Just([0usize, 1, 2, 3, 4, 5]).prop_shuffle(), pv in prop::sample::select(vec!["", " pv e2e4", " pv e2e4 e7e8q a1h8"]),
        ) {
            let score = if is_mate { format!("score mate {mate}") } else { format!("score cp {cp}") };
            let bound = ["", " lowerbound", " upperbound"][bound];
            let fields = [
                format!("depth {depth}"), format!("seldepth {seldepth}"), format!("{score}{bound}"), format!("nodes {nodes}"),
                format!("time {time}"), format!("hashfull {hashfull}"),
            ];
            let line = order.iter().fold("info".to_owned(), |line, &i| format!("{line} {}", fields[i])) + pv;
            let ours = info(&line);
            prop_assert_eq!(ours.pv, pv.trim_start_matches(" pv ").as_bytes());
            prop_assert_eq!(InfoLine { pv: b"", ..ours }, through_the_crate(&line), "{}", line);
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = Reply::read(&bytes);
        }

        #[test]
        fn arbitrary_words_never_panic(words in prop::collection::vec(
            prop::sample::select(vec![
                "info", "bestmove", "option", "id", "name", "author", "type", "spin", "check", "combo", "string", "button", "default",
                "min", "max", "var", "depth", "score", "cp", "mate", "pv", "-", "+", "9999999999999999999999", "-1", "e2e4", "\u{fffd}", "",
                "ponder", "lowerbound", "wdl", "<empty>", "true",
            ]), 0..20,
        )) {
            let line = words.join(" ");
            let _ = Reply::read(line.as_bytes());
            if let Some(read) = EngineOption::read(&line) {
                prop_assert!(!read.name.is_empty());
            }
        }
    }

    /// Lines that `vampirc-uci` is known to parse wrongly, and this parser does not.
    #[test]
    fn differs_from_the_protocol_crate_only_where_that_is_wrong() {
        let wrong = [
            "info depth 5 score cp 33 wdl 41 941 18 nodes 100",
            "info depth 5 ebf 1.7 nodes 100",
            "info depth 5 score cp +33 nodes 100",
            "info depth 1000 nodes 100",
            "info nodes 12345678901234 depth 5",
            "info score mate 200 depth 5",
            "info depth 5 currmovenumber 3 nodes 100",
            "info hashfull 70000 depth 5",
        ];
        for line in wrong {
            let ours = info(line);
            assert!(ours.nodes.is_some() || ours.depth == Some(5), "{line}: {ours:?}");
            assert_ne!(InfoLine { pv: b"", ..ours }, through_the_crate(line), "{line}: the crate has been mended");
        }
        for line in ["info depth 256 nodes 100", "info seldepth 300"] {
            assert!(
                std::panic::catch_unwind(|| vampirc_uci::parse_one(line)).is_err(),
                "{line}: the crate has been mended"
            );
            assert_ne!(info(line), InfoLine::default());
        }
    }
}
