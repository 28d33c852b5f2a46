//! Counts of `data features` against a slow computation from the definitions of the blocks alone,
//! position by position and move by move.
//!
//! It shares nothing with `engine/src/nnue/sets`: a view is an array of 64 piece codes, a feature a
//! number in a set, and mobility tries each move on a copy of the board.

use super::block_counts::{BlockCounts, ChangeCounts};
use super::tests::{SAMPLE, board};
use destrier::board::Board;
use destrier::nnue::sets::{FeatureBlock, FeaturePair, PairList};
use destrier::types::{Color, Move, MoveList, SplitMix64, Square};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Moves of each position that are compared.
const DRAWN: usize = 2;
/// Pairs of the list of `top-pairs`.
const PAIRS: usize = 300;

/// Piece code of each square of one side's view, `6 * enemy + kind`.
type Codes = [Option<usize>; 64];

/// Returns the view of a side: ranks turned for Black, files as they are.
fn codes(board: &Board, color: Color) -> Codes {
    std::array::from_fn(|square| {
        let turned = if color == Color::White { square } else { square ^ 56 };
        let piece = board.piece_at(Square::new(turned as u8))?;
        Some(6 * usize::from(piece.color() != color) + piece.kind().index())
    })
}

/// Returns the codes with their squares.
fn pieces(view: &Codes) -> Vec<(usize, usize)> {
    (0..64).filter_map(|square| view[square].map(|code| (code, square))).collect()
}

/// Returns the square of the own king.
fn own_king(view: &Codes) -> usize {
    pieces(view).iter().find(|(code, _)| *code == 5).expect("a king").1
}

/// Returns the square some files and ranks away, if it is on the board.
fn shifted(square: usize, files: i32, ranks: i32) -> Option<usize> {
    let (file, rank) = (square as i32 % 8 + files, square as i32 / 8 + ranks);
    ((0..8).contains(&file) && (0..8).contains(&rank)).then_some((8 * rank + file) as usize)
}

const STRAIGHT: [(i32, i32); 4] = [(1, 0), (-1, 0), (0, 1), (0, -1)];
const SLANTED: [(i32, i32); 4] = [(1, 1), (-1, 1), (1, -1), (-1, -1)];
const JUMPS: [(i32, i32); 8] = [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)];

/// Returns the direction in which the pawns of a code's side go.
fn forward(code: usize) -> i32 {
    if code < 6 { 1 } else { -1 }
}

/// Returns the squares that the piece on a square attacks, own pieces among them.
fn attacked(view: &Codes, from: usize) -> Vec<usize> {
    let Some(code) = view[from] else { return Vec::new() };
    let steps = match code % 6 {
        0 => vec![(-1, forward(code)), (1, forward(code))],
        1 => JUMPS.to_vec(),
        2 => SLANTED.to_vec(),
        3 => STRAIGHT.to_vec(),
        _ => [STRAIGHT, SLANTED].concat(),
    };
    let is_slider = (2..5).contains(&(code % 6));
    let mut found = Vec::new();
    for (files, ranks) in steps {
        let mut square = from;
        while let Some(next) = shifted(square, files, ranks) {
            found.push(next);
            square = next;
            if !is_slider || view[next].is_some() {
                break;
            }
        }
    }
    found
}

/// Returns the squares that the piece on a square can go to: no pins, castling or en passant.
fn destinations(view: &Codes, from: usize, has_double_step: bool) -> Vec<usize> {
    let Some(code) = view[from] else { return Vec::new() };
    let is_own = |square: usize| view[square].is_some_and(|other| other / 6 == code / 6);
    let mut found = attacked(view, from);
    found.retain(|&to| !is_own(to));
    if code % 6 == 0 {
        found.retain(|&to| view[to].is_some());
        let first_rank = if code < 6 { 1 } else { 6 };
        let is_free = |ranks: i32| shifted(from, 0, ranks * forward(code)).filter(|&to| view[to].is_none());
        if let Some(one) = is_free(1) {
            found.push(one);
            found.extend(is_free(2).filter(|_| has_double_step && from / 8 == first_rank));
        }
    }
    found
}

/// Returns true if the king of a code's side is attacked.
fn is_in_check(view: &Codes, code: usize) -> bool {
    let king = 6 * (code / 6) + 5;
    let is_enemy = |square: &usize| view[*square].is_some_and(|other| other / 6 != code / 6);
    (0..64).filter(is_enemy).any(|from| attacked(view, from).iter().any(|&to| view[to] == Some(king)))
}

/// Returns the squares that the pieces of each code can go to without leaving their king attacked.
fn reach(view: &Codes) -> BTreeMap<usize, BTreeSet<usize>> {
    let mut found: BTreeMap<usize, BTreeSet<usize>> = (0..12).map(|code| (code, BTreeSet::new())).collect();
    for (code, from) in pieces(view) {
        for to in destinations(view, from, false) {
            let mut after = *view;
            (after[from], after[to]) = (None, Some(code));
            if !is_in_check(&after, code) {
                found.entry(code).or_default().insert(to);
            }
        }
    }
    found
}

/// Returns the number of lines of a block about lines.
fn line_count(name: &str) -> usize {
    if name == "file" || name == "rank" { 8 } else { 15 }
}

/// Returns the number of the line through a square.
fn line_of(name: &str, square: usize) -> usize {
    let (file, rank) = (square % 8, square / 8);
    match name {
        "file" => file,
        "rank" => rank,
        "diagonal" => file + rank,
        "antidiagonal" => file + 7 - rank,
        _ => panic!("{name}: no line"),
    }
}

/// Returns the pairs of neighbours of all lines of a name.
fn neighbours(view: &Codes, name: &str) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    for number in 0..line_count(name) {
        let mut along = pieces(view);
        along.retain(|&(_, square)| line_of(name, square) == number);
        // By rising file, along a file by rising rank.
        along.sort_by_key(|&(_, square)| if name == "file" { square / 8 } else { square % 8 });
        found.extend(along.windows(2).map(|two| 144 * number + 12 * two[0].0 + two[1].0));
    }
    found
}

/// Returns the active features of a block, by its definition.
fn features(name: &str, list: &[[u16; 2]], view: &Codes) -> BTreeSet<usize> {
    let all = pieces(view);
    let king = own_king(view);
    // Codes without kings, steps from the own king by file and rank, and squares.
    let others: Vec<[usize; 4]> = all
        .iter()
        .filter(|(code, _)| code % 6 != 5)
        .map(|&(code, at)| [code % 6 + 5 * (code / 6), king % 8 + 7 - at % 8, king / 8 + 7 - at / 8, at])
        .collect();
    match name {
        "piece" => all.iter().map(|&(code, square)| 64 * code + square).collect(),
        "file" | "rank" | "diagonal" | "antidiagonal" => {
            all.iter().map(|&(code, square)| line_count(name) * code + line_of(name, square)).collect()
        }
        "king-all" => all.iter().map(|&(code, square)| 768 * king + 64 * code + square).collect(),
        "king-piece" => others.iter().map(|&[code, _, _, square]| 640 * king + 64 * code + square).collect(),
        "king-relative" => others.iter().map(|&[code, files, ranks, _]| 225 * code + 15 * files + ranks).collect(),
        "king-relative-h" => {
            others.iter().map(|&[code, files, _, square]| 120 * code + 8 * files + square / 8).collect()
        }
        "king-relative-v" => {
            others.iter().map(|&[code, _, ranks, square]| 120 * code + 15 * (square % 8) + ranks).collect()
        }
        "moves" => {
            let of = |from: usize| destinations(view, from, true).into_iter().map(move |to| 64 * from + to);
            all.iter().flat_map(|&(_, from)| of(from)).collect()
        }
        "mobility-squares" => {
            let squares = reach(view).into_iter().flat_map(|(code, to)| to.into_iter().map(move |to| 64 * code + to));
            squares.collect()
        }
        "mobility-counts" => {
            const CAPS: [usize; 6] = [8, 15, 16, 25, 25, 8];
            const OFFSETS: [usize; 6] = [0, 9, 25, 42, 68, 94];
            let place = |(code, to): (usize, BTreeSet<usize>)| {
                103 * (code / 6) + OFFSETS[code % 6] + to.len().min(CAPS[code % 6])
            };
            reach(view).into_iter().map(place).collect()
        }
        _ if name.starts_with("top-pairs:") => {
            let stands = |feature: &u16| view[usize::from(feature % 64)] == Some(usize::from(feature / 64));
            (0..).zip(list).filter(|(_, pair)| pair.iter().all(stands)).map(|(place, _)| place).collect()
        }
        _ => neighbours(view, name.strip_suffix("-pairs").expect("a block of the table")),
    }
}

/// Returns true if the move of the own king changes the part of its square on which a block
/// depends.
fn is_refresh(name: &str, from: usize, to: usize) -> bool {
    match name {
        "king-piece" | "king-all" | "king-relative" => from != to,
        "king-relative-h" => from % 8 != to % 8,
        "king-relative-v" => from / 8 != to / 8,
        _ => false,
    }
}

/// Counts of one block by definition.
struct SlowCounts {
    name: String,
    list: Vec<[u16; 2]>,
    frequency: Vec<u64>,
    changes: ChangeCounts,
}

impl SlowCounts {
    fn record(&mut self, board: &Board, moves: &[Move]) {
        for color in Color::ALL {
            let view = codes(board, color);
            let before = features(&self.name, &self.list, &view);
            before.iter().for_each(|&feature| self.frequency[feature] += 1);
            for &mv in moves {
                let mut after = *board;
                after.play(mv);
                let next = codes(&after, color);
                if is_refresh(&self.name, own_king(&view), own_king(&next)) {
                    self.changes.refreshes += 1;
                    continue;
                }
                let after = features(&self.name, &self.list, &next);
                self.changes.updates += 1;
                self.changes.adds += after.difference(&before).count() as u64;
                self.changes.removes += before.difference(&after).count() as u64;
            }
        }
    }
}

/// Returns pairs of own pieces with any others that stand in the sample, from every ninth position.
fn pairs() -> Vec<[u16; 2]> {
    let mut found = BTreeSet::new();
    for fen in SAMPLE.lines().step_by(9) {
        let all = pieces(&codes(&board(fen), Color::White));
        let all: Vec<usize> = all.iter().map(|(code, square)| 64 * code + square).collect();
        let own = all.iter().filter(|feature| **feature < 384);
        found.extend(own.flat_map(|&a| all.iter().filter(move |b| **b != a).map(move |&b| [a.min(b), a.max(b)])));
    }
    let step = (found.len() / PAIRS).max(1);
    found.into_iter().step_by(step).take(PAIRS).map(|pair| pair.map(|feature| feature as u16)).collect()
}

/// Every feature is on in as many views as by definition, and moves add and remove as many, in all
/// positions of the sample.
#[test]
fn all_counts_are_those_of_the_definitions() {
    let list = pairs();
    let of_list = list.iter().map(|[a, b]| FeaturePair::new(*a, *b).expect("an own piece with another")).collect();
    let top_pairs = FeatureBlock::TopPairs(Arc::new(PairList::new(of_list).expect("different pairs")));
    assert_eq!(top_pairs.to_string(), format!("top-pairs:{PAIRS}"));
    let blocks: Vec<FeatureBlock> = FeatureBlock::all().cloned().chain([top_pairs]).collect();
    let mut slow: Vec<SlowCounts> = Vec::new();
    for block in &blocks {
        let (name, frequency) = (block.to_string(), vec![0; block.size()]);
        slow.push(SlowCounts { name, list: list.clone(), frequency, changes: ChangeCounts::default() });
    }
    let mut fast: Vec<BlockCounts> = blocks.into_iter().filter_map(BlockCounts::new).collect();
    let mut random = SplitMix64::new(15);
    let mut positions = 0;
    for fen in SAMPLE.lines() {
        let position = board(fen);
        let mut legal = MoveList::new();
        position.legal_moves(&mut legal);
        let draws = if legal.is_empty() { 0 } else { DRAWN };
        let moves: Vec<Move> = (0..draws).map(|_| legal[random.below(legal.len())]).collect();
        slow.iter_mut().for_each(|counts| counts.record(&position, &moves));
        fast.iter_mut().for_each(|counts| counts.record(&position, None, &moves));
        positions += 1;
    }
    assert_eq!((slow.len(), fast.len(), positions), (18, 18, 1200));
    for (slow, fast) in slow.iter().zip(&fast) {
        let name = &slow.name;
        assert_eq!((name, fast.views), (&fast.name(), 2 * positions), "{name}");
        let of = |counts: &ChangeCounts| [counts.updates, counts.refreshes, counts.adds, counts.removes];
        assert_eq!(of(&fast.legal), of(&slow.changes), "{name}: updates, refreshes, adds, removes");
        let other = (0..).zip(fast.frequency.iter().zip(&slow.frequency)).find(|(_, (fast, slow))| fast != slow);
        assert_eq!(other, None::<(usize, (&u64, &u64))>, "{name}: feature, views counted and by definition");
        let active = slow.frequency.iter().sum::<u64>() as f64 / fast.views as f64;
        assert!((fast.mean_active() - active).abs() < 1e-9 && active > 0.0, "{name}");
    }
}
