//! UCI commands and their encoding as lines.

use std::fmt;
use std::io::Write as _;
use std::time::Duration;

use thiserror::Error;
use vampirc_uci::{Serializable, UciMessage};

use quintain_record::ByColor;

/// One side's clock as `go` reports it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SideClock {
    /// Time left. Written in whole milliseconds, rounded down, but at least 1.
    pub time: Duration,
    /// Added after each move. Written in whole milliseconds, rounded down.
    pub increment: Duration,
}

/// The arguments of `go`. Fields left out are not sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Go {
    /// `wtime`, `btime`, `winc`, `binc`.
    pub clocks: Option<ByColor<SideClock>>,
    /// `movestogo`: moves until the next time control.
    pub moves_to_go: Option<u32>,
    /// `movetime`. Written in whole milliseconds, rounded down, but at least 1.
    pub movetime: Option<Duration>,
    /// `nodes`
    pub nodes: Option<u64>,
    /// `depth`, plies.
    pub depth: Option<u32>,
    /// `infinite`: search until `stop`.
    pub infinite: bool,
    /// `ponder`: search on the opponent's time until `ponderhit` or `stop`.
    pub ponder: bool,
}

impl Go {
    /// Appends the line with its newline.
    ///
    /// Not by `vampirc-uci`: its writer cannot combine `ponder` with clocks, has no depth above
    /// 255, and leaves a trailing blank.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"go");
        if self.ponder {
            out.extend_from_slice(b" ponder");
        }
        if let Some(clocks) = &self.clocks {
            number(out, b" wtime ", at_least_one_ms(clocks.white.time));
            number(out, b" btime ", at_least_one_ms(clocks.black.time));
            let (winc, binc) = (whole_ms(clocks.white.increment), whole_ms(clocks.black.increment));
            if winc > 0 || binc > 0 {
                number(out, b" winc ", winc);
                number(out, b" binc ", binc);
            }
        }
        if let Some(moves) = self.moves_to_go {
            number(out, b" movestogo ", u64::from(moves));
        }
        if let Some(depth) = self.depth {
            number(out, b" depth ", u64::from(depth));
        }
        if let Some(nodes) = self.nodes {
            number(out, b" nodes ", nodes);
        }
        if let Some(movetime) = self.movetime {
            number(out, b" movetime ", at_least_one_ms(movetime));
        }
        if self.infinite {
            out.extend_from_slice(b" infinite");
        }
        out.push(b'\n');
    }
}

impl fmt::Display for Go {
    /// Writes the line without its newline.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = Vec::new();
        self.write(&mut line);
        f.write_str(String::from_utf8_lossy(&line).trim_end())
    }
}

fn whole_ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Returns `time` in milliseconds, at least 1, because many engines read `wtime 0` as no clock.
fn at_least_one_ms(time: Duration) -> u64 {
    whole_ms(time).max(1)
}

fn number(out: &mut Vec<u8>, word: &[u8], value: u64) {
    out.extend_from_slice(word);
    write!(out, "{value}").expect("a Vec takes every byte");
}

/// A `position` line that is extended by one move per ply instead of being rebuilt.
///
/// ```
/// # use quintain_uci::PositionLine;
/// let mut line = PositionLine::new("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1")?;
/// line.push("e2e4")?;
/// assert!(line.as_bytes().ends_with(b" moves e2e4"));
/// # Ok::<(), quintain_uci::CommandError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PositionLine {
    bytes: Vec<u8>,
    any_move: bool,
}

impl PositionLine {
    /// Creates the line of the starting position without moves: `position startpos`.
    #[must_use]
    pub fn startpos() -> Self {
        Self { bytes: b"position startpos".to_vec(), any_move: false }
    }

    /// Creates a line for a position without moves.
    ///
    /// # Errors
    /// Returns an error if the FEN contains a control character.
    pub fn new(fen: &str) -> Result<Self, CommandError> {
        refuse_control("FEN", fen)?;
        let mut bytes = Vec::with_capacity(1024);
        bytes.extend_from_slice(b"position fen ");
        bytes.extend_from_slice(fen.trim().as_bytes());
        Ok(Self { bytes, any_move: false })
    }

    /// Appends a move in UCI notation.
    ///
    /// # Errors
    /// Returns an error if the move contains a control character.
    pub fn push(&mut self, uci: &str) -> Result<(), CommandError> {
        refuse_control("move", uci)?;
        self.bytes.extend_from_slice(if self.any_move { b" " } else { b" moves " });
        self.any_move = true;
        self.bytes.extend_from_slice(uci.as_bytes());
        Ok(())
    }

    /// The line without its newline.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// One line to an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command<'a> {
    /// `uci`
    Uci,
    /// `isready`
    IsReady,
    /// `ucinewgame`
    UciNewGame,
    /// `setoption`
    SetOption {
        /// The option's name.
        name: &'a str,
        /// Its value; `None` for a button.
        value: Option<&'a str>,
    },
    /// `position`
    Position(&'a PositionLine),
    /// `go`
    Go(Go),
    /// `stop`
    Stop,
    /// `ponderhit`
    PonderHit,
    /// `quit`
    Quit,
}

impl Command<'_> {
    /// Appends the line with its newline.
    ///
    /// # Errors
    /// Returns an error if a name or value contains a control character, because a line end in it
    /// would start another command.
    pub fn write(&self, out: &mut Vec<u8>) -> Result<(), CommandError> {
        let message = match *self {
            Self::Uci => UciMessage::Uci,
            Self::IsReady => UciMessage::IsReady,
            Self::UciNewGame => UciMessage::UciNewGame,
            Self::Stop => UciMessage::Stop,
            Self::PonderHit => UciMessage::PonderHit,
            Self::Quit => UciMessage::Quit,
            Self::SetOption { name, value } => {
                refuse_control("option name", name)?;
                let Some(value) = value else {
                    // The crate's serializer would write `value <empty>` for a button.
                    out.extend_from_slice(b"setoption name ");
                    out.extend_from_slice(name.as_bytes());
                    out.push(b'\n');
                    return Ok(());
                };
                refuse_control("option value", value)?;
                UciMessage::SetOption { name: name.to_owned(), value: Some(value.to_owned()) }
            }
            Self::Position(line) => {
                out.extend_from_slice(line.as_bytes());
                out.push(b'\n');
                return Ok(());
            }
            Self::Go(go) => {
                go.write(out);
                return Ok(());
            }
        };
        out.extend_from_slice(message.serialize().trim_end().as_bytes());
        out.push(b'\n');
        Ok(())
    }
}

fn refuse_control(what: &'static str, text: &str) -> Result<(), CommandError> {
    if text.chars().any(char::is_control) {
        return Err(CommandError::Control { what, text: text.escape_debug().to_string() });
    }
    Ok(())
}

/// Reason that a command was not written.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CommandError {
    /// A line end or other control character inside an argument.
    #[error("{what} `{text}` contains a control character: UCI takes one line of plain text; remove it")]
    Control {
        /// Kind of the argument.
        what: &'static str,
        /// The argument, escaped.
        text: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(command: Command<'_>, expected: &str) {
        let mut out = Vec::new();
        command.write(&mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), format!("{expected}\n"));
    }

    fn clocks(white_us: u64, black_us: u64, inc_us: u64) -> Option<ByColor<SideClock>> {
        let side = |us| SideClock { time: Duration::from_micros(us), increment: Duration::from_micros(inc_us) };
        Some(ByColor { white: side(white_us), black: side(black_us) })
    }

    #[test]
    fn commands_are_written_as_the_protocol_spells_them() {
        check(Command::Uci, "uci");
        check(Command::IsReady, "isready");
        check(Command::UciNewGame, "ucinewgame");
        check(Command::Stop, "stop");
        check(Command::PonderHit, "ponderhit");
        check(Command::Quit, "quit");
        check(Command::SetOption { name: "Hash", value: Some("16") }, "setoption name Hash value 16");
        check(Command::SetOption { name: "Book File", value: Some("") }, "setoption name Book File value <empty>");
        check(Command::SetOption { name: "Clear Hash", value: None }, "setoption name Clear Hash");
    }

    #[test]
    fn go_rounds_clocks_down_and_never_says_zero() {
        let go = Go::default();
        check(Command::Go(go), "go");
        check(
            Command::Go(Go { clocks: clocks(8_079_999, 500, 80_900), ..go }),
            "go wtime 8079 btime 1 winc 80 binc 80",
        );
        check(Command::Go(Go { clocks: clocks(0, 60_000_000, 0), ..go }), "go wtime 1 btime 60000");
        check(
            Command::Go(Go { clocks: clocks(1000, 2000, 0), moves_to_go: Some(300), ponder: true, ..go }),
            "go ponder wtime 1 btime 2 movestogo 300",
        );
        check(
            Command::Go(Go { depth: Some(300), nodes: Some(u64::MAX), ..go }),
            "go depth 300 nodes 18446744073709551615",
        );
        check(Command::Go(Go { movetime: Some(Duration::from_micros(999)), ..go }), "go movetime 1");
        check(Command::Go(Go { infinite: true, ..go }), "go infinite");
    }

    #[test]
    fn position_grows_by_one_move_a_ply() {
        let mut line = PositionLine::new("8/8/8/8/8/8/8/K1k5 w - - 0 1 ").unwrap();
        check(Command::Position(&line), "position fen 8/8/8/8/8/8/8/K1k5 w - - 0 1");
        line.push("a1a2").unwrap();
        line.push("c1c2").unwrap();
        check(Command::Position(&line), "position fen 8/8/8/8/8/8/8/K1k5 w - - 0 1 moves a1a2 c1c2");
        let mut line = PositionLine::startpos();
        check(Command::Position(&line), "position startpos");
        line.push("e2e4").unwrap();
        check(Command::Position(&line), "position startpos moves e2e4");
    }

    #[test]
    fn nothing_leaves_its_line() {
        for bad in ["a\nquit", "a\rb", "a\0b"] {
            let mut out = Vec::new();
            assert!(Command::SetOption { name: bad, value: None }.write(&mut out).is_err());
            assert!(Command::SetOption { name: "a", value: Some(bad) }.write(&mut out).is_err());
            assert!(PositionLine::new(bad).is_err());
            assert!(PositionLine::new("x").unwrap().push(bad).is_err());
            assert!(out.is_empty(), "{bad:?} left {out:?}");
        }
    }
}
