//! The way of a run to its workers, by the plan's word.

use std::sync::Arc;

use super::local;
use super::playing::Cluster;
use super::remote::{self, RemoteError};
use super::server::ChildError;
use crate::plan::{Plan, Workers};
use crate::schedule::remote::RemotePort;

/// Reason that a run has no workers.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// The workers of this machine cannot be started.
    #[error(transparent)]
    Local(#[from] ChildError),
    /// The workers of a hub cannot be used.
    #[error(transparent)]
    Remote(#[from] RemoteError),
}

/// Starts workers for a run of `plan`, or enters it at a hub. Call it on the thread that plays the
/// run: processes that it starts end with that thread.
///
/// # Errors
/// Returns an error if the server cannot be started or used.
pub(crate) async fn start(plan: &Arc<Plan>, workers: &Workers) -> Result<(Cluster, RemotePort), ClusterError> {
    match workers {
        Workers::Local(workers) => Ok(local::start(Arc::clone(plan), *workers).await?),
        Workers::Hub(hub) => Ok(remote::start(Arc::clone(plan), hub).await?),
    }
}
