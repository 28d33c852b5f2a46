//! What counts so far: a pure fold over game records.
//!
//! Pairs count in the order they were scheduled. A pair that finishes early waits for those before it, so quick games
//! cannot pull a verdict their way, and replaying a journal, whatever the order of its lines, gives the same stop.

use std::collections::BTreeMap;

use crate::record::{Color, GameId, GameRecord, Leg, PairId, PairScore, PlayerId, PvFault, Termination};
use crate::stats::sprt::{Model, Sprt, Verdict};
use crate::stats::{Pentanomial, Trinomial};

/// Games lost by a player's own fault, by kind. Of counted games.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// Lost on time.
    pub time_forfeits: u64,
    /// Lost by an illegal move.
    pub illegal_moves: u64,
    /// Lost because the process was gone.
    pub crashes: u64,
    /// Lost because it did not answer.
    pub stalls: u64,
    /// Moves whose PV was wrong, in the order of [`PvFault::ALL`]. They cost nothing.
    pub pv: [u64; PvFault::ALL.len()],
}

/// The plies of a game whose PV was wrong: place in the game from 1, the book's plies included, who had it, and what.
pub fn pv_faults(game: &GameRecord) -> impl Iterator<Item = (usize, PlayerId, PvFault)> {
    let book = game.opening.moves.len();
    let white_first = game.opening.fen.split_ascii_whitespace().nth(1) != Some("b");
    game.moves.iter().enumerate().filter_map(move |(place, ply)| {
        let fault = ply.info.pv_fault?;
        let color = if (book + place).is_multiple_of(2) == white_first { Color::White } else { Color::Black };
        Some((book + place + 1, *game.players.get(color), fault))
    })
}

/// What counts so far in a test of `new` against `base`.
#[derive(Clone, Debug)]
pub struct Standing {
    sprt: Sprt,
    ptnml: Pentanomial,
    wdl: Trinomial,
    llr_path: Vec<f64>,
    verdict: Verdict,
    next: PairId,
    waiting: BTreeMap<PairId, [Option<Box<GameRecord>>; 2]>,
    faults: [Faults; 2],
    terminations: [u64; Termination::ALL.len()],
    failures: u64,
    voided: u64,
    plies: u64,
}

impl Standing {
    /// Nothing played yet.
    #[must_use]
    pub fn new(sprt: Sprt) -> Self {
        Self {
            sprt,
            ptnml: Pentanomial::default(),
            wdl: Trinomial::default(),
            llr_path: Vec::new(),
            verdict: Verdict::Continue,
            next: PairId(0),
            waiting: BTreeMap::new(),
            faults: [Faults::default(); 2],
            terminations: [0; Termination::ALL.len()],
            failures: 0,
            voided: 0,
            plies: 0,
        }
    }

    /// Takes a finished game and hands each pair that counts now, in order, to `counted`, with the standing including it.
    /// A game told twice is taken once; after a verdict nothing counts.
    pub fn tell(&mut self, record: GameRecord, mut counted: impl FnMut(&Self, &[GameRecord; 2])) {
        let GameId { pair, leg } = record.id;
        if record.ending.termination.is_failure() {
            self.failures += 1;
        }
        if pair < self.next {
            return;
        }
        if record.is_void {
            // Its other game goes with it: a pair is played under one roof or not at all.
            self.waiting.remove(&pair);
            self.voided += 1;
            return;
        }
        self.waiting.entry(pair).or_default()[leg.index()].get_or_insert_with(|| Box::new(record));
        while self.verdict == Verdict::Continue {
            let Some(games) = self.take_next() else { break };
            self.count(&games);
            counted(self, &games);
        }
    }

    /// The next pair in order, if both its games are in.
    fn take_next(&mut self) -> Option<[GameRecord; 2]> {
        let entry = self.waiting.first_entry()?;
        if *entry.key() != self.next || entry.get().iter().any(Option::is_none) {
            return None;
        }
        let [Some(first), Some(second)] = entry.remove() else { return None };
        Some([*first, *second])
    }

    fn count(&mut self, games: &[GameRecord; 2]) {
        self.next = PairId(self.next.0 + 1);
        let [first, second] = games.each_ref().map(|game| game.half_points(PlayerId::NEW).unwrap_or(1));
        self.ptnml.add(PairScore { first, second });
        for (game, half_points) in games.iter().zip([first, second]) {
            self.wdl.add(half_points);
            self.plies += game.moves.len() as u64;
            for (_, player, fault) in pv_faults(game) {
                if let Some(faults) = self.faults.get_mut(usize::from(player.0)) {
                    faults.pv[fault as usize] += 1;
                }
            }
            let termination = game.ending.termination;
            if let Some(place) = Termination::ALL.iter().position(|t| *t == termination) {
                self.terminations[place] += 1;
            }
            let loser = match half_points {
                0 => PlayerId::NEW,
                2 => PlayerId::BASE,
                _ => continue,
            };
            let faults = &mut self.faults[usize::from(loser.0)];
            match termination {
                Termination::TimeForfeit => faults.time_forfeits += 1,
                Termination::IllegalMove => faults.illegal_moves += 1,
                Termination::Crash => faults.crashes += 1,
                Termination::Stall => faults.stalls += 1,
                _ => {}
            }
        }
        self.llr_path.push(self.llr());
        self.verdict = self.sprt.verdict_at(self.llr());
    }

    /// The test being run.
    #[must_use]
    pub const fn sprt(&self) -> &Sprt {
        &self.sprt
    }

    /// Counted pairs by the points of `new`.
    #[must_use]
    pub const fn ptnml(&self) -> &Pentanomial {
        &self.ptnml
    }

    /// Counted games by the result of `new`.
    #[must_use]
    pub const fn wdl(&self) -> &Trinomial {
        &self.wdl
    }

    /// Log-likelihood ratio of the counted pairs (natural log); 0 before the first.
    #[must_use]
    pub fn llr(&self) -> f64 {
        match self.sprt.model() {
            Model::Normalized | Model::Logistic => self.sprt.llr(&self.ptnml),
            // BayesElo is a model of games.
            Model::Bayesian => self.sprt.llr(&self.wdl),
        }
    }

    /// Pairs still to be expected before a verdict, if the results go on as they came; `None` where nothing can be said.
    #[must_use]
    pub fn expected_remaining(&self) -> Option<f64> {
        match self.sprt.model() {
            Model::Normalized | Model::Logistic => self.sprt.expected_remaining(&self.ptnml),
            Model::Bayesian => self.sprt.expected_remaining(&self.wdl).map(|games| games / 2.0),
        }
    }

    /// The LLR after each counted pair.
    #[must_use]
    pub fn llr_path(&self) -> &[f64] {
        &self.llr_path
    }

    /// What the test says.
    pub const fn verdict(&self) -> Verdict {
        self.verdict
    }

    /// Pairs that count.
    #[must_use]
    pub const fn pairs(&self) -> u64 {
        self.next.0
    }

    /// Finished games that do not count yet, for a pair before them is not finished, or never will, after a verdict.
    #[must_use]
    pub fn waiting_games(&self) -> u64 {
        self.waiting.values().flatten().flatten().count() as u64
    }

    /// How often a pair was void and played again.
    #[must_use]
    pub const fn voided(&self) -> u64 {
        self.voided
    }

    /// The legs of `pair` that are not in yet; empty for a pair that counts or waits complete.
    #[must_use]
    pub fn missing_legs(&self, pair: PairId) -> Vec<Leg> {
        if pair < self.next {
            return Vec::new();
        }
        let games = self.waiting.get(&pair);
        Leg::BOTH.into_iter().filter(|leg| games.is_none_or(|games| games[leg.index()].is_none())).collect()
    }

    /// Faults of a player in counted games.
    #[must_use]
    pub fn faults(&self, player: PlayerId) -> Faults {
        self.faults.get(usize::from(player.0)).copied().unwrap_or_default()
    }

    /// How counted games ended, commonest first.
    #[must_use]
    pub fn terminations(&self) -> Vec<(Termination, u64)> {
        let mut list: Vec<_> =
            Termination::ALL.into_iter().zip(self.terminations).filter(|(_, games)| *games > 0).collect();
        list.sort_by_key(|(_, games)| std::cmp::Reverse(*games));
        list
    }

    /// Crashes, stalls and illegal moves in all finished games, counted or not.
    #[must_use]
    pub const fn failures(&self) -> u64 {
        self.failures
    }

    /// Plies played by engines in counted games.
    #[must_use]
    pub const fn plies(&self) -> u64 {
        self.plies
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{ByColor, Color, Ending, Opening, Outcome};
    use crate::stats::sprt::Bounds;

    fn standing() -> Standing {
        Standing::new(Sprt::new(Bounds { elo0: 0.0, elo1: 200.0 }, Model::Logistic, 0.05, 0.05).unwrap())
    }

    /// A game of `pair`, 0 or 1 half points above a loss for `new`.
    fn game(pair: u64, leg: Leg, half_points: u8) -> GameRecord {
        let (white, black) =
            if leg == Leg::First { (PlayerId::NEW, PlayerId::BASE) } else { (PlayerId::BASE, PlayerId::NEW) };
        let new = if leg == Leg::First { Color::White } else { Color::Black };
        let outcome = match half_points {
            0 => Outcome::win(new.other()),
            1 => Outcome::Draw,
            _ => Outcome::win(new),
        };
        GameRecord {
            id: GameId { pair: PairId(pair), leg },
            players: ByColor { white, black },
            engines: ByColor::default(),
            opening: Opening { index: pair, fen: String::new(), moves: Vec::new() },
            moves: Vec::new(),
            ending: Ending { outcome, termination: Termination::Checkmate, detail: String::new() },
            started: std::time::Duration::ZERO,
            took: std::time::Duration::ZERO,
            overstep: None,
            is_void: false,
        }
    }

    fn void(pair: u64, leg: Leg) -> GameRecord {
        GameRecord { is_void: true, ..game(pair, leg, 0) }
    }

    /// Tells games and returns the pairs that counted, in the order in which they did.
    fn tell(standing: &mut Standing, games: impl IntoIterator<Item = GameRecord>) -> Vec<u64> {
        let mut counted = Vec::new();
        for record in games {
            standing.tell(record, |_, [first, second]| {
                assert_eq!((first.id.pair, first.id.leg, second.id.leg), (second.id.pair, Leg::First, Leg::Second));
                counted.push(first.id.pair.0);
            });
        }
        counted
    }

    #[test]
    fn pairs_count_in_the_order_they_were_scheduled() {
        let mut standing = standing();
        let early = [game(1, Leg::First, 2), game(1, Leg::Second, 2), game(0, Leg::Second, 1), game(2, Leg::First, 0)];
        assert!(tell(&mut standing, early).is_empty());
        assert_eq!((standing.pairs(), standing.waiting_games()), (0, 4));
        assert_eq!(standing.missing_legs(PairId(0)), [Leg::First]);
        assert_eq!(tell(&mut standing, [game(0, Leg::First, 1)]), [0, 1]);
        assert_eq!(standing.ptnml(), &Pentanomial([0, 0, 1, 0, 1]));
        assert_eq!((standing.pairs(), standing.waiting_games()), (2, 1));
    }

    #[test]
    fn a_game_told_twice_is_taken_once() {
        let mut standing = standing();
        let games = [game(0, Leg::First, 2), game(0, Leg::First, 0), game(0, Leg::Second, 2), game(0, Leg::Second, 0)];
        assert_eq!(tell(&mut standing, games), [0]);
        assert_eq!((standing.ptnml(), standing.waiting_games()), (&Pentanomial([0, 0, 0, 0, 1]), 0));
    }

    #[test]
    fn after_a_verdict_nothing_counts() {
        let mut standing = standing();
        let wins = |pair| [game(pair, Leg::First, 2), game(pair, Leg::Second, 2)];
        let counted = tell(&mut standing, (0..200).flat_map(wins));
        assert_eq!(standing.verdict(), Verdict::AcceptH1);
        let pairs = standing.pairs();
        assert!(counted.into_iter().eq(0..pairs) && pairs < 200);
        assert_eq!(standing.waiting_games(), 2 * (200 - pairs));
    }

    #[test]
    fn a_void_game_takes_its_pair_with_it() {
        let mut standing = standing();
        assert!(tell(&mut standing, [game(0, Leg::First, 2), void(0, Leg::Second)]).is_empty());
        assert_eq!(standing.missing_legs(PairId(0)), [Leg::First, Leg::Second]);
        assert_eq!(tell(&mut standing, [game(0, Leg::First, 1), game(0, Leg::Second, 1)]), [0]);
        assert_eq!((standing.voided(), standing.ptnml()), (1, &Pentanomial([0, 0, 1, 0, 0])));
    }
}
