//! Settings of a race: its rule and its players.

use crate::openings::Book;
use crate::plan::Plan;
use crate::run::error::{Result, ResultContext as _, fail};
use crate::run::resolve;
use crate::settings::{RawPlan, RawPlayer};
use crate::tournament::formats::race::RaceRule;

/// Default probability of any false claim.
const DEFAULT_ALPHA: f64 = 0.05;

/// Default pairs of each candidate between two decisions.
const DEFAULT_STEP: u32 = 16;

/// Rule of a race, checked.
pub(crate) fn rule(raw: &RawPlan) -> Result<RaceRule> {
    resolve::refuse(raw, "race", "a race")?;
    let alpha = raw.alpha.unwrap_or(DEFAULT_ALPHA);
    if !(alpha > 0.0 && alpha < 1.0) {
        fail!(Setting, "--alpha {alpha}: give a probability between 0 and 1");
    }
    let gain = raw.gain.unwrap_or(0.0);
    if gain.is_nan() || gain.abs() > 1000.0 {
        fail!(Setting, "--gain {gain}: Elo from -1000 to 1000");
    }
    let close = raw.close.unwrap_or(0.0);
    if !(0.0..=1000.0).contains(&close) {
        fail!(Setting, "--close {close}: Elo from 0 to 1000");
    }
    let step = raw.step.unwrap_or(DEFAULT_STEP);
    if step == 0 {
        fail!(Setting, "--step 0 plays nothing; the minimum is 1");
    }
    if raw.base.is_none() {
        fail!(Setting, "a race has a base that the candidates play: name it, as --base git:main");
    }
    // The base is put before them later.
    for (number, player) in (1..).zip(&raw.players) {
        resolve::spec_of(number, player)?;
    }
    if raw.players.is_empty() {
        fail!(Setting, "a race has candidates: name their engines, or give each a [[players]] table with its `spec`");
    }
    if let Some(format) = raw.format.as_deref().filter(|format| *format != "race") {
        fail!(
            Setting,
            "format `{format}`: the plan of a race has `format = \"race\"`; play another with `quintain match`"
        );
    }
    let has_limit = |player: &RawPlayer| {
        player.tc.is_some() || player.movetime.is_some() || player.nodes.is_some() || player.depth.is_some()
    };
    if raw.players.iter().any(has_limit) {
        fail!(
            Setting,
            "players: all sides of a race have one limit; move tc, movetime, nodes or depth above the tables"
        );
    }
    Ok(RaceRule { alpha, gain, close, step })
}

/// Finds or builds the engines of a race, and resolves everything else.
pub(crate) fn resolved(raw: RawPlan) -> Result<(Plan, Book)> {
    let rule = rule(&raw)?;
    let base = RawPlayer { spec: raw.base.clone(), ..RawPlayer::default() };
    let players = std::iter::once(base).chain(raw.players.iter().cloned()).collect();
    resolve::race(&RawPlan { players, ..raw }, rule).within(|| "cannot start the race")
}
