//! Comparison of networks by games under Quintain.
//!
//! Candidates play each other and the engine's present evaluation.
//!
//! Reading order: `evaluation.rs` (the evaluation of a player), `table.rs` (the results), then the
//! command here.

mod evaluation;
mod table;

#[cfg(test)]
mod tests;

pub(crate) use evaluation::{Entrant, distinguish};
pub use evaluation::{Evaluation, EvaluationError, default_engine};

use crate::train::full;
use anyhow::{Context as _, bail};
use clap::Args;
use evaluation::entrants;
use quintain::run::Exit;
use quintain::run::play::{PlayedRun, check, on_interrupt, play};
use quintain::settings::{RawPlan, RawPlayer};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use table::Outcome;

/// Ends this program at an interruption, except while games are played: a match handles signals
/// itself and ends after its running games.
///
/// # Errors
/// Fails if signals cannot be listened for.
pub(crate) fn end_at_interrupts(is_playing: Arc<AtomicBool>) -> anyhow::Result<()> {
    Ok(on_interrupt(move || {
        if !is_playing.load(Ordering::Relaxed) {
            // A closed stderr is ignored.
            let _ = writeln!(io::stderr(), "interrupted; the same command continues");
            #[expect(clippy::exit, reason = "the command is in the middle of its work")]
            std::process::exit(i32::from(Exit::Interrupted.code()));
        }
    })?)
}

const EXAMPLES: &str = "\
Examples:
  destrier-trainer compare runs/a runs/b runs/c --base engine --out runs/compare --tc 8+0.08 --pairs 200
  destrier-trainer compare a.nnue b.nnue --out runs/ab --nodes 20000 -j 2

Every two players meet in as many pairs of games, from the same openings, colours reversed. \
The folder of --out has the run as Quintain keeps it (`quintain report OUT/run`), the networks \
that played, and the table as compare.txt and compare.json. The same command continues it. \
Exit codes: 0 all games are played, 4 an engine failed too often, 130 it was \
interrupted.";

/// Lets networks play each other and names the best
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Compare {
    /// Networks (`.nnue`, `quantised.bin`), or folders of training runs, which hold one
    #[arg(required = true, value_name = "NETWORK")]
    candidates: Vec<PathBuf>,
    /// Opponent of the candidates: a network, `classical`, or `engine` for what the engine plays
    /// with by itself
    #[arg(long, value_name = "NETWORK")]
    base: Option<String>,
    /// Folder for the games and the table
    #[arg(long, short, value_name = "DIR")]
    out: PathBuf,
    /// Destrier, as Quintain takes engines: a path, with arguments after ` -- `, or git:REV
    /// [default: `destrier` beside this program]
    #[arg(long, value_name = "SPEC")]
    engine: Option<String>,
    /// Pairs that any two play
    #[arg(long, value_name = "N", default_value_t = 50)]
    pairs: u64,
    /// Clock, `[moves/]base+increment` in seconds [default: 8+0.08]
    #[arg(long, value_name = "TC")]
    tc: Option<String>,
    /// Nodes a move
    #[arg(long, value_name = "N")]
    nodes: Option<u64>,
    /// Plies a move
    #[arg(long, value_name = "N")]
    depth: Option<u32>,
    /// Opening book [default: the one inside Quintain]
    #[arg(long, value_name = "FILE")]
    book: Option<PathBuf>,
    /// A UCI option for all; may be repeated
    #[arg(long = "option", value_name = "NAME=VALUE", value_parser = option)]
    options: Vec<(String, String)>,
    /// Concurrent games [default: physical cores]
    #[arg(short = 'j', long, value_name = "N")]
    concurrency: Option<u16>,
    /// Seed of the openings
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print the table as one JSON document
    #[arg(long)]
    json: bool,
}

fn option(word: &str) -> Result<(String, String), String> {
    match word.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim().to_owned(), value.trim().to_owned())),
        _ => Err("write NAME=VALUE, such as Hash=16".to_owned()),
    }
}

impl Compare {
    /// Plays the remaining games and prints the results.
    ///
    /// # Errors
    /// Fails if a network cannot be read, the engine is missing or does not start, or the folder
    /// has other games.
    pub fn run(&self, out: &mut dyn Write) -> anyhow::Result<Exit> {
        let mut players = entrants(&self.candidates)?;
        if let Some(base) = &self.base {
            players.push(Entrant::parse(base)?);
        }
        distinguish(&mut players)?;
        if players.len() < 2 {
            bail!("one network has no opponent; name another one, or give --base classical");
        }
        let nets = self.out.join("nets");
        let players = players
            .into_iter()
            .map(|player| Ok(Entrant { evaluation: player.evaluation.kept(&nets)?, ..player }))
            .collect::<anyhow::Result<Vec<_>>>()?;
        let engine = self.engine.clone().map_or_else(default_engine, Ok)?;
        let raw = RawPlan { players: raw_players(&players, &engine), ..self.raw() };
        let played = play(&raw, "compare", &self.out.join("run")).context("cannot play the games")?;
        let outcome = Outcome::of(&players, &played);
        outcome.write(&self.out)?;
        writeln!(out, "{}", if self.json { &outcome.json } else { &outcome.text })?;
        Ok(played.exit)
    }

    fn raw(&self) -> RawPlan {
        RawPlan {
            options: self.options.clone(),
            pairs: Some(self.pairs),
            tc: self.tc.clone(),
            nodes: self.nodes,
            depth: self.depth,
            book: self.book.as_deref().map(full),
            concurrency: self.concurrency,
            seed: Some(self.seed),
            ..RawPlan::default()
        }
    }
}

fn raw_players(players: &[Entrant], engine: &str) -> Vec<RawPlayer> {
    let one = |player: &Entrant| RawPlayer {
        spec: Some(engine.to_owned()),
        name: Some(player.name.clone()),
        options: player.evaluation.options(),
        ..RawPlayer::default()
    };
    players.iter().map(one).collect()
}

/// Plays two players against each other: a match of `pairs`, or a test if `raw` has bounds.
///
/// # Errors
/// As [`play`].
pub fn duel(
    raw: &RawPlan,
    new: &(&str, Evaluation),
    base: &(&str, Evaluation),
    engine: &str,
    root: &Path,
) -> anyhow::Result<PlayedRun> {
    let raw = with_players(raw, [new, base], engine);
    play(&raw, "loop", root).with_context(|| format!("{}: cannot play the games", root.display()))
}

/// Checks the settings of [`duel`] without playing.
///
/// # Errors
/// Fails if settings conflict or the engine is not found.
pub fn check_duel(raw: &RawPlan, engine: &str) -> anyhow::Result<()> {
    Ok(check(&with_players(raw, [&("new", Evaluation::Engine), &("base", Evaluation::Engine)], engine), "loop")?)
}

/// Plays a match of networks, each against each other, `pairs` for each two.
///
/// # Errors
/// As [`play`].
pub fn field(raw: &RawPlan, players: &[(String, Evaluation)], engine: &str, root: &Path) -> anyhow::Result<PlayedRun> {
    play(&of_field(raw, players, engine), "loop", root)
        .with_context(|| format!("{}: cannot play the games", root.display()))
}

/// Checks the settings of [`field`] for a number of networks without playing.
///
/// # Errors
/// Fails if settings conflict or the engine is not found.
pub fn check_field(raw: &RawPlan, count: usize, engine: &str) -> anyhow::Result<()> {
    let players: Vec<_> = (1..=count).map(|number| (format!("training-{number}"), Evaluation::Engine)).collect();
    Ok(check(&of_field(raw, &players, engine), "loop")?)
}

fn of_field(raw: &RawPlan, players: &[(String, Evaluation)], engine: &str) -> RawPlan {
    let players: Vec<Entrant> = players
        .iter()
        .map(|(name, evaluation)| Entrant { name: name.clone(), evaluation: evaluation.clone() })
        .collect();
    RawPlan { players: raw_players(&players, engine), ..raw.clone() }
}

fn with_players(raw: &RawPlan, players: [&(&str, Evaluation); 2], engine: &str) -> RawPlan {
    let players =
        players.map(|(name, evaluation)| Entrant { name: (*name).to_owned(), evaluation: evaluation.clone() });
    if raw.bounds.is_some() {
        let spec = Some(engine.to_owned());
        let [new, base] = players;
        RawPlan {
            new: spec.clone(),
            base: spec,
            new_options: new.evaluation.options(),
            base_options: base.evaluation.options(),
            new_name: Some(new.name),
            base_name: Some(base.name),
            ..raw.clone()
        }
    } else {
        RawPlan { players: raw_players(&players, engine), ..raw.clone() }
    }
}
