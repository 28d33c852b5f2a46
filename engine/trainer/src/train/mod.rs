//! Networks: training, quantising, exporting, comparing.

use clap::Subcommand;

/// What can be asked for.
#[derive(Debug, Subcommand)]
pub enum Command {}

/// Does what was asked for.
///
/// # Errors
/// Says what could not be read, written or understood.
pub fn run(command: Command) -> anyhow::Result<()> {
    match command {}
}
