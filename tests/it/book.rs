//! `quintain book`: books of every format made, stopped and gone on with, described, converted and
//! played.

use std::env::consts::EXE_SUFFIX;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::harness::{FAKE, Gate, Ran, fake, games, journal_lines, quintain, run, sprt, sprt_args, summary, until};

/// A Polyglot book of `1. e4 e5`, and `1. a4` with weight 0. Keys and move codes as the description
/// of the format has them.
const POLYGLOT: [[u8; 16]; 3] = [
    *b"\x46\x3b\x96\x18\x16\x91\xfc\x9c\x02\x18\x00\x00\0\0\0\0",
    *b"\x46\x3b\x96\x18\x16\x91\xfc\x9c\x03\x1c\x00\x01\0\0\0\0",
    *b"\x82\x3c\x9b\x50\xfd\x11\x41\x96\x0d\x24\x00\x07\0\0\0\0",
];

const AFTER_E4_E5: &str = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2";

fn words(line: &str) -> impl Iterator<Item = String> {
    line.split_whitespace().map(str::to_owned)
}

/// `book make` into `out`, judged by a scripted peer.
fn make_args(engine: &str, out: &Path, more: &str) -> Vec<String> {
    let engine = fake(if engine.is_empty() { "--seed 1" } else { engine });
    let mut args = ["book", "make", "--engine", &engine, "--out", out.to_str().unwrap()].map(str::to_owned).to_vec();
    args.extend(words(more));
    args
}

#[track_caller]
fn make(engine: &str, out: &Path, more: &str) -> Vec<u8> {
    let ran = run(&make_args(engine, out, more));
    assert_eq!(ran.code, Some(0), "{more}: {ran:?}");
    assert!(!partial(out).exists());
    std::fs::read(out).unwrap()
}

fn partial(out: &Path) -> PathBuf {
    out.with_file_name(format!("{}.partial", out.file_name().unwrap().to_str().unwrap()))
}

fn judged(out: &Path) -> usize {
    std::fs::read(partial(out)).unwrap_or_default().iter().filter(|byte| **byte == b'\n').count().saturating_sub(1)
}

/// `book` with words; the files are in `folder`.
fn book(folder: &Path, line: &str) -> Ran {
    let args: Vec<String> = std::iter::once("book".to_owned()).chain(words(line)).collect();
    quintain(&args).current_dir(folder).output().unwrap().into()
}

#[track_caller]
fn check_error(folder: &Path, line: &str, parts: &[&str]) {
    let ran = book(folder, line);
    assert_eq!(ran.code, Some(2), "{line}: {ran:?}");
    assert_eq!(ran.stderr.lines().count(), 1, "{line}: {ran:?}");
    for part in parts {
        assert!(ran.stderr.contains(part), "{line}: {ran:?}");
    }
}

#[track_caller]
fn info(folder: &Path, line: &str) -> Value {
    let ran = book(folder, &format!("info --json {line}"));
    assert_eq!(ran.code, Some(0), "{line}: {ran:?}");
    serde_json::from_str(&ran.stdout).unwrap()
}

/// A make that is at work, killed should its test fail.
struct Live(Child);

impl Live {
    /// Starts it and waits until `until_judged` positions are judged.
    #[cfg(unix)]
    fn start(args: &[String], out: &Path, until_judged: usize) -> Self {
        let mut live = Self(quintain(args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap());
        until("judgements", || judged(out) >= until_judged || live.0.try_wait().unwrap().is_some());
        live
    }

    #[cfg(unix)]
    fn signal(mut self, signal: rustix::process::Signal) -> Ran {
        let pid = rustix::process::Pid::from_child(&self.0);
        rustix::process::kill_process(pid, signal).unwrap();
        let status = self.0.wait().unwrap();
        let mut stderr = String::new();
        std::io::Read::read_to_string(self.0.stderr.as_mut().unwrap(), &mut stderr).unwrap();
        Ran { code: status.code(), stdout: String::new(), stderr }
    }

    /// Reads its standard output, which must be a pipe, to the end.
    fn said(&mut self) -> String {
        let mut stdout = String::new();
        std::io::Read::read_to_string(self.0.stdout.as_mut().unwrap(), &mut stdout).unwrap();
        stdout
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The material after 14 plies decides: some positions are skimmed, some refused, most kept.
const SETTINGS: &str = "--count 120 --plies 14 --seed 3 --nodes 2000 --window 0,60";

#[cfg(unix)]
#[test]
fn a_make_that_is_stopped_goes_on_to_the_same_book() {
    use rustix::process::Signal;
    let folder = tempfile::tempdir().unwrap();
    let (out, whole) = (folder.path().join("book.epd"), folder.path().join("whole.epd"));
    let expected = make("", &whole, &format!("{SETTINGS} -j 1"));
    assert_eq!(expected.iter().filter(|byte| **byte == b'\n').count(), 120);
    assert_eq!(make("", &whole, &format!("{SETTINGS} -j 3")), expected);

    // Each engine searches for two dozen positions at the most, and then waits: however late the
    // signals come, the book is not made.
    let gate = Gate::new(folder.path(), 49);
    let args = |more: &str| make_args(&gate.words(), &out, &format!("{SETTINGS} {more}"));
    let killed = Live::start(&args("-j 2"), &out, 20).signal(Signal::KILL);
    assert_eq!(killed.code, None);
    let first = judged(&out);
    assert!(!out.exists() && (20..120).contains(&first), "{first}");

    // A line that the kill cut off.
    let mut torn = std::fs::read(partial(&out)).unwrap();
    torn.extend_from_slice(b"9999 ke");
    std::fs::write(partial(&out), torn).unwrap();
    // Not Ctrl-C's signal: who runs the tests in the background has it ignored, and then it is.
    let stopped = Live::start(&args("-j 1"), &out, first + 20).signal(Signal::TERM);
    assert_eq!(stopped.code, Some(130), "{stopped:?}");
    assert!(stopped.stderr.contains(&format!("book.epd.partial: {first} positions are judged")), "{stopped:?}");
    assert!(stopped.stderr.contains("of 120 positions; the same command continues"), "{stopped:?}");
    assert!(!out.exists());

    let other = run(&make_args(&gate.words(), &out, &SETTINGS.replace("2000", "2001")));
    assert_eq!(other.code, Some(2), "{other:?}");
    assert!(
        other.stderr.contains("book.epd.partial: started with nodes 2000 and not 2001; give the same"),
        "{other:?}"
    );
    let other = run(&make_args(&format!("{} --sleep-us 1", gate.words()), &out, SETTINGS));
    assert_eq!(other.code, Some(2), "{other:?}");
    assert!(other.stderr.contains("book.epd.partial: started with engine_args [\"--hold\",\""), "{other:?}");
    assert!(other.stderr.contains("give the same settings, or delete it to start again"), "{other:?}");
    assert!(judged(&out) >= first + 20);

    gate.open();
    assert_eq!(make(&gate.words(), &out, &format!("{SETTINGS} -j 3")), expected);
}

#[test]
fn a_make_into_a_name_of_another_format_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["x.pgn", "x.PGN.gz", "x.bin", "x.bin.zst"] {
        let line = format!("make --out {name} --count 1 --engine nosuch");
        let parts = [name, "`book make` writes EPD: end the name in .epd", "`book convert` makes a PGN"];
        check_error(folder.path(), &line, &parts);
    }
}

#[test]
fn a_make_into_a_folder_is_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("books.epd")).unwrap();
    check_error(folder.path(), "make --out books.epd --count 1 --engine nosuch", &["books.epd: it is a folder"]);
}

/// The error names two remedies, and both work.
#[test]
fn a_make_that_asks_for_too_much_is_followed_by_one_that_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("book.epd");
    let ask = |count: u32, plies: u32| format!("--count {count} --plies {plies} --nodes 10 --window 0,900 -j 2");
    for (count, plies) in [(10, 1), (30, 2)] {
        let ran = run(&make_args("", &out, &ask(30, 1)));
        let told = "only 20 positions, of which 20 are in the window; raise --plies, or lower --count";
        assert!(ran.code == Some(2) && ran.stderr.contains(told), "{ran:?}");
        assert_eq!(make("", &out, &ask(count, plies)).iter().filter(|byte| **byte == b'\n').count(), count as usize);
    }
}

#[test]
fn an_engine_that_fails_leaves_no_book() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("book.epd");
    let broken = run(&make_args("--fault abort@1", &out, &format!("{SETTINGS} -j 1")));
    assert_eq!(broken.code, Some(2), "{broken:?}");
    assert!(broken.stderr.contains("the engine ended"), "{broken:?}");
    assert!(!out.exists() && judged(&out) == 0);
    // Nothing was judged: another engine may begin.
    make("", &out, SETTINGS);
}

#[test]
fn a_window_of_whites_advantage() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("book.epd");
    // The mover always claims 100 centipawns: White's after two plies, Black's after one.
    for (plies, window, made) in [
        (2, "80..120", true),
        (2, "-120..-80", false),
        (1, "-120..-80", true),
        (1, "80..120", false),
        (1, "80,120", true),
    ] {
        let more = format!("--count 15 --plies {plies} --nodes 10 --window {window} -j 2");
        let ran = run(&make_args("--score 100", &out, &more));
        assert_eq!(ran.code, Some(if made { 0 } else { 2 }), "{more}: {ran:?}");
        if !made {
            assert!(ran.stderr.contains("of which 0 are in the window"), "{ran:?}");
            std::fs::remove_file(partial(&out)).unwrap();
        }
    }
    let ran = run(&make_args("", &out, "--count 1 --window 5"));
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("--window `5` is no window"), "{ran:?}");
}

#[test]
fn books_of_chess960() {
    let folder = tempfile::tempdir().unwrap();
    for (flag, name) in [("--chess960", "single.epd"), ("--dfrc", "double.epd.zst")] {
        let out = folder.path().join(name);
        let more = format!("{flag} --count 60 --plies 4 --seed 2 --nodes 100 -j 2");
        let made = make("", &out, &more);
        assert_eq!(made.starts_with(b"\x28\xb5\x2f\xfd"), flag == "--dfrc");
        assert_eq!(make("", &out, &more.replace("-j 2", "-j 1")), made);
        let found = info(folder.path(), &format!("{name} --chess960"));
        assert_eq!((&found["openings"], &found["duplicates"], &found["plies_max"]), (&60.into(), &0.into(), &4.into()));
        let ran = book(folder.path(), &format!("check {name} --chess960"));
        assert!(ran.stdout.contains("all 60 openings can be played, 0 duplicates"), "{ran:?}");
        // The engines are told, and play from it.
        let dir = folder.path().join(format!("run-{name}"));
        let more = format!("--nodes 1 --max-plies 6 --max-pairs 2 --seed 1 -j 1 --chess960 --book {}", out.display());
        sprt(3, "--seed 1", "--seed 2", &dir, &more);
        assert!(games(&dir).iter().all(|game| game.opening.1.split(' ').nth(2).unwrap().len() <= 4));
    }
    let both = run(&make_args("", &folder.path().join("x.epd"), "--count 1 --chess960 --dfrc"));
    assert_eq!(both.code, Some(2));
}

#[test]
fn conversions() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let epd = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - hmvc 0; fmvn 2;\n\
               rnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR b KQkq - hmvc 0; fmvn 1;\n";
    std::fs::write(at("a.epd"), epd).unwrap();
    std::fs::write(at("a.bin"), POLYGLOT.concat()).unwrap();
    std::fs::write(at("twice.pgn"), "1. e4 e5 2. Nf3 *\n\n1. Nf3 e5 2. e4 *\n\n[FEN \"4k3/8/8/8/8/8/8/R3K2R b KQ - 0 9\"]\n\n9... Ke7 10. O-O-O *\n").unwrap();
    // One after the other; each reads what an earlier one wrote.
    let steps = [
        "a.epd b.fen",
        "b.fen c.pgn",
        "c.pgn d.epd.gz",
        "d.epd.gz e.fen.zst",
        "e.fen.zst f.pgn.gz",
        "f.pgn.gz g.epd",
        "twice.pgn h.pgn --unique",
        "h.pgn i.fen",
        "a.bin j.pgn --book-plies 2",
        "a.bin j.fen --book-plies 2",
        "j.pgn k.epd.zst --book-plies 1",
    ];
    for step in steps {
        let ran = book(folder.path(), &format!("convert {step}"));
        assert_eq!(ran.code, Some(0), "{step}: {ran:?}");
    }
    let read = |name: &str| std::fs::read_to_string(at(name)).unwrap();
    assert_eq!(read("g.epd"), epd);
    assert_eq!(read("b.fen").lines().next(), Some(AFTER_E4_E5));
    assert_eq!(read("j.fen"), format!("{AFTER_E4_E5}\n"));
    assert!(read("j.pgn").ends_with("[Result \"*\"]\n\n1. e4 e5 *\n\n"), "{}", read("j.pgn"));
    assert!(read("h.pgn").contains("\n9... Ke7 10. O-O-O *\n"), "{}", read("h.pgn"));
    assert_eq!(read("i.fen").lines().count(), 2);
    for (name, magic) in [("d.epd.gz", b"\x1f\x8b\x08\x00".as_slice()), ("e.fen.zst", b"\x28\xb5\x2f\xfd")] {
        assert!(std::fs::read(at(name)).unwrap().starts_with(magic), "{name}");
    }

    std::fs::write(at("cut.epd.gz"), &std::fs::read(at("d.epd.gz")).unwrap()[..40]).unwrap();
    std::fs::write(at("odd.bin"), &POLYGLOT.concat()[..47]).unwrap();
    let refused: [(&str, &[&str]); 9] = [
        ("convert a.epd b.fen", &["b.fen: it exists already; --force replaces it"]),
        ("convert a.epd x.epd --book-plies 2", &["a list of positions has no moves; leave out --book-plies"]),
        ("convert a.epd x.bin", &["x.bin", "Polyglot books are read and not written"]),
        ("convert a.epd x", &["the name implies no format"]),
        ("convert a.epd x.gz", &["x.gz", "the name implies no format"]),
        ("convert none.epd x.epd", &["cannot read the book none.epd"]),
        ("info cut.epd.gz", &["cut.epd.gz is a broken gzip archive: it ends too early"]),
        ("check odd.bin", &["odd.bin: 47 bytes are not a multiple of Polyglot's 16-byte entries"]),
        ("check a.bin", &["a.bin: its longest line has 2 plies", "--book-plies 2"]),
    ];
    for (line, parts) in refused {
        check_error(folder.path(), line, parts);
        assert!(!at("x.epd").exists());
    }
}

#[test]
fn a_check_in_json_has_the_same_keys_for_every_book() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text, code, found) in [
        ("good.epd", format!("{AFTER_E4_E5}\n"), 0, [1.into(), 0.into(), 0.into()]),
        ("bad.epd", format!("{AFTER_E4_E5}\njunk\n"), 2, [Value::Null, Value::Null, 1.into()]),
        ("bad.pgn", "[Event \"?\"]\n\n1. e5 *\n".to_owned(), 2, [Value::Null, Value::Null, Value::Null]),
    ] {
        std::fs::write(folder.path().join(name), text).unwrap();
        let ran = book(folder.path(), &format!("check {name} --json"));
        assert_eq!(ran.code, Some(code), "{ran:?}");
        let document: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
        let [openings, duplicates, faults] = found;
        let expected = serde_json::json!({ "openings": openings, "duplicates": duplicates, "faults": faults });
        assert_eq!(document, expected, "{name}");
    }
}

#[test]
fn every_format_is_described_and_played() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.bin"), POLYGLOT.concat()).unwrap();
    for step in ["a.bin a.epd.gz", "a.bin a.fen.zst", "a.bin a.pgn.zst"] {
        let ran = book(folder.path(), &format!("convert {step} --book-plies 2"));
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }
    for (name, format, packing, played) in [
        ("a.bin", "Polyglot", Value::Null, true),
        ("a.epd.gz", "EPD", "gzip".into(), false),
        ("a.fen.zst", "EPD", "zstd".into(), false),
        ("a.pgn.zst", "PGN", "zstd".into(), true),
    ] {
        // A list of positions has no plies to cut.
        let plies = if played { " --book-plies 2" } else { "" };
        let found = info(folder.path(), &format!("{name}{plies}"));
        assert_eq!(
            (&found["format"], &found["packing"], &found["openings"]),
            (&format.into(), &packing, &1.into()),
            "{name}"
        );
        assert_eq!((&found["plies_min"], &found["white_to_move"]), (&2.into(), &1.into()), "{name}");
        let ran = book(folder.path(), &format!("check {name}{plies}"));
        assert!(ran.stdout.contains("all 1 openings can be played"), "{name}: {ran:?}");

        let (path, dir) = (folder.path().join(name), folder.path().join(format!("run-{name}")));
        let more = format!("--nodes 1 --max-plies 6 --max-pairs 1 --seed 1 -j 1{plies} --book {}", path.display());
        sprt(3, "--seed 1", "--seed 2", &dir, &more);
        for game in games(&dir) {
            assert_eq!(game.opening.2, if played { "e2e4 e7e5" } else { "" }, "{name}");
            assert_eq!(game.opening.1 == AFTER_E4_E5, !played, "{name}");
        }
        // The plan holds the hash of the file as it lies on disk.
        let plan = std::fs::read_to_string(dir.join("plan.toml")).unwrap();
        assert!(plan.contains(found["sha256"].as_str().unwrap()), "{name}");
    }
}

#[test]
fn the_books_of_this_repository_are_sound() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("openings");
    let card = std::fs::read_to_string(root.join("README.md")).unwrap();
    for (name, count, more) in [
        ("quintain_8ply.epd.zst", 100_000, ""),
        ("quintain_8ply_10000.epd.zst", 10_000, ""),
        ("quintain_unbalanced.epd.zst", 50_000, ""),
        ("quintain_chess960.epd", 1500, "--chess960"),
    ] {
        let found = info(&root, &format!("{name} {more}"));
        assert_eq!((&found["openings"], &found["duplicates"]), (&count.into(), &0.into()), "{name}");
        assert!(card.contains(found["sha256"].as_str().unwrap()), "{name}");
    }
}

/// A book whose temporary file is cut while a run lasts stops it, resumable: it is not at its end.
#[cfg(target_os = "linux")]
#[test]
fn a_book_that_cannot_be_read_any_more_breaks_the_run_off() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.epd");
    // More text than stays in memory, most of it comments before the openings.
    let mut text = ("#".repeat(60_000) + "\n").repeat(150);
    for number in 1..1000 {
        text += &format!("4k3/8/8/8/8/8/PPPP4/4K3 w - - 0 {number}\n");
    }
    std::fs::write(&path, text).unwrap();
    let dir = folder.path().join("run");
    let more = format!("--book {} --nodes 1 --max-plies 20 --max-pairs 900 -j 1 --seed 3", path.display());
    let gate = Gate::new(folder.path(), 6);
    let args = sprt_args(&format!("--seed 1 {}", gate.words()), "--seed 2", &dir, &more);
    let mut live = Live(quintain(&args).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap());
    let journal = dir.join("games.jsonl");
    let lines = || std::fs::read(&journal).map_or(0, |text| text.iter().filter(|byte| **byte == b'\n').count());
    until("games", || lines() > 4 || live.0.try_wait().unwrap().is_some());
    let files = std::fs::read_dir(format!("/proc/{}/fd", live.0.id())).unwrap().map(|file| file.unwrap().path());
    let is_nameless = |file: &PathBuf| {
        let target = std::fs::read_link(file).unwrap_or_default();
        target.starts_with(std::env::temp_dir()) && target.to_string_lossy().ends_with("(deleted)")
    };
    let copies: Vec<_> = files.filter(is_nameless).collect();
    assert_eq!(copies.len(), 1, "{copies:?}");
    std::fs::OpenOptions::new().write(true).open(&copies[0]).unwrap().set_len(0).unwrap();
    gate.open();
    let stdout = live.said();
    let code = live.0.wait().unwrap().code();
    assert_eq!(code, Some(4), "{stdout}");
    assert!(stdout.contains("aborted: the temporary copy of the book "), "{stdout}");
    assert!(stdout.contains("continue with: quintain resume "), "{stdout}");
    assert_eq!(summary(&dir)["stopped_by"], "broken");
    assert_eq!(run(&["resume", dir.to_str().unwrap()]).code, Some(3));
    assert_eq!(games(&dir).len(), 1800);
}

/// `book judge` by two scripted peers that have `hold` on their command lines, with two small books
/// in the folder.
fn judging(folder: &Path, hold: &str, more: &str) -> Command {
    let lines = |moves: &[&str]| moves.iter().map(|fen| format!("{fen}\n")).collect::<String>();
    let start = ["rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -", AFTER_E4_E5];
    std::fs::write(folder.join("a.epd"), lines(&start)).unwrap();
    let other = "rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2";
    std::fs::write(
        folder.join("b.epd"),
        lines(&[other, "rnbqkbnr/pppp1ppp/4p3/8/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2"]),
    )
    .unwrap();
    let engines = [("Strong", 1), ("Weak", 2)].map(|(name, seed)| fake(&format!("--name {name} --seed {seed} {hold}")));
    let mut args = ["book", "judge", "--engines", &engines.join(",")].map(str::to_owned).to_vec();
    args.extend(words("--nodes 10 --max-plies 40 -j 1 --seed 5"));
    args.extend(words(more));
    let mut command = quintain(&args);
    command.current_dir(folder);
    command
}

fn judge(folder: &Path, more: &str) -> Ran {
    judging(folder, "", more).output().unwrap().into()
}

/// Matches of one book of a judgement.
fn matches(judgement: &Path, book: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(judgement.join(book).join("matches")).into_iter().flatten();
    entries.map(|entry| entry.unwrap().path()).filter(|path| path.join("plan.toml").is_file()).collect()
}

/// It plays the rest of the match that it was killed in, and no other.
#[test]
fn a_killed_judgement_goes_on_within_its_match() {
    let folder = tempfile::tempdir().unwrap();
    let gate = Gate::new(folder.path(), 4);
    let into = |out: &str| {
        let more = format!("--books builtin --pairs 4 --batch 4 --stall-timeout 3600 --json --out {out}");
        judging(folder.path(), &gate.words(), &more)
    };
    let [killed, whole] = ["killed", "whole"].map(|name| folder.path().join(name));
    let mut child = into("killed").stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    until("three games", || {
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        matches(&killed, "01-builtin").first().is_some_and(|run| journal_lines(run) == 4)
    });
    child.kill().unwrap();
    child.wait().unwrap();
    gate.open();
    let [found, expected] = ["killed", "whole"].map(|out| {
        let ran: Ran = into(out).output().unwrap().into();
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let document: Value = serde_json::from_str(&ran.stdout).unwrap();
        ["pairs", "ptnml"].map(|key| document["arms"][0][key].clone())
    });
    assert_eq!((&found, &found[0]), (&expected, &4.into()));
    let played = |judgement: &Path| matches(judgement, "01-builtin").iter().map(|run| games(run)).collect::<Vec<_>>();
    assert_eq!(played(&killed), played(&whole));
}

#[test]
fn books_are_judged_in_turns_and_the_same_command_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let more = "--books a.epd b.epd builtin --pairs 2 --batch 1 --out judge --json";
    let ran = judge(folder.path(), more);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let found: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    let arms = found["arms"].as_array().unwrap();
    assert_eq!(arms.iter().map(|arm| arm["book"].as_str().unwrap()).collect::<Vec<_>>(), ["a.epd", "b.epd", "builtin"]);
    for arm in arms {
        let sum: u64 = arm["ptnml"].as_array().unwrap().iter().map(|count| count.as_u64().unwrap()).sum();
        assert_eq!((arm["pairs"].as_u64(), sum), (Some(2), 2), "{arm}");
        assert!(arm["pairs_an_hour"].as_f64().unwrap() > 0.0, "{arm}");
    }
    assert!(arms[0]["against_first"].is_null() && arms[1]["against_first"].is_object(), "{found}");
    let matches = |book: &str| matches(&folder.path().join("judge"), book).len();
    // One pair each time a book has its turn.
    assert_eq!((matches("01-a.epd"), matches("03-builtin")), (2, 2));
    let kept = std::fs::read_to_string(folder.path().join("judge/judge.json")).unwrap();
    assert_eq!(kept.trim_end(), ran.stdout.trim_end());

    // Nothing is left to play; then a book has a pair more, and the others none in their books.
    assert_eq!(judge(folder.path(), more).stdout, ran.stdout);
    let ran = judge(folder.path(), &more.replace("--pairs 2", "--pairs 3").replace(" --json", ""));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("a.epd: each of its openings was played once"), "{ran:?}");
    assert!(ran.stdout.contains("against a.epd") && ran.stdout.contains("bias (Elo)"), "{ran:?}");
    assert_eq!((matches("01-a.epd"), matches("03-builtin")), (2, 3));
}

#[test]
fn a_judgement_plays_each_opening_once_though_some_repeat_others() {
    let folder = tempfile::tempdir().unwrap();
    judge(folder.path(), "--books a.epd --pairs 2 --out none");
    let lines = std::fs::read_to_string(folder.path().join("a.epd")).unwrap();
    let [one, two] = [0, 1].map(|line| lines.lines().nth(line).unwrap());
    let other = "rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2";
    std::fs::write(folder.path().join("twice.epd"), [one, one, one, two, two, other].join("\n")).unwrap();
    let ran = judge(folder.path(), "--books twice.epd --pairs 6 --batch 3 --out judge --json");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let found: Value = serde_json::from_str(&ran.stdout).unwrap();
    let pairs = found["arms"][0]["pairs"].as_u64().unwrap();
    // Each of the two matches leaves out its own repeats; one of them has some in any order.
    assert!((3..=5).contains(&pairs), "{found}");
    let mut openings = Vec::new();
    for entry in std::fs::read_dir(folder.path().join("judge/01-twice.epd/matches")).unwrap() {
        let path = entry.unwrap().path();
        if path.join("plan.toml").is_file() {
            openings.extend(games(&path).iter().map(|game| game.opening.0));
        }
    }
    openings.sort_unstable();
    assert_eq!(openings, [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]);
}

#[test]
fn clocks_are_judged_like_books() {
    let folder = tempfile::tempdir().unwrap();
    let mut args = ["book", "judge", "--books", "builtin", "--tcs", "60+1,80+1", "--pairs", "2", "--batch", "2"]
        .map(str::to_owned)
        .to_vec();
    args.extend([
        "--engines".to_owned(),
        format!("{},{}", fake("--name Strong --seed 1"), fake("--name Weak --seed 2")),
    ]);
    args.extend(words("--max-plies 20 -j 1 --out judge --json"));
    let ran: Ran = quintain(&args).current_dir(folder.path()).output().unwrap().into();
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let found: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((&found["arms"][0]["tc"], &found["arms"][1]["tc"]), (&Value::from("60+1"), &Value::from("80+1")));
    assert!(folder.path().join("judge/02-builtin-80+1/matches").is_dir());
}

#[test]
fn a_judgement_that_cannot_be_made_is_refused_on_one_line() {
    let folder = tempfile::tempdir().unwrap();
    for (more, says) in [
        ("--books a.epd missing.epd --out j1", "missing.epd"),
        ("--books a.epd a.epd --out j2", "--books: `a.epd` is given twice"),
        ("--books a.epd --book b.epd --out j3", "--book: give the books with --books"),
        ("--books a.epd --until-width 5 --out j4", "--until-width ends a single match"),
        ("--books a.epd builtin --book-plies 2 --out j5", "a list of positions has no moves; leave out --book-plies"),
    ] {
        let ran = judge(folder.path(), more);
        assert_eq!(ran.code, Some(2), "{more}: {ran:?}");
        assert!(ran.stderr.contains(says), "{more}: {ran:?}");
    }
    let ran = judge(folder.path(), "--books a.epd --pairs 2 --out judge");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let args = ["book", "judge", "--books", "a.epd", "--engines", "one,two", "--pairs", "2", "--out", "judge"];
    let other: Ran = quintain(&args).current_dir(folder.path()).output().unwrap().into();
    assert_eq!(other.code, Some(2), "{other:?}");
    assert!(other.stderr.contains("give these --engines, or another --out"), "{other:?}");
    let ran = judge(folder.path(), "--books a.epd --pairs 2 --out judge --stall-timeout 900");
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("its matches have other limits, options or rules"), "{ran:?}");
}

#[test]
fn a_judgement_goes_on_only_with_its_programs_and_tells_its_receivers() {
    let folder = tempfile::tempdir().unwrap();
    let engine = folder.path().join(format!("engine{EXE_SUFFIX}"));
    std::fs::copy(FAKE, &engine).unwrap();
    std::fs::write(folder.path().join("a.epd"), format!("{AFTER_E4_E5}\n")).unwrap();
    let engines = ["1", "2"].map(|seed| format!("{} -- --seed {seed}", engine.display())).join(",");
    // A receiver is a command of the shell.
    let has_shell = cfg!(unix);
    let mut args = ["book", "judge", "--engines", &engines].map(str::to_owned).to_vec();
    if has_shell {
        args.extend(["--on-end", "cat > told"].map(str::to_owned));
    }
    args.extend(words("--books a.epd --nodes 10 --max-plies 20 -j 1 --pairs 2 --out judge"));
    let judge = || -> Ran { quintain(&args).current_dir(folder.path()).output().unwrap().into() };
    let ran = judge();
    assert_eq!(ran.code, Some(0), "{ran:?}");
    if has_shell {
        let told: Value = serde_json::from_slice(&std::fs::read(folder.path().join("told")).unwrap()).unwrap();
        let found = (&told["name"], &told["exit"], &told["arms"][0]["pairs"]);
        assert_eq!(found, (&"book judge".into(), &0.into(), &1.into()));
    }
    std::fs::OpenOptions::new().append(true).open(&engine).unwrap().write_all(b"\n").unwrap();
    let ran = judge();
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("its matches were played by other programs; give another --out"), "{ran:?}");
}
