//! Counts by user of what the sessions of its workers have.

use std::collections::BTreeMap;

use super::link::worker_name;

/// Number of things by user. A user without any has no entry.
#[derive(Debug)]
pub(super) struct CountByUser(BTreeMap<String, usize>);

impl CountByUser {
    /// Creates counts of nothing.
    pub(super) const fn new() -> Self {
        Self(BTreeMap::new())
    }

    /// Counts one more for the user of a session.
    pub(super) fn add(&mut self, session: &str) {
        *self.0.entry(worker_name(session).to_owned()).or_default() += 1;
    }

    /// Counts one less for the user of a session.
    pub(super) fn remove(&mut self, session: &str) {
        let user = worker_name(session);
        if let Some(count) = self.0.get_mut(user) {
            *count -= 1;
            if *count == 0 {
                self.0.remove(user);
            }
        }
    }

    /// Number of a user's things.
    pub(super) fn get(&self, user: &str) -> usize {
        self.0.get(user).copied().unwrap_or(0)
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
