//! The bench: fixed positions to a fixed depth.
//!
//! Its node count is the signature of the search, the same on every machine.

mod lines;

pub use lines::{BenchLine, evaluate_lines, evaluation_nanos, lines};

use crate::board::Board;
use crate::search::{Game, Limits, Searcher, Signals, SilentReport, in_search_thread};
use std::io;
use std::time::{Duration, Instant};

/// Depth if none is given.
pub const DEFAULT_DEPTH: i32 = 8;

/// Hash size in MiB.
const HASH_MIB: usize = 16;

/// Well-known test positions, two finished games, and positions from self-play after random
/// openings.
pub const POSITIONS: &[&str] = &[
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10",
    "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
    "8/8/8/8/5kp1/P7/8/1K1N4 w - - 0 1",
    "8/8/8/8/8/6k1/6p1/6K1 w - - 0 1",
    "7k/7P/6K1/8/3B4/8/8/8 b - - 0 1",
    "r1bqkbnr/pppppppp/8/8/N7/1P6/P1nPPPPP/R1BQKBNR w KQkq - 0 4",
    "r1bqkbnr/pppp1ppp/2n5/8/P2p4/2P5/1P2PPPP/RNBQKBNR w Kkq - 0 6",
    "rnb1k2r/1pp2ppp/4pq1n/p2p4/2PP4/PP2PN2/3b1PPP/RN1QKB1R w KQkq - 0 8",
    "rnbqkb1r/p4p1p/1pp2np1/3P4/2PPpB2/6PP/PP3P1R/RN1QKBN1 w Qkq - 3 10",
    "r1bqk2r/ppp1pp2/2n3pb/4P3/5P1N/3Pp1PP/PPP1K3/RN1Q1B1R w kq - 1 12",
    "r1b1kb1r/1p3pp1/pqn2n2/4p3/4P1p1/P1B3Q1/1PP2P1P/2KR1BNR w kq - 1 14",
    "r5qr/p1pkb3/bpn1p3/3p1p1p/3P1NnP/P3PNPR/1PP3B1/R1BQK3 w Q - 4 16",
    "2rqk2r/pp3ppp/7n/3p2R1/Pp6/3P1n2/1KP5/RNQ2B2 w k - 4 18",
    "b3k2N/3n2pp/3b4/pBp5/Pp6/8/1PP1K1PP/R1B4n w - - 4 21",
    "r1bq2k1/1p5r/pp2p2p/5pp1/2pPPP2/2P3P1/P3Q1BP/R4RK1 w - - 0 24",
    "r1b3k1/1p1n1pbp/p1p5/5p1N/1P1PN3/7P/r5B1/1R3RK1 w - - 0 27",
    "1r6/2p1kp2/R3p2b/7p/2rPpP1P/6PR/1Bn5/3N1K2 w - - 0 30",
    "k7/p1p3p1/1pN5/1R3Pb1/4B2r/P1P5/5n2/5K2 w - - 2 33",
    "8/2B3k1/r5pp/8/2ppP1nP/8/2P1K1P1/5R2 w - - 0 36",
    "8/1p6/8/PP2rkP1/2P4p/3pB3/3N1KP1/3b4 w - - 3 39",
    "5k2/q7/5p1p/8/3K4/3B1PP1/7P/1R6 w - - 5 42",
    "8/3r4/5p2/pp3k2/4R1RP/1P2p3/P7/1K6 w - - 2 46",
    "8/2R5/6pk/7p/4KP1P/8/6r1/8 w - - 0 50",
    "8/B7/4ppk1/5n2/5K2/6r1/8/1R6 w - - 10 54",
    "8/6p1/p3b1k1/8/3R4/3R4/qK6/8 w - - 17 58",
    "r2qkbnr/1pn2p1p/2p5/4pbP1/2PPN2R/8/p4PP1/R1BQKBN1 w kq - 0 13",
    "rnb1k1r1/p2pnp1p/1ppb4/6P1/3B4/P1N5/1PP1BPP1/R3K2R w KQq - 4 17",
    "r4b2/1pp2p2/2k4p/p4Q2/P2Pp2N/2P5/1qNK1P1P/8 w - - 0 23",
    "1r5r/RB3pk1/6p1/7p/6b1/4PNb1/2P1K3/7R w - - 0 31",
    "8/R5p1/2N2b1p/1p5P/3Bkp2/2P1n3/1r4P1/5K2 w - - 8 37",
    "8/3k1N1R/2p2r2/p4p2/3K1b2/2P2P1P/1n1P2R1/8 w - - 3 45",
];

/// Result of a bench.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BenchResult {
    /// Nodes searched in all positions together.
    pub nodes: u64,
    /// Time of all searches together.
    pub elapsed: Duration,
}

impl BenchResult {
    /// Returns the nodes per second.
    pub fn nps(&self) -> u64 {
        let nanos = self.elapsed.as_nanos().max(1);
        u64::try_from(u128::from(self.nodes) * 1_000_000_000 / nanos).unwrap_or(u64::MAX)
    }
}

/// Searches every position to `depth` with cleared state, and calls `each` with every node count.
///
/// # Errors
/// Returns an error if the memory of the table or a thread is not available.
pub fn run(depth: i32, mut each: impl FnMut(&str, u64) + Send) -> io::Result<BenchResult> {
    in_search_thread(|| {
        let mut searcher = Searcher::new(HASH_MIB).map_err(io::Error::other)?;
        let limits = Limits { depth: Some(depth), ..Limits::default() };
        let mut total = BenchResult { nodes: 0, elapsed: Duration::ZERO };
        for fen in POSITIONS {
            let game = Game::new(Board::from_fen(fen).map_err(io::Error::other)?);
            searcher.new_game();
            let start = Instant::now();
            let outcome = searcher.search(&game, &limits, &Signals::default(), start, &mut SilentReport);
            total.elapsed += start.elapsed();
            total.nodes += outcome.nodes;
            each(fen, outcome.nodes);
        }
        Ok(total)
    })?
}
