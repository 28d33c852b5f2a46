//! A round robin: every player meets every other.

use crate::record::PlayerId;
use crate::tournament::formats::{Definition, Encounter, Format, FormatRules, Pairs};

/// Entry in the table of formats.
pub static DEFINITION: Definition = Definition {
    choose: Some(|_, _| Ok(Format::new(RoundRobin))),
    lower_first: true,
    ..Definition::new("round-robin", "a round robin", |_| Some(Format::new(RoundRobin)))
};

/// A round robin.
#[derive(Clone, Copy, Debug)]
pub struct RoundRobin;

impl FormatRules for RoundRobin {
    fn definition(&self) -> &'static Definition {
        &DEFINITION
    }

    fn encounters(&self, players: u16) -> u64 {
        let players = u64::from(players);
        players * players.saturating_sub(1) / 2
    }

    fn pairs(&self, players: u16, _: Option<u64>) -> Pairs {
        let all = || (0..players).map(PlayerId);
        let encounters: Vec<Encounter> =
            all().flat_map(|a| all().skip(usize::from(a.0) + 1).map(move |b| (a, b))).collect();
        Pairs::Turns(encounters)
    }
}
