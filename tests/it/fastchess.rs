//! The command lines and the console of fastchess and cutechess-cli: golden transcripts with
//! scripted peers, the lines that workers of OpenBench and fishtest parse, resuming. If fastchess
//! is installed, it plays the same tournaments.
//!
//! `QUINTAIN_BLESS=1` writes the golden files anew. fastchess is looked for in `PATH`, or where
//! `FASTCHESS` says.

mod rare;

#[cfg(unix)]
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::harness::{FAKE, Gate, Ran, games, quintain, until};
use crate::skip::skip;

/// Four positions, two of them with Black to move.
const BOOK: &str = "\
rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - hmvc 0; fmvn 1;
rnbqkbnr/pppppppp/8/8/3P4/8/PPP2PPP/RNBQKBNR b KQkq - hmvc 0; fmvn 1;
rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - hmvc 0; fmvn 2;
rnbqkbnr/ppp1pppp/8/3p4/3P4/8/PPP1PPPP/RNBQKBNR w KQkq - hmvc 0; fmvn 2;
";

/// The same as games.
const PGN_BOOK: &str = "\
[Event \"a\"]\n[Result \"*\"]\n\n1. e4 e5 2. Nf3 Nc6 *\n
[Event \"b\"]\n[Result \"*\"]\n\n1. d4 d5 2. c4 e6 *\n
[Event \"c\"]\n[Result \"*\"]\n\n1. c4 c5 2. Nc3 Nc6 *\n";

/// A folder to play in, with books.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("b.epd"), BOOK).unwrap();
    std::fs::write(folder.path().join("b.pgn"), PGN_BOOK).unwrap();
    // A test takes more openings than four: none is new evidence twice.
    std::fs::write(folder.path().join("many.epd"), include_str!("../golden/fastchess/many.epd")).unwrap();
    folder
}

/// Words of a command line of `runner`. `A(ARGS)` stands for an engine: a scripted peer of that
/// name with these arguments.
fn words(runner: &str, line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = line.trim();
    while !rest.is_empty() {
        let end = match rest.strip_prefix('\'') {
            Some(quoted) => quoted.find('\'').unwrap() + 1,
            None => rest.find(' ').unwrap_or(rest.len()),
        };
        let (word, after) = match rest[..end].split_once('(') {
            Some((name, _)) if name.len() == 1 => {
                let close = rest.find(')').unwrap();
                let args = &rest[name.len() + 1..close];
                words.extend(["-engine".to_owned(), format!("cmd={FAKE}"), format!("name={name}")]);
                if runner == "fastchess" && !args.is_empty() {
                    words.push(format!("args={args}"));
                } else {
                    words.extend(args.split_whitespace().map(|arg| format!("arg={arg}")));
                }
                ("", &rest[close + 1..])
            }
            _ => (rest[..end].trim_start_matches('\''), rest[end..].trim_start_matches('\'')),
        };
        if !word.is_empty() {
            words.push(word.to_owned());
        }
        rest = after.trim_start();
    }
    words
}

/// The program under another runner's name.
fn under(name: &str, line: &str, folder: &Path) -> Command {
    let mut command = quintain(&words(name, line));
    #[cfg(unix)]
    command.arg0(name);
    // Windows calls a program by its file.
    #[cfg(windows)]
    {
        let program = folder.join(name).with_extension("exe");
        if !program.exists() {
            crate::harness::copy_program(&program);
        }
        command = crate::harness::under_path(&program, &words(name, line));
    }
    command.current_dir(folder);
    command
}

fn fastchess(line: &str, folder: &Path) -> Ran {
    under("fastchess", line, folder).output().unwrap().into()
}

/// Output without the parts that differ between any two runs.
fn masked(text: &str) -> String {
    let mut lines = Vec::new();
    for line in text.lines() {
        let line = match line.split_once("Total Time: ") {
            Some((before, after)) => format!("{before}Total Time: HH:MM:SS{}", &after[8..]),
            None => line.to_owned(),
        };
        let line = match (line.split_once("on time ("), line.find("ms overrun")) {
            (Some((before, _)), Some(at)) => format!("{before}on time (N{}", &line[at..]),
            _ => line,
        };
        // A busy machine may be named as a cause.
        let line = match line.split_once(" lost on time (") {
            Some((before, _)) => format!("{before} lost on time"),
            None => line,
        };
        lines.push(match line.split_once("has CRC32: ") {
            Some((before, crc)) if crc.starts_with("0x") => format!("{before}has CRC32: 0xN"),
            _ => line,
        });
    }
    lines.join("\n") + "\n"
}

const GOLDEN: &[(&str, &str, i32, &str)] = &[
    // (file, runner, exit code, command line)
    (
        "pairs",
        "fastchess",
        0,
        "A() B(--seed 2 --resigns 60) -each nodes=5 -openings file=b.epd -rounds 4 -ratinginterval 2 -maxmoves 20 -resign movecount=3 score=400",
    ),
    (
        "sprt-h0",
        "fastchess",
        0,
        "A(--resigns 60) B(--seed 2) -each depth=1 -openings file=many.epd -rounds 90 -resign movecount=1 score=400 -maxmoves 9 -ratinginterval 10 -sprt elo0=0 elo1=100 alpha=0.05 beta=0.05",
    ),
    (
        "sprt-h1",
        "fastchess",
        0,
        "A() B(--seed 2 --resigns 60) -each st=9 -openings file=many.epd -rounds 90 -resign movecount=1 score=400 -maxmoves 9 -ratinginterval 0 -sprt elo0=0 elo1=100 alpha=0.05 beta=0.05 model=logistic",
    ),
    (
        "sprt-out-of-openings",
        "fastchess",
        0,
        "A(--resigns 60) B(--seed 2) -each depth=1 -openings file=b.epd -rounds 9 -resign movecount=1 score=400 -maxmoves 9 -sprt elo0=0 elo1=10 alpha=0.05 beta=0.05",
    ),
    (
        "games",
        "fastchess",
        0,
        "A() B(--seed 2) -each tc=900+0.1 option.Hash=32 -openings file=b.epd start=2 -games 1 -rounds 5 -ratinginterval 3 -maxmoves 8",
    ),
    (
        "options",
        "fastchess",
        0,
        "A() option.Nope=1 B(--seed 2) option.Hash=-5 -each tc=40/60+0.5 -openings file=b.epd -rounds 1 -maxmoves 4",
    ),
    (
        "no-book",
        "fastchess",
        0,
        "A() B(--seed 2) -each nodes=9 tc=700 -rounds 1 -maxmoves 4 -pgnout file=o.pgn -crc32 pgn=true",
    ),
    (
        "three",
        "fastchess",
        0,
        "A() B(--seed 2 --resigns 60) C(--seed 3 --resigns 30) -each nodes=5 -openings file=b.epd -rounds 2 -ratinginterval 3 -maxmoves 9 -resign movecount=3 score=400",
    ),
    (
        "single-games",
        "cutechess-cli",
        0,
        "A() B(--seed 2 --resigns 60) C(--seed 3) -each tc=inf nodes=5 -openings file=b.epd -maxmoves 9",
    ),
    (
        "gauntlet",
        "fastchess",
        0,
        "A() B(--seed 2 --resigns 60) C(--seed 3) D(--seed 4) -each nodes=5 -openings file=b.epd -rounds 1 -tournament gauntlet -seeds 2 -maxmoves 9 -resign movecount=3 score=400",
    ),
    (
        "faults",
        "fastchess",
        0,
        // Only who hangs has a short clock.
        "A() tc=1000 B(--seed 2 --fault illegal@3) tc=1000 C(--seed 3 --fault segv@2) tc=1000 D(--seed 4 --fault hang@2) tc=4 -openings file=b.epd -rounds 1 -recover -maxmoves 9 -ratinginterval 0",
    ),
    (
        "crash",
        "fastchess",
        1,
        // The stop comes a moment after the game that gives cause for it; the next one waits for a
        // file that never comes.
        "A(--hold none@2) B(--seed 2 --fault segv@2) -each tc=1000 -openings file=b.epd -rounds 4 -maxmoves 9",
    ),
    (
        "wrong-pv",
        "fastchess",
        0,
        "A() B(--seed 2 --fault illegal-pv) -each tc=900 -openings file=b.epd -rounds 1 -maxmoves 2 -testEnv",
    ),
    (
        "strict",
        "fastchess",
        1,
        // As for a crash.
        "A(--hold none@2) B(--seed 2 --fault illegal-pv) -each tc=1000 -openings file=b.epd -rounds 3 -maxmoves 2 -strict",
    ),
    (
        "cutechess-output",
        "fastchess",
        0,
        "A() B(--seed 2 --resigns 60) -each nodes=5 -openings file=b.epd -rounds 2 -output format=cutechess -ratinginterval 3 -resign movecount=3 score=400 -maxmoves 9 -sprt elo0=0 elo1=100 alpha=0.05 beta=0.05",
    ),
    (
        "cutechess",
        "cutechess-cli",
        0,
        "A() B(--seed 2) -each nodes=5 proto=uci -openings file=b.pgn plies=2 -rounds 3 -games 2 -repeat -ratinginterval 2 -maxmoves 9 -pgnout o.pgn",
    ),
    (
        "knockout",
        "cutechess-cli",
        0,
        "A() B(--seed 2 --resigns 90) C(--seed 3) D(--seed 4 --resigns 90) -each nodes=5 -openings file=b.epd -games 2 -repeat -tournament knockout -maxmoves 99 -resign movecount=1 score=400",
    ),
    (
        "stalls",
        "fastchess",
        0,
        "A(--fault no-readyok@4) B(--seed 2) -each nodes=5 -openings file=b.epd -rounds 1 -games 1 -recover -ping-ms 2000",
    ),
    (
        "crashes-at-once",
        "fastchess",
        0,
        "A(--fault exit-in-search@1) B(--seed 2) -each nodes=5 -openings file=b.epd -rounds 1 -games 2 -recover",
    ),
    ("no-uciok", "fastchess", 1, "A(--fault exit-at-start) B(--seed 2) -each nodes=5 -openings file=b.epd -rounds 1"),
    ("not-there", "fastchess", 1, "-engine cmd=./gone -engine cmd=./gone -each tc=1"),
    ("unknown-option", "fastchess", 1, "A() B() -each tc=1 -round 5"),
    ("version", "fastchess", 0, "--version"),
];

/// Some of their peers end by a signal.
#[cfg(unix)]
#[test]
fn consoles_are_as_they_were() {
    let bless = std::env::var_os("QUINTAIN_BLESS").is_some();
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/fastchess");
    // Most of a row is waiting.
    let check = |&(name, runner, code, line): &(&str, &str, i32, &str)| {
        let folder = folder();
        let ran = Ran::from(under(runner, line, folder.path()).output().unwrap());
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(code), ""), "{name}: {ran:?}");
        let file = golden.join(format!("{name}.txt"));
        let text = masked(&ran.stdout);
        if bless {
            std::fs::write(&file, &text).unwrap();
        }
        let expected = std::fs::read_to_string(&file).unwrap();
        assert_eq!(text, expected, "{name}: {line}");
    };
    std::thread::scope(|scope| {
        for rows in GOLDEN.chunks(GOLDEN.len().div_ceil(4)) {
            scope.spawn(|| rows.iter().for_each(check));
        }
    });
}

/// OpenBench's worker reads lines until the first that is empty, and takes `Finished game` lines
/// apart at blanks and colons.
#[test]
fn openbench_reads_every_game() {
    let folder = folder();
    let line = "A() B(--seed 2 --fault illegal@2) -each tc=900 timemargin=250 -openings file=b.epd format=epd order=random start=3 -srand 77 \
                -repeat -recover -games 2 -rounds 5 -concurrency 2 -force-concurrency -maxmoves 5 \
                -pgnout file=o.pgn seldepth=true nodes=true 'match_line=^info .*'";
    let ran = fastchess(line, folder.path());
    let (mut results, mut illegal, mut lines) = (std::collections::BTreeMap::new(), 0, ran.stdout.lines());
    for line in lines.by_ref().take_while(|line| !line.is_empty()) {
        if line.contains("Finished game") {
            let tokens: Vec<_> = line.split_whitespace().collect();
            let number: u32 = tokens[2].parse().unwrap();
            let white = if number % 2 == 1 { "(A" } else { "(B" };
            assert_eq!((tokens[3], tokens[4]), (white, "vs"), "{line}");
            illegal += u32::from(line.split(':').nth(1).unwrap().contains("illegal"));
            results.insert(number, tokens[6].to_owned());
        }
    }
    assert_eq!(lines.next(), None, "an empty line, and something after it");
    assert!(results.keys().copied().eq(1..=10), "{results:?}");
    assert!(
        results.iter().all(|(number, result)| result == if number % 2 == 1 { "1-0" } else { "0-1" }),
        "{results:?}"
    );
    assert_eq!(illegal, 10);
    let pgn = std::fs::read_to_string(folder.path().join("o.pgn")).unwrap();
    assert_eq!(pgn.matches("makes an illegal move: ").count(), 10, "the words of the console stand in the PGN");
    assert!(pgn.contains(", line=\"info "));
}

/// fishtest's worker follows the blocks: whole pairs, one at a time, up to the last, then `Finished
/// match`.
#[test]
fn fishtest_reads_every_pair() {
    let folder = folder();
    let line = "-testEnv -recover -repeat -games 2 -rounds 6 -ratinginterval 1 -scoreinterval 1 -autosaveinterval 0 -report penta=true \
                -pgnout file=o.pgn append=false -crc32 pgn=true -site http://localhost/tests/view/1 '-event' 'Batch 0: x vs y' -srand 18446744073709551615 \
                -resign movecount=3 score=600 -draw movenumber=34 movecount=8 score=20 -variant standard -concurrency 2 -force-concurrency \
                -openings file=b.epd format=epd order=random plies=16 start=4 -check-mate-pvs A() dir=. B(--seed 2) dir=. -each proto=uci tc=900 -maxmoves 9";
    let ran = fastchess(line, folder.path());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let number = |text: &str| text.trim().parse::<u64>().unwrap();
    let (mut games, mut crc, mut ended) = (0, String::new(), false);
    for line in ran.stdout.lines() {
        if let Some(rest) = line.strip_prefix("Games: ") {
            let now = number(rest.split(',').next().unwrap());
            assert_eq!(now, games + 2, "{line}");
            games = now;
        }
        if let Some(rest) = line.strip_prefix("Ptnml(0-2): [") {
            let counts = rest.split(']').next().unwrap().split(',').map(number);
            assert_eq!(counts.sum::<u64>() * 2, games, "{line}");
        }
        if line.contains("has CRC32:") {
            line.split_whitespace().last().unwrap().clone_into(&mut crc);
        }
        ended |= line.contains("Finished match");
    }
    assert!(ended && games == 12, "{ran:?}");
    let pgn = std::fs::read(folder.path().join("o.pgn")).unwrap();
    assert_eq!(crc, format!("{:#x}", crc32fast::hash(&pgn)));
    let pgn = String::from_utf8(pgn).unwrap();
    assert!(pgn.contains("[Event \"Batch 0: x vs y\"]\n[Site \"http://localhost/tests/view/1\"]"));
}

/// Two workers of one seed and other places in the book get other openings.
#[test]
fn slices_of_one_seed_share_no_opening() {
    let mut seen = std::collections::BTreeSet::new();
    for start in [1, 3] {
        let folder = folder();
        let line = format!(
            "A() B() -each nodes=1 -openings file=b.epd order=random start={start} -srand 5 -rounds 2 -maxmoves 2"
        );
        fastchess(&line, folder.path());
        for game in games(&folder.path().join("config.json.run")).iter().step_by(2) {
            assert!(seen.insert(game.opening.0), "{seen:?}");
        }
    }
    assert_eq!(seen.len(), 4);
}

fn config(folder: &Path) -> serde_json::Value {
    serde_json::from_str(&std::fs::read_to_string(folder.join("config.json")).unwrap()).unwrap()
}

/// A tournament that is killed and gone on with is the one that was not.
#[test]
fn a_configuration_goes_on_where_it_was() {
    let line = "A() B(--seed 2 --resigns 40) C(--seed 3) -each nodes=1 -openings file=b.epd order=random -srand 9 -rounds 20 -ratinginterval 0 \
                -autosaveinterval 1 -maxmoves 20 -resign movecount=2 score=400 -pgnout file=o.pgn";
    let whole = folder();
    assert_eq!(fastchess(line, whole.path()).code, Some(0));
    let broken = folder();
    let run = broken.path().join("config.json.run");
    let mut child = under("fastchess", line, broken.path()).stdout(Stdio::null()).spawn().unwrap();
    let journal = || std::fs::read_to_string(run.join("games.jsonl")).unwrap_or_default();
    until("thirty games", || journal().lines().count() > 30 || child.try_wait().unwrap().is_some());
    child.kill().unwrap();
    child.wait().unwrap();
    // As after a power cut: the end of the file never reached the disk.
    let file = broken.path().join("o.pgn");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, &text[..text.len() - text.len().min(1500)]).unwrap();
    // The number of its rounds does not make it another tournament.
    assert_eq!(fastchess("-config file=config.json -rounds 1", broken.path()).code, Some(0));
    let ran = fastchess("-config file=config.json outname=elsewhere/config.json -rounds 20", broken.path());
    assert!(ran.code == Some(1) && ran.stdout.contains("must be in the folder of config.json"), "{ran:?}");
    let ran = fastchess("-config file=config.json -rounds 20", broken.path());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let text = std::fs::read_to_string(&file).unwrap();
    let rounds = |text: &str| text.lines().filter(|line| line.starts_with("[Round ")).count();
    assert_eq!((rounds(&text), text.matches("[Event ").count(), text.matches("\n\n[Event ").count()), (120, 120, 119));
    let played = |folder: &tempfile::TempDir| games(&folder.path().join("config.json.run"));
    assert_eq!(played(&broken), played(&whole));
    assert_eq!(config(broken.path())["stats"], config(whole.path())["stats"]);
    assert_eq!(played(&broken).len(), 120);
    // Nothing is left: once more changes nothing. More rounds are played on top.
    assert_eq!(fastchess("-config file=config.json", broken.path()).code, Some(0));
    assert_eq!(played(&broken), played(&whole));
    assert_eq!(fastchess("-config file=config.json -rounds 21", broken.path()).code, Some(0));
    assert_eq!(played(&broken).len(), 126);
    let pairs: u64 = config(broken.path())["stats"]
        .as_object()
        .unwrap()
        .values()
        .map(|stats| {
            stats["wins"].as_u64().unwrap() + stats["losses"].as_u64().unwrap() + stats["draws"].as_u64().unwrap()
        })
        .sum();
    assert_eq!(pairs, 126);
    // Other rules are another tournament; without the counts it may begin anew.
    let ran = fastchess("-config file=config.json -maxmoves 5", broken.path());
    assert!(ran.code == Some(1) && ran.stdout.contains("stats=false"), "{ran:?}");
    let ran = fastchess("-config file=config.json stats=false -maxmoves 5 -rounds 1", broken.path());
    assert_eq!((ran.code, played(&broken).len()), (Some(0), 6));
}

/// The run of a tournament is listed as any other.
#[test]
fn a_tournament_is_listed_as_ended() {
    let folder = folder();
    let line = "A() B(--seed 2) -each nodes=1 -openings file=b.epd -rounds 2 -maxmoves 4";
    assert_eq!(fastchess(line, folder.path()).code, Some(0));
    let ran: Ran = quintain(&["runs", "--results", ".", "--json"]).current_dir(folder.path()).output().unwrap().into();
    let listed: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let run = &listed["runs"][0];
    assert_eq!((run["id"].as_str(), run["pairs"].as_u64()), (Some("config.json.run"), Some(2)), "{ran:?}");
    assert_eq!(run["state"], "out-of-pairs", "{ran:?}");
}

/// Nothing that was played is lost for a command line that is refused.
#[test]
fn a_refused_tournament_leaves_the_one_before() {
    let folder = folder();
    let line = "A() B(--seed 2) -each nodes=1 -openings file=b.epd -rounds 2 -maxmoves 4";
    assert_eq!(fastchess(line, folder.path()).code, Some(0));
    let run = folder.path().join("config.json.run");
    let played = games(&run);
    for refused in [
        format!("{line} -log file=nosuch/x.log"),
        format!("{line} -pgnout file=b.epd/x.pgn"),
        line.replace("b.epd", "nosuch.epd"),
        line.replace("-rounds 2", "-games 1 -rounds 3 -sprt elo0=0 elo1=5"),
        format!("{line} -config outname=nosuch/config.json"),
    ] {
        let ran = fastchess(&refused, folder.path());
        assert_eq!(ran.code, Some(1), "{refused}");
        let is_folder_named = ran.stdout.contains("nosuch/config.json: its folder does not exist; make it");
        assert_eq!(is_folder_named, refused.contains("outname="), "{refused}: {ran:?}");
        assert_eq!(games(&run), played, "{refused}");
    }
    assert_eq!(fastchess("-config file=config.json -rounds 3", folder.path()).code, Some(0));
    assert_eq!(games(&run).len(), 6);
}

/// Two at once in one folder keep apart, and the next one takes the place of those that ended.
#[test]
fn tournaments_in_one_folder_keep_apart() {
    let folder = folder();
    let line = |engine: &str| {
        format!("A({engine}) B(--seed 2) -each nodes=1 -openings file=b.epd -rounds 2 -maxmoves 4 -force-concurrency")
    };
    let runs = || ["", "-2", "-3"].map(|end| folder.path().join(format!("config.json.run{end}")).exists());
    let gate = Gate::new(folder.path(), 2);
    let mut first = under("fastchess", &line(&gate.words()), folder.path()).stdout(Stdio::null()).spawn().unwrap();
    until("its run", || runs()[0]);
    assert_eq!(fastchess(&line(""), folder.path()).code, Some(0));
    assert_eq!(runs(), [true, true, false]);
    assert_eq!(games(&folder.path().join("config.json.run-2")).len(), 4);
    assert_eq!(config(folder.path())["quintain"]["run"], "config.json.run-2");
    first.kill().unwrap();
    first.wait().unwrap();
    assert_eq!(fastchess(&line(""), folder.path()).code, Some(0));
    assert_eq!(runs(), [true, true, false]);
    assert_eq!(games(&folder.path().join("config.json.run")).len(), 4);
    // What the killed one had played stays until the next tournament.
    let before = folder.path().join("config.json.run-before");
    assert!(std::fs::read_to_string(before.join("games.jsonl")).unwrap().lines().count() < 5);
    // What is no run is left alone.
    std::fs::remove_dir_all(&before).unwrap();
    std::fs::create_dir(&before).unwrap();
    std::fs::write(before.join("notes.txt"), "mine").unwrap();
    assert_eq!(fastchess(&line(""), folder.path()).code, Some(0));
    assert_eq!(std::fs::read_to_string(before.join("notes.txt")).unwrap(), "mine");
    assert_eq!(games(&folder.path().join("config.json.run-before-2")).len(), 4);
}

/// A tournament file of Cute Chess is neither read nor replaced; one of ours is.
#[test]
fn tournament_files_of_others_are_left_alone() {
    let folder = folder();
    let file = folder.path().join("cup.json");
    let line = "A() B(--seed 2) -each nodes=1 proto=uci -openings file=b.pgn plies=2 -rounds 1 -games 2 -maxmoves 4 \
                -tournamentfile cup.json";
    let cutechess = |line: &str| -> Ran { under("cutechess-cli", line, folder.path()).output().unwrap().into() };
    for other in [
        "{\"tournamentSettings\": {\"type\": \"round-robin\"}, \"engines\": [{\"command\": \"a\"}, {\"command\": \"b\"}]}",
        "{\"matchProgress\": []}",
        "no JSON",
    ] {
        std::fs::write(&file, other).unwrap();
        for line in [line, "-tournamentfile cup.json -resume"] {
            let ran = cutechess(line);
            let told = "a file that Cute Chess wrote is not read";
            assert!(ran.code == Some(1) && ran.stdout.contains(told), "{line}: {ran:?}");
            assert_eq!(std::fs::read_to_string(&file).unwrap(), other, "{line}");
        }
    }
    std::fs::remove_file(&file).unwrap();
    assert_eq!(cutechess(line).code, Some(0));
    assert_eq!(cutechess(line).code, Some(0), "ours is replaced");
    assert_eq!(cutechess("-tournamentfile cup.json -resume").code, Some(0));
}

/// fastchess takes the program in `PATH`.
#[cfg(unix)]
#[test]
fn cutechess_takes_a_program_of_its_folder_before_one_in_path() {
    let folder = folder();
    std::os::unix::fs::symlink(FAKE, folder.path().join("true")).unwrap();
    let line = "-engine cmd=true name=A -engine cmd=true name=B -each nodes=1 -maxmoves 2";
    let ran: Ran = under("cutechess-cli", line, folder.path()).output().unwrap().into();
    assert!(ran.code == Some(0) && ran.stdout.contains("Finished game 1 "), "{ran:?}");
    let ran = fastchess(line, folder.path());
    assert!(ran.code == Some(1) && ran.stdout.contains("A engine startup failure"), "{ran:?}");
}

/// cutechess-cli itself exits with 0 here; `docs/moving.md` names the difference.
#[test]
fn a_crash_without_recover_exits_with_1_in_cutechess() {
    let folder = folder();
    // The second game waits for a file that never comes, so that the stop comes first.
    let line = "A(--hold none@2) B(--seed 2 --fault exit-in-search@2) -each tc=1000 proto=uci -openings file=b.epd \
                -rounds 4 -games 2 -repeat -maxmoves 9";
    let ran: Ran = under("cutechess-cli", line, folder.path()).output().unwrap().into();
    assert!(ran.code == Some(1) && ran.stdout.contains("Finished game 1 "), "{ran:?}");
    // The results come at any end.
    assert_eq!(ran.stdout.matches("\nElo difference: ").count(), 1, "{ran:?}");
}

#[test]
fn compliance_is_checked() {
    let folder = folder();
    let check = |more: [&str; 2]| -> Ran {
        let args = ["fastchess", "--compliance", FAKE, more[0], more[1]];
        quintain(&args).current_dir(folder.path()).output().unwrap().into()
    };
    let ran = check(["--seed", "5"]);
    assert!(ran.code == Some(0) && ran.stdout.contains("pass"), "{ran:?}");
    let ran = check(["--fault", "no-readyok"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
}

/// The leading runner, unless it is this program under its name.
fn leader() -> Option<PathBuf> {
    let program = match std::env::var_os("FASTCHESS") {
        Some(path) => PathBuf::from(path),
        None => std::env::split_paths(&std::env::var_os("PATH")?)
            .map(|folder| folder.join("fastchess"))
            .find(|file| file.is_file())?,
    };
    let version = Command::new(&program).arg("--version").output().ok()?;
    let is_ours = String::from_utf8_lossy(&version.stdout).contains("quintain");
    (!is_ours).then_some(program)
}

/// The parts of a PGN on which both must agree: a game's tags and its moves without comments.
fn played(folder: &Path) -> Vec<(Vec<String>, String)> {
    let text = std::fs::read_to_string(folder.join("o.pgn")).unwrap();
    let mut games = Vec::new();
    for game in text.split("[Event ").skip(1) {
        let (head, body) = game.split_once("\n\n").unwrap();
        let tag =
            |name: &str| head.lines().find(|line| line.starts_with(&format!("[{name} "))).unwrap_or("-").to_owned();
        let tags = ["Round", "White", "Black", "Result", "FEN", "Termination", "TimeControl"].map(tag);
        let mut moves = String::new();
        let mut depth = 0;
        for c in body.chars() {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ if depth == 0 => moves.push(if c == '\n' { ' ' } else { c }),
                _ => {}
            }
        }
        games.push((tags.to_vec(), moves.split_whitespace().collect::<Vec<_>>().join(" ")));
    }
    games.sort();
    games
}

/// The lines that scripts read, without figures that are estimated and the sign of a `nan`. After a
/// crash fastchess no longer knows an engine's options.
fn read_by_scripts(text: &str) -> Vec<String> {
    let is_read = |line: &&str| {
        [
            "Started game",
            "Finished game",
            "Games:",
            "Ptnml",
            "Score of",
            "Finished match",
            "Results of",
            "Player:",
            "  Timeouts",
            "  Crashed",
        ]
        .iter()
        .any(|head| line.starts_with(head))
    };
    masked(text).lines().filter(is_read).map(|line| line.replace("-nan", "nan").replace(" - NULL", "")).collect()
}

/// Both play the same deterministic engines from the same book: the same games, results,
/// terminations and lines.
#[test]
fn fastchess_plays_the_same_games() {
    let Some(program) = leader() else {
        return skip("fastchess_plays_the_same_games", "fastchess is neither in PATH nor where FASTCHESS says");
    };
    let cases = [
        "A() B(--seed 2) -each nodes=9 -openings file=b.epd -rounds 6 -ratinginterval 2",
        "A() B(--seed 2) -each tc=9+0.1 -openings file=b.epd start=2 -rounds 3 -maxmoves 30 -ratinginterval 1",
        "A() B(--seed 2) -each nodes=9 -openings file=b.epd -rounds 5 -games 1 -maxmoves 20 -ratinginterval 2",
        "A() B(--seed 2) -each nodes=9 -openings file=b.epd -rounds 2 -noswap -maxmoves 20",
        "A() B(--seed 2) -each nodes=9 -openings file=b.epd -rounds 2 -reverse -maxmoves 20",
        "A() B(--seed 2) -each nodes=9 -openings file=b.pgn plies=3 -rounds 4 -maxmoves 20",
        "A() B(--seed 2) -each st=9 -rounds 2 -maxmoves 20 -resign movecount=3 score=200",
        "A() B(--seed 2) -each tc=40/60 depth=2 -openings file=b.epd -rounds 4 -resign movecount=2 score=300 -draw movenumber=4 movecount=2 score=100",
        "A() B(--seed 2 --resigns 50) -each nodes=9 -openings file=b.epd -rounds 4 -output format=cutechess -resign movecount=2 score=300 -maxmoves 30",
        "A() B(--seed 2 --fault illegal@5) -each nodes=9 -openings file=b.epd -rounds 2 -maxmoves 20",
        "A() B(--seed 2 --fault segv@5) -each tc=9 -openings file=b.epd -rounds 2 -maxmoves 20 -recover",
        "A() B(--seed 2 --fault none@5) -each tc=9 -openings file=b.epd -rounds 1 -maxmoves 20 -recover",
    ];
    for line in cases {
        let line = format!("{line} -pgnout file=o.pgn");
        let (ours, theirs) = (folder(), folder());
        let mine = fastchess(&line, ours.path());
        let other: Ran = Command::new(&program)
            .args(words("fastchess", &line))
            .current_dir(theirs.path())
            .stdin(Stdio::null())
            .output()
            .unwrap()
            .into();
        assert_eq!(mine.code, other.code, "{line}: {mine:?} {other:?}");
        assert_eq!(played(ours.path()), played(theirs.path()), "{line}");
        assert_eq!(read_by_scripts(&mine.stdout), read_by_scripts(&other.stdout), "{line}");
    }
}
