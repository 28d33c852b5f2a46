//! Tests of a worker.

use super::*;

/// The hub may be away for longer than that.
#[test]
fn pairs_in_play_are_finished_though_nobody_answers() {
    let long = FORSAKEN + BEAT;
    for (silence, wanted, plays, keeps_nothing, expected) in [
        (long, 0, true, false, false),
        (long, 0, true, true, false),
        (long, 0, false, true, false),
        (long, 0, false, false, true),
        (long, 1, true, true, true),
        (FORSAKEN, 1, true, true, false),
    ] {
        let is = is_forsaken(silence, wanted, plays, keeps_nothing);
        assert_eq!(is, expected, "{wanted} {plays} {keeps_nothing}");
    }
}
