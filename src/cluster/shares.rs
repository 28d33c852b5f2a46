//! Division of a worker's slots and memory among runs, by priority and weight. No clock and no I/O.
//!
//! Only runs of the highest priority are served. Among these the slots are dealt one at a time by
//! stride scheduling: each has a *pass*, the lowest pass is served next and grows by what a game
//! takes / weight: its slots, or its share of the memory if that is larger.
//! Passes stay from one deal to the next, so that over time even a single slot is shared by weight.
//! Every worker divides its own slots, so the sum over all workers is divided as well, without an
//! arbiter.

use std::collections::BTreeMap;

/// Minimum weight, so that a pass stays finite.
const LEAST_WEIGHT: f64 = 1e-3;

/// Maximum weight.
const MOST_WEIGHT: f64 = 1e3;

/// A run that a worker can serve.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Candidate {
    /// Name on the server.
    pub(crate) run: String,
    /// Higher ones are served first.
    pub(crate) priority: i8,
    /// Share within a priority.
    pub(crate) weight: f64,
    /// Slots that one game takes, at least 1.
    pub(crate) threads: u16,
    /// Memory that one game takes, in MiB.
    pub(crate) memory_mib: u64,
}

impl Candidate {
    /// True if this much is enough for a game.
    fn fits(&self, slots: u16, memory_mib: u64) -> bool {
        self.threads.max(1) <= slots && self.memory_mib <= memory_mib
    }
}

/// Passes of the runs.
#[derive(Debug, Default)]
pub(crate) struct Shares {
    passes: BTreeMap<String, f64>,
}

impl Shares {
    /// Deals `slots` to the candidates, for one quantum, as far as the memory holds their games.
    /// Returns the slots of each run that gets any, whole games only.
    pub(crate) fn deal(&mut self, candidates: &[Candidate], slots: u16, memory_mib: u64) -> BTreeMap<String, u16> {
        let fits = |candidate: &&Candidate| candidate.fits(slots, memory_mib);
        let highest = candidates.iter().filter(fits).map(|candidate| candidate.priority).max();
        let served: Vec<_> =
            candidates.iter().filter(fits).filter(|candidate| Some(candidate.priority) == highest).collect();
        self.passes.retain(|run, _| served.iter().any(|candidate| candidate.run == *run));
        // Who joins begins where the others are: it has no claim on earlier quanta.
        let lowest = self.passes.values().copied().reduce(f64::min).unwrap_or(0.0);
        for candidate in &served {
            self.passes.entry(candidate.run.clone()).or_insert(lowest);
        }
        // Kept small, so that sums stay exact over a long life.
        self.passes.values_mut().for_each(|pass| *pass -= lowest);
        let mut dealt = BTreeMap::new();
        let (mut left, mut memory_left) = (slots, memory_mib);
        loop {
            let next = served.iter().filter(|candidate| candidate.fits(left, memory_left));
            let pass = |candidate: &Candidate| self.passes.get(&candidate.run).copied().unwrap_or(0.0);
            let Some(next) = next.min_by(|a, b| pass(a).total_cmp(&pass(b)).then_with(|| a.run.cmp(&b.run))) else {
                return dealt;
            };
            let threads = next.threads.max(1);
            left -= threads;
            memory_left -= next.memory_mib;
            *dealt.entry(next.run.clone()).or_insert(0) += threads;
            let weight = if next.weight.is_nan() { 1.0 } else { next.weight.clamp(LEAST_WEIGHT, MOST_WEIGHT) };
            if let Some(pass) = self.passes.get_mut(&next.run) {
                // A game costs its share of the slots, or of the memory if that is larger.
                let of_memory = next.memory_mib as f64 / memory_mib as f64 * f64::from(slots);
                *pass += f64::from(threads).max(of_memory) / weight;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(name: &str, priority: i8, weight: f64, threads: u16) -> Candidate {
        Candidate { run: name.to_owned(), priority, weight, threads, memory_mib: 0 }
    }

    fn of_memory(run: Candidate, memory_mib: u64) -> Candidate {
        Candidate { memory_mib, ..run }
    }

    #[test]
    fn a_run_of_large_games_pays_for_their_memory() {
        let candidates = [of_memory(run("heavy", 0, 1.0, 1), 1_000), of_memory(run("light", 0, 1.0, 1), 100)];
        let mut shares = Shares::default();
        let mut played: BTreeMap<String, u32> = BTreeMap::new();
        for (run, _) in (0..20).flat_map(|_| shares.deal(&candidates, 8, 1_000)) {
            *played.entry(run).or_default() += 1;
        }
        assert_eq!((played["heavy"], played["light"]), (10, 10), "quanta of each");
    }

    #[test]
    fn slots_are_dealt_by_priority_and_weight() {
        for (candidates, slots, expected) in [
            (vec![], 4, &[][..]),
            (vec![run("a", 0, 1.0, 1)], 4, &[("a", 4)][..]),
            (vec![run("a", 0, 1.0, 1), run("b", 0, 1.0, 1)], 4, &[("a", 2), ("b", 2)]),
            (vec![run("a", 0, 1.0, 1), run("b", 0, 3.0, 1)], 8, &[("a", 2), ("b", 6)]),
            (vec![run("a", 0, 9.0, 1), run("b", 1, 1.0, 1)], 4, &[("b", 4)]),
            // Games of several threads take whole games.
            (vec![run("a", 0, 1.0, 2)], 5, &[("a", 4)]),
            (vec![run("a", 0, 1.0, 4), run("b", 0, 1.0, 1)], 5, &[("a", 4), ("b", 1)]),
            // A run that does not fit leaves its place to the next priority.
            (vec![run("a", 5, 1.0, 8), run("b", 0, 1.0, 1)], 4, &[("b", 4)]),
            (vec![of_memory(run("a", 5, 1.0, 1), 1_001), run("b", 0, 1.0, 1)], 4, &[("b", 4)]),
            // Slots without memory for the one run's games are for the other's.
            (vec![of_memory(run("a", 0, 1.0, 1), 600), of_memory(run("b", 0, 1.0, 1), 100)], 8, &[("a", 1), ("b", 4)]),
            (vec![of_memory(run("a", 0, 1.0, 1), 300)], 8, &[("a", 3)]),
            // Weights that no coordinator of ours writes.
            (vec![run("a", 0, f64::NAN, 1), run("b", 0, -1.0, 1)], 2, &[("a", 1), ("b", 1)]),
            (vec![run("a", 0, 0.0, 1), run("b", 0, f64::INFINITY, 0)], 3, &[("a", 1), ("b", 2)]),
        ] {
            let dealt = Shares::default().deal(&candidates, slots, 1_000);
            let expected: BTreeMap<_, _> = expected.iter().map(|(run, slots)| ((*run).to_owned(), *slots)).collect();
            assert_eq!(dealt, expected, "{candidates:?}");
        }
    }

    /// Over many quanta each run has its share within one quantum, whatever joins and leaves.
    #[test]
    fn one_slot_is_shared_over_time() {
        let mut shares = Shares::default();
        let mut played: BTreeMap<String, i32> = BTreeMap::new();
        let all = [run("a", 0, 1.0, 1), run("b", 0, 2.0, 1), run("c", 0, 1.0, 1)];
        for quantum in 0..400 {
            // The third one is away for half of the time, and has no claim on it afterwards.
            let present = if (100..300).contains(&quantum) { &all[..2] } else { &all[..] };
            for (run, slots) in shares.deal(present, 1, 0) {
                *played.entry(run).or_default() += i32::from(slots);
            }
        }
        // 200 quanta by 1:2:1, and 200 by 1:2.
        for (run, expected) in [("a", 50 + 67), ("b", 100 + 133), ("c", 50)] {
            assert!((played[run] - expected).abs() <= 2, "{run}: {played:?}");
        }
    }
}
