//! Runs of plans: stopped and resumed, begun with other weights, and mistakes in plans.

use super::curve::Curve;
use super::network::Random;
use super::plan::Plan;
use super::report;
use super::run::{self, Run};
use super::tests::{positions, write};
use indicatif::ProgressBar;
use std::path::Path;

const PLAN: &str = "name = \"small\"\nout = \"OUT\"\nseed = 5\nthreads = 2\n[data]\nfiles = [\"data.bin\"]\n\
    validation-fraction = 0.1\n[network]\nhidden = 64\n[training]\nsuperbatches = 4\nbatches = 3\nbatch = 300\n\
    [rate]\nschedule = \"cosine\"\nstart = 0.001\nend = 0.0001\nwarm-up = 2\n\
    [wdl]\nschedule = \"linear\"\nstart = 0.0\nend = 0.5\n";

fn plan(folder: &Path, out: &str) -> Plan {
    let path = folder.join(format!("{out}.toml"));
    std::fs::write(&path, PLAN.replace("OUT", out)).expect("a file in a fresh folder");
    Plan::load(&path).expect("a sound plan")
}

#[test]
fn stopped_runs_go_on_bit_for_bit() {
    let folder = tempfile::tempdir().expect("a fresh folder");
    write(&folder.path().join("data.bin"), &positions(1000, 11));
    let straight = plan(folder.path(), "straight");
    let expected = run::run(&straight, &mut std::io::sink()).expect("a run");
    for stop in 1..4 {
        let stopped = plan(folder.path(), &format!("stopped-{stop}"));
        let mut begun = Run::open(&stopped).expect("a run");
        for _ in 0..stop {
            begun.superbatch(&ProgressBar::hidden()).expect("a superbatch");
        }
        // A kill during a checkpoint leaves a part of it beside the last one.
        std::fs::write(stopped.out.join("checkpoint.bin.part"), b"DTRA").expect("a file in the run's folder");
        drop(begun);
        let resumed = run::run(&stopped, &mut std::io::sink()).expect("the rest of the run");
        assert_eq!(resumed.curve, expected.curve);
        assert_eq!(resumed.hash, expected.hash);
        for file in ["checkpoint.bin", "small.nnue", "curve.csv"] {
            let read = |plan: &Plan| std::fs::read(plan.out.join(file)).expect("written by the run");
            assert!(read(&stopped) == read(&straight), "{file} after a stop at {stop}");
        }
    }
}

#[test]
fn checkpoints_of_other_plans_and_damaged_ones_are_refused() {
    let folder = tempfile::tempdir().expect("a fresh folder");
    write(&folder.path().join("data.bin"), &positions(1000, 11));
    let mut plan = plan(folder.path(), "run");
    run::run(&plan, &mut std::io::sink()).expect("a run");
    plan.seed += 1;
    let refused = |plan: &Plan| Run::open(plan).map(|_| ()).expect_err("not this run's").to_string();
    assert!(refused(&plan).contains("another plan"));
    plan.seed -= 1;
    plan.network.hidden = 32;
    assert!(refused(&plan).contains("another plan"), "not a damaged file, which the user would remove");
    plan.network.hidden = 64;
    let held = Run::open(&plan).expect("the run again");
    assert!(refused(&plan).contains("another training writes there"));
    drop(held);
    // Other positions in the same file are refused; the same ones in a moved file are accepted.
    let data = plan.data.files[0].clone();
    write(&data, &positions(1000, 12));
    assert!(refused(&plan).contains("from other data"));
    plan.data.files[0] = folder.path().join("moved.bin");
    write(&plan.data.files[0], &positions(1000, 11));
    assert!(Run::open(&plan).expect("the same positions").is_done());
    let path = plan.out.join("checkpoint.bin");
    let whole = std::fs::read(&path).expect("written by the run");
    for (length, flipped) in [(0, None), (20, None), (whole.len() - 1, None), (whole.len(), Some(whole.len() / 2))] {
        let mut bytes = whole[..length].to_vec();
        if let Some(place) = flipped {
            bytes[place] ^= 1;
        }
        std::fs::write(&path, bytes).expect("the run's folder");
        assert!(refused(&plan).contains("remove the file"));
    }
}

#[test]
fn a_run_begins_with_the_weights_of_another() {
    let folder = tempfile::tempdir().expect("a fresh folder");
    write(&folder.path().join("data.bin"), &positions(1000, 11));
    let first = plan(folder.path(), "first");
    let before = run::run(&first, &mut std::io::sink()).expect("a run");
    let start = ("hidden = 64", "hidden = 64\nstart = \"first/checkpoint.bin\"");
    let seed = ("seed = 5", "seed = 6");
    let second = changed(folder.path(), "second", &[start, seed]);
    let mut begun = Run::open(&second).expect("a run");
    let outcome = begun.export().expect("a network");
    assert_eq!(outcome.hash, before.hash, "before a step it is the network it begins with");
    begun.superbatch(&ProgressBar::hidden()).expect("a superbatch");
    assert!(begun.export().expect("a network").hash != before.hash);
    let file = ("first/checkpoint.bin", "first/small.nnue");
    let of_file = changed(folder.path(), "of-a-file", &[start, seed, file]);
    let rounded = Run::open(&of_file).expect("a run").export().expect("a network");
    assert_eq!(rounded.hash, before.hash, "rounded weights stay as they are");
    std::fs::write(folder.path().join("cut.nnue"), b"DESTRIER").expect("a file");
    for (from, to, says) in [
        ("first/", "nobody/", "there is no such file; `start` is a network file or the `checkpoint.bin` of a run"),
        ("hidden = 64", "hidden = 32", "of the same shape"),
        ("first/checkpoint.bin", "cut.nnue", "neither a network nor a checkpoint, or damaged"),
        (
            "hidden = 64\nstart = \"first/checkpoint.bin",
            "hidden = 32\nstart = \"first/small.nnue",
            "the weights are of (",
        ),
    ] {
        let other = changed(folder.path(), "third", &[start, seed, (from, to)]);
        let error = Run::open(&other).map(|_| ()).expect_err(to).to_string();
        assert!(error.contains(says), "{error}");
    }
}

/// Loads the usual plan with replacements in its text.
fn changed(folder: &Path, out: &str, changes: &[(&str, &str)]) -> Plan {
    let mut text = PLAN.replace("OUT", out);
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    let path = folder.join(format!("{out}.toml"));
    std::fs::write(&path, text).expect("a file in a fresh folder");
    Plan::load(&path).expect("a sound plan")
}

#[test]
fn a_moving_target_is_not_taken_for_a_worse_network() {
    let folder = tempfile::tempdir().expect("a fresh folder");
    // Results are random, so a larger share of them in the target means a larger loss of any
    // network.
    let mut boards = positions(2000, 13);
    let mut random = Random::new(14);
    for board in &mut boards {
        (board.score, board.result) = (board.score / 8, 2 * random.below(2) as u8);
    }
    write(&folder.path().join("data.bin"), &boards);
    let keeps = ("out = \"moving\"", "out = \"moving\"\nsnapshots = true");
    let plan = changed(folder.path(), "moving", &[("batch = 300", "batch = 300\npatience = 2"), keeps]);
    let mut said = Vec::new();
    let summary = run::run(&plan, &mut said).expect("a run");
    let points = summary.curve.points();
    assert!(points.windows(2).all(|pair| pair[1].validation > pair[0].validation), "{points:?}");
    // The last snapshot is the network, the first one that of random weights.
    let snapshot = |superbatch: usize| std::fs::read(plan.out.join(format!("snapshots/{superbatch:05}.nnue")));
    let last = snapshot(points.len()).expect("a snapshot");
    assert_eq!(last, std::fs::read(&summary.network).expect("the network"));
    assert_ne!(snapshot(0).expect("a snapshot before the training"), last);
    assert!(snapshot(points.len() + 1).is_err());
    assert!(points[3].settled < points[0].settled, "{points:?}");
    let said = String::from_utf8(said).expect("text");
    assert!(!said.contains("no better validation loss") && said.contains(", against the last target 0."), "{said}");
    let last = points[points.len() - 1];
    assert_eq!((summary.curve.best(), last.settled), (Some(&last), last.validation));
    // With squared errors, the loss is the mean of both parts less a constant that is the same for
    // all networks.
    let rest: Vec<f64> = points.iter().map(|point| 0.5 * (point.score + point.result) - point.settled).collect();
    assert!(rest.iter().all(|one| (one - rest[0]).abs() < 1e-6), "{rest:?}");
    let picture = std::fs::read_to_string(plan.out.join("curve.svg")).expect("written by the run");
    assert!(picture.contains("after superbatch 4") && picture.contains("held out, last target"), "{picture}");
}

#[test]
fn curves_of_before_are_read_as_far_as_they_tell() {
    let old = "superbatch,positions,rate,wdl,train,validation,score,result\n1,900,0.001,0.25,0.2,0.1,0.1,0.1\n\
        2,1800,0.001,0.5,0.2,0.15,0.1,0.1\n";
    let curve = Curve::parse(old, 0.5);
    let settled: Vec<f64> = curve.points().iter().map(|point| point.settled).collect();
    assert!(settled[0].is_nan() && settled[1] == 0.15, "{settled:?}");
    assert_eq!(curve.best().map(|point| point.superbatch), Some(2));
    assert_eq!(Curve::parse(&curve.to_csv(), 0.5).to_csv(), curve.to_csv());
    assert_eq!(Curve::parse(old, 1.0).best(), None);
    assert!(!curve.to_svg("old", true).contains("NaN"));
}

#[test]
fn what_changes_no_weight_may_change() {
    let folder = tempfile::tempdir().expect("a fresh folder");
    write(&folder.path().join("data.bin"), &positions(1000, 11));
    run::run(&plan(folder.path(), "first"), &mut std::io::sink()).expect("a run");
    let start = ("hidden = 64", "hidden = 64\nstart = \"first/checkpoint.bin\"");
    let second = changed(folder.path(), "second", &[start]);
    Run::open(&second).expect("a run").superbatch(&ProgressBar::hidden()).expect("a superbatch");
    let going = |plan: &Plan| Run::open(plan).map(|run| run.superbatches()).map_err(|error| error.to_string());
    let often = ("batch = 300", "batch = 300\npatience = 3\nsave-every = 2");
    assert_eq!(going(&changed(folder.path(), "second", &[start, often])), Ok(1));
    // The content of the initial checkpoint counts, but not its path.
    std::fs::rename(folder.path().join("first"), folder.path().join("moved")).expect("the same file system");
    let moved = ("hidden = 64", "hidden = 64\nstart = \"moved/checkpoint.bin\"");
    assert_eq!(going(&changed(folder.path(), "second", &[moved])), Ok(1));
    std::fs::copy(second.out.join("checkpoint.bin"), folder.path().join("moved/checkpoint.bin")).expect("a file");
    let error = going(&changed(folder.path(), "second", &[moved])).expect_err("another start");
    assert!(error.contains("another `start`"), "{error}");
}

/// An output of 1 is 400 centipawns in the network's file, whatever the scale of the loss.
#[test]
fn a_scale_is_that_of_scores_and_of_the_network() {
    let folder = tempfile::tempdir().expect("a fresh folder");
    for (keys, scores, gain) in [
        ("", 400.0, 1.0),
        ("\nscale = 200.0", 200.0, 2.0),
        ("\nscale = 200.0\nin-scale = 300.0", 300.0, 2.0),
        ("\nout-scale = 100.0", 400.0, 4.0),
    ] {
        let training = changed(folder.path(), "a", &[("batch = 300", &format!("batch = 300{keys}"))]).training;
        assert_eq!((training.score_scale(), training.gain()), (scores, gain), "{keys}");
    }
}

#[test]
fn mistakes_in_any_plan_show_before_the_first_is_run() {
    let folder = tempfile::tempdir().expect("a fresh folder");
    write(&folder.path().join("data.bin"), &positions(1000, 11));
    let first = plan(folder.path(), "first");
    let check = |plan: &Plan| run::check(plan, std::slice::from_ref(&first)).map_err(|error| error.to_string());
    let refused = |changes: &[(&str, &str)], says: &str| {
        let error = check(&changed(folder.path(), "second", changes)).expect_err(says);
        assert!(error.contains(says), "{error}");
    };
    refused(&[("data.bin", "nodata.bin")], "nodata.bin: ");
    refused(&[("\"second\"", "\"first\""), ("\"small\"", "\"other\"")], "two plans, `small` and `other`; give each");
    refused(&[("\"second\"", "\"none/../first\"")], "two plans, `small` and `small`");
    refused(&[("hidden = 64", "hidden = 64\nstart = \"x.bin\"")], "x.bin: there is no such file");
    // The result of the first plan does not exist yet.
    for start in ["checkpoint.bin", "small.nnue"] {
        let chained = format!("hidden = 64\nstart = \"first/{start}\"");
        assert_eq!(check(&changed(folder.path(), "second", &[("hidden = 64", &chained)])), Ok(()), "{start}");
    }
    assert!(!folder.path().join("second").exists() && !first.out.exists(), "nothing is made");

    let untrained = run::trained(&first).map(|_| ()).expect_err("no checkpoint").to_string();
    assert!(untrained.contains("train the plan first") && !first.out.exists(), "{untrained}");
    run::run(&first, &mut std::io::sink()).expect("a run");
    assert!(run::trained(&first).expect("a checkpoint").is_done());
    // Another name would add another network to the same folder.
    let renamed = changed(folder.path(), "first", &[("\"small\"", "\"large\"")]);
    for error in [Run::open(&renamed).map(|_| ()), run::check(&renamed, &[])] {
        let error = error.expect_err("the folder of another").to_string();
        assert!(error.contains("small.nnue; give this one, `large`, another `out`"), "{error}");
    }
}

#[test]
fn networks_of_several_scales_are_not_ranked() {
    let folder = tempfile::tempdir().expect("a fresh folder");
    write(&folder.path().join("data.bin"), &positions(1000, 11));
    let summary = |name: &str, rate: &str, scale: &str| {
        let name_line = format!("\"{name}\"");
        let scale = format!("batch = 300\nscale = {scale}");
        let changes = [("\"small\"", &name_line[..]), ("start = 0.001", rate), ("batch = 300", &scale)];
        run::run(&changed(folder.path(), name, &changes), &mut std::io::sink()).expect("a run")
    };
    let slow = summary("slow", "start = 0.0001", "400.0");
    let [fast, other] =
        [("fast", "400.0"), ("other", "1600.0")].map(|(name, scale)| summary(name, "start = 0.01", scale));
    let table = |summaries: &[run::Summary]| {
        let mut text = Vec::new();
        report::table(summaries, &mut text).expect("memory");
        String::from_utf8(text).expect("text")
    };
    let ranked = table(&[slow.clone(), fast.clone()]);
    assert!(ranked.find("\nfast ") < ranked.find("\nslow ") && !ranked.contains("not ranked"), "{ranked}");
    let unranked = table(&[slow, fast, other]);
    assert!(unranked.find("\nslow ") < unranked.find("\nfast "), "{unranked}");
    assert!(unranked.contains("not ranked: ") && unranked.contains("(slow 400, fast 400, other 1600)"), "{unranked}");
}

#[test]
fn mistakes_in_plans_are_named_with_their_line() {
    let check = |from: &str, to: &str, says: &str| {
        assert!(PLAN.contains(from), "{from}");
        let error = Plan::parse(Path::new("a.toml"), &PLAN.replace(from, to)).expect_err(to).to_string();
        assert!(error.starts_with("a.toml:") && error.contains(says), "{error}");
        assert!(!error.contains('\n'), "{error}");
    };
    check("seed = 5", "sede = 5", "a.toml:3:1: unknown key `sede`; keys are name, out, seed, ");
    check("hidden = 64", "hidden = 65", "a.toml: line 9, `hidden` is 65: give 32");
    check("batch = 300", "batch = 0", "`batch`");
    check("files = [\"data.bin\"]", "files = []", "`files`");
    check("validation-fraction = 0.1", "validation-fraction = 0.9", "at most 0.5");
    check("end = 0.0001", "end = 1.0", "`rate`");
    check("schedule = \"cosine\"", "schedule = \"step\"", "gamma");
    check("end = 0.5", "end = 1.5", "`wdl`");
    check("hidden = 64", "hidden = 64\nkind = \"layered\"\noutput-buckets = 4", "give 8 or 1");
    for name in ["", "a/b"] {
        check("\"small\"", &format!("\"{name}\""), &format!("a.toml: line 1, `name` is \"{name}\": "));
    }
    for (key, value) in [("beta2", "1.5"), ("decay", "nan"), ("decay", "-5.0"), ("epsilon", "0.0")] {
        check("[wdl]", &format!("[optimiser]\n{key} = {value}\n[wdl]"), &format!("a.toml: line 20, `{key}` is "));
    }
    check("hidden = 64", "hidden = 64\nking-buckets = [0]", "32 numbers");
    let keys = |keys: &str| format!("hidden = 64\n{keys}");
    check(
        "hidden = 64",
        &keys("features = \"piece+fiel\""),
        "a.toml: line 10, `features`: unknown feature block `fiel`",
    );
    check("hidden = 64", &keys("features = \"top-pairs:9\""), "without its list; name a file with 9 pairs");
    let missing = PLAN.replace("hidden = 64", &keys("features = \"top-pairs:9\"\npairs = \"no.txt\""));
    let error = Plan::parse(Path::new("a.toml"), &missing).expect_err("no such file").to_string();
    assert!(error.contains("no.txt: "), "{error}");
    check("hidden = 64", &keys("features = \"king-piece+king-all\""), "90112 features, expected at most 65536");
    check("hidden = 64", &keys("features = \"file\"\nmirrored = true"), "only the features `piece` allow it");
    check("hidden = 64", &keys("features = \"file\"\nfactorised = true"), "have a common part: leave the key out");
    let map = "0,".repeat(32);
    check("hidden = 64", &keys(&format!("features = \"h\"\nking-buckets = [{map}]")), "only the features `piece` have");
    // One remedy, in the words of a plan.
    let too_large = "hidden = 4096\nfeatures = \"king-all\"";
    check("hidden = 64", too_large, "a.toml: line 9, `hidden` is 4096, with `king-all` 4");
    let remedy = " bytes of weights, expected at most 267386880: give fewer neurons, or a smaller set of features";
    check("hidden = 64", too_large, remedy);
    check("batch = 300", "batch = 300\nin-scale = 10.0", "`in-scale` is 10");
    check("batch = 300", "batch = 300\nloss = \"epsilon\"\nmargin = 0.5", "`margin` is 0.5");
    check("batch = 300", "batch = 300\nloss = \"huber\"", "huber");
    // Keys that nothing would use.
    check("batch = 300", "batch = 300\nmargin = 0.2", "`margin` is 0.2: only the loss `epsilon` has it");
    check(
        "batch = 300",
        "batch = 300\nloss = \"epsilon\"\npower = 2.5",
        "`power` is 2.5: only the loss `power` has it",
    );
    check("schedule = \"cosine\"", "schedule = \"constant\"", "only linear and cosine have it");
    check("warm-up = 2", "warm-up = 2\nevery = 3", "only step has them");
    check("seed = 5", "seed = true", "a.toml:3:8: ");
    Plan::parse(Path::new("a.toml"), PLAN).expect("a plan without a mistake");
    let shipped = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/plans")).expect("the folder of the plans");
    let paths = shipped.map(|entry| entry.expect("a file").path()).filter(|path| !path.ends_with("loop.toml"));
    let paths: Vec<_> = paths.filter(|path| path.extension().is_some_and(|extension| extension == "toml")).collect();
    assert!(paths.len() >= 5, "{paths:?}");
    for path in paths {
        Plan::load(&path).unwrap_or_else(|error| panic!("{error}"));
    }
}
