//! Training compared with a slow reference implementation and between thread counts and instruction
//! sets.

use super::dispatch::Isa;
use super::export;
use super::features::Inputs;
use super::head::{ErrorForm, Loss, sigmoid};
use super::integer::{Integer, Rounding};
use super::kernels::Step;
use super::network::{Parameters, Random, Shape};
use super::plan::full;
use super::source::{Records, Source};
use super::trainer::{Batch, State, Trainer, TrainingMethod};
use bulletformat::{BulletFormat, ChessBoard};
use destrier::nnue::sets::ActiveFeatures;
use destrier::nnue::{HIDDEN_2, Kind};
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
    let in_buckets = [
        in_eight(shape(layered, 32, four_buckets())),
        in_eight(set_shape(Kind::Layered(8), 16, "piece")),
        in_eight(set_shape(Kind::Deep, 32, "piece+file")),
        shape(Kind::Pairwise(16), 128, four_buckets()),
        shape(Kind::Squared(16), 32, four_buckets()),
        Shape { output_buckets: 1, ..set_shape(Kind::Pairwise(64), 128, "file") },
    ];
    kinds.into_iter().chain(sets).chain(in_buckets).collect()
}

/// Returns the shape with eight output buckets.
fn in_eight(shape: Shape) -> Shape {
    Shape { output_buckets: 8, ..shape }
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
    let side = |inputs: &[u16]| -> Vec<f64> { (0..width).map(|i| neuron(inputs, i)).collect() };
    let sides = [side(&us), side(&them)];
    let units = if let Kind::Pairwise(_) = shape.kind {
        // In each block of 64 neurons the 32 products of the side to move, then the 32 of the
        // other.
        let product = |block: usize, side: usize, i: usize| {
            let first = 64 * block + i;
            sides[side][first] * sides[side][first + 32]
        };
        (0..width).map(|place| product(place / 64, place / 32 % 2, place % 32)).collect()
    } else {
        sides.concat()
    };
    let head: Vec<f64> = weights.head.iter().copied().map(f64::from).collect();
    let column = |column: usize, power: i32| -> f64 {
        let weights = weights.output[column * units.len()..].iter();
        head[column] + units.iter().zip(weights).map(|(h, &w)| h.powi(power) * f64::from(w)).sum::<f64>()
    };
    let (bucket, buckets) = (usize::from(shape.bucket(board.occ.count_ones())), shape.output_buckets);
    let power = if matches!(shape.kind, Kind::Squared(_)) { 2 } else { 1 };
    match shape.kind {
        Kind::Screlu => column(bucket, 2),
        Kind::Layered(units) => {
            let output = &head[(buckets + bucket) * units..];
            let layer = (0..units).map(|unit| column(bucket * units + unit, 1).clamp(0.0, 1.0) * output[unit]);
            head[2 * buckets * units + bucket] + layer.sum::<f64>()
        }
        Kind::Deep | Kind::Pairwise(_) | Kind::Squared(_) => {
            let neurons = shape.kind.second_layer();
            let own = bucket * HIDDEN_2;
            let second: Vec<f64> =
                (0..neurons).map(|unit| column(bucket * neurons + unit, power).clamp(0.0, 1.0)).collect();
            let (third, rest) = head[buckets * neurons..].split_at(buckets * neurons * HIDDEN_2);
            let third = &third[own * neurons..];
            let (biases, rest) = rest.split_at(buckets * HIDDEN_2);
            let (output, output_biases) = rest.split_at(buckets * HIDDEN_2);
            let sum = |unit: usize| {
                let terms = second.iter().enumerate().map(|(input, value)| value * third[input * HIDDEN_2 + unit]);
                biases[own + unit] + terms.sum::<f64>()
            };
            let last = (0..HIDDEN_2).map(|unit| sum(unit).clamp(0.0, 1.0) * output[own + unit]);
            output_biases[bucket] + last.sum::<f64>()
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
        in_eight(shape(Kind::Layered(16), 64, four_buckets())),
        in_eight(shape(Kind::Deep, 64, [0; 32])),
        shape(Kind::Pairwise(8), 256, four_buckets()),
        shape(Kind::Squared(16), 64, four_buckets()),
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

/// The test above passes without them.
#[cfg(target_arch = "x86_64")]
#[test]
fn instruction_sets_that_this_processor_lacks_are_named() {
    let here = Isa::all();
    for isa in [Isa::Avx2, Isa::Avx512].iter().filter(|isa| !here.contains(isa)) {
        let reason = format!("this processor lacks {isa:?}, so training with it is not tested");
        crate::skip::skip("instruction_sets_that_this_processor_lacks_are_named", &reason);
    }
}

/// Returns the quantised weights of the file as floats.
fn dequantised(shape: &Shape, weights: &Parameters) -> Parameters {
    let round = |values: &[f32], unit: f32| values.iter().map(|value| (value * unit).round() / unit).collect();
    let (first, second, one, grain, fineness) = match shape.kind {
        Kind::Screlu => (255.0, 64.0, 255.0, 1.0, 1.0),
        Kind::Layered(_) | Kind::Deep => (127.0, 64.0, 127.0, 1.0, 1.0),
        Kind::Pairwise(_) | Kind::Squared(_) => (255.0, 64.0, 127.0, 64.0, 16.0),
    };
    let head = match shape.kind {
        Kind::Screlu => round(&weights.head, one * second),
        Kind::Layered(_) | Kind::Deep | Kind::Pairwise(_) | Kind::Squared(_) => {
            let neurons = shape.kind.second_layer();
            let is_deep = !matches!(shape.kind, Kind::Layered(_));
            let third = if is_deep { shape.output_buckets * HIDDEN_2 } else { 0 };
            let last = if is_deep { third } else { shape.columns() };
            let parts = [
                (shape.columns(), one * second),
                (third * neurons, fineness * second),
                (third, grain * fineness * one * second),
                (last, fineness * 6400.0 / 127.0),
                (shape.output_buckets, grain * fineness * 6400.0),
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
        // units that each lose up to a step of 1/127; with squares or products, the inputs do.
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

pub(super) fn write(path: &Path, boards: &[ChessBoard]) {
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
