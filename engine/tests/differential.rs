//! Comparison of the board with shakmaty, an independent library, on random games.

mod crate_file;

use destrier::board::{Board, see_value};
use destrier::types::{Bitboard, Color, Move, MoveList, PieceType, SplitMix64, Square};
use shakmaty::fen::Fen;
use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Chess, EnPassantMode, Position};
use std::collections::BTreeSet;

/// Random numbers that give the same games on every run.
struct Random(SplitMix64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        (self.0.next_u64() % bound as u64) as usize
    }
}

const STARTS: [&str; 8] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9",
    "b1q1rrkb/pppppppp/3nn3/8/P7/1PPP4/4PPPP/BQNNRKRB w GE - 1 9",
    "rk5r/pppppppp/8/8/8/8/PPPPPPPP/RK5R w HAha - 0 1",
    "1rkr4/pppppppp/8/8/8/8/PPPPPPPP/1RKR4 w DBdb - 0 1",
    "6k1/PPPP4/8/8/8/8/4pppp/1K6 w - - 0 1",
];

/// Calls `visit` with each position of random games from all starts.
fn random_games(games: usize, mut visit: impl FnMut(&Board, &mut Random)) {
    let mut random = Random(SplitMix64::new(20_240_229));
    for start in STARTS {
        for _ in 0..games {
            let mut board = Board::from_fen(start).expect(start);
            for _ in 0..150 {
                visit(&board, &mut random);
                let moves = legal(&board);
                if moves.is_empty() || board.halfmove_clock() >= 100 || board.is_insufficient_material() {
                    break;
                }
                board.play(moves[random.below(moves.len())]);
            }
        }
    }
}

fn legal(board: &Board) -> MoveList {
    let mut moves = MoveList::new();
    board.legal_moves(&mut moves);
    moves
}

fn oracle(fen: &str) -> Chess {
    fen.parse::<Fen>().expect(fen).into_position(CastlingMode::Chess960).expect(fen)
}

#[test]
fn moves_and_fens_equal_the_oracle() {
    random_games(6, |board, _| {
        let fen = board.to_fen(true);
        let position = oracle(&fen);
        let moves = legal(board);
        let ours: BTreeSet<String> = moves.iter().map(|&mv| board.to_uci(mv, true)).collect();
        let theirs: BTreeSet<String> =
            position.legal_moves().iter().map(|m| m.to_uci(CastlingMode::Chess960).to_string()).collect();
        assert_eq!(ours, theirs, "{fen}");
        assert_eq!(ours.len(), moves.len(), "{fen}: a move twice");
        assert_eq!(board.count_legal_moves() as usize, moves.len(), "{fen}");
        assert_eq!(board.in_check(), position.is_check(), "{fen}");
        assert_eq!(board.is_insufficient_material(), position.is_insufficient_material(), "{fen}");
        let x_fen = Fen::from_position(&position, EnPassantMode::Legal).to_string();
        assert_eq!(board.to_fen(false), x_fen);
        assert_eq!(Board::from_fen(&x_fen).as_ref(), Ok(board), "{x_fen}");
        for &mv in &moves {
            let uci: UciMove = board.to_uci(mv, true).parse().expect("a move of ours");
            let mut after = position.clone();
            after.play_unchecked(uci.to_move(&position).expect("legal"));
            let mut child = *board;
            child.play(mv);
            assert_eq!(
                child.to_fen(false),
                Fen::from_position(&after, EnPassantMode::Legal).to_string(),
                "{fen} {mv:?}"
            );
        }
    });
}

/// Incremental state must equal that of the position parsed anew: keys, checkers, pins, rights.
#[test]
fn incremental_state_equals_recomputed() {
    random_games(20, |board, _| {
        for &mv in &legal(board) {
            let mut child = *board;
            child.play(mv);
            let fen = child.to_fen(true);
            assert_eq!(Board::from_fen(&fen).as_ref(), Ok(&child), "{fen}");
        }
        if !board.in_check() {
            let mut passed = *board;
            passed.play_null();
            let fen = passed.to_fen(true);
            assert_eq!(Board::from_fen(&fen).as_ref(), Ok(&passed), "{fen}");
        }
    });
}

#[test]
fn a_piece_that_moves_to_a_check_square_gives_check() {
    random_games(6, |board, _| {
        let squares = board.check_squares();
        for &mv in legal(board).iter().filter(|mv| mv.is_quiet() && !mv.is_castling()) {
            let kind = board.piece_at(mv.from()).expect("a piece").kind();
            let mut child = *board;
            child.play(mv);
            // The check comes from the piece that moved, not from one behind it.
            let is_direct = child.checkers().has(mv.to());
            assert_eq!(squares[kind.index()].has(mv.to()), is_direct, "{} {mv:?}", board.to_fen(true));
        }
    });
}

#[test]
fn attacked_squares_have_attackers() {
    random_games(6, |board, _| {
        let position = oracle(&board.to_fen(true));
        for (side, color) in [(Color::White, shakmaty::Color::White), (Color::Black, shakmaty::Color::Black)] {
            let attacked: Bitboard = Square::all()
                .filter(|square| {
                    let square = shakmaty::Square::new(square.index() as u32);
                    position.board().attacks_to(square, color, position.board().occupied()).any()
                })
                .collect();
            assert_eq!(board.attacked_by(side), attacked, "{} {side:?}", board.to_fen(true));
        }
    });
}

#[test]
fn threatened_pieces_have_lesser_attackers() {
    let rank = |kind| match kind {
        PieceType::Pawn => 0,
        PieceType::Knight | PieceType::Bishop => 1,
        PieceType::Rook => 2,
        PieceType::Queen => 3,
        PieceType::King => 4,
    };
    let mut found = 0;
    random_games(6, |board, _| {
        let kind = |square| board.piece_at(square).expect("a piece").kind();
        let threatened: Bitboard = (board.colored(board.turn()) - board.pieces(board.turn(), PieceType::King))
            .into_iter()
            .filter(|&square| {
                let attackers = board.attackers_to(square, board.occupied()) & board.colored(!board.turn());
                attackers.into_iter().any(|attacker| rank(kind(attacker)) < rank(kind(square)))
            })
            .collect();
        assert_eq!(board.threatened(), threatened, "{}", board.to_fen(true));
        found += threatened.count();
    });
    assert!(found > 0);
}

#[test]
fn stages_make_up_the_legal_moves() {
    random_games(20, |board, _| {
        let (mut captures, mut quiets) = (MoveList::new(), MoveList::new());
        board.legal_captures(&mut captures);
        board.legal_quiets(&mut quiets);
        let noisy = |mv: &Move| mv.is_capture() || mv.promotion() == Some(PieceType::Queen);
        assert!(captures.iter().all(noisy));
        assert!(!quiets.iter().any(noisy));
        let staged: BTreeSet<Move> = captures.iter().chain(quiets.iter()).copied().collect();
        let moves = legal(board);
        assert_eq!(staged.len(), captures.len() + quiets.len());
        assert_eq!(staged, moves.iter().copied().collect(), "{}", board.to_fen(true));
    });
}

#[test]
fn any_sixteen_bits_are_judged() {
    random_games(1, |board, random| {
        if random.below(4) != 0 {
            return;
        }
        let moves: BTreeSet<Move> = legal(board).iter().copied().collect();
        for raw in 0..=u16::MAX {
            let mv = Move::from_raw(raw);
            assert_eq!(board.is_legal(mv), moves.contains(&mv), "{} {mv:?} {:x}", board.to_fen(true), mv.flag_bits());
        }
    });
}

#[test]
fn uci_words_come_back() {
    random_games(3, |board, _| {
        let moves = legal(board);
        for &mv in &moves {
            assert_eq!(board.parse_uci(&board.to_uci(mv, true)), Some(mv), "{}", board.to_fen(true));
            let classical = board.to_uci(mv, false);
            // A king move of the same name takes precedence.
            let step = moves.iter().find(|other| format!("{other:?}") == classical);
            assert_eq!(board.parse_uci(&classical), Some(*step.unwrap_or(&mv)), "{}", board.to_fen(true));
        }
    });
    let board = Board::startpos();
    for word in ["", "e2", "e2e5", "e2e4q", "e2e4qq", "0000", "e9e4", "é2e4", "E2E4", "(none)"] {
        assert_eq!(board.parse_uci(word), None, "{word}");
    }
}

/// Returns the most that the side to move can win by capturing on a square, or zero, by plain
/// recursion on a list of pieces.
fn exchange(board: &Board, target: Square, occupied: Bitboard, side: Color, on_target: PieceType) -> i32 {
    let attackers = board.attackers_to(target, occupied) & (occupied - Bitboard::from(target));
    let own = attackers & board.colored(side);
    let Some(kind) = PieceType::ALL.into_iter().find(|&kind| own.intersects(board.kind(kind))) else { return 0 };
    if kind == PieceType::King && attackers.intersects(board.colored(!side)) {
        return 0;
    }
    let from = (own & board.kind(kind)).lsb();
    let rest = exchange(board, target, occupied ^ Bitboard::from(from), !side, kind);
    (see_value(on_target) - rest).max(0)
}

fn slow_see(board: &Board, mv: Move) -> i32 {
    let (from, to) = (mv.from(), mv.to());
    let mut occupied = (board.occupied() - Bitboard::from(from)) | Bitboard::from(to);
    let mut gain = board.piece_at(to).map_or(0, |piece| see_value(piece.kind()));
    if mv.is_en_passant() {
        occupied = occupied - Bitboard::from(Square::at(to.file(), from.rank()));
        gain = see_value(PieceType::Pawn);
    }
    let mut kind = board.piece_at(from).expect("a piece moves").kind();
    if let Some(promotion) = mv.promotion() {
        gain += see_value(promotion) - see_value(PieceType::Pawn);
        kind = promotion;
    }
    gain - exchange(board, to, occupied, !board.turn(), kind)
}

#[test]
fn exchanges_equal_plain_recursion() {
    random_games(20, |board, random| {
        for &mv in legal(board).iter().filter(|mv| !mv.is_castling()) {
            let value = slow_see(board, mv);
            let offset = random.below(200) as i32;
            for threshold in [value, value + 1, value - offset, value + 1 + offset, 0, -offset] {
                let threats = board.attacked_by(!board.turn());
                let found = [board.see_ge(mv, threshold), board.see_ge_against(threats, mv, threshold)];
                assert_eq!(found, [value >= threshold; 2], "{} {mv:?} {value} {threshold}", board.to_fen(true));
            }
        }
    });
}

#[test]
fn known_exchanges() {
    let cases = [
        ("1k1r4/1pp4p/p7/4p3/8/P5P1/1PP4P/2K1R3 w - - 0 1", "e1e5", 100),
        ("1k1r3q/1ppn3p/p4b2/4p3/8/P2N2P1/1PP1R1BP/2K1Q3 w - - 0 1", "d3e5", 100 - 320),
        ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", "e5d6", 100),
        ("3rk3/2P5/8/8/8/8/8/4K3 w - - 0 1", "c7d8q", 500 + 950 - 100 - 950),
    ];
    for (fen, word, value) in cases {
        let board = Board::from_fen(fen).expect(fen);
        let mv = board.parse_uci(word).expect(word);
        assert!(board.see_ge(mv, value) && !board.see_ge(mv, value + 1), "{fen} {word}");
    }
}

/// One position for each kind of fault, and some that only look wrong.
#[test]
fn positions_are_judged() {
    let valid = [
        "8/8/8/8/8/4k3/8/4K2R b K - 0 1",
        "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq e6 0 2",
        "4k3/8/8/8/8/8/4P3/RK4R1 w GA - 99 60",
        "4k3/8/8/8/1b6/8/3N4/4K3 w - - 0 1",
    ];
    let invalid = [
        "8/8/8/8/8/8/8/8 w - - 0 1",
        "4k3/8/8/8/8/8/8/4K2K w - - 0 1",
        "4k3/8/8/8/8/8/8/P3K3 w - - 0 1",
        "4k3/8/8/8/8/8/4R3/4K3 w - - 0 1",
        "4k3/8/8/8/8/8/8/4K2R w Q - 0 1",
        "4k3/8/8/8/8/8/8/4K3 w - e6 0 1",
        "qqqqkqqq/qqqqqqqq/8/8/8/8/8/4K3 b - - 0 1",
        "4k3/8/8/8/8/8/8/4K2 w - - 0 1",
        "4k3/8/8/8/8/8/8/4K3 x - - 0 1",
        "4k3/8/8/8/8/2n1n3/1n6/3K4 w - - 0 1",
    ];
    for fen in valid {
        assert_eq!(Board::from_fen(fen).map(|board| board.to_fen(true).len() > 20), Ok(true), "{fen}");
    }
    for fen in invalid {
        assert!(Board::from_fen(fen).is_err(), "{fen}");
    }
}

/// Position sets with which another library tests its own FEN parser.
#[test]
fn positions_of_another_library_are_judged() {
    let set = |name: &str| crate_file::read("cozy-chess", &format!("src/board/test_data/{name}.sfens"));
    let valid = set("valid");
    assert!(valid.lines().count() >= 9_000);
    for line in valid.lines() {
        let board = Board::from_fen(line).unwrap_or_else(|error| panic!("{line}: {error}"));
        let ours: Vec<String> = board.to_fen(true).split(' ').map(str::to_owned).collect();
        let theirs: Vec<&str> = line.split(' ').collect();
        assert_eq!(ours[..3], theirs[..3]);
    }
    let invalid = set("invalid");
    assert!(invalid.lines().count() >= 9_000);
    let accepted: Vec<&str> = invalid.lines().filter(|line| Board::from_fen(line).is_ok()).collect();
    let first = &accepted[..accepted.len().min(20)];
    assert!(accepted.is_empty(), "{} accepted, the first: {first:#?}", accepted.len());
}
