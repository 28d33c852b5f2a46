//! Tests of a worker.

use super::*;
use crate::cluster::children::PrivateServer;
use crate::cluster::coordinator::tests::task;
use crate::cluster::link::{reply_to, subject};
use crate::cluster::tests::has_server;
use crate::cluster::wire::WirePair;
use crate::record::{ByColor, PlayerId};

/// The hub may be away for longer than that.
#[test]
fn pairs_in_play_are_finished_though_nobody_answers() {
    let long = FORSAKEN + BEAT;
    for (silence, wanted, plays, keeps_nothing, expected) in [
        (long, 0, true, false, false),
        (long, 0, true, true, false),
        (long, 0, false, true, false),
        (long, 0, false, false, true),
        (long, 1, true, true, true),
        (FORSAKEN, 1, true, true, false),
    ] {
        let is = is_forsaken(silence, wanted, plays, keeps_nothing);
        assert_eq!(is, expected, "{wanted} {plays} {keeps_nothing}");
    }
}

/// The test is a coordinator that hears a sign of life and does not answer it.
#[tokio::test]
async fn messages_of_an_unanswered_beat_come_again_with_their_numbers() {
    if !has_server("messages_of_an_unanswered_beat_come_again_with_their_numbers") {
        return;
    }
    let (_server, link) = PrivateServer::start().await.unwrap();
    let [mut beats, mut takes] =
        [link.requests(subject("run", "beat")).await.unwrap(), link.requests(subject("run", "take")).await.unwrap()];
    let folder = tempfile::tempdir().unwrap();
    let mut plan = file::from_toml(include_str!("../../../tests/it/fixtures/v1/plan.toml")).unwrap();
    plan.rules.syzygy = None;
    let job = Job {
        link: link.clone(),
        run: "run".to_owned(),
        session: "a-1".to_owned(),
        plan: Arc::new(plan),
        guests: Arc::default(),
        places: Places::new([(0, Vec::new())], 0),
        places_per_game: 1,
        memory_mib: 0,
        note_numbers: NoteNumbers::default(),
        stderr_dir: folder.path().to_owned(),
        figures: Arc::default(),
        speed: None,
    };
    let (_stays, share) = watch::channel(SlotShare { games: 1, stop: Stop::No });
    let playing = tokio::spawn(play(job, share));
    let answer = async |message: &async_nats::Message, stop: u8| {
        link.answer(&reply_to(message).unwrap(), &WireOrders { stop, ..WireOrders::default() }).await;
    };
    // Each pair has players that the plan does not have, of which the worker complains.
    let nobody = ByColor { white: PlayerId(98), black: PlayerId(99) };
    let strange = PairTask { sides: [nobody; 2], ..task() };
    let (mut attempt, mut heard) = (0, Vec::new());
    while heard.len() < 3 {
        tokio::select! {
            take = takes.next() => {
                attempt += 1;
                let offer = match heard.len() {
                    0 | 2 => Offer::Pair { attempt, pair: Box::new(WirePair::new(&strange)) },
                    _ => Offer::Wait,
                };
                link.answer(&reply_to(&take.unwrap()).unwrap(), &offer).await;
            }
            message = beats.next() => {
                let message = message.unwrap();
                let beat: Heartbeat = wire::from_bytes(&message.payload).unwrap();
                let is_first = !beat.notes.is_empty() && heard.is_empty();
                if !beat.notes.is_empty() {
                    heard.push((beat.first_note.unwrap(), beat.notes.len() as u64));
                }
                if !is_first {
                    answer(&message, if heard.len() < 3 { 0 } else { 2 }).await;
                }
            }
        }
    }
    // The second beat has all of the first one, and the third one none of them.
    let [(first, _), (again, count), (next, _)] = heard[..] else { panic!("{heard:?}") };
    assert_eq!((again, next), (first, first + count), "{heard:?}");
    while !playing.is_finished() {
        tokio::select! {
            Some(message) = beats.next() => answer(&message, 2).await,
            () = tokio::time::sleep(PAUSE) => {}
        }
    }
    playing.await.unwrap().unwrap();
}
