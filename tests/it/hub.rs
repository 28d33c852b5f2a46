//! `quintain hub`, its commands, and runs that enter it, with a real nats-server.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::cluster::{has_server, processes_with};
use crate::harness::{Ran, check_same_games, heeding_signals, quintain, sprt, sprt_args, until};

/// A hub as a process of its own, with its user's settings in its folder.
struct Hub {
    folder: tempfile::TempDir,
    child: Child,
    url: String,
}

impl Hub {
    fn start(listen: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("hub").display().to_string();
        let args = ["hub", "--listen", listen, "--data", &data];
        let mut command = at(folder.path(), heeding_signals(&args));
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
        let first = lines.find(|line| line.starts_with("hub at ")).expect("the hub ended");
        let url = first["hub at ".len()..].split(',').next().unwrap().to_owned();
        assert!(lines.any(|line| line.contains("play with its workers")));
        // Nobody may be left with a closed pipe.
        std::thread::spawn(move || lines.count());
        Self { folder, child, url }
    }

    /// A command of the hub's owner.
    fn does(&self, words: &[&str]) -> Ran {
        let data = self.folder.path().join("hub").display().to_string();
        let args: Vec<_> = ["hub"].iter().chain(words).copied().chain(["--data", &data]).collect();
        at(self.folder.path(), quintain(&args)).output().unwrap().into()
    }

    fn ends(mut self) {
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
fn at(folder: &Path, mut command: Command) -> Command {
    command.env("XDG_CONFIG_HOME", folder.join("config")).env("HOME", folder);
    command
}

fn joins(folder: &Path, invitation: &str) -> Ran {
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
        (&["invite", "Box 2"], "`Box 2` cannot be a user's name"),
        (&["invite", "hub"], "`hub` cannot be a user's name"),
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
        ("--workers nats://example.org".to_owned(), "without TLS; give tls://HOST:PORT"),
        (format!("--workers {url} --credentials {worker}"), "user box2 is a worker of"),
        (format!("--workers {url} --credentials {ben}"), "the hub does not accept user ben"),
        (format!("--workers {url} --credentials {gone}"), "it is for the hub nats://127.0.0.1:1"),
        (
            format!("--workers nats://127.0.0.1:1 --credentials {gone}"),
            "nothing listens there; is `quintain hub` running",
        ),
        (format!("--workers {url} --priority 10"), "`10` is no priority; give a whole number from -9 to 9"),
        (format!("--workers {url} --weight 0"), "`0` is no weight; give a number above 0"),
        ("--workers local:2 --priority 1".to_owned(), "are for runs at a hub"),
        ("--weight 2".to_owned(), "are for runs at a hub; add --workers"),
    ] {
        let out: PathBuf = folder.join("run");
        let args = sprt_args("--seed 1", "--seed 2", &out, &format!("--nodes 1 --max-pairs 1 {words}"));
        let ran: Ran = at(folder, quintain(&args)).output().unwrap().into();
        assert_eq!(ran.code, Some(2), "{words}: {ran:?}");
        assert!(ran.stderr.contains(fault) && ran.stderr.lines().count() == 1, "{words}: {}", ran.stderr);
        assert!(!out.exists(), "{words}");
    }
    hub.ends();
}
