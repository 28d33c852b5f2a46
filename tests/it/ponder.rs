//! Engines that think on their opponent's time, against the driver: who is told what, and what becomes of one that misbehaves.

use std::time::Duration;

use quintain::plan::Timeouts;
use quintain::record::ByColor;
use quintain::uci::process::{Engine, EngineConfig, SearchOutcome};
use quintain::uci::{Go, SideClock};

use crate::harness::FAKE;

const PATIENCE: Duration = Duration::from_secs(60);

/// For searches that are to run into their deadline.
const SHORT: Duration = Duration::from_millis(200);

/// What follows the ponder search.
#[derive(Clone, Copy, Debug)]
enum Then {
    /// The opponent plays the expected move.
    Hit,
    /// It plays another one.
    Miss,
    /// The game is over.
    End,
}

/// A search in the starting position, one on the opponent's time, and what follows; says how that came out and what the engine was told
/// after the first search. `words` are waited for in the transcript before the opponent moves.
async fn ponder(args: &str, words: &str, then: Then, deadline: Duration) -> (String, Vec<String>) {
    let config = EngineConfig {
        name: "fake".into(),
        program: FAKE.into(),
        args: format!("--ponder 2 {args}").split_whitespace().map(str::to_owned).collect(),
        ponder: true,
        timeouts: Timeouts { stop: SHORT, ..Timeouts::default() },
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
    while !engine.transcript().contains(words) {
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
    (came, lines.map(|line| line.replace(&text, "BEST").replace(&expected, "EXPECTED").replace(other, "OTHER")).collect())
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
fn check(args: &str, words: &str, then: Then, deadline: Duration, came: &str, told: &[&str]) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let run = async { tokio::time::timeout(PATIENCE, ponder(args, words, then, deadline)).await.expect("it hangs") };
    let (what, lines) = runtime.block_on(run);
    assert_eq!(what, came, "{args}, {then:?}: {lines:?}");
    assert_eq!(lines, told, "{args}, {then:?}");
}

const GUESS: &str = "position startpos moves BEST EXPECTED";
const THINK: &str = "go ponder wtime 5000 btime 5000";
const OTHER: &str = "position startpos moves BEST OTHER";
const GO: &str = "go wtime 5000 btime 5000";

#[test]
fn a_guess_is_right_or_wrong_or_of_no_use() {
    for args in ["", "--stop-ms 20", "--info 500", "--fault crlf", "--fault byte-by-byte"] {
        // `tabs` and the like name no move to expect.
        if !args.starts_with("--fault crlf") {
            check(args, "", Then::Hit, PATIENCE, "move", &[GUESS, THINK, "ponderhit"]);
            check(args, "", Then::Miss, PATIENCE, "move", &[GUESS, THINK, "stop", OTHER, GO]);
            check(args, "", Then::End, PATIENCE, "ended", &[GUESS, THINK, "stop"]);
        }
    }
}

/// An answer that nobody asked for is not taken, right guess or wrong.
#[test]
fn an_answer_before_its_time_is_no_answer() {
    let (args, words) = ("--fault early-ponder", "go ponder");
    let asked = |then, position| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (came, lines) = runtime.block_on(async {
            let until = |count: usize| async move { (count, ponder_until(args, then, count).await) };
            until(2).await.1
        });
        assert_eq!((came.as_str(), lines.last().map(String::as_str)), ("move, unasked bestmove", Some(GO)), "{position}");
    };
    let _ = words;
    asked(Then::Hit, GUESS);
    asked(Then::Miss, OTHER);
}
