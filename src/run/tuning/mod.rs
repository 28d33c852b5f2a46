//! A tuning from an engine's parameters to proven values.
//!
//! Reading order: `params` (which parameters), `preflight` (does the engine take their values),
//! `sensitivity` (do they change its moves), `prepare` (all of it, before the first game), `prove` (the
//! race that follows), `outputs` (files with the values), `session` (all of it, in a directory).

mod outputs;
pub(crate) mod params;
mod preflight;
pub(crate) mod prepare;
pub(crate) mod prove;
pub(crate) mod sensitivity;
pub(crate) mod session;
