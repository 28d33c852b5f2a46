//! Files that workers fetch from the server: programs, named by their SHA-256.
//!
//! A file is a message `blob.SHA.meta` with its size, written last, and messages `blob.SHA.0`, ...
//! with its bytes. Each message is read by its subject, so that workers need no right to make
//! consumers. Several are under way at once, so that distance costs little.

use std::collections::BTreeSet;
use std::error::Error as _;
use std::time::{Duration, SystemTime};

use async_nats::jetstream::context::PublishError;
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::stream::{Config, DirectGetErrorKind, DiscardPolicy, StorageType, Stream};
use async_nats::jetstream::{self, ErrorCode};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, timeout};

use super::link::{LONGEST_PAUSE, Link, LinkError, PATIENCE};
use super::wire;
use crate::text::{self, with_causes};

/// Name of the stream.
const STREAM: &str = "BLOBS";

/// Bytes of a message.
const CHUNK: usize = 128 << 10;

/// Maximum size of a file in bytes.
pub(crate) const MOST_BLOB: u64 = 512 << 20;

/// Messages under way at once.
const WINDOW: usize = 16;

/// Time without a message that arrives, after which a transfer is given up.
const STALLED: Duration = Duration::from_mins(2);

/// Attempts to store all messages of a file, some of which may be removed meanwhile.
const SENDINGS: u32 = 3;

/// Age from which a file that no run names may be removed. A run names its files after they are
/// sent.
pub(crate) const UNNAMED: Duration = Duration::from_hours(1);

/// Reason that a file was not sent or fetched.
#[derive(Debug, thiserror::Error)]
pub enum BlobError {
    /// The server does not have it.
    #[error("file {0} is no longer on the hub; the coordinator of the run sends it when the run continues")]
    Missing(String),
    /// The file is too large.
    #[error("file {sha256} has {size} bytes, more than the {most} that are allowed")]
    Large {
        /// SHA-256 of the file.
        sha256: String,
        /// Its size.
        size: u64,
        /// The limit.
        most: u64,
    },
    /// The content does not match the SHA-256.
    #[error("file {0} came damaged from the hub; it is not used")]
    Damaged(String),
    /// The server has no room.
    #[error("file {sha256}: the hub has no room for it ({why}); its owner can give it more with `quintain hub --disk`")]
    Full {
        /// SHA-256 of the file.
        sha256: String,
        /// The server's reason.
        why: String,
    },
    /// The server refuses, or does not answer.
    #[error(
        "file {sha256}: the hub cannot {act} it: {why}; see whether `quintain hub` still runs there, then try again"
    )]
    Server {
        /// SHA-256 of the file.
        sha256: String,
        /// Requested operation.
        act: &'static str,
        /// The reason.
        why: String,
    },
}

/// Description of a file, which says that it is whole.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Meta {
    pub(crate) size: u64,
    chunk: u64,
}

impl Meta {
    /// Number of messages with bytes; `None` for a damaged description.
    fn parts(&self) -> Option<u64> {
        Some(self.size.checked_div(self.chunk)? + u64::from(!self.size.is_multiple_of(self.chunk)))
    }
}

/// Subjects that a reader of files publishes to.
pub(super) fn reader_rights() -> Vec<String> {
    vec![format!("$JS.API.DIRECT.GET.{STREAM}"), format!("$JS.API.DIRECT.GET.{STREAM}.>")]
}

/// Subjects that a writer of files publishes to beyond those of a reader.
pub(super) fn writer_rights() -> Vec<String> {
    vec!["blob.>".to_owned(), format!("$JS.API.STREAM.CREATE.{STREAM}"), format!("$JS.API.STREAM.INFO.{STREAM}")]
}

/// Creates the stream, or checks that it exists.
///
/// # Errors
/// Returns an error if the server has no room for it.
pub(crate) async fn create(link: &Link) -> Result<(), LinkError> {
    let config = Config {
        name: STREAM.to_owned(),
        subjects: vec!["blob.*.*".to_owned()],
        storage: StorageType::File,
        max_messages_per_subject: 1,
        discard: DiscardPolicy::New,
        max_message_size: i32::try_from(2 * CHUNK).unwrap_or(i32::MAX),
        allow_direct: true,
        ..Config::default()
    };
    let created = link.jetstream().get_or_create_stream(config).await;
    created.map(|_| ()).map_err(|error| LinkError::Server { act: "keep files", why: error.to_string() })
}

/// Sends a file, if the server does not have it. Returns its SHA-256.
///
/// # Errors
/// Returns an error if it is too large, or the server refuses or stops answering.
pub(crate) async fn put(link: &Link, bytes: &[u8]) -> Result<String, BlobError> {
    let sha256 = text::sha256(bytes);
    let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    if size > MOST_BLOB {
        return Err(BlobError::Large { sha256, size, most: MOST_BLOB });
    }
    let meta = Meta { size, chunk: CHUNK as u64 };
    let mut is_there = meta_of(link, &sha256).await.is_ok_and(|known| known == meta);
    for _ in 0..SENDINGS {
        if !is_there {
            send(link, &sha256, bytes).await?;
        }
        // Last, so that nobody finds half a file. A file that is there is young again.
        publish(link, &sha256, "meta".to_owned(), wire::to_bytes(&meta)).await?;
        if is_whole(link, &sha256, &meta).await? {
            return Ok(sha256);
        }
        is_there = false;
    }
    Err(BlobError::Server { sha256, act: "store", why: "messages of it are missing again".to_owned() })
}

/// Publishes the bytes of a file.
async fn send(link: &Link, sha256: &str, bytes: &[u8]) -> Result<(), BlobError> {
    let sent = stream::iter(0..bytes.len().div_ceil(CHUNK)).map(|number| {
        let (link, sha256) = (link.clone(), sha256.to_owned());
        let chunk = bytes[number * CHUNK..bytes.len().min((number + 1) * CHUNK)].to_vec();
        async move { publish(&link, &sha256, number.to_string(), chunk).await }
    });
    sent.buffer_unordered(WINDOW).try_collect().await
}

/// Publishes one message of a file until the server has it.
async fn publish(link: &Link, sha256: &str, part: String, bytes: Vec<u8>) -> Result<(), BlobError> {
    let published = repeat(sha256, "store", || {
        let message = PublishMessage::build().payload(bytes.clone().into());
        let sending = link.jetstream().send_publish(subject(sha256, &part), message);
        async {
            match sending.await {
                Ok(sent) => sent.await,
                Err(error) => Err(error),
            }
            .map_err(|error| if is_full(&error) { Fault::Full(with_causes(&error)) } else { passing(error) })
        }
    });
    published.await.map(drop)
}

/// True if the server answered that it has no room, which changes only if files are removed.
fn is_full(error: &PublishError) -> bool {
    let answer = error.source().and_then(|source| source.downcast_ref::<jetstream::Error>());
    answer.is_some_and(|answer| {
        matches!(
            answer.error_code(),
            ErrorCode::ACCOUNT_RESOURCES_EXCEEDED
                | ErrorCode::INSUFFICIENT_RESOURCES
                | ErrorCode::STORAGE_RESOURCES_EXCEEDED
        ) || answer.error_code() == ErrorCode::STREAM_STORE_FAILED && answer.to_string().contains("maximum")
    })
}

/// Reason that an attempt at a message failed.
enum Fault {
    /// The server does not have it.
    Missing,
    /// The server has no room for it.
    Full(String),
    /// Another attempt may succeed.
    Passing(String),
}

fn passing(error: impl std::error::Error + 'static) -> Fault {
    Fault::Passing(with_causes(&error))
}

/// Repeats an operation until the server answers.
async fn repeat<T, F: Future<Output = Result<T, Fault>>>(
    sha256: &str,
    act: &'static str,
    mut attempt: impl FnMut() -> F,
) -> Result<T, BlobError> {
    let began = Instant::now();
    loop {
        let why = match timeout(PATIENCE, attempt()).await {
            Ok(Ok(found)) => return Ok(found),
            Ok(Err(Fault::Missing)) => return Err(BlobError::Missing(sha256.to_owned())),
            Ok(Err(Fault::Full(why))) => return Err(BlobError::Full { sha256: sha256.to_owned(), why }),
            Ok(Err(Fault::Passing(why))) => why,
            Err(_) => "no answer".to_owned(),
        };
        if began.elapsed() > STALLED {
            return Err(BlobError::Server { sha256: sha256.to_owned(), act, why });
        }
        tokio::time::sleep(LONGEST_PAUSE).await;
    }
}

/// Description of a file of at most `most` bytes.
///
/// # Errors
/// Returns an error if the file is missing or larger, or if the server does not answer.
pub(crate) async fn describe(link: &Link, sha256: &str, most: u64) -> Result<Meta, BlobError> {
    let meta = meta_of(link, sha256).await?;
    let most = most.min(MOST_BLOB);
    if meta.size > most {
        return Err(BlobError::Large { sha256: sha256.to_owned(), size: meta.size, most });
    }
    Ok(meta)
}

/// Fetches a file that was [described](describe), and checks it.
///
/// # Errors
/// Returns an error if it is missing or damaged, or if the server stops answering.
pub(crate) async fn get(link: &Link, sha256: &str, meta: &Meta) -> Result<Vec<u8>, BlobError> {
    let damaged = || BlobError::Damaged(sha256.to_owned());
    let parts = stream::iter(0..meta.parts().ok_or_else(damaged)?).map(|number| {
        let (link, sha256) = (link.clone(), sha256.to_owned());
        async move { fetch(&link, &sha256, number.to_string()).await }
    });
    let mut parts = parts.buffered(WINDOW).boxed();
    let mut bytes = Vec::new();
    while let Some(part) = parts.try_next().await? {
        bytes.extend(part);
        if bytes.len() as u64 > meta.size {
            return Err(damaged());
        }
    }
    if text::sha256(&bytes) != sha256 {
        return Err(damaged());
    }
    Ok(bytes)
}

/// True if the server answers that it does not have a file with all its messages.
pub(crate) async fn is_missing(link: &Link, sha256: &str) -> bool {
    let looked = async {
        let meta = meta_of(link, sha256).await?;
        if is_whole(link, sha256, &meta).await? { Ok(()) } else { Err(BlobError::Missing(sha256.to_owned())) }
    };
    matches!(timeout(PATIENCE, looked).await, Ok(Err(BlobError::Missing(_))))
}

/// True if the server has every message of a file. Only a writer of files may ask.
async fn is_whole(link: &Link, sha256: &str, meta: &Meta) -> Result<bool, BlobError> {
    let count = repeat(sha256, "count", || async {
        let subjects = stream_of(link).await?.info_with_subjects(subject(sha256, "*")).await.map_err(passing)?;
        subjects.try_fold(0, |count: u64, _| std::future::ready(Ok(count + 1))).await.map_err(passing)
    });
    let count = count.await?;
    Ok(meta.parts().is_none_or(|parts| count == parts + 1))
}

async fn meta_of(link: &Link, sha256: &str) -> Result<Meta, BlobError> {
    let bytes = fetch(link, sha256, "meta".to_owned()).await?;
    wire::from_bytes(&bytes).map_err(|_| BlobError::Damaged(sha256.to_owned()))
}

/// Fetches one message of a file.
async fn fetch(link: &Link, sha256: &str, part: String) -> Result<Vec<u8>, BlobError> {
    let message = repeat(sha256, "send", || async {
        let stream = stream_of(link).await?;
        stream.direct_get_last_for_subject(subject(sha256, &part)).await.map_err(|error| match error.kind() {
            DirectGetErrorKind::NotFound => Fault::Missing,
            _ => passing(error),
        })
    });
    Ok(message.await?.payload.to_vec())
}

async fn stream_of(link: &Link) -> Result<Stream<()>, Fault> {
    link.jetstream().get_stream_no_info(STREAM).await.map_err(passing)
}

/// Removes files that are not among those to `keep`, and to which nothing was added for longer than
/// `age`: a younger file may be on its way.
///
/// # Errors
/// Returns an error if the server refuses.
pub(crate) async fn sweep(link: &Link, keep: &BTreeSet<String>, age: Duration) -> Result<usize, LinkError> {
    let server = |why: String| LinkError::Server { act: "remove files", why };
    let stream = link.jetstream().get_stream(STREAM).await.map_err(|error| server(error.to_string()))?;
    let subjects = stream.info_with_subjects("blob.>").await.map_err(|error| server(error.to_string()))?;
    let mut subjects = subjects.boxed();
    let mut unwanted = BTreeSet::new();
    while let Some(Ok((subject, _))) = subjects.next().await {
        if let Some(sha256) = subject.split('.').nth(1).filter(|sha256| !keep.contains(*sha256)) {
            unwanted.insert(sha256.to_owned());
        }
    }
    let mut removed = 0;
    for sha256 in &unwanted {
        let newest = stream.direct_get_last_for_subject(subject(sha256, "*")).await;
        let newest = newest.map_err(|error| server(error.to_string()))?;
        // The server is on this machine, and has its clock.
        if !SystemTime::now().duration_since(newest.time.into()).is_ok_and(|since| since > age) {
            continue;
        }
        let purged = stream.purge().filter(subject(sha256, "*")).await;
        purged.map_err(|error| server(error.to_string()))?;
        removed += 1;
    }
    Ok(removed)
}

fn subject(sha256: &str, part: &str) -> String {
    format!("blob.{sha256}.{part}")
}

#[cfg(test)]
mod tests {
    use async_nats::jetstream::context::PublishErrorKind;

    use super::*;

    /// The codes are those of `errors.json` of nats-server.
    #[test]
    fn a_full_server_is_told_from_one_that_is_not_ready() {
        for (code, text, expected) in [
            (10_002, "resource limits exceeded for account", true),
            (10_023, "insufficient resources", true),
            (10_047, "insufficient storage resources available", true),
            (10_077, "maximum bytes exceeded", true),
            (10_077, "store is closed", false),
            (10_008, "JetStream system temporarily unavailable", false),
        ] {
            let answer = format!(r#"{{"code":503,"err_code":{code},"description":"{text}"}}"#);
            let answer: jetstream::Error = serde_json::from_str(&answer).unwrap();
            let error = PublishError::with_source(PublishErrorKind::Other, answer);
            assert_eq!(is_full(&error), expected, "{code}");
        }
        assert!(!is_full(&PublishError::new(PublishErrorKind::TimedOut)));
    }
}
