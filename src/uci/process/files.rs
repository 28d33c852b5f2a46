//! Check of files that options name. An engine that does not find its network may play on with
//! another one.
//!
//! The type (`string`) and the name of an option decide if it names a file to read. A missing value
//! with a directory in it is refused before the option is sent. A missing value that only looks
//! like a path, or that may be built into the engine, is reported as a doubt.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::os;
use crate::uci::{EngineOption, OptionKind};

/// A file that an option names and that the engine cannot read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("option `{option}` names `{}`, {why}; give a path as the engine sees it from {}", file.display(), dir.display())]
pub struct FileError {
    /// Name of the option.
    pub option: String,
    /// Value of the option, or one entry of its list.
    pub file: PathBuf,
    /// Directory that relative paths start at.
    pub dir: PathBuf,
    /// Reason that it cannot be read.
    pub why: String,
}

/// Name parts of options whose files the engine writes. Such files may be missing.
const WRITTEN: &[&str] = &["log", "debug", "save", "write", "output", "record", "learn", "experience"];

/// Parts of names of options that list directories, separated as in `PATH`.
const LISTS: &[&str] = &["syzygy", "tablebase", "gaviota", "nalimov", "bitbase", "path"];

/// Parts of names of options that name a file to read.
const FILES: &[&str] = &["file", "nnue", "network", "net", "weight", "book"];

/// Extensions of files that engines read.
const ENDINGS: &[&str] = &["nnue", "bin", "net", "nn", "pb", "gz", "onnx", "ini", "book", "abk", "ctg"];

/// True if an option may name a file or folder: by its name, or by a path in its value.
#[cfg(feature = "cluster")]
pub(crate) fn may_name_file(option: &str, value: &str) -> bool {
    let option = option.to_lowercase();
    let is_placeholder = value.is_empty() || value.starts_with('<') && value.ends_with('>');
    let is_plain = ["none", "null", "true", "false"].iter().any(|word| value.eq_ignore_ascii_case(word));
    if is_placeholder || is_plain || value.parse::<f64>().is_ok() {
        return false;
    }
    [FILES, LISTS, WRITTEN].iter().any(|parts| parts.iter().any(|part| option.contains(part)))
        || value.contains(['/', '\\'])
        || value.starts_with('~')
}

/// Checks the files that the value of an option names. `dir` is the engine's working directory; a
/// relative path may also start at the program's directory. Returns a doubt to report, if there is
/// one.
///
/// # Errors
/// Returns an error if the engine cannot read the file.
pub(super) fn look(
    option: &EngineOption,
    value: &str,
    dir: &Path,
    program: &Path,
) -> Result<Option<String>, FileError> {
    let OptionKind::Str { default } = &option.kind else { return Ok(None) };
    let is_placeholder = value.is_empty() || value.starts_with('<') && value.ends_with('>');
    if is_placeholder || ["none", "null"].iter().any(|word| value.eq_ignore_ascii_case(word)) {
        return Ok(None);
    }
    let name = option.name.to_lowercase();
    let names = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
    let bases = [Some(dir), program.parent()];
    let find = |file: &str| bases.iter().flatten().map(|base| fs::metadata(base.join(file))).reduce(Result::or);
    // The whole value first, because a path may contain a colon.
    let whole = find(value).and_then(Result::ok);
    if default.as_deref() == Some(value) || names(WRITTEN) {
        return Ok(None);
    }
    let fault = |file: &str, why: String| {
        Err(FileError { option: option.name.clone(), file: PathBuf::from(file), dir: dir.to_owned(), why })
    };
    let reads = names(LISTS) || names(FILES);
    match whole {
        Some(about) => match unreadable(&about, value, names(FILES) && !names(LISTS)) {
            Some(why) if reads => fault(value, why.to_owned()),
            _ => Ok(None),
        },
        None if names(LISTS) => {
            let is_missing = |part: &&str| !part.is_empty() && find(part).is_some_and(|about| about.is_err());
            match value.split(os::LIST_SEPARATORS).find(is_missing) {
                Some(part) => fault(part, "which is not there".to_owned()),
                None => Ok(None),
            }
        }
        None if reads && value.contains(std::path::is_separator) => {
            let hint = if value.starts_with("~/") { ": no shell reads the `~`" } else { "" };
            fault(value, format!("which is not there{hint}"))
        }
        None => Ok(doubt(&option.name, value)),
    }
}

/// Returns the reason that an existing file is of a wrong kind.
fn unreadable(about: &Metadata, value: &str, is_file: bool) -> Option<&'static str> {
    let endless = os::endless(about).filter(|_| value != "/dev/null");
    endless.or_else(|| (is_file && about.is_dir()).then_some("a folder"))
}

/// Returns a doubt about a missing file that may be built in, or whose option has no telling name.
fn doubt(option: &str, value: &str) -> Option<String> {
    let ending = Path::new(value).extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let is_path = ["/", "./", "../", "~/"].iter().any(|start| value.starts_with(start)) && value.len() > 3;
    let is_file = ENDINGS.iter().any(|known| ending.eq_ignore_ascii_case(known));
    (is_path || is_file).then(|| format!("option `{option}` is `{value}`, but there is no such file"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_looked_for_as_the_engine_sees_them() {
        let folder = tempfile::tempdir().unwrap();
        let [dir, beside] = ["work", "bin"].map(|name| folder.path().join(name));
        for (base, file) in [(&dir, "net.nnue"), (&dir, "tables/a"), (&dir, "tables/b"), (&beside, "sub/own.nnue")] {
            let path = base.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        let _socket = std::os::unix::net::UnixListener::bind(dir.join("socket")).unwrap();
        let program = beside.join("engine");
        let text = |default: &str| OptionKind::Str { default: Some(default.to_owned()) };
        let seen = |name: &str, kind: OptionKind, value: &str| {
            let option = EngineOption { name: name.to_owned(), kind };
            match look(&option, value, &dir, &program) {
                Ok(None) => "fine".to_owned(),
                Ok(Some(doubt)) => doubt,
                Err(error) => error.to_string(),
            }
        };
        let absolute = dir.join("net.nnue").display().to_string();
        for (name, value, expected) in [
            ("EvalFile", "net.nnue", "fine"),
            ("EvalFile", &absolute, "fine"),
            ("EvalFile", "sub/own.nnue", "fine"),
            ("EvalFile", "<empty>", "fine"),
            ("EvalFile", "<embedded>", "fine"),
            ("EvalFile", "built/in.nnue", "fine"),
            ("EvalFile", "nn-1234.nnue", "option `EvalFile` is `nn-1234.nnue`, but there is no such file"),
            ("EvalFile", "/no/such", "option `EvalFile` names `/no/such`, which is not there; give a path as"),
            ("EvalFile", "~/net.nnue", "which is not there: no shell reads the `~`"),
            ("EvalFile", "nets/x.nnue", "option `EvalFile` names `nets/x.nnue`, which is not there"),
            ("EvalFile", "./tables", "option `EvalFile` names `./tables`, a folder"),
            ("EvalFile", "socket", "option `EvalFile` names `socket`, a pipe or a socket, which would block it"),
            ("EvalFile", "/dev/zero", "option `EvalFile` names `/dev/zero`, a device"),
            ("BookFile", "/dev/null", "fine"),
            ("SyzygyPath", "tables", "fine"),
            ("SyzygyPath", "tables:work", "option `SyzygyPath` names `work`, which is not there"),
            ("SyzygyPath", "tables/:tables", "fine"),
            ("Debug Log File", "/no/such/log", "fine"),
            ("Style", "/no/such", "option `Style` is `/no/such`, but there is no such file"),
            ("Style", "a/b", "fine"),
        ] {
            let found = seen(name, text("built/in.nnue"), value);
            assert!(found == expected || expected != "fine" && found.contains(expected), "{name} {value}: {found}");
        }
        assert_eq!(seen("OwnBook", OptionKind::Check { default: None }, "/no/such"), "fine");
    }
}
