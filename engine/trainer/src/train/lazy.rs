//! Rows of a large first layer that wait for the optimiser until a batch uses them.
//!
//! A step of AdamW costs as much for a row without a gradient as for any other, and a batch uses
//! few rows of a large set. So a row is brought up to date when a batch uses it again, and at the
//! end of a superbatch. Over `k` steps without a gradient its moments shrink by `beta^k`, its
//! weights by weight decay. The last moves by its old momentum are left out.

use super::kernels::Step;
use super::network::Shape;

/// Weights of the first layer from which on the rows wait.
const LEAST_WEIGHTS: usize = 1 << 21;

/// Rows that wait, by the steps that they have missed.
#[derive(Debug)]
pub struct LazyRows {
    /// Logarithm of the weight decay up to each step, from the last [`Self::reset`] on.
    decay: Vec<f64>,
    betas: [f64; 2],
    /// Steps that each row has made.
    made: Vec<u32>,
    /// Rows that the present batch uses, in the order of their first use.
    touched: Vec<u32>,
    is_touched: Vec<bool>,
}

impl LazyRows {
    /// Returns whether a network of this shape trains faster so. Networks of the set `piece` always
    /// make full steps, because their batches use most rows.
    pub fn is_worth_it(shape: &Shape) -> bool {
        !shape.inputs.set().is_piece() && shape.inputs.size() * shape.hidden > LEAST_WEIGHTS
    }

    /// Creates the state for a number of rows that are up to date.
    pub fn new(rows: usize) -> LazyRows {
        let (made, is_touched) = (vec![0; rows], vec![false; rows]);
        LazyRows { decay: vec![0.0], betas: [1.0; 2], made, touched: Vec::new(), is_touched }
    }

    /// Returns the number of steps made so far.
    fn steps(&self) -> u32 {
        self.decay.len() as u32 - 1
    }

    /// Notes that the batch uses a row. Returns true at its first use.
    #[inline]
    pub fn touch(&mut self, row: usize) -> bool {
        if std::mem::replace(&mut self.is_touched[row], true) {
            return false;
        }
        self.touched.push(row as u32);
        true
    }

    /// Returns the rows that the batch uses.
    pub fn touched(&self) -> &[u32] {
        &self.touched
    }

    /// Returns the factors of a row's weights and of both moments for the steps it has missed, and
    /// marks it as up to date.
    #[inline]
    pub fn factors(&mut self, row: usize) -> [f32; 3] {
        let now = self.steps();
        let missed = now - std::mem::replace(&mut self.made[row], now);
        if missed == 0 {
            return [1.0; 3];
        }
        let decay = (self.decay[now as usize] - self.decay[(now - missed) as usize]).exp();
        let [beta1, beta2] = self.betas.map(|beta| beta.powi(missed.min(1 << 20) as i32));
        [decay, beta1, beta2].map(|factor| factor as f32)
    }

    /// Records a step of the optimiser.
    pub fn record(&mut self, step: &Step) {
        let last = self.decay[self.steps() as usize];
        self.decay.push(last + (1.0 - f64::from(step.rate) * f64::from(step.decay)).max(1e-300).ln());
        self.betas = [step.beta1, step.beta2].map(f64::from);
    }

    /// Ends a batch: the rows it used have made its step.
    pub fn finish(&mut self) {
        let now = self.steps();
        for row in self.touched.drain(..) {
            self.made[row as usize] = now;
            self.is_touched[row as usize] = false;
        }
    }

    /// Forgets the steps so far; all rows must be up to date.
    pub fn reset(&mut self) {
        self.decay.truncate(1);
        self.made.fill(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEP: Step =
        Step { rate: 0.1, decay: 0.5, beta1: 0.5, beta2: 0.25, epsilon: 1e-8, clip: 1.98, clip_features: 1.98 };

    #[test]
    fn missed_steps_are_made_up_for() {
        let mut lazy = LazyRows::new(3);
        for _ in 0..2 {
            assert!(lazy.touch(1) && !lazy.touch(1));
            assert_eq!(lazy.factors(1), [1.0; 3]);
            lazy.record(&STEP);
            lazy.finish();
        }
        let near = |found: [f32; 3], expected: [f32; 3]| {
            assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{found:?}");
        };
        near(lazy.factors(0), [0.95 * 0.95, 0.25, 0.0625]);
        near(lazy.factors(0), [1.0; 3]);
        near(lazy.factors(1), [1.0; 3]);
        lazy.record(&STEP);
        near(lazy.factors(1), [0.95, 0.5, 0.25]);
        near(lazy.factors(2), [0.95_f32.powi(3), 0.125, 0.015_625]);
        lazy.factors(0);
        lazy.reset();
        near(lazy.factors(2), [1.0; 3]);
    }
}
