//! State of a race in words and as JSON.

use serde_json::{Value, json};

use crate::plan::Plan;
use crate::report::figures;
use crate::stats::elo;
use crate::stats::race::{self, Race, Reason};
use crate::tournament::formats::race::{RaceRule, replay};
use crate::tournament::standing::Standing;

/// Race of a run, with the names of its candidates; `None` if the run is no race.
fn race<'a>(plan: &'a Plan, standing: &Standing) -> Option<(Race, RaceRule, Vec<&'a str>)> {
    let rule = plan.format.parameters().race?;
    let players = u16::try_from(plan.players.len()).unwrap_or(u16::MAX);
    let names = plan.players.iter().skip(1).map(|player| player.name.as_str()).collect();
    Some((replay(players, rule, standing.results()), rule, names))
}

/// Result of the race on one line.
pub(super) fn outcome(plan: &Plan, standing: &Standing) -> Option<String> {
    let (race, RaceRule { close, .. }, names) = race(plan, standing)?;
    let base = &plan.players.first()?.name;
    if let Some(winner) = race.winner() {
        let others = match race.left().iter().any(|take| *take != winner) {
            false => "no other take is left".to_owned(),
            true => format!("no other take that is left is stronger than it by {close} Elo"),
        };
        return Some(format!("{} wins the race: stronger than {base}, and {others}", names[winner]));
    }
    let left: Vec<&str> = race.left().into_iter().map(|take| names[take]).collect();
    Some(match left.as_slice() {
        [] => format!("no take is left: none gains enough on {base}"),
        [one] => format!("undecided: {one} is left, and not shown to be stronger than {base}"),
        many => format!("undecided: {} are left", many.join(", ")),
    })
}

/// State of a candidate in words.
fn fate(take: &race::Standing, base: &str, names: &[&str], rule: RaceRule) -> String {
    let and = |elo: f64| if elo == 0.0 { String::new() } else { format!(" and {elo} Elo") };
    let gain = and(rule.gain);
    match take.dropped {
        Some((Reason::Base, after)) => format!("dropped after {after} pairs: weaker than {base}{gain}"),
        Some((Reason::Close, after)) => {
            format!("dropped after {after} pairs: weaker than {base}{}", and(rule.gain + rule.close))
        }
        Some((Reason::Take(other), after)) => format!("dropped after {after} pairs: weaker than {}", names[other]),
        None if take.is_better => format!("stronger than {base}"),
        None => "open".to_owned(),
    }
}

/// Table of the candidates, one line each.
pub(super) fn lines(plan: &Plan, standing: &Standing) -> Vec<String> {
    let Some((race, rule, names)) = race(plan, standing) else { return Vec::new() };
    let base = plan.players.first().map_or("", |player| player.name.as_str());
    let mut lines =
        vec![format!("takes against {base} (all that is said here holds with probability {}):", 1.0 - rule.alpha)];
    for (take, name) in race.takes().iter().zip(&names) {
        let elo = figures::estimate(elo::logistic(&take.pairs));
        lines.push(format!(
            "      {name}: {} pairs, Elo {elo}, {}",
            take.pairs.pairs(),
            fate(take, base, &names, rule)
        ));
    }
    lines
}

/// Candidates in the order of the plan as JSON; null if the run is no race.
pub(super) fn json(plan: &Plan, standing: &Standing) -> Value {
    let Some((race, rule, names)) = race(plan, standing) else { return Value::Null };
    let takes: Vec<Value> = race
        .takes()
        .iter()
        .zip(&names)
        .map(|(take, name)| {
            let (by, after) = match take.dropped {
                Some((Reason::Base | Reason::Close, after)) => (Some("base"), Some(after)),
                Some((Reason::Take(other), after)) => (Some(names[other]), Some(after)),
                None => (None, None),
            };
            json!({
                "name": name,
                "pairs": take.pairs.pairs(),
                "ptnml": take.pairs.0,
                "is_better": take.is_better,
                "dropped_by": by,
                "dropped_after": after,
            })
        })
        .collect();
    json!({
        "alpha": rule.alpha,
        "gain": rule.gain,
        "close": rule.close,
        "winner": race.winner().map(|winner| names[winner]),
        "takes": takes,
    })
}
