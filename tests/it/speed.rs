//! `quintain speed` from outside: benches and searches of the scripted peer that take a known CPU
//! time.

use serde_json::Value;

use crate::harness::{Ran, fake, run};

fn speed(new: &str, base: &str, more: &str) -> Ran {
    let mut words = vec!["speed".to_owned(), fake(new), fake(base)];
    words.extend(more.split_whitespace().map(str::to_owned));
    run(&words)
}

fn document(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

/// CPU times that differ by far more than any machine's noise.
const QUICK: &str = "--start-cpu-ms 40";
const SLOW: &str = "--start-cpu-ms 400";

#[test]
fn the_slower_bench_is_told_in_either_place() {
    for (new, base, code, answer) in [(QUICK, SLOW, 0, "faster"), (SLOW, QUICK, 1, "slower")] {
        let ran = speed(new, base, "--rounds 6 --json");
        assert_eq!(ran.code, Some(code), "{ran:?}");
        let found = document(&ran);
        assert_eq!(found["answer"], answer);
        assert_eq!((&found["rounds"], &found["new"]["nodes"]), (&Value::from(6), &Value::from(4711)));
        let [new, base] = ["new", "base"].map(|side| found[side]["seconds"].as_f64().unwrap());
        assert_eq!(new < base, answer == "faster", "{found}");
        let [lo, percent, hi] = ["lo", "percent", "hi"].map(|end| found["speed"][end].as_f64().unwrap());
        assert!(lo <= percent && percent <= hi && (lo > 0.0 || hi < 0.0), "{found}");
    }
}

#[test]
fn a_narrow_interval_ends_the_rounds() {
    // Any interval is as narrow as this.
    let ran = speed(SLOW, "--start-cpu-ms 401", "--rounds 100 --width 1e9 --json");
    assert_eq!(document(&ran)["rounds"], 12);
}

#[test]
fn the_table_names_both_and_says_what_is_shown() {
    let ran = speed(&format!("--name Alpha {QUICK}"), &format!("--name Beta {SLOW}"), "--rounds 6");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    for part in ["nodes/s", "4711", "is faster", "6 rounds, CPU "] {
        assert!(ran.stdout.contains(part), "{part}: {}", ran.stdout);
    }
}

#[test]
fn an_engine_without_a_bench_searches_to_a_depth() {
    let ran = speed(QUICK, SLOW, "--depth 1 --rounds 6 --json");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let found = document(&ran);
    assert_eq!(found["new"]["nodes"], found["base"]["nodes"]);
    assert!(found["speed"]["lo"].as_f64().unwrap() > 0.0, "{found}");
}

#[test]
fn a_missing_base_is_asked_for() {
    let ran = run(&["speed".to_owned(), fake("--seed 1")]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("BASE is missing") && !ran.stderr.contains("--base"), "{}", ran.stderr);
    let ran = run(&["speed".to_owned(), fake("--seed 1"), fake("--seed 2"), "--bench".to_owned(), " ".to_owned()]);
    assert!(ran.code == Some(2) && ran.stderr.contains("write the arguments of a bench"), "{ran:?}");
}

#[test]
fn work_that_differs_is_no_comparison() {
    for (new, base, more, says) in [
        ("--fault bench-differs", "--seed 2", "", "do not do the same work"),
        ("--fault bench-drifts", "--seed 2", "", "its work is not the same each time; measure it with one thread"),
        ("--seed 1", "--seed 2", "--bench nothing", "--depth N measures an engine that has no bench"),
        ("--seed 1", "--seed 2", "--affinity 1023", "CPU 1023"),
        ("--seed 1", "--seed 2", "--rounds 5", "write a number from 6 to 100000"),
        ("--seed 1", "--seed 2", "--width 0", "write a number of percent above 0"),
        ("--seed 1", "--seed 2", "--option Hash=1", "--depth"),
        ("--seed 1", "--seed 2", "--depth -3", "invalid value '-3' for '--depth <N>'"),
        ("--fault exit-in-search@1", "--seed 2", "--depth 1", "after `go depth 1`"),
    ] {
        let ran = speed(new, base, more);
        assert_eq!(ran.code, Some(2), "{new} {more}: {ran:?}");
        assert!(ran.stderr.contains(says), "{new} {more}: {}", ran.stderr);
    }
}
