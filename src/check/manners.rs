//! Unknown commands, and the end of the process.

use std::time::{Duration, Instant};

use super::peer::{CheckedProcess, SentPosition, shown};
use super::{CheckAnswer, CheckedEngine, Finding};
use crate::source;
use crate::uci::process::EngineConfig;

/// Sends each of the lines and checks that the engine is still there.
fn survives(peer: &mut CheckedProcess, lines: &[Vec<u8>]) -> CheckAnswer {
    for line in lines {
        peer.say_bytes(line);
        let text = shown(String::from_utf8_lossy(line).trim_end_matches('\n'));
        peer.ready().map_err(|why| format!("{why}, after `{text}`"))?;
    }
    peer.still_plays()?;
    Finding::pass(format!("{} lines survived", lines.len()))
}

fn lines(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| format!("{text}\n").into_bytes()).collect()
}

pub(super) fn unknown_words(peer: &mut CheckedProcess, _: &CheckedEngine) -> CheckAnswer {
    survives(
        peer,
        &lines(&["xyzzy", "Castle at once", "bestmove e2e4", "debug maybe", "-1", "??", "position", "ponderhit"]),
    )
}

pub(super) fn blank_lines(peer: &mut CheckedProcess, _: &CheckedEngine) -> CheckAnswer {
    survives(peer, &lines(&["", "   ", "\t", "\r", " \t \r"]))
}

pub(super) fn white_space(peer: &mut CheckedProcess, _: &CheckedEngine) -> CheckAnswer {
    peer.say_bytes(b"isready\r\n");
    peer.ready()?;
    peer.say_bytes(b"  position \t startpos   moves  e2e4\t e7e5 \r\n");
    peer.ready()?;
    let at = SentPosition::start();
    let begun = peer.say_bytes(b"position  startpos\r\n\tgo   depth\t2 \r\n");
    let search = peer.answer(begun, peer.patience)?;
    at.check(&search.best)?;
    Finding::pass("blanks, tabs and CR LF are read")
}

pub(super) fn bad_bytes(peer: &mut CheckedProcess, _: &CheckedEngine) -> CheckAnswer {
    let raw: [&[u8]; 4] = [
        b"\xff\xfe\x80\n",
        b"position startpos moves \xc3\x28\n",
        b"setoption name \xf0\x9f value \xff\n",
        b"go\xa0\n",
    ];
    survives(peer, &raw.map(<[u8]>::to_vec))
}

pub(super) fn long_line(peer: &mut CheckedProcess, _: &CheckedEngine) -> CheckAnswer {
    let mut word = vec![b'x'; 1 << 20];
    word.push(b'\n');
    let mut words = b"junk ".repeat(1 << 16);
    words.push(b'\n');
    survives(peer, &[word, words])
}

pub(super) fn bad_position(peer: &mut CheckedProcess, _: &CheckedEngine) -> CheckAnswer {
    let texts = [
        "position fen",
        "position fen garbage",
        "position startpos moves e2e5",
        "position startpos moves e2e4 e2e4",
        "position startpos moves nonsense",
        "position fen rnbqkbnr/pppppppp/8/8 w KQkq - 0 1",
        "position fen rnbqkbnr/pppppppp/9/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "position fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR x KQkq e9 -5 z",
        "position fen 8/8/8/8/8/8/8/8 w - - 0 1",
        "position fen kkkkkkkk/8/8/8/8/8/8/KKKKKKKK w - - 0 1",
    ];
    for text in texts {
        peer.say(text);
        peer.ready().map_err(|why| format!("{why}, after `{text}`"))?;
        peer.say("position startpos");
        peer.ready().map_err(|why| format!("{why}, after `{text}` and `position startpos`"))?;
    }
    peer.still_plays()?;
    Finding::pass(format!("{} lines survived", texts.len()))
}

pub(super) fn bad_go(peer: &mut CheckedProcess, _: &CheckedEngine) -> CheckAnswer {
    /// Wait for stray answers: any of the lines may start a search that only `stop` ends, and its
    /// answer must not be taken for the next one's.
    const SETTLE: Duration = Duration::from_millis(150);
    let texts = [
        "go depth",
        "go depth many",
        "go nodes -1",
        "go wtime x btime y",
        "go searchmoves e9e9",
        "go sideways 7",
        "go wtime -20 btime -20",
        "go movetime -50",
    ];
    for text in texts {
        peer.say("position startpos");
        peer.say(text);
        peer.say("stop");
        peer.ready().map_err(|why| format!("{why}, after `{text}`"))?;
        peer.answers_within(SETTLE).map_err(|why| format!("{why}, after `{text}`"))?;
    }
    peer.still_plays()?;
    Finding::pass(format!("{} lines survived", texts.len()))
}

fn ends(peer: &mut CheckedProcess, bench: &CheckedEngine, from: Instant, after: &str) -> CheckAnswer {
    let limit = bench.config.timeouts.quit;
    match peer.end(limit) {
        None => Err(format!("still there {:.1} s after {after}", limit.as_secs_f64())),
        Some(status) if status == "exit status 0" => {
            Finding::pass(format!("{:.0} ms after {after}", from.elapsed().as_secs_f64() * 1e3))
        }
        Some(status) => Finding::warn(format!("{status} after {after}")),
    }
}

pub(super) fn quit(peer: &mut CheckedProcess, bench: &CheckedEngine) -> CheckAnswer {
    let said = peer.say("quit");
    ends(peer, bench, said, "`quit`")
}

pub(super) fn quit_searching(peer: &mut CheckedProcess, bench: &CheckedEngine) -> CheckAnswer {
    peer.begin("startpos", "infinite");
    peer.sees_thinking()?;
    let said = peer.say("quit");
    ends(peer, bench, said, "`quit` in a search")
}

pub(super) fn end_of_input(peer: &mut CheckedProcess, bench: &CheckedEngine) -> CheckAnswer {
    let closed = peer.close_input();
    ends(peer, bench, closed, "the end of its input")
}

pub(super) fn end_of_input_searching(peer: &mut CheckedProcess, bench: &CheckedEngine) -> CheckAnswer {
    peer.begin("startpos", "infinite");
    peer.sees_thinking()?;
    let closed = peer.close_input();
    ends(peer, bench, closed, "the end of its input in a search")
}

pub(super) fn bench(config: &EngineConfig) -> CheckAnswer {
    let once = || source::bench(&config.program, &config.args, config.dir.as_deref());
    let Some(first) = once() else {
        return Finding::warn("no `bench` argument that prints a node count: so it cannot distinguish versions");
    };
    match once() {
        Some(second) if second == first => Finding::pass(format!("{first} nodes, twice")),
        Some(second) => Err(format!("{first} nodes, then {second}")),
        None => Err(format!("{first} nodes, then none")),
    }
}
