//! Engines of Cute Chess by name: its file `engines.json`.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::files::{MOST_DOCUMENT_BYTES, config_folder, read_input};
use crate::text::nearest;

/// Name of the file.
const FILE: &str = "engines.json";

/// Keys of an engine and their values, in the words of a command line.
pub(super) type EngineKeys = Vec<(String, String)>;

/// Reader of an engine of the file, with the path of the file.
pub(super) type EngineLookup<'a> = &'a dyn Fn(&str) -> Result<(PathBuf, EngineKeys), String>;

/// Entry of the file. Keys that describe the engine's features are passed over.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ConfEngine {
    name: String,
    command: String,
    working_directory: String,
    stderr_file: String,
    protocol: String,
    timeout_scale_factor: Option<f64>,
    arguments: Vec<String>,
    init_strings: Vec<String>,
    options: Vec<ConfOption>,
    restart: String,
    ponder: bool,
    whitepov: bool,
    validate_claims: Option<bool>,
    debug: bool,
}

/// UCI option of an entry.
#[derive(Debug, Deserialize)]
struct ConfOption {
    name: String,
    #[serde(default)]
    value: serde_json::Value,
}

/// Reads the engine `name` from the file in this directory, else from that of the user. Returns
/// the path of that file too.
///
/// # Errors
/// Message if there is no such file or engine.
pub(super) fn read(name: &str) -> Result<(PathBuf, EngineKeys), String> {
    let places = places();
    let Some(path) = places.iter().find(|path| path.is_file()) else {
        let places: Vec<String> = places.iter().map(|path| path.display().to_string()).collect();
        return Err(format!("conf={name}: there is no {}", places.join(" and no ")));
    };
    Ok((path.clone(), engine_of(&text_of(path)?, name, path)?))
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

fn engine_of(text: &str, name: &str, path: &Path) -> Result<EngineKeys, String> {
    let shown = path.display();
    let engines = engines_of(text, path)?;
    let Some(found) = engines.iter().find(|engine| engine.name == name) else {
        let near = nearest(name, engines.iter().map(|engine| engine.name.as_str()));
        let near = near.first().map_or_else(String::new, |near| format!("; did you mean \"{near}\"?"));
        return Err(format!("{shown} has no engine \"{name}\"{near}"));
    };
    Ok(keys(found))
}

/// Keys that stand for an entry on a command line.
fn keys(entry: &ConfEngine) -> EngineKeys {
    let scale = entry.timeout_scale_factor.map(|scale| scale.to_string()).unwrap_or_default();
    let texts = [
        ("cmd", &entry.command),
        ("name", &entry.name),
        ("dir", &entry.working_directory),
        ("stderr", &entry.stderr_file),
        ("proto", &entry.protocol),
        ("restart", &entry.restart),
        ("tscale", &scale),
    ];
    let flags = [
        ("ponder", entry.ponder),
        ("whitepov", entry.whitepov),
        ("trust", entry.validate_claims == Some(false)),
        ("debug", entry.debug),
    ];
    let texts = texts.into_iter();
    let texts = texts.chain(entry.arguments.iter().map(|word| ("arg", word)));
    let texts = texts.chain(entry.init_strings.iter().map(|word| ("initstr", word)));
    let texts = texts.filter(|(_, value)| !value.is_empty()).map(|(key, value)| (key.to_owned(), value.clone()));
    let flags = flags.into_iter().filter(|(_, is_set)| *is_set).map(|(key, _)| (key.to_owned(), String::new()));
    let options = entry.options.iter().filter_map(|option| {
        let value = match &option.value {
            serde_json::Value::String(text) => text.clone(),
            serde_json::Value::Bool(_) | serde_json::Value::Number(_) => option.value.to_string(),
            // An option without a value is one of the engine that nobody has set.
            _ => return None,
        };
        Some((format!("option.{}", option.name), value))
    });
    texts.chain(flags).chain(options).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"[
        {"command": "./one", "name": "One", "protocol": "uci", "workingDirectory": "/opt/one", "stderrFile": "", "restart": "on",
         "arguments": ["-x", "two words"], "timeoutScaleFactor": 1.5, "validateClaims": true,
         "initStrings": ["setoption name Style value Solid"], "variants": ["standard"],
         "options": [{"name": "Hash", "type": "spin", "value": 64, "min": 1}, {"name": "Own Book", "value": false}, {"name": "Skip"}]},
        {"command": "two", "name": "Two", "protocol": "xboard", "whitepov": true, "ponder": true, "debug": true,
         "stderrFile": "two.log", "validateClaims": false}]"#;

    #[test]
    fn engines_are_read_by_name() {
        let read = |name: &str| engine_of(TEXT, name, Path::new("engines.json"));
        let words =
            |name: &str| read(name).unwrap().iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>();
        let one = "cmd=./one|name=One|dir=/opt/one|proto=uci|restart=on|tscale=1.5|arg=-x|arg=two words|\
                   initstr=setoption name Style value Solid|option.Hash=64|option.Own Book=false";
        assert_eq!(words("One").join("|"), one);
        let two = "cmd=two|name=Two|stderr=two.log|proto=xboard|ponder=|whitepov=|trust=|debug=";
        assert_eq!(words("Two").join("|"), two);
        assert_eq!(read("one").unwrap_err(), "engines.json has no engine \"one\"; did you mean \"One\"?");
        let broken = engine_of("[{]", "One", Path::new("engines.json")).unwrap_err();
        assert!(broken.starts_with("engines.json: ") && broken.contains("line 1"), "{broken}");
    }
}
