//! Move ordering: a picker that generates and sorts moves in stages. TT stands for transposition
//! table.

use super::context::Context;
use super::history::{Histories, Quiets, captured_kind};
use super::params;
use crate::board::{Board, see_value};
use crate::types::{Bitboard, Move, MoveList, PieceType};

/// Capacity in moves, enough for every ply of a line, so the arena never reallocates.
const ARENA_CAPACITY: usize = 8192;

/// Move with the score that orders it, of at most [`LAST`] in size.
#[derive(Clone, Copy)]
struct RankedMove {
    mv: Move,
    score: i32,
}

/// Score of underpromotions, which come last. Scores leave eight bits for a place among the moves.
const LAST: i32 = -(1 << 22);

/// Stack of the pending moves of all pickers, one ply above the other.
pub struct MoveArena {
    generated: MoveList,
    scored: Vec<RankedMove>,
}

impl MoveArena {
    pub fn new() -> MoveArena {
        MoveArena { generated: MoveList::new(), scored: Vec::with_capacity(ARENA_CAPACITY) }
    }
}

/// Stages of a picker, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    TtMove,
    MakeCaptures,
    GoodCaptures,
    FirstKiller,
    SecondKiller,
    MakeQuiets,
    Quiets,
    BadCaptures,
    Done,
}

/// Iterator over the legal moves of a position, most promising first, each once.
pub struct MovePicker {
    stage: Stage,
    tt_move: Move,
    killers: [Move; 2],
    /// Moves that led to the position.
    context: Context,
    captures_only: bool,
    /// Minimum static exchange value of a good capture. A picker of all moves also subtracts
    /// [`allowed_loss`].
    see_threshold: i32,
    /// Length of the arena when this picker began.
    base: usize,
    /// End of the losing captures, which are kept from `base` on.
    bad_end: usize,
    next: usize,
    end: usize,
}

impl MovePicker {
    /// Picks from all legal moves. The TT move and the killers are checked for legality first.
    pub fn all(arena: &MoveArena, tt_move: Move, killers: [Move; 2], context: Context) -> MovePicker {
        let base = arena.scored.len();
        MovePicker {
            stage: Stage::TtMove,
            tt_move,
            killers,
            context,
            captures_only: false,
            see_threshold: 0,
            base,
            bad_end: base,
            next: base,
            end: base,
        }
    }

    /// Picks captures and queen promotions with a static exchange value of at least
    /// `see_threshold`, and the TT move in any case.
    pub fn captures(arena: &MoveArena, tt_move: Move, see_threshold: i32) -> MovePicker {
        MovePicker {
            captures_only: true,
            see_threshold,
            ..MovePicker::all(arena, tt_move, [Move::NULL; 2], Context::NONE)
        }
    }

    /// Skips the remaining quiet moves and returns their number. Does nothing before the stage of
    /// quiet moves.
    pub fn skip_quiets(&mut self, arena: &mut MoveArena) -> usize {
        if self.stage != Stage::Quiets {
            return 0;
        }
        // Underpromotions share this stage and stay.
        let waiting = &mut arena.scored[self.next..self.end];
        let mut quiets = waiting.len();
        for index in (0..waiting.len()).rev() {
            if !waiting[index].mv.is_quiet() {
                quiets -= 1;
                waiting.swap(index, quiets);
            }
        }
        self.next += quiets;
        quiets
    }

    /// Releases the picker's moves. Must be called before a picker of a lower ply continues.
    pub fn finish(self, arena: &mut MoveArena) {
        arena.scored.truncate(self.base);
    }

    /// Returns the next move.
    pub fn next(&mut self, board: &Board, arena: &mut MoveArena, histories: &Histories) -> Option<Move> {
        loop {
            match self.stage {
                Stage::TtMove => {
                    self.stage = Stage::MakeCaptures;
                    if board.is_legal(self.tt_move) {
                        return Some(self.tt_move);
                    }
                    self.tt_move = Move::NULL;
                }
                Stage::MakeCaptures => {
                    self.make_captures(board, arena, histories);
                    self.stage = Stage::GoodCaptures;
                }
                Stage::GoodCaptures => {
                    if let Some(mv) = self.next_good_capture(board, arena) {
                        return Some(mv);
                    }
                    self.stage = if self.captures_only { Stage::Done } else { Stage::FirstKiller };
                }
                Stage::FirstKiller => {
                    self.stage = Stage::SecondKiller;
                    if let Some(mv) = self.check_killer(board, 0) {
                        return Some(mv);
                    }
                }
                Stage::SecondKiller => {
                    self.stage = Stage::MakeQuiets;
                    if let Some(mv) = self.check_killer(board, 1) {
                        return Some(mv);
                    }
                }
                Stage::MakeQuiets => {
                    self.make_quiets(board, arena, histories);
                    self.stage = Stage::Quiets;
                }
                Stage::Quiets => {
                    if let Some(RankedMove { mv, .. }) = self.take_best(arena) {
                        return Some(mv);
                    }
                    (self.next, self.end) = (self.base, self.bad_end);
                    self.stage = Stage::BadCaptures;
                }
                Stage::BadCaptures => {
                    if self.next < self.end {
                        self.next += 1;
                        return Some(arena.scored[self.next - 1].mv);
                    }
                    self.stage = Stage::Done;
                }
                Stage::Done => return None,
            }
        }
    }

    /// Returns a killer if it is a legal quiet move not yet returned; clears it otherwise.
    fn check_killer(&mut self, board: &Board, index: usize) -> Option<Move> {
        let mv = self.killers[index];
        let repeated = mv == self.tt_move || (index == 1 && mv == self.killers[0]);
        if repeated || !mv.is_quiet() || !board.is_legal(mv) {
            self.killers[index] = Move::NULL;
            return None;
        }
        Some(mv)
    }

    fn make_captures(&mut self, board: &Board, arena: &mut MoveArena, histories: &Histories) {
        arena.generated.clear();
        board.legal_captures(&mut arena.generated);
        for &mv in &arena.generated {
            if mv != self.tt_move {
                arena.scored.push(RankedMove { mv, score: capture_score(board, mv, histories) });
            }
        }
        self.end = arena.scored.len();
    }

    fn make_quiets(&mut self, board: &Board, arena: &mut MoveArena, histories: &Histories) {
        arena.scored.truncate(self.bad_end);
        self.next = self.bad_end;
        arena.generated.clear();
        board.legal_quiets(&mut arena.generated);
        let remembered = histories.quiets(board, self.context);
        let checks = board.check_squares();
        for &mv in &arena.generated {
            if mv != self.tt_move && !self.killers.contains(&mv) {
                arena.scored.push(RankedMove { mv, score: quiet_score(board, mv, remembered, &checks) });
            }
        }
        self.end = arena.scored.len();
    }

    /// Returns the best remaining capture that passes the static exchange test, and sets the
    /// failing ones aside. A picker of all moves allows a loss that depends on the capture's score.
    fn next_good_capture(&mut self, board: &Board, arena: &mut MoveArena) -> Option<Move> {
        while let Some(RankedMove { mv, score }) = self.take_best(arena) {
            let allowance = if self.captures_only { 0 } else { allowed_loss(score) };
            if board.see_ge_against(self.context.threats, mv, self.see_threshold - allowance) {
                return Some(mv);
            }
            // Slots before `next` are free, because their moves have been returned.
            arena.scored[self.bad_end].mv = mv;
            self.bad_end += 1;
        }
        None
    }

    /// Performs one step of a selection sort. Most nodes need few of their moves.
    #[inline]
    fn take_best(&mut self, arena: &mut MoveArena) -> Option<RankedMove> {
        let waiting = &mut arena.scored[self.next..self.end];
        // Score and place in one number, so that no comparison is a branch. Of equal scores the
        // first place is the greatest.
        let keys = waiting.iter().zip(0..).map(|(ranked, place)| (ranked.score << 8) | (255 - place));
        let best = 255 - (keys.max()? & 255) as usize;
        waiting.swap(0, best);
        self.next += 1;
        Some(waiting[0])
    }
}

/// Scores a capture by most valuable victim, then least valuable attacker (MVV-LVA), plus its
/// history, in sixteenths of a centipawn.
fn capture_score(board: &Board, mv: Move, histories: &Histories) -> i32 {
    let victim = captured_kind(board, mv).map_or(0, see_value);
    let promotion = if mv.promotion() == Some(PieceType::Queen) { see_value(PieceType::Queen) } else { 0 };
    let attacker = board.piece_at(mv.from()).map_or(0, |piece| 16 * piece.kind().index() as i32);
    16 * (victim + promotion) - attacker + params::capture_history_weight() * histories.capture(board, mv) / 64
}

/// Returns the static exchange loss, in centipawns, with which a capture of this score still comes
/// before the quiet moves (common practice).
fn allowed_loss(capture_score: i32) -> i32 {
    capture_score.max(0) / 16 * params::good_capture_share() / 64
}

/// Static exchange loss in centipawns with which a check is still ordered early.
const CHECK_MAY_LOSE: i32 = 75;

/// Scores a quiet move by its histories. Underpromotions come last. Direct checks that do not lose
/// their piece get a bonus (common practice). `checks` is [`Board::check_squares`].
fn quiet_score(board: &Board, mv: Move, remembered: Quiets<'_>, checks: &[Bitboard; PieceType::COUNT]) -> i32 {
    if mv.is_promotion() {
        return LAST;
    }
    let is_check = board.piece_at(mv.from()).is_some_and(|piece| checks[piece.kind().index()].has(mv.to()))
        && board.see_ge_against(remembered.threats, mv, -CHECK_MAY_LOSE);
    remembered.value(board, mv) + params::check_bonus() * i32::from(is_check)
}

#[cfg(test)]
mod tests {
    use super::*;

    const POSITIONS: [&str; 6] = [
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
        "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
        "8/2p5/3p4/KP5r/1R2Pp1k/8/6P1/8 b - e3 0 1",
        "4k3/8/8/8/7q/8/3PP3/3QK3 w - - 0 1",
    ];

    fn drain(board: &Board, picker: MovePicker, arena: &mut MoveArena) -> Vec<Move> {
        drain_with(board, picker, arena, &Histories::empty())
    }

    fn drain_with(board: &Board, mut picker: MovePicker, arena: &mut MoveArena, histories: &Histories) -> Vec<Move> {
        let mut moves = Vec::new();
        while let Some(mv) = picker.next(board, arena, histories) {
            moves.push(mv);
        }
        picker.finish(arena);
        moves
    }

    fn sorted(mut moves: Vec<Move>) -> Vec<Move> {
        moves.sort_unstable();
        moves
    }

    #[test]
    fn every_legal_move_comes_once_whatever_the_hints() {
        for fen in POSITIONS {
            let board = Board::from_fen(fen).expect("a legal position");
            let mut legal = MoveList::new();
            board.legal_moves(&mut legal);
            let foreign = [Move::NULL, Move::from_raw(0xFFFF), Move::from_raw(0x4321)];
            let hints: Vec<Move> = legal.iter().copied().chain(foreign).collect();
            let mut arena = MoveArena::new();
            for (index, &tt_move) in hints.iter().enumerate() {
                let killers = [hints[(index * 7 + 1) % hints.len()], hints[(index * 3 + 2) % hints.len()]];
                let moves = drain(&board, MovePicker::all(&arena, tt_move, killers, Context::NONE), &mut arena);
                if legal.contains(&tt_move) {
                    assert_eq!(moves[0], tt_move);
                }
                assert_eq!(sorted(moves), sorted(legal.to_vec()), "{fen} {tt_move:?} {killers:?}");
                assert!(arena.scored.is_empty());
            }
        }
    }

    #[test]
    fn winning_captures_come_before_quiets_and_losing_ones_after() {
        let board = Board::from_fen(POSITIONS[1]).expect("a legal position");
        let mut arena = MoveArena::new();
        let moves = drain(&board, MovePicker::all(&arena, Move::NULL, [Move::NULL; 2], Context::NONE), &mut arena);
        let first_quiet = moves.iter().position(|mv| mv.is_quiet()).expect("a quiet move");
        let last_quiet = moves.iter().rposition(|mv| mv.is_quiet()).expect("a quiet move");
        assert!(moves[..first_quiet].iter().all(|&mv| board.see_ge(mv, 0)));
        assert!(moves[last_quiet + 1..].iter().all(|&mv| !board.see_ge(mv, 0)));
        assert!(moves[first_quiet..=last_quiet].iter().all(|mv| mv.is_quiet()));
    }

    #[test]
    fn a_capture_may_lose_a_little_and_come_before_the_quiets() {
        // A bishop takes a protected knight, or a protected pawn; successes of the capture so far.
        for (fen, word, successes, is_first) in [
            ("4k3/2p5/3n4/8/5B2/8/8/4K3 w - - 0 1", "f4d6", 100, true),
            ("4k3/2p5/3n4/8/5B2/8/8/4K3 w - - 0 1", "f4d6", 0, false),
            ("4k3/2p5/3p4/8/5B2/8/8/4K3 w - - 0 1", "f4d6", 100, false),
        ] {
            let board = Board::from_fen(fen).expect("a legal position");
            let mv = board.parse_uci(word).expect("legal");
            assert!(!board.see_ge(mv, 0), "{fen}");
            let (mut histories, mut arena) = (Histories::empty(), MoveArena::new());
            (0..successes).for_each(|_| histories.learn_capture(&board, mv, 1000));
            let picker = MovePicker::all(&arena, Move::NULL, [Move::NULL; 2], Context::NONE);
            let moves = drain_with(&board, picker, &mut arena, &histories);
            assert_eq!(moves.first() == Some(&mv), is_first, "{fen} {successes}");
            assert_eq!(moves.last() == Some(&mv), !is_first, "{fen} {successes}");
        }
    }

    #[test]
    fn checks_come_first_of_the_quiets_unless_they_lose_the_piece() {
        for (fen, word, is_first) in
            [("4k3/8/8/8/8/8/8/R3K3 w - - 0 1", "a1a8", true), ("4k3/8/1n6/8/8/8/8/R3K3 w - - 0 1", "a1a8", false)]
        {
            let board = Board::from_fen(fen).expect("a legal position");
            let mut arena = MoveArena::new();
            let moves = drain(&board, MovePicker::all(&arena, Move::NULL, [Move::NULL; 2], Context::NONE), &mut arena);
            let quiet = moves.into_iter().find(|mv| mv.is_quiet()).expect("a quiet move");
            assert_eq!(board.to_uci(quiet, false) == word, is_first, "{fen} {word}");
        }
    }

    #[test]
    fn quiet_moves_can_be_passed_over_and_are_counted() {
        for fen in POSITIONS {
            let board = Board::from_fen(fen).expect("a legal position");
            let (histories, mut arena) = (Histories::empty(), MoveArena::new());
            let whole = drain(&board, MovePicker::all(&arena, Move::NULL, [Move::NULL; 2], Context::NONE), &mut arena);
            let mut picker = MovePicker::all(&arena, Move::NULL, [Move::NULL; 2], Context::NONE);
            let (mut moves, mut skipped) = (Vec::new(), 0);
            while let Some(mv) = picker.next(&board, &mut arena, &histories) {
                moves.push(mv);
                skipped += if mv.is_quiet() { picker.skip_quiets(&mut arena) } else { 0 };
            }
            picker.finish(&mut arena);
            let quiets = whole.iter().filter(|mv| mv.is_quiet()).count();
            assert_eq!((moves.len() + skipped, skipped), (whole.len(), quiets.saturating_sub(1)), "{fen}");
            assert!(whole.iter().filter(|mv| !mv.is_quiet()).all(|mv| moves.contains(mv)), "{fen}");
        }
    }

    #[test]
    fn quiescence_gets_no_losing_capture() {
        for fen in POSITIONS {
            let board = Board::from_fen(fen).expect("a legal position");
            let mut captures = MoveList::new();
            board.legal_captures(&mut captures);
            let wanted: Vec<Move> = captures.iter().copied().filter(|&mv| board.see_ge(mv, 0)).collect();
            let mut arena = MoveArena::new();
            let moves = drain(&board, MovePicker::captures(&arena, Move::NULL, 0), &mut arena);
            assert_eq!(sorted(moves), sorted(wanted), "{fen}");
        }
    }
}
