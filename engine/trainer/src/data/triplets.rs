//! Triplets of positions for the training method `pqr`: `data triplets`.
//!
//! Of a position P with the move that was played, Q is the position after that move and R the one
//! after another legal move, drawn uniformly. Each triplet is three records of bulletformat, marked
//! in their last bytes, each from the view of its side to move.

use super::error::DataError;
use super::input::{Input, check_apart};
use super::needs::Needs;
use super::record::{Entry, Position, TRIPLET_MARKS, bullet_bytes};
use super::write::Sink;
use super::{passed_over, say};
use anyhow::bail;
use clap::Args;
use destrier::board::Board;
use destrier::datagen::viriformat::NO_SCORE;
use destrier::types::{Move, MoveList, SplitMix64};
use std::path::PathBuf;

/// Move numbers with counts of their own; later moves share the last.
const MOVE_NUMBERS: usize = 100;
/// Numbers of legal moves that are told apart.
const MOVE_COUNTS: usize = 256;

const EXAMPLES: &str = "\
Example:
  destrier-trainer data triplets games.vf --min-moves-quantile 0.25 --out games.pqr

The file is what the key `triplets` of a training plan names, for `method = \"pqr\"`.";

/// Arguments of `triplets`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct TripletsArgs {
    #[command(flatten)]
    input: Input,
    /// File to write, usually `.pqr`
    #[arg(long, short, value_name = "FILE")]
    pub(super) out: PathBuf,
    /// Replace the file
    #[arg(long)]
    force: bool,
    /// Leave out positions with fewer legal moves than this share of the positions of the same side
    /// and move number has; 0 takes all with two moves
    #[arg(long, default_value_t = 0.0, value_name = "Q", value_parser = quantile)]
    min_moves_quantile: f64,
    /// Leave out positions before this ply of the game
    #[arg(long, default_value_t = 0, value_name = "PLY")]
    min_ply: u32,
    /// Leave out positions with a score beyond this, in centipawns
    #[arg(long, default_value_t = 5000, value_name = "CP")]
    max_score: u16,
    /// Share of the positions that is taken, drawn by the seed
    #[arg(long, default_value_t = 1.0, value_name = "SHARE", value_parser = share)]
    share: f64,
    /// Seed of all draws
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
}

fn quantile(word: &str) -> Result<f64, String> {
    word.parse().ok().filter(|value| (0.0..1.0).contains(value)).ok_or_else(|| "give 0 to less than 1".to_owned())
}

/// Parses a share of positions.
pub(super) fn share(word: &str) -> Result<f64, String> {
    let is_share = |value: &f64| *value > 0.0 && *value <= 1.0;
    word.parse().ok().filter(is_share).ok_or_else(|| "give more than 0 and at most 1".to_owned())
}

/// Positions by side, move number and number of legal moves.
struct MobilityTable(Vec<[u64; MOVE_COUNTS]>);

impl MobilityTable {
    fn new() -> MobilityTable {
        MobilityTable(vec![[0; MOVE_COUNTS]; 2 * MOVE_NUMBERS])
    }

    fn place(board: &Board) -> usize {
        let number = usize::from(board.fullmove_number()).min(MOVE_NUMBERS);
        2 * number.saturating_sub(1) + board.turn().index()
    }

    fn record(&mut self, board: &Board, moves: usize) {
        self.0[MobilityTable::place(board)][moves.min(MOVE_COUNTS - 1)] += 1;
    }

    /// Returns the number of legal moves that a share of the positions does not reach, at least 2,
    /// for each side and move number.
    fn limits(&self, share: f64) -> Vec<usize> {
        let limit = |counts: &[u64; MOVE_COUNTS]| {
            let total: u64 = counts.iter().sum();
            let mut below = 0;
            let found = counts.iter().position(|count| {
                below += count;
                below as f64 > share * total as f64
            });
            found.unwrap_or(0).max(2)
        };
        self.0.iter().map(limit).collect()
    }
}

impl TripletsArgs {
    /// Reads the games, twice with a quantile, and writes the triplets.
    ///
    /// # Errors
    /// Fails if an input cannot be read or has no moves, nothing is left, or the output cannot be
    /// written.
    pub fn run(&self) -> anyhow::Result<()> {
        let needs = Needs { games: Some("triplets need the moves played; give the games"), ..Needs::default() };
        check_apart(&[&self.out], &self.input.files)?;
        // First: from here on the unfinished output, which an interrupt removes, is this run's.
        let mut sink = Sink::create(&self.out, self.force)?;
        let limits = self.limits(needs)?;
        let (mut game, mut triplets, mut left_out) = (0_u64, 0_u64, 0_u64);
        let passed = self.input.read(needs, |entry| {
            let mut random = SplitMix64::from_seeds(&[self.seed, game]);
            game += 1;
            for position in Self::positions(&entry) {
                let is_drawn = random.chance(self.share);
                let limit = limits[MobilityTable::place(&position.board)];
                match self.triplet(&position, limit, &mut random).filter(|_| is_drawn) {
                    Some(records) => {
                        triplets += 1;
                        records.iter().try_for_each(|record| sink.put(record))?;
                    }
                    None => left_out += 1,
                }
            }
            Ok(())
        })?;
        if triplets == 0 {
            bail!(
                "{}: no position is left ({left_out} left out); give games with moves and scores, or milder limits",
                self.out.display()
            );
        }
        sink.finish()?;
        let (path, passed) = (self.out.display(), passed_over(passed));
        say(&format!("{triplets} triplets in {path}, {left_out} positions left out{passed}"))?;
        Ok(())
    }

    fn positions(entry: &Entry) -> Vec<Position> {
        entry.positions().into_iter().filter(|position| !position.mv.is_null()).collect()
    }

    /// Limits of the number of legal moves by side and move number.
    fn limits(&self, needs: Needs) -> Result<Vec<usize>, DataError> {
        let mut table = MobilityTable::new();
        if self.min_moves_quantile > 0.0 {
            self.input.check_lasting()?;
            self.input.read(needs, |entry| {
                for position in Self::positions(&entry) {
                    let mut moves = MoveList::new();
                    position.board.legal_moves(&mut moves);
                    table.record(&position.board, moves.len());
                }
                Ok(())
            })?;
        }
        Ok(table.limits(self.min_moves_quantile))
    }

    /// Records of P, Q and R; `None` if the position does not take part.
    fn triplet(&self, position: &Position, limit: usize, random: &mut SplitMix64) -> Option<[[u8; 32]; 3]> {
        let is_in = position.score != NO_SCORE
            && position.score.unsigned_abs() <= self.max_score
            && (self.min_ply == 0 || position.ply() >= self.min_ply);
        let mut moves = MoveList::new();
        position.board.legal_moves(&mut moves);
        if !is_in || moves.len() < limit.max(2) {
            return None;
        }
        let others: Vec<Move> = moves.iter().copied().filter(|mv| *mv != position.mv).collect();
        if others.is_empty() || others.len() == moves.len() {
            return None;
        }
        let other = others[random.below(others.len())];
        let after = |mv: Move| {
            let mut board = position.board;
            board.play(mv);
            Position { board, mv: Move::NULL, ..*position }
        };
        let positions = [*position, after(position.mv), after(other)];
        let mut records = [[0; 32]; 3];
        for ((record, position), mark) in records.iter_mut().zip(positions).zip(TRIPLET_MARKS) {
            let mut board = position.to_bullet();
            board.extra = mark;
            *record = bullet_bytes(&board);
        }
        Some(records)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::record::bullet_record;
    use destrier::datagen::viriformat::GameResult;

    fn args(quantile: f64) -> TripletsArgs {
        TripletsArgs {
            input: Input { files: Vec::new(), from: None },
            out: PathBuf::new(),
            force: false,
            min_moves_quantile: quantile,
            min_ply: 0,
            max_score: 500,
            share: 1.0,
            seed: 1,
        }
    }

    fn position(fen: &str, mv: &str) -> Position {
        let board = Board::from_fen(fen).expect(fen);
        Position { board, mv: board.parse_uci(mv).expect("legal"), score: 50, result: GameResult::WhiteWins }
    }

    #[test]
    fn q_follows_the_played_move_and_r_another() {
        // Black has two moves, Kc8 and Ke8.
        let p = position("3k4/8/3K4/8/8/8/8/7R b - - 0 1", "d8c8");
        let (mut random, args) = (SplitMix64::new(1), args(0.0));
        for _ in 0..20 {
            let records = args.triplet(&p, 2, &mut random).expect("a triplet").map(|record| bullet_record(&record));
            assert_eq!(records.map(|record| record.extra), TRIPLET_MARKS);
            // From the mover's view Black loses, afterwards White wins.
            assert_eq!(records.map(|record| record.result), [0, 2, 2]);
            let after = |mv: &str| {
                let mut board = p.board;
                board.play(p.board.parse_uci(mv).expect("legal"));
                Position { board, mv: Move::NULL, ..p }.to_bullet().pcs
            };
            assert_eq!(records[1].pcs, after("d8c8"));
            assert_eq!((records[2].ksq, records[2].opp_ksq), (43, 60 ^ 56), "the other move is Ke8");
        }
        assert!(args.triplet(&p, 3, &mut random).is_none(), "two legal moves are fewer than three");
        let won = Position { score: 501, ..p };
        assert!(args.triplet(&won, 2, &mut random).is_none());
    }

    #[test]
    fn limits_are_quantiles_by_side_and_move_number() {
        let board = Board::startpos();
        let mut table = MobilityTable::new();
        for moves in [10, 20, 30, 40] {
            table.record(&board, moves);
        }
        let place = MobilityTable::place(&board);
        let limits = [0.0, 0.25, 0.5, 0.75].map(|share| table.limits(share)[place]);
        assert_eq!(limits, [10, 20, 30, 40]);
        assert_eq!(table.limits(0.5)[place ^ 1], 2, "no position with Black to move");
        assert_eq!(MobilityTable::new().limits(0.0)[place], 2);
    }
}
