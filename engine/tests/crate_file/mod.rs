//! Position sets that come with the sources of crates that the tests depend on.

use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Returns the file at `path` in the sources of the dependency `name`, as Cargo has them on this
/// machine.
pub fn read(name: &str, path: &str) -> String {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--offline", "--filter-platform", "host-tuple"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo starts");
    let metadata: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("cargo metadata: {error}: {}", String::from_utf8_lossy(&output.stderr)));
    let packages = metadata["packages"].as_array().expect("a list of packages");
    let package = packages.iter().find(|package| package["name"] == name).expect("a dependency");
    let manifest = Path::new(package["manifest_path"].as_str().expect("a path"));
    let file = manifest.with_file_name(path);
    std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}
