//! PGN as an opening book: the FEN tag and the first plies of each game's main line.
//!
//! The reader is our own, because a book must not be read leniently. General PGN readers skip a
//! word that is not a move (`Qq4`) and continue with a different game than the book's author meant.
//! Here every word is a move number, a move, a glyph, a comment, a variation or a result, and
//! anything else is an error with its line. Tests compare it with a general reader on good input.

use std::borrow::Cow;
use std::io::Read;

use super::epd::check_counters;
use super::error::{LineFault, Trouble, without_bom, words};
use super::store::{LONGEST_LINE, Store};
use super::{BookOptions, START_FEN, line_of_opening};
use crate::chess::Position;
use crate::text::excerpt;

/// Bytes read at once.
const CHUNK: usize = 256 << 10;

/// The largest game: 4 MiB.
const LARGEST_GAME: usize = 4 << 20;

/// The longest word that may be a move; the longest moves have a dozen characters.
const LONGEST_WORD: usize = 200;

/// Reads and checks every game as far as the plies to play, and stores its FEN and moves.
pub(super) fn read(reader: impl Read, options: &BookOptions, store: &mut Store) -> Result<(), Trouble> {
    read_in_chunks(CHUNK, reader, options, store)
}

pub(super) fn read_in_chunks(
    size: usize,
    reader: impl Read,
    options: &BookOptions,
    store: &mut Store,
) -> Result<(), Trouble> {
    let mut window = Window { reader, bytes: Vec::new(), at: 0, size, is_last: false };
    // A byte order mark has three bytes.
    while window.bytes.len() < 3 && !window.is_last {
        window.fill()?;
    }
    window.at = window.bytes.len() - without_bom(&window.bytes).len();
    let (mut number, mut line) = (1, 1);
    loop {
        let mut lexer = Lexer::new(&window.bytes, window.at, line);
        let game = next_game(&mut lexer, number, options);
        // A game that ends with the bytes read may continue, and an apparent fault there may be a
        // cut.
        if !window.is_last && (lexer.at >= window.bytes.len() || !matches!(game, Ok(Some(_)))) {
            if window.bytes.len() - window.at < LARGEST_GAME {
                window.fill()?;
                continue;
            }
            if game.is_ok() {
                let what = format!("game {number}: it is longer than {LARGEST_GAME} bytes");
                return Err(LineFault { line, what }.into());
            }
        }
        let Some(game) = game? else { return Ok(()) };
        (window.at, line) = (lexer.at, lexer.line);
        let text = line_of_opening(&game.fen, &game.moves);
        if text.len() > LONGEST_LINE {
            let what = format!("game {number}: too many moves for an opening; play fewer plies with `--book-plies`");
            return Err(LineFault { line, what }.into());
        }
        store.add(text.as_bytes(), [0]).map_err(Trouble::Store)?;
        number += 1;
    }
}

/// The part of a file in memory: the current game and the bytes read with it.
struct Window<R> {
    reader: R,
    bytes: Vec<u8>,
    /// Offset of the next game.
    at: usize,
    size: usize,
    /// True if the window holds the file's last byte.
    is_last: bool,
}

impl<R: Read> Window<R> {
    /// Reads more bytes. The byte before the game stays, because an escape `%` counts only at the
    /// beginning of a line.
    fn fill(&mut self) -> Result<(), Trouble> {
        self.bytes.drain(..self.at.saturating_sub(1));
        self.at = self.at.min(1);
        // As many bytes as there are already, so that a long game is not scanned over and over.
        let wanted = self.size.max(self.bytes.len()) as u64;
        let read = (&mut self.reader).take(wanted).read_to_end(&mut self.bytes)?;
        self.is_last = (read as u64) < wanted;
        Ok(())
    }
}

/// Reads and checks one game; `None` at the end of the file.
fn next_game(lexer: &mut Lexer<'_>, number: u64, options: &BookOptions) -> Result<Option<PgnGame>, LineFault> {
    let in_game = |fault: LineFault| LineFault { what: format!("game {number}: {}", fault.what), ..fault };
    lexer.skip_space()?;
    let line = lexer.line;
    let Some(game) = read_game(lexer, options).map_err(in_game)? else { return Ok(None) };
    if let Some((_, why)) = game.position.over() {
        let remedy = if game.moves.is_empty() { "" } else { "; play fewer plies with `--book-plies`" };
        let what = format!("the game is over after its {} book plies ({}){remedy}", game.moves.len(), words(why));
        return Err(in_game(LineFault { line, what }));
    }
    Ok(Some(game))
}

struct PgnGame {
    fen: String,
    moves: Vec<String>,
    position: Position,
}

/// Reads one game; `None` at the end of the file.
fn read_game(lexer: &mut Lexer<'_>, options: &BookOptions) -> Result<Option<PgnGame>, LineFault> {
    let mut fen = None;
    let mut token = lexer.next()?;
    if token.is_none() {
        return Ok(None);
    }
    if matches!(token, Some(Token::Result)) {
        return Err(lexer.fault("a result without tags and moves"));
    }
    while let Some(Token::Tag { name, value }) = token {
        if name == b"FEN" {
            fen = Some((lexer.line, value.into_owned()));
        }
        token = lexer.next()?;
    }
    let (line, fen) = fen.unwrap_or_else(|| (lexer.line, START_FEN.to_owned()));
    let fault = |why: String| LineFault { line, what: format!("`{}`: {why}", excerpt(&fen, 100)) };
    let position = Position::from_fen(&fen, options.variant).map_err(|error| fault(error.to_string()))?;
    check_counters(&fen).map_err(fault)?;
    let mut game = PgnGame { fen, moves: Vec::new(), position };
    let plies = options.plies.map_or(usize::MAX, |plies| plies as usize);
    loop {
        match token {
            Some(Token::Move(san)) if game.moves.len() < plies => {
                let played = game.position.play_san(&String::from_utf8_lossy(san));
                let played = played.map_err(|error| LineFault { line: lexer.line, what: error.to_string() })?;
                game.moves.push(played.uci);
            }
            Some(Token::Move(_)) => {}
            // A game without a result ends at the tags of the next one, which are read again.
            Some(Token::Tag { .. }) => {
                lexer.at = lexer.tag_at;
                return Ok(Some(game));
            }
            Some(Token::Result) | None => return Ok(Some(game)),
        }
        token = lexer.next()?;
    }
}

/// Token of a PGN file; comments and variations are skipped.
enum Token<'a> {
    Tag { name: &'a [u8], value: Cow<'a, str> },
    Move(&'a [u8]),
    Result,
}

struct Lexer<'a> {
    bytes: &'a [u8],
    at: usize,
    line: u32,
    /// Offset of the last tag.
    tag_at: usize,
}

impl<'a> Lexer<'a> {
    const fn new(bytes: &'a [u8], at: usize, line: u32) -> Self {
        Self { bytes, at, line, tag_at: at }
    }

    /// The next token of the main line; `None` at the end of the file.
    fn next(&mut self) -> Result<Option<Token<'a>>, LineFault> {
        loop {
            self.skip_space()?;
            let Some(byte) = self.peek() else { return Ok(None) };
            match byte {
                b'[' => return self.tag().map(Some),
                b'(' => self.skip_variation()?,
                b')' => return Err(self.fault("`)` without `(`")),
                b'$' | b'!' | b'?' => {
                    self.word();
                }
                _ => {
                    if let Some(token) = self.movetext_word()? {
                        return Ok(Some(token));
                    }
                }
            }
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn fault(&self, what: &str) -> LineFault {
        LineFault { line: self.line, what: what.to_owned() }
    }

    /// Moves on by `count` bytes, counting lines.
    fn advance(&mut self, count: usize) {
        let skipped = &self.bytes[self.at..self.at + count];
        let lines = skipped.iter().filter(|byte| **byte == b'\n').count();
        self.line = self.line.saturating_add(u32::try_from(lines).unwrap_or(u32::MAX));
        self.at += count;
    }

    /// Skips white space, comments and escaped lines.
    fn skip_space(&mut self) -> Result<(), LineFault> {
        while let Some(byte) = self.peek() {
            let rest = &self.bytes[self.at..];
            let line = || rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
            let new_line = self.at == 0 || self.bytes[self.at - 1] == b'\n';
            let length = match byte {
                b';' => line(),
                b'%' if new_line => line(),
                b'{' => match rest.iter().position(|b| *b == b'}') {
                    Some(end) => end + 1,
                    None => return Err(self.fault("comment `{` without `}`")),
                },
                _ if byte.is_ascii_whitespace() => 1,
                _ => return Ok(()),
            };
            self.advance(length);
        }
        Ok(())
    }

    /// Skips a variation and those inside it.
    fn skip_variation(&mut self) -> Result<(), LineFault> {
        let opened = self.line;
        let mut depth = 0u32;
        loop {
            self.skip_space()?;
            match self.peek() {
                Some(b'(') => depth += 1,
                Some(b')') => depth -= 1,
                Some(_) => {}
                None => return Err(LineFault { line: opened, what: "variation `(` without `)`".to_owned() }),
            }
            self.advance(1);
            if depth == 0 {
                return Ok(());
            }
        }
    }

    /// Takes the bytes up to white space or punctuation; at least one.
    fn word(&mut self) -> &'a [u8] {
        let rest = &self.bytes[self.at..];
        let ends = |b: &u8| b.is_ascii_whitespace() || b"{}();[]$".contains(b);
        let length = rest.iter().skip(1).position(ends).map_or(rest.len(), |n| n + 1);
        self.at += length;
        &rest[..length]
    }

    /// A result, a move (without its number), or `None` for a move number alone.
    fn movetext_word(&mut self) -> Result<Option<Token<'a>>, LineFault> {
        let word = self.word();
        if matches!(word, b"1-0" | b"0-1" | b"1/2-1/2" | b"*") || word == "½-½".as_bytes() {
            return Ok(Some(Token::Result));
        }
        if word.len() > LONGEST_WORD {
            let begins = excerpt(&String::from_utf8_lossy(&word[..LONGEST_WORD]), 40);
            return Err(self.fault(&format!("`{begins}` has {} bytes, which no move has", word.len())));
        }
        let digits = word.iter().take_while(|b| b.is_ascii_digit()).count();
        let dots = word[digits..].iter().take_while(|b| **b == b'.').count();
        let san = match (digits, dots) {
            // Castling written with zeros begins with a digit and has no dot.
            (_, 0) if digits < word.len() => word,
            _ => &word[digits + dots..],
        };
        if san.is_empty() || san == b"e.p." {
            return Ok(None);
        }
        if san.first().is_some_and(u8::is_ascii_alphabetic) || san.starts_with(b"0-0") {
            return Ok(Some(Token::Move(san)));
        }
        Err(self.fault(&format!("`{}` is neither a move nor a result", excerpt(&String::from_utf8_lossy(san), 40))))
    }

    /// `[Name "value"]` on one line.
    fn tag(&mut self) -> Result<Token<'a>, LineFault> {
        let rest = &self.bytes[self.at..];
        let line = rest.split(|byte| *byte == b'\n').next().unwrap_or(rest);
        let broken = || self.fault("broken tag; it should read [Name \"value\"]");
        let name_end = line.iter().position(|b| b.is_ascii_whitespace() || *b == b'"').ok_or_else(broken)?;
        let open = line.iter().position(|b| *b == b'"').ok_or_else(broken)?;
        let mut value = Vec::new();
        let mut rest = line[open + 1..].iter().enumerate();
        let close = loop {
            match rest.next().ok_or_else(broken)? {
                (i, b'"') => break open + 1 + i,
                (_, b'\\') => value.push(*rest.next().ok_or_else(broken)?.1),
                (_, byte) => value.push(*byte),
            }
        };
        let bracket = line[close..].iter().position(|b| *b == b']').ok_or_else(broken)?;
        (self.tag_at, self.at) = (self.at, self.at + close + bracket + 1);
        let value = Cow::Owned(String::from_utf8_lossy(&value).into_owned());
        Ok(Token::Tag { name: line[1..name_end].trim_ascii(), value })
    }
}
