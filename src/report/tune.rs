//! Text on a tuning: lines of the live view, and the table of its parameters or switches.
//!
//! Only validation pairs are shown as a gain in Elo. The tuning pairs give each parameter the
//! probability that its move is an improvement.

use crate::plan::Plan;
use crate::report::figures::{self, signed};
use crate::stats::elo::{Z_95, fixed};
use crate::text::count;
use crate::tournament::tuning::TuningProgress;
use crate::tune::auto::{Auto, Purpose};
use crate::tune::course::Course;
use crate::tune::factors::{Effect, FactorRun};
use crate::tune::narrow::RangeCut;
use crate::tune::report::ReportRow;
use crate::tune::space::{Param, RangeEnd};

/// Parameters named in the line of the largest moves.
const NAMED: usize = 5;

/// Columns of the table of parameters. A leading `#` marks numbers.
pub const COLUMNS: [&str; 8] = ["name", "#start", "#now", "#rounded", "#moved (steps)", "#±", "#P(better)", "note"];

/// Columns of the table of switches. A leading `#` marks numbers.
pub const SWITCH_COLUMNS: [&str; 6] = ["switch", "#off", "#on", "#on against off", "#p", "found"];

/// Name of the engine of a tuning, without that of its side.
#[must_use]
pub fn engine_name(plan: &Plan) -> &str {
    let side = plan.players.first().map_or("?", |player| player.name.as_str());
    side.strip_suffix(" plus").unwrap_or(side)
}

/// Formats `tuning 40 parameters of Destrier by auto`; `None` if the run is not a tuning.
#[must_use]
pub fn title(plan: &Plan) -> Option<String> {
    let rule = plan.format.tuning()?;
    let name = engine_name(plan);
    let params = count(rule.space.len() as u64, "parameter");
    Some(format!("tuning {params} of {name} by {}", rule.method.name()))
}

/// Formats `1,200 pairs: 304 calibrate, 800 tune, 96 validate`.
#[must_use]
pub fn pairs_line(progress: &TuningProgress) -> String {
    let pairs = progress.pairs();
    let kinds = [(pairs.calibrate, "calibrate"), (pairs.tune, "tune"), (pairs.validate, "validate")];
    let kinds: Vec<String> =
        kinds.into_iter().filter(|(pairs, _)| *pairs > 0).map(|(pairs, kind)| format!("{pairs} {kind}")).collect();
    let all = count(pairs.calibrate + pairs.tune + pairs.validate, "pair");
    if kinds.is_empty() { all } else { format!("{all}: {}", kinds.join(", ")) }
}

/// All lines on a tuning but its table.
#[must_use]
pub fn lines(progress: &TuningProgress) -> Vec<String> {
    let course = progress.course();
    let mut lines = vec![state_line(course)];
    lines.extend(validation_line(course));
    lines.push(moves_line(course));
    lines.push(pairs_line(progress));
    lines
}

/// Formats `Margin: range narrowed from at most 100 to at most 62; the engine failed with 8 values
/// beyond all that worked`, for each range that was narrowed.
#[must_use]
pub fn cut_lines(course: &Course) -> Vec<String> {
    let space = course.tuning().space();
    let line = |cut: &RangeCut| {
        let name = space.params().get(cut.param).map_or("?", |param| param.name.as_str());
        let least = match cut.end {
            RangeEnd::Min => "at least",
            RangeEnd::Max => "at most",
        };
        format!(
            "{name}: range narrowed from {least} {} to {least} {}; the engine failed with {} beyond all that worked",
            plain(cut.from),
            plain(cut.to),
            count(cut.failures as u64, "value")
        )
    };
    course.tuning().cuts().iter().map(line).collect()
}

/// Formats `narrowed to at least 3, at most 62`; `None` if the range of a parameter is as given.
fn narrowed(course: &Course, place: usize) -> Option<String> {
    let (given, now) = (course.tuning().space().params().get(place)?, course.tuning().narrowed().params().get(place)?);
    let ends = [(given.min, now.min, "at least"), (given.max, now.max, "at most")];
    let moved = ends.into_iter().filter(|(given, now, _)| given != now);
    let words: Vec<String> = moved.map(|(_, now, least)| format!("{least} {}", plain(now))).collect();
    (!words.is_empty()).then(|| format!("narrowed to {}", words.join(", ")))
}

/// Purpose of a run's next pairs in a word.
#[must_use]
pub const fn phase(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::Calibrate => "calibrating",
        Purpose::Tune => "tuning",
        Purpose::Validate => "validating",
    }
}

/// Words before the Elo that a parameter loses: measured, or only taken.
pub(super) fn loses(auto: &Auto) -> &'static str {
    if auto.measured_loss().is_some() { "loses" } else { "is taken to lose" }
}

/// Formats `tuning, 40 parameters: one loses 1.2 Elo at one step, perturbed by 0.9 steps`.
#[must_use]
pub fn state_line(course: &Course) -> String {
    let tuning = course.tuning();
    let many = tuning.space().len() as u64;
    if tuning.as_factors().is_some() {
        return format!(
            "{} randomised in each pair",
            if many == 1 { "1 switch".to_owned() } else { format!("{many} switches") }
        );
    }
    let state = format!("{}, {}", phase(course.purpose()), count(many, "parameter"));
    match tuning.as_auto() {
        Some(auto) => format!(
            "{state}: one {} {} Elo at one step, perturbed by {} steps",
            loses(auto),
            fixed(auto.loss(), 2),
            fixed(auto.perturbation(), 2)
        ),
        None => state,
    }
}

/// Formats `validation: Elo +5.2 [-3.1, +13.4] of 64 pairs; any time: Elo in [-9.0, +19.1]`; `None`
/// if the method has no validation pairs.
#[must_use]
pub fn validation_line(course: &Course) -> Option<String> {
    course.tuning().as_auto()?;
    let validation = course.validation();
    let pairs = validation.counts().pairs();
    if pairs == 0 {
        return Some("validation: no pairs yet".to_owned());
    }
    let (low, high) = validation.interval();
    let end = |elo: crate::stats::elo::Elo| elo.finite().map_or_else(|| elo.to_string(), |elo| signed(elo, 1));
    Some(format!(
        "validation: Elo {} of {}; any time: Elo in [{}, {}]",
        figures::estimate(validation.elo()),
        count(pairs, "pair"),
        end(low),
        end(high)
    ))
}

/// Rows by the distance moved, the longest first.
#[must_use]
pub fn by_distance(rows: &[ReportRow]) -> Vec<&ReportRow> {
    let mut sorted: Vec<&ReportRow> = rows.iter().collect();
    sorted.sort_by(|a, b| b.moved.abs().total_cmp(&a.moved.abs()));
    sorted
}

/// The parameters that moved most with their distance in steps, the furthest first, for the live
/// view.
///
/// Switches are shown as of the last point of the course. Their effects are a regression over all
/// pairs, too long for a view that changes each second.
#[must_use]
pub fn live_moves(course: &Course, most: usize) -> Vec<(String, f64)> {
    let tuning = course.tuning();
    let mut moved: Vec<(String, f64)> = if tuning.as_factors().is_some() {
        let params = tuning.space().params().iter();
        let means = course.points().last().map(|point| point.mean.as_slice()).unwrap_or_default();
        params.zip(means).map(|(param, moved)| (param.name.clone(), *moved)).collect()
    } else {
        course.rows(&[]).into_iter().map(|row| (row.name, row.moved)).collect()
    };
    moved.sort_by(|(_, a), (_, b)| b.abs().total_cmp(&a.abs()));
    moved.truncate(most);
    moved
}

/// Formats `moved most, in steps: Margin +1.20, Depth -0.80`; for switches, those found.
#[must_use]
pub fn moves_line(course: &Course) -> String {
    if let Some(run) = course.tuning().as_factors() {
        return found_line(run);
    }
    let rows = course.rows(&[]);
    let moved: Vec<String> = by_distance(&rows)
        .into_iter()
        .filter(|row| row.moved != 0.0)
        .take(NAMED)
        .map(|row| format!("{} {}", row.name, signed(row.moved, 2)))
        .collect();
    if moved.is_empty() {
        "nothing moved yet".to_owned()
    } else {
        format!("moved most, in steps: {}", moved.join(", "))
    }
}

fn found_line(run: &FactorRun) -> String {
    let found: Vec<String> = switches(run)
        .filter_map(|(param, effect)| {
            let word = if effect.verdict()? { "better on" } else { "better off" };
            Some(format!("{} {word}", param.name))
        })
        .collect();
    if found.is_empty() { "no switch found yet".to_owned() } else { format!("found: {}", found.join(", ")) }
}

fn switches(run: &FactorRun) -> impl Iterator<Item = (&Param, &Effect)> {
    run.space().params().iter().zip(run.effects())
}

/// Cells of the table in the order of the parameters, for [`COLUMNS`] or [`SWITCH_COLUMNS`].
#[must_use]
pub fn cells(course: &Course, dead: &[String]) -> (&'static [&'static str], Vec<Vec<String>>) {
    match course.tuning().as_factors() {
        Some(run) => (&SWITCH_COLUMNS, switches(run).map(|(param, effect)| switch(param, effect)).collect()),
        None => {
            let rows = course.rows(dead).into_iter().enumerate();
            (&COLUMNS, rows.map(|(place, row)| parameter(&row, narrowed(course, place))).collect())
        }
    }
}

fn parameter(row: &ReportRow, narrowed: Option<String>) -> Vec<String> {
    let or_none = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
    vec![
        row.name.clone(),
        plain(row.start),
        plain(row.now),
        plain(row.rounded),
        signed(row.moved, 2),
        or_none(row.error.map(|error| fixed(Z_95 * error, 2))),
        or_none(row.better.map(|better| format!("{} %", fixed(better * 100.0, 0)))),
        if row.is_dead { "dead: changes nothing".to_owned() } else { narrowed.unwrap_or_default() },
    ]
}

fn switch(param: &Param, effect: &Effect) -> Vec<String> {
    let found = match effect.verdict() {
        Some(true) => "better on",
        Some(false) => "better off",
        None => "",
    };
    vec![
        param.name.clone(),
        param.text(param.min),
        param.text(param.max),
        format!("{} ± {} Elo", signed(effect.elo, 1), fixed(effect.error95, 1)),
        fixed(effect.p, 3),
        found.to_owned(),
    ]
}

/// Names of the parameters that were left out, because they change nothing, as text; `None` if
/// there are none. `dead` may have others, which are tuned.
#[must_use]
pub fn left_out_line(course: &Course, dead: &[String]) -> Option<String> {
    let params = course.tuning().space().params();
    let out: Vec<&str> =
        dead.iter().map(String::as_str).filter(|name| params.iter().all(|param| param.name != *name)).collect();
    (!out.is_empty()).then(|| format!("dead, left out: {} (change nothing)", out.join(", ")))
}

/// Number with at most three decimals and no trailing zeros.
pub(crate) fn plain(value: f64) -> String {
    let text = fixed(value, 3);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Table as lines: a heading, at most `most` rows, and the number of rows left out.
#[must_use]
pub fn table(course: &Course, dead: &[String], most: Option<usize>) -> Vec<String> {
    let (columns, mut rows) = cells(course, dead);
    let left_out = rows.len().saturating_sub(most.unwrap_or(rows.len()));
    rows.truncate(rows.len() - left_out);
    let heading = columns.iter().map(|column| column.trim_start_matches('#').to_owned()).collect();
    rows.insert(0, heading);
    let width = |column: usize| rows.iter().filter_map(|row| Some(row.get(column)?.chars().count())).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns.len()).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(columns).zip(&widths).map(|((cell, column), width)| match column.starts_with('#') {
            true => format!("{cell:>width$}"),
            false => format!("{cell:<width$}"),
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    let mut lines: Vec<String> = rows.iter().map(line).collect();
    if left_out > 0 {
        lines.push(format!("and {left_out} more"));
    }
    lines
}

/// Share of the squared distance moved that chance alone would make, as text; `None` if the method
/// does not estimate it.
#[must_use]
pub fn noise_line(course: &Course) -> Option<String> {
    let percent = fixed(course.noise()? * 100.0, 0);
    Some(format!("chance alone would have made {percent} % of the squared distance moved"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tune::course::tests::{course, stopped};
    use crate::tune::run::Tuning;
    use crate::tune::space::{ParamKind, Space};

    #[test]
    fn a_tuning_is_told_in_its_phase_with_its_step_and_what_moved() {
        let before = stopped(6, 6_400, 0);
        assert_eq!(
            state_line(&before),
            "calibrating, 6 parameters: one is taken to lose 1.00 Elo at one step, perturbed by 1.41 steps"
        );
        assert_eq!(validation_line(&before).as_deref(), Some("validation: no pairs yet"));
        assert_eq!((moves_line(&before).as_str(), noise_line(&before)), ("nothing moved yet", None));
        let after = course(6, 6_400);
        assert!(state_line(&after).starts_with("tuning, 6 parameters: one loses "), "{}", state_line(&after));
        let validation = validation_line(&after).expect("the default method validates");
        assert!(validation.starts_with("validation: Elo ") && validation.contains(" of 608 pairs; any time: Elo in ["));
        let rows = after.rows(&[]);
        let sorted = by_distance(&rows);
        assert!(sorted.windows(2).all(|two| two[0].moved.abs() >= two[1].moved.abs()));
        let first = format!("moved most, in steps: {} {}, ", sorted[0].name, signed(sorted[0].moved, 2));
        assert!(moves_line(&after).starts_with(&first), "{}", moves_line(&after));
        assert!(noise_line(&after).is_some());
    }

    #[test]
    fn the_table_has_a_line_for_each_parameter_and_marks_dead_ones() {
        let course = course(6, 3_200);
        let lines = table(&course, &["p2".to_owned()], None);
        assert_eq!(lines.len(), 7);
        assert!(lines[0].starts_with("name  start") && lines[0].ends_with("P(better)  note"), "{}", lines[0]);
        for (place, line) in lines[1..].iter().enumerate() {
            assert!(line.starts_with(&format!("p{place} ")) && line.contains(" %"), "{line}");
            assert_eq!(line.ends_with("dead: changes nothing"), place == 2);
        }
        let short = table(&course, &[], Some(2));
        assert_eq!((short.len(), short[3].as_str()), (4, "and 4 more"));
        assert!(lines.iter().all(|line| !line.contains("Elo")), "Elo of the tuning pairs is not a gain");
    }

    #[test]
    fn switches_are_told_as_on_and_off() {
        let switch = |name: &str| {
            let (name, kind) = (name.to_owned(), ParamKind::Int);
            (None, Param { name, kind, start: 0.0, min: 0.0, max: 1.0, step: 1.0, rate: 0.002 })
        };
        let space = Space::new("p", vec![switch("good"), switch("idle")]).expect("sound");
        let mut course = Course::new(Tuning::factors(space, 5, 16));
        assert_eq!(
            (state_line(&course).as_str(), validation_line(&course)),
            ("2 switches randomised in each pair", None)
        );
        assert_eq!((moves_line(&course).as_str(), table(&course, &[], None).len()), ("no switch found yet", 1));
        for block in 0..40 {
            for vectors in course.tuning().ask(block).expect("in order").iter() {
                course.record((vectors.sides[0][0] - vectors.sides[1][0]) as i8);
            }
        }
        assert_eq!(moves_line(&course), "found: good better on");
        // A live view does not follow each pair.
        let moved = [("good".to_owned(), 1.0), ("idle".to_owned(), 0.0)];
        assert_eq!(live_moves(&course, 5), moved);
        let mut later = course.clone();
        (0..15).for_each(|_| later.record(0));
        assert_eq!(live_moves(&later, 1), moved[..1]);
        assert!(!later.tuning().as_factors().unwrap().knows_effects());
        let lines = table(&course, &[], None);
        assert!(lines[0].starts_with("switch  off  on") && lines[1].ends_with("better on"), "{lines:?}");
        assert!(lines[1].contains(" Elo ") && lines[2].starts_with("idle      0   1 "), "{lines:?}");
    }
}
