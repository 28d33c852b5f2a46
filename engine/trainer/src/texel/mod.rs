//! Texel tuning: fits the weights of the classical evaluation to results of games.
//!
//! The evaluation is linear in its weights, so a position is a short list of counts ([`samples`]).
//! A fit is a logistic regression in which `sigmoid(K * value)` predicts the result ("Texel's
//! tuning method", P. Österlund, 2014). Reading order: [`plan`] (settings), [`input`] (lines to
//! positions), [`samples`] (sparse store), [`loss`] (losses, gradients and `K`), [`descent`] and
//! [`local`] (the two minimisers), [`report`] (pictures and the table that the engine compiles).

pub mod descent;
pub mod heat;
pub mod input;
pub mod local;
mod logistic;
pub mod loss;
pub mod plan;
pub mod report;
pub mod samples;
mod weights;

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context as _, ensure};
use clap::Subcommand;
use indicatif::{ProgressBar, ProgressStyle};

use loss::LossSums;
use plan::{Method, TexelPlan};
pub use weights::{Weights, anchored, start_weights};

/// Commands of Texel tuning.
#[derive(Debug, Subcommand)]
pub enum TexelCommand {
    /// Fits the weights of the classical evaluation to positions with results.
    Texel {
        /// A TOML file that names the data, the method and where the weights go; paths in it start
        /// at its folder.
        plan: PathBuf,
    },
}

/// Losses after one epoch (or pass of the local search).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Epoch {
    /// Number of the epoch; 0 is the start.
    pub number: usize,
    /// Loss over the training positions.
    pub training: LossSums,
    /// Loss over the test positions.
    pub test: LossSums,
}

/// Result of a fit.
#[derive(Clone, Debug)]
pub struct FitResult {
    /// Weights with the lowest test error.
    pub weights: Weights,
    /// Losses by epoch.
    pub epochs: Vec<Epoch>,
}

/// Runs a command.
///
/// # Errors
/// Fails if the plan or its data cannot be read or parsed, or the output cannot be written.
pub fn run(command: TexelCommand) -> anyhow::Result<()> {
    let TexelCommand::Texel { plan } = command;
    tune(&TexelPlan::load(&plan)?)
}

/// Creates a progress bar, which is hidden if there is no terminal.
fn bar(len: u64, unit: &str) -> ProgressBar {
    let template = format!("{{msg:28}} {{bar:30}} {{pos}}/{{len}} {{per_sec}} {unit} {{eta}}");
    let style = ProgressStyle::with_template(&template).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(len).with_style(style)
}

/// Runs a tuning: reads the positions, fits the weights and writes the results.
///
/// # Errors
/// Fails if an input cannot be read or parsed or has too few positions, or an output cannot be
/// written.
pub fn tune(plan: &TexelPlan) -> anyhow::Result<()> {
    let clock = Instant::now();
    let all = input::read(&plan.data, plan.threads())?;
    let rate = all.len() as f64 / clock.elapsed().as_secs_f64().max(1e-9);
    let (mut training, mut test) = all.split(plan.fit.seed, plan.data.block, plan.fit.test_share)?;
    report::say(&format!(
        "{} positions to fit to, {} kept back; read at {rate:.0} positions/s, {:.1} terms each",
        training.len(),
        test.len(),
        training.mean_terms()
    ));
    if plan.data.result_share < 1.0 {
        let (share, scored) = (plan.data.result_share, training.scored());
        ensure!(
            scored > 0,
            "`data.result-share` is {share}, but no position has a score; set it to 1, or give scored positions"
        );
        let k = loss::fit_score_scale(&training);
        warn_at_end(k, "scores");
        let others = match training.len() - scored {
            0 => String::new(),
            unscored => format!(", and of the {unscored} positions without a score all"),
        };
        report::say(&format!("k = {k:.6} per centipawn of the scores; results have {share} of a target{others}"));
        training.blend(plan.data.result_share, k);
        test.blend(plan.data.result_share, k);
    }
    let start = start_weights(plan.fit.start);
    let threads = plan.threads();
    let k = plan.fit.k.unwrap_or_else(|| {
        let k = loss::fit_k(&training, &start, threads);
        warn_at_end(k, "evaluations");
        k
    });
    report::say(&format!("K = {k:.6} per centipawn (10^(x/{:.0}))", std::f64::consts::LN_10 / f64::from(k)));
    let clock = Instant::now();
    let fitted = match plan.fit.method {
        Method::Adam | Method::Descent => descent::fit(&plan.fit, (&training, &test), &start, k, threads),
        Method::Local => local::fit(&plan.fit, (&training, &test), &start, k, threads),
    };
    let visits = training.len() * fitted.epochs.len().saturating_sub(1);
    let rate = visits as f64 / clock.elapsed().as_secs_f64().max(1e-9);
    report::say(&format!("{visits} positions visited, {rate:.0} positions/s on {threads} threads"));
    let mut counts = training.counts();
    for (sum, more) in counts.iter_mut().zip(test.counts()) {
        *sum += more;
    }
    report::write(plan, &start, &fitted, &counts, (&test, k))
}

/// Warns if the factor that makes predictions of `what` is an end of its search range.
fn warn_at_end(k: f32, what: &str) {
    if loss::is_least(k) {
        report::say(&format!("warning: the results hardly follow the {what}; is their point of view White's?"));
    } else if loss::is_greatest(k) {
        report::say(&format!(
            "warning: the results follow the {what} almost without exception; are these in centipawns, and are there enough level positions?"
        ));
    }
}

/// Writes a file and creates its folder. Errors name the path.
fn write_file(path: &Path, text: &str) -> anyhow::Result<()> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make folder {}", folder.display()))?;
    }
    std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests;
