//! Memory of the transposition table, the histories and the networks, which huge pages can back.
//!
//! Probes hit random addresses, so with ordinary pages nearly every probe also misses the TLB.
//! Tables are aligned to two MiB, and the system is asked for huge pages. Linux grants them if
//! transparent huge pages are set to `madvise` or `always`, Windows for the table alone, to users
//! who may lock pages in memory.

use std::collections::TryReserveError;
use std::fmt;
use std::mem::MaybeUninit;
use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, PoisonError};
use std::thread;

mod block;
#[cfg(windows)]
mod large_pages;

pub use self::block::Zeroable;
use self::block::{AlignedValue, BLOCK_BYTES, BLOCK_LEN, HugeBlock};
#[cfg(windows)]
use self::large_pages::HugeMemory;

/// Number of blocks, 16 MiB, that is never refused for lack of available memory, because that
/// figure is an estimate.
const SMALL_BLOCKS: usize = 8;

/// Buckets, each a cache line, in blocks that can be backed by huge pages.
pub struct Buckets<T> {
    #[cfg(not(windows))]
    blocks: Vec<HugeBlock<T>>,
    #[cfg(windows)]
    blocks: HugeMemory<T>,
    len: usize,
}

/// Reason why a table cannot be allocated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MemoryError {
    /// The allocator refused.
    Refused(TryReserveError),
    /// The system would overcommit: less memory is available than wanted.
    Short {
        /// Size of the table in MiB.
        wanted_mib: usize,
        /// Memory that is left in MiB.
        available_mib: usize,
    },
}

impl fmt::Display for MemoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MemoryError::Refused(error) => write!(f, "the system refused the memory: {error}"),
            MemoryError::Short { wanted_mib, available_mib } => {
                write!(f, "{wanted_mib} MiB wanted, {available_mib} MiB available")
            }
        }
    }
}

impl std::error::Error for MemoryError {}

impl<T: Zeroable> Buckets<T> {
    /// Creates an empty set of buckets.
    pub fn none() -> Buckets<T> {
        Buckets { blocks: Default::default(), len: 0 }
    }

    /// Reserves memory for `len` buckets without touching it. Fails if the machine lacks the
    /// memory, counting `reclaimed` bytes of a table that is about to be freed.
    ///
    /// # Errors
    /// Returns an error if the memory cannot be allocated.
    pub fn reserve(len: usize, reclaimed: usize) -> Result<ReservedBuckets<T>, MemoryError> {
        const { assert!(size_of::<T>() == 64) };
        let count = len.div_ceil(BLOCK_LEN);
        if count > SMALL_BLOCKS
            && let Some(available) = available_bytes()
            && count.saturating_mul(BLOCK_BYTES) > available.saturating_add(reclaimed)
        {
            let wanted_mib = count * (BLOCK_BYTES >> 20);
            return Err(MemoryError::Short { wanted_mib, available_mib: (available.saturating_add(reclaimed)) >> 20 });
        }
        let mut blocks = Vec::new();
        blocks.try_reserve_exact(count).map_err(MemoryError::Refused)?;
        Ok(ReservedBuckets { blocks, count, len })
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns the bytes that dropping this frees.
    pub fn bytes(&self) -> usize {
        self.blocks.len() * BLOCK_BYTES
    }

    /// Returns the bucket at an index, which must be less than [`Self::len`].
    #[inline]
    pub fn get(&self, index: usize) -> &T {
        &self.blocks[index / BLOCK_LEN].0[index % BLOCK_LEN]
    }

    /// Calls `work` on every bucket, with up to `threads` threads.
    pub fn for_each(&self, threads: usize, work: impl Fn(&T) + Sync) {
        share_out(self.blocks.chunks(BLOCKS_AT_ONCE), threads, |blocks: &[HugeBlock<T>]| {
            blocks.iter().flat_map(|block| &block.0).for_each(&work);
        });
    }
}

/// Blocks that a thread takes at a time.
const BLOCKS_AT_ONCE: usize = 8;

/// Performs all works on up to `threads` threads, among them the caller's. Fewer are used if
/// threads cannot be spawned.
fn share_out<W: Send>(works: impl Iterator<Item = W> + Send, threads: usize, perform: impl Fn(W) + Sync) {
    let queue = Mutex::new(works);
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    let run = || {
        while let Some(work) = next() {
            perform(work);
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            if thread::Builder::new().spawn_scoped(scope, run).is_err() {
                break;
            }
        }
        run();
    });
}

/// Memory reserved but not touched, so it costs nothing while the old table still exists.
pub struct ReservedBuckets<T> {
    /// Empty vector with room for `count` blocks.
    blocks: Vec<HugeBlock<T>>,
    count: usize,
    len: usize,
}

impl<T: Zeroable> ReservedBuckets<T> {
    /// Zeroes the memory with the given number of threads. The system places each page near the
    /// processor that touches it first.
    #[expect(unsafe_code, reason = "two MiB blocks are zeroed in place, for they cannot stand on a stack")]
    pub fn zero(mut self, threads: usize) -> Buckets<T> {
        #[cfg(windows)]
        if let Some(blocks) = HugeMemory::in_large_pages(self.count) {
            return Buckets { blocks, len: self.len };
        }
        let room = &mut self.blocks.spare_capacity_mut()[..self.count];
        advise_huge_pages(room);
        share_out(room.chunks_mut(BLOCKS_AT_ONCE), threads, |blocks: &mut [MaybeUninit<HugeBlock<T>>]| {
            // SAFETY: the slice is valid for writes of its own length.
            unsafe { blocks.as_mut_ptr().write_bytes(0, blocks.len()) }
        });
        // SAFETY: `count` blocks are within the capacity, and were all zeroed, which is a value of
        // `T`.
        unsafe { self.blocks.set_len(self.count) };
        let blocks = self.blocks;
        #[cfg(windows)]
        let blocks = HugeMemory::from(blocks);
        Buckets { blocks, len: self.len }
    }
}

/// Asks the processor to fetch the cache line at which a value begins.
#[inline]
#[cfg_attr(target_arch = "x86_64", expect(unsafe_code, reason = "the prefetch instruction"))]
pub fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: every x86-64 has the instruction, which faults on no address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}

/// Value in memory of its own that huge pages can back.
pub struct HugeBox<T>(Box<AlignedValue<T>>);

impl<T: Zeroable> HugeBox<T> {
    /// Allocates a value of which all bytes are zero.
    #[expect(unsafe_code, reason = "a value of some MiB is zeroed in place, for it cannot stand on a stack")]
    pub fn zeroed() -> HugeBox<T> {
        let mut room = Box::<AlignedValue<T>>::new_uninit();
        advise_huge_pages(std::slice::from_mut(&mut *room));
        // SAFETY: the pointer is valid for writes of one value.
        unsafe { room.as_mut_ptr().write_bytes(0, 1) };
        // SAFETY: all bytes of the value were zeroed, which is a value of `T`.
        HugeBox(unsafe { room.assume_init() })
    }

    /// Sets all bytes to zero again.
    #[expect(unsafe_code, reason = "the value is zeroed in place, for it cannot stand on a stack")]
    pub fn zero(&mut self) {
        const { assert!(!std::mem::needs_drop::<T>()) };
        // SAFETY: the pointer is valid for writes of one value, and all bytes zero is one.
        unsafe { std::ptr::from_mut(&mut self.0.0).write_bytes(0, 1) };
    }
}

impl<T> Deref for HugeBox<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.0.0
    }
}

impl<T> DerefMut for HugeBox<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0.0
    }
}

/// Asks for huge pages in memory that is not written yet, for the whole ones within it. Without
/// them the search is only slower.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "advice on pages that belong to the caller")]
pub fn advise_huge_pages<T>(memory: &mut [MaybeUninit<T>]) {
    use rustix::mm::{Advice, madvise};
    let start = memory.as_mut_ptr().cast::<u8>();
    let before = start.align_offset(BLOCK_BYTES);
    let whole = size_of_val(memory).saturating_sub(before) / BLOCK_BYTES * BLOCK_BYTES;
    if whole > 0 {
        // SAFETY: the range is whole pages within borrowed memory, and the advice does not change
        // its contents.
        let _ = unsafe { madvise(start.add(before).cast(), whole, Advice::LinuxHugepage) };
    }
}

#[cfg(not(target_os = "linux"))]
pub fn advise_huge_pages<T>(_: &mut [MaybeUninit<T>]) {}

/// Returns the memory available without swapping, in bytes, if the system reports it. Linux
/// overcommits, and kills processes that use more than there is.
fn available_bytes() -> Option<usize> {
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let machine = parse_available(&read("/proc/meminfo")?)?;
    Some(CONTAINERS.iter().filter_map(|files| container_share(files, read)).fold(machine, usize::min))
}

/// Paths of a container's memory limit and use.
struct ContainerFiles {
    limit: &'static str,
    used: &'static str,
    statistics: &'static str,
    /// Name of the statistic of file pages that can be reclaimed; they count as used.
    reclaimable: &'static str,
}

/// Control groups of Linux, version 2 and version 1.
const CONTAINERS: [ContainerFiles; 2] = [
    ContainerFiles {
        limit: "/sys/fs/cgroup/memory.max",
        used: "/sys/fs/cgroup/memory.current",
        statistics: "/sys/fs/cgroup/memory.stat",
        reclaimable: "inactive_file",
    },
    ContainerFiles {
        limit: "/sys/fs/cgroup/memory/memory.limit_in_bytes",
        used: "/sys/fs/cgroup/memory/memory.usage_in_bytes",
        statistics: "/sys/fs/cgroup/memory/memory.stat",
        reclaimable: "total_inactive_file",
    },
];

/// Returns the bytes that a container has left; `None` without a limit.
fn container_share(files: &ContainerFiles, read: impl Fn(&str) -> Option<String>) -> Option<usize> {
    let number = |path: &str| read(path)?.trim().parse::<usize>().ok();
    let (limit, used) = (number(files.limit)?, number(files.used)?);
    let reclaimable = read(files.statistics).and_then(|text| parse_statistic(&text, files.reclaimable)).unwrap_or(0);
    Some(limit.saturating_sub(used.saturating_sub(reclaimable)))
}

/// Parses the number of the line `name 123`.
fn parse_statistic(statistics: &str, name: &str) -> Option<usize> {
    statistics.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse().ok())
}

/// Parses the line `MemAvailable:  123 kB` into bytes.
fn parse_available(meminfo: &str) -> Option<usize> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<usize>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn blocks_are_aligned_zero_and_all_visited() {
        for (len, threads) in [(1, 1), (BLOCK_LEN, 2), (3 * BLOCK_LEN + 1, 3), (2 * BLOCK_LEN, 100)] {
            let buckets = Buckets::<[u64; 8]>::reserve(len, 0).expect("memory").zero(threads);
            assert_eq!((buckets.len(), buckets.bytes()), (len, len.div_ceil(BLOCK_LEN) * BLOCK_BYTES));
            assert_eq!(std::ptr::from_ref(buckets.get(0)).addr() % BLOCK_BYTES, 0);
            assert!((0..len).all(|index| *buckets.get(index) == [0; 8]));
            let visited = AtomicUsize::new(0);
            buckets.for_each(threads, |_| {
                visited.fetch_add(1, Ordering::Relaxed);
            });
            assert_eq!(visited.into_inner(), len.div_ceil(BLOCK_LEN) * BLOCK_LEN);
        }
    }

    #[test]
    fn a_value_of_its_own_is_aligned_and_zero_until_written() {
        let mut value = HugeBox::<[u64; 8]>::zeroed();
        assert_eq!((*value, std::ptr::from_ref(&*value).addr() % BLOCK_BYTES), ([0; 8], 0));
        value[7] = 7;
        assert_eq!(*value, [0, 0, 0, 0, 0, 0, 0, 7]);
        value.zero();
        assert_eq!(*value, [0; 8]);
    }

    #[test]
    fn what_cannot_be_had_is_an_error() {
        for len in [usize::MAX / 64, 1 << 50] {
            let error = Buckets::<[u64; 8]>::reserve(len, 0).err().expect("no such memory");
            assert!(!error.to_string().is_empty());
        }
    }

    #[test]
    fn the_default_table_is_never_refused_by_an_estimate() {
        assert_eq!(SMALL_BLOCKS * BLOCK_BYTES, 16 << 20);
        assert!(Buckets::<[u64; 8]>::reserve(SMALL_BLOCKS * BLOCK_LEN, 0).is_ok());
    }

    #[test]
    fn a_container_has_what_it_does_not_use_and_can_give_up() {
        let [second, first] = &CONTAINERS;
        for (files, texts, share) in [
            (second, ["1000\n", "700\n", "anon 300\ninactive_file 250\n"], Some(550)),
            (second, ["1000", "700", "inactive_files 250"], Some(300)),
            (second, ["1000", "700", "inactive_file 9000"], Some(1000)),
            (second, ["1000", "1700", ""], Some(0)),
            (second, ["max", "700", ""], None),
            (second, ["", "", ""], None),
            (first, ["1000", "700", "inactive_file 1\ntotal_inactive_file 250"], Some(550)),
            (first, ["9223372036854771712", "0", ""], Some(9_223_372_036_854_771_712)),
        ] {
            let read = |path: &str| {
                let at = [files.limit, files.used, files.statistics].iter().position(|&file| file == path);
                at.map(|at| texts[at].to_owned())
            };
            assert_eq!(container_share(files, read), share, "{texts:?}");
        }
    }

    #[test]
    fn available_memory_is_read() {
        for (text, bytes) in [
            ("MemTotal: 10 kB\nMemAvailable:    123 kB\n", Some(123 * 1024)),
            ("MemTotal: 10 kB\n", None),
            ("MemAvailable: many kB", None),
            ("MemAvailable: 18446744073709551615 kB", None),
        ] {
            assert_eq!(parse_available(text), bytes, "{text}");
        }
    }
}
