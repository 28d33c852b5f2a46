//! Engines of Cute Chess by name: its file `engines.json`.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::engine;
use super::invocation::{Dialect, EngineArgs};
use crate::files::{MOST_DOCUMENT_BYTES, config_folder, read_input};
use crate::text::nearest;

/// Name of the file.
const FILE: &str = "engines.json";

/// Reader of an engine of the file.
pub(super) type EngineLookup<'a> = &'a dyn Fn(&str) -> Result<EngineArgs, String>;

/// Entry of the file. Keys that describe the engine's features are passed over.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ConfEngine {
    name: String,
    command: String,
    working_directory: String,
    protocol: String,
    arguments: Vec<String>,
    init_strings: Vec<String>,
    options: Vec<ConfOption>,
    restart: String,
    ponder: bool,
    whitepov: bool,
}

/// UCI option of an entry.
#[derive(Debug, Deserialize)]
struct ConfOption {
    name: String,
    #[serde(default)]
    value: serde_json::Value,
}

/// Reads the engine `name` from the file in this directory, else from that of the user.
///
/// # Errors
/// Message if there is no such file or engine, or if it is not of the UCI protocol.
pub(super) fn read(name: &str) -> Result<EngineArgs, String> {
    let places = places();
    let Some(path) = places.iter().find(|path| path.is_file()) else {
        let places: Vec<String> = places.iter().map(|path| path.display().to_string()).collect();
        return Err(format!("conf={name}: there is no {}", places.join(" and no ")));
    };
    engine_of(&text_of(path)?, name, path)
}

/// Reads the names of all engines of the same file; none without a file.
///
/// # Errors
/// Message if the file cannot be read.
pub(super) fn names() -> Result<Vec<String>, String> {
    let Some(path) = places().into_iter().find(|path| path.is_file()) else { return Ok(Vec::new()) };
    Ok(engines_of(&text_of(&path)?, &path)?.into_iter().map(|engine| engine.name).collect())
}

/// Places of the file, the first of which counts.
fn places() -> Vec<PathBuf> {
    let own = config_folder().and_then(|folder| Some(folder.parent()?.join("cutechess").join(FILE)));
    std::iter::once(PathBuf::from(FILE)).chain(own).collect()
}

fn text_of(path: &Path) -> Result<String, String> {
    read_input(path, MOST_DOCUMENT_BYTES).map_err(|error| format!("{}: {error}", path.display()))
}

fn engines_of(text: &str, path: &Path) -> Result<Vec<ConfEngine>, String> {
    serde_json::from_str(text).map_err(|error| format!("{}: {error}", path.display()))
}

fn engine_of(text: &str, name: &str, path: &Path) -> Result<EngineArgs, String> {
    let shown = path.display();
    let engines = engines_of(text, path)?;
    let Some(found) = engines.iter().find(|engine| engine.name == name) else {
        let near = nearest(name, engines.iter().map(|engine| engine.name.as_str()));
        let near = near.first().map_or_else(String::new, |near| format!("; did you mean \"{near}\"?"));
        return Err(format!("{shown} has no engine \"{name}\"{near}"));
    };
    let within = |why: String| format!("{shown}: engine \"{name}\": {why}");
    let mut args = EngineArgs::default();
    let words = [
        ("cmd", &found.command),
        ("name", &found.name),
        ("dir", &found.working_directory),
        ("proto", &found.protocol),
        ("restart", &found.restart),
    ];
    let words = words.map(|(key, value)| (key, value.as_str())).into_iter();
    let words = words.chain(found.arguments.iter().map(|word| ("arg", word.as_str())));
    let words = words.chain(found.init_strings.iter().map(|word| ("initstr", word.as_str())));
    let view = found.whitepov.then_some(("whitepov", ""));
    for (key, value) in words.filter(|(_, value)| !value.is_empty()).chain(view) {
        engine::set(&mut args, key, value, Dialect::Cutechess).map_err(within)?;
    }
    for option in &found.options {
        let value = match &option.value {
            serde_json::Value::String(text) => text.clone(),
            serde_json::Value::Bool(_) | serde_json::Value::Number(_) => option.value.to_string(),
            // An option without a value is one of the engine that nobody has set.
            _ => continue,
        };
        args.options.push((option.name.clone(), value));
    }
    args.ponder = found.ponder;
    Ok(args)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"[
        {"command": "./one", "name": "One", "protocol": "uci", "workingDirectory": "/opt/one", "stderrFile": "", "restart": "on",
         "initStrings": ["setoption name Style value Solid", "setoption name Clear Hash"], "variants": ["standard"],
         "options": [{"name": "Hash", "type": "spin", "value": 64, "min": 1}, {"name": "Own Book", "value": false}, {"name": "Skip"}]},
        {"command": "two", "name": "Two", "protocol": "xboard"},
        {"command": "three", "name": "Three", "protocol": "uci", "whitepov": true}]"#;

    #[test]
    fn engines_are_read_by_name() {
        let read = |name: &str| engine_of(TEXT, name, Path::new("engines.json"));
        let one = read("One").unwrap();
        let options = [("Style", "Solid"), ("Clear Hash", "true"), ("Hash", "64"), ("Own Book", "false")];
        assert_eq!((one.cmd.as_str(), one.dir.as_str(), one.restart), ("./one", "/opt/one", true));
        assert_eq!(one.options, options.map(|(name, value)| (name.to_owned(), value.to_owned())));
        let refused = read("Two").unwrap_err();
        assert!(refused.starts_with("engines.json: engine \"Two\": engines are spoken to by uci, not by xboard"));
        let refused = read("Three").unwrap_err();
        assert!(refused.starts_with("engines.json: engine \"Three\": whitepov is not supported"), "{refused}");
        assert_eq!(read("one").unwrap_err(), "engines.json has no engine \"one\"; did you mean \"One\"?");
        let broken = engine_of("[{]", "One", Path::new("engines.json")).unwrap_err();
        assert!(broken.starts_with("engines.json: ") && broken.contains("line 1"), "{broken}");
    }
}
