//! `quintain book`: makes, describes and checks opening books.

mod describe;
mod judge;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use indicatif::{ProgressBar, ProgressStyle};

use crate::chess::Variant;
use crate::cli::run_dir::{sha256, write_atomically};
use crate::cli::{Exit, progress, resolve};
use crate::plan::book::{Selection, Tally, Walks, Window};
use crate::schedule::affinity::Topology;
use judge::Judge;

const EXAMPLES: &str = "\
Examples:
  quintain book make --out openings/balanced.epd --count 20000 --plies 8 --seed 1 --engine stockfish --nodes 50000
  quintain book info openings/balanced.epd
  quintain book check openings/balanced.epd";

/// Makes, describes and checks opening books.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct BookArgs {
    #[command(subcommand)]
    command: BookCommand,
}

#[derive(Debug, clap::Subcommand)]
enum BookCommand {
    /// Random walks from the starting position, kept where an engine's score lies in a window.
    ///
    /// The same seed, settings and engine give the same book, byte for byte, whatever the concurrency.
    Make(MakeArgs),
    /// Openings, duplicates, sides to move, plies and SHA-256 of a book.
    Info(FileArgs),
    /// Reads every opening of a book and names the lines that cannot be played.
    Check(FileArgs),
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  quintain book make --out book.epd --count 1000 --engine ./engine --nodes 20000 -j 4"
)]
struct MakeArgs {
    /// The book to write, EPD. Replaced as a whole at the end.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Positions wanted.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    count: u64,
    /// Plies of each walk.
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(0..=200))]
    plies: u32,
    /// Decides the walks.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// The engine that judges: a path, a name of the registry, `.` or `git:REV`.
    #[arg(long, value_name = "SPEC")]
    engine: String,
    /// A UCI option for it; may be repeated. Leave it one thread: more are not repeatable.
    #[arg(long = "option", value_name = "NAME=VALUE")]
    options: Vec<String>,
    /// Nodes of the search that decides. A twentieth of it is tried first.
    #[arg(long, value_name = "N", default_value_t = 50_000, value_parser = clap::value_parser!(u64).range(1..))]
    nodes: u64,
    /// Scores kept, in centipawns, whichever side is ahead.
    #[arg(long, value_name = "LOW,HIGH", default_value = "0,60", allow_hyphen_values = true)]
    window: String,
    /// Engines at once [default: physical cores].
    #[arg(short = 'j', long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    concurrency: Option<u16>,
}

#[derive(Debug, clap::Args)]
struct FileArgs {
    /// EPD, FEN list or PGN.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Chess960 rules and castling.
    #[arg(long)]
    chess960: bool,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

impl FileArgs {
    const fn variant(&self) -> Variant {
        if self.chess960 { Variant::Chess960 } else { Variant::Standard }
    }
}

pub(super) fn run(args: &BookArgs) -> Result<Exit> {
    match &args.command {
        BookCommand::Make(args) => make(args)?,
        BookCommand::Info(args) => progress::result(&describe::info(&args.file, args.variant(), args.json)?),
        BookCommand::Check(args) => progress::result(&describe::check(&args.file, args.variant(), args.json)?),
    }
    Ok(Exit::Done)
}

fn make(args: &MakeArgs) -> Result<()> {
    let window = args.window.parse::<Window>().map_err(|error| anyhow::anyhow!("--window {error}"))?;
    let folder = args.out.parent().filter(|parent| !parent.as_os_str().is_empty());
    if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
        // Said now and not after an hour.
        bail!("{}: no such folder; make it, or choose another --out", folder.display());
    }
    let judge = Judge {
        engine: resolve::one_engine(&args.engine, &args.options)
            .with_context(|| format!("--engine `{}`", args.engine))?,
        nodes: args.nodes,
        window,
    };
    let engines = args.concurrency.map_or_else(|| Topology::detect().physical_cores(), usize::from);
    let bar = bar(args.count);
    let mut selection = Selection::new(args.count);
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().context("cannot start the event loop")?;
    let judged = runtime.block_on(judge::fill(
        &mut selection,
        Walks::new(args.plies, args.seed),
        &judge,
        engines,
        |selection| {
            bar.set_position(selection.kept());
            bar.set_message(format!("{} judged", selection.judged()));
        },
    ));
    bar.finish_and_clear();
    let engine_name = judged?;
    let epd = selection.to_epd();
    write_atomically(&args.out, epd.as_bytes())
        .with_context(|| format!("{}: cannot write it; choose another --out", args.out.display()))?;
    progress::result(&summary(args, window, selection.tally(), &engine_name, &sha256(epd.as_bytes())));
    Ok(())
}

fn bar(count: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} positions, {msg}, {per_sec}, {eta} left")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    let bar = ProgressBar::new(count).with_style(style);
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// What was made and all that is needed to make it again.
fn summary(args: &MakeArgs, window: Window, tally: &Tally, engine: &str, sha256: &str) -> String {
    let Tally { walked, skimmed, refused, white, black } = *tally;
    let options = if args.options.is_empty() { String::new() } else { format!(", {}", args.options.join(", ")) };
    format!(
        "{}: {} positions, {white} with White to move, {black} with Black\n\
         sha256 {sha256}\n\
         made with seed {}, {} plies, {engine} at {} nodes{options}, |score| within {} and {} cp\n\
         from {} random walks: {} over, {} in check, {} duplicates, {skimmed} dropped by the short search, {refused} by the long one",
        args.out.display(),
        white + black,
        args.seed,
        args.plies,
        args.nodes,
        window.low_cp,
        window.high_cp,
        walked.walks,
        walked.over,
        walked.in_check,
        walked.duplicates,
    )
}
