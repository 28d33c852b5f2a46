//! A worker's way into one run: signed plan, owner's terms, files, bench, games.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use super::blobs::{self, BlobError, MOST_BLOB};
use super::cache::{Cache, CacheError};
use super::link::{Link, subject_of};
use super::notes::NoteNumbers;
use super::places::Places;
use super::sign::PublicKey;
use super::speed;
use super::terms::{LocalPlan, Room, Terms};
use super::wire::{self, Heartbeat, Note, Welcome, WireSpeed};
use super::worker::{Figures, Job, PAUSE, SlotShare, WorkerError, hello, play};
use crate::plan::{Plan, file};
use crate::record::{PlayerId, TimeScale};
use crate::schedule::engine_config;
use crate::source::bench_nodes;
use crate::tournament::events::Stop;
use crate::uci::process::{Confinement, output};

/// Time for which a coordinator is asked for its plan, or told something.
const PATIENCE: Duration = Duration::from_secs(30);

/// Time limit of an engine's bench.
const BENCH_LIMIT: Duration = Duration::from_mins(10);

/// Node counts of benches by the SHA-256 of programs.
type BenchCounts = Arc<Mutex<BTreeMap<String, u64>>>;

/// Belongings of a worker that all its runs use.
#[derive(Clone, Debug)]
pub(super) struct House {
    pub(super) link: Link,
    /// Name of this life of the worker.
    pub(super) session: String,
    pub(super) terms: Arc<Terms>,
    pub(super) room: Arc<Room>,
    pub(super) cache: Arc<Cache>,
    pub(super) places: Places,
    pub(super) stderr_dir: PathBuf,
    pub(super) benches: BenchCounts,
    /// Speeds that were measured last, by the SHA-256 of programs.
    pub(super) speeds: Arc<Mutex<BTreeMap<String, f64>>>,
    /// Numbers of the messages to coordinators.
    pub(super) note_numbers: NoteNumbers,
    /// Files of the runs that are served.
    pub(super) in_use: Arc<Mutex<BTreeMap<String, BTreeSet<String>>>>,
    /// True to serve coordinators of any version.
    pub(super) any_version: bool,
    /// Lines for the owner.
    pub(super) lines: mpsc::UnboundedSender<String>,
}

impl House {
    /// Serves a run until it is over, its share is nothing, or the worker is stopped. A refusal is
    /// told to its coordinator.
    ///
    /// # Errors
    /// Returns the reason that the run cannot be served, or not any longer.
    pub(super) async fn serve(
        self,
        run: String,
        share: watch::Receiver<SlotShare>,
        figures: Arc<Figures>,
    ) -> Result<(), WorkerError> {
        let mut stop = share.clone();
        let stopped = async { stop.wait_for(|share| share.stop != Stop::No).await.map(drop) };
        let job = tokio::select! {
            job = self.join(&run, figures) => job.map(Some),
            Ok(()) = stopped => Ok(None),
        };
        let served = match job {
            Ok(Some(job)) => play(job, share).await,
            Ok(None) => {
                // Silence reveals the end as well.
                let _ = self.link.ask(subject_of(&run, "beat", &self.session), &self.idle_beat(Vec::new())).await;
                Ok(())
            }
            Err(error) => {
                // An obstacle that passes is no refusal, unless the engine is the obstacle. A
                // coordinator knows its own.
                if !error.is_passing() || matches!(error, WorkerError::NotReady { .. }) {
                    self.tell(&run, Note::Text(format!("does not serve this run: {error}"))).await;
                }
                Err(error)
            }
        };
        self.in_use.lock().unwrap_or_else(PoisonError::into_inner).remove(&run);
        // Without a sandbox there is no such folder.
        let _ = std::fs::remove_dir_all(self.scratch(&run));
        served
    }

    /// Prepares everything that the games of a run need.
    async fn join(&self, run: &str, figures: Arc<Figures>) -> Result<Job, WorkerError> {
        let signed = match self.hello(run, None).await? {
            Welcome::Signed(signed) => signed,
            Welcome::Refused(why) => return Err(WorkerError::Declined(why)),
            Welcome::Plan(_) | Welcome::Admitted => {
                return Err(WorkerError::Refused(
                    "its plan is not signed, and this worker plays signed ones".to_owned(),
                ));
            }
        };
        let refused = |why: &dyn std::fmt::Display| WorkerError::Refused(why.to_string());
        let (author, text) = signed.verify(run, &self.terms.trust).map_err(|why| refused(&why))?;
        let agreed = self.agree(run, &text, author)?;
        self.fetch(run, &agreed).await?;
        self.bench(run, &agreed).await?;
        let speed = self.speed(run, &agreed).await?;
        let LocalPlan { mut plan, guests, memory_mib, .. } = agreed;
        let scale = speed.and_then(|speed| speed.scale).and_then(TimeScale::from_millionths);
        plan.players.iter_mut().for_each(|player| player.limit = player.limit.scaled(scale));
        let stderr_dir = self.stderr_dir.join(run);
        // No game depends on it.
        let _ = std::fs::create_dir_all(&stderr_dir);
        Ok(Job {
            link: self.link.clone(),
            run: run.to_owned(),
            session: self.session.clone(),
            places: self.places.clone(),
            places_per_game: plan.threads(),
            memory_mib,
            note_numbers: self.note_numbers.clone(),
            plan: Arc::new(plan),
            guests,
            stderr_dir,
            figures,
            speed,
        })
    }

    async fn hello(&self, run: &str, speed: Option<WireSpeed>) -> Result<Welcome, WorkerError> {
        hello(&self.link, run, &self.session, self.any_version, speed, PATIENCE).await
    }

    /// Measures this machine for a run under a clock, and asks whether it may play.
    async fn speed(&self, run: &str, agreed: &LocalPlan) -> Result<Option<WireSpeed>, WorkerError> {
        let plan = &agreed.plan;
        if !plan.is_timed() {
            return Ok(None);
        }
        let player = plan.reference_player();
        let nps = speed::measure(agreed, player, &self.places).await?;
        if let Some((player, nps)) = plan.players.get(usize::from(player.0)).zip(nps) {
            let mut speeds = self.speeds.lock().unwrap_or_else(PoisonError::into_inner);
            speeds.insert(player.origin.sha256.clone(), nps);
        }
        let scale = match plan.scale {
            None => None,
            Some(reference) => {
                let scale = nps.and_then(|nps| TimeScale::of_speeds(reference.nps as f64, nps));
                Some(scale.ok_or_else(|| self.has_no_scale(plan, nps))?.millionths())
            }
        };
        let speed = WireSpeed { nps, scale };
        match self.hello(run, Some(speed)).await? {
            Welcome::Admitted => Ok(Some(speed)),
            Welcome::Refused(why) => Err(WorkerError::Declined(why)),
            Welcome::Plan(_) | Welcome::Signed(_) => {
                Err(WorkerError::Refused("its coordinator does not understand a speed".to_owned()))
            }
        }
    }

    fn has_no_scale(&self, plan: &Plan, nps: Option<f64>) -> WorkerError {
        let engine = plan.name_of(plan.reference_player());
        let found = nps.map_or_else(
            || "reports no nodes and time in its `info` lines".to_owned(),
            |nps| format!("searches {nps:.0} nodes a second here, more than a factor of 100 from the reference"),
        );
        WorkerError::Refused(format!(
            "its times cannot be scaled for this machine: {engine} {found}; start the run without --scale, or name another engine"
        ))
    }

    fn agree(&self, run: &str, text: &str, author: PublicKey) -> Result<LocalPlan, WorkerError> {
        let plan = file::from_toml(text)?;
        // What the engines of one run write, those of another must not read.
        let room = Room { scratch: self.scratch(run), ..Room::clone(&self.room) };
        let agreed = self.terms.examine(plan, author, &room);
        agreed.map_err(|refusal| WorkerError::Refused(refusal.to_string()))
    }

    /// Folder in which the confined engines of a run write.
    fn scratch(&self, run: &str) -> PathBuf {
        self.room.scratch.join(run)
    }

    /// Fetches the files of a plan that are not on the disk yet.
    async fn fetch(&self, run: &str, agreed: &LocalPlan) -> Result<(), WorkerError> {
        let wanted: BTreeSet<String> = agreed.programs.union(&agreed.files).cloned().collect();
        let (in_use, is_alone) = {
            let mut of_runs = self.in_use.lock().unwrap_or_else(PoisonError::into_inner);
            of_runs.insert(run.to_owned(), wanted.clone());
            (of_runs.values().flatten().cloned().collect::<BTreeSet<_>>(), of_runs.len() == 1)
        };
        let most = MOST_BLOB.min(self.terms.disk_mib << 20);
        for sha256 in &wanted {
            if self.cache.has(sha256) {
                continue;
            }
            let meta = blobs::describe(&self.link, sha256, most).await.map_err(|error| not_fetched(&error))?;
            // Until there is room, each attempt would fetch the file in vain.
            self.cache.make_room(meta.size, &in_use).map_err(|error| not_kept(&error, is_alone))?;
            let bytes = blobs::get(&self.link, sha256, &meta).await.map_err(|error| not_fetched(&error))?;
            let kept = self.cache.put(sha256, &bytes, agreed.programs.contains(sha256), &in_use);
            kept.map_err(|error| not_kept(&error, is_alone))?;
        }
        Ok(())
    }

    /// Compares the engines' benches with those of the plan, if it has them.
    async fn bench(&self, run: &str, agreed: &LocalPlan) -> Result<(), WorkerError> {
        for (place, player) in agreed.plan.players.iter().enumerate() {
            let Some(expected) = player.origin.bench_nodes else { continue };
            let sha256 = &player.origin.sha256;
            let known = self.benches.lock().unwrap_or_else(PoisonError::into_inner).get(sha256).copied();
            let mut fault = String::new();
            let found = if known.is_some() {
                known
            } else {
                let mut config = engine_config(&agreed.plan, player, None);
                config.args.push("bench".to_owned());
                if let Some(guest) = agreed.guests.get(place).cloned() {
                    config.env = guest.env;
                    let own = |of_all: Confinement| Confinement { scratch: of_all.scratch.join("bench"), ..of_all };
                    config.confinement = guest.confinement.map(own);
                }
                let printed = output(&config, BENCH_LIMIT).await;
                let printed = printed.map_err(|error| WorkerError::Refused(error.to_string()))?;
                let found = bench_nodes(&printed.out);
                if let Some(nodes) = found {
                    self.benches.lock().unwrap_or_else(PoisonError::into_inner).insert(sha256.clone(), nodes);
                } else {
                    fault = printed.last_fault();
                }
                found
            };
            if found != Some(expected) {
                let player_id = PlayerId(u16::try_from(place).unwrap_or(u16::MAX));
                self.tell(run, Note::Bench { player: player_id.0, nodes: found }).await;
                let name = &player.name;
                return Err(WorkerError::Refused(match found {
                    Some(nodes) => format!(
                        "the bench of {name} is {nodes} here, the plan says {expected}: this machine computes differently, or its memory is faulty"
                    ),
                    None => format!(
                        "the bench of {name} prints no count of nodes here, the plan says {expected}{fault}: does `bench` run on this machine?"
                    ),
                }));
            }
        }
        Ok(())
    }

    /// Sign of life of a worker that does not play.
    fn idle_beat(&self, notes: Vec<Note>) -> Heartbeat {
        Heartbeat {
            v: wire::VERSION,
            worker: self.session.clone(),
            held: Vec::new(),
            progress: Vec::new(),
            sent: Vec::new(),
            back: Vec::new(),
            notes,
            first_note: Some(self.note_numbers.begin()),
            logs: Vec::new(),
            machine: None,
            speed: None,
            leaves: true,
        }
    }

    /// Tells the coordinator something, outside of any pair.
    pub(super) async fn tell(&self, run: &str, note: Note) {
        let beat = self.idle_beat(vec![note]);
        // A coordinator that has just entered its run does not listen yet. If it never does, the
        // reason stands in the list of workers as well.
        let began = Instant::now();
        while self.link.ask(subject_of(run, "beat", &self.session), &beat).await.is_none() && began.elapsed() < PATIENCE
        {
            tokio::time::sleep(PAUSE).await;
        }
    }
}

/// Reason that a file of a run could not be fetched. Only its size is certain to stay.
fn not_fetched(error: &BlobError) -> WorkerError {
    match error {
        BlobError::Large { .. } => WorkerError::Refused(error.to_string()),
        _ => WorkerError::Passing(error.to_string()),
    }
}

/// Reason that a file of a run could not be kept. The next attempt may succeed: another run may end
/// and leave room for the file, and the disk may be full no longer.
fn not_kept(error: &CacheError, is_alone: bool) -> WorkerError {
    match error {
        CacheError::Io { .. } => WorkerError::Passing(error.to_string()),
        CacheError::Full { .. } if !is_alone => WorkerError::Passing(error.to_string()),
        CacheError::Full { .. } | CacheError::Damaged(_) => WorkerError::Refused(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::children::PrivateServer;
    use crate::cluster::tests::has_server;

    /// The hub has the description of the file alone, so that an attempt to fetch it would say that
    /// it is missing.
    #[tokio::test]
    async fn a_file_without_room_is_not_fetched() {
        if !has_server("a_file_without_room_is_not_fetched") {
            return;
        }
        let (_server, link) = PrivateServer::start().await.unwrap();
        blobs::create(&link).await.unwrap();
        let wanted = "b".repeat(64);
        let about = wire::to_bytes(&serde_json::json!({ "size": 700_000, "chunk": 131_072 }));
        link.jetstream().publish(format!("blob.{wanted}.meta"), about.into()).await.unwrap().await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        let terms = folder.path().join("worker.toml");
        std::fs::write(&terms, "disk_mib = 1\n").unwrap();
        let cache = Cache::open(folder.path(), 1).unwrap();
        // The file of another run, which is as large.
        let kept = "a".repeat(64);
        std::fs::write(cache.path(&kept), vec![0; 700_000]).unwrap();
        let house = House {
            link,
            session: "a-1".to_owned(),
            terms: Arc::new(Terms::read(&terms).unwrap()),
            room: Arc::new(Room { slots: 1, memory_mib: 0, cache: PathBuf::new(), scratch: PathBuf::new() }),
            cache: Arc::new(cache),
            places: Places::new([], 0),
            stderr_dir: PathBuf::new(),
            benches: Arc::default(),
            speeds: Arc::default(),
            note_numbers: NoteNumbers::default(),
            in_use: Arc::new(Mutex::new([("other".to_owned(), [kept].into())].into())),
            any_version: false,
            lines: mpsc::unbounded_channel().0,
        };
        let agreed = LocalPlan {
            plan: file::from_toml(include_str!("../../tests/it/fixtures/v1/plan.toml")).unwrap(),
            guests: Arc::default(),
            programs: [wanted].into(),
            files: BTreeSet::new(),
            memory_mib: 0,
        };
        let error = house.fetch("run", &agreed).await.unwrap_err();
        assert!(error.is_passing() && error.to_string().contains("2 MiB of programs and networks"), "{error}");
        // Once the other run is over, its file makes room.
        house.in_use.lock().unwrap().clear();
        let error = house.fetch("run", &agreed).await.unwrap_err().to_string();
        assert!(error.contains("is no longer on the hub"), "{error}");
    }

    #[test]
    fn a_lack_of_space_that_may_pass_refuses_no_run() {
        let full = || CacheError::Full { mib: 3, quota_mib: 2 };
        let io = || CacheError::Io { path: "cache".into(), source: std::io::ErrorKind::StorageFull.into() };
        for (error, is_alone, passes) in [
            (full(), true, false),
            (full(), false, true),
            (io(), true, true),
            (io(), false, true),
            (CacheError::Damaged("0".repeat(64)), false, false),
        ] {
            assert_eq!(not_kept(&error, is_alone).is_passing(), passes, "{error} {is_alone}");
        }
    }
}
