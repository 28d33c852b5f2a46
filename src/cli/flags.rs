//! Flags of every command that plays a plan.

use std::path::Path;

use anyhow::{Result, bail};

use crate::settings::{KeyedCommand, PlanFlags, RawPlan};

/// Keys of a plan that command `C` takes, and how it prints its results.
#[derive(Debug, clap::Args)]
pub(super) struct RunFlags<C: KeyedCommand> {
    #[command(flatten)]
    plan: PlanFlags<C>,
    /// Print the summary as one JSON document.
    #[arg(long, help_heading = "Output")]
    pub(super) json: bool,
}

impl<C: KeyedCommand> RunFlags<C> {
    /// Keys given on the command line.
    pub(super) const fn typed(&self) -> &RawPlan {
        self.plan.typed()
    }

    /// Keys of the plan file, if there is one, with those of the command line over them.
    ///
    /// # Errors
    /// Returns an error if the file is no plan, or a value cannot be stored in one.
    pub(super) fn over_plan(&self, plan: Option<&Path>) -> Result<RawPlan> {
        let file = plan.map(RawPlan::read).transpose()?.unwrap_or_default();
        Ok(self.typed().over(&file)?)
    }

    /// Refuses a list of CPUs among the other words of the command line: `--affinity` takes one
    /// only after `=`.
    pub(super) fn check_words<'a>(&self, words: impl IntoIterator<Item = &'a str>) -> Result<()> {
        let is_list =
            |word: &&str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit() || b",-".contains(&byte));
        match words.into_iter().find(is_list) {
            Some(list) if self.typed().affinity.as_deref() == Some("auto") => bail!("write --affinity={list}"),
            _ => Ok(()),
        }
    }
}
