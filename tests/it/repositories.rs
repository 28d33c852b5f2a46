//! Engines from odd repositories: other repositories within, large files beside the sources, clones
//! whose branches move, builds that fail to begin.

#![allow(clippy::unwrap_used, reason = "helpers of tests may stop at the first surprise, as tests do")]

use std::fs;
use std::path::{Path, PathBuf};

use quintain::source::{Context, Update, default_base, pinned, resolve, stretch};

use crate::harness::{Ran, quintain};
use crate::source::{Toy, executable, script};

/// Recipe whose only source is a folder.
const RECIPE: &str = "\
[build]
command = 'cp engine/main.sh engine.bin && chmod +x engine.bin'
binary = 'engine.bin'
sources = ['engine']
";

/// Returns a repository with a recipe and one commit.
fn toy() -> Toy {
    let toy = Toy::bare();
    toy.write("quintain.toml", RECIPE);
    toy.write("engine/main.sh", &script(1));
    toy.commit("One");
    toy
}

#[test]
fn a_file_beside_the_sources_is_not_stored() {
    let toy = toy();
    toy.write("data/train.bin", "a large file that nobody builds");
    toy.write("engine/net.bin", "a new source of a new kind");
    assert!(toy.resolve(".").unwrap().origin.dirty);
    let stored = toy.git(&["cat-file", "--batch-all-objects", "--batch-check=%(objectname)"]);
    let has = |file: &str| stored.contains(&toy.git(&["hash-object", file]));
    assert!(has("engine/net.bin") && !has("data/train.bin"), "{stored}");
}

#[test]
fn another_repository_within_is_no_source() {
    let toy = Toy::bare();
    toy.write("Makefile", "engine: main.sh\n\tcp main.sh engine && chmod +x engine\n");
    toy.write("main.sh", &script(1));
    toy.commit("One");
    for commits in [0, 1] {
        toy.git(&["init", "--quiet", "other"]);
        if commits == 1 {
            toy.git(&["-C", "other", "commit", "--quiet", "--allow-empty", "-m", "Theirs"]);
        }
        let found = toy.resolve(".").unwrap();
        assert_eq!((found.origin.dirty, found.origin.bench_nodes), (false, Some(1)), "{commits} commits");
    }
}

/// They are no sources, but decide what is built.
#[test]
fn a_pinned_tree_has_its_lock_file_and_profile() {
    let toy = toy();
    let clean = pinned(".", &toy.context, &mut |_| {}).unwrap();
    toy.write("README", "nothing that is built");
    assert_eq!(pinned(".", &toy.context, &mut |_| {}).unwrap(), clean);
    toy.write("Cargo.toml", "[profile.release]\nlto = true\n");
    let spec = pinned(".", &toy.context, &mut |_| {}).unwrap();
    assert_ne!(spec, clean);
    assert_eq!(toy.resolve(&spec).unwrap().program, toy.resolve(".").unwrap().program);
}

#[test]
fn a_build_removes_no_folder_of_the_user() {
    let toy = toy();
    let mine = toy.context.cache.join("scratch/mine");
    fs::create_dir_all(&mine).unwrap();
    fs::write(mine.join("file"), "kept").unwrap();
    toy.resolve(".").unwrap();
    assert_eq!(fs::read_to_string(mine.join("file")).unwrap(), "kept");
}

/// Such as one on a disk that is not mounted today.
#[test]
fn a_build_that_cannot_begin_forgets_no_worktree_of_the_user() {
    let toy = toy();
    let away = toy.context.cwd.with_file_name("away");
    toy.git(&["worktree", "add", "--quiet", "--detach", away.to_str().unwrap()]);
    fs::rename(&away, away.with_file_name("unplugged")).unwrap();
    toy.git(&["config", "filter.broken.clean", "cat"]);
    toy.git(&["config", "filter.broken.smudge", "false"]);
    toy.git(&["config", "filter.broken.required", "true"]);
    toy.write(".gitattributes", "*.bin filter=broken\n");
    toy.write("engine/net.bin", "cannot be checked out");
    toy.commit("Two");
    toy.resolve("git:HEAD").unwrap_err();
    fs::rename(away.with_file_name("unplugged"), &away).unwrap();
    toy.git(&["-C", away.to_str().unwrap(), "status"]);
}

#[test]
fn a_clone_follows_the_default_branch_and_branches_with_names_of_digits() {
    let toy = toy();
    let elsewhere = Context { cwd: toy.context.cache.with_file_name("elsewhere"), cache: toy.context.cache.clone() };
    fs::create_dir(&elsewhere.cwd).unwrap();
    let nodes = |rev: &str| {
        let spec = format!("git:{rev}@file://{}", toy.context.cwd.display());
        resolve(&spec, &elsewhere, &mut |_| {}).unwrap().origin.bench_nodes
    };
    toy.git(&["branch", "20240131"]);
    assert_eq!((nodes("HEAD"), nodes("20240131")), (Some(1), Some(1)));
    toy.git(&["checkout", "--quiet", "20240131"]);
    toy.write("engine/main.sh", &script(2));
    toy.commit("Two");
    // It is the HEAD of this repository now, which the clone took for its default branch.
    assert_eq!((nodes("20240131"), nodes("HEAD"), nodes("main")), (Some(2), Some(2), Some(1)));
    assert_eq!(["@", "@^0", "HEAD^", "HEAD~1"].map(nodes), [2, 2, 1, 1].map(Some));
}

/// A clone that looks a name up in its own refs tests an old commit.
#[test]
fn a_name_that_cannot_be_fetched_is_noted_wherever_it_is_used() {
    let toy = toy();
    toy.write("engine/main.sh", &script(2));
    toy.commit("Two");
    let elsewhere = Context { cwd: toy.context.cache.with_file_name("elsewhere"), cache: toy.context.cache.clone() };
    fs::create_dir(&elsewhere.cwd).unwrap();
    let url = format!("file://{}", toy.context.cwd.display());
    let spec = format!("git:main@{url}");
    resolve(&spec, &elsewhere, &mut |_| {}).unwrap();
    fs::rename(&toy.context.cwd, toy.context.cwd.with_file_name("away")).unwrap();
    let mut notes = Vec::new();
    let mut keep = |update: Update<'_>| {
        if let Update::Note(text) = update {
            notes.push(text.to_owned());
        }
    };
    resolve(&spec, &elsewhere, &mut keep).unwrap();
    pinned(&spec, &elsewhere, &mut keep).unwrap();
    default_base(&elsewhere, &spec, &mut keep).unwrap();
    stretch(&elsewhere, Some(&url), ("main~1", "main"), &mut keep).unwrap();
    let named = |note: &String| note.split('`').nth(1).map(str::to_owned).unwrap_or_default();
    assert_eq!(notes.iter().map(named).collect::<Vec<_>>(), ["main", "main", "HEAD", "main", "main~1"], "{notes:#?}");
    let begin = format!("{url}: cannot fetch, so `main` is as it was fetched last: ");
    assert!(notes[0].starts_with(&begin), "{notes:#?}");
}

#[test]
fn a_lookup_connects_to_a_server_once() {
    let toy = toy();
    toy.write("engine/main.sh", &script(2));
    toy.commit("Two");
    toy.git(&["branch", "old", "HEAD~1"]);
    let elsewhere = Context { cwd: toy.context.cache.with_file_name("elsewhere"), cache: toy.context.cache.clone() };
    fs::create_dir(&elsewhere.cwd).unwrap();
    let url = format!("file://{}", toy.context.cwd.display());
    let (spec, range) = (format!("git:main@{url}"), ("old", "main"));
    let mut connections: [Vec<String>; 3] = Default::default();
    let [first, second, third] = connections.each_mut();
    let keep = |steps: &mut Vec<String>, update: Update<'_>| {
        if let Update::Step(text) = update
            && text.ends_with(&url)
        {
            steps.push(text.to_owned());
        }
    };
    resolve(&spec, &elsewhere, &mut |update| keep(first, update)).unwrap();
    resolve(&spec, &elsewhere, &mut |update| keep(second, update)).unwrap();
    let commits = stretch(&elsewhere, Some(&url), range, &mut |update| keep(third, update)).unwrap();
    assert_eq!(commits.len(), 2);
    let fetching = vec![format!("fetching from {url}")];
    assert_eq!(connections, [vec![format!("cloning {url}")], fetching.clone(), fetching]);
}

/// By variables for its configuration and its commands, and by the configured command.
#[test]
fn git_reaches_a_server_in_the_users_way() {
    let toy = toy();
    let folder = toy.context.cwd.parent().unwrap();
    let (ssh, config) = (folder.join("ssh").display().to_string(), folder.join("gitconfig").display().to_string());
    // The command for the server is the last word; it runs here.
    executable(ssh.as_ref(), "#!/bin/sh\nfor command; do :; done\nexec sh -c \"$command\"\n");
    fs::write(&config, format!("[core]\nsshCommand = {ssh}\n[ssh]\nvariant = simple\n")).unwrap();
    let instead = format!("url.file://{}/.insteadOf", folder.display());
    let (by_ssh, by_https) =
        (format!("ssh://engines.invalid{}", toy.context.cwd.display()), "https://engines.invalid/");
    let simple = ("GIT_SSH_VARIANT", "simple");
    for (number, url, variables) in [
        (
            1,
            format!("{by_https}repository"),
            vec![("GIT_CONFIG_COUNT", "1"), ("GIT_CONFIG_KEY_0", instead.as_str()), ("GIT_CONFIG_VALUE_0", by_https)],
        ),
        (2, by_ssh.clone(), vec![("GIT_SSH_COMMAND", ssh.as_str()), simple]),
        (3, by_ssh.clone(), vec![("GIT_SSH", ssh.as_str()), simple]),
        (4, by_ssh.clone(), vec![("GIT_CONFIG_GLOBAL", config.as_str())]),
    ] {
        let spec = format!("git:main@{url}");
        let mut command = quintain(&["speed", &spec, &spec, "--rounds", "6"]);
        command.current_dir(folder).env("QUINTAIN_CACHE", folder.join(format!("cache{number}"))).envs(variables);
        let ran: Ran = command.output().unwrap().into();
        assert!(ran.stdout.contains("nodes/s"), "{number}: {ran:?}");
    }
}

#[test]
fn the_default_base_of_a_clone_is_the_newest_commit_of_its_origin() {
    let toy = toy();
    let elsewhere = Context { cwd: toy.context.cache.with_file_name("elsewhere"), cache: toy.context.cache.clone() };
    fs::create_dir(&elsewhere.cwd).unwrap();
    let url = format!("file://{}", toy.context.cwd.display());
    let of_branch = |rev: &str| default_base(&elsewhere, &format!("git:{rev}@{url}"), &mut |_| {}).unwrap();
    // The clone knows a HEAD from now on.
    resolve(&format!("git:HEAD@{url}"), &elsewhere, &mut |_| {}).unwrap();
    toy.write("engine/main.sh", &script(2));
    let newest = toy.commit("Two");
    toy.git(&["checkout", "--quiet", "-b", "feature"]);
    toy.write("engine/main.sh", &script(3));
    let feature = toy.commit("Three");
    toy.git(&["checkout", "--quiet", "main"]);
    assert_eq!(of_branch("feature"), format!("git:{newest}@{url}"));
    toy.write("engine/main.sh", &script(4));
    let newest = toy.commit("Four");
    // Nothing is fetched for the tested commit, which the clone has.
    assert_eq!(of_branch(&feature), format!("git:{newest}@{url}"));
}

#[test]
fn entries_of_one_repository_have_recipes_of_their_own() {
    let toy = Toy::bare();
    toy.write("engine/main.sh", &script(1));
    toy.write("engine/other.sh", &script(2));
    toy.commit("One");
    let entry = |name: &str, file: &str| {
        let command = format!("cp engine/{file} engine.bin && chmod +x engine.bin");
        format!("[engines.{name}]\ngit = '..'\nbuild = {{ command = '{command}', binary = 'engine.bin' }}\n")
    };
    toy.write("configs/engines.toml", &(entry("a", "main.sh") + &entry("b", "other.sh")));
    assert_eq!(["a", "b"].map(|name| toy.resolve(name).unwrap().origin.bench_nodes), [Some(1), Some(2)]);
}

/// The variable has the same text, and the file that it names is another one. The environment sets
/// the variable, or the recipe does.
#[test]
fn a_network_replaced_in_its_place_is_built_in_anew() {
    for (variable, is_of_recipe) in [("EVALFILE", false), ("EVALFILE", true), ("NETFILE", false)] {
        let toy = Toy::bare();
        let network = toy.context.cwd.with_file_name("net.nnue");
        let build = format!("sed \"s/@SEED@/$(cat \"${variable}\")/\" engine.sh > engine.bin && chmod +x engine.bin");
        let env =
            if is_of_recipe { format!("env = {{ {variable} = '{}' }}\n", network.display()) } else { String::new() };
        let recipe = format!("[build]\ncommand = '{build}'\nbinary = 'engine.bin'\nnetwork = '{variable}'\n{env}");
        toy.write("quintain.toml", &recipe);
        toy.write("engine.sh", "#!/bin/sh\necho '@SEED@ nodes 1 nps'\n");
        toy.commit("One");
        let told = |seed: &str| -> Ran {
            fs::write(&network, seed).unwrap();
            let words = ["speed", ".", ".", "--rounds", "6", "--seed", "1"];
            let mut command = quintain(&words);
            command.current_dir(&toy.context.cwd).env("QUINTAIN_CACHE", &toy.context.cache);
            if !is_of_recipe {
                command.env(variable, &network);
            }
            command.output().unwrap().into()
        };
        for seed in ["123", "456"] {
            let ran = told(seed);
            assert!(ran.stdout.contains(&format!(" {seed} ")), "{variable}, {is_of_recipe}, {seed}: {ran:?}");
        }
    }
}

/// A repository whose recipe writes a line to the log at each build, and the log.
fn logged(command: &str) -> (Toy, PathBuf) {
    let toy = Toy::bare();
    let log = toy.context.cwd.with_file_name("log");
    let command = format!("echo built >> {}; {command} engine.sh engine.bin", log.display());
    toy.write("quintain.toml", &format!("[build]\ncommand = '{command}'\nbinary = 'engine.bin'\n"));
    executable(&toy.context.cwd.join("engine.sh"), &script(1));
    (toy, log)
}

/// Builds so far once `spec` was built in this environment.
#[track_caller]
fn builds_after(toy: &Toy, log: &Path, spec: &str, variables: &[(&str, &str)]) -> usize {
    let mut command = quintain(&["speed", spec, spec, "--rounds", "6"]);
    command.current_dir(&toy.context.cwd).env("QUINTAIN_CACHE", &toy.context.cache);
    let ran: Ran = command.envs(variables.iter().copied()).output().unwrap().into();
    assert!(ran.stdout.contains("nodes/s"), "{variables:?}: {ran:?}");
    fs::read_to_string(log).unwrap().lines().count()
}

/// The old build of one side would be compared with a new build of the other.
#[test]
fn flags_outside_the_tree_make_a_new_build() {
    let (toy, log) = logged("cp");
    toy.commit("One");
    let home = toy.context.cwd.with_file_name("cargo-home");
    fs::create_dir(&home).unwrap();
    let home_text = home.display().to_string();
    let in_home = ("CARGO_HOME", home_text.as_str());
    let builds = |variables: &[(&str, &str)]| builds_after(&toy, &log, ".", &[&[in_home], variables].concat());
    assert_eq!((builds(&[]), builds(&[])), (1, 1));
    for (name, count) in [
        ("CARGO_PROFILE_RELEASE_LTO", 2),
        ("CARGO_BUILD_RUSTFLAGS", 3),
        ("CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUSTFLAGS", 4),
        ("RUSTC_WRAPPER", 5),
        ("ARCH", 6),
        ("COMP", 7),
        ("CARGO_BUILD_JOBS", 7),
    ] {
        assert_eq!(builds(&[(name, "2")]), count, "{name}");
    }
    fs::write(home.join("config.toml"), "[build]\nrustflags = ['-C', 'target-cpu=native']\n").unwrap();
    assert_eq!(builds(&[]), 8);
    let above = toy.context.cwd.with_file_name(".cargo");
    fs::create_dir(&above).unwrap();
    fs::write(above.join("config.toml"), "[profile.release]\nlto = true\n").unwrap();
    assert_eq!((builds(&[]), builds(&[])), (9, 9));
}

/// A clone has no working tree in which the compiler could find the file.
#[test]
fn a_new_compiler_by_the_toolchain_file_of_a_commit_makes_a_new_build() {
    // A word of the command tells the compiler.
    let (toy, log) = logged(": rustc; cp");
    toy.write("rust-toolchain", "nightly");
    toy.commit("One");
    let folder = toy.context.cwd.parent().unwrap();
    let (programs, version) = (folder.join("bin"), folder.join("version").display().to_string());
    fs::create_dir(&programs).unwrap();
    executable(
        &programs.join("rustc"),
        "#!/bin/sh\nif [ -e rust-toolchain ]; then cat \"$NIGHTLY\"; else echo 1; fi\n",
    );
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let spec = format!("git:main@file://{}", toy.context.cwd.display());
    for (nightly, count) in [("2", 1), ("2", 1), ("3", 2)] {
        fs::write(&version, nightly).unwrap();
        let variables = [("PATH", path.as_str()), ("NIGHTLY", version.as_str())];
        assert_eq!(builds_after(&toy, &log, &spec, &variables), count, "{nightly}");
    }
}
