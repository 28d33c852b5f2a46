//! Workers of a run: figures of the games that each one played, and its state while the run is
//! live.
//!
//! Figures by score are for people to look at. Nothing is ever decided by them: to set a worker
//! aside by its results would choose the results.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use crate::record::{GameRecord, PlayerId, Termination, TimeScale};

/// Minimum number of pairs, of a worker and of the others, for a comparison of scores.
const LEAST_PAIRS: u64 = 5;

/// Games over which the speed of a worker is taken.
pub const SPEED_GAMES: usize = 20;

/// Nodes and time of a player's searches in a game, as its engine reported both.
#[must_use]
pub fn work(game: &GameRecord, player: PlayerId) -> (u64, Duration) {
    let searches = game.plies().filter(|(_, color, _)| *game.players.get(*color) == player);
    let reported = searches.filter_map(|(_, _, ply)| Some((ply.info.nodes?, ply.info.time?)));
    reported.fold((0, Duration::ZERO), |(nodes, time), (more, longer)| {
        (nodes.saturating_add(more), time.saturating_add(longer))
    })
}

/// Speed of an engine over the last games.
#[derive(Clone, Debug, Default)]
pub struct RecentSpeed {
    games: VecDeque<(u64, Duration)>,
}

impl RecentSpeed {
    /// Records the nodes and the time of a game. One without either says nothing.
    pub fn record(&mut self, (nodes, time): (u64, Duration)) {
        if nodes > 0 && !time.is_zero() {
            self.games.push_back((nodes, time));
        }
        if self.games.len() > SPEED_GAMES {
            self.games.pop_front();
        }
    }

    /// True once the last games are as many as a speed is judged by.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.games.len() >= SPEED_GAMES
    }

    /// Nodes per second; `None` without a game.
    #[must_use]
    pub fn nps(&self) -> Option<f64> {
        let nodes: f64 = self.games.iter().map(|(nodes, _)| *nodes as f64).sum();
        let time: f64 = self.games.iter().map(|(_, time)| time.as_secs_f64()).sum();
        (time > 0.0).then(|| nodes / time)
    }
}

/// Figures of the games of one worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkerFigures {
    /// Finished games, void ones included.
    pub games: u64,
    /// Counted pairs.
    pub pairs: u64,
    /// Games lost on time.
    pub time_losses: u64,
    /// Void games.
    pub voided: u64,
    /// Games lost by a crash, a stall or an illegal move.
    pub failures: u64,
    /// Nodes per second of the reference engine in the last games; `None` if it does not report
    /// them.
    pub nps: Option<u64>,
    /// Factor of the times of the last game; `None` if they were those of the plan.
    pub scale: Option<TimeScale>,
    points: Points,
}

/// Sums over the points of pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Points {
    pairs: u64,
    sum: u64,
    squares: u64,
}

impl Points {
    fn record(&mut self, half_points: u8) {
        let points = u64::from(half_points);
        self.pairs += 1;
        self.sum += points;
        self.squares += points * points;
    }

    fn mean(&self) -> f64 {
        self.sum as f64 / self.pairs as f64
    }

    fn variance(&self) -> f64 {
        self.squares as f64 / self.pairs as f64 - self.mean().powi(2)
    }

    /// Distance of the mean of `self` from that of the other pairs of `all`, in standard errors.
    fn z(&self, all: &Self) -> Option<f64> {
        let others = Self { pairs: all.pairs - self.pairs, sum: all.sum - self.sum, squares: 0 };
        if self.pairs.min(others.pairs) < LEAST_PAIRS {
            return None;
        }
        let error = (all.variance() * (1.0 / self.pairs as f64 + 1.0 / others.pairs as f64)).sqrt();
        (error > 0.0).then(|| (self.mean() - others.mean()) / error)
    }
}

/// Figures of all workers whose games a run has.
#[derive(Clone, Debug, Default)]
pub struct FiguresByWorker {
    by_name: BTreeMap<String, WorkerFigures>,
    /// Pairs of two players, those of the run's own threads included.
    all: Points,
    /// Player whose engine's speed is shown.
    reference: Option<PlayerId>,
    speeds: BTreeMap<String, RecentSpeed>,
    /// Workers as their coordinator saw them last, in this session.
    last_seen: Vec<WorkerStatus>,
}

impl FiguresByWorker {
    /// Figures without a game. The speed of the engine of `reference` is shown.
    pub(super) fn new(reference: PlayerId) -> Self {
        Self { reference: Some(reference), ..Self::default() }
    }

    /// Records the workers as their coordinator sees them now.
    pub fn see(&mut self, workers: &[WorkerStatus]) {
        self.last_seen = workers.to_vec();
    }

    /// Records that the run has ended here: nobody plays for it any more.
    pub(super) fn end(&mut self) {
        for worker in self.last_seen.iter_mut().filter(|worker| worker.serves) {
            "served to the end".clone_into(&mut worker.state);
        }
    }

    /// Workers as they were seen last; none of a run that is read from its journal.
    #[must_use]
    pub fn last_seen(&self) -> &[WorkerStatus] {
        &self.last_seen
    }

    /// Records a finished game.
    pub(super) fn record(&mut self, game: &GameRecord) {
        let nps = self.speed(game);
        let Some(figures) = self.of(game) else { return };
        figures.games += 1;
        (figures.nps, figures.scale) = (nps, game.scale);
        figures.voided += u64::from(game.is_void);
        figures.time_losses += u64::from(game.ending.termination == Termination::TimeForfeit);
        figures.failures += u64::from(game.ending.termination.is_failure());
    }

    /// Records a pair that counts. `half_points` are those of the player whose score is compared;
    /// `None` if more than two play, and in a tuning.
    pub(super) fn record_pair(&mut self, first: &GameRecord, half_points: Option<u8>) {
        half_points.into_iter().for_each(|points| self.all.record(points));
        let Some(figures) = self.of(first) else { return };
        figures.pairs += 1;
        half_points.into_iter().for_each(|points| figures.points.record(points));
    }

    fn speed(&mut self, game: &GameRecord) -> Option<u64> {
        let speed = self.speeds.entry(game.worker.clone()?).or_default();
        self.reference.into_iter().for_each(|player| speed.record(work(game, player)));
        speed.nps().map(|nps| nps.round() as u64)
    }

    fn of(&mut self, game: &GameRecord) -> Option<&mut WorkerFigures> {
        let name = game.worker.as_ref()?;
        if !self.by_name.contains_key(name) {
            self.by_name.insert(name.clone(), WorkerFigures::default());
        }
        self.by_name.get_mut(name)
    }

    /// Figures of each worker by name, with its score against that of the others in standard
    /// errors; `None` with too few pairs.
    pub fn rows(&self) -> impl Iterator<Item = (&str, WorkerFigures, Option<f64>)> {
        self.by_name.iter().map(|(name, figures)| (name.as_str(), *figures, figures.points.z(&self.all)))
    }
}

/// State of a worker as its coordinator sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerStatus {
    /// Name of the worker.
    pub name: String,
    /// Its processor and number of cores; empty if unknown.
    pub machine: String,
    /// Number of its slots.
    pub slots: u16,
    /// Pairs that it held when it was lost, which were played again.
    pub lost: u64,
    /// Pairs that another worker played alike; `None` if the run verifies none.
    pub verified: Option<u64>,
    /// True if it plays or waits for a pair.
    pub serves: bool,
    /// State in words, with its reason.
    pub state: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Leg;
    use crate::tournament::scoreboard::tests;

    fn game() -> GameRecord {
        tests::game(0, Leg::First, 2)
    }

    #[test]
    fn scores_are_compared_between_workers_and_shown_from_five_pairs_on() {
        let mut workers = FiguresByWorker::default();
        let on = |worker: Option<&str>| GameRecord { worker: worker.map(str::to_owned), ..game() };
        for _ in 0..8 {
            workers.record_pair(&on(Some("a")), Some(2));
            workers.record_pair(&on(Some("b")), Some(4));
            workers.record_pair(&on(None), Some(2));
        }
        workers.record_pair(&on(Some("c")), Some(0));
        let rows: Vec<_> = workers.rows().collect();
        assert_eq!(
            rows.iter().map(|(name, figures, _)| (*name, figures.pairs)).collect::<Vec<_>>(),
            [("a", 8), ("b", 8), ("c", 1)]
        );
        // 25 pairs with mean 2.56 and variance 1.1264; b has 4 against 32/17 of the others.
        let expected = (4.0 - 32.0 / 17.0) / (1.1264_f64 * (1.0 / 8.0 + 1.0 / 17.0)).sqrt();
        assert!((rows[1].2.unwrap() - expected).abs() < 1e-9, "{:?}", rows[1]);
        assert!(rows[0].2.unwrap() < 0.0 && rows[2].2.is_none());
    }

    #[test]
    fn a_speed_is_that_of_the_last_games_that_have_one() {
        let mut speed = RecentSpeed::default();
        let quarter = Duration::from_millis(250);
        speed.record((0, quarter));
        speed.record((500, Duration::ZERO));
        assert_eq!((speed.nps(), speed.is_full()), (None, false), "an engine that does not say");
        for _ in 0..SPEED_GAMES {
            speed.record((500, quarter));
        }
        assert_eq!((speed.nps(), speed.is_full()), (Some(2_000.0), true));
        for _ in 0..SPEED_GAMES / 2 {
            speed.record((1_000, quarter));
        }
        assert_eq!(speed.nps(), Some(3_000.0));
        for _ in 0..SPEED_GAMES {
            speed.record((1_000, quarter));
        }
        assert_eq!(speed.nps(), Some(4_000.0), "older games are forgotten");
    }

    #[test]
    fn nobody_plays_after_the_end() {
        let worker = |serves, state: &str| WorkerStatus {
            name: String::new(),
            machine: String::new(),
            slots: 1,
            lost: 0,
            verified: None,
            serves,
            state: state.to_owned(),
        };
        let mut workers = FiguresByWorker::default();
        workers.see(&[worker(true, "playing pair 3"), worker(false, "silent for 30 s")]);
        workers.end();
        let states: Vec<_> = workers.last_seen().iter().map(|worker| worker.state.as_str()).collect();
        assert_eq!(states, ["served to the end", "silent for 30 s"]);
    }

    #[test]
    fn faults_are_counted_by_worker_and_never_without_one() {
        let mut workers = FiguresByWorker::default();
        let mut lost = GameRecord { worker: Some("a".to_owned()), ..game() };
        lost.ending.termination = Termination::TimeForfeit;
        lost.is_void = true;
        workers.record(&lost);
        lost.ending.termination = Termination::Crash;
        lost.is_void = false;
        workers.record(&lost);
        workers.record(&GameRecord { worker: None, ..lost });
        let (name, figures, z) = workers.rows().next().unwrap();
        assert_eq!((name, figures.games, figures.time_losses, figures.voided, figures.failures), ("a", 2, 1, 1, 1));
        assert_eq!((workers.rows().count(), z), (1, None));
    }
}
