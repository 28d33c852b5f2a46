//! `quintain hub`, its commands, and runs that enter it, with a real nats-server.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::cluster::{has_server, processes_with};
use crate::harness::{
    Gate, Ran, check_same_games, heeding_signals, journal_lines, quintain, records, sprt, sprt_args, until,
};

/// A hub as a process of its own, with its user's settings in its folder.
pub(crate) struct Hub {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) child: Child,
    pub(crate) url: String,
}

impl Hub {
    pub(crate) fn start(listen: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("hub");
        let (child, url) = Self::begin(folder.path(), &data, &["--listen", listen]);
        Self { folder, child, url }
    }

    /// Starts it with its files in `data`.
    pub(crate) fn begin(folder: &Path, data: &Path, more: &[&str]) -> (Child, String) {
        let data = data.display().to_string();
        let args = [&["hub", "--data", &data], more].concat();
        let mut command = at(folder, heeding_signals(&args));
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
        let first = lines.find(|line| line.starts_with("hub at ")).expect("the hub ended");
        let url = first["hub at ".len()..].split(',').next().unwrap().to_owned();
        assert!(lines.any(|line| line.contains("play with its workers")));
        // Nobody may be left with a closed pipe.
        std::thread::spawn(move || lines.count());
        (child, url)
    }

    /// A command of the hub's owner.
    pub(crate) fn does(&self, words: &[&str]) -> Ran {
        let data = self.folder.path().join("hub").display().to_string();
        let args: Vec<_> = ["hub"].iter().chain(words).copied().chain(["--data", &data]).collect();
        at(self.folder.path(), quintain(&args)).output().unwrap().into()
    }

    pub(crate) fn ends(mut self) {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
        let marker = self.folder.path().display().to_string();
        until("the end of its server", || processes_with(&marker, "nats-server").is_empty());
    }
}

impl Drop for Hub {
    fn drop(&mut self) {
        // It has ended already, unless a test failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A command of a user whose settings are in `folder`.
pub(crate) fn at(folder: &Path, mut command: Command) -> Command {
    command.env("XDG_CONFIG_HOME", folder.join("config")).env("HOME", folder);
    command
}

pub(crate) fn joins(folder: &Path, invitation: &str) -> Ran {
    let mut command = at(folder, quintain(&["hub", "join"]));
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(invitation.as_bytes()).unwrap();
    child.wait_with_output().unwrap().into()
}

#[test]
fn a_hub_is_set_up_by_its_commands() {
    if !has_server("a_hub_is_set_up_by_its_commands") {
        return;
    }
    let hub = Hub::start("127.0.0.1:0");
    let invited = hub.does(&["invite", "box2"]);
    assert_eq!(invited.code, Some(0), "{invited:?}");
    assert_eq!(invited.stdout.lines().count(), 1);
    let other = tempfile::tempdir().unwrap();
    let joined = joins(other.path(), &invited.stdout);
    assert_eq!(joined.code, Some(0), "{joined:?}");
    assert!(joined.stderr.contains(&format!("quintain worker {}", hub.url)), "{joined:?}");
    let listed = hub.does(&["list", "--json"]);
    let listed: serde_json::Value = serde_json::from_str(&listed.stdout).unwrap();
    assert_eq!(listed["url"], hub.url.as_str());
    let users = [
        serde_json::json!({"name": "me", "role": "coordinator"}),
        serde_json::json!({"name": "box2", "role": "worker"}),
    ];
    assert_eq!(listed["users"], serde_json::Value::from(users.to_vec()));
    let file = other.path().join("box3.toml").display().to_string();
    assert_eq!(hub.does(&["invite", "box3", "--file", &file]).code, Some(0));
    assert!(std::fs::read_to_string(&file).unwrap().contains("user = \"box3\""));
    assert_eq!(hub.does(&["revoke", "box2"]).code, Some(0));
    for (words, fault) in [
        (&["revoke", "box2"][..], "no user box2; its users are: me, box3"),
        (&["invite", "Box 2"], "`Box 2` cannot be a user name"),
        (&["invite", "hub"], "`hub` cannot be a user name"),
        (&["invite", "me"], "me is the hub's own user, which starts runs; give the worker another name"),
        (&[], "another `quintain hub` runs with this folder"),
    ] {
        let ran = hub.does(words);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.stderr.contains(fault) && ran.stderr.lines().count() == 1, "{}", ran.stderr);
    }
    let noise = joins(other.path(), "tls://nonsense");
    assert_eq!(noise.code, Some(2), "{noise:?}");
    assert!(noise.stderr.contains("paste the whole line"), "{noise:?}");
    hub.ends();
    let nowhere = tempfile::tempdir().unwrap();
    let data = nowhere.path().display().to_string();
    let ran: Ran = at(nowhere.path(), quintain(&["hub", "list", "--data", &data])).output().unwrap().into();
    assert!(ran.stderr.contains("there is no hub; start one with `quintain hub`"), "{ran:?}");
}

/// The owner may be in the folder that holds the hub's.
#[test]
fn a_relative_folder_names_the_same_hub() {
    if !has_server("a_relative_folder_names_the_same_hub") {
        return;
    }
    let hub = Hub::start("127.0.0.1:0");
    let folder = hub.folder.path();
    let does = |words: &[&str]| -> Ran {
        let args = [&["hub"], words, &["--data", "hub"]].concat();
        at(folder, quintain(&args)).current_dir(folder).output().unwrap().into()
    };
    let configuration = || std::fs::read_to_string(folder.join("hub/nats.conf")).unwrap();
    let before = configuration();
    let file = folder.join("ben.toml").display().to_string();
    let invited = does(&["invite", "ben", "--coordinator", "--file", &file]);
    assert_eq!(invited.code, Some(0), "{invited:?}");
    assert!(configuration().contains("ben"));
    let revoked = does(&["revoke", "ben"]);
    assert_eq!(revoked.code, Some(0), "{revoked:?}");
    assert_eq!(configuration(), before);
    let more = format!("--nodes 1 --max-pairs 1 --workers {} --credentials {file}", hub.url);
    let args = sprt_args("--seed 1", "--seed 2", &folder.join("run"), &more);
    let ran: Ran = at(folder, quintain(&args)).output().unwrap().into();
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("the hub does not accept user ben"), "{}", ran.stderr);
    hub.ends();
}

#[test]
fn a_hub_starts_in_a_folder_of_any_name() {
    if !has_server("a_hub_starts_in_a_folder_of_any_name") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("a \"hub\" \\ $HOME\"");
    let (child, url) = Hub::begin(folder.path(), &data, &["--listen", "127.0.0.1:0"]);
    assert!(data.join("log").exists());
    Hub { folder, child, url }.ends();
}

/// A run waits for workers, keeps its name at the hub, has one coordinator, and goes on without.
#[test]
fn a_run_at_a_hub_has_one_coordinator_and_goes_on_after_its_end() {
    if !has_server("a_run_at_a_hub_has_one_coordinator_and_goes_on_after_its_end") {
        return;
    }
    let hub = Hub::start("127.0.0.1:0");
    let (dir, copy) = (hub.folder.path().join("run"), hub.folder.path().join("copy"));
    let sides = ["--seed 1", "--seed 2"];
    let more = "--nodes 1 --max-plies 40 --seed 11 --max-pairs 4";
    let args = sprt_args(sides[0], sides[1], &dir, &format!("{more} --priority 2 --workers {}", hub.url));
    let start = |args: &[String]| {
        let mut command = at(hub.folder.path(), heeding_signals(args));
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    let mut first = start(&args);
    until("the run", || dir.join("plan.toml").exists());
    let workers = |dir: &Path| {
        let plan = std::fs::read_to_string(dir.join("plan.toml")).unwrap();
        plan.lines().find(|line| line.starts_with("workers = ")).unwrap().to_owned()
    };
    let entered = workers(&dir);
    assert!(
        entered.starts_with(&format!("workers = \"{}/", hub.url)) && entered.ends_with(" priority=2\""),
        "{entered}"
    );
    std::fs::create_dir(&copy).unwrap();
    for file in ["plan.toml", "games.jsonl"] {
        std::fs::copy(dir.join(file), copy.join(file)).unwrap();
    }
    let resume = ["resume".to_owned(), copy.display().to_string(), "--trust".to_owned()];
    let second: Ran = at(hub.folder.path(), quintain(&resume)).output().unwrap().into();
    assert_eq!(second.code, Some(2), "{second:?}");
    assert!(second.stderr.contains("another process coordinates it"), "{}", second.stderr);
    let ctl = ["ctl".to_owned(), dir.display().to_string(), "workers".to_owned()];
    let listed: Ran = at(hub.folder.path(), quintain(&ctl)).output().unwrap().into();
    let remedy =
        format!("no worker: none has come yet, or the run was resumed with -j; `quintain workers {}`", hub.url);
    assert!(listed.stdout.starts_with(&remedy), "{listed:?}");
    first.kill().unwrap();
    first.wait().unwrap();
    // Its place is free a little later.
    let resume = ["resume".to_owned(), dir.display().to_string()];
    let mut again = start(&resume);
    // A signal that comes before it has begun to listen may be lost.
    until("its end", || {
        kill_process(Pid::from_child(&again), Signal::INT).unwrap();
        again.try_wait().unwrap().is_some()
    });
    assert_eq!(workers(&dir), entered);
    let alone: Vec<_> = [&resume[..], &["-j".to_owned(), "2".to_owned()]].concat();
    let ran: Ran = at(hub.folder.path(), quintain(&alone)).output().unwrap().into();
    assert_eq!(ran.code, Some(3), "{ran:?}");
    let other = hub.folder.path().join("alone");
    sprt(3, sides[0], sides[1], &other, &format!("{more} -j 2"));
    check_same_games(&dir, &other);
    hub.ends();
}

#[test]
fn a_hub_that_cannot_be_used_is_refused_in_one_line() {
    if !has_server("a_hub_that_cannot_be_used_is_refused_in_one_line") {
        return;
    }
    let hub = Hub::start("127.0.0.1:0");
    let folder = hub.folder.path();
    let file = |name: &str| folder.join(name).display().to_string();
    assert_eq!(hub.does(&["invite", "box2", "--file", &file("worker.toml")]).code, Some(0));
    assert_eq!(hub.does(&["invite", "ben", "--coordinator", "--file", &file("ben.toml")]).code, Some(0));
    assert_eq!(hub.does(&["revoke", "ben"]).code, Some(0));
    let gone = std::fs::read_to_string(file("ben.toml")).unwrap().replace(&hub.url, "nats://127.0.0.1:1");
    std::fs::copy(file("ben.toml"), file("gone.toml")).unwrap();
    std::fs::write(file("gone.toml"), gone).unwrap();
    let url = &hub.url;
    let (worker, ben, gone) = (file("worker.toml"), file("ben.toml"), file("gone.toml"));
    for (words, fault) in [
        ("--workers nats://127.0.0.1:1".to_owned(), "quintain hub invite NAME --coordinator"),
        ("--workers nats://example.org".to_owned(), "which needs TLS; give tls://HOST:PORT"),
        (format!("--workers {url} --credentials {worker}"), "user box2 is a worker of"),
        (format!("--workers {url} --credentials {ben}"), "the hub does not accept user ben"),
        (format!("--workers {url} --credentials {gone}"), "it is for the hub nats://127.0.0.1:1"),
        (
            format!("--workers nats://127.0.0.1:1 --credentials {gone}"),
            "nothing listens there; is `quintain hub` running",
        ),
        (format!("--workers {url} --priority 10"), "`10` is not a priority; give a whole number from -9 to 9"),
        (format!("--workers {url} --weight 0"), "`0` is not a weight; give a number above 0"),
        ("--workers local:2 --priority 1".to_owned(), "are for runs at a hub"),
        ("--weight 2".to_owned(), "are for runs at a hub; add --workers"),
        ("--tc 1+0.01 --scale base=1000".to_owned(), "are for runs at a hub; add --workers"),
        (format!("--workers {url} --scale base=1000"), "--scale scales times, but this run has none"),
    ] {
        let out: PathBuf = folder.join("run");
        let args = sprt_args("--seed 1", "--seed 2", &out, &format!("--nodes 1 --max-pairs 1 {words}"));
        let ran: Ran = at(folder, quintain(&args)).output().unwrap().into();
        assert_eq!(ran.code, Some(2), "{words}: {ran:?}");
        assert!(ran.stderr.contains(fault) && ran.stderr.lines().count() == 1, "{words}: {}", ran.stderr);
        assert!(!out.exists(), "{words}");
    }
    // One that fails after it has entered the hub leaves it again.
    let out = folder.join("run");
    let pgn = folder.join("missing/games.pgn").display().to_string();
    let args = sprt_args("--seed 1", "--seed 2", &out, &format!("--nodes 1 --max-pairs 1 --workers {url} --pgn {pgn}"));
    let ran: Ran = at(folder, quintain(&args)).output().unwrap().into();
    assert_eq!(ran.code, Some(2), "{ran:?}");
    let listed: Ran = at(folder, quintain(&["workers", url])).output().unwrap().into();
    assert!(listed.code == Some(0) && !listed.stdout.contains("fake_engine"), "{listed:?}");
    hub.ends();
}

/// A machine that plays for a hub.
pub(crate) struct Lent {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) url: String,
}

impl Lent {
    /// A machine with credentials under `name` and these terms of its owner.
    pub(crate) fn new(hub: &Hub, name: &str, terms: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let invited = hub.does(&["invite", name]);
        let joined = joins(folder.path(), &invited.stdout);
        assert_eq!(joined.code, Some(0), "{joined:?}");
        std::fs::write(folder.path().join("config/quintain/worker.toml"), terms).unwrap();
        Self { folder, url: hub.url.clone() }
    }

    pub(crate) fn command(&self, more: &[&str]) -> Command {
        let args: Vec<_> = ["worker", &self.url].iter().chain(more).copied().collect();
        let mut command = at(self.folder.path(), heeding_signals(&args));
        command.env("QUINTAIN_CACHE", self.folder.path().join("cache"));
        command
    }

    /// Starts a worker, whose lines come one by one.
    pub(crate) fn starts(&self, more: &[&str]) -> (Child, impl Iterator<Item = String> + use<>) {
        let mut child = self.command(more).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
        (child, lines)
    }
}

/// Terms that allow the engines of a run of the scripted peer.
fn allowing(dir: &Path, sides: &[String; 2]) -> String {
    let plan = std::fs::read_to_string(dir.join("plan.toml")).unwrap();
    let program = plan.lines().rfind(|line| line.starts_with("sha256 = ")).unwrap();
    let of_side = |side: &String| format!("[[engine]]\n{program}\nargs = {:?}\n", side.split(' ').collect::<Vec<_>>());
    sides.iter().map(of_side).collect()
}

/// Terms of an owner who trusts the runs of the user with this folder.
pub(crate) fn trusting(folder: &Path) -> String {
    let key: Ran = at(folder, quintain(&["workers", "--key"])).output().unwrap().into();
    format!("trust = [\"{}\"]\nsandbox = \"none\"\n", key.stdout.trim())
}

/// A run at a hub, whose engines hold until its gate lets them on.
pub(crate) struct RunAtHub {
    pub(crate) hub: Hub,
    pub(crate) gate: Gate,
    pub(crate) dir: PathBuf,
    pub(crate) run: Child,
    sides: [String; 2],
    more: String,
}

impl RunAtHub {
    const SIDES: [&str; 2] = ["--seed 1", "--seed 2"];

    /// Starts a hub on `listen` and a run with the words `more`. Each engine holds in the game
    /// `held_from` of its process.
    pub(crate) fn start(listen: &str, held_from: u64, more: &str) -> Self {
        let hub = Hub::start(listen);
        let gate = Gate::new(hub.folder.path(), held_from);
        let sides = Self::SIDES.map(|side| format!("{side} {}", gate.words()));
        let dir = hub.folder.path().join("run");
        let more = format!("--max-plies 40 --seed 11 {more}");
        let args = sprt_args(&sides[0], &sides[1], &dir, &format!("{more} --workers {}", hub.url));
        let run = Self::begin(&hub, &args);
        until("the run", || dir.join("games.jsonl").exists());
        Self { hub, gate, dir, run, sides, more }
    }

    fn begin(hub: &Hub, args: &[String]) -> Child {
        let mut command = at(hub.folder.path(), heeding_signals(args));
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Goes on with the run, after its end.
    pub(crate) fn resume(&mut self) {
        self.run = Self::begin(&self.hub, &["resume".to_owned(), self.dir.display().to_string()]);
    }

    /// Terms that trust the run's author.
    pub(crate) fn trust(&self) -> String {
        trusting(self.hub.folder.path())
    }

    /// Terms that allow its engines.
    pub(crate) fn engines(&self) -> String {
        allowing(&self.dir, &self.sides)
    }

    /// A machine whose owner lets it play the run.
    pub(crate) fn lent(&self, name: &str) -> Lent {
        Lent::new(&self.hub, name, &format!("{}{}", self.trust(), self.engines()))
    }

    /// Its workers, as its user sees them.
    pub(crate) fn workers(&self) -> String {
        let listed: Ran = quintain(&["ctl", &self.dir.display().to_string(), "workers"]).output().unwrap().into();
        listed.stdout
    }

    /// Processes of the hub's server.
    pub(crate) fn servers(&self) -> Vec<u32> {
        processes_with(&self.hub.folder.path().display().to_string(), "nats-server")
    }

    /// Folder of the same run on one machine, which this plays.
    pub(crate) fn alone(&self) -> PathBuf {
        let other = self.hub.folder.path().join("alone");
        sprt(3, Self::SIDES[0], Self::SIDES[1], &other, &format!("{} -j 2", self.more));
        other
    }

    /// Waits for the end of the run. Returns its output and the hub.
    pub(crate) fn ends(self) -> (Ran, Hub) {
        let ended: Ran = self.run.wait_with_output().unwrap().into();
        assert_eq!(ended.code, Some(3), "{ended:?}");
        (ended, self.hub)
    }
}

/// Ends a worker as its owner does, and says how it ended.
pub(crate) fn interrupts(mut child: Child) -> Option<i32> {
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    child.wait().unwrap().code()
}

/// Reads a worker's lines until it plays a given number of concurrent games.
#[track_caller]
pub(crate) fn is_joining(lines: &mut impl Iterator<Item = String>, games: &str) {
    let line = lines.find(|line| line.contains("joining") || line.contains("not served")).expect("the worker ended");
    assert!(line.contains(&format!("joining with {games} at once")), "{line}");
}

/// One worker is killed, one is interrupted, and others come: the games are those of one machine.
#[test]
fn workers_of_a_hub_play_the_games_of_one_machine() {
    if !has_server("workers_of_a_hub_play_the_games_of_one_machine") {
        return;
    }
    let at_hub = RunAtHub::start("127.0.0.1:0", 3, "--nodes 1 --max-pairs 24");
    let hub = &at_hub.hub;
    let (stranger, poor) = (Lent::new(hub, "stranger", &at_hub.engines()), Lent::new(hub, "poor", &at_hub.trust()));
    let (rich, dir) = (at_hub.lent("rich"), &at_hub.dir);

    // Those that may not play say so, with the remedy.
    for (lent, remedy) in [(&stranger, "add the key to `trust`"), (&poor, "add [[engine]] with sha256 = ")] {
        let (child, mut lines) = lent.starts(&["-j", "1"]);
        let refusal = lines.find(|line| line.contains("not served")).expect("a refusal");
        assert!(refusal.contains(remedy), "{refusal}");
        assert_eq!(interrupts(child), Some(130));
    }
    // Each slot plays one pair until the gate is opened.
    let (mut killed, mut lines) = rich.starts(&["-j", "2"]);
    is_joining(&mut lines, "2 games");
    until("two pairs", || journal_lines(dir) == 5);
    killed.kill().unwrap();
    killed.wait().unwrap();
    let (leaves, mut lines) = rich.starts(&["-j", "1"]);
    is_joining(&mut lines, "1 game");
    until("another pair", || journal_lines(dir) == 7);
    kill_process(Pid::from_child(&leaves), Signal::INT).unwrap();
    assert!(lines.any(|line| line.contains("a second interrupt hands them back")));
    assert_eq!(interrupts(leaves), Some(130));
    at_hub.gate.open();
    let (stays, lines) = rich.starts(&["-j", "2"]);
    let said = std::thread::spawn(move || lines.collect::<Vec<_>>());

    let (alone, dir) = (at_hub.alone(), at_hub.dir.clone());
    let (ended, hub) = at_hub.ends();
    for remedy in ["worker stranger-", "add the key to `trust`", "worker poor-", "add [[engine]] with sha256 = "] {
        assert!(ended.stderr.contains(remedy), "{remedy}: {}", ended.stderr);
    }
    assert_eq!(interrupts(stays), Some(130));
    let said = said.join().unwrap();
    assert!(said.iter().any(|line| line.contains("left after")), "{said:?}");
    check_same_games(&dir, &alone);
    assert!(records(&dir).iter().all(|record| record["worker"] == "rich"));
    hub.ends();
}

/// A coordinator is killed while its worker's engines are held. The next one leaves them their
/// pairs.
#[test]
fn pairs_in_play_stay_with_their_worker_over_a_restart() {
    if !has_server("pairs_in_play_stay_with_their_worker_over_a_restart") {
        return;
    }
    let mut at_hub = RunAtHub::start("127.0.0.1:0", 3, "--nodes 1 --max-pairs 6");
    let lent = at_hub.lent("box2");
    let (worker, mut lines) = lent.starts(&["-j", "2"]);
    is_joining(&mut lines, "2 games");
    until("two pairs", || journal_lines(&at_hub.dir) == 5);
    until("two pairs in play", || at_hub.workers().contains("playing pairs 3, 4"));
    at_hub.run.kill().unwrap();
    at_hub.run.wait().unwrap();

    at_hub.resume();
    until("the pairs in play again", || at_hub.workers().contains("playing pairs 3, 4"));
    at_hub.gate.open();
    let said = std::thread::spawn(move || lines.collect::<Vec<_>>());
    let (alone, dir) = (at_hub.alone(), at_hub.dir.clone());
    let (ended, hub) = at_hub.ends();
    assert!(ended.stderr.contains("workers keep 2 pairs that they held before the restart"), "{}", ended.stderr);
    assert_eq!(interrupts(worker), Some(130));
    let said = said.join().unwrap();
    // None was played twice.
    assert!(said.iter().any(|line| line.ends_with("left after 6 pairs")), "{said:?}");
    check_same_games(&dir, &alone);
    hub.ends();
}

#[test]
fn a_worker_is_checked_before_it_plays() {
    if !has_server("a_worker_is_checked_before_it_plays") {
        return;
    }
    let hub = Hub::start("127.0.0.1:0");
    let engine = format!("[[engine]]\nsha256 = \"{}\"\n", "0".repeat(64));
    let fine = format!("{}{engine}", trusting(hub.folder.path()));
    let lent = Lent::new(&hub, "box2", &fine);
    let terms = lent.folder.path().join("config/quintain/worker.toml");
    for (text, code, line) in [
        (fine.clone(), 0, "ok     1 [[engine]] table"),
        (engine, 1, "FAULT  "),
        ("slots = \"two\"\n".to_owned(), 1, "worker.toml:1:9"),
    ] {
        std::fs::write(&terms, text).unwrap();
        let checked: Ran = lent.command(&["--check", "-j", "1"]).output().unwrap().into();
        assert_eq!(checked.code, Some(code), "{checked:?}");
        assert!(checked.stdout.contains(line), "{line}: {checked:?}");
    }
    // The folder that is checked is the worker's own, and is the only one made.
    let made = std::fs::read_dir(lent.folder.path().join("cache/worker")).unwrap();
    assert_eq!(made.map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>(), ["box2"]);
    let unit: Ran = lent.command(&["--systemd", "--any-version"]).output().unwrap().into();
    assert!(unit.stdout.contains("NoNewPrivileges=") && unit.stdout.contains(&hub.url), "{unit:?}");
    assert!(unit.stdout.contains(" --any-version\n"), "{unit:?}");
    hub.ends();
}
