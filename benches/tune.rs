//! Cost of a tuning's own arithmetic: a block of pairs asked for and recorded, beside the cost of
//! drawing the chance that it needs.
//!
//! `cargo bench --bench tune`. Compare ratios of one run, not times of two.

#![allow(clippy::print_stdout, reason = "a benchmark's output")]

mod median;

use std::hint::black_box;

use quintain::stats::random::SplitMix64;
use quintain::tune::auto::{Auto, Rule};
use quintain::tune::report::Regression;
use quintain::tune::space::{Param, ParamKind, Space};

const ROUNDS: usize = 7;
const BLOCK: u32 = 16;
const BLOCKS: u64 = 300;

fn main() {
    for params in [40, 1_000] {
        let space = space(params);
        let draws = median::seconds(ROUNDS, || {
            let mut random = SplitMix64::new(1);
            let mut sum = 0.0;
            for _ in 0..BLOCKS * u64::from(BLOCK) * params {
                sum += random.unit();
            }
            black_box(sum);
        });
        let run = median::seconds(ROUNDS, || drop(black_box(play(&space, |_, _| ()))));
        let report = median::seconds(ROUNDS, || {
            let mut regression = Regression::new(&space, 1.0);
            drop(black_box(play(&space, |run, block| {
                let asked = run.ask(block).unwrap_or_default();
                regression.record(asked.iter().zip([1, -1].into_iter().cycle()));
            })));
        });
        println!("{params} parameters, blocks of {BLOCK} pairs");
        println!("a number drawn for each value: {:.1} us a block, ratio 1", micros(draws));
        println!("ask and record: {:.1} us a block, ratio {:.1}", micros(run), run / draws);
        println!(
            "the same, and the report's regression: {:.1} us a block, ratio {:.1}",
            micros(report),
            report / draws
        );
    }
}

fn micros(seconds: f64) -> f64 {
    seconds * 1e6 / BLOCKS as f64
}

fn space(params: u64) -> Space {
    let param = |index| {
        let name = format!("p{index}");
        let (kind, start, min, max) = (ParamKind::Int, 100.0, 0.0, 200.0);
        (None, Param { name, kind, start, min, max, step: 10.0, rate: 0.002 })
    };
    Space::new("bench", (0..params).map(param).collect()).expect("sound")
}

fn play(space: &Space, mut watch: impl FnMut(&Auto, u64)) -> Auto {
    let mut run = Auto::new(Rule::new(space.clone(), 1, BLOCK, None)).narrowing();
    for block in 0..BLOCKS {
        let asked = black_box(run.ask(block)).expect("in order");
        watch(&run, block);
        for pair in 0..asked.len() {
            run.record(i8::try_from(pair % 5).unwrap_or(0) - 2);
        }
    }
    run
}
