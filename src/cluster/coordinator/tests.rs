//! A coordinator behind a real server. The tests are its dispatcher and its workers. Its clock is
//! put forward, so nothing is waited for.

use crate::plan::file;
use tokio::task::JoinHandle;

use super::overdue::STANDSTILL;
use super::*;
use crate::cluster::children::PrivateServer;
use crate::cluster::link::subject_of;
use crate::cluster::notes::NoteNumbers;
use crate::cluster::outbox;
use crate::cluster::patience::LEAST;
use crate::cluster::simulation::game;
use crate::cluster::tests::has_server;
use crate::cluster::wire::{PairGames, WireMachine};
use crate::record::{ByColor, Leg, Opening, Outcome};
use crate::schedule::remote::{RemotePort, connection};
use crate::stats::random::SplitMix64;

const RUN: &str = "run";

/// A run whose dispatcher is the test.
struct Table {
    // Ends with the table.
    _server: PrivateServer,
    link: Link,
    port: RemotePort,
    plan: Arc<Plan>,
    serving: JoinHandle<Result<(), LinkError>>,
}

impl Table {
    /// `workers` is the plan's word. None, said loudly, without a server to test with.
    async fn new(test: &str, workers: &str) -> Option<Self> {
        Self::of(test, workers, None).await
    }

    /// Plan of a run that verifies a percentage of its pairs.
    async fn of(test: &str, workers: &str, verify: Option<f64>) -> Option<Self> {
        if !has_server(test) {
            return None;
        }
        let (server, link) = PrivateServer::start().await.unwrap();
        let mut plan = file::from_toml(include_str!("../../../tests/it/fixtures/v1/plan.toml")).unwrap();
        (plan.workers, plan.verify) = (Some(workers.parse().unwrap()), verify);
        let (port, end) = connection();
        let plan = Arc::new(plan);
        let coordinator = Coordinator::new(RUN.to_owned(), Arc::clone(&plan), None, link.clone(), end);
        let (_ends, ended) = mpsc::unbounded_channel();
        let serving = tokio::spawn(coordinator.serve(ended));
        let table = Self { _server: server, link, port, plan, serving };
        // It answers once it listens.
        table.asks::<_, Welcome>("plan", "z-1", &hello("z-1")).await;
        Some(table)
    }

    /// Answer to a message of a worker. A lost one is sent again.
    async fn asks<T: serde::Serialize, A: serde::de::DeserializeOwned>(
        &self,
        what: &str,
        session: &str,
        message: &T,
    ) -> A {
        loop {
            if let Some(bytes) = self.link.ask(subject_of(RUN, what, session), message).await {
                return wire::from_bytes(&bytes).unwrap();
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Gives a pair to a worker that asks. Returns its attempt.
    async fn gives(&mut self, session: &str, task: &PairTask) -> u64 {
        let asking = takes(self.link.clone(), session, &[]);
        let seats = async {
            loop {
                if let Some(RemoteEvent::Asks(seat)) = self.port.events.recv().await {
                    self.port.answers.send(SeatAnswer::Task(seat, Box::new(task.clone()))).unwrap();
                    return;
                }
            }
        };
        tokio::join!(asking, seats).0
    }

    /// Publishes games of a pair that a worker has played, and waits until the server has them.
    async fn sends(&self, session: &str, task: &PairTask, attempt: u64, is_simulated: bool) {
        let id = result_id(task.pair.0, attempt, session);
        let result = PairGames { is_simulated, ..result(session, task, attempt) };
        self.publishes(session, &id, result.pack()).await;
    }

    /// Publishes any bytes as a result.
    async fn publishes(&self, session: &str, id: &str, bytes: Vec<u8>) {
        self.link.publish(subject_of(RUN, "res", session), id.to_owned(), bytes).await;
    }

    /// Events up to the first one that is `last`. Writes what is to be written.
    async fn hears(&mut self, last: impl Fn(&RemoteEvent) -> bool) -> Vec<RemoteEvent> {
        let mut events = Vec::new();
        loop {
            let event = self.port.events.recv().await.expect("the coordinator ended");
            let is_last = last(&event);
            match event {
                RemoteEvent::Written(reply) => reply.send(()).unwrap(),
                event => events.push(event),
            }
            if is_last {
                return events;
            }
        }
    }

    /// Puts the clock forward in steps, in each of which the coordinator looks for silent workers.
    async fn waits(&self, time: Duration) {
        for _ in 0..time.div_duration_f64(LOOK).ceil() as u32 {
            later(LOOK).await;
            self.asks::<_, WireOrders>("beat", "z-1", &beat("z-1", Vec::new(), Vec::new())).await;
        }
    }

    async fn ends(self) {
        drop(self.port);
        self.serving.await.unwrap().unwrap();
    }
}

/// Asks for a pair until one is given. Returns its attempt. Without the pairs in `sent`, the
/// coordinator would offer one of them again until it has read their results.
async fn takes(link: Link, session: &str, sent: &[(u64, u64)]) -> u64 {
    let take = Take { v: wire::VERSION, worker: session.to_owned(), slot: 0, sent: sent.to_vec() };
    loop {
        let answer = link.ask(subject_of(RUN, "take", session), &take).await;
        if let Some(Offer::Pair { attempt, .. }) = answer.and_then(|bytes| wire::from_bytes(&bytes).ok()) {
            return attempt;
        }
    }
}

/// Id of a result's message.
fn result_id(pair: u64, attempt: u64, session: &str) -> String {
    outbox::result_id::of(RUN, pair, attempt, session, "secret")
}

/// Games of a pair.
fn result(session: &str, task: &PairTask, attempt: u64) -> PairGames {
    let variant = crate::chess::Variant::Standard;
    let games = task.legs.iter().map(|leg| (game(task, *leg, variant, 3, &mut SplitMix64::new(7)), None)).collect();
    let (worker, pair) = (session.to_owned(), task.pair);
    PairGames { worker, pair, attempt, games, logs: Vec::new(), is_simulated: false }
}

fn hello(session: &str) -> Hello {
    let program = env!("CARGO_PKG_VERSION").to_owned();
    Hello {
        v: wire::VERSION,
        worker: session.to_owned(),
        program,
        machine: None,
        any_version: false,
        speed: None,
        simulated: false,
    }
}

fn beat(session: &str, held: Vec<(u64, u64)>, sent: Vec<(u64, u64)>) -> Heartbeat {
    let (worker, back, notes, logs) = (session.to_owned(), Vec::new(), Vec::new(), Vec::new());
    let (v, progress, machine, speed) = (wire::VERSION, Vec::new(), None, None);
    Heartbeat { v, worker, held, progress, sent, back, notes, first_note: None, logs, leaves: false, machine, speed }
}

/// First pair of players 0 and 1, from the starting position.
pub(in crate::cluster) fn task() -> PairTask {
    let sides = ByColor { white: PlayerId(0), black: PlayerId(1) };
    let opening = Opening { index: 0, fen: crate::chess::START_FEN.to_owned(), moves: Vec::new() };
    PairTask {
        pair: PairId(0),
        sides: [sides, ByColor { white: PlayerId(1), black: PlayerId(0) }],
        openings: [opening.clone(), opening],
        legs: Leg::BOTH.to_vec(),
        all_legs: &Leg::BOTH,
        options: None,
    }
}

/// Puts the clock of this test's processes forward.
async fn later(time: Duration) {
    tokio::time::pause();
    tokio::time::advance(time).await;
    tokio::time::resume();
}

fn workers_of(events: &[RemoteEvent]) -> Vec<&str> {
    let record = |event| match event {
        &RemoteEvent::Game(WorkerEvent::Ended { ref record, .. }) => record.worker.as_deref(),
        _ => None,
    };
    events.iter().filter_map(record).collect()
}

/// The result of a worker that slept comes before that of the worker that plays its pair now.
#[tokio::test]
async fn a_result_of_a_lost_lease_counts_for_nothing() {
    let Some(mut table) = Table::new("a_result_of_a_lost_lease_counts_for_nothing", "local:1").await else { return };
    let task = task();
    let lost = table.gives("a-1", &task).await;
    table.waits(LOST_AFTER + 2 * LOOK).await;
    let events = table.hears(|event| matches!(event, RemoteEvent::Gone { .. })).await;
    let is_told = |event: &RemoteEvent| matches!(event, RemoteEvent::Warning(text) if text.contains("worker a-1: silent for 30 s"));
    assert!(events.iter().any(is_told), "{events:?}");
    let held = table.gives("b-1", &task).await;
    assert!(held > lost);
    table.sends("a-1", &task, lost, false).await;
    table.sends("b-1", &task, held, false).await;
    let events = table.hears(|event| matches!(event, RemoteEvent::Written(_))).await;
    assert_eq!(workers_of(&events), ["b", "b"]);
    // Both may forget their results, and the sleeper hears that it lost the pair.
    for (session, attempt) in [("a-1", lost), ("b-1", held)] {
        let key = (0, attempt);
        let mut orders = table.asks::<_, WireOrders>("beat", session, &beat(session, vec![key], vec![key])).await;
        while orders.written.is_empty() {
            orders = table.asks("beat", session, &beat(session, vec![key], vec![key])).await;
        }
        assert_eq!((orders.written, orders.void), (vec![key], vec![key]), "{session}");
    }
    table.ends().await;
}

/// A worker that goes on without a pair of its own is not called silent.
#[tokio::test]
async fn a_dropped_pair_is_told_as_such() {
    let Some(mut table) = Table::new("a_dropped_pair_is_told_as_such", "local:1").await else { return };
    table.gives("a-1", &task()).await;
    for _ in 0..LOST_AFTER.as_secs() + 2 {
        table.waits(LOOK).await;
        table.asks::<_, WireOrders>("beat", "a-1", &beat("a-1", Vec::new(), Vec::new())).await;
    }
    let events = table.hears(|event| matches!(event, RemoteEvent::Gone { .. })).await;
    let told = format!("{events:?}");
    assert!(told.contains("worker a-1: dropped 1 pair without saying so; its pair is played again"), "{told}");
    assert!(!told.contains("silent"), "{told}");
    table.ends().await;
}

/// The second worker of a pair gets it like any other pair, and its games do not count.
#[tokio::test]
async fn a_pair_that_two_workers_play_unlike_ends_the_run() {
    let test = "a_pair_that_two_workers_play_unlike_ends_the_run";
    let Some(mut table) = Table::of(test, "local:3", Some(100.0)).await else { return };
    let task = task();
    let first = table.gives("a-1", &task).await;
    table.sends("a-1", &task, first, false).await;
    let events = table.hears(|event| matches!(event, RemoteEvent::Done(_))).await;
    assert_eq!(workers_of(&events), ["a", "a"]);
    // The next pair of the same worker is one of the dispatcher's.
    let next = table.gives("a-1", &PairTask { pair: PairId(1), ..task.clone() }).await;
    assert!(next > first);
    // A void game proves nothing: another worker plays the pair, or the same one again.
    let mut void = result("b-1", &task, takes(table.link.clone(), "b-1", &[]).await);
    void.games.iter_mut().for_each(|(game, _)| game.is_void = true);
    table.publishes("b-1", &result_id(0, void.attempt, "b-1"), void.pack()).await;
    let second = takes(table.link.clone(), "b-1", &[(0, void.attempt)]).await;
    table.sends("b-1", &task, second, false).await;
    let are_verified = |event: &RemoteEvent| match event {
        RemoteEvent::Workers(workers) => {
            let verified = |name: &str| workers.iter().any(|one| one.name == name && one.verified == Some(1));
            verified("a") && verified("b")
        }
        _ => false,
    };
    let events = table.hears(are_verified).await;
    assert!(workers_of(&events).is_empty(), "{events:?}");

    let task = PairTask { pair: PairId(1), ..task };
    table.sends("a-1", &task, next, false).await;
    table.hears(|event| matches!(event, RemoteEvent::Done(_))).await;
    let mut other = result("c-1", &task, takes(table.link.clone(), "c-1", &[]).await);
    other.games[1].0.moves[2].info.score = Some(crate::record::Score::Cp(-777));
    table.publishes("c-1", &result_id(1, other.attempt, "c-1"), other.pack()).await;
    let events = table.hears(|event| matches!(event, RemoteEvent::Broken(_))).await;
    let said = format!("{events:?}");
    assert!(said.contains("workers a and c both played pair 2, and their games differ (game 4 at ply 3: "), "{said}");
    assert!(said.contains("(-777 cp)"), "{said}");
    assert!(workers_of(&events).is_empty(), "{events:?}");
    table.ends().await;
}

/// Time from the last sign of life of a lost worker to the next game of its pair, by the clock of
/// the leases. Another slot waits, or asks again after a pause.
#[test]
fn a_lost_pair_is_given_out_again_within_35_seconds() {
    let mut leases = Leases::new(Attempt(1), LOST_AFTER);
    leases.grant(PairId(0), "a", 0, (), Duration::ZERO);
    let mut now = Duration::ZERO;
    while leases.expire(now).is_empty() {
        now += LOOK + TICK;
    }
    assert!(
        now > LOST_AFTER && now + LONGEST_WAIT + crate::cluster::worker::PAUSE < Duration::from_secs(35),
        "{now:?}"
    );
}

/// Simulated games and those of engines never come into one run.
#[tokio::test]
async fn simulated_and_real_workers_do_not_meet() {
    for (workers, is_simulated, name) in [("local:1", false, "a"), ("nats://h/ab simulated", true, "simulated:a")] {
        let Some(mut table) = Table::new("simulated_and_real_workers_do_not_meet", workers).await else { return };
        for simulated in [false, true] {
            let welcome: Welcome = table.asks("plan", "a-1", &Hello { simulated, ..hello("a-1") }).await;
            assert_eq!(matches!(welcome, Welcome::Plan(_)), simulated == is_simulated, "{workers}: {welcome:?}");
        }
        let task = task();
        let attempt = table.gives("a-1", &task).await;
        table.sends("a-1", &task, attempt, !is_simulated).await;
        let events = table.hears(|event| matches!(event, RemoteEvent::Warning(_))).await;
        assert!(format!("{events:?}").contains("the result of pair 1 was dropped: it is"), "{events:?}");
        assert!(workers_of(&events).is_empty(), "{events:?}");
        let attempt = table.gives("a-1", &task).await;
        table.sends("a-1", &task, attempt, is_simulated).await;
        let events = table.hears(|event| matches!(event, RemoteEvent::Done(_))).await;
        assert_eq!(workers_of(&events), [name, name]);
        table.ends().await;
    }
}

/// Bytes of a result for a session and its attempt, and the expected reason.
type HostileCase<'a> = (&'a dyn Fn(&str, u64) -> Vec<u8>, &'a str);

/// No message of a worker can replace the games of its lease.
#[tokio::test]
async fn results_of_hostile_workers_count_for_nothing() {
    let Some(mut table) = Table::new("results_of_hostile_workers_count_for_nothing", "local:2").await else { return };
    let task = task();
    let attempt = table.gives("a-1", &task).await;
    let good = |session: &str| result(session, &task, attempt);
    let other = PairTask { pair: PairId(5), ..task.clone() };
    // Results of leases that their senders do not hold are late, and not even unpacked.
    let late = [
        ("a-1", result_id(5, attempt, "a-1"), result("a-1", &other, attempt).pack()),
        ("a-1", result_id(0, attempt + 1, "a-1"), good("a-1").pack()),
        ("a-1", result_id(0, 0, "a-1"), b"noise".to_vec()),
        ("a-1", "noise".to_owned(), good("a-1").pack()),
        ("m-1", outbox::result_id::of(RUN, 0, attempt, "a-1", "guessed"), good("a-1").pack()),
        ("m-1", result_id(0, attempt, "m-1"), good("m-1").pack()),
        ("a-2", result_id(0, attempt, "a-2"), good("a-2").pack()),
    ];
    for (session, id, bytes) in late {
        // The lease lasts, however slow this test is.
        let beat = beat("a-1", vec![(0, attempt)], Vec::new());
        assert_eq!(table.asks::<_, WireOrders>("beat", "a-1", &beat).await.void, []);
        table.publishes(session, &id, bytes).await;
    }
    // A lease that is held does not help: the games must be those that were asked for.
    let cut = |session: &str, held| {
        let mut bytes = result(session, &task, held).pack();
        bytes.truncate(bytes.len() / 2);
        bytes
    };
    let of_other = |session: &str, held| PairGames { pair: task.pair, ..result(session, &other, held) }.pack();
    let of_late = |_: &str, held| result("a-9", &task, held).pack();
    let forged = |session: &str, held| {
        let mut forged = result(session, &task, held);
        forged.games[0].0.opening.moves = vec!["e2e4".to_owned()];
        forged.pack()
    };
    let many = |session: &str, held| {
        let mut many = result(session, &task, held);
        let (mut void, _) = many.games[0].clone();
        void.is_void = true;
        many.games.splice(0..0, (0..7).map(|_| (void.clone(), None)));
        many.pack()
    };
    let cases: [HostileCase<'_>; 8] = [
        (&|_, _| b"noise".to_vec(), "neither plain nor deflated"),
        (&|_, _| Vec::new(), "it is cut off"),
        (&cut, ""),
        (&|_, _| wire::packed(&vec![b' '; 70 << 20]), ""),
        (&of_other, "pair 0: a game of pair 5"),
        (&of_late, "names another lease"),
        (&forged, "game 1 has other players, values or another opening"),
        (&many, "pair 0: more than 8 games"),
    ];
    for (place, (bytes, told)) in cases.into_iter().enumerate() {
        let (session, held) = match place {
            0 => ("a-1".to_owned(), attempt),
            _ => (format!("a{place}-1"), table.gives(&format!("a{place}-1"), &task).await),
        };
        table.publishes(&session, &result_id(0, held, &session), bytes(&session, held)).await;
        let events = table.hears(|event| matches!(event, RemoteEvent::Gone { .. })).await;
        let said = format!("{events:?}");
        assert!(said.contains("result of pair 1 was dropped") && said.contains(told), "{place}: {said}");
        assert!(workers_of(&events).is_empty(), "{place}: {events:?}");
    }

    // Times of day are of the worker's clock, which may be wrong by years.
    let held = table.gives("b-1", &task).await;
    let mut honest = result("b-1", &task, held);
    honest.games[0].0.started = Duration::ZERO;
    honest.games[1].0.started += Duration::from_hours(365 * 24);
    let next = PairTask { pair: PairId(1), ..task.clone() };
    let last = table.gives("c-1", &next).await;
    let id = result_id(0, held, "b-1");
    // The server drops a repeat of a message by its id. One that it has forgotten is late.
    for id in [id.clone(), format!("{id}/replayed")] {
        table.publishes("b-1", &id, honest.pack()).await;
    }
    table.sends("c-1", &next, last, false).await;
    let mut events = table.hears(|event| matches!(event, RemoteEvent::Done(_))).await;
    events.extend(table.hears(|event| matches!(event, RemoteEvent::Done(_))).await);
    assert_eq!(workers_of(&events), ["b", "b", "c", "c"]);
    table.ends().await;
}

/// An engine that crashes on one machine only says something about that machine.
#[tokio::test]
async fn a_worker_whose_engines_fail_is_excluded() {
    let Some(mut table) = Table::new("a_worker_whose_engines_fail_is_excluded", "local:2").await else { return };
    let crash = |result: &mut PairGames| {
        result.games.iter_mut().for_each(|(game, _)| {
            game.ending.termination = crate::record::Termination::Crash;
            // Player 1 loses both.
            game.ending.outcome =
                if game.players.white == PlayerId(1) { Outcome::BlackWins } else { Outcome::WhiteWins };
        });
    };
    let mut warned = String::new();
    for number in 0..14 {
        let task = PairTask { pair: PairId(number), ..task() };
        let session = if number < 11 { "good-1" } else { "bad-1" };
        let held = table.gives(session, &task).await;
        let mut result = result(session, &task, held);
        if session == "bad-1" {
            crash(&mut result);
        }
        table.publishes(session, &result_id(number, held, session), result.pack()).await;
        let events = table.hears(|event| matches!(event, RemoteEvent::Done(_))).await;
        warned = format!("{events:?}");
        if warned.contains("excluded") {
            break;
        }
    }
    assert!(warned.contains("of 22 elsewhere; it is excluded, and its games stay counted"), "{warned}");
    assert_eq!(warned.matches("worker: Some(\"bad\")").count(), 2, "{warned}");
    let take = Take { v: wire::VERSION, worker: "bad-2".to_owned(), slot: 0, sent: Vec::new() };
    assert!(matches!(table.asks::<_, Offer>("take", "bad-2", &take).await, Offer::Over));
    table.ends().await;
}

/// A worker that cannot make a result that counts does not get pairs without end.
#[tokio::test]
async fn a_worker_of_unusable_results_is_excluded() {
    let Some(mut table) = Table::new("a_worker_of_unusable_results_is_excluded", "local:2").await else { return };
    let task = task();
    for place in 1..=3 {
        // A new life changes nothing.
        let session = format!("a-{place}");
        let held = table.gives(&session, &task).await;
        table.publishes(&session, &result_id(0, held, &session), b"noise".to_vec()).await;
        table.hears(|event| matches!(event, RemoteEvent::Gone { .. })).await;
    }
    let is_last = |event: &RemoteEvent| matches!(event, RemoteEvent::Warning(text) if text.contains("excluded"));
    let events = table.hears(is_last).await;
    assert!(format!("{events:?}").contains("worker a: 3 of its results could not be used"), "{events:?}");
    let take = Take { v: wire::VERSION, worker: "a-4".to_owned(), slot: 0, sent: Vec::new() };
    assert!(matches!(table.asks::<_, Offer>("take", "a-4", &take).await, Offer::Over));
    let held = table.gives("b-1", &task).await;
    table.sends("b-1", &task, held, false).await;
    let events = table.hears(|event| matches!(event, RemoteEvent::Done(_))).await;
    assert_eq!(workers_of(&events), ["b", "b"]);
    table.ends().await;
}

#[tokio::test]
async fn other_programs_and_protocols_are_refused_with_both_versions() {
    let test = "other_programs_and_protocols_are_refused_with_both_versions";
    let Some(table) = Table::new(test, "local:1").await else { return };
    let other = || Hello { program: "0.0.7".to_owned(), ..hello("box-1") };
    for (hello, refusal) in [
        (other(), Some("worker box-1 is quintain 0.0.7 with version 3 of the protocol")),
        (Hello { any_version: true, ..other() }, None),
        (Hello { v: 9, any_version: true, ..hello("box-1") }, Some("with version 9 of the protocol")),
    ] {
        match (table.asks::<_, Welcome>("plan", "box-1", &hello).await, refusal) {
            (Welcome::Plan(_), None) => {}
            (Welcome::Refused(why), Some(words)) => {
                assert!(why.contains(words) && why.contains(env!("CARGO_PKG_VERSION")), "{why}");
            }
            (welcome, refusal) => panic!("{welcome:?} instead of {refusal:?}"),
        }
    }
    table.ends().await;
}

/// The hub lets a user send under its own name only, whatever its messages say.
#[tokio::test]
async fn a_worker_cannot_speak_for_another() {
    let Some(mut table) = Table::new("a_worker_cannot_speak_for_another", "local:2").await else { return };
    let machine = |cpu: &str| Some(WireMachine::from(Machine { cpu: cpu.to_owned(), cores: 1, os: String::new() }));
    let own: Welcome = table.asks("plan", "a-1", &Hello { machine: machine("own"), ..hello("a-1") }).await;
    assert!(matches!(own, Welcome::Plan(_)), "{own:?}");
    let task = task();
    let attempt = table.gives("a-1", &task).await;
    // Sent as m, in the name of a.
    let forged: Welcome = table.asks("plan", "m-1", &Hello { machine: machine("forged"), ..hello("a-1") }).await;
    assert!(matches!(&forged, Welcome::Refused(why) if why.contains("another user's worker")), "{forged:?}");
    let leaves = Heartbeat { leaves: true, back: vec![(0, attempt)], ..beat("a-1", Vec::new(), Vec::new()) };
    table.link.answer(&subject_of(RUN, "beat", "m-1"), &leaves).await;
    let orders: WireOrders = table.asks("beat", "a-1", &beat("a-1", vec![(0, attempt)], Vec::new())).await;
    assert!(orders.void.is_empty(), "{orders:?}");
    later(LOOK).await;
    let events = table.hears(|event| matches!(event, RemoteEvent::Workers(_))).await;
    let shown = format!("{events:?}");
    assert!(shown.contains("own, 1 core") && !shown.contains("forged"), "{shown}");
    table.ends().await;
}

/// Engines that died between games are told without any proof.
#[tokio::test]
async fn exits_of_one_worker_do_not_end_the_run_of_others() {
    let Some(mut table) = Table::new("exits_of_one_worker_do_not_end_the_run_of_others", "local:2").await else {
        return;
    };
    let notes = || (0..400).map(|_| Note::Exited { player: 0, status: "signal 11".to_owned() }).collect();
    let mut exits = Vec::new();
    for (session, other) in [("a-1", "b-1"), ("b-1", "a-1")] {
        let _: Offer = table
            .asks("take", other, &Take { v: wire::VERSION, worker: other.to_owned(), slot: 0, sent: Vec::new() })
            .await;
        let told = Heartbeat { notes: notes(), ..beat(session, Vec::new(), Vec::new()) };
        let _: WireOrders = table.asks("beat", session, &told).await;
        let mut count = 0;
        while let Ok(event) = table.port.events.try_recv() {
            count += usize::from(matches!(event, RemoteEvent::Game(WorkerEvent::Exited { .. })));
        }
        exits.push(count);
    }
    let most = usize::try_from(table.plan.max_failures / 2).unwrap().max(1);
    assert_eq!(exits, [most, most]);
    table.ends().await;
}

/// A sign of life without an answer may have been heard, or comes late.
#[tokio::test]
async fn a_message_that_comes_again_is_heard_once() {
    let Some(mut table) = Table::new("a_message_that_comes_again_is_heard_once", "local:2").await else { return };
    let next_job = NoteNumbers::default();
    next_job.begin();
    for (session, first_note, texts, heard) in [
        ("a-1", Some(0), vec!["1", "2"], vec!["1", "2"]),
        ("a-1", Some(0), vec!["1", "2", "3"], vec!["3"]),
        ("a-1", Some(0), vec!["1"], vec![]),
        ("a-1", Some(3), vec![], vec![]),
        ("a-1", Some(3), vec!["4"], vec!["4"]),
        ("a-2", Some(0), vec!["5"], vec!["5"]),
        ("a-1", Some(next_job.begin()), vec!["6"], vec!["6"]),
        // A worker that does not number them.
        ("b-1", None, vec!["7"], vec!["7"]),
        ("b-1", None, vec!["7"], vec!["7"]),
    ] {
        let notes = texts.iter().map(|text| Note::Text((*text).to_owned())).collect();
        let told = Heartbeat { notes, first_note, ..beat(session, Vec::new(), Vec::new()) };
        let _: WireOrders = table.asks("beat", session, &told).await;
        let mut said = Vec::new();
        while let Ok(event) = table.port.events.try_recv() {
            if let RemoteEvent::Warning(text) = event {
                said.extend(text.strip_prefix(&format!("worker {session}: ")).map(str::to_owned));
            }
        }
        assert_eq!(said, heard, "{session} {first_note:?} {texts:?}");
    }
    table.ends().await;
}

/// A slow worker keeps its pair as long as it moves. One that only gives signs of life loses it,
/// and is excluded when that happens again. A pause of the run is nobody's fault.
#[tokio::test]
async fn a_worker_that_does_not_play_loses_its_pair() {
    let Some(mut table) = Table::new("a_worker_that_does_not_play_loses_its_pair", "local:2").await else { return };
    let pair = |number: u64| PairTask { pair: PairId(number), ..task() };
    let step = STANDSTILL / 2;
    let slow = table.gives("slow-1", &pair(0)).await;
    let (mut plies, mut moved) = (0, Duration::ZERO);
    for hung in 1..=2 {
        let held = table.gives("hung-1", &pair(hung)).await;
        for paused in [true, false] {
            table.port.orders.send_modify(|orders| orders.paused = paused);
            // The coordinator sees it with its next look.
            later(LOOK + TICK).await;
            let (mut took, mut is_lost) = (Duration::ZERO, false);
            while !is_lost && took <= LEAST * 5 / 4 {
                moved += step;
                if moved > LEAST * 3 / 4 {
                    (plies, moved) = (plies + 1, Duration::ZERO);
                }
                let slow = Heartbeat { progress: vec![plies], ..beat("slow-1", vec![(0, slow)], Vec::new()) };
                assert_eq!(table.asks::<_, WireOrders>("beat", "slow-1", &slow).await.void, []);
                let beat = beat("hung-1", vec![(hung, held)], Vec::new());
                is_lost = !table.asks::<_, WireOrders>("beat", "hung-1", &beat).await.void.is_empty();
                later(step).await;
                took += step;
            }
            assert!(is_lost != paused && took > LEAST, "{took:?}");
        }
        let events = table.hears(|event| matches!(event, RemoteEvent::Gone { left, .. } if left.pair.0 == hung)).await;
        let told = format!("worker hung-1: pair {}: gives signs of life and has not moved for", hung + 1);
        assert!(format!("{events:?}").contains(&told), "{events:?}");
    }
    let events = table.hears(|event| matches!(event, RemoteEvent::Workers(_))).await;
    assert!(format!("{events:?}").contains("a second time; it is excluded"), "{events:?}");
    table.ends().await;
}

/// Workers are not to blame for a coordinator that was stopped, or had no connection.
#[tokio::test]
async fn a_coordinator_that_stood_still_blames_nobody() {
    let Some(mut table) = Table::new("a_coordinator_that_stood_still_blames_nobody", "local:2").await else { return };
    let held = table.gives("a-1", &task()).await;
    later(2 * LEAST).await;
    // It looks before the second answer, and again until it would hear the worker.
    for _ in 0..2 {
        let beat = beat("a-1", vec![(0, held)], Vec::new());
        assert_eq!(table.asks::<_, WireOrders>("beat", "a-1", &beat).await.void, []);
        table.waits(LOST_AFTER - 5 * LOOK).await;
    }
    let take = Take { v: wire::VERSION, worker: "a-1".to_owned(), slot: 0, sent: vec![] };
    let offer = table.asks::<_, Offer>("take", "a-1", &take).await;
    assert!(matches!(offer, Offer::Pair { attempt, .. } if attempt == held), "{offer:?}");
    // From then on silence counts.
    table.waits(2 * LOST_AFTER).await;
    table.hears(|event| matches!(event, RemoteEvent::Gone { .. })).await;
    table.ends().await;
}

/// A worker that the user drops hears of it at once, and its pair is free.
#[tokio::test]
async fn a_dropped_worker_is_called() {
    let Some(mut table) = Table::new("a_dropped_worker_is_called", "local:2").await else { return };
    let mut calls = table.link.requests(call(RUN)).await.unwrap();
    let attempt = table.gives("a-1", &task()).await;
    table.port.answers.send(SeatAnswer::Drop("a".to_owned())).unwrap();
    calls.next().await.unwrap();
    let orders: WireOrders = table.asks("beat", "a-1", &beat("a-1", vec![(0, attempt)], Vec::new())).await;
    assert_eq!((orders.stop(), orders.void), (Stop::Now, vec![(0, attempt)]));
    table.hears(|event| matches!(event, RemoteEvent::Gone { .. })).await;
    table.ends().await;
}

/// A run that nobody plays says so with a remedy, again after as long a time.
#[tokio::test]
async fn a_run_without_workers_says_so() {
    let Some(mut table) = Table::new("a_run_without_workers_says_so", "local:1").await else { return };
    for _ in 0..2 {
        later(LONELY + LOOK + TICK).await;
        let events = table.hears(|event| matches!(event, RemoteEvent::Warning(_))).await;
        assert!(format!("{events:?}").contains("for 10 min; `quintain hub invite` adds one"), "{events:?}");
    }
    table.ends().await;
}
