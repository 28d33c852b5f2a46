//! Cost of one call of each statistic of a test: the exact ratio under each model, Elo, the
//! any-time interval, the estimate after a verdict, a forecast. Also a whole test on random
//! results.
//!
//! `cargo bench --bench sprt`. Compare ratios of one run, not times of two.

#![allow(clippy::print_stdout, reason = "a benchmark's output")]

mod median;

use std::hint::black_box;

use quintain::stats::simulate::{self, Law};
use quintain::stats::sprt::{Bounds, Model, Sprt};
use quintain::stats::{Counts, Pentanomial, Trinomial, elo, sequence, unbiased};

const ROUNDS: usize = 7;

fn main() {
    let pairs = [
        ("typical", Pentanomial([379, 10170, 21828, 10640, 343])),
        ("few", Pentanomial([0, 3, 9, 4, 0])),
        ("one class", Pentanomial([0, 0, 500, 0, 0])),
        ("one-sided", Pentanomial([0, 0, 0, 1, 10_000_000])),
    ];
    let games = Trinomial { wins: 36_433, draws: 68_692, losses: 36_027 };
    for model in Model::ALL {
        let sprt = test(0.0, 2.0, model);
        for (name, counts) in &pairs {
            time(&format!("llr {model}, pairs, {name}"), 2_000, || sprt.llr(black_box(counts)));
        }
        time(&format!("llr {model}, games"), 2_000, || sprt.llr(black_box(&games)));
    }
    for (name, counts) in &pairs {
        let [normalized, logistic] = [Model::Normalized, Model::Logistic].map(|model| {
            let sprt = test(0.0, 5.0, model);
            seconds(2_000, || sprt.llr(black_box(counts)))
        });
        println!("llr normalized over logistic [0, 5], pairs, {name}: {:.1}", normalized / logistic);
    }
    estimates(&pairs[0].1);
    let sprt = test(0.0, 5.0, Model::Normalized);
    let law = Law::TYPICAL.leaned(3.0, Model::Normalized);
    time("forecast without a limit", 20, || simulate::forecast(&sprt, black_box(&law), None));
    time("forecast with one", 20, || simulate::forecast(&sprt, black_box(&law), Some(20_000)));
    time("a test [0, 5] played by chance", 3, || simulate::play(&sprt, black_box(&law), 1, u64::MAX, 1, 1));
}

fn estimates<C: Counts>(counts: &C) {
    let sprt = test(0.0, 2.0, Model::Normalized);
    time("Elo", 2_000, || elo::logistic(black_box(counts)));
    time("nElo", 2_000, || elo::normalized(black_box(counts)));
    time("any-time Elo", 200, || sequence::elo(black_box(counts)));
    time("unbiased Elo after a verdict", 50, || unbiased::after(&sprt, black_box(counts)));
}

fn test(elo0: f64, elo1: f64, model: Model) -> Sprt {
    Sprt::new(Bounds { elo0, elo1 }, model, 0.05, 0.05).expect("a sound test")
}

/// Prints the median time of a call in microseconds.
fn time<T>(name: &str, calls: u32, work: impl FnMut() -> T) {
    println!("{name}: {:.1} us", seconds(calls, work) * 1e6);
}

/// The median time of a call.
fn seconds<T>(calls: u32, mut work: impl FnMut() -> T) -> f64 {
    let whole = median::seconds(ROUNDS, || {
        for _ in 0..calls {
            black_box(work());
        }
    });
    whole / f64::from(calls)
}
