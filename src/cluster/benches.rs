//! Counts of nodes on workers that differ from the plan's.
//!
//! One such machine may be faulty. When three agree, the plan is: its program was changed or its
//! count was taken otherwise, and its games would say nothing.

use std::collections::{BTreeMap, BTreeSet};

/// Machines that must agree against the plan.
const MOST: usize = 3;

/// Machines by the player and the count that they found.
#[derive(Debug, Default)]
pub(super) struct BenchMismatches {
    found: BTreeMap<(u16, u64), BTreeSet<String>>,
}

impl BenchMismatches {
    /// Records the count of a machine. Returns the machines that agree on it, once there are enough
    /// to stop the run.
    pub(super) fn record(&mut self, machine: &str, player: u16, nodes: u64) -> Option<Vec<String>> {
        let agree = self.found.entry((player, nodes)).or_default();
        agree.insert(machine.to_owned());
        (agree.len() >= MOST).then(|| agree.iter().cloned().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_machines_that_agree_stop_a_run() {
        let mut benches = BenchMismatches::default();
        for (machine, player, nodes, expected) in [
            ("a", 0, 5, None),
            ("a", 0, 5, None),
            ("b", 0, 6, None),
            ("b", 1, 5, None),
            ("c", 0, 5, None),
            ("d", 0, 5, Some(vec!["a", "c", "d"])),
        ] {
            let stops = benches.record(machine, player, nodes);
            let expected = expected.map(|names: Vec<&str>| names.into_iter().map(str::to_owned).collect());
            assert_eq!(stops, expected, "{machine} {player} {nodes}");
        }
    }
}
