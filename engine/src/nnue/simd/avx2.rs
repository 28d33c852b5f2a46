//! AVX2: sixteen 16-bit numbers at once.

use std::arch::x86_64::*;

type V = __m256i;
const LANES: usize = 16;

kernels!("avx2", "avx2");

#[inline]
#[target_feature(enable = "avx2")]
fn zero() -> V {
    _mm256_setzero_si256()
}

#[inline]
#[target_feature(enable = "avx2")]
fn load(from: &[i16; LANES]) -> V {
    // SAFETY: the array is as long as the vector.
    unsafe { _mm256_loadu_si256(from.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn store(to: &mut [i16; LANES], vector: V) {
    // SAFETY: the array is as long as the vector.
    unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), vector) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn add(a: V, b: V) -> V {
    _mm256_add_epi16(a, b)
}

#[inline]
#[target_feature(enable = "avx2")]
fn sub(a: V, b: V) -> V {
    _mm256_sub_epi16(a, b)
}

#[inline]
#[target_feature(enable = "avx2")]
fn add32(a: V, b: V) -> V {
    _mm256_add_epi32(a, b)
}

/// Adds v * v * w. With v of 0 to 255 and |w| up to 128, v * w fits 16 bits, and times v it is a
/// 32-bit product.
#[inline]
#[target_feature(enable = "avx2")]
fn screlu_step(sum: V, value: V, weight: V) -> V {
    let value = _mm256_min_epi16(_mm256_max_epi16(value, _mm256_setzero_si256()), _mm256_set1_epi16(255));
    add_pairs(sum, _mm256_mullo_epi16(value, weight), value)
}

#[inline]
#[target_feature(enable = "avx2")]
fn add_pairs(sum: V, a: V, b: V) -> V {
    _mm256_add_epi32(sum, _mm256_madd_epi16(a, b))
}

#[inline]
#[target_feature(enable = "avx2")]
fn sum_wide(vector: V) -> i64 {
    let low = _mm256_cvtepi32_epi64(_mm256_castsi256_si128(vector));
    let high = _mm256_cvtepi32_epi64(_mm256_extracti128_si256::<1>(vector));
    let four = _mm256_add_epi64(low, high);
    let two = _mm_add_epi64(_mm256_castsi256_si128(four), _mm256_extracti128_si256::<1>(four));
    _mm_cvtsi128_si64(two) + _mm_extract_epi64::<1>(two)
}

#[inline]
#[target_feature(enable = "avx2")]
fn positive(numbers: V) -> V {
    _mm256_max_epi16(numbers, zero())
}

/// Multiplies clipped neurons: 64 times a times b, of which the high half is rounded.
#[inline]
#[target_feature(enable = "avx2")]
fn product(a: V, b: V) -> V {
    let clip = |neurons| _mm256_min_epi16(positive(neurons), _mm256_set1_epi16(255));
    _mm256_mulhrs_epi16(_mm256_slli_epi16::<6>(clip(a)), clip(b))
}

/// Clamps by saturation. From above it is that of the signed byte, 127; from below the later
/// unsigned one would be too late.
#[inline]
#[target_feature(enable = "avx2")]
fn activate(to: &mut [u8; 2 * LANES], from: &[i16; 2 * LANES]) {
    let halves = from.as_chunks().0;
    store_packed(to, positive(load(&halves[0])), positive(load(&halves[1])));
}

#[inline]
#[target_feature(enable = "avx2")]
fn multiply(to: &mut [u8; 2 * LANES], a: &[i16; 2 * LANES], b: &[i16; 2 * LANES]) {
    let (a, b) = (a.as_chunks().0, b.as_chunks().0);
    store_packed(to, product(load(&a[0]), load(&b[0])), product(load(&a[1]), load(&b[1])));
}

#[inline]
#[target_feature(enable = "avx2")]
fn store_packed(to: &mut [u8; 2 * LANES], low: V, high: V) {
    let bytes = _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_packs_epi16(low, high));
    // SAFETY: the array is as long as the vector.
    unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), bytes) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn pack_twice(numbers: V) -> V {
    _mm256_packs_epi16(numbers, numbers)
}

/// Returns a bit for each four bytes that are not all zero.
#[inline]
#[target_feature(enable = "avx2")]
fn nonzero(from: &[u8; 32]) -> u8 {
    // SAFETY: the array is as long as the vector.
    let vector = unsafe { _mm256_loadu_si256(from.as_ptr().cast()) };
    let zeros = _mm256_cmpeq_epi32(vector, _mm256_setzero_si256());
    !_mm256_movemask_ps(_mm256_castsi256_ps(zeros)) as u8
}

#[inline]
#[target_feature(enable = "avx2")]
fn load_weights(from: &[i8; 2 * LANES]) -> V {
    // SAFETY: the array is as long as the vector.
    unsafe { _mm256_loadu_si256(from.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn splat(bytes: [u8; 4]) -> V {
    _mm256_set1_epi32(i32::from_le_bytes(bytes))
}

/// Adds products of bytes. Pairs of products are at most 2 * 127 * 128 and fit 16 bits, so nothing
/// saturates.
#[inline]
#[target_feature(enable = "avx2")]
fn dot(sum: V, values: V, weights: V) -> V {
    add_pairs(sum, _mm256_maddubs_epi16(values, weights), _mm256_set1_epi16(1))
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn sum_pairs([a, b, c, d]: [V; 4]) -> [i32; 8] {
    // In each half the sums of the first four neurons, or the others, over half of the inputs.
    let (first, last) = (_mm256_hadd_epi32(a, b), _mm256_hadd_epi32(c, d));
    let low = _mm256_permute2x128_si256::<0x20>(first, last);
    let high = _mm256_permute2x128_si256::<0x31>(first, last);
    let mut sums = [0; 8];
    // SAFETY: the array is as long as the vector.
    unsafe { _mm256_storeu_si256(sums.as_mut_ptr().cast(), _mm256_add_epi32(low, high)) };
    sums
}

#[inline]
#[target_feature(enable = "avx2")]
fn load32(from: &[i32; LANES / 2]) -> V {
    // SAFETY: the array is as long as the vector.
    unsafe { _mm256_loadu_si256(from.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn store32(to: &mut [i32; LANES / 2], vector: V) {
    // SAFETY: the array is as long as the vector.
    unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), vector) }
}
