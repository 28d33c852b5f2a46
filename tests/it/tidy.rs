//! The repository's own rules, held by reading its files: who may import whom, and where `unsafe`
//! may stand.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::skip::may_skip;

/// Rooms of the harness, low to high. A file imports only from rooms on lower lines, or from its
/// own room. `record`, `stats` and the protocol part of `uci` are crates, which `CRATES` names.
const HARNESS: &[&[&str]] = &[
    &["os"],
    &["files", "record", "text"],
    &["chess", "stats"],
    &["openings", "tune"],
    &["tournament/formats"],
    &["plan"],
    &["uci"],
    &["game"],
    &["journal", "source", "tablebase", "uci/process"],
    &["tournament"],
    &["check", "report", "settings", "suite"],
    &["control", "schedule"],
    &["cluster"],
    &["run"],
    &["dashboard"],
    &["compat"],
    &["cli"],
    &["main", "lib"],
];

/// Rooms that are crates of their own, each with the crates of this repository that it may depend
/// on. The harness re-exports them under these names (`src/lib.rs`).
const CRATES: &[(&str, &[&str])] = &[("record", &[]), ("stats", &["record"]), ("uci", &["record"])];

/// Folders of the sources, without those of tests and benchmarks.
pub const SOURCES: [&str; 6] =
    ["src", "crates/record/src", "crates/stats/src", "crates/uci/src", "engine/src", "engine/trainer/src"];

/// Rooms of the engine, low to high.
const ENGINE: &[&[&str]] =
    &[&["types"], &["board", "memory"], &["nnue", "eval"], &["search"], &["uci", "bench", "datagen"], &["main", "lib"]];

pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

pub fn rust_files(dir: &Path, into: &mut Vec<PathBuf>) {
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
        let is_test = file.file_name().is_some_and(|name| name == "tests.rs");
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
                None if is_test && import == "skip/skip" => {}
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

pub fn report(faults: &[String]) {
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
    for name in ["QUINTAIN_STATE", "QUINTAIN_CACHE", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"] {
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

/// Names of the dependencies of a crate, without those of its tests.
fn dependencies(manifest: &Path) -> Vec<String> {
    let manifest: toml::Table = std::fs::read_to_string(manifest).unwrap().parse().unwrap();
    let table = manifest.get("dependencies").and_then(toml::Value::as_table);
    table.map(|table| table.keys().cloned().collect()).unwrap_or_default()
}

/// A crate imports only the crates below it, and each of their folders is one of the sources.
#[test]
fn the_crates_import_downwards() {
    let folders = std::fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().file_name());
    let mut folders: Vec<_> = folders.map(|name| name.into_string().unwrap()).collect();
    folders.sort();
    assert_eq!(folders, CRATES.iter().map(|(name, _)| *name).collect::<Vec<_>>());
    let ours = dependencies(&root().join("Cargo.toml"));
    let mut faults = Vec::new();
    for (name, allowed) in CRATES {
        let folder = format!("crates/{name}");
        if !SOURCES.contains(&format!("{folder}/src").as_str()) || !ours.contains(&format!("quintain-{name}")) {
            faults.push(format!("{folder}: no entry in SOURCES or in the dependencies of the harness"));
        }
        let used = dependencies(&root().join(&folder).join("Cargo.toml"));
        let heavy = used.iter().filter(|used| ["anyhow", "clap", "shakmaty", "tokio"].contains(&used.as_str()));
        faults.extend(heavy.map(|heavy| format!("{folder}: a pure crate may not depend on {heavy}")));
        let used = used.iter().filter_map(|used| used.strip_prefix("quintain-"));
        faults.extend(used.filter(|used| !allowed.contains(used)).map(|used| format!("{folder}: may not use {used}")));
    }
    report(&faults);
}

/// The crates below the harness are pure: no files, no processes, no sockets, no clock, no
/// printing. A transcript counts from a moment that its caller gives.
#[test]
fn the_crates_do_no_io() {
    const WORDS: [&str; 9] = [
        "std::fs",
        "std::process",
        "std::net",
        "std::thread",
        "std::env",
        "Instant::now",
        "SystemTime",
        "stdout()",
        "unsafe",
    ];
    let mut files = Vec::new();
    rust_files(&root().join("crates"), &mut files);
    let mut faults = Vec::new();
    for file in files.iter().filter(|file| !file.ends_with("tests.rs")) {
        let code = code_of(file);
        faults.extend(
            WORDS.iter().filter(|word| code.contains(**word)).map(|word| format!("{}: `{word}`", file.display())),
        );
    }
    report(&faults);
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

/// Files outside of `src/os` that know the operating system, with the reason.
const KNOW_THE_SYSTEM: [(&str, &str); 9] = [
    ("engine/src/memory.rs", "only Linux is asked for huge pages"),
    ("benches/overhead.rs", "CPU times of other processes are read from `/proc`"),
    ("tests/fake_engine/system.rs", "faults that only Unix lets a process commit"),
    ("engine/tests/nnue.rs", "a FIFO as a network file"),
    // The trainer is for Unix.
    ("engine/trainer/src/data/write.rs", "a file is the same by its device and inode"),
    ("engine/trainer/src/serve/segment.rs", "shared memory of POSIX"),
    ("engine/trainer/src/train/bench.rs", "CPU time of this process"),
    ("engine/trainer/tests/data/files.rs", "signals, and a socket in place of a file"),
    ("engine/trainer/tests/data/serve.rs", "signals, and shared memory of POSIX"),
];

/// Only one room knows which system it is on: elsewhere nothing asks for it, and nothing calls it
/// past the standard library. Tests may, and the files that are known to.
#[test]
fn only_one_room_knows_the_operating_system() {
    const WORDS: [&str; 5] = ["target_os", "std::os::", "rustix::", "nix::", "signal::unix"];
    let root = root();
    let mut files = Vec::new();
    for folder in ["src", "crates", "engine", "benches", "tests/fake_engine"] {
        rust_files(&root.join(folder), &mut files);
    }
    let is_known = |file: &Path| KNOW_THE_SYSTEM.iter().any(|(known, _)| file == root.join(known));
    let mut faults = Vec::new();
    for file in files.iter().filter(|file| !file.starts_with(root.join("src/os")) && !file.ends_with("tests.rs")) {
        let code = code_of(file);
        let found = WORDS.iter().copied().find(|word| code.contains(word)).or_else(|| family_asked_for(&code));
        let name = file.display();
        match (found, is_known(file)) {
            (Some(word), false) => faults.push(format!("{name}: `{word}`: call `crate::os` instead")),
            (None, true) => faults.push(format!("{name}: it does not know the system: strike it from the list")),
            _ => {}
        }
    }
    report(&faults);
}

/// Family of systems that a condition of the code names: `cfg(unix)`, `cfg!(not(windows))`,
/// `cfg_attr(all(unix, test), ...)`.
fn family_asked_for(code: &str) -> Option<&'static str> {
    let is_named = |line: &str, family: &str| {
        line.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')).any(|word| word == family)
    };
    let asks = |line: &&str| ["cfg(", "cfg!(", "cfg_attr("].iter().any(|opening| line.contains(opening));
    code.lines().filter(asks).find_map(|line| ["unix", "windows"].into_iter().find(|family| is_named(line, family)))
}

#[test]
fn conditions_on_the_family_of_systems_are_found() {
    for code in ["#[cfg(unix)]", "if cfg!(not(windows)) {", "#[cfg(all(unix, test))]", "#[cfg_attr(windows, allow(x))]"]
    {
        assert!(family_asked_for(code).is_some(), "{code}");
    }
    for code in ["let unix = 1;", "#[cfg(feature = \"cli\")]", "slice.windows(2)", "cfg(test) && x.unix_time"] {
        assert_eq!(family_asked_for(code), None, "{code}");
    }
}

/// Code of a file: its text up to its test module, without comments.
fn code_of(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    code.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// First word of a path, or of each path of a list in braces.
fn heads(path: &str) -> Vec<String> {
    let mut items = vec![String::new()];
    let mut depth = 0;
    for c in path.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 1 => items.push(String::new()),
            _ if depth <= 1 => items.last_mut().unwrap().push(c),
            _ => {}
        }
        if c == ';' || (depth == 0 && !(c.is_alphanumeric() || c == '_')) {
            break;
        }
    }
    let head = |item: &String| item.trim().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    items.iter().map(head).filter(|head| !head.is_empty()).collect()
}

/// File that each name comes from which a room's own file passes on by `pub use file::name`.
fn passed_on(own_file: &str) -> BTreeMap<String, String> {
    let mut from = BTreeMap::new();
    for (before, list) in
        own_file.match_indices(" use ").map(|(at, word)| (&own_file[..at], &own_file[at + word.len()..]))
    {
        let is_public = before.rsplit('\n').next().is_some_and(|line| line.starts_with("pub"));
        let path = list.split(';').next().unwrap_or_default();
        let Some((file, names)) = path.strip_prefix("self::").unwrap_or(path).split_once("::") else { continue };
        if is_public {
            from.extend(heads(names).into_iter().map(|name| (name, file.to_owned())));
        }
    }
    from
}

/// Path of a room from the root of its crate; the room without a name is the crate itself.
fn prefix(room: &str) -> String {
    if room.is_empty() { "crate::".to_owned() } else { format!("crate::{}::", room.replace('/', "::")) }
}

/// Paths that a file imports by `crate::room::`, or by `super::` from `depth` folders below the
/// room's own.
fn paths_into<'a>(code: &'a str, room: &str, depth: usize) -> Vec<&'a str> {
    let by_crate = prefix(room);
    let by_super = "super::".repeat(depth + 1);
    let after = |word: &str| code.match_indices(word).map(|(at, word)| (at, at + word.len())).collect::<Vec<_>>();
    let is_whole = |(at, end): &(usize, usize)| {
        !code[..*at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':')
            && !code[*end..].starts_with("super::")
    };
    [after(&by_crate), after(&by_super)].concat().into_iter().filter(is_whole).map(|(_, end)| &code[end..]).collect()
}

/// A circle of a room's files, if there is one: each imports the next. A folder counts as one file
/// with the file of its name.
fn circle(source: &Path, room: &str) -> Option<String> {
    let folder = source.join(room);
    let mut paths = Vec::new();
    rust_files(&folder, &mut paths);
    let beside = folder.with_extension("rs");
    let own_file =
        if beside.is_file() { beside } else { folder.join(if room.is_empty() { "lib.rs" } else { "mod.rs" }) };
    let own = code_of(&own_file);
    let mut codes: BTreeMap<String, Vec<(usize, String)>> = BTreeMap::new();
    for path in paths.iter().filter(|path| **path != own_file) {
        let parts: Vec<_> =
            path.strip_prefix(&folder).unwrap().with_extension("").iter().map(ToOwned::to_owned).collect();
        if !parts.iter().any(|part| part == "tests") {
            let depth = parts.len() - 1 - usize::from(parts.last().is_some_and(|last| last == "mod"));
            codes.entry(parts[0].to_string_lossy().into_owned()).or_default().push((depth, code_of(path)));
        }
    }
    let passed_on = passed_on(&own);
    // A name that is neither a file nor passed on comes from the room's own file.
    let file_of = |name: String| {
        if codes.contains_key(&name) { name } else { passed_on.get(&name).cloned().unwrap_or_else(|| "mod".to_owned()) }
    };
    let mut imports: BTreeMap<String, Vec<String>> = codes
        .iter()
        .map(|(file, codes)| {
            let paths = codes.iter().flat_map(|(depth, code)| paths_into(code, room, *depth));
            (file.clone(), paths.flat_map(heads).map(file_of).filter(|other| other != file).collect())
        })
        .collect();
    // What the own file only passes on (`pub use`), and what it calls by path, is no import of its
    // own.
    let by_crate = prefix(room);
    let uses = own
        .lines()
        .filter_map(|line| line.strip_prefix("use "))
        .flat_map(|path| heads(path.strip_prefix("self::").or_else(|| path.strip_prefix(&by_crate)).unwrap_or(path)));
    imports.insert("mod".to_owned(), uses.filter(|file| codes.contains_key(file)).collect());
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
fn no_files_of_a_room_import_in_a_circle() {
    let mut faults = Vec::new();
    let (crates, others): (Vec<&str>, Vec<&str>) = SOURCES.iter().partition(|source| source.starts_with("crates/"));
    faults.extend(crates.iter().filter_map(|source| circle(&root().join(source), "")));
    for source in others.iter().map(|source| root().join(source)) {
        let entries = std::fs::read_dir(&source).unwrap().map(|entry| entry.unwrap());
        let rooms = entries.filter(|entry| entry.path().is_dir()).map(|entry| entry.file_name().into_string().unwrap());
        let mut rooms: Vec<_> = rooms.collect();
        assert!(!rooms.is_empty(), "no rooms under {}", source.display());
        rooms.sort();
        faults.extend(rooms.iter().filter_map(|room| circle(&source, room)));
    }
    report(&faults);
}

#[test]
fn a_circle_of_files_is_found() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("room/b")).unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join("room").join(name), text).unwrap();
    write("mod.rs", "mod a;\nmod b;\nuse self::a::C;\npub use a::A;\npub use self::d::{D, E};\nfn f() { b::g() }\n");
    write("a.rs", "use super::b::B;\nuse super::D;\n");
    write("d.rs", "pub struct D;\n");
    let harmless = "use crate::room::d::D;\npub struct B;\n#[cfg(test)]\nmod tests {\n    use super::a::A;\n}\n";
    write("b.rs", harmless);
    write("b/inner.rs", "use super::a::A;\nuse super::super::d;\n");
    assert_eq!(circle(folder.path(), "room"), None);
    for text in [
        "use super::a::A;\n",
        "use super::{c::{C, D}, a::A};\n",
        "use super::A;\n",
        "fn f() -> super::a::A {}\n",
        "use crate::room::a::A;\n",
        "use crate::room::{\n    c::C,\n    a::A,\n};\n",
    ] {
        write("b.rs", text);
        assert!(circle(folder.path(), "room").is_some_and(|fault| fault.ends_with("among a, b, mod")), "{text}");
    }
    write("b.rs", harmless);
    for text in ["use super::super::a::A;\n", "use crate::room::a;\n"] {
        write("b/inner.rs", text);
        assert!(circle(folder.path(), "room").is_some_and(|fault| fault.ends_with("among a, b, mod")), "{text}");
    }
    write("b/inner.rs", "");
    write("a.rs", "use super::f;\n");
    assert!(circle(folder.path(), "room").is_some_and(|fault| fault.ends_with("among a, mod")));
    // A crate as one room.
    std::fs::rename(folder.path().join("room/mod.rs"), folder.path().join("room/lib.rs")).unwrap();
    write("lib.rs", "mod a;\nmod b;\n");
    write("a.rs", "use crate::b::B;\n");
    assert_eq!(circle(&folder.path().join("room"), ""), None);
    write("b.rs", "use crate::a::A;\n");
    assert!(circle(&folder.path().join("room"), "").is_some_and(|fault| fault.ends_with("among a, b")));
}

/// A referee that shares a move generator with the engine would share its faults.
#[test]
fn the_harness_never_imports_the_engine() {
    let mut files = Vec::new();
    rust_files(&root().join("src"), &mut files);
    rust_files(&root().join("crates"), &mut files);
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

/// UCI engines are spawned in one file, so that none can be left behind. Programs that run to
/// completion (Git, compilers, an engine's own bench) are spawned in another one, workers and
/// servers in two, a watchdog over them in one.
#[test]
fn processes_are_spawned_in_five_places() {
    let allowed = [
        "src/uci/process/spawn.rs",
        "src/source/command.rs",
        "src/cluster/children.rs",
        "src/cluster/server.rs",
        "src/os/watchdog.rs",
    ];
    let mut files = Vec::new();
    rust_files(&root().join("src"), &mut files);
    let faults: Vec<_> = files
        .iter()
        .filter(|file| !allowed.iter().any(|allowed| file.ends_with(allowed)))
        .filter(|file| code_of(file).contains("Command::new("))
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
        rustc.arg(folder.path()).arg(root().join("crates/uci/src/unwinding.rs")).output().unwrap()
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
    for folder in SOURCES {
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
    for folder in ["src", "crates", "engine/src", "tests", "benches"] {
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

/// Folders in plain words: rules 1 and 5 of CONTRIBUTING.md hold for every line.
const PLAIN: &[&str] = &["benches", "crates", "engine", "fuzz/fuzz_targets", "src", "tests"];

/// Openings of a clause without a head. A doc item begins with a noun phrase or a verb instead.
const HEADLESS: [&str; 11] =
    ["What", "Who", "Whom", "Whose", "How", "Where", "Which", "Why", "When", "Whether", "That"];

/// Columns of the longest line that is a comment.
const COMMENT_COLUMNS: usize = 100;

/// Faults in the words and widths of a file's comments, each with its line.
fn comment_faults(text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let comment = line.trim_start();
        if comment.starts_with("//") && line.chars().count() > COMMENT_COLUMNS {
            faults.push(format!("{number}: a comment past column {COMMENT_COLUMNS}"));
        }
        let Some(words) = ["/// ", "//! "].iter().find_map(|marker| comment.strip_prefix(marker)) else { continue };
        let first = words.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        if HEADLESS.contains(&first) {
            faults.push(format!("{number}: a doc line opens with `{first}`; write a noun phrase or a verb"));
        }
    }
    faults
}

#[test]
fn comments_are_in_plain_words() {
    let mut faults = Vec::new();
    for place in PLAIN {
        let mut files = Vec::new();
        rust_files(&root().join(place), &mut files);
        assert!(!files.is_empty(), "{place}: no files");
        for file in files {
            let found = comment_faults(&std::fs::read_to_string(&file).unwrap());
            faults.extend(found.into_iter().map(|fault| format!("{}:{fault}", file.display())));
        }
    }
    report(&faults);
}

#[test]
fn a_headless_or_long_comment_is_found() {
    let number_of_faults = |text: &str| comment_faults(text).len();
    assert_eq!(number_of_faults("/// What is left.\n    //! Whether it is.\n"), 2);
    assert_eq!(number_of_faults("/// The rest, which is left.\n/// Whatever.\n// What is this?\nWhat\n"), 0);
    let wide = |columns: usize| format!("    // {}\n", "x".repeat(columns - 7));
    assert_eq!((number_of_faults(&wide(100)), number_of_faults(&wide(101))), (0, 1));
    assert_eq!(number_of_faults(&"x".repeat(200)), 0);
}

/// A file is a room to know by heart. Longer ones name their reason here.
#[test]
fn files_stay_small() {
    let excused: BTreeMap<&str, usize> = BTreeMap::new();
    let mut files = Vec::new();
    for folder in SOURCES {
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
    for folder in ["src", "crates", "tests", "engine", "benches"] {
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

/// Tests are built with the features that their own dependencies ask for, so an expression that the
/// program cannot compile works in every one of them.
#[test]
fn expressions_have_the_features_that_they_need() {
    let manifest = std::fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let manifest: toml::Table = manifest.parse().unwrap();
    let asked = manifest["dependencies"]["regex"]["features"].as_array().unwrap();
    for needed in ["std", "unicode-case", "unicode-perl"] {
        assert!(asked.iter().any(|feature| feature.as_str() == Some(needed)), "{needed}: {asked:?}");
    }
}

/// Merges of branches that both wrote here have kept old and new entries.
#[test]
fn the_changelog_has_no_entry_twice() {
    let text = std::fs::read_to_string(root().join("CHANGELOG.md")).unwrap();
    let mut first_lines = BTreeSet::new();
    for line in text.lines().filter(|line| line.starts_with("- ")) {
        assert!(first_lines.insert(line), "CHANGELOG.md has this entry twice: {line}");
    }
}
