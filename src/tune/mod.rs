//! Tuning of engine parameters by games: which values to try next, what the results say of them.
//!
//! Reading order: [`space`] (the parameters), [`read`] and `write` (their input and output
//! formats), [`spin`] (parameters from an engine's own options), [`draws`] (chance) and `sides`
//! (values drawn by it), [`spsa`] and [`compat`] (the updates of other programs), [`calibrate`] and
//! [`auto`] (the default method), [`narrow`] (values that make the engine fail), [`run`] (one
//! interface to all of them), [`landscape`] and [`forecast`] (where methods are tried without
//! games), [`report`] and [`course`] (the results of a run), [`factors`] (randomised switches).
//! Nothing here knows games, engines, clocks or files: text, seeds and results of pairs come in as
//! values, so a run is a pure function of its parameters, its seed and the pairs that count.

pub mod auto;
pub mod calibrate;
pub mod compat;
pub mod course;
pub mod draws;
pub mod factors;
pub mod forecast;
pub mod lag;
pub mod landscape;
pub mod narrow;
pub mod read;
mod refused;
pub mod report;
pub mod run;
mod sides;
pub mod space;
pub mod spin;
pub mod spsa;
pub mod write;
