//! Time of a run without its pauses.

use std::time::Duration;

use tokio::time::Instant;

/// Clock that stands still while a run is paused, so that its pace is that of playing, and its time
/// limit one of playing.
pub(super) struct PlayingTime {
    began: Instant,
    /// Length of the pauses that are over.
    paused: Duration,
    /// Start of the present pause.
    since: Option<Instant>,
}

impl PlayingTime {
    pub(super) const fn new(began: Instant) -> Self {
        Self { began, paused: Duration::ZERO, since: None }
    }

    /// Stops the clock, if it runs.
    pub(super) fn pause(&mut self, now: Instant) {
        self.since.get_or_insert(now);
    }

    /// Starts the clock, if it stands still.
    pub(super) fn resume(&mut self, now: Instant) {
        self.paused += self.since.take().map_or(Duration::ZERO, |since| now.saturating_duration_since(since));
    }

    /// Time since the start, without pauses.
    pub(super) fn at(&self, now: Instant) -> Duration {
        self.since.unwrap_or(now).saturating_duration_since(self.began).saturating_sub(self.paused)
    }

    /// Moment at which the clock shows `time`; `None` while it stands still, or for a time beyond
    /// the range of [`Instant`].
    pub(super) fn when(&self, time: Duration) -> Option<Instant> {
        if self.since.is_some() {
            return None;
        }
        self.began.checked_add(self.paused)?.checked_add(time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_do_not_count() {
        let began = Instant::now();
        let after = |seconds| began + Duration::from_secs(seconds);
        let mut time = PlayingTime::new(began);
        let mut at = |seconds, action: fn(&mut PlayingTime, Instant)| {
            action(&mut time, after(seconds));
            time.at(after(seconds + 1)).as_secs()
        };
        assert_eq!(at(9, |_, _| {}), 10);
        assert_eq!(at(20, PlayingTime::pause), 20);
        assert_eq!(at(50, PlayingTime::pause), 20);
        assert_eq!(at(70, PlayingTime::resume), 21);
        assert_eq!(at(80, PlayingTime::resume), 31);
        assert_eq!(at(90, PlayingTime::pause), 40);
        assert_eq!(at(190, PlayingTime::resume), 41);
    }

    #[test]
    fn a_time_limit_is_one_of_playing() {
        let began = Instant::now();
        let after = |seconds| began + Duration::from_secs(seconds);
        let limit = Duration::from_secs(60);
        let mut time = PlayingTime::new(began);
        assert_eq!(time.when(limit), Some(after(60)));
        time.pause(after(20));
        assert_eq!(time.when(limit), None);
        time.resume(after(50));
        assert_eq!(time.when(limit), Some(after(90)));
        assert_eq!(time.when(Duration::MAX), None);
    }
}
