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

mod boards;
pub mod client;
mod place;
pub mod protocol;
pub mod server;
