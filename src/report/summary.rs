//! Summary of a run for people and for scripts. Its plots are part of `html`.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use serde_json::json;

use crate::plan::file::{TUNING_FOLDERS, TUNING_SETTINGS};
use crate::plan::{BookSource, Network, Plan, Player, Test, option_words};
use crate::record::{PlayerId, PvFault};
use crate::report::figures::{self, duration};
use crate::report::races;
use crate::report::{standings, state, tune, workers};
use crate::stats::Counts as _;
use crate::stats::estimates::Estimates;
use crate::stats::sensor;
use crate::stats::sprt::{Bounds, Verdict};
use crate::text::{count, shell_path};
use crate::tournament::events::{Finish, RunTime, StopReason};
use crate::tournament::limit_use::PlayerUse;
use crate::tournament::pairing::Pairing;
use crate::tournament::scoreboard::{Faults, Scoreboard};
use crate::tournament::tuning::TuningProgress;

/// Characters of a player's options on its line.
const MOST_OPTIONS: usize = 60;

/// Summary of a finished or stopped run, as text and JSON.
pub struct Summary {
    text: String,
    json: serde_json::Value,
}

/// Network that the user gave a player.
#[derive(Debug, Serialize)]
struct NetworkJson<'a> {
    file: &'a str,
    sha256: &'a str,
}

impl<'a> NetworkJson<'a> {
    fn of(network: &'a Network) -> Self {
        Self { file: &network.file, sha256: &network.sha256 }
    }
}

#[derive(Serialize)]
struct PlayerJson<'a> {
    name: &'a str,
    /// The name with the options that tell it from players of the same program.
    label: String,
    spec: &'a str,
    commit: Option<&'a str>,
    tree: Option<&'a str>,
    dirty: bool,
    sha256: &'a str,
    bench_nodes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    network: Option<NetworkJson<'a>>,
    /// UCI options in sending order, as in `plan.toml`.
    options: &'a [(String, String)],
    limit: String,
    rank: usize,
    /// Elo on one scale whose zero is the mean of all players.
    rating: Option<f64>,
    /// Half the width of its 95 % interval.
    rating_error: Option<f64>,
    games: u64,
    wins: u64,
    draws: u64,
    losses: u64,
    time_losses: u64,
    illegal_moves: u64,
    crashes: u64,
    stalls: u64,
    /// Failures that its engine reported before the first game.
    complaints: &'a [String],
    /// Moves with a wrong PV, by kind; only kinds that occurred.
    pv_faults: serde_json::Map<String, serde_json::Value>,
}

impl Summary {
    /// Creates the summary of the run in `root`.
    #[must_use]
    pub fn new(plan: &Plan, finish: &Finish, root: &Path) -> Self {
        Self::by(plan, finish, root, &finish.scoreboard.final_estimates(&finish.reason), false)
    }

    /// Creates the summary of a run that goes on. Without a verdict it has no estimate after the
    /// stop, which would be biased, and its text has no reason of a stop, no duration and no
    /// command that continues it.
    #[must_use]
    pub fn live(plan: &Plan, finish: &Finish, root: &Path) -> Self {
        let goes_on = finish.scoreboard.verdict() == Verdict::Continue;
        Self::by(plan, finish, root, &finish.scoreboard.estimates(), goes_on)
    }

    fn by(plan: &Plan, finish: &Finish, root: &Path, estimates: &Estimates, goes_on: bool) -> Self {
        let mut lines = results(plan, finish, estimates);
        if goes_on {
            lines.insert(0, "still being played: what counts so far".to_owned());
        } else {
            lines.insert(0, headline(plan, finish));
            lines.extend(end(plan, finish, root));
        }
        lines.push(String::new());
        Self { text: lines.join("\n"), json: json(plan, finish, estimates) }
    }

    /// Text of several lines.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// JSON document.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(&self.json).unwrap_or_default();
        text.push('\n');
        text
    }

    /// JSON document as a value.
    #[must_use]
    pub const fn json(&self) -> &serde_json::Value {
        &self.json
    }

    /// Result of the run on one line.
    #[must_use]
    pub fn headline(&self) -> &str {
        self.text.lines().next().unwrap_or_default()
    }
}

/// Result of the run, with remarks on what may have distorted it.
fn headline(plan: &Plan, finish: &Finish) -> String {
    let mut parts = vec![result(plan, finish)];
    if !matches!(finish.reason, StopReason::TooManyTimeLosses { .. }) {
        parts.extend(finish.scoreboard.time_losses().stamp());
    }
    parts.extend(finish.scoreboard.limit_use().stamp(plan));
    parts.join("; ")
}

/// `H1 accepted: ...`, or the reason of the stop.
fn result(plan: &Plan, finish: &Finish) -> String {
    if let Some(test) = &plan.test
        && finish.scoreboard.verdict() != Verdict::Continue
    {
        return verdict(plan, test, finish.scoreboard.verdict());
    }
    let open = if plan.test.is_some() { "inconclusive: " } else { "" };
    match &finish.reason {
        StopReason::OutOfPairs | StopReason::Verdict if plan.test.is_none() => outcome(plan, finish),
        StopReason::OutOfPairs | StopReason::Verdict => format!("{open}out of pairs"),
        StopReason::OutOfOpenings => format!("{open}{}", out_of_openings(plan)),
        StopReason::Narrow => {
            format!("{open}Elo is known within +-{}, as --until-width asks", plan.until_width.unwrap_or_default())
        }
        StopReason::Flat => "the result hardly moves, or is shown not to gain, as --until-flat asks".to_owned(),
        StopReason::OutOfTime => format!("{open}out of time"),
        StopReason::Interrupted => "interrupted".to_owned(),
        StopReason::TooManyFailures { failures } => {
            format!(
                "aborted: {failures} engine failures, more than the {} that --max-failures allows",
                plan.max_failures
            )
        }
        StopReason::TooManyTimeLosses { losses } => {
            let limit = plan.max_time_losses;
            format!("aborted: more games lost on time than --max-time-losses {limit}% allows: {}", losses.alarm(plan))
        }
        StopReason::Broken { why } => format!("aborted: {why}"),
    }
}

/// Reason and remedy for a run that used all openings of its book.
fn out_of_openings(plan: &Plan) -> String {
    let (openings, games) = (plan.book.fresh(), if plan.opening_per_game { "game" } else { "pair" });
    let why = if plan.is_timed() {
        "a race plays each of them once"
    } else {
        "at fixed nodes or depth each of them gives the same game every time"
    };
    format!(
        "out of openings: a {games} was played from each of the {openings} that the book has, and {why}; take a larger --book \
         (`quintain book make` makes one)"
    )
}

fn verdict(plan: &Plan, test: &Test, verdict: Verdict) -> String {
    let [new, base] = [0, 1].map(|place| plan.players[place].name.as_str());
    let Bounds { elo0, elo1 } = test.bounds;
    let unit = test.model.unit();
    // A verdict excludes the other hypothesis. That is a claim of strength only on its side of 0.
    match verdict {
        Verdict::AcceptH1 if elo0 >= 0.0 => {
            format!("H1 accepted: {new} is stronger than {base} ({elo1} {unit} rather than {elo0})")
        }
        Verdict::AcceptH1 => {
            format!("H1 accepted: {new} loses less than {} {unit} to {base} ({elo1} rather than {elo0})", -elo0)
        }
        _ if elo1 <= 0.0 => {
            format!("H0 accepted: {new} is not stronger than {base} ({elo0} {unit} rather than {elo1})")
        }
        _ => format!("H0 accepted: {new} gains less than {elo1} {unit} on {base} ({elo0} rather than {elo1})"),
    }
}

/// Result of a run whose games were all played.
fn outcome(plan: &Plan, finish: &Finish) -> String {
    let players = u16::try_from(plan.players.len()).unwrap_or(u16::MAX);
    let winner = plan.format.winner(players, plan.max_pairs, finish.scoreboard.results());
    if let Some(winner) = winner.and_then(|winner| plan.players.get(usize::from(winner.0))) {
        return format!("{} wins the {}", winner.name, plan.format.name());
    }
    if let Some(outcome) = races::outcome(plan, &finish.scoreboard) {
        return outcome;
    }
    "all pairs are played".to_owned()
}

/// Lines between the headline and those of [`end`].
fn results(plan: &Plan, finish: &Finish, estimates: &Estimates) -> Vec<String> {
    let scoreboard = &finish.scoreboard;
    let mut lines = Vec::new();
    let kind = if plan.note.is_some() { "note" } else { "change" };
    lines.extend(plan.title().map(|title| format!("{kind}: {title}")));
    if let (Some(test), Some(trial)) = (&plan.test, &estimates.trial()) {
        lines.push(format!("{} [{}, {}] {}", trial.line(), test.bounds.elo0, test.bounds.elo1, test.model));
    }
    if let Some(progress) = scoreboard.tuning() {
        lines.extend(tune::lines(progress));
        lines.extend(tune::noise_line(progress.course()));
        lines.extend(tune::cut_lines(progress.course()));
        lines.extend(tune::table(progress.course(), &progress.rule().dead, None));
        lines.extend(tune::left_out_line(progress.course(), &progress.rule().dead));
        lines.extend(duel_players(plan, scoreboard));
    } else if plan.players.len() == 2 && plan.format.parameters().race.is_none() {
        lines.push(estimates.elo_line());
        lines.extend(estimates.after_stop_line().map(|line| format!("after the stop: {line}")));
        lines.push(format!("{}, 95 % for all moments together", estimates.anytime_short()));
        lines.push(format!(
            "pairs {}, ptnml {}, games {} ({})",
            scoreboard.pairs(),
            figures::ptnml(&scoreboard.ptnml()),
            scoreboard.games(),
            figures::wdl(&scoreboard.wdl())
        ));
        let level = figures::level_pairs(scoreboard);
        lines.extend(level.and_then(|level| figures::level_line(&scoreboard.opening_evidence(), level)));
        lines.extend(duel_players(plan, scoreboard));
    } else {
        lines.extend(field(plan, scoreboard));
    }
    let ends: Vec<_> = scoreboard.terminations().iter().map(|(why, games)| format!("{} {games}", why.name())).collect();
    if !ends.is_empty() {
        lines.push(format!("endings: {}", ends.join(", ")));
    }
    if scoreboard.voided() > 0 {
        lines.push(format!(
            "void: {} a pair was disturbed by the machine and played again",
            count(scoreboard.voided(), "time")
        ));
    }
    lines.extend(openings_line(plan, scoreboard));
    lines.extend(figures::repeats(scoreboard.repeated()).map(|text| format!("repeated: {text}")));
    let workers = workers::rows(scoreboard, &[]);
    if !workers.is_empty() {
        lines.push("workers:".to_owned());
        lines.extend(workers::table(&workers).into_iter().map(|line| format!("     {line}")));
    }
    if scoreboard.waiting_games() > 0 {
        let games = count(scoreboard.waiting_games(), "finished game");
        lines.push(if scoreboard.is_over() {
            format!("not counted: {games} of pairs after the stop")
        } else {
            format!("not counted yet: {games} of unfinished pairs, or of pairs after these")
        });
    }
    lines
}

/// Lines on the time and place of a run that stopped, and on the command that continues it.
fn end(plan: &Plan, finish: &Finish, root: &Path) -> Vec<String> {
    let mut lines = vec![time_and_place(finish.time, root)];
    lines.extend(next_command(plan, finish, root).map(|command| format!("continue with: {command}")));
    lines
}

/// Formats `took 12 min, run in DIR`, without a time that is not known.
fn time_and_place(time: Option<RunTime>, root: &Path) -> String {
    let took = time.map_or_else(String::new, |time| match time.total {
        Some(total) => format!("took {}, ", duration(total)),
        None => format!("took {} since it was resumed, ", duration(time.session)),
    });
    format!("{took}run in {}", root.display())
}

/// Line on openings that came again; `None` if none did.
fn openings_line(plan: &Plan, scoreboard: &Scoreboard) -> Option<String> {
    if scoreboard.tuning().is_some() {
        let openings = plan.fresh_pairs();
        let line = || {
            format!(
                "openings came again after {openings} pairs: the validation takes its pairs as independent, so its interval may be too \
                 narrow"
            )
        };
        return (scoreboard.settled() > openings).then(line);
    }
    if plan.players.len() > 2 {
        let line = || "openings came again, which the errors take into account".to_owned();
        return scoreboard.has_repeated_openings().then(line);
    }
    let line = || {
        format!(
            "openings came again: these pairs are worth {:.0} of openings that did not, which the errors take into account",
            scoreboard.evidence().effective_samples()
        )
    };
    (scoreboard.design_effect() > 1.0).then(line)
}

/// Twice the pairs of a test that is out of them, or as many as the book has openings for; `None`
/// if it cannot be extended.
fn more_pairs(plan: &Plan, finish: &Finish) -> Option<u64> {
    plan.test.filter(|_| !plan.half_last)?;
    let twice = plan.max_pairs?.saturating_mul(2);
    let pairs = Pairing::new(&Plan { max_pairs: Some(twice), ..plan.clone() }).total()?;
    (pairs > finish.scoreboard.settled()).then_some(pairs)
}

/// Command that continues a run; `None` if nothing is left to play.
fn next_command(plan: &Plan, finish: &Finish, root: &Path) -> Option<String> {
    if finish.scoreboard.is_over() {
        return None;
    }
    let resume = format!("quintain resume {}", shell_path(root));
    // A tuning and its proof are parts of one command, and only that one goes on to the end.
    let is_part = root.file_name().is_some_and(|name| TUNING_FOLDERS.iter().any(|folder| name == *folder));
    let session = root.parent().filter(|parent| is_part && parent.join(TUNING_SETTINGS).is_file());
    let tune = session.map(|parent| {
        let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
        format!("the same `quintain tune` command with --out {}", shell_path(parent))
    });
    Some(match &finish.reason {
        StopReason::TooManyFailures { failures } => {
            let more = failures.saturating_add(plan.max_failures.max(1));
            format!("{} --max-failures {more}", tune.unwrap_or(resume))
        }
        StopReason::TooManyTimeLosses { losses } => {
            let more = (200.0 * losses.share()).ceil().clamp(1.0, 100.0);
            let then = tune.map_or_else(String::new, |tune| format!(", then {tune}"));
            format!("{resume} --max-time-losses {more}%{then}")
        }
        StopReason::OutOfPairs => format!("{resume} --pairs {}", more_pairs(plan, finish)?),
        StopReason::OutOfOpenings => return None,
        // The command goes on to the proof, and more games are another wish.
        StopReason::OutOfTime => resume,
        _ => tune.unwrap_or(resume),
    })
}

/// Lines on both players of a duel.
fn duel_players(plan: &Plan, scoreboard: &Scoreboard) -> Vec<String> {
    let mut lines = Vec::new();
    for (place, player) in plan.players.iter().enumerate() {
        let faults = scoreboard.faults(PlayerId(place as u16));
        let role = match (place, plan.test) {
            (_, None) => "",
            (0, _) => "new  ",
            _ => "base ",
        };
        let mut about = format!("{role}{}, {}", player.name, player.limit);
        if let Some(network) = &player.origin.network {
            let _ = write!(about, ", network {network}");
        }
        let options = options(player, &plan.players);
        if !options.is_empty() {
            let _ = write!(about, ", {options}");
        }
        if let Some(nodes) = player.origin.bench_nodes {
            let _ = write!(about, ", bench {nodes}");
        }
        let _ = write!(about, ", {}", standings::all_fault_words(&faults));
        lines.push(about);
        lines.extend(wrong_pvs(&player.name, &faults).map(|text| format!("     {text}")));
        lines.extend(complaints(player).map(|text| format!("     {text}")));
    }
    lines
}

/// Formats a player's options as `Hash=2 Threads=1`. If they are too long for a line, only those
/// that differ from another player's are kept.
fn options(player: &Player, all: &[Player]) -> String {
    let set = option_words(player.set_options(), usize::MAX);
    if set.chars().count() <= MOST_OPTIONS {
        return set;
    }
    option_words(player.options_unlike(&all.iter().collect::<Vec<_>>()), MOST_OPTIONS)
}

/// Lines on the options of more than two players: one if they share all of them, else one for each
/// that has any.
fn field_options(players: &[Player]) -> Vec<String> {
    let set: Vec<_> = players.iter().map(|player| options(player, players)).collect();
    let is_shared = set.windows(2).all(|two| two[0] == two[1]);
    let names = players.iter().map(|player| if is_shared { "all players" } else { player.name.as_str() });
    let mut lines: Vec<_> = names
        .zip(&set)
        .filter(|(_, options)| !options.is_empty())
        .map(|(name, options)| format!("options of {name}: {options}"))
        .collect();
    lines.dedup();
    lines
}

/// Table of more than two players, remarks on each, and the cross table.
fn field(plan: &Plan, scoreboard: &Scoreboard) -> Vec<String> {
    let rows = standings::rows(plan, scoreboard);
    let pairs = scoreboard.pairs();
    let of = match Pairing::new(plan).total() {
        Some(total) => format!("{pairs} of {}", count(total, "pair")),
        None => count(pairs, "pair"),
    };
    let games = count(scoreboard.games(), "game");
    let mut lines = vec![format!("{}, {}, {of}, {games}", plan.format.name(), figures::limits(plan))];
    lines.extend(standings::table(&rows, None));
    lines.extend(races::lines(plan, scoreboard));
    lines.extend(rows.iter().filter_map(|row| wrong_pvs(&row.name, &row.faults)));
    lines.extend(field_options(&plan.players));
    lines.extend(plan.players.iter().flat_map(complaints));
    lines.push("points of those who met:".to_owned());
    lines.extend(standings::cross_table(plan, &rows, scoreboard).into_iter().map(|line| format!("      {line}")));
    lines
}

/// Lines on failures that an engine reported before the first game.
fn complaints(player: &Player) -> impl Iterator<Item = String> {
    player.complaints.iter().map(|text| format!("{} said before its first game: {text}", player.name))
}

fn wrong_pvs(name: &str, faults: &Faults) -> Option<String> {
    let wrong: Vec<_> =
        pv_counts(faults).map(|(kind, many)| format!("{} it {}", count(many, "time"), kind.words())).collect();
    (!wrong.is_empty()).then(|| format!("{name}: wrong PVs: {}", wrong.join(", ")))
}

/// Numbers of wrong PVs by kind, without kinds that did not occur.
fn pv_counts(faults: &Faults) -> impl Iterator<Item = (PvFault, u64)> {
    PvFault::ALL.into_iter().zip(faults.pv).filter(|(_, count)| *count > 0)
}

/// Players in the order of the plan, with their ratings and faults.
fn players_json<'a>(plan: &'a Plan, scoreboard: &Scoreboard) -> Vec<PlayerJson<'a>> {
    let rows = standings::rows(plan, scoreboard);
    plan.players
        .iter()
        .zip(plan.labels())
        .zip(0u16..)
        .filter_map(|(player, place)| rows.iter().find(|row| row.player.0 == place).map(|row| (player, row)))
        .map(|((player, label), row)| PlayerJson {
            name: &player.name,
            label,
            spec: &player.origin.spec,
            commit: player.origin.commit.as_deref(),
            tree: player.origin.tree.as_deref(),
            dirty: player.origin.dirty,
            sha256: &player.origin.sha256,
            bench_nodes: player.origin.bench_nodes,
            network: player.origin.network.as_ref().map(NetworkJson::of),
            options: &player.options,
            limit: player.limit.to_string(),
            rank: row.rank,
            rating: row.elo(),
            rating_error: row.error(),
            games: row.wdl.games(),
            wins: row.wdl.wins,
            draws: row.wdl.draws,
            losses: row.wdl.losses,
            time_losses: row.faults.time_forfeits,
            illegal_moves: row.faults.illegal_moves,
            crashes: row.faults.crashes,
            stalls: row.faults.stalls,
            complaints: &player.complaints,
            pv_faults: pv_counts(&row.faults).map(|(kind, count)| (kind.name().to_owned(), json!(count))).collect(),
        })
        .collect()
}

fn limit_use_json(plan: &Plan, scoreboard: &Scoreboard) -> serde_json::Value {
    let limit_use = scoreboard.limit_use();
    let player = |player: &PlayerUse| json!({ "nodes": player.nodes_a_move(), "too_deep": player.too_deep() });
    let players: Vec<_> = limit_use.players().iter().map(player).collect();
    json!({ "stamp": limit_use.stamp(plan), "players": players })
}

fn encounters_json(scoreboard: &Scoreboard) -> Vec<serde_json::Value> {
    scoreboard
        .scores()
        .map(|(encounter, score)| {
            let (first, second) = encounter;
            let wdl = score.wdl;
            json!({
                "players": [first.0, second.0],
                "ptnml": score.ptnml.0,
                "wdl": [wdl.wins, wdl.draws, wdl.losses],
                "design_effect": scoreboard.design_effect_of(encounter),
            })
        })
        .collect()
}

fn json(plan: &Plan, finish: &Finish, estimates: &Estimates) -> serde_json::Value {
    let scoreboard = &finish.scoreboard;
    let wdl = scoreboard.wdl();
    // The sides of a tuning's pairs are values that are tried, so only its validation is a score.
    let is_match = scoreboard.tuning().is_none();
    let book = match &plan.book.source {
        BookSource::Builtin => "builtin".to_owned(),
        BookSource::File(path) => path.display().to_string(),
    };
    let endings: serde_json::Map<_, _> =
        scoreboard.terminations().iter().map(|(why, games)| (why.name().to_owned(), json!(games))).collect();
    let mut document = json!({
        "name": plan.name,
        "note": plan.note,
        "program": env!("CARGO_PKG_VERSION"),
        "format": plan.format.name(),
        "stopped_by": state::reason_name(&finish.reason),
        "model": plan.test.map(|test| test.model.to_string()),
        "elo0": plan.test.map(|test| test.bounds.elo0),
        "elo1": plan.test.map(|test| test.bounds.elo1),
        "alpha": plan.test.map(|test| test.alpha),
        "beta": plan.test.map(|test| test.beta),
        "pairs": scoreboard.pairs(),
        "games": scoreboard.games(),
        "ptnml": scoreboard.evidence().counts().0,
        "wdl": is_match.then_some([wdl.wins, wdl.draws, wdl.losses]),
        "not_counted_games": scoreboard.waiting_games(),
        "voided_pairs": scoreboard.voided(),
        "endings": endings,
        "seconds": finish.time.map(|time| time.session.as_secs_f64()),
        "seed": plan.seed,
        "book": book,
        "book_sha256": plan.book.sha256,
        "concurrency": plan.concurrency,
        "players": players_json(plan, scoreboard),
        "encounters": if is_match { encounters_json(scoreboard) } else { Vec::new() },
        "race": races::json(plan, scoreboard),
        "machine": { "cpu": plan.machine.cpu, "cores": plan.machine.cores, "os": plan.machine.os },
    });
    if let Some(document) = document.as_object_mut() {
        let workers = workers::rows(scoreboard, &[]);
        if !workers.is_empty() {
            document.insert("workers".to_owned(), json!(workers));
        }
        if plan.is_at_hub() {
            document.insert("at_hub".to_owned(), json!(true));
        }
        if finish.time.is_some_and(|time| time.concurrency_changed) {
            document.insert("concurrency_changed".to_owned(), json!(true));
        }
        for part in [later_json(plan, finish), json!(estimates)] {
            document.extend(part.as_object().cloned().unwrap_or_default());
        }
    }
    document
}

/// The later keys of the document, because a literal of all keys exceeds the macro's limit.
fn later_json(plan: &Plan, finish: &Finish) -> serde_json::Value {
    let scoreboard = &finish.scoreboard;
    let (losses, finished) = (scoreboard.time_losses(), scoreboard.finished_time_losses());
    let level = figures::level_pairs(scoreboard);
    let (failures, error) = match &finish.reason {
        StopReason::TooManyFailures { failures } => (Some(*failures), None),
        StopReason::Broken { why } => (None, Some(why)),
        _ => (None, None),
    };
    json!({
        "title": plan.title(),
        "outcome": result(plan, finish),
        "failures": failures,
        "error": error,
        "until_width": plan.until_width,
        "time_losses": {
            "games": losses.games, "lost": losses.lost, "by_host": losses.by_host, "share": losses.share(),
            "finished_games": finished.games, "finished_lost": finished.lost, "finished_by_host": finished.by_host,
            "voided": finished.voided, "stamp": losses.stamp(),
        },
        "limit_use": limit_use_json(plan, scoreboard),
        "repeated_pairs": scoreboard.repeated(),
        // Encounters of more players have one each, and their ratings errors of their own.
        "design_effect": (plan.players.len() == 2).then(|| scoreboard.evidence().design_effect()),
        "level_pairs": level,
        "opening_bias": level.and_then(|level| sensor::bias(&scoreboard.opening_evidence(), level)),
        "resumed": finish.time.map(|time| time.resumed),
        "seconds_total": finish.time.and_then(|time| time.total).map(|total| total.as_secs_f64()),
        "tune": scoreboard.tuning().map(TuningProgress::figures),
    })
}

/// Playing time in the JSON document of a summary; `None` if it has none.
#[must_use]
pub fn time(document: &serde_json::Value) -> Option<RunTime> {
    let duration = |key: &str| Duration::try_from_secs_f64(document[key].as_f64()?).ok();
    let this = RunTime::of_session(duration("seconds")?, document["resumed"] == true);
    Some(RunTime {
        concurrency_changed: document["concurrency_changed"] == true,
        // Older summaries have no total.
        total: duration("seconds_total").or(this.total),
        ..this
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::file;

    const TIME: Duration = Duration::from_secs(720);

    #[test]
    fn a_run_that_goes_on_has_the_same_results_and_no_end() {
        let plan = file::from_toml(include_str!("../../tests/it/fixtures/v1/plan.toml")).unwrap();
        let scoreboard = Scoreboard::new(&plan).unwrap();
        let finish = Finish { scoreboard, reason: StopReason::Interrupted, time: None };
        let root = Path::new("runs/a");
        let [over, live] = [Summary::new(&plan, &finish, root), Summary::live(&plan, &finish, root)];
        let [over, live] = [over.text().lines().collect::<Vec<_>>(), live.text().lines().collect()];
        let end = ["run in runs/a", "continue with: quintain resume runs/a"];
        assert_eq!((over[0], &over[over.len() - 2..]), ("interrupted", &end[..]));
        assert_eq!((live[0], &live[1..]), ("still being played: what counts so far", &over[1..over.len() - 2]));
    }

    #[test]
    fn the_time_is_printed_as_far_as_it_is_known() {
        let (begun, resumed) = (RunTime::of_session(TIME, false), RunTime::of_session(TIME, true));
        for (time, expected) in [
            (Some(begun), "took 12 min, run in runs/a"),
            (Some(resumed), "took 12 min since it was resumed, run in runs/a"),
            (Some(resumed.after(begun, true)), "took 24 min, run in runs/a"),
            (None, "run in runs/a"),
        ] {
            assert_eq!(time_and_place(time, Path::new("runs/a")), expected);
        }
    }

    #[test]
    fn options_of_many_players_stand_once_if_they_share_them() {
        let player = |name: &str, options: &[(&str, &str)]| Player {
            name: name.to_owned(),
            options: options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            ..Player::default()
        };
        let hash = [("Hash", "8")];
        let [one, two, none] = [player("a", &hash), player("b", &hash), player("c", &[])];
        assert_eq!(field_options(&[one.clone(), two.clone()]), ["options of all players: Hash=8"]);
        assert_eq!(field_options(&[one, two, none.clone()]), ["options of a: Hash=8", "options of b: Hash=8"]);
        assert_eq!(field_options(&[none.clone(), none]), Vec::<String>::new());
        // What is too long for a line is shortened to what differs.
        let path = "/tables/of/five/men";
        let shared = [("SyzygyPath", path), ("NalimovPath", path), ("Threads", "1")];
        let players = [player("a", &[&shared[..], &hash].concat()), player("b", &shared)];
        assert_eq!(options(&players[0], &players), "Hash=8");
    }

    #[test]
    fn the_time_of_an_older_summary_is_that_of_its_session() {
        for (document, expected) in [
            (json!({ "seconds": 720.0 }), Some(RunTime::of_session(TIME, false))),
            (json!({ "seconds": 720.0, "resumed": true }), Some(RunTime::of_session(TIME, true))),
            (json!({ "seconds": null, "resumed": null, "seconds_total": null }), None),
            (json!({ "seconds": -1.0 }), None),
        ] {
            assert_eq!(time(&document), expected, "{document}");
        }
    }
}
