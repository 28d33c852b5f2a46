//! The connection to the server: the one place that repeats requests and knows the client library.
//!
//! Nothing fails when the connection is lost. A request in flight waits out its time limit, a
//! publish is accepted and may arrive long after its own limit. So every wait has a limit of its
//! own, every request is repeated, and a result is published again with the same id until it is
//! acknowledged.

use std::time::Duration;

use async_nats::jetstream::consumer::{AckPolicy, pull};
use async_nats::jetstream::stream::{Config, DiscardPolicy, StorageType};
use async_nats::jetstream::{self, message::PublishMessage};
use async_nats::{Client, ConnectOptions, Message, Subscriber};
use futures_util::StreamExt as _;
use serde::Serialize;
use tokio::sync::mpsc;

use super::wire;

/// Time limit of a request. The server's client would wait 10 s.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

/// Time limit of a connection, which a loaded machine needs most of.
const CONNECT_LIMIT: Duration = Duration::from_mins(1);

/// Longest pause between two attempts to connect.
pub(super) const LONGEST_PAUSE: Duration = Duration::from_millis(500);

/// Interval of the client's own signs of life, by which a silent connection is noticed.
const PING: Duration = Duration::from_secs(10);

/// Messages that a subscription holds until they are read.
const CAPACITY: usize = 1 << 20;

/// Name of the stream of results.
const STREAM: &str = "QRES";

/// Time for which the server recognises a result that is sent again.
const DUPLICATES: Duration = Duration::from_mins(10);

/// Age at which the server drops a result that nobody took.
const OLDEST: Duration = Duration::from_hours(7 * 24);

/// Most bytes of stored results.
const MOST_BYTES: i64 = 1 << 30;

/// Most bytes of one result.
pub(super) const MOST_MESSAGE: i32 = 8 << 20;

/// Results that the coordinator may hold unacknowledged.
const MOST_UNACKNOWLEDGED: i64 = 20_000;

/// Reason that a server cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// The address is none, nobody answers, or the credentials are wrong.
    #[error("{url}: cannot connect: {why}")]
    Connect {
        /// Address without its password.
        url: String,
        /// The client's reason.
        why: String,
    },
    /// The server cannot do what is needed.
    #[error("the server cannot {act}: {why}; it needs JetStream (`nats-server -js`)")]
    Server {
        /// Requested operation.
        act: &'static str,
        /// The server's reason.
        why: String,
    },
}

/// Address of a server, with the credentials of one user.
#[derive(Clone, Debug)]
pub(crate) struct Address {
    /// Host and port.
    pub(crate) url: String,
    /// User name.
    pub(crate) user: String,
    /// Password; never in an argument list.
    pub(crate) password: String,
}

/// Connection of a coordinator or a worker.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    client: Client,
    jetstream: jetstream::Context,
}

impl Link {
    /// Connects. `name` is this process in the server's lists, and keeps its replies apart from
    /// those of others.
    ///
    /// # Errors
    /// Returns an error if nobody answers or the credentials are refused.
    pub(crate) async fn open(address: &Address, name: &str) -> Result<Self, LinkError> {
        let options = ConnectOptions::new()
            .user_and_password(address.user.clone(), address.password.clone())
            .name(name)
            .custom_inbox_prefix(format!("_INBOX_{name}"))
            .ping_interval(PING)
            .connection_timeout(CONNECT_LIMIT)
            .request_timeout(Some(PATIENCE))
            .subscription_capacity(CAPACITY)
            .reconnect_delay_callback(|tries| {
                LONGEST_PAUSE.min(Duration::from_millis(20).saturating_mul(u32::try_from(tries).unwrap_or(u32::MAX)))
            });
        let connected = options.connect(&address.url).await;
        let client = connected
            .map_err(|error| LinkError::Connect { url: address.url.clone(), why: crate::text::with_causes(&error) })?;
        let mut jetstream = jetstream::new(client.clone());
        jetstream.set_timeout(PATIENCE);
        Ok(Self { client, jetstream })
    }

    /// Server-side storage, for requests that their caller repeats.
    pub(super) const fn jetstream(&self) -> &jetstream::Context {
        &self.jetstream
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

    /// Publishes a result. Repeats it with the same `id` until the server has it.
    pub(crate) async fn publish(&self, subject: String, id: String, bytes: Vec<u8>) {
        loop {
            let message = PublishMessage::build().payload(bytes.clone().into()).message_id(&id);
            if let Ok(Ok(acknowledged)) =
                tokio::time::timeout(PATIENCE, self.jetstream.send_publish(subject.clone(), message)).await
                && let Ok(Ok(_)) = tokio::time::timeout(PATIENCE, acknowledged).await
            {
                return;
            }
            tokio::time::sleep(LONGEST_PAUSE).await;
        }
    }

    /// Creates the stream of results, or checks that it is there.
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
            max_bytes: MOST_BYTES,
            max_age: OLDEST,
            duplicate_window: DUPLICATES,
            max_message_size: MOST_MESSAGE,
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
        self.create_stream().await?;
        let stream = self.jetstream.get_stream(STREAM).await?;
        let config = pull::Config {
            durable_name: Some(run.to_owned()),
            filter_subject: format!("q.{run}.res.>"),
            ack_policy: AckPolicy::Explicit,
            max_ack_pending: MOST_UNACKNOWLEDGED,
            ..pull::Config::default()
        };
        let consumer = stream.get_or_create_consumer(run, config).await?;
        Ok(consumer.stream().heartbeat(Duration::from_secs(5)).messages().await?)
    }
}

/// Subject of the requests of a run.
pub(crate) fn subject(run: &str, what: &str) -> String {
    format!("q.{run}.{what}")
}

/// Address that a request is answered at.
pub(crate) fn reply_to(message: &Message) -> Option<String> {
    message.reply.as_ref().map(ToString::to_string)
}
