//! Results that a worker has sent, kept until the coordinator names them as written.
//!
//! The server's store may be lost with all that it has acknowledged. A result that is not named for
//! a while is sent again.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

use super::link::{Link, subject_of};
use super::wire::PairGames;
use crate::text::random_hex;

/// Time after which a result that the coordinator does not name as written is sent again.
pub(super) const RESEND: Duration = Duration::from_secs(20);

/// Ids of results' messages: run, pair, attempt, session, and a secret of the session. The server
/// drops a message whose id it knows, so nobody else may know the id of a result before it is sent.
pub(super) mod result_id {
    /// Id of a result.
    pub(crate) fn of(run: &str, pair: u64, attempt: u64, session: &str, secret: &str) -> String {
        format!("{run}/{pair}/{attempt}/{session}/{secret}")
    }

    /// Pair, attempt and session of an id.
    pub(crate) fn parse(id: &str) -> Option<(u64, u64, &str)> {
        let mut parts = id.split('/').skip(1);
        let (pair, attempt) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        Some((pair, attempt, parts.next()?))
    }
}

/// Results of a session in one run, by pair and attempt.
#[derive(Debug)]
pub(super) struct Outbox {
    link: Link,
    run: String,
    session: String,
    /// Random part of its messages' ids.
    secret: String,
    results: BTreeMap<(u64, u64), PackedResult>,
}

#[derive(Debug)]
struct PackedResult {
    bytes: Vec<u8>,
    /// Time of its last sending.
    sent: Instant,
}

impl Outbox {
    /// Creates an empty one.
    pub(super) fn new(link: &Link, run: &str, session: &str) -> Self {
        let (run, session) = (run.to_owned(), session.to_owned());
        // Without random numbers, other users could have a result taken for a repeat, which delays
        // it.
        let secret = random_hex().unwrap_or_default();
        Self { link: link.clone(), run, session, secret, results: BTreeMap::new() }
    }

    /// Sends a result and keeps it.
    pub(super) fn send(&mut self, result: &PairGames) {
        let key = (result.pair.0, result.attempt);
        let packed = PackedResult { bytes: result.pack(), sent: Instant::now() };
        self.publish(key, &packed);
        self.results.insert(key, packed);
    }

    /// Pairs and attempts of the results that it keeps.
    pub(super) fn keys(&self) -> Vec<(u64, u64)> {
        self.results.keys().copied().collect()
    }

    /// Drops the results that are written.
    pub(super) fn drop_written(&mut self, written: &[(u64, u64)]) {
        for key in written {
            self.results.remove(key);
        }
    }

    /// Sends the results again that were sent long ago.
    pub(super) fn resend_overdue(&mut self) {
        let overdue = |(_, packed): &(_, &mut PackedResult)| packed.sent.elapsed() > RESEND;
        let mut results = std::mem::take(&mut self.results);
        for (key, packed) in results.iter_mut().filter(overdue) {
            packed.sent = Instant::now();
            // The server has not stored it yet, and the first attempt still goes on.
            if !self.link.is_unsent(&self.id(*key)) {
                self.publish(*key, packed);
            }
        }
        self.results = results;
    }

    /// Drops the results that the server has stored: nobody is left to name them.
    pub(super) fn drop_stored(&mut self) {
        let mut results = std::mem::take(&mut self.results);
        results.retain(|key, _| self.link.is_unsent(&self.id(*key)));
        self.results = results;
    }

    /// Drops all results: nobody wants them.
    pub(super) fn clear(&mut self) {
        self.results.clear();
    }

    /// True if it keeps no result.
    pub(super) fn is_empty(&self) -> bool {
        self.results.is_empty()
    }

    fn publish(&self, key: (u64, u64), packed: &PackedResult) {
        let to = subject_of(&self.run, "res", &self.session);
        tokio::spawn(self.link.publish(to, self.id(key), packed.bytes.clone()));
    }

    fn id(&self, (pair, attempt): (u64, u64)) -> String {
        result_id::of(&self.run, pair, attempt, &self.session, &self.secret)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::children::PrivateServer;
    use crate::cluster::tests::has_server;
    use crate::record::PairId;

    #[tokio::test]
    async fn a_result_that_the_server_does_not_have_is_kept() {
        if !has_server("a_result_that_the_server_does_not_have_is_kept") {
            return;
        }
        let (server, link) = PrivateServer::start().await.unwrap();
        link.create_stream().await.unwrap();
        let mut outbox = Outbox::new(&link, "run", "anna-1");
        let result = |pair| PairGames {
            worker: "anna-1".to_owned(),
            pair: PairId(pair),
            attempt: 1,
            games: Vec::new(),
            logs: Vec::new(),
            is_simulated: false,
        };
        outbox.send(&result(1));
        while link.count_unsent() > 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        drop(server);
        outbox.send(&result(2));
        outbox.drop_stored();
        assert_eq!((outbox.keys(), link.count_unsent()), (vec![(2, 1)], 1));
    }
}
