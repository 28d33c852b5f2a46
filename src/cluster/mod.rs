//! Runs over many processes and machines: one dispatcher, one journal, and workers that play pairs.
//!
//! Reading order: `leases` (who plays what, without a clock or a network), `wire` (the messages),
//! `link` (the connection), `registry` (the lists of runs and workers), `sign` (authors of plans),
//! `coordinator`, `worker`, `children` (`--workers local:N`).
//!
//! The server (NATS with JetStream) decides nothing. Pairs are handed out by the dispatcher when a
//! slot asks, so that the lowest missing pair goes first and a stop is instant. Results come
//! through a stream: each is written to the journal first and acknowledged afterwards, and its
//! worker keeps it until it hears so. An acknowledgement of the server alone is no promise: it does
//! not survive a power cut.
//!
//! A lease ends by 30 s without a sign of life, never by slowness, and only the attempt that holds
//! the lease counts ([`leases`]).

mod children;
mod coordinator;
mod leases;
mod link;
mod live;
mod local;
#[allow(dead_code, reason = "used once workers join from other machines")]
mod registry;
#[allow(dead_code, reason = "used once workers join from other machines")]
mod sign;
mod wire;
mod worker;

pub use children::ChildError;
pub(crate) use link::Address;
pub use link::LinkError;
pub(crate) use local::Cluster;
pub(crate) use worker::{Settings, WorkerError, serve};
