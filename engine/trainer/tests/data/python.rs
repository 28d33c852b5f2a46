//! Python side of the batch service, run by the `python3` of the machine.

use super::{Folder, skip};
use destrier::nnue;
use destrier_trainer::data::read;
use std::path::Path;
use std::process::{Command, Output};

/// Runs a script of `engine/trainer/python`; `None` without Python and NumPy.
fn python(folder: &Folder, words: &str) -> Option<Output> {
    let python = |words: &[String]| {
        let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("python");
        Command::new("python3").env("PYTHONDONTWRITEBYTECODE", "1").current_dir(scripts).args(words).output()
    };
    let has_numpy = python(&["-c".to_owned(), "import numpy".to_owned()]);
    if !has_numpy.is_ok_and(|ended| ended.status.success()) {
        return None;
    }
    Some(python(&folder.words(words)).unwrap())
}

fn told(ended: &Output) -> String {
    String::from_utf8_lossy(&[&ended.stdout[..], &ended.stderr].concat()).into_owned()
}

/// Numbers after `name`, one in a line.
fn losses(text: &str, name: &str) -> Vec<f64> {
    text.lines().filter_map(|line| line.split(name).nth(1)?.split([' ', ',']).next()?.parse().ok()).collect()
}

const REASON: &str = "no python3 with NumPy; install it: `python3 -m pip install numpy`";

/// Python computes the features of the positions itself, compares them with the batches, writes a
/// network, and evaluates the positions as the engine must. Training from lists is training from
/// bits.
#[test]
fn python_reads_the_same_features() {
    let folder = Folder::new();
    folder.write_games("a.vf", 71, 12);
    folder.run("convert @a.vf --out @a.bf");
    folder.run("triplets @a.vf --out @a.pqr");
    let program = env!("CARGO_BIN_EXE_destrier-trainer");
    let Some(ended) = python(&folder, &format!("check.py {program} @a.bf @a.pqr @net.nnue @told.txt")) else {
        return skip::skip("python_reads_the_same_features", REASON);
    };
    let told_by = told(&ended);
    assert!(ended.status.success() && told_by.contains(" triplets agree"), "{told_by}");
    assert!(told_by.contains("lists train as bits do by numpy"), "{told_by}");
    let network = nnue::read_file(&folder.path("net.nnue")).unwrap();
    assert_eq!(network.layout().describe(), "(piece+king-relative+diagonal-pairs+file[5274] -> 32)x2 -> 1x8");
    let positions = read::open(&folder.path("a.bf"), None).unwrap().entries;
    let values: Vec<String> = positions
        .flat_map(|entry| entry.unwrap().positions())
        .map(|position| network.evaluate_alone(&position.board).to_string())
        .collect();
    assert_eq!(values, super::lines(&folder.path("told.txt")));
    assert!(values.iter().any(|value| *value != values[0]));
}

/// The example trains by NumPy, and the engine loads its network.
#[test]
fn a_network_trained_by_numpy_is_loaded() {
    let folder = Folder::new();
    folder.write_games("a.vf", 72, 40);
    folder.run("convert @a.vf --out @a.bf");
    let program = env!("CARGO_BIN_EXE_destrier-trainer");
    let words = format!(
        "train.py @a.bf --features piece+rank --hidden 32 --buckets 8 --batch 256 --batches 30 --rate 0.01 --backend numpy \
         --program {program} --out @net.nnue"
    );
    let Some(ended) = python(&folder, &words) else {
        return skip::skip("a_network_trained_by_numpy_is_loaded", REASON);
    };
    assert!(ended.status.success(), "{}", told(&ended));
    let losses = losses(&told(&ended), "loss ");
    assert!(losses.len() == 10 && losses[9] < losses[0], "{}", told(&ended));
    let network = nnue::read_file(&folder.path("net.nnue")).unwrap();
    assert_eq!(network.layout().describe(), "(piece+rank[864] -> 32)x2 -> 1x8");
    let again = told(&python(&folder, &words.replace("@net", "@again")).unwrap());
    assert!(again.contains("again.nnue"), "{again}");
    assert!(folder.read("net.nnue") == folder.read("again.nnue"), "the same words train the same network");
    // The bound of weights holds at any scale.
    let steep =
        words.replace("--batches 30 --rate 0.01", "--batches 3 --rate 1 --scale 1600").replace("@net", "@steep");
    assert!(python(&folder, &steep).unwrap().status.success());
    assert!(nnue::read_file(&folder.path("steep.nnue")).unwrap().is_narrow());
}

/// Positions that stay in memory train a mirrored network, whose loss is that of the engine's
/// values.
#[test]
fn a_network_of_resident_positions_has_the_loss_that_is_told() {
    const BATCH: usize = 256;
    let folder = Folder::new();
    for (name, seed, games) in [("a", 75, 60), ("b", 76, 20)] {
        folder.write_games(&format!("{name}.vf"), seed, games);
        folder.run(&format!("convert @{name}.vf --out @{name}.bf"));
    }
    let words = format!("train_on_gpu.py @a.bf --validation @b.bf --batch {BATCH} --scale 300 --backend numpy");
    let train = |more: &str| python(&folder, &format!("{words} {more}"));
    let Some(ended) = train(
        "--hidden 32 --superbatches 4 --batches 8 --rate 0.01 --end 0.001 --warm-up 4 --blend 0.25 --out @net.nnue",
    ) else {
        return skip::skip("a_network_of_resident_positions_has_the_loss_that_is_told", REASON);
    };
    let text = told(&ended);
    assert!(ended.status.success(), "{text}");
    // Random games teach nothing of others.
    let (learnt, found) = (losses(&text, ", loss "), losses(&text, "validation "));
    assert!(learnt.len() == 4 && learnt[3] < learnt[0] && found.len() == 4, "{text}");
    let network = nnue::read_file(&folder.path("net.nnue")).unwrap();
    assert_eq!(network.layout().describe(), "(768hm -> 32)x2 -> 1x8");

    let positions = read::open(&folder.path("b.bf"), None).unwrap().entries;
    let win = |centipawns: i32| 1.0 / (1.0 + (-f64::from(centipawns) / 300.0).exp());
    let errors: Vec<f64> = positions
        .flat_map(|entry| entry.unwrap().positions())
        .map(|position| {
            let (score, result) = position.relative();
            let target = 0.75 * win(i32::from(score)) + 0.25 * f64::from(result.half_points()) / 2.0;
            (win(network.evaluate_alone(&position.board)) - target).powi(2)
        })
        .collect();
    assert!(!errors.len().is_multiple_of(BATCH), "the last batch is a part of one");
    let loss = errors.iter().sum::<f64>() / errors.len() as f64;
    assert!((loss - found[3]).abs() < 0.02 * loss, "{loss} by the engine, {} by the trainer", found[3]);

    // A rate of zero leaves the network as it is.
    let again = train("--start @net.nnue --superbatches 1 --batches 2 --rate 0 --end 0 --blend 0.25 --out @again.nnue");
    let again = again.unwrap();
    assert!(again.status.success(), "{}", told(&again));
    let again = losses(&told(&again), "validation ");
    assert!(folder.read("net.nnue") == folder.read("again.nnue"));
    assert!((again[0] - found[3]).abs() < 0.02 * loss, "{again:?}");
    // The bound of weights holds at any scale.
    let steep = "--hidden 32 --scale 1600 --superbatches 1 --batches 3 --rate 1 --end 1 --warm-up 1 --out @steep.nnue";
    assert!(train(steep).unwrap().status.success());
    assert!(nnue::read_file(&folder.path("steep.nnue")).unwrap().is_narrow());
    folder.write("c.bf", folder.read("a.vf").repeat(8).get(..64).unwrap());
    folder.run("triplets @a.vf --out @a.pqr");
    for (more, fault) in [
        ("--start @a.bf --out @no.nnue", "no network of kind 1"),
        ("--batch 20000 --out @no.nnue", "--batch takes"),
        ("--validation @c.bf --out @no.nnue", "is no position in bulletformat; convert the file"),
        ("--validation @a.pqr --out @no.nnue", "record 0 is of a triplet"),
    ] {
        let ended = train(more).unwrap();
        assert!(!ended.status.success() && told(&ended).contains(fault), "{}", told(&ended));
    }
    assert!(!folder.path("no.nnue").exists());
}

/// A set of many inputs is trained from lists, and one with pairs by their list.
#[test]
fn numpy_trains_large_sets_and_pairs() {
    let folder = Folder::new();
    folder.write_games("a.vf", 74, 40);
    folder.run("convert @a.vf --out @a.bf");
    folder.run("pairs frequent @a.vf --count 100 --out @pairs.txt");
    let program = env!("CARGO_BIN_EXE_destrier-trainer");
    let usual =
        format!("--hidden 32 --batch 256 --batches 30 --rate 0.01 --backend numpy --program {program} --out @net.nnue");
    for (words, inputs, form) in [
        ("--features king-piece", "king-piece[40960]", "lists"),
        ("--features rank+top-pairs:100 --pairs @pairs.txt", "rank+top-pairs:100[196]", "bits"),
        ("--features rank+top-pairs:100 --pairs @pairs.txt --sparse", "rank+top-pairs:100[196]", "lists"),
    ] {
        let Some(ended) = python(&folder, &format!("train.py @a.bf {words} {usual}")) else {
            return skip::skip("numpy_trains_large_sets_and_pairs", REASON);
        };
        let text = told(&ended);
        assert!(ended.status.success() && text.contains(&format!("by NumPyTrainer from {form}")), "{text}");
        let losses = losses(&text, "loss ");
        assert!(losses.len() == 10 && losses[9] < losses[0], "{text}");
        let network = nnue::read_file(&folder.path("net.nnue")).unwrap();
        assert_eq!(network.layout().describe(), format!("({inputs} -> 32)x2 -> 1x1"));
    }
    let list = nnue::read_file(&folder.path("net.nnue")).unwrap().layout().set.pairs().cloned();
    let lines: Vec<String> =
        list.unwrap().pairs().iter().map(|pair| pair.features().map(|f| f.to_string()).join(" ")).collect();
    assert_eq!(lines, super::lines(&folder.path("pairs.txt"))[1..]);
    for words in ["--features rank+top-pairs:100", "--features rank --pairs @pairs.txt", "--features ranks"] {
        let ended = python(&folder, &format!("train.py @a.bf {words} {usual}")).unwrap();
        assert!(!ended.status.success() && told(&ended).contains("--features and --pairs"), "{}", told(&ended));
    }
}

/// The example also learns the order of positions.
#[test]
fn numpy_trains_on_triplets() {
    let folder = Folder::new();
    folder.write_games("a.vf", 73, 40);
    folder.run("triplets @a.vf --out @a.pqr");
    let program = env!("CARGO_BIN_EXE_destrier-trainer");
    let words = format!(
        "train.py @a.pqr --method pqr --hidden 32 --batch 128 --batches 40 --rate 0.01 --backend numpy --program {program} \
         --out @net.nnue"
    );
    let Some(ended) = python(&folder, &words) else {
        return skip::skip("numpy_trains_on_triplets", REASON);
    };
    assert!(ended.status.success(), "{}", told(&ended));
    let losses = losses(&told(&ended), "loss ");
    // Equal values have a loss of three times ln 2.
    assert!(losses.len() == 10 && losses[9] < losses[0] && losses[9] < 2.08, "{}", told(&ended));
    let network = nnue::read_file(&folder.path("net.nnue")).unwrap();
    assert_eq!(network.layout().describe(), "(768 -> 32)x2 -> 1x1");
}
