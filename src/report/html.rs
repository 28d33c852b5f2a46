//! Page `report.html` of a run: one self-contained file with verdict, plots, tables, and a board
//! that replays games.
//!
//! Names from engines and users are escaped as text. The page's content security policy names the
//! hash of its own script, so a browser runs no other.

mod story;
pub(crate) mod tuning;

use std::fmt::Write as _;

use serde_json::json;
use sha2::{Digest as _, Sha256};

pub use story::Story;

use crate::chess::Position;
use crate::openings::order::Order;
use crate::plan::{BookSource, Machine, Plan, Player, file};
use crate::record::{Color, GameRecord, Score};
use crate::report::figures::{self, duration};
use crate::report::pgn_file::FILE_NAME as PGN;
use crate::report::plot::{
    CrossCell, CrossPlot, EloPlot, Heads, HistogramPlot, HistogramSeries, LlrPlot, PtnmlPlot, RatingPlot, RatingRow,
    TimePlot, TimeSeries,
};
use crate::report::races;
use crate::report::standings::{self, StandingsRow, fault_words};
use crate::report::tune;
use crate::report::workers::{self, WorkerRow};
use crate::stats::elo::fixed;
use crate::stats::sprt::Verdict;
use crate::text::{base64, count, escaped};

/// Script that replays games.
const REPLAY: &str = concat!(include_str!("html/pieces.js"), include_str!("html/board.js"));
/// Colours of all pages by name, for light and for dark.
pub const TOKENS: &str = include_str!("html/tokens.css");
/// Style sheet of the pages.
const STYLE: &str = concat!(include_str!("html/tokens.css"), include_str!("html/page.css"));
/// Characters kept of the end of a transcript or of an engine's standard error.
const TAIL: usize = 6_000;

/// A game lost by an engine's fault, from `crashes/`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Crash {
    /// Number of the game.
    pub game: u64,
    /// Text of `about.txt`.
    pub about: String,
    /// Text of `transcript.txt`, the UCI traffic.
    pub transcript: String,
    /// Text of `stderr.txt`, the engine's standard error.
    pub stderr: String,
}

/// Page of a run. `headline` is its result, if the caller knows more than the games show.
#[must_use]
pub fn page(story: &Story, headline: Option<&str>, crashes: &[Crash]) -> String {
    page_with(story, headline, crashes, "")
}

/// Page of a run with a section, as HTML, after its verdict.
#[must_use]
pub(crate) fn page_with(story: &Story, headline: Option<&str>, crashes: &[Crash], section: &str) -> String {
    let plan = &*story.plan;
    let title = title(plan);
    let mut out = String::with_capacity(512 * 1024);
    verdict(&mut out, story, headline);
    race(&mut out, story);
    out.push_str(section);
    if let Some(progress) = story.scoreboard.tuning() {
        tuning::section(&mut out, progress.course(), &progress.rule().dead, &caption(story));
    }
    pictures(&mut out, story);
    tables(&mut out, story);
    workers(&mut out, story);
    replay(&mut out, story);
    faults(&mut out, crashes);
    settings(&mut out, plan);
    document(&title, &out, REPLAY)
}

/// Self-contained document with a heading above its body, and one script that may run.
#[must_use]
pub fn document(title: &str, body: &str, script: &str) -> String {
    let hash = base64(&Sha256::digest(script.as_bytes()));
    let title = escaped(title);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         script-src 'sha256-{hash}'; base-uri 'none'; form-action 'none'\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n{body}<script>{script}</script>\n</body>\n</html>\n"
    )
}

/// Name of the plot of the LLR in a run directory.
pub const LLR: &str = "llr.svg";

/// Plot of the LLR between its bounds over the counted pairs, if the run is a test.
#[must_use]
pub fn llr_svg(story: &Story, headline: &str) -> Option<String> {
    let trial = story.scoreboard.estimates().trial()?;
    let plot = LlrPlot {
        title: title(&story.plan),
        subtitle: headline.to_owned(),
        caption: caption(story),
        points: story.scoreboard.llr_path().to_vec(),
        lower: trial.lower,
        upper: trial.upper,
    };
    Some(plot.to_svg())
}

/// Plots that a run directory keeps beside the page, with the names of their files.
#[must_use]
pub fn kept_svgs(story: &Story, headline: &str) -> Vec<(&'static str, String)> {
    let llr = llr_svg(story, headline).map(|svg| (LLR, svg));
    let tuned = story
        .scoreboard
        .tuning()
        .map(|progress| tuning::plots(progress.course(), &progress.rule().dead, &caption(story)));
    llr.into_iter().chain(tuned.into_iter().flatten()).collect()
}

/// Caption for plots of this run: time control, book, pairs, machine and date.
#[must_use]
pub fn caption(story: &Story) -> String {
    let plan = &*story.plan;
    let date = story.started.map_or_else(String::new, |time| format!(", {}", day(time)));
    let test = plan
        .test
        .map_or_else(String::new, |test| format!(", [{}, {}] {}", test.bounds.elo0, test.bounds.elo1, test.model));
    let described = |Machine { cpu, cores, os }: &Machine| format!(", {cpu} ({}, {os})", count(*cores as u64, "core"));
    let machine = plan.playing_machine().map(described).unwrap_or_default();
    format!(
        "{}, {} ({}){test}, {}, {}{machine}{date}, quintain {}",
        figures::limits(plan),
        book_name(plan),
        count(plan.book.openings, "opening"),
        count(story.scoreboard.pairs(), "pair"),
        figures::games_at_once(plan),
        env!("CARGO_PKG_VERSION"),
    )
}

fn title(plan: &Plan) -> String {
    plan.noted(
        &tune::title(plan)
            .or_else(|| plan.duel())
            .unwrap_or_else(|| format!("{}: {} of {} players", plan.name, plan.format.name(), plan.players.len())),
    )
}

fn book_name(plan: &Plan) -> String {
    match &plan.book.source {
        BookSource::Builtin => "builtin book".to_owned(),
        BookSource::File(path) => {
            path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
        }
    }
}

/// UTC day of a time since the epoch.
fn day(time: std::time::Duration) -> String {
    let seconds = i64::try_from(time.as_secs()).ok();
    let date = seconds.and_then(|seconds| chrono::DateTime::from_timestamp(seconds, 0));
    date.map_or_else(|| "?".to_owned(), |date| date.format("%Y-%m-%d UTC").to_string())
}

/// Appends a line.
pub(crate) fn put(out: &mut String, text: &str) {
    out.push_str(text);
    out.push('\n');
}

/// Writes a table, whose cells are escaped here. Columns with a leading `#` hold numbers.
pub fn table(out: &mut String, columns: &[&str], rows: &[Vec<String>]) {
    let class = |column: &&str| if column.starts_with('#') { " class=\"n\"" } else { "" };
    out.push_str("<div class=\"wide\"><table><thead><tr>");
    for column in columns {
        let _ = write!(out, "<th{}>{}</th>", class(column), escaped(column.trim_start_matches('#')));
    }
    out.push_str("</tr></thead><tbody>\n");
    for row in rows {
        out.push_str("<tr>");
        for (cell, column) in row.iter().zip(columns) {
            let _ = write!(out, "<td{}>{}</td>", class(column), escaped(cell));
        }
        out.push_str("</tr>\n");
    }
    put(out, "</tbody></table></div>");
}

/// Writes rows of a name and a value, without empty values.
pub(crate) fn facts(out: &mut String, rows: Vec<(&str, String)>) {
    put(out, "<div class=\"wide\"><table><tbody>");
    for (name, value) in rows.into_iter().filter(|(_, value)| !value.is_empty()) {
        put(out, &format!("<tr><th>{}</th><td>{}</td></tr>", escaped(name), escaped(&value)));
    }
    put(out, "</tbody></table></div>");
}

fn verdict(out: &mut String, story: &Story, headline: Option<&str>) {
    let scoreboard = &story.scoreboard;
    let (class, words) = match scoreboard.verdict() {
        Verdict::AcceptH1 => ("h1", "H1 accepted"),
        Verdict::AcceptH0 => ("h0", "H0 accepted"),
        Verdict::Continue if story.plan.test.is_some() => ("", "no verdict yet"),
        Verdict::Continue => ("", "games played"),
    };
    put(out, &format!("<p class=\"verdict {class}\">{}</p>", escaped(headline.unwrap_or(words))));
    let estimates = match &story.reason {
        Some(reason) => scoreboard.final_estimates(reason),
        None => scoreboard.estimates(),
    };
    let mut rows = Vec::new();
    if let (Some(trial), Some(test)) = (estimates.trial(), story.plan.test) {
        rows.push(("Test", format!("{} of [{}, {}] {}", trial.line(), test.bounds.elo0, test.bounds.elo1, test.model)));
    }
    // The two sides of a tuning are one engine, so only its validation has a strength.
    if story.plan.players.len() == 2 && scoreboard.tuning().is_none() {
        rows.push(("Strength", estimates.elo_line()));
        rows.extend(estimates.after_stop_line().map(|line| ("After the stop", line)));
        rows.push(("At any time", format!("{}, 95 % for all moments together", estimates.anytime_interval())));
        rows.push(("Pairs by points", figures::ptnml(&scoreboard.ptnml())));
        rows.push(("Games by result", figures::wdl(&scoreboard.wdl())));
        let level = figures::level_pairs(scoreboard)
            .and_then(|level| figures::level_line(&scoreboard.opening_evidence(), level));
        rows.extend(level.and_then(|line| Some(("Level pairs", line.split_once(": ")?.1.to_owned()))));
    }
    let [pairs, games] = [(scoreboard.pairs(), "pair"), (scoreboard.games(), "game")].map(|(many, of)| count(many, of));
    let counted = format!("{pairs}, {games}");
    let waiting = scoreboard.waiting_games();
    rows.push((
        "Counted",
        if waiting > 0 { format!("{counted}; not counted: {}", count(waiting, "finished game")) } else { counted },
    ));
    let ends: Vec<_> = scoreboard.terminations().iter().map(|(why, games)| format!("{} {games}", why.name())).collect();
    rows.push(("Endings", ends.join(", ")));
    if let Some(stamp) = scoreboard.time_losses().stamp() {
        rows.push(("Time", stamp));
    }
    if let Some(stamp) = scoreboard.limit_use().stamp(&story.plan) {
        rows.push(("Limits", stamp));
    }
    if scoreboard.voided() > 0 {
        rows.push(("Void", format!("{} a pair was played again", count(scoreboard.voided(), "time"))));
    }
    rows.extend(figures::repeats(scoreboard.repeated()).map(|text| ("Repeated", text)));
    if let (Some(start), Some(end)) = (story.started, story.ended) {
        rows.push(("Played", format!("{}, {} from first to last", day(start), duration(end.saturating_sub(start)))));
    }
    facts(out, rows);
}

/// Candidates of a race with what was shown of each.
fn race(out: &mut String, story: &Story) {
    let Some(race) = races::table(&story.plan, &story.scoreboard) else { return };
    put(out, &format!("<h2>Race</h2>\n<p class=\"soft\">{}</p>", escaped(&race.title)));
    table(out, &["candidate", "#pairs", "#Elo", "verdict"], &race.rows.into_iter().map(Vec::from).collect::<Vec<_>>());
}

fn pictures(out: &mut String, story: &Story) {
    put(out, "<h2>Pictures</h2>\n<div class=\"plots\">");
    for svg in plots(story) {
        out.push_str(&svg);
    }
    put(out, "</div>");
}

/// Plots of a run, the most important first.
fn plots(story: &Story) -> Vec<String> {
    let (plan, scoreboard) = (&*story.plan, &story.scoreboard);
    let caption = caption(story);
    let estimates = scoreboard.estimates();
    let heads = |title: &str, subtitle: String| Heads { title: title.to_owned(), subtitle, caption: caption.clone() };
    let mut plots = Vec::new();
    if let Some(trial) = estimates.trial() {
        plots.extend(llr_svg(story, &trial.line()));
    }
    if scoreboard.tuning().is_some() {
        // The section of the tuning has its plots.
    } else if plan.players.len() == 2 {
        let plot = EloPlot {
            title: "Elo over pairs".to_owned(),
            subtitle: estimates.elo_line(),
            caption: caption.clone(),
            unit: "Elo",
            points: story.elo_points(),
        };
        plots.push(plot.to_svg());
        plots.push(
            PtnmlPlot { heads: heads("Pairs by points", estimates.elo_short()), counts: scoreboard.ptnml().0 }.to_svg(),
        );
    } else {
        let rows = rows(story);
        plots.push(ratings(&rows, heads("Ratings", format!("{} games", scoreboard.games()))).to_svg());
        plots.push(cross(story, &rows, heads("Who met whom", "points in percent".to_owned())).to_svg());
    }
    if story.has_searches {
        plots.extend(search_plots(story, heads));
    }
    plots
}

/// Plots of times and scores by side.
fn search_plots(story: &Story, heads: impl Fn(&str, String) -> Heads) -> [String; 2] {
    let names = match story.plan.players.as_slice() {
        [new, base] => [new.name.clone(), base.name.clone()],
        _ => ["White".to_owned(), "Black".to_owned()],
    };
    let sides = || names.iter().zip(&story.sides);
    let times = sides().map(|(name, side)| TimeSeries { name: name.clone(), moves: side.time_use() }).collect();
    let times = TimePlot { heads: heads("Time by move", "of all games".to_owned()), series: times };
    let series =
        sides().map(|(name, side)| HistogramSeries { name: name.clone(), counts: side.scores.clone() }).collect();
    let scores = HistogramPlot {
        heads: heads("Scores that the engines gave", "all moves out of the book; mates lie beyond".to_owned()),
        x_label: "score (pawns, the mover's view)".to_owned(),
        of: "moves".to_owned(),
        low: story::SCORE_LOW,
        width: story::SCORE_WIDTH,
        series,
    };
    [times.to_svg(), scores.to_svg()]
}

fn rows(story: &Story) -> Vec<StandingsRow> {
    standings::rows(&story.plan, &story.scoreboard)
}

fn ratings(rows: &[StandingsRow], heads: Heads) -> RatingPlot {
    let rated = rows.iter().filter_map(|row| {
        let rating = row.rating.as_ref().filter(|rating| rating.group == 0)?;
        let text = row.elo_text();
        let sign = ["> ", "< "].into_iter().find(|sign| text.starts_with(sign)).unwrap_or("");
        Some(RatingRow {
            rank: row.rank,
            name: row.name.clone(),
            elo: rating.elo,
            error: row.error(),
            sign,
            games: row.wdl.games(),
        })
    });
    RatingPlot {
        heads,
        scale: "Elo, zero is the mean of all players (95 % intervals)".to_owned(),
        rows: rated.collect(),
    }
}

fn cross(story: &Story, rows: &[StandingsRow], heads: Heads) -> CrossPlot {
    let cell = |row: &StandingsRow, column: &StandingsRow| {
        let wdl = story.scoreboard.score(row.player, column.player).wdl;
        let met = row.player != column.player && wdl.games() > 0;
        met.then(|| CrossCell { points: wdl.points(), games: wdl.games() })
    };
    let cells = rows.iter().map(|row| rows.iter().map(|column| cell(row, column)).collect()).collect();
    CrossPlot { heads, names: rows.iter().map(|row| row.name.clone()).collect(), cells }
}

fn tables(out: &mut String, story: &Story) {
    let rows = rows(story);
    put(out, "<h2>Standings</h2>");
    if story.scoreboard.tuning().is_some() {
        let line = |row: &StandingsRow| vec![row.name.clone(), row.wdl.games().to_string(), fault_words(&row.faults)];
        table(out, &["side", "#games", "faults"], &rows.iter().map(line).collect::<Vec<_>>());
        return;
    }
    let number = |value: Option<f64>, text: fn(f64) -> String| value.map_or_else(|| "-".to_owned(), text);
    let lines: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            vec![
                row.rank.to_string(),
                row.name.clone(),
                row.elo_text(),
                number(row.error(), |error| fixed(error, 1)),
                row.wdl.games().to_string(),
                row.points_text(),
                number(row.score(), |score| format!("{} %", fixed(score * 100.0, 1))),
                format!("{}-{}-{}", row.wdl.wins, row.wdl.draws, row.wdl.losses),
                fault_words(&row.faults),
            ]
        })
        .collect();
    table(out, &["#rank", "player", "#Elo", "#±", "#games", "#points", "#score", "#W-D-L", "faults"], &lines);
    if rows.len() > 2 {
        put(out, "<h2>Cross table</h2>");
        let places: Vec<String> = (1..=rows.len()).map(|place| format!("#{place}")).collect();
        let columns: Vec<&str> = ["#", "player"].into_iter().chain(places.iter().map(String::as_str)).collect();
        let lines: Vec<Vec<String>> =
            rows.iter().enumerate().map(|(place, row)| crossed(story, &rows, place, row)).collect();
        table(out, &columns, &lines);
    }
}

/// Table of the workers in other processes, if there were any.
fn workers(out: &mut String, story: &Story) {
    let rows = workers::rows(&story.scoreboard, &[]);
    // Machines and states are known of a live run only.
    let known: Vec<usize> =
        (0..workers::HEADS.len()).filter(|column| rows.iter().any(|row| row.cells()[*column] != "-")).collect();
    if rows.is_empty() {
        return;
    }
    put(out, "<h2>Workers</h2>");
    let heads: Vec<&str> = known.iter().map(|column| workers::HEADS[*column]).collect();
    let cells = |row: &WorkerRow| known.iter().map(|column| row.cells()[*column].clone()).collect();
    table(out, &heads, &rows.iter().map(cells).collect::<Vec<_>>());
    put(
        out,
        "<p class=\"soft\">score z: the pairs of a worker against those of the others, in standard errors. It is shown and decides \
         nothing; of twenty workers one is beyond 2 by chance.</p>",
    );
}

/// Row of the cross table: points out of games.
fn crossed(story: &Story, rows: &[StandingsRow], place: usize, row: &StandingsRow) -> Vec<String> {
    let cell = |other: &StandingsRow| {
        let wdl = story.scoreboard.score(row.player, other.player).wdl;
        match wdl.games() {
            0 => String::new(),
            games => format!("{}/{games}", fixed(wdl.points(), 1)),
        }
    };
    let cells = rows.iter().map(|other| if other.player == row.player { "—".to_owned() } else { cell(other) });
    [(place + 1).to_string(), row.name.clone()].into_iter().chain(cells).collect()
}

fn replay(out: &mut String, story: &Story) {
    let kept = story.kept();
    put(out, "<h2 class=\"noprint\">Games</h2>");
    let text = match kept.len() as u64 {
        0 => "No game is finished yet.".to_owned(),
        many if many == story.games => format!("All {}.", count(many, "game")),
        many => format!(
            "{many} of {} games: the last ones, and {} before them that ended by an engine's fault.{}",
            story.games,
            match (story.kept_faults(), story.earlier_faults) {
                (kept, all) if kept == all => "those".to_owned(),
                (kept, all) => format!("the first {kept} of the {all}"),
            },
            if story.has_pgn { format!(" {PGN} beside this page has all that count.") } else { String::new() },
        ),
    };
    put(out, &format!("<p class=\"soft noprint\">{}</p>", escaped(&text)));
    put(out, if kept.is_empty() { "" } else { BOARD_HTML });
    let names: Vec<&str> = story.plan.players.iter().map(|player| player.name.as_str()).collect();
    let games: Vec<_> = kept.into_iter().map(|game| told(&story.plan, game)).collect();
    let text = json!({ "players": names, "games": games }).to_string();
    put(out, &format!("<script type=\"application/json\" id=\"games\">{}</script>", inert(&text)));
}

const BOARD_HTML: &str = r#"<div class="controls"><label>Game <select id="game"></select></label></div>
<div id="replay" tabindex="0"><div><svg id="board" class="board" viewBox="0 0 360 360" role="img" aria-label="chess board"></svg>
<div class="controls"><button type="button" id="first" title="start">«</button><button type="button" id="back" title="one ply back">‹</button>
<button type="button" id="forward" title="one ply on">›</button><button type="button" id="last" title="end">»</button>
<button type="button" id="flip">turn</button><span id="ply" class="soft"></span></div></div>
<div><p id="players"></p><p id="ending"></p><p id="said" class="soft"></p><div id="moves"></div></div></div>"#;

/// JSON in which no character can end its HTML element or begin another.
pub(crate) fn inert(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '<' => out.push_str("\\u003c"),
            '>' => out.push_str("\\u003e"),
            '&' => out.push_str("\\u0026"),
            '\u{2028}' => out.push_str("\\u2028"),
            '\u{2029}' => out.push_str("\\u2029"),
            _ => out.push(c),
        }
    }
    out
}

/// A game for the board. `u` are its moves in UCI notation, `s` in SAN, `k` is the number of book
/// moves, `e` the final position's pieces. For each played move, `v` is the score from White's
/// view, `d` the depth, `c` the time charged in ms; `c` is null if the times were not stored.
fn told(plan: &Plan, game: &GameRecord) -> serde_json::Value {
    let (first, _) = story::start_of(&game.opening.fen);
    let mut position = Position::from_fen(&game.opening.fen, plan.rules.variant).ok();
    let (mut uci, mut san) = (Vec::new(), Vec::new());
    for text in game.opening.moves.iter().chain(game.moves.iter().map(|ply| &ply.uci)) {
        let Some(Ok(word)) = position.as_mut().map(|position| position.play_to_san(text)) else { break };
        uci.push(text.as_str());
        san.push(word);
    }
    let book = game.opening.moves.len();
    let white = |place: usize| (first == Color::White) == (book + place).is_multiple_of(2);
    let scores: Vec<Option<String>> = game
        .moves
        .iter()
        .enumerate()
        .map(|(place, ply)| {
            let sign = if white(place) { 1 } else { -1 };
            ply.info.score.map(|score| match score {
                Score::Cp(cp) => figures::signed(f64::from(sign) * f64::from(cp) / 100.0, 2),
                Score::Mate(moves) => format!("#{}", i64::from(sign) * i64::from(moves)),
            })
        })
        .collect();
    let end = position.map(|position| position.fen());
    let has_times = game.moves.iter().any(|ply| !ply.elapsed.is_zero());
    let times = || game.moves.iter().map(|ply| (ply.elapsed.as_secs_f64() * 1e3).round()).collect::<Vec<_>>();
    json!({
        "n": game.id.number(),
        "w": game.players.white.0,
        "b": game.players.black.0,
        "r": if game.is_void { "*" } else { game.ending.outcome.token() },
        "t": game.ending.termination.name(),
        "x": game.ending.detail,
        "f": game.opening.fen,
        "u": uci.join(" "),
        "s": san.join(" "),
        "k": book.min(uci.len()),
        "e": end.as_deref().and_then(|fen| fen.split(' ').next()),
        "v": scores,
        "d": game.moves.iter().map(|ply| ply.info.depth).collect::<Vec<_>>(),
        "c": has_times.then(times),
    })
}

fn faults(out: &mut String, crashes: &[Crash]) {
    put(out, "<h2>Crashes, stalls, illegal moves and losses on time</h2>");
    if crashes.is_empty() {
        put(out, "<p>None.</p>");
    }
    for crash in crashes {
        put(out, &format!("<details><summary>Game {}</summary>", crash.game));
        for (name, text) in
            [("About", &crash.about), ("End of the conversation", &crash.transcript), ("Standard error", &crash.stderr)]
        {
            if !text.trim().is_empty() {
                put(out, &format!("<p class=\"soft\">{name}</p><pre>{}</pre>", pre(tail(text))));
            }
        }
        put(out, "</details>");
    }
}

/// Last characters of a text.
fn tail(text: &str) -> &str {
    let skipped = text.chars().count().saturating_sub(TAIL);
    text.char_indices().nth(skipped).map_or("", |(at, _)| &text[at..])
}

/// Lines of a text, each escaped.
fn pre(text: &str) -> String {
    text.lines().map(escaped).collect::<Vec<_>>().join("\n")
}

fn settings(out: &mut String, plan: &Plan) {
    put(out, "<h2>Settings</h2>");
    for player in &plan.players {
        facts(out, player_facts(player));
        put(out, "<p></p>");
    }
    let order = match plan.book.order {
        Order::Sequential => "in its order".to_owned(),
        Order::Random { seed } => format!("shuffled by seed {seed}"),
    };
    facts(
        out,
        vec![
            ("Name", plan.noted(&plan.name)),
            ("Format", plan.test.map_or(plan.format.name(), |_| "SPRT").to_owned()),
            (
                "Book",
                format!(
                    "{}, {}, {order}, SHA-256 {}",
                    book_name(plan),
                    count(plan.book.openings, "opening"),
                    plan.book.sha256
                ),
            ),
            ("Concurrency", figures::games_at_once(plan)),
            ("Margin", format!("{} ms", plan.rules.margin.as_millis())),
            ("Draw rule", plan.rules.draw.map_or_else(|| "none".to_owned(), |rule| rule.to_string())),
            ("Resign rule", plan.rules.resign.map_or_else(|| "none".to_owned(), |rule| rule.to_string())),
            (
                if plan.is_at_hub() { "Coordinator" } else { "Machine" },
                format!("{}, {}, {}", plan.machine.cpu, count(plan.machine.cores as u64, "core"), plan.machine.os),
            ),
            ("Program", format!("quintain {}", env!("CARGO_PKG_VERSION"))),
        ],
    );
    put(out, &format!("<details><summary>plan.toml</summary><pre>{}</pre></details>", pre(&file::to_toml(plan))));
}

fn player_facts(player: &Player) -> Vec<(&'static str, String)> {
    let origin = &player.origin;
    let options: Vec<String> = player.options.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let dirty = if origin.dirty { " with uncommitted changes" } else { "" };
    vec![
        ("Player", player.name.clone()),
        ("Given as", origin.spec.clone()),
        ("Commit", origin.commit.as_ref().map_or_else(String::new, |commit| format!("{commit}{dirty}"))),
        ("Built by", origin.recipe.clone().unwrap_or_default()),
        ("Compiler", origin.toolchain.clone().unwrap_or_default()),
        ("SHA-256", origin.sha256.clone()),
        ("Bench", origin.bench_nodes.map_or_else(String::new, |nodes| format!("{nodes} nodes"))),
        (
            "Network",
            origin.network.as_ref().map_or_else(String::new, |net| format!("{}, SHA-256 {}", net.file, net.sha256)),
        ),
        ("Limit", player.limit.to_string()),
        ("Said before its first game", player.complaints.join("; ")),
        ("Options", options.join(", ")),
    ]
}

#[cfg(test)]
mod tests;
