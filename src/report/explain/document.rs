//! An explanation as text, tables, JSON and CSV.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::plan::Plan;
use crate::report::explain::features::GamePhase;
use crate::report::explain::table::{Table, csv, markdown, wrapped};
use crate::report::explain::{ALPHA, Dimension, Duplicates, Explanation, GroupResult, Measure, USED_AT};
use crate::report::figures::{level_line, signed};
use crate::stats::Pentanomial;
use crate::stats::Trinomial;
use crate::stats::clusters::ClusteredCounts;
use crate::stats::elo::fixed;
use crate::stats::explain::{Interval, MIN_PAIRS, SideMeans};
use crate::stats::sensor;
use crate::text::{count, printable};

/// Maximum number of columns of the text.
pub const WIDTH: usize = 100;

/// Heading line of the CSV.
const CSV_HEAD: &str =
    "dimension,group,games,pairs,wins,draws,losses,score,net,measure,inside,outside,difference,error95,p,p_holm";

/// Note on the meaning of the figures.
const CAVEAT: &str = "Groups show where points were made, not why. Colour, opponent and opening are fixed before a game and compared \
by score; the rest shows only afterwards and is compared by the decisive games won. Net is points over one half a game and adds up. +/- is \
the 95 % interval of the group's difference from all other games, taken alone, with game pairs as the unit of chance; p (Holm) is corrected \
over all tests of a player.";

const PHASE_NOTE: &str = "A decisive game counts where the mean of both engines' scores went to 1.5 pawns for the winner and stayed there: \
points are won at that move, not where the game is adjudicated or mate is played out. Draws, forfeits and games without scores count by \
their last position. By pieces left (minor 1, rook 2, queen 4): opening from 22 up to move 20, endgame from 8 down.";

impl Explanation {
    /// Text for a terminal, in lines of at most [`WIDTH`] columns. Of openings it shows the `top`
    /// with the largest net.
    #[must_use]
    pub fn text(&self, plan: &Plan, top: usize) -> String {
        let mut text: String = self.lead(plan).iter().map(|(indent, line)| wrapped(line, WIDTH, indent)).collect();
        for table in self.tables(plan, top) {
            text.push('\n');
            text += &table.text(WIDTH);
        }
        text.push('\n');
        text += &self.repeats.lines().iter().map(|line| wrapped(line, WIDTH, "")).collect::<String>();
        text.push('\n');
        text + &wrapped(CAVEAT, WIDTH, "")
    }

    /// Text in Markdown, without a heading of its own.
    #[must_use]
    pub fn markdown(&self, plan: &Plan, top: usize) -> String {
        let mut text: String = self.lead(plan).iter().map(|(_, line)| format!("{}\n\n", markdown(line))).collect();
        for table in self.tables(plan, top) {
            text += &table.markdown();
            text.push('\n');
        }
        text += "### Repeated games\n\n";
        text += &self.repeats.lines().iter().map(|line| format!("{}\n\n", markdown(line))).collect::<String>();
        text + &markdown(CAVEAT) + "\n"
    }

    /// Sentences that open the text, each with its indentation: the results and the findings.
    fn lead(&self, plan: &Plan) -> Vec<(&'static str, String)> {
        let name = plan.name_of(self.player);
        let Trinomial { wins, draws, losses } = self.wdl;
        let error = self.score_error.map_or_else(String::new, |error| format!(" +/- {}", fixed(error * 100.0, 1)));
        let results = format!(
            "{}: {}, {} (+{wins} ={draws} -{losses}), {} %{error}, net {} points",
            printable(name),
            count(self.pairs, "pair"),
            count(self.wdl.games(), "game"),
            fixed(self.score * 100.0, 1),
            signed((wins as f64 - losses as f64) / 2.0, 1),
        );
        let found = self.found();
        let rate = fixed(ALPHA * 100.0, 0);
        let tests = if self.tests == 0 {
            format!("nothing is tested: no group has the {MIN_PAIRS} pairs that it takes")
        } else if found.is_empty() {
            format!("no group differs from the rest ({} tests, {rate} % for any false alarm, Holm)", self.tests)
        } else {
            format!(
                "{} of {} tested groups differ from the rest ({rate} % for any false alarm, Holm):",
                found.len(),
                self.tests
            )
        };
        let found = found.iter().map(|group| ("  ", group.sentence()));
        [("", results), ("", tests)].into_iter().chain(found).collect()
    }

    /// All tables, groups first; of openings the `top` with the largest net.
    #[must_use]
    pub fn tables(&self, plan: &Plan, top: usize) -> Vec<Table> {
        let mut tables = Vec::new();
        for dimension in Dimension::ALL {
            let groups: Vec<&GroupResult> = self.groups.iter().filter(|group| group.dimension == dimension).collect();
            if !groups.is_empty() {
                tables.push(group_table(dimension, groups, top));
            }
        }
        tables.push(self.book(top));
        let their = if plan.players.len() == 2 { "opponent" } else { "opponents" };
        tables.extend(self.effort(plan.name_of(self.player), their));
        tables
    }

    /// Table of openings in which one colour won both games.
    fn book(&self, top: usize) -> Table {
        let all = &self.openings;
        let [white, black] = all.one_sided();
        let score = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| fixed(value * 100.0, 1));
        let mut note = format!(
            "{}, White made {} %; White won both games of {}, Black of {black}",
            count(all.distinct, "opening"),
            score(crate::stats::Counts::score(&all.white)),
            count(white, "pair"),
        );
        if let Some(expected) = all.expected_one_sided {
            let _ = write!(note, "; {} in all if the games of a pair had nothing in common", fixed(expected, 1));
        }
        if let Some(line) = self.level.and_then(|level| level_line(&self.opening_evidence(), level)) {
            let _ = write!(note, "; {line}");
        }
        if all.lopsided.len() > top {
            let _ = write!(note, "; {} more lopsided openings", all.lopsided.len() - top);
        }
        let rows = all.lopsided.iter().take(top).map(|opening| {
            let gap = if opening.name.is_empty() { "" } else { " " };
            let [wins, draws, losses] = opening.games;
            vec![
                format!("#{}{gap}{}", opening.number, printable(&opening.name)),
                opening.winner.to_string(),
                opening.both[0].to_string(),
                opening.both[1].to_string(),
                format!("{wins}-{draws}-{losses}"),
            ]
        });
        Table {
            title: "openings that one colour won both games of".to_owned(),
            head: vec!["opening", "for", "both White", "both Black", "1-0, draws, 0-1"],
            rows: rows.collect(),
            note,
        }
    }

    /// Tables of clock and search of both sides.
    fn effort(&self, own: &str, their: &str) -> Vec<Table> {
        let (effort, effect) = (&self.effort, self.repeats.effect());
        let head = || vec!["", "player", "opponent", "ratio", "95 % interval"];
        let rows: Vec<Vec<String>> = self
            .compared()
            .into_iter()
            .filter(|(.., sides)| sides.means() != (None, None))
            .map(|(name, _, decimals, sides)| side_row(&name, &sides, decimals, effect))
            .collect();
        let title = format!("search: {} beside {their}", printable(own));
        let mut tables = vec![Table { title, head: head(), rows, note: String::new() }];
        let mut rows = Vec::new();
        let shares = USED_AT.iter().map(|at| format!("used by {at}")).zip(effort.used);
        for (name, sides) in shares.chain([("moves in time trouble".to_owned(), effort.trouble)]) {
            let (own, their) = sides.means();
            if own.is_none() && their.is_none() {
                continue;
            }
            let share = |value: Option<f64>| {
                value.map_or_else(|| "-".to_owned(), |value| format!("{} %", fixed(value * 100.0, 1)))
            };
            let points = |value: f64| signed(value * 100.0, 1);
            let difference = sides.difference(effect);
            let ends = difference.and_then(|found| found.ends);
            rows.push(vec![
                name,
                share(own),
                share(their),
                difference.map_or_else(|| "-".to_owned(), |found| points(found.value)),
                ends.map_or_else(|| "-".to_owned(), |(low, high)| format!("{} to {}", points(low), points(high))),
            ]);
        }
        if !rows.is_empty() {
            let head = vec!["", "player", "opponent", "difference", "95 % interval"];
            let note = "of the base time and one increment; a clock above that counts as negative use".to_owned();
            tables.push(Table { title: "clock".to_owned(), head, rows, note });
        }
        tables.retain(|table| !table.rows.is_empty());
        tables
    }

    /// Name, key, decimals and both sides of every figure that is compared by a ratio.
    fn compared(&self) -> Vec<(String, String, usize, SideMeans)> {
        let effort = &self.effort;
        let mut all = vec![
            ("depth, plies a move".to_owned(), "depth".to_owned(), 2, effort.depth),
            ("nodes a move".to_owned(), "nodes_per_move".to_owned(), 0, effort.nodes),
            ("nodes a second charged".to_owned(), "nps".to_owned(), 0, effort.speed),
            ("seconds a move".to_owned(), "seconds_per_move".to_owned(), 4, effort.seconds),
        ];
        for (phase, sides) in GamePhase::ALL.into_iter().zip(effort.by_phase) {
            let name = phase.name();
            all.push((format!("seconds a move, {name}"), format!("seconds_per_move_{name}"), 4, sides));
        }
        all
    }

    /// Complete pairs with the weight of openings of which each tells once what it gives to a
    /// colour.
    fn opening_evidence(&self) -> ClusteredCounts<Pentanomial> {
        ClusteredCounts::new(self.ptnml, self.repeats.effect().max(self.repeats.pairs_per_opening))
    }

    /// JSON document, whose keys are a contract.
    #[must_use]
    pub fn json(&self, plan: &Plan) -> Value {
        let (name, effect) = (plan.name_of(self.player), self.repeats.effect());
        let effort: serde_json::Map<String, Value> =
            self.compared().into_iter().map(|(_, key, _, sides)| (key, ratio_json(&sides, effect))).collect();
        let mut clock: serde_json::Map<String, Value> = ["move_20", "move_40", "end"]
            .into_iter()
            .zip(&self.effort.used)
            .map(|(at, sides)| (format!("used_by_{at}"), difference_json(sides, effect)))
            .collect();
        clock.insert("moves_in_trouble".to_owned(), difference_json(&self.effort.trouble, effect));
        let openings = &self.openings;
        let [white, black] = openings.one_sided();
        let lopsided: Vec<Value> = openings
            .lopsided
            .iter()
            .map(|one| {
                json!({
                    "opening": one.number, "name": one.name, "winner": one.winner.to_string().to_lowercase(),
                    "both_white": one.both[0], "both_black": one.both[1],
                    "white_wins": one.games[0], "draws": one.games[1], "black_wins": one.games[2],
                })
            })
            .collect();
        let found: Vec<Value> =
            self.found().iter().map(|group| json!({ "by": group.dimension.name(), "group": group.text })).collect();
        json!({
            "player": name,
            "pairs": self.pairs,
            "games": self.wdl.games(),
            "wdl": [self.wdl.wins, self.wdl.draws, self.wdl.losses],
            "ptnml": self.ptnml.0,
            "score": self.score,
            "score_error": self.score_error,
            "net": (self.wdl.wins as f64 - self.wdl.losses as f64) / 2.0,
            "decisive": self.decisive,
            "alpha": ALPHA,
            "correction": "holm",
            "tests": self.tests,
            "found": found,
            "groups": self.groups.iter().map(GroupResult::json).collect::<Vec<_>>(),
            "openings": {
                "distinct": openings.distinct,
                "white_ptnml": openings.white.0,
                "white_score": crate::stats::Counts::score(&openings.white),
                "both_white": white,
                "both_black": black,
                "expected_one_sided": openings.expected_one_sided,
                "lopsided": lopsided,
                "level_pairs": self.level,
                "bias": self.level.and_then(|level| sensor::bias(&self.opening_evidence(), level)),
            },
            "search": effort,
            "clock": clock,
            "duplicates": self.repeats.json(),
        })
    }

    /// CSV with one line per group below a heading and a line of all games. Undefined cells are
    /// empty.
    #[must_use]
    pub fn csv(&self) -> String {
        let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
        let Trinomial { wins, draws, losses } = self.wdl;
        let net = (wins as f64 - losses as f64) / 2.0;
        let mut text = format!(
            "{CSV_HEAD}\nall,all,{},{},{wins},{draws},{losses},{},{net},score,{},,,{},,\n",
            self.wdl.games(),
            self.pairs,
            self.score,
            self.score,
            number(self.score_error)
        );
        for group in &self.groups {
            let Trinomial { wins, draws, losses } = group.wdl;
            let found = group.contrast;
            let cells = [
                group.dimension.name().to_owned(),
                csv(&printable(&group.text)),
                group.wdl.games().to_string(),
                group.pairs.to_string(),
                wins.to_string(),
                draws.to_string(),
                losses.to_string(),
                number(group.score()),
                group.net().to_string(),
                group.dimension.measure().name().to_owned(),
                number(found.map(|found| found.inside)),
                number(found.map(|found| found.outside)),
                number(found.map(|found| found.inside - found.outside)),
                number(found.and_then(|found| found.error95)),
                number(found.and_then(|found| found.p)),
                number(group.p_holm),
            ];
            text += &cells.join(",");
            text.push('\n');
        }
        text
    }
}

fn group_table(dimension: Dimension, mut groups: Vec<&GroupResult>, top: usize) -> Table {
    let all = groups.len();
    if matches!(dimension, Dimension::Opening | Dimension::Eco) && all > top {
        // Shows groups that differ first, whatever their net.
        groups.sort_by(|a, b| {
            b.is_found().cmp(&a.is_found()).then(b.net().abs().total_cmp(&a.net().abs())).then(a.order.cmp(&b.order))
        });
        groups.truncate(top);
    }
    let mut note = if dimension == Dimension::Phase { PHASE_NOTE.to_owned() } else { String::new() };
    if groups.len() < all {
        note = format!("the {} with the largest net of {all}; --json and CSV have all", groups.len());
    }
    let head = match dimension.measure() {
        Measure::Score => vec!["", "games", "W-D-L", "score", "net", "difference", "p", "p (Holm)"],
        Measure::Decisive => vec!["", "games", "W-D-L", "score", "net", "of decisive", "difference", "p", "p (Holm)"],
    };
    Table { title: dimension.words().to_owned(), head, rows: groups.into_iter().map(GroupResult::row).collect(), note }
}

impl GroupResult {
    fn row(&self) -> Vec<String> {
        let dash = || "-".to_owned();
        let percent = |value: f64| format!("{} %", fixed(value * 100.0, 1));
        let Trinomial { wins, draws, losses } = self.wdl;
        let mut row = vec![
            printable(&self.text),
            self.wdl.games().to_string(),
            format!("{wins}-{draws}-{losses}"),
            self.score().map_or_else(dash, percent),
            signed(self.net(), 1),
        ];
        let found = self.contrast;
        if self.dimension.measure() == Measure::Decisive {
            row.push(found.map_or_else(dash, |found| percent(found.inside)));
        }
        row.push(found.map_or_else(dash, |found| {
            let difference = signed((found.inside - found.outside) * 100.0, 1);
            found.error95.map_or(difference.clone(), |error| format!("{difference} +/- {}", fixed(error * 100.0, 1)))
        }));
        row.push(found.and_then(|found| found.p).map_or_else(dash, p_text));
        let mark = if self.is_found() { " *" } else { "" };
        row.push(match self.p_holm {
            Some(p) => format!("{}{mark}", p_text(p)),
            None if self.is_mirror => "mirror".to_owned(),
            None => dash(),
        });
        row
    }

    /// Formats `length, up to 20: 30.0 % of decisive games won, 55.0 % elsewhere (p 0.002 after
    /// correction)`.
    fn sentence(&self) -> String {
        let Some(found) = self.contrast else { return String::new() };
        let what = match self.dimension.measure() {
            Measure::Score => "% of the points",
            Measure::Decisive => "% of decisive games won",
        };
        format!(
            "{}, {}: {} {what}, {} elsewhere (p {} after correction)",
            self.dimension.name(),
            printable(&self.text),
            fixed(found.inside * 100.0, 1),
            fixed(found.outside * 100.0, 1),
            p_text(self.p_holm.unwrap_or(1.0)),
        )
    }

    fn json(&self) -> Value {
        let found = self.contrast;
        json!({
            "by": self.dimension.name(),
            "group": self.text,
            "games": self.wdl.games(),
            "pairs": self.pairs,
            "wdl": [self.wdl.wins, self.wdl.draws, self.wdl.losses],
            "score": self.score(),
            "net": self.net(),
            "measure": self.dimension.measure().name(),
            "inside": found.map(|found| found.inside),
            "outside": found.map(|found| found.outside),
            "difference": found.map(|found| found.inside - found.outside),
            "error95": found.and_then(|found| found.error95),
            "p": found.and_then(|found| found.p),
            "p_holm": self.p_holm,
            "found": self.is_found(),
        })
    }
}

/// Formats `0.042`, `<0.001`.
fn p_text(p: f64) -> String {
    if p < 0.001 { "<0.001".to_owned() } else { fixed(p, 3) }
}

fn side_row(name: &str, sides: &SideMeans, decimals: usize, effect: f64) -> Vec<String> {
    let number = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| fixed(value, decimals));
    let (own, their) = sides.means();
    let ratio = sides.ratio(effect);
    vec![
        name.to_owned(),
        number(own),
        number(their),
        ratio.map_or_else(|| "-".to_owned(), |ratio| fixed(ratio.value, 3)),
        ratio
            .and_then(|ratio| ratio.ends)
            .map_or_else(|| "-".to_owned(), |(low, high)| format!("{} to {}", fixed(low, 3), fixed(high, 3))),
    ]
}

fn ratio_json(sides: &SideMeans, effect: f64) -> Value {
    let (own, their) = sides.means();
    let (value, low, high) = parts(sides.ratio(effect));
    json!({ "player": own, "opponents": their, "ratio": value, "ratio_lo": low, "ratio_hi": high })
}

fn difference_json(sides: &SideMeans, effect: f64) -> Value {
    let (own, their) = sides.means();
    let (value, low, high) = parts(sides.difference(effect));
    json!({ "player": own, "opponents": their, "difference": value, "difference_lo": low, "difference_hi": high })
}

fn parts(interval: Option<Interval>) -> (Option<f64>, Option<f64>, Option<f64>) {
    let ends = interval.and_then(|interval| interval.ends);
    (interval.map(|interval| interval.value), ends.map(|(low, _)| low), ends.map(|(_, high)| high))
}

impl Duplicates {
    fn lines(&self) -> Vec<String> {
        let repeated = self.games - self.distinct;
        let mut lines = vec![if repeated == 0 {
            format!("no game was played twice ({} games)", self.games)
        } else {
            format!(
                "{repeated} of {} games repeat an earlier one move by move ({} different, one {} times): {} pairs are worth {}",
                self.games,
                self.distinct,
                self.most,
                self.pairs,
                fixed(self.effective_games, 1)
            )
        }];
        if self.transposed > 0 {
            lines.push(format!(
                "{} different games ended in a position of more than seven men, with a result, that another had: without them {} pairs",
                self.transposed,
                fixed(self.effective_finals, 1)
            ));
        }
        lines.push(match self.correlation {
            Some(correlation) => format!(
                "pairs of one opening: correlation {}, design effect {} (it allows for few openings)",
                fixed(correlation, 3),
                fixed(self.design_effect, 3)
            ),
            None => "pairs of one opening: nothing to learn their correlation from".to_owned(),
        });
        lines.push(format!(
            "effective sample: {} pairs of {}; intervals here are {} times as wide as those of independent pairs",
            fixed(self.effective, 1),
            self.pairs,
            fixed(self.widening(), 3)
        ));
        lines
    }

    fn json(&self) -> Value {
        json!({
            "games": self.games,
            "distinct_games": self.distinct,
            "most_repeated": self.most,
            "transposed_games": self.transposed,
            "pairs": self.pairs,
            "effective_pairs_by_moves": self.effective_games,
            "effective_pairs_by_final_positions": self.effective_finals,
            "opening_correlation": self.correlation,
            "opening_design_effect": self.correlation.map(|_| self.design_effect),
            "effective_pairs": self.effective,
            "interval_factor": self.widening(),
        })
    }
}
