//! Speed of the network: evaluations per second by instruction set and width, work per move, and
//! nodes per second of the search, each compared with the classical evaluation.
//!
//! A table by feature set has the cost of its updates in a search: rows per move, nanoseconds per
//! evaluation, nodes per second. Name sets as arguments for these alone: `cargo bench -p destrier
//! --bench nnue -- piece+file+rank`. The pairs of `top-pairs:K` are the most frequent ones of the
//! lines.
//!
//! Networks are random from a seed, because speed does not depend on the weights. The variants take
//! turns in short rounds, and the best round counts. Searches are measured in processor time if the
//! system reports it, so that other load affects all alike. The ratios are the result.
#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]

use destrier::bench::{BenchLine, POSITIONS, evaluate_lines, evaluation_nanos, lines};
use destrier::board::Board;
use destrier::eval;
use destrier::nnue::sets::{FeaturePair, FeatureSet, OrientedBoard, PairList, SetError};
use destrier::nnue::simd::Kernels;
use destrier::nnue::{Accumulators, Kind, Layout, Network, encode, parse, random_payload};
use destrier::search::{EvalConfig, EvalMode, Game, Limits, Searcher, Signals, SilentReport, in_search_thread};
use destrier::types::Color;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::hint::black_box;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

const ROUNDS: usize = 60;

/// Depth of the searches.
const DEPTH: i32 = 6;

/// Creates a mirrored layout with four king buckets, so that refreshes occur.
fn layout(kind: Kind, hidden: usize) -> Layout {
    let bucket_map =
        std::array::from_fn(|square| if square < 8 { square as u8 / 2 % 2 } else { 2 + square as u8 / 16 });
    Layout { king_buckets: 4, mirrored: true, bucket_map, ..Layout::plain(kind, hidden) }
}

fn network(kind: Kind, hidden: usize) -> Arc<Network> {
    let layout = layout(kind, hidden);
    let file = encode(&layout, &random_payload(&layout, 1)).expect("a good layout");
    Arc::new(parse(&file).expect("a network"))
}

/// Named way to evaluate all positions of all lines.
type Way<'a> = (String, Box<dyn FnMut() -> i64 + 'a>);

/// Returns the best time of each way; they take turns.
fn measure(ways: &mut [Way<'_>]) -> Vec<Duration> {
    let mut best = vec![Duration::MAX; ways.len()];
    for _ in 0..ROUNDS {
        for ((_, way), best) in ways.iter_mut().zip(&mut best) {
            let start = Instant::now();
            black_box(way());
            *best = (*best).min(start.elapsed());
        }
    }
    best
}

fn evaluations(lines: &[BenchLine]) {
    let boards: Vec<&Board> = lines.iter().flat_map(BenchLine::boards).collect();
    let (boards, count) = (&boards, boards.len());
    println!("evaluations of {count} positions of random lines: millions per second, ratio to the scalar kernels");
    println!(
        "{:26} {:12} {:>11} {:>6} {:>11} {:>6} {:>11}",
        "network", "kernels", "incremental", "ratio", "refresh", "ratio", "/classical"
    );
    for (kind, hidden) in [
        (Kind::Screlu, 128),
        (Kind::Screlu, 256),
        (Kind::Screlu, 512),
        (Kind::Screlu, 1024),
        (Kind::LAYERED, 256),
        (Kind::Layered(16), 512),
        (Kind::LAYERED, 512),
        (Kind::Layered(64), 512),
        (Kind::Deep, 512),
        (Kind::Squared(8), 512),
        (Kind::Squared(16), 512),
        (Kind::Pairwise(16), 512),
        (Kind::Pairwise(16), 1024),
    ] {
        let network = network(kind, hidden);
        let mut classical = eval::ClassicalEvaluator::new();
        let mut ways: Vec<Way<'_>> = vec![(
            "classical".to_owned(),
            Box::new(move || boards.iter().map(|board| i64::from(classical.evaluate(board))).sum()),
        )];
        for kernels in Kernels::available() {
            let mut accumulators = Accumulators::with_kernels(Arc::clone(&network), kernels);
            let network = Arc::clone(&network);
            ways.push((kernels.name.to_owned(), Box::new(move || evaluate_lines(&mut accumulators, lines))));
            let refresh =
                move || boards.iter().map(|board| i64::from(network.evaluate_alone_with(kernels, board))).sum();
            ways.push((kernels.name.to_owned(), Box::new(refresh)));
        }
        let times: Vec<f64> = measure(&mut ways).iter().map(Duration::as_secs_f64).collect();
        let rate = |time: f64| count as f64 / time / 1e6;
        for index in (1..ways.len()).step_by(2) {
            let (fast, slow) = (times[index], times[index + 1]);
            println!(
                "{:26} {:12} {:>11.2} {:>6.2} {:>11.2} {:>6.2} {:>11.2}",
                network.layout().describe(),
                ways[index].0,
                rate(fast),
                times[1] / fast,
                rate(slow),
                times[2] / slow,
                times[0] / fast
            );
        }
        println!("{:26} {:12} {:>11.2}", "", "classical", rate(times[0]));
    }
}

/// Prints the work of the lines above: each move evaluated, no branches.
fn work_per_move(lines: &[BenchLine]) {
    println!("\naccumulators of one side, per move of random lines evaluated after each move");
    println!("{:26} {:>8} {:>9} {:>16}", "network", "updates", "refreshes", "rows per refresh");
    let plain = Layout::plain(Kind::Screlu, 128);
    for layout in [plain.clone(), Layout { mirrored: true, ..plain }, layout(Kind::Screlu, 128)] {
        let file = encode(&layout, &random_payload(&layout, 1)).expect("a good layout");
        let mut accumulators = Accumulators::new(Arc::new(parse(&file).expect("a network")));
        evaluate_lines(&mut accumulators, lines);
        let counters = accumulators.counters();
        let per_move = |count: u64| count as f64 / counters.moves as f64;
        println!(
            "{:26} {:>8.3} {:>9.3} {:>16.2}",
            layout.describe(),
            per_move(counters.updates),
            per_move(counters.refreshes),
            counters.refresh_rows as f64 / counters.refreshes as f64
        );
    }
}

/// Returns the processor time of this thread, or the elapsed time on systems that do not report it.
fn cpu_time() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    let start = START.get_or_init(Instant::now);
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = text.split(' ').next().and_then(|nanos| nanos.parse().ok());
    nanos.map_or_else(|| start.elapsed(), Duration::from_nanos)
}

/// Nodes per second of CPU time of one search of the bench positions to [`DEPTH`].
fn nodes_per_second(searcher: &mut Searcher) -> f64 {
    let limits = Limits { depth: Some(DEPTH), ..Limits::default() };
    let start = cpu_time();
    let nodes: u64 = POSITIONS
        .iter()
        .map(|fen| {
            let game = Game::new(Board::from_fen(fen).expect("a legal position"));
            searcher.search(&game, &limits, &Signals::default(), Instant::now(), &mut SilentReport).nodes
        })
        .sum();
    nodes as f64 / (cpu_time() - start).as_secs_f64()
}

fn search_speed() {
    println!(
        "\nsearch of the bench positions to depth {DEPTH}: thousand nodes per second, ratio to the classical evaluation"
    );
    let mut configs = vec![("classical".to_owned(), EvalConfig { mode: EvalMode::Classical, network: None })];
    for (kind, hidden) in
        [(Kind::Screlu, 128), (Kind::Screlu, 256), (Kind::Screlu, 512), (Kind::Screlu, 1024), (Kind::LAYERED, 512)]
    {
        let network = network(kind, hidden);
        let name = network.layout().describe();
        configs.push((name, EvalConfig { mode: EvalMode::Nnue, network: Some(network) }));
    }
    let mut searcher = Searcher::new(16).expect("a small table");
    let mut best = vec![0.0f64; configs.len()];
    let mut work = vec![None; configs.len()];
    for _ in 0..3 {
        for (index, (_, config)) in configs.iter().enumerate() {
            searcher.set_evaluation(config);
            best[index] = best[index].max(nodes_per_second(&mut searcher));
            work[index] = searcher.nnue_counters();
        }
    }
    println!(
        "{:26} {:>8} {:>6} {:>11} {:>9} {:>16}",
        "evaluation", "knps", "ratio", "updates/move", "refreshes", "rows per refresh"
    );
    for (((name, _), knps), work) in configs.iter().zip(&best).zip(&work) {
        print!("{name:26} {:>8.0} {:>6.2}", knps / 1e3, knps / best[0]);
        if let Some(counters) = work {
            let per_move = |count: u64| count as f64 / counters.moves as f64;
            let rows = counters.refresh_rows as f64 / counters.refreshes as f64;
            print!(" {:>11.3} {:>10.4} {rows:>16.2}", per_move(counters.updates), per_move(counters.refreshes));
        }
        println!();
    }
}

/// Sets of the table by set, unless others are named.
const SETS: [&str; 16] = [
    "piece",
    "file+rank",
    "diagonal+antidiagonal",
    "piece+file+rank",
    "piece+file+rank+diagonal+antidiagonal",
    "king-piece",
    "king-all",
    "king-relative",
    "king-relative-h",
    "king-relative-v",
    "piece+top-pairs:256",
    "piece+file-pairs+rank-pairs",
    "piece+diagonal-pairs+antidiagonal-pairs",
    "piece+mobility-counts",
    "piece+mobility-squares",
    "piece+moves",
];

/// Neurons of the networks of the table by set.
const SET_HIDDEN: usize = 512;

/// Parses a set, with a list of the most frequent pairs of the lines for `top-pairs:K`.
fn parse_set(name: &str, lines: &[BenchLine]) -> Result<FeatureSet, SetError> {
    let count = name.split('+').find_map(|block| block.trim().strip_prefix("top-pairs:")?.parse().ok());
    let pairs = count.and_then(|count: usize| PairList::new(frequent_pairs(lines, count)).ok()).map(Arc::new);
    FeatureSet::parse(name, pairs.as_ref())
}

/// Returns the pairs with an own piece that stand in most views of the lines.
fn frequent_pairs(lines: &[BenchLine], count: usize) -> Vec<FeaturePair> {
    let piece = FeatureSet::piece();
    let mut views: BTreeMap<FeaturePair, u32> = BTreeMap::new();
    for board in lines.iter().flat_map(BenchLine::boards) {
        for color in Color::ALL {
            let mut features = Vec::new();
            piece.active(&OrientedBoard::from((board, color))).for_each(|feature| features.push(feature));
            for (place, &low) in features.iter().enumerate() {
                for pair in features[place + 1..].iter().filter_map(|&high| FeaturePair::new(low, high)) {
                    *views.entry(pair).or_default() += 1;
                }
            }
        }
    }
    let mut ranked: Vec<(FeaturePair, u32)> = views.into_iter().collect();
    ranked.sort_by_key(|&(pair, views)| (Reverse(views), pair));
    ranked.into_iter().take(count).map(|(pair, _)| pair).collect()
}

/// Prints the cost of each set in a search, and that of evaluations along random lines.
fn sets(names: &[String], lines: &[BenchLine]) {
    println!("\nfeature sets, {SET_HIDDEN} neurons: search of the bench positions to depth {DEPTH}, lines as above");
    println!(
        "{:42} {:>8} {:>6} {:>12} {:>10} {:>9} {:>14}",
        "set", "knps", "ratio", "updates/move", "refreshes", "rows/move", "ns/evaluation"
    );
    let mut searcher = Searcher::new(16).expect("a small table");
    let mut first = None;
    for name in names {
        let set = match parse_set(name, lines) {
            Ok(set) => set,
            Err(error) => {
                println!("{name}: {error}");
                continue;
            }
        };
        let layout = Layout::of_set(Kind::Screlu, set, SET_HIDDEN);
        let file = encode(&layout, &random_payload(&layout, 1)).expect("a good layout");
        let network = Arc::new(parse(&file).expect("a network"));
        let nanos = evaluation_nanos(Arc::clone(&network), lines, ROUNDS);
        searcher.set_evaluation(&EvalConfig { mode: EvalMode::Nnue, network: Some(network) });
        let mut best = 0.0f64;
        for _ in 0..3 {
            best = best.max(nodes_per_second(&mut searcher));
        }
        let unit = *first.get_or_insert(best);
        let Some(counters) = searcher.nnue_counters() else { continue };
        let per_move = |count: u64| count as f64 / counters.moves.max(1) as f64;
        println!(
            "{name:42} {:>8.0} {:>6.2} {:>12.3} {:>10.4} {:>9.2} {:>14.0}",
            best / 1e3,
            best / unit,
            per_move(counters.updates),
            per_move(counters.refreshes),
            per_move(counters.list_rows + counters.refresh_rows),
            nanos
        );
    }
}

fn main() {
    let named: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let lines = lines();
    if named.is_empty() {
        evaluations(&lines);
        work_per_move(&lines);
        in_search_thread(search_speed).expect("a thread");
    }
    let names = if named.is_empty() { SETS.map(str::to_owned).to_vec() } else { named };
    in_search_thread(move || sets(&names, &lines)).expect("a thread");
}
