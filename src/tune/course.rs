//! The course of a tuning: all that its page and its live view show, as a fold of the results of
//! its pairs.

use std::sync::Arc;

use super::auto::{Purpose, Vectors};
use super::report::{self, Regression, ReportRow, Validation};
use super::run::Tuning;

/// Points kept of a course; beyond them every other one goes.
const POINTS: usize = 240;

/// Parameters after a block, in steps from the start.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Number of pairs that count.
    pub pairs: u64,
    /// Centre, in steps from the start.
    pub theta: Vec<f64>,
    /// Result so far, in steps from the start.
    pub mean: Vec<f64>,
    /// Standard error of each parameter's optimum by the regression; empty without one.
    pub errors: Vec<f64>,
}

/// Elo of the means so far over the start after a block of validation pairs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ValidationPoint {
    /// Pairs that count, of all purposes.
    pub pairs: u64,
    /// Estimated gain in Elo.
    pub elo: f64,
    /// Ends in Elo of the interval that holds at all moments at once.
    pub interval: (f64, f64),
}

/// Current state of a tuning and its course.
#[derive(Clone, Debug)]
pub struct Course {
    tuning: Tuning,
    regression: Option<Regression>,
    validation: Validation,
    /// Values of the open block's pairs.
    asked: Arc<[Vectors]>,
    /// Results of the open block's pairs.
    open: Vec<i8>,
    points: Vec<Point>,
    /// Blocks from one kept point to the next.
    stride: u64,
    validated: Vec<ValidationPoint>,
}

impl Course {
    /// The course of a tuning that has no pairs yet.
    #[must_use]
    pub fn new(tuning: Tuning) -> Self {
        Self {
            asked: tuning.ask(0).unwrap_or_default(),
            tuning,
            regression: None,
            validation: Validation::default(),
            open: Vec::new(),
            points: Vec::new(),
            stride: 1,
            validated: Vec::new(),
        }
    }

    /// The tuning.
    #[must_use]
    pub const fn tuning(&self) -> &Tuning {
        &self.tuning
    }

    /// Purpose of the next pair.
    #[must_use]
    pub fn purpose(&self) -> Purpose {
        self.tuning.purpose(self.tuning.completed())
    }

    /// Values of the next pair.
    #[must_use]
    pub fn next_values(&self) -> Option<&Vectors> {
        self.asked.get(self.open.len())
    }

    /// Regression of the tuning pairs so far, from the first complete block of them on.
    #[must_use]
    pub const fn regression(&self) -> Option<&Regression> {
        self.regression.as_ref()
    }

    /// Validation pairs so far.
    #[must_use]
    pub const fn validation(&self) -> &Validation {
        &self.validation
    }

    /// Parameters over the pairs, first to last; at most some hundreds of points.
    #[must_use]
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// Validation Elo over the pairs, first to last, with the pairs of an open block.
    #[must_use]
    pub fn validated(&self) -> Vec<ValidationPoint> {
        let mut points = self.validated.clone();
        if !self.open.is_empty() && self.purpose() == Purpose::Validate {
            points.extend(self.validation_point());
        }
        points
    }

    /// The table of the report; `dead` names parameters that change nothing.
    #[must_use]
    pub fn rows(&self, dead: &[String]) -> Vec<ReportRow> {
        report::rows(self.tuning.space(), &self.tuning.result(), self.regression.as_ref(), dead)
    }

    /// Share of the step from start to result that chance alone would have made, if the method
    /// estimates it; see [`report::noise`].
    #[must_use]
    pub fn noise(&self) -> Option<f64> {
        report::noise(self.tuning.as_auto()?, self.regression.as_ref()?.variance())
    }

    /// Takes the result of the next pair, in which no side failed: wins minus losses of its first
    /// side, -2 to 2.
    pub fn record(&mut self, result: i8) {
        self.record_failures(result, [false; 2]);
    }

    /// Takes the result of the next pair, and which of its sides failed.
    pub fn record_failures(&mut self, result: i8, failed: [bool; 2]) {
        let block = self.tuning.completed();
        self.validation.record(self.tuning.purpose(block), result);
        self.open.push(result);
        self.tuning.record_failures(result, failed);
        if self.open.len() >= self.tuning.block() as usize {
            self.complete(block);
            self.open.clear();
            self.asked = self.tuning.ask(block + 1).unwrap_or_default();
        }
    }

    fn regresses(&self, block: u64) -> bool {
        self.tuning.as_factors().is_none() && self.tuning.purpose(block) == Purpose::Tune
    }

    fn complete(&mut self, block: u64) {
        if self.regresses(block) {
            let space = self.tuning.space();
            // The other programs' methods measure no loss: their steps are taken to be right.
            let loss = self.tuning.as_auto().map_or(1.0, super::auto::Auto::loss);
            let regression = self.regression.get_or_insert_with(|| Regression::new(space, loss));
            regression.record(self.asked.iter().zip(self.open.iter().copied()));
        }
        if self.tuning.purpose(block) == Purpose::Validate {
            self.validated.extend(self.validation_point());
        }
        if (block + 1).is_multiple_of(self.stride) {
            self.note_point();
        }
    }

    /// Validation Elo after the last pair; `None` if it or its interval is infinite.
    fn validation_point(&self) -> Option<ValidationPoint> {
        let (low, high) = self.validation.interval();
        let elo = self.validation.elo()?.value.finite()?;
        Some(ValidationPoint { pairs: self.tuning.pairs(), elo, interval: (low.finite()?, high.finite()?) })
    }

    fn note_point(&mut self) {
        let space = self.tuning.space();
        let steps = |values: &[f64]| -> Vec<f64> {
            let params = space.params().iter().zip(values);
            params.map(|(param, value)| (value - param.start) / param.step).collect()
        };
        let result = self.tuning.result();
        let errors = self.regression.as_ref().map(|regression| regression.errors(&result));
        self.points.push(Point {
            pairs: self.tuning.pairs(),
            theta: steps(self.tuning.theta()),
            mean: steps(&result),
            errors: errors.unwrap_or_default(),
        });
        if self.points.len() > POINTS {
            self.stride *= 2;
            // Those of whole strides are the second, the fourth and so on.
            let mut place = 0;
            self.points.retain(|_| {
                place += 1;
                place % 2 == 0
            });
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::super::auto::Rule;
    use super::super::landscape::Landscape;
    use super::*;
    use crate::stats::random::SplitMix64;

    /// The course of a default tuning on a landscape with 30 Elo at stake.
    pub(crate) fn course(params: usize, pairs: u64) -> Course {
        stopped(params, pairs, pairs)
    }

    /// The same, planned for more pairs than it has.
    pub(crate) fn stopped(params: usize, planned: u64, pairs: u64) -> Course {
        let landscape = Landscape::new(params, 1.0, 3).with_stake(30.0);
        let space = landscape.space().expect("sound");
        let mut course = Course::new(Tuning::auto(Rule::new(space, 1, 16, Some(planned))));
        let mut random = SplitMix64::new(1);
        for block in 0..pairs / 16 {
            for vectors in course.tuning().ask(block).expect("in order").iter() {
                course.record(landscape.play(&vectors.sides, &mut random));
            }
        }
        course
    }

    #[test]
    fn a_course_ends_where_its_tuning_does_and_keeps_few_points() {
        let course = course(6, 6_400);
        assert_eq!((course.tuning().pairs(), course.purpose()), (6_400, course.tuning().purpose(400)));
        assert!((POINTS / 2..=POINTS).contains(&course.points().len()), "{}", course.points().len());
        assert!(course.points().windows(2).all(|two| two[0].pairs + 32 == two[1].pairs));
        let (last, rows) = (&course.points()[course.points().len() - 1], course.rows(&[]));
        assert_eq!(last.pairs, 6_400);
        for (place, row) in rows.iter().enumerate() {
            assert_eq!(last.mean[place], row.moved);
            assert!(row.error.is_some_and(|error| error > 0.0 && error == last.errors[place]));
        }
        assert!(course.noise().is_some_and(|share| (0.0..=1.0).contains(&share)));
    }

    #[test]
    fn validation_is_that_of_every_tenth_block() {
        let course = course(6, 3_200);
        let auto = course.tuning().as_auto().expect("the default method");
        let blocks = (0..200).filter(|block| auto.rule().purpose(*block) == Purpose::Validate).count();
        assert_eq!((course.validated().len(), course.validation().counts().pairs()), (blocks, blocks as u64 * 16));
        let last = course.validated()[blocks - 1];
        assert!(last.interval.0 < last.elo && last.elo < last.interval.1 && last.pairs <= 3_200);
    }

    #[test]
    fn pairs_of_an_open_block_are_a_point_of_the_validation() {
        let mut course = course(6, 3_200);
        while course.purpose() != Purpose::Validate {
            course.record(0);
        }
        let blocks = course.validated().len();
        course.record(1);
        let points = course.validated();
        assert_eq!((points.len(), points[blocks].pairs), (blocks + 1, course.tuning().pairs()));
    }

    #[test]
    fn switches_by_lot_have_a_course_without_a_regression() {
        let space = Landscape::new(3, 1.0, 1).space().expect("sound");
        let mut course = Course::new(Tuning::factors(space, 1, 16));
        (0..64).for_each(|pair| course.record((pair % 3) as i8 - 1));
        assert_eq!((course.points().len(), course.noise()), (4, None));
        assert!(course.rows(&[]).iter().all(|row| row.better.is_none() && row.error.is_none()));
    }
}
