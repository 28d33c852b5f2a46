//! Destrier's reader of positions: what it takes, it writes and reads again as the same position,
//! and its moves can be played.
#![no_main]

use destrier::board::Board;
use destrier::types::MoveList;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(board) = Board::from_fen(text) else { return };
    for chess960 in [false, true] {
        let fen = board.to_fen(chess960);
        match Board::from_fen(&fen) {
            Ok(again) => assert_eq!(again.to_fen(chess960), fen, "{text:?}"),
            Err(error) => panic!("{error}: {fen} of {text:?}"),
        }
    }
    let mut moves = MoveList::new();
    board.legal_moves(&mut moves);
    for mv in &moves {
        let mut after = board;
        after.play(*mv);
        assert_eq!(board.parse_uci(&board.to_uci(*mv, true)), Some(*mv), "{text:?}");
    }
});
