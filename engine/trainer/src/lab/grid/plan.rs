//! Plans of `lab`: TOML files with a grid of feature sets, shapes and seeds.

use crate::bootstrap::check_match;
use crate::compare::{Evaluation, EvaluationError};
use crate::train::{
    Blend, Data, Network, Optimiser, PairFileError, Plan, PlanError, Rate, Training, folder_of, full, kind, line_of,
    read_pairs,
};
use destrier::nnue::Kind;
use destrier::nnue::sets::{FeatureSet, SetError};
use quintain::settings::RawPlan;
use quintain::text::{TomlError, from_toml};
use serde::Deserialize;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Maximum number of cells of a grid.
const MOST_CELLS: usize = 4096;

/// Error in a plan.
#[derive(Debug, thiserror::Error)]
pub enum LabPlanError {
    #[error("{}: {error}", path.display())]
    Io { path: PathBuf, error: io::Error },
    #[error(transparent)]
    Syntax(#[from] TomlError),
    #[error("{}: line {line}, `{key}`: {why}", path.display())]
    Value { path: PathBuf, line: usize, key: &'static str, why: String },
    #[error("{}: line {line}, `sets`: {error}", path.display())]
    Set { path: PathBuf, line: usize, error: SetError },
    #[error("{}: line {line}, `pairs`: {error}", path.display())]
    Pairs { path: PathBuf, line: usize, error: PairFileError },
    #[error("{}: line {line}, `opponent`: {error}", path.display())]
    Opponent { path: PathBuf, line: usize, error: EvaluationError },
    #[error(transparent)]
    Training(#[from] PlanError),
}

/// Network inputs of the grid: a feature set, or a set with its training settings.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(
    untagged,
    expecting = "write a set such as \"piece+file\", or a table with `features` and \
                               optionally `name`, `pairs`, `factorised`, `mirrored`, `king-buckets`"
)]
enum SetEntry {
    Name(String),
    Table(SetTable),
}

/// Settings of network inputs.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct SetTable {
    features: String,
    /// Name in tables and folders; the features by default.
    name: Option<String>,
    pairs: Option<PathBuf>,
    factorised: Option<bool>,
    /// Mirroring of `piece`; a grid has none by default, because no other set has it.
    mirrored: Option<bool>,
    #[serde(default)]
    king_buckets: Vec<u8>,
}

#[derive(Deserialize)]
#[serde(transparent)]
struct KindName(#[serde(deserialize_with = "kind")] Kind);

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct LabFile {
    name: String,
    out: PathBuf,
    sets: Vec<SetEntry>,
    hidden: Vec<usize>,
    #[serde(default = "kinds")]
    kinds: Vec<KindName>,
    seeds: Vec<u64>,
    /// Output buckets of all kinds; each kind's usual number by default.
    #[serde(default)]
    output_buckets: Option<usize>,
    #[serde(default)]
    opponent: Option<String>,
    #[serde(default)]
    threads: Option<usize>,
    #[serde(default)]
    engine: Option<String>,
    data: Data,
    training: Training,
    rate: Rate,
    #[serde(default)]
    wdl: Blend,
    #[serde(default)]
    optimiser: Optimiser,
    games: RawPlan,
}

fn kinds() -> Vec<KindName> {
    vec![KindName(Kind::Screlu)]
}

/// Network of the grid: one set, shape and seed.
#[derive(Debug, Clone, PartialEq)]
pub struct LabCell {
    /// Name of the network and of its folder.
    pub name: String,
    /// Name of its inputs in the plan.
    pub set: String,
    /// Place of its inputs in the plan.
    pub set_place: usize,
    /// Training of the network.
    pub plan: Plan,
    /// Place of the opponent among the cells; `None` if this cell is an opponent, or all cells play
    /// the same one.
    pub opponent: Option<usize>,
}

/// Plan of a grid. Relative paths start at the plan's folder.
#[derive(Debug, Clone, PartialEq)]
pub struct LabPlan {
    /// Title of tables and pages.
    pub title: String,
    /// Folder of all outputs.
    pub out: PathBuf,
    /// Cells by size, architecture, seed and set. The opponent's set is the first.
    pub cells: Vec<LabCell>,
    /// Name of the opponent, as the plan has it.
    pub opponent: String,
    /// Opponent of all cells, unless it is a set of the grid.
    pub fixed: Option<Evaluation>,
    /// Engine of the games, unless the command names one.
    pub engine: Option<String>,
    /// Games at equal nodes, without players and seed.
    pub nodes: Option<RawPlan>,
    /// Games at equal time, without players and seed.
    pub time: Option<RawPlan>,
}

/// Text and place of a plan, for messages.
struct PlanText<'a> {
    path: &'a Path,
    text: &'a str,
    folder: PathBuf,
}

impl PlanText<'_> {
    fn wrong(&self, key: &'static str, why: impl Into<String>) -> LabPlanError {
        LabPlanError::Value { path: self.path.to_owned(), line: line_of(self.text, key), key, why: why.into() }
    }

    /// Line of a quoted word, or of `key` if it is not in the text.
    fn line_of_word(&self, word: &str, key: &str) -> usize {
        let quoted = [format!("\"{word}\""), format!("'{word}'")];
        let found = self.text.lines().position(|line| quoted.iter().any(|word| line.contains(word)));
        found.map_or_else(|| line_of(self.text, key), |line| line + 1)
    }
}

impl LabPlan {
    /// Reads a plan, its lists of pairs and its opponent.
    ///
    /// # Errors
    /// [`LabPlanError`], with file, line, key and remedy.
    pub fn load(path: &Path) -> Result<LabPlan, LabPlanError> {
        let text = std::fs::read_to_string(path).map_err(|error| LabPlanError::Io { path: path.to_owned(), error })?;
        let mut file: LabFile = from_toml(path, &text)?;
        let source = PlanText { path, text: &text, folder: folder_of(path) };
        check_lists(&file).map_err(|(key, why)| source.wrong(key, why))?;
        check_data(&mut file.data, &source)?;
        let sets: Vec<(SetTable, FeatureSet)> =
            file.sets.iter().map(|entry| resolved(entry, &source)).collect::<Result<_, _>>()?;
        check_names(&sets).map_err(|why| source.wrong("sets", why))?;
        let [nodes, time] = games(&file.games, &source)?;
        let (opponent, place, fixed) = opponent(&file, &sets, &source)?;
        let out = full(&source.folder.join(&file.out));
        let cells = cells(&file, &sets, place, &out);
        for cell in &cells {
            cell.plan.checked(path, &text)?;
        }
        Ok(LabPlan { title: file.name, out, cells, opponent, fixed, engine: file.engine, nodes, time })
    }
}

/// Checks that no list is empty or has a value twice.
fn check_lists(file: &LabFile) -> Result<(), (&'static str, String)> {
    fn distinct<T: PartialEq>(list: &[T]) -> bool {
        list.iter().enumerate().all(|(place, value)| !list[..place].contains(value))
    }
    let kinds: Vec<Kind> = file.kinds.iter().map(|kind| kind.0).collect();
    let lists = [
        ("sets", file.sets.len(), distinct(&file.sets)),
        ("hidden", file.hidden.len(), distinct(&file.hidden)),
        ("kinds", kinds.len(), distinct(&kinds)),
        ("seeds", file.seeds.len(), distinct(&file.seeds)),
    ];
    for (key, count, is_distinct) in lists {
        if count == 0 {
            return Err((key, "the list is empty; give at least one".to_owned()));
        }
        if !is_distinct {
            return Err((key, "a value is in the list twice; leave one of them out".to_owned()));
        }
    }
    let count = lists.iter().fold(1_usize, |product, (_, count, _)| product.saturating_mul(*count));
    if count > MOST_CELLS {
        return Err(("sets", format!("{count} cells are more than {MOST_CELLS}; give shorter lists")));
    }
    Ok(())
}

/// Makes the paths of the data absolute and checks that the files are there.
fn check_data(data: &mut Data, source: &PlanText<'_>) -> Result<(), LabPlanError> {
    let records = "make it with `destrier-trainer data filter`, `dedup` and `shuffle`, or name another file";
    let triplets = "make it with `destrier-trainer data triplets`, or name another file";
    let lists = [
        ("files", Some(&mut data.files), records),
        ("validation", Some(&mut data.validation), records),
        ("triplets", data.triplets.as_mut(), triplets),
    ];
    for (key, files, remedy) in lists {
        for file in files.into_iter().flatten() {
            *file = source.folder.join(&*file);
            if let Err(error) = file.metadata() {
                return Err(source.wrong(key, format!("{}: {error}; {remedy}", file.display())));
            }
        }
    }
    Ok(())
}

/// Parses a set and reads its list of pairs.
fn resolved(entry: &SetEntry, source: &PlanText<'_>) -> Result<(SetTable, FeatureSet), LabPlanError> {
    let mut table = match entry {
        SetEntry::Name(features) => SetTable { features: features.clone(), ..SetTable::default() },
        SetEntry::Table(table) => table.clone(),
    };
    let (path, line) = (source.path.to_owned(), source.line_of_word(&table.features, "sets"));
    table.pairs = table.pairs.map(|file| source.folder.join(file));
    let pairs = table.pairs.as_ref().map(|file| read_pairs(file).map(Arc::new)).transpose();
    let pairs = pairs.map_err(|error| LabPlanError::Pairs { path: path.clone(), line, error })?;
    let set = FeatureSet::parse(&table.features, pairs.as_ref()).map_err(|error| LabPlanError::Set {
        path: path.clone(),
        line,
        error,
    })?;
    Ok((table, set))
}

fn name_of(table: &SetTable) -> &str {
    table.name.as_ref().unwrap_or(&table.features).trim()
}

/// Checks that the names of sets can name folders and differ.
fn check_names(sets: &[(SetTable, FeatureSet)]) -> Result<(), String> {
    for (place, (table, _)) in sets.iter().enumerate() {
        let name = name_of(table);
        let is_word = !name.is_empty() && !name.contains(['/', '\\', '\0']) && !name.starts_with('.');
        if !is_word {
            return Err(format!("`{name}` cannot name a folder; give the set a `name` without slashes"));
        }
        if sets[..place].iter().any(|(other, _)| word(name_of(other)) == word(name)) {
            return Err(format!("`{name}` is the name of two sets; give one of them another `name`"));
        }
    }
    Ok(())
}

/// Name of a set in the names of files.
fn word(name: &str) -> String {
    name.replace(':', "-").replace(' ', "")
}

/// Games at equal nodes and at equal time.
fn games(raw: &RawPlan, source: &PlanText<'_>) -> Result<[Option<RawPlan>; 2], LabPlanError> {
    let wrong = |why: &str| Err(source.wrong("games", why));
    check_match(raw, "games").map_err(|(key, why)| source.wrong(key, why))?;
    let has_clock = raw.tc.is_some() || raw.movetime.is_some();
    if raw.bounds.is_some() || raw.max_pairs.is_some() || raw.depth.is_some() {
        return wrong("a cell plays `pairs` pairs at `nodes` and at `tc`; leave out `bounds`, `max-pairs` and `depth`");
    }
    if raw.pairs.is_none_or(|pairs| pairs == 0) {
        return wrong("give the `pairs` of each cell, such as 200");
    }
    if raw.nodes.is_none() && !has_clock {
        return wrong(
            "give `nodes`, such as 5000, for games at equal nodes, and `tc`, such as \"1+0.01\", for equal time",
        );
    }
    let raw = RawPlan { book: raw.book.as_ref().map(|book| source.folder.join(book)), ..raw.clone() };
    let nodes = raw.nodes.is_some().then(|| RawPlan { tc: None, movetime: None, ..raw.clone() });
    let time = has_clock.then(|| RawPlan { nodes: None, ..raw.clone() });
    Ok([nodes, time])
}

/// Name of the opponent, its place among the sets, or else its evaluation.
type OpponentChoice = (String, Option<usize>, Option<Evaluation>);

fn opponent(
    file: &LabFile,
    sets: &[(SetTable, FeatureSet)],
    source: &PlanText<'_>,
) -> Result<OpponentChoice, LabPlanError> {
    let Some(name) = &file.opponent else {
        return Ok((name_of(&sets[0].0).to_owned(), Some(0), None));
    };
    if let Some(place) = sets.iter().position(|(table, _)| name_of(table) == name) {
        return Ok((name.clone(), Some(place), None));
    }
    let evaluation = match name.as_str() {
        "classical" | "engine" => Evaluation::parse(name),
        path if source.folder.join(path).exists() => Evaluation::network(&source.folder.join(path)),
        _ => {
            let why = format!(
                "`{name}` is no set of the plan and no file; give a set's name, a network, `engine` or `classical`"
            );
            return Err(source.wrong("opponent", why));
        }
    };
    let (path, line) = (source.path.to_owned(), line_of(source.text, "opponent"));
    let evaluation = evaluation.map_err(|error| LabPlanError::Opponent { path, line, error })?;
    Ok((name.clone(), None, Some(evaluation)))
}

/// Cells of a grid. Those of the opponent's set come before others of the same shape and seed.
fn cells(file: &LabFile, sets: &[(SetTable, FeatureSet)], opponent: Option<usize>, out: &Path) -> Vec<LabCell> {
    let mut order: Vec<usize> = (0..sets.len()).collect();
    order.sort_by_key(|place| opponent != Some(*place));
    let mut cells = Vec::new();
    for &hidden in &file.hidden {
        for KindName(kind) in &file.kinds {
            for &seed in &file.seeds {
                let first = cells.len();
                for &place in &order {
                    let (table, set) = &sets[place];
                    let network = network(table, set, *kind, hidden, file.output_buckets);
                    let set = name_of(table).to_owned();
                    let name = format!("{}-{}-{hidden}-s{seed}", word(&set), kind.name());
                    let plan = training(file, &name, seed, network, out);
                    let opponent = opponent.filter(|opponent| *opponent != place).map(|_| first);
                    cells.push(LabCell { name, set, set_place: place, plan, opponent });
                }
            }
        }
    }
    cells
}

fn network(table: &SetTable, set: &FeatureSet, kind: Kind, hidden: usize, output_buckets: Option<usize>) -> Network {
    let has_buckets = !table.king_buckets.is_empty();
    Network {
        features: table.features.clone(),
        pairs: table.pairs.clone(),
        set: set.clone(),
        kind,
        hidden,
        mirrored: table.mirrored.or(set.is_piece().then_some(has_buckets)),
        king_buckets: table.king_buckets.clone(),
        factorised: table.factorised,
        output_buckets: output_buckets.unwrap_or_else(|| kind.usual_output_buckets()),
        start: None,
    }
}

fn training(file: &LabFile, name: &str, seed: u64, network: Network, out: &Path) -> Plan {
    Plan {
        name: name.to_owned(),
        out: out.join("cells").join(name),
        seed,
        threads: file.threads,
        snapshots: false,
        data: file.data.clone(),
        network,
        training: file.training.clone(),
        rate: file.rate.clone(),
        wdl: file.wdl.clone(),
        optimiser: file.optimiser.clone(),
    }
}
