//! `quintain watch` and `quintain ctl` on live runs of scripted peers.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::cluster::has_server;
use crate::harness::{Game, Gate, Ran, fake, games, in_shell, quintain, run, sprt, sprt_args, summary, until};

/// A run that is being played, killed should its test fail. From the second game of each process on
/// its peers wait for the gate, so that it is not over before its test has looked at it.
struct Live {
    folder: tempfile::TempDir,
    gate: Gate,
    dir: PathBuf,
    more: String,
    child: Child,
}

impl Drop for Live {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn peers(gate: &Gate) -> [String; 2] {
    [1, 2].map(|seed| format!("--seed {seed} --sleep-us 500 {}", gate.words()))
}

impl Live {
    fn start(more: &str) -> Self {
        Self::start_in(more, "run", &[])
    }

    fn start_in(more: &str, name: &str, env: &[(&str, &Path)]) -> Self {
        Self::start_held(2, more, name, env)
    }

    /// A run whose peers wait for the gate from this game of each process on.
    fn start_held(game: u64, more: &str, name: &str, env: &[(&str, &Path)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let gate = Gate::new(folder.path(), game);
        let dir = folder.path().join(name);
        // A held engine does not hang, however slow the machine is.
        let more = format!("--nodes 1 --max-plies 40 --seed 11 --stall-timeout 3600 {more}");
        let [new, base] = peers(&gate);
        let mut command = quintain(&sprt_args(&new, &base, &dir, &more));
        command.envs(env.iter().copied()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().unwrap();
        let mut live = Self { folder, gate, dir, more, child };
        live.until_it_listens();
        live
    }

    fn until_it_listens(&mut self) {
        let Self { dir, child, .. } = self;
        until("the socket", || {
            assert!(child.try_wait().unwrap().is_none(), "the run is over already");
            run(&["ctl", &dir.display().to_string(), "status"]).code == Some(0)
        });
    }

    fn ctl(&self, words: &str) -> Ran {
        let dir = self.dir.display().to_string();
        let mut args = vec!["ctl", &dir];
        args.extend(words.split_whitespace());
        run(&args)
    }

    /// A command that is done, and its answer.
    #[track_caller]
    fn steer(&self, words: &str) -> Value {
        let ran = self.ctl(&format!("{words} --json"));
        assert_eq!(ran.code, Some(0), "{words}: {ran:?}");
        serde_json::from_str(&ran.stdout).unwrap()
    }

    fn lines(&self) -> usize {
        std::fs::read(self.dir.join("games.jsonl")).map_or(0, |text| text.iter().filter(|b| **b == b'\n').count())
    }

    #[track_caller]
    fn ends(&mut self, code: i32) {
        assert_eq!(self.child.wait().unwrap().code(), Some(code));
    }

    fn socket(&self) -> PathBuf {
        self.dir.join("control.sock")
    }

    fn connect(&self) -> UnixStream {
        UnixStream::connect(self.socket()).unwrap()
    }

    #[track_caller]
    fn check_as_unsteered(&self, code: i32) {
        let dir = self.folder.path().join("unsteered");
        let [new, base] = peers(&self.gate);
        sprt(code, &new, &base, &dir, &self.more);
        let found: Vec<Game> = games(&self.dir);
        assert_eq!(found, games(&dir));
    }
}

#[test]
fn a_paused_run_begins_no_game_until_it_is_resumed() {
    let mut live = Live::start("--max-pairs 12 -j 2");
    // A pair that a slot was given before the pause is played: wait until both are at their second
    // games, which the gate holds.
    until("the second games", || live.lines() == 3 && live.steer("status")["playing"] == 2);
    let answer = live.steer("pause");
    assert_eq!((&answer["phase"], &answer["concurrency"]), (&"paused".into(), &2.into()));
    live.gate.open();
    until("the running games", || live.steer("status")["playing"] == 0);
    let lines = live.lines();
    for _ in 0..5 {
        assert_eq!(live.steer("status")["playing"], 0);
    }
    assert_eq!((live.lines(), live.child.try_wait().unwrap().is_none()), (lines, true));
    assert_eq!(live.steer("resume")["phase"], "running");
    live.ends(3);
    live.check_as_unsteered(3);
}

/// The time of a run counts games until their ends, which come after the order to pause.
#[test]
fn a_game_that_ends_after_the_order_to_pause_takes_its_time() {
    const HELD: Duration = Duration::from_secs(2);
    let mut live = Live::start("--max-pairs 2 -j 1");
    until("the second game", || live.lines() == 2 && live.steer("status")["playing"] == 1);
    live.steer("pause");
    std::thread::sleep(HELD);
    live.gate.open();
    until("the end of the game", || live.steer("status")["playing"] == 0);
    live.steer("resume");
    live.ends(3);
    let seconds = summary(&live.dir)["seconds"].as_f64().unwrap();
    assert!(seconds >= HELD.as_secs_f64(), "{seconds}");
}

/// More slots, fewer slots, back and forth: each game is played once, and none is lost.
#[test]
fn concurrency_grows_and_shrinks() {
    let mut live = Live::start("--max-pairs 120 -j 2");
    let mut before = 2;
    for games in [5, 1, 4, 1, 1, 6, 2, 1] {
        assert_eq!(live.steer(&format!("concurrency {games}"))["concurrency"], games);
        if games < before {
            // Who is to leave ends its game first.
            live.gate.let_one_on();
        }
        until("so many games at once", || live.steer("status")["playing"] == games);
        before = games;
    }
    live.gate.open();
    live.ends(3);
    // No pace is learnt from it.
    assert_eq!(summary(&live.dir)["concurrency_changed"], true);
    live.check_as_unsteered(3);
    assert!(summary(&live.folder.path().join("unsteered"))["concurrency_changed"].is_null());
}

/// Without CPUs of the list, further games would be played on any.
#[cfg(target_os = "linux")]
#[test]
fn no_game_is_played_outside_a_list_of_cpus() {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let allowed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap();
    let cpu = allowed.trim().split([',', '-']).next().unwrap();
    let mut live = Live::start(&format!("--max-pairs 200 -j 1 --affinity={cpu}"));
    let refused = |ran: Ran| {
        assert!(ran.code == Some(2) && ran.stderr.contains("--affinity names 1 CPU"), "{ran:?}");
    };
    refused(live.ctl("concurrency 2"));
    assert_eq!(live.steer("status")["concurrency"], 1);
    live.steer("stop");
    live.gate.open();
    live.ends(130);
    refused(run(&["resume", &live.dir.display().to_string(), "-j", "2"]));
}

/// Slots that play hold no more open files than what is counted for them before a run starts.
#[cfg(target_os = "linux")]
#[test]
fn a_slot_keeps_few_files_open() {
    const MORE: usize = 8;
    let live = Live::start("--max-pairs 100 -j 1");
    let open = || std::fs::read_dir(format!("/proc/{}/fd", live.child.id())).unwrap().count();
    let playing = |games: usize| until("the games", || live.steer("status")["playing"] == games);
    playing(1);
    let before = open();
    live.steer(&format!("concurrency {}", MORE + 1));
    playing(MORE + 1);
    // Four of the event loop, and of each engine three pipes and its process.
    until("few open files", || open() <= before + 12 * MORE);
}

/// The soft limit on open files is raised as far as the hard one, and what that carries is known
/// before a game begins.
#[cfg(target_os = "linux")]
#[test]
fn the_limit_on_open_files_bounds_games_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    let limited = |hard: u32, more: &str| -> Ran {
        let more = format!("--nodes 1 --max-plies 8 --max-pairs 16 --seed 1 {more}");
        let script = format!("ulimit -Sn 40; ulimit -Hn {hard}; exec \"$@\"");
        in_shell(&script, &sprt_args("--seed 1", "--seed 2", &dir, &more)).output().unwrap().into()
    };
    let ran = limited(300, "-j 16");
    assert_eq!((ran.code, ran.stderr.lines().count()), (Some(2), 1), "{ran:?}");
    let words = ran.stderr.split("at most ").nth(1).and_then(|rest| rest.split(' ').next());
    let fits: u16 = words.and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("{ran:?}"));
    assert!((1..16).contains(&fits) && ran.stderr.contains("open files") && !dir.exists(), "{ran:?}");
    assert_eq!(limited(300, &format!("-j {fits}")).code, Some(3));
    let resume = ["resume", &dir.display().to_string(), "-j", "16"];
    let ran: Ran = in_shell("ulimit -n 300; exec \"$@\"", &resume).output().unwrap().into();
    assert!(ran.code == Some(2) && ran.stderr.contains("open files"), "{ran:?}");
}

/// A pause, then fewer slots: half-played pairs are passed on.
#[test]
fn a_pair_that_a_slot_leaves_half_played_is_finished_by_another() {
    let mut live = Live::start("--max-pairs 12 -j 3");
    live.steer("pause");
    live.steer("concurrency 1");
    live.gate.open();
    until("the running games", || live.steer("status")["playing"] == 0);
    assert!(live.lines() < 25, "over already");
    live.steer("resume");
    live.ends(3);
    live.check_as_unsteered(3);
}

/// The other slot is idle then, because the next pair depends on this one.
#[test]
fn a_half_played_pair_of_a_stage_wakes_an_idle_slot() {
    // Which slot plays the third pair is chance; it matters if it is the one that leaves.
    for _ in 0..3 {
        let folder = tempfile::tempdir().unwrap();
        let (gate, dir) = (Gate::new(folder.path(), 3), folder.path().join("run"));
        let [one, other] = peers(&gate).map(|words| fake(&words));
        let settings = "--format knockout --pairs 3 -j 2 --nodes 1 --max-plies 40 --seed 11 --stall-timeout 3600 --out";
        let mut args = vec!["match", &one, &other];
        args.extend(settings.split(' '));
        let out = dir.display().to_string();
        args.push(&out);
        let child = quintain(&args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let mut live = Live { folder, gate, dir, more: String::new(), child };
        live.until_it_listens();
        until("the third pair", || live.lines() == 1 + 4 && live.steer("status")["playing"] == 1);
        live.steer("concurrency 1");
        live.gate.open();
        live.ends(0);
    }
}

#[test]
fn a_stop_is_as_one_interrupt() {
    let by_workers = has_server("a_stop_is_as_one_interrupt").then_some((true, "--workers local:2"));
    for (pause, slots) in [(false, "-j 2"), (true, "-j 2")].into_iter().chain(by_workers) {
        let mut live = Live::start(&format!("--max-pairs 200 {slots}"));
        if pause {
            live.steer("pause");
        }
        assert_eq!(live.steer("stop")["phase"], "stopping");
        live.gate.open();
        live.ends(130);
        assert_eq!(summary(&live.dir)["stopped_by"], "interrupted");
        assert!(!live.socket().exists());
    }
}

/// The third game of a slot is the first one of its second pair.
fn held_in_a_first_game(slots: usize) -> Live {
    let live = Live::start_held(3, &format!("--max-pairs 200 -j {slots}"), "run", &[]);
    until("the first pairs", || live.lines() == 1 + 2 * slots && live.steer("status")["playing"] == slots);
    live
}

#[test]
fn a_stop_after_pairs_cuts_none_in_two() {
    for (words, pause, games) in [("stop", false, 3), ("stop --after-pairs", false, 4), ("stop --after-pairs", true, 4)]
    {
        let mut live = held_in_a_first_game(1);
        if pause {
            live.steer("pause");
        }
        assert_eq!(live.steer(words)["phase"], "stopping");
        live.gate.open();
        live.ends(130);
        assert_eq!(live.lines(), 1 + games, "{words}, {pause}");
    }
    // A slot that leaves passes its pair on; it is played before the run ends.
    let mut live = held_in_a_first_game(2);
    live.steer("pause");
    live.steer("concurrency 1");
    live.gate.open();
    until("the running games", || live.steer("status")["playing"] == 0);
    live.steer("stop --after-pairs");
    live.ends(130);
    assert_eq!(live.lines(), 1 + 8);
    // A stop after the games goes further.
    let mut live = held_in_a_first_game(1);
    live.steer("stop --after-pairs");
    live.steer("stop");
    live.gate.open();
    live.ends(130);
    assert_eq!(live.lines(), 1 + 3);
}

#[test]
fn what_cannot_be_done_is_refused_in_one_line() {
    let live = Live::start("--max-pairs 2000 -j 1");
    for games in ["0", "3000000", "65535"] {
        let ran = live.ctl(&format!("concurrency {games}"));
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(
            games != "65535" || ran.stderr.contains("--concurrency 65535: ") && ran.stderr.contains("at most"),
            "{ran:?}"
        );
        assert_eq!(live.steer("status")["concurrency"], 1);
    }
    let timed = Live::start("--max-pairs 2000 -j 1 --new-tc 10000+0.1");
    let ran = timed.ctl("concurrency 60000");
    assert_eq!((ran.code, ran.stderr.lines().count()), (Some(2), 1), "{ran:?}");
    assert!(ran.stderr.contains("charged for each other's time"), "{ran:?}");
    assert_eq!(timed.steer("status")["concurrency"], 1);
}

#[test]
fn a_run_that_nobody_plays_is_not_steered_but_watched() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    let path = dir.display().to_string();
    let first = sprt(3, "--seed 1", "--seed 2", &dir, "--nodes 1 --max-plies 40 --max-pairs 2");
    for words in ["pause", "resume", "stop", "status", "concurrency 2"] {
        let args: Vec<_> = ["ctl", &path].into_iter().chain(words.split_whitespace()).collect();
        let ran = run(&args);
        assert_eq!((ran.code, ran.stderr.lines().count()), (Some(2), 1), "{words}: {ran:?}");
        assert!(ran.stderr.contains("no process is playing this run"), "{words}: {ran:?}");
    }
    let watched = run(&["watch", &path]);
    assert_eq!((watched.code, &watched.stdout), (Some(3), &first.stdout), "{watched:?}");
    let watched = run(&["watch", &path, "--json"]);
    let end: Value = serde_json::from_str(&watched.stdout).unwrap();
    assert_eq!((watched.code, &end["event"], &end["exit"]), (Some(3), &"end".into(), &3.into()));
    assert_eq!(end["summary"]["ptnml"], summary(&dir)["ptnml"]);
    let nothing = folder.path().display().to_string();
    assert_eq!([run(&["watch", &nothing]).code, run(&["ctl", &nothing, "pause"]).code], [Some(2); 2]);
}

#[test]
fn a_watcher_sees_the_run_to_its_end() {
    let mut live = Live::start("--max-pairs 40 -j 1");
    live.steer("pause");
    let path = live.dir.display().to_string();
    let piped = |args: &[&str]| quintain(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut text = piped(&["watch", &path]);
    // The heading, then at once where the run is: both have joined before it goes on.
    let mut shown = BufReader::new(text.stderr.take().unwrap());
    let mut heard = String::new();
    while !heard.contains("ptnml") {
        assert!(shown.read_line(&mut heard).unwrap() > 0, "{heard}");
    }
    assert!(heard.contains(" against ") && heard.contains("LLR"), "{heard}");
    let mut stream = piped(&["watch", &path, "--json"]);
    let mut lines = BufReader::new(stream.stdout.take().unwrap()).lines();
    let first: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    assert_eq!((&first["event"], &first["v"]), (&"progress".into(), &1.into()));
    live.steer("resume");
    live.gate.open();
    live.ends(3);
    shown.read_to_string(&mut heard).unwrap();
    assert!(heard.contains("playing, 1 at once"), "{heard}");
    let text = Ran::from(text.wait_with_output().unwrap());
    assert_eq!(text.code, Some(3), "{text:?}");
    assert!(text.stdout.starts_with("inconclusive: out of pairs"), "{text:?}");
    let events: Vec<Value> = lines.map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect();
    assert_eq!(stream.wait().unwrap().code(), Some(3));
    let (end, before) = events.split_last().unwrap();
    assert_eq!((&end["event"], &end["summary"]), (&"end".into(), &summary(&live.dir)));
    let last = before.iter().rfind(|event| event["event"] == "progress").unwrap();
    assert_eq!((&last["pairs"], &last["ptnml"]), (&40.into(), &summary(&live.dir)["ptnml"]));
    assert!(!live.socket().exists());
}

/// Also: a socket that a killed process left gives way, and a resumed run can be steered.
#[test]
fn a_resumed_run_takes_the_place_of_a_killed_one() {
    let mut live = Live::start("--max-pairs 60 -j 1");
    live.steer("pause");
    let path = live.dir.display().to_string();
    live.child.kill().unwrap();
    live.child.wait().unwrap();
    assert!(live.socket().exists());
    assert_eq!(live.ctl("status").code, Some(2));
    // It wrote no summary, so nobody knows its time.
    let watched = run(&["watch", &path]);
    assert!(watched.code == Some(130) && !watched.stdout.contains("took "), "{watched:?}");
    assert!(watched.stdout.contains("\nrun in "), "{watched:?}");
    live.child = quintain(&["resume", &path]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    live.until_it_listens();
    live.steer("concurrency 3");
    live.gate.open();
    live.ends(3);
    assert!(!live.socket().exists());
    live.check_as_unsteered(3);
}

/// If the run's path is too long for a socket's address, the socket lies elsewhere and the run says
/// where.
#[test]
fn a_long_path_has_its_socket_elsewhere() {
    let runtime = tempfile::tempdir().unwrap();
    let long = format!("{}/run", "d".repeat(120));
    let mut live = Live::start_in("--max-pairs 2000 -j 1", &long, &[("XDG_RUNTIME_DIR", runtime.path())]);
    let noted = std::fs::read_to_string(live.dir.join("control.path")).unwrap();
    assert!(Path::new(&noted).starts_with(runtime.path()), "{noted}");
    check_private(Path::new(&noted));
    live.steer("stop");
    live.gate.open();
    live.ends(130);
    assert!(!live.dir.join("control.path").exists() && !Path::new(&noted).exists());
}

#[track_caller]
fn check_private(socket: &Path) {
    let about = std::fs::metadata(socket).unwrap();
    assert!(about.file_type().is_socket());
    assert_eq!(about.permissions().mode() & 0o777, 0o600);
}

/// Clients that say nothing, too much, nonsense, or never read: the run and its other clients go
/// on.
#[test]
fn no_client_can_stall_a_run() {
    let mut live = Live::start("--max-pairs 60 -j 2");
    check_private(&live.socket());
    let _silent: Vec<_> = (0..8).map(|_| live.connect()).collect();
    let mut deaf = live.connect();
    deaf.write_all(b"{\"cmd\":\"watch\"}\n").unwrap();
    let mut half = live.connect();
    half.write_all(b"{\"cmd\":").unwrap();
    for nonsense in ["{}", "pause", "{\"cmd\":\"reboot\"}", "{\"cmd\":\"concurrency\",\"games\":0}", "\0\0", "[]"] {
        let mut stream = live.connect();
        stream.write_all(format!("{nonsense}\n").as_bytes()).unwrap();
        let mut answer = String::new();
        BufReader::new(&stream).read_line(&mut answer).unwrap();
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(answer["event"], "error", "{nonsense}: {answer}");
    }
    let mut long = live.connect();
    // A line without an end is cut off, so that its writer fails sooner or later.
    while long.write_all(&[b'x'; 4096]).is_ok() {}
    let flood = live.connect();
    let mut out = flood.try_clone().unwrap();
    let writer = std::thread::spawn(move || while out.write_all(b"{\"cmd\":\"status\"}\n").is_ok() {});
    assert_eq!(live.steer("status")["phase"], "running");
    live.gate.open();
    live.ends(3);
    // Nobody read the answers, and what was not read is dropped with the socket.
    flood.shutdown(std::net::Shutdown::Both).unwrap();
    writer.join().unwrap();
    live.check_as_unsteered(3);
}
