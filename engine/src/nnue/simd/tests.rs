//! Tests of every table against the reference, bit for bit, on noise and at the ends of the ranges.

use super::{AlignedArray, Kernels, LayeredHead, MiddleLayer, SecondLayer, screlu_wide};
use crate::nnue::{Activation, HIDDEN_2, SECOND_LAYERS};
use crate::skip::skip;
use std::cell::Cell;

const WIDTHS: [usize; 10] = [32, 64, 96, 128, 256, 512, 1024, 2080, 3072, 4096];

struct Random(Cell<u64>);

impl Random {
    fn next(&self) -> u64 {
        let state = self.0.get().wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0.set(state);
        state >> 32
    }

    fn pick<T: Copy>(&self, from: &[T]) -> T {
        from[self.next() as usize % from.len()]
    }
}

/// Source of numbers: noise of some width, or only the ends of a range.
type Source<'a> = &'a dyn Fn() -> i16;

/// Runs a test for every table but the reference, every width, and several kinds of numbers.
fn check(test: impl Fn(&Kernels, &Kernels, usize, Source<'_>)) {
    let random = Random(Cell::new(1));
    let sources: [Source<'_>; 6] = [
        &|| random.next() as i16,
        &|| (random.next() % 400) as i16 - 70,
        &|| random.pick(&[i16::MIN, i16::MAX, -1, 0, 1, 126, 127, 128, 254, 255, 256]),
        &|| i16::MAX,
        &|| i16::MIN,
        &|| 255,
    ];
    let tables = Kernels::available();
    let (reference, others) = tables.split_first().expect("the reference");
    assert_eq!(reference.name, "scalar");
    for kernels in others {
        for width in WIDTHS {
            sources.iter().for_each(|source| test(reference, kernels, width, *source));
        }
    }
}

/// Tests of such a table pass without it.
#[test]
fn kernels_that_this_processor_cannot_run_are_named() {
    let names: &[&str] = if cfg!(target_arch = "x86_64") {
        &["scalar", "avx2", "avx512", "avx512-vnni"]
    } else if cfg!(target_arch = "aarch64") {
        &["scalar", "neon"]
    } else {
        &["scalar"]
    };
    let tables: Vec<&str> = Kernels::available().iter().map(|kernels| kernels.name).collect();
    assert!(tables.iter().all(|table| names.contains(table)), "{tables:?}");
    for name in names.iter().filter(|name| !tables.contains(name)) {
        let reason = format!("this processor lacks the instructions of `{name}`, so that table is not tested");
        skip("kernels_that_this_processor_cannot_run_are_named", &reason);
    }
}

fn array(len: usize, source: Source<'_>) -> AlignedArray<i16> {
    AlignedArray::collect(len, std::iter::repeat_with(source))
}

#[test]
fn updates_are_those_of_the_reference() {
    check(|reference, kernels, width, source| {
        let rows: [AlignedArray<i16>; 5] = std::array::from_fn(|_| array(width, source));
        let [src, a, b, c, d] = rows.each_ref().map(|row| &row[..]);
        let both = |run: &dyn Fn(&Kernels, &mut [i16])| {
            let mut results = [AlignedArray::zeroed(width), AlignedArray::zeroed(width)];
            run(reference, &mut results[0]);
            run(kernels, &mut results[1]);
            assert_eq!(results[0][..], results[1][..], "{} {width}", kernels.name);
        };
        both(&|table, dst| (table.move_piece)(dst, src, [a, b]));
        both(&|table, dst| (table.capture)(dst, src, [a, b, c]));
        both(&|table, dst| (table.castle)(dst, src, [a, b, c, d]));
    });
}

#[test]
fn refreshes_are_those_of_the_reference() {
    check(|reference, kernels, width, source| {
        let weights = array(6 * width, source);
        for (adds, subs) in [(&[][..], &[][..]), (&[5], &[]), (&[0, 1, 5, 3], &[2, 4]), (&[2, 2, 2], &[3; 30])] {
            let mut results = [array(width, &|| 77), array(width, &|| 77)];
            (reference.apply)(&mut results[0], &weights, adds, subs);
            (kernels.apply)(&mut results[1], &weights, adds, subs);
            assert_eq!(results[0][..], results[1][..], "{} {width}", kernels.name);
        }
    });
}

/// With weights of up to 128 the 16-bit products are exact, even if all terms are as large as
/// possible.
#[test]
fn screlu_is_that_of_the_reference() {
    let random = Random(Cell::new(2));
    check(|reference, kernels, width, source| {
        let (own, other) = (array(width, source), array(width, source));
        let weights: [Source<'_>; 5] = [
            &|| (random.next() % 257) as i16 - 128,
            &|| random.pick(&[-128, -127, -1, 0, 1, 127, 128]),
            &|| 127,
            &|| 128,
            &|| -128,
        ];
        for source in weights {
            let weights = array(2 * width, source);
            let expected = (reference.screlu)(&own, &other, &weights);
            assert_eq!((kernels.screlu)(&own, &other, &weights), expected, "{} {width}", kernels.name);
        }
    });
}

#[test]
fn the_largest_screlu_sums_are_exact() {
    for width in WIDTHS {
        let full = array(width, &|| i16::MAX);
        for weight in [-128i16, -127, 127, 128] {
            let weights = array(2 * width, &|| weight);
            let expected = 2 * width as i64 * 255 * 255 * i64::from(weight);
            for kernels in Kernels::available() {
                assert_eq!((kernels.screlu)(&full, &full, &weights), expected, "{} {width} {weight}", kernels.name);
            }
        }
        for weight in [i16::MIN, i16::MAX] {
            let expected = 2 * width as i64 * 255 * 255 * i64::from(weight);
            assert_eq!(screlu_wide(&full, &full, &array(2 * width, &|| weight)), expected);
        }
    }
}

/// With one number past the limit the result is wrong, so the limit is tight.
#[test]
fn a_weight_of_129_would_break_the_trick() {
    let full = array(256, &|| 255);
    let weights = array(512, &|| 129);
    let expected = screlu_wide(&full, &full, &weights);
    for kernels in &Kernels::available()[1..] {
        assert_ne!((kernels.screlu)(&full, &full, &weights), expected, "{}", kernels.name);
    }
}

#[test]
fn the_layered_head_is_that_of_the_reference() {
    let random = Random(Cell::new(3));
    check(|reference, kernels, width, source| {
        let (own, other) = (array(width, source), array(width, source));
        let weights: [&dyn Fn() -> i8; 4] =
            [&|| random.next() as i8, &|| random.pick(&[-128, -1, 0, 1, 127]), &|| 127, &|| -128];
        for source in weights {
            for neurons in SECOND_LAYERS {
                let draw = |count: usize| -> Vec<i8> { std::iter::repeat_with(source).take(count).collect() };
                let activation = match random.next() % 3 {
                    0 => Activation::Clipped,
                    1 if width % 64 == 0 => Activation::Products,
                    _ => Activation::Squared,
                };
                let inputs = if activation == Activation::Products { width } else { 2 * width };
                let rows = draw(neurons * inputs);
                // A whole i16 of two drawn bytes, whose sums wrap.
                let draw_wide = |count: usize| -> Vec<i16> {
                    (0..count).map(|_| i16::from_le_bytes([source() as u8, source() as u8])).collect()
                };
                let middle_rows = draw_wide(HIDDEN_2 * neurons);
                let draw_biases = |count: usize| -> Vec<i32> {
                    (0..count).map(|_| random.pick(&[0, 8128, -500_000, i32::MAX, i32::MIN])).collect()
                };
                let is_deep = random.next() % 2 == 1;
                let middle = is_deep.then(|| MiddleLayer::new(&middle_rows, &draw_biases(HIDDEN_2)));
                let output = draw_wide(if is_deep { HIDDEN_2 } else { neurons });
                let bias = random.pick(&[0, 1000, i32::MAX, i32::MIN]);
                let second = SecondLayer { rows: &rows, biases: &draw_biases(neurons), activation };
                let head = LayeredHead::new(&second, middle, &output, bias);
                let expected = (reference.layered)(&own, &other, &head);
                assert_eq!((kernels.layered)(&own, &other, &head), expected, "{} {width} {neurons}", kernels.name);
            }
        }
    });
}

/// Compares the reference with the formula written out over `[neuron][input]`.
#[test]
fn the_layered_reference_is_the_formula() {
    let random = Random(Cell::new(4));
    let width = 64;
    let activations = [Activation::Clipped, Activation::Squared, Activation::Products];
    let cases = SECOND_LAYERS.into_iter().flat_map(|neurons| activations.map(|activation| (neurons, activation)));
    for (neurons, activation) in cases.cycle().take(120) {
        let (own, other) =
            (array(width, &|| (random.next() % 300) as i16 - 90), array(width, &|| random.next() as i16));
        let clipped = |one: i32| own.iter().chain(other.iter()).map(move |&value| i32::from(value).clamp(0, one));
        let inputs: Vec<i32> = if activation == Activation::Products {
            // In halves: 32 neurons times the next 32 of the side to move, then of the other side.
            let neurons: Vec<f64> = clipped(255).map(f64::from).collect();
            let halves = [(0, 32), (64, 96)];
            let pairs = halves.into_iter().flat_map(|(a, b)| (0..32).map(move |i| (a + i, b + i)));
            pairs.map(|(a, b)| (neurons[a] * neurons[b] / 512.0).round() as i32).collect()
        } else if activation == Activation::Squared {
            clipped(255).map(|neuron| (f64::from(neuron).powi(2) / 512.0).round() as i32).collect()
        } else {
            clipped(127).collect()
        };
        // Units of clipped neurons are whole 127ths, the others have 64ths of them, and later
        // weights of 16 parts a 64th.
        let (grain, fineness) = if activation == Activation::Clipped { (1, 1) } else { (64, 16) };
        let rows: Vec<i8> = (0..neurons * inputs.len()).map(|_| random.next() as i8).collect();
        let biases: Vec<i32> = (0..neurons.max(HIDDEN_2)).map(|_| (random.next() % 16_000) as i32 - 8000).collect();
        let output: Vec<i16> = (0..neurons.max(HIDDEN_2)).map(|_| i16::from(random.next() as i8) * fineness).collect();
        let layer = |rows: &[i16], inputs: &[i32], step: i32| -> Vec<i32> {
            let sum = |row: &[i16]| row.iter().zip(inputs).map(|(&weight, &input)| i32::from(weight) * input).sum();
            let sums = rows.chunks_exact(inputs.len()).map(sum);
            sums.zip(&biases)
                .map(|(sum, bias): (i32, &i32)| (sum + bias).div_euclid(step).clamp(0, 127 * grain))
                .collect()
        };
        let middle_rows: Vec<i16> =
            (0..HIDDEN_2 * neurons).map(|_| i16::from(random.next() as i8) * fineness).collect();
        let wide: Vec<i16> = rows.iter().copied().map(i16::from).collect();
        let second = SecondLayer { rows: &rows, biases: &biases[..neurons], activation };
        let one = layer(&wide, &inputs, 64 / grain);
        let third = layer(&middle_rows, &one, 64 * i32::from(fineness));
        let middle = MiddleLayer::new(&middle_rows, &biases[..HIDDEN_2]);
        for (middle, units) in [(None, one), (Some(middle), third)] {
            let sum: i32 = units.iter().zip(&output).map(|(&value, &weight)| value * i32::from(weight)).sum();
            let head = LayeredHead::new(&second, middle, &output[..units.len()], 4321);
            assert_eq!((Kernels::available()[0].layered)(&own, &other, &head), sum + 4321);
        }
    }
}

#[test]
fn arrays_begin_on_a_cache_line() {
    for len in [1, 31, 32, 33, 1000] {
        let mut array = AlignedArray::collect(len, std::iter::repeat(7i16));
        assert_eq!((array.len(), array.as_ptr().addr() % 64), (len, 0));
        array.grow(2 * len);
        assert_eq!((array.len(), array[len - 1], array[len], array.as_ptr().addr() % 64), (2 * len, 7, 0, 0));
    }
}
