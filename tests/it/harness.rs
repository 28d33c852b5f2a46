//! Shared parts of the end-to-end tests: the program, its run directories, and journals read as any
//! JSON reader would.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// The scripted peer.
pub(crate) const FAKE: &str = env!("CARGO_BIN_EXE_fake_engine");

/// Folder of the tests' own for what the program keeps of its user and of builds.
const KEPT: &str = env!("CARGO_TARGET_TMPDIR");

/// Past this a test has hung. A machine twenty times slower than usual is no reason to fail.
pub(crate) const PATIENCE: Duration = Duration::from_secs(1_200);

/// Result of a command of the program.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        Self { code: output.status.code(), stdout: text(&output.stdout), stderr: text(&output.stderr) }
    }
}

/// The program with arguments, shut off from its user's environment.
pub(crate) fn quintain<S: AsRef<str>>(args: &[S]) -> Command {
    under_path(Path::new(env!("CARGO_BIN_EXE_quintain")), args)
}

/// The program's copy at `path` with arguments.
pub(crate) fn under_path<S: AsRef<str>>(path: &Path, args: &[S]) -> Command {
    let mut command = Command::new(path);
    command.args(args.iter().map(AsRef::as_ref));
    shut_off(command)
}

/// Copies the program to this path.
pub(crate) fn copy_program(to: &Path) {
    std::fs::copy(env!("CARGO_BIN_EXE_quintain"), to).unwrap();
}

/// The program with arguments as `"$@"` of a shell script, shut off likewise.
pub(crate) fn in_shell<S: AsRef<str>>(script: &str, args: &[S]) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script, "sh", env!("CARGO_BIN_EXE_quintain")]).args(args.iter().map(AsRef::as_ref));
    shut_off(command)
}

/// Takes away what would change what the program does, and gives it folders of the tests' own: the
/// developer's secret, builds and settings stay as they are. Every test starts the program through
/// here.
fn shut_off(mut command: Command) -> Command {
    for name in ["QUINTAIN_LOG", "QUINTAIN_TOKEN", "XDG_RUNTIME_DIR"] {
        command.env_remove(name);
    }
    for name in ["state", "cache"] {
        let folder = Path::new(KEPT).join(name);
        command.env(format!("QUINTAIN_{}", name.to_uppercase()), &folder);
        command.env(format!("XDG_{}_HOME", name.to_uppercase()), &folder);
    }
    command.env("XDG_CONFIG_HOME", Path::new(KEPT).join("config"));
    command.stdin(Stdio::null());
    command
}

/// The program with arguments, whose signals are not ignored even if these tests were started under
/// `nohup` or in the background of a script.
#[cfg(target_os = "linux")]
pub(crate) fn heeding_signals<S: AsRef<str>>(args: &[S]) -> Command {
    in_shell("exec env --default-signal=INT,HUP,TERM \"$@\"", args)
}

/// Runs it to its end.
pub(crate) fn run<S: AsRef<str>>(args: &[S]) -> Ran {
    quintain(args).output().unwrap().into()
}

/// Runs Git in a repository of a test's own and returns its output. It knows neither its user's
/// settings nor the variables of a hook that runs the tests, which name another repository.
#[cfg(unix)]
#[track_caller]
pub(crate) fn git(folder: &Path, args: &[&str]) -> String {
    let mut command = Command::new("git");
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.as_encoded_bytes().starts_with(b"GIT_")) {
        command.env_remove(name);
    }
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").current_dir(folder).stdin(Stdio::null());
    let identity = ["-c", "user.name=Test", "-c", "user.email=test@localhost", "-c", "commit.gpgSign=false"];
    let ran: Ran = command.args(identity).args(args).output().unwrap().into();
    assert_eq!(ran.code, Some(0), "git {args:?}: {ran:?}");
    ran.stdout.trim().to_owned()
}

/// The spec of a scripted peer.
pub(crate) fn fake(args: &str) -> String {
    format!("'{FAKE}' -- {args}")
}

/// `sprt` between two scripted peers at one node a move, into `out`; `more` are words of the
/// command line.
pub(crate) fn sprt_args(new: &str, base: &str, out: &Path, more: &str) -> Vec<String> {
    let out = out.display().to_string();
    let mut args = ["sprt", "--new", &fake(new), "--base", &fake(base), "--out", &out].map(str::to_owned).to_vec();
    args.extend(more.split_whitespace().map(str::to_owned));
    // Where a test wants one program twice, it wants the games.
    if new == base && !more.contains("--new-option") {
        args.push("--allow-same".to_owned());
    }
    args
}

/// Runs it and checks the exit code.
#[track_caller]
pub(crate) fn sprt(code: i32, new: &str, base: &str, out: &Path, more: &str) -> Ran {
    let ran = run(&sprt_args(new, base, out, more));
    assert_eq!(ran.code, Some(code), "new {new}, base {base}, {more}: {ran:?}");
    ran
}

/// The parts of a game that are equal in two runs of one plan.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Game {
    /// The user's number: 1 and 2 are the first pair's.
    pub(crate) number: u64,
    /// Places in the plan: 0 for `new`, 1 for `base`.
    pub(crate) white: u64,
    pub(crate) black: u64,
    pub(crate) result: String,
    pub(crate) termination: String,
    pub(crate) opening: (u64, String, String),
    pub(crate) moves: Vec<String>,
}

impl Game {
    fn read(line: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let opening = &line["opening"];
        Self {
            number: line["game"].as_u64().unwrap(),
            white: line["white"].as_u64().unwrap(),
            black: line["black"].as_u64().unwrap(),
            result: text(&line["result"]),
            termination: text(&line["termination"]),
            opening: (opening["index"].as_u64().unwrap(), text(&opening["fen"]), text(&opening["moves"])),
            moves: line["moves"].as_array().unwrap().iter().map(|ply| text(&ply["m"])).collect(),
        }
    }

    /// Half points of `new`.
    pub(crate) fn score(&self) -> usize {
        match (self.result.as_str(), self.white) {
            ("1/2-1/2", _) => 1,
            ("1-0", 0) | ("0-1", 1) => 2,
            _ => 0,
        }
    }
}

/// The journal's records of games, in the order of the file. A busy machine may have made games
/// under a clock void: such a pair was played again.
#[track_caller]
pub(crate) fn records(dir: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(dir.join("games.jsonl")).unwrap();
    assert!(text.ends_with('\n'), "a torn line");
    let pair = |record: &Value| record["game"].as_u64().unwrap().div_ceil(2);
    let mut records: Vec<Value> = Vec::new();
    for line in text.lines().skip(1) {
        let record: Value = serde_json::from_str(line).unwrap();
        if record["kind"] == "void" {
            records.retain(|before| pair(before) != pair(&record));
        } else {
            records.push(record);
        }
    }
    records
}

/// The games of a run by number; each is there once.
#[track_caller]
pub(crate) fn games(dir: &Path) -> Vec<Game> {
    let mut games: Vec<_> = records(dir).iter().map(Game::read).collect();
    games.sort();
    assert!(games.windows(2).all(|two| two[0].number < two[1].number), "a game stands twice");
    games
}

/// The values of a tag in the run's PGN, in the order of the file.
pub(crate) fn pgn_tags(dir: &Path, tag: &str) -> Vec<String> {
    let text = std::fs::read_to_string(dir.join("games.pgn")).unwrap();
    let head = format!("[{tag} \"");
    text.lines().filter_map(|line| Some(line.strip_prefix(&head)?.trim_end_matches("\"]").to_owned())).collect()
}

/// The run's `summary.json`.
pub(crate) fn summary(dir: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(dir.join("summary.json")).unwrap()).unwrap()
}

/// Checks the summary of `counted` games: their number, the pairs by the points of `new`, and the
/// endings.
#[track_caller]
pub(crate) fn check_summary(summary: &Value, counted: &[Game]) {
    let mut ptnml = [0; 5];
    for pair in counted.chunks(2) {
        ptnml[pair.iter().map(Game::score).sum::<usize>()] += 1;
    }
    let scored = |points: usize| counted.iter().filter(|game| game.score() == points).count();
    assert_eq!(summary["pairs"], counted.len() / 2);
    assert_eq!(summary["games"], counted.len());
    assert_eq!(summary["ptnml"], serde_json::json!(ptnml));
    assert_eq!(summary["wdl"], serde_json::json!([scored(2), scored(1), scored(0)]));
    for (ending, count) in summary["endings"].as_object().unwrap() {
        assert_eq!(*count, counted.iter().filter(|game| game.termination == *ending).count(), "{ending}");
    }
}

/// A file for which scripted peers wait. A run of such peers does not end before its test lets it,
/// however late the test wakes.
pub(crate) struct Gate {
    file: PathBuf,
    /// First game of a process that waits.
    game: u64,
    /// Games of a process that went on while it was closed.
    more: u64,
}

impl Gate {
    /// Closed from this game of each process on; the file lies in `folder`.
    pub(crate) fn new(folder: &Path, game: u64) -> Self {
        Self { file: folder.join("gate"), game, more: 0 }
    }

    /// Words of the peer's command line.
    pub(crate) fn words(&self) -> String {
        format!("--hold {}@{}", self.file.display(), self.game)
    }

    /// Lets all games go on.
    pub(crate) fn open(&self) {
        self.write("");
    }

    /// True once a game waits, or has waited.
    pub(crate) fn is_reached(&self) -> bool {
        self.file.with_extension("reached").exists()
    }

    /// Lets one more game of each process go on.
    pub(crate) fn let_one_on(&mut self) {
        self.write(&(self.game + self.more).to_string());
        self.more += 1;
    }

    /// Lets no further search go on.
    pub(crate) fn close(&self) {
        std::fs::remove_file(&self.file).unwrap();
    }

    /// In one step: a peer may read it at any moment.
    fn write(&self, text: &str) {
        let new = self.file.with_extension("new");
        std::fs::write(&new, text).unwrap();
        std::fs::rename(&new, &self.file).unwrap();
    }
}

/// Checks that two runs have the same games, and that the summary of the first counts them.
#[track_caller]
pub(crate) fn check_same_games(found: &Path, expected: &Path) -> Vec<Game> {
    let (dir, found, expected) = (found, games(found), games(expected));
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!(found, expected);
    }
    assert_eq!(found.len(), expected.len());
    check_summary(&summary(dir), &found);
    found
}

/// Number of complete lines of a run's journal; 0 if there is none.
pub(crate) fn journal_lines(dir: &Path) -> usize {
    std::fs::read(dir.join("games.jsonl")).map_or(0, |text| text.iter().filter(|b| **b == b'\n').count())
}

/// True while a live run begins no further game.
pub(crate) fn is_stopping(dir: &Path) -> bool {
    let status = run(&["ctl", &dir.display().to_string(), "status", "--json"]);
    serde_json::from_str(&status.stdout).is_ok_and(|status: Value| status["phase"] == "stopping")
}

/// Reads the standard error of a run until it has taken note of an interrupt.
pub(crate) fn hears_of_an_interrupt(child: &mut Child) {
    hears(child, "Ctrl-C again");
}

/// Reads a child's standard error up to these words.
#[track_caller]
pub(crate) fn hears(child: &mut Child, words: &str) {
    let stderr = child.stderr.as_mut().unwrap();
    let mut said = String::new();
    while !said.contains(words) {
        let mut byte = [0];
        assert_eq!(std::io::Read::read(stderr, &mut byte).unwrap(), 1, "{said}");
        said.push(char::from(byte[0]));
    }
}

/// Pseudo-random numbers, the same in each run of the tests.
pub(crate) fn next_random(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

/// Waits for something that another process is about to do.
#[track_caller]
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < PATIENCE, "{what}: it never came");
        std::thread::sleep(Duration::from_micros(500));
    }
}

/// True until the process is gone, or is a zombie that nobody has collected yet.
pub(crate) fn lives(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    !matches!(state, None | Some('Z' | 'X'))
}
