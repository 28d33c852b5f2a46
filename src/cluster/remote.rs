//! A run that is played by the workers of a hub.
//!
//! The plan goes out signed, with programs and networks named by their SHA-256. Its name at the hub
//! is in `plan.toml`, so that the resumed run is the same one there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, MissedTickBehavior};

use super::access::{Access, AccessError, Role};
use super::blobs::{self, BlobError};
use super::coordinator::{Coordinator, Listening};
use super::link::{LOST, Link, LinkError};
use super::playing::Cluster;
use super::registry::{self, Claim, ClaimError, Needs, RENEWAL, RunEntry};
use super::sign::{AuthorKey, KeyError};
use super::terms::BLOB;
use super::wire;
use crate::os;
use crate::plan::{HubRun, Plan, Player, file};
use crate::schedule::remote::{RemoteEvent, RemotePort, connection};
use crate::text::{random_hex, sha256};

/// Interval of the looks for files that the hub has lost.
const LOOK: Duration = Duration::from_mins(1);

/// Files that workers fetch, by their names at the hub.
type Files = BTreeMap<String, PathBuf>;

/// Reason that the workers of a hub cannot play a run.
#[derive(Debug, thiserror::Error)]
pub enum RemoteError {
    /// There are no credentials for the hub.
    #[error("--workers: {0}")]
    Access(#[from] AccessError),
    /// The plan cannot be signed.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// Another process coordinates the run.
    #[error(transparent)]
    Claim(#[from] ClaimError),
    /// The server cannot be used.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// A file cannot be sent.
    #[error(transparent)]
    Blob(#[from] BlobError),
    /// A file cannot be read.
    #[error("{path}: cannot read it for the workers: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// A program is not the one of the plan.
    #[error("{0}: it has changed since the run was planned, so workers would run another program; restore it")]
    Changed(PathBuf),
    /// The system has no random numbers.
    #[error("cannot name this process: {0}")]
    Random(std::io::Error),
    /// The plan has no name at the hub.
    #[error("plan.toml: the run has no name at the hub {0}; start it again with --workers")]
    Nameless(String),
}

/// Enters a run at its hub, and serves the workers that come.
///
/// # Errors
/// Returns an error if the hub cannot be used, or another process coordinates the run.
pub(super) async fn start(plan: Arc<Plan>, hub: &HubRun) -> Result<(Cluster, RemotePort), RemoteError> {
    if hub.run.is_empty() {
        return Err(RemoteError::Nameless(hub.url.clone()));
    }
    let access = Access::find(&hub.url, Role::Coordinator, hub.credentials.as_deref())?;
    let key = AuthorKey::of_user()?;
    let life = random_hex().map_err(RemoteError::Random)?;
    let link = Link::open(&access, &format!("{}-{life}", access.user)).await?;
    link.create_stream().await?;
    registry::create(&link).await?;
    blobs::create(&link).await?;
    let (shipped, files) = ship(&link, &plan).await?;
    let text = file::to_toml(&shipped);
    let entry = RunEntry {
        v: wire::VERSION,
        run: hub.run.clone(),
        title: plan.name.clone(),
        program: env!("CARGO_PKG_VERSION").to_owned(),
        plan_sha256: sha256(text.as_bytes()),
        priority: hub.priority,
        weight: hub.weight,
        needs: Needs::of(&plan),
        signer: key.public().to_string(),
        blobs: files.keys().cloned().collect(),
        simulated: hub.is_simulated,
        life,
        host: os::host_name(),
        beat: 0,
    };
    let heard = Listening::start(&link, &hub.run).await?;
    let claim = Claim::take(&link, entry).await?;
    let signed = key.sign(&hub.run, text);
    let (port, end) = connection();
    let events = end.events.clone();
    let coordinator = Coordinator::new(hub.run.clone(), plan, Some(signed), link.clone(), end);
    let coordinator = if claim.is_first() { coordinator } else { coordinator.going_on(heard) };
    Ok((serve(coordinator, link, (claim, files), events), port))
}

/// Starts the coordinator, and renews its entry until the run ends.
fn serve(
    coordinator: Coordinator,
    link: Link,
    entry: (Claim, Files),
    events: mpsc::UnboundedSender<RemoteEvent>,
) -> Cluster {
    let (over, ended) = oneshot::channel();
    let renewing = tokio::spawn(renew(link, entry, events.clone(), ended));
    // No worker here is a child of this process.
    let (_no_children, ends) = mpsc::unbounded_channel();
    let coordinator = tokio::spawn(async move {
        if let Err(error) = coordinator.serve(ends).await {
            let _ = events.send(RemoteEvent::Broken(error.to_string()));
        }
    });
    Cluster::of(coordinator, Vec::new(), Some((over, renewing)))
}

/// Renews the entry of a run, and removes it at its end. Files that the hub has lost are sent
/// again.
async fn renew(
    link: Link,
    (mut claim, files): (Claim, Files),
    events: mpsc::UnboundedSender<RemoteEvent>,
    mut ended: oneshot::Receiver<()>,
) {
    let mut tick = tokio::time::interval(RENEWAL);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut look = tokio::time::interval_at(Instant::now() + LOOK, LOOK);
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (mut was_refused, mut was_lost, mut unsent) = (false, false, String::new());
    let warn = |text: String| drop(events.send(RemoteEvent::Warning(text)));
    loop {
        tokio::select! {
            _ = &mut ended => return claim.release(&link).await,
            _ = tick.tick() => {
                if let Err(error) = claim.renew(&link).await {
                    let _ = events.send(RemoteEvent::Broken(error.to_string()));
                    return;
                }
            }
            _ = look.tick() => {
                let why = send_again(&link, &files).await;
                if !why.is_empty() && why != unsent {
                    warn(why.clone());
                }
                unsent = why;
            }
        }
        if link.is_refused() && !was_refused {
            warn(
                "the hub refuses this user's credentials since the last connection; its owner can invite it again"
                    .to_owned(),
            );
        }
        was_refused = link.is_refused();
        if link.is_lost() != std::mem::replace(&mut was_lost, link.is_lost()) {
            warn(if was_lost {
                format!("{LOST}; workers play on, and nothing is lost")
            } else {
                "the hub is back".to_owned()
            });
        }
    }
}

/// Sends the files that the hub has lost. Returns the reasons why some are not there yet.
async fn send_again(link: &Link, files: &Files) -> String {
    let mut faults = Vec::new();
    for (name, path) in files {
        if blobs::is_missing(link, name).await
            && let Err(error) = send_lost(link, name, path).await
        {
            faults.push(error.to_string());
        }
    }
    faults.join("; ")
}

async fn send_lost(link: &Link, name: &str, path: &Path) -> Result<(), RemoteError> {
    // The store was wiped, and the stream with it.
    blobs::create(link).await?;
    // A file that was changed since has another name, and the lost one stays missing.
    let bytes = read(path).await?;
    if sha256(&bytes) != name {
        return Err(RemoteError::Changed(path.to_owned()));
    }
    blobs::put(link, &bytes).await?;
    Ok(())
}

/// Sends the programs of a plan, and the files that its options name. Returns the plan with their
/// names at the hub instead of their paths, and the files by these names.
async fn ship(link: &Link, plan: &Plan) -> Result<(Plan, Files), RemoteError> {
    let mut shipped = Plan { workers: None, ..plan.clone() };
    let mut files = Files::new();
    for player in &mut shipped.players {
        let program = put(link, &player.program).await?;
        if program != player.origin.sha256 {
            return Err(RemoteError::Changed(player.program.clone()));
        }
        let path = std::mem::replace(&mut player.program, format!("{BLOB}{program}").into());
        files.insert(program, path);
        for place in 0..player.options.len() {
            if let Some(file) = named_file(player, &player.options[place].1) {
                let name = put(link, &file).await?;
                player.options[place].1 = format!("{BLOB}{name}");
                files.insert(name, file);
            }
        }
        // A folder of this machine.
        player.dir = None;
    }
    Ok((shipped, files))
}

async fn put(link: &Link, path: &Path) -> Result<String, RemoteError> {
    Ok(blobs::put(link, &read(path).await?).await?)
}

async fn read(path: &Path) -> Result<Vec<u8>, RemoteError> {
    let file = path.to_owned();
    let read = tokio::task::spawn_blocking(move || std::fs::read(file)).await.unwrap_or_else(|error| Err(error.into()));
    read.map_err(|source| RemoteError::File { path: path.to_owned(), source })
}

/// File that the value of an option names, as its engine would open it.
fn named_file(player: &Player, value: &str) -> Option<PathBuf> {
    let path = player.dir.as_deref().unwrap_or(Path::new("")).join(value.trim());
    (!value.trim().is_empty() && path.is_file()).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_options_name_are_found_as_their_engine_finds_them() {
        let folder = tempfile::tempdir().unwrap();
        let net = folder.path().join("net.nnue");
        std::fs::write(&net, "net").unwrap();
        let player = |dir: Option<&Path>| Player {
            name: "new".to_owned(),
            program: "/bin/true".into(),
            args: Vec::new(),
            dir: dir.map(Path::to_owned),
            options: Vec::new(),
            limit: crate::plan::time_control::Limit::nodes(1),
            ..Player::default()
        };
        let (here, there) = (player(None), player(Some(folder.path())));
        assert_eq!(named_file(&here, net.to_str().unwrap()), Some(net.clone()));
        assert_eq!(named_file(&there, "net.nnue"), Some(net));
        for value in ["", " ", "16", "true", "net.nnue"] {
            assert_eq!(named_file(&here, value), None, "{value}");
        }
        assert_eq!(named_file(&there, "."), None);
    }
}
