//! The command line of the trainer.

use clap::{Parser, Subcommand};
use destrier_trainer::{data, texel, train};

#[derive(Debug, Parser)]
#[command(name = "destrier-trainer", version, about = "Makes Destrier's evaluation from positions")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Look at, clean and convert training data.
    #[command(subcommand)]
    Data(data::Command),
    #[command(flatten)]
    Train(train::Command),
    #[command(flatten)]
    Texel(texel::Command),
}

fn main() -> anyhow::Result<()> {
    match Cli::parse().command {
        Command::Data(command) => data::run(command),
        Command::Train(command) => train::run(command),
        Command::Texel(command) => texel::run(command),
    }
}
