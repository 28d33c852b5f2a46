//! Tests of the tuner on positions with known optimal weights, and of its error messages.

use std::num::NonZeroUsize;
use std::path::Path;

use destrier::board::Board;
use destrier::datagen::viriformat::NO_SCORE;
use destrier::eval::layout::{BISHOP_PAIR, BLOCKS, COUNT, MATERIAL, TEMPO};
use destrier::eval::{render_weights, trace};
use destrier::types::MoveList;
use quintain::text::from_toml;

use super::plan::{Fit, Method, Start, TexelData, TexelPlan};
use super::samples::Samples;
use super::*;
use crate::data::record::Position;

const K: f32 = 0.006;

/// Returns positions of random games from a fixed seed.
fn boards(count: usize) -> Vec<Board> {
    let mut boards = Vec::new();
    let mut state = 7_u64;
    while boards.len() < count {
        let mut board = Board::startpos();
        for _ in 0..120 {
            let mut moves = MoveList::new();
            board.legal_moves(&mut moves);
            if moves.is_empty() {
                break;
            }
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            board.play(moves[(state >> 33) as usize % moves.len()]);
            if !board.in_check() {
                boards.push(board);
            }
        }
    }
    boards.truncate(count);
    boards
}

/// Creates random positions with the predictions of `truth` as targets.
fn samples(count: usize, truth: &Weights) -> Samples {
    let mut samples = Samples::default();
    for board in boards(count) {
        samples.push(&trace(&board), None, 0.5);
    }
    samples.aim_at(truth, K);
    samples
}

fn parts(count: usize, truth: &Weights) -> (Samples, Samples) {
    samples(count, truth).split(1, NonZeroUsize::new(8).expect("8"), 0.2).expect("enough")
}

/// Returns `truth` with changes to some weights, which a fit has to recover.
fn disturbed(truth: &Weights) -> Weights {
    let mut start = truth.clone();
    for index in [MATERIAL.at(1), MATERIAL.at(3), BISHOP_PAIR.at(0), TEMPO.at(0)] {
        start[index] = [start[index][0] - 25.0, start[index][1] + 20.0];
    }
    start
}

/// Returns the names of all blocks except the disturbed ones.
fn others() -> Vec<String> {
    let moved = ["MATERIAL", "BISHOP_PAIR", "TEMPO"];
    BLOCKS.iter().map(|block| block.name).filter(|name| !moved.contains(name)).map(str::to_owned).collect()
}

fn fitted(method: Method, threads: usize) -> (Weights, FitResult) {
    let truth = start_weights(Start::Engine);
    let (training, test) = parts(2000, &truth);
    // Plain descent needs a high rate and many epochs, because the loss is flat in some directions.
    let (rate, decay, epochs) = if method == Method::Descent { (60_000.0, 1.0, 500) } else { (3.0, 0.97, 120) };
    let fit = Fit {
        method,
        epochs,
        batch: NonZeroUsize::new(512).expect("512"),
        rate,
        decay,
        l2: 0.0,
        patience: 30,
        anchored: others(),
        ..Fit::default()
    };
    let start = disturbed(&truth);
    let fitted = match method {
        Method::Local => local::fit(&fit, (&training, &test), &start, K, threads),
        Method::Adam | Method::Descent => descent::fit(&fit, (&training, &test), &start, K, threads),
    };
    (truth, fitted)
}

#[test]
fn every_method_finds_the_weights_again() {
    // The local search moves along the axes and stops early in a diagonal valley.
    for (method, tolerance) in [(Method::Adam, 4.0), (Method::Descent, 12.0), (Method::Local, 10.0)] {
        let (truth, fitted) = fitted(method, 2);
        let far = |weights: &Weights| -> f32 {
            weights.iter().zip(&truth).flat_map(|(a, b)| [(a[0] - b[0]).abs(), (a[1] - b[1]).abs()]).fold(0.0, f32::max)
        };
        assert!(far(&disturbed(&truth)) >= 25.0);
        let off = far(&fitted.weights);
        let (first, last) = (fitted.epochs[0].test, fitted.epochs[fitted.epochs.len() - 1].test);
        assert!(off <= tolerance, "{method:?}: {off} centipawns off, loss {} to {}", first.mean(), last.mean());
        assert!(last.mean() < first.mean(), "{method:?}");
    }
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    for method in [Method::Adam, Method::Local] {
        let (one, four) = (fitted(method, 1).1, fitted(method, 4).1);
        assert!(one.weights == four.weights && one.epochs == four.epochs, "{method:?}");
    }
}

#[test]
fn k_is_found_and_the_gradient_is_the_slope_of_the_loss() {
    let truth = start_weights(Start::Engine);
    let samples = samples(500, &truth);
    let k = loss::fit_k(&samples, &truth, 2);
    assert!((k / K - 1.0).abs() < 0.01 && !loss::is_least(k) && !loss::is_greatest(k), "{k}");
    // Of the opposite weights, the least of all factors is the best.
    let opposite: Vec<_> = truth.iter().map(|pair| pair.map(|weight| -weight)).collect();
    assert!(loss::is_least(loss::fit_k(&samples, &opposite, 2)));

    let start = disturbed(&truth);
    let all = 0..samples.len();
    let (_, slopes) = loss::gradient(&samples, &[all], &start, K, 1);
    for (index, half) in [(MATERIAL.at(0), 0), (MATERIAL.at(1), 1), (MATERIAL.at(4), 0), (TEMPO.at(0), 1)] {
        let at = |by: f32| {
            let mut weights = start.clone();
            weights[index][half] += by;
            loss::measure(&samples, &weights, K, 1).mean()
        };
        let slope = (at(2.0) - at(-2.0)) / 4.0;
        let given = f64::from(slopes[index][half]);
        assert!((slope - given).abs() < 0.02 * slope.abs() + 2e-6, "{index} {half}: {slope} against {given}");
    }
}

fn data(text: &str) -> TexelData {
    from_toml(Path::new("p.toml"), &format!("files = [\"x\"]\n{text}")).expect("data")
}

const FEN: &str = "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq -";

#[test]
fn results_are_read_in_the_usual_notations() {
    let table = [
        (format!("{FEN} 2 3 | 31 | 1.0"), 31, 2),
        (format!("{FEN} 2 3 | 0-1"), NO_SCORE, 0),
        (format!("{FEN} c9 \"1-0\";"), NO_SCORE, 2),
        (format!("{FEN} hmvc 2; c9 \"1/2-1/2\";"), NO_SCORE, 1),
        (format!("{FEN} id \"1\"; c9 \"0-1\";"), NO_SCORE, 0),
        (format!("{FEN} 0 1 [1.0]"), NO_SCORE, 2),
        (format!("{FEN} 0 1 [0.5] 12"), NO_SCORE, 1),
        (format!("{FEN} \"0-1\""), NO_SCORE, 0),
        (format!("{FEN} 2 3 1/2-1/2"), NO_SCORE, 1),
        (format!("{FEN} 2 3 0"), NO_SCORE, 0),
        (format!("{FEN} hmvc 0; fmvn 1; 0-1;"), NO_SCORE, 0),
        (format!("{FEN} hmvc 0; fmvn 1; 1"), NO_SCORE, 2),
        (format!("{FEN} c9 1/2;"), NO_SCORE, 1),
    ];
    for (line, score, result) in table {
        let Position { board, score: found_score, result: found, .. } = input::parse_position(&line).expect(&line);
        assert_eq!((found_score, found.half_points()), (score, result), "{line}");
        assert!(board.to_fen(false).starts_with("r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w"), "{line}");
    }
}

#[test]
fn games_and_positions_are_told_apart_by_their_moves() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("a.epd");
    let mut data = data("quiet = false");
    data.files = vec![file.clone()];
    for (line, count) in [
        (format!("{FEN} 2 3;f3e5:1 c6e5:2;1.0"), 2),
        (format!("{FEN} bm Bb5; id \"WAC:001\"; c9 \"1-0\";"), 1),
        (format!("{FEN} id \"a\"; c0 \"e2e4: a move\"; c9 \"1-0\";"), 1),
        ("8/4P1k1/8/8/8/8/8/4K3 w - - 0 1;e7e8q:900;1.0".to_owned(), 1),
    ] {
        std::fs::write(&file, format!("{line}\n")).expect("written");
        let samples = input::read(&data, 1).unwrap_or_else(|error| panic!("{line}: {error}"));
        assert_eq!(samples.len(), count, "{line}");
    }
}

#[test]
fn bad_lines_are_told_by_file_and_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("a.epd");
    let table = [
        (format!("{FEN} 2 3"), "no result"),
        (format!("{FEN} hmvc 0; fmvn 1;"), "no result"),
        (format!("{FEN} 2 3 | x | 1.0"), "bad score `x`"),
        (format!("{FEN} 2 3 | 7 | 0.7"), "bad result `0.7`"),
        ("nonsense".to_owned(), "bad position"),
        (format!("{FEN} 2 3;f3e5:1 a1a8:2;1.0"), "bad move `a1a8`, expected a legal one"),
    ];
    for (line, words) in table {
        std::fs::write(&file, format!("# two good lines\n{FEN} [0.5]\n\n{line}\n")).expect("written");
        let mut data = data("quiet = false");
        data.files = vec![file.clone()];
        let error = input::read(&data, 2).expect_err(&line).to_string();
        assert!(error.contains("a.epd: line 4: ") && error.contains(words) && !error.contains('\n'), "{error}");
    }
    std::fs::write(&file, b"# a good line\n\xff\xfe\n").expect("written");
    let error = input::read(&TexelData { files: vec![file], ..data("") }, 1).expect_err("no text").to_string();
    assert!(error.contains("a.epd: line 2: not UTF-8"), "{error}");
    let error = input::read(&data(""), 1).expect_err("no file").to_string();
    assert!(error.starts_with("x: cannot read it: "), "{error}");
}

#[test]
fn packed_files_read_like_plain_ones_and_the_filter_takes_quiet_positions() {
    let folder = tempfile::tempdir().expect("a folder");
    // A knight is capturable after 2... Nxe4, 3. Bxf7 gives check, and the rest is quiet.
    let game =
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1;e2e4:30 g8f6:-20 f1c4:0 f6e4:90 c4f7:-80 e8f7:300;0";
    let text = format!("{FEN} [0.5]\n{game}\n");
    let packed =
        |text: &str| ruzstd::encoding::compress_to_vec(text.as_bytes(), ruzstd::encoding::CompressionLevel::Fastest);
    std::fs::write(folder.path().join("a.txt"), &text).expect("written");
    std::fs::write(folder.path().join("a.txt.zst"), packed(&text)).expect("written");
    let read = |name: &str, quiet: bool| {
        let mut data = data(&format!("quiet = {quiet}"));
        data.files = vec![folder.path().join(name)];
        input::read(&data, 1).expect(name)
    };
    assert_eq!(read("a.txt", false).len(), 7);
    // After 3. Bxf7+ Black is in check. 2... Nxe4, winning a pawn and recapturing a piece are not
    // quiet moves.
    assert_eq!(read("a.txt", true).len(), 4);
    // Missing scores are NaN, which is unequal to itself, so the debug texts are compared.
    assert_eq!(format!("{:?}", read("a.txt", true)), format!("{:?}", read("a.txt.zst", true)));
    let frames: Vec<u8> = text.lines().flat_map(|line| packed(&format!("{line}\n"))).collect();
    std::fs::write(folder.path().join("b.txt.zst"), frames).expect("written");
    assert_eq!(read("b.txt.zst", false).len(), 7);
    // Moves before the first search of a self-play game have no scores.
    std::fs::write(folder.path().join("c.txt"), game.replace("e2e4:30", "e2e4:-")).expect("written");
    assert_eq!(read("c.txt", false).len(), 6);
}

#[test]
fn plans_are_checked() {
    let base = "[data]\nfiles = [\"a\"]\n[output]\nweights = \"w\"\n";
    assert!(TexelPlan::parse(Path::new("p.toml"), base).is_ok());
    let table = [
        ("[fit]\nepoch = 3", "p.toml:6:1: unknown key `epoch`, did you mean `epochs`?"),
        ("[fit]\nmethod = \"newton\"", "p.toml:6:10: unknown variant `newton`"),
        ("[fit]\nrate = 0.0", "p.toml:6: fit.rate = 0: expected a number above 0"),
        ("[fit]\ntest-share = 1.0", "p.toml:6: fit.test-share = 1: expected between 0 and 1"),
        ("[fit]\nanchored = [\"MATERIEL\"]", "did you mean `MATERIAL`?"),
        ("[fit]\nbatch = 0", "p.toml:6:9: "),
        ("[fit]\nseed = 2\n\nepochs = 0 # none", "p.toml:8: fit.epochs = 0: expected 1 or more"),
        ("[fit]\nk = -1", "p.toml:6: fit.k = -1: "),
    ];
    for (lines, words) in table {
        let error = TexelPlan::parse(Path::new("p.toml"), &format!("{base}{lines}\n")).expect_err(lines).to_string();
        assert!(error.contains(words) && !error.contains('\n'), "{error}");
    }
    let error = TexelPlan::load(Path::new("/nowhere/p.toml")).expect_err("no plan").to_string();
    assert!(error.starts_with("cannot read /nowhere/p.toml: "), "{error}");
}

#[test]
fn the_example_shows_every_default() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("texel.toml");
    let plan = TexelPlan::load(&path).expect("a good plan");
    // Paths start at the plan's folder, not at the working directory.
    assert!(plan.output.weights.is_file(), "{}", plan.output.weights.display());
    let folder = path.parent().expect("a folder");
    assert!(plan.data.files.iter().chain(&plan.output.pictures).all(|file| file.starts_with(folder)));
    assert_eq!(format!("{:?}", plan.fit), format!("{:?}", Fit::default()));
    let short = data("");
    assert_eq!(format!("{:?}", TexelData { files: short.files.clone(), ..plan.data }), format!("{short:?}"));
}

/// Parses the pairs of numbers in a table's text.
fn numbers(text: &str) -> Vec<[i32; 2]> {
    let body = text.split_once("] = [").expect("a table").1;
    let pairs = body.split("s(").skip(1).map(|rest| rest.split_once(')').expect("closed").0);
    pairs
        .map(|pair| pair.split_once(", ").expect("two"))
        .map(|(mg, eg)| [mg, eg].map(|n| n.parse().expect(n)))
        .collect()
}

#[test]
fn the_written_table_reads_back_and_flags_what_was_never_seen() {
    let table: Vec<[i32; 2]> = (0..COUNT as i32).map(|index| [index - 300, 2 * index - 700]).collect();
    let mut counts = vec![5_u64; COUNT];
    counts[MATERIAL.at(2)] = 9;
    counts[MATERIAL.at(3)] = 0;
    counts[TEMPO.at(0)] = 0;
    let text = render_weights(&table, Some(&counts));
    assert_eq!(numbers(&text), table);
    assert!(
        text.contains("// MATERIAL: in 5 to 9 positions, never seen: 3\n") && text.contains("// TEMPO: never seen\n")
    );
    assert!(text.contains("// BISHOP_PAIR: in 5 positions\n") && !render_weights(&table, None).contains("position"));
}

#[test]
fn a_plan_is_followed_to_the_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let results = ["1-0", "0-1", "1/2-1/2"];
    let lines: Vec<String> = (0..)
        .zip(boards(1500))
        .map(|(index, board)| format!("{} c9 \"{}\";", board.to_fen(false), results[index % 3]))
        .collect();
    std::fs::write(at("a.epd"), lines.join("\n")).expect("written");
    let plan = |folder: &str| {
        let text = format!(
            "[data]\nfiles = [{:?}]\nblock = 8\n[fit]\nepochs = 3\nbatch = 128\nl2 = 0.1\n[output]\nweights = {:?}\npictures = {:?}\n",
            at("a.epd"),
            at(folder).join("weights.rs"),
            at(folder)
        );
        TexelPlan::parse(Path::new("p.toml"), &text).expect("a plan")
    };
    tune(&plan("one")).expect("tuned");
    tune(&plan("two")).expect("tuned");
    for name in ["weights.rs", "curve.svg", "errors.csv", "before.svg", "after.svg", "difference.svg"] {
        let text = std::fs::read_to_string(at("one").join(name)).expect(name);
        assert_eq!(text, std::fs::read_to_string(at("two").join(name)).expect(name), "{name}");
    }
    let table = numbers(&std::fs::read_to_string(at("one").join("weights.rs")).expect("weights"));
    assert_eq!(table.len(), COUNT);
    let heat = std::fs::read_to_string(at("one").join("after.svg")).expect("a picture");
    // Five boards of 64 squares and one of 48 in two halves, a scale of 17 steps, and the page.
    assert_eq!(heat.matches("<rect").count(), 2 * (5 * 64 + 48) + 17 + 1);
    let unscored = format!("[data]\nfiles = [{:?}]\nresult-share = 0.3\n[output]\nweights = \"w\"\n", at("a.epd"));
    let unscored = TexelPlan::parse(Path::new("p.toml"), &unscored).expect("a plan");
    let error = tune(&unscored).expect_err("no scores").to_string();
    assert!(error.contains("`data.result-share` is 0.3, but no position has a score; set it to 1"), "{error}");
    let few = "[data]\nfiles = [\"FILE\"]\nblock = 5000\n[output]\nweights = \"w\"\n"
        .replace("FILE", &at("a.epd").to_string_lossy());
    let error = tune(&TexelPlan::parse(Path::new("p.toml"), &few).expect("a plan")).expect_err("too few").to_string();
    assert!(error.contains("too few to keep some back"), "{error}");
}
