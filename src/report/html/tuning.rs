//! Section of a page on a tuning: traces of the parameters, their values, and the validation.

use super::{facts, put, table};
use crate::report::plot::{EloPlot, EloPoint, Heads, Move, MovePlot, Sheet, Trace, TracePlot, TracePoint};
use crate::report::tune;
use crate::stats::elo::fixed;
use crate::tune::course::Course;
use crate::tune::report::ReportRow;

/// Files of the plots in a run directory.
pub const VALIDATION: &str = "validation.svg";
pub const TRACES: &str = "traces.svg";
pub const MOVES: &str = "moves.svg";

/// Writes facts, plots and table of a tuning. `dead` names parameters that change nothing.
pub fn section(out: &mut String, course: &Course, dead: &[String], caption: &str) {
    put(out, "<h2>Tuning</h2>");
    facts(out, numbers(course, dead));
    put(out, "<div class=\"plots\">");
    for (_, svg) in plots(course, dead, caption) {
        out.push_str(&svg);
    }
    put(out, "</div>");
    let (columns, rows) = tune::cells(course, dead);
    table(out, columns, &rows);
}

fn numbers(course: &Course, dead: &[String]) -> Vec<(&'static str, String)> {
    let mut rows = vec![("State", tune::state_line(course))];
    if let Some(auto) = course.tuning().as_auto() {
        let first = auto.rule().perturbation(auto.loss(), 0);
        rows.push((
            if auto.measured_loss().is_some() { "Calibrated step" } else { "Step, not calibrated" },
            format!(
                "{} steps at first, {} now: there a parameter {} {} Elo",
                fixed(first, 2),
                fixed(auto.perturbation(), 2),
                tune::loses(auto),
                fixed(auto.rule().loss_at_perturbation(), 1)
            ),
        ));
    }
    rows.extend(tune::validation_line(course).map(|line| ("Measured", line)));
    rows.push(("Moves", tune::moves_line(course)));
    rows.extend(tune::noise_line(course).map(|line| ("Noise", line)));
    rows.extend(tune::left_out_line(course, dead).map(|line| ("Dead", line)));
    rows
}

/// Plots of a tuning and the names of their files: validation, traces, bars. Random switching has
/// none.
pub(super) fn plots(course: &Course, dead: &[String], caption: &str) -> Vec<(&'static str, String)> {
    let sheet = Sheet::Wide;
    let Some(moves) = moves_svg(course, dead, caption, sheet) else { return Vec::new() };
    let validation = validation_svg(course, caption, sheet).map(|svg| (VALIDATION, svg));
    validation.into_iter().chain([(TRACES, traces_svg(course, caption, sheet)), (MOVES, moves)]).collect()
}

/// Bars of the distances that the parameters moved; `None` for randomised switches, which do not
/// move.
pub fn moves_svg(course: &Course, dead: &[String], caption: &str, sheet: Sheet) -> Option<String> {
    if course.tuning().as_factors().is_some() {
        return None;
    }
    let rows = course.rows(dead);
    let moves = tune::by_distance(&rows).into_iter().map(moved).collect();
    let heads = Heads {
        title: "Distance moved".to_owned(),
        subtitle: "the result so far against the start".to_owned(),
        caption: caption.to_owned(),
    };
    Some(MovePlot { heads, moves }.to_svg_on(sheet))
}

/// Traces of the parameters over the pairs.
pub fn traces_svg(course: &Course, caption: &str, sheet: Sheet) -> String {
    let heads = Heads {
        title: "Parameters over pairs".to_owned(),
        subtitle: tune::state_line(course),
        caption: caption.to_owned(),
    };
    TracePlot { heads, traces: traces(course, &course.rows(&[])) }.to_svg_on(sheet)
}

/// Validation Elo over the pairs; `None` if the method has no validation pairs.
pub fn validation_svg(course: &Course, caption: &str, sheet: Sheet) -> Option<String> {
    let heads = Heads {
        title: "Validation: the results up to here, pooled, against the start".to_owned(),
        subtitle: tune::validation_line(course)?,
        caption: caption.to_owned(),
    };
    Some(validation(course, heads).to_svg_on(sheet))
}

fn validation(course: &Course, heads: Heads) -> EloPlot {
    let point = |one: &crate::tune::course::ValidationPoint| EloPoint {
        pairs: one.pairs,
        elo: one.elo,
        low: one.interval.0,
        high: one.interval.1,
    };
    let Heads { title, subtitle, caption } = heads;
    let points = course.validated().iter().map(point).collect();
    EloPlot { title, subtitle, caption, unit: "Elo at any time,", points }
}

/// Traces of the parameters, the largest move first.
fn traces(course: &Course, rows: &[ReportRow]) -> Vec<Trace> {
    let mut places: Vec<usize> = (0..rows.len()).collect();
    places.sort_by(|a, b| rows[*b].moved.abs().total_cmp(&rows[*a].moved.abs()));
    let trace = |place: usize| {
        let point = |point: &crate::tune::course::Point| {
            Some(TracePoint {
                pairs: point.pairs,
                theta: *point.theta.get(place)?,
                mean: *point.mean.get(place)?,
                error: point.errors.get(place).copied(),
            })
        };
        Trace { name: rows[place].name.clone(), points: course.points().iter().filter_map(point).collect() }
    };
    places.into_iter().map(trace).collect()
}

fn moved(row: &ReportRow) -> Move {
    let told = format!("{} to {}", tune::plain(row.start), tune::plain(row.rounded));
    Move { name: row.name.clone(), moved: row.moved, error: row.error, told }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::plot::tests::well_formed_below;
    use crate::tune::auto::Rule;
    use crate::tune::course::tests::{course, stopped};
    use crate::tune::run::Tuning;
    use crate::tune::space::{Param, ParamKind, Space};

    #[test]
    fn a_tuning_has_pictures_and_a_table_and_no_elo_but_that_of_validation() {
        let mut page = String::new();
        section(&mut page, &course(14, 3_200), &["p4".to_owned()], "8+0.08, on this machine");
        assert_eq!(page.matches("<svg").count(), 3);
        for text in ["Validation: the results up to here", "Parameters over pairs", "Distance moved", "Calibrated step"]
        {
            assert!(page.contains(text), "{text}");
        }
        assert_eq!(page.matches("<tr><td>p").count(), 14);
        assert_eq!(page.matches("dead: changes nothing").count(), 1);
        // Losses per step, the validation and its axis; no sum of the parameters' gains.
        for (place, _) in page.match_indices("Elo") {
            let near: String = page[..place].chars().rev().take(60).collect::<String>().chars().rev().collect();
            let known =
                ["loses", "validation:", "any time", "class=\"", "rotate"].iter().any(|word| near.contains(word));
            assert!(known, "{near}");
        }
        assert!(!page.contains("NaN") && !page.contains("inf,"));
    }

    #[test]
    fn a_tuning_without_pairs_has_a_page_too() {
        let mut page = String::new();
        section(&mut page, &stopped(3, 1_000, 0), &[], "");
        assert!(
            page.contains("no pairs yet") && page.contains("nothing moved yet") && page.contains("no estimate yet")
        );
    }

    #[test]
    fn the_picture_of_the_traces_names_every_parameter() {
        let names = ["plain", "<b>&\"x\"</b>", "a'b"];
        let param = |name: &&str| {
            let (name, kind) = ((*name).to_owned(), ParamKind::Float);
            (None, Param { name, kind, start: 0.0, min: -6.0, max: 6.0, step: 1.0, rate: 0.002 })
        };
        let space = Space::new("p", names.iter().map(param).collect()).expect("sound");
        let mut course = Course::new(Tuning::auto(Rule { space, seed: 1, block: 16, calibration: 1 }));
        (0..20 * 16).for_each(|pair| course.record((pair % 3) as i8 - 1));
        let svg = traces_svg(&course, "<caption>", Sheet::Wide);
        well_formed_below(&svg, 520.0);
        assert!(!svg.contains("<b>") && !svg.contains("<caption>"), "{svg}");
        for name in ["plain", "&lt;b&gt;&amp;&quot;x&quot;&lt;/b&gt;", "a'b"] {
            assert_eq!(svg.matches(name).count(), 1, "{name}: {svg}");
        }
        assert_eq!(svg.matches("class=\"band\" points").count(), 3);
    }
}
