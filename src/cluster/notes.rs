//! Messages of a worker to the user of a run, numbered so that each is heard once.
//!
//! A sign of life that nobody answered may have been heard all the same, or is heard later. Its
//! messages come again with their numbers, and the coordinator drops those that it has heard
//! (`bounds`).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::wire::Note;

/// Numbers that a job of a worker has for its messages, far more than it sends.
const NUMBERS_OF_JOB: u64 = 1 << 32;

/// Numbers of a session's messages. A later job has higher ones, also for the same run.
#[derive(Clone, Debug, Default)]
pub(super) struct NoteNumbers(Arc<AtomicU64>);

impl NoteNumbers {
    /// Number of the first message of another job.
    pub(super) fn begin(&self) -> u64 {
        self.0.fetch_add(NUMBERS_OF_JOB, Ordering::Relaxed)
    }
}

/// Messages of a job that no answer has come for.
#[derive(Debug)]
pub(super) struct NoteOutbox {
    /// Number of the first one.
    first: u64,
    notes: Vec<Note>,
}

impl NoteOutbox {
    pub(super) fn new(numbers: &NoteNumbers) -> Self {
        Self { first: numbers.begin(), notes: Vec::new() }
    }

    pub(super) fn push(&mut self, note: Note) {
        self.notes.push(note);
    }

    /// Takes all messages, with the number of the first one.
    pub(super) fn take(&mut self) -> (u64, Vec<Note>) {
        let first = self.first;
        self.first += self.notes.len() as u64;
        (first, std::mem::take(&mut self.notes))
    }

    /// Puts messages back that were taken last and not answered. They keep their numbers.
    pub(super) fn keep(&mut self, notes: Vec<Note>) {
        self.first -= notes.len() as u64;
        self.notes.splice(0..0, notes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_keeps_its_number_until_it_is_answered() {
        let numbers = NoteNumbers::default();
        let mut outbox = NoteOutbox::new(&numbers);
        let mut taken = |texts: &[&str], is_answered: bool| {
            texts.iter().for_each(|text| outbox.push(Note::Text((*text).to_owned())));
            let (first, notes) = outbox.take();
            let said: Vec<_> = notes.iter().map(|note| format!("{note:?}")).collect();
            if !is_answered {
                outbox.keep(notes);
            }
            (first, said.len(), said.first().cloned().unwrap_or_default())
        };
        let text = |text: &str| format!("Text(\"{text}\")");
        assert_eq!(taken(&["a", "b"], false), (0, 2, text("a")));
        assert_eq!(taken(&["c"], true), (0, 3, text("a")));
        assert_eq!(taken(&[], true), (3, 0, String::new()));
        assert_eq!(taken(&["d"], false), (3, 1, text("d")));
        assert_eq!(taken(&[], true), (3, 1, text("d")));
        // The next job's are not taken for those that the last one never heard of.
        assert_eq!(NoteOutbox::new(&numbers).take().0, NUMBERS_OF_JOB);
    }
}
