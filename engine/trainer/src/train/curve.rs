//! Learning curves.

use quintain::report::plot::{CurvePlot, Scale};
use std::fmt;

/// Measurements of a run after one superbatch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Number of the superbatch, from 1.
    pub superbatch: u64,
    /// Positions trained on so far.
    pub positions: u64,
    /// Learning rate of the last batch.
    pub rate: f32,
    /// Share of the result in the target.
    pub wdl: f32,
    /// Mean training loss over the superbatch, while the weights change.
    pub train: f64,
    /// Mean loss on the held-out positions after the superbatch.
    pub validation: f64,
    /// Mean loss on the held-out positions against the target of the run's last batch. This target
    /// is fixed, so superbatches can be compared. NaN if an earlier version of this program, which
    /// did not measure it, wrote the point.
    pub settled: f64,
    /// Squared error against the score alone on held-out positions. Runs with different blends can
    /// be compared by it.
    pub score: f64,
    /// Squared error against the result alone on held-out positions.
    pub result: f64,
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "superbatch {}, loss {:.6}, validation {:.6}, score {:.6}, result {:.6}",
            self.superbatch, self.train, self.validation, self.score, self.result
        )?;
        if self.is_settled() { Ok(()) } else { write!(f, ", against the last target {:.6}", self.settled) }
    }
}

impl Point {
    /// Returns true if the validation loss is already against the last target, or that loss is
    /// unknown.
    fn is_settled(&self) -> bool {
        self.settled.is_nan() || self.settled == self.validation
    }
}

/// Points of a run in order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Curve(Vec<Point>);

const HEAD: &str = "superbatch,positions,rate,wdl,train,validation,score,result,settled";

impl Curve {
    /// Appends a point.
    pub fn push(&mut self, point: Point) {
        self.0.push(point);
    }

    /// Returns all points in order.
    pub fn points(&self) -> &[Point] {
        &self.0
    }

    /// Returns the point of the lowest validation loss against the last target; `None` if no point
    /// has it.
    pub fn best(&self) -> Option<&Point> {
        let known = self.0.iter().filter(|point| !point.settled.is_nan());
        known.min_by(|a, b| a.settled.total_cmp(&b.settled))
    }

    /// Formats the curve as CSV, which [`Curve::parse`] reads back bit for bit.
    pub fn to_csv(&self) -> String {
        let line = |p: &Point| {
            let Point { superbatch, positions, rate, wdl, train, validation, score, result, settled } = p;
            format!("{superbatch},{positions},{rate},{wdl},{train},{validation},{score},{result},{settled}\n")
        };
        format!("{HEAD}\n{}", self.0.iter().map(line).collect::<String>())
    }

    /// Draws the losses as an SVG document; those in training only if `with_training`.
    pub fn to_svg(&self, name: &str, with_training: bool) -> String {
        let line = |label: &str, of: fn(&Point) -> f64| {
            let points = self.0.iter().map(|point| (point.superbatch as f64, of(point)));
            (label.to_owned(), points.filter(|(_, loss)| !loss.is_nan()).collect())
        };
        let best = self.best().map_or(String::new(), |best| {
            format!("best validation loss {:.6} after superbatch {}", best.settled, best.superbatch)
        });
        let mut series = Vec::new();
        if with_training {
            series.push(line("training", |point| point.train));
        }
        series.push(line("held out", |point| point.validation));
        if !self.0.iter().all(Point::is_settled) {
            series.push(line("held out, last target", |point| point.settled));
        }
        CurvePlot {
            title: format!("Losses of {name}"),
            caption: best,
            x_label: "superbatch".to_owned(),
            x_scale: Scale::Linear,
            y_label: "mean loss".to_owned(),
            y_scale: Scale::Linear,
            longest_join: None,
            series,
            bands: Vec::new(),
        }
        .to_svg()
    }

    /// Parses CSV and skips lines that are not points. `wdl` is the share of the result in the last
    /// target. It fills in `settled` for tables without that column.
    pub fn parse(text: &str, wdl: f32) -> Curve {
        Curve(text.lines().filter_map(|line| point(line, wdl)).collect())
    }
}

fn point(line: &str, last_wdl: f32) -> Option<Point> {
    let mut cells = line.split(',');
    let mut whole = || cells.next()?.parse().ok();
    let (superbatch, positions) = (whole()?, whole()?);
    let (rate, wdl) = (cells.next()?.parse().ok()?, cells.next()?.parse().ok()?);
    let mut real = || cells.next()?.parse().ok();
    let (train, validation, score, result) = (real()?, real()?, real()?, real()?);
    let settled = real().unwrap_or(if wdl == last_wdl { validation } else { f64::NAN });
    Some(Point { superbatch, positions, rate, wdl, train, validation, settled, score, result })
}
