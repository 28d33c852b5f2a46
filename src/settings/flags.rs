//! Keys of a plan as flags of a command.

use std::ffi::OsString;
use std::fmt;
use std::marker::PhantomData;

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, Command, Error, FromArgMatches};

use super::key::{Key, flags, keys, name_of};
use super::plan::RawPlan;

/// A command whose flags are keys of a plan.
pub trait KeyedCommand: fmt::Debug + Clone + Send + Sync + 'static {
    /// Returns true if the command has a flag for this key.
    fn takes(key: &Key) -> bool;
}

/// Keys that all commands which play games have.
#[derive(Clone, Copy, Debug)]
pub struct AnyCommand;

/// `quintain sprt`.
#[derive(Clone, Copy, Debug)]
pub struct SprtCommand;

/// `quintain match`.
#[derive(Clone, Copy, Debug)]
pub struct MatchCommand;

/// `quintain gauntlet`, which has its own flags for the format and its heroes.
#[derive(Clone, Copy, Debug)]
pub struct GauntletCommand;

/// `quintain tune`.
#[derive(Clone, Copy, Debug)]
pub struct TuneCommand;

/// `quintain race`, whose plans alone name the format.
#[derive(Clone, Copy, Debug)]
pub struct RaceCommand;

impl KeyedCommand for AnyCommand {
    fn takes(key: &Key) -> bool {
        SprtCommand::takes(key) && MatchCommand::takes(key)
    }
}

impl KeyedCommand for SprtCommand {
    fn takes(key: &Key) -> bool {
        key.is_of("sprt")
    }
}

impl KeyedCommand for MatchCommand {
    fn takes(key: &Key) -> bool {
        key.is_of("match")
    }
}

impl KeyedCommand for GauntletCommand {
    fn takes(key: &Key) -> bool {
        key.is_of("gauntlet") && !["format", "heroes"].contains(&key.name.as_str())
    }
}

impl KeyedCommand for RaceCommand {
    fn takes(key: &Key) -> bool {
        key.is_of("race") && key.name != "format"
    }
}

impl KeyedCommand for TuneCommand {
    fn takes(key: &Key) -> bool {
        key.is_of("tune")
    }
}

/// Flags of a command that are keys of a plan.
#[derive(Clone, Debug)]
pub struct PlanFlags<C> {
    typed: RawPlan,
    command: PhantomData<C>,
}

impl<C> PlanFlags<C> {
    /// Typed flags as a plan without other keys.
    #[must_use]
    pub const fn typed(&self) -> &RawPlan {
        &self.typed
    }
}

/// Keys of like meaning in different commands. A command with one of them takes its flag by the
/// other's name too.
const ALIKE: [(&str, &str); 2] = [("pairs", "max-pairs"), ("max-pairs", "pairs")];

/// Returns the flags of the keys that a command has.
fn taken<C: KeyedCommand>() -> impl Iterator<Item = Arg> {
    let names: Vec<String> = keys().into_iter().filter(C::takes).map(|key| key.name).collect();
    let all: Vec<Arg> = flags().get_arguments().cloned().collect();
    all.into_iter().filter_map(move |flag| {
        let name = name_of(&flag);
        let other = ALIKE.iter().find(|(one, other)| *one == name && !names.iter().any(|known| known == other));
        names.contains(&name).then(|| match other {
            Some((_, other)) => flag.alias(*other),
            None => flag,
        })
    })
}

impl<C: KeyedCommand> Args for PlanFlags<C> {
    fn augment_args(command: Command) -> Command {
        command.args(taken::<C>())
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<C: KeyedCommand> FromArgMatches for PlanFlags<C> {
    /// Parses the typed flags again with the declaration of all flags, which has their types.
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut words = Vec::new();
        for flag in taken::<C>() {
            let (id, Some(long)) = (flag.get_id().as_str(), flag.get_long()) else { continue };
            if matches.value_source(id) != Some(ValueSource::CommandLine) {
                continue;
            }
            for value in matches.get_raw(id).into_iter().flatten() {
                let mut word = OsString::from(format!("--{long}="));
                word.push(value);
                words.push(word);
            }
        }
        let typed = RawPlan::from_arg_matches(&flags().try_get_matches_from(words)?)?;
        Ok(Self { typed, command: PhantomData })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
