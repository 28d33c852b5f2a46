//! Stand-in of `cluster` for programs that are built without the feature `cluster`.

use std::sync::Arc;

use crate::plan::{Plan, Workers};
use crate::schedule::remote::RemotePort;

/// Workers that there are none of.
#[derive(Debug)]
pub(crate) struct Cluster;

/// This program cannot play with workers.
#[derive(Debug, thiserror::Error)]
#[error(
    "--workers: this program was built without it; install it with `cargo install --path . --features cluster`, or use -j"
)]
pub struct ClusterError;

impl Cluster {
    #[expect(clippy::unused_async, reason = "the same call as with the feature")]
    pub(crate) async fn close(self) {}
}

#[expect(clippy::unused_async, reason = "the same call as with the feature")]
pub(crate) async fn start(_plan: &Arc<Plan>, _workers: &Workers) -> Result<(Cluster, RemotePort), ClusterError> {
    Err(ClusterError)
}
