//! Conditions of games: the limits of both sides, and the chess variant.

use crate::chess::Variant;
use crate::plan::time_control::Limit;
use crate::report::pgn_tags::GameTags;

use super::RunPlayer;

/// Condition of a game or a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Condition {
    /// Name for users: `8+0.08`, `nodes=2000`, `8+0.08 | 16+0.16` if sides differ, with ` Chess960`
    /// or the network of all players, such as ` net-1a2b3c4d`, appended.
    pub(super) name: String,
    /// Limits of White and Black.
    sides: [String; 2],
    /// True if players have different limits.
    pub(super) has_odds: bool,
    /// True if a side is known to have a clock or a time per move.
    pub(super) is_timed: bool,
}

impl Condition {
    /// Condition of a PGN game.
    pub(super) fn of_tags(game: &GameTags) -> Self {
        let sides = [&game.limits.white, &game.limits.black].map(|side| {
            // Prefers the tag with the whole limit, which quintain writes, to the clock, which
            // other programs write.
            if side.limit.is_empty() { of_clock(&side.time_control) } else { of_limit(&side.limit) }
        });
        let is_timed = sides.iter().any(|(_, is_timed)| *is_timed);
        Self::new(sides.map(|(name, _)| name), is_timed, game.variant() == Variant::Chess960)
    }

    /// Condition of a run, which all its games share.
    pub(super) fn of_run(players: &[RunPlayer<'_>], variant: Variant) -> Self {
        let mut limits: Vec<String> = players.iter().map(|player| player.limit.to_string()).collect();
        limits.sort();
        limits.dedup();
        let mut name = limits.join(" | ") + if variant == Variant::Chess960 { " Chess960" } else { "" };
        let network = players.first().map_or("", |player| player.network);
        if !network.is_empty() && players.iter().all(|player| player.network == network) {
            name = name + " net-" + network;
        }
        let is_timed = players.iter().any(|player| player.limit.is_timed());
        Self { name, sides: [String::new(), String::new()], has_odds: limits.len() > 1, is_timed }
    }

    fn new(sides: [String; 2], is_timed: bool, is_chess960: bool) -> Self {
        let has_odds = sides[0] != sides[1];
        let mut limits = sides.clone();
        limits.sort();
        let shown = if has_odds { limits.join(" | ") } else { limits[0].clone() };
        Self { name: shown + if is_chess960 { " Chess960" } else { "" }, sides, has_odds, is_timed }
    }

    /// Limits that distinguish White from Black; empty if they are equal.
    pub(super) fn limits(&self) -> [&str; 2] {
        if self.has_odds { [&self.sides[0], &self.sides[1]] } else { ["", ""] }
    }
}

/// Normal form of a `TimeControl` tag, with true if it is known to be a clock.
fn of_clock(tag: &[u8]) -> (String, bool) {
    let text = String::from_utf8_lossy(tag);
    match text.trim() {
        "" | "?" => ("time control not known".to_owned(), false),
        "-" | "inf" | "infinite" => ("no clock".to_owned(), false),
        // Several periods, as PGN writes them. Other programs write a colon between minutes and
        // seconds.
        periods if periods.contains(':') => (periods.to_owned(), true),
        other => match other.strip_suffix("/move") {
            Some(seconds) => of_limit(format!("movetime={seconds}").as_bytes()),
            None => of_limit(other.as_bytes()),
        },
    }
}

/// Normal form of a limit, or the text itself if it is not one, with true if it is known to be a
/// clock.
fn of_limit(text: &[u8]) -> (String, bool) {
    let text = String::from_utf8_lossy(text);
    text.parse::<Limit>()
        .map_or_else(|_| (text.trim().to_owned(), false), |limit| (limit.to_string(), limit.is_timed()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chess960_has_two_names() {
        for (variant, expected) in
            [("Chess960", true), ("fischerandom", true), ("", false), ("standard", false), ("atomic", false)]
        {
            let mut game = GameTags::default();
            game.variant = variant.into();
            assert_eq!(Condition::of_tags(&game).name.ends_with(" Chess960"), expected, "{variant}");
        }
    }

    #[test]
    fn clocks_have_one_spelling() {
        for (tag, expected, is_timed) in [
            ("8+0.08", "8+0.08", true),
            ("8.0+0.080", "8+0.08", true),
            ("40/60+0", "40/60", true),
            ("60+0", "60", true),
            ("0.10/move", "movetime=0.1", true),
            ("-", "no clock", false),
            ("inf", "no clock", false),
            ("?", "time control not known", false),
            ("", "time control not known", false),
            ("40/7200:3600", "40/7200:3600", true),
        ] {
            assert_eq!(of_clock(tag.as_bytes()), (expected.to_owned(), is_timed), "{tag}");
        }
    }
}
