//! Stop signals, heard from the first run of the process to its end.
//!
//! One that comes between two runs of a series stops the second, and so does one that came too late
//! to stop the first.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;

use tokio::sync::{mpsc, watch};

use crate::os::{self, StopSignal, StopSignals};
use crate::run::{prepare, progress};
use crate::tournament::events::Stop;

/// Signals of this process, once somebody listens.
static HEARD: OnceLock<SignalHistory> = OnceLock::new();

/// Signals since the first listener.
#[derive(Debug, Default)]
struct SignalHistory {
    all: watch::Sender<Vec<StopSignal>>,
    /// Number of those that a run has taken.
    taken: AtomicUsize,
}

impl SignalHistory {
    /// A history that records the signals from now on, but none that the process was started to
    /// ignore.
    fn begin() -> Self {
        Self::begin_with(StopSignals::listen)
    }

    /// A history that records the signals of a listener from now on.
    fn begin_with(listener: fn() -> StopSignals) -> Self {
        let history = Self::default();
        listen(history.all.clone(), listener);
        history
    }

    /// Sends stop requests for the signals from number `next` on. A run takes them from later ones.
    async fn send(&self, mut next: usize, interrupts: mpsc::Sender<Stop>, is_run: bool) {
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
            if is_run {
                self.taken.fetch_max(next, Ordering::AcqRel);
            }
            request.send(level);
        }
    }

    /// Number of the first signal that no run has taken.
    fn first(&self) -> usize {
        self.taken.load(Ordering::Acquire)
    }

    /// Leaves the signals from number `first` on to the next run.
    fn give_back(&self, first: usize) {
        self.taken.store(first, Ordering::Release);
    }
}

/// Returns the history, which `begin` makes if there is none yet, and the number of its signals at
/// the time of the call.
fn heard_so_far(heard: &OnceLock<SignalHistory>, begin: impl FnOnce() -> SignalHistory) -> (&SignalHistory, usize) {
    // Counted first: a signal may come before `begin` returns, and it comes after the call.
    let before = heard.get().map_or(0, |history| history.all.borrow().len());
    (heard.get_or_init(begin), before)
}

/// Starts the thread that receives signals, which lose their default effect.
fn listen(all: watch::Sender<Vec<StopSignal>>, listener: fn() -> StopSignals) {
    let (ready, listens) = channel();
    let hear = move || {
        let Ok(runtime) = prepare::runtime() else { return };
        runtime.block_on(async {
            let mut signals = listener();
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
    let history = HEARD.get_or_init(SignalHistory::begin);
    history.send(history.first(), interrupts, true).await;
}

/// Records Ctrl-C from now on if the process was started to ignore it, as a background job of a
/// script is. The first run takes it. Does nothing in other processes.
pub(crate) fn heed_ignored_interrupts() {
    if os::is_interrupt_ignored() {
        HEARD.get_or_init(|| SignalHistory::begin_with(StopSignals::listen_to_interrupts));
    }
}

/// Number of signals that runs have taken.
pub(crate) fn taken() -> usize {
    HEARD.get().map_or(0, SignalHistory::first)
}

/// Leaves the signals after the first `taken` to the next run, because they did not stop theirs.
pub(crate) fn give_back(taken: usize) {
    if let Some(history) = HEARD.get() {
        history.give_back(taken);
    }
}

/// Sends a stop request for each signal that comes from now on. Runs get all of them too.
pub(crate) fn watch_new_signals(interrupts: mpsc::Sender<Stop>) -> impl Future<Output = ()> {
    let (history, next) = heard_so_far(&HEARD, SignalHistory::begin);
    history.send(next, interrupts, false)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Requests that a run gets before it ends.
    async fn requests(history: &SignalHistory, count: usize) -> Vec<Stop> {
        let (to, mut requests) = mpsc::channel(1);
        let mut got = Vec::new();
        tokio::select! {
            () = history.send(history.first(), to, true) => {}
            () = async {
                while got.len() < count {
                    got.push(requests.recv().await.unwrap());
                }
            } => {}
        }
        got
    }

    /// A signal may come as soon as the thread listens, before its listener goes on.
    #[test]
    fn a_signal_during_the_first_call_counts() {
        let heard = OnceLock::new();
        let begin = || {
            let history = SignalHistory::default();
            history.all.send_modify(|all| all.push(StopSignal::Terminate));
            history
        };
        assert_eq!(heard_so_far(&heard, begin).1, 0);
        assert_eq!(heard_so_far(&heard, SignalHistory::default).1, 1);
    }

    /// A queue's daemon listens while it prepares a run.
    #[tokio::test]
    async fn a_signal_that_another_listener_hears_stops_the_next_run() {
        let history = SignalHistory::default();
        history.all.send_modify(|all| all.push(StopSignal::Interrupt));
        let (to, mut listener) = mpsc::channel(1);
        tokio::select! {
            () = history.send(0, to, false) => {}
            request = listener.recv() => assert_eq!(request, Some(Stop::AfterGame)),
        }
        assert_eq!(requests(&history, 1).await, [Stop::AfterGame]);
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
        // It came with the last game of its run, which ended by itself.
        history.give_back(3);
        assert_eq!(requests(&history, 1).await, [Stop::AfterGame]);
    }
}
