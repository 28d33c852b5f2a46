//! The workers of a run, and the pairs that two of them play.

use crate::plan::Workers;
use crate::run::error::{Result, ResultContext as _, RunError, fail};
use crate::settings::RawPlan;
use crate::text::random_hex;

/// Workers of a run, and at a hub the name of the run there.
pub(super) fn read(raw: &RawPlan) -> Result<Option<Workers>> {
    let is_of_hub = raw.credentials.is_some() || raw.priority.is_some() || raw.weight.is_some() || raw.scale.is_some();
    let Some(text) = raw.workers.as_deref() else {
        if is_of_hub {
            fail!(
                Setting,
                "--credentials, --priority, --weight and --scale are for runs at a hub; add --workers tls://HOST:4222"
            );
        }
        return Ok(None);
    };
    let mut workers: Workers = text.parse().map_err(RunError::value("--workers"))?;
    match &mut workers {
        Workers::Hub(hub) => {
            if hub.run.is_empty() {
                hub.run = random_hex().within(|| "cannot name the run")?;
            }
            if let Some(file) = &raw.credentials {
                let file = std::path::absolute(file).within(|| format!("--credentials {}", file.display()))?;
                hub.credentials = Some(file);
            }
            if let Some(priority) = raw.priority {
                hub.set_priority(&priority.to_string()).map_err(RunError::value("--priority"))?;
            }
            if let Some(weight) = raw.weight {
                hub.set_weight(&weight.to_string()).map_err(RunError::value("--weight"))?;
            }
        }
        Workers::Local(_) if is_of_hub => {
            fail!(
                Setting,
                "--credentials, --priority, --weight and --scale are for runs at a hub, not for --workers {text}"
            );
        }
        Workers::Local(_) => {}
    }
    Ok(Some(workers))
}

/// Percentage of the pairs that a second worker plays too.
pub(super) fn verified(raw: &RawPlan, is_timed: bool) -> Result<Option<f64>> {
    let Some(text) = raw.verify.as_deref() else { return Ok(None) };
    if raw.workers.is_none() {
        fail!(Setting, "--verify has pairs played by a second worker; add --workers");
    }
    if is_timed {
        fail!(Setting, "--verify compares games at fixed --nodes or --depth; under a clock no two games are equal");
    }
    super::percent("--verify", "pairs", text).map(Some)
}
