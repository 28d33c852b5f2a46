//! Transposition table (TT): results of earlier visits to positions.
//!
//! A bucket fills one cache line. An entry is two atomic words, and the key is stored XORed with
//! the data. If two threads write at once, the mixed entry matches no position instead of a wrong
//! one ("A lock-less transposition table implementation for parallel search", R. Hyatt and T. Mann,
//! ICGA Journal 25(1), 2002).

use crate::memory::{Buckets, MemoryError, ReservedBuckets, Zeroable, prefetch};
use crate::types::{DRAW, Move, Score, TABLE_WIN_IN_MAX};
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// Entries per bucket.
const WAYS: usize = 4;
/// Number of searches after which ages wrap around.
const GENERATIONS: u8 = 32;
/// Plies of depth that one search of age costs an entry at replacement.
const DEPTH_PER_AGE: i32 = 4;
/// Offset of stored depths, which keeps used entries from being all zero.
const DEPTH_OFFSET: i32 = 8;
/// Depth of a position that was not searched, below that of quiescence search.
const UNSEARCHED: i32 = -2;

/// Relation of a stored score to the true score.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Bound {
    /// No score: only the move and the evaluation are valid.
    None = 0,
    /// Upper bound: the true score is at most this (fail low).
    Upper = 1,
    /// Lower bound: the true score is at least this (fail high).
    Lower = 2,
    /// Exact score.
    Exact = 3,
}

impl Bound {
    const fn from_bits(bits: u8) -> Bound {
        match bits & 3 {
            0 => Bound::None,
            1 => Bound::Upper,
            2 => Bound::Lower,
            _ => Bound::Exact,
        }
    }

    /// Returns whether a score with this bound proves that the true score is at least `beta`, or at
    /// most `beta - 1`.
    #[inline]
    pub const fn settles(self, score: Score, beta: Score) -> bool {
        if score >= beta { self as u8 & 2 != 0 } else { self as u8 & 1 != 0 }
    }
}

/// Stored result of one position, of a search or of the evaluation alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// Best move, or [`Move::NULL`]. Not checked for legality.
    pub mv: Move,
    /// Score from the side to move's view; mates are counted from this position.
    pub score: Score,
    /// Raw static evaluation, or [`NO_EVAL`] in check.
    pub eval: Score,
    /// Remaining depth of the search that found it, in plies; below 0 for an evaluation.
    pub depth: i32,
    /// Relation of `score` to the true score.
    pub bound: Bound,
    /// Set if the search that stored this, or one before it, had the position in its principal
    /// variation.
    pub pv: bool,
}

/// Marker of a missing static evaluation.
pub const NO_EVAL: Score = i16::MIN as Score;

impl Entry {
    /// Creates the entry of a position of which only the evaluation is known.
    const fn evaluated(eval: Score) -> Entry {
        Entry { mv: Move::NULL, score: DRAW, eval, depth: UNSEARCHED, bound: Bound::None, pv: false }
    }

    /// Packs the move into bits 0-15, score 16-31, evaluation 32-47, depth 48-55, bound 56-57, pv
    /// 58, generation 59-63.
    const fn pack(self, generation: u8) -> u64 {
        self.mv.raw() as u64
            | (self.score as i16 as u16 as u64) << 16
            | (self.eval as i16 as u16 as u64) << 32
            | ((self.depth + DEPTH_OFFSET) as u8 as u64) << 48
            | (self.bound as u64) << 56
            | (self.pv as u64) << 58
            | (generation as u64) << 59
    }

    const fn unpack(data: u64) -> Entry {
        Entry {
            mv: Move::from_raw(data as u16),
            score: (data >> 16) as i16 as Score,
            eval: (data >> 32) as i16 as Score,
            depth: (data >> 48) as u8 as i32 - DEPTH_OFFSET,
            bound: Bound::from_bits((data >> 56) as u8),
            pv: data >> 58 & 1 == 1,
        }
    }
}

/// Returns the generation of a packed entry.
const fn generation_of(data: u64) -> u8 {
    (data >> 59) as u8
}

#[derive(Default)]
struct Slot {
    /// Key XOR data.
    check: AtomicU64,
    data: AtomicU64,
}

impl Slot {
    #[inline]
    fn load(&self) -> (u64, u64) {
        let data = self.data.load(Ordering::Relaxed);
        (self.check.load(Ordering::Relaxed) ^ data, data)
    }

    #[inline]
    fn store(&self, key: u64, data: u64) {
        self.check.store(key ^ data, Ordering::Relaxed);
        self.data.store(data, Ordering::Relaxed);
    }

    fn clear(&self) {
        self.check.store(0, Ordering::Relaxed);
        self.data.store(0, Ordering::Relaxed);
    }
}

#[derive(Default)]
#[repr(align(64))]
struct Bucket([Slot; WAYS]);

#[expect(unsafe_code, reason = "a promise about all bytes zero, which is how tables begin")]
// SAFETY: four slots of two atomic words are 64 bytes, and all bytes zero is an empty bucket.
unsafe impl Zeroable for Bucket {}

/// Table of a fixed number of buckets, shared by all search threads.
pub struct TranspositionTable {
    buckets: Buckets<Bucket>,
    generation: AtomicU8,
}

/// Memory reserved for a table, not touched yet.
pub struct ReservedTable(ReservedBuckets<Bucket>);

impl TranspositionTable {
    /// Allocates an empty table.
    ///
    /// # Errors
    /// Returns an error if the memory cannot be allocated.
    pub fn new(mib: usize) -> Result<TranspositionTable, MemoryError> {
        TranspositionTable::reserve(mib, 0).map(|reserved| reserved.build(1))
    }

    /// Reserves memory for a table; `reclaimed` bytes are freed before it is built.
    ///
    /// # Errors
    /// Returns an error if the memory cannot be allocated.
    pub fn reserve(mib: usize, reclaimed: usize) -> Result<ReservedTable, MemoryError> {
        let len = mib.saturating_mul(1 << 20) / size_of::<Bucket>();
        Buckets::reserve(len, reclaimed).map(ReservedTable)
    }

    /// Creates a table without buckets that must not be probed, as a placeholder for a freed table.
    pub fn none() -> TranspositionTable {
        TranspositionTable { buckets: Buckets::none(), generation: AtomicU8::new(0) }
    }

    /// Returns the size in bytes.
    pub fn bytes(&self) -> usize {
        self.buckets.bytes()
    }

    /// Clears all entries with the given number of threads.
    pub fn clear(&self, threads: usize) {
        self.buckets.for_each(threads, |bucket| bucket.0.iter().for_each(Slot::clear));
        self.generation.store(0, Ordering::Relaxed);
    }

    /// Starts a new generation; entries of older ones are replaced first.
    pub fn age(&self) {
        let next = (self.generation() + 1) % GENERATIONS;
        self.generation.store(next, Ordering::Relaxed);
    }

    fn generation(&self) -> u8 {
        self.generation.load(Ordering::Relaxed)
    }

    #[inline]
    fn bucket(&self, key: u64) -> &[Slot; WAYS] {
        let index = (u128::from(key) * self.buckets.len() as u128) >> 64;
        &self.buckets.get(index as usize).0
    }

    /// Prefetches the bucket of a position.
    #[inline]
    pub fn prefetch(&self, key: u64) {
        prefetch(self.bucket(key));
    }

    /// Returns the entry of a position `ply` plies below the root.
    #[inline]
    pub fn probe(&self, key: u64, ply: usize) -> Option<Entry> {
        self.bucket(key).iter().map(Slot::load).find(|&(found, data)| found == key && data != 0).map(|(_, data)| {
            let entry = Entry::unpack(data);
            Entry { score: score_from_tt(entry.score, ply), ..entry }
        })
    }

    /// Stores the result of a search.
    ///
    /// An entry for the same position from this search is kept if it is deeper by at least
    /// `DEPTH_PER_AGE` plies, unless the new result is exact. A missing move does not erase a
    /// stored one.
    pub fn store(&self, key: u64, ply: usize, entry: Entry) {
        let generation = self.generation();
        let mut victim: Option<(&Slot, i32)> = None;
        let mut entry = Entry { score: score_to_tt(entry.score, ply), ..entry };
        for slot in self.bucket(key) {
            let (found, data) = slot.load();
            if found == key && data != 0 {
                let old = Entry::unpack(data);
                let fresh = generation_of(data) == generation;
                if entry.bound != Bound::Exact && fresh && entry.depth + DEPTH_PER_AGE <= old.depth {
                    return;
                }
                if entry.mv.is_null() {
                    entry.mv = old.mv;
                }
                slot.store(key, entry.pack(generation));
                return;
            }
            let worth = worth(data, generation);
            if victim.is_none_or(|(_, least)| worth < least) {
                victim = Some((slot, worth));
            }
        }
        if let Some((slot, _)) = victim {
            slot.store(key, entry.pack(generation));
        }
    }

    /// Stores the evaluation of a position that is not in the table, unless it would replace a
    /// result of this search.
    #[inline]
    pub fn store_eval(&self, key: u64, eval: Score) {
        let generation = self.generation();
        let slots = self.bucket(key).each_ref().map(|slot| (slot, slot.load()));
        if slots.iter().any(|&(_, (found, data))| found == key && data != 0) {
            return;
        }
        let is_result = |data| generation_of(data) == generation && Entry::unpack(data).bound != Bound::None;
        let others = slots.into_iter().filter(|&(_, (_, data))| !is_result(data));
        if let Some((slot, _)) = others.min_by_key(|&(_, (_, data))| worth(data, generation)) {
            slot.store(key, Entry::evaluated(eval).pack(generation));
        }
    }

    /// Returns the share of entries from the current search, in permille of a sample.
    pub fn hashfull(&self) -> usize {
        let generation = self.generation();
        let sample = self.buckets.len().min(250);
        let used = (0..sample)
            .flat_map(|index| &self.buckets.get(index).0)
            .map(|slot| slot.data.load(Ordering::Relaxed))
            .filter(|&data| data != 0 && generation_of(data) == generation)
            .count();
        used * 1000 / (sample * WAYS).max(1)
    }
}

impl ReservedTable {
    /// Builds the table with the given number of threads.
    pub fn build(self, threads: usize) -> TranspositionTable {
        TranspositionTable { buckets: self.0.zero(threads), generation: AtomicU8::new(0) }
    }
}

/// Returns the value of keeping an entry: its depth less its age.
#[inline]
fn worth(data: u64, generation: u8) -> i32 {
    if data == 0 {
        return i32::MIN;
    }
    let age = (GENERATIONS + generation - generation_of(data)) % GENERATIONS;
    Entry::unpack(data).depth - DEPTH_PER_AGE * i32::from(age)
}

/// Converts a mate or tablebase score from plies below the root to plies below the position.
#[inline]
fn score_to_tt(score: Score, ply: usize) -> Score {
    match score {
        TABLE_WIN_IN_MAX.. => score + ply as Score,
        _ if score <= -TABLE_WIN_IN_MAX => score - ply as Score,
        _ => score,
    }
}

/// Reverses [`score_to_tt`] for a position that may be at another ply.
#[inline]
fn score_from_tt(score: Score, ply: usize) -> Score {
    match score {
        TABLE_WIN_IN_MAX.. => score - ply as Score,
        _ if score <= -TABLE_WIN_IN_MAX => score + ply as Score,
        _ => score,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::TABLE_WIN;
    use crate::types::{Flag, Square, mate_in, mated_in};
    use std::thread;

    fn table(mib: usize) -> TranspositionTable {
        TranspositionTable::new(mib).expect("a small table")
    }

    fn entry(score: Score, depth: i32, bound: Bound) -> Entry {
        Entry { mv: Move::new(Square::A1, Square::H8, Flag::Capture), score, eval: -37, depth, bound, pv: true }
    }

    #[test]
    fn an_entry_is_two_words_and_a_bucket_one_cache_line() {
        assert_eq!(size_of::<Slot>(), 16);
        assert_eq!((size_of::<Bucket>(), align_of::<Bucket>()), (64, 64));
        assert_eq!(table(2).buckets.len() * 64, 2 << 20);
    }

    #[test]
    fn evaluations_take_no_place_of_results() {
        let table = table(1);
        // Keys of one bucket.
        let keys = [1, 2, 3, 4, 5];
        table.store_eval(keys[0], 31);
        let known = table.probe(keys[0], 0);
        assert_eq!(known.map(|entry| (entry.eval, entry.bound, entry.mv)), Some((31, Bound::None, Move::NULL)));
        for &key in &keys[..4] {
            table.store(key, 0, entry(7, 0, Bound::Lower));
        }
        for key in keys {
            table.store_eval(key, 31);
        }
        let is_result = |key: &u64| table.probe(*key, 0).is_some_and(|entry| entry.score == 7);
        assert!(keys[..4].iter().all(is_result) && table.probe(keys[4], 0).is_none());
        // Results of earlier searches make room.
        table.age();
        table.store_eval(keys[4], 31);
        assert_eq!(table.probe(keys[4], 0).map(|entry| entry.eval), Some(31));
        assert_eq!(keys[..4].iter().filter(|key| is_result(key)).count(), 3);
    }

    #[test]
    fn what_is_stored_comes_back() {
        for score in [0, 1, -1, 2500, -2500, TABLE_WIN_IN_MAX - 1, 1 - TABLE_WIN_IN_MAX] {
            for depth in [-2, 0, 1, 127] {
                for bound in [Bound::None, Bound::Upper, Bound::Lower, Bound::Exact] {
                    for eval in [0, -3000, NO_EVAL] {
                        let table = table(1);
                        let stored = Entry { eval, ..entry(score, depth, bound) };
                        table.store(0x1234_5678_9ABC_DEF0, 5, stored);
                        assert_eq!(table.probe(0x1234_5678_9ABC_DEF0, 3), Some(stored));
                        assert_eq!(table.probe(0x1234_5678_9ABC_DEF1, 3), None);
                    }
                }
            }
        }
    }

    #[test]
    fn mates_and_known_wins_are_counted_from_the_position() {
        let table = table(1);
        table.store(1, 10, entry(mate_in(13), 4, Bound::Exact));
        assert_eq!(table.probe(1, 2).map(|entry| entry.score), Some(mate_in(5)));
        table.store(1, 10, entry(mated_in(14), 4, Bound::Exact));
        assert_eq!(table.probe(1, 0).map(|entry| entry.score), Some(mated_in(4)));
        table.store(1, 10, entry(TABLE_WIN - 10, 4, Bound::Exact));
        assert_eq!(table.probe(1, 3).map(|entry| entry.score), Some(TABLE_WIN - 3));
        table.store(1, 10, entry(10 - TABLE_WIN, 4, Bound::Exact));
        assert_eq!(table.probe(1, 128).map(|entry| entry.score), Some(128 - TABLE_WIN));
    }

    #[test]
    fn a_torn_entry_is_not_found() {
        let table = table(1);
        table.store(7, 0, entry(10, 4, Bound::Exact));
        let slot = table.bucket(7).iter().find(|slot| slot.data.load(Ordering::Relaxed) != 0).expect("stored");
        slot.data.fetch_xor(1 << 20, Ordering::Relaxed);
        assert_eq!(table.probe(7, 0), None);
    }

    /// Two writers and the old entry leave one of three check words and one of three data words, in
    /// any combination. A probe must find an entry only if both belong together.
    #[test]
    fn no_mix_of_writes_is_found() {
        let key = 0x0123_4567_89AB_CDEF;
        let other = key ^ 0xFFFF_0000;
        let writes = [
            (key, entry(10, 4, Bound::Exact)),
            (key, entry(-10, 9, Bound::Lower)),
            (other, entry(77, 5, Bound::Upper)),
            (other, Entry { mv: Move::NULL, ..entry(10, 4, Bound::Exact) }),
        ];
        for check in writes {
            for data in writes {
                let table = table(1);
                let (words, slot) = (|(key, entry): (u64, Entry)| (key, entry.pack(3)), &table.bucket(key)[0]);
                let ((check_key, check_data), (data_key, data_word)) = (words(check), words(data));
                slot.check.store(check_key ^ check_data, Ordering::Relaxed);
                slot.data.store(data_word, Ordering::Relaxed);
                let expected = (check == data && data_key == key).then_some(data.1);
                assert_eq!(table.probe(key, 0), expected, "{check:?} {data:?}");
            }
        }
    }

    /// Builds an entry whose evaluation follows from the key, move and depth, so that a torn one
    /// shows.
    fn sealed(key: u64, seed: u64) -> Entry {
        let mv = Move::from_raw((seed >> 7) as u16 | 1);
        let depth = (seed >> 40 & 63) as i32;
        let eval = (key.wrapping_mul(31) ^ u64::from(mv.raw()) ^ depth as u64) as i16 as Score >> 3;
        let score = (eval ^ 0x55) >> 2;
        Entry { mv, score, eval, depth, bound: Bound::Lower, pv: seed & 1 == 1 }
    }

    fn is_whole(key: u64, entry: &Entry) -> bool {
        let eval = (key.wrapping_mul(31) ^ u64::from(entry.mv.raw()) ^ entry.depth as u64) as i16 as Score >> 3;
        entry.eval == eval && entry.score == (eval ^ 0x55) >> 2 && entry.bound == Bound::Lower
    }

    #[test]
    fn threads_that_race_for_a_few_slots_never_see_a_torn_entry() {
        const THREADS: u64 = 4;
        const ROUNDS: u64 = 100_000;
        let table = &table(1);
        let found: u64 = thread::scope(|scope| {
            let racers: Vec<_> = (1..=THREADS)
                .map(|racer| {
                    scope.spawn(move || {
                        let mut random = racer.wrapping_mul(0x9E37_79B9_7F4A_7C15);
                        let mut found = 0;
                        for round in 0..ROUNDS {
                            random ^= random << 13;
                            random ^= random >> 7;
                            random ^= random << 17;
                            // Eight keys of bucket 0, which has four slots.
                            let key = 1 + (random >> 33) % 8;
                            if let Some(entry) = table.probe(key, 0) {
                                assert!(is_whole(key, &entry), "{key}: {entry:?}");
                                found += 1;
                            }
                            table.store(key, 0, sealed(key, random));
                            if round % 1000 == 0 {
                                table.age();
                            }
                        }
                        found
                    })
                })
                .collect();
            racers.into_iter().map(|racer| racer.join().expect("no torn entry")).sum()
        });
        assert!(found > ROUNDS / 10, "only {found} were found at all");
    }

    #[test]
    fn a_missing_move_does_not_erase_a_known_one() {
        let table = table(1);
        table.store(7, 0, entry(10, 4, Bound::Lower));
        table.store(7, 0, Entry { mv: Move::NULL, ..entry(5, 4, Bound::Upper) });
        let found = table.probe(7, 0).expect("stored");
        assert_eq!((found.mv, found.score), (entry(0, 0, Bound::None).mv, 5));
    }

    #[test]
    fn a_much_shallower_bound_does_not_replace_its_own_position() {
        let table = table(1);
        table.store(7, 0, entry(10, 12, Bound::Lower));
        table.store(7, 0, entry(20, 3, Bound::Lower));
        assert_eq!(table.probe(7, 0).map(|entry| entry.depth), Some(12));
        table.store(7, 0, entry(20, 3, Bound::Exact));
        assert_eq!(table.probe(7, 0).map(|entry| entry.depth), Some(3));
    }

    #[test]
    fn old_and_shallow_entries_go_first() {
        let table = table(1);
        // All these keys belong to bucket 0.
        for key in 1..=4 {
            table.store(key, 0, entry(0, 10 + key as i32, Bound::Lower));
        }
        table.store(5, 0, entry(0, 1, Bound::Lower));
        assert!(table.probe(1, 0).is_none() && table.probe(5, 0).is_some(), "the shallowest goes");
        for _ in 0..4 {
            table.age();
        }
        table.store(5, 0, entry(0, 1, Bound::Lower));
        table.store(6, 0, entry(0, 1, Bound::Lower));
        assert!(table.probe(5, 0).is_some(), "an old deep entry goes before a new shallow one");
        assert!(table.probe(2, 0).is_none());
    }

    #[test]
    fn hashfull_counts_the_present_search() {
        let table = table(1);
        assert_eq!(table.hashfull(), 0);
        let step = (u64::MAX / table.buckets.len() as u64) + 1;
        for bucket in 0..250 {
            table.store(bucket * step, 0, entry(0, 1, Bound::Exact));
        }
        assert_eq!(table.hashfull(), 250);
        table.age();
        assert_eq!(table.hashfull(), 0);
        table.clear(2);
        assert_eq!(table.probe(step, 0), None);
    }

    #[test]
    fn bounds_settle_one_side() {
        for (bound, score, beta, settled) in [
            (Bound::Exact, 10, 5, true),
            (Bound::Exact, 1, 5, true),
            (Bound::Lower, 5, 5, true),
            (Bound::Lower, 4, 5, false),
            (Bound::Upper, 4, 5, true),
            (Bound::Upper, 5, 5, false),
            (Bound::None, 9, 5, false),
        ] {
            assert_eq!(bound.settles(score, beta), settled, "{bound:?} {score} {beta}");
        }
    }
}
