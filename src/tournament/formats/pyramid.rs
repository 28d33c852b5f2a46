//! A pyramid: every player meets those before it, so that each newcomer meets the whole field at
//! once.

use crate::record::PlayerId;
use crate::tournament::formats::{Definition, Encounter, Format, FormatRules, Pairs};

/// Entry in the table of formats.
pub static DEFINITION: Definition = Definition {
    choose: Some(|_, _| Ok(Format::new(Pyramid))),
    lower_first: true,
    ..Definition::new("pyramid", "a pyramid", |_| Some(Format::new(Pyramid)))
};

/// A pyramid.
#[derive(Clone, Copy, Debug)]
pub struct Pyramid;

impl FormatRules for Pyramid {
    fn definition(&self) -> &'static Definition {
        &DEFINITION
    }

    fn encounters(&self, players: u16) -> u64 {
        let players = u64::from(players);
        players * players.saturating_sub(1) / 2
    }

    fn pairs(&self, players: u16, _: Option<u64>) -> Pairs {
        let encounters: Vec<Encounter> =
            (1..players).flat_map(|b| (0..b).map(move |a| (PlayerId(a), PlayerId(b)))).collect();
        Pairs::Turns(encounters)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_newcomer_meets_the_field() {
        let Pairs::Turns(encounters) = Pyramid.pairs(4, None) else { panic!("a fixed schedule") };
        let met: Vec<(u16, u16)> = encounters.iter().map(|(a, b)| (a.0, b.0)).collect();
        assert_eq!(met, [(0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3)]);
        assert_eq!(Pyramid.encounters(4), met.len() as u64);
    }
}
