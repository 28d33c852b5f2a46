//! The terms of a worker's owner (`worker.toml`): what may run on this machine, and how.
//!
//! No command line comes from the network. A plan names programs by their SHA-256 only. Arguments,
//! folders, variables and files that options name come from this file, or the plan is refused. All
//! of it is a function of plan and file, without I/O.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;

use super::registry::Needs;
use super::sign::{BadKey, PublicKey};
use crate::plan::affinity::Affinity;
use crate::plan::{Plan, Player};
use crate::schedule::worker::Guest;
use crate::text::{TomlError, from_toml};
use crate::uci::process::{Confinement, may_name_file};

/// Start of a name by content: of a program, or of the file that an option names.
pub(crate) const BLOB: &str = "sha256:";

/// Memory that an engine takes besides its hash table, in MiB.
const BESIDES_HASH_MIB: u64 = 64;

/// Address space beyond the memory of a slot: libraries, stacks, networks and tables in files.
const ADDRESS_SPACE_MIB: u64 = 16 << 10;

/// Disk space for programs and networks unless the owner says otherwise, in MiB.
const USUAL_DISK_MIB: u64 = 2 << 10;

/// Maximum number of MiB of disk or memory; more are taken for as many. In bytes they fit 64 bits.
const MOST_MIB: u64 = 1 << 40;

/// Confinement of engines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Sandbox {
    /// Engines read what is listed, and reach no network.
    #[default]
    Strict,
    /// Engines have the rights of the worker.
    None,
}

/// `worker.toml` as written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawTerms {
    slots: Option<u16>,
    memory_mib: Option<u64>,
    disk_mib: Option<u64>,
    #[serde(default)]
    sandbox: Sandbox,
    #[serde(default)]
    trust: Vec<String>,
    #[serde(default)]
    syzygy: Vec<PathBuf>,
    #[serde(default, rename = "engine")]
    engines: Vec<RawAllowedEngine>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawAllowedEngine {
    sha256: Option<String>,
    author: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    dir: Option<PathBuf>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default)]
    paths: BTreeMap<String, PathBuf>,
}

/// Reason that `worker.toml` cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TermsError {
    /// The file cannot be read.
    #[error(
        "{}: {source}; a worker plays only what this file allows: write at least trust = [\"quintain-key:...\"] and one [[engine]]", path.display()
    )]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The file has another format.
    #[error(transparent)]
    Toml(#[from] TomlError),
    /// A key is malformed.
    #[error("{}: {source}", path.display())]
    Key {
        /// The file.
        path: PathBuf,
        /// The text.
        source: BadKey,
    },
    /// An entry names no engine.
    #[error("{}: [[engine]] {number}: {why}", path.display())]
    Engine {
        /// The file.
        path: PathBuf,
        /// Number of the entry, from 1.
        number: usize,
        /// Fault with the remedy.
        why: &'static str,
    },
}

/// An engine that may run.
#[derive(Clone, Debug, PartialEq, Eq)]
struct AllowedEngine {
    which: EngineSelector,
    args: Vec<String>,
    dir: Option<PathBuf>,
    env: Vec<(String, String)>,
    /// Files and folders by the names of options, in lower case.
    paths: BTreeMap<String, PathBuf>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum EngineSelector {
    /// The program with this SHA-256.
    Program(String),
    /// Every program of this author, in the sandbox only.
    OfAuthor(PublicKey),
}

/// Terms of a worker's owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Terms {
    /// Slots; `None` for the number of physical cores less one.
    pub(crate) slots: Option<u16>,
    /// Memory for engines, in MiB; `None` for that of the machine.
    pub(crate) memory_mib: Option<u64>,
    /// Disk space for programs and networks, in MiB.
    pub(crate) disk_mib: u64,
    /// Confinement of engines.
    pub(crate) sandbox: Sandbox,
    /// Authors whose plans may run.
    pub(crate) trust: Vec<PublicKey>,
    /// Folders of endgame tables.
    pub(crate) syzygy: Vec<PathBuf>,
    allowed: Vec<AllowedEngine>,
}

/// Bounds of this machine.
#[derive(Clone, Debug)]
pub(crate) struct Room {
    /// Slots that the worker offers.
    pub(crate) slots: u16,
    /// Memory for engines, in MiB.
    pub(crate) memory_mib: u64,
    /// Folder of programs and networks by their SHA-256.
    pub(crate) cache: PathBuf,
    /// Folder that engines write to.
    pub(crate) scratch: PathBuf,
}

/// A plan as it is played on this machine.
#[derive(Debug)]
pub(crate) struct LocalPlan {
    /// The plan, with programs, options and tables of this machine.
    pub(crate) plan: Plan,
    /// Guests by player.
    pub(crate) guests: Arc<[Guest]>,
    /// SHA-256 of programs that must be in the cache.
    pub(crate) programs: BTreeSet<String>,
    /// SHA-256 of other files that must be in the cache.
    pub(crate) files: BTreeSet<String>,
    /// Memory of a game, in MiB.
    pub(crate) memory_mib: u64,
}

/// Reason that a plan is not played here, with the remedy; on one line.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refusal {
    /// A program is not listed.
    #[error(
        "the program of {player} (sha256 {sha256}) is not allowed: add [[engine]] with sha256 = \"{sha256}\" to worker.toml"
    )]
    Program {
        /// Name of the player.
        player: String,
        /// SHA-256 of its program.
        sha256: String,
    },
    /// Programs of an author run in the sandbox only.
    #[error("the program of {0} is only allowed by its author, which requires sandbox = \"strict\"")]
    Unconfined(String),
    /// The plan has other arguments.
    #[error(
        "{player} has the arguments {args:?}, which the [[engine]] of worker.toml that allows it does not have: add args = {args:?}"
    )]
    Args {
        /// Name of the player.
        player: String,
        /// Its arguments.
        args: Vec<String>,
    },
    /// An option names a file.
    #[error(
        "{player}: the option {option} names a file: add {option} = \"PATH\" to [engine.paths] of the [[engine]] that allows it"
    )]
    Path {
        /// Name of the player.
        player: String,
        /// Name of the option.
        option: String,
    },
    /// A text holds control characters, with which it could be several commands.
    #[error("{0} has an option or argument with control characters")]
    Control(String),
    /// The tables are missing.
    #[error("the run needs endgame tables, and worker.toml has none: add syzygy = [\"FOLDER\"]")]
    Tables,
    /// Too few slots for one game.
    #[error("a game of this run takes {threads} threads, and this worker offers {slots}: give -j {threads} or more")]
    Threads {
        /// Threads of a game.
        threads: usize,
        /// Slots of this worker.
        slots: u16,
    },
    /// Too little memory for one game.
    #[error(
        "a game of this run takes {needed} MiB of memory, and this worker offers {memory}: raise memory_mib in worker.toml"
    )]
    Memory {
        /// MiB of a game.
        needed: u64,
        /// MiB of this worker.
        memory: u64,
    },
}

impl Terms {
    /// Reads `worker.toml`.
    ///
    /// # Errors
    /// Returns an error with file, place and remedy.
    pub(crate) fn read(path: &Path) -> Result<Self, TermsError> {
        let read = crate::files::read_input(path, crate::files::MOST_DOCUMENT_BYTES);
        let text = read.map_err(|source| TermsError::File { path: path.to_owned(), source })?;
        Self::parse(path, &text)
    }

    /// Number of entries that allow engines.
    pub(crate) fn engines(&self) -> usize {
        self.allowed.len()
    }

    fn parse(path: &Path, text: &str) -> Result<Self, TermsError> {
        let raw: RawTerms = from_toml(path, text)?;
        let key = |text: &String| {
            text.parse::<PublicKey>().map_err(|source| TermsError::Key { path: path.to_owned(), source })
        };
        let mut allowed = Vec::new();
        for (place, raw) in raw.engines.into_iter().enumerate() {
            let fault = |why| TermsError::Engine { path: path.to_owned(), number: place + 1, why };
            let which = match (&raw.sha256, &raw.author) {
                (Some(sha256), None) => {
                    let sha256 = sha256.strip_prefix(BLOB).unwrap_or(sha256).to_ascii_lowercase();
                    if !is_sha256(&sha256) {
                        return Err(fault("sha256 has 64 hexadecimal digits, as `sha256sum PROGRAM` prints them"));
                    }
                    EngineSelector::Program(sha256)
                }
                (None, Some(author)) => EngineSelector::OfAuthor(key(author)?),
                _ => return Err(fault("give sha256 = \"...\" of a program, or author = \"quintain-key:...\"")),
            };
            let paths = raw.paths.into_iter().map(|(name, path)| (name.to_lowercase(), path)).collect();
            allowed.push(AllowedEngine {
                which,
                args: raw.args,
                dir: raw.dir,
                env: raw.env.into_iter().collect(),
                paths,
            });
        }
        Ok(Self {
            slots: raw.slots.filter(|slots| *slots > 0),
            memory_mib: raw.memory_mib.map(|mib| mib.min(MOST_MIB)),
            disk_mib: raw.disk_mib.unwrap_or(USUAL_DISK_MIB).min(MOST_MIB),
            sandbox: raw.sandbox,
            trust: raw.trust.iter().map(key).collect::<Result<_, _>>()?,
            syzygy: raw.syzygy,
            allowed,
        })
    }

    /// Fits a plan of a trusted author to this machine.
    ///
    /// # Errors
    /// Returns the reason that it is not played here.
    pub(crate) fn examine(&self, mut plan: Plan, author: PublicKey, room: &Room) -> Result<LocalPlan, Refusal> {
        let (mut programs, mut files) = (BTreeSet::new(), BTreeSet::new());
        let needed = memory_of_needs(&Needs::of(&plan));
        let threads = plan.threads();
        if threads > usize::from(room.slots) {
            return Err(Refusal::Threads { threads, slots: room.slots });
        }
        if needed > room.memory_mib {
            return Err(Refusal::Memory { needed, memory: room.memory_mib });
        }
        let mut guests = Vec::new();
        for player in &mut plan.players {
            let allowed = self.allowed(player, author)?;
            let reads = fit(player, allowed, &room.cache, &mut files)?;
            programs.insert(player.origin.sha256.clone());
            player.program = room.cache.join(&player.origin.sha256);
            player.dir.clone_from(&allowed.dir);
            let confinement = (self.sandbox == Sandbox::Strict).then(|| Confinement {
                reads: reads.into_iter().chain(allowed.dir.clone()).collect(),
                scratch: room.scratch.join(player.file_name()),
                address_space: Some((needed + ADDRESS_SPACE_MIB) << 20),
            });
            guests.push(Guest { env: allowed.env.clone(), confinement });
        }
        if let Some(rule) = &mut plan.rules.syzygy {
            if self.syzygy.is_empty() {
                return Err(Refusal::Tables);
            }
            rule.paths = self.syzygy.clone().into();
        }
        plan.affinity = Affinity::Auto;
        plan.workers = None;
        Ok(LocalPlan { plan, guests: guests.into(), programs, files, memory_mib: needed })
    }

    /// Checks the demands of a run that its entry names.
    ///
    /// # Errors
    /// Returns the reason that it is not played here.
    pub(crate) fn examine_needs(&self, needs: &Needs, room: &Room) -> Result<(), Refusal> {
        if needs.threads > u32::from(room.slots) {
            let threads = usize::try_from(needs.threads).unwrap_or(usize::MAX);
            return Err(Refusal::Threads { threads, slots: room.slots });
        }
        let needed = memory_of_needs(needs);
        if needed > room.memory_mib {
            return Err(Refusal::Memory { needed, memory: room.memory_mib });
        }
        if needs.syzygy && self.syzygy.is_empty() {
            return Err(Refusal::Tables);
        }
        Ok(())
    }

    /// Entry that allows a player: with its arguments, and one of its program before one of its
    /// author.
    fn allowed(&self, player: &Player, author: PublicKey) -> Result<&AllowedEngine, Refusal> {
        let sha256 = player.origin.sha256.to_ascii_lowercase();
        // Any other value would be the name of a file.
        if !is_sha256(&sha256) {
            return Err(Refusal::Program { player: player.name.clone(), sha256 });
        }
        let of = |which: EngineSelector| self.allowed.iter().filter(move |allowed| allowed.which == which);
        let is_unconfined = self.sandbox != Sandbox::Strict;
        let of_author = of(EngineSelector::OfAuthor(author)).filter(|_| !is_unconfined);
        let mut found = of(EngineSelector::Program(sha256.clone())).chain(of_author).peekable();
        if found.peek().is_none() {
            return Err(if is_unconfined && of(EngineSelector::OfAuthor(author)).next().is_some() {
                Refusal::Unconfined(player.name.clone())
            } else {
                Refusal::Program { player: player.name.clone(), sha256 }
            });
        }
        let found = found.find(|allowed| allowed.args == player.args);
        found.ok_or_else(|| Refusal::Args { player: player.name.clone(), args: player.args.clone() })
    }
}

/// Gives the options of a player their values on this machine. Returns what its engine must read.
fn fit(
    player: &mut Player,
    allowed: &AllowedEngine,
    cache: &Path,
    files: &mut BTreeSet<String>,
) -> Result<Vec<PathBuf>, Refusal> {
    let mut reads = Vec::new();
    for (name, value) in &mut player.options {
        if name.contains(char::is_control) || value.contains(char::is_control) {
            return Err(Refusal::Control(player.name.clone()));
        }
        let path = match allowed.paths.get(&name.to_lowercase()) {
            Some(own) => own.clone(),
            None => match value.strip_prefix(BLOB).filter(|sha256| is_sha256(sha256)) {
                Some(sha256) => {
                    files.insert(sha256.to_owned());
                    cache.join(sha256)
                }
                None if may_name_file(name, value) => {
                    return Err(Refusal::Path { player: player.name.clone(), option: name.clone() });
                }
                None => continue,
            },
        };
        *value = path.display().to_string();
        // A list of folders, as of endgame tables, has each of its own.
        reads.extend(std::env::split_paths(&path));
    }
    Ok(reads)
}

/// Memory of one game by the entry of its run, in MiB: of the two players that may meet.
pub(crate) const fn memory_of_needs(needs: &Needs) -> u64 {
    needs.hash_mib.saturating_add(2 * BESIDES_HASH_MIB)
}

/// True for 64 hexadecimal digits in lower case, which are safe as the name of a file.
pub(crate) fn is_sha256(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|digit| digit.is_ascii_digit() || (b'a'..=b'f').contains(&digit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::sign::AuthorKey;
    use crate::plan::file;

    const SHA: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

    fn author() -> PublicKey {
        let folder = tempfile::tempdir().unwrap();
        AuthorKey::load(&folder.path().join("key")).unwrap().public()
    }

    fn terms(text: &str) -> Result<Terms, TermsError> {
        Terms::parse(Path::new("worker.toml"), text)
    }

    fn room() -> Room {
        let [cache, scratch] = ["/cache", "/scratch"].map(PathBuf::from);
        Room { slots: 4, memory_mib: 1_000, cache, scratch }
    }

    /// A plan of two players with the same program.
    fn plan(change: impl Fn(&mut Plan)) -> Plan {
        let text = include_str!("../../tests/it/fixtures/v1/plan.toml");
        let mut plan = file::from_toml(text).unwrap();
        for player in &mut plan.players {
            player.args.clear();
            player.options.clear();
            player.origin.sha256 = SHA.to_owned();
        }
        plan.rules.syzygy = None;
        change(&mut plan);
        plan
    }

    #[test]
    fn a_plan_runs_only_as_the_owner_allows() {
        let author = author();
        let of_program = format!("[[engine]]\nsha256 = \"{SHA}\"\n");
        let of_author = format!("[[engine]]\nauthor = \"{author}\"\n");
        let other = format!("[[engine]]\nsha256 = \"{}\"\n", "b".repeat(64));
        let option = |name: &'static str, value: &'static str| {
            move |plan: &mut Plan| plan.players[0].options.push((name.to_owned(), value.to_owned()))
        };
        let nothing = |_: &mut Plan| {};
        let cases: Vec<(String, Plan, &str)> = vec![
            (of_program.clone(), plan(nothing), "fine"),
            (of_author.clone(), plan(nothing), "fine"),
            (String::new(), plan(nothing), "is not allowed: add [[engine]] with sha256 ="),
            (other, plan(nothing), "is not allowed"),
            (format!("sandbox = \"none\"\n{of_author}"), plan(nothing), "requires sandbox = \"strict\""),
            (of_program.clone(), plan(|plan| plan.players[0].args.push("--x".to_owned())), "add args = [\"--x\"]"),
            (format!("{of_program}args = [\"--x\"]\n"), plan(nothing), "has the arguments []"),
            (
                format!("{of_program}args = [\"--x\"]\n{of_program}args = [\"--y\"]\n"),
                plan(|plan| {
                    ["--x", "--y"]
                        .iter()
                        .zip(&mut plan.players)
                        .for_each(|(arg, player)| player.args.push((*arg).to_owned()))
                }),
                "fine",
            ),
            (of_program.clone(), plan(option("Hash", "64")), "fine"),
            (of_program.clone(), plan(option("OwnBook", "false")), "fine"),
            (of_program.clone(), plan(option("Style", "solid")), "fine"),
            (of_program.clone(), plan(option("EvalFile", "<empty>")), "fine"),
            (of_program.clone(), plan(option("EvalFile", "net")), "the option EvalFile names a file"),
            (of_program.clone(), plan(option("Debug Log File", "log")), "the option Debug Log File names a file"),
            (of_program.clone(), plan(option("Style", "/etc/passwd")), "the option Style names a file"),
            (of_program.clone(), plan(option("Style", "a\nquit")), "control characters"),
            (format!("{of_program}paths = {{ evalfile = \"/own\" }}\n"), plan(option("EvalFile", "net")), "fine"),
            (of_program.clone(), plan(option("Hash", "900")), "takes 1044 MiB of memory, and this worker offers 1000"),
            (of_program.clone(), plan(option("Threads", "5")), "takes 5 threads, and this worker offers 4"),
            (of_program.clone(), plan(|plan| plan.players[1].origin.sha256 = "../x".to_owned()), "is not allowed"),
        ];
        for (text, plan, expected) in cases {
            let examined = terms(&text).unwrap().examine(plan, author, &room());
            let found = examined.map_or_else(|refusal| refusal.to_string(), |_| "fine".to_owned());
            assert!(found == expected || expected != "fine" && found.contains(expected), "{text}: {found}");
        }
    }

    #[test]
    fn paths_of_a_plan_become_the_owners() {
        let net = "b".repeat(64);
        let text = format!(
            "syzygy = [\"/tables\"]\n[[engine]]\nsha256 = \"{SHA}\"\ndir = \"/home/engine\"\nenv = {{ X = \"1\" }}\n\
             paths = {{ SyzygyPath = \"/a:/b\" }}\n"
        );
        let plan = plan(|plan| {
            plan.players[0].dir = Some("/of/the/author".into());
            plan.players[0].options =
                [("SyzygyPath", "/x".to_owned()), ("EvalFile", format!("{BLOB}{net}")), ("Hash", "100".to_owned())]
                    .map(|(name, value)| (name.to_owned(), value))
                    .to_vec();
            plan.rules.syzygy = Some(crate::plan::rules::SyzygyRule::new("/of/the/author").unwrap());
        });
        let agreed = terms(&text).unwrap().examine(plan, author(), &room()).unwrap();
        let player = &agreed.plan.players[0];
        assert_eq!(player.program, Path::new("/cache").join(SHA));
        assert_eq!(player.dir.as_deref(), Some(Path::new("/home/engine")));
        let values: Vec<_> = player.options.iter().map(|(_, value)| value.as_str()).collect();
        assert_eq!(values, ["/a:/b", &format!("/cache/{net}"), "100"]);
        assert_eq!(agreed.plan.rules.syzygy.unwrap().paths[..], [PathBuf::from("/tables")]);
        assert_eq!((agreed.programs.len(), agreed.files.into_iter().collect::<Vec<_>>()), (1, vec![net.clone()]));
        let guest = &agreed.guests[0];
        assert_eq!(guest.env, [("X".to_owned(), "1".to_owned())]);
        let confinement = guest.confinement.clone().unwrap();
        let reads = ["/a", "/b", &format!("/cache/{net}"), "/home/engine"].map(PathBuf::from);
        assert_eq!(confinement.reads, reads);
        assert_eq!(agreed.memory_mib, 100 + 16 + 2 * 64);
    }

    #[test]
    fn a_plan_with_tables_needs_tables() {
        let text = format!("[[engine]]\nsha256 = \"{SHA}\"\n");
        let plan = plan(|plan| plan.rules.syzygy = Some(crate::plan::rules::SyzygyRule::new("/x").unwrap()));
        assert_eq!(terms(&text).unwrap().examine(plan, author(), &room()).unwrap_err(), Refusal::Tables);
    }

    #[test]
    fn wrong_terms_are_named_with_their_place() {
        for (text, expected) in [
            ("slots = 2\nwrong = 1\n", "worker.toml:2:1"),
            ("trust = [\"UBQ3\"]\n", "`UBQ3` is not an author's key"),
            ("sandbox = \"bwrap\"\n", "strict"),
            ("[[engine]]\nargs = []\n", "[[engine]] 1: give sha256"),
            ("[[engine]]\nsha256 = \"12\"\n", "64 hexadecimal digits"),
        ] {
            let error = terms(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
        let error = Terms::read(Path::new("/no/such/worker.toml")).unwrap_err().to_string();
        assert!(error.contains("trust = ") && !error.contains('\n'), "{error}");
    }
}
