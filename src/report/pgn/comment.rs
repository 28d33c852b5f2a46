//! Comment on a move.

use std::fmt::Write as _;
use std::time::Duration;

use super::Fields;
use crate::record::{MoveRecord, Score};
use crate::tournament::events::Ply;

/// Formats `+0.35/12 0.051s, n=12345`, with those of `fields` that are on and known.
pub(super) fn comment(played: &MoveRecord, fields: Fields) -> String {
    let info = &played.info;
    let mut text = match info.score {
        Some(score) => format!("{}/{} ", score_text(score), info.depth.unwrap_or(0)),
        None => String::new(),
    };
    text.push_str(&seconds(played.elapsed));
    let latency = info.time.map(|told| latency(played.elapsed, told));
    let number = |value: Option<u64>| value.map(|value| value.to_string());
    let parts = [
        ("tl", fields.timeleft, played.left.map(seconds)),
        ("latency", fields.latency, latency),
        ("n", fields.nodes, number(info.nodes)),
        ("sd", fields.seldepth, number(info.seldepth.map(u64::from))),
        ("nps", fields.nps, number(info.nps)),
        ("hashfull", fields.hashfull, number(info.hashfull.map(u64::from))),
        ("tbhits", fields.tbhits, number(info.tbhits)),
        ("pv", fields.pv, Some(&played.said.pv).filter(|pv| !pv.is_empty()).map(|pv| quoted(pv))),
    ];
    // Writing to a string does not fail.
    for (key, is_wanted, value) in parts {
        if let (true, Some(value)) = (is_wanted, value) {
            let _ = write!(text, ", {key}={value}");
        }
    }
    for line in &played.said.lines {
        let _ = write!(text, ", line={}", quoted(line));
    }
    text
}

/// Formats `+0.35/12 0.051s [%clk 0:00:07]` of a move that onlookers see.
pub(super) fn live(ply: &Ply) -> String {
    let score = ply.score.map(|score| format!("{}/{}", score_text(score), ply.depth.unwrap_or(0)));
    let clock = ply.left.map(|left| {
        let seconds = left.as_secs();
        format!("[%clk {}:{:02}:{:02}]", seconds / 3600, seconds / 60 % 60, seconds % 60)
    });
    [score, ply.elapsed.map(seconds), clock].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// Formats `0.051s`.
fn seconds(time: Duration) -> String {
    format!("{}.{:03}s", time.as_secs(), time.subsec_millis())
}

/// Charged time minus the engine's own time. An engine counts in milliseconds, so the charged time
/// is cut to them. An engine that rounds up may report more than was charged.
fn latency(charged: Duration, told: Duration) -> String {
    let charged = Duration::new(charged.as_secs(), charged.subsec_millis() * 1_000_000);
    if told > charged { format!("-{}", seconds(told - charged)) } else { seconds(charged - told) }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", plain(text, usize::MAX).replace('"', "'"))
}

/// Score in pawns with two decimals, or `M` and the plies to mate; signed, from the mover's point
/// of view.
pub(super) fn score_text(score: Score) -> String {
    match score {
        Score::Cp(0) => "0.00".to_owned(),
        Score::Cp(cp) => {
            let (sign, cp) = (if cp < 0 { '-' } else { '+' }, cp.unsigned_abs());
            format!("{sign}{}.{:02}", cp / 100, cp % 100)
        }
        Score::Mate(moves) if moves > 0 => format!("+M{}", i64::from(moves) * 2 - 1),
        Score::Mate(moves) => format!("-M{}", i64::from(moves) * -2),
    }
}

/// Text for a comment: braces as parentheses, control characters as spaces, cut after `most`
/// characters.
pub(super) fn plain(text: &str, most: usize) -> String {
    let plain = |c: char| match c {
        '{' => '(',
        '}' => ')',
        c if c.is_control() => ' ',
        c => c,
    };
    text.chars().take(most).map(plain).collect()
}
