//! `quintain book convert`: conversion of a book into another format.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use super::{ReadArgs, describe, make, open};
use crate::chess::{Position, START_FEN, Variant};
use crate::files::write_atomically;
use crate::openings::maker::{PositionSet, epd};
use crate::openings::{Book, Packing};
use crate::record::{Color, Opening};
use crate::text::{count, sha256};

/// Longest line of PGN movetext, in characters.
const PGN_WIDTH: usize = 79;

#[derive(Debug, clap::Args)]
#[command(after_long_help = "Example:\n  quintain book convert 8moves.pgn.zst positions.epd --book-plies 12 --unique")]
pub(super) struct ConvertArgs {
    /// EPD, FEN list, PGN or Polyglot, as it is or packed by gzip or zstd; `builtin` is the book
    /// inside the program.
    #[arg(value_name = "IN")]
    file: PathBuf,
    /// File to write; its name decides the format: .epd, .fen or .pgn, then .gz or .zst to have it
    /// packed. EPD and FEN keep the position that an opening leads to, PGN its moves as well.
    #[arg(value_name = "OUT", required_unless_present = "to")]
    out: Option<PathBuf>,
    /// The file to write, as `book make` takes it.
    #[arg(long = "out", value_name = "FILE", id = "to", conflicts_with = "out")]
    to: Option<PathBuf>,
    #[command(flatten)]
    read: ReadArgs,
    /// Leave out openings that lead to the position of an earlier one.
    #[arg(long)]
    unique: bool,
    /// Replace a file of that name.
    #[arg(long)]
    force: bool,
}

/// Format of the new book.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    Epd,
    Fen,
    Pgn,
}

impl Target {
    fn of(out: &Path) -> Result<Self> {
        let extension = |path: &Path| path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        let mut last = extension(out);
        if Packing::of_extension(&last).is_some() {
            last = extension(out.file_stem().unwrap_or_default().as_ref());
        }
        match last.as_str() {
            "epd" => Ok(Self::Epd),
            "fen" => Ok(Self::Fen),
            "pgn" => Ok(Self::Pgn),
            "bin" => bail!("{}: Polyglot books are read and not written; choose .epd, .fen or .pgn", out.display()),
            _ => bail!(
                "{}: the name implies no format; end it in .epd, .fen or .pgn, followed by .gz or .zst to compress it",
                out.display()
            ),
        }
    }
}

/// Writes the book. Returns a summary.
pub(super) fn run(args: &ConvertArgs) -> Result<String> {
    // One of the two is there.
    let out = args.out.as_deref().or(args.to.as_deref()).unwrap_or(Path::new(""));
    let target = Target::of(out)?;
    if !args.force && out.symlink_metadata().is_ok() {
        bail!("{}: it exists already; --force replaces it", out.display());
    }
    let options = args.read.options();
    let book = open(&args.file, &options)?;
    let (text, written) = convert(&book, options.variant, target, args.unique)?;
    let bytes = make::packed(out, text)?;
    write_atomically(out, &bytes)
        .with_context(|| format!("{}: cannot write it; choose another name", out.display()))?;
    let left_out = book.len() as u64 - written;
    let duplicates = if left_out > 0 { format!(", {} left out", count(left_out, "duplicate")) } else { String::new() };
    let written = count(written, "opening");
    Ok(format!("{}: {written}{duplicates}\nsha256 {}", out.display(), sha256(&bytes)))
}

/// Text of the converted book and its number of openings.
fn convert(book: &Book, variant: Variant, target: Target, unique: bool) -> Result<(String, u64)> {
    let (mut text, mut written) = (String::new(), 0);
    let mut places = PositionSet::default();
    for opening in book.openings() {
        let opening = opening?;
        let fen = describe::end(&opening, variant)?.fen();
        if unique && !places.insert(&fen) {
            continue;
        }
        written += 1;
        match target {
            Target::Epd => text += &epd(&fen),
            Target::Fen => text += &fen,
            Target::Pgn => text += &game(&opening, variant, written)?,
        }
        text.push('\n');
    }
    Ok((text, written))
}

/// PGN game of an opening, without a result.
fn game(opening: &Opening, variant: Variant, number: u64) -> Result<String> {
    let mut text = format!(
        "[Event \"Opening\"]\n[Site \"?\"]\n[Date \"????.??.??\"]\n[Round \"{number}\"]\n[White \"?\"]\n[Black \"?\"]\n[Result \"*\"]\n"
    );
    // Writing into memory cannot fail.
    if variant == Variant::Chess960 {
        text.push_str("[Variant \"Chess960\"]\n");
    }
    if opening.fen != START_FEN {
        let _ = writeln!(text, "[SetUp \"1\"]\n[FEN \"{}\"]", opening.fen);
    }
    let mut position = Position::from_fen(&opening.fen, variant)?;
    let mut column = 0;
    let mut word = |word: &str| {
        let gap = if column == 0 || column + 1 + word.len() > PGN_WIDTH { '\n' } else { ' ' };
        column = if gap == '\n' { word.len() } else { column + 1 + word.len() };
        text.push(gap);
        text.push_str(word);
    };
    for (ply, played) in opening.moves.iter().enumerate() {
        match position.turn() {
            Color::White => word(&format!("{}.", position.fullmoves())),
            Color::Black if ply == 0 => word(&format!("{}...", position.fullmoves())),
            Color::Black => {}
        }
        word(&position.play_to_san(played)?);
    }
    word("*");
    text.push('\n');
    Ok(text)
}
