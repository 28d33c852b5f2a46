//! Training of Destrier's evaluation: data, networks, and the weights of the classical terms.

pub mod bootstrap;
pub mod compare;
pub mod data;
pub mod texel;
pub mod train;
