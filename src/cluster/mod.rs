//! Runs over many processes and machines: one dispatcher, one journal, and workers that play pairs.
//!
//! Reading order: `leases` (who plays what, without a clock or a network) and `learnt` (the same
//! after a restart), then `wire` (the messages) and `access` (who may connect). Then `link` (the
//! connection), `registry` (the lists of runs and workers) and `sign` (authors of plans). A run:
//! `takers` (slots that wait), `patience` (pairs that nobody plays), `failures` and `drift`
//! (machines that are excluded), `coordinator`, `worker`, `outbox` (results that are not written
//! yet), `notes` (messages), `children` (`--workers local:N`). A hub: `users` (their rights),
//! `server` (its process), `blobs` (files that workers fetch), `hub`. A worker of other people's
//! runs: `terms` (what its owner allows), `shares` (slots by priority and weight), `places`,
//! `cache`, `speed`, `joining` (one run), `pool` (all of them), `setup`. `simulation`: workers
//! without engines, to measure a hub.
//!
//! The server (NATS with JetStream) decides nothing. Pairs are handed out by the dispatcher when a
//! slot asks, so that the lowest missing pair goes first and a stop is instant. Results come
//! through a stream: each is written to the journal first and acknowledged afterwards, and its
//! worker keeps it until the acknowledgement. An acknowledgement of the server alone is not a
//! promise: it does not survive a power cut.
//!
//! A lease ends by 30 s without a sign of life, never by slowness, and only the attempt that holds
//! the lease counts (`leases`). A worker that gives signs of life and makes no move loses its pair
//! after a time that no search lasts (`patience`).

mod access;
mod benches;
mod blobs;
mod bounds;
mod by_user;
mod cache;
mod children;
mod coordinator;
mod drift;
mod enter;
mod failures;
#[cfg(any(test, fuzzing))]
mod fuzzed;
mod hub;
mod joining;
mod learnt;
mod leases;
mod link;
mod live;
mod local;
mod logs;
mod notes;
mod outbox;
mod patience;
mod places;
mod playing;
mod pool;
mod registry;
mod remote;
mod roster;
mod server;
mod setup;
mod shares;
mod sign;
mod simulation;
mod speed;
mod takers;
mod terms;
mod users;
mod wire;
mod worker;

pub use access::AccessError;
pub(crate) use access::{Access, Role, config_folder};
pub use enter::ClusterError;
pub(crate) use enter::start;
#[cfg(fuzzing)]
pub use fuzzed::fuzzed;
pub(crate) use hub::{HubSettings, default_folder, invite, revoke, serve as serve_hub, users};
pub use link::LinkError;
pub(crate) use playing::Cluster;
pub(crate) use pool::{PoolSettings, serve_hub as serve_runs};
pub(crate) use registry::{RunEntry, WorkerEntry};
pub(crate) use setup::{
    UnitArgs, cache_folder, check_worker, lists, memory_mib, own_key, slots, systemd_unit, systemd_warning,
};
pub(crate) use simulation::{SimulationSettings, simulate};
pub(crate) use terms::Terms;
pub(crate) use worker::{Settings, WorkerError, serve};

#[cfg(test)]
mod tests {
    use std::path::Path;

    /// False, said loudly, without a server to test with.
    pub(super) fn has_server(test: &str) -> bool {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let servers = [Path::new("/usr/sbin")];
        let is_there = crate::source::find_program(Path::new("nats-server"), &path, &servers).is_some();
        if !is_there {
            crate::skip::skip(test, "no program nats-server");
        }
        is_there
    }
}
