//! Move generation compared with known perft counts.

mod crate_file;

use destrier::board::{Board, perft};

/// Compares a FEN with its perft counts from depth 1 on.
fn check(fen: &str, counts: &[u64]) {
    let board = Board::from_fen(fen).unwrap_or_else(|error| panic!("{fen}: {error}"));
    for (depth, &count) in (1..).zip(counts) {
        assert_eq!(perft(&board, depth), count, "{fen} depth {depth}");
    }
}

/// Six well-known positions from the Chess Programming Wiki, "Perft Results".
#[test]
fn classical_positions() {
    let kiwipete = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";
    check("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", &[20, 400, 8_902, 197_281, 4_865_609]);
    check(kiwipete, &[48, 2_039, 97_862, 4_085_603]);
    check("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", &[14, 191, 2_812, 43_238, 674_624]);
    check("r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1", &[6, 264, 9_467, 422_333]);
    check("r2q1rk1/pP1p2pp/Q4n2/bbp1p3/Np6/1B3NBn/pPPP1PPP/R3K2R b KQ - 0 1", &[6, 264, 9_467, 422_333]);
    check("rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8", &[44, 1_486, 62_379, 2_103_487]);
    check("r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10", &[46, 2_079, 89_890, 3_894_594]);
}

/// Counts from the Chess Programming Wiki, "Chess960 Perft Results".
#[test]
fn chess960_positions() {
    check("bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9", &[21, 528, 12_189, 326_672]);
    check("2nnrbkr/p1qppppp/8/1ppb4/6PP/3PP3/PPP2P2/BQNNRBKR w HEhe - 1 9", &[21, 807, 18_002, 667_366]);
    check("b1q1rrkb/pppppppp/3nn3/8/P7/1PPP4/4PPPP/BQNNRKRB w GE - 1 9", &[20, 479, 10_471, 273_318]);
    check("qbbnnrkr/2pp2pp/p7/1p2pp2/8/P3PP2/1PPP1KPP/QBBNNR1R w hf - 0 9", &[22, 593, 13_440, 382_958]);
    check("1nbbnrkr/p1p1ppp1/3p4/1p3P1p/3Pq2P/8/PPP1P1P1/QNBBNRKR w HFhf - 0 9", &[28, 1_120, 31_058, 1_171_749]);
}

/// Common set of Chess960 positions, to depth 4 or to `DESTRIER_PERFT_DEPTH`, up to 6.
#[test]
fn fischer_set() {
    let text = crate_file::read("shakmaty", "tests/chess960.perft");
    let depth = std::env::var("DESTRIER_PERFT_DEPTH").map_or(4, |depth| depth.parse().expect("a depth"));
    let positions: Vec<&str> = text.split("epd ").skip(1).collect();
    assert_eq!(positions.len(), 960);
    std::thread::scope(|scope| {
        for part in positions.chunks(positions.len().div_ceil(THREADS)) {
            scope.spawn(move || part.iter().for_each(|position| check_position(position, depth)));
        }
    });
}

const THREADS: usize = 4;

/// Checks a FEN against lines such as `perft 2 400` from depth 1 on.
fn check_position(text: &str, depth: usize) {
    let (fen, rest) = text.split_once('\n').unwrap_or_default();
    let count = |(depth, line): (usize, &str)| {
        let count = line.strip_prefix(&format!("perft {depth} ")).unwrap_or_else(|| panic!("{line}"));
        count.trim().parse().expect("a count")
    };
    let counts: Vec<u64> = (1..).zip(rest.lines()).take(depth).map(count).collect();
    assert_eq!(counts.len(), depth, "{text}");
    check(fen.trim(), &counts);
}
