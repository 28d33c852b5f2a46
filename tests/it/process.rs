//! The driver of engine processes against a real, misbehaving one.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use quintain::plan::Timeouts;
use quintain::uci::process::{Engine, EngineConfig, SearchOutcome, StartError, StartFault, StderrSink};
use quintain::uci::session::Warning;
use quintain::uci::{Go, PositionLine};
use rustix::process::Pid;

use crate::harness::{PATIENCE, lives};

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

/// For searches that are to run into their deadline.
const SHORT: Duration = Duration::from_secs(1);

fn run<T>(test: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { tokio::time::timeout(PATIENCE, test).await.expect("it hangs") })
}

fn fake(args: &str) -> EngineConfig {
    let answers_stop = args.contains("only-after-stop") && !args.contains("--stop-ms");
    EngineConfig {
        name: "fake".into(),
        program: env!("CARGO_BIN_EXE_fake_engine").into(),
        args: args.split_whitespace().map(str::to_owned).collect(),
        timeouts: Timeouts { stop: if answers_stop { PATIENCE } else { SHORT }, quit: PATIENCE, ..Timeouts::default() },
        ..EngineConfig::default()
    }
}

async fn start(args: &str) -> Engine {
    let mut engine = Engine::start(&fake(args), &[]).await.unwrap();
    engine.new_game().await.unwrap();
    engine
}

const ONE_NODE: Go =
    Go { nodes: Some(1), clocks: None, moves_to_go: None, movetime: None, depth: None, infinite: false, ponder: false };

/// Lines sent to an engine since its last new game, up to `ucinewgame`.
fn sent_before_game(engine: &mut Engine) -> Vec<String> {
    let text = engine.evidence().transcript;
    let sent = quintain::uci::transcript::sent(&text).map(str::to_owned);
    sent.take_while(|line| line != "ucinewgame").collect()
}

#[test]
fn options_that_change_are_sent_before_the_next_game() {
    let pairs = |text: &str| -> Vec<(String, String)> {
        text.split_whitespace().filter_map(|word| word.split_once('=')).map(|(n, v)| (n.into(), v.into())).collect()
    };
    run(async {
        let config = EngineConfig { options: pairs("Alpha=9 Beta=4"), ..fake("--tunes") };
        let mut engine = Engine::start(&config.with_options(&pairs("alpha=60 Gamma=0.5")), &[]).await.unwrap();
        for (options, sent) in [
            ("Alpha=60 Beta=4 Gamma=0.5", &[][..]),
            ("Alpha=61 Beta=4 Gamma=-0.25", &["setoption name Alpha value 61", "setoption name Gamma value -0.25"]),
            ("Alpha=61 Beta=4 Gamma=-0.25", &[]),
            ("alpha=60", &["setoption name Alpha value 60"]),
        ] {
            engine.set_options(&pairs(options)).unwrap();
            engine.new_game().await.unwrap();
            assert_eq!(sent_before_game(&mut engine), sent, "{options}");
        }
        // A process started anew has them all.
        engine.set_options(&pairs("Beta=-7")).unwrap();
        engine.restart().await.unwrap();
        let options = engine.config().options.clone();
        assert_eq!(options, pairs("Beta=-7 alpha=60 Gamma=-0.25"));
        engine.new_game().await.unwrap();
        assert_eq!(sent_before_game(&mut engine), [""; 0]);
        for (options, message) in [
            ("Alpha=101", "option `Alpha` does not take `101`: it takes a whole number from 0 to 100"),
            ("Alpha=1.5", "option `Alpha` does not take `1.5`: it takes a whole number from 0 to 100"),
            ("Alhpa=1", "the engine has no option `Alhpa`: did you mean `Alpha`?"),
        ] {
            assert_eq!(engine.set_options(&pairs(options)).unwrap_err().to_string(), message);
        }
    });
}

/// Searches up to `count` times along a game the engine plays with itself; stops where a search
/// brings no move.
async fn play(engine: &mut Engine, count: usize, deadline: Duration) -> Vec<SearchOutcome> {
    play_within(engine, &vec![deadline; count]).await
}

/// The same with a deadline for each search.
async fn play_within(engine: &mut Engine, deadlines: &[Duration]) -> Vec<SearchOutcome> {
    let mut line = PositionLine::new(START).unwrap();
    let mut outcomes = Vec::new();
    for deadline in deadlines {
        outcomes.push(engine.go(line.as_bytes(), &ONE_NODE, Some(*deadline)).await);
        match outcomes.last() {
            Some(SearchOutcome::BestMove { text, .. }) if text.len() >= 4 && line.push(text).is_ok() => {}
            _ => break,
        }
    }
    outcomes
}

/// The outcome in a few words: what the table below compares.
fn brief(outcome: &SearchOutcome) -> String {
    match outcome {
        SearchOutcome::BestMove { text, warnings, .. } => {
            let shown = if text.len() == 4
                && text.is_ascii()
                && text != "a1a1"
                && text != "0000"
                && *text == text.to_lowercase()
            {
                "move"
            } else {
                text
            };
            warnings.iter().fold(shown.to_owned(), |words, warning| format!("{words}, {warning}"))
        }
        SearchOutcome::Overrun { late, .. } => match late {
            Some(_) => "overrun, answered stop".into(),
            None => "overrun, killed".into(),
        },
        SearchOutcome::Exited { status, .. } => status.clone(),
    }
}

/// Only searches that are to run into their deadline have a short one.
#[track_caller]
fn check(args: &str, expected: &[&str]) {
    let deadlines: Vec<_> =
        expected.iter().map(|brief| if brief.starts_with("overrun") { SHORT } else { PATIENCE }).collect();
    let outcomes = run(async {
        let mut engine = start(args).await;
        let outcomes = play_within(&mut engine, &deadlines).await;
        if let Some(SearchOutcome::Exited { .. } | SearchOutcome::Overrun { late: None, .. }) = outcomes.last() {
            assert!(!engine.alive(), "{args}");
            assert!(matches!(engine.new_game().await, Err(StartFault::Exited { .. })), "{args}");
            engine.restart().await.unwrap();
        }
        engine.new_game().await.unwrap();
        outcomes
    });
    assert_eq!(outcomes.iter().map(brief).collect::<Vec<_>>(), expected, "{args}");
}

#[test]
fn odd_output_is_read() {
    for args in [
        "",
        "--info 1000",
        "--fault byte-by-byte",
        "--fault crlf",
        "--fault tabs",
        "--fault leading-spaces",
        "--fault invalid-utf8",
        "--fault nul-bytes",
        "--fault huge-numbers",
        "--fault mate-scores",
        "--fault weird-options",
        "--fault ignore-sigterm",
        "--fault fork-child",
    ] {
        check(args, &["move"; 6]);
    }
    for args in ["--fault flood", "--fault stderr-flood"] {
        check(args, &["move"; 2]);
    }
    let cut = "move, 1 lines were longer than 65536 bytes and were cut";
    check("--fault long-line", &[cut; 2]);
    check("--fault bad-option-lines", &[cut, "move"]);
    check("--fault no-newline", &["move, `bestmove` came without a line end"; 2]);
    let second = "move, `bestmove a1a1` came without a search";
    check("--fault two-bestmoves", &["move", second, second]);
}

#[test]
fn answers_that_are_no_moves_are_passed_on() {
    check("--fault illegal@2", &["move", "a1a1"]);
    check("--fault none@2", &["move", "(none)"]);
    check("--fault null-move@2", &["move", "0000"]);
    check("--fault missing-move@2", &["move", ""]);
    let outcomes = run(async { play(&mut start("--fault uppercase@2").await, 2, PATIENCE).await });
    let SearchOutcome::BestMove { text, .. } = &outcomes[1] else { panic!("{outcomes:?}") };
    assert_eq!(*text, text.to_uppercase());
}

#[test]
fn a_process_that_ends_is_told_by_its_status() {
    check("--fault exit-in-search@2", &["move", "exit status 3"]);
    check("--fault abort@2", &["move", "signal 6 (SIGABRT)"]);
    check("--fault segv@2", &["move", "signal 11 (SIGSEGV)"]);
    check("--fault exit-on-position@2", &["move", "exit status 0"]);
    check("--fault exit-after-bestmove@2", &["move", "move", "exit status 0"]);
    check("--fault exit-in-search@2 --fault fork-child", &["move", "exit status 3"]);
    check(
        "--fault exit-after-bestmove@2 --fault no-newline@2",
        &["move", "move, `bestmove` came without a line end", "exit status 0"],
    );
    check("--fault close-stdout@2", &["move", "closed its standard output and went on running; killed"]);
    check("--fault close-stdin@2", &["move", "move", "closed its standard input and went on running; killed"]);
}

#[test]
fn a_deadline_holds_whatever_the_engine_does() {
    check("--fault hang@1", &["overrun, killed"]);
    check("--fault chatter@1", &["overrun, killed"]);
    check("--fault only-after-stop", &["overrun, answered stop"]);
    check("--fault no-read@1", &["move", "overrun, killed"]);
    check("--fault only-after-stop --stop-ms 10000", &["overrun, killed"]);
    let outcomes = run(async { play(&mut start("--fault chatter@1").await, 1, SHORT).await });
    let SearchOutcome::Overrun { elapsed, .. } = outcomes[0] else { panic!("{outcomes:?}") };
    assert!(elapsed >= SHORT);
}

/// A position line larger than a pipe: `count` moves there and back.
fn long_game(count: usize) -> PositionLine {
    let mut line = PositionLine::new(START).unwrap();
    for uci in ["g1f3", "g8f6", "f3g1", "f6g8"].iter().cycle().take(count) {
        line.push(uci).unwrap();
    }
    line
}

#[test]
fn a_full_pipe_is_waited_for_until_the_deadline() {
    run(async {
        let line = long_game(200_000);
        let mut engine = start("--info 3000").await;
        let outcome = engine.go(line.as_bytes(), &ONE_NODE, Some(PATIENCE)).await;
        assert_eq!(brief(&outcome), "move");
        let mut engine = start("--fault no-read@1").await;
        assert_eq!(brief(&play(&mut engine, 1, PATIENCE).await[0]), "move");
        let outcome = engine.go(line.as_bytes(), &ONE_NODE, Some(SHORT)).await;
        assert_eq!(brief(&outcome), "overrun, killed");
    });
}

#[test]
fn the_charge_covers_the_engines_own_time() {
    for args in ["--clock --spin-us 1000", "--clock --sleep-us 1000", "--clock"] {
        let outcomes = run(async { play(&mut start(args).await, 50, PATIENCE).await });
        assert_eq!(outcomes.len(), 50);
        for outcome in outcomes {
            let SearchOutcome::BestMove { elapsed, info, .. } = outcome else { panic!("{outcome:?}") };
            let own = Duration::from_micros(info.nodes.unwrap());
            assert!(elapsed >= own, "charged {elapsed:?} for {own:?}");
        }
    }
}

#[test]
fn what_the_engine_said_comes_with_the_move() {
    let outcomes = run(async { play(&mut start("--score -37 --info 3").await, 1, PATIENCE).await });
    let SearchOutcome::BestMove { info, .. } = &outcomes[0] else { panic!("{outcomes:?}") };
    assert_eq!(info.score, Some(quintain::record::Score::Cp(-37)));
    assert_eq!((info.depth, info.nodes, info.hashfull), (Some(1), Some(1), Some(1)));
}

async fn refused(config: &EngineConfig) -> String {
    match Engine::start(config, &[]).await {
        Ok(_) => panic!("{config:?} started"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_start_that_fails_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str, mode: u32| -> PathBuf {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        path
    };
    let program = |path: &Path| EngineConfig { program: path.to_owned(), ..fake("") };
    let missing = folder.path().join("nothing");
    let plain = file("plain.sh", "#!/bin/sh\n", 0o644);
    let orphan = file("orphan.sh", "#!/no/such/shell\n", 0o755);
    let script = file("exits.sh", "#!/bin/sh\necho no network file >&2\nexit 5\n", 0o755);
    let quick = Timeouts { start: SHORT, ready: SHORT, ..Timeouts::default() };
    let with = |args: &str, name: &str, value: &str| EngineConfig {
        options: vec![(name.into(), value.into())],
        timeouts: quick,
        ..fake(args)
    };
    let at = |path: &Path| path.display().to_string();
    let cases = [
        (program(&missing), format!("there is no program `{}`: give a path to an executable file", at(&missing))),
        (program(&plain), format!("`{}` is not executable: run `chmod +x` on it", at(&plain))),
        (program(&orphan), format!("`{}` names an interpreter or loader that is not on this machine", at(&orphan))),
        (program(&script), "exit status 5 before `uciok`; it said: no network file".into()),
        (
            EngineConfig { dir: Some(missing.clone()), ..fake("") },
            format!("there is no folder `{}` to run in", at(&missing)),
        ),
        (fake("--fault exit-at-start"), "exit status 7 before `uciok`; it said: cannot find my network".into()),
        (
            EngineConfig { timeouts: quick, ..fake("--fault no-uciok") },
            "no `uciok` within 1.0 s: is it a UCI engine?".into(),
        ),
        (
            EngineConfig { timeouts: Timeouts { ready: SHORT, ..Timeouts::default() }, ..fake("--fault no-readyok") },
            "no `readyok` within 1.0 s: is it a UCI engine?".into(),
        ),
    ];
    for (config, message) in cases {
        let said = run(refused(&config));
        // On a busy machine the time that the limit left out is told.
        let said = match said.split_once(" (and ").and_then(|(said, rest)| Some((said, rest.split_once("CPU)")?.1))) {
            Some((said, rest)) => format!("{said}{rest}"),
            None => said,
        };
        assert_eq!(said, format!("engine fake: {message}"));
    }
    let slow = Timeouts::default();
    let bad = EngineConfig { timeouts: slow, ..with("", "Hush", "1") };
    assert_eq!(run(refused(&bad)), "engine fake: the engine has no option `Hush`: did you mean `Hash`?");
    let bad = EngineConfig { timeouts: slow, ..with("", "Threads", "0") };
    assert_eq!(
        run(refused(&bad)),
        "engine fake: option `Threads` does not take `0`: it takes a whole number from 1 to 1024"
    );
    assert!(matches!(run(Engine::start(&fake(""), &[1 << 20])), Err(StartError::NoSuchCpu { cpu: 1_048_576, .. })));
}

#[test]
fn arguments_options_and_folders_arrive_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("stderr.log");
    let set = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let config = EngineConfig {
        args: vec!["--name".into(), "A \"quoted\" 'name' $HOME".into(), "--fault".into(), "fork-child".into()],
        dir: Some(folder.path().to_owned()),
        options: vec![set("hash", "64"), set("threads", "2"), set("clear hash", "true"), set("style", "risky")],
        stderr: StderrSink { path: Some(log.clone()), cap_bytes: 1000 },
        ..fake("")
    };
    run(async {
        let engine = Engine::start(&config, &[]).await.unwrap();
        assert_eq!(engine.identity().name, "A \"quoted\" 'name' $HOME");
        assert_eq!(
            std::fs::read_link(format!("/proc/{}/cwd", engine.pid())).unwrap(),
            folder.path().canonicalize().unwrap()
        );
        let transcript = engine.transcript();
        let sent: Vec<&str> =
            transcript.lines().filter_map(|line| line.split_once(" > ")).map(|(_, line)| line).collect();
        assert_eq!(
            sent,
            [
                "uci",
                "setoption name Threads value 2",
                "setoption name Hash value 64",
                "setoption name Clear Hash",
                "setoption name Style value Risky",
                "isready",
            ]
        );
        let report = engine.quit().await;
        assert_eq!((report.status.as_str(), report.killed), ("exit status 0", false));
    });
    assert!(std::fs::read_to_string(&log).unwrap().starts_with("child "));
}

#[test]
fn the_transcript_is_that_of_the_game() {
    run(async {
        let mut engine = start("--fault exit-in-search@2").await;
        play(&mut engine, 2, PATIENCE).await;
        let transcript = engine.transcript();
        let said: Vec<&str> = transcript.lines().map(|line| &line[13..]).collect();
        assert_eq!(said[..4], ["> ucinewgame", "> isready", "< readyok", &format!("> position fen {START}")]);
        assert!(said[4] == "> go nodes 1" && said[5].starts_with("< info depth 1 score cp 0 nodes 1"), "{transcript}");
        assert!(said[6].starts_with("< bestmove "), "{transcript}");
        assert_eq!(said.last(), Some(&"> go nodes 1"));
        assert_eq!(engine.stderr_tail(), "assertion failed: depth > 0\n");
        let mut engine = start("--fault flood").await;
        play(&mut engine, 2, PATIENCE).await;
        assert!(engine.transcript().len() < 1 << 20);
    });
}

#[test]
fn an_engine_that_ignores_quit_is_killed() {
    run(async {
        let timeouts = Timeouts { quit: SHORT, ..Timeouts::default() };
        for args in ["--fault ignore-quit", "--fault ignore-quit --fault ignore-sigterm"] {
            let engine = Engine::start(&EngineConfig { timeouts, ..fake(args) }, &[]).await.unwrap();
            let report = engine.quit().await;
            assert_eq!((report.status.as_str(), report.killed), ("signal 9 (SIGKILL)", true), "{args}");
        }
    });
}

/// A late answer to a search that was given up is not taken for the next one's.
#[test]
fn a_new_game_begins_with_a_clean_pipe() {
    run(async {
        let mut engine = start("--fault two-bestmoves").await;
        for _ in 0..3 {
            engine.new_game().await.unwrap();
            let outcomes = play(&mut engine, 1, PATIENCE).await;
            let SearchOutcome::BestMove { text, warnings, .. } = &outcomes[0] else { panic!("{outcomes:?}") };
            assert_ne!(text, "a1a1");
            let stale = |warning: &Warning| matches!(warning, Warning::UnexpectedBestMove(text) if text == "a1a1");
            assert!(warnings.iter().all(stale), "{warnings:?}");
        }
    });
}

fn allowed_cpus(pid: u32) -> String {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap().trim().to_owned()
}

#[test]
fn an_engine_runs_where_it_is_told_to() {
    let all = allowed_cpus(std::process::id());
    let first = all.split(['-', ',']).next().unwrap().to_owned();
    run(async {
        let engine = Engine::start(&fake(""), &[first.parse().unwrap()]).await.unwrap();
        assert_eq!(allowed_cpus(engine.pid()), first);
        let engine = Engine::start(&fake(""), &[]).await.unwrap();
        assert_eq!(allowed_cpus(engine.pid()), all);
    });
}

/// Waits for the end of a process: a signal takes a moment.
#[track_caller]
fn ends(pid: u32) {
    let begun = std::time::Instant::now();
    while lives(pid) {
        assert!(begun.elapsed() < PATIENCE, "process {pid} lives on");
        std::thread::yield_now();
    }
}

fn child_of(said: &str) -> u32 {
    said.trim().strip_prefix("child ").unwrap().parse().unwrap()
}

/// An engine with a child of its own, and both process numbers. The child's is read off standard
/// error, which a search drains.
async fn start_family() -> (Engine, u32, u32) {
    let mut engine = start("--fault fork-child --fault ignore-quit --fault ignore-sigterm").await;
    play(&mut engine, 1, PATIENCE).await;
    let (pid, child) = (engine.pid(), child_of(&engine.stderr_tail()));
    assert!(lives(pid) && lives(child));
    (engine, pid, child)
}

#[test]
fn dropping_an_engine_ends_its_whole_group() {
    let child = run(async {
        let (engine, pid, child) = start_family().await;
        drop(engine);
        // The runtime collects what it finds dead: nothing stays behind as a zombie.
        while exists(pid) {
            tokio::task::yield_now().await;
        }
        child
    });
    ends(child);
}

/// An engine with a child in a session of its own, and the child's process number.
#[cfg(target_os = "linux")]
async fn start_daemon(faults: &str) -> (Engine, u32) {
    let mut engine = start(faults).await;
    play(&mut engine, 1, PATIENCE).await;
    let child = child_of(&engine.stderr_tail());
    assert!(lives(child));
    (engine, child)
}

#[cfg(target_os = "linux")]
#[test]
fn children_that_left_the_group_go_with_their_engine_alone() {
    run(async {
        let (other, child_of_other) = start_daemon("--fault leave-group").await;
        // Dropped, told to quit, killed because it does not, and gone by itself.
        let (engine, child) = start_daemon("--fault leave-group").await;
        drop(engine);
        ends(child);
        let (engine, child) = start_daemon("--fault leave-group").await;
        engine.quit().await;
        ends(child);
        let (mut engine, child) = start_daemon("--fault leave-group --fault exit-in-search@2").await;
        let outcomes = play(&mut engine, 1, PATIENCE).await;
        assert!(matches!(outcomes[..], [SearchOutcome::Exited { .. }]), "{outcomes:?}");
        ends(child);
        assert!(lives(child_of_other));
        other.quit().await;
        ends(child_of_other);
    });
}

/// Orphans without a mark are found below their engine as long as that lives: told to quit, killed
/// because it does not, or dropped.
#[cfg(target_os = "linux")]
#[test]
fn orphans_that_shed_everything_go_with_their_engine_alone() {
    run(async {
        let (other, child_of_other) = start_daemon("--fault leave-family").await;
        let (engine, child) = start_daemon("--fault leave-family").await;
        engine.quit().await;
        ends(child);
        let (engine, child) = start_daemon("--fault leave-family").await;
        drop(engine);
        ends(child);
        let timeouts = Timeouts { quit: SHORT, ..Timeouts::default() };
        let config = EngineConfig { timeouts, ..fake("--fault leave-family --fault ignore-quit") };
        let mut engine = Engine::start(&config, &[]).await.unwrap();
        play(&mut engine, 1, PATIENCE).await;
        let child = child_of(&engine.stderr_tail());
        assert!(lives(child));
        assert!(engine.quit().await.killed);
        ends(child);
        assert!(lives(child_of_other));
        drop(other);
        ends(child_of_other);
    });
}

/// True for a zombie too.
fn exists(pid: u32) -> bool {
    rustix::process::test_kill_process(raw(pid)).is_ok()
}

fn raw(pid: u32) -> Pid {
    Pid::from_raw(i32::try_from(pid).unwrap()).unwrap()
}

#[test]
fn quitting_leaves_no_zombie() {
    run(async {
        let engine = start("").await;
        let pid = engine.pid();
        engine.quit().await;
        assert!(!exists(pid));
    });
}

const PARENT: &str = "QUINTAIN_TEST_PARENT";

/// Not a test of its own: the process that the next test kills. It starts an engine, says its
/// number, and stays.
#[test]
fn parent_to_be_killed() {
    if std::env::var_os(PARENT).is_none() {
        return;
    }
    run(async {
        let (engine, pid, child) = start_family().await;
        println!("engine {pid} {child}");
        tokio::time::sleep(PATIENCE / 2).await;
        drop(engine);
    });
}

#[test]
fn an_engine_dies_with_a_harness_that_is_killed() {
    use std::io::BufRead as _;
    let mut parent = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["process::parent_to_be_killed", "--exact", "--nocapture"])
        .env(PARENT, "1")
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let lines = std::io::BufReader::new(parent.stdout.take().unwrap()).lines();
    let said = lines.map_while(Result::ok).find_map(|line| Some(line.split_once("engine ")?.1.to_owned())).unwrap();
    let [pid, child] = *said.split(' ').map(|pid| pid.parse().unwrap()).collect::<Vec<u32>>() else { panic!("{said}") };
    assert!(lives(pid));
    parent.kill().unwrap();
    parent.wait().unwrap();
    ends(pid);
    // The kernel's signal is for the engine alone. Its child holds the group's number, so that the
    // group is still theirs.
    rustix::process::kill_process_group(raw(pid), rustix::process::Signal::KILL).unwrap();
    ends(child);
}
