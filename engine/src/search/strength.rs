//! Limited strength (`UCI_LimitStrength`, `UCI_Elo`).
//!
//! A limited player differs from the full one in two ways:
//!
//! 1. Its nodes per move are limited, from those of `WEAKEST` to those of `STRONGEST`. The
//!    clock may end its search earlier.
//! 2. It overlooks moves. Each of its own moves at the root is hidden with the chance
//!    `overlook_rate`, which grows as the nodes get fewer. A weak player looks less far and
//!    also misses moves.
//!
//! The hidden moves are a pure function of position and seed, and nothing is carried over from
//! earlier searches (see [`limited_searcher`]). Unless the clock ends a search, the same position,
//! history and seed give the same move. Another seed gives another player of the same strength.

use super::evaluator::{EvalConfig, EvalMode};
use super::game::Game;
use super::limits::Limits;
use super::searcher::Searcher;
use crate::memory::MemoryError;
use crate::types::{Move, MoveList, SplitMix64};
use std::ops::RangeInclusive;

/// Range of Elo ratings that can be set.
pub const ELO: RangeInclusive<u32> = WEAKEST.0..=STRONGEST.0;

/// Ends of the scale: Elo and nodes per move. Between them the logarithm of the nodes grows
/// linearly with Elo.
///
/// The scale was fitted to 1,250 games (`results/2026-11-26-uci-elo`). Five levels from 64 to 1,024
/// nodes were rated with seven players of Fairy-Stockfish 11.1, whose own `UCI_Elo` of 1350 to 2250
/// were held fixed. That scale is CCRL's, with Goldfish 1.13 at 2000. A line of 180 Elo per
/// doubling fits all five within 55 Elo; their errors are 41 to 74 Elo (95 %). The anchors add an
/// error of their own, the larger the stronger they are: with all but 1650 freed, 1350 came out as
/// it claims, and 1950 some 310 +- 100 Elo higher.
const WEAKEST: (u32, u64) = (1300, 55);
const STRONGEST: (u32, u64) = (2000, 800);

/// Nodes per move from which no move is overlooked.
const ALL_SEEN_NODES: u64 = 1024;
/// Share of the moves overlooked per halving of the nodes below that.
const OVERLOOKED_PER_HALVING: f64 = 0.1;

/// Hash size of a limited player in MiB. It suits the few nodes, and the table is cleared before
/// each move.
const HASH_MIB: usize = 1;

/// Creates the searcher of limited play: one thread, a small hash, the classical evaluation and no
/// tablebases, whatever the options say.
///
/// The Elo of a level then does not depend on the full player's settings. All state must be cleared
/// before each search.
///
/// # Errors
/// Returns an error if the memory of the table cannot be allocated.
pub fn limited_searcher() -> Result<Searcher, MemoryError> {
    let mut searcher = Searcher::new(HASH_MIB)?;
    searcher.set_evaluation(&EvalConfig { mode: EvalMode::Classical, network: None });
    Ok(searcher)
}

/// Restricts the limits to those of a player of this Elo in a position.
///
/// Other limits still apply, and fewer nodes than the level's make the player weaker.
pub fn limit(game: &Game, elo: u32, seed: u64, limits: &mut Limits) {
    let nodes = nodes_of(elo).min(limits.nodes.unwrap_or(u64::MAX));
    limits.nodes = Some(nodes);
    limits.search_moves = seen_moves(game, &limits.search_moves, overlook_rate(nodes), seed);
}

/// Returns the nodes per move of a player of this Elo.
fn nodes_of(elo: u32) -> u64 {
    let elo = elo.clamp(*ELO.start(), *ELO.end());
    let ((low, few), (high, many)) = (WEAKEST, STRONGEST);
    let part = f64::from(elo - low) / f64::from(high - low);
    (few as f64 * (many as f64 / few as f64).powf(part)).round() as u64
}

/// Returns the chance that a root move is overlooked, 0 to 1.
fn overlook_rate(nodes: u64) -> f64 {
    let halvings = (ALL_SEEN_NODES as f64 / nodes.max(1) as f64).log2();
    OVERLOOKED_PER_HALVING * halvings.max(0.0)
}

/// Returns the moves that are not overlooked, out of `wanted` or else of all legal moves. At least
/// one is kept, if there is one.
fn seen_moves(game: &Game, wanted: &[Move], rate: f64, seed: u64) -> Vec<Move> {
    let board = game.board();
    let mut legal = MoveList::new();
    board.legal_moves(&mut legal);
    let all = if wanted.is_empty() { &legal[..] } else { wanted };
    // The halfmove clock is part of the seed, so a position that occurs again may have other moves
    // hidden.
    let base = hash(hash(board.key() ^ seed) ^ u64::from(board.halfmove_clock()));
    let draw = |mv: Move| hash(base ^ u64::from(mv.raw()));
    let seen: Vec<Move> = all.iter().copied().filter(|&mv| draw(mv) as f64 / u64::MAX as f64 >= rate).collect();
    if seen.is_empty() { all.iter().copied().max_by_key(|&mv| draw(mv)).into_iter().collect() } else { seen }
}

/// Hashes a number to the first output of its random sequence.
fn hash(value: u64) -> u64 {
    SplitMix64::new(value).next_u64()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Board;

    #[test]
    fn more_elo_more_nodes() {
        for (elo, nodes) in [WEAKEST, STRONGEST, (1650, 210)] {
            assert_eq!(nodes_of(elo), nodes, "{elo}");
        }
        assert!((*ELO.start()..*ELO.end()).step_by(25).all(|elo| nodes_of(elo) < nodes_of(elo + 25)));
        assert_eq!((nodes_of(0), nodes_of(u32::MAX)), (WEAKEST.1, STRONGEST.1));
    }

    #[test]
    fn fewer_nodes_overlook_more() {
        for (nodes, rate) in [(1, 1.0), (32, 0.5), (512, 0.1), (1024, 0.0), (1_000_000, 0.0)] {
            assert!((overlook_rate(nodes) - rate).abs() < 1e-12, "{nodes}");
        }
    }

    #[test]
    fn what_is_seen_hangs_on_position_and_seed_alone() {
        let game = Game::new(Board::startpos());
        let seen = |rate, seed| seen_moves(&game, &[], rate, seed);
        assert_eq!(seen(0.0, 1).len(), 20);
        assert_eq!(seen(2.0, 1).len(), 1);
        assert_eq!(seen(0.5, 1), seen(0.5, 1));
        let lists: Vec<_> = (0..200).map(|seed| seen(0.5, seed)).collect();
        assert!(lists.iter().any(|list| *list != lists[0]));
        let share = lists.iter().map(Vec::len).sum::<usize>() as f64 / (20 * lists.len()) as f64;
        assert!((share - 0.5).abs() < 0.05, "{share}");
    }

    #[test]
    fn what_is_asked_for_stays_asked_for() {
        let game = Game::new(Board::startpos());
        let wanted: Vec<Move> = ["e2e4", "d2d4"].iter().filter_map(|word| game.board().parse_uci(word)).collect();
        for seed in 0..50 {
            let mut limits =
                Limits { nodes: Some(16), depth: Some(9), search_moves: wanted.clone(), ..Limits::default() };
            limit(&game, *ELO.end(), seed, &mut limits);
            assert_eq!((limits.nodes, limits.depth), (Some(16), Some(9)));
            assert!(!limits.search_moves.is_empty() && limits.search_moves.iter().all(|mv| wanted.contains(mv)));
        }
        let mut limits = Limits::default();
        limit(&game, *ELO.end(), 0, &mut limits);
        assert_eq!((limits.nodes, limits.search_moves.len()), (Some(nodes_of(*ELO.end())), 20));
    }
}
