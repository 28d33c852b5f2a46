//! Blocks of memory of the size of a huge page.

/// Size of a huge page on x86-64 and most other platforms.
pub const BLOCK_BYTES: usize = 2 << 20;
const _: () = assert!(BLOCK_BYTES == size_of::<HugeBlock<[u64; 8]>>());

/// Type that is valid if all its bytes are zero.
///
/// # Safety
/// All bytes zero is a value of every implementor.
#[expect(unsafe_code, reason = "a promise about all bytes zero, which is how tables begin")]
pub unsafe trait Zeroable: Sync + Send {}

#[expect(unsafe_code, reason = "integers may be zero")]
// SAFETY: integers may be zero.
unsafe impl Zeroable for [u64; 8] {}

/// Buckets per block.
pub const BLOCK_LEN: usize = BLOCK_BYTES / 64;

/// Buckets of a huge page.
pub type HugeBlock<T> = AlignedValue<[T; BLOCK_LEN]>;

/// Value at the beginning of a huge page.
#[repr(align(2_097_152))]
pub struct AlignedValue<T>(pub T);
