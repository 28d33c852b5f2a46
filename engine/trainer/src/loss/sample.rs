//! Positions to measure on, drawn game by game, with the value that each evaluation gives them.

use super::fit::{SCALE, sigmoid};
use crate::data::read::{self, EntrySource};
use crate::data::record::{Entry, Position};
use crate::data::{DataError, Format, PreviousEntry, may_be_piece};
use clap::Args;
use destrier::board::Board;
use destrier::datagen::viriformat::{GameResult, NO_SCORE};
use destrier::search::{EvalConfig, Evaluator};
use destrier::types::{MoveList, SplitMix64};
use serde::Serialize;
use std::path::PathBuf;

/// Bands of the number of men, kings and pawns included.
pub const BANDS: [(u32, u32); 4] = [(2, 10), (11, 18), (19, 25), (26, 32)];

/// Consecutive records of bulletformat that count as one game, because the format has no ply from
/// which games could be told apart.
const BLOCK: u64 = 64;

/// Criteria of the positions to measure: by default those with a score within 100 pawns, not in
/// check, in which no capture or promotion was played.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Args, Serialize)]
pub struct SampleFilter {
    /// Leave out positions with a score beyond this, in centipawns
    #[arg(long, default_value_t = 10_000, value_name = "CP")]
    pub max_score: u16,
    /// Leave out positions before this ply of the game
    #[arg(long, default_value_t = 0, value_name = "PLY")]
    pub min_ply: u32,
    /// Leave out positions, too, in which a capture or promotion wins material by static exchange
    #[arg(long)]
    pub settled: bool,
    /// Measure positions with the side to move in check
    #[arg(long)]
    pub keep_checks: bool,
    /// Measure positions in which a capture or a promotion was played
    #[arg(long)]
    pub keep_captures: bool,
}

impl SampleFilter {
    fn keeps(&self, position: &Position) -> bool {
        let board = &position.board;
        position.score != NO_SCORE
            && position.score.unsigned_abs() <= self.max_score
            && (self.min_ply == 0 || position.ply() >= self.min_ply)
            && (self.keep_checks || !board.in_check())
            && (self.keep_captures || position.mv.is_null() || position.mv.is_quiet())
            && (!self.settled || is_settled(board))
    }
}

/// Returns true if no capture or promotion wins material.
fn is_settled(board: &Board) -> bool {
    let mut moves = MoveList::new();
    board.legal_moves(&mut moves);
    !moves.iter().any(|&mv| !mv.is_quiet() && board.see_ge(mv, 1))
}

/// Choice of games.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct GameDraw {
    /// Share of the games.
    pub share: f64,
    /// True for the games that the share leaves out.
    pub rest: bool,
    /// Seed of the choice.
    pub seed: u64,
}

impl GameDraw {
    /// Returns true if a game is measured. Its number counts the games of all files.
    fn takes(&self, game: u64) -> bool {
        // Random numbers below this bound are a `share` of all 2^64.
        let bound = (self.share * 2_f64.powi(64)) as u128;
        let is_drawn = u128::from(SplitMix64::from_seeds(&[self.seed, game]).next_u64()) < bound;
        is_drawn != self.rest
    }
}

/// Measured positions, as columns. All targets and values are the side to move's.
#[derive(Debug, Default)]
pub struct Sample {
    /// Positions read, whether measured or not.
    pub read: u64,
    /// Games read, whether measured or not.
    pub games_read: u64,
    /// Number of the game of each position, ascending.
    pub games: Vec<u32>,
    /// Number of men of each position.
    pub men: Vec<u8>,
    /// Winning probability that the score of each position promises.
    pub scores: Vec<f32>,
    /// Result of the game of each position: 0, 0.5 or 1.
    pub results: Vec<f32>,
    /// Values of the positions, one column for each evaluation.
    pub values: Vec<Vec<i16>>,
}

/// Reader of samples.
#[derive(Debug)]
pub struct SampleReader<'a> {
    /// Choice of games.
    pub draw: GameDraw,
    /// Criteria of the positions.
    pub filter: SampleFilter,
    /// Centipawns at which a score promises a winning probability of 73 %.
    pub score_scale: f64,
    /// Evaluations to measure.
    pub loaded: &'a [EvalConfig],
}

impl SampleReader<'_> {
    /// Reads files and evaluates the positions of the drawn games.
    ///
    /// # Errors
    /// Fails if a file cannot be read, is damaged, or does not store the ply that the filter needs.
    pub fn read(&self, files: &[PathBuf], from: Option<Format>) -> Result<Sample, DataError> {
        let mut evaluators: Vec<Evaluator> = self.loaded.iter().map(evaluator).collect();
        let mut sample = Sample { values: vec![Vec::new(); evaluators.len()], ..Sample::default() };
        let sources = files.iter().map(|path| read::open(path, from)).collect::<Result<Vec<_>, _>>()?;
        for (path, source) in files.iter().zip(&sources) {
            if self.filter.min_ply > 0 && !source.format.holds_ply() {
                return Err(source.format.lacks(path, "at which ply a position is", "leave out `--min-ply`"));
            }
        }
        for source in sources {
            self.read_file(source, &mut sample, &mut evaluators)?;
        }
        Ok(sample)
    }

    fn read_file(
        &self,
        source: EntrySource,
        sample: &mut Sample,
        evaluators: &mut [Evaluator],
    ) -> Result<(), DataError> {
        let mut before = PreviousEntry::default();
        let mut is_taken = false;
        for (number, entry) in (0_u64..).zip(source.entries) {
            let entry = entry?;
            let may_go_on = before.record(&entry);
            if begins_game(number, &entry, source.format, may_go_on) {
                sample.games_read += 1;
                is_taken = self.draw.takes(sample.games_read);
            }
            for position in entry.positions() {
                sample.read += 1;
                if is_taken && self.filter.keeps(&position) {
                    sample.record(&position, self.score_scale, evaluators);
                }
            }
        }
        Ok(())
    }
}

impl Sample {
    fn record(&mut self, position: &Position, score_scale: f64, evaluators: &mut [Evaluator]) {
        let (score, result) = position.relative();
        // The number of games is bounded by the memory for their positions.
        self.games.push(self.games_read as u32);
        self.men.push(position.board.occupied().count() as u8);
        self.scores.push(sigmoid(f64::from(score) * SCALE / score_scale) as f32);
        self.results.push(f32::from(GameResult::half_points(result)) / 2.0);
        for (evaluator, values) in evaluators.iter_mut().zip(&mut self.values) {
            evaluator.reset(&position.board);
            let value = evaluator.evaluate(&position.board);
            values.push(value.clamp(i32::from(i16::MIN), i32::from(i16::MAX)) as i16);
        }
    }

    /// Returns the number of positions measured.
    pub fn positions(&self) -> usize {
        self.games.len()
    }

    /// Returns the number of games with measured positions.
    pub fn games(&self) -> usize {
        self.games.chunk_by(|a, b| a == b).count()
    }
}

fn evaluator(config: &EvalConfig) -> Evaluator {
    let mut evaluator = Evaluator::new();
    evaluator.configure(config);
    evaluator
}

/// Returns true if an entry of a file begins a game. Files of single positions do not separate
/// games, and a filter leaves pieces of them. Neighbours are of one game if the later one may go on
/// from the earlier one ([`PreviousEntry`]). In a shuffled file most are then games of their own.
fn begins_game(number: u64, entry: &Entry, format: Format, may_go_on: bool) -> bool {
    match entry {
        Entry::Position(_) if !format.holds_ply() => number.is_multiple_of(BLOCK),
        Entry::Game(game) if !may_be_piece(game, format) => true,
        _ => !may_go_on,
    }
}

/// Returns the index of the band of a number of men.
pub fn band_of(men: u8) -> Option<usize> {
    BANDS.iter().position(|(least, most)| (*least..=*most).contains(&u32::from(men)))
}
