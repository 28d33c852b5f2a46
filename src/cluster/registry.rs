//! Lists of runs and workers that the server keeps, each entry under its own subject.
//!
//! | stream | subject | writer | kept for |
//! | --- | --- | --- | --- |
//! | `KV_runs` | `$KV.runs.RUN` | coordinator, each [`RENEWAL`] | a day |
//! | `KV_workers` | `$KV.workers.USER.MACHINE` | worker, each [`PRESENCE`] | a minute |
//!
//! Readers need no consumers, so a worker needs few rights (`users`). An entry that its writer does
//! not renew expires.
//!
//! An entry of a run is written by compare and set. A second coordinator of the same run finds
//! that the entry changes while it looks, and stops. No clock is compared with another machine's.

use std::time::Duration;

use async_nats::jetstream;
use async_nats::jetstream::context::PublishErrorKind;
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::stream::{Config, DirectGetErrorKind, DiscardPolicy, StorageType};
use futures_util::StreamExt as _;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use tokio::time::Instant;

use super::link::{LONGEST_PAUSE, Link, LinkError, PATIENCE};
use super::wire;
use crate::plan::{Plan, Player};

/// Interval at which a coordinator renews its entry.
pub(crate) const RENEWAL: Duration = Duration::from_secs(5);

/// Interval at which a worker renews its entry.
pub(crate) const PRESENCE: Duration = Duration::from_secs(15);

/// Time without a renewal after which a run has no coordinator: two renewals and a reconnection.
pub(crate) const TAKEOVER: Duration = Duration::from_secs(12);

/// Time limit of an operation that is repeated until it succeeds.
const LIMIT: Duration = Duration::from_mins(2);

/// Maximum size of an entry in bytes.
const MOST_ENTRY: i32 = 64 << 10;

/// Maximum size of a list in bytes.
const MOST_BYTES: i64 = 64 << 20;

/// Maximum number of entries read from a list.
const MOST_ENTRIES: usize = 20_000;

/// Lists of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum List {
    /// Runs, by their names.
    Runs,
    /// Workers, by user and machine.
    Workers,
}

impl List {
    const fn name(self) -> &'static str {
        match self {
            Self::Runs => "runs",
            Self::Workers => "workers",
        }
    }

    const fn oldest(self) -> Duration {
        match self {
            Self::Runs => Duration::from_hours(24),
            Self::Workers => Duration::from_mins(1),
        }
    }

    fn stream(self) -> String {
        format!("KV_{}", self.name())
    }

    fn config(self) -> Config {
        Config {
            name: self.stream(),
            subjects: vec![self.subject(">")],
            storage: StorageType::File,
            max_messages_per_subject: 1,
            max_bytes: MOST_BYTES,
            max_age: self.oldest(),
            // It may not be longer than the age.
            duplicate_window: Duration::from_secs(30),
            max_message_size: MOST_ENTRY,
            discard: DiscardPolicy::New,
            deny_delete: true,
            allow_direct: true,
            ..Config::default()
        }
    }

    /// Subject of an entry, or of all for `>`.
    pub(crate) fn subject(self, key: &str) -> String {
        format!("$KV.{}.{key}", self.name())
    }
}

/// Demands of a run on each slot of a machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Needs {
    /// Threads that search at once.
    pub(crate) threads: u32,
    /// Sum of the engines' hash tables, in MiB.
    pub(crate) hash_mib: u64,
    /// True if endgame tables are used.
    #[serde(default)]
    pub(crate) syzygy: bool,
}

impl Needs {
    /// Demands of a plan. The two players with the largest hash tables may meet.
    pub(crate) fn of(plan: &Plan) -> Self {
        let mut hashes: Vec<u64> = plan.players.iter().map(Player::hash_mib).collect();
        hashes.sort_unstable_by(|a, b| b.cmp(a));
        Self {
            threads: u32::try_from(plan.threads()).unwrap_or(u32::MAX),
            hash_mib: hashes.iter().take(2).fold(0, |sum: u64, size| sum.saturating_add(*size)),
            syzygy: plan.rules.syzygy.is_some(),
        }
    }
}

/// Entry of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct RunEntry {
    /// Version of the protocol.
    pub(crate) v: u32,
    /// Name on the server, one token of a subject.
    pub(crate) run: String,
    /// Name for people.
    #[serde(default)]
    pub(crate) title: String,
    /// Version of the coordinator's program.
    #[serde(default)]
    pub(crate) program: String,
    /// SHA-256 of the signed plan's text.
    pub(crate) plan_sha256: String,
    /// Priority from -9 to 9. Workers serve the highest one that they can serve.
    #[serde(default)]
    pub(crate) priority: i8,
    /// Share among runs of one priority.
    #[serde(default = "one")]
    pub(crate) weight: f64,
    /// Demands on a worker.
    #[serde(default)]
    pub(crate) needs: Needs,
    /// Public key of the plan's author.
    pub(crate) signer: String,
    /// Files that its workers fetch, by SHA-256.
    #[serde(default)]
    pub(crate) blobs: Vec<String>,
    /// True for a run of simulated workers, which no other worker serves.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) simulated: bool,
    /// Random name of the coordinator's process.
    pub(crate) life: String,
    /// Machine of the coordinator, for people.
    #[serde(default)]
    pub(crate) host: String,
    /// Number of renewals of this life.
    #[serde(default)]
    pub(crate) beat: u64,
}

const fn one() -> f64 {
    1.0
}

/// Speed of an engine on a machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Speed {
    /// SHA-256 of the engine.
    pub(crate) engine: String,
    /// Nodes per second of one slot with every slot busy.
    pub(crate) nps: f64,
}

/// Entry of a worker.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct WorkerEntry {
    /// Version of the protocol.
    pub(crate) v: u32,
    /// User and machine, with a dot between them.
    pub(crate) name: String,
    /// Version of the program.
    #[serde(default)]
    pub(crate) program: String,
    /// Model of the CPU.
    #[serde(default)]
    pub(crate) cpu: String,
    /// Physical cores.
    #[serde(default)]
    pub(crate) cores: usize,
    /// Slots that it offers.
    #[serde(default)]
    pub(crate) slots: u16,
    /// Speeds that it has measured.
    #[serde(default)]
    pub(crate) speeds: Vec<Speed>,
    /// Present occupation: `playing`, `idle`, `refuses`.
    #[serde(default)]
    pub(crate) state: String,
    /// Reason of the state, or the runs that it plays; on one line.
    #[serde(default)]
    pub(crate) reason: String,
}

/// Entry of a list.
pub(crate) trait ListEntry: DeserializeOwned {
    /// Key that it belongs under.
    fn key(&self) -> &str;
}

impl ListEntry for RunEntry {
    fn key(&self) -> &str {
        &self.run
    }
}

impl ListEntry for WorkerEntry {
    fn key(&self) -> &str {
        &self.name
    }
}

/// Reason that a list was not read or written.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
enum ListFault {
    /// Another one has written the entry meanwhile.
    #[error("another process wrote in the meantime")]
    Raced,
    /// The server refused, or did not answer.
    #[error("{0}")]
    Server(String),
}

/// Reason that a coordinator may not continue.
#[derive(Debug, thiserror::Error)]
pub enum ClaimError {
    /// Another coordinator serves the run.
    #[error(
        "run {run}: another process coordinates it, on {host}; a run has one journal and one coordinator, so stop that one first (`quintain ctl`), or wait for it"
    )]
    Held {
        /// The run.
        run: String,
        /// Machine of the other process.
        host: String,
    },
    /// The server does not do it.
    #[error(transparent)]
    Link(#[from] LinkError),
}

/// Creates both lists, or checks that they exist.
///
/// # Errors
/// Returns an error if the server refuses.
pub(crate) async fn create(link: &Link) -> Result<(), LinkError> {
    for list in [List::Runs, List::Workers] {
        let created = link.jetstream().get_or_create_stream(list.config()).await;
        created.map_err(|error| LinkError::Server { act: "keep its lists", why: error.to_string() })?;
    }
    Ok(())
}

/// Gives both lists the settings of this version, if another one has created them. Only the owner
/// may do this.
///
/// # Errors
/// Returns an error if the server refuses.
pub(crate) async fn update(link: &Link) -> Result<(), LinkError> {
    for list in [List::Runs, List::Workers] {
        let updated = link.jetstream().update_stream(list.config()).await;
        updated.map_err(|error| LinkError::Server { act: "keep its lists", why: error.to_string() })?;
    }
    Ok(())
}

/// Reads all entries of a list. Damaged ones are left out, and those that name another key: a user
/// may write under its own keys only, whatever an entry says.
///
/// # Errors
/// Returns an error if the server does not answer.
pub(crate) async fn read<T: ListEntry>(link: &Link, list: List) -> Result<Vec<T>, LinkError> {
    let mut entries = Vec::new();
    for key in keys(link, list).await? {
        let found = get::<T>(link, list, &key).await;
        let found = found.map_err(|fault| LinkError::Server { act: "read its lists", why: fault.to_string() })?;
        // An entry may have aged away meanwhile.
        entries.extend(found.map(|(entry, _)| entry).filter(|entry| entry.key() == key));
    }
    Ok(entries)
}

/// Names of a list's entries, and of those that were removed within the time that entries are kept.
///
/// # Errors
/// Returns an error if the server does not answer.
pub(super) async fn keys(link: &Link, list: List) -> Result<Vec<String>, LinkError> {
    let server = |why: String| LinkError::Server { act: "read its lists", why };
    let stream = link.jetstream().get_stream_no_info(list.stream()).await.map_err(|error| server(error.to_string()))?;
    let found = stream.info_with_subjects(list.subject(">")).await.map_err(|error| server(error.to_string()))?;
    let prefix = list.subject("");
    let keys = found.take(MOST_ENTRIES).filter_map(async |found| Some(found.ok()?.0.strip_prefix(&prefix)?.to_owned()));
    Ok(keys.collect().await)
}

/// Writes a worker's entry. Without an answer it is written again at the next renewal.
pub(crate) async fn put_worker(link: &Link, entry: &WorkerEntry) {
    let _ = put(link, List::Workers, &entry.name, wire::to_bytes(entry), None).await;
}

/// Entry and its revision; `None` if there is none, it was removed, or it is damaged.
async fn get<T: DeserializeOwned>(link: &Link, list: List, key: &str) -> Result<Option<(T, u64)>, ListFault> {
    let server = |error: String| ListFault::Server(error);
    let stream = link.jetstream().get_stream_no_info(list.stream()).await.map_err(|error| server(error.to_string()))?;
    match tokio::time::timeout(PATIENCE, stream.direct_get_last_for_subject(list.subject(key))).await {
        Ok(Ok(message)) => Ok(wire::from_bytes(&message.payload).ok().map(|entry| (entry, message.sequence))),
        Ok(Err(error)) if error.kind() == DirectGetErrorKind::NotFound => Ok(None),
        Ok(Err(error)) => Err(server(error.to_string())),
        Err(_) => Err(server("no answer".to_owned())),
    }
}

/// Writes an entry, if its revision is `expected`. Returns the new revision.
async fn put(link: &Link, list: List, key: &str, bytes: Vec<u8>, expected: Option<u64>) -> Result<u64, ListFault> {
    let mut message = PublishMessage::build().payload(bytes.into());
    if let Some(revision) = expected {
        message = message.expected_last_subject_sequence(revision);
    }
    let fault = |error: jetstream::context::PublishError| match error.kind() {
        PublishErrorKind::WrongLastSequence => ListFault::Raced,
        _ => ListFault::Server(error.to_string()),
    };
    let written = async {
        let acknowledged = link.jetstream().send_publish(list.subject(key), message).await.map_err(fault)?;
        Ok(acknowledged.await.map_err(fault)?.sequence)
    };
    tokio::time::timeout(PATIENCE, written).await.unwrap_or_else(|_| Err(ListFault::Server("no answer".to_owned())))
}

/// Right of one process to coordinate a run.
#[derive(Debug)]
pub(crate) struct Claim {
    entry: RunEntry,
    revision: u64,
    is_first: bool,
}

impl Claim {
    /// Enters a run, or takes it over from a process that is gone. That takes [`TAKEOVER`].
    ///
    /// # Errors
    /// Returns an error if another process coordinates the run, or the server does not answer.
    pub(crate) async fn take(link: &Link, entry: RunEntry) -> Result<Self, ClaimError> {
        Self::take_after(link, entry, TAKEOVER).await
    }

    async fn take_after(link: &Link, entry: RunEntry, silence: Duration) -> Result<Self, ClaimError> {
        let began = Instant::now();
        // Revision of another process's entry, and since when it stands.
        let mut other: Option<(u64, Instant)> = None;
        loop {
            let tried = match get::<RunEntry>(link, List::Runs, &entry.run).await {
                Ok(Some((there, revision))) if there.life != entry.life => match other {
                    Some((seen, _)) if seen != revision => {
                        return Err(ClaimError::Held { run: entry.run, host: there.host });
                    }
                    Some((_, since)) if since.elapsed() > silence => Some(revision),
                    Some(_) => None,
                    None => {
                        other = Some((revision, Instant::now()));
                        None
                    }
                },
                Ok(Some((_, revision))) => Some(revision),
                Ok(None) => Some(last_revision(link, &entry.run).await),
                Err(_) => None,
            };
            if let Some(expected) = tried
                && let Ok(revision) = put(link, List::Runs, &entry.run, wire::to_bytes(&entry), Some(expected)).await
            {
                return Ok(Self { entry, revision, is_first: expected == 0 });
            }
            if began.elapsed() > LIMIT + silence {
                return Err(LinkError::Server { act: "enter the run", why: "no answer".to_owned() }.into());
            }
            tokio::time::sleep(LONGEST_PAUSE.min(silence / 4)).await;
        }
    }

    /// True if nobody has entered the run before, as far as the server knows.
    pub(crate) const fn is_first(&self) -> bool {
        self.is_first
    }

    /// Renews the entry, each [`RENEWAL`]. A server that does not answer is not an error: the next
    /// renewal comes soon.
    ///
    /// # Errors
    /// Returns an error if another process coordinates the run by now.
    pub(crate) async fn renew(&mut self, link: &Link) -> Result<(), ClaimError> {
        self.entry.beat += 1;
        let bytes = wire::to_bytes(&self.entry);
        match put(link, List::Runs, &self.entry.run, bytes, Some(self.revision)).await {
            Ok(revision) => self.revision = revision,
            // A renewal whose acknowledgement was lost, a server whose store was wiped, or another
            // process.
            Err(ListFault::Raced) => match get::<RunEntry>(link, List::Runs, &self.entry.run).await {
                Ok(Some((there, _))) if there.life != self.entry.life => {
                    return Err(ClaimError::Held { run: self.entry.run.clone(), host: there.host });
                }
                Ok(Some((_, revision))) => self.revision = revision,
                Ok(None) => self.revision = last_revision(link, &self.entry.run).await,
                Err(_) => {}
            },
            Err(ListFault::Server(_)) => {
                // It may have lost its store. If it is away, the next renewal creates them.
                let _ = create(link).await;
            }
        }
        Ok(())
    }

    /// Removes the entry.
    pub(crate) async fn release(self, link: &Link) {
        // An entry that stays ages away.
        let _ = put(link, List::Runs, &self.entry.run, Vec::new(), Some(self.revision)).await;
    }
}

/// Revision of an entry that was removed or is damaged; 0 without one.
async fn last_revision(link: &Link, run: &str) -> u64 {
    let Ok(stream) = link.jetstream().get_stream_no_info(List::Runs.stream()).await else { return 0 };
    stream.direct_get_last_for_subject(List::Runs.subject(run)).await.map_or(0, |message| message.sequence)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::cluster::children::PrivateServer;
    use crate::cluster::server::ChildError;
    use crate::cluster::tests::has_server;

    fn entry(life: &str) -> RunEntry {
        RunEntry {
            v: wire::VERSION,
            run: "run-1".to_owned(),
            title: String::new(),
            program: String::new(),
            plan_sha256: String::new(),
            priority: 3,
            weight: 2.0,
            needs: Needs { threads: 2, ..Needs::default() },
            signer: String::new(),
            blobs: Vec::new(),
            simulated: false,
            life: life.to_owned(),
            host: format!("host-of-{life}"),
            beat: 0,
        }
    }

    #[test]
    fn entries_of_other_versions_are_read() {
        let text = br#"{"v":1,"run":"a","plan_sha256":"","signer":"","life":"x","of_tomorrow":1}"#;
        let entry: RunEntry = wire::from_bytes(text).unwrap();
        assert_eq!((entry.priority, entry.weight, entry.needs), (0, 1.0, Needs::default()));
        assert!(wire::from_bytes::<WorkerEntry>(br#"{"v":1,"name":"anna.box"}"#).is_ok());
    }

    /// A server and a connection to it; `None`, said loudly, without a server to test with.
    async fn server(test: &str) -> Option<(PrivateServer, Link)> {
        let (server, link) = match PrivateServer::start().await {
            Ok(started) => started,
            Err(ChildError::NotInstalled) => {
                crate::skip::skip(test, "no program nats-server");
                return None;
            }
            Err(error) => panic!("{error}"),
        };
        create(&link).await.unwrap();
        Some((server, link))
    }

    #[tokio::test]
    async fn a_run_has_one_coordinator() {
        let Some((_server, link)) = server("a_run_has_one_coordinator").await else { return };
        let short = Duration::from_millis(40);
        let mut first = Claim::take_after(&link, entry("one"), short).await.unwrap();
        // The same process again, after a lost acknowledgement.
        let again = Claim::take_after(&link, entry("one"), short).await.unwrap();
        assert!(again.revision > first.revision);
        first.renew(&link).await.unwrap();
        first.renew(&link).await.unwrap();
        // As long as the first one lives, a second one is refused.
        let is_over = Cell::new(false);
        let renewing = async {
            while !is_over.get() {
                first.renew(&link).await.unwrap();
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let taking = async {
            let taken = Claim::take_after(&link, entry("two"), Duration::from_mins(5)).await;
            is_over.set(true);
            taken.unwrap_err()
        };
        // The last renewal is acknowledged, so none arrives later.
        let ((), refused) = tokio::join!(renewing, taking);
        assert!(refused.to_string().contains("another process coordinates it, on host-of-one"), "{refused}");
        // Once it is silent, the second one takes over, and the first one hears of it.
        let second = Claim::take_after(&link, entry("two"), short).await.unwrap();
        let lost = first.renew(&link).await.unwrap_err();
        assert!(lost.to_string().contains("host-of-two"), "{lost}");
        assert_eq!(read::<RunEntry>(&link, List::Runs).await.unwrap(), [entry("two")]);
        second.release(&link).await;
        assert_eq!(read::<RunEntry>(&link, List::Runs).await.unwrap(), []);
        // A run that was over is entered again at once.
        Claim::take_after(&link, entry("three"), Duration::from_mins(5)).await.unwrap();
    }

    #[tokio::test]
    async fn workers_are_listed_by_user_and_machine() {
        let Some((_server, link)) = server("workers_are_listed_by_user_and_machine").await else { return };
        let worker =
            |name: &str| WorkerEntry { v: wire::VERSION, name: name.to_owned(), slots: 2, ..WorkerEntry::default() };
        for name in ["anna.box", "ben.laptop", "anna.box"] {
            put_worker(&link, &worker(name)).await;
        }
        let mut found: Vec<WorkerEntry> = read(&link, List::Workers).await.unwrap();
        found.sort_by(|a, b| a.name.cmp(&b.name));
        assert_eq!(found, [worker("anna.box"), worker("ben.laptop")]);
        // An entry under the key of another one is nobody's, and no message empties the list.
        put(&link, List::Workers, "carl.x", wire::to_bytes(&worker("anna.box")), None).await.unwrap();
        let rollup = PublishMessage::build().header("Nats-Rollup", "all").payload("{}".into());
        let refused = link.jetstream().send_publish(List::Workers.subject("carl.y"), rollup).await.unwrap().await;
        assert!(refused.is_err(), "{refused:?}");
        let mut found: Vec<WorkerEntry> = read(&link, List::Workers).await.unwrap();
        found.sort_by(|a, b| a.name.cmp(&b.name));
        assert_eq!(found, [worker("anna.box"), worker("ben.laptop")]);
    }

    #[tokio::test]
    async fn lists_of_an_earlier_version_are_updated() {
        if !has_server("lists_of_an_earlier_version_are_updated") {
            return;
        }
        let (_server, link) = PrivateServer::start().await.unwrap();
        let earlier = Config { allow_rollup: true, max_bytes: -1, ..List::Workers.config() };
        link.jetstream().create_stream(earlier).await.unwrap();
        create(&link).await.unwrap();
        update(&link).await.unwrap();
        let stream = link.jetstream().get_stream(List::Workers.stream()).await.unwrap();
        let config = &stream.cached_info().config;
        assert_eq!((config.allow_rollup, config.max_bytes), (false, MOST_BYTES));
    }
}
