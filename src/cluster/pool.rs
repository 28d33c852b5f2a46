//! `quintain worker URL`: serves the runs of a hub as its owner allows, several at a time.
//!
//! It looks at the list of runs, deals its places among those that it can serve (`shares`), joins
//! them (`joining`) and leaves those that are over. A run that it cannot serve is named once, with
//! the reason, and not tried again until its coordinator begins again, unless the reason may pass.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use futures_util::StreamExt as _;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, MissedTickBehavior};

use super::access::Access;
use super::cache::{Cache, CacheError};
use super::joining::House;
use super::link::{LOST, Link, LinkError};
use super::notes::NoteNumbers;
use super::places::Places;
use super::registry::{self, List, PRESENCE, RunEntry, Speed, TAKEOVER, WorkerEntry};
use super::shares::{Candidate, Shares};
use super::sign::PublicKey;
use super::terms::{Room, Terms, memory_of_needs};
use super::wire::{self, Note};
use super::worker::{Figures, SlotShare, WorkerError};
use crate::plan::affinity::Affinity;
use crate::schedule::affinity::Topology;
use crate::text::{count, random_hex};
use crate::tournament::events::Stop;

/// Interval of the looks at runs.
const TICK: Duration = Duration::from_secs(1);

/// Interval of the readings of the list. A new run is announced besides.
const READING: Duration = Duration::from_secs(5);

/// Time after which places are dealt again.
const QUANTUM: Duration = Duration::from_mins(5);

/// Time without any pair after which a run leaves its places to others.
const HUNGRY: Duration = Duration::from_secs(15);

/// Time for which it gets none then.
const FAST: Duration = Duration::from_mins(1);

/// Time after which a run is tried again that was over here, or could not be joined for a reason
/// that may pass.
const RETRY: Duration = Duration::from_secs(30);

/// Time after which a coordinator that refused this worker is asked again: the machines that it
/// was compared with may have left.
const ASK_AGAIN: Duration = Duration::from_mins(10);

/// Time without a renewal of its entry after which a run has no coordinator.
const AWAY: Duration = Duration::from_secs(30);

/// Settings of a worker.
#[derive(Debug)]
pub(crate) struct PoolSettings {
    /// The hub.
    pub(crate) access: Access,
    /// The owner's terms.
    pub(crate) terms: Terms,
    /// Places for games of one thread.
    pub(crate) slots: u16,
    /// Memory for engines, in MiB.
    pub(crate) memory_mib: u64,
    /// Model of the CPU.
    pub(crate) cpu: String,
    /// Folder of programs and networks.
    pub(crate) cache: PathBuf,
    /// Folder that engines write to, also for their standard error.
    pub(crate) scratch: PathBuf,
    /// True to serve coordinators of any version.
    pub(crate) any_version: bool,
}

/// Reason that a worker ends.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PoolError {
    /// The hub cannot be used.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// The folder for programs cannot be used.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// The system provided no randomness.
    #[error("the system has no random numbers: {0}")]
    Random(std::io::Error),
    /// The hub does not accept the credentials any more.
    #[error(
        "{url}: the hub no longer accepts user {user}; its owner can make new credentials with `quintain hub invite {user}`"
    )]
    Revoked {
        /// Address of the hub.
        url: String,
        /// Name of the user.
        user: String,
    },
}

/// A run that this worker has dealt with.
struct KnownRun {
    /// Life of its coordinator.
    life: String,
    state: RunState,
}

enum RunState {
    /// The run is being joined or played.
    Served { share: watch::Sender<SlotShare>, figures: Arc<Figures>, hungry_since: Option<Instant> },
    /// The run gets no places before this time, or, if `None`, as long as its coordinator lives.
    Left { until: Option<Instant>, why: String },
}

/// The end of a run here.
type RunEnd = (String, Result<(), WorkerError>);

struct Pool {
    house: House,
    slots: u16,
    entry: WorkerEntry,
    shares: Shares,
    known: BTreeMap<String, KnownRun>,
    listed: Vec<RunEntry>,
    /// Last sign of life of each coordinator, and the time at which it was first seen.
    signs: BTreeMap<String, ((String, u64), Instant)>,
    /// Time of the first reading of the list.
    read_first: Option<Instant>,
    /// Runs in the first reading that have not been renewed since. A coordinator that was killed
    /// leaves its entry behind for a day.
    unrenewed: BTreeSet<String>,
    /// Runs of the last deal, and its time.
    dealt: Option<(Vec<Candidate>, Instant)>,
    ends: mpsc::UnboundedSender<RunEnd>,
    stop: Stop,
    /// True if the hub's list does not have the present state of this worker.
    is_news: bool,
    /// True if the owner was told that the connection is lost.
    is_lost: bool,
}

/// Serves the runs of a hub until `stop` says otherwise. `lines` are for the owner.
///
/// # Errors
/// Returns an error if the hub cannot be used.
pub(crate) async fn serve_hub(
    settings: PoolSettings,
    mut stop: watch::Receiver<Stop>,
    lines: mpsc::UnboundedSender<String>,
) -> Result<(), PoolError> {
    let PoolSettings { access, terms, slots, memory_mib, cpu, cache, scratch, any_version } = settings;
    let life = random_hex().map_err(PoolError::Random)?;
    let session = format!("{}-{}", access.user, &life[..8]);
    let link = Link::open(&access, &session).await?;
    let topology = Topology::detect();
    let cpus = topology.slots(&Affinity::Auto, 1);
    let places = (0..slots).map(|place| (place, cpus.get(usize::from(place)).cloned().unwrap_or_default()));
    let entry = WorkerEntry {
        v: wire::VERSION,
        name: format!("{}.{}", access.user, &life[..8]),
        program: env!("CARGO_PKG_VERSION").to_owned(),
        cpu,
        cores: topology.physical_cores(),
        slots,
        ..WorkerEntry::default()
    };
    let house = House {
        link: link.clone(),
        session,
        cache: Arc::new(Cache::open(&cache, terms.disk_mib)?),
        terms: Arc::new(terms),
        room: Arc::new(Room { slots, memory_mib, cache, scratch: scratch.join("scratch") }),
        places: Places::new(places, memory_mib),
        stderr_dir: scratch,
        benches: Arc::default(),
        speeds: Arc::default(),
        note_numbers: NoteNumbers::default(),
        in_use: Arc::default(),
        any_version,
        lines,
    };
    let mut news = link.requests(List::Runs.subject(">")).await?;
    let (ends, mut ended) = mpsc::unbounded_channel();
    let mut pool = Pool::new(house, slots, entry, ends);
    let games = count(slots.into(), "game");
    pool.say(format!("connected to {} as {}; {games} at once", access.url, access.user));
    let (mut read_at, mut present_at) = (None::<Instant>, Instant::now());
    let mut tick = looks();
    loop {
        tokio::select! {
            _ = tick.tick() => {}
            Some((run, result)) = ended.recv() => pool.on_end(&run, result),
            // An entry that is new or renewed; renewals are frequent, new ones are not.
            Some(message) = news.next() => {
                let run = wire::from_bytes::<RunEntry>(&message.payload).ok();
                if run.is_none_or(|run| pool.known.contains_key(&run.run)) {
                    continue;
                }
                read_at = None;
            }
            Ok(()) = stop.changed() => pool.on_stop(*stop.borrow()),
        }
        if link.is_refused() {
            pool.tell_of_unsent();
            return Err(PoolError::Revoked { url: access.url, user: access.user });
        }
        if read_at.is_none_or(|at| at.elapsed() >= READING) {
            // A hub that does not answer is waited for: the runs continue meanwhile.
            if let Ok(listed) = registry::read::<RunEntry>(&link, List::Runs).await {
                pool.list(listed);
            }
            read_at = Some(Instant::now());
        }
        pool.look();
        pool.tell_of_connection(&access.url);
        if std::mem::take(&mut pool.is_news) || present_at.elapsed() >= PRESENCE {
            registry::put_worker(&link, &pool.presence()).await;
            present_at = Instant::now();
        }
        if pool.is_done() {
            pool.tell_of_unsent();
            return Ok(());
        }
    }
}

fn looks() -> tokio::time::Interval {
    let mut looks = tokio::time::interval(TICK);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    looks
}

/// True for a name that a run can have.
fn is_name(run: &str) -> bool {
    (1..=64).contains(&run.len()) && run.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// Reason that a run, by its entry alone, cannot be played here, with the remedy.
pub(super) fn refusal(entry: &RunEntry, terms: &Terms, room: &Room, any_version: bool) -> Option<String> {
    let host = crate::text::printable(&entry.host);
    if entry.v != wire::VERSION {
        let (theirs, ours) = (entry.v, wire::VERSION);
        return Some(format!(
            "its coordinator on {host} speaks version {theirs} of the protocol, this worker {ours}: use the same version of quintain"
        ));
    }
    let ours = env!("CARGO_PKG_VERSION");
    // An entry may not name it.
    if !any_version && !entry.program.is_empty() && entry.program != ours {
        return Some(format!(
            "its coordinator on {host} is quintain {}, this worker {ours}: use the same version, or give --any-version",
            crate::text::printable(&entry.program)
        ));
    }
    // The signature itself is checked later.
    if !entry.signer.parse().is_ok_and(|signer: PublicKey| terms.trust.contains(&signer)) {
        return Some(format!(
            "its plan is signed by {}, which worker.toml does not trust: if you know its author, add the key to `trust`",
            crate::text::printable(&entry.signer)
        ));
    }
    terms.examine_needs(&entry.needs, room).err().map(|refusal| refusal.to_string())
}

impl Pool {
    fn new(house: House, slots: u16, entry: WorkerEntry, ends: mpsc::UnboundedSender<RunEnd>) -> Self {
        Self {
            house,
            slots,
            entry,
            shares: Shares::default(),
            known: BTreeMap::new(),
            listed: Vec::new(),
            signs: BTreeMap::new(),
            read_first: None,
            unrenewed: BTreeSet::new(),
            dealt: None,
            ends,
            stop: Stop::No,
            is_news: true,
            is_lost: false,
        }
    }

    /// Takes a reading of the hub's list.
    fn list(&mut self, listed: Vec<RunEntry>) {
        // The name becomes part of subjects and of a path.
        self.listed = listed.into_iter().filter(|entry| is_name(&entry.run)).collect();
        if self.read_first.is_none() {
            self.read_first = Some(Instant::now());
            let served = self.listed.iter().filter(|entry| !entry.simulated);
            self.unrenewed = served.map(|entry| entry.run.clone()).collect();
        }
    }

    fn say(&self, line: String) {
        // Nobody reads any more if the program ends.
        let _ = self.house.lines.send(line);
    }

    /// Says once that the connection is lost, and once that it is back.
    fn tell_of_connection(&mut self, url: &str) {
        let is_lost = self.house.link.is_lost();
        if std::mem::replace(&mut self.is_lost, is_lost) != is_lost {
            self.say(if is_lost {
                format!("{url}: {LOST}; games go on, and their results are kept until it is back")
            } else {
                format!("{url}: the hub is back")
            });
        }
    }

    fn served(&self) -> impl Iterator<Item = &String> {
        self.known.iter().filter(|(_, known)| matches!(known.state, RunState::Served { .. })).map(|(run, _)| run)
    }

    /// True if the worker was stopped and serves no run any more. Finished pairs that the hub does
    /// not have are waited for until a second interrupt.
    fn is_done(&self) -> bool {
        if self.stop == Stop::No || self.served().next().is_some() {
            return false;
        }
        self.stop == Stop::Now || self.house.link.count_unsent() == 0
    }

    /// Says how many finished pairs end with this worker.
    fn tell_of_unsent(&self) {
        match self.house.link.count_unsent() as u64 {
            0 => {}
            pairs => {
                self.say(format!("the hub has not taken {}, lost with this worker", count(pairs, "finished pair")))
            }
        }
    }

    fn on_stop(&mut self, stop: Stop) {
        self.stop = stop;
        for known in self.known.values() {
            if let RunState::Served { share, .. } = &known.state {
                share.send_modify(|share| share.stop = stop);
            }
        }
        let runs = self.served().count();
        if stop == Stop::AfterGame && runs > 0 {
            self.say("finishing the pairs in play; a second interrupt hands them back".to_owned());
        }
        if stop == Stop::AfterGame && self.house.link.is_lost() {
            self.say("finished pairs are sent once the hub is back; a second interrupt drops them".to_owned());
        }
    }

    fn on_end(&mut self, run: &str, result: Result<(), WorkerError>) {
        let title = self.title(run);
        let Some(known) = self.known.get_mut(run) else { return };
        let pairs = match &known.state {
            RunState::Served { figures, .. } => figures.pairs.load(Ordering::Relaxed),
            RunState::Left { .. } => 0,
        };
        let retry = Some(Instant::now() + RETRY);
        let (state, line) = match result {
            Ok(()) => (
                RunState::Left { until: retry, why: String::new() },
                format!("run {title}: left after {}", count(pairs, "pair")),
            ),
            Err(error) => {
                let until = match error {
                    WorkerError::Declined(_) => Some(Instant::now() + ASK_AGAIN),
                    _ => retry.filter(|_| error.is_passing()),
                };
                let line = format!("run {title}: not served: {error}");
                (RunState::Left { until, why: error.to_string() }, line)
            }
        };
        known.state = state;
        (self.dealt, self.is_news) = (None, true);
        self.say(line);
    }

    fn title(&self, run: &str) -> String {
        let entry = self.listed.iter().find(|entry| entry.run == run);
        let title = entry.map_or("", |entry| entry.title.as_str());
        let title = if title.is_empty() { run } else { title };
        crate::text::printable(title)
    }

    /// Deals places again if the runs have changed or the quantum is over.
    fn look(&mut self) {
        if self.stop != Stop::No {
            return;
        }
        self.forget();
        let mut candidates: Vec<_> = self.listed.clone().iter().filter_map(|entry| self.candidate(entry)).collect();
        // Of the runs at the start, the one of the highest priority may be renewed last.
        if !self.unrenewed.is_empty() && self.read_first.is_some_and(|at| at.elapsed() < TAKEOVER) {
            return;
        }
        self.starve(&mut candidates);
        let is_due = |(runs, at): &(Vec<Candidate>, Instant)| *runs != candidates || at.elapsed() >= QUANTUM;
        if !self.dealt.as_ref().is_none_or(is_due) {
            return;
        }
        let dealt = self.shares.deal(&candidates, self.slots, self.house.room.memory_mib);
        for candidate in &candidates {
            let games = dealt.get(&candidate.run).copied().unwrap_or(0) / candidate.threads.max(1);
            self.give(&candidate.run, games);
        }
        // A coordinator that has ended does not answer slots that ask later.
        let gone: Vec<_> =
            self.served().filter(|run| candidates.iter().all(|candidate| candidate.run != **run)).cloned().collect();
        gone.iter().for_each(|run| self.give(run, 0));
        self.dealt = Some((candidates, Instant::now()));
    }

    /// Forgets runs that are not listed any more.
    fn forget(&mut self) {
        let listed = &self.listed;
        self.known.retain(|run, known| {
            matches!(known.state, RunState::Served { .. }) || listed.iter().any(|entry| entry.run == *run)
        });
        self.signs.retain(|run, _| listed.iter().any(|entry| entry.run == *run));
        self.unrenewed.retain(|run| listed.iter().any(|entry| entry.run == *run));
    }

    /// Takes the places of runs that have had nothing to play for a while, if other candidates want
    /// them.
    fn starve(&mut self, candidates: &mut Vec<Candidate>) {
        let now = Instant::now();
        for (run, known) in &mut self.known {
            let RunState::Served { share, figures, hungry_since } = &mut known.state else { continue };
            let are_wanted = candidates.iter().any(|other| other.run != *run);
            if figures.in_vain.load(Ordering::Relaxed) == 0 {
                *hungry_since = None;
            } else if now - *hungry_since.get_or_insert(now) > HUNGRY && are_wanted {
                share.send_modify(|share| share.games = 0);
                *hungry_since = Some(now + FAST);
                candidates.retain(|candidate| candidate.run != *run);
            }
        }
    }

    /// A run as one that may get places now; a new one is checked as far as its entry allows.
    fn candidate(&mut self, entry: &RunEntry) -> Option<Candidate> {
        if entry.simulated {
            return None;
        }
        let now = Instant::now();
        let of_another_life =
            |known: &KnownRun| known.life != entry.life && matches!(known.state, RunState::Left { .. });
        if self.known.get(&entry.run).is_some_and(of_another_life) {
            self.known.remove(&entry.run);
        }
        let sign = (entry.life.clone(), entry.beat);
        let seen = self.signs.entry(entry.run.clone()).or_insert_with(|| (sign.clone(), now));
        if seen.0 != sign {
            *seen = (sign, now);
            self.unrenewed.remove(&entry.run);
        }
        if seen.1.elapsed() > AWAY || self.unrenewed.contains(&entry.run) {
            return None;
        }
        let may_play = match self.known.get(&entry.run).map(|known| &known.state) {
            None => self.is_fit(entry),
            Some(RunState::Served { hungry_since, .. }) => hungry_since.is_none_or(|since| since <= now),
            Some(RunState::Left { until, .. }) => until.is_some_and(|until| until <= now),
        };
        let threads = u16::try_from(entry.needs.threads.max(1)).unwrap_or(u16::MAX);
        let (run, priority, weight) = (entry.run.clone(), entry.priority, entry.weight);
        let memory_mib = memory_of_needs(&entry.needs);
        may_play.then_some(Candidate { run, priority, weight, threads, memory_mib })
    }

    /// Refuses a run that, by its entry alone, cannot be played here.
    fn is_fit(&mut self, entry: &RunEntry) -> bool {
        let house = &self.house;
        let Some(why) = refusal(entry, &house.terms, &house.room, house.any_version) else { return true };
        self.say(format!("run {}: not served: {why}", self.title(&entry.run)));
        let (house, run, text) = (self.house.clone(), entry.run.clone(), format!("does not serve this run: {why}"));
        tokio::spawn(async move { house.tell(&run, Note::Text(text)).await });
        let state = RunState::Left { until: None, why };
        self.known.insert(entry.run.clone(), KnownRun { life: entry.life.clone(), state });
        self.is_news = true;
        false
    }

    /// Gives a run this number of games at once, and joins it if necessary.
    fn give(&mut self, run: &str, games: u16) {
        if let Some(KnownRun { state: RunState::Served { share, .. }, .. }) = self.known.get(run) {
            share.send_if_modified(|share| std::mem::replace(&mut share.games, games) != games);
            return;
        }
        if games == 0 {
            return;
        }
        let Some(entry) = self.listed.iter().find(|entry| entry.run == run) else { return };
        self.say(format!("run {}: joining with {} at once", self.title(run), count(games.into(), "game")));
        let (share, seen) = watch::channel(SlotShare { games, stop: self.stop });
        let figures = Arc::new(Figures::default());
        let state = RunState::Served { share, figures: Arc::clone(&figures), hungry_since: None };
        self.known.insert(run.to_owned(), KnownRun { life: entry.life.clone(), state });
        self.is_news = true;
        let (house, ends, run) = (self.house.clone(), self.ends.clone(), run.to_owned());
        tokio::spawn(async move {
            let result = house.serve(run.clone(), seen, figures).await;
            let _ = ends.send((run, result));
        });
    }

    /// Entry of this worker in the hub's list.
    fn presence(&self) -> WorkerEntry {
        let refused = self.known.iter().filter_map(|(run, known)| match &known.state {
            RunState::Left { why, .. } if !why.is_empty() => Some(format!("{}: {why}", self.title(run))),
            _ => None,
        });
        let played: Vec<_> = self.served().map(|run| self.title(run)).collect();
        let refused: Vec<_> = refused.collect();
        let (state, reason) = match (played.is_empty(), refused.is_empty()) {
            (false, _) => ("playing", played.join(", ")),
            (true, false) => ("refuses", refused.join("; ")),
            (true, true) => ("idle", String::new()),
        };
        let speeds = self.house.speeds.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let speeds = speeds.into_iter().map(|(engine, nps)| Speed { engine, nps }).collect();
        WorkerEntry { state: state.to_owned(), reason, speeds, ..self.entry.clone() }
    }
}

#[cfg(test)]
mod tests;
