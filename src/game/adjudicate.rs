//! Results given by the referee before the rules of chess end the game.
//!
//! Each rule ([`DrawRule`], [`ResignRule`], a number of plies) is fixed by the plan; each counter
//! is one game's progress towards it, updated ply by ply. The numbers mean what they mean in the
//! leading runners, so that their usual settings (`move=34,count=8,score=20`; `count=3,score=600`)
//! give the same results here. A ply without a score breaks every count, because no result is given
//! without evidence.

use crate::plan::rules::{DrawRule, ResignRule};
use crate::record::{ByColor, Color, Score};

/// Progress towards [`DrawRule`].
#[derive(Clone, Copy, Debug)]
pub struct DrawCounter {
    rule: DrawRule,
    plies: u32,
}

impl DrawCounter {
    /// A new game's count.
    #[must_use]
    pub const fn new(rule: DrawRule) -> Self {
        Self { rule, plies: 0 }
    }

    /// Counts a ply; true when the game is a draw. `moves_complete` is the number of full moves
    /// that are complete after the ply. A capture or pawn move (`zeroing`) starts a new count, and
    /// is itself its first ply. Mate scores never count.
    pub fn record(&mut self, score: Option<Score>, zeroing: bool, moves_complete: u32) -> bool {
        let drawish = matches!(score, Some(Score::Cp(cp)) if cp.unsigned_abs() <= self.rule.score_cp);
        if zeroing {
            self.plies = 0;
        }
        self.plies = if drawish { self.plies.saturating_add(1) } else { 0 };
        self.plies >= self.rule.count.saturating_mul(2) && moves_complete >= self.rule.move_number
    }
}

/// Progress towards [`ResignRule`].
#[derive(Clone, Copy, Debug)]
pub struct ResignCounter {
    rule: ResignRule,
    /// Consecutive plies whose score says that the side is lost: its own, or with `two_sided` both
    /// sides'.
    lost: ByColor<u32>,
}

impl ResignCounter {
    /// A new game's count.
    #[must_use]
    pub const fn new(rule: ResignRule) -> Self {
        Self { rule, lost: ByColor { white: 0, black: 0 } }
    }

    /// Counts a ply of `mover`; returns the loser once one side has to resign. Being mated counts
    /// as lost, mating as won.
    pub fn record(&mut self, mover: Color, score: Option<Score>) -> Option<Color> {
        let beyond = |cp: i32| cp.unsigned_abs() >= self.rule.score_cp;
        let (mover_lost, other_lost) = match score {
            // A mate in 0 comes from a side that is mated already.
            Some(Score::Mate(moves)) => (moves <= 0, moves > 0),
            Some(Score::Cp(cp)) => (cp <= 0 && beyond(cp), cp >= 0 && beyond(cp)),
            None => (false, false),
        };
        let needed = if self.rule.two_sided {
            count(self.lost.get_mut(mover.other()), other_lost);
            self.rule.count.saturating_mul(2)
        } else {
            self.rule.count
        };
        count(self.lost.get_mut(mover), mover_lost);
        [mover, mover.other()].into_iter().find(|side| *self.lost.get(*side) >= needed)
    }
}

fn count(counter: &mut u32, holds: bool) {
    *counter = if holds { counter.saturating_add(1) } else { 0 };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A score as engines print it: `+13`, `-600`, `#3`, `#-2`, `?` for none.
    fn score(text: &str) -> Option<Score> {
        match text.strip_prefix('#') {
            Some(mate) => Some(Score::Mate(mate.parse().expect(text))),
            None => text.parse().ok().map(Score::Cp),
        }
    }

    /// Plays plies from move 1 on, `x` marking a capture or pawn move; returns the ply (from 1) at
    /// which the draw is given.
    fn draw_at(rule: &str, plies: &str) -> Option<u32> {
        let mut counter = DrawCounter::new(rule.parse().expect(rule));
        (1u32..).zip(plies.split_whitespace()).find_map(|(ply, text)| {
            let zeroing = text.ends_with('x');
            counter.record(score(text.trim_end_matches('x')), zeroing, ply / 2).then_some(ply)
        })
    }

    #[test]
    fn draws() {
        let cases = [
            ("count=1,score=20", "0 0", Some(2)),
            ("count=2,score=20", "0 20 -20 20", Some(4)),
            ("count=2,score=20", "0 21 0 0 0 0", Some(6)),
            ("count=2,score=20", "0 0 -21 0 0 0 0", Some(7)),
            // A capture restarts the count and counts itself.
            ("count=2,score=20", "0 0 0 0x 0 0 0", Some(7)),
            ("count=2,score=20", "0 0 0 99x 0 0 0 0", Some(8)),
            // Mates and silence are not draws.
            ("count=1,score=20", "#1 #-1 #0 #1", None),
            ("count=2,score=20", "0 0 0 ? 0 0 0 0", Some(8)),
            ("count=1,score=0", "1 -1 0 0", Some(4)),
            // Three full moves must be complete.
            ("move=3,count=1,score=20", "0 0 0 0 0 0", Some(6)),
            ("move=3,count=1,score=20", "0 0 0 0 0 99 0", None),
            ("count=1,score=20", "-2147483648 2147483647", None),
        ];
        for (rule, plies, expected) in cases {
            assert_eq!(draw_at(rule, plies), expected, "{rule}: {plies}");
        }
    }

    /// White moves first; returns the side that resigns and the ply (from 1).
    fn resigns_at(rule: &str, plies: &str) -> Option<(Color, u32)> {
        let mut counter = ResignCounter::new(rule.parse().expect(rule));
        (1u32..).zip(plies.split_whitespace()).find_map(|(ply, text)| {
            let mover = if ply % 2 == 1 { Color::White } else { Color::Black };
            counter.record(mover, score(text)).map(|loser| (loser, ply))
        })
    }

    #[test]
    fn resignations() {
        use Color::{Black, White};
        let one = "count=2,score=600";
        let two = "count=2,score=600,twosided";
        let cases = [
            // Only the loser's own scores count, not the winner's.
            (one, "-600 0 -600", Some((White, 3))),
            (one, "-600 -10 -599 -10 -600 -10 -600", Some((White, 7))),
            (one, "0 -600 0 -700", Some((Black, 4))),
            (one, "600 0 600 0 600", None),
            (one, "#-3 0 #-2", Some((White, 3))),
            (one, "#3 0 #2", None),
            (one, "-600 0 ? 0 -600", None),
            (one, "-600 0 #0", Some((White, 3))),
            ("count=1,score=1", "-2147483648", Some((White, 1))),
            // Both must agree on who is lost, ply after ply.
            (two, "-600 600 -600 600", Some((White, 4))),
            (two, "600 -600 600 -600", Some((Black, 4))),
            (two, "600 600 600 600 600 600", None),
            (two, "-600 -600 -600 -600", None),
            (two, "-600 600 -600 599 -600 600 -600 600", Some((White, 8))),
            (two, "-600 600 -600 ? -600 600 -600 600", Some((White, 8))),
            (two, "#-4 #4 #-3 #3", Some((White, 4))),
            (two, "#4 -600 #3 -600", Some((Black, 4))),
            (two, "0 -600 600 -600 600", Some((Black, 5))),
        ];
        for (rule, plies, expected) in cases {
            assert_eq!(resigns_at(rule, plies), expected, "{rule}: {plies}");
        }
    }
}
