//! The control socket of a live run: a local socket on which `quintain watch` follows the run and
//! `quintain ctl` steers it.
//!
//! The protocol is JSON lines both ways. A client sends a [`protocol::ClientMessage`], such as
//! `{"cmd":"status"}` or `{"cmd":"concurrency","games":4}`. Each is answered by a line with an
//! `event`, a [`protocol::ServerMessage`]. `watch` is answered by the stream of `progress`, `line`
//! and, last, `end`; with `"moves":true` by that of `game` and `ply` too.
//!
//! The socket is served on the main thread beside the dispatcher, never on a worker's thread. The
//! cost of a client is bounded: the length of its lines, the lines queued for it, and its time to
//! ask and to read. A client that exceeds a bound is dropped.
//!
//! Reading order: `protocol`, `place` (the socket's path), `boards` (games being played), `server`,
//! `client`.
//!
//! The socket has mode 0600, takes connections of its own user only, and is removed at the end. The
//! journal's lock is acquired first, so a socket that exists already was left by a killed process
//! and is replaced. A client follows `control.path` to no other name than this directory's, takes
//! only a socket of its own user, and bounds what it reads. The server allows 32 clients at once. A
//! client that does not watch gets 1 KiB a line, one command in 10 ms and 10 s a visit. A client
//! that watches gets 256 queued lines and 5 s for a write. The dispatcher reads commands last, so
//! that no flood of them delays a game.
//!
//! Moves are reported only while a client watches them: one atomic flag, read before each search. A
//! worker reports after the opponent's `go` is written, never between an answer and its timestamp.

mod boards;
pub mod client;
mod place;
pub mod protocol;
pub mod server;
