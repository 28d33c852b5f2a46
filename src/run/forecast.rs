//! Expected length of a test before its first game, and bounds for a time budget.

use std::path::Path;
use std::time::Duration;

use crate::plan::Plan;
use crate::plan::time_control::Limit;
use crate::report::figures;
use crate::run::dir::RESULTS;
use crate::run::error::{Result, RunError, fail};
use crate::run::pace::{self, Pace, PaceLookup};
use crate::run::resolve;
use crate::settings::RawPlan;
use crate::stats::race::{self, RaceSettings};
use crate::stats::simulate::{Law, bounds_within, expected_pairs};
use crate::stats::sprt::{Bounds, Model, Sprt};
use crate::tournament::formats::race::RaceRule;

/// Elo below the base of the candidate whose expected drop a race's forecast shows.
const WEAKER: f64 = 20.0;

/// Moves of one side per game, for time controls without a past run.
const MOVES: f64 = 60.0;

/// Time and pairs beyond which the forecast suggests quicker settings.
const LONG: Duration = Duration::from_secs(3600);
const MANY_PAIRS: f64 = 2_000.0;

/// Condition of a forecast that depends on how much pairs vary, if no past run shows it.
const TYPICAL_PAIRS: &str =
    ", if pairs vary as little as those of strong engines at a clock; at fixed nodes about twice as many are needed";

/// Returns the expected length of a plan's test between equal engines, or of its race, as one line;
/// `None` if it is unknown.
pub(crate) fn line(plan: &Plan) -> Option<String> {
    if let Some(rule) = plan.format.parameters().race {
        return Some(race(rule, plan.players.len().saturating_sub(1), plan.max_pairs, shape(pace_of(plan).as_ref())));
    }
    let test = plan.test.as_ref()?;
    let pace = pace_of(plan);
    let shape = shape(pace.as_ref());
    let pairs = pairs_of_equals(plan, shape)?;
    let most = plan.max_pairs.filter(|most| (*most as f64) < pairs);
    let played = most.map_or(pairs, |most| most as f64);
    let time = time_at(plan, pace.as_ref());
    let Bounds { elo0, elo1 } = test.bounds;
    let mut line = format!("[{elo0}, {elo1}] at {}, {}: ", figures::limits(plan), figures::games_at_once(plan));
    let guess = if test.model == Model::Normalized || shape.is_some() { "" } else { "at least " };
    line.push_str(&format!("{guess}about {} pairs if equal", grouped(pairs)));
    if let Some(most) = most {
        line.push_str(&format!(", of which at most {most} will be played"));
    }
    if let Some(time) = time {
        line.push_str(&format!(", {} here", length(time)));
    }
    if let (Some(time), Some(limit), Some(pace)) = (time, plan.max_time, &pace)
        && time > limit
    {
        let within = grouped(limit.as_secs_f64() / 60.0 * pace.pairs_per_minute);
        line.push_str(&format!(", of which at most {} are played: about {within} pairs", length(limit)));
    }
    let is_long = time.map_or(played > MANY_PAIRS, |time| time > LONG);
    let quicker = quicker(plan, &test.bounds);
    if is_long && !quicker.is_empty() {
        line.push_str(&format!("; quicker: {}", quicker.join(", ")));
    }
    Some(line)
}

/// Returns the expected pairs of a plan's test between equal engines, beyond `max_pairs` too. They
/// are typical ones if their shape is not known.
fn pairs_of_equals(plan: &Plan, shape: Option<Law>) -> Option<f64> {
    let test = plan.test.as_ref()?;
    let sprt = Sprt::new(test.bounds, test.model, test.alpha, test.beta).ok()?;
    expected_pairs(&sprt, &shape.unwrap_or(Law::TYPICAL), 0.0)
}

/// Returns the shape of pairs in the past runs that show a pace, which decides the length of a race
/// and of a test by logistic Elo; `None` if it is unknown.
fn shape(pace: Option<&Pace>) -> Option<Law> {
    pace.and_then(|pace| pace.shape)
}

/// Returns the expected time of a plan's games, of a test if its engines are equal; `None` if it is
/// unknown.
pub(crate) fn time(plan: &Plan) -> Option<Duration> {
    let time = time_at(plan, pace_of(plan).as_ref())?;
    Some(plan.max_time.map_or(time, |most| most.min(time)))
}

/// Returns the time of a plan's games at a pace, beyond `max_time` too.
fn time_at(plan: &Plan, pace: Option<&Pace>) -> Option<Duration> {
    if plan.is_at_hub() {
        // Nobody knows how many of them will play.
        return None;
    }
    let most = plan.max_pairs.map(|most| most as f64);
    let played = match pairs_of_equals(plan, shape(pace)) {
        Some(pairs) => most.map_or(pairs, |most| most.min(pairs)),
        None if plan.test.is_none() && plan.players.len() == 2 => most?,
        None => return None,
    };
    pace.and_then(|pace| Duration::try_from_secs_f64(played / pace.pairs_per_minute * 60.0).ok())
}

/// Describes the expected pairs of a race whose pairs have this shape, if it is known.
fn race(rule: RaceRule, candidates: usize, max_pairs: Option<u64>, shape: Option<Law>) -> String {
    let law = shape.unwrap_or(Law::TYPICAL);
    let settings = |close| RaceSettings { alpha: rule.alpha, gain: rule.gain, close };
    let equals = |close: f64| race::pairs_of_equals(settings(close), &law, candidates);
    let most = max_pairs.map(|pairs| format!(", at most {pairs} pairs each")).unwrap_or_default();
    let about = |pairs: Option<f64>| match pairs {
        Some(pairs) if max_pairs.is_some_and(|most| pairs > most as f64) => {
            format!("would take about {} pairs, more than it may play", grouped(pairs))
        }
        Some(pairs) => format!("takes about {} pairs", grouped(pairs)),
        None => "is not to be expected".to_owned(),
    };
    let dropped = |elo: f64| about(race::pairs_to_drop(settings(rule.close), &law, candidates, elo));
    let typical = if shape.is_some() { "" } else { TYPICAL_PAIRS };
    let mut line = format!("race{most}: to drop a candidate {WEAKER} Elo weaker than the base {}", dropped(-WEAKER));
    if rule.close > 0.0 {
        line.push_str(&format!(", one as strong as the base {}", dropped(0.0)));
    }
    if candidates < 2 {
        return line + typical;
    }
    if rule.close > 0.0 {
        line.push_str(&format!("; to settle two equally good ones {}", about(equals(rule.close))));
        return line + typical;
    }
    line.push_str("; two equally good candidates are never told apart");
    let fits = |close: &f64| max_pairs.is_some_and(|most| equals(*close).is_some_and(|pairs| pairs <= most as f64));
    if let Some(close) = (1..=100).map(f64::from).find(fits) {
        line.push_str(&format!(" (--close {close} would settle them)"));
    }
    line + typical
}

/// Returns unused flags that would make the test shorter.
fn quicker(plan: &Plan, bounds: &Bounds) -> Vec<&'static str> {
    let is_timed = plan.is_timed();
    let flags = [
        ("--bounds 0,20", bounds.elo1 - bounds.elo0 < 20.0),
        ("--nodes 20000", is_timed),
        ("--budget 8h", plan.max_time.is_none() && is_timed),
    ];
    flags.into_iter().filter(|(_, is_free)| *is_free).map(|(flag, _)| flag).collect()
}

/// Checks before the engines are built that the pace of a test within `budget` is known.
pub(crate) fn check_budget(budget: &str, raw: &RawPlan) -> Result<()> {
    // Any number of games does: the pace is known for all of them, or for none.
    pace_within(budget, resolve::limits(raw)?, 1).map(|_| ())
}

/// Sets the upper bound of a test so that it ends within `budget` in 95 % of cases, and its time
/// limit to the budget if it has none. Returns a line that describes them.
pub(crate) fn spend(budget: &str, plan: &mut Plan) -> Result<String> {
    let time = resolve::time("--budget", budget)?;
    let (Some(test), [new, base]) = (&mut plan.test, plan.players.as_slice()) else {
        fail!(Setting, "--budget {budget}: only a test of two engines has bounds; give --max-time");
    };
    let pace = pace_within(budget, [new.limit, base.limit], plan.concurrency)?;
    let sprt = Sprt::new(test.bounds, test.model, test.alpha, test.beta)?;
    let pairs = time.as_secs_f64() / 60.0 * pace.pairs_per_minute;
    let bounds = bounds_within(&sprt, &pace.shape.unwrap_or(Law::TYPICAL), pairs, false);
    test.bounds = bounds.ok_or_else(|| {
        RunError::Setting(format!(
            "--budget {budget}: {} pairs are too few for any bounds; give more time, or fewer --nodes",
            grouped(pairs)
        ))
    })?;
    plan.max_time.get_or_insert(time);
    let Bounds { elo0, elo1 } = test.bounds;
    // Normalized bounds hardly depend on how much pairs vary.
    let is_known = pace.shape.is_some() || test.model == Model::Normalized;
    let typical = if is_known { "" } else { TYPICAL_PAIRS };
    Ok(format!(
        "{budget} is about {} pairs here: --bounds {elo0},{elo1}, over by then in 95 % of cases{typical}",
        grouped(pairs)
    ))
}

/// Returns the pace of a test within `budget` whose sides have these limits.
fn pace_within(budget: &str, [limit, other]: [Limit; 2], concurrency: u16) -> Result<Pace> {
    let Some(pace) = (limit == other).then(|| pace(&limit, concurrency)).flatten() else {
        fail!(
            Setting,
            "--budget {budget}: no run under {RESULTS} shows how many pairs a minute this machine plays at {limit}; play one of some \
             minutes first (--max-time 5m), or give --bounds and --max-time"
        );
    };
    Ok(pace)
}

/// Returns the pace of a plan; `None` if it is unknown or its players have several limits.
fn pace_of(plan: &Plan) -> Option<Pace> {
    let limit = plan.players.first()?.limit;
    plan.players.iter().all(|player| player.limit == limit).then(|| pace(&limit, plan.concurrency)).flatten()
}

/// Returns the pace at `limit`, from past runs or else from the clock; `None` if both are unknown.
fn pace(limit: &Limit, concurrency: u16) -> Option<Pace> {
    match pace::learn(Path::new(RESULTS), &resolve::cpu(), Some(&limit.to_string()), Some(concurrency)) {
        PaceLookup::Known(pace) => Some(pace),
        PaceLookup::Unknown(_) => by_clock(limit, concurrency).map(Pace::told),
    }
}

/// Returns pairs per minute if both sides use up their time in [`MOVES`] moves.
fn by_clock(limit: &Limit, concurrency: u16) -> Option<f64> {
    let side = match (limit.clock, limit.movetime) {
        (Some(clock), _) => clock.seconds_of_game(MOVES),
        (None, Some(movetime)) => movetime.as_secs_f64() * MOVES,
        (None, None) => return None,
    };
    // Two games of two sides each.
    (side > 0.0).then(|| 60.0 * f64::from(concurrency) / (4.0 * side))
}

/// Formats a time: `4 days`, `12 h`, `20 min`.
pub(crate) fn length(time: Duration) -> String {
    let hours = time.as_secs_f64() / 3600.0;
    if hours >= 36.0 {
        format!("{:.0} days", hours / 24.0)
    } else if hours >= 10.0 {
        format!("{hours:.0} h")
    } else {
        figures::duration(time)
    }
}

/// Formats a number with two or three significant digits and a comma between thousands: `12,900`.
fn grouped(pairs: f64) -> String {
    let step = if pairs < 1_000.0 { 10.0 } else { 100.0 };
    let rounded = if pairs < 100.0 { pairs.round() } else { (pairs / step).round() * step };
    let digits = format!("{rounded:.0}");
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Test;

    #[test]
    fn numbers_of_pairs_are_short() {
        for (pairs, text) in
            [(0.0, "0"), (7.4, "7"), (99.6, "100"), (455.0, "460"), (12_874.0, "12,900"), (1e6, "1,000,000")]
        {
            assert_eq!(grouped(pairs), text, "{pairs}");
        }
    }

    #[test]
    fn lengths_fit_their_size() {
        for (hours, text) in [(0.5, "30 min"), (3.0, "3 h 0 min"), (20.2, "20 h"), (93.3, "4 days")] {
            assert_eq!(length(Duration::from_secs_f64(hours * 3600.0)), text);
        }
    }

    #[test]
    fn a_clock_gives_a_pace() {
        let rate =
            |text: &str, games: u16| by_clock(&Limit { clock: Some(text.parse().unwrap()), ..Limit::default() }, games);
        // Two concurrent games measured 2.3 pairs a minute.
        assert!((rate("8+0.08", 2).unwrap() - 2.34).abs() < 0.01);
        assert_eq!(rate("8+0.08", 4), rate("8+0.08", 2).map(|rate| 2.0 * rate));
        assert!((rate("40/60", 1).unwrap() - 60.0 / 360.0).abs() < 1e-9);
        assert_eq!(by_clock(&Limit::nodes(1), 1), None);
    }

    /// Pairs at fixed nodes vary more than typical ones, so a race takes longer.
    #[test]
    fn a_race_takes_as_long_as_pairs_vary() {
        let rule = RaceRule { alpha: 0.05, gain: 0.0, close: 20.0, step: 1 };
        let shape = Law::independent(0.4, 0.5);
        let (unknown, known) = (race(rule, 2, None, None), race(rule, 2, None, shape));
        assert!(unknown.ends_with(TYPICAL_PAIRS) && !known.contains(TYPICAL_PAIRS), "{unknown}, {known}");
        let equals = |line: &str| {
            let after = line.split("equally good ones takes about ").nth(1).unwrap();
            after.split(' ').next().unwrap().replace(',', "").parse::<f64>().unwrap()
        };
        let ratio = equals(&known) / equals(&unknown);
        // The variances of a pair's wins less losses are 1.2 and 0.51.
        assert!((2.0..2.6).contains(&ratio), "{unknown}, {known}");
    }

    /// The slots of this machine say nothing about those of a hub's workers.
    #[test]
    fn a_run_at_a_hub_has_no_time_and_no_number_of_games() {
        let text = include_str!("../../tests/it/fixtures/v1/plan.toml");
        let mut plan = crate::plan::file::from_toml(text).unwrap();
        plan.players.iter_mut().for_each(|player| player.limit.clock = Some("8+0.08".parse().unwrap()));
        let here = line(&plan).unwrap();
        assert!(here.contains("at once: ") && time(&plan).is_some(), "{here}");
        // A limit of time shortens what is played, not what the test needs.
        plan.max_time = Some(Duration::from_secs(60));
        let cut = line(&plan).unwrap();
        assert!(cut.starts_with(&here) && cut[here.len()..].starts_with(", of which at most "), "{cut}");
        assert_eq!(time(&plan), plan.max_time);
        plan.workers = Some("nats://127.0.0.1:4222/ab".parse().unwrap());
        let there = line(&plan).unwrap();
        assert!(there.contains(", by the workers of a hub: about ") && !there.contains(" here"), "{there}");
        assert_eq!(time(&plan), None);
    }

    #[test]
    fn a_budget_becomes_bounds_and_an_end() {
        // No run was played with this clock, so the pace is that of the clock.
        let raw = RawPlan { tc: Some("8.03+0.08".into()), ..RawPlan::default() };
        check_budget("8h", &raw).unwrap();
        let mut test = crate::plan::file::from_toml(include_str!("../../tests/it/fixtures/v1/plan.toml")).unwrap();
        test.players.iter_mut().for_each(|player| player.limit = resolve::limits(&raw).unwrap()[0]);
        test.concurrency = 2;
        let spent = |budget: &str, mut plan: Plan| spend(budget, &mut plan).map(|words| (words, plan));
        let (words, plan) = spent("8h", test.clone()).unwrap();
        let Bounds { elo0, elo1 } = plan.test.unwrap().bounds;
        // With 1,100 pairs the bounds are much wider than the default, but no wider than necessary.
        assert!(elo0 == 0.0 && (10.0..60.0).contains(&elo1), "{elo1}");
        assert_eq!(plan.max_time, Some(Duration::from_secs(8 * 3600)));
        assert!(words.starts_with("8h is about ") && words.contains("--bounds 0,"), "{words}");
        // Twice as many games at once.
        let (more, _) = spent("8h", Plan { concurrency: 4, ..test.clone() }).unwrap();
        assert_eq!(more, spent("16h", test.clone()).unwrap().0.replacen("16h", "8h", 1));
        let mut longer = plan;
        longer.test = test.test.map(|test| Test { bounds: Bounds { elo0: -5.0, elo1: 0.0 }, ..test });
        let (_, longer) = spent("80h", longer).unwrap();
        assert_eq!(longer.max_time, Some(Duration::from_secs(8 * 3600)), "a time of the user's stays");
        let Bounds { elo0: low, elo1: high } = longer.test.unwrap().bounds;
        assert!(low == -5.0 && high - low < elo1, "more time, narrower bounds: {low}, {high}");
        let nodes = RawPlan { nodes: Some(987_654_321), ..RawPlan::default() };
        assert!(check_budget("8h", &nodes).unwrap_err().to_string().contains("--max-time 5m"));
        assert!(spent("3s", test).unwrap_err().to_string().contains("too few"));
    }

    /// Refused at once, before anything is built.
    #[test]
    fn a_budget_needs_a_known_number_of_games() {
        let at =
            |workers: &str| RawPlan { budget: Some("8h".into()), workers: Some(workers.into()), ..RawPlan::default() };
        let refused = resolve::sprt_shape(&at("tls://127.0.0.1:4222")).err().map(|error| error.to_string());
        assert!(refused.is_some_and(|text| text.contains("nobody knows how many of a hub's workers")));
        assert!(resolve::sprt_shape(&at("local:2")).is_ok());
    }
}
