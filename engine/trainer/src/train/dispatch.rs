//! Dispatch to instruction sets: a [`Kernel`] is compiled for each set and runs in the best one
//! available.
//!
//! Kernels are plain loops over blocks of constant width that the compiler vectorises. They
//! multiply and add in separate steps and fold sums in a fixed order, so every instruction set
//! gives the same bytes.

/// Hot loop with its operands. Implementations of `run` must be `#[inline(always)]`, or they stay
/// in the baseline instruction set.
pub trait Kernel {
    fn run(self);
}

/// Instruction set that this machine supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Isa {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Isa {
    /// Returns the best instruction set of this machine.
    pub fn detect() -> Isa {
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vl") {
                return Isa::Avx512;
            }
            if is_x86_feature_detected!("avx2") {
                return Isa::Avx2;
            }
        }
        Isa::Portable
    }

    /// Returns every instruction set of this machine, the best last.
    #[cfg(test)]
    pub fn all() -> Vec<Isa> {
        #[cfg(target_arch = "x86_64")]
        match Isa::detect() {
            Isa::Avx512 => return vec![Isa::Portable, Isa::Avx2, Isa::Avx512],
            Isa::Avx2 => return vec![Isa::Portable, Isa::Avx2],
            Isa::Portable => {}
        }
        vec![Isa::Portable]
    }

    /// Runs a kernel in this instruction set.
    #[inline]
    #[cfg_attr(
        target_arch = "x86_64",
        expect(unsafe_code, reason = "calls code compiled for a detected instruction set")
    )]
    pub fn run<K: Kernel>(self, kernel: K) {
        match self {
            Isa::Portable => kernel.run(),
            // SAFETY: only `detect` makes this value, after it found AVX2.
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => unsafe { run_avx2(kernel) },
            // SAFETY: only `detect` makes this value, after it found AVX-512F and AVX-512VL.
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => unsafe { run_avx512(kernel) },
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn run_avx2<K: Kernel>(kernel: K) {
    kernel.run();
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,avx512f,avx512vl")]
fn run_avx512<K: Kernel>(kernel: K) {
    kernel.run();
}
