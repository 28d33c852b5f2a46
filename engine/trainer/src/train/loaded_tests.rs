//! Trained and exported networks in Destrier: the same integer evaluations for every shape.

use super::export;
use super::integer::Integer;
use super::loaded::{LoadedError, check};
use super::network::Parameters;
use super::plan::Plan;
use super::run::{self, Run};
use super::tests::shapes;
use crate::data::record::Position;
use bulletformat::{BulletFormat, ChessBoard};
use destrier::board::Board;
use destrier::datagen::viriformat::GameResult;
use destrier::nnue;
use destrier::types::{Move, MoveList, PieceType, SplitMix64};
use indicatif::ProgressBar;
use std::path::Path;

const STARTS: [&str; 4] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 20",
    "8/PPPk4/8/8/8/8/4Kppp/8 b - - 12 70",
    "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1",
];

/// Returns legal positions from games of random moves, with the material as score.
fn positions(count: usize, seed: u64) -> Vec<Position> {
    let mut random = SplitMix64::from_seeds(&[seed]);
    let mut positions = Vec::new();
    while positions.len() < count {
        let mut board = Board::from_fen(STARTS[random.below(STARTS.len())]).expect("a position");
        for _ in 0..100 {
            let mut moves = MoveList::new();
            board.legal_moves(&mut moves);
            if moves.is_empty() {
                break;
            }
            board.play(moves[random.below(moves.len())]);
            let values =
                [(PieceType::Pawn, 100), (PieceType::Knight, 300), (PieceType::Rook, 500), (PieceType::Queen, 900)];
            let score: i32 = values
                .into_iter()
                .map(|(kind, value)| {
                    let of = |color| (board.kind(kind) & board.colored(color)).count() as i32;
                    value * (of(destrier::types::Color::White) - of(destrier::types::Color::Black))
                })
                .sum();
            let result = GameResult::ALL[random.below(3)];
            positions.push(Position { board, mv: Move::NULL, score: score as i16, result });
        }
    }
    positions.truncate(count);
    positions
}

fn write(path: &Path, positions: &[Position]) {
    let records: Vec<ChessBoard> = positions.iter().map(Position::to_bullet).collect();
    std::fs::write(path, ChessBoard::as_bytes_slice(&records)).expect("a file in a fresh folder");
}

/// Trains and exports a network with these plan keys on positions of random games. Returns the
/// plan.
fn trained(folder: &Path, network: &str) -> Plan {
    write(&folder.join("train.bin"), &positions(2000, 1));
    write(&folder.join("held-out.bin"), &positions(500, 2));
    let text = format!(
        "name = \"net\"\nout = \"run\"\nthreads = 1\n[data]\nfiles = [\"train.bin\"]\nvalidation = [\"held-out.bin\"]\n\
         [network]\n{network}\n[training]\nsuperbatches = 1\nbatches = 40\nbatch = 500\n\
         [rate]\nschedule = \"constant\"\nstart = 0.01\n"
    );
    let path = folder.join("plan.toml");
    std::fs::write(&path, text).expect("a file in a fresh folder");
    let plan = Plan::load(&path).unwrap_or_else(|error| panic!("{error}"));
    let summary = run::run(&plan, &mut std::io::sink()).unwrap_or_else(|error| panic!("{network}: {error}"));
    assert_eq!(summary.same, 500, "{network}: all held-out positions are compared");
    assert!(summary.rounding.worst < 100.0 && summary.rounding.mean > 0.0, "{network}: {:?}", summary.rounding);
    plan
}

#[test]
fn destrier_says_the_trainers_whole_numbers() {
    let by_rank: Vec<String> = (0..32).map(|square| (square / 8).to_string()).collect();
    let buckets = format!("king-buckets = [{}]", by_rank.join(","));
    for network in [
        "hidden = 32\nmirrored = false".to_owned(),
        "hidden = 32\nmirrored = false\noutput-buckets = 1".to_owned(),
        "hidden = 64".to_owned(),
        format!("hidden = 32\n{buckets}"),
        format!("hidden = 32\nfactorised = false\n{buckets}"),
        "kind = \"layered\"\nhidden = 32\noutput-buckets = 1".to_owned(),
        "kind = \"layered\"\nhidden = 64\nmirrored = false\noutput-buckets = 1".to_owned(),
        format!("kind = \"layered\"\nhidden = 32\noutput-buckets = 1\n{buckets}"),
        "kind = \"layered-8\"\nhidden = 32\noutput-buckets = 1".to_owned(),
        "kind = \"layered-16\"\nhidden = 64\noutput-buckets = 1\nfeatures = \"file+rank\"".to_owned(),
        format!("kind = \"layered-64\"\nhidden = 32\noutput-buckets = 1\n{buckets}"),
        "kind = \"deep\"\nhidden = 32\noutput-buckets = 1".to_owned(),
        "kind = \"deep\"\nhidden = 64\noutput-buckets = 1\nfeatures = \"piece+mobility-squares\"".to_owned(),
        format!("kind = \"layered-16\"\nhidden = 64\n{buckets}"),
        "kind = \"deep\"\nhidden = 32\noutput-buckets = 8".to_owned(),
        "kind = \"layered\"\nhidden = 64\noutput-buckets = 1\nfeatures = \"PIECE-MOVE\"".to_owned(),
        format!("kind = \"pairwise-16\"\nhidden = 256\n{buckets}"),
        format!("kind = \"squared-16\"\nhidden = 64\n{buckets}"),
        "kind = \"pairwise-64\"\nhidden = 128\noutput-buckets = 1\nfeatures = \"file+rank\"".to_owned(),
        "hidden = 32\nfeatures = \"file-pairs+rank-pairs+diagonal-pairs+antidiagonal-pairs+piece\"".to_owned(),
        "hidden = 32\nfeatures = \"king-piece\"".to_owned(),
        "hidden = 64\nfactorised = false\nfeatures = \"king-piece\"".to_owned(),
        "hidden = 32\nfeatures = \"king-all+compact\"".to_owned(),
        "hidden = 32\nfeatures = \"king-relative+king-relative-h+king-relative-v+piece\"".to_owned(),
        "hidden = 32\nfeatures = \"mobility-counts+piece+d1+d2\"".to_owned(),
    ] {
        let folder = tempfile::tempdir().expect("a fresh folder");
        let plan = trained(folder.path(), &network);
        // Check the files again on other positions and with the engine's reader.
        let engine = nnue::read_file(&plan.out.join("net.nnue")).expect("a network");
        let file = std::fs::read(plan.out.join("net.nnue")).expect("a network");
        let payload = &file[nnue::HEADER_LEN..];
        let bare = std::fs::read(plan.out.join("quantised.bin")).ok();
        // A bare file has no header, so it is written only for the default shape.
        let is_plain = network == "hidden = 32\nmirrored = false";
        assert_eq!(bare.as_deref(), is_plain.then_some(payload), "{network}");
        let integer = Integer::new(&plan.shape(), payload);
        let mut seen = std::collections::BTreeSet::new();
        for position in positions(1000, 3) {
            let (found, expected) = (engine.evaluate_alone(&position.board), integer.evaluate(&position.to_bullet()));
            assert_eq!(i64::from(found), expected, "{network}: {}", position.board.to_fen(false));
            seen.insert(found);
        }
        assert!(seen.len() > 100, "{network}: the network says little: {} values", seen.len());
    }
}

/// Opens a plan like that of [`trained`], with other keys of the network, `seed` and the trained
/// network as `start`, and exports it untrained. Returns the plan and the file.
fn begun(folder: &Path, seed: u64, network: &str) -> Result<(Plan, Vec<u8>), String> {
    let text = std::fs::read_to_string(folder.join("plan.toml")).expect("the plan");
    let (before, rest) = text.split_once("[network]").expect("a table");
    let (_, after) = rest.split_once("[training]").expect("a table");
    let before = before.replace("out = \"run\"", "out = \"second\"");
    let text = format!("seed = {seed}\n{before}[network]\nstart = \"run/net.nnue\"\n{network}\n[training]{after}");
    let path = folder.join(format!("{seed}.toml"));
    std::fs::write(&path, text).expect("a file in a fresh folder");
    let plan = Plan::load(&path).unwrap_or_else(|error| panic!("{error}"));
    let run = Run::open(&plan).map_err(|error| error.to_string())?;
    run.export().unwrap_or_else(|error| panic!("{error}"));
    drop(run);
    let file = std::fs::read(plan.out.join("net.nnue")).expect("a network");
    Ok((plan, file))
}

/// The first layer is that of the start, and the layers after it follow from the seed; the neurons
/// are in the order of the export.
#[test]
fn a_training_begins_with_the_first_layer_of_another_kind() {
    let folder = tempfile::tempdir().expect("a fresh folder");
    let first = trained(folder.path(), "hidden = 32");
    let start = std::fs::read(first.out.join("net.nnue")).expect("a network");
    let buckets: Vec<_> = (0..32).map(|square| square / 8).collect();
    let keys = format!("kind = \"layered-16\"\nhidden = 32\nking-buckets = {buckets:?}");
    for seed in [7, 8] {
        let (plan, file) = begun(folder.path(), seed, &keys).expect("a run");
        let shape = plan.shape();
        assert_eq!(shape.layout().describe(), "(768x4hm -> 32)x2 -> (16 -> 1)x8");
        let numbers = |file: &[u8], from: usize, count: usize| -> Vec<f64> {
            let bytes = &file[nnue::HEADER_LEN + 2 * from..][..2 * count];
            bytes.as_chunks::<2>().0.iter().map(|bytes| f64::from(i16::from_le_bytes(*bytes))).collect()
        };
        let weights = 768 * 32;
        let mut expected = numbers(&start, 0, weights).repeat(4);
        expected.extend(numbers(&start, weights, 32));
        let found = numbers(&file, 0, 4 * weights + 32);
        // The unit is 127 instead of 255.
        let is_near = |(found, expected): (&f64, &f64)| (found - expected * 127.0 / 255.0).abs() < 0.51;
        let of =
            |numbers: &[f64], neuron: usize| -> Vec<f64> { numbers.iter().skip(neuron).step_by(32).copied().collect() };
        let source = |neuron: usize| {
            let found = of(&found, neuron);
            (0..32)
                .find(|&source| found.iter().zip(&of(&expected, source)).all(is_near))
                .expect("a neuron of the start")
        };
        let order: Vec<usize> = (0..32).map(source).collect();
        assert!((0..32).all(|neuron| order.contains(&neuron)), "seed {seed}: {order:?}");
        let random = export::payload(&shape, &Parameters::random(&shape, seed)).expect("weights in range");
        let (second, rest) = random[2 * (4 * weights + 32)..].split_at(8 * 16 * 64);
        let expected = second.chunks_exact(32).flat_map(|side| order.iter().map(|&neuron| side[neuron]));
        let expected: Vec<u8> = expected.chain(rest.iter().copied()).collect();
        assert!(file[nnue::HEADER_LEN + 2 * (4 * weights + 32)..] == expected, "seed {seed}");
    }
    let mut told = Vec::new();
    let (plan, _) = begun(folder.path(), 9, &keys).expect("a run");
    run::run(&plan, &mut told).unwrap_or_else(|error| panic!("{error}"));
    let told = String::from_utf8(told).expect("text");
    assert!(
        told.starts_with("net: only the first layer is that of `start`; the layers after it are random\n"),
        "{told}"
    );
}

#[test]
fn each_output_bucket_begins_with_a_network_of_one() {
    for (kind, hidden) in [("screlu", 32), ("layered-8", 32), ("deep", 32), ("squared-16", 32), ("pairwise-8", 128)] {
        let folder = tempfile::tempdir().expect("a fresh folder");
        let keys = |buckets: usize| format!("kind = \"{kind}\"\nhidden = {hidden}\noutput-buckets = {buckets}");
        let first = trained(folder.path(), &keys(1));
        let start = nnue::read_file(&first.out.join("net.nnue")).expect("a network");
        let (_, file) = begun(folder.path(), 7, &keys(8)).expect("a run");
        let network = nnue::parse(&file).expect("a network");
        assert_eq!((start.layout().output_buckets, network.layout().output_buckets), (1, 8));
        for Position { board, .. } in positions(1000, 3) {
            let expected = start.evaluate_alone(&board);
            assert_eq!(network.evaluate_alone(&board), expected, "{kind}: {}", board.to_fen(false));
        }
    }
}

#[test]
fn each_king_bucket_begins_with_a_network_without_buckets() {
    for kind in ["", "kind = \"deep\"\noutput-buckets = 1\n"] {
        let folder = tempfile::tempdir().expect("a fresh folder");
        let first = trained(folder.path(), &format!("{kind}hidden = 32"));
        let start = nnue::read_file(&first.out.join("net.nnue")).expect("a network");
        let text = std::fs::read_to_string(folder.path().join("plan.toml")).expect("the plan");
        let buckets: Vec<_> = (0..32).map(|square| square / 8).collect();
        let planned = |out: &str, keys: &str| {
            let keys = format!("hidden = 32\nstart = \"run/net.nnue\"\n{keys}");
            let text = text.replace("hidden = 32", &keys).replace("out = \"run\"", &format!("out = \"{out}\""));
            let path = folder.path().join("second.toml");
            std::fs::write(&path, text).expect("a file in a fresh folder");
            Plan::load(&path).unwrap_or_else(|error| panic!("{error}"))
        };
        let plan = planned("second", &format!("king-buckets = {buckets:?}"));
        let mut begun = Run::open(&plan).unwrap_or_else(|error| panic!("{error}"));
        let read = |run: &Run| {
            run.export().unwrap_or_else(|error| panic!("{error}"));
            nnue::read_file(&folder.path().join("second/net.nnue")).expect("a network")
        };
        let before = read(&begun);
        begun.superbatch(&ProgressBar::hidden()).expect("a superbatch");
        let after = read(&begun);
        assert_eq!((start.layout().king_buckets, before.layout().king_buckets), (1, 4));
        let mut changes = 0;
        for Position { board, .. } in positions(1000, 3) {
            let found = before.evaluate_alone(&board);
            assert_eq!(found, start.evaluate_alone(&board), "{kind}: {}", board.to_fen(false));
            changes += usize::from(after.evaluate_alone(&board) != found);
        }
        assert!(changes > 100, "{kind}: {changes} changes by training");
        // Without mirroring the weights are of other inputs.
        let error = Run::open(&planned("third", "mirrored = false")).map(|_| ()).expect_err("other inputs").to_string();
        assert!(
            error.contains(
                "of the same shape; a network file may have no or larger king buckets, one output bucket, or"
            ),
            "{error}"
        );
    }
}

#[test]
fn each_king_bucket_begins_with_the_larger_one_of_its_squares() {
    let folder = tempfile::tempdir().expect("a fresh folder");
    let keys = |bucket: fn(usize) -> usize| {
        format!("hidden = 32\nking-buckets = {:?}", (0..32).map(bucket).collect::<Vec<_>>())
    };
    let first = trained(folder.path(), &keys(|square| square / 8));
    let start = nnue::read_file(&first.out.join("net.nnue")).expect("a network");
    let (_, file) = begun(folder.path(), 7, &keys(|square| square / 4)).expect("a run");
    let network = nnue::parse(&file).expect("a network");
    assert_eq!((start.layout().king_buckets, network.layout().king_buckets), (4, 8));
    for Position { board, .. } in positions(1000, 3) {
        assert_eq!(network.evaluate_alone(&board), start.evaluate_alone(&board), "{}", board.to_fen(false));
    }
    let error = begun(folder.path(), 8, &keys(|square| square % 4)).expect_err("other buckets");
    assert!(
        error.contains("king buckets [0, 0, 0, 0, 0, 0, 0, 0, 1") && error.contains("no or larger king buckets"),
        "{error}"
    );
}

/// The noise of the copies and the rounding of their shares change evaluations a little.
#[test]
fn neurons_begin_as_copies_of_those_of_a_narrower_network() {
    for (kind, hidden, wide) in [("screlu", 32, 64), ("layered-8", 32, 96), ("squared-8", 32, 64), ("deep", 64, 128)] {
        let folder = tempfile::tempdir().expect("a fresh folder");
        let keys = |hidden: usize| format!("kind = \"{kind}\"\nhidden = {hidden}");
        let first = trained(folder.path(), &keys(hidden));
        let bytes = std::fs::read(first.out.join("net.nnue")).expect("a network");
        let start = nnue::parse(&bytes).expect("a network");
        let (_, file) = begun(folder.path(), 7, &keys(wide)).expect("a run");
        let network = nnue::parse(&file).expect("a network");
        assert_eq!((start.layout().hidden, network.layout().hidden), (hidden, wide));
        let (mut differences, mut total) = (0, 0);
        for Position { board, .. } in positions(1000, 3) {
            let (found, expected) = (network.evaluate_alone(&board), start.evaluate_alone(&board));
            differences += (found - expected).abs();
            total += expected.abs();
        }
        assert!(differences > 0 && differences < total / 20, "{kind}: {differences} of {total}");
        let before = export::dequantised(&first.shape(), nnue::weights(&bytes, start.layout()));
        let after = before.clone().in_copies(wide / hidden, 7);
        for (row, expected) in after.features.chunks_exact(wide).zip(before.features.chunks_exact(hidden)) {
            for (neuron, expected) in expected.iter().enumerate() {
                let copies: Vec<f32> = row.iter().skip(neuron).step_by(hidden).copied().collect();
                let mean = copies.iter().sum::<f32>() / copies.len() as f32;
                assert!((mean - expected).abs() < 1e-5, "{kind}: {copies:?} of {expected}");
                assert!(copies[0] != copies[1], "{kind}: {copies:?}");
            }
        }
    }
    // Each 64 neurons of a pairwise kind belong together, so they have no copies.
    let folder = tempfile::tempdir().expect("a fresh folder");
    trained(folder.path(), "kind = \"pairwise-8\"\nhidden = 128");
    let error = begun(folder.path(), 7, "kind = \"pairwise-8\"\nhidden = 256").expect_err("no copies");
    assert!(error.contains("except in pairwise kinds, a number of neurons that divides the plan's"), "{error}");
}

#[test]
fn another_networks_numbers_are_noticed() {
    let folder = tempfile::tempdir().expect("a fresh folder");
    let plan = trained(folder.path(), "hidden = 32");
    let path = plan.out.join("net.nnue");
    let bytes = std::fs::read(&path).expect("a network");
    let mut payload = bytes[nnue::HEADER_LEN..].to_vec();
    let records: Vec<ChessBoard> = positions(50, 4).iter().map(Position::to_bullet).collect();
    assert_eq!(check(&path, &bytes, &Integer::new(&plan.shape(), &payload), &records).ok(), Some(50));
    // Overwrite the eight output biases of two bytes each.
    let biases = 2 * (768 * 32 + 32 + 8 * 64);
    payload[biases..biases + 16].fill(0x40);
    let error = check(&path, &bytes, &Integer::new(&plan.shape(), &payload), &records).expect_err("other biases");
    assert!(matches!(error, LoadedError::Differs { .. }), "{error}");
    let refused = check(&path, b"DESTRIER", &Integer::new(&plan.shape(), &payload), &records).expect_err("no network");
    assert!(refused.to_string().contains("cannot load"), "{refused}");
    // Another export replaces a damaged file.
    std::fs::write(&path, b"DESTRIER").expect("the run's folder");
    let summary = Run::open(&plan).and_then(|run| run.export()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(summary.same, 500);
}

#[test]
fn rounded_weights_round_to_themselves() {
    for shape in shapes() {
        let payload = export::payload(&shape, &Parameters::random(&shape, 3)).expect("small weights");
        let again = export::dequantised(&shape, &payload);
        assert_eq!(export::payload(&shape, &again).expect("the same weights"), payload, "{shape:?}");
    }
}

/// As long as the SCReLU network says less than 28 pawns, the squared one says the same but for the
/// rounding of squares to 127ths and, beyond 9 pawns, of small weights.
#[test]
fn a_squared_network_begins_with_the_evaluation_of_a_screlu_one() {
    for (buckets, kind) in [(8, "squared-16"), (1, "squared-8")] {
        let folder = tempfile::tempdir().expect("a fresh folder");
        let first = trained(folder.path(), &format!("hidden = 32\noutput-buckets = {buckets}"));
        let start = nnue::read_file(&first.out.join("net.nnue")).expect("a network");
        let (plan, file) = begun(folder.path(), 7, &format!("kind = \"{kind}\"\nhidden = 32")).expect("a run");
        assert_eq!(plan.shape().output_buckets, 8);
        let network = nnue::parse(&file).expect("a network");
        // The optimiser would clip larger weights in its first step.
        let weights = export::dequantised(&plan.shape(), nnue::weights(&file, network.layout()));
        assert!(weights.output.iter().chain(&weights.head).all(|weight| weight.abs() < 1.985), "{kind}");
        let (mut seen, mut total) = (0, 0);
        for Position { board, .. } in positions(1000, 3) {
            let expected = start.evaluate_alone(&board);
            if expected.abs() < 2800 {
                let error = (network.evaluate_alone(&board) - expected).abs();
                assert!(error < 40 + expected.abs() / 10, "{kind}: {error} from {expected}, {}", board.to_fen(false));
                (seen, total) = (seen + 1, total + error);
            }
        }
        assert!(seen > 500 && total < 8 * seen, "{kind}: {total} in {seen} positions");
    }
}
