//! `quintain rate`: the players of PGN files and runs on one scale.

use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use serde::Serialize;

use super::run_dir::RunDir;
use crate::journal;
use crate::report::results::{Results, RunGames, Skipped};
use crate::stats::elo::fixed;
use crate::stats::rating::{Anchor, Bound, Encounter, Measured, Ratings, rate};

const EXAMPLES: &str = "\
Examples:
  quintain rate games.pgn
  quintain rate results/runs/20260101-120000-gauntlet results/runs/20260102-120000-sprt
  quintain rate a.pgn b.pgn --anchor 'Stockfish 17=3640' --los
  quintain rate games.pgn --anchor 'old=3100+-15' --anchor 'older=3020' --json

Ratings are the most likely ones where a lead of 400 Elo makes ten points of eleven and a draw is
half a point, together with the advantage of having White. Errors are half-widths of 95 % intervals,
relative to the anchors, or to the mean of the pool, which is 0, if none is given. They count pairs
of games (one opening, colours reversed) and not games: in a run by the journal, in PGN by players,
event, round and FEN. A player who won or lost everything has a bound (`>`, `<`) and no rating;
players not joined by points are rated apart.

JSON: `players` (group by group, the strongest first: `rank, name, elo, elo_error, elo_lo, elo_hi,
bound (exact|at_least|at_most), group, games, score, draws, anchor`), `groups`, `relative_to
(anchors|mean)`, `games`, `pairs`, `white_advantage, white_advantage_error` (Elo), `draw_rate,
draw_rate_error` (between equals), `skipped_games`, and with --los `los`: rows and columns in the
order of `players`, the probability that the row's player is stronger. Shares are from 0 to 1; null
stands for what is not known.";

/// Ratings of any number of players, with errors, from PGN files and run directories.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct RateArgs {
    /// PGN files and run directories; players of the same name are one.
    #[arg(value_name = "FILE.pgn|RUN", required = true)]
    inputs: Vec<PathBuf>,
    /// A rating known beforehand, held fixed, or with the half-width of its 95 % interval. May be given more than once.
    #[arg(long = "anchor", value_name = "NAME=ELO[+-ERROR]")]
    anchors: Vec<String>,
    /// Add the likelihood of superiority of each player over each other.
    #[arg(long)]
    los: bool,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

/// Prints the ratings to `out`.
pub(super) fn run(args: &RateArgs, out: &mut impl Write) -> Result<()> {
    let mut results = Results::new();
    for input in &args.inputs {
        add(input, &mut results)?;
    }
    warn(results.skipped());
    let names = results.names();
    let anchors = args.anchors.iter().map(|text| anchor(text, &names)).collect::<Result<Vec<_>>>()?;
    for (place, one) in anchors.iter().enumerate() {
        if anchors[..place].iter().any(|other| other.player == one.player) {
            bail!("--anchor: `{}` is anchored twice; give one rating", shown(&names[one.player]));
        }
    }
    let encounters = results.encounters();
    if encounters.is_empty() {
        let inputs: Vec<_> = args.inputs.iter().map(|input| input.display().to_string()).collect();
        bail!("{}: no finished games between two named players, so there is nothing to rate", inputs.join(", "));
    }
    let ratings = rate(names.len(), &encounters, &anchors)?;
    let table = Table::new(&names, &ratings, &encounters, &anchors, results.skipped());
    let text =
        if args.json { serde_json::to_string_pretty(&table.json(args.los))? + "\n" } else { table.text(args.los) };
    match out.write_all(text.as_bytes()) {
        // The reader has seen enough.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        written => Ok(written?),
    }
}

fn add(input: &Path, results: &mut Results) -> Result<()> {
    if input.is_dir() {
        let (dir, plan) = RunDir::open(input)?;
        let mut games = RunGames::default();
        let replayed = journal::read(&dir.path(journal::FILE_NAME), |game| games.tell(&game))?;
        dir.check_plan(&replayed.header)?;
        let names: Vec<&str> = plan.players.iter().map(|player| player.name.as_str()).collect();
        games.add_to(results, &names);
        return Ok(());
    }
    let file = std::fs::File::open(input)
        .with_context(|| format!("{}: cannot open it; give a PGN file or a run directory", input.display()))?;
    results.add_pgn(file).with_context(|| format!("{}: cannot read it", input.display()))
}

fn warn(skipped: Skipped) {
    let kinds = [
        (skipped.unfinished, "games without a result"),
        (skipped.nameless, "games without names"),
        (skipped.with_itself, "games of a player with themselves"),
        (skipped.unpaired, "games of pairs that are void or not over"),
        (skipped.overlong, "tag lines too long to read"),
    ];
    let said: Vec<String> =
        kinds.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
    if !said.is_empty() {
        tracing::warn!("left out: {}", said.join(", "));
    }
}

/// Reads `NAME=ELO` or `NAME=ELO+-ERROR`.
fn anchor(text: &str, names: &[String]) -> Result<Anchor> {
    let form = || format!("--anchor `{text}`: write NAME=ELO, or NAME=ELO+-ERROR");
    let (name, value) = text.rsplit_once('=').with_context(form)?;
    let (elo, error) = value.split_once("+-").or_else(|| value.split_once('±')).unwrap_or((value, "0"));
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.abs() <= 1e4);
    let (elo, error95) =
        (number(elo).with_context(form)?, number(error).filter(|error| *error >= 0.0).with_context(form)?);
    let Some(player) = names.iter().position(|known| known == name) else {
        let mut known: Vec<String> = names.iter().take(8).map(|name| format!("`{}`", shown(name))).collect();
        if names.len() > known.len() {
            known.push(format!("{} more", names.len() - known.len()));
        }
        bail!("--anchor `{text}`: no player `{name}` in these games, but {}", known.join(", "));
    };
    Ok(Anchor { player, elo, error95 })
}

/// A name as a terminal may see it: whoever wrote the PGN must not move its cursor.
fn shown(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// All there is to say.
struct Table<'a> {
    names: &'a [String],
    ratings: &'a Ratings,
    anchored: Vec<bool>,
    /// Players, group by group, the strongest first.
    order: Vec<usize>,
    games: u64,
    pairs: u64,
    skipped: Skipped,
}

/// The document: names and order are the contract.
#[derive(Serialize)]
struct Json<'a> {
    players: Vec<JsonPlayer<'a>>,
    groups: usize,
    relative_to: &'static str,
    games: u64,
    pairs: u64,
    white_advantage: Option<f64>,
    white_advantage_error: Option<f64>,
    draw_rate: Option<f64>,
    draw_rate_error: Option<f64>,
    skipped_games: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    los: Option<Vec<Vec<Option<f64>>>>,
}

#[derive(Serialize)]
struct JsonPlayer<'a> {
    rank: usize,
    name: &'a str,
    elo: f64,
    elo_error: Option<f64>,
    elo_lo: Option<f64>,
    elo_hi: Option<f64>,
    bound: &'static str,
    group: usize,
    games: u64,
    score: Option<f64>,
    draws: Option<f64>,
    anchor: bool,
}

impl<'a> Table<'a> {
    fn new(
        names: &'a [String],
        ratings: &'a Ratings,
        encounters: &[Encounter],
        anchors: &[Anchor],
        skipped: Skipped,
    ) -> Self {
        let mut order: Vec<usize> = (0..names.len()).filter(|player| ratings.players[*player].games > 0).collect();
        order.sort_by(|&a, &b| {
            let (one, other) = (&ratings.players[a], &ratings.players[b]);
            // Who won everything stands above those they beat, however low the bound: the most likely rating is infinite.
            let place = |bound: Bound| match bound {
                Bound::AtLeast => 0,
                Bound::Exact => 1,
                Bound::AtMost => 2,
            };
            let by_rating = || other.elo.total_cmp(&one.elo);
            (one.group, place(one.bounded))
                .cmp(&(other.group, place(other.bounded)))
                .then_with(by_rating)
                .then_with(|| names[a].cmp(&names[b]))
        });
        let anchored = (0..names.len()).map(|player| anchors.iter().any(|anchor| anchor.player == player)).collect();
        let sum = |of: fn(&Encounter) -> u64| encounters.iter().map(of).fold(0, u64::saturating_add);
        let (games, pairs) = (sum(Encounter::games), sum(|met| met.pentanomial().pairs()));
        Self { names, ratings, anchored, order, games, pairs, skipped }
    }

    /// Groups that have games, in order.
    fn groups(&self) -> Vec<Vec<usize>> {
        let group = |player: &usize| self.ratings.players[*player].group;
        self.order.chunk_by(|a, b| group(a) == group(b)).map(<[usize]>::to_vec).collect()
    }

    fn draws(&self, player: usize) -> Option<f64> {
        let rating = &self.ratings.players[player];
        (rating.games > 0).then(|| rating.draws.map(|draws| draws as f64 / rating.games as f64))?
    }

    fn json(&self, los: bool) -> Json<'_> {
        let mut players = Vec::new();
        for (group, members) in self.groups().iter().enumerate() {
            for (rank, &player) in members.iter().enumerate() {
                let rating = &self.ratings.players[player];
                let end = |sign: f64| rating.error95.map(|error| rating.elo + sign * error);
                let (bound, elo_lo, elo_hi) = match rating.bounded {
                    Bound::Exact => ("exact", end(-1.0), end(1.0)),
                    Bound::AtLeast => ("at_least", Some(rating.elo), None),
                    Bound::AtMost => ("at_most", None, Some(rating.elo)),
                };
                players.push(JsonPlayer {
                    rank: rank + 1,
                    name: &self.names[player],
                    elo: rating.elo,
                    elo_error: rating.error95,
                    elo_lo,
                    elo_hi,
                    bound,
                    group: group + 1,
                    games: rating.games,
                    score: rating.score,
                    draws: self.draws(player),
                    anchor: self.anchored[player],
                });
            }
        }
        let part = |figure: Option<Measured>| (figure.map(|of| of.value), figure.and_then(|of| of.error95));
        let (white_advantage, white_advantage_error) = part(self.ratings.white_advantage);
        let (draw_rate, draw_rate_error) = part(self.ratings.draw_rate);
        let row = |&a: &usize| self.order.iter().map(|&b| self.ratings.los(a, b)).collect();
        Json {
            players,
            groups: self.groups().len(),
            relative_to: if self.anchored.contains(&true) { "anchors" } else { "mean" },
            games: self.games,
            pairs: self.pairs,
            white_advantage,
            white_advantage_error,
            draw_rate,
            draw_rate_error,
            skipped_games: self.skipped.games(),
            los: los.then(|| self.order.iter().map(row).collect()),
        }
    }

    fn text(&self, los: bool) -> String {
        let width = self.order.iter().map(|&player| text_width(&self.names[player])).max().unwrap_or(0).max(4);
        let mut out = format!(
            "{:>4}  {}  {:>7}  {:>6}  {:>8}  {:>6}  {:>6}\n",
            "rank",
            padded("name", width),
            "Elo",
            "+/-",
            "games",
            "score",
            "draws"
        );
        for (group, members) in self.groups().iter().enumerate() {
            if group > 0 {
                out += "\nNo points join these to the players above; they are rated apart:\n";
            }
            for (rank, &player) in members.iter().enumerate() {
                let _ = writeln!(out, "{:>4}  {}", rank + 1, self.row(player, width));
            }
        }
        out.push('\n');
        out += &self.footer();
        if los {
            out.push('\n');
            out += &self.los_matrix(width);
        }
        out
    }

    fn row(&self, player: usize, width: usize) -> String {
        let rating = &self.ratings.players[player];
        let mark = match rating.bounded {
            Bound::Exact => "",
            Bound::AtLeast => "> ",
            Bound::AtMost => "< ",
        };
        let percent = |share: Option<f64>| share.map_or("-".to_owned(), |share| fixed(share * 100.0, 1) + "%");
        let error = match rating.error95 {
            Some(error) if self.anchored[player] && error == 0.0 => "anchor".to_owned(),
            Some(error) => fixed(error, 1),
            None => "-".to_owned(),
        };
        format!(
            "{}  {:>7}  {error:>6}  {:>8}  {:>6}  {:>6}",
            padded(&self.names[player], width),
            format!("{mark}{}", fixed(rating.elo, 1)),
            rating.games,
            percent(rating.score),
            percent(self.draws(player)),
        )
    }

    /// What holds for all.
    fn footer(&self) -> String {
        let plus_minus = |figure: Measured, factor: f64| {
            let error = figure.error95.map_or(String::new(), |error| format!(" +/- {}", fixed(error * factor, 1)));
            fixed(figure.value * factor, 1) + &error
        };
        let mut out = String::new();
        let mut row = |name: &str, text: String| {
            // Writing into memory cannot fail.
            let _ = writeln!(out, "{name:<16} {text}");
        };
        let unknown = || "not known: the games do not tell".to_owned();
        let white = self.ratings.white_advantage.map_or_else(unknown, |white| plus_minus(white, 1.0) + " Elo");
        row("white advantage", white);
        let draws = self.ratings.draw_rate.map_or_else(unknown, |rate| plus_minus(rate, 100.0) + " %");
        row("draws of equals", draws);
        row("games", format!("{}, of which {} in pairs", self.games, self.pairs.saturating_mul(2)));
        let anchored = self.anchored.contains(&true);
        let relative = if anchored { "the anchors" } else { "the mean of the pool, which is 0" };
        row("errors", format!("95 %, relative to {relative}"));
        for (bound, what) in [(Bound::AtLeast, "won every"), (Bound::AtMost, "made no")] {
            let bounded: Vec<String> = self
                .order
                .iter()
                .filter(|player| self.ratings.players[**player].bounded == bound)
                .map(|player| shown(&self.names[*player]))
                .collect();
            if !bounded.is_empty() {
                row("bounds", format!("{what} point against the rest: {} (97.5 % sure)", bounded.join(", ")));
            }
        }
        out
    }

    fn los_matrix(&self, width: usize) -> String {
        let mut out = String::from("Likelihood of superiority in percent, of the row over the column\n");
        let _ = write!(out, "{:>4}  {}", "", padded("", width));
        for column in 1..=self.order.len() {
            let _ = write!(out, "  {column:>5}");
        }
        out.push('\n');
        for (row, &a) in self.order.iter().enumerate() {
            let _ = write!(out, "{:>4}  {}", row + 1, padded(&self.names[a], width));
            for &b in &self.order {
                let los = self.ratings.los(a, b).map_or("-".to_owned(), |los| fixed(los * 100.0, 1));
                let _ = write!(out, "  {los:>5}");
            }
            out.push('\n');
        }
        out
    }
}

fn text_width(name: &str) -> usize {
    console::measure_text_width(&shown(name))
}

/// A name filled up to a width on the screen.
fn padded(name: &str, width: usize) -> String {
    shown(name) + &" ".repeat(width.saturating_sub(text_width(name)))
}
