//! Lists of pairs for the block `top-pairs`, chosen by what positions or networks show: `data
//! pairs`.

use crate::data::{Input, Position, replace, say, sigmoid};
use crate::train::{Integer, SCALES};
use anyhow::{Context as _, bail};
use clap::{Args, ValueEnum};
use destrier::datagen::viriformat::NO_SCORE;
use destrier::nnue;
use destrier::nnue::sets::{ActiveFeatures, FeatureBlock, FeaturePair, FeatureSet, OrientedBoard, PairList};
use destrier::types::Color;
use std::path::{Path, PathBuf};

/// Features of the block `piece`, and those of own pieces.
const PIECES: usize = 768;
const OWN: usize = 384;
/// Centipawns at a win probability of 0.73, unless a training plan gives others.
const SCALE: f64 = 400.0;
/// Views in which a pair must stand to be chosen by `gain`. The gain of rarer ones is chance.
const LEAST_VIEWS: u32 = 20;

const EXAMPLES: &str = "\
Examples:
  destrier-trainer data pairs frequent games.vf --count 256 --out frequent-256.txt
  destrier-trainer data pairs weight games.vf --net piece+top-pairs-8192.nnue --count 256 --out weight-256.txt
  destrier-trainer data pairs gain games.vf --net piece.nnue --count 256 --out gain-256.txt
  destrier-trainer data pairs gain games.vf --net sf.nnue --in-scale 410 --out-scale 361 --count 256 --out gain-256.txt

The list is what the key `pairs` of a training plan names, for the features `top-pairs:256`. Take one \
position of each game (`data filter --per-game 1`), so that long games do not count more.";

/// Measure by which pairs are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PairMeasure {
    /// Number of views in which the pair stands
    Frequent,
    /// Norm of the pair's weights in a network with top-pairs, times its frequency
    Weight,
    /// Squared error of a network's win probability that the pair explains
    Gain,
}

/// Arguments of `data pairs`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct PairsArgs {
    /// Measure of the choice
    #[arg(value_enum)]
    by: PairMeasure,
    #[command(flatten)]
    input: Input,
    /// Pairs to choose
    #[arg(long, value_name = "K")]
    count: usize,
    /// File to write, two features of `piece` a line, the best pair first
    #[arg(long, short, value_name = "FILE")]
    out: PathBuf,
    /// Network of `weight` (with the block top-pairs) or `gain` (any)
    #[arg(long, value_name = "FILE")]
    net: Option<PathBuf>,
    /// Positions to read, from the first on
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    positions: u64,
    /// Centipawns of a score at a win probability of 0.73, for `gain`: `in-scale` of the network's
    /// plan
    #[arg(long, value_name = "CP", default_value_t = SCALE, value_parser = scale)]
    in_scale: f64,
    /// Centipawns of the network's value at a win probability of 0.73, for `gain`: `out-scale` of
    /// its plan
    #[arg(long, value_name = "CP", default_value_t = SCALE, value_parser = scale)]
    out_scale: f64,
}

/// Parses a scale within the bounds of training plans.
fn scale(text: &str) -> Result<f64, String> {
    let scale = text.parse().ok().filter(|scale| SCALES.contains(scale));
    scale.map(f64::from).ok_or_else(|| "give 50 to 2000 centipawns".to_owned())
}

/// Sums of one pair over all positions.
#[derive(Debug, Clone, Copy, Default)]
struct PairTally {
    /// Views in which the pair stands.
    views: u32,
    /// Positions in which it stands in one view only.
    alone: u32,
    /// Errors of these positions, from the view in which it stands.
    errors: f64,
}

impl PairTally {
    /// Part of the squared error that a weight for the pair, taken from one side and given to the
    /// other, removes by least squares.
    fn gain(self) -> f64 {
        if self.views < LEAST_VIEWS || self.alone == 0 {
            return 0.0;
        }
        self.errors * self.errors / f64::from(self.alone)
    }
}

/// Sums of all pairs of two features of which one is an own piece.
struct PairTable {
    /// By the lower feature, then the other.
    sums: Vec<PairTally>,
    set: FeatureSet,
    active: [ActiveFeatures; 2],
    positions: u64,
}

impl PairTable {
    fn new() -> PairTable {
        let set = FeatureSet::piece();
        let active = [(); 2].map(|()| ActiveFeatures::new(PIECES));
        PairTable { sums: vec![PairTally::default(); OWN * PIECES], set, active, positions: 0 }
    }

    /// Records a position and the error of a win probability for the side to move.
    fn record(&mut self, position: &Position, error: f64) {
        let us = position.board.turn();
        let them = if us == Color::White { Color::Black } else { Color::White };
        for (active, color) in self.active.iter_mut().zip([us, them]) {
            self.set.activate(&OrientedBoard::from((&position.board, color)), active);
        }
        self.positions += 1;
        let mut features = Vec::with_capacity(32);
        for (place, error) in [error, -error].into_iter().enumerate() {
            features.clear();
            self.active[place].for_each(|feature| features.push(usize::from(feature)));
            let other = &self.active[1 - place];
            for (at, &low) in features.iter().enumerate().take_while(|(_, low)| **low < OWN) {
                for &high in &features[at + 1..] {
                    let sums = &mut self.sums[low * PIECES + high];
                    sums.views += 1;
                    if !(other.has(low) && other.has(high)) {
                        sums.alone += 1;
                        sums.errors += error;
                    }
                }
            }
        }
    }

    fn views(&self, pair: FeaturePair) -> u32 {
        let [low, high] = pair.features();
        self.sums[usize::from(low) * PIECES + usize::from(high)].views
    }

    /// All pairs with a measure of more than zero, the best first.
    fn ranked(&self, measure: impl Fn(FeaturePair, PairTally) -> f64) -> Vec<(FeaturePair, f64)> {
        let pairs = self.sums.iter().enumerate().filter_map(|(place, sums)| {
            let pair = FeaturePair::new((place / PIECES) as u16, (place % PIECES) as u16)?;
            Some((pair, measure(pair, *sums))).filter(|(_, value)| *value > 0.0)
        });
        let mut pairs: Vec<_> = pairs.collect();
        pairs.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        pairs
    }
}

impl PairsArgs {
    /// Counts, chooses and writes.
    ///
    /// # Errors
    /// Fails if an input or the network cannot be used, there are too few pairs, or the list cannot
    /// be written.
    pub fn run(&self) -> anyhow::Result<()> {
        if self.count == 0 || self.count > PairList::MAX {
            bail!("--count {}: give 1 to {} pairs", self.count, PairList::MAX);
        }
        let ranked = match (self.by, &self.net) {
            (PairMeasure::Frequent, None) => self.table(|_| Some(0.0))?.ranked(|_, sums| f64::from(sums.views)),
            (PairMeasure::Frequent, Some(_)) => bail!("--net: `frequent` needs no network; leave it out"),
            (_, None) => bail!("give the network with --net; its errors or weights are the measure"),
            (PairMeasure::Weight, Some(net)) => self.by_weight(net)?,
            (PairMeasure::Gain, Some(net)) => self.by_gain(net)?,
        };
        let Some(chosen) = ranked.get(..self.count) else {
            bail!(
                "{} pairs stand in these positions or count by this measure, {} are wanted; give more positions, or a smaller \
                 --count",
                ranked.len(),
                self.count
            );
        };
        let by = self.by.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned());
        let mut text = format!("# {} pairs by `{by}`, the best first\n", self.count);
        for (pair, _) in chosen {
            let [low, high] = pair.features();
            text += &format!("{low} {high}\n");
        }
        replace(&self.out, text.as_bytes())?;
        let last = chosen.last().map_or(0.0, |(_, value)| *value);
        say(&format!(
            "{} pairs in {}; the first measures {:.4}, the last {last:.4}",
            self.count,
            self.out.display(),
            chosen[0].1
        ))?;
        Ok(())
    }

    /// Reads the positions. `error` returns the error of a position, or `None` to pass it over.
    fn table(&self, error: impl Fn(&Position) -> Option<f64>) -> anyhow::Result<PairTable> {
        let mut table = PairTable::new();
        self.input.read_positions_while(|position| {
            if let Some(error) = error(position) {
                table.record(position, error);
            }
            table.positions < self.positions
        })?;
        if table.positions == 0 {
            bail!("no position to choose by; give files with positions, and with scores for `gain`");
        }
        Ok(table)
    }

    /// Ranks the pairs of a network by norm times frequency.
    fn by_weight(&self, net: &Path) -> anyhow::Result<Vec<(FeaturePair, f64)>> {
        let bytes = std::fs::read(net).with_context(|| format!("{}: cannot read it", net.display()))?;
        let integer = Integer::of_file(&bytes).with_context(|| net.display().to_string())?;
        let layout = integer.shape().layout();
        let block = layout.set.blocks().iter().find_map(|(block, first)| match block {
            FeatureBlock::TopPairs(list) => Some((list.clone(), *first)),
            _ => None,
        });
        let Some((list, first)) = block else {
            bail!(
                "{}: a network of {}, which has no pairs; train `piece+top-pairs:8192` with a list by `frequent`",
                net.display(),
                layout.set
            );
        };
        let table = self.table(|_| Some(0.0))?;
        let one = integer.one() as f64;
        let norm = |place: usize| {
            integer.row(first + place).iter().map(|weight| (f64::from(*weight) / one).powi(2)).sum::<f64>().sqrt()
        };
        let share = |pair| f64::from(table.views(pair)) / (2.0 * table.positions as f64);
        let mut ranked: Vec<(FeaturePair, f64)> =
            list.pairs().iter().enumerate().map(|(place, &pair)| (pair, norm(place) * share(pair))).collect();
        ranked.retain(|(_, value)| *value > 0.0);
        ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        Ok(ranked)
    }

    /// Ranks all pairs by the squared error of a network that each explains alone.
    fn by_gain(&self, net: &Path) -> anyhow::Result<Vec<(FeaturePair, f64)>> {
        let network = nnue::read_file(net).map_err(|error| anyhow::anyhow!("{}: {error}", net.display()))?;
        let table = self.table(|position| {
            let score = f64::from(position.score);
            let score = if position.board.turn() == Color::White { score } else { -score };
            let value = f64::from(network.evaluate_alone(&position.board));
            (position.score != NO_SCORE).then(|| self.win_error(score, value))
        })?;
        Ok(table.ranked(|_, sums| sums.gain()))
    }

    /// Returns the win probability of a score less that of the network's value.
    fn win_error(&self, score: f64, value: f64) -> f64 {
        sigmoid(score / self.in_scale) - sigmoid(value / self.out_scale)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use destrier::board::Board;
    use destrier::datagen::viriformat::GameResult;
    use destrier::types::Move;

    #[derive(Debug, Parser)]
    #[command(no_binary_name = true)]
    struct Words {
        #[command(flatten)]
        pairs: PairsArgs,
    }

    fn parsed(scales: &str) -> Result<PairsArgs, clap::Error> {
        let words = format!("gain games.vf --net a.nnue --count 1 --out b.txt{scales}");
        Words::try_parse_from(words.split(' ')).map(|words| words.pairs)
    }

    /// A network that was trained with scales of 410 and 361 and learned all scores has no errors,
    /// although its values are 0.88 times the scores.
    #[test]
    fn scores_and_values_have_scales_of_their_own() {
        let own = parsed(" --in-scale 410 --out-scale 361").expect("good words");
        let usual = parsed("").expect("good words");
        assert_eq!((usual.in_scale, usual.out_scale), (400.0, 400.0));
        for score in [-820.0, -41.0, 0.0, 205.0, 1640.0] {
            let value = score * 361.0 / 410.0;
            assert!(own.win_error(score, value).abs() < 1e-12, "{score}");
            // With one scale, the side ahead seems to be better than the network knows.
            assert!(usual.win_error(score, value) * score > 0.0 || score == 0.0, "{score}");
        }
        // At the scale itself the win probability is 0.73.
        assert!((own.win_error(410.0, 0.0) - 0.231).abs() < 1e-3);
        assert!((own.win_error(0.0, 361.0) + 0.231).abs() < 1e-3);
        for wrong in ["0", "49", "2001", "-400", "nan", "x"] {
            let error = parsed(&format!(" --out-scale={wrong}")).expect_err(wrong).to_string();
            assert!(error.contains("give 50 to 2000 centipawns"), "{error}");
        }
    }

    fn position(fen: &str) -> Position {
        let board = Board::from_fen(fen).expect(fen);
        Position { board, mv: Move::NULL, score: 0, result: GameResult::Draw }
    }

    #[test]
    fn pairs_are_counted_in_both_views_and_ranked() {
        let mut table = PairTable::new();
        // White: pawn e2, king e1. Black: king e8. The side to move is White, then Black.
        for (fen, error) in [("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", 0.25), ("4k3/8/8/8/8/8/4P3/4K3 b - - 0 1", -0.125)] {
            for _ in 0..20 {
                table.record(&position(fen), error);
            }
        }
        // Own king e1 with the enemy's king e8 in both views, with the own pawn in White's.
        let kings = FeaturePair::new(5 * 64 + 4, 11 * 64 + 60).expect("a pair");
        let pawn = FeaturePair::new(12, 5 * 64 + 4).expect("a pair");
        assert_eq!((table.views(kings), table.views(pawn)), (80, 40));
        let frequent = table.ranked(|_, sums| f64::from(sums.views));
        assert_eq!(frequent[0], (kings, 80.0));
        // Pawn with either king in White's view. In Black's, the enemy's pawn with the own king.
        assert_eq!(frequent.len(), 4);
        // The kings stand in both views, so that they explain nothing. The pawn's side is better by
        // (0.25 + 0.125) / 2 on average: 40 times the square of that.
        let gains = table.ranked(|_, sums| sums.gain());
        assert!(gains.iter().all(|(pair, _)| *pair != kings));
        let of_pawn = gains.iter().find(|(pair, _)| *pair == pawn).expect("it explains the errors").1;
        assert!((of_pawn - 40.0 * 0.1875 * 0.1875).abs() < 1e-9, "{of_pawn}");
    }
}
