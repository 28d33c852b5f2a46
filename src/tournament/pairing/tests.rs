use super::*;
use crate::record::PlayerId;
use crate::tournament::formats::gauntlet::Gauntlet;
use crate::tournament::formats::knockout::{self, Bracket, Knockout, TIE_BREAKS};
use crate::tournament::formats::race::{self, Race, RaceRule};
use crate::tournament::formats::round_robin::RoundRobin;
use crate::tournament::formats::swiss::Swiss;
use crate::tournament::formats::tune::tests::rule;
use crate::tournament::formats::tune::{Tune, TuneRule};
use crate::tune::auto::Purpose;
use proptest::prelude::*;

fn pairing(format: Format, players: u16, pairs: u64) -> Pairing {
    Pairing::of(&format, players, Some(pairs))
}

/// Plays a plan to its end. `score` gives the half points (0 to 4) of an encounter's first player.
fn play(mut pairing: Pairing, score: impl Fn(Encounter, u64) -> u8) -> (Vec<Fixture>, Vec<PairResult>) {
    let (mut fixtures, mut results) = (Vec::new(), Vec::new());
    loop {
        let id = PairId(results.len() as u64);
        // Slots ask for pairs ahead of the results too.
        for ahead in 0..3 {
            let _ = pairing.next(PairId(id.0 + ahead), &results);
        }
        match pairing.next(id, &results) {
            ScheduleEntry::Pair(fixture) => {
                let half_points = score(fixture.players, fixture.nth);
                results.push(PairResult { players: fixture.players, half_points, games: 2, failed: [false; 2] });
                fixtures.push(fixture);
            }
            ScheduleEntry::Wait => panic!("every pair before {id:?} counts"),
            ScheduleEntry::Done | ScheduleEntry::OutOfOpenings => return (fixtures, results),
        }
    }
}

/// Scores a pair as won by the lower number.
fn by_number((a, b): Encounter, _: u64) -> u8 {
    if a < b { 4 } else { 0 }
}

/// Scores a pair as level.
fn level(_: Encounter, _: u64) -> u8 {
    2
}

fn names(encounters: impl IntoIterator<Item = Encounter>) -> String {
    encounters.into_iter().map(|(a, b)| format!("{}{}", a.0, b.0)).collect::<Vec<_>>().join(" ")
}

#[test]
fn encounters_take_turns() {
    let cases = [
        (Format::new(RoundRobin), 2, 3, "01 01 01"),
        (Format::new(RoundRobin), 3, 2, "01 02 12 01 02 12"),
        (Format::new(Gauntlet { heroes: 1 }), 4, 2, "01 02 03 01 02 03"),
        (Format::new(Gauntlet { heroes: 2 }), 4, 1, "02 03 12 13"),
        // If all are heroes, everybody meets everybody.
        (Format::new(Gauntlet { heroes: 3 }), 3, 1, "01 02 12"),
    ];
    for (format, players, pairs, expected) in cases {
        let (fixtures, _) = play(pairing(format.clone(), players, pairs), by_number);
        assert_eq!(names(fixtures.iter().map(|fixture| fixture.players)), expected, "{format:?}");
        assert_eq!(pairing(format.clone(), players, pairs).total(), Some(fixtures.len() as u64), "{format:?}");
    }
}

#[test]
fn the_last_pair_may_be_half_a_pair() {
    let pairing = Pairing { half_last: true, ..pairing(Format::new(RoundRobin), 3, 2) };
    let (fixtures, _) = play(pairing, by_number);
    assert_eq!(fixtures.iter().map(|f| f.is_half).collect::<Vec<_>>(), [false, false, false, true, true, true]);
}

#[test]
fn a_swiss_pairs_equals_who_have_not_met() {
    let (fixtures, _) = play(pairing(Format::new(Swiss { rounds: 3 }), 8, 1), by_number);
    assert_eq!(names(fixtures.iter().map(|f| f.players)), "04 15 26 37 02 13 46 57 01 24 35 67");
    // With five each has a bye at most once, and the bye counts as a win.
    let (fixtures, results) = play(pairing(Format::new(Swiss { rounds: 3 }), 5, 2), by_number);
    assert_eq!(fixtures.len(), 3 * 2 * 2);
    let mut byes = Format::new(Swiss { rounds: 3 }).byes(5, Some(2), &results).unwrap();
    byes.sort_unstable();
    assert_eq!(byes, [0, 0, 8, 8, 8]);
}

#[test]
fn a_swiss_of_many_rounds_shares_byes_and_rematches() {
    for (players, are_level) in [(5, false), (5, true), (6, false), (6, true)] {
        let score = if are_level { level } else { by_number };
        let (fixtures, _) = play(pairing(Format::new(Swiss { rounds: 15 }), players, 2), score);
        let mut met: BTreeMap<Encounter, u64> = BTreeMap::new();
        for fixture in &fixtures {
            *met.entry(in_order(fixture.players)).or_default() += 1;
        }
        // Each met each other three times, two pairs a time. So of five each had three byes.
        let all = usize::from(players) * usize::from(players - 1) / 2;
        assert_eq!((met.len(), met.values().all(|pairs| *pairs == 6)), (all, true), "{players}: {met:?}");
    }
    let (_, results) = play(pairing(Format::new(Swiss { rounds: 15 }), 5, 2), level);
    assert_eq!(Format::new(Swiss { rounds: 15 }).byes(5, Some(2), &results).unwrap(), [3 * 2 * 4; 5]);
}

#[test]
fn a_knockout_ends_with_one() {
    let (fixtures, results) = play(pairing(Format::new(Knockout), 8, 1), by_number);
    assert_eq!(names(fixtures.iter().map(|f| f.players)), "07 34 16 25 03 12 01");
    let bracket = Bracket::replay(8, 1, &results);
    assert_eq!((bracket.winner, bracket.stage), (Some(PlayerId(0)), Vec::new()));
    assert_eq!(bracket.out.iter().map(|p| p.0).collect::<Vec<_>>(), [4, 5, 6, 7, 2, 3, 1]);
    // Of five, three have no opponent in the first round.
    let (fixtures, _) = play(pairing(Format::new(Knockout), 5, 2), by_number);
    assert_eq!(names(fixtures.iter().map(|f| f.players)), "34 34 03 12 03 12 01 01");
}

#[test]
fn a_tie_is_played_on() {
    // The second wins, but only with the fourth pair: of three players 1 and 2 meet first.
    let late = |(a, b): Encounter, nth: u64| if (a.0, b.0) == (1, 2) && nth == 3 { 1 } else { 2 };
    let (fixtures, results) = play(pairing(Format::new(Knockout), 3, 2), late);
    let first: Vec<_> = fixtures.iter().take(4).collect();
    assert!(first.iter().all(|f| f.players == (PlayerId(1), PlayerId(2))), "{fixtures:?}");
    assert_eq!(first.iter().map(|f| f.nth).collect::<Vec<_>>(), [0, 1, 2, 3]);
    // The final is drawn again and again, so the better seed wins after the last tie break.
    assert_eq!(fixtures.len(), 4 + 2 + TIE_BREAKS as usize);
    assert_eq!(Bracket::replay(3, 2, &results).winner, Some(PlayerId(0)));
    let rounds = |played: usize| -> Vec<_> {
        let rounds = knockout::rounds(3, 2, &results[..played]).into_iter().flatten();
        rounds.map(|meeting| (names([meeting.players]), meeting.half_points, meeting.winner.map(|p| p.0))).collect()
    };
    let each = 2 * (2 + TIE_BREAKS);
    assert_eq!(rounds(4), [("12".to_owned(), [7, 9], Some(2)), ("02".to_owned(), [0, 0], None)]);
    assert_eq!(rounds(results.len() - 1)[1], ("02".to_owned(), [each - 2; 2], None));
    assert_eq!(rounds(results.len())[1], ("02".to_owned(), [each; 2], Some(0)));
}

#[test]
fn stages_wait_for_results() {
    let mut swiss = pairing(Format::new(Swiss { rounds: 2 }), 4, 1);
    assert!(matches!(swiss.next(PairId(1), &[]), ScheduleEntry::Pair(_)));
    assert_eq!(swiss.next(PairId(2), &[]), ScheduleEntry::Wait);
    assert!(swiss.needs_results() && !pairing(Format::new(RoundRobin), 3, 1).needs_results());
}

proptest! {
    #[test]
    fn every_format_ends_and_replays_alike(players in 2u16..12, pairs in 1u64..4, rounds in 1u32..14, seed in any::<u64>()) {
        let score = |(a, b): Encounter, nth: u64| {
            let mixed = (u64::from(a.0) << 40 | u64::from(b.0) << 20 | nth).wrapping_add(seed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            (mixed >> 33) as u8 % 5
        };
        for format in [Format::new(RoundRobin), Format::new(Gauntlet { heroes: 1 }), Format::new(Swiss { rounds }), Format::new(Knockout)] {
            let (fixtures, results) = play(pairing(format.clone(), players, pairs), score);
            // A resumed run knows the results from the start and is asked for later pairs only.
            let mut again = pairing(format.clone(), players, pairs);
            for (place, fixture) in fixtures.iter().enumerate().rev() {
                prop_assert_eq!(again.next(PairId(place as u64), &results), ScheduleEntry::Pair(*fixture));
            }
            let mut met: BTreeMap<Encounter, u64> = BTreeMap::new();
            for Fixture { players: (a, b), nth, .. } in &fixtures {
                prop_assert!(a != b && a.0 < players && b.0 < players);
                let times = met.entry(in_order((*a, *b))).or_default();
                prop_assert_eq!(*times, *nth);
                *times += 1;
            }
            if let Some(rounds) = format.parameters().rounds {
                prop_assert_eq!(fixtures.len() as u64, u64::from(rounds) * u64::from(players / 2) * pairs);
                // Two rounds without a rematch always exist. In later ones it depends on the
                // earlier pairings.
                if players >= 6 && rounds <= 2 {
                    prop_assert!(met.values().all(|times| *times == pairs));
                }
            }
            if format.name() == "knockout" {
                prop_assert!(Bracket::replay(players, pairs, &results).winner.is_some());
            }
        }
    }
}

#[test]
fn a_race_drops_the_hopeless_and_goes_on_with_the_rest() {
    let rule = RaceRule { alpha: 0.05, gain: 0.0, close: 0.0, step: 4 };
    // Candidate 1 loses everything, candidate 2 wins everything, candidate 3 is level with the
    // base.
    let score = |(_, take): Encounter, _: u64| [0, 4, 0, 2][usize::from(take.0)];
    let (fixtures, results) = play(pairing(Format::new(Race { rule }), 4, 400), score);
    let of = |take: u16| fixtures.iter().filter(|fixture| fixture.players == (PlayerId(0), PlayerId(take))).count();
    assert!(of(1) < 40 && of(2) < 80 && of(3) < 80, "{} {} {}", of(1), of(2), of(3));
    assert_eq!(race::replay(4, rule, &results).winner(), Some(1));
    // The same openings for all.
    for take in 1..4 {
        let nth: Vec<u64> =
            fixtures.iter().filter(|fixture| fixture.players.1 == PlayerId(take)).map(|fixture| fixture.nth).collect();
        assert_eq!(nth, (0..of(take) as u64).collect::<Vec<_>>());
    }
    // Without a difference to find, all pairs are played.
    let (fixtures, results) = play(pairing(Format::new(Race { rule }), 3, 30), |_, _| 2);
    assert_eq!((fixtures.len(), race::replay(3, rule, &results).left()), (60, vec![0, 1]));
}

#[test]
fn a_race_does_not_wait_for_the_end_of_a_round() {
    let rule = RaceRule { alpha: 0.05, gain: 0.0, close: 0.0, step: 2 };
    let mut pairing = pairing(Format::new(Race { rule }), 3, 100);
    // Two rounds of four pairs before any result, and not one more.
    assert!((0..8).all(|id| matches!(pairing.next(PairId(id), &[]), ScheduleEntry::Pair(_))));
    assert_eq!(pairing.next(PairId(8), &[]), ScheduleEntry::Wait);
    let result = PairResult { players: (PlayerId(0), PlayerId(1)), half_points: 2, games: 2, failed: [false; 2] };
    assert!(matches!(pairing.next(PairId(8), &[result; 4]), ScheduleEntry::Pair(_)));
}

/// Pairs of a tuning, each scored by its number and scheduled as late as possible.
fn play_tuning(rule: &TuneRule, pairs: u64, ahead: u64) -> Vec<PairOptions> {
    let mut pairing = Pairing::of(&Format::new(Tune { rule: rule.clone() }), 2, Some(pairs));
    let (mut results, mut played) = (Vec::new(), Vec::new());
    for id in 0.. {
        let _ = pairing.next(PairId(id + ahead), &results);
        match pairing.next(PairId(id), &results) {
            ScheduleEntry::Pair(fixture) => {
                assert_eq!((fixture.players, fixture.nth), ((PlayerId(0), PlayerId(1)), id));
                if ahead == 0 {
                    played.push(pairing.options(PairId(id)).expect("every pair has options").as_ref().clone());
                }
                let half_points = (id * id % 5) as u8;
                results.push(PairResult { players: fixture.players, half_points, games: 2, failed: [false; 2] });
            }
            ScheduleEntry::Done => break,
            ScheduleEntry::Wait | ScheduleEntry::OutOfOpenings => panic!("pair {id} waits, or has no opening"),
        }
    }
    assert_eq!(results.len() as u64, pairs);
    played
}

#[test]
fn pairs_are_those_that_the_method_asks_for() {
    for method in ["auto", "fishtest", "openbench", "factors"] {
        let rule = rule(method);
        let played = play_tuning(&rule, 168, 0);
        assert_eq!(played.len(), 168, "the last block is cut");
        let mut tuning = rule.tuning();
        let mut purposes = Vec::new();
        for (number, block) in played.chunks(16).enumerate() {
            let asked = tuning.ask(number as u64).expect("in order");
            purposes.push(tuning.purpose(number as u64));
            for (options, vectors) in block.iter().zip(asked.iter()) {
                assert_eq!(*options, rule.options(vectors));
            }
            for pair in 0..block.len() as u64 {
                let id = number as u64 * 16 + pair;
                tuning.record((id * id % 5) as i8 - 2);
            }
        }
        if method == "auto" {
            use Purpose::{Calibrate, Tune};
            assert_eq!(purposes[..4], [Calibrate, Calibrate, Tune, Tune]);
        }
    }
}

#[test]
fn a_block_is_given_while_the_one_before_it_is_played() {
    let mut pairing = Pairing::of(&Format::new(Tune { rule: rule("auto") }), 2, None);
    let result = |players| PairResult { players, half_points: 3, games: 2, failed: [false; 2] };
    let mut results = vec![result((PlayerId(0), PlayerId(1))); 15];
    assert!(matches!(pairing.next(PairId(31), &results), ScheduleEntry::Pair(_)));
    assert_eq!(pairing.next(PairId(32), &results), ScheduleEntry::Wait, "the first block is open");
    results.push(result((PlayerId(0), PlayerId(1))));
    assert!(matches!(pairing.next(PairId(32), &results), ScheduleEntry::Pair(_)));
    // Options of the previous block are kept, because the last of its pairs may not have begun.
    assert!(pairing.options(PairId(16)).is_some() && pairing.options(PairId(47)).is_some());
    assert_eq!((pairing.options(PairId(15)), pairing.options(PairId(48))), (None, None));
    play_tuning(&rule("auto"), 100, 16);
}
