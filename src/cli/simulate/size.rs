//! `quintain simulate --width` and `--pairs`: sizes of matches without a sequential test.

use std::fmt::Write as _;
use std::io::Write;

use anyhow::{Context as _, Result, bail};
use serde_json::json;

use super::{SimulateArgs, leaned, learnt, shape};
use crate::run::pace::PaceLookup;
use crate::run::progress;
use crate::stats::elo::fixed;
use crate::stats::sample_size::{detectable, half_width, pairs_for_width};
use crate::stats::sprt::Model;

/// Prints the sizes to `out`.
pub(super) fn run(args: &SimulateArgs, out: &mut impl Write) -> Result<()> {
    let (alpha, beta) = args.test.errors()?;
    if args.width.is_some_and(|width| !(width > 0.0 && width.is_finite())) {
        bail!("--width: write a number of Elo above 0");
    }
    let shape = shape(args)?;
    let elo = args.elo.unwrap_or(0.0);
    let law = leaned(&shape, elo, Model::Logistic, "--elo")?;
    let (pace, no_pace) = match learnt(args)? {
        PaceLookup::Known(pace) => (Some(pace), String::new()),
        PaceLookup::Unknown(why) => (None, why),
    };
    let hours = |pairs: f64| pace.as_ref().map(|pace| pace.hours(pairs));
    let time = |pairs: f64| hours(pairs).map_or(String::new(), |hours| format!(", {} h", fixed(hours, 1)));
    let (mut text, mut document) = (String::new(), json!({ "elo": elo, "shape": shape.shares() }));
    // Writing into memory cannot fail.
    if let Some(width) = args.width {
        let pairs =
            pairs_for_width(&law, width).with_context(|| format!("--width {width}: no number of pairs is enough"))?;
        let _ = writeln!(text, "+-{width} Elo (95 %) at {elo} Elo: {pairs:.0} pairs{}", time(pairs));
        document["width"] = json!({ "width": width, "pairs": pairs, "hours": hours(pairs) });
    }
    if let Some(pairs) = args.pairs {
        let count = pairs as f64;
        let found = |model| detectable(&shape, model, count, alpha, beta);
        let (logistic, normalized) = (found(Model::Logistic), found(Model::Normalized));
        let [shown, normal] = [logistic, normalized].map(|elo| elo.map_or("-".to_owned(), |elo| fixed(elo, 2)));
        let width = Some(half_width(&law, count)).filter(|width| width.is_finite());
        let _ = writeln!(
            text,
            "{pairs} pairs{}: the least detectable strength is {shown} Elo ({normal} nElo), at alpha {alpha} and beta {beta}",
            time(count)
        );
        let _ = writeln!(
            text,
            "  interval +-{} Elo (95 %) at {elo} Elo",
            width.map_or("-".to_owned(), |width| fixed(width, 2))
        );
        document["pairs"] = json!({
            "pairs": pairs, "hours": hours(count), "alpha": alpha, "beta": beta, "detectable_elo": logistic,
            "detectable_nelo": normalized, "width": width,
        });
    }
    let _ = match &pace {
        Some(pace) => writeln!(text, "hours at {}", pace.words()),
        None => writeln!(text, "hours not known: {no_pace}"),
    };
    let text = if args.json { serde_json::to_string_pretty(&document)? + "\n" } else { text };
    progress::write(out, text.as_bytes())?;
    Ok(())
}
