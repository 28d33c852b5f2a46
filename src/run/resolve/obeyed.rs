//! Limits that an engine obeys, according to its registry entry.

use crate::plan::time_control::{Limit, LimitKind};
use crate::run::error::{Result, fail};
use crate::source::ResolvedEngine;

/// Returns the names of limits, as in the registry.
pub(crate) fn names(limits: &[LimitKind]) -> String {
    limits.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(", ")
}

/// Refuses a limit that the engine does not obey according to the registry.
pub(crate) fn check(found: &ResolvedEngine, limit: Limit) -> Result<()> {
    let Some(obeyed) = &found.limits else { return Ok(()) };
    match limit.kinds().find(|kind| !obeyed.contains(kind)) {
        None => Ok(()),
        Some(kind) => fail!(
            Engine,
            "`{}` does not obey `{limit}`: its entry in configs/engines.toml says that it obeys {}, not {}; \
             give it another limit, or leave it out",
            found.name,
            names(obeyed),
            kind.name()
        ),
    }
}
