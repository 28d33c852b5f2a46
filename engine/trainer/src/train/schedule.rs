//! Schedules of the learning rate and of the blend of score and result.

use serde::Deserialize;

/// Progress of a run.
#[derive(Debug, Clone, Copy)]
pub struct Progress {
    /// Number of completed batches.
    pub batch: u64,
    /// Batches per superbatch.
    pub per_superbatch: u64,
    /// Superbatches in the run.
    pub superbatches: u64,
}

impl Progress {
    /// Returns the progress from 0 at the first batch to 1 at the last.
    fn part(&self) -> f32 {
        let last = (self.per_superbatch * self.superbatches).saturating_sub(1).max(1);
        (self.batch as f64 / last as f64).min(1.0) as f32
    }
}

/// Learning rate schedule of a run.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Rate {
    /// Course of the rate over the batches.
    pub schedule: RateSchedule,
    /// Rate of the first batch.
    pub start: f32,
    /// Rate of the last batch; required by linear and cosine.
    #[serde(default)]
    pub end: Option<f32>,
    /// Factor of each step of the step schedule.
    #[serde(default)]
    pub gamma: Option<f32>,
    /// Superbatches between steps of the step schedule.
    #[serde(default)]
    pub every: Option<u32>,
    /// Number of warm-up batches, over which the rate rises from zero.
    #[serde(default)]
    pub warm_up: u32,
}

/// Shape of the learning rate schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RateSchedule {
    Constant,
    Step,
    Linear,
    Cosine,
}

impl Rate {
    /// Returns the learning rate of a batch.
    pub fn at(&self, progress: Progress) -> f32 {
        let end = self.end.unwrap_or(self.start);
        let rate = match self.schedule {
            RateSchedule::Constant => self.start,
            RateSchedule::Step => {
                let superbatch = progress.batch / progress.per_superbatch.max(1);
                let steps = superbatch / u64::from(self.every.unwrap_or(1)).max(1);
                self.start * self.gamma.unwrap_or(1.0).powi(steps.min(10_000) as i32)
            }
            RateSchedule::Linear => self.start + (end - self.start) * progress.part(),
            RateSchedule::Cosine => {
                let half = 0.5 + 0.5 * (progress.part() * std::f32::consts::PI).cos();
                end + (self.start - end) * half
            }
        };
        let climbed = (progress.batch + 1) as f32 / self.warm_up.max(1) as f32;
        rate * climbed.min(1.0)
    }

    pub(super) fn check(&self) -> Result<(), (String, &'static str)> {
        if !(self.start > 0.0 && self.start <= 0.1) {
            return Err((format!("start = {}", self.start), "give more than 0 and at most 0.1; 0.001 is usual"));
        }
        let falls = matches!(self.schedule, RateSchedule::Linear | RateSchedule::Cosine);
        let end = self.end.is_some_and(|end| end >= 0.0 && end <= self.start);
        if falls && !end {
            return Err(("without a fitting `end`".to_owned(), "give an end from 0 to start"));
        }
        let steps = self.gamma.is_some_and(|gamma| gamma > 0.0 && gamma <= 1.0) && self.every.is_some_and(|n| n > 0);
        if self.schedule == RateSchedule::Step && !steps {
            return Err(("a step without its numbers".to_owned(), "give gamma (0 to 1) and every (superbatches)"));
        }
        if !falls && self.end.is_some() {
            return Err(("an end that nothing uses".to_owned(), "only linear and cosine have it: leave it out"));
        }
        if self.schedule != RateSchedule::Step && (self.gamma.is_some() || self.every.is_some()) {
            return Err(("gamma or every that nothing uses".to_owned(), "only step has them: leave them out"));
        }
        Ok(())
    }
}

/// Schedule of the result's share in the target; the rest is the score.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "schedule", rename_all = "lowercase", deny_unknown_fields)]
pub enum Blend {
    Constant {
        value: f32,
    },
    Linear {
        start: f32,
        end: f32,
    },
    /// Consecutive linear stretches; the last value holds to the end of the run.
    Sequence {
        stretches: Vec<Stretch>,
    },
}

/// Stretch of superbatches over which the blend changes linearly.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stretch {
    /// Length of the stretch.
    pub superbatches: u32,
    /// Share of the result at its start, 0 to 1.
    pub start: f32,
    /// Share of the result at its end, 0 to 1.
    pub end: f32,
}

impl Default for Blend {
    /// Returns the blend of the score alone.
    fn default() -> Blend {
        Blend::Constant { value: 0.0 }
    }
}

impl Blend {
    /// Returns the result's share for a batch, 0 to 1.
    pub fn at(&self, progress: Progress) -> f32 {
        match self {
            Blend::Constant { value } => *value,
            Blend::Linear { start, end } => start + (end - start) * progress.part(),
            Blend::Sequence { stretches } => {
                let mut batch = progress.batch;
                for stretch in stretches {
                    let batches = u64::from(stretch.superbatches) * progress.per_superbatch;
                    if batch < batches {
                        let part = batch as f32 / batches as f32;
                        return stretch.start + (stretch.end - stretch.start) * part;
                    }
                    batch -= batches;
                }
                stretches.last().map_or(0.0, |stretch| stretch.end)
            }
        }
    }

    pub(super) fn check(&self) -> Result<(), (String, &'static str)> {
        let values = match self {
            Blend::Constant { value } => vec![*value],
            Blend::Linear { start, end } => vec![*start, *end],
            Blend::Sequence { stretches } => {
                stretches.iter().flat_map(|stretch| [stretch.start, stretch.end]).collect()
            }
        };
        match values.iter().find(|value| !(0.0..=1.0).contains(*value)) {
            Some(value) => Err((value.to_string(), "give parts from 0 (score) to 1 (result)")),
            None if values.is_empty() => Err(("an empty sequence".to_owned(), "give at least one stretch")),
            None => Ok(()),
        }
    }
}
