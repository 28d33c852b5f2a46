//! Tests of the counts over positions, and the values of the first measurement.

use super::block_counts::{BlockCounts, MoveCounts};
use destrier::board::Board;
use destrier::nnue::sets::FeatureBlock;
use destrier::types::{Move, MoveList, SplitMix64};

fn board(fen: &str) -> Board {
    Board::from_fen(fen).expect(fen)
}

fn counts(name: &str) -> BlockCounts {
    let block = FeatureBlock::all().find(|block| block.to_string() == name).expect(name);
    BlockCounts::new(block.clone()).expect("one block")
}

#[test]
fn changes_of_known_moves_are_counted() {
    // The knight takes a pawn.
    let start = board("4k3/8/8/3p4/8/4N3/8/4K3 w - - 0 1");
    let capture = start.parse_uci("e3d5").expect("legal");
    let king = start.parse_uci("e1f1").expect("legal");
    let mut piece = counts("piece");
    // Both kings stand on the same squares in both views.
    piece.record(&start, Some(capture), &[king]);
    assert_eq!((piece.views, piece.mean_active(), piece.ever_on()), (2, 4.0, 6));
    let played = &piece.played;
    assert_eq!((played.updates, played.refreshes, played.adds, played.removes), (2, 0, 2, 4));
    assert_eq!(piece.played.means(), [1.0, 2.0, 0.0]);
    assert_eq!(piece.legal.means(), [1.0, 1.0, 0.0]);
    // The own king's move is a refresh of White's view. The block has no kings, so Black sees
    // nothing change.
    let mut king_piece = counts("king-piece");
    king_piece.record(&start, None, &[king]);
    let legal = &king_piece.legal;
    assert_eq!((legal.updates, legal.refreshes, legal.adds, legal.removes), (1, 1, 0, 0));
    // A move along the rank leaves the king's rank, and changes its file.
    for (name, refreshes) in [("king-relative-h", 1), ("king-relative-v", 0)] {
        let mut block = counts(name);
        block.record(&start, None, &[king]);
        assert_eq!(block.legal.refreshes, refreshes, "{name}");
    }
}

#[test]
fn castling_counts_as_the_kings_step() {
    let start = board("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1");
    let mut moves = MoveCounts::default();
    let castling = start.parse_uci("e1g1").expect("legal");
    moves.record(&start, 25, Some(castling));
    assert_eq!((moves.file_steps[2], moves.rank_steps[0]), (1, 1));
    assert_eq!(moves.by_move[0][1], (25, 1));
    assert_eq!((moves.legal[0][25], moves.legal_by_move[0][1][25]), (1, 1));
}

/// Random games stand in for those that the specification measured. With whole games the means of
/// active features differ, but a move changes about two features of `piece`, and never more than
/// four.
#[test]
fn a_move_changes_two_features_of_piece() {
    let mut random = SplitMix64::new(3);
    let mut piece = counts("piece");
    let mut mobility = counts("mobility-counts");
    for _ in 0..20 {
        let mut position = Board::startpos();
        for _ in 0..60 {
            let mut list = MoveList::new();
            position.legal_moves(&mut list);
            if list.is_empty() {
                break;
            }
            let mv: Move = list[random.below(list.len())];
            piece.record(&position, Some(mv), &[mv]);
            mobility.record(&position, Some(mv), &[]);
            position.play(mv);
        }
    }
    let [adds, removes, refreshes] = piece.played.means();
    assert!((0.99..1.05).contains(&adds) && (1.0..1.4).contains(&removes) && refreshes == 0.0, "{adds} {removes}");
    assert_eq!(piece.played.means(), piece.legal.means());
    assert!((mobility.mean_active() - 12.0).abs() < 1e-9);
    assert!(mobility.most_frequent(1)[0].1 > 0 && mobility.most_frequent(3).len() == 3);
}

/// Positions of Stockfish's games at depths 4 and 5, of the recipe `stockfish-4-5.toml` with
/// seed 8, drawn from three million, evenly by the number of pieces.
const SAMPLE: &str = include_str!("sample.fen");

/// An independent program measured these means on 700 positions of such games and four random legal
/// moves of each: active features, those added and removed by a move, and the share of moves that
/// need a refresh.
#[test]
fn blocks_have_the_means_of_another_program() {
    let expected = [
        ("piece", 19.40, 1.00, 1.07, 0.0),
        ("file", 18.89, 0.63, 0.69, 0.0),
        ("rank", 13.93, 0.65, 0.62, 0.0),
        ("diagonal", 17.50, 0.78, 0.84, 0.0),
        ("antidiagonal", 17.50, 0.78, 0.84, 0.0),
        ("file-pairs", 12.31, 0.91, 0.97, 0.0),
        ("rank-pairs", 11.02, 1.03, 1.04, 0.0),
        ("mobility-squares", 53.3, 6.31, 6.02, 0.0),
        ("mobility-counts", 12.0, 2.63, 2.63, 0.0),
        ("king-piece", 17.40, 0.90, 0.96, 0.096),
        ("king-relative", 17.40, 0.90, 0.96, 0.096),
        ("moves", 60.7, 7.94, 7.98, 0.0),
    ];
    let mut random = SplitMix64::new(8);
    let mut found: Vec<BlockCounts> = expected.iter().map(|(name, ..)| counts(name)).collect();
    for fen in SAMPLE.lines() {
        let position = board(fen);
        let mut list = MoveList::new();
        position.legal_moves(&mut list);
        let legal: Vec<Move> =
            if list.is_empty() { Vec::new() } else { (0..4).map(|_| list[random.below(list.len())]).collect() };
        found.iter_mut().for_each(|block| block.record(&position, None, &legal));
    }
    for ((name, active, adds, removes, refreshes), block) in expected.into_iter().zip(&found) {
        let mean = block.mean_active();
        assert!((mean / active - 1.0).abs() < 0.03, "{name}: {mean} features on, not {active}");
        // Standard errors of these means are 1 to 2 % in either sample.
        for (found, expected) in block.legal.means().into_iter().zip([adds, removes]) {
            assert!((found / expected - 1.0).abs() < 0.08, "{name}: {found} changes, not {expected}");
        }
        let found = block.legal.means()[2];
        assert!((found - refreshes).abs() < 0.02, "{name}: refreshed by {found}, not {refreshes}");
    }
}
