//! Errors of the batch service.

use crate::train::SourceError;
use std::io;

/// Failure of the batch service.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Batch that is too large.
    #[error(
        "--batch {count}: a batch of {bytes} bytes, at most {limit} may be; give a smaller --batch, or --sparse for a large set"
    )]
    BatchSize {
        /// Positions or triplets of the batch.
        count: usize,
        /// Bytes of the batch.
        bytes: usize,
        /// Largest number of bytes.
        limit: usize,
    },
    /// Name that no segment can have.
    #[error("--shm {name}: write 1 to 30 letters, digits, `-`, `_` or `.`, a letter or digit first")]
    Name {
        /// The name.
        name: String,
    },
    /// Segment that exists already.
    #[error(
        "--shm {name}: it exists; another service has it, or was killed: give another name, or remove /dev/shm/{name}"
    )]
    Exists {
        /// The name.
        name: String,
    },
    /// Segment that cannot be made.
    #[error("--shm {name}: cannot {act} {bytes} bytes: {error}; give a smaller --batch, --sparse, or --stdout")]
    Segment {
        /// The name.
        name: String,
        /// The failed act, as in "reserve".
        act: &'static str,
        /// Bytes of the segment.
        bytes: usize,
        /// The cause.
        error: io::Error,
    },
    /// Failed read from or write to the consumer.
    #[error("cannot {act} the consumer: {error}")]
    Consumer {
        /// The failed act, as in "write to".
        act: &'static str,
        /// The cause.
        error: io::Error,
    },
    /// Stream to a terminal.
    #[error("--stdout: a terminal reads no batches; pipe them into a program")]
    Terminal,
    /// System without a thread to give.
    #[error("cannot start a thread: {0}; give fewer --threads")]
    Thread(io::Error),
    /// Data that cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
}
