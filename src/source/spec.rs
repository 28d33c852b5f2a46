//! What a user types for an engine.

use std::path::{Path, PathBuf};

use super::{Context, SourceError, registry};

/// An engine as asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Spec {
    /// `.`: the working tree, uncommitted changes included.
    WorkingTree,
    /// `git:REV` or `git:REV@PATH-OR-URL`.
    Revision {
        /// A commit, branch or tag.
        revision: String,
        /// Another repository.
        place: Option<String>,
    },
    /// A file, or an engine of the registry.
    Program {
        /// What to call it.
        name: String,
        /// Absolute.
        program: PathBuf,
        /// Its arguments.
        args: Vec<String>,
        /// Where it runs.
        dir: Option<PathBuf>,
        /// UCI options that the registry asks for.
        options: Vec<(String, String)>,
    },
}

impl Spec {
    /// Reads a spec: `.`, `git:REV[@PLACE]`, a file, `"FILE -- ARGS"`, `"FILE ARGS"`, or a name of the registry.
    ///
    /// # Errors
    /// [`SourceError::Spec`], [`SourceError::Unknown`], [`SourceError::Registry`].
    pub fn parse(text: &str, context: &Context) -> Result<Self, SourceError> {
        let fault = |why: &str| SourceError::Spec { spec: text.to_owned(), why: why.to_owned() };
        if text == "." {
            return Ok(Self::WorkingTree);
        }
        if let Some(rest) = text.strip_prefix("git:") {
            let (revision, place) = match rest.split_once('@') {
                // `branch@{1}` is a revision of its own.
                Some((_, after)) if after.starts_with('{') => (rest, None),
                Some((revision, place)) => (revision, Some(place.to_owned())),
                None => (rest, None),
            };
            if revision.is_empty() || place.as_deref() == Some("") {
                return Err(fault("write git:REV or git:REV@PATH, such as git:main"));
            }
            return Ok(Self::Revision { revision: revision.to_owned(), place });
        }
        if text.trim().is_empty() {
            return Err(fault("empty; write a path, git:REV, a name, or . for the working tree"));
        }
        if context.cwd.join(text).is_file() {
            return Ok(program(&context.cwd.join(text), Vec::new()));
        }
        let mut words = split(text).map_err(|why| fault(&why))?.into_iter();
        let first = words.next().ok_or_else(|| fault("empty; write a path, git:REV, a name, or ."))?;
        let args: Vec<String> = words.skip_while(|word| word == "--").collect();
        let file = context.cwd.join(&first);
        if file.is_file() || first.contains('/') {
            return Ok(program(&file, args));
        }
        named(&first, args, context)
    }
}

fn program(file: &Path, args: Vec<String>) -> Spec {
    let name = file.file_stem().map_or_else(|| "engine".to_owned(), |stem| stem.to_string_lossy().into_owned());
    // Without `.` and `..`, so that the same program has one path; a path that does not exist is reported later.
    let program = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    Spec::Program { name, program, args, dir: None, options: Vec::new() }
}

fn named(name: &str, args: Vec<String>, context: &Context) -> Result<Spec, SourceError> {
    let engines = registry::load(&context.cwd)?;
    if let Some(entry) = engines.get(name) {
        let program = if entry.command.contains('/') {
            context.cwd.join(&entry.command)
        } else {
            on_path(&entry.command).ok_or_else(|| SourceError::Spec {
                spec: name.to_owned(),
                why: format!("its command `{}` is not on the PATH; install it, or correct engines.toml", entry.command),
            })?
        };
        let args = entry.args.iter().cloned().chain(args).collect();
        return Ok(Spec::Program {
            name: name.to_owned(),
            program,
            args,
            dir: entry.dir.clone(),
            options: entry.options(),
        });
    }
    let starts = |known: &&String| known.starts_with(name) || name.starts_with(known.as_str());
    let nearest = engines.keys().find(starts).map_or_else(String::new, |known| format!(", did you mean `{known}`?"));
    Err(SourceError::Unknown { name: name.to_owned(), nearest })
}

fn on_path(command: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|dir| dir.join(command)).find(|file| file.is_file())
}

/// Words as a shell splits them: blanks between them, quotes and backslashes kept from splitting.
fn split(text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some(open), _) if letter == open => quote = None,
            (None, '"' | '\'') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => match letters.next() {
                Some(next) => word.get_or_insert_default().push(next),
                None => return Err("a backslash at the end; double it, or leave it out".to_owned()),
            },
            (None, letter) if letter.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    if let Some(open) = quote {
        return Err(format!("a quote {open} is not closed"));
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words() {
        let cases: &[(&str, &[&str])] = &[
            ("a b  c", &["a", "b", "c"]),
            ("a 'b c' \"d \\\" e\" ''", &["a", "b c", "d \" e", ""]),
            ("a\\ b", &["a b"]),
        ];
        for (text, expected) in cases {
            assert_eq!(split(text).unwrap(), *expected, "{text}");
        }
        assert!(split("a 'b").is_err() && split("a\\").is_err());
    }

    #[test]
    fn specs() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("my engine");
        std::fs::write(&file, "").unwrap();
        let context = Context { cwd: dir.path().to_owned(), cache: dir.path().join("cache") };
        let parse = |text: &str| Spec::parse(text, &context);
        assert_eq!(parse(".").unwrap(), Spec::WorkingTree);
        let revision = |revision: &str, place: Option<&str>| Spec::Revision {
            revision: revision.to_owned(),
            place: place.map(str::to_owned),
        };
        assert_eq!(parse("git:main").unwrap(), revision("main", None));
        assert_eq!(parse("git:v1@../other").unwrap(), revision("v1", Some("../other")));
        assert_eq!(parse("git:main@{1}").unwrap(), revision("main@{1}", None));
        for (text, expected) in
            [("my engine", &[][..]), ("'my engine' -- --x 1", &["--x", "1"]), ("'my engine' -v", &["-v"])]
        {
            match parse(text).unwrap() {
                Spec::Program { name, program, args, .. } => {
                    assert_eq!((name.as_str(), program), ("my engine", file.canonicalize().unwrap()));
                    assert_eq!(args, expected);
                }
                other => panic!("{other:?}"),
            }
        }
        for text in ["", "git:", "git:@x", "no-such-engine", "'open"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
