//! Strength of an engine's versions as text, JSON, CSV and plot.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::Read;

use serde::Serialize;

use crate::report::collection::SkippedGames;
use crate::report::explain::table::csv;
use crate::report::pgn_tags;
use crate::report::plot::{self, Heads, ProgressionPlot, Sheet};
use crate::stats::elo::{fixed, signed};
use crate::stats::progress::{Mark, Progress, VersionStep};
use crate::stats::rating::{Rating, RatingKind};
use crate::text::{count, printable};

/// A version of the engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// Number of the player.
    pub player: usize,
    /// Label in tables and plots.
    pub label: String,
    /// Full hash of the commit it was built from.
    pub commit: Option<String>,
    /// Day, such as `2026-01-31`: of the commit, otherwise of its first game.
    pub date: Option<String>,
    /// Subject line of the commit.
    pub subject: Option<String>,
}

/// Curve of versions with its statistics and sources.
#[derive(Clone, Debug)]
pub struct Curve<'a> {
    /// Names of all players.
    pub names: &'a [String],
    /// Versions in order.
    pub versions: &'a [Version],
    /// Ratings and steps.
    pub progress: &'a Progress,
    /// Family-wise significance level of marks.
    pub level: f64,
    /// Number of all games.
    pub games: u64,
    /// Conditions of the games; several only if they are mixed.
    pub conditions: Vec<String>,
    /// Games that were left out.
    pub skipped: SkippedGames,
}

/// JSON document, whose names are a contract.
#[derive(Serialize)]
struct ProgressJson<'a> {
    versions: Vec<JsonVersion<'a>>,
    steps: Vec<JsonStep<'a>>,
    anchor: Option<&'a str>,
    level: f64,
    games: u64,
    sparring: Vec<JsonSparring<'a>>,
    conditions: &'a [String],
    skipped_games: u64,
    given_again: u64,
    repeated_games: u64,
}

#[derive(Serialize)]
struct JsonVersion<'a> {
    version: &'a str,
    commit: Option<&'a str>,
    date: Option<&'a str>,
    subject: Option<&'a str>,
    elo: Option<f64>,
    elo_error: Option<f64>,
    elo_lo: Option<f64>,
    elo_hi: Option<f64>,
    bound: &'static str,
    games: u64,
    score: Option<f64>,
}

#[derive(Serialize)]
struct JsonStep<'a> {
    from: &'a str,
    to: &'a str,
    elo: Option<f64>,
    elo_error: Option<f64>,
    p: Option<f64>,
    p_adjusted: Option<f64>,
    mark: &'static str,
}

#[derive(Serialize)]
struct JsonSparring<'a> {
    name: &'a str,
    elo: Option<f64>,
    elo_error: Option<f64>,
    games: u64,
}

/// Day of each player's first game in a PGN text, by name: `UTCDate`, otherwise `Date`, if
/// complete.
///
/// # Errors
/// Returns the errors of `source`.
pub fn first_days(source: impl Read) -> std::io::Result<HashMap<String, String>> {
    let mut days: HashMap<String, String> = HashMap::new();
    pgn_tags::read(source, |game| {
        let Some(day) = day(&game.date) else { return };
        for name in [&game.white, &game.black] {
            let name = String::from_utf8_lossy(name).into_owned();
            let first = days.entry(name).or_insert_with(|| day.clone());
            if day < *first {
                first.clone_from(&day);
            }
        }
    })?;
    Ok(days)
}

/// Converts `2026.01.31` to `2026-01-31`; `None` for an incomplete day.
fn day(tag: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(tag).ok()?.trim().replace(['.', '/'], "-");
    let shape: Vec<usize> = text.split('-').map(str::len).collect();
    let digits = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    (digits && shape == [4, 2, 2]).then_some(text)
}

/// Formats a probability.
fn probability(p: f64) -> String {
    if p < 1e-4 { "< 0.0001".to_owned() } else { fixed(p, if p < 0.1 { 4 } else { 2 }) }
}

impl Curve<'_> {
    fn rating(&self, version: &Version) -> &Rating {
        &self.progress.ratings.players[version.player]
    }

    /// True if a version can be compared with the others.
    fn joined(&self, rating: &Rating) -> bool {
        rating.group == self.progress.group && rating.games > 0
    }

    fn label(&self, player: usize) -> &str {
        let version = self.versions.iter().find(|version| version.player == player);
        version.map_or(self.names[player].as_str(), |version| version.label.as_str())
    }

    /// Step that leads to the version at `place`.
    fn step_to(&self, place: usize) -> Option<&VersionStep> {
        self.progress.steps.get(place.checked_sub(1)?)
    }

    /// Elo, error, lower and upper end, as far as they are known.
    fn elo(&self, rating: &Rating) -> [Option<f64>; 4] {
        if !self.joined(rating) {
            return [None; 4];
        }
        let end = |sign: f64| rating.error95.map(|error| rating.elo + sign * error);
        match rating.bounded {
            RatingKind::Exact => [Some(rating.elo), rating.error95, end(-1.0), end(1.0)],
            RatingKind::AtLeast => [Some(rating.elo), None, Some(rating.elo), None],
            RatingKind::AtMost => [Some(rating.elo), None, None, Some(rating.elo)],
        }
    }

    /// Points of the plot: the versions that can be compared.
    #[must_use]
    pub fn points(&self) -> Vec<plot::PlottedVersion> {
        let mut points = Vec::new();
        for (place, version) in self.versions.iter().enumerate() {
            let [Some(elo), _, low, high] = self.elo(self.rating(version)) else { continue };
            let step = self.step_to(place);
            let mark = step.map_or(Mark::Open, |step| step.mark);
            let p = step.and_then(|step| step.p_adjusted).filter(|_| mark != Mark::Open);
            points.push(plot::PlottedVersion {
                label: version.label.clone(),
                date: version.date.clone(),
                elo,
                low: low.unwrap_or(if high.is_some() { f64::NEG_INFINITY } else { f64::NAN }),
                high: high.unwrap_or(if low.is_some() { f64::INFINITY } else { f64::NAN }),
                mark: match mark {
                    Mark::Drop => plot::VersionMark::Drop,
                    Mark::Gain => plot::VersionMark::Gain,
                    Mark::Open => plot::VersionMark::None,
                },
                note: p.map_or(String::new(), |p| format!("p {}", probability(p))),
            });
        }
        points
    }

    /// Result in a few words.
    #[must_use]
    pub fn outcome(&self) -> String {
        let count = |mark: Mark| self.progress.steps.iter().filter(|step| step.mark == mark).count();
        let points = self.points();
        let total = match (points.first(), points.last()) {
            (Some(first), Some(last)) if points.len() > 1 => {
                let is_least = last.high == f64::INFINITY || first.low == f64::NEG_INFINITY;
                let is_most = last.low == f64::NEG_INFINITY || first.high == f64::INFINITY;
                let ends = format!("from {} to {}", printable(&first.label), printable(&last.label));
                let difference = signed(last.elo - first.elo, 1);
                match (is_least, is_most) {
                    (true, true) => format!("no Elo can be given {ends}"),
                    (true, false) => format!("at least {difference} Elo {ends}"),
                    (false, true) => format!("at most {difference} Elo {ends}"),
                    (false, false) => format!("{difference} Elo {ends}"),
                }
            }
            _ => "no two versions can be compared".to_owned(),
        };
        format!("{total}; gains shown: {}, drops shown: {}", count(Mark::Gain), count(Mark::Drop))
    }

    /// Caption of the plot.
    #[must_use]
    pub fn caption(&self) -> String {
        let anchor = self.progress.anchor.map_or("the mean".to_owned(), |player| printable(self.label(player)));
        format!(
            "Elo over {anchor}, joint maximum likelihood of {} games at {}, 95 % intervals by pairs; marked: changes with p at most {} over {} (Holm)",
            self.games,
            self.conditions.iter().map(|condition| printable(condition)).collect::<Vec<_>>().join(" and "),
            self.level,
            count(self.tested() as u64, "tested step")
        )
    }

    /// Draws the plot as SVG.
    #[must_use]
    pub fn svg(&self, sheet: Sheet) -> String {
        let unit = match self.progress.anchor {
            Some(player) => format!("Elo against {} (95 % intervals)", self.label(player)),
            None => "Elo (95 % intervals)".to_owned(),
        };
        ProgressionPlot {
            heads: Heads { title: "Elo of the versions".to_owned(), subtitle: self.outcome(), caption: self.caption() },
            unit,
            versions: self.points(),
        }
        .to_svg_on(sheet)
    }

    /// Writes the JSON document.
    ///
    /// # Errors
    /// Returns the errors of `serde_json`; none are known.
    pub fn json(&self) -> Result<String, serde_json::Error> {
        let is_version = |player: usize| self.versions.iter().any(|version| version.player == player);
        let document = ProgressJson {
            versions: self.versions.iter().map(|version| self.json_version(version)).collect(),
            steps: self.progress.steps.iter().map(|step| self.json_step(step)).collect(),
            anchor: self.progress.anchor.map(|player| self.label(player)),
            level: self.level,
            games: self.games,
            sparring: (0..self.names.len())
                .filter(|player| !is_version(*player) && self.progress.ratings.players[*player].games > 0)
                .map(|player| {
                    let rating = &self.progress.ratings.players[player];
                    let [elo, elo_error, ..] = self.elo(rating);
                    JsonSparring { name: &self.names[player], elo, elo_error, games: rating.games }
                })
                .collect(),
            conditions: &self.conditions,
            skipped_games: self.skipped.games(),
            given_again: self.skipped.given_again,
            repeated_games: self.skipped.repeated,
        };
        Ok(serde_json::to_string_pretty(&document)? + "\n")
    }

    fn json_version<'b>(&self, version: &'b Version) -> JsonVersion<'b> {
        let rating = self.rating(version);
        let [elo, elo_error, elo_lo, elo_hi] = self.elo(rating);
        JsonVersion {
            version: &version.label,
            commit: version.commit.as_deref(),
            date: version.date.as_deref(),
            subject: version.subject.as_deref(),
            elo,
            elo_error,
            elo_lo,
            elo_hi,
            bound: match rating.bounded {
                RatingKind::Exact => "exact",
                RatingKind::AtLeast => "at_least",
                RatingKind::AtMost => "at_most",
            },
            games: rating.games,
            score: rating.score,
        }
    }

    fn json_step(&self, step: &VersionStep) -> JsonStep<'_> {
        JsonStep {
            from: self.label(step.from),
            to: self.label(step.to),
            elo: step.change.map(|change| change.value),
            elo_error: step.change.and_then(|change| change.error95),
            p: step.p,
            p_adjusted: step.p_adjusted,
            mark: step.mark.name(),
        }
    }

    /// CSV table with one line per version.
    #[must_use]
    pub fn csv(&self) -> String {
        let mut out = "version,commit,date,elo,elo_lo,elo_hi,games,step,step_error,p,p_adjusted,mark\n".to_owned();
        let number = |value: Option<f64>| value.map_or(String::new(), |value| fixed(value, 4));
        for (place, version) in self.versions.iter().enumerate() {
            let rating = self.rating(version);
            let [elo, _, low, high] = self.elo(rating);
            let step = self.step_to(place);
            let change = step.and_then(|step| step.change);
            let small = |p: Option<f64>| p.map_or(String::new(), |p| format!("{p:e}"));
            let fields = [
                csv(&printable(&version.label)),
                version.commit.clone().unwrap_or_default(),
                version.date.clone().unwrap_or_default(),
                number(elo),
                number(low),
                number(high),
                rating.games.to_string(),
                number(change.map(|change| change.value)),
                number(change.and_then(|change| change.error95)),
                small(step.and_then(|step| step.p)),
                small(step.and_then(|step| step.p_adjusted)),
                step.map_or("", |step| step.mark.name()).to_owned(),
            ];
            out += &fields.join(",");
            out.push('\n');
        }
        out
    }

    /// Text for a terminal.
    #[must_use]
    pub fn text(&self) -> String {
        let width = self.versions.iter().map(|v| v.label.chars().count()).max().unwrap_or(0).max(7);
        let mut out = format!(
            "{:>3}  {:<width$}  {:<10}  {:>8}  {:>6}  {:>7}  {:>7}  {:>6}  {:>8}\n",
            "", "version", "date", "Elo", "+/-", "games", "step", "+/-", "p"
        );
        for (place, version) in self.versions.iter().enumerate() {
            let line = self.line(place, version, width);
            out += line.trim_end();
            out.push('\n');
        }
        out.push('\n');
        for mark in [Mark::Drop, Mark::Gain] {
            for step in self.progress.steps.iter().filter(|step| step.mark == mark) {
                let _ = writeln!(out, "{}", self.sentence(step));
            }
        }
        let _ = writeln!(out, "{}", self.outcome());
        let _ = writeln!(out, "{}", self.caption());
        out
    }

    fn line(&self, place: usize, version: &Version, width: usize) -> String {
        let rating = self.rating(version);
        let [elo, error, ..] = self.elo(rating);
        let sign = match rating.bounded {
            RatingKind::Exact => "",
            RatingKind::AtLeast => "> ",
            RatingKind::AtMost => "< ",
        };
        let dash = || "-".to_owned();
        let error = match error {
            _ if self.progress.anchor == Some(version.player) => "anchor".to_owned(),
            error => error.map_or_else(dash, |error| fixed(error, 1)),
        };
        let step = self.step_to(place);
        let change = step.and_then(|step| step.change);
        let mark = step.map_or(Mark::Open, |step| step.mark);
        format!(
            "{:>3}  {:<width$}  {:<10}  {:>8}  {error:>6}  {:>7}  {:>7}  {:>6}  {:>8}  {:<4}  {}",
            place + 1,
            printable(&version.label),
            version.date.as_deref().unwrap_or(""),
            elo.map_or_else(dash, |elo| format!("{sign}{}", fixed(elo, 1))),
            rating.games,
            change.map_or_else(dash, |change| signed(change.value, 1)),
            change.and_then(|change| change.error95).map_or_else(dash, |error| fixed(error, 1)),
            step.and_then(|step| step.p_adjusted).map_or_else(dash, probability),
            if mark == Mark::Open { "" } else { mark.name() },
            printable(version.subject.as_deref().unwrap_or("")),
        )
    }

    fn sentence(&self, step: &VersionStep) -> String {
        let (word, verb) = if step.mark == Mark::Drop { ("DROP", "lost") } else { ("gain", "gained") };
        let by = match step.change {
            Some(change) => {
                let error = change.error95.map_or(String::new(), |error| format!(" +/- {}", fixed(error, 1)));
                format!("{} Elo{error}", fixed(change.value.abs(), 1))
            }
            None => {
                let [to, from] = [step.to, step.from].map(|player| &self.progress.ratings.players[player]);
                if [to, from].iter().all(|rating| rating.bounded == RatingKind::Exact) {
                    format!("{} Elo without a known error, by the sign test,", fixed((to.elo - from.elo).abs(), 1))
                } else {
                    "more than can be rated, by the sign test,".to_owned()
                }
            }
        };
        let p = |p: Option<f64>| p.map_or("?".to_owned(), probability);
        format!(
            "{word}: {} {verb} {by} against {} (p {} of this step alone, {} over all {})",
            printable(self.label(step.to)),
            printable(self.label(step.from)),
            p(step.p),
            p(step.p_adjusted),
            self.tested()
        )
    }

    /// Number of steps that could be tested.
    fn tested(&self) -> usize {
        self.progress.steps.iter().filter(|step| step.p.is_some()).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_read_where_they_are_whole() {
        for (tag, expected) in [
            ("2026.01.31", Some("2026-01-31")),
            ("2026-01-31", Some("2026-01-31")),
            ("2026.??.??", None),
            ("", None),
            ("26.1.1", None),
        ] {
            assert_eq!(day(tag.as_bytes()).as_deref(), expected, "{tag}");
        }
    }

    #[test]
    fn the_first_day_of_a_player_is_the_earliest() {
        let game = |white: &str, black: &str, date: &str| {
            format!("[Date \"{date}\"]\n[White \"{white}\"]\n[Black \"{black}\"]\n[Result \"1-0\"]\n\n1-0\n\n")
        };
        let text = [game("A", "B", "2026.02.01"), game("B", "C", "2026.01.01"), game("C", "A", "????.??.??")].concat();
        let days = first_days(text.as_bytes()).unwrap();
        let day = |name: &str| days.get(name).map(String::as_str);
        assert_eq!([day("A"), day("B"), day("C")], [Some("2026-02-01"), Some("2026-01-01"), Some("2026-01-01")]);
    }
}
