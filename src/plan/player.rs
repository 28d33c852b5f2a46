//! Players of a run, and their tables in `plan.toml`.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::stored::{PlanFileError, is_false, parse, seconds};
use super::time_control::{Limit, TimeControl};

/// An engine under test with its settings.
#[derive(Clone, Debug, PartialEq)]
pub struct Player {
    /// Unique in the plan.
    pub name: String,
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// Where it runs; `None` for the current directory.
    pub dir: Option<PathBuf>,
    /// UCI options in the order they are sent.
    pub options: Vec<(String, String)>,
    /// What it may spend on a move.
    pub limit: Limit,
    /// Grace on every move of its own; `None` for that of the rules.
    pub margin: Option<Duration>,
    /// True to start it anew for each game, whatever the plan says of all.
    pub restart: bool,
    /// Remarks of its engine on failures before the first game, and doubts about files that its
    /// options name.
    pub complaints: Vec<String>,
    /// What the program is.
    pub origin: Origin,
}

impl Player {
    pub(super) fn threads(&self) -> Option<usize> {
        self.options.iter().rev().find(|(name, _)| name.eq_ignore_ascii_case("Threads"))?.1.trim().parse().ok()
    }
}

/// What a player's program is and where it came from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// As typed: `.`, `git:REV`, a path, a name.
    pub spec: String,
    /// The commit it was built from, in full.
    pub commit: Option<String>,
    /// The Git tree it was built from; tells uncommitted states apart.
    pub tree: Option<String>,
    /// True where the tree had uncommitted changes.
    pub dirty: bool,
    /// The recipe's command.
    pub recipe: Option<String>,
    /// The compiler.
    pub toolchain: Option<String>,
    /// SHA-256 of the program file, in hex.
    pub sha256: String,
    /// Its `bench` signature: nodes over its fixed positions.
    pub bench_nodes: Option<u64>,
}

impl Player {
    /// Whether `other` is the same program with the same arguments and options, whatever it is called.
    #[must_use]
    pub fn is_same_engine(&self, other: &Self) -> bool {
        self.origin.sha256 == other.origin.sha256 && self.args == other.args && self.options == other.options
    }

    /// The name with everything outside `[A-Za-z0-9._-]` replaced, for file names.
    #[must_use]
    pub fn file_name(&self) -> String {
        self.name.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' }).collect()
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PlayerV1 {
    name: String,
    spec: String,
    program: PathBuf,
    args: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dir: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tc: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    movetime_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nodes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    depth: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    margin_ms: Option<f64>,
    #[serde(default, skip_serializing_if = "is_false")]
    restart: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tree: Option<String>,
    dirty: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    recipe: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    toolchain: Option<String>,
    sha256: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    bench_nodes: Option<u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    complaints: Vec<String>,
    /// In sending order: `[["Hash", "16"]]`.
    options: Vec<(String, String)>,
}

impl From<&Player> for PlayerV1 {
    fn from(player: &Player) -> Self {
        let origin = player.origin.clone();
        Self {
            name: player.name.clone(),
            spec: origin.spec,
            program: player.program.clone(),
            args: player.args.clone(),
            dir: player.dir.clone(),
            tc: player.limit.clock.map(|clock| clock.to_string()),
            movetime_s: player.limit.movetime.map(|time| time.as_secs_f64()),
            nodes: player.limit.nodes,
            depth: player.limit.depth,
            margin_ms: player.margin.map(|margin| margin.as_secs_f64() * 1e3),
            restart: player.restart,
            commit: origin.commit,
            tree: origin.tree,
            dirty: origin.dirty,
            recipe: origin.recipe,
            toolchain: origin.toolchain,
            sha256: origin.sha256,
            bench_nodes: origin.bench_nodes,
            complaints: player.complaints.clone(),
            options: player.options.clone(),
        }
    }
}

impl PlayerV1 {
    /// The player.
    pub(super) fn read(self) -> Result<Player, PlanFileError> {
        if self.name.contains(char::is_control) {
            let why = format!("{:?} is no name for a player: give it one line of text", self.name);
            return Err(PlanFileError::Value { key: "players.name", why });
        }
        Ok(Player {
            name: self.name,
            program: self.program,
            args: self.args,
            dir: self.dir,
            options: self.options,
            limit: Limit {
                clock: self.tc.as_deref().map(|text| parse::<TimeControl>("players.tc", text)).transpose()?,
                movetime: self.movetime_s.map(|time| seconds("players.movetime_s", time)).transpose()?,
                nodes: self.nodes,
                depth: self.depth,
            },
            margin: self.margin_ms.map(|margin| seconds("players.margin_ms", margin / 1e3)).transpose()?,
            restart: self.restart,
            complaints: self.complaints,
            origin: Origin {
                spec: self.spec,
                commit: self.commit,
                tree: self.tree,
                dirty: self.dirty,
                recipe: self.recipe,
                toolchain: self.toolchain,
                sha256: self.sha256,
                bench_nodes: self.bench_nodes,
            },
        })
    }
}
