//! Universal Chess Interface (UCI): commands, replies, and the engine processes.
//!
//! | file | contents |
//! | --- | --- |
//! | `command` | commands to the engine, encoded as bytes |
//! | `reply` | replies of the engine, parsed from bytes; the hot path |
//! | `option` | advertised options, and the check of values against them |
//! | `grammar` | the protocol crate, with its panics caught |
//! | `framing` | split of the output into lines, in a bounded buffer |
//! | `session` | state machine of one engine |
//! | `transcript` | latest traffic of a game, for crash reports |
//! | `process` | engine processes: pipes, deadlines, stamps |
//!
//! All but `process` are synchronous and do no I/O. The `vampirc-uci` grammar parses the rare lines
//! (`id`, `option`) if it parses them correctly. `info` and `bestmove`, which an engine prints by
//! the thousand between two clock stamps, have their own parser (`reply`); a test compares it with
//! that grammar.
//!
//! Protocol: Stefan-Meyer Kahlen and Rudolf Huber, "Description of the universal chess interface
//! (UCI)", April 2006.

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
pub use session::Iteration;
pub use transcript::{Direction, Transcript};
