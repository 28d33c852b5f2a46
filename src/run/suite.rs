//! A suite put to an engine by several processes at once.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::run::error::Result;
use crate::run::prepare;
use crate::suite::epd::TestPosition;
use crate::suite::{Solver, TestAnswer};
use crate::uci::Go;
use crate::uci::process::EngineConfig;

/// Answers of an engine, in the order of the tests. `tell` gets the number of answered tests after
/// each one.
///
/// # Errors
/// Returns an error if the engine does not start, or fails.
pub(crate) fn answers(
    config: &EngineConfig,
    go: &Go,
    tests: &[TestPosition],
    lanes: usize,
    tell: &(dyn Fn(usize) + Sync),
) -> Result<Vec<TestAnswer>> {
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let found: Mutex<Vec<Option<TestAnswer>>> = Mutex::new(vec![None; tests.len()]);
    let lane = || -> Result<()> {
        // On Linux an engine ends with the thread that started it.
        prepare::runtime()?.block_on(async {
            let mut solver = Solver::start(config.clone(), *go).await?;
            loop {
                let place = next.fetch_add(1, Ordering::Relaxed);
                let Some(test) = tests.get(place) else { break };
                let answer = solver.solve(test).await;
                if answer.is_err() {
                    // Stops the other threads.
                    next.store(tests.len(), Ordering::Relaxed);
                }
                found.lock().unwrap_or_else(PoisonError::into_inner)[place] = Some(answer?);
                tell(done.fetch_add(1, Ordering::Relaxed) + 1);
            }
            solver.end().await;
            Ok(())
        })
    };
    let ran: Vec<Result<()>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..lanes.clamp(1, tests.len())).map(|_| scope.spawn(lane)).collect();
        threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
    });
    ran.into_iter().collect::<Result<()>>()?;
    Ok(found.into_inner().unwrap_or_else(PoisonError::into_inner).into_iter().flatten().collect())
}
