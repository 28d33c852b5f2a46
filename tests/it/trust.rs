//! Run directories that came from elsewhere: what they may start, and where they may lead.

use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use crate::harness::{FAKE, Ran, games, quintain, run, sprt, summary};

const MORE: &str = "--nodes 1 --max-plies 12 --max-pairs 3 --seed 1 -j 1";

/// A run of an engine that notes each of its starts, cut back to its first game.
struct Broken {
    folder: tempfile::TempDir,
}

impl Broken {
    fn new() -> Self {
        let broken = Self { folder: tempfile::tempdir().unwrap() };
        let script = format!("#!/bin/sh\necho >> '{}'\nexec '{FAKE}' \"$@\"\n", broken.path("starts").display());
        std::fs::write(broken.path("engine"), script).unwrap();
        std::fs::set_permissions(broken.path("engine"), std::fs::Permissions::from_mode(0o755)).unwrap();
        let engine = broken.path("engine").display().to_string();
        let dir = broken.dir().display().to_string();
        let args = ["sprt", "--new", &engine, "--base", &crate::harness::fake("--seed 2"), "--out", &dir];
        let ran = run(&args.into_iter().chain(MORE.split(' ')).collect::<Vec<_>>());
        assert_eq!(ran.code, Some(3), "{ran:?}");
        let journal = broken.dir().join("games.jsonl");
        let text = std::fs::read_to_string(&journal).unwrap();
        std::fs::write(&journal, text.split_inclusive('\n').take(2).collect::<String>()).unwrap();
        std::fs::remove_file(broken.path("starts")).unwrap();
        broken
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn dir(&self) -> PathBuf {
        self.path("run")
    }

    fn was_started(&self) -> bool {
        self.path("starts").exists()
    }

    /// A command on the run, by a user whose secret lies in `state`.
    fn by(&self, state: &str, words: &str) -> Ran {
        let dir = self.dir().display().to_string();
        let args: Vec<&str> = words.split(' ').map(|word| if word == "RUN" { dir.as_str() } else { word }).collect();
        quintain(&args).env("QUINTAIN_STATE", self.path(state)).output().unwrap().into()
    }
}

#[track_caller]
fn check_refused(ran: &Ran, words: &[&str]) {
    assert_eq!((ran.code, ran.stderr.lines().count()), (Some(2), 1), "{ran:?}");
    for part in words {
        assert!(ran.stderr.contains(part), "{part}: {ran:?}");
    }
}

#[test]
fn what_was_written_elsewhere_starts_nothing_unasked() {
    let broken = Broken::new();
    let engine = format!("{:?}", broken.path("engine"));
    let words = ["not written by you on this machine", &engine, "\"--seed\" \"2\"", "--trust", "docs/trust.md"];
    for command in ["resume RUN", "replay RUN --game 1"] {
        let refused = broken.by("another", command);
        check_refused(&refused, &words);
        let dir = broken.dir().display().to_string();
        let remedy = match command.strip_prefix("replay") {
            Some(_) => format!("`quintain replay --game 1 {dir} --trust` does"),
            None => format!("`quintain resume {dir} --trust` does"),
        };
        check_refused(&refused, &[&remedy]);
        std::fs::rename(broken.dir().join("stamp"), broken.path("kept")).unwrap();
        check_refused(
            &run(&command.replace("RUN", &broken.dir().display().to_string()).split(' ').collect::<Vec<_>>()),
            &words,
        );
        std::fs::rename(broken.path("kept"), broken.dir().join("stamp")).unwrap();
    }
    assert!(!broken.was_started());
    // Reading is free.
    for command in ["watch RUN --json", "games RUN", "report RUN"] {
        assert_ne!(broken.by("another", command).code, Some(2), "{command}");
    }
    assert!(!broken.was_started());
    // Whoever wrote it goes on without a question.
    let replayed = run(&["replay", &broken.dir().display().to_string(), "--game", "1"]);
    assert_eq!(replayed.code, Some(0), "{replayed:?}");
    // Whoever trusts it once makes it his own.
    let trusted = broken.by("another", "resume RUN --trust");
    assert_eq!(trusted.code, Some(3), "{trusted:?}");
    assert_eq!((broken.by("another", "resume RUN").code, games(&broken.dir()).len()), (Some(3), 6));
    assert_eq!(summary(&broken.dir())["pairs"], 3);
}

#[test]
fn a_plan_that_was_changed_is_not_the_users_own() {
    let broken = Broken::new();
    let plan = broken.dir().join("plan.toml");
    let text = std::fs::read_to_string(&plan).unwrap();
    let evil = broken.path("evil \u{1b}[2J");
    std::fs::copy(broken.path("engine"), &evil).unwrap();
    let changed = text.replace("args = []", "args = [\"--seed\", \"\\u001b[2J\"]");
    assert_ne!(changed, text);
    std::fs::write(&plan, changed).unwrap();
    let dir = broken.dir().display().to_string();
    for command in [["resume", &dir, "", ""], ["replay", &dir, "--game", "1"]] {
        let args: Vec<_> = command.into_iter().filter(|word| !word.is_empty()).collect();
        let ran = run(&args);
        check_refused(&ran, &["or changed since", "\"\\u{1b}[2J\""]);
        assert!(!ran.stderr.contains('\u{1b}'), "{ran:?}");
    }
    assert!(!broken.was_started());
}

#[test]
fn a_program_inside_the_directory_is_never_started() {
    let broken = Broken::new();
    let (plan, dir) = (broken.dir().join("plan.toml"), broken.dir());
    let text = std::fs::read_to_string(&plan).unwrap();
    let [outside, inside] = [broken.path("engine"), dir.join("engine")].map(|path| path.display().to_string());
    std::fs::copy(&outside, &inside).unwrap();
    let here = std::env::current_dir().unwrap();
    let link = broken.path("link").display().to_string();
    std::os::unix::fs::symlink(&inside, &link).unwrap();
    for (from, to) in [
        (format!("program = \"{outside}\""), format!("program = \"{inside}\"")),
        (format!("program = \"{outside}\""), format!("program = \"{link}\"")),
        (format!("program = \"{outside}\""), format!("program = \"{}/../run/engine\"", dir.display())),
        ("args = []".to_owned(), format!("args = [\"{inside}\"]")),
        ("args = []".to_owned(), format!("args = [\"--script={inside}\"]")),
        ("args = []".to_owned(), format!("args = [\"-c\", \"touch x; exec '{inside}'\"]")),
        ("args = []".to_owned(), format!("args = [\"--set=script=a:{inside}\"]")),
        ("options = []".to_owned(), format!("options = [[\"EvalFile\", \"{inside}\"]]")),
        (format!("dir = \"{}\"", here.display()), format!("dir = \"{}\"", dir.display())),
    ] {
        let changed = text.replacen(&from, &to, 1);
        assert_ne!(changed, text, "{from}");
        std::fs::write(&plan, changed).unwrap();
        for command in ["resume RUN --trust", "replay RUN --game 1 --trust"] {
            check_refused(&broken.by("another", command), &["from inside the run directory", "move it elsewhere"]);
        }
    }
    assert!(!broken.was_started());
}

/// A program that is not in the directory, called from a shell whose words lead there.
#[test]
fn relative_words_of_a_shell_are_looked_at() {
    let broken = Broken::new();
    let plan = broken.dir().join("plan.toml");
    let text = std::fs::read_to_string(&plan).unwrap();
    let program = format!("program = \"{}\"", broken.path("engine").display());
    let here = format!("dir = \"{}\"", std::env::current_dir().unwrap().display());
    let above = format!("dir = \"{}\"", broken.folder.path().display());
    let text = text.replacen(&program, "program = \"/bin/sh\"", 1).replacen(&here, &above, 1);
    for words in ["touch x;exec ./run/evil.sh", "cd run && ./evil.sh", ". 'run/evil.sh'"] {
        std::fs::write(&plan, text.replacen("args = []", &format!("args = [\"-c\", \"{words}\"]"), 1)).unwrap();
        check_refused(&broken.by("another", "resume RUN --trust"), &["from inside the run directory"]);
    }
    assert!(!broken.path("x").exists() && !broken.was_started());
}

/// A link in the place of a file that the run writes would redirect the write.
#[test]
fn what_a_run_writes_is_no_link() {
    let broken = Broken::new();
    let precious = broken.path("precious");
    std::fs::create_dir(broken.dir().join("crashes")).unwrap();
    std::fs::create_dir(broken.dir().join("crashes/game-1")).unwrap();
    for name in
        ["stamp", "games.jsonl", "games.pgn", "stderr", "crashes", "stderr/engine.log", "crashes/game-1/about.txt"]
    {
        let (path, kept) = (broken.dir().join(name), broken.path("kept"));
        let _ = std::fs::rename(&path, &kept);
        std::fs::write(&precious, "precious").unwrap();
        std::os::unix::fs::symlink(&precious, &path).unwrap();
        check_refused(
            &broken.by("another", "resume RUN --trust"),
            &[&format!("{path:?}"), "a symbolic link", "remove it"],
        );
        assert_eq!(std::fs::read_to_string(&precious).unwrap(), "precious", "{name}");
        std::fs::remove_file(&path).unwrap();
        let _ = std::fs::rename(&kept, &path);
    }
    assert!(!broken.was_started());
    assert_eq!(broken.by("another", "resume RUN --trust").code, Some(3));
}

/// A FIFO waits for a writer and a device never ends: commands say so at once, with the remedy.
#[test]
fn no_fifo_and_no_device_holds_a_command_up() {
    let broken = Broken::new();
    let zero = |path: &Path| std::os::unix::fs::symlink("/dev/zero", path).unwrap();
    let reading = ["report RUN", "games RUN", "rate RUN", "explain RUN", "watch RUN", "ctl RUN status", "resume RUN"];
    for name in ["plan.toml", "games.jsonl"] {
        let (path, kept) = (broken.dir().join(name), broken.path("kept"));
        std::fs::rename(&path, &kept).unwrap();
        for (make, kind) in [(&fifo as &dyn Fn(&Path), "a FIFO"), (&zero, "a device")] {
            make(&path);
            for command in reading.iter().filter(|command| name == "plan.toml" || !command.starts_with("ctl")) {
                let ran = broken.by("another", command);
                assert_eq!(ran.code, Some(2), "{name} {command}: {ran:?}");
                assert!(ran.stderr.contains(kind) || command.starts_with("resume"), "{name} {command}: {ran:?}");
            }
            std::fs::remove_file(&path).unwrap();
        }
        std::fs::rename(&kept, &path).unwrap();
    }
    std::fs::remove_file(broken.dir().join("stamp")).unwrap();
    fifo(&broken.dir().join("stamp"));
    check_refused(&broken.by("another", "resume RUN"), &["not what a run has there"]);
    fifo(&broken.dir().join("control.path"));
    check_refused(&broken.by("another", "ctl RUN status"), &["control.path is not a file", "docs/trust.md"]);
    let own = broken.path("own");
    fifo(&own);
    let own = own.display().to_string();
    for command in ["sprt FILE", "book check FILE", "book info FILE", "rate FILE", "progress FILE"] {
        for (path, kind) in [(own.as_str(), "a FIFO"), ("/dev/zero", "a device")] {
            check_refused(
                &broken.by("another", &command.replace("FILE", path)),
                &[path, kind, "write its contents to a file"],
            );
        }
    }
    assert!(!broken.was_started());
}

fn fifo(path: &Path) {
    assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// A note of a socket that is not the run's, and a socket that is a link.
#[test]
fn no_directory_leads_to_another_socket() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("results/run");
    sprt(3, "--seed 1", "--seed 2", &dir, "--nodes 1 --max-plies 4 --max-pairs 1 -j 1");
    let other = folder.path().join("agent.sock");
    let listener = UnixListener::bind(&other).unwrap();
    listener.set_nonblocking(true).unwrap();
    let path = dir.display().to_string();
    let check = || {
        for command in ["status", "stop"] {
            check_refused(&run(&["ctl", &path, command]), &["does not answer", "docs/trust.md"]);
        }
        assert_eq!(run(&["watch", &path]).code, Some(2));
        let come = listener.accept();
        assert!(come.is_err(), "somebody asked: {come:?}");
    };
    std::fs::write(dir.join("control.path"), other.as_os_str().as_encoded_bytes()).unwrap();
    check();
    std::fs::remove_file(dir.join("control.path")).unwrap();
    std::os::unix::fs::symlink(&other, dir.join("control.sock")).unwrap();
    check();
}

/// A saved tournament names the folder of its run: one beside it, and none else.
#[test]
fn a_saved_tournament_leads_to_no_other_folder() {
    let folder = tempfile::tempdir().unwrap();
    let engine = |name: &str| format!("-engine cmd={FAKE} name={name} ");
    let line = format!(
        "fastchess {}{}-each nodes=1 -rounds 2 -maxmoves 4 -config outname=config.json",
        engine("a"),
        engine("b")
    );
    let fastchess = |line: &str, state: Option<&Path>| -> Ran {
        let mut command = quintain(&line.split_whitespace().collect::<Vec<_>>());
        command.envs(state.map(|state| ("QUINTAIN_STATE", state))).current_dir(folder.path()).output().unwrap().into()
    };
    let ran = fastchess(&line, None);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let again = "fastchess -config file=config.json";
    let elsewhere = fastchess(again, Some(&folder.path().join("state")));
    let said = format!("{}{}", elsewhere.stdout, elsewhere.stderr);
    assert!(elsewhere.code != Some(0) && said.contains("not written by you on this machine"), "{elsewhere:?}");
    assert_eq!(fastchess(again, None).code, Some(0));
    let config = folder.path().join("config.json");
    let text = std::fs::read_to_string(&config).unwrap();
    for run in ["../config.json.run", "/tmp/run", "..", "sub/run"] {
        let changed = text.replace("\"config.json.run\"", &format!("{run:?}"));
        assert_ne!(changed, text);
        std::fs::write(&config, changed).unwrap();
        let ran = fastchess(again, None);
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert!(ran.code != Some(0) && said.contains("is not beside it"), "{run}: {ran:?}");
    }
}
