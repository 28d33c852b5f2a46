//! `--workers local:N`: runs played by workers behind a real nats-server, and what is left of them
//! when any of these processes is killed.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::harness::{
    FAKE, Gate, Ran, check_same_games, copy_program, fake, games, hears_of_an_interrupt, heeding_signals, in_shell,
    is_stopping, journal_lines, next_random, quintain, run, sprt, sprt_args, summary, until,
};
use crate::skip::skip;

/// True if there is a server to test with; says loudly that `test` is left out otherwise.
pub(crate) fn has_server(test: &str) -> bool {
    if !is_installed("nats-server") && !is_installed("/usr/sbin/nats-server") {
        skip(test, "no program nats-server");
        return false;
    }
    true
}

pub(crate) fn is_installed(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok()
}

/// A run, its sides, and what identifies its processes.
pub(crate) struct Run {
    pub(crate) folder: tempfile::TempDir,
    gate: Option<Gate>,
    faults: &'static str,
    more: String,
}

impl Run {
    pub(crate) fn new(more: &str) -> Self {
        let more = format!("--nodes 1 --max-plies 40 --seed 11 {more}");
        Self { folder: tempfile::tempdir().unwrap(), gate: None, faults: "", more }
    }

    pub(crate) fn dir(&self) -> PathBuf {
        self.folder.path().join("run")
    }

    fn sides(&self) -> [String; 2] {
        let name = self.folder.path().display();
        let hold = self.gate.as_ref().map(Gate::words).unwrap_or_default();
        [1, 2].map(|seed| format!("--name {name} --seed {seed} --sleep-us 200 {hold} {}", self.faults))
    }

    /// The same run, whose engines wait from this game of each process on.
    pub(crate) fn held_from(mut self, game: u64) -> Self {
        self.gate = Some(Gate::new(self.folder.path(), game));
        // A held engine does not hang, however slow the machine is.
        self.more += " --stall-timeout 3600";
        self
    }

    /// Lets the held games go on.
    pub(crate) fn release(&self) {
        self.gate.as_ref().unwrap().open();
    }

    pub(crate) fn args(&self, workers: &str) -> Vec<String> {
        let [new, base] = self.sides();
        sprt_args(&new, &base, &self.dir(), &format!("{} --workers {workers}", self.more))
    }

    fn start(&self, workers: &str) -> Child {
        self.command(&self.args(workers)).spawn().unwrap()
    }

    /// With a standard error that the test reads.
    pub(crate) fn start_heard(&self, workers: &str) -> Child {
        self.command(&self.args(workers)).stderr(Stdio::piped()).spawn().unwrap()
    }

    pub(crate) fn resume(&self, more: &[&str]) -> Ran {
        let dir = self.dir().display().to_string();
        let args: Vec<_> = ["resume", &dir].into_iter().chain(more.iter().copied()).collect();
        self.apart(quintain(&args)).output().unwrap().into()
    }

    pub(crate) fn command(&self, args: &[String]) -> Command {
        let mut command = self.apart(heeding_signals(args));
        command.stdout(Stdio::null()).stderr(self.log());
        command
    }

    /// Standard error of all lives of the run.
    fn log(&self) -> std::fs::File {
        std::fs::File::options().create(true).append(true).open(self.folder.path().join("log")).unwrap()
    }

    /// Its server keeps its files in the run's folder, whose path its command line holds then.
    pub(crate) fn apart(&self, mut command: Command) -> Command {
        command.env("TMPDIR", self.folder.path());
        command
    }

    /// The same run without workers, to its end.
    pub(crate) fn alone(&self) -> PathBuf {
        let dir = self.folder.path().join("alone");
        let [new, base] = self.sides();
        sprt(3, &new, &base, &dir, &format!("{} -j 2", self.more));
        dir
    }

    /// Numbers of this run's processes whose command line has a word.
    pub(crate) fn processes(&self, word: &str) -> Vec<u32> {
        processes_with(&self.folder.path().display().to_string(), word)
    }

    pub(crate) fn journal_lines(&self) -> usize {
        journal_lines(&self.dir())
    }

    /// Answer of `quintain ctl workers`.
    fn ctl_workers(&self, words: &[&str]) -> Ran {
        run(&[&["ctl", &self.dir().display().to_string(), "workers"], words].concat())
    }

    /// The same as a table.
    fn workers(&self) -> Vec<Value> {
        let answer: Value = serde_json::from_str(&self.ctl_workers(&["--json"]).stdout).unwrap();
        answer["workers"].as_array().unwrap().clone()
    }

    /// Waits until each of two workers has played a pair and holds another one. The journal alone
    /// does not tell: the next pair of a worker may not have reached it.
    #[track_caller]
    fn both_hold_another_pair(&self) {
        until("two pairs", || self.journal_lines() >= 5);
        let plays_again =
            |row: &Value| row["games"] == 2 && row["state"].as_str().unwrap_or_default().starts_with("playing pair ");
        until("both at play", || self.workers().iter().filter(|row| plays_again(row)).count() == 2);
    }

    /// Nothing of it is left in the folder for temporary files.
    #[track_caller]
    fn check_no_folders(&self) {
        let names = std::fs::read_dir(self.folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let left: Vec<_> = names.filter(|name| name.to_string_lossy().starts_with("quintain-")).collect();
        assert!(left.is_empty(), "{left:?}");
    }

    /// Waits until every process of the run is gone.
    #[track_caller]
    pub(crate) fn check_no_orphans(&self) {
        until("the end of every process", || {
            ["nats-server", "--session", "fake_engine"].iter().all(|word| self.processes(word).is_empty())
        });
    }
}

/// Numbers of processes whose command line has a word, and that or the environment a marker.
pub(crate) fn processes_with(marker: &str, word: &str) -> Vec<u32> {
    let found = std::fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let entry = entry.ok()?;
        let pid = entry.file_name().to_str()?.parse().ok()?;
        let line = std::fs::read(entry.path().join("cmdline")).ok()?;
        let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
        let has = |bytes: &[u8], text: &str| String::from_utf8_lossy(bytes).contains(text);
        (has(&line, word) && (has(&line, marker) || has(&environment, marker))).then_some(pid)
    });
    found.collect()
}

pub(crate) fn kill(pid: u32, signal: Signal) {
    // It may have ended meanwhile.
    let _ = kill_process(Pid::from_raw(i32::try_from(pid).unwrap()).unwrap(), signal);
}

/// Both runs have the same games and the same result.
#[track_caller]
pub(crate) fn check_same(run: &Path, alone: &Path) {
    check_same_games(run, alone);
    let estimates = |dir: &Path| {
        let summary = summary(dir);
        ["llr", "ptnml", "pairs", "stopped_by"].map(|key| summary[key].clone())
    };
    assert_eq!(estimates(run), estimates(alone));
}

#[test]
fn workers_play_the_games_of_a_run_without_them() {
    if !has_server("workers_play_the_games_of_a_run_without_them") {
        return;
    }
    let run = Run::new("--max-pairs 24");
    let alone = run.alone();
    for workers in [1, 4, 16] {
        assert_eq!(run.start(&format!("local:{workers}")).wait().unwrap().code(), Some(3), "{workers} workers");
        check_same(&run.dir(), &alone);
        run.check_no_orphans();
        run.check_no_folders();
        std::fs::remove_dir_all(run.dir()).unwrap();
    }
}

/// Formats whose results decide who meets whom, and options that change between games.
#[test]
fn every_format_is_played_by_workers() {
    if !has_server("every_format_is_played_by_workers") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let field: String = (1..=4).map(|seed| format!("\"{}\" ", fake(&format!("--seed {seed}")))).collect();
    let tuned = format!("--engine \"{}\" --from-engine 'Alpha|Beta' --no-sensitivity --no-prove", fake("--tunes"));
    let common = "--nodes 1 --max-plies 40 --seed 5";
    // As other tools write positions: squares behind pawns that nobody can take, and move 0.
    let loose = folder.path().join("loose.epd");
    let lines = [
        "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3",
        "rnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR b QKqk d3 0 0",
    ];
    std::fs::write(&loose, lines.join("\n")).unwrap();
    for (name, format, code) in [
        ("loose", format!("match {field} --book {} --pairs 2 {common}", loose.display()), 0),
        ("swiss", format!("match {field} --format swiss --rounds 3 {common}"), 0),
        ("knockout", format!("match {field} --format knockout {common}"), 0),
        ("round-robin", format!("match {field} --pairs 2 {common}"), 0),
        ("tune", format!("tune {tuned} --pairs 96 {common}"), 0),
    ] {
        let play = |how: &str| {
            let out = folder.path().join(format!("{name}-{}", how.replace([' ', ':'], "")));
            let line = format!("{format} {how} --out {}", out.display());
            let ran: Ran = in_shell(&format!("exec \"$1\" {line}"), &[""; 0]).output().unwrap().into();
            assert_eq!(ran.code, Some(code), "{line}: {ran:?}");
            if name == "tune" { out.join("tune") } else { out }
        };
        let (alone, by_workers) = (play("-j 2"), play("--workers local:2"));
        assert_eq!(games(&by_workers), games(&alone), "{name}");
        let figures = |dir: &Path| {
            let summary = summary(dir);
            ["pairs", "players", "tune"].map(|key| summary[key].clone())
        };
        assert_eq!(figures(&by_workers), figures(&alone), "{name}");
    }
}

#[test]
fn a_run_with_workers_survives_any_kill() {
    if has_server("a_run_with_workers_survives_any_kill") {
        check_survives(20, 120);
    }
}

#[test]
#[ignore = "it takes minutes; .ci/run plays it"]
fn a_run_with_workers_survives_two_hundred_kills() {
    if has_server("a_run_with_workers_survives_two_hundred_kills") {
        check_survives(200, 1_200);
    }
}

/// True if the kills ended one process of the run, and it said so. Its server was killed while it
/// started, or the same pair lost several workers, so that the pair looked guilty.
fn was_ended(run: &Run, child: &mut Child) -> bool {
    let code = child.wait().unwrap().code();
    let log = std::fs::read_to_string(run.folder.path().join("log")).unwrap();
    let last = log.lines().rfind(|line| !line.is_empty()).unwrap_or_default();
    match code {
        Some(2) => last.contains("nats"),
        Some(4) => last.contains("ended each of the"),
        _ => false,
    }
}

/// Another life of a run.
fn go_on(run: &Run) -> Child {
    let dir = run.dir().display().to_string();
    if run.dir().join("plan.toml").exists() {
        run.command(&["resume".to_owned(), dir]).spawn().unwrap()
    } else {
        run.start("local:3")
    }
}

/// Of twenty faults twelve kill a worker, three the server and three this process, which is then
/// resumed; two stop a worker until the next fault. Engines hold in the 21st game of each life, so
/// that the run cannot end before it was killed several times, however slow this test is.
#[track_caller]
fn check_survives(most: u64, pairs: u64) {
    let run = Run::new(&format!("--max-pairs {pairs}")).held_from(21);
    let mut state = 0x5eed;
    let mut child = run.start("local:3");
    let mut kills = 0;
    let mut asleep = None;
    while kills < most {
        let mut polls = next_random(&mut state) % 400;
        let mut is_over = false;
        until("the moment to kill", || {
            polls = polls.saturating_sub(1);
            is_over = child.try_wait().unwrap().is_some();
            is_over || polls == 0
        });
        if is_over {
            if !was_ended(&run, &mut child) {
                break;
            }
            child = go_on(&run);
            continue;
        }
        kills += 1;
        // Its process may be gone, and its number is not given to another one so soon.
        asleep.take().into_iter().for_each(|pid| kill(pid, Signal::CONT));
        let fault = next_random(&mut state) % 20;
        match fault {
            0..14 => {
                let workers = run.processes("--session");
                if !workers.is_empty() {
                    let which = usize::try_from(next_random(&mut state)).unwrap() % workers.len();
                    kill(workers[which], if fault < 12 { Signal::KILL } else { Signal::STOP });
                    asleep = (fault >= 12).then_some(workers[which]);
                }
            }
            14..17 => run.processes("nats-server").into_iter().for_each(|pid| kill(pid, Signal::KILL)),
            _ => {
                child.kill().unwrap();
                child.wait().unwrap();
                run.check_no_orphans();
                child = go_on(&run);
            }
        }
    }
    asleep.into_iter().for_each(|pid| kill(pid, Signal::CONT));
    run.release();
    while was_ended(&run, &mut child) {
        child = go_on(&run);
    }
    let code = child.wait().unwrap().code();
    assert_eq!(code, Some(3), "{}", std::fs::read_to_string(run.folder.path().join("log")).unwrap());
    assert!(kills >= 3, "only {kills} kills");
    check_same(&run.dir(), &run.alone());
    run.check_no_orphans();
}

/// The server loses its store, and with it the stream itself, as after a power cut.
#[test]
fn a_server_that_lost_its_store_costs_no_game() {
    if !has_server("a_server_that_lost_its_store_costs_no_game") {
        return;
    }
    let run = Run::new("--max-pairs 60").held_from(21);
    let mut child = run.start("local:2");
    for pairs in [3, 12] {
        until("some pairs", || run.journal_lines() > 2 * pairs);
        for entry in std::fs::read_dir(run.folder.path()).unwrap() {
            let entry = entry.unwrap();
            if entry.file_name().to_string_lossy().starts_with("quintain-hub-") {
                // The server may be writing: what is in it cannot be removed at once.
                let lost = entry.path().join(format!("lost-{pairs}"));
                std::fs::rename(entry.path().join("store"), lost).unwrap();
            }
        }
        let servers = run.processes("nats-server");
        servers.iter().for_each(|pid| kill(*pid, Signal::KILL));
        until("another server", || run.processes("nats-server").iter().any(|pid| !servers.contains(pid)));
    }
    run.release();
    assert_eq!(child.wait().unwrap().code(), Some(3));
    check_same(&run.dir(), &run.alone());
    run.check_no_orphans();
}

/// Verified pairs are played by another worker too, and count once.
#[test]
fn verified_pairs_change_no_result() {
    let mut run = Run::new("--max-pairs 16 --verify 100%");
    for (more, told) in [
        ("--nodes 1 --verify 2%", "--verify has pairs played by a second worker; add --workers"),
        ("--tc 1+0.1 --verify 2% --workers local:2", "under a clock no two games are equal"),
        ("--nodes 1 --verify all --workers local:2", "--verify `all`: a share of the pairs in percent, as in 5%"),
        ("--nodes 1 --option Threads=2 --verify 2% --workers local:2", "set Threads to 1"),
    ] {
        let [new, base] = run.sides();
        let line = format!("exec \"$1\" sprt --new \"{}\" --base \"{}\" {more}", fake(&new), fake(&base));
        let ran: Ran = in_shell(&line, &[""; 0]).output().unwrap().into();
        assert_eq!(ran.code, Some(2), "{more}: {ran:?}");
        assert!(ran.stderr.contains(told), "{more}: {}", ran.stderr);
    }
    if !has_server("verified_pairs_change_no_result") {
        return;
    }
    assert_eq!(run.start("local:3").wait().unwrap().code(), Some(3));
    run.more = run.more.replace("--verify 100%", "");
    check_same(&run.dir(), &run.alone());
    let workers = summary(&run.dir())["workers"].as_array().unwrap().clone();
    assert!(workers.iter().any(|worker| worker["verified"].as_u64() > Some(0)), "{workers:?}");
    run.check_no_orphans();
}

/// An author builds or installs Quintain anew while a run of it goes on.
#[test]
fn workers_start_again_after_the_program_was_removed() {
    if !has_server("workers_start_again_after_the_program_was_removed") {
        return;
    }
    let run = Run::new("--max-pairs 24").held_from(11);
    let program = run.folder.path().join("quintain");
    copy_program(&program);
    let mut args = vec![program.display().to_string()];
    args.extend(run.args("local:2"));
    let mut child = run.apart(in_shell("shift; exec \"$@\"", &args)).stderr(run.log()).spawn().unwrap();
    until("some pairs", || run.journal_lines() > 2);
    std::fs::remove_file(&program).unwrap();
    let workers = run.processes("--session");
    workers.iter().for_each(|pid| kill(*pid, Signal::KILL));
    until("other workers", || run.processes("--session").iter().filter(|pid| !workers.contains(pid)).count() == 2);
    run.release();
    assert_eq!(child.wait().unwrap().code(), Some(3));
    check_same(&run.dir(), &run.alone());
    run.check_no_orphans();
}

/// Standard error and transcripts of engines on workers lie where those of the run's own engines
/// do.
#[test]
fn evidence_of_engines_on_workers_is_kept_with_the_run() {
    if !has_server("evidence_of_engines_on_workers_is_kept_with_the_run") {
        return;
    }
    let run = Run { faults: "--announce --fault exit-in-search@5", ..Run::new("--max-pairs 2 --max-failures 9") };
    let alone = run.folder.path().join("alone");
    let [new, base] = run.sides();
    sprt(3, &new, &base, &alone, &format!("{} -j 1", run.more));
    assert_eq!(run.start("local:1").wait().unwrap().code(), Some(3));
    let log = |dir: &Path, place: &str| {
        std::fs::read_to_string(dir.join(format!("stderr/fake_engine-new-{place}.log"))).unwrap()
    };
    let (ours, expected) = (log(&run.dir(), "local-1-slot1"), log(&alone, "slot1"));
    assert!(
        ours.contains(
            "started
assertion failed"
        ) && ours == expected,
        "{ours} instead of {expected}"
    );
    let crashes = |dir: &Path| {
        let folder = std::fs::read_dir(dir.join("crashes")).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<_> = folder.collect();
        names.sort();
        names
    };
    assert_eq!(crashes(&run.dir()), crashes(&alone));
    let transcript = std::fs::read_to_string(run.dir().join("crashes/game-1/transcript.txt")).unwrap();
    assert!(transcript.contains("position "), "{transcript}");
    run.check_no_orphans();
}

/// A worker that is silent loses its pair to another one after half a minute, and what it plays
/// later is not wanted.
#[test]
fn a_silent_worker_loses_its_pair() {
    if !has_server("a_silent_worker_loses_its_pair") {
        return;
    }
    let run = Run::new("--max-pairs 12").held_from(3);
    let child = run.start_heard("local:2");
    run.both_hold_another_pair();
    let workers = run.processes("--session");
    kill(workers[0], Signal::STOP);
    run.release();
    let ran: Ran = child.wait_with_output().unwrap().into();
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.stderr.contains("silent for 30 s; its pair is played again"), "{}", ran.stderr);
    check_same(&run.dir(), &run.alone());
    run.check_no_orphans();
}

/// A first interrupt lets pairs in play be finished, and the resumed run comes to the same games.
#[test]
fn an_interrupt_lets_running_pairs_finish() {
    if !has_server("an_interrupt_lets_running_pairs_finish") {
        return;
    }
    let run = Run::new("--max-pairs 12").held_from(3);
    let mut child = run.start_heard("local:2");
    until("two pairs", || run.journal_lines() >= 5);
    kill(child.id(), Signal::INT);
    hears_of_an_interrupt(&mut child);
    run.release();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let found = games(&run.dir()).len();
    assert!((4..=8).contains(&found) && found.is_multiple_of(2), "{found} games");
    run.check_no_orphans();
    run.check_no_folders();
    assert_eq!(run.resume(&[]).code, Some(3));
    check_same(&run.dir(), &run.alone());
}

/// The time ends a run by workers too, and the next sessions have it anew.
#[test]
fn a_run_by_workers_that_ran_out_of_time_is_resumed() {
    if !has_server("a_run_by_workers_that_ran_out_of_time_is_resumed") {
        return;
    }
    let run = Run::new("--max-pairs 8").held_from(3);
    let args = [run.args("local:2"), ["--max-time", "1s"].map(str::to_owned).to_vec()].concat();
    let mut child = run.command(&args).spawn().unwrap();
    until("the end of the time", || is_stopping(&run.dir()) || child.try_wait().unwrap().is_some());
    run.release();
    assert_eq!(child.wait().unwrap().code(), Some(3));
    // Each worker has played a pair, or none on a busy machine, and finishes the one that it held.
    let found = games(&run.dir()).len();
    assert!(found <= 8 && found.is_multiple_of(2), "{found} games");
    assert_eq!(summary(&run.dir())["stopped_by"], "out-of-time");
    run.check_no_orphans();
    let resumed = run.resume(&[]);
    assert_eq!(resumed.code, Some(3), "{resumed:?}");
    until("the last pair", || {
        let ran = run.resume(&["-j", "2"]);
        assert_eq!(ran.code, Some(3), "{ran:?}");
        summary(&run.dir())["stopped_by"] == "out-of-pairs"
    });
    check_same(&run.dir(), &run.alone());
    run.check_no_orphans();
}

/// One worker is dropped by its user and stays out, the other one plays its pairs. The last one is
/// kept.
#[test]
fn workers_are_listed_and_dropped() {
    if !has_server("workers_are_listed_and_dropped") {
        return;
    }
    let run = Run::new("--max-pairs 12").held_from(3);
    let child = run.start_heard("local:2");
    run.both_hold_another_pair();
    for (row, name) in run.workers().iter().zip(["local-1", "local-2"]) {
        assert_eq!((&row["name"], &row["slots"], &row["games"]), (&name.into(), &1.into(), &2.into()), "{row}");
        assert!(row["machine"].as_str().unwrap().contains(" core"), "{row}");
    }
    let table = run.ctl_workers(&[]).stdout;
    assert!(table.starts_with("worker ") && table.contains("\nlocal-2 "), "{table}");
    let unknown = run.ctl_workers(&["drop", "local-3"]);
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.stderr.contains("no worker `local-3`; the workers of this run: local-1, local-2"), "{unknown:?}");
    assert_eq!(run.ctl_workers(&["drop", "local-1"]).code, Some(0));
    until("its end", || {
        run.workers()[0]["state"] == "dropped by `quintain ctl`" && run.processes("local-1-1").is_empty()
    });
    let last = run.ctl_workers(&["drop", "local-2"]);
    assert!(last.code == Some(2) && last.stderr.contains("local-2 is the only worker"), "{last:?}");
    run.release();
    let ran: Ran = child.wait_with_output().unwrap().into();
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.stderr.contains("worker local-1: dropped by `quintain ctl`; its pair is played again"), "{ran:?}");
    check_same(&run.dir(), &run.alone());
    let played = summary(&run.dir())["workers"].clone();
    assert_eq!((&played[0]["pairs"], &played[1]["pairs"]), (&1.into(), &11.into()), "{played}");
    let page = std::fs::read_to_string(run.dir().join("report.html")).unwrap();
    assert!(page.contains("<h2>Workers</h2>") && page.contains("local-1"), "no table of workers");
    let alone = std::fs::read_to_string(run.folder.path().join("alone/report.html")).unwrap();
    assert!(!alone.contains("<h2>Workers</h2>"));
    run.check_no_orphans();
}

/// A pair that ends every worker stops the run, resumable, instead of being skipped.
#[test]
fn a_pair_that_ends_its_workers_stops_the_run() {
    if !has_server("a_pair_that_ends_its_workers_stops_the_run") {
        return;
    }
    let run = Run { faults: "--fault kill-harness@9", ..Run::new("--max-pairs 12") };
    let ran: Ran = run.start_heard("local:2").wait_with_output().unwrap().into();
    assert_eq!(ran.code, Some(4), "{ran:?}");
    assert!(ran.stderr.contains(" ended each of the 5 workers that played it"), "{}", ran.stderr);
    run.check_no_orphans();
}

/// Another life of a worker may have ready engines. Five that do not have any end the run.
#[test]
fn a_worker_whose_engines_do_not_start_is_replaced() {
    if !has_server("a_worker_whose_engines_do_not_start_is_replaced") {
        return;
    }
    for is_lasting in [false, true] {
        let run = Run::new("--max-pairs 12").held_from(3);
        let [program, broken] = ["fake_engine", "broken"].map(|name| run.folder.path().join(name));
        let script = format!("#!/bin/sh\n[ ! -e '{}' ] || exit 7\nexec '{FAKE}' \"$@\"\n", broken.display());
        std::fs::write(&program, script).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let program = program.display().to_string();
        let args: Vec<_> = run.args("local:2").iter().map(|word| word.replace(FAKE, &program)).collect();
        let mut child = run.command(&args).spawn().unwrap();
        let said = || std::fs::read_to_string(run.folder.path().join("log")).unwrap();
        run.both_hold_another_pair();
        std::fs::write(&broken, "").unwrap();
        kill(run.processes("local-1-1")[0], Signal::KILL);
        let lives = if is_lasting { 2..=5 } else { 2..=3 };
        for life in lives {
            let words = format!("worker local-1-{life}: ended (exit status: 1: warning: engine ");
            until(&words, || said().contains(&words) || is_stopping(&run.dir()));
            assert!(said().contains(&words), "{}", said());
        }
        if is_lasting {
            until("the end of the sixth life", || is_stopping(&run.dir()));
        }
        std::fs::remove_file(&broken).unwrap();
        run.release();
        let code = child.wait().unwrap().code();
        assert_eq!(code, Some(if is_lasting { 4 } else { 3 }), "{}", said());
        if is_lasting {
            assert!(said().contains("worker local-1-6 cannot serve this run: warning: engine "), "{}", said());
            assert_eq!(run.resume(&[]).code, Some(3));
        }
        check_same(&run.dir(), &run.alone());
        run.check_no_orphans();
    }
}

/// Its games are short, and the other worker has not finished one.
#[test]
fn a_worker_on_which_an_engine_crashes_is_excluded() {
    if !has_server("a_worker_on_which_an_engine_crashes_is_excluded") {
        return;
    }
    let run = Run::new("--max-pairs 12").held_from(1);
    let [program, serves] = ["fake_engine", "serves"].map(|name| run.folder.path().join(name).display().to_string());
    let script = format!(
        "#!/bin/sh\ncase $(tr '\\0' ' ' < /proc/$PPID/cmdline) in\n*' local-2-'*) : > '{serves}' ;;\n\
         *' local-1-'*) set -- \"$@\" --hold '{serves}@1'\n\
         case \"$*\" in *'--seed 1 '*) set -- \"$@\" --fault exit-in-search@1 ;; esac ;;\n\
         *) set -- \"$@\" --hold '{serves}@99' ;;\nesac\nexec '{FAKE}' \"$@\"\n"
    );
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let args: Vec<_> = run.args("local:2").iter().map(|word| word.replace(FAKE, &program)).collect();
    let mut child = run.command(&args).spawn().unwrap();
    let said = || std::fs::read_to_string(run.folder.path().join("log")).unwrap();
    until("the worker's end", || said().contains("it is excluded") || child.try_wait().unwrap().is_some());
    run.release();
    assert_eq!(child.wait().unwrap().code(), Some(3), "{}", said());
    let text = "worker local-1: fake_engine-new failed there in 6 of 6 games, and in 0 of 0 elsewhere; it is excluded";
    assert!(said().contains(text), "{}", said());
    let played = summary(&run.dir())["workers"].clone();
    assert_eq!((&played[0]["failures"], &played[1]["pairs"]), (&6.into(), &9.into()), "{played}");
    run.check_no_orphans();
}

/// Threads finish a run that workers began.
#[test]
fn a_run_goes_on_without_its_workers() {
    if !has_server("a_run_goes_on_without_its_workers") {
        return;
    }
    let run = Run::new("--max-pairs 60");
    let alone = run.alone();
    let mut child = run.start("local:2");
    until("a game", || run.journal_lines() > 2 || child.try_wait().unwrap().is_some());
    child.kill().unwrap();
    child.wait().unwrap();
    run.check_no_orphans();
    let ran = run.resume(&["-j", "2"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    check_same(&run.dir(), &alone);
}

#[test]
fn workers_that_cannot_be_are_refused_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    for (workers, fault) in [
        ("local:0", "`local:0` names no workers; give local:N"),
        ("http://example.org", "names no workers"),
        ("local:2 -j 2", "cannot be used with"),
    ] {
        let more = format!("--nodes 1 --max-pairs 1 --workers {workers}");
        let ran = sprt(2, "--seed 1", "--seed 2", &folder.path().join("run"), &more);
        assert!(ran.stderr.contains(fault), "{}", ran.stderr);
        assert!(!folder.path().join("run").exists());
    }
    // A worker is no command for users.
    let ran = run(&[
        "worker",
        "nats://127.0.0.1:1",
        "--run",
        "x",
        "--session",
        "y",
        "--slot",
        "0",
        "--user",
        "z",
        "--folder",
        "x",
    ]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("--workers local:N"), "{}", ran.stderr);
}
