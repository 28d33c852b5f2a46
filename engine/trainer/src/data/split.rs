//! Split into training and validation data by games, because positions of one game are too similar
//! to validate each other.

use super::error::{DataError, Place, WHICH_GAME};
use super::format::Format;
use super::input::{Input, Output, check_apart};
use super::needs::Needs;
use super::record::{Entry, ply};
use super::shuffle::sortable;
use super::write::{Encoder, Sink};
use super::{passed_over, say};
use clap::Args;
use destrier::board::{Board, CastlingSide};
use destrier::datagen::viriformat::GameResult;
use destrier::types::{Color, PieceType, SplitMix64};
use std::path::{Path, PathBuf};

/// Arguments of `split`.
#[derive(Debug, Args)]
pub struct SplitArgs {
    #[command(flatten)]
    input: Input,
    /// Training output.
    #[command(flatten)]
    pub(super) output: Output,
    /// File for what is for validation
    #[arg(long, value_name = "FILE")]
    pub(super) validation: PathBuf,
    /// Share of the games for validation, from 0 to 1
    #[arg(long, default_value_t = 0.02, value_name = "SHARE")]
    share: f64,
    /// Another seed, other games
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Split single positions of files without game boundaries
    #[arg(long)]
    by_position: bool,
}

impl SplitArgs {
    /// # Errors
    /// Fails if an input cannot be read or an output cannot be written.
    pub fn run(&self) -> anyhow::Result<()> {
        anyhow::ensure!((0.0..=1.0).contains(&self.share), "--share {}: expected 0 to 1", self.share);
        let Output { out, to, force } = &self.output;
        let paths = [out.as_path(), &self.validation];
        check_apart(&paths, &self.input.files)?;
        let (mut encoders, mut sinks) = (Vec::new(), Vec::new());
        for path in paths {
            encoders.push(Encoder::new(path, sortable(path, *to)?, None)?);
            sinks.push(Sink::create(path, *force)?);
        }
        // Random numbers below this bound, a `share` of all 2^64, select validation.
        let bound = (self.share * 2_f64.powi(64)) as u128;
        let (mut number, mut before) = (0, Before::default());
        let games = (!self.by_position).then_some(BY_POSITION);
        let sources = self.input.open(Needs { games, ..encoders[0].needs() })?;
        // The two outputs may have different formats.
        self.input.check(&sources, encoders[1].needs())?;
        let passed = self.input.read_sources(sources, |path, format, entry| {
            number += 1;
            if !self.by_position {
                before.check(path, format, &entry)?;
            }
            let part = usize::from(u128::from(SplitMix64::from_seeds(&[self.seed, number]).next_u64()) < bound);
            let sink = &mut sinks[part];
            encoders[part].encode(entry, |_, record| sink.put(record))
        })?;
        for ((path, encoder), sink) in paths.into_iter().zip(encoders).zip(sinks) {
            let records = sink.finish()?;
            let (positions, left_out) = (encoder.positions, encoder.left_out());
            say(&format!("{records} records, {positions} positions in {}, {left_out}", path.display()))?;
        }
        if passed > 0 {
            say(passed_over(passed).trim_start_matches(", "))?;
        }
        Ok(())
    }
}

/// Remedy for formats that do not separate games.
const BY_POSITION: &str = "split before it is converted, or give `--by-position`";

/// Previous game, of which the next may be a continuation. `.plain` and binpack separate games only
/// by their moves, so filtered or shuffled games fall into pieces.
#[derive(Default)]
struct Before {
    path: PathBuf,
    /// Games of the current file so far.
    games: u64,
    end: Option<(Board, GameResult)>,
}

impl Before {
    /// # Errors
    /// Fails if a game may continue the previous one, or if the entry is not a game.
    fn check(&mut self, path: &Path, format: Format, entry: &Entry) -> Result<(), DataError> {
        let game = match entry {
            Entry::Game(game) if !game.plies.is_empty() => game,
            _ => return Err(format.lacks(path, WHICH_GAME, BY_POSITION)),
        };
        if self.path != path {
            *self = Before { path: path.to_owned(), ..Before::default() };
        }
        if !matches!(format, Format::Plain | Format::Binpack) {
            return Ok(());
        }
        if let Some((end, result)) = &self.end
            && *result == game.result
            && may_follow(end, &game.start)
        {
            let why = "may be the rest of the game before it, with plies left out: games that are not whole would be in both \
                       parts; split before filtering and shuffling, or give `--by-position`";
            return Err(DataError::bad(path, Place::Game(self.games), why));
        }
        let mut end = game.start;
        game.plies.iter().for_each(|ply| end.play(ply.mv));
        self.end = Some((end, game.result));
        self.games += 1;
        Ok(())
    }
}

/// Returns false only if no moves can lead from `before` to `after`, judged by ply, clock, pieces
/// and castling rights.
pub fn may_follow(before: &Board, after: &Board) -> bool {
    let Some(plies) = ply(after).checked_sub(ply(before)) else { return false };
    let lost = before.occupied().count().checked_sub(after.occupied().count());
    lost.is_some_and(|lost| lost <= plies)
        && u32::from(after.halfmove_clock()) <= u32::from(before.halfmove_clock()) + plies
        && Color::ALL.into_iter().all(|color| {
            let pawns = |board: &Board| board.pieces(color, PieceType::Pawn).count();
            let kept = |side| {
                let rook = after.castling_rook(color, side);
                rook.is_none() || rook == before.castling_rook(color, side)
            };
            after.colored(color).count() <= before.colored(color).count()
                && pawns(after) <= pawns(before)
                && CastlingSide::ALL.into_iter().all(kept)
        })
}
