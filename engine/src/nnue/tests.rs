//! Tests of accumulators against evaluations from scratch, and of the evaluation against its
//! formula.

use super::sets::tests::golden_positions;
use super::sets::{FeaturePair, FeatureSet, Locality, PairList};
use super::simd::{Kernels, LayeredHead, SecondLayer};
use super::{Accumulators, Kind, Layout, Network, View, encode, parse, random_payload};
use crate::board::Board;
use crate::types::{Color, Move, MoveList, Piece, Square};
use std::sync::Arc;

/// Positions rich in castling, promotions and en passant, some of Chess960.
const STARTS: [&str; 10] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
    "8/PPP4k/8/8/8/8/4Kppp/8 w - - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9",
    "1r1k3r/8/8/8/8/8/8/1R1K3R w HBhb - 0 1",
    "rk5r/8/8/8/8/8/8/RK5R w HAha - 0 1",
    "5rkr/8/8/8/8/8/8/5RKR w HFhf - 0 1",
    "r1k1r3/pppppppp/8/8/8/8/PPPPPPPP/R1K1R3 w EAea - 0 1",
];

fn layouts() -> Vec<Layout> {
    let plain = Layout::plain(Kind::Screlu, 32);
    let one_output = Layout { output_buckets: 1, hidden: 64, ..plain.clone() };
    let mirrored = Layout { mirrored: true, ..plain.clone() };
    let bucket_map = std::array::from_fn(|square| [0, 1, 2, 3][square % 4] + if square < 8 { 0 } else { 4 });
    let buckets = Layout { king_buckets: 8, bucket_map, ..mirrored.clone() };
    let unmirrored = Layout { mirrored: false, ..buckets.clone() };
    let layered = Layout::plain(Kind::LAYERED, 32);
    let layered_buckets = Layout { king_buckets: 8, bucket_map, mirrored: true, ..layered.clone() };
    let deep = Layout { king_buckets: 8, bucket_map, mirrored: true, ..Layout::plain(Kind::Deep, 32) };
    let outputs = |layout: &Layout| Layout { output_buckets: 8, ..layout.clone() };
    let [layered_outputs, deep_outputs] = [outputs(&layered_buckets), outputs(&deep)];
    let narrow_outputs = outputs(&Layout::plain(Kind::Layered(8), 64));
    let pairwise = Layout { king_buckets: 8, bucket_map, mirrored: true, ..Layout::plain(Kind::Pairwise(16), 256) };
    let squared = Layout { king_buckets: 8, bucket_map, mirrored: true, ..Layout::plain(Kind::Squared(16), 32) };
    let pairwise_output = Layout { output_buckets: 1, ..Layout::plain(Kind::Pairwise(8), 128) };
    vec![
        plain,
        one_output,
        mirrored,
        buckets,
        unmirrored,
        layered,
        layered_buckets,
        deep,
        layered_outputs,
        deep_outputs,
        narrow_outputs,
        pairwise,
        pairwise_output,
        squared,
    ]
}

/// Returns layouts of each block alone, and of sums, in all kinds.
fn layouts_of_sets() -> Vec<Layout> {
    let pairs = (0..384).step_by(7).filter_map(|feature| FeaturePair::new(feature, 767 - 2 * feature));
    let pairs = Arc::new(PairList::new(pairs.collect()).expect("different pairs"));
    let sets = [
        "file",
        "rank",
        "diagonal",
        "antidiagonal",
        "king-piece",
        "king-all",
        "king-relative",
        "king-relative-h",
        "king-relative-v",
        "moves",
        "file-pairs",
        "rank-pairs",
        "diagonal-pairs",
        "antidiagonal-pairs",
        "mobility-squares",
        "mobility-counts",
        "piece+file+rank",
        "piece+king-relative-h",
        "king-piece+piece",
        "king-relative-h+king-relative-v",
        "mobility-counts+king-relative+piece",
    ];
    let sets = sets.map(|text| text.parse::<FeatureSet>().expect(text)).into_iter();
    let with_pairs =
        ["top-pairs:55", "piece+top-pairs:55"].map(|text| FeatureSet::parse(text, Some(&pairs)).expect(text));
    let kinds = Kind::ALL.into_iter().cycle();
    sets.chain(with_pairs).zip(kinds).map(|(set, kind)| Layout::of_set(kind, set, kind.hidden_step())).collect()
}

fn network(layout: &Layout, seed: u64) -> Arc<Network> {
    let file = encode(layout, &random_payload(layout, seed)).expect("a good layout");
    Arc::new(parse(&file).expect("a network"))
}

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}

/// Walks at random through the tree below a position: plays, passes, takes back, and evaluates at
/// times.
fn walk(accumulators: &mut Accumulators, start: &Board, steps: usize, random: &mut Random) {
    let network = Arc::clone(accumulators.network());
    let mut line: Vec<(Board, bool)> = Vec::new();
    let mut board = *start;
    accumulators.reset(&board);
    for step in 0..steps {
        let mut moves = MoveList::new();
        board.legal_moves(&mut moves);
        let takes_back = moves.is_empty() || random.below(5) == 0;
        if takes_back {
            let Some((before, noted)) = line.pop() else { continue };
            if noted {
                accumulators.pop();
            }
            board = before;
        } else if !board.in_check() && random.below(10) == 0 {
            line.push((board, false));
            board.play_null();
        } else {
            // Rare moves are chosen more often.
            let rare: Vec<Move> = moves.iter().copied().filter(|mv| mv.is_castling() || mv.is_en_passant()).collect();
            let mv = if rare.is_empty() { moves[random.below(moves.len())] } else { rare[random.below(rare.len())] };
            line.push((board, true));
            accumulators.push(&board, mv);
            board.play(mv);
        }
        if random.below(3) == 0 {
            assert_eq!(
                accumulators.evaluate(&board),
                network.evaluate_alone(&board),
                "step {step}: {}",
                board.to_fen(true)
            );
        }
    }
}

#[test]
fn incremental_is_refreshed_over_random_lines() {
    let mut random = Random(7);
    for (seed, layout) in layouts().iter().chain(&layouts_of_sets()).enumerate() {
        let mut accumulators = Accumulators::new(network(layout, seed as u64));
        for fen in STARTS {
            let board = Board::from_fen(fen).expect("a legal position");
            walk(&mut accumulators, &board, 400, &mut random);
        }
        let counters = accumulators.counters();
        assert!(counters.updates > 0, "{counters:?}");
        // If no king changes the view, only the first position of a line is refreshed: two sides,
        // and the constructor.
        let least = 2 * (STARTS.len() as u64 + 1);
        let depends_on_king = matches!(layout.set.locality(), Locality::Piece { king_mask: 1.. });
        let views_change = layout.king_buckets > 1 || layout.mirrored || depends_on_king;
        assert_eq!(counters.refreshes > least, views_change, "{} {counters:?}", layout.describe());
    }
}

/// The update gives the same accumulators as the evaluation from scratch, in every set and with
/// every instruction set. It is checked for each legal move of positions with castling, en passant
/// and promotions.
#[test]
fn each_move_updates_like_a_refresh() {
    for layout in layouts_of_sets() {
        let network = network(&layout, 5);
        for kernels in Kernels::available() {
            let mut accumulators = Accumulators::with_kernels(Arc::clone(&network), kernels);
            for fen in STARTS.into_iter().chain(golden_positions()) {
                let board = Board::from_fen(fen).expect("a legal position");
                accumulators.reset(&board);
                let mut moves = MoveList::new();
                board.legal_moves(&mut moves);
                for &mv in moves.iter() {
                    accumulators.push(&board, mv);
                    let mut after = board;
                    after.play(mv);
                    let expected = network.evaluate_alone_with(Kernels::available()[0], &after);
                    assert_eq!(accumulators.evaluate(&after), expected, "{} {fen}", layout.describe());
                    accumulators.pop();
                }
                assert_eq!(accumulators.evaluate(&board), network.evaluate_alone(&board));
            }
        }
    }
}

/// A king changes its side's view in a position that is not evaluated itself. Only the first of its
/// branches pays for a refresh.
#[test]
fn branches_share_a_refresh() {
    let board = Board::from_fen("r3k3/8/8/8/8/8/8/R2K4 w - - 0 1").expect("a legal position");
    for layout in layouts().iter().filter(|layout| layout.mirrored) {
        let mut accumulators = Accumulators::new(network(layout, 3));
        accumulators.reset(&board);
        let begun = accumulators.counters().refreshes;
        let crossing = board.parse_uci("d1e1").expect("legal");
        accumulators.push(&board, crossing);
        let mut after = board;
        after.play(crossing);
        let mut replies = MoveList::new();
        after.legal_moves(&mut replies);
        for &reply in replies.iter().filter(|mv| mv.from() != after.king(after.turn())) {
            accumulators.push(&after, reply);
            let mut child = after;
            child.play(reply);
            assert_eq!(accumulators.evaluate(&child), accumulators.network().evaluate_alone(&child));
            accumulators.pop();
        }
        assert_eq!(accumulators.counters().refreshes, begun + 1, "{layout:?}");
    }
}

/// A line longer than any search's makes the storage grow.
#[test]
fn a_line_may_be_as_long_as_it_likes() {
    let sets = layouts_of_sets().into_iter().filter(|layout| layout.set.to_string().contains("king-relative"));
    for layout in [layouts().remove(3)].into_iter().chain(sets) {
        long_line(&layout);
    }
}

fn long_line(layout: &Layout) {
    let mut accumulators = Accumulators::new(network(layout, 1));
    let mut board = Board::startpos();
    accumulators.reset(&board);
    let mut random = Random(1);
    for _ in 0..600 {
        let mut moves = MoveList::new();
        board.legal_moves(&mut moves);
        if moves.is_empty() {
            break;
        }
        let mv = moves[random.below(moves.len())];
        accumulators.push(&board, mv);
        board.play(mv);
    }
    assert_eq!(accumulators.evaluate(&board), accumulators.network().evaluate_alone(&board));
    (0..1000).for_each(|_| accumulators.pop());
    assert_eq!(accumulators.evaluate(&Board::startpos()), accumulators.network().evaluate_alone(&Board::startpos()));
}

/// Compares the bench positions, in the reference and the best kernels, with the formula of the
/// module page.
#[test]
fn the_evaluation_is_its_formula() {
    for (seed, layout) in layouts().iter().filter(|layout| layout.kind == Kind::Screlu).enumerate() {
        let payload = random_payload(layout, 100 + seed as u64);
        let network = network(layout, 100 + seed as u64);
        let numbers: Vec<i64> =
            payload.as_chunks::<2>().0.iter().map(|bytes| i64::from(i16::from_le_bytes(*bytes))).collect();
        let hidden = layout.hidden;
        let (features, rest) = numbers.split_at(layout.king_buckets * 768 * hidden);
        let (biases, rest) = rest.split_at(hidden);
        let (output, output_biases) = rest.split_at(layout.output_buckets * 2 * hidden);
        for fen in STARTS {
            let board = Board::from_fen(fen).expect("a legal position");
            let bucket = (board.occupied().count() as usize - 2) / 4 % layout.output_buckets;
            let mut sum = 0;
            for (half, color) in [board.turn(), !board.turn()].into_iter().enumerate() {
                let view = View::new(layout, color, board.king(color));
                for neuron in 0..hidden {
                    let placed = Square::all().filter_map(|square| Some((board.piece_at(square)?, square)));
                    let active = |(piece, square): (Piece, Square)| usize::from(view.feature(piece, square));
                    let value: i64 = placed.map(|placed| features[active(placed) * hidden + neuron]).sum();
                    let value = (value + biases[neuron]).clamp(0, 255);
                    sum += value * value * output[(bucket * 2 + half) * hidden + neuron];
                }
            }
            let expected = (sum / 255 + output_biases[bucket]) * 400 / (255 * 64);
            for kernels in Kernels::available() {
                let found = network.evaluate_alone_with(kernels, &board);
                assert_eq!(i64::from(found), expected.clamp(-20_000, 20_000), "{} {fen}", kernels.name);
            }
        }
    }
}

/// Layered networks whose output buckets differ in the last bias alone say which bucket a position
/// has.
#[test]
fn layers_are_those_of_the_output_bucket() {
    for kind in [Kind::Layered(8), Kind::LAYERED, Kind::Deep, Kind::Pairwise(16), Kind::Squared(16)] {
        let layout = Layout { output_buckets: 8, ..Layout::plain(kind, kind.hidden_step()) };
        let mut payload = vec![0; layout.weights_len()];
        let biases = payload.len() - 8 * 4;
        for (bucket, bytes) in (0_i32..).zip(payload[biases..].as_chunks_mut::<4>().0) {
            *bytes = (16 * (kind.grain() * kind.fineness()) as i32 * (100 + bucket)).to_le_bytes();
        }
        let network = parse(&encode(&layout, &payload).expect("a layout")).expect("a network");
        for fen in STARTS {
            let board = Board::from_fen(fen).expect(fen);
            let bucket = (board.occupied().count() as i32 - 2) / 4;
            assert_eq!(network.evaluate_alone(&board), 100 + bucket, "{kind:?} {fen}");
        }
    }
}

/// The shifts of a head are those of the kind that made it.
#[test]
fn divisors_are_those_of_the_kind() {
    for kind in Kind::ALL.into_iter().filter(|kind| *kind != Kind::Screlu) {
        let rows = vec![0; kind.second_layer() * 32];
        let second = SecondLayer { rows: &rows, biases: &vec![0; kind.second_layer()], activation: kind.activation() };
        let head = LayeredHead::new(&second, None, &[], 0);
        assert_eq!(i64::from(head.divisor()), 16 * kind.grain() * kind.fineness(), "{kind:?}");
    }
}

/// Output weights beyond the 16-bit range are detected and still evaluated exactly.
#[test]
fn wide_output_weights_take_the_plain_path() {
    let layout = Layout::plain(Kind::Screlu, 32);
    let output_at = 2 * (768 + 1) * 32;
    for (weight, narrow) in [(128i16, true), (-128, true), (129, false), (-129, false), (i16::MAX, false)] {
        let mut payload = random_payload(&layout, 5);
        for bytes in payload[output_at..output_at + 2 * 8 * 64].as_chunks_mut::<2>().0 {
            *bytes = weight.to_le_bytes();
        }
        let network = Arc::new(parse(&payload).expect("a bare network"));
        assert_eq!(network.is_narrow(), narrow, "{weight}");
        let board = Board::startpos();
        let values: Vec<_> =
            Kernels::available().iter().map(|kernels| network.evaluate_alone_with(kernels, &board)).collect();
        assert!(
            values.iter().all(|&value| value == values[0] && value.signum() == weight.signum().into()),
            "{values:?}"
        );
    }
}

/// A position and its mirror image with colours exchanged have the same value for the side to move.
#[test]
fn the_evaluation_knows_no_colour() {
    for layout in layouts().into_iter().chain(layouts_of_sets()) {
        let network = network(&layout, 9);
        for fen in STARTS {
            let board = Board::from_fen(fen).expect("a legal position");
            let fields: Vec<&str> = fen.split(' ').collect();
            let swap = |text: &str| -> String {
                let case = |c: char| if c.is_uppercase() { c.to_ascii_lowercase() } else { c.to_ascii_uppercase() };
                text.chars().map(case).collect()
            };
            let rows: Vec<String> = fields[0].split('/').rev().map(swap).collect();
            let turned = format!("{} b {} - 0 1", rows.join("/"), swap(fields[2]));
            let turned = Board::from_fen(&turned).expect("a legal position");
            assert_eq!(turned.turn(), Color::Black);
            assert_eq!(network.evaluate_alone(&board), network.evaluate_alone(&turned), "{fen}");
        }
    }
}

/// In a network whose features count one kind of piece, only these pieces have a share.
#[test]
fn shares_are_those_of_the_pieces_that_matter() {
    let layout = Layout { output_buckets: 1, ..Layout::plain(Kind::Screlu, 32) };
    let mut payload = vec![0; layout.payload_len()];
    let mut put = |place: usize, value: i16| payload[2 * place..2 * place + 2].copy_from_slice(&value.to_le_bytes());
    // Own queens activate the first neuron; the side to move's count for it, the opponent's
    // against.
    for square in 0..64 {
        put((4 * 64 + square) * 32, 100);
    }
    let weights = (crate::nnue::FEATURES + 1) * 32;
    put(weights, 64);
    put(weights + 32, -64);
    let network = parse(&encode(&layout, &payload).expect("a layout")).expect("a network");
    for fen in ["3qk3/8/8/8/8/8/PP6/Q3K3 w - - 0 1", "3qk3/8/8/8/8/8/PP6/Q3K3 b - - 0 1"] {
        let board = Board::from_fen(fen).expect(fen);
        let mut shares: Vec<i32> = network.piece_shares(&board).into_iter().map(|(_, share)| share).collect();
        shares.sort_unstable();
        let queen = shares[3];
        assert!(queen > 0, "{shares:?}");
        assert_eq!(shares, [-queen, 0, 0, queen], "{fen}");
    }
}
