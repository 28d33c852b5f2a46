//! Segment of POSIX shared memory with two slots. It is only written, never read.

use super::batch::{BatchShape, HEADER_LEN};
use super::error::ServeError;
use rustix::fs::Mode;
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags};
use rustix::shm;
use std::ffi::c_void;
use std::io;
use std::os::fd::OwnedFd;
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError};

/// Slots of a segment.
pub(super) const SLOTS: usize = 2;

/// Name of the segment that exists, shared with the handler of signals.
#[derive(Debug, Clone, Default)]
pub struct SegmentName(Arc<Mutex<Option<String>>>);

impl SegmentName {
    /// Removes the name from the system, if it is there. Processes that have mapped the segment
    /// keep it.
    pub fn unlink(&self) {
        let mut name = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(name) = name.take() {
            // Another program may have removed it.
            let _ = shm::unlink(&name);
        }
    }

    /// Creates a segment of a new name.
    fn create(&self, name: &str) -> rustix::io::Result<OwnedFd> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let path = format!("/{name}");
        let flags = shm::OFlags::CREATE | shm::OFlags::EXCL | shm::OFlags::RDWR;
        let file = shm::open(&path, flags, Mode::RUSR | Mode::WUSR)?;
        *held = Some(path);
        Ok(file)
    }
}

/// Mapped segment: the header, then [`SLOTS`] payloads.
#[derive(Debug)]
pub(super) struct SharedSegment {
    name: SegmentName,
    start: *mut c_void,
    len: usize,
    slot: usize,
}

impl SharedSegment {
    /// Creates a segment, and reserves its memory.
    ///
    /// # Errors
    /// [`ServeError`] if the name is not right or exists, or there is too little shared memory.
    pub(super) fn create(name: &str, shape: &BatchShape, held: &SegmentName) -> Result<SharedSegment, ServeError> {
        let is_right = name.len() <= 30
            && name.starts_with(|first: char| first.is_ascii_alphanumeric())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
        if !is_right {
            return Err(ServeError::Name { name: name.to_owned() });
        }
        let slot = shape.payload_len();
        let len = HEADER_LEN + SLOTS * slot;
        let failed = |act, error: Errno| match error {
            Errno::EXIST => ServeError::Exists { name: name.to_owned() },
            error => ServeError::Segment { name: name.to_owned(), act, bytes: len, error: io::Error::from(error) },
        };
        let file = held.create(name).map_err(|error| failed("create", error))?;
        let start = map(&file, len).map_err(|(act, error)| {
            held.unlink();
            failed(act, error)
        })?;
        let mut segment = SharedSegment { name: held.clone(), start, len, slot };
        segment.write(0, &shape.header());
        Ok(segment)
    }

    /// Removes the segment's name, after which it lives as long as it is mapped.
    pub(super) fn unlink(&self) {
        self.name.unlink();
    }

    /// Replaces a slot's payload. `number` is that of the batch from 1 on.
    pub(super) fn fill(&mut self, slot: usize, number: u64, positions: u32, payload: &[u8]) {
        let sequence = 40 + 8 * slot;
        self.write(sequence, &0_u64.to_le_bytes());
        self.write(HEADER_LEN + slot * self.slot, payload);
        self.write(56 + 4 * slot, &positions.to_le_bytes());
        self.write(sequence, &number.to_le_bytes());
    }

    /// Copies bytes to a place of the segment.
    #[expect(unsafe_code, reason = "the memory belongs to other processes too, so there is no slice of it")]
    fn write(&mut self, at: usize, bytes: &[u8]) {
        assert!(at.checked_add(bytes.len()).is_some_and(|end| end <= self.len), "a write past the segment's end");
        // SAFETY: `start` is a mapping of `len` bytes that lives as long as `self`, and the range
        // was checked. `bytes` is no part of it, because no reference into the mapping is made.
        // The order of two writes is kept by the pipe that tells the consumer of the second.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), self.start.cast::<u8>().add(at), bytes.len()) };
    }
}

impl Drop for SharedSegment {
    #[expect(unsafe_code, reason = "a mapping ends by a call of the system")]
    fn drop(&mut self) {
        self.name.unlink();
        // SAFETY: the mapping is of this length, and nothing refers to it after its only owner.
        let _ = unsafe { rustix::mm::munmap(self.start, self.len) };
    }
}

/// Sets the size of a segment and maps it. An error has the failed act.
#[expect(unsafe_code, reason = "a mapping begins by a call of the system")]
fn map(file: &OwnedFd, len: usize) -> Result<*mut c_void, (&'static str, Errno)> {
    rustix::fs::ftruncate(file, len as u64).map_err(|error| ("set the size of", error))?;
    // Without a reservation, a write to full memory ends the process by a signal.
    #[cfg(target_os = "linux")]
    rustix::fs::fallocate(file, rustix::fs::FallocateFlags::empty(), 0, len as u64)
        .map_err(|error| ("reserve", error))?;
    // SAFETY: a new mapping at a place that the system chooses touches no memory of this process.
    unsafe { rustix::mm::mmap(ptr::null_mut(), len, ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED, file, 0) }
        .map_err(|error| ("map", error))
}
