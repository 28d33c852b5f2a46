//! Games from several sources, PGN files and runs. Each game counts once, and each condition has
//! its own results.

mod condition;

use std::collections::hash_map::{DefaultHasher, Entry};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{Hash as _, Hasher as _};
use std::io::Read;

use crate::chess::Variant;
use crate::plan::Plan;
use crate::plan::time_control::Limit;
use crate::record::{GameRecord, Outcome, PairId, PlayerId};
use crate::report::identity::{self, GameLine};
use crate::report::pgn_tags::{self, GameTags, OpenComment};
use crate::report::results::{Half, Results, half};
use crate::tournament::pairing::Pairing;
use condition::Condition;

/// Games of all sources.
#[derive(Clone, Debug, Default)]
pub struct Collection {
    /// Results by condition; a single entry without a name if conditions are mixed.
    pools: BTreeMap<String, Results>,
    /// Games counted, by condition.
    conditions: BTreeMap<String, u64>,
    /// Games seen so far, by their hash.
    seen: HashMap<u64, Occurrences>,
    /// Hashes, with all tags, of games under a clock in the source being read.
    told: HashSet<u64>,
    skipped: SkippedGames,
    is_mixed: bool,
    /// Number of the source being read.
    source: u32,
}

/// Games that are not evidence of strength, and text that could not be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SkippedGames {
    /// Games without a result: `*` or no tag.
    pub unfinished: u64,
    /// Games without a name on either side.
    pub nameless: u64,
    /// Games of a player against itself.
    pub with_itself: u64,
    /// Tag lines that are too long.
    pub overlong: u64,
    /// Games of runs whose pair is void, not over, or not counted.
    pub unpaired: u64,
    /// Games of an earlier source too: the same players, start, moves and result.
    pub given_again: u64,
    /// Games that repeat one of the same source move for move; under a clock, also with the same
    /// tags.
    pub repeated: u64,
}

impl SkippedGames {
    /// Number of games left out.
    #[must_use]
    pub const fn games(&self) -> u64 {
        self.unfinished + self.nameless + self.with_itself + self.unpaired + self.given_again + self.repeated
    }
}

/// Occurrences of a game.
#[derive(Clone, Copy, Debug)]
struct Occurrences {
    source: u32,
    /// Occurrences in that source.
    here: u32,
    /// Maximum number of occurrences in an earlier source.
    before: u32,
}

/// Common facts of a pair's games: condition, players (the lower number first), and a hash of
/// round, event and opening.
type PairKey = (String, usize, usize, u64);

/// A player of a run.
#[derive(Clone, Copy, Debug)]
pub struct RunPlayer<'a> {
    /// Name in the plan and in the run's PGN.
    pub name: &'a str,
    /// Name in the results.
    pub key: &'a str,
    /// Limit on each search.
    pub limit: Limit,
    /// Network, part of the condition if all players of the run share it; empty without one, or if
    /// the player's name has it.
    pub network: &'a str,
}

impl Collection {
    /// Creates an empty collection. With `is_mixed`, games of all conditions share their results.
    #[must_use]
    pub fn new(is_mixed: bool) -> Self {
        Self { is_mixed, ..Self::default() }
    }

    /// Results by condition, without empty ones; a single entry under the empty name if conditions
    /// are mixed.
    pub fn pools(&self) -> impl Iterator<Item = (&str, &Results)> {
        let pools = self.pools.iter().filter(|(_, results)| results.games() > 0);
        pools.map(|(condition, results)| (condition.as_str(), results))
    }

    /// Number of counted games by condition.
    #[must_use]
    pub const fn conditions(&self) -> &BTreeMap<String, u64> {
        &self.conditions
    }

    /// Games left out so far.
    #[must_use]
    pub const fn skipped(&self) -> SkippedGames {
        self.skipped
    }

    /// Adds the games of a PGN text. Returns the comment in which the rest of it is lost.
    ///
    /// Two games are a pair if the same two players have reversed colours, one opening (FEN tag),
    /// event and round (`12`, or `12.1` and `12.2`). If the file numbers no rounds, the two games
    /// must also follow one another and have a FEN tag. Every other game is a single game.
    ///
    /// # Errors
    /// Returns the errors of `source`.
    pub fn add_pgn(&mut self, source: impl Read) -> std::io::Result<Option<OpenComment>> {
        self.begin_source();
        let mut waiting: HashMap<PairKey, Half> = HashMap::new();
        // Key of the last game, if it can only pair with its neighbour.
        let mut neighbour: Option<PairKey> = None;
        let read = pgn_tags::read(source, |game| {
            let before = neighbour.take();
            let Some(outcome) = self.outcome(game) else { return };
            let condition = Condition::of_tags(game);
            if !self.is_new(game, outcome, condition.is_timed) {
                neighbour = before;
                return;
            }
            *self.conditions.entry(condition.name.clone()).or_default() += 1;
            let pool = if self.is_mixed { String::new() } else { condition.name.clone() };
            let results = self.pools.entry(pool.clone()).or_default();
            let limits = if self.is_mixed { ["", ""] } else { condition.limits() };
            let (white, black) = (results.player(&game.white, limits[0]), results.player(&game.black, limits[1]));
            let (a, b, half) = half(white, black, outcome, game.opening);
            let numbered = !matches!(game.round.trim_ascii(), b"" | b"?" | b"-");
            let key = (pool, a, b, opening_of(game, numbered));
            if let Some(before) = before.filter(|before| *before != key)
                && let Some(half) = waiting.remove(&before)
            {
                self.single(&before, half);
            }
            if !numbered && game.fen.is_empty() {
                return self.single(&key, half);
            }
            match waiting.entry(key.clone()) {
                Entry::Occupied(first) if first.get().color != half.color => {
                    let first = first.remove();
                    self.pools.entry(key.0).or_default().pair((a, b), first, half);
                }
                Entry::Occupied(mut first) => {
                    let first = first.insert(half);
                    self.single(&key, first);
                    neighbour = (!numbered).then_some(key);
                }
                Entry::Vacant(place) => {
                    place.insert(half);
                    neighbour = (!numbered).then_some(key);
                }
            }
        })?;
        self.skipped.overlong += read.overlong;
        for (key, half) in waiting {
            self.single(&key, half);
        }
        Ok(read.open_comment)
    }

    /// Adds the counted pairs of a run: two games with equal colours, and the only game of a pair
    /// that has no other, by themselves. `players` are the plan's, in its order.
    pub fn add_run(&mut self, games: RunGames, players: &[RunPlayer<'_>]) {
        self.begin_source();
        self.skipped.unpaired += games.void;
        let condition = Condition::of_run(players, games.variant);
        let pool = if self.is_mixed { String::new() } else { condition.name.clone() };
        let results = self.pools.entry(pool.clone()).or_default();
        let number = |player: &RunPlayer<'_>| {
            let limit = player.limit.to_string();
            results.player(player.key.as_bytes(), if self.is_mixed || !condition.has_odds { "" } else { &limit })
        };
        let numbers: Vec<usize> = players.iter().map(number).collect();
        for (id, pair) in games.pairs {
            if id >= games.next {
                self.skipped.unpaired += pair.iter().flatten().count() as u64;
                continue;
            }
            let is_half = games.halves_from.is_some_and(|from| id >= from);
            let halves = pair.map(|game| {
                let game = game?;
                let [white, black] = [game.white, game.black].map(|player| usize::from(player.0));
                let half = half(*numbers.get(white)?, *numbers.get(black)?, game.outcome, game.opening);
                let (white, black) = (players.get(white)?, players.get(black)?);
                let known_as = |white: &str, black: &str| {
                    identity::game(white.as_bytes(), black.as_bytes(), game.outcome, game.moves)
                };
                Some((half, [known_as(white.key, black.key), known_as(white.name, black.name)]))
            });
            match halves {
                [Some(((a, b, one), first)), Some(((c, d, other), second))] if (a, b) == (c, d) && a != b => {
                    let fresh = [first, second].map(|hashes| self.is_fresh(hashes, &condition));
                    let results = self.pools.entry(pool.clone()).or_default();
                    match fresh {
                        [true, true] if one.color != other.color => results.pair((a, b), one, other),
                        [is_first, is_second] => {
                            if is_first {
                                results.single((a, b), one);
                            }
                            if is_second {
                                results.single((a, b), other);
                            }
                        }
                    }
                }
                [Some(((a, b, only), hashes)), None] if is_half && a != b => {
                    if self.is_fresh(hashes, &condition) {
                        self.pools.entry(pool.clone()).or_default().single((a, b), only);
                    }
                }
                _ => self.skipped.unpaired += pair.iter().flatten().count() as u64,
            }
        }
    }

    /// True if the game of a run, by its key and by the plan's names, was not met before; it is
    /// counted then. The plan's names enter too, because a PGN of the run knows no others. They are
    /// names of this plan alone: another run's `new` is another player.
    fn is_fresh(&mut self, [by_key, by_name]: [u64; 2], condition: &Condition) -> bool {
        let is_first = self.is_first(by_key, !condition.is_timed);
        if by_name != by_key {
            self.meet(by_name);
        }
        if is_first {
            *self.conditions.entry(condition.name.clone()).or_default() += 1;
        }
        is_first
    }

    /// Outcome of a game; `None`, after counting the reason, if it is skipped.
    fn outcome(&mut self, game: &GameTags) -> Option<Outcome> {
        let count = match game {
            _ if game.white.is_empty() || game.black.is_empty() => &mut self.skipped.nameless,
            _ if game.white == game.black => &mut self.skipped.with_itself,
            GameTags { outcome: None, .. } => &mut self.skipped.unfinished,
            GameTags { outcome: Some(outcome), .. } => return Some(*outcome),
        };
        *count += 1;
        None
    }

    fn begin_source(&mut self) {
        self.source += 1;
        self.told.clear();
    }

    fn is_new(&mut self, game: &GameTags, outcome: Outcome, is_timed: bool) -> bool {
        // Identifies a game without moves by its tags and by its occurrences in a source.
        let (hash, has_moves) = game.moves.map_or((game.all_tags, false), |moves| (moves, true));
        let known_as = identity::game(&game.white, &game.black, outcome, hash);
        // Finds games with the same tags, as in a file joined from copies of itself.
        if has_moves && is_timed && !self.told.insert(known_as.rotate_left(1) ^ game.all_tags) {
            self.skipped.repeated += 1;
            return false;
        }
        self.is_first(known_as, has_moves && !is_timed)
    }

    /// True if a game counts; counts the reason otherwise.
    ///
    /// With `once` set, a game counts once over all sources: its players have no clock, so it had
    /// to come again. Any other counts as often as one source holds it. Under a clock a short draw
    /// comes again and a long win does not, so leaving repeats out would bias the score.
    fn is_first(&mut self, game: u64, once: bool) -> bool {
        let seen = self.meet(game);
        if seen.before >= if once { 1 } else { seen.here } {
            self.skipped.given_again += 1;
        } else if once && seen.here > 1 {
            self.skipped.repeated += 1;
        } else {
            return true;
        }
        false
    }

    /// Records an occurrence in the source being read.
    fn meet(&mut self, game: u64) -> Occurrences {
        let source = self.source;
        let seen = self.seen.entry(game).or_insert(Occurrences { source, here: 0, before: 0 });
        if seen.source != source {
            *seen = Occurrences { source, here: 0, before: seen.before.max(seen.here) };
        }
        seen.here = seen.here.saturating_add(1);
        *seen
    }

    fn single(&mut self, key: &PairKey, half: Half) {
        self.pools.entry(key.0.clone()).or_default().single((key.1, key.2), half);
    }
}

/// Condition of a run's games, as [`Collection::conditions`] names it.
#[must_use]
pub fn condition_of(players: &[RunPlayer<'_>], variant: Variant) -> String {
    Condition::of_run(players, variant).name
}

/// A game of a run, reduced to what results need.
#[derive(Clone, Copy, Debug)]
struct RunGame {
    white: PlayerId,
    black: PlayerId,
    outcome: Outcome,
    moves: u64,
    opening: Option<u64>,
}

/// Games of one run, to be added to a [`Collection`] when all are recorded.
#[derive(Debug)]
pub struct RunGames {
    variant: Variant,
    /// Counted games by pair. A void game clears its pair.
    pairs: BTreeMap<PairId, [Option<RunGame>; 2]>,
    /// First pair of one game.
    halves_from: Option<PairId>,
    /// First pair that does not count: it is not over, or the run was decided before it. Later ones
    /// were finished ahead of it, and quick games would count for more.
    next: PairId,
    void: u64,
}

impl RunGames {
    /// Creates an empty list for a run of this plan.
    #[must_use]
    pub fn new(plan: &Plan) -> Self {
        let halves_from = Pairing::new(plan).halves_from();
        Self { variant: plan.rules.variant, pairs: BTreeMap::new(), halves_from, next: PairId(0), void: 0 }
    }

    /// Counts the pairs before `next`; without this none counts.
    pub const fn count_before(&mut self, next: PairId) {
        self.next = next;
    }

    /// Records a game of the journal; a repeated record is ignored.
    pub fn record(&mut self, game: &GameRecord) {
        let pair = self.pairs.entry(game.id.pair).or_default();
        if game.is_void {
            self.void += 1 + pair.iter().flatten().count() as u64;
            *pair = [None; 2];
            return;
        }
        pair[game.id.leg.index()].get_or_insert_with(|| {
            let line = GameLine::of_record(game, self.variant);
            RunGame {
                white: game.players.white,
                black: game.players.black,
                outcome: game.ending.outcome,
                moves: line.moves(),
                opening: line.opening(),
            }
        });
    }
}

/// Hash of the facts, besides players, that the games of a pair share. A collision (1 in 2^64)
/// would change an error and no rating.
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
mod tests;
