//! Learning curves.

use quintain::report::plot::CurvePlot;
use std::fmt;

/// A run after one superbatch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    pub superbatch: u64,
    /// Positions trained on.
    pub positions: u64,
    pub rate: f32,
    /// The result's part in the target.
    pub wdl: f32,
    /// Mean loss over the superbatch, as the weights changed.
    pub train: f64,
    /// The same loss on held-out positions, after the superbatch.
    pub validation: f64,
    /// As `validation`, but against the target of the run's last batch, which does not move: superbatches can be compared by it. No
    /// number where an earlier version of this program, which had no such figure, made the point.
    pub settled: f64,
    /// Squared error against the score alone on held-out positions: runs with other blends can be compared by it.
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
    /// True when the loss is that against the last target too, or nothing else is known.
    fn is_settled(&self) -> bool {
        self.settled.is_nan() || self.settled == self.validation
    }
}

/// The points of a run, in order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Curve(Vec<Point>);

const HEAD: &str = "superbatch,positions,rate,wdl,train,validation,score,result,settled";

impl Curve {
    pub fn push(&mut self, point: Point) {
        self.0.push(point);
    }

    pub fn points(&self) -> &[Point] {
        &self.0
    }

    /// The point of the lowest validation loss against the last target; none where there are none that know it.
    pub fn best(&self) -> Option<&Point> {
        let known = self.0.iter().filter(|point| !point.settled.is_nan());
        known.min_by(|a, b| a.settled.total_cmp(&b.settled))
    }

    /// A table that [`Curve::parse`] reads back to the same bits.
    pub fn to_csv(&self) -> String {
        let line = |p: &Point| {
            let Point { superbatch, positions, rate, wdl, train, validation, score, result, settled } = p;
            format!("{superbatch},{positions},{rate},{wdl},{train},{validation},{score},{result},{settled}\n")
        };
        format!("{HEAD}\n{}", self.0.iter().map(line).collect::<String>())
    }

    /// The losses as a picture; an SVG document.
    pub fn to_svg(&self, name: &str) -> String {
        let line = |label: &str, of: fn(&Point) -> f64| {
            let points = self.0.iter().map(|point| (point.superbatch as f64, of(point)));
            (label.to_owned(), points.filter(|(_, loss)| !loss.is_nan()).collect())
        };
        let best = self.best().map_or(String::new(), |best| {
            format!("best validation loss {:.6} after superbatch {}", best.settled, best.superbatch)
        });
        let mut series = vec![line("training", |point| point.train), line("held out", |point| point.validation)];
        if !self.0.iter().all(Point::is_settled) {
            series.push(line("held out, last target", |point| point.settled));
        }
        CurvePlot {
            title: format!("Losses of {name}"),
            caption: best,
            x_label: "superbatch".to_owned(),
            y_label: "mean loss".to_owned(),
            series,
        }
        .to_svg()
    }

    /// Reads a table; lines that are no points are left out. `wdl` is the result's part in the last target, which tells what tables
    /// without that column can say of it.
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
