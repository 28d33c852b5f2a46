//! Assignment of CPUs to slots.
//!
//! Each thread of an engine gets a physical core; hyper-thread siblings are used only after all
//! cores. Fast cores come before slow ones, and a slot never mixes them, because threads at two
//! speeds wait for each other and search another tree. The CPUs of a slot share a cache if
//! possible, or else a NUMA node.

use std::collections::BTreeMap;

use crate::os;
use crate::plan::Machine;
use crate::plan::affinity::{Affinity, parse_cpus};
use crate::text::count;

/// CPUs of the machine that the scheduler may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    /// Sorted: fast cores first, then by node, by cache, by number.
    cores: Vec<Core>,
    /// Number of CPUs that may run at once. A container may see more CPUs than its quota.
    quota: usize,
}

/// A physical core.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Core {
    /// Rank of this kind of core by speed, 0 for the fastest.
    class: usize,
    node: usize,
    /// Lowest CPU of those that share its last-level cache.
    cache: usize,
    /// Its hyper-threads, in ascending order.
    cpus: Vec<usize>,
}

impl Topology {
    /// Reads the CPUs that this process may use. If the system does not report siblings, each CPU
    /// counts as a core.
    #[must_use]
    pub fn detect() -> Self {
        Self::read(&allowed_cpus(), parallelism(), |path| std::fs::read_to_string(path).ok())
    }

    /// Creates the topology from the allowed CPUs, the quota and the files of `/sys`.
    fn read(allowed: &[usize], quota: usize, read: impl Fn(&str) -> Option<String>) -> Self {
        let about = |cpu: usize, file: &str| read(&format!("/sys/devices/system/cpu/cpu{cpu}/{file}"));
        let list = |text: Option<String>| text.and_then(|text| parse_cpus(&text).ok()).unwrap_or_default();
        let classes = classes(allowed, &read);
        let mut nodes = BTreeMap::new();
        for node in list(read("/sys/devices/system/node/online")) {
            for cpu in list(read(&format!("/sys/devices/system/node/node{node}/cpulist"))) {
                nodes.insert(cpu, node);
            }
        }
        // Last-level cache: the third level, or the second if there is no third.
        let cache = |cpu: usize| {
            let shared = |index: usize| list(about(cpu, &format!("cache/index{index}/shared_cpu_list")));
            [3, 2].into_iter().find_map(|index| shared(index).into_iter().min())
        };
        let mut cores: Vec<Core> = Vec::new();
        for &cpu in allowed {
            let mut siblings = list(about(cpu, "topology/thread_siblings_list"));
            siblings.retain(|sibling| allowed.contains(sibling));
            siblings.sort_unstable();
            // Each core is entered once, at its first CPU.
            match siblings.first() {
                Some(first) if *first < cpu && siblings.contains(&cpu) => continue,
                Some(_) if siblings.contains(&cpu) => {}
                _ => siblings = vec![cpu],
            }
            cores.push(Core {
                class: classes.get(&cpu).copied().unwrap_or(0),
                node: nodes.get(&cpu).copied().unwrap_or(0),
                cache: cache(cpu).unwrap_or(0),
                cpus: siblings,
            });
        }
        cores.sort();
        Self { cores, quota }
    }

    /// Description of this machine for people, and the processor that distinguishes machines.
    #[must_use]
    pub fn machine(&self) -> Machine {
        let pretty_name = || {
            let text = std::fs::read_to_string("/etc/os-release").ok()?;
            let line = text.lines().find(|line| line.starts_with("PRETTY_NAME"))?;
            Some(line.split_once('=')?.1.trim().trim_matches('"').to_owned())
        };
        Machine {
            cpu: os::processor(),
            cores: self.physical_cores(),
            os: pretty_name().unwrap_or_else(|| std::env::consts::OS.to_owned()),
        }
    }

    /// Number of physical cores that this process may use, at least 1.
    #[must_use]
    pub fn physical_cores(&self) -> usize {
        self.cores.len().min(self.quota).max(1)
    }

    /// Number of CPUs that this process may use, at least 1.
    #[must_use]
    pub fn cpus(&self) -> usize {
        self.cores.iter().map(|core| core.cpus.len()).sum::<usize>().min(self.quota).max(1)
    }

    /// CPUs of each slot, the best slots first, with `threads` CPUs each. Further slots are not
    /// bound to CPUs.
    #[must_use]
    pub fn slots(&self, affinity: &Affinity, threads: usize) -> Vec<Vec<usize>> {
        match affinity {
            Affinity::Off => Vec::new(),
            Affinity::Auto => self.chosen(threads.max(1)).0,
            Affinity::Cpus(cpus) => cpus.chunks_exact(threads.max(1)).map(<[_]>::to_vec).collect(),
        }
    }

    /// Returns the slots and the number of those that use no hyper-thread siblings.
    fn chosen(&self, threads: usize) -> (Vec<Vec<usize>>, usize) {
        let mut slots = Vec::new();
        let mut on_cores = 0;
        let slowest = self.cores.iter().map(|core| core.class).max().unwrap_or(0);
        let widest = self.cores.iter().map(|core| core.cpus.len()).max().unwrap_or(0);
        // Places of each class that are left, too few for a slot.
        let mut rest: Vec<Vec<CpuPlace>> = vec![Vec::new(); slowest + 1];
        for thread in 0..widest {
            for (class, left) in rest.iter_mut().enumerate() {
                let cores = self.cores.iter().filter(|core| core.class == class);
                left.extend(cores.filter_map(|core| Some(CpuPlace::new(core, *core.cpus.get(thread)?))));
                fill(left, threads, &mut slots);
            }
            if thread == 0 {
                on_cores = slots.len();
            }
        }
        (slots, on_cores)
    }

    /// Number of concurrent games with a physical core for each searching thread; at least 1.
    #[must_use]
    pub fn default_concurrency(&self, threads: usize) -> u16 {
        let threads = threads.max(1);
        u16::try_from(self.chosen(threads).1.min(self.quota / threads)).unwrap_or(u16::MAX).max(1)
    }
}

/// A CPU with its cache and node.
#[derive(Clone, Copy, Debug)]
struct CpuPlace {
    node: usize,
    cache: usize,
    cpu: usize,
}

impl CpuPlace {
    const fn new(core: &Core, cpu: usize) -> Self {
        Self { node: core.node, cache: core.cache, cpu }
    }
}

/// Makes slots of CPUs that share a cache, then of the rest that share a node, then of all the
/// rest. Leaves too few in `pool` for another slot.
fn fill(pool: &mut Vec<CpuPlace>, threads: usize, slots: &mut Vec<Vec<usize>>) {
    for common in [2, 1, 0] {
        let mut groups: BTreeMap<_, Vec<CpuPlace>> = BTreeMap::new();
        for place in pool.drain(..) {
            let key = (if common > 0 { place.node } else { 0 }, if common > 1 { place.cache } else { 0 });
            groups.entry(key).or_default().push(place);
        }
        for group in groups.into_values() {
            let chunks = group.chunks_exact(threads);
            pool.extend(chunks.remainder());
            slots.extend(chunks.map(|chunk| chunk.iter().map(|place| place.cpu).collect()));
        }
    }
}

/// Returns the rank of each CPU's core by speed, 0 for the fastest. Empty if all are alike or the
/// system does not report it.
fn classes(allowed: &[usize], read: &impl Fn(&str) -> Option<String>) -> BTreeMap<usize, usize> {
    /// Minimum ratio of maximum frequencies within one kind of core. Cores of one kind differ too,
    /// but less than the kinds.
    const SAME_KIND: f64 = 0.85;
    // Kinds that an Intel hybrid CPU reports.
    let mut kinds = BTreeMap::new();
    for (class, kind) in ["cpu_core", "cpu_atom", "cpu_lowpower"].into_iter().enumerate() {
        let cpus = read(&format!("/sys/devices/{kind}/cpus")).and_then(|text| parse_cpus(&text).ok());
        kinds.extend(cpus.unwrap_or_default().into_iter().map(|cpu| (cpu, class)));
    }
    if allowed.iter().all(|cpu| kinds.contains_key(cpu)) {
        return kinds;
    }
    for file in ["cpu_capacity", "cpufreq/cpuinfo_max_freq"] {
        let speed = |cpu: &usize| {
            let text = read(&format!("/sys/devices/system/cpu/cpu{cpu}/{file}"))?;
            Some((text.trim().parse::<u32>().ok()?, *cpu))
        };
        let Some(mut speeds) = allowed.iter().map(speed).collect::<Option<Vec<_>>>() else { continue };
        speeds.sort_unstable_by_key(|(speed, cpu)| (std::cmp::Reverse(*speed), *cpu));
        let mut class = 0;
        let mut fastest = speeds.first().map_or(0, |first| first.0);
        let mut found = BTreeMap::new();
        for (speed, cpu) in speeds {
            if f64::from(speed) < SAME_KIND * f64::from(fastest) {
                class += 1;
                fastest = speed;
            }
            found.insert(cpu, class);
        }
        if class > 0 {
            return found;
        }
    }
    BTreeMap::new()
}

/// Maximum number of searching threads per CPU in games without a clock. Beyond it a search could
/// wait for a CPU as long as one that hangs.
pub const UNTIMED_THREADS_A_CPU: usize = 64;

/// Error: more concurrent games than the CPUs allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConcurrencyError {
    /// Games with a clock.
    #[error(
        "--concurrency {games}{}: this machine has {}, and games that share one are charged for each other's time; \
         use fewer, --nodes or --depth, or begin the run with --force-concurrency",
        each(*threads), count(*cpus as u64, "CPU")
    )]
    Timed {
        /// Concurrent games.
        games: u16,
        /// Threads per game that search at once.
        threads: usize,
        /// CPUs of the machine.
        cpus: usize,
    },
    /// Games without a clock.
    #[error(
        "--concurrency {games}{}: this machine has {}, and with more than {UNTIMED_THREADS_A_CPU} searches on each, \
         one that waits would look like one that hangs; use at most {}, or begin the run with --force-concurrency",
        each(*threads), count(*cpus as u64, "CPU"), (cpus * UNTIMED_THREADS_A_CPU / threads).max(1)
    )]
    Untimed {
        /// Concurrent games.
        games: u16,
        /// Threads per game that search at once.
        threads: usize,
        /// CPUs of the machine.
        cpus: usize,
    },
}

fn each(threads: usize) -> String {
    if threads == 1 { String::new() } else { format!(" with {threads} threads each") }
}

/// Checks that `games` concurrent games of `threads` searching threads fit the CPUs. (Only one
/// engine of a game searches at a time, unless they ponder.) With a clock each thread needs its own
/// CPU. Without a clock up to [`UNTIMED_THREADS_A_CPU`] threads share one, and a single game always
/// fits.
///
/// # Errors
/// Returns [`ConcurrencyError`] if they do not fit.
pub fn check_concurrency(games: u16, threads: usize, timed: bool, topology: &Topology) -> Result<(), ConcurrencyError> {
    let cpus = topology.cpus();
    let needed = usize::from(games).saturating_mul(threads);
    match timed {
        true if needed > cpus => Err(ConcurrencyError::Timed { games, threads, cpus }),
        false if games > 1 && needed > cpus.saturating_mul(UNTIMED_THREADS_A_CPU) => {
            Err(ConcurrencyError::Untimed { games, threads, cpus })
        }
        _ => Ok(()),
    }
}

/// Error: CPUs that games cannot be bound to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadCpus {
    /// A CPU that does not exist or that this process may not use.
    #[error("--affinity: this process may not use CPU {0}; `taskset -p $$` shows the allowed CPUs")]
    NotAllowed(usize),
    /// Fewer CPUs than the games need.
    #[error(
        "--affinity names {}, and {} of {} need {}; name more, or lower -j",
        count(*cpus as u64, "CPU"), count(u64::from(*games), "game"), count(*threads as u64, "thread"),
        usize::from(*games) * threads
    )]
    TooFew {
        /// Concurrent games.
        games: u16,
        /// Threads per game that search at once.
        threads: usize,
        /// CPUs in the list.
        cpus: usize,
    },
}

/// Checks that the CPUs listed in `affinity` are enough for `games` concurrent games; without a
/// list any number fits.
///
/// # Errors
/// Returns [`BadCpus`] if they do not fit.
pub fn check_cpus(games: u16, threads: usize, affinity: &Affinity, topology: &Topology) -> Result<(), BadCpus> {
    let Affinity::Cpus(cpus) = affinity else { return Ok(()) };
    let allowed = |cpu: &usize| topology.cores.iter().any(|core| core.cpus.contains(cpu));
    if let Some(cpu) = cpus.iter().find(|cpu| !allowed(cpu)) {
        return Err(BadCpus::NotAllowed(*cpu));
    }
    if usize::from(games).saturating_mul(threads) > cpus.len() {
        return Err(BadCpus::TooFew { games, threads, cpus: cpus.len() });
    }
    Ok(())
}

fn allowed_cpus() -> Vec<usize> {
    os::allowed_cpus().unwrap_or_else(|| (0..parallelism()).collect())
}

fn parallelism() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fake machine: its files under `/sys/devices`, and the allowed CPUs.
    struct Fake {
        allowed: &'static str,
        quota: usize,
        files: Vec<(String, String)>,
    }

    impl Fake {
        fn new(allowed: &'static str) -> Self {
            Self { allowed, quota: usize::MAX, files: Vec::new() }
        }

        /// Adds one file per CPU, with the content that `text` returns.
        fn each(mut self, file: &str, text: impl Fn(usize) -> String) -> Self {
            let cpus = parse_cpus(self.allowed).unwrap();
            self.files.extend(cpus.into_iter().map(|cpu| (format!("system/cpu/cpu{cpu}/{file}"), text(cpu) + "\n")));
            self
        }

        fn file(mut self, path: &str, text: &str) -> Self {
            self.files.push((path.to_owned(), format!("{text}\n")));
            self
        }

        fn topology(&self) -> Topology {
            let file = |path: &str| {
                let path = path.strip_prefix("/sys/devices/")?;
                self.files.iter().find(|(known, _)| known == path).map(|(_, text)| text.clone())
            };
            Topology::read(&parse_cpus(self.allowed).unwrap(), self.quota, file)
        }
    }

    const SIBLINGS: &str = "topology/thread_siblings_list";

    /// Two sockets of four cores with two caches each; siblings are 8 apart.
    fn server() -> Fake {
        Fake::new("0-15")
            .each(SIBLINGS, |cpu| format!("{},{}", cpu % 8, cpu % 8 + 8))
            .each("cache/index3/shared_cpu_list", |cpu| {
                let first = cpu % 8 / 2 * 2;
                format!("{first}-{},{}-{}", first + 1, first + 8, first + 9)
            })
            .each("cpufreq/cpuinfo_max_freq", |cpu| (3_600_000 - cpu % 8 * 25_000).to_string())
            .file("system/node/online", "0-1")
            .file("system/node/node0/cpulist", "0-3,8-11")
            .file("system/node/node1/cpulist", "4-7,12-15")
    }

    /// Four fast cores of two threads and four slow ones of one, all on one cache. `told` selects
    /// the files that report it.
    fn hybrid(told: &str) -> Fake {
        let fake = Fake::new("0-11")
            .each(
                SIBLINGS,
                |cpu| if cpu < 8 { format!("{}-{}", cpu / 2 * 2, cpu / 2 * 2 + 1) } else { cpu.to_string() },
            )
            .each("cache/index3/shared_cpu_list", |_| "0-11".to_owned());
        match told {
            "kinds" => fake.file("cpu_core/cpus", "0-7").file("cpu_atom/cpus", "8-11"),
            "capacity" => fake.each("cpu_capacity", |cpu| if cpu < 8 { "1024" } else { "640" }.to_owned()),
            _ => fake
                .each("cpu_capacity", |_| "1024".to_owned())
                // Two of the fast cores are slightly faster than the others.
                .each("cpufreq/cpuinfo_max_freq", |cpu| {
                    [5_100_000, 5_200_000, 3_900_000][usize::from(cpu > 3) + usize::from(cpu > 7)].to_string()
                }),
        }
    }

    #[track_caller]
    fn check(what: &str, fake: &Fake, threads: usize, expected: &[&str], concurrency: u16) {
        let topology = fake.topology();
        let shown: Vec<String> =
            topology.slots(&Affinity::Auto, threads).into_iter().map(|cpus| Affinity::Cpus(cpus).to_string()).collect();
        assert_eq!(shown, expected, "{what}, {threads} threads");
        assert_eq!(topology.default_concurrency(threads), concurrency, "{what}, {threads} threads");
    }

    #[test]
    fn cores_come_before_their_siblings() {
        let pairs = Fake::new("0-3").each(SIBLINGS, |cpu| format!("{},{}", cpu % 2, cpu % 2 + 2));
        check("two cores", &pairs, 1, &["0", "1", "2", "3"], 2);
        check("two cores", &pairs, 2, &["0,1", "2,3"], 1);
        check("two cores", &pairs, 3, &["0,1,2"], 1);
        check("two cores", &pairs, 5, &[], 1);
        assert_eq!((pairs.topology().physical_cores(), pairs.topology().cpus()), (2, 4));
        check("nothing is told", &Fake::new("0-2"), 1, &["0", "1", "2"], 3);
    }

    #[test]
    fn a_cpu_we_may_not_use_is_left_out() {
        let some = Fake::new("1-2").each(SIBLINGS, |cpu| format!("{},{}", cpu % 2, cpu % 2 + 2));
        check("of two cores", &some, 1, &["1", "2"], 2);
        let some = Fake::new("8-9").each(SIBLINGS, |_| "0-1".to_owned());
        check("siblings that are others", &some, 1, &["8", "9"], 2);
    }

    #[test]
    fn a_server_keeps_a_slot_on_one_cache_or_one_node() {
        let one: Vec<String> = (0..16).map(|cpu| cpu.to_string()).collect();
        check("server", &server(), 1, &one.iter().map(String::as_str).collect::<Vec<_>>(), 8);
        check("server", &server(), 2, &["0,1", "2,3", "4,5", "6,7", "8,9", "10,11", "12,13", "14,15"], 4);
        // Three cores do not fit on a cache of two, and a node of four holds one such slot.
        // Siblings complete the rest.
        check("server", &server(), 3, &["0,1,2", "4,5,6", "3,10,11", "7,14,15", "8,9,12"], 2);
        check("server", &server(), 4, &["0,1,2,3", "4,5,6,7", "8,9,10,11", "12,13,14,15"], 2);
        check("server", &server(), 8, &["0,1,2,3,4,5,6,7", "8,9,10,11,12,13,14,15"], 1);
    }

    #[test]
    fn fast_cores_come_first_and_are_not_mixed_with_slow_ones() {
        for told in ["kinds", "capacity", "frequency"] {
            let hybrid = hybrid(told);
            check(told, &hybrid, 1, &["0", "2", "4", "6", "8", "9", "10", "11", "1", "3", "5", "7"], 8);
            check(told, &hybrid, 2, &["0,2", "4,6", "8,9", "10,11", "1,3", "5,7"], 4);
            check(told, &hybrid, 3, &["0,2,4", "8,9,10", "6,1,3"], 2);
            check(told, &hybrid, 8, &["0,2,4,6,1,3,5,7"], 1);
            check(told, &hybrid, 9, &[], 1);
        }
    }

    #[test]
    fn a_phone_has_three_kinds() {
        // Little cores have the lowest numbers, as is usual. Their last reported cache is the
        // second level.
        let phone = Fake::new("0-7")
            .each(SIBLINGS, |cpu| cpu.to_string())
            .each("cache/index2/shared_cpu_list", |cpu| if cpu < 4 { "0-3" } else { "4-7" }.to_owned())
            .each("cpu_capacity", |cpu| match cpu {
                0..4 => "320".to_owned(),
                4..7 => "830".to_owned(),
                _ => "1024".to_owned(),
            });
        check("phone", &phone, 1, &["7", "4", "5", "6", "0", "1", "2", "3"], 8);
        check("phone", &phone, 2, &["4,5", "0,1", "2,3"], 3);
    }

    #[test]
    fn a_quota_counts_as_fewer_cpus() {
        let container = Fake { quota: 2, ..Fake::new("0-7") };
        let topology = container.topology();
        assert_eq!((topology.physical_cores(), topology.cpus()), (2, 2));
        assert_eq!([1, 2, 3].map(|threads| topology.default_concurrency(threads)), [2, 1, 1]);
        assert!(check_concurrency(3, 1, true, &topology).is_err());
    }

    #[test]
    fn timed_games_need_a_cpu_each() {
        let topology = Fake::new("0-1").topology();
        let cases = [
            (2, 1, true, true),
            (3, 1, true, false),
            (1, 2, true, true),
            (2, 2, true, false),
            (128, 1, false, true),
            (129, 1, false, false),
            (u16::MAX, 1, false, false),
            (16, 8, false, true),
            (17, 8, false, false),
            (1, 1_024, false, true),
        ];
        for (games, threads, timed, fits) in cases {
            assert_eq!(check_concurrency(games, threads, timed, &topology).is_ok(), fits, "{games} x {threads}");
        }
        let refused = check_concurrency(3_000, 1, false, &topology).unwrap_err().to_string();
        assert!(refused.contains("--concurrency 3000: ") && refused.contains("use at most 128"), "{refused}");
        assert_eq!([1, 2, 3, 0].map(|threads| topology.default_concurrency(threads)), [2, 1, 1, 2]);
    }

    #[test]
    fn named_cpus_are_taken_as_they_are_named() {
        let topology = server().topology();
        let named = Affinity::Cpus(vec![9, 3, 5]);
        assert_eq!(topology.slots(&named, 1), [[9], [3], [5]]);
        assert_eq!(topology.slots(&named, 2), [[9, 3]]);
        assert!(topology.slots(&Affinity::Off, 1).is_empty());
        assert_eq!(check_cpus(3, 1, &named, &topology), Ok(()));
        let few = check_cpus(2, 2, &named, &topology).unwrap_err().to_string();
        assert_eq!(few, "--affinity names 3 CPUs, and 2 games of 2 threads need 4; name more, or lower -j");
        let other = check_cpus(1, 1, &Affinity::Cpus(vec![0, 16]), &topology);
        assert_eq!(other, Err(BadCpus::NotAllowed(16)));
        assert_eq!(check_cpus(99, 9, &Affinity::Auto, &topology), Ok(()));
    }
}
