//! Contents of the files that a plan names: lines of its settings, by which a file that was
//! replaced is found.

/// Beginning of each line.
const CONTENTS: &str = "contents of ";

/// Returns the line of a file or of several.
pub fn line(what: &str, digest: &str) -> String {
    format!("{CONTENTS}{what} = {digest}\n")
}

/// Returns settings to compare with the earlier settings `was`: without these lines if `was` has
/// none, because it was written by a version before them.
pub fn comparable(settings: &str, was: &str) -> String {
    let is_contents = |line: &str| line.starts_with(CONTENTS);
    if was.lines().any(is_contents) {
        return settings.to_owned();
    }
    settings.lines().filter(|line| !is_contents(line)).map(|line| format!("{line}\n")).collect()
}
