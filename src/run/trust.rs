//! Permission to start what a run directory names: a plan is a list of programs, and a directory may be a stranger's.
//!
//! A directory that this user's program wrote is trusted ([`stamp`](crate::run::stamp)). Any other one is asked about on a
//! terminal, and refused elsewhere unless `--trust` is given. A program inside the directory is never started: it came with it.

use std::collections::HashSet;
use std::io::{BufRead, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use crate::plan::{Plan, Player};
use crate::run::dir::RunDir;
use crate::run::progress;

/// Returns if the programs of the run in `dir` may be started; `is_trusted` if the user said so already.
///
/// # Errors
/// Returns an error that names them if the user has not said so, or if one of them lies in the directory.
pub(crate) fn check(dir: &RunDir, plan: &Plan, is_trusted: bool) -> Result<()> {
    refuse_inside(dir.root(), plan)?;
    if dir.is_stamped() {
        return Ok(());
    }
    let root = dir.root().display();
    let starts = each_once(plan.players.iter().map(described)).join("; ");
    let writes = written(plan);
    let about = format!(
        "{root}: not written by you on this machine, or changed since; it starts {starts}{writes}; see docs/trust.md"
    );
    let is_allowed = is_trusted || is_terminal() && is_confirmed(&about, &mut std::io::stdin().lock());
    if !is_allowed {
        bail!("{about}; if you would start that yourself, `quintain resume {root} --trust` does");
    }
    if let Err(error) = dir.stamp() {
        progress::warn(&format!("it will be asked about again: {error:#}"));
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

/// The different ones of `lines`: two players may be one program under two limits.
fn each_once(lines: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = HashSet::new();
    lines.filter(|line| seen.insert(line.clone())).collect()
}

/// A player's command line, its folder and its options, with whatever a terminal could obey escaped.
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

/// The files outside of the directory that the run appends to.
fn written(plan: &Plan) -> String {
    let recording = &plan.recording;
    let files = recording.pgn.iter().map(|pgn| &pgn.file).chain(&recording.epd);
    files.map(|file| format!(", and appends to {:?}", file.path)).collect()
}

/// Refuses programs, scripts and working folders that lie in the run directory.
fn refuse_inside(root: &Path, plan: &Plan) -> Result<()> {
    let root = root.canonicalize().with_context(|| format!("{}: cannot find it", root.display()))?;
    for player in &plan.players {
        if let Some(inside) = paths(player).into_iter().find(|path| lies_in(path, &root)) {
            bail!(
                "{inside:?}: `{:?}` would start it from inside the run directory; move it elsewhere and begin a new run",
                player.name
            );
        }
    }
    Ok(())
}

/// The files and folders that a player's start may lead to.
fn paths(player: &Player) -> Vec<PathBuf> {
    let folder = player.dir.clone().unwrap_or_default();
    // An argument may be the path, or end with it: `--script=PATH`.
    let values = player.args.iter().flat_map(|arg| [arg.as_str(), arg.split_once('=').map_or("", |(_, value)| value)]);
    let args = values.filter(|value| !value.is_empty()).map(|value| folder.join(value));
    [player.program.clone()].into_iter().chain(player.dir.clone()).chain(args).collect()
}

fn lies_in(path: &Path, root: &Path) -> bool {
    let is_in = |path: PathBuf| path.starts_with(root);
    // As named, and where links lead: either is the directory's doing.
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
