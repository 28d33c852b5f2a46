//! Names of types, held by reading the sources: rule 6 of CONTRIBUTING.md.

use std::collections::BTreeMap;
use std::path::Path;

use crate::tidy::{SOURCES, report, root, rust_files};

/// Places that define a name for one system, one instruction set or one set of features alone. Only
/// one such definition is compiled.
const VARIANTS: [&str; 4] =
    ["src/os/", "src/cluster/absent.rs", "engine/src/nnue/simd/avx2.rs", "engine/src/nnue/simd/neon.rs"];

/// Last words of a name that are participles although they do not end in `ed`.
const PARTICIPLES: [&str; 22] = [
    "Begun", "Built", "Came", "Done", "Drawn", "Found", "Given", "Heard", "Held", "Known", "Left", "Lost", "Made",
    "Met", "Said", "Seen", "Sent", "Shown", "Taken", "Told", "Won", "Written",
];

/// Last words that end in `ed` and are nouns.
const NOUNS: [&str; 5] = ["Bed", "Feed", "Need", "Seed", "Speed"];

/// First words of a clause or a question.
const OPENINGS: [&str; 14] =
    ["How", "If", "Is", "No", "Not", "That", "Too", "Unless", "What", "When", "Where", "Which", "Who", "Why"];

/// Names that stay although the rule is against them: the usual name of a trait that only its own
/// module implements.
const EXCEPTIONS: [&str; 1] = ["Sealed"];

/// Words of a name in camel case.
fn words(name: &str) -> Vec<&str> {
    let starts = name.match_indices(|c: char| c.is_ascii_uppercase()).map(|(at, _)| at);
    let mut ends: Vec<_> = starts.skip(1).collect();
    ends.push(name.len());
    ends.iter().scan(0, |from, end| Some(&name[std::mem::replace(from, *end)..*end])).collect()
}

/// True if the name is a participle, or opens as a clause does.
fn is_no_noun(name: &str) -> bool {
    let words = words(name);
    let (first, last) = (words[0], words[words.len() - 1]);
    let is_participle = PARTICIPLES.contains(&last) || (last.ends_with("ed") && !NOUNS.contains(&last));
    (is_participle || OPENINGS.contains(&first)) && !EXCEPTIONS.contains(&name)
}

/// Names of the types that a file defines outside its tests.
fn types(text: &str) -> Vec<&str> {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    code.lines().filter_map(defined).collect()
}

/// Name of the type that a line defines. An indented alias without `pub` is an associated type,
/// whose name is its trait's.
fn defined(line: &str) -> Option<&str> {
    let code = line.trim_start();
    if code.len() < line.len() && code.starts_with("type ") {
        return None;
    }
    let code = code.strip_prefix("pub").map_or(code, |rest| {
        rest.strip_prefix('(').and_then(|rest| rest.split_once(')')).map_or(rest, |(_, rest)| rest).trim_start()
    });
    let name = ["struct ", "enum ", "trait ", "type "].iter().find_map(|word| code.strip_prefix(word))?;
    let name = name.split(|c: char| !c.is_ascii_alphanumeric()).next()?;
    name.starts_with(|c: char| c.is_ascii_uppercase()).then_some(name)
}

/// Faults in the names of a crate's files, given with their texts.
fn faults<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<String> {
    let mut places: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut faults = Vec::new();
    for (file, text) in files {
        for name in types(text) {
            if is_no_noun(name) {
                faults.push(format!("{file}: the type `{name}` has no noun for a name"));
            }
            if !VARIANTS.iter().any(|place| file.starts_with(place)) {
                places.entry(name).or_default().push(file);
            }
        }
    }
    let doubles = places.iter().filter(|(_, files)| files.len() > 1);
    faults.extend(doubles.map(|(name, files)| format!("{}: types of the same name `{name}`", files.join(", "))));
    faults
}

fn texts(folder: &Path) -> Vec<(String, String)> {
    let mut files = Vec::new();
    rust_files(folder, &mut files);
    assert!(!files.is_empty(), "no sources under {}", folder.display());
    files.retain(|file| !file.iter().any(|part| part == "tests" || part == "tests.rs"));
    let name = |file: &Path| file.strip_prefix(root()).unwrap().to_string_lossy().replace('\\', "/");
    files.iter().map(|file| (name(file), std::fs::read_to_string(file).unwrap())).collect()
}

#[test]
fn types_have_nouns_of_their_own_for_names() {
    // The harness and its crates are one vocabulary.
    let (ours, others): (Vec<&str>, Vec<&str>) =
        SOURCES.iter().partition(|folder| **folder == "src" || folder.starts_with("crates/"));
    let mut found = Vec::new();
    for crates in std::iter::once(ours.as_slice()).chain(others.chunks(1)) {
        let texts: Vec<_> = crates.iter().flat_map(|folder| texts(&root().join(folder))).collect();
        found.extend(faults(texts.iter().map(|(file, text)| (file.as_str(), text.as_str()))));
    }
    report(&found);
}

#[test]
fn a_name_that_is_none_is_found() {
    let is_found = |text: &str| !faults([("a.rs", "pub struct Speed;\n"), ("b.rs", text)]).is_empty();
    for text in [
        "struct Speed<T>(T);\n",
        "    pub(super) enum Speed {\n",
        "type Speed = u8;\n",
        "    pub type Speed = u8;\n",
        "type Counted = u8;\n",
        "pub(crate) trait MoveTaken {}\n",
        "struct NoRoom;\n",
    ] {
        assert!(is_found(text), "{text}");
    }
    for text in [
        "impl A for B {\n    type Speed = u8;\n}\n",
        "struct Noise;\nstruct MoveFeed;\nstruct IsaName;\n",
        "#[cfg(test)]\nmod tests {\n    struct Speed;\n}\n",
        "// struct Speed;\nlet struct_Speed = 1;\n",
    ] {
        assert!(!is_found(text), "{text}");
    }
    assert!(faults([("a.rs", "struct A;\n"), ("src/os/linux.rs", "struct A;\n")]).is_empty());
}
