//! Comment on a move.

use std::fmt::{self, Display, Formatter};
use std::time::Duration;

use super::Fields;
use crate::record::{MoveRecord, Score, SearchInfo};
use crate::tournament::events::Ply;

/// Comment on a move.
#[derive(Clone, Copy)]
pub(super) enum Comment<'a> {
    /// Move of the opening: `book`.
    Book,
    /// Recorded move: `+0.35/12 0.051s, n=12345`, with those of the fields that are on and known.
    /// Empty if only the move is known, as in an archive of moves.
    Recorded(&'a MoveRecord, Fields),
    /// Move that onlookers see: `+0.35/12 0.051s [%clk 0:00:07]`.
    Live(&'a Ply),
}

impl Display for Comment<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Book => f.write_str("book"),
            Self::Recorded(played, fields) => recorded(f, played, *fields),
            Self::Live(ply) => live(f, ply),
        }
    }
}

fn recorded(f: &mut Formatter<'_>, played: &MoveRecord, fields: Fields) -> fmt::Result {
    let info = &played.info;
    if played.elapsed.is_zero() && *info == SearchInfo::default() {
        return Ok(());
    }
    if let Some(score) = info.score {
        write!(f, "{}/{} ", ScoreText(score), info.depth.unwrap_or(0))?;
    }
    write!(f, "{}", MoveTime(played.elapsed))?;
    part(f, "tl", fields.timeleft, played.left.map(MoveTime))?;
    part(f, "latency", fields.latency, info.time.map(|told| Latency { charged: played.elapsed, told }))?;
    part(f, "n", fields.nodes, info.nodes)?;
    part(f, "sd", fields.seldepth, info.seldepth)?;
    part(f, "nps", fields.nps, info.nps)?;
    part(f, "hashfull", fields.hashfull, info.hashfull)?;
    part(f, "tbhits", fields.tbhits, info.tbhits)?;
    let pv = Some(&played.said.pv).filter(|pv| !pv.is_empty());
    part(f, "pv", fields.pv, pv.map(|pv| QuotedText(pv)))?;
    played.said.lines.iter().try_for_each(|line| write!(f, ", line={}", QuotedText(line)))
}

/// Writes `, key=value` of a value that is wanted and known.
fn part(f: &mut Formatter<'_>, key: &str, is_wanted: bool, value: Option<impl Display>) -> fmt::Result {
    value.filter(|_| is_wanted).map_or(Ok(()), |value| write!(f, ", {key}={value}"))
}

fn live(f: &mut Formatter<'_>, ply: &Ply) -> fmt::Result {
    let mut gap = "";
    if let Some(score) = ply.score {
        write!(f, "{}/{}", ScoreText(score), ply.depth.unwrap_or(0))?;
        gap = " ";
    }
    if let Some(elapsed) = ply.elapsed {
        write!(f, "{gap}{}", MoveTime(elapsed))?;
        gap = " ";
    }
    ply.left.map_or(Ok(()), |left| {
        let seconds = left.as_secs();
        write!(f, "{gap}[%clk {}:{:02}:{:02}]", seconds / 3600, seconds / 60 % 60, seconds % 60)
    })
}

/// A time as `0.051s`.
struct MoveTime(Duration);

impl Display for MoveTime {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:03}s", self.0.as_secs(), self.0.subsec_millis())
    }
}

/// Charged time minus the engine's own time. An engine counts in milliseconds, so the charged time
/// is cut to them. An engine that rounds up may report more than was charged.
struct Latency {
    charged: Duration,
    told: Duration,
}

impl Display for Latency {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let charged = Duration::new(self.charged.as_secs(), self.charged.subsec_millis() * 1_000_000);
        let sign = if self.told > charged { "-" } else { "" };
        write!(f, "{sign}{}", MoveTime(self.told.abs_diff(charged)))
    }
}

/// Text for a comment between quotes, with those inside it as `'`.
struct QuotedText<'a>(&'a str);

impl Display for QuotedText<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", plain(self.0, usize::MAX).replace('"', "'"))
    }
}

/// Score in pawns with two decimals, or `M` and the plies to mate; signed, from the mover's point
/// of view.
pub(super) struct ScoreText(pub(super) Score);

impl Display for ScoreText {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            Score::Cp(0) => f.write_str("0.00"),
            Score::Cp(cp) => {
                let (sign, cp) = (if cp < 0 { '-' } else { '+' }, cp.unsigned_abs());
                write!(f, "{sign}{}.{:02}", cp / 100, cp % 100)
            }
            Score::Mate(moves) if moves > 0 => write!(f, "+M{}", i64::from(moves) * 2 - 1),
            Score::Mate(moves) => write!(f, "-M{}", i64::from(moves) * -2),
        }
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
