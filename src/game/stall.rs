//! Signs that an engine ignores a limit in nodes or plies, and the likely cause of a stall, from
//! the engine's `info`.

use std::time::Duration;

use super::Request;
use crate::plan::time_control::Seconds;
use crate::record::{Score, SearchInfo};

/// Depth that searches reach only if hardly anything is left to search; near the maximum of every
/// engine.
const FORCED_DEPTH: u32 = 60;

/// Returns true for a number of nodes that an engine which obeys the limit does not reach, however
/// coarsely it counts. Engines that check their counter every 16,384 nodes overshoot a small limit
/// by up to that number.
const fn is_far_beyond(nodes: u64, limit: u64) -> bool {
    nodes > limit.saturating_mul(4).saturating_add(50_000)
}

/// Returns false for a number that no machine could have counted in this time, because engines
/// print nonsense too.
#[must_use]
pub fn is_plausible(nodes: u64, elapsed: Duration) -> bool {
    u128::from(nodes) <= elapsed.as_micros() * 1_000 + 1_000_000
}

/// Evidence that a search does not obey a limit in nodes.
#[must_use]
pub fn disobedience(request: &Request, info: &SearchInfo, elapsed: Duration) -> Option<String> {
    let (limit, nodes) = request.nodes.zip(info.nodes)?;
    (is_far_beyond(nodes, limit) && is_plausible(nodes, elapsed)).then(|| format!("it searched {nodes} nodes"))
}

/// The likely cause of an untimed search that did not end, in a few words with a remedy.
#[must_use]
pub fn likely_cause(request: &Request, info: &SearchInfo, elapsed: Duration) -> String {
    if let Some(why) = disobedience(request, info, elapsed) {
        return format!("{why}, so it does not obey `go nodes`; give it a clock or --movetime");
    }
    if let (Some(limit), Some(depth)) = (request.depth, info.depth)
        && depth > limit
    {
        return format!(
            "it is at depth {depth}, so it does not obey `go depth {limit}`; give it a clock or --movetime"
        );
    }
    match (info.depth, info.score, request.nodes.zip(info.nodes)) {
        (Some(depth), score, _) if depth >= FORCED_DEPTH => format!(
            "it is at depth {depth}{}, where an engine may wait for `stop` instead of answering; end such games earlier \
             with --resign, --draw, --syzygy or --max-plies",
            if matches!(score, Some(Score::Mate(_))) { " and sees a mate" } else { "" }
        ),
        (None, _, None) => "it said nothing of its search: it hangs, or does not know this limit".to_owned(),
        (_, _, Some((limit, nodes))) if nodes < limit => format!(
            "it had searched {nodes} of {limit} nodes: too slow for --stall-timeout {}, or it hangs",
            Seconds(elapsed)
        ),
        (Some(depth), ..) if request.depth.is_some_and(|limit| depth < limit) => {
            format!("it had reached depth {depth}: too slow for --stall-timeout {}, or it hangs", Seconds(elapsed))
        }
        _ => "it had reached its limit and did not answer".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{ByColor, Color};

    #[test]
    fn a_stall_names_its_likely_cause() {
        let request = |nodes, depth| Request {
            color: Color::White,
            deadline: Duration::from_secs(60),
            timed: false,
            clocks: ByColor::default(),
            moves_to_go: None,
            movetime: None,
            nodes,
            depth,
        };
        let info = |depth, nodes| SearchInfo { depth, nodes, ..SearchInfo::default() };
        let mate = SearchInfo { score: Some(Score::Mate(3)), ..info(Some(245), Some(100)) };
        for (request, info, expected) in [
            (
                request(Some(1_000), None),
                info(Some(20), Some(5_000_000)),
                "it searched 5000000 nodes, so it does not obey",
            ),
            (request(Some(1_000), None), info(Some(20), Some(u64::MAX)), "it had reached its limit"),
            (request(Some(1_000), None), info(Some(9), Some(20_000)), "it had reached its limit"),
            (request(None, Some(8)), info(Some(30), Some(9)), "does not obey `go depth 8`"),
            (
                request(None, Some(8)),
                info(Some(3), None),
                "it had reached depth 3: too slow for --stall-timeout 60, or",
            ),
            (request(Some(20_000), None), info(Some(128), Some(9_000)), "it is at depth 128, where an engine may wait"),
            (request(Some(20_000), None), mate, "it is at depth 245 and sees a mate, where"),
            (request(Some(20_000), None), info(None, None), "it said nothing of its search"),
            (request(Some(20_000), None), info(Some(9), Some(9_000)), "it had searched 9000 of 20000 nodes: too slow"),
        ] {
            let found = likely_cause(&request, &info, Duration::from_secs(60));
            assert!(found.contains(expected), "{found}, expected {expected}");
        }
    }
}
