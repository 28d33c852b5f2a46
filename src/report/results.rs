//! Points of players against each other, gathered from games: what ratings are made of.

use std::collections::HashMap;

use crate::record::{Color, Outcome, PairScore};
use crate::stats::rating::{Encounter, Meeting, Score};

/// Players by name, and their games by who met whom.
#[derive(Clone, Debug, Default)]
pub struct Results {
    /// Name, and the limit of a player whose opponents have another.
    players: Vec<(Vec<u8>, String)>,
    index: HashMap<(Vec<u8>, String), usize>,
    encounters: HashMap<(usize, usize), Encounter>,
    /// Meetings whose opening is known, with its hash.
    openings: Vec<(u64, Meeting)>,
}

/// A game from the view of the player with the lower number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Half {
    pub(super) color: Color,
    pub(super) half_points: u8,
    /// Hash of the opening, if it is known.
    pub(super) opening: Option<u64>,
}

impl Results {
    /// The players' names in the order in which they came, as text: what is not UTF-8 is replaced. A player with several
    /// limits is several players, and has the limit after the name.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let mut known: HashMap<&[u8], usize> = HashMap::new();
        for (name, _) in &self.players {
            *known.entry(name).or_default() += 1;
        }
        let shown = |(name, limit): &(Vec<u8>, String)| {
            let text = String::from_utf8_lossy(name).into_owned();
            if known.get(name.as_slice()) > Some(&1) { format!("{text} @ {limit}") } else { text }
        };
        self.players.iter().map(shown).collect()
    }

    /// All encounters, in no particular order, players by their place in [`Self::names`].
    #[must_use]
    pub fn encounters(&self) -> Vec<Encounter> {
        self.encounters.values().cloned().collect()
    }

    /// The meetings of each opening that more than one has.
    #[must_use]
    pub fn shared_openings(&self) -> Vec<Vec<Meeting>> {
        let mut openings = self.openings.clone();
        openings.sort_by_key(|(opening, meeting)| (*opening, meeting.a, meeting.b));
        openings
            .chunk_by(|one, other| one.0 == other.0)
            .filter(|meetings| meetings.len() > 1)
            .map(|meetings| meetings.iter().map(|(_, meeting)| *meeting).collect())
            .collect()
    }

    /// Games counted.
    #[must_use]
    pub fn games(&self) -> u64 {
        self.encounters.values().map(Encounter::games).fold(0, u64::saturating_add)
    }

    /// The number of a player, new or known. `limit` is empty if all players have the same.
    pub fn player(&mut self, name: &[u8], limit: &str) -> usize {
        let key = (name.to_owned(), limit.to_owned());
        if let Some(number) = self.index.get(&key) {
            return *number;
        }
        self.players.push(key.clone());
        self.index.insert(key, self.players.len() - 1);
        self.players.len() - 1
    }

    fn encounter(&mut self, (a, b): (usize, usize)) -> &mut Encounter {
        self.encounters.entry((a, b)).or_insert_with(|| Encounter::new(a, b))
    }

    pub(super) fn single(&mut self, players: (usize, usize), half: Half) {
        self.encounter(players).add_game(half.color, half.half_points);
        self.meet(players, half.opening, Score::Game(half.color, half.half_points));
    }

    pub(super) fn pair(&mut self, players: (usize, usize), one: Half, other: Half) {
        let (white, black) = if one.color == Color::White { (one, other) } else { (other, one) };
        let score = PairScore { first: white.half_points, second: black.half_points };
        self.encounter(players).add_pair(score);
        // Book moves of one game only: then it is the other that is not marked.
        self.meet(players, one.opening.or(other.opening), Score::Pair(score));
    }

    fn meet(&mut self, (a, b): (usize, usize), opening: Option<u64>, score: Score) {
        // More players than fit can't be rated either.
        if let (Some(opening), Ok(a), Ok(b)) = (opening, u32::try_from(a), u32::try_from(b)) {
            self.openings.push((opening, Meeting { a, b, score }));
        }
    }
}

/// A game from the view of the player with the lower number, that number first.
pub(super) const fn half(white: usize, black: usize, outcome: Outcome, opening: Option<u64>) -> (usize, usize, Half) {
    let color = if white < black { Color::White } else { Color::Black };
    let half = Half { color, half_points: outcome.half_points(color), opening };
    if white < black { (white, black, half) } else { (black, white, half) }
}
