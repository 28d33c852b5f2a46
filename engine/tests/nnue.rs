//! Tests of the network in the search and behind the options.

use destrier::bench::POSITIONS;
use destrier::board::Board;
use destrier::nnue::{Kind, Layout, Network, encode, parse, random_payload};
use destrier::search::{EvalConfig, EvalMode, Game, Limits, Searcher, Signals, SilentReport, in_search_thread};
use destrier::uci;
use std::fs;
use std::io::{Cursor, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Instant;

fn layout(kind: Kind) -> Layout {
    let bucket_map = std::array::from_fn(|square| if square < 8 { 0 } else { 1 });
    Layout { king_buckets: 2, mirrored: true, bucket_map, ..Layout::plain(kind, kind.hidden_step()) }
}

fn file(kind: Kind) -> Vec<u8> {
    encode(&layout(kind), &random_payload(&layout(kind), 11)).expect("a good layout")
}

fn network(kind: Kind) -> Arc<Network> {
    Arc::new(parse(&file(kind)).expect("a network"))
}

fn nodes(searcher: &mut Searcher, depth: i32) -> u64 {
    let limits = Limits { depth: Some(depth), ..Limits::default() };
    POSITIONS
        .iter()
        .map(|fen| {
            let game = Game::new(Board::from_fen(fen).expect("a legal position"));
            searcher.search(&game, &limits, &Signals::default(), Instant::now(), &mut SilentReport).nodes
        })
        .sum()
}

/// Builds with debug assertions compare every evaluation of these searches with one from scratch,
/// so a search that fails to follow a move is found.
#[test]
fn searches_follow_their_moves() {
    in_search_thread(|| {
        let mut searcher = Searcher::new(4).expect("a small table");
        searcher.set_evaluation(&EvalConfig { mode: EvalMode::Classical, network: None });
        let classical = nodes(&mut searcher, 4);
        for kind in Kind::ALL {
            let config = EvalConfig { mode: EvalMode::Nnue, network: Some(network(kind)) };
            searcher.set_evaluation(&config);
            let first = nodes(&mut searcher, 4);
            assert_ne!(first, classical);
            searcher.new_game();
            assert_eq!(nodes(&mut searcher, 4), first, "a new game knows nothing of the one before");
            // Without a network the choice of one changes nothing.
            for config in
                [EvalConfig { mode: EvalMode::Nnue, network: None }, EvalConfig { mode: EvalMode::Classical, ..config }]
            {
                searcher.set_evaluation(&config);
                assert_eq!(nodes(&mut searcher, 4), classical);
            }
        }
    })
    .expect("a thread");
}

/// Temporary file that is removed when dropped.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str, bytes: &[u8]) -> Scratch {
        let path = std::env::temp_dir().join(format!("destrier-{}-{name}", std::process::id()));
        fs::write(&path, bytes).expect("a scratch file");
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("no panic").write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Returns the output of a session for some lines.
fn session(lines: &str) -> String {
    let written = Written::default();
    uci::run(Cursor::new(lines.to_owned()), written.clone()).expect("a session");
    let bytes = written.0.lock().expect("no panic").clone();
    String::from_utf8(bytes).expect("text")
}

#[test]
fn eval_file_loads_a_network() {
    let net = Scratch::new("good.nnue", &file(Kind::Screlu));
    let value = network(Kind::Screlu).evaluate_alone(&Board::startpos());
    let path = net.0.display();
    let text = session(&format!(
        "setoption name EvalMode value classical\nsetoption name EvalFile value {path}\neval\n\
         setoption name EvalMode value nnue\nsetoption name EvalFile value {path}\n"
    ));
    let shape = "(768x2hm -> 32)x2 -> 1x8";
    assert!(text.contains(&format!("EvalFile: network {shape}, not used while EvalMode is classical\n")), "{text}");
    assert!(text.contains(&format!("\nnnue: {value} cp for the side to move, {shape}\n")), "{text}");
    assert!(text.ends_with(&format!("info string EvalFile: network {shape}\n")), "{text}");
}

#[test]
fn a_bad_eval_file_is_one_line_and_leaves_no_network() {
    let good = file(Kind::LAYERED);
    let net = Scratch::new("kept.nnue", &good);
    let mut hash = good.clone();
    hash[200] ^= 1;
    let mut kind = good.clone();
    kind[12] = 9;
    let cases: [(&str, &[u8], &str); 5] = [
        ("hash.nnue", &hash, "the SHA-256 of the weights is not the one in the header"),
        ("kind.nnue", &kind, "network kind 9 is not known"),
        ("short.nnue", &good[..1000], "wrong size: 872 bytes of weights"),
        ("empty.nnue", &[], "no network: no magic `DESTRIER`"),
        ("header.nnue", &good[..20], "the header is cut off at byte 20"),
    ];
    for (name, bytes, message) in cases {
        let bad = Scratch::new(name, bytes);
        let (net, bad) = (net.0.display(), bad.0.display());
        let text = session(&format!(
            "setoption name EvalMode value nnue\nsetoption name EvalFile value {net}\nsetoption name EvalFile value {bad}\neval\n"
        ));
        let start = format!("info string EvalFile: `{bad}` {message}");
        let line =
            text.lines().find(|line| line.starts_with(&start)).expect("a line that names the file and its fault");
        assert!(line.ends_with("; there is no network until EvalFile names one that loads"), "{text}");
        assert!(text.contains("\nnnue: no network"), "{text}");
    }
    let text = session("setoption name EvalFile value /no/such/file\nsetoption name EvalFile value /\n");
    assert_eq!(text.lines().filter(|line| line.contains("cannot be read: ")).count(), 2, "{text}");
}

/// Runs the program on some lines, and returns its output and exit code.
fn program(lines: &str) -> (String, Option<i32>) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_destrier"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the engine starts");
    // The program may exit before it has read everything.
    let _ = child.stdin.take().expect("a pipe").write_all(lines.as_bytes());
    let output = child.wait_with_output().expect("it ends");
    (String::from_utf8(output.stdout).expect("text"), output.status.code())
}

#[test]
fn no_search_without_the_network_that_was_asked_for() {
    let net = Scratch::new("asked.nnue", &file(Kind::Screlu));
    let good = net.0.display();
    let cases = [
        ("setoption name EvalFile value /no/such/file\n".to_owned(), false),
        (format!("setoption name EvalFile value {good}\nsetoption name EvalFile value /\n"), false),
        ("setoption name EvalFile value /dev/zero\n".to_owned(), false),
        ("setoption name EvalFile value /no/such/file\nsetoption name EvalMode value classical\n".to_owned(), true),
        (format!("setoption name EvalFile value /no/such/file\nsetoption name EvalFile value {good}\n"), true),
    ];
    for (options, plays) in cases {
        let lines = format!("setoption name EvalMode value nnue\n{options}isready\ngo depth 1\nisready\n");
        let (text, code) = program(&lines);
        assert!(text.contains("readyok"), "{lines}: {text}");
        assert_eq!(text.contains("bestmove"), plays, "{lines}: {text}");
        assert_eq!(text.contains("info string ERROR: EvalFile: `/"), !plays, "{lines}: {text}");
        assert_eq!(code, Some(if plays { 0 } else { 1 }), "{lines}: {text}");
    }
}

#[cfg(unix)]
#[test]
fn a_fifo_as_eval_file_blocks_nobody() {
    let path = std::env::temp_dir().join(format!("destrier-{}-fifo", std::process::id()));
    let made = Command::new("mkfifo").arg(&path).status().expect("mkfifo is there");
    assert!(made.success());
    let (text, _) = program(&format!("setoption name EvalFile value {}\nisready\n", path.display()));
    let _ = fs::remove_file(&path);
    assert!(text.contains("cannot be read: it is not a regular file"), "{text}");
    assert!(text.contains("readyok"), "{text}");
}
