//! Permission to start the programs of a run directory, because a stranger's directory may name any
//! program.
//!
//! A directory that this user's program wrote is trusted ([`stamp`](crate::run::stamp)). For any
//! other one a terminal asks the user, and without a terminal it is refused unless `--trust` is
//! given. A program inside the directory is never started, because it came with it.

use std::collections::HashSet;
use std::fs::Metadata;
use std::io::{BufRead, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use crate::journal;
use crate::plan::{Plan, Player, file};
use crate::report::html::{self, tuning};
use crate::report::{crashes, event_log, pgn_file, stored};
use crate::run::dir::{RunDir, STDERR};
use crate::run::error::{Result, ResultContext as _, fail};
use crate::run::{page, progress, stamp};
use crate::text::{printable, shell_path, with_causes};

/// Checks that the programs of the run in `dir` may be started; `is_trusted` if the user has
/// already confirmed it.
///
/// # Errors
/// Returns an error that names the programs if the user does not confirm, or if one of them is
/// inside the directory. A link or special file in place of an output of the run is also an error.
pub(crate) fn check(dir: &RunDir, plan: &Plan, is_trusted: bool) -> Result<()> {
    check_for("resume", dir, plan, is_trusted)
}

/// [`check`] for a command with its own flags, which the error names.
pub(crate) fn check_for(command: &str, dir: &RunDir, plan: &Plan, is_trusted: bool) -> Result<()> {
    refuse_inside(dir.root(), plan)?;
    refuse_links(dir.root())?;
    if dir.is_stamped() {
        return Ok(());
    }
    let root = printable(&dir.root().display().to_string());
    let starts = each_once(plan.players.iter().map(described)).join("; ");
    let writes = written(plan);
    let about = format!(
        "{root}: not written by you on this machine, or changed since; it starts {starts}{writes}; see docs/trust.md"
    );
    let is_allowed = is_trusted || is_terminal() && is_confirmed(&about, &mut std::io::stdin().lock());
    if !is_allowed {
        let typed = printable(&shell_path(dir.root()));
        fail!(Untrusted, "{about}; if you would start that yourself, `quintain {command} {typed} --trust` does");
    }
    if let Err(error) = dir.stamp() {
        progress::warn(&format!("it will be asked about again: {}", with_causes(&error)));
    }
    Ok(())
}

/// Checks that this user's program wrote the directory, and asks nobody: the caller runs without a
/// user.
///
/// # Errors
/// As [`check`].
pub(crate) fn check_stamp(dir: &RunDir, plan: &Plan) -> Result<()> {
    refuse_inside(dir.root(), plan)?;
    refuse_links(dir.root())?;
    if !dir.is_stamped() {
        let root = printable(&dir.root().display().to_string());
        fail!(
            Untrusted,
            "{root}: not written by you on this machine, or changed since; look at its plan.toml, and `quintain resume` it"
        );
    }
    Ok(())
}

fn is_terminal() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

fn is_confirmed(about: &str, answers: &mut impl BufRead) -> bool {
    let mut out = std::io::stderr().lock();
    let asked = write!(out, "{about}\nStart them? [y/N] ").and_then(|()| out.flush());
    let mut answer = String::new();
    asked.and_then(|()| answers.read_line(&mut answer)).is_ok()
        && matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}

/// Removes duplicates from `lines`: two players may be one program with two limits.
fn each_once(lines: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = HashSet::new();
    lines.filter(|line| seen.insert(line.clone())).collect()
}

/// Describes a player's command line, directory and options, with control characters escaped.
fn described(player: &Player) -> String {
    let mut text = format!("{:?}", player.program);
    for arg in &player.args {
        text += &format!(" {arg:?}");
    }
    if let Some(dir) = &player.dir {
        text += &format!(" in {dir:?}");
    }
    for (name, value) in &player.options {
        text += &format!(" {name:?}={value:?}");
    }
    text
}

/// Describes the files outside of the directory that the run appends to or replaces.
fn written(plan: &Plan) -> String {
    let recording = &plan.recording;
    let files = recording.pgn.iter().map(|pgn| &pgn.file).chain(&recording.epd);
    let replaced = recording.live.iter().map(|file| format!(", and replaces {file:?}"));
    files.map(|file| format!(", and appends to {:?}", file.path)).chain(replaced).collect()
}

/// Refuses programs, scripts and working directories inside the run directory.
fn refuse_inside(root: &Path, plan: &Plan) -> Result<()> {
    let root = root.canonicalize().within(|| format!("{}: cannot find it", root.display()))?;
    for player in &plan.players {
        if let Some(inside) = leads_into(player, &root) {
            fail!(
                Untrusted,
                "{inside:?}: `{:?}` would start it from inside the run directory; move it elsewhere and begin a new run",
                player.name
            );
        }
    }
    Ok(())
}

/// Returns a path of a player's command line or options that is inside the directory `root`, if
/// any.
fn leads_into(player: &Player, root: &Path) -> Option<PathBuf> {
    let named = [Some(&player.program), player.dir.as_ref()];
    if let Some(path) = named.into_iter().flatten().find(|path| lies_in(path, root)) {
        return Some(path.clone());
    }
    let folder = player.dir.clone().unwrap_or_default();
    let found = |text: &str, is_arg: bool| {
        let in_it = words(text).find(|word| {
            let path = folder.join(word);
            // An option's value may equal the directory's name by chance; it names no file in it.
            let is_root = !is_arg && !word.contains(std::path::is_separator) && is_same(&path, root);
            !is_root && lies_in(&path, root)
        });
        in_it.map(|word| folder.join(word)).or_else(|| names(text, root).then(|| root.to_owned()))
    };
    let in_args = player.args.iter().find_map(|arg| found(arg, true));
    in_args.or_else(|| player.options.iter().find_map(|(_, value)| found(value, false)))
}

/// Splits an argument or an option's value into possible paths: the whole text, the text after each
/// `=`, and the words between characters at which shells and engines split.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_end = |c: char| c.is_whitespace() || c.is_control() || "'\"`;,:=|&<>(){}[]$\\".contains(c);
    let values = text.match_indices('=').map(|(at, found)| &text[at + found.len()..]);
    [text].into_iter().chain(values).chain(text.split(is_end)).filter(|word| !word.is_empty())
}

/// True if the text contains the directory's full path, including spaces.
fn names(text: &str, root: &Path) -> bool {
    let Some(root) = root.to_str().filter(|root| root.len() > 1) else { return false };
    let ends = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || "-_.".contains(c));
    text.match_indices(root).any(|(at, found)| ends(&text[at + found.len()..]))
}

/// Files of a run directory that a session of the run writes, and directories in which it creates
/// others. Commands that write other files there (`extension.toml`, `notify`) put a new file in
/// place of the old one, and so follow no link.
const WRITTEN: [&str; 12] = [
    stamp::FILE_NAME,
    file::FILE_NAME,
    journal::FILE_NAME,
    pgn_file::FILE_NAME,
    stored::SUMMARY,
    page::PAGE,
    html::LLR,
    tuning::VALIDATION,
    tuning::TRACES,
    tuning::MOVES,
    event_log::FILE_NAME,
    stored::SOCKET_NOTE,
];
const FOLDERS: [&str; 2] = [STDERR, crashes::FOLDER];

/// Refuses links and special files in place of a run's outputs, because the run would write
/// elsewhere.
fn refuse_links(root: &Path) -> Result<()> {
    for name in WRITTEN {
        refuse_unless(&root.join(name), Metadata::is_file)?;
    }
    for folder in FOLDERS.map(|name| root.join(name)) {
        refuse_unless(&folder, Metadata::is_dir)?;
        for entry in entries(&folder) {
            refuse_unless(&entry, |about| about.is_file() || about.is_dir())?;
            for below in entries(&entry) {
                refuse_unless(&below, Metadata::is_file)?;
            }
        }
    }
    Ok(())
}

/// Refuses an existing file of a wrong type; links are not followed.
fn refuse_unless(path: &Path, is_right: impl Fn(&Metadata) -> bool) -> Result<()> {
    match path.symlink_metadata() {
        Ok(about) if !is_right(&about) => {
            let what = if about.is_symlink() { "a symbolic link" } else { "not what a run has there" };
            fail!(
                Untrusted,
                "{path:?}: it is {what}, so the run could write elsewhere; remove it, or put the file itself there"
            )
        }
        _ => Ok(()),
    }
}

/// Entries of a directory; none if it is not one.
fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> {
    std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
}

fn is_same(path: &Path, root: &Path) -> bool {
    path.canonicalize().is_ok_and(|path| path == root)
}

fn lies_in(path: &Path, root: &Path) -> bool {
    let is_in = |path: PathBuf| path.starts_with(root);
    // Both the named path and the target of its links are checked.
    std::path::absolute(path).is_ok_and(is_in) || path.canonicalize().is_ok_and(is_in)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_yes_is_one() {
        for (answer, expected) in [
            ("y\n", true),
            ("Yes\n", true),
            (" y \n", true),
            ("\n", false),
            ("n\n", false),
            ("", false),
            ("yep\n", false),
        ] {
            assert_eq!(is_confirmed("?", &mut answer.as_bytes()), expected, "{answer:?}");
        }
    }

    #[test]
    fn a_program_of_two_players_is_named_once() {
        let lines = ["b", "a", "b", "c", "a"].map(str::to_owned).into_iter();
        assert_eq!(each_once(lines), ["b", "a", "c"]);
    }

    #[test]
    fn words_are_split_where_shells_and_engines_split() {
        let all = |text| words(text).collect::<Vec<_>>();
        assert_eq!(all("a"), ["a", "a"]);
        assert_eq!(
            all("--set=A=run/x;'run/y',b:c"),
            [
                "--set=A=run/x;'run/y',b:c",
                "A=run/x;'run/y',b:c",
                "run/x;'run/y',b:c",
                "--set",
                "A",
                "run/x",
                "run/y",
                "b",
                "c"
            ]
        );
        assert_eq!(words("sh -c $(./e)|`f`>g").skip(1).collect::<Vec<_>>(), ["sh", "-c", "./e", "f", "g"]);
        for (text, expected) in
            [("cat /r n/x", true), ("cat /r n", true), ("/r n-2/x", false), ("/r nx", false), ("/r", false)]
        {
            assert_eq!(names(text, Path::new("/r n")), expected, "{text}");
        }
    }

    #[test]
    fn a_path_lies_in_a_folder_by_name_or_by_link() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        let root = folder.join("run");
        std::fs::create_dir_all(root.join("sub")).unwrap();
        std::fs::write(root.join("engine"), "").unwrap();
        std::os::unix::fs::symlink(root.join("engine"), folder.join("in")).unwrap();
        std::os::unix::fs::symlink("/bin/sh", root.join("out")).unwrap();
        for (path, expected) in [
            (root.join("engine"), true),
            (root.join("sub/../engine"), true),
            (folder.join("run-2/../run/engine"), false),
            (folder.join("in"), true),
            (root.join("out"), true),
            (folder.join("running"), false),
            (PathBuf::from("/bin/sh"), false),
        ] {
            assert_eq!(lies_in(&path, &root), expected, "{}", path.display());
        }
    }
}
