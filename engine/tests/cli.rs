//! Tests of the command line: output and exit codes.

use destrier::nnue::simd::Kernels;
use std::process::{Command, Output, Stdio};

fn destrier(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_destrier"));
    command.args(arguments).stdin(Stdio::null()).output().expect("the engine starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

#[test]
fn good_commands_print_and_exit_with_0() {
    let cases: [(&[&str], &str); 10] = [
        (&["perft", "4"], "197281\n"),
        (&["perft", "3", "startpos"], "8902\n"),
        (&["eval", "startpos"], "\nmaterial "),
        (&["perft", "3", "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"], "97862\n"),
        (&["perft", "1", "8/8/8/8/8/8/8/K1k5", "w", "-", "-"], "1\n"),
        (&["eval", "4k3/8/8/8/8/8/8/4K3 w - - 0 1"], " cp for the side to move\n"),
        (&["spsa"], ", int, "),
        (&["--version"], "Destrier "),
        (&["--help"], "usage: destrier "),
        (&[], ""),
    ];
    for (arguments, expected) in cases {
        let output = destrier(arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        assert!(text(&output.stdout).contains(expected), "{arguments:?}: {}", text(&output.stdout));
        assert_eq!(text(&output.stderr), "");
    }
}

#[test]
fn bad_usage_is_one_line_and_exit_code_2() {
    let cases: [&[&str]; 10] = [
        &["fly"],
        &["bench", "0"],
        &["bench", "deep"],
        &["bench", "3", "4"],
        &["bench", "0", "scalar"],
        &["bench", "3", "scalar", "5"],
        &["perft"],
        &["perft", "3", "no fen"],
        &["eval"],
        &["eval", "8/8/8/8/8/8/8/8 w - - 0 1"],
    ];
    for arguments in cases {
        let output = destrier(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert_eq!(text(&output.stdout), "", "{arguments:?}");
        let message = text(&output.stderr);
        assert!(message.starts_with("destrier: ") && message.contains("usage: destrier "), "{message}");
        assert_eq!(message.lines().count(), 1, "{message}");
    }
}

#[test]
fn bad_words_of_datagen_are_said_without_the_usage_of_all() {
    for arguments in [&["datagen"][..], &["datagen", "--outt", "a"], &["datagen", "--out", "a", "--games", "0"]] {
        let output = destrier(arguments);
        let message = text(&output.stderr);
        assert_eq!((output.status.code(), message.lines().count()), (Some(2), 1), "{message}");
        assert!(message.starts_with("destrier: datagen: ") && !message.contains("usage"), "{message}");
    }
}

#[test]
fn the_bench_ends_with_nodes_and_speed() {
    let output = destrier(&["bench", "2"]);
    let printed = text(&output.stdout);
    let words: Vec<&str> = printed.lines().last().expect("a line").split(' ').collect();
    let [nodes, "nodes", nps, "nps"] = words[..] else { panic!("{printed}") };
    assert!(nodes.parse::<u64>().is_ok_and(|nodes| nodes > 0) && nps.parse::<u64>().is_ok_and(|nps| nps > 0));
}

#[test]
fn the_bench_has_the_same_nodes_with_all_kernels() {
    let nodes = |arguments: &[&str]| {
        let output = destrier(arguments);
        let printed = text(&output.stdout);
        printed.lines().last().and_then(|line| line.split(' ').next()).expect("a line").to_owned()
    };
    let best = nodes(&["bench", "4"]);
    for kernels in Kernels::available() {
        assert_eq!(nodes(&["bench", "4", kernels.name]), best, "{}", kernels.name);
    }
    let message = text(&destrier(&["bench", "4", "abacus"]).stderr);
    assert!(message.contains("this processor has no kernels `abacus`, but scalar"), "{message}");
}
