//! Runs over many processes and machines: one dispatcher, one journal, and workers that play pairs.
//!
//! Reading order: `leases` (who plays what, without a clock or a network), `wire` (the messages),
//! `link` (the connection), `coordinator`, `worker`, `children` (`--workers local:N`).
//!
//! The server (NATS with JetStream) decides nothing. Pairs are handed out by the dispatcher when a
//! slot asks, so that the lowest missing pair goes first and a stop is instant. Results come
//! through a stream: each is written to the journal first and acknowledged afterwards, and its
//! worker keeps it until it hears so. An acknowledgement of the server alone is no promise: it does
//! not survive a power cut.
//!
//! A lease ends by 30 s without a sign of life, never by slowness, and only the attempt that holds
//! the lease counts ([`leases`]).

#[cfg(not(feature = "cluster"))]
mod absent;
#[cfg(feature = "cluster")]
mod children;
#[cfg(feature = "cluster")]
mod coordinator;
#[cfg(feature = "cluster")]
mod leases;
#[cfg(feature = "cluster")]
mod link;
#[cfg(feature = "cluster")]
mod local;
#[cfg(feature = "cluster")]
mod wire;
#[cfg(feature = "cluster")]
mod worker;

#[cfg(not(feature = "cluster"))]
pub use absent::ChildError;
#[cfg(not(feature = "cluster"))]
pub(crate) use absent::Cluster;
#[cfg(feature = "cluster")]
pub use children::ChildError;
#[cfg(feature = "cluster")]
pub(crate) use link::Address;
#[cfg(feature = "cluster")]
pub use link::LinkError;
#[cfg(feature = "cluster")]
pub(crate) use local::Cluster;
#[cfg(feature = "cluster")]
pub(crate) use worker::{Settings, WorkerError, serve};
