//! An engine that searches single positions, and whose limit is doubted whenever a search takes
//! much longer than those before it.

use std::time::Duration;

use crate::game::{Request, stall};
use crate::record::{ByColor, Color, SearchInfo};
use crate::uci::process::{Engine, EngineConfig, SearchOutcome, StartError};
use crate::uci::{Go, Iteration};

/// Time beyond its limit after which a search is given up.
const GRACE: Duration = Duration::from_secs(10);

/// Time limit of a search without a time of its own.
pub(super) const LONGEST: Duration = Duration::from_hours(1);

/// Wait for the first move of an engine without a time limit, and the factor of the next one. After
/// each wait the engine's output tells whether it obeys the limit. If so, it is asked again.
const FIRST_WAIT: (Duration, u32) = (Duration::from_secs(2), 3);

/// First wait for a later move, in times of the slowest one so far.
const SLOWER: u32 = 8;

/// Time of silence after which an engine is given up.
const SILENCE: Duration = Duration::from_secs(15);

/// A move with the last figures of its search.
pub(crate) struct FoundMove {
    /// The move in UCI notation.
    pub(crate) text: String,
    /// The last figures.
    pub(crate) info: SearchInfo,
}

/// A running engine with the limit of its searches.
pub(crate) struct PositionSearcher {
    engine: Engine,
    go: Go,
    /// Time of the slowest search that ended by itself.
    slowest: Duration,
}

impl PositionSearcher {
    /// Starts the engine.
    ///
    /// # Errors
    /// Returns an error if it does not start.
    pub(crate) async fn start(config: &EngineConfig, go: Go) -> Result<Self, StartError> {
        let mut engine = Engine::start(config, &[]).await?;
        engine.keep_iterations();
        Ok(Self { engine, go, slowest: Duration::ZERO })
    }

    /// Searches a position, given as a `position` line, as a new game.
    ///
    /// # Errors
    /// Returns the reason if the engine ends, hangs, or does not obey its limit.
    pub(crate) async fn search(&mut self, position: &[u8]) -> Result<FoundMove, String> {
        let longest = self.go.movetime.map_or(LONGEST, |time| time + GRACE);
        let mut wait =
            if self.go.movetime.is_some() { longest } else { longest.min(FIRST_WAIT.0.max(self.slowest * SLOWER)) };
        loop {
            self.engine.new_game().await.map_err(|fault| fault.to_string())?;
            match self.engine.go(position, &self.go, Some(wait)).await {
                SearchOutcome::BestMove { text, info, elapsed, .. } => {
                    self.slowest = self.slowest.max(elapsed);
                    return self.disobedience(&info, elapsed).map_or(Ok(FoundMove { text, info }), Err);
                }
                SearchOutcome::Exited { status, .. } => return Err(status),
                SearchOutcome::Overrun { elapsed, late, .. } => {
                    if let Some(why) = self.complaint(elapsed, wait == longest) {
                        return Err(why);
                    }
                    if late.is_none() {
                        self.engine.restart().await.map_err(|error| error.to_string())?;
                        self.engine.keep_iterations();
                    }
                    wait = longest.min(wait * FIRST_WAIT.1);
                }
            }
        }
    }

    /// Reason to give up a search that did not end by itself. `None` if it may only be slow.
    fn complaint(&self, elapsed: Duration, is_last: bool) -> Option<String> {
        let (info, seconds) = (self.engine.info(), elapsed.as_secs_f64());
        if self.go.movetime.is_some() {
            return Some(format!("no move after {seconds:.0} s"));
        }
        if let Some(why) = self.disobedience(info, elapsed) {
            return Some(why);
        }
        match (self.go.depth, info.depth) {
            (Some(limit), Some(depth)) if depth > limit => {
                Some(format!("it is at depth {depth}, so it does not obey `go depth {limit}`; use --time or --nodes"))
            }
            (_, None) if info.nodes.is_none() && elapsed >= SILENCE => Some(format!(
                "it said nothing of its search for {seconds:.0} s: it hangs, or does not know this limit; use --time"
            )),
            _ if is_last => Some(format!("no move after {seconds:.0} s")),
            _ => None,
        }
    }

    /// Evidence that a search does not obey its limit in nodes.
    fn disobedience(&self, info: &SearchInfo, elapsed: Duration) -> Option<String> {
        let request = Request {
            color: Color::White,
            deadline: elapsed,
            timed: false,
            clocks: ByColor::default(),
            moves_to_go: None,
            movetime: None,
            nodes: self.go.nodes,
            depth: self.go.depth,
        };
        let why = stall::disobedience(&request, info, elapsed)?;
        Some(format!("{why}, so it does not obey `go nodes`; use --time or --depth"))
    }

    /// Iterations of the last search.
    pub(crate) fn iterations(&self) -> &[Iteration] {
        self.engine.iterations()
    }

    /// Ends the engine.
    pub(crate) async fn end(self) {
        self.engine.quit().await;
    }
}
