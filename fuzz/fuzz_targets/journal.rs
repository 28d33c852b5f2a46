//! The journal: bytes after a whole journal cost it no game, and bytes alone make none that can't be written again.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use quintain::journal::{FILE_NAME, read_from};

fuzz_target!(|bytes: &[u8]| {
    let mut count = 0;
    let replayed = read_from(bytes, Path::new(FILE_NAME), |_| count += 1);
    if let Ok(replayed) = replayed {
        assert_eq!(replayed.games, count);
        assert!(replayed.torn_bytes as usize <= bytes.len());
        // What was whole is whole without the torn end.
        let whole = &bytes[..bytes.len() - replayed.torn_bytes as usize];
        let again = read_from(whole, Path::new(FILE_NAME), |_| ()).expect("it was read before");
        assert_eq!((again.games, again.torn_bytes), (count, 0));
    }
});
