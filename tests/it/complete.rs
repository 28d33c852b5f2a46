//! Completion: the candidates that shells are told, asked as their scripts ask.

#![allow(clippy::unwrap_used, reason = "helpers of tests may stop at the first surprise, as tests do")]

use std::fs;
use std::path::Path;

use crate::harness::{Ran, fake, in_shell, quintain, run};
use crate::source::Toy;

/// A repository with a branch, a tag, an engine in the registry and a run.
fn place() -> Toy {
    let toy = Toy::bare();
    toy.write("engines/main.sh", "#!/bin/sh\n");
    toy.write("configs/engines.toml", "[engines.fritz]\ncommand = \"/bin/true\"\ndescription = \"An old friend\"\n");
    toy.commit("One");
    toy.git(&["branch", "wider-windows"]);
    toy.git(&["tag", "v1.0"]);
    let players = [fake("--seed 1"), fake("--seed 2")];
    let [new, base] = players.each_ref().map(String::as_str);
    let out = toy.context.cwd.join("results/runs/20260101-120000-first").display().to_string();
    let sprt = ["sprt", "--new", new, "--base", base, "--out", &out];
    let ran: Ran = quintain(&[&sprt[..], &["--nodes", "1", "--max-plies", "10", "--max-pairs", "1"]].concat())
        .output()
        .unwrap()
        .into();
    assert_eq!(ran.code, Some(3), "{ran:?}");
    toy
}

/// Candidates for the last of these words, as zsh and fish ask.
fn candidates(cwd: &Path, words: &[&str]) -> Vec<String> {
    let mut command = quintain(&[&["--", "quintain"], words].concat());
    let index = words.len().to_string();
    command.env("QUINTAIN_COMPLETE", "zsh").env("_CLAP_COMPLETE_INDEX", index).env("_CLAP_IFS", "\n").current_dir(cwd);
    let ran: Ran = command.output().unwrap().into();
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{words:?}");
    ran.stdout.lines().map(str::to_owned).collect()
}

#[test]
fn runs_engines_and_revisions_are_completed() {
    let toy = place();
    let cwd = &toy.context.cwd;
    let all = |words: &[&str]| candidates(cwd, words);
    for (words, expected) in [
        (&["report", "la"][..], &["latest:the newest run"][..]),
        (&["sprt", "--new", "fr"], &["fritz:An old friend"]),
        (&["sprt", "--base", "git:w"], &["git\\:wider-windows:One"]),
        (&["match", "git:v"], &["git\\:v1.0:One"]),
        (&["gauntlet", "--vs", "fri"], &["fritz:An old friend"]),
        (&["race", "--base", "git:H"], &["git\\:HEAD:the commit that is checked out"]),
        (&["check", "engines/"], &["engines/main.sh"]),
        (&["bisect", "v1"], &["v1.0:One"]),
        (&["bisect", "v1.0", "wid"], &["wider-windows:One"]),
        (&["progress", "--revs", "v1.0..mai"], &["v1.0..main:One"]),
        (&["sprt", "--new=git:wi"], &["--new=git\\:wider-windows:One"]),
        (&["stats", "fr"], &[]),
    ] {
        assert_eq!(all(words), expected, "{words:?}");
    }
    for command in ["report", "resume", "watch", "explain", "games", "replay"] {
        let found = all(&[command, "2026"]);
        let [run] = found.as_slice() else { panic!("{command}: {found:?}") };
        assert!(run.contains("20260101-120000-first:") && run.contains("out-of-pairs"), "{command}: {run}");
    }
    // Outside a repository, and without runs, there is nothing but files.
    let empty = tempfile::tempdir().unwrap();
    assert_eq!(candidates(empty.path(), &["bisect", "v1"]), [""; 0]);
    assert_eq!(candidates(empty.path(), &["report", "2026"]), [""; 0]);
}

#[test]
fn every_command_and_flag_is_completed() {
    let here = tempfile::tempdir().unwrap();
    let named = |words: &[&str]| -> Vec<String> {
        let all = candidates(here.path(), words);
        all.iter().map(|line| line.split(':').next().unwrap().to_owned()).collect()
    };
    let help = run(&["--help"]).stdout;
    let listed = help.lines().skip_while(|line| *line != "Play:").take_while(|line| *line != "Options:");
    let commands: Vec<&str> =
        listed.filter(|line| line.starts_with("  ")).map(|line| line.split_whitespace().next().unwrap()).collect();
    let found = named(&[""]);
    assert!(commands.len() > 25 && commands.iter().all(|name| found.contains(&(*name).to_owned())), "{found:?}");
    assert_eq!(named(&["games", "--termin"]), ["--termination"]);
    assert_eq!(named(&["sprt", "--new-n"]), ["--new-name", "--new-net"]);
}

/// Answer of the function that bash calls, for a line with the cursor at its end.
fn in_bash(toy: &Toy, script: &str, line: &str) -> Vec<String> {
    let asks = "source \"$1\"; COMP_LINE=$2; COMP_POINT=${#2}; _complete_quintain; printf '%s\\n' \"${COMPREPLY[@]}\"";
    let bash = format!(
        "PATH=$(dirname \"$1\"):$PATH exec bash --norc -c '{}' bash \"$2\" \"$3\"",
        asks.replace('\'', "'\\''")
    );
    let ran: Ran = in_shell(&bash, &[script, line]).current_dir(&toy.context.cwd).output().unwrap().into();
    assert_eq!(ran.code, Some(0), "{ran:?}");
    ran.stdout.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

#[test]
fn bash_gets_the_rest_of_a_word_that_it_parts() {
    let toy = place();
    let script = toy.context.cwd.join("script").display().to_string();
    fs::write(&script, run(&["completions", "bash"]).stdout).unwrap();
    for (line, expected) in [
        ("quintain spr", &["sprt"][..]),
        ("quintain sprt --new fri", &["fritz"]),
        // Bash takes `git`, `:` and the rest for words of their own.
        ("quintain sprt --new git:wi", &["wider-windows"]),
        ("quintain sprt --new=git:wi", &["wider-windows"]),
        ("quintain sprt --new git:wider-windows --base git:v", &["v1.0"]),
        ("quintain report lat", &["latest"]),
        ("quintain report 2026", &["20260101-120000-first"]),
    ] {
        assert_eq!(in_bash(&toy, &script, line), expected, "{line}");
    }
}
