//! Tests on a machine that lacks something they need: left out loudly, or failed.
//!
//! Each crate's tests take in this file by its path, because the harness and the engine share no
//! code.

use std::io::Write as _;

/// Says that `test` is left out, past the capture of a passing test's output.
///
/// # Panics
/// If `QUINTAIN_REQUIRE_ALL` is 1, unless the list `QUINTAIN_EXCUSED` names `test`.
pub(crate) fn skip(test: &str, reason: &str) {
    let is_set = |key: &str| std::env::var(key).unwrap_or_default();
    assert!(
        may_skip(test, &is_set("QUINTAIN_REQUIRE_ALL"), &is_set("QUINTAIN_EXCUSED")),
        "{test} cannot run: {reason}; QUINTAIN_REQUIRE_ALL is 1, so nothing may be skipped"
    );
    let _ = writeln!(std::io::stderr(), "SKIPPED {test}: {reason}");
}

/// Returns true if a test may be left out, given the two variables of [`skip`].
pub(crate) fn may_skip(test: &str, require_all: &str, excused: &str) -> bool {
    require_all != "1" || excused.split_whitespace().any(|name| name == test)
}
