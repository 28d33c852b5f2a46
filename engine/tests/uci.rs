//! Tests of the protocol as transcripts: lines in, lines out, in one process and without a clock.
//!
//! `> line` is sent. `< pattern` waits for the next line, which must match; `<* pattern` skips
//! lines until one matches. `<!` asserts that the engine writes nothing but answers to
//! [`QUIET`] times `isready`. In a pattern `*` stands for any text.

#[path = "../../tests/skip.rs"]
mod skip;

use destrier::board::Board;
use destrier::search::strength;
use destrier::uci;
use std::io::{self, BufReader, Read, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

/// Number of questions of `<!`, enough for a thread that is about to write to do so.
const QUIET: usize = 1_000;

/// Input of a session: the lines that the transcript sends.
struct Lines {
    receiver: Receiver<Vec<u8>>,
    rest: Vec<u8>,
}

impl Read for Lines {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.rest.is_empty() {
            // A closed channel is the end of the input.
            self.rest = self.receiver.recv().unwrap_or_default();
        }
        let len = self.rest.len().min(buffer.len());
        buffer[..len].copy_from_slice(&self.rest[..len]);
        self.rest.drain(..len);
        Ok(len)
    }
}

/// Output of a session. Each write must consist of whole lines.
struct Writes(Sender<String>);

impl Write for Writes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = std::str::from_utf8(bytes).map_err(io::Error::other)?;
        assert!(text.ends_with('\n'), "a torn line: {text:?}");
        for line in text.lines() {
            let _ = self.0.send(line.to_owned());
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn matches(pattern: &str, line: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == line,
        Some((head, tail)) => {
            let Some(rest) = line.strip_prefix(head) else { return false };
            (0..=rest.len()).filter(|&at| rest.is_char_boundary(at)).any(|at| matches(tail, &rest[at..]))
        }
    }
}

/// Runs a transcript, then ends the input and waits for the session to end. Returns all lines that
/// were read.
fn check(transcript: &str) -> Vec<String> {
    let (input, receiver) = channel();
    let (sender, output) = channel();
    let session = thread::spawn(move || {
        uci::run(BufReader::new(Lines { receiver, rest: Vec::new() }), Writes(sender)).expect("a session")
    });
    let mut seen = Vec::new();
    for step in transcript.lines().map(str::trim).filter(|step| !step.is_empty()) {
        let (kind, text) = step.split_once(' ').unwrap_or((step, ""));
        match kind {
            ">" => input.send(format!("{text}\n").into_bytes()).expect("the session listens"),
            "<" => {
                let line = output.recv().expect("a line");
                assert!(matches(text, &line), "expected {text:?}, got {line:?}");
                seen.push(line);
            }
            "<*" => loop {
                let line = output.recv().unwrap_or_else(|_| panic!("no line matches {text:?}, seen {seen:#?}"));
                seen.push(line);
                if matches(text, &seen[seen.len() - 1]) {
                    break;
                }
            },
            "<!" => {
                for _ in 0..QUIET {
                    input.send(b"isready\n".to_vec()).expect("the session listens");
                    assert_eq!(output.recv().expect("a line"), "readyok");
                }
            }
            _ => panic!("bad step {step:?}"),
        }
    }
    drop(input);
    session.join().expect("no panic");
    seen.extend(output);
    seen
}

#[test]
fn the_handshake_lists_name_and_options() {
    check(
        "> uci
         < id name Destrier *
         < id author *
         < option name Hash type spin default 16 min 1 max 65536
         < option name Threads type spin default 1 min 1 max 256
         < option name MultiPV type spin default 1 min 1 max 256
         < option name Move Overhead type spin default 10 min 0 max 5000
         < option name UCI_Chess960 type check default false
         < option name Ponder type check default false
         < option name UCI_ShowWDL type check default false
         < option name UCI_LimitStrength type check default false
         < option name UCI_Elo type spin default 2000 min 1300 max 2000
         < option name Strength Seed type spin default 0 min 0 max 1000000
         < option name SyzygyPath type string default <empty>
         < option name SyzygyProbeDepth type spin default 1 min 1 max 100
         < option name SyzygyProbeLimit type spin default 7 min 0 max 7
         < option name Clear Hash type button
         < option name EvalMode type combo default * var classical var nnue
         < option name EvalFile type string default <embedded>
         <* uciok
         > isready
         < readyok
         > quit",
    );
}

#[test]
fn every_kind_of_go_is_answered() {
    for go in [
        "go depth 3",
        "go nodes 500",
        "go movetime 20",
        "go wtime 50 btime 50",
        "go wtime 50 btime 50 winc 1 binc 1 movestogo 3",
        "go wtime 0 btime 0",
        "go wtime -100 btime 50",
        "go mate 1 depth 3",
        "go searchmoves a2a3 depth 2",
    ] {
        check(&format!("> position startpos\n> {go}\n<* info depth 1 *\n<* bestmove *\n> isready\n< readyok"));
    }
}

#[test]
fn nodes_are_exact_and_searches_repeat_after_a_new_game() {
    let search = "> position startpos moves e2e4
         > go nodes 12345
         <* info *
         <* bestmove *
         ";
    let strip = |lines: Vec<String>| -> Vec<String> {
        let timeless = |line: String| match line.split_once(" nps ") {
            None => line,
            Some((head, tail)) => format!("{head} {}", tail.split_once(" pv ").map_or("", |(_, pv)| pv)),
        };
        lines.into_iter().filter(|line| !line.starts_with("readyok")).map(timeless).collect()
    };
    let once = strip(check(search));
    let noise = "> position startpos\n> go nodes 30000\n<* bestmove *\n> ucinewgame\n> isready\n<* readyok\n";
    let again = strip(check(&format!("{noise}{search}")));
    let at = again.iter().position(|line| line.starts_with("bestmove")).expect("an answer") + 1;
    assert_eq!(once, again[at..]);
}

#[test]
fn the_last_line_tells_all_nodes() {
    for limit in [100, 20_000, 50_001] {
        let seen = check(&format!("> position startpos\n> go nodes {limit}\n<* bestmove *"));
        let last = seen.iter().rev().find(|line| line.contains(" pv "));
        assert!(last.is_some_and(|line| line.contains(&format!(" nodes {limit} "))), "{seen:#?}");
    }
    // Nothing is reported twice if nothing was searched in between.
    let seen = check("> go depth 3\n<* bestmove *");
    assert_eq!(seen.iter().filter(|line| line.starts_with("info depth 3 ")).count(), 1, "{seen:#?}");
}

#[test]
fn a_bad_go_is_answered() {
    for go in [
        "go depth 0",
        "go nodes 0",
        "go mate 0",
        "go depth -1",
        "go movetime",
        "go wtime x",
        "go wtime x btime 60000",
        "go btime 60000",
        "go movestogo 3",
        "go detph 7",
        "go nodes x mate y",
    ] {
        check(&format!("> position startpos\n> {go}\n< info string go: *\n<* bestmove *"));
    }
    check(
        "> position startpos moves e2e4
         > go wtime 600000 winc 0
         < info string go: no `btime` for the side to move, its clock is taken to be empty
         <* bestmove *
         > go nodes 99999999999999999999
         > stop
         <* bestmove *
         > go perft 0
         < info string go: `perft` must be at least 1, *
         <* Nodes searched: 20",
    );
}

#[test]
fn options_are_set_right_after_stop() {
    let seen = check(
        "> go infinite
         <* info depth 3 *
         > stop
         > setoption name MultiPV value 2
         > setoption name Hash value 2
         > go depth 2
         <* bestmove *
         <* info depth 2 * multipv 2 *
         <* bestmove *",
    );
    assert!(!seen.iter().any(|line| line.contains("not changed")), "{seen:#?}");
}

#[test]
fn stop_ends_an_infinite_search_and_isready_does_not() {
    check(
        "> go infinite
         <* info depth 1 *
         > isready
         <* readyok
         > stop
         <* bestmove *
         > stop
         > isready
         < readyok",
    );
}

#[test]
fn an_infinite_search_that_has_finished_waits_for_stop() {
    check(
        "> position fen 7k/6Q1/6K1/8/8/8/8/8 b - - 0 1
         > go infinite
         < info depth 0 score mate 0
         <!
         > stop
         < bestmove (none)
         > position fen 8/8/8/8/8/2k5/2q5/K7 w - - 0 1
         > go infinite depth 1
         < info depth 0 score cp 0
         <!
         > stop
         < bestmove (none)",
    );
}

#[test]
fn pondering_waits_for_its_end() {
    check(
        "> position startpos
         > go ponder wtime 20 btime 20
         <* info depth 1 *
         > isready
         <* readyok
         > ponderhit
         <* bestmove *
         > go ponder depth 1
         <* info depth 1 *
         <!
         > ponderhit
         < bestmove *
         > go ponder depth 1
         <* info depth 1 *
         > stop
         < bestmove *",
    );
}

#[test]
fn a_second_go_stops_the_first() {
    let seen = check(
        "> go infinite
         <* info depth 1 *
         > go depth 1
         <* bestmove *
         <* bestmove *
         > go infinite
         > ucinewgame
         <* bestmove *
         > go infinite
         > setoption name Hash value 2
         <* info string setoption: `Hash` not changed during a search, send `stop` first
         > position startpos moves e2e4
         > stop
         <* bestmove *
         > setoption name Hash value 2
         > go infinite
         > quit",
    );
    assert_eq!(seen.iter().filter(|line| line.starts_with("bestmove")).count(), 5);
}

#[test]
fn several_threads_stop_quit_and_ponder_as_one_does() {
    for threads in [2, 3] {
        let seen = check(&format!(
            "> setoption name Threads value {threads}
             > go infinite
             <* info depth 3 *
             > stop
             <* bestmove *
             > go ponder wtime 200 btime 200
             <* info depth 1 *
             > ponderhit
             <* bestmove *
             > go nodes 20000
             <* bestmove *
             > go infinite
             <* info depth 1 *
             > ucinewgame
             <* bestmove *
             > go infinite
             > setoption name Threads value 1
             <* info string setoption: `Threads` not changed during a search, send `stop` first
             > stop
             <* bestmove *
             > setoption name Threads value 1
             > go depth 4
             <* bestmove *
             > setoption name Threads value {threads}
             > setoption name Hash value 3
             > position fen 7k/6Q1/6K1/8/8/8/8/8 b - - 0 1
             > go infinite
             > stop
             <* bestmove (none)
             > position startpos
             > go infinite
             <* info depth 2 *
             > quit"
        ));
        assert!(seen.last().is_some_and(|line| line.starts_with("bestmove")), "{seen:#?}");
    }
}

#[test]
fn several_lines_are_told_best_first() {
    let seen = check(
        "> setoption name MultiPV value 3
         > position startpos
         > go depth 6
         <* bestmove *
         > go depth 4 searchmoves e2e4 d2d4
         <* bestmove *",
    );
    let field = |line: &str, name: &str| -> Option<String> {
        let mut words = line.split(' ').skip_while(|&word| word != name);
        words.nth(if name == "score" { 2 } else { 1 }).map(str::to_owned)
    };
    let number =
        |line: &str, name: &str| field(line, name).and_then(|word| word.parse::<i64>().ok()).expect("a number");
    let searches: Vec<Vec<&String>> = seen
        .split(|line| line.starts_with("bestmove"))
        .map(|lines| lines.iter().filter(|line| line.contains(" multipv ")).collect())
        .collect();
    for (search, wanted) in [(0, 3), (1, 2)] {
        let lines: Vec<&String> = searches[search].clone();
        assert!(!lines.is_empty() && lines.len().is_multiple_of(wanted), "{lines:#?}");
        for iteration in lines.chunks(wanted) {
            let ranks: Vec<i64> = iteration.iter().map(|line| number(line, "multipv")).collect();
            assert_eq!(ranks, (1..=wanted as i64).collect::<Vec<_>>());
            assert!(iteration.is_sorted_by_key(|line| -number(line, "score")), "{iteration:#?}");
            let moves: std::collections::BTreeSet<_> = iteration.iter().map(|line| field(line, "pv")).collect();
            assert_eq!(moves.len(), wanted, "{iteration:#?}");
        }
    }
}

#[test]
fn chances_and_endgame_tables_are_told() {
    let seen = check(
        "> setoption name UCI_ShowWDL value true
         > go depth 2
         <* info depth 2 seldepth * multipv 1 score cp * wdl * * * nodes * nps * hashfull * tbhits 0 time * pv *
         <* bestmove *
         > setoption name UCI_ShowWDL value false
         > go depth 1
         <* bestmove *
         > setoption name SyzygyPath value /no/such/folder
         < info string setoption: SyzygyPath: `/no/such/folder`: *; give the folder that the .rtbw files are in
         > setoption name SyzygyPath value <empty>
         > setoption name SyzygyProbeDepth value 3
         > setoption name SyzygyProbeLimit value 4
         > isready
         < readyok",
    );
    assert!(!seen[seen.len() - 4].contains(" wdl "), "{seen:#?}");
}

#[test]
fn endgame_tables_decide() {
    let Some(folder) = std::env::var_os("QUINTAIN_SYZYGY") else {
        return skip::skip("endgame_tables_decide", "set QUINTAIN_SYZYGY to a folder with 3- and 4-man tables");
    };
    let seen = check(&format!(
        "> setoption name SyzygyPath value {}
         < info string * endgame tables of up to * men
         > position fen 7k/5Q2/6K1/8/8/8/8/8 w - - 0 1
         > go depth 3
         <* bestmove *
         > position fen k7/8/K7/P7/8/8/8/8 w - - 0 1
         > go depth 5
         <* bestmove *
         > position fen 8/8/3k4/3p4/8/3K1P2/8/8 w - - 0 1
         > go depth 8
         <* bestmove *
         > position fen 8/8/2n5/4k3/8/8/1p6/1Q4K1 w - - 0 1
         > go depth 8
         <* bestmove b1b2*",
        folder.to_string_lossy()
    ));
    let told: Vec<&String> = seen.iter().filter(|line| line.contains(" tbhits ")).collect();
    assert!(!told.is_empty() && told.iter().all(|line| !line.contains(" tbhits 0 ")), "{seen:#?}");
    assert!(told.iter().any(|line| line.contains(" score mate 1 ")), "{seen:#?}");
}

#[test]
fn memory_that_is_not_there_is_told() {
    let seen = check(
        "> setoption name Hash value 8388608
         > setoption name Hash value 65537
         > isready
         <* readyok
         > go depth 3
         <* bestmove *",
    );
    assert_eq!(seen.iter().filter(|line| line.starts_with("info string setoption: ")).count(), 2, "{seen:#?}");
}

#[test]
fn limits_that_are_given_together_all_hold() {
    for go in [
        "go depth 30 nodes 3000",
        "go depth 2 movetime 60000",
        "go nodes 3000 movetime 60000",
        "go wtime 200 btime 200 movetime 600000",
        "go mate 3 nodes 3000",
        "go wtime 60000 btime 60000 depth 2",
        "go searchmoves a2a3 nodes 2000 depth 40",
    ] {
        for threads in [1, 2] {
            let setup = format!("> setoption name Threads value {threads}\n> position startpos\n> {go}");
            let seen = check(&format!("{setup}\n<* bestmove *"));
            let too_deep = seen.iter().any(|line| line.contains("info depth 9 ") && go.contains("depth 2 "));
            assert!(!too_deep && (!go.contains("a2a3") || seen.iter().any(|line| line.starts_with("bestmove a2a3"))));
        }
    }
}

/// Returns the best move of a limited player, and the nodes of its last `info` line.
fn limited_play(setup: &str, elo: u32, go: &str) -> (String, u64) {
    let limit = format!("> setoption name UCI_LimitStrength value true\n> setoption name UCI_Elo value {elo}");
    let seen = check(&format!("{setup}\n{limit}\n> {go}\n<* bestmove *"));
    let word_after = |line: &str, key: &str| {
        let mut words = line.split(' ').skip_while(|word| *word != key);
        words.nth(1).unwrap_or_default().to_owned()
    };
    let nodes = seen.iter().rev().find(|line| line.contains(" nodes "));
    let nodes = nodes.map_or(0, |line| word_after(line, "nodes").parse().expect("a number"));
    (word_after(seen.last().expect("an answer"), "bestmove"), nodes)
}

#[test]
fn a_limited_player_answers_from_position_and_seed_alone() {
    let (min, max) = (*strength::ELO.start(), *strength::ELO.end());
    let middle = "r1bq1rk1/pp2bppp/2n1pn2/3p4/2PP4/2N2N2/PP3PPP/R1BQKB1R w KQ - 0 8";
    let other = "> position startpos\n> go depth 5\n<* bestmove *";
    for elo in [min, 1600, max] {
        for go in ["go wtime 600000 btime 600000", "go movetime 600000", "go depth 60"] {
            let first = limited_play(&format!("> position fen {middle}"), elo, go);
            assert!(Board::from_fen(middle).expect("a FEN").parse_uci(&first.0).is_some(), "{first:?}");
            // Neither earlier searches nor the full player's options matter.
            let more = "> setoption name Threads value 2\n> setoption name Hash value 3";
            let again = limited_play(&format!("{more}\n{other}\n> position fen {middle}"), elo, go);
            assert_eq!(again, first, "{elo} {go}");
        }
    }
    let seeds = |seed: u32| {
        limited_play(
            &format!("> setoption name Strength Seed value {seed}\n> position fen {middle}"),
            min,
            "go depth 9",
        )
        .0
    };
    let first = seeds(0);
    assert!((1..30).any(|seed| seeds(seed) != first), "always {first}");
}

#[test]
fn a_limited_player_keeps_to_nodes_clock_and_rules() {
    let (min, max) = (*strength::ELO.start(), *strength::ELO.end());
    let few = limited_play("> position startpos", min, "go wtime 600000 btime 600000").1;
    let many = limited_play("> position startpos", max, "go wtime 600000 btime 600000").1;
    assert!(few < many, "{few} {many}");
    for (fen, go, best) in [
        ("7k/8/8/8/8/8/r7/1r5K w - - 0 1", "go wtime 0 btime 0", "(none)"),
        ("k7/8/8/8/8/8/5q2/7K w - - 0 1", "go movetime 1", "(none)"),
        ("k7/8/8/8/8/8/1r6/7K w - - 0 1", "go searchmoves h1g1 wtime 1 btime 1", "h1g1"),
        ("4k3/8/8/8/8/8/8/4K2R w K - 0 1", "go searchmoves e1g1 wtime 50", "e1g1"),
    ] {
        for elo in [min, max] {
            assert_eq!(limited_play(&format!("> position fen {fen}"), elo, go).0, best, "{fen} {go}");
        }
    }
    // Analysis is not limited: it continues until it is stopped.
    let setup = format!("> setoption name UCI_LimitStrength value true\n> setoption name UCI_Elo value {min}");
    check(&format!("{setup}\n> position startpos\n> go infinite\n<* info depth 9 *\n> stop\n<* bestmove *"));
}

#[test]
fn what_makes_no_sense_is_remarked_and_changes_nothing() {
    check(
        "> position startpos moves e2e4
         > d
         <* Fen: rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1
         < Key: *
         < Checkers:
         > xyzzy
         < info string unknown command `xyzzy`
         > setoption name Hash value many
         < info string setoption: bad value `many` for `Hash`, expected 1 to 65536
         > go depth x nodes 10
         < info string go: bad number `x` for `depth`
         <* bestmove *
         > go searchmoves e2e4 depth 1
         < info string go: `e2e4` of `searchmoves` is not legal here
         <* bestmove *
         > \u{0} \u{1F40E} \u{7F}
         < info string unknown command *
         > stop
         > ponderhit
         > isready
         < readyok",
    );
}

#[test]
fn a_refused_position_is_not_answered_for_the_one_before_it() {
    for (line, reason) in [
        ("position fen 8/8 w - - 0 1", "position: fen: *"),
        ("position startpos moves e2e4 e2e4", "position: move 2 `e2e4` is not legal"),
        ("position", "position: expected *"),
        ("position fen", "position: fen: *"),
    ] {
        check(&format!(
            "> position startpos moves e2e4
             > {line}
             < info string {reason}
             > go depth 1
             < info string ERROR: the last `position` was refused ({reason}); send another
             < bestmove (none)
             > go perft 1
             < info string ERROR: *
             > d
             < info string ERROR: *
             > eval
             < info string ERROR: *
             > position startpos moves e2e4
             > d
             <* Fen: rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1
             < Key: *
             < Checkers:
             > go depth 1
             <* bestmove *"
        ));
    }
}

#[test]
fn a_refused_position_ends_the_search_before_it() {
    check(
        "> go infinite
         <* info depth *
         > position fen nonsense
         <* info string position: *
         > go depth 1
         <* bestmove *
         < info string ERROR: *
         < bestmove (none)",
    );
}

#[test]
fn lines_that_are_quoted_are_bounded_and_without_control_characters() {
    let word = format!("{}\u{1b}[2J", "x".repeat(1 << 16));
    let quoting = [word.clone(), format!("position startpos moves {word}"), format!("setoption name {word} value 1")];
    for line in quoting {
        let seen = check(&format!("> {line}\n< info string *\n> isready\n< readyok"));
        assert!(seen[0].len() < 600 && !seen[0].contains(char::is_control), "{}", seen[0]);
    }
}

#[test]
fn bytes_that_are_no_text_are_survived() {
    let (input, receiver) = channel();
    let (sender, output) = channel();
    input.send(b"\xFF\xFE position \x80\nposition fen \xC3\x28\nisready".to_vec()).expect("it listens");
    drop(input);
    uci::run(BufReader::new(Lines { receiver, rest: Vec::new() }), Writes(sender)).expect("a session");
    let lines: Vec<String> = output.iter().collect();
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert_eq!(lines[2], "readyok");
}

#[test]
fn castling_is_written_as_the_option_says() {
    let setup = "position fen 4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1";
    for (option, castling) in [("false", "e1g1"), ("true", "e1h1")] {
        check(&format!(
            "> setoption name UCI_Chess960 value {option}
             > {setup}
             > go searchmoves {castling} depth 1
             < info depth 1 * pv {castling}*
             < bestmove {castling}*
             > {setup} moves {castling}
             > d
             <* Fen: 4k3/8/8/8/8/8/8/R4RK1 b - - 1 1"
        ));
    }
}

#[test]
fn perft_and_eval() {
    let seen = check(
        "> position startpos
         > go perft 5
         <* Nodes searched: 4865609
         > go perft 1
         <* Nodes searched: 20
         > eval
         < * cp for the side to move
         > go perft 12
         > isready
         <* readyok
         > stop
         > go depth 1
         <* bestmove *",
    );
    assert!(seen.contains(&"e2e4: 405385".to_owned()));
}

#[test]
fn the_end_of_the_input_ends_a_search() {
    let seen = check("> go infinite\n<* info depth 1 *");
    assert!(seen.last().is_some_and(|line| line.starts_with("bestmove")));
}
