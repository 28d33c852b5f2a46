//! Training on triplets compared with a slow reference implementation, and its data.

use super::dispatch::Isa;
use super::kernels::Step;
use super::network::{Parameters, Shape};
use super::plan::Plan;
use super::run::{self, Run};
use super::source::{Records, Source};
use super::tests::{STEP, assert_slopes, fresh, positions, reference, set_shape, shape, train};
use super::trainer::{Batch, Trainer, TrainingMethod};
use super::triplet::{TripletForm, TripletLoss, TripletSpace};
use crate::data::TRIPLET_MARKS;
use bulletformat::{BulletFormat, ChessBoard};
use destrier::nnue::Kind;
use indicatif::ProgressBar;
use std::path::Path;

const GAIN: f32 = 400.0 / 361.0;

fn losses() -> [TripletLoss; 3] {
    let logistic = TripletForm::Logistic { equality: 2.0 };
    [
        TripletLoss { space: TripletSpace::Wdl, form: logistic, gain: GAIN },
        TripletLoss { space: TripletSpace::Raw, form: logistic, gain: GAIN },
        TripletLoss { space: TripletSpace::Wdl, form: TripletForm::Margin { margin: 0.3 }, gain: GAIN },
    ]
}

fn triplets(count: usize, seed: u64) -> Vec<ChessBoard> {
    let mut boards = positions(3 * count, seed);
    boards.iter_mut().zip(TRIPLET_MARKS.iter().cycle()).for_each(|(board, mark)| board.extra = *mark);
    boards
}

/// Mean loss of triplets by the formulas of the definition.
fn reference_loss(shape: &Shape, weights: &Parameters, loss: TripletLoss, boards: &[ChessBoard]) -> f64 {
    let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
    let value = |board: &ChessBoard| {
        let x = f64::from(loss.gain) * reference(shape, weights, board);
        if loss.space == TripletSpace::Raw { x } else { 2.0 * sigmoid(x) - 1.0 }
    };
    let of = |boards: &[ChessBoard; 3]| {
        let [p, q, r] = boards.each_ref().map(value);
        match loss.form {
            TripletForm::Logistic { equality } => {
                -sigmoid(r - q).ln() - f64::from(equality) * (sigmoid(p + q).ln() + sigmoid(-p - q).ln())
            }
            TripletForm::Margin { margin } => ((p + q).abs() - (p + r).abs() + f64::from(margin)).max(0.0),
        }
    };
    let (boards, _) = boards.as_chunks::<3>();
    boards.iter().map(of).sum::<f64>() / boards.len() as f64
}

fn shapes() -> [Shape; 3] {
    [shape(Kind::Screlu, 32, [0; 32]), shape(Kind::LAYERED, 32, [0; 32]), set_shape(Kind::Deep, 32, "piece+file")]
}

#[test]
fn gradients_of_triplets_are_finite_differences() {
    let boards = triplets(14, 21);
    for (shape, loss) in shapes().into_iter().flat_map(|shape| losses().map(|loss| (shape.clone(), loss))) {
        let state = fresh(&shape, 2);
        let mut trainer = Trainer::new(shape.clone(), 1, &state);
        let step = Step { rate: 0.0, beta1: 0.0, ..STEP };
        let batch = Batch { positions: boards.clone(), method: TrainingMethod::Pqr(loss), step };
        let found = train(&mut trainer, vec![batch])[0];
        let expected = reference_loss(&shape, &state[0], loss, &boards);
        assert!((found - expected).abs() < 1e-4, "{shape:?}: {found} for {expected}");
        let [_, gradient, _] = trainer.state();
        let loss_of = |weights: &Parameters| reference_loss(&shape, weights, loss, &boards);
        assert_slopes(&state[0], &gradient, (5, 2e-5), loss_of, &format!("{shape:?}, {loss:?}"));
    }
}

/// Trains on batches of several rounds, the last of which is not full.
#[test]
fn rounds_and_threads_tear_no_triplet() {
    let loss = losses()[0];
    for shape in [shape(Kind::Screlu, 64, [0; 32]), shape(Kind::LAYERED, 64, [0; 32])] {
        let boards = triplets(800, 22);
        let state = fresh(&shape, 4);
        let still = Step { rate: 0.0, ..STEP };
        let mut trainer = Trainer::new(shape.clone(), 2, &state);
        let batch = |step| Batch { positions: boards.clone(), method: TrainingMethod::Pqr(loss), step };
        let found = train(&mut trainer, vec![batch(still)])[0];
        let outputs = trainer.outputs(&boards);
        let of = outputs.as_chunks::<3>().0.iter().map(|outputs| f64::from(loss.of(*outputs).0));
        let expected = of.sum::<f64>() / 800.0;
        assert!((found - expected).abs() < 1e-5, "{shape:?}: {found} for {expected}");
        let run = |threads: usize, isa: Isa| {
            let mut trainer = Trainer::new(shape.clone(), threads, &state);
            trainer.set_isa(isa);
            let losses = train(&mut trainer, vec![batch(STEP); 3]);
            (losses, trainer.state())
        };
        let expected = run(1, Isa::Portable);
        assert!(expected.0[2] < expected.0[0]);
        for threads in [1, 2, 3] {
            assert!(run(threads, Isa::detect()) == expected, "{shape:?}, {threads} threads");
        }
    }
}

fn write(path: &Path, boards: &[ChessBoard]) {
    std::fs::write(path, ChessBoard::as_bytes_slice(boards)).expect("a file in a fresh folder");
}

#[test]
fn a_pass_hands_out_whole_triplets() {
    let folder = tempfile::tempdir().expect("a fresh folder");
    let path = folder.path().join("a.pqr");
    let boards = triplets(100, 23);
    write(&path, &boards);
    let open = |position| {
        let records = Records::open(std::slice::from_ref(&path)).expect("a file");
        Source::of_triplets(records, 3 * 90 + 2, 3, position).expect("triplets")
    };
    let passes = open(0).take(2 * 270).expect("readable");
    for pass in passes.chunks(270) {
        let mut found: Vec<_> = pass.as_chunks::<3>().0.to_vec();
        let mut expected: Vec<_> = boards[..270].as_chunks::<3>().0.to_vec();
        let bytes = |triplet: &[ChessBoard; 3]| ChessBoard::as_bytes_slice(triplet).to_vec();
        found.sort_by_key(bytes);
        expected.sort_by_key(bytes);
        assert!(found == expected);
    }
    assert!(passes[..270] != passes[270..] && passes[..270] != boards[..270]);
    assert!(open(150).take(90).expect("readable") == passes[150..240]);
    // Nor are they positions with scores and results of their own.
    let mut mixed = positions(40, 24);
    mixed.extend(triplets(1, 25));
    let (plain, marked) = (folder.path().join("plain.bin"), folder.path().join("marked.bin"));
    write(&plain, &positions(20, 26));
    write(&marked, &mixed);
    let mut records = Records::open(&[plain, marked]).expect("two files");
    assert_eq!(records.read_positions(0, 60).expect("positions").len(), 60);
    let error = records.read_positions(0, 63).expect_err("a triplet").to_string();
    assert!(error.contains("marked.bin: record 40 is of a triplet; name the file in `data.triplets`"), "{error}");
    let error = Source::new(records, 63, 3, 0).and_then(|mut source| source.take(63)).expect_err("a triplet");
    assert!(error.to_string().contains("marked.bin: record 40"), "{error}");
    write(&path, &boards[1..]);
    let error = open(0).take(3).expect_err("no triplets").to_string();
    assert!(error.contains("a.pqr: record 0 is not at its place in a triplet"), "{error}");
}

const PLAN: &str = "name = \"small\"\nout = \"OUT\"\nseed = 5\nthreads = 2\n[data]\nfiles = [\"data.bin\"]\n\
    validation = [\"held-out.bin\"]\ntriplets = [\"a.pqr\"]\n[network]\nhidden = 64\n[training]\nmethod = \"METHOD\"\n\
    superbatches = 4\nbatches = 3\nbatch = 302\n[rate]\nschedule = \"constant\"\nstart = 0.001\n";

fn plan(folder: &Path, out: &str, method: &str, more: &str) -> Plan {
    let path = folder.join(format!("{out}.toml"));
    let text =
        PLAN.replace("OUT", out).replace("METHOD", method).replace("hidden = 64", &format!("hidden = 64\n{more}"));
    std::fs::write(&path, text).expect("a file in a fresh folder");
    Plan::load(&path).expect("a sound plan")
}

#[test]
fn triplets_train_from_scratch_from_a_checkpoint_and_mixed() {
    let folder = tempfile::tempdir().expect("a fresh folder");
    let place = |name: &str| folder.path().join(name);
    write(&place("data.bin"), &positions(1000, 24));
    write(&place("held-out.bin"), &positions(200, 25));
    write(&place("a.pqr"), &triplets(500, 26));
    for method in ["pqr", "mixed"] {
        let straight = plan(folder.path(), &format!("{method}-straight"), method, "");
        let mut out = Vec::new();
        let expected = run::run(&straight, &mut out).expect("a run");
        let told = String::from_utf8(out).expect("text");
        assert!(told.contains("% in order"), "{told}");
        let before = "small: before training, correlation of P and Q ";
        assert!(told.starts_with(before) && told.contains("R above Q in"), "{told}");
        let drawn = ["before", "after"].map(|stage| {
            let svg = place(&format!("{method}-straight/triplets-{stage}.svg"));
            std::fs::read_to_string(svg).expect("a picture")
        });
        assert!(drawn[0].contains("before training") && drawn[1].contains("after training"));
        // A superbatch of three batches ends within a turn of the mixed method.
        for stop in 1..3 {
            let stopped = plan(folder.path(), &format!("{method}-{stop}"), method, "");
            let mut begun = Run::open(&stopped).expect("a run");
            for _ in 0..stop {
                begun.superbatch(&ProgressBar::hidden()).expect("a superbatch");
            }
            drop(begun);
            let resumed = run::run(&stopped, &mut std::io::sink()).expect("the rest of the run");
            assert_eq!((resumed.curve, resumed.hash), (expected.curve.clone(), expected.hash.clone()), "{method}");
        }
    }
    let start = "start = \"mixed-straight/checkpoint.bin\"";
    let tuned = run::run(&plan(folder.path(), "tuned", "pqr", start), &mut std::io::sink()).expect("a run");
    let scratch = run::run(&plan(folder.path(), "pqr-straight", "pqr", ""), &mut std::io::sink()).expect("a run");
    assert_ne!(tuned.hash, scratch.hash);
}

#[test]
fn mistakes_of_methods_are_named() {
    let folder = tempfile::tempdir().expect("a fresh folder");
    let path = folder.path().join("plan.toml");
    for (from, to, says) in [
        ("triplets = [\"a.pqr\"]\n", "", "line 1, `triplets` is not given: name a file of `data triplets`"),
        ("METHOD", "eval", "`triplets` is given: set `method`"),
        ("validation = [\"held-out.bin\"]\n", "", "`validation` is empty: name held-out positions"),
        ("batch = 302", "batch = 2", "`batch` is 2: give 3 positions or more"),
        ("METHOD\"", "pqr\"\npqr-equality = -1", "`pqr-equality` is -1"),
        ("METHOD\"", "pqr\"\npqr-equality = 1\npqr-margin = 0.1", "leave one out"),
        ("METHOD", "qpr", "unknown variant"),
    ] {
        let text = PLAN.replace(from, to).replace("METHOD", "pqr");
        let error = Plan::parse(&path, &text).expect_err(says).to_string();
        assert!(error.contains(says), "{error}");
    }
}
