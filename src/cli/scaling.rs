//! `quintain scaling`: nodes and time of a search by its depth, and by its threads.

mod table;

use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};

use self::table::{EngineScaling, Picture};
use super::picture::PictureFormat;
use super::suite;
use crate::chess::Variant;
use crate::files::write_atomically;
use crate::plan::BookSource;
use crate::run::scaling::{self, Positions};
use crate::run::{Exit, prepare, progress, resolve};
use crate::text::count;
use crate::uci::Go;

/// Depth of the searches if no limit is named.
const DEPTH: u32 = 12;

const EXAMPLES: &str = "\
Each position is searched once by each engine, as a new game. The `info` lines give nodes and \
time of every depth, so one search yields a whole curve. Positions with one legal move, searches \
that find a mate, and searches that end before --depth are left out and counted.

The table shows medians over the positions. A position that did not reach a depth counts as one \
that needs more than all that did. Growth is the geometric mean of the ratios of successive \
depths, over the positions with both. The line below has it for all depths from the first with a \
median of 1,000 nodes (20 ms) to the deepest that nine of ten positions reached, with a 95 % \
interval by positions. With --nodes and --movetime the last depth of each search does not count, \
because the limit may have cut it; with --depth all count.

--threads sets the option Threads. The speed-up is that against the first number: of nodes a \
second, and of the time to the same depth in the same position, each with Student's 95 % interval \
over positions. Engines take turns at each position. More threads or positions at once (-j) than \
the machine has cores make times worse.

Examples:
  quintain scaling ./my-engine --depth 16
  quintain scaling . git:main stockfish --nodes 2000000 --positions 100 --out scaling.svg
  quintain scaling stockfish --depth 18 --threads 1,2,4 --option Hash=256 --json

JSON: `limit`, `book`, `positions`, `forced`, `engines` (`name, spec, threads, searched, mates, \
early, nodes` and `seconds` (`growth` (`ratio, lo, hi, from, to, positions`), `depths` (`depth, \
reached, lower, median, upper, growth`)), `nps`, `speed_up` and `time_to_depth` (`factor, lo, hi, \
positions`, null for the first number of threads)). null stands for what is not known.";

/// Shows how searches scale: nodes and time by depth, and by threads.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct ScalingArgs {
    /// The engines.
    #[arg(value_name = "ENGINE", required = true)]
    engines: Vec<String>,
    /// Depth in plies of each search [default: 12, unless nodes or time are given].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..))]
    depth: Option<u32>,
    /// Nodes of each search.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    nodes: Option<u64>,
    /// Time of each search.
    #[arg(long, value_name = "TIME")]
    movetime: Option<String>,
    /// Positions, evenly spread over the book.
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = clap::value_parser!(u32).range(2..=100_000))]
    positions: u32,
    /// Book of the positions [default: the one inside the program].
    #[arg(long, value_name = "FILE")]
    book: Option<PathBuf>,
    /// Plies taken from each game of a PGN book, or each line of a Polyglot book.
    #[arg(long, value_name = "N")]
    book_plies: Option<u32>,
    /// Numbers of threads to compare.
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=4096))]
    threads: Vec<u32>,
    /// A UCI option of all engines; may be repeated.
    #[arg(long = "option", value_name = "NAME=VALUE")]
    options: Vec<String>,
    /// A network for all engines, built in or set as an option as their recipes say; given more
    /// than once, every engine is taken with each.
    #[arg(long = "net", value_name = "FILE")]
    nets: Vec<PathBuf>,
    /// Positions at once.
    #[arg(short = 'j', long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    concurrency: u16,
    /// File for the picture: .svg, .png or .html.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

impl ScalingArgs {
    fn go(&self) -> Result<Go> {
        let movetime = self.movetime.as_ref().map(|time| resolve::time("--movetime", time)).transpose()?;
        let depth = self.depth.or((self.nodes.is_none() && movetime.is_none()).then_some(DEPTH));
        Ok(Go { movetime, nodes: self.nodes, depth, ..Go::default() })
    }

    /// Threads of the searches; `None` leaves the option alone.
    fn threads(&self) -> Result<Vec<Option<u32>>> {
        if self.threads.is_empty() {
            return Ok(vec![None]);
        }
        for (place, threads) in self.threads.iter().enumerate() {
            if self.threads[..place].contains(threads) {
                bail!("--threads: {threads} is given twice");
            }
        }
        let cpus = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let most = self.threads.iter().max().copied().unwrap_or(1) as usize * usize::from(self.concurrency);
        if most > cpus {
            progress::warn(&format!(
                "{most} threads at once, but this machine has {}: they wait for each other",
                count(cpus as u64, "CPU")
            ));
        }
        Ok(self.threads.iter().copied().map(Some).collect())
    }
}

pub(super) fn run(args: &ScalingArgs) -> Result<Exit> {
    let go = args.go()?;
    let format = args.out.as_deref().map(|path| PictureFormat::of(path, ".svg, .png or .html")).transpose()?;
    let threads = args.threads()?;
    let source = args.book.clone().map_or(BookSource::Builtin, BookSource::File);
    let book = prepare::read_book(&source, args.book_plies, Variant::Standard)?;
    let positions = Positions::of_book(&book, args.positions as usize, Variant::Standard)?;
    let mut configs = Vec::new();
    let mut engines = Vec::new();
    for (spec, config) in suite::engines(&args.engines, &args.options, &args.nets, &go)? {
        for threads in &threads {
            let option = threads.map(|threads| ("Threads".to_owned(), threads.to_string()));
            configs.push(config.clone().with_options(option.as_slice()));
            engines.push((spec.clone(), *threads));
        }
    }
    let limit = suite::limit(&go);
    progress::note(&format!("{} of {}, {limit}", count(positions.len() as u64, "position"), book.name()));
    let found = scaling::search(&configs, &go, &positions, usize::from(args.concurrency), &|done| {
        if done.is_multiple_of(10) && done < positions.len() {
            progress::note(&format!("{done} of {}", positions.len()));
        }
    })?;
    let scaled = engines.into_iter().zip(&configs).zip(found).map(|(((spec, threads), config), searches)| {
        let name = config.name.clone();
        let scaled = EngineScaling::new(name, spec, threads, searches)?;
        scaled.doubts().iter().for_each(|doubt| progress::warn(doubt));
        Ok(scaled)
    });
    let picture = Picture {
        limit,
        book: book.name().to_owned(),
        positions: positions.len(),
        forced: positions.forced,
        engines: table::compared(scaled.collect::<Result<Vec<_>>>()?, threads.len()),
    };
    let text = picture.text();
    // Before the picture, which may fail.
    progress::result(&if args.json { serde_json::to_string_pretty(&picture.json())? } else { text.clone() });
    if let (Some(format), Some(path)) = (format, &args.out) {
        let bytes = format.write("How searches scale", &picture.svg(&resolve::cpu()), &text)?;
        write_atomically(path, &bytes).with_context(|| format!("{}: cannot write it", path.display()))?;
        progress::note(&format!("wrote {}", path.display()));
    }
    Ok(Exit::Done)
}
