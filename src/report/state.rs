//! State of a run in one word, as files, lists and the dashboard have it.

use serde::Serialize;
use serde_json::Value;

use crate::stats::sprt::Verdict;
use crate::text::printable;
use crate::tournament::events::StopReason;
use crate::tournament::scoreboard::Scoreboard;

/// State of a run in a list, without the result of its games.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(into = "&'static str")]
pub(crate) enum ListedState {
    /// A process plays it.
    Live,
    /// It ended.
    Over,
    /// It was stopped or killed, and continues with `quintain resume`.
    #[default]
    Interrupted,
    /// No part of it can be read.
    Damaged,
}

impl ListedState {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Over => "over",
            Self::Interrupted => INTERRUPTED,
            Self::Damaged => "damaged",
        }
    }
}

impl From<ListedState> for &'static str {
    fn from(state: ListedState) -> Self {
        state.name()
    }
}

// Names in files of the reasons of a stop.
const VERDICT: &str = "verdict";
const OUT_OF_PAIRS: &str = "out-of-pairs";
const OUT_OF_OPENINGS: &str = "out-of-openings";
const NARROW: &str = "width";
const FLAT: &str = "flat";
/// Name in files of the end of a run whose time was up.
pub(crate) const OUT_OF_TIME: &str = "out-of-time";
/// Name in files of the stop of a run that did not end.
pub(crate) const INTERRUPTED: &str = "interrupted";
const FAILURES: &str = "too-many-failures";
const TIME_LOSSES: &str = "too-many-time-losses";
const BROKEN: &str = "broken";

/// Name of a stop's reason in files.
pub(crate) const fn reason_name(reason: &StopReason) -> &'static str {
    match reason {
        StopReason::Verdict => VERDICT,
        StopReason::OutOfPairs => OUT_OF_PAIRS,
        StopReason::OutOfOpenings => OUT_OF_OPENINGS,
        StopReason::Narrow => NARROW,
        StopReason::Flat => FLAT,
        StopReason::OutOfTime => OUT_OF_TIME,
        StopReason::Interrupted => INTERRUPTED,
        StopReason::TooManyFailures { .. } => FAILURES,
        StopReason::TooManyTimeLosses { .. } => TIME_LOSSES,
        StopReason::Broken { .. } => BROKEN,
    }
}

/// True if a run that stopped for the reason of this name was aborted.
pub(crate) fn is_abort(reason: &str) -> bool {
    matches!(reason, FAILURES | TIME_LOSSES | BROKEN)
}

/// Reason for which a run stopped, from its summary, if the counted results in `scoreboard` do not
/// end it.
pub(crate) fn stop_reason(summary: &Value, scoreboard: &Scoreboard) -> StopReason {
    match summary["stopped_by"].as_str() {
        Some(OUT_OF_TIME) => StopReason::OutOfTime,
        Some(FAILURES) => {
            let failures = summary["failures"].as_u64().unwrap_or_else(|| scoreboard.failures());
            StopReason::TooManyFailures { failures }
        }
        Some(TIME_LOSSES) => StopReason::TooManyTimeLosses { losses: scoreboard.finished_time_losses().clone() },
        // Older summaries have no reason.
        Some(BROKEN) => {
            let why = summary["error"].as_str().map_or_else(|| "the run could not continue".to_owned(), printable);
            StopReason::Broken { why }
        }
        _ => StopReason::Interrupted,
    }
}

/// One word for a run: its verdict, else the reason of its stop, else its state.
pub(crate) fn word(verdict: Option<Verdict>, stopped_by: Option<&str>, state: ListedState) -> &str {
    match (verdict, stopped_by) {
        (Some(verdict @ (Verdict::AcceptH0 | Verdict::AcceptH1)), _) => verdict.name(),
        (_, Some(reason)) if reason != VERDICT => reason,
        _ => state.name(),
    }
}

/// True if a run of so many players, which stopped for the reason of this name, has an outcome that
/// says more than the reason: more than two have no Elo that tells their result.
pub(crate) fn has_outcome(players: usize, stopped_by: &str) -> bool {
    players > 2 && stopped_by == OUT_OF_PAIRS
}

/// All words for a run.
pub(crate) const WORDS: [&str; 14] = [
    ListedState::Live.name(),
    Verdict::AcceptH1.name(),
    Verdict::AcceptH0.name(),
    OUT_OF_PAIRS,
    OUT_OF_OPENINGS,
    NARROW,
    FLAT,
    OUT_OF_TIME,
    INTERRUPTED,
    FAILURES,
    TIME_LOSSES,
    BROKEN,
    ListedState::Over.name(),
    ListedState::Damaged.name(),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tournament::time_losses::TimeLosses;

    #[test]
    fn every_word_for_a_run_is_listed() {
        let reasons = [
            StopReason::Verdict,
            StopReason::OutOfPairs,
            StopReason::OutOfOpenings,
            StopReason::Narrow,
            StopReason::Flat,
            StopReason::OutOfTime,
            StopReason::Interrupted,
            StopReason::TooManyFailures { failures: 1 },
            StopReason::TooManyTimeLosses { losses: TimeLosses::default() },
            StopReason::Broken { why: String::new() },
        ];
        let states = [ListedState::Live, ListedState::Over, ListedState::Interrupted, ListedState::Damaged];
        let mut found = Vec::new();
        for verdict in Verdict::ALL {
            for state in states {
                found.push(word(Some(verdict), None, state));
                found.extend(reasons.iter().map(|reason| word(Some(verdict), Some(reason_name(reason)), state)));
            }
        }
        let [mut found, mut listed] = [found, WORDS.to_vec()];
        for words in [&mut found, &mut listed] {
            words.sort_unstable();
            words.dedup();
        }
        assert_eq!((found.as_slice(), listed.len()), (listed.as_slice(), WORDS.len()));
    }
}
