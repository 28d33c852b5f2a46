//! Making an opening book: random walks from the starting position, and which of them to keep.
//!
//! Pure: an engine's scores come in as values. Walk `n` of a seed is the same whatever came before, and judgements are
//! taken in the order of the walks, so the book depends on seed, settings and engine, never on who was quicker.

use std::collections::{BTreeMap, HashSet};
use std::str::FromStr;

use crate::chess::Position;
use crate::plan::openings::order::SplitMix64;
use crate::record::{Color, Score};

/// Walks in a row that may lead nowhere new before the positions count as used up.
const BARREN_WALKS: u64 = 20_000;

/// By how much the score of a short search may miss the window before a candidate is dropped without a long one.
const SKIM_SLACK_CP: u32 = 150;

/// Candidates judged before a selection may be given up as hopeless, and how many of them must be kept for one more.
const HOPELESS_AFTER: u64 = 10_000;
const HOPELESS_SHARE: u64 = 1000;

/// A position that a book may begin a game from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Place among the candidates, from 0 without gaps.
    pub index: u64,
    /// Six-field FEN.
    pub fen: String,
    /// What became of the walks up to this one.
    pub walked: Walked,
}

impl Candidate {
    /// The EPD line: four fields, and the counters as opcodes.
    #[must_use]
    pub fn epd(&self) -> String {
        let mut fields = self.fen.rsplitn(3, ' ');
        let (fullmoves, halfmoves) = (fields.next().unwrap_or("1"), fields.next().unwrap_or("0"));
        format!("{} hmvc {halfmoves}; fmvn {fullmoves};", fields.next().unwrap_or_default())
    }
}

/// What became of random walks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Walked {
    /// All of them.
    pub walks: u64,
    /// Ended by mate, stalemate or draw, on the way or at the end.
    pub over: u64,
    /// Ended in check.
    pub in_check: u64,
    /// Ended where an earlier one had.
    pub duplicates: u64,
}

/// Candidates from random walks, in order. Ends when 20,000 walks in a row have led nowhere new.
#[derive(Clone, Debug)]
pub struct Walks {
    plies: u32,
    seed: u64,
    walked: Walked,
    seen: HashSet<String>,
}

impl Walks {
    /// Walks of exactly `plies` plies from the standard starting position, each legal move equally likely.
    #[must_use]
    pub fn new(plies: u32, seed: u64) -> Self {
        Self { plies, seed, walked: Walked::default(), seen: HashSet::new() }
    }

    /// Different positions found so far.
    #[must_use]
    pub fn found(&self) -> u64 {
        self.seen.len() as u64
    }

    /// Where a walk leads; `None` where the game is over before or there.
    fn walk(&self, number: u64) -> Option<Position> {
        // A stream of its own for each walk, scrambled so that neighbouring seeds and numbers share nothing.
        let mut random = SplitMix64::new(SplitMix64::new(self.seed).next_u64() ^ SplitMix64::new(number).next_u64());
        let mut position = Position::default();
        for _ in 0..self.plies {
            let mut moves = position.legal_moves();
            // The rules library promises no order.
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
    type Item = Candidate;

    fn next(&mut self) -> Option<Candidate> {
        for _ in 0..BARREN_WALKS {
            let walk = self.walk(self.walked.walks);
            self.walked.walks += 1;
            match walk {
                None => self.walked.over += 1,
                Some(position) if position.in_check() => self.walked.in_check += 1,
                Some(position) => {
                    let fen = position.fen();
                    let index = self.found();
                    if self.seen.insert(place(&fen).to_owned()) {
                        return Some(Candidate { index, fen, walked: self.walked });
                    }
                    self.walked.duplicates += 1;
                }
            }
        }
        None
    }
}

/// What makes two positions one for a book: board, side to move, castling rights and en-passant square of a FEN.
#[must_use]
pub fn place(fen: &str) -> &str {
    fen.match_indices(' ').nth(3).map_or(fen, |(end, _)| &fen[..end])
}

/// Which scores a book's positions may have: by size, whichever side is ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Least distance from 0, centipawns.
    pub low_cp: u32,
    /// Greatest.
    pub high_cp: u32,
}

impl Window {
    /// Whether a long search's score lies within. A mate never does.
    #[must_use]
    pub fn keeps(self, score: Score) -> bool {
        self.holds(score, 0)
    }

    /// Whether a short search's score lets a long one hope.
    #[must_use]
    pub fn hopes(self, score: Score) -> bool {
        self.holds(score, SKIM_SLACK_CP)
    }

    fn holds(self, score: Score, slack: u32) -> bool {
        match score {
            Score::Cp(cp) => {
                let size = cp.unsigned_abs();
                size.saturating_add(slack) >= self.low_cp && size <= self.high_cp.saturating_add(slack)
            }
            Score::Mate(_) => false,
        }
    }
}

impl FromStr for Window {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |part: &str| part.trim().parse::<u32>().ok();
        let window = text.split_once(',').and_then(|(low, high)| Some((number(low)?, number(high)?)));
        match window {
            Some((low_cp, high_cp)) if low_cp <= high_cp => Ok(Self { low_cp, high_cp }),
            _ => Err(format!("`{text}` is no window: write two centipawn values from 0, the lower first, as in 0,60")),
        }
    }
}

/// What the engine's scores made of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// Dropped after the short search.
    Skimmed,
    /// Dropped after the long one.
    Refused,
    /// In the book.
    Kept,
}

/// What became of the candidates up to the last one of the book.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// The walks behind them.
    pub walked: Walked,
    /// Candidates dropped after the short search.
    pub skimmed: u64,
    /// Candidates dropped after the long one.
    pub refused: u64,
    /// Positions in the book with White to move.
    pub white: u64,
    /// Positions in the book with Black to move.
    pub black: u64,
}

/// The book as it grows. Judgements may come in any order; they count in the order of the candidates.
#[derive(Clone, Debug)]
pub struct Selection {
    wanted: u64,
    next: u64,
    waiting: BTreeMap<u64, (Candidate, Judgement)>,
    lines: Vec<String>,
    tally: Tally,
}

impl Selection {
    /// An empty book of `wanted` positions to be.
    #[must_use]
    pub fn new(wanted: u64) -> Self {
        Self { wanted, next: 0, waiting: BTreeMap::new(), lines: Vec::new(), tally: Tally::default() }
    }

    /// Takes a judgement. What comes after the book is full means nothing.
    pub fn take(&mut self, candidate: Candidate, judgement: Judgement) {
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
                    match turn(&candidate.fen) {
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

    /// True where so few candidates are kept that the book would never be full.
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

    /// What became of them.
    #[must_use]
    pub const fn tally(&self) -> &Tally {
        &self.tally
    }

    /// The book: a line each, EPD.
    #[must_use]
    pub fn to_epd(&self) -> String {
        self.lines.iter().fold(String::new(), |text, line| text + line + "\n")
    }
}

/// The side to move in a FEN or EPD.
#[must_use]
pub fn turn(fen: &str) -> Color {
    if fen.split_ascii_whitespace().nth(1) == Some("b") { Color::Black } else { Color::White }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::Variant;

    #[test]
    fn walks_are_new_legal_quiet_and_repeatable() {
        let walks: Vec<Candidate> = Walks::new(8, 1).take(500).collect();
        assert_eq!(walks, Walks::new(8, 1).take(500).collect::<Vec<_>>());
        assert_ne!(walks[..20], Walks::new(8, 2).take(20).collect::<Vec<_>>());
        let mut places = HashSet::new();
        for (index, candidate) in walks.iter().enumerate() {
            let position = Position::from_fen(&candidate.fen, Variant::Standard).expect("legal");
            assert!(position.over().is_none() && !position.in_check(), "{}", candidate.fen);
            // Eight plies on it is White's fifth move.
            assert_eq!((position.turn(), position.fullmoves()), (Color::White, 5));
            assert_eq!(candidate.index, index as u64);
            assert!(places.insert(place(&candidate.fen).to_owned()));
        }
        let Walked { walks: all, over, in_check, duplicates } = walks[499].walked;
        assert_eq!(all, over + in_check + duplicates + 500);
        assert!(in_check > 0);
    }

    #[test]
    fn the_seed_is_a_promise() {
        let fens: Vec<String> = Walks::new(2, 1).take(3).map(|candidate| candidate.fen).collect();
        // Sorted moves, streams and draws as they were in the first release.
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
            let mut walks = Walks::new(plies, 7);
            assert_eq!(walks.by_ref().count(), count);
            assert_eq!(walks.found(), count as u64);
        }
    }

    #[test]
    fn windows() {
        let balanced: Window = "0,60".parse().expect("sound");
        let uneven: Window = " 90 , 130 ".parse().expect("sound");
        let table = [
            (balanced, Score::Cp(0), true, true),
            (balanced, Score::Cp(-60), true, true),
            (balanced, Score::Cp(61), false, true),
            (balanced, Score::Cp(-211), false, false),
            (balanced, Score::Cp(i32::MIN), false, false),
            (balanced, Score::Mate(1), false, false),
            (uneven, Score::Cp(0), false, true),
            (uneven, Score::Cp(-100), true, true),
        ];
        for (window, score, keeps, hopes) in table {
            assert_eq!((window.keeps(score), window.hopes(score)), (keeps, hopes), "{window:?} {score:?}");
        }
        for text in ["", "60", "60,0", "-60,60", "a,b"] {
            assert!(text.parse::<Window>().is_err(), "{text}");
        }
    }

    #[test]
    fn judgements_count_in_the_order_of_the_candidates() {
        let judge = |candidate: &Candidate| match candidate.fen.len() % 3 {
            0 => Judgement::Kept,
            1 => Judgement::Skimmed,
            _ => Judgement::Refused,
        };
        let candidates: Vec<Candidate> = Walks::new(5, 3).take(300).collect();
        let fill = |order: &[usize]| {
            let mut selection = Selection::new(20);
            for place in order {
                selection.take(candidates[*place].clone(), judge(&candidates[*place]));
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
        let candidate = Walks::new(1, 1).next().expect("a walk");
        let mut selection = Selection::new(1);
        for index in 0..HOPELESS_AFTER {
            assert!(!selection.is_hopeless());
            selection.take(Candidate { index, ..candidate.clone() }, Judgement::Skimmed);
        }
        assert!(selection.is_hopeless());
    }

    #[test]
    fn lines() {
        let walked = Walked::default();
        let fen = "rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 3 12".to_owned();
        let candidate = Candidate { index: 0, fen, walked };
        assert_eq!(candidate.epd(), "rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - hmvc 3; fmvn 12;");
        assert_eq!(place(&candidate.fen), "rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq -");
    }
}
