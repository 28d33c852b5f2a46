//! The command lines of the other runners, a word a line: read or refused, never a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use quintain::compat::{Runner, check_runner_words};

fuzz_target!(|text: &str| {
    let words: Vec<String> = text.lines().map(str::to_owned).collect();
    for runner in [Runner::Fastchess, Runner::Cutechess] {
        if let Err(fault) = check_runner_words(runner, &words) {
            assert!(!fault.is_empty());
        }
    }
});
