//! Table of a run with any number of players.

use std::cmp::Ordering;

use crate::plan::Plan;
use crate::record::PlayerId;
use crate::report::figures::signed;
use crate::stats::Trinomial;
use crate::stats::elo::fixed;
use crate::stats::rating::{Rating, RatingKind, ranks};
use crate::tournament::scoreboard::{Faults, Scoreboard};

/// Place of a player in the table.
#[derive(Clone, Debug)]
pub struct StandingsRow {
    /// Rank from 1, shared by players of equal strength.
    pub rank: usize,
    /// Number of the player.
    pub player: PlayerId,
    /// Name of the player.
    pub name: String,
    /// Rating on one scale, whose zero is the mean of all players; `None` before the player's first
    /// game.
    pub rating: Option<Rating>,
    /// Counted games by result.
    pub wdl: Trinomial,
    /// Points for byes, if the format ranks by points; else the rating does.
    pub byes: Option<f64>,
    /// Losses by the player's own fault.
    pub faults: Faults,
}

impl StandingsRow {
    /// Rating in Elo, if it is not a bound and comparable with most others.
    #[must_use]
    pub fn elo(&self) -> Option<f64> {
        self.rating
            .as_ref()
            .filter(|rating| rating.bounded == RatingKind::Exact && rating.group == 0)
            .map(|rating| rating.elo)
    }

    /// Half the width of the rating's 95 % interval.
    #[must_use]
    pub fn error(&self) -> Option<f64> {
        self.elo().and(self.rating.as_ref()?.error95)
    }

    /// Formats `+12.3`; `> +400` for a player who made every point, `< -400` for one who made none,
    /// `-` if unknown.
    #[must_use]
    pub fn elo_text(&self) -> String {
        // Players without common opponents have scales of their own, which cannot be compared with
        // this one.
        let Some(rating) = self.rating.as_ref().filter(|rating| rating.group == 0) else { return "-".to_owned() };
        let sign = match rating.bounded {
            RatingKind::Exact => "",
            RatingKind::AtLeast => "> ",
            RatingKind::AtMost => "< ",
        };
        format!("{sign}{}", signed(rating.elo, 1))
    }

    /// Points per game, 0 to 1; `None` before the first.
    #[must_use]
    pub fn score(&self) -> Option<f64> {
        let games = self.wdl.games();
        (games > 0).then(|| self.wdl.points() / games as f64)
    }

    /// Points, with a half for a draw, byes included.
    #[must_use]
    pub fn points(&self) -> f64 {
        self.wdl.points() + self.byes.unwrap_or(0.0)
    }

    /// Formats `3.5`, or `5.5 (2.0 by bye)`.
    #[must_use]
    pub fn points_text(&self) -> String {
        let byes = self.byes.filter(|byes| *byes > 0.0).map(|byes| format!(" ({} by bye)", fixed(byes, 1)));
        fixed(self.points(), 1) + &byes.unwrap_or_default()
    }
}

/// Rows of all players of `plan`, the best first.
#[must_use]
pub fn rows(plan: &Plan, scoreboard: &Scoreboard) -> Vec<StandingsRow> {
    // With more players than can be rated there are no ratings, nor for values that a tuning tries.
    let ratings = match scoreboard.tuning() {
        Some(_) => Vec::new(),
        None => scoreboard.ratings().map(|ratings| ratings.players).unwrap_or_default(),
    };
    let players = u16::try_from(plan.players.len()).unwrap_or(u16::MAX);
    let byes = plan.format.byes(players, plan.max_pairs, scoreboard.results());
    let byes_of = |player: PlayerId| Some(*byes.as_ref()?.get(usize::from(player.0))? as f64 / 2.0);
    let mut rows: Vec<StandingsRow> = (0u16..)
        .map(PlayerId)
        .zip(&plan.players)
        .zip(scoreboard.totals())
        .zip(ratings.into_iter().map(Some).chain(std::iter::repeat(None)))
        .map(|(((player, about), wdl), rating)| StandingsRow {
            rank: 0,
            player,
            name: about.name.clone(),
            rating: rating.filter(|rating| rating.games > 0),
            wdl,
            byes: byes_of(player),
            faults: scoreboard.faults(player),
        })
        .collect();
    // Players without games come last. A score is never NaN.
    rows.sort_by(|a, b| by_place(a, b).then(a.player.cmp(&b.player)));
    let ranks = ranks(&rows, |one, other| by_place(one, other).is_eq());
    rows.iter_mut().zip(ranks).for_each(|(row, rank)| row.rank = rank);
    rows
}

/// Order by points if the format ranks by them, then by strength.
fn by_place(a: &StandingsRow, b: &StandingsRow) -> Ordering {
    let by_points = if a.byes.is_some() { b.points().total_cmp(&a.points()) } else { Ordering::Equal };
    by_points.then(by_strength(a, b))
}

/// Order by strength, the best first. Groups that no game joins come one after the other, players
/// without a rating last.
fn by_strength(a: &StandingsRow, b: &StandingsRow) -> Ordering {
    let by_rating = a.rating.as_ref().zip(b.rating.as_ref()).map(|(one, other)| one.by_strength(other));
    group(a).cmp(&group(b)).then(by_rating.unwrap_or(Ordering::Equal))
}

/// Group of a player, of which the ratings have a zero of their own; players without a rating come
/// last.
fn group(row: &StandingsRow) -> usize {
    row.rating.as_ref().map_or(usize::MAX, |rating| rating.group)
}

/// Table with a heading, at most `most` rows, and the number of rows left out.
#[must_use]
pub fn table(rows: &[StandingsRow], most: Option<usize>) -> Vec<String> {
    let shown = &rows[..most.unwrap_or(rows.len()).min(rows.len())];
    let width = shown.iter().map(|row| row.name.chars().count()).max().unwrap_or(0).max("player".len());
    let points = shown.iter().map(|row| row.points_text().len()).max().unwrap_or(0).max(8);
    let mut lines = vec![format!(
        "{:>4}  {:width$} {:>8} {:>7} {:>7} {:>points$} {:>7}  {:<20} {}",
        "rank", "player", "Elo", "+/-", "games", "points", "score", "W-D-L", "faults"
    )];
    for (place, row) in shown.iter().enumerate() {
        let is_apart = |above: &StandingsRow| row.rating.is_some() && group(row) != group(above);
        // An order by points may mix groups.
        if place > 0 && row.byes.is_none() && is_apart(&shown[place - 1]) {
            lines.push("      no points join these to the players above:".to_owned());
        }
        let number = |value: Option<f64>, text: fn(f64) -> String| value.map_or_else(|| "-".to_owned(), text);
        let Trinomial { losses, draws, wins } = row.wdl;
        let faults = row.faults;
        let line = format!(
            "{:>4}  {:width$} {:>8} {:>7} {:>7} {:>points$} {:>7}  {:<20} {}",
            row.rank,
            row.name,
            row.elo_text(),
            number(row.error(), |error| fixed(error, 1)),
            row.wdl.games(),
            row.points_text(),
            number(row.score(), |score| format!("{} %", fixed(score * 100.0, 1))),
            format!("{wins}-{draws}-{losses}"),
            fault_words(&faults),
        );
        lines.push(line.trim_end().to_owned());
    }
    if shown.len() < rows.len() {
        lines.push(format!("      and {} more", rows.len() - shown.len()));
    }
    lines
}

/// Formats `2 time losses, 1 crash`; empty without faults.
#[must_use]
pub fn fault_words(faults: &Faults) -> String {
    faults_but(faults, |count| count == 0)
}

/// Formats all kinds of faults, those that did not happen too: `1 time loss, 0 crashes, ...`.
#[must_use]
pub fn all_fault_words(faults: &Faults) -> String {
    faults_but(faults, |_| false)
}

fn faults_but(faults: &Faults, is_left_out: fn(u64) -> bool) -> String {
    let kinds = [
        (faults.time_forfeits, "time loss", "time losses"),
        (faults.crashes, "crash", "crashes"),
        (faults.stalls, "stall", "stalls"),
        (faults.illegal_moves, "illegal move", "illegal moves"),
    ];
    let words = |(count, one, many): (u64, &str, &str)| format!("{count} {}", if count == 1 { one } else { many });
    kinds.into_iter().filter(|kind| !is_left_out(kind.0)).map(words).collect::<Vec<_>>().join(", ")
}

/// First few players on one line.
#[must_use]
pub fn leaders(rows: &[StandingsRow], most: usize) -> String {
    let one = |row: &StandingsRow| {
        let byes = row.byes.filter(|byes| *byes > 0.0).map(|byes| format!(", and {} by bye", fixed(byes, 1)));
        let (points, byes) = (fixed(row.wdl.points(), 1), byes.unwrap_or_default());
        format!("{}. {} {} ({points}/{}{byes})", row.rank, row.name, row.elo_text(), row.wdl.games())
    };
    rows.iter().filter(|row| row.wdl.games() > 0).take(most).map(one).collect::<Vec<_>>().join(", ")
}

/// Cross table: each player with the points and games against every opponent.
#[must_use]
pub fn cross_table(plan: &Plan, rows: &[StandingsRow], scoreboard: &Scoreboard) -> Vec<String> {
    let width = rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0);
    let mut lines = Vec::new();
    for row in rows {
        let met: Vec<String> = rows
            .iter()
            .filter(|other| other.player != row.player)
            .filter_map(|other| {
                let score = scoreboard.score(row.player, other.player);
                let games = score.wdl.games();
                let name = plan.name_of(other.player);
                (games > 0).then(|| format!("{name} {}/{games}", fixed(score.wdl.points(), 1)))
            })
            .collect();
        lines.push(format!("{:width$}  {}", row.name, met.join(", ")).trim_end().to_owned());
    }
    lines
}
