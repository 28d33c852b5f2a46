//! The tasks of a run that workers play, to their end.

use std::time::Duration;

use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// Server, workers and coordinator of a run. They end when this is closed, or with the runtime.
#[derive(Debug)]
pub(crate) struct Cluster {
    coordinator: JoinHandle<()>,
    others: Vec<JoinHandle<()>>,
    /// Entry of the run at its hub, and the request to remove it.
    entry: Option<(oneshot::Sender<()>, JoinHandle<()>)>,
}

/// Time for the entry of a run to be removed. One that stays ages away.
const LEAVE_LIMIT: Duration = Duration::from_secs(10);

impl Cluster {
    /// Tasks that have been started.
    pub(super) const fn of(
        coordinator: JoinHandle<()>,
        others: Vec<JoinHandle<()>>,
        entry: Option<(oneshot::Sender<()>, JoinHandle<()>)>,
    ) -> Self {
        Self { coordinator, others, entry }
    }

    /// Ends the coordinator, which has heard that the run is over, and all processes.
    pub(crate) async fn close(self) {
        // It ends by itself, because the dispatcher is gone. It fails only if it panicked.
        let _ = self.coordinator.await;
        if let Some((over, renewing)) = self.entry {
            // It has ended already if another process coordinates the run.
            let _ = over.send(());
            let _ = tokio::time::timeout(LEAVE_LIMIT, renewing).await;
        }
        for other in self.others {
            other.abort();
            // An aborted task drops its process, which is killed.
            let _ = other.await;
        }
    }
}
