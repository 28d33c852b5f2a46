//! Completion of a command line, as a shell asks for it: commands and flags from their definitions,
//! runs, engines and Git revisions from the current folder.
//!
//! The shell's script starts this program with QUINTAIN_COMPLETE set. The value name of an argument
//! says which candidates it has.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::path::Path;

use clap::{Arg, Command};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter as _};
use clap_complete::env::{Bash, Elvish, EnvCompleter, Fish, Powershell, Shells, Zsh};
use clap_complete::{Shell, engine};

use crate::cli::runs;
use crate::source::{self, Context, Registry, split_words};
use crate::text::printable;

/// Variable that names the shell which asks.
const ASKED: &str = "QUINTAIN_COMPLETE";

/// Variables of the script for bash: the line up to the cursor, and the characters that part words.
const LINE: &str = "_QUINTAIN_LINE";
const BREAKS: &str = "_QUINTAIN_BREAKS";

/// Separator of candidates that the scripts ask for.
const SEPARATOR: &str = "_CLAP_IFS";

/// Maximum number of branches and tags offered.
const MOST_REVISIONS: usize = 2_000;

const SHELLS: Shells<'_> = Shells(&[&WholeLineBash, &Zsh, &Fish, &Elvish, &Powershell]);

/// Answers a shell that asks for completions; false if none does.
///
/// # Errors
/// Returns an error if the answer cannot be written.
pub(super) fn answer(args: &[OsString], command: impl FnOnce() -> Command) -> io::Result<bool> {
    let Some(shell) = std::env::var(ASKED).ok().and_then(|name| SHELLS.completer(&name)) else { return Ok(false) };
    let words = args.iter().skip_while(|word| *word != "--").skip(1).cloned().collect();
    let mut command = with_candidates(command());
    command.build();
    let mut answer = Vec::new();
    shell.write_complete(&mut command, words, std::env::current_dir().ok().as_deref(), &mut answer)?;
    io::stdout().write_all(&answer)?;
    Ok(true)
}

/// Returns the script that makes a shell ask.
///
/// # Errors
/// Returns an error if there is no script for this shell.
pub(super) fn script(shell: Shell, name: &str) -> io::Result<Vec<u8>> {
    let mut script = Vec::new();
    let completer = SHELLS.completer(&shell.to_string());
    completer.ok_or(io::ErrorKind::Unsupported)?.write_registration(ASKED, name, name, name, &mut script)?;
    if shell == Shell::Zsh {
        // A file of fpath is read when the first word is to be completed, and must answer then.
        let first = format!("if [ \"$funcstack[1]\" = \"_{name}\" ]; then _clap_dynamic_completer_{name} \"$@\"; fi\n");
        script.extend(first.into_bytes());
    }
    Ok(script)
}

/// Adds candidates to the arguments of a command and of those below it.
fn with_candidates(command: Command) -> Command {
    let with = |arg: Arg| match candidates_of(&arg) {
        Some(candidates) => arg.add(ArgValueCompleter::new(candidates)),
        None => arg,
    };
    command.mut_args(with).mut_subcommands(with_candidates)
}

/// Source of the candidates of an argument, by its value name.
fn candidates_of(arg: &Arg) -> Option<fn(&OsStr) -> Vec<CompletionCandidate>> {
    match arg.get_value_names()?.first()?.as_str() {
        "RUN" | "FILE.pgn|RUN" => Some(run_candidates),
        "SPEC" | "ENGINE" | "NEW" | "BASE" | "NEW|PLAN.toml" | "STRONG,WEAK" => Some(spec_candidates),
        "GOOD" | "BAD" | "A..B" => Some(revision_candidates),
        _ => None,
    }
}

/// Candidate with a description on one line.
fn candidate(value: String, help: &str) -> CompletionCandidate {
    CompletionCandidate::new(value).help(Some(printable(help).into()))
}

/// Files and folders below what is typed.
fn path_candidates(current: &OsStr) -> Vec<CompletionCandidate> {
    PathCompleter::any().complete(current)
}

/// Keeps the candidates that begin with what is typed.
fn fitting(all: Vec<CompletionCandidate>, current: &OsStr) -> Vec<CompletionCandidate> {
    let typed = current.as_encoded_bytes();
    all.into_iter().filter(|one| one.get_value().as_encoded_bytes().starts_with(typed)).collect()
}

fn run_candidates(current: &OsStr) -> Vec<CompletionCandidate> {
    let ids = runs::described().into_iter().map(|(id, about)| candidate(id, &about));
    let latest = candidate("latest".to_owned(), "the newest run");
    let mut known = fitting(std::iter::once(latest).chain(ids).collect(), current);
    known.extend(path_candidates(current));
    known
}

fn spec_candidates(current: &OsStr) -> Vec<CompletionCandidate> {
    let mut known = vec![candidate(".".to_owned(), "the working tree")];
    if let Ok(context) = Context::from_env() {
        let registry = Registry::load(&context.cwd).unwrap_or_default();
        let about = |description: Option<&str>| description.unwrap_or("engine of the registry").to_owned();
        known.extend(
            registry.iter().map(|(name, entry)| candidate(name.to_owned(), &about(entry.description.as_deref()))),
        );
        known.extend(revisions(&context).map(|(name, subject)| candidate(format!("git:{name}"), &subject)));
    }
    let mut known = fitting(known, current);
    known.extend(path_candidates(current));
    known
}

/// Revisions, and in `A..B` those of its second end.
fn revision_candidates(current: &OsStr) -> Vec<CompletionCandidate> {
    let Ok(context) = Context::from_env() else { return Vec::new() };
    let typed = current.to_string_lossy();
    let start = typed.rfind("..").map_or("", |at| &typed[..at + 2]);
    let all = revisions(&context).map(|(name, subject)| candidate(format!("{start}{name}"), &subject));
    fitting(all.collect(), current)
}

/// Branches and tags of the repository here, the newest first, with the subjects of their commits.
fn revisions(context: &Context) -> impl Iterator<Item = (String, String)> + use<> {
    let head = ("HEAD".to_owned(), "the commit that is checked out".to_owned());
    let named = source::names(context, MOST_REVISIONS);
    (!named.is_empty()).then_some(head).into_iter().chain(named)
}

/// Bash, which parts words at `:` and `=` too: `git:main` is three of its words. So its script
/// sends the whole line.
#[derive(Debug)]
struct WholeLineBash;

const BASH: &str = r#"_complete_@NAME@() {
    local IFS=$'\013'
    COMPREPLY=( $(@LINE@="${COMP_LINE:0:COMP_POINT}" @BREAKS@="$COMP_WORDBREAKS" @SEPARATOR@="$IFS" @ASKED@=bash @BIN@ -- 2>/dev/null) )
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[=/:] ]]; then
        compopt -o nospace 2>/dev/null
    fi
}
complete -o bashdefault -F _complete_@NAME@ @BIN@
"#;

impl EnvCompleter for WholeLineBash {
    fn name(&self) -> &'static str {
        Bash.name()
    }

    fn is(&self, name: &str) -> bool {
        Bash.is(name)
    }

    fn write_registration(&self, var: &str, name: &str, bin: &str, _: &str, out: &mut dyn Write) -> io::Result<()> {
        let filled = [("@NAME@", name), ("@BIN@", bin), ("@ASKED@", var), ("@LINE@", LINE), ("@BREAKS@", BREAKS)];
        let script = filled
            .iter()
            .fold(BASH.replace("@SEPARATOR@", SEPARATOR), |script, (mark, text)| script.replace(mark, text));
        out.write_all(script.as_bytes())
    }

    fn write_complete(
        &self,
        command: &mut Command,
        _: Vec<OsString>,
        folder: Option<&Path>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let variable = |name| std::env::var(name).unwrap_or_default();
        let (words, start) = words_of(&variable(LINE), &variable(BREAKS));
        let last = words.len().saturating_sub(1);
        let found = engine::complete(command, words.into_iter().map(OsString::from).collect(), last, folder)?;
        let separator = variable(SEPARATOR);
        for (number, candidate) in found.iter().enumerate() {
            let value = candidate.get_value().to_string_lossy();
            let value = value.strip_prefix(&start).unwrap_or(&value);
            write!(out, "{}{value}", if number == 0 { "" } else { &separator })?;
        }
        Ok(())
    }
}

/// Words of a line that ends at the cursor, and the start of the last one, which bash takes for
/// words of their own because one of `breaks` ends it.
fn words_of(line: &str, breaks: &str) -> (Vec<String>, String) {
    // A quote may be open still.
    let closed = ["", "'", "\""].iter().find_map(|quote| Some((*quote, split_words(&format!("{line}{quote}")).ok()?)));
    let (quote, mut words) = closed.unwrap_or(("", line.split_whitespace().map(str::to_owned).collect()));
    if words.is_empty() || quote.is_empty() && line.ends_with(char::is_whitespace) {
        words.push(String::new());
    }
    let is_break = |c: char| matches!(c, ':' | '=') && breaks.contains(c);
    let last = words.last().filter(|_| quote.is_empty()).map_or("", String::as_str);
    let start = last.rfind(is_break).map_or("", |at| &last[..=at]).to_owned();
    (words, start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_parted_as_bash_parts_it() {
        for (line, words, start) in [
            ("quintain ", &["quintain", ""][..], ""),
            ("quintain spr", &["quintain", "spr"], ""),
            ("quintain sprt --new git:ma", &["quintain", "sprt", "--new", "git:ma"], "git:"),
            ("quintain sprt --new=git:", &["quintain", "sprt", "--new=git:"], "--new=git:"),
            ("quintain sprt --new=a:b --base ", &["quintain", "sprt", "--new=a:b", "--base", ""], ""),
            ("quintain sprt --new 'a b:", &["quintain", "sprt", "--new", "a b:"], ""),
            ("quintain sprt --new \"a ", &["quintain", "sprt", "--new", "a "], ""),
            ("", &[""], ""),
        ] {
            let (found, found_start) = words_of(line, " \t\n\"'><=;|&(:");
            assert_eq!(
                (found.as_slice(), found_start.as_str()),
                (words.iter().map(ToString::to_string).collect::<Vec<_>>().as_slice(), start),
                "{line}"
            );
        }
        assert_eq!(words_of("q --new=git:x", " ").1, "");
    }

    #[test]
    fn values_have_their_candidates() {
        for (name, is_known) in [("RUN", true), ("SPEC", true), ("A..B", true), ("N", false), ("FILE", false)] {
            assert_eq!(candidates_of(&Arg::new("x").value_name(name)).is_some(), is_known, "{name}");
        }
        assert!(candidates_of(&Arg::new("x")).is_none());
    }
}
