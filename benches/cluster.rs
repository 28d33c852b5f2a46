//! Load of a run at a hub: 1,000 simulated workers with 8,000 slots, a server and a coordinator,
//! and what each of these costs a pair. All games are made up (`quintain worker URL --simulate N`).
//!
//! `cargo bench --bench cluster`, with nats-server installed. Workers, server and coordinator share
//! the machine, so wall times are lower bounds: the CPU time of a pair is the figure to trust.

#![allow(clippy::print_stdout, reason = "a benchmark's output")]

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const QUINTAIN: &str = env!("CARGO_BIN_EXE_quintain");
const FAKE: &str = env!("CARGO_BIN_EXE_fake_engine");

/// Clock ticks of /proc a second, on every Linux.
const TICKS: f64 = 100.0;

/// Name, plies of a game, mean seconds of a pair, workers; each worker has eight slots.
const LOADS: [(&str, u32, u32, u32); 3] =
    [("full records", 80, 8, 1_000), ("small records", 2, 4, 1_000), ("pairs of 50 s", 80, 50, 1_000)];

fn main() {
    let seconds = std::env::var("QUINTAIN_LOAD_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(20);
    let chosen = std::env::var("QUINTAIN_LOAD").unwrap_or_default();
    for (name, plies, pair, workers) in LOADS.into_iter().filter(|load| load.0.contains(&chosen)) {
        measure(name, (plies, pair, workers), Duration::from_secs(seconds));
    }
}

fn measure(name: &str, (plies, pair, workers): (u32, u32, u32), window: Duration) {
    let folder = tempfile::tempdir().expect("a folder");
    let home = folder.path();
    let data = home.join("hub").display().to_string();
    let (hub, url) = start_hub(home, &data);
    let file = home.join("load.toml").display().to_string();
    let invited = at(home, &["hub", "invite", "load", "--data", &data, "--file", &file]).status().expect("it runs");
    assert!(invited.success(), "no invitation");
    let dir = home.join("run");
    let (one, other, out) = (format!("{FAKE} -- --seed 1"), format!("{FAKE} -- --seed 2"), dir.display().to_string());
    let at_hub = format!("{url} simulated");
    let words = ["match", &one, &other, "--nodes", "1", "--pairs", "4000000", "--seed", "1", "--workers", &at_hub];
    let run = Ends(at(home, &[&words[..], &["--out", &out]].concat()).spawn().expect("it runs"));
    let (workers, plies) = (workers.to_string(), plies.to_string());
    let seconds = pair.to_string();
    let words = ["worker", &url, "--simulate", &workers, "--pair-time", &seconds, "--plies", &plies];
    let load = Ends(at(home, &[&words[..], &["--credentials", &file]].concat()).spawn().expect("it runs"));
    let server = server_of(&PathBuf::from(&data));
    // Each slot has had its first pair by then, and the first pair in order counts.
    let mut journal = Lines::of(&dir.join(quintain::journal::FILE_NAME));
    let mut pgn = Lines::of(&dir.join("games.pgn"));
    let began = Instant::now();
    while journal.count() < 3 || pgn.count() == 0 || began.elapsed() < Duration::from_secs(u64::from(2 * pair)) {
        assert!(began.elapsed() < Duration::from_secs(300), "no games");
        std::thread::sleep(Duration::from_millis(100));
    }
    let ids = [run.0.id(), server, load.0.id()];
    let (games, before, began) = (journal.count(), ids.map(cpu_seconds), Instant::now());
    std::thread::sleep(window);
    let (pairs, after, took) = (journal.count() - games, ids.map(cpu_seconds), began.elapsed().as_secs_f64());
    let pairs = pairs as f64 / 2.0;
    println!("{name}, {workers} workers of 8 slots: {:.0} pairs/s", pairs / took);
    for (place, who) in ["coordinator", "server", "all workers"].into_iter().enumerate() {
        let cpu = after[place] - before[place];
        println!(
            "  {who}: {:.1} us CPU a pair ({:.0} pairs/s on a core), {:.1} % of a core, {:.0} MB resident at most",
            cpu / pairs * 1e6,
            pairs / cpu,
            cpu / took * 100.0,
            resident(ids[place])
        );
    }
    drop((load, run, hub));
}

/// A process that ends with this.
struct Ends(Child);

impl Drop for Ends {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The program, with its user's settings in a folder.
fn at(home: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(QUINTAIN);
    command.args(words).env("XDG_CONFIG_HOME", home.join("config")).env("HOME", home);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn start_hub(home: &Path, data: &str) -> (Ends, String) {
    let mut command = at(home, &["hub", "--listen", "127.0.0.1:0", "--data", data]);
    let mut hub = Ends(command.stderr(Stdio::piped()).spawn().expect("it runs"));
    let mut lines = BufReader::new(hub.0.stderr.take().expect("a pipe")).lines().map_while(Result::ok);
    let mut url = String::new();
    for line in lines.by_ref() {
        if let Some(rest) = line.strip_prefix("hub at ") {
            rest.split(',').next().unwrap_or_default().clone_into(&mut url);
        }
        if line.contains("play with its workers") {
            break;
        }
    }
    assert!(!url.is_empty(), "the hub ended; is nats-server installed?");
    std::thread::spawn(move || lines.count());
    (hub, url)
}

fn server_of(data: &Path) -> u32 {
    let text = std::fs::read_to_string(data.join("server.pid")).expect("a running server");
    text.trim().parse().expect("its number")
}

/// User and system time of a process.
fn cpu_seconds(id: u32) -> f64 {
    let text = std::fs::read_to_string(format!("/proc/{id}/stat")).expect("a process");
    let after_name = text.rsplit(')').next().unwrap_or_default();
    let fields: Vec<f64> =
        after_name.split_whitespace().skip(11).take(2).filter_map(|field| field.parse().ok()).collect();
    fields.iter().sum::<f64>() / TICKS
}

/// Highest resident memory of a process, in MB.
fn resident(id: u32) -> f64 {
    let text = std::fs::read_to_string(format!("/proc/{id}/status")).expect("a process");
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a figure");
    line.trim().trim_end_matches(" kB").parse::<f64>().expect("a figure") / 1e3
}

/// Lines of a growing file.
struct Lines {
    path: PathBuf,
    read: Option<std::fs::File>,
    lines: u64,
}

impl Lines {
    fn of(path: &Path) -> Self {
        Self { path: path.to_owned(), read: None, lines: 0 }
    }

    fn count(&mut self) -> u64 {
        self.read = self.read.take().or_else(|| std::fs::File::open(&self.path).ok());
        let mut chunk = vec![0; 1 << 20];
        while let Some(read) = self.read.as_mut().and_then(|file| file.read(&mut chunk).ok()).filter(|read| *read > 0) {
            self.lines += chunk[..read].iter().filter(|byte| **byte == b'\n').count() as u64;
        }
        self.lines
    }
}
