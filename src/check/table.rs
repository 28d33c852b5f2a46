//! Table of all checks, in the order of a conversation from the first word to the last.

use super::Severity::{Must, Should};
use super::{Check, CheckAnswer, CheckMethod, CheckedEngine, CheckedProcess, Handshake, Severity};
use super::{games, handshake, manners, search};

const fn told(
    name: &'static str,
    severity: Severity,
    what: &'static str,
    test: fn(&Handshake) -> CheckAnswer,
) -> Check {
    Check { name, what, severity, test: CheckMethod::Handshake(test) }
}

const fn talk(
    name: &'static str,
    severity: Severity,
    what: &'static str,
    test: fn(&mut CheckedProcess, &CheckedEngine) -> CheckAnswer,
) -> Check {
    Check { name, what, severity, test: CheckMethod::Talk(test) }
}

/// The checks, in the order in which they are made.
pub const TABLE: &[Check] = &[
    told("start", Should, "`uci` is answered by `uciok` without long waits", handshake::starts),
    told("identity", Should, "`id name` and `id author` come once each", handshake::identity),
    told("options", Must, "`option` lines are well formed, complete, and each comes once", handshake::options),
    told("option-defaults", Must, "defaults lie in their ranges", handshake::defaults),
    talk("set-options", Must, "every option takes its minimum, maximum and default value", handshake::set_options),
    talk("unknown-option", Must, "an option it does not have is ignored", handshake::unknown_option),
    talk("bad-option-value", Should, "values out of range are survived", handshake::bad_option),
    talk("new-game", Must, "`ucinewgame` and `isready`, again and again", handshake::new_game),
    talk("one-answer", Must, "one `bestmove` for each `go`", search::one_answer),
    talk("legal", Must, "legal moves in positions where move generators trip", search::legal),
    talk("go-depth", Must, "`go depth`", search::go_depth),
    talk("go-nodes", Must, "`go nodes`", search::go_nodes),
    talk("go-movetime", Must, "`go movetime`", search::go_movetime),
    talk("go-clock", Must, "`go wtime btime`, with and without increments", search::go_clock),
    talk("go-movestogo", Must, "`go ... movestogo`", search::go_movestogo),
    talk("go-last-moment", Must, "a move with no time left", search::go_last_moment),
    talk("go-mate", Should, "`go mate`", search::go_mate),
    talk("go-searchmoves", Should, "`go searchmoves`", search::go_searchmoves),
    talk("ready-searching", Must, "`isready` is answered in a search", search::ready_searching),
    talk("stop", Must, "`stop` is answered promptly", search::stop),
    talk("infinite", Should, "`go infinite` waits for `stop`", search::infinite),
    talk("ponder", Must, "`go ponder` waits for `ponderhit` or `stop`", search::ponder),
    talk("info", Must, "depth, score and a legal variation", search::info),
    talk("mated", Must, "a root without moves, in check", search::mated),
    talk("stalemated", Must, "a root without moves, not in check", search::stalemated),
    talk("long-game", Must, "a game of 500 plies", search::long_game),
    talk("chess960", Must, "castling as king takes rook, both ways", search::chess960),
    talk("games", Must, "several games in one process", games::games),
    talk("clock", Must, "0.2+0.01 without an overrun", games::clock),
    talk("fixed-time", Must, "0.1 s a move without an overrun", games::fixed_time),
    talk("unknown-words", Must, "words it does not know are ignored", manners::unknown_words),
    talk("blank-lines", Must, "empty lines are ignored", manners::blank_lines),
    talk("white-space", Should, "any white space and CR LF are accepted", manners::white_space),
    talk("bad-bytes", Should, "survives bytes that are not text", manners::bad_bytes),
    talk("long-line", Should, "a line of a megabyte is survived", manners::long_line),
    talk("bad-position", Should, "invalid positions do not crash it", manners::bad_position),
    talk("bad-go", Should, "a malformed `go` is survived", manners::bad_go),
    talk("quit", Must, "`quit` ends it", manners::quit),
    talk("quit-searching", Must, "`quit` ends it in a search", manners::quit_searching),
    talk("end-of-input", Must, "the end of its input ends it", manners::end_of_input),
    talk("end-of-input-searching", Should, "the end of its input ends it in a search", manners::end_of_input_searching),
    Check {
        name: "bench",
        what: "`bench` as an argument counts the same nodes twice",
        severity: Must,
        test: CheckMethod::Program(manners::bench),
    },
];
