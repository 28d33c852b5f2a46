//! Networks as inputs: built in or set as an option, kept by their hash, named beside results.

#![allow(clippy::unwrap_used, reason = "helpers of tests may stop at the first surprise, as tests do")]

use std::fs;
use std::path::Path;

use quintain::plan::Network;
use quintain::plan::file::from_toml;
use quintain::source::NetworkFile;

use crate::cluster::has_server;
use crate::harness::{FAKE, Ran, games, quintain, summary};
use crate::source::Toy;

/// Puts the number of the network EVALFILE into the program; 1 without one.
const BUILT_IN: &str = "\
[build]
command = 'sed \"s|@SEED@|$(cat \"${EVALFILE:-/dev/null}\" | grep . || echo 1)|\" engine.sh > engine.bin && chmod +x engine.bin'
binary = 'engine.bin'
";

/// A repository whose engine plays by the number in its network.
fn toy(recipe: &str) -> Toy {
    let toy = Toy::bare();
    toy.write("quintain.toml", recipe);
    let bench = "[ \"$1\" = bench ] && { echo '@SEED@ nodes 1 nps'; exit; }";
    toy.write("engine.sh", &format!("#!/bin/sh\n{bench}\nexec '{FAKE}' --net --seed @SEED@\n"));
    toy.write(".gitignore", "*.nnue\nrun*\nresults\n");
    toy.write("two.nnue", "2\n");
    toy.write("three.nnue", "3\n");
    toy.commit("One");
    toy
}

fn run(toy: &Toy, args: &[&str]) -> Ran {
    let cwd = &toy.context.cwd;
    quintain(args).current_dir(cwd).env("QUINTAIN_CACHE", &toy.context.cache).output().unwrap().into()
}

/// A short test with these arguments, into `out`.
fn test(toy: &Toy, out: &str, more: &[&str]) -> Ran {
    let fixed = ["sprt", "--nodes", "1", "--max-plies", "20", "--max-pairs", "2", "--seed", "1", "--out", out];
    run(toy, &[&fixed, more].concat())
}

fn sha256(path: &Path) -> String {
    use sha2::{Digest as _, Sha256};
    Sha256::digest(fs::read(path).unwrap()).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn one_engine_is_tested_with_two_networks() {
    let toy = toy(BUILT_IN);
    let ran = test(&toy, "run", &["--new-net", "two.nnue"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    let root = toy.context.cwd.join("run");
    let sha = sha256(&toy.context.cwd.join("two.nnue"));
    let plan = from_toml(&fs::read_to_string(root.join("plan.toml")).unwrap()).unwrap();
    let [new, base] = plan.players.as_slice() else { panic!("{plan:?}") };
    let network = new.origin.network.as_ref().unwrap();
    assert_eq!((network.file.as_str(), &network.sha256, &network.option), ("two.nnue", &sha, &None));
    // The bench is of the program with the network in it.
    assert_eq!((new.origin.bench_nodes, base.origin.bench_nodes), (Some(2), Some(1)));
    assert_eq!((&base.origin.network, &base.origin.commit), (&None, &new.origin.commit));
    assert_eq!(new.name, format!("{}+net-{}", base.name, &sha[..8]));
    let named = format!("two.nnue ({})", &sha[..8]);
    assert_eq!(plan.title().unwrap(), format!("network {named}, One"));
    assert_eq!(summary(&root)["players"][0]["network"]["sha256"], sha.as_str());
    assert!(ran.stdout.contains(&format!("network {named}")), "{}", ran.stdout);
    assert!(fs::read_to_string(root.join("report.html")).unwrap().contains(&sha));
    let block = run(&toy, &["report", "run", "--format", "block"]);
    assert!(block.stdout.contains(&format!("\nNet   | {named} against its own\n")), "{block:?}");
    // Both sides named, the other way round: the same program, from the cache.
    let ran = test(&toy, "run2", &["--new", "git:main", "--base", "git:main", "--base-net", "two.nnue"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(!ran.stderr.contains("building"), "{}", ran.stderr);
}

#[test]
fn a_recipe_may_name_a_network_by_an_option() {
    let toy = toy(
        "[build]\ncommand = 'sed s/@SEED@/1/ engine.sh > e && chmod +x e'\nbinary = 'e'\n[engine]\nnetwork = 'EvalFile'\n",
    );
    let built = |out: &str, more: &[&str]| {
        let ran = test(&toy, out, more);
        assert_eq!(ran.code, Some(3), "{ran:?}");
        let root = toy.context.cwd.join(out);
        let plan = from_toml(&fs::read_to_string(root.join("plan.toml")).unwrap()).unwrap();
        (plan, games(&root).into_iter().map(|game| game.moves).collect::<Vec<_>>())
    };
    let (plan, of_two) = built("run", &["--new-net", "two.nnue", "--base-net", "three.nnue"]);
    let network = plan.players[0].origin.network.clone().unwrap();
    assert_eq!((network.option.as_deref(), plan.players[0].origin.bench_nodes), (Some("EvalFile"), None));
    assert_eq!(plan.players[0].origin.sha256, plan.players[1].origin.sha256);
    let kept = plan.players[0].option("EvalFile").unwrap().to_owned();
    assert!(Path::new(&kept).starts_with(&toy.context.cache) && kept.contains(&network.sha256), "{kept}");
    // The moves follow the network, whatever the file of its name becomes.
    toy.write("two.nnue", "5\n");
    let (_, of_five) = built("run2", &["--new-net", "two.nnue", "--base-net", "three.nnue"]);
    assert_ne!(of_two, of_five);
    let programs = format!("'{FAKE}' -- --seed");
    let (_, by_seed) = built("run3", &["--new", &format!("{programs} 2"), "--base", &format!("{programs} 3")]);
    assert_eq!(of_two, by_seed);
    // A network that is another one by now is no way to go on, and the run's own is.
    let journal = toy.context.cwd.join("run/games.jsonl");
    let begun = fs::read_to_string(&journal).unwrap().split_inclusive('\n').take(3).collect::<String>();
    fs::write(&journal, &begun).unwrap();
    fs::write(&kept, "4\n").unwrap();
    let ran = run(&toy, &["resume", "run"]);
    assert!(ran.code == Some(2) && ran.stderr.contains("its games would be of two networks"), "{ran:?}");
    assert_eq!(fs::read_to_string(&journal).unwrap(), begun);
    fs::write(&kept, "2\n").unwrap();
    assert_eq!(run(&toy, &["resume", "run"]).code, Some(3));
    assert_eq!(games(&toy.context.cwd.join("run")).into_iter().map(|game| game.moves).collect::<Vec<_>>(), of_two);
}

#[test]
fn networks_are_raced_and_played_by_plans() {
    let toy = toy(BUILT_IN);
    let fixed = ["--nodes", "1", "--max-plies", "20", "--seed", "1", "--json"];
    let race =
        ["race", "--base", ".", "--with-net", "two.nnue", "--with-net", "three.nnue", "--pairs", "1", "--out", "run"];
    let ran = run(&toy, &[&race[..], &fixed].concat());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let names = |out: &str| -> Vec<bool> {
        let summary = summary(&toy.context.cwd.join(out));
        let players = summary["players"].as_array().unwrap();
        players.iter().map(|player| player["network"].is_object()).collect()
    };
    assert_eq!(names("run"), [false, true, true]);
    let player = "[[players]]\nspec = \".\"\n";
    toy.write("match.toml", &format!("net = \"two.nnue\"\npairs = 1\n{player}{player}net = \"three.nnue\"\n"));
    let ran = run(&toy, &[&["match", "match.toml", "--out", "run2"][..], &fixed].concat());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(names("run2"), [true, true]);
}

#[test]
fn a_network_that_cannot_be_used_is_answered_in_one_line() {
    let toy = toy("[build]\ncommand = 'sed s/@SEED@/1/ engine.sh > e && chmod +x e'\nbinary = 'e'\n");
    let cwd = toy.context.cwd.clone();
    fs::create_dir(cwd.join("nets")).unwrap();
    toy.write("empty.nnue", "");
    let plain = format!("'{FAKE}' -- --seed 1");
    let knows = format!("'{FAKE}' -- --net");
    for (more, words) in [
        (&["--new-net", "no.nnue"][..], "--new-net: network no.nnue: No such file"),
        (&["--base-net", "nets"], "--base-net: network nets: it is a folder"),
        (&["--net", "empty.nnue"], "--net: network empty.nnue: it is empty"),
        (&["--new-net", "two.nnue"], "does not declare how it takes a network: in its quintain.toml write network"),
        (&["--new", &plain, "--base", &plain, "--new-net", "two.nnue"], "the engine has no option `EvalFile`"),
        (
            &["--new", &knows, "--base", &knows, "--new-net", "two.nnue", "--option", "evalfile=three.nnue"],
            "the option EvalFile and a network both name its file",
        ),
    ] {
        let ran = test(&toy, "run", more);
        let lines: Vec<&str> = ran.stderr.lines().filter(|line| line.starts_with("error: ")).collect();
        assert!(ran.code == Some(2) && lines.len() == 1 && lines[0].contains(words), "{more:?}: {ran:?}");
        assert!(!cwd.join("run").exists(), "{more:?}");
    }
    // A build that takes no notice of the network makes the same program.
    toy.write(
        "quintain.toml",
        "[build]\ncommand = 'sed s/@SEED@/1/ engine.sh > e && chmod +x e'\nbinary = 'e'\nnetwork = 'EVALFILE'\n",
    );
    let ran = test(&toy, "run", &["--new-net", "two.nnue"]);
    assert!(ran.code == Some(2) && ran.stderr.contains("are the same program"), "{ran:?}");
    for (recipe, words) in [
        ("[build]\ncommand = 'x'\nbinary = 'e'\nnetwork = 'a b'\n", "quintain.toml:4:1: `network` is `a b`"),
        (
            "[build]\ncommand = 'x'\nbinary = 'e'\n[engine]\nnetwork = ' '\n",
            "quintain.toml:5:1: `network` of [engine] is no",
        ),
        ("[build]\ncommand = 'x'\nbinary = 'e'\nnetwork = 'A'\n[engine]\nnetwork = 'B'\n", "exclude each other"),
    ] {
        toy.write("quintain.toml", recipe);
        let ran = test(&toy, "run", &[]);
        assert!(ran.code == Some(2) && ran.stderr.contains(words), "{recipe}: {ran:?}");
    }
}

#[test]
fn a_makefile_takes_its_network_on_the_command_line() {
    let toy = Toy::bare();
    // The Makefile's own value wins over the environment.
    let rule = "engine: main.sh\n\tsed \"s|@SEED@|$$(cat $(EVALFILE))|\" main.sh > $(EXE) && chmod +x $(EXE)\n";
    toy.write("Makefile", &format!("EVALFILE = own.nnue\n{rule}"));
    toy.write("main.sh", &format!("#!/bin/sh\nexec '{FAKE}' --seed @SEED@\n"));
    toy.write("own.nnue", "1\n");
    toy.commit("One");
    toy.write(".git/two.nnue", "2\n");
    let ran = test(&toy, ".git/run", &["--new", "git:main", "--new-net", ".git/two.nnue"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    let plan = from_toml(&fs::read_to_string(toy.context.cwd.join(".git/run/plan.toml")).unwrap()).unwrap();
    let programs: Vec<String> =
        plan.players.iter().map(|player| fs::read_to_string(&player.program).unwrap()).collect();
    assert!(programs[0].contains("--seed 2") && programs[1].contains("--seed 1"), "{programs:?}");
}

/// Program of the scripted peer that takes a network as an option.
fn with_option(more: &str) -> String {
    format!("'{FAKE}' -- --net {more}")
}

/// Names of the networks of a run's players, in their order.
fn network_names(root: &Path) -> Vec<Option<String>> {
    let plan = from_toml(&fs::read_to_string(root.join("plan.toml")).unwrap()).unwrap();
    plan.players.iter().map(|player| player.origin.network.as_ref().map(|network| network.file.clone())).collect()
}

#[test]
fn instruments_take_networks() {
    let toy = toy(BUILT_IN);
    let json = |ran: &Ran| -> serde_json::Value {
        serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
    };
    // The bench of each network has its own node count, and a node of one is compared with a node
    // of the other.
    let ran = run(&toy, &["speed", "--new-net", "two.nnue", "--rounds", "6", "--json"]);
    let found = json(&ran);
    assert!(matches!(ran.code, Some(0 | 1 | 3)), "{ran:?}");
    assert_eq!((&found["new"]["nodes"], &found["base"]["nodes"]), (&2.into(), &1.into()));
    let ran = run(&toy, &["speed", "--net", "two.nnue", "--base", "x"]);
    assert_eq!(ran.code, Some(2), "BASE is no flag: {ran:?}");
    let [plain, knows] = [format!("'{FAKE}' -- --seed 1"), with_option("")];
    let refused = run(&toy, &["speed", &knows, &knows, "--new-net", "two.nnue", "--base-net", "three.nnue"]);
    assert!(refused.code == Some(2) && refused.stderr.contains("use --depth N"), "{refused:?}");
    let searched = ["--new-net", "two.nnue", "--base-net", "three.nnue", "--depth", "1", "--rounds", "6", "--json"];
    let ran = run(&toy, &[&["speed", &knows][..], &searched].concat());
    assert!(matches!(ran.code, Some(0 | 1 | 3)), "{ran:?}");
    // A suite asks every engine with every network.
    toy.write("one.epd", "k7/8/8/8/8/8/6q1/7K w - - bm Kxg2; id \"one\";\n");
    let ran =
        run(&toy, &["suite", "one.epd", ".", "--net", "two.nnue", "--net", "three.nnue", "--nodes", "1", "--json"]);
    let names: Vec<String> =
        json(&ran)["engines"].as_array().unwrap().iter().map(|engine| engine["name"].to_string()).collect();
    assert!(names.len() == 2 && names.iter().all(|name| name.contains("+net-")) && names[0] != names[1], "{names:?}");
    let ran = run(&toy, &["check", &knows, "--net", "two.nnue", "--only", "go-nodes"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    for words in [
        &["check", &plain, "--net", "two.nnue"][..],
        &["suite", "one.epd", &plain, "--net", "two.nnue"],
        &["scaling", &plain, "--net", "two.nnue", "--positions", "2", "--depth", "2"],
    ] {
        let ran = run(&toy, words);
        assert!(ran.code == Some(2) && ran.stderr.contains("no option `EvalFile`"), "{words:?}: {ran:?}");
    }
    let typed = ["--option", "EvalFile=three.nnue", "--net", "two.nnue"];
    let ran = run(&toy, &[&["check", &knows][..], &typed].concat());
    assert!(ran.code == Some(2) && ran.stderr.contains("both name its file"), "{ran:?}");
}

#[test]
fn commits_are_searched_with_one_network() {
    let toy = toy(BUILT_IN);
    let text = fs::read_to_string(toy.context.cwd.join("engine.sh")).unwrap();
    toy.write("engine.sh", &text.replace("--net", "--name Other --net"));
    toy.commit("Two");
    let fixed = ["--net", "two.nnue", "--nodes", "1", "--max-plies", "20", "--seed", "1", "--out", "run"];
    let search = ["bisect", "HEAD~1", "HEAD", "--pairs", "2", "--limit", "2"];
    let ran = run(&toy, &[&search[..], &fixed].concat());
    assert_eq!(ran.code, Some(3), "equal commits: {ran:?}");
    let matches = fs::read_dir(toy.context.cwd.join("run/matches")).unwrap().map(|entry| entry.unwrap().path());
    let played: Vec<_> = matches.filter(|path| path.join("plan.toml").is_file()).collect();
    assert_eq!(played.len(), 1, "{ran:?}");
    assert_eq!(network_names(&played[0]), [Some("two.nnue".to_owned()), Some("two.nnue".to_owned())]);

    // So does a curve over them. Games with another network are not taken together with these.
    let curve = ["progress", "--revs", "HEAD~1..HEAD", "--runs", "curve", "--pairs", "2", "--limit", "2", "--json"];
    let fixed = ["--nodes", "1", "--max-plies", "20", "--seed", "1"];
    let of = |net: &[&str]| run(&toy, &[&curve[..], &fixed, net].concat());
    let ran = of(&["--net", "two.nnue"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let found: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let condition = format!("nodes=1 net-{}", &sha256(&toy.context.cwd.join("two.nnue"))[..8]);
    assert_eq!(found["conditions"], serde_json::json!([condition]), "{found}");
    let versions = found["versions"].as_array().unwrap();
    assert!(versions.len() == 2 && versions.iter().all(|version| version["games"] == 4), "{found}");
    // A partner without a network is named before a version is built.
    let partner = crate::harness::fake("--seed 9");
    let ran = of(&["--net", "two.nnue", "--vs", &partner]);
    assert!(ran.code == Some(2) && ran.stderr.contains("which gets the network of --net too"), "{ran:?}");
    assert!(ran.stderr.contains("no option `EvalFile`") && !ran.stderr.contains("is skipped"), "{ran:?}");
    for net in [&["--net", "three.nnue"][..], &[]] {
        let ran = of(net);
        assert!(ran.code == Some(2) && ran.stderr.contains(&condition), "{ran:?}");
    }
}

#[test]
fn a_tuning_and_its_proof_have_the_network() {
    let toy = toy(BUILT_IN);
    let knows = with_option("--tunes --lost-below Gamma=1.5");
    toy.write("params.txt", "Gamma, float, 1.5, 0, 3, 0.25, .002\n");
    let tune = ["tune", "--engine", &knows, "--params", "params.txt", "--pairs", "32"];
    let fixed = ["--net", "two.nnue", "--nodes", "1", "--max-plies", "12", "--resign", "count=1,score=600"];
    let ran = run(
        &toy,
        &[&tune[..], &fixed, &["--seed", "5", "--out", "run", "--no-sensitivity", "--prove-pairs", "4"]].concat(),
    );
    assert!(matches!(ran.code, Some(0 | 1 | 3)), "{ran:?}");
    for (place, players) in [("run/tune", 2), ("run/prove", 3)] {
        let names = network_names(&toy.context.cwd.join(place));
        assert_eq!(names, vec![Some("two.nnue".to_owned()); players], "{place}");
    }
}

#[test]
fn workers_get_the_network() {
    if !has_server("workers_get_the_network") {
        return;
    }
    let toy = toy(BUILT_IN);
    let knows = with_option("");
    let sides = ["--new", &knows, "--base", &knows, "--new-net", "two.nnue", "--base-net", "three.nnue"];
    let play = |out: &str, more: &[&str]| {
        let ran = test(&toy, out, &[&sides[..], more].concat());
        assert_eq!(ran.code, Some(3), "{ran:?}");
        games(&toy.context.cwd.join(out)).into_iter().map(|game| game.moves).collect::<Vec<_>>()
    };
    assert_eq!(play("run", &["--workers", "local:1"]), play("run2", &[]));
}

#[test]
fn a_network_of_an_earlier_run_is_that_of_its_hash() {
    let folder = tempfile::tempdir().unwrap();
    let [cwd, cache] = ["cwd", "cache"].map(|name| folder.path().join(name));
    fs::create_dir(&cwd).unwrap();
    fs::write(cwd.join("two.nnue"), "2\n").unwrap();
    let kept = NetworkFile::keep(Path::new("two.nnue"), &cwd, &cache).unwrap();
    let network = Network { file: "two.nnue".to_owned(), sha256: kept.sha256.clone(), option: None };
    assert_eq!(NetworkFile::known(&network, &cache).unwrap(), kept);
    // A copy that was changed is made good by the file, and is no network of an earlier run.
    fs::write(&kept.path, "5\n").unwrap();
    let error = NetworkFile::known(&network, &cache).unwrap_err().to_string();
    assert!(error.contains("it is no longer in the cache") && error.contains(&kept.sha256), "{error}");
    assert_eq!(NetworkFile::keep(Path::new("two.nnue"), &cwd, &cache).unwrap(), kept);
    assert_eq!(NetworkFile::keep(&kept.path, &cwd, &cache).unwrap(), kept);
    assert_eq!(fs::read_to_string(&kept.path).unwrap(), "2\n");
}
