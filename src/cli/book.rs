//! `quintain book`: makes, describes, checks, converts and judges opening books.

mod convert;
mod describe;
mod judge;
mod make;
mod partial;
mod sensors;

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::chess::Variant;
use crate::openings::{Book, BookOptions};
use crate::plan::BookSource;
use crate::run::error::RunError;
use crate::run::{Exit, prepare, progress};

/// Name of the book inside the program.
const BUILTIN: &str = "builtin";

const EXAMPLES: &str = "\
Examples:
  quintain book make --out openings/balanced.epd --count 20000 --plies 8 --seed 1 --engine stockfish --nodes 50000
  quintain book make --out openings/white-is-better.epd --count 20000 --window 80..120 --engine stockfish
  quintain book info openings/balanced.epd
  quintain book check openings/balanced.epd.gz
  quintain book convert Perfect.bin lines.pgn.zst --book-plies 12
  quintain book judge --books builtin my-book.epd --engines git:main,git:v1.0 --tc 2+0.02 --pairs 500";

const INFO_EXAMPLES: &str = "\
Examples:
  quintain book info openings/balanced.epd
  quintain book info builtin
  quintain book info lines.pgn.zst --book-plies 12 --json";

const CHECK_EXAMPLES: &str = "\
Exit codes:
  0  every opening can be played
  2  some cannot, the file cannot be read, or bad usage

JSON: `openings`, `duplicates`, `faults`. null stands for what is not known: of a book with faults \
only their number, of a PGN or Polyglot book not even that.

Examples:
  quintain book check openings/balanced.epd.gz
  quintain book check lines.pgn --book-plies 12 --json";

/// Makes, describes, checks, converts and judges opening books.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct BookArgs {
    #[command(subcommand)]
    command: BookCommand,
}

#[derive(Debug, clap::Subcommand)]
enum BookCommand {
    /// Makes a book of random walks whose scores by an engine lie in a window.
    ///
    /// The same seed, settings and engine give the same book, byte for byte, whatever the
    /// concurrency. If it is stopped or killed, the same command continues: positions judged so far
    /// are kept in `FILE.partial` until the book is done.
    Make(make::MakeArgs),
    /// Openings, duplicates, sides to move, plies and SHA-256 of a book.
    #[command(after_long_help = INFO_EXAMPLES)]
    Info(FileArgs),
    /// Reads every opening of a book and names the lines that cannot be played.
    #[command(after_long_help = CHECK_EXAMPLES)]
    Check(FileArgs),
    /// Writes a book in another format, compressed or not.
    Convert(convert::ConvertArgs),
    /// Measures which book, or which clock, is most informative about two engines' strength.
    Judge(Box<sensors::JudgeArgs>),
}

/// Options for reading a book.
#[derive(Debug, clap::Args)]
struct ReadArgs {
    /// Chess960 rules and castling.
    #[arg(long)]
    chess960: bool,
    /// Plies taken from each PGN game [default: all], or plies of a Polyglot book's lines [default:
    /// 8].
    #[arg(long, value_name = "N")]
    book_plies: Option<u32>,
}

impl ReadArgs {
    const fn options(&self) -> BookOptions {
        let variant = if self.chess960 { Variant::Chess960 } else { Variant::Standard };
        BookOptions { variant, plies: self.book_plies, format: None }
    }
}

#[derive(Debug, clap::Args)]
struct FileArgs {
    /// EPD, FEN list, PGN or Polyglot, as it is or packed by gzip or zstd; `builtin` is the book
    /// inside the program.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    read: ReadArgs,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

/// Opens the book that a command names: a file, or the book inside the program.
fn open(path: &Path, options: &BookOptions) -> Result<Book, RunError> {
    let source = if path == Path::new(BUILTIN) { BookSource::Builtin } else { BookSource::File(path.to_owned()) };
    prepare::read_book(&source, options.plies, options.variant)
}

pub(super) fn run(args: &BookArgs) -> Result<Exit> {
    match &args.command {
        BookCommand::Make(args) => return make::run(args),
        BookCommand::Judge(args) => return sensors::run(args),
        BookCommand::Info(args) => progress::result(&describe::info(&args.file, &args.read.options(), args.json)?),
        BookCommand::Check(args) => progress::result(&describe::check(&args.file, &args.read.options(), args.json)?),
        BookCommand::Convert(args) => progress::result(&convert::run(args)?),
    }
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_book_inside_the_program_has_a_name() {
        let open = |path: &str| open(Path::new(path), &BookOptions::default());
        assert!(open("builtin").expect("the book").len() >= 100_000);
        assert!(open("./builtin").is_err());
    }
}
