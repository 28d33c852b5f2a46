//! Tests of self-play into files: the same games on any number of threads, and after any
//! interruption.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use destrier::datagen::viriformat::{NO_SCORE, Reader, ScoredGame};
use destrier::datagen::{Job, RunError, Tally, Target, parse, run};
use destrier::nnue::{Kind, Layout, encode, random_payload};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Temporary folder that is removed when dropped.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("destrier-datagen-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn job(&self, name: &str, words: &str) -> Job {
        let out = self.0.join(name).to_str().unwrap().to_owned();
        let mut all = vec!["--out", &out];
        all.extend(words.split(' '));
        parse(&all).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn made(job: &Job) -> (Tally, Vec<u8>) {
    let tally = run(job, |_| {}).unwrap();
    (tally, fs::read(&job.out).unwrap())
}

fn games(path: &Path) -> Vec<ScoredGame> {
    Reader::new(&fs::read(path).unwrap()[..]).map(Result::unwrap).collect()
}

const SETTINGS: &str = "--games 6 --depth 2 --max-plies 60 --hash 1";

#[test]
fn threads_do_not_change_the_games() {
    let folder = Folder::new();
    let (tally, one) = made(&folder.job("one", SETTINGS));
    for (name, words) in [("three", "--threads 3"), ("again", "--threads 1")] {
        assert!(made(&folder.job(name, &format!("{SETTINGS} {words}"))) == (tally, one.clone()), "{words}");
    }
    assert!(made(&folder.job("seed", &format!("{SETTINGS} --seed 2"))).1 != one);
    assert_eq!(tally.games, 6);
    assert_eq!(tally.results.iter().sum::<u64>(), 6);
    assert_eq!(tally.positions, games(&folder.0.join("one")).iter().map(|game| game.plies.len() as u64).sum::<u64>());
    // A request for more games continues the file.
    let more = folder.job("one", "--games 8 --depth 2 --max-plies 60 --hash 1");
    assert!(made(&more).1.starts_with(&one));
    assert_eq!(games(&more.out).len(), 8);
}

#[test]
fn random_moves_have_no_score() {
    let folder = Folder::new();
    let shares: Vec<f64> = [0, 30, 100]
        .into_iter()
        .map(|percent| {
            let words = format!("{SETTINGS} --games 20 --random-moves {percent}").replace("--games 6 ", "");
            let job = folder.job(&format!("random{percent}"), &words);
            let (_, one) = made(&job);
            assert!(made(&folder.job(&format!("again{percent}"), &format!("{words} --threads 3"))).1 == one);
            let plies: Vec<_> = games(&job.out).into_iter().flat_map(|game| game.plies).collect();
            plies.iter().filter(|ply| ply.score == NO_SCORE).count() as f64 / plies.len() as f64
        })
        .collect();
    assert!(shares[0] == 0.0 && (0.2..0.4).contains(&shares[1]) && shares[2] == 1.0, "{shares:?}");
}

#[test]
fn a_run_cut_at_any_byte_goes_on() {
    let folder = Folder::new();
    let job = folder.job("cut", "--games 3 --depth 1 --max-plies 12 --hash 1");
    let (tally, whole) = made(&job);
    for cut in 0..whole.len() {
        fs::write(&job.out, &whole[..cut]).unwrap();
        assert!(made(&job) == (tally, whole.clone()), "cut at {cut}");
    }
}

/// After a power cut, zeros may stand in place of what was written last.
#[test]
fn zeros_at_the_end_are_no_games() {
    let folder = Folder::new();
    let job = folder.job("zeros", "--games 3 --depth 1 --max-plies 12 --hash 1");
    let (tally, whole) = made(&job);
    for cut in (0..whole.len()).step_by(7).chain([whole.len()]) {
        fs::write(&job.out, [&whole[..cut], &[0; 5000]].concat()).unwrap();
        assert!(made(&job) == (tally, whole.clone()), "zeros from {cut} on");
    }
    let mut told = Vec::new();
    run(&job, |tally| told.push(*tally)).unwrap();
    assert_eq!(told, [tally], "no game of a whole file is played again");
}

#[test]
fn enough_positions_end_a_run() {
    let folder = Folder::new();
    for threads in [1, 3] {
        let words = format!("--positions 100 --nodes 200 --max-plies 30 --hash 1 --threads {threads}");
        let (tally, _) = made(&folder.job(&format!("positions{threads}"), &words));
        assert!((100..130).contains(&tally.positions), "{tally}");
    }
}

#[test]
fn openings_come_from_the_book_and_obey_the_limit() {
    let folder = Folder::new();
    let book = folder.0.join("book.epd");
    fs::write(&book, "8/4k3/8/8/8/8/4PK2/8 w - - bm e4;\n\n8/4k3/4p3/8/8/8/5K2/8 w - - 5 40\n").unwrap();
    let job = folder.job("book", &format!("--games 5 --depth 3 --hash 1 --random-plies 1 --book {}", book.display()));
    run(&job, |_| {}).unwrap();
    let starts: Vec<_> = games(&job.out).iter().map(|game| game.start.to_fen(false)).collect();
    assert!(starts.iter().all(|fen| fen.starts_with("8/4k3/") && fen.contains(" b ")), "{starts:?}");
    let limited = folder.job("limited", "--games 12 --depth 3 --max-plies 2 --opening-limit 30 --hash 1");
    run(&limited, |_| {}).unwrap();
    for game in games(&limited.out) {
        assert!(game.plies[0].score.abs() <= 30);
        assert!(matches!(game.start.fullmove_number(), 5));
    }
}

/// Eight openings that make games, one that makes none because White is far ahead, and a stalemate.
const STARTS: &str = "4k3/8/8/8/8/8/P7/4K3 w - -\n4k3/8/8/8/8/8/1P6/4K3 w - -\n4k3/8/8/8/8/8/2P5/4K3 w - -\n\
    4k3/8/8/8/8/8/3P4/4K3 w - -\n4k3/8/8/8/8/8/4P3/4K3 w - -\n4k3/8/8/8/8/8/5P2/4K3 w - -\n\
    4k3/8/8/8/8/8/6P1/4K3 w - -\n4k3/8/8/8/8/8/7P/4K3 w - -\n4k3/8/8/8/8/8/8/QQQQK3 w - -\n7k/5Q2/6K1/8/8/8/8/8 b - -\n";

#[test]
fn without_chance_each_start_has_one_game() {
    let folder = Folder::new();
    let book = folder.0.join("book.epd");
    fs::write(&book, STARTS).unwrap();
    let words = format!("--depth 2 --max-plies 20 --hash 1 --opening-limit 900 --book {}", book.display());
    let job = folder.job("one", &format!("--games 8 {words}"));
    let (tally, one) = made(&job);
    let starts = |path: &Path| -> Vec<String> { games(path).iter().map(|game| game.start.to_fen(false)).collect() };
    let mut different = starts(&job.out);
    different.sort();
    different.dedup();
    assert_eq!((tally.games, different.len()), (8, 8), "{different:?}");
    assert!(made(&folder.job("threads", &format!("--games 8 {words} --threads 3"))).1 == one);
    let other = folder.job("seed", &format!("--games 8 {words} --seed 2"));
    run(&other, |_| {}).unwrap();
    assert!(starts(&other.out) != starts(&job.out), "the seed decides the order");
    // Cut anywhere, the file continues with the next opening.
    for cut in (0..one.len()).step_by(37) {
        fs::write(&job.out, &one[..cut]).unwrap();
        assert!(made(&job) == (tally, one.clone()), "cut at {cut}");
    }
    // Two of the ten do not fit, so there is no ninth game.
    let error = run(&folder.job("one", &format!("--games 9 {words}")), |_| {}).unwrap_err().to_string();
    assert!(error.contains("of 10, 8 made a game, the others are over") && error.contains("--random-moves"), "{error}");
    let positions = folder.job("positions", &format!("--positions 100000 {words} --threads 2"));
    let error = run(&positions, |_| {}).unwrap_err().to_string();
    assert!(error.contains("the starts are used up: of 10, 8 made a game"), "{error}");
    assert!(fs::read(&positions.out).unwrap() == one, "what was made stays");
    let random = folder.job("random", &format!("--games 30 --random-moves 50 {words}"));
    let (_, all) = made(&random);
    let starts = starts(&random.out);
    assert!(starts[..8] == starts[8..16] && starts[..6] == starts[24..], "{starts:?}");
    fs::write(&random.out, &all[..all.len() * 2 / 3]).unwrap();
    assert!(made(&random).1 == all);
}

#[test]
fn files_without_the_clocks_of_a_book_are_not_gone_on_with() {
    let folder = Folder::new();
    let book = folder.0.join("book.epd");
    fs::write(&book, "4k3/8/8/8/8/8/P7/4K3 w - - hmvc 3; fmvn 20;\n").unwrap();
    let words = "--games 1 --depth 1 --max-plies 4 --hash 1 --opening-limit off";
    let job = folder.job("book", &format!("{words} --book {}", book.display()));
    run(&job, |_| {}).unwrap();
    assert_eq!(games(&job.out)[0].start.to_fen(false), "4k3/8/8/8/8/8/P7/4K3 w - - 3 20");
    let settings = folder.0.join("book.settings");
    let text = fs::read_to_string(&settings).unwrap();
    assert!(text.contains(", clocks by opcodes\n"), "{text}");
    fs::write(&settings, text.replace(", clocks by opcodes", "")).unwrap();
    let error = run(&job, |_| {}).unwrap_err().to_string();
    assert!(error.contains("started with `book = ") && error.contains(", clocks by opcodes`"), "{error}");
}

#[test]
fn files_of_drawn_starts_are_not_gone_on_with_in_turn() {
    let folder = Folder::new();
    let book = folder.0.join("book.epd");
    fs::write(&book, STARTS).unwrap();
    let job = folder.job("old", &format!("--games 2 --depth 1 --max-plies 4 --hash 1 --book {}", book.display()));
    run(&job, |_| {}).unwrap();
    let settings = folder.0.join("old.settings");
    let text = fs::read_to_string(&settings).unwrap();
    fs::write(&settings, text.replace("random plies = 0, starts in turn", "random plies = 0-0")).unwrap();
    let error = run(&job, |_| {}).unwrap_err().to_string();
    assert!(error.contains("started with `random plies = 0-0`, not `random plies = 0, starts in turn`"), "{error}");
}

#[test]
fn bad_books_are_named_with_their_fault() {
    let folder = Folder::new();
    let book = folder.0.join("book.epd");
    let out = folder.0.join("games").display().to_string();
    for (bytes, says) in [
        (&b"PK\x03\x04\x14\0"[..], "it is compressed; unpack it first"),
        (b"\x1f\x8b\x08\0", "it is compressed"),
        (b"\xff\xfe4\0k\0", "it is not text; give an EPD or FEN file"),
        (b"\n", "no position in it"),
    ] {
        fs::write(&book, bytes).unwrap();
        let error = parse(&["--out", &out, "--games", "1", "--book", book.to_str().unwrap()]).unwrap_err().to_string();
        assert!(error.contains("book.epd: ") && error.contains(says), "{error}");
    }
    fs::write(&book, "7k/5Q2/6K1/8/8/8/8/8 b - -\n").unwrap();
    for (plies, says) in
        [("0", "of 1, 0 made a game, the others are over"), ("1", "is over before it begins; give another --book")]
    {
        let words = format!("--games 1 --depth 1 --hash 1 --random-plies {plies} --book {}", book.display());
        let error = run(&folder.job(&format!("stalemate{plies}"), &words), |_| {}).unwrap_err().to_string();
        assert!(error.contains(says) && (plies == "0" || !error.contains("--opening-limit")), "{error}");
    }
}

#[test]
fn other_games_are_not_mixed_in() {
    let folder = Folder::new();
    let job = folder.job("mixed", SETTINGS);
    let (_, whole) = made(&job);
    let other = run(&folder.job("mixed", &format!("{SETTINGS} --seed 9")), |_| {}).unwrap_err();
    assert!(other.to_string().contains("started with `seed = 1`, not `seed = 9`"), "{other}");
    let mut bad = whole.clone();
    bad[60] = 0xff;
    bad[61] = 0xff;
    fs::write(&job.out, &bad).unwrap();
    assert!(matches!(run(&job, |_| {}), Err(RunError::Damaged { .. })));
    assert!(fs::read(&job.out).unwrap() == bad, "a damaged file is left as it is");
    fs::remove_file(folder.0.join("mixed.settings")).unwrap();
    assert!(matches!(run(&job, |_| {}), Err(RunError::Foreign { .. })));
    assert_eq!(job.target, Target::Games(6));
}

#[test]
fn the_evaluation_decides_the_games_and_is_written_down() {
    let folder = Folder::new();
    let words = |evaluation: &str| format!("{SETTINGS} --evaluation {evaluation}");
    let network = |seed: u64| {
        let layout = Layout::plain(Kind::Screlu, 32);
        let path = folder.0.join(format!("{seed}.nnue"));
        fs::write(&path, encode(&layout, &random_payload(&layout, seed)).unwrap()).unwrap();
        words(path.to_str().unwrap())
    };
    let (one, two) = (network(1), network(2));
    let (_, classical) = made(&folder.job("classical", &words("classical")));
    let (_, by_one) = made(&folder.job("one", &one));
    assert!(by_one != classical && by_one != made(&folder.job("two", &two)).1);
    assert!(by_one == made(&folder.job("again", &one)).1);
    for (other, says) in
        [(&two, "started with `engine = destrier"), (&words("classical"), "started with `engine = destrier")]
    {
        let error = run(&folder.job("one", other), |_| {}).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
    let error = run(&folder.job("one", SETTINGS), |_| {}).unwrap_err().to_string();
    assert!(error.contains("started with `engine = destrier"), "{error}");
    // A changed engine and a changed book are also detected.
    let settings = folder.0.join("one.settings");
    let written = fs::read_to_string(&settings).unwrap();
    let (engine, rest) = written.split_once('\n').unwrap();
    assert!(engine.starts_with("engine = destrier ") && engine.contains(", signature "), "{engine}");
    fs::write(&settings, format!("engine = destrier 0.1.0, signature 1\n{rest}")).unwrap();
    let error = run(&folder.job("one", &one), |_| {}).unwrap_err().to_string();
    assert!(error.contains("started with `engine = destrier 0.1.0, signature 1`"), "{error}");
    let book = folder.0.join("book.epd");
    let words = format!("{SETTINGS} --random-plies 2 --book {}", book.display());
    for (fen, is_same) in [("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", true), ("4k3/8/8/8/8/8/3P4/4K3 w - - 0 1", false)] {
        fs::write(&book, fen).unwrap();
        let outcome = run(&folder.job("booked", &words), |_| {});
        assert_eq!(outcome.is_ok(), is_same, "{outcome:?}");
    }
}
