//! PGN games with evaluations in comments. Match runners write `{+0.31/12 1.2s}` from the mover's
//! view. Web sites write `{[%eval 0.31]}` from White's view after the move.

use super::error::{DataError, Place};
use super::journal::white_score;
use super::lines::ByteStream;
use super::record::Entry;
use destrier::board::Board;
use destrier::datagen::viriformat::{GameResult, MAX_PLIES, NO_SCORE, ScoredGame, ScoredMove};
use destrier::types::Color;
use pgn_reader::{RawComment, RawTag, Reader, SanPlus, Visitor};
use quintain::record::Score;
use shakmaty::{CastlingMode, Chess, Position as _, fen::Fen};
use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Length limit of a tag line in bytes; the standard allows 255.
const TAG_LINE: usize = 8192;

/// Values of the tag `Termination` for games not decided on the board or by adjudication. Match
/// runners, web sites and the standard use these. The result then says nothing about the positions,
/// so such games are passed over, as in a journal.
const FORFEITS: [&str; 9] = [
    "time forfeit",
    "illegal move",
    "rules infraction",
    "abandoned",
    "disconnect",
    "stalled connection",
    "unterminated",
    "emergency",
    "death",
];

/// Iterator of the games with a result from the board or adjudication and at least one evaluation.
/// All others are counted as passed over.
pub struct Games {
    path: PathBuf,
    reader: Reader<ByteStream>,
    moves: Moves,
    /// Games seen.
    number: u64,
    passed: Arc<AtomicU64>,
}

impl Games {
    pub fn new(path: PathBuf, input: ByteStream, passed: Arc<AtomicU64>) -> Games {
        let reader = Reader::build(input).set_supported_tag_line_length(TAG_LINE).finish();
        Games { path, reader, moves: Moves { has_tags: false }, number: 0, passed }
    }
}

impl Iterator for Games {
    type Item = Result<Entry, DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let place = Place::Game(self.number);
            match self.reader.read_game(&mut self.moves) {
                Ok(None) if !self.moves.has_tags => {
                    let why = "no game with tags from here to the end; is this a PGN file?";
                    return Some(Err(DataError::bad(&self.path, Place::Line(1), why)));
                }
                Ok(None) => return None,
                Ok(Some(Ok(None))) => {
                    self.number += 1;
                    self.passed.fetch_add(1, Ordering::Relaxed);
                }
                Ok(Some(Ok(Some(game)))) => {
                    self.number += 1;
                    return Some(Ok(Entry::Game(game)));
                }
                Ok(Some(Err(why))) => {
                    let game = self.number;
                    self.number += 1;
                    return Some(Err(DataError::bad_game(&self.path, game, why)));
                }
                Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                    let why = format!(
                        "{error}; if the file is torn there, cut it before the tags of this game to use the rest"
                    );
                    return Some(Err(DataError::bad(&self.path, place, why)));
                }
                Err(error) => return Some(Err(DataError::io(&self.path, "read it")(error))),
            }
        }
    }
}

struct Moves {
    /// True once a tag was read; text without any tag is not PGN.
    has_tags: bool,
}

#[derive(Default)]
struct Tags {
    fen: Option<String>,
    result: Option<GameResult>,
    is_forfeit: bool,
}

/// Game being read, on two boards, because the SAN parser needs its own.
struct OpenGame {
    board: Board,
    san: Chess,
    mode: CastlingMode,
    result: GameResult,
    start: Board,
    plies: Vec<ScoredMove>,
    /// White's score of the current position, from the comment after the previous move.
    said: Option<i16>,
}

type PgnResult = Result<Option<ScoredGame>, String>;

impl Visitor for Moves {
    type Tags = Tags;
    type Movetext = OpenGame;
    type Output = PgnResult;

    fn begin_tags(&mut self) -> ControlFlow<PgnResult, Tags> {
        ControlFlow::Continue(Tags::default())
    }

    fn tag(&mut self, tags: &mut Tags, name: &[u8], value: RawTag<'_>) -> ControlFlow<PgnResult> {
        self.has_tags = true;
        match name {
            b"FEN" => tags.fen = Some(value.decode_utf8_lossy().into_owned()),
            b"Result" => {
                tags.result = match value.as_bytes() {
                    b"1-0" => Some(GameResult::WhiteWins),
                    b"0-1" => Some(GameResult::BlackWins),
                    b"1/2-1/2" => Some(GameResult::Draw),
                    _ => None,
                }
            }
            b"Termination" => tags.is_forfeit = is_forfeit(&value.decode_utf8_lossy()),
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, tags: Tags) -> ControlFlow<PgnResult, OpenGame> {
        let Some(result) = tags.result.filter(|_| !tags.is_forfeit) else { return ControlFlow::Break(Ok(None)) };
        let fen = tags.fen.as_deref().unwrap_or(START);
        let board = match Board::from_fen(fen) {
            Ok(board) => board,
            Err(error) => return ControlFlow::Break(Err(error.to_string())),
        };
        let Ok(read) = Fen::from_ascii(fen.as_bytes()) else {
            return ControlFlow::Break(Err(format!("bad fen `{fen}`")));
        };
        let mode = CastlingMode::detect(read.as_setup());
        let Ok(san) = read.into_position::<Chess>(mode) else {
            return ControlFlow::Break(Err(format!("`{fen}` is no legal position")));
        };
        ControlFlow::Continue(OpenGame { board, san, mode, result, start: board, plies: Vec::new(), said: None })
    }

    fn san(&mut self, game: &mut OpenGame, san: SanPlus) -> ControlFlow<PgnResult> {
        let ply = game.plies.len() + 1;
        if ply > MAX_PLIES {
            return ControlFlow::Break(Err(format!("more than {MAX_PLIES} plies")));
        }
        let Ok(mv) = san.san.to_move(&game.san) else {
            return ControlFlow::Break(Err(format!("move `{san}` at ply {ply} is not legal")));
        };
        let word = mv.to_uci(game.mode).to_string();
        let Some(own) = game.board.parse_uci(&word) else {
            return ControlFlow::Break(Err(format!("move `{san}` at ply {ply} is not legal")));
        };
        let score = game.said.take().unwrap_or(NO_SCORE);
        game.plies.push(ScoredMove { mv: own, score });
        game.board.play(own);
        game.san.play_unchecked(mv);
        ControlFlow::Continue(())
    }

    fn comment(&mut self, game: &mut OpenGame, comment: RawComment<'_>) -> ControlFlow<PgnResult> {
        let text = String::from_utf8_lossy(comment.as_bytes());
        if let Some((_, eval)) = text.split_once("[%eval ") {
            let eval = eval.split([']', ',', ' ']).next().unwrap_or_default();
            game.said = pawns(eval).map(|score| white_score(score, Color::White));
        } else if let Some(last) = game.plies.last_mut()
            && let Some(score) = pawns(text.trim_start().split(['/', ' ']).next().unwrap_or_default())
        {
            // The board is already one move further.
            last.score = white_score(score, !game.board.turn());
        }
        ControlFlow::Continue(())
    }

    fn begin_variation(&mut self, _: &mut OpenGame) -> ControlFlow<PgnResult, pgn_reader::Skip> {
        ControlFlow::Continue(pgn_reader::Skip(true))
    }

    fn end_game(&mut self, game: OpenGame) -> PgnResult {
        let Some(book) = game.plies.iter().position(|ply| ply.score != NO_SCORE) else { return Ok(None) };
        let mut start = game.start;
        game.plies[..book].iter().for_each(|ply| start.play(ply.mv));
        Ok(Some(ScoredGame { start, start_score: 0, result: game.result, plies: game.plies[book..].to_vec() }))
    }
}

/// Returns true if the value of the tag `Termination` means a forfeit or an abandoned game.
fn is_forfeit(termination: &str) -> bool {
    let termination = termination.trim().to_ascii_lowercase();
    // Some web sites write a sentence: `anna won on time`, `anna won - game abandoned`.
    FORFEITS.contains(&termination.as_str()) || termination.ends_with(" on time") || termination.ends_with(" abandoned")
}

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

/// Parses an evaluation such as `+0.31`, `-12.5`, `+M5`, `-M3`, `#4` or `#-4`.
fn pawns(text: &str) -> Option<Score> {
    let mate = |digits: &str, sign: i32| digits.parse::<u16>().ok().map(|moves| Score::Mate(sign * i32::from(moves)));
    if let Some(digits) = text.strip_prefix("+M").or(text.strip_prefix('M')) {
        // Match runners count mates in plies.
        return mate(digits, 1).map(half);
    }
    if let Some(digits) = text.strip_prefix("-M") {
        return mate(digits, -1).map(half);
    }
    if let Some(digits) = text.strip_prefix('#') {
        return digits.strip_prefix('-').map_or_else(|| mate(digits, 1), |digits| mate(digits, -1));
    }
    let pawns: f64 = text.parse().ok().filter(|_| text.contains('.'))?;
    pawns.is_finite().then(|| Score::Cp((pawns * 100.0).round().clamp(-30_000.0, 30_000.0) as i32))
}

/// Converts a mate distance from plies to moves.
fn half(score: Score) -> Score {
    match score {
        Score::Mate(plies) => Score::Mate((plies + plies.signum()) / 2),
        score => score,
    }
}
