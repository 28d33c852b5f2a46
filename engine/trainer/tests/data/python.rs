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
    let losses: Vec<f64> = told(&ended).lines().filter_map(|line| line.split("loss ").nth(1)?.parse().ok()).collect();
    assert!(losses.len() == 10 && losses[9] < losses[0], "{}", told(&ended));
    let network = nnue::read_file(&folder.path("net.nnue")).unwrap();
    assert_eq!(network.layout().describe(), "(piece+rank[864] -> 32)x2 -> 1x8");
    let again = told(&python(&folder, &words.replace("@net", "@again")).unwrap());
    assert!(again.contains("again.nnue"), "{again}");
    assert!(folder.read("net.nnue") == folder.read("again.nnue"), "the same words train the same network");
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
        let losses: Vec<f64> = text.lines().filter_map(|line| line.split("loss ").nth(1)?.parse().ok()).collect();
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
    let losses: Vec<f64> = told(&ended).lines().filter_map(|line| line.split("loss ").nth(1)?.parse().ok()).collect();
    // Equal values have a loss of three times ln 2.
    assert!(losses.len() == 10 && losses[9] < losses[0] && losses[9] < 2.08, "{}", told(&ended));
    let network = nnue::read_file(&folder.path("net.nnue")).unwrap();
    assert_eq!(network.layout().describe(), "(768 -> 32)x2 -> 1x1");
}
