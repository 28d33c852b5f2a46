//! `quintain rate` from outside: PGN and run directories in, a table or a document out.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use quintain::openings::Packing;
use serde_json::Value;

use crate::harness::{FAKE, Ran, fake, run, sprt};

const KEYS: [&str; 10] = [
    "players",
    "groups",
    "relative_to",
    "games",
    "pairs",
    "white_advantage",
    "white_advantage_error",
    "draw_rate",
    "draw_rate_error",
    "skipped_games",
];

/// A PGN file of games as `White Black result`, each in a round of its own and with moves of its
/// own.
fn pgn(folder: &Path, name: &str, games: &[(&str, &str, &str, u32)]) -> PathBuf {
    pgn_at(folder, name, "8+0.08", games)
}

/// The same at a time control.
fn pgn_at(folder: &Path, name: &str, time_control: &str, games: &[(&str, &str, &str, u32)]) -> PathBuf {
    let mut text = String::new();
    let mut round = 0u32;
    for (white, black, result, count) in games {
        for _ in 0..*count {
            round += 1;
            let tags = [
                ("Event", "e"),
                ("Round", &round.to_string()),
                ("White", white),
                ("Black", black),
                ("Result", result),
                ("TimeControl", time_control),
            ];
            for (tag, value) in tags {
                writeln!(text, "[{tag} \"{value}\"]").unwrap();
            }
            // Four digits of the round in base eight, as files.
            let moves: Vec<String> = (0..4)
                .map(|digit| {
                    format!("{}4", ["a", "b", "c", "d", "e", "f", "g", "h"][(round >> (3 * digit)) as usize % 8])
                })
                .collect();
            writeln!(text, "\n1. e4 {{a comment\n\n[Result \"*\"] }} e5 {} {result}\n", moves.join(" ")).unwrap();
        }
    }
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path
}

fn rate(inputs: &[&Path], more: &[&str]) -> Ran {
    let mut args = vec!["rate".to_owned()];
    args.extend(inputs.iter().map(|input| input.display().to_string()));
    args.extend(more.iter().map(|word| (*word).to_owned()));
    run(&args)
}

#[track_caller]
fn document(inputs: &[&Path], more: &[&str]) -> Value {
    let ran = rate(inputs, &[more, &["--json"]].concat());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    serde_json::from_str(&ran.stdout).unwrap()
}

#[track_caller]
fn player<'a>(document: &'a Value, name: &str) -> &'a Value {
    let players = document["players"].as_array().unwrap();
    players.iter().find(|player| player["name"] == name).unwrap_or_else(|| panic!("no {name} in {document}"))
}

#[track_caller]
fn near(value: &Value, wanted: f64, tolerance: f64) {
    let found = value.as_f64().unwrap_or_else(|| panic!("{value} is no number"));
    assert!((found - wanted).abs() <= tolerance, "{found}, not {wanted}");
}

#[test]
fn single_games_of_a_pgn() {
    let folder = tempfile::tempdir().unwrap();
    // With White even, with Black 35 %: rating difference and white advantage share it (see the
    // tests of stats::rating).
    let games = [
        ("A", "B", "1-0", 50),
        ("A", "B", "1/2-1/2", 100),
        ("A", "B", "0-1", 50),
        ("B", "A", "0-1", 20),
        ("B", "A", "1/2-1/2", 100),
        ("B", "A", "1-0", 80),
    ];
    let file = pgn(folder.path(), "games.pgn", &games);
    let found = document(&[&file], &["--anchor", "A=2000"]);
    let half = 200.0 * (0.65f64 / 0.35).log10();
    near(&player(&found, "B")["elo"], 2000.0 + half, 1e-6);
    near(&found["white_advantage"], half, 1e-6);
    near(&player(&found, "B")["score"], 0.575, 1e-12);
    near(&player(&found, "B")["draws"], 0.5, 1e-12);
    assert_eq!((&found["games"], &found["pairs"], &found["relative_to"]), (&400.into(), &0.into(), &"anchors".into()));
    let anchor = player(&found, "A");
    assert_eq!((&anchor["elo"], &anchor["elo_error"], &anchor["anchor"]), (&2000.0.into(), &0.0.into(), &true.into()));
    // The same file twice is the same evidence, and it is said.
    let twice = document(&[&file, &file], &["--anchor", "A=2000"]);
    assert_eq!((&twice["players"], &twice["games"]), (&found["players"], &found["games"]));
    assert_eq!((&twice["given_again"], &twice["repeated_games"]), (&400.into(), &0.into()));
    let ran = rate(&[&file, &file], &[]);
    assert!(ran.stderr.contains("left out: 400 games given again"), "{}", ran.stderr);
    // Without an anchor the pool's mean is 0.
    let pool = document(&[&file], &[]);
    near(&player(&pool, "B")["elo"], half / 2.0, 1e-6);
    near(&player(&pool, "A")["elo"], -half / 2.0, 1e-6);
}

/// Kings, rooks and a few pawns: nearly every game has castling or a promotion.
const ROOKS_AND_PAWNS: &str = "\
r3k2r/8/8/8/8/8/8/R3K2R w HAha - 0 1
1rk4r/p7/8/8/8/8/P7/1RK4R w HBhb - 0 1
r4k1r/7p/8/8/8/8/7P/R4K1R w HAha - 0 1
1r2k1r1/8/8/8/8/8/8/1R2K1R1 w GBgb - 0 1
";

/// A run's PGN adds nothing to the run.
#[test]
fn a_run_and_its_pgn_are_one_in_every_notation() {
    let folder = tempfile::tempdir().unwrap();
    let book = folder.path().join("b.epd");
    std::fs::write(&book, ROOKS_AND_PAWNS).unwrap();
    for variant in [String::new(), format!("--chess960 --book {}", book.display())] {
        for notation in ["san", "lan", "uci"] {
            let (dir, file) = (folder.path().join("run"), folder.path().join("games.pgn"));
            let (out, pgn) = (dir.display(), file.display());
            let (one, other) = (fake("--seed 1"), fake("--seed 2"));
            let more = format!(
                "--nodes 1 --pairs 4 --seed 3 -j 1 {variant} --out {out} --pgn {pgn} --pgn-notation {notation}"
            );
            let ran = run(&["match", &one, &other].into_iter().chain(more.split_whitespace()).collect::<Vec<_>>());
            assert_eq!(ran.code, Some(0), "{ran:?}");
            let found = document(&[&dir, &file], &[]);
            assert_eq!((&found["games"], &found["given_again"]), (&8.into(), &8.into()), "{variant} {notation}");
            std::fs::remove_dir_all(dir).unwrap();
            std::fs::remove_file(file).unwrap();
        }
    }
}

#[test]
fn a_comment_without_an_end_is_told_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let file = pgn(folder.path(), "games.pgn", &[("A", "B", "1-0", 9), ("B", "A", "1-0", 9)]);
    let text = std::fs::read_to_string(&file).unwrap();
    // Every game has a comment; that of the twelfth loses its end, and so do those after it.
    let at = text.match_indices('}').nth(11).unwrap().0;
    std::fs::write(&file, text[..at].to_owned() + &text[at..].replace('}', "")).unwrap();
    let line = text[..text[..at].rfind('{').unwrap()].lines().count();
    let told = format!("games.pgn:{line}: comment `{{` without `}}` at game 12: the rest of the file is not read");
    let ran = rate(&[&file], &[]);
    assert!(ran.code == Some(0) && ran.stderr.contains(&told), "{told}: {ran:?}");
    let ran = run(&["progress", &file.display().to_string()]);
    assert!(ran.stderr.contains(&told), "{told}: {ran:?}");
}

#[test]
fn the_document_has_its_keys_in_order_and_los_on_request() {
    let folder = tempfile::tempdir().unwrap();
    let games = [
        ("A", "B", "1-0", 6),
        ("B", "A", "1-0", 4),
        ("A", "B", "1/2-1/2", 3),
        ("C", "D", "1/2-1/2", 2),
        ("C", "A", "0-1", 2),
    ];
    let file = pgn(folder.path(), "games.pgn", &games);
    let text = rate(&[&file], &["--json"]).stdout;
    let places: Vec<_> = KEYS.iter().map(|key| text.find(&format!("\n  \"{key}\":"))).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{text}");
    assert!(!text.contains("\"los\""), "{text}");
    let found = document(&[&file], &["--los"]);
    let los = found["los"].as_array().unwrap();
    assert_eq!((los.len(), los[0].as_array().unwrap().len()), (4, 4));
    let at = |row: &str, column: &str| {
        let place = |name: &str| found["players"].as_array().unwrap().iter().position(|of| of["name"] == name).unwrap();
        los[place(row)][place(column)].clone()
    };
    near(&at("A", "B"), 1.0 - at("B", "A").as_f64().unwrap(), 1e-12);
    assert_eq!((at("A", "A"), at("A", "C")), (Value::Null, Value::Null));
}

#[test]
fn perfect_scores_and_separate_groups_are_said() {
    let folder = tempfile::tempdir().unwrap();
    let games = [
        ("A", "B", "1-0", 6),
        ("B", "A", "1-0", 4),
        ("A", "winner", "0-1", 3),
        ("loser", "B", "0-1", 3),
        ("x", "y", "1/2-1/2", 1),
    ];
    let file = pgn(folder.path(), "games.pgn", &games);
    let found = document(&[&file], &[]);
    let bound = |name: &str| player(&found, name)["bound"].as_str().unwrap().to_owned();
    assert_eq!(["A", "winner", "loser", "x"].map(bound), ["exact", "at_least", "at_most", "exact"]);
    assert_eq!(player(&found, "winner")["elo_hi"], Value::Null);
    let names = found["players"].as_array().unwrap().iter().map(|player| player["name"].as_str().unwrap());
    assert_eq!(names.collect::<Vec<_>>(), ["winner", "A", "B", "loser", "x", "y"]);
    assert_eq!((&found["groups"], &player(&found, "y")["group"]), (&2.into(), &2.into()));
    let ran = rate(&[&file], &["--los"]);
    assert_eq!(ran.code, Some(0));
    for words in [
        "> ",
        "< ",
        "lower for winner: no game tells how much stronger",
        "upper for loser: no game tells how much weaker",
        "No points join these",
    ] {
        assert!(ran.stdout.contains(words), "no `{words}` in {}", ran.stdout);
    }
    let text = ran.stdout.to_lowercase();
    assert!(!text.contains("nan") && !text.contains("inf") && !text.contains("-0.0"), "{text}");
}

#[test]
fn a_run_and_its_pgn_say_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    sprt(3, "--seed 1", "--seed 2", &dir, "--nodes 1 --max-plies 40 --max-pairs 12 -j 1");
    let (from_run, from_pgn) = (document(&[&dir], &[]), document(&[&dir.join("games.pgn")], &[]));
    assert_eq!((&from_run["games"], &from_run["pairs"]), (&24.into(), &12.into()));
    assert_eq!(from_run, from_pgn);
    // A run and its file together, in any order, are the run.
    let pgn = dir.join("games.pgn");
    for inputs in [[dir.as_path(), pgn.as_path()], [pgn.as_path(), dir.as_path()]] {
        let both = document(&inputs, &[]);
        assert_eq!((&both["players"], &both["given_again"]), (&from_run["players"], &24.into()));
    }
    assert_eq!(from_run["conditions"], serde_json::json!({"nodes=1": 24}));
}

#[test]
fn conditions_are_told_and_rated_apart() {
    let folder = tempfile::tempdir().unwrap();
    let slow = pgn(folder.path(), "slow.pgn", &[("A", "B", "1-0", 6), ("B", "A", "1-0", 2), ("A", "B", "1/2-1/2", 4)]);
    let games = [("A", "B", "0-1", 6), ("B", "A", "0-1", 2), ("C", "A", "1/2-1/2", 5)];
    let fast = pgn_at(folder.path(), "fast.pgn", "0.2+0.002", &games);
    let ran = rate(&[&slow, &fast], &[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let titles: Vec<&str> = ran.stdout.lines().filter(|line| ["8+0.08", "0.2+0.002"].contains(line)).collect();
    assert_eq!(titles, ["0.2+0.002", "8+0.08"], "{}", ran.stdout);
    assert!(
        ran.stderr.contains("2 conditions, rated separately; --at CONDITION rates one of them, --mix all together")
    );
    let apart = document(&[&slow, &fast], &[]);
    assert_eq!(apart["players"], Value::Null);
    let tables = apart["tables"].as_array().unwrap();
    for (table, file) in tables.iter().zip([&fast, &slow]) {
        assert_eq!(table["players"], document(&[file], &[])["players"]);
    }
    let one = document(&[&slow, &fast], &["--at", "8+0.08"]);
    assert_eq!((&one["players"], &one["games"]), (&tables[1]["players"], &12.into()));
    let mixed = document(&[&slow, &fast], &["--mix"]);
    assert_eq!((&mixed["games"], &mixed["tables"]), (&25.into(), &Value::Null));
    assert_eq!(mixed["conditions"], serde_json::json!({"0.2+0.002": 13, "8+0.08": 12}));
    let text = rate(&[&slow, &fast], &["--mix"]).stdout;
    assert!(text.contains("mixed: 0.2+0.002 (13 games), 8+0.08 (12 games)"), "{text}");
    let refused = rate(&[&slow, &fast], &["--at", "60+1"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("no games at this condition, but 13 games at `0.2+0.002`"), "{}", refused.stderr);
}

#[test]
fn a_game_repeated_move_for_move_is_no_new_evidence() {
    let folder = tempfile::tempdir().unwrap();
    let file = pgn_at(folder.path(), "games.pgn", "-", &[("A", "B", "1-0", 2), ("B", "A", "1-0", 1)]);
    let text = std::fs::read_to_string(&file).unwrap();
    // Other rounds do not make other games.
    std::fs::write(&file, text.clone() + &text.replace("[Round \"", "[Round \"9")).unwrap();
    let found = document(&[&file], &[]);
    let counts = ["games", "repeated_games", "given_again", "skipped_games"].map(|key| found[key].as_u64().unwrap());
    assert_eq!(counts, [3, 3, 0, 3]);
    let ran = rate(&[&file], &[]);
    assert!(ran.stderr.contains("3 games repeating one of the same file or run move for move"), "{}", ran.stderr);
}

#[test]
fn programs_are_known_by_their_hash() {
    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().join("other-engine");
    let mut bytes = std::fs::read(FAKE).unwrap();
    bytes.push(0);
    std::fs::copy(FAKE, &other).unwrap();
    std::fs::write(&other, bytes).unwrap();
    let play = |dir: &str, [new, base]: [&str; 2], program: &str, seed: u32| {
        let plan = folder.path().join(dir).with_extension("toml");
        let text = format!(
            "new = \"'{program}' -- --seed 1\"\nnew-name = \"{new}\"\nbase = \"'{FAKE}' -- --seed 2\"\nbase-name = \"{base}\"\n\
             nodes = 1\nmax-plies = 30\nmax-pairs = 4\nconcurrency = 1\nseed = {seed}\n"
        );
        std::fs::write(&plan, text).unwrap();
        let dir = folder.path().join(dir);
        let ran = run(&["sprt", &plan.display().to_string(), "--out", &dir.display().to_string()]);
        assert_eq!(ran.code, Some(3), "{ran:?}");
        dir
    };
    let runs = [
        play("a", ["x", "y"], FAKE, 1),
        play("b", ["z", "y"], FAKE, 2),
        play("c", ["x", "y"], other.to_str().unwrap(), 3),
    ];
    let runs: Vec<&Path> = runs.iter().map(PathBuf::as_path).collect();
    let found = document(&runs, &[]);
    assert_eq!(found["one_program"][0]["names"], serde_json::json!(["x", "z"]), "{found}");
    assert_eq!(found["one_program"].as_array().unwrap().len(), 1);
    assert_eq!((&found["one_name"][0]["name"], &found["one_name"][1]), (&"x".into(), &Value::Null));
    let ran = rate(&runs, &[]);
    assert!(ran.stderr.contains("`x` and `z` are one program (SHA-256 "), "{}", ran.stderr);
    assert!(ran.stderr.contains("`x` is 2 programs (SHA-256 "), "{}", ran.stderr);
    // One program and one name, with other arguments.
    let again = folder.path().join("again");
    std::fs::create_dir(&again).unwrap();
    let plan = again.join("d.toml");
    let text = format!(
        "new = \"'{FAKE}' -- --seed 7\"\nnew-name = \"x\"\nbase = \"'{FAKE}' -- --seed 2\"\nbase-name = \"y\"\n\
         nodes = 1\nmax-plies = 30\nmax-pairs = 4\nconcurrency = 1\nseed = 4\n"
    );
    std::fs::write(&plan, text).unwrap();
    let ran = run(&["sprt", &plan.display().to_string(), "--out", &again.join("d").display().to_string()]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    let settings = [runs[0], &again.join("d")];
    assert_eq!(document(&settings, &[])["one_name"][0]["settings"], 2);
    let ran = rate(&settings, &[]);
    assert!(ran.stderr.contains("`x` is one program with 2 sets of arguments and options"), "{}", ran.stderr);
    let alone = document(&runs[..1], &[]);
    assert_eq!((&alone["one_program"], &alone["one_name"]), (&serde_json::json!([]), &serde_json::json!([])));
}

/// Folders as `tune`, `bisect` and `book judge` leave them among the runs: a glob finds them all.
#[test]
fn among_runs_a_tuning_stands_for_its_proof_and_a_series_for_its_matches() {
    let folder = tempfile::tempdir().unwrap();
    let run_dir = folder.path().join("1-sprt");
    sprt(3, "--seed 1", "--seed 2", &run_dir, "--nodes 1 --max-plies 40 --max-pairs 4 -j 1");
    let copy = |name: &str| {
        let to = folder.path().join(name);
        std::fs::create_dir_all(&to).unwrap();
        for file in ["plan.toml", "games.jsonl"] {
            std::fs::copy(run_dir.join(file), to.join(file)).unwrap();
        }
        to
    };
    let proof = copy("2-tune/prove");
    copy("4-bisect/matches/0001-a-b");
    copy("5-judge/01-book/matches/0001-a-b");
    copy("5-judge/02-book/matches/0001-a-b");
    let [proven, unproven, search, judged] =
        ["2-tune", "3-tune", "4-bisect", "5-judge"].map(|name| folder.path().join(name));
    std::fs::create_dir(&unproven).unwrap();
    for tuning in [&proven, &unproven] {
        std::fs::write(tuning.join("tuning.toml"), "").unwrap();
    }
    let all: Vec<&Path> = [&run_dir, &proven, &unproven, &search, &judged].map(PathBuf::as_path).to_vec();
    let found = document(&all, &[]);
    // The copies of the run are the same games.
    assert_eq!((&found["games"], &found["given_again"]), (&8.into(), &32.into()), "{found}");
    let left_out = format!("warning: left out: {}: holds a tuning without a proof; ", unproven.display());
    let ran = rate(&all, &[]);
    assert_eq!(ran.stderr.matches(&left_out).count(), 1, "{ran:?}");
    assert_eq!(ran.stderr.matches("-tune").count(), 2, "its name and its remedy: {ran:?}");
    let mut args = ["progress", "--conditions"].map(str::to_owned).to_vec();
    args.extend(all.iter().map(|input| input.display().to_string()));
    let ran = run(&args);
    assert!(ran.code == Some(0) && ran.stdout.trim() == "8 games  nodes=1", "{ran:?}");
    assert!(ran.stderr.contains(&left_out), "{ran:?}");
    // Alone, each is refused with what to give.
    for (alone, words) in [
        (&proven, format!("no rating; give its proof, {}", proof.display())),
        (&unproven, "without --no-prove plays a proof".to_owned()),
        (&search, "holds a series of matches; give ".to_owned()),
        (&judged, "holds a series of matches; give ".to_owned()),
    ] {
        for command in ["rate", "progress"] {
            let ran = run(&[command.to_owned(), alone.display().to_string()]);
            assert!(ran.code == Some(2) && ran.stderr.contains(&words), "{command}: {words}: {ran:?}");
        }
    }
    assert_eq!(rate(&[&proof], &[]).code, Some(0));
}

/// Magic numbers tell, whatever the name.
#[test]
fn packed_games_are_unpacked() {
    let folder = tempfile::tempdir().unwrap();
    let plain = pgn(folder.path(), "games.pgn", &[("A", "B", "1-0", 20), ("B", "A", "1-0", 10)]);
    let bytes = std::fs::read(&plain).unwrap();
    let wanted = document(&[&plain], &[]);
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    let gzip = Packing::Gzip.pack(&bytes).unwrap();
    let zstd = Packing::Zstd.pack(&bytes).unwrap();
    for packed in [write("games.pgn.gz", &gzip), write("games.pgn.zst", &zstd), write("other.pgn", &gzip)] {
        assert_eq!(document(&[&packed], &[]), wanted, "{}", packed.display());
        let ran = run(&["progress".to_owned(), packed.display().to_string(), "--conditions".to_owned()]);
        assert!(ran.code == Some(0) && ran.stdout.trim() == "30 games  8+0.08", "{ran:?}");
    }
    let cut = write("cut.pgn.gz", &gzip[..gzip.len() - 10]);
    let other = write("games.zip", b"PK\x03\x04....");
    for (file, words) in [
        (cut, "cut.pgn.gz: cannot read it: it is a broken gzip archive: it ends too early; fetch or pack it again"),
        (other, "games.zip: cannot read it: it is a zip archive; unpack it first"),
    ] {
        for command in ["rate", "progress"] {
            let ran = run(&[command.to_owned(), file.display().to_string()]);
            assert!(ran.code == Some(2) && ran.stderr.contains(words), "{command}: {ran:?}");
        }
    }
}

#[test]
fn what_cannot_be_rated_is_one_line_and_exit_code_2() {
    let folder = tempfile::tempdir().unwrap();
    let file = pgn(folder.path(), "games.pgn", &[("A", "B", "1-0", 1), ("B", "A", "1-0", 1)]);
    let empty = pgn(folder.path(), "empty.pgn", &[("A", "A", "1-0", 1), ("A", "B", "*", 1)]);
    let check = |input: &Path, more: &[&str], words: &str| {
        let ran = rate(&[input], more);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{ran:?}");
        assert!(ran.stderr.contains(words), "no `{words}` in {}", ran.stderr);
    };
    check(&folder.path().join("none.pgn"), &[], "none.pgn: cannot open it; give a PGN file or a run directory");
    check(folder.path(), &[], "a run directory?");
    check(&empty, &[], "no finished games between two named players");
    check(&empty, &[], "warning: left out: 1 game without a result, 1 game of a player against itself");
    check(&file, &["--anchor", "C=1"], "no player `C` in these games, but `A`, `B`");
    check(&file, &["--anchor", "A"], "write NAME=ELO");
    check(&file, &["--anchor", "A=x"], "write NAME=ELO");
    check(&file, &["--anchor", "A=nan"], "write NAME=ELO");
    check(&file, &["--anchor", "A=1", "--anchor", "A=2"], "`A` is anchored twice");
}

#[test]
fn a_hostile_name_does_not_reach_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let file = pgn(folder.path(), "games.pgn", &[("a\u{1b}[2Jb", "B", "1-0", 1), ("B", "a\u{1b}[2Jb", "1-0", 1)]);
    let ran = rate(&[&file], &["--los"]);
    assert_eq!(ran.code, Some(0));
    assert!(ran.stdout.contains("\u{fffd}[2Jb") && !ran.stdout.contains('\u{1b}'), "{ran:?}");
}
