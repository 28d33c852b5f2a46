//! The ratings of `quintain rate` as text and JSON.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;

use super::programs::Programs;
use crate::report::collection::SkippedGames;
use crate::stats::elo::fixed;
use crate::stats::rating::{Anchor, EncounterCounts, Measurement, RatingKind, Ratings, ranks};
use crate::text::printable;

/// Ratings of the games of one condition, or of all conditions mixed.
pub(super) struct RatingTable {
    /// Games by condition; more than one condition only if they are mixed.
    conditions: BTreeMap<String, u64>,
    names: Vec<String>,
    ratings: Ratings,
    anchored: Vec<bool>,
    /// Players, group by group, the strongest first.
    order: Vec<usize>,
    games: u64,
    pairs: u64,
    /// Number of openings that more than one pair or single game has.
    shared_openings: usize,
}

/// JSON document; field names and order are a public contract. The keys of a single table are at
/// the top level.
#[derive(Serialize)]
struct RatingDocument<'a> {
    #[serde(flatten)]
    table: Option<RatingTableJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tables: Option<Vec<RatingTableJson<'a>>>,
    skipped_games: u64,
    given_again: u64,
    repeated_games: u64,
    #[serde(flatten)]
    programs: &'a Programs,
}

#[derive(Serialize)]
struct RatingTableJson<'a> {
    conditions: &'a BTreeMap<String, u64>,
    players: Vec<JsonPlayer<'a>>,
    groups: usize,
    relative_to: &'static str,
    games: u64,
    pairs: u64,
    white_advantage: Option<f64>,
    white_advantage_error: Option<f64>,
    draw_rate: Option<f64>,
    draw_rate_error: Option<f64>,
    shared_openings: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    los: Option<Vec<Vec<Option<f64>>>>,
}

#[derive(Serialize)]
struct JsonPlayer<'a> {
    rank: usize,
    name: &'a str,
    elo: f64,
    elo_error: Option<f64>,
    elo_lo: Option<f64>,
    elo_hi: Option<f64>,
    bound: &'static str,
    group: usize,
    relative_to: &'static str,
    games: u64,
    score: Option<f64>,
    draws: Option<f64>,
    anchor: bool,
}

/// JSON document of all tables.
pub(super) fn json(
    tables: &[RatingTable],
    los: bool,
    skipped: SkippedGames,
    programs: &Programs,
) -> serde_json::Result<String> {
    let mut all: Vec<RatingTableJson<'_>> = tables.iter().map(|table| table.json(los)).collect();
    let table = if all.len() == 1 { all.pop() } else { None };
    let document = RatingDocument {
        tables: table.is_none().then_some(all),
        table,
        skipped_games: skipped.games(),
        given_again: skipped.given_again,
        repeated_games: skipped.repeated,
        programs,
    };
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

/// Text of all tables, each under its condition if there are several.
pub(super) fn text(tables: &[RatingTable], los: bool) -> String {
    let several = tables.len() > 1;
    let titled = |table: &RatingTable| {
        let title = if several { format!("{}\n", table.condition()) } else { String::new() };
        title + &table.text(los)
    };
    tables.iter().map(titled).collect::<Vec<_>>().join("\n\n")
}

impl RatingTable {
    pub(super) fn new(
        conditions: BTreeMap<String, u64>,
        names: Vec<String>,
        ratings: Ratings,
        encounters: &[EncounterCounts],
        shared_openings: usize,
        anchors: &[Anchor],
    ) -> Self {
        let mut order: Vec<usize> = (0..names.len()).filter(|player| ratings.players[*player].games > 0).collect();
        order.sort_by(|&a, &b| {
            let (one, other) = (&ratings.players[a], &ratings.players[b]);
            let by_rating = one.group.cmp(&other.group).then_with(|| one.by_strength(other));
            by_rating.then_with(|| names[a].cmp(&names[b]))
        });
        let anchored = (0..names.len()).map(|player| anchors.iter().any(|anchor| anchor.player == player)).collect();
        let sum = |of: fn(&EncounterCounts) -> u64| encounters.iter().map(of).fold(0, u64::saturating_add);
        let (games, pairs) = (sum(EncounterCounts::games), sum(|met| met.pentanomial().pairs()));
        Self { conditions, names, ratings, anchored, order, games, pairs, shared_openings }
    }

    /// Conditions of the table, in words.
    fn condition(&self) -> String {
        let one = |(condition, games): (&String, &u64)| match self.conditions.len() {
            1 => printable(condition),
            _ => format!("{} ({games} games)", printable(condition)),
        };
        self.conditions.iter().map(one).collect::<Vec<_>>().join(", ")
    }

    /// Rating groups with games, in order.
    fn groups(&self) -> Vec<Vec<usize>> {
        let group = |player: &usize| self.ratings.players[*player].group;
        self.order.chunk_by(|a, b| group(a) == group(b)).map(<[usize]>::to_vec).collect()
    }

    fn is_anchored(&self, members: &[usize]) -> bool {
        members.iter().any(|member| self.anchored[*member])
    }

    fn ranks(&self, members: &[usize]) -> Vec<usize> {
        let players = &self.ratings.players;
        ranks(members, |&one, &other| players[one].by_strength(&players[other]).is_eq())
    }

    fn draws(&self, player: usize) -> Option<f64> {
        let rating = &self.ratings.players[player];
        (rating.games > 0).then(|| rating.draws.map(|draws| draws as f64 / rating.games as f64))?
    }

    fn json(&self, los: bool) -> RatingTableJson<'_> {
        let mut players = Vec::new();
        for (group, members) in self.groups().iter().enumerate() {
            for (rank, &player) in self.ranks(members).into_iter().zip(members) {
                let rating = &self.ratings.players[player];
                let end = |sign: f64| rating.error95.map(|error| rating.elo + sign * error);
                let (bound, elo_lo, elo_hi) = match rating.bounded {
                    RatingKind::Exact => ("exact", end(-1.0), end(1.0)),
                    RatingKind::AtLeast => ("at_least", Some(rating.elo), None),
                    RatingKind::AtMost => ("at_most", None, Some(rating.elo)),
                };
                players.push(JsonPlayer {
                    rank,
                    name: &self.names[player],
                    elo: rating.elo,
                    elo_error: rating.error95,
                    elo_lo,
                    elo_hi,
                    bound,
                    group: group + 1,
                    relative_to: if self.is_anchored(members) { "anchors" } else { "mean" },
                    games: rating.games,
                    score: rating.score,
                    draws: self.draws(player),
                    anchor: self.anchored[player],
                });
            }
        }
        let part = |figure: Option<Measurement>| (figure.map(|of| of.value), figure.and_then(|of| of.error95));
        let (white_advantage, white_advantage_error) = part(self.ratings.white_advantage);
        let (draw_rate, draw_rate_error) = part(self.ratings.draw_rate);
        let row = |&a: &usize| self.order.iter().map(|&b| self.ratings.los(a, b)).collect();
        RatingTableJson {
            conditions: &self.conditions,
            players,
            groups: self.groups().len(),
            relative_to: if self.anchored.contains(&true) { "anchors" } else { "mean" },
            games: self.games,
            pairs: self.pairs,
            white_advantage,
            white_advantage_error,
            draw_rate,
            draw_rate_error,
            shared_openings: self.shared_openings,
            los: los.then(|| self.order.iter().map(row).collect()),
        }
    }

    fn text(&self, los: bool) -> String {
        let width = self.order.iter().map(|&player| text_width(&self.names[player])).max().unwrap_or(0).max(4);
        let mut out = format!(
            "{:>4}  {}  {:>7}  {:>6}  {:>8}  {:>6}  {:>6}\n",
            "rank",
            padded("name", width),
            "Elo",
            "+/-",
            "games",
            "score",
            "draws"
        );
        for (group, members) in self.groups().iter().enumerate() {
            if group > 0 {
                out += "\nNo points join these to the players above; they are rated apart:\n";
            }
            for (rank, &player) in self.ranks(members).into_iter().zip(members) {
                let _ = writeln!(out, "{rank:>4}  {}", self.row(player, width));
            }
        }
        out.push('\n');
        out += &self.footer();
        if los {
            out.push('\n');
            out += &self.los_matrix(width);
        }
        out
    }

    fn row(&self, player: usize, width: usize) -> String {
        let rating = &self.ratings.players[player];
        let mark = match rating.bounded {
            RatingKind::Exact => "",
            RatingKind::AtLeast => "> ",
            RatingKind::AtMost => "< ",
        };
        let percent = |share: Option<f64>| share.map_or("-".to_owned(), |share| fixed(share * 100.0, 1) + "%");
        let error = match rating.error95 {
            Some(error) if self.anchored[player] && error == 0.0 => "anchor".to_owned(),
            Some(error) => fixed(error, 1),
            None => "-".to_owned(),
        };
        format!(
            "{}  {:>7}  {error:>6}  {:>8}  {:>6}  {:>6}",
            padded(&self.names[player], width),
            format!("{mark}{}", fixed(rating.elo, 1)),
            rating.games,
            percent(rating.score),
            percent(self.draws(player)),
        )
    }

    /// Figures of the whole table.
    fn footer(&self) -> String {
        let plus_minus = |figure: Measurement, factor: f64| {
            let error = figure.error95.map_or(String::new(), |error| format!(" +/- {}", fixed(error * factor, 1)));
            fixed(figure.value * factor, 1) + &error
        };
        let mut out = String::new();
        let mut row = |name: &str, text: String| {
            // Writing into memory cannot fail.
            let _ = writeln!(out, "{name:<16} {text}");
        };
        let unknown = || "not known: the games do not tell".to_owned();
        let white = self.ratings.white_advantage.map_or_else(unknown, |white| plus_minus(white, 1.0) + " Elo");
        row("white advantage", white);
        let draws = self.ratings.draw_rate.map_or_else(unknown, |rate| plus_minus(rate, 100.0) + " %");
        row("draws of equals", draws);
        row("games", format!("{}, of which {} in pairs", self.games, self.pairs.saturating_mul(2)));
        let anchored = self.anchored.contains(&true);
        let has_free = self.groups().iter().any(|members| !self.is_anchored(members));
        let relative = match (anchored, has_free) {
            (false, _) => "the mean of the pool, which is 0",
            (true, false) => "the anchors",
            (true, true) => "the anchors, in groups without one to their mean, which is 0",
        };
        let mixed = if self.conditions.len() > 1 { "mixed: " } else { "" };
        row("conditions", mixed.to_owned() + &self.condition());
        let by = if self.shared_openings > 0 { ", by shared openings" } else { "" };
        row("errors", format!("95 %, relative to {relative}{by}"));
        for (bound, kind, more) in [(RatingKind::AtLeast, "lower", "stronger"), (RatingKind::AtMost, "upper", "weaker")]
        {
            let bounded: Vec<String> = self
                .order
                .iter()
                .filter(|player| self.ratings.players[**player].bounded == bound)
                .map(|player| printable(&self.names[*player]))
                .collect();
            if !bounded.is_empty() {
                let names = bounded.join(", ");
                row("bounds", format!("{kind} for {names}: no game tells how much {more} (97.5 % sure)"));
            }
        }
        out
    }

    fn los_matrix(&self, width: usize) -> String {
        let mut out = String::from("Likelihood of superiority in percent, of the row over the column\n");
        let _ = write!(out, "{:>4}  {}", "", padded("", width));
        for column in 1..=self.order.len() {
            let _ = write!(out, "  {column:>5}");
        }
        out.push('\n');
        for (row, &a) in self.order.iter().enumerate() {
            let _ = write!(out, "{:>4}  {}", row + 1, padded(&self.names[a], width));
            for &b in &self.order {
                let los = self.ratings.los(a, b).map_or("-".to_owned(), |los| fixed(los * 100.0, 1));
                let _ = write!(out, "  {los:>5}");
            }
            out.push('\n');
        }
        out
    }
}

fn text_width(name: &str) -> usize {
    console::measure_text_width(&printable(name))
}

/// Name padded to a display width.
fn padded(name: &str, width: usize) -> String {
    console::pad_str(&printable(name), width, console::Alignment::Left, None).into_owned()
}
