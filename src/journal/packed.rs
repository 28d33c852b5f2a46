//! Games outside the journal: a line of it, or packed in memory and in messages.
//!
//! Packed moves are numbers of seven bits a byte, lowest first; a packed game has its line without
//! moves before them. It takes a third of the line's bytes, and a twentieth of the time that
//! compressing the line took. Packed games are never written to a file, and coordinator and workers
//! of one version of the protocol alone exchange them. So the form has no version of its own.

use std::time::Duration;

use super::format::{self, JournalLine};
use crate::record::{GameRecord, MoveRecord, PvFault, RecordedOutput, Score, SearchInfo, micros};

/// Reads a game's line of a journal; `None` if it is another one or damaged.
#[must_use]
pub fn game_of(line: &[u8]) -> Option<GameRecord> {
    match format::parse_line(line) {
        Ok(JournalLine::Game(game)) => Some(*game),
        _ => None,
    }
}

/// Number of bytes of a packed ply, usually and at least.
const USUAL_PLY: usize = 32;
const LEAST_PLY: usize = 3;

/// Packs the moves of a game into a fraction of their memory. Times are rounded to microseconds, as
/// in the journal.
#[must_use]
pub fn pack_moves(moves: &[MoveRecord]) -> Box<[u8]> {
    let mut packed = Vec::new();
    PackWriter(&mut packed).moves(moves);
    packed.into()
}

/// Unpacks moves; `None` for bytes that [`pack_moves`] did not make.
#[must_use]
pub fn unpack_moves(packed: &[u8]) -> Option<Vec<MoveRecord>> {
    let mut packed = PackReader(packed);
    packed.moves(usize::MAX).filter(|_| packed.0.is_empty())
}

/// Packs a game and appends it to others.
pub fn pack(game: &GameRecord, packed: &mut Vec<u8>) {
    let mut line = Vec::new();
    format::write_game_without_moves(game, &mut line);
    let mut packed = PackWriter(packed);
    packed.bytes(&line);
    packed.moves(&game.moves);
}

/// Unpacks the first one of several games, and leaves the bytes of the others; `None` for bytes
/// that [`pack`] did not make, or a game of more than `most` plies.
pub fn unpack(packed: &mut &[u8], most: usize) -> Option<GameRecord> {
    let mut reader = PackReader(packed);
    let mut game = game_of(reader.bytes()?)?;
    game.moves = reader.moves(most)?;
    *packed = reader.0;
    Some(game)
}

/// Number of the values of a ply that may be missing.
const OPTIONAL: usize = 12;

/// Values of a ply that may be missing, in the order of their bits.
fn optional(ply: &MoveRecord) -> [Option<u64>; OPTIONAL] {
    let SearchInfo { score, depth, seldepth, nodes, nps, time, hashfull, tbhits, pv_fault } = ply.info;
    let (cp, mate) = match score {
        Some(Score::Cp(cp)) => (Some(zigzag(cp)), None),
        Some(Score::Mate(mate)) => (None, Some(zigzag(mate))),
        None => (None, None),
    };
    let fault = pv_fault.and_then(|fault| PvFault::ALL.iter().position(|one| *one == fault));
    [
        ply.left.map(micros),
        cp,
        mate,
        depth.map(u64::from),
        seldepth.map(u64::from),
        nodes,
        nps,
        time.map(micros),
        hashfull.map(u64::from),
        tbhits,
        fault.map(|place| place as u64),
        ply.waited.map(micros),
    ]
}

/// A number near zero as a small one without a sign.
fn zigzag(number: i32) -> u64 {
    let number = i64::from(number);
    ((number << 1) ^ (number >> 63)).cast_unsigned()
}

fn unzigzag(number: u64) -> Option<i32> {
    let half = (number >> 1).cast_signed();
    i32::try_from(if number & 1 == 0 { half } else { -half - 1 }).ok()
}

/// Packed bytes that grow.
struct PackWriter<'a>(&'a mut Vec<u8>);

impl PackWriter<'_> {
    fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push((number & 0x7f) as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn moves(&mut self, moves: &[MoveRecord]) {
        self.0.reserve(USUAL_PLY * moves.len());
        self.number(moves.len() as u64);
        moves.iter().for_each(|ply| self.ply(ply));
    }

    fn ply(&mut self, ply: &MoveRecord) {
        let values = optional(ply);
        let is_kept = ply.said != RecordedOutput::default();
        let bits = values.iter().enumerate().map(|(bit, value)| u64::from(value.is_some()) << bit);
        self.number(bits.sum::<u64>() | (u64::from(is_kept) << OPTIONAL));
        self.bytes(ply.uci.as_bytes());
        self.number(micros(ply.elapsed));
        values.into_iter().flatten().for_each(|value| self.number(value));
        if is_kept {
            self.bytes(ply.said.pv.as_bytes());
            self.number(ply.said.lines.len() as u64);
            ply.said.lines.iter().for_each(|line| self.bytes(line.as_bytes()));
        }
    }
}

/// Packed bytes that are left to read.
struct PackReader<'a>(&'a [u8]);

impl<'a> PackReader<'a> {
    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let (byte, rest) = self.0.split_first()?;
            self.0 = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    fn text(&mut self) -> Option<String> {
        String::from_utf8(self.bytes()?.to_vec()).ok()
    }

    fn moves(&mut self, most: usize) -> Option<Vec<MoveRecord>> {
        let plies = usize::try_from(self.number()?).ok()?;
        if plies > most.min(self.0.len() / LEAST_PLY) {
            return None;
        }
        let mut moves = Vec::with_capacity(plies);
        for _ in 0..plies {
            moves.push(self.ply()?);
        }
        Some(moves)
    }

    fn ply(&mut self) -> Option<MoveRecord> {
        let bits = self.number()?;
        let uci = self.text()?;
        let elapsed = Duration::from_micros(self.number()?);
        let mut values = [None; OPTIONAL];
        for (bit, value) in values.iter_mut().enumerate() {
            if (bits >> bit) & 1 == 1 {
                *value = Some(self.number()?);
            }
        }
        let mut said = RecordedOutput::default();
        if (bits >> OPTIONAL) & 1 == 1 {
            said.pv = self.text()?;
            for _ in 0..self.number()? {
                said.lines.push(self.text()?);
            }
        }
        let [left, cp, mate, depth, seldepth, nodes, nps, time, hashfull, tbhits, fault, waited] = values;
        let score = cp.and_then(unzigzag).map(Score::Cp).or(mate.and_then(unzigzag).map(Score::Mate));
        let [left, time, waited] = [left, time, waited].map(|time| time.map(Duration::from_micros));
        let info = SearchInfo {
            score,
            depth: depth.and_then(|depth| u32::try_from(depth).ok()),
            seldepth: seldepth.and_then(|depth| u32::try_from(depth).ok()),
            nodes,
            nps,
            time,
            hashfull: hashfull.and_then(|permille| u16::try_from(permille).ok()),
            tbhits,
            pv_fault: fault.and_then(|place| PvFault::ALL.get(usize::try_from(place).ok()?).copied()),
        };
        Some(MoveRecord { uci, elapsed, left, info, waited, said })
    }
}
