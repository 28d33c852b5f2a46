//! Networks that settings give the players.

use std::path::{Path, PathBuf};

use crate::plan::Player;
use crate::run::error::{Result, ResultContext as _, fail};
use crate::settings::RawPlan;
use crate::source::{Context, NetworkFile};

/// Puts the network of a player into the cache: its own, else that of all.
pub(crate) fn kept(
    (key, own): (&str, Option<&PathBuf>),
    raw: &RawPlan,
    context: &Context,
) -> Result<Option<NetworkFile>> {
    let (key, path) = match (own, &raw.net) {
        (Some(path), _) => (key, path),
        (None, Some(path)) => ("--net", path),
        (None, None) => return Ok(None),
    };
    keep(key, path, context).map(Some)
}

fn keep(key: &str, path: &Path, context: &Context) -> Result<NetworkFile> {
    NetworkFile::keep(path, &context.cwd, &context.cache).within(|| key.to_owned())
}

/// Networks of the sides of a test.
pub(crate) fn of_sides(raw: &RawPlan, context: &Context) -> Result<[Option<NetworkFile>; 2]> {
    let new = kept(("--new-net", raw.new_net.as_ref()), raw, context)?;
    Ok([new, kept(("--base-net", raw.base_net.as_ref()), raw, context)?])
}

/// True if the sides of a test have different networks. A test that names no base is then one of
/// the networks: both sides are the same engine.
pub(crate) fn differ([new, base]: &[Option<NetworkFile>; 2]) -> bool {
    new.as_ref().map(|network| &network.sha256) != base.as_ref().map(|network| &network.sha256)
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
        Some(value) if Path::new(value) != network.path => fail!(
            Setting,
            "{}: the option {option} and a network both name its file; leave out the option, or --net, --new-net and --base-net",
            player.name
        ),
        _ => Ok(()),
    }
}
