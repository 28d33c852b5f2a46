//! The reader of network files: bytes as they come, and a file that is right but for its shape and
//! its weights. What it takes, every instruction set evaluates alike. An input is the shape, in 38
//! bytes, and then the file or the weights.
#![no_main]

use destrier::board::Board;
use destrier::nnue::simd::Kernels;
use destrier::nnue::{Kind, Layout, Network, encode, parse};
use libfuzzer_sys::fuzz_target;

const FENS: [&str; 3] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R b KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
];

fn alike(network: &Network) {
    for fen in FENS {
        let board = Board::from_fen(fen).expect("a position");
        let all = Kernels::available().into_iter().map(|kernels| network.evaluate_alone_with(kernels, &board));
        let scores: Vec<_> = all.collect();
        assert!(scores.iter().all(|score| score == &scores[0]), "{scores:?} in {fen}");
    }
}

fuzz_target!(|input: &[u8]| {
    let Some((shape, rest)) = input.split_first_chunk() else { return };
    let Some((bucket_map, bytes)) = rest.split_first_chunk::<32>() else { return };
    let [is_layered, hidden, king_buckets, output_buckets, mirrored, repeat] = *shape;
    if let Ok(network) = parse(bytes) {
        alike(&network);
    }
    // Mostly within the ranges.
    let king_buckets = king_buckets % 5;
    let buckets = if repeat >= 224 { 32 } else { king_buckets.max(1) };
    let layout = Layout {
        kind: if is_layered % 2 == 1 { Kind::Layered } else { Kind::Screlu },
        hidden: usize::from(hidden % 6) * 32,
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
        alike(&network);
    }
});
