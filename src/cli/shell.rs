//! `quintain completions` and `quintain man`, generated from the definitions that parse the command
//! line.

use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::Command;
use clap_complete::Shell;
use clap_mangen::Man;

use crate::cli::complete;
use crate::run::{Exit, progress};

const NAME: &str = "quintain";

/// Prints a script that completes command lines in a shell.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
It completes commands, flags and files, the ids of runs below results/, the engines of the \
registry, and the branches and tags of the current Git repository. The script asks this program, \
so an update of the program needs no new script.

Examples:
  quintain completions bash > ~/.local/share/bash-completion/completions/quintain
  quintain completions zsh > \"${fpath[1]}/_quintain\"
  quintain completions fish > ~/.config/fish/completions/quintain.fish")]
pub(super) struct CompletionsArgs {
    /// Shell to complete for.
    shell: Shell,
}

/// Prints the manual page, or writes it and one for each command.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  quintain man | man -l -
  quintain man --out ~/.cargo/share/man/man1")]
pub(super) struct ManArgs {
    /// Write quintain.1, quintain-sprt.1 and so on into this folder.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub(super) fn completions(args: &CompletionsArgs) -> Result<Exit> {
    progress::put(&complete::script(args.shell, NAME)?);
    Ok(Exit::Done)
}

pub(super) fn man(args: &ManArgs, command: Command) -> Result<Exit> {
    // The `help` subcommand needs no page, because every command has its own.
    let mut command = command.disable_help_subcommand(true);
    let Some(dir) = &args.out else {
        let mut text = Vec::new();
        page(command).render(&mut text)?;
        progress::put(&text);
        return Ok(Exit::Done);
    };
    let cannot = || format!("--out {}: cannot write there", dir.display());
    std::fs::create_dir_all(dir).with_context(cannot)?;
    command.build();
    write_pages(&command, dir).with_context(cannot)?;
    progress::note(&format!("wrote the manual pages into {}", dir.display()));
    Ok(Exit::Done)
}

/// Manual page of a command, with the version of the program at its foot.
fn page(command: Command) -> Man {
    Man::new(command).source(concat!("quintain ", env!("CARGO_PKG_VERSION")))
}

/// Writes the pages of a command and of those below it that are not hidden.
fn write_pages(command: &Command, dir: &Path) -> io::Result<()> {
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        write_pages(below, dir)?;
    }
    page(command.clone()).generate_to(dir).map(drop)
}
