//! Symmetric positive definite matrices, with the operations that ratings and effects need.
//!
//! Indices count from 0. An index beyond the size panics, as in a slice: sizes are the caller's
//! own.

/// A symmetric matrix, stored in full by rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Symmetric {
    size: usize,
    entries: Vec<f64>,
}

impl Symmetric {
    /// Matrix of `size` rows, all entries 0.
    #[must_use]
    pub fn zero(size: usize) -> Self {
        Self { size, entries: vec![0.0; size * size] }
    }

    /// Number of rows, which is that of columns.
    #[must_use]
    pub const fn size(&self) -> usize {
        self.size
    }

    /// Entry of row `i` and column `j`.
    #[must_use]
    pub fn get(&self, i: usize, j: usize) -> f64 {
        self.entries[i * self.size + j]
    }

    /// Adds to an entry and to its mirror image.
    pub fn add(&mut self, i: usize, j: usize, value: f64) {
        self.entries[i * self.size + j] += value;
        if i != j {
            self.entries[j * self.size + i] += value;
        }
    }

    /// Entries of row `i`.
    #[must_use]
    pub fn row(&self, i: usize) -> &[f64] {
        &self.entries[i * self.size..(i + 1) * self.size]
    }

    fn row_mut(&mut self, i: usize) -> &mut [f64] {
        &mut self.entries[i * self.size..(i + 1) * self.size]
    }

    /// This times `other`, which must be such that the product is symmetric (as in `G M G`); by
    /// rows.
    #[must_use]
    pub fn times(&self, other: &[Vec<f64>]) -> Self {
        let mut product = Self::zero(self.size);
        for i in 0..self.size {
            let factors = self.row(i).to_vec();
            let into = product.row_mut(i);
            for (factor, row) in factors.iter().zip(other) {
                into.iter_mut().zip(row).for_each(|(sum, value)| *sum += factor * value);
            }
        }
        product
    }

    /// Cholesky's lower triangular factor.
    ///
    /// # Errors
    /// Returns the index of the first pivot that is not above `least` times its diagonal entry: the
    /// matrix is singular up to rounding.
    pub fn factor(&self, least: f64) -> Result<Factor, usize> {
        let mut lower = self.clone();
        for i in 0..self.size {
            let (above, from) = lower.entries.split_at_mut(i * self.size);
            let row = &mut from[..self.size];
            for j in 0..i {
                let pivot_row = &above[j * self.size..(j + 1) * self.size];
                row[j] = (row[j] - dot(&row[..j], &pivot_row[..j])) / pivot_row[j];
            }
            let diagonal = row[i];
            let pivot = diagonal - dot(&row[..i], &row[..i]);
            // Also false for NaN.
            if !(pivot > least * diagonal && pivot.is_finite()) {
                return Err(i);
            }
            row[i] = pivot.sqrt();
        }
        Ok(Factor(lower))
    }
}

/// Cholesky's factor of a matrix; its upper triangle is not used.
#[derive(Debug)]
pub struct Factor(Symmetric);

impl Factor {
    /// The last diagonal entry after elimination of all other unknowns; 1 for an empty matrix.
    #[must_use]
    pub fn last_pivot(&self) -> f64 {
        self.0.size.checked_sub(1).map_or(1.0, |last| self.0.get(last, last).powi(2))
    }

    /// Solves `matrix * x = right`.
    #[must_use]
    pub fn solve(&self, right: &[f64]) -> Vec<f64> {
        let lower = &self.0;
        let mut x = right.to_vec();
        for i in 0..lower.size {
            x[i] = (x[i] - dot(&lower.row(i)[..i], &x[..i])) / lower.get(i, i);
        }
        for i in (0..lower.size).rev() {
            x[i] /= lower.get(i, i);
            let (before, value) = (&lower.row(i)[..i], x[i]);
            x[..i].iter_mut().zip(before).for_each(|(x, factor)| *x -= factor * value);
        }
        x
    }

    /// The inverse of the matrix.
    #[must_use]
    pub fn inverse(&self) -> Symmetric {
        let (lower, size) = (&self.0, self.0.size);
        // First the inverse of the factor, row by row.
        let mut rows = Symmetric::zero(size);
        for i in 0..size {
            let (done, from) = rows.entries.split_at_mut(i * size);
            let row = &mut from[..=i];
            for (k, factor) in lower.row(i)[..i].iter().enumerate() {
                let earlier = &done[k * size..=k * size + k];
                row.iter_mut().zip(earlier).for_each(|(sum, value)| *sum -= factor * value);
            }
            row[i] = 1.0;
            row.iter_mut().for_each(|value| *value /= lower.get(i, i));
        }
        // Then its transpose times itself, of which the lower triangle is mirrored.
        let mut inverse = Symmetric::zero(size);
        for k in 0..size {
            let row = rows.row(k)[..=k].to_vec();
            for i in 0..=k {
                let into = &mut inverse.row_mut(i)[..=i];
                into.iter_mut().zip(&row).for_each(|(sum, value)| *sum += row[i] * value);
            }
        }
        for i in 0..size {
            for j in 0..i {
                inverse.entries[j * size + i] = inverse.entries[i * size + j];
            }
        }
        inverse
    }
}

/// Dot product in eight sums, which the compiler can vectorise.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    const LANES: usize = 8;
    let mut sums = [0.0; LANES];
    let (a_chunks, b_chunks) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest: f64 = a_chunks.remainder().iter().zip(b_chunks.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a_chunks.zip(b_chunks) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A fixed positive definite matrix: inverse distances, with a heavier diagonal.
    fn matrix(size: usize) -> Symmetric {
        let mut matrix = Symmetric::zero(size);
        for i in 0..size {
            matrix.add(i, i, 3.0 + i as f64);
            for j in 0..i {
                matrix.add(i, j, 1.0 / (1.0 + (i - j) as f64));
            }
        }
        matrix
    }

    #[test]
    fn what_is_solved_and_inverted_multiplies_back() {
        for size in [0, 1, 2, 7, 8, 9, 40] {
            let matrix = matrix(size);
            let factor = matrix.factor(1e-12).expect("positive definite");
            let wanted: Vec<f64> = (0..size).map(|i| i as f64 - 2.5).collect();
            let right: Vec<f64> = (0..size).map(|i| dot(matrix.row(i), &wanted)).collect();
            for (found, wanted) in factor.solve(&right).iter().zip(&wanted) {
                assert!((found - wanted).abs() < 1e-12, "{found} for {wanted} of {size}");
            }
            let rows: Vec<Vec<f64>> = (0..size).map(|i| matrix.row(i).to_vec()).collect();
            let one = factor.inverse().times(&rows);
            for i in 0..size {
                for j in 0..size {
                    let wanted = if i == j { 1.0 } else { 0.0 };
                    assert!((one.get(i, j) - wanted).abs() < 1e-12, "({i}, {j}) of {size}: {}", one.get(i, j));
                }
            }
        }
    }

    #[test]
    fn the_pivot_that_fails_is_named() {
        let mut singular = Symmetric::zero(3);
        // The third row is the sum of the others.
        for (i, j, value) in [(0, 0, 2.0), (1, 0, 1.0), (1, 1, 3.0), (2, 0, 3.0), (2, 1, 4.0), (2, 2, 7.0)] {
            singular.add(i, j, value);
        }
        assert_eq!(singular.factor(1e-9).err(), Some(2));
        assert_eq!(Symmetric::zero(1).factor(0.0).err(), Some(0));
    }
}
