//! A coordinator that resumes a run: it listens before it hands out pairs.
//!
//! Workers keep playing without a coordinator. In their signs of life they name what they play and
//! what they have sent. Results of theirs wait in the stream.

use std::time::Duration;

use async_nats::Subscriber;
use async_nats::jetstream;
use futures_util::{FutureExt as _, StreamExt as _};
use tokio::time::Instant;

use super::super::learnt::LearntLeases;
use super::super::leases::Attempt;
use super::super::link::{Link, LinkError, call, subject};
use super::super::wire::Heartbeat;
use super::Coordinator;
use super::results::NamedLease;
use crate::record::PairId;
use crate::schedule::remote::{RemoteEvent, Seat};
use crate::text::count;
use crate::tournament::events::PairTask;

/// Time for which workers are heard: two signs of life and a reconnection.
const LISTENING: Duration = Duration::from_secs(12);

/// Time for which they are heard in any case after the run was entered. Results are read from then
/// on.
const LEAST_LISTENING: Duration = Duration::from_secs(3);

/// Signs of life that nobody answers yet. It begins before the run is entered, which takes as long
/// if the last coordinator was killed.
pub(in crate::cluster) struct Listening {
    beats: Subscriber,
    since: Instant,
}

impl Listening {
    /// Begins to listen to the workers of a run.
    ///
    /// # Errors
    /// Returns an error if the server refuses or is gone.
    pub(in crate::cluster) async fn start(link: &Link, run: &str) -> Result<Self, LinkError> {
        Ok(Self { beats: link.requests(subject(run, "beat")).await?, since: Instant::now() })
    }
}

/// Leases that are being learnt, and the end of the listening.
pub(super) struct PastLeases {
    leases: LearntLeases<jetstream::Message>,
    until: Instant,
    /// Pairs that stay with their workers.
    kept: u64,
}

impl Coordinator {
    /// Goes on with a run that another process coordinated.
    pub(in crate::cluster) fn going_on(mut self, first: Listening) -> Self {
        let until = (first.since + LISTENING).max(Instant::now() + LEAST_LISTENING);
        self.past = Some(PastLeases { leases: LearntLeases::new(self.leases.next()), until, kept: 0 });
        self.heard_before = Some(first.beats);
        self
    }

    /// Hears the signs of life that have come before the run was entered, and asks for others.
    pub(super) async fn begin_to_listen(&mut self) {
        let Some(mut beats) = self.heard_before.take() else { return };
        while let Some(Some(message)) = beats.next().now_or_never() {
            self.on_beat(&message).await;
        }
        self.link.say(call(&self.run)).await;
    }

    /// Records what a worker plays, if leases are still learnt. True if they are not known yet.
    pub(super) fn learn(&mut self, beat: &Heartbeat) -> bool {
        let Some(past) = &mut self.past else { return false };
        if past.leases.listens() {
            let named = beat.held.iter().chain(&beat.sent);
            past.leases.record(&beat.worker, named.map(|(pair, attempt)| (PairId(*pair), Attempt(*attempt))));
            for (pair, attempt) in &beat.back {
                past.leases.give_back(&beat.worker, PairId(*pair), Attempt(*attempt));
            }
        }
        true
    }

    /// Keeps a result until the leases are known, unless they are.
    pub(super) fn keep(&mut self, message: jetstream::Message) -> Option<jetstream::Message> {
        let Some(past) = &mut self.past else { return Some(message) };
        if past.leases.listens()
            && let Some(named) = NamedLease::of(&message)
        {
            past.leases.record(&named.session, [(named.pair, named.attempt)]);
        }
        past.leases.keep(message);
        None
    }

    /// Asks the dispatcher for the pairs that workers play, once these have been heard.
    pub(super) async fn end_listening(&mut self) {
        let Some(past) = self.past.as_mut().filter(|past| past.leases.listens() && past.until <= Instant::now()) else {
            return;
        };
        self.leases.continue_from(past.leases.first());
        let next = &mut self.next_seat;
        let asked = past.leases.ask(|| {
            *next += 1;
            Seat(*next - 1)
        });
        for (seat, pair) in asked {
            self.tell(RemoteEvent::Holds { seat, pair });
        }
        self.resume().await;
    }

    /// Takes the answer for a pair that a worker plays. False if the seat is another one.
    pub(super) async fn on_learnt(&mut self, seat: Seat, task: Option<&PairTask>) -> bool {
        let Some((pair, lease)) = self.past.as_mut().and_then(|past| past.leases.answered(seat)) else { return false };
        if let Some(task) = task {
            let work = self.begin(seat, task.clone());
            self.leases.adopt(pair, lease.worker, lease.attempt, work, self.lease_clock());
            self.past.iter_mut().for_each(|past| past.kept += 1);
        }
        self.resume().await;
        true
    }

    /// Takes the results that came meanwhile, once all leases are known.
    async fn resume(&mut self) {
        let Some(past) = self.past.take_if(|past| past.leases.is_done()) else { return };
        if past.kept > 0 {
            self.warn(format!("workers keep {} that they held before the restart", count(past.kept, "pair")));
        }
        for message in past.leases.into_results() {
            self.on_result(message).await;
        }
    }
}
