//! Speed of a machine: nodes per second of one engine, with every free place busy.
//!
//! Nodes and time are the engine's own figures, as in the records of games, so that the two can be
//! compared.

use std::time::Duration;

use super::places::{GamePlaces, Places};
use super::terms::LocalPlan;
use super::worker::{PAUSE, WorkerError};
use crate::record::{PlayerId, SearchInfo};
use crate::schedule::engine_config;
use crate::stats::median;
use crate::uci::Go;
use crate::uci::process::{Confinement, Engine, EngineConfig, SearchOutcome};

/// Time of a search.
const SEARCH: Duration = Duration::from_secs(1);

/// Searches of each place. Their median counts.
const SEARCHES: usize = 3;

/// Time limit of a search on a loaded machine.
const LIMIT: Duration = Duration::from_mins(2);

/// Nodes per second of a search; `None` if the engine does not report nodes and time.
pub(super) fn of_search(info: &SearchInfo) -> Option<f64> {
    let (nodes, time) = (info.nodes?, info.time.filter(|time| !time.is_zero())?);
    Some(nodes as f64 / time.as_secs_f64())
}

/// Measures the speed of a player's engine with as many engines as games have places and memory
/// now, at least one. Other places are busy with games. `None` if the engine does not report its
/// speed.
///
/// # Errors
/// Returns an error if the engine does not start or does not answer.
pub(super) async fn measure(agreed: &LocalPlan, player: PlayerId, places: &Places) -> Result<Option<f64>, WorkerError> {
    let LocalPlan { plan, guests, memory_mib, .. } = agreed;
    let place = usize::from(player.0);
    let Some(engine) = plan.players.get(place) else { return Ok(None) };
    let mut free = Vec::new();
    while free.is_empty() {
        free.extend(std::iter::from_fn(|| places.take(plan.threads(), *memory_mib)));
        if free.is_empty() {
            tokio::time::sleep(PAUSE).await;
        }
    }
    let searches = free.into_iter().map(|taken| {
        let mut config = engine_config(plan, engine, None);
        if let Some(guest) = guests.get(place).cloned() {
            config.env = guest.env;
            let own = |all: Confinement| Confinement {
                scratch: all.scratch.join(format!("speed-{}", taken.number())),
                ..all
            };
            config.confinement = guest.confinement.map(own);
        }
        // An engine ends with the thread that started it.
        tokio::task::spawn_blocking(move || search(&config, &taken))
    });
    let mut speeds = Vec::new();
    for search in searches.collect::<Vec<_>>() {
        let found = search.await.map_err(|error| WorkerError::Slots(error.to_string()))??;
        speeds.extend(found.into_iter().flatten());
    }
    Ok(median(speeds))
}

fn search(config: &EngineConfig, place: &GamePlaces) -> Result<Vec<Option<f64>>, WorkerError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let words = |why: String| format!("engine {}: no speed was measured: {why}", config.name);
        let fault = |why: String| WorkerError::Slots(words(why));
        // As before a game, another attempt may succeed.
        let not_ready = |why: String| WorkerError::NotReady { why: words(why), pairs: 0 };
        let mut engine = Engine::start(config, &place.cpus()).await.map_err(|error| match error.is_transient() {
            true => not_ready(error.to_string()),
            false => fault(error.to_string()),
        })?;
        let mut speeds = Vec::new();
        for _ in 0..SEARCHES {
            engine.new_game().await.map_err(|error| not_ready(error.to_string()))?;
            let go = Go { movetime: Some(SEARCH), ..Go::default() };
            match engine.go(b"position startpos\n", &go, Some(LIMIT)).await {
                SearchOutcome::BestMove { info, .. } => speeds.push(of_search(&info)),
                SearchOutcome::Overrun { elapsed, .. } => {
                    return Err(fault(format!("no move within {} s after `go movetime`", elapsed.as_secs())));
                }
                SearchOutcome::Exited { status, .. } => return Err(fault(format!("{status} after `go movetime`"))),
            }
        }
        engine.quit().await;
        Ok(speeds)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_without_nodes_or_time_has_no_speed() {
        let info = |nodes, millis: Option<u64>| SearchInfo {
            nodes,
            time: millis.map(Duration::from_millis),
            ..SearchInfo::default()
        };
        assert_eq!(of_search(&info(Some(500), Some(250))), Some(2_000.0));
        for (nodes, millis) in [(None, Some(1)), (Some(1), None), (Some(1), Some(0))] {
            assert_eq!(of_search(&info(nodes, millis)), None);
        }
    }
}
