//! ECO codes and names of openings, from a table in the public domain (`eco/README.md` names its
//! source).
//!
//! A game has the name of its last named position, whatever the order of moves. So transpositions
//! are found, and the longest line wins.

use std::collections::HashMap;

use crate::chess::{Position, START_FEN, Variant};
use crate::record::GameRecord;

/// Table of code, name and moves, a line each, below a heading.
const TABLE: &str = include_str!("eco/openings.tsv");

/// ECO code and name of an opening.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpeningName {
    /// Code from `A00` to `E99`, from the "Encyclopaedia of Chess Openings".
    pub eco: &'static str,
    /// Name, such as `Sicilian Defense: Najdorf Variation`.
    pub name: &'static str,
}

/// Names of positions.
#[derive(Debug)]
pub struct OpeningNames {
    /// Names by [`Position::key`].
    names: HashMap<u64, OpeningName>,
}

impl OpeningNames {
    /// Loads the table inside the program. To play its lines takes some ten milliseconds, so do it
    /// once.
    #[must_use]
    pub fn builtin() -> Self {
        let mut names = HashMap::with_capacity(4096);
        for line in TABLE.lines().skip(1) {
            let mut columns = line.split('\t');
            if let (Some(eco), Some(name), Some(moves)) = (columns.next(), columns.next(), columns.next())
                && let Some(key) = play(moves)
            {
                names.entry(key).or_insert(OpeningName { eco, name });
            }
        }
        Self { names }
    }

    /// Name of a game's opening; `None` in Chess960 and for a record that cannot be replayed.
    #[must_use]
    pub fn of(&self, game: &GameRecord, variant: Variant) -> Option<OpeningName> {
        self.of_beginning(game, variant, usize::MAX)
    }

    /// Like [`Self::of`], by the first `plies` moves of the game, book included.
    #[must_use]
    pub fn of_beginning(&self, game: &GameRecord, variant: Variant, plies: usize) -> Option<OpeningName> {
        if variant != Variant::Standard {
            return None;
        }
        let mut position = Position::from_fen(&game.opening.fen, variant).ok()?;
        let mut found = self.names.get(&position.key());
        let moves = game.opening.moves.iter().chain(game.moves.iter().map(|played| &played.uci));
        for uci in moves.take(plies) {
            position.advance_by(uci).ok()?;
            found = self.names.get(&position.key()).or(found);
        }
        found.copied()
    }
}

/// Key of the position after moves such as `1. e4 e5 2. Nf3`.
fn play(moves: &str) -> Option<u64> {
    let mut position = Position::from_fen(START_FEN, Variant::Standard).ok()?;
    for san in moves.split_ascii_whitespace().filter(|word| !word.ends_with('.')) {
        position.play_san(san).ok()?;
    }
    Some(position.key())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::record::{ByColor, Ending, GameId, Opening, Outcome, PlayerId, Termination};

    #[test]
    fn every_line_of_the_table_names_a_position_of_its_own() {
        let lines = TABLE.lines().count() - 1;
        assert!(lines > 3000, "{lines}");
        assert_eq!(OpeningNames::builtin().names.len(), lines);
        for line in TABLE.lines().skip(1) {
            let columns: Vec<_> = line.split('\t').collect();
            let [eco, name, moves] = columns[..] else { panic!("{line}") };
            assert!(matches!(eco.as_bytes(), [b'A'..=b'E', b'0'..=b'9', b'0'..=b'9']), "{line}");
            assert!(!name.trim().is_empty() && play(moves).is_some(), "{line}");
        }
    }

    #[test]
    fn games_are_named_by_the_last_position_that_has_a_name() {
        let openings = OpeningNames::builtin();
        let named = |fen: &str, moves: &str, variant| {
            let moves = moves.split_whitespace().map(str::to_owned).collect();
            let game = GameRecord {
                id: GameId::from_number(1).unwrap(),
                players: ByColor { white: PlayerId::NEW, black: PlayerId::BASE },
                engines: ByColor::default(),
                opening: Opening { index: 0, fen: fen.to_owned(), moves },
                moves: Vec::new(),
                ending: Ending {
                    outcome: Outcome::Draw,
                    termination: Termination::DrawAdjudication,
                    detail: String::new(),
                },
                started: Duration::ZERO,
                took: Duration::ZERO,
                overstep: None,
                is_void: false,
                values: None,
                worker: None,
                scale: None,
            };
            openings.of(&game, variant).map(|found| format!("{} {}", found.eco, found.name))
        };
        let najdorf = Some("B90 Sicilian Defense: Najdorf Variation");
        let line = "e2e4 c7c5 g1f3 d7d6 d2d4 c5d4 f3d4 g8f6 b1c3 a7a6";
        let standard = Variant::Standard;
        for (fen, moves, expected) in [
            (START_FEN, "", None),
            (START_FEN, "e2e4", Some("B00 King's Pawn Game")),
            (START_FEN, line, najdorf),
            // Another order of moves, followed by moves without a name.
            (START_FEN, "g1f3 c7c5 e2e4 d7d6 d2d4 c5d4 f3d4 g8f6 b1c3 a7a6", najdorf),
            (
                START_FEN,
                &format!("{line} h2h3 b8c6 d4c6 b7c6 a2a3 h7h6"),
                Some("B90 Sicilian Defense: Najdorf Variation, Adams Attack"),
            ),
            // A book of positions: the start position has the name.
            ("rnbqkb1r/1p2pppp/p2p1n2/8/3NP3/2N5/PPP2PPP/R1BQKB1R w KQkq - 0 6", "", najdorf),
            ("4k3/8/8/8/8/8/8/4K3 w - - 0 1", "e1e2", None),
            (START_FEN, "e2e5", None),
            ("junk", "", None),
        ] {
            assert_eq!(named(fen, moves, standard).as_deref(), expected, "{fen} {moves}");
        }
        assert_eq!(named(START_FEN, line, Variant::Chess960), None);
    }
}
