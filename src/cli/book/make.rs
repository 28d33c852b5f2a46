//! `quintain book make`: generates candidates, has engines judge them and writes the book.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow, bail};
use indicatif::{ProgressBar, ProgressStyle};
use tokio::sync::mpsc;

use super::judge::{self, Judge, UnmetRequest};
use super::partial::{JudgementSettings, PartialBook};
use crate::chess::Variant;
use crate::cli::picture::check_folder;
use crate::files::write_atomically;
use crate::openings::maker::{BookTally, ScoreWindow, Selection, Start, Walks};
use crate::openings::{BookFileFormat, Packing, format_of_name};
use crate::plan::time_control::Limit;
use crate::run::{Exit, progress, resolve, signals};
use crate::schedule::affinity::Topology;
use crate::text::{file_sha256, sha256};

#[derive(Debug, clap::Args)]
#[command(
    after_long_help = "Example:\n  quintain book make --out book.epd --count 1000 --engine ./engine --nodes 20000 -j 4"
)]
pub(super) struct MakeArgs {
    /// Book to write, EPD, compressed if the name ends in .gz or .zst. An existing file is replaced
    /// at the end.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Positions wanted.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    count: u64,
    /// Plies of each walk.
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(0..=200))]
    plies: u32,
    /// Seed of the walks.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// The engine that judges: a path, a name of the registry, `.` or `git:REV`.
    #[arg(long, value_name = "SPEC")]
    engine: String,
    /// A UCI option for it; may be repeated. Keep it at one thread: more are not reproducible.
    #[arg(long = "option", value_name = "NAME=VALUE")]
    options: Vec<String>,
    /// Nodes of the search that decides. A twentieth of it is tried first.
    #[arg(long, value_name = "N", default_value_t = 50_000, value_parser = clap::value_parser!(u64).range(1..))]
    nodes: u64,
    /// Scores kept, in centipawns: LOW,HIGH by size, whichever side is ahead, or LOW..HIGH as
    /// White's advantage (80..120 gives an unbalanced book).
    #[arg(long, value_name = "LOW,HIGH", default_value = "0,60", allow_hyphen_values = true)]
    window: String,
    /// Begin the walks at Chess960's starting positions.
    #[arg(long)]
    chess960: bool,
    /// Begin them at double Chess960's, with a back rank for each side.
    #[arg(long, conflicts_with = "chess960")]
    dfrc: bool,
    /// Engines at once [default: physical cores].
    #[arg(short = 'j', long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    concurrency: Option<u16>,
}

impl MakeArgs {
    const fn start(&self) -> Start {
        match (self.chess960, self.dfrc) {
            (_, true) => Start::Double,
            (true, false) => Start::Chess960,
            (false, false) => Start::Standard,
        }
    }

    /// Engine with its options; `UCI_Chess960` is set if the starting positions need it.
    fn judge(&self, window: ScoreWindow) -> Result<Judge> {
        let mut engine = resolve::one_engine(&self.engine, &self.options, None, Limit::nodes(self.nodes))
            .with_context(|| format!("--engine `{}`", self.engine))?;
        let variant = self.start().variant();
        if variant == Variant::Chess960 {
            variant.set_option(&mut engine.options);
        }
        Ok(Judge { engine, nodes: self.nodes, window })
    }

    /// Settings that the judgements depend on. The number of positions is not one of them.
    fn settings(&self, judge: &Judge) -> Result<JudgementSettings> {
        let engine_sha256 = file_sha256(&judge.engine.program)
            .with_context(|| format!("{}: cannot read it", judge.engine.program.display()))?;
        Ok(JudgementSettings {
            start: self.start().name().to_owned(),
            plies: self.plies,
            seed: self.seed,
            nodes: self.nodes,
            window: judge.window.to_string(),
            engine_sha256,
            engine_args: judge.engine.args.clone(),
            options: judge.engine.options.iter().map(|(name, value)| format!("{name}={value}")).collect(),
        })
    }
}

pub(super) fn run(args: &MakeArgs) -> Result<Exit> {
    let window = args.window.parse::<ScoreWindow>().map_err(|error| anyhow!("--window {error}"))?;
    check_folder(&args.out)?;
    check_name(&args.out)?;
    let judge = args.judge(window)?;
    let (partial, known) = PartialBook::open(&args.out, &args.settings(&judge)?)?;
    if !known.is_empty() {
        progress::note(&format!("continuing {}: {} positions are judged", partial.path().display(), known.len()));
    }
    let engines = args.concurrency.map_or_else(|| Topology::detect().physical_cores(), usize::from);
    let bar = bar(args.count);
    let mut selection = Selection::new(args.count);
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().context("cannot start the event loop")?;
    let judged = runtime.block_on(async {
        let (sender, mut stopped) = mpsc::channel(1);
        let signals = tokio::spawn(signals::watch_signals(sender));
        let filled = judge::fill(
            &mut selection,
            Walks::new(args.start(), args.plies, args.seed),
            &judge,
            engines,
            known,
            |index, judgement| partial.append(index, judgement),
            |selection| {
                bar.set_position(selection.kept());
                bar.set_message(format!("{} judged", selection.judged()));
            },
        );
        let judged = tokio::select! {
            judged = filled => Some(judged),
            _ = stopped.recv() => None,
        };
        signals.abort();
        judged
    });
    bar.finish_and_clear();
    let Some(judged) = judged else {
        progress::note(&format!(
            "stopped at {} of {} positions; the same command continues",
            selection.kept(),
            args.count
        ));
        return Ok(Exit::Interrupted);
    };
    let engine_name = match judged {
        Err(error) if error.is::<UnmetRequest>() => {
            partial.give_up()?;
            return Err(error);
        }
        judged => judged?,
    };
    let bytes = packed(&args.out, selection.to_epd())?;
    write_atomically(&args.out, &bytes).with_context(|| {
        format!(
            "{}: cannot write it; nothing is judged again if you repeat the command, or rename {} to BOOK.partial and give --out BOOK",
            args.out.display(),
            partial.path().display()
        )
    })?;
    partial.remove()?;
    progress::result(&summary(args, window, selection.tally(), &engine_name, &sha256(&bytes)));
    Ok(Exit::Done)
}

/// Refuses a name by which readers take the book for one of another format.
fn check_name(out: &Path) -> Result<()> {
    let packing = Packing::of_extension(&out.extension().unwrap_or_default().to_string_lossy());
    match format_of_name(&out.to_string_lossy(), packing) {
        None | Some(BookFileFormat::Epd) => Ok(()),
        Some(_) => {
            bail!("{}: `book make` writes EPD: end the name in .epd; `book convert` makes a PGN of it", out.display())
        }
    }
}

/// Bytes of a book's text, compressed if the file's name asks for it.
pub(super) fn packed(out: &Path, text: String) -> Result<Vec<u8>> {
    let extension = out.extension().unwrap_or_default().to_string_lossy();
    match Packing::of_extension(&extension) {
        Some(packing) => packing.pack(text.as_bytes()).with_context(|| format!("{}: cannot pack it", out.display())),
        None => Ok(text.into_bytes()),
    }
}

fn bar(count: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} positions, {msg}, {per_sec}, {eta} left")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    let bar = ProgressBar::new(count).with_style(style);
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// Summary of the book, with everything that is needed to make it again.
fn summary(args: &MakeArgs, window: ScoreWindow, tally: &BookTally, engine: &str, sha256: &str) -> String {
    let BookTally { walked, skimmed, refused, white, black } = *tally;
    let options = if args.options.is_empty() { String::new() } else { format!(", {}", args.options.join(", ")) };
    format!(
        "{}: {} positions, {white} with White to move, {black} with Black\n\
         sha256 {sha256}\n\
         made with seed {}, {} plies, {engine} at {} nodes{options}, {} starts, {}\n\
         from {} random walks: {} over, {} in check, {} duplicates, {skimmed} dropped by the short search, {refused} by the long one",
        args.out.display(),
        white + black,
        args.seed,
        args.plies,
        args.nodes,
        args.start().name(),
        match window {
            ScoreWindow::Size { low_cp, high_cp } => format!("|score| within {low_cp} and {high_cp} cp"),
            ScoreWindow::White { low_cp, high_cp } => format!("White's score within {low_cp} and {high_cp} cp"),
        },
        walked.walks,
        walked.over,
        walked.in_check,
        walked.duplicates,
    )
}
