//! Bar plots: pairs by points, and histograms.

use super::chart::{Chart, Frame, Scale, Span, Ticks};
use super::page::{Heads, RIGHT, Sheet, number};

/// Plot of pairs by points, from the view of the tested engine.
#[derive(Clone, Debug, PartialEq)]
pub struct PtnmlPlot {
    /// Title, subtitle and caption.
    pub heads: Heads,
    /// Number of pairs with 0, 1/2, 1, 1 1/2 and 2 points.
    pub counts: [u64; 5],
}

/// Names of the bars, and their points.
const PAIRS: [(&str, &str); 5] =
    [("two losses", "0"), ("loss, draw", "½"), ("even", "1"), ("win, draw", "1½"), ("two wins", "2")];

impl PtnmlPlot {
    /// Draws the plot as a complete SVG document.
    #[must_use]
    pub fn to_svg(&self) -> String {
        let total: u64 = self.counts.iter().sum();
        let most = self.counts.iter().copied().max().unwrap_or(0).max(1);
        let mut chart = Chart::new(&Frame {
            sheet: Sheet::Wide,
            title: &self.heads.title,
            subtitle: &self.heads.subtitle,
            caption: &self.heads.caption,
            x_label: "points of a game pair",
            y_label: "game pairs",
            y_scale: Scale::Linear,
            x_ticks: Ticks::Named { depth: 15 },
            x: Span { low: -0.5, high: 4.5 },
            // Room for the numbers above the highest bar.
            y: Span { low: 0.0, high: most as f64 * 1.14 },
        });
        for (place, (count, (name, points))) in self.counts.into_iter().zip(PAIRS).enumerate() {
            let x = place as f64;
            let share = if total == 0 { 0.0 } else { count as f64 / total as f64 * 100.0 };
            let text = format!("{} ({} %)", number(count as f64, 0), number(share, 1));
            chart.bar(&format!("bar b{place}"), (x, 0.72), count as f64, &format!("{name}: {text}"));
            let (middle, top, bottom) = (chart.x_of(x), chart.y_of(count as f64), chart.bottom());
            chart.page.text_at(middle, top - 7.0, "middle", "ink", &text);
            chart.page.text_at(middle, bottom + 19.0, "middle", "ink", points);
            chart.page.text_at(middle, bottom + 34.0, "middle", "", name);
        }
        if total == 0 {
            chart.note("no pair counted yet");
        }
        chart.finish()
    }
}

/// Counts of a histogram.
#[derive(Clone, Debug, PartialEq)]
pub struct HistogramSeries {
    /// Name in the legend.
    pub name: String,
    /// Counts by bin.
    pub counts: Vec<u64>,
}

/// Histogram of up to two series, as shares over the same bins.
#[derive(Clone, Debug, PartialEq)]
pub struct HistogramPlot {
    /// Title, subtitle and caption.
    pub heads: Heads,
    /// Label of the value axis, with its unit.
    pub x_label: String,
    /// Things that are counted, such as `moves`.
    pub of: String,
    /// Lower edge of the first bin.
    pub low: f64,
    /// Width of a bin, positive.
    pub width: f64,
    /// Counts by series. The first and last bins include values beyond them. At most two series are
    /// drawn.
    pub series: Vec<HistogramSeries>,
}

impl HistogramPlot {
    /// Draws the plot as a complete SVG document.
    #[must_use]
    pub fn to_svg(&self) -> String {
        let bins = self.series.iter().map(|series| series.counts.len()).max().unwrap_or(0).max(1);
        let edge = |bin: usize| self.low + bin as f64 * self.width;
        let shares: Vec<(String, Vec<f64>)> = self.series.iter().take(2).map(shares).collect();
        let most = shares.iter().flat_map(|(_, shares)| shares).copied().fold(0.0, f64::max);
        let mut chart = Chart::new(&Frame {
            sheet: Sheet::Wide,
            title: &self.heads.title,
            subtitle: &self.heads.subtitle,
            caption: &self.heads.caption,
            x_label: &self.x_label,
            y_label: &format!("share of {} (%)", self.of),
            y_scale: Scale::Linear,
            x_ticks: Ticks::Fine,
            x: Span { low: edge(0), high: edge(bins) },
            y: Span { low: 0.0, high: if most > 0.0 { most * 1.08 } else { 1.0 } },
        });
        let classes = [("band s0", "path s0"), ("band s1", "path s1")];
        for ((_, shares), (band, path)) in shares.iter().zip(classes) {
            let steps: Vec<(f64, f64)> = shares
                .iter()
                .enumerate()
                .flat_map(|(bin, share)| [(edge(bin), *share), (edge(bin + 1), *share)])
                .collect();
            let floor: Vec<(f64, f64)> = steps.iter().map(|(x, _)| (*x, 0.0)).collect();
            chart.band(&floor, &steps, band);
            chart.line(&steps, path);
        }
        let named: Vec<(&str, &str)> =
            shares.iter().zip(classes).map(|((name, _), (_, path))| (path, name.as_str())).collect();
        chart.page.legend(&named);
        if most == 0.0 {
            chart.note("nothing to count yet");
        } else {
            let (top, bottom) = (super::page::TOP, chart.bottom());
            let inner = (edge(0), edge(bins));
            if inner.0 < 0.0 && inner.1 > 0.0 {
                let x = chart.x_of(0.0);
                chart.page.rule("level zero", (x, top), (x, bottom));
            }
            chart.page.text(RIGHT + 10.0, bottom - 4.0, "small", "and beyond");
        }
        chart.finish()
    }
}

/// Series in percent of its sum, with the sum after its name.
fn shares(series: &HistogramSeries) -> (String, Vec<f64>) {
    let total: u64 = series.counts.iter().sum();
    let share = |count: &u64| if total == 0 { 0.0 } else { *count as f64 / total as f64 * 100.0 };
    (format!("{} ({})", series.name, number(total as f64, 0)), series.counts.iter().map(share).collect())
}
