//! The trainer's readers of games and positions, every format: an end or an error, and what is read
//! can be written. An input is a byte for the format, and then the file.
#![no_main]

use std::path::Path;
use std::sync::OnceLock;

use destrier_trainer::data::{Format, read};
use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;

const FORMATS: [Format; 7] = [
    Format::Viriformat,
    Format::Bulletformat,
    Format::Text,
    Format::Plain,
    Format::SelfPlay,
    Format::Pgn,
    Format::Journal,
];

fn folder() -> &'static Path {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    FOLDER.get_or_init(|| tempfile::tempdir().expect("a folder")).path()
}

fuzz_target!(|input: &[u8]| {
    let Some((format, bytes)) = input.split_first() else { return };
    let format = FORMATS[usize::from(*format) % FORMATS.len()];
    let path = folder().join("data");
    std::fs::write(&path, bytes).expect("written");
    let Ok(source) = read::open(&path, Some(format)) else { return };
    let mut faults = 0;
    for entry in source.entries {
        match entry {
            Ok(entry) => {
                for position in entry.positions() {
                    let _ = position.to_bullet();
                }
            }
            Err(error) => {
                assert!(!error.to_string().is_empty());
                faults += 1;
                // A file without a byte may lack what its format begins with.
                assert!(faults <= bytes.len() + 1, "errors without end");
            }
        }
    }
});
