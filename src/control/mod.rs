//! A live run's ear: a local socket on which `quintain watch` follows it and `quintain ctl` steers it.
//!
//! The protocol is JSON lines both ways. A client sends `{"cmd":"status"}`, `pause`, `resume`, `stop`,
//! `{"cmd":"concurrency","games":4}` or `watch`; each is answered by a line with an `event`: `status`, `error`, and after
//! `watch` the stream of `progress`, `line` and, last, `end`; after `{"cmd":"watch","moves":true}` also `game` and `ply`. See
//! `protocol` for their keys.
//!
//! The socket is served on the main thread beside the dispatcher, never on a slot's. What a client may cost is bounded:
//! the length of its lines, the lines that wait for it, its time to ask and to read. One that exceeds a bound is dropped.
//!
//! Reading order: `protocol`, `place` (where the socket lies), `boards` (games being played), `server`, `client`.
//!
//! The socket has mode 0600, takes connections of its own user only, and goes at the end. The
//! journal's lock is held before, so a socket that is there already was left by a killed process
//! and gives way. A client follows `control.path` to no other name than this directory's, takes
//! only a socket of its own user, and bounds what it reads. A client is held to 1 KiB a line, one
//! command in 10 ms and 10 s a visit unless it watches; to 256 waiting lines and 5 s for a write
//! if it does; there are 32 at most. The dispatcher looks at commands last, so that no flood of
//! them delays a game.
//!
//! Moves are told only while somebody watches them: one atomic flag, read before each search. A
//! worker tells after the opponent's `go` is written, never between the reader's stamp and it.

mod boards;
pub mod client;
mod place;
pub mod protocol;
pub mod server;
