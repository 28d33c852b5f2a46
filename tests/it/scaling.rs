//! `quintain scaling` from outside, with a scripted peer whose tree grows by a known factor.

use serde_json::Value;

use crate::harness::{Ran, fake, run};

fn scaling(engines: &[&str], more: &str) -> Ran {
    let mut words = vec!["scaling".to_owned()];
    words.extend(engines.iter().map(|engine| fake(engine)));
    words.extend(more.split_whitespace().map(str::to_owned));
    run(&words)
}

fn document(ran: &Ran) -> Value {
    assert_eq!(ran.code, Some(0), "{ran:?}");
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn growth_is_that_of_the_engine_whatever_the_limit() {
    // A position that other limits end before the depth counts as well.
    for limit in ["--depth 14", "--nodes 200000", "--depth 60 --nodes 200000"] {
        let ran = scaling(&["--grows 1.6", "--grows 2.0"], &format!("{limit} --positions 30 --json"));
        let found = document(&ran);
        for (place, factor) in [(0, 1.6), (1, 2.0)] {
            let engine = &found["engines"][place];
            let ratio = number(&engine["nodes"]["growth"]["ratio"]);
            assert!((ratio - factor).abs() < 0.002, "{limit}: {ratio}, not {factor}: {engine}");
            // Mates end the growth; the other positions all count.
            let (searched, mates) = (number(&engine["searched"]), number(&engine["mates"]));
            assert!(mates >= 1.0 && (searched + mates - 30.0).abs() < 0.1, "{engine}");
            let depths = engine["nodes"]["depths"].as_array().unwrap();
            let medians: Vec<f64> = depths.iter().filter_map(|row| row["median"].as_f64()).collect();
            assert!(medians.windows(2).all(|two| (two[1] / two[0] - factor).abs() < 0.02), "{limit}: {medians:?}");
        }
    }
}

#[test]
fn threads_are_compared_by_speed_and_by_time_to_the_same_depth() {
    let found = document(&scaling(&["--grows 1.8"], "--depth 14 --positions 12 --threads 1,2,4 --json"));
    for (place, factor) in [(1, 2.0), (2, 4.0)] {
        let engine = &found["engines"][place];
        assert_eq!(engine["threads"], factor as u64);
        for key in ["speed_up", "time_to_depth"] {
            let [found, lo, hi] = ["factor", "lo", "hi"].map(|part| number(&engine[key][part]));
            assert!((found - factor).abs() < 0.05 && lo <= found && found <= hi, "{key}: {engine}");
        }
    }
    assert!(found["engines"][0]["speed_up"].is_null());
}

#[test]
fn the_table_is_printed_and_the_picture_written() {
    let folder = tempfile::tempdir().unwrap();
    for ending in ["svg", "html"] {
        let file = folder.path().join(format!("scaling.{ending}"));
        let more = format!("--depth 12 --positions 20 --threads 1,2 -j 2 --out {}", file.display());
        let ran = scaling(&["--grows 1.9"], &more);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        for part in [
            "fake_engine, 1 thread\n",
            "nodes  x1.900 [",
            "a ply, depth",
            "left out: ",
            "speed-up of nodes/s",
            "x2.00 [",
        ] {
            assert!(ran.stdout.contains(part), "{part}: {}", ran.stdout);
        }
        let picture = std::fs::read_to_string(&file).unwrap();
        for part in
            ["Nodes by depth", "Time by depth", "Speed-up by threads", "class=\"band s1\"", "fake_engine, 2 threads"]
        {
            assert!(picture.contains(part), "{part}: {picture}");
        }
    }
}

#[test]
fn engines_that_tell_little_get_a_clear_line() {
    for (engine, more, code, says) in [
        ("--grows 1.9 --fault no-nodes", "", 0, "no complete depth has `nodes` in its `info`"),
        ("--grows 1.9 --fault no-time", "", 0, "no complete depth has `time` in its `info`"),
        ("--mate 3", "", 2, "20 found a mate"),
        ("--score 20", "", 2, "20 ended before the depth"),
        ("--grows 1.9 --fault exit-in-search@1", "", 2, "exit status 3"),
        ("--grows 1.9", "--threads 1,1", 2, "--threads: 1 is given twice"),
        ("--grows 1.9", "--out picture.gif", 2, "--out picture.gif: choose a name that ends in .svg, .png or .html"),
        ("--grows 1.9", "--book missing.epd", 2, "missing.epd"),
        ("--fault overuses-depth --fault only-after-stop", "", 2, "so it does not obey `go depth 9`"),
        ("--grows 1.9", "--option Nothing=1", 2, "Nothing"),
    ] {
        let ran = scaling(&[engine], &format!("--depth 9 --positions 20 {more}"));
        assert_eq!(ran.code, Some(code), "{says}: {ran:?}");
        assert!(ran.stderr.contains(says) && ran.stderr.trim_end().lines().count() <= 3, "{says}: {}", ran.stderr);
    }
}
