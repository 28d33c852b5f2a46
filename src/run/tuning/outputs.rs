//! Files that a tuning leaves: its values as options, and as lines to go on with elsewhere.

use std::path::Path;

use crate::files::write_atomically;
use crate::run::error::{Result, Within as _};
use crate::tune::space::Space;
use crate::tune::write;

/// Options of the tuned values, for a plan.
pub(crate) const OPTIONS: &str = "options.toml";

/// Writes the values, rounded as the engine takes them, and lines with the values as new starts.
/// Returns the names of the files.
pub(crate) fn write(root: &Path, space: &Space, values: &[f64]) -> Result<Vec<&'static str>> {
    let mut files = vec![
        (OPTIONS, write::options(space, values)),
        ("values.txt", write::values(space, values)),
        ("openbench.txt", write::openbench(space, values)),
    ];
    // Fishtest has no floats.
    files.extend(write::fishtest(space, values).ok().map(|lines| ("fishtest.txt", lines)));
    for (name, text) in &files {
        let path = root.join(name);
        write_atomically(&path, text.as_bytes()).within(|| format!("{}: cannot write it", path.display()))?;
    }
    Ok(files.into_iter().map(|(name, _)| name).collect())
}
