//! Preparation of a tuning before its first game: the engine, its parameters and their sensitivity.

use std::time::Duration;

use crate::openings::Book;
use crate::plan::time_control::Limit;
use crate::plan::{Plan, Player};
use crate::run::building::Building;
use crate::run::error::{Result, ResultContext as _, fail};
use crate::run::resolve::{networks, obeyed};
use crate::run::tuning::params::{self, ParamSelection};
use crate::run::tuning::preflight;
use crate::run::tuning::prove;
use crate::run::tuning::sensitivity::{self, ProbePlan, ProbedValues, SearchLength, Sensitivity};
use crate::run::{prepare, progress, resolve};
use crate::schedule::engine_config;
use crate::settings::RawPlan;
use crate::source::{Sources, TunableEngine};
use crate::text::count;
use crate::tournament::formats::tune::Choice;
use crate::tune::space::Space;
use crate::uci::process::Engine;

/// A tuning that is ready to begin.
#[derive(Debug)]
pub(crate) struct PreparedTuning {
    /// Plan without its format; the one player is the engine.
    pub(crate) plan: Plan,
    pub(crate) book: Book,
    pub(crate) method: Choice,
    /// Sources for the values, if the recipe names them.
    pub(crate) sources: Option<Sources>,
    /// Parameters as given.
    pub(crate) given: Space,
    /// Parameters to tune, with their steps.
    pub(crate) space: Space,
    pub(crate) sensitivity: Option<Sensitivity>,
    /// Names of parameters that change nothing.
    pub(crate) dead: Vec<String>,
}

/// Checks the settings of a tuning and of its race as far as that needs no engine; returns the
/// method.
pub(crate) fn check(raw: &RawPlan) -> Result<Choice> {
    let method = Choice::of(raw)?;
    if raw.until_flat == Some(true) {
        method.check_until_flat()?;
    }
    if raw.pairs.is_none() && raw.max_time.is_some() && method.holds_pairs() {
        return Err(method.wants_pairs());
    }
    params::check_choice(raw)?;
    prove::clock(raw)?;
    Ok(method)
}

/// Builds the engine, reads its parameters, tries their extreme values and measures their
/// sensitivity.
pub(crate) fn prepare(raw: &RawPlan) -> Result<PreparedTuning> {
    let method = check(raw)?;
    let mut tunable = None;
    let (plan, book) = resolve::tuned(raw, || {
        let building = Building::begin(1)?;
        let network = networks::of_all(raw, &building.context)?;
        let found = building.tunable(raw.engine.as_deref().unwrap_or("."), network.as_ref())?;
        let engine = found.engine.clone();
        if let Some(limit) = prove::own_limit(raw)? {
            obeyed::check(&engine, limit).within(|| "--prove-tc")?;
        }
        tunable = Some(found);
        Ok((engine, building.context.clone(), network))
    })?;
    let Some(tunable) = tunable else { fail!(Engine, "no engine to tune") };
    let ParamSelection { space: given, notes, .. } = tried(raw, method, &plan, &tunable)?;
    notes.iter().for_each(|note| progress::note(note));
    if let Some(sources) = &tunable.sources {
        // Checked now instead of after a night of games.
        sources.filled(&named(&given, &given.start()))?;
    }
    let sensitivity = match raw.no_sensitivity {
        Some(true) => None,
        _ => Some(measure(&plan, &book, method, &given)?),
    };
    let (space, dead) = weighed(&plan, method, &given, sensitivity.as_ref())?;
    Ok(PreparedTuning { plan, book, method, sources: tunable.sources, given, space, sensitivity, dead })
}

/// Returns names and texts of values, as options and sources take them.
pub(crate) fn named(space: &Space, values: &[f64]) -> Vec<(String, String)> {
    let nearest = space.nearest(values);
    space.params().iter().zip(nearest).map(|(param, value)| (param.name.clone(), param.text(value))).collect()
}

/// Chooses the parameters and tries each with its extreme values.
fn tried(raw: &RawPlan, method: Choice, plan: &Plan, tunable: &TunableEngine) -> Result<ParamSelection> {
    let config = engine_config(plan, &plan.players[0], None);
    prepare::runtime()?.block_on(async {
        let mut engine = Engine::start(&config, &[]).await?;
        let chosen = params::choose(raw, method, tunable, engine.options())?;
        check_options(&plan.players[0], &chosen)?;
        let remarks = preflight::check(&mut engine, &chosen).await?;
        engine.quit().await;
        remarks.iter().for_each(|remark| progress::warn(remark));
        Ok(chosen)
    })
}

/// Refuses an option that the player's settings hold at another value than the tuning starts from.
fn check_options(player: &Player, chosen: &ParamSelection) -> Result<()> {
    for param in chosen.space.params() {
        let value = param.nearest(param.start);
        let start = param.text(value);
        let is_start = |set: &str| set.eq_ignore_ascii_case(&start) || set.parse() == Ok(value);
        if let Some(set) = player.option(&param.name).filter(|set| !is_start(set)) {
            fail!(
                Setting,
                "{}: {} starts from {start}, and the options of {} set it to {set}; start from that value, remove the \
                 option, or leave the parameter out with --skip",
                chosen.rows.place(&param.name),
                param.name,
                player.name
            );
        }
    }
    Ok(())
}

/// Returns the length of a search: that of the games, or fewer nodes.
fn length(limit: Limit) -> SearchLength {
    let nodes = limit.nodes.map_or(sensitivity::NODES, |nodes| nodes.min(sensitivity::NODES));
    SearchLength { nodes, depth: limit.depth }
}

/// True if the searches are as long as those of the games. Longer searches are then no reason to
/// keep a parameter that changes nothing in them.
fn is_whole(limit: Limit, found: &Sensitivity) -> bool {
    !limit.is_timed() && (found.is_deep || limit.nodes.is_some_and(|games| games <= found.length.nodes))
}

fn measure(plan: &Plan, book: &Book, method: Choice, space: &Space) -> Result<Sensitivity> {
    let positions = prepare::positions(book, sensitivity::POSITIONS, plan.rules.variant)?;
    let player = &plan.players[0];
    let probes = ProbePlan {
        config: &engine_config(plan, player, None),
        space,
        values: if method == Choice::Factors { ProbedValues::Ends } else { ProbedValues::Steps },
        positions: &positions,
        length: length(player.limit),
        engines: usize::from(plan.concurrency),
        restarts: plan.restart || player.restart,
    };
    let tell = |time: Duration| {
        progress::note(&format!(
            "sensitivity: {} searches of {}, {} on {}, about {} s (--no-sensitivity skips them)",
            probes.searches(),
            probes.length,
            count(space.len() as u64, "parameter"),
            count(positions.len() as u64, "position"),
            time.as_secs().max(1)
        ));
    };
    sensitivity::measure(&probes, &tell)
}

/// Returns the parameters to tune, with steps evened by sensitivity, and the names of the dead
/// ones.
fn weighed(plan: &Plan, method: Choice, given: &Space, found: Option<&Sensitivity>) -> Result<(Space, Vec<String>)> {
    let Some(found) = found else { return Ok((given.clone(), Vec::new())) };
    if found.noise.any > 0 {
        progress::warn(&format!(
            "the engine answers {} of {} equal searches differently, so no parameter can be called dead; does it use several threads, or keep state between games?",
            found.noise.any, found.noise.searches
        ));
    }
    let dead: Vec<String> = (0..given.len())
        .filter(|index| found.is_dead(*index))
        .map(|index| given.params()[index].name.clone())
        .collect();
    let even = |space: &Space| if method == Choice::Auto { found.evened(space) } else { Ok(space.clone()) };
    if dead.is_empty() {
        return Ok((even(given)?, dead));
    }
    let names = dead.join(", ");
    if !is_whole(plan.players[0].limit, found) {
        progress::warn(&format!(
            "no change of anything in searches of {} by {names}; they are tuned all the same, because games may search \
             longer",
            found.length
        ));
        return Ok((even(given)?, dead));
    }
    progress::warn(&format!("no change of anything in searches of {} by {names}; left out", found.length));
    let kept = found.without_dead(&even(given)?)?;
    Ok((kept, dead))
}
