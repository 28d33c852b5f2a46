//! Networks that settings give the players.

use std::path::{Path, PathBuf};

use crate::plan::Player;
use crate::run::error::{Result, ResultContext as _, RunError, fail};
use crate::settings::RawPlan;
use crate::source::{Context, NetworkFile, ResolvedEngine};

/// Networks of a run's players, each file read once.
pub(crate) struct NetworkInputs<'a> {
    raw: &'a RawPlan,
    context: &'a Context,
    known: Vec<(PathBuf, NetworkFile)>,
}

impl<'a> NetworkInputs<'a> {
    pub(crate) const fn new(raw: &'a RawPlan, context: &'a Context) -> Self {
        Self { raw, context, known: Vec::new() }
    }

    /// Puts the network of a player into the cache: its own, else that of all.
    pub(crate) fn of(&mut self, key: &str, own: Option<&PathBuf>) -> Result<Option<NetworkFile>> {
        let (key, path) = match (own, &self.raw.net) {
            (Some(path), _) => (key, path),
            (None, Some(path)) => ("--net", path),
            (None, None) => return Ok(None),
        };
        if let Some((_, network)) = self.known.iter().find(|(known, _)| known == path) {
            return Ok(Some(network.clone()));
        }
        let network = keep(key, path, self.context)?;
        self.known.push((path.clone(), network.clone()));
        Ok(Some(network))
    }
}

/// Puts the network that all players have into the cache.
pub(crate) fn of_all(raw: &RawPlan, context: &Context) -> Result<Option<NetworkFile>> {
    NetworkInputs::new(raw, context).of("--net", None)
}

/// Puts the network `path` of the flag `key` into the cache.
pub(crate) fn keep(key: &str, path: &Path, context: &Context) -> Result<NetworkFile> {
    NetworkFile::keep(path, &context.cwd, &context.cache).within(|| key.to_owned())
}

/// Networks of the sides of a test.
pub(crate) fn of_sides(raw: &RawPlan, context: &Context) -> Result<[Option<NetworkFile>; 2]> {
    let mut networks = NetworkInputs::new(raw, context);
    let new = networks.of("--new-net", raw.new_net.as_ref())?;
    Ok([new, networks.of("--base-net", raw.base_net.as_ref())?])
}

/// True if the sides of a test have different networks.
pub(crate) fn differ([new, base]: &[Option<NetworkFile>; 2]) -> bool {
    new.as_ref().map(|network| &network.sha256) != base.as_ref().map(|network| &network.sha256)
}

/// True if a test that names no base is one of networks: both sides are the same engine. It then
/// searches for no base.
pub(crate) fn in_one_program(raw: &RawPlan, networks: &[Option<NetworkFile>; 2]) -> Result<bool> {
    let is_of_networks = raw.base.is_none() && differ(networks);
    if is_of_networks && let Some(from) = &raw.base_from {
        fail!(
            Setting,
            "--base-from {from}: with two networks both sides are `new`, and no base is searched for; name it with \
             --base, or leave out --base-from"
        );
    }
    Ok(is_of_networks)
}

/// Replaces the settings' networks by their copies in the cache.
pub(crate) fn pin(raw: &mut RawPlan, context: &Context) -> Result<()> {
    let replace = |key: &str, path: &mut Option<PathBuf>| -> Result<()> {
        let Some(file) = path else { return Ok(()) };
        *file = keep(key, file, context)?.path;
        Ok(())
    };
    replace("--net", &mut raw.net)?;
    replace("--new-net", &mut raw.new_net)?;
    replace("--base-net", &mut raw.base_net)?;
    raw.players.iter_mut().try_for_each(|player| replace("players.net", &mut player.net))
}

/// Refuses a typed option that takes the place of the network.
pub(super) fn check(player: &Player, network: Option<&NetworkFile>) -> Result<()> {
    let (Some(network), Some(given)) = (network, &player.origin.network) else { return Ok(()) };
    let Some(option) = &given.option else { return Ok(()) };
    match player.option(option) {
        Some(value) if Path::new(value) != network.path => Err(both_name_it(&player.name, option)),
        _ => Ok(()),
    }
}

/// Like [`check`], before the typed options are the engine's.
pub(crate) fn check_typed(engine: &ResolvedEngine, typed: &[(String, String)]) -> Result<()> {
    let option = engine.origin.network.as_ref().and_then(|network| network.option.as_ref());
    match option.filter(|option| typed.iter().any(|(name, _)| name.eq_ignore_ascii_case(option))) {
        Some(option) => Err(both_name_it(&engine.name, option)),
        None => Ok(()),
    }
}

fn both_name_it(engine: &str, option: &str) -> RunError {
    RunError::Setting(format!(
        "{engine}: the option {option} and a network both name its file; leave out the option, or --net, --new-net and --base-net"
    ))
}
