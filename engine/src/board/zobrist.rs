//! Random numbers that name positions (A. L. Zobrist, "A New Hashing Method with Application for Game Playing", 1970).

use crate::types::{Color, Piece, Square};

struct Keys {
    pieces: [[u64; 64]; Piece::COUNT],
    castling: [[u64; 8]; 2],
    en_passant: [u64; 8],
    black_to_move: u64,
}

static KEYS: Keys = Keys::generate(0x0D35_7213_BADC_0DE5);

impl Keys {
    /// Draws all keys from splitmix64.
    const fn generate(mut state: u64) -> Keys {
        let mut keys =
            Keys { pieces: [[0; 64]; Piece::COUNT], castling: [[0; 8]; 2], en_passant: [0; 8], black_to_move: 0 };
        let mut index = 0;
        while index < Piece::COUNT * 64 {
            keys.pieces[index / 64][index % 64] = splitmix64(&mut state);
            index += 1;
        }
        index = 0;
        while index < 16 {
            keys.castling[index / 8][index % 8] = splitmix64(&mut state);
            index += 1;
        }
        index = 0;
        while index < 8 {
            keys.en_passant[index] = splitmix64(&mut state);
            index += 1;
        }
        keys.black_to_move = splitmix64(&mut state);
        keys
    }
}

/// One step of splitmix64 (Steele, Lea, Flood 2014).
const fn splitmix64(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[inline]
pub(super) fn piece(piece: Piece, square: Square) -> u64 {
    KEYS.pieces[piece.index()][square.index()]
}

/// The right to castle with the rook that began on a file.
#[inline]
pub(super) fn castling(color: Color, file: u8) -> u64 {
    KEYS.castling[color.index()][(file & 7) as usize]
}

/// A pawn that may be taken en passant on a file.
#[inline]
pub(super) fn en_passant(file: u8) -> u64 {
    KEYS.en_passant[(file & 7) as usize]
}

#[inline]
pub(super) fn black_to_move() -> u64 {
    KEYS.black_to_move
}
