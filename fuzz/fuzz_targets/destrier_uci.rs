//! Destrier's side of UCI: a whole session from any bytes. Searches are stopped at once, and what
//! takes memory, time or files by request is left out.
#![no_main]

use std::io;

use libfuzzer_sys::fuzz_target;

/// Words of requests that are obeyed at any cost.
const COSTLY: [&str; 6] = ["hash", "threads", "bench", "perft", "evalfile", "syzygypath"];

fuzz_target!(|bytes: &[u8]| {
    let mut session = Vec::new();
    for line in bytes.split(|byte| *byte == b'\n').take(40) {
        let text = String::from_utf8_lossy(line).to_lowercase();
        if COSTLY.iter().any(|word| text.contains(word)) {
            continue;
        }
        session.extend_from_slice(line);
        session.extend_from_slice(b"\n");
        if text.contains("go") {
            session.extend_from_slice(b"stop\nisready\n");
        }
    }
    destrier::uci::run(session.as_slice(), io::sink()).expect("memory can be read");
});
