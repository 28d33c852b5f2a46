//! The journal, as bytes and as lines whose checksums are right: no panic, and what was whole is
//! whole without the torn end. Its archive, as bytes and as lines under gzip: no panic.
#![no_main]

use std::io::Write as _;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use libfuzzer_sys::fuzz_target;
use quintain::journal::{FILE_NAME, archive, read_from};

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
    let mut packed = GzEncoder::new(Vec::new(), Compression::none());
    packed.write_all(b"{\"v\":1,\"kind\":\"archive\",\"plan_sha256\":\"\",\"program\":\"\"}\n").expect("memory");
    packed.write_all(bytes).expect("memory");
    for archived in [bytes, &packed.finish().expect("memory")] {
        let lines = archive::reader(archived, Path::new(archive::ARCHIVE_NAME));
        let _ = read_from(lines, Path::new(archive::ARCHIVE_NAME), |_| ());
    }
});
