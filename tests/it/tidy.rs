//! The repository's own rules, held by reading its files: who may import whom, and where `unsafe` may stand.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Rooms of the harness, low to high. A file imports only from rooms on lower lines, or from its own room.
const HARNESS: &[&[&str]] = &[
    &["record"],
    &["chess", "stats"],
    &["plan"],
    &["uci"],
    &["game"],
    &["journal", "source", "tablebase", "uci/process"],
    &["check", "schedule"],
    &["report"],
    &["control"],
    &["dashboard"],
    &["cli"],
    &["main", "lib"],
];

/// Rooms of the engine, low to high.
const ENGINE: &[&[&str]] =
    &[&["types"], &["board"], &["nnue", "eval"], &["search"], &["uci", "bench", "datagen"], &["main", "lib"]];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn rust_files(dir: &Path, into: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            if !path.ends_with("target") {
                rust_files(&path, into);
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            into.push(path);
        }
    }
}

/// The room and level of a module path such as `uci/process`, by its longest listed prefix.
fn level<'a>(rooms: &[&[&'a str]], module: &str) -> Option<(usize, &'a str)> {
    let fits = |room: &str| module == room || module.strip_prefix(room).is_some_and(|rest| rest.starts_with('/'));
    rooms
        .iter()
        .enumerate()
        .flat_map(|(level, names)| names.iter().map(move |name| (level, *name)))
        .filter(|(_, name)| fits(name))
        .max_by_key(|(_, name)| name.len())
}

/// The module paths that a file imports by `crate::...`, comments and its test module left out.
fn imports(text: &str) -> Vec<String> {
    let code: String = text
        .split("#[cfg(test)]\nmod tests {")
        .next()
        .unwrap_or_default()
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .fold(String::new(), |code, line| code + line + "\n");
    let word = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices("crate::")
        .filter(|(at, _)| !code[..*at].ends_with(word))
        .map(|(at, found)| {
            let path: String = code[at + found.len()..].chars().take_while(|c| word(*c) || *c == ':').collect();
            path.trim_end_matches(':').replace("::", "/")
        })
        .collect()
}

fn check_layers(source: &Path, rooms: &[&[&str]]) -> Vec<String> {
    let mut files = Vec::new();
    rust_files(source, &mut files);
    assert!(!files.is_empty(), "no sources under {}", source.display());
    let mut faults = Vec::new();
    for file in files {
        let relative = file.strip_prefix(source).unwrap().with_extension("");
        let module = relative.to_string_lossy().replace('\\', "/").trim_end_matches("/mod").to_owned();
        let Some((own_level, own_room)) = level(rooms, &module) else {
            faults.push(format!("{}: no room in the table of tests/it/tidy.rs", file.display()));
            continue;
        };
        for import in imports(&std::fs::read_to_string(&file).unwrap()) {
            match level(rooms, &import) {
                Some((_, room)) if room == own_room => {}
                Some((level, _)) if level < own_level => {}
                Some((_, room)) => {
                    faults.push(format!("{}: `{own_room}` may not import `{room}`", file.display()));
                }
                // A name that the crate's front page re-exports, or a macro.
                None => faults.push(format!("{}: import of `crate::{import}` from no listed room", file.display())),
            }
        }
    }
    faults
}

fn report(faults: &[String]) {
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn the_harness_imports_downwards() {
    report(&check_layers(&root().join("src"), HARNESS));
}

#[test]
fn the_engine_imports_downwards() {
    report(&check_layers(&root().join("engine/src"), ENGINE));
}

/// A referee that shares a move generator with the engine would share its faults.
#[test]
fn the_harness_never_imports_the_engine() {
    let mut files = Vec::new();
    rust_files(&root().join("src"), &mut files);
    let faults: Vec<_> = files
        .iter()
        .filter(|file| {
            let text = std::fs::read_to_string(file).unwrap();
            text.lines().any(|line| line.trim_start().starts_with("use destrier") || line.contains("destrier::"))
        })
        .map(|file| format!("{}: imports destrier", file.display()))
        .collect();
    report(&faults);
    let manifest = std::fs::read_to_string(root().join("Cargo.toml")).unwrap();
    assert!(!manifest.lines().any(|line| line.starts_with("destrier =")), "Cargo.toml depends on destrier");
}

/// Engines to talk to are spawned in one file, so that none can be left behind; what is waited for, Git, compilers and an engine's own
/// bench, in one other.
#[test]
fn processes_are_spawned_in_two_places() {
    let allowed = ["src/uci/process/spawn.rs", "src/source/command.rs"];
    let mut files = Vec::new();
    rust_files(&root().join("src"), &mut files);
    let faults: Vec<_> = files
        .iter()
        .filter(|file| !allowed.iter().any(|allowed| file.ends_with(allowed)))
        .filter(|file| std::fs::read_to_string(file).unwrap().contains("Command::new("))
        .map(|file| format!("{}: spawns a process", file.display()))
        .collect();
    report(&faults);
}

#[test]
fn unsafe_stands_only_where_its_reason_does() {
    let mut files = Vec::new();
    for folder in ["src", "engine/src", "engine/trainer/src"] {
        rust_files(&root().join(folder), &mut files);
    }
    let mut faults = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        let uses = code.filter(|line| line.contains("unsafe {") || line.contains("unsafe fn")).count();
        let simd = file.to_string_lossy().contains("nnue/simd");
        if uses > 0 && !simd && !(text.contains("unsafe_code") && text.contains("reason = ")) {
            faults.push(format!("{}: `unsafe` without #[expect(unsafe_code, reason = ...)]", file.display()));
        }
    }
    report(&faults);
}

#[test]
fn every_module_opens_with_its_purpose() {
    let mut files = Vec::new();
    for folder in ["src", "engine/src", "tests", "benches"] {
        rust_files(&root().join(folder), &mut files);
    }
    let faults: Vec<_> = files
        .iter()
        .filter(|file| !file.ends_with("tests.rs"))
        .filter(|file| {
            let text = std::fs::read_to_string(file).unwrap();
            !(text.starts_with("//!") || text.starts_with("#![doc"))
        })
        .map(|file| format!("{}: no `//!` line at the top", file.display()))
        .collect();
    report(&faults);
}

/// A file is a room to know by heart. Longer ones name their reason here.
#[test]
fn files_stay_small() {
    let excused: BTreeMap<&str, usize> = BTreeMap::new();
    let mut files = Vec::new();
    for folder in ["src", "engine/src", "engine/trainer/src"] {
        rust_files(&root().join(folder), &mut files);
    }
    let mut faults = Vec::new();
    for file in files {
        let name = file.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
        let lines = std::fs::read_to_string(&file).unwrap().lines().count();
        let limit = excused.get(name.as_str()).copied().unwrap_or(700);
        if lines > limit {
            faults.push(format!("{name}: {lines} lines, over {limit}"));
        }
    }
    report(&faults);
}
