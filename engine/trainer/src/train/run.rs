//! Execution of a plan from the first batch to the exported network.

use super::checkpoint::{Checkpoint, CheckpointError, lock_folder};
use super::curve::{Curve, Point};
use super::export::{self, ExportError};
use super::feed::{Feed, has_triplets};
use super::head::{ErrorForm, Loss};
use super::integer::{Integer, Rounding};
use super::kernels::Step;
use super::loaded::{self, LoadedError};
use super::network::Parameters;
use super::order;
use super::plan::{MethodName, Plan, full};
use super::schedule::Progress;
use super::source::{Records, SourceError};
use super::trainer::{Batch, Trainer};
use crate::data::{DataError, replace};
use bulletformat::ChessBoard;
use destrier::nnue::sha256_hex;
use indicatif::{ProgressBar, ProgressStyle};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Folder of the networks of all superbatches in the folder of a run.
pub const SNAPSHOTS: &str = "snapshots";

/// Number of held-out positions on which the exported network is compared.
const ROUNDING_SAMPLE: usize = 100_000;

/// Error that stops a run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error(transparent)]
    Source(#[from] SourceError),
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    #[error(transparent)]
    Export(#[from] ExportError),
    #[error(transparent)]
    Loaded(#[from] LoadedError),
    #[error(transparent)]
    Data(#[from] DataError),
    #[error("{}: {error}", path.display())]
    Io { path: PathBuf, error: io::Error },
    #[error("{}: no checkpoint in it; train the plan first: `destrier-trainer train PLAN.toml`", out.display())]
    Untrained { out: PathBuf },
    #[error("{}: another training writes there; stop it first, or give the plan another `out`", out.display())]
    InUse { out: PathBuf },
    #[error("{}: the folder of two plans, `{one}` and `{other}`; give each its own `out`", out.display())]
    Shared { out: PathBuf, one: String, other: String },
    #[error(
        "{}: the network of another plan is there, {}; give this one, `{name}`, another `out`, or the other's `name`",
        out.display(),
        network.display()
    )]
    Foreign { out: PathBuf, network: PathBuf, name: String },
    #[error("{name}: the loss is not a number after superbatch {superbatch}; lower the rate's `start`")]
    Diverged { name: String, superbatch: u64 },
}

/// Result of a run.
#[derive(Debug, Clone)]
pub struct Summary {
    /// Name of the run.
    pub name: String,
    /// Centipawns of a score at which the win probability is 0.73.
    pub scale: f32,
    /// Learning curve.
    pub curve: Curve,
    /// Network file.
    pub network: PathBuf,
    /// Hexadecimal SHA-256 of the network's file.
    pub hash: String,
    /// Quantisation error on held-out positions.
    pub rounding: Rounding,
    /// Number of held-out positions on which Destrier returns the expected integer evaluation.
    pub same: usize,
    /// Positions per second in this process; `None` if it trained nothing.
    pub speed: Option<f64>,
}

/// Running plan.
pub struct Run<'a> {
    plan: &'a Plan,
    trainer: Trainer,
    feed: Feed,
    validation: Vec<ChessBoard>,
    curve: Curve,
    superbatches: u64,
    /// True if the run begins with the first layer of its start alone.
    has_new_layers: bool,
    /// Positions trained on and seconds spent by this process.
    spent: (u64, f64),
    advised: bool,
    /// Digest of everything that determines the weights.
    digest: [u8; 32],
    /// Lock of the folder, held during the run.
    _lock: File,
}

impl<'a> Run<'a> {
    /// Opens the data, and resumes from the checkpoint in the plan's folder if there is one.
    ///
    /// # Errors
    /// [`RunError`] if data, folder or checkpoint cannot be used.
    pub fn open(plan: &'a Plan) -> Result<Run<'a>, RunError> {
        check_folder(plan)?;
        std::fs::create_dir_all(&plan.out).map_err(|error| RunError::Io { path: plan.out.clone(), error })?;
        let lock = lock_folder(&plan.out)
            .map_err(|error| RunError::Io { path: plan.out.clone(), error })?
            .ok_or_else(|| RunError::InUse { out: plan.out.clone() })?;
        let shape = plan.shape();
        let mut records = Records::open(&plan.data.files)?;
        let (validation, used) = held_out(plan, &mut records)?;
        let digest = digest(plan, &mut records)?;
        let saved = Checkpoint::load(&checkpoint_path(plan), &shape, digest)?;
        let mut has_new_layers = false;
        let (superbatches, curve, state) = match saved {
            Some(saved) => {
                let curve = Curve::parse(&saved.curve, last_loss(plan).blend);
                (saved.superbatches, curve, saved.state)
            }
            None => {
                let weights = match &plan.network.start {
                    Some(path) => {
                        let initial = Checkpoint::weights(path, &shape, plan.seed)?;
                        has_new_layers = initial.has_new_layers;
                        initial.weights
                    }
                    None => Parameters::random(&shape, plan.seed),
                };
                let zero = Parameters::zero(&shape);
                (0, Curve::default(), [weights, zero.clone(), zero])
            }
        };
        let threads = plan.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
        let trainer = Trainer::new(shape, threads, &state);
        let feed = Feed::open(plan, records, used, superbatches * u64::from(plan.training.batches))?;
        let (spent, advised) = ((0, 0.0), false);
        let run = Run {
            plan,
            trainer,
            feed,
            validation,
            curve,
            superbatches,
            has_new_layers,
            spent,
            advised,
            digest,
            _lock: lock,
        };
        Ok(run)
    }

    /// Returns the number of completed superbatches.
    pub fn superbatches(&self) -> u64 {
        self.superbatches
    }

    /// Returns true if nothing is left to train.
    pub fn is_done(&self) -> bool {
        self.superbatches >= u64::from(self.plan.training.superbatches)
    }

    /// Trains one superbatch, measures the losses and saves a checkpoint if one is due.
    ///
    /// # Errors
    /// [`RunError`]; earlier files stay.
    pub fn superbatch(&mut self, bar: &ProgressBar) -> Result<Point, RunError> {
        let training = &self.plan.training;
        let batches = u64::from(training.batches);
        let first = self.superbatches * batches;
        if first == 0 {
            self.keep_snapshot()?;
        }
        let (plan, feed) = (self.plan, &mut self.feed);
        let mut batch = first;
        let begun = Instant::now();
        let (mut losses, mut recent, mut done, mut number) = (0.0, None, 0_u64, first);
        let next = || -> Result<Option<Batch>, SourceError> {
            if batch == first + batches {
                return Ok(None);
            }
            let next = feed.take(plan, batch, recipe(plan, batch))?;
            batch += 1;
            Ok(Some(next))
        };
        self.trainer.train(training.batch, next, |loss| {
            bar.inc(training.batch as u64);
            number += 1;
            // The losses of positions and of triplets have no common scale.
            if training.method() == MethodName::Mixed && has_triplets(MethodName::Mixed, number - 1) {
                return;
            }
            losses += loss;
            done += 1;
            let smooth = recent.map_or(loss, |recent| 0.98 * recent + 0.02 * loss);
            recent = Some(smooth);
            bar.set_message(format!("loss {smooth:.5}"));
        })?;
        self.superbatches += 1;
        self.spent.0 += batches * training.batch as u64;
        self.spent.1 += begun.elapsed().as_secs_f64();
        let point = self.measure(losses / done.max(1) as f64);
        if !point.train.is_finite() {
            return Err(RunError::Diverged { name: plan.name.clone(), superbatch: self.superbatches });
        }
        self.curve.push(point);
        self.keep_snapshot()?;
        if self.superbatches.is_multiple_of(u64::from(training.save_every)) || self.is_done() {
            self.save()?;
        }
        Ok(point)
    }

    /// Measures the losses on the held-out positions.
    fn measure(&self, train: f64) -> Point {
        let batches = u64::from(self.plan.training.batches);
        let (loss, step) = recipe(self.plan, (self.superbatches * batches).saturating_sub(1));
        let outputs = self.trainer.outputs(&self.validation);
        let mean = |loss: Loss| {
            let errors = outputs.iter().zip(&self.validation);
            let sum: f64 = errors.map(|(&out, b)| f64::from(loss.of(out, loss.target(b.score, b.result)).0)).sum();
            sum / self.validation.len() as f64
        };
        Point {
            superbatch: self.superbatches,
            positions: self.superbatches * batches * self.plan.training.batch as u64,
            rate: step.rate,
            wdl: loss.blend,
            train,
            validation: mean(loss),
            settled: mean(last_loss(self.plan)),
            score: mean(Loss { blend: 0.0, form: ErrorForm::Power(2.0), ..loss }),
            result: mean(Loss { blend: 1.0, form: ErrorForm::Power(2.0), ..loss }),
        }
    }

    fn save(&self) -> Result<(), RunError> {
        let training = &self.plan.training;
        let curve = self.curve.to_csv();
        self.write("curve.csv", curve.as_bytes())?;
        // The loss of triplets has another scale than that of held-out positions.
        let has_own_loss = training.method() != MethodName::Pqr;
        self.write("curve.svg", self.curve.to_svg(&self.plan.name, has_own_loss).as_bytes())?;
        let position = self.superbatches * u64::from(training.batches) * training.batch as u64;
        let state = self.trainer.state();
        let shape = self.plan.shape().signature();
        let checkpoint =
            Checkpoint { plan: self.digest, shape, superbatches: self.superbatches, position, curve, state };
        Ok(checkpoint.save(&checkpoint_path(self.plan))?)
    }

    /// Writes the network as it is to `snapshots`, if the plan wants them.
    fn keep_snapshot(&self) -> Result<(), RunError> {
        if !self.plan.snapshots {
            return Ok(());
        }
        let folder = self.plan.out.join(SNAPSHOTS);
        std::fs::create_dir_all(&folder).map_err(|error| RunError::Io { path: folder.clone(), error })?;
        let [weights, ..] = self.trainer.state();
        let shape = self.trainer.shape();
        let bytes = export::network(shape, &export::payload(shape, &weights)?)?;
        // Names in the order of the superbatches.
        self.write(&format!("{SNAPSHOTS}/{:05}.nnue", self.superbatches), &bytes)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), RunError> {
        let path = self.plan.out.join(name);
        Ok(replace(&path, bytes)?)
    }

    /// Draws the values of held-out triplets as `triplets-before.svg` or `triplets-after.svg`, and
    /// returns them in words. `None` if the plan has no triplets.
    fn draw_triplets(&self, stage: &str) -> Result<Option<String>, RunError> {
        let Some(figures) = self.feed.figures(&self.trainer) else { return Ok(None) };
        let svg = figures.to_svg(&self.plan.name, &format!("{stage} training"));
        self.write(&format!("triplets-{stage}.svg"), svg.as_bytes())?;
        Ok(Some(figures.text()))
    }

    /// Writes the network file, the picture `rounding.svg` of the quantisation error, and a bare
    /// `quantised.bin` if that determines the shape. Draws held-out triplets if there are any.
    /// Compares the integer evaluations with the float outputs, and those of Destrier with the
    /// trainer's. Neurons before a second layer are in order of their activity.
    ///
    /// # Errors
    /// [`RunError::Export`] if a weight is out of range, [`RunError::Loaded`] if Destrier evaluates
    /// differently, [`RunError::Data`].
    pub fn export(&self) -> Result<Summary, RunError> {
        let [weights, ..] = self.trainer.state();
        let shape = self.trainer.shape();
        let sample = &self.validation[..self.validation.len().min(ROUNDING_SAMPLE)];
        let weights = order::by_activity(shape, weights, sample)?;
        let payload = export::payload(shape, &weights)?;
        if shape.is_plain() {
            self.write("quantised.bin", &payload)?;
        }
        let integer = Integer::new(shape, &payload);
        let rounding = Rounding::of(&integer, sample, &self.trainer.outputs(sample), self.plan.training.gain());
        self.write("rounding.svg", rounding.to_svg(&self.plan.name).as_bytes())?;
        self.draw_triplets("after")?;
        let bytes = export::network(shape, &payload)?;
        let network = network_path(self.plan);
        // A network that fails the check does not replace an older one.
        let same = loaded::check(&network, &bytes, &integer, sample)?;
        replace(&network, &bytes)?;
        let hash = sha256_hex(&bytes);
        let speed = (self.spent.0 > 0).then(|| self.spent.0 as f64 / self.spent.1.max(1e-9));
        let (name, curve) = (self.plan.name.clone(), self.curve.clone());
        Ok(Summary { name, scale: self.plan.training.score_scale(), curve, network, hash, rounding, same, speed })
    }

    /// Returns the advice to stop, once, if the plan's patience is exhausted. It uses the loss
    /// against the target of the last batch, because the loss against a moving target may rise
    /// while the network improves.
    fn advice(&mut self) -> Option<String> {
        let patience = u64::from(self.plan.training.patience);
        if self.plan.training.method() == MethodName::Pqr {
            // Triplets do not teach the scores against which the loss is measured.
            return None;
        }
        let best = self.curve.best()?;
        let waited = self.superbatches - best.superbatch;
        if self.advised || patience == 0 || waited < patience || self.is_done() {
            return None;
        }
        self.advised = true;
        Some(format!(
            "no better validation loss for {waited} superbatches (best {:.6} at {}): more positions or a smaller network \
             would do more than going on",
            best.settled, best.superbatch
        ))
    }
}

/// Trains a plan to its end and exports the network. Each superbatch prints a line on `out`.
///
/// # Errors
/// [`RunError`]; the last checkpoint stays, and the same call resumes from it.
pub fn run(plan: &Plan, out: &mut dyn Write) -> Result<Summary, RunError> {
    let mut run = Run::open(plan)?;
    let total = u64::from(plan.training.superbatches);
    let positions = u64::from(plan.training.batches) * plan.training.batch as u64;
    let bar = ProgressBar::new(total * positions).with_style(style()).with_prefix(plan.name.clone());
    bar.enable_steady_tick(Duration::from_millis(500));
    bar.set_position(run.superbatches() * positions);
    bar.reset_eta();
    let say = |line: String, out: &mut dyn Write| {
        // A closed pipe must not end the run.
        let _ = bar.suspend(|| writeln!(out, "{line}").and_then(|()| out.flush()));
    };
    if run.superbatches() > 0 {
        say(format!("{}: goes on after superbatch {}", plan.name, run.superbatches()), out);
    } else if let Some(text) = run.draw_triplets("before")? {
        say(format!("{}: before training, {text}", plan.name), out);
    }
    if run.has_new_layers {
        say(format!("{}: only the first layer is that of `start`; the layers after it are random", plan.name), out);
    }
    while !run.is_done() {
        let begun = Instant::now();
        let point = run.superbatch(&bar)?;
        let speed = positions as f64 / begun.elapsed().as_secs_f64().max(1e-9);
        let triplets = run.feed.measure(plan, &run.trainer).map_or_else(String::new, |(loss, ordered)| {
            format!(", triplets {loss:.5}, {:.1} % in order", 100.0 * ordered)
        });
        say(format!("{}: {point}{triplets} ({:.2} M positions/s)", plan.name, speed / 1e6), out);
        if let Some(advice) = run.advice() {
            say(format!("{}: {advice}", plan.name), out);
        }
    }
    bar.finish_and_clear();
    run.export()
}

fn style() -> ProgressStyle {
    ProgressStyle::with_template("{prefix} {wide_bar} {percent}% {msg}, {per_sec}, {eta} left")
        .unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// Returns the loss and the optimiser step of a batch, counted from the start of the run.
fn recipe(plan: &Plan, batch: u64) -> (Loss, Step) {
    let (training, optimiser) = (&plan.training, &plan.optimiser);
    let progress =
        Progress { batch, per_superbatch: u64::from(training.batches), superbatches: u64::from(training.superbatches) };
    let loss = Loss {
        form: training.form(),
        blend: plan.wdl.at(progress),
        scale: training.score_scale(),
        gain: training.gain(),
    };
    let step = Step {
        rate: plan.rate.at(progress),
        decay: optimiser.decay,
        beta1: optimiser.beta1,
        beta2: optimiser.beta2,
        epsilon: optimiser.epsilon,
        clip: optimiser.clip,
        clip_features: if optimiser.clip_features { optimiser.clip } else { f32::MAX },
    };
    (loss, step)
}

/// Returns the held-out positions and the number of records left for training.
fn held_out(plan: &Plan, records: &mut Records) -> Result<(Vec<ChessBoard>, u64), SourceError> {
    let most = plan.data.validation_positions;
    if plan.data.validation.is_empty() {
        let held = ((records.total() as f64 * plan.data.validation_fraction) as u64).clamp(1, records.total().max(1));
        let used = records.total().saturating_sub(held);
        return Ok((records.read_positions(used, records.total().min(used + most))?, used));
    }
    let same = |path: &PathBuf| plan.data.files.iter().any(|file| full(file) == full(path));
    if let Some(path) = plan.data.validation.iter().find(|path| same(path)) {
        return Err(SourceError::NotHeldOut { path: path.clone() });
    }
    let mut files = Records::open(&plan.data.validation)?;
    let count = files.total().min(most);
    if count == 0 {
        return Err(SourceError::Empty);
    }
    Ok((files.read_positions(0, count)?, records.total()))
}

/// Returns the loss of the last batch, whose target is the final one.
fn last_loss(plan: &Plan) -> Loss {
    recipe(plan, (u64::from(plan.training.superbatches) * u64::from(plan.training.batches)).saturating_sub(1)).0
}

/// Checks a plan for errors before the `earlier` plans run; creates no files.
///
/// # Errors
/// As [`Run::open`], and [`RunError::Shared`].
pub fn check(plan: &Plan, earlier: &[Plan]) -> Result<(), RunError> {
    if let Some(other) = earlier.iter().find(|other| other.out == plan.out) {
        let (one, other) = (other.name.clone(), plan.name.clone());
        return Err(RunError::Shared { out: plan.out.clone(), one, other });
    }
    check_folder(plan)?;
    let mut records = Records::open(&plan.data.files)?;
    let (_, used) = held_out(plan, &mut records)?;
    // The first weights may be the result of an earlier plan.
    let start = plan.network.start.as_deref().map(full);
    let writes = |other: &Plan, start: &PathBuf| [checkpoint_path(other), network_path(other)].contains(start);
    if !earlier.iter().any(|other| start.as_ref().is_some_and(|start| writes(other, start))) {
        let digest = digest(plan, &mut records)?;
        let saved = Checkpoint::load(&checkpoint_path(plan), &plan.shape(), digest)?;
        if let (None, Some(start)) = (saved, start) {
            Checkpoint::weights(&start, &plan.shape(), plan.seed)?;
        }
    }
    Feed::open(plan, records, used, 0)?;
    Ok(())
}

/// Opens a run that has a checkpoint.
///
/// # Errors
/// As [`Run::open`], and [`RunError::Untrained`] if there is no checkpoint; no files are created
/// then.
pub fn trained(plan: &Plan) -> Result<Run<'_>, RunError> {
    if !checkpoint_path(plan).exists() {
        return Err(RunError::Untrained { out: plan.out.clone() });
    }
    Run::open(plan)
}

/// Checks that the folder has no network of another plan, because the two could not be
/// distinguished.
fn check_folder(plan: &Plan) -> Result<(), RunError> {
    let own = network_path(plan);
    let io = |error| RunError::Io { path: plan.out.clone(), error };
    let entries = match std::fs::read_dir(&plan.out) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(io)?,
    };
    for entry in entries {
        let network = entry.map_err(io)?.path();
        if network.extension().is_some_and(|extension| extension == "nnue") && network != own {
            return Err(RunError::Foreign { out: plan.out.clone(), network, name: plan.name.clone() });
        }
    }
    Ok(())
}

fn network_path(plan: &Plan) -> PathBuf {
    plan.out.join(format!("{}.nnue", plan.name))
}

fn checkpoint_path(plan: &Plan) -> PathBuf {
    plan.out.join("checkpoint.bin")
}

/// Returns a digest of everything in a plan and its data that determines the weights and the curve.
fn digest(plan: &Plan, records: &mut Records) -> Result<[u8; 32], RunError> {
    let Plan { seed, data, .. } = plan;
    let (network, training, rate, wdl, optimiser) = plan.decisive().map_err(|error| start_error(plan, error))?;
    let mut positions = vec![records.digest()?, Records::open(&data.validation)?.digest()?];
    if let Some(files) = &data.triplets {
        positions.push(Records::open(files)?.digest()?);
    }
    let held = (data.validation_fraction, data.validation_positions);
    let decisive = (seed, held, positions, network, training, rate, wdl, optimiser);
    Ok(Sha256::digest(format!("{decisive:?}")).into())
}

/// Creates the error for an initial checkpoint that cannot be read.
fn start_error(plan: &Plan, error: io::Error) -> CheckpointError {
    let path = plan.network.start.clone().unwrap_or_default();
    match error.kind() {
        io::ErrorKind::NotFound => CheckpointError::Start { path, fault: "there is no such file".to_owned() },
        _ => DataError::io(&path, "read it")(error).into(),
    }
}
