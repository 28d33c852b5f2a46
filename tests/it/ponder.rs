//! Engines that think on their opponent's time, against the driver: who is told what, and what
//! becomes of one that misbehaves.

use std::time::Duration;

use quintain::plan::Timeouts;
use quintain::record::ByColor;
use quintain::uci::process::{Engine, EngineConfig, SearchOutcome};
use quintain::uci::{Go, SideClock};

use crate::harness::{FAKE, PATIENCE, games, sprt};

/// For searches and waits that are to run into their deadline.
const SHORT: Duration = Duration::from_millis(200);

/// Limits of a search after the first one, and of the answer to `stop`.
#[derive(Clone, Copy)]
struct Patience {
    deadline: Duration,
    stop: Duration,
}

impl Patience {
    /// Only what is to run into its limit has a short one.
    fn of(came: &str) -> Self {
        let short = |is_short| if is_short { SHORT } else { PATIENCE };
        let is_killed = came == "overrun, killed" || came.starts_with("no `bestmove` within");
        Self { deadline: short(came.starts_with("overrun")), stop: short(is_killed) }
    }
}

/// Event that follows the ponder search.
#[derive(Clone, Copy, Debug)]
enum Then {
    /// The opponent plays the expected move.
    Hit,
    /// It plays another one.
    Miss,
    /// The game is over.
    End,
}

/// A search in the starting position, one on the opponent's time, and what follows; says how that
/// came out and what the engine was told after the first search. The opponent moves when `answers`
/// answers are there, the first search's among them.
async fn ponder(args: &str, answers: usize, then: Then, patience: Patience) -> (String, Vec<String>) {
    let Patience { deadline, stop } = patience;
    let config = EngineConfig {
        name: "fake".into(),
        program: FAKE.into(),
        args: format!("--ponder 2 {args}").split_whitespace().map(str::to_owned).collect(),
        ponder: true,
        timeouts: Timeouts { stop, ..Timeouts::default() },
        ..EngineConfig::default()
    };
    let mut engine = Engine::start(&config, &[]).await.unwrap();
    engine.new_game().await.unwrap();
    let clock = SideClock { time: Duration::from_secs(5), increment: Duration::ZERO };
    let go = Go { clocks: Some(ByColor { white: clock, black: clock }), ..Go::default() };
    let first = engine.go(b"position startpos", &go, Some(PATIENCE)).await;
    let SearchOutcome::BestMove { text, ponder: Some(expected), .. } = first else { panic!("{args}: {first:?}") };
    let told = engine.transcript().lines().count();
    let at = |reply: &str| format!("position startpos moves {text} {reply}");
    engine.ponder(at(&expected).as_bytes(), &go);
    assert!(engine.is_pondering());
    while engine.transcript().matches(" < bestmove").count() < answers {
        let listening = tokio::time::timeout(Duration::from_millis(1), engine.listen());
        let _: Result<std::convert::Infallible, _> = listening.await;
    }
    let other = if expected == "a7a6" { "a7a5" } else { "a7a6" };
    let came = match then {
        Then::Hit => brief(&engine.go(at(&expected).as_bytes(), &go, Some(deadline)).await),
        Then::Miss => brief(&engine.go(at(other).as_bytes(), &go, Some(deadline)).await),
        Then::End => engine.end_ponder().await.map_or_else(|fault| fault.to_string(), |()| "ended".into()),
    };
    assert!(!engine.is_pondering());
    let transcript = engine.transcript();
    if engine.alive() {
        // Nothing is left over for the next game.
        engine.new_game().await.unwrap();
        let next = engine.go(b"position startpos", &go, Some(PATIENCE)).await;
        assert!(matches!(&next, SearchOutcome::BestMove { text: again, .. } if *again == text), "{args}: {next:?}");
    }
    engine.quit().await;
    let lines = transcript.lines().skip(told).filter_map(|line| line.split_once("> ").map(|(_, line)| line));
    (
        came,
        lines.map(|line| line.replace(&text, "BEST").replace(&expected, "EXPECTED").replace(other, "OTHER")).collect(),
    )
}

fn brief(outcome: &SearchOutcome) -> String {
    match outcome {
        SearchOutcome::BestMove { ponder, warnings, .. } => {
            assert!(ponder.is_some(), "{outcome:?}");
            warnings.iter().fold("move".to_owned(), |words, warning| {
                let warning = warning.to_string();
                let odd = if warning.ends_with("came without a search") { "unasked bestmove" } else { &warning };
                format!("{words}, {odd}")
            })
        }
        SearchOutcome::Overrun { late: Some(_), .. } => "overrun, answered stop".into(),
        SearchOutcome::Overrun { late: None, .. } => "overrun, killed".into(),
        SearchOutcome::Exited { status, .. } => status.clone(),
    }
}

#[track_caller]
fn check(args: &str, answers: usize, then: Then, came: &str, told: &[&str]) {
    let patience = Patience::of(came);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let run = async { tokio::time::timeout(PATIENCE, ponder(args, answers, then, patience)).await.expect("it hangs") };
    let (what, lines) = runtime.block_on(run);
    assert_eq!(what, came, "{args}, {then:?}: {lines:?}");
    // Of an engine that prints for ever the transcript keeps the end, and that is its own.
    if !args.contains("chatter") {
        assert_eq!(lines, told, "{args}, {then:?}");
    }
}

const GUESS: &str = "position startpos moves BEST EXPECTED";
const THINK: &str = "go ponder wtime 5000 btime 5000";
const OTHER: &str = "position startpos moves BEST OTHER";
const GO: &str = "go wtime 5000 btime 5000";

#[test]
fn a_guess_is_right_or_wrong_or_of_no_use() {
    for args in ["", "--stop-ms 20", "--info 500"] {
        check(args, 1, Then::Hit, "move", &[GUESS, THINK, "ponderhit"]);
        check(args, 1, Then::Miss, "move", &[GUESS, THINK, "stop", OTHER, GO]);
        check(args, 1, Then::End, "ended", &[GUESS, THINK, "stop"]);
    }
}

/// An answer that nobody asked for is not taken, be the guess right or wrong.
#[test]
fn an_answer_before_its_time_is_no_answer() {
    let early = "--fault early-ponder";
    check(early, 2, Then::Hit, "move, unasked bestmove", &[GUESS, THINK, GUESS, GO]);
    check(early, 2, Then::Miss, "move, unasked bestmove", &[GUESS, THINK, OTHER, GO]);
    check(early, 2, Then::End, "ended", &[GUESS, THINK]);
}

#[test]
fn an_engine_that_does_not_stop_loses_its_time() {
    let deaf = "--fault no-stop";
    check(deaf, 1, Then::Hit, "move", &[GUESS, THINK, "ponderhit"]);
    check(deaf, 1, Then::Miss, "overrun, killed", &[GUESS, THINK, "stop", "stop"]);
    check(deaf, 1, Then::End, "no `bestmove` within 0.2 s", &[GUESS, THINK, "stop"]);
    // Slower than what is left on its clock, and not too slow to play on.
    let slow = "--fault late-stop";
    check(slow, 1, Then::Miss, "overrun, answered stop", &[GUESS, THINK, "stop", "stop"]);
    // It prints for ever, which must not hold up the opponent.
    let chatter = "--fault chatter@2";
    check(chatter, 1, Then::Hit, "overrun, killed", &[]);
    check(chatter, 1, Then::End, "no `bestmove` within 0.2 s", &[]);
}

#[test]
fn an_engine_that_dies_is_found_out_when_it_is_asked() {
    let dies = "--fault exit-in-ponder@2";
    check(dies, 1, Then::Hit, "exit status 3", &[GUESS, THINK, "ponderhit"]);
    check(dies, 1, Then::Miss, "exit status 3", &[GUESS, THINK, "stop"]);
    check(dies, 1, Then::End, "exit status 3", &[GUESS, THINK, "stop"]);
}

/// A position of 100 KB does not fit into the pipe, and its end is sent with `stop`.
#[test]
fn what_the_pipe_did_not_take_at_once_is_told_once() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let transcript = runtime.block_on(async {
        let config =
            EngineConfig { name: "fake".into(), program: FAKE.into(), ponder: true, ..EngineConfig::default() };
        let mut engine = Engine::start(&config, &[]).await.unwrap();
        engine.new_game().await.unwrap();
        let position = format!("position startpos moves{}", " g1f3 g8f6 f3g1 f6g8".repeat(5_000));
        let go = Go { depth: Some(1), ..Go::default() };
        engine.ponder(position.as_bytes(), &go);
        engine.end_ponder().await.unwrap();
        let transcript = engine.transcript();
        engine.quit().await;
        transcript
    });
    for word in ["position startpos", "go ponder", "> stop"] {
        assert_eq!(transcript.matches(word).count(), 1, "{word}");
    }
}

/// Eight moves of 1 s on a clock of 7.5 s, against an opponent that takes longer: enough only for
/// who thinks meanwhile, and then far more than enough.
#[track_caller]
fn check_clock(more: &str, expected: bool) {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    let limits = "--new-tc 7.5 --base-tc 1000 --max-plies 16 --max-pairs 1 --seed 1 -j 1 --force-concurrency";
    sprt(3, "--sleep-us 1000000 --ponder 2", "--seed 2 --sleep-us 1500000", &dir, &format!("{limits} {more}"));
    for game in games(&dir) {
        assert_eq!(game.termination != "time-forfeit", expected, "{more}: {game:?}");
    }
}

#[test]
fn the_opponents_time_is_free() {
    std::thread::scope(|scope| {
        scope.spawn(|| check_clock("--ponder", true));
        check_clock("", false);
    });
}
