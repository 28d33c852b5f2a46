//! Results of players against each other, from which ratings are computed.

use std::collections::HashMap;

use crate::record::{Color, Outcome, PairScore};
use crate::stats::rating::{EncounterCounts, Meeting, MeetingScore};

/// Players by name, and their games by encounter.
#[derive(Clone, Debug, Default)]
pub struct Results {
    /// Name, and the limit of a player whose opponents have another one.
    players: Vec<(Vec<u8>, String)>,
    index: HashMap<(Vec<u8>, String), usize>,
    encounters: HashMap<(usize, usize), EncounterCounts>,
    /// Meetings with a known opening, by its hash.
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
    /// Names of the players in order of appearance, with invalid UTF-8 replaced. A player with
    /// several limits counts as several players, with the limit after the name.
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

    /// All encounters in no particular order. Players are positions in [`Self::names`].
    #[must_use]
    pub fn encounters(&self) -> Vec<EncounterCounts> {
        self.encounters.values().cloned().collect()
    }

    /// Meetings of each opening that has more than one.
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

    /// Number of counted games.
    #[must_use]
    pub fn games(&self) -> u64 {
        self.encounters.values().map(EncounterCounts::games).fold(0, u64::saturating_add)
    }

    /// Number of a player, who is added if new. `limit` is empty if all players have the same.
    pub fn player(&mut self, name: &[u8], limit: &str) -> usize {
        let key = (name.to_owned(), limit.to_owned());
        if let Some(number) = self.index.get(&key) {
            return *number;
        }
        self.players.push(key.clone());
        self.index.insert(key, self.players.len() - 1);
        self.players.len() - 1
    }

    fn encounter(&mut self, (a, b): (usize, usize)) -> &mut EncounterCounts {
        self.encounters.entry((a, b)).or_insert_with(|| EncounterCounts::new(a, b))
    }

    pub(super) fn single(&mut self, players: (usize, usize), half: Half) {
        self.encounter(players).record_game(half.color, half.half_points);
        self.meet(players, half.opening, MeetingScore::Game(half.color, half.half_points));
    }

    pub(super) fn pair(&mut self, players: (usize, usize), one: Half, other: Half) {
        let (white, black) = if one.color == Color::White { (one, other) } else { (other, one) };
        let score = PairScore { first: white.half_points, second: black.half_points };
        self.encounter(players).record_pair(score);
        // If one game alone has known book moves, only the other lacks their marks.
        self.meet(players, one.opening.or(other.opening), MeetingScore::Pair(score));
    }

    fn meet(&mut self, (a, b): (usize, usize), opening: Option<u64>, score: MeetingScore) {
        // Too many players for `u32` can't be rated anyway.
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
