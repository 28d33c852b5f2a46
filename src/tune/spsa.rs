//! The updates of fishtest and OpenBench: simultaneous perturbation stochastic approximation (SPSA)
//! with a schedule that must know the number of pairs beforehand.
//!
//! With n steps, `c = c_end * n^gamma` and `a = r_end * c_end^2 * (A + n)^alpha`. In step k, `c_k =
//! c / k^gamma` and `R_k = a / (A + k)^alpha / c_k^2`. One side plays `theta + s c_k`, the other
//! `theta - s c_k`, where s is 1 or -1 for each parameter. Then `theta += R_k c_k w s`, where w is
//! the wins minus losses of the first side. Last, theta is clipped to its range. The two programs
//! differ in what a step is and in how values are rounded and clipped.
//!
//! Sources: J. C. Spall, "Implementation of the simultaneous perturbation algorithm for stochastic
//! optimization", IEEE Trans. Aerosp. Electron. Syst. 34 (1998); fishtest
//! `server/fishtest/spsa_workflow.py`; OpenBench `OpenBench/spsa_utils.py`.

use super::space::{Param, Space};

/// Smallest perturbation of a whole parameter in OpenBench: below it both sides may play one value.
const LEAST_WHOLE: f64 = 0.5;

/// Program whose updates are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// A step is a pair. Values are clipped, then rounded with a fraction of each side's own.
    Fishtest,
    /// A step is a workload of several pairs. Values are rounded with one fraction for both sides,
    /// then clipped; whole parameters are perturbed by a half at least.
    OpenBench,
}

/// Constants of the schedule; the default is that of both programs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Constants {
    /// Exponent of the gain.
    pub alpha: f64,
    /// Exponent of the perturbation.
    pub gamma: f64,
    /// A over the number of steps.
    pub ratio: f64,
}

impl Default for Constants {
    fn default() -> Self {
        Self { alpha: 0.602, gamma: 0.101, ratio: 0.1 }
    }
}

/// Perturbation and rate of a parameter in one step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gain {
    /// Distance of either side from theta in the parameter's own unit, `c_k`.
    pub perturbation: f64,
    /// Step along the gradient, `R_k`: `a_k` over the square of `c_k`.
    pub rate: f64,
}

/// Schedule of a run: all that follows from the parameters and the number of pairs.
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    peer: Peer,
    params: Vec<Param>,
    /// `c` and `a` of each parameter.
    scales: Vec<(f64, f64)>,
    constants: Constants,
    /// The A of the formulae.
    stability: f64,
    /// Pairs in a step.
    pairs_per_step: u32,
}

impl Schedule {
    /// Fishtest's schedule for a run of `pairs`.
    #[must_use]
    pub fn fishtest(space: &Space, pairs: u64, constants: Constants) -> Self {
        Self::new(Peer::Fishtest, space, pairs as f64, (constants.ratio * pairs as f64).trunc(), 1, constants)
    }

    /// OpenBench's schedule for a run of `workloads`, each of `pairs_per` pairs.
    #[must_use]
    pub fn openbench(space: &Space, workloads: u64, pairs_per: u32, constants: Constants) -> Self {
        let steps = workloads as f64;
        Self::new(Peer::OpenBench, space, steps, constants.ratio * steps, pairs_per.max(1), constants)
    }

    fn new(peer: Peer, space: &Space, steps: f64, stability: f64, pairs_per_step: u32, constants: Constants) -> Self {
        let Constants { alpha, gamma, .. } = constants;
        let scale = |param: &Param| {
            let c = param.step * steps.powf(gamma);
            (c, param.rate * param.step * param.step * (stability + steps).powf(alpha))
        };
        let scales = space.params().iter().map(scale).collect();
        Self { peer, params: space.params().to_vec(), scales, constants, stability, pairs_per_step }
    }

    /// Program whose updates are followed.
    #[must_use]
    pub const fn peer(&self) -> Peer {
        self.peer
    }

    /// Number k of the step that is handed out when `pairs` count.
    #[must_use]
    pub fn step(&self, pairs: u64) -> f64 {
        1.0 + pairs as f64 / f64::from(self.pairs_per_step)
    }

    /// Pairs that play one pair of vectors.
    #[must_use]
    pub const fn pairs_per_step(&self) -> u32 {
        self.pairs_per_step
    }

    /// Perturbations and rates of step `k`, which is 1 or more.
    #[must_use]
    pub fn gains(&self, k: f64) -> Vec<Gain> {
        let Constants { alpha, gamma, .. } = self.constants;
        let gain = |(param, (c, a)): (&Param, &(f64, f64))| {
            let mut perturbation = c / k.powf(gamma);
            if self.peer == Peer::OpenBench && param.kind.is_whole() {
                perturbation = perturbation.max(LEAST_WHOLE);
            }
            let rate = a / (self.stability + k).powf(alpha) / (perturbation * perturbation);
            Gain { perturbation, rate }
        };
        self.params.iter().zip(&self.scales).map(gain).collect()
    }

    /// Value of a parameter for the side at `offset` from `theta`.
    /// `fraction` in `0.0..1.0` decides how a whole one is rounded.
    fn value(&self, param: &Param, theta: f64, offset: f64, fraction: f64) -> f64 {
        let Param { kind, min, max, .. } = *param;
        let value = theta + offset;
        match self.peer {
            _ if !kind.is_whole() => value.clamp(min, max),
            Peer::Fishtest => (value.clamp(min, max) + fraction).floor(),
            Peer::OpenBench => (value + fraction).floor().clamp(min, max),
        }
    }

    /// Values that the two sides play in the ranges of `space`. `fractions` are those of the first
    /// and of the second side; OpenBench's two are equal.
    #[must_use]
    pub fn vectors(
        &self,
        space: &Space,
        theta: &[f64],
        gains: &[Gain],
        signs: &[f64],
        fractions: [&[f64]; 2],
    ) -> [Vec<f64>; 2] {
        [(1.0, fractions[0]), (-1.0, fractions[1])].map(|(side, fractions)| {
            let value = |index: usize| {
                let offset = side * signs[index] * gains[index].perturbation;
                self.value(&space.params()[index], theta[index], offset, fractions[index])
            };
            (0..space.len()).map(value).collect()
        })
    }

    /// Moves `theta` in the ranges of `space` by a result, the wins minus losses of the first side
    /// in all games that played the vectors. `gains` are those of the moment when the vectors were
    /// handed out.
    pub fn update(&self, space: &Space, theta: &mut [f64], gains: &[Gain], signs: &[f64], result: f64) {
        for (index, theta) in theta.iter_mut().enumerate() {
            let Gain { perturbation, rate } = gains[index];
            let Param { min, max, .. } = space.params()[index];
            *theta = (*theta + rate * perturbation * result * signs[index]).clamp(min, max);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use super::*;
    use serde::Deserialize;

    /// Made by `tests/it/fixtures/spsa/trace.py`, which knows only the formulae.
    const TRACE: &str = include_str!("../../tests/it/fixtures/spsa/trace.json");

    #[derive(Deserialize)]
    struct Trace {
        params: Vec<String>,
        alpha: f64,
        gamma: f64,
        ratio: f64,
        pairs: u64,
        pairs_per: u32,
        fishtest: Vec<Step>,
        openbench: Vec<Step>,
    }

    #[derive(Deserialize)]
    struct Step {
        k: f64,
        signs: Vec<f64>,
        u_plus: Vec<f64>,
        u_minus: Vec<f64>,
        w: f64,
        plus: Vec<f64>,
        minus: Vec<f64>,
        theta: Vec<f64>,
    }

    fn follow(schedule: &Schedule, space: &Space, steps: &[Step]) {
        let close = |found: &[f64], wanted: &[f64], what: &str, k: f64| {
            for (found, wanted) in found.iter().zip(wanted) {
                let error = (found - wanted).abs();
                assert!(error <= 1e-9 * wanted.abs().max(1.0), "{what} of step {k}: {found} for {wanted}");
            }
        };
        let mut theta = space.start();
        assert!(steps.len() >= 30);
        for step in steps {
            let gains = schedule.gains(step.k);
            let [plus, minus] = schedule.vectors(space, &theta, &gains, &step.signs, [&step.u_plus, &step.u_minus]);
            close(&plus, &step.plus, "plus", step.k);
            close(&minus, &step.minus, "minus", step.k);
            schedule.update(space, &mut theta, &gains, &step.signs, step.w);
            close(&theta, &step.theta, "theta", step.k);
        }
    }

    #[test]
    fn updates_follow_the_traces_of_an_independent_script() {
        let trace: Trace = serde_json::from_str(TRACE).expect("the fixture");
        let space = read::lines("trace", &trace.params.join("\n")).expect("sound");
        let Trace { alpha, gamma, ratio, pairs, pairs_per, .. } = trace;
        let constants = Constants { alpha, gamma, ratio };
        assert_eq!(constants, Constants::default());
        follow(&Schedule::fishtest(&space, pairs, constants), &space, &trace.fishtest);
        let openbench = Schedule::openbench(&space, pairs / u64::from(pairs_per), pairs_per, constants);
        follow(&openbench, &space, &trace.openbench);
        // Cases that the traces must contain for this test to mean something. They are a theta at
        // an end of its range, a perturbation that was raised to a half, and sides that fishtest
        // gave one value.
        let small = |peer: &Schedule| peer.gains(1.0)[2].perturbation;
        assert!(trace.fishtest.iter().any(|step| step.theta[1] == 0.0));
        assert!(small(&openbench) == 0.5 && small(&Schedule::fishtest(&space, pairs, constants)) < 0.5);
        assert!(trace.fishtest.iter().any(|step| step.plus[2] == step.minus[2]));
        assert!(trace.openbench.iter().all(|step| step.plus[2] != step.minus[2]));
    }

    #[test]
    fn the_last_step_is_what_the_names_say() {
        let space = read::lines("p", "a, float, 50, 0, 100, 4, 0.002").expect("sound");
        let schedule = Schedule::fishtest(&space, 30_000, Constants::default());
        let [gain] = schedule.gains(30_000.0)[..] else { panic!("one parameter") };
        assert!((gain.perturbation - 4.0).abs() < 1e-12 && (gain.rate - 0.002).abs() < 1e-12, "{gain:?}");
        assert_eq!((schedule.step(0), schedule.step(29_999)), (1.0, 30_000.0));
        assert_eq!(Schedule::openbench(&space, 100, 8, Constants::default()).step(12), 2.5);
    }
}
