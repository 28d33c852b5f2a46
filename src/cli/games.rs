//! `quintain games RUN...`: queries over the journals of runs, live ones included.

mod filter;
mod groups;
mod show;
mod stream;

use std::cell::Cell;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::cli::games::filter::{Filter, Query};
use crate::cli::games::groups::{GroupKey, Groups};
use crate::cli::games::show::{GamesTable, ShownRun, json};
use crate::cli::runs::run_parser;
use crate::journal;
use crate::plan::Plan;
use crate::record::GameRecord;
use crate::report::pgn_file;
use crate::run::dir::RunDir;
use crate::run::{Exit, progress};
use crate::text::printable_lines;

const EXAMPLES: &str = "\
Several values of one flag, separated by commas or given by repeating it, match any of them. \
Several flags must all match.

Examples:
  quintain games results/runs/20260101-120000-sprt --termination time-forfeit
  quintain games RUN --player my-branch --result loss --side black --max-plies 60 --json
  quintain games RUN --player stockfish --by opponent
  quintain games RUN --game 17 --moves
  quintain games RUN --termination crash,stall --pgn > crashes.pgn";

/// Chooses games of runs and prints them: a table, JSON lines, PGN, their number, or the results by
/// group.
///
/// Reads the journal, so it has every finished game, those after a verdict included; it needs
/// little memory however many there are. A run that is being played may be asked.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct GamesArgs {
    /// Runs: directories, ids of `quintain runs`, ends of ids, or `latest`.
    #[arg(value_name = "RUN", required = true, value_parser = run_parser())]
    runs: Vec<PathBuf>,
    #[command(flatten)]
    query: Query,

    /// Print JSON lines, a game each (a group each with --by).
    #[arg(long, help_heading = "Output")]
    json: bool,
    /// Print the moves too: time charged, latency (time charged over what the engine reports),
    /// depth, nodes, score and the rest.
    #[arg(long, help_heading = "Output", conflicts_with_all = ["pgn", "count", "by"])]
    moves: bool,
    /// Print PGN.
    #[arg(long, help_heading = "Output", conflicts_with_all = ["json", "count", "by"])]
    pgn: bool,
    /// Print how many games there are.
    #[arg(long, help_heading = "Output", conflicts_with = "by")]
    count: bool,
    /// Print the results by group: those of --player, else of White; with `player`, of each player.
    #[arg(long, value_name = "WHAT", help_heading = "Output")]
    by: Option<GroupKey>,
}

/// Run to search.
struct RunSelection {
    dir: RunDir,
    plan: Plan,
    filter: Filter,
}

pub(super) fn run(args: &GamesArgs) -> Result<Exit> {
    let opened = args.runs.iter().map(|root| RunDir::open(root)).collect::<Result<Vec<_>, _>>()?;
    let filters = args.query.resolve(opened.iter().map(|(_, plan)| plan))?;
    let asked: Vec<_> =
        opened.into_iter().zip(filters).map(|((dir, plan), filter)| RunSelection { dir, plan, filter }).collect();
    let mut count = 0_u64;
    let games = |asked: &[RunSelection],
                 print: &mut dyn FnMut(&ShownRun<'_>, &GameRecord) -> Result<String>|
     -> Result<()> { asked.iter().try_for_each(|asked| tell(asked, args.query.void, print)) };
    if let Some(key) = args.by {
        let mut groups = Groups::new(key);
        games(&asked, &mut |shown, game| {
            count += 1;
            groups.record(shown, game);
            Ok(String::new())
        })?;
        print(&groups.text(args.json))?;
    } else if args.count {
        games(&asked, &mut |_, _| {
            count += 1;
            Ok(String::new())
        })?;
        print(&if args.json { format!("{{\"games\":{count}}}\n") } else { format!("{count}\n") })?;
        return Ok(Exit::Done);
    } else {
        let table = GamesTable::new(asked.iter().map(|asked| (asked.dir.root(), &asked.plan)));
        games(&asked, &mut |shown, game| {
            count += 1;
            if args.json {
                return Ok(json(shown, game, args.moves));
            }
            if args.pgn {
                return Ok(pgn_file::game(shown.plan, game)?);
            }
            let head = if count == 1 { table.head() } else { String::new() };
            Ok(head + &table.row(shown, game, args.moves))
        })?;
    }
    if count == 0 {
        progress::note("no such game");
    }
    Ok(Exit::Done)
}

/// Passes the chosen games of a run to `text` and prints the results.
fn tell(
    asked: &RunSelection,
    void: bool,
    text: &mut dyn FnMut(&ShownRun<'_>, &GameRecord) -> Result<String>,
) -> Result<()> {
    let RunSelection { dir, plan, filter } = asked;
    let path = dir.path(journal::FILE_NAME);
    let shown = ShownRun { root: dir.root(), plan, player: filter.player };
    // The rest of the journal is skipped once nobody reads the output or an error occurred.
    let over = Cell::new(false);
    let mut failed = None;
    let mut each = |game: &GameRecord| {
        if over.get() || !filter.takes(game) {
            return;
        }
        match text(&shown, game).and_then(|text| print(&text)) {
            Ok(true) => {}
            Ok(false) => over.set(true),
            Err(error) => {
                failed = Some(error);
                over.set(true);
            }
        }
    };
    let mut pairs = stream::PairFilter::new(plan, void);
    let replayed = {
        let journal = stream::open(&path, &over)?;
        dir.expected(plan).read_from(journal, &path, |game| pairs.record(game, &mut each))?
    };
    pairs.end(&mut each);
    if let Some(error) = failed {
        return Err(error).with_context(|| path.display().to_string());
    }
    // Games of another plan would appear under the wrong names.
    Ok(dir.check_plan(&replayed.header)?)
}

/// Writes to standard output. Returns false if nobody reads it any more.
fn print(text: &str) -> Result<bool> {
    if text.is_empty() {
        return Ok(true);
    }
    let written = progress::write(&mut std::io::stdout().lock(), printable_lines(text).as_bytes());
    written.context("cannot write to standard output")
}

/// Name of a run in a table of several.
fn short(root: &Path) -> String {
    let named =
        root.canonicalize().ok().and_then(|root| root.file_name().map(|name| name.to_string_lossy().into_owned()));
    named.unwrap_or_else(|| root.display().to_string())
}
