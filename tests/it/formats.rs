//! Runs of many players: pairings, openings, reports, and the same games after an interruption.

use std::collections::BTreeMap;
use std::path::Path;

use crate::harness::{FAKE, Game, Ran, fake, games, pgn_tags, quintain, run, summary};

/// Plan of `players` scripted peers. The first ones have a material score; the earlier they come,
/// the less they resign.
fn plan(folder: &Path, players: usize, keys: &str) -> String {
    let mut text = format!("nodes = 1\nmax-plies = 24\nseed = 11\n{keys}\n");
    for player in 0..players {
        text += &format!(
            "[[players]]\nname = \"p{player}\"\nspec = \"'{FAKE}' -- --seed {player} --resigns {}\"\n",
            20 * player
        );
    }
    let path = folder.join("plan.toml");
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

const KEYS: &str = "resign = \"count=1,score=900\"\n";

#[track_caller]
fn play(code: i32, command: &str, plan: &str, out: &Path, more: &str) -> Ran {
    let out = out.display().to_string();
    let args: Vec<&str> = [command, plan, "--out", &out].into_iter().chain(more.split_whitespace()).collect();
    let ran = run(&args);
    assert_eq!(ran.code, Some(code), "{ran:?}");
    ran
}

/// Pairs by who met, and the openings they had in order.
fn met(games: &[Game]) -> BTreeMap<(u64, u64), Vec<u64>> {
    let mut met: BTreeMap<(u64, u64), Vec<u64>> = BTreeMap::new();
    for pair in games.chunks(2) {
        let [first, second] = pair else { panic!("half a pair: {pair:?}") };
        assert_eq!((first.white, first.black), (second.black, second.white), "{pair:?}");
        assert_eq!(first.opening, second.opening);
        let players = (first.white.min(first.black), first.white.max(first.black));
        met.entry(players).or_default().push(first.opening.0);
    }
    met
}

/// Two players and how often they met.
type Met = &'static [(u64, u64, usize)];

/// Keys, players, pairs, and how often who met.
const FORMATS: &[(&str, usize, usize, Met)] = &[
    ("pairs = 3", 3, 9, &[(0, 1, 3), (0, 2, 3), (1, 2, 3)]),
    ("pairs = 2\nformat = \"round-robin\"", 2, 2, &[(0, 1, 2)]),
    ("pairs = 2\nformat = \"gauntlet\"", 4, 6, &[(0, 1, 2), (0, 2, 2), (0, 3, 2)]),
    ("pairs = 1\nheroes = 2", 4, 4, &[(0, 2, 1), (0, 3, 1), (1, 2, 1), (1, 3, 1)]),
    ("pairs = 2\nformat = \"swiss\"\nrounds = 1", 5, 4, &[(0, 2, 2), (1, 3, 2)]),
];

#[test]
fn each_format_plays_who_is_to_meet() {
    for (keys, players, pairs, who) in FORMATS {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("run");
        let ran = play(0, "match", &plan(folder.path(), *players, &format!("{KEYS}{keys}")), &out, "-j 3");
        let games = games(&out);
        let met = met(&games);
        let times: Vec<_> = met.iter().map(|((a, b), openings)| (*a, *b, openings.len())).collect();
        assert_eq!(times, *who, "{keys}: {ran:?}");
        assert_eq!(games.len(), 2 * pairs, "{keys}");
        // Every encounter is played from the same openings.
        let openings: Vec<_> = met.values().collect();
        assert!(openings.windows(2).all(|two| two[0] == two[1]), "{keys}: {met:?}");
        check_told(&out, &games, &ran);
    }
}

/// Checks the games in summary, PGN and text.
#[track_caller]
fn check_told(out: &Path, games: &[Game], ran: &Ran) {
    let summary = summary(out);
    assert_eq!(summary["games"], games.len());
    assert!(summary["verdict"].is_null() && summary["llr"].is_null() && !out.join("llr.svg").exists());
    for (place, player) in summary["players"].as_array().unwrap().iter().enumerate() {
        let place = place as u64;
        let won = |game: &&Game| {
            (game.result == "1-0" && game.white == place) || (game.result == "0-1" && game.black == place)
        };
        let wins = games.iter().filter(won).count();
        let played = games.iter().filter(|game| game.white == place || game.black == place).count();
        assert_eq!((&player["wins"], &player["games"]), (&wins.into(), &played.into()), "{player}");
    }
    let pairs: u64 = summary["encounters"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|encounter| encounter["ptnml"].as_array().unwrap())
        .map(|count| count.as_u64().unwrap())
        .sum();
    assert_eq!(pairs as usize, games.len() / 2);
    assert_eq!(pgn_tags(out, "White"), games.iter().map(|game| format!("p{}", game.white)).collect::<Vec<_>>());
    // Elo is of two players; more have ratings.
    let is_duel = summary["players"].as_array().unwrap().len() == 2;
    assert_eq!((summary["elo"].is_null(), summary["score"].is_null()), (!is_duel, !is_duel), "{summary}");
    if !is_duel {
        assert!(ran.stdout.contains("rank  player"), "{ran:?}");
    }
}

#[test]
fn a_knockout_ends_with_one() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let plan = plan(folder.path(), 5, &format!("{KEYS}pairs = 1\nformat = \"knockout\""));
    let ran = play(0, "match", &plan, &out, "-j 2");
    let met = met(&games(&out));
    assert!(met.contains_key(&(3, 4)) && met.contains_key(&(1, 2)), "{met:?}");
    let winner = ran.stdout.lines().next().unwrap();
    assert!(winner.starts_with('p') && winner.ends_with(" wins the knockout"), "{winner}");
    assert_eq!(summary(&out)["outcome"], winner);
}

#[test]
fn a_broken_run_of_any_format_comes_to_the_same_games() {
    let formats = [
        "pairs = 3",
        "pairs = 2\nheroes = 2",
        "pairs = 2\nformat = \"swiss\"\nrounds = 3",
        "pairs = 1\nformat = \"knockout\"",
    ];
    for keys in formats {
        let folder = tempfile::tempdir().unwrap();
        let whole = folder.path().join("whole");
        play(0, "match", &plan(folder.path(), 5, &format!("{KEYS}{keys}")), &whole, "-j 3");
        let journal = std::fs::read_to_string(whole.join("games.jsonl")).unwrap();
        let lines: Vec<&str> = journal.split_inclusive('\n').collect();
        let expected = games(&whole);
        for kept in [1, 4, lines.len() / 2, lines.len() - 1] {
            let broken = folder.path().join(format!("broken-{kept}"));
            std::fs::create_dir_all(broken.join("stderr")).unwrap();
            for name in ["plan.toml", "stamp"] {
                std::fs::copy(whole.join(name), broken.join(name)).unwrap();
            }
            // And the beginning of a game that was being written.
            std::fs::write(broken.join("games.jsonl"), lines[..kept].concat() + "{\"v\":1,\"kind\":\"ga").unwrap();
            let ran = run(&["resume", &broken.display().to_string()]);
            assert_eq!(ran.code, Some(0), "{keys}, {kept} lines: {ran:?}");
            assert_eq!(games(&broken), expected, "{keys}, {kept} lines");
            let [found, whole] = [&broken, &whole].map(|dir| summary(dir));
            assert_eq!((&found["players"], &found["encounters"]), (&whole["players"], &whole["encounters"]), "{keys}");
        }
    }
}

#[test]
fn a_gauntlet_takes_heroes_and_field_from_flags_and_files() {
    let folder = tempfile::tempdir().unwrap();
    let field = plan(folder.path(), 2, "");
    let [hero, other] = ["--seed 7 --name hero", "--seed 8 --name other"].map(fake);
    let cases: [(&[&str], usize); 4] = [
        (&["--hero", &hero, "--vs", &other], 2),
        (&["--hero", &hero, "--sparring", &field], 3),
        (&["--hero", &hero, "--hero", &other, "--sparring", &field], 4),
        // The plan's first player is its hero unless it says otherwise.
        (&[&field], 2),
    ];
    for (number, (words, players)) in cases.iter().enumerate() {
        let out = folder.path().join(format!("run-{number}")).display().to_string();
        let common = ["gauntlet", "--out", &out, "--pairs", "1", "--nodes", "1", "--max-plies", "6", "-j", "1"];
        let args: Vec<&str> = common.iter().chain(*words).copied().collect();
        let ran = run(&args);
        assert_eq!(ran.code, Some(0), "{words:?}: {ran:?}");
        let summary = summary(Path::new(&out));
        assert_eq!(summary["players"].as_array().unwrap().len(), *players, "{words:?}");
        assert_eq!(summary["format"], "gauntlet");
    }
}

#[test]
fn what_cannot_be_played_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let [two, sprt] = [plan(folder.path(), 2, ""), folder.path().join("sprt.toml").display().to_string()];
    std::fs::write(&sprt, "bounds = [0, 5]\nnew = \"a\"\n").unwrap();
    let one = fake("--seed 1");
    let cases: &[(&[&str], &str)] = &[
        (&["match", &one], "1 player: a match needs at least two"),
        (&["match", &one, &one, "-j", "1", "--affinity", "65535,0"], "this process may not use CPU 65535"),
        (&["sprt", "-j", "1", "--affinity", "65534-65535"], "this process may not use CPU 65534"),
        (&["match", &two, "--book-plies", "8"], "a list of positions has no moves; leave out --book-plies"),
        (&["match", &two, "--nodes", "9", "--ponder"], "--ponder has no effect without a clock"),
        (&["race", &one, "--base", &one], "are the same program with the same settings"),
        (&["match"], "0 players: a match needs at least two"),
        (
            &["match", &two, "--format", "swis"],
            "--format: unknown format `swis`: use round-robin, gauntlet, swiss, knockout or pyramid",
        ),
        (&["match", &two, "--pairs", "0"], "--pairs 0 plays nothing"),
        (
            &["match", &two, "--nodes", "9", "--option", "UCI_Chess960=true"],
            "the option UCI_Chess960=true contradicts the games' rules; leave it out, or give --chess960",
        ),
        (&["match", &two, "--heroes", "2"], "2 heroes of 2 players: 1 to 1"),
        (&["match", &two, "--rounds", "2"], "only a Swiss has rounds"),
        (&["match", &two, "--format", "swiss", "--rounds", "0"], "--rounds 0: 1 to"),
        (&["match", &two, "--format", "knockout", "--heroes", "1"], "only a gauntlet has heroes"),
        (&["match", &sprt], "new: a match does not have this key"),
        (&["race", &sprt], "new: a race does not have this key; remove it, or play the plan with `quintain sprt`"),
        (&["sprt", &two], "players: a test does not have this key"),
        (&["match", &two, &sprt], "two plans"),
        (&["gauntlet", "--hero", &one], "no opponent; give --vs SPEC or --sparring FILE"),
        (&["gauntlet", "--hero", &one, "--sparring", &sprt], "no [[players]] in it"),
    ];
    for (args, expected) in cases {
        let ran = run(args);
        assert_eq!(ran.code, Some(2), "{args:?}: {ran:?}");
        assert!(ran.stderr.contains(expected), "{args:?}: {}", ran.stderr);
    }
}

#[test]
fn players_have_limits_and_options_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plan.toml");
    let text = format!(
        "tc = \"9+0.09\"\npairs = 1\nmax-plies = 2\n[[players]]\nspec = \"'{FAKE}'\"\nname = \"a\"\n\
         [[players]]\nspec = \"'{FAKE}'\"\ntc = \"3+0.03\"\n[[players]]\nspec = \"'{FAKE}'\"\nnodes = 5\n"
    );
    std::fs::write(&path, text).unwrap();
    let out = folder.path().join("run");
    play(0, "match", &path.display().to_string(), &out, "-j 1");
    let summary = summary(&out);
    let told: Vec<_> =
        summary["players"].as_array().unwrap().iter().map(|p| (p["name"].clone(), p["limit"].clone())).collect();
    let names = pgn_tags(&out, "White");
    assert_eq!(
        told.iter().map(|(_, limit)| limit.as_str().unwrap()).collect::<Vec<_>>(),
        ["9+0.09", "3+0.03", "nodes=5"]
    );
    // Two of one name are told apart.
    assert!(told[1].0 != told[2].0 && names.contains(&"a".to_owned()), "{told:?}");
    // Flags take precedence.
    for command in ["match", "gauntlet"] {
        let out = folder.path().join(command);
        play(0, command, &path.display().to_string(), &out, "-j 1 --nodes 7");
        let text = std::fs::read_to_string(out.join("plan.toml")).unwrap();
        let plan = quintain::plan::file::from_toml(&text).unwrap();
        let limits: Vec<_> = plan.players.iter().map(|player| player.limit.to_string()).collect();
        assert_eq!(limits, ["nodes=7"; 3], "{command}");
    }
}

#[test]
fn help_and_init_list_the_formats_of_the_table() {
    let names = quintain::tournament::formats::names();
    for args in [&["match", "--help"][..], &["init", "match", "-"]] {
        let ran = run(args);
        assert_eq!(ran.code, Some(0), "{args:?}: {ran:?}");
        assert!(ran.stdout.contains(&names), "{args:?}: no `{names}` in:\n{}", ran.stdout);
    }
}

/// The field of this repository: at least six programs, each an engine of the registry, with
/// options if it holds back.
#[test]
fn the_sparring_field_has_known_engines_of_several_strengths() {
    let read = |name: &str| -> toml::Table {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("configs").join(name);
        std::fs::read_to_string(path).unwrap().parse().unwrap()
    };
    let (field, registry) = (read("sparring.toml"), read("engines.toml"));
    let players = field["players"].as_array().unwrap();
    let text = |player: &toml::Value, key: &str| player.get(key).and_then(|value| value.as_str().map(str::to_owned));
    let names: std::collections::BTreeSet<_> =
        players.iter().map(|player| text(player, "name").or_else(|| text(player, "spec")).unwrap()).collect();
    let programs: std::collections::BTreeSet<_> = players.iter().map(|player| text(player, "spec").unwrap()).collect();
    assert!(programs.len() >= 6 && names.len() == players.len(), "{programs:?} {names:?}");
    for player in players {
        let spec = text(player, "spec").unwrap();
        assert!(registry["engines"].as_table().unwrap().contains_key(&spec), "{spec}");
        assert_eq!(player.get("options").is_some(), player.get("name").is_some(), "{player}");
    }
    // Another project gets them by a command, which overwrites nothing unasked.
    let folder = tempfile::tempdir().unwrap();
    let init = |more: &[&str]| -> Ran {
        quintain(&[&["init", "--sparring"], more].concat()).current_dir(folder.path()).output().unwrap().into()
    };
    let ran = init(&[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let engines: Ran = quintain(&["engines", "--json"]).current_dir(folder.path()).output().unwrap().into();
    let listed: serde_json::Value = serde_json::from_str(&engines.stdout).unwrap();
    assert!(listed.as_array().unwrap().len() >= programs.len(), "{engines:?}");
    let written = folder.path().join("configs/sparring.toml");
    assert_eq!(std::fs::read_to_string(&written).unwrap().parse::<toml::Table>().unwrap(), field);
    std::fs::write(&written, "# mine").unwrap();
    std::fs::remove_file(folder.path().join("configs/engines.toml")).unwrap();
    let ran = init(&[]);
    assert!(ran.code == Some(2) && ran.stderr.contains("configs/sparring.toml: exists already"), "{ran:?}");
    assert!(!folder.path().join("configs/engines.toml").exists());
    assert_eq!(init(&["--force"]).code, Some(0));
    assert_eq!(std::fs::read_to_string(&written).unwrap().parse::<toml::Table>().unwrap(), field);
}

/// In a project without them, a missing preset names the command that writes it.
#[test]
fn presets_are_written_into_any_project() {
    let folder = tempfile::tempdir().unwrap();
    let does = |words: &[&str]| -> Ran { quintain(words).current_dir(folder.path()).output().unwrap().into() };
    let files = ["sprt-stc", "sprt-ltc", "sprt-simplify"].map(|name| format!("configs/{name}.toml"));
    for file in &files {
        let missing = does(&["sprt", file]);
        assert!(missing.code == Some(2) && missing.stderr.contains("`quintain init --presets`"), "{missing:?}");
    }
    assert!(!does(&["sprt", "configs/other.toml"]).stderr.contains("--presets"));
    assert_eq!(does(&["init", "--presets"]).code, Some(0));
    for file in &files {
        let read = does(&["sprt", file, "--new", "/nonexistent/new", "--base", "/nonexistent/base"]);
        assert!(read.code == Some(2) && read.stderr.contains("/nonexistent/new"), "{read:?}");
    }
    let again = does(&["init", "--presets"]);
    assert!(again.code == Some(2) && again.stderr.contains("configs/sprt-stc.toml: exists already"), "{again:?}");
}
