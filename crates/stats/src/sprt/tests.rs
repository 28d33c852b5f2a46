use super::super::{Pentanomial, Trinomial};
use super::*;
use proptest::prelude::*;

fn test(elo0: f64, elo1: f64, model: Model) -> Sprt {
    Sprt::new(Bounds { elo0, elo1 }, model, 0.05, 0.05).expect("a sound test")
}

fn wld(wins: u64, losses: u64, draws: u64) -> Trinomial {
    Trinomial { wins, draws, losses }
}

fn check<C: Counts>(counts: &C, model: Model, elo0: f64, elo1: f64, llr: f64, tolerance: f64) {
    let found = test(elo0, elo1, model).llr(counts);
    assert!((found - llr).abs() <= tolerance, "{model} [{elo0}, {elo1}]: {found}, not {llr}");
}

#[test]
fn published_ratios() {
    use Model::{Bayesian, Logistic, Normalized};
    // fastchess, app/tests/sprt_test.cpp, to two decimals.
    check(&wld(36433, 36027, 68692), Normalized, 0.0, 2.0, 0.92, 0.006);
    check(&wld(10871, 10650, 20431), Normalized, -1.75, 0.25, 2.30, 0.006);
    check(&wld(21404, 21184, 40708), Logistic, 0.5, 2.5, -1.57, 0.006);
    check(&wld(68965, 68526, 128_429), Bayesian, 0.0, 2.0, -1.26, 0.006);
    check(&Pentanomial([365, 16618, 36229, 16974, 390]), Normalized, 0.0, 2.0, 2.25, 0.006);
    check(&Pentanomial([127, 4883, 10712, 5150, 104]), Normalized, -1.75, 0.25, 3.01, 0.006);
    check(&Pentanomial([223, 9863, 21279, 10037, 246]), Logistic, 0.5, 2.5, -3.07, 0.006);
    check(&Pentanomial([871, 26175, 55983, 26678, 821]), Logistic, 0.0, 2.0, -4.98, 0.006);
    // Values of independent solvers, including cases in which the leading programs fail.
    check(&Pentanomial([379, 10170, 21828, 10640, 343]), Normalized, 0.0, 2.0, 2.95, 0.006);
    check(&Pentanomial([379, 10170, 21828, 10640, 343]), Logistic, 0.0, 2.0, 3.13, 0.006);
    check(&Pentanomial([0, 0, 500, 0, 0]), Normalized, -3.0, 1.0, 0.0639, 0.0001);
    check(&Pentanomial([185, 52, 2026, 134, 6]), Normalized, -100.0, 100.0, -357.002, 0.001);
    check(&wld(0, 30421, 866), Normalized, 0.0, 10.0, -901.0, 0.6);
    check(&wld(3, 0, 5000), Logistic, 0.0, 5.0, -57.9, 0.06);
    check(&wld(4250, 0, 0), Bayesian, 0.0, 5.0, 58.9, 0.06);
    check(&Pentanomial([0, 0, 0, 0, 10_000_000]), Normalized, 0.0, 10.0, 399_000.0, 500.0);
}

/// The maximum of a function with one maximum, by golden section.
fn golden(function: &dyn Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    let ratio = (5f64.sqrt() - 1.0) / 2.0;
    let (mut a, mut b) = (high - ratio * (high - low), low + ratio * (high - low));
    let (mut at_a, mut at_b) = (function(a), function(b));
    for _ in 0..60 {
        if at_a > at_b {
            (high, b, at_b) = (b, a, at_a);
            a = high - ratio * (high - low);
            at_a = function(a);
        } else {
            (low, a, at_a) = (a, b, at_b);
            b = low + ratio * (high - low);
            at_b = function(b);
        }
    }
    at_a.max(at_b)
}

/// Shares as the ratio takes them: a thousandth for a class that never occurred.
fn shares<C: Counts>(counts: &C) -> (f64, Vec<f64>) {
    let counts: Vec<f64> = (0..C::SCORES.len()).map(|class| (counts.count(class) as f64).max(0.001)).collect();
    let total: f64 = counts.iter().sum();
    (total, counts.into_iter().map(|count| count / total).collect())
}

/// `sum p ln(q/p)` of the most likely distribution with this mean, from the dual problem alone.
fn reference_mean<C: Counts>(p: &[f64], score: f64) -> f64 {
    let dual = |x: f64| p.iter().zip(C::SCORES).map(|(p, a)| p * (1.0 + x * (a - score)).ln()).sum::<f64>();
    // The dual is concave in x, and its maximum is minus the likelihood.
    -golden(&dual, -1.0 / (1.0 - score) * (1.0 - 1e-15), 1.0 / score * (1.0 - 1e-15))
}

/// The same for a t-value: a search over mean and deviation, then over all distributions that have
/// both.
fn reference_t(p: &[f64], t: f64) -> f64 {
    let given_mean = |mean: f64| match p.len() {
        3 => reference_three(p, mean, mean / t),
        _ => reference_five(p, mean, mean / t),
    };
    const GRID: u32 = 600;
    // Means in a geometric row from 0 to one half, on the side of t; there may be several maxima.
    let at = |index: f64| t.signum() * 0.5 * (-12.0 * index / f64::from(GRID)).exp();
    let values: Vec<f64> = (0..=GRID).map(|index| given_mean(at(f64::from(index)))).collect();
    let best = (0..values.len()).max_by(|a, b| values[*a].total_cmp(&values[*b])).expect("not empty") as f64;
    golden(&|index| given_mean(at(index)), (best - 1.0).max(0.0), best + 1.0)
}

/// Three classes: mean and deviation say it all.
fn reference_three(p: &[f64], mean: f64, deviation: f64) -> f64 {
    let decided = 4.0 * (mean * mean + deviation * deviation);
    let q = [decided / 2.0 - mean, 1.0 - decided, decided / 2.0 + mean];
    if q.iter().any(|q| *q <= 0.0) {
        return f64::NEG_INFINITY;
    }
    p.iter().zip(q).map(|(p, q)| p * (q / p).ln()).sum()
}

/// Five classes: two shares are free, the other three follow from sum, mean and deviation.
fn reference_five(p: &[f64], mean: f64, deviation: f64) -> f64 {
    let (first, second) = (4.0 * mean, 16.0 * (mean * mean + deviation * deviation));
    let complete = |q0: f64, q1: f64| {
        // With classes at -2..2: q2+q3+q4 = 1-q0-q1, q3+2q4 = first+2q0+q1, q3+4q4 = second-4q0-q1.
        let q4 = (second - first - 6.0 * q0 - 2.0 * q1) / 2.0;
        let q3 = first + 2.0 * q0 + q1 - 2.0 * q4;
        [q0, q1, 1.0 - q0 - q1 - q3 - q4, q3, q4]
    };
    // Each share is c + a q0 + b q1; the corners of the region where none is negative give the
    // range of q0.
    let (origin, along0, along1) = (complete(0.0, 0.0), complete(1.0, 0.0), complete(0.0, 1.0));
    let line = |class: usize| (origin[class], along0[class] - origin[class], along1[class] - origin[class]);
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for i in 0..5 {
        for j in 0..i {
            let ((c, a, b), (d, e, f)) = (line(i), line(j));
            let det = a * f - b * e;
            let corner = ((b * d - c * f) / det, (c * e - a * d) / det);
            if det.abs() > 1e-9 && complete(corner.0, corner.1).iter().all(|q| *q > -1e-12) {
                (low, high) = (low.min(corner.0), high.max(corner.0));
            }
        }
    }
    if low >= high {
        return f64::NEG_INFINITY;
    }
    let likelihood = |q0: f64, q1: f64| -> f64 {
        let q = complete(q0, q1);
        p.iter().zip(q).map(|(p, q)| if q > 0.0 { p * (q / p).ln() } else { -1e6 * (1.0 - q) }).sum()
    };
    let given_q0 = |q0: f64| {
        let (mut low, mut high) = (0.0_f64, 1.0_f64);
        for class in 0..5 {
            let (c, a, b) = line(class);
            let edge = -(c + a * q0) / b;
            if b > 0.0 {
                low = low.max(edge);
            } else if b < 0.0 {
                high = high.min(edge);
            }
        }
        golden(&|q1| likelihood(q0, q1), low, high.max(low))
    };
    golden(&given_q0, low, high)
}

fn reference_llr<C: Counts>(counts: &C, model: Model, elo0: f64, elo1: f64) -> f64 {
    let (total, p) = shares(counts);
    let fit = |elo: f64| match model {
        Model::Normalized if elo != 0.0 => {
            reference_t(&p, elo * f64::from(C::GAMES_PER_SAMPLE).sqrt() * std::f64::consts::LN_10 / 800.0)
        }
        _ => reference_mean::<C>(&p, 1.0 / (1.0 + 10f64.powf(-elo / 400.0))),
    };
    total * (fit(elo1) - fit(elo0))
}

fn differ<C: Counts + fmt::Debug>(counts: &C, model: Model, elo0: f64, elo1: f64) {
    let (found, slow) = (test(elo0, elo1, model).llr(counts), reference_llr(counts, model, elo0, elo1));
    assert!(
        (found - slow).abs() <= 1e-5 * (1.0 + slow.abs()),
        "{counts:?} {model} [{elo0}, {elo1}]: {found}, not {slow}"
    );
}

#[test]
fn agrees_with_a_slow_reference() {
    let bounds = [(0.0, 5.0), (-3.0, 1.0), (-100.0, 100.0), (200.0, 300.0), (-600.0, 600.0)];
    let pairs = [
        [34, 54, 63, 64, 75],
        [379, 10170, 21828, 10640, 343],
        [185, 52, 2026, 134, 6],
        [1, 1, 1, 1, 1],
        [2, 10, 40, 120, 90],
        [0, 0, 0, 1, 30],
        [1, 298, 0, 115, 0],
        [144, 3, 1, 0, 0],
        [0, 0, 1, 0, 0],
    ];
    for (elo0, elo1) in bounds {
        for counts in pairs {
            differ(&Pentanomial(counts), Model::Logistic, elo0, elo1);
        }
        for games in [wld(36433, 36027, 68692), wld(0, 30421, 866), wld(3, 0, 5000), wld(1, 0, 0), wld(0, 0, 584_953)] {
            differ(&games, Model::Logistic, elo0, elo1);
            differ(&games, Model::Normalized, elo0, elo1);
        }
    }
    // The slow search over five classes takes a twentieth of a second.
    differ(&Pentanomial(pairs[0]), Model::Normalized, 0.0, 5.0);
    differ(&Pentanomial(pairs[1]), Model::Normalized, 0.0, 2.0);
    differ(&Pentanomial(pairs[3]), Model::Normalized, 0.0, 562.0);
    differ(&Pentanomial(pairs[6]), Model::Normalized, 0.0, 562.0);
}

fn any_counts() -> impl Strategy<Value = [u64; 5]> {
    let count = prop_oneof![3 => Just(0), 1 => Just(1), 2 => 0u64..1000, 2 => 0u64..1_000_000_000, 1 => any::<u64>()];
    prop::array::uniform5(count)
}

fn any_test() -> impl Strategy<Value = Sprt> {
    let model = prop::sample::select(Model::ALL.to_vec());
    let elo = || prop_oneof![-10.0..10.0, -600.0..600.0, -1e-6..1e-6];
    (model, elo(), elo(), 0.001..0.499, 0.001..0.499).prop_filter_map("equal bounds", |(model, a, b, alpha, beta)| {
        Sprt::new(Bounds { elo0: f64::min(a, b), elo1: f64::max(a, b) }, model, alpha, beta).ok()
    })
}

proptest! {
    #[test]
    fn no_input_gives_nan(counts in any_counts(), test in any_test()) {
        let pairs = Pentanomial(counts);
        let games = Trinomial { wins: counts[0], draws: counts[1], losses: counts[2] };
        for (llr, remaining) in [
            (test.llr(&pairs), test.expected_remaining(&pairs)),
            (test.llr(&games), test.expected_remaining(&games)),
        ] {
            prop_assert!(llr.is_finite() && test.fraction(llr).is_finite());
            prop_assert!(remaining.is_none_or(|samples| samples.is_finite() && samples >= 0.0), "{remaining:?}");
        }
    }

    #[test]
    fn the_other_side_sees_the_mirror_image(counts in any_counts(), test in any_test()) {
        let Bounds { elo0, elo1 } = test.bounds();
        let mirrored = Sprt::new(Bounds { elo0: -elo1, elo1: -elo0 }, test.model(), test.beta(), test.alpha()).expect("sound");
        let pairs = Pentanomial(counts);
        let (here, there) = (test.llr(&pairs), mirrored.llr(&pairs.reversed()));
        let scale = 1.0 + here.abs() + pairs.pairs() as f64 * 1e-9;
        prop_assert!((here + there).abs() < 1e-6 * scale, "{here} and {there}");
    }

    #[test]
    fn level_results_do_not_lean(even in 0u64..100_000, lost in 0u64..100_000, swept in 0u64..100_000, elo in 0.1..600.0f64) {
        let pairs = Pentanomial([swept, lost, even, lost, swept]);
        for model in Model::ALL {
            let llr = test(-elo, elo, model).llr(&pairs);
            prop_assert!(llr.abs() < 1e-6, "{model}: {llr}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn no_distribution_is_more_likely(counts in any_counts(), elo1 in prop_oneof![0.01..10.0, 0.01..600.0]) {
        let counts = Pentanomial(counts.map(|count| count % 1_000_000_007));
        prop_assume!(counts.pairs() > 0);
        let score = counts.score().unwrap_or(0.5);
        let (found, slow) = (
            test(0.0, elo1, Model::Normalized).llr(&counts),
            reference_llr(&counts, Model::Normalized, 0.0, elo1),
        );
        // The grid of the slow search may step over a narrow maximum; it can never find a higher
        // one.
        prop_assert!(found >= slow - 1e-5 * (1.0 + slow.abs()), "{counts:?} ({score}) [0, {elo1}]: {found}, not {slow}");
    }
}

#[test]
fn verdicts_and_bounds() {
    let sprt = test(0.0, 5.0, Model::Normalized);
    assert!((sprt.upper() - 2.944_439).abs() < 1e-6 && (sprt.lower() + 2.944_439).abs() < 1e-6);
    assert_eq!(sprt.verdict_at(sprt.upper()), Verdict::AcceptH1);
    assert_eq!(sprt.verdict_at(sprt.lower()), Verdict::AcceptH0);
    assert_eq!(sprt.verdict_at(sprt.upper() - 1e-9), Verdict::Continue);
    assert_eq!((sprt.fraction(sprt.upper()), sprt.fraction(sprt.lower()), sprt.fraction(0.0)), (1.0, -1.0, 0.0));

    let lopsided = Sprt::new(sprt.bounds(), Model::Logistic, 0.1, 0.01).expect("sound");
    assert!((lopsided.lower() - (0.01f64 / 0.9).ln()).abs() < 1e-12);
    assert!((lopsided.upper() - (0.99f64 / 0.1).ln()).abs() < 1e-12);

    let none = Pentanomial::default();
    assert_eq!((sprt.llr(&none), sprt.verdict(&none), sprt.expected_remaining(&none)), (0.0, Verdict::Continue, None));
    assert_eq!(sprt.verdict(&Pentanomial([0, 0, 0, 100, 10_000])), Verdict::AcceptH1);
    assert_eq!(sprt.verdict(&Pentanomial([10_000, 100, 0, 0, 0])), Verdict::AcceptH0);
    assert_eq!(sprt.expected_remaining(&Pentanomial([10_000, 100, 0, 0, 0])), Some(0.0));
}

#[test]
fn the_end_is_where_the_drift_leads() {
    let sprt = test(0.0, 5.0, Model::Normalized);
    // At a drift far above its noise, what is left is the distance over the drift.
    let counts = Pentanomial([0, 10, 100, 100, 10]);
    let (llr, left) = (sprt.llr(&counts), sprt.expected_remaining(&counts).expect("defined"));
    let straight = (sprt.upper() - llr) / (llr / 220.0);
    assert!((left / straight - 1.0).abs() < 0.05, "{left} for {straight}");

    let exit = |drift: f64, below: f64, above: f64| BoundedMotion { drift, variance: 1.0, below, above };
    assert!((exit(0.0, 2.0, 3.0).mean_time() - 6.0).abs() < 1e-12);
    assert!((exit(0.0, 2.0, 3.0).pass_probability() - 0.4).abs() < 1e-12);
    // The formulas for no drift and for little drift meet.
    assert!((exit(2e-7, 2.0, 3.0).mean_time() - 6.0).abs() < 1e-4);
    // (1 - e^-1)/(1 - e^-3) at drift 1/2, from 1 below the middle of -1..2, and its mirror image.
    let pass = (1.0 - (-1f64).exp()) / (1.0 - (-3f64).exp());
    assert!((exit(0.5, 1.0, 2.0).pass_probability() - pass).abs() < 1e-12);
    assert!((exit(-0.5, 2.0, 1.0).pass_probability() - (1.0 - pass)).abs() < 1e-12);
    assert!((exit(-1e6, 1.0, 1.0).mean_time() - 1e-6).abs() < 1e-12);
}

#[test]
fn unsound_tests_are_refused() {
    let table = [
        (5.0, 0.0, Model::Normalized, 0.05, 0.05, "bounds 5,0: elo0 must be below elo1, write 0,5"),
        (1.0, 1.0, Model::Logistic, 0.05, 0.05, "bounds 1,1: elo0 must be below elo1"),
        (0.0, 5.0, Model::Normalized, 0.0, 0.05, "alpha is 0: it must be more than 0 and less than 1, as in 0.05"),
        (0.0, 5.0, Model::Normalized, 0.05, 1.0, "beta is 1: it must be more than 0 and less than 1, as in 0.05"),
        (
            0.0,
            5.0,
            Model::Normalized,
            0.05,
            f64::NAN,
            "beta is NaN: it must be more than 0 and less than 1, as in 0.05",
        ),
        (0.0, 5.0, Model::Normalized, 0.5, 0.5, "alpha 0.5 and beta 0.5 add up to 1 or more: lower one of them"),
        (
            0.0,
            601.0,
            Model::Normalized,
            0.05,
            0.05,
            "bound 601 is out of reach: normalized bounds lie within -600 and 600 Elo",
        ),
        (
            f64::NAN,
            1.0,
            Model::Logistic,
            0.05,
            0.05,
            "bound NaN is out of reach: logistic bounds lie within -2000 and 2000 Elo",
        ),
    ];
    for (elo0, elo1, model, alpha, beta, message) in table {
        let error = Sprt::new(Bounds { elo0, elo1 }, model, alpha, beta).expect_err(message);
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn names_and_numbers_are_read() {
    for model in Model::ALL {
        assert_eq!(model.to_string().parse(), Ok(model));
    }
    assert_eq!(
        "bayes".parse::<Model>().map_err(|error| error.to_string()),
        Err("unknown model `bayes`: use normalized, logistic or bayesian".to_owned())
    );
    assert_eq!("-3,1".parse(), Ok(Bounds { elo0: -3.0, elo1: 1.0 }));
    assert_eq!(" 0.5 , 2.5".parse(), Ok(Bounds { elo0: 0.5, elo1: 2.5 }));
    assert_eq!("-0,2".parse::<Bounds>().map(|bounds| bounds.to_string()), Ok("[0, 2]".to_owned()));
    for text in ["", "1", "1;2", "1,2,3", "a,b", "nan,1", "0,inf"] {
        assert_eq!(text.parse::<Bounds>(), Err(SprtError::BoundsText(text.to_owned())));
    }
}
