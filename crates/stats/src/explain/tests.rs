use super::*;
use crate::random::SplitMix64;

fn pick(random: &mut SplitMix64, n: usize) -> usize {
    (random.unit() * n as f64) as usize
}

/// 1, 1/2 or 0 points.
fn draw_points(random: &mut SplitMix64, win: f64, draw: f64) -> f64 {
    let x = random.unit();
    if x < win {
        1.0
    } else if x < win + draw {
        0.5
    } else {
        0.0
    }
}

fn near(found: f64, wanted: f64) {
    assert!((found - wanted).abs() < 1e-9, "{found}, not {wanted}");
}

fn game(points: f64) -> FeatureTrials {
    FeatureTrials { trials: 1.0, points }
}

/// Groups of pairs whose games carry the number of their group.
fn groups(pairs: &[[(usize, FeatureTrials); 2]], number: usize) -> (Vec<PairGroup>, PairSums) {
    let mut groups = vec![PairGroup::default(); number];
    let mut whole = PairSums::default();
    for pair in pairs {
        let all = pair.map(|(_, trial)| trial);
        whole.record(&all);
        for (place, group) in groups.iter_mut().enumerate() {
            let inside: Vec<FeatureTrials> =
                pair.iter().filter(|(of, _)| *of == place).map(|(_, trial)| *trial).collect();
            group.record(&inside, &all);
        }
    }
    (groups, whole)
}

#[test]
fn a_contrast_worked_by_hand() {
    // Ten pairs inside with 1.5 points, ten outside with 0.5: means 3/4 and 1/4, and no spread
    // within.
    let pair = |of: usize, one, other| [(of, game(one)), (of, game(other))];
    let pairs: Vec<_> = (0..20).map(|n| if n < 10 { pair(0, 1.0, 0.5) } else { pair(1, 0.5, 0.0) }).collect();
    let (found, whole) = groups(&pairs, 2);
    near(whole.mean().unwrap(), 0.5);
    let found = contrast(&found[0], &whole, 1.0).unwrap();
    assert_eq!(found.pairs, 10);
    near(found.inside, 0.75);
    near(found.outside, 0.25);
    // Around the common mean each pair's sum is off by 1/2 of 20 games: 20/19 * 20 * (1/2 / 20)^2.
    // Of all games the variance is 1/8 and the covariance of two of a pair is 0 (1/2 * 0), so the
    // other variance is 1/8 * (1/20 + 1/20).
    let variance: f64 = (20.0 / 19.0 * 20.0 * (0.5_f64 / 20.0).powi(2)).max(0.125 * 0.1);
    near(found.p.unwrap(), two_sided(0.5, variance));
    near(found.error95.unwrap(), Z_95 * (0.125_f64 * 0.1).sqrt());
}

/// Each pair four times over: the intervals of the pairs alone, and a quarter of the evidence.
#[test]
fn pairs_that_come_again_are_no_evidence() {
    let mut random = SplitMix64::new(9);
    let mut draw = || game(draw_points(&mut random, 0.4, 0.2));
    let once: Vec<_> = (0..40).map(|n| [(n % 2, draw()), (n % 2, draw())]).collect();
    let often: Vec<_> = once.iter().cycle().take(160).copied().collect();
    let ((one, all_one), (many, all_many)) = (groups(&once, 2), groups(&often, 2));
    let (alone, repeated) = (contrast(&one[0], &all_one, 1.0).unwrap(), contrast(&many[0], &all_many, 4.0).unwrap());
    let ratio = |found: Option<f64>, wanted: Option<f64>| found.unwrap() / wanted.unwrap();
    // The correction for few clusters takes the repeats for more.
    assert!((0.98..=1.0).contains(&ratio(repeated.error95, alone.error95)), "{repeated:?} {alone:?}");
    assert!((0.98..=1.0).contains(&ratio(all_many.error95(4.0), all_one.error95(1.0))));
    assert!((repeated.p.unwrap() - alone.p.unwrap()).abs() < 0.02, "{repeated:?} {alone:?}");
    // Twenty pairs inside, four times over: as ten times over they would be worth eight.
    let tested = |effect: f64| contrast(&many[0], &all_many, effect).unwrap().p.is_some();
    assert_eq!([10.0, 10.1].map(tested), [true, false]);
}

#[test]
fn games_of_one_pair_in_different_groups() {
    // White makes all the points: within each pair the difference is 1, always.
    let pairs: Vec<_> = (0..30).map(|_| [(0, game(1.0)), (1, game(0.0))]).collect();
    let (found, whole) = groups(&pairs, 2);
    let found = contrast(&found[0], &whole, 1.0).unwrap();
    near(found.inside - found.outside, 1.0);
    assert!(found.p.unwrap() < 1e-6, "{found:?}");
    // If the pair's other game undoes it at random, the spread of pair sums is the one that counts.
    let mut random = SplitMix64::new(5);
    let pairs: Vec<_> = (0..400)
        .map(|_| {
            let x = draw_points(&mut random, 0.4, 0.2);
            [(0, game(x)), (1, game(x))]
        })
        .collect();
    let (found, whole) = groups(&pairs, 2);
    let found = contrast(&found[0], &whole, 1.0).unwrap();
    near(found.inside, found.outside);
    near(found.p.unwrap(), 1.0);
    assert!(found.error95.unwrap() < 1e-6, "{found:?}");
}

#[test]
fn what_cannot_be_compared() {
    let (found, whole) = groups(&[[(0, game(1.0)), (0, game(0.5))]], 2);
    assert_eq!(contrast(&found[0], &whole, 1.0), None, "nothing is elsewhere");
    assert_eq!(contrast(&found[1], &whole, 1.0), None, "nothing is inside");
    assert_eq!((PairSums::default().mean(), PairSums::default().error95(1.0), whole.error95(1.0)), (None, None, None));
    for (inside, outside, tested) in [(7, 100, false), (8, 100, true), (100, 8, true), (100, 7, false)] {
        let pairs: Vec<_> = (0..inside + outside)
            .map(|n| {
                let of = usize::from(n >= inside);
                [(of, game(f64::from(n % 2))), (of, game(0.5))]
            })
            .collect();
        let (found, whole) = groups(&pairs, 2);
        let found = contrast(&found[0], &whole, 1.0).unwrap();
        assert_eq!(found.p.is_some(), tested, "{inside} {outside}");
    }
    // Drawn throughout: nothing varies and nothing deviates.
    let pairs: Vec<_> = (0..40).map(|n| [(n % 2, game(0.5)), (n % 2, game(0.5))]).collect();
    let (found, whole) = groups(&pairs, 2);
    assert_eq!(contrast(&found[0], &whole, 1.0).unwrap().p, Some(1.0));
}

#[test]
fn holm_as_in_the_paper() {
    for (p, wanted) in [
        (vec![], vec![]),
        (vec![0.2], vec![0.2]),
        (vec![0.01, 0.04, 0.03, 0.005], vec![0.03, 0.06, 0.06, 0.02]),
        (vec![0.9, 0.8], vec![1.0, 1.0]),
        (vec![0.0, 0.5, 0.5], vec![0.0, 1.0, 1.0]),
    ] {
        let found = holm(&p);
        assert_eq!(found.len(), wanted.len());
        found.iter().zip(&wanted).for_each(|(found, wanted)| near(*found, *wanted));
    }
}

/// A run in which each pair belongs to one of `number` groups. `edge` is added to the probability
/// of a win in group 0 and subtracted from that of a loss. With `mixed`, each game has a group of
/// its own. Returns true for any group found, and for group 0 found.
fn play(random: &mut SplitMix64, pairs: usize, number: usize, draw: f64, edge: f64, mixed: bool) -> (bool, bool) {
    let win = (1.0 - draw) / 2.0 + 0.02;
    let mut played = Vec::with_capacity(pairs);
    for _ in 0..pairs {
        let first = pick(random, number);
        let second = if mixed { pick(random, number) } else { first };
        // A bias of the opening, with opposite signs in the two games.
        let bias = (random.unit() - 0.5) * (1.0 - draw) * 0.6;
        let mut points = |of: usize, bias: f64| {
            let edge = if of == 0 { edge } else { 0.0 };
            game(draw_points(random, (win + bias + edge).max(0.0), draw))
        };
        let pair = [(first, points(first, bias)), (second, points(second, -bias))];
        played.push(pair);
    }
    let (found, whole) = groups(&played, number);
    let tested: Vec<(usize, f64)> =
        found.iter().enumerate().filter_map(|(of, group)| Some((of, contrast(group, &whole, 1.0)?.p?))).collect();
    let adjusted = holm(&tested.iter().map(|(_, p)| *p).collect::<Vec<_>>());
    let found = |of: usize| tested.iter().zip(&adjusted).any(|((group, _), p)| *group == of && *p < 0.05);
    ((0..number).any(found), found(0))
}

#[test]
fn without_an_effect_false_alarms_keep_to_their_rate() {
    let mut random = SplitMix64::new(2_026);
    // (pairs, groups, draw rate, games of a pair in different groups)
    for (pairs, number, draw, mixed) in [
        (400, 5, 0.5, false),
        (400, 5, 0.5, true),
        (400, 5, 0.92, false),
        (400, 5, 0.92, true),
        (600, 50, 0.6, false),
        (600, 50, 0.92, false),
        (120, 3, 0.3, true),
        (60, 4, 0.85, false),
    ] {
        let runs = 600;
        let alarms = (0..runs).filter(|_| play(&mut random, pairs, number, draw, 0.0, mixed).0).count();
        // 5 % and three standard deviations of the simulation itself.
        let most = runs as f64 * 0.05 + 3.0 * (runs as f64 * 0.05 * 0.95).sqrt();
        assert!(alarms as f64 <= most, "{pairs} {number} {draw} {mixed}: {alarms} of {runs}");
    }
}

#[test]
fn a_planted_effect_is_found() {
    let mut random = SplitMix64::new(7);
    for (pairs, number, draw, edge, mixed) in
        [(400, 5, 0.5, 0.3, false), (400, 5, 0.5, 0.3, true), (800, 5, 0.85, 0.14, false), (1000, 20, 0.5, 0.4, false)]
    {
        let found = (0..100).filter(|_| play(&mut random, pairs, number, draw, edge, mixed).1).count();
        assert!(found >= 80, "{pairs} {number} {draw} {edge} {mixed}: {found} of 100");
    }
}

#[test]
fn sides_beside_each_other() {
    let none = SideMeans::default();
    assert_eq!((none.means(), none.ratio(1.0), none.difference(1.0)), ((None, None), None, None));
    let mut sides = SideMeans::default();
    sides.record((30.0, 3.0), (10.0, 2.0));
    let ratio = sides.ratio(1.0).unwrap();
    assert_eq!((ratio.value, ratio.ends), (2.0, None));
    // The same again: nothing varies.
    sides.record((30.0, 3.0), (10.0, 2.0));
    let (low, high) = sides.ratio(1.0).unwrap().ends.unwrap();
    assert!((low - 2.0).abs() < 1e-6 && (high - 2.0).abs() < 1e-6);
    // Coverage: the true ratio is 1.25, the true difference 2.
    let mut random = SplitMix64::new(11);
    let (mut by_ratio, mut by_difference) = (0, 0);
    for _ in 0..400 {
        let mut sides = SideMeans::default();
        for _ in 0..60 {
            // Moves of one pair resemble each other.
            let shared = random.unit();
            let one: f64 = (0..5).map(|_| 9.0 + shared + random.unit()).sum();
            let other: f64 = (0..6).map(|_| 7.5 + random.unit()).sum();
            sides.record((one, 5.0), (other, 6.0));
        }
        let within = |interval: Option<Interval>, truth: f64| {
            let (low, high) = interval.unwrap().ends.unwrap();
            usize::from(low <= truth && truth <= high)
        };
        by_ratio += within(sides.ratio(1.0), 1.25);
        by_difference += within(sides.difference(1.0), 2.0);
    }
    assert!((365..=392).contains(&by_ratio) && (365..=392).contains(&by_difference), "{by_ratio} {by_difference}");
}

#[test]
fn games_that_are_the_same_again() {
    near(effective_pairs(0, []), 0.0);
    near(effective_pairs(50, [1; 100]), 50.0);
    // One pair, fifty times.
    near(effective_pairs(50, [50, 50]), 1.0);
    // Half of each pair is always the same game.
    near(effective_pairs(50, std::iter::repeat_n(1, 50).chain([50])), 50.0 * 100.0 / 2_550.0);
}
