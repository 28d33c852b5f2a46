//! Lines to the GUI, as text.

use super::wdl::{MODEL, material};
use crate::board::Board;
use crate::search::tt::Bound;
use crate::search::{Info, Outcome};
use crate::types::{MATE, Move, Score, Square, is_mate};
use std::fmt::Write;

/// Formats a score as `cp` with centipawns, or `mate` with moves, negative if the side to move is
/// mated.
pub fn score(score: Score) -> String {
    if !is_mate(score) {
        return format!("cp {score}");
    }
    let plies = MATE - score.abs();
    let moves = (plies + 1) / 2;
    format!("mate {}", if score > 0 { moves } else { -moves })
}

/// Returns the suffix of a score that is not exact.
fn bound(bound: Bound) -> &'static str {
    match bound {
        Bound::Lower => " lowerbound",
        Bound::Upper => " upperbound",
        Bound::None | Bound::Exact => "",
    }
}

/// Formats an `info` line.
pub fn info(info: &Info<'_>, board: &Board, chess960: bool, show_wdl: bool) -> String {
    let nps = u128::from(info.nodes) * 1_000_000 / info.elapsed.as_micros().max(1);
    let wdl = match MODEL.per_mille(info.score, material(board)) {
        [win, draw, loss] if show_wdl => format!(" wdl {win} {draw} {loss}"),
        _ => String::new(),
    };
    let mut line = format!(
        "info depth {} seldepth {} multipv {} score {}{}{wdl} nodes {} nps {nps} hashfull {} tbhits {} time {} pv",
        info.depth,
        info.seldepth,
        info.line,
        score(info.score),
        bound(info.bound),
        info.nodes,
        info.hashfull,
        info.tablebase_hits,
        info.elapsed.as_millis(),
    );
    let mut board = *board;
    for &mv in info.pv {
        line.push(' ');
        line.push_str(&board.to_uci(mv, chess960));
        board.play(mv);
    }
    line
}

/// Formats the `bestmove` line.
pub fn best_move(outcome: &Outcome, board: &Board, chess960: bool) -> String {
    let Some(best) = outcome.best else { return "bestmove (none)".to_owned() };
    let answer = outcome.ponder.map_or_else(String::new, |mv: Move| {
        let mut child = *board;
        child.play(best);
        format!(" ponder {}", child.to_uci(mv, chess960))
    });
    format!("bestmove {}{answer}", board.to_uci(best, chess960))
}

/// Draws the board, with the other fields of the FEN beside it.
pub fn display(board: &Board, chess960: bool) -> String {
    let mut text = String::new();
    for rank in (0..8).rev() {
        for file in 0..8 {
            let letter = board.piece_at(Square::at(file, rank)).map_or('.', |piece| piece.letter());
            text.push(letter);
            text.push(if file == 7 { '\n' } else { ' ' });
        }
    }
    let checkers: String = board.checkers().iter().map(|square| format!(" {square}")).collect();
    let _ = write!(text, "Fen: {}\nKey: {:016x}\nCheckers:{checkers}", board.to_fen(chess960), board.key());
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{mate_in, mated_in};
    use std::time::Duration;

    #[test]
    fn scores_that_are_bounds_say_so() {
        let board = Board::startpos();
        let pv: Vec<Move> = board.parse_uci("e2e4").into_iter().collect();
        for (bound, text) in [
            (Bound::Exact, "score cp 12 nodes"),
            (Bound::Lower, "score cp 12 lowerbound nodes"),
            (Bound::Upper, "score cp 12 upperbound nodes"),
        ] {
            let news = Info {
                depth: 3,
                seldepth: 5,
                line: 1,
                score: 12,
                bound,
                nodes: 100,
                tablebase_hits: 0,
                elapsed: Duration::from_millis(1),
                hashfull: 0,
                pv: &pv,
            };
            let line = info(&news, &board, false, false);
            assert!(line.starts_with("info depth 3 seldepth 5 multipv 1 ") && line.contains(text), "{line}");
        }
    }

    #[test]
    fn mates_are_told_in_moves() {
        for (value, text) in [
            (0, "cp 0"),
            (-153, "cp -153"),
            (mate_in(1), "mate 1"),
            (mate_in(3), "mate 2"),
            (mate_in(4), "mate 2"),
            (mated_in(0), "mate 0"),
            (mated_in(2), "mate -1"),
            (mated_in(4), "mate -2"),
        ] {
            assert_eq!(score(value), text);
        }
    }
}
