//! `quintain simulate --chain`: joint probability that all tests of a chain pass, and its expected
//! cost.

use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use serde::Serialize;

use super::{ROUGH, SimulateArgs, leaned, pace_at, shape, strengths};
use crate::run::pace::{Pace, PaceLookup};
use crate::run::{chain, progress, resolve};
use crate::settings::RawPlan;
use crate::stats::elo::fixed;
use crate::stats::simulate::{self, Law};
use crate::stats::sprt::{Model, Sprt};
use crate::text::columns;

/// A test of the chain.
struct ChainLink {
    file: String,
    limit: String,
    sprt: Sprt,
    max_pairs: Option<u64>,
    pace: Option<Pace>,
}

/// JSON document; field names and order are a public contract.
#[derive(Serialize)]
struct ChainForecast {
    links: Vec<LinkJson>,
    table: Vec<ChainRow>,
}

#[derive(Serialize)]
struct LinkJson {
    file: String,
    limit: String,
    model: &'static str,
    elo0: f64,
    elo1: f64,
    pairs_per_minute: Option<f64>,
}

/// Forecast for an engine of one strength.
#[derive(Serialize)]
struct ChainRow {
    elo: f64,
    /// Probability that each test passes by itself.
    pass: Vec<f64>,
    /// Probability that all pass.
    pass_all: f64,
    /// Expected pairs of the whole chain, which ends with the first test that does not pass.
    pairs: f64,
    /// `None` if the pace of a test is not known.
    hours: Option<f64>,
    /// False for a rough guess ([`simulate::Forecast::is_sound`]).
    is_sound: bool,
}

pub(super) fn run(args: &SimulateArgs, out: &mut impl Write) -> Result<()> {
    let shape = shape(args)?;
    let links = links(args)?;
    let Some(first) = links.first() else { bail!("--chain: give the plans of the tests, the first one first") };
    let mut elos = strengths(first.sprt.bounds());
    elos.extend(args.elo);
    elos.sort_by(f64::total_cmp);
    elos.dedup();
    // One strength for all tests: the unit of another model means another one.
    let row = |elo| row(&links, &leaned(&shape, elo, first.sprt.model(), "--elo")?, elo);
    let table = elos.into_iter().map(row).collect::<Result<Vec<_>>>()?;
    let text = if args.json {
        let links = links.iter().map(LinkJson::of).collect();
        serde_json::to_string_pretty(&ChainForecast { links, table })? + "\n"
    } else {
        text(&links, &table)
    };
    progress::write(out, text.as_bytes())?;
    Ok(())
}

/// Tests of the files; a single file brings those that it names.
fn links(args: &SimulateArgs) -> Result<Vec<ChainLink>> {
    let mut links = Vec::new();
    if let [file] = args.chain.as_slice() {
        let first = read(file)?;
        let others = chain::files(&first)?;
        links.push(link(file, &first, args)?);
        for (file, raw) in others {
            // It plays as many games at once as the first.
            let raw = RawPlan { concurrency: raw.concurrency.or(first.concurrency), ..raw };
            links.push(link(&file, &raw, args)?);
        }
    } else {
        for file in &args.chain {
            links.push(link(file, &read(file)?, args)?);
        }
    }
    Ok(links)
}

/// Plan of a test.
fn read(file: &Path) -> Result<RawPlan> {
    let raw = RawPlan::read(file)?;
    chain::check_command(file, &raw)?;
    Ok(raw)
}

fn link(file: &Path, raw: &RawPlan, args: &SimulateArgs) -> Result<ChainLink> {
    let named = || file.display().to_string();
    let test = resolve::test(raw).with_context(named)?;
    if test.model == Model::Bayesian {
        bail!("{}: the bayesian model applies to games, not to pairs: choose normalized or logistic", named());
    }
    let [limit, _] = resolve::limits(raw).with_context(named)?;
    let limit = limit.to_string();
    let new_sprt = |bounds| Sprt::new(bounds, test.model, test.alpha, test.beta).with_context(named);
    let pace = match pace_at(args, Some(&limit), args.concurrency.or(raw.concurrency))? {
        PaceLookup::Known(pace) => Some(pace),
        PaceLookup::Unknown(why) if raw.budget.is_some() || raw.max_time.is_some() => {
            bail!("{}: it has a time limit, which is a number of pairs only at a known pace: {why}", named())
        }
        PaceLookup::Unknown(_) => None,
    };
    let pairs_in = |key, text: Option<&String>| -> Result<Option<f64>> {
        let Some((text, pace)) = text.zip(pace.as_ref()) else { return Ok(None) };
        Ok(Some(resolve::time(key, text).with_context(named)?.as_secs_f64() / 60.0 * pace.pairs_per_minute))
    };
    let mut sprt = new_sprt(test.bounds)?;
    if let Some(pairs) = pairs_in("budget", raw.budget.as_ref())? {
        let shape = pace.as_ref().and_then(|pace| pace.shape).unwrap_or(Law::TYPICAL);
        let bounds = simulate::bounds_within(&sprt, &shape, pairs, false);
        let bounds = bounds.with_context(|| format!("{}: budget: too few pairs for any bounds", named()))?;
        sprt = new_sprt(bounds)?;
    }
    // A budget is also the time limit of a test that has no other.
    let in_time = pairs_in("max-time", raw.max_time.as_ref().or(raw.budget.as_ref()))?;
    let max_pairs = raw.max_pairs.into_iter().chain(in_time.map(|pairs| pairs as u64)).min();
    Ok(ChainLink { file: named(), limit, sprt, max_pairs, pace })
}

/// Row of a strength, at which pairs have the law `law` in all tests.
fn row(links: &[ChainLink], law: &Law, elo: f64) -> Result<ChainRow> {
    let forecast = |link: &ChainLink| {
        simulate::forecast(&link.sprt, law, link.max_pairs)
            .with_context(|| format!("{}: these pair results cannot distinguish its hypotheses", link.file))
    };
    let forecasts = links.iter().map(forecast).collect::<Result<Vec<_>>>()?;
    let (pass_all, pairs) = simulate::in_turn(&forecasts);
    let hours = links.iter().zip(&pairs).map(|(link, pairs)| Some(link.pace.as_ref()?.hours(*pairs))).sum();
    let pass = forecasts.iter().map(|forecast| forecast.pass).collect();
    let is_sound = forecasts.iter().all(|forecast| forecast.is_sound);
    Ok(ChainRow { elo, pass, pass_all, pairs: pairs.iter().sum(), hours, is_sound })
}

impl LinkJson {
    fn of(link: &ChainLink) -> Self {
        let bounds = link.sprt.bounds();
        Self {
            file: link.file.clone(),
            limit: link.limit.clone(),
            model: link.sprt.model().name(),
            elo0: bounds.elo0,
            elo1: bounds.elo1,
            pairs_per_minute: link.pace.as_ref().map(|pace| pace.pairs_per_minute),
        }
    }
}

fn text(links: &[ChainLink], table: &[ChainRow]) -> String {
    let mut text = String::new();
    for (number, link) in (1..).zip(links) {
        let bounds = link.sprt.bounds();
        let pace = link.pace.as_ref().map(|pace| pace.pairs_per_minute).map_or_else(
            || "its pace is not known: play one of some minutes, or give --pairs-per-minute".to_owned(),
            |rate| format!("{} pairs a minute", fixed(rate, 1)),
        );
        // Writing into memory cannot fail.
        let _ = writeln!(
            text,
            "{number}: {}, {} at [{}, {}] {}, {pace}",
            link.file,
            link.limit,
            bounds.elo0,
            bounds.elo1,
            link.sprt.model().name()
        );
    }
    let mut heads = vec![format!("#{}", Model::units(links.iter().take(1).map(|link| link.sprt.model())))];
    heads.extend((1..=links.len()).map(|number| format!("#pass {number}")));
    heads.extend(["#pass all", "#pairs", "#hours"].map(str::to_owned));
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    let percent = |share: &f64| format!("{:.1} %", 100.0 * share);
    let cells = |row: &ChainRow| {
        let mut cells = vec![fixed(row.elo, 2)];
        cells.extend(row.pass.iter().map(percent));
        cells.push(percent(&row.pass_all));
        cells.push(format!("{}{:.0}", if row.is_sound { "" } else { "~" }, row.pairs));
        cells.push(row.hours.map_or_else(|| "-".to_owned(), |hours| format!("{hours:.1}")));
        cells
    };
    let rows: Vec<Vec<String>> = table.iter().map(cells).collect();
    let note = if table.iter().all(|row| row.is_sound) { "" } else { ROUGH };
    text + "\n" + &columns(&heads, &rows).join("\n") + "\n" + note
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::sprt::Bounds;

    fn link(elo0: f64, elo1: f64, pairs_per_minute: Option<f64>) -> ChainLink {
        let sprt = Sprt::new(Bounds { elo0, elo1 }, Model::Normalized, 0.05, 0.05).unwrap();
        ChainLink {
            file: "x.toml".to_owned(),
            limit: "8+0.08".to_owned(),
            sprt,
            max_pairs: None,
            pace: pairs_per_minute.map(Pace::told),
        }
    }

    fn row(links: &[ChainLink], elo: f64) -> Result<ChainRow> {
        super::row(links, &leaned(&Law::TYPICAL, elo, Model::Normalized, "--elo")?, elo)
    }

    #[test]
    fn a_chain_passes_if_each_test_does_and_costs_what_is_reached() {
        let links = [link(0.0, 5.0, Some(10.0)), link(0.5, 2.5, Some(2.0))];
        for elo in [-2.0, 0.0, 2.0, 5.0] {
            let alone: Vec<ChainRow> = links.iter().map(|one| row(std::slice::from_ref(one), elo).unwrap()).collect();
            let both = row(&links, elo).unwrap();
            let pass: Vec<f64> = alone.iter().map(|row| row.pass_all).collect();
            assert_eq!(both.pass, pass);
            assert!((both.pass_all - pass[0] * pass[1]).abs() < 1e-12, "{elo}");
            assert!((both.pairs - (alone[0].pairs + pass[0] * alone[1].pairs)).abs() < 1e-6, "{elo}");
            let hours = alone[0].pairs / 600.0 + pass[0] * alone[1].pairs / 120.0;
            assert!((both.hours.unwrap() - hours).abs() < 1e-6, "{elo}");
        }
        // At H0 of the first test one in twenty comes to the second, at H1 nearly all do.
        let at = |elo| row(&links, elo).unwrap().pass[0];
        assert!((at(0.0) - 0.05).abs() < 0.01 && (at(5.0) - 0.95).abs() < 0.01);
        let unknown = [link(0.0, 5.0, Some(10.0)), link(0.5, 2.5, None)];
        assert_eq!(row(&unknown, 1.0).unwrap().hours, None);
    }
}
