//! Tests of tactical strength: the search must find a minimum of combinations and mates at fixed
//! nodes.

use destrier::board::Board;
use destrier::search::{Game, Limits, Outcome, Searcher, Signals, SilentReport, in_search_thread};
use destrier::types::{MATE_IN_MAX, mate_in};
use std::time::Instant;

/// Nodes per combination.
const TACTICS_NODES: u64 = 60_000;
/// Minimum number of combinations found; 33 were found when this was written.
const TACTICS_FLOOR: usize = 31;
/// Nodes per mate.
const MATES_NODES: u64 = 200_000;
/// Minimum number of mates found, of any length; 15 were found when this was written.
const MATES_FLOOR: usize = 12;
/// Minimum number of shortest mates found; 14 were found when this was written.
const SHORTEST_MATES_FLOOR: usize = 10;

/// Positions and winning moves: the first forty of "Win at Chess" (F. Reinfeld, 1945), as in the
/// common test suite.
const TACTICS: [(&str, &str); 40] = [
    ("2rr3k/pp3pp1/1nnqbN1p/3pN3/2pP4/2P3Q1/PPB4P/R4RK1 w - -", "g3g6"),
    ("8/7p/5k2/5p2/p1p2P2/Pr1pPK2/1P1R3P/8 b - -", "b3b2"),
    ("5rk1/1ppb3p/p1pb4/6q1/3P1p1r/2P1R2P/PP1BQ1P1/5RKN w - -", "e3g3"),
    ("r1bq2rk/pp3pbp/2p1p1pQ/7P/3P4/2PB1N2/PP3PPR/2KR4 w - -", "h6h7"),
    ("5k2/6pp/p1qN4/1p1p4/3P4/2PKP2Q/PP3r2/3R4 b - -", "c6c4"),
    ("7k/p7/1R5K/6r1/6p1/6P1/8/8 w - -", "b6b7"),
    ("rnbqkb1r/pppp1ppp/8/4P3/6n1/7P/PPPNPPP1/R1BQKBNR b KQkq -", "g4e3"),
    ("r4q1k/p2bR1rp/2p2Q1N/5p2/5p2/2P5/PP3PPP/R5K1 w - -", "e7f7"),
    ("3q1rk1/p4pp1/2pb3p/3p4/6Pr/1PNQ4/P1PB1PP1/4RRK1 b - -", "d6h2"),
    ("2br2k1/2q3rn/p2NppQ1/2p1P3/Pp5R/4P3/1P3PPP/3R2K1 w - -", "h4h7"),
    ("r1b1kb1r/3q1ppp/pBp1pn2/8/Np3P2/5B2/PPP3PP/R2Q1RK1 w kq -", "f3c6"),
    ("4k1r1/2p3r1/1pR1p3/3pP2p/3P2qP/P4N2/1PQ4P/5R1K b - -", "g4f3"),
    ("5rk1/pp4p1/2n1p2p/2Npq3/2p5/6P1/P3P1BP/R4Q1K w - -", "f1f8"),
    ("r2rb1k1/pp1q1p1p/2n1p1p1/2bp4/5P2/PP1BPR1Q/1BPN2PP/R5K1 w - -", "h3h7"),
    ("1R6/1brk2p1/4p2p/p1P1Pp2/P7/6P1/1P4P1/2R3K1 w - -", "b8b7"),
    ("r4rk1/ppp2ppp/2n5/2bqp3/8/P2PB3/1PP1NPPP/R2Q1RK1 w - -", "e2c3"),
    ("1k5r/pppbn1pp/4q1r1/1P3p2/2NPp3/1QP5/P4PPP/R1B1R1K1 w - -", "c4e5"),
    ("R7/P4k2/8/8/8/8/r7/6K1 w - -", "a8h8"),
    ("r1b2rk1/ppbn1ppp/4p3/1QP4q/3P4/N4N2/5PPP/R1B2RK1 w - -", "c5c6"),
    ("r2qkb1r/1ppb1ppp/p7/4p3/P1Q1P3/2P5/5PPP/R1B2KNR b kq -", "d7b5"),
    ("5rk1/1b3p1p/pp3p2/3n1N2/1P6/P1qB1PP1/3Q3P/4R1K1 w - -", "d2h6"),
    ("r1bqk2r/ppp1nppp/4p3/n5N1/2BPp3/P1P5/2P2PPP/R1BQK2R w KQkq -", "c4a2 g5f7"),
    ("r3nrk1/2p2p1p/p1p1b1p1/2NpPq2/3R4/P1N1Q3/1PP2PPP/4R1K1 w - -", "g2g4"),
    ("6k1/1b1nqpbp/pp4p1/5P2/1PN5/4Q3/P5PP/1B2B1K1 b - -", "g7d4"),
    ("3R1rk1/8/5Qpp/2p5/2P1p1q1/P3P3/1P2PK2/8 b - -", "g4h4"),
    ("3r2k1/1p1b1pp1/pq5p/8/3NR3/2PQ3P/PP3PP1/6K1 b - -", "d7f5"),
    ("7k/pp4np/2p3p1/3pN1q1/3P4/Q7/1r3rPP/2R2RK1 w - -", "a3f8"),
    ("1r1r2k1/4pp1p/2p1b1p1/p3R3/RqBP4/4P3/1PQ2PPP/6K1 b - -", "b4e1"),
    ("r2q2k1/pp1rbppp/4pn2/2P5/1P3B2/6P1/P3QPBP/1R3RK1 w - -", "c5c6"),
    ("1r3r2/4q1kp/b1pp2p1/5p2/pPn1N3/6P1/P3PPBP/2QRR1K1 w - -", "e4d6"),
    ("rb3qk1/pQ3ppp/4p3/3P4/8/1P3N2/1P3PPP/3R2K1 w - -", "b7a8 d5d6 d5e6 g2g3"),
    ("6k1/p4p1p/1p3np1/2q5/4p3/4P1N1/PP3PPP/3Q2K1 w - -", "d1d8"),
    ("8/p1q2pkp/2Pr2p1/8/P3Q3/6P1/5P1P/2R3K1 w - -", "e4e5 e4f4"),
    ("7k/1b1r2p1/p6p/1p2qN2/3bP3/3Q4/P5PP/1B1R3K b - -", "d4g1"),
    ("r3r2k/2R3pp/pp1q1p2/8/3P3R/7P/PP3PP1/3Q2K1 w - -", "h4h7"),
    ("3r4/2p1rk2/1pQq1pp1/7p/1P1P4/P4P2/6PP/R1R3K1 b - -", "e7e1"),
    ("2r5/2rk2pp/1pn1pb2/pN1p4/P2P4/1N2B3/nPR1KPPP/3R4 b - -", "c6d4"),
    ("4k3/p4prp/1p6/2b5/8/2Q3P1/P2R1PKP/4q3 w - -", "c3d3 d2d8"),
    ("r1br2k1/pp2bppp/2nppn2/8/2P1PB2/2N2P2/PqN1B1PP/R2Q1R1K w - -", "c3a4"),
    ("3r1r1k/1p4pp/p4p2/8/1PQR4/6Pq/P3PP2/2R3K1 b - -", "d8c8"),
];

/// Length of the mate in moves, and the position, from `vondele/matetrack`.
const MATES: [(u32, &str); 24] = [
    (2, "3R4/8/8/2p3K1/2p5/5B2/R1pPNB2/1b1k4 w - - 0 1"),
    (2, "8/3R4/b2p3p/2p3nk/1p2N1p1/p2BP3/r2PN1P1/3K4 w - - 0 1"),
    (2, "8/5R2/2K1P3/4k3/8/b1PPpp1B/5p2/8 w - - 0 1"),
    (2, "8/7B/2R5/4Nr1p/4kb1Q/8/1B6/4K2R w K - 0 1"),
    (2, "n1N3br/2p1Bpkr/1pP2R1b/pP3Pp1/P5P1/1P1p4/p2P4/K7 w - - 0 1"),
    (2, "r5r1/1R4b1/1Q6/4nk1p/2p1R3/2P3PK/2BB4/q7 w - - 0 1"),
    (2, "rn2N3/8/4R2b/B3R3/3kP1N1/K2n4/8/1q6 w - - 0 1"),
    (3, "1N3B2/5p2/2R2p2/1p1kpp2/1P2rp2/2P1pB2/2P1P1K1/8 w - - 0 1"),
    (3, "2k5/2N5/1PKP4/2P5/8/8/8/8 w - - 0 1"),
    (3, "2q5/4B2p/7n/4p1pk/P2n1b2/R3P2P/2r3P1/1Q3R1K b - - 0 1"),
    (3, "2rB4/1b1n1pp1/pn4Rp/1Q2NB2/2pK1k1r/3RN1pr/4P3/8 w - - 0 1"),
    (3, "8/4p3/7R/n7/rp6/kp5Q/8/1K6 w - - 0 1"),
    (4, "1B5b/1p1N4/1Pp5/2P3p1/K1pk3p/2N5/2nP1p2/1b3B2 w - - 0 1"),
    (4, "1N3b2/p1kN3p/K4PPP/P1p1P3/2R2P2/1P1P4/3pppBB/3Q1R2 w - - 0 1"),
    (4, "2b1B3/6pN/4k2p/8/3K2p1/B2p2Np/3rp2r/8 w - - 0 1"),
    (4, "2b5/2N2p2/6p1/4N3/1B1k1p1r/Kp6/n7/4Q3 w - - 0 1"),
    (4, "2n5/8/2P2K2/pP1N4/2PkNp2/3B4/4P2b/8 w - - 0 1"),
    (4, "4K2b/B3P2N/1Q1PP1N1/1R1p3r/1r1pk1B1/6P1/b1P1PP2/n7 w - - 0 1"),
    (4, "5K2/p2p2pp/2pQ4/rp4pr/4k1B1/n1b5/1R3P2/2n3N1 w - - 0 1"),
    (4, "6K1/1B1NR2p/2rpP3/1p1k1p2/1R4Pn/1pB5/2N1P3/rbbq4 w - - 0 1"),
    (4, "8/1n3p2/2p1pP2/2N3QP/1p1kPp1P/1P1p4/3P1P2/2K5 w - - 0 1"),
    (4, "8/2Np4/2pP2B1/4B2p/K1kP1pp1/2p4r/2P2r1N/7b w - - 0 1"),
    (4, "8/2pB4/6p1/1PK2pPb/1P3pk1/5N1p/4Q2P/8 w - - 0 1"),
    (4, "8/3N4/3K1p1p/3B1pbr/5k1p/2P2p1P/2P2P2/8 w - - 0 1"),
];

/// Searches each position with cleared state.
fn search_all<'a>(fens: impl Iterator<Item = &'a str> + Send, nodes: u64) -> Vec<(Board, Outcome)> {
    let limits = Limits { nodes: Some(nodes), ..Limits::default() };
    in_search_thread(|| {
        let mut searcher = Searcher::new(8).expect("a small table");
        fens.map(|fen| {
            let game = Game::new(Board::from_fen(fen).expect("a legal position"));
            searcher.new_game();
            let outcome = searcher.search(&game, &limits, &Signals::default(), Instant::now(), &mut SilentReport);
            (*game.board(), outcome)
        })
        .collect()
    })
    .expect("a thread")
}

#[test]
fn combinations_are_found() {
    let outcomes = search_all(TACTICS.iter().map(|&(fen, _)| fen), TACTICS_NODES);
    let mut missed = Vec::new();
    for ((fen, winning), (board, outcome)) in TACTICS.iter().zip(&outcomes) {
        let best = outcome.best.map(|mv| board.to_uci(mv, false)).expect("a move");
        if !winning.split(' ').any(|mv| mv == best) {
            missed.push(format!("{fen}: {best}, not {winning}"));
        }
    }
    let found = TACTICS.len() - missed.len();
    assert!(found >= TACTICS_FLOOR, "found {found} of {}, missed\n{}", TACTICS.len(), missed.join("\n"));
}

#[test]
fn mates_are_found() {
    let outcomes = search_all(MATES.iter().map(|&(_, fen)| fen), MATES_NODES);
    let mut missed = Vec::new();
    let mut shortest = 0;
    for (&(moves, fen), (_, outcome)) in MATES.iter().zip(&outcomes) {
        let best_possible = mate_in(2 * moves as i32 - 1);
        assert!(outcome.score <= best_possible, "{fen}: {} is better than mate in {moves}", outcome.score);
        if outcome.score == best_possible {
            shortest += 1;
        }
        if outcome.score < MATE_IN_MAX {
            missed.push(format!("{fen}: {}, not mate in {moves}", outcome.score));
        }
    }
    let found = MATES.len() - missed.len();
    assert!(found >= MATES_FLOOR, "found {found} of {}, missed\n{}", MATES.len(), missed.join("\n"));
    assert!(shortest >= SHORTEST_MATES_FLOOR, "the shortest way in {shortest} of {}", MATES.len());
}
