//! What makes Destrier's evaluation: training data, networks, and the weights of the classical terms.

pub mod bootstrap;
pub mod compare;
pub mod data;
pub mod texel;
pub mod train;
