//! Proof of a tuning: its full step and its half step race against the start.
//!
//! The openings are not those of the tuning, if the book has enough of them, and the clock may
//! differ.
//!
//! If the recipe names the rows in the sources, the race's engines are built as usual from commits
//! with the new values. The proof is then about the program that would be released. Otherwise they
//! are the tuned program with other options.
//!
//! The race ends if a candidate is shown to be stronger than the start and the other one cannot be
//! much stronger than it ([`CLOSE`]). It also ends if none is left.

use std::path::Path;
use std::sync::Arc;

use serde::Serialize;

use crate::openings::order::Order;
use crate::plan::file::TUNING_FOLDERS;
use crate::plan::time_control::{Limit, TimeControl};
use crate::plan::{BookRef, Format, Plan, Player, Workers, override_options};
use crate::run::building::Building;
use crate::run::dir::{Place, RunDir};
use crate::run::drive::{self, OutputStyle};
use crate::run::error::{Result, ResultContext as _, RunError, fail};
use crate::run::prepare::load_book;
use crate::run::tuning::prepare::named;
use crate::run::{Exit, extension, notify, progress, resolve, trust};
use crate::schedule::affinity::{self, Topology};
use crate::settings::RawPlan;
use crate::source::{NetworkFile, Sources};
use crate::stats::race;
use crate::stats::random::SplitMix64;
use crate::text::{count, random_hex};
use crate::tournament::formats::race::{self as format, Race, RaceRule};
use crate::tournament::formats::tune::{Method, TuneRule};
use crate::tune::report::{Stride, candidates};
use crate::tune::space::Space;

/// Name of the race's directory in the run's directory.
pub(crate) const FOLDER: &str = TUNING_FOLDERS[1];

/// Probability that any statement of the race is false.
const ALPHA: f64 = 0.05;

/// Elo by which the other candidate may be stronger than the chosen one. A candidate is dropped if
/// it is shown to gain less than this before it is shown to gain at all.
pub(crate) const CLOSE: f64 = 5.0;

/// Pairs of each candidate between two decisions.
const STEP: u32 = 16;

/// Pairs of a candidate for one fresh opening, at most. If there are more, the race plays the whole
/// book again instead of ending after a few pairs.
const MOST_PAIRS_EACH: u64 = 4;

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

    /// Returns the exit code of the tuning, as of a test. `race` itself ends with 0 if no candidate
    /// wins.
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
    /// Weaker step that is shown to be stronger than the start, if the own pairs of this one do not
    /// show that.
    pub(crate) beats: Option<&'static str>,
}

/// Openings of a race after a tuning; field names are a public contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct ProofOpenings {
    /// Openings of the book.
    pub(crate) book: u64,
    /// Openings that the tuning left, which the race could play first.
    pub(crate) fresh: u64,
    /// Maximum pairs of each candidate.
    pub(crate) pairs: u64,
    /// True if the race had the whole book again, in another order.
    pub(crate) reordered: bool,
    /// True if the race played openings of the tuning.
    pub(crate) repeated: bool,
    /// True if the tuning was continued after the race began, with openings of the race.
    #[serde(skip)]
    pub(crate) overlaps: bool,
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
    pub(crate) openings: ProofOpenings,
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
    all.map(|(stride, values)| ProofCandidate { name: name(stride), values, state: None, beats: None }).collect()
}

/// Returns the race's own clock, if any. Reports faulty settings of the race.
pub(crate) fn clock(raw: &RawPlan) -> Result<Option<TimeControl>> {
    if raw.prove_pairs == Some(0) {
        fail!(Setting, "--prove-pairs 0 proves nothing; leave it out, or use --no-prove");
    }
    raw.prove_tc.as_deref().map(|text| text.parse().map_err(RunError::value("--prove-tc"))).transpose()
}

/// Checks that as many games at once as a plan has fit the machine under the race's own clock.
pub(crate) fn check(raw: &RawPlan, plan: &Plan) -> Result<()> {
    if own_limit(raw)?.is_some() && raw.force_concurrency != Some(true) {
        affinity::check_concurrency(plan.concurrency, plan.threads(), true, &Topology::detect())?;
    }
    Ok(())
}

/// Returns the race's own limit of a move, if it has one and will be played.
pub(crate) fn own_limit(raw: &RawPlan) -> Result<Option<Limit>> {
    let clock = clock(raw)?.filter(|_| raw.no_prove != Some(true));
    Ok(clock.map(|clock| Limit { clock: Some(clock), movetime: None, nodes: None, depth: None }))
}

/// Limit of a move in the race: that of the tuning, or the race's own clock.
fn limit(raw: &RawPlan, tuned: &Plan) -> Result<Limit> {
    Ok(own_limit(raw)?.unwrap_or_else(|| tuned.players.first().map(|player| player.limit).unwrap_or_default()))
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
        let keep = |run: &Path| notify::keep(raw, run);
        let played = drive::start_at(Arc::new(plan.clone()), book, &Place::Given(place.clone()), output, keep)?;
        (plan, played.exit)
    };
    weigh(&place, plan, steps, exit, (tuned, played))
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
    extension::renewed(raw, &mut plan)?;
    let scoreboard = dir.scoreboard(&plan)?;
    if drive::is_over(&plan, &scoreboard, &dir) {
        return Ok((plan, Exit::Done));
    }
    // One that was killed after its last game has no summary yet, and gets it here.
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

/// Maximum pairs of each candidate after a tuning of `played` pairs.
fn most_pairs(raw: &RawPlan, played: u64) -> u64 {
    raw.prove_pairs.unwrap_or(played).max(1)
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
    let pairs = most_pairs(raw, played);
    let (book, seed) = race_book(tuned, played, pairs);
    let mut plan = Plan {
        name: format!("{}-prove", tuned.name.trim_end_matches("-tune")),
        players: players(tuned, space, sources, steps)?,
        format: Format::new(Race { rule }),
        book,
        seed,
        max_pairs: Some(pairs),
        max_time: None,
        count_repeats: false,
        workers: workers(tuned)?,
        // Values that fail are no part of a race, as they are of a tuning.
        max_failures: resolve::DEFAULT_MAX_FAILURES,
        ..tuned.clone()
    };
    let limit = limit(raw, tuned)?;
    plan.players.iter_mut().for_each(|player| player.limit = limit);
    if limit.is_timed() && plan.verify.take().is_some() {
        progress::note(
            "the proof has a clock, so no pair of it is played twice (--verify): no two such games are equal",
        );
    }
    extension::renewed(raw, &mut plan)?;
    check(raw, &plan)?;
    if let Some(text) = shortage(&tuned.book, ("took", played), pairs) {
        progress::warn(&text);
    }
    Ok(plan)
}

/// Returns the workers of the race. At a hub it is a run of its own.
fn workers(tuned: &Plan) -> Result<Option<Workers>> {
    let mut workers = tuned.workers.clone();
    if let Some(Workers::Hub(hub)) = &mut workers {
        hub.run = random_hex().within(|| "cannot name the race")?;
    }
    Ok(workers)
}

/// Returns the book of the race, and the seed of its order.
fn race_book(tuned: &Plan, played: u64, pairs: u64) -> (BookRef, u64) {
    let mut book = tuned.book.clone();
    if let Some(seed) = other_seed(&book, unplayed(&book, played), pairs) {
        (book.order, book.start) = (Order::Random { seed }, 0);
        return (book, seed);
    }
    // The seed stays, because it decides only the order of the openings: with another one, openings
    // of the tuning would come again. Colours take turns, and decisions use no chance.
    book.start = (book.start + played) % book.openings.max(1);
    (book, tuned.seed)
}

/// Returns the number of openings of a tuning's book that are left after `played` pairs.
fn unplayed(book: &BookRef, played: u64) -> u64 {
    // A random order is shuffled again for its second lap, so openings before its start are lost.
    let lost = match book.order {
        Order::Sequential => 0,
        Order::Random { .. } => book.start,
    };
    book.openings.saturating_sub(played.saturating_add(lost))
}

/// Returns the seed of another order of the whole book, if too few openings are fresh for a race.
/// In the order of the file the race goes round in any case.
fn other_seed(book: &BookRef, fresh: u64, pairs: u64) -> Option<u64> {
    let Order::Random { seed } = book.order else { return None };
    // 53 bits, so that JSON readers keep it exactly.
    (fresh.saturating_mul(MOST_PAIRS_EACH) < pairs).then(|| SplitMix64::new(seed).next_u64() >> 11)
}

/// Returns a warning if fewer openings are fresh than the race may play. The tuning `takes` or
/// `took` a number of pairs.
fn shortage(book: &BookRef, (takes, played): (&str, u64), pairs: u64) -> Option<String> {
    let fresh = unplayed(book, played);
    if fresh >= pairs {
        return None;
    }
    let then = match book.order {
        Order::Sequential => "plays openings of the tuning again after them",
        Order::Random { .. } if other_seed(book, fresh, pairs).is_some() => {
            "plays the whole book again in another order, openings of the tuning included"
        }
        Order::Random { .. } => "ends after them",
    };
    Some(format!(
        "the book has {} and the tuning {takes} {}, so its proof has only {} for up to {} of each candidate and {then}; a larger \
         --book, or fewer --pairs, leaves more of them",
        count(book.openings, "opening"),
        count(played, "pair"),
        count(fresh, "fresh opening"),
        count(pairs, "pair"),
    ))
}

/// Warns before a tuning if settings of its race have no effect, or if it is known to leave too few
/// openings for the race.
pub(crate) fn warn_before(raw: &RawPlan, plan: &Plan) {
    if raw.no_prove == Some(true) {
        let given = [("--prove-tc", raw.prove_tc.is_some()), ("--prove-pairs", raw.prove_pairs.is_some())];
        for (setting, _) in given.iter().filter(|(_, is_given)| *is_given) {
            progress::note(&format!("{setting} has no effect, because no race follows the tuning (--no-prove)"));
        }
        return;
    }
    let Some(pairs) = plan.max_pairs else { return };
    if let Some(text) = shortage(&plan.book, ("takes", pairs), most_pairs(raw, pairs)) {
        progress::warn(&text);
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
            override_options(&mut player.options, named(space, values));
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

/// Evaluates the race, whose run ended with `exit`, after a tuning of a number of pairs.
fn weigh(
    place: &Path,
    plan: Plan,
    steps: Vec<ProofCandidate>,
    exit: Exit,
    (tuned, played): (&Plan, u64),
) -> Result<Proof> {
    let (dir, _) = RunDir::open(place)?;
    let scoreboard = dir.scoreboard(&plan)?;
    let Some(rule) = plan.format.parameters().race else { fail!(OtherRun, "{}: it is not a race", place.display()) };
    let count = u16::try_from(plan.players.len()).unwrap_or(u16::MAX);
    let race = format::replay(count, rule, scoreboard.results());
    let states = shown(race.candidates());
    let chosen = race.winner().or_else(|| best(&states));
    let verdict = match chosen {
        Some(_) => ProofVerdict::Proven,
        None if race.left().is_empty() => ProofVerdict::NotBetter,
        None => ProofVerdict::NotShown,
    };
    let names: Vec<&'static str> = steps.iter().map(|step| step.name).collect();
    let candidates = (0..).zip(steps).zip(&states).map(|((place, step), state)| {
        let beats = beaten(race.candidates(), place).and_then(|other| names.get(other).copied());
        ProofCandidate { state: Some(*state), beats, ..step }
    });
    let limit = plan.players.first().map(|player| player.limit).unwrap_or_default();
    let most = states.iter().map(|state| state.pairs.pairs()).max().unwrap_or(0);
    let (fresh, reordered) = (unplayed(&tuned.book, played), plan.seed != tuned.seed);
    // A tuning that was continued after the race began has played openings of the race.
    let from = plan.book.start.checked_sub(tuned.book.start);
    let from = from.unwrap_or_else(|| (plan.book.start + plan.book.openings).saturating_sub(tuned.book.start));
    // In the order of the file, a race may begin again where the tuning began.
    let is_next = from == played % plan.book.openings.max(1);
    let overlaps = most > 0 && !reordered && !is_next && from < played;
    let openings = ProofOpenings {
        book: plan.book.openings,
        fresh,
        pairs: plan.max_pairs.unwrap_or(u64::MAX),
        reordered,
        overlaps,
        repeated: overlaps || most > 0 && reordered || most > fresh,
    };
    Ok(Proof { verdict, candidates: candidates.collect(), chosen, limit, openings, exit })
}

/// Returns the place of a candidate that shows another one, at `place`, to be stronger than the
/// start: it is stronger than the start, and was dropped because that one is stronger still.
/// `None` if the pairs of the one at `place` show that themselves.
///
/// All claims of a race hold together, so this follows from two of them.
fn beaten(candidates: &[race::CandidateState], place: usize) -> Option<usize> {
    let is_beaten = |other: &race::CandidateState| {
        other.is_better && matches!(other.dropped, Some((race::Reason::Candidate(by), _)) if by == place)
    };
    candidates.get(place).filter(|candidate| !candidate.is_better)?;
    candidates.iter().position(is_beaten)
}

/// Returns the candidates with all that the claims of the race show about them.
fn shown(candidates: &[race::CandidateState]) -> Vec<race::CandidateState> {
    let with = |(place, candidate): (usize, &race::CandidateState)| race::CandidateState {
        is_better: candidate.is_better || beaten(candidates, place).is_some(),
        ..*candidate
    };
    candidates.iter().enumerate().map(with).collect()
}

/// Returns the candidate with most points per pair among those shown to be stronger than the start
/// and than which no other candidate is shown to be stronger.
fn best(candidates: &[race::CandidateState]) -> Option<usize> {
    let score = |candidate: &race::CandidateState| {
        let points: u64 = (0..).zip(candidate.pairs.0).map(|(points, pairs)| points * pairs).sum();
        points as f64 / candidate.pairs.pairs().max(1) as f64
    };
    let is_best = |candidate: &race::CandidateState| {
        candidate.is_better && matches!(candidate.dropped, None | Some((race::Reason::Close, _)))
    };
    let better = candidates.iter().enumerate().filter(|(_, candidate)| is_best(candidate));
    // In reverse, because `max_by` returns the last of equals: the first candidate wins a tie.
    better.rev().max_by(|one, other| score(one.1).total_cmp(&score(other.1))).map(|(place, _)| place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::ReferenceSpeed;
    use crate::plan::affinity::Affinity;
    use crate::plan::file;
    use crate::record::PlayerId;
    use crate::stats::Pentanomial;
    use crate::stats::race::Reason;

    const V1: &str = include_str!("../../../tests/it/fixtures/v1/plan.toml");

    /// A plan whose book has this number of openings and this order.
    fn with_book(openings: u64, order: &str, start: u64) -> Plan {
        let text = V1.replace("openings = 12", &format!("openings = {openings}"));
        let text = text.replace("order = \"random\"\nstart = 0", &format!("order = \"{order}\"\nstart = {start}"));
        file::from_toml(&text).unwrap()
    }

    #[test]
    fn the_better_of_those_that_are_shown_to_be_is_chosen() {
        let candidate =
            |ptnml, is_better, dropped| race::CandidateState { pairs: Pentanomial(ptnml), dropped, is_better };
        let [weak, good, best_yet] = [[9, 0, 0, 0, 0], [0, 0, 5, 5, 0], [0, 0, 0, 9, 1]];
        assert_eq!(best(&[candidate(best_yet, false, None), candidate(weak, false, None)]), None);
        assert_eq!(best(&[candidate(good, true, None), candidate(best_yet, false, None)]), Some(0));
        assert_eq!(best(&[candidate(good, true, None), candidate(best_yet, true, None)]), Some(1));
        assert_eq!(best(&[candidate(good, true, None), candidate(good, true, None)]), Some(0));
        // A small gain that is shown is a gain.
        assert_eq!(best(&[candidate(good, true, Some((Reason::Close, 4))), candidate(weak, false, None)]), Some(0));
        let dropped = Some((Reason::Candidate(0), 4));
        assert_eq!(best(&[candidate(good, true, None), candidate(best_yet, true, dropped)]), Some(0));
    }

    /// All claims of a race hold at once, so two of them show a third.
    #[test]
    fn a_candidate_that_beats_one_that_is_stronger_than_the_start_is_stronger_too() {
        let candidate = |is_better, dropped: Option<Reason>| race::CandidateState {
            pairs: Pentanomial([0, 1, 5, 4, 0]),
            dropped: dropped.map(|reason| (reason, 4)),
            is_better,
        };
        let by_half = Some(Reason::Candidate(1));
        let race = [candidate(true, by_half), candidate(false, None)];
        assert_eq!((beaten(&race, 0), beaten(&race, 1), best(&race)), (None, Some(0), None));
        let all = shown(&race);
        assert_eq!((all[0].is_better, all[1].is_better, best(&all)), (true, true, Some(1)));
        // It follows neither from a candidate that is not shown to be stronger than the start, nor
        // from one that was dropped for another reason.
        for other in [candidate(false, by_half), candidate(true, Some(Reason::Close)), candidate(true, None)] {
            let race = [other, candidate(false, None)];
            assert_eq!((shown(&race)[1].is_better, beaten(&race, 1)), (false, None), "{other:?}");
        }
        assert_eq!(beaten(&[candidate(true, by_half), candidate(true, None)], 1), None);
    }

    #[test]
    fn a_race_has_fresh_openings_or_the_whole_book_in_another_order() {
        for (order, start, played, pairs, fresh, begin) in [
            ("random", 0, 6_000, 6_000, 2_000, Some(6_000)),
            ("random", 500, 6_000, 6_000, 1_500, Some(6_500)),
            ("random", 500, 6_001, 6_000, 1_499, None),
            ("random", 0, 7_950, 7_950, 50, None),
            ("random", 0, 7_950, 200, 50, Some(7_950)),
            ("random", 0, 8_000, 8_000, 0, None),
            ("random", 0, 20_000, 1, 0, None),
            // In the order of the file the book goes round, and the tuning's own are the last.
            ("sequential", 500, 7_950, 7_950, 50, Some(450)),
            ("sequential", 0, 8_000, 8_000, 0, Some(0)),
        ] {
            let tuned = with_book(8_000, order, start);
            assert_eq!(unplayed(&tuned.book, played), fresh, "{order} {start} {played}");
            let (book, seed) = race_book(&tuned, played, pairs);
            let is_same = (book.order, seed) == (tuned.book.order, tuned.seed);
            assert_eq!((is_same, book.start), (begin.is_some(), begin.unwrap_or(0)), "{order} {start} {played}");
            // A race that is resumed reads the order from its seed.
            let plan = Plan { book: book.clone(), seed, ..tuned };
            assert_eq!(file::from_toml(&file::to_toml(&plan)).unwrap().book, book);
        }
    }

    #[test]
    fn a_book_too_small_for_a_race_is_told_with_its_numbers() {
        let told = |order: &str, played, pairs| shortage(&with_book(8_000, order, 0).book, ("takes", played), pairs);
        assert_eq!((told("random", 4_000, 4_000), told("random", 7_900, 100)), (None, None));
        for (order, played, pairs, words) in [
            ("random", 7_950, 7_950, "only 50 fresh openings for up to 7950 pairs of each candidate and plays the"),
            ("random", 6_000, 6_000, "only 2000 fresh openings for up to 6000 pairs of each candidate and ends"),
            ("sequential", 7_999, 9, "only 1 fresh opening for up to 9 pairs of each candidate and plays openings"),
        ] {
            let told = told(order, played, pairs).unwrap_or_default();
            let begin = format!("the book has 8000 openings and the tuning takes {played} pairs, so its proof ");
            assert!(told.starts_with(&begin) && told.contains(words), "{told}");
            assert!(told.ends_with("a larger --book, or fewer --pairs, leaves more of them"), "{told}");
        }
    }

    /// Under a clock no two games are equal, so a second worker would seem to disagree.
    #[test]
    fn a_proof_under_a_clock_has_no_pair_played_twice_and_times_for_the_same_speed() {
        let scale = Some(ReferenceSpeed { player: PlayerId(0), nps: 2_190_000 });
        let tuned = Plan { verify: Some(2.0), scale, ..with_book(12, "random", 0) };
        let space = crate::tune::read::lines("p", "a,1,0,9,1,.1").unwrap();
        for (clock, verify) in [(None, Some(2.0)), (Some("8+0.08".to_owned()), None)] {
            let raw = RawPlan { prove_tc: clock, force_concurrency: Some(true), ..RawPlan::default() };
            let race = plan(&raw, &tuned, 4, &space, (None, &[])).unwrap();
            assert_eq!((race.verify, race.scale), (verify, scale), "{raw:?}");
        }
    }

    #[test]
    fn a_begun_run_takes_the_affinity_of_the_command() {
        let mut plan = Plan { affinity: Affinity::Auto, ..with_book(12, "random", 0) };
        let with = |text: &str| RawPlan { affinity: Some(text.to_owned()), ..RawPlan::default() };
        extension::renewed(&RawPlan::default(), &mut plan).unwrap();
        assert_eq!(plan.affinity, Affinity::Auto);
        extension::renewed(&with("off"), &mut plan).unwrap();
        assert_eq!(plan.affinity, Affinity::Off);
        for (text, words) in [("65535", "may not use CPU 65535"), ("x", "--affinity")] {
            let error = extension::renewed(&with(text), &mut plan.clone()).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}
