//! Settings that a grid was begun with, among them its engine. They must not change.

use super::cell::CellStage;
use super::plan::LabPlan;
use crate::bootstrap::{contents, contents_of_book, key_a_line, other_settings, set_keys, settings_of_match};
use crate::compare::Evaluation;
use crate::train::Records;
use anyhow::{Context as _, bail};
use destrier::nnue::sha256_hex;
use quintain::source;
use quintain::text::printable;
use std::fs;
use std::io;

/// File with the settings of a grid.
pub const SETTINGS: &str = "settings.txt";

/// Beginning of the line with the identity of the engine. A grid of an earlier version has none.
const ENGINE: &str = "engine = ";

/// Beginning of the line with the name of the engine, which may change.
const ENGINE_NAME: &str = "engine name = ";

/// Engine of the games.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabEngine {
    /// SHA-256 of the program, and its arguments.
    pub identity: String,
    /// Name of the program, and its bench if that is known.
    pub name: String,
}

impl LabEngine {
    /// Finds or builds the engine that `spec` names.
    ///
    /// # Errors
    /// Fails if the spec names nothing, or its engine cannot be built or read.
    pub fn find(spec: &str) -> anyhow::Result<LabEngine> {
        let found = source::resolve(spec, &source::Context::from_env()?, &mut |_| {})?;
        let args = if found.args.is_empty() { String::new() } else { format!(" -- {}", found.args.join(" ")) };
        let bench = found.origin.bench_nodes.map_or_else(String::new, |nodes| format!(", bench {nodes}"));
        Ok(LabEngine {
            identity: printable(&format!("{}{args}", found.origin.sha256)),
            name: printable(&format!("{}{bench}", found.name)),
        })
    }
}

/// Text of a settings file in parts.
struct SettingsText<'a> {
    /// Settings of data, trainings and games, one a line.
    shared: String,
    /// Identity of the engine.
    engine: Option<&'a str>,
    /// Name of the engine.
    engine_name: &'a str,
}

impl<'a> SettingsText<'a> {
    fn new(text: &'a str) -> SettingsText<'a> {
        let value = |key: &str| text.lines().find_map(|line| line.strip_prefix(key));
        let is_shared = |line: &&str| !line.starts_with(ENGINE) && !line.starts_with(ENGINE_NAME);
        let shared: Vec<&str> = text.lines().filter(is_shared).collect();
        SettingsText {
            shared: set_keys(&shared.join("\n")),
            engine: value(ENGINE),
            engine_name: value(ENGINE_NAME).unwrap_or("no name"),
        }
    }
}

/// Settings that all cells share: those of the trainings, then those of the games.
fn settings(plan: &LabPlan) -> anyhow::Result<String> {
    let Some(cell) = plan.cells.first() else { return Ok(String::new()) };
    let (_, training, rate, wdl, optimiser) = cell.plan.decisive()?;
    let data = &cell.plan.data;
    let mut lines = format!("{training:?}\n{rate:?}\n{wdl:?}\n{optimiser:?}\n");
    lines += &format!("validation_fraction: {}\n", data.validation_fraction);
    lines += &format!("validation_positions: {}\n", data.validation_positions);
    for file in data.files.iter().chain(&data.validation).chain(data.triplets.iter().flatten()) {
        let bytes = file.metadata().with_context(|| format!("{}: cannot read it", file.display()))?.len();
        lines += &format!("file {}: {bytes} bytes\n", file.file_name().unwrap_or_default().to_string_lossy());
    }
    let mut text = key_a_line(&lines) + "\n";
    let triplets = data.triplets.as_deref().unwrap_or_default();
    for (what, files) in [("files", &*data.files), ("validation", &*data.validation), ("triplets", triplets)] {
        if !files.is_empty() {
            text += &contents::line(what, &sha256_hex(&Records::open(files)?.digest()?));
        }
    }
    let opponent = plan.fixed.as_ref().and_then(Evaluation::sha256).unwrap_or_else(|| plan.opponent.clone());
    text += &format!("opponent = {opponent}\n");
    for (stage, raw) in [(CellStage::Nodes, &plan.nodes), (CellStage::Time, &plan.time)] {
        for line in raw.iter().flat_map(|raw| settings_of_match(raw).lines().map(str::to_owned).collect::<Vec<_>>()) {
            text += &format!("{} {line}\n", stage.name());
        }
        text += &contents_of_book(stage.name(), raw.as_ref().and_then(|raw| raw.book.as_deref()))?;
    }
    Ok(text)
}

/// Compares the plan and its engine with the settings in its folder. Returns the settings to write
/// if there are none, if no cell is begun, or if they are of an earlier version without the engine.
///
/// # Errors
/// Fails if the folder has cells of other settings or of another engine.
pub fn new_settings(plan: &LabPlan, engine: &LabEngine) -> anyhow::Result<Option<String>> {
    let path = plan.out.join(SETTINGS);
    let settings = settings(plan)? + &format!("{ENGINE}{}\n{ENGINE_NAME}{}\n", engine.identity, engine.name);
    let before = match fs::read_to_string(&path) {
        Ok(before) => before,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Some(settings)),
        Err(error) => return Err(error).with_context(|| format!("{}: cannot read it", path.display())),
    };
    let known = contents::comparable(&settings, &before);
    let [was, is] = [before.as_str(), known.as_str()].map(SettingsText::new);
    if was.shared == is.shared && was.engine == is.engine {
        return Ok((known != settings).then_some(settings));
    }
    let is_begun = plan.out.join("cells").exists();
    if is_begun && was.shared != is.shared {
        return Err(other_settings(&path, "lab", &was.shared, &is.shared));
    }
    if let Some(identity) = was.engine.filter(|_| is_begun) {
        bail!(
            "{}: the lab was started with `{ENGINE}{identity}` ({}), not `{ENGINE}{}` ({}); give the first one with --engine, or the plan another `out`",
            path.display(),
            was.engine_name,
            engine.identity,
            engine.name
        );
    }
    Ok(Some(settings))
}
