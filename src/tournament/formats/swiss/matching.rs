//! Existence of a perfect matching, by the rank of a random Tutte matrix (L. Lovász, "On
//! determinants, matchings, and random algorithms", Fundamentals of Computation Theory, 1979).

use crate::stats::random::SplitMix64;

/// Modulus of the matrix, a Mersenne prime.
const PRIME: u64 = (1 << 61) - 1;

/// Returns true if all of `count` vertices can be paired along edges. A matching that exists is
/// missed with a probability of at most `count` / 2^61; the matrix is the same each time.
pub(super) fn is_perfect(count: usize, is_edge: impl Fn(usize, usize) -> bool) -> bool {
    let mut random = SplitMix64::new(count as u64);
    let mut matrix = vec![vec![0; count]; count];
    for (one, other) in (0..count).flat_map(|one| (one + 1..count).map(move |other| (one, other))) {
        let value = 1 + random.next_u64() % (PRIME - 1);
        if is_edge(one, other) {
            matrix[one][other] = value;
            matrix[other][one] = PRIME - value;
        }
    }
    is_regular(matrix)
}

/// Returns true if the determinant is not zero, by Gaussian elimination.
fn is_regular(mut matrix: Vec<Vec<u64>>) -> bool {
    for column in 0..matrix.len() {
        let Some(pivot) = (column..matrix.len()).find(|row| matrix[*row][column] != 0) else { return false };
        matrix.swap(column, pivot);
        let (above, below) = matrix.split_at_mut(column + 1);
        let top = &above[column];
        let inverse = power(top[column], PRIME - 2);
        for row in below.iter_mut().filter(|row| row[column] != 0) {
            let factor = product(row[column], inverse);
            for (value, over) in row.iter_mut().zip(top).skip(column) {
                *value = (*value + PRIME - product(factor, *over)) % PRIME;
            }
        }
    }
    true
}

fn product(one: u64, other: u64) -> u64 {
    (u128::from(one) * u128::from(other) % u128::from(PRIME)) as u64
}

fn power(mut base: u64, mut exponent: u64) -> u64 {
    let mut result = 1;
    while exponent > 0 {
        if exponent % 2 == 1 {
            result = product(result, base);
        }
        base = product(base, base);
        exponent /= 2;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exists(edges: &[(usize, usize)], left: &[usize]) -> bool {
        let Some((&first, others)) = left.split_first() else { return true };
        others.iter().any(|&other| {
            let rest: Vec<usize> = others.iter().copied().filter(|vertex| *vertex != other).collect();
            edges.contains(&(first, other)) && exists(edges, &rest)
        })
    }

    #[test]
    fn a_matching_is_found_if_there_is_one() {
        let mut random = SplitMix64::new(7);
        let (mut with, mut without) = (0, 0);
        for round in 0..400 {
            let count = 2 * (1 + round % 5);
            let density = 1 + random.below(4);
            let mut edges = Vec::new();
            for one in 0..count {
                for other in one + 1..count {
                    if random.below(6) < density {
                        edges.push((one, other));
                    }
                }
            }
            let expected = exists(&edges, &(0..count).collect::<Vec<_>>());
            assert_eq!(is_perfect(count, |one, other| edges.contains(&(one, other))), expected, "{count} {edges:?}");
            if expected { with += 1 } else { without += 1 }
        }
        assert!(with > 100 && without > 100, "{with} {without}");
        assert!(is_perfect(0, |_, _| false) && !is_perfect(3, |_, _| true));
    }
}
