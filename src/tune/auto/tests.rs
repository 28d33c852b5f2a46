use super::super::landscape::Landscape;
use super::super::read;
use super::*;
use crate::stats::random::SplitMix64;
use proptest::prelude::*;

const LINES: &str = "\
wide, int, 80, 20, 160, 8, 0.002
edge, int, 0, 0, 60, 3, 0.002
switch, int, 1, 0, 1, 1, 0.002
small, int, 3, 0, 6, 0.2, 0.002
fraction, int, 50.5, 0, 100, 5, 0.002
decimal, float, 0.5, 0, 1, 0.05, 0.002
";

fn rule(block: u32) -> Rule {
    Rule::new(read::lines("p", LINES).expect("sound"), 7, block, None)
}

/// Results that look random and follow from the pair alone.
fn result(pair: u64) -> i8 {
    SplitMix64::new(pair ^ 0xabcd).below(5) as i8 - 2
}

fn played(rule: Rule, pairs: u64) -> Auto {
    let mut run = Auto::new(rule);
    (0..pairs).for_each(|pair| run.record(result(pair)));
    run
}

#[test]
fn purposes_are_a_function_of_the_block() {
    let rule = Rule { calibration: 3, ..rule(16) };
    let purposes: Vec<Purpose> = (0..24).map(|block| rule.purpose(block)).collect();
    for (block, purpose) in purposes.iter().enumerate() {
        let wanted = match block {
            0..3 => Purpose::Calibrate,
            12 | 22 => Purpose::Validate,
            _ => Purpose::Tune,
        };
        assert_eq!(*purpose, wanted, "block {block}");
        let tuned = purposes[..block].iter().filter(|purpose| **purpose == Purpose::Tune).count();
        assert_eq!(rule.tuned_before(block as u64), tuned as u64 * 16);
    }
}

#[test]
fn a_block_waits_for_the_one_before_the_last_and_no_more() {
    let mut run = Auto::new(Rule { calibration: 2, ..rule(16) });
    assert!(run.ask(0).is_some() && run.ask(1).is_some() && run.ask(2).is_none());
    for block in 0..30u64 {
        let early = run.ask(block + 1).expect("one block of lag");
        assert_eq!(run.ask(block + 2), None);
        // The values of the next block do not change while this one is played, nor when it is over.
        for pair in 0..16 {
            assert_eq!(run.ask(block + 1).as_ref(), Some(&early));
            run.record(result(block * 16 + pair));
        }
        assert_eq!(run.ask(block + 1).as_ref(), Some(&early));
        assert!(run.ask(block + 2).is_some());
        assert_eq!(run.ask(block.wrapping_sub(5)), None);
    }
}

#[test]
fn the_same_results_give_the_same_run_to_the_bit_and_others_another() {
    let (one, again) = (played(rule(16), 2_000), played(rule(16), 2_000));
    assert_eq!((one.theta(), one.mean(), one.loss()), (again.theta(), again.mean(), again.loss()));
    assert_ne!(one.theta(), played(rule(16), 1_900).theta());
    assert_ne!(one.theta(), played(Rule { seed: 8, ..rule(16) }, 2_000).theta());
    // Stopped within a block and gone on with: the same.
    let mut resumed = played(rule(16), 1_337);
    (1_337..2_000).for_each(|pair| resumed.record(result(pair)));
    assert_eq!((resumed.theta(), resumed.pairs()), (one.theta(), one.pairs()));
}

#[test]
fn the_mean_is_that_of_the_second_half_after_each_block() {
    let mut run = Auto::new(Rule { calibration: 1, ..rule(2) });
    let mut centres: Vec<Vec<f64>> = Vec::new();
    assert_eq!(run.mean(), run.rule().space.start());
    for block in 0..60u64 {
        let tunes = run.rule().purpose(block) == Purpose::Tune;
        (0..2).for_each(|pair| run.record(result(block * 2 + pair)));
        if tunes {
            centres.push(run.theta().to_vec());
        }
        let blocks = centres.len();
        for (index, mean) in run.mean().iter().enumerate() {
            // In halves of blocks, so that an odd number can be halved.
            let halves: Vec<f64> = centres.iter().flat_map(|centre| [centre[index]; 2]).collect();
            let wanted = if blocks == 0 {
                run.rule().space.start()[index]
            } else {
                halves[blocks..].iter().sum::<f64>() / blocks as f64
            };
            assert!((mean - wanted).abs() < 1e-9, "block {block}: {mean} for {wanted}");
        }
    }
}

#[test]
fn drift_is_how_far_the_result_moved_in_the_last_quarter() {
    // No validation and no calibration before block 9.
    let rule = |blocks: u64| played(Rule { calibration: 0, ..rule(2) }, blocks * 2);
    assert_eq!(rule(3).drift(), None);
    let (now, then) = (rule(8), rule(6));
    let params = now.rule().space.params().iter();
    let squared: f64 = params
        .zip(now.mean().iter().zip(then.mean()))
        .map(|(param, (now, then))| ((now - then) / param.step).powi(2))
        .sum();
    let wanted = (squared / 6.0).sqrt();
    assert!(wanted > 0.0 && (now.drift().expect("8 blocks") - wanted).abs() < 1e-9);
}

#[test]
fn validation_plays_the_rounded_mean_against_the_rounded_start() {
    let mut run = played(Rule { calibration: 1, ..rule(16) }, 16 * 10);
    let vectors = run.ask(10).expect("asked in time");
    assert!(vectors.iter().all(|vectors| vectors.purpose == Purpose::Validate));
    // The basis is the state before the last block.
    let before = played(Rule { calibration: 1, ..rule(16) }, 16 * 9);
    let space = &run.rule().space;
    assert_eq!(vectors[0].sides, [space.nearest(before.mean()), space.nearest(&space.start())]);
    assert!(vectors[0].sides[1][4] == 51.0);
    let theta = run.theta().to_vec();
    (0..16).for_each(|_| run.record(2));
    assert_eq!(run.theta(), theta, "a validation moves nothing");
}

#[test]
fn the_side_that_wins_is_followed() {
    let lines = "a, float, 0, -50, 50, 1, 0.002\nb, int, 0, -50, 50, 5, 0.002";
    let rule = Rule::new(read::lines("p", lines).expect("sound"), 1, 16, None);
    let mut run = Auto::new(rule);
    for block in 0..200 {
        for vectors in run.ask(block).expect("in order").iter() {
            let [first, second] = &vectors.sides;
            let lead = (first[0] - second[0]) + (second[1] - first[1]) / 5.0;
            run.record(if lead > 0.0 {
                1
            } else if lead < 0.0 {
                -1
            } else {
                0
            });
        }
    }
    assert!(run.mean()[0] > 3.0 && run.mean()[1] < -15.0, "{:?}", run.mean());
}

/// A calibration moves a whole parameter by one at least, unless its step is less, or its range has
/// no room on both sides of any value.
fn is_moved(param: &Param) -> bool {
    param.step >= 1.0 && param.max - param.min >= 2.0
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn values_stay_in_range_and_sides_differ(
        seed: u64, lean in -2i8..=2, calibration in 0u64..40, blocks in 0u64..80,
    ) {
        let mut run = Auto::new(Rule { seed, calibration, ..rule(4) });
        for block in 0..blocks {
            for vectors in run.ask(block).expect("in order").iter() {
                for (index, param) in run.rule().space.params().iter().enumerate() {
                    let [first, second] = [vectors.sides[0][index], vectors.sides[1][index]];
                    for value in [first, second] {
                        prop_assert!((param.min..=param.max).contains(&value), "{} {value}", param.name);
                        prop_assert!(!param.kind.is_whole() || value.fract() == 0.0);
                    }
                    let differ = match vectors.purpose {
                        Purpose::Calibrate => !param.kind.is_whole() || is_moved(param),
                        Purpose::Tune => true,
                        Purpose::Validate => false,
                    };
                    prop_assert!(!differ || first != second, "{:?} {} {first}", vectors.purpose, param.name);
                }
            }
            // Runs that are won by one side, and mixed ones.
            (0..4).for_each(|pair| run.record((lean + result(block * 4 + pair)).clamp(-2, 2)));
        }
        for (value, param) in run.mean().iter().zip(run.rule().space.params()) {
            prop_assert!((param.min..=param.max).contains(value));
        }
    }
}

#[test]
fn perturbation_is_bounded_and_falls() {
    let run = rule(16);
    assert!((run.loss_at_perturbation() - 2.0).abs() < 1e-12);
    let many = Landscape::new(400, 1.0, 1).space().expect("sound");
    assert!((Rule::new(many, 1, 16, None).loss_at_perturbation() - 0.4).abs() < 1e-12);
    assert!((run.perturbation(0.5, 0) - 2.0).abs() < 1e-12);
    assert!((run.perturbation(0.5, 1_000) - 2.0 * 0.5f64.powf(0.15)).abs() < 1e-12);
    let [wide, _, switch, small, _, decimal] = run.space.params() else { panic!("six") };
    assert_eq!([100.0, 1.0, 0.001].map(|c| half_width(wide, c)), [35.0, 8.0, 0.5]);
    assert_eq!([100.0, 0.001].map(|c| half_width(switch, c)), [0.5, 0.5]);
    assert_eq!([100.0, 1.0].map(|c| half_width(small, c)), [1.5, 0.5]);
    assert_eq!([100.0, 0.5].map(|c| half_width(decimal, c)), [0.25, 0.025]);
}

#[test]
fn calibration_moves_around_the_start_or_a_centre_inside_the_range() {
    let run = Auto::new(rule(16));
    let asked = run.ask(0).expect("the first block");
    // The first moves are two steps of six parameters.
    let wanted = [
        ("wide", vec![80.0], vec![64.0, 96.0]),
        ("edge", vec![6.0], vec![0.0, 12.0]),
        ("switch", vec![1.0], vec![1.0]),
        ("small", vec![3.0], vec![2.0, 3.0, 4.0]),
        ("fraction", vec![50.0, 51.0], vec![40.0, 41.0, 60.0, 61.0]),
        ("decimal", vec![0.5], vec![0.4, 0.6]),
    ];
    for (index, (name, unmoved, moved)) in wanted.into_iter().enumerate() {
        assert_eq!(run.rule().space.params()[index].name, name);
        for (side, wanted) in [unmoved, moved].into_iter().enumerate() {
            let mut played: Vec<f64> = asked.iter().map(|vectors| vectors.sides[side][index]).collect();
            played.sort_by(f64::total_cmp);
            played.dedup();
            let is_wanted = |value: &f64| wanted.iter().any(|wanted| (value - wanted).abs() < 1e-9);
            assert!(played.iter().all(is_wanted), "{name} {side}: {played:?}");
            assert!(side == 0 || name == "switch" || played.len() > 1, "{name}: {played:?}");
        }
        // Neighbours move to opposite sides of one centre.
        let sum = |pair: usize| asked[pair].sides[1][index] - asked[pair].sides[0][index];
        assert!((0..16).step_by(2).all(|pair| (sum(pair) + sum(pair + 1)).abs() <= 1.0 + 1e-9), "{name}");
    }
}

#[test]
fn parameters_that_start_at_an_end_are_calibrated_without_bias_by_their_slope() {
    // Each loses 3 Elo at one step, and its optimum is three steps from its start at the end.
    let lines: Vec<String> = (0..20).map(|index| format!("p{index}, int, 0, 0, 60, 3, 0.002")).collect();
    let loss = |values: &[f64]| -> f64 { values.iter().map(|value| 3.0 * (value / 3.0 - 3.0).powi(2)).sum() };
    for seed in 0..10 {
        let rule = Rule::new(read::lines("p", &lines.join("\n")).expect("sound"), seed, 16, None);
        let (blocks, mut run) = (rule.calibration, Auto::new(rule));
        let mut random = SplitMix64::new(seed);
        for block in 0..blocks {
            for vectors in run.ask(block).expect("in order").iter() {
                let [unmoved, moved] = &vectors.sides;
                let expected = calibrate::PER_ELO * (loss(moved) - loss(unmoved));
                run.record((expected + random.unit()).floor() as i8);
            }
        }
        assert!((2.0..4.5).contains(&run.loss()), "{seed}: {}", run.loss());
    }
}

#[test]
fn pairs_in_which_a_side_failed_do_not_calibrate() {
    let (mut within, mut alike) = (0, 0);
    for seed in 0..50 {
        let landscape = Landscape::new(40, 1.0, 2_000 + seed);
        let found = |crashes: bool| {
            let rule = Rule::new(landscape.space().expect("sound"), seed, 16, None);
            let (blocks, mut run) = (rule.calibration, Auto::new(rule));
            let mut random = SplitMix64::new(seed);
            for block in 0..blocks {
                for vectors in run.ask(block).expect("in order").iter() {
                    let result = landscape.play(&vectors.sides, &mut random);
                    // The engine crashes at any value of the first parameter above its start.
                    if crashes && vectors.sides[1][0] > 0.0 {
                        run.record_failures(2, [false, true]);
                    } else {
                        run.record(result);
                    }
                }
            }
            run.loss()
        };
        let (with, without) = (found(true), found(false));
        within += u32::from((0.5..2.0).contains(&(with / landscape.mean_loss())));
        alike += u32::from((0.5..2.0).contains(&(with / without)));
    }
    assert!(within >= 42 && alike >= 42, "{within} and {alike} of 50");
    // Blocks in which every pair failed say nothing.
    let mut run = Auto::new(Rule { calibration: 4, ..rule(16) });
    let before = run.newest().calibration.clone();
    (0..64).for_each(|_| run.record_failures(2, [false, true]));
    assert_eq!(run.newest().calibration, before);
}
