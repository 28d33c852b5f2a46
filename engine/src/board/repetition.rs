//! Detection of upcoming repetitions: can the side to move return to a position of the line with
//! one move?
//!
//! A reversible move changes the key by the numbers of one piece on two squares and of the side to
//! move. All 3,668 such differences are in a cuckoo hash table, so a test takes at most two
//! look-ups and no move generation.
//!
//! Sources: Marcel van Kervinck, "The design and implementation of the Rookie 2.0 chess playing
//! program", TU Eindhoven 2002, and his "Cycle detection",
//! <https://web.archive.org/web/2020/https://marcelk.net/2013-04-06/paper/upcoming-rep-v2.pdf>. The
//! table is that of R. Pagh and F. F. Rodler, "Cuckoo Hashing", 2001.

use super::attacks::{between, reach};
use super::{Board, zobrist};
use crate::types::{Bitboard, Piece, Square};

/// Slots of the table, a power of two; fewer than half are in use.
const SLOTS: usize = 1 << 13;

/// Reversible moves of all pieces, by the difference of their keys. An empty slot has the
/// difference 0.
struct Cuckoo {
    differences: [u64; SLOTS],
    ends: [[u8; 2]; SLOTS],
}

static CUCKOO: Cuckoo = Cuckoo::build();

/// Returns the two slots where a difference may be stored.
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
                // Visits each pair of squares once.
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

    /// Returns the two squares of the reversible move with this key difference.
    #[inline]
    fn find(&self, difference: u64) -> Option<[Square; 2]> {
        let slot = slots(difference).into_iter().find(|&slot| self.differences[slot] == difference)?;
        (difference != 0).then(|| self.ends[slot].map(Square::new))
    }
}

impl Board {
    /// Returns whether a legal move of the side to move leads to a draw by repetition: to a
    /// position that occurred after the root, or twice before it.
    ///
    /// `keys` are those of the earlier positions, oldest first, from the last null move on. `ply`
    /// is the number of them since the root.
    pub fn has_upcoming_repetition(&self, keys: &[u64], ply: usize) -> bool {
        let reach = usize::from(self.halfmove_clock()).min(keys.len());
        if reach < 3 {
            return false;
        }
        let back = |distance: usize| keys[keys.len() - distance];
        let side = zobrist::black_to_move();
        // Key difference made by the opponent's moves since then. It must be zero for our move
        // alone to restore the position.
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
            // The move is legal because it leads to a position that occurred with the opponent to
            // move.
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
