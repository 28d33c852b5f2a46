//! Rescoring with this test program as the engine, which speaks UCI if it is asked for one test
//! alone.

use super::{Folder, lines};
use destrier::board::Board;
use destrier::search::{Game, Limits, Searcher, Signals, SilentReport};
use std::io::{self, Write};
use std::path::Path;
use std::time::Instant;

/// Runs Destrier as the engine of the tests below. It ends at once if stdin is empty.
#[test]
#[ignore = "no test of its own: the tests of this file start it as their engine"]
fn the_engine() {
    destrier::uci::run(io::stdin().lock(), io::stdout()).unwrap();
}

/// Runs an engine that handles one command at a time, even if more are sent meanwhile: `answer`
/// gets the first word of each that is not of the handshake, the rest of it and the output, and
/// returns false to end.
fn speak(mut answer: impl FnMut(&str, &str, &mut io::Stdout) -> io::Result<bool>) -> io::Result<()> {
    let mut out = io::stdout();
    for line in io::stdin().lines() {
        let line = line?;
        let goes_on = match line.split_once(' ').unwrap_or((&line, "")) {
            ("uci", _) => writeln!(out, "uciok").map(|()| true)?,
            ("isready", _) => writeln!(out, "readyok").map(|()| true)?,
            ("quit", _) => false,
            (word, rest) => answer(word, rest, &mut out)?,
        };
        out.flush()?;
        if !goes_on {
            break;
        }
    }
    Ok(())
}

/// Board of a `position` command.
fn board_of(words: &str) -> Board {
    Board::from_fen(words.strip_prefix("fen ").unwrap()).unwrap()
}

/// Returns a column of a file in text format: 0 for the positions, 1 for the scores.
fn column(folder: &Folder, name: &str, place: usize) -> Vec<String> {
    lines(&folder.path(name)).iter().map(|line| line.split(" | ").nth(place).unwrap().to_owned()).collect()
}

/// Runs an engine that searches. In those searches of its life, counted from 1, that are `odd`, it
/// answers only `text`.
fn patient(odd: fn(u32) -> bool, text: &str) -> io::Result<()> {
    let (mut searcher, mut game, mut searches) = (Searcher::new(1).unwrap(), Game::new(Board::startpos()), 0);
    speak(|word, words, out| {
        match word {
            "ucinewgame" => searcher.new_game(),
            "position" => game = Game::new(board_of(words)),
            "go" => {
                searches += 1;
                if odd(searches) {
                    write!(out, "{text}")?;
                    return Ok(true);
                }
                let depth = words.strip_prefix("depth ").unwrap().parse().unwrap();
                let limits = Limits { depth: Some(depth), ..Limits::default() };
                let outcome = searcher.search(&game, &limits, &Signals::default(), Instant::now(), &mut SilentReport);
                writeln!(out, "info depth {depth} score cp {}\nbestmove 0000", outcome.score)?;
            }
            _ => {}
        }
        Ok(true)
    })
}

#[test]
#[ignore = "no test of its own: the tests of this file start it as their engine"]
fn the_patient_engine() {
    patient(|_| false, "").unwrap();
}

#[test]
#[ignore = "no test of its own: the tests of this file start it as their engine"]
fn the_patient_engine_that_falls_silent() {
    patient(|search| search > 6, "").unwrap();
}

#[test]
#[ignore = "no test of its own: the tests of this file start it as their engine"]
fn the_patient_engine_that_drops_lines() {
    patient(|search| search > 6, "bestmove 0000\n").unwrap();
}

#[test]
#[ignore = "no test of its own: the tests of this file start it as their engine"]
fn the_patient_engine_that_knows_no_score_once() {
    patient(|search| search == 7, "bestmove 0000\n").unwrap();
}

/// Returns the arguments that start an engine.
fn engine_of(test: &str) -> String {
    let program = std::env::current_exe().unwrap();
    let words = ["--ignored", "--exact", "--nocapture", test];
    let words: Vec<_> = words.iter().map(|word| format!("--arg={word}")).collect();
    format!("--engine {} {}", program.display(), words.join(" "))
}

#[test]
fn scores_are_the_same_for_any_number_of_engines_and_after_a_cut() {
    let folder = Folder::new();
    folder.write_games("a.vf", 13, 6);
    folder.run("convert @a.vf --out @a.txt");
    folder.run("convert @a.vf --out @a.bf");
    for out in ["b.vf", "b.txt", "b.bf"] {
        let input = out.replace("b.", "a.");
        folder.run(&format!("rescore @{input} --out @{out} --depth 1 --option Hash=1 {}", engine()));
        let whole = folder.read(out);
        assert!(whole != folder.read(&input));
        let words = format!("rescore @{input} --out @{out} --depth 1 --option Hash=1 --engines 3 {}", engine());
        // After a power cut, zeros may stand in place of what was written last.
        for (cut, zeros) in [(0, 0), (1, 0), (333, 0), (whole.len() / 2, 0), (whole.len(), 0), (333, 5000)] {
            folder.write(out, [&whole[..cut], &vec![0; zeros]].concat());
            folder.run(&words);
            assert!(folder.read(out) == whole, "{out} cut at {cut}, then {zeros} zeros");
        }
        let other = words.replace("--depth 1", "--depth 2");
        assert!(folder.error(&other).contains("started with `depth = 1`, not `depth = 2`"));
    }
    folder.run("convert @b.vf --out @c.txt");
    // A game shares one engine memory, while each single position starts with an empty one. At
    // depth 1 in calm positions the scores are the same.
    let fens = |name: &str| column(&folder, name, 0);
    assert_eq!(fens("c.txt"), fens("a.txt"));
    assert_eq!(fens("b.txt"), fens("a.txt"));
}

fn engine() -> String {
    engine_of("rescore::the_engine")
}

#[test]
fn searches_sent_ahead_find_the_same() {
    let folder = Folder::new();
    folder.write_games("a.vf", 14, 4);
    folder.run("convert @a.vf --out @a.txt");
    let engine = engine_of("rescore::the_patient_engine");
    for (input, out, words) in [("a.vf", "one.vf", "--depth 2"), ("a.txt", "one.txt", "--depth 2 --keep-hash")] {
        let words = format!("rescore @{input} {words} {engine}");
        folder.run(&format!("{words} --out @{out}"));
        for ahead in [2, 7, 1000] {
            let other = out.replace("one", &ahead.to_string());
            folder.run(&format!("{words} --out @{other} --ahead {ahead}"));
            assert!(folder.read(&other) == folder.read(out), "{other}");
        }
    }
    let error = folder.error(&format!(
        "rescore @a.vf --out @b.vf --depth 1 --ahead 50 --timeout 1 {}",
        engine_of("rescore::the_patient_engine_that_falls_silent")
    ));
    let seventh = column(&folder, "a.txt", 0)[6].clone();
    assert!(error.contains("no `bestmove` within 1.0 s at") && error.contains(&seventh), "{error}");
    assert!(error.contains("raise --timeout, or lower --ahead"), "{error}");
    let dropping = engine_of("rescore::the_patient_engine_that_drops_lines");
    for (ahead, expected) in
        [(50, "does it drop lines while it searches? Lower --ahead"), (1, "raise --nodes or --depth")]
    {
        let error = folder.error(&format!("rescore @a.vf --out @c{ahead}.vf --depth 1 --ahead {ahead} {dropping}"));
        assert!(error.contains(&format!("no score for `{seventh}`")) && error.ends_with(expected), "{error}");
    }
}

/// Evaluations without a search by the engine's command `eval` are those of `leaves`.
#[test]
fn evaluations_are_read_in_their_unit_and_view() {
    let folder = Folder::new();
    folder.write_games("a.vf", 15, 4);
    folder.run("leaves @a.vf --out @a.bin --evaluation classical --depth 2 --share 0.2");
    folder.run("convert @a.bin --out @a.txt");
    folder.run(&format!("rescore @a.vf --out @other.vf --depth 1 {}", engine()));
    folder.run(&format!("rescore @a.txt --out @other.txt --depth 3 {}", engine()));
    assert!(folder.read("other.txt") != folder.read("a.txt"));
    for ahead in [1, 7, 1000] {
        let words = format!("--eval classical: --ahead {ahead} --engines 2 {}", engine());
        folder.run(&format!("rescore @other.txt --out @b{ahead}.txt {words}"));
        assert!(folder.read(&format!("b{ahead}.txt")) == folder.read("a.txt"));
        folder.run(&format!("rescore @a.vf --out @b{ahead}.vf {words}"));
        assert!(folder.read(&format!("b{ahead}.vf")) == folder.read("b1.vf"));
    }
    assert!(folder.read("b1.vf") != folder.read("other.vf"));
    let error = folder.error(&format!("rescore @other.txt --out @b1.txt --eval nnue: {}", engine()));
    assert!(
        error.contains("started with `evaluation = \"classical:\", view None`, not `evaluation = \"nnue:\""),
        "{error}"
    );
}

/// Runs an engine that evaluates each position as 17 centipawns, without words on the view, and a
/// position in check not at all. For the position of that number in its life, counted from 1, it
/// prints `text` in place of the evaluation.
fn evaluating(odd: u32, text: &str) -> io::Result<()> {
    let (mut in_check, mut evaluations) = (false, 0);
    speak(|word, words, out| {
        match word {
            "position" => in_check = board_of(words).in_check(),
            "eval" => {
                evaluations += 1;
                let evaluation = if in_check { "value: none\n" } else { "a table\nvalue: 17\n" };
                write!(out, "{}", if evaluations == odd { text } else { evaluation })?;
            }
            _ => {}
        }
        Ok(evaluations != odd || text != "end")
    })
}

#[test]
#[ignore = "no test of its own: the tests of this file start it as their engine"]
fn the_evaluating_engine() {
    evaluating(0, "").unwrap();
}

#[test]
#[ignore = "no test of its own: the tests of this file start it as their engine"]
fn the_evaluating_engine_that_is_ready_twice() {
    evaluating(5, "readyok\nvalue: 17\n").unwrap();
}

#[test]
#[ignore = "no test of its own: the tests of this file start it as their engine"]
fn the_evaluating_engine_that_ends() {
    evaluating(5, "end").unwrap();
}

#[test]
fn a_missing_evaluation_is_an_error_but_in_checks_of_games() {
    let folder = Folder::new();
    folder.write_games("a.vf", 15, 4);
    folder.run("convert @a.vf --out @a.txt");
    let evaluating = engine_of("rescore::the_evaluating_engine");
    let all = column(&folder, "a.txt", 0);
    let checks = all.iter().filter(|fen| Board::from_fen(fen).unwrap().in_check()).count();
    assert!(checks > 0);
    folder.run(&format!("rescore @a.vf --out @b.vf --eval value: --eval-view white --ahead 9 {evaluating}"));
    folder.run("convert @b.vf --out @b.txt");
    assert_eq!(column(&folder, "b.txt", 1), vec!["17"; all.len() - checks]);
    for (input, words, engine, expected) in [
        (
            "a.vf",
            "--eval value:",
            "",
            "`value: 17` does not say whose advantage is positive; give --eval-view white or mover",
        ),
        ("a.vf", "--eval nothing:", "", "no line that it prints for `eval` begins with `nothing:` and has a number"),
        ("a.txt", "--eval nothing: --ahead 99", "", "begins with `nothing:` and has a number"),
        (
            "a.txt",
            "--eval value: --eval-view mover",
            "",
            "in check: drop such positions by `data filter`, and write another --out",
        ),
        (
            "a.vf",
            "--eval value: --eval-view mover --ahead 9",
            "_that_is_ready_twice",
            "`eval` begins with `value:` and has a number",
        ),
        ("a.vf", "--eval value: --eval-view mover --ahead 9", "_that_ends", "exit status 0 at `"),
        ("a.vf", "--eval value: --depth 1", "", "cannot be used with"),
        ("a.vf", "--depth 1 --eval-view mover", "", "cannot be used with"),
        ("a.vf", "--eval-view mover", "", "--eval <WORDS>"),
    ] {
        let out = format!("c.{}", input.split_once('.').unwrap().1);
        let _ = std::fs::remove_file(folder.path(&out));
        let engine = engine_of(&format!("rescore::the_evaluating_engine{engine}"));
        let error = folder.error(&format!("rescore @{input} --out @{out} {words} {engine}"));
        assert!(error.contains(expected), "{words}: {error}");
    }
}

/// A game may have a position without a score. Where a position is a record, it may not.
#[test]
fn a_missing_score_ends_no_rescoring_of_games() {
    let folder = Folder::new();
    folder.write_games("a.vf", 14, 4);
    let rescored = |out: &str, ahead: u32, engine: &str| {
        folder.run(&format!("rescore @a.vf --out @{out}.vf --depth 1 --ahead {ahead} {}", engine_of(engine)));
        folder.run(&format!("convert @{out}.vf --out @{out}.txt"));
        lines(&folder.path(&format!("{out}.txt"))).len()
    };
    let all = rescored("all", 1, "rescore::the_patient_engine");
    let forgetful = "rescore::the_patient_engine_that_knows_no_score_once";
    assert_eq!([rescored("one", 1, forgetful), rescored("ahead", 50, forgetful)], [all - 1; 2]);
    let error = folder.error(&format!("rescore @all.txt --out @b.txt --depth 1 {}", engine_of(forgetful)));
    assert!(error.contains("no score for `") && error.ends_with("raise --nodes or --depth"), "{error}");
}

#[test]
fn scores_are_whites() {
    let folder = Folder::new();
    folder.write(
        "a.txt",
        "4k3/8/8/8/8/8/8/QQ2K3 w - - 0 1 | 0 | 1.0\n4k3/8/8/8/8/8/8/QQ2K3 b - - 0 1 | 0 | 1.0\n\
         R6k/6pp/8/8/8/8/8/K7 b - - 0 1 | 0 | 1.0\n7k/5Q2/8/8/8/8/8/K7 b - - 0 1 | 9 | 0.5\n\
         7k/6pp/8/8/8/8/8/K6R w - - 0 1 | 0 | 1.0\n",
    );
    folder.run(&format!("rescore @a.txt --out @b.txt --nodes 2000 {}", engine()));
    let scores: Vec<i32> = column(&folder, "b.txt", 1).iter().map(|score| score.parse().unwrap()).collect();
    assert!(scores[0] > 1000 && scores[1] > 1000, "{scores:?}");
    assert_eq!(scores[2..4], [31_000, 0]);
}

#[test]
fn engines_that_fail_are_named() {
    let folder = Folder::new();
    folder.write("a.txt", "4k3/8/8/8/8/8/8/QQ2K3 w - - 0 1 | 0 | 1.0\n");
    for (words, expected) in [
        ("--engine @missing --depth 1", "there is no program"),
        ("--engine @missing --depth 1 --option Hash", "--option Hash: expected NAME=VALUE"),
        ("--engine @missing", "--depth <PLIES>"),
        ("--engine @missing --depth 1 --to plain", "invalid value 'plain' for '--to <FORMAT>'"),
    ] {
        let error = folder.error(&format!("rescore @a.txt --out @b.txt {words}"));
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn an_option_that_an_engine_does_not_have_is_told_once() {
    let folder = Folder::new();
    folder.write("a.txt", "4k3/8/8/8/8/8/8/QQ2K3 w - - 0 1 | 0 | 1.0\n");
    let error = folder.error(&format!("rescore @a.txt --out @b.txt --depth 1 --option Nope=3 {}", engine()));
    assert_eq!(error.matches("Nope").count(), 1, "{error}");
}

#[test]
fn a_run_goes_on_only_with_the_same_formats_and_files() {
    let folder = Folder::new();
    folder.write_games("a.vf", 26, 3);
    folder.run("convert @a.vf --out @a.txt");
    let words = format!("rescore @a.txt --depth 1 --option Hash=1 {}", engine());
    folder.run(&format!("{words} --out @b.txt"));
    let (input, settings, whole) = (folder.text("a.txt"), folder.text("b.txt.settings"), folder.read("b.txt"));
    let half = &whole[..whole.len() / 2];
    folder.write("b.txt", half);
    let refused = |words: &str, expected: &str| {
        let error = folder.error(words);
        assert!(
            error.contains(expected) && error.contains("give the same arguments and files, or another --out"),
            "{error}"
        );
        assert!(folder.read("b.txt") == half, "nothing is cut away");
    };
    refused(
        &format!("{words} --out @b.txt --to bulletformat"),
        "b.txt: started with `output = text`, not `output = bulletformat`",
    );
    // The same number of positions and bytes in another order.
    let mut other: Vec<_> = input.lines().collect();
    other.reverse();
    folder.write("a.txt", other.join("\n") + "\n");
    refused(
        &format!("{words} --out @b.txt"),
        &format!("b.txt: started with `a.txt = text, {} bytes, sample ", input.len()),
    );
    folder.write("a.txt", format!("{input}4k3/8/8/8/8/8/8/QQ2K3 w - - 0 1 | 0 | 1.0\n"));
    refused(&format!("{words} --out @b.txt"), "b.txt: started with `a.txt = text, ");
    folder.write("a.txt", &input);
    // Another program of the same name would give other scores.
    let (kept, _) = settings.split_once("sha256 of the engine = ").unwrap();
    folder.write("b.txt.settings", format!("{kept}sha256 of the engine = 0\n"));
    refused(&format!("{words} --out @b.txt"), "b.txt: started with `sha256 of the engine = 0`, not `sha256");
    // Settings that are cut off say nothing.
    folder.write("b.txt.settings", "");
    let error = folder.error(&format!("{words} --out @b.txt"));
    assert!(error.contains("b.txt.settings: it is cut off, so") && error.contains("give another --out"), "{error}");
    // A run begun by a version without these settings can continue.
    let before = settings.split("output = ").next().unwrap();
    assert!(before.ends_with("keep hash = false\n"), "{settings}");
    folder.write("b.txt.settings", before);
    folder.run(&format!("{words} --out @b.txt"));
    assert!(folder.read("b.txt") == whole);
}

#[test]
fn a_run_goes_on_only_with_the_same_network() {
    let folder = Folder::new();
    folder.write_games("a.vf", 28, 2);
    let networks = Path::new(env!("CARGO_MANIFEST_DIR")).join("../nets");
    let copy = |name: &str| std::fs::copy(networks.join(name), folder.path("n.nnue")).unwrap();
    copy("self-play.nnue");
    let network = folder.path("n.nnue");
    let options = format!("--option Hash=1 --option EvalMode=nnue --option EvalFile={}", network.display());
    let words = format!("rescore @a.vf --out @b.bin --depth 1 {options} {}", engine());
    folder.run(&words);
    let whole = folder.read("b.bin");
    let half = &whole[..whole.len() / 64 * 32];
    folder.write("b.bin", half);
    copy("destrier.nnue");
    let error = folder.error(&words);
    assert!(error.contains("b.bin: started with `sha256 of ") && error.contains("n.nnue = "), "{error}");
    assert!(folder.read("b.bin") == half);
    copy("self-play.nnue");
    folder.run(&words);
    assert!(folder.read("b.bin") == whole);
}

#[test]
fn positions_without_moves_are_left_out_of_games() {
    let folder = Folder::new();
    folder.write_games("a.vf", 27, 3);
    folder.write("a.txt", "4k3/8/8/8/8/8/8/QQ2K3 w - - 0 1 | 0 | 1.0\n4k3/8/8/8/8/8/8/QQ2K3 b - - 0 1 | 0 | 1.0\n");
    folder.run("convert @a.txt --out @lone.vf");
    let words = format!("--depth 1 --option Hash=1 {}", engine());
    let told = folder.told(&format!("rescore @lone.vf @a.vf --out @b.selfplay {words}"));
    assert!(told.starts_with("3 records in ") && told.contains(", 2 positions left out, of which no move"), "{told}");
    let whole = folder.text("b.selfplay");
    folder.write("b.selfplay", &whole[..whole.len() / 2]);
    folder.run(&format!("rescore @lone.vf @a.vf --out @b.selfplay {words}"));
    assert_eq!(folder.text("b.selfplay"), whole);
}
