//! The workers of a run, and the pairs that two of them play.

use crate::plan::{Player, ReferenceSpeed, Workers};
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
    if raw.concurrency.is_some() {
        fail!(Setting, "concurrency and workers both say how many games run at once; leave out one of them");
    }
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
                hub.set_priority(priority).map_err(RunError::value("--priority"))?;
            }
            if let Some(weight) = raw.weight {
                hub.set_weight(weight).map_err(RunError::value("--weight"))?;
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

/// Refuses `--scale` if neither the run nor the race after it has times.
pub(super) fn check_scale(raw: &RawPlan, is_timed: bool) -> Result<()> {
    // A tuning at fixed nodes may be proven under a clock.
    let is_proven_by_time = raw.prove_tc.is_some() && raw.no_prove != Some(true);
    if raw.scale.is_some() && !is_timed && !is_proven_by_time {
        fail!(Setting, "--scale scales times, but this run has none; remove it, or give --tc");
    }
    Ok(())
}

/// Speed of a player that the times of the run are for.
pub(super) fn scale(raw: &RawPlan, players: &[Player], is_test: bool) -> Result<Option<ReferenceSpeed>> {
    let names = players.iter().map(|player| player.name.as_str());
    let parse = |text: &str| ReferenceSpeed::parse(text, names, is_test).map_err(RunError::value("--scale"));
    raw.scale.as_deref().map(parse).transpose()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_scaled_where_a_run_or_the_race_after_it_has_a_clock() {
        let raw = RawPlan { scale: Some("base=1000".to_owned()), ..RawPlan::default() };
        let proven = RawPlan { prove_tc: Some("8+0.08".to_owned()), ..raw.clone() };
        let unproven = RawPlan { no_prove: Some(true), ..proven.clone() };
        for (raw, is_timed, is_taken) in
            [(&raw, true, true), (&raw, false, false), (&proven, false, true), (&unproven, false, false)]
        {
            assert_eq!(check_scale(raw, is_timed).is_ok(), is_taken, "{raw:?}");
        }
        assert!(check_scale(&RawPlan::default(), false).is_ok());
    }
}
