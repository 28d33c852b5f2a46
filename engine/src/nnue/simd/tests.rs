//! Tests of every table against the reference, bit for bit, on noise and at the ends of the ranges.

use super::{AlignedArray, Kernels, LayeredHead, MiddleLayer, screlu_wide};
use crate::nnue::{HIDDEN_2, SECOND_LAYERS};
use crate::skip::skip;
use std::cell::Cell;

const WIDTHS: [usize; 9] = [32, 64, 96, 128, 256, 512, 1024, 2080, 4096];

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
                let (rows, middle_rows, output) = (draw(neurons * 2 * width), draw(HIDDEN_2 * HIDDEN_2), draw(neurons));
                let biases: Vec<i32> =
                    (0..neurons).map(|_| random.pick(&[0, 8128, -500_000, i32::MAX, i32::MIN])).collect();
                let is_deep = neurons == HIDDEN_2 && random.next() % 2 == 1;
                let middle = is_deep.then(|| MiddleLayer::new(&middle_rows, &biases));
                let bias = random.pick(&[0, 1000, i32::MAX, i32::MIN]);
                let head = LayeredHead::new(&rows, &biases, middle, &output, bias);
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
    let width = 32;
    for neurons in SECOND_LAYERS.into_iter().cycle().take(40) {
        let (own, other) =
            (array(width, &|| (random.next() % 300) as i16 - 90), array(width, &|| random.next() as i16));
        let rows: Vec<i8> = (0..neurons * 2 * width).map(|_| random.next() as i8).collect();
        let biases: Vec<i32> = (0..neurons).map(|_| (random.next() % 16_000) as i32 - 8000).collect();
        let output: Vec<i8> = (0..neurons).map(|_| random.next() as i8).collect();
        let inputs: Vec<i32> = own.iter().chain(other.iter()).map(|&value| i32::from(value).clamp(0, 127)).collect();
        let layer = |rows: &[i8], inputs: &[i32]| -> Vec<i32> {
            let sum = |row: &[i8]| row.iter().zip(inputs).map(|(&weight, &input)| i32::from(weight) * input).sum();
            let sums = rows.chunks_exact(inputs.len()).map(sum);
            sums.zip(&biases).map(|(sum, bias): (i32, &i32)| ((sum + bias) >> 6).clamp(0, 127)).collect()
        };
        let middle_rows: Vec<i8> = (0..HIDDEN_2 * HIDDEN_2).map(|_| random.next() as i8).collect();
        let one = layer(&rows, &inputs);
        let mut heads = vec![(None, one.clone())];
        if neurons == HIDDEN_2 {
            heads.push((Some(MiddleLayer::new(&middle_rows, &biases)), layer(&middle_rows, &one)));
        }
        for (middle, neurons) in heads {
            let sum: i32 = neurons.iter().zip(&output).map(|(&value, &weight)| value * i32::from(weight)).sum();
            let head = LayeredHead::new(&rows, &biases, middle, &output, 4321);
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
