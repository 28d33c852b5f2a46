//! Standing of a run: a pure fold over game records.
//!
//! Pairs count in the order in which they were scheduled. A pair that finishes early waits for
//! those before it, so quick games cannot bias a verdict. A replayed journal gives the same stop,
//! whatever the order of its lines.
//!
//! A pair that repeats counted games move for move is not new evidence and does not count
//! ([`Repeats::are_left_out`]). Engines at fixed nodes play an opening the same way each time. The
//! repeat settles its place in the schedule, as a counted pair does.

use std::collections::BTreeMap;

use crate::chess::{self, Variant};
use crate::plan::Plan;
use crate::record::{Color, GameId, GameRecord, Leg, PairId, PairScore, PlayerId, PvFault, Termination};
use crate::stats::clusters::{ClusteredCounts, Openings};
use crate::stats::rating::{self, RatingError, Ratings};
use crate::stats::sprt::{Model, Sprt, SprtError, Verdict};
use crate::stats::stopping::{Trial, Width};
use crate::stats::unbiased::{self, AdjustedEstimates};
use crate::stats::{Pentanomial, Trinomial};
use crate::tournament::formats::{Encounter, PairResult, in_order};
use crate::tournament::limit_use::LimitUse;
use crate::tournament::pairing::Pairing;
use crate::tournament::repeats::Repeats;
use crate::tournament::time_losses::TimeLosses;
use crate::tournament::tuning::TuningProgress;
use crate::tournament::waiting::WaitingGame;
use crate::tournament::workers::{FiguresByWorker, WorkerStatus};

/// Losses of a player by its own fault in counted games, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// Losses on time.
    pub time_forfeits: u64,
    /// Losses by an illegal move.
    pub illegal_moves: u64,
    /// Losses by a process that exited.
    pub crashes: u64,
    /// Losses by an engine that did not answer.
    pub stalls: u64,
    /// Moves with a wrong PV, in the order of [`PvFault::ALL`]. They cost no points.
    pub pv: [u64; PvFault::ALL.len()],
}

/// Plies of a game with a wrong PV: place in the game from 1 (book plies included), player, fault.
pub fn pv_faults(game: &GameRecord) -> impl Iterator<Item = (usize, PlayerId, PvFault)> {
    game.plies().filter_map(|(place, color, ply)| Some((place, *game.players.get(color), ply.info.pv_fault?)))
}

/// Counted pairs and games of two players, from the view of the one with the lower number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeadToHead {
    /// Pairs by points, whatever the colours of their two games.
    pub ptnml: Pentanomial,
    /// Games by result, those of half pairs included.
    pub wdl: Trinomial,
    /// Games with White.
    pub white: u64,
}

impl HeadToHead {
    /// The same from the other player's view.
    #[must_use]
    pub fn reversed(&self) -> Self {
        let white = self.wdl.games().saturating_sub(self.white);
        Self { ptnml: self.ptnml.reversed(), wdl: self.wdl.reversed(), white }
    }
}

/// Scores of a pair from the view of `player`, as the units that the rating's variance is made of.
fn units(player: PlayerId, games: &[GameRecord], half_points: &[u8]) -> Vec<rating::MeetingScore> {
    let color = |game: &GameRecord| if game.players.white == player { Color::White } else { Color::Black };
    if let ([one, other], [first, second]) = (games, half_points) {
        let pair =
            |first: &u8, second: &u8| vec![rating::MeetingScore::Pair(PairScore { first: *first, second: *second })];
        match (color(one), color(other)) {
            (Color::White, Color::Black) => return pair(first, second),
            (Color::Black, Color::White) => return pair(second, first),
            // With the same sides twice they are two games, because the colours do not cancel.
            _ => {}
        }
    }
    games
        .iter()
        .zip(half_points)
        .map(|(game, half_points)| rating::MeetingScore::Game(color(game), *half_points))
        .collect()
}

/// Standing of a run so far.
#[derive(Clone, Debug)]
pub struct Scoreboard {
    trial: Option<Trial>,
    width: Option<Width>,
    /// Games of each encounter, as ratings use them.
    met: BTreeMap<Encounter, rating::EncounterCounts>,
    /// Pairs of each encounter by points.
    ptnmls: BTreeMap<Encounter, Pentanomial>,
    /// Pairs of each encounter by opening.
    openings: BTreeMap<Encounter, Openings>,
    /// Meetings of all players by opening, if there are more than two, because encounters share
    /// openings.
    meetings: BTreeMap<u64, Vec<rating::Meeting>>,
    /// Every counted pair, if results decide the pairing.
    results: Option<Vec<PairResult>>,
    /// Progress of a tuning.
    tuning: Option<Box<TuningProgress>>,
    /// Pairs from this one on are one game.
    halves_from: Option<PairId>,
    /// True if a pair plays one opening twice, with colours reversed.
    reverses_openings: bool,
    /// Pairs below this one are settled: they count, or repeat pairs that do.
    next: PairId,
    pairs: u64,
    repeats: Repeats,
    repeated: u64,
    waiting: BTreeMap<PairId, [Option<WaitingGame>; 2]>,
    games: u64,
    faults: Vec<Faults>,
    terminations: [u64; Termination::ALL.len()],
    failures: u64,
    /// Time losses in counted games.
    time_losses: TimeLosses,
    /// Time losses in all finished games, void ones included.
    finished_time_losses: TimeLosses,
    /// Use of node and depth limits in counted games.
    limit_use: LimitUse,
    workers: FiguresByWorker,
    voided: u64,
    plies: u64,
    variant: Variant,
}

impl Scoreboard {
    /// Creates the scoreboard of `plan` before its first game.
    ///
    /// # Errors
    /// [`SprtError`] if the plan's test has bounds in the wrong order or impossible error rates.
    pub fn new(plan: &Plan) -> Result<Self, SprtError> {
        let sprt = plan.test.map(|test| Sprt::new(test.bounds, test.model, test.alpha, test.beta)).transpose()?;
        let pairing = Pairing::new(plan);
        Ok(Self {
            repeats: Repeats::new(plan),
            workers: FiguresByWorker::new(plan.reference_player()),
            variant: plan.rules.variant,
            limit_use: LimitUse::new(plan.players.iter().map(|player| player.limit)),
            results: pairing.needs_results().then(Vec::new),
            tuning: plan.format.tuning().map(|rule| Box::new(TuningProgress::new(rule))),
            halves_from: pairing.halves_from(),
            reverses_openings: plan.colors.swap && !plan.opening_per_game,
            width: plan.until_width.map(|target| Width::new(target, plan.format.rated(plan.players.len()))),
            ..Self::empty(plan.players.len(), sprt)
        })
    }

    fn empty(players: usize, sprt: Option<Sprt>) -> Self {
        Self {
            trial: sprt.map(Trial::new),
            width: None,
            met: BTreeMap::new(),
            ptnmls: BTreeMap::new(),
            openings: BTreeMap::new(),
            meetings: BTreeMap::new(),
            results: None,
            tuning: None,
            halves_from: None,
            reverses_openings: true,
            next: PairId(0),
            pairs: 0,
            repeats: Repeats::unless(false),
            repeated: 0,
            waiting: BTreeMap::new(),
            games: 0,
            faults: vec![Faults::default(); players],
            terminations: [0; Termination::ALL.len()],
            failures: 0,
            time_losses: TimeLosses::default(),
            finished_time_losses: TimeLosses::default(),
            limit_use: LimitUse::default(),
            workers: FiguresByWorker::default(),
            voided: 0,
            plies: 0,
            variant: Variant::Standard,
        }
    }

    /// Records a finished game. Each pair that counts now, in order, goes to `counted` with the
    /// scoreboard that includes it.
    ///
    /// A game recorded before is ignored. After a verdict, or once the intervals are narrow enough,
    /// nothing counts.
    pub fn record(&mut self, record: GameRecord, mut counted: impl FnMut(&Self, &[GameRecord])) {
        let GameId { pair, leg } = record.id;
        if !self.is_missing(record.id) {
            return;
        }
        // Such an end says nothing of the engines, and so counts towards no limit.
        if !record.ended_by_a_stop() {
            self.failures += u64::from(record.ending.termination.is_failure());
            self.finished_time_losses.record(&record);
        }
        self.workers.record(&record);
        if record.is_void {
            // Drops the pair's other game too, because both games of a pair are played on one slot.
            self.waiting.remove(&pair);
            self.voided += 1;
            return;
        }
        // The game is missing, so its pair is not before the next one.
        let ahead = pair.0.saturating_sub(self.next.0);
        self.waiting.entry(pair).or_default()[leg.index()] = Some(WaitingGame::new(record, ahead));
        while !self.is_over() {
            let Some(games) = self.take_next() else { break };
            let openings: Vec<_> = games.iter().map(|game| chess::opening_key(&game.opening, self.variant)).collect();
            let is_repeat = self.repeats.is_repeat(&games, &openings);
            if is_repeat && self.repeats.are_left_out() {
                self.pass_over(&games);
            } else {
                self.record_pair(&games, openings.first().copied().unwrap_or_default(), is_repeat);
                counted(self, &games);
            }
        }
    }

    /// Leaves a pair out of all counts. A pairing by results sees a pair without games in its
    /// place.
    fn pass_over(&mut self, games: &[GameRecord]) {
        self.repeated += 1;
        if let Some(game) = games.first() {
            let players = in_order((game.players.white, game.players.black));
            self.settle(PairResult { players, half_points: 0, games: 0, failed: [false; 2] }, games);
        }
    }

    /// Records the result of a pair that settles a place of the schedule.
    fn settle(&mut self, result: PairResult, games: &[GameRecord]) {
        if let Some(tuning) = &mut self.tuning {
            tuning.record(&result, games);
        }
        if let Some(results) = &mut self.results {
            results.push(result);
        }
    }

    fn legs(&self, pair: PairId) -> &'static [Leg] {
        if self.halves_from.is_some_and(|from| pair >= from) { &[Leg::First] } else { &Leg::BOTH }
    }

    /// Removes and returns the next pair in order, if all its games are in.
    fn take_next(&mut self) -> Option<Vec<GameRecord>> {
        let legs = self.legs(self.next);
        let entry = self.waiting.first_entry()?;
        if *entry.key() != self.next || legs.iter().any(|leg| entry.get()[leg.index()].is_none()) {
            return None;
        }
        let held = entry.remove().into_iter().take(legs.len()).flatten();
        let games = held.map(WaitingGame::into_record).collect::<Option<_>>()?;
        self.next = PairId(self.next.0 + 1);
        Some(games)
    }

    fn record_pair(&mut self, games: &[GameRecord], opening: u64, is_repeat: bool) {
        let Some(first_game) = games.first() else { return };
        self.pairs += 1;
        let players = in_order((first_game.players.white, first_game.players.black));
        let half_points: Vec<u8> = games.iter().map(|game| game.half_points(players.0).unwrap_or(1)).collect();
        let met = self
            .met
            .entry(players)
            .or_insert_with(|| rating::EncounterCounts::new(usize::from(players.0.0), usize::from(players.1.0)));
        let units = units(players.0, games, &half_points);
        for score in &units {
            match *score {
                rating::MeetingScore::Pair(pair) => met.record_pair(pair),
                rating::MeetingScore::Game(color, half_points) => met.record_game(color, half_points),
            }
        }
        if self.faults.len() > 2 {
            let [a, b] = [players.0, players.1].map(|player| player.0.into());
            let meetings = units.into_iter().map(|score| rating::Meeting { a, b, score });
            self.meetings.entry(opening).or_default().extend(meetings);
        }
        if let [first, second] = *half_points.as_slice() {
            self.ptnmls.entry(players).or_default().record(PairScore { first, second });
            let (openings, points) = (self.openings.entry(players).or_default(), first + second);
            if is_repeat { openings.record_repeat(opening, points) } else { openings.record(opening, points) }
        }
        let mut failed = [false; 2];
        for (game, half_points) in games.iter().zip(&half_points) {
            self.games += 1;
            self.time_losses.record(game);
            self.limit_use.record(game);
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
                0 => players.0,
                2 => players.1,
                _ => continue,
            };
            failed[usize::from(loser != players.0)] |= termination.is_failure();
            let Some(faults) = self.faults.get_mut(usize::from(loser.0)) else { continue };
            match termination {
                Termination::TimeForfeit => faults.time_forfeits += 1,
                Termination::IllegalMove => faults.illegal_moves += 1,
                Termination::Crash => faults.crashes += 1,
                Termination::Stall => faults.stalls += 1,
                _ => {}
            }
        }
        // In a tuning the sides play values that are tried, so points say nothing of a worker.
        let is_comparable = self.faults.len() == 2 && half_points.len() == 2 && self.tuning.is_none();
        let points = is_comparable.then(|| half_points.iter().sum());
        self.workers.record_pair(first_game, points);
        let games_played = if games.len() == 1 { 1 } else { 2 };
        let half_points = half_points.iter().sum();
        self.settle(PairResult { players, half_points, games: games_played, failed }, games);
        if let (Some(llr), Some(trial)) = (self.llr(), &mut self.trial) {
            trial.record(llr);
        }
        self.look_at_width();
    }

    fn look_at_width(&mut self) {
        let Some(mut width) = self.width else { return };
        if self.faults.len() <= 2 {
            width.look_at_pairs(&self.evidence());
        } else {
            width.look_at_ratings(self.pairs, || self.ratings());
        }
        self.width = Some(width);
    }

    /// True if the intervals are as narrow as the plan asks.
    #[must_use]
    pub fn is_narrow(&self) -> bool {
        self.width.is_some_and(|width| width.is_reached())
    }

    /// True if nothing counts any more: after a verdict, with intervals narrow enough, or with a
    /// flat tuning.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.verdict() != Verdict::Continue || self.is_narrow() || self.is_flat()
    }

    /// Figures of the workers in other processes that played games of this run.
    #[must_use]
    pub const fn workers(&self) -> &FiguresByWorker {
        &self.workers
    }

    /// Records the workers as their coordinator sees them now.
    pub fn see_workers(&mut self, workers: &[WorkerStatus]) {
        self.workers.see(workers);
    }

    /// Records that the run has ended here: no worker plays for it any more.
    pub fn end_workers(&mut self) {
        self.workers.end();
    }

    /// True if the tuning is flat and the plan ends it then.
    #[must_use]
    pub fn is_flat(&self) -> bool {
        self.tuning.as_ref().is_some_and(|tuning| tuning.is_flat())
    }

    /// Progress of the tuning, if the run is one.
    #[must_use]
    pub fn tuning(&self) -> Option<&TuningProgress> {
        self.tuning.as_deref()
    }

    /// Strength of `new` against `base`, corrected for the bias of the stop, as if the test ended
    /// now. `None` without a test and before the first pair.
    #[must_use]
    pub fn after_stop(&self) -> Option<AdjustedEstimates> {
        let sprt = self.sprt()?;
        unbiased::after_test(sprt, &self.evidence(), &self.evidence_of_games())
    }

    /// The SPRT of the plan, if it has one.
    #[must_use]
    pub fn sprt(&self) -> Option<&Sprt> {
        self.trial.as_ref().map(Trial::sprt)
    }

    /// Counted pairs and games of two players, from the first one's view.
    #[must_use]
    pub fn score(&self, player: PlayerId, opponent: PlayerId) -> HeadToHead {
        let encounter = in_order((player, opponent));
        let score = self.met.get(&encounter).map(|met| self.head_to_head(encounter, met)).unwrap_or_default();
        if player <= opponent { score } else { score.reversed() }
    }

    /// Scores of all encounters, each from the view of the lower number.
    pub fn scores(&self) -> impl Iterator<Item = (Encounter, HeadToHead)> {
        self.met.iter().map(|(encounter, met)| (*encounter, self.head_to_head(*encounter, met)))
    }

    fn head_to_head(&self, encounter: Encounter, met: &rating::EncounterCounts) -> HeadToHead {
        let ptnml = self.ptnmls.get(&encounter).copied().unwrap_or_default();
        HeadToHead { ptnml, wdl: met.results(), white: met.with_white() }
    }

    /// Ratings of all players on one scale. Zero is the mean of the players that can be compared.
    /// Among more than two players, the games of one opening are taken as correlated. Of two
    /// players, the error is that of their Elo.
    ///
    /// # Errors
    /// [`RatingError`] if there are more players than can be rated.
    pub fn ratings(&self) -> Result<Ratings, RatingError> {
        let met: Vec<_> = self.met.values().cloned().collect();
        let shared: Vec<_> = self.meetings.values().filter(|meetings| meetings.len() > 1).cloned().collect();
        let mut ratings = rating::rate_by_opening(self.faults.len(), &met, &shared, &[])?;
        let effect = self.design_effect();
        // Not multiplied by an effect of 1, so that the error stays the same to the last bit.
        if self.faults.len() <= 2 && effect > 1.0 {
            for rating in &mut ratings.players {
                rating.error95 = rating.error95.map(|error| error * effect.sqrt());
            }
        }
        Ok(ratings)
    }

    /// Counted games of each player by result, in the order of the plan: one pass over the
    /// encounters, of which there may be as many as pairs of players.
    #[must_use]
    pub fn totals(&self) -> Vec<Trinomial> {
        let mut totals = vec![Trinomial::default(); self.players()];
        for ((first, second), met) in &self.met {
            let games = met.results();
            for (player, games) in [(first, games), (second, games.reversed())] {
                if let Some(total) = totals.get_mut(usize::from(player.0)) {
                    *total += games;
                }
            }
        }
        totals
    }

    /// Counted pairs by the points of `new`, the first player, against `base`, the second.
    #[must_use]
    pub fn ptnml(&self) -> Pentanomial {
        self.score(PlayerId::NEW, PlayerId::BASE).ptnml
    }

    /// Counted games by the result of `new` against `base`.
    #[must_use]
    pub fn wdl(&self) -> Trinomial {
        self.score(PlayerId::NEW, PlayerId::BASE).wdl
    }

    /// Factor by which repeated openings widen the variance of `new` against `base`; 1 while no
    /// opening came twice.
    #[must_use]
    pub fn design_effect(&self) -> f64 {
        self.design_effect_of((PlayerId::NEW, PlayerId::BASE))
    }

    /// The same factor of any two players.
    #[must_use]
    pub fn design_effect_of(&self, players: Encounter) -> f64 {
        self.openings.get(&in_order(players)).map_or(1.0, Openings::design_effect)
    }

    /// True if two players played an opening in more than one pair.
    #[must_use]
    pub fn has_repeated_openings(&self) -> bool {
        self.openings.values().any(Openings::is_repeated)
    }

    /// [`Scoreboard::ptnml`] with the weight of its openings, as errors and tests use it.
    ///
    /// Of a tuning, only the validation pairs. Its other pairs are not evidence of a gain.
    #[must_use]
    pub fn evidence(&self) -> ClusteredCounts<Pentanomial> {
        if let Some(tuning) = &self.tuning {
            return ClusteredCounts::new(tuning.course().validation().counts(), 1.0);
        }
        ClusteredCounts::new(self.ptnml(), self.design_effect())
    }

    /// Counted pairs with the weight of openings of which each tells once what it gives to a
    /// colour, however often it is played.
    #[must_use]
    pub fn opening_evidence(&self) -> ClusteredCounts<Pentanomial> {
        let openings = self.openings.get(&in_order((PlayerId::NEW, PlayerId::BASE)));
        let often = openings.map_or(1.0, Openings::pairs_per_opening);
        ClusteredCounts::new(self.ptnml(), self.design_effect().max(often))
    }

    /// [`Scoreboard::wdl`] with the weight of its openings.
    fn evidence_of_games(&self) -> ClusteredCounts<Trinomial> {
        ClusteredCounts::new(self.wdl(), self.design_effect())
    }

    /// Counted pairs in order, if results decide the pairing; empty otherwise.
    #[must_use]
    pub fn results(&self) -> &[PairResult] {
        self.results.as_deref().unwrap_or_default()
    }

    /// True if a pair plays one opening twice, with colours reversed. Only such pairs show what an
    /// opening gives to a colour.
    #[must_use]
    pub const fn reverses_openings(&self) -> bool {
        self.reverses_openings
    }

    /// Number of players.
    #[must_use]
    pub fn players(&self) -> usize {
        self.faults.len()
    }

    /// Number of counted games.
    #[must_use]
    pub const fn games(&self) -> u64 {
        self.games
    }

    /// Log-likelihood ratio (LLR) of the counted pairs (natural log), 0 before the first; `None`
    /// without a test.
    #[must_use]
    pub fn llr(&self) -> Option<f64> {
        let sprt = self.sprt()?;
        Some(match sprt.model() {
            Model::Normalized | Model::Logistic => sprt.llr(&self.evidence()),
            // BayesElo models single games.
            Model::Bayesian => sprt.llr(&self.evidence_of_games()),
        })
    }

    /// Expected number of pairs before a verdict, if the results continue as they came; `None` if
    /// it cannot be told.
    #[must_use]
    pub fn expected_remaining(&self) -> Option<f64> {
        let sprt = self.sprt()?;
        match sprt.model() {
            Model::Normalized | Model::Logistic => sprt.expected_remaining(&self.evidence()),
            Model::Bayesian => sprt.expected_remaining(&self.evidence_of_games()).map(|games| games / 2.0),
        }
        .map(|independent| independent * self.design_effect())
    }

    /// The LLR after each counted pair; empty without a test.
    #[must_use]
    pub fn llr_path(&self) -> &[f64] {
        self.trial.as_ref().map_or(&[], Trial::llr_path)
    }

    /// Verdict of the test so far; always `Continue` without a test.
    pub fn verdict(&self) -> Verdict {
        self.trial.as_ref().map_or(Verdict::Continue, Trial::verdict)
    }

    /// Number of counted pairs.
    #[must_use]
    pub const fn pairs(&self) -> u64 {
        self.pairs
    }

    /// Number of settled pairs, in the order of the schedule: counted ones and repeats.
    #[must_use]
    pub const fn settled(&self) -> u64 {
        self.next.0
    }

    /// Number of pairs left out because they repeat counted games move for move.
    #[must_use]
    pub const fn repeated(&self) -> u64 {
        self.repeated
    }

    /// Finished games that do not count yet. An unfinished pair is before theirs, or a verdict was
    /// reached.
    #[must_use]
    pub fn waiting_games(&self) -> u64 {
        self.waiting.values().flatten().flatten().count() as u64
    }

    /// Number of void games, each of which makes its pair be played again.
    #[must_use]
    pub const fn voided(&self) -> u64 {
        self.voided
    }

    /// Legs of `pair` that are not in yet; empty if the pair counts or waits complete.
    #[must_use]
    pub fn missing_legs(&self, pair: PairId) -> Vec<Leg> {
        if pair < self.next {
            return Vec::new();
        }
        let games = self.waiting.get(&pair);
        let is_missing = |leg: &Leg| games.is_none_or(|games| games[leg.index()].is_none());
        self.legs(pair).iter().copied().filter(is_missing).collect()
    }

    /// True if a game is part of the schedule and not in yet.
    #[must_use]
    pub fn is_missing(&self, GameId { pair, leg }: GameId) -> bool {
        self.missing_legs(pair).contains(&leg)
    }

    /// Faults of a player in counted games.
    #[must_use]
    pub fn faults(&self, player: PlayerId) -> Faults {
        self.faults.get(usize::from(player.0)).copied().unwrap_or_default()
    }

    /// Terminations of counted games, the commonest first.
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

    /// Counted games that were lost on time.
    #[must_use]
    pub const fn time_losses(&self) -> &TimeLosses {
        &self.time_losses
    }

    /// Finished games that were lost on time, void ones and those that do not count included.
    #[must_use]
    pub const fn finished_time_losses(&self) -> &TimeLosses {
        &self.finished_time_losses
    }

    /// Players' use of their node and depth limits in counted games.
    #[must_use]
    pub const fn limit_use(&self) -> &LimitUse {
        &self.limit_use
    }

    /// Plies played by engines in counted games.
    #[must_use]
    pub const fn plies(&self) -> u64 {
        self.plies
    }
}

#[cfg(test)]
pub(crate) mod tests;
