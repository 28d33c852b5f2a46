//! Flags of every command that plays a plan.

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
}
