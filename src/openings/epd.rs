//! Lists of positions, one EPD or FEN a line.

use std::fmt::Write as _;
use std::io::{self, Read};

use super::error::{LineFault, Trouble, without_bom, words};
use super::store::{LONGEST_LINE, Store};
use crate::chess::{Position, Variant};

/// Bytes checked at once.
const CHUNK: usize = 4 << 20;

/// Minimum number of bytes that justifies a thread.
const PART: usize = 128 << 10;

/// Extent of the checks of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Care {
    /// Every position is parsed and checked, because the list comes from a user.
    Checked(Variant),
    /// No position is checked: the list comes with the program, and a test checks it.
    Trusted,
}

/// Reads and checks a list. Memory holds one chunk and the store, however long the list is.
pub(super) fn read(reader: impl Read, care: Care, store: &mut Store) -> Result<(), Trouble> {
    read_in_chunks(CHUNK, reader, care, store)
}

pub(super) fn read_in_chunks(size: usize, mut reader: impl Read, care: Care, store: &mut Store) -> Result<(), Trouble> {
    chunks(&mut reader, size, |first_line, text| {
        let mut fault = None;
        let (mut lines, mut begins) = (0, Vec::new());
        for (at, part) in check_in_parts(text, care) {
            if fault.is_none() {
                fault = part.fault.map(|(line, what)| LineFault { line: add(add(first_line, lines), line), what });
            }
            begins.extend(part.begins.iter().map(|begin| add(*begin, at)));
            lines = add(lines, part.lines);
        }
        match fault {
            Some(fault) => Err(fault.into()),
            None => store.add(text, begins).map(|()| lines).map_err(Trouble::Store),
        }
    })
}

/// Passes each broken line of a list with its number, from 1, to `found`.
pub(super) fn faults(
    mut reader: impl Read,
    variant: Variant,
    mut found: impl FnMut(u32, String),
) -> Result<(), Trouble> {
    chunks(&mut reader, CHUNK, |first_line, text| {
        let mut lines = 0;
        for (number, line) in (first_line..).zip(text.split_inclusive(|byte| *byte == b'\n')) {
            if let Some(Err(what)) = check_line(line, Care::Checked(variant)) {
                found(number, what);
            }
            lines = add(lines, 1);
        }
        Ok(lines)
    })
}

const fn add(a: u32, b: u32) -> u32 {
    a.saturating_add(b)
}

/// Passes on whole lines with the number of the first, and adds the number of lines that it
/// returns.
fn chunks(
    reader: &mut impl Read,
    size: usize,
    mut take: impl FnMut(u32, &[u8]) -> Result<u32, Trouble>,
) -> Result<(), Trouble> {
    // One allocation; the part that a short list does not need is never touched.
    let (mut chunk, mut line, mut is_first) = (Vec::with_capacity(size), 1u32, true);
    loop {
        let wanted = size.saturating_sub(chunk.len()) as u64;
        let read = read_up_to(reader, wanted, &mut chunk)?;
        let is_last = (read as u64) < wanted;
        let begin = if is_first { chunk.len() - without_bom(&chunk).len() } else { 0 };
        is_first = false;
        let end = if is_last { Some(chunk.len()) } else { chunk.iter().rposition(|b| *b == b'\n').map(|at| at + 1) };
        let Some(end) = end else { return Err(LineFault { line, what: too_long() }.into()) };
        line = add(line, take(line, &chunk[begin..end])?);
        if is_last {
            return Ok(());
        }
        chunk.drain(..end);
    }
}

fn read_up_to(reader: &mut impl Read, most: u64, into: &mut Vec<u8>) -> io::Result<usize> {
    reader.take(most).read_to_end(into)
}

fn too_long() -> String {
    format!("the line is longer than {LONGEST_LINE} bytes")
}

/// A piece of a list.
#[derive(Default)]
struct Part {
    /// Place of each position's line in the piece.
    begins: Vec<u32>,
    lines: u32,
    /// The first broken line, from 0, and its fault.
    fault: Option<(u32, String)>,
}

/// Parts of the text with their offsets, checked in parallel if the text is long.
fn check_in_parts(text: &[u8], care: Care) -> Vec<(u32, Part)> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(8).min(text.len() / PART).max(1);
    let mut parts = Vec::with_capacity(threads);
    let mut at = 0;
    for left in (1..=threads).rev() {
        let rest = &text[at..];
        let near = rest.len() / left;
        let end = rest[near..].iter().position(|byte| *byte == b'\n').map_or(rest.len(), |more| near + more + 1);
        let end = if left == 1 { rest.len() } else { end };
        parts.push((u32::try_from(at).unwrap_or(u32::MAX), &rest[..end]));
        at += end;
    }
    let Some(((last_at, last), others)) = parts.split_last() else { return Vec::new() };
    std::thread::scope(|scope| {
        // If the system has no thread to give, the part is checked here.
        let spawn = |part| std::thread::Builder::new().spawn_scoped(scope, move || check_part(part, care)).ok();
        let running: Vec<_> = others.iter().map(|&(at, part)| (at, part, spawn(part))).collect();
        let last = check_part(last, care);
        let mut checked: Vec<_> = running
            .into_iter()
            .map(|(at, part, thread)| {
                let joined = thread.and_then(|thread| thread.join().ok());
                (at, joined.unwrap_or_else(|| check_part(part, care)))
            })
            .collect();
        checked.push((*last_at, last));
        checked
    })
}

fn check_part(text: &[u8], care: Care) -> Part {
    let mut part = Part::default();
    let mut at = 0;
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        match check_line(line, care) {
            Some(Ok(())) => part.begins.push(u32::try_from(at).unwrap_or(u32::MAX)),
            Some(Err(what)) => {
                part.fault = Some((part.lines, what));
                return part;
            }
            None => {}
        }
        at += line.len();
        part.lines = add(part.lines, 1);
    }
    part
}

/// Checks a line; `None` if there is no position in it.
fn check_line(line: &[u8], care: Care) -> Option<Result<(), String>> {
    if line.len() > LONGEST_LINE {
        return Some(Err(too_long()));
    }
    let line = line.trim_ascii();
    if line.is_empty() || line.starts_with(b"#") {
        return None;
    }
    let Care::Checked(variant) = care else { return Some(Ok(())) };
    Some(fen_of_line(line).and_then(|fen| check_position(&fen, variant)))
}

fn check_position(fen: &str, variant: Variant) -> Result<(), String> {
    let over = Position::over_at(fen, variant).map_err(|error| error.to_string())?;
    over.map_or(Ok(()), |why| Err(format!("the game is over here already ({})", words(why))))
}

/// The six-field FEN of an EPD or FEN line.
pub(super) fn fen_of_line(line: &[u8]) -> Result<String, String> {
    let mut rest = line.trim_ascii();
    let mut fen = String::with_capacity(line.len().min(128));
    for _ in 0..4 {
        let (field, after) = rest.split_at(rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len()));
        if field.is_empty() {
            return Err("a position has the four fields board, side to move, castling and en passant".to_owned());
        }
        fen.push_str(std::str::from_utf8(field).map_err(|_| "the position is not plain text")?);
        fen.push(' ');
        rest = after.trim_ascii_start();
    }
    let (halfmoves, fullmoves) = counters(rest)?;
    // Writing to a string cannot fail.
    let _ = write!(fen, "{halfmoves} {fullmoves}");
    Ok(fen)
}

/// Limit of both counters of a position.
const COUNTER_LIMIT: u32 = 10_000;

/// Checks the counters of a FEN, as far as it has some.
pub(super) fn check_counters(fen: &str) -> Result<(), String> {
    let fields = fen.split_ascii_whitespace().skip(4);
    ["the halfmove clock", "the move number"]
        .into_iter()
        .zip(fields)
        .try_for_each(|(what, field)| counter(field.as_bytes(), what).map(drop))
}

/// Reads a counter, which an error calls `what`.
fn counter(text: &[u8], what: &str) -> Result<u32, String> {
    let digits = std::str::from_utf8(text).ok().filter(|text| text.bytes().all(|b| b.is_ascii_digit()));
    let number = digits.and_then(|digits| digits.parse::<u32>().ok()).filter(|n| *n < COUNTER_LIMIT);
    number.ok_or_else(|| format!("{what} is not a number below {COUNTER_LIMIT}"))
}

/// Halfmove clock and move number: the FEN's fields, or the opcodes `hmvc` and `fmvn`, or else 0
/// and 1.
fn counters(rest: &[u8]) -> Result<(u32, u32), String> {
    if rest.first().is_some_and(|b| b.is_ascii_digit() || *b == b'-') {
        let mut fields = rest.split(|b| b.is_ascii_whitespace() || *b == b';').filter(|field| !field.is_empty());
        let halfmoves = counter(fields.next().unwrap_or_default(), "the halfmove clock")?;
        return Ok((halfmoves, counter(fields.next().unwrap_or_default(), "the move number")?));
    }
    let (mut halfmoves, mut fullmoves) = (0, 1);
    for operation in operations(rest) {
        let operation = operation.trim_ascii();
        let (opcode, operand) = operation.split_at(operation.len().min(4));
        match opcode {
            b"hmvc" => halfmoves = counter(operand.trim_ascii(), "hmvc")?,
            b"fmvn" => fullmoves = counter(operand.trim_ascii(), "fmvn")?,
            _ => {}
        }
    }
    Ok((halfmoves, fullmoves))
}

/// EPD operations: ended by `;`, except inside quotes.
fn operations(rest: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut quoted = false;
    rest.split(move |byte| {
        quoted ^= *byte == b'"';
        *byte == b';' && !quoted
    })
}
