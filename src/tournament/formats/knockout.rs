//! Single elimination, seeded in the order of the plan.
//!
//! The best two can only meet in the last round. If the number of players is not a power of two,
//! the best have no opponent in the first.
//!
//! An encounter tied after its pairs is played on, one pair at a time, until one player leads.
//! After [`TIE_BREAKS`] such pairs the better seed advances, because engines that always draw would
//! never end.

use crate::record::PlayerId;
use crate::tournament::formats::{
    Definition, Encounter, Format, FormatRules, PairResult, Pairs, Stages, in_order, in_turn,
};

/// Entry in the table of formats. It is open, because ties add encounters.
pub static DEFINITION: Definition = Definition {
    choose: Some(|_, _| Ok(Format::new(Knockout))),
    is_open: true,
    ends_with_rounds: true,
    ..Definition::new("knockout", "a knockout", |_| Some(Format::new(Knockout)))
};

/// Maximum number of pairs played to break a tie.
pub const TIE_BREAKS: u32 = 32;

/// A knockout: the loser of an encounter is out.
#[derive(Clone, Copy, Debug)]
pub struct Knockout;

impl FormatRules for Knockout {
    fn definition(&self) -> &'static Definition {
        &DEFINITION
    }

    fn encounters(&self, players: u16) -> u64 {
        u64::from(players.saturating_sub(1))
    }

    fn pairs(&self, players: u16, pairs: Option<u64>) -> Pairs {
        Pairs::Stages(Box::new(KnockoutRounds { players, pairs: pairs.unwrap_or(1) }))
    }

    fn winner(&self, players: u16, pairs: Option<u64>, results: &[PairResult]) -> Option<PlayerId> {
        Bracket::replay(players, pairs.unwrap_or(1), results).winner
    }
}

/// Rounds of a knockout, replayed from its results for each next one.
#[derive(Debug)]
struct KnockoutRounds {
    players: u16,
    pairs: u64,
}

impl Stages for KnockoutRounds {
    fn next(&mut self, before: &[PairResult]) -> Vec<Encounter> {
        Bracket::replay(self.players, self.pairs, before).stage
    }
}

/// Place in the bracket: a player, or none, in which case the neighbour advances without playing.
type BracketPlace = Option<PlayerId>;

/// State of a knockout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bracket {
    /// Pairs to play next: a round, or one pair for each tied encounter of the last round. Empty
    /// after the final.
    pub stage: Vec<Encounter>,
    /// Eliminated players in the order in which they went; those of one round in the order of the
    /// plan.
    pub out: Vec<PlayerId>,
    /// Winner of the final.
    pub winner: Option<PlayerId>,
}

impl Bracket {
    /// Replays `results`, which must be those of whole stages.
    #[must_use]
    pub fn replay(players: u16, pairs: u64, results: &[PairResult]) -> Self {
        let mut places = first_round(players);
        let mut out = Vec::new();
        let mut rest = results;
        loop {
            let playing = encounters(&places);
            if playing.is_empty() {
                let winner = places.iter().copied().flatten().next();
                return Self { stage: Vec::new(), out, winner };
            }
            match play_round(&playing, pairs, &mut rest) {
                Err(stage) => return Self { stage, out, winner: None },
                Ok(mut losers) => {
                    places = advance(&places, &losers);
                    losers.sort_unstable();
                    out.extend(losers);
                }
            }
        }
    }
}

/// Encounter of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnockoutMeeting {
    /// Both players, the better seed first.
    pub players: Encounter,
    /// Their half points against each other so far.
    pub half_points: [u32; 2],
    /// Player who advanced, of equals the better seed; `None` while the round is played.
    pub winner: Option<PlayerId>,
}

/// Rounds so far, each with its encounters, tie-breaks included. The last one may be in play.
#[must_use]
pub fn rounds(players: u16, pairs: u64, results: &[PairResult]) -> Vec<Vec<KnockoutMeeting>> {
    let mut places = first_round(players);
    let mut rounds = Vec::new();
    let mut rest = results;
    loop {
        let playing = encounters(&places);
        if playing.is_empty() {
            return rounds;
        }
        let before = rest;
        let round = play_round(&playing, pairs, &mut rest);
        let own = if round.is_ok() { &before[..before.len() - rest.len()] } else { before };
        let losers = round.as_deref().unwrap_or_default();
        let meeting = |(place, players): (usize, &Encounter)| KnockoutMeeting {
            players: *players,
            half_points: half_points(*players, own),
            winner: losers.get(place).map(|loser| if *loser == players.0 { players.1 } else { players.0 }),
        };
        rounds.push(playing.iter().enumerate().map(meeting).collect());
        match round {
            Ok(losers) => places = advance(&places, &losers),
            Err(_) => return rounds,
        }
    }
}

/// Half points of both players from the results of these two.
fn half_points(encounter: Encounter, results: &[PairResult]) -> [u32; 2] {
    let theirs = results.iter().filter(|result| result.players == encounter);
    theirs.fold([0, 0], |[first, second], result| {
        let (won, all) = (u32::from(result.half_points), 2 * u32::from(result.games));
        [first + won, second + all.saturating_sub(won)]
    })
}

/// Removes a round's results from `rest` and returns the losers, or the pairs still to be played.
fn play_round(playing: &[Encounter], pairs: u64, rest: &mut &[PairResult]) -> Result<Vec<PlayerId>, Vec<Encounter>> {
    let mut lead = vec![0; playing.len()];
    let mut stage = in_turn(playing, pairs);
    for _ in 0..=TIE_BREAKS {
        let Some((results, later)) = rest.split_at_checked(stage.len()) else { return Err(stage) };
        *rest = later;
        for (encounter, lead) in playing.iter().zip(&mut lead) {
            *lead += lead_in(*encounter, results);
        }
        stage = playing.iter().zip(&lead).filter(|(_, lead)| **lead == 0).map(|(encounter, _)| *encounter).collect();
        if stage.is_empty() {
            break;
        }
    }
    Ok(playing.iter().zip(lead).map(|((first, second), lead)| if lead < 0 { *first } else { *second }).collect())
}

/// Lead of the first player over the second in half points, from the results of these two.
fn lead_in(encounter: Encounter, results: &[PairResult]) -> i64 {
    let theirs = results.iter().filter(|result| result.players == encounter);
    theirs.map(|result| 2 * i64::from(result.half_points) - 2 * i64::from(result.games)).sum()
}

/// Places in an order in which neighbours meet: of eight, 1 and 8, 4 and 5, 2 and 7, 3 and 6.
fn first_round(players: u16) -> Vec<BracketPlace> {
    let mut seeds: Vec<usize> = vec![0];
    while seeds.len() < usize::from(players) {
        let last = 2 * seeds.len() - 1;
        seeds = seeds.iter().flat_map(|seed| [*seed, last - seed]).collect();
    }
    seeds.iter().map(|seed| u16::try_from(*seed).ok().filter(|seed| *seed < players).map(PlayerId)).collect()
}

/// Encounters of neighbours who are both present, the better seed first.
fn encounters(places: &[BracketPlace]) -> Vec<Encounter> {
    places.chunks_exact(2).filter_map(|two| Some(in_order((two[0]?, two[1]?)))).collect()
}

/// Places of the next round: the winner of every two neighbours.
fn advance(places: &[BracketPlace], losers: &[PlayerId]) -> Vec<BracketPlace> {
    let stays = |player: &PlayerId| !losers.contains(player);
    places.chunks_exact(2).map(|two| two.iter().flatten().copied().find(stays)).collect()
}
