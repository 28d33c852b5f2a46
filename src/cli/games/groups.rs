//! Results by group.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::fmt::Write as _;

use clap::ValueEnum;
use console::measure_text_width;
use serde_json::json;

use crate::cli::games::filter::side;
use crate::cli::games::show::{ShownRun, opening, pad};
use crate::record::{Color, GameRecord};

/// Key by which games are grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum GroupKey {
    /// Reason for their end.
    Termination,
    /// Players: each game counts for both.
    Player,
    /// Opponent of --player, else of White.
    Opponent,
    /// Opening from which they began.
    Opening,
    /// Side that --player had; without a player, White and Black.
    #[value(alias = "side")]
    Color,
}

impl GroupKey {
    const fn name(self) -> &'static str {
        match self {
            Self::Termination => "termination",
            Self::Player => "player",
            Self::Opponent => "opponent",
            Self::Opening => "opening",
            Self::Color => "color",
        }
    }
}

/// Games of a group by result: losses, draws, wins.
type GroupCounts = [u64; 3];

/// Results by group. Memory grows with the number of groups.
#[derive(Debug)]
pub(super) struct Groups {
    key: GroupKey,
    counts: HashMap<String, GroupCounts>,
}

impl Groups {
    pub(super) fn new(key: GroupKey) -> Self {
        Self { key, counts: HashMap::new() }
    }

    pub(super) fn record(&mut self, shown: &ShownRun<'_>, game: &GameRecord) {
        let view = shown.player.and_then(|player| side(game, player));
        let mine = view.unwrap_or(Color::White);
        let name = |side: Color| shown.name(*game.players.get(side));
        match self.key {
            GroupKey::Termination => self.record_in(game.ending.termination.name().to_owned(), game, mine),
            GroupKey::Opponent => self.record_in(name(mine.other()), game, mine),
            GroupKey::Opening => self.record_in(opening(game).to_string(), game, mine),
            GroupKey::Player => {
                for side in [Color::White, Color::Black] {
                    self.record_in(name(side), game, side);
                }
            }
            GroupKey::Color => {
                for side in
                    [Color::White, Color::Black].into_iter().filter(|side| view.is_none_or(|view| view == *side))
                {
                    self.record_in(side.to_string().to_lowercase(), game, side);
                }
            }
        }
    }

    fn record_in(&mut self, group: String, game: &GameRecord, view: Color) {
        self.counts.entry(group).or_default()[usize::from(game.ending.outcome.half_points(view))] += 1;
    }

    /// Table of the groups, or a line of JSON for each, the largest group first.
    pub(super) fn text(&self, json: bool) -> String {
        let mut rows: Vec<_> = self.counts.iter().collect();
        rows.sort_by(|a, b| b.1.iter().sum::<u64>().cmp(&a.1.iter().sum()).then_with(|| by_name(a.0, b.0)));
        let mut text = String::new();
        let width = rows.iter().map(|(name, _)| measure_text_width(name)).chain([self.key.name().len()]).max();
        let width = width.unwrap_or(0);
        if !json && !rows.is_empty() {
            let head = pad(self.key.name(), width);
            // Writing to a string does not fail.
            let _ = writeln!(
                text,
                "{head}  {:>8}  {:>8}  {:>8}  {:>8}  {:>7}",
                "games", "wins", "draws", "losses", "score"
            );
        }
        for (name, &[losses, draws, wins]) in rows {
            let games = losses + draws + wins;
            let score = (wins as f64 + draws as f64 / 2.0) / games as f64;
            let _ = if json {
                let name = name
                    .parse()
                    .ok()
                    .filter(|_| self.key == GroupKey::Opening)
                    .map_or_else(|| json!(name), |n: u64| json!(n));
                let group = json!({
                    self.key.name(): name, "games": games, "wins": wins, "draws": draws, "losses": losses, "score": score,
                });
                writeln!(text, "{group}")
            } else {
                let name = pad(name, width);
                writeln!(text, "{name}  {games:>8}  {wins:>8}  {draws:>8}  {losses:>8}  {:>6.1}%", score * 100.0)
            };
        }
        text
    }
}

/// Orders numbers by value and other names as text.
fn by_name(a: &str, b: &str) -> Ordering {
    match (a.parse::<u64>(), b.parse::<u64>()) {
        (Ok(a), Ok(b)) => a.cmp(&b),
        _ => a.cmp(b),
    }
}
