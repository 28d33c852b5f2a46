//! Tests of the numbers; `tests/data/loss.rs` runs the command.

use super::fit::{MeanLoss, best_scale, losses, mean_by_game, sigmoid};

#[test]
fn the_scale_of_the_targets_is_found() {
    let values: Vec<i16> = (-40..=40).map(|step| step * 25).collect();
    for scale in [0.1, 0.7, 1.0, 2.5, 9.0] {
        let targets: Vec<f32> = values.iter().map(|value| sigmoid(scale * f64::from(*value)) as f32).collect();
        let found = best_scale(&values, &targets);
        assert!((found / scale - 1.0).abs() < 1e-3, "{found} for {scale}");
        assert!(losses(&values, &targets, found).iter().all(|loss| *loss < 1e-6));
    }
    // Twice the values at half the scale fit the same targets equally well.
    let targets: Vec<f32> = values.iter().map(|value| if *value > 60 { 1.0 } else { 0.4 }).collect();
    let doubled: Vec<i16> = values.iter().map(|value| 2 * value).collect();
    let (one, two) = (best_scale(&values, &targets), best_scale(&doubled, &targets));
    assert!((one / two - 2.0).abs() < 1e-3, "{one} {two}");
}

#[test]
fn an_error_counts_games_not_positions() {
    let close = |found: Option<MeanLoss>, mean: f64, error: f64| {
        let found = found.unwrap();
        let near = |a: f64, b: f64| (a - b).abs() < 1e-12;
        assert!(near(found.mean, mean) && found.error.is_some_and(|found| near(found, error)), "{found:?}");
    };
    // One position a game: the usual standard error of 1, 2, 3, 4.
    let usual = (5.0_f64 / 3.0 / 4.0).sqrt();
    close(mean_by_game(&[1.0, 2.0, 3.0, 4.0], &[1, 2, 3, 4], |_| true), 2.5, usual);
    // The same position five times in each game tells no more.
    let repeated: Vec<f64> = [1.0, 2.0, 3.0, 4.0].iter().flat_map(|number| [*number; 5]).collect();
    let games: Vec<u32> = (0..20).map(|place| place / 5).collect();
    close(mean_by_game(&repeated, &games, |_| true), 2.5, usual);
    // Positions that are left out, in the middle of a game and at its ends, do not part it.
    close(mean_by_game(&repeated, &games, |place| place % 5 != 2), 2.5, usual);
    assert_eq!(mean_by_game(&repeated, &games, |_| false), None);
    assert_eq!(mean_by_game(&[1.0, 5.0], &[7, 7], |_| true).map(|found| found.error), Some(None));
}
