//! Page of `quintain suite`: sums, times to solution, comparisons, and every position.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use super::{FailedEngine, SuiteResults, comparisons, percents};
use crate::record::Color;
use crate::report::html::{document, facts, put, table};
use crate::report::plot::{CurvePlot, Scale};
use crate::run::resolve;
use crate::stats::elo::fixed;
use crate::suite::epd::{Task, TestPosition};
use crate::suite::tally::Sum;
use crate::text::escaped;

/// Script of the boards, and of the choice of positions.
const SCRIPT: &str = concat!(include_str!("../../report/html/pieces.js"), include_str!("suite.js"));

/// Shortest time that is drawn, in milliseconds, the resolution of engines.
const SHORTEST: f64 = 1.0;

/// Contents of the page.
pub(super) struct SuitePage<'a> {
    pub(super) file: &'a Path,
    pub(super) limit: String,
    pub(super) tests: &'a [TestPosition],
    pub(super) results: &'a [SuiteResults],
    pub(super) failed: &'a [FailedEngine],
}

impl SuitePage<'_> {
    /// The page as one self-contained file.
    pub(super) fn html(&self) -> String {
        let name = self.name();
        let mut out = String::new();
        let conditions = vec![
            ("Suite", self.file.display().to_string()),
            ("Positions", self.tests.len().to_string()),
            ("Limit", self.limit.clone()),
            ("Machine", resolve::cpu()),
            ("Program", format!("quintain {}", env!("CARGO_PKG_VERSION"))),
        ];
        self.solved(&mut out);
        self.compared(&mut out);
        put(&mut out, &format!("<h2>Time to solution</h2>\n<div class=\"plots\">{}</div>", self.svg()));
        self.themes(&mut out);
        self.positions(&mut out);
        put(&mut out, "<h2>Conditions</h2>");
        facts(&mut out, conditions);
        document(&format!("{name}: {}", self.names().join(", ")), &out, SCRIPT)
    }

    /// Picture of the share solved by each time.
    pub(super) fn svg(&self) -> String {
        let line = |result: &SuiteResults| {
            let solved = result.answers.iter().filter(|answer| answer.is_solved);
            let mut times: Vec<f64> =
                solved.filter_map(|answer| Some((answer.time?.as_secs_f64() * 1e3).max(SHORTEST))).collect();
            times.sort_by(f64::total_cmp);
            (result.name.clone(), self.steps(&times))
        };
        let plot = CurvePlot {
            title: "Solved by time".to_owned(),
            caption: format!(
                "time after which the right move stayed until the end, as reported by the engine, {:.0} ms at least; {}, {} positions, {}, {}, \
                 quintain {}",
                SHORTEST,
                self.name(),
                self.tests.len(),
                self.limit,
                resolve::cpu(),
                env!("CARGO_PKG_VERSION")
            ),
            x_label: "time (ms)".to_owned(),
            x_scale: Scale::Log,
            y_label: "solved (%)".to_owned(),
            y_scale: Scale::Linear,
            longest_join: None,
            series: self.results.iter().map(line).collect(),
            bands: Vec::new(),
        };
        plot.to_svg()
    }

    /// Steps of the solved share at rising times, up to the longest time of all engines.
    fn steps(&self, times: &[f64]) -> Vec<(f64, f64)> {
        let all = self.results.iter().flat_map(|result| &result.answers).filter(|answer| answer.is_solved);
        let end = all.filter_map(|answer| answer.time).max().map_or(SHORTEST, |time| time.as_secs_f64() * 1e3);
        let share = |solved: usize| 100.0 * solved as f64 / self.tests.len().max(1) as f64;
        let mut steps = Vec::with_capacity(2 * times.len() + 1);
        for (place, time) in times.iter().enumerate() {
            steps.extend([(*time, share(place)), (*time, share(place + 1))]);
        }
        if !times.is_empty() {
            steps.push((end.max(SHORTEST), share(times.len())));
        }
        steps
    }

    fn name(&self) -> String {
        self.file.file_name().map_or_else(|| "suite".to_owned(), |name| name.to_string_lossy().into_owned())
    }

    fn names(&self) -> Vec<&str> {
        self.results.iter().map(|result| result.name.as_str()).collect()
    }

    fn solved(&self, out: &mut String) {
        let row = |result: &SuiteResults| -> Option<Vec<String>> {
            let sum = result.sums.first()?;
            Some(vec![
                result.name.clone(),
                format!("{}/{}", sum.solved, sum.positions),
                format!("{} %", fixed(100.0 * sum.solved as f64 / sum.positions.max(1) as f64, 1)),
                percents(sum.share),
                format!("{}/{}", sum.points, sum.most),
                sum.seconds.map_or_else(|| "-".to_owned(), |seconds| fixed(seconds, 3)),
            ])
        };
        let rows: Vec<_> = self.results.iter().filter_map(row).collect();
        put(out, "<h2>Solved</h2>");
        table(out, &["engine", "#solved", "#share", "#95 % interval", "#points", "#median s"], &rows);
        for engine in self.failed {
            put(out, &format!("<p class=\"h0\">{}: no results: {}</p>", escaped(&engine.name), escaped(&engine.why)));
        }
    }

    fn compared(&self, out: &mut String) {
        let Some(first) = self.results.first().filter(|_| self.results.len() > 1) else { return };
        let rows: Vec<Vec<String>> = comparisons(self.results)
            .into_iter()
            .map(|(other, found)| {
                let counts = [found.first, found.second, found.both, found.neither].map(|count| count.to_string());
                std::iter::once(other.name.clone()).chain(counts).chain([fixed(found.p, 4)]).collect()
            })
            .collect();
        put(out, &format!("<h2>{} against the others</h2>", escaped(&first.name)));
        table(out, &["against", "#it alone", "#the other alone", "#both", "#neither", "#p"], &rows);
        put(
            out,
            "<p class=\"soft\">p: probability of a split at least as uneven if both were equally good (McNemar's exact test).</p>",
        );
    }

    /// Points of each theme, with bars.
    fn themes(&self, out: &mut String) {
        let themes: Vec<&Sum> =
            self.results.first().map_or_else(Vec::new, |result| result.sums.iter().skip(1).collect());
        if themes.is_empty() {
            return;
        }
        put(
            out,
            "<h2>Points by theme</h2>\n<div class=\"wide\"><table><thead><tr><th>theme</th><th class=\"n\">positions</th>",
        );
        for name in self.names() {
            let _ = write!(out, "<th>{}</th>", escaped(name));
        }
        put(out, "</tr></thead><tbody>");
        for theme in themes {
            let _ = write!(out, "<tr><td>{}</td><td class=\"n\">{}</td>", escaped(&theme.theme), theme.positions);
            for sum in self.results.iter().filter_map(|result| result.sums.iter().find(|sum| sum.theme == theme.theme))
            {
                let share = if sum.most > 0.0 { sum.points / sum.most } else { 0.0 };
                let _ = write!(
                    out,
                    "<td>{}/{} ({:.0} %)<div class=\"share\"><i style=\"width:{:.0}%\"></i></div></td>",
                    sum.points,
                    sum.most,
                    100.0 * share,
                    (100.0 * share).clamp(0.0, 100.0)
                );
            }
            put(out, "</tr>");
        }
        put(out, "</tbody></table></div>");
    }

    /// All positions, those that most engines missed first.
    fn positions(&self, out: &mut String) {
        let missed = |place: usize| {
            let is_missed = |result: &&SuiteResults| result.answers.get(place).is_some_and(|answer| !answer.is_solved);
            self.results.iter().filter(is_missed).count()
        };
        let mut places: BTreeMap<(usize, usize), &TestPosition> = BTreeMap::new();
        for (place, test) in self.tests.iter().enumerate() {
            places.insert((self.results.len() - missed(place), place), test);
        }
        put(
            out,
            "<h2>Positions</h2>\n<div class=\"controls noprint\"><label>Show <select id=\"shown\"><option value=\"\">all</option>",
        );
        put(out, "<option value=\"missed\">missed by any</option>");
        for (number, name) in self.names().iter().enumerate() {
            put(out, &format!("<option value=\"e{number}\">missed by {}</option>", escaped(name)));
        }
        put(out, "</select></label><span id=\"count\" class=\"soft\"></span></div>\n<div id=\"positions\">");
        for ((_, place), test) in places {
            self.position(out, place, test);
        }
        put(out, "</div>");
    }

    fn position(&self, out: &mut String, place: usize, test: &TestPosition) {
        let answers = || {
            self.results
                .iter()
                .enumerate()
                .filter_map(|(number, result)| Some((number, result, result.answers.get(place)?)))
        };
        let missed: Vec<String> =
            answers().filter(|(.., answer)| !answer.is_solved).map(|(number, ..)| format!("e{number}")).collect();
        let (wanted, lit) = wanted(test);
        let mover = Color::to_move(&test.fen);
        put(
            out,
            &format!(
                "<article data-missed=\"{}\"><svg class=\"board\" viewBox=\"0 0 360 360\" role=\"img\" aria-label=\"{}\" data-fen=\"{}\" \
                 data-lit=\"{}\"></svg>\n<div><h3>{}</h3><p>{} to move: {}</p>",
                missed.join(" "),
                escaped(&test.fen),
                escaped(&test.fen),
                lit.join(" "),
                escaped(&test.id),
                mover,
                escaped(&wanted)
            ),
        );
        put(out, "<table><tbody>");
        for (_, result, answer) in answers() {
            let (class, sign) = if answer.is_solved { ("h1", "✓") } else { ("h0", "✗") };
            let time = answer.time.map_or_else(String::new, |time| format!("{} s", fixed(time.as_secs_f64(), 3)));
            let points =
                if test.task.most() > 1.0 { format!("{}/{}", answer.points, test.task.most()) } else { String::new() };
            put(
                out,
                &format!(
                    "<tr><td class=\"{class}\">{sign}</td><td>{}</td><td>{}</td><td class=\"n\">{points}</td><td class=\"n\">{time}</td></tr>",
                    escaped(&result.name),
                    escaped(&answer.text)
                ),
            );
        }
        put(out, &format!("</tbody></table>\n<p class=\"fen\">{}</p></div></article>", escaped(&test.fen)));
    }
}

/// Good answer as text, and the squares of the best moves.
fn wanted(test: &TestPosition) -> (String, Vec<String>) {
    let position = test.position().ok();
    let san =
        |text: &String| position.as_ref().and_then(|position| position.san(text).ok()).unwrap_or_else(|| text.clone());
    let squares =
        |text: &String| [text.get(0..2), text.get(2..4)].into_iter().flatten().map(str::to_owned).collect::<Vec<_>>();
    match &test.task {
        Task::Mate(moves @ 1..) => (format!("mate in {moves}"), Vec::new()),
        Task::Mate(moves) => (format!("mated in {}", moves.unsigned_abs()), Vec::new()),
        Task::Perft(counts) => {
            let counts = counts.iter().map(|(depth, nodes)| format!("perft {depth}: {nodes}"));
            (counts.collect::<Vec<_>>().join(", "), Vec::new())
        }
        Task::Move { points, avoid } => {
            let most = test.task.most();
            let best = || points.iter().filter(|(_, points)| *points >= most).map(|(text, _)| text);
            let others = points.iter().filter(|(_, points)| *points < most);
            let mut parts = Vec::new();
            if !points.is_empty() {
                parts.push(best().map(san).collect::<Vec<_>>().join(" or "));
            }
            parts.extend(others.map(|(text, points)| format!("{} ({points})", san(text))));
            if !avoid.is_empty() {
                parts.push(format!("not {}", avoid.iter().map(san).collect::<Vec<_>>().join(" or ")));
            }
            (parts.join(", "), best().flat_map(squares).collect())
        }
    }
}
