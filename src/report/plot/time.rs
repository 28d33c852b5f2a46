//! Plot of the time spent on each move of a game.

use super::chart::{Chart, Frame, Scale, Span, Ticks};
use super::page::{Heads, Sheet};

/// Time that one player spent on one move number, over all games.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeUse {
    /// Number of the move, from 1.
    pub number: u32,
    /// 10 %, 50 % and 90 % quantiles of the charged times in seconds.
    pub tenths: [f64; 3],
}

/// Time of a player by move.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeSeries {
    /// Name of the player.
    pub name: String,
    /// Time use by rising move number.
    pub moves: Vec<TimeUse>,
}

/// Plot of the time by move for up to two players.
#[derive(Clone, Debug, PartialEq)]
pub struct TimePlot {
    /// Title, subtitle and caption.
    pub heads: Heads,
    /// Time use by player. At most two are drawn.
    pub series: Vec<TimeSeries>,
}

impl TimePlot {
    /// Draws the plot as a complete SVG document. Times that are not numbers are left out.
    #[must_use]
    pub fn to_svg(&self) -> String {
        let known: Vec<(&str, Vec<TimeUse>)> = self
            .series
            .iter()
            .take(2)
            .map(|series| {
                let known = series.moves.iter().filter(|one| one.tenths.iter().all(|time| time.is_finite()));
                (series.name.as_str(), known.copied().collect())
            })
            .collect();
        let all = || known.iter().flat_map(|(_, moves)| moves);
        let most = all().map(|one| one.tenths[2]).fold(0.0, f64::max);
        let (unit, scale) = if most < 0.2 { ("ms", 1e3) } else { ("s", 1.0) };
        let last = all().map(|one| one.number).max().unwrap_or(1);
        let first = all().map(|one| one.number).min().unwrap_or(0).min(last.saturating_sub(1));
        let mut chart = Chart::new(&Frame {
            sheet: Sheet::Wide,
            title: &self.heads.title,
            subtitle: &self.heads.subtitle,
            caption: &self.heads.caption,
            x_label: "move of the game",
            y_label: &format!("time charged ({unit}): median and middle 80 %"),
            y_scale: Scale::Linear,
            x_ticks: Ticks::Whole,
            x: Span { low: f64::from(first), high: f64::from(last) },
            y: Span { low: 0.0, high: if most > 0.0 { most * scale * 1.05 } else { 1.0 } },
        });
        let classes = [("band s0", "path s0"), ("band s1", "path s1")];
        // Moves that few games had are left out, and nothing joins those around them.
        let next = Some(1.0);
        for ((_, moves), (band, _)) in known.iter().zip(classes) {
            let area = moves.iter().map(|one| (f64::from(one.number), one.tenths[0] * scale, one.tenths[2] * scale));
            chart.broken_band(&area.collect::<Vec<_>>(), band, next);
        }
        for ((_, moves), (_, path)) in known.iter().zip(classes) {
            let line = moves.iter().map(|one| (f64::from(one.number), one.tenths[1] * scale));
            chart.broken_line(&line.collect::<Vec<_>>(), path, next);
        }
        let named: Vec<(&str, &str)> = known.iter().zip(classes).map(|((name, _), (_, path))| (path, *name)).collect();
        chart.page.legend(&named);
        if all().next().is_none() {
            chart.note("no move was timed");
        }
        chart.finish()
    }
}
