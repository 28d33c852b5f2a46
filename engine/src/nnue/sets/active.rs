//! Set of active features.

/// Bits per word.
const WORD: usize = u64::BITS as usize;

/// Active features of one side's view, as bits. A feature that is set twice is on once.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ActiveFeatures(Vec<u64>);

impl ActiveFeatures {
    /// Creates an empty set for features below `size`.
    pub fn new(size: usize) -> ActiveFeatures {
        ActiveFeatures(vec![0; size.div_ceil(WORD)])
    }

    /// Removes all features.
    #[inline]
    pub fn clear(&mut self) {
        self.0.fill(0);
    }

    /// Adds a feature. One that is out of range is ignored.
    #[inline]
    pub fn insert(&mut self, feature: usize) {
        if let Some(word) = self.0.get_mut(feature / WORD) {
            *word |= 1 << (feature % WORD);
        }
    }

    /// Adds the feature `first + i` for each bit `i` of `bits`.
    #[inline]
    pub fn insert_bits(&mut self, first: usize, bits: u64) {
        let shift = first % WORD;
        if let Some(word) = self.0.get_mut(first / WORD) {
            *word |= bits << shift;
        }
        // A shift by all bits of a word is not defined, so the upper part is shifted in two steps.
        let upper = bits >> 1 >> (WORD - 1 - shift);
        if upper != 0
            && let Some(word) = self.0.get_mut(first / WORD + 1)
        {
            *word |= upper;
        }
    }

    /// Returns whether a feature is on.
    pub fn has(&self, feature: usize) -> bool {
        self.0.get(feature / WORD).is_some_and(|word| word >> (feature % WORD) & 1 != 0)
    }

    /// Returns the number of features that are on.
    pub fn count(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Returns the bits, 64 features a word.
    #[inline]
    pub fn words(&self) -> &[u64] {
        &self.0
    }

    /// Calls `visit` with each feature that is on, in ascending order.
    #[inline]
    pub fn for_each(&self, mut visit: impl FnMut(u16)) {
        for (place, &word) in self.0.iter().enumerate() {
            each_bit(place, word, &mut visit);
        }
    }

    /// Calls `visit` with each feature that is on in exactly one of two sets, in ascending order,
    /// and with true if it is on in this one.
    #[inline]
    pub fn for_each_difference(&self, other: &ActiveFeatures, mut visit: impl FnMut(u16, bool)) {
        for (place, (&here, &there)) in self.0.iter().zip(&other.0).enumerate() {
            let changed = here ^ there;
            if changed != 0 {
                each_bit(place, changed & here, &mut |feature| visit(feature, true));
                each_bit(place, changed & there, &mut |feature| visit(feature, false));
            }
        }
    }
}

/// Calls `visit` with the number of each bit of the word at `place`.
#[inline]
fn each_bit(place: usize, mut word: u64, visit: &mut impl FnMut(u16)) {
    while word != 0 {
        visit((place * WORD) as u16 + word.trailing_zeros() as u16);
        word &= word - 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(set: &ActiveFeatures) -> Vec<u16> {
        let mut list = Vec::new();
        set.for_each(|feature| list.push(feature));
        list
    }

    #[test]
    fn bits_are_put_across_words() {
        for first in [0, 1, 63, 64, 65, 127] {
            let mut set = ActiveFeatures::new(256);
            set.insert_bits(first, 1 | 1 << 17 | 1 << 63);
            set.insert_bits(first, 1 << 17);
            let first = first as u16;
            assert_eq!(list(&set), [first, first + 17, first + 63]);
            assert_eq!(set.count(), 3);
            assert!(set.has(usize::from(first)) && !set.has(usize::from(first) + 1));
        }
    }

    #[test]
    fn bits_past_the_end_are_ignored() {
        let mut set = ActiveFeatures::new(65);
        set.insert(1000);
        set.insert_bits(127, 0b11);
        set.insert_bits(640, u64::MAX);
        assert_eq!(list(&set), [127]);
    }

    #[test]
    fn a_difference_has_both_directions() {
        let (mut old, mut new) = (ActiveFeatures::new(200), ActiveFeatures::new(200));
        [3, 70, 199].into_iter().for_each(|feature| old.insert(feature));
        [3, 71, 5].into_iter().for_each(|feature| new.insert(feature));
        let mut changes = Vec::new();
        new.for_each_difference(&old, |feature, on| changes.push((feature, on)));
        assert_eq!(changes, [(5, true), (71, true), (70, false), (199, false)]);
    }

    #[test]
    fn the_last_index_fits_sixteen_bits() {
        let mut set = ActiveFeatures::new(1 << 16);
        set.insert(65_535);
        assert_eq!(list(&set), [65_535]);
    }
}
