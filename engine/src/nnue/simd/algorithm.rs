//! Kernels, written once over the few operations of a vector type.

/// Activations of kind 2 that are computed before they are multiplied.
pub(super) const ACTIVATIONS: usize = 256;

/// Terms of the SCReLU sum that fit 32 bits. A lane takes at most 128 pairs of products of 255 *
/// 255 * 128. Their sum is 2_130_739_200 and just fits; it is then widened.
pub(super) const SCRELU_BLOCK: usize = 1024;

/// Generates the kernels of an instruction set as a constant `KERNELS`.
///
/// The calling module provides these as safe functions with the same target features. Of 16-bit
/// lanes: the vector `V` of `LANES` numbers, `zero`, `load`, `store`, `add` and `sub` (wrapping),
/// and `activate` (clipped ReLU into bytes). Of bytes: `load_weights`, and `splat` (four bytes in
/// every lane). Of 32-bit lanes: `load32`, `store32`, `add32` and `sum_wide` (all lanes as one
/// 64-bit sum). `screlu_step` adds pairs of `clamp(a)^2 * w` to 32-bit lanes, and `dot` adds four
/// products to each.
macro_rules! kernels {
    ($name:literal, $features:tt) => {
        use crate::nnue::simd::algorithm::{ACTIVATIONS, SCRELU_BLOCK};
        use crate::nnue::simd::layered::GROUP;
        use crate::nnue::simd::{Kernels, LayeredHead};

        // Only `Kernels::available` hands out this table, after it has found the features on the
        // processor.
        pub static KERNELS: Kernels = Kernels {
            name: $name,
            // SAFETY: the processor has the features.
            move_piece: |dst, src, rows| unsafe { combine::<1, 1, 2>(dst, src, rows) },
            // SAFETY: the processor has the features.
            capture: |dst, src, rows| unsafe { combine::<1, 2, 3>(dst, src, rows) },
            // SAFETY: the processor has the features.
            castle: |dst, src, rows| unsafe { combine::<2, 2, 4>(dst, src, rows) },
            // SAFETY: the processor has the features.
            apply: |acc, weights, adds, subs| unsafe { apply(acc, weights, adds, subs) },
            // SAFETY: the processor has the features.
            screlu: |own, other, weights| unsafe { screlu(own, other, weights) },
            // SAFETY: the processor has the features.
            layered: |own, other, head| unsafe {
                match head.neurons() {
                    16 => layered::<16, { 16 / SUM_LANES }>(own, other, head),
                    32 => layered::<32, { 32 / SUM_LANES }>(own, other, head),
                    _ => layered::<64, { 64 / SUM_LANES }>(own, other, head),
                }
            },
        };

        /// Vectors that a refresh keeps in registers while it processes the rows.
        const REGISTERS: usize = 8;

        /// Combines `ROWS` rows: `ADDS` to add, followed by `SUBS` to subtract.
        #[target_feature(enable = $features)]
        fn combine<const ADDS: usize, const SUBS: usize, const ROWS: usize>(
            dst: &mut [i16],
            src: &[i16],
            rows: [&[i16]; ROWS],
        ) {
            const { assert!(ADDS + SUBS == ROWS) };
            let dst = dst.as_chunks_mut::<LANES>().0;
            let src = &src.as_chunks::<LANES>().0[..dst.len()];
            let rows = rows.map(|row| &row.as_chunks::<LANES>().0[..dst.len()]);
            for (index, dst) in dst.iter_mut().enumerate() {
                let mut sum = load(&src[index]);
                for row in &rows[..ADDS] {
                    sum = add(sum, load(&row[index]));
                }
                for row in &rows[ADDS..] {
                    sum = sub(sum, load(&row[index]));
                }
                store(dst, sum);
            }
        }

        #[target_feature(enable = $features)]
        fn apply(acc: &mut [i16], weights: &[i16], adds: &[u16], subs: &[u16]) {
            let vectors = acc.len() / LANES;
            let weights = weights.as_chunks::<LANES>().0;
            let (blocks, rest) = acc.as_chunks_mut::<LANES>().0.as_chunks_mut::<REGISTERS>();
            for (index, block) in blocks.iter_mut().enumerate() {
                apply_block(block, weights, (vectors, index * REGISTERS), adds, subs);
            }
            let done = vectors - rest.len();
            for (index, vector) in rest.as_chunks_mut::<1>().0.iter_mut().enumerate() {
                apply_block(vector, weights, (vectors, done + index), adds, subs);
            }
        }

        /// Processes `N` vectors of an accumulator, from number `first` on.
        #[inline]
        #[target_feature(enable = $features)]
        fn apply_block<const N: usize>(
            block: &mut [[i16; LANES]; N],
            weights: &[[i16; LANES]],
            (vectors, first): (usize, usize),
            adds: &[u16],
            subs: &[u16],
        ) {
            let mut sums = [zero(); N];
            for (sum, from) in sums.iter_mut().zip(&*block) {
                *sum = load(from);
            }
            for &feature in adds {
                let row = &weights[usize::from(feature) * vectors + first..][..N];
                for (sum, weight) in sums.iter_mut().zip(row) {
                    *sum = add(*sum, load(weight));
                }
            }
            for &feature in subs {
                let row = &weights[usize::from(feature) * vectors + first..][..N];
                for (sum, weight) in sums.iter_mut().zip(row) {
                    *sum = sub(*sum, load(weight));
                }
            }
            for (to, sum) in block.iter_mut().zip(sums) {
                store(to, sum);
            }
        }

        #[target_feature(enable = $features)]
        fn screlu(own: &[i16], other: &[i16], weights: &[i16]) -> i64 {
            let (first, second) = weights.split_at(own.len());
            let mut total = 0;
            for (values, weights) in [(own, first), (other, second)] {
                for (values, weights) in values.chunks(SCRELU_BLOCK).zip(weights.chunks(SCRELU_BLOCK)) {
                    total += screlu_block(values, weights);
                }
            }
            total
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn screlu_block(values: &[i16], weights: &[i16]) -> i64 {
            // Four sums, so that a step need not wait for the previous one.
            let mut sums = [zero(); 4];
            let (values, values_rest) = values.as_chunks::<LANES>().0.as_chunks::<4>();
            let (weights, weights_rest) = weights.as_chunks::<LANES>().0.as_chunks::<4>();
            for (values, weights) in values.iter().zip(weights) {
                for lane in 0..4 {
                    sums[lane] = screlu_step(sums[lane], load(&values[lane]), load(&weights[lane]));
                }
            }
            for (values, weights) in values_rest.iter().zip(weights_rest) {
                sums[0] = screlu_step(sums[0], load(values), load(weights));
            }
            sum_wide(add32(add32(sums[0], sums[1]), add32(sums[2], sums[3])))
        }

        /// 32-bit sums that a vector holds, each of a neuron of the second layer.
        const SUM_LANES: usize = LANES / 2;

        /// Computes a head of `NEURONS` neurons, whose sums take `SUMS` vectors.
        #[target_feature(enable = $features)]
        fn layered<const NEURONS: usize, const SUMS: usize>(own: &[i16], other: &[i16], head: &LayeredHead) -> i32 {
            const { assert!(SUMS * SUM_LANES == NEURONS) };
            let mut sums = [[zero(); SUMS]; 2];
            for (sum, biases) in sums[0].iter_mut().zip(head.biases().as_chunks().0) {
                *sum = load32(biases);
            }
            let groups = head.weights().as_chunks().0.as_chunks::<SUMS>().0;
            let (first, second) = groups.split_at(own.len() / GROUP);
            add_products(&mut sums, own, first);
            add_products(&mut sums, other, second);
            let mut neurons = [0; NEURONS];
            for (index, to) in neurons.as_chunks_mut().0.iter_mut().enumerate() {
                store32(to, add32(sums[0][index], sums[1][index]));
            }
            head.output(&neurons)
        }

        /// Adds the products of one accumulator; even and odd groups of inputs have separate sums.
        #[inline]
        #[target_feature(enable = $features)]
        fn add_products<const SUMS: usize>(
            sums: &mut [[V; SUMS]; 2],
            values: &[i16],
            groups: &[[[i8; 2 * LANES]; SUMS]],
        ) {
            let mut activations = [0u8; ACTIVATIONS];
            let mut now = *sums;
            for (values, groups) in values.chunks(ACTIVATIONS).zip(groups.chunks(ACTIVATIONS / GROUP)) {
                for (to, from) in activations.as_chunks_mut().0.iter_mut().zip(values.as_chunks().0) {
                    activate(to, from);
                }
                let inputs = activations.as_chunks::<GROUP>().0.as_chunks::<2>().0;
                for (inputs, groups) in inputs.iter().zip(groups.as_chunks::<2>().0) {
                    for half in 0..2 {
                        let input = splat(inputs[half]);
                        for (sum, weights) in now[half].iter_mut().zip(&groups[half]) {
                            *sum = dot(*sum, input, load_weights(weights));
                        }
                    }
                }
            }
            *sums = now;
        }
    };
}
