//! A worker at a real hub, with the rights that an invitation gives, and a coordinator beside it.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use sha2::{Digest as _, Sha256};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::*;
use crate::cluster::access::Role;
use crate::cluster::blobs;
use crate::cluster::bounds::MOST_PAIRS;
use crate::cluster::coordinator::{Coordinator, Listening};
use crate::cluster::hub::{HubError, HubSettings, invite, serve};
use crate::cluster::link::subject_of;
use crate::cluster::registry::{Claim, Needs};
use crate::cluster::sign::AuthorKey;
use crate::plan::{Plan, file};
use crate::record::{ByColor, GameRecord, Leg, Opening, PairId, PlayerId};
use crate::schedule::remote::{RemoteEvent, RemotePort, SeatAnswer, connection};
use crate::text::hex;
use crate::tournament::events::{Orders, PairTask, WorkerEvent};

/// An engine that loses each game by its first move, and whose bench is 123 nodes.
const ENGINE: &str = "#!/bin/sh\nif [ \"$1\" = bench ]; then echo '123 nodes 5 nps'; exit; fi\n\
    while read -r word rest; do case $word in uci) echo 'id name script'; echo uciok;; isready) echo readyok;;\n\
    go) echo 'bestmove 0000';; quit) exit;; esac; done\n";

/// A hub with the credentials of a worker and of a coordinator.
struct Place {
    folder: tempfile::TempDir,
    end: oneshot::Sender<()>,
    hub: JoinHandle<Result<(), HubError>>,
    worker: Access,
    link: Link,
    author: AuthorKey,
}

impl Place {
    /// None, said loudly, without a server to test with.
    async fn new(test: &str) -> Option<Self> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        if crate::source::find_program(Path::new("nats-server"), &path, &[Path::new("/usr/sbin")]).is_none() {
            crate::skip::skip(test, "no program nats-server");
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let hub_folder = folder.path().join("hub");
        let settings = HubSettings {
            folder: hub_folder.clone(),
            config: None,
            listen: Some("127.0.0.1:0".parse().unwrap()),
            host: None,
            most_bytes: 4 << 30,
        };
        let (end, ended) = oneshot::channel::<()>();
        let (say, mut said) = mpsc::unbounded_channel();
        let hub = tokio::spawn(async move {
            let say = move |text: &str| drop(say.send(text.to_owned()));
            serve(settings, say, async move { drop(ended.await) }).await
        });
        while !said.recv().await.expect("the hub ended").contains("play with its workers") {}
        let worker = invite(&hub_folder, "anna-box", Role::Worker).await.unwrap();
        let coordinator = invite(&hub_folder, "carl", Role::Coordinator).await.unwrap();
        let link = Link::open(&coordinator, "carl-1").await.unwrap();
        let author = AuthorKey::load(&folder.path().join("key")).unwrap();
        Some(Self { folder, end, hub, worker, link, author })
    }

    async fn stop(self) {
        self.end.send(()).unwrap();
        self.hub.await.unwrap().unwrap();
    }

    /// Starts the worker with these terms.
    fn work(&self, terms: &str) -> (JoinHandle<Result<(), PoolError>>, watch::Sender<Stop>, Lines) {
        let path = self.folder.path().join("worker.toml");
        std::fs::write(&path, terms).unwrap();
        let settings = PoolSettings {
            access: self.worker.clone(),
            terms: Terms::read(&path).unwrap(),
            slots: 2,
            memory_mib: 4_000,
            cpu: "a CPU".to_owned(),
            cache: self.folder.path().join("cache"),
            scratch: self.folder.path().to_owned(),
            any_version: false,
        };
        let (stop, stopped) = watch::channel(Stop::No);
        let (lines, said) = mpsc::unbounded_channel();
        (tokio::spawn(serve_hub(settings, stopped, lines)), stop, Lines(said))
    }

    /// Coordinates a run, whose entry stands on the hub as long as the result is kept.
    async fn coordinate(&self, run: &str, plan: Plan, priority: i8) -> Coordinated {
        let text = file::to_toml(&plan);
        let mut claim = Claim::take(&self.link, self.entry(run, &text, priority)).await.unwrap();
        let (quit, mut quitted) = oneshot::channel();
        let link = self.link.clone();
        let renewing = tokio::spawn(async move {
            while tokio::time::timeout(Duration::from_secs(1), &mut quitted).await.is_err() {
                claim.renew(&link).await.unwrap();
            }
            claim.release(&link).await;
        });
        let (port, coordinator) = self.coordinator(run, plan, text);
        Coordinated { port, quit, renewing, serving: serving(coordinator) }
    }

    fn coordinator(&self, run: &str, plan: Plan, text: String) -> (RemotePort, Coordinator) {
        let (port, end) = connection();
        let signed = Some(self.author.sign(run, text));
        (port, Coordinator::new(run.to_owned(), Arc::new(plan), signed, self.link.clone(), end))
    }

    fn entry(&self, run: &str, plan: &str, priority: i8) -> RunEntry {
        let needs = Needs { threads: 1, ..Needs::default() };
        // A JSON of the fields that matter, so that others may be added.
        let text = serde_json::json!({
            "v": wire::VERSION, "run": run, "plan_sha256": hex(&Sha256::digest(plan)), "priority": priority,
            "needs": needs, "signer": self.author.public().to_string(), "life": run, "host": "test",
        });
        wire::from_bytes(text.to_string().as_bytes()).unwrap()
    }

    /// A plan of two players with the same program, which is on the hub.
    async fn plan(&self, bench: Option<u64>) -> Plan {
        self.plan_of(ENGINE, bench).await
    }

    async fn plan_of(&self, engine: &str, bench: Option<u64>) -> Plan {
        let sha256 = blobs::put(&self.link, engine.as_bytes()).await.unwrap();
        let mut plan = file::from_toml(include_str!("../../../tests/it/fixtures/v1/plan.toml")).unwrap();
        for player in &mut plan.players {
            (player.args, player.options) = (Vec::new(), Vec::new());
            player.program = "/of/the/author".into();
            player.origin.sha256.clone_from(&sha256);
            player.origin.bench_nodes = bench;
        }
        plan.rules.syzygy = None;
        plan
    }

    /// A worker's runs, without its event loop.
    async fn pool(&self) -> Pool {
        let folder = self.folder.path();
        std::fs::write(folder.join("worker.toml"), self.trusting()).unwrap();
        let (lines, _) = mpsc::unbounded_channel();
        let house = House {
            link: Link::open(&self.worker, "anna-box-1").await.unwrap(),
            session: "anna-box-1".to_owned(),
            terms: Arc::new(Terms::read(&folder.join("worker.toml")).unwrap()),
            room: Arc::new(Room {
                slots: 2,
                memory_mib: 4_000,
                cache: folder.join("cache"),
                scratch: folder.to_owned(),
            }),
            cache: Arc::new(Cache::open(&folder.join("cache"), 1).unwrap()),
            places: Places::new([(0, Vec::new()), (1, Vec::new())], 4_000),
            stderr_dir: folder.to_owned(),
            benches: Arc::default(),
            speeds: Arc::default(),
            note_numbers: NoteNumbers::default(),
            in_use: Arc::default(),
            any_version: false,
            lines,
        };
        let (ends, _) = mpsc::unbounded_channel();
        Pool::new(house, 2, WorkerEntry::default(), ends)
    }

    /// Terms that trust the author of this place, and allow every program of the author.
    fn trusting(&self) -> String {
        let author = self.author.public();
        format!("trust = [\"{author}\"]\n[[engine]]\nauthor = \"{author}\"\n")
    }
}

fn serving(coordinator: Coordinator) -> JoinHandle<Result<(), String>> {
    let (_ends, ended) = mpsc::unbounded_channel();
    tokio::spawn(async move { coordinator.serve(ended).await.map_err(|error| error.to_string()) })
}

/// Lines that a worker's owner sees.
struct Lines(mpsc::UnboundedReceiver<String>);

impl Lines {
    /// Waits for a line.
    async fn hear(&mut self, words: &str) -> String {
        loop {
            let line = self.0.recv().await.expect("the worker ended");
            if line.contains(words) {
                return line;
            }
        }
    }
}

/// A run, whose dispatcher is the test.
struct Coordinated {
    port: RemotePort,
    quit: oneshot::Sender<()>,
    renewing: JoinHandle<()>,
    serving: JoinHandle<Result<(), String>>,
}

impl Coordinated {
    /// Hands out this number of pairs, and returns their games.
    async fn play(&mut self, pairs: u64) -> Vec<GameRecord> {
        let (mut next, mut done, mut written, mut games) = (0, 0, 0, Vec::new());
        // A result stays with its worker until it is written.
        while done < pairs || written < pairs {
            match self.port.events.recv().await.unwrap() {
                RemoteEvent::Asks(seat) if next < pairs => {
                    self.port.answers.send(SeatAnswer::Task(seat, Box::new(task(next)))).unwrap();
                    next += 1;
                }
                RemoteEvent::Game(WorkerEvent::Ended { record, .. }) => games.push(*record),
                RemoteEvent::Done(_) => done += 1,
                RemoteEvent::Written(reply) => {
                    reply.send(()).unwrap();
                    written += 1;
                }
                RemoteEvent::Broken(why) => panic!("{why}"),
                RemoteEvent::Gone { .. } => panic!("a pair came back"),
                _ => {}
            }
        }
        games
    }

    /// Waits for a message for the user of the run.
    async fn hear(&mut self, words: &str) -> String {
        loop {
            match self.port.events.recv().await.unwrap() {
                RemoteEvent::Warning(text) | RemoteEvent::Broken(text) if text.contains(words) => return text,
                _ => {}
            }
        }
    }

    async fn end(self) {
        self.port.orders.send_modify(|orders: &mut Orders| orders.stop = Stop::AfterGame);
        drop(self.port);
        self.serving.await.unwrap().unwrap();
        self.quit.send(()).unwrap();
        self.renewing.await.unwrap();
    }
}

fn task(pair: u64) -> PairTask {
    let sides = ByColor { white: PlayerId(0), black: PlayerId(1) };
    let fen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1".to_owned();
    let opening = Opening { index: pair, fen, moves: Vec::new() };
    PairTask {
        pair: PairId(pair),
        sides: [sides, ByColor { white: PlayerId(1), black: PlayerId(0) }],
        openings: [opening.clone(), opening],
        legs: Leg::BOTH.to_vec(),
        all_legs: &Leg::BOTH,
        options: None,
    }
}

/// A worker fetches the program, plays in the sandbox, leaves the run when it is over and takes the
/// next one; runs of a higher priority come first.
#[tokio::test]
async fn a_worker_serves_the_runs_of_a_hub() {
    let Some(place) = Place::new("a_worker_serves_the_runs_of_a_hub").await else { return };
    let plan = place.plan(Some(123)).await;
    let mut low = place.coordinate("low", plan.clone(), 0).await;
    let mut high = place.coordinate("high", plan.clone(), 1).await;
    let (worker, stop, mut lines) = place.work(&place.trusting());
    assert!(lines.hear("joining").await.contains("high"), "the lower priority waits");
    check(&high.play(3).await);
    assert!(low.port.events.try_recv().is_err(), "nobody has asked for its pairs");
    high.end().await;
    assert!(lines.hear("joining").await.contains("low"));
    check(&low.play(3).await);
    let program = place.folder.path().join("cache").join(&plan.players[0].origin.sha256);
    assert_eq!(std::fs::metadata(program).unwrap().permissions().mode() & 0o777, 0o755);
    stop.send(Stop::AfterGame).unwrap();
    worker.await.unwrap().unwrap();
    low.end().await;
    place.stop().await;
}

/// Three whole pairs, played by the worker of the invitation.
#[track_caller]
fn check(games: &[GameRecord]) {
    let ids: BTreeSet<_> = games.iter().map(|game| game.id).collect();
    assert_eq!((ids.len(), games.len()), (6, 6));
    assert!(games.iter().all(|game| game.worker.as_deref() == Some("anna-box")));
}

/// Terms, bench of the plan, a change of the plan, and the expected reason.
type Case<'a> = (String, Option<u64>, &'a dyn Fn(&mut Plan), &'a str);

/// Each refusal is one line for both owners, which names the machine and the remedy.
#[tokio::test]
async fn a_run_that_is_not_allowed_is_refused_on_both_sides() {
    let Some(place) = Place::new("a_run_that_is_not_allowed_is_refused_on_both_sides").await else { return };
    let author = place.author.public();
    let trust = format!("trust = [\"{author}\"]\n");
    let many_threads = |plan: &mut Plan| plan.players[0].options.push(("Threads".to_owned(), "9".to_owned()));
    let unchanged = |_: &mut Plan| {};
    let cases: [Case<'_>; 4] = [
        (String::new(), None, &unchanged, "which worker.toml does not trust"),
        (trust, None, &unchanged, "is not allowed: add [[engine]]"),
        (place.trusting(), Some(124), &unchanged, "is 123"),
        (place.trusting(), None, &many_threads, "takes 9 threads, and this worker offers 2"),
    ];
    for (number, (terms, bench, change, expected)) in cases.into_iter().enumerate() {
        let mut plan = place.plan(bench).await;
        change(&mut plan);
        let mut run = place.coordinate(&format!("run-{number}"), plan, 0).await;
        let (worker, stop, mut lines) = place.work(&terms);
        let line = lines.hear(expected).await;
        assert!(line.starts_with(&format!("run run-{number}: not served: ")) && !line.contains('\n'), "{line}");
        let told = run.hear(expected).await;
        assert!(told.starts_with("worker anna-box-"), "{told}");
        stop.send(Stop::AfterGame).unwrap();
        worker.await.unwrap().unwrap();
        run.end().await;
    }
    place.stop().await;
}

/// A file that is not on the hub yet excludes nobody, and an interrupt ends the waiting for one.
#[tokio::test]
async fn a_run_whose_files_are_missing_is_tried_again() {
    let Some(place) = Place::new("a_run_whose_files_are_missing_is_tried_again").await else { return };
    let engine = format!("{ENGINE}# Another one.\n");
    let mut plan = place.plan(None).await;
    plan.players.iter_mut().for_each(|player| player.origin.sha256 = hex(&Sha256::digest(&engine)));
    let mut run = place.coordinate("run", plan, 0).await;
    let (worker, stop, mut lines) = place.work(&place.trusting());
    lines.hear("is no longer on the hub").await;
    assert_eq!(blobs::put(&place.link, engine.as_bytes()).await.unwrap(), hex(&Sha256::digest(&engine)));
    tokio::time::pause();
    tokio::time::advance(RETRY).await;
    tokio::time::resume();
    check(&run.play(3).await);
    stop.send(Stop::AfterGame).unwrap();
    worker.await.unwrap().unwrap();
    run.end().await;
    place.stop().await;
}

/// Hands out pairs, which come back, until the worker does not serve the run. Returns its reason.
async fn gives_up(run: &mut Coordinated, lines: &mut Lines) -> String {
    let (mut given, mut back, mut reason) = (0, 0, None);
    while reason.is_none() || back < given {
        tokio::select! {
            line = lines.hear("not served"), if reason.is_none() => reason = Some(line),
            event = run.port.events.recv() => match event.unwrap() {
                RemoteEvent::Asks(seat) if reason.is_none() => {
                    run.port.answers.send(SeatAnswer::Task(seat, Box::new(task(given)))).unwrap();
                    given += 1;
                }
                RemoteEvent::Asks(seat) => run.port.answers.send(SeatAnswer::Leave(seat)).unwrap(),
                RemoteEvent::Gone { .. } => back += 1,
                RemoteEvent::Broken(why) => panic!("{why}"),
                _ => {}
            },
        }
    }
    reason.unwrap()
}

/// The engines of all slots end at their start for a while. A program that cannot run is refused.
#[tokio::test]
async fn a_run_whose_engines_do_not_start_for_a_while_is_tried_again() {
    let test = "a_run_whose_engines_do_not_start_for_a_while_is_tried_again";
    let Some(place) = Place::new(test).await else { return };
    let broken = place.folder.path().join("broken");
    std::fs::write(&broken, "").unwrap();
    let start = format!("#!/bin/sh\nif [ -e '{}' ]; then exit 7; fi\n", broken.display());
    let plan = place.plan_of(&ENGINE.replace("#!/bin/sh\n", &start), None).await;
    let other = place.plan_of("#!/no/such/interpreter\n", None).await;
    // The engines look at a file of this test.
    let mut terms = format!("trust = [\"{}\"]\nsandbox = \"none\"\n", place.author.public());
    for plan in [&plan, &other] {
        terms += &format!("[[engine]]\nsha256 = \"{}\"\n", plan.players[0].origin.sha256);
    }
    let mut run = place.coordinate("run", plan, 0).await;
    let (worker, stop, mut lines) = place.work(&terms);
    let reason = gives_up(&mut run, &mut lines).await;
    assert!(reason.contains("exit status 7") && reason.ends_with("; it is tried again"), "{reason}");
    std::fs::remove_file(&broken).unwrap();
    tokio::time::pause();
    tokio::time::advance(RETRY).await;
    tokio::time::resume();
    check(&run.play(3).await);
    run.end().await;
    let mut run = place.coordinate("other", other, 0).await;
    let reason = gives_up(&mut run, &mut lines).await;
    assert!(reason.contains("other") && !reason.contains("tried again"), "{reason}");
    stop.send(Stop::AfterGame).unwrap();
    worker.await.unwrap().unwrap();
    run.end().await;
    place.stop().await;
}

/// Places that no other run can use are no gain, however many runs the hub lists.
#[tokio::test]
async fn a_hungry_run_leaves_its_places_to_a_candidate_only() {
    let Some(place) = Place::new("a_hungry_run_leaves_its_places_to_a_candidate_only").await else { return };
    let mut pool = place.pool().await;
    let (share, seen) = watch::channel(SlotShare { games: 2, stop: Stop::No });
    let figures = Arc::new(Figures::default());
    figures.in_vain.store(1, Ordering::Relaxed);
    let state = RunState::Served { share, figures, hungry_since: Some(Instant::now()) };
    pool.known.insert("hungry".to_owned(), KnownRun { life: "hungry".to_owned(), state });
    tokio::time::pause();
    tokio::time::advance(HUNGRY + TICK).await;
    tokio::time::resume();
    let [hungry, other] = ["hungry", "other"].map(|run| place.entry(run, "", 0));
    for (other, games) in [(RunEntry { simulated: true, ..other.clone() }, 2), (other, 0)] {
        pool.listed = vec![hungry.clone(), other];
        pool.look();
        assert_eq!(seen.borrow().games, games);
    }
    place.stop().await;
}

/// Entries of runs whose coordinators were killed are among those of the others.
#[tokio::test]
async fn a_run_that_was_listed_before_is_joined_once_it_is_renewed() {
    let Some(place) = Place::new("a_run_that_was_listed_before_is_joined_once_it_is_renewed").await else { return };
    let mut pool = place.pool().await;
    let [dead, mut alive, late] = ["dead", "alive", "late"].map(|run| place.entry(run, "", 0));
    let mut joins = |listed: &[&RunEntry]| {
        pool.list(listed.iter().map(|entry| (*entry).clone()).collect());
        pool.look();
        pool.served().cloned().collect::<Vec<_>>()
    };
    assert!(joins(&[&dead, &alive]).is_empty());
    alive.beat += 1;
    assert!(joins(&[&dead, &alive]).is_empty(), "the other one may be of a higher priority");
    tokio::time::pause();
    tokio::time::advance(TAKEOVER).await;
    tokio::time::resume();
    assert_eq!(joins(&[&dead, &alive]), ["alive"]);
    assert_eq!(joins(&[&dead, &alive, &late]), ["alive", "late"]);
    place.stop().await;
}

/// A coordinator that never answers does not keep a worker that is to end.
#[tokio::test]
async fn an_interrupt_ends_a_worker_that_joins() {
    let Some(place) = Place::new("an_interrupt_ends_a_worker_that_joins").await else { return };
    let mut claim = Claim::take(&place.link, place.entry("run", "", 0)).await.unwrap();
    let link = place.link.clone();
    let renewing = tokio::spawn(async move {
        while claim.renew(&link).await.is_ok() {
            tokio::time::sleep(TICK).await;
        }
    });
    let (worker, stop, mut lines) = place.work(&place.trusting());
    lines.hear("joining").await;
    stop.send(Stop::AfterGame).unwrap();
    worker.await.unwrap().unwrap();
    let line = lines.0.recv().await.into_iter().chain(std::iter::from_fn(|| lines.0.try_recv().ok()));
    let said: Vec<_> = line.collect();
    assert!(said.iter().any(|line| line.ends_with("left after 0 pairs")), "{said:?}");
    renewing.abort();
    place.stop().await;
}

/// A second interrupt hands pairs back instead of finishing them.
#[tokio::test]
async fn a_worker_that_leaves_at_once_hands_its_pairs_back() {
    let Some(place) = Place::new("a_worker_that_leaves_at_once_hands_its_pairs_back").await else { return };
    // An engine that thinks forever, with a limit that does not end it.
    let engine = ENGINE.replace("go) echo 'bestmove 0000'", "go) sleep 3600");
    let sha256 = blobs::put(&place.link, engine.as_bytes()).await.unwrap();
    let mut plan = place.plan(None).await;
    plan.players.iter_mut().for_each(|player| player.origin.sha256.clone_from(&sha256));
    plan.rules.stall_timeout = Duration::from_hours(1);
    let mut run = place.coordinate("run", plan, 0).await;
    let (worker, stop, _lines) = place.work(&place.trusting());
    let mut given = 0;
    let mut back = 0;
    while given == 0 || back < given {
        match run.port.events.recv().await.unwrap() {
            RemoteEvent::Asks(seat) if given < 2 => {
                run.port.answers.send(SeatAnswer::Task(seat, Box::new(task(given)))).unwrap();
                given += 1;
                if given == 2 {
                    stop.send(Stop::Now).unwrap();
                }
            }
            RemoteEvent::Gone { .. } => back += 1,
            RemoteEvent::Broken(why) => panic!("{why}"),
            _ => {}
        }
    }
    worker.await.unwrap().unwrap();
    run.end().await;
    place.stop().await;
}

/// A result that no journal had when the coordinator ended is taken by the next one, though its
/// pair is not played again.
#[tokio::test]
async fn results_wait_for_the_next_coordinator() {
    let Some(place) = Place::new("results_wait_for_the_next_coordinator").await else { return };
    let plan = place.plan(None).await;
    let mut run = place.coordinate("run", plan.clone(), 0).await;
    let (worker, stop, _lines) = place.work(&place.trusting());
    let mut games = Vec::new();
    let mut given = false;
    loop {
        match run.port.events.recv().await.unwrap() {
            RemoteEvent::Asks(seat) if !given => {
                run.port.answers.send(SeatAnswer::Task(seat, Box::new(task(7)))).unwrap();
                given = true;
            }
            RemoteEvent::Game(WorkerEvent::Ended { record, .. }) => games.push(*record),
            // It ends before the games are on its disk.
            RemoteEvent::Written(_) => break,
            _ => {}
        }
    }
    run.serving.abort();
    let heard = Listening::start(&place.link, "run").await.unwrap();
    let (port, next) = place.coordinator("run", plan.clone(), file::to_toml(&plan));
    (run.port, run.serving) = (port, serving(next.going_on(heard)));
    let mut again = Vec::new();
    let (mut is_held, mut is_done) = (false, false);
    while !is_done {
        match run.port.events.recv().await.unwrap() {
            RemoteEvent::Asks(_) => assert!(is_held, "asks before the workers were heard"),
            RemoteEvent::Holds { seat, pair } => {
                assert_eq!((pair, is_held), (PairId(7), false));
                is_held = true;
                run.port.answers.send(SeatAnswer::Task(seat, Box::new(task(7)))).unwrap();
            }
            RemoteEvent::Game(WorkerEvent::Ended { record, .. }) => again.push(*record),
            RemoteEvent::Written(reply) => {
                reply.send(()).unwrap();
                is_done = true;
            }
            RemoteEvent::Broken(why) => panic!("{why}"),
            RemoteEvent::Gone { .. } => panic!("a pair came back"),
            _ => {}
        }
    }
    assert_eq!((games.len(), &again), (2, &games));
    stop.send(Stop::AfterGame).unwrap();
    worker.await.unwrap().unwrap();
    run.end().await;
    place.stop().await;
}

/// The signs of life of a worker say how far it is in its pair. One that hangs is told from a slow
/// one by them.
#[tokio::test]
async fn signs_of_life_count_moves() {
    let Some(place) = Place::new("signs_of_life_count_moves").await else { return };
    // Black waits forever.
    let moves = "position) case $rest in *moves*) exec sleep 1000;; esac;; go) echo 'bestmove e2e4';;";
    let engine = ENGINE.replace("go) echo 'bestmove 0000';;", moves);
    assert_ne!(engine, ENGINE);
    let plan = place.plan_of(&engine, None).await;
    let run = place.coordinate("run", plan, 0).await;
    let mut beats = place.link.requests(crate::cluster::link::subject("run", "beat")).await.unwrap();
    let (worker, stop, _lines) = place.work(&place.trusting());
    let Coordinated { mut port, quit, renewing, serving } = run;
    let answering = tokio::spawn(async move {
        let mut given = 0;
        while let Some(event) = port.events.recv().await {
            if let RemoteEvent::Asks(seat) = event {
                let answer =
                    if given == 0 { SeatAnswer::Task(seat, Box::new(task(7))) } else { SeatAnswer::Leave(seat) };
                port.answers.send(answer).unwrap();
                given += 1;
            }
        }
    });
    loop {
        let beat: wire::Heartbeat = wire::from_bytes(&beats.next().await.unwrap().payload).unwrap();
        assert_eq!(beat.held.len(), beat.progress.len());
        if let [(7, _)] = beat.held[..]
            && beat.progress == [1]
        {
            break;
        }
    }
    stop.send(Stop::Now).unwrap();
    worker.await.unwrap().unwrap();
    answering.abort();
    serving.abort();
    quit.send(()).unwrap();
    renewing.await.unwrap();
    place.stop().await;
}

/// A worker that asks without end waits behind a bound, and the seats of others are free.
#[tokio::test]
async fn requests_of_a_user_are_bounded() {
    let Some(place) = Place::new("requests_of_a_user_are_bounded").await else { return };
    let plan = place.plan(None).await;
    let mut run = place.coordinate("run", plan, 0).await;
    let flood = Link::open(&place.worker, "anna-box-1").await.unwrap();
    let asks = (0..2 * MOST_PAIRS).map(|slot| {
        let slot = u16::try_from(slot).unwrap();
        let take = wire::Take { v: wire::VERSION, worker: "anna-box-1".to_owned(), slot, sent: Vec::new() };
        let flood = flood.clone();
        async move { flood.ask(subject_of("run", "take", "anna-box-1"), &take).await }
    });
    futures_util::future::join_all(asks).await;
    let mut asked = 0;
    while let Ok(event) = run.port.events.try_recv() {
        asked += usize::from(matches!(event, RemoteEvent::Asks(_)));
    }
    assert!((1..=MOST_PAIRS).contains(&asked), "{asked}");
    run.end().await;
    place.stop().await;
}
