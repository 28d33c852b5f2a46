//! `quintain sprt` from the command line to the files it leaves, with scripted peers for engines.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Stdio;

use crate::harness::{
    FAKE, Game, Gate, Ran, check_summary, fake, games, in_shell, journal_lines, pgn_tags, quintain, run, sprt,
    sprt_args, summary, until,
};

/// Instant games: one node a move, sixty plies at most.
const QUICK: &str = "--nodes 1 --max-plies 60";

/// Rounds as the PGN has them: pair, then leg.
fn rounds(games: usize) -> Vec<String> {
    (0..games).map(|game| format!("{}.{}", game / 2 + 1, game % 2 + 1)).collect()
}

/// Checks that hold for every run: pairs with colours reversed, a PGN and a summary of exactly the
/// counted games. Returns these games.
#[track_caller]
fn check_run(dir: &Path) -> Vec<Game> {
    let mut games = games(dir);
    for pair in games.chunk_by(|a, b| a.number.div_ceil(2) == b.number.div_ceil(2)) {
        if let [first, second] = pair {
            assert_eq!((first.white, first.black), (second.black, second.white));
            assert_eq!(first.opening, second.opening);
        }
    }
    let summary = summary(dir);
    let counted = usize::try_from(summary["games"].as_u64().unwrap()).unwrap();
    assert_eq!(summary["not_counted_games"].as_u64().is_some_and(|rest| rest > 0), games.len() > counted);
    games.truncate(counted);
    assert!((1..).zip(&games).all(|(number, game)| game.number == number), "the counted games are a prefix");
    check_summary(&summary, &games);
    assert_eq!(pgn_tags(dir, "Round"), rounds(counted));
    assert_eq!(pgn_tags(dir, "Result"), games.iter().map(|game| game.result.clone()).collect::<Vec<_>>());
    let plies: Vec<_> =
        games.iter().map(|game| (game.opening.2.split_whitespace().count() + game.moves.len()).to_string()).collect();
    assert_eq!(pgn_tags(dir, "PlyCount"), plies);
    games
}

#[test]
fn a_run_leaves_its_files() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("deep/run");
    let ran = sprt(3, "--seed 1", "--seed 2", &dir, &format!("{QUICK} --max-pairs 8 --seed 7 -j 2 --json --name mine"));
    let counted = check_run(&dir);
    assert_eq!(counted.len(), 16);
    let printed: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(printed, summary(&dir));
    assert_eq!((&printed["verdict"], &printed["stopped_by"]), (&"continue".into(), &"out-of-pairs".into()));
    assert_eq!((&printed["name"], &printed["seed"], &printed["book"]), (&"mine".into(), &7.into(), &"builtin".into()));
    let mut files: Vec<_> =
        std::fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    files.sort();
    assert_eq!(
        files,
        ["games.jsonl", "games.pgn", "llr.svg", "plan.toml", "report.html", "stamp", "stderr", "summary.json"]
    );
    assert_eq!(pgn_tags(&dir, "Event"), vec!["mine"; 16]);
    let white = pgn_tags(&dir, "White");
    assert_eq!(white[..2], ["fake_engine-new", "fake_engine-base"], "two players of one name are told apart");
    assert!(!ran.stderr.contains("warning"), "{}", ran.stderr);
    assert!(std::fs::read_dir(folder.path().join("deep")).unwrap().count() == 1, "nothing beside the run");
}

#[test]
fn a_seed_means_the_same_games() {
    let folder = tempfile::tempdir().unwrap();
    let play = |name: &str, more: &str| {
        let dir = folder.path().join(name);
        sprt(3, "--seed 1", "--seed 2", &dir, &format!("{QUICK} --max-pairs 6 {more}"));
        check_run(&dir)
    };
    let games = play("a", "--seed 5 -j 1");
    assert_eq!(play("b", "--seed 5 -j 1"), games);
    assert_eq!(play("c", "--seed 5 -j 3 --restart"), games);
    let openings = |games: &[Game]| games.iter().map(|game| game.opening.clone()).collect::<BTreeSet<_>>();
    assert_eq!(openings(&games).len(), 6);
    assert!(openings(&play("d", "--seed 6 -j 2")).is_disjoint(&openings(&games)));
}

#[test]
fn a_book_is_played_once_a_lap() {
    let folder = tempfile::tempdir().unwrap();
    let epd = folder.path().join("book.epd");
    std::fs::write(
        &epd,
        "# three openings\nrnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1\n\
         rnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR b KQkq - id \"d4\";\n\
         rnbqkbnr/pppppppp/8/8/2P5/8/PP1PPPPP/RNBQKBNR b KQkq -\n",
    )
    .unwrap();
    let pgn = folder.path().join("book.pgn");
    let game = |moves: &str| format!("[Event \"?\"]\n[Result \"*\"]\n\n{moves} *\n\n");
    std::fs::write(&pgn, [game("1. e4 e5 2. Nf3 Nc6"), game("1. d4 d5 2. c4 e6"), game("1. c4 c5 2. g3 g6")].concat())
        .unwrap();
    // The peers play an opening the same way each time, so the second lap, played under a clock,
    // adds no weight.
    for (book, order, plies) in [(&epd, "random", 0), (&pgn, "random --book-plies 3", 3), (&pgn, "sequential", 4)] {
        let dir = folder.path().join(format!("run-{plies}"));
        let rules = "--tc 1000 --max-plies 60 --max-pairs 6 --seed 3 -j 2 --force-concurrency";
        sprt(3, "--seed 1", "--seed 2", &dir, &format!("{rules} --book {} --book-order {order}", book.display()));
        let games = games(&dir);
        let summary = summary(&dir);
        assert_eq!((&summary["pairs"], &summary["repeated_pairs"]), (&6.into(), &0.into()), "{order}");
        assert!(summary["design_effect"].as_f64().unwrap() >= 2.0, "{order}: {summary}");
        assert_eq!((games.len(), &summary["stopped_by"]), (12, &"out-of-pairs".into()), "{order}");
        let openings: Vec<_> = games.iter().step_by(2).map(|game| game.opening.0).collect();
        for lap in openings.chunks(3) {
            assert_eq!(lap.iter().collect::<BTreeSet<_>>(), BTreeSet::from([&0, &1, &2]), "{order}");
        }
        assert!(order != "sequential" || openings == [0, 1, 2, 0, 1, 2]);
        assert!(games.iter().all(|game| game.opening.2.split_whitespace().count() == plies), "{order}");
        // A game at two plies with 1. e4 on the board starts with Black.
        assert_eq!(pgn_tags(&dir, "FEN").len(), if plies == 0 { 12 } else { 0 });
    }
}

/// Plays until a verdict where one side always loses.
#[track_caller]
fn check_verdict(new: &str, base: &str, rule: &str, code: i32, verdict: &str) {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    let more = format!("--bounds 0,200 --model logistic --max-failures 1000 --max-pairs 200 --seed 2 -j 3 {rule}");
    let ran = sprt(code, new, base, &dir, &format!("{QUICK} {more}"));
    let counted = check_run(&dir);
    let points = if verdict == "H1" { 2 } else { 0 };
    assert!(counted.iter().all(|game| game.score() == points), "{new}, {base}");
    assert!(ran.stdout.starts_with(&format!("{verdict} accepted")), "{}", ran.stdout);
    let summary = summary(&dir);
    assert_eq!((&summary["verdict"], &summary["stopped_by"]), (&verdict.into(), &"verdict".into()));
    let (llr, lower, upper) = (&summary["llr"], &summary["llr_lower"], &summary["llr_upper"]);
    let [llr, lower, upper] = [llr, lower, upper].map(|value| value.as_f64().unwrap());
    assert!(if verdict == "H1" { llr >= upper } else { llr <= lower }, "{llr} ({lower}, {upper})");
    assert!(counted.len() < 400, "it stopped at the verdict");
}

#[test]
fn a_side_that_always_loses_brings_a_verdict() {
    let resign = "--resign count=3,score=600";
    check_verdict("--resigns 100", "--seed 2", resign, 1, "H0");
    check_verdict("--seed 1", "--resigns 100", resign, 0, "H1");
    check_verdict("--seed 1 --fault illegal", "--seed 2", "", 1, "H0");
    check_verdict("--seed 1", "--seed 2 --fault illegal", "", 0, "H1");
}

/// A test with both bounds on one side of 0 shows no strength on the other.
#[test]
fn a_verdict_claims_no_strength_that_its_bounds_do_not_show() {
    let resign = "--resign count=3,score=600";
    for (new, base, bounds, code, words) in [
        (
            "--seed 1",
            "--resigns 100",
            "-200,0",
            0,
            "H1 accepted: new loses less than 200 Elo to base (0 rather than -200)",
        ),
        (
            "--resigns 100",
            "--seed 2",
            "-200,0",
            1,
            "H0 accepted: new is not stronger than base (-200 Elo rather than 0)",
        ),
        (
            "--resigns 100",
            "--seed 2",
            "5,200",
            1,
            "H0 accepted: new gains less than 200 Elo on base (5 rather than 200)",
        ),
        ("--seed 1", "--resigns 100", "5,200", 0, "H1 accepted: new is stronger than base (200 Elo rather than 5)"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let more = format!(
            "--new-name new --base-name base --bounds={bounds} --model logistic --max-pairs 200 --seed 2 -j 3 {resign}"
        );
        let ran = sprt(code, new, base, &folder.path().join("run"), &format!("{QUICK} {more}"));
        assert!(ran.stdout.starts_with(words), "{words}: {}", ran.stdout);
    }
}

/// One pair, lost twice by the side with the fault; `count` is the summary's word for it.
#[track_caller]
fn check_loser(fault: &str, more: &str, termination: &str, count: &str) {
    for (loser, new, base) in [(0, fault, "--seed 2"), (1, "--seed 1", fault)] {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().join("run");
        // Only the side with the fault is short of time: the other one must not lose by a busy
        // machine.
        let more = more.replace("SIDE", if loser == 0 { "new" } else { "base" });
        let more = more.replace("OTHER", if loser == 0 { "base" } else { "new" });
        sprt(3, new, base, &dir, &format!("--max-plies 60 --max-pairs 1 --seed 1 -j 1 {more}"));
        let counted = check_run(&dir);
        for game in &counted {
            assert_eq!(game.termination, termination, "{fault}");
            assert_eq!(game.score(), if loser == 0 { 0 } else { 2 }, "{fault}");
        }
        let players = &summary(&dir)["players"];
        assert_eq!((&players[loser][count], &players[1 - loser][count]), (&2.into(), &0.into()), "{fault}");
        for game in 1..=2 {
            let crash = dir.join(format!("crashes/game-{game}"));
            let transcript = std::fs::read_to_string(crash.join("transcript.txt")).unwrap();
            assert!(transcript.contains("> ucinewgame") && transcript.contains("> go "), "{fault}: {transcript}");
            let about = std::fs::read_to_string(crash.join("about.txt")).unwrap();
            assert!(about.contains(&format!("termination: {termination}\n")), "{about}");
            let name = ["fake_engine-new", "fake_engine-base"][loser];
            assert!(about.contains(&format!("engine: {name}\n")), "{about}");
        }
    }
}

#[test]
fn the_side_at_fault_loses() {
    let nodes = "--nodes 1";
    check_loser("--fault illegal", nodes, "illegal-move", "illegal_moves");
    check_loser("--fault none@1", nodes, "illegal-move", "illegal_moves");
    check_loser("--fault exit-in-search", nodes, "crash", "crashes");
    check_loser("--fault abort@2", nodes, "crash", "crashes");
    check_loser("--fault hang", "--nodes 1 --stall-timeout 2", "stall", "stalls");
    check_loser("--sleep-us 60000", "--SIDE-tc 0.02 --OTHER-tc 1000", "time-forfeit", "time_losses");
}

/// An engine that sleeps past its time was not kept from its CPU, so its loss stands.
#[test]
fn a_loss_by_the_engines_own_doing_is_not_void() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    let more = "--new-tc 0.02 --base-tc 1000 --max-plies 60 --max-pairs 1 --seed 1 -j 1 --void-disturbed";
    // Far longer than a busy machine keeps a process from its CPU.
    sprt(3, "--sleep-us 4000000", "--seed 2", &dir, more);
    for game in check_run(&dir) {
        assert_eq!((game.termination.as_str(), game.score()), ("time-forfeit", 0));
    }
    assert_eq!(summary(&dir)["voided_pairs"], 0);
    let about = std::fs::read_to_string(dir.join("crashes/game-1/about.txt")).unwrap();
    assert!(about.contains("allowed: 30ms\nanswered: never") && about.contains("\nmachine: "), "{about}");
}

/// A run of `pairs` whose `new` loses each game on time by its own doing.
#[track_caller]
fn lose_on_time(dir: &Path, pairs: u64, code: i32, more: &str) -> Ran {
    let more = format!("--new-tc 0.02 --base-tc 1000 --max-plies 4 --seed 1 -j 1 --max-pairs {pairs} {more}");
    sprt(code, "--sleep-us 100000", "--seed 2", dir, &more)
}

/// On a busy machine the waits for a CPU may cover some of the losses, so nothing here depends on
/// whose doing they are.
#[test]
fn many_time_losses_are_told_of_together_and_stop_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    let ran = lose_on_time(&dir, 40, 4, "");
    // Over a tenth of a hundred games; one more may have begun before the stop came.
    let lost = games(&dir).len();
    assert!((11..=12).contains(&lost), "{ran:?}");
    let one_by_one = ran.stderr.lines().filter(|line| line.contains(": time-forfeit")).count();
    assert_eq!(one_by_one, 4, "{ran:?}");
    let alarms: Vec<_> = ran.stderr.lines().filter(|line| line.contains(" games lost on time ")).collect();
    assert_eq!(alarms.len(), 2, "at the fifth and at the tenth: {ran:?}");
    for words in ["warning: 5 of 5 games lost on time (100 %), ", "; what helps: ", "a larger --margin-ms"] {
        assert!(alarms[0].contains(words), "{ran:?}");
    }
    let why = "aborted: more games lost on time than --max-time-losses 10% allows";
    assert!(ran.stdout.starts_with(&format!("{why}: {lost} of {lost} games lost on time")), "{ran:?}");
    let next = ran.stdout.lines().find(|line| line.starts_with("continue with: quintain resume "));
    assert!(next.is_some_and(|line| line.ends_with(" --max-time-losses 100%")), "{ran:?}");
    let stopped = summary(&dir);
    assert_eq!(stopped["stopped_by"], "too-many-time-losses");
    let losses = &stopped["time_losses"];
    assert_eq!((&losses["finished_games"], &losses["finished_lost"]), (&lost.into(), &lost.into()), "{losses}");
    assert_eq!(losses["lost"], lost / 2 * 2, "{losses}");
    // The same limit stops it again at once; a higher one goes on.
    let resume = |more: &[&str]| run(&[&["resume", &dir.display().to_string()], more].concat());
    assert_eq!((resume(&[]).code, games(&dir).len()), (Some(4), lost));
    assert_eq!(resume(&["--max-time-losses", "14%"]).code, Some(4));
    assert!((15..=16).contains(&games(&dir).len()));
    let ran = resume(&["--max-time-losses", "100%"]);
    assert_eq!((ran.code, games(&dir).len()), (Some(3), 80), "{ran:?}");
    let stamp = "100 % of games lost on time, ";
    assert!(ran.stdout.starts_with(&format!("inconclusive: out of pairs; {stamp}")), "{ran:?}");
    assert!(std::fs::read_to_string(dir.join("report.html")).unwrap().contains(stamp), "{ran:?}");
    let report = run(&["report", &dir.display().to_string(), "--format", "md"]);
    assert!(report.stdout.contains(" of 80 with evidence against the host"), "{report:?}");
}

#[test]
fn the_limit_on_time_losses_is_a_share() {
    let folder = tempfile::tempdir().unwrap();
    // One more game than the limit stops at may have begun before the stop came.
    for (limit, most, code) in [("0%", 2, 4), ("2%", 4, 4), ("4", 6, 4), ("100%", 8, 3)] {
        let dir = folder.path().join(limit);
        let ran = lose_on_time(&dir, 4, code, &format!("--max-time-losses {limit}"));
        let played = games(&dir).len();
        assert!(played == most || code == 4 && played == most - 1, "{limit}: {played}: {ran:?}");
    }
    let plan = std::fs::read_to_string(folder.path().join("2%/plan.toml")).unwrap();
    assert!(plan.contains("max_time_losses = 2.0\n"), "{plan}");
}

/// Each game is stopped at the second move of `new`, for three seconds: a pair is void three times
/// under a clock, late or not, and then counts.
#[cfg(target_os = "linux")]
#[test]
fn a_game_in_which_the_harness_was_stopped_is_void() {
    let rows = [
        ("--new-tc 2 --base-tc 1000", 3, "time-forfeit"),
        ("--new-tc 1000 --base-tc 1000", 3, "max-plies-adjudication"),
        ("--nodes 1", 0, "max-plies-adjudication"),
        ("--nodes 1 --stall-timeout 2", 3, "stall"),
    ];
    std::thread::scope(|scope| {
        for (limit, voided, termination) in rows {
            scope.spawn(move || {
                let folder = tempfile::tempdir().unwrap();
                let dir = folder.path().join("run");
                let more = format!("{limit} --max-plies 4 --max-pairs 1 --seed 1 -j 1");
                let ran = sprt(3, "--fault stop-harness@2", "--seed 2", &dir, &more);
                assert_eq!(summary(&dir)["voided_pairs"], voided, "{limit}: {ran:?}");
                let said = ran.stderr.lines().filter(|line| line.contains("its pair is played again")).count();
                assert_eq!(said, voided, "{limit}: {ran:?}");
                let journal = std::fs::read_to_string(dir.join("games.jsonl")).unwrap();
                let counted = journal.lines().filter(|line| line.contains("\"kind\":\"game\""));
                let ended = format!("\"termination\":\"{termination}\"");
                assert_eq!(counted.filter(|line| line.contains(&ended)).count(), 2, "{limit}: {journal}");
            });
        }
    });
}

#[test]
fn too_many_failures_stop_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    let ran = sprt(
        4,
        "--fault abort",
        "--seed 2",
        &dir,
        &format!("{QUICK} --max-pairs 50 --seed 1 -j 2 --max-failures 2 --json"),
    );
    check_run(&dir);
    let summary: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(summary["stopped_by"], "too-many-failures");
    assert!(games(&dir).len() < 20);
    assert!(ran.stderr.contains("crash"), "{}", ran.stderr);
    // The stderr of the engines is kept with the run.
    assert!(dir.join("stderr").is_dir());
}

/// Each game is played to its end, and each time the process goes away after it.
#[test]
fn an_engine_that_goes_away_after_each_game_stops_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    let more = "--nodes 1 --max-plies 8 --max-pairs 50 --seed 1 -j 1 --max-failures 3";
    let ran = sprt(4, "--fault exit-after-bestmove", "--seed 2", &dir, more);
    assert!((4..20).contains(&games(&dir).len()), "{ran:?}");
    assert!(games(&dir).iter().all(|game| game.termination == "max-plies-adjudication"));
    assert_eq!(summary(&dir)["stopped_by"], "too-many-failures");
    // No game has these failures, so later readers know their number from the summary.
    assert!(ran.stdout.starts_with("aborted: ") && !ran.stdout.starts_with("aborted: 0 "), "{ran:?}");
    assert_eq!(run(&["watch", &dir.display().to_string()]).stdout, ran.stdout);
}

/// CPUs that a process may use, as the kernel writes them.
#[cfg(target_os = "linux")]
fn cpus_of(process: &Path) -> Option<String> {
    let status = std::fs::read_to_string(process.join("status")).ok()?;
    Some(status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?.trim().to_owned())
}

#[cfg(target_os = "linux")]
#[test]
fn both_engines_of_a_slot_have_its_cpu() {
    use rustix::thread::{CpuSet, sched_getaffinity};
    let allowed = sched_getaffinity(None).unwrap();
    let cpus = (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu)).map(|cpu| cpu.to_string());
    let cpus: Vec<String> = cpus.take(2).collect();
    let [one, other] = &cpus[..] else {
        return crate::skip::skip("both_engines_of_a_slot_have_its_cpu", "this process may use one CPU only");
    };
    let folder = tempfile::tempdir().unwrap();
    let gate = Gate::new(folder.path(), 2);
    let dir = folder.path().join("run");
    let [new, base] = [1, 2].map(|seed| format!("--seed {seed} {}", gate.words()));
    let more = format!("--nodes 1 --max-plies 8 --max-pairs 2 --seed 1 -j 2 --affinity={one},{other}");
    let args = sprt_args(&new, &base, &dir, &format!("{more} --stall-timeout 3600"));
    let mut child = quintain(&args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    // Both slots hold in their second games.
    until("the second games", || journal_lines(&dir) == 3 || child.try_wait().unwrap().is_some());
    let marker = gate.words();
    let mut found: Vec<(String, &str)> = std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| {
            let process = entry.ok()?.path();
            let line = std::fs::read(process.join("cmdline")).ok()?;
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            let seed = line.strip_prefix(FAKE)?.strip_suffix(' ')?.strip_suffix(&marker)?.trim();
            Some((cpus_of(&process)?, if seed.ends_with('1') { "new" } else { "base" }))
        })
        .collect();
    gate.open();
    assert_eq!(child.wait().unwrap().code(), Some(3));
    let mut expected: Vec<_> = cpus.iter().flat_map(|cpu| ["new", "base"].map(|side| (cpu.clone(), side))).collect();
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
}

#[test]
fn the_same_program_twice_is_refused_unless_it_is_wanted() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    let out = dir.display().to_string();
    let both = fake("--seed 1");
    let mut args = vec!["sprt", "--new", &both, "--base", &both, "--nodes", "1", "--max-pairs", "1", "--out", &out];
    let refused = run(&args);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("are the same program") && refused.stderr.contains("--allow-same"), "{refused:?}");
    assert!(!dir.exists());
    // A clock of its own is another player.
    args.extend(["--base-tc", "1+0.01", "--max-plies", "2", "-j", "1"]);
    assert_eq!(run(&args).code, Some(3));
}

#[test]
fn the_same_program_twice_is_warned_about() {
    let folder = tempfile::tempdir().unwrap();
    let words = "are the same program with the same settings; their games can only measure noise";
    for (new, base, more, warns) in [
        ("--seed 1", "--seed 1", "", true),
        ("--seed 1", "--seed 2", "", false),
        ("--seed 1", "--seed 1", "--new-option Hash=32", false),
    ] {
        let dir = folder.path().join(format!("{base}{more}").replace(' ', "-"));
        let ran = sprt(3, new, base, &dir, &format!("{QUICK} --max-pairs 1 {more}"));
        assert_eq!(ran.stderr.contains(words), warns, "{more}: {}", ran.stderr);
        std::fs::remove_dir_all(dir).unwrap();
    }
}

/// One program with two settings: who reads the games can tell its players by the names that they
/// were given.
#[test]
fn both_sides_can_be_given_names() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    let ran =
        sprt(3, "--seed 1", "--seed 1", &dir, &format!("{QUICK} --max-pairs 1 --new-name wide --base-name narrow"));
    assert!(ran.stderr.contains("wide against narrow"), "{}", ran.stderr);
    let summary = summary(&dir);
    let names: Vec<_> = (0..2).map(|place| summary["players"][place]["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["wide", "narrow"]);
    let pgn = std::fs::read_to_string(dir.join("games.pgn")).unwrap();
    assert_eq!((pgn.matches("[White \"wide\"]").count(), pgn.matches("[White \"narrow\"]").count()), (1, 1));
}

/// A plan file's keys stand for flags, and flags win.
#[test]
fn a_plan_file_does_what_its_flags_would() {
    let folder = tempfile::tempdir().unwrap();
    let [plan, dir, other] = ["plan.toml", "run", "other"].map(|name| folder.path().join(name));
    let text = format!(
        "new = {:?}\nbase = {:?}\nnodes = 1\nmax-plies = 60\nmax-pairs = 9\nseed = 5\nconcurrency = 2\nout = {:?}\n",
        fake("--seed 1"),
        fake("--seed 2"),
        dir.display().to_string()
    );
    std::fs::write(&plan, text).unwrap();
    let ran = run(&["sprt", &plan.display().to_string(), "--max-pairs", "3"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    sprt(3, "--seed 1", "--seed 2", &other, &format!("{QUICK} --max-pairs 3 --seed 5"));
    assert_eq!(check_run(&dir), check_run(&other));
    assert!(std::fs::read_to_string(dir.join("plan.toml")).unwrap().contains(FAKE));
}

/// Settings of a calibration whose time was enough for a game in each. On a busy machine the time
/// may be over before an engine has started, so it is made longer then.
fn calibrated(engine: &str) -> Vec<serde_json::Value> {
    for time in ["1s", "20s", "200s"] {
        let ran =
            run(&["calibrate", engine, "--tc", "1000+1,2000", "-j", "2,1", "--time", time, "--seed", "1", "--json"]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let told: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        let settings = told["settings"].as_array().unwrap();
        if settings.iter().all(|cell| cell["figures"]["games"].as_u64().unwrap() > 0) {
            return settings.clone();
        }
    }
    panic!("no game began within 200 s");
}

#[test]
fn a_machine_is_calibrated_with_an_engine_against_itself() {
    let ran = run(&["calibrate", &fake("--sleep-us 100"), "--tc", "10+0.1,movetime", "-j", "1"]);
    assert_eq!((ran.code, ran.stderr.lines().count()), (Some(2), 1), "{ran:?}");
    assert!(ran.stderr.starts_with("error: --tc `movetime`: "), "{ran:?}");
    let ran = run(&["calibrate", &fake(""), "--tc", "10+0.1", "--affinity", "65535"]);
    assert!(ran.code == Some(2) && ran.stderr.contains("this process may not use CPU 65535"), "{ran:?}");
    let settings = calibrated(&fake("--sleep-us 100"));
    let order: Vec<_> =
        settings.iter().map(|cell| (cell["tc"].as_str().unwrap(), cell["concurrency"].as_u64().unwrap())).collect();
    assert_eq!(order, [("1000+1", 1), ("1000+1", 2), ("2000", 1), ("2000", 2)]);
    for cell in &settings {
        assert_eq!(cell["figures"]["time_losses"], 0, "{cell}");
        // Where the system tells, it tells of every move.
        assert!(cell["figures"]["moves"] == 0 || cell["figures"]["wait_share"].as_f64().is_some(), "{cell}");
    }
}

#[test]
fn a_calibration_that_failures_end_prints_what_is_finished() {
    let engine = fake("--fault exit-in-search@3");
    let ran = run(&["calibrate", &engine, "--tc", "1000+1", "-j", "1", "--time", "8h", "--json"]);
    assert_eq!(ran.code, Some(4), "{ran:?}");
    // The first failure ends it: nothing tells whether the machine is its cause.
    for part in ["ended by the engine's failure, ", "crash: exit status 3; ", "with `quintain check "] {
        assert!(ran.stderr.contains(part), "{part}: {ran:?}");
    }
    assert!(ran.stderr.contains(&format!("error: `{engine}`: ")), "{ran:?}");
    let document: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(document["settings"], serde_json::json!([]));
}

/// 20 MB a move, over a gigabyte in all, in an address space of half of that.
#[cfg(target_os = "linux")]
#[test]
fn what_engines_say_is_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    // Not in the trial search, which has a minute at the most.
    let rules = "--nodes 1 --max-plies 60 --max-pairs 1 -j 1 --seed 1 --stall-timeout 600";
    let args = sprt_args("--seed 1 --fault flood@2", "--seed 2", &dir, rules);
    let output = in_shell("ulimit -v 524288 && exec \"$@\"", &args).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(check_run(&dir).iter().map(|game| game.moves.len()).sum::<usize>(), 120);
}
