//! Tuning of engine parameters by games: values to try next, and their results.
//!
//! Reading order: [`space`] (the parameters), [`read`] and `write` (their formats),
//! [`engine_options`] (parameters from an engine's own options), [`draws`] (random numbers) and
//! `sides` (values drawn with them). Methods: [`calibrate`] and [`auto`] (the default), [`spsa`]
//! and [`compat`] (the updates of other programs), [`factors`] (randomised switches), and [`run`],
//! one interface to all of them. Around them: [`narrow`] (values that make the engine fail),
//! [`landscape`] and [`forecast`] (trials without games), [`report`] and [`course`] (the results of
//! a run).
//!
//! Nothing here knows games, engines, clocks or files. Text, seeds and results of pairs come in as
//! values, so a run is a pure function of its parameters, its seed and the pairs that count.

pub mod auto;
pub mod calibrate;
pub mod compat;
pub mod course;
pub mod draws;
pub mod engine_options;
pub mod factors;
pub mod forecast;
pub mod lag;
pub mod landscape;
pub mod narrow;
pub mod read;
pub mod refused;
pub mod report;
pub mod run;
mod sides;
pub mod space;
pub mod spsa;
pub mod write;
