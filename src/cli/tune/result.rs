//! Result of a tuning: the values, and the outcome of the race that tests them.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Result;
use serde::Serialize;

use crate::report::figures;
use crate::run::Exit;
use crate::run::tuning::prove::{CLOSE, Proof, ProofCandidate, ProofOpenings, ProofVerdict};
use crate::run::tuning::session::TuningOutcome;
use crate::stats::elo;
use crate::tune::factors::Effect;

/// JSON document; field names are a public contract.
#[derive(Serialize)]
struct ResultDocument<'a> {
    run: &'a Path,
    engine: &'a str,
    method: &'a str,
    limit: String,
    pairs: u64,
    params: Vec<ResultValue<'a>>,
    proof: Option<JsonProof<'a>>,
    applied: Option<&'a str>,
    files: &'a [&'static str],
}

#[derive(Serialize)]
struct ResultValue<'a> {
    name: &'a str,
    start: f64,
    result: f64,
    /// Value of the chosen step, as the engine takes it.
    value: f64,
    /// Effect of a randomised switch; absent for other methods.
    #[serde(skip_serializing_if = "Option::is_none")]
    effect: Option<Effect>,
}

#[derive(Serialize)]
struct JsonProof<'a> {
    verdict: &'a str,
    chosen: Option<&'a str>,
    limit: String,
    openings: ProofOpenings,
    candidates: Vec<JsonCandidate<'a>>,
}

#[derive(Serialize)]
struct JsonCandidate<'a> {
    name: &'a str,
    pairs: u64,
    ptnml: [u64; 5],
    elo: Option<f64>,
    elo_lo: Option<f64>,
    elo_hi: Option<f64>,
    is_better: bool,
}

/// Result as text or JSON.
pub(super) fn text(tuned: &TuningOutcome, json: bool) -> Result<String> {
    if json {
        return Ok(serde_json::to_string_pretty(&document(tuned))?);
    }
    let mut out = values(tuned);
    if let Some(proof) = &tuned.proof {
        out.push_str(&lines(proof));
    }
    // Writing into memory cannot fail.
    if let Some(commit) = &tuned.applied {
        let _ = writeln!(out, "committed as {commit}");
    }
    if !tuned.files.is_empty() {
        let _ = writeln!(out, "in {}: {}", tuned.root.display(), tuned.files.join(", "));
    }
    Ok(out)
}

fn values(tuned: &TuningOutcome) -> String {
    let space = &tuned.rule.space;
    let width = space.params().iter().map(|param| param.name.chars().count()).max().unwrap_or(0).max("name".len());
    let mut out = format!("{:width$} {:>12} {:>12} {:>12}\n", "name", "start", "result", "value");
    for ((param, result), value) in space.params().iter().zip(&tuned.result).zip(tuned.values()) {
        let _ = writeln!(
            out,
            "{:width$} {:>12} {:>12} {:>12}",
            param.name,
            param.text(param.start),
            elo::fixed(*result, 2),
            param.text(param.nearest(*value))
        );
    }
    out
}

fn lines(proof: &Proof) -> String {
    let mut out = format!("\nproof at {}, against the start (each Elo interval is a plain 95 % one):\n", proof.limit);
    for candidate in &proof.candidates {
        let Some(state) = candidate.state else { continue };
        let elo = figures::estimate(elo::logistic(&state.pairs));
        let is_better = match (state.is_better, candidate.beats) {
            (_, Some(other)) => {
                format!(", shown to be stronger than the {other} step, which is stronger than the start")
            }
            (true, None) => ", shown to be stronger".to_owned(),
            (false, None) => String::new(),
        };
        let _ = writeln!(out, "  {} step: {} pairs, Elo {elo}{is_better}", candidate.name, state.pairs.pairs());
    }
    if let Some(line) = openings_line(proof) {
        let _ = writeln!(out, "{line}");
    }
    let chosen = proof.chosen.and_then(|place| proof.candidates.get(place));
    let verdict = match (proof.verdict, chosen) {
        (ProofVerdict::Proven, Some(chosen)) => {
            format!("the {} step is proven (its Elo is biased by the early stop)", chosen.name)
        }
        (ProofVerdict::NotBetter, _) => {
            format!("no step is stronger than the start by {CLOSE} Elo: the values above are not proven")
        }
        _ => "no step is shown to be stronger than the start: the values above are not proven".to_owned(),
    };
    let _ = writeln!(out, "{verdict}");
    out
}

/// Line on openings of the tuning that the proof played too, or that it ended for want of others.
fn openings_line(proof: &Proof) -> Option<String> {
    let ProofOpenings { book, fresh, reordered, repeated, overlaps, pairs } = proof.openings;
    let left = format!("the tuning left {fresh} of the {book} openings of the book");
    if overlaps {
        return Some(
            "the tuning was continued after the proof began, and played openings of the proof; \
             move the proof away, and the same command plays one with others"
                .to_owned(),
        );
    }
    if repeated {
        let how = if reordered { "the whole book again in another order" } else { "openings of the tuning after them" };
        return Some(format!("{left}, so the proof played {how}; a larger --book avoids this"));
    }
    let is_short = fresh < pairs && proof.verdict == ProofVerdict::NotShown;
    let is_over = !matches!(proof.exit, Exit::Interrupted | Exit::Aborted);
    (is_short && is_over).then(|| {
        format!("{left}, so the proof had no more pairs than that for a candidate; a larger --book allows more")
    })
}

fn document(tuned: &TuningOutcome) -> ResultDocument<'_> {
    let space = &tuned.rule.space;
    let player = tuned.plan.players.first();
    let params = space.params().iter().zip(&tuned.result).zip(tuned.values()).enumerate();
    ResultDocument {
        run: &tuned.root,
        engine: player.map_or("", |player| player.origin.spec.as_str()),
        method: tuned.rule.method.name(),
        limit: player.map(|player| player.limit.to_string()).unwrap_or_default(),
        pairs: tuned.pairs,
        params: params
            .map(|(place, ((param, result), value))| ResultValue {
                name: &param.name,
                start: param.start,
                result: *result,
                value: param.nearest(*value),
                effect: tuned.effects.get(place).copied(),
            })
            .collect(),
        proof: tuned.proof.as_ref().map(proof),
        applied: tuned.applied.as_deref(),
        files: &tuned.files,
    }
}

fn proof(proof: &Proof) -> JsonProof<'_> {
    let chosen = proof.chosen.and_then(|place| proof.candidates.get(place));
    JsonProof {
        verdict: proof.verdict.name(),
        chosen: chosen.map(|candidate| candidate.name),
        limit: proof.limit.to_string(),
        openings: proof.openings,
        candidates: proof.candidates.iter().filter_map(candidate).collect(),
    }
}

fn candidate(candidate: &ProofCandidate) -> Option<JsonCandidate<'_>> {
    let state = candidate.state?;
    let estimate = elo::logistic(&state.pairs);
    let end = |place: fn((elo::Elo, elo::Elo)) -> elo::Elo| estimate.and_then(|found| place(found.interval?).finite());
    Some(JsonCandidate {
        name: candidate.name,
        pairs: state.pairs.pairs(),
        ptnml: state.pairs.0,
        elo: estimate.and_then(|found| found.value.finite()),
        elo_lo: end(|(low, _)| low),
        elo_hi: end(|(_, high)| high),
        is_better: state.is_better,
    })
}
