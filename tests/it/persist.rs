//! Runs that cannot write, and directories of older versions that must still be read.

use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::harness::{
    FAKE, Gate, Ran, check_summary, fake, games, in_shell, journal_lines, quintain, run, sprt, sprt_args, summary,
    until,
};
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

/// A run whose folder is removed stops, though no game has ended, and claims nothing of it.
#[test]
fn a_run_whose_folder_is_removed_stops() {
    let folder = tempfile::tempdir().unwrap();
    let (dir, gate) = (folder.path().join("run"), Gate::new(folder.path(), 2));
    let [new, base] = PEERS.map(|peer| format!("{peer} {}", gate.words()));
    let args = sprt_args(&new, &base, &dir, "--nodes 1 --max-plies 40 --max-pairs 4 --seed 11 -j 1");
    let child = quintain(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    until("the second game", || gate.is_reached() && journal_lines(&dir) == 2);
    until("its socket", || run(&["ctl", &dir.display().to_string(), "status"]).code == Some(0));
    std::fs::remove_dir_all(&dir).unwrap();
    let ran: Ran = child.wait_with_output().unwrap().into();
    assert_eq!((ran.code, dir.exists()), (Some(4), false), "{ran:?}");
    let why = format!("{}/games.jsonl: removed while the run played, so its games are lost; start ", dir.display());
    assert!(ran.stderr.lines().last().unwrap().starts_with(&format!("error: {why}")), "{ran:?}");
    assert!(ran.stdout.starts_with(&format!("aborted: {why}")) && ran.stdout.lines().count() == 1, "{ran:?}");
    for claim in ["journal is complete", "games are kept", "quintain resume"] {
        assert!(!ran.stdout.contains(claim) && !ran.stderr.contains(claim), "{claim}: {ran:?}");
    }
    assert_eq!(ran.stderr.matches("removed while the run played").count(), 1, "{ran:?}");
}

/// The receivers of a judgement that stopped get the figures of the pairs that count.
#[test]
fn a_judgement_on_a_disk_that_fills_up_tells_its_figures() {
    let folder = tempfile::tempdir().unwrap();
    let [out, told] = ["judge", "told"].map(|name| folder.path().join(name));
    let mut args =
        ["book", "judge", "--books", "builtin", "--engines", &PEERS.map(fake).join(",")].map(str::to_owned).to_vec();
    args.extend(["--out".to_owned(), out.display().to_string()]);
    args.extend(["--on-end".to_owned(), format!("cat > '{}'", told.display())]);
    args.extend("--nodes 1 --max-plies 40 --pairs 40 --batch 40 --seed 11 -j 1".split(' ').map(str::to_owned));
    let ran = with_small_files(24, &args);
    assert_eq!(ran.code, Some(4), "{ran:?}");
    let told: Value = serde_json::from_slice(&std::fs::read(&told).unwrap()).unwrap();
    assert_eq!((&told["name"], &told["exit"], &told["reason"]), (&"book judge".into(), &4.into(), &"stopped".into()));
    let pairs = told["arms"][0]["pairs"].as_u64().unwrap();
    assert!((1..40).contains(&pairs), "{told}");
    assert!(ran.stdout.contains("builtin") && !out.join("judge.json").exists(), "{ran:?}");
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

/// A run of `tests/it/fixtures`, stopped after five of eight games, in a folder with its programs.
/// As no later version stamped it, it must be trusted first.
struct StoredRun {
    folder: tempfile::TempDir,
    journal: Vec<u8>,
}

impl StoredRun {
    fn new(version: &str) -> Self {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fixtures");
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("run/stderr")).unwrap();
        for (version, name, to) in [
            (version, "plan.toml", "run/plan.toml"),
            (version, "games.jsonl", "run/games.jsonl"),
            ("v1", "book.epd", "book.epd"),
            ("v1", "engine.sh", "engine.sh"),
        ] {
            std::fs::copy(fixtures.join(version).join(name), folder.path().join(to)).unwrap();
        }
        let journal = std::fs::read(folder.path().join("run/games.jsonl")).unwrap();
        Self { folder, journal }
    }

    fn does(&self, words: &[&str]) -> Ran {
        let mut command = quintain(words);
        command.current_dir(self.folder.path()).env("QUINTAIN_TEST_PEER", FAKE).output().unwrap().into()
    }

    /// Resumes it: the games so far stay, no line of theirs is changed, and the others are played.
    #[track_caller]
    fn check_resumed(&self, more: &[&str]) {
        let dir = self.folder.path().join("run");
        let before = games(&dir);
        assert_eq!(before.len(), 5);
        let ran = self.does(&[&["resume", "run", "--trust"], more].concat());
        assert_eq!(ran.code, Some(3), "{ran:?}");
        assert!(ran.stderr.contains("resuming after 2 pairs"), "{}", ran.stderr);
        let after = games(&dir);
        assert_eq!((after.len(), &after[..5]), (8, &before[..]));
        assert!(std::fs::read(dir.join("games.jsonl")).unwrap().starts_with(&self.journal), "no line was changed");
        check_summary(&summary(&dir), &after);
    }
}

/// Every later version reads a run of format 1 and goes on.
#[test]
fn a_run_of_format_1_is_read_and_resumed() {
    let stored = StoredRun::new("v1");
    let watched = stored.does(&["watch", "run"]);
    assert_eq!(watched.code, Some(130), "{watched:?}");
    assert!(watched.stdout.contains("pairs 2, ptnml [0, 0, 2, 0, 0], games 4 (+0 =4 -0)"), "{watched:?}");
    stored.check_resumed(&[]);
}

/// And one with a line of format 2, of a void game, and with what was added to the lines of games
/// since: evidence of a loss on time, the worker, the scale of its times, PV and output.
#[test]
fn a_run_of_format_2_is_read_and_resumed() {
    let stored = StoredRun::new("v2");
    let report = stored.does(&["report", "run", "--format", "md"]);
    assert_eq!(report.code, Some(0), "{report:?}");
    for line in [
        "note: a stored run",
        "pairs 2, ptnml \\[0, 1, 1, 0, 0\\], games 4 (+0 =3 -1)",
        "void: 1 time a pair was disturbed by the machine and played again",
        "local-1         -      4      1            1     1         0",
        "local-2  1.360123      2      1            1     0         0",
    ] {
        assert!(report.stdout.contains(&format!("\n* {line}\n")), "{line}: {}", report.stdout);
    }
    let shown = |more: &[&str]| -> Vec<Value> {
        let ran = stored.does(&[&["games", "run", "--json"], more].concat());
        assert_eq!(ran.code, Some(0), "{ran:?}");
        ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let (counted, void) = (shown(&["--moves"]), shown(&["--void"]));
    assert_eq!((counted.len(), void.len()), (5, 1));
    assert_eq!(counted[2]["overstep"]["answered_us"], 100_316);
    assert_eq!((&void[0]["game"], &void[0]["overstep"]["stopped_us"]), (&1.into(), &2_922_657.into()));
    let ply = &counted[3]["moves"][1];
    let said = ["info depth 1 score cp 30 nodes 1 time 0 pv d7d5"];
    assert_eq!((&ply["pv"], &ply["lines"]), (&"d7d5".into(), &said[..].into()), "{ply}");
    // Without its workers.
    stored.check_resumed(&["-j", "2"]);
}
