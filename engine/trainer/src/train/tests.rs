//! Training compared with a slow reference implementation and between thread counts and instruction
//! sets.

use super::curve::Curve;
use super::dispatch::Isa;
use super::export;
use super::features::Inputs;
use super::head::{ErrorForm, Loss, sigmoid};
use super::integer::{Integer, Rounding};
use super::kernels::Step;
use super::network::{Parameters, Random, Shape};
use super::plan::{Plan, full};
use super::report;
use super::run::{self, Run};
use super::source::{Records, Source};
use super::trainer::{Batch, State, Trainer, TrainingMethod};
use bulletformat::{BulletFormat, ChessBoard};
use destrier::nnue::sets::ActiveFeatures;
use destrier::nnue::{HIDDEN_2, Kind};
use indicatif::ProgressBar;
use std::convert::Infallible;
use std::path::{Path, PathBuf};

const LOSS: Loss = Loss { form: ErrorForm::Power(2.0), blend: 0.3, scale: 400.0, gain: 1.0 };
pub(super) const STEP: Step =
    Step { rate: 1e-3, decay: 0.01, beta1: 0.9, beta2: 0.999, epsilon: 1e-8, clip: 1.98, clip_features: 1.98 };

/// Returns a map of four king buckets: back rank by wing, the rest by half of the board.
fn four_buckets() -> [u8; 32] {
    std::array::from_fn(|square| match square {
        0..=1 => 0,
        2..=3 => 1,
        4..=15 => 2,
        _ => 3,
    })
}

pub(super) fn shape(kind: Kind, hidden: usize, buckets: [u8; 32]) -> Shape {
    let inputs = Inputs::new(true, buckets);
    let output_buckets = if kind == Kind::Screlu { 8 } else { 1 };
    Shape { kind, hidden, factorised: inputs.king_buckets() > 1, inputs, output_buckets }
}

/// Returns the shape of a feature set, factorised if it can be.
pub(super) fn set_shape(kind: Kind, hidden: usize, set: &str) -> Shape {
    let inputs = Inputs::of_set(set.parse().expect(set));
    let factorised = inputs.shared().is_some();
    Shape { kind, hidden, inputs, output_buckets: kind.usual_output_buckets(), factorised }
}

pub(super) fn shapes() -> Vec<Shape> {
    let plain = Shape { output_buckets: 1, inputs: Inputs::new(false, [0; 32]), ..shape(Kind::Screlu, 16, [0; 32]) };
    let [screlu, layered] = [Kind::Screlu, Kind::LAYERED];
    let kinds = [plain, shape(screlu, 64, [0; 32]), shape(screlu, 32, four_buckets()), shape(layered, 32, [0; 32])];
    let sets = [
        set_shape(Kind::Deep, 32, "piece+file+rank"),
        set_shape(screlu, 16, "mobility-counts+king-relative-h"),
        // Large enough for rows that wait for the optimiser.
        set_shape(screlu, 64, "file+king-piece"),
        set_shape(layered, 16, "moves+rank-pairs"),
        set_shape(Kind::Layered(8), 16, "piece"),
        set_shape(Kind::Layered(16), 32, "piece"),
        set_shape(Kind::Layered(64), 16, "file"),
    ];
    kinds.into_iter().chain(sets).collect()
}

/// Returns positions with random pieces. The score is their material, and the result follows it.
pub(super) fn positions(count: usize, seed: u64) -> Vec<ChessBoard> {
    let mut random = Random::new(seed);
    (0..count).map(|_| position(&mut random)).collect()
}

fn position(random: &mut Random) -> ChessBoard {
    let mut squares: Vec<u8> = (0..64).collect();
    random.shuffle(&mut squares);
    let count = 3 + random.below(30);
    let mut pieces: Vec<(u8, u8)> = vec![(squares[0], 5), (squares[1], 13)];
    let others = squares[2..count].iter();
    pieces.extend(others.map(|&square| (square, random.below(5) as u8 + 8 * random.below(2) as u8)));
    pieces.sort_unstable();
    let mut board = ChessBoard { ksq: squares[0], opp_ksq: squares[1] ^ 56, ..ChessBoard::default() };
    for (place, &(square, piece)) in pieces.iter().enumerate() {
        board.occ |= 1 << square;
        board.pcs[place / 2] |= piece << (4 * (place % 2));
        let value = [100, 300, 320, 500, 900, 0][usize::from(piece & 7)];
        board.score += if piece < 8 { value } else { -value };
    }
    board.result = (board.score.signum() + 1) as u8;
    board
}

pub(super) fn fresh(shape: &Shape, seed: u64) -> State {
    let zero = Parameters::zero(shape);
    let mut weights = Parameters::random(shape, seed);
    // Biases differ from zero, or their order would not be tested.
    let mut random = Random::new(seed ^ 99);
    weights.bias.iter_mut().chain(&mut weights.head).for_each(|bias| *bias += 0.1 * random.normal() as f32);
    weights.features.iter_mut().for_each(|weight| *weight += 0.02 * random.normal() as f32);
    [weights, zero.clone(), zero]
}

pub(super) fn train(trainer: &mut Trainer, batches: Vec<Batch>) -> Vec<f64> {
    let mut losses = Vec::new();
    let largest = batches.iter().map(|batch| batch.positions.len()).max().unwrap_or(0);
    let mut batches = batches.into_iter();
    let fed: Result<(), Infallible> = trainer.train(largest, || Ok(batches.next()), |loss| losses.push(loss));
    fed.expect("nothing to fail");
    losses
}

/// Computes the network's output in double precision, straight from its definition.
pub(super) fn reference(shape: &Shape, weights: &Parameters, board: &ChessBoard) -> f64 {
    let (mut us, mut them) = (Vec::new(), Vec::new());
    shape.inputs.append(board, &mut ActiveFeatures::default(), &mut us, &mut them);
    let width = shape.hidden;
    let neuron = |inputs: &[u16], i: usize| {
        let own = |&f: &u16| f64::from(weights.features[usize::from(f) * width + i]);
        let common = |&f: &u16| {
            let part = shape.shared().and_then(|shared| shared.of(usize::from(f)));
            part.map_or(0.0, |part| f64::from(weights.factor[part * width + i]))
        };
        let sum: f64 = inputs.iter().map(|f| own(f) + common(f)).sum();
        (f64::from(weights.bias[i]) + sum).clamp(0.0, 1.0)
    };
    let units: Vec<f64> = [&us, &them].into_iter().flat_map(|side| (0..width).map(move |i| neuron(side, i))).collect();
    let head: Vec<f64> = weights.head.iter().copied().map(f64::from).collect();
    let column = |column: usize, power: i32| -> f64 {
        let weights = weights.output[column * 2 * width..].iter();
        head[column] + units.iter().zip(weights).map(|(h, &w)| h.powi(power) * f64::from(w)).sum::<f64>()
    };
    match shape.kind {
        Kind::Screlu => column(usize::from(shape.bucket(board.occ.count_ones())), 2),
        Kind::Layered(units) => {
            let layer = (0..units).map(|unit| column(unit, 1).clamp(0.0, 1.0) * head[units + unit]);
            head[2 * units] + layer.sum::<f64>()
        }
        Kind::Deep => {
            let second: Vec<f64> = (0..HIDDEN_2).map(|unit| column(unit, 1).clamp(0.0, 1.0)).collect();
            let (third, rest) = head[HIDDEN_2..].split_at(HIDDEN_2 * HIDDEN_2);
            let sum = |unit: usize| {
                let terms = second.iter().enumerate().map(|(input, value)| value * third[input * HIDDEN_2 + unit]);
                rest[unit] + terms.sum::<f64>()
            };
            let last = (0..HIDDEN_2).map(|unit| sum(unit).clamp(0.0, 1.0) * rest[HIDDEN_2 + unit]);
            rest[2 * HIDDEN_2] + last.sum::<f64>()
        }
    }
}

fn reference_loss(shape: &Shape, weights: &Parameters, loss: Loss, boards: &[ChessBoard]) -> f64 {
    let of = |board: &ChessBoard| {
        let expected = 1.0 / (1.0 + (-f64::from(loss.gain) * reference(shape, weights, board)).exp());
        let error = (expected - f64::from(loss.target(board.score, board.result))).abs();
        match loss.form {
            ErrorForm::Power(power) => error.powf(f64::from(power)),
            ErrorForm::Margin(margin) => (error - f64::from(margin)).max(0.0),
        }
    };
    boards.iter().map(of).sum::<f64>() / boards.len() as f64
}

#[test]
fn outputs_are_those_of_the_definition() {
    let boards = positions(600, 5);
    for shape in shapes() {
        let state = fresh(&shape, 1);
        let outputs = Trainer::new(shape.clone(), 2, &state).outputs(&boards);
        for (board, output) in boards.iter().zip(outputs) {
            let expected = reference(&shape, &state[0], board);
            assert!((f64::from(output) - expected).abs() < 1e-5, "{shape:?}: {output} for {expected}");
        }
    }
}

/// Compares gradients with finite differences. With beta1 = 0 and rate = 0 the first moment after a
/// step is the gradient.
#[test]
fn gradients_are_finite_differences() {
    let boards = positions(40, 6);
    let losses = [
        LOSS,
        Loss { form: ErrorForm::Power(2.6), gain: 400.0 / 361.0, scale: 410.0, ..LOSS },
        Loss { form: ErrorForm::Margin(0.02), ..LOSS },
    ];
    for (shape, loss) in shapes().into_iter().flat_map(|shape| losses.map(|loss| (shape.clone(), loss))) {
        let state = fresh(&shape, 2);
        let mut trainer = Trainer::new(shape.clone(), 1, &state);
        let step = Step { rate: 0.0, beta1: 0.0, ..STEP };
        train(&mut trainer, vec![Batch { positions: boards.clone(), method: TrainingMethod::Eval(loss), step }]);
        let [unchanged, gradient, _] = trainer.state();
        assert!(unchanged == state[0], "{shape:?}");
        let loss_of = |weights: &Parameters| reference_loss(&shape, weights, loss, &boards);
        assert_slopes(&state[0], &gradient, (6, 1e-6), loss_of, &format!("{shape:?}"));
    }
}

/// Compares the steepest slopes of each group of weights with finite differences of the loss. They
/// may differ by 2 % and `most`.
pub(super) fn assert_slopes(
    at: &Parameters,
    gradient: &Parameters,
    (steepest_of_group, most): (usize, f64),
    loss_of: impl Fn(&Parameters) -> f64,
    what: &str,
) {
    for (group, slopes) in gradient.groups().into_iter().enumerate() {
        let mut steepest: Vec<usize> = (0..slopes.len()).collect();
        steepest.sort_by(|&a, &b| slopes[b].abs().total_cmp(&slopes[a].abs()));
        for &place in steepest.iter().take(steepest_of_group) {
            let moved = |by: f32| {
                let mut weights = at.clone();
                weights.groups_mut()[group][place] += by;
                (f64::from(weights.groups()[group][place]), loss_of(&weights))
            };
            let ((low, below), (high, above)) = (moved(-5e-5), moved(5e-5));
            let difference = (above - below) / (high - low);
            let slope = f64::from(slopes[place]);
            let near = (difference - slope).abs() <= 0.02 * slope.abs() + most;
            assert!(near, "{what}, group {group}, weight {place}: {slope} for {difference}");
        }
    }
}

#[test]
fn loss_falls_on_a_thousand_positions() {
    let boards = positions(1000, 7);
    for shape in shapes() {
        let mut trainer = Trainer::new(shape.clone(), 2, &fresh(&shape, 3));
        let batch = Batch { positions: boards.clone(), method: TrainingMethod::Eval(LOSS), step: STEP };
        let losses = train(&mut trainer, vec![batch; 150]);
        assert!(losses[149] < 0.25 * losses[0], "{shape:?}: from {} to {}", losses[0], losses[149]);
    }
}

#[test]
fn threads_and_instruction_sets_change_no_bit() {
    let batch = |seed| Batch { positions: positions(1500, seed), method: TrainingMethod::Eval(LOSS), step: STEP };
    for shape in [
        shape(Kind::Screlu, 64, four_buckets()),
        shape(Kind::LAYERED, 64, [0; 32]),
        shape(Kind::Layered(8), 64, [0; 32]),
        shape(Kind::Layered(64), 64, [0; 32]),
        shape(Kind::Deep, 128, [0; 32]),
        set_shape(Kind::Screlu, 64, "king-piece"),
    ] {
        let run = |threads: usize, isa: Isa| {
            let mut trainer = Trainer::new(shape.clone(), threads, &fresh(&shape, 4));
            trainer.set_isa(isa);
            let losses = train(&mut trainer, (0..4).map(batch).collect());
            (losses, trainer.state())
        };
        let expected = run(1, Isa::Portable);
        for isa in Isa::all() {
            for threads in [1, 2, 3] {
                assert!(run(threads, isa) == expected, "{shape:?}, {isa:?}, {threads} threads");
            }
        }
    }
}

/// Returns the quantised weights of the file as floats.
fn dequantised(shape: &Shape, weights: &Parameters) -> Parameters {
    let round = |values: &[f32], unit: f32| values.iter().map(|value| (value * unit).round() / unit).collect();
    let (first, second) = if shape.kind == Kind::Screlu { (255.0, 64.0) } else { (127.0, 64.0) };
    let head = match shape.kind {
        Kind::Screlu => round(&weights.head, first * second),
        Kind::Layered(_) | Kind::Deep => {
            let second_units = shape.columns();
            let third = if shape.kind == Kind::Deep { HIDDEN_2 } else { 0 };
            let parts = [
                (second_units, first * second),
                (third * HIDDEN_2, second),
                (third, first * second),
                (second_units, 6400.0 / 127.0),
                (1, 6400.0),
            ];
            let mut rest = &weights.head[..];
            let mut head = Vec::new();
            for (count, unit) in parts {
                let (part, after) = rest.split_at(count);
                head.extend::<Vec<f32>>(round(part, unit));
                rest = after;
            }
            head
        }
    };
    let features = round(&weights.merged_features(shape), first);
    let (bias, output) = (round(&weights.bias, first), round(&weights.output, second));
    Parameters { features, factor: vec![], bias, output, head }
}

#[test]
fn exported_networks_say_the_same_in_whole_numbers() {
    let boards = positions(500, 8);
    for shape in shapes() {
        let [weights, ..] = fresh(&shape, 5);
        let payload = export::payload(&shape, &weights).expect("weights in range");
        let network = Integer::new(&shape, &payload);
        let rounded = dequantised(&shape, &weights);
        let alone = Shape { factorised: false, ..shape.clone() };
        // SCReLU loses less than a centipawn in each of two divisions. A layered network has 32
        // units that each lose up to a step of 1/127.
        let bound = if shape.kind == Kind::Screlu { 2.0 } else { 60.0 };
        for board in &boards {
            let (whole, float) = (network.evaluate(board) as f64, 400.0 * reference(&alone, &rounded, board));
            assert!((whole - float).abs() <= bound, "{shape:?}: {whole} for {float}");
        }
        let outputs = Trainer::new(shape.clone(), 1, &[weights.clone(), weights.clone(), weights]).outputs(&boards);
        let rounding = Rounding::of(&network, &boards, &outputs, 1.0);
        assert!(rounding.mean < 25.0 && rounding.mean <= rounding.worst, "{shape:?}: {rounding:?}");
        let in_order = [rounding.win_mean, rounding.win_most, rounding.win_worst];
        assert!(in_order.is_sorted() && rounding.win_mean <= rounding.mean / 1600.0 + 1e-6, "{shape:?}: {rounding:?}");
        assert!((rounding.histogram.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    }
}

#[test]
fn network_files_have_the_engines_header() {
    let shape = shape(Kind::Screlu, 64, four_buckets());
    let [weights, ..] = fresh(&shape, 6);
    let payload = export::payload(&shape, &weights).expect("weights in range");
    let file = export::network(&shape, &payload).expect("a shape of the engine's");
    assert_eq!(&file[..8], b"DESTRIER");
    let words: Vec<u32> = file[8..32].as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
    assert_eq!(words, [1, 1, 64, 4, 8, 1], "version 1");
    assert_eq!(file[32..64], four_buckets());
    assert_eq!(file.len(), 128 + (2_usize * (4 * 768 * 64 + 64 + 8 * 128 + 8)).next_multiple_of(64));
    let mut wide = weights;
    wide.output[3] = 600.0;
    assert!(export::payload(&shape, &wide).is_err());
}

fn write(path: &Path, boards: &[ChessBoard]) {
    std::fs::write(path, ChessBoard::as_bytes_slice(boards)).expect("a file in a fresh folder");
}

#[test]
fn a_pass_hands_out_each_position_once_and_goes_on_anywhere() {
    let folder = tempfile::tempdir().expect("a fresh folder");
    let paths: Vec<PathBuf> = ["a.bin", "b.bin"].map(|name| folder.path().join(name)).to_vec();
    let boards = positions(700, 9);
    write(&paths[0], &boards[..300]);
    write(&paths[1], &boards[300..]);
    let open = |position| {
        let records = Records::open(&paths).expect("two files");
        Source::new(records, 650, 3, position).expect("positions")
    };
    let two_passes = open(0).take(1300).expect("readable");
    let sorted = |boards: &[ChessBoard]| {
        let mut bytes: Vec<[u8; 32]> = ChessBoard::as_bytes_slice(boards).as_chunks::<32>().0.to_vec();
        bytes.sort_unstable();
        bytes
    };
    for pass in two_passes.chunks(650) {
        assert_eq!(sorted(pass), sorted(&boards[..650]));
    }
    assert_ne!(two_passes[..650], two_passes[650..]);
    for position in [1, 649, 650, 900] {
        let rest = open(position as u64).take(1300 - position).expect("readable");
        assert_eq!(rest, two_passes[position..], "from {position}");
    }
}

#[test]
fn damaged_data_is_named() {
    let folder = tempfile::tempdir().expect("a fresh folder");
    let path = folder.path().join("a.bin");
    let check = |fault: fn(&mut ChessBoard), says: &str| {
        let mut boards = positions(3, 10);
        fault(&mut boards[2]);
        write(&path, &boards);
        let read = Records::open(std::slice::from_ref(&path)).expect("whole records").read(0, 3);
        let message = read.expect_err(says).to_string();
        assert!(message.contains("record 2") && message.contains(says), "{message}");
    };
    check(|board| board.occ = 0, "pieces");
    check(|board| board.occ = u64::MAX, "pieces");
    check(|board| board.pcs = [0x77; 16], "kind");
    check(|board| board.result = 3, "result");
    check(|board| board.ksq = 64, "king");
    check(|board| board.opp_ksq = board.ksq ^ 56, "king");
    std::fs::write(&path, [0; 33]).expect("a file in a fresh folder");
    assert!(Records::open(&[path]).expect_err("33 bytes").to_string().contains("33 bytes"));
}

const PLAN: &str = "name = \"small\"\nout = \"OUT\"\nseed = 5\nthreads = 2\n[data]\nfiles = [\"data.bin\"]\n\
    validation-fraction = 0.1\n[network]\nhidden = 64\n[training]\nsuperbatches = 4\nbatches = 3\nbatch = 300\n\
    [rate]\nschedule = \"cosine\"\nstart = 0.001\nend = 0.0001\nwarm-up = 2\n\
    [wdl]\nschedule = \"linear\"\nstart = 0.0\nend = 0.5\n";

fn plan(folder: &Path, out: &str) -> Plan {
    let path = folder.join(format!("{out}.toml"));
    std::fs::write(&path, PLAN.replace("OUT", out)).expect("a file in a fresh folder");
    Plan::load(&path).expect("a sound plan")
}

#[test]
fn stopped_runs_go_on_bit_for_bit() {
    let folder = tempfile::tempdir().expect("a fresh folder");
    write(&folder.path().join("data.bin"), &positions(1000, 11));
    let straight = plan(folder.path(), "straight");
    let expected = run::run(&straight, &mut std::io::sink()).expect("a run");
    for stop in 1..4 {
        let stopped = plan(folder.path(), &format!("stopped-{stop}"));
        let mut begun = Run::open(&stopped).expect("a run");
        for _ in 0..stop {
            begun.superbatch(&ProgressBar::hidden()).expect("a superbatch");
        }
        // A kill during a checkpoint leaves a part of it beside the last one.
        std::fs::write(stopped.out.join("checkpoint.bin.part"), b"DTRA").expect("a file in the run's folder");
        drop(begun);
        let resumed = run::run(&stopped, &mut std::io::sink()).expect("the rest of the run");
        assert_eq!(resumed.curve, expected.curve);
        assert_eq!(resumed.hash, expected.hash);
        for file in ["checkpoint.bin", "small.nnue", "curve.csv"] {
            let read = |plan: &Plan| std::fs::read(plan.out.join(file)).expect("written by the run");
            assert!(read(&stopped) == read(&straight), "{file} after a stop at {stop}");
        }
    }
}

#[test]
fn checkpoints_of_other_plans_and_damaged_ones_are_refused() {
    let folder = tempfile::tempdir().expect("a fresh folder");
    write(&folder.path().join("data.bin"), &positions(1000, 11));
    let mut plan = plan(folder.path(), "run");
    run::run(&plan, &mut std::io::sink()).expect("a run");
    plan.seed += 1;
    let refused = |plan: &Plan| Run::open(plan).map(|_| ()).expect_err("not this run's").to_string();
    assert!(refused(&plan).contains("another plan"));
    plan.seed -= 1;
    plan.network.hidden = 32;
    assert!(refused(&plan).contains("another plan"), "not a damaged file, which the user would remove");
    plan.network.hidden = 64;
    let held = Run::open(&plan).expect("the run again");
    assert!(refused(&plan).contains("another training writes there"));
    drop(held);
    // Other positions in the same file are refused; the same ones in a moved file are accepted.
    let data = plan.data.files[0].clone();
    write(&data, &positions(1000, 12));
    assert!(refused(&plan).contains("from other data"));
    plan.data.files[0] = folder.path().join("moved.bin");
    write(&plan.data.files[0], &positions(1000, 11));
    assert!(Run::open(&plan).expect("the same positions").is_done());
    let path = plan.out.join("checkpoint.bin");
    let whole = std::fs::read(&path).expect("written by the run");
    for (length, flipped) in [(0, None), (20, None), (whole.len() - 1, None), (whole.len(), Some(whole.len() / 2))] {
        let mut bytes = whole[..length].to_vec();
        if let Some(place) = flipped {
            bytes[place] ^= 1;
        }
        std::fs::write(&path, bytes).expect("the run's folder");
        assert!(refused(&plan).contains("remove the file"));
    }
}

#[test]
fn a_run_begins_with_the_weights_of_another() {
    let folder = tempfile::tempdir().expect("a fresh folder");
    write(&folder.path().join("data.bin"), &positions(1000, 11));
    let first = plan(folder.path(), "first");
    let before = run::run(&first, &mut std::io::sink()).expect("a run");
    let start = ("hidden = 64", "hidden = 64\nstart = \"first/checkpoint.bin\"");
    let seed = ("seed = 5", "seed = 6");
    let second = changed(folder.path(), "second", &[start, seed]);
    let mut begun = Run::open(&second).expect("a run");
    let outcome = begun.export().expect("a network");
    assert_eq!(outcome.hash, before.hash, "before a step it is the network it begins with");
    begun.superbatch(&ProgressBar::hidden()).expect("a superbatch");
    assert!(begun.export().expect("a network").hash != before.hash);
    let file = ("first/checkpoint.bin", "first/small.nnue");
    let of_file = changed(folder.path(), "of-a-file", &[start, seed, file]);
    let rounded = Run::open(&of_file).expect("a run").export().expect("a network");
    assert_eq!(rounded.hash, before.hash, "rounded weights stay as they are");
    std::fs::write(folder.path().join("cut.nnue"), b"DESTRIER").expect("a file");
    for (from, to, says) in [
        ("first/", "nobody/", "there is no such file; `start` is a network file or the `checkpoint.bin` of a run"),
        ("hidden = 64", "hidden = 32", "of the same shape"),
        ("first/checkpoint.bin", "cut.nnue", "neither a network nor a checkpoint, or damaged"),
        (
            "hidden = 64\nstart = \"first/checkpoint.bin",
            "hidden = 32\nstart = \"first/small.nnue",
            "the weights are of (",
        ),
    ] {
        let other = changed(folder.path(), "third", &[start, seed, (from, to)]);
        let error = Run::open(&other).map(|_| ()).expect_err(to).to_string();
        assert!(error.contains(says), "{error}");
    }
}

/// Loads the usual plan with replacements in its text.
fn changed(folder: &Path, out: &str, changes: &[(&str, &str)]) -> Plan {
    let mut text = PLAN.replace("OUT", out);
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    let path = folder.join(format!("{out}.toml"));
    std::fs::write(&path, text).expect("a file in a fresh folder");
    Plan::load(&path).expect("a sound plan")
}

#[test]
fn a_moving_target_is_not_taken_for_a_worse_network() {
    let folder = tempfile::tempdir().expect("a fresh folder");
    // Results are random, so a larger share of them in the target means a larger loss of any
    // network.
    let mut boards = positions(2000, 13);
    let mut random = Random::new(14);
    for board in &mut boards {
        (board.score, board.result) = (board.score / 8, 2 * random.below(2) as u8);
    }
    write(&folder.path().join("data.bin"), &boards);
    let keeps = ("out = \"moving\"", "out = \"moving\"\nsnapshots = true");
    let plan = changed(folder.path(), "moving", &[("batch = 300", "batch = 300\npatience = 2"), keeps]);
    let mut said = Vec::new();
    let summary = run::run(&plan, &mut said).expect("a run");
    let points = summary.curve.points();
    assert!(points.windows(2).all(|pair| pair[1].validation > pair[0].validation), "{points:?}");
    // The last snapshot is the network, the first one that of random weights.
    let snapshot = |superbatch: usize| std::fs::read(plan.out.join(format!("snapshots/{superbatch:05}.nnue")));
    let last = snapshot(points.len()).expect("a snapshot");
    assert_eq!(last, std::fs::read(&summary.network).expect("the network"));
    assert_ne!(snapshot(0).expect("a snapshot before the training"), last);
    assert!(snapshot(points.len() + 1).is_err());
    assert!(points[3].settled < points[0].settled, "{points:?}");
    let said = String::from_utf8(said).expect("text");
    assert!(!said.contains("no better validation loss") && said.contains(", against the last target 0."), "{said}");
    let last = points[points.len() - 1];
    assert_eq!((summary.curve.best(), last.settled), (Some(&last), last.validation));
    // With squared errors, the loss is the mean of both parts less a constant that is the same for
    // all networks.
    let rest: Vec<f64> = points.iter().map(|point| 0.5 * (point.score + point.result) - point.settled).collect();
    assert!(rest.iter().all(|one| (one - rest[0]).abs() < 1e-6), "{rest:?}");
    let picture = std::fs::read_to_string(plan.out.join("curve.svg")).expect("written by the run");
    assert!(picture.contains("after superbatch 4") && picture.contains("held out, last target"), "{picture}");
}

#[test]
fn curves_of_before_are_read_as_far_as_they_tell() {
    let old = "superbatch,positions,rate,wdl,train,validation,score,result\n1,900,0.001,0.25,0.2,0.1,0.1,0.1\n\
        2,1800,0.001,0.5,0.2,0.15,0.1,0.1\n";
    let curve = Curve::parse(old, 0.5);
    let settled: Vec<f64> = curve.points().iter().map(|point| point.settled).collect();
    assert!(settled[0].is_nan() && settled[1] == 0.15, "{settled:?}");
    assert_eq!(curve.best().map(|point| point.superbatch), Some(2));
    assert_eq!(Curve::parse(&curve.to_csv(), 0.5).to_csv(), curve.to_csv());
    assert_eq!(Curve::parse(old, 1.0).best(), None);
    assert!(!curve.to_svg("old", true).contains("NaN"));
}

#[test]
fn what_changes_no_weight_may_change() {
    let folder = tempfile::tempdir().expect("a fresh folder");
    write(&folder.path().join("data.bin"), &positions(1000, 11));
    run::run(&plan(folder.path(), "first"), &mut std::io::sink()).expect("a run");
    let start = ("hidden = 64", "hidden = 64\nstart = \"first/checkpoint.bin\"");
    let second = changed(folder.path(), "second", &[start]);
    Run::open(&second).expect("a run").superbatch(&ProgressBar::hidden()).expect("a superbatch");
    let going = |plan: &Plan| Run::open(plan).map(|run| run.superbatches()).map_err(|error| error.to_string());
    let often = ("batch = 300", "batch = 300\npatience = 3\nsave-every = 2");
    assert_eq!(going(&changed(folder.path(), "second", &[start, often])), Ok(1));
    // The content of the initial checkpoint counts, but not its path.
    std::fs::rename(folder.path().join("first"), folder.path().join("moved")).expect("the same file system");
    let moved = ("hidden = 64", "hidden = 64\nstart = \"moved/checkpoint.bin\"");
    assert_eq!(going(&changed(folder.path(), "second", &[moved])), Ok(1));
    std::fs::copy(second.out.join("checkpoint.bin"), folder.path().join("moved/checkpoint.bin")).expect("a file");
    let error = going(&changed(folder.path(), "second", &[moved])).expect_err("another start");
    assert!(error.contains("another `start`"), "{error}");
}

#[test]
fn mistakes_in_any_plan_show_before_the_first_is_run() {
    let folder = tempfile::tempdir().expect("a fresh folder");
    write(&folder.path().join("data.bin"), &positions(1000, 11));
    let first = plan(folder.path(), "first");
    let check = |plan: &Plan| run::check(plan, std::slice::from_ref(&first)).map_err(|error| error.to_string());
    let refused = |changes: &[(&str, &str)], says: &str| {
        let error = check(&changed(folder.path(), "second", changes)).expect_err(says);
        assert!(error.contains(says), "{error}");
    };
    refused(&[("data.bin", "nodata.bin")], "nodata.bin: ");
    refused(&[("\"second\"", "\"first\""), ("\"small\"", "\"other\"")], "two plans, `small` and `other`; give each");
    refused(&[("\"second\"", "\"none/../first\"")], "two plans, `small` and `small`");
    refused(&[("hidden = 64", "hidden = 64\nstart = \"x.bin\"")], "x.bin: there is no such file");
    // The result of the first plan does not exist yet.
    let chained = [("hidden = 64", "hidden = 64\nstart = \"first/checkpoint.bin\"")];
    assert_eq!(check(&changed(folder.path(), "second", &chained)), Ok(()));
    assert!(!folder.path().join("second").exists() && !first.out.exists(), "nothing is made");

    let untrained = run::trained(&first).map(|_| ()).expect_err("no checkpoint").to_string();
    assert!(untrained.contains("train the plan first") && !first.out.exists(), "{untrained}");
    run::run(&first, &mut std::io::sink()).expect("a run");
    assert!(run::trained(&first).expect("a checkpoint").is_done());
    // Another name would add another network to the same folder.
    let renamed = changed(folder.path(), "first", &[("\"small\"", "\"large\"")]);
    for error in [Run::open(&renamed).map(|_| ()), run::check(&renamed, &[])] {
        let error = error.expect_err("the folder of another").to_string();
        assert!(error.contains("small.nnue; give this one, `large`, another `out`"), "{error}");
    }
}

#[test]
fn networks_of_several_scales_are_not_ranked() {
    let folder = tempfile::tempdir().expect("a fresh folder");
    write(&folder.path().join("data.bin"), &positions(1000, 11));
    let summary = |name: &str, rate: &str, scale: &str| {
        let name_line = format!("\"{name}\"");
        let scale = format!("batch = 300\nscale = {scale}");
        let changes = [("\"small\"", &name_line[..]), ("start = 0.001", rate), ("batch = 300", &scale)];
        run::run(&changed(folder.path(), name, &changes), &mut std::io::sink()).expect("a run")
    };
    let slow = summary("slow", "start = 0.0001", "400.0");
    let [fast, other] =
        [("fast", "400.0"), ("other", "1600.0")].map(|(name, scale)| summary(name, "start = 0.01", scale));
    let table = |summaries: &[run::Summary]| {
        let mut text = Vec::new();
        report::table(summaries, &mut text).expect("memory");
        String::from_utf8(text).expect("text")
    };
    let ranked = table(&[slow.clone(), fast.clone()]);
    assert!(ranked.find("\nfast ") < ranked.find("\nslow ") && !ranked.contains("not ranked"), "{ranked}");
    let unranked = table(&[slow, fast, other]);
    assert!(unranked.find("\nslow ") < unranked.find("\nfast "), "{unranked}");
    assert!(unranked.contains("not ranked: ") && unranked.contains("(slow 400, fast 400, other 1600)"), "{unranked}");
}

#[test]
fn mistakes_in_plans_are_named_with_their_line() {
    let check = |from: &str, to: &str, says: &str| {
        assert!(PLAN.contains(from), "{from}");
        let error = Plan::parse(Path::new("a.toml"), &PLAN.replace(from, to)).expect_err(to).to_string();
        assert!(error.starts_with("a.toml:") && error.contains(says), "{error}");
        assert!(!error.contains('\n'), "{error}");
    };
    check("seed = 5", "sede = 5", "a.toml:3:1: unknown key `sede`; keys are name, out, seed, ");
    check("hidden = 64", "hidden = 65", "a.toml: line 9, `hidden` is 65: give 32");
    check("batch = 300", "batch = 0", "`batch`");
    check("files = [\"data.bin\"]", "files = []", "`files`");
    check("validation-fraction = 0.1", "validation-fraction = 0.9", "at most 0.5");
    check("end = 0.0001", "end = 1.0", "`rate`");
    check("schedule = \"cosine\"", "schedule = \"step\"", "gamma");
    check("end = 0.5", "end = 1.5", "`wdl`");
    check("hidden = 64", "hidden = 64\nkind = \"layered\"", "one output");
    for name in ["", "a/b"] {
        check("\"small\"", &format!("\"{name}\""), &format!("a.toml: line 1, `name` is \"{name}\": "));
    }
    for (key, value) in [("beta2", "1.5"), ("decay", "nan"), ("decay", "-5.0"), ("epsilon", "0.0")] {
        check("[wdl]", &format!("[optimiser]\n{key} = {value}\n[wdl]"), &format!("a.toml: line 20, `{key}` is "));
    }
    check("hidden = 64", "hidden = 64\nking-buckets = [0]", "32 numbers");
    let keys = |keys: &str| format!("hidden = 64\n{keys}");
    check(
        "hidden = 64",
        &keys("features = \"piece+fiel\""),
        "a.toml: line 10, `features`: unknown feature block `fiel`",
    );
    check("hidden = 64", &keys("features = \"top-pairs:9\""), "without its list; name a file with 9 pairs");
    let missing = PLAN.replace("hidden = 64", &keys("features = \"top-pairs:9\"\npairs = \"no.txt\""));
    let error = Plan::parse(Path::new("a.toml"), &missing).expect_err("no such file").to_string();
    assert!(error.contains("no.txt: "), "{error}");
    check("hidden = 64", &keys("features = \"king-piece+king-all\""), "90112 features, expected at most 65536");
    check("hidden = 64", &keys("features = \"file\"\nmirrored = true"), "only the features `piece` allow it");
    check("hidden = 64", &keys("features = \"file\"\nfactorised = true"), "have a common part: leave the key out");
    let map = "0,".repeat(32);
    check("hidden = 64", &keys(&format!("features = \"h\"\nking-buckets = [{map}]")), "only the features `piece` have");
    check("hidden = 64", "hidden = 4096\nfeatures = \"king-all\"", "give fewer neurons, or a smaller set");
    check("batch = 300", "batch = 300\nin-scale = 10.0", "`in-scale` is 10");
    check("batch = 300", "batch = 300\nloss = \"epsilon\"\nmargin = 0.5", "`margin` is 0.5");
    check("batch = 300", "batch = 300\nloss = \"huber\"", "huber");
    check("seed = 5", "seed = true", "a.toml:3:8: ");
    Plan::parse(Path::new("a.toml"), PLAN).expect("a plan without a mistake");
    let shipped = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/plans")).expect("the folder of the plans");
    let paths = shipped.map(|entry| entry.expect("a file").path()).filter(|path| !path.ends_with("loop.toml"));
    let paths: Vec<_> = paths.filter(|path| path.extension().is_some_and(|extension| extension == "toml")).collect();
    assert!(paths.len() >= 5, "{paths:?}");
    for path in paths {
        Plan::load(&path).unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn targets_blend_score_and_result() {
    for (score, result, blend, expected) in
        [(0, 1, 0.0, 0.5), (400, 0, 0.0, sigmoid(1.0)), (400, 0, 1.0, 0.0), (-400, 2, 0.5, 0.5 + 0.5 * sigmoid(-1.0))]
    {
        let target = Loss { blend, ..LOSS }.target(score, result);
        assert!((target - expected).abs() < 1e-6, "{target} for {expected}");
    }
}

#[test]
fn a_plan_is_the_same_from_every_folder() {
    let here = std::env::current_dir().expect("a folder");
    for (path, folder) in [("x.toml", here.clone()), ("./x.toml", here.clone()), ("plans/x.toml", here.join("plans"))] {
        assert_eq!(super::folder_of(Path::new(path)), folder, "{path}");
        assert_eq!(super::folder_of(&here.join(path)), folder, "{path}");
    }
    assert_eq!(super::folder_of(Path::new("plans/../plans/x.toml")), here.join("plans"));
    let place = tempfile::tempdir().expect("a fresh folder");
    let real = place.path().canonicalize().expect("it is there");
    std::fs::create_dir(real.join("real")).expect("a fresh folder");
    std::os::unix::fs::symlink("real", real.join("link")).expect("a fresh folder");
    for (way, whole) in [
        ("real/../link", "real"),
        ("link/a/b.nnue", "real/a/b.nnue"),
        ("new/x", "new/x"),
        ("./real/", "real"),
        ("new/../x", "x"),
    ] {
        let found = full(&real.join(way));
        assert_eq!(found.as_os_str(), real.join(whole).as_os_str(), "{way}");
    }
}
