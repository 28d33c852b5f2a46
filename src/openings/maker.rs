//! Construction of an opening book: random walks from a starting position, and the selection of the
//! positions to keep.
//!
//! Pure: an engine's scores come in as values. Walk `n` of a seed does not depend on the walks
//! before it, and judgements count in the order of the walks. So the book depends on seed, settings
//! and engine, never on the speed of the workers.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::str::FromStr;

use crate::chess::{Position, Variant};
use crate::record::{Color, Score};
use crate::stats::random::SplitMix64;

/// Walks in a row without a new position after which the positions count as used up.
const BARREN_WALKS: u64 = 20_000;

/// Centipawns by which the score of a short search may miss the window before a candidate is
/// dropped without a long search.
const SKIM_SLACK_CP: u32 = 150;

/// Candidates judged before a selection may be given up, and candidates per kept one beyond which
/// it is.
const HOPELESS_AFTER: u64 = 10_000;
const HOPELESS_SHARE: u64 = 1000;

/// A position at which a game of the book may begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpeningCandidate {
    /// Number of the candidate, from 0 without gaps.
    pub index: u64,
    /// Six-field FEN.
    pub fen: String,
    /// Fates of the walks up to this one.
    pub walked: WalkFates,
}

impl OpeningCandidate {
    /// The EPD line: four fields, and the counters as opcodes.
    #[must_use]
    pub fn epd(&self) -> String {
        epd(&self.fen)
    }
}

/// The EPD line of a six-field FEN: four fields, and the counters as opcodes.
#[must_use]
pub fn epd(fen: &str) -> String {
    let mut fields = fen.rsplitn(3, ' ');
    let (fullmoves, halfmoves) = (fields.next().unwrap_or("1"), fields.next().unwrap_or("0"));
    format!("{} hmvc {halfmoves}; fmvn {fullmoves};", fields.next().unwrap_or_default())
}

/// Starting positions of walks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Start {
    /// The standard starting position.
    #[default]
    Standard,
    /// One of the 960, each equally likely.
    Chess960,
    /// One of the 960 for White and one for Black: double Chess960.
    Double,
}

impl Start {
    /// Castling rules of the position.
    #[must_use]
    pub const fn variant(self) -> Variant {
        match self {
            Self::Standard => Variant::Standard,
            Self::Chess960 | Self::Double => Variant::Chess960,
        }
    }

    /// `standard`, `chess960` or `dfrc`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::Chess960 => "chess960",
            Self::Double => "dfrc",
        }
    }

    /// Draws a starting position. The standard one uses no random number, so that its walks are
    /// those of the first release.
    fn draw(self, random: &mut SplitMix64) -> Option<Position> {
        match self {
            Self::Standard => Some(Position::default()),
            Self::Chess960 => {
                let number = random.below(960);
                Position::chess960(number, number)
            }
            Self::Double => Position::chess960(random.below(960), random.below(960)),
        }
    }
}

/// Fates of random walks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WalkFates {
    /// All of them.
    pub walks: u64,
    /// Ended by mate, stalemate or draw, on the way or at the end.
    pub over: u64,
    /// Ended in check.
    pub in_check: u64,
    /// Ended at the position of an earlier one.
    pub duplicates: u64,
}

/// Candidates from random walks, in order. Ends when 20,000 walks in a row have led nowhere new.
#[derive(Clone, Debug)]
pub struct Walks {
    start: Start,
    plies: u32,
    seed: u64,
    walked: WalkFates,
    seen: PositionSet,
}

impl Walks {
    /// Walks of exactly `plies` plies from a starting position, each legal move equally likely.
    #[must_use]
    pub fn new(start: Start, plies: u32, seed: u64) -> Self {
        Self { start, plies, seed, walked: WalkFates::default(), seen: PositionSet::default() }
    }

    /// Different positions found so far.
    #[must_use]
    pub fn found(&self) -> u64 {
        self.seen.len() as u64
    }

    /// The end of a walk; `None` if the game is over there or before.
    fn walk(&self, number: u64) -> Option<Position> {
        // A stream of its own for each walk, scrambled so that neighbouring seeds and numbers share
        // nothing.
        let mut random = SplitMix64::new(SplitMix64::new(self.seed).next_u64() ^ SplitMix64::new(number).next_u64());
        let mut position = self.start.draw(&mut random)?;
        for _ in 0..self.plies {
            let mut moves = position.legal_moves();
            // The rules library guarantees no order.
            moves.sort_unstable();
            let choice = random.below(u32::try_from(moves.len()).ok()?);
            position.play(moves.get(choice as usize)?).ok()?;
            if position.over().is_some() {
                return None;
            }
        }
        Some(position)
    }
}

impl Iterator for Walks {
    type Item = OpeningCandidate;

    fn next(&mut self) -> Option<OpeningCandidate> {
        for _ in 0..BARREN_WALKS {
            let walk = self.walk(self.walked.walks);
            self.walked.walks += 1;
            match walk {
                None => self.walked.over += 1,
                Some(position) if position.in_check() => self.walked.in_check += 1,
                Some(position) => {
                    let fen = position.fen();
                    let index = self.found();
                    if self.seen.insert(&fen) {
                        return Some(OpeningCandidate { index, fen, walked: self.walked });
                    }
                    self.walked.duplicates += 1;
                }
            }
        }
        None
    }
}

/// Set of positions, as hashes of 64 bits: among a million of them two collide with a probability
/// of 3 in 10^8.
#[derive(Clone, Debug, Default)]
pub struct PositionSet(HashSet<u64>);

impl PositionSet {
    /// Adds the position of a FEN; returns false if it was there.
    pub fn insert(&mut self, fen: &str) -> bool {
        let mut hasher = DefaultHasher::new();
        place(fen).hash(&mut hasher);
        self.0.insert(hasher.finish())
    }

    /// Number of different positions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns true if there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The part of a FEN that identifies a position of a book: board, side to move, castling rights and
/// en-passant square.
#[must_use]
pub fn place(fen: &str) -> &str {
    fen.match_indices(' ').nth(3).map_or(fen, |(end, _)| &fen[..end])
}

/// Range of the scores that a book's positions may have, in centipawns, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScoreWindow {
    /// Distance from 0, whichever side is ahead.
    Size {
        /// Least.
        low_cp: u32,
        /// Greatest.
        high_cp: u32,
    },
    /// White's advantage.
    White {
        /// Least; negative if Black is ahead.
        low_cp: i32,
        /// Greatest.
        high_cp: i32,
    },
}

impl ScoreWindow {
    /// Returns true if a long search's score for `turn`, the side to move, lies within. A mate
    /// score never does.
    #[must_use]
    pub fn keeps(self, score: Score, turn: Color) -> bool {
        self.holds(score, turn, 0)
    }

    /// Returns true if a short search's score is close enough for a long search.
    #[must_use]
    pub fn hopes(self, score: Score, turn: Color) -> bool {
        self.holds(score, turn, SKIM_SLACK_CP)
    }

    fn holds(self, score: Score, turn: Color, slack: u32) -> bool {
        let Score::Cp(cp) = score else { return false };
        let slack = i64::from(slack);
        let (value, low, high): (i64, i64, i64) = match self {
            Self::Size { low_cp, high_cp } => (i64::from(cp.unsigned_abs()), low_cp.into(), high_cp.into()),
            Self::White { low_cp, high_cp } => {
                let white = if turn == Color::White { i64::from(cp) } else { -i64::from(cp) };
                (white, low_cp.into(), high_cp.into())
            }
        };
        (low - slack..=high + slack).contains(&value)
    }
}

impl fmt::Display for ScoreWindow {
    /// The window as a user types it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Size { low_cp, high_cp } => write!(f, "{low_cp},{high_cp}"),
            Self::White { low_cp, high_cp } => write!(f, "{low_cp}..{high_cp}"),
        }
    }
}

impl FromStr for ScoreWindow {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        fn two<T: FromStr + PartialOrd>(parts: Option<(&str, &str)>) -> Option<(T, T)> {
            let (low, high) = parts?;
            let (low, high) = (low.trim().parse().ok()?, high.trim().parse().ok()?);
            (low <= high).then_some((low, high))
        }
        let white = two(text.split_once("..")).map(|(low_cp, high_cp)| Self::White { low_cp, high_cp });
        let size = || two(text.split_once(',')).map(|(low_cp, high_cp)| Self::Size { low_cp, high_cp });
        white.or_else(size).ok_or_else(|| {
            format!(
                "`{text}` is no window: write two centipawn values, the lower first, as in 0,60 (by size, whichever side is \
                 ahead) or 80..120 (White's advantage)"
            )
        })
    }
}

/// Verdict on a candidate by the engine's scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// Dropped after the short search.
    Skimmed,
    /// Dropped after the long one.
    Refused,
    /// The position is in the book.
    Kept,
}

impl Judgement {
    const ALL: [Self; 3] = [Self::Skimmed, Self::Refused, Self::Kept];

    /// `skimmed`, `refused` or `kept`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Skimmed => "skimmed",
            Self::Refused => "refused",
            Self::Kept => "kept",
        }
    }

    /// The judgement with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|judgement| judgement.name() == name)
    }
}

/// Fates of the candidates up to the last one of the book.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BookTally {
    /// Fates of their walks.
    pub walked: WalkFates,
    /// Candidates dropped after the short search.
    pub skimmed: u64,
    /// Candidates dropped after the long one.
    pub refused: u64,
    /// Positions in the book with White to move.
    pub white: u64,
    /// Positions in the book with Black to move.
    pub black: u64,
}

/// A book under construction. Judgements may come in any order; they count in the order of the
/// candidates.
#[derive(Clone, Debug)]
pub struct Selection {
    wanted: u64,
    next: u64,
    waiting: BTreeMap<u64, (OpeningCandidate, Judgement)>,
    lines: Vec<String>,
    tally: BookTally,
}

impl Selection {
    /// An empty book that is to hold `wanted` positions.
    #[must_use]
    pub fn new(wanted: u64) -> Self {
        Self { wanted, next: 0, waiting: BTreeMap::new(), lines: Vec::new(), tally: BookTally::default() }
    }

    /// Records a judgement. Judgements after the book is full have no effect.
    pub fn record(&mut self, candidate: OpeningCandidate, judgement: Judgement) {
        self.waiting.insert(candidate.index, (candidate, judgement));
        while !self.is_full()
            && let Some((candidate, judgement)) = self.waiting.remove(&self.next)
        {
            self.next += 1;
            self.tally.walked = candidate.walked;
            match judgement {
                Judgement::Skimmed => self.tally.skimmed += 1,
                Judgement::Refused => self.tally.refused += 1,
                Judgement::Kept => {
                    match Color::to_move(&candidate.fen) {
                        Color::White => self.tally.white += 1,
                        Color::Black => self.tally.black += 1,
                    }
                    self.lines.push(candidate.epd());
                }
            }
        }
    }

    /// True once there are as many positions as wanted.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.kept() >= self.wanted
    }

    /// Returns true if so few candidates are kept that the book will never be full.
    #[must_use]
    pub fn is_hopeless(&self) -> bool {
        self.next >= HOPELESS_AFTER && self.kept().saturating_mul(HOPELESS_SHARE) < self.next
    }

    /// Positions in the book so far.
    #[must_use]
    pub fn kept(&self) -> u64 {
        self.lines.len() as u64
    }

    /// Candidates judged so far, without gaps.
    #[must_use]
    pub const fn judged(&self) -> u64 {
        self.next
    }

    /// Fates of these candidates.
    #[must_use]
    pub const fn tally(&self) -> &BookTally {
        &self.tally
    }

    /// The book as EPD, one position a line.
    #[must_use]
    pub fn to_epd(&self) -> String {
        self.lines.iter().fold(String::new(), |text, line| text + line + "\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn walks_are_new_legal_quiet_and_repeatable() {
        let walks: Vec<OpeningCandidate> = Walks::new(Start::Standard, 8, 1).take(500).collect();
        assert_eq!(walks, Walks::new(Start::Standard, 8, 1).take(500).collect::<Vec<_>>());
        assert_ne!(walks[..20], Walks::new(Start::Standard, 8, 2).take(20).collect::<Vec<_>>());
        let mut places = HashSet::new();
        for (index, candidate) in walks.iter().enumerate() {
            let position = Position::from_fen(&candidate.fen, Variant::Standard).expect("legal");
            assert!(position.over().is_none() && !position.in_check(), "{}", candidate.fen);
            // After eight plies it is White's fifth move.
            assert_eq!((position.turn(), position.fullmoves()), (Color::White, 5));
            assert_eq!(candidate.index, index as u64);
            assert!(places.insert(place(&candidate.fen).to_owned()));
        }
        let WalkFates { walks: all, over, in_check, duplicates } = walks[499].walked;
        assert_eq!(all, over + in_check + duplicates + 500);
        assert!(in_check > 0);
    }

    #[test]
    fn the_seed_is_a_promise() {
        let fens: Vec<String> = Walks::new(Start::Standard, 2, 1).take(3).map(|candidate| candidate.fen).collect();
        // Sorted moves, streams and draws are those of the first release.
        let expected = [
            "rnbqkbnr/ppppp1pp/8/5p2/8/6P1/PPPPPP1P/RNBQKBNR w KQkq - 0 2",
            "rnbqkbnr/ppp1pppp/8/3p4/6P1/8/PPPPPP1P/RNBQKBNR w KQkq - 0 2",
            "rnbqkbnr/pp1ppppp/2p5/8/1P6/8/P1PPPPPP/RNBQKBNR w KQkq - 0 2",
        ];
        assert_eq!(fens, expected);
    }

    #[test]
    fn every_position_within_reach_is_found_once() {
        // 20 positions after one ply, 400 after two.
        for (plies, count) in [(0, 1), (1, 20), (2, 400)] {
            let mut walks = Walks::new(Start::Standard, plies, 7);
            assert_eq!(walks.by_ref().count(), count);
            assert_eq!(walks.found(), count as u64);
        }
    }

    #[test]
    fn windows() {
        use Color::{Black, White};
        let table = [
            ("0,60", Score::Cp(0), White, true, true),
            ("0,60", Score::Cp(-60), White, true, true),
            ("0,60", Score::Cp(61), Black, false, true),
            ("0,60", Score::Cp(-211), White, false, false),
            ("0,60", Score::Cp(i32::MIN), White, false, false),
            ("0,60", Score::Mate(1), White, false, false),
            (" 90 , 130 ", Score::Cp(0), White, false, true),
            ("90,130", Score::Cp(-100), White, true, true),
            ("80..120", Score::Cp(80), White, true, true),
            ("80..120", Score::Cp(-80), White, false, false),
            ("80..120", Score::Cp(-80), Black, true, true),
            ("80..120", Score::Cp(121), White, false, true),
            ("80..120", Score::Cp(i32::MIN), Black, false, false),
            ("80..120", Score::Mate(3), White, false, false),
            (" -20 .. 5 ", Score::Cp(-20), White, true, true),
            ("-20..5", Score::Cp(20), Black, true, true),
            ("-20..5", Score::Cp(6), White, false, true),
            ("-120..-80", Score::Cp(100), Black, true, true),
        ];
        for (text, score, turn, keeps, hopes) in table {
            let window: ScoreWindow = text.parse().expect(text);
            assert_eq!(
                (window.keeps(score, turn), window.hopes(score, turn)),
                (keeps, hopes),
                "{text} {score:?} {turn:?}"
            );
            assert_eq!(window.to_string().parse(), Ok(window));
        }
        for text in ["", "60", "60,0", "-60,60", "a,b", "60..0", "1...2", "..", "1..2..3", "99999999999..0"] {
            assert!(text.parse::<ScoreWindow>().is_err(), "{text}");
        }
    }

    #[test]
    fn walks_of_chess960() {
        for (start, positions) in [(Start::Chess960, 960), (Start::Double, 3000)] {
            let all: Vec<OpeningCandidate> = Walks::new(start, 0, 5).take(3000).collect();
            assert_eq!(all.len(), positions, "{start:?}");
            let same_ranks = |fen: &str| {
                let rows: Vec<&str> = place(fen).split([' ', '/']).collect();
                rows[0].eq_ignore_ascii_case(rows[7])
            };
            let doubles = all.iter().filter(|candidate| !same_ranks(&candidate.fen)).count();
            assert_eq!(doubles > 2900, start == Start::Double, "{doubles}");
            for candidate in Walks::new(start, 6, 5).take(200) {
                let position = Position::from_fen(&candidate.fen, Variant::Chess960).expect("legal");
                assert_eq!((position.fen(), position.fullmoves()), (candidate.fen.clone(), 4));
            }
        }
    }

    #[test]
    fn judgements_count_in_the_order_of_the_candidates() {
        let judge = |candidate: &OpeningCandidate| match candidate.fen.len() % 3 {
            0 => Judgement::Kept,
            1 => Judgement::Skimmed,
            _ => Judgement::Refused,
        };
        let candidates: Vec<OpeningCandidate> = Walks::new(Start::Standard, 5, 3).take(300).collect();
        let fill = |order: &[usize]| {
            let mut selection = Selection::new(20);
            for place in order {
                selection.record(candidates[*place].clone(), judge(&candidates[*place]));
            }
            assert!(selection.is_full());
            (selection.to_epd(), *selection.tally())
        };
        let straight: Vec<usize> = (0..300).collect();
        let reversed: Vec<usize> = (0..300).rev().collect();
        let strided: Vec<usize> = (0..300).map(|i| i * 7 % 300).collect();
        let (epd, tally) = fill(&straight);
        assert_eq!((epd.lines().count() as u64, tally.white + tally.black), (20, 20));
        for order in [reversed, strided] {
            assert_eq!(fill(&order), (epd.clone(), tally));
        }
    }

    #[test]
    fn a_window_that_nothing_passes_is_given_up() {
        let candidate = Walks::new(Start::Standard, 1, 1).next().expect("a walk");
        let mut selection = Selection::new(1);
        for index in 0..HOPELESS_AFTER {
            assert!(!selection.is_hopeless());
            selection.record(OpeningCandidate { index, ..candidate.clone() }, Judgement::Skimmed);
        }
        assert!(selection.is_hopeless());
    }

    #[test]
    fn lines() {
        let walked = WalkFates::default();
        let fen = "rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 3 12".to_owned();
        let candidate = OpeningCandidate { index: 0, fen, walked };
        assert_eq!(candidate.epd(), "rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - hmvc 3; fmvn 12;");
        assert_eq!(place(&candidate.fen), "rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq -");
    }
}
