//! Single pass over a journal in little memory. Only games of incomplete pairs, and of pairs
//! scheduled after one, are held back, because a void game takes the other game of its pair with
//! it.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead, Read};
use std::path::Path;

use anyhow::{Context as _, Result};

use crate::chess::{self, Variant};
use crate::journal::archive;
use crate::plan::Plan;
use crate::record::{GameRecord, PairId};
use crate::tournament::pairing::Pairing;
use crate::tournament::repeats::Repeats;

/// Opens a journal up to its current length, or an archive. Reading ends early once `over` is true.
pub(super) fn open<'a>(path: &Path, over: &'a Cell<bool>) -> Result<impl BufRead + 'a> {
    let inner = archive::open(path).with_context(|| format!("{}: cannot read the journal", path.display()))?;
    Ok(InterruptibleReader { inner, over })
}

struct InterruptibleReader<'a> {
    inner: Box<dyn BufRead>,
    over: &'a Cell<bool>,
}

impl Read for InterruptibleReader<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.over.get() { Ok(0) } else { self.inner.read(into) }
    }
}

impl BufRead for InterruptibleReader<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.over.get() { Ok(&[]) } else { self.inner.fill_buf() }
    }

    fn consume(&mut self, amount: usize) {
        self.inner.consume(amount);
    }
}

/// Maximum number of pairs held back. Beyond that, a missing pair is no longer waited for.
const WINDOW: usize = 256;

/// Filter that passes a run's void games, or all others in schedule order. Pairs that repeat others
/// are left out if the plan does not count them.
#[derive(Debug)]
pub(super) struct PairFilter {
    void: bool,
    repeats: Repeats,
    variant: Variant,
    /// First of the pairs that are a single game.
    halves_from: Option<PairId>,
    waiting: BTreeMap<PairId, [Option<GameRecord>; 2]>,
    /// All pairs below this one are settled.
    next: PairId,
    /// Settled pairs from `next` on.
    told: BTreeSet<PairId>,
}

impl PairFilter {
    /// Filter that passes only void games if `void` is set, and otherwise all others.
    pub(super) fn new(plan: &Plan, void: bool) -> Self {
        let (halves_from, waiting, told) = (Pairing::new(plan).halves_from(), BTreeMap::new(), BTreeSet::new());
        let (repeats, variant) = (Repeats::new(plan), plan.rules.variant);
        Self { void, repeats, variant, halves_from, waiting, next: PairId(0), told }
    }

    /// Records a game in journal order and passes on those that can no longer become void. Later
    /// records of a game are ignored, unless void games are wanted.
    pub(super) fn record(&mut self, game: GameRecord, each: &mut impl FnMut(&GameRecord)) {
        let pair = game.id.pair;
        if self.void {
            if game.is_void {
                each(&game);
            }
            return;
        }
        if pair < self.next || self.told.contains(&pair) {
            return;
        }
        if game.is_void {
            self.waiting.remove(&pair);
            return;
        }
        let leg = game.id.leg.index();
        self.waiting.entry(pair).or_default()[leg].get_or_insert(game);
        while let Some(entry) = self.waiting.first_entry() {
            let (pair, legs) =
                (*entry.key(), if self.halves_from.is_some_and(|from| *entry.key() >= from) { 1 } else { 2 });
            let is_whole = entry.get().iter().flatten().count() >= legs;
            if !(is_whole && pair == self.next) && self.waiting.len() <= WINDOW {
                break;
            }
            let games: Vec<_> = self.waiting.remove(&pair).into_iter().flatten().flatten().collect();
            if !(is_whole && self.is_left_out(&games)) {
                games.iter().for_each(&mut *each);
            }
            if is_whole {
                self.told.insert(pair);
                while self.told.remove(&self.next) {
                    self.next.0 += 1;
                }
            }
        }
    }

    /// Returns true if the next pair repeats others and therefore does not count.
    fn is_left_out(&mut self, games: &[GameRecord]) -> bool {
        let openings: Vec<_> = games.iter().map(|game| chess::opening_key(&game.opening, self.variant)).collect();
        self.repeats.is_repeat(games, &openings) && self.repeats.are_left_out()
    }

    /// Passes on the games that are still held back.
    pub(super) fn end(self, each: &mut impl FnMut(&GameRecord)) {
        self.waiting.into_values().flatten().flatten().for_each(|game| each(&game));
    }
}
