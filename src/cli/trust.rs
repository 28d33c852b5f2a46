//! The `--trust` flag.

/// `--trust`, for commands that start the programs of a run.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(super) struct Trust {
    /// Start the programs that the run names although it was written elsewhere; it counts as your
    /// own from then on.
    #[arg(long)]
    pub(super) trust: bool,
}
