//! Can the side to move repeat a position of the line with one move?
//!
//! A move that can be taken back changes the key by the numbers of one piece on two squares and of the side to move. All 3,668
//! of these differences stand in a cuckoo hash table, so that one difference of keys is judged by at most two look-ups and no
//! move is generated (Marcel van Kervinck, "The design and implementation of the Rookie 2.0 chess playing program", TU
//! Eindhoven 2002, and his "Cycle detection", <https://web.archive.org/web/20201107002606/https://marcelk.net/2013-04-06/paper/upcoming-rep-v2.pdf>;
//! the table is that of R. Pagh and F. F. Rodler, "Cuckoo Hashing", 2001).

use super::attacks::{between, reach};
use super::{Board, zobrist};
use crate::types::{Bitboard, Piece, Square};

/// Slots of the table, a power of two; less than half are in use.
const SLOTS: usize = 1 << 13;

/// Reversible moves of all pieces, by the difference they make to a key. An empty slot has the difference 0.
struct Cuckoo {
    differences: [u64; SLOTS],
    ends: [[u8; 2]; SLOTS],
}

static CUCKOO: Cuckoo = Cuckoo::build();

/// The two places where a difference may stand.
const fn slots(difference: u64) -> [usize; 2] {
    [difference as usize & (SLOTS - 1), (difference >> 16) as usize & (SLOTS - 1)]
}

impl Cuckoo {
    const fn build() -> Cuckoo {
        let mut table = Cuckoo { differences: [0; SLOTS], ends: [[0; 2]; SLOTS] };
        let mut index = 0;
        while index < Piece::COUNT {
            let piece = Piece::ALL[index];
            let mut from = 0;
            while from < 64 {
                // Each pair of squares once.
                let higher = !0 << from << 1;
                let mut targets = Bitboard(reach(piece.kind(), Square::new(from)) & higher);
                while let Some(to) = targets.pop() {
                    table.insert(piece, Square::new(from), to);
                }
                from += 1;
            }
            index += 1;
        }
        table
    }

    const fn insert(&mut self, piece: Piece, a: Square, b: Square) {
        let mut difference = zobrist::piece(piece, a) ^ zobrist::piece(piece, b) ^ zobrist::black_to_move();
        let mut ends = [a.raw(), b.raw()];
        let mut slot = slots(difference)[0];
        let mut evictions = 0;
        loop {
            let evicted = (self.differences[slot], self.ends[slot]);
            self.differences[slot] = difference;
            self.ends[slot] = ends;
            if evicted.0 == 0 {
                return;
            }
            (difference, ends) = evicted;
            let [first, second] = slots(difference);
            slot = if slot == first { second } else { first };
            evictions += 1;
            assert!(evictions < SLOTS, "other keys or a larger table are needed");
        }
    }

    /// The two squares of the reversible move that makes this difference.
    #[inline]
    fn find(&self, difference: u64) -> Option<[Square; 2]> {
        let slot = slots(difference).into_iter().find(|&slot| self.differences[slot] == difference)?;
        (difference != 0).then(|| self.ends[slot].map(Square::new))
    }
}

impl Board {
    /// True when a legal move of the side to move leads to a position that counts as a draw by repetition: one that the line
    /// had after the root, or had twice.
    ///
    /// `keys` are those of the positions before this one, oldest first, not going back beyond a passed move; `ply` is the
    /// number of them from the root on.
    pub fn has_upcoming_repetition(&self, keys: &[u64], ply: usize) -> bool {
        let reach = usize::from(self.halfmove_clock()).min(keys.len());
        if reach < 3 {
            return false;
        }
        let back = |distance: usize| keys[keys.len() - distance];
        let side = zobrist::black_to_move();
        // What the other side's moves since then have changed; nothing, if our move alone is to restore the position.
        let mut theirs = self.key() ^ back(1) ^ side;
        for distance in (3..=reach).step_by(2) {
            theirs ^= back(distance - 1) ^ back(distance) ^ side;
            if theirs != 0 {
                continue;
            }
            let Some([a, b]) = CUCKOO.find(self.key() ^ back(distance)) else { continue };
            if between(a, b).intersects(self.occupied()) {
                continue;
            }
            // The move is legal: where it leads, the enemy was to move before.
            let again = || (distance + 2..=reach).step_by(2).any(|earlier| back(earlier) == back(distance));
            if distance < ply || again() {
                return true;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_holds_each_reversible_move_and_no_other() {
        let mut moves = 0;
        for piece in Piece::ALL {
            for a in Square::all() {
                for b in Square::all().filter(|&b| b > a) {
                    let difference = zobrist::piece(piece, a) ^ zobrist::piece(piece, b) ^ zobrist::black_to_move();
                    let reaches = super::super::attacks::piece_attacks(piece.kind(), a, Bitboard::EMPTY).has(b);
                    assert_eq!(CUCKOO.find(difference), reaches.then_some([a, b]), "{piece:?} {a} {b}");
                    moves += u32::from(reaches);
                }
            }
        }
        assert_eq!(moves, 3_668);
        assert_eq!(CUCKOO.differences.iter().filter(|&&difference| difference != 0).count(), 3_668);
        assert_eq!(CUCKOO.find(0), None);
    }
}
