//! Programs behind player names: one program under several names, or several under one.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::plan::Player;
use crate::text::printable;

/// Program and the way it is started. Other arguments, options or limits make another player.
type ProgramSetup = (String, Vec<String>, Vec<(String, String)>, String);

/// Programs of runs, by player name.
#[derive(Debug, Default)]
pub(super) struct Programs {
    names: BTreeMap<ProgramSetup, BTreeSet<String>>,
    /// Programs of each name, with the arguments and options that they had.
    setups: BTreeMap<String, BTreeMap<String, BTreeSet<StartSettings>>>,
}

/// Arguments and options of a program.
type StartSettings = (Vec<String>, Vec<(String, String)>);

#[derive(Serialize)]
struct ProgramNames<'a> {
    sha256: &'a str,
    names: &'a BTreeSet<String>,
}

#[derive(Serialize)]
struct NamePrograms<'a> {
    name: &'a str,
    sha256: Vec<&'a str>,
    /// Number of different programs, arguments and options.
    settings: usize,
}

impl Programs {
    /// Adds the players of a run.
    pub(super) fn add(&mut self, players: &[Player]) {
        for player in players.iter().filter(|player| !player.origin.sha256.is_empty()) {
            let sha256 = player.origin.sha256.clone();
            let mut options = player.options.clone();
            options.sort();
            let programs = self.setups.entry(player.name.clone()).or_default();
            programs.entry(sha256.clone()).or_default().insert((player.args.clone(), options.clone()));
            let setup = (sha256, player.args.clone(), options, player.limit.to_string());
            self.names.entry(setup).or_default().insert(player.name.clone());
        }
    }

    fn one_program(&self) -> impl Iterator<Item = ProgramNames<'_>> {
        let several = self.names.iter().filter(|(_, names)| names.len() > 1);
        several.map(|((sha256, ..), names)| ProgramNames { sha256, names })
    }

    fn one_name(&self) -> impl Iterator<Item = NamePrograms<'_>> {
        let all = self.setups.iter().map(|(name, programs)| NamePrograms {
            name,
            sha256: programs.keys().map(String::as_str).collect(),
            settings: programs.values().map(BTreeSet::len).sum(),
        });
        all.filter(|one| one.settings > 1)
    }

    /// Warnings about shared programs and shared names, with the remedy.
    pub(super) fn lines(&self) -> Vec<String> {
        let quoted = |names: &BTreeSet<String>| -> Vec<String> {
            names.iter().map(|name| format!("`{}`", printable(name))).collect()
        };
        let short = |sha256: &str| sha256.get(..12).unwrap_or(sha256).to_owned();
        let same = self.one_program().map(|one| {
            format!(
                "{} are one program (SHA-256 {}, the same arguments, options and limit) and are rated as several; give it one name",
                quoted(one.names).join(" and "),
                short(one.sha256)
            )
        });
        let other = self.one_name().map(|one| {
            if one.sha256.len() == 1 {
                return format!(
                    "`{}` is one program with {} sets of arguments and options, and is rated as one player; rate those runs separately",
                    printable(one.name),
                    one.settings
                );
            }
            let hashes: Vec<String> = one.sha256.iter().map(|sha256| short(sha256)).collect();
            format!(
                "`{}` is {} programs (SHA-256 {}) and is rated as one; rate those runs separately, or give the programs different names",
                printable(one.name),
                hashes.len(),
                hashes.join(", ")
            )
        });
        same.chain(other).collect()
    }
}

impl Serialize for Programs {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap as _;
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("one_program", &self.one_program().collect::<Vec<_>>())?;
        map.serialize_entry("one_name", &self.one_name().collect::<Vec<_>>())?;
        map.end()
    }
}
