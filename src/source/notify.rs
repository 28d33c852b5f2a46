//! Notices of the end of a run: the table [notify] of the working tree, and the user's command.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Seek as _, Write as _};
use std::path::Path;
use std::time::Duration;

use crate::source::command::{ProgramError, ProgramRun};
use crate::source::git::Repository;
use crate::source::recipe::{RawNotify, RawRecipe, Recipe};
use crate::source::resolve::Context;
use crate::text::from_toml;

/// Table [notify] of `quintain.toml` in the working tree around the current directory, if there is
/// one that can be read.
#[must_use]
pub fn notify(context: &Context) -> Option<RawNotify> {
    let repository = Repository::open(&context.cwd).ok()?;
    let text = repository.working_file(Recipe::FILE)?;
    from_toml::<RawRecipe>(Path::new(Recipe::FILE), &text).ok().map(|recipe| recipe.notify)
}

/// Runs a shell command with `input` as its standard input, at most for `limit`.
///
/// # Errors
/// Returns the reason if the command cannot be run, takes too long, or ends with another status
/// than 0.
pub fn tell(
    command: &str,
    input: &[u8],
    variables: &[(impl AsRef<OsStr>, impl AsRef<OsStr>)],
    limit: Duration,
) -> Result<(), String> {
    let file = || -> std::io::Result<File> {
        let mut file = tempfile::tempfile()?;
        file.write_all(input)?;
        file.rewind()?;
        Ok(file)
    };
    let file = file().map_err(|error| format!("cannot write its input: {error}"))?;
    let mut run = ProgramRun::new("sh", limit).args(["-c", command]).merged().input(file);
    for (name, value) in variables {
        run = run.env(name, value);
    }
    let ended = run.run().map_err(|error| match error {
        ProgramError::Timeout { limit, .. } => format!("it did not end within {} s and was killed", limit.as_secs()),
        error => error.to_string(),
    })?;
    if ended.status.success() {
        return Ok(());
    }
    let last = ended.stdout.lines().last().map(|line| format!(": {line}")).unwrap_or_default();
    Err(format!("it ended with {}{last}", ended.status))
}
