//! The declarations of settings, seen from outside: schemas, templates, flags against files.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::harness::{Ran, fake, quintain, run};

/// The faults of `value` under `schema`, each with its place. Panics at a keyword that it does not
/// know.
fn faults(root: &Value, schema: &Value, value: &Value, place: &str) -> Vec<String> {
    let mut found = Vec::new();
    let Value::Object(keywords) = schema else {
        return if *schema == Value::Bool(false) { vec![format!("{place}: not allowed")] } else { found };
    };
    for (keyword, wanted) in keywords {
        match keyword.as_str() {
            "$schema" | "title" | "description" | "examples" | "definitions" | "x-commands" | "x-essential"
            | "x-examples" => {}
            "format" => {
                assert!(["uint", "uint16", "uint32", "uint64", "int32", "double"].map(Value::from).contains(wanted))
            }
            "$ref" => {
                let pointer = wanted.as_str().unwrap().strip_prefix('#').unwrap();
                found.extend(faults(root, root.pointer(pointer).unwrap(), value, place));
            }
            "type" => {
                let types = wanted.as_array().cloned().unwrap_or_else(|| vec![wanted.clone()]);
                if !types.iter().any(|name| is_of(name.as_str().unwrap(), value)) {
                    found.push(format!("{place}: not {wanted}"));
                }
            }
            "enum" if !wanted.as_array().unwrap().contains(value) => found.push(format!("{place}: not of {wanted}")),
            "const" if wanted != value => found.push(format!("{place}: not {wanted}")),
            "enum" | "const" => {}
            "minimum" if value.as_f64() < wanted.as_f64() => found.push(format!("{place}: below {wanted}")),
            "maximum" if value.as_f64() > wanted.as_f64() => found.push(format!("{place}: above {wanted}")),
            "minimum" | "maximum" => {}
            "minItems" | "maxItems" => {
                let (count, limit) = (value.as_array().map_or(0, Vec::len) as u64, wanted.as_u64().unwrap());
                if value.is_array() && if keyword == "minItems" { count < limit } else { count > limit } {
                    found.push(format!("{place}: {count} items"));
                }
            }
            "required" => {
                let names = wanted.as_array().unwrap().iter().filter_map(Value::as_str);
                found.extend(names.filter(|name| value.get(name).is_none()).map(|name| format!("{place}: no {name}")));
            }
            "anyOf" => {
                let all: Vec<_> =
                    wanted.as_array().unwrap().iter().map(|one| faults(root, one, value, place)).collect();
                if all.iter().all(|found| !found.is_empty()) {
                    found.extend(all.concat());
                }
            }
            "oneOf" => {
                let all = wanted.as_array().unwrap().iter().map(|one| faults(root, one, value, place));
                if all.filter(Vec::is_empty).count() != 1 {
                    found.push(format!("{place}: fits not one form of several"));
                }
            }
            "allOf" => {
                for schema in wanted.as_array().unwrap() {
                    found.extend(faults(root, schema, value, place));
                }
            }
            "items" => {
                for (number, item) in value.as_array().into_iter().flatten().enumerate() {
                    let schema = wanted.get(number).unwrap_or(wanted);
                    found.extend(faults(root, schema, item, &format!("{place}[{number}]")));
                }
            }
            "properties" | "additionalProperties" => {}
            other => panic!("{place}: `{other}` is no keyword that this test knows"),
        }
    }
    let known = |name: &str| schema.get("properties").and_then(|all| all.get(name));
    for (name, value) in value.as_object().into_iter().flatten() {
        if let Some(schema) = known(name).or(schema.get("additionalProperties")) {
            found.extend(faults(root, schema, value, &format!("{place}.{name}")));
        }
    }
    found
}

fn is_of(name: &str, value: &Value) -> bool {
    match name {
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("`{other}` is no type"),
    }
}

fn schema_of(file: &str) -> Value {
    let ran = run(&["init", "--schema", file]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{file}");
    serde_json::from_str(&ran.stdout).unwrap()
}

fn run_in(folder: &Path, words: &[&str]) -> Ran {
    quintain(words).current_dir(folder).output().unwrap().into()
}

#[track_caller]
fn check(schema: &Value, text: &str) -> Vec<String> {
    let table: toml::Table = toml::from_str(text).unwrap();
    faults(schema, schema, &serde_json::to_value(table).unwrap(), "")
}

#[test]
fn the_schemas_fit_our_own_files() {
    let [plan, recipe, engines] = ["plan", "quintain", "engines"].map(schema_of);
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = vec![root.join("quintain.toml")];
    files.extend(fs::read_dir(root.join("configs")).unwrap().map(|entry| entry.unwrap().path()));
    let mut checked = 0;
    for file in files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "toml")) {
        let schema = match file.file_name().unwrap().to_str().unwrap() {
            "quintain.toml" => &recipe,
            "engines.toml" => &engines,
            _ => &plan,
        };
        assert_eq!(check(schema, &fs::read_to_string(file).unwrap()), [""; 0], "{}", file.display());
        checked += 1;
    }
    assert!(checked >= 8, "{checked}");
}

#[test]
fn the_schemas_refuse_what_the_readers_refuse() {
    let [plan, recipe, engines] = ["plan", "quintain", "engines"].map(schema_of);
    for (schema, text) in [
        (&plan, "max-pair = 5"),
        (&plan, "nodes = \"many\""),
        (&plan, "nodes = -1"),
        (&plan, "bounds = [1.0]"),
        (&plan, "options = { Hash = [1] }"),
        (&plan, "affinity = 3"),
        (&plan, "[[players]]\nspek = \".\""),
        (&recipe, "[build]\ncommand = \"make\""),
        (&recipe, "[build]\ncommand = \"make\"\nbinary = \"e\"\nsource = []"),
        (&engines, "[engines.a]\ncommand = \"a\"\nlimits = [\"clocks\"]"),
    ] {
        assert_ne!(check(schema, text), [""; 0], "{text}");
    }
    assert_eq!(check(&plan, "options = { Hash = 16, Ponder = false }\naffinity = \"0,2\"\nponder = true"), [""; 0]);
}

#[test]
fn a_new_plan_names_the_schema_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    let ran = run_in(place, &["init", "match", "plans.toml"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let text = fs::read_to_string(place.join("plans.toml")).unwrap();
    let name = text.lines().next().and_then(|line| line.strip_prefix("#:schema ./")).unwrap();
    let schema: Value = serde_json::from_str(&fs::read_to_string(place.join(name)).unwrap()).unwrap();
    assert_eq!(check(&schema, &text), [""; 0]);
    // Every commented key as well: its example is of the key's type.
    let bare = |line: &str| match line.strip_prefix('#') {
        Some(rest) if rest.starts_with(|c: char| c.is_ascii_lowercase()) => rest.to_owned() + "\n",
        _ => line.to_owned() + "\n",
    };
    let all: String = text.lines().map(bare).collect();
    assert_eq!(check(&schema, &all), [""; 0]);
}

#[test]
fn the_reference_has_every_key() {
    let reference = run(&["init", "--reference"]).stdout;
    let schema = schema_of("plan");
    let keys = schema["properties"].as_object().unwrap();
    assert!(keys.len() > 60);
    for key in keys.keys() {
        assert!(reference.contains(&format!("* `{key}`: ")), "{key}");
    }
}

#[test]
fn a_switch_takes_back_what_the_file_says() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    let [one, two] = [fake("--seed 1"), fake("--seed 2")];
    let plan = format!(
        "new = '''{one}'''\nbase = '''{two}'''\nnodes = 1\nmax-plies = 20\nmax-pairs = 1\nrestart = true\nseed = 1\n"
    );
    fs::write(place.join("plan.toml"), plan).unwrap();
    for (flag, restart) in [(None, "true"), (Some("--restart"), "true"), (Some("--restart=false"), "false")] {
        let out = format!("run{restart}{}", flag.is_some());
        let mut words = vec!["sprt", "plan.toml", "--out", &out];
        words.extend(flag);
        let ran = run_in(place, &words);
        assert_eq!(ran.code, Some(3), "{flag:?}: {ran:?}");
        let stored = fs::read_to_string(place.join(format!("{out}/plan.toml"))).unwrap();
        assert!(stored.lines().any(|line| line == format!("restart = {restart}")), "{flag:?}: {stored}");
    }
}

#[test]
fn options_under_test_stand_in_every_output() {
    let place = tempfile::tempdir().unwrap();
    let engine = fake("--seed 1");
    let short = ["--nodes", "1", "--max-plies", "20", "--max-pairs", "1", "-j", "1", "--out", "results/runs/run"];
    let options = ["--option", "Threads=1", "--new-option", "Hash=2"];
    let ran = run_in(place.path(), &[&["sprt", "--new", &engine, "--base", &engine][..], &short, &options].concat());
    assert_eq!(ran.code, Some(3), "{ran:?}");
    let who = "fake_engine-new (Hash=2) against fake_engine-base";
    assert!(ran.stderr.contains(&format!("{who}, nodes=1")), "heading: {}", ran.stderr);
    for line in ["new  fake_engine-new, nodes=1, Threads=1 Hash=2, ", "base fake_engine-base, nodes=1, Threads=1, "] {
        assert!(ran.stdout.lines().any(|known| known.starts_with(line)), "{line}: {}", ran.stdout);
    }
    let read = |name: &str| fs::read_to_string(place.path().join("results/runs/run").join(name)).unwrap();
    let summary: Value = serde_json::from_str(&read("summary.json")).unwrap();
    assert_eq!(summary["players"][0]["options"], serde_json::json!([["Threads", "1"], ["Hash", "2"]]));
    assert_eq!(summary["players"][1]["options"], serde_json::json!([["Threads", "1"]]));
    assert_eq!(
        (&summary["players"][0]["name"], &summary["players"][1]["label"]),
        (&"fake_engine-new".into(), &"fake_engine-base".into())
    );
    assert!(read("report.html").contains(who) && !read("games.pgn").contains("(Hash"));
    // Without its summary a run is listed from its plan.
    for is_left in [true, false] {
        if !is_left {
            fs::remove_file(place.path().join("results/runs/run/summary.json")).unwrap();
        }
        let ran = run_in(place.path(), &["runs", "hash=2"]);
        assert!(ran.stdout.contains(who), "summary {is_left}: {ran:?}");
    }
}

#[test]
fn a_note_stands_wherever_the_run_is_named() {
    let place = tempfile::tempdir().unwrap();
    let [one, two] = [fake("--seed 1"), fake("--seed 2")];
    let plan = format!("new = '''{one}'''\nbase = '''{two}'''\nnodes = 1\nmax-plies = 20\nmax-pairs = 1\n");
    fs::write(place.path().join("plan.toml"), plan).unwrap();
    let note = "wider <aspiration> windows";
    let ran = run_in(place.path(), &["sprt", "plan.toml", "--out", "run", "--note", note]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.stderr.contains(&format!("{note}: fake_engine-new against")), "heading: {}", ran.stderr);
    assert!(ran.stdout.lines().any(|line| line == format!("note: {note}")), "summary: {}", ran.stdout);
    let read = |name: &str| fs::read_to_string(place.path().join("run").join(name)).unwrap();
    assert!(read("plan.toml").lines().any(|line| line == format!("note = {note:?}")));
    let summary: Value = serde_json::from_str(&read("summary.json")).unwrap();
    assert_eq!(summary["note"], note);
    assert!(read("report.html").contains("wider &lt;aspiration&gt; windows: fake_engine-new against"));
    for words in [["watch", "run"], ["report", "run"]] {
        let ran = run_in(place.path(), &words);
        assert!(ran.stdout.contains(&format!("note: {note}")), "{words:?}: {ran:?}");
    }
    let ran = run_in(place.path(), &["report", "run", "--format", "md"]);
    assert!(ran.stdout.lines().next().unwrap().contains("windows: sprt"), "{ran:?}");
    let ran = run_in(place.path(), &["sprt", "plan.toml", "--note", "two\nlines"]);
    assert!(ran.code == Some(2) && ran.stderr.contains("--note") && ran.stderr.contains("one line"), "{ran:?}");
}
