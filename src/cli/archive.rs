//! `quintain archive`: a run in few bytes, for Git.

use std::path::PathBuf;

use anyhow::{Result, bail};
use indicatif::HumanBytes;

use crate::cli::runs::run_parser;
use crate::journal::archive::Detail;
use crate::plan::file;
use crate::run::archive::{self, CopyDirection};
use crate::run::dir::{Place, RESULTS};
use crate::run::{Exit, progress};
use crate::text::{count, shell_path};

const EXAMPLES: &str = "\
An archive is a run directory with games.json.gz in place of games.jsonl. It keeps every field of \
every game in about a tenth of the bytes, and the small files. `report`, `explain`, `games`, \
`replay`, `rate`, `progress`, `runs` and `serve` read it like any run. Only `resume` needs the \
journal, which --unpack restores. A folder of runs, such as that of a tuning, is archived as a \
whole. The run itself is not changed. The archive of a live run has the games played so far.

Examples:
  quintain archive latest
  quintain archive results/tune --moves-only --out results/2026-11-23-tuning
  quintain archive results/2026-11-23-tuning --unpack --out results/tune";

/// Copies a run in about a tenth of the bytes, or restores a run from such a copy.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct ArchiveArgs {
    /// The run: its directory, an id of `quintain runs`, the end of one, or `latest`; or a folder
    /// of runs.
    #[arg(value_name = "RUN", value_parser = run_parser())]
    run: PathBuf,
    /// The new directory [default: results/archive/ID, with --unpack results/runs/ID].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Keeps the moves, but no times and no engine output: a third of the bytes.
    ///
    /// Results, counts, moves and `resume` stay the same. The PGN's comments, `explain` and the
    /// pictures of times and searches have no data.
    #[arg(long, conflicts_with = "unpack")]
    moves_only: bool,
    /// Restores a run that can be resumed from an archive.
    #[arg(long)]
    unpack: bool,
}

pub(super) fn run(args: &ArchiveArgs) -> Result<Exit> {
    let detail = if args.moves_only { Detail::Moves } else { Detail::Full };
    let direction = if args.unpack { CopyDirection::Unpack } else { CopyDirection::Pack(detail) };
    let folder = if args.unpack { "runs" } else { "archive" };
    let place = match (&args.out, args.run.canonicalize().ok().as_deref().and_then(std::path::Path::file_name)) {
        (Some(out), _) => Place::Given(out.clone()),
        (None, Some(name)) => Place::Default([RESULTS, folder].iter().collect::<PathBuf>().join(name)),
        (None, None) => bail!("{}: no such run; `quintain runs` lists them", args.run.display()),
    };
    let archived = archive::copy(&args.run, &place, direction)?;
    for path in &archived.left_out {
        progress::note(&format!("left out, because it is longer than 1 MiB: {}", path.display()));
    }
    if archived.passed_over > 0 {
        let noun = if args.unpack { "run" } else { "archive" };
        let why = if args.unpack { "no archive" } else { "an archive already" };
        progress::note(&format!("left out: {} ({why})", count(archived.passed_over, noun)));
    }
    let (root, report) = (archived.root.display(), archived.report);
    let word = shell_path(&archived.root);
    let games = count(report.games, "game");
    let next = match direction {
        _ if !archived.root.join(file::FILE_NAME).is_file() => {
            format!("`quintain runs --results {word}` lists the runs")
        }
        CopyDirection::Unpack => format!("continue with `quintain resume {word}`"),
        CopyDirection::Pack(_) => format!("read it with `quintain report {word}`"),
    };
    let size = match direction {
        CopyDirection::Unpack => String::new(),
        CopyDirection::Pack(_) => {
            format!(" in {} instead of {}", HumanBytes(report.archive_bytes), HumanBytes(report.journal_bytes))
        }
    };
    progress::result(&format!("{root}: {games}{size}; {next}"));
    Ok(Exit::Done)
}
