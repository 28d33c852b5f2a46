//! Machines of different speed in runs under a clock, at a hub with a real nats-server.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::cluster::{has_server, is_installed};
use crate::harness::{Ran, journal_lines, quintain, records, summary, until};
use crate::hub::{Hub, Lent, RunAtHub, at, interrupts, is_joining};
use crate::skip::skip;

/// A timed run at a hub, whose engines stop at their second pair.
struct Timed(RunAtHub);

impl Timed {
    fn starts(more: &str) -> Self {
        // A measurement begins three games in a process of its own.
        Self(RunAtHub::start("127.0.0.1:0", 4, &format!("--tc 100+1 --max-pairs 8 {more}")))
    }

    /// A machine on which the engines search `nps` nodes per second.
    fn machine(&self, name: &str, nps: u64) -> Lent {
        let engine = format!("[[engine]]\nenv = {{ FAKE_NPS = \"{nps}\" }}\n");
        let engines = self.0.engines().replace("[[engine]]\n", &engine);
        Lent::new(&self.0.hub, name, &format!("{}{engines}", self.0.trust()))
    }

    fn ends(self) -> (Ran, PathBuf, Hub) {
        self.0.gate.open();
        let dir = self.0.dir.clone();
        let (ended, hub) = self.0.ends();
        (ended, dir, hub)
    }
}

fn worker(dir: &Path, name: &str) -> serde_json::Value {
    let summary = summary(dir);
    let workers = summary["workers"].as_array().unwrap();
    workers.iter().find(|worker| worker["name"] == name).unwrap_or(&serde_json::Value::Null).clone()
}

#[test]
fn a_run_under_a_clock_is_played_by_machines_of_one_speed() {
    if !has_server("a_run_under_a_clock_is_played_by_machines_of_one_speed") {
        return;
    }
    let timed = Timed::starts("");
    let (fast, slow) = (timed.machine("fast", 2_000_000), timed.machine("slow", 1_800_000));
    let (first, mut lines) = fast.starts(&["-j", "1"]);
    is_joining(&mut lines, "1 game");
    until("a pair", || journal_lines(&timed.0.dir) >= 3);
    let (second, mut said) = slow.starts(&["-j", "1"]);
    let refusal = said.find(|line| line.contains("not served")).expect("the worker ended");
    for words in ["worker slow searches 1.800 million nodes a second", "played at 2.000 million", "--scale ENGINE=NPS"]
    {
        assert!(refusal.contains(words), "{refusal}");
    }
    until("its reason", || timed.0.workers().contains("refused: worker slow searches"));
    let shown = timed.0.workers();
    assert!(shown.lines().next().unwrap().contains("nps"), "{shown}");
    assert!(shown.lines().any(|line| line.starts_with("fast ") && line.contains(" 2000000 ")), "{shown}");
    let url = &timed.0.hub.url;
    let listed = at(timed.0.hub.folder.path(), quintain(&["workers", url])).output().map(Ran::from).unwrap();
    assert!(listed.stdout.lines().next().unwrap().contains("nps"), "{listed:?}");
    let (ended, dir, hub) = timed.ends();
    assert!(ended.stderr.contains("worker slow searches 1.800 million"), "{}", ended.stderr);
    assert!(records(&dir).iter().all(|game| game["worker"] == "fast" && game["scale_millionths"].is_null()));
    // What the machines were, and why one did not play, stays known.
    let (of_fast, of_slow) = (worker(&dir, "fast"), worker(&dir, "slow"));
    assert!(of_slow["state"].as_str().unwrap().starts_with("refused: worker slow"), "{of_slow}");
    assert!(of_fast["machine"].as_str().unwrap().contains("core") && of_fast["nps"] == 2_000_000, "{of_fast}");
    assert_eq!([interrupts(first), interrupts(second)], [Some(130); 2]);
    hub.ends();
}

/// PGN and replay have the times that each game had on its machine.
fn check_times_of_records(user: &Path, dir: &Path) {
    let pgn = std::fs::read_to_string(dir.join("games.pgn")).unwrap();
    for (name, control, start_ms) in [("fast", "66.6667+0.666667", 67_333), ("slow", "133.3333+1.333333", 134_666)] {
        let game = records(dir).into_iter().find(|game| game["worker"] == name).unwrap();
        let number = game["game"].as_u64().unwrap();
        let text = pgn.split("[Event ").nth(usize::try_from(number).unwrap()).unwrap();
        assert!(text.contains(&format!("[TimeControl \"{control}\"]")), "{text}");
        let words = ["replay", &dir.display().to_string(), "--game", &number.to_string(), "--player", "new"];
        let replayed: Ran = at(user, quintain(&words)).output().unwrap().into();
        assert_eq!(replayed.code, Some(0), "{replayed:?}");
        let first = replayed.stdout.lines().find(|line| line.contains(" > go ")).unwrap();
        assert!(first.contains(&format!("time {start_ms} ")), "{first}");
    }
}

#[test]
fn times_are_scaled_by_the_speed_of_each_machine() {
    if !has_server("times_are_scaled_by_the_speed_of_each_machine") {
        return;
    }
    let timed = Timed::starts("--base-name base --scale base=2_400_000");
    let (fast, slow) = (timed.machine("fast", 3_600_000), timed.machine("slow", 1_800_000));
    let (first, mut lines) = fast.starts(&["-j", "1"]);
    let (second, mut others) = slow.starts(&["-j", "1"]);
    is_joining(&mut lines, "1 game");
    is_joining(&mut others, "1 game");
    let plays = |name: &str| std::fs::read_to_string(timed.0.dir.join("games.jsonl")).unwrap().contains(name);
    until("a pair of each", || plays("\"worker\":\"fast\"") && plays("\"worker\":\"slow\""));
    let (_, dir, hub) = timed.ends();
    for game in records(&dir) {
        // 101 s at the start; nothing is taken from a clock by moves that are made at once.
        let (scale, least, most) = match game["worker"].as_str().unwrap() {
            "fast" => (666_667, 60_000_000, 90_000_000),
            _ => (1_333_333, 120_000_000, 200_000_000),
        };
        assert_eq!(game["scale_millionths"], scale, "{game}");
        let left = game["moves"][0]["left"].as_u64().unwrap();
        assert!((least..most).contains(&left), "{left}: {game}");
    }
    check_times_of_records(hub.folder.path(), &dir);
    assert_eq!(
        (&worker(&dir, "fast")["scale"], &worker(&dir, "slow")["scale"]),
        (&0.666_667.into(), &1.333_333.into())
    );
    assert_eq!([interrupts(first), interrupts(second)], [Some(130); 2]);
    hub.ends();
}

/// Nothing depends on the time of day of a worker: times of moves are of a clock that only goes on,
/// leases are of the coordinator's.
#[test]
fn a_machine_whose_wall_clock_is_years_behind_plays_under_a_clock() {
    const SHIFT: &str = "-1000d";
    let test = "a_machine_whose_wall_clock_is_years_behind_plays_under_a_clock";
    if !has_server(test) {
        return;
    }
    if !is_installed("faketime") {
        return skip(test, "no program faketime");
    }
    let timed = Timed::starts("");
    let lent = timed.machine("late", 2_000_000);
    // The program itself would stand between the worker and its signals.
    let library: Ran = Command::new("faketime").args(["-f", SHIFT, "printenv", "LD_PRELOAD"]).output().unwrap().into();
    let mut shifted = lent.command(&["-j", "1"]);
    shifted.env("LD_PRELOAD", library.stdout.trim()).env("FAKETIME", SHIFT);
    let late = shifted.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    until("a pair", || journal_lines(&timed.0.dir) >= 3);
    let (ended, dir, hub) = timed.ends();
    assert!(!ended.stderr.contains("worker late"), "{ended:?}");
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let days_ago = |game: &serde_json::Value| {
        (now.as_micros() as u64).saturating_sub(game["started_us"].as_u64().unwrap()) / 86_400_000_000
    };
    let games = records(&dir);
    assert!(games.len() == 16 && games.iter().all(|game| game["worker"] == "late"), "{games:?}");
    assert!(games.iter().all(|game| (999..=1001).contains(&days_ago(game))), "{games:?}");
    assert_eq!(worker(&dir, "late")["time_losses"], 0);
    assert_eq!(interrupts(late), Some(130));
    hub.ends();
}
