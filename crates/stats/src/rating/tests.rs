use super::*;
use crate::elo;
use crate::random::SplitMix64;
use proptest::prelude::*;

const SOME_ANCHOR: Anchor = Anchor { player: 0, elo: 0.0, error95: 0.0 };

fn rated(players: usize, encounters: &[EncounterCounts], anchors: &[Anchor]) -> Ratings {
    rate(players, encounters, anchors).expect("sound input")
}

fn close(found: f64, wanted: f64, tolerance: f64) {
    assert!((found - wanted).abs() <= tolerance, "{found}, not {wanted}");
}

/// A pair of games under the model, in which an effect that favours a side in one game mostly
/// favours the other in the second.
fn draw_pair(random: &mut SplitMix64, lead: f64, white: f64) -> PairScore {
    let luck = random.unit();
    let other = if random.unit() < 0.7 { 1.0 - luck } else { random.unit() };
    PairScore { first: half_points(lead + white, luck), second: half_points(lead - white, other) }
}

/// Half points of the side that leads by `lead` Elo with this luck, `0.0..1.0`, of which less is
/// better: Davidson's law for a draw rate of 0.4 between equals, at the logistic score.
fn half_points(lead: f64, luck: f64) -> u8 {
    let score = 1.0 / (1.0 + 10f64.powf(-lead / 400.0));
    let q = score * (1.0 - score);
    let draws = 1.6 * q / (0.4 + (0.16 + 0.8 * q).sqrt());
    u8::from(luck < score - draws / 2.0) + u8::from(luck < score + draws / 2.0)
}

#[test]
fn two_players_have_the_elo_of_their_pairs() {
    for counts in
        [[379, 10170, 21828, 10640, 343], [10, 200, 500, 260, 30], [0, 30, 800, 700, 400], [40, 0, 0, 0, 1000]]
    {
        let pairs = Pentanomial(counts);
        let wanted = elo::logistic(&pairs).expect("pairs");
        let (value, error) = (wanted.value.finite().expect("finite"), wanted.error().expect("finite"));
        let met = EncounterCounts { pairs, ..EncounterCounts::new(1, 0) };
        let anchored = rated(2, std::slice::from_ref(&met), &[SOME_ANCHOR]);
        close(anchored.players[1].elo, value, 1e-7);
        assert_eq!((anchored.players[0].elo, anchored.players[0].error95), (0.0, Some(0.0)));
        // To first order: the interval of the score is not bent through the curve.
        close(anchored.players[1].error95.expect("known") / error, 1.0, if counts[0] == 40 { 0.05 } else { 0.001 });
        close(anchored.los(1, 0).expect("known"), elo::superiority(&pairs).expect("known"), 1e-4);
        close(anchored.los(0, 1).expect("known"), 1.0 - anchored.los(1, 0).expect("known"), 1e-12);
        assert_eq!((anchored.white_advantage, anchored.draw_rate), (None, None));
        // In the pool each carries half of it.
        let pool = rated(2, &[met], &[]);
        close(pool.players[1].elo, value / 2.0, 1e-7);
        close(pool.players[0].elo, -value / 2.0, 1e-7);
        let halves = anchored.players[1].error95.map(|error| error / 2.0).expect("known");
        close(pool.players[0].error95.expect("known"), halves, 1e-9);
        close(pool.players[1].error95.expect("known"), halves, 1e-9);
    }
}

#[test]
fn two_pairs_are_no_certainty() {
    let mut met = EncounterCounts::new(0, 1);
    met.record_pair(PairScore { first: 2, second: 2 });
    met.record_pair(PairScore { first: 2, second: 1 });
    let rated = rated(2, &[met], &[]);
    let los = rated.los(0, 1).expect("known");
    // By Student's law with one degree of freedom; the normal one says 99.2 %.
    assert!((0.8..0.95).contains(&los), "{los}");
    close(los, 1.0 - rated.lead(0, 1).expect("known").p() / 2.0, 1e-9);
    assert_eq!(rate(2, &[all_drawn()], &[]).expect("sound").draw_rate.map(|rate| rate.error95), Some(None));
}

/// Two pairs of draws.
fn all_drawn() -> EncounterCounts {
    let mut met = EncounterCounts::new(0, 1);
    (0..2).for_each(|_| met.record_pair(PairScore { first: 1, second: 1 }));
    met
}

#[test]
fn two_players_have_the_elo_of_their_single_games() {
    // As many with either colour, and no more points with one: the white advantage is 0 and changes
    // nothing.
    let half = Trinomial { wins: 300, draws: 500, losses: 200 };
    let met = EncounterCounts { white: half, black: half, ..EncounterCounts::new(0, 1) };
    let ratings = rated(2, &[met], &[Anchor { player: 1, elo: 100.0, error95: 0.0 }]);
    let wanted = elo::logistic(&half).expect("games").value.finite().expect("finite");
    close(ratings.players[0].elo, 100.0 + wanted, 1e-7);
    let both = Trinomial { wins: 600, draws: 1000, losses: 400 };
    let error = elo::logistic(&both).expect("games").error().expect("finite");
    close(ratings.players[0].error95.expect("known"), error, 0.01 * error);
    close(ratings.white_advantage.expect("colours are known").value, 0.0, 1e-7);
    // With a known white advantage and draw rate.
    let (white, black) =
        (Trinomial { wins: 50, draws: 100, losses: 50 }, Trinomial { wins: 20, draws: 100, losses: 80 });
    let ratings = rated(2, &[EncounterCounts { white, black, ..EncounterCounts::new(0, 1) }], &[SOME_ANCHOR]);
    // With White even, with Black 0.35: rating and white advantage are half the difference each.
    let half = 400.0 * (0.35f64 / 0.65).log10() / 2.0;
    close(ratings.players[1].elo, -half, 1e-7);
    close(ratings.white_advantage.expect("known").value, -half, 1e-7);
    let share = |rate: f64| {
        let q = 0.35 * 0.65;
        4.0 * rate * q / (rate + (rate * rate + 4.0 * (1.0 - 2.0 * rate) * q).sqrt())
    };
    let rate = ratings.draw_rate.expect("known").value;
    close(rate + share(rate), 1.0, 1e-9);
}

/// Baseball, American League East 1987: A. Agresti, "Categorical Data Analysis" (1990), tables
/// 10.10 and 10.11. Estimates and standard errors as published with the R package BradleyTerry2
/// (Turner, Firth 2012), natural units, Baltimore at 0.
#[test]
fn published_abilities_home_advantage_and_errors() {
    // Home wins and losses: a row for each home team, in the order of its guests without itself.
    const HOME: [[(u64, u64); 6]; 7] = [
        [(4, 3), (4, 2), (4, 3), (6, 1), (4, 2), (6, 0)], // Milwaukee
        [(3, 3), (4, 2), (4, 3), (6, 0), (6, 1), (4, 3)], // Detroit
        [(2, 5), (4, 3), (2, 4), (4, 3), (4, 2), (6, 0)], // Toronto
        [(3, 3), (5, 1), (2, 5), (4, 3), (4, 2), (6, 1)], // New York
        [(5, 1), (2, 5), (3, 3), (4, 2), (5, 2), (6, 0)], // Boston
        [(2, 5), (3, 3), (3, 4), (4, 3), (4, 2), (2, 4)], // Cleveland
        [(2, 5), (1, 5), (1, 6), (2, 4), (1, 6), (3, 4)], // Baltimore
    ];
    let mut encounters = Vec::new();
    for (home, row) in HOME.iter().enumerate() {
        let guests = (0..7).filter(|guest| *guest != home);
        for (guest, (wins, losses)) in guests.zip(row) {
            let white = Trinomial { wins: *wins, draws: 0, losses: *losses };
            encounters.push(EncounterCounts { white, ..EncounterCounts::new(home, guest) });
        }
    }
    let anchor = Anchor { player: 6, elo: 0.0, error95: 0.0 };
    let ratings = rated(7, &encounters, &[anchor]);
    for (player, wanted) in [(0, 1.6196), (1, 1.4754), (2, 1.3271), (3, 1.2813), (4, 1.1438), (5, 0.7047)] {
        close(ratings.players[player].elo * PER_ELO, wanted, 6e-5);
    }
    let boston = ratings.players[4].error95.expect("known");
    close(boston / Z_95 * PER_ELO, 0.3378, 6e-5);
    let home = ratings.white_advantage.expect("known");
    close(home.value * PER_ELO, 0.3023, 6e-5);
    close(home.error95.expect("known") / Z_95 * PER_ELO, 0.1309, 6e-5);
    assert_eq!(ratings.draw_rate.map(|rate| rate.value), Some(0.0));
}

/// A round robin of pairs with a white advantage of 30 Elo.
fn tournament(truth: &[f64], pairs: u32, random: &mut SplitMix64) -> Vec<EncounterCounts> {
    let mut encounters = Vec::new();
    for a in 0..truth.len() {
        for b in a + 1..truth.len() {
            let mut met = EncounterCounts::new(a, b);
            for _ in 0..pairs {
                met.record_pair(draw_pair(random, truth[a] - truth[b], 30.0));
            }
            encounters.push(met);
        }
    }
    encounters
}

/// The same games, not known to be pairs.
fn singly(met: &[EncounterCounts]) -> Vec<EncounterCounts> {
    let single = |met: &EncounterCounts| {
        let mut single = EncounterCounts::new(met.a, met.b);
        for (first, row) in (0u8..).zip(met.legs) {
            for (second, count) in (0u8..).zip(row) {
                for _ in 0..count {
                    single.record_game(Color::White, first);
                    single.record_game(Color::Black, second);
                }
            }
        }
        single
    };
    met.iter().map(single).collect()
}

#[test]
fn simulated_players_are_recovered_within_their_errors() {
    let truth = [-180.0, -90.0, -20.0, 0.0, 10.0, 60.0, 80.0, 140.0];
    let mut random = SplitMix64::new(7);
    let (mut inside, mut all, mut whites) = (0, 0, 0);
    const RUNS: usize = 60;
    for _ in 0..RUNS {
        let ratings = rated(truth.len(), &tournament(&truth, 40, &mut random), &[]);
        for (rating, truth) in ratings.players.iter().zip(truth) {
            let error = rating.error95.expect("known");
            inside += usize::from((rating.elo - truth).abs() < error);
            all += 1;
            close(rating.elo, truth, 3.0 * error);
        }
        let white = ratings.white_advantage.expect("known");
        whites += usize::from((white.value - 30.0).abs() < white.error95.expect("known"));
    }
    // 480 ratings, 8 at a time from the same games.
    let share = inside as f64 / all as f64;
    assert!((0.91..=0.985).contains(&share), "{share} of the ratings lie within their errors");
    let independent = singly(&tournament(&truth, 40, &mut random));
    let ratio = |of: &[EncounterCounts]| rated(truth.len(), of, &[]).players[0].error95.expect("known");
    // Taken as single games, the same results would look less certain than they are.
    assert!(ratio(&independent) > 1.2 * ratio(&tournament(&truth, 40, &mut random)));
    assert!(whites >= 50, "{whites} of {RUNS} white advantages lie within their errors");
}

/// Elo that an opening is worth to each player beyond its strength, normally distributed.
fn styles(players: usize, deviation: f64, random: &mut SplitMix64) -> Vec<f64> {
    let normal = |random: &mut SplitMix64| (0..12).map(|_| random.unit()).sum::<f64>() - 6.0;
    (0..players).map(|_| deviation * normal(random)).collect()
}

/// Share of runs in which the error of player 0, whose rating is 0, covers it: with openings as
/// clusters, and without.
fn coverage(runs: u32, mut play: impl FnMut(&mut SplitMix64) -> (usize, Vec<Vec<Meeting>>)) -> [f64; 2] {
    let mut random = SplitMix64::new(11);
    let mut covered = [0u32; 2];
    for _ in 0..runs {
        let (players, openings) = play(&mut random);
        let mut encounters: BTreeMap<u32, EncounterCounts> = BTreeMap::new();
        for meeting in openings.iter().flatten() {
            let met = encounters.entry(meeting.b).or_insert_with(|| EncounterCounts::new(0, meeting.b as usize));
            let MeetingScore::Pair(pair) = meeting.score else { panic!("pairs only") };
            met.record_pair(pair);
        }
        let encounters: Vec<EncounterCounts> = encounters.into_values().collect();
        for (place, shared) in [openings, Vec::new()].iter().enumerate() {
            let ratings = rate_by_opening(players, &encounters, shared, &[]).expect("sound input");
            let rating = &ratings.players[0];
            covered[place] += u32::from(rating.elo.abs() < rating.error95.expect("known"));
        }
    }
    covered.map(|covered| f64::from(covered) / f64::from(runs))
}

#[test]
fn a_shared_opening_is_one_piece_of_evidence() {
    let meeting = |b: usize, lead: f64, random: &mut SplitMix64| {
        let score = MeetingScore::Pair(draw_pair(random, lead, 30.0));
        Meeting { a: 0, b: u32::try_from(b).expect("few"), score }
    };
    // A gauntlet: eight opponents meet the hero from the same sixty openings.
    let gauntlet = coverage(500, |random| {
        let opening = |random: &mut SplitMix64| {
            let style = styles(9, 80.0, random);
            (1..9).map(|b| meeting(b, style[0] - style[b], random)).collect()
        };
        (9, (0..60).map(|_| opening(random)).collect())
    });
    // Two players who play each of twelve openings ten times over.
    let repeats = coverage(500, |random| {
        let opening = |random: &mut SplitMix64| {
            let style = styles(2, 80.0, random);
            (0..10).map(|_| meeting(1, style[0] - style[1], random)).collect()
        };
        (2, (0..12).map(|_| opening(random)).collect())
    });
    // The standard error of a coverage of 0.95 is 0.01.
    for [by_opening, independent] in [gauntlet, repeats] {
        assert!((0.92..=0.98).contains(&by_opening), "{by_opening}");
        assert!(independent < 0.87, "{independent}");
    }
}

/// Thirty openings, each played twenty times with the same games, tell as much of draws as once.
#[test]
fn repeated_games_tell_no_more_of_draws() {
    let mut random = SplitMix64::new(17);
    let (mut once, mut often) = (EncounterCounts::new(0, 1), EncounterCounts::new(0, 1));
    let mut openings = Vec::new();
    for _ in 0..30 {
        let pair = draw_pair(&mut random, 0.0, 30.0);
        once.record_pair(pair);
        (0..20).for_each(|_| often.record_pair(pair));
        openings.push(vec![Meeting { a: 0, b: 1, score: MeetingScore::Pair(pair) }; 20]);
    }
    let error = |met: EncounterCounts, openings: &[Vec<Meeting>]| {
        let ratings = rate_by_opening(2, &[met], openings, &[]).expect("sound input");
        ratings.draw_rate.and_then(|rate| rate.error95).expect("known")
    };
    let (alone, repeated, counted) = (error(once, &[]), error(often.clone(), &openings), error(often, &[]));
    assert!((0.7..1.3).contains(&(repeated / alone)), "{repeated} {alone}");
    assert!(counted < repeated / 3.0, "{counted} {repeated}");
}

#[test]
fn openings_that_nobody_shares_change_nothing() {
    let mut random = SplitMix64::new(3);
    let mut met = EncounterCounts::new(0, 1);
    let mut openings = Vec::new();
    for _ in 0..50 {
        let pair = draw_pair(&mut random, 20.0, 30.0);
        met.record_pair(pair);
        openings.push(vec![Meeting { a: 0, b: 1, score: MeetingScore::Pair(pair) }]);
    }
    let met = [met];
    let own = rate_by_opening(2, &met, &openings, &[]).expect("sound input");
    assert_eq!(own.players, rated(2, &met, &[]).players);
    // All games from one opening: how openings differ is not to be seen.
    let one = rate_by_opening(2, &met, &[openings.concat()], &[]).expect("sound input");
    assert_eq!(one.players, own.players);
    let unknown = [vec![Meeting { a: 0, b: 2, score: MeetingScore::Game(Color::White, 1) }]];
    let refused = rate_by_opening(2, &met, &unknown, &[]).err();
    assert_eq!(refused, Some(RatingError::NoSuchPlayer { player: 2, players: 2 }));
}

#[test]
fn draws_of_equals_are_not_only_those_that_join_players() {
    // Each player meets two others once: points lead both ways mostly by draws, and few players are
    // joined.
    let mut random = SplitMix64::new(5);
    let mut met = Vec::new();
    for a in 0..600usize {
        for _ in 0..2 {
            let b = random.below(600) as usize;
            if a == b {
                continue;
            }
            let mut one = EncounterCounts::new(a, b);
            one.record_game(Color::White, half_points(0.0, random.unit()));
            met.push(one);
        }
    }
    let drawn = met.iter().map(|met| met.white.draws).sum::<u64>() as f64 / met.len() as f64;
    close(drawn, 0.4, 0.04);
    let rate = rated(600, &met, &[]).draw_rate.expect("known");
    close(rate.value, 0.42, 0.05);
    // Six draws in eight games joined are 75 %, and those of all thirty are 20 %.
    let mut met =
        vec![EncounterCounts { white: Trinomial { wins: 1, draws: 6, losses: 1 }, ..EncounterCounts::new(0, 1) }];
    for player in 2..24 {
        met.push(EncounterCounts {
            white: Trinomial { wins: 1, draws: 0, losses: 0 },
            ..EncounterCounts::new(0, player)
        });
    }
    let rate = rated(24, &met, &[]).draw_rate.expect("known");
    assert!((0.2..0.4).contains(&rate.value), "{rate:?}");
}

#[test]
fn pairs_and_not_games_are_what_varies() {
    // Every pair is won once by each side: no scatter, however the single games look.
    let mut pairs = EncounterCounts::new(0, 1);
    pairs.legs[2][0] = 50;
    pairs.legs[0][2] = 50;
    let games = Trinomial { wins: 50, draws: 0, losses: 50 };
    let singles = EncounterCounts { white: games, black: games, ..EncounterCounts::new(0, 1) };
    assert_eq!(rated(2, &[pairs.clone()], &[]).players[0].error95, None);
    assert!(rated(2, &[singles], &[]).players[0].error95.expect("known") > 20.0);
    // A scatter in a few pairs is lent to those who met once: nobody is exact.
    let mut met = vec![pairs];
    met[0].legs[2][1] = 30;
    for other in 2..6 {
        met.push(EncounterCounts { pairs: Pentanomial([0, 0, 1, 0, 0]), ..EncounterCounts::new(0, other) });
    }
    let ratings = rated(6, &met, &[SOME_ANCHOR]);
    let errors: Vec<f64> = ratings.players[1..].iter().map(|rating| rating.error95.expect("known")).collect();
    assert!(errors[1..].iter().all(|error| *error > 5.0 * errors[0]), "{errors:?}");
    // A single pair each tells nothing of scatter.
    let thin =
        (1..5).map(|other| EncounterCounts { pairs: Pentanomial([0, 0, 0, 1, 0]), ..EncounterCounts::new(0, other) });
    assert_eq!(rated(5, &thin.collect::<Vec<_>>(), &[]).players[1].error95, None);
}

fn pairs(a: usize, b: usize, counts: [u64; 5]) -> EncounterCounts {
    EncounterCounts { pairs: Pentanomial(counts), ..EncounterCounts::new(a, b) }
}

#[test]
fn perfect_scores_are_bounds() {
    // 0 beat all, 3 lost all, 1 and 2 are even; 4 beat 0.
    let met = [
        pairs(0, 1, [0, 0, 0, 0, 10]),
        pairs(0, 2, [0, 0, 0, 0, 10]),
        pairs(1, 2, [2, 3, 10, 3, 2]),
        pairs(3, 1, [5, 0, 0, 0, 0]),
        pairs(4, 0, [0, 0, 0, 0, 1]),
    ];
    let ratings = rated(5, &met, &[]);
    let [unbeaten, first, second, last, above] = &ratings.players[..] else { panic!("five players") };
    assert_eq!(ratings.groups, 1);
    assert_eq!((first.bounded, second.bounded), (RatingKind::Exact, RatingKind::Exact));
    close(first.elo, 0.0, 1e-9);
    assert_eq!(
        [unbeaten, last, above].map(|r| r.bounded),
        [RatingKind::AtLeast, RatingKind::AtMost, RatingKind::AtLeast]
    );
    assert_eq!([unbeaten, last, above].map(|r| r.error95), [None; 3]);
    // 20 pairs won, or 5 lost, against players of 0, with a probability of 0.025.
    let bound = |pairs: f64| 400.0 * (1.0 / (0.025f64.powf(-1.0 / pairs) - 1.0)).log10();
    close(unbeaten.elo, bound(20.0), 1e-6);
    close(last.elo, -bound(5.0), 1e-6);
    close(above.elo, unbeaten.elo + bound(1.0), 1e-6);
    assert_eq!((ratings.los(0, 1), ratings.los(1, 2).is_some()), (None, true));
    // Two who won everything against the others are exact to each other.
    let met = [pairs(0, 1, [1, 1, 3, 5, 2]), pairs(0, 2, [0, 0, 0, 0, 4]), pairs(1, 2, [0, 0, 0, 0, 4])];
    let ratings = rated(4, &met, &[]);
    let wanted = elo::logistic(&met[0].pairs).expect("pairs").value.finite().expect("finite");
    close(ratings.players[0].elo - ratings.players[1].elo, wanted, 1e-6);
    assert_eq!((ratings.players[2].bounded, ratings.groups, ratings.players[3].group), (RatingKind::AtMost, 2, 1));
}

/// Players whose bounds rest on other bounds.
#[test]
fn chains_of_bounds_rank_by_who_beat_whom() {
    let won = |winner, loser| pairs(winner, loser, [0, 0, 0, 0, 1]);
    for (met, order, depths) in [
        // A bracket, of which the winner is exact.
        (vec![won(0, 1), won(2, 3), won(0, 2)], [0, 1, 2, 3], [0, 1, 1, 2]),
        // Two who drew, one who beat one of them, and one who beat that.
        (vec![pairs(0, 1, [0, 0, 1, 0, 0]), won(2, 0), won(3, 2)], [3, 2, 0, 1], [0, 0, 1, 2]),
        (vec![pairs(2, 3, [0, 0, 1, 0, 0]), won(2, 1), won(1, 0)], [2, 3, 1, 0], [2, 1, 0, 0]),
    ] {
        let players = rated(4, &met, &[]).players;
        let mut places: Vec<usize> = (0..4).collect();
        places.sort_by(|&a, &b| players[a].by_strength(&players[b]));
        assert_eq!(places, order, "{players:?}");
        assert_eq!(players.iter().map(|player| player.depth).collect::<Vec<_>>(), depths);
    }
}

#[test]
fn ratings_that_differ_by_rounding_alone_are_equal() {
    let mut players = rated(2, &[pairs(0, 1, [0, 1, 2, 1, 0])], &[]).players;
    (players[0].elo, players[1].elo) = (2.9e-19, -5.7e-19);
    assert!(players[0].by_strength(&players[1]).is_eq());
    players[1].elo = 1e-5;
    assert!(players[0].by_strength(&players[1]).is_gt());
}

#[test]
fn groups_are_rated_apart_and_anchors_join_them() {
    let met = [pairs(0, 1, [1, 2, 5, 4, 3]), pairs(2, 3, [3, 9, 9, 2, 0]), pairs(3, 4, [3, 9, 9, 2, 0])];
    let ratings = rated(6, &met, &[]);
    assert_eq!(ratings.players.iter().map(|r| r.group).collect::<Vec<_>>(), [1, 1, 0, 0, 0, 2]);
    close(ratings.players[0].elo + ratings.players[1].elo, 0.0, 1e-9);
    assert_eq!((ratings.los(0, 2), ratings.los(5, 0)), (None, None));
    let anchors = [(1, 50.0), (2, -30.0)].map(|(player, elo)| Anchor { player, elo, error95: 0.0 });
    let joined = rated(6, &met, &anchors);
    assert_eq!(joined.players.iter().map(|r| r.group).collect::<Vec<_>>(), [0, 0, 0, 0, 0, 1]);
    assert_eq!((joined.players[1].elo, joined.players[2].elo), (50.0, -30.0));
    assert_eq!((joined.players[1].error95, joined.los(1, 2), joined.los(2, 1)), (Some(0.0), Some(1.0), Some(0.0)));
    close(joined.players[0].elo - 50.0, 2.0 * ratings.players[0].elo, 1e-7);
    close(joined.players[4].elo + 30.0, ratings.players[4].elo - ratings.players[2].elo, 1e-7);
    assert!(joined.los(0, 4).expect("joined by anchors") < 0.5);
}

#[test]
fn anchors_with_errors_give_way_to_games() {
    let met = [pairs(0, 1, [20, 60, 200, 90, 30])];
    let free = rated(2, &met, &[]).players[0].elo * 2.0;
    let anchored = |elo: f64, error95: f64| {
        let anchors = [Anchor { player: 0, elo, error95 }, Anchor { player: 1, elo: 0.0, error95: 0.0 }];
        rated(2, &met, &anchors).players[0].clone()
    };
    assert_eq!(anchored(200.0, 0.0).elo, 200.0);
    close(anchored(200.0, 1e-3).elo, 200.0, 0.01);
    close(anchored(200.0, 1e4).elo, free, 0.01);
    let between = anchored(200.0, 40.0);
    assert!((free + 1.0..199.0).contains(&between.elo), "{between:?}");
    // If both agree, each makes the other more certain.
    let (agreed, games_only) = (anchored(free, 20.0), anchored(free, 1e4));
    let [agreed, own] = [agreed, games_only].map(|rating| rating.error95.expect("known"));
    assert!(agreed < 20.0 && agreed < own, "{agreed} of 20 and {own}");
    // One anchor with an error: the pool has the anchor's rating and error.
    let ratings = rated(2, &met, &[Anchor { player: 0, elo: 100.0, error95: 20.0 }]);
    close(ratings.players[0].elo, 100.0, 1e-6);
    close(ratings.players[0].error95.expect("known"), 20.0, 1e-6);
    let own = rated(2, &met, &[SOME_ANCHOR]).players[1].error95.expect("known");
    close(ratings.players[1].error95.expect("known"), own.hypot(20.0), 1e-6);
}

#[test]
fn a_white_advantage_that_cannot_be_told_is_left_out() {
    let wins = |wins| Trinomial { wins, draws: 0, losses: 0 };
    // White won every game.
    let met = [EncounterCounts { white: wins(5), black: wins(5).reversed(), ..EncounterCounts::new(0, 1) }];
    let ratings = rated(2, &met, &[]);
    assert_eq!((ratings.white_advantage, ratings.players[0].elo), (None, 0.0));
    // Colours never changed: it might all be the colour.
    let met = [EncounterCounts { white: Trinomial { wins: 7, draws: 2, losses: 3 }, ..EncounterCounts::new(0, 1) }];
    let ratings = rated(2, &met, &[]);
    assert_eq!(ratings.white_advantage, None);
    close(ratings.players[0].elo * 2.0, 400.0 * 2f64.log10(), 1e-7);
    // Around a circle.
    let met: Vec<_> =
        (0..3).map(|a| EncounterCounts { white: wins(4), ..EncounterCounts::new(a, (a + 1) % 3) }).collect();
    let ratings = rated(3, &met, &[]);
    assert_eq!(ratings.white_advantage, None);
    close(ratings.players[2].elo, 0.0, 1e-7);
}

#[test]
fn what_cannot_be_rated_is_refused() {
    let check = |players, met: &[EncounterCounts], anchors: &[Anchor], error| {
        assert_eq!(rate(players, met, anchors).err(), Some(error));
    };
    check(1, &[EncounterCounts::new(0, 1)], &[], RatingError::NoSuchPlayer { player: 1, players: 1 });
    check(2, &[EncounterCounts::new(1, 1)], &[], RatingError::Itself(1));
    check(0, &[], &[SOME_ANCHOR], RatingError::NoSuchPlayer { player: 0, players: 0 });
    check(1, &[], &[SOME_ANCHOR; 2], RatingError::AnchoredTwice(0));
    check(MAX_PLAYERS + 1, &[], &[], RatingError::TooManyPlayers(MAX_PLAYERS + 1));
    for (elo, error95) in [(1e5, 0.0), (0.0, -1.0)] {
        check(1, &[], &[Anchor { player: 0, elo, error95 }], RatingError::BadAnchor { elo, error95 });
    }
    for (elo, error95) in [(f64::NAN, 0.0), (0.0, f64::NAN), (f64::INFINITY, 0.0)] {
        let refused = rate(1, &[], &[Anchor { player: 0, elo, error95 }]);
        assert!(matches!(refused, Err(RatingError::BadAnchor { .. })), "{refused:?}");
    }
    assert_eq!(rated(0, &[], &[]).players, []);
    assert_eq!(rated(0, &[], &[]).los(0, 1), None);
}

fn count() -> impl Strategy<Value = u64> {
    prop_oneof![3 => Just(0u64), 4 => 0..20u64, 1 => 0..100_000u64]
}

/// Counts that no tournament has, but a file may.
fn any_count() -> impl Strategy<Value = u64> {
    prop_oneof![3 => Just(0u64), 2 => 0..20u64, 1 => any::<u64>()]
}

fn encounters(players: usize, count: BoxedStrategy<u64>) -> impl Strategy<Value = Vec<EncounterCounts>> {
    let games = proptest::array::uniform6(count.clone());
    let pairs = (proptest::array::uniform5(count.clone()), proptest::array::uniform9(count));
    let met = (0..players, 1..players, pairs, games).prop_map(move |(a, further, (pairs, legs), games)| {
        let [wins, draws, losses, others @ ..] = games;
        let [first, second, third] = others;
        EncounterCounts {
            a,
            b: (a + further) % players,
            pairs: Pentanomial(pairs),
            legs: [[legs[0], legs[1], legs[2]], [legs[3], legs[4], legs[5]], [legs[6], legs[7], legs[8]]],
            white: Trinomial { wins, draws, losses },
            black: Trinomial { wins: first, draws: second, losses: third },
        }
    });
    proptest::collection::vec(met, 0..8)
}

fn anchors(players: usize) -> impl Strategy<Value = Vec<Anchor>> {
    let anchor = (0..players, -3000.0..3000.0, prop_oneof![Just(0.0), 0.0..200.0]);
    proptest::collection::vec(anchor, 0..3).prop_map(|anchors| {
        let mut seen = std::collections::BTreeSet::new();
        let anchors = anchors.into_iter().filter(|(player, ..)| seen.insert(*player));
        anchors.map(|(player, elo, error95)| Anchor { player, elo, error95 }).collect()
    })
}

fn is_sound(ratings: &Ratings) {
    for (a, rating) in ratings.players.iter().enumerate() {
        assert!(rating.elo.is_finite() && rating.elo.abs() < 1e6, "{rating:?}");
        assert!(rating.error95.is_none_or(|error| error.is_finite() && error >= 0.0), "{rating:?}");
        assert!(rating.score.is_none_or(|score| (0.0..=1.0).contains(&score)), "{rating:?}");
        assert!(rating.group < ratings.groups, "{rating:?}");
        for b in 0..ratings.players.len() {
            assert!(ratings.los(a, b).is_none_or(|los| (0.0..=1.0).contains(&los)));
        }
    }
    for figure in [ratings.white_advantage, ratings.draw_rate].into_iter().flatten() {
        assert!(figure.value.is_finite() && figure.error95.is_none_or(f64::is_finite), "{figure:?}");
    }
}

fn same(found: &Rating, wanted: &Rating, shift: f64) {
    close(found.elo - shift, wanted.elo, 1e-4 * (1.0 + wanted.elo.abs()));
    assert_eq!((found.bounded, found.games), (wanted.bounded, wanted.games));
    match (found.error95, wanted.error95) {
        (Some(found), Some(wanted)) => close(found, wanted, 1e-4 * (1.0 + wanted)),
        (found, wanted) => assert_eq!(found, wanted),
    }
}

proptest! {
    #[test]
    fn nothing_panics_or_is_not_a_number(met in encounters(6, any_count().boxed()), anchors in anchors(6)) {
        is_sound(&rated(6, &met, &anchors));
    }

    #[test]
    fn expected_points_are_the_points_made(met in encounters(5, count().boxed())) {
        let ratings = rated(5, &met, &[]);
        is_sound(&ratings);
        let white = ratings.white_advantage.map_or(0.0, |white| white.value);
        let mut missing = [0.0; 5];
        let mut games = [0.0; 5];
        for met in &met {
            let (one, other) = (&ratings.players[met.a], &ratings.players[met.b]);
            if (one.bounded, other.bounded, one.group) != (RatingKind::Exact, RatingKind::Exact, other.group) {
                continue;
            }
            for row in fit::rows(met) {
                let expected = 1.0 / (1.0 + 10f64.powf((other.elo - one.elo - row.side * white) / 400.0));
                let excess = row.points - row.games * expected;
                missing[met.a] += excess;
                missing[met.b] -= excess;
                games[met.a] += row.games;
                games[met.b] += row.games;
            }
        }
        for (missing, games) in missing.iter().zip(games) {
            prop_assert!(missing.abs() <= 1e-7 * (1.0 + games), "{missing} of {games}: {ratings:?}");
        }
    }

    #[test]
    fn anchors_only_shift(met in encounters(5, count().boxed()), player in 0..5usize, elo in -2000.0..2000.0) {
        let anchored = |elo| rated(5, &met, &[Anchor { player, elo, error95: 0.0 }]);
        let (zero, shifted) = (anchored(0.0), anchored(elo));
        for (found, wanted) in shifted.players.iter().zip(&zero.players) {
            same(found, wanted, if wanted.group == 0 { elo } else { 0.0 });
        }
    }

    #[test]
    fn the_order_of_players_and_games_does_not_matter(met in encounters(5, count().boxed()), by in 0..5usize) {
        let move_to = |player: usize| (4 * player + by) % 5;
        let turned: Vec<EncounterCounts> =
            met.iter().rev().map(|met| EncounterCounts { a: move_to(met.a), b: move_to(met.b), ..met.clone() }.reversed()).collect();
        let (straight, turned) = (rated(5, &met, &[]), rated(5, &turned, &[]));
        // Of groups and parts of the same size and games the first is taken: only what is joined is
        // compared.
        prop_assume!(straight.groups == 1 && straight.players.iter().all(|rating| rating.bounded == RatingKind::Exact));
        for player in 0..5 {
            same(&turned.players[move_to(player)], &straight.players[player], 0.0);
        }
    }

    #[test]
    fn reversing_twice_changes_nothing(met in encounters(3, any_count().boxed())) {
        for met in met {
            prop_assert_eq!(&met.reversed().reversed(), &met);
            prop_assert_eq!(met.reversed().games(), met.games());
        }
    }
}
