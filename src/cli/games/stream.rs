//! A journal read once, in little memory: held back are only the games of pairs that are not whole yet or were
//! scheduled after such a pair, for a void game takes the other game of its pair with it.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Take};
use std::path::Path;

use anyhow::{Context as _, Result};

use crate::chess::{self, Variant};
use crate::files::open_regular;
use crate::plan::Plan;
use crate::record::{GameRecord, PairId};
use crate::tournament::pairing::Pairing;
use crate::tournament::repeats::Repeats;

/// A journal up to where it reached when it was opened: a line that grows while it is read would be two lines to the reader.
/// It ends early once `over` says so.
pub(super) fn open<'a>(path: &Path, over: &'a Cell<bool>) -> Result<impl BufRead + 'a> {
    let reach = |file: File| file.metadata().map(|meta| file.take(meta.len()));
    let file =
        open_regular(path).and_then(reach).with_context(|| format!("{}: cannot read the journal", path.display()))?;
    Ok(Until { inner: BufReader::with_capacity(1 << 16, file), over })
}

struct Until<'a> {
    inner: BufReader<Take<File>>,
    over: &'a Cell<bool>,
}

impl Read for Until<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.over.get() { Ok(0) } else { self.inner.read(into) }
    }
}

impl BufRead for Until<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.over.get() { Ok(&[]) } else { self.inner.fill_buf() }
    }

    fn consume(&mut self, amount: usize) {
        self.inner.consume(amount);
    }
}

/// Pairs held back at most; after so many, one that is missing is not waited for any longer.
const WINDOW: usize = 256;

/// Tells void games, and pairs that repeat others, from those that count, and puts these in the order in which they were scheduled.
#[derive(Debug)]
pub(super) struct Pairs {
    void: bool,
    repeats: Repeats,
    variant: Variant,
    /// Pairs from this one on are one game.
    halves_from: Option<PairId>,
    waiting: BTreeMap<PairId, [Option<GameRecord>; 2]>,
    /// Pairs below this one are told.
    next: PairId,
    /// And these.
    told: BTreeSet<PairId>,
}

impl Pairs {
    /// Will tell the void games of a run and no others, or all others.
    pub(super) fn new(plan: &Plan, void: bool) -> Self {
        let (halves_from, waiting, told) = (Pairing::new(plan).halves_from(), BTreeMap::new(), BTreeSet::new());
        let (repeats, variant) = (Repeats::new(plan), plan.rules.variant);
        Self { void, repeats, variant, halves_from, waiting, next: PairId(0), told }
    }

    /// Takes a game as the journal has it; hands those to `each` that are sure to be among them. A game that stands twice is taken once.
    pub(super) fn tell(&mut self, game: GameRecord, each: &mut impl FnMut(&GameRecord)) {
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

    /// True if the next pair repeats others and does not count for it.
    fn is_left_out(&mut self, games: &[GameRecord]) -> bool {
        let openings: Vec<_> = games.iter().map(|game| chess::opening_key(&game.opening, self.variant)).collect();
        self.repeats.is_repeat(games, &openings) && self.repeats.are_left_out()
    }

    /// Hands over the games that still wait for others.
    pub(super) fn end(self, each: &mut impl FnMut(&GameRecord)) {
        self.waiting.into_values().flatten().flatten().for_each(|game| each(&game));
    }
}
