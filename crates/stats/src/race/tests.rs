use super::*;
use crate::simulate::Law;
use crate::sprt::Model;

struct Dice(u64);

impl Dice {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Half points of a pair; `u` is the opening's own luck.
    fn pair(law: &Law, u: f64) -> u8 {
        let mut below = 0.0;
        let class = law.shares().iter().position(|share| {
            below += share;
            u < below
        });
        u8::try_from(class.unwrap_or(4)).unwrap()
    }
}

/// Races candidates of these strengths; `shared` is the share of an opening's luck that they have
/// in common.
fn race(elos: &[f64], (gain, close): (f64, f64), shared: f64, rounds: u64, dice: &mut Dice) -> RaceState {
    let laws: Vec<Law> = elos.iter().map(|elo| Law::TYPICAL.leaned(*elo, Model::Logistic)).collect();
    let mut race = RaceState::new(elos.len(), RaceSettings { alpha: 0.05, gain, close });
    for _ in 0..rounds {
        let common = dice.unit();
        for candidate in race.left() {
            let own = dice.unit();
            let u = if dice.unit() < shared { common } else { own };
            race.record(candidate, Dice::pair(&laws[candidate], u));
        }
        if race.is_over() {
            break;
        }
    }
    race
}

#[test]
fn the_best_take_wins() {
    let mut dice = Dice(1);
    let (mut won, mut spent) = (0, 0);
    for _ in 0..40 {
        let race = race(&[-40.0, 0.0, 60.0, 10.0], (0.0, 0.0), 0.5, 4000, &mut dice);
        won += u32::from(race.winner() == Some(2));
        spent += race.candidates().iter().map(|candidate| candidate.pairs.pairs()).sum::<u64>();
    }
    assert!(won >= 39, "{won} of 40");
    assert!(spent / 40 < 4000, "{} pairs a race", spent / 40);
}

#[test]
fn what_is_false_is_seldom_said() {
    // All are as strong as the base: any candidate dropped or called better is wronged.
    let mut dice = Dice(2);
    let wronged = (0..300)
        .filter(|_| {
            let race = race(&[0.0; 4], (0.0, 0.0), 0.5, 400, &mut dice);
            race.candidates().iter().any(|candidate| candidate.dropped.is_some() || candidate.is_better)
        })
        .count();
    // 5 % of 300 is 15; the bound is not an estimate, and the rate stays below it.
    assert!(wronged <= 15, "{wronged} of 300");
}

#[test]
fn who_gains_too_little_is_dropped() {
    let mut dice = Dice(3);
    let race = race(&[0.0, 0.0], (60.0, 0.0), 0.0, 4000, &mut dice);
    assert!(race.is_over() && race.winner().is_none());
    assert!(race.candidates().iter().any(|candidate| matches!(candidate.dropped, Some((Reason::Base, _)))));
}

#[test]
fn one_take_alone_is_a_test_against_the_base() {
    let mut dice = Dice(4);
    assert_eq!(race(&[50.0], (0.0, 0.0), 0.0, 4000, &mut dice).winner(), Some(0));
    assert_eq!(race(&[-50.0], (0.0, 0.0), 0.0, 4000, &mut dice).left(), [] as [usize; 0]);
    assert!(RaceState::new(0, RaceSettings { alpha: 0.05, gain: 0.0, close: 0.0 }).is_over());
}

#[test]
fn evidence_is_what_the_bets_come_to() {
    let pairs = super::super::Pentanomial([3, 5, 20, 9, 8]);
    let mut bet = Bet::NEW;
    for (class, count) in pairs.0.iter().enumerate() {
        // The losses first, so that the fortune is largest at the end.
        (0..*count).for_each(|_| bet.record(class as f64 / 4.0 - 0.5, 0.5));
    }
    let [above, below] = evidence(&pairs);
    assert!((above - bet.best).abs() < 1e-9 || bet.best == 0.0 && above < 0.0);
    assert!(above > below);
    assert_eq!(evidence(&super::super::Pentanomial::default()), [0.0, 0.0]);
}

#[test]
fn a_shared_opening_tells_more() {
    let mut dice = Dice(5);
    let mut pairs = |shared: f64| -> u64 {
        (0..20)
            .map(|_| {
                race(&[30.0, -10.0], (-500.0, 0.0), shared, 6000, &mut dice).candidates()[1]
                    .dropped
                    .map_or(6000, |d| d.1)
            })
            .sum()
    };
    assert!(pairs(0.9) < pairs(0.0));
}

#[test]
fn equally_good_takes_end() {
    let mut dice = Dice(6);
    for _ in 0..20 {
        // Better than the base by the same: without `close` nothing tells them apart.
        let two = race(&[40.0, 40.0], (0.0, 20.0), 0.5, 6000, &mut dice);
        assert!(
            two.is_over()
                && two.winner().is_some()
                && two.candidates().iter().any(|candidate| candidate.dropped.is_none())
        );
        // As good as the base: none is worth the change.
        let three = race(&[0.0; 3], (0.0, 30.0), 0.5, 6000, &mut dice);
        assert!(three.is_over(), "{:?}", three.candidates());
        // One is better than both by more than is close.
        assert_eq!(race(&[60.0, 0.0, 0.0], (0.0, 20.0), 0.5, 6000, &mut dice).winner(), Some(0));
    }
    assert!(!race(&[40.0, 40.0], (0.0, 0.0), 0.5, 6000, &mut dice).is_over());
}

#[test]
fn what_is_close_is_seldom_called_so_wrongly() {
    // Candidates of the base's strength and one that is stronger by just `close`. A false claim is
    // one of "better than the base", "weaker than the other" and "the other is no stronger by
    // `close`". All are on the edge of the hypotheses.
    const RACES: usize = 300;
    let mut dice = Dice(7);
    for (elos, close) in [(&[0.0; 3][..], 25.0), (&[0.0, 25.0], 25.0), (&[0.0, 0.0, 25.0], 25.0)] {
        let best = elos.len() - 1;
        let is_best_stronger = elos[best] > 0.0;
        let wronged = |race: &RaceState| {
            let better =
                (0..elos.len()).any(|candidate| elos[candidate] == 0.0 && race.candidates()[candidate].is_better);
            let dropped = matches!(race.candidates()[best].dropped, Some((Reason::Candidate(_) | Reason::Base, _)))
                || is_best_stronger && race.candidates()[best].dropped.is_some();
            let winner = is_best_stronger && race.winner().is_some_and(|winner| winner != best);
            better || dropped || winner
        };
        let wronged = (0..RACES).filter(|_| wronged(&race(elos, (0.0, close), 0.5, 1500, &mut dice))).count();
        assert!(wronged <= RACES / 20, "{elos:?}: {wronged} of {RACES}");
    }
}

#[test]
fn forecasts_are_near_what_comes() {
    const RACES: u64 = 60;
    let mut dice = Dice(8);
    let mut mean = |elos: &[f64], close: f64, what: fn(&RaceState) -> u64| {
        (0..RACES).map(|_| what(&race(elos, (0.0, close), 0.0, 20_000, &mut dice))).sum::<u64>() as f64 / RACES as f64
    };
    let settings = |close| RaceSettings { alpha: 0.05, gain: 0.0, close };
    let near = |found: f64, forecast: Option<f64>| {
        let forecast = forecast.expect("finite");
        assert!((0.75..1.25).contains(&(found / forecast)), "{found} pairs for {forecast}");
    };
    let first = |race: &RaceState| race.candidates()[0].dropped.map_or(20_000, |(_, after)| after);
    for (elo, close) in [(-30.0, 0.0), (0.0, 20.0), (-10.0, 20.0)] {
        near(mean(&[elo], close, first), pairs_to_drop(settings(close), &Law::TYPICAL, 1, elo));
    }
    // Both are far above the base, so that only their distance is open.
    let most = |race: &RaceState| race.candidates().iter().map(|candidate| candidate.pairs.pairs()).max().unwrap_or(0);
    for close in [15.0, 25.0, 50.0] {
        near(mean(&[80.0, 80.0], close, most), pairs_of_equals(settings(close), &Law::TYPICAL, 2));
    }
    assert_eq!(
        (pairs_of_equals(settings(0.0), &Law::TYPICAL, 2), pairs_to_drop(settings(0.0), &Law::TYPICAL, 2, 0.0)),
        (None, None)
    );
}

#[test]
fn a_pair_that_does_not_count_keeps_its_opening() {
    let mut race = RaceState::new(2, RaceSettings { alpha: 0.05, gain: 0.0, close: 0.0 });
    for opening in 0..40 {
        let half_points = if opening % 2 == 0 { 4 } else { 0 };
        race.record(0, half_points);
        if opening == 0 {
            race.pass_over(1);
        } else {
            race.record(1, half_points);
        }
    }
    // Of the same openings both have the same scores, so nobody wins a bet on their difference.
    assert!(race.between[0][1].is_better.best < 1e-9 && race.between[1][0].is_better.best < 1e-9);
    assert_eq!((race.candidates()[0].pairs.pairs(), race.candidates()[1].pairs.pairs()), (40, 39));
}
