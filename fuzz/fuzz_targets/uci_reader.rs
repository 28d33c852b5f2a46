//! Output of an engine, in chunks of any size: lines, replies, the session's state. The lines do
//! not depend on the chunks. An input is the size of the chunks, in two bytes, and then what the
//! engine prints.
#![no_main]

use libfuzzer_sys::fuzz_target;
use quintain::uci::session::Session;
use quintain::uci::{LineBuffer, Reply};

fn lines(bytes: &[u8], chunk: usize) -> (Vec<Vec<u8>>, Option<Vec<u8>>, u64) {
    let mut buffer = LineBuffer::new();
    let mut lines = Vec::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        let space = buffer.space();
        let count = chunk.min(space.len()).min(rest.len());
        space[..count].copy_from_slice(&rest[..count]);
        buffer.advance(count);
        rest = &rest[count..];
        while let Some(line) = buffer.next_line() {
            lines.push(line.to_vec());
        }
    }
    let partial = buffer.take_partial().map(<[u8]>::to_vec);
    (lines, partial, buffer.take_overlong())
}

// The protocol crate panics on some numbers and is caught; the fuzzer's own hook would end the
// process first.
fuzz_target!(init: std::panic::set_hook(Box::new(|_| {})), |input: &[u8]| {
    let Some((chunk, bytes)) = input.split_first_chunk() else { return };
    let chunk = usize::from(u16::from_le_bytes(*chunk));
    let framed = lines(bytes, chunk.max(1));
    if framed != lines(bytes, usize::MAX) {
        std::process::abort();
    }
    let mut starting = Session::new();
    let mut searching = Session::new();
    searching.begin_search();
    for line in &framed.0 {
        let _ = Reply::read(line);
        starting.on_line(line);
        searching.on_line(line);
    }
});
