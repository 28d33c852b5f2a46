//! Checks across options: defaults that depend on other options, and combinations that are refused.

use std::collections::BTreeSet;
use std::path::Path;

use super::invocation::{Dialect, EngineArgs, Invocation, OutputFormat, RunnerSettings, Tournament};
use super::words::UsageError;
use crate::stats::sprt::Model;

/// Fills in defaults that depend on several options, makes engine names unique and refuses
/// combinations that make no sense.
///
/// # Errors
/// [`UsageError::Whole`] for the first refused combination.
pub(super) fn check(mut invocation: Invocation) -> Result<Invocation, UsageError> {
    let refuse = |why: &str| Err(UsageError::Whole(why.to_owned()));
    let Invocation { dialect, engines, settings, notes, .. } = &mut invocation;
    if *dialect == Dialect::Fastchess && settings.games > 2 {
        // `-rounds` and `-games` are often swapped. fastchess allows at most two games per
        // encounter, so the larger number is the rounds.
        std::mem::swap(&mut settings.games, &mut settings.rounds);
        if settings.games > 2 {
            return refuse("an encounter has at most two games: write -games 2 -rounds N");
        }
    }
    if settings.games == 0 || settings.rounds == 0 {
        return refuse("there is nothing to play: -games and -rounds are numbers from 1");
    }
    settings.penta &= settings.output == OutputFormat::Fastchess && settings.games == 2;
    sprt(settings, notes)?;
    openings(settings, engines.len(), notes);
    if settings.log.compress {
        notes.push("Warning: -log compress=true has no effect: the log is text".to_owned());
    }
    if engines.len() < 2 {
        return refuse("at least two engines are needed");
    }
    if settings.tournament == Tournament::Gauntlet && settings.seeds == 0 {
        return refuse("-seeds is a number from 1");
    }
    for engine in engines.iter_mut() {
        if engine.cmd.is_empty() {
            return refuse("an engine without cmd=");
        }
        if engine.name.is_empty() {
            let stem = Path::new(&engine.cmd).file_stem().unwrap_or_default();
            engine.name = stem.to_string_lossy().into_owned();
        }
        if engine.limit.is_empty() {
            let name = &engine.name;
            return refuse(&format!("engine {name} has no time control: give it tc=, st=, nodes= or depth="));
        }
        if engine.limit.clock.is_some() && engine.limit.movetime.is_some() {
            return refuse(&format!("engine {} has both tc= and st=", engine.name));
        }
    }
    unique_names(engines);
    Ok(invocation)
}

/// Adds a number to each name that an earlier engine has. The new name is none that was given.
fn unique_names(engines: &mut [EngineArgs]) {
    let given: BTreeSet<String> = engines.iter().map(|engine| engine.name.clone()).collect();
    let mut taken = BTreeSet::new();
    for engine in engines {
        if taken.contains(&engine.name) {
            let mut names = (2u32..).map(|number| format!("{}_{number}", engine.name));
            engine.name = names.find(|name| !given.contains(name) && !taken.contains(name)).unwrap_or_default();
        }
        taken.insert(engine.name.clone());
    }
}

/// Warns of a missing book, and of openings that fewer games share than in cutechess-cli.
fn openings(settings: &RunnerSettings, engines: usize, notes: &mut Vec<String>) {
    if settings.openings.file.is_none() && !settings.chess960 {
        notes.push("Warning: no opening book: all games begin from the starting position".to_owned());
        return;
    }
    let shared = match settings.repeat {
        // cutechess-cli repeats no opening in the next encounter, unless there is only one pairing.
        Some(repeat) if engines > 2 => repeat.min(settings.games),
        Some(repeat) => repeat,
        None => settings.games,
    };
    if shared > 2 {
        notes.push(format!("Warning: each opening is played by two games, not by {shared}"));
    }
}

fn sprt(settings: &mut RunnerSettings, notes: &mut Vec<String>) -> Result<(), UsageError> {
    let Some(sprt) = settings.sprt else { return Ok(()) };
    let open = |x: f64| x > 0.0 && x < 1.0;
    let why = if sprt.elo0 >= sprt.elo1 {
        "SPRT: elo0 must be less than elo1"
    } else if !open(sprt.alpha) || !open(sprt.beta) {
        "SPRT: alpha and beta are numbers between 0 and 1"
    } else if sprt.alpha + sprt.beta >= 1.0 {
        "SPRT: alpha and beta together must be less than 1"
    } else {
        if sprt.model == Model::Bayesian && settings.penta {
            notes.push("Warning; the bayesian model is one of games: pairs are not reported".to_owned());
            settings.penta = false;
        }
        return Ok(());
    };
    Err(UsageError::Whole(why.to_owned()))
}
