//! AVX-512: thirty-two 16-bit numbers at once, with and without fused multiply-add of integers
//! (VNNI).

/// Generates the parts that both tables share, for a set of features.
macro_rules! avx512 {
    ($features:tt) => {
        use crate::nnue::simd::avx2;
        use std::arch::x86_64::*;

        type V = __m512i;
        const LANES: usize = 32;

        #[inline]
        #[target_feature(enable = $features)]
        fn zero() -> V {
            _mm512_setzero_si512()
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn load(from: &[i16; LANES]) -> V {
            // SAFETY: the array is as long as the vector.
            unsafe { _mm512_loadu_si512(from.as_ptr().cast()) }
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn store(to: &mut [i16; LANES], vector: V) {
            // SAFETY: the array is as long as the vector.
            unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), vector) }
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn add(a: V, b: V) -> V {
            _mm512_add_epi16(a, b)
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn sub(a: V, b: V) -> V {
            _mm512_sub_epi16(a, b)
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn add32(a: V, b: V) -> V {
            _mm512_add_epi32(a, b)
        }

        /// Adds v * v * w. With v of 0 to 255 and |w| up to 128, v * w fits 16 bits, and times v it
        /// is a 32-bit product.
        #[inline]
        #[target_feature(enable = $features)]
        fn screlu_step(sum: V, value: V, weight: V) -> V {
            let value = _mm512_min_epi16(_mm512_max_epi16(value, _mm512_setzero_si512()), _mm512_set1_epi16(255));
            add_pairs(sum, _mm512_mullo_epi16(value, weight), value)
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn sum_wide(vector: V) -> i64 {
            let low = _mm512_cvtepi32_epi64(_mm512_castsi512_si256(vector));
            let high = _mm512_cvtepi32_epi64(_mm512_extracti64x4_epi64::<1>(vector));
            _mm512_reduce_add_epi64(_mm512_add_epi64(low, high))
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn positive(numbers: V) -> V {
            _mm512_max_epi16(numbers, zero())
        }

        /// Multiplies clipped neurons: 64 times a times b, of which the high half is rounded.
        #[inline]
        #[target_feature(enable = $features)]
        fn product(a: V, b: V) -> V {
            let clip = |neurons| _mm512_min_epi16(positive(neurons), _mm512_set1_epi16(255));
            _mm512_mulhrs_epi16(_mm512_slli_epi16::<6>(clip(a)), clip(b))
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn activate(to: &mut [u8; LANES], from: &[i16; LANES]) {
            let bytes = _mm512_cvtsepi16_epi8(positive(load(from)));
            // SAFETY: the array is as long as the vector of half the width.
            unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), bytes) }
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn multiply(to: &mut [u8; LANES], a: &[i16; LANES], b: &[i16; LANES]) {
            let bytes = _mm512_cvtepi16_epi8(product(load(a), load(b)));
            // SAFETY: the array is as long as the vector of half the width.
            unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), bytes) }
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn pack_twice(numbers: V) -> V {
            _mm512_packs_epi16(numbers, numbers)
        }

        /// Returns a bit for each four bytes that are not all zero.
        #[inline]
        #[target_feature(enable = $features)]
        fn nonzero(from: &[u8; 32]) -> u8 {
            // SAFETY: the array is as long as the vector.
            let vector = unsafe { _mm256_loadu_si256(from.as_ptr().cast()) };
            let zeros = _mm256_cmpeq_epi32(vector, _mm256_setzero_si256());
            !_mm256_movemask_ps(_mm256_castsi256_ps(zeros)) as u8
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn load_weights(from: &[i8; 2 * LANES]) -> V {
            // SAFETY: the array is as long as the vector.
            unsafe { _mm512_loadu_si512(from.as_ptr().cast()) }
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn splat(bytes: [u8; 4]) -> V {
            _mm512_set1_epi32(i32::from_le_bytes(bytes))
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn sum_pairs([a, b, c, d]: [V; 4]) -> [i32; 8] {
            let half =
                |vector| _mm256_add_epi32(_mm512_castsi512_si256(vector), _mm512_extracti64x4_epi64::<1>(vector));
            avx2::sum_pairs([half(a), half(b), half(c), half(d)])
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn load32(from: &[i32; LANES / 2]) -> V {
            // SAFETY: the array is as long as the vector.
            unsafe { _mm512_loadu_si512(from.as_ptr().cast()) }
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn store32(to: &mut [i32; LANES / 2], vector: V) {
            // SAFETY: the array is as long as the vector.
            unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), vector) }
        }
    };
}

/// Kernels for AVX-512 F and BW.
pub mod plain {
    avx512!("avx512f,avx512bw");
    kernels!("avx512", "avx512f,avx512bw");

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn add_pairs(sum: V, a: V, b: V) -> V {
        _mm512_add_epi32(sum, _mm512_madd_epi16(a, b))
    }

    /// Adds products of bytes. Pairs of products are at most 2 * 127 * 128 and fit 16 bits, so
    /// nothing saturates.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn dot(sum: V, values: V, weights: V) -> V {
        add_pairs(sum, _mm512_maddubs_epi16(values, weights), _mm512_set1_epi16(1))
    }
}

/// Kernels for AVX-512 F, BW and VNNI.
pub mod vnni {
    avx512!("avx512f,avx512bw,avx512vnni");
    kernels!("avx512-vnni", "avx512f,avx512bw,avx512vnni");

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
    fn add_pairs(sum: V, a: V, b: V) -> V {
        _mm512_dpwssd_epi32(sum, a, b)
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
    fn dot(sum: V, values: V, weights: V) -> V {
        _mm512_dpbusd_epi32(sum, values, weights)
    }
}
