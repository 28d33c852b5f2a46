//! Load calibration of a machine.
//!
//! An engine plays itself with different numbers of games at once under a clock. The waits of its
//! moves for a CPU and its losses on time are then compared.

use std::time::Duration;

use serde::Serialize;

use crate::record::{Ending, GameRecord, Termination};
use crate::text::count;

/// Largest share of the thinking time that moves may wait for a CPU in a setting that the machine
/// holds.
pub const MOST_WAITING: f64 = 0.01;

/// Results of one setting: a number of games at once and a clock.
#[derive(Clone, Debug, Default)]
pub struct CalibrationCell {
    /// Number of concurrent games.
    pub concurrency: u16,
    /// The clock as typed.
    pub tc: String,
    games: u64,
    thought: Duration,
    /// Wait of each move, if the system reports it.
    waits: Vec<Duration>,
    time_losses: u64,
    disturbed: u64,
    failures: u64,
    /// Ending of the first game that an engine's failure ended.
    failure: Option<Ending>,
}

/// Figures of a cell. Times are in milliseconds; `None` if the system does not report them or no
/// game was played.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CellEstimates {
    /// Games played to their end.
    pub games: u64,
    /// Moves with a known wait for a CPU.
    pub moves: u64,
    /// Median of the waits.
    pub wait_ms_median: Option<f64>,
    /// 99th percentile of the waits.
    pub wait_ms_p99: Option<f64>,
    /// Longest wait.
    pub wait_ms_max: Option<f64>,
    /// Waiting as a share of the time charged, 0 to 1.
    pub wait_share: Option<f64>,
    /// Games lost on time.
    pub time_losses: u64,
    /// Time losses that are blamed on the machine ([`crate::record::Overstep::is_by_host`]).
    pub disturbed: u64,
    /// True if the machine holds this setting: short waits, and no game lost by the machine's
    /// doing. `None` if no wait is known, or if the engine failed.
    pub holds: Option<bool>,
}

impl CalibrationCell {
    /// Creates a cell without games.
    #[must_use]
    pub fn new(concurrency: u16, tc: &str) -> Self {
        Self { concurrency, tc: tc.to_owned(), ..Self::default() }
    }

    /// Records a finished game.
    pub fn record(&mut self, game: &GameRecord) {
        self.games += 1;
        for ply in &game.moves {
            if let Some(waited) = ply.waited {
                self.thought += ply.elapsed;
                self.waits.push(waited);
            }
        }
        if game.ending.termination.is_failure() {
            self.failures += 1;
            self.failure.get_or_insert_with(|| game.ending.clone());
        }
        if game.ending.termination == Termination::TimeForfeit {
            self.time_losses += 1;
            self.disturbed += u64::from(game.overstep.is_some_and(|overstep| overstep.is_by_host()));
        }
    }

    /// Describes the games that a crash, a stall or an illegal move ended; `None` if there are
    /// none. Such a cell tells nothing about the machine.
    #[must_use]
    pub fn failures(&self) -> Option<String> {
        let Ending { termination, detail, .. } = self.failure.as_ref()?;
        let (failed, games) = (self.failures, count(self.games, "game"));
        let first = if failed == 1 { "" } else { "the first by " };
        let detail = if detail.is_empty() { String::new() } else { format!(": {detail}") };
        Some(format!("{failed} of {games} ended by the engine's failure, {first}{}{detail}", termination.name()))
    }

    /// Computes the figures of the recorded games.
    #[must_use]
    pub fn figures(&mut self) -> CellEstimates {
        self.waits.sort_unstable();
        let ms = |time: &Duration| time.as_secs_f64() * 1e3;
        let at = |percent: usize| self.waits.get(self.waits.len().saturating_sub(1) * percent / 100).map(ms);
        let waited: Duration = self.waits.iter().sum();
        let share = (!self.thought.is_zero()).then(|| waited.as_secs_f64() / self.thought.as_secs_f64());
        CellEstimates {
            games: self.games,
            moves: self.waits.len() as u64,
            wait_ms_median: at(50),
            wait_ms_p99: at(99),
            wait_ms_max: at(100),
            wait_share: share,
            time_losses: self.time_losses,
            disturbed: self.disturbed,
            holds: share.filter(|_| self.failures == 0).map(|share| share <= MOST_WAITING && self.disturbed == 0),
        }
    }
}

/// Formats the cells as a table, with the largest setting that the machine holds for each clock.
#[must_use]
pub fn text(cells: &[(CalibrationCell, CellEstimates)]) -> String {
    let mut out = String::from(
        "tc            at once  games   moves  wait 50 %  wait 99 %   wait max  waiting  lost on time (by the machine)\n",
    );
    let number = |value: Option<f64>| value.map_or_else(|| "?".to_owned(), |ms| format!("{ms:.2} ms"));
    for (cell, figures) in cells {
        let share = figures.wait_share.map_or_else(|| "?".to_owned(), |share| format!("{:.2} %", share * 100.0));
        out += &format!(
            "{:<12} {:>8} {:>6} {:>7} {:>10} {:>10} {:>10} {share:>8}  {} ({})\n",
            cell.tc,
            cell.concurrency,
            figures.games,
            figures.moves,
            number(figures.wait_ms_median),
            number(figures.wait_ms_p99),
            number(figures.wait_ms_max),
            figures.time_losses,
            figures.disturbed,
        );
    }
    let mut clocks: Vec<&str> = Vec::new();
    for (cell, _) in cells {
        if !clocks.contains(&cell.tc.as_str()) {
            clocks.push(&cell.tc);
        }
    }
    for tc in clocks {
        let of_clock = || cells.iter().filter(|(cell, _)| cell.tc == tc);
        let most =
            of_clock().filter(|(_, figures)| figures.holds == Some(true)).map(|(cell, _)| cell.concurrency).max();
        let untold = of_clock().all(|(_, figures)| figures.holds.is_none());
        out += &match most {
            Some(games) => format!("{tc}: this machine holds {games} at once\n"),
            None if untold => {
                format!("{tc}: unknown: no game ended in time, or the system has no figures\n")
            }
            None => format!(
                "{tc}: this machine can play none of these; it is busy with something else, or the clock is too short\n"
            ),
        };
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{
        ByColor, Ending, GameId, MoveLoad, MoveRecord, Opening, Outcome, Overstep, PlayerId, RecordedOutput, SearchInfo,
    };

    fn game(waits: &[u64], overrun_ms: Option<u64>) -> GameRecord {
        let ms = Duration::from_millis;
        let ply = |wait: &u64| MoveRecord {
            uci: "e2e4".to_owned(),
            elapsed: ms(100),
            left: None,
            info: SearchInfo::default(),
            waited: Some(Duration::from_micros(*wait)),
            said: RecordedOutput::default(),
        };
        let termination = if overrun_ms.is_some() { Termination::TimeForfeit } else { Termination::Checkmate };
        GameRecord {
            id: GameId::from_number(1).unwrap(),
            players: ByColor { white: PlayerId::NEW, black: PlayerId::BASE },
            engines: ByColor::default(),
            opening: Opening { index: 0, fen: String::new(), moves: Vec::new() },
            moves: waits.iter().map(ply).collect(),
            ending: Ending { outcome: Outcome::WhiteWins, termination, detail: String::new() },
            started: Duration::ZERO,
            took: ms(1),
            overstep: overrun_ms.map(|late| Overstep {
                allowed: ms(50),
                answered: Some(ms(50 + late)),
                load: MoveLoad { engine_waited: Some(ms(10)), ..MoveLoad::default() },
            }),
            is_void: false,
            values: None,
            worker: None,
            scale: None,
        }
    }

    #[test]
    fn waits_and_losses_decide() {
        for (games, share, losses, holds) in [
            (vec![game(&[0, 100, 200, 3_000], None)], Some(3_300.0 / 400_000.0), (0, 0), Some(true)),
            (vec![game(&[5_000, 0], None)], Some(5_000.0 / 200_000.0), (0, 0), Some(false)),
            (vec![game(&[0], Some(10))], Some(0.0), (1, 1), Some(false)),
            (vec![game(&[0], Some(11))], Some(0.0), (1, 0), Some(true)),
            (vec![], None, (0, 0), None),
        ] {
            let mut cell = CalibrationCell::new(2, "1+0.01");
            games.iter().for_each(|game| cell.record(game));
            let figures = cell.figures();
            assert_eq!(figures.holds, holds);
            let near = |(a, b): (f64, f64)| (a - b).abs() < 1e-12;
            assert!(figures.wait_share.zip(share).map_or(figures.wait_share == share, near), "{figures:?}");
            assert_eq!((figures.time_losses, figures.disturbed), losses);
        }
    }

    #[test]
    fn an_engine_that_fails_tells_nothing() {
        let failed = |termination, detail: &str| {
            let ending = Ending { outcome: Outcome::WhiteWins, termination, detail: detail.to_owned() };
            GameRecord { ending, ..game(&[0], None) }
        };
        let mut cell = CalibrationCell::new(1, "1+0.01");
        cell.record(&game(&[0], None));
        cell.record(&game(&[0], Some(11)));
        assert_eq!((cell.failures(), cell.figures().holds), (None, Some(true)));
        cell.record(&failed(Termination::Crash, "exit status 3"));
        let one = "1 of 3 games ended by the engine's failure, crash: exit status 3";
        assert_eq!((cell.failures().as_deref(), cell.figures().holds), (Some(one), None));
        cell.record(&failed(Termination::IllegalMove, "`a1a1` is not legal here"));
        cell.record(&failed(Termination::Stall, ""));
        let three = "3 of 5 games ended by the engine's failure, the first by crash: exit status 3";
        assert_eq!(cell.failures().as_deref(), Some(three));
        let mut stalled = CalibrationCell::new(1, "1+0.01");
        stalled.record(&failed(Termination::Stall, ""));
        assert_eq!(stalled.failures().as_deref(), Some("1 of 1 game ended by the engine's failure, stall"));
    }

    #[test]
    fn the_most_that_holds_is_told_for_each_clock() {
        let cell = |concurrency, tc: &str, wait| {
            let mut cell = CalibrationCell::new(concurrency, tc);
            cell.record(&game(&[wait], None));
            let figures = cell.figures();
            (cell, figures)
        };
        let empty = (CalibrationCell::new(1, "9+9"), CalibrationCell::new(1, "9+9").figures());
        let told = text(&[cell(1, "1+0", 0), cell(2, "1+0", 0), cell(4, "1+0", 9_000), cell(1, "2+0", 9_000), empty]);
        let said: Vec<_> = told.lines().filter_map(|line| line.split_once(": ")).collect();
        assert_eq!(said[0], ("1+0", "this machine holds 2 at once"));
        assert!(said[1].0 == "2+0" && said[1].1.starts_with("this machine can play none"), "{told}");
        assert!(said[2].0 == "9+9" && said[2].1.starts_with("unknown: no game ended in time"), "{told}");
    }
}
