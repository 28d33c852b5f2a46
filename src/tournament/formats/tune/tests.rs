use super::*;
use crate::tune::read;

/// A rule with three parameters by the method of this name.
pub(crate) fn rule(method: &str) -> TuneRule {
    let space = read::lines(
        "p",
        "Alpha, int, 50, 0, 100, 8, .002\nBeta, int, -3, -40, 40, 4, .002\nGamma, float, 1.5, 0, 3, 0.25, .004",
    );
    let constants = Constants::default();
    let method = match method {
        "auto" => Method::Auto { calibration: 2 },
        "factors" => Method::Factors,
        "fishtest" => Method::Fishtest { pairs: 320, constants },
        _ => Method::OpenBench { workloads: 40, pairs_per: 8, constants },
    };
    let dead = vec!["Beta".to_owned()];
    TuneRule { method, space: space.expect("sound"), seed: 11, block: 16, until_flat: true, dead, narrows: true }
}

#[test]
fn blocks_carry_two_pairs_of_each_slot() {
    for (concurrency, pairs) in [(1, 16), (8, 16), (9, 32), (16, 32), (17, 64), (128, 256), (u16::MAX, 256)] {
        assert_eq!(block(concurrency), pairs, "{concurrency}");
    }
}

#[test]
fn a_rule_is_stored_and_read_back() {
    for method in ["auto", "fishtest", "openbench", "factors"] {
        let rule = rule(method);
        let text = toml::to_string(&rule).expect("it can be written");
        assert_eq!(toml::from_str::<TuneRule>(&text).expect("as written"), rule, "{text}");
        assert_eq!(rule.method.name(), method);
    }
    assert_eq!(rule("auto").method.pairs(), None);
    assert_eq!(rule("fishtest").method.pairs(), Some(320));
    assert_eq!(rule("openbench").method.pairs(), Some(320));
}

#[test]
fn a_rule_that_no_run_can_follow_is_refused() {
    let auto = toml::to_string(&rule("auto")).expect("it can be written");
    for (from, to, why) in [
        ("calibration = 2\n", "", "method `auto` does not fit its numbers"),
        ("method = \"auto\"", "method = \"sgd\"", "method `sgd` does not fit its numbers"),
        ("block = 16", "block = 15", "`block` 15: an even number of pairs from 2 to 65535"),
        ("block = 16", "block = 0", "`block` 0"),
        ("kind = \"float\"", "kind = \"real\"", "parameter `Gamma`: `kind` is int, float or check"),
        ("step = 8.0", "step = 0.0", "tune.params: "),
        ("name = \"Beta\"", "name = \"alpha\"", "tune.params: "),
    ] {
        assert!(auto.contains(from), "{from} in {auto}");
        let error = toml::from_str::<TuneRule>(&auto.replacen(from, to, 1)).expect_err(to).to_string();
        assert!(error.contains(why), "{to}: {error}");
    }
}

#[test]
fn results_are_wins_minus_losses_of_the_first_player() {
    let players = (PlayerId(0), PlayerId(1));
    for (half_points, games, wanted) in [(0, 2, -2), (3, 2, 1), (4, 2, 2), (2, 1, 1), (0, 1, -1), (0, 0, 0)] {
        assert_eq!(
            result(&PairResult { players, half_points, games, failed: [false; 2] }),
            wanted,
            "{half_points} of {games}"
        );
    }
}
