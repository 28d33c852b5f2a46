//! Check for engines of a match that are not installed.
//!
//! All of them are reported at once, before anything is built.

use std::fmt::Write as _;

use crate::run::error::{Result, fail};
use crate::run::progress;
use crate::settings::RawPlan;
use crate::source::{self, Context, SourceError};

/// Returns the plan without its missing players, if it has `skip-missing`.
///
/// # Errors
/// Returns an error if players are missing and the plan has no `skip-missing`, if a hero is
/// missing, or if too few players are left.
pub(crate) fn without(raw: &RawPlan) -> Result<RawPlan> {
    let missing = missing(raw)?;
    if missing.is_empty() {
        return Ok(raw.clone());
    }
    if raw.skip_missing != Some(true) {
        fail!(Engine, "{}; install or correct them, or play without them: --skip-missing", list(&missing));
    }
    let is_gauntlet = raw.format.as_deref() == Some("gauntlet") || raw.heroes.is_some();
    let heroes = if is_gauntlet { usize::from(raw.heroes.unwrap_or(1)) } else { 0 };
    if let Some((_, spec, error)) = missing.iter().find(|(place, ..)| *place < heroes) {
        fail!(Engine, "hero `{spec}`: {error}; a gauntlet cannot go without the engines it is about");
    }
    let mut left = raw.clone();
    let mut place = 0..;
    left.players.retain(|_| {
        let place = place.next();
        missing.iter().all(|(gone, ..)| Some(*gone) != place)
    });
    if left.players.len() < heroes + 1 || left.players.len() < 2 {
        fail!(Engine, "{}, so no opponent is left; install them", list(&missing));
    }
    for (_, spec, error) in &missing {
        progress::warn(&format!("playing without `{spec}`: {error}"));
    }
    Ok(left)
}

/// Returns the missing players: their places, their specs and the reasons.
fn missing(raw: &RawPlan) -> Result<Vec<(usize, String, SourceError)>> {
    let context = Context::from_env()?;
    let mut missing = Vec::new();
    for (place, player) in raw.players.iter().enumerate() {
        let Some(spec) = &player.spec else { continue };
        if let Some(error) = source::missing(spec, &context)? {
            missing.push((place, spec.clone(), error));
        }
    }
    Ok(missing)
}

/// Formats a list: ``2 engines are missing: `a` (reason), `b` (reason)``.
fn list(missing: &[(usize, String, SourceError)]) -> String {
    let count = missing.len();
    let mut text = if count == 1 { "an engine is missing".to_owned() } else { format!("{count} engines are missing") };
    for (number, (_, spec, error)) in missing.iter().enumerate() {
        // Writing to a string cannot fail.
        let _ = write!(text, "{} `{spec}` ({error})", if number == 0 { ":" } else { "," });
    }
    text
}
