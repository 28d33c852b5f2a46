//! Players of a run, and their tables in `plan.toml`.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::stored::{PlanFileError, is_false, parse, seconds};
use super::time_control::{Limit, TimeControl};
use crate::record::PlayerId;
use crate::text::short_hash;

/// An engine under test with its settings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Player {
    /// Name, unique in the plan.
    pub name: String,
    /// Path of the program.
    pub program: PathBuf,
    /// Command-line arguments.
    pub args: Vec<String>,
    /// Working directory; `None` for the current one.
    pub dir: Option<PathBuf>,
    /// UCI options in sending order.
    pub options: Vec<(String, String)>,
    /// Limit on each search.
    pub limit: Limit,
    /// Time margin of this player; `None` for that of the rules.
    pub margin: Option<Duration>,
    /// True to restart it for each game, whatever the plan says of all players.
    pub restart: bool,
    /// True if it gives its scores from White's point of view instead of the mover's.
    pub white_pov: bool,
    /// True if it ponders, whatever the rules say of all players.
    pub ponder: bool,
    /// Failures that its engine reported before the first game, and doubts about files that its
    /// options name.
    pub complaints: Vec<String>,
    /// Origin of the program.
    pub origin: Origin,
}

/// Sets options of an engine. Each replaces one of the same name, in any case.
pub fn override_options(options: &mut Vec<(String, String)>, by: impl IntoIterator<Item = (String, String)>) {
    for (name, value) in by {
        options.retain(|(known, _)| !known.eq_ignore_ascii_case(&name));
        options.push((name, value));
    }
}

/// Hash table of an engine whose options do not say, in MiB.
const USUAL_HASH_MIB: u64 = 16;

impl Player {
    /// Value of an option, whose name may be in any case; `None` if the plan does not set it. Of
    /// several values the last one holds, as for the engine.
    #[must_use]
    pub fn option(&self, name: &str) -> Option<&str> {
        let set = self.options.iter().rev().find(|(known, _)| known.eq_ignore_ascii_case(name));
        set.map(|(_, value)| value.trim())
    }

    /// Size of its hash table in MiB, as far as the plan says.
    #[must_use]
    pub fn hash_mib(&self) -> u64 {
        self.option("Hash").and_then(|value| value.parse().ok()).unwrap_or(USUAL_HASH_MIB)
    }

    pub(super) fn threads(&self) -> Option<usize> {
        self.option("Threads")?.parse().ok()
    }
}

/// Origin of a player's program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// Engine spec as typed: `.`, `git:REV`, a path, a name.
    pub spec: String,
    /// Full hash of the commit it was built from.
    pub commit: Option<String>,
    /// First line of the commit's message; of the engine that a test is about, that of the newest
    /// commit since the base that touches the engine, and the number of others.
    pub subject: Option<String>,
    /// Git tree it was built from, which distinguishes uncommitted states.
    pub tree: Option<String>,
    /// True if the tree had uncommitted changes.
    pub dirty: bool,
    /// Build command of the recipe.
    pub recipe: Option<String>,
    /// Compiler version.
    pub toolchain: Option<String>,
    /// SHA-256 of the program file, in hex.
    pub sha256: String,
    /// `bench` signature: nodes over the engine's fixed positions.
    pub bench_nodes: Option<u64>,
    /// Network given by the user.
    pub network: Option<Network>,
}

/// Network that the user gave an engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Network {
    /// Name of the file.
    pub file: String,
    /// SHA-256 of the file, in hex.
    pub sha256: String,
    /// UCI option that names the file to the engine; `None` if the network is built in.
    pub option: Option<String>,
}

impl Network {
    /// First eight digits of the SHA-256.
    #[must_use]
    pub fn short(&self) -> &str {
        short_hash(&self.sha256)
    }
}

impl fmt::Display for Network {
    /// Formats `big.nnue (1a2b3c4d)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.file, self.short())
    }
}

impl Origin {
    /// Branch or tag that the spec names; `None` for a hash, an expression or another kind of spec.
    #[must_use]
    pub fn branch(&self) -> Option<&str> {
        let name = self.spec.trim().strip_prefix("git:")?.split('@').next()?;
        let is_expression = name.contains(['~', '^', '{', ':']) || name == "HEAD";
        let is_hash = name.len() >= 7 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        Some(name).filter(|name| !name.is_empty() && !is_expression && !is_hash)
    }
}

impl Player {
    /// True if `other` has the same program, arguments and options, whatever its name.
    #[must_use]
    pub fn is_same_engine(&self, other: &Self) -> bool {
        self.origin.sha256 == other.origin.sha256 && self.args == other.args && self.options == other.options
    }

    /// Name for files, with all characters outside `[A-Za-z0-9._-]` replaced.
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
    #[serde(default, skip_serializing_if = "is_false")]
    white_pov: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    ponder: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    subject: Option<String>,
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
    /// Options in sending order: `[["Hash", "16"]]`.
    options: Vec<(String, String)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    network: Option<NetworkV1>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NetworkV1 {
    file: String,
    sha256: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    option: Option<String>,
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
            white_pov: player.white_pov,
            ponder: player.ponder,
            commit: origin.commit,
            subject: origin.subject,
            tree: origin.tree,
            dirty: origin.dirty,
            recipe: origin.recipe,
            toolchain: origin.toolchain,
            sha256: origin.sha256,
            bench_nodes: origin.bench_nodes,
            complaints: player.complaints.clone(),
            options: player.options.clone(),
            network: origin.network.map(|Network { file, sha256, option }| NetworkV1 { file, sha256, option }),
        }
    }
}

impl PlayerV1 {
    /// Converts the table to a player.
    pub(super) fn read(self) -> Result<Player, PlanFileError> {
        if self.name.contains(char::is_control) {
            let why = format!("{:?} is not a player's name: give it one line of text", self.name);
            return Err(PlanFileError::Value { key: "players.name", why });
        }
        if let Some(network) = self.network.as_ref().filter(|network| network.file.contains(char::is_control)) {
            let why = format!("{:?} is no name of a file: give it one line of text", network.file);
            return Err(PlanFileError::Value { key: "players.network.file", why });
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
            white_pov: self.white_pov,
            ponder: self.ponder,
            complaints: self.complaints,
            origin: Origin {
                spec: self.spec,
                commit: self.commit,
                subject: self.subject,
                tree: self.tree,
                dirty: self.dirty,
                recipe: self.recipe,
                toolchain: self.toolchain,
                sha256: self.sha256,
                bench_nodes: self.bench_nodes,
                network: self.network.map(|NetworkV1 { file, sha256, option }| Network { file, sha256, option }),
            },
        })
    }
}

/// Names that the sides of a test have too, unless a player has them.
pub(super) const ROLES: [&str; 2] = ["new", "base"];

/// Player of a name, given the names of all in their order.
pub(super) fn player_named<'a>(
    mut names: impl Iterator<Item = &'a str>,
    name: &str,
    is_test: bool,
) -> Option<PlayerId> {
    let role = || ROLES.iter().position(|role| *role == name && is_test);
    let place = names.position(|known| known == name).or_else(role);
    place.and_then(|place| u16::try_from(place).ok()).map(PlayerId)
}

#[cfg(test)]
mod tests {
    use crate::plan::file;

    #[test]
    fn a_point_of_view_is_stored() {
        let mut plan = file::from_toml(include_str!("../../tests/it/fixtures/v1/plan.toml")).unwrap();
        assert!(!plan.players[0].white_pov && !file::to_toml(&plan).contains("white_pov"));
        plan.players[0].white_pov = true;
        assert!(file::from_toml(&file::to_toml(&plan)).unwrap().players[0].white_pov);
    }

    #[test]
    fn pondering_of_one_player_is_stored() {
        let mut plan = file::from_toml(include_str!("../../tests/it/fixtures/v1/plan.toml")).unwrap();
        let (text, threads) = (file::to_toml(&plan), plan.threads());
        plan.players[0].ponder = true;
        let read = file::from_toml(&file::to_toml(&plan)).unwrap();
        let ponders = |place: usize| read.ponders(&read.players[place]);
        assert_eq!((ponders(0), ponders(1), read.threads()), (true, false, 2 * threads));
        plan.players[0].ponder = false;
        assert_eq!(file::to_toml(&plan), text);
        plan.rules.ponder = true;
        assert!(plan.players.iter().all(|player| plan.ponders(player)));
    }

    #[test]
    fn the_last_value_of_an_option_holds() {
        let mut player =
            file::from_toml(include_str!("../../tests/it/fixtures/v1/plan.toml")).unwrap().players.remove(0);
        player.options.clear();
        assert_eq!((player.option("Hash"), player.hash_mib(), player.threads()), (None, 16, None));
        let set = [("Hash", "32"), ("threads", " 4 "), ("hash", " 64"), ("HashFile", "1")];
        player.options = set.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        assert_eq!((player.option("HASH"), player.hash_mib(), player.threads()), (Some("64"), 64, Some(4)));
        player.options.push(("Hash".to_owned(), "much".to_owned()));
        assert_eq!(player.hash_mib(), 16);
    }
}
