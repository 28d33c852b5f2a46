//! Files that a run writes for its user besides its own directory: a further PGN, final positions,
//! and engine output kept in the journal.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::harness::{run, sprt};

/// Instant games under a clock, and peers with something to say.
const QUICK: &str = "--tc 500+0.1 --max-plies 12 -j 2 --force-concurrency";
const NEW: &str = "--name Alpha --seed 1 --pv BEST --info 2 --fault invalid-utf8";
const BASE: &str = "--name Beta --seed 2";

struct Files {
    folder: tempfile::TempDir,
}

impl Files {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// Plays into the folder `run`, with `mine.pgn` and `mine.epd` beside it.
    fn play(&self, run: &str, more: &str) {
        let [pgn, epd] = ["mine.pgn", "mine.epd"].map(|name| self.path(name).display().to_string());
        sprt(3, NEW, BASE, &self.path(run), &format!("{QUICK} --pgn {pgn} --epd {epd} {more}"));
    }
}

fn journal(dir: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(dir.join("games.jsonl")).unwrap();
    text.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn by_default_it_is_what_lies_in_the_run() {
    let files = Files::new();
    files.play("run", "--seed 3 --max-pairs 3 --event cup --site home");
    let own = files.read("run/games.pgn");
    assert_eq!(files.read("mine.pgn"), own);
    assert_eq!((own.matches("[Event \"cup\"]\n[Site \"home\"]\n").count(), own.matches("[ECO").count()), (6, 0));
    let positions = files.read("mine.epd");
    assert_eq!(positions.lines().count(), 6);
    // The built-in book is eight plies long, and a game twelve: it ends where move eleven begins.
    assert!(positions.lines().all(|line| line.contains(" hmvc ") && line.ends_with("; fmvn 11;")), "{positions}");
    for game in journal(&files.path("run")) {
        let moves = game["moves"].as_array().unwrap();
        assert!(moves.iter().all(|ply| ply["var"].is_null() && ply["said"].is_null()), "{game}");
        let alpha = if game["white"] == 0 { &game["white_engine"] } else { &game["black_engine"] };
        assert_eq!(alpha["name"], "Alpha");
    }
    // Another run's games go after those that are there.
    files.play("again", "--max-pairs 1 --seed 4");
    assert_eq!(files.read("mine.pgn"), own + &files.read("again/games.pgn"));
    assert_eq!(files.read("mine.epd").lines().count(), 8);
}

#[test]
fn everything_that_can_be_written() {
    let files = Files::new();
    files.play(
        "run",
        "--max-pairs 1 --pgn-fields all --pgn-style runner --pgn-notation lan --match-line ^info.string --match-line no_such --match-line ^best",
    );
    let pgn = files.read("mine.pgn");
    for part in ["[EngineWhiteName \"Alpha\"]\n", "[EngineBlackName \"Beta\"]\n", "[Round \"1\"]\n"] {
        assert!(pgn.contains(part), "{part} in {pgn}");
    }
    assert_eq!(pgn.matches("[Round \"1\"]\n").count(), 2);
    let mut seen = 0;
    for game in journal(&files.path("run")) {
        let alpha = usize::from(game["white"] != 0);
        // The book leaves White to move.
        for (ply, played) in game["moves"].as_array().unwrap().iter().enumerate() {
            let best = played["m"].as_str().unwrap();
            let said: Vec<_> = played["said"].as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect();
            if ply % 2 == alpha {
                assert_eq!(played["var"], best);
                assert_eq!(said, ["info string \u{fffd}\u{fffd}\u{fffd} \u{fffd}", &format!("bestmove {best}")]);
                let comment = format!(
                    "hashfull=1, tbhits=0, pv=\"{best}\", line=\"info string \u{fffd}\u{fffd}\u{fffd} \u{fffd}\", line=\"bestmove {best}\""
                );
                assert!(
                    pgn.lines().any(|line| line.contains(&comment) && line.contains(", tl=")),
                    "{comment} in {pgn}"
                );
                seen += 1;
            } else {
                assert!(played["var"].is_null() && said == [format!("bestmove {best}")], "{played}");
            }
        }
    }
    assert_eq!(seen, 12);
}

#[test]
fn a_file_that_was_cut_is_made_whole() {
    let files = Files::new();
    std::fs::write(files.path("mine.pgn"), "; mine\n").unwrap();
    files.play("run", "--max-pairs 2 --pgn-fields all --pgn-tags all --pgn-notation uci");
    let whole = [files.read("mine.pgn"), files.read("mine.epd")];
    assert!(whole[0].starts_with("; mine\n[Event "));
    for (pgn, epd) in [(7, 0), (300, 20), (whole[0].len() - 1, whole[1].len() - 1), (whole[0].len(), whole[1].len())] {
        std::fs::write(files.path("mine.pgn"), &whole[0][..pgn]).unwrap();
        std::fs::write(files.path("mine.epd"), &whole[1][..epd]).unwrap();
        let ran = run(&["resume", &files.path("run").display().to_string()]);
        assert_eq!(ran.code, Some(3), "{ran:?}");
        assert_eq!([files.read("mine.pgn"), files.read("mine.epd")], whole, "cut after {pgn} and {epd}");
    }
}

#[test]
fn files_that_cannot_be_written_are_refused_before_a_run_begins() {
    let files = Files::new();
    for (flags, part) in [
        ("--pgn /nonexistent/x.pgn", "its folder is not there"),
        ("--epd /", "is a folder"),
        #[cfg(target_os = "linux")]
        ("--pgn /proc/x.pgn", "--pgn `/proc/x.pgn`: cannot be written; name another file: "),
        #[cfg(target_os = "linux")]
        ("--epd /proc/x.epd", "--epd `/proc/x.epd`: cannot be written; name another file: "),
        ("--pgn-fields all", "--pgn FILE"),
        ("--match-line (", "is not a regular expression"),
    ] {
        let ran = sprt(2, NEW, BASE, &files.path("run"), flags);
        assert!(ran.stderr.contains(part), "{flags}: {}", ran.stderr);
        assert!(!files.path("run").exists(), "{flags}");
    }
}
