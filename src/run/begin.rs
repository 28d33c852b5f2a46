//! Settings of the commands that the queue plays, checked and resolved.

use serde::{Deserialize, Serialize};

use crate::openings::Book;
use crate::plan::{Plan, Player};
use crate::run::error::{Result, ResultContext as _, fail};
use crate::run::resolve::networks;
use crate::run::{Exit, forecast, progress, race, resolve, tuning};
use crate::settings::{self, RawPlan};
use crate::source::{self, Bases, Context};
use crate::tournament::formats;

/// A command that plays one plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum GameCommand {
    /// `quintain sprt`.
    Sprt,
    /// `quintain match`.
    Match,
    /// `quintain gauntlet`.
    Gauntlet,
    /// `quintain race`.
    Race,
    /// `quintain tune`.
    Tune,
}

impl GameCommand {
    /// All commands, in the order in which lists name them.
    pub(crate) const ALL: [Self; 5] = [Self::Sprt, Self::Match, Self::Gauntlet, Self::Race, Self::Tune];

    /// Command of this name.
    pub(crate) fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|command| command.name() == word)
    }

    /// Command that plays a plan file with these keys.
    pub(crate) fn of(raw: &RawPlan) -> Self {
        match raw.format.as_deref() {
            Some(format) => Self::of_format(format),
            None if Self::is_tuning(raw) => Self::Tune,
            None if raw.players.is_empty() => Self::Sprt,
            None => Self::Match,
        }
    }

    /// Command that plays a format.
    pub(crate) fn of_format(name: &str) -> Self {
        Self::named(formats::command(name)).unwrap_or(Self::Match)
    }

    /// True if a plan has a key that only tunings have.
    fn is_tuning(raw: &RawPlan) -> bool {
        let set = raw.table().unwrap_or_default();
        settings::keys().iter().any(|key| key.commands() == ["tune"] && set.contains_key(&key.name))
    }

    /// Word for the result of a run: the hypothesis that a test accepted, or the reason of its end.
    pub(crate) const fn result(self, exit: Exit) -> &'static str {
        match (self, exit) {
            (Self::Sprt, Exit::Done) => "H1",
            (Self::Tune, Exit::H0) => "not better",
            (_, Exit::Done) => "done",
            (_, Exit::H0 | Exit::Failed) => "H0",
            (_, Exit::Inconclusive) => "inconclusive",
            (_, Exit::Aborted) => "aborted",
            (_, Exit::Interrupted) => "interrupted",
        }
    }

    /// Name of the command, also the default name of its runs.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Sprt => "sprt",
            Self::Match => "match",
            Self::Gauntlet => "gauntlet",
            Self::Race => "race",
            Self::Tune => "tune",
        }
    }
}

/// Settings whose Git revisions are commits, and whose engines exist.
pub(crate) fn pinned(command: GameCommand, mut raw: RawPlan) -> Result<RawPlan> {
    let context = Context::from_env()?;
    let pin = |spec: &str| -> Result<String> {
        let within = || format!("`{spec}`");
        match source::missing(spec, &context).within(within)? {
            Some(error) => Err(error).within(within),
            None => source::pinned(spec, &context, &mut progress::step).within(within),
        }
    };
    networks::pin(&mut raw, &context)?;
    if command == GameCommand::Sprt {
        let new = pin(raw.new.as_deref().unwrap_or("."))?;
        if networks::in_one_program(&raw, &networks::of_sides(&raw, &context)?)? {
            raw.base = Some(new.clone());
        } else if raw.base.is_none() {
            // A later search from the same commit finds the same base.
            let from = raw.base_from.as_deref();
            let mut bases = Bases::of(&context, &new, from, &mut progress::step).within(|| "base")?;
            raw.base_from = Some(bases.start().to_owned());
            bases.first().within(|| "base")?;
        }
        raw.new = Some(new);
    }
    if command == GameCommand::Tune {
        raw.engine = Some(pin(raw.engine.as_deref().unwrap_or("."))?);
    }
    raw.base = raw.base.as_deref().map(pin).transpose()?;
    let skips = raw.skip_missing == Some(true);
    for player in &mut raw.players {
        let Some(spec) = &player.spec else { continue };
        if skips && source::missing(spec, &context)?.is_some() {
            continue;
        }
        player.spec = Some(pin(spec)?);
    }
    Ok(raw)
}

/// Checks settings as far as that needs no engine.
pub(crate) fn check(command: GameCommand, raw: &RawPlan) -> Result<()> {
    let shape = match command {
        GameCommand::Sprt => resolve::sprt_shape(raw)?,
        GameCommand::Match | GameCommand::Gauntlet => resolve::games_shape(raw, "match")?,
        GameCommand::Race => resolve::race_shape(raw, race::rule(raw)?)?,
        GameCommand::Tune => {
            tuning::prepare::check(raw)?;
            resolve::tune_shape(raw)?
        }
    };
    resolve::check(raw, shape)
}

/// Finds or builds the engines, and resolves everything else.
pub(crate) fn resolved(command: GameCommand, raw: RawPlan) -> Result<(Plan, Book)> {
    match command {
        GameCommand::Sprt => {}
        GameCommand::Race => {
            let allow_same = raw.allow_same == Some(true);
            let (plan, book) = race::resolved(raw)?;
            if let [base, candidates @ ..] = plan.players.as_slice() {
                candidates.iter().try_for_each(|candidate| compare([candidate, base], allow_same))?;
            }
            return Ok((plan, book));
        }
        // A tuning also has parameters, and its own directory.
        GameCommand::Match | GameCommand::Gauntlet | GameCommand::Tune => {
            let name = command.name();
            return resolve::games(&raw, name).within(|| format!("cannot start the {name}"));
        }
    }
    if let Some(budget) = &raw.budget {
        forecast::check_budget(budget, &raw)?;
    }
    let (mut plan, book) = resolve::sprt(&raw).within(|| "cannot start the test")?;
    if let Some(budget) = &raw.budget {
        progress::note(&forecast::spend(budget, &mut plan)?);
    }
    if let [new, base] = plan.players.as_slice() {
        compare([new, base], raw.allow_same == Some(true))?;
    }
    Ok((plan, book))
}

/// Refuses two identical sides, and notes sides that can differ only in speed.
fn compare([new, base]: [&Player; 2], allow_same: bool) -> Result<()> {
    if new.limit != base.limit {
        return Ok(());
    }
    if new.is_same_engine(base) {
        if !allow_same {
            fail!(
                Engine,
                "`{}` and `{}` are the same program with the same settings, so their games would only measure noise; choose another --base, give one side another option or clock, or use --allow-same",
                new.origin.spec,
                base.origin.spec
            );
        }
        progress::warn(&format!(
            "`{}` and `{}` are the same program with the same settings; their games can only measure noise",
            new.origin.spec, base.origin.spec
        ));
    } else if let (Some(nodes), true) = (new.origin.bench_nodes, new.origin.bench_nodes == base.origin.bench_nodes)
        && new.options == base.options
    {
        progress::note(&format!(
            "both programs search {nodes} nodes in their bench, so the change looks non-functional: `quintain speed` shows in a minute whether one is faster"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_plays_each_format() {
        for format in formats::FORMATS {
            assert_eq!(GameCommand::of_format(format.name).name(), format.command, "{}", format.name);
        }
    }
}
