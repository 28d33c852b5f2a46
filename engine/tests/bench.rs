//! The bench of the engine with its network: the node count that the documentation shows.

use destrier::bench;

/// Whoever changes the search without meaning to sees it here. The new number of a change that is
/// meant goes into the pages.
#[test]
fn the_bench_is_the_one_that_the_pages_show() {
    let nodes = bench::run(bench::DEFAULT_DEPTH, |_, _| ()).expect("memory").nodes;
    for (page, text, line) in [
        (
            "first-test.md",
            include_str!("../../docs/first-test.md"),
            format!("bench                    {nodes} nodes, twice\n"),
        ),
        ("verdict.md", include_str!("../../docs/verdict.md"), format!("nodes=6000, bench {nodes}, ")),
        ("verdict.md", include_str!("../../docs/verdict.md"), format!("nodes=3000, bench {nodes}, ")),
    ] {
        assert!(text.contains(&line), "docs/{page} does not have `{}`", line.trim_end());
    }
}
