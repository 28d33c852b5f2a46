use super::super::auto::Rule;
use super::super::read;
use super::super::run::Tuning;
use super::super::spsa::{Constants, Schedule};
use super::*;
use crate::stats::random::SplitMix64;

/// Parameters of every second kind, with the start in the middle of the range.
fn space(params: usize) -> Space {
    let line = |index| {
        let kind = if index % 2 == 0 { "int" } else { "float" };
        format!("p{index}, {kind}, 50, 0, 100, 4, .002")
    };
    read::lines("p", &(0..params).map(line).collect::<Vec<_>>().join("\n")).expect("sound")
}

/// Sides of a pair that fail.
type Fails<'a> = &'a dyn Fn(&[f64], &mut SplitMix64) -> bool;

/// Plays blocks of a run whose other pairs are decided by chance. Returns the pairs that failed.
fn play(run: &mut Tuning, blocks: u64, seed: u64, fails: Fails<'_>) -> u64 {
    let mut random = SplitMix64::new(seed);
    let mut failing = 0;
    for block in run.completed()..run.completed() + blocks {
        for vectors in run.ask(block).expect("in order").iter() {
            let failed = [0, 1].map(|side: usize| fails(&vectors.sides[side], &mut random));
            let result = match failed {
                [false, false] => random.below(5) as i8 - 2,
                [plus, minus] => 2 * (i8::from(minus) - i8::from(plus)),
            };
            failing += u64::from(failed != [false; 2]);
            run.record_failures(result, failed);
        }
    }
    failing
}

fn auto(params: usize, seed: u64) -> Tuning {
    Tuning::auto(Rule { space: space(params), seed, block: 16, calibration: 4 }).narrowing()
}

#[test]
fn one_guilty_value_among_many_is_narrowed_and_hardly_an_innocent_one() {
    for (params, guilty, last) in [(20, 6, 52.0), (20, 7, 56.0), (77, 6, 52.0)] {
        let (mut worst, mut narrowed, mut innocent) = (0, 0, 0);
        for seed in 0..50 {
            let fails = |values: &[f64], _: &mut SplitMix64| values[guilty] > last;
            let mut run = auto(params, seed);
            let failing = play(&mut run, 40, seed, &fails);
            for cut in run.cuts() {
                innocent += u32::from((cut.param, cut.end) != (guilty, RangeEnd::Max));
                assert!(cut.failures >= LEAST_FAILURES && cut.to >= 50.0 && cut.to < cut.from, "{cut:?}");
            }
            narrowed += u32::from(!run.cuts().is_empty());
            worst = worst.max(failing);
            let left = &run.narrowed().params()[guilty];
            assert_eq!(run.space().params()[guilty].max, 100.0);
            assert!(run.result()[guilty] <= left.max && run.theta()[guilty] <= left.max);
        }
        // Expected: less than one in a thousand runs.
        assert!(innocent <= 1, "{params} {last}: {innocent} innocent ranges in 50 runs");
        // A run whose values never got there has nothing to narrow.
        assert!(narrowed >= 45 && worst <= 96, "{params} {last}: {narrowed} of 50, {worst} of 640 pairs");
    }
}

#[test]
fn failures_by_chance_narrow_no_range() {
    let mut narrowed = 0;
    for seed in 0..50 {
        let mut run = auto(20, seed);
        // An engine that crashes in each twentieth game, whatever its values.
        let failing = play(&mut run, 60, seed, &|_, random| random.below(20) == 0);
        assert!(failing > 50, "{failing}");
        narrowed += run.cuts().len();
    }
    assert!(narrowed == 0, "{narrowed}");
    // One that always crashes.
    let mut run = auto(20, 1);
    play(&mut run, 20, 1, &|_, _| true);
    assert_eq!(run.cuts(), []);
}

#[test]
fn two_guilty_ends_are_narrowed_by_every_method() {
    let fails = |values: &[f64], _: &mut SplitMix64| values[0] > 51.0 || values[3] < 49.0;
    let constants = Constants::default();
    let methods = |seed| {
        let (space, other) = (space(8), space(8));
        let fishtest = Schedule::fishtest(&space, 1_280, constants);
        let openbench = Schedule::openbench(&other, 160, 8, constants);
        [
            auto(8, seed),
            Tuning::compat(space, fishtest, seed, 16).narrowing(),
            Tuning::compat(other, openbench, seed, 16).narrowing(),
        ]
    };
    let mut narrowed = [0; 3];
    for seed in 0..10 {
        for (method, mut run) in methods(seed).into_iter().enumerate() {
            play(&mut run, 80, seed, &fails);
            for cut in run.cuts() {
                let guilty = [(0, RangeEnd::Max), (3, RangeEnd::Min)];
                assert!(guilty.contains(&(cut.param, cut.end)), "{method} {seed}: {cut:?}");
            }
            let params = run.narrowed().params();
            narrowed[method] += u32::from(params[0].max < 58.0) + u32::from(params[3].min > 42.0);
        }
    }
    // Values that lose may also be left before their ranges are narrowed.
    assert!(narrowed.iter().all(|narrowed| *narrowed >= 12), "{narrowed:?} of 20 ends");
}

#[test]
fn a_parameter_of_which_only_the_start_plays_stays_there() {
    let mut space = space(2);
    let mut narrowing = Narrowing::new(&space, 1);
    let vectors = |values: [[f64; 2]; 2]| values.map(Vec::from);
    for (bad, ends) in [(51.0, [0.0, 50.0]), (49.0, [50.0, 50.0])] {
        // The other parameter is on either side.
        let pairs = [[[bad, 49.0], [50.0, 51.0]], [[bad, 51.0], [50.0, 49.0]], [[bad, 51.0], [50.0, 49.0]]];
        let pairs = pairs.map(vectors);
        narrowing.record_block(pairs[..2].iter(), &[[true, false]; 2], Counterpart::Side);
        assert_eq!(narrowing.narrow(&space, 2), None, "two failures are too few");
        narrowing.record_block(pairs[2..].iter(), &[[true, false]], Counterpart::Side);
        space = narrowing.narrow(&space, 3).expect("three are enough");
        assert_eq!([space.params()[0].min, space.params()[0].max], ends);
        assert_eq!((space.params()[1].min, space.params()[1].max), (0.0, 100.0));
    }
    assert_eq!(narrowing.cuts().iter().map(|cut| cut.failures).collect::<Vec<_>>(), [3, 3]);
    assert_eq!(narrowing.narrow(&space, 4), None, "what a range explains is not looked at again");
}

#[test]
fn a_vector_whose_counterpart_failed_too_says_nothing() {
    let space = space(1);
    let pair = |sides: [f64; 2]| sides.map(|value| vec![value]);
    let (tuned, calibrated) = (pair([60.0, 40.0]), [pair([50.0, 60.0]), pair([50.0, 40.0])]);
    for (counterpart, pairs, failed, cuts) in [
        (Counterpart::Side, vec![tuned.clone(); 4], vec![[true, true]; 4], 0),
        (Counterpart::Side, vec![tuned.clone(); 4], vec![[true, false]; 4], 1),
        (Counterpart::Pair, vec![calibrated.clone(); 4].concat(), vec![[false, true]; 8], 0),
        (Counterpart::Pair, vec![calibrated; 4].concat(), [[false, true], [false, false]].repeat(4), 1),
        (Counterpart::Nowhere, vec![tuned; 4], vec![[true, false]; 4], 0),
    ] {
        let mut narrowing = Narrowing::new(&space, 1);
        narrowing.record_block(pairs.iter(), &failed, counterpart);
        narrowing.narrow(&space, 8);
        assert_eq!(narrowing.cuts().len(), cuts, "{failed:?}");
        // Pairs that play the same vectors are one failure.
        let mut narrowing = Narrowing::new(&space, 4);
        narrowing.record_block(pairs.iter(), &failed, counterpart);
        assert_eq!((narrowing.narrow(&space, 8), narrowing.failed.len() < LEAST_FAILURES), (None, true));
    }
}

#[test]
fn an_unmoved_side_that_never_plays_is_suspected_too() {
    let space = space(1);
    // A start near an end, whose pairs have their centre farther inside: only the end plays.
    let pairs = [[60.0, 70.0], [60.0, 50.0]].map(|sides| sides.map(|value| vec![value]));
    let mut narrowing = Narrowing::new(&space, 1);
    for _ in 0..2 {
        narrowing.record_block(pairs.iter(), &[[true, true], [true, false]], Counterpart::Pair);
    }
    let narrowed = narrowing.narrow(&space, 4).expect("two centres and two moved sides failed");
    assert_eq!((narrowed.params()[0].max, narrowing.cuts()[0].failures), (55.0, 4));
}

#[test]
fn a_plan_that_narrows_nothing_asks_what_it_ever_asked() {
    let fails = |values: &[f64], _: &mut SplitMix64| values[0] > 53.0;
    let [mut narrowed, mut plain] =
        [auto(4, 5), Tuning::auto(Rule { space: space(4), seed: 5, block: 16, calibration: 4 })];
    play(&mut narrowed, 30, 5, &fails);
    play(&mut plain, 30, 5, &fails);
    assert!(!narrowed.cuts().is_empty() && plain.cuts().is_empty());
    assert_eq!(plain.narrowed(), plain.space());
    assert_ne!(narrowed.ask(30), plain.ask(30));
}
