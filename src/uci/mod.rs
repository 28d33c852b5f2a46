//! The Universal Chess Interface as values: what the harness says and what an engine answers.
//!
//! | file | what it knows |
//! | --- | --- |
//! | `command` | words to the engine, written to bytes |
//! | `reply` | words from the engine, read from bytes; the hot path |
//! | `option` | advertised options, and whether a value fits one |
//! | `grammar` | the protocol crate, kept from harm |
//! | `framing` | chunks to lines, bounded |
//! | `session` | what state one engine is in, and what a line means in it |
//! | `transcript` | the last lines of a game, for crash reports |
//! | `process` | the only spawner of engines: pipes, deadlines, stamps |
//!
//! All but `process` are synchronous and pure. The cold lines (`id`, `option`, ...) go through the `vampirc-uci` grammar where
//! it is right about them; `info` and `bestmove`, which an engine prints by the thousand between two clock stamps, have a reader
//! of their own (`reply`), held to that grammar by a test.
//!
//! The protocol: Stefan-Meyer Kahlen and Rudolf Huber, "Description of the universal chess interface (UCI)", April 2006.

mod command;
mod complaint;
mod framing;
mod grammar;
mod option;
pub mod process;
mod reply;
pub mod session;
pub mod transcript;
mod unwinding;

pub use command::{Command, CommandError, Go, PositionLine, SideClock};
pub use framing::{LineBuffer, MAX_LINE};
pub use option::{EngineOption, OptionError, OptionKind, set_option};
pub use reply::{BestMove, Bound, IdField, InfoLine, Reply};
pub use transcript::{Direction, Transcript};
