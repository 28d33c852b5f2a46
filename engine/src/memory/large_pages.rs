//! Large pages of Windows, which users with the right to lock pages in memory can have.

use std::ops::Deref;
use std::ptr::{NonNull, null, null_mut};
use std::slice;

use windows_sys::Win32::Foundation::{CloseHandle, HANDLE};
use windows_sys::Win32::Security::{
    AdjustTokenPrivileges, LookupPrivilegeValueW, SE_LOCK_MEMORY_NAME, SE_PRIVILEGE_ENABLED, TOKEN_ADJUST_PRIVILEGES,
    TOKEN_PRIVILEGES,
};
use windows_sys::Win32::System::Memory::{
    GetLargePageMinimum, MEM_COMMIT, MEM_LARGE_PAGES, MEM_RELEASE, MEM_RESERVE, PAGE_READWRITE,
    VIRTUAL_ALLOCATION_TYPE, VirtualAlloc, VirtualFree,
};
use windows_sys::Win32::System::Threading::{GetCurrentProcess, OpenProcessToken};

use super::block::{BLOCK_BYTES, HugeBlock, Zeroable};

/// Memory for blocks: large pages, or the allocator's.
pub(super) struct HugeMemory<T> {
    first: NonNull<HugeBlock<T>>,
    count: usize,
    /// Owner of the memory; `None` for large pages.
    owner: Option<Vec<HugeBlock<T>>>,
}

#[expect(unsafe_code, reason = "the pointer is to memory that this value owns")]
// SAFETY: as for the vector that may own the memory.
unsafe impl<T: Send> Send for HugeMemory<T> {}

#[expect(unsafe_code, reason = "the pointer is to memory that this value owns")]
// SAFETY: as for the vector that may own the memory.
unsafe impl<T: Sync> Sync for HugeMemory<T> {}

impl<T: Zeroable> HugeMemory<T> {
    /// Allocates zeroed blocks in large pages; `None` without the right to them, or if memory is
    /// too fragmented.
    pub(super) fn in_large_pages(count: usize) -> Option<Self> {
        #[expect(unsafe_code, reason = "the standard library has no large pages")]
        // SAFETY: the function has no conditions.
        let page = unsafe { GetLargePageMinimum() };
        if page == 0 || !BLOCK_BYTES.is_multiple_of(page) {
            return None;
        }
        enable_large_pages();
        Self::allocate(null(), count, MEM_LARGE_PAGES)
    }

    /// Allocates zeroed blocks in pages of a kind, at an address unless it is null.
    fn allocate(at: *const HugeBlock<T>, count: usize, kind: VIRTUAL_ALLOCATION_TYPE) -> Option<Self> {
        let bytes = count.checked_mul(BLOCK_BYTES)?;
        #[expect(unsafe_code, reason = "the standard library has no large pages")]
        // SAFETY: the memory is new, and owned here alone.
        let first = unsafe { VirtualAlloc(at.cast(), bytes, MEM_RESERVE | MEM_COMMIT | kind, PAGE_READWRITE) };
        let blocks = Self { first: NonNull::new(first.cast())?, count, owner: None };
        blocks.first.is_aligned().then_some(blocks)
    }
}

impl<T> From<Vec<HugeBlock<T>>> for HugeMemory<T> {
    fn from(mut blocks: Vec<HugeBlock<T>>) -> Self {
        Self { first: NonNull::from(blocks.as_mut_slice()).cast(), count: blocks.len(), owner: Some(blocks) }
    }
}

impl<T> Default for HugeMemory<T> {
    fn default() -> Self {
        Self::from(Vec::new())
    }
}

impl<T> Deref for HugeMemory<T> {
    type Target = [HugeBlock<T>];

    #[inline]
    fn deref(&self) -> &[HugeBlock<T>] {
        #[expect(unsafe_code, reason = "one pointer to memory of either kind, so that no probe asks which")]
        // SAFETY: the pointer is aligned, to this number of blocks that live as long as this value.
        // Those of `allocate` are zero at first, which is a value; others were in a vector.
        unsafe {
            slice::from_raw_parts(self.first.as_ptr(), self.count)
        }
    }
}

impl<T> Drop for HugeMemory<T> {
    fn drop(&mut self) {
        if self.owner.is_none() {
            #[expect(unsafe_code, reason = "the system allocated it")]
            // SAFETY: the memory is that of `allocate`, and is freed once.
            unsafe {
                VirtualFree(self.first.as_ptr().cast(), 0, MEM_RELEASE);
            }
        }
    }
}

/// Enables the right to large pages for this process, if its user has it.
fn enable_large_pages() {
    let mut token: HANDLE = null_mut();
    let mut rights = TOKEN_PRIVILEGES { PrivilegeCount: 1, ..TOKEN_PRIVILEGES::default() };
    rights.Privileges[0].Attributes = SE_PRIVILEGE_ENABLED;
    #[expect(unsafe_code, reason = "the standard library has no rights")]
    // SAFETY: the structures are whole, and the handle is open until it is closed, once. Without
    // the right the allocation fails.
    unsafe {
        if OpenProcessToken(GetCurrentProcess(), TOKEN_ADJUST_PRIVILEGES, &raw mut token) == 0 {
            return;
        }
        if LookupPrivilegeValueW(null(), SE_LOCK_MEMORY_NAME, &raw mut rights.Privileges[0].Luid) != 0 {
            AdjustTokenPrivileges(token, 0, &raw const rights, 0, null_mut(), null_mut());
        }
        CloseHandle(token);
    }
}

#[cfg(test)]
mod tests {
    use windows_sys::Win32::System::Memory::PAGE_NOACCESS;

    use super::*;

    /// Address of free memory that is aligned for two blocks.
    #[expect(unsafe_code, reason = "the system's allocator, as above")]
    fn aligned() -> *const HugeBlock<[u64; 8]> {
        // SAFETY: the memory is new, and freed at once.
        unsafe {
            let free = VirtualAlloc(null(), 3 * BLOCK_BYTES, MEM_RESERVE, PAGE_NOACCESS);
            assert_ne!(VirtualFree(free, 0, MEM_RELEASE), 0);
            free.byte_add(free.align_offset(BLOCK_BYTES)).cast_const().cast()
        }
    }

    #[test]
    fn pages_of_the_system_are_blocks_that_begin_as_zero() {
        for _ in 0..2 {
            let blocks = HugeMemory::allocate(aligned(), 2, 0).expect("memory");
            assert_eq!(blocks.len(), 2);
            assert!(blocks.iter().flat_map(|block| &block.0).all(|bucket| *bucket == [0; 8]));
        }
    }

    #[test]
    fn pages_that_are_not_aligned_are_refused() {
        let odd = aligned().wrapping_byte_add(1 << 16);
        assert!(HugeMemory::allocate(odd, 1, 0).is_none());
        assert!(HugeMemory::<[u64; 8]>::allocate(null(), usize::MAX, 0).is_none());
    }
}
