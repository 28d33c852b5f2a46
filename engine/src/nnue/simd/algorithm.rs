//! Kernels, written once over the few operations of a vector type.

use super::layered::QUAD;

/// Activations of kinds 2 to 5 that are computed before they are multiplied. The places of their
/// groups are bytes.
pub(super) const ACTIVATIONS: usize = 1024;
const _: () = assert!(ACTIVATIONS / QUAD <= 256);

/// Terms of the SCReLU sum that fit 32 bits. A lane takes at most 128 pairs of products of 255 *
/// 255 * 128. Their sum is 2_130_739_200 and just fits; it is then widened.
pub(super) const SCRELU_BLOCK: usize = 1024;

/// One in each byte.
pub(super) const EACH_BYTE: u64 = 0x0101_0101_0101_0101;

/// Places of the bits of each number, lowest first, a byte each. Bytes after them are zero.
pub(super) static PLACES: [u64; 256] = {
    let mut places = [0; 256];
    let mut number = 0;
    while number < places.len() {
        let (mut bit, mut count) = (0, 0);
        while bit < 8 {
            if number >> bit & 1 == 1 {
                places[number] |= bit << (8 * count);
                count += 1;
            }
            bit += 1;
        }
        number += 1;
    }
    places
};

/// Generates the kernels of an instruction set as a constant `KERNELS`.
///
/// The calling module provides these as safe functions with the same target features. Of 16-bit
/// lanes: the vector `V` of `LANES` numbers, `zero`, `load`, `store`, `add` and `sub` (wrapping),
/// `positive` (zero for a negative number) and `product` (of clipped numbers). From these into
/// bytes: `activate` (clipped ReLU), `multiply` (products), and `pack_twice` (each eight numbers
/// twice, one after the other, at most 127). Of bytes: `load_weights`, `splat` (four bytes in every
/// lane), and `nonzero` (which groups of four are not all zero). Of 32-bit lanes: `load32`,
/// `store32`, `add32` (wrapping), `sum_wide` (all lanes as one 64-bit sum), and `sum_pairs` (of
/// eight neurons, two to a vector, each with two of four lanes). To 32-bit lanes, `screlu_step`
/// adds pairs of `clamp(a)^2 * w`, `add_pairs` two products of 16-bit numbers, and `dot` four of
/// bytes.
macro_rules! kernels {
    ($name:literal, $features:tt) => {
        use crate::nnue::simd::algorithm::{ACTIVATIONS, EACH_BYTE, PLACES, SCRELU_BLOCK};
        use crate::nnue::simd::layered::{QUAD, ROW};
        use crate::nnue::simd::{Kernels, LayeredHead, MiddleLayer};
        use crate::nnue::{Activation, HIDDEN_2, PAIR_DISTANCE};

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
                    8 => layered_eight(own, other, head),
                    16 => layered::<16, { 16 / SUM_LANES }, { chains(16) }>(own, other, head),
                    32 => layered::<32, { 32 / SUM_LANES }, { chains(32) }>(own, other, head),
                    _ => layered::<64, { 64 / SUM_LANES }, { chains(64) }>(own, other, head),
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
            // `map` of an array would be a function without these instructions.
            let mut chunks = [src; ROWS];
            for (chunks, row) in chunks.iter_mut().zip(rows) {
                *chunks = &row.as_chunks::<LANES>().0[..dst.len()];
            }
            for (index, dst) in dst.iter_mut().enumerate() {
                let mut sum = load(&src[index]);
                for row in &chunks[..ADDS] {
                    sum = add(sum, load(&row[index]));
                }
                for row in &chunks[ADDS..] {
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

        /// Returns the number of separate sums in a lane, so that a product need not wait for the
        /// one before: with those of all lanes they fill four registers or more.
        const fn chains(lanes: usize) -> usize {
            let chains = 4 * SUM_LANES / lanes;
            if chains < 2 { 2 } else { chains }
        }

        /// Computes a head of `NEURONS` neurons, whose sums take `SUMS` vectors, `CHAINS` times.
        #[target_feature(enable = $features)]
        fn layered<const NEURONS: usize, const SUMS: usize, const CHAINS: usize>(
            own: &[i16],
            other: &[i16],
            head: &LayeredHead,
        ) -> i32 {
            const { assert!(SUMS * SUM_LANES == NEURONS) };
            let mut sums = [[zero(); SUMS]; CHAINS];
            for (sum, biases) in sums[0].iter_mut().zip(head.biases().as_chunks().0) {
                *sum = load32(biases);
            }
            let groups = head.weights().as_chunks().0.as_chunks::<SUMS>().0;
            let side = groups.len() / 2;
            let mut activations = [0u8; ACTIVATIONS];
            if groups.len() <= ACTIVATIONS / QUAD {
                // Both sides at once: a list of active groups has an unknown length, and its loop
                // costs a mispredicted branch.
                let (first, second) = activations.split_at_mut(side * QUAD);
                activate_all(head.activation(), first, own);
                activate_all(head.activation(), second, other);
                add_active::<SUMS, CHAINS>(&mut sums, &activations, groups);
            } else {
                let (first, second) = groups.split_at(side);
                let at_once = ACTIVATIONS / QUAD;
                for (neurons, groups) in [(own, first), (other, second)] {
                    let neurons = neurons.chunks(own.len() / side * at_once);
                    for (neurons, groups) in neurons.zip(groups.chunks(at_once)) {
                        activate_all(head.activation(), &mut activations, neurons);
                        add_active::<SUMS, CHAINS>(&mut sums, &activations, groups);
                    }
                }
            }
            let mut neurons = [0; NEURONS];
            for (index, to) in neurons.as_chunks_mut().0.iter_mut().enumerate() {
                let mut sum = sums[0][index];
                for chain in &sums[1..] {
                    sum = add32(sum, chain[index]);
                }
                store32(to, sum);
            }
            head.output(&mut neurons, |layer, units| third_sums(layer, units))
        }

        /// Vectors of [`ROW`] neurons.
        const ROW_VECTORS: usize = ROW / LANES;

        /// Neurons of the first layer whose numbers give [`ROW`] inputs of the second.
        type Rows<const ROWS: usize> = [[[i16; LANES]; ROW_VECTORS]; ROWS];

        /// Computes a head of eight neurons. All inputs of such a layer take less time than a list
        /// of the active ones.
        #[target_feature(enable = $features)]
        fn layered_eight(own: &[i16], other: &[i16], head: &LayeredHead) -> i32 {
            let (sides, weights) = ([own, other], head.weights());
            let mut neurons = match head.activation() {
                Activation::Clipped => sum_rows(sides, weights, |[row]: &Rows<1>, place| positive(load(&row[place]))),
                Activation::Squared => sum_rows(sides, weights, |[row]: &Rows<1>, place| {
                    let neurons = load(&row[place]);
                    product(neurons, neurons)
                }),
                Activation::Products => sum_rows(sides, weights, |[first, second]: &Rows<2>, place| {
                    product(load(&first[place]), load(&second[place]))
                }),
            };
            for (neuron, bias) in neurons.iter_mut().zip(head.biases()) {
                *neuron = neuron.wrapping_add(*bias);
            }
            head.output(&mut neurons, |layer, units| third_sums(layer, units))
        }

        /// Adds activations times weights of eight neurons. `activate` returns a vector of the
        /// inputs that rows of neurons give.
        #[inline]
        #[target_feature(enable = $features)]
        fn sum_rows<const ROWS: usize>(
            [own, other]: [&[i16]; 2],
            weights: &[i8],
            activate: impl Fn(&Rows<ROWS>, usize) -> V,
        ) -> [i32; 8] {
            let weights = weights.as_chunks().0.as_chunks::<ROW_VECTORS>().0.as_chunks::<4>().0;
            let (first, second) = weights.split_at(weights.len() / 2);
            let own = own.as_chunks().0.as_chunks().0.as_chunks().0;
            let other = other.as_chunks().0.as_chunks().0.as_chunks().0;
            let mut own_sums = [zero(); 4];
            let mut other_sums = [zero(); 4];
            for ((own, other), (first, second)) in own.iter().zip(other).zip(first.iter().zip(second)) {
                for (sums, rows, weights) in [(&mut own_sums, own, first), (&mut other_sums, other, second)] {
                    for place in 0..ROW_VECTORS {
                        let inputs = pack_twice(activate(rows, place));
                        for (sum, weights) in sums.iter_mut().zip(weights) {
                            *sum = dot(*sum, inputs, load_weights(&weights[place]));
                        }
                    }
                }
            }
            for (sum, other) in own_sums.iter_mut().zip(other_sums) {
                *sum = add32(*sum, other);
            }
            sum_pairs(own_sums)
        }

        /// Computes the sums of the third layer.
        #[inline]
        #[target_feature(enable = $features)]
        fn third_sums(layer: &MiddleLayer, units: &[i32]) -> [i32; HIDDEN_2] {
            let mut sums = [zero(); HIDDEN_2 / SUM_LANES];
            for (sum, biases) in sums.iter_mut().zip(layer.biases().as_chunks().0) {
                *sum = load32(biases);
            }
            for ([first, second], weights) in units.as_chunks().0.iter().zip(layer.weights()) {
                // Units are at most 64 * 127.
                let pair = splat((first | second << 16).to_le_bytes());
                for (sum, weights) in sums.iter_mut().zip(weights.as_chunks().0) {
                    *sum = add_pairs(*sum, load(weights), pair);
                }
            }
            let mut neurons = [0; HIDDEN_2];
            for (to, sum) in neurons.as_chunks_mut().0.iter_mut().zip(sums) {
                store32(to, sum);
            }
            neurons
        }

        /// Computes the inputs of the second layer from neurons of one accumulator.
        #[inline]
        #[target_feature(enable = $features)]
        fn activate_all(activation: Activation, to: &mut [u8], neurons: &[i16]) {
            match activation {
                Activation::Clipped => {
                    for (to, from) in to.as_chunks_mut().0.iter_mut().zip(neurons.as_chunks().0) {
                        activate(to, from);
                    }
                }
                Activation::Squared => {
                    for (to, from) in to.as_chunks_mut().0.iter_mut().zip(neurons.as_chunks().0) {
                        multiply(to, from, from);
                    }
                }
                Activation::Products => {
                    let blocks = neurons.as_chunks::<{ 2 * PAIR_DISTANCE }>().0;
                    for (to, block) in to.as_chunks_mut::<PAIR_DISTANCE>().0.iter_mut().zip(blocks) {
                        let (first, second) = block.split_at(PAIR_DISTANCE);
                        let pairs = first.as_chunks().0.iter().zip(second.as_chunks().0);
                        for (to, (a, b)) in to.as_chunks_mut().0.iter_mut().zip(pairs) {
                            multiply(to, a, b);
                        }
                    }
                }
            }
        }

        /// Adds activations times weights of groups of four inputs, without the groups of zeros:
        /// most neurons are inactive.
        #[inline]
        #[target_feature(enable = $features)]
        fn add_active<const SUMS: usize, const CHAINS: usize>(
            sums: &mut [[V; SUMS]; CHAINS],
            activations: &[u8; ACTIVATIONS],
            groups: &[[[i8; 2 * LANES]; SUMS]],
        ) {
            let mut places = [0u8; ACTIVATIONS / QUAD];
            let mut count = 0;
            let octets = activations.as_chunks::<{ 8 * QUAD }>().0.iter().take(groups.len() / 8);
            for (octet, values) in octets.enumerate() {
                let mask = nonzero(values);
                let found = PLACES[usize::from(mask)] + 8 * octet as u64 * EACH_BYTE;
                // There are at most eight for each octet, so there is always room.
                if let Some(to) = places.get_mut(count..count + 8) {
                    to.copy_from_slice(&found.to_le_bytes());
                }
                count += mask.count_ones() as usize;
            }
            let inputs = activations.as_chunks::<QUAD>().0;
            let mut now = *sums;
            let (blocks, rest) = places[..count].as_chunks::<CHAINS>();
            for places in blocks {
                for (sums, &place) in now.iter_mut().zip(places) {
                    add_group(sums, splat(inputs[usize::from(place)]), &groups[usize::from(place)]);
                }
            }
            for (sums, &place) in now.iter_mut().zip(rest) {
                add_group(sums, splat(inputs[usize::from(place)]), &groups[usize::from(place)]);
            }
            *sums = now;
        }

        /// Adds the products of a group of four activations, which is in every lane.
        #[inline]
        #[target_feature(enable = $features)]
        fn add_group<const SUMS: usize>(sums: &mut [V; SUMS], input: V, weights: &[[i8; 2 * LANES]; SUMS]) {
            for (sum, weights) in sums.iter_mut().zip(weights) {
                *sum = dot(*sum, input, load_weights(weights));
            }
        }
    };
}
