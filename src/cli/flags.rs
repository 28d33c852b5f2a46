//! Flags of every command that plays a plan.

use std::path::Path;

use anyhow::Result;

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
}
