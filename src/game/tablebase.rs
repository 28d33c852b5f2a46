//! Results from endgame tables: win, draw or loss as soon as the tables know it, with the
//! fifty-move rule.
//!
//! A table's value holds for a position whose count of moves without a capture or pawn move is
//! zero. A win that takes longer than the fifty-move rule allows is *cursed*, the loss on its other
//! side *blessed*, and both are draws. So tables are probed only if the count is zero, right after
//! a capture or pawn move. If the fifty-move rule is ignored, the count does not matter. Positions
//! with castling rights are in no table. A table gives the result of best play, whatever the
//! engines would have played.
//!
//! The tables themselves are behind [`Probe`], because the referee does no I/O.

use std::fmt;
use std::sync::Arc;

use crate::chess::Position;
use crate::plan::rules::{SyzygyRule, SyzygyScope};
use crate::record::Outcome;

/// Result of best play by both sides, for the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wdl {
    /// The side is mated, within the fifty-move rule.
    Loss,
    /// The side would be mated but for the fifty-move rule.
    BlessedLoss,
    /// Nobody is mated.
    Draw,
    /// The side would mate but for the fifty-move rule.
    CursedWin,
    /// The side mates, within the fifty-move rule.
    Win,
}

/// Endgame tables.
pub trait Probe: fmt::Debug + Send + Sync {
    /// The most pieces and pawns, kings included, of any position that can be looked up.
    fn most_men(&self) -> u32;

    /// The position's value as if it were reached by a capture or pawn move. `None` if no table has
    /// it or none could be read.
    fn probe(&self, position: &Position) -> Option<Wdl>;
}

/// The rule and the tables it asks.
#[derive(Clone, Debug)]
pub(super) struct TableReferee {
    rule: SyzygyRule,
    tables: Arc<dyn Probe>,
}

impl TableReferee {
    pub(super) const fn new(rule: SyzygyRule, tables: Arc<dyn Probe>) -> Self {
        Self { rule, tables }
    }

    /// The result, if the tables give one that the rule accepts.
    pub(super) fn judge(&self, position: &Position) -> Option<Outcome> {
        let most = self.tables.most_men().min(self.rule.pieces.unwrap_or(u32::MAX));
        let is_exact = position.halfmoves() == 0 || self.rule.ignore_fifty;
        if position.men() > most || !is_exact || position.has_castling_rights() {
            return None;
        }
        let mover = position.turn();
        let outcome = match (self.tables.probe(position)?, self.rule.ignore_fifty) {
            (Wdl::Win, _) | (Wdl::CursedWin, true) => Outcome::win(mover),
            (Wdl::Loss, _) | (Wdl::BlessedLoss, true) => Outcome::win(mover.other()),
            (Wdl::Draw | Wdl::CursedWin | Wdl::BlessedLoss, _) => Outcome::Draw,
        };
        let asked_for = match self.rule.scope {
            SyzygyScope::Both => true,
            SyzygyScope::WinLoss => outcome != Outcome::Draw,
            SyzygyScope::Draw => outcome == Outcome::Draw,
        };
        asked_for.then_some(outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::Variant;

    /// Tables of one value, for a given number of men.
    #[derive(Debug)]
    struct Fake(u32, Option<Wdl>);

    impl Probe for Fake {
        fn most_men(&self) -> u32 {
            self.0
        }

        fn probe(&self, _: &Position) -> Option<Wdl> {
            self.1
        }
    }

    /// `rule` is the text after the paths: `[pieces=N] [ignore] [both|win-loss|draw]`.
    #[track_caller]
    fn check(fen: &str, men: u32, wdl: Option<Wdl>, rule: &str, expected: Option<Outcome>) {
        let words: Vec<_> = rule.split_whitespace().collect();
        let rule = SyzygyRule {
            paths: Arc::from([]),
            pieces: words.iter().find_map(|word| word.strip_prefix("pieces=")).map(|n| n.parse().unwrap()),
            ignore_fifty: words.contains(&"ignore"),
            scope: words.last().and_then(|word| word.parse().ok()).unwrap_or_default(),
        };
        let position = Position::from_fen(fen, Variant::Standard).unwrap();
        let judged = TableReferee::new(rule, Arc::new(Fake(men, wdl))).judge(&position);
        assert_eq!(judged, expected, "{fen}, {wdl:?}, {words:?}");
    }

    #[test]
    fn tables_give_results() {
        use Outcome::{BlackWins, Draw as Drawn, WhiteWins};
        use Wdl::{BlessedLoss, CursedWin, Draw, Loss, Win};
        let (white, black) = ("4k3/8/8/8/8/8/8/R3K3 w - - 0 60", "4k3/8/8/8/8/8/8/R3K3 b - - 0 60");
        for (fen, wdl, rule, expected) in [
            (white, Win, "", Some(WhiteWins)),
            (black, Win, "", Some(BlackWins)),
            (white, Loss, "", Some(BlackWins)),
            (black, Loss, "", Some(WhiteWins)),
            (white, Draw, "", Some(Drawn)),
            // The fifty-move rule saves the loser, unless it is ignored.
            (white, CursedWin, "", Some(Drawn)),
            (black, BlessedLoss, "", Some(Drawn)),
            (white, CursedWin, "ignore", Some(WhiteWins)),
            (black, BlessedLoss, "ignore", Some(WhiteWins)),
            (black, CursedWin, "ignore", Some(BlackWins)),
            (white, Draw, "ignore", Some(Drawn)),
            // Half of the results.
            (white, Win, "win-loss", Some(WhiteWins)),
            (white, Loss, "win-loss", Some(BlackWins)),
            (white, Draw, "win-loss", None),
            (white, CursedWin, "win-loss", None),
            (white, CursedWin, "ignore win-loss", Some(WhiteWins)),
            (white, Win, "draw", None),
            (white, Draw, "draw", Some(Drawn)),
            (white, BlessedLoss, "draw", Some(Drawn)),
            (white, BlessedLoss, "ignore draw", None),
            // Fewer men than the tables have.
            (white, Win, "pieces=3", Some(WhiteWins)),
            (white, Win, "pieces=2", None),
            (white, Win, "pieces=7", Some(WhiteWins)),
        ] {
            check(fen, 5, Some(wdl), rule, expected);
        }
    }

    #[test]
    fn tables_are_asked_where_they_are_exact() {
        let win = Some(Wdl::Win);
        let white = Some(Outcome::WhiteWins);
        check("4k3/8/8/8/8/8/8/R3K3 w - - 0 1", 3, win, "", white);
        check("4k3/8/8/8/8/8/8/R3K3 w - - 0 1", 2, win, "", None);
        check("4k3/8/8/8/8/8/8/R3K3 w - - 0 1", 3, None, "", None);
        // A count of moves has begun.
        check("4k3/8/8/8/8/8/8/R3K3 w - - 1 1", 3, win, "", None);
        check("4k3/8/8/8/8/8/8/R3K3 w - - 1 1", 3, win, "ignore", white);
        check("4k3/8/8/8/8/8/8/R3K3 w Q - 0 1", 3, win, "", None);
        check("4k3/8/8/8/8/8/8/R3K3 w Q - 0 1", 3, win, "ignore", None);
    }
}
