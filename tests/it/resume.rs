//! Runs that are killed, interrupted or cut off, and what `quintain resume` makes of them: the
//! games of an unbroken run.

use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::harness::{
    FAKE, Game, Gate, Ran, check_same_games, check_summary, fake, games, hears_of_an_interrupt, heeding_signals,
    in_shell, is_stopping, journal_lines, next_random, pgn_tags, quintain, run, sprt, sprt_args, summary, until,
};

/// A run that tests break: its folder, whose path the command line of each of its processes holds,
/// and its flags. It does not end by itself before its gate is opened.
struct Broken {
    folder: tempfile::TempDir,
    gate: Gate,
    more: String,
}

impl Broken {
    /// `game` of a process is the first that waits for the gate.
    fn new(game: u64, more: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let gate = Gate::new(folder.path(), game);
        Self { folder, gate, more: format!("--nodes 1 --max-plies 40 --seed 11 {more}") }
    }

    fn dir(&self) -> PathBuf {
        self.folder.path().join("run")
    }

    fn sides(&self) -> [String; 2] {
        let name = self.folder.path().display();
        [1, 2].map(|seed| format!("--name {name} --seed {seed} --sleep-us 200 {}", self.gate.words()))
    }

    fn start(&self) -> Child {
        let [new, base] = self.sides();
        spawn(&sprt_args(&new, &base, &self.dir(), &self.more))
    }

    /// With a standard error that the test reads.
    fn start_heard(&self) -> Child {
        let [new, base] = self.sides();
        let args = sprt_args(&new, &base, &self.dir(), &self.more);
        heeding_signals(&args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    }

    fn resume_args(&self) -> [String; 2] {
        ["resume".to_owned(), self.dir().display().to_string()]
    }

    fn resume(&self) -> Ran {
        run(&self.resume_args())
    }

    /// The same run from beginning to end, beside the broken one.
    fn unbroken(&self, code: i32) -> PathBuf {
        let dir = self.folder.path().join("unbroken");
        let [new, base] = self.sides();
        sprt(code, &new, &base, &dir, &self.more);
        dir
    }

    fn journal_lines(&self) -> usize {
        journal_lines(&self.dir())
    }

    /// Processes of this run, by their command lines.
    fn processes(&self) -> Vec<String> {
        let marker = self.folder.path().display().to_string();
        let lines = std::fs::read_dir("/proc").unwrap().filter_map(|entry| {
            let line = std::fs::read(entry.ok()?.path().join("cmdline")).ok()?;
            Some(String::from_utf8_lossy(&line).replace('\0', " "))
        });
        lines.filter(|line| line.contains(&marker)).collect()
    }

    #[track_caller]
    fn check_no_orphans(&self) {
        until("the end of every engine", || self.processes().is_empty());
    }
}

/// Output nobody reads: a pipe that is full would stop what is to be killed while it runs.
fn spawn<S: AsRef<str>>(args: &[S]) -> Child {
    heeding_signals(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap(), signal).unwrap();
}

/// The PGN without what no two runs share: dates, and the times that moves took. Lines may break
/// elsewhere.
fn timeless_pgn(dir: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(dir.join("games.pgn")).unwrap();
    let dated = ["[Date ", "[GameStartTime ", "[GameEndTime ", "[GameDuration "];
    let lines = text.lines().filter(|line| !dated.iter().any(|tag| line.starts_with(tag)));
    let time = |word: &str| {
        let number = word.trim_end_matches([',', '}']).strip_suffix('s');
        number.is_some_and(|number| number.contains('.') && number.parse::<f64>().is_ok())
    };
    lines.flat_map(str::split_whitespace).filter(|word| !time(word)).map(str::to_owned).collect()
}

/// The summary without the time it took and how many games were played at once.
fn timeless_summary(dir: &Path) -> Value {
    let mut summary = summary(dir);
    for key in ["seconds", "seconds_total", "concurrency", "not_counted_games", "resumed"] {
        summary.as_object_mut().unwrap().remove(key).unwrap();
    }
    summary
}

#[track_caller]
fn check_same(broken: &Path, unbroken: &Path) {
    let found = check_same_games(broken, unbroken);
    assert_eq!(timeless_pgn(broken), timeless_pgn(unbroken));
    assert_eq!(timeless_summary(broken), timeless_summary(unbroken));
    let results: Vec<_> = found.iter().map(|game: &Game| game.result.clone()).collect();
    assert_eq!(pgn_tags(broken, "Result"), results);
}

const KILLS: u64 = 12;

/// Games of each process in a run that is killed, in three slots.
const GAMES_BETWEEN_KILLS: u64 = 2;

#[test]
fn a_run_killed_at_any_moment_comes_to_the_same_games() {
    // However late each kill comes, the processes so far played fewer than the eighty games.
    let broken = Broken::new(GAMES_BETWEEN_KILLS + 1, "--max-pairs 40 -j 3");
    let mut state = 0x5eed;
    for kill in 0..KILLS {
        // The first kills may come before there is a run; then it starts anew, as its user would.
        let begun = broken.journal_lines() as u64;
        let mut child = if broken.dir().exists() { spawn(&broken.resume_args()) } else { broken.start() };
        // Some kills strike while the run is being set up or replayed, most of them between or
        // within two games.
        let target = if kill % 4 == 3 { 0 } else { begun + next_random(&mut state) % (3 * GAMES_BETWEEN_KILLS) };
        let mut polls = next_random(&mut state) % 64;
        until("the moment to kill", || {
            polls = polls.saturating_sub(1);
            polls == 0 && broken.journal_lines() as u64 >= target
        });
        assert!(child.try_wait().unwrap().is_none(), "kill {kill}: the run ended by itself");
        child.kill().unwrap();
        child.wait().unwrap();
        broken.check_no_orphans();
    }
    broken.gate.open();
    let ran = broken.resume();
    assert_eq!(ran.code, Some(3), "{ran:?}");
    check_same(&broken.dir(), &broken.unbroken(3));
    broken.check_no_orphans();
    // The time of a killed process is lost, and those who read the run later are told so, too.
    assert!(ran.stdout.contains(" since it was resumed, run in "), "{ran:?}");
    assert_eq!(run(&["watch", &broken.dir().display().to_string()]).stdout, ran.stdout);
}

#[test]
fn an_interrupt_lets_running_games_finish() {
    let broken = Broken::new(2, "--max-pairs 4 -j 1");
    let mut child = broken.start_heard();
    until("the second game", || broken.gate.is_reached());
    signal(&child, Signal::INT);
    hears_of_an_interrupt(&mut child);
    broken.gate.open();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let found = games(&broken.dir());
    assert_eq!(found.len(), 2, "the running game was played to its end, and no other");
    let interrupted = summary(&broken.dir());
    assert_eq!((&interrupted["stopped_by"], &interrupted["pairs"]), (&"interrupted".into(), &1.into()));
    broken.check_no_orphans();
    let ran = broken.resume();
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.stderr.contains("resuming after 1 pair"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("dropped"), "{}", ran.stderr);
    check_same(&broken.dir(), &broken.unbroken(3));
    let whole = summary(&broken.dir());
    let total = ["seconds", "seconds_total"].map(|key| whole[key].as_f64().unwrap());
    assert!((total[1] - total[0] - interrupted["seconds"].as_f64().unwrap()).abs() < 1e-6, "{interrupted} {whole}");
    assert!(whole["resumed"] == true && !ran.stdout.contains("since it was resumed"), "{ran:?}");
    // Who resumes what is over adds next to nothing to its time.
    assert_eq!(broken.resume().code, Some(3));
    let again = summary(&broken.dir());
    assert_eq!((&again["seconds"], &again["resumed"]), (&whole["seconds"], &whole["resumed"]));
    assert!(again["seconds_total"].as_f64().unwrap() >= total[1], "{again}");
}

/// A run that an interrupt lets play its last game is complete.
#[test]
fn an_interrupt_during_the_last_game_interrupts_nothing() {
    let broken = Broken::new(2, "--max-pairs 1 -j 1");
    let mut child = broken.start_heard();
    until("the second game", || broken.gate.is_reached());
    signal(&child, Signal::INT);
    hears_of_an_interrupt(&mut child);
    broken.gate.open();
    assert_eq!(child.wait().unwrap().code(), Some(3));
    assert_eq!((games(&broken.dir()).len(), &summary(&broken.dir())["stopped_by"]), (2, &"out-of-pairs".into()));
}

/// The running games are the last ones already.
#[test]
fn an_interrupt_after_a_stop_by_command_stops_at_once() {
    let broken = Broken::new(2, "--max-pairs 6 -j 2");
    let mut child = broken.start();
    until("the first games", || broken.journal_lines() == 1 + 2);
    assert_eq!(run(&["ctl", &broken.dir().display().to_string(), "stop"]).code, Some(0));
    signal(&child, Signal::INT);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(games(&broken.dir()).len(), 2, "the games that the gate holds are aborted");
    broken.check_no_orphans();
}

/// Signals that stop at once, in the middle of a game.
#[test]
fn a_request_to_end_stops_at_once_and_can_be_resumed() {
    for signals in [&[Signal::TERM][..], &[Signal::HUP], &[Signal::INT, Signal::INT]] {
        let broken = Broken::new(2, "--max-pairs 6 -j 2");
        let mut child = broken.start_heard();
        until("a game", || broken.journal_lines() > 1);
        for (sent, which) in signals.iter().enumerate() {
            if sent > 0 {
                // Two of one kind at once would arrive as one.
                hears_of_an_interrupt(&mut child);
            }
            signal(&child, *which);
        }
        assert_eq!(child.wait().unwrap().code(), Some(130), "{signals:?}");
        broken.check_no_orphans();
        broken.gate.open();
        assert!(games(&broken.dir()).len() < 12, "{signals:?}");
        assert_eq!(broken.resume().code, Some(3), "{signals:?}");
        check_same(&broken.dir(), &broken.unbroken(3));
    }
}

/// Under `nohup`, or as a background job of a script, a run outlives the signal that it was started
/// to ignore.
#[test]
fn a_signal_that_was_ignored_stays_so() {
    for (name, which) in [("HUP", Signal::HUP), ("INT", Signal::INT), ("TERM", Signal::TERM)] {
        let broken = Broken::new(2, "--max-pairs 2 -j 1");
        let [new, base] = broken.sides();
        let args = sprt_args(&new, &base, &broken.dir(), &broken.more);
        let mut command = in_shell(&format!("trap '' {name}; exec \"$@\""), &args);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        until("a game", || broken.journal_lines() > 1);
        signal(&child, which);
        broken.gate.open();
        assert_eq!(child.wait().unwrap().code(), Some(3), "{name}");
        assert_eq!(games(&broken.dir()).len(), 4, "{name}");
    }
}

#[test]
fn two_processes_cannot_play_one_run() {
    let broken = Broken::new(2, "--max-pairs 4 -j 1");
    let mut child = broken.start();
    until("a game", || broken.journal_lines() > 1);
    let before = entries(&broken.dir());
    let ran = broken.resume();
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.starts_with("error: ") && ran.stderr.lines().count() == 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("another process is running this test"), "{}", ran.stderr);
    assert_eq!(entries(&broken.dir()), before, "the second one leaves nothing in the run's directory");
    child.kill().unwrap();
    child.wait().unwrap();
    broken.check_no_orphans();
}

/// A finished run of a few pairs between copies of the peer, so that they can be changed.
fn finished(folder: &Path, new: &str, more: &str, code: i32) -> (PathBuf, PathBuf, Ran) {
    let engine = folder.join("engine");
    std::fs::copy(FAKE, &engine).unwrap();
    let dir = folder.join("run");
    let [out, program] = [&dir, &engine].map(|path| path.display().to_string());
    let (new, base) = (format!("{program} -- --seed 1 {new}"), format!("{program} -- --seed 2"));
    let mut args = ["sprt", "--new", &new, "--base", &base, "--out", &out, "--nodes", "1"].map(str::to_owned).to_vec();
    args.extend(more.split_whitespace().map(str::to_owned));
    let ran = run(&args);
    assert_eq!(ran.code, Some(code), "{ran:?}");
    (dir, engine, ran)
}

const FEW: &str = "--max-plies 40 --max-pairs 3 --seed 1 -j 1";

fn resume(dir: &Path) -> Ran {
    run(&["resume", &dir.display().to_string()])
}

#[test]
fn a_changed_run_is_refused() {
    /// Change of the run's directory or of its engine.
    type Change = fn(&Path, &Path);
    let refusals: [(&str, Change); 3] = [
        ("engine: changed since the run began", |_, engine| append(engine)),
        ("engine: the program of `engine-new` is missing", |_, engine| std::fs::remove_file(engine).unwrap()),
        ("plan.toml: changed since the run began", |dir, _| append(&dir.join("plan.toml"))),
    ];
    for (words, change) in refusals {
        let folder = tempfile::tempdir().unwrap();
        let (dir, engine, _) = finished(folder.path(), "", FEW, 3);
        let before = (games(&dir), entries(&dir));
        change(&dir, &engine);
        // Trusted: a changed plan alone is refused before that.
        let ran = run(&["resume", &dir.display().to_string(), "--trust"]);
        assert_eq!((ran.code, ran.stderr.lines().count()), (Some(2), 1), "{words}: {ran:?}");
        assert!(ran.stderr.starts_with("error: ") && ran.stderr.contains(words), "{words}: {ran:?}");
        assert_eq!((games(&dir), entries(&dir)), before, "{words}");
    }
}

/// A book that another one replaced between two sessions would give the rest other openings.
#[test]
fn a_run_does_not_go_on_with_another_book() {
    let folder = tempfile::tempdir().unwrap();
    let book = folder.path().join("book.epd");
    // Each line is the position after a pawn of this file was pushed.
    let lines = |files: [usize; 4]| {
        let after = |file: usize| {
            let (left, right) = ("P".repeat(file), "P".repeat(7 - file));
            format!("rnbqkbnr/pppppppp/8/8/{file}P{}/8/{left}1{right}/RNBQKBNR b KQkq -\n", 7 - file)
        };
        files.map(after).concat()
    };
    std::fs::write(&book, lines([4, 3, 2, 5])).unwrap();
    let (dir, ..) = finished(folder.path(), "", &format!("{FEW} --book {}", book.display()), 3);
    let whole = games(&dir);
    let journal = dir.join("games.jsonl");
    let text = std::fs::read_to_string(&journal).unwrap();
    let first_pair = text.split_inclusive('\n').take(3).collect::<String>();
    std::fs::write(&journal, &first_pair).unwrap();
    std::fs::write(&book, lines([4, 3, 2, 6])).unwrap();
    let ran = resume(&dir);
    assert_eq!((ran.code, ran.stderr.lines().count()), (Some(2), 1), "{ran:?}");
    let why = "book.epd: changed since the run began, so pairs would get other openings; restore it";
    assert!(ran.stderr.starts_with("error: ") && ran.stderr.contains(why), "{ran:?}");
    assert_eq!(std::fs::read_to_string(&journal).unwrap(), first_pair);
    std::fs::write(&book, lines([4, 3, 2, 5])).unwrap();
    assert_eq!((resume(&dir).code, games(&dir)), (Some(3), whole));
}

#[test]
fn a_refused_run_adds_no_games_to_the_users_pgn() {
    let folder = tempfile::tempdir().unwrap();
    let pgn = folder.path().join("all.pgn");
    let (dir, ..) = finished(folder.path(), "", &format!("{FEW} --pgn {}", pgn.display()), 3);
    let (path, before) = (dir.join("plan.toml"), std::fs::read_to_string(&pgn).unwrap());
    assert!(before.contains("[Event \"sprt\"]"), "{before}");
    // The name is in each game's tags, so none of them is found in the file.
    let plan = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, plan.replacen("name = \"sprt\"", "name = \"other\"", 1)).unwrap();
    let ran = run(&["resume", &dir.display().to_string(), "--trust"]);
    assert!(ran.code == Some(2) && ran.stderr.contains("plan.toml: changed since the run began"), "{ran:?}");
    assert_eq!(std::fs::read_to_string(&pgn).unwrap(), before);
}

/// A game that stands twelve times in the journal failed once.
#[test]
fn a_failure_that_is_journalled_again_counts_once() {
    let folder = tempfile::tempdir().unwrap();
    let more = "--max-plies 40 --max-pairs 3 --seed 1 -j 1 --max-failures 6";
    let (dir, ..) = finished(folder.path(), "--fault exit-in-search@2", more, 3);
    let journal = dir.join("games.jsonl");
    let text = std::fs::read_to_string(&journal).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    assert!(lines.len() == 7 && lines[1].contains("crash"), "{text}");
    // The last game is still to be played, so that failures are looked at before a game.
    let again = lines[..6].iter().copied().chain(std::iter::repeat_n(lines[1], 12)).collect::<String>();
    std::fs::write(&journal, again).unwrap();
    let ran = run(&["resume", &dir.display().to_string()]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert_eq!(std::fs::read_to_string(&journal).unwrap().lines().count(), 6 + 12 + 1);
    assert_eq!((&summary(&dir)["games"], &summary(&dir)["stopped_by"]), (&6.into(), &"out-of-pairs".into()));
}

fn entries(dir: &Path) -> usize {
    std::fs::read_dir(dir).unwrap().count()
}

fn append(path: &Path) {
    use std::io::Write as _;
    std::fs::OpenOptions::new().append(true).open(path).unwrap().write_all(b"\n").unwrap();
}

/// A run that failures stopped is not played on under the same limit, and is under a higher one.
#[test]
fn a_run_with_too_many_failures_needs_a_higher_limit() {
    let folder = tempfile::tempdir().unwrap();
    let more = "--max-plies 40 --max-pairs 4 --seed 1 -j 1 --max-failures 2";
    let (dir, _, first) = finished(folder.path(), "--fault illegal", more, 4);
    let before = games(&dir);
    let with = |limit: &[&str]| run(&[&["resume", &dir.display().to_string()], limit].concat());
    let said = format!("aborted: {} engine failures, more than the 2 that --max-failures allows", before.len());
    assert!(first.stdout.starts_with(&said) && before.len() < 8, "{first:?}");
    for limit in [&[][..], &["--max-failures", "1"]] {
        let ran = with(limit);
        assert_eq!((ran.code, games(&dir)), (Some(4), before.clone()), "{ran:?}");
        assert!(ran.stdout.starts_with(&format!("aborted: {} engine failures", before.len())), "{ran:?}");
        let next = ran.stdout.lines().last().unwrap();
        assert!(next.starts_with("continue with: quintain resume ") && next.contains(" --max-failures "), "{ran:?}");
    }
    assert_eq!(with(&["--max-failures", "8"]).code, Some(3));
    assert_eq!(games(&dir).len(), 8);
}

#[test]
fn a_time_that_never_comes_is_no_limit() {
    for time in ["1e19s", "5e15h", "1e9"] {
        let folder = tempfile::tempdir().unwrap();
        let (dir, ..) = finished(folder.path(), "", &format!("{FEW} --max-time {time}"), 3);
        assert_eq!(games(&dir).len(), 6, "{time}");
        assert_eq!(resume(&dir).code, Some(3), "{time}");
    }
}

/// The time ends a test between two games, and the next session has it anew.
#[test]
fn a_test_that_ran_out_of_time_is_resumed() {
    let broken = Broken::new(2, "--max-pairs 4 -j 1 --stall-timeout 3600");
    let [new, base] = broken.sides();
    let mut child = spawn(&sprt_args(&new, &base, &broken.dir(), &format!("{} --max-time 1s", broken.more)));
    until("the end of the time", || is_stopping(&broken.dir()) || child.try_wait().unwrap().is_some());
    broken.gate.open();
    assert_eq!(child.wait().unwrap().code(), Some(3));
    let stopped = summary(&broken.dir());
    assert_eq!((&stopped["stopped_by"], &stopped["verdict"]), (&"out-of-time".into(), &"continue".into()));
    // On a busy machine the time may be over before the first game.
    let found = games(&broken.dir());
    assert!(found.len() <= 2, "no game began after it: {found:?}");
    check_summary(&stopped, &found[..found.len() / 2 * 2]);
    until("the last pair", || {
        let ran = broken.resume();
        assert_eq!(ran.code, Some(3), "{ran:?}");
        summary(&broken.dir())["stopped_by"] == "out-of-pairs"
    });
    check_same(&broken.dir(), &broken.unbroken(3));
    broken.check_no_orphans();
}

#[test]
fn a_torn_last_line_is_played_again() {
    let folder = tempfile::tempdir().unwrap();
    let (dir, ..) = finished(folder.path(), "", FEW, 3);
    let (whole, before) = (games(&dir), timeless_pgn(&dir));
    let journal = dir.join("games.jsonl");
    let bytes = std::fs::read(&journal).unwrap();
    std::fs::write(&journal, &bytes[..bytes.len() - 100]).unwrap();
    let ran = resume(&dir);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.stderr.contains("of a game that was not fully recorded"), "{}", ran.stderr);
    assert_eq!(games(&dir), whole);
    assert_eq!(timeless_pgn(&dir), before);
}

#[test]
fn a_damaged_game_is_played_again_at_the_users_word() {
    let folder = tempfile::tempdir().unwrap();
    let (dir, ..) = finished(folder.path(), "", FEW, 3);
    let (whole, before) = (games(&dir), timeless_pgn(&dir));
    let journal = dir.join("games.jsonl");
    let mut bytes = std::fs::read(&journal).unwrap();
    let second = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 40;
    bytes[second] ^= 1;
    std::fs::write(&journal, &bytes).unwrap();
    let refused = resume(&dir);
    let path = dir.display().to_string();
    let remedy = format!(
        "games.jsonl:2: damaged record (the checksum does not match); restore the file from a copy, or have that game played again with `quintain resume {path} --drop-damaged`"
    );
    assert!(refused.code == Some(2) && refused.stderr.contains(&remedy), "{refused:?}");
    let ran = run(&["resume", &path, "--drop-damaged"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(
        ran.stderr.contains("dropped 1 damaged record (line 2), to be played again; the old journal is "),
        "{ran:?}"
    );
    assert_eq!(std::fs::read(dir.join("games.jsonl.damaged")).unwrap(), bytes);
    assert_eq!((games(&dir), timeless_pgn(&dir)), (whole, before));
    let again = run(&["resume", &path, "--drop-damaged"]);
    assert!(again.code == Some(3) && again.stderr.contains("no record of the journal is damaged"), "{again:?}");
}

/// One flipped byte in the first line: the games are all there.
#[test]
fn a_damaged_header_is_written_anew_for_whoever_owns_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let (dir, ..) = finished(folder.path(), "", FEW, 3);
    let (whole, before) = (games(&dir), timeless_pgn(&dir));
    let (journal, path) = (dir.join("games.jsonl"), dir.display().to_string());
    let right = std::fs::read(&journal).unwrap();
    let mut bytes = right.clone();
    bytes[40] ^= 1;
    std::fs::write(&journal, &bytes).unwrap();
    for command in ["resume", "report", "rate", "games", "explain"] {
        let ran = run(&[command, &path]);
        let remedy = format!("have a new header written with `quintain resume {path} --drop-damaged`");
        assert!(ran.code == Some(2) && ran.stderr.contains(&remedy), "{command}: {ran:?}");
    }
    let stamp = std::fs::read(dir.join("stamp")).unwrap();
    std::fs::remove_file(dir.join("stamp")).unwrap();
    let ran = run(&["resume", &path, "--drop-damaged"]);
    assert!(ran.code == Some(2) && ran.stderr.contains("--trust"), "{ran:?}");
    assert_eq!(std::fs::read(&journal).unwrap(), bytes);
    std::fs::write(dir.join("stamp"), stamp).unwrap();
    let ran = run(&["resume", &path, "--drop-damaged"]);
    assert!(ran.code == Some(3) && ran.stderr.contains("wrote a new header"), "{ran:?}");
    assert_eq!((games(&dir), timeless_pgn(&dir)), (whole, before));
    assert_eq!(std::fs::read(&journal).unwrap(), right);
}

/// A line's beginning with the checksum that it needs.
fn sealed(body: &str) -> String {
    format!("{body},\"crc\":\"{:08x}\"}}\n", crc32fast::hash(body.as_bytes()))
}

/// Records with right checksums that cannot be: of players that nobody knows, and a second one of a
/// game.
#[test]
fn a_record_that_cannot_be_is_damage_and_a_second_one_does_not_count() {
    let folder = tempfile::tempdir().unwrap();
    let (dir, ..) = finished(folder.path(), "", FEW, 3);
    let (whole, before) = (games(&dir), timeless_pgn(&dir));
    let (journal, path) = (dir.join("games.jsonl"), dir.display().to_string());
    let text = std::fs::read_to_string(&journal).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let body = lines[1].rsplit_once(",\"crc\"").unwrap().0;
    let twice = sealed(&body.replacen("\"took_us\":", "\"took_us\":9", 1));
    std::fs::write(&journal, [&text, &twice].map(String::as_str).concat()).unwrap();
    let ran = run(&["games", &path]);
    let warning = format!("game 1 is there twice, and line {} differs from its first record", lines.len() + 1);
    assert!(ran.code == Some(0) && ran.stderr.contains(&warning), "{ran:?}");
    for (from, to, why) in [
        ("\"white\":0,\"black\":1", "\"white\":0,\"black\":0", "player 0 is both sides"),
        ("\"white\":0,", "\"white\":65535,", "the plan has no player 65535"),
        ("\"fen\":\"", "\"fen\":\"x", ""),
    ] {
        let changed = body.replacen(from, to, 1);
        assert_ne!(changed, body);
        let bad = sealed(&changed);
        let mut parts = lines.clone();
        parts[1] = &bad;
        std::fs::write(&journal, parts.concat()).unwrap();
        for command in ["resume", "report", "rate", "games", "explain"] {
            let ran = run(&[command, &path]);
            let said = ran.stderr.contains("games.jsonl:2: damaged record (") && ran.stderr.contains(why);
            assert!(ran.code == Some(2) && said, "{command}: {ran:?}");
        }
        let ran = run(&["resume", &path, "--drop-damaged"]);
        assert!(ran.code == Some(3) && ran.stderr.contains("dropped 1 damaged record (line 2)"), "{ran:?}");
        assert_eq!((&games(&dir), &timeless_pgn(&dir)), (&whole, &before));
    }
    std::fs::write(&journal, [&text, &twice].map(String::as_str).concat()).unwrap();
    let ran = run(&["resume", &path, "--drop-damaged"]);
    let dropped = format!("dropped 1 later record (line {})", lines.len() + 1);
    assert!(ran.code == Some(3) && ran.stderr.contains(&dropped), "{ran:?}");
    assert_eq!((std::fs::read_to_string(&journal).unwrap(), games(&dir)), (text.clone(), whole));
}

#[test]
fn a_tail_of_nuls_is_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let (dir, ..) = finished(folder.path(), "", FEW, 3);
    let (whole, before) = (games(&dir), timeless_pgn(&dir));
    let journal = dir.join("games.jsonl");
    let bytes = std::fs::read(&journal).unwrap();
    std::fs::write(&journal, [&bytes[..bytes.len() - 100], &[0; 9_000], b"\n", &[0; 50]].concat()).unwrap();
    let ran = resume(&dir);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert_eq!((games(&dir), timeless_pgn(&dir)), (whole, before));
}

/// Paths are relative to where the run began, whatever folder it goes on from.
#[test]
fn a_run_goes_on_from_another_folder() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let script = format!("#!/bin/sh\npwd >> '{}/folders'\nexec '{FAKE}' \"$@\"\n", root.display());
    std::fs::write(root.join("engine.sh"), script).unwrap();
    std::fs::set_permissions(root.join("engine.sh"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    std::fs::write(root.join("book.epd"), "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -\n").unwrap();
    std::fs::create_dir(root.join("sub")).unwrap();
    let run_in = |folder: &Path, words: &str| -> Ran {
        quintain(&words.split_whitespace().collect::<Vec<_>>()).current_dir(folder).output().unwrap().into()
    };
    let sides = "sprt --new ./engine.sh --base ./engine.sh --book book.epd --out run --nodes 1 --allow-same";
    let ran = run_in(&root, &format!("{sides} {FEW}"));
    assert_eq!(ran.code, Some(3), "{ran:?}");
    let whole = games(&root.join("run"));
    let journal = root.join("run/games.jsonl");
    let bytes = std::fs::read(&journal).unwrap();
    std::fs::write(&journal, &bytes[..bytes.len() - 100]).unwrap();
    let ran = run_in(&root.join("sub"), "resume ../run");
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert_eq!(games(&root.join("run")), whole);
    let folders = std::fs::read_to_string(root.join("folders")).unwrap();
    assert!(folders.lines().all(|folder| Path::new(folder) == root), "{folders}");
}

#[test]
fn a_finished_run_says_the_same_again() {
    check_said_again("", FEW, 3);
    let verdict = "--max-plies 60 --seed 1 -j 2 --bounds 0,200 --model logistic --resign count=3,score=600";
    check_said_again("--resigns 100", verdict, 1);
}

#[track_caller]
fn check_said_again(new: &str, more: &str, code: i32) {
    let folder = tempfile::tempdir().unwrap();
    let (dir, _, first) = finished(folder.path(), new, more, code);
    let before = (games(&dir), timeless_pgn(&dir), timeless_summary(&dir));
    let again = resume(&dir);
    assert_eq!(again.code, Some(code), "{again:?}");
    let said = |ran: &Ran| ran.stdout.lines().filter(|line| !line.starts_with("took ")).collect::<Vec<_>>().join("\n");
    assert_eq!(said(&again), said(&first));
    assert_eq!((games(&dir), timeless_pgn(&dir), timeless_summary(&dir)), before);
}

/// Changes an engine's program at its fourth start, the third game's, because one start is before
/// the run. Checks the words of the message and the number of games before it. The program is a
/// script, which changes itself as its owner might.
#[track_caller]
fn check_touched(touch: &str, stops: Option<(&str, usize)>) {
    let folder = tempfile::tempdir().unwrap();
    let [engine, kept, starts, dir] = ["engine", "kept", "starts", "run"].map(|name| folder.path().join(name));
    let script = format!(
        "#!/bin/sh\necho >> {starts}\nif [ $(wc -l < {starts}) = 4 ]; then {touch}; fi\nexec '{FAKE}' --seed 1\n",
        starts = starts.display(),
        touch = touch.replace("KEPT", &kept.display().to_string()).replace("ENGINE", &engine.display().to_string()),
    );
    std::fs::write(&kept, script).unwrap();
    std::fs::set_permissions(&kept, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let restore = || std::fs::copy(&kept, &engine).unwrap();
    restore();
    let [new, out] = [&engine, &dir].map(|path| path.display().to_string());
    let mut args = ["sprt", "--new", &new, "--base", &fake("--seed 2"), "--out", &out].map(str::to_owned).to_vec();
    args.extend(format!("--nodes 1 --restart {FEW}").split_whitespace().map(str::to_owned));
    let ran = run(&args);
    if let Some((words, before)) = stops {
        assert_eq!(ran.code, Some(4), "{touch}: {ran:?}");
        let error = ran.stderr.lines().last().unwrap();
        assert!(error.starts_with("error: ") && error.contains(words), "{touch}: {ran:?}");
        assert!(error.contains(&new) && error.contains("continue with `quintain resume "), "{touch}: {ran:?}");
        assert_eq!(games(&dir).len(), before, "{touch}");
        std::fs::remove_file(&engine).ok();
        restore();
        assert_eq!(resume(&dir).code, Some(3), "{touch}");
    } else {
        assert_eq!(ran.code, Some(3), "{touch}: {ran:?}");
    }
    let games = games(&dir);
    assert_eq!(games.len(), 6, "{touch}");
    assert!(games.iter().all(|game| game.termination != "crash"), "{touch}: {games:?}");
}

#[test]
fn a_program_that_changes_during_a_run_stops_it() {
    let append = "cp KEPT ENGINE.new; echo >> ENGINE.new; mv ENGINE.new ENGINE";
    check_touched(append, Some(("changed since the run began", 2)));
    check_touched("rm ENGINE", Some(("is missing", 2)));
    // The third game's process runs already.
    check_touched("chmod a-x ENGINE", Some(("is not executable", 3)));
    check_touched("cp KEPT ENGINE.new; mv ENGINE.new ENGINE", None);
}
