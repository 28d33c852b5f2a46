//! Ways of a batch to its consumer: shared memory with a handshake, or a stream.

use super::batch::BatchShape;
use super::error::ServeError;
use super::segment::{SLOTS, SharedSegment};
use std::io::{self, Read, Write};

/// Byte of the handshake.
pub(super) const READY: u8 = 64;

/// Presence of a consumer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Consumer {
    /// It takes batches.
    Present,
    /// It has closed its end.
    Gone,
}

/// Way of batches to a consumer.
pub(super) trait BatchOutlet {
    /// Hands over a batch; `number` counts from 1.
    fn send(&mut self, number: u64, positions: u32, payload: &[u8]) -> Result<Consumer, ServeError>;

    /// Waits until the consumer has all batches.
    fn finish(&mut self) -> Result<(), ServeError>;
}

/// Writes all bytes. A closed pipe means that the consumer is gone.
fn write(out: &mut impl Write, parts: &[&[u8]]) -> Result<Consumer, ServeError> {
    let done = parts.iter().try_for_each(|part| out.write_all(part)).and_then(|()| out.flush());
    match done {
        Ok(()) => Ok(Consumer::Present),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Consumer::Gone),
        Err(error) => Err(ServeError::Consumer { act: "write to", error }),
    }
}

/// Stream: the header; then for each batch its number, u64, its positions and the length of its
/// payload, u32 each, and the payload.
pub(super) struct StreamOutlet<W> {
    out: W,
    header: Option<Vec<u8>>,
}

impl<W: Write> StreamOutlet<W> {
    pub(super) fn new(out: W, shape: &BatchShape) -> StreamOutlet<W> {
        StreamOutlet { out, header: Some(shape.header().to_vec()) }
    }
}

impl<W: Write> BatchOutlet for StreamOutlet<W> {
    fn send(&mut self, number: u64, positions: u32, payload: &[u8]) -> Result<Consumer, ServeError> {
        let header = self.header.take().unwrap_or_default();
        let length = payload.len() as u32;
        let parts: [&[u8]; 5] =
            [&header, &number.to_le_bytes(), &positions.to_le_bytes(), &length.to_le_bytes(), payload];
        write(&mut self.out, &parts)
    }

    fn finish(&mut self) -> Result<(), ServeError> {
        Ok(())
    }
}

/// Shared memory. A byte to the consumer says that the next batch lies in its slot, a byte from it
/// that it has copied one. While the consumer copies a slot, the other one is filled.
pub(super) struct SharedOutlet<R, W> {
    segment: SharedSegment,
    from: R,
    to: W,
    sent: usize,
    copied: usize,
}

impl<R: Read, W: Write> SharedOutlet<R, W> {
    pub(super) fn new(segment: SharedSegment, from: R, to: W) -> SharedOutlet<R, W> {
        SharedOutlet { segment, from, to, sent: 0, copied: 0 }
    }

    /// Waits until at most `left` batches are not copied.
    fn wait(&mut self, left: usize) -> Result<Consumer, ServeError> {
        while self.sent - self.copied > left {
            let mut byte = [0];
            match self.from.read(&mut byte) {
                Ok(0) => return Ok(Consumer::Gone),
                Ok(_) => self.copied += 1,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(ServeError::Consumer { act: "read from", error }),
            }
            // The consumer has mapped the segment, so nobody needs its name any more.
            self.segment.unlink();
        }
        Ok(Consumer::Present)
    }
}

impl<R: Read, W: Write> BatchOutlet for SharedOutlet<R, W> {
    fn send(&mut self, number: u64, positions: u32, payload: &[u8]) -> Result<Consumer, ServeError> {
        if self.wait(SLOTS - 1)? == Consumer::Gone {
            return Ok(Consumer::Gone);
        }
        self.segment.fill(self.sent % SLOTS, number, positions, payload);
        self.sent += 1;
        write(&mut self.to, &[&[READY]])
    }

    fn finish(&mut self) -> Result<(), ServeError> {
        self.wait(0).map(|_| ())
    }
}
