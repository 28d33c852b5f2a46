//! Positions that searches evaluate.

use super::{Folder, lines};
use destrier::board::Board;
use destrier::search::{EvalConfig, EvalMode, Evaluator};
use destrier::types::{Color, MoveList};

const CLASSICAL: &str = "--evaluation classical --depth 3";

/// Returns the board and White's score of each line.
fn positions(folder: &Folder, name: &str) -> Vec<(Board, i32)> {
    let position = |line: String| {
        let mut fields = line.split(" | ");
        let board = Board::from_fen(fields.next().unwrap()).unwrap();
        (board, fields.next().unwrap().parse().unwrap())
    };
    lines(&folder.path(name)).into_iter().map(position).collect()
}

#[test]
fn positions_inside_searches_have_their_evaluations() {
    let folder = Folder::new();
    folder.write_games("a.vf", 3, 3);
    folder.run(&format!("leaves @a.vf --out @a.txt {CLASSICAL} --share 1"));
    let found = positions(&folder, "a.txt");
    folder.run("convert @a.vf --out @roots.txt");
    assert!(found.len() > 2 * lines(&folder.path("roots.txt")).len(), "{}", found.len());
    let mut evaluator = Evaluator::new();
    evaluator.configure(&EvalConfig { mode: EvalMode::Classical, network: None });
    for (board, score) in found {
        let value = if board.turn() == Color::White { score } else { -score };
        evaluator.reset(&board);
        assert_eq!(evaluator.evaluate(&board), value, "{}", board.to_fen(false));
        let mut captures = MoveList::new();
        board.legal_captures(&mut captures);
        assert!(!board.in_check() && !captures.iter().any(|&mv| board.see_ge(mv, 50)), "{}", board.to_fen(false));
    }
}

#[test]
fn searches_side_by_side_write_the_same() {
    let folder = Folder::new();
    // More than the batches in flight.
    folder.write_games("a.vf", 4, 40);
    folder.run("convert @a.vf --out @roots.txt");
    assert!(lines(&folder.path("roots.txt")).len() > 13 * 64);
    for (name, words) in [("one", ""), ("three", " --threads 3"), ("other", " --seed 2"), ("fewer", " --share 0.1")] {
        folder.run(&format!("leaves @a.vf --out @{name}.bin {CLASSICAL}{words}"));
    }
    let one = folder.read("one.bin");
    assert!(one == folder.read("three.bin"));
    assert!(one != folder.read("other.bin"));
    let share = folder.read("fewer.bin").len() as f64 / one.len() as f64;
    assert!((0.15..0.25).contains(&share), "{share} of half of the positions");
    folder.run(&format!("leaves @a.vf --out @narrow.txt {CLASSICAL} --max-score 100"));
    let narrow = positions(&folder, "narrow.txt");
    assert!(!narrow.is_empty() && narrow.iter().all(|(_, score)| score.abs() <= 100));
}

#[test]
fn bad_arguments_are_explained() {
    let folder = Folder::new();
    folder.write_games("a.vf", 5, 1);
    folder.refuses(&[
        ("leaves @a.vf --out @b.plain", "b.plain: plain holds moves, and positions inside searches have none"),
        ("leaves @a.vf --out @b.bin --share 0", "give more than 0 and at most 1"),
        ("leaves @a.vf --out @b.bin --evaluation @no.nnue", "no.nnue: "),
        ("leaves @a.vf --out @a.vf", "the same file is read"),
        ("leaves @a.vf --out @b.bin --max-gain 0", "--max-gain"),
    ]);
    let files: Vec<_> = folder.0.path().read_dir().unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(files, ["a.vf"]);
}
