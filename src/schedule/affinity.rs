//! Which CPUs a slot gets: one physical core each, hyper-thread siblings only when the cores are used up.

use std::collections::BTreeSet;
use std::path::Path;

/// The machine's CPUs as the scheduler may use them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    /// One group for each physical core: its CPUs, lowest first. Lowest core first.
    cores: Vec<Vec<usize>>,
}

impl Topology {
    /// Reads what this process may run on. Where the system does not say how CPUs are paired, each counts as a core.
    #[must_use]
    pub fn detect() -> Self {
        let allowed = allowed_cpus();
        let siblings = |cpu: usize| {
            let path = format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
            std::fs::read_to_string(Path::new(&path)).ok().and_then(|text| parse_cpu_list(&text))
        };
        Self::from_siblings(&allowed, siblings)
    }

    fn from_siblings(allowed: &[usize], siblings: impl Fn(usize) -> Option<Vec<usize>>) -> Self {
        let mut seen: BTreeSet<usize> = BTreeSet::new();
        let mut cores = Vec::new();
        for &cpu in allowed {
            if seen.contains(&cpu) {
                continue;
            }
            let mut group: Vec<usize> =
                siblings(cpu).unwrap_or_default().into_iter().filter(|sibling| allowed.contains(sibling)).collect();
            if !group.contains(&cpu) {
                group.push(cpu);
            }
            group.sort_unstable();
            seen.extend(group.iter().copied());
            cores.push(group);
        }
        Self { cores }
    }

    /// Physical cores that this process may use, at least 1.
    #[must_use]
    pub fn physical_cores(&self) -> usize {
        self.cores.len().max(1)
    }

    /// CPUs that this process may use, at least 1.
    #[must_use]
    pub fn cpus(&self) -> usize {
        self.cores.iter().map(Vec::len).sum::<usize>().max(1)
    }

    /// The CPU for slot `slot` (from 0): first CPUs of all cores before second CPUs of any. `None` past the last CPU.
    #[must_use]
    pub fn cpu_for_slot(&self, slot: usize) -> Option<usize> {
        let widest = self.cores.iter().map(Vec::len).max().unwrap_or(0);
        (0..widest).flat_map(|nth| self.cores.iter().filter_map(move |core| core.get(nth))).nth(slot).copied()
    }
}

/// More timed games at once than there are CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "--concurrency {games}: this machine has {cpus} CPUs, and games that share one are charged for each other's time; \
     use at most that many, --nodes or --depth, or begin the run with --force-concurrency"
)]
pub struct TooManyGames {
    games: u16,
    cpus: usize,
}

/// Whether `games` may run at once: as many as there are CPUs where a clock runs, any number otherwise.
///
/// # Errors
/// [`TooManyGames`].
pub fn check_concurrency(games: u16, timed: bool, topology: &Topology) -> Result<(), TooManyGames> {
    let cpus = topology.cpus();
    if timed && usize::from(games) > cpus { Err(TooManyGames { games, cpus }) } else { Ok(()) }
}

#[cfg(target_os = "linux")]
fn allowed_cpus() -> Vec<usize> {
    use rustix::thread::{CpuSet, sched_getaffinity};
    match sched_getaffinity(None) {
        Ok(set) => (0..CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu)).collect(),
        Err(_) => (0..parallelism()).collect(),
    }
}

#[cfg(not(target_os = "linux"))]
fn allowed_cpus() -> Vec<usize> {
    (0..parallelism()).collect()
}

fn parallelism() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Parses the kernel's list form: `0,2-3`.
fn parse_cpu_list(text: &str) -> Option<Vec<usize>> {
    let mut cpus = Vec::new();
    for part in text.trim().split(',') {
        match part.split_once('-') {
            Some((first, last)) => cpus.extend(first.parse::<usize>().ok()?..=last.parse().ok()?),
            None => cpus.push(part.parse().ok()?),
        }
    }
    Some(cpus)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_come_before_their_siblings() {
        // Four CPUs on two cores, paired 0+2 and 1+3.
        let topology = Topology::from_siblings(&[0, 1, 2, 3], |cpu| Some(vec![cpu % 2, cpu % 2 + 2]));
        let order: Vec<_> = (0..5).map(|slot| topology.cpu_for_slot(slot)).collect();
        assert_eq!(order, [Some(0), Some(1), Some(2), Some(3), None]);
        assert_eq!((topology.physical_cores(), topology.cpus()), (2, 4));
    }

    #[test]
    fn a_cpu_we_may_not_use_is_left_out() {
        let topology = Topology::from_siblings(&[1, 2], |cpu| Some(vec![cpu % 2, cpu % 2 + 2]));
        assert_eq!([0, 1].map(|slot| topology.cpu_for_slot(slot)), [Some(1), Some(2)]);
        assert_eq!(topology.physical_cores(), 2);
    }

    #[test]
    fn timed_games_need_a_cpu_each() {
        let topology = Topology::from_siblings(&[0, 1], |_| None);
        let cases = [(2, true, true), (3, true, false), (64, false, true)];
        for (games, timed, fits) in cases {
            assert_eq!(check_concurrency(games, timed, &topology).is_ok(), fits, "{games}");
        }
    }

    #[test]
    fn kernel_lists_parse() {
        assert_eq!(parse_cpu_list("0,2-4\n"), Some(vec![0, 2, 3, 4]));
        assert_eq!(parse_cpu_list("x"), None);
    }
}
