//! Bounded scores with "history gravity", from which histories and correction histories are built.

/// Score within `-LIMIT..=LIMIT`, initially 0. `LIMIT` must fit an `i16`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Gravity<const LIMIT: i32>(i16);

impl<const LIMIT: i32> Gravity<LIMIT> {
    #[inline]
    pub fn get(self) -> i32 {
        i32::from(self.0)
    }

    /// Moves the score by `bonus`, scaled down as the score nears that end ("history gravity"). A
    /// score that is always rewarded tends to `LIMIT`, and new results outweigh old ones.
    #[inline]
    pub fn learn(&mut self, bonus: i32) {
        const { assert!(0 < LIMIT && LIMIT <= i16::MAX as i32) };
        let bonus = bonus.clamp(-LIMIT, LIMIT);
        let old = self.get();
        // Both terms are within the limit, and so is their sum.
        self.0 = (old + bonus - old * bonus.abs() / LIMIT) as i16;
    }
}

#[cfg(test)]
mod tests {
    use super::Gravity;

    fn check<const LIMIT: i32>() {
        for bonus in [1, 100, 2000, LIMIT, 10 * LIMIT] {
            let mut value = Gravity::<LIMIT>::default();
            for _ in 0..100_000 {
                let old = value;
                value.learn(bonus);
                assert!(old.get() <= value.get() && value.get() <= LIMIT, "{bonus}: {value:?} after {old:?}");
            }
            let high = value.get();
            assert!(high > LIMIT / 2 || bonus == 1, "{bonus}: {high}");
            value.learn(-bonus);
            assert!(value.get() < high, "{bonus}");
        }
    }

    #[test]
    fn values_tend_to_the_limit_and_turn_quickly() {
        check::<1024>();
        check::<{ 1 << 14 }>();
    }
}
