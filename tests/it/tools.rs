//! The commands around a run: questions to its games, the registry, plans to start from,
//! completions and manual pages.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use quintain::journal::Journal;
use quintain::settings::RawPlan;
use quintain::source::Registry;
use serde_json::Value;

#[cfg(unix)]
use crate::harness::git;
use crate::harness::{FAKE, Game, Ran, fake, games, in_shell, quintain, run};

/// A run of three players, one of whom plays an illegal move in each of its games.
struct Played {
    folder: tempfile::TempDir,
    dir: String,
    games: Vec<Game>,
}

const NAMES: [&str; 3] = ["alpha", "beta two", "gamma"];

fn player(name: &str, args: &str) -> String {
    format!("[[players]]\nname = {name:?}\nspec = {:?}\n", fake(args))
}

impl Played {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let [plan, dir] = ["plan.toml", "run"].map(|name| folder.path().join(name).display().to_string());
        let mut text = format!(
            "pairs = 2\nnodes = 1\nmax-plies = 40\nseed = 5\nconcurrency = 1\nmax-failures = 100\nout = {dir:?}\nname = \"three\"\n"
        );
        for (name, args) in NAMES.into_iter().zip([
            "--seed 1 --name Alpha --info 1",
            "--seed 2 --score 900",
            "--seed 3 --fault illegal@9",
        ]) {
            text.push_str(&player(name, args));
        }
        fs::write(&plan, text).unwrap();
        let ran = run(&["match", &plan]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let games = games(Path::new(&dir));
        assert_eq!(games.len(), 12);
        Self { folder, dir, games }
    }

    fn ask(&self, words: &[&str]) -> Ran {
        let mut args = vec!["games", self.dir.as_str()];
        args.extend(words);
        run(&args)
    }

    /// Checks that `words` select just the games for which `holds`, in any form of output.
    #[track_caller]
    fn check(&self, words: &[&str], holds: impl Fn(&Game) -> bool) {
        let want: Vec<_> = self.games.iter().filter(|game| holds(game)).map(|game| game.number).collect();
        let with = |more: &str| {
            let mut words = words.to_vec();
            words.push(more);
            let ran = self.ask(&words);
            assert_eq!(ran.code, Some(0), "{words:?}: {ran:?}");
            assert_eq!(ran.stderr.is_empty(), !want.is_empty() || more == "--count", "{words:?}: {ran:?}");
            ran.stdout
        };
        assert_eq!(with("--count"), format!("{}\n", want.len()), "{words:?}");
        let told: Vec<_> = lines(&with("--json")).iter().map(|line| line["game"].as_u64().unwrap()).collect();
        assert_eq!(told, want, "{words:?}");
        assert_eq!(with("--pgn").matches("[Event ").count(), want.len(), "{words:?}");
        let table = self.ask(words).stdout;
        let rows: Vec<u64> =
            table.lines().skip(1).map(|row| row.split_whitespace().next().unwrap().parse().unwrap()).collect();
        assert_eq!(rows, want, "{words:?}");
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(Path::new(&self.dir).join(name)).unwrap()
    }
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A journal's line from its content, which has no checksum yet.
fn sealed(mut value: Value) -> String {
    value.as_object_mut().unwrap().remove("crc");
    let body = value.to_string();
    let body = &body[..body.len() - 1];
    format!("{body},\"crc\":\"{:08x}\"}}\n", crc32fast::hash(body.as_bytes()))
}

#[test]
fn games_are_chosen_by_what_they_were() {
    let played = Played::new();
    let names = |game: &Game| [NAMES[game.white as usize], NAMES[game.black as usize]];
    let won = |game: &Game, name: &str| {
        let side = names(game).iter().position(|other| *other == name);
        matches!((game.result.as_str(), side), ("1-0", Some(0)) | ("0-1", Some(1)))
    };
    let illegal = |game: &Game| game.termination == "illegal-move";
    assert!(played.games.iter().any(illegal) && !played.games.iter().all(illegal));
    let drawn = |game: &Game| game.result == "1/2-1/2";
    played.check(&[], |_| true);
    played.check(&["--termination", "illegal-move"], illegal);
    played.check(&["--termination", "illegal-move,max-plies-adjudication", "--termination", "checkmate"], |game| {
        ["illegal-move", "max-plies-adjudication", "checkmate"].contains(&game.termination.as_str())
    });
    played.check(&["--termination", "crash"], |_| false);
    played.check(&["--player", "gamma"], |game| names(game).contains(&"gamma"));
    played.check(&["--player", "gamma", "--opponent", "beta two"], |game| {
        names(game).contains(&"gamma") && names(game).contains(&"beta two")
    });
    played.check(&["--player", "gamma", "--side", "black"], |game| names(game)[1] == "gamma");
    played.check(&["--player", "gamma", "--result", "win"], |game| won(game, "gamma"));
    played.check(&["--player", "gamma", "--result", "loss"], |game| {
        names(game).contains(&"gamma") && !drawn(game) && !won(game, "gamma")
    });
    played.check(&["--result", "draw"], drawn);
    played.check(&["--result", "1-0,0-1"], |game| !drawn(game));
    played.check(&["--game", "3,7"], |game| [3, 7].contains(&game.number));
    played.check(&["--pair", "2"], |game| [3, 4].contains(&game.number));
    let opening = played.games[2].opening.0;
    played.check(&["--opening", &(opening + 1).to_string()], |game| game.opening.0 == opening);
    let plies = played.games.iter().map(|game| game.moves.len()).min().unwrap();
    played.check(&["--max-plies", &plies.to_string()], |game| game.moves.len() <= plies);
    played.check(&["--min-plies", &(plies + 1).to_string()], |game| game.moves.len() > plies);
    played.check(&["--void"], |_| false);
}

#[test]
fn games_are_told_in_full() {
    let played = Played::new();
    // The PGN of all is the run's own.
    let order: Vec<_> = played.games.iter().map(|game| game.number).collect();
    assert_eq!(order, (1..=12).collect::<Vec<_>>());
    assert_eq!(played.ask(&["--pgn"]).stdout, played.text("games.pgn"));

    let journal = lines(&played.text("games.jsonl"));
    let told = lines(&played.ask(&["--json", "--moves", "--player", "beta two"]).stdout);
    assert!(told.len() == 8 && told.iter().all(|game| game["score"].is_number()));
    for game in &told {
        let record = journal.iter().find(|line| line["game"] == game["game"]).unwrap();
        for key in ["result", "termination"] {
            assert_eq!(game[key], record[key]);
        }
        assert_eq!(game["opening"], record["opening"]["index"].as_u64().unwrap() + 1);
        assert_eq!(game["fen"], record["opening"]["fen"]);
        let [white, black] = ["white", "black"].map(|side| NAMES[record[side].as_u64().unwrap() as usize]);
        assert_eq!((game["white"].as_str(), game["black"].as_str()), (Some(white), Some(black)));
        let moves = game["moves"].as_array().unwrap();
        let records = record["moves"].as_array().unwrap();
        assert_eq!((moves.len(), game["plies"].as_u64().unwrap() as usize), (records.len(), records.len()));
        for (ply, record) in moves.iter().zip(records) {
            for (key, short) in [
                ("move", "m"),
                ("time_us", "us"),
                ("left_us", "left"),
                ("engine_time_us", "t"),
                ("cp", "cp"),
                ("mate", "mate"),
                ("depth", "d"),
                ("seldepth", "sd"),
                ("nodes", "n"),
                ("nps", "nps"),
                ("hashfull", "hf"),
                ("tbhits", "tb"),
                ("waited_us", "w"),
            ] {
                assert_eq!(ply[key], record[short], "{key} of {ply}");
            }
            let latency = record["t"].as_i64().map(|engine| record["us"].as_i64().unwrap() - engine);
            assert_eq!(ply["latency_us"], latency.map_or(Value::Null, Value::from));
        }
    }
    // Who is to move follows from the opening.
    let sides: Vec<_> = told[0]["moves"].as_array().unwrap().iter().map(|ply| ply["side"].clone()).collect();
    assert!(sides.windows(2).all(|two| two[0] != two[1]));
    assert!(lines(&played.ask(&["--json"]).stdout).iter().all(|game| game["moves"].is_null()));
    let table = played.ask(&["--game", "1", "--moves"]).stdout;
    assert_eq!(table.lines().count(), 3 + played.games[0].moves.len(), "{table}");
    // Each run of several is named.
    let twice = run(&["games", &played.dir, &played.dir, "--game", "1"]).stdout;
    assert_eq!(twice.lines().filter(|line| line.starts_with("run ")).count(), 3, "{twice}");
}

#[test]
fn games_are_counted_by_group() {
    let played = Played::new();
    let by = |words: &[&str]| {
        let mut words = words.to_vec();
        words.push("--json");
        lines(&played.ask(&words).stdout)
    };
    let sum = |rows: &[Value], key: &str| rows.iter().map(|row| row[key].as_u64().unwrap()).sum::<u64>();
    for (key, games, wins) in [("termination", 12, "1-0"), ("opening", 12, "1-0"), ("opponent", 12, "1-0")] {
        let rows = by(&["--by", key]);
        let want = played.games.iter().filter(|game| game.result == wins).count() as u64;
        assert_eq!((sum(&rows, "games"), sum(&rows, "wins")), (games, want), "{key}: {rows:?}");
        let keys: BTreeSet<String> = rows.iter().map(|row| row[key].to_string()).collect();
        assert_eq!(keys.len(), rows.len());
        assert!(rows.is_sorted_by_key(|row| std::cmp::Reverse(row["games"].as_u64())));
    }
    let rows = by(&["--by", "player"]);
    assert_eq!((sum(&rows, "games"), sum(&rows, "wins")), (24, sum(&rows, "losses")));
    let gamma = rows.iter().find(|row| row["player"] == "gamma").unwrap();
    let rows = by(&["--by", "color", "--player", "gamma"]);
    for key in ["games", "wins", "draws", "losses"] {
        assert_eq!(sum(&rows, key), gamma[key].as_u64().unwrap(), "{key}");
    }
    let points = gamma["wins"].as_f64().unwrap() + gamma["draws"].as_f64().unwrap() / 2.0;
    assert!((gamma["score"].as_f64().unwrap() - points / 8.0).abs() < 1e-12);
    assert_eq!(played.ask(&["--by", "player"]).stdout.lines().count(), 4);
}

/// A live run's journal is locked, and its last line may be half written.
#[test]
fn a_run_is_asked_while_it_is_played() {
    let played = Played::new();
    let whole = played.ask(&["--json"]).stdout;
    let path = Path::new(&played.dir).join("games.jsonl");
    let (journal, _) = Journal::resume(&path, None, |_| {}).unwrap();
    assert_eq!(played.ask(&["--json"]).stdout, whole);
    let last = played.text("games.jsonl").lines().last().unwrap().to_owned();
    let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(&last.as_bytes()[..last.len() / 2]).unwrap();
    assert_eq!(played.ask(&["--json"]).stdout, whole);
    drop(journal);
    // Damage elsewhere is not passed over.
    file.write_all(format!("\n{last}\n").as_bytes()).unwrap();
    let ran = played.ask(&["--count"]);
    assert_eq!((ran.code, ran.stderr.lines().count()), (Some(2), 1), "{ran:?}");
    assert!(ran.stderr.contains("games.jsonl:14: damaged record"), "{ran:?}");
}

#[test]
fn a_void_game_takes_the_other_of_its_pair_with_it() {
    let played = Played::new();
    let path = Path::new(&played.dir).join("games.jsonl");
    let [header, first, second, third, rest @ ..] = &*lines(&played.text("games.jsonl")) else { panic!() };
    let mut void = second.clone();
    void["kind"] = "void".into();
    void["v"] = 2.into();
    // The pair is played again after another began; its game stands twice, as after a resumed run.
    let order = [header, first, third, &void, first, second, second];
    let text: String = order.into_iter().chain(rest).cloned().map(sealed).collect();
    fs::write(&path, text).unwrap();
    let numbers = |words: &[&str]| -> Vec<u64> {
        lines(&played.ask(words).stdout).iter().map(|game| game["game"].as_u64().unwrap()).collect()
    };
    assert_eq!(numbers(&["--json"]), (1..=12).collect::<Vec<_>>());
    assert_eq!(numbers(&["--json", "--void"]), [2]);
    // As scheduled, whatever came first; but a pair that is missing is not waited for for ever.
    let mut backwards: Vec<_> = rest.iter().chain([first, second, third]).cloned().collect();
    backwards.reverse();
    fs::write(&path, [header.clone()].into_iter().chain(backwards).map(sealed).collect::<String>()).unwrap();
    assert_eq!(numbers(&["--json"]), (1..=12).collect::<Vec<_>>());
    let later = (3..=2000).map(|number| {
        let mut game = third.clone();
        renumber(&mut game, number);
        game
    });
    let text: String = [header.clone()].into_iter().chain(later).chain([first.clone()]).map(sealed).collect();
    fs::write(&path, text).unwrap();
    let told = numbers(&["--json"]);
    assert_eq!((told.len(), told[..2].to_vec()), (1999, vec![3, 4]));
    assert!(told.iter().position(|number| *number == 1).is_some_and(|place| place > 1000));
    // A pair that was never whole is told too.
    fs::write(&path, [header, first, third].map(|line| sealed(line.clone())).concat()).unwrap();
    assert_eq!(numbers(&["--json"]), [1, 3]);
}

/// Makes another game of it, with a start of its own: a game played again would not be told.
fn renumber(game: &mut Value, number: u64) {
    game["game"] = number.into();
    // The players change sides within a pair.
    let is_first_leg = number % 2 == 1;
    (game["white"], game["black"]) = if is_first_leg { (0.into(), 1.into()) } else { (1.into(), 0.into()) };
    // Of each file one digit in base nine says where its two pawns stand.
    let digits: Vec<u64> = (0..8).map(|file| number / 9u64.pow(file) % 9).collect();
    let rank = |rank: u64| -> String {
        let pawn = |digit: &u64| match rank {
            2..=4 if digit % 3 == rank - 2 => 'P',
            5..=7 if digit / 3 == rank - 5 => 'p',
            _ => '1',
        };
        digits.iter().map(pawn).collect()
    };
    let ranks: Vec<String> = (2..=7).rev().map(rank).collect();
    game["opening"]["fen"] = format!("4k3/{}/4K3 w - - 0 1", ranks.join("/")).into();
}

/// A hundred thousand games in memory that would not hold them.
#[cfg(target_os = "linux")]
#[test]
fn games_are_not_kept() {
    const GAMES: u64 = 100_000;
    let played = Played::new();
    let path = Path::new(&played.dir).join("games.jsonl");
    let all = lines(&played.text("games.jsonl"));
    let mut game = all[1].clone();
    game["moves"].as_array_mut().unwrap().truncate(4);
    let mut file = std::io::BufWriter::new(fs::File::create(&path).unwrap());
    file.write_all(sealed(all[0].clone()).as_bytes()).unwrap();
    for number in 1..=GAMES {
        renumber(&mut game, number);
        file.write_all(sealed(game.clone()).as_bytes()).unwrap();
    }
    drop(file);
    let args = ["games", &played.dir, "--count"];
    let output = in_shell("ulimit -d 32768 && exec \"$@\"", &args).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), format!("{GAMES}\n"), "{output:?}");
    // Nobody reads on: no word about it.
    let mut child = quintain(&["games", &played.dir, "--json"]);
    let mut child = child.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0), "{output:?}");
}

#[test]
fn questions_that_cannot_be() {
    let played = Played::new();
    for (words, say) in [
        (&["--player", "gama"][..], &["--player `gama`", "did you mean `gamma`?", "alpha, beta two, gamma"][..]),
        (&["--player", "gamma", "--opponent", "x"], &["--opponent `x`", "players are alpha"]),
        (&["--player", "new"], &["--player `new`"]),
        (&["--termination", "time-forfit"], &["did you mean `time-forfeit`?", "checkmate"]),
        (&["--result", "win"], &["--player"]),
        (&["--player", "gamma", "--result", "los"], &["--result `los`", "did you mean `loss`?"]),
        (&["--min-plies", "9", "--max-plies", "8"], &["--min-plies 9", "--max-plies 8"]),
    ] {
        let ran = played.ask(words);
        assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.lines().count()), (Some(2), "", 1), "{words:?}: {ran:?}");
        for say in say {
            assert!(ran.stderr.contains(say), "{words:?}: {ran:?}");
        }
    }
    for words in [
        &["--opponent", "gamma"][..],
        &["--side", "white"],
        &["--game", "0"],
        &["--by", "weather"],
        &["--pgn", "--json"],
        &["--count", "--by", "player"],
        &["--no-such-flag"],
    ] {
        assert_eq!(played.ask(words).code, Some(2), "{words:?}");
    }
    let nowhere = played.folder.path().join("nowhere").display().to_string();
    let ran = run(&["games", &nowhere]);
    assert!(ran.code == Some(2) && ran.stderr.contains(&format!("no run `{nowhere}`")), "{ran:?}");
    // A plan that was changed would tell the games under other names.
    let plan = Path::new(&played.dir).join("plan.toml");
    fs::write(&plan, played.text("plan.toml").replace("gamma", "delta")).unwrap();
    let ran = played.ask(&["--count"]);
    assert!(ran.code == Some(2) && ran.stderr.contains("changed since the run began"), "{ran:?}");
}

/// A folder with a registry and a home of its own.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new(registry: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("configs")).unwrap();
        fs::write(folder.path().join("configs/engines.toml"), registry).unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn run(&self, words: &[&str]) -> Ran {
        let mut command = quintain(words);
        command
            .current_dir(self.folder.path())
            .env("HOME", self.folder.path())
            .env("XDG_CONFIG_HOME", self.path("settings"))
            .env("QUINTAIN_CACHE", self.path("cache"));
        command.env("GIT_CEILING_DIRECTORIES", self.folder.path().parent().unwrap());
        command.output().unwrap().into()
    }

    /// Rows of a document in JSON.
    #[track_caller]
    fn list(&self, words: &[&str]) -> Vec<Value> {
        let ran = self.run(words);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        serde_json::from_str::<Value>(&ran.stdout).unwrap().as_array().unwrap().clone()
    }
}

/// A repository at `dir` whose tree holds a copy of the scripted peer in the place of its sources,
/// and no recipe.
#[cfg(unix)]
fn repository(dir: &Path) {
    fs::create_dir_all(dir).unwrap();
    fs::write(dir.join("name.txt"), "Toy").unwrap();
    for words in ["init --quiet", "add --all", "commit --quiet -m One"] {
        git(dir, &words.split(' ').collect::<Vec<_>>());
    }
}

#[test]
fn the_users_registry_lies_in_the_folder_of_settings() {
    let place = Place::new("[engines.one]\ncommand = \"no-such-engine-anywhere\"\n");
    let folder = place.path("settings/quintain");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("engines.toml"), format!("[engines.two]\ncommand = {FAKE:?}\n")).unwrap();
    let ran = place.run(&["engines", "--json"]);
    let found: Value = serde_json::from_str(&ran.stdout).unwrap();
    let names: Vec<&str> = found.as_array().unwrap().iter().map(|engine| engine["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["one", "two"], "{ran:?}");
}

#[test]
fn the_registry_is_looked_through() {
    let place = Place::new(&format!(
        "[engines.good]\ncommand = {FAKE:?}\nargs = [\"--name\", \"Good 1\"]\noptions = {{ Hash = 32 }}\ndescription = \"plays\"\nelo = 1500\n\
         [engines.absent]\ncommand = \"no-such-engine-anywhere\"\n\
         [engines.gone]\ncommand = \"../gone\"\n\
         [engines.mute]\ncommand = {FAKE:?}\nargs = [\"--fault\", \"exit-at-start\"]\n\
         [engines.odd]\ncommand = {FAKE:?}\noptions = {{ Hush = 1 }}\n"
    ));
    let found = place.list(&["engines", "--json"]);
    for (name, status, words) in [
        ("good", "installed", ""),
        ("absent", "missing", "is not on PATH: install it"),
        ("gone", "missing", "(os error 2)"),
        ("mute", "broken", "before `uciok`"),
        ("odd", "broken", "no option `Hush`: did you mean `Hash`?"),
    ] {
        let engine = found.iter().find(|engine| engine["name"] == name).unwrap();
        assert_eq!(engine["status"], status, "{engine}");
        assert!(engine["remedy"].as_str().unwrap_or_default().contains(words), "{engine}");
        assert_eq!(engine["remedy"].is_null(), words.is_empty(), "{engine}");
    }
    let good = found.iter().find(|engine| engine["name"] == "good").unwrap();
    assert_eq!(good["id_name"], "Good 1");
    // On Windows a path without a drive is of the current one.
    let with_slashes = |path: &str| path.replace('\\', "/");
    assert!(with_slashes(good["program"].as_str().unwrap()).ends_with(&with_slashes(FAKE)), "{good}");
    assert_eq!((&good["description"], &good["elo"]), (&"plays".into(), &1500.into()));
    let listed = place.list(&["engines", "good", "--options", "--json"]);
    let options = listed[0]["options"].as_array().unwrap();
    assert!(listed.len() == 1 && good["option_count"] == options.len(), "{listed:?}");
    let hash = options.iter().find(|option| option["name"] == "Hash").unwrap();
    assert!(hash["type"] == "spin" && hash["min"].is_number(), "{hash}");
    let text = place.run(&["engines", "--options"]);
    assert_eq!(text.code, Some(0));
    assert!(text.stdout.contains("installed  Good 1") && text.stdout.contains("    Hash spin "), "{}", text.stdout);
    assert!(text.stdout.contains("plays, 1500 Elo") && text.stdout.contains("missing"), "{}", text.stdout);

    let ran = place.run(&["engines", "god"]);
    assert_eq!((ran.code, ran.stderr.lines().count()), (Some(2), 1), "{ran:?}");
    assert!(ran.stderr.contains("did you mean `good`?") && ran.stderr.contains("absent"), "{ran:?}");
    fs::write(place.path("configs/engines.toml"), "[engines.x]\nargs = []\n").unwrap();
    let ran = place.run(&["engines"]);
    assert!(ran.code == Some(2) && ran.stderr.contains("engines.toml:1:1: engine `x`"), "{ran:?}");
    fs::write(place.path("configs/engines.toml"), "").unwrap();
    let ran = place.run(&["engines"]);
    assert!(ran.code == Some(0) && ran.stderr.contains("no engines are registered"), "{ran:?}");
    assert!(ran.stdout.is_empty() && place.list(&["engines", "--json"]).is_empty(), "{ran:?}");
}

/// An engine of the registry whose recipe copies the scripted peer.
#[cfg(unix)]
#[test]
fn a_registered_engine_of_a_repository_is_built_once() {
    let place = Place::new(&format!(
        "[engines.good]\ncommand = {FAKE:?}\nargs = [\"--name\", \"Good 1\"]\n\
         [engines.toy]\ngit = \"../toy\"\nargs = [\"--name\", \"Toy\"]\noptions = {{ Hash = 64 }}\n\
         [engines.toy.build]\ncommand = \"cp '{FAKE}' built\"\nbinary = \"built\"\n"
    ));
    repository(&place.path("toy"));
    let found = place.list(&["engines", "toy", "--json"]);
    assert_eq!(found[0]["status"], "not-built");
    assert!(found[0]["remedy"].as_str().unwrap().contains("quintain engines --build toy"), "{found:?}");
    assert!(place.run(&["engines", "--options"]).stdout.contains("not-built"));

    // It is built once, and plays under its name.
    let built = place.list(&["engines", "toy", "--build", "--json"]);
    assert_eq!((&built[0]["status"], &built[0]["id_name"]), (&"installed".into(), &"Toy".into()));
    assert_eq!(built[0]["commit"].as_str().unwrap().len(), 40);
    assert_eq!(place.list(&["engines", "toy", "--json"])[0]["status"], "installed");
    let ran =
        place.run(&["sprt", "--new", "toy", "--base", "good", "--nodes", "1", "--max-pairs", "1", "--out", "run"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    let plan = fs::read_to_string(place.path("run/plan.toml")).unwrap();
    for words in ["name = \"toy\"", "recipe = \"cp ", "[\"Hash\", \"64\"]"] {
        let squeezed = plan.replace("\n    ", " ").replace("[ ", "[");
        assert!(plan.contains(words) || squeezed.contains(words), "{words}: {plan}");
    }
    // The recipe serves a commit of the same repository too.
    let ran = place.run(&[
        "sprt",
        "--new",
        "git:HEAD@toy",
        "--base",
        "good",
        "--nodes",
        "1",
        "--max-pairs",
        "1",
        "--out",
        "two",
    ]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
}

#[test]
fn plans_to_start_from_are_played() {
    let place = Place::new("");
    let [one, two] = [fake("--seed 1"), fake("--seed 2")];
    let quick = ["--nodes", "1", "--max-plies", "20"];
    for (kind, code, engines) in [
        ("sprt", 3, vec!["--new", &one, "--base", &two, "--max-pairs", "1"]),
        ("match", 0, vec![&one, &two, "--pairs", "1"]),
        ("gauntlet", 0, vec!["--hero", &one, "--vs", &two, "--pairs", "1"]),
    ] {
        let file = format!("{kind}.toml");
        let ran = place.run(&["init", kind]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""), "{ran:?}");
        assert!(ran.stderr.contains(&format!("quintain {kind} {file}")), "{ran:?}");
        let text = fs::read_to_string(place.path(&file)).unwrap();
        assert!(text.lines().any(|line| line.starts_with("#margin-ms = ")), "{text}");
        let mut words = vec![kind, &file];
        words.extend(engines);
        words.extend(quick);
        let ran = place.run(&words);
        assert_eq!(ran.code, Some(code), "{kind}: {ran:?}");

        fs::write(place.path(&file), "name = \"mine\"\n").unwrap();
        let ran = place.run(&["init", kind, &file]);
        assert_eq!((ran.code, ran.stderr.lines().count()), (Some(2), 1), "{ran:?}");
        assert!(ran.stderr.contains(&format!("{file}: exists already")) && ran.stderr.contains("--force"), "{ran:?}");
        assert_eq!(fs::read_to_string(place.path(&file)).unwrap(), "name = \"mine\"\n");
        assert_eq!(place.run(&["init", kind, "--force"]).code, Some(0));
        assert_eq!(fs::read_to_string(place.path(&file)).unwrap(), text);
    }
    assert!(place.run(&["init", "sprt", "-"]).stdout.contains("bounds = [0.0, 5.0]"));
    assert_eq!(place.run(&["init", "tournament"]).code, Some(2));
    let ran = place.run(&["init", "sprt", "no/such/folder.toml"]);
    assert_eq!((ran.code, ran.stderr.lines().count()), (Some(2), 1), "{ran:?}");
}

#[test]
fn plans_that_ship_are_plans() {
    let configs = Path::new(env!("CARGO_MANIFEST_DIR")).join("configs");
    let registry = Registry::load(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap();
    let is_known = |spec: &str| spec == "." || spec.starts_with("git:") || registry.get(spec).is_some();
    let mut plans = 0;
    for entry in fs::read_dir(configs).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "toml") && !path.ends_with("engines.toml") {
            let plan = RawPlan::read(&path).unwrap();
            let specs = plan.players.iter().map(|player| player.spec.as_deref().unwrap_or_default());
            assert_eq!(specs.filter(|spec| !is_known(spec)).collect::<Vec<_>>(), [""; 0], "{}", path.display());
            plans += 1;
        }
    }
    assert!(plans >= 6);
}

/// The commands of the program by its own help.
fn commands() -> Vec<String> {
    let help = run(&["--help"]).stdout;
    let listed = help.lines().skip_while(|line| *line != "Play:").take_while(|line| *line != "Options:");
    let names = listed.filter(|line| line.starts_with("  "));
    names.map(|line| line.split_whitespace().next().unwrap().to_owned()).collect()
}

#[test]
fn shells_and_manuals_know_every_command() {
    let commands = commands();
    assert!(commands.len() > 25 && commands.iter().any(|name| name == "games"), "{commands:?}");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = run(&["completions", shell]);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{shell}");
        // It asks this program, as `complete` tests.
        assert!(ran.stdout.contains("QUINTAIN_COMPLETE"), "{shell}");
        if shell == "bash" && cfg!(unix) {
            let folder = tempfile::tempdir().unwrap();
            let script = folder.path().join("quintain");
            fs::write(&script, &ran.stdout).unwrap();
            assert!(Command::new("bash").arg("-n").arg(&script).status().unwrap().success());
        }
    }
    assert_eq!(run(&["completions", "dos"]).code, Some(2));

    let page = run(&["man"]);
    assert!(page.code == Some(0) && page.stdout.contains(".TH quintain 1"), "{page:?}");
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("deep/man1");
    let ran = run(&["man", "--out", &out.display().to_string()]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""), "{ran:?}");
    assert_eq!(fs::read_to_string(out.join("quintain.1")).unwrap(), page.stdout);
    for name in &commands {
        let text = fs::read_to_string(out.join(format!("quintain-{name}.1"))).unwrap();
        assert!(text.contains(&format!(".TH quintain-{name} 1")), "{name}");
        assert!(text.contains(concat!("\"quintain ", env!("CARGO_PKG_VERSION"), "\"")), "{name}: {}", &text[..200]);
    }
    assert!(out.join("quintain-book-check.1").is_file());
    fs::write(folder.path().join("file"), "").unwrap();
    let ran = run(&["man", "--out", &folder.path().join("file").display().to_string()]);
    assert_eq!((ran.code, ran.stderr.lines().count()), (Some(2), 1), "{ran:?}");
}
