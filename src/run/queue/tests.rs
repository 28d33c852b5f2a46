//! Tests of the folder of entries.

use super::*;
use crate::run::begin::GameCommand;
use crate::settings::RawPlan;

fn entry(priority: i32) -> QueueEntry {
    let plan = RawPlan { nodes: Some(100), options: vec![("Hash".into(), "16".into())], ..RawPlan::default() };
    QueueEntry::new(GameCommand::Sprt, "/somewhere".into(), priority, vec![plan])
}

fn order(queue: &Queue) -> Vec<EntryId> {
    queue.list().unwrap().in_order().entries.into_iter().map(|(id, _)| id).collect()
}

#[test]
fn entries_are_played_by_priority_and_age_and_up_puts_one_first() {
    let folder = tempfile::tempdir().unwrap();
    let queue = Queue::of(folder.path()).unwrap();
    // What changes no entry makes no folder.
    assert!(queue.remove(1).unwrap_err().to_string().contains("no entry 1"));
    assert!(queue.up(1, None).is_err() && queue.move_before(1, None).is_err() && queue.note(1, "x").is_err());
    assert!(!folder.path().join("queue").exists());
    for (number, priority) in (1..).zip([0, 0, 2, -1]) {
        assert_eq!(queue.add(entry(priority)).unwrap(), number);
    }
    assert_eq!(order(&queue), [3, 1, 2, 4]);
    assert_eq!(queue.up(4, None).unwrap().priority, 2);
    assert_eq!(order(&queue), [4, 3, 1, 2]);
    queue.up(2, Some(7)).unwrap();
    assert_eq!(order(&queue), [2, 4, 3, 1]);
    // A run that was begun continues before a new one of its priority, and what is over comes last.
    queue.update(3, |entry| entry.runs.push("runs/x".into())).unwrap();
    queue.update(2, |entry| entry.state = QueueState::Done).unwrap();
    assert_eq!(order(&queue), [3, 4, 1, 2]);
    // Those that are over stand last, by number.
    queue.update(4, |entry| entry.state = QueueState::Done).unwrap();
    assert_eq!(order(&queue), [3, 1, 2, 4]);
    queue.update(4, |entry| entry.state = QueueState::Waiting).unwrap();
    assert!(queue.up(2, None).unwrap_err().to_string().contains("is over"));
    assert!(queue.up(9, None).unwrap_err().to_string().contains("no entry 9"));
    queue.remove(1).unwrap();
    assert_eq!(order(&queue), [3, 4, 2]);
    assert!(!queue.update(1, |_| {}).unwrap());
}

#[test]
fn an_entry_is_moved_before_another_and_takes_its_priority() {
    let folder = tempfile::tempdir().unwrap();
    let queue = Queue::of(folder.path()).unwrap();
    for priority in [1, 1, 0, 0, 0] {
        queue.add(entry(priority)).unwrap();
    }
    assert_eq!(order(&queue), [1, 2, 3, 4, 5]);
    queue.move_before(5, Some(3)).unwrap();
    assert_eq!(order(&queue), [1, 2, 5, 3, 4]);
    queue.move_before(4, Some(2)).unwrap();
    assert_eq!((order(&queue), queue.read(4).unwrap().unwrap().priority), (vec![1, 4, 2, 5, 3], 1));
    queue.move_before(1, None).unwrap();
    assert_eq!((order(&queue), queue.read(1).unwrap().unwrap().priority), (vec![4, 2, 5, 3, 1], 0));
    // A later entry comes behind those that were moved.
    queue.add(entry(0)).unwrap();
    assert_eq!(order(&queue), [4, 2, 5, 3, 1, 6]);
    queue.update(3, |entry| entry.state = QueueState::Done).unwrap();
    assert!(queue.move_before(3, Some(1)).unwrap_err().to_string().contains("does not wait"));
    assert!(queue.move_before(1, Some(3)).unwrap_err().to_string().contains("no entry 3"));
}

#[test]
fn an_entry_whose_run_has_begun_stays_before_the_others_of_its_priority() {
    let folder = tempfile::tempdir().unwrap();
    let queue = Queue::of(folder.path()).unwrap();
    for priority in [0, 0, 0, 1] {
        queue.add(entry(priority)).unwrap();
    }
    queue.update(2, |entry| entry.runs.push("runs/x".into())).unwrap();
    assert_eq!(order(&queue), [4, 2, 1, 3]);
    let before = |id: EntryId| queue.begun_before(id).unwrap();
    assert_eq!([1, 2, 3, 4, 9].map(before), [Some(2), None, Some(2), None, None]);
    // Among the others it comes first, and the answer names the one before it.
    queue.up(3, Some(0)).unwrap();
    assert_eq!((order(&queue), before(3)), (vec![4, 2, 3, 1], Some(2)));
    for (id, other, first) in [(1, Some(2), 1), (2, Some(1), 3), (2, None, 3), (4, Some(2), 4)] {
        let said = queue.move_before(id, other).unwrap_err().to_string();
        let remedy = format!("`quintain queue up {first} --priority 1` puts that one before it");
        assert!(said.contains("the run of entry 2 has begun") && said.contains(&remedy), "{id} {other:?}: {said}");
        assert_eq!(order(&queue), [4, 2, 3, 1], "{id} {other:?}");
    }
    queue.move_before(1, Some(3)).unwrap();
    assert_eq!(order(&queue), [4, 2, 1, 3]);
    queue.up(3, Some(1)).unwrap();
    assert_eq!((order(&queue), before(3)), (vec![3, 4, 2, 1], None));
}

#[test]
fn an_entry_that_failed_or_was_stopped_waits_again() {
    let folder = tempfile::tempdir().unwrap();
    let queue = Queue::of(folder.path()).unwrap();
    for state in [QueueState::Failed, QueueState::Stopped] {
        let mut entry = entry(0);
        (entry.state, entry.error) = (state, Some("why".to_owned()));
        let id = queue.add(entry).unwrap();
        let up = queue.up(id, None).unwrap();
        assert_eq!((up.state, up.error), (QueueState::Waiting, None));
    }
}

#[test]
fn an_entry_comes_back_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let queue = Queue::of(folder.path()).unwrap();
    let id = queue.add(entry(3)).unwrap();
    let read = queue.read(id).unwrap().unwrap();
    assert_eq!((&read.plans, read.priority, read.rank), (&entry(3).plans, 3, 1));
    // Nobody signed it.
    assert!(!read.is_own());
}

#[test]
fn a_number_is_given_once() {
    let folder = tempfile::tempdir().unwrap();
    let queue = Queue::of(folder.path()).unwrap();
    assert_eq!([0, 0].map(|priority| queue.add(entry(priority)).unwrap()), [1, 2]);
    queue.remove(2).unwrap();
    queue.remove(1).unwrap();
    assert_eq!(queue.add(entry(0)).unwrap(), 3);
    // A counter that was lost or spoilt does not give the number of an entry again.
    for text in [None, Some(""), Some("-7"), Some("1")] {
        let counter = folder.path().join("queue/.last");
        let id = queue.ids().unwrap().last().copied().unwrap();
        match text {
            None => std::fs::remove_file(&counter).unwrap(),
            Some(text) => std::fs::write(&counter, text).unwrap(),
        }
        assert_eq!(queue.add(entry(0)).unwrap(), id + 1);
    }
    std::fs::copy(queue.file(3), queue.file(EntryId::MAX)).unwrap();
    assert!(queue.add(entry(0)).unwrap_err().to_string().contains("has the highest number, 4294967295"));
}

#[test]
fn a_damaged_entry_is_named_and_leaves_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let queue = Queue::of(folder.path()).unwrap();
    let id = queue.add(entry(0)).unwrap();
    let text = std::fs::read_to_string(queue.file(id)).unwrap();
    for (number, text, why) in [
        (2, "priority = ".to_owned(), "2.toml:1:"),
        (3, text.replace("priority", "prioritie"), "unknown key `prioritie`, did you mean `priority`?"),
        (4, text.replace("version = 1", "version = 2"), "newer"),
        (5, text.split("[[plans]]").next().unwrap().to_owned() + "plans = []\n", "no [[plans]]"),
        (
            6,
            text.replace("[[plans]]", "runs = [\"runs/../../x\"]\n[[plans]]"),
            "6.toml, key `runs`: `runs/../../x` leads out",
        ),
        (7, text.replace("[[plans]]", "runs = [\"/x\"]\n[[plans]]"), "leads out of the results"),
    ] {
        std::fs::write(queue.file(number), text).unwrap();
        let listing = queue.list().unwrap();
        let found = listing.damaged.iter().find(|(id, _)| *id == number);
        assert!(found.is_some_and(|(_, said)| said.contains(why)), "{number}: {found:?}");
        assert_eq!(listing.entries.len(), 1);
    }
    assert!(queue.remove(2).unwrap_err().to_string().contains("is removed"));
    assert!(queue.read(2).unwrap().is_none());
}

#[test]
fn a_queue_has_one_daemon() {
    let folder = tempfile::tempdir().unwrap();
    let queue = Queue::of(folder.path()).unwrap();
    assert!(!queue.has_daemon().unwrap());
    let lock = queue.claim().unwrap();
    assert!(queue.has_daemon().unwrap());
    assert!(queue.claim().unwrap_err().to_string().contains("another process plays this queue"));
    drop(lock);
    assert!(!queue.has_daemon().unwrap());
    queue.claim().unwrap();
}

#[test]
fn entries_added_at_once_get_numbers_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let queue = Queue::of(folder.path()).unwrap();
    let mut ids: Vec<EntryId> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| queue.add(entry(0)).unwrap())).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    ids.sort_unstable();
    assert_eq!(ids, [1, 2, 3, 4, 5, 6, 7, 8]);
}

#[test]
fn a_run_that_is_resumed_several_times_at_once_has_one_entry() {
    let folder = tempfile::tempdir().unwrap();
    let queue = Queue::of(folder.path()).unwrap();
    let of_run = |run: &str| {
        let mut entry = entry(0);
        entry.runs.push(run.into());
        entry
    };
    let over = queue.add(of_run("runs/x")).unwrap();
    queue.update(over, |entry| entry.state = QueueState::Done).unwrap();
    let ids: Vec<EntryId> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| queue.add_begun(of_run("runs/x")).unwrap())).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!((over, ids), (1, vec![2; 8]));
    assert_eq!(queue.add_begun(of_run("runs/y")).unwrap(), 3);
    assert_eq!(order(&queue), [2, 3, 1]);
}
