//! Universal Chess Interface (UCI): the protocol as values, and the engine processes.
//!
//! Commands, replies, options, sessions and transcripts are those of the crate `quintain_uci`,
//! which does no I/O. [`process`] adds the processes: pipes, deadlines, stamps.

pub mod process;

pub use quintain_uci::*;
