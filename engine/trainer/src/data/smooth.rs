//! Smoothed scores: `data smooth`.
//!
//! The score of a shallow search is noisy, and the next searches of the game see further. Their
//! weighted mean is the lambda-return of temporal-difference learning (Sutton, "Learning to predict
//! by the methods of temporal differences", Machine Learning 3, 1988), without the game's result.

use super::continuation::{WholeGames, check_has_moves};
use super::convert::convert_with;
use super::input::{Input, Output};
use super::record::Entry;
use super::sigmoid;
use clap::Args;
use destrier::datagen::viriformat::{NO_SCORE, ScoredGame, ScoredMove};

const EXAMPLES: &str = "\
Examples:
  destrier-trainer data smooth games.vf --out smoothed.vf
  destrier-trainer data smooth games.vf --two-sided --out smoothed.vf
  destrier-trainer data filter smoothed.vf --out train.bin --min-ply 16 --max-score 3000

With lambda 0.5 the score of a ply has half of the weight, that of the next ply a quarter, and so on; \
the last one has the rest. With --two-sided as well it has a third, the plies next to it a sixth each, and so on. \
Scores beyond 30 pawns count in others and stay as they are. Smoothed scores are smaller \
than those of the search: `data loss` shows by which factor (`scale`), and `in-scale` of a plan corrects it.";

/// Largest score that is replaced, and largest that replaces one, in centipawns.
const MOST: i16 = 3_000;

/// Arguments of `smooth`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct SmoothArgs {
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    pub(super) output: Output,
    /// Weight of the later plies of the game in a score, from 0 to 1
    #[arg(long, default_value_t = 0.5, value_name = "WEIGHT")]
    lambda: f64,
    /// Let earlier plies count as much as later ones
    #[arg(long)]
    two_sided: bool,
    /// Centipawns at a win probability of 0.73; means are those of win probabilities
    #[arg(long, default_value_t = 400.0, value_name = "CP")]
    scale: f64,
}

/// Remedy for files without games.
const FROM_GAMES: &str = "smooth the games, before they are filtered or shuffled";
/// Remedy for games that are not whole.
const TORN: &str = "its scores would end there; smooth before filtering and shuffling";

impl SmoothArgs {
    /// # Errors
    /// Fails if an input cannot be read or has no whole games, or if the output cannot be written.
    pub fn run(&self) -> anyhow::Result<()> {
        let SmoothArgs { input, output, lambda, two_sided, scale } = self;
        anyhow::ensure!((0.0..=1.0).contains(lambda), "--lambda {lambda}: expected 0 to 1");
        anyhow::ensure!(*scale > 0.0 && scale.is_finite(), "--scale {scale}: expected more than 0");
        let mut whole = WholeGames::default();
        convert_with(input, output, Some(FROM_GAMES), |path, from, entry| {
            check_has_moves(path, from, &entry, FROM_GAMES)?;
            whole.check(path, from, &entry, TORN)?;
            let Entry::Game(mut game) = entry else { return Ok(entry) };
            smooth(&mut game, *lambda, *two_sided, *scale);
            Ok(Entry::Game(game))
        })
    }
}

/// Replaces each score by the mean of it and the later ones of the game, in which the later ones
/// together have the weight `lambda`; two-sided, by the same mean of these and the earlier ones.
fn smooth(game: &mut ScoredGame, lambda: f64, two_sided: bool, scale: f64) {
    let known = || |ply: &&mut ScoredMove| ply.score != NO_SCORE;
    let mut means: Vec<f64> =
        game.plies.iter_mut().filter(known()).map(|ply| sigmoid(f64::from(ply.score) / scale)).collect();
    pull(means.iter_mut().rev(), lambda);
    if two_sided {
        pull(means.iter_mut(), lambda);
    }
    let most = f64::from(MOST);
    for (ply, mean) in game.plies.iter_mut().filter(known()).zip(means) {
        if ply.score.unsigned_abs() <= MOST.unsigned_abs() {
            // The logarithm is infinite where the mean is 0 or 1.
            ply.score = (scale * (mean / (1.0 - mean)).ln()).clamp(-most, most).round() as i16;
        }
    }
}

/// Exponential smoothing: replaces each value but the first by the mean of it and the new one
/// before it, which has the weight `lambda`.
fn pull<'a>(values: impl Iterator<Item = &'a mut f64>, lambda: f64) {
    let mut before: Option<f64> = None;
    for value in values {
        *value = before.map_or(*value, |before| *value + lambda * (before - *value));
        before = Some(*value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use destrier::board::Board;
    use destrier::datagen::viriformat::GameResult;
    use destrier::types::Move;

    fn smoothed(scores: &[i16], lambda: f64) -> Vec<i16> {
        smoothed_by(scores, lambda, false)
    }

    fn smoothed_by(scores: &[i16], lambda: f64, two_sided: bool) -> Vec<i16> {
        let plies = scores.iter().map(|&score| ScoredMove { mv: Move::NULL, score }).collect();
        let mut game = ScoredGame { start: Board::startpos(), start_score: 0, result: GameResult::WhiteWins, plies };
        smooth(&mut game, lambda, two_sided, 400.0);
        game.plies.iter().map(|ply| ply.score).collect()
    }

    #[test]
    fn later_scores_have_their_weight() {
        let scores = [100, 100, -50, 0];
        assert_eq!(smoothed(&scores, 0.0), scores);
        assert_eq!(smoothed(&scores, 1.0), [0; 4]);
        // Win probabilities 0.5622, 0.5622, 0.4688, 0.5; means 0.5428, 0.5233, 0.4844, 0.5.
        assert_eq!(smoothed(&scores, 0.5), [69, 37, -25, 0]);
    }

    #[test]
    fn earlier_scores_count_as_later_ones_if_two_sided() {
        let mut scores = [0; 21];
        scores[10] = 40;
        let smoothed = smoothed_by(&scores, 0.5, true);
        assert_eq!(smoothed[7..14], [2, 3, 7, 13, 7, 3, 2]);
        scores[10] = 30_000;
        let smoothed = smoothed_by(&scores, 0.5, true);
        assert_eq!((smoothed[9], smoothed[10], smoothed[11]), (smoothed[11], 30_000, smoothed[9]));
    }

    #[test]
    fn decided_and_missing_scores_stay() {
        assert_eq!(smoothed(&[0, NO_SCORE, 0], 0.5), [0, NO_SCORE, 0]);
        let [before, mate] = smoothed(&[0, 30_000], 0.5)[..] else { panic!("two plies") };
        // A win probability of 0.75.
        assert_eq!((before, mate), (439, 30_000));
        assert_eq!(smoothed(&[2_990, 30_000], 0.5)[0], 3_000, "the largest");
    }
}
