//! Work on many items by several threads, each with engines of its own.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::run::error::Result;
use crate::run::prepare;

/// Number of threads that work on `items` items if `most` are allowed.
pub(crate) fn count(items: usize, most: usize) -> usize {
    most.min(items).max(1)
}

/// Works on each item once, and returns the results in the items' order. Each of `most` threads
/// starts a worker, takes one item after the other, and ends the worker. The first error stops all
/// of them. `tell` gets the number of finished items after each one.
///
/// # Errors
/// Returns the error of a worker that did not start, or of an item.
pub(crate) fn in_lanes<I: Sync, W, T: Send>(
    (items, most): (&[I], usize),
    start: impl AsyncFn() -> Result<W> + Sync,
    work: impl AsyncFn(&mut W, usize, &I) -> Result<T> + Sync,
    end: impl AsyncFn(W) + Sync,
    tell: &(dyn Fn(usize) + Sync),
) -> Result<Vec<T>> {
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let found: Mutex<Vec<Option<T>>> = Mutex::new(items.iter().map(|_| None).collect());
    let lane = || -> Result<()> {
        // On Linux an engine ends with the thread that started it.
        prepare::runtime()?.block_on(async {
            let mut worker = start().await?;
            loop {
                let place = next.fetch_add(1, Ordering::Relaxed);
                let Some(item) = items.get(place) else { break };
                let result = work(&mut worker, place, item).await;
                if result.is_err() {
                    // Stops the other threads.
                    next.store(items.len(), Ordering::Relaxed);
                }
                found.lock().unwrap_or_else(PoisonError::into_inner)[place] = Some(result?);
                tell(done.fetch_add(1, Ordering::Relaxed) + 1);
            }
            end(worker).await;
            Ok(())
        })
    };
    let ran: Vec<Result<()>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..count(items.len(), most)).map(|_| scope.spawn(lane)).collect();
        let join = |thread: std::thread::ScopedJoinHandle<'_, Result<()>>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        threads.into_iter().map(join).collect()
    });
    ran.into_iter().collect::<Result<()>>()?;
    Ok(found.into_inner().unwrap_or_else(PoisonError::into_inner).into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::error::fail;

    #[test]
    fn results_stand_in_the_order_of_the_items() {
        let items: Vec<u32> = (0..100).collect();
        let (started, told, ended) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
        let found = in_lanes(
            (&items, 4),
            async || Ok(started.fetch_add(1, Ordering::Relaxed)),
            async |_, place, item| Ok(place as u32 * 1_000 + item),
            async |_| {
                ended.fetch_add(1, Ordering::Relaxed);
            },
            &|done| {
                told.fetch_max(done, Ordering::Relaxed);
            },
        );
        assert_eq!(found.unwrap(), (0..100).map(|item| item * 1_001).collect::<Vec<_>>());
        let all = [started, told, ended].map(AtomicUsize::into_inner);
        assert_eq!(all, [4, 100, 4]);
    }

    #[test]
    fn the_first_error_ends_the_work() {
        let items: Vec<usize> = (0..1_000).collect();
        let work = async |_: &mut (), _: usize, item: &usize| {
            if *item >= 5 {
                fail!(Setting, "item {item}");
            }
            Ok(*item)
        };
        let done = AtomicUsize::new(0);
        let tell = |count| {
            done.fetch_max(count, Ordering::Relaxed);
        };
        let error = in_lanes((&items, 1), async || Ok(()), work, async |()| (), &tell).unwrap_err();
        assert_eq!((error.to_string().as_str(), done.into_inner()), ("item 5", 5));
        let empty = in_lanes((&[], 3), async || Ok(()), work, async |()| (), &|_| ());
        assert_eq!(empty.unwrap(), Vec::<usize>::new());
    }
}
