//! Versions of an engine on one scale, in their order, and tests of the steps between them.
//!
//! # Method
//! All games, those with sparring partners too, are rated together ([`super::rating`]), anchored at
//! the first version of the largest comparable group. The change from one version to the next is
//! the difference of their ratings, and its error accounts for the correlation of the two. It is
//! tested two-sided against no change. If both are rated, the test is by Student's distribution
//! with the degrees of freedom of that error. (The normal distribution would mark 7 to 8 % at 20 to
//! 40 pairs a step.) If one of them made every point or none, it is the exact sign test on the
//! pairs and single games that the two played with each other. Of many steps some look like drops
//! by luck alone, so the p-values are corrected over all steps of the curve by Holm's method. The
//! probability that any step without a change is marked is then at most the level, however the
//! steps depend on each other.
//!
//! # Sources
//! S. Holm, "A simple sequentially rejective multiple test procedure" (1979). The errors are those
//! of `rating`.

use statrs::distribution::{Binomial, DiscreteCDF as _};

use super::rating::{Anchor, EncounterCounts, Measurement, Meeting, RatingError, RatingKind, Ratings, rate_by_opening};

/// Result of a step's test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Weaker than the version before, beyond chance.
    Drop,
    /// Stronger, beyond chance.
    Gain,
    /// No change is shown.
    Open,
}

impl Mark {
    /// The name used in documents.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Drop => "drop",
            Self::Gain => "gain",
            Self::Open => "open",
        }
    }
}

/// Step from one version to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VersionStep {
    /// The version before, as a player.
    pub from: usize,
    /// The version after.
    pub to: usize,
    /// The change in Elo; `None` if one of them has a bound instead of a rating, or if no points
    /// join them.
    pub change: Option<Measurement>,
    /// Probability of a change at least as large in either direction if there is none, for this
    /// step alone; `None` if it is not defined.
    pub p: Option<f64>,
    /// The same, corrected over all steps.
    pub p_adjusted: Option<f64>,
    /// Result at the chosen level.
    pub mark: Mark,
}

/// Ratings of versions and the steps between them.
#[derive(Clone, Debug)]
pub struct Progress {
    /// All players.
    pub ratings: Ratings,
    /// Player whose rating is 0; `None` if all versions have bounds, in which case the mean of the
    /// pool is 0.
    pub anchor: Option<usize>,
    /// Number of the curve's group; versions of other groups cannot be compared with it.
    pub group: usize,
    /// Steps between neighbouring versions, in order.
    pub steps: Vec<VersionStep>,
}

/// Rates `players` players and follows `versions`, players in their order; steps are marked at
/// `level`, the family-wise error rate.
///
/// `shared` are the meetings of openings that more than one has ([`rate_by_opening`]).
///
/// # Errors
/// As [`rate_by_opening`].
pub fn progress(
    players: usize,
    encounters: &[EncounterCounts],
    shared: &[Vec<Meeting>],
    versions: &[usize],
    level: f64,
) -> Result<Progress, RatingError> {
    let free = rate_by_opening(players, encounters, shared, &[])?;
    let group_of = |ratings: &Ratings, version: usize| ratings.players.get(version).map_or(0, |rating| rating.group);
    let members = |group: usize| versions.iter().filter(|&&version| group_of(&free, version) == group).count();
    // The first of equal ones: groups are counted from the one with the most games.
    let main = (0..free.groups).rev().max_by_key(|group| members(*group)).unwrap_or(0);
    let anchor = versions.iter().copied().find(|&version| {
        free.players
            .get(version)
            .is_some_and(|rating| rating.group == main && rating.bounded == RatingKind::Exact && rating.games > 0)
    });
    let ratings = match anchor {
        Some(player) => rate_by_opening(players, encounters, shared, &[Anchor { player, elo: 0.0, error95: 0.0 }])?,
        None => free,
    };
    let mut steps: Vec<VersionStep> =
        versions.windows(2).map(|two| step(&ratings, encounters, two[0], two[1])).collect();
    let adjusted = holm(&steps.iter().map(|step| step.p).collect::<Vec<_>>());
    for (step, p) in steps.iter_mut().zip(adjusted) {
        step.p_adjusted = p;
        if p.is_some_and(|p| p <= level) {
            let up = step.change.map_or_else(|| direct(encounters, step.from, step.to).0 > 0, |c| c.value > 0.0);
            step.mark = if up { Mark::Gain } else { Mark::Drop };
        }
    }
    let group = anchor.map_or(main, |anchor| group_of(&ratings, anchor));
    Ok(Progress { ratings, anchor, group, steps })
}

fn step(ratings: &Ratings, encounters: &[EncounterCounts], from: usize, to: usize) -> VersionStep {
    let lead = ratings.lead(to, from);
    let change = lead.map(|lead| lead.measured());
    let p = match lead {
        Some(lead) => Some(lead.p()),
        None => {
            let (lead, decided) = direct(encounters, from, to);
            sign_test(lead, decided)
        }
    };
    VersionStep { from, to, change, p, p_adjusted: None, mark: Mark::Open }
}

/// Result of the pairs and single games that two versions played with each other and that were not
/// level: the lead of the later one, and their number.
fn direct(encounters: &[EncounterCounts], from: usize, to: usize) -> (i64, u64) {
    let (mut up, mut down) = (0u64, 0u64);
    for met in encounters {
        let met = match (met.a, met.b) {
            (a, b) if (a, b) == (to, from) => met.clone(),
            (a, b) if (a, b) == (from, to) => met.reversed(),
            _ => continue,
        };
        let pairs = met.pentanomial().0;
        let add = |sum: u64, counts: [u64; 4]| counts.into_iter().fold(sum, u64::saturating_add);
        up = add(up, [pairs[3], pairs[4], met.white.wins, met.black.wins]);
        down = add(down, [pairs[0], pairs[1], met.white.losses, met.black.losses]);
    }
    (i64::try_from(up).unwrap_or(i64::MAX) - i64::try_from(down).unwrap_or(i64::MAX), up.saturating_add(down))
}

/// The exact two-sided sign test.
fn sign_test(lead: i64, decided: u64) -> Option<f64> {
    let fewer = decided.saturating_sub(lead.unsigned_abs()) / 2;
    let law = Binomial::new(0.5, decided).ok().filter(|_| decided > 0)?;
    Some((2.0 * law.cdf(fewer)).min(1.0))
}

/// Holm's adjusted p-values, in the order given. An undefined value was not tested and does not
/// count.
fn holm(values: &[Option<f64>]) -> Vec<Option<f64>> {
    let mut order: Vec<(usize, f64)> =
        values.iter().enumerate().filter_map(|(place, p)| p.map(|p| (place, p))).collect();
    order.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut adjusted = vec![None; values.len()];
    let mut least = 0.0f64;
    for (rank, (place, p)) in order.iter().enumerate() {
        least = least.max(p * (order.len() - rank) as f64).min(1.0);
        adjusted[*place] = Some(least);
    }
    adjusted
}

/// The step with the least evidence, for which more games help most.
///
/// A step without a known error comes first, that with the fewest games between its versions; else
/// the one with the largest error. `None` if every error is at most `width`.
#[must_use]
pub fn least_certain(progress: &Progress, width: f64) -> Option<usize> {
    let games = |step: &VersionStep| {
        let of = |player: usize| progress.ratings.players.get(player).map_or(0, |rating| rating.games);
        of(step.from).min(of(step.to))
    };
    let error = |step: &VersionStep| match step.change.and_then(|change| change.error95) {
        Some(error) => error,
        // A perfect score that is beyond chance needs no more games.
        None if step.mark != Mark::Open => 0.0,
        None => f64::INFINITY,
    };
    let open = progress.steps.iter().enumerate().filter(|(_, step)| error(step) > width);
    open.max_by(|(_, a), (_, b)| error(a).total_cmp(&error(b)).then(games(b).cmp(&games(a)))).map(|(place, _)| place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Pentanomial;
    use crate::random::SplitMix64;
    use crate::rating::{Lead, rate};
    use crate::simulate::Law;
    use crate::sprt::Model;

    #[test]
    fn holm_corrects_over_all_that_was_tested() {
        let check = |values: &[f64], expected: &[f64]| {
            let adjusted = holm(&values.iter().map(|p| Some(*p)).collect::<Vec<_>>());
            for (found, expected) in adjusted.iter().zip(expected) {
                assert!((found.unwrap() - expected).abs() < 1e-12, "{values:?}: {adjusted:?}");
            }
        };
        // The example of R's p.adjust(c(0.01, 0.02, 0.03, 0.04), "holm"): 0.04 0.06 0.06 0.06.
        check(&[0.01, 0.02, 0.03, 0.04], &[0.04, 0.06, 0.06, 0.06]);
        check(&[0.04, 0.01, 0.6], &[0.08, 0.03, 0.6]);
        check(&[0.9, 0.8], &[1.0, 1.0]);
        assert_eq!(holm(&[Some(0.03), None]), [Some(0.03), None]);
        assert_eq!(holm(&[]), []);
    }

    #[test]
    fn the_sign_test_is_the_binomial_law() {
        // 0 of 10: 2 / 1024; 2 of 10: 2 * 56 / 1024; level: 1.
        for (lead, decided, expected) in
            [(10, 10, Some(2.0 / 1024.0)), (-6, 10, Some(112.0 / 1024.0)), (0, 8, Some(1.0)), (0, 0, None)]
        {
            match (sign_test(lead, decided), expected) {
                (Some(found), Some(expected)) => assert!((found - expected).abs() < 1e-12, "{lead} of {decided}"),
                (found, expected) => assert_eq!(found, expected),
            }
        }
    }

    #[test]
    fn the_largest_counts_do_not_overflow() {
        let met = chain(&[[u64::MAX; 5]]);
        assert_eq!(direct(&met, 0, 1), (0, u64::MAX));
    }

    /// Each version against the one before, with these pairs.
    fn chain(counts: &[[u64; 5]]) -> Vec<EncounterCounts> {
        let met = |(place, counts): (usize, &[u64; 5])| EncounterCounts {
            pairs: Pentanomial(*counts),
            ..EncounterCounts::new(place + 1, place)
        };
        counts.iter().enumerate().map(met).collect()
    }

    #[test]
    fn a_drop_is_marked_and_luck_is_not() {
        let games = chain(&[[10, 40, 100, 60, 30], [30, 80, 100, 20, 5], [10, 45, 100, 48, 12]]);
        let curve = progress(4, &games, &[], &[0, 1, 2, 3], 0.05).unwrap();
        let marks: Vec<_> = curve.steps.iter().map(|step| step.mark).collect();
        assert_eq!(marks, [Mark::Gain, Mark::Drop, Mark::Open], "{:?}", curve.steps);
        assert_eq!((curve.anchor, curve.ratings.players[0].elo), (Some(0), 0.0));
        // The steps lie between the points of the curve, and the error of a step is that of its
        // games alone.
        for step in &curve.steps {
            let change = step.change.unwrap();
            let [from, to] = [step.from, step.to].map(|player| curve.ratings.players[player].elo);
            assert!((to - from - change.value).abs() < 1e-9);
            let alone = rate(4, &games[step.from..=step.from], &[]).unwrap();
            let own = alone.lead(step.to, step.from).unwrap().measured();
            assert!((own.value - change.value).abs() < 1e-6);
            assert!((own.error95.unwrap() / change.error95.unwrap() - 1.0).abs() < 0.1, "{own:?} {change:?}");
        }
    }

    #[test]
    fn a_version_that_lost_everything_is_a_drop_too() {
        let games = chain(&[[5, 40, 100, 40, 5], [30, 0, 0, 0, 0]]);
        let curve = progress(3, &games, &[], &[0, 1, 2], 0.05).unwrap();
        assert_eq!(curve.steps[1].change, None);
        assert_eq!((curve.steps[0].mark, curve.steps[1].mark), (Mark::Open, Mark::Drop));
        assert!(curve.steps[1].p.unwrap() < 1e-8);
    }

    #[test]
    fn versions_that_nothing_joins_are_kept_apart() {
        let mut games = chain(&[[5, 40, 100, 40, 5], [5, 40, 90, 50, 5]]);
        games.push(EncounterCounts { pairs: Pentanomial([50, 400, 1000, 400, 50]), ..EncounterCounts::new(4, 3) });
        let curve = progress(5, &games, &[], &[0, 1, 2, 3], 0.05).unwrap();
        assert_eq!(curve.anchor, Some(0), "most versions are in the smaller group");
        assert_eq!(curve.ratings.players[0].group, curve.group);
        assert_ne!(curve.ratings.players[3].group, curve.group);
        assert_eq!((curve.steps[2].change, curve.steps[2].p), (None, None));
    }

    fn draw(law: &Law, pairs: u64, random: &mut SplitMix64) -> [u64; 5] {
        let mut counts = Pentanomial::default();
        (0..pairs).for_each(|_| law.draw(&mut counts, random));
        counts.0
    }

    #[test]
    fn of_curves_without_a_change_few_have_a_mark() {
        let mut random = SplitMix64::new(7);
        let mut marked = 0;
        for _ in 0..400 {
            let games: Vec<_> = (0..8).map(|_| draw(&Law::TYPICAL, 100, &mut random)).collect();
            let curve = progress(9, &chain(&games), &[], &(0..9).collect::<Vec<_>>(), 0.05).unwrap();
            marked += u32::from(curve.steps.iter().any(|step| step.mark != Mark::Open));
        }
        // 5 % of 400 is 20; 35 is beyond 3 standard deviations.
        assert!((4..=35).contains(&marked), "{marked} of 400");
    }

    /// Shares of `runs` curves of `steps` equal versions, `pairs` pairs a step, that have a mark:
    /// as tested, and by the normal distribution.
    fn marked(steps: usize, pairs: u64, runs: u32) -> [f64; 2] {
        let mut random = SplitMix64::new(pairs);
        let versions: Vec<usize> = (0..=steps).collect();
        let mut marked = [0u32; 2];
        for _ in 0..runs {
            let games: Vec<_> = (0..steps).map(|_| draw(&Law::TYPICAL, pairs, &mut random)).collect();
            let curve = progress(steps + 1, &chain(&games), &[], &versions, 0.05).unwrap();
            marked[0] += u32::from(curve.steps.iter().any(|step| step.mark != Mark::Open));
            let leads = versions.windows(2).filter_map(|two| curve.ratings.lead(two[1], two[0]));
            let normal: Vec<_> = leads.map(|lead| Some(Lead { freedom: f64::INFINITY, ..lead }.p())).collect();
            marked[1] += u32::from(holm(&normal).iter().flatten().any(|p| *p <= 0.05));
        }
        marked.map(|marked| f64::from(marked) / f64::from(runs))
    }

    #[test]
    fn few_pairs_a_step_keep_the_level() {
        // The standard error is 0.005.
        for (steps, pairs) in [(4, 20), (8, 20), (4, 40)] {
            let [student, normal] = marked(steps, pairs, 2000);
            let what =
                format!("{student} of the curves with {steps} steps of {pairs} pairs, {normal} by the normal law");
            println!("{what}");
            assert!((0.02..=0.06).contains(&student) && normal > student, "{what}");
        }
    }

    #[test]
    fn a_real_drop_is_found() {
        let mut random = SplitMix64::new(9);
        let worse = Law::TYPICAL.leaned(-60.0, Model::Logistic);
        let mut found = 0;
        for _ in 0..100 {
            let games: Vec<_> =
                (0..6).map(|step| draw(if step == 3 { &worse } else { &Law::TYPICAL }, 200, &mut random)).collect();
            let curve = progress(7, &chain(&games), &[], &(0..7).collect::<Vec<_>>(), 0.05).unwrap();
            found += u32::from(curve.steps[3].mark == Mark::Drop);
        }
        assert!(found >= 98, "{found} of 100");
    }

    #[test]
    fn the_next_games_go_where_least_is_known() {
        let games = chain(&[[10, 40, 100, 40, 10], [2, 4, 10, 4, 2], [100, 400, 1000, 400, 100]]);
        let curve = progress(4, &games, &[], &[0, 1, 2, 3], 0.05).unwrap();
        assert_eq!(least_certain(&curve, 1.0), Some(1));
        assert_eq!(least_certain(&curve, 500.0), None);
        // A version that lost every game is not played without end.
        let lost = chain(&[[10, 40, 100, 40, 10], [30, 0, 0, 0, 0]]);
        assert_eq!(least_certain(&progress(3, &lost, &[], &[0, 1, 2], 0.05).unwrap(), 100.0), None);
        // A version without games comes first.
        let curve = progress(5, &games, &[], &[0, 1, 2, 3, 4], 0.05).unwrap();
        assert_eq!(least_certain(&curve, 1.0), Some(3));
    }
}
