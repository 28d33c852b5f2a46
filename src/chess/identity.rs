//! Identity of openings and games: keys that detect repeated ones.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use super::{Position, Variant};
use crate::record::{GameRecord, Opening};

/// Hash of the position that an opening leads to, without its move counters: the same for
/// transpositions and for FENs that differ in counters only. An opening that the rules do not allow
/// is known by its text.
#[must_use]
pub fn opening_key(opening: &Opening, variant: Variant) -> u64 {
    let reached = || {
        let mut position = Position::from_fen(&opening.fen, variant).ok()?;
        opening.moves.iter().try_for_each(|uci| position.advance_by(uci)).ok()?;
        Some(position.key())
    };
    reached().unwrap_or_else(|| {
        let mut hasher = DefaultHasher::new();
        (&opening.fen, &opening.moves).hash(&mut hasher);
        hasher.finish()
    })
}

/// Hash of players, opening (by its [`opening_key`]) and moves: games of one hash repeat each other
/// move for move. The same within a process; not to be stored.
#[must_use]
pub fn game_key(game: &GameRecord, opening: u64) -> u64 {
    let mut hasher = DefaultHasher::new();
    (game.players.white, game.players.black, opening).hash(&mut hasher);
    game.moves.iter().for_each(|played| played.uci.hash(&mut hasher));
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::super::START_FEN;
    use super::*;

    fn key(fen: &str, moves: &[&str]) -> u64 {
        let moves = moves.iter().map(|&uci| uci.to_owned()).collect();
        opening_key(&Opening { index: 0, fen: fen.to_owned(), moves }, Variant::Standard)
    }

    #[test]
    fn an_opening_is_known_by_the_position_it_leads_to() {
        let start = key(START_FEN, &[]);
        assert_eq!(start, key(&START_FEN.replace("0 1", "3 9"), &[]));
        assert_eq!(start, key(START_FEN, &["g1f3", "g8f6", "f3g1", "f6g8"]));
        let transposed = [["d2d4", "d7d5", "c2c4"], ["c2c4", "d7d5", "d2d4"]];
        assert_eq!(key(START_FEN, &transposed[0]), key(START_FEN, &transposed[1]));
        for other in [key(START_FEN, &["e2e4"]), key(&START_FEN.replace("KQkq", "KQ"), &[])] {
            assert_ne!(start, other);
        }
    }

    #[test]
    fn an_opening_against_the_rules_is_known_by_its_text() {
        assert_eq!(key("nonsense", &[]), key("nonsense", &[]));
        assert_ne!(key("nonsense", &[]), key("other", &[]));
        assert_ne!(key(START_FEN, &["e2e5"]), key(START_FEN, &[]));
    }
}
