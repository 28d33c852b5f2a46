//! Comparison table of trained networks.

use super::run::Summary;
use std::io::{self, Write};

/// Writes one line per network, sorted by the validation loss against the score. This loss does not
/// depend on a plan's target, but on its `scale`. If the scales differ, the networks are not
/// sorted.
///
/// # Errors
/// Fails if writing fails.
pub fn table(summaries: &[Summary], out: &mut dyn Write) -> io::Result<()> {
    let mut sorted: Vec<&Summary> = summaries.iter().collect();
    let score = |summary: &Summary| summary.curve.points().last().map_or(f64::INFINITY, |point| point.score);
    let is_one_scale = summaries.windows(2).all(|pair| pair[0].scale == pair[1].scale);
    if is_one_scale {
        sorted.sort_by(|a, b| score(a).total_cmp(&score(b)));
    }
    let width = sorted.iter().map(|summary| summary.name.len()).max().unwrap_or(0).max(4);
    writeln!(out, "{:width$}  superbatches  loss      validation  score     result    M pos/s  sha256", "name")?;
    for summary in sorted {
        let speed = summary.speed.map_or("-".to_owned(), |speed| format!("{:.2}", speed / 1e6));
        let hash = summary.hash.get(..16).unwrap_or_default();
        let Some(point) = summary.curve.points().last() else { continue };
        writeln!(
            out,
            "{:width$}  {:12}  {:.6}  {:.6}    {:.6}  {:.6}  {speed:>7}  {hash}",
            summary.name, point.superbatch, point.train, point.validation, point.score, point.result
        )?;
    }
    if !is_one_scale {
        let scales: Vec<_> = summaries.iter().map(|summary| format!("{} {}", summary.name, summary.scale)).collect();
        writeln!(
            out,
            "not ranked: a loss means another thing at another `scale` ({}); let the networks play: `destrier-trainer compare`",
            scales.join(", ")
        )?;
    }
    paths(summaries, out)
}

fn paths(summaries: &[Summary], out: &mut dyn Write) -> io::Result<()> {
    for Summary { name, network, rounding, same, .. } in summaries {
        let (mean, worst) = (rounding.mean, rounding.worst);
        let [win_mean, win_most, win_worst] =
            [rounding.win_mean, rounding.win_most, rounding.win_worst].map(|error| 100.0 * error);
        let path = network.display();
        writeln!(
            out,
            "{name}: {path}; whole numbers differ from floats by {mean:.2} cp on average, {worst:.1} at worst, and by \
             {win_mean:.2} % of win probability on average, {win_most:.2} on all but 1 % of the positions, {win_worst:.2} \
             at worst; loaded in Destrier, they are the same on {same} held-out positions"
        )?;
    }
    Ok(())
}
