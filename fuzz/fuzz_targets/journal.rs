//! The journal, as bytes and as lines whose checksums are right: no panic, and what was whole is
//! whole without the torn end.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use quintain::journal::{FILE_NAME, read_from};

fn check(bytes: &[u8]) {
    let mut count = 0;
    let replayed = read_from(bytes, Path::new(FILE_NAME), |_| count += 1);
    if let Ok(replayed) = replayed {
        assert_eq!(replayed.games, count);
        let whole = &bytes[..bytes.len() - replayed.torn_bytes as usize];
        let again = read_from(whole, Path::new(FILE_NAME), |_| ()).expect("it was read before");
        assert_eq!((again.games, again.torn_bytes), (count, 0));
    }
}

fuzz_target!(|bytes: &[u8]| {
    check(bytes);
    // Behind the checksum lies the JSON.
    let mut sealed = Vec::new();
    for body in bytes.split(|byte| *byte == b'\n') {
        sealed.extend_from_slice(body);
        sealed.extend_from_slice(format!(",\"crc\":\"{:08x}\"}}\n", crc32fast::hash(body)).as_bytes());
    }
    check(&sealed);
});
