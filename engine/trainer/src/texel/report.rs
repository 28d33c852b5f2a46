//! Results of a fit: lines on the terminal, the learning curve, heat maps, and the table that the
//! engine compiles.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use destrier::eval::render_weights;
use quintain::report::plot::{CurvePlot, Scale};

use super::loss::measure;
use super::plan::TexelPlan;
use super::samples::Samples;
use super::{Epoch, FitResult, Weights, heat, write_file};

/// Prints a line on stderr.
pub fn say(line: &str) {
    // A closed stderr is ignored, because the weights must still be written.
    let _ = writeln!(io::stderr(), "{line}");
}

/// Formats an epoch as a line.
#[must_use]
pub fn line(epoch: &Epoch, rate: f32) -> String {
    format!(
        "epoch {}: rate {rate:.3}, training {:.6} (squared {:.6}), test {:.6} (squared {:.6})",
        epoch.number,
        epoch.training.mean(),
        epoch.training.squared_mean(),
        epoch.test.mean(),
        epoch.test.squared_mean()
    )
}

/// Rounds the weights for the table.
#[must_use]
pub fn rounded(weights: &Weights) -> Vec<[i32; 2]> {
    weights.iter().map(|weight| weight.map(|half| half.round() as i32)).collect()
}

/// Writes all outputs of the plan.
///
/// # Errors
/// Fails if a file cannot be written.
pub fn write(
    plan: &TexelPlan,
    start: &Weights,
    fitted: &FitResult,
    counts: &[u64],
    (test, k): (&Samples, f32),
) -> anyhow::Result<()> {
    let table = rounded(&fitted.weights);
    let whole: Weights = table.iter().map(|weight| weight.map(|half| half as f32)).collect();
    let after = measure(test, &whole, k, plan.threads());
    let before = fitted.epochs.first().map_or(after, |epoch| epoch.test);
    say(&format!("positions kept back: {:.6} before, {:.6} as written", before.mean(), after.mean()));
    let unseen = counts.iter().filter(|count| **count == 0).count();
    say(&format!("{unseen} of {} weights were never seen and stay as they were", counts.len()));
    write_file(&plan.output.weights, &render_weights(&table, Some(counts)))?;
    let Some(folder) = &plan.output.pictures else { return Ok(()) };
    let caption = caption(plan, test, k);
    write_file(&folder.join("curve.svg"), &curve(&fitted.epochs, &caption).to_svg())?;
    write_file(&folder.join("errors.csv"), &csv(&fitted.epochs))?;
    write_file(&folder.join("before.svg"), &heat::to_svg("Piece-square tables before", &caption, start))?;
    write_file(&folder.join("after.svg"), &heat::to_svg("Piece-square tables after", &caption, &fitted.weights))?;
    let moved: Weights =
        fitted.weights.iter().zip(start).map(|(after, before)| [after[0] - before[0], after[1] - before[1]]).collect();
    write_file(
        &folder.join("difference.svg"),
        &heat::to_svg("Piece-square tables, after less before", &caption, &moved),
    )
}

fn caption(plan: &TexelPlan, test: &Samples, k: f32) -> String {
    let files: Vec<_> = plan
        .data
        .files
        .iter()
        .map(|path| path.file_name().unwrap_or_default().to_string_lossy().into_owned())
        .collect();
    let (fit, data) = (&plan.fit, &plan.data);
    format!(
        "{}; results {} of a target, {} positions kept back, K {k:.6}, {:?}, batch {}, rate {}, decay {}, l2 {}, seed {}",
        files.join(", "),
        data.result_share,
        test.len(),
        fit.method,
        fit.batch,
        fit.rate,
        fit.decay,
        fit.l2,
        fit.seed
    )
}

/// Creates the plot of the mean logistic losses by epoch.
#[must_use]
pub fn curve(epochs: &[Epoch], caption: &str) -> CurvePlot {
    let along = |name: &str, value: fn(&Epoch) -> f64| {
        (name.to_owned(), epochs.iter().map(|epoch| (epoch.number as f64, value(epoch))).collect())
    };
    CurvePlot {
        title: "Learning curve of the classical evaluation".to_owned(),
        caption: caption.to_owned(),
        x_label: "passes over the positions".to_owned(),
        x_scale: Scale::Linear,
        y_label: "mean logistic loss (nats)".to_owned(),
        y_scale: Scale::Linear,
        longest_join: None,
        series: vec![along("fitted to", |epoch| epoch.training.mean()), along("kept back", |epoch| epoch.test.mean())],
        bands: Vec::new(),
    }
}

fn csv(epochs: &[Epoch]) -> String {
    epochs.iter().fold("epoch,training,training_squared,test,test_squared\n".to_owned(), |mut text, epoch| {
        let (training, test) = (epoch.training, epoch.test);
        let figures = [training.mean(), training.squared_mean(), test.mean(), test.squared_mean()];
        let figures: Vec<String> = figures.iter().map(|figure| format!("{figure:.8}")).collect();
        let _ = writeln!(text, "{},{}", epoch.number, figures.join(","));
        text
    })
}
