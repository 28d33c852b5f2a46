//! Explanation of a player's score: a fold over the counted pairs of a run.
//!
//! Every game belongs to one group of each [`Dimension`]. Groups known before a game (opening,
//! colour, opponent) are compared by score. Groups known only afterwards (length, termination) are
//! compared by the share of decisive games won, because draws would make every group of long games
//! differ. All tests of all dimensions are one family.
//!
//! Memory grows with the number of groups and openings, and by a few bytes per distinct game, which
//! finds repeats.

mod balance;
pub mod document;
mod features;
pub mod table;

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use crate::chess;
use crate::plan::Plan;
use crate::record::{Color, GameRecord, PlayerId};
use crate::report::eco::OpeningNames;
use crate::report::explain::balance::{Meetings, OpeningTally};
use crate::report::explain::features::{Features, GamePhase};
use crate::stats::clusters::Openings;
use crate::stats::explain::{Contrast, FeatureTrials, PairGroup, PairSums, SideMeans, contrast, effective_pairs, holm};
use crate::stats::sensor::LevelPairs;
use crate::stats::{Counts as _, Pentanomial, Trinomial};

pub use crate::report::explain::balance::{Balance, LopsidedOpening};

/// Property by which games are grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Dimension {
    /// Side of the player.
    Color,
    /// Opponent; used only if there are several.
    Opponent,
    /// Opening, by its position in the book.
    Opening,
    /// ECO code of the opening, after book and game.
    Eco,
    /// Phase in which the game was decided.
    Phase,
    /// Number of moves.
    Length,
    /// Termination of the game.
    Termination,
    /// Side that was in time trouble.
    Trouble,
    /// Side that used more time.
    TimeUsed,
    /// Side that searched deeper.
    Depth,
    /// Side that searched faster.
    Speed,
}

impl Dimension {
    /// All dimensions in display order.
    pub const ALL: [Self; 11] = [
        Self::Color,
        Self::Opponent,
        Self::Opening,
        Self::Eco,
        Self::Phase,
        Self::Length,
        Self::Termination,
        Self::Trouble,
        Self::TimeUsed,
        Self::Depth,
        Self::Speed,
    ];

    /// Name in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Color => "color",
            Self::Opponent => "opponent",
            Self::Opening => "opening",
            Self::Eco => "eco",
            Self::Phase => "phase",
            Self::Length => "length",
            Self::Termination => "termination",
            Self::Trouble => "time-trouble",
            Self::TimeUsed => "time-used",
            Self::Depth => "depth",
            Self::Speed => "nps",
        }
    }

    /// Heading of its groups.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Color => "by colour (not tested: it is White's advantage)",
            Self::Opponent => "by opponent",
            Self::Opening => "by opening of the book (its place, from 1)",
            Self::Eco => "by ECO code",
            Self::Phase => "by phase in which it was decided",
            Self::Length => "by length (full moves of the game, those of the book too)",
            Self::Termination => "by how it ended",
            Self::Trouble => "by time trouble (less than 5 % of the base time left; not tested: losers think longer)",
            Self::TimeUsed => {
                "by time used by the end (10 points of the base time apart; not tested: losers think longer)"
            }
            Self::Depth => "by mean depth of the game (1 ply apart; not tested: who is winning sees deeper)",
            Self::Speed => "by nodes per second of the game (10 % apart; not tested: who is winning searches faster)",
        }
    }

    /// True if groups differ in every run for reasons that do not concern the player. The winning
    /// side has a simpler position to search, and the losing side thinks longer. Each player has
    /// both colours equally often, so their difference is White's advantage. Such groups are shown
    /// and not tested.
    #[must_use]
    pub const fn is_effect(self) -> bool {
        matches!(self, Self::Color | Self::Trouble | Self::TimeUsed | Self::Depth | Self::Speed)
    }

    /// True if its groups are of openings. How openings differ is then what is tested, and no
    /// reason to doubt a difference.
    #[must_use]
    const fn is_of_openings(self) -> bool {
        matches!(self, Self::Opening | Self::Eco)
    }

    /// Measure by which its groups are compared.
    #[must_use]
    pub const fn measure(self) -> Measure {
        match self {
            Self::Color | Self::Opponent | Self::Opening => Measure::Score,
            _ => Measure::Decisive,
        }
    }
}

/// Measure by which groups are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Points per game.
    Score,
    /// Share of games won among decisive games.
    Decisive,
}

impl Measure {
    /// Name in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Score => "score",
            Self::Decisive => "decisive",
        }
    }

    fn trial(self, half_points: u8) -> FeatureTrials {
        let trials = if self == Self::Decisive && half_points == 1 { 0.0 } else { 1.0 };
        FeatureTrials { trials, points: trials * f64::from(half_points) / 2.0 }
    }
}

/// Name of a group and its position in its dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Label {
    order: u64,
    text: String,
}

/// Position of the group of games without the property, which is compared with none. With it, the
/// groups of a dimension hold all games.
const UNKNOWN: u64 = u64::MAX;

#[derive(Clone, Debug)]
struct OpeningScore {
    text: String,
    wdl: Trinomial,
    pairs: u64,
    group: PairGroup,
}

/// Clock and search figures of both sides.
#[derive(Clone, Debug, Default)]
pub(super) struct Effort {
    /// Share of the base time used at each of [`USED_AT`].
    used: [SideMeans; USED_AT.len()],
    /// Seconds per move, by phase of the position.
    by_phase: [SideMeans; GamePhase::ALL.len()],
    seconds: SideMeans,
    depth: SideMeans,
    nodes: SideMeans,
    /// Nodes per second, from sums of nodes and of seconds.
    speed: SideMeans,
    /// Share of moves made in time trouble.
    trouble: SideMeans,
}

/// Points of a game at which the clock is read.
pub const USED_AT: [&str; 3] = ["move 20", "move 40", "end"];

/// Occurrences of repeated games.
#[derive(Clone, Debug, Default)]
struct RepeatCounts {
    /// Occurrences by players, start and moves.
    games: HashMap<u64, u32>,
    /// Occurrences by players, result and final position; as above for positions of seven men or
    /// fewer.
    finals: HashMap<u64, u32>,
}

/// Fold over counted pairs.
#[derive(Debug)]
pub struct Explainer<'a> {
    plan: &'a Plan,
    player: PlayerId,
    names: &'a OpeningNames,
    tallies: [HashMap<u64, OpeningScore>; Dimension::ALL.len()],
    /// All pairs, by score and by decisive games.
    wholes: [PairSums; 2],
    wdl: Trinomial,
    ptnml: Pentanomial,
    level: LevelPairs,
    pairs: u64,
    /// Pairs by White's points.
    white: Pentanomial,
    openings: HashMap<u64, OpeningTally>,
    /// Pairs of the player with each opponent.
    meetings: BTreeMap<PlayerId, Meetings>,
    /// Pairs by opening, as clusters.
    clusters: Openings,
    effort: Effort,
    repeats: RepeatCounts,
}

impl<'a> Explainer<'a> {
    /// Creates the fold for `player`'s games.
    #[must_use]
    pub fn new(plan: &'a Plan, names: &'a OpeningNames, player: PlayerId) -> Self {
        Self {
            plan,
            player,
            names,
            tallies: std::array::from_fn(|_| HashMap::new()),
            wholes: Default::default(),
            wdl: Trinomial::default(),
            ptnml: Pentanomial::default(),
            level: LevelPairs::default(),
            pairs: 0,
            white: Pentanomial::default(),
            openings: HashMap::new(),
            meetings: BTreeMap::new(),
            clusters: Openings::default(),
            effort: Effort::default(),
            repeats: RepeatCounts::default(),
        }
    }

    /// Records the games of a counted pair, in order.
    pub fn record(&mut self, games: &[GameRecord]) {
        let of_player: Vec<(&GameRecord, Color, u8)> = games
            .iter()
            .filter_map(|game| {
                let half_points = game.half_points(self.player)?;
                let color = if game.players.white == self.player { Color::White } else { Color::Black };
                Some((game, color, half_points))
            })
            .collect();
        let Some((first, ..)) = of_player.first() else { return };
        self.pairs += 1;
        let features: Vec<Features> = of_player
            .iter()
            .map(|(game, color, half_points)| {
                self.wdl.record(*half_points);
                Features::of(self.plan, self.names, game, *color)
            })
            .collect();
        let points: Vec<u8> = of_player.iter().map(|(.., half_points)| *half_points).collect();
        for (measure, whole) in [Measure::Score, Measure::Decisive].into_iter().zip(&mut self.wholes) {
            whole.record(&points.iter().map(|half_points| measure.trial(*half_points)).collect::<Vec<_>>());
        }
        for (place, dimension) in Dimension::ALL.into_iter().enumerate() {
            if dimension == Dimension::Opponent && self.plan.players.len() == 2 {
                continue;
            }
            let unknown = || Label { order: UNKNOWN, text: "not known".to_owned() };
            let labels: Vec<Label> =
                features.iter().map(|features| features.label(dimension).unwrap_or_else(unknown)).collect();
            tally(&mut self.tallies[place], dimension.measure(), &labels, &points);
        }
        let name = features.first().map(|features| features.book_name.clone()).unwrap_or_default();
        let openings: Vec<_> =
            of_player.iter().map(|(game, ..)| chess::opening_key(&game.opening, self.plan.rules.variant)).collect();
        let of_first = (first.opening.index, openings.first().copied().unwrap_or_default());
        self.record_opening(of_first, name, games, &points);
        self.effort.record(&features);
        for (((game, ..), features), opening) in of_player.iter().zip(&features).zip(openings) {
            self.repeats.record(game, features, opening);
        }
    }

    fn record_opening(&mut self, (index, key): (u64, u64), name: String, games: &[GameRecord], points: &[u8]) {
        let opening = self.openings.entry(key).or_insert_with(|| OpeningTally { index, ..OpeningTally::default() });
        if opening.name.is_empty() {
            opening.name = name;
        }
        let white: Vec<u8> = games.iter().map(|game| game.ending.outcome.half_points(Color::White)).collect();
        for half_points in &white {
            opening.white[usize::from(2 - half_points.min(&2))] += 1;
        }
        if let ([one, other], [first, second]) = (points, white.as_slice())
            && games[0].opening == games[1].opening
        {
            let pair = |first: u8, second: u8| crate::record::PairScore { first, second };
            self.ptnml.record(pair(*one, *other));
            self.white.record(pair(*first, *second));
            match (*one, *other) {
                (1, 1) => self.level.drawn += 1,
                (0, 2) | (2, 0) => self.level.won += 1,
                _ => {}
            }
            opening.both[0] += u64::from((*first, *second) == (2, 2));
            opening.both[1] += u64::from((*first, *second) == (0, 0));
            let players = games[0].players;
            if games[1].players.white == players.black {
                let is_white_first = players.white == self.player;
                let (opponent, by_color) =
                    if is_white_first { (players.black, [*one, *other]) } else { (players.white, [*other, *one]) };
                self.meetings.entry(opponent).or_default().record(by_color);
            }
        }
        // A game without a second one weighs as a pair.
        self.clusters.record(key, points.iter().sum::<u8>() * if points.len() == 1 { 2 } else { 1 });
    }

    /// Result of the fold; `None` without games.
    #[must_use]
    pub fn end(self) -> Option<Explanation> {
        let score = self.wholes[0].mean()?;
        let repeats = self.repeats.end(self.pairs, &self.clusters);
        let effect = repeats.effect();
        let mut groups = Vec::new();
        for (dimension, tallies) in Dimension::ALL.into_iter().zip(self.tallies) {
            let whole = &self.wholes[usize::from(dimension.measure() == Measure::Decisive)];
            let effect = if dimension.is_of_openings() { repeats.effect_of_games() } else { effect };
            let mut found: Vec<(u64, OpeningScore)> = tallies.into_iter().collect();
            found.sort_by_key(|(order, _)| *order);
            if found.iter().all(|(order, _)| *order == UNKNOWN) {
                continue;
            }
            let mut results: Vec<GroupResult> = found
                .into_iter()
                .map(|(order, OpeningScore { text, wdl, pairs, group })| {
                    let mut contrast = contrast(&group, whole, effect).filter(|_| order != UNKNOWN);
                    if let Some(contrast) = contrast.as_mut().filter(|_| dimension.is_effect()) {
                        contrast.p = None;
                    }
                    GroupResult { dimension, order, text, wdl, pairs, contrast, p_holm: None, is_mirror: false }
                })
                .collect();
            // Of two comparable groups each mirrors the other, so only the smaller one is tested.
            if let [one, other] = results.as_mut_slice()
                && one.contrast.is_some()
                && other.contrast.is_some()
            {
                let mirror = if one.wdl.games() > other.wdl.games() { one } else { other };
                mirror.is_mirror = true;
                if let Some(contrast) = &mut mirror.contrast {
                    contrast.p = None;
                }
            }
            groups.extend(results);
        }
        let tested: Vec<usize> =
            (0..groups.len()).filter(|place| groups[*place].contrast.is_some_and(|found| found.p.is_some())).collect();
        let p: Vec<f64> = tested.iter().filter_map(|place| groups[*place].contrast?.p).collect();
        for (place, p) in tested.iter().zip(holm(&p)) {
            groups[*place].p_holm = Some(p);
        }
        let openings = Balance::new(self.openings, self.white, &self.meetings);
        Some(Explanation {
            player: self.player,
            pairs: self.pairs,
            wdl: self.wdl,
            ptnml: self.ptnml,
            // Opponents of several strengths would shift pairs as openings do, and so would White's
            // advantage in pairs without reversed colours.
            level: (self.plan.players.len() == 2 && self.plan.colors.swap).then_some(self.level),
            score,
            score_error: self.wholes[0].error95(effect),
            decisive: self.wholes[1].mean(),
            tests: tested.len(),
            groups,
            openings,
            effort: self.effort,
            repeats,
        })
    }
}

/// Counts a pair's games in their groups.
fn tally(tallies: &mut HashMap<u64, OpeningScore>, measure: Measure, labels: &[Label], points: &[u8]) {
    let all: Vec<FeatureTrials> = points.iter().map(|half_points| measure.trial(*half_points)).collect();
    for (place, label) in labels.iter().enumerate() {
        let same = |other: &Label| other.order == label.order;
        let tally = tallies.entry(label.order).or_insert_with(|| OpeningScore {
            text: label.text.clone(),
            wdl: Trinomial::default(),
            pairs: 0,
            group: PairGroup::default(),
        });
        if tally.text != label.text {
            // Openings of several names share an ECO code.
            let code = label.text.split(' ').next().unwrap_or_default();
            code.clone_into(&mut tally.text);
        }
        tally.wdl.record(points[place]);
        // Counts the whole pair with its first game in the group.
        if !labels[..place].iter().any(same) {
            tally.pairs += 1;
            let inside: Vec<FeatureTrials> =
                labels.iter().zip(&all).filter(|(label, _)| same(label)).map(|(_, trial)| *trial).collect();
            tally.group.record(&inside, &all);
        }
    }
}

impl Effort {
    /// Records the time and search of both sides in the games of a pair.
    fn record(&mut self, games: &[Features]) {
        let add = |sides: &mut SideMeans, of: &dyn Fn(&features::SideEffort) -> (f64, f64)| {
            let sum = |one: fn(&Features) -> &features::SideEffort| {
                games.iter().map(|game| of(one(game))).fold((0.0, 0.0), |sum, value| (sum.0 + value.0, sum.1 + value.1))
            };
            sides.record(sum(|game| &game.own), sum(|game| &game.their));
        };
        for (place, sides) in self.used.iter_mut().enumerate() {
            add(sides, &|spent| spent.used[place].map_or((0.0, 0.0), |used| (used, 1.0)));
        }
        for (place, sides) in self.by_phase.iter_mut().enumerate() {
            add(sides, &|spent| spent.by_phase[place]);
        }
        add(&mut self.seconds, &|spent| {
            spent.by_phase.iter().fold((0.0, 0.0), |sum, value| (sum.0 + value.0, sum.1 + value.1))
        });
        add(&mut self.depth, &|spent| spent.depth);
        add(&mut self.nodes, &|spent| spent.nodes);
        add(&mut self.speed, &|spent| spent.speed);
        add(&mut self.trouble, &|spent| spent.trouble);
    }
}

impl RepeatCounts {
    fn record(&mut self, game: &GameRecord, features: &Features, opening: u64) {
        let players = (game.players.white, game.players.black);
        let moves = chess::game_key(game, opening);
        *self.games.entry(moves).or_default() += 1;
        let last = features.last_position.map_or(moves, |key| {
            let mut hasher = DefaultHasher::new();
            (players, game.ending.outcome.token(), key).hash(&mut hasher);
            hasher.finish()
        });
        *self.finals.entry(last).or_default() += 1;
    }

    fn end(self, pairs: u64, clusters: &Openings) -> Duplicates {
        let times = |of: &HashMap<u64, u32>| of.values().map(|times| u64::from(*times)).collect::<Vec<_>>();
        let (games, finals) = (times(&self.games), times(&self.finals));
        let effective_games = effective_pairs(pairs, games.iter().copied());
        let effective_finals = effective_pairs(pairs, finals.iter().copied());
        let design_effect = clusters.design_effect();
        Duplicates {
            games: games.iter().sum(),
            distinct: games.len() as u64,
            most: games.iter().copied().max().unwrap_or(0),
            transposed: (games.len() - finals.len().min(games.len())) as u64,
            pairs,
            effective_games,
            effective_finals,
            correlation: clusters.correlation(),
            design_effect,
            pairs_per_opening: clusters.pairs_per_opening(),
            effective: effective_finals.min(effective_games).min(pairs as f64 / clusters.clustering()),
        }
    }
}

/// Result of a group of games.
#[derive(Clone, Debug)]
pub struct GroupResult {
    /// Dimension of the group.
    pub dimension: Dimension,
    /// Position within the dimension.
    pub order: u64,
    /// Name of the group.
    pub text: String,
    /// Player's games in the group.
    pub wdl: Trinomial,
    /// Pairs with a game in the group.
    pub pairs: u64,
    /// Contrast with all other games; `None` if one side has nothing to compare.
    pub contrast: Option<Contrast>,
    /// P-value corrected for all tests; `None` if the group was not tested.
    pub p_holm: Option<f64>,
    /// True for the untested one of two groups, which mirrors the other.
    pub is_mirror: bool,
}

/// Two-sided family-wise error rate of the tests.
pub const ALPHA: f64 = 0.05;

impl GroupResult {
    /// Points above one half per game. The groups of a dimension add up to the player's lead.
    #[must_use]
    pub fn net(&self) -> f64 {
        (self.wdl.wins as f64 - self.wdl.losses as f64) / 2.0
    }

    /// Points per game, 0 to 1.
    #[must_use]
    pub fn score(&self) -> Option<f64> {
        self.wdl.score()
    }

    /// True if the group differs from the rest after correction for all tests.
    #[must_use]
    pub fn is_found(&self) -> bool {
        self.p_holm.is_some_and(|p| p < ALPHA)
    }
}

/// Repeated games and their cost in evidence.
#[derive(Clone, Copy, Debug)]
pub struct Duplicates {
    /// Number of games.
    pub games: u64,
    /// Number of distinct games, by players, start and moves.
    pub distinct: u64,
    /// Occurrences of the most frequent game.
    pub most: u64,
    /// Distinct games that share result and final position (of more than seven men) with another
    /// one.
    pub transposed: u64,
    /// Number of pairs.
    pub pairs: u64,
    /// Number of independent pairs of the same weight, if a repeated game is not new evidence.
    pub effective_games: f64,
    /// Same number, if a repeated final position is not new evidence either.
    pub effective_finals: f64,
    /// Correlation of pairs with one opening; `None` if it cannot be estimated.
    pub correlation: Option<f64>,
    /// Design effect of the openings, with the allowance for few; 1 without a correlation.
    pub design_effect: f64,
    /// Mean number of pairs of an opening, at least 1.
    pub pairs_per_opening: f64,
    /// Smallest of these numbers of pairs, and of those that the correlation leaves.
    pub effective: f64,
}

impl Duplicates {
    /// Ratio, from 1, of a mean's variance to that of independent pairs.
    #[must_use]
    pub fn effect(&self) -> f64 {
        self.fewer(self.effective).max(self.design_effect)
    }

    /// The same ratio if only repeated games are no evidence, and pairs of one opening are.
    #[must_use]
    pub fn effect_of_games(&self) -> f64 {
        self.fewer(self.effective_games.min(self.effective_finals))
    }

    /// Pairs for each of these, at least 1.
    fn fewer(&self, effective: f64) -> f64 {
        if effective > 0.0 { (self.pairs as f64 / effective).max(1.0) } else { 1.0 }
    }

    /// Factor, from 1, by which intervals are wider than those of independent pairs.
    #[must_use]
    pub fn widening(&self) -> f64 {
        self.effect().sqrt()
    }
}

/// Explanation of a player's score.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// Player whose score is explained.
    pub player: PlayerId,
    /// Pairs of the player.
    pub pairs: u64,
    /// Games of the player by result.
    pub wdl: Trinomial,
    /// Complete pairs of the player.
    pub ptnml: Pentanomial,
    /// Split of its level pairs; `None` against several opponents.
    pub level: Option<LevelPairs>,
    /// Points per game, 0 to 1.
    pub score: f64,
    /// Half the width of its 95 % interval, by pairs.
    pub score_error: Option<f64>,
    /// Share of the decisive games that the player won.
    pub decisive: Option<f64>,
    /// Number of tests, over which p-values are corrected.
    pub tests: usize,
    /// Groups by dimension, in display order.
    pub groups: Vec<GroupResult>,
    /// Balance of the book.
    pub openings: Balance,
    pub(super) effort: Effort,
    /// Repeated games.
    pub repeats: Duplicates,
}

impl Explanation {
    /// Groups that differ after correction, the smallest p-value first.
    #[must_use]
    pub fn found(&self) -> Vec<&GroupResult> {
        let mut found: Vec<_> = self.groups.iter().filter(|group| group.is_found()).collect();
        found.sort_by(|a, b| a.p_holm.unwrap_or(1.0).total_cmp(&b.p_holm.unwrap_or(1.0)));
        found
    }
}

#[cfg(test)]
mod tests;
