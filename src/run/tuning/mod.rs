//! A tuning from an engine's parameters to proven values.
//!
//! Reading order: `params` (the parameters), `preflight` (checks that the engine takes their
//! values), `sensitivity` (measures if they change its moves). `prepare` does all of these before
//! the first game. Then `prove` (the race that follows), `outputs` (files with the values),
//! `session` (the whole tuning, in a directory).

mod outputs;
pub(crate) mod params;
mod preflight;
pub(crate) mod prepare;
pub(crate) mod prove;
pub(crate) mod sensitivity;
pub(crate) mod session;
