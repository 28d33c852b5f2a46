//! The Universal Chess Interface (UCI) as values: commands, replies, sessions.
//!
//! Nothing here does I/O or reads a clock: the caller owns the engine's process and its pipes.
//! [`Command`] encodes a line to send, and [`LineBuffer`] splits the output into lines of bounded
//! length. [`Session`](session::Session) digests each line and reports the awaited event:
//!
//! ```
//! use quintain_record::Score;
//! use quintain_uci::session::{Session, SessionEvent};
//! use quintain_uci::{Command, Go, LineBuffer, PositionLine, set_option};
//!
//! let mut session = Session::new();
//! let mut output = LineBuffer::new();
//! // Stands for a read from the engine's pipe.
//! let mut receive = |bytes: &[u8], session: &mut Session| {
//!     output.space()[..bytes.len()].copy_from_slice(bytes);
//!     output.advance(bytes.len());
//!     let mut last = SessionEvent::Nothing;
//!     while let Some(line) = output.next_line() {
//!         last = session.on_line(line);
//!     }
//!     last
//! };
//!
//! let mut sent = Vec::new();
//! Command::Uci.write(&mut sent)?;
//! let option = b"id name Example 1.0\noption name Hash type spin default 16 min 1 max 1024\n";
//! assert_eq!(receive(option, &mut session), SessionEvent::Nothing);
//! assert_eq!(receive(b"uciok\n", &mut session), SessionEvent::UciOk);
//! assert_eq!(session.identity().name, "Example 1.0");
//!
//! // The value is checked against the engine's own range before it is written.
//! set_option(session.options(), "hash", "64", &mut sent)?;
//! assert!(set_option(session.options(), "hash", "4096", &mut sent).is_err());
//!
//! let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
//! let mut position = PositionLine::new(start)?;
//! position.push("e2e4")?;
//! Command::Position(&position).write(&mut sent)?;
//! Command::Go(Go { depth: Some(8), ..Go::default() }).write(&mut sent)?;
//! session.begin_search();
//! let search = b"info depth 8 score cp -31 nodes 5120 pv e7e5 g1f3\nbestmove e7e5 ponder g1f3\n";
//! assert_eq!(receive(search, &mut session), SessionEvent::BestMove);
//! assert_eq!(session.answer().text, "e7e5");
//! // The side to move's point of view: Black thinks that White is better.
//! assert_eq!(session.info().score, Some(Score::Cp(-31)));
//! assert!(sent.ends_with(b"go depth 8\n"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Items by subject
//!
//! | subject | items |
//! | --- | --- |
//! | commands, encoded as bytes | [`Command`], [`Go`], [`SideClock`], [`PositionLine`] |
//! | lines of the output, in a bounded buffer | [`LineBuffer`], [`MAX_LINE`] |
//! | replies, parsed from bytes | [`Reply`], [`InfoLine`], [`BestMove`], [`Bound`] |
//! | options, and checks of values | [`EngineOption`], [`OptionKind`], [`set_option`] |
//! | state machine of one engine | [`session`] |
//! | latest traffic of a game, for crash reports | [`transcript`] |
//!
//! # Robustness
//!
//! No line that an engine prints causes a panic or unbounded memory: text is cut at stated lengths,
//! numbers saturate, and unknown words are skipped. The `vampirc-uci` grammar parses the rare lines
//! (`id`, `option`) if it parses them correctly. `info` and `bestmove`, which an engine prints by
//! the thousand between two clock stamps, have their own parser (`reply`); a test compares it with
//! the grammar. A profile with `panic = "abort"` does not compile, because panics of the grammar
//! are caught.
//!
//! Protocol: Stefan-Meyer Kahlen and Rudolf Huber, "Description of the universal chess interface
//! (UCI)", April 2006.

#![deny(missing_docs)]

mod command;
mod complaint;
mod framing;
mod grammar;
mod listener;
mod option;
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
