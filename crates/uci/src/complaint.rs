//! Detection of `info string` lines that report a failure.
//!
//! An engine that cannot load its network often only prints such a line and plays on.

/// Words that mark a failure, in lower case.
const FAILURES: &[&str] = &[
    "error",
    "fail",
    "could not",
    "couldn't",
    "cannot",
    "can't",
    "can not",
    "unable",
    "not found",
    "no such",
    "not exist",
    "not loaded",
    "not supported",
    "missing",
    "invalid",
    "unknown",
    "bad value",
    "warning",
    "found 0 ",
];

/// Harmless phrases that contain one of these words.
const HARMLESS: &[&str] = &["fail high", "fail low", "fail-high", "fail-low", "no error", "0 error", "without error"];

/// Returns the text of an `info string` line that reports a failure, at most 300 characters and
/// without control characters.
pub(super) fn read(line: &[u8]) -> Option<String> {
    const LONGEST: usize = 300;
    let rest = line.trim_ascii_start().strip_prefix(b"info")?;
    let text = rest.trim_ascii_start().strip_prefix(b"string")?.trim_ascii();
    let text: String = String::from_utf8_lossy(&text[..text.len().min(4 * LONGEST)])
        .chars()
        .take(LONGEST)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    let lower = HARMLESS.iter().fold(text.to_lowercase(), |text, phrase| text.replace(phrase, ""));
    FAILURES.iter().any(|word| lower.contains(word)).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_told_from_news() {
        for (line, is_failure) in [
            ("info string ERROR: The network file nope.nnue was not loaded successfully.", true),
            ("info string EvalFile: `/nope` cannot be read: No such file or directory", true),
            ("  info   string Could not open book", true),
            ("info string Found 0 WDL and 0 DTZ tablebase files (up to 0-man).", true),
            ("info string unknown option Hush", true),
            ("info string Found 290 WDL and 290 DTZ tablebase files (up to 5-man).", false),
            ("info string NNUE evaluation using nn-c288c895ea92.nnue", false),
            ("info string fail high at depth 7", false),
            ("info string tuning finished, 0 errors", false),
            ("info depth 3 string error", false),
            ("information string error", false),
            ("error: no network", false),
        ] {
            assert_eq!(read(line.as_bytes()).is_some(), is_failure, "{line}");
        }
        let long = format!("info string error {}\u{7}", "x".repeat(100_000));
        assert_eq!(read(long.as_bytes()).map(|text| text.len()), Some(300));
        assert_eq!(read(b"info string error \x1b[2J\xff").as_deref(), Some("error  [2J\u{fffd}"));
    }
}
