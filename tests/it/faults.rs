//! Faults that a run over many processes survives, with a real nats-server; those of its workers
//! and of the run itself are in `cluster`.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::process::Signal;
use serde_json::Value;

use crate::cluster::{Run, check_same, has_server, kill};
use crate::harness::{
    Ran, check_same_games, games, hears, heeding_signals, in_shell, journal_lines, quintain, records, sprt_args,
    summary, until,
};
use crate::hub::{Hub, Lent, RunAtHub, at, interrupts, is_joining};
use crate::skip::skip;

/// A program `nats-server` in a folder of its own, which runs this script before the real one.
fn wrapped_server(folder: &Path, script: &str) -> String {
    use std::os::unix::fs::PermissionsExt as _;
    let path = format!("{}:/usr/sbin", std::env::var("PATH").unwrap());
    let programs = folder.join("programs");
    std::fs::create_dir(&programs).unwrap();
    let program = programs.join("nats-server");
    let text = format!("#!/bin/sh\ncd '{}'\n{script}\nPATH='{path}' exec nats-server \"$@\"\n", folder.display());
    std::fs::write(&program, text).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    format!("{}:{path}", programs.display())
}

/// A server that is killed before it listens, or soon after, is started again.
#[test]
fn a_server_that_is_killed_while_it_starts_is_started_again() {
    if !has_server("a_server_that_is_killed_while_it_starts_is_started_again") {
        return;
    }
    let once = "mkdir killed 2>/dev/null";
    for script in [
        format!("{once} && kill -9 $$"),
        format!("{once} && {{ while ! ls quintain-hub-*/*.ports >/dev/null 2>&1; do :; done; kill -9 $$; }} &"),
    ] {
        let run = Run::new("--max-pairs 4");
        let path = wrapped_server(run.folder.path(), &script);
        let mut command = run.command(&run.args("local:1"));
        let ran: Ran =
            command.env("PATH", path).stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap().into();
        assert_eq!(ran.code, Some(3), "{script}: {ran:?}");
        assert!(run.folder.path().join("killed").exists(), "{script}");
        check_same(&run.dir(), &run.alone());
        run.check_no_orphans();
    }
}

/// A server that ends by itself is not tried again: its own reason is told.
#[test]
fn a_server_that_refuses_to_start_is_told() {
    let run = Run::new("--max-pairs 4");
    let path = wrapped_server(run.folder.path(), "echo x >> starts; echo no such luck >&2; exit 7");
    let mut command = run.command(&run.args("local:1"));
    let ran: Ran = command.env("PATH", path).stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap().into();
    assert_eq!(ran.code, Some(2), "{ran:?}");
    let told = "did not start (exit status: 7); the end of its log:\nno such luck\n";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    assert_eq!(std::fs::read_to_string(run.folder.path().join("starts")).unwrap(), "x\n");
}

/// A disk that fills up under the journal: what counted is kept, and the rest is played later.
#[test]
fn a_disk_that_fills_up_under_a_run_by_workers_costs_no_game() {
    if !has_server("a_disk_that_fills_up_under_a_run_by_workers_costs_no_game") {
        return;
    }
    let run = Run::new("--max-pairs 20");
    // The server's disk has room.
    let path = wrapped_server(run.folder.path(), "ulimit -S -f unlimited");
    let script = "ulimit -c 0; ulimit -S -f 24; exec \"$@\"";
    let ran: Ran = run.apart(in_shell(script, &run.args("local:2"))).env("PATH", path).output().unwrap().into();
    assert_eq!(ran.code, Some(4), "{ran:?}");
    assert!(ran.stderr.contains("games.jsonl: cannot append to it"), "{ran:?}");
    let kept = games(&run.dir());
    assert!((2..40).contains(&kept.len()), "{} games", kept.len());
    assert_eq!(summary(&run.dir())["stopped_by"], "broken");
    run.check_no_orphans();
    let resumed = run.resume(&[]);
    assert_eq!(resumed.code, Some(3), "{resumed:?}");
    assert!(!resumed.stderr.contains("dropped"), "{resumed:?}");
    check_same(&run.dir(), &run.alone());
    run.check_no_orphans();
}

/// The slot waits for the stop of a run that it plays alone; a worker's must send the game first.
#[test]
fn the_first_failure_ends_a_run_by_workers_too() {
    if !has_server("the_first_failure_ends_a_run_by_workers_too") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let more = "--nodes 1 --max-plies 40 --max-pairs 8 --max-failures 0 --workers local:2";
    let ran: Ran =
        quintain(&sprt_args("--seed 1 --fault exit-in-search", "--seed 2", &out, more)).output().unwrap().into();
    assert_eq!(ran.code, Some(4), "{ran:?}");
}

/// The owner's connection to a server, as its protocol has it.
struct Owner {
    stream: BufReader<TcpStream>,
}

impl Owner {
    /// Of the server whose files are in `folder`.
    fn of(folder: &Path) -> Self {
        let text = std::fs::read_to_string(folder.join("nats.conf")).unwrap();
        let quoted = |after: &str| text.split(after).nth(1).unwrap().split('"').nth(1).unwrap().to_owned();
        let (address, password) = (quoted("listen: "), quoted("password: "));
        let user = text.split("user: ").nth(1).unwrap().split(',').next().unwrap().to_owned();
        let mut stream = BufReader::new(TcpStream::connect(address).unwrap());
        let mut greeting = String::new();
        stream.read_line(&mut greeting).unwrap();
        let login = serde_json::json!({ "user": user, "pass": password, "verbose": false, "pedantic": false });
        write!(stream.get_mut(), "CONNECT {login}\r\nSUB _INBOX.owner 1\r\n").unwrap();
        Self { stream }
    }

    /// Answer of the server's JetStream to a request.
    fn asks(&mut self, what: &str, with: &str) -> Value {
        let length = with.len();
        write!(self.stream.get_mut(), "PUB $JS.API.{what} _INBOX.owner {length}\r\n{with}\r\n").unwrap();
        loop {
            let mut line = String::new();
            assert!(self.stream.read_line(&mut line).unwrap() > 0, "the server has gone");
            assert!(!line.starts_with("-ERR"), "{line}");
            if line.starts_with("PING") {
                self.stream.get_mut().write_all(b"PONG\r\n").unwrap();
            }
            if line.starts_with("MSG ") {
                let length: usize = line.split_whitespace().last().unwrap().parse().unwrap();
                let mut bytes = vec![0; length + 2];
                self.stream.read_exact(&mut bytes).unwrap();
                let answer: Value = serde_json::from_slice(&bytes[..length]).unwrap();
                assert!(answer["error"].is_null(), "{answer}");
                return answer;
            }
        }
    }

    /// Lets the stream of results hold this many bytes.
    fn limits_results_to(&mut self, bytes: i64) {
        let mut config = self.asks("STREAM.INFO.QRES", "")["config"].clone();
        config["max_bytes"] = bytes.into();
        assert_eq!(self.asks("STREAM.UPDATE.QRES", &config.to_string())["config"]["max_bytes"], bytes);
    }
}

/// A full stream refuses results: the run waits, says so, and loses nothing.
#[test]
fn a_full_server_delays_results_and_loses_none() {
    if !has_server("a_full_server_delays_results_and_loses_none") {
        return;
    }
    let run = Run::new("--max-pairs 12").held_from(3);
    let mut child = run.start_heard("local:2");
    until("two pairs", || run.journal_lines() >= 5);
    let found = std::fs::read_dir(run.folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let folder = found.into_iter().find(|path| path.display().to_string().contains("quintain-hub-")).unwrap();
    let mut owner = Owner::of(&folder);
    owner.limits_results_to(1);
    run.release();
    hears(&mut child, "the hub does not store its results (");
    hears(&mut child, "maximum bytes exceeded");
    owner.limits_results_to(1 << 30);
    let ended: Ran = child.wait_with_output().unwrap().into();
    assert_eq!(ended.code, Some(3), "{ended:?}");
    check_same(&run.dir(), &run.alone());
    run.check_no_orphans();
}

/// A run at a hub whose engines hold from their third game on, and a machine for it.
fn held_run(listen: &str) -> (RunAtHub, Lent) {
    let at_hub = RunAtHub::start(listen, 3, "--nodes 1 --max-pairs 12");
    let lent = at_hub.lent("box");
    (at_hub, lent)
}

/// Reads what a worker says, so that nobody is left with a full pipe.
fn drained(lines: impl Iterator<Item = String> + Send + 'static) {
    std::thread::spawn(move || lines.count());
}

/// The hub's server is killed, then the hub itself, which is started again later.
#[test]
fn a_hub_that_is_killed_costs_no_game() {
    if !has_server("a_hub_that_is_killed_costs_no_game") {
        return;
    }
    let (mut at_hub, lent) = held_run("127.0.0.1:0");
    let (worker, mut lines) = lent.starts(&["-j", "2"]);
    is_joining(&mut lines, "2 games");
    drained(lines);
    until("two pairs", || journal_lines(&at_hub.dir) >= 5);
    let servers = at_hub.servers();
    servers.iter().for_each(|pid| kill(*pid, Signal::KILL));
    until("another server", || at_hub.servers().iter().any(|pid| !servers.contains(pid)));
    at_hub.hub.child.kill().unwrap();
    at_hub.hub.child.wait().unwrap();
    until("the end of its server", || at_hub.servers().is_empty());
    // Games end while there is no hub.
    at_hub.gate.open();
    let folder = at_hub.hub.folder.path().to_owned();
    (at_hub.hub.child, _) = Hub::begin(&folder, &folder.join("hub"), &[]);
    let stderr = at_hub.run.stderr.take().unwrap();
    let said = std::thread::spawn(move || BufReader::new(stderr).lines().map_while(Result::ok).collect::<Vec<_>>());
    assert_eq!(at_hub.run.wait().unwrap().code(), Some(3), "{:?}", said.join().unwrap());
    assert_eq!(interrupts(worker), Some(130));
    check_same_games(&at_hub.dir, &at_hub.alone());
    at_hub.hub.ends();
}

/// A worker whose owner ends it while there is no hub keeps its finished pairs until there is one.
#[test]
fn a_worker_that_is_interrupted_without_its_hub_waits_for_it() {
    if !has_server("a_worker_that_is_interrupted_without_its_hub_waits_for_it") {
        return;
    }
    let (mut at_hub, lent) = held_run("127.0.0.1:0");
    let (mut worker, mut lines) = lent.starts(&["-j", "2"]);
    is_joining(&mut lines, "2 games");
    until("two pairs in play", || at_hub.workers().contains("playing pairs 3, 4"));
    at_hub.hub.child.kill().unwrap();
    at_hub.hub.child.wait().unwrap();
    assert!(lines.any(|line| line.contains("games go on, and their results are kept until it is back")));
    kill(worker.id(), Signal::INT);
    assert!(lines.any(|line| line.contains("finished pairs are sent once the hub is back")));
    at_hub.gate.open();
    assert!(worker.try_wait().unwrap().is_none());
    until("the end of its server", || at_hub.servers().is_empty());
    let folder = at_hub.hub.folder.path().to_owned();
    (at_hub.hub.child, _) = Hub::begin(&folder, &folder.join("hub"), &[]);
    let said: Vec<_> = lines.collect();
    assert_eq!(worker.wait().unwrap().code(), Some(130), "{said:?}");
    assert!(said.iter().any(|line| line.ends_with("left after 4 pairs")), "{said:?}");
    assert!(!said.iter().any(|line| line.contains("lost with this worker")), "{said:?}");
    let (other, lines) = lent.starts(&["-j", "2"]);
    drained(lines);
    let (alone, dir) = (at_hub.alone(), at_hub.dir.clone());
    let (_, hub) = at_hub.ends();
    assert_eq!(interrupts(other), Some(130));
    check_same_games(&dir, &alone);
    hub.ends();
}

fn copies(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-r").arg(from).arg(to).output().unwrap();
    // Files may go while it copies them, as the disk would have it.
    assert!(to.exists(), "{copied:?}");
}

/// After a power cut the disks of hub and run have what they had at some moment: a copy that was
/// taken while both ran. The run goes on from it.
#[test]
fn a_run_goes_on_from_what_a_power_cut_left() {
    if !has_server("a_run_goes_on_from_what_a_power_cut_left") {
        return;
    }
    let (mut at_hub, lent) = held_run("127.0.0.1:0");
    let folder = at_hub.hub.folder.path().to_owned();
    let (worker, mut lines) = lent.starts(&["-j", "2"]);
    is_joining(&mut lines, "2 games");
    drained(lines);
    until("two pairs", || journal_lines(&at_hub.dir) >= 5);
    let (hub, dir) = (folder.join("hub-left"), folder.join("run-left"));
    at_hub.gate.let_one_on();
    copies(&folder.join("hub"), &hub);
    copies(&at_hub.dir, &dir);
    // What is played after the copy is lost with the disks, except on the worker.
    at_hub.gate.open();
    until("more pairs", || journal_lines(&at_hub.dir) >= 9);
    at_hub.run.kill().unwrap();
    at_hub.run.wait().unwrap();
    at_hub.hub.child.kill().unwrap();
    at_hub.hub.child.wait().unwrap();
    until("the end of its server", || at_hub.servers().is_empty());
    for file in ["server.pid", "running", "lock"] {
        // Names of processes of before.
        let _ = std::fs::remove_file(hub.join(file));
    }
    (at_hub.hub.child, _) = Hub::begin(&folder, &hub, &[]);
    let resume = ["resume".to_owned(), dir.display().to_string(), "--trust".to_owned()];
    let ran: Ran = at(&folder, quintain(&resume)).output().unwrap().into();
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert_eq!(interrupts(worker), Some(130));
    check_same_games(&dir, &at_hub.alone());
    at_hub.hub.ends();
}

/// Simulated workers play a run that was started for them, which nothing can take for a real one.
#[test]
fn simulated_games_are_marked_everywhere() {
    if !has_server("simulated_games_are_marked_everywhere") {
        return;
    }
    let hub = Hub::start("127.0.0.1:0");
    let folder = hub.folder.path();
    let file = folder.join("load.toml").display().to_string();
    assert_eq!(hub.does(&["invite", "load", "--file", &file]).code, Some(0));
    let dir = folder.join("run");
    let mut args = sprt_args("--seed 1", "--seed 2", &dir, "--nodes 1 --max-pairs 24 --workers");
    args.push(format!("{} simulated", hub.url));
    let run = at(folder, heeding_signals(&args)).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let words = ["--simulate", "3", "-j", "2", "--pair-time", "0.1", "--plies", "6", "--credentials", &file];
    let mut load = at(folder, heeding_signals(&[&["worker", &hub.url], &words[..]].concat()));
    let mut load = load.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(load.stderr.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("simulated: sprt: 3 simulated workers join")));
    drained(lines);
    let ended: Ran = run.wait_with_output().unwrap().into();
    assert_eq!(ended.code, Some(3), "{ended:?}");
    assert_eq!(interrupts(load), Some(130));
    let records = records(&dir);
    assert_eq!(records.len(), 48);
    assert!(records.iter().all(|record| record["worker"] == "simulated:load"), "{}", records[0]);
    let text = |file: &str| std::fs::read_to_string(dir.join(file)).unwrap();
    for (file, mark) in [
        ("plan.toml", "name = \"simulated: sprt\""),
        ("plan.toml", " simulated\""),
        ("games.pgn", "[Event \"simulated: sprt\"]"),
        ("report.html", "simulated: sprt"),
        ("summary.json", "simulated:load"),
    ] {
        assert!(text(file).contains(mark), "{file} without {mark}");
    }
    let resumed: Ran =
        at(folder, quintain(&["resume", &dir.display().to_string(), "-j", "1"])).output().unwrap().into();
    assert_eq!(resumed.code, Some(2), "{resumed:?}");
    assert!(resumed.stderr.contains("made up by simulated workers"), "{}", resumed.stderr);
    hub.ends();
}

/// A network namespace that is joined to this one by a pair of interfaces.
struct Apart {
    name: String,
    /// The end of the pair in this namespace.
    near: String,
    /// Its address.
    address: String,
}

impl Apart {
    /// A reason instead where the system grants no namespace.
    fn new() -> Result<Self, String> {
        let id = std::process::id();
        let third = id % 250 + 1;
        let (name, near, far) = (format!("quintain-{id}"), format!("qn{id}"), format!("qf{id}"));
        let [address, other] = [1, 2].map(|host| format!("10.77.{third}.{host}"));
        let apart = Self { name, near, address };
        let Self { name, near, address } = &apart;
        for words in [
            format!("netns add {name}"),
            format!("link add {near} type veth peer name {far}"),
            format!("link set {far} netns {name}"),
            format!("addr add {address}/30 dev {near}"),
            format!("link set {near} up"),
            format!("-n {name} addr add {other}/30 dev {far}"),
            format!("-n {name} link set {far} up"),
        ] {
            ip(&words)?;
        }
        Ok(apart)
    }

    /// Cuts the two off from each other, or joins them again.
    fn set(&self, state: &str) {
        ip(&format!("link set {} {state}", self.near)).unwrap();
    }

    /// The command as it runs there.
    fn command(&self, command: &Command) -> Command {
        let mut there = Command::new("ip");
        there.args(["netns", "exec", &self.name]).arg(command.get_program()).args(command.get_args());
        there.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        there
    }
}

impl Drop for Apart {
    fn drop(&mut self) {
        // Either may be missing.
        let _ = ip(&format!("link del {}", self.near));
        let _ = ip(&format!("netns del {}", self.name));
    }
}

fn ip(words: &str) -> Result<(), String> {
    let ran = Command::new("ip").args(words.split(' ')).output().map_err(|error| format!("ip: {error}"))?;
    let said = String::from_utf8_lossy(&ran.stderr);
    if ran.status.success() { Ok(()) } else { Err(format!("ip {words}: {}", said.trim())) }
}

/// A worker that is cut off loses its pair to another one. What it has played is not counted when
/// it comes back, and it plays on.
#[test]
fn a_worker_behind_a_partition_loses_its_pair_and_comes_back() {
    let test = "a_worker_behind_a_partition_loses_its_pair_and_comes_back";
    if !has_server(test) {
        return;
    }
    let apart = match Apart::new() {
        Ok(apart) => apart,
        Err(why) => return skip(test, &why),
    };
    let (mut at_hub, lent) = held_run(&format!("{}:0", apart.address));
    let mut command = apart.command(&lent.command(&["-j", "1"]));
    let mut far = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut far_lines = BufReader::new(far.stderr.take().unwrap()).lines().map(Result::unwrap);
    is_joining(&mut far_lines, "1 game");
    // Its engines hold in its second pair.
    until("its second pair", || journal_lines(&at_hub.dir) == 3 && at_hub.workers().contains("playing pair 2"));
    apart.set("down");
    hears(&mut at_hub.run, "silent for 30 s; its pair is played again");
    // The other one plays that pair, and holds in its next.
    let (near, mut lines) = lent.starts(&["-j", "1"]);
    is_joining(&mut lines, "1 game");
    drained(lines);
    until("the lost pair", || journal_lines(&at_hub.dir) == 5);
    apart.set("up");
    at_hub.gate.open();
    let far_said = std::thread::spawn(move || far_lines.collect::<Vec<_>>());
    let (alone, dir) = (at_hub.alone(), at_hub.dir.clone());
    let (_, hub) = at_hub.ends();
    check_same_games(&dir, &alone);
    assert_eq!((interrupts(near), interrupts(far)), (Some(130), Some(130)));
    let said = far_said.join().unwrap();
    assert!(said.iter().any(|line| line.contains("left after")), "{said:?}");
    hub.ends();
}
