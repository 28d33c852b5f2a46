//! Training of Destrier's evaluation: data, networks, and the weights of the classical terms.
//!
//! | module | contents |
//! | --- | --- |
//! | [`data`] | scored games and positions, in every usual format |
//! | [`train`] | networks (NNUE) on the CPU; the same seed gives the same bytes |
//! | [`texel`] | weights of the classical evaluation, fitted to results |
//! | [`compare`] | matches between networks |
//! | [`bootstrap`] | the loop of self-play, training and match |
//!
//! The program `destrier-trainer` runs all of them. A network is trained from a plan, of which
//! `engine/trainer/plans` has examples.

#![deny(missing_docs)]

pub mod bootstrap;
pub mod compare;
pub mod data;
pub mod texel;
pub mod train;
