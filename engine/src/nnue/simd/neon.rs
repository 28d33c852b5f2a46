//! NEON: eight 16-bit numbers at once.

use std::arch::aarch64::*;

type V = int16x8_t;
const LANES: usize = 8;

kernels!("neon", "neon");

#[inline]
#[target_feature(enable = "neon")]
fn zero() -> V {
    vdupq_n_s16(0)
}

#[inline]
#[target_feature(enable = "neon")]
fn load(from: &[i16; LANES]) -> V {
    // SAFETY: the array is as long as the vector.
    unsafe { vld1q_s16(from.as_ptr()) }
}

#[inline]
#[target_feature(enable = "neon")]
fn store(to: &mut [i16; LANES], vector: V) {
    // SAFETY: the array is as long as the vector.
    unsafe { vst1q_s16(to.as_mut_ptr(), vector) }
}

#[inline]
#[target_feature(enable = "neon")]
fn add(a: V, b: V) -> V {
    vaddq_s16(a, b)
}

#[inline]
#[target_feature(enable = "neon")]
fn sub(a: V, b: V) -> V {
    vsubq_s16(a, b)
}

#[inline]
#[target_feature(enable = "neon")]
fn add32(a: V, b: V) -> V {
    vreinterpretq_s16_s32(vaddq_s32(vreinterpretq_s32_s16(a), vreinterpretq_s32_s16(b)))
}

/// Adds v * v * w. With v of 0 to 255 and |w| up to 128, v * w fits 16 bits, and times v it is a
/// 32-bit product.
#[inline]
#[target_feature(enable = "neon")]
fn screlu_step(sum: V, value: V, weight: V) -> V {
    let value = vminq_s16(vmaxq_s16(value, vdupq_n_s16(0)), vdupq_n_s16(255));
    let product = vmulq_s16(value, weight);
    let sum = vmlal_s16(vreinterpretq_s32_s16(sum), vget_low_s16(product), vget_low_s16(value));
    vreinterpretq_s16_s32(vmlal_high_s16(sum, product, value))
}

#[inline]
#[target_feature(enable = "neon")]
fn add_pairs(sum: V, a: V, b: V) -> V {
    let products = vpaddq_s32(vmull_s16(vget_low_s16(a), vget_low_s16(b)), vmull_high_s16(a, b));
    add32(sum, vreinterpretq_s16_s32(products))
}

#[inline]
#[target_feature(enable = "neon")]
fn sum_wide(vector: V) -> i64 {
    vaddlvq_s32(vreinterpretq_s32_s16(vector))
}

#[inline]
#[target_feature(enable = "neon")]
fn positive(numbers: V) -> V {
    vmaxq_s16(numbers, vdupq_n_s16(0))
}

/// Multiplies clipped neurons: 128 times a times b, of which the high half is rounded.
#[inline]
#[target_feature(enable = "neon")]
fn product(a: V, b: V) -> V {
    let clip = |neurons| vminq_s16(positive(neurons), vdupq_n_s16(255));
    vqrdmulhq_s16(vshlq_n_s16::<6>(clip(a)), clip(b))
}

#[inline]
#[target_feature(enable = "neon")]
fn activate(to: &mut [u8; LANES], from: &[i16; LANES]) {
    let bytes = vqmovun_s16(vminq_s16(load(from), vdupq_n_s16(127)));
    // SAFETY: the array is as long as the vector of half the width.
    unsafe { vst1_u8(to.as_mut_ptr(), bytes) }
}

#[inline]
#[target_feature(enable = "neon")]
fn multiply(to: &mut [u8; LANES], a: &[i16; LANES], b: &[i16; LANES]) {
    let bytes = vqmovun_s16(product(load(a), load(b)));
    // SAFETY: the array is as long as the vector of half the width.
    unsafe { vst1_u8(to.as_mut_ptr(), bytes) }
}

#[inline]
#[target_feature(enable = "neon")]
fn pack_twice(numbers: V) -> V {
    let bytes = vqmovn_s16(numbers);
    vreinterpretq_s16_s8(vcombine_s8(bytes, bytes))
}

/// Returns a bit for each four bytes that are not all zero.
#[inline]
#[target_feature(enable = "neon")]
fn nonzero(from: &[u8; 32]) -> u8 {
    // SAFETY: the arrays are as long as the vectors.
    let (low, high, bits) = unsafe {
        let bits: [u32; 8] = [1, 2, 4, 8, 16, 32, 64, 128];
        let halves = [from.as_ptr(), from[16..].as_ptr()].map(|half| vreinterpretq_u32_u8(vld1q_u8(half)));
        (halves[0], halves[1], [vld1q_u32(bits.as_ptr()), vld1q_u32(bits[4..].as_ptr())])
    };
    let low = vandq_u32(vtstq_u32(low, low), bits[0]);
    let high = vandq_u32(vtstq_u32(high, high), bits[1]);
    vaddvq_u32(vorrq_u32(low, high)) as u8
}

#[inline]
#[target_feature(enable = "neon")]
fn load_weights(from: &[i8; 2 * LANES]) -> V {
    // SAFETY: the array is as long as the vector.
    vreinterpretq_s16_s8(unsafe { vld1q_s8(from.as_ptr()) })
}

#[inline]
#[target_feature(enable = "neon")]
fn splat(bytes: [u8; 4]) -> V {
    vreinterpretq_s16_u32(vdupq_n_u32(u32::from_le_bytes(bytes)))
}

/// Adds products of bytes. Activations are at most 127, so they are also signed bytes, and pairs of
/// products fit 16 bits.
#[inline]
#[target_feature(enable = "neon")]
fn dot(sum: V, values: V, weights: V) -> V {
    let (values, weights) = (vreinterpretq_s8_s16(values), vreinterpretq_s8_s16(weights));
    let low = vmull_s8(vget_low_s8(values), vget_low_s8(weights));
    let high = vmull_high_s8(values, weights);
    vreinterpretq_s16_s32(vpadalq_s16(vreinterpretq_s32_s16(sum), vpaddq_s16(low, high)))
}

#[inline]
#[target_feature(enable = "neon")]
fn sum_pairs(pairs: [V; 4]) -> [i32; 8] {
    let [a, b, c, d] = pairs.map(|pair| vreinterpretq_s32_s16(pair));
    let mut sums = [0; 8];
    // SAFETY: the halves of the array are as long as the vectors.
    unsafe {
        vst1q_s32(sums.as_mut_ptr(), vpaddq_s32(a, b));
        vst1q_s32(sums[4..].as_mut_ptr(), vpaddq_s32(c, d));
    }
    sums
}

#[inline]
#[target_feature(enable = "neon")]
fn load32(from: &[i32; LANES / 2]) -> V {
    // SAFETY: the array is as long as the vector.
    vreinterpretq_s16_s32(unsafe { vld1q_s32(from.as_ptr()) })
}

#[inline]
#[target_feature(enable = "neon")]
fn store32(to: &mut [i32; LANES / 2], vector: V) {
    // SAFETY: the array is as long as the vector.
    unsafe { vst1q_s32(to.as_mut_ptr(), vreinterpretq_s32_s16(vector)) }
}
