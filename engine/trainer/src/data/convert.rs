//! Conversion between formats, with or without the training filter.

use super::continuation::{WholeGames, check_has_moves};
use super::error::DataError;
use super::filter::Filter;
use super::format::Format;
use super::input::{Input, Output};
use super::needs::Needs;
use super::record::{Entry, Position};
use super::write::Encoder;
use super::{passed_over, say};
use clap::Args;
use destrier::types::SplitMix64;
use std::path::Path;

/// Arguments of `convert`.
#[derive(Debug, Args)]
pub struct ConvertArgs {
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    pub(super) output: Output,
}

/// Arguments of `filter`.
#[derive(Debug, Args)]
pub struct FilterArgs {
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    pub(super) output: Output,
    #[command(flatten)]
    filter: Filter,
    #[command(flatten)]
    draw: PositionDraw,
}

/// Draw among the positions that pass the filter. A few of each game make long games count no more
/// than short ones, and thinning makes up for numbers of pieces that are too frequent.
#[derive(Debug, Clone, Args)]
struct PositionDraw {
    /// Keep this share of the positions with PIECES pieces, such as `4=0.25`; may be repeated
    #[arg(long, value_name = "PIECES=SHARE", value_parser = thinning)]
    thin: Vec<Thinning>,
    /// Keep at most N positions of each game, drawn uniformly among those that pass the filter and
    /// --thin
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    per_game: Option<u32>,
    /// Seed of the draws of --thin and --per-game
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

/// Share of the positions with a number of pieces that is kept.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Thinning {
    pieces: u32,
    /// Probability of each position, 0 to 1.
    share: f64,
}

/// Parses a value of `--thin`.
fn thinning(text: &str) -> Result<Thinning, String> {
    let parsed = text.split_once('=').and_then(|(pieces, share)| {
        let (pieces, share) = (pieces.trim().parse().ok()?, share.trim().parse().ok()?);
        ((2..=32).contains(&pieces) && (0.0..=1.0).contains(&share)).then_some(Thinning { pieces, share })
    });
    parsed.ok_or_else(|| "give 2 to 32 pieces, `=` and a share from 0 to 1, such as 4=0.25".to_owned())
}

/// Remedy for a draw from formats that do not separate games.
const FROM_GAMES: &str = "leave out `--per-game`, or draw from the games";
/// Remedy for a draw from games that are not whole.
const TORN: &str = "of games that are not whole more would be drawn; draw before filtering and shuffling, or leave out \
                    `--per-game`";

impl PositionDraw {
    /// # Errors
    /// Fails if `--thin` names a number of pieces twice.
    fn check(&self) -> anyhow::Result<()> {
        let twice = |(place, thinning): (usize, &Thinning)| {
            self.thin[..place].iter().any(|earlier| earlier.pieces == thinning.pieces).then_some(thinning.pieces)
        };
        match self.thin.iter().enumerate().find_map(twice) {
            Some(pieces) => anyhow::bail!("--thin: {pieces} pieces are given twice; leave one of them out"),
            None => Ok(()),
        }
    }

    /// Returns false for a position that `--thin` leaves out.
    fn takes(&self, position: &Position, random: &mut SplitMix64) -> bool {
        let pieces = position.board.occupied().count();
        let Some(thinning) = self.thin.iter().find(|thinning| thinning.pieces == pieces) else { return true };
        random.chance(thinning.share)
    }

    /// Leaves at most `per_game` of the positions of a game, in the order of the game.
    fn draw(&self, game: u64, positions: &mut Vec<Position>) {
        let Some(most) = self.per_game.map(|most| most as usize).filter(|most| *most < positions.len()) else { return };
        let mut random = SplitMix64::from_seeds(&[self.seed, game]);
        let mut places: Vec<usize> = (0..positions.len()).collect();
        for place in 0..most {
            let other = place + random.below(places.len() - place);
            places.swap(place, other);
        }
        places.truncate(most);
        places.sort_unstable();
        *positions = places.into_iter().map(|place| positions[place]).collect();
    }
}

/// Arguments of `import`.
#[derive(Debug, Args)]
pub struct ImportArgs {
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    pub(super) output: Output,
    /// Games with an illegal move or start that may be left out; with one more the import fails. 0:
    /// with the first
    #[arg(long, default_value_t = 100, value_name = "N")]
    max_bad: u64,
}

impl ConvertArgs {
    /// # Errors
    /// Fails if an input cannot be read or the output cannot be written.
    pub fn run(&self) -> anyhow::Result<()> {
        convert_with(&self.input, &self.output, None, |_, _, entry| Ok(entry))
    }
}

impl FilterArgs {
    /// # Errors
    /// Fails if an input cannot be read or the output cannot be written.
    pub fn run(&self) -> anyhow::Result<()> {
        let FilterArgs { input, output, filter, draw } = self;
        draw.check()?;
        let format = Format::to_write(&output.out, output.to)?;
        let mut encoder = Encoder::new(&output.out, format, Some(*filter))?;
        let games = draw.per_game.map(|_| FROM_GAMES);
        let needs = Needs { games, ..encoder.needs() };
        let mut sink = output.create(input)?;
        let (mut game, mut undrawn, mut whole) = (0_u64, 0, WholeGames::default());
        let mut random = SplitMix64::new(draw.seed);
        let passed = input.read_sources(input.open(needs)?, |path, from, entry| {
            if draw.per_game.is_none() && draw.thin.is_empty() {
                return encoder.encode(entry, |_, record| sink.put(record));
            }
            if draw.per_game.is_some() {
                check_has_moves(path, from, &entry, FROM_GAMES)?;
                whole.check(path, from, &entry, TORN)?;
            }
            let (mut kept, rest): (Vec<_>, Vec<_>) = entry.positions().into_iter().partition(|p| encoder.takes(p));
            let found = kept.len();
            kept.retain(|position| draw.takes(position, &mut random));
            draw.draw(game, &mut kept);
            game += 1;
            undrawn += found - kept.len();
            // Positions that do not pass are encoded too, because the encoder counts them.
            let positions = rest.into_iter().chain(kept).map(Entry::Position);
            positions.into_iter().try_for_each(|position| encoder.encode(position, |_, record| sink.put(record)))
        })?;
        let records = sink.finish()?;
        let undrawn = if undrawn > 0 { format!(", {undrawn} not drawn") } else { String::new() };
        tell(records, &encoder, output, format, &(undrawn + &passed_over(passed)))
    }
}

impl ImportArgs {
    /// # Errors
    /// Fails if an input cannot be read or the output cannot be written, if an input holds
    /// positions instead of games, or if no game has an evaluation.
    pub fn run(&self) -> anyhow::Result<()> {
        let ImportArgs { input, output, max_bad } = self;
        let format = Format::to_write(&output.out, output.to)?;
        let mut encoder = Encoder::new(&output.out, format, None)?;
        let needs = Needs { games: Some("use `convert` for positions"), ..encoder.needs() };
        let mut sink = output.create(input)?;
        let no_games = |passed| DataError::NoGames { path: input.files.first().cloned().unwrap_or_default(), passed };
        #[cfg(feature = "binpack")]
        if format == Format::Binpack {
            let read = |put: &mut dyn FnMut(Entry) -> Result<(), DataError>| input.read_playable(needs, *max_bad, put);
            let (written, (passed, bad)) = super::binpack::write(&output.out, &mut sink, read)?;
            let passed = passed_over(passed) + &bad_games(bad);
            if written.positions == 0 {
                return Err(no_games(passed).into());
            }
            sink.finish()?;
            return tell_binpack(&written, output, &passed);
        }
        let put = |entry| encoder.encode(entry, |_, record| sink.put(record));
        let (passed, bad) = input.read_playable(needs, *max_bad, put)?;
        let passed = passed_over(passed) + &bad_games(bad);
        if sink.records == 0 {
            return Err(no_games(passed).into());
        }
        let records = sink.finish()?;
        tell(records, &encoder, output, format, &passed)
    }
}

/// Returns the end of the summary about games with an illegal move or start; empty if there were
/// none.
fn bad_games(games: u64) -> String {
    if games == 0 { String::new() } else { format!(", {games} games left out (illegal move or start)") }
}

/// Writes the entries of the input as `change` returns them. `games` is the remedy for files of
/// positions, if only games will do.
///
/// # Errors
/// Fails as `change` does, or if an input cannot be read or the output cannot be written.
pub(super) fn convert_with(
    input: &Input,
    output: &Output,
    games: Option<&'static str>,
    mut change: impl FnMut(&Path, Format, Entry) -> Result<Entry, DataError>,
) -> anyhow::Result<()> {
    let format = Format::to_write(&output.out, output.to)?;
    let mut encoder = Encoder::new(&output.out, format, None)?;
    let needs = Needs { games, ..encoder.needs() };
    let mut sink = output.create(input)?;
    let read = |put: &mut dyn FnMut(Entry) -> Result<(), DataError>| {
        input.read_sources(input.open(needs)?, |path, from, entry| put(change(path, from, entry)?))
    };
    #[cfg(feature = "binpack")]
    if format == Format::Binpack {
        let (written, passed) = super::binpack::write(&output.out, &mut sink, read)?;
        sink.finish()?;
        return tell_binpack(&written, output, &passed_over(passed));
    }
    let mut read = read;
    let passed = read(&mut |entry| encoder.encode(entry, |_, record| sink.put(record)))?;
    let records = sink.finish()?;
    tell(records, &encoder, output, format, &passed_over(passed))
}

fn tell(records: u64, encoder: &Encoder, output: &Output, format: Format, passed: &str) -> anyhow::Result<()> {
    say(&format!(
        "{records} records, {} positions in {} ({}), {}{passed}",
        encoder.positions,
        output.out.display(),
        format.name(),
        encoder.left_out(),
    ))?;
    Ok(())
}

#[cfg(feature = "binpack")]
fn tell_binpack(written: &super::binpack::WriteCounts, output: &Output, passed: &str) -> anyhow::Result<()> {
    let super::binpack::WriteCounts { positions, left_out } = written;
    say(&format!(
        "{positions} positions in {} (binpack), {left_out} positions left out{passed}",
        output.out.display()
    ))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use destrier::board::Board;
    use destrier::datagen::viriformat::GameResult;
    use destrier::types::Move;

    #[test]
    fn each_position_of_a_game_is_drawn_alike() {
        let of = |score| Position { board: Board::startpos(), mv: Move::NULL, score, result: GameResult::Draw };
        let draw = PositionDraw { thin: Vec::new(), per_game: Some(2), seed: 5 };
        let mut counts = [0_u32; 5];
        for game in 0..5000 {
            let mut positions: Vec<Position> = (0..5).map(of).collect();
            draw.draw(game, &mut positions);
            let scores: Vec<i16> = positions.iter().map(|position| position.score).collect();
            assert!(scores.len() == 2 && scores[0] < scores[1], "two in the order of the game: {scores:?}");
            scores.iter().for_each(|score| counts[*score as usize] += 1);
        }
        // 2000 each, with a standard deviation of 35.
        assert!(counts.iter().all(|count| (1850..2150).contains(count)), "{counts:?}");
    }
}
