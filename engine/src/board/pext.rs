//! Sliding attacks by the instruction PEXT, which packs the relevant blockers into a dense index
//! without a multiplication.
//!
//! PEXT is part of BMI2, which the baseline of x86-64 lacks. AMD's processors before Zen 3 run it
//! in microcode at up to hundreds of cycles (Agner Fog, "Instruction tables"; Chess Programming
//! Wiki, "BMI2"). The method is therefore selected at run time by
//! [`super::attacks::choose_sliding`].

#[cfg(target_arch = "x86_64")]
use crate::types::Bitboard;
use std::sync::atomic::{AtomicBool, Ordering};

/// Flag that is set only on processors with BMI2.
static CHOSEN: AtomicBool = AtomicBool::new(false);

/// Returns whether PEXT is selected.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(super) fn is_chosen() -> bool {
    CHOSEN.load(Ordering::Relaxed)
}

/// Selects or deselects PEXT. Returns the choice in effect, never true on a processor without BMI2.
pub(super) fn choose(wanted: bool) -> bool {
    let chosen = wanted && is_supported();
    CHOSEN.store(chosen, Ordering::Relaxed);
    chosen
}

#[cfg(target_arch = "x86_64")]
fn is_supported() -> bool {
    std::arch::is_x86_feature_detected!("bmi2")
}

#[cfg(not(target_arch = "x86_64"))]
fn is_supported() -> bool {
    false
}

/// Returns whether the processor has a PEXT that is faster than a multiplication.
#[cfg(target_arch = "x86_64")]
pub(super) fn is_fast() -> bool {
    use std::arch::x86_64::__cpuid;
    let names = __cpuid(0);
    let vendor = [names.ebx, names.edx, names.ecx];
    is_supported() && is_fast_on(&vendor.map(u32::to_le_bytes).concat(), __cpuid(1).eax)
}

#[cfg(not(target_arch = "x86_64"))]
pub(super) fn is_fast() -> bool {
    false
}

/// Returns whether PEXT is fast, from the vendor's twelve letters and the signature of CPUID leaf
/// one. It is fast on all processors with BMI2 except AMD's families below 0x19 (Zen 3) and
/// Hygon's, which are Zen 1.
#[cfg(any(test, target_arch = "x86_64"))]
fn is_fast_on(vendor: &[u8], signature: u32) -> bool {
    let family = match signature >> 8 & 0xF {
        0xF => 0xF + (signature >> 20 & 0xFF),
        family => family,
    };
    !matches!(vendor, b"AuthenticAMD" | b"HygonGenuine") || family >= 0x19
}

/// Packs the bits of a value that a mask selects.
///
/// This is assembly because an intrinsic cannot be inlined into code for processors without BMI2,
/// and a call would cost more than PEXT saves.
#[cfg(target_arch = "x86_64")]
#[inline]
#[expect(unsafe_code, reason = "one instruction that the compiler may not assume")]
pub(super) fn extract(occupied: Bitboard, mask: u64) -> usize {
    debug_assert!(is_supported());
    let index: usize;
    // SAFETY: PEXT reads and writes registers only, no flags. The caller has asked `is_chosen`, so
    // the processor has BMI2.
    unsafe {
        std::arch::asm!(
            "pext {index}, {value}, {mask}",
            index = lateout(reg) index,
            value = in(reg) occupied.0,
            mask = in(reg) mask,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    index
}

#[cfg(test)]
mod tests {
    use super::is_fast_on;

    #[test]
    fn microcoded_pext_is_not_fast() {
        let cases: [(&[u8; 12], u32, bool); 7] = [
            (b"AuthenticAMD", 0x0066_0F51, false), // Excavator, family 0x15
            (b"AuthenticAMD", 0x0080_0F11, false), // Zen, family 0x17
            (b"AuthenticAMD", 0x0087_0F10, false), // Zen 2, family 0x17
            (b"HygonGenuine", 0x0090_0F02, false), // Dhyana, family 0x18
            (b"AuthenticAMD", 0x00A2_0F10, true),  // Zen 3, family 0x19
            (b"AuthenticAMD", 0x00B0_0F21, true),  // Zen 5, family 0x1A
            (b"GenuineIntel", 0x0003_06C3, true),  // Haswell, family 6
        ];
        for (vendor, signature, fast) in cases {
            assert_eq!(is_fast_on(vendor, signature), fast, "{signature:x}");
        }
    }
}
