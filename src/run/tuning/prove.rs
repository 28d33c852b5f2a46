//! Proof of a tuning: its full step and its half step race against the start.
//!
//! The openings are not those of the tuning, and the clock may differ.
//!
//! If the recipe names the rows in the sources, the race's engines are built as usual from commits
//! with the new values. The proof is then about the program that would be released. Otherwise they
//! are the tuned program with other options.
//!
//! The race ends if a candidate is shown to be stronger than the start and the other one cannot be
//! much stronger than it ([`CLOSE`]). It also ends if none is left.

use std::path::Path;
use std::sync::Arc;

use crate::openings::order::Order;
use crate::plan::time_control::{Limit, TimeControl};
use crate::plan::{Format, Plan, Player};
use crate::record::PairId;
use crate::run::building::Building;
use crate::run::dir::{Place, RunDir};
use crate::run::drive::{self, OutputStyle};
use crate::run::error::{Result, RunError, fail};
use crate::run::prepare::load_book;
use crate::run::tuning::prepare::named;
use crate::run::{Exit, extension, progress, trust};
use crate::schedule::affinity::{self, Topology};
use crate::settings::RawPlan;
use crate::source::{NetworkFile, Sources};
use crate::stats::race;
use crate::tournament::formats::race::{self as format, Race, RaceRule};
use crate::tournament::formats::tune::{Method, TuneRule};
use crate::tournament::pairing::{Pairing, ScheduleEntry};
use crate::tournament::scoreboard::Scoreboard;
use crate::tune::report::{Stride, candidates};
use crate::tune::space::Space;

/// Name of the race's directory in the run's directory.
pub(crate) const FOLDER: &str = "prove";

/// Probability that any statement of the race is false.
const ALPHA: f64 = 0.05;

/// Elo by which the other candidate may be stronger than the chosen one. A candidate is dropped if
/// it is shown to gain less than this before it is shown to gain at all.
pub(crate) const CLOSE: f64 = 5.0;

/// Pairs of each candidate between two decisions.
const STEP: u32 = 16;

/// Result of a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProofVerdict {
    /// A candidate is shown to be stronger than the start.
    Proven,
    /// Every candidate is shown to gain less than [`CLOSE`], or nothing.
    NotBetter,
    /// Neither was shown.
    NotShown,
}

impl ProofVerdict {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Proven => "proven",
            Self::NotBetter => "not-better",
            Self::NotShown => "not-shown",
        }
    }

    /// Returns the exit code, as for `race`.
    pub(crate) const fn exit(self) -> Exit {
        match self {
            Self::Proven => Exit::Done,
            Self::NotBetter => Exit::H0,
            Self::NotShown => Exit::Inconclusive,
        }
    }
}

/// A step from the start, to be tested against it.
#[derive(Clone, Debug)]
pub(crate) struct ProofCandidate {
    pub(crate) name: &'static str,
    pub(crate) values: Vec<f64>,
    /// State in the race; `None` before the race.
    pub(crate) state: Option<race::CandidateState>,
}

/// A played proof.
#[derive(Clone, Debug)]
pub(crate) struct Proof {
    pub(crate) verdict: ProofVerdict,
    pub(crate) candidates: Vec<ProofCandidate>,
    /// The candidate to take, if one is proven.
    pub(crate) chosen: Option<usize>,
    /// Limit of a move.
    pub(crate) limit: Limit,
    /// Exit of the race, such as an interruption.
    pub(crate) exit: Exit,
}

/// Returns the steps from the start to the result of a tuning. Switches have no half step.
pub(crate) fn steps(rule: &TuneRule, result: &[f64]) -> Vec<ProofCandidate> {
    let name = |stride| match stride {
        Stride::Full => "full",
        Stride::Half => "half",
    };
    let all = candidates(&rule.space, result).into_iter();
    let all = all.filter(|(stride, _)| *stride == Stride::Full || rule.method != Method::Factors);
    all.map(|(stride, values)| ProofCandidate { name: name(stride), values, state: None }).collect()
}

/// Returns the race's own clock, if any. Call it before the tuning, because it reports faulty
/// settings of the race.
pub(crate) fn clock(raw: &RawPlan) -> Result<Option<TimeControl>> {
    if raw.prove_pairs == Some(0) {
        fail!(Setting, "--prove-pairs 0 proves nothing; leave it out, or use --no-prove");
    }
    raw.prove_tc.as_deref().map(|text| text.parse().map_err(RunError::value("--prove-tc"))).transpose()
}

/// Checks that as many games at once as a plan has fit the machine under the race's own clock.
pub(crate) fn check(raw: &RawPlan, plan: &Plan) -> Result<()> {
    let is_free = raw.no_prove == Some(true) || raw.force_concurrency == Some(true);
    if clock(raw)?.is_some() && !is_free {
        affinity::check_concurrency(plan.concurrency, plan.threads(), true, &Topology::detect())?;
    }
    Ok(())
}

/// Limit of a move in the race: that of the tuning, or the race's own clock.
fn limit(raw: &RawPlan, tuned: &Plan) -> Result<Limit> {
    let own = clock(raw)?.map(|clock| Limit { clock: Some(clock), movetime: None, nodes: None, depth: None });
    Ok(own.unwrap_or_else(|| tuned.players.first().map(|player| player.limit).unwrap_or_default()))
}

/// Message of the commit with the values of a step, from which its engine is built.
fn subject(name: &str) -> String {
    format!("Values of the {name} step of a tuning")
}

/// Plays or resumes the race of `steps` in the tuning's directory `root`.
pub(crate) fn prove(
    raw: &RawPlan,
    root: &Path,
    tuned: &Plan,
    played: u64,
    space: &Space,
    (sources, steps): (Option<&Sources>, Vec<ProofCandidate>),
    output: OutputStyle,
) -> Result<Proof> {
    let place = root.join(FOLDER);
    let (plan, exit) = if place.join(crate::plan::file::FILE_NAME).is_file() {
        go_on(raw, &place, tuned, space, (sources, &steps), output)?
    } else {
        let plan = plan(raw, tuned, played, space, (sources, &steps))?;
        let book = load_book(&plan)?;
        let exit = drive::start(Arc::new(plan.clone()), book, &Place::Given(place.clone()), output)?;
        (plan, exit)
    };
    weigh(&place, plan, steps, exit)
}

/// Resumes an interrupted race; a complete one is left unchanged, unless it may play more pairs.
fn go_on(
    raw: &RawPlan,
    place: &Path,
    tuned: &Plan,
    space: &Space,
    (sources, steps): (Option<&Sources>, &[ProofCandidate]),
    output: OutputStyle,
) -> Result<(Plan, Exit)> {
    let (dir, mut plan) = RunDir::open(place)?;
    trust::check(&dir, &plan, false)?;
    let mut is_same = plan.players.len() == steps.len() + 1;
    for (player, step) in plan.players.iter().skip(1).zip(steps) {
        is_same = is_same && player.name == step.name && has_values(player, space, sources, step)?;
    }
    if !is_same {
        fail!(
            OtherRun,
            "{}: its race has other values, because the tuning was continued since; move it away to prove the new ones",
            place.display()
        );
    }
    let (was, is) = (plan.players[0].limit, limit(raw, tuned)?);
    if was != is {
        fail!(
            OtherRun,
            "{}: its race was begun at {was}, not at {is}; give the same --prove-tc, or move it away to prove at another one",
            place.display()
        );
    }
    plan.max_pairs = raw.prove_pairs.map(|pairs| pairs.max(1)).or(plan.max_pairs);
    renewed(raw, &mut plan)?;
    let mut scoreboard = Scoreboard::new(&plan)?;
    dir.read(&plan, |game| scoreboard.record(game, |_, _| {}))?;
    let next = Pairing::new(&plan).next(PairId(scoreboard.settled()), scoreboard.results());
    if scoreboard.is_over() || matches!(next, ScheduleEntry::Done | ScheduleEntry::OutOfOpenings) {
        return Ok((plan, Exit::Done));
    }
    let exit = drive::resume(Arc::new(plan.clone()), &dir, output)?;
    Ok((plan, exit))
}

/// Returns whether a player of the race plays the values of a step.
fn has_values(player: &Player, space: &Space, sources: Option<&Sources>, step: &ProofCandidate) -> Result<bool> {
    let values = named(space, &step.values);
    let Some(sources) = sources else {
        return Ok(values.iter().all(|option| player.options.contains(option)));
    };
    let commit = sources.commit_with(&values, &subject(step.name))?;
    Ok(player.origin.commit.as_ref() == Some(&commit))
}

/// Gives the plan of a begun run the settings of the command that may change when it is resumed.
pub(crate) fn renewed(raw: &RawPlan, plan: &mut Plan) -> Result<()> {
    plan.max_failures = raw.max_failures.unwrap_or(plan.max_failures);
    let Some(concurrency) = raw.concurrency.filter(|_| plan.workers.is_none()) else { return Ok(()) };
    extension::change_concurrency(plan, concurrency, raw.force_concurrency == Some(true))?;
    affinity::check_cpus(concurrency, plan.threads(), &plan.affinity, &Topology::detect())?;
    Ok(())
}

/// Returns the plan of the race: that of the tuning with other players, openings and limits.
fn plan(
    raw: &RawPlan,
    tuned: &Plan,
    played: u64,
    space: &Space,
    (sources, steps): (Option<&Sources>, &[ProofCandidate]),
) -> Result<Plan> {
    let rule = RaceRule { alpha: ALPHA, gain: 0.0, close: CLOSE, step: STEP };
    let mut plan = Plan {
        name: format!("{}-prove", tuned.name.trim_end_matches("-tune")),
        players: players(tuned, space, sources, steps)?,
        format: Format::new(Race { rule }),
        max_pairs: Some(raw.prove_pairs.unwrap_or(played).max(1)),
        max_time: None,
        count_repeats: false,
        concurrency: raw.concurrency.filter(|_| tuned.workers.is_none()).unwrap_or(tuned.concurrency),
        ..tuned.clone()
    };
    check(raw, &plan)?;
    let limit = limit(raw, tuned)?;
    plan.players.iter_mut().for_each(|player| player.limit = limit);
    tell_used_openings(&plan, played);
    // The seed stays, because it decides only the order of the openings: with another one, openings
    // of the tuning would come again. Colours take turns, and decisions use no chance.
    plan.book.start = (plan.book.start + played) % plan.book.openings.max(1);
    Ok(plan)
}

/// Says if the race will play openings of the tuning, because the book has too few.
fn tell_used_openings(plan: &Plan, played: u64) {
    let (start, openings) = (plan.book.start, plan.book.openings);
    let left = openings.saturating_sub(start.saturating_add(played));
    if left == 0 {
        progress::warn(&format!(
            "the tuning played all openings of the book that come after its first one ({openings} in the book), so the race repeats \
             openings of the tuning; a larger --book avoids this"
        ));
    } else if plan.max_pairs.is_some_and(|pairs| pairs > left) && plan.book.order == Order::Sequential {
        progress::warn(&format!(
            "the book has {left} openings that the tuning did not play; after them the race repeats openings of the tuning"
        ));
    }
}

/// Returns the start and its candidates as players.
fn players(tuned: &Plan, space: &Space, sources: Option<&Sources>, steps: &[ProofCandidate]) -> Result<Vec<Player>> {
    let Some(engine) = tuned.players.first() else { fail!(Engine, "the tuning has no engine") };
    let start = space.start();
    let all: Vec<(&str, &[f64])> = std::iter::once(("start", start.as_slice()))
        .chain(steps.iter().map(|step| (step.name, step.values.as_slice())))
        .collect();
    let Some(sources) = sources else {
        let with = |(name, values): (&str, &[f64])| {
            let mut player = Player { name: name.to_owned(), complaints: Vec::new(), ..engine.clone() };
            for (name, value) in named(space, values) {
                player.options.retain(|(known, _)| !known.eq_ignore_ascii_case(&name));
                player.options.push((name, value));
            }
            player
        };
        return Ok(all.into_iter().map(with).collect());
    };
    let building = Building::begin(all.len())?;
    let network = engine.origin.network.as_ref();
    let network = network.map(|network| NetworkFile::known(network, &building.context.cache)).transpose()?;
    let mut players = Vec::with_capacity(all.len());
    for (number, (name, values)) in (1..).zip(all) {
        let spec = sources.spec(&named(space, values), &subject(name))?;
        let found = building.engine(number, name, &spec, network.as_ref())?;
        players.push(Player {
            name: name.to_owned(),
            program: found.program,
            args: found.args,
            origin: found.origin,
            complaints: Vec::new(),
            ..engine.clone()
        });
    }
    Ok(players)
}

/// Evaluates the race, whose run ended with `exit`.
fn weigh(place: &Path, plan: Plan, steps: Vec<ProofCandidate>, exit: Exit) -> Result<Proof> {
    let (dir, _) = RunDir::open(place)?;
    let mut scoreboard = Scoreboard::new(&plan)?;
    dir.read(&plan, |game| scoreboard.record(game, |_, _| {}))?;
    let Some(rule) = plan.format.parameters().race else { fail!(OtherRun, "{}: it is not a race", place.display()) };
    let count = u16::try_from(plan.players.len()).unwrap_or(u16::MAX);
    let race = format::replay(count, rule, scoreboard.results());
    let candidates: Vec<ProofCandidate> = steps
        .into_iter()
        .zip(race.candidates())
        .map(|(step, state)| ProofCandidate { state: Some(*state), ..step })
        .collect();
    let chosen = race.winner().or_else(|| best(race.candidates()));
    let verdict = match chosen {
        Some(_) => ProofVerdict::Proven,
        None if race.left().is_empty() => ProofVerdict::NotBetter,
        None => ProofVerdict::NotShown,
    };
    let limit = plan.players.first().map(|player| player.limit).unwrap_or_default();
    Ok(Proof { verdict, candidates, chosen, limit, exit })
}

/// Returns the candidate with most points per pair among those shown to be stronger than the start.
fn best(candidates: &[race::CandidateState]) -> Option<usize> {
    let score = |candidate: &race::CandidateState| {
        let points: u64 = (0..).zip(candidate.pairs.0).map(|(points, pairs)| points * pairs).sum();
        points as f64 / candidate.pairs.pairs().max(1) as f64
    };
    let better =
        candidates.iter().enumerate().filter(|(_, candidate)| candidate.is_better && candidate.dropped.is_none());
    // In reverse, because `max_by` returns the last of equals: the first candidate wins a tie.
    better.rev().max_by(|one, other| score(one.1).total_cmp(&score(other.1))).map(|(place, _)| place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Pentanomial;
    use crate::stats::race::Reason;

    #[test]
    fn the_better_of_those_that_are_shown_to_be_is_chosen() {
        let candidate =
            |ptnml, is_better, dropped| race::CandidateState { pairs: Pentanomial(ptnml), dropped, is_better };
        let [weak, good, best_yet] = [[9, 0, 0, 0, 0], [0, 0, 5, 5, 0], [0, 0, 0, 9, 1]];
        assert_eq!(best(&[candidate(best_yet, false, None), candidate(weak, false, None)]), None);
        assert_eq!(best(&[candidate(good, true, None), candidate(best_yet, false, None)]), Some(0));
        assert_eq!(best(&[candidate(good, true, None), candidate(best_yet, true, None)]), Some(1));
        assert_eq!(best(&[candidate(good, true, None), candidate(good, true, None)]), Some(0));
        let dropped = Some((Reason::Candidate(0), 4));
        assert_eq!(best(&[candidate(good, true, None), candidate(best_yet, true, dropped)]), Some(0));
    }
}
