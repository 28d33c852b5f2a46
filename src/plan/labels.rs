//! Options of players in words, and labels that tell apart players of one program.

use super::{Plan, Player};
use crate::text::{excerpt, printable};

/// Maximum length of the options in a label.
const LABEL: usize = 40;

/// Maximum length of one value; of a longer one the end is kept, because it is the name of a file.
const VALUE: usize = 32;

/// Formats options as `Hash=2 Threads=1`, and as many as fit into `most` characters, but at least
/// one: `Hash=2 and 3 more`.
#[must_use]
pub fn option_words<'a>(options: impl IntoIterator<Item = (&'a str, &'a str)>, most: usize) -> String {
    let (mut text, mut left_out) = (String::new(), 0usize);
    for (name, value) in options {
        let word = format!("{}={}", excerpt(name, VALUE), shortened(value));
        let is_first = text.is_empty();
        if left_out > 0 || !is_first && text.chars().count() + 1 + word.chars().count() > most {
            left_out += 1;
        } else {
            text += if is_first { "" } else { " " };
            text += &word;
        }
    }
    if left_out > 0 { format!("{text} and {left_out} more") } else { text }
}

fn shortened(value: &str) -> String {
    let value = printable(value);
    let excess = value.chars().count().saturating_sub(VALUE);
    if excess == 0 { value } else { value.chars().skip(excess).fold("…".to_owned(), |text, c| text + &c.to_string()) }
}

impl Player {
    /// Options that the plan sets, each with the value that holds, without that of the network.
    pub fn set_options(&self) -> impl Iterator<Item = (&str, &str)> {
        let network = self.origin.network.as_ref().and_then(|network| network.option.as_deref());
        let holds = move |place: usize, name: &str| {
            let later = self.options.iter().skip(place + 1);
            !network.is_some_and(|option| option.eq_ignore_ascii_case(name))
                && !later.into_iter().any(|(other, _)| other.eq_ignore_ascii_case(name))
        };
        let options = self.options.iter().enumerate().filter(move |(place, (name, _))| holds(*place, name));
        options.map(|(_, (name, value))| (name.as_str(), value.trim()))
    }

    /// Options with values that one of `others` does not have.
    pub fn options_unlike<'a>(&'a self, others: &[&'a Self]) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.set_options().filter(|(name, value)| others.iter().any(|other| other.option(name) != Some(value)))
    }
}

/// Names of players as titles and lists show them. Of players with one program, the options that
/// differ follow: `destrier (Hash=2)`.
#[must_use]
pub fn labels(players: &[Player]) -> Vec<String> {
    let label = |player: &Player| {
        let same = |other: &&Player| other.origin.sha256 == player.origin.sha256;
        let same: Vec<_> = players.iter().filter(same).collect();
        match option_words(player.options_unlike(&same), LABEL) {
            options if options.is_empty() => player.name.clone(),
            options => format!("{} ({options})", player.name),
        }
    };
    players.iter().map(label).collect()
}

impl Plan {
    /// Labels of the players ([`labels`]).
    #[must_use]
    pub fn labels(&self) -> Vec<String> {
        labels(&self.players)
    }

    /// Formats `NEW against BASE` with the labels of both; `None` unless two players play.
    #[must_use]
    pub fn duel(&self) -> Option<String> {
        let labels = self.labels();
        (labels.len() == 2).then(|| labels.join(" against "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Network, file};

    fn plan(new: &[(&str, &str)], base: &[(&str, &str)]) -> Plan {
        let mut plan = file::from_toml(include_str!("../../tests/it/fixtures/v1/plan.toml")).unwrap();
        for (player, options) in plan.players.iter_mut().zip([new, base]) {
            player.options = options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        }
        plan
    }

    #[test]
    fn players_of_one_program_are_told_apart_by_their_options() {
        let same = "engine-new against engine-base";
        for (new, base, expected) in [
            (&[][..], &[][..], same),
            (&[("Hash", "2")], &[("hash", "2")], same),
            (&[("Hash", "2"), ("Threads", "1")], &[("Threads", "1")], "engine-new (Hash=2) against engine-base"),
            (&[("Hash", "2"), ("Hash", "64")], &[("Hash", "1")], "engine-new (Hash=64) against engine-base (Hash=1)"),
        ] {
            assert_eq!(plan(new, base).duel().as_deref(), Some(expected));
        }
        let mut other = plan(&[("Hash", "2")], &[]);
        other.players[1].origin.sha256 = "0".to_owned();
        assert_eq!(other.duel().as_deref(), Some(same));
        other.players.pop();
        assert_eq!(other.duel(), None);
    }

    #[test]
    fn the_option_of_a_network_is_not_among_the_options() {
        let mut plan = plan(&[("EvalFile", "/cache/a.nnue"), ("Hash", "2")], &[]);
        let option = Some("EvalFile".to_owned());
        plan.players[0].origin.network = Some(Network { file: "a.nnue".to_owned(), sha256: "0a".to_owned(), option });
        assert_eq!(plan.labels()[0], "engine-new (Hash=2)");
    }

    #[test]
    fn many_options_and_long_values_are_shortened() {
        let options = [("Hash", "2"), ("Threads", "1"), ("Contempt", "10"), ("Ponder", "true")];
        assert_eq!(option_words(options, 20), "Hash=2 Threads=1 and 2 more");
        assert_eq!(option_words(options, 1), "Hash=2 and 3 more");
        assert_eq!(option_words([], 20), "");
        let file = format!("/{}/net.nnue", "x".repeat(40));
        let words = option_words([("EvalFile", file.as_str())], 20);
        assert!(words.starts_with("EvalFile=…x") && words.ends_with("x/net.nnue"), "{words}");
        assert!(!option_words([("A", "\u{1b}[2J")], 20).contains('\u{1b}'));
    }
}
