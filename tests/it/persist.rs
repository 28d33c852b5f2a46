//! Runs that cannot write, and directories of older versions that must still be read.

use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::harness::{FAKE, Ran, check_summary, games, in_shell, quintain, run, sprt, sprt_args, summary};
use crate::skip::skip;

const PEERS: [&str; 2] = ["--seed 1", "--seed 2"];
const RULES: &str = "--nodes 1 --max-plies 40 --max-pairs 20 --seed 11 -j 2";

/// The program under a limit on the size of its files, in the shell's blocks of 512 or 1024 bytes.
/// Past the limit a write fails as on a full disk.
fn with_small_files(blocks: u32, args: &[String]) -> Ran {
    in_shell(&format!("ulimit -c 0; ulimit -f {blocks}; exec \"$@\""), args).output().unwrap().into()
}

#[test]
fn a_disk_that_fills_up_keeps_what_counted() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    let ran = with_small_files(24, &sprt_args(PEERS[0], PEERS[1], &dir, RULES));
    assert_eq!(ran.code, Some(4), "{ran:?}");
    let kept = games(&dir);
    assert!((2..40).contains(&kept.len()), "{} games", kept.len());
    let errors: Vec<_> = ran.stderr.lines().filter(|line| line.starts_with("error: ")).collect();
    let [error] = errors[..] else { panic!("{}", ran.stderr) };
    assert!(error.contains("games.jsonl: cannot append to it"), "{error}");
    assert!(error.contains("finished games are kept; continue with `quintain resume"), "{error}");
    assert!(ran.stdout.starts_with("aborted: "), "{}", ran.stdout);
    assert_eq!(summary(&dir)["stopped_by"], "broken");
    let resume = ["resume".to_owned(), dir.display().to_string()];
    // No more room than before: it stops again, and what is there stays.
    let again = with_small_files(24, &resume);
    assert!(matches!(again.code, Some(2 | 4)), "{again:?}");
    assert!(games(&dir).len() >= kept.len());
    let ran = run(&resume);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(!ran.stderr.contains("dropped"), "the torn line was cut off at once: {}", ran.stderr);
    let unbroken = folder.path().join("unbroken");
    sprt(3, PEERS[0], PEERS[1], &unbroken, RULES);
    assert_eq!(games(&dir), games(&unbroken));
    check_summary(&summary(&dir), &games(&dir));
}

/// A disk that is full from the beginning: there is no run.
#[test]
fn a_full_disk_begins_no_run() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    let ran = with_small_files(0, &sprt_args(PEERS[0], PEERS[1], &dir, RULES));
    check_refused(&ran, "");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left behind");
}

#[track_caller]
fn check_refused(ran: &Ran, words: &str) {
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.starts_with("error: ") && ran.stderr.lines().count() == 1, "{}", ran.stderr);
    assert!(ran.stderr.contains(words), "{}", ran.stderr);
}

/// Places where not even root can make a folder.
#[test]
fn a_results_folder_that_cannot_be_written_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    for place in [file.join("runs/run"), PathBuf::from("/proc/quintain/run"), PathBuf::from("/dev/null/run")] {
        let ran = run(&sprt_args(PEERS[0], PEERS[1], &place, RULES));
        check_refused(&ran, "choose another with --out");
    }
}

/// Permission bits don't bind root, so root tries as a user who has nothing.
#[test]
fn a_read_only_folder_is_refused_and_left_alone() {
    const NOBODY: u32 = 65_534;
    let root = rustix::process::geteuid().is_root();
    let folder = tempfile::tempdir().unwrap();
    chmod(folder.path(), 0o755);
    // Copies, because root's own folders may be closed to others. `cp` makes them: a program that
    // this process has open for writing does not start.
    let copy = |from: &str, name: &str| {
        let to = folder.path().join(name).display().to_string();
        assert!(Command::new("cp").args([from, &to]).status().unwrap().success(), "{from}");
        to
    };
    let program = copy(quintain::<&str>(&[]).get_program().to_str().unwrap(), "quintain");
    let peer = copy(FAKE, "peer");
    let peers = |out: &Path| {
        let words = sprt_args(PEERS[0], PEERS[1], out, RULES).into_iter();
        words.map(|word| word.replace(FAKE, &peer)).collect::<Vec<_>>()
    };
    let as_user = |args: &[String]| {
        let mut command = in_shell(&format!("shift; exec '{program}' \"$@\""), args);
        command.env("QUINTAIN_STATE", folder.path().join("state"));
        if root {
            command.uid(NOBODY).gid(NOBODY);
        }
        command.output()
    };
    if !as_user(&["--version".to_owned()]).is_ok_and(|output| output.status.success()) {
        let why = format!("nobody but root may start programs in {}; set TMPDIR", folder.path().display());
        return skip("a_read_only_folder_is_refused_and_left_alone", &why);
    }
    let runs = folder.path().join("runs");
    let dir = runs.join("run");
    let ran = run(&peers(&dir));
    assert_eq!(ran.code, Some(3), "{ran:?}");
    let before = games(&dir);
    chmod(&runs, 0o555);
    chmod(&dir, 0o555);
    chmod(&dir.join("games.jsonl"), 0o444);
    let begun: Ran = as_user(&peers(&runs.join("other"))).unwrap().into();
    check_refused(&begun, "cannot write there; choose another place with --out");
    let on_run = |words: &[&str]| -> Ran {
        let words = words.iter().map(|word| (*word).to_owned());
        as_user(&words.chain([dir.display().to_string()]).collect::<Vec<_>>()).unwrap().into()
    };
    if root {
        check_refused(&on_run(&["resume"]), "not written by you on this machine");
    }
    let resumed = on_run(&["resume", "--trust"]);
    assert!(resumed.code == Some(2) && resumed.stderr.contains("games.jsonl: cannot open it"), "{resumed:?}");
    let watched = on_run(&["watch"]);
    assert_eq!(watched.code, Some(3), "reading is enough to watch: {watched:?}");
    chmod(&runs, 0o755);
    chmod(&dir, 0o755);
    assert_eq!(games(&dir), before);
    assert_eq!(std::fs::read_dir(&runs).unwrap().count(), 1, "nothing beside the run");
}

fn chmod(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// A run of format 1, stopped after five of eight games: every later version reads it and goes on.
/// Its programs lie beside it, and as no later version stamped it, it must be trusted first.
#[test]
fn a_run_of_format_1_is_read_and_resumed() {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fixtures/v1");
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    std::fs::create_dir(&dir).unwrap();
    for (name, to) in
        [("plan.toml", &*dir), ("games.jsonl", &*dir), ("book.epd", folder.path()), ("engine.sh", folder.path())]
    {
        std::fs::copy(fixture.join(name), to.join(name)).unwrap();
    }
    let before = games(&dir);
    assert_eq!(before.len(), 5);
    let quintain = |words: &[&str]| -> Ran {
        let mut command = quintain(words);
        command.current_dir(folder.path()).env("QUINTAIN_TEST_PEER", FAKE).output().unwrap().into()
    };
    let watched = quintain(&["watch", "run"]);
    assert_eq!(watched.code, Some(130), "{watched:?}");
    assert!(watched.stdout.contains("pairs 2, ptnml [0, 0, 2, 0, 0], games 4 (+0 =4 -0)"), "{watched:?}");
    std::fs::create_dir(dir.join("stderr")).unwrap();
    let ran = quintain(&["resume", "run", "--trust"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.stderr.contains("resuming after 2 pairs"), "{}", ran.stderr);
    let after = games(&dir);
    assert_eq!((after.len(), &after[..5]), (8, &before[..]));
    let kept = std::fs::read(fixture.join("games.jsonl")).unwrap();
    assert!(std::fs::read(dir.join("games.jsonl")).unwrap().starts_with(&kept), "no line was changed");
    check_summary(&summary(&dir), &after);
}
