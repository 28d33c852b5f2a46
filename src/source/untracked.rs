//! Untracked files of a working tree: a new source file belongs to the engine, a log or an artefact
//! does not.

use std::collections::HashSet;

use crate::source::recipe::{PINS, Recipe};
use crate::text::{listed, printable};

/// Extensions that say nothing about a file: a tracked `CMakeLists.txt` does not make every text a
/// source.
const BLANK: [&str; 4] = ["log", "out", "pgn", "txt"];

/// Extensions of sources, which count even if no tracked file has them.
const SOURCES: [&str; 18] = [
    "asm", "c", "cc", "cpp", "cs", "cxx", "go", "h", "hh", "hpp", "inc", "java", "nim", "py", "rs", "s", "swift", "zig",
];

/// Files named in a note; the others are only counted.
const NAMED: usize = 3;

/// Kinds of a tree's tracked files.
#[derive(Debug)]
pub(super) struct Kinds(HashSet<String>);

impl Kinds {
    /// Collects the kinds of `tracked`, paths from the tree's root.
    pub(super) fn of<'a>(tracked: impl IntoIterator<Item = &'a str>) -> Self {
        Self(tracked.into_iter().map(kind).collect())
    }

    /// Returns true if the untracked file at `path` is part of the build. It is if it is a source,
    /// if a tracked file is of its kind, or if Quintain or a compiler looks for it by name.
    pub(super) fn have(&self, path: &str) -> bool {
        let kind = kind(path);
        let is_source = kind.strip_prefix("*.").is_some_and(|extension| SOURCES.contains(&extension));
        is_source || path == Recipe::FILE || PINS.contains(&path) || self.0.contains(&kind)
    }
}

/// A file's extension; its whole name if it has no extension, or one that says nothing.
fn kind(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    match name.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() && !BLANK.contains(&extension.to_lowercase().as_str()) => {
            format!("*.{}", extension.to_lowercase())
        }
        _ => name.to_owned(),
    }
}

/// Note about files left out of the build.
pub(super) fn note(left_out: &[String]) -> String {
    let names: Vec<&str> = left_out.iter().map(String::as_str).collect();
    let named = printable(&listed(&names, NAMED));
    format!("untracked files of kinds that no tracked file has are left out: {named}; `git add` those that count")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_source_counts_and_an_artefact_does_not() {
        let kinds = Kinds::of(["engine/CMakeLists.txt", "build.SH", "Makefile", ".clang-format", "a.log"]);
        for (path, counts) in [
            ("src/new.rs", true),
            ("first.c", true),
            ("tools/NEW.RS", true),
            ("run.sh", true),
            ("sub/Makefile", true),
            ("sub/CMakeLists.txt", true),
            ("sub/.clang-format", true),
            // Names that builds look for, even if no tracked file is like them.
            ("quintain.toml", true),
            ("Cargo.lock", true),
            ("sub/Cargo.lock", false),
            ("notes.txt", false),
            ("b.log", false),
            ("engine", false),
            ("main.o", false),
            ("x/.sh", false),
            (".rs", false),
            ("src/main.rs.orig", false),
        ] {
            assert_eq!(kinds.have(path), counts, "{path}");
        }
    }

    #[test]
    fn a_note_names_the_first_files() {
        let files = ["a", "b\n", "c", "d", "e"].map(str::to_owned);
        assert!(note(&files[..1]).contains("left out: a; `git add`"));
        assert!(note(&files).contains("left out: a, b\u{fffd}, c and 2 more; `git add`"));
    }
}
