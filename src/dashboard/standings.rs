//! Result of a run beyond its main figures: the block for a pull request. For more than two
//! players, the table with colours and performance, the cross table and the rounds. For a tuning,
//! the table of its parameters or switches.

use serde::Serialize;
use serde_json::{Value, json};

use crate::dashboard::fold::Fold;
use crate::record::PlayerId;
use crate::report::block;
use crate::report::standings::{self, StandingsRow, fault_words};
use crate::report::tune;
use crate::stats::elo::Elo;
use crate::tournament::formats::{PairResult, in_order, knockout, swiss};
use crate::tournament::tuning::TuningProgress;

/// Score beyond which a performance is a bound: 400 Elo on either side.
const MOST_ELO: f64 = 400.0;

/// A player in the table.
#[derive(Serialize)]
struct StandingsJson {
    rank: usize,
    name: String,
    /// Rating with its sign or bound, on one scale whose zero is the mean.
    elo: String,
    /// Half the width of its 95 % interval.
    error: Option<f64>,
    games: u64,
    /// Points, byes included.
    points: f64,
    /// Points for byes, if the format ranks by points.
    byes: Option<f64>,
    /// Share of the points, 0 to 1.
    score: Option<f64>,
    wins: u64,
    draws: u64,
    losses: u64,
    white: u64,
    black: u64,
    /// Mean rating of the opponents met, with the Elo of the score against them.
    performance: Option<f64>,
    faults: String,
    /// Points and games against each player of the table in its order; `None` against itself.
    met: Vec<Option<(f64, u64)>>,
}

/// Two players, each with the points against the other, and the place (0 or 1) of the one who
/// advanced.
type MeetingJson = (String, f64, String, f64, Option<u8>);

/// Round of a Swiss or a knockout.
#[derive(Serialize)]
struct RoundJson {
    name: String,
    met: Vec<MeetingJson>,
}

/// Parameters or switches of a tuning.
#[derive(Serialize)]
struct TunedJson {
    columns: &'static [&'static str],
    rows: Vec<Vec<String>>,
}

/// Everything of this kind about a run.
pub(super) fn of(fold: &Fold) -> Value {
    let (plan, scoreboard) = (fold.plan(), fold.scoreboard());
    let is_field = plan.players.len() > 2 && scoreboard.tuning().is_none();
    let rows = if is_field { table(fold) } else { Vec::new() };
    json!({
        "block": block::block(plan, scoreboard),
        "commit": block::commit(plan, scoreboard),
        "table": rows,
        "rounds": if is_field { rounds(fold) } else { Vec::new() },
        "tuned": scoreboard.tuning().map(tuned),
    })
}

/// Table of a tuning as the report has it. A leading `#` marks a column of numbers.
fn tuned(progress: &TuningProgress) -> TunedJson {
    let (columns, rows) = tune::cells(progress.course(), &progress.rule().dead);
    TunedJson { columns, rows }
}

fn table(fold: &Fold) -> Vec<StandingsJson> {
    let scoreboard = fold.scoreboard();
    let rows = standings::rows(fold.plan(), scoreboard);
    let row = |row: &StandingsRow| {
        let others = rows.iter().filter(|other| other.player != row.player);
        let white: u64 = others.map(|other| scoreboard.score(row.player, other.player).white).sum();
        StandingsJson {
            rank: row.rank,
            name: row.name.clone(),
            elo: row.elo_text(),
            error: row.error(),
            games: row.wdl.games(),
            points: row.points(),
            byes: row.byes,
            score: row.score(),
            wins: row.wdl.wins,
            draws: row.wdl.draws,
            losses: row.wdl.losses,
            white,
            black: row.wdl.games().saturating_sub(white),
            performance: performance(fold, &rows, row),
            faults: fault_words(&row.faults),
            met: rows.iter().map(|other| (other.player != row.player).then(|| met(fold, row, other))).collect(),
        }
    };
    rows.iter().map(row).collect()
}

/// Points and games of one player against another.
fn met(fold: &Fold, row: &StandingsRow, other: &StandingsRow) -> (f64, u64) {
    let wdl = fold.scoreboard().score(row.player, other.player).wdl;
    (wdl.points(), wdl.games())
}

/// Performance rating; `None` if an opponent has no rating.
fn performance(fold: &Fold, rows: &[StandingsRow], row: &StandingsRow) -> Option<f64> {
    let (mut games, mut elo) = (0, 0.0);
    for other in rows.iter().filter(|other| other.player != row.player) {
        let (_, against) = met(fold, row, other);
        if against > 0 {
            elo += other.rating.as_ref().filter(|rating| rating.group == 0)?.elo * against as f64;
            games += against;
        }
    }
    let score = row.score().filter(|_| games > 0)?;
    let gain = match Elo::of_score(score) {
        Elo::MinusInfinity => -MOST_ELO,
        Elo::Finite(elo) => elo.clamp(-MOST_ELO, MOST_ELO),
        Elo::PlusInfinity => MOST_ELO,
    };
    Some(elo / games as f64 + gain)
}

/// Rounds of a Swiss or a knockout.
fn rounds(fold: &Fold) -> Vec<RoundJson> {
    let format = fold.plan().format.name();
    if format == knockout::DEFINITION.name {
        knockout_rounds(fold)
    } else if format == swiss::DEFINITION.name {
        (1..).zip(swiss_rounds(fold)).map(|(number, met)| RoundJson { name: format!("Round {number}"), met }).collect()
    } else {
        Vec::new()
    }
}

/// Rounds of a knockout, the last ones by their usual names.
fn knockout_rounds(fold: &Fold) -> Vec<RoundJson> {
    let players = u16::try_from(fold.names().len()).unwrap_or(u16::MAX);
    let names = fold.names();
    let name = |player: PlayerId| names.get(usize::from(player.0)).copied().unwrap_or("?").to_owned();
    let rounds = knockout::rounds(players, fold.plan().max_pairs.unwrap_or(1), fold.scoreboard().results());
    let all = players.next_power_of_two().trailing_zeros() as usize;
    let called = |place: usize| match all.saturating_sub(place) {
        1 => "Final".to_owned(),
        2 => "Semi-finals".to_owned(),
        3 => "Quarter-finals".to_owned(),
        _ => format!("Round {}", place + 1),
    };
    let met = |meeting: knockout::KnockoutMeeting| {
        let ((first, second), [won, lost]) = (meeting.players, meeting.half_points);
        let winner = meeting.winner.map(|winner| u8::from(winner == second));
        (name(first), f64::from(won) / 2.0, name(second), f64::from(lost) / 2.0, winner)
    };
    let json = |(place, round): (usize, Vec<knockout::KnockoutMeeting>)| RoundJson {
        name: called(place),
        met: round.into_iter().map(met).collect(),
    };
    rounds.into_iter().enumerate().map(json).collect()
}

/// Encounters of each round of a Swiss, with the points of both players.
fn swiss_rounds(fold: &Fold) -> Vec<Vec<MeetingJson>> {
    let names = fold.names();
    let name = |player: PlayerId| names.get(usize::from(player.0)).copied().unwrap_or("?").to_owned();
    let meetings = names.len() / 2;
    let pairs = usize::try_from(fold.plan().max_pairs.unwrap_or(1)).unwrap_or(usize::MAX);
    let round = |results: &[PairResult]| {
        let mut met: Vec<MeetingJson> = Vec::new();
        let mut players = Vec::new();
        for result in results {
            let (first, second) = result.players;
            let [won, lost] =
                [result.half_points, result.games * 2 - result.half_points].map(|half| f64::from(half) / 2.0);
            match players.iter().position(|known| *known == in_order(result.players)) {
                Some(place) => {
                    let entry = &mut met[place];
                    let is_first = entry.0 == name(first);
                    entry.1 += if is_first { won } else { lost };
                    entry.3 += if is_first { lost } else { won };
                }
                None => {
                    players.push(in_order(result.players));
                    met.push((name(first), won, name(second), lost, None));
                }
            }
        }
        met
    };
    fold.scoreboard().results().chunks((meetings * pairs).max(1)).map(round).collect()
}
