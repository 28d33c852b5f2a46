//! Statistics and histograms of data files.

use super::error::DataError;
use super::input::{Input, Memory};
use super::needs::Needs;
use super::record::{Entry, Position};
use super::sorter::Sorter;
use super::{passed_over, say};
use clap::Args;
use destrier::datagen::viriformat::{GameResult, NO_SCORE};
use destrier::types::PieceType;
use quintain::report::plot::{Heads, HistogramPlot, HistogramSeries};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Arguments of `info`.
#[derive(Debug, Args)]
pub struct InfoArgs {
    #[command(flatten)]
    input: Input,
    /// Count how many positions are distinct, too
    #[arg(long)]
    distinct: bool,
    #[command(flatten)]
    memory: Memory,
    /// Folder for pictures: scores, phases, results and numbers of pieces as SVG
    #[arg(long, value_name = "FOLDER")]
    plots: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// Arguments of `check`.
#[derive(Debug, Args)]
pub struct CheckArgs {
    #[command(flatten)]
    input: Input,
}

/// Width of a score bin in centipawns. The bins cover ten pawns on both sides.
const SCORE_WIDTH: i32 = 50;
const SCORE_BINS: usize = 42;
/// Phase of the full set of pieces, with weights minor 1, rook 2, queen 4.
const FULL_PHASE: usize = 24;

/// Statistics of a set of files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Games read.
    pub games: u64,
    /// Games without a result or evaluations, or decided by forfeit, failure or abandonment. No
    /// other count includes them.
    pub passed_over: u64,
    /// Positions of the games, and single positions.
    pub positions: u64,
    /// Positions that are stored without a game.
    pub lone: u64,
    /// Positions by result: Black wins, draw, White wins.
    pub results: [u64; 3],
    /// Positions with the side to move in check.
    pub in_check: u64,
    /// Positions with a capture or promotion as the move played.
    pub captures: u64,
    /// Positions without a move played.
    pub without_move: u64,
    /// Positions without a score.
    pub without_score: u64,
    /// Positions with White to move.
    pub white_to_move: u64,
    /// Distinct positions by Zobrist key; `None` unless counted.
    pub distinct: Option<u64>,
    /// Histogram of White's scores in bins of half a pawn from -10.5 pawns. The first and last bin
    /// include all scores beyond.
    pub scores: Vec<u64>,
    /// Histogram of phases from 0 (pawns and kings only) to 24 (all pieces).
    pub phases: Vec<u64>,
    /// Histogram of the number of pieces including pawns and kings, from 0.
    pub pieces: Vec<u64>,
}

impl Counts {
    fn new() -> Counts {
        Counts {
            games: 0,
            passed_over: 0,
            positions: 0,
            lone: 0,
            results: [0; 3],
            in_check: 0,
            captures: 0,
            without_move: 0,
            without_score: 0,
            white_to_move: 0,
            distinct: None,
            scores: vec![0; SCORE_BINS],
            phases: vec![0; FULL_PHASE + 1],
            pieces: vec![0; 33],
        }
    }

    fn record(&mut self, position: &Position) {
        let board = &position.board;
        self.positions += 1;
        self.results[usize::from(position.result.half_points())] += 1;
        self.in_check += u64::from(board.in_check());
        self.captures += u64::from(!position.mv.is_quiet());
        self.without_move += u64::from(position.mv.is_null());
        self.white_to_move += u64::from(board.turn() == destrier::types::Color::White);
        if position.score == NO_SCORE {
            self.without_score += 1;
        } else {
            let bin = i32::from(position.score).div_euclid(SCORE_WIDTH) + SCORE_BINS as i32 / 2;
            self.scores[bin.clamp(0, SCORE_BINS as i32 - 1) as usize] += 1;
        }
        self.phases[phase(position)] += 1;
        self.pieces[(board.occupied().count() as usize).min(32)] += 1;
    }
}

/// Returns the game phase: 24 with all pieces on the board, 0 with pawns and kings only.
fn phase(position: &Position) -> usize {
    let count = |kind| position.board.kind(kind).count() as usize;
    let minors = count(PieceType::Knight) + count(PieceType::Bishop);
    (minors + 2 * count(PieceType::Rook) + 4 * count(PieceType::Queen)).min(FULL_PHASE)
}

impl InfoArgs {
    /// # Errors
    /// Fails if an input cannot be read or an output cannot be written.
    pub fn run(&self) -> anyhow::Result<()> {
        let counts = self.count()?;
        if let Some(folder) = &self.plots {
            std::fs::create_dir_all(folder).map_err(DataError::io(folder, "make this folder"))?;
            draw(&counts, &self.title(), folder)?;
        }
        if self.json {
            say(&serde_json::to_string_pretty(&counts)?)?;
        } else {
            tell(&counts)?;
        }
        Ok(())
    }

    fn title(&self) -> String {
        let name = |path: &PathBuf| path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        match &self.input.files[..] {
            [file] => name(file),
            files => format!("{} files", files.len()),
        }
    }

    fn count(&self) -> Result<Counts, DataError> {
        let mut counts = Counts::new();
        let mut sorter = match self.distinct {
            true => Some(Sorter::new(&std::env::temp_dir(), self.memory.bytes())?),
            false => None,
        };
        let passed_over = self.input.read(Needs::default(), |entry| {
            match entry {
                Entry::Game(_) => counts.games += 1,
                Entry::Position(_) => counts.lone += 1,
            }
            for position in entry.positions() {
                counts.record(&position);
                if let Some(sorter) = &mut sorter {
                    sorter.push(position.board.key(), &[])?;
                }
            }
            Ok(())
        })?;
        counts.passed_over = passed_over;
        if let Some(sorter) = sorter {
            let (mut distinct, mut last) = (0, None);
            sorter.finish(&mut |key, _| {
                distinct += u64::from(last.replace(key) != Some(key));
                Ok(())
            })?;
            counts.distinct = Some(distinct);
        }
        Ok(counts)
    }
}

fn tell(counts: &Counts) -> Result<(), DataError> {
    let share = |count: u64| 100.0 * count as f64 / counts.positions.max(1) as f64;
    let result = |result: GameResult| share(counts.results[usize::from(result.half_points())]);
    say(&format!("games             {}", counts.games))?;
    if counts.passed_over > 0 {
        say(&format!("games passed over {}", counts.passed_over))?;
    }
    say(&format!("positions         {}", counts.positions))?;
    if counts.games > 0 {
        let in_games = (counts.positions - counts.lone) as f64;
        say(&format!("plies a game      {:.1}", in_games / counts.games as f64))?;
    }
    say(&format!("White wins        {:.1} %", result(GameResult::WhiteWins)))?;
    say(&format!("draws             {:.1} %", result(GameResult::Draw)))?;
    say(&format!("Black wins        {:.1} %", result(GameResult::BlackWins)))?;
    say(&format!("White to move     {:.1} %", share(counts.white_to_move)))?;
    say(&format!("in check          {:.1} %", share(counts.in_check)))?;
    say(&format!("captures played   {:.1} %", share(counts.captures)))?;
    say(&format!("without a move    {:.1} %", share(counts.without_move)))?;
    say(&format!("without a score   {:.1} %", share(counts.without_score)))?;
    if let Some(distinct) = counts.distinct {
        say(&format!("distinct          {distinct} ({:.1} %)", share(distinct)))?;
    }
    let pieces: u64 = (0..).zip(&counts.pieces).map(|(pieces, &count): (u64, _)| pieces * count).sum();
    say(&format!("pieces            {:.1} a position", pieces as f64 / counts.positions.max(1) as f64))
}

fn draw(counts: &Counts, title: &str, folder: &Path) -> Result<(), DataError> {
    let low_score = -f64::from(SCORE_WIDTH) * SCORE_BINS as f64 / 200.0;
    let width = f64::from(SCORE_WIDTH) / 100.0;
    for (name, what, x_label, low, width, counts) in [
        ("scores", "Scores", "score of White (pawns)", low_score, width, &counts.scores[..]),
        ("phases", "Phases", "phase (minor 1, rook 2, queen 4)", -0.5, 1.0, &counts.phases),
        ("pieces", "Pieces", "pieces on the board", -0.5, 1.0, &counts.pieces),
        ("results", "Results", "half points of White", -0.5, 1.0, &counts.results),
    ] {
        let plot = HistogramPlot {
            heads: Heads { title: format!("{what}: {title}"), subtitle: String::new(), caption: String::new() },
            x_label: x_label.to_owned(),
            of: "positions".to_owned(),
            low,
            width,
            series: vec![HistogramSeries { name: "positions".to_owned(), counts: counts.to_vec() }],
        };
        let path = folder.join(format!("{name}.svg"));
        std::fs::write(&path, plot.to_svg()).map_err(DataError::io(&path, "write it"))?;
    }
    Ok(())
}

impl CheckArgs {
    /// # Errors
    /// Fails at the first fault in the input.
    pub fn run(&self) -> anyhow::Result<()> {
        let (mut entries, mut positions) = (0_u64, 0_u64);
        let passed = self.input.read(Needs::default(), |entry| {
            entries += 1;
            positions += entry.positions().len() as u64;
            Ok(())
        })?;
        say(&format!("{entries} records with {positions} positions, all legal{}", passed_over(passed)))?;
        Ok(())
    }
}
