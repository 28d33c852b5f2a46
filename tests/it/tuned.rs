//! Engines in the form in which they are tuned, and commits of their sources with tuned values.

use std::fs;

use quintain::source::{Sources, tunable};

use crate::source::Toy;

const RECIPE: &str = "\
[build]
command = 'cp main.sh engine.bin && chmod +x engine.bin'
binary = 'engine.bin'
[engine]
bench = ''
[tune]
command = 'cat tunable.sh > engine.bin && chmod +x engine.bin'
params = 'spsa \"two words\"'
file = 'params.txt'
row = '^{name} = (-?\\d+)$'
";

const VALUES: &str = "margin = 80\nbase = -3\ntwin = 1\ntwin = 1\n";

/// A repository whose engine has a form of its own for tunings; one commit.
fn toy() -> Toy {
    let toy = Toy::bare();
    toy.write("quintain.toml", RECIPE);
    toy.write("main.sh", "#!/bin/sh\necho plain\n");
    toy.write("tunable.sh", "#!/bin/sh\n[ \"$1\" = spsa ] || { echo 'what is that?' >&2; exit 3; }\necho \"$#: $2\"\n");
    toy.write("params.txt", VALUES);
    toy.write("deep/er/file", "\n");
    toy.commit("One");
    // Git asks who commits only where a user does.
    toy.git(&["config", "user.name", "Test"]);
    toy.git(&["config", "user.email", "test@localhost"]);
    toy
}

fn sources(toy: &Toy, spec: &str) -> Sources {
    tunable(spec, None, &toy.context, &mut |_| {}).unwrap().sources.unwrap()
}

fn values(all: &[(&str, &str)]) -> Vec<(String, String)> {
    all.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

#[test]
fn the_form_for_tunings_is_another_build_and_prints_its_rows() {
    let toy = toy();
    let tuned = tunable("git:main", None, &toy.context, &mut |_| {}).unwrap();
    assert_eq!(tuned.rows().unwrap(), Some(("engine.bin spsa \"two words\"".to_owned(), "2: two words\n".to_owned())));
    let plain = quintain::source::resolve("git:main", &toy.context, &mut |_| {}).unwrap();
    assert_ne!(plain.origin.sha256, tuned.engine.origin.sha256);
    toy.write("quintain.toml", &RECIPE.replace("'spsa ", "'rows "));
    let failed = tunable(".", None, &toy.context, &mut |_| {}).unwrap().rows().unwrap_err().to_string();
    assert!(failed.starts_with("`engine.bin rows \"two words\"` failed (exit status: 3): what is that?"), "{failed}");
    // Without a table there is only the usual program.
    toy.write("quintain.toml", RECIPE.split("[tune]").next().unwrap());
    let bare = tunable(".", None, &toy.context, &mut |_| {}).unwrap();
    assert!(bare.rows().unwrap().is_none() && bare.sources.is_none());
    assert_eq!(bare.engine.origin.sha256, plain.origin.sha256);
}

#[test]
fn values_are_committed_on_a_branch_and_nothing_else_is_touched() {
    let toy = toy();
    let before = (toy.git(&["rev-parse", "HEAD"]), toy.git(&["write-tree"]));
    let all = values(&[("base", "4"), ("margin", "91")]);
    let sources = sources(&toy, ".");
    // The user goes on working meanwhile.
    toy.write("params.txt", "other\n");
    let commit = sources.apply("tuned", &all, "Tune two numbers\n\nBy games.").unwrap();
    let patched = VALUES.replace("80", "91").replace("-3", "4");
    assert_eq!(toy.git(&["show", "tuned:params.txt"]), patched.trim_end());
    assert_eq!(toy.git(&["rev-parse", "tuned", "tuned^"]), format!("{commit}\n{}", before.0));
    assert_eq!(toy.git(&["diff", "--name-only", "tuned^", "tuned"]), "params.txt");
    assert_eq!(toy.git(&["log", "-1", "--format=%an: %s", "tuned"]), "Test: Tune two numbers");
    assert_eq!((toy.git(&["rev-parse", "HEAD"]), toy.git(&["write-tree"])), before);
    assert_eq!(toy.git(&["status", "--porcelain"]), "M params.txt");
    assert_eq!(fs::read_to_string(toy.context.cwd.join("params.txt")).unwrap(), "other\n");
    // The same again is there already; a branch at the tuned commit is moved.
    assert_eq!(sources.apply("tuned", &all, "Again").unwrap(), commit);
    toy.git(&["branch", "here", "main"]);
    assert_ne!(sources.apply("here", &all, "Here").unwrap(), commit);
}

#[test]
fn a_branch_that_cannot_be_made_is_refused_with_the_remedy() {
    let toy = toy();
    toy.git(&["branch", "elsewhere"]);
    toy.git(&["branch", "deep/er"]);
    toy.write("more", "\n");
    toy.commit("Two");
    let tuned = sources(&toy, ".");
    for (branch, reason) in [
        ("elsewhere", "it exists and is not at the commit that is tuned; give another name"),
        ("main", "it is checked out, and a working tree is left as it is; give another name"),
        ("two words", "it is not a branch name; write one such as tuned"),
        ("-f", "it is not a branch name; write one such as tuned"),
        ("HEAD", "it is not a branch name; write one such as tuned"),
        ("refs/heads/tuned", "it is not a branch name; write one such as tuned"),
        ("elsewhere/tuned", "Git cannot have it beside the branch elsewhere; give another name"),
        ("deep", "Git cannot have it beside the branch deep/er; give another name"),
    ] {
        let error = tuned.apply(branch, &values(&[("base", "4")]), "No").unwrap_err().to_string();
        assert_eq!(error, format!("branch `{branch}`: {reason}"));
    }
    for (name, found) in [("gone", 0), ("twin", 2)] {
        let error = tuned.apply("tuned", &values(&[("base", "4"), (name, "2")]), "No").unwrap_err().to_string();
        assert!(error.starts_with(&format!("params.txt: the `row` of quintain.toml finds {found} places of `{name}`")));
    }
    toy.write("main.sh", "#!/bin/sh\necho changed\n");
    let error = sources(&toy, ".").apply("tuned", &values(&[("base", "4")]), "No").unwrap_err().to_string();
    assert!(error.ends_with("has uncommitted changes; commit them first"), "{error}");
    assert_eq!(toy.git(&["branch", "--format=%(refname:short)"]), "deep/er\nelsewhere\nmain");
}

#[test]
fn a_commit_for_a_proof_is_on_no_branch_and_the_same_each_time() {
    let toy = toy();
    let tuned = tunable("git:main", None, &toy.context, &mut |_| {}).unwrap();
    // A run knows of its engine what its plan has.
    let again = Sources::of(&tuned.engine.origin, &toy.context).unwrap().unwrap();
    let commit = |sources: &Sources| sources.loose_commit(&values(&[("margin", "91")]), "Full step").unwrap();
    let (one, other) = (commit(&tuned.sources.unwrap()), commit(&again));
    assert_eq!(one, other);
    assert_eq!(toy.git(&["branch", "--contains", &one]), "");
    assert_eq!(toy.git(&["show", &format!("{one}:params.txt")]), VALUES.replace("80", "91").trim_end());
    let spec = |margin| again.spec(&values(&[("margin", margin)]), "Full step").unwrap();
    let place = toy.git(&["rev-parse", "--show-toplevel"]);
    assert_eq!(spec("91"), format!("git:{one}@{place}"));
    assert_eq!(spec("80"), format!("git:{}@{place}", again.commit()));
    // A changed working tree is found again by its tree, whatever became of it since.
    toy.write("params.txt", &VALUES.replace("-3", "-4"));
    let dirty = tunable(".", None, &toy.context, &mut |_| {}).unwrap();
    let commit = dirty.sources.unwrap().commit().to_owned();
    toy.write("params.txt", VALUES);
    let again = Sources::of(&dirty.engine.origin, &toy.context).unwrap().unwrap();
    assert_eq!((again.commit(), dirty.engine.origin.dirty), (commit.as_str(), true));
    let error = again.check_branch("tuned").unwrap_err().to_string();
    assert!(error.ends_with("has uncommitted changes; commit them first"), "{error}");
}
