//! Tests of the search from outside: mates, draws, limits, determinism.

use destrier::bench;
use destrier::board::Board;
use destrier::search::{Game, Info, Limits, Outcome, Report, Searcher, Signals, SilentReport, in_search_thread};
use destrier::types::{DRAW, Move, Score, is_mate, mate_in, mated_in};
use std::sync::atomic::Ordering;
use std::time::Instant;

const STARTPOS: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
const KIWIPETE: &str = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";

fn game(fen: &str, moves: &str) -> Game {
    let mut game = Game::new(Board::from_fen(fen).expect("a legal position"));
    for word in moves.split_whitespace() {
        let mv = game.board().parse_uci(word).expect("a legal move");
        game.play(mv);
    }
    game
}

fn depth(depth: i32) -> Limits {
    Limits { depth: Some(depth), ..Limits::default() }
}

fn nodes(nodes: u64) -> Limits {
    Limits { nodes: Some(nodes), ..Limits::default() }
}

fn searcher() -> Searcher {
    Searcher::new(8).expect("a small table")
}

fn search_with(searcher: &mut Searcher, game: &Game, limits: &Limits) -> Outcome {
    in_search_thread(|| searcher.search(game, limits, &Signals::default(), Instant::now(), &mut SilentReport))
        .expect("a thread")
}

fn search(game: &Game, limits: &Limits) -> Outcome {
    search_with(&mut searcher(), game, limits)
}

fn uci(board: &Board, mv: Option<Move>) -> String {
    mv.map_or_else(|| "(none)".to_owned(), |mv| board.to_uci(mv, false))
}

#[test]
fn forced_mates_have_exact_scores() {
    // Position, score and move; `*` if several moves are best. The longer mates are from
    // `vondele/matetrack`.
    let cases: [(&str, Score, &str); 13] = [
        ("6k1/5ppp/8/8/8/8/8/R6K w - - 0 1", mate_in(1), "a1a8"),
        ("7k/8/5N1K/8/8/8/8/6R1 w - - 0 1", mate_in(1), "g1g8"),
        ("6k1/6P1/6K1/8/8/8/8/1R6 w - - 0 1", mate_in(1), "b1b8"),
        ("8/7B/2R5/4Nr1p/4kb1Q/8/1B6/4K2R w K - 0 1", mate_in(3), "*"),
        ("5n2/KR2p3/2pp4/k2pB3/P7/pPpN3b/5pp1/5rq1 b - - 0 1", mated_in(4), "*"),
        ("8/5P1k/8/6K1/8/8/8/5R2 w - - 0 1", mate_in(3), "*"),
        ("r1bq2r1/b4pk1/p1pp1p2/1p2pP2/1P2P1PB/3P4/1PPQ2P1/R3K2R w - - 0 1", mate_in(3), "d2h6"),
        ("2k5/2N5/1PKP4/2P5/8/8/8/8 w - - 0 1", mate_in(5), "*"),
        ("5r2/5R2/P7/8/1K6/1Q6/8/k7 b - - 0 1", mated_in(6), "*"),
        ("1k6/8/1K6/8/8/8/8/7Q b - - 0 1", mated_in(4), "b8c8"),
        ("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1", mated_in(0), "(none)"),
        ("8/8/8/8/8/2k5/2q5/K7 w - - 0 1", DRAW, "(none)"),
        ("8/8/8/8/8/k7/p7/K7 w - - 0 1", DRAW, "(none)"),
    ];
    let check = |(fen, score, best): (&str, Score, &str), limit| {
        let game = game(fen, "");
        let outcome = search(&game, &nodes(limit));
        assert_eq!(outcome.score, score, "{fen}");
        assert!(best == "*" || best == uci(game.board(), outcome.best), "{fen}: {:?}", outcome.best);
    };
    cases.into_iter().for_each(|case| check(case, 400_000));
    // The built-in network prefers other moves for a million nodes.
    check(("3R4/8/8/2p3K1/2p5/5B2/R1pPNB2/1b1k4 w - - 0 1", mate_in(3), "*"), 2_000_000);
}

#[test]
fn a_mate_that_was_asked_for_ends_the_search() {
    let game = game("r1bq2r1/b4pk1/p1pp1p2/1p2pP2/1P2P1PB/3P4/1PPQ2P1/R3K2R w - - 0 1", "");
    let outcome = search(&game, &Limits { mate: Some(2), ..Limits::default() });
    assert_eq!((outcome.score, uci(game.board(), outcome.best).as_str()), (mate_in(3), "d2h6"));
}

#[test]
fn draws_by_rule_are_seen() {
    // Setup, depth; is the score a draw?
    let cases = [
        // The winning side can make progress, unless the fifty-move rule comes first.
        ("8/8/4k3/8/8/4K3/8/4Q3 w - - 10 1", 4, false),
        ("8/8/4k3/8/8/4K3/8/4Q3 w - - 99 80", 4, true),
        // Mate with the hundredth ply counts.
        ("7k/8/5K2/8/8/8/8/6Q1 w - - 99 80", 4, false),
        // Perpetual check, with mate threatened on the other side.
        ("6k1/6p1/8/7Q/8/8/rrq5/7K w - - 0 1", 10, true),
        // Stalemate is the only way to keep the pawn.
        ("k7/P7/1K6/8/8/8/8/8 w - - 0 1", 8, true),
        // Not enough material.
        ("8/8/4k3/8/3b4/8/4K3/8 w - - 0 1", 3, true),
        ("8/8/4k3/8/3b4/8/4K2p/8 b - - 0 1", 3, false),
    ];
    for (fen, plies, draw) in cases {
        let outcome = search(&game(fen, ""), &depth(plies));
        assert_eq!(outcome.score == DRAW, draw, "{fen}: {}", outcome.score);
    }
}

/// Scores stored at a low halfmove clock must not be used for the same positions near the
/// fifty-move rule.
#[test]
fn stored_mates_do_not_outlive_the_fifty_move_rule() {
    let mut searcher = searcher();
    let outcome = search_with(&mut searcher, &game("7k/8/4K3/8/8/8/8/1Q6 w - - 0 80", ""), &depth(14));
    assert!(is_mate(outcome.score), "{outcome:?}");
    for plies in 1..12 {
        let outcome = search_with(&mut searcher, &game("7k/8/4K3/8/8/8/8/1Q6 w - - 98 80", ""), &depth(plies));
        assert!(!is_mate(outcome.score), "{plies}: {outcome:?}");
    }
}

/// A mate in 15 plies comes too late at a halfmove clock of 86.
#[test]
fn stored_mates_that_the_fifty_move_rule_forbids_are_not_used() {
    let mut searcher = searcher();
    let at = |clock: u32| game(&format!("8/8/3k4/8/8/3K4/8/3Q4 w - - {clock} 90"), "");
    let outcome = search_with(&mut searcher, &at(0), &Limits { mate: Some(8), ..Limits::default() });
    assert_eq!(outcome.score, mate_in(15), "{outcome:?}");
    for plies in 1..8 {
        let outcome = search_with(&mut searcher, &at(86), &depth(plies));
        assert!(!is_mate(outcome.score), "{plies}: {outcome:?}");
    }
}

#[test]
fn a_third_repetition_is_avoided_when_winning_and_sought_when_losing() {
    let shuffle = "h1g1 h8g8 g1h1 g8h8 h1g1 h8g8 g1h1";
    // White has two rooks and must not let Black repeat; after the shuffle g8h8 would be a draw.
    let losing = game("7k/8/8/8/8/8/RR6/7K w - - 0 1", shuffle);
    let outcome = search(&losing, &depth(6));
    assert_eq!((uci(losing.board(), outcome.best).as_str(), outcome.score), ("g8h8", DRAW));
    let winning = game("7k/8/8/8/8/8/RR6/7K w - - 0 1", "h1g1 h8g8 g1h1 g8h8 h1g1 h8g8");
    let outcome = search(&winning, &depth(6));
    assert!(uci(winning.board(), outcome.best) != "g1h1" && outcome.score > 300, "{outcome:?}");
}

#[test]
fn node_limits_are_exact() {
    for fen in [STARTPOS, KIWIPETE, bench::POSITIONS[12]] {
        for limit in [1, 2, 17, 100, 1023, 1024, 1025, 20_000] {
            let game = game(fen, "");
            let outcome = search(&game, &nodes(limit));
            assert_eq!(outcome.nodes, limit, "{fen}");
            assert!(outcome.best.is_some_and(|mv| game.board().is_legal(mv)), "{fen} {limit}");
        }
    }
}

#[test]
fn only_the_asked_for_moves_are_searched() {
    let game = game(KIWIPETE, "");
    let search_moves: Vec<Move> = ["a2a3", "e1d1"].iter().filter_map(|word| game.board().parse_uci(word)).collect();
    let outcome = search(&game, &Limits { search_moves: search_moves.clone(), ..depth(5) });
    assert!(outcome.best.is_some_and(|mv| search_moves.contains(&mv)), "{outcome:?}");
}

#[test]
fn a_stopped_search_still_gives_a_legal_move() {
    let signals = Signals::default();
    signals.stop.store(true, Ordering::Relaxed);
    let game = game(KIWIPETE, "");
    let outcome =
        in_search_thread(|| searcher().search(&game, &Limits::default(), &signals, Instant::now(), &mut SilentReport));
    let outcome = outcome.expect("a thread");
    assert!(outcome.best.is_some_and(|mv| game.board().is_legal(mv)), "{outcome:?}");
}

#[test]
fn after_new_game_nothing_is_remembered() {
    let limits = nodes(15_000);
    let line = ["e2e4 e7e5", "e2e4 e7e5 g1f3 b8c6", "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6"];
    let play = |searcher: &mut Searcher| line.map(|moves| search_with(searcher, &game(STARTPOS, moves), &limits));
    let mut fresh = searcher();
    let expected = play(&mut fresh);
    let mut used = searcher();
    for fen in bench::POSITIONS {
        search_with(&mut used, &game(fen, ""), &limits);
    }
    assert_ne!(play(&mut used), expected, "the test is blind: memory makes no difference");
    used.new_game();
    assert_eq!(play(&mut used), expected);
}

#[test]
fn the_bench_is_deterministic() {
    let count = || bench::run(5, |_, _| ()).expect("memory").nodes;
    assert_eq!(count(), count());
}

/// Report that checks each line against the position.
struct Audit<'a> {
    board: &'a Board,
    depths: Vec<i32>,
    nodes: u64,
}

impl Report for Audit<'_> {
    fn iteration(&mut self, info: &Info<'_>) {
        assert!(!info.pv.is_empty() && info.pv.len() <= info.seldepth.max(info.depth as usize), "{info:?}");
        let mut board = *self.board;
        for &mv in info.pv {
            assert!(board.is_legal(mv), "{info:?}");
            board.play(mv);
        }
        assert!(info.nodes >= self.nodes && info.hashfull <= 1000, "{info:?}");
        if info.score == mate_in(info.pv.len() as i32) {
            assert!(board.in_check() && board.count_legal_moves() == 0, "{info:?}");
        }
        self.nodes = info.nodes;
        self.depths.push(info.depth);
    }
}

#[test]
fn reports_are_legal_lines_of_growing_depth() {
    for fen in bench::POSITIONS {
        let game = game(fen, "");
        let mut audit = Audit { board: game.board(), depths: Vec::new(), nodes: 0 };
        let outcome =
            in_search_thread(|| searcher().search(&game, &depth(6), &Signals::default(), Instant::now(), &mut audit));
        let outcome = outcome.expect("a thread");
        match outcome.best {
            Some(_) => assert_eq!(audit.depths, [1, 2, 3, 4, 5, 6], "{fen}"),
            None => assert!(audit.depths.is_empty(), "{fen}"),
        }
    }
}

#[test]
fn the_deepest_search_keeps_within_its_bounds() {
    // Few moves and long checks make the line as long as allowed.
    for fen in
        ["8/8/8/8/8/5k2/5p2/5K2 w - - 0 1", "7k/7P/7K/8/8/8/8/8 w - - 0 1", "8/k7/3p4/p2P1p2/P2P1P2/8/8/K7 w - - 0 1"]
    {
        let game = game(fen, "");
        let outcome = search(&game, &Limits { depth: Some(i32::MAX), nodes: Some(300_000), ..Limits::default() });
        assert!(outcome.depth <= 127 && (outcome.best.is_some() || game.board().count_legal_moves() == 0), "{fen}");
        assert!(!is_mate(outcome.score), "{fen}: {}", outcome.score);
    }
}
