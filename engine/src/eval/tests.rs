//! Tests of the evaluator against its trace, its mirror image and its caches.

use super::*;
use crate::types::MoveList;

const POSITIONS: [&str; 10] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10",
    "2kr3r/ppp2ppp/2n5/3q4/3P4/2P2N2/P4PPP/R2Q1RK1 b - - 0 14",
    "8/8/1P6/5pr1/8/4R3/7k/2K5 w - - 0 1",
    "8/5k2/3b4/1p1P4/1P3B2/6K1/8/8 b - - 0 1",
    "8/8/4kP2/8/p7/8/1K6/8 w - - 0 1",
    "6k1/5ppp/8/8/8/8/8/K6R b - - 0 1",
    "q6k/6pp/8/8/1QQ5/1Q6/8/1K6 w - - 0 1",
];

/// Calls `visit` with positions of seeded random games from all of the above.
fn visit(mut visit: impl FnMut(&Board)) {
    let mut state = 1_u64;
    for fen in POSITIONS {
        for _ in 0..20 {
            let mut board = Board::from_fen(fen).expect(fen);
            for _ in 0..80 {
                visit(&board);
                let mut moves = MoveList::new();
                board.legal_moves(&mut moves);
                if moves.is_empty() {
                    break;
                }
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                board.play(moves[(state >> 33) as usize % moves.len()]);
            }
        }
    }
}

/// Returns the position with colours, ranks and the side to move exchanged.
fn mirrored(board: &Board) -> Board {
    let fen = board.to_fen(true);
    let fields: Vec<&str> = fen.split(' ').collect();
    let swap_case = |text: &str| -> String {
        text.chars()
            .map(|c| if c.is_ascii_uppercase() { c.to_ascii_lowercase() } else { c.to_ascii_uppercase() })
            .collect()
    };
    let rows: Vec<String> = fields[0].split('/').rev().map(swap_case).collect();
    let turn = if fields[1] == "w" { "b" } else { "w" };
    let en_passant = fields[3].replace('3', "_").replace('6', "3").replace('_', "6");
    let text = format!("{} {turn} {} {en_passant} 0 1", rows.join("/"), swap_case(fields[2]));
    Board::from_fen(&text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn the_trace_adds_up_to_the_value() {
    visit(|board| {
        let white = trace(board).value(&WEIGHTS);
        let value = if board.turn() == Color::White { white } else { -white };
        assert_eq!(evaluate(board), value, "{}", board.to_fen(true));
        let weights: Vec<[f32; 2]> = WEIGHTS.iter().map(|weight| [weight.mg() as f32, weight.eg() as f32]).collect();
        let (real, _) = trace(board).value_f32(&weights);
        assert!((real - white as f32).abs() < 1.01, "{}: {real} {white}", board.to_fen(true));
    });
}

#[test]
fn memory_changes_nothing() {
    let mut evaluator = ClassicalEvaluator::new();
    // Processors with and without bit-counting instructions must agree.
    let mut plain = ClassicalEvaluator {
        #[cfg(target_arch = "x86_64")]
        counts_bits: false,
        ..ClassicalEvaluator::new()
    };
    visit(|board| {
        let value = evaluate(board);
        assert_eq!([evaluator.evaluate(board), plain.evaluate(board)], [value; 2], "{}", board.to_fen(true));
    });
}

#[test]
fn colours_are_alike() {
    visit(|board| assert_eq!(evaluate(board), evaluate(&mirrored(board)), "{}", board.to_fen(true)));
}

/// Each position must be better for the side to move than the next one.
#[test]
fn better_positions_are_worth_more() {
    let pairs = [
        // A queen up against even.
        ("4k3/8/8/8/8/8/8/QK6 w - - 0 1", "q3k3/8/8/8/8/8/8/QK6 w - - 0 1"),
        // A pawn near promotion against one at home.
        ("4k3/8/1P6/8/8/5K2/8/8 w - - 0 1", "4k3/8/8/8/8/5K2/1P6/8 w - - 0 1"),
        // A centralised knight against one in the corner.
        ("4k3/pppp4/8/8/4N3/8/PPPP4/4K3 w - - 0 1", "4k3/pppp4/8/8/8/8/PPPP4/4K2N w - - 0 1"),
        // Sound pawns against split and doubled ones.
        ("4k3/ppp5/8/8/8/8/PPP5/4K3 w - - 0 1", "4k3/ppp5/8/8/8/P7/P1P5/4K3 w - - 0 1"),
    ];
    for (better, worse) in pairs {
        let value = |fen: &str| evaluate(&Board::from_fen(fen).expect(fen));
        assert!(value(better) > value(worse), "{better} {} against {worse} {}", value(better), value(worse));
    }
}

/// The terms add up to the evaluation but for what each loses in rounding.
#[test]
fn terms_add_up_to_the_evaluation() {
    visit(|board| {
        let terms = terms(board);
        let sum: i32 = terms.iter().map(|term| term.value).sum();
        let white = if board.turn() == Color::White { evaluate(board) } else { -evaluate(board) };
        let rounding = terms.len() as i32 + 1;
        assert!((sum - white).abs() <= rounding, "{sum} against {white}: {}", board.to_fen(true));
    });
}
