//! Stages of the loop, each resumable.

use super::contents;
use super::plan::{LoopPlan, other_settings, set_keys};
use super::positions::{prepare, split};
use super::row::{
    self, GenerationRow, MatchResult, PositionCounts, SelectionResult, SelfPlayCounts, TrainingResult, Verdict,
};
use crate::compare::{Evaluation, check_duel, check_field, default_engine, duel, field};
use crate::data::{replace, write_texts};
use crate::train::{Plan, lock_folder, train};
use anyhow::{Context as _, bail};
use destrier::datagen;
use destrier::types::SplitMix64;
use indicatif::{ProgressBar, ProgressStyle};
use quintain::journal;
use quintain::record::PlayerId;
use quintain::run::Exit;
use quintain::run::play::PlayedRun;
use quintain::settings::RawPlan;
use quintain::stats::elo;
use quintain::stats::sprt;
use serde::Serialize;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Result of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoopStep {
    /// A stage is done.
    Done,
    /// A match stopped before its end.
    Stopped(Exit),
    /// All generations are done.
    Finished,
}

/// Folders of a generation's matches.
const MATCHES: [&str; 2] = ["selection", "match"];

/// Loop between two stages.
#[derive(Debug)]
pub struct Loop {
    plan: LoopPlan,
    engine: String,
    rows: Vec<GenerationRow>,
    is_playing: Arc<AtomicBool>,
    /// Lock of the folder, held for the lifetime of the loop.
    _lock: File,
}

/// JSON document; its field names are a stable interface.
#[derive(Serialize)]
struct LoopJson<'a> {
    /// Evaluation that would play the next generation.
    present: String,
    generations: &'a [GenerationRow],
}

impl Loop {
    /// Opens the folder of a plan, either new or begun by the same plan.
    ///
    /// # Errors
    /// Fails if the plan has errors, its folder belongs to another plan or is in use, or the engine
    /// is missing.
    pub fn open(path: &Path, engine: Option<&str>) -> anyhow::Result<Loop> {
        let plan = LoopPlan::load(path)?;
        let out = &plan.out;
        fs::create_dir_all(out).with_context(|| format!("{}: cannot create it; give another `out`", out.display()))?;
        let lock = lock_folder(out).with_context(|| format!("{}: cannot lock it", out.display()))?;
        let Some(lock) = lock else {
            bail!("{}: another loop is at work there; stop it first, or give another `out`", out.display());
        };
        let engine = engine.map(str::to_owned).or_else(|| plan.engine.clone());
        let engine = engine.map_or_else(default_engine, Ok)?;
        // Check the match settings now, or an error would show only after hours of self-play.
        check_duel(&plan.contest, &engine).with_context(|| format!("{}: [match]", path.display()))?;
        if let Some(selection) = &plan.selection {
            check_field(selection, plan.trainings.len(), &engine)
                .with_context(|| format!("{}: [selection]", path.display()))?;
        }
        let mut steps = Loop { engine, rows: Vec::new(), is_playing: Arc::default(), _lock: lock, plan };
        for generation in 1..=steps.plan.generations {
            steps.rows.push(GenerationRow::load(&steps.row_path(generation), generation)?);
        }
        // Their tables would lack its results.
        let later = steps.folder(steps.plan.generations + 1);
        if later.exists() {
            bail!(
                "{}: `generations`: the loop has begun {}; give it that number at least, or the plan another `out`",
                path.display(),
                later.display()
            );
        }
        steps.keep_settings()?;
        Ok(steps)
    }

    /// Returns true if a match of a generation has a game.
    fn has_begun_to_play(&self, row: &GenerationRow) -> anyhow::Result<bool> {
        let mut games = u64::from(row.met.is_some() || row.selection.is_some());
        for place in MATCHES {
            let path = self.folder(row.generation).join(place).join(journal::FILE_NAME);
            if games == 0 && path.exists() {
                journal::read(&path, |_| games += 1)?;
            }
        }
        Ok(games > 0)
    }

    /// Checks the plan against the settings in the folder, or writes them. The settings of matches
    /// may change until a match has a game.
    fn keep_settings(&self) -> anyhow::Result<()> {
        let path = self.plan.out.join("settings.txt");
        let [networks, matches] = self.plan.settings()?;
        let settings = format!("{networks}{matches}");
        let write = || Ok(replace(&path, settings.as_bytes())?);
        let before = match fs::read_to_string(&path) {
            Ok(before) => set_keys(&before),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return write(),
            Err(error) => return Err(error).with_context(|| format!("{}: cannot read it", path.display())),
        };
        let [networks, is] = [&networks, &settings].map(|text| contents::comparable(text, &before));
        if before == set_keys(&is) {
            return if is == settings { Ok(()) } else { write() };
        }
        let mut may_change = before.starts_with(&networks);
        for row in &self.rows {
            may_change = may_change && !self.has_begun_to_play(row)?;
        }
        if !may_change {
            return Err(other_settings(&path, "loop", &before, &is));
        }
        // Match folders without games hold the old settings, so they are removed.
        let places = self.rows.iter().flat_map(|row| MATCHES.map(|place| self.folder(row.generation).join(place)));
        for place in places.filter(|place| place.exists()) {
            fs::remove_dir_all(&place).with_context(|| format!("{}: cannot remove it", place.display()))?;
        }
        write()
    }

    /// Returns a flag that is true during a match, which handles signals itself.
    pub fn is_playing(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.is_playing)
    }

    /// Returns the results of each generation of the plan.
    pub fn rows(&self) -> &[GenerationRow] {
        &self.rows
    }

    /// Returns the table of the generations.
    pub fn table(&self) -> String {
        row::table(&self.rows)
    }

    /// Returns the generations as a JSON document.
    pub fn json(&self) -> String {
        let begun = self.rows.iter().filter(|row| row.self_play.is_some()).count();
        let present = match self.present_before(self.plan.generations + 1) {
            Ok(Evaluation::Network(path)) => path.strip_prefix(&self.plan.out).unwrap_or(&path).display().to_string(),
            Ok(other) => other.to_string(),
            Err(_) => self.plan.start.to_string(),
        };
        serde_json::to_string_pretty(&LoopJson { present, generations: &self.rows[..begun] }).unwrap_or_default()
    }

    fn folder(&self, generation: u32) -> PathBuf {
        self.plan.out.join(format!("generation-{generation:03}"))
    }

    fn row_path(&self, generation: u32) -> PathBuf {
        self.folder(generation).join("row.json")
    }

    /// Returns the evaluation before a generation: the last accepted network, or the start.
    fn present_before(&self, generation: u32) -> anyhow::Result<Evaluation> {
        let accepted = |row: &&GenerationRow| row.met.as_ref().is_some_and(|met| met.verdict == Verdict::Accepted);
        let before = self.rows.iter().filter(|row| row.generation < generation).rfind(accepted);
        match before.and_then(|row| row.training.as_ref()) {
            Some(trained) => Ok(Evaluation::network(&self.plan.out.join(&trained.network))?),
            None => Ok(self.plan.start.clone()),
        }
    }

    /// Runs the next stage.
    ///
    /// # Errors
    /// Fails if the stage fails, with the generation in the message; earlier stages stay done.
    pub fn step(&mut self, out: &mut dyn Write) -> anyhow::Result<LoopStep> {
        let Some(place) = self.rows.iter().position(|row| !row.is_done()) else {
            self.write_table()?;
            return Ok(LoopStep::Finished);
        };
        let row = self.rows[place].clone();
        let generation = row.generation;
        let folder = self.folder(generation);
        fs::create_dir_all(&folder).with_context(|| format!("{}: cannot create it", folder.display()))?;
        let trainings = self.plan.trainings.len();
        let stage = match &row {
            GenerationRow { self_play: None, .. } => "self-play",
            GenerationRow { data: None, .. } => "positions",
            GenerationRow { training: None, trainings: done, .. } if trainings == 1 || done.len() < trainings => {
                "training"
            }
            GenerationRow { training: None, .. } => "selection",
            _ => "match",
        };
        let number = if stage == "training" && trainings > 1 {
            format!(" {} of {trainings}", row.trainings.len() + 1)
        } else {
            String::new()
        };
        // A closed pipe must not end the loop.
        let _ = writeln!(out, "generation {generation}: {stage}{number}").and_then(|()| out.flush());
        let done = match stage {
            "self-play" => self.self_play(row).map(Ok),
            "positions" => self.positions(row).map(Ok),
            "training" => self.train(row, out).map(Ok),
            "selection" => self.select(row),
            _ => self.contest(row),
        };
        let row = match done.with_context(|| format!("generation {generation}, {stage}"))? {
            Ok(row) => row,
            Err(exit) => return Ok(LoopStep::Stopped(exit)),
        };
        row.save(&self.row_path(generation))?;
        self.rows[place] = row;
        self.write_table()?;
        Ok(LoopStep::Done)
    }

    fn write_table(&self) -> anyhow::Result<()> {
        Ok(write_texts(&self.plan.out, &[("loop.txt", self.table()), ("loop.json", self.json())])?)
    }

    /// Returns the seed of a generation.
    fn seed(&self, generation: u32) -> u64 {
        // The seed has 53 bits, which every JSON reader keeps exactly.
        SplitMix64::from_seeds(&[self.plan.seed, u64::from(generation)]).next_u64() >> 11
    }

    fn self_play(&self, row: GenerationRow) -> anyhow::Result<GenerationRow> {
        let games = self.folder(row.generation).join("games.vf").display().to_string();
        let threads = self.plan.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
        let (threads, seed) = (threads.to_string(), self.seed(row.generation).to_string());
        let mut words = vec!["--out", &games, "--threads", &threads, "--seed", &seed];
        words.extend(self.plan.self_play.iter().map(String::as_str));
        let present = self.present_before(row.generation)?.to_string();
        if present != "engine" {
            words.extend(["--evaluation", &present]);
        }
        let job = datagen::parse(&words)?;
        let bar = bar();
        let tally = datagen::run(&job, |tally| {
            bar.set_position(tally.games);
            bar.set_message(format!("{} positions", tally.positions));
        })?;
        bar.finish_and_clear();
        Ok(GenerationRow { self_play: Some(SelfPlayCounts { games: tally.games, positions: tally.positions }), ..row })
    }

    fn positions(&self, row: GenerationRow) -> anyhow::Result<GenerationRow> {
        let folder = self.folder(row.generation);
        let own = |name: &str| folder.join(name);
        let seed = self.seed(row.generation);
        split(&own("games.vf"), &own("train.vf"), &own("held-out.vf"), self.plan.held_out, seed)?;
        let first = row.generation.saturating_sub(self.plan.window - 1).max(1);
        let window = |name: &str| -> Vec<PathBuf> {
            (first..=row.generation).map(|generation| self.folder(generation).join(name)).collect()
        };
        let count = |name: &str, out: &str| prepare(&window(name), &own(out), &self.plan.filter, seed);
        let data = PositionCounts {
            training: count("train.vf", "train.bin")?,
            held_out: count("held-out.vf", "held-out.bin")?,
        };
        if data.training == 0 || data.held_out == 0 {
            bail!(
                "{} positions to train on and {} held out are left of the games; give more `games`, a larger `held-out` or a milder [filter], and another `out`",
                data.training,
                data.held_out
            );
        }
        Ok(GenerationRow { data: Some(data), ..row })
    }

    fn train(&self, row: GenerationRow, out: &mut dyn Write) -> anyhow::Result<GenerationRow> {
        let (folder, place) = (self.folder(row.generation), row.trainings.len());
        let is_one = self.plan.trainings.len() == 1;
        let end = if is_one { String::new() } else { format!("-{}", place + 1) };
        let mut plan: Plan = self.plan.trainings.get(place).context("there is no such training")?.clone();
        plan.name = format!("generation-{:03}{end}", row.generation);
        plan.out = folder.join(format!("training{end}"));
        plan.data.files = vec![folder.join("train.bin")];
        plan.data.validation = vec![folder.join("held-out.bin")];
        plan.threads = self.plan.threads.or(plan.threads);
        let summary = train(&plan, out)?;
        let last = summary.curve.points().last().context("the training has no superbatch")?;
        let network = summary.network.strip_prefix(&self.plan.out).unwrap_or(&summary.network);
        let trained = TrainingResult {
            validation: last.validation,
            mean_error: summary.rounding.mean,
            worst_error: summary.rounding.worst,
            network: network.display().to_string(),
            sha256: summary.hash,
        };
        if is_one {
            return Ok(GenerationRow { training: Some(trained), ..row });
        }
        let mut trainings = row.trainings.clone();
        trainings.push(trained);
        Ok(GenerationRow { trainings, ..row })
    }

    /// Plays the networks of all trainings against each other. The one with most points becomes
    /// the candidate, among equals that of the lower loss. Returns the exit status if the match
    /// stopped before its end.
    fn select(&self, row: GenerationRow) -> anyhow::Result<Result<GenerationRow, Exit>> {
        let nets = self.plan.out.join("nets");
        let kept = |(number, trained): (usize, &TrainingResult)| {
            let network = Evaluation::network(&self.plan.out.join(&trained.network))?.kept(&nets)?;
            Ok((format!("training-{}", number + 1), network))
        };
        let players = row.trainings.iter().enumerate().map(kept).collect::<anyhow::Result<Vec<_>>>()?;
        let selection = self.plan.selection.clone().context("there is no [selection]")?;
        let raw = RawPlan { seed: Some(self.seed(row.generation)), ..selection };
        let root = self.folder(row.generation).join("selection");
        let played = self.playing(|| field(&raw, &players, &self.engine, &root))?;
        if matches!(played.exit, Exit::Interrupted | Exit::Aborted) {
            return Ok(Err(played.exit));
        }
        let selected = selected(&played, &row.trainings);
        let training = row.trainings.get(selected.chosen - 1).cloned();
        Ok(Ok(GenerationRow { selection: Some(selected), training, ..row }))
    }

    /// Plays a match, which handles signals itself.
    fn playing<T>(&self, play: impl FnOnce() -> T) -> T {
        self.is_playing.store(true, Ordering::Relaxed);
        let played = play();
        self.is_playing.store(false, Ordering::Relaxed);
        played
    }

    /// Plays the candidate against the present network. Returns the exit status if the match
    /// stopped before its end.
    fn contest(&self, row: GenerationRow) -> anyhow::Result<Result<GenerationRow, Exit>> {
        let trained = row.training.as_ref().context("there is no network yet")?;
        let nets = self.plan.out.join("nets");
        let candidate = Evaluation::network(&self.plan.out.join(&trained.network))?.kept(&nets)?;
        let present = self.present_before(row.generation)?;
        let against = match &present {
            Evaluation::Network(path) => path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            other => other.to_string(),
        };
        let present = present.kept(&nets)?;
        let raw = RawPlan { seed: Some(self.seed(row.generation)), ..self.plan.contest.clone() };
        let name = format!("generation-{:03}", row.generation);
        let root = self.folder(row.generation).join("match");
        let played = self.playing(|| duel(&raw, &(&name, candidate), &(&against, present), &self.engine, &root))?;
        if matches!(played.exit, Exit::Interrupted | Exit::Aborted) {
            return Ok(Err(played.exit));
        }
        let met = judge(&played, against, self.plan.least_elo);
        Ok(Ok(GenerationRow { met: Some(met), ..row }))
    }
}

/// Chooses among the networks of a match.
fn selected(played: &PlayedRun, trainings: &[TrainingResult]) -> SelectionResult {
    let players = || (0..trainings.len()).filter_map(|place| u16::try_from(place).ok()).map(PlayerId);
    let wdl = |a: PlayerId| players().filter(move |b| *b != a).map(move |b| played.scoreboard.score(a, b).wdl);
    let points: Vec<f64> = players().map(|a| wdl(a).map(|wdl| wdl.points()).sum()).collect();
    let loss = |place: usize| trainings.get(place).map_or(f64::INFINITY, |trained| trained.validation);
    let best = (0..points.len()).max_by(|a, b| points[*a].total_cmp(&points[*b]).then(loss(*b).total_cmp(&loss(*a))));
    SelectionResult { chosen: best.unwrap_or(0) + 1, points, games: wdl(PlayerId(0)).map(|wdl| wdl.games()).sum() }
}

/// Judges the first player of a match.
fn judge(played: &PlayedRun, against: String, least_elo: f64) -> MatchResult {
    let score = played.scoreboard.score(PlayerId(0), PlayerId(1));
    let estimate = elo::logistic(&score.ptnml);
    let elo = estimate.and_then(|estimate| estimate.value.finite());
    let is_better = match (&played.plan.test, elo) {
        (Some(_), _) => played.scoreboard.verdict() == sprt::Verdict::AcceptH1,
        (None, Some(elo)) => elo > least_elo,
        (None, None) => score.wdl.wins > score.wdl.losses,
    };
    MatchResult {
        against,
        pairs: played.scoreboard.pairs(),
        wins: score.wdl.wins,
        draws: score.wdl.draws,
        losses: score.wdl.losses,
        elo,
        elo_error: estimate.and_then(|estimate| estimate.error()),
        verdict: if is_better { Verdict::Accepted } else { Verdict::Kept },
    }
}

fn bar() -> ProgressBar {
    let style = ProgressStyle::with_template("self-play {pos} games, {msg}, {per_sec}");
    ProgressBar::new_spinner().with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()))
}
