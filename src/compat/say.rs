//! Console lines outside the `console` observer.

use std::io::Write as _;

use crate::schedule::trial::REGISTRY_REMEDY;

/// Prints a line on the console and flushes it.
pub(super) fn say(text: &str) {
    // A closed reader does not stop the run.
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{text}");
    let _ = out.flush();
}

/// Options of the other commands that messages name, in the words of the leading runners. Longer
/// ones come first. The leading runners have no registry of engines.
const WORDS: [(&str, &str); 17] = [
    (REGISTRY_REMEDY, ""),
    ("another --out", "another -config outname="),
    ("with --out", "with -config outname="),
    ("--force-concurrency", "-force-concurrency"),
    ("--concurrency", "-concurrency"),
    ("--book-plies ", "plies="),
    ("--book-plies", "plies=N"),
    ("--chess960", "-variant fischerandom"),
    ("--margin-ms", "timemargin="),
    ("--movetime", "st="),
    ("--tc", "tc="),
    ("--nodes", "nodes="),
    ("--depth", "depth="),
    ("--syzygy", "-tb"),
    ("--void-disturbed", "`quintain match --void-disturbed`"),
    ("(-j)", "(-concurrency)"),
    ("--affinity", "-use-affinity"),
];

/// A message of the rooms below, with the options of this command line.
pub(crate) fn reworded(text: &str) -> String {
    WORDS.iter().fold(text.to_owned(), |text, (own, theirs)| text.replace(own, theirs))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_the_options_of_this_command_line() {
        for (own, theirs) in [
            ("ask for as many with `--book-plies 7`", "ask for as many with `plies=7`"),
            ("play fewer plies with `--book-plies`", "play fewer plies with `plies=N`"),
            ("needs `--chess960`", "needs `-variant fischerandom`"),
            (
                "use fewer, --nodes or --depth, or --force-concurrency",
                "use fewer, nodes= or depth=, or -force-concurrency",
            ),
            ("exists already; choose another --out", "exists already; choose another -config outname="),
            (
                &format!("give it another limit (--tc or --movetime), or leave it out{REGISTRY_REMEDY}"),
                "give it another limit (tc= or st=), or leave it out",
            ),
            ("a larger --margin-ms or longer increments", "a larger timemargin= or longer increments"),
        ] {
            assert_eq!(reworded(own), theirs);
        }
    }
}
