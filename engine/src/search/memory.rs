//! Memory for the transposition table: cache-line buckets in blocks of the size of a huge page.
//!
//! A table is read at random, so with ordinary pages nearly every probe misses the address cache too. Blocks are aligned to two
//! MiB and the system is asked to back them by huge pages, which on Linux it does where transparent huge pages are at `madvise`
//! or `always`.

use std::collections::TryReserveError;
use std::fmt;
use std::mem::MaybeUninit;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// A huge page of x86-64 and of most others.
const BLOCK_BYTES: usize = 2 << 20;
const _: () = assert!(BLOCK_BYTES == size_of::<Block<[u64; 8]>>());

/// What fits a cache line, and is valid when all its bytes are zero.
///
/// # Safety
/// Implementors are 64 bytes, and all bytes zero is a value.
#[expect(unsafe_code, reason = "a promise about all bytes zero, which is how tables begin")]
pub unsafe trait Zeroable: Sync + Send {}

#[expect(unsafe_code, reason = "integers may be zero")]
// SAFETY: eight integers are 64 bytes, and may be zero.
unsafe impl Zeroable for [u64; 8] {}

/// Buckets of a block.
const BLOCK_LEN: usize = BLOCK_BYTES / 64;

#[repr(align(2_097_152))]
struct Block<T>([T; BLOCK_LEN]);

/// So many buckets.
pub struct Buckets<T> {
    blocks: Vec<Block<T>>,
    len: usize,
}

/// Why there is no memory for a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MemoryError {
    /// The system says so.
    Refused(TryReserveError),
    /// The system would promise it, but does not have it.
    Short { wanted_mib: usize, available_mib: usize },
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
    /// None at all.
    pub fn none() -> Buckets<T> {
        Buckets { blocks: Vec::new(), len: 0 }
    }

    /// Memory for so many buckets, not yet touched. What is not there on this machine is refused; a table that is given up
    /// for this one frees `reclaimed` bytes.
    ///
    /// # Errors
    /// When the memory cannot be had.
    pub fn reserve(len: usize, reclaimed: usize) -> Result<Reserved<T>, MemoryError> {
        let count = len.div_ceil(BLOCK_LEN);
        if let Some(available) = available_bytes()
            && count.saturating_mul(BLOCK_BYTES) > available.saturating_add(reclaimed)
        {
            let wanted_mib = count * (BLOCK_BYTES >> 20);
            return Err(MemoryError::Short { wanted_mib, available_mib: (available.saturating_add(reclaimed)) >> 20 });
        }
        let mut blocks = Vec::new();
        blocks.try_reserve_exact(count).map_err(MemoryError::Refused)?;
        Ok(Reserved { blocks, count, len })
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// The bytes that are given back when this is dropped.
    pub fn bytes(&self) -> usize {
        self.blocks.len() * BLOCK_BYTES
    }

    /// The bucket of this index, which must be less than [`Self::len`].
    #[inline]
    pub fn get(&self, index: usize) -> &T {
        &self.blocks[index / BLOCK_LEN].0[index % BLOCK_LEN]
    }

    /// Does something to every bucket, with so many threads or fewer.
    pub fn for_each(&self, threads: usize, work: impl Fn(&T) + Sync) {
        share_out(self.blocks.chunks(BLOCKS_AT_ONCE), threads, |blocks: &[Block<T>]| {
            blocks.iter().flat_map(|block| &block.0).for_each(&work);
        });
    }
}

/// Blocks that a thread takes at a time.
const BLOCKS_AT_ONCE: usize = 8;

/// Does a list of works with so many threads, or fewer when they cannot be had; the caller's is one of them.
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

/// Memory for a table that is not touched yet, so that it costs nothing while the old one is still there.
pub struct Reserved<T> {
    /// Empty, with room for `count`.
    blocks: Vec<Block<T>>,
    count: usize,
    len: usize,
}

impl<T: Zeroable> Reserved<T> {
    /// Zeroes the memory, with so many threads: the system hands it out as it is touched, near the processor that does it.
    #[expect(unsafe_code, reason = "two MiB blocks are zeroed in place, for they cannot stand on a stack")]
    pub fn zero(mut self, threads: usize) -> Buckets<T> {
        let room = &mut self.blocks.spare_capacity_mut()[..self.count];
        advise_huge_pages(room);
        share_out(room.chunks_mut(BLOCKS_AT_ONCE), threads, |blocks: &mut [MaybeUninit<Block<T>>]| {
            // SAFETY: the slice is valid for writes of its own length.
            unsafe { blocks.as_mut_ptr().write_bytes(0, blocks.len()) }
        });
        // SAFETY: `count` blocks are within the capacity, and were all zeroed, which is a value of `T`.
        unsafe { self.blocks.set_len(self.count) };
        Buckets { blocks: self.blocks, len: self.len }
    }
}

/// Asks for huge pages. When there are none the table is only slower.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "advice on pages that belong to the caller")]
fn advise_huge_pages<T>(blocks: &mut [MaybeUninit<Block<T>>]) {
    use rustix::mm::{Advice, madvise};
    if !blocks.is_empty() {
        // SAFETY: the range is whole pages of memory that is borrowed, and the advice does not change what is in it.
        let _ = unsafe { madvise(blocks.as_mut_ptr().cast(), size_of_val(blocks), Advice::LinuxHugepage) };
    }
}

#[cfg(not(target_os = "linux"))]
fn advise_huge_pages<T>(_: &mut [MaybeUninit<Block<T>>]) {}

/// The memory that could be used without swapping, in bytes, where the system says: Linux promises more than it has, and ends
/// the process that takes it at its word.
fn available_bytes() -> Option<usize> {
    let machine = parse_available(&std::fs::read_to_string("/proc/meminfo").ok()?)?;
    let number = |path: &str| std::fs::read_to_string(path).ok()?.trim().parse::<usize>().ok();
    // The share of a container, where there is one.
    let share = number("/sys/fs/cgroup/memory.max")
        .and_then(|max| Some(max.saturating_sub(number("/sys/fs/cgroup/memory.current")?)));
    Some(machine.min(share.unwrap_or(usize::MAX)))
}

/// The line `MemAvailable:  123 kB`, in bytes.
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
    fn what_cannot_be_had_is_an_error() {
        for len in [usize::MAX / 64, 1 << 50] {
            let error = Buckets::<[u64; 8]>::reserve(len, 0).err().expect("no such memory");
            assert!(!error.to_string().is_empty());
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
