//! The repository's own rules, held by reading its files: who may import whom, and where `unsafe` may stand.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::skip::may_skip;

/// Rooms of the harness, low to high. A file imports only from rooms on lower lines, or from its own room.
const HARNESS: &[&[&str]] = &[
    &["files", "record", "text"],
    &["chess", "stats"],
    &["openings", "tune"],
    &["tournament/formats"],
    &["plan"],
    &["uci"],
    &["game"],
    &["journal", "source", "tablebase", "uci/process"],
    &["tournament"],
    &["check", "report", "settings"],
    &["control", "schedule"],
    &["dashboard"],
    &["run"],
    &["compat"],
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

/// Tests start the program through one helper, which keeps it away from the developer's own state,
/// builds and sockets.
#[test]
fn tests_leave_their_users_folders_alone() {
    let name = concat!("CARGO_BIN_EXE_", "quintain\"");
    let mut found = Vec::new();
    rust_files(&root().join("tests"), &mut found);
    found.retain(|file| !file.ends_with("it/harness.rs") && std::fs::read_to_string(file).unwrap().contains(name));
    assert!(found.is_empty(), "start the program with `harness::quintain` or `in_shell`: {found:?}");
    let command = crate::harness::quintain(&["--version"]);
    let set: Vec<_> = command.get_envs().filter_map(|(name, value)| name.to_str().zip(value)).collect();
    for name in ["QUINTAIN_STATE", "QUINTAIN_CACHE", "XDG_STATE_HOME", "XDG_CACHE_HOME"] {
        let folder = set.iter().find(|(set, _)| *set == name).map(|(_, folder)| Path::new(folder));
        assert!(folder.is_some_and(|folder| folder.starts_with(env!("CARGO_TARGET_TMPDIR"))), "{name}: {folder:?}");
    }
}

#[test]
fn the_harness_imports_downwards() {
    report(&check_layers(&root().join("src"), HARNESS));
}

#[test]
fn the_engine_imports_downwards() {
    report(&check_layers(&root().join("engine/src"), ENGINE));
}

/// True if code, and not only a comment, names the crate `name`.
fn names_crate(text: &str, name: &str) -> bool {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    let word = |c: char| c.is_alphanumeric() || c == '_';
    code.flat_map(|line| line.match_indices(name).map(move |(at, _)| (&line[..at], &line[at + name.len()..])))
        .any(|(before, after)| !before.ends_with(word) && after.starts_with("::"))
}

/// Words typed are parsed in one room and declared in one other; errors without a type are for the
/// last room, which only prints them.
#[test]
fn only_the_command_line_knows_its_parser_and_untyped_errors() {
    let source = root().join("src");
    let mut files = Vec::new();
    rust_files(&source, &mut files);
    let mut faults = Vec::new();
    for file in files {
        let name = file.strip_prefix(&source).unwrap().to_string_lossy().replace('\\', "/");
        let text = std::fs::read_to_string(&file).unwrap();
        let room = name.split(['/', '.']).next().unwrap_or_default();
        if names_crate(&text, "clap") && !["cli", "settings"].contains(&room) {
            faults.push(format!("{name}: only `cli` and `settings` may name clap"));
        }
        if names_crate(&text, "anyhow") && room != "cli" {
            faults.push(format!("{name}: only `cli` may name anyhow"));
        }
    }
    report(&faults);
}

#[test]
fn a_crate_is_named_by_its_path() {
    assert!(names_crate("use clap::Args;\n", "clap") && names_crate("fn f() -> anyhow::Result<()> {\n", "anyhow"));
    assert!(!names_crate("// clap::Args\nuse my_clap::A;\nlet clap = 1;\n", "clap"));
}

/// File that each name comes from which a folder's own file passes on by `pub use file::name`.
fn passed_on(own_file: &str) -> BTreeMap<String, String> {
    let mut from = BTreeMap::new();
    for list in own_file.split("pub use ").skip(1) {
        let Some((file, names)) = list.split(';').next().and_then(|list| list.split_once("::")) else { continue };
        let names = names.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|name| !name.is_empty());
        from.extend(names.map(|name| (name.to_owned(), file.to_owned())));
    }
    from
}

/// Files of a folder that a file imports by `super::...`, its test module left out. A name that is
/// neither a file nor passed on comes from the folder's own file, `mod`.
fn siblings(text: &str, files: &[String], passed_on: &BTreeMap<String, String>) -> Vec<String> {
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let code: String = code.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
    let own = |name: &str| {
        let is_file = files.iter().any(|file| file == name);
        if is_file { name.to_owned() } else { passed_on.get(name).cloned().unwrap_or_else(|| "mod".to_owned()) }
    };
    let head = |path: &str| path.trim().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let mut found = Vec::new();
    for (at, word) in code.match_indices("super::") {
        let path = &code[at + word.len()..];
        if code[..at].ends_with("super::") || path.starts_with("super::") {
            continue;
        }
        match path.strip_prefix('{').and_then(|list| list.split_once('}')) {
            // Of `{a::{b, c}, d}` only the names up to the first brace are looked at.
            Some((list, _)) => found.extend(list.split(',').map(|path| own(&head(path)))),
            None => found.push(own(&head(path))),
        }
    }
    found
}

/// A circle of files in a folder, if there is one: each imports the next.
fn circle(folder: &Path) -> Option<String> {
    let mut paths = Vec::new();
    rust_files(folder, &mut paths);
    let stem = |path: &PathBuf| path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    paths.retain(|path| path.parent() == Some(folder) && !path.ends_with("tests.rs"));
    let passed_on = passed_on(&std::fs::read_to_string(folder.join("mod.rs")).unwrap());
    let files: Vec<String> = paths.iter().filter_map(stem).collect();
    let mut imports: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for path in &paths {
        let text = std::fs::read_to_string(path).unwrap();
        let name = stem(path).unwrap();
        let mut of = siblings(&text, &files, &passed_on);
        if name == "mod" {
            // What it only passes on (`pub use`) is no import of its own.
            let uses = text.lines().filter_map(|line| line.strip_prefix("use ")?.split("::").next());
            of = uses.filter(|word| files.iter().any(|file| file == word)).map(str::to_owned).collect();
        }
        of.retain(|file| *file != name);
        imports.insert(name, of);
    }
    // Takes away files that import nothing that is left, until none can be taken.
    while let Some(name) =
        imports.iter().find(|(_, of)| !of.iter().any(|file| imports.contains_key(file))).map(|(name, _)| name.clone())
    {
        imports.remove(&name);
    }
    (!imports.is_empty()).then(|| {
        let left = imports.keys().cloned().collect::<Vec<_>>().join(", ");
        format!("{}: a circle of imports among {left}", folder.display())
    })
}

#[test]
fn no_files_of_the_engine_import_in_a_circle() {
    let rooms = ["types", "board", "eval", "nnue", "nnue/simd", "search", "uci", "datagen"];
    let faults: Vec<_> = rooms.iter().filter_map(|room| circle(&root().join("engine/src").join(room))).collect();
    report(&faults);
}

#[test]
fn a_circle_of_files_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("mod.rs", "mod a;\nmod b;\npub use a::A;\npub use d::{D, E};\n");
    write("a.rs", "use super::b::B;\nuse super::D;\n");
    write("d.rs", "pub struct D;\n");
    write("b.rs", "pub struct B;\n#[cfg(test)]\nmod tests {\n    use super::a::A;\n}\n");
    assert_eq!(circle(folder.path()), None);
    for text in ["use super::a::A;\n", "use super::{c::C, a::A};\n", "use super::A;\n", "fn f() -> super::a::A {}\n"] {
        write("b.rs", text);
        assert!(circle(folder.path()).is_some_and(|fault| fault.ends_with("among a, b")), "{text}");
    }
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

/// The protocol crate panics on numbers out of range, which is caught where panics unwind.
#[test]
fn a_profile_that_aborts_on_panics_does_not_compile() {
    let folder = tempfile::tempdir().unwrap();
    let compile = |panic: &str| {
        let mut rustc = std::process::Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
        rustc.args(["--crate-type", "lib", "--emit", "metadata", "-C", &format!("panic={panic}"), "--out-dir"]);
        rustc.arg(folder.path()).arg(root().join("src/uci/unwinding.rs")).output().unwrap()
    };
    let unwinding = compile("unwind");
    assert!(unwinding.status.success(), "{unwinding:?}");
    let aborting = compile("abort");
    let said = String::from_utf8_lossy(&aborting.stderr);
    assert!(!aborting.status.success() && said.contains("must be built with panic = \"unwind\""), "{said}");
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

#[test]
fn a_required_test_is_left_out_only_if_excused() {
    for (require_all, excused, may) in [
        ("", "", true),
        ("0", "", true),
        ("1", "", false),
        ("1", "other  this", true),
        ("1", "another_this this_too", false),
    ] {
        assert_eq!(may_skip("this", require_all, excused), may, "{require_all:?} {excused:?}");
    }
}

/// A test that left itself out by its own words would be left out of `.ci/run` without a failure.
#[test]
fn tests_are_left_out_in_one_place() {
    let mut files = Vec::new();
    for folder in ["src", "tests", "engine", "benches"] {
        rust_files(&root().join(folder), &mut files);
    }
    let texts: Vec<_> = files.into_iter().map(|file| (std::fs::read_to_string(&file).unwrap(), file)).collect();
    let says = concat!("SKIP", "PED");
    let mut faults: Vec<_> = texts
        .iter()
        .filter(|(text, file)| text.contains(says) && !file.ends_with("tests/skip.rs"))
        .map(|(_, file)| format!("{}: skips a test without tests/skip.rs", file.display()))
        .collect();
    let script = std::fs::read_to_string(root().join(".ci/run")).unwrap();
    let excused = script.split("QUINTAIN_EXCUSED=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    let is_test = |name: &&str| texts.iter().any(|(text, _)| text.contains(&format!("fn {name}(")));
    faults.extend(excused.split_whitespace().filter(|name| !is_test(name)).map(|name| format!(".ci/run: no {name}")));
    report(&faults);
}
