//! Arrays that start on a cache line, so that no vector straddles two lines.

use crate::memory::advise_huge_pages;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::slice;

/// Number type for which every bit pattern is valid.
pub trait Number: Copy + sealed::Sealed {}

mod sealed {
    pub trait Sealed {}
    impl Sealed for i8 {}
    impl Sealed for u8 {}
    impl Sealed for i16 {}
}

impl Number for i8 {}
impl Number for u8 {}
impl Number for i16 {}

#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct CacheLine([u8; 64]);

/// Fixed number of integers that start at an address divisible by 64.
#[derive(Clone)]
pub struct AlignedArray<T> {
    lines: Vec<CacheLine>,
    len: usize,
    number: PhantomData<T>,
}

impl<T: Number> AlignedArray<T> {
    /// Creates an array of zeros.
    pub fn zeroed(len: usize) -> AlignedArray<T> {
        let count = (len * size_of::<T>()).div_ceil(size_of::<CacheLine>());
        let mut lines = Vec::with_capacity(count);
        advise_huge_pages(lines.spare_capacity_mut());
        lines.resize(count, CacheLine([0; 64]));
        AlignedArray { lines, len, number: PhantomData }
    }

    /// Extends the array with zeros.
    pub fn grow(&mut self, len: usize) {
        if len > self.len {
            self.lines.resize((len * size_of::<T>()).div_ceil(size_of::<CacheLine>()), CacheLine([0; 64]));
            self.len = len;
        }
    }

    /// Collects the first `len` numbers of an iterator; zeros follow if it has fewer.
    pub fn collect(len: usize, numbers: impl Iterator<Item = T>) -> AlignedArray<T> {
        let mut array = AlignedArray::zeroed(len);
        array.iter_mut().zip(numbers).for_each(|(place, number)| *place = number);
        array
    }
}

impl<T: Number> Deref for AlignedArray<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: the lines are at least `len` numbers long, aligned for any of them, and all their
        // bytes are initialised; every bit pattern is a number.
        unsafe { slice::from_raw_parts(self.lines.as_ptr().cast(), self.len) }
    }
}

impl<T: Number> DerefMut for AlignedArray<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and the lines are borrowed for as long as the slice; no number leaves a
        // line uninitialised.
        unsafe { slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), self.len) }
    }
}
