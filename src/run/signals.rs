//! Stop signals, heard from the first run of the process to its end.
//!
//! One that comes between two runs of a series stops the second.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;

use tokio::sync::{mpsc, watch};

use crate::os::{StopSignal, StopSignals};
use crate::run::{prepare, progress};
use crate::tournament::events::Stop;

/// Signals of this process.
static HEARD: LazyLock<SignalHistory> = LazyLock::new(|| {
    let history = SignalHistory::default();
    listen(history.all.clone());
    history
});

/// Signals since the first listener.
#[derive(Debug, Default)]
struct SignalHistory {
    all: watch::Sender<Vec<StopSignal>>,
    /// Number of those that a run has taken.
    taken: AtomicUsize,
}

impl SignalHistory {
    /// Sends stop requests for the signals from number `next` on.
    async fn send(&self, mut next: usize, interrupts: mpsc::Sender<Stop>) {
        let mut all = self.all.subscribe();
        let mut level = Stop::No;
        loop {
            let signal = all.borrow_and_update().get(next).copied();
            let Some(signal) = signal else {
                if all.changed().await.is_err() {
                    return;
                }
                continue;
            };
            level = match (signal, level) {
                (StopSignal::Interrupt, Stop::No) => Stop::AfterGame,
                (StopSignal::Interrupt | StopSignal::Terminate, _) => Stop::Now,
            };
            let Ok(request) = interrupts.reserve().await else { return };
            next += 1;
            self.taken.fetch_max(next, Ordering::AcqRel);
            request.send(level);
        }
    }

    /// Number of the first signal that no run has taken.
    fn first(&self) -> usize {
        self.taken.load(Ordering::Acquire)
    }
}

/// Starts the thread that receives signals, which lose their default effect.
fn listen(all: watch::Sender<Vec<StopSignal>>) {
    let (ready, listens) = channel();
    let hear = move || {
        let Ok(runtime) = prepare::runtime() else { return };
        runtime.block_on(async {
            let mut signals = StopSignals::listen();
            // Whoever waits for this waits until the thread ends.
            let _ = ready.send(());
            loop {
                let signal = signals.recv().await;
                all.send_modify(|all| all.push(signal));
            }
        });
    };
    let thread = std::thread::Builder::new().name("signals".to_owned()).spawn(hear);
    if thread.is_err() || listens.recv().is_err() {
        progress::warn("signals cannot be handled: Ctrl-C ends this program at once, and finished games are kept");
    }
}

/// Sends stop requests to a run: the first Ctrl-C lets running games finish. The second one,
/// SIGTERM and SIGHUP stop at once. Signals since the end of the last run count.
pub(crate) async fn watch_signals(interrupts: mpsc::Sender<Stop>) {
    HEARD.send(HEARD.first(), interrupts).await;
}

/// Sends a stop request for each signal that comes from now on.
pub(crate) async fn watch_new_signals(interrupts: mpsc::Sender<Stop>) {
    let now = HEARD.all.borrow().len();
    HEARD.send(now, interrupts).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Requests that a run gets before it ends.
    async fn requests(history: &SignalHistory, count: usize) -> Vec<Stop> {
        let (to, mut requests) = mpsc::channel(1);
        let mut got = Vec::new();
        tokio::select! {
            () = history.send(history.first(), to) => {}
            () = async {
                while got.len() < count {
                    got.push(requests.recv().await.unwrap());
                }
            } => {}
        }
        got
    }

    #[tokio::test]
    async fn a_signal_between_two_runs_stops_the_second() {
        use StopSignal::{Interrupt, Terminate};
        let history = SignalHistory::default();
        let hear = |signal| history.all.send_modify(|all| all.push(signal));
        hear(Interrupt);
        hear(Interrupt);
        assert_eq!(requests(&history, 2).await, [Stop::AfterGame, Stop::Now]);
        hear(Terminate);
        assert_eq!(requests(&history, 1).await, [Stop::Now]);
        // Each is taken once.
        hear(Interrupt);
        assert_eq!(requests(&history, 1).await, [Stop::AfterGame]);
        assert_eq!(history.first(), 4);
    }
}
