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
        )
    }
}

/// The points of a run, in order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Curve(Vec<Point>);

const HEAD: &str = "superbatch,positions,rate,wdl,train,validation,score,result";

impl Curve {
    pub fn push(&mut self, point: Point) {
        self.0.push(point);
    }

    pub fn points(&self) -> &[Point] {
        &self.0
    }

    /// The point of the lowest validation loss.
    pub fn best(&self) -> Option<&Point> {
        self.0.iter().min_by(|a, b| a.validation.total_cmp(&b.validation))
    }

    /// A table that [`Curve::parse`] reads back to the same bits.
    pub fn to_csv(&self) -> String {
        let line = |p: &Point| {
            let Point { superbatch, positions, rate, wdl, train, validation, score, result } = p;
            format!("{superbatch},{positions},{rate},{wdl},{train},{validation},{score},{result}\n")
        };
        format!("{HEAD}\n{}", self.0.iter().map(line).collect::<String>())
    }

    /// The losses as a picture; an SVG document.
    pub fn to_svg(&self, name: &str) -> String {
        let line = |label: &str, of: fn(&Point) -> f64| {
            (label.to_owned(), self.0.iter().map(|point| (point.superbatch as f64, of(point))).collect())
        };
        let best = self.best().map_or(String::new(), |best| {
            format!("best validation loss {:.6} after superbatch {}", best.validation, best.superbatch)
        });
        CurvePlot {
            title: format!("Losses of {name}"),
            caption: best,
            x_label: "superbatch".to_owned(),
            y_label: "mean loss".to_owned(),
            series: vec![line("training", |point| point.train), line("held out", |point| point.validation)],
        }
        .to_svg()
    }

    /// Reads a table; lines that are no points are left out.
    pub fn parse(text: &str) -> Curve {
        Curve(text.lines().filter_map(point).collect())
    }
}

fn point(line: &str) -> Option<Point> {
    let mut cells = line.split(',');
    let mut whole = || cells.next()?.parse().ok();
    let (superbatch, positions) = (whole()?, whole()?);
    let (rate, wdl) = (cells.next()?.parse().ok()?, cells.next()?.parse().ok()?);
    let mut real = || cells.next()?.parse().ok();
    Some(Point {
        superbatch,
        positions,
        rate,
        wdl,
        train: real()?,
        validation: real()?,
        score: real()?,
        result: real()?,
    })
}
