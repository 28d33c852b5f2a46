//! Statistics of feature blocks over data files: `data features`.

use super::block_counts::{BlockCounts, LEGAL, MoveCounts};
use super::panels::feature_names;
use crate::data::{Input, Position, say};
use crate::heat::{HeatMap, TextStyle};
use crate::train::read_pairs;
use clap::Args;
use destrier::nnue::sets::{ActiveFeatures, FeatureBlock, FeatureSet, OrientedBoard};
use destrier::types::{Color, Move, MoveList, SplitMix64};
use quintain::report::plot::{CurvePlot, Heads, HistogramPlot, HistogramSeries, Scale};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Legal moves drawn for each position.
const DRAWN: usize = 2;

/// Kinds of pieces, for pictures.
const KINDS: [&str; 6] = ["pawns", "knights", "bishops", "rooks", "queens", "king"];

/// Quantiles of the steps of moves, in percent.
const QUANTILES: [u64; 5] = [10, 25, 50, 75, 90];

/// Arguments of `data features`.
#[derive(Debug, Args)]
pub struct StatisticsArgs {
    /// Sum of feature blocks, each counted by itself; `every` for all except top-pairs
    set: String,
    #[command(flatten)]
    input: Input,
    /// Positions to count, from the first on
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..))]
    positions: u64,
    /// Count one position in N, so that those of a game do not count alike
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    every_nth: u64,
    /// Seed of the legal moves drawn
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// File with the pairs of a block top-pairs:K
    #[arg(long, value_name = "FILE")]
    pairs: Option<PathBuf>,
    /// Most frequent features to list for each block, with their names
    #[arg(long, value_name = "N", default_value_t = 0)]
    top: usize,
    /// Folder for pictures: frequencies, mobility and numbers of legal moves as SVG
    #[arg(long, value_name = "FOLDER")]
    plots: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// Counts of all blocks, and of moves.
struct Statistics {
    blocks: Vec<BlockCounts>,
    moves: MoveCounts,
    positions: u64,
    /// Block `mobility-squares`, whose numbers of squares are counted.
    mobility: FeatureSet,
    active: ActiveFeatures,
    random: SplitMix64,
}

impl Statistics {
    fn new(blocks: Vec<FeatureBlock>, seed: u64) -> Statistics {
        let mobility = FeatureSet::new(vec![FeatureBlock::MobilitySquares]).unwrap_or_else(|_| FeatureSet::piece());
        Statistics {
            blocks: blocks.into_iter().filter_map(BlockCounts::new).collect(),
            moves: MoveCounts::default(),
            positions: 0,
            active: ActiveFeatures::new(mobility.size()),
            mobility,
            random: SplitMix64::new(seed),
        }
    }

    fn record(&mut self, position: &Position) {
        let board = &position.board;
        let mut list = MoveList::new();
        board.legal_moves(&mut list);
        let mut moves: Vec<Move> = list.iter().copied().collect();
        let played = (!position.mv.is_null()).then_some(position.mv);
        self.moves.record(board, moves.len(), played);
        for first in 0..moves.len().min(DRAWN) {
            let other = first + self.random.below(moves.len() - first);
            moves.swap(first, other);
        }
        moves.truncate(DRAWN);
        for block in &mut self.blocks {
            block.record(board, played, &moves);
        }
        for color in Color::ALL {
            self.mobility.activate(&OrientedBoard::from((board, color)), &mut self.active);
            self.moves.record_mobility(&self.active);
        }
        self.positions += 1;
    }
}

impl StatisticsArgs {
    /// Counts and prints.
    ///
    /// # Errors
    /// Fails if the set is not right, an input cannot be read or an output cannot be written.
    pub fn run(&self) -> anyhow::Result<()> {
        let mut statistics = Statistics::new(self.blocks()?, self.seed);
        let (mut place, step, most) = (0_u64, self.every_nth, self.positions);
        self.input.read_positions_while(|position| {
            if place.is_multiple_of(step) {
                statistics.record(position);
            }
            place += 1;
            statistics.positions < most
        })?;
        if let Some(folder) = &self.plots {
            draw(&statistics, folder).map_err(|error| anyhow::anyhow!("{}: {error}", folder.display()))?;
        }
        if self.json {
            say(&serde_json::to_string_pretty(&self.to_json(&statistics))?)?;
        } else {
            self.print(&statistics)?;
        }
        Ok(())
    }

    /// Returns the blocks of the set; those of `every` are together larger than a network's inputs.
    fn blocks(&self) -> anyhow::Result<Vec<FeatureBlock>> {
        if self.set == "every" {
            return Ok(FeatureBlock::all().cloned().collect());
        }
        let pairs = self.pairs.as_ref().map(|path| read_pairs(path).map(Arc::new)).transpose()?;
        let set = FeatureSet::parse(&self.set, pairs.as_ref())?;
        Ok(set.blocks().iter().map(|(block, _)| block.clone()).collect())
    }

    fn print(&self, statistics: &Statistics) -> anyhow::Result<()> {
        say(&format!("{} positions; for each side's view and move", statistics.positions))?;
        say(&format!(
            "{:22} {:>6} {:>6} {:>6} {:>8} {:>7} {:>23} {:>23}",
            "block", "size", "on", "dead", "active", "%", "legal +  -  refresh", "played +  -  refresh"
        ))?;
        for block in &statistics.blocks {
            let (size, ever, mean) = (block.frequency.len(), block.ever_on(), block.mean_active());
            let changes = [&block.legal, &block.played].map(|counts| {
                let [adds, removes, refreshes] = counts.means();
                format!("{adds:7.2} {removes:7.2} {refreshes:7.3}")
            });
            say(&format!(
                "{:22} {size:>6} {ever:>6} {:>6} {mean:>8.2} {:>7.3} {:>23} {:>23}",
                block.name(),
                size - ever,
                100.0 * mean / size as f64,
                changes[0],
                changes[1]
            ))?;
            let names = if self.top > 0 { feature_names(block.block()) } else { Vec::new() };
            for (feature, views) in block.most_frequent(self.top) {
                let share = 100.0 * views as f64 / block.views.max(1) as f64;
                say(&format!("    {feature:>6} {share:6.2} %  {}", names[feature]))?;
            }
        }
        let MoveCounts { file_steps, rank_steps, .. } = &statistics.moves;
        for (name, steps) in [("files", file_steps), ("ranks", rank_steps)] {
            say(&format!("{name} that a played move crosses: {}", summary(steps)))?;
        }
        Ok(())
    }

    fn to_json(&self, statistics: &Statistics) -> serde_json::Value {
        let blocks = statistics.blocks.iter().map(|block| {
            let size = block.frequency.len();
            json!({
                "block": block.name(),
                "size": size,
                "ever_on": block.ever_on(),
                "dead": size - block.ever_on(),
                "mean_active": block.mean_active(),
                "legal": block.legal,
                "played": block.played,
                "top": block.most_frequent(self.top),
            })
        });
        json!({ "positions": statistics.positions, "blocks": blocks.collect::<Vec<_>>(), "moves": statistics.moves })
    }
}

/// Formats the mean and the quantiles of numbers, given the count of each number from 0 on.
fn summary(counts: &[u64]) -> String {
    let total: u64 = counts.iter().sum();
    if total == 0 {
        return "no move is known".to_owned();
    }
    let sum: u64 = (0_u64..).zip(counts).map(|(number, count)| number * count).sum();
    let quantile = |percent: u64| {
        let mut within = 0_u64;
        let reaches = |count: &u64| {
            within += count;
            100 * within >= percent * total
        };
        counts.iter().position(reaches).unwrap_or(counts.len())
    };
    let quantiles = QUANTILES.map(|percent| format!("{percent} % {}", quantile(percent)));
    format!("mean {:.2}, quantiles {}", sum as f64 / total as f64, quantiles.join(", "))
}

/// Draws frequencies of each block, mobility by kind, and legal moves by move number.
fn draw(statistics: &Statistics, folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let by_rank = |block: &BlockCounts| {
        let mut shares: Vec<f64> =
            block.frequency.iter().map(|&views| 100.0 * views as f64 / block.views.max(1) as f64).collect();
        shares.sort_unstable_by(|a, b| b.total_cmp(a));
        let points = (1..).zip(shares).filter(|&(_, share)| share > 0.0);
        (block.name(), points.map(|(place, share)| (f64::from(place), share)).collect())
    };
    let frequencies = CurvePlot {
        title: "Features by frequency".to_owned(),
        caption: format!("{} positions", statistics.positions),
        x_label: "place of the feature".to_owned(),
        x_scale: Scale::Log,
        y_label: "% of views".to_owned(),
        y_scale: Scale::Linear,
        longest_join: None,
        series: statistics.blocks.iter().map(by_rank).collect(),
        bands: Vec::new(),
    };
    std::fs::write(folder.join("frequencies.svg"), frequencies.to_svg())?;
    for (kind, counts) in KINDS.into_iter().zip(&statistics.moves.mobility) {
        let heads = Heads { title: format!("Mobility of {kind}"), ..Heads::default() };
        std::fs::write(folder.join(format!("mobility-{kind}.svg")), histogram(heads, "squares", counts))?;
    }
    for (side, counts) in ["white", "black"].into_iter().zip(&statistics.moves.legal) {
        let heads = Heads { title: format!("Legal moves, {side} to move"), ..Heads::default() };
        std::fs::write(folder.join(format!("legal-{side}.svg")), histogram(heads, "legal moves", counts))?;
    }
    let by_move = |(side, cells): (&str, &Vec<(u64, u64)>)| {
        let known = (0..).zip(cells).filter(|(_, (_, positions))| *positions > 0);
        let means = known.map(|(number, &(moves, count)): (u32, _)| (f64::from(number), moves as f64 / count as f64));
        (side.to_owned(), means.collect())
    };
    let legal = CurvePlot {
        title: "Legal moves by move number".to_owned(),
        caption: format!("{} positions", statistics.positions),
        x_label: "move of the game".to_owned(),
        x_scale: Scale::Linear,
        y_label: "legal moves".to_owned(),
        y_scale: Scale::Linear,
        longest_join: None,
        series: ["White", "Black"].into_iter().zip(&statistics.moves.by_move).map(by_move).collect(),
        bands: Vec::new(),
    };
    std::fs::write(folder.join("legal-by-move.svg"), legal.to_svg())?;
    for (side, numbers) in ["White", "Black"].into_iter().zip(&statistics.moves.legal_by_move) {
        let name = format!("legal-map-{}.svg", side.to_lowercase());
        std::fs::write(folder.join(name), legal_map(side, numbers))?;
    }
    Ok(())
}

/// Draws the share of positions of each move number by their number of legal moves.
fn legal_map(side: &str, numbers: &[[u32; LEGAL]]) -> String {
    const LAST_MOVE: usize = 120;
    const MOST_LEGAL: usize = 80;
    let (left, bottom, cell) = (64.0, 460.0, (6.0, 5.0));
    let title = format!("Legal moves, {side} to move");
    let mut map = HeatMap::new(&title, 800, 520);
    map.text((left, 30.0), TextStyle::Title, &title);
    map.upward((24.0, bottom - 200.0), "legal moves");
    let shown = || numbers.iter().enumerate().take(LAST_MOVE + 1).skip(1);
    let share = |counts: &[u32; LEGAL], legal: usize| {
        let positions: u32 = counts.iter().sum();
        f64::from(counts[legal]) / f64::from(positions.max(1))
    };
    // The scale ends at the largest share of a move number with positions enough to tell it.
    let of_move = |(_, counts): (usize, &[u32; LEGAL])| {
        let is_known = counts.iter().sum::<u32>() >= 100;
        (0..MOST_LEGAL).map(|legal| if is_known { share(counts, legal) } else { 0.0 }).fold(0.0, f64::max)
    };
    let most = shown().skip(4).map(of_move).fold(0.01, f64::max);
    for (number, counts) in shown() {
        for legal in (0..MOST_LEGAL).filter(|&legal| counts[legal] > 0) {
            let share = share(counts, legal);
            let place = (left + cell.0 * (number - 1) as f64, bottom - cell.1 * (legal + 1) as f64);
            let tip = format!("move {number}, {legal} legal moves: {:.1} %", 100.0 * share);
            map.cell(place, cell, share / most, &tip);
        }
    }
    for number in (0..=LAST_MOVE).step_by(20) {
        let number = number.max(1);
        map.text((left + cell.0 * (number - 1) as f64, bottom + 16.0), TextStyle::Small, &number.to_string());
    }
    for legal in (0..=MOST_LEGAL).step_by(20) {
        map.text((left - 24.0, bottom - cell.1 * legal as f64), TextStyle::Small, &legal.to_string());
    }
    map.text((left, bottom + 44.0), TextStyle::Label, "move of the game; share of the positions of each move:");
    map.legend((left + 340.0, bottom + 44.0), ["0", &format!("{:.0} % and more", 100.0 * most)], false);
    map.finish()
}

fn histogram(heads: Heads, x_label: &str, counts: &[u64]) -> String {
    HistogramPlot {
        heads,
        x_label: x_label.to_owned(),
        of: "positions".to_owned(),
        low: -0.5,
        width: 1.0,
        series: vec![HistogramSeries { name: "positions".to_owned(), counts: counts.to_vec() }],
    }
    .to_svg()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_the_least_numbers_that_reach_their_share() {
        // Ten moves: two of 0, three of 1, four of 2, one of 7.
        let text = summary(&[2, 3, 4, 0, 0, 0, 0, 1]);
        assert_eq!(text, "mean 1.80, quantiles 10 % 0, 25 % 1, 50 % 1, 75 % 2, 90 % 2");
        assert_eq!(summary(&[0, 0, 1]), "mean 2.00, quantiles 10 % 2, 25 % 2, 50 % 2, 75 % 2, 90 % 2");
        assert_eq!(summary(&[0; 8]), "no move is known");
    }
}
