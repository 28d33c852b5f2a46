//! Draws of positions and pairs, counts of the first positions, and the fit of win probabilities.

use super::{Folder, lines, random_game};
use destrier::nnue::{self, Kind, Layout};
use destrier::types::{Color, SplitMix64};
use std::collections::BTreeSet;
use std::process::Command;

const ALL: &str = "--min-ply 0 --keep-checks --keep-captures --max-score 32000";

/// Returns the positions of `a.vf` that a filter with these words keeps.
fn drawn(folder: &Folder, words: &str) -> Vec<String> {
    folder.run(&format!("filter @a.vf --out @b.txt --force {ALL}{words}"));
    lines(&folder.path("b.txt"))
}

#[test]
fn positions_of_each_game_are_drawn_by_the_seed() {
    let folder = Folder::new();
    folder.write_games("a.vf", 7, 120);
    let draw = |words: &str| drawn(&folder, words);
    let all = draw("");
    let [one, again, other, three] =
        [" --per-game 1", " --per-game 1 --seed 1", " --per-game 1 --seed 2", " --per-game 3"].map(draw);
    // Each game of the test has at least one position, and all but a few have three.
    assert_eq!((one.len(), other.len()), (120, 120));
    assert!((340..=360).contains(&three.len()), "{}", three.len());
    assert!(one == again && one != other);
    let known: BTreeSet<&String> = all.iter().collect();
    assert!(one.iter().chain(&three).all(|line| known.contains(line)));
    let told = folder.told(&format!("filter @a.vf --out @c.txt {ALL} --per-game 1"));
    let undrawn = all.len() - 120;
    assert!(told.contains(&format!("{undrawn} not drawn")), "{told}");
    folder.run("convert @a.vf --out @a.bf");
    let error = folder.error(&format!("filter @a.bf --out @d.bf {ALL} --per-game 1"));
    assert!(error.starts_with("a.bf: ") && error.contains("which game") && error.contains("--per-game"), "{error}");
}

/// Of positions with some numbers of pieces the given share is kept, of all others every one.
#[test]
fn positions_are_thinned_by_their_pieces() {
    let folder = Folder::new();
    folder.write_games("a.vf", 7, 120);
    let draw = |words: &str| drawn(&folder, words);
    let pieces = |line: &String| line.split(' ').next().unwrap().chars().filter(char::is_ascii_alphabetic).count();
    let count = |lines: &[String], of: usize| lines.iter().filter(|line| pieces(line) == of).count();
    let all = draw("");
    let thin = [" --thin 32=0 --thin 31=0.5 --thin 30=1", " --thin 32=0 --thin 31=0.5 --thin 30=1 --seed 2"].map(draw);
    assert_ne!(thin[0], thin[1]);
    for thin in thin {
        assert!(count(&all, 31) > 100, "{}", count(&all, 31));
        assert_eq!(count(&thin, 32), 0);
        let half = count(&thin, 31) as f64 / count(&all, 31) as f64;
        assert!((0.3..0.7).contains(&half), "{half}");
        assert!((2..31).all(|of| count(&thin, of) == count(&all, of)));
        let mut rest = all.iter();
        assert!(thin.iter().all(|line| rest.any(|other| other == line)), "in their order");
    }
    let told = folder.told(&format!("filter @a.vf --out @c.txt {ALL} --thin 32=0"));
    assert!(told.contains(&format!("{} not drawn", count(&all, 32))), "{told}");
    // It needs no games.
    folder.run("convert @a.vf --out @a.bf");
    folder.run("convert @c.txt --out @c.bf");
    folder.run(&format!("filter @a.bf --out @d.bf {ALL} --thin 32=0"));
    assert!(folder.read("d.bf") == folder.read("c.bf"));
    for words in ["33=0.5", "4=1.5", "4", "4=x", "4=nan"] {
        let error = folder.error(&format!("filter @a.vf --out @e.txt {ALL} --thin {words}"));
        assert!(error.contains("give 2 to 32 pieces, `=` and a share from 0 to 1, such as 4=0.25"), "{error}");
    }
    let error = folder.error(&format!("filter @a.vf --out @e.txt {ALL} --thin 4=0 --thin 4=1"));
    assert_eq!(error, "--thin: 4 pieces are given twice; leave one of them out");
    assert!(!folder.path("e.txt").exists());
}

/// Checks that commands for which a game counts once refuse games that are not whole.
#[test]
fn games_of_which_plies_are_missing_are_neither_drawn_from_nor_fitted() {
    let folder = Folder::new();
    folder.write_torn_games();
    let draw = format!("filter @whole.plain --out @b.bf {ALL} --per-game 1");
    let fit = "fit-wdl @whole.plain";
    for (words, remedy) in [(fit, "; fit before filtering"), (draw.as_str(), "or leave out `--per-game`")] {
        let error = folder.error(&words.replace("whole", "torn"));
        assert!(error.starts_with("torn.plain: game ") && error.contains("games that are not whole"), "{error}");
        assert!(error.contains(remedy), "{error}");
    }
    assert!(!folder.path("b.bf").exists());
    folder.run(&draw);
    assert_eq!(folder.read("b.bf").len(), 30 * 32);
    // All of the games are draws, so nothing may be fitted.
    let fitted = folder.try_run(fit);
    assert!(fitted.err().is_none_or(|error| error.to_string().contains("no curve fits")));
    // Single positions in viriformat are not games either.
    folder.run("convert @whole.plain --out @a.txt");
    folder.run("convert @a.txt --out @a.vf");
    let error = folder.error(&format!("filter @a.vf --out @c.bf {ALL} --per-game 1"));
    assert!(error.contains("does not say which game a position is of; leave out `--per-game`"), "{error}");
}

#[test]
fn scores_of_whole_games_are_smoothed() {
    let folder = Folder::new();
    folder.write_games("a.vf", 7, 40);
    let as_text = |words: &str, name: &str| {
        folder.run(&format!("smooth @a.vf --out @{name}.vf{words}"));
        folder.run(&format!("convert @{name}.vf --out @{name}.txt"));
        lines(&folder.path(&format!("{name}.txt")))
    };
    let (same, smooth) = (as_text(" --lambda 0", "same"), as_text("", "smooth"));
    assert_eq!(folder.read("same.vf"), folder.read("a.vf"));
    let fen = |line: &String| line.split('|').next().map(str::to_owned);
    assert!(same.iter().map(fen).eq(smooth.iter().map(fen)), "the positions are the same");
    // The scores of the games are random, so nearly all change, but not the last one of a game.
    let changed = same.iter().zip(&smooth).filter(|(before, after)| before != after).count();
    assert!(changed > same.len() / 2 && changed <= same.len() - 40, "{changed} of {}", same.len());
    folder.write_torn_games();
    folder.run("convert @a.vf --out @a.bf");
    for (file, remedy) in [("torn.plain", "its scores would end there"), ("a.bf", "smooth the games")] {
        let error = folder.error(&format!("smooth @{file} --out @c.vf"));
        assert!(error.starts_with(&format!("{file}: ")) && error.contains(remedy), "{error}");
    }
    let error = folder.error("smooth @a.vf --out @c.vf --lambda 1.5");
    assert!(error.contains("--lambda 1.5: expected 0 to 1"), "{error}");
    assert!(!folder.path("c.vf").exists());
}

#[test]
fn the_win_probability_of_scores_is_fitted() {
    let folder = Folder::new();
    let mut random = SplitMix64::new(3);
    let mut text = String::new();
    for _ in 0..20_000 {
        let score = random.below(1200) as i32 - 600;
        let win = 1.0 / (1.0 + (-f64::from(score) / 250.0).exp());
        let result = if (random.below(1000) as f64) < 1000.0 * win { "1.0" } else { "0.0" };
        text += &format!("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1 | {score} | {result}\n");
    }
    folder.write("a.txt", text);
    let json: serde_json::Value =
        serde_json::from_str(&folder.told("fit-wdl @a.txt --json --plot @wdl.svg")).expect("JSON");
    let number = |key: &str| json[key].as_f64().expect(key);
    assert!((number("scale") - 250.0).abs() < 4.0 * number("scale_error"), "{json}");
    assert!(number("offset").abs() < 4.0 * number("offset_error") && number("scale_error") < 10.0, "{json}");
    assert!(folder.text("wdl.svg").contains("Win probability by score"));
    let told = folder.told("fit-wdl @a.txt");
    assert!(told.contains("20000 positions of 20000 games, 0 left out"), "{told}");
    folder.write("b.txt", "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1 | 30 | 0.5\n");
    assert!(folder.error("fit-wdl @b.txt").contains("no curve fits"));
    folder.run("convert @a.txt --out @a.bf");
    let error = folder.error("fit-wdl @a.bf --min-ply 8");
    assert!(error.contains("a.bf") && error.contains("leave out `--min-ply`"), "{error}");
}

#[test]
fn pairs_are_chosen_and_read_back() {
    let folder = Folder::new();
    folder.write_games("a.vf", 9, 60);
    folder.run("pairs frequent @a.vf --count 64 --out @pairs.txt");
    let text = folder.text("pairs.txt");
    assert!(text.starts_with("# 64 pairs by `frequent`") && text.lines().count() == 65, "{text}");
    folder.refuses(&[
        ("pairs frequent @a.vf --count 0 --out @b.txt", "--count 0: give 1 to"),
        ("pairs frequent @a.vf --count 30000 --positions 3 --out @b.txt", "are wanted; give more positions"),
        ("pairs gain @a.vf --count 64 --out @b.txt", "give the network with --net"),
        ("pairs gain @a.vf --count 64 --out @b.txt --net @a.vf", "a.vf: "),
        ("pairs gain @a.vf --count 64 --out @b.txt --in-scale 20", "give 50 to 2000 centipawns"),
    ]);
}

fn write_network(folder: &Folder, name: &str) {
    let layout = Layout::plain(Kind::Screlu, 32);
    folder.write(name, nnue::encode(&layout, &nnue::random_payload(&layout, 3)).unwrap());
}

/// A network that knows each score gains nothing by pairs, if its scales are known. With other
/// scales, pairs that mark the side ahead seem to gain.
#[test]
fn gains_are_measured_by_the_scales_of_the_training() {
    let folder = Folder::new();
    write_network(&folder, "net.nnue");
    let network = nnue::read_file(&folder.path("net.nnue")).unwrap();
    let mut text = String::new();
    for (board, _) in (0..40).map(random_game).flat_map(|game| game.positions().collect::<Vec<_>>()) {
        let value = network.evaluate_alone(&board);
        // Half the value, from White's view.
        let score = if board.turn() == Color::White { value / 2 } else { -value / 2 };
        text += &format!("{} | {score} | 0.5\n", board.to_fen(false));
    }
    folder.write("a.txt", text);
    let first = |words: &str| -> f64 {
        let told = folder.told(&format!("pairs gain @a.txt --net @net.nnue --count 5 --out @b.txt{words}"));
        let gain = told.split("the first measures ").nth(1).and_then(|rest| rest.split(',').next());
        gain.unwrap_or_else(|| panic!("{told}")).parse().unwrap()
    };
    let (known, unknown) = (first(" --in-scale 200 --out-scale 400"), first(""));
    assert!(known < 0.002 && unknown > 0.02, "{known}, with other scales {unknown}");
}

/// Commands with `--positions` read no further: a fault behind the last position does not matter.
#[test]
fn nothing_is_read_behind_the_last_position() {
    let folder = Folder::new();
    folder.write_games("a.vf", 11, 40);
    folder.run("convert @a.vf --out @a.bf");
    let positions = folder.read("a.bf").len() / 32;
    assert!(positions > 300, "{positions}");
    folder.write("b.bf", [folder.read("a.bf"), vec![0; 5]].concat());
    write_network(&folder, "net.nnue");
    let commands: [&[&str]; 5] = [
        &["data", "features", "piece", "@FILE"],
        &["data", "features", "piece", "@FILE", "--every-nth", "2"],
        &["data", "pairs", "frequent", "@FILE", "--count", "5", "--out", "@c.txt"],
        &["data", "pairs", "gain", "@FILE", "--count", "5", "--out", "@c.txt", "--net", "@net.nnue"],
        &["neurons", "@net.nnue", "@FILE"],
    ];
    for command in commands {
        let run = |file: &str, positions: usize| {
            let words = command.join(" ").replace("@FILE", file);
            let words = folder.words(&format!("{words} --positions {positions}"));
            Command::new(env!("CARGO_BIN_EXE_destrier-trainer")).args(words).output().unwrap()
        };
        let told = |file, positions| {
            let ended = run(file, positions);
            assert!(ended.status.success(), "{command:?}: {ended:?}");
            String::from_utf8(ended.stdout).unwrap()
        };
        assert_eq!(told("@b.bf", 100), told("@a.bf", 100), "{command:?}");
        if command[1] != "pairs" {
            // The end is within a game.
            assert!(told("@a.vf", 7).starts_with("7 positions;"), "{command:?}");
        }
        let ended = run("@b.bf", 100_000);
        let message = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(2), "{command:?}: {message}");
        assert!(message.contains("the file ends within a record"), "{command:?}: {message}");
        let none = run("@a.bf", 0);
        assert!(!none.status.success() && String::from_utf8_lossy(&none.stderr).contains("--positions"), "{none:?}");
    }
}

#[test]
fn features_have_their_names_and_steps_their_quantiles() {
    let folder = Folder::new();
    folder.write_games("a.vf", 12, 20);
    let told = folder.told("features king-all+moves @a.vf --top 3");
    let names: Vec<&str> = told.lines().filter(|line| line.starts_with("    ")).collect();
    assert_eq!(names.len(), 6, "{told}");
    assert!(names[..3].iter().all(|name| name.contains(" %  own ") || name.contains(" %  enemy ")), "{told}");
    assert!(names[..3].iter().all(|name| name.contains(", own king on ")), "{told}");
    assert!(names[3..].iter().all(|name| name.contains(" to ")), "{told}");
    for name in ["files", "ranks"] {
        let line = told.lines().find(|line| line.starts_with(&format!("{name} that a played move crosses: mean ")));
        let line = line.unwrap_or_else(|| panic!("{told}"));
        assert!(["quantiles 10 % ", ", 50 % ", ", 90 % "].iter().all(|part| line.contains(part)), "{line}");
    }
    folder.run("convert @a.vf --out @a.bf");
    assert!(folder.told("features piece @a.bf").contains("files that a played move crosses: no move is known"));
}
