//! Which CPUs a slot gets: a physical core for each thread of an engine, hyper-thread siblings only when the cores are used up.

use std::collections::BTreeSet;
use std::path::Path;

/// The machine's CPUs as the scheduler may use them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    /// One group for each physical core: its CPUs, lowest first. Lowest core first.
    cores: Vec<Vec<usize>>,
    /// How many of them may run at once: a container may be allowed the time of fewer than it sees.
    quota: usize,
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
        Self { quota: parallelism(), ..Self::from_siblings(&allowed, siblings) }
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
        Self { cores, quota: usize::MAX }
    }

    /// Physical cores that this process may use, at least 1.
    #[must_use]
    pub fn physical_cores(&self) -> usize {
        self.cores.len().min(self.quota).max(1)
    }

    /// CPUs that this process may use, at least 1.
    #[must_use]
    pub fn cpus(&self) -> usize {
        self.cores.iter().map(Vec::len).sum::<usize>().min(self.quota).max(1)
    }

    /// The CPUs for slot `slot` (from 0), one for each of `threads`: first CPUs of all cores before second CPUs of any. Empty where
    /// there are not so many left.
    #[must_use]
    pub fn cpus_for_slot(&self, slot: usize, threads: usize) -> Vec<usize> {
        let widest = self.cores.iter().map(Vec::len).max().unwrap_or(0);
        let all = (0..widest).flat_map(|nth| self.cores.iter().filter_map(move |core| core.get(nth)));
        let mine: Vec<_> = all.skip(slot.saturating_mul(threads)).take(threads).copied().collect();
        if mine.len() == threads { mine } else { Vec::new() }
    }

    /// Games at once with a physical core for each thread of the engine that thinks; at least 1.
    #[must_use]
    pub fn default_concurrency(&self, threads: usize) -> u16 {
        u16::try_from(self.physical_cores() / threads.max(1)).unwrap_or(u16::MAX).max(1)
    }
}

/// More timed games at once than there are CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "--concurrency {games}{}: this machine has {cpus} CPUs, and games that share one are charged for each other's time; \
     use fewer, --nodes or --depth, or begin the run with --force-concurrency",
    if *threads == 1 { String::new() } else { format!(" with {threads} threads each") }
)]
pub struct TooManyGames {
    games: u16,
    threads: usize,
    cpus: usize,
}

/// Whether `games` may run at once: where a clock runs, one for each CPU, or for each `threads` CPUs with engines of so many threads
/// (of a game's two engines one thinks at a time); any number otherwise.
///
/// # Errors
/// [`TooManyGames`].
pub fn check_concurrency(games: u16, threads: usize, timed: bool, topology: &Topology) -> Result<(), TooManyGames> {
    let cpus = topology.cpus();
    let needed = usize::from(games).saturating_mul(threads);
    if timed && needed > cpus { Err(TooManyGames { games, threads, cpus }) } else { Ok(()) }
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
        let order: Vec<_> = (0..5).flat_map(|slot| topology.cpus_for_slot(slot, 1)).collect();
        assert_eq!(order, [0, 1, 2, 3]);
        let pairs: Vec<_> = (0..3).map(|slot| topology.cpus_for_slot(slot, 2)).collect();
        assert_eq!(pairs, [vec![0, 1], vec![2, 3], vec![]]);
        assert!(topology.cpus_for_slot(0, 5).is_empty());
        assert_eq!((topology.physical_cores(), topology.cpus()), (2, 4));
    }

    #[test]
    fn a_cpu_we_may_not_use_is_left_out() {
        let topology = Topology::from_siblings(&[1, 2], |cpu| Some(vec![cpu % 2, cpu % 2 + 2]));
        assert_eq!([0, 1].map(|slot| topology.cpus_for_slot(slot, 1)), [[1], [2]]);
        assert_eq!(topology.physical_cores(), 2);
    }

    #[test]
    fn timed_games_need_a_cpu_each() {
        let topology = Topology::from_siblings(&[0, 1], |_| None);
        let cases =
            [(2, 1, true, true), (3, 1, true, false), (64, 1, false, true), (1, 2, true, true), (2, 2, true, false)];
        for (games, threads, timed, fits) in cases {
            assert_eq!(check_concurrency(games, threads, timed, &topology).is_ok(), fits, "{games} x {threads}");
        }
        assert_eq!([1, 2, 3, 0].map(|threads| topology.default_concurrency(threads)), [2, 1, 1, 2]);
    }

    #[test]
    fn a_quota_counts_as_fewer_cpus() {
        let topology = Topology { quota: 2, ..Topology::from_siblings(&[0, 1, 2, 3, 4, 5, 6, 7], |_| None) };
        assert_eq!((topology.physical_cores(), topology.cpus()), (2, 2));
        assert!(check_concurrency(3, 1, true, &topology).is_err());
    }

    #[test]
    fn kernel_lists_parse() {
        assert_eq!(parse_cpu_list("0,2-4\n"), Some(vec![0, 2, 3, 4]));
        assert_eq!(parse_cpu_list("x"), None);
    }
}
