//! Output files of a tuning: its values as options, and as parameter lines for other tuners.

use std::path::Path;

use crate::files::write_atomically;
use crate::plan::file::TUNING_VALUES;
use crate::run::error::{Result, ResultContext as _};
use crate::tune::space::Space;
use crate::tune::write;

/// File with the tuned values as options, for a plan.
pub(crate) const OPTIONS: &str = TUNING_VALUES[0];

/// Writes the values, rounded as for the engine, and parameter lines that start from them. Returns
/// the names of the files.
pub(crate) fn write(root: &Path, space: &Space, values: &[f64]) -> Result<Vec<&'static str>> {
    let [_, lines, openbench, fishtest] = TUNING_VALUES;
    let mut files = vec![
        (OPTIONS, write::options(space, values)),
        (lines, write::values(space, values)),
        (openbench, write::openbench(space, values)),
    ];
    // Fishtest's format has no floats.
    files.extend(write::fishtest(space, values).ok().map(|lines| (fishtest, lines)));
    // Switches leave the other programs nothing to tune.
    files.retain(|(_, text)| !text.is_empty());
    for (name, text) in &files {
        let path = root.join(name);
        write_atomically(&path, text.as_bytes()).within(|| format!("{}: cannot write it", path.display()))?;
    }
    Ok(files.into_iter().map(|(name, _)| name).collect())
}
