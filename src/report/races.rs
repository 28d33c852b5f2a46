//! State of a race in words and as JSON.

use serde_json::{Value, json};

use crate::plan::Plan;
use crate::report::figures;
use crate::stats::elo;
use crate::stats::race::{self, RaceState, Reason};
use crate::tournament::formats::race::{RaceRule, replay};
use crate::tournament::scoreboard::Scoreboard;

/// Race of a run, with the names of its candidates; `None` if the run is not a race.
fn race<'a>(plan: &'a Plan, scoreboard: &Scoreboard) -> Option<(RaceState, RaceRule, Vec<&'a str>)> {
    let rule = plan.format.parameters().race?;
    let players = u16::try_from(plan.players.len()).unwrap_or(u16::MAX);
    let names = plan.players.iter().skip(1).map(|player| player.name.as_str()).collect();
    Some((replay(players, rule, scoreboard.results()), rule, names))
}

/// Result of the race on one line.
pub(super) fn outcome(plan: &Plan, scoreboard: &Scoreboard) -> Option<String> {
    let (race, RaceRule { close, .. }, names) = race(plan, scoreboard)?;
    let base = &plan.players.first()?.name;
    if let Some(winner) = race.winner() {
        let others = match race.left().iter().any(|candidate| *candidate != winner) {
            false => "no other candidate is left".to_owned(),
            true => format!("no other candidate that is left is stronger than it by {close} Elo"),
        };
        return Some(format!("{} wins the race: stronger than {base}, and {others}", names[winner]));
    }
    let left: Vec<&str> = race.left().into_iter().map(|candidate| names[candidate]).collect();
    Some(match left.as_slice() {
        [] => format!("no candidate is left: none gains enough over {base}"),
        [one] => format!("undecided: {one} is left, and not shown to be stronger than {base}"),
        many => format!("undecided: {} are left", many.join(", ")),
    })
}

/// State of a candidate in words.
fn fate(candidate: &race::CandidateState, base: &str, names: &[&str], rule: RaceRule) -> String {
    let falls_short = |after: u64, elo: f64| match elo {
        0.0 => format!("dropped after {after} pairs: weaker than {base}"),
        _ => format!("dropped after {after} pairs: gains less than {elo} Elo on {base}"),
    };
    match candidate.dropped {
        Some((Reason::Base, after)) => falls_short(after, rule.gain),
        Some((Reason::Close, after)) => falls_short(after, rule.gain.max(rule.close)),
        Some((Reason::Candidate(other), after)) => format!("dropped after {after} pairs: weaker than {}", names[other]),
        None if candidate.is_better => format!("stronger than {base}"),
        None => "open".to_owned(),
    }
}

/// 1 less a probability, without the last digits that a subtraction leaves: 0.93 of 0.07.
fn complement(probability: f64) -> f64 {
    const DIGITS: f64 = 1e9;
    ((1.0 - probability) * DIGITS).round() / DIGITS
}

/// Candidates of a race for people.
pub(super) struct RaceTable {
    /// Title with the base and the level of the verdicts.
    pub(super) title: String,
    /// Name, number of pairs, Elo with its interval, and state of each candidate.
    pub(super) rows: Vec<[String; 4]>,
}

/// Table of the candidates; `None` if the run is not a race.
pub(super) fn table(plan: &Plan, scoreboard: &Scoreboard) -> Option<RaceTable> {
    let (race, rule, names) = race(plan, scoreboard)?;
    let base = plan.players.first().map_or("", |player| player.name.as_str());
    let row = |(candidate, name): (&race::CandidateState, &&str)| {
        let elo = figures::estimate(elo::logistic(&candidate.pairs));
        [(*name).to_owned(), candidate.pairs.pairs().to_string(), elo, fate(candidate, base, &names, rule)]
    };
    Some(RaceTable {
        title: format!(
            "candidates against {base} (the verdicts hold together with probability at least {}; each Elo interval is a plain 95 % one)",
            complement(rule.alpha)
        ),
        rows: race.candidates().iter().zip(&names).map(row).collect(),
    })
}

/// The table as text, a line for each candidate.
pub(super) fn lines(plan: &Plan, scoreboard: &Scoreboard) -> Vec<String> {
    let Some(RaceTable { title, rows }) = table(plan, scoreboard) else { return Vec::new() };
    let line = |[name, pairs, elo, fate]: [String; 4]| format!("      {name}: {pairs} pairs, Elo {elo}, {fate}");
    std::iter::once(format!("{title}:")).chain(rows.into_iter().map(line)).collect()
}

/// Candidates in the order of the plan as JSON; null if the run is not a race.
pub(super) fn json(plan: &Plan, scoreboard: &Scoreboard) -> Value {
    let Some((race, rule, names)) = race(plan, scoreboard) else { return Value::Null };
    let candidates: Vec<Value> = race
        .candidates()
        .iter()
        .zip(&names)
        .map(|(candidate, name)| {
            let (by, after) = match candidate.dropped {
                Some((Reason::Base | Reason::Close, after)) => (Some("base"), Some(after)),
                Some((Reason::Candidate(other), after)) => (Some(names[other]), Some(after)),
                None => (None, None),
            };
            json!({
                "name": name,
                "pairs": candidate.pairs.pairs(),
                "ptnml": candidate.pairs.0,
                "is_better": candidate.is_better,
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
        "takes": candidates,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Pentanomial;

    #[test]
    fn the_level_of_the_verdicts_has_the_digits_of_alpha() {
        for (alpha, told) in [(0.07, "0.93"), (0.05, "0.95"), (0.001, "0.999"), (0.3, "0.7")] {
            assert_eq!(complement(alpha).to_string(), told);
        }
    }

    #[test]
    fn a_dropped_candidate_is_told_by_what_was_shown() {
        let told = |reason, gain, close| {
            let state = race::CandidateState {
                pairs: Pentanomial([4, 0, 0, 0, 0]),
                dropped: Some((reason, 4)),
                is_better: false,
            };
            fate(&state, "base", &["a", "b"], RaceRule { alpha: 0.05, gain, close, step: 16 })
        };
        assert_eq!(told(Reason::Base, 0.0, 5.0), "dropped after 4 pairs: weaker than base");
        assert_eq!(told(Reason::Base, 2.0, 5.0), "dropped after 4 pairs: gains less than 2 Elo on base");
        // The larger of both bounds is what the race shows.
        assert_eq!(told(Reason::Close, 2.0, 10.0), "dropped after 4 pairs: gains less than 10 Elo on base");
        assert_eq!(told(Reason::Close, -5.0, 10.0), "dropped after 4 pairs: gains less than 10 Elo on base");
        assert_eq!(told(Reason::Candidate(1), 0.0, 0.0), "dropped after 4 pairs: weaker than b");
    }
}
