//! Games lost on time: their number, their causes, and the limit that stops a run.
//!
//! Counted games make the stamp beside the verdict, all finished ones the alarm. From the fifth
//! loss on, losses are reported together, each time their number has doubled, with cause and
//! remedies. More than `--max-time-losses` stop the run, resumable, with exit code 4.

use crate::plan::Plan;
use crate::record::{GameRecord, Overstep, PlayerId, Termination};

/// Number of time losses from which on they are reported together.
pub const ALARM: u64 = 5;

/// Minimum number of games that a share is taken of. A few losses at the start are not a share yet.
const LEAST_GAMES: u64 = 100;

/// Number of games and of time losses among them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TimeLosses {
    /// All games.
    pub games: u64,
    /// Games lost on time.
    pub lost: u64,
    /// Time losses whose record holds evidence against the host ([`Overstep::is_by_host`]).
    pub by_host: u64,
    /// Time losses in void games, whose pairs are played again.
    pub voided: u64,
    /// Other time losses by player, up to the last player who has one.
    own: Vec<u64>,
}

impl TimeLosses {
    /// Records a finished game.
    pub fn record(&mut self, game: &GameRecord) {
        self.games += 1;
        if game.ending.termination != Termination::TimeForfeit {
            return;
        }
        self.lost += 1;
        self.voided += u64::from(game.is_void);
        if game.overstep.as_ref().is_some_and(Overstep::is_by_host) {
            self.by_host += 1;
            return;
        }
        let loser =
            [game.players.white, game.players.black].into_iter().find(|side| game.half_points(*side) == Some(0));
        if let Some(PlayerId(loser)) = loser {
            let place = usize::from(loser);
            self.own.resize(self.own.len().max(place + 1), 0);
            self.own[place] += 1;
        }
    }

    /// Share of games lost on time, 0 to 1.
    #[must_use]
    pub fn share(&self) -> f64 {
        if self.games == 0 { 0.0 } else { self.lost as f64 / self.games as f64 }
    }

    /// True if more than `percent` of the games were lost on time. Fewer than a hundred games count
    /// as a hundred.
    #[must_use]
    pub fn exceed(&self, percent: f64) -> bool {
        100.0 * self.lost as f64 > percent * self.games.max(LEAST_GAMES) as f64
    }

    /// Remark beside a result that time losses may have shaped: from the fifth loss on, or from one
    /// game in a hundred.
    #[must_use]
    pub fn stamp(&self) -> Option<String> {
        if self.lost < ALARM && self.share() < 0.01 {
            return None;
        }
        let Self { lost, by_host, .. } = self;
        Some(format!(
            "{} of games lost on time, {by_host} of {lost} with evidence against the host",
            percent(self.share())
        ))
    }

    /// Warning on one line with causes and remedies.
    #[must_use]
    pub fn alarm(&self, plan: &Plan) -> String {
        let Self { games, lost, by_host, voided, .. } = self;
        let share = percent(self.share());
        let mut causes = Vec::new();
        let mut remedies = Vec::new();
        if *by_host > 0 {
            let void = if *voided > 0 { format!(" ({voided} void and played again)") } else { String::new() };
            causes.push(format!(
                "{by_host} by the host, which kept engine or clock from a CPU for longer than the overrun{void}"
            ));
            let fewer = if plan.concurrency > 1 { "fewer games at once (-j)" } else { "a quieter machine" };
            remedies.push(fewer);
        }
        if by_host < lost {
            let names: Vec<_> = plan
                .players
                .iter()
                .zip(&self.own)
                .filter(|(_, losses)| **losses > 0)
                .map(|(player, losses)| format!("{} {losses}", player.name))
                .collect();
            causes.push(format!("{} by the engines' own doing ({})", lost - by_host, names.join(", ")));
        }
        remedies.extend(["a larger --margin-ms", "longer increments"]);
        if *by_host > 0 && !plan.void_disturbed {
            remedies.push("--void-disturbed");
        }
        let last = remedies.pop().unwrap_or_default();
        let remedies = format!("{} or {last}", remedies.join(", "));
        format!("{lost} of {games} games lost on time ({share}), {}; what helps: {remedies}", causes.join(", "))
    }
}

/// A share in percent, with one decimal below ten.
fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent < 10.0 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::record::{ByColor, Ending, GameId, Leg, MoveLoad, Opening, Outcome, PairId};

    /// A game that Black, player 1, lost. `late` makes it a time loss: milliseconds of overrun, and
    /// milliseconds for which the host kept the engine from a CPU.
    fn game(late: Option<(u64, u64)>) -> GameRecord {
        let ms = Duration::from_millis;
        let termination = if late.is_some() { Termination::TimeForfeit } else { Termination::Checkmate };
        GameRecord {
            id: GameId { pair: PairId(0), leg: Leg::First },
            players: ByColor { white: PlayerId(0), black: PlayerId(1) },
            engines: ByColor::default(),
            opening: Opening { index: 0, fen: String::new(), moves: Vec::new() },
            moves: Vec::new(),
            ending: Ending { outcome: Outcome::WhiteWins, termination, detail: String::new() },
            started: Duration::ZERO,
            took: Duration::ZERO,
            overstep: late.map(|(late, kept)| Overstep {
                allowed: ms(100),
                answered: Some(ms(100 + late)),
                load: MoveLoad { engine_waited: Some(ms(kept)), ..MoveLoad::default() },
            }),
            is_void: false,
            values: None,
            worker: None,
            scale: None,
        }
    }

    fn tally(by_host: u64, own: u64, others: u64) -> TimeLosses {
        let mut tally = TimeLosses::default();
        let kinds = [(by_host, Some((20, 30))), (own, Some((20, 3))), (others, None)];
        for (count, late) in kinds {
            (0..count).for_each(|_| tally.record(&game(late)));
        }
        tally
    }

    #[test]
    fn games_are_told_apart_by_their_evidence() {
        let losses = tally(114, 2, 388);
        assert_eq!((losses.games, losses.lost, losses.by_host, losses.own.as_slice()), (504, 116, 114, &[0, 2][..]));
        let stamp = "23 % of games lost on time, 114 of 116 with evidence against the host";
        assert_eq!(losses.stamp().as_deref(), Some(stamp));
        for (losses, stamped) in [(tally(0, 0, 9), false), (tally(1, 0, 500), false), (tally(1, 0, 9), true)] {
            assert_eq!(losses.stamp().is_some(), stamped, "{losses:?}");
        }
        assert!(tally(5, 0, 9_995).stamp().is_some_and(|stamp| stamp.starts_with("0.1 %")));
    }

    #[test]
    fn a_share_is_one_of_a_hundred_games_at_least() {
        for (lost, others, limit, exceeds) in [
            (10, 0, 10.0, false),
            (11, 0, 10.0, true),
            (11, 89, 10.0, true),
            (50, 450, 10.0, false),
            (51, 449, 10.0, true),
            (0, 500, 0.0, false),
            (1, 0, 0.0, true),
            (500, 0, 100.0, false),
        ] {
            assert_eq!(tally(lost, 0, others).exceed(limit), exceeds, "{lost} of {}, {limit}", lost + others);
        }
    }
}
