//! Evaluation of a player: from the command line to the engine's options.

use crate::data::replace;
use crate::train::full;
use anyhow::Context as _;
use destrier::nnue::{self, FormatError};
use destrier::search::{EvalConfig, EvalMode};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Evaluation of a player.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Evaluation {
    /// Classical evaluation of weighted terms.
    Classical,
    /// Default evaluation of the engine.
    Engine,
    /// Network in a file.
    Network(PathBuf),
}

/// Error of an invalid evaluation or a missing engine.
#[derive(Debug, thiserror::Error)]
pub enum EvaluationError {
    /// Folder without a network.
    #[error("{}: no network in it; write one with `destrier-trainer export PLAN.toml`", path.display())]
    NoNetwork {
        /// The folder.
        path: PathBuf,
    },
    /// Folder with several networks.
    #[error("{}: several networks, {one} and {other}: name one of them", path.display())]
    Several {
        /// The folder.
        path: PathBuf,
        /// Name of the first.
        one: String,
        /// Name of the second.
        other: String,
    },
    /// File or folder that cannot be read.
    #[error("{}: {error}", path.display())]
    Unreadable {
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        error: std::io::Error,
    },
    /// File that is not a network.
    #[error("{}: {error}; give a network that Destrier loads", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// The cause.
        error: FormatError,
    },
    /// Two files with the same network.
    #[error("{} and {} are the same network; leave one of them out", one.display(), other.display())]
    Twice {
        /// The first file.
        one: PathBuf,
        /// The second file.
        other: PathBuf,
    },
    /// Missing engine.
    #[error("{}: no engine there; build it there with `cargo build --release -p destrier`, or name one with --engine", path.display())]
    NoEngine {
        /// The program looked for.
        path: PathBuf,
    },
}

impl Evaluation {
    /// Parses `classical`, `engine`, a network file, or a folder of a training run. Network files
    /// are read and checked.
    ///
    /// # Errors
    /// [`EvaluationError`] if the path is not a network.
    pub fn parse(word: &str) -> Result<Evaluation, EvaluationError> {
        match word {
            "classical" => Ok(Evaluation::Classical),
            "engine" => Ok(Evaluation::Engine),
            path => Evaluation::network(Path::new(path)),
        }
    }

    /// Finds the network in a file, or the only one in a folder of a training run.
    ///
    /// # Errors
    /// [`EvaluationError`] if the path is not a network.
    pub fn network(path: &Path) -> Result<Evaluation, EvaluationError> {
        let file = if path.is_dir() { only_network(path)? } else { path.to_owned() };
        nnue::read_file(&file).map_err(|error| EvaluationError::Format { path: file.clone(), error })?;
        Ok(Evaluation::Network(file))
    }

    /// Loads the evaluation. There is no fallback: an evaluation that cannot be loaded is an error,
    /// never another evaluation in its place.
    ///
    /// # Errors
    /// Fails if the file is not a network, or if the build has no network for `engine`.
    pub fn load(&self) -> anyhow::Result<EvalConfig> {
        let network = match self {
            Evaluation::Classical => return Ok(EvalConfig { mode: EvalMode::Classical, network: None }),
            Evaluation::Engine => {
                nnue::embedded().context("`engine`: this build has no network built in; name a file")?
            }
            Evaluation::Network(path) => {
                Arc::new(nnue::read_file(path).map_err(|error| EvaluationError::Format { path: path.clone(), error })?)
            }
        };
        Ok(EvalConfig { mode: EvalMode::Nnue, network: Some(network) })
    }

    /// Copies the network file into a folder under a name with its hash, so that later changes to
    /// the file cannot affect the games.
    ///
    /// # Errors
    /// Fails if the file cannot be read or the copy cannot be written.
    pub fn kept(self, folder: &Path) -> anyhow::Result<Evaluation> {
        let Evaluation::Network(path) = self else { return Ok(self) };
        let bytes = std::fs::read(&path).with_context(|| format!("{}: cannot read it", path.display()))?;
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let copy = folder.join(format!("{stem}-{}.nnue", &nnue::sha256_hex(&bytes)[..12]));
        if !copy.exists() {
            std::fs::create_dir_all(folder).with_context(|| format!("{}: cannot create it", folder.display()))?;
            replace(&copy, &bytes)?;
        }
        Ok(Evaluation::Network(full(&copy)))
    }

    /// Returns the UCI options that select this evaluation.
    pub fn options(&self) -> Vec<(String, String)> {
        let mode = |mode: &str| ("EvalMode".to_owned(), mode.to_owned());
        match self {
            Evaluation::Engine => Vec::new(),
            Evaluation::Classical => vec![mode("classical")],
            Evaluation::Network(path) => vec![("EvalFile".to_owned(), path.display().to_string()), mode("nnue")],
        }
    }

    /// Returns the SHA-256 of the network file; `None` without a readable one.
    pub fn sha256(&self) -> Option<String> {
        let Evaluation::Network(path) = self else { return None };
        std::fs::read(path).ok().map(|bytes| nnue::sha256_hex(&bytes))
    }
}

impl fmt::Display for Evaluation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Evaluation::Classical => f.write_str("classical"),
            Evaluation::Engine => f.write_str("engine"),
            Evaluation::Network(path) => write!(f, "{}", path.display()),
        }
    }
}

/// Returns the only `.nnue` file of a folder.
fn only_network(folder: &Path) -> Result<PathBuf, EvaluationError> {
    let unreadable = |error| EvaluationError::Unreadable { path: folder.to_owned(), error };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_some_and(|extension| extension == "nnue") {
            found.push(path);
        }
    }
    found.sort();
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    match found.as_slice() {
        [] => Err(EvaluationError::NoNetwork { path: folder.to_owned() }),
        [path] => Ok(path.clone()),
        [one, other, ..] => {
            Err(EvaluationError::Several { path: folder.to_owned(), one: name(one), other: name(other) })
        }
    }
}

/// Player with its evaluation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entrant {
    /// Name in tables, unique among the players.
    pub name: String,
    /// Evaluation that the player uses.
    pub evaluation: Evaluation,
}

impl Entrant {
    fn new(evaluation: Evaluation) -> Entrant {
        let name = match &evaluation {
            Evaluation::Network(path) => path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            other => other.to_string(),
        };
        Entrant { name, evaluation }
    }

    /// Parses a player and names it after its evaluation.
    ///
    /// # Errors
    /// As [`Evaluation::parse`].
    pub fn parse(word: &str) -> Result<Entrant, EvaluationError> {
        Ok(Entrant::new(Evaluation::parse(word)?))
    }
}

/// Parses the candidates of a command line.
///
/// # Errors
/// As [`Evaluation::network`].
pub fn entrants(paths: &[PathBuf]) -> Result<Vec<Entrant>, EvaluationError> {
    paths.iter().map(|path| Evaluation::network(path).map(Entrant::new)).collect()
}

/// Makes the names of players unique: adds the folder's name if files share a name, and a part of
/// the hash if that is not enough. Refuses a network that occurs twice.
///
/// # Errors
/// [`EvaluationError::Twice`].
pub fn distinguish(players: &mut [Entrant]) -> Result<(), EvaluationError> {
    let hashes: Vec<Option<String>> = players.iter().map(|player| player.evaluation.sha256()).collect();
    for (place, hash) in hashes.iter().enumerate().filter(|(_, hash)| hash.is_some()) {
        if let Some(before) = hashes[..place].iter().position(|other| other == hash) {
            let path = |place: usize| PathBuf::from(players[place].evaluation.to_string());
            return Err(EvaluationError::Twice { one: path(before), other: path(place) });
        }
    }
    for place in shared(players) {
        if let Evaluation::Network(path) = &players[place].evaluation
            && let Some(folder) = path.parent().and_then(Path::file_name)
        {
            players[place].name = format!("{}-{}", folder.to_string_lossy(), players[place].name);
        }
    }
    for place in shared(players) {
        if let Some(hash) = &hashes[place] {
            players[place].name = format!("{}-{}", players[place].name, &hash[..12]);
        }
    }
    Ok(())
}

/// Returns the indices of the players whose names are not unique.
fn shared(players: &[Entrant]) -> Vec<usize> {
    let is_shared = |place: &usize| players.iter().filter(|player| player.name == players[*place].name).count() > 1;
    (0..players.len()).filter(is_shared).collect()
}

/// Returns the spec of the `destrier` program in this program's folder.
///
/// # Errors
/// [`EvaluationError::NoEngine`] if it does not exist.
pub fn default_engine() -> Result<String, EvaluationError> {
    let program = std::env::current_exe().unwrap_or_default();
    let path = program.with_file_name(format!("destrier{}", std::env::consts::EXE_SUFFIX));
    if path.is_file() { Ok(path.display().to_string()) } else { Err(EvaluationError::NoEngine { path }) }
}
