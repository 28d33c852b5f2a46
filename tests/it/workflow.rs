//! The workflow for hosted CI that `quintain init --workflow` prints: it is YAML with the keys that
//! such a CI reads, and its scripts do what they say.

#![allow(clippy::unwrap_used, reason = "helpers of tests may stop at the first surprise, as tests do")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use yaml_rust2::{Yaml, YamlLoader};

use crate::harness::{FAKE, Ran, in_shell, quintain, run};
use crate::source::Toy;

fn workflow() -> Yaml {
    let ran = run(&["init", "--workflow"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    YamlLoader::load_from_str(&ran.stdout).unwrap().remove(0)
}

/// Script of the step of this name.
fn script(workflow: &Yaml, name: &str) -> String {
    let steps = workflow["jobs"]["sprt"]["steps"].as_vec().unwrap();
    steps.iter().find(|step| step["name"].as_str() == Some(name)).unwrap()["run"].as_str().unwrap().to_owned()
}

#[test]
fn the_workflow_has_what_a_hosted_ci_reads() {
    let workflow = workflow();
    let keys = |table: &Yaml| -> Vec<String> {
        table.as_hash().unwrap().keys().map(|key| key.as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(keys(&workflow), ["name", "on", "permissions", "concurrency", "jobs"]);
    // Code of a stranger must not run with the rights of the repository.
    assert_eq!(keys(&workflow["on"]), ["pull_request"]);
    assert_eq!(workflow["permissions"]["contents"].as_str(), Some("read"));
    let job = &workflow["jobs"]["sprt"];
    assert_eq!(keys(job), ["runs-on", "timeout-minutes", "env", "steps"]);
    let known = ["name", "id", "uses", "with", "if", "env", "run"];
    for step in job["steps"].as_vec().unwrap() {
        assert!(keys(step).iter().all(|key| known.contains(&key.as_str())), "{step:?}");
        assert_ne!(step["uses"].is_badvalue(), step["run"].is_badvalue(), "{step:?}");
        // What others write must not become a part of a script.
        assert!(!step["run"].as_str().is_some_and(|run| run.contains("${{")), "{step:?}");
    }
}

/// Runs a script of the workflow as such a CI does: bash with -e, at the root of the checkout.
fn ci(toy: &Toy, tools: &Path, script: &str, variables: &[(&str, &str)]) -> Ran {
    let cwd = &toy.context.cwd;
    let mut command = in_shell("exec bash -e -o pipefail -c \"$2\"", &[script]);
    let path = std::env::var("PATH").unwrap();
    command.env("PATH", format!("{}:{path}", tools.display())).env("QUINTAIN_CACHE", &toy.context.cache);
    for name in ["GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"] {
        command.env(name, cwd.join(".git").join(name));
    }
    command.current_dir(cwd).envs(variables.iter().copied()).output().unwrap().into()
}

fn tool(folder: &Path, name: &str, script: &str) {
    let path = folder.join(name);
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn its_scripts_play_a_pull_request_and_post_the_result() {
    let toy = Toy::bare();
    let engine = |seed: u32| format!("#!/bin/sh\nexec '{FAKE}' --seed {seed}\n");
    toy.write("Makefile", "engine: main.sh\n\tcp main.sh $(EXE) && chmod +x $(EXE)\n");
    toy.write("main.sh", &engine(1));
    let base = toy.commit("One");
    toy.write("main.sh", &engine(2));
    let head = toy.commit("Two");
    let tools = tempfile::tempdir().unwrap();
    // Its own words, with a test that ends soon.
    let short = "s/--nodes 20000/--nodes 1 --max-plies 20 --max-pairs 2 --seed 1/";
    let program = quintain(&[] as &[&str]).get_program().display().to_string();
    tool(tools.path(), "quintain", &format!("exec '{program}' $(echo \"$*\" | sed '{short}')"));
    // Comments that are there are asked for, and IDS answers.
    tool(tools.path(), "gh", "case \"$*\" in *--jq*) echo \"$IDS\" ;; *) echo \"$@\" > .git/posted ;; esac");
    let workflow = workflow();
    let here = toy.context.cwd.display().to_string();
    let variables = [
        ("BASE", base.as_str()),
        ("HEAD", &head),
        ("NUMBER", "7"),
        ("QUINTAIN_GIT", &here),
        ("GITHUB_REPOSITORY", "a/b"),
        ("IDS", ""),
    ];
    let step = |name: &str| {
        let ran = ci(&toy, tools.path(), &script(&workflow, name), &variables);
        assert_eq!(ran.code, Some(0), "{name}: {ran:?}");
    };
    step("Newest");
    // It is there already, so nothing is fetched.
    step("Install");
    step("Play");
    let git = toy.context.cwd.join(".git");
    assert_eq!(fs::read_to_string(git.join("GITHUB_OUTPUT")).unwrap(), format!("revision={head}\ncode=3\n"));
    step("Block");
    let comment = fs::read_to_string(toy.context.cwd.join("comment.md")).unwrap();
    assert!(
        comment.starts_with("<!-- quintain -->\n```\nNo verdict at nodes=1:\nElo   | ") && comment.ends_with("```\n"),
        "{comment}"
    );
    assert_eq!(fs::read_to_string(git.join("GITHUB_STEP_SUMMARY")).unwrap(), comment);
    step("Post");
    let posted = fs::read_to_string(git.join("posted")).unwrap();
    assert_eq!(posted, "pr comment 7 --body-file comment.md\n");
    // The next push changes that comment, and no other's.
    let again = [&variables[..5], &[("IDS", "77\n78")]].concat();
    assert_eq!(ci(&toy, tools.path(), &script(&workflow, "Post"), &again).code, Some(0));
    let posted = fs::read_to_string(git.join("posted")).unwrap();
    assert_eq!(posted, "api --method PATCH repos/a/b/issues/comments/77 --field body=@comment.md\n");
    let nowhere = [("QUINTAIN_GIT", "nowhere")];
    assert_eq!(ci(&toy, tools.path(), &script(&workflow, "Newest"), &nowhere).code, Some(128));
    let verdict = script(&workflow, "Verdict");
    for (code, expected) in [("0", 0), ("1", 1), ("3", 0)] {
        assert_eq!(ci(&toy, tools.path(), &verdict, &[("CODE", code)]).code, Some(expected), "{code}");
    }
    // A test that cannot start fails the job.
    let ran = ci(&toy, tools.path(), &script(&workflow, "Play"), &variables);
    assert_eq!(ran.code, Some(2), "the run is there already: {ran:?}");
}
