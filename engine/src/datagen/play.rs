//! One game of self-play.

use super::opening::{Openings, goes_on, random_move};
use super::viriformat::{GameResult, NO_SCORE, ScoredGame, ScoredMove};
use crate::board::Board;
use crate::search::{Game, Limits, Searcher, Signals, SilentReport};
use crate::types::{Color, Score, SplitMix64};
use std::time::Instant;

/// Effort of the search for each move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// Nodes after which no iteration is started.
    SoftNodes(u64),
    /// Number of iterations.
    Depth(i32),
}

/// Score that ends a game if it lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Adjudication {
    /// Score in centipawns: the least for a win, the most for a draw.
    pub score: Score,
    /// Number of plies in a row.
    pub plies: usize,
}

/// Rules of the games.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules {
    /// Effort for each move.
    pub effort: Effort,
    /// Score beyond which an opening is dropped for another.
    pub opening_limit: Option<Score>,
    /// Adjudication of a win for the better side.
    pub win: Option<Adjudication>,
    /// Adjudication of a draw.
    pub draw: Option<Adjudication>,
    /// Plies from the start of the game (by its move number) before which no draw is adjudicated.
    pub draw_after: usize,
    /// Plies after the opening at which a game is a draw.
    pub max_plies: usize,
    /// Percentage of moves that are drawn at random. They lead to positions that a search meets but
    /// good players avoid. Such a ply has no score, because its search says nothing about the move.
    pub random_moves: u32,
}

/// Number of openings tried before the limit on their scores is reported as the fault.
const MAX_OPENING_TRIES: u64 = 10_000;

/// Reason why there is no game from an opening.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpeningFault {
    /// The position has no legal move, or not enough material to win.
    Over,
    /// The score is beyond the limit.
    Beyond,
}

/// Plays the game of a given number, from openings drawn until one fits.
///
/// The game depends only on the arguments: the searcher's state is cleared first.
///
/// Needs a thread with a stack of [`crate::search::THREAD_STACK_BYTES`].
///
/// # Errors
/// Returns the reason why no opening fits: [`OpeningFault::Beyond`] if any of them was beyond the
/// limit.
pub fn play_game(
    searcher: &mut Searcher,
    rules: &Rules,
    openings: &Openings,
    seed: u64,
    number: u64,
) -> Result<ScoredGame, OpeningFault> {
    let mut why = OpeningFault::Over;
    for attempt in 0..MAX_OPENING_TRIES {
        let mut random = SplitMix64::from_seeds(&[seed, number, attempt]);
        let Some(start) = openings.draw(&mut random) else { continue };
        match play_start(searcher, rules, start, &mut random) {
            Ok(game) => return Ok(game),
            Err(OpeningFault::Beyond) => why = OpeningFault::Beyond,
            Err(OpeningFault::Over) => {}
        }
    }
    Err(why)
}

/// Plays a game from a given opening; [`play_game`] draws one.
///
/// # Errors
/// Returns the reason why the opening does not fit.
pub fn play_start(
    searcher: &mut Searcher,
    rules: &Rules,
    start: Board,
    random: &mut SplitMix64,
) -> Result<ScoredGame, OpeningFault> {
    if !goes_on(&start) {
        return Err(OpeningFault::Over);
    }
    searcher.new_game();
    let first = think(searcher, &Game::new(start), rules.effort).ok_or(OpeningFault::Over)?;
    if rules.opening_limit.is_some_and(|limit| i32::from(first.score).abs() > limit) {
        return Err(OpeningFault::Beyond);
    }
    Ok(play_from(searcher, rules, start, first, random))
}

/// Searches for a move, with White's score; `None` if there is no move.
fn think(searcher: &mut Searcher, game: &Game, effort: Effort) -> Option<ScoredMove> {
    let limits = match effort {
        Effort::SoftNodes(nodes) => Limits { soft_nodes: Some(nodes), ..Limits::default() },
        Effort::Depth(depth) => Limits { depth: Some(depth), ..Limits::default() },
    };
    let outcome = searcher.search(game, &limits, &Signals::default(), Instant::now(), &mut SilentReport);
    let score = if game.board().turn() == Color::White { outcome.score } else { -outcome.score };
    let bound = Score::from(i16::MAX) - 1;
    Some(ScoredMove { mv: outcome.best?, score: score.clamp(-bound, bound) as i16 })
}

fn play_from(
    searcher: &mut Searcher,
    rules: &Rules,
    start: Board,
    first: ScoredMove,
    random: &mut SplitMix64,
) -> ScoredGame {
    let mut game = Game::new(start);
    let mut keys = vec![start.key()];
    let mut referee = Referee::new(rules, &start);
    let mut plies = Vec::new();
    let mut ply = first;
    let result = loop {
        let played = if rules.random_moves > 0 { perhaps_random(rules, game.board(), ply, random) } else { ply };
        plies.push(played);
        game.play(played.mv);
        keys.push(game.board().key());
        if let Some(result) = end_by_rules(game.board(), &keys).or_else(|| referee.judge(played)) {
            break result;
        }
        match think(searcher, &game, rules.effort) {
            Some(next) => ply = next,
            None => break GameResult::Draw,
        }
    };
    ScoredGame { start, start_score: 0, result, plies }
}

/// Returns the ply, or a random one without a score in its place.
fn perhaps_random(rules: &Rules, board: &Board, ply: ScoredMove, random: &mut SplitMix64) -> ScoredMove {
    if random.below(100) >= rules.random_moves as usize {
        return ply;
    }
    random_move(board, random).map_or(ply, |mv| ScoredMove { mv, score: NO_SCORE })
}

/// Returns the result by mate, stalemate, insufficient material, 100 plies, or the third occurrence
/// of a position.
fn end_by_rules(board: &Board, keys: &[u64]) -> Option<GameResult> {
    if board.count_legal_moves() == 0 {
        return Some(if board.in_check() { GameResult::win(!board.turn()) } else { GameResult::Draw });
    }
    let reversible = usize::from(board.halfmove_clock());
    let times = keys.iter().rev().take(reversible + 1).filter(|&&key| key == board.key()).count();
    (reversible >= 100 || times >= 3 || board.is_insufficient_material()).then_some(GameResult::Draw)
}

/// Adjudicator that counts the plies for which a score has lasted.
struct Referee<'a> {
    rules: &'a Rules,
    /// Plies from the start of the game.
    ply: usize,
    /// Plies since its opening.
    played: usize,
    white_wins: usize,
    black_wins: usize,
    level: usize,
}

impl Referee<'_> {
    fn new<'a>(rules: &'a Rules, start: &Board) -> Referee<'a> {
        Referee { rules, ply: ply_of(start), played: 0, white_wins: 0, black_wins: 0, level: 0 }
    }

    fn judge(&mut self, last: ScoredMove) -> Option<GameResult> {
        self.ply += 1;
        self.played += 1;
        // The score of the position before a random move does not tell what that move left.
        let by_score = if last.score == NO_SCORE { None } else { self.judge_score(Score::from(last.score)) };
        by_score.or_else(|| (self.played >= self.rules.max_plies).then_some(GameResult::Draw))
    }

    fn judge_score(&mut self, score: Score) -> Option<GameResult> {
        if let Some(win) = self.rules.win {
            self.white_wins = if score >= win.score { self.white_wins + 1 } else { 0 };
            self.black_wins = if score <= -win.score { self.black_wins + 1 } else { 0 };
            if self.white_wins >= win.plies {
                return Some(GameResult::WhiteWins);
            }
            if self.black_wins >= win.plies {
                return Some(GameResult::BlackWins);
            }
        }
        if let Some(draw) = self.rules.draw {
            self.level = if score.abs() <= draw.score && self.ply > self.rules.draw_after { self.level + 1 } else { 0 };
            if self.level >= draw.plies {
                return Some(GameResult::Draw);
            }
        }
        None
    }
}

/// Returns the plies from the start of the game, by the position's move number.
fn ply_of(board: &Board) -> usize {
    2 * (usize::from(board.fullmove_number()) - 1) + usize::from(board.turn() == Color::Black)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Move;

    fn rules() -> Rules {
        Rules {
            effort: Effort::Depth(2),
            opening_limit: None,
            win: Some(Adjudication { score: 2500, plies: 4 }),
            draw: Some(Adjudication { score: 4, plies: 12 }),
            draw_after: 80,
            max_plies: 400,
            random_moves: 0,
        }
    }

    /// Returns the ply after which the adjudicator ends a game of these scores, and the result.
    fn judge(rules: &Rules, scores: &[i16]) -> Option<(usize, GameResult)> {
        let mut referee = Referee::new(rules, &Board::startpos());
        (1..).zip(scores).find_map(|(ply, &score)| Some((ply, referee.judge(ScoredMove { mv: Move::NULL, score })?)))
    }

    #[test]
    fn lasting_scores_end_a_game() {
        let on = rules();
        let off = Rules { win: None, draw: None, max_plies: 500, ..rules() };
        let level: Vec<i16> = [[4, -4]; 60].concat();
        for (rules, scores, expected) in [
            (&on, vec![2500; 4], Some((4, GameResult::WhiteWins))),
            (&on, vec![-2500; 6], Some((4, GameResult::BlackWins))),
            (&on, vec![2500, 2500, 2500, 2499, 2500, 2500, 2500], None),
            // A random move neither counts nor interrupts.
            (&on, vec![2500, 2500, 2500, NO_SCORE, NO_SCORE, 2500], Some((6, GameResult::WhiteWins))),
            (&on, vec![2500, -2500, 2500, -2500, 2500], None),
            (&on, level.clone(), Some((92, GameResult::Draw))),
            (&on, vec![50; 500], Some((400, GameResult::Draw))),
            (&off, vec![30_000; 499], None),
            (&off, level, None),
        ] {
            assert_eq!(judge(rules, &scores), expected, "{scores:?}");
        }
    }

    #[test]
    fn the_rules_end_a_game() {
        for (fen, expected) in [
            ("R6k/6pp/8/8/8/8/8/K7 b - - 0 1", Some(GameResult::WhiteWins)),
            ("k7/8/8/8/8/8/5PPP/r6K w - - 0 1", Some(GameResult::BlackWins)),
            ("7k/5Q2/8/8/8/8/8/K7 b - - 0 1", Some(GameResult::Draw)),
            ("7k/8/8/8/8/8/8/KB6 b - - 0 1", Some(GameResult::Draw)),
            ("7k/8/8/8/8/8/8/KR6 b - - 100 90", Some(GameResult::Draw)),
            ("7k/8/8/8/8/8/8/KR6 b - - 99 90", None),
        ] {
            let board = Board::from_fen(fen).unwrap();
            assert_eq!(end_by_rules(&board, &[board.key()]), expected, "{fen}");
        }
        let board = Board::from_fen("7k/8/8/8/8/8/8/KR6 b - - 8 90").unwrap();
        let key = board.key();
        assert_eq!(end_by_rules(&board, &[key, 1, 2, 3, key, 4, 5, 6, key]), Some(GameResult::Draw));
        assert_eq!(end_by_rules(&board, &[key, 0, 1, 2, 3, 4, 5, 6, 7, key]), None);
    }
}
