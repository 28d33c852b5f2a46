//! Medians of several rounds, of which one may be disturbed.

use std::time::Instant;

/// The median, of an odd number of values; the upper one of the two in the middle otherwise.
pub fn of(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Median seconds of some rounds of `work`.
#[allow(dead_code, reason = "not every benchmark times work of its own")]
pub fn seconds(rounds: usize, mut work: impl FnMut()) -> f64 {
    let mut seconds: Vec<f64> = (0..rounds)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed().as_secs_f64()
        })
        .collect();
    of(&mut seconds)
}
