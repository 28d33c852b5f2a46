//! Search for the commit that changed the strength: a binary search with noisy answers.
//!
//! # Method
//! Of commits `0..n`, the first good and the last bad, one is the first that differs. Pair scores
//! of a commit against commit 0 are level in the mean before that commit, and differ by `e` Elo
//! from it on. The posterior of the first bad commit and of `e` is computed from all pairs played
//! by any commit against commit 0. Its prior is uniform on the commits that can be the first and on
//! the logarithm of the change, from 3 to 800 Elo in either direction. The distribution of the pair
//! scores is that of all pairs together, tilted to the mean ([`Law::leaned`]). The commit to play
//! next is the one that divides the mass of the posterior most evenly, as in probabilistic
//! bisection. Commits that cannot be played divide nothing; those between two playable ones are
//! found together. Of two commits that are one program, the later one and those between them cannot
//! be the first.
//!
//! The model has one change. If there were several, the search ends at one of them, or between
//! them; the evidence of each commit shows it.
//!
//! # Sources
//! M. Horstein (1963); R. Waeber, P. I. Frazier, S. G. Henderson, "Bisection search with noisy
//! responses" (2013).

use std::ops::RangeInclusive;

use super::Pentanomial;
use super::simulate::Law;
use super::sprt::Model;

/// Number of sizes of the change in Elo, from 3, each larger than the one before by the same
/// factor.
const SIZES: usize = 29;
const LEAST: f64 = 3.0;
const MOST: f64 = 800.0;

/// Posterior of the first bad commit after some pairs.
#[derive(Clone, Debug, PartialEq)]
pub struct Posterior {
    /// Probability of each commit to be the first that differs; 0 for commit 0.
    pub first: Vec<f64>,
    /// The expected change in Elo.
    pub change: f64,
}

/// Commits that cannot be distinguished, one of which changed the strength.
#[derive(Clone, Debug, PartialEq)]
pub struct Suspects {
    /// Indices of the commits between the last playable one before the change and the first one
    /// after it.
    pub commits: RangeInclusive<usize>,
    /// Probability that the change is among them, `0.0..=1.0`.
    pub probability: f64,
}

impl Posterior {
    /// The posterior of `pairs`, by commit, against commit 0 from the commit's view (those of
    /// commit 0 itself are ignored). `None` for fewer than two commits.
    #[must_use]
    pub fn new(pairs: &[Pentanomial]) -> Option<Self> {
        Self::among(pairs, &vec![true; pairs.len()])
    }

    /// The posterior of `pairs` if only some commits can be the first that differs, such as those
    /// that build another program than the one before. `None` if there is no such commit.
    #[must_use]
    pub fn among(pairs: &[Pentanomial], is_possible: &[bool]) -> Option<Self> {
        let commits = pairs.len();
        let can_be_first = |commit: usize| is_possible.get(commit).copied().unwrap_or(false);
        if !(1..commits).any(can_be_first) {
            return None;
        }
        let mut pooled = Pentanomial::default();
        pairs[1..].iter().for_each(|played| pooled += *played);
        let shape = Law::of_counts(&pooled).unwrap_or(Law::TYPICAL);
        let even = shape.leaned(0.0, Model::Logistic);
        let step = (MOST / LEAST).powf(1.0 / (SIZES - 1) as f64);
        let changes = (0..SIZES).flat_map(|size| [-1.0, 1.0].map(|sign| sign * LEAST * step.powi(size as i32)));
        // Logarithms, a row for each change.
        let mut rows: Vec<(f64, Vec<f64>)> = Vec::new();
        for change in changes {
            let law = shape.leaned(change, Model::Logistic);
            let ratios: Vec<f64> =
                law.shares().iter().zip(even.shares()).map(|(bad, good)| (bad / good).ln()).collect();
            let mut row = vec![f64::NEG_INFINITY; commits];
            let mut sum = 0.0;
            for commit in (1..commits).rev() {
                sum += pairs[commit].0.iter().zip(&ratios).map(|(count, ratio)| *count as f64 * ratio).sum::<f64>();
                if can_be_first(commit) {
                    row[commit] = sum;
                }
            }
            rows.push((change, row));
        }
        let most = rows.iter().flat_map(|(_, row)| row).copied().fold(f64::NEG_INFINITY, f64::max);
        let mut first = vec![0.0; commits];
        let (mut total, mut mean) = (0.0, 0.0);
        for (change, row) in &rows {
            for (into, log) in first.iter_mut().zip(row) {
                let weight = (log - most).exp();
                *into += weight;
                total += weight;
                mean += weight * change;
            }
        }
        first.iter_mut().for_each(|weight| *weight /= total);
        Some(Self { first, change: mean / total })
    }

    /// The playable commits with the probability that the change came with them or before. Both
    /// ends are among them.
    fn parted(&self, is_playable: &[bool]) -> Vec<(usize, f64)> {
        let last = self.first.len() - 1;
        let mut below = 0.0;
        let mut parts = Vec::new();
        for (commit, probability) in self.first.iter().enumerate() {
            below += probability;
            if commit == 0 || commit == last || is_playable.get(commit).copied().unwrap_or(false) {
                parts.push((commit, below));
            }
        }
        parts
    }

    /// The commit to play next: of the playable ones between the ends, the one that divides the
    /// posterior most evenly, and among equals the least played one. `None` if there is none.
    #[must_use]
    pub fn next(&self, is_playable: &[bool], pairs: &[Pentanomial]) -> Option<usize> {
        let parts = self.parted(is_playable);
        let inner = parts.get(1..parts.len().saturating_sub(1))?;
        let played = |commit: usize| pairs.get(commit).map_or(0, Pentanomial::pairs);
        let off = |below: f64| (below - 0.5).abs();
        inner
            .iter()
            .min_by(|(a, below), (b, other)| off(*below).total_cmp(&off(*other)).then(played(*a).cmp(&played(*b))))
            .map(|(commit, _)| *commit)
    }

    /// The most likely place of the change.
    #[must_use]
    pub fn suspects(&self, is_playable: &[bool]) -> Suspects {
        let parts = self.parted(is_playable);
        let between = parts.windows(2).map(|two| Suspects {
            commits: two[0].0 + 1..=two[1].0,
            probability: (two[1].1 - two[0].1).clamp(0.0, 1.0),
        });
        between
            .max_by(|a, b| a.probability.total_cmp(&b.probability))
            .unwrap_or(Suspects { commits: 0..=0, probability: 0.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;

    /// Searches for a change of `elo` that came with commit `first`; returns the suspects, their
    /// probability and the pairs played.
    fn search(commits: usize, first: usize, elo: f64, broken: &[usize], random: &mut SplitMix64) -> (Suspects, u64) {
        let laws = [0.0, elo].map(|elo| Law::TYPICAL.leaned(elo, Model::Logistic));
        let is_playable: Vec<bool> = (0..commits).map(|commit| !broken.contains(&commit)).collect();
        let mut pairs = vec![Pentanomial::default(); commits];
        (0..100).for_each(|_| laws[1].draw(&mut pairs[commits - 1], random));
        loop {
            let posterior = Posterior::new(&pairs).unwrap();
            let suspects = posterior.suspects(&is_playable);
            let spent = pairs.iter().map(Pentanomial::pairs).sum();
            if suspects.probability >= 0.95 || spent > 20_000 {
                return (suspects, spent);
            }
            let next = posterior.next(&is_playable, &pairs).unwrap();
            assert!(is_playable[next] && next > 0 && next < commits - 1);
            let law = &laws[usize::from(next >= first)];
            (0..20).for_each(|_| law.draw(&mut pairs[next], random));
        }
    }

    #[test]
    fn the_commit_is_found_as_often_as_is_said() {
        let mut random = SplitMix64::new(3);
        for elo in [-60.0, 60.0] {
            let (mut right, mut spent) = (0, 0);
            for run in 0..60 {
                let first = 1 + run % 31;
                let (suspects, pairs) = search(32, first, elo, &[], &mut random);
                right += u32::from(suspects.commits == (first..=first));
                spent += pairs;
            }
            // 95 % of 60 is 57; 51 is beyond 3 standard deviations.
            assert!(right >= 51, "{elo}: {right} of 60");
            assert!(spent / 60 < 3000, "{} pairs", spent / 60);
        }
    }

    #[test]
    fn commits_that_cannot_be_played_are_found_together() {
        let mut random = SplitMix64::new(5);
        let mut right = 0;
        for _ in 0..20 {
            let (suspects, _) = search(12, 6, -100.0, &[4, 5, 6], &mut random);
            right += u32::from(suspects.commits == (4..=7));
        }
        assert!(right >= 17, "{right} of 20");
    }

    /// The change is only where it can be, and the next commit parts what is left.
    #[test]
    fn commits_that_are_ruled_out_have_no_probability() {
        let mut pairs = vec![Pentanomial::default(); 8];
        pairs[7] = Pentanomial([30, 20, 10, 0, 0]);
        let is_possible = [true, false, false, true, true, true, true, false];
        let posterior = Posterior::among(&pairs, &is_possible).unwrap();
        let expected = [0.0, 0.0, 0.0, 0.25, 0.25, 0.25, 0.25, 0.0];
        assert!(posterior.first.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-12));
        assert!(posterior.change < -100.0);
        assert_eq!(posterior.next(&[true; 8], &pairs), Some(4));
        let only = Posterior::among(&pairs, &[true, false, false, false, true, false, false, false]).unwrap();
        assert_eq!(only.suspects(&[true; 8]), Suspects { commits: 4..=4, probability: 1.0 });
        assert_eq!(Posterior::among(&pairs, &[true, false, false, false, false, false, false, false]), None);
    }

    #[test]
    fn without_pairs_every_commit_is_as_likely() {
        let posterior = Posterior::new(&[Pentanomial::default(); 5]).unwrap();
        for probability in &posterior.first[1..] {
            assert!((probability - 0.25).abs() < 1e-12);
        }
        assert_eq!((posterior.first[0], posterior.next(&[true; 5], &[])), (0.0, Some(2)));
        assert!(posterior.change.abs() < 1e-9);
        assert_eq!(posterior.next(&[false; 5], &[]), None);
        assert_eq!(posterior.suspects(&[false; 5]).commits, 1..=4);
        assert_eq!(Posterior::new(&[Pentanomial::default()]), None);
        // With two commits the answer is known.
        assert!((Posterior::new(&[Pentanomial::default(); 2]).unwrap().first[1] - 1.0).abs() < 1e-12);
    }
}
