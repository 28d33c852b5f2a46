//! `--workers local:N`: a server and workers of this run alone.

use std::sync::Arc;

use tokio::sync::mpsc;

use super::children::{self, PrivateServer};
use super::coordinator::Coordinator;
use super::playing::Cluster;
use super::server::ChildError;
use crate::plan::Plan;
use crate::schedule::remote::{RemoteEvent, RemotePort, connection};
use crate::text::random_hex;

/// Starts a server and `workers` workers for a run of `plan`. Call it on the thread that plays the
/// run: the processes end with it.
///
/// # Errors
/// Returns an error if the server cannot be started or used.
pub(super) async fn start(plan: Arc<Plan>, workers: u16) -> Result<(Cluster, RemotePort), ChildError> {
    let (mut server, link) = PrivateServer::start().await?;
    let run = random_hex().map_err(|source| ChildError::Io { act: "name the run", source })?;
    let (port, end) = connection();
    let (ends_in, ends) = mpsc::unbounded_channel();
    let mut others: Vec<_> = (0..workers)
        .map(|number| {
            let (access, folder, orders) = (server.access.clone(), server.folder(), end.orders.clone());
            tokio::spawn(children::keep_worker(access, folder, run.clone(), number, orders, ends_in.clone()))
        })
        .collect();
    let events = end.events.clone();
    others.push(tokio::spawn(async move {
        loop {
            match server.keep_alive().await {
                Ok(()) => {
                    let text = "nats-server ended and was started again; nothing is lost".to_owned();
                    let _ = events.send(RemoteEvent::Warning(text));
                }
                Err(error) => {
                    let _ = events.send(RemoteEvent::Broken(error.to_string()));
                    return;
                }
            }
        }
    }));
    let broken = end.events.clone();
    let coordinator = Coordinator::new(run, plan, None, link, end);
    let coordinator = tokio::spawn(async move {
        if let Err(error) = coordinator.serve(ends).await {
            let _ = broken.send(RemoteEvent::Broken(error.to_string()));
        }
    });
    Ok((Cluster::of(coordinator, others, None), port))
}
