//! The harness's policy for engines that misbehave: one table, in which each row is a whole
//! `quintain sprt` of one pair. `new` shows the behaviour in both games and `base` none.
//!
//! A row states how the games end and whether they are lost, and what is journalled: the ending's
//! detail and the number of the engine's moves that count. It also states which limit of the plan
//! bounds the wait, and the number of processes for the two games: one, or two if the engine is
//! restarted. What a whole run cannot show (a full pipe, children that outlive their parent, what
//! is in a transcript) is tested at the process level, in `process`.

#[cfg(unix)]
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

use crate::harness::{Ran, fake, games, records, run, sprt_args, summary};

/// Effect on the run.
#[derive(Clone, Copy)]
enum Then {
    /// Both games go on to their ends by rule or by the limit on plies.
    GoesOn,
    /// `new` loses both: the termination, words of the detail, its moves that count in each.
    Loses(&'static str, &'static str, usize),
    /// No run begins; words of the message.
    Refused(&'static str),
}

struct Row {
    /// The behaviour, in the words of the policy.
    behaviour: &'static str,
    /// Arguments of the scripted peer; or `@plain`, `@missing`: a file that is not executable, none
    /// at all.
    new: &'static str,
    /// Limits and what else the run is told.
    limits: Limits,
    then: Then,
    /// Processes of `new` for two games.
    starts: usize,
}

/// The plan's limits of a row, with the longest wait that follows from them.
#[derive(Clone, Copy)]
enum Limits {
    /// One node a move, this number of plies, and no wait: the stall limit is longer than the test
    /// may take.
    Plies(u32),
    /// One node a move, three seconds before a search is stalled.
    Stall,
    /// A clock of 10 s for `new`, an endless one for `base`. Its first move has to be in time on a
    /// busy machine too.
    Clock,
    /// Three seconds to start and to get ready.
    Start,
    /// A clock that no row comes near, and thinking on the opponent's time.
    Ponder,
    /// As `Clock`, with thinking on the opponent's time.
    PonderClock,
    /// Both sides can castle both ways.
    Castling,
    /// Both sides have a pawn to promote.
    Promotion,
}

impl Limits {
    fn words(self, book: &Path) -> String {
        let calm = "--nodes 1 --stall-timeout 600";
        match self {
            Self::Plies(plies) => format!("{calm} --max-plies {plies}"),
            Self::Stall => "--nodes 1 --stall-timeout 3 --max-plies 16".to_owned(),
            Self::Clock => "--new-tc 10 --base-tc 1000 --margin-ms 20 --max-plies 16".to_owned(),
            Self::Ponder => "--tc 1000 --max-plies 16 --ponder --force-concurrency".to_owned(),
            Self::PonderClock => format!("{} --ponder --force-concurrency", Self::Clock.words(book)),
            Self::Start => format!("{calm} --start-timeout 3 --max-plies 16"),
            Self::Castling | Self::Promotion => format!("{calm} --max-plies 2 --book {}", book.display()),
        }
    }

    /// The least and the most that a lost game may take, in seconds. The most leaves room for a
    /// busy machine.
    const fn took(self) -> (f64, f64) {
        match self {
            Self::Plies(_) | Self::Ponder | Self::Castling | Self::Promotion | Self::Start => (0.0, 400.0),
            Self::Stall => (3.0, 400.0),
            Self::Clock | Self::PonderClock => (10.0, 400.0),
        }
    }

    const fn opening(self) -> &'static str {
        match self {
            Self::Promotion => "8/P6k/8/8/8/8/p6K/8 w - -\n",
            _ => "r3k2r/8/8/8/8/8/8/R3K2R w KQkq -\n",
        }
    }
}

const fn row(behaviour: &'static str, new: &'static str, limits: Limits, then: Then, starts: usize) -> Row {
    Row { behaviour, new, limits, then, starts }
}

const QUICK: Limits = Limits::Plies(16);
const BRIEF: Limits = Limits::Plies(4);
#[cfg(unix)]
const CLOSED_IN: &str = "closed its standard input and went on running; killed";
#[cfg(unix)]
const CLOSED_OUT: &str = "closed its standard output and went on running; killed";

use Then::{GoesOn, Loses, Refused};

/// The policy. A fault strikes at the engine's fourth search of a game unless the row says
/// otherwise.
const POLICY: &[Row] = &[
    // It is gone: the game is lost if it is asked for another move, the report names exit status or
    // signal, and a new process plays the next game. Gone between games, it loses none.
    row("exits while thinking", "--fault exit-in-search", QUICK, Loses("crash", "exit status 3", 3), 2),
    row("exits after bestmove", "--fault exit-after-bestmove", QUICK, Loses("crash", "exit status 0", 4), 2),
    row("exits after its last bestmove", "--fault exit-after-bestmove", Limits::Plies(8), GoesOn, 2),
    row("exits at ucinewgame", "--fault die-on-new-game", QUICK, GoesOn, 2),
    row("exits while position is sent", "--fault exit-on-position@2", QUICK, Loses("crash", "exit status 0", 1), 2),
    // It stays silent: `stop` after the deadline; who answers that plays on in the next game, who
    // does not is killed.
    row("hangs under a clock", "--fault hang@2", Limits::Clock, Loses("time-forfeit", "overrun", 1), 2),
    row("hangs under nodes", "--fault hang", Limits::Stall, Loses("stall", "s: it said nothing of its search", 3), 2),
    row("prints info for ever, clock", "--fault chatter@2", Limits::Clock, Loses("time-forfeit", "overrun", 1), 2),
    row("prints info for ever, nodes", "--fault chatter", Limits::Stall, Loses("stall", "no bestmove within", 3), 2),
    row("answers stop only, clock", "--fault only-after-stop@2", Limits::Clock, Loses("time-forfeit", "overrun", 1), 1),
    row("answers stop only, nodes", "--fault only-after-stop@2", Limits::Stall, Loses("stall", "no bestmove", 1), 1),
    // One that never comes to an end under the plan's limit is found by its trial search: no run
    // begins.
    row(
        "never obeys a clock",
        "--fault only-after-stop",
        Limits::Clock,
        Refused("it does not obey `go wtime 1000 "),
        0,
    ),
    row("never obeys nodes", "--fault only-after-stop", Limits::Stall, Refused("`go nodes 1`: no answer within"), 0),
    row("does not read stdin", "--fault no-read@2", Limits::Stall, Loses("stall", "no bestmove within", 2), 2),
    // It does not get ready: no run begins; alive and silent between games, it is started anew and
    // loses none.
    row("never says uciok", "--fault no-uciok", Limits::Start, Refused("no `uciok` within 3.0 s"), 0),
    row("never says readyok", "--fault no-readyok", Limits::Start, Refused("no `readyok` within 3.0 s"), 0),
    row("never says readyok again", "--fault no-readyok@3", Limits::Start, GoesOn, 2),
    row("exits at once", "--fault exit-at-start", Limits::Start, Refused("exit status 7 before `uciok`"), 0),
    row("starts slower than it may", "--start-ms 60000", Limits::Start, Refused("no `uciok` within 3.0 s"), 0),
    row("starts slowly", "--start-ms 200", QUICK, GoesOn, 1),
    // It answers no legal move: the game is lost, the process plays on.
    row("illegal move", "--fault illegal", QUICK, Loses("illegal-move", "`a1a1` is not legal here", 3), 1),
    row("(none)", "--fault none", QUICK, Loses("illegal-move", "`(none)` is not a move", 3), 1),
    row("0000", "--fault null-move", QUICK, Loses("illegal-move", "`0000` is not legal here", 3), 1),
    row("bestmove alone", "--fault missing-move", QUICK, Loses("illegal-move", "`` is not a move", 3), 1),
    row("upper case", "--fault uppercase", QUICK, Loses("illegal-move", "is not a move", 3), 1),
    row(
        "promotion without a piece",
        "--fault promo-without-piece",
        Limits::Promotion,
        Loses("illegal-move", "is not legal here", 0),
        1,
    ),
    // It is odd, and what it means is clear: the game goes on.
    row("castles in the other notation", "--fault castling-other-notation", Limits::Castling, GoesOn, 1),
    row("bestmove without a newline", "--fault no-newline", BRIEF, GoesOn, 1),
    row("byte by byte", "--fault byte-by-byte", QUICK, GoesOn, 1),
    row("two in one write", "--fault two-bestmoves", QUICK, GoesOn, 1),
    row("CR LF", "--fault crlf", QUICK, GoesOn, 1),
    row("tabs", "--fault tabs", QUICK, GoesOn, 1),
    row("leading spaces", "--fault leading-spaces", QUICK, GoesOn, 1),
    row("invalid UTF-8", "--fault invalid-utf8", QUICK, GoesOn, 1),
    row("NUL bytes", "--fault nul-bytes", QUICK, GoesOn, 1),
    // Not in the trial search, which has a minute at the most.
    row("a line of 8 MB", "--fault long-line@2", BRIEF, GoesOn, 1),
    row("20 MB of info string a move", "--fault flood@2", BRIEF, GoesOn, 1),
    row("floods stderr", "--fault stderr-flood@2", BRIEF, GoesOn, 1),
    row("2^63 nodes, cp 999999999", "--fault huge-numbers", QUICK, GoesOn, 1),
    row("mate scores of either sign", "--fault mate-scores", QUICK, GoesOn, 1),
    row("option names with spaces", "--fault weird-options", QUICK, GoesOn, 1),
    row("malformed option lines", "--fault bad-option-lines", QUICK, GoesOn, 1),
    row("arguments with spaces and quotes", "--name \"It's \\\"Fake\\\"  2\"", QUICK, GoesOn, 1),
    // It ponders, unless the move that it names is illegal. An answer that was not asked for is
    // ignored. An engine that does not come back from a wrong guess loses on time. One that is gone
    // loses when it is asked, and one that does not stop is started anew after the game.
    row("ponders on right guesses", "--ponder 2", Limits::Ponder, GoesOn, 1),
    row("ponders on wrong guesses", "--ponder 7", Limits::Ponder, GoesOn, 1),
    row("names an illegal move to ponder", "--ponder 2 --fault illegal-ponder", Limits::Ponder, GoesOn, 1),
    row("answers go ponder at once", "--ponder 2 --fault early-ponder", Limits::Ponder, GoesOn, 1),
    row(
        "exits while pondering",
        "--ponder 2 --fault exit-in-ponder",
        Limits::Ponder,
        Loses("crash", "exit status 3", 3),
        2,
    ),
    row(
        "does not stop pondering",
        "--ponder 7 --fault no-stop",
        Limits::PonderClock,
        Loses("time-forfeit", "overrun", 1),
        2,
    ),
    row("ponders on after the game", "--ponder 2 --fault no-stop", Limits::Ponder, GoesOn, 2),
    // It does not go: it is killed after the plan's grace, with its process group.
    row("ignores quit", "--fault ignore-quit", QUICK, GoesOn, 1),
    row(
        "forks a child that outlives it",
        "--fault fork-child --fault exit-in-search",
        QUICK,
        Loses("crash", "3", 3),
        2,
    ),
];

/// Rows that only Unix has: signals, standard streams that are closed one by one, and the right to
/// execute a file.
#[cfg(unix)]
const OF_THIS_SYSTEM: &[Row] = &[
    row("aborts while thinking", "--fault abort", QUICK, Loses("crash", "signal 6 (SIGABRT)", 3), 2),
    row("is killed while thinking", "--fault segv", QUICK, Loses("crash", "signal 11 (SIGSEGV)", 3), 2),
    row("closes stdin", "--fault close-stdin", QUICK, Loses("crash", CLOSED_IN, 4), 2),
    row("closes stdout", "--fault close-stdout", QUICK, Loses("crash", CLOSED_OUT, 3), 2),
    row("is not executable", "@plain", QUICK, Refused("not executable"), 0),
    row("is not there", "@missing", QUICK, Refused("No such file"), 0),
    row("ignores SIGTERM", "--fault ignore-sigterm --fault ignore-quit", QUICK, GoesOn, 1),
];

/// Rows of Windows: a fault has a status of the system, and a program is known by its name.
#[cfg(windows)]
const OF_THIS_SYSTEM: &[Row] = &[
    row("aborts while thinking", "--fault abort", QUICK, Loses("crash", "exception 0xC0000409 (abort)", 3), 2),
    row("is not executable", "@plain", QUICK, Refused("not executable"), 0),
    row("is not there", "@missing", QUICK, Refused("os error 2"), 0),
];

#[test]
fn the_policy_holds() {
    // Most of a row is waiting, for a limit or for a process to go.
    const AT_ONCE: usize = 6;
    let rows: Vec<_> = POLICY.iter().chain(OF_THIS_SYSTEM).collect();
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(row) = rows.get(next.fetch_add(1, Ordering::Relaxed)) {
                    check(row);
                }
            });
        }
    });
}

#[track_caller]
fn check(row: &Row) {
    let what = row.behaviour;
    let folder = tempfile::tempdir().unwrap();
    let [dir, book, plain] = ["run", "book.epd", "plain"].map(|name| folder.path().join(name));
    std::fs::write(&book, row.limits.opening()).unwrap();
    std::fs::write(&plain, "#!/bin/sh\n").unwrap();
    #[cfg(unix)]
    std::fs::set_permissions(&plain, std::fs::Permissions::from_mode(0o644)).unwrap();
    let more = format!("{} --max-pairs 1 --seed 1 -j 1", row.limits.words(&book));
    let mut args = sprt_args(&format!("--announce {}", row.new), "--seed 2", &dir, &more);
    match row.new {
        "@plain" => args[2] = plain.display().to_string(),
        "@missing" => args[2] = folder.path().join("missing").display().to_string(),
        _ => assert_eq!(args[2], fake(&format!("--announce {}", row.new))),
    }
    let ran = run(&args);
    if let Refused(words) = row.then {
        assert_eq!(ran.code, Some(2), "{what}: {ran:?}");
        assert!(ran.stderr.contains(words) && ran.stderr.lines().count() == 1, "{what}: {ran:?}");
        assert!(!dir.exists(), "{what}");
        return;
    }
    assert_eq!(ran.code, Some(3), "{what}: {ran:?}");
    let log = std::fs::read(dir.join("stderr/fake_engine-new-slot1.log")).unwrap();
    let starts = String::from_utf8_lossy(&log).lines().filter(|line| *line == "started").count();
    if summary(&dir)["voided_pairs"] == 0 {
        assert_eq!(starts, row.starts, "{what}: processes for two games");
    }
    let (lost, termination, words, moves) = match row.then {
        Loses(termination, words, moves) => (&[true, true], termination, words, Some(moves)),
        _ => (&[false, false], "", "", None),
    };
    let lines = records(&dir);
    for ((game, line), lost) in games(&dir).iter().zip(&lines).zip(lost) {
        let crash = dir.join(format!("crashes/game-{}", game.number));
        assert_eq!(crash.exists(), *lost, "{what}");
        if !lost {
            let castled = ["e1g1", "e1c1", "e8g8", "e8c8"].contains(&game.moves[usize::from(game.white != 0)].as_str());
            assert!(castled || !matches!(row.limits, Limits::Castling), "{what}: {game:?}");
            let ends = ["max-plies-adjudication", "checkmate", "stalemate", "insufficient-material"];
            assert!(ends.contains(&game.termination.as_str()), "{what}: {game:?}");
            continue;
        }
        assert_eq!((game.termination.as_str(), game.score()), (termination, 0), "{what}: {line}");
        assert!(line["detail"].as_str().unwrap().contains(words), "{what}: {line}");
        let own = game.moves.iter().skip(usize::from(game.white != 0)).step_by(2).count();
        assert!(moves.is_none_or(|moves| own == moves), "{what}: {own} moves: {line}");
        let took = line["took_us"].as_u64().unwrap() as f64 / 1e6;
        let (least, most) = row.limits.took();
        assert!((least..most).contains(&took), "{what}: {took} s");
        check_evidence(what, &crash, termination, words);
    }
    assert_eq!(lines.len(), 2, "{what}");
    check_summary(what, &summary(&dir), lost.iter().filter(|lost| **lost).count(), termination);
}

/// The engine that talks past its clock has spent CPU time, which the system counts. It counts no
/// waits, so none is made up.
#[cfg(windows)]
#[test]
fn a_loss_on_time_states_the_cpu_time_of_the_engine() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    let more = format!("{} --max-pairs 1 --seed 1 -j 1", Limits::Clock.words(&dir));
    run(&sprt_args("--fault chatter@2", "--seed 2", &dir, &more));
    for record in records(&dir) {
        let overstep = &record["overstep"];
        assert!(overstep["engine_ran_us"].as_u64() > Some(100_000), "{record}");
        assert!(overstep.get("engine_waited_us").is_none() && overstep.get("since_flag").is_none(), "{record}");
    }
}

/// A process that is gone between games costs none, and one that cannot be started in its place
/// stops the run. `fails` is a condition of the shell on the number of the start, `$n`; the first
/// start is before the run.
#[cfg(unix)]
#[track_caller]
fn check_starts(fails: &str, games_at_once: u16, code: i32) -> (Ran, PathBuf, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let [engine, starts, dir] = ["engine", "starts", "run"].map(|name| folder.path().join(name));
    let count = starts.display();
    let script = format!(
        "#!/bin/sh\necho >> {count}\nn=$(wc -l < {count})\nif [ {fails} ]; then exit 7; fi\n\
         exec '{}' --fault exit-after-bestmove\n",
        crate::harness::FAKE
    );
    std::fs::write(&engine, script).unwrap();
    std::fs::set_permissions(&engine, std::fs::Permissions::from_mode(0o755)).unwrap();
    let more = format!("--nodes 1 --max-plies 8 --max-pairs 4 --seed 1 -j {games_at_once}");
    let mut args = sprt_args("", "--seed 2", &dir, &more);
    args[2] = engine.display().to_string();
    let ran = run(&args);
    assert_eq!(ran.code, Some(code), "{fails}: {ran:?}");
    for game in games(&dir) {
        assert_eq!((game.termination.as_str(), game.moves.len()), ("max-plies-adjudication", 8), "{fails}: {game:?}");
    }
    (ran, dir, folder)
}

#[cfg(unix)]
#[test]
fn an_engine_that_does_not_start_is_started_again() {
    let (ran, dir, _folder) = check_starts("$n -ge 3 -a $n -le 4", 1, 3);
    assert_eq!(games(&dir).len(), 8);
    let again = "exit status 7 before `uciok`; trying again";
    assert_eq!(ran.stderr.matches(again).count(), 2, "{ran:?}");
    assert!(ran.stderr.contains("engine: ended after a game (exit status 0); restarted"), "{ran:?}");
}

#[cfg(unix)]
#[test]
fn an_engine_that_never_starts_again_stops_the_run_and_loses_no_game() {
    for games_at_once in [1, 4] {
        let (ran, dir, _folder) = check_starts("$n -ge 4", games_at_once, 4);
        assert_eq!(summary(&dir)["stopped_by"], "broken", "{ran:?}");
        let finished = games(&dir).len() as u64;
        assert!(finished < 8, "{ran:?}");
        let stored =
            [&summary(&dir)["games"], &summary(&dir)["not_counted_games"]].map(|count| count.as_u64().unwrap());
        assert_eq!(stored.iter().sum::<u64>(), finished, "{ran:?}");
        let fewer = ran.stderr.contains("; continuing with ");
        assert_eq!(fewer, games_at_once > 1, "{ran:?}");
        let aborted = "aborted: engine engine: exit status 7 before `uciok`";
        assert!(ran.stdout.contains(aborted), "{ran:?}");
        assert!(ran.stdout.contains("continue with: quintain resume "), "{ran:?}");
        assert_eq!(run(&["watch", &dir.display().to_string()]).stdout, ran.stdout);
        // Later commands name the same reason; summaries of earlier versions have none.
        let dir_text = dir.display().to_string();
        for command in ["watch", "report"] {
            let later = run(&[command, &dir_text]);
            assert!(later.stdout.contains(aborted), "{command}: {later:?}");
        }
        let path = dir.join("summary.json");
        let mut earlier = summary(&dir);
        assert!(earlier.as_object_mut().unwrap().remove("error").is_some());
        std::fs::write(&path, earlier.to_string()).unwrap();
        let later = run(&["watch", &dir_text]);
        assert!(later.code == Some(4) && later.stdout.contains("aborted: the run could not continue"), "{later:?}");
    }
}

/// More games at once than CPUs: as many engines start at once as there are CPUs, and the time for
/// which they wait for one is not theirs.
#[cfg(target_os = "linux")]
#[test]
fn slow_starts_take_turns_and_lose_no_game() {
    let folder = tempfile::tempdir().unwrap();
    let [engine, starts, dir] = ["engine", "starts", "run"].map(|name| folder.path().join(name));
    let log = starts.display();
    let script = format!(
        "#!/bin/sh\necho + >> {log}\nsleep 0.1\necho - >> {log}\nexec '{}' --start-cpu-ms 300 \"$@\"\n",
        crate::harness::FAKE
    );
    std::fs::write(&engine, script).unwrap();
    std::fs::set_permissions(&engine, std::fs::Permissions::from_mode(0o755)).unwrap();
    let cpus = std::thread::available_parallelism().unwrap().get();
    let games_at_once = (2 * cpus + 2).min(16);
    let more = format!(
        "--nodes 1 --max-plies 8 --max-pairs {games_at_once} --seed 1 -j {games_at_once} --start-timeout 2 --stall-timeout 600"
    );
    let mut args = sprt_args("", "", &dir, &more);
    for place in [2, 4] {
        args[place] = format!("{} -- --seed {place}", engine.display());
    }
    let ran = run(&args);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(!ran.stderr.contains("trying again"), "{ran:?}");
    assert_eq!(games(&dir).len(), 2 * games_at_once);
    let mut starting = 0;
    for line in std::fs::read_to_string(&starts).unwrap().lines() {
        starting += if line == "+" { 1 } else { -1 };
        assert!(usize::try_from(starting).unwrap() <= cpus, "{starting} engines start at once on {cpus} CPUs");
    }
}

/// Checks the files in a failed game's folder.
#[track_caller]
fn check_evidence(what: &str, crash: &Path, termination: &str, words: &str) {
    let read = |name: &str| std::fs::read_to_string(crash.join(name)).unwrap();
    let transcript = read("transcript.txt");
    assert!(transcript.contains(" > ucinewgame\n") || transcript.contains("were dropped"), "{what}: {transcript}");
    for line in transcript.lines().filter(|line| !line.starts_with('(')) {
        let (stamp, rest) = line.trim_start().split_once(' ').unwrap();
        assert!(stamp.parse::<u64>().is_ok() && rest.starts_with(['<', '>']), "{what}: {line}");
    }
    let about = read("about.txt");
    let value = |key: &str| {
        let head = format!("{key}: ");
        let line = about.lines().find_map(|line| line.strip_prefix(&head));
        line.unwrap_or_else(|| panic!("{what}: no {key}: {about}")).to_owned()
    };
    assert_eq!(value("termination"), termination, "{what}");
    assert!(value("detail").contains(words), "{what}: {about}");
    let gone = value("status");
    match termination {
        "crash" => assert!(words.starts_with("closed") || gone.contains(words), "{what}: {gone}"),
        "illegal-move" => assert_eq!(gone, "still running", "{what}"),
        _ => assert!(["still running", "killed by the harness"].contains(&gone.as_str()), "{what}: {gone}"),
    }
    assert_eq!(value("load average").split(' ').count(), 4, "{what}: {about}");
    assert!(value("cpus").parse::<usize>().unwrap() > 0, "{what}");
    for key in ["limit", "margin ms", "stall timeout s", "other timeouts s", "fen", "moves", "engine", "program"] {
        value(key);
    }
    let said = read("stderr.txt");
    assert!(what != "exits while thinking" || said.contains("assertion failed: depth > 0"), "{what}: {said}");
}

/// The failures are counted, for the side at fault alone.
#[track_caller]
fn check_summary(what: &str, summary: &Value, lost: usize, termination: &str) {
    let kinds =
        [("time_losses", "time-forfeit"), ("illegal_moves", "illegal-move"), ("crashes", "crash"), ("stalls", "stall")];
    for (key, kind) in kinds {
        assert_eq!(summary["players"][0][key], if kind == termination { lost } else { 0 }, "{what}: {key}");
        assert_eq!(summary["players"][1][key], 0, "{what}: {key}");
    }
}

/// A pair in which `new` prints the same PV before each move; `kind` is what the summary counts, on
/// each of its moves.
#[track_caller]
fn check_pv(new: &str, kind: Option<&str>) {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    let args = sprt_args(new, "--seed 2 --pv BEST", &dir, "--nodes 1 --max-plies 16 --max-pairs 1 --seed 1 -j 1");
    let ran = run(&args);
    assert_eq!(ran.code, Some(3), "{new}: {ran:?}");
    let summary = summary(&dir);
    assert_eq!(summary["players"][1]["pv_faults"], serde_json::json!({}), "{new}");
    assert!(!dir.join("crashes").exists(), "{new}");
    let told: Vec<_> = ran.stderr.lines().filter(|line| line.contains(": the PV ")).collect();
    let Some(kind) = kind else {
        assert_eq!(summary["players"][0]["pv_faults"], serde_json::json!({}), "{new}");
        assert!(told.is_empty(), "{new}: {told:?}");
        return;
    };
    assert_eq!(summary["players"][0]["pv_faults"], serde_json::json!({ kind: 16 }), "{new}");
    assert!(ran.stdout.contains("wrong PVs: 16 times"), "{new}: {}", ran.stdout);
    assert_eq!(told.len(), 5, "{new}: {told:?}");
    assert!(
        told[0].contains("game 1, ply 1: fake_engine-new: the PV ") && told[4].ends_with("only counted"),
        "{told:?}"
    );
}

#[test]
fn a_wrong_variation_is_reported_and_costs_nothing() {
    check_pv("--pv BEST", None);
    check_pv("--pv BEST --score 5", None);
    check_pv("--pv BEST,a1a1", Some("illegal-move"));
    check_pv("--pv nonsense", Some("illegal-move"));
    check_pv("--pv BEST --mate 1", Some("mate-length"));
    check_pv("--pv BEST --mate 4", None);
}
