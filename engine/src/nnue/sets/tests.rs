//! Tests of the blocks against an independent implementation, their symmetries and their bounds.

use super::block::BLOCKS;
use super::mobility::COUNTS;
use super::*;
use crate::board::Board;
use crate::types::{Bitboard, Color, Move, MoveList, PieceType, Square};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Positions with the number of active features of both views and their hash, by block. They were
/// computed by a program in another language over another chess library.
const GOLDEN: &str = include_str!("golden.tsv");

/// Returns the thirty positions of [`GOLDEN`].
pub fn golden_positions() -> impl Iterator<Item = &'static str> {
    GOLDEN.lines().skip(1).filter_map(|line| line.split('\t').next())
}

/// Positions with en passant, castling on both sides and promotions, some of Chess960.
const STARTS: [&str; 12] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R b KQkq - 0 1",
    "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
    "8/PPP4k/8/8/8/8/4Kppp/8 w - - 0 1",
    "8/PPP4k/8/8/8/8/4Kppp/8 b - - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "rnbqkb1r/ppp1pppp/5n2/3pP3/8/8/PPPP1PPP/RNBQKBNR w KQkq d6 0 3",
    "8/8/8/8/k2Pp2Q/8/8/3K4 b - d3 0 1",
    "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9",
    "rk5r/8/8/8/8/8/8/RK5R w HAha - 0 1",
    "4k3/4r3/8/8/1b6/2N5/4B3/4K3 w - - 0 1",
];

fn board(fen: &str) -> Board {
    Board::from_fen(fen).expect(fen)
}

/// Returns a list of every third pair of features of the pieces in the first positions.
fn pairs() -> Arc<PairList> {
    let mut all = BTreeSet::new();
    for fen in &STARTS[..4] {
        let on = list(&FeatureSet::piece(), &OrientedBoard::from((&board(fen), Color::White)));
        all.extend(on.iter().flat_map(|&a| on.iter().filter_map(move |&b| FeaturePair::new(a, b))));
    }
    Arc::new(PairList::new(all.into_iter().step_by(3).rev().collect()).expect("different pairs"))
}

/// Returns a set of each block alone.
fn sets() -> Vec<FeatureSet> {
    let mut blocks: Vec<FeatureBlock> = BLOCKS.iter().map(|row| row.block.clone()).collect();
    blocks.push(FeatureBlock::TopPairs(pairs()));
    blocks.into_iter().map(|block| FeatureSet::new(vec![block]).expect("one block")).collect()
}

fn list(set: &FeatureSet, board: &OrientedBoard) -> Vec<u16> {
    let mut list = Vec::new();
    set.active(board).for_each(|feature| list.push(feature));
    list
}

fn views(board: &Board) -> [OrientedBoard; 2] {
    Color::ALL.map(|color| OrientedBoard::from((board, color)))
}

/// Calls `visit` with every position one legal move after the start positions, and the move.
fn each_move(mut visit: impl FnMut(&Board, Move, &Board)) {
    for fen in STARTS {
        let before = board(fen);
        let mut moves = MoveList::new();
        before.legal_moves(&mut moves);
        for &mv in moves.iter() {
            let mut after = before;
            after.play(mv);
            visit(&before, mv, &after);
        }
    }
}

/// Hashes the features of both views by FNV-1a, each list ended by 65,535.
fn hash(lists: &[Vec<u16>]) -> u64 {
    let numbers = lists.iter().flat_map(|list| list.iter().chain([&u16::MAX]));
    let bytes = numbers.flat_map(|number| number.to_le_bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[test]
fn every_block_agrees_with_the_independent_implementation() {
    let mut lines = GOLDEN.lines();
    let names: Vec<&str> = lines.next().expect("a head").split('\t').skip(1).collect();
    let known: BTreeSet<&str> = BLOCKS.iter().map(|row| row.name).collect();
    assert_eq!(names.iter().copied().collect::<BTreeSet<_>>(), known);
    let mut compared = 0;
    for line in lines {
        let mut cells = line.split('\t');
        let fen = cells.next().expect("a position");
        let views = views(&board(fen));
        for (name, cell) in names.iter().zip(cells) {
            let set: FeatureSet = name.parse().expect(name);
            let lists = views.map(|view| list(&set, &view));
            let count = lists[0].len() + lists[1].len();
            assert_eq!(format!("{count}:{:016x}", hash(&lists)), cell, "{name}: {fen}: {lists:?}");
            compared += 1;
        }
    }
    assert_eq!(compared, 30 * 17);
}

/// Indices of a small endgame, worked out by hand from the formulas.
#[test]
fn golden_indices() {
    // White: king a5, rook b4, pawns b5, e2, g2. Black: king h4, rook h5, pawns c7, d6, f4.
    let board = board("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1");
    let [white, black] = views(&board);
    let pieces = [12, 14, 33, 3 * 64 + 25, 5 * 64 + 32];
    let enemies = [6 * 64 + 29, 6 * 64 + 43, 6 * 64 + 50, 9 * 64 + 39, 11 * 64 + 31];
    assert_eq!(list(&FeatureSet::piece(), &white), [&pieces[..], &enemies].concat());
    let cases: [(&str, &OrientedBoard, &[u16]); 7] = [
        // Pawns on b, e, g; enemy pawns on c, d, f: codes 0 and 6.
        ("file", &white, &[1, 4, 6, 25, 40, 50, 51, 53, 79, 95]),
        // Own pawns on the second, third and fifth rank seen by Black.
        ("rank", &black, &[1, 2, 4, 27, 44, 51, 54, 76, 91]),
        // The own rook below the own pawn on file b; the enemy king below its rook.
        ("file-pairs", &white, &[144 + 12 * 3, 144 * 7 + 12 * 11 + 9]),
        // Rank 2: two pawns. Rank 4: rook, pawn, king. Rank 5: king, pawn, rook.
        ("rank-pairs", &white, &[144, 432 + 12 * 3 + 6, 432 + 12 * 6 + 11, 576 + 9, 576 + 12 * 5]),
        // King a5 and rook b4; pawns b5 and e2; pawns c7, d6 and f4, which are one feature.
        ("diagonal-pairs", &white, &[576 + 12 * 5 + 3, 720, 1152 + 12 * 6 + 6]),
        // King a5 and pawn c7; rook b4 and pawn d6; pawn e2 and rook h5.
        ("antidiagonal-pairs", &white, &[432 + 12 * 5 + 6, 720 + 12 * 3 + 6, 1440 + 9]),
        // Black's king is seen on h5, its rook on h4, one rank below.
        ("king-relative", &black, &[142, 174, 190, 225 * 3 + 15 * 7 + 8, 1250, 1280, 1328, 2002]),
    ];
    for (name, view, expected) in cases {
        assert_eq!(list(&name.parse().expect(name), view), expected, "{name}");
    }
}

/// A pinned pawn has moves and no mobility; the double step is a move and no mobility.
#[test]
fn moves_and_mobility_differ_by_pins_and_double_steps() {
    let [view, _] = views(&board("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1"));
    let moves: FeatureSet = "moves".parse().expect("a block");
    let squares: FeatureSet = "mobility-squares".parse().expect("a block");
    let (moves, squares) = (moves.active(&view), squares.active(&view));
    let square = |name: &str| Square::parse(name).expect(name).index();
    let can_go = |from: &str, to: &str| moves.has(64 * square(from) + square(to));
    assert!(can_go("b5", "b6") && !squares.has(square("b6")), "the pawn on b5 is pinned");
    assert!(can_go("e2", "e4") && can_go("e2", "e3") && can_go("g2", "g4"));
    assert!(squares.has(square("e3")) && !squares.has(square("e4")));
    // The enemy's pawn on c7 goes down the board.
    assert!(can_go("c7", "c5") && can_go("c7", "c6"));
    assert!(squares.has(6 * 64 + square("c6")) && !squares.has(6 * 64 + square("c5")));
    // Its king may not step next to an attacked square.
    assert!(can_go("h4", "g4") && squares.has(11 * 64 + square("g4")));
    assert!(can_go("h4", "g3") && squares.has(11 * 64 + square("g3")));
    assert!(!squares.has(11 * 64 + square("h3")), "the pawn on g2 attacks h3");
}

/// In check only moves that end it count; in a double check only those of the king.
#[test]
fn a_check_limits_mobility() {
    let counts: FeatureSet = "mobility-squares".parse().expect("a block");
    // A rook on e8 and a knight on d3 both give check.
    let [view, _] = views(&board("4r2k/8/8/8/8/3n4/Q5N1/4K3 w - - 0 1"));
    let on = list(&counts, &view);
    let of = |code: u16| on.iter().filter(|&&feature| feature / 64 == code).count();
    assert_eq!((of(1), of(4)), (0, 0), "{on:?}");
    assert!(of(5) > 0, "the king moves");
    // Only the rook: queen and knight may stand between.
    let [view, _] = views(&board("4r2k/8/8/8/8/8/Q5N1/4K3 w - - 0 1"));
    let on = list(&counts, &view);
    let squares = |code: u16| -> Vec<u16> { on.iter().filter(|&&on| on / 64 == code).map(|on| on % 64).collect() };
    // The knight can go to e3 and the queen to e2 and e6; each stands between rook and king.
    assert_eq!((squares(1), squares(4)), (vec![20], vec![12, 44]));
}

#[test]
fn both_views_of_the_start_are_alike() {
    let [white, black] = views(&Board::startpos());
    // The kings stand on the same file, so files need no mirror.
    for set in sets() {
        assert_eq!(set.active(&white), set.active(&black), "{set}");
    }
}

/// A board with ranks turned and colours exchanged has exchanged views; one view turned is the
/// other.
#[test]
fn a_turned_board_has_exchanged_views() {
    each_move(|_, _, after| {
        let [white, black] = views(after);
        assert_eq!(white.turned(), black);
        assert_eq!(black.turned(), white);
        let flipped = OrientedBoard::new(std::array::from_fn(|code| {
            let color = if code < 6 { Color::Black } else { Color::White };
            (after.colored(color) & after.kind(PieceType::ALL[code % 6])).flip()
        }));
        assert_eq!(flipped, black);
    });
}

#[test]
fn features_stay_below_the_size_and_repeat_nothing() {
    let sets = sets();
    each_move(|_, _, after| {
        for view in views(after) {
            for set in &sets {
                let on = list(set, &view);
                assert!(on.iter().all(|&feature| usize::from(feature) < set.size()), "{set}: {on:?}");
                assert!(on.windows(2).all(|two| two[0] < two[1]));
                assert_eq!(set.active(&view).count(), on.len());
                if set.to_string() == "mobility-counts" {
                    assert_eq!(on.len(), 12);
                }
            }
        }
    });
}

/// Blocks that name a feature for each piece have just these features.
#[test]
fn single_pieces_make_the_blocks_that_allow_it() {
    let sets: Vec<FeatureSet> =
        sets().into_iter().filter(|set| matches!(set.locality(), Locality::Piece { .. })).collect();
    assert_eq!(sets.len(), 6);
    each_move(|_, _, after| {
        for view in views(after) {
            for set in &sets {
                let mut on = ActiveFeatures::new(set.size());
                let (block, _) = &set.blocks()[0];
                for (code, &pieces) in view.pieces().iter().enumerate() {
                    let features = pieces.iter().filter_map(|square| block.of_piece(view.king(), code, square));
                    features.for_each(|feature| on.insert(feature));
                }
                assert_eq!(on, set.active(&view), "{set}");
            }
        }
    });
}

/// While the masked bits of the king's square stay, a feature of a piece stays.
#[test]
fn a_king_mask_covers_all_dependence_on_the_king() {
    for set in sets() {
        let Locality::Piece { king_mask } = set.locality() else { continue };
        let (block, _) = &set.blocks()[0];
        for (one, two) in Square::all().flat_map(|one| Square::all().map(move |two| (one, two))) {
            let same = (one.raw() ^ two.raw()) & king_mask == 0;
            let features = |king| (0..12).flat_map(move |code| [0, 27, 63].map(|square| (king, code, square)));
            let of = |king| -> Vec<_> {
                features(king).map(|(king, code, square)| block.of_piece(king, code, Square::new(square))).collect()
            };
            assert_eq!(of(one) == of(two), same, "{set}: {one} {two}");
        }
    }
}

/// The features of a sum are those of its blocks, moved up by the sizes before.
#[test]
fn a_sum_has_its_blocks_one_after_the_other() {
    let text = "mobility-counts+piece+antidiagonal+moves";
    let sum: FeatureSet = text.parse().expect(text);
    assert_eq!((sum.to_string().as_str(), sum.size()), (text, COUNTS + 768 + 180 + 4096));
    each_move(|_, _, after| {
        for view in views(after) {
            let mut expected = Vec::new();
            let mut first = 0;
            for name in text.split('+') {
                let part: FeatureSet = name.parse().expect(name);
                expected.extend(list(&part, &view).iter().map(|feature| feature + first));
                first += part.size() as u16;
            }
            assert_eq!(list(&sum, &view), expected);
        }
    });
}

#[test]
fn pairs_are_on_if_both_features_are() {
    let list_of_pairs = pairs();
    let set = FeatureSet::new(vec![FeatureBlock::TopPairs(Arc::clone(&list_of_pairs))]).expect("one block");
    let piece = FeatureSet::piece();
    let mut seen = 0;
    each_move(|_, _, after| {
        for view in views(after) {
            let pieces = piece.active(&view);
            let on = set.active(&view);
            for (place, pair) in list_of_pairs.pairs().iter().enumerate() {
                let both = pair.features().iter().all(|&feature| pieces.has(usize::from(feature)));
                assert_eq!(on.has(place), both, "{pair:?}");
            }
            seen += on.count();
        }
    });
    assert!(seen > 1000, "{seen}");
}

#[test]
fn pair_lists_are_checked() {
    assert_eq!(FeaturePair::new(5, 5), None);
    assert_eq!(FeaturePair::new(400, 500), None, "no own piece");
    assert_eq!(FeaturePair::new(3, 768), None);
    assert_eq!(FeaturePair::new(700, 3), FeaturePair::new(3, 700));
    let pair = |a, b| FeaturePair::new(a, b).expect("a pair");
    assert_eq!(PairList::new(vec![]), Err(PairListError::Length(0)));
    let twice = PairList::new(vec![pair(1, 2), pair(1, 3), pair(2, 1)]);
    assert_eq!(twice, Err(PairListError::Twice { first: 0, second: 2 }));
    let many = (0..=PairList::MAX as u16).map(|n| pair(n % 384, 384 + n / 384)).collect();
    assert_eq!(PairList::new(many), Err(PairListError::Length(PairList::MAX + 1)));
    assert!(PairListError::Length(0).to_string().starts_with("0 pairs, expected 1 to 32768; add one, or restore "));
    assert!(PairListError::Length(40_000).to_string().contains("to 32768; leave some out, or restore "));
}

#[test]
fn names_and_aliases_of_the_thesis() {
    for (text, name) in [
        ("piece", "piece"),
        ("PIECE", "piece"),
        ("all+h+v", "piece+file+rank"),
        ("COMPACT", "file+rank"),
        ("half-compact", "file+rank"),
        ("piece + compact", "piece+file+rank"),
        ("PIECE-MOVE", "piece+moves"),
        // The text of the thesis and its code exchange these two.
        ("all+ph", "piece+file-pairs"),
        ("all+PV", "piece+file-pairs"),
        ("all+pv+PD1+PD2", "piece+rank-pairs+diagonal-pairs+antidiagonal-pairs"),
        ("HALF-RELATIVE(HV)KING-PIECE", "king-relative"),
        ("HALF-RELATIVE(H)+HALF-RELATIVE(V)", "king-relative-h+king-relative-v"),
        ("hv+mb+mc", "piece+mobility-squares+mobility-counts"),
        ("KP", "king-piece"),
        ("KA", "king-all"),
    ] {
        let set: FeatureSet = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(set.to_string(), name);
        assert_eq!(name.parse::<FeatureSet>().expect(name), set);
    }
    let sizes = [
        ("piece", 768),
        ("compact", 192),
        ("diagonal+antidiagonal", 360),
        ("king-piece", 40_960),
        ("king-all", 49_152),
        ("king-relative", 2250),
        ("king-relative-h", 1200),
        ("king-relative-v", 1200),
        ("PIECE-MOVE", 4864),
        ("file-pairs+rank-pairs", 2304),
        ("diagonal-pairs+antidiagonal-pairs", 4320),
        ("mobility-squares+mobility-counts", 974),
    ];
    for (text, size) in sizes {
        assert_eq!(text.parse::<FeatureSet>().expect(text).size(), size, "{text}");
    }
}

#[test]
fn faults_of_names_say_what_would_be_right() {
    let three = Arc::new(PairList::new((0..3).filter_map(|n| FeaturePair::new(n, 500)).collect()).expect("pairs"));
    let (with, without) = (Some(&three), None);
    for (text, pairs, message) in [
        ("", without, "without blocks"),
        ("piece+", without, "unknown feature block ``"),
        ("piece+fiel", without, "unknown feature block `fiel`; the blocks are piece, file, rank,"),
        ("piece+file+all", without, "feature block `piece` twice; name it once"),
        ("king-piece+king-all", without, "a feature set of 90112 features, expected at most 65536; leave out a block"),
        ("top-pairs:3", without, "`top-pairs:3` without its list; name a file with 3 pairs"),
        ("top-pairs", with, "`top-pairs` is not top-pairs:K with K from 1 to 32768"),
        ("top-pairs:0", with, "is not top-pairs:K"),
        ("top-pairs:4", with, "`top-pairs:4` with a list of 3 pairs; make both numbers equal"),
        ("piece", with, "a list of 3 pairs and no `top-pairs:3` in the set"),
    ] {
        let error = FeatureSet::parse(text, pairs).expect_err(text).to_string();
        assert!(error.contains(message), "{text}: {error}");
    }
    let set = FeatureSet::parse("piece+TOP-PP:3", with).expect("a list");
    assert_eq!((set.to_string().as_str(), set.size()), ("piece+top-pairs:3", 771));
    assert_eq!(set.pairs().map(|list| list.pairs().len()), Some(3));
}

#[test]
fn codes_are_unique_and_lead_back() {
    let mut codes = BTreeSet::new();
    for set in sets() {
        let codes_of: Vec<u16> = set.blocks().iter().map(|(block, _)| block.code()).collect();
        assert!(codes.insert(codes_of[0]), "{set}");
        assert_eq!(FeatureSet::from_codes(&codes_of, set.pairs().cloned()).expect("codes"), set);
    }
    assert_eq!(codes, (1..=18).collect());
    assert_eq!(FeatureSet::from_codes(&[1, 99], None), Err(SetError::Code(99)));
    assert_eq!(FeatureSet::from_codes(&[12], None), Err(SetError::NoPairs { wanted: None }));
    assert_eq!(FeatureSet::from_codes(&[], None), Err(SetError::Empty));
    assert_eq!(FeatureSet::from_codes(&[2; 15], None), Err(SetError::Blocks(15)));
    assert!(SetError::Blocks(15).to_string().contains("expected 1 to 14; leave some out, or restore "));
    assert!(
        SetError::NoPairs { wanted: None }.to_string().ends_with("; the file is damaged, restore or export it again")
    );
}

/// A board without kings, which a damaged record could hold, gives features within the size.
#[test]
fn boards_without_kings_stay_within_bounds() {
    let pieces: [Bitboard; 12] = std::array::from_fn(|code| Bitboard(0x8100_0000_0000_0081 << (code % 4)));
    let view = OrientedBoard::new(pieces);
    for set in sets() {
        assert!(list(&set, &view).iter().all(|&feature| usize::from(feature) < set.size()), "{set}");
    }
}
