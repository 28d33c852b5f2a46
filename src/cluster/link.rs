//! The connection to the server: the one place that repeats requests and knows the client library.
//!
//! Nothing fails when the connection is lost. A request in flight waits out its time limit, a
//! publish is accepted and may arrive long after its own limit. So every wait has a limit of its
//! own, every request is repeated, and a result is published again with the same id until it is
//! acknowledged.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_nats::jetstream::consumer::{AckPolicy, PullConsumer, pull};
use async_nats::jetstream::context::PublishErrorKind;
use async_nats::jetstream::stream::{Config, DiscardPolicy, RetentionPolicy, StorageType};
use async_nats::jetstream::{self, message::PublishMessage};
use async_nats::{Client, ClientError, ConnectError, ConnectErrorKind, ConnectOptions, Event, Message, Subscriber};
use futures_util::StreamExt as _;
use serde::Serialize;
use tokio::sync::mpsc;

use super::access::{Access, flag_of};
use super::wire;
use crate::text::is_user_name;

/// Time limit of a request. The server's client would wait 10 s.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

/// Time limit of a connection, which a loaded machine needs most of.
const CONNECT_LIMIT: Duration = Duration::from_mins(1);

/// Message about a lost connection.
pub(super) const LOST: &str = "the hub does not answer; look whether `quintain hub` runs there";

/// Longest pause between two attempts to connect.
pub(super) const LONGEST_PAUSE: Duration = Duration::from_millis(500);

/// Interval of the client's own signs of life, by which a silent connection is noticed.
const PING: Duration = Duration::from_secs(10);

/// Messages that a subscription holds until they are read.
const CAPACITY: usize = 1 << 20;

/// Refusal of the credentials.
const REFUSED: ConnectErrorKind = ConnectErrorKind::AuthorizationViolation;

/// Name of the stream of results.
const STREAM: &str = "QRES";

/// Time for which the server recognises a result that is sent again. The coordinator recognises
/// later ones by their lease.
const DUPLICATES: Duration = Duration::from_mins(1);

/// Age at which the server drops a result that nobody took.
const OLDEST: Duration = Duration::from_hours(7 * 24);

/// Time after which results of a run without a coordinator are not stored any more.
const LONGEST_ABSENCE: Duration = Duration::from_hours(24);

/// Maximum size of stored results in bytes.
const MOST_BYTES: i64 = 1 << 30;

/// Attempts to have the results of a run stored, each as long as a request may take.
const STORE_ATTEMPTS: u32 = 5;

/// Results that the coordinator may hold unacknowledged.
const MOST_UNACKNOWLEDGED: i64 = 20_000;

/// Maximum length of a session's name in bytes: a user's name and the number of a life.
const LONGEST_SESSION: usize = 64;

/// Reason that a server cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// No server listens at the address.
    #[error("{url}: nothing listens there; is `quintain hub` running on that machine, and its port open?")]
    NoHub {
        /// Address of the hub.
        url: String,
    },
    /// The credentials are unknown.
    #[error(
        "{url}: the hub does not accept user {user}, who was revoked or invited again; its owner can make new credentials with `quintain hub invite {user}{flag}`"
    )]
    Refused {
        /// Address of the hub.
        url: String,
        /// Name of the user.
        user: String,
        /// Flag of the invitation for the user's role.
        flag: &'static str,
    },
    /// Another server is at the address.
    #[error(
        "{url}: the hub's certificate is not that of the invitation: another server answers there, or the hub was set up again; ask its owner for a new invitation"
    )]
    Certificate {
        /// Address of the hub.
        url: String,
    },
    /// The connection failed otherwise.
    #[error("{url}: cannot connect: {why}; is the address right, and does `quintain hub` run there?")]
    Connect {
        /// Address of the hub.
        url: String,
        /// The client's reason.
        why: String,
    },
    /// The server cannot do what is needed.
    #[error(
        "the hub's server cannot {act}: {why}; see whether `quintain hub` still runs there and its disk has room, then try again"
    )]
    Server {
        /// Requested operation.
        act: &'static str,
        /// The server's reason.
        why: String,
    },
}

/// Connection of a coordinator or a worker.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    client: Client,
    jetstream: jetstream::Context,
    is_refused: Arc<AtomicBool>,
    /// True while the connection is lost.
    is_lost: Arc<AtomicBool>,
    /// Reason that the server does not store results at present.
    unstored: Arc<Mutex<Option<String>>>,
    /// Ids of results that the server has not stored yet.
    unsent: Arc<Mutex<BTreeSet<String>>>,
}

impl Link {
    /// Connects. `name` is this process in the server's lists, and keeps its replies apart from
    /// those of other processes of the same user.
    ///
    /// # Errors
    /// Returns an error if nobody answers, or if the credentials or the hub's certificate are not
    /// accepted.
    pub(crate) async fn open(access: &Access, name: &str) -> Result<Self, LinkError> {
        let is_refused = Arc::new(AtomicBool::new(false));
        let is_lost = Arc::new(AtomicBool::new(false));
        let (seen, lost) = (Arc::clone(&is_refused), Arc::clone(&is_lost));
        let options = to_server(access)
            .user_and_password(access.user.clone(), access.password.clone())
            .name(name)
            .custom_inbox_prefix(format!("_INBOX.{}.{name}", access.user))
            .event_callback(move |event| {
                match &event {
                    Event::Connected => {
                        seen.store(false, Ordering::Relaxed);
                        lost.store(false, Ordering::Relaxed);
                    }
                    Event::Disconnected => lost.store(true, Ordering::Relaxed),
                    Event::ClientError(ClientError::Other(why)) if *why == REFUSED.to_string() => {
                        seen.store(true, Ordering::Relaxed);
                    }
                    Event::ServerError(error) => tracing::warn!("the hub refuses: {error}"),
                    _ => {}
                }
                std::future::ready(())
            })
            .ping_interval(PING)
            .request_timeout(Some(PATIENCE))
            .subscription_capacity(CAPACITY)
            .reconnect_delay_callback(|tries| {
                LONGEST_PAUSE.min(Duration::from_millis(20).saturating_mul(u32::try_from(tries).unwrap_or(u32::MAX)))
            });
        let client = options.connect(&access.url).await.map_err(|error| connect_error(access, &error))?;
        let mut jetstream = jetstream::new(client.clone());
        jetstream.set_timeout(PATIENCE);
        Ok(Self { client, jetstream, is_refused, is_lost, unstored: Arc::default(), unsent: Arc::default() })
    }

    /// True while the hub refuses the credentials at each attempt to connect again.
    pub(crate) fn is_refused(&self) -> bool {
        self.is_refused.load(Ordering::Relaxed)
    }

    /// True while there is no connection.
    pub(crate) fn is_lost(&self) -> bool {
        self.is_lost.load(Ordering::Relaxed)
    }

    /// Server-side storage, for requests that their caller repeats.
    pub(super) const fn jetstream(&self) -> &jetstream::Context {
        &self.jetstream
    }

    /// Version of the server, as it names it.
    pub(super) fn server_version(&self) -> String {
        crate::text::printable(&self.client.server_info().version)
    }

    /// Sends a request, once. `None` if no answer came in time.
    pub(crate) async fn ask<T: Serialize>(&self, subject: String, message: &T) -> Option<Vec<u8>> {
        let bytes = wire::to_bytes(message);
        let asked = tokio::time::timeout(PATIENCE, self.client.request(subject, bytes.into())).await;
        asked.ok()?.ok().map(|message| message.payload.to_vec())
    }

    /// Answers a request.
    pub(crate) async fn answer<T: Serialize>(&self, to: &str, message: &T) {
        // An answer that is lost is asked for again.
        let _ = self.client.publish(to.to_owned(), wire::to_bytes(message).into()).await;
    }

    /// Publishes an empty message, once. It reaches those who listen now.
    pub(crate) async fn say(&self, subject: String) {
        let _ = self.client.publish(subject, Vec::new().into()).await;
    }

    /// Subscribes to requests. When this returns, the server knows of the subscription.
    ///
    /// # Errors
    /// Returns an error if the server refuses or is gone.
    pub(crate) async fn requests(&self, subject: String) -> Result<Subscriber, LinkError> {
        let server = |why: String| LinkError::Server { act: "pass requests on", why };
        let subscriber = self.client.subscribe(subject).await.map_err(|error| server(error.to_string()))?;
        self.client.flush().await.map_err(|error| server(error.to_string()))?;
        Ok(subscriber)
    }

    /// Publishes a result. Repeats it with the same `id` until the server has it. It is unsent from
    /// this call on.
    pub(crate) fn publish(&self, subject: String, id: String, bytes: Vec<u8>) -> impl Future<Output = ()> + use<> {
        self.unsent().insert(id.clone());
        let link = self.clone();
        async move {
            link.store(subject, &id, bytes).await;
            link.unsent().remove(&id);
        }
    }

    async fn store(&self, subject: String, id: &str, bytes: Vec<u8>) {
        loop {
            let message = PublishMessage::build().payload(bytes.clone().into()).message_id(id);
            let stored = async { self.jetstream.send_publish(subject.clone(), message).await?.await };
            match tokio::time::timeout(PATIENCE, stored).await {
                Ok(Ok(_)) => {
                    *self.unstored() = None;
                    return;
                }
                // The server answered, and does not take it: it is full.
                Ok(Err(error)) if error.kind() == PublishErrorKind::Other => {
                    *self.unstored() = Some(crate::text::with_causes(&error));
                }
                _ => {}
            }
            tokio::time::sleep(LONGEST_PAUSE).await;
        }
    }

    /// Reason that the server does not store results at present, if it has none.
    pub(crate) fn why_unstored(&self) -> Option<String> {
        self.unstored().clone()
    }

    /// Number of results that the server has not stored yet.
    pub(crate) fn count_unsent(&self) -> usize {
        self.unsent().len()
    }

    /// True if the server has not stored the result with this id yet.
    pub(crate) fn is_unsent(&self, id: &str) -> bool {
        self.unsent().contains(id)
    }

    fn unsent(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.unsent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn unstored(&self) -> MutexGuard<'_, Option<String>> {
        // No step under the lock can leave the text half changed.
        self.unstored.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Creates the stream of results, or checks that it exists.
    ///
    /// # Errors
    /// Returns an error if the server has no JetStream or no room for it.
    pub(crate) async fn create_stream(&self) -> Result<(), LinkError> {
        let config = Config {
            name: STREAM.to_owned(),
            subjects: vec!["q.*.res.>".to_owned()],
            storage: StorageType::File,
            // A full stream is an error that the worker sees, never a silent loss.
            discard: DiscardPolicy::New,
            // Results are stored until their run's coordinator has them in a journal, and results
            // of runs that no coordinator reads are not stored at all.
            retention: RetentionPolicy::Interest,
            max_bytes: MOST_BYTES,
            max_age: OLDEST,
            duplicate_window: DUPLICATES,
            max_message_size: wire::MOST_MESSAGE,
            ..Config::default()
        };
        let created = self.jetstream.get_or_create_stream(config).await;
        created.map(|_| ()).map_err(|error| LinkError::Server { act: "keep results", why: error.to_string() })
    }

    /// Passes the results of a run on, as long as anybody reads them. A lost server is waited for,
    /// and a stream that is gone is created again.
    pub(crate) async fn results(self, run: String, to: mpsc::UnboundedSender<jetstream::Message>) {
        while !to.is_closed() {
            if let Ok(mut messages) = self.messages(&run).await {
                // The client ends the stream with an error when the server was gone.
                while let Some(Ok(message)) = messages.next().await {
                    if to.send(message).is_err() {
                        return;
                    }
                }
            }
            tokio::time::sleep(LONGEST_PAUSE).await;
        }
    }

    async fn messages(&self, run: &str) -> Result<pull::Stream, Box<dyn std::error::Error + Send + Sync>> {
        let consumer = self.reader(run).await?;
        Ok(consumer.stream().heartbeat(Duration::from_secs(5)).messages().await?)
    }

    /// Has the server store the results of a run from now on. A server that is being started again
    /// is waited for.
    ///
    /// # Errors
    /// Returns an error if the server has no JetStream or no room for it.
    pub(crate) async fn store_results(&self, run: &str) -> Result<(), LinkError> {
        for _ in 1..STORE_ATTEMPTS {
            if self.reader(run).await.is_ok() {
                return Ok(());
            }
            tokio::time::sleep(LONGEST_PAUSE).await;
        }
        let created = self.reader(run).await;
        created.map(drop).map_err(|error| LinkError::Server { act: "keep results", why: error.to_string() })
    }

    /// Reader of a run's results on the server.
    async fn reader(&self, run: &str) -> Result<PullConsumer, Box<dyn std::error::Error + Send + Sync>> {
        self.create_stream().await?;
        let stream = self.jetstream.get_stream(STREAM).await?;
        let config = pull::Config {
            durable_name: Some(run.to_owned()),
            filter_subject: format!("q.{run}.res.>"),
            ack_policy: AckPolicy::Explicit,
            max_ack_pending: MOST_UNACKNOWLEDGED,
            inactive_threshold: LONGEST_ABSENCE,
            ..pull::Config::default()
        };
        Ok(stream.get_or_create_consumer(run, config).await?)
    }
}

/// Settings of a connection without credentials.
pub(super) fn to_server(access: &Access) -> ConnectOptions {
    let options = ConnectOptions::new()
        .ignore_discovered_servers()
        .require_tls(access.url.starts_with("tls"))
        .connection_timeout(CONNECT_LIMIT);
    match access.tls() {
        Some(tls) => options.tls_client_config(tls),
        None => options,
    }
}

/// Answer of a server to a client that connects.
#[derive(Debug)]
pub(crate) enum Door {
    /// The server accepts the client.
    Open,
    /// The server refuses the client.
    Shut,
    /// Neither; for example, the server does not answer.
    Unknown(String),
}

/// Tries to connect, with the credentials or with none.
pub(crate) async fn door(access: &Access, with_credentials: bool) -> Door {
    let mut options = to_server(access);
    if with_credentials {
        options = options.user_and_password(access.user.clone(), access.password.clone());
    }
    match options.connect(&access.url).await {
        Ok(_) => Door::Open,
        Err(error) if error.kind() == REFUSED => Door::Shut,
        Err(error) => Door::Unknown(crate::text::with_causes(&error)),
    }
}

/// Reason that a connection failed, with its remedy.
fn connect_error(access: &Access, error: &ConnectError) -> LinkError {
    let url = access.url.clone();
    let why = crate::text::with_causes(error);
    // An error of TLS comes as one of reading and writing.
    let is_tls = || std::iter::successors(std::error::Error::source(error), |error| error.source());
    match error.kind() {
        ConnectErrorKind::AuthorizationViolation => {
            LinkError::Refused { url, user: access.user.clone(), flag: flag_of(access.role) }
        }
        ConnectErrorKind::Io
            if why.contains("invalid peer certificate") || why.contains("not that of the invitation") =>
        {
            LinkError::Certificate { url }
        }
        ConnectErrorKind::Io if is_tls().any(is_refused_by_system) => LinkError::NoHub { url },
        _ => LinkError::Connect { url, why },
    }
}

fn is_refused_by_system(error: &(dyn std::error::Error + 'static)) -> bool {
    let error = error.downcast_ref::<std::io::Error>();
    error.is_some_and(|error| error.kind() == std::io::ErrorKind::ConnectionRefused)
}

/// Subject of the requests of a run from all its workers.
pub(crate) fn subject(run: &str, what: &str) -> String {
    format!("q.{run}.{what}.*")
}

/// Subject of the requests of a run from one worker, given its session. The hub lets a user use
/// only subjects that end with the user's name, so the name identifies the sender.
pub(crate) fn subject_of(run: &str, what: &str, session: &str) -> String {
    format!("q.{run}.{what}.{}", worker_name(session))
}

/// Subject of a coordinator's calls to all workers of a run.
pub(crate) fn call(run: &str) -> String {
    format!("q.{run}.ctl")
}

/// Name of a worker: its session without the last part, which distinguishes its lives.
pub(crate) fn worker_name(session: &str) -> &str {
    session.rsplit_once('-').map_or(session, |(name, _)| name)
}

/// True if the sender of a message is the worker that the message names. The hub checks the user in
/// the subject. The rest of the session is the sender's choice, and stands in lists and lines.
pub(crate) fn is_from(subject: &str, session: &str) -> bool {
    is_user_name(session, LONGEST_SESSION) && subject.rsplit('.').next() == Some(worker_name(session))
}

/// Address that a request is answered at. Only inboxes get answers: the coordinator has rights that
/// the sender has not, and would use them for whoever names another subject.
pub(crate) fn reply_to(message: &Message) -> Option<String> {
    message.reply.as_ref().map(ToString::to_string).filter(|reply| is_inbox(reply))
}

/// True for a subject of replies.
fn is_inbox(subject: &str) -> bool {
    subject.starts_with("_INBOX.") && !subject.contains(['*', '>', ' '])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_its_users_name_and_a_short_number() {
        let longest = format!("{}-{}", "a".repeat(32), "0".repeat(31));
        for (session, is) in [
            ("anna-box-1a2b3c4d", true),
            (longest.as_str(), true),
            (format!("{longest}0").as_str(), false),
            ("ben-1", false),
            ("anna-box-1\nnote: ben-1", false),
            ("anna-box-\u{1b}[2J", false),
            ("anna-box-A", false),
            ("", false),
        ] {
            let user = if session.starts_with("aaa") { "a".repeat(32) } else { "anna-box".to_owned() };
            assert_eq!(is_from(&format!("q.run.beat.{user}"), session), is, "{session}");
        }
    }

    #[test]
    fn only_inboxes_get_answers() {
        for (subject, is) in [
            ("_INBOX.anna.worker-1.x.y", true),
            ("$JS.API.STREAM.PURGE.QRES", false),
            ("q.run.res.ben", false),
            ("_INBOX.>", false),
            ("_INBOXED.x", false),
            ("", false),
        ] {
            assert_eq!(is_inbox(subject), is, "{subject}");
        }
    }
}
