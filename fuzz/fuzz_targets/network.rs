//! The reader of network files: bytes as they come, and a file that is right but for its shape and
//! its weights, with a feature set or without. What it takes, every instruction set evaluates
//! alike, from scratch and by accumulators along a line of moves. An input is the shape, in 38
//! bytes, and then the file or the weights. The shape's king buckets also choose the moves.
#![no_main]

use destrier::board::Board;
use destrier::nnue::sets::{FeaturePair, FeatureSet, PairList};
use destrier::nnue::simd::Kernels;
use destrier::nnue::{Accumulators, Kind, Layout, Network, encode, parse};
use destrier::types::MoveList;
use libfuzzer_sys::fuzz_target;
use std::sync::Arc;

const FENS: [&str; 3] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R b KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
];

/// Sets that a shape chooses from; the first is the usual one.
const SETS: [&str; 10] = [
    "piece",
    "file",
    "piece+file+rank+diagonal+antidiagonal",
    "king-relative+king-relative-h+king-relative-v",
    "file-pairs+rank-pairs",
    "diagonal-pairs+antidiagonal-pairs+piece",
    "mobility-counts+mobility-squares",
    "moves",
    "king-piece",
    "king-all",
];

/// Inputs from which on a network has as few neurons as possible, so that a run stays short.
const LARGE: usize = 8_192;

/// Steps along a line of moves.
const STEPS: usize = 12;

/// Walks along legal moves chosen by bytes, and at times back. Compares the evaluation after each
/// step with that of the same position from scratch.
fn walk(accumulators: &mut Accumulators, kernels: &'static Kernels, start: &Board, choices: &[u8]) {
    let network = Arc::clone(accumulators.network());
    accumulators.reset(start);
    let mut line = vec![*start];
    for &choice in choices {
        let board = *line.last().unwrap_or(start);
        let mut moves = MoveList::new();
        board.legal_moves(&mut moves);
        if line.len() > 1 && (choice >= 224 || moves.is_empty()) {
            accumulators.pop();
            line.pop();
        } else if !moves.is_empty() {
            let mv = moves[usize::from(choice) % moves.len()];
            accumulators.push(&board, mv);
            let mut after = board;
            after.play(mv);
            line.push(after);
        }
        // Some positions are passed by, so that updates span several moves.
        let board = line.last().unwrap_or(start);
        if choice % 4 != 3 {
            let expected = network.evaluate_alone_with(kernels, board);
            assert_eq!(accumulators.evaluate(board), expected, "{}: {}", kernels.name, board.to_fen(true));
        }
    }
}

fn alike(network: Network, choices: &[u8]) {
    let network = Arc::new(network);
    let boards = FENS.map(|fen| Board::from_fen(fen).expect("a position"));
    let alone = |kernels| boards.map(|board| network.evaluate_alone_with(kernels, &board));
    let expected = alone(Kernels::available()[0]);
    for kernels in Kernels::available() {
        assert_eq!(alone(kernels), expected, "{}", kernels.name);
        let mut accumulators = Accumulators::with_kernels(Arc::clone(&network), kernels);
        for (board, expected) in boards.iter().zip(expected) {
            accumulators.reset(board);
            assert_eq!(accumulators.evaluate(board), expected, "{}", kernels.name);
            walk(&mut accumulators, kernels, board, choices);
        }
    }
}

/// Returns the set of a number; from the last one on, a list of pairs made of `bytes`.
fn set(number: usize, bytes: &[u8]) -> FeatureSet {
    if let Some(names) = SETS.get(number) {
        return names.parse().expect("a set");
    }
    let words = bytes.as_chunks::<4>().0.iter().map(|&[a, b, c, d]| [[a, b], [c, d]].map(u16::from_le_bytes));
    let pairs = words.filter_map(|[a, b]| FeaturePair::new(a % 384, b % 768)).take(50).collect();
    match PairList::new(pairs) {
        Ok(list) => {
            let names = format!("rank+top-pairs:{}", list.pairs().len());
            FeatureSet::parse(&names, Some(&Arc::new(list))).expect("a set")
        }
        Err(_) => FeatureSet::piece(),
    }
}

fuzz_target!(|input: &[u8]| {
    let Some((shape, rest)) = input.split_first_chunk() else { return };
    let Some((bucket_map, bytes)) = rest.split_first_chunk::<32>() else { return };
    let [kind, hidden, king_buckets, output_buckets, mirrored, repeat] = *shape;
    let choices = &bucket_map[..STEPS];
    if let Ok(network) = parse(bytes) {
        alike(network, choices);
    }
    // Mostly within the ranges.
    let king_buckets = king_buckets % 5;
    let buckets = if repeat >= 224 { 32 } else { king_buckets.max(1) };
    // The last numbers are those of lists of pairs.
    let set = set(usize::from(mirrored / 2) % (SETS.len() + 2), bytes);
    let hidden = usize::from(hidden % 6) * 32;
    let layout = Layout {
        kind: Kind::ALL[usize::from(kind) % Kind::ALL.len()],
        hidden: if set.size() < LARGE { hidden } else { hidden.min(32) },
        set,
        king_buckets: usize::from(king_buckets),
        output_buckets: [1, 8, 1, 8, 0, 4][usize::from(output_buckets % 6)],
        mirrored: mirrored % 2 == 1,
        bucket_map: bucket_map.map(|bucket| bucket % buckets),
    };
    // Weights of the right number, from what there is; one time in eight as many as there are.
    let weights: Vec<u8> = match repeat % 8 {
        0 => bytes.to_vec(),
        _ if bytes.is_empty() => return,
        _ => bytes.iter().copied().cycle().take(layout.payload_len()).collect(),
    };
    if let Ok(file) = encode(&layout, &weights) {
        let network = parse(&file).expect("what is written is read");
        assert_eq!(network.layout(), &layout);
        alike(network, choices);
    }
});
