//! Zobrist keys: random numbers that identify positions (A. L. Zobrist, "A New Hashing Method with
//! Application for Game Playing", 1970).

use crate::types::{Color, Piece, SplitMix64, Square};

struct Keys {
    pieces: [[u64; 64]; Piece::COUNT],
    castling: [[u64; 8]; 2],
    en_passant: [u64; 8],
    black_to_move: u64,
}

static KEYS: Keys = Keys::generate(0x0D35_7213_BADC_0DE5);

impl Keys {
    /// Draws all keys from one sequence of random numbers.
    const fn generate(seed: u64) -> Keys {
        let mut random = SplitMix64::new(seed);
        let mut keys =
            Keys { pieces: [[0; 64]; Piece::COUNT], castling: [[0; 8]; 2], en_passant: [0; 8], black_to_move: 0 };
        let mut index = 0;
        while index < Piece::COUNT * 64 {
            keys.pieces[index / 64][index % 64] = random.next_u64();
            index += 1;
        }
        index = 0;
        while index < 16 {
            keys.castling[index / 8][index % 8] = random.next_u64();
            index += 1;
        }
        index = 0;
        while index < 8 {
            keys.en_passant[index] = random.next_u64();
            index += 1;
        }
        keys.black_to_move = random.next_u64();
        keys
    }
}

#[inline]
pub(super) const fn piece(piece: Piece, square: Square) -> u64 {
    KEYS.pieces[piece.index()][square.index()]
}

/// Returns the key of the right to castle with the rook that started on a file.
#[inline]
pub(super) fn castling(color: Color, file: u8) -> u64 {
    KEYS.castling[color.index()][(file & 7) as usize]
}

/// Returns the key of a pawn that may be captured en passant on a file.
#[inline]
pub(super) fn en_passant(file: u8) -> u64 {
    KEYS.en_passant[(file & 7) as usize]
}

#[inline]
pub(super) const fn black_to_move() -> u64 {
    KEYS.black_to_move
}

#[cfg(test)]
mod tests {
    use super::super::{Board, CastlingSide};
    use super::{KEYS, castling, en_passant, piece};
    use crate::types::{Color, MoveList, Piece, PieceType, SplitMix64, Square};

    /// Computes the key of the pieces that satisfy a predicate, piece by piece.
    fn sum(board: &Board, counts: impl Fn(Piece) -> bool) -> u64 {
        let pieces = Square::all().filter_map(|square| Some((board.piece_at(square)?, square)));
        pieces.filter(|&(man, _)| counts(man)).fold(0, |key, (man, square)| key ^ piece(man, square))
    }

    fn check(board: &Board) {
        use PieceType::{Bishop, King, Knight, Pawn, Queen, Rook};
        let fen = board.to_fen(true);
        let rights = Color::ALL.into_iter().flat_map(|color| CastlingSide::ALL.map(|side| (color, side)));
        let mut key = sum(board, |_| true);
        for (color, side) in rights {
            key ^= board.castling_rook(color, side).map_or(0, |rook| castling(color, rook.file()));
        }
        key ^= board.en_passant().map_or(0, |square| en_passant(square.file()));
        key ^= if board.turn() == Color::Black { KEYS.black_to_move } else { 0 };
        assert_eq!(board.key(), key, "{fen}");
        assert_eq!(board.pawn_key(), sum(board, |man| man.kind() == Pawn), "{fen}");
        assert_eq!(board.minor_key(), sum(board, |man| matches!(man.kind(), Knight | Bishop | King)), "{fen}");
        assert_eq!(board.major_key(), sum(board, |man| matches!(man.kind(), Rook | Queen | King)), "{fen}");
        for side in Color::ALL {
            let key = sum(board, |man| man.kind() != Pawn && man.color() == side);
            assert_eq!(board.non_pawn_key(side), key, "{fen}");
        }
    }

    /// The games contain castling on both sides, promotions, en passant captures and null moves.
    #[test]
    fn incremental_keys_equal_sums_over_the_squares() {
        let starts = [
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
            "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
            "b1q1rrkb/pppppppp/3nn3/8/P7/1PPP4/4PPPP/BQNNRKRB w GE - 1 9",
            "rk5r/pppppppp/8/8/8/8/PPPPPPPP/RK5R w HAha - 0 1",
            "1rkr4/pppppppp/8/8/8/8/PPPPPPPP/1RKR4 w DBdb - 0 1",
            "6k1/PPPP4/8/8/8/8/4pppp/1K6 w - - 0 1",
        ];
        let mut random = SplitMix64::new(20_261_121);
        let (mut castlings, mut en_passants, mut promotions) = (0, 0, 0);
        for start in starts {
            for _ in 0..80 {
                let mut board = Board::from_fen(start).expect(start);
                for _ in 0..120 {
                    check(&board);
                    let mut moves = MoveList::new();
                    board.legal_moves(&mut moves);
                    if moves.is_empty() {
                        break;
                    }
                    if !board.in_check() {
                        let mut passed = board;
                        passed.play_null();
                        check(&passed);
                    }
                    let mv = moves[(random.next_u64() % moves.len() as u64) as usize];
                    castlings += u32::from(mv.is_castling());
                    en_passants += u32::from(mv.is_en_passant());
                    promotions += u32::from(mv.is_promotion());
                    let (before, likely) = (board, board.likely_key_after(mv));
                    board.play(mv);
                    let is_plain = !mv.is_castling() && !mv.is_en_passant() && !mv.is_promotion();
                    let keeps = board.castling_squares == before.castling_squares;
                    if is_plain && keeps && before.en_passant().or(board.en_passant()).is_none() {
                        assert_eq!(board.key(), likely, "{} {mv:?}", before.to_fen(true));
                    }
                }
            }
        }
        assert!(castlings > 20 && en_passants >= 5 && promotions > 100, "{castlings} {en_passants} {promotions}");
    }
}
