//! Runs that are stopped in every way, and what is left of them: nothing counted is lost, nothing counts twice.

#![allow(clippy::unwrap_used, reason = "helpers of tests may stop at the first surprise, as tests do")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use quintain::journal::{self, FILE_NAME};
use quintain::plan::openings::order::SplitMix64;
use quintain::record::GameRecord;
use rustix::process::{Pid, Signal, kill_process};

/// Past this a test has hung.
const PATIENCE: Duration = Duration::from_secs(60);

const PAIRS: u64 = 24;

/// A run of two scripted engines that think for a moment, so that there is time to stop it.
struct Run {
    folder: tempfile::TempDir,
    /// In the engines' command lines, to find them by.
    mark: String,
}

impl Run {
    fn new(mark: &str) -> Self {
        let mark = format!("{mark}-{}", std::process::id());
        Self { folder: tempfile::tempdir().unwrap(), mark }
    }

    fn dir(&self) -> PathBuf {
        self.folder.path().join("run")
    }

    fn quintain(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_quintain"));
        command.args(args).current_dir(self.folder.path()).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn start(&self, sleep_us: u32) -> Command {
        let engine = |seed| {
            let program = env!("CARGO_BIN_EXE_fake_engine");
            format!("{program} -- --name {} --seed {seed} --sleep-us {sleep_us}", self.mark)
        };
        let dir = self.dir();
        let pairs = PAIRS.to_string();
        let mut command = self.quintain(&["sprt", "--nodes", "1", "--seed", "7", "-j", "2", "--max-plies", "40"]);
        command.args(["--new", &engine(1), "--base", &engine(2), "--max-pairs", &pairs]).arg("--out").arg(dir);
        command
    }

    fn resume(&self) -> Command {
        let mut command = self.quintain(&["resume"]);
        command.arg(self.dir());
        command
    }

    fn games(&self) -> Vec<GameRecord> {
        let mut games = Vec::new();
        journal::read(&self.dir().join(FILE_NAME), |game| games.push(game)).unwrap();
        games
    }

    /// Processes whose command line holds the mark, harness and engines alike.
    fn processes(&self) -> usize {
        let holds =
            |path: &Path| fs::read(path.join("cmdline")).is_ok_and(|line| contains(&line, self.mark.as_bytes()));
        fs::read_dir("/proc").unwrap().filter(|entry| entry.as_ref().is_ok_and(|entry| holds(&entry.path()))).count()
    }
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < end, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Starts a command, waits until the journal is longer than `bytes`, and sends a signal. `None` where it was quicker.
fn stop_at(run: &Run, mut command: Command, bytes: u64, signal: Signal) -> Option<ExitStatus> {
    let mut child = command.spawn().unwrap();
    let journal = run.dir().join(FILE_NAME);
    let mut ended = None;
    wait_until("the journal grows", || {
        ended = child.try_wait().unwrap();
        ended.is_some() || fs::metadata(&journal).is_ok_and(|about| about.len() > bytes)
    });
    if ended.is_none() {
        kill_process(Pid::from_child(&child), signal).unwrap();
    }
    let status = child.wait().unwrap();
    ended.is_none().then_some(status)
}

/// What two runs of one plan must share: everything but times.
fn essence(mut games: Vec<GameRecord>) -> Vec<String> {
    games.sort_by_key(|game| game.id);
    games
        .iter()
        .map(|game| {
            let moves: Vec<_> = game.moves.iter().map(|ply| (ply.uci.as_str(), ply.info.score)).collect();
            format!("{:?} {:?} {:?} {:?} {moves:?}", game.id, game.players, game.opening, game.ending)
        })
        .collect()
}

/// The PGN without what depends on the clock.
fn timeless_pgn(run: &Run) -> String {
    let text = fs::read_to_string(run.dir().join("games.pgn")).unwrap();
    let is_timeless = |line: &&str| {
        let tag = line.strip_prefix('[').and_then(|line| line.split(' ').next());
        !tag.is_some_and(|tag| tag.starts_with("Game") || tag.contains("Date"))
    };
    let words = text.lines().filter(is_timeless).flat_map(|line| line.split(' ').chain(["\n"]));
    let is_time =
        |word: &str| word.trim_end_matches([',', '}']).strip_suffix('s').is_some_and(|n| n.parse::<f64>().is_ok());
    // Comments are wrapped at a width, so where a line ends depends on how long the times are.
    words.filter(|word| !is_time(word) && !word.trim().is_empty()).collect::<Vec<_>>().join(" ")
}

fn summary(run: &Run) -> serde_json::Value {
    serde_json::from_str(&fs::read_to_string(run.dir().join("summary.json")).unwrap()).unwrap()
}

#[test]
fn killed_at_many_points_a_run_becomes_the_unbroken_one() {
    let whole = Run::new("unbroken");
    let output = whole.start(0).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    let length = fs::metadata(whole.dir().join(FILE_NAME)).unwrap().len();

    let broken = Run::new("broken");
    let mut random = SplitMix64::new(99);
    let mut kills = 0;
    let mut begun = false;
    for part in 0..10 {
        let command = if begun { broken.resume() } else { broken.start(400) };
        let bytes = length * part / 11 + u64::from(random.below(u32::try_from(length / 11).unwrap()));
        if stop_at(&broken, command, bytes, Signal::KILL).is_some() {
            kills += 1;
        }
        begun = broken.dir().is_dir();
        wait_until("no engine outlives the harness", || broken.processes() == 0);
    }
    assert!(kills >= 8, "only {kills} of 10 kills struck a running test");
    let output = broken.resume().output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));

    let games = broken.games();
    let mut ids: Vec<_> = games.iter().map(|game| game.id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!((ids.len(), games.len() as u64), (games.len(), PAIRS * 2), "a game was lost or played twice");
    assert_eq!(essence(games), essence(whole.games()));
    assert_eq!(timeless_pgn(&broken), timeless_pgn(&whole));
    for key in ["ptnml", "wdl", "pairs", "llr", "endings", "verdict", "stopped_by"] {
        assert_eq!(summary(&broken)[key], summary(&whole)[key], "{key}");
    }
}

#[test]
fn asked_to_stop_a_run_ends_resumable() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let run = Run::new(&format!("signal-{signal:?}").replace(['(', ')', ' '], ""));
        let status = stop_at(&run, run.start(400), 2_000, signal).expect("it was to be running");
        assert_eq!(status.code(), Some(130), "{signal:?}");
        wait_until("the engines are gone", || run.processes() == 0);
        assert_eq!(summary(&run)["stopped_by"], "interrupted");
        let output = run.resume().output().unwrap();
        assert_eq!((output.status.code(), run.games().len() as u64), (Some(3), PAIRS * 2), "{}", said(&output));
    }
}

#[test]
fn one_process_at_a_time() {
    let run = Run::new("lock");
    let mut first = run.start(2_000).spawn().unwrap();
    wait_until("the journal is there", || run.dir().join(FILE_NAME).exists());
    let second = run.resume().output().unwrap();
    let _ = first.kill();
    let _ = first.wait();
    assert_eq!(second.status.code(), Some(2));
    assert!(said(&second).contains("another process is running this test"), "{}", said(&second));
}

#[test]
fn what_was_agreed_cannot_change_under_a_run() {
    let run = Run::new("changed");
    assert_eq!(run.start(0).output().unwrap().status.code(), Some(3));
    let finished = run.resume().output().unwrap();
    assert_eq!((finished.status.code(), run.games().len() as u64), (Some(3), PAIRS * 2));
    let plan = run.dir().join("plan.toml");
    let text = fs::read_to_string(&plan).unwrap();
    fs::write(&plan, text.replace("seed = 7", "seed = 8")).unwrap();
    let output = run.resume().output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("changed since the run began"), "{}", said(&output));
}
