//! Command line of the trainer.

use clap::{Parser, Subcommand};
use destrier::board::attacks::{SlidingMethod, choose_sliding};
use destrier_trainer::{bootstrap, compare, data, lab, shards, texel, train};
use quintain::run::{Exit, play::on_interrupt};
use quintain::schedule::capacity::Supply;
use std::io::{self, Write};
use std::process::ExitCode;

#[derive(Debug, Parser)]
#[command(
    name = "destrier-trainer",
    version,
    about = "Makes Destrier's evaluation from positions",
    max_term_width = 130
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Looks at, cleans and converts training data.
    #[command(subcommand)]
    Data(data::DataCommand),
    #[command(flatten)]
    Train(train::TrainCommand),
    /// Plays networks against each other under Quintain and names the best; continues where it
    /// stopped.
    Compare(compare::Compare),
    /// Plays, trains and tests, generation by generation; continues where it stopped.
    Loop(bootstrap::Bootstrap),
    /// Makes, checks, lists and joins self-play data in checked shards.
    #[command(subcommand)]
    Shards(shards::ShardsCommand),
    /// Shows the features of a position in a set of network inputs, and its evaluation.
    Features(lab::FeaturesArgs),
    /// Shows how active a network's neurons are, and which never are.
    Neurons(lab::NeuronsArgs),
    /// Draws the weights of a network's neurons as boards in a page, lit by a typed position.
    Show(lab::ShowArgs),
    /// Trains and compares networks of several feature sets, sizes and seeds; continues where it
    /// stopped.
    Lab(lab::LabArgs),
    #[command(flatten)]
    Texel(texel::TexelCommand),
    /// Speaks UCI: the engine that is linked in, for `--engine "destrier-trainer -- uci"`.
    Uci,
}

/// Exit code of bad usage, a bad plan or file, or an engine that does not start.
const EXIT_USAGE: u8 = 2;

/// Installs a handler that removes unfinished outputs on Ctrl-C and similar signals.
fn leave_nothing(command: &data::DataCommand) -> anyhow::Result<()> {
    let leftovers = command.leftovers();
    on_interrupt(move || {
        leftovers.remove();
        #[expect(clippy::exit, reason = "the command is in the middle of its work")]
        std::process::exit(i32::from(Exit::Interrupted.code()));
    })?;
    Ok(())
}

fn main() -> ExitCode {
    choose_sliding(SlidingMethod::fastest());
    // Commands on data open all their inputs at once.
    let _ = Supply::claim();
    let done = |()| Exit::Done;
    let exit = match Cli::parse().command {
        Command::Data(command) => leave_nothing(&command).and_then(|()| data::run(command)).map(done),
        Command::Train(command) => train::run(command).map(done),
        Command::Compare(compare) => compare.run(&mut io::stdout()),
        Command::Loop(bootstrap) => bootstrap.run(&mut io::stdout()),
        Command::Shards(command) => shards::run(command, &mut io::stdout()),
        Command::Features(features) => features.run(&mut io::stdout()).map(done),
        Command::Neurons(neurons) => neurons.run().map(done),
        Command::Show(show) => show.run().map(done),
        Command::Lab(lab) => lab.run(&mut io::stdout()),
        Command::Texel(command) => texel::run(command).map(done),
        Command::Uci => destrier::uci::run(io::stdin().lock(), io::stdout()).map(done).map_err(Into::into),
    };
    match exit {
        Ok(exit) => ExitCode::from(exit.code()),
        Err(error) => {
            // A closed stderr is ignored.
            let _ = writeln!(io::stderr(), "error: {error:#}");
            ExitCode::from(EXIT_USAGE)
        }
    }
}
