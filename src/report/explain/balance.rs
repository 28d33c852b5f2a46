//! Balance of the openings between the colours.

use std::collections::{BTreeMap, HashMap};

use crate::record::{Color, PlayerId};
use crate::stats::Pentanomial;

/// Balance of the book as played.
#[derive(Clone, Debug)]
pub struct Balance {
    /// Pairs by White's points.
    pub white: Pentanomial,
    /// Number of distinct openings.
    pub distinct: u64,
    /// Expected number of pairs in which one colour wins both games, if a pair's games were
    /// independent; `None` unless each opponent played two pairs.
    pub expected_one_sided: Option<f64>,
    /// Openings in which one colour won both games of more pairs than the other, the most lopsided
    /// first.
    pub lopsided: Vec<LopsidedOpening>,
}

/// Opening that favours one colour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LopsidedOpening {
    /// Position in the book, from 1.
    pub number: u64,
    /// ECO code and name; empty if it has none.
    pub name: String,
    /// Colour that it favours.
    pub winner: Color,
    /// Pairs in which White won both games, and in which Black did.
    pub both: [u64; 2],
    /// White's wins, draws, Black's wins.
    pub games: [u64; 3],
}

impl Balance {
    pub(super) fn new(
        openings: HashMap<u64, OpeningTally>,
        white: Pentanomial,
        meetings: &BTreeMap<PlayerId, Meetings>,
    ) -> Self {
        let distinct = openings.len() as u64;
        let expected = meetings.values().map(Meetings::expected_one_sided).sum::<Option<f64>>();
        let expected = expected.filter(|_| !meetings.is_empty());
        let mut lopsided: Vec<LopsidedOpening> = openings
            .into_values()
            .filter(|opening| opening.both[0] != opening.both[1])
            .map(|opening| LopsidedOpening {
                number: opening.index.saturating_add(1),
                name: opening.name,
                winner: if opening.both[0] > opening.both[1] { Color::White } else { Color::Black },
                both: opening.both,
                games: opening.white,
            })
            .collect();
        let tilt = |one: &LopsidedOpening| (one.both[0].abs_diff(one.both[1]), one.games[0].abs_diff(one.games[2]));
        lopsided.sort_by(|a, b| tilt(b).cmp(&tilt(a)).then(a.number.cmp(&b.number)));
        Self { white, distinct, expected_one_sided: expected, lopsided }
    }

    /// Pairs in which White won both games, and in which Black did.
    #[must_use]
    pub const fn one_sided(&self) -> [u64; 2] {
        let [black, .., white] = self.white.0;
        [white, black]
    }
}

/// Results of one book opening.
#[derive(Clone, Debug, Default)]
pub(super) struct OpeningTally {
    /// Position in the book, from 0, of the line that was played first.
    pub(super) index: u64,
    pub(super) name: String,
    /// White's wins, draws, Black's wins.
    pub(super) white: [u64; 3],
    /// Pairs in which White won both games, and in which Black did.
    pub(super) both: [u64; 2],
}

/// Pairs of the player with one opponent, with either colour once.
#[derive(Clone, Debug, Default)]
pub(super) struct Meetings {
    pairs: u64,
    /// Player's wins with White, and with Black.
    wins: [u64; 2],
    /// Player's losses with White, and with Black.
    losses: [u64; 2],
    /// Pairs in which one colour won both games.
    one_sided: u64,
}

impl Meetings {
    /// Records a pair by the player's half-points with White, and with Black.
    pub(super) fn record(&mut self, half_points: [u8; 2]) {
        self.pairs += 1;
        for (color, half_points) in half_points.into_iter().enumerate() {
            self.wins[color] += u64::from(half_points == 2);
            self.losses[color] += u64::from(half_points == 0);
        }
        self.one_sided += u64::from(matches!(half_points, [2, 0] | [0, 2]));
    }

    /// Expected number of pairs in which one colour wins both games, if the games of a pair were
    /// independent: the number of pairs times the share of such results among all games of
    /// different pairs. `None` with a single pair.
    fn expected_one_sided(&self) -> Option<f64> {
        let others = self.pairs.checked_sub(1).filter(|others| *others > 0)? as f64;
        let of_colors = |color: usize| self.wins[color] as f64 * self.losses[1 - color] as f64;
        Some((of_colors(0) + of_colors(1) - self.one_sided as f64) / others)
    }
}
