//! Batches of a run: positions, triplets, or both in turn.

use super::head::Loss;
use super::kernels::Step;
use super::plan::{MethodName, Plan};
use super::source::{Records, Source, SourceError};
use super::trainer::{Batch, Trainer, TrainingMethod};
use super::triplet::TRIPLET;
use super::triplet_figures::TripletFigures;
use bulletformat::ChessBoard;

/// Maximum number of held-out triplets used.
const MOST_HELD_OUT: u64 = 50_000;

/// Maximum number of held-out triplets in a picture.
const MOST_DRAWN: usize = 4000;

/// Sources of the batches of a plan.
#[derive(Debug)]
pub struct Feed {
    positions: Option<Source>,
    triplets: Option<Source>,
    /// Triplets that are never trained on.
    held_out: Vec<ChessBoard>,
}

/// Returns true if a batch, counted from the start of the run, has triplets.
pub fn has_triplets(method: MethodName, batch: u64) -> bool {
    match method {
        MethodName::Eval => false,
        MethodName::Pqr => true,
        MethodName::Mixed => batch % 2 == 1,
    }
}

impl Feed {
    /// Opens the sources of a plan after a number of batches. `records` are its positions, of which
    /// the first `used` are trained on.
    ///
    /// # Errors
    /// [`SourceError`] if a file cannot be read, there are no positions or triplets, or a file has
    /// none.
    pub fn open(plan: &Plan, records: Records, used: u64, batches: u64) -> Result<Feed, SourceError> {
        let (training, method) = (&plan.training, plan.training.method());
        let (of_positions, of_triplets) = match method {
            MethodName::Eval => (batches, 0),
            MethodName::Pqr => (0, batches),
            MethodName::Mixed => (batches.div_ceil(2), batches / 2),
        };
        let taken = of_positions * training.batch as u64;
        let positions = match method {
            MethodName::Pqr => None,
            _ => Some(Source::new(records, used, plan.seed, taken)?),
        };
        let Some(files) = plan.data.triplets.as_ref().filter(|_| method != MethodName::Eval) else {
            return Ok(Feed { positions, triplets: None, held_out: Vec::new() });
        };
        let mut records = Records::open(files)?;
        let group = TRIPLET as u64;
        let total = records.total() / group;
        let held = ((total as f64 * plan.data.validation_fraction) as u64).clamp(1, total.max(1));
        let used = total.saturating_sub(held) * group;
        let held_out = records.read_triplets(used, used + held.min(MOST_HELD_OUT) * group)?;
        let taken = of_triplets * training.triplet_batch() as u64;
        let triplets = Some(Source::of_triplets(records, used, plan.seed, taken)?);
        Ok(Feed { positions, triplets, held_out })
    }

    /// Returns the next batch. `batch` is its number from the start of the run.
    ///
    /// # Errors
    /// [`SourceError`] if reading fails.
    pub fn take(&mut self, plan: &Plan, batch: u64, (loss, step): (Loss, Step)) -> Result<Batch, SourceError> {
        let training = &plan.training;
        let is_of_triplets = has_triplets(training.method(), batch);
        let (source, count, method) = match is_of_triplets {
            true => (&mut self.triplets, training.triplet_batch(), TrainingMethod::Pqr(training.triplet_loss())),
            false => (&mut self.positions, training.batch, TrainingMethod::Eval(loss)),
        };
        let positions = source.as_mut().ok_or(SourceError::Empty)?.take(count)?;
        Ok(Batch { positions, method, step })
    }

    /// Returns the values that a network gives to up to [`MOST_DRAWN`] held-out triplets, taken at
    /// equal distances. `None` without triplets.
    pub fn figures(&self, trainer: &Trainer) -> Option<TripletFigures> {
        let (triplets, _) = self.held_out.as_chunks::<TRIPLET>();
        let step = triplets.len().div_ceil(MOST_DRAWN).max(1);
        let sample: Vec<ChessBoard> = triplets.iter().step_by(step).flatten().copied().collect();
        TripletFigures::of(trainer.outputs(&sample).as_chunks().0)
    }

    /// Measures a network on the held-out triplets: the mean loss, and the share with R above Q.
    /// `None` without triplets.
    pub fn measure(&self, plan: &Plan, trainer: &Trainer) -> Option<(f64, f64)> {
        let outputs = trainer.outputs(&self.held_out);
        let (triplets, _) = outputs.as_chunks::<TRIPLET>();
        if triplets.is_empty() {
            return None;
        }
        let (form, count) = (plan.training.triplet_loss(), triplets.len() as f64);
        let loss: f64 = triplets.iter().map(|outputs| f64::from(form.of(*outputs).0)).sum();
        let ordered = triplets.iter().filter(|[_, q, r]| r > q).count() as f64;
        Some((loss / count, ordered / count))
    }
}
