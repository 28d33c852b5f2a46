//! The first players, the heroes, meet all that come after them.

use crate::record::PlayerId;
use crate::tournament::formats::round_robin::RoundRobin;
use crate::tournament::formats::{Definition, Format, FormatError, FormatRules, Pairs, Parameters};

/// Entry in the table of formats.
pub static DEFINITION: Definition = Definition {
    command: "gauntlet",
    takes: &["heroes"],
    choose: Some(choose),
    lower_first: true,
    ..Definition::new("gauntlet", "a gauntlet", |parameters| Some(Format::new(Gauntlet { heroes: parameters.heroes? })))
};

/// A gauntlet. If all players are heroes, it is a round robin.
#[derive(Clone, Copy, Debug)]
pub struct Gauntlet {
    /// Number of heroes, from 1.
    pub heroes: u16,
}

fn choose(parameters: &Parameters, players: u16) -> Result<Format, FormatError> {
    let heroes = parameters.heroes.unwrap_or(1);
    let most = players.saturating_sub(1);
    if heroes == 0 || heroes > most {
        return Err(FormatError::Value(format!(
            "{heroes} heroes of {players} players: 1 to {most}, so that they have an opponent"
        )));
    }
    Ok(Format::new(Gauntlet { heroes }))
}

impl FormatRules for Gauntlet {
    fn definition(&self) -> &'static Definition {
        &DEFINITION
    }

    fn parameters(&self) -> Parameters {
        Parameters { heroes: Some(self.heroes), ..Parameters::default() }
    }

    fn encounters(&self, players: u16) -> u64 {
        match players.checked_sub(self.heroes) {
            None | Some(0) => RoundRobin.encounters(players),
            Some(field) => u64::from(self.heroes) * u64::from(field),
        }
    }

    fn pairs(&self, players: u16, pairs: Option<u64>) -> Pairs {
        if self.heroes >= players {
            return RoundRobin.pairs(players, pairs);
        }
        let ids = |from: u16, to: u16| (from..to).map(PlayerId);
        Pairs::Turns(ids(0, self.heroes).flat_map(|a| ids(self.heroes, players).map(move |b| (a, b))).collect())
    }

    fn rated(&self, _: usize) -> usize {
        self.heroes.into()
    }
}
