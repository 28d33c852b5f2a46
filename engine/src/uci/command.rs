//! Commands from a GUI, parsed from text. Nothing here acts.

use crate::types::MAX_DEPTH;
use std::time::Duration;

/// One line from the GUI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// `uci`: the options are asked for.
    Uci,
    /// `isready`: an answer is due once everything before is done.
    IsReady,
    /// `ucinewgame`: state of the last game is forgotten.
    NewGame,
    /// `setoption`, with the option's name and value.
    SetOption { name: String, value: Option<String> },
    /// `position`: a FEN, or `None` for the usual start, and moves from there.
    Position { fen: Option<String>, moves: Vec<String> },
    /// A `position` that cannot be parsed, with the reason.
    BadPosition(String),
    /// `go`: a search begins.
    Go(Go),
    /// `stop`: the search ends.
    Stop,
    /// `ponderhit`: the expected move was played, so the limits of time count.
    PonderHit,
    /// `quit`: the program ends.
    Quit,
    /// A command without effect: `debug` or `register`.
    Ignored,
    /// Shows the board.
    Display,
    /// Shows the static evaluation.
    Eval,
}

/// Arguments of `go`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Go {
    /// Time left for White and for Black.
    pub time: [Option<Duration>; 2],
    /// Increment of White and of Black.
    pub increment: [Duration; 2],
    /// Moves to the next time control.
    pub moves_to_go: Option<u32>,
    /// Time for this move.
    pub move_time: Option<Duration>,
    /// Depth to search, in plies.
    pub depth: Option<i32>,
    /// Number of nodes to search.
    pub nodes: Option<u64>,
    /// Length of the mate to find, in moves.
    pub mate: Option<u32>,
    /// Set if only `stop` ends the search.
    pub infinite: bool,
    /// Set if the opponent is still to move.
    pub ponder: bool,
    /// Root moves to search; all if empty.
    pub search_moves: Vec<String>,
    /// Depth of a perft to count instead of a search, in plies.
    pub perft: Option<u32>,
    /// Remarks on arguments that could not be understood, and on their replacements.
    pub complaints: Vec<String>,
}

impl Go {
    /// Limits a search that was meant to end. If none of its limits could be understood, it
    /// searches one ply.
    fn limited_as_meant(mut self) -> Go {
        let is_flawed =
            !self.complaints.is_empty() || self.moves_to_go.is_some() || self.increment != [Duration::ZERO; 2];
        if is_flawed && self.is_unlimited() && !self.infinite && self.perft.is_none() {
            self.complaints.push("go: no limit is left, searching to depth 1".to_owned());
            self.depth = Some(1);
        }
        self
    }

    /// Returns whether only `stop` ends the search.
    pub fn is_unlimited(&self) -> bool {
        let timed = self.time.iter().any(Option::is_some) || self.move_time.is_some();
        self.infinite || !(timed || self.depth.is_some() || self.nodes.is_some() || self.mate.is_some())
    }
}

/// Parses a line; `None` if it is blank. Unknown words before a command are skipped, as the UCI
/// specification asks.
///
/// # Errors
/// Returns a message that names the fault.
pub fn parse(line: &str) -> Option<Result<Command, String>> {
    let first = line.split_whitespace().next()?;
    let starts = std::iter::successors(Some(line.trim()), |rest| Some(after_words(rest, 1)));
    let known = starts.take_while(|rest| !rest.is_empty()).find_map(parse_known);
    Some(known.unwrap_or_else(|| Err(format!("unknown command `{first}`"))))
}

/// Parses a line that begins with a command; `None` if its first word is unknown.
fn parse_known(line: &str) -> Option<Result<Command, String>> {
    let (first, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = || rest.split_whitespace().collect::<Vec<_>>();
    Some(match first {
        "uci" => Ok(Command::Uci),
        "isready" => Ok(Command::IsReady),
        "ucinewgame" => Ok(Command::NewGame),
        "setoption" => parse_set_option(line, &rest()),
        "position" => Ok(parse_position(&rest())),
        "go" => Ok(Command::Go(parse_go(&rest()))),
        "stop" => Ok(Command::Stop),
        "ponderhit" => Ok(Command::PonderHit),
        "quit" => Ok(Command::Quit),
        "debug" | "register" => Ok(Command::Ignored),
        "d" => Ok(Command::Display),
        "eval" => Ok(Command::Eval),
        _ => return None,
    })
}

/// Parses the words after `setoption`. A value is the rest of the line as it stands, for paths.
fn parse_set_option(line: &str, words: &[&str]) -> Result<Command, String> {
    let ["name", rest @ ..] = words else { return Err("setoption: expected `name`".to_owned()) };
    let (name, value) = match rest.iter().position(|&word| word == "value") {
        Some(at) => (&rest[..at], Some(after_words(line, 3 + at).to_owned())),
        None => (rest, None),
    };
    if name.is_empty() {
        return Err("setoption: expected a name after `name`".to_owned());
    }
    Ok(Command::SetOption { name: name.join(" "), value })
}

/// Returns the trimmed rest of a line after its first words.
fn after_words(line: &str, count: usize) -> &str {
    (0..count)
        .fold(line.trim(), |rest, _| rest.trim_start().split_once(char::is_whitespace).map_or("", |cut| cut.1))
        .trim()
}

fn parse_position(words: &[&str]) -> Command {
    let (setup, moves) = match words.iter().position(|&word| word == "moves") {
        Some(at) => (&words[..at], &words[at + 1..]),
        None => (words, &[][..]),
    };
    let fen = match setup {
        ["startpos"] => None,
        ["fen", fields @ ..] => Some(fields.join(" ")),
        _ => {
            return Command::BadPosition("position: expected `startpos` or `fen FEN`, then perhaps `moves`".to_owned());
        }
    };
    Command::Position { fen, moves: moves.iter().map(|&mv| mv.to_owned()).collect() }
}

const GO_KEYS: [&str; 13] = [
    "wtime",
    "btime",
    "winc",
    "binc",
    "movestogo",
    "movetime",
    "depth",
    "nodes",
    "mate",
    "infinite",
    "ponder",
    "searchmoves",
    "perft",
];

fn parse_go(words: &[&str]) -> Go {
    let mut go = Go::default();
    let mut words = words.iter().copied().peekable();
    while let Some(key) = words.next() {
        match key {
            "infinite" => go.infinite = true,
            "ponder" => go.ponder = true,
            "searchmoves" => {
                while let Some(mv) = words.next_if(|word| !GO_KEYS.contains(word)) {
                    go.search_moves.push(mv.to_owned());
                }
            }
            _ if GO_KEYS.contains(&key) => match words.next_if(|word| !GO_KEYS.contains(word)) {
                Some(value) => set_number(&mut go, key, value),
                None => go.complaints.push(format!("go: `{key}` needs a number")),
            },
            _ => go.complaints.push(format!("go: unknown word `{key}`")),
        }
    }
    go.limited_as_meant()
}

/// Maximum depth of a perft, which calls itself for each ply.
const PERFT_LIMIT: u32 = MAX_DEPTH as u32;

/// Parses a whole number, clamped to the range of the type.
fn parse_number(text: &str) -> Option<i64> {
    use std::num::IntErrorKind::{NegOverflow, PosOverflow};
    match text.parse::<i64>() {
        Ok(number) => Some(number),
        Err(error) if *error.kind() == PosOverflow => Some(i64::MAX),
        Err(error) if *error.kind() == NegOverflow => Some(i64::MIN),
        Err(_) => None,
    }
}

/// Sets a limit. Some GUIs send negative clocks, which count as empty. Values that must be at least
/// 1 are raised to 1.
fn set_number(go: &mut Go, key: &str, text: &str) {
    let Some(number) = parse_number(text) else {
        go.complaints.push(format!("go: bad number `{text}` for `{key}`"));
        return;
    };
    let is_time = matches!(key, "wtime" | "btime" | "winc" | "binc" | "movetime" | "movestogo");
    if number < 1 && !is_time {
        go.complaints.push(format!("go: `{key}` must be at least 1, not `{text}`, and is taken as 1"));
    }
    let count = u64::try_from(number.max(i64::from(!is_time))).unwrap_or(0);
    let small = u32::try_from(count).unwrap_or(u32::MAX);
    let time = Duration::from_millis(count);
    match key {
        "wtime" => go.time[0] = Some(time),
        "btime" => go.time[1] = Some(time),
        "winc" => go.increment[0] = time,
        "binc" => go.increment[1] = time,
        "movetime" => go.move_time = Some(time),
        "movestogo" if count > 0 => go.moves_to_go = Some(small),
        "movestogo" => {}
        "depth" => go.depth = Some(i32::try_from(count).unwrap_or(i32::MAX)),
        "nodes" => go.nodes = Some(count),
        "mate" => {
            go.mate = Some(small);
            // No one asked for an infinite search, and a mate in 1 shows at depth 1.
            go.depth = if number < 1 { Some(1) } else { go.depth };
        }
        _ => {
            if small > PERFT_LIMIT {
                go.complaints.push(format!("go: `perft` {text} is more than {PERFT_LIMIT}, and is taken as that"));
            }
            go.perft = Some(small.min(PERFT_LIMIT));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: Command) {
        assert_eq!(parse(line), Some(Ok(expected)), "{line}");
    }

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn plain_commands() {
        for (line, command) in [
            ("uci", Command::Uci),
            ("  isready\r", Command::IsReady),
            ("ucinewgame", Command::NewGame),
            ("stop", Command::Stop),
            ("ponderhit", Command::PonderHit),
            ("quit now", Command::Quit),
            ("debug on", Command::Ignored),
            ("d", Command::Display),
            ("eval", Command::Eval),
        ] {
            check(line, command);
        }
        assert_eq!(parse(" \t"), None);
    }

    #[test]
    fn options() {
        let option = |name: &str, value: Option<&str>| Command::SetOption {
            name: name.to_owned(),
            value: value.map(str::to_owned),
        };
        check("setoption name Hash value 64", option("Hash", Some("64")));
        check("setoption name Move Overhead value  a b ", option("Move Overhead", Some("a b")));
        check("setoption  name\tEvalFile value  /a  b/c.nnue", option("EvalFile", Some("/a  b/c.nnue")));
        check("setoption name Clear Hash", option("Clear Hash", None));
        check("setoption name X value", option("X", Some("")));
    }

    #[test]
    fn positions() {
        let position = |fen: Option<&str>, moves: &[&str]| Command::Position {
            fen: fen.map(str::to_owned),
            moves: moves.iter().map(|&mv| mv.to_owned()).collect(),
        };
        check("position startpos", position(None, &[]));
        check("position startpos moves e2e4  e7e5", position(None, &["e2e4", "e7e5"]));
        check("position fen 8/8 w - - 0 1 moves", position(Some("8/8 w - - 0 1"), &[]));
        for line in ["position", "position startpos e2e4"] {
            let message = "position: expected `startpos` or `fen FEN`, then perhaps `moves`";
            check(line, Command::BadPosition(message.to_owned()));
        }
    }

    #[test]
    fn searches() {
        check("go", Command::Go(Go::default()));
        check(
            "go wtime 1000 btime -5 winc 10 binc 20 movestogo 7",
            Command::Go(Go {
                time: [Some(ms(1000)), Some(ms(0))],
                increment: [ms(10), ms(20)],
                moves_to_go: Some(7),
                ..Go::default()
            }),
        );
        check(
            "go searchmoves e2e4 d2d4 depth 9 nodes 100 mate 3 movetime 50 infinite ponder",
            Command::Go(Go {
                search_moves: vec!["e2e4".to_owned(), "d2d4".to_owned()],
                depth: Some(9),
                nodes: Some(100),
                mate: Some(3),
                move_time: Some(ms(50)),
                infinite: true,
                ponder: true,
                ..Go::default()
            }),
        );
        check("go perft 5", Command::Go(Go { perft: Some(5), ..Go::default() }));
        check("go depth 99999999999", Command::Go(Go { depth: Some(i32::MAX), ..Go::default() }));
    }

    #[test]
    fn bad_limits_end_a_search_too() {
        let one = Go { depth: Some(1), ..Go::default() };
        for (line, complaints, expected) in [
            ("go depth 0", 1, one.clone()),
            ("go depth -3", 1, one.clone()),
            ("go nodes 0", 1, Go { nodes: Some(1), ..Go::default() }),
            ("go mate 0", 1, Go { mate: Some(1), ..one.clone() }),
            ("go perft 0", 1, Go { perft: Some(1), ..Go::default() }),
            ("go perft 127", 0, Go { perft: Some(127), ..Go::default() }),
            ("go perft 99999999999", 1, Go { perft: Some(127), ..Go::default() }),
            ("go nodes 99999999999999999999", 0, Go { nodes: Some(i64::MAX as u64), ..Go::default() }),
            ("go depth x", 2, one.clone()),
            ("go movetime", 2, one.clone()),
            ("go wtime x", 2, one.clone()),
            ("go detph 5", 3, one.clone()),
            ("go winc 5", 1, Go { increment: [ms(5), ms(0)], ..one.clone() }),
            ("go movestogo 5", 1, Go { moves_to_go: Some(5), ..one.clone() }),
            ("go ponder depth x", 2, Go { ponder: true, ..one.clone() }),
            ("go infinite depth x", 1, Go { infinite: true, ..Go::default() }),
            ("go movetime x nodes 5", 1, Go { nodes: Some(5), ..Go::default() }),
        ] {
            let Some(Ok(Command::Go(go))) = parse(line) else { panic!("{line}") };
            assert_eq!(go.complaints.len(), complaints, "{line}: {:?}", go.complaints);
            assert_eq!(Go { complaints: Vec::new(), ..go }, expected, "{line}");
        }
    }

    #[test]
    fn limits_end_a_search() {
        for (line, unlimited) in [
            ("go", true),
            ("go infinite", true),
            ("go infinite depth 5", true),
            ("go ponder", true),
            ("go searchmoves e2e4", true),
            ("go depth 5", false),
            ("go ponder wtime 100", false),
            ("go nodes 1", false),
            ("go mate 2", false),
            ("go movetime 100", false),
        ] {
            let Some(Ok(Command::Go(go))) = parse(line) else { panic!("{line}") };
            assert_eq!(go.is_unlimited(), unlimited, "{line}");
        }
    }

    #[test]
    fn unknown_words_before_a_command_are_skipped() {
        for (line, command) in [
            ("joho isready", Command::IsReady),
            (" joho\tjoho  ucinewgame ", Command::NewGame),
            ("joho debug on", Command::Ignored),
            ("xyzzy 1 go depth 3", Command::Go(Go { depth: Some(3), ..Go::default() })),
            (
                "joho setoption name Eval File value a  b",
                Command::SetOption { name: "Eval File".to_owned(), value: Some("a  b".to_owned()) },
            ),
        ] {
            assert_eq!(parse(line), Some(Ok(command)), "{line}");
        }
        let many = "joho ".repeat(100_000);
        assert_eq!(parse(&many), Some(Err("unknown command `joho`".to_owned())));
    }

    #[test]
    fn nonsense_is_named() {
        for (line, message) in [
            ("xyzzy 1", "unknown command `xyzzy`"),
            ("setoption Hash 5", "setoption: expected `name`"),
            ("setoption name value 5", "setoption: expected a name after `name`"),
        ] {
            assert_eq!(parse(line), Some(Err(message.to_owned())), "{line}");
        }
        for (line, complaint) in [
            ("go depth", "go: `depth` needs a number"),
            ("go depth nodes 5", "go: `depth` needs a number"),
            ("go depth x", "go: bad number `x` for `depth`"),
            ("go fast infinite", "go: unknown word `fast`"),
            ("go wtime x movetime 5", "go: bad number `x` for `wtime`"),
        ] {
            let Some(Ok(Command::Go(go))) = parse(line) else { panic!("{line}") };
            assert_eq!(go.complaints[0], complaint, "{line}");
        }
    }
}
