//! Bad input: one line that says what to do, exit code 2, and no run directory left behind.

#[cfg(unix)]
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

#[cfg(unix)]
use crate::harness::git;
use crate::harness::{Ran, fake, quintain};

/// A folder of bad files, and the program run in it.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn file(&self, name: &str, text: &str, mode: u32) -> &Self {
        std::fs::write(self.path(name), text).unwrap();
        #[cfg(unix)]
        std::fs::set_permissions(self.path(name), std::fs::Permissions::from_mode(mode)).unwrap();
        #[cfg(not(unix))]
        let _ = mode;
        self
    }

    /// `sprt` with engines that work, unless `args` name others.
    fn sprt(&self, args: &[&str]) -> Ran {
        let mut words = vec!["sprt".to_owned()];
        words.extend(args.iter().map(|word| (*word).to_owned()));
        for (flag, value) in [("--new", fake("--seed 1")), ("--base", fake("--seed 2")), ("--out", "run".into())] {
            if !args.contains(&flag) {
                words.extend([flag.to_owned(), value]);
            }
        }
        if !args.contains(&"--tc") {
            words.extend(["--nodes".to_owned(), "1".to_owned()]);
        }
        if !args.contains(&"--max-pairs") {
            words.extend(["--max-pairs".to_owned(), "1".to_owned()]);
        }
        let mut command = quintain(&words);
        // Folders above the temporary one are no repository of the user's.
        command.current_dir(self.folder.path()).env("QUINTAIN_CACHE", self.path("cache"));
        command.env("GIT_CEILING_DIRECTORIES", self.folder.path().parent().unwrap());
        command.output().unwrap().into()
    }

    /// Exit code 2, `words` in the message, and nothing in the folder that was not there.
    #[track_caller]
    fn check(&self, args: &[&str], words: &[&str]) -> String {
        let before = entries(self.folder.path());
        let ran = self.sprt(args);
        assert_eq!(ran.code, Some(2), "{args:?}: {ran:?}");
        // Lines of builds come before: `1 of 2: building ...`.
        let is_step = |line: &&str| line.starts_with("1 of ") || line.starts_with("2 of ");
        let said = ran.stderr.lines().skip_while(is_step).collect::<Vec<_>>().join("\n");
        assert!(ran.stdout.is_empty() && said.starts_with("error: "), "{args:?}: {ran:?}");
        for word in words {
            assert!(said.contains(word), "{args:?}: `{word}` is not in {said}");
        }
        let mut after = entries(self.folder.path());
        // Builds that failed may leave their locks; a run directory is what must not be there.
        after.retain(|name| name != "cache");
        assert_eq!(after, before, "{args:?}");
        said
    }

    /// The same, and the message is one line.
    #[track_caller]
    fn check_line(&self, args: &[&str], words: &[&str]) {
        let said = self.check(args, words);
        assert_eq!(said.lines().count(), 1, "{args:?}: {said}");
    }
}

fn entries(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.filter(|name| name != "cache").collect();
    names.sort();
    names
}

#[test]
fn flags_that_cannot_be() {
    let place = Place::new();
    for (args, words) in [
        (&["--no-such-flag"][..], &["--no-such-flag", "--help"][..]),
        (&["--max-pairs", "many"], &["many", "--max-pairs"]),
        (&["--seed", "-1"], &["-1"]),
        (&["-j", "70000"], &["70000"]),
        (&["--bounds", "5"], &["--bounds", "'5'", "0,5"]),
    ] {
        place.check(args, words);
    }
    for (args, words) in [
        (&["--bounds", "5,0"][..], &["bounds", "5", "0"][..]),
        (&["--bounds", "1,1"], &["bounds"]),
        (&["--bounds", "nan,5"], &["bounds"]),
        (&["--alpha", "1.5"], &["alpha", "1.5"]),
        (&["--alpha", "0"], &["alpha"]),
        (&["--beta", "-0.1"], &["beta"]),
        (&["--alpha", "0.6", "--beta", "0.6"], &["alpha"]),
        (&["--model", "elo"], &["elo", "normalized"]),
        (&["--max-pairs", "0"], &["--max-pairs 0"]),
        (&["--max-time", "soon"], &["--max-time `soon`", "30m"]),
        (&["-j", "0"], &["--concurrency 0"]),
        (&["-j", "60000", "--tc", "8+0.08"], &["--concurrency 60000", "this machine has ", " CPU"]),
        // Windows does not tell how many processes and handles there may be.
        #[cfg(unix)]
        (&["-j", "65535"], &["--concurrency 65535: ", "at most"]),
        #[cfg(unix)]
        (&["-j", "65535", "--force-concurrency"], &["--concurrency 65535: a game takes ", "at most"]),
        (
            &["-j", "1", "--option", "Threads=1024", "--tc", "8+0.08"],
            &["--concurrency 1 with 1024 threads each", " CPU"],
        ),
        (&["--stall-timeout", "0"], &["--stall-timeout 0", "positive"]),
        (&["--tc", "nonsense"], &["nonsense", "8+0.08"]),
        (&["--tc", "1+1", "--movetime", "1"], &["--tc", "--movetime"]),
        (&["--depth", "0"], &["limit of 0"]),
        (&["--draw", "nonsense"], &["nonsense", "move=34,count=8,score=20"]),
        (&["--resign", "count=0,score=1"], &["count=0,score=1", "count=3,score=600"]),
        (&["--stall-timeout", "-1"], &["--stall-timeout"]),
        (&["--margin-ms", "-1"], &["--margin-ms"]),
        (&["--chess960"], &["--book"]),
        (&["--book-order", "shuffled"], &["shuffled", "sequential"]),
        (&["--book-start", "0"], &["--book-start 0"]),
        (&["--book-start", "9999999"], &["--book-start 9999999", "openings 1 to"]),
    ] {
        place.check_line(args, words);
    }
}

#[test]
fn files_that_cannot_be_used() {
    let place = Place::new();
    let fen = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1";
    place
        .file("keys.toml", "nodes = 1\nseed = 3\nmax-piars = 5\n", 0o644)
        .file("kind.toml", "nodes = 1\nmax-pairs = \"five\"\n", 0o644)
        .file("broken.toml", "nodes = \n", 0o644)
        .file("order.toml", "nodes = 1\nbook-order = \"shuffled\"\n", 0o644)
        .file("bounds.toml", "seed = 3\n\nbounds = [5, 0]\n", 0o644)
        .file("broken.epd", &format!("{fen}\n{fen}\nrnbqkbnr/pppp/8 b KQkq -\n{fen}\n"), 0o644)
        .file("over.epd", "7k/5QQ1/8/8/8/8/8/7K b - - 0 1\n", 0o644)
        .file("empty.epd", "# nothing\n\n", 0o644)
        .file("illegal.pgn", "[Event \"?\"]\n\n1. e4 e5 2. Nf3 Nc6 *\n\n[Event \"?\"]\n\n1. e4 e5 2. Ke3 *\n", 0o644);
    place.file("script", "#!/bin/sh\n", 0o755);
    std::fs::write(place.path("program"), b"\x7fELF\xff").unwrap();
    std::fs::write(place.path("long"), vec![b' '; 9 << 20]).unwrap();
    std::fs::create_dir(place.path("taken")).unwrap();
    for (args, words) in [
        (&["missing.toml"][..], &["missing.toml", "cannot read the plan"][..]),
        (&["program"], &["cannot read the plan program", "is it an engine?", "--new ./new --base ./base"]),
        (&["script"], &["cannot read the plan script: it is a script; is it an engine?"]),
        (&["long"], &["cannot read the plan long", "is it an engine?"]),
        (&["keys.toml", "program"], &["`program`: a test takes one plan", "--new ./new --base ./base"]),
        (&["keys.toml"], &["keys.toml:3:1", "max-piars"]),
        (&["kind.toml"], &["kind.toml:2:"]),
        (&["broken.toml"], &["broken.toml:1:"]),
        // Settings that are wrong only after the merge with the flags.
        (&["order.toml"], &["order.toml:2: ", "book-order `shuffled`"]),
        (&["bounds.toml"], &["bounds.toml:3: ", "write 0,5"]),
        (&["order.toml", "--book-order", "random", "--bounds", "5,0"], &["error: cannot start the test: bounds 5,0"]),
        (&["--book", "missing.epd"], &["missing.epd", "os error 2"]),
        (&["--book", "taken"], &["taken"]),
        (&["--book", "broken.epd"], &["broken.epd", "3"]),
        (&["--book", "over.epd"], &["over.epd", "the game is over here"]),
        (&["--book", "empty.epd"], &["empty.epd"]),
        (&["--book", "illegal.pgn"], &["illegal.pgn", "Ke3"]),
        (&["--out", "taken"], &["taken: exists already and is no run; give another --out, or remove it"]),
        (&["--out", "empty.epd"], &["empty.epd: exists already and is no run; "]),
        (&["--out", "keys.toml/run"], &["keys.toml", "--out"]),
    ] {
        place.check_line(args, words);
    }
}

#[test]
fn engines_that_do_not_start() {
    let place = Place::new();
    place
        .file("plain", "#!/bin/sh\n", 0o644)
        .file("exits", "#!/bin/sh\necho no network file >&2\nexit 5\n", 0o755)
        .file("orphan", "#!/no/such/shell\n", 0o755)
        .file("cat", "#!/bin/sh\nread line\n", 0o755);
    for (args, words) in [
        #[cfg(unix)]
        (&["--new", "./missing"][..], &["new `./missing`", "No such file"][..]),
        // The words of the system are those of its version and language.
        #[cfg(windows)]
        (&["--new", "./missing"][..], &["new `./missing`"][..]),
        (&["--base", "./missing -- --arg"], &["base `./missing -- --arg`", "missing"]),
        #[cfg(unix)]
        (&["--new", "./plain"], &["plain", "not executable", "chmod +x"]),
        #[cfg(windows)]
        (&["--new", "./plain"], &["plain", "not executable", ".exe"]),
        #[cfg(unix)]
        (&["--new", "."], &["not in a Git repository"]),
        #[cfg(unix)]
        (&["--new", "git:HEAD"], &["not in a Git repository"]),
        (&["--new", "no-such-engine"], &["no-such-engine", "engines.toml"]),
        #[cfg(unix)]
        (&["--new", "./exits"], &["exits", "exit status 5 before `uciok`", "no network file"]),
        #[cfg(unix)]
        (&["--base", "./orphan"], &["orphan", "interpreter"]),
        #[cfg(unix)]
        (&["--base", "./cat"], &["cat", "exit status 0 before `uciok`"]),
        (&["--new", "'./plain"], &["quote"]),
        (&["--option", "Nope=1"], &["no option `Nope`"]),
        (&["--new-option", "Hush=16"], &["no option `Hush`", "did you mean `Hash`?"]),
        (&["--option", "Threads=0"], &["option `Threads` does not take `0`", "from 1 to 1024"]),
        (&["--base-option", "Style=Wild"], &["Style", "Wild", "Risky"]),
        (&["--new-name", " "], &["\" \" is not a player's name"]),
        (&["--base-name", "a\nb"], &["is not a player's name"]),
    ] {
        place.check_line(args, words);
    }
}

/// A temporary folder in a repository of the user's is not taken for a part of it.
#[cfg(unix)]
#[test]
fn a_repository_above_the_ceiling_is_not_found() {
    let above = tempfile::tempdir().unwrap();
    git(above.path(), &["init", "--quiet"]);
    let place = Place { folder: tempfile::tempdir_in(above.path()).unwrap() };
    place.check_line(&["--new", "git:HEAD"], &["not in a Git repository"]);
}

/// The recipes are commands of Unix.
#[cfg(unix)]
#[test]
fn revisions_that_do_not_build() {
    let place = Place::new();
    let git = |args: &[&str]| git(place.folder.path(), args);
    git(&["init", "--quiet"]);
    place.file(".gitignore", "cache\n", 0o644);
    git(&["add", "."]);
    git(&["commit", "--quiet", "-m", "nothing to build"]);
    let commit = |tag: &str, recipe: &str| {
        place.file("quintain.toml", recipe, 0o644);
        git(&["add", "."]);
        git(&["commit", "--quiet", "-m", tag]);
        git(&["tag", tag]);
    };
    git(&["tag", "bare"]);
    commit("fails", "[build]\ncommand = \"sh -c 'echo out; echo broken >&2; false'\"\nbinary = \"engine\"\n");
    commit("nothing", "[build]\ncommand = \"true\"\nbinary = \"engine\"\n");
    commit("misspelt", "[build]\ncommand = \"true\"\nbinray = \"engine\"\n");
    let misspelt = git(&["rev-parse", "misspelt"]);
    let misspelt = format!("{}:quintain.toml:3:1: ", &misspelt[..8]);
    for (args, words) in [
        (&["--new", "git:no-such-rev"][..], &["no commit, branch or tag `no-such-rev`", "git log"][..]),
        (&["--new", "git:--help"], &["`git:--help` is not an engine", "git:REV"]),
        (&["--new", "git:HEAD@./nowhere"], &["nowhere", "not in a Git repository"]),
        (&["--new", "git:nothing"], &["`true` succeeded", "left no `engine`", "`binary` in quintain.toml"]),
        (&["--new", "git:misspelt"], &[&misspelt, "unknown key `binray`", "`binary`"]),
        // A commit without a recipe is built by that of the working tree.
        (&["--new", "git:bare"], &["/quintain.toml:3:1: ", "binray"]),
        (&["--base", "."], &["/quintain.toml:3:1: ", "binray"]),
    ] {
        place.check_line(args, words);
    }
    std::fs::remove_file(place.path("quintain.toml")).unwrap();
    place.check_line(&["--new", "git:bare"], &["no quintain.toml, Cargo.toml or Makefile", "[build]"]);
    // A compiler's last lines come below.
    let said = place.check(&["--new", "git:fails"], &["cannot build ", "failed", "echo broken"]);
    assert!(said.ends_with("out\nbroken"), "{said}");
}

#[test]
fn a_folder_that_is_no_run() {
    let place = Place::new();
    place.file("games.jsonl", "{}\n", 0o644);
    for (dir, words) in [
        ("nowhere", "error: no run `nowhere`; `quintain runs` lists them"),
        (".", "cannot read it; is `.` a run directory?"),
    ] {
        let ran: Ran = quintain(&["resume", dir]).current_dir(place.folder.path()).output().unwrap().into();
        assert_eq!((ran.code, ran.stderr.lines().count()), (Some(2), 1), "{ran:?}");
        assert!(ran.stderr.starts_with("error: ") && ran.stderr.contains(words), "{ran:?}");
    }
}

/// Other systems have no such names.
#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_no_plan_can_name() {
    use std::os::unix::ffi::OsStrExt as _;
    let folder = tempfile::tempdir().unwrap();
    let (usual, latin) = (folder.path(), folder.path().join(std::ffi::OsStr::from_bytes(b"caf\xe9")));
    std::fs::create_dir(&latin).unwrap();
    let [new, base] = ["--seed 1", "--seed 2"].map(fake);
    let args = ["sprt", "--new", &new, "--base", &base, "--nodes", "1", "--max-pairs", "1", "--out", "run"];
    for (cwd, cache, remedy) in
        [(latin.as_path(), usual, "work in another one"), (usual, latin.as_path(), "name another one for builds")]
    {
        let ran: Ran = quintain(&args).current_dir(cwd).env("QUINTAIN_CACHE", cache).output().unwrap().into();
        assert_eq!((ran.code, ran.stderr.lines().count()), (Some(2), 1), "{ran:?}");
        assert!(ran.stderr.contains("the name of this folder is not; ") && ran.stderr.contains(remedy), "{ran:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_a_full_disk_cuts_off_is_no_success() {
    for args in [&["init", "match", "-"][..], &["completions", "bash"], &["check", "--list"], &["man"]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let ran = quintain(args).stdout(full).output().unwrap();
        let stderr = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(2), "{args:?}: {stderr}");
        assert!(stderr.contains("error: the output is not complete: "), "{args:?}: {stderr}");
    }
}
