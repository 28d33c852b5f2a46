//! Who made how many points against whom, gathered from PGN files and journals: what ratings are made of.

use std::collections::hash_map::{DefaultHasher, Entry};
use std::collections::{BTreeMap, HashMap};
use std::hash::{Hash as _, Hasher as _};
use std::io::Read;

use crate::record::{Color, GameRecord, Outcome, PairId, PairScore, PlayerId};
use crate::report::pgn_tags::{self, GameTags};
use crate::stats::rating::Encounter;

/// Players by name, and their games by who met whom.
#[derive(Clone, Debug, Default)]
pub struct Results {
    names: Vec<Vec<u8>>,
    index: HashMap<Vec<u8>, usize>,
    encounters: HashMap<(usize, usize), Encounter>,
    skipped: Skipped,
}

/// Games that say nothing of who is stronger, and what could not be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    /// Without a result, `*` or no tag.
    pub unfinished: u64,
    /// Without a name on either side.
    pub nameless: u64,
    /// Of a player with themselves.
    pub with_itself: u64,
    /// Tag lines that are too long.
    pub overlong: u64,
    /// Games of runs whose pair is not whole, or void.
    pub unpaired: u64,
}

impl Skipped {
    /// All games that were left out.
    #[must_use]
    pub const fn games(&self) -> u64 {
        self.unfinished + self.nameless + self.with_itself + self.unpaired
    }
}

/// A game waiting for the other one of its pair, from the view of the player with the lower number.
#[derive(Clone, Copy, Debug)]
struct Half {
    color: Color,
    half_points: u8,
}

/// What the two games of a pair have in common: the players (the lower number first), and a hash of round, event and opening.
type PairKey = (usize, usize, u64);

impl Results {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The players' names in the order in which they came, as text: what is not UTF-8 is replaced.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.names.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect()
    }

    /// All encounters, in no particular order, players by their place in [`Self::names`].
    #[must_use]
    pub fn encounters(&self) -> Vec<Encounter> {
        self.encounters.values().cloned().collect()
    }

    /// What was left out.
    #[must_use]
    pub const fn skipped(&self) -> Skipped {
        self.skipped
    }

    /// Adds the games of a PGN text.
    ///
    /// Two games are a pair where the same two players have reversed colours, one opening (FEN tag), event and round (`12`, or
    /// `12.1` and `12.2`); where the file numbers no rounds, only if they follow one another and have a FEN tag. Everything
    /// else is a single game.
    ///
    /// # Errors
    /// Those of `source`.
    pub fn add_pgn(&mut self, source: impl Read) -> std::io::Result<()> {
        let mut waiting: HashMap<PairKey, Half> = HashMap::new();
        // The key of the last game, where it can only pair with its neighbour.
        let mut neighbour: Option<PairKey> = None;
        let read = pgn_tags::read(source, |game| {
            let before = neighbour.take();
            let Some((a, b, half)) = self.half(game) else { return };
            let numbered = !matches!(game.round.trim_ascii(), b"" | b"?" | b"-");
            let key = (a, b, opening_of(game, numbered));
            if let Some(before) = before.filter(|before| *before != key)
                && let Some(half) = waiting.remove(&before)
            {
                self.single((before.0, before.1), half);
            }
            if !numbered && game.fen.is_empty() {
                return self.single((a, b), half);
            }
            match waiting.entry(key) {
                Entry::Occupied(first) if first.get().color != half.color => {
                    let first = first.remove();
                    self.pair((a, b), first, half);
                }
                Entry::Occupied(mut first) => {
                    let first = first.insert(half);
                    self.single((a, b), first);
                    neighbour = (!numbered).then_some(key);
                }
                Entry::Vacant(place) => {
                    place.insert(half);
                    neighbour = (!numbered).then_some(key);
                }
            }
        })?;
        self.skipped.overlong += read.overlong;
        for ((a, b, _), half) in waiting {
            self.single((a, b), half);
        }
        Ok(())
    }

    /// The players of a game and how it went; `None` where it is to be skipped.
    fn half(&mut self, game: &GameTags) -> Option<(usize, usize, Half)> {
        let count = match game {
            _ if game.white.is_empty() || game.black.is_empty() => &mut self.skipped.nameless,
            _ if game.white == game.black => &mut self.skipped.with_itself,
            GameTags { outcome: None, .. } => &mut self.skipped.unfinished,
            GameTags { outcome: Some(outcome), .. } => {
                let (white, black) = (self.player(&game.white), self.player(&game.black));
                return Some(half(white, black, *outcome));
            }
        };
        *count += 1;
        None
    }

    /// The number of a player, new or known.
    pub fn player(&mut self, name: &[u8]) -> usize {
        if let Some(number) = self.index.get(name) {
            return *number;
        }
        self.names.push(name.to_owned());
        self.index.insert(name.to_owned(), self.names.len() - 1);
        self.names.len() - 1
    }

    fn encounter(&mut self, (a, b): (usize, usize)) -> &mut Encounter {
        self.encounters.entry((a, b)).or_insert_with(|| Encounter::new(a, b))
    }

    fn single(&mut self, players: (usize, usize), half: Half) {
        self.encounter(players).add_game(half.color, half.half_points);
    }

    fn pair(&mut self, players: (usize, usize), one: Half, other: Half) {
        let (white, black) = if one.color == Color::White { (one, other) } else { (other, one) };
        self.encounter(players).add_pair(PairScore { first: white.half_points, second: black.half_points });
    }
}

/// Who had White, who Black, and how it ended.
type Played = (PlayerId, PlayerId, Outcome);

/// The games of one run, to be added to [`Results`] when all are told.
#[derive(Debug, Default)]
pub struct RunGames {
    /// By pair, the games that count; a pair that is void begins anew.
    pairs: BTreeMap<PairId, [Option<Played>; 2]>,
    void: u64,
}

impl RunGames {
    /// Takes a game of the journal; one told twice is taken once.
    pub fn tell(&mut self, game: &GameRecord) {
        let pair = self.pairs.entry(game.id.pair).or_default();
        if game.is_void {
            self.void += 1 + pair.iter().flatten().count() as u64;
            *pair = [None; 2];
            return;
        }
        pair[game.id.leg.index()].get_or_insert((game.players.white, game.players.black, game.ending.outcome));
    }

    /// Adds every whole pair; `names` are the plan's players in its order.
    pub fn add_to(self, results: &mut Results, names: &[&str]) {
        results.skipped.unpaired += self.void;
        let numbers: Vec<usize> = names.iter().map(|name| results.player(name.as_bytes())).collect();
        let number = |player: PlayerId| numbers.get(usize::from(player.0)).copied();
        for pair in self.pairs.into_values() {
            let halves = pair.map(|game| {
                let (white, black, outcome) = game?;
                Some(half(number(white)?, number(black)?, outcome))
            });
            match halves {
                [Some((a, b, one)), Some((c, d, other))] if (a, b) == (c, d) && one.color != other.color && a != b => {
                    results.pair((a, b), one, other);
                }
                _ => results.skipped.unpaired += pair.iter().flatten().count() as u64,
            }
        }
    }
}

/// A game from the view of the player with the lower number.
const fn half(white: usize, black: usize, outcome: Outcome) -> (usize, usize, Half) {
    let color = if white < black { Color::White } else { Color::Black };
    let half = Half { color, half_points: outcome.half_points(color) };
    if white < black { (white, black, half) } else { (black, white, half) }
}

/// A hash of what the games of a pair share beside their players. Two openings in 2^64 that are taken for one would move an
/// error, and no rating.
fn opening_of(game: &GameTags, numbered: bool) -> u64 {
    let mut hasher = DefaultHasher::new();
    game.fen.hash(&mut hasher);
    game.event.hash(&mut hasher);
    if numbered {
        let round = game.round.trim_ascii();
        let pair = round.strip_suffix(b".1").or_else(|| round.strip_suffix(b".2")).unwrap_or(round);
        pair.hash(&mut hasher);
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Games as `White Black result round fen`, `_` for nothing; expected: pairs and single games of the first player.
    fn check(games: &[&str], legs: &[(usize, usize)], white: [u64; 3], black: [u64; 3]) {
        let mut text = String::new();
        for game in games {
            let words: Vec<&str> = game.split(' ').map(|word| word.trim_matches('_')).collect();
            let [white, black, result, round, fen] = words[..] else { panic!("{game}") };
            for (tag, value) in [("Round", round), ("White", white), ("Black", black), ("Result", result), ("FEN", fen)]
            {
                if !value.is_empty() {
                    text += &format!("[{tag} \"{value}\"]\n");
                }
            }
            text += &format!("\n1. e4 {result}\n\n");
        }
        let mut results = Results::new();
        results.add_pgn(text.as_bytes()).expect("memory can be read");
        let mut expected = Encounter::new(0, 1);
        for (first, second) in legs {
            expected.legs[*first][*second] += 1;
        }
        let [wins, draws, losses] = white;
        expected.white = crate::stats::Trinomial { wins, draws, losses };
        let [wins, draws, losses] = black;
        expected.black = crate::stats::Trinomial { wins, draws, losses };
        assert_eq!(results.encounters(), [expected], "{games:?}");
        assert_eq!(results.names(), ["A", "B"]);
    }

    #[test]
    fn pairs_are_recognised() {
        let none = [0; 3];
        // One round, or a round's two games, also where another pair came between.
        check(&["A B 1-0 1 f", "B A 1/2-1/2 1 f"], &[(2, 1)], none, none);
        check(&["A B 1-0 1.1 _", "B A 1-0 1.2 _"], &[(2, 0)], none, none);
        check(&["A B 1-0 1.1 f", "B A 1-0 2.2 g", "B A 0-1 1.2 f", "A B 0-1 2.1 g"], &[(2, 2), (0, 0)], none, none);
        // Not the same opening, not the same round, not reversed.
        check(&["A B 1-0 1 f", "B A 1/2-1/2 1 g"], &[], [1, 0, 0], [0, 1, 0]);
        check(&["A B 1-0 1 f", "B A 0-1 2 f"], &[], [1, 0, 0], [1, 0, 0]);
        check(&["A B 1-0 1 f", "A B 0-1 1 f"], &[], [1, 0, 1], none);
        // Where rounds are not numbered, neighbours with an opening of their own.
        check(&["A B 1-0 - f", "B A 0-1 - f"], &[(2, 2)], none, none);
        check(&["A B 1-0 ? f", "A B 1-0 ? g", "B A 0-1 ? f"], &[], [2, 0, 0], [1, 0, 0]);
        check(&["A B 1-0 _ _", "B A 0-1 _ _"], &[], [1, 0, 0], [1, 0, 0]);
        check(&["A B 1-0 - f", "A B 0-1 - f", "B A 1-0 - f"], &[(0, 0)], [1, 0, 0], none);
    }

    #[test]
    fn games_without_result_or_names_are_counted_and_left_out() {
        let text = "[White \"A\"]\n[Black \"B\"]\n[Result \"*\"]\n\n*\n\n[White \"A\"]\n[Result \"1-0\"]\n\n1-0\n\n\
                    [White \"A\"]\n[Black \"A\"]\n[Result \"1-0\"]\n\n1-0\n";
        let mut results = Results::new();
        results.add_pgn(text.as_bytes()).expect("memory can be read");
        let skipped = Skipped { unfinished: 1, nameless: 1, with_itself: 1, ..Skipped::default() };
        assert_eq!((results.skipped(), results.skipped().games()), (skipped, 3));
        assert_eq!(results.encounters(), []);
    }
}
