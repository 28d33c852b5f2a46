//! Bounds on a single user of a hub, so that none can take a run from the others.

use std::collections::BTreeMap;

use super::link::worker_name;
use super::wire::Note;

/// Maximum number of pairs that one user holds or waits for, and that one session may claim.
pub(super) const MOST_PAIRS: usize = 1_024;

/// Maximum number of messages that one user sends to the owner of a run.
const MOST_NOTES: usize = 1_000;

/// Maximum length of a message in characters.
const MOST_TEXT: usize = 1_000;

/// Maximum number of lines of an engine in a message.
const MOST_LINES: usize = 20;

/// Messages of the users of a run.
#[derive(Debug, Default)]
pub(super) struct NoteBounds {
    sent: BTreeMap<String, usize>,
    /// Number of the next message of each session. A user has no more of them than messages.
    next: BTreeMap<String, u64>,
}

impl NoteBounds {
    /// Drops the messages of a session that were heard before. Their numbers begin with `first`;
    /// without it, all are new.
    pub(super) fn drop_heard(&mut self, session: &str, first: Option<u64>, notes: &mut Vec<Note>) {
        let Some(first) = first else { return };
        let sent = self.sent.get(worker_name(session)).copied().unwrap_or(0);
        if notes.is_empty() || sent >= MOST_NOTES {
            return;
        }
        let next = self.next.entry(session.to_owned()).or_default();
        let heard = usize::try_from(next.saturating_sub(first)).map_or(notes.len(), |heard| heard.min(notes.len()));
        *next = (*next).max(first.saturating_add(notes.len() as u64));
        notes.drain(..heard);
    }

    /// Drops the messages of a user beyond the bounds. Returns true if the user's messages end
    /// here.
    pub(super) fn cut(&mut self, user: &str, notes: &mut Vec<Note>) -> bool {
        let sent = self.sent.entry(user.to_owned()).or_default();
        let left = MOST_NOTES.saturating_sub(*sent);
        let ends_here = left > 0 && notes.len() >= left;
        notes.truncate(left);
        *sent += notes.len();
        for note in notes {
            match note {
                Note::Text(text) => shorten(text),
                Note::Complained { texts, .. } => {
                    texts.truncate(MOST_LINES);
                    texts.iter_mut().for_each(shorten);
                }
                Note::Exited { status, .. } => shorten(status),
                Note::Bench { .. } => {}
            }
        }
        ends_here
    }
}

fn shorten(text: &mut String) {
    if let Some((end, _)) = text.char_indices().nth(MOST_TEXT) {
        text.truncate(end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_a_user_are_bounded() {
        let mut bounds = NoteBounds::default();
        let text = || Note::Text("ä".repeat(5_000));
        let mut notes = vec![Note::Complained { game: 1, player: 0, texts: vec!["x".repeat(5_000); 50] }, text()];
        assert!(!bounds.cut("anna", &mut notes));
        let [Note::Complained { texts, .. }, Note::Text(short)] = &notes[..] else { panic!("{notes:?}") };
        assert_eq!((texts.len(), texts[0].len(), short.chars().count()), (MOST_LINES, MOST_TEXT, MOST_TEXT));
        let mut flood: Vec<_> = (0..2 * MOST_NOTES).map(|_| text()).collect();
        assert!(bounds.cut("anna", &mut flood), "said once");
        assert_eq!(flood.len(), MOST_NOTES - 2);
        let mut more = vec![text()];
        assert!(!bounds.cut("anna", &mut more) && more.is_empty());
        let mut other = vec![text()];
        assert!(!bounds.cut("ben", &mut other) && other.len() == 1);
    }
}
