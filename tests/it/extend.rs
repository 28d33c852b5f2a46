//! `quintain resume --pairs`: runs that get more pairs than they began with.

use crate::harness::{FAKE, Ran, check_same_games, games, run, sprt};

/// More pairs than a run began with give the games of a run that began with them.
#[test]
fn a_run_out_of_pairs_is_extended() {
    let folder = tempfile::tempdir().unwrap();
    let dir = |name: &str| folder.path().join(name);
    let more = |pairs: u64| format!("--nodes 1 --max-plies 40 --seed 11 --bounds=-500,500 -j 2 --max-pairs {pairs}");
    let resumed = |name: &str, words: &[&str]| -> Ran {
        let shown = dir(name).display().to_string();
        run(&[&["resume", &shown], words].concat())
    };
    let first = sprt(3, "--seed 1", "--seed 2", &dir("test"), &more(2));
    assert!(first.stdout.contains("test --pairs 4\n"), "{first:?}");
    sprt(3, "--seed 1", "--seed 2", &dir("long"), &more(4));
    assert_eq!(resumed("test", &["--max-pairs", "4"]).code, Some(3));
    check_same_games(&dir("test"), &dir("long"));
    // Later commands keep the number.
    let again = resumed("test", &[]);
    assert!(again.code == Some(3) && games(&dir("test")).len() == 8, "{again:?}");
    let less = resumed("test", &["--pairs", "3"]);
    assert!(less.code == Some(2) && less.stderr.contains("4 pairs have been played; give at least 4"), "{less:?}");
    let field = |name: &str, words: &[&str], code: i32| {
        let shown = dir(name).display().to_string();
        let mut args = vec!["match", "--nodes", "1", "--max-plies", "40", "--seed", "11", "--out", &shown];
        args.extend(words);
        let engines = [1, 2, 3].map(|seed| format!("'{FAKE}' -- --name p{seed} --seed {seed}"));
        args.extend(engines.iter().map(String::as_str));
        let ran = run(&args);
        assert_eq!(ran.code, Some(code), "{words:?}: {ran:?}");
    };
    field("round", &["--pairs", "1"], 0);
    field("rounds", &["--pairs", "3"], 0);
    assert_eq!(resumed("round", &["--pairs", "3"]).code, Some(0));
    assert_eq!(games(&dir("round")), games(&dir("rounds")));
    let less = resumed("round", &["--pairs", "2"]);
    assert!(less.code == Some(2) && less.stderr.contains("9 pairs have been played; give at least 3"), "{less:?}");
    // A verdict stays, and a book without openings has no more pairs.
    let words = "--nodes 1 --bounds 0,200 --max-pairs 40 --max-failures 1000";
    sprt(0, "--seed 1", "--seed 2 --fault illegal", &dir("decided"), words);
    let decided = resumed("decided", &["--pairs", "80"]);
    assert!(decided.code == Some(2) && decided.stderr.contains("is decided"), "{decided:?}");
    assert!(!dir("decided").join("extension.toml").exists());
    let book = dir("two.epd");
    std::fs::write(&book, "4k3/8/8/8/8/8/4P3/4K3 w - -\n4k3/4p3/8/8/8/8/8/4K3 b - -\n").unwrap();
    let words = format!("{} --book {}", more(2), book.display());
    let spent = sprt(3, "--seed 1", "--seed 2", &dir("spent"), &words);
    assert!(!spent.stdout.contains("continue with"), "{spent:?}");
    field("cup", &["--pairs", "1", "--format", "knockout"], 0);
    let refused = resumed("cup", &["--pairs", "2"]);
    assert!(refused.code == Some(2) && refused.stderr.contains("who meets in a knockout"), "{refused:?}");
}
