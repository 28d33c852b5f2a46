//! Shards of self-play: kills, damage and the ledgers of several machines.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use destrier_trainer::shards::{Ledger, Recipe, ShardLine};
use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_destrier-trainer");

const KEEP: &str = "[keep]\nmin-ply = 8\nkeep-captures = true\n";

/// Returns a recipe of Destrier against itself in this process.
fn own() -> String {
    format!(
        "name = \"own\"\nshard-positions = 300\nchunk-games = 4\n[self-play]\nevaluation = \"classical\"\ndepth = 1\nhash = 1\n\
         max-plies = 60\n{KEEP}"
    )
}

/// Returns a recipe of two UCI engines, whose games are scored anew.
fn of_match() -> String {
    let player = |name: &str, depth: u32| {
        format!("[[match.players]]\nname = \"{name}\"\nspec = \"{PROGRAM} -- uci\"\ndepth = {depth}\n")
    };
    format!(
        "name = \"pair\"\nshard-positions = 300\nchunk-games = 4\n[openings]\nrandom-plies = \"3-4\"\n\
         [rescore]\nengine = \"{PROGRAM}\"\narg = \"uci\"\noption = [\"Hash=1\", \"EvalMode=classical\"]\ndepth = 1\n\
         [match]\nmax-plies = 60\noptions = {{ Hash = 1 }}\n{}{}{KEEP}",
        player("one", 1),
        player("two", 2)
    )
}

struct Folder(TempDir);

impl Folder {
    fn new(recipe: &str) -> Folder {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("recipe.toml"), recipe).unwrap();
        Folder(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn program(&self, words: &str) -> Command {
        let mut command = Command::new(PROGRAM);
        let word = |word: &str| match word.strip_prefix('@') {
            Some(name) => self.path(name).to_str().unwrap().to_owned(),
            None => word.to_owned(),
        };
        command.arg("shards").args(words.split(' ').map(word)).stdin(Stdio::null());
        // A separate state folder, so that the developer's own state is not touched.
        command.env("QUINTAIN_STATE", concat!(env!("CARGO_TARGET_TMPDIR"), "/state"));
        command
    }

    fn output(&self, words: &str) -> Output {
        self.program(words).output().unwrap()
    }

    /// Runs a command that must end with this exit code. Returns stdout and stderr.
    fn ended(&self, words: &str, code: i32) -> String {
        let output = self.output(words);
        let told = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(code), "{words}\n{told}");
        told
    }

    fn lines(&self, out: &str) -> Vec<ShardLine> {
        Ledger::read(&self.path(out)).unwrap().lines().to_vec()
    }
}

/// Returns the names and bytes of the files of a folder of shards. Work and locks are left out.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let names: BTreeSet<String> = names.filter(|name| name != "work" && name != "lock").collect();
    names.into_iter().map(|name| (name.clone(), fs::read(folder.join(name)).unwrap())).collect()
}

fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).map_or(true, |mut entries| entries.next().is_none())
}

/// Kills a process again and again, each time after a line that it has not printed before.
fn kill_and_resume(folder: &Folder, words: &str) {
    let mut seen = BTreeSet::new();
    let mut kills = 0;
    let status = loop {
        let mut child = folder.program(words).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        if lines.any(|line| line.contains(": ") && seen.insert(line)) {
            child.kill().unwrap();
            child.wait().unwrap();
            kills += 1;
            // On a busy machine the kill may come some chunks later.
            seen.extend(lines);
        } else {
            break child.wait().unwrap();
        }
    };
    assert!(status.success());
    assert!(kills >= 2, "{seen:?}");
}

#[test]
fn a_killed_process_loses_nothing_and_doubles_nothing() {
    for (recipe, name) in [(own(), "own"), (of_match(), "pair")] {
        let folder = Folder::new(&recipe);
        folder.ended("make @recipe.toml --out @straight --shards 2 --threads 2", 0);
        kill_and_resume(&folder, "make @recipe.toml --out @killed --shards 2 --threads 1");
        let [straight, killed] = ["straight", "killed"].map(|out| files(&folder.path(out)));
        assert_eq!([straight.len(), killed.len()], [3; 2], "two shards and the ledger");
        for (expected, found) in straight.iter().zip(&killed) {
            assert!(expected == found, "{} and {}", expected.0, found.0);
        }
        assert!(is_empty(&folder.path("killed/work")));
        let lines = folder.lines("killed");
        assert_eq!(lines.iter().map(|line| line.number).collect::<Vec<_>>(), [1, 2]);
        for line in &lines {
            assert!(line.counts.kept >= 300 && line.counts.kept <= line.counts.positions, "{line:?}");
            assert_eq!(line.counts.results.iter().sum::<u64>(), line.counts.games);
            assert_eq!((line.recipe.as_str(), line.passed_over), (name, 0));
            assert!(line.engine.contains("signature"), "{line:?}");
        }
        let told = folder.ended("check @killed", 0);
        assert!(told.contains("2 shards listed, 0 faults") && told.contains(" 0 of them copies"), "{told}");
        // Nothing is left to make.
        folder.ended("make @recipe.toml --out @killed --shards 2", 0);
        assert!(files(&folder.path("killed")) == killed);
    }
}

#[test]
fn a_damaged_shard_is_named_and_made_again() {
    let folder = Folder::new(&own());
    folder.ended("make @recipe.toml --out @out --shards 3", 0);
    let whole = files(&folder.path("out"));
    let shard = |number: u32| folder.path(&format!("out/own-1-{number:05}.vf"));
    let mut bytes = fs::read(shard(1)).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(shard(1), &bytes).unwrap();
    fs::write(shard(2), &bytes[..middle]).unwrap();
    fs::remove_file(shard(3)).unwrap();
    fs::write(folder.path("out/stray.vf"), b"").unwrap();
    let told = folder.ended("check @out", 1);
    for says in [
        "own-1-00001.vf: damaged: its SHA-256 is not the one in the ledger",
        "own-1-00002.vf: damaged: ",
        "own-1-00003.vf: not in the folder",
        "stray.vf: no line of the ledger lists it",
        "3 shards listed, 4 faults",
    ] {
        assert!(told.contains(says), "{says}: {told}");
    }
    fs::remove_file(folder.path("out/stray.vf")).unwrap();
    // A missing shard may be on another machine.
    let told = folder.ended("make @recipe.toml --out @out --shards 3 --skip-missing", 0);
    assert!(told.contains("own-1-00001.vf: damaged") && told.contains("own-1-00002.vf: damaged"), "{told}");
    assert!(!shard(3).exists());
    let told = folder.ended("make @recipe.toml --out @out --shards 3", 0);
    assert!(told.contains("own-1-00003.vf: not in the folder; it is made again"), "{told}");
    assert!(files(&folder.path("out")) == whole);

    // Other bytes than the listed ones are never taken for them.
    let path = folder.path("out/ledger.jsonl");
    let hash = folder.lines("out")[0].sha256.clone();
    fs::write(&path, fs::read_to_string(&path).unwrap().replace(&hash, &"0".repeat(64))).unwrap();
    let told = folder.ended("make @recipe.toml --out @out --shards 3", 2);
    assert!(told.contains("own-1-00001.vf: made again with other bytes"), "{told}");
    assert!(!shard(1).exists());
}

#[test]
fn ledgers_of_two_machines_are_joined_and_doubles_refused() {
    let folder = Folder::new(&own());
    folder.ended("make @recipe.toml --out @a --shards 2", 0);
    folder.ended("make @recipe.toml --out @b --shards 1 --seed 2", 0);
    folder.ended("make @recipe.toml --out @again --shards 1", 0);
    let told = folder.ended("merge @a @b/ledger.jsonl --out @all.jsonl", 0);
    assert!(told.lines().any(|line| line.starts_with("all ")), "{told}");
    assert_eq!(Ledger::read(&folder.path("all.jsonl")).unwrap().lines().len(), 3);
    assert_eq!(folder.ended("info @all.jsonl", 0), told);
    let told = folder.ended("merge @a @b @again --out @more.jsonl", 2);
    assert!(told.contains("own-1-00001.vf: the same bytes as shard 1 of `own` with seed 1"), "{told}");
    assert!(!folder.path("more.jsonl").exists());
    assert!(folder.ended("merge @a @b --out @all.jsonl", 2).contains("give `--force`"));
    // The joined ledger serves the folder that has all files.
    fs::copy(folder.path("b/own-2-00001.vf"), folder.path("a/own-2-00001.vf")).unwrap();
    folder.ended("merge @a @b --out @a/ledger.jsonl --force", 0);
    folder.ended("check @a", 0);
    folder.ended("make @recipe.toml --out @a --shards 2 --seed 2", 0);
    assert_eq!(folder.lines("a").len(), 4);
}

#[test]
fn a_changed_recipe_is_another_one() {
    let folder = Folder::new(&own());
    folder.ended("make @recipe.toml --out @out", 0);
    fs::write(folder.path("recipe.toml"), own().replace("depth = 1", "depth = 2")).unwrap();
    let told = folder.ended("make @recipe.toml --out @out --shards 2", 2);
    assert!(told.contains("own-1-00001.vf is of another recipe `own`"), "{told}");
    // Unfinished work of other settings begins anew.
    fs::create_dir_all(folder.path("new/work/own-1-00001")).unwrap();
    fs::write(folder.path("new/work/own-1-00001/chunk-0001.vf"), b"rest").unwrap();
    let told = folder.ended("make @recipe.toml --out @new", 0);
    assert!(told.contains("begun with other settings"), "{told}");
    folder.ended("check @new", 0);
}

#[test]
fn engines_that_fail_too_often_have_an_exit_code() {
    let folder = Folder::new("");
    // An engine that plays an illegal move.
    let script = "while read -r word rest; do\ncase $word in\nuci) echo option name Hash type spin default 1 min 1 max 1; \
                  echo uciok;;\nisready) echo readyok;;\ngo) echo bestmove a1h8;;\nquit) exit;;\nesac\ndone\n";
    fs::write(folder.path("engine.sh"), script).unwrap();
    let engine = format!("/bin/sh -- {}", folder.path("engine.sh").display());
    let recipe = of_match().replace(&format!("{PROGRAM} -- uci"), &engine);
    fs::write(folder.path("recipe.toml"), recipe.replace("[match]", "[match]\nmax-failures = 0")).unwrap();
    let told = folder.ended("make @recipe.toml --out @out", 4);
    assert!(told.contains("pair-1-00001: the match could not go on; remove the cause told above"), "{told}");
}

#[test]
fn mistakes_in_recipes_are_named() {
    let folder = Folder::new("");
    let check = |recipe: &str, from: &str, to: &str, says: &str| {
        assert!(recipe.contains(from), "{from}");
        let path = folder.path("bad.toml");
        fs::write(&path, recipe.replace(from, to)).unwrap();
        let error = Recipe::load(&path).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("bad.toml") && error.contains(says) && !error.contains('\n'), "{says}: {error}");
    };
    let (own, pair) = (own(), of_match());
    check(&own, "chunk-games = 4", "chunk-gmes = 4", "unknown key `chunk-gmes`");
    check(&own, "chunk-games = 4", "chunk-games = 0", "`chunk-games`: give 1 to");
    check(&own, "shard-positions = 300", "shard-positions = 0", "line 2, `shard-positions`: 0 is no shard");
    check(&own, "\"own\"", "\"a/b\"", "`name`: it begins file names");
    check(&own, "hash = 1", "seed = 1", "`self-play`: the shards set `seed`");
    check(&own, "hash = 1", "haash = 1", "unknown option `--haash`");
    check(&own, "hash = 1", "random-plies = 0", "give `random-plies`");
    check(&own, "\"classical\"", "\"no.nnue\"", "no.nnue");
    check(&own, "[self-play]", "[openings]\n[self-play]", "`openings`: those of [self-play] are its own keys");
    check(&own, "min-ply = 8", "min-plyy = 8", "`keep`: unknown key `min-plyy`");
    check(&pair, "chunk-games = 4", "chunk-games = 5", "`chunk-games`: a match plays pairs");
    check(&pair, "depth = 2", "depth = 1", "the two games of a pair would be copies");
    check(&pair, "max-plies = 60", "pairs = 3", "`match`: the shards set the number of pairs");
    check(&pair, "max-plies = 60", "book = \"x\"", "the book stands in [openings]");
    check(&pair, "depth = 2", "movetime = 1.0", "games by a clock cannot be made again");
    check(&pair, "max-plies = 60", "max-time = \"8h\"", "leave out `max-time` and `until-width`");
    check(&pair, "max-plies = 60", "until-width = 5", "leave out `max-time` and `until-width`");
    check(&pair, "max-plies = 60", "ponder = true", "cannot be made again; leave out `ponder`");
    check(&pair, "{ Hash = 1 }", "{ threads = 2 }", "cannot be made again; leave out `ponder` and `Threads`");
    check(&pair, "\"Hash=1\", \"Eval", "\"Threads=2\", \"Eval", "scores of several threads cannot be made again");
    check(&pair, "\"3-4\"", "\"0\"", "`openings`: `random-plies` 0: expected");
    check(&pair, "arg = \"uci\"", "engines = 2", "`rescore`: the shards set `engines`");
    check(&pair, "arg = \"uci\"", "keep-hash = true", "leave out `keep-hash`");
    let plans = Path::new(env!("CARGO_MANIFEST_DIR")).join("plans/recipes");
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(plans).unwrap() {
        let path = entry.unwrap().path();
        let recipe = Recipe::load(&path).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(path.file_stem().unwrap().to_str(), Some(recipe.name.as_str()));
        names.insert(recipe.settings);
    }
    assert_eq!(names.len(), 7, "every recipe differs");
}
