//! Lines of a plan file that an error is about.

use std::fmt::Write as _;
use std::path::Path;

use crate::files::{MOST_DOCUMENT_BYTES, read_input};
use crate::settings::RawPlan;
use crate::text::with_causes;

/// Puts file and line before an error about a key that stands in the plan file and not on the
/// command line. Settings are checked after both are merged, so their errors know no place.
pub(super) fn in_plan(error: anyhow::Error, plan: Option<&Path>, typed: &RawPlan) -> anyhow::Error {
    let Some(plan) = plan else { return error };
    let typed = typed.table().unwrap_or_default();
    let text = read_input(plan, MOST_DOCUMENT_BYTES).unwrap_or_default();
    match line_of(&with_causes(error.as_ref()), &text, |key| typed.contains_key(key)) {
        Some(line) => {
            let mut place = plan.display().to_string();
            let _ = write!(place, ":{line}");
            error.context(place)
        }
        None => error,
    }
}

/// Number of the line, from 1, with the key of the plan that the message names first, as its flag
/// or at the beginning of a cause. Later ones belong to the remedy. `None` if the message names a
/// file already.
fn line_of(message: &str, plan: &str, is_typed: impl Fn(&str) -> bool) -> Option<usize> {
    if message.contains(".toml") {
        return None;
    }
    let named_at = |key: &str| {
        let flag = format!("--{key}");
        let ends = |at: usize| !message[at..].starts_with(|c: char| c.is_ascii_alphanumeric() || c == '-');
        let mut flags = message.match_indices(&flag).filter(|(at, found)| ends(at + found.len())).map(|(at, _)| at);
        let begins = |at: &usize| message[*at..].split([' ', ':']).next() == Some(key);
        let causes = std::iter::once(0).chain(message.match_indices(": ").map(|(at, colon)| at + colon.len()));
        flags.next().into_iter().chain(causes.filter(begins)).min()
    };
    // A key below a table header is not a setting of the run.
    let lines = plan.lines().take_while(|line| !line.trim_start().starts_with('['));
    let named = lines.zip(1..).filter_map(|(line, number)| {
        let key = line.split_once('=')?.0.trim().trim_matches('"');
        let is_stated = !key.is_empty() && !key.starts_with('#') && !is_typed(key);
        Some((named_at(key).filter(|_| is_stated)?, number))
    });
    named.min().map(|(_, number)| number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_gets_the_line_of_its_key() {
        let plan = "# a plan\ntc = \"8+0.08\"\nbook = \"a.epd\"\nbook-order = \"sideways\"\nbounds = [5, 0]\n[options]\nalpha = 2\n";
        let line = |message: &str| line_of(message, plan, |key| key == "tc");
        assert_eq!(line("cannot start the test: --book-order `sideways`: write random or sequential"), Some(4));
        assert_eq!(line("cannot start the test: bounds 5,0: elo0 must be below elo1, write 0,5"), Some(5));
        assert_eq!(line("--book `a.epd`: no such place"), Some(3));
        assert_eq!(line("bounds 5,0: too wide for --book `a.epd`"), Some(5), "the first one that is named");
        // A typed key, a word that only begins like a key, a key of another table, another file.
        assert_eq!(line("--tc: `x` is not a time control"), None);
        assert_eq!(line("--bookmark `x`: no such place"), None);
        assert_eq!(line("the bounds are wide"), None);
        assert_eq!(line("alpha 2: a probability"), None);
        assert_eq!(line("b.toml: --book-order `sideways`: random or sequential"), None);
    }
}
