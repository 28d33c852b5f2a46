//! The TOML files: the user's plan, the registry's `engines.toml`, the recipe `quintain.toml` and
//! the stored `plan.toml`, which is written again as it was read.
#![no_main]

use std::path::Path;
use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use quintain::plan::file;
use quintain::settings::RawPlan;
use quintain::source::{Recipe, Registry};
use quintain::text::from_toml;
use tempfile::TempDir;

/// A folder with `configs/` in it, where a registry is looked for.
fn folder() -> &'static Path {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    FOLDER
        .get_or_init(|| {
            let folder = tempfile::tempdir().expect("a folder");
            std::fs::create_dir(folder.path().join("configs")).expect("a folder");
            folder
        })
        .path()
}

fuzz_target!(|text: &str| {
    let path = Path::new("fuzz.toml");
    if let Ok(raw) = from_toml::<RawPlan>(path, text) {
        let _ = raw.over(&raw);
    }
    let _ = Recipe::parse(path, text);
    std::fs::write(folder().join("configs/engines.toml"), text).expect("written");
    let _ = Registry::load(folder());
    if let Ok(plan) = file::from_toml(text) {
        let written = file::to_toml(&plan);
        let again = file::from_toml(&written).unwrap_or_else(|error| panic!("{error}: {written}"));
        assert_eq!(file::to_toml(&again), written);
    }
});
