//! Choice of the move and of the expected answer, and the score of a position.

use shakmaty::uci::UciMove;
use shakmaty::zobrist::Zobrist64;
use shakmaty::{CastlingMode, Chess, Color, EnPassantMode, Move, Position, Role};

use super::Engine;

impl Engine {
    pub fn hash(&self) -> u64 {
        let bytes = self.tuned.iter().flat_map(|(name, value)| name.bytes().chain(value.bytes()));
        let tuned = bytes.fold(0, |tuned, byte| mix(tuned ^ u64::from(byte)));
        hash(&self.position, self.settings.seed ^ tuned)
    }

    /// A number that depends on the position alone.
    pub fn mix_of_position(&self) -> u64 {
        mix(hash(&self.position, 0))
    }

    pub fn mix_of_game(&self) -> u64 {
        mix(self.first_hash)
    }

    /// The word `ponder` and a move, if it is to name one.
    pub fn expects(&self, best: &str) -> String {
        let Some(seed) = self.settings.ponder else { return String::new() };
        if self.at_start("illegal-ponder") {
            return " ponder a1a1".into();
        }
        let best = best.parse::<UciMove>().ok().and_then(|uci| uci.to_move(&self.position).ok());
        let after = best.and_then(|best| self.position.clone().play(best).ok());
        let answer = after.filter(|after| !after.legal_moves().is_empty()).map(|after| {
            let moves = after.legal_moves();
            pick(moves.iter().collect(), hash(&after, seed)).to_uci(self.mode).to_string()
        });
        answer.map(|answer| format!(" ponder {answer}")).unwrap_or_default()
    }

    pub fn choose(&self) -> String {
        let moves = self.position.legal_moves();
        if moves.is_empty() {
            return "(none)".into();
        }
        let other = match self.mode {
            CastlingMode::Standard => CastlingMode::Chess960,
            CastlingMode::Chess960 => CastlingMode::Standard,
        };
        if self.now("castling-other-notation")
            && let Some(castling) = moves.iter().find(|m| m.is_castle())
        {
            return castling.to_uci(other).to_string();
        }
        if self.now("promo-without-piece")
            && let Some(promotion) = moves.iter().find(|m| m.promotion().is_some())
        {
            let mut uci = promotion.to_uci(self.mode).to_string();
            uci.truncate(4);
            return uci;
        }
        let mates = |m: &&Move| self.position.clone().play(**m).is_ok_and(|after| after.is_checkmate());
        if self.wants_mate
            && let Some(mate) = moves.iter().find(mates)
        {
            return mate.to_uci(self.mode).to_string();
        }
        let allowed =
            |m: &&Move| self.searchmoves.is_empty() || self.searchmoves.contains(&m.to_uci(self.mode).to_string());
        let mut sorted: Vec<&Move> = moves.iter().filter(allowed).collect();
        if sorted.is_empty() {
            sorted = moves.iter().collect();
        }
        pick(sorted, self.hash()).to_uci(self.mode).to_string()
    }
}

fn hash(position: &Chess, seed: u64) -> u64 {
    mix(position.zobrist_hash::<Zobrist64>(EnPassantMode::Legal).0 ^ mix(seed))
}

/// The move of some, at least one, that a hash stands for.
fn pick(mut moves: Vec<&Move>, hash: u64) -> &Move {
    moves.sort_by_key(|m| (m.from().map(u32::from), u32::from(m.to()), m.promotion()));
    moves[usize::try_from(hash % moves.len() as u64).expect("an index")]
}

/// The mover's material less the other side's, in centipawns.
pub fn material(position: &Chess) -> i64 {
    let side = |color: Color| -> i64 {
        [(Role::Pawn, 100), (Role::Knight, 300), (Role::Bishop, 300), (Role::Rook, 500), (Role::Queen, 900)]
            .iter()
            .map(|&(role, value)| {
                let count = (position.board().by_color(color) & position.board().by_role(role)).count();
                i64::try_from(count).expect("at most 64") * value
            })
            .sum()
    };
    side(position.turn()) - side(!position.turn())
}

/// The finaliser of SplitMix64 (Steele, Lea, Flood 2014).
fn mix(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
