//! `go` in all its forms, `stop`, pondering, odd positions, and the fields of `info`.

use std::time::Duration;

use super::peer::{AnsweredSearch, CheckedProcess, SentPosition};
use super::{CheckAnswer, CheckedEngine, Finding};
use crate::chess::{Position, START_FEN, Variant};

/// White mates with the rook.
const MATE_IN_ONE: &str = "6k1/5ppp/8/8/8/8/8/R6K w - - 0 1";

/// The only legal move takes the queen and leaves bare kings.
const ONE_MOVE: &str = "k7/8/8/8/8/8/6q1/7K w - - 0 1";

/// A middle game with no castling rights, worth some thought.
const MIDDLE_GAME: &str = "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10";

/// Positions in which move generators fail: promotions to each side of the board, pins along an
/// en-passant capture, double check, every kind of castling, 218 moves, counters near their ends.
const ODD: &[&str] = &[
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1",
    "4k2r/8/8/8/8/8/8/R3K3 w Qk - 0 1",
    "8/P6k/8/8/8/8/7K/8 w - - 0 1",
    "8/7k/8/8/8/8/p6K/1N6 b - - 0 1",
    "7r/6P1/8/8/8/8/2k5/K7 w - - 0 1",
    "8/8/8/8/k2Pp2Q/8/8/3K4 b - d3 0 1",
    "rnbqkb1r/ppp1pppp/5n2/3pP3/8/8/PPPP1PPP/RNBQKBNR w KQkq d6 0 3",
    "4k3/8/4r3/8/8/5n2/8/4K3 w - - 0 1",
    "R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1",
    "8/8/8/4k3/8/8/4P3/4K3 w - - 99 180",
    "8/5k2/8/8/8/8/1p6/K7 w - - 0 1",
    ONE_MOVE,
    MATE_IN_ONE,
];

fn standard(fen: &str) -> Result<SentPosition, String> {
    SentPosition::new(fen, Variant::Standard, "")
}

pub(super) fn legal(peer: &mut CheckedProcess, _: &CheckedEngine) -> CheckAnswer {
    for fen in ODD {
        peer.go_legal(&standard(fen)?, "depth 3")?;
    }
    Finding::pass(format!("{} odd positions", ODD.len()))
}

pub(super) fn one_answer(peer: &mut CheckedProcess, _: &CheckedEngine) -> CheckAnswer {
    for _ in 0..3 {
        peer.go(&SentPosition::start().text(), "depth 1")?;
        peer.ready()?;
    }
    peer.say("stop");
    peer.ready()?;
    match peer.strays.first() {
        Some(stray) => Err(format!("`bestmove {stray}` came without a search")),
        None => Finding::pass("one `bestmove` for each `go`, none for an idle `stop`"),
    }
}

pub(super) fn ready_searching(peer: &mut CheckedProcess, _: &CheckedEngine) -> CheckAnswer {
    peer.begin("startpos", "infinite");
    peer.sees_thinking()?;
    let took = peer.ready()?;
    Finding::pass(format!("readyok after {:.1} ms", took.as_secs_f64() * 1e3))
}

pub(super) fn stop(peer: &mut CheckedProcess, bench: &CheckedEngine) -> CheckAnswer {
    const PROMPT: Duration = Duration::from_millis(100);
    let limit = bench.config.timeouts.stop;
    let (mut worst, mut slowest) = (Duration::ZERO, Duration::ZERO);
    for fen in [MIDDLE_GAME, START_FEN, ODD[9]] {
        let at = standard(fen)?;
        peer.begin(&at.text(), "infinite");
        let strays = peer.strays.len();
        peer.sees_thinking()?;
        // Without `info` the answer came while the check waited for it.
        if peer.strays.len() > strays || peer.answers_within(Duration::ZERO)? {
            return Finding::skip("it ends `go infinite` without `stop`, see `infinite`");
        }
        bench.lag.reset();
        let said = peer.say("stop");
        let search = peer.answer(said, peer.patience)?;
        at.check(&search.best)?;
        // Without the time for which this machine kept it, or a thread of ours, from a CPU.
        let own = search.elapsed.saturating_sub(search.waited + bench.lag.worst());
        if own > limit {
            return Err(format!("bestmove {:.0} ms after `stop`", search.elapsed.as_secs_f64() * 1e3));
        }
        (worst, slowest) = (worst.max(search.elapsed), slowest.max(own));
    }
    let text = format!("bestmove at most {:.1} ms after `stop`", worst.as_secs_f64() * 1e3);
    if slowest > PROMPT { Finding::warn(text) } else { Finding::pass(text) }
}

pub(super) fn infinite(peer: &mut CheckedProcess, _: &CheckedEngine) -> CheckAnswer {
    const WHILE: Duration = Duration::from_millis(400);
    for fen in [ONE_MOVE, MATE_IN_ONE] {
        let at = standard(fen)?;
        peer.begin(&at.text(), "infinite");
        if peer.answers_within(WHILE)? {
            return Err(format!("bestmove before `stop`, at `{fen}`"));
        }
        let said = peer.say("stop");
        let search = peer.answer(said, peer.patience)?;
        at.check(&search.best)?;
    }
    Finding::pass("it waits for `stop` where there is nothing left to search")
}

pub(super) fn ponder(peer: &mut CheckedProcess, bench: &CheckedEngine) -> CheckAnswer {
    const WHILE: Duration = Duration::from_millis(150);
    if bench.handshake.option("Ponder").is_none() {
        return Finding::skip("it has no option `Ponder`");
    }
    peer.set("Ponder", Some("true"))?;
    peer.ready()?;
    let mut at = SentPosition::start();
    at.play("e2e4")?;
    at.play("e7e5")?;
    for end in ["ponderhit", "stop"] {
        peer.begin(&at.text(), "ponder wtime 1000 btime 1000 winc 10 binc 10");
        if peer.answers_within(WHILE)? {
            return Err(format!("bestmove before `{end}`"));
        }
        let said = peer.say(end);
        let search = peer.answer(said, peer.patience).map_err(|why| format!("{why}, after `{end}`"))?;
        at.check(&search.best)?;
    }
    Finding::pass("it waits for `ponderhit` and for `stop`")
}

/// A search of the given form from the middle game.
fn form(peer: &mut CheckedProcess, go: &str) -> Result<AnsweredSearch, String> {
    peer.go_legal(&standard(MIDDLE_GAME)?, go).map_err(|why| format!("{why}, with `go {go}`"))
}

fn answered(search: &AnsweredSearch) -> CheckAnswer {
    Finding::pass(format!("{} after {:.1} ms", search.best, search.elapsed.as_secs_f64() * 1e3))
}

pub(super) fn go_depth(peer: &mut CheckedProcess, _: &CheckedEngine) -> CheckAnswer {
    const DEPTH: u32 = 4;
    let search = form(peer, &format!("depth {DEPTH}"))?;
    match search.infos.iter().filter_map(|info| info.depth).max() {
        Some(depth) if depth > DEPTH => Finding::warn(format!("`go depth {DEPTH}` reports depth {depth}")),
        _ => answered(&search),
    }
}

pub(super) fn go_nodes(peer: &mut CheckedProcess, _: &CheckedEngine) -> CheckAnswer {
    const NODES: u64 = 5000;
    let search = form(peer, &format!("nodes {NODES}"))?;
    match search.infos.iter().filter_map(|info| info.nodes).max() {
        Some(nodes) if nodes > 2 * NODES => Finding::warn(format!("`go nodes {NODES}` searched {nodes}")),
        _ => answered(&search),
    }
}

pub(super) fn go_movetime(peer: &mut CheckedProcess, _: &CheckedEngine) -> CheckAnswer {
    form(peer, "movetime 50").and_then(|search| answered(&search))
}

pub(super) fn go_clock(peer: &mut CheckedProcess, _: &CheckedEngine) -> CheckAnswer {
    form(peer, "wtime 500 btime 500 winc 10 binc 10")?;
    form(peer, "wtime 500 btime 500")?;
    form(peer, "btime 500 wtime 500 binc 0 winc 0").and_then(|search| answered(&search))
}

pub(super) fn go_movestogo(peer: &mut CheckedProcess, _: &CheckedEngine) -> CheckAnswer {
    form(peer, "wtime 500 btime 500 movestogo 40")?;
    form(peer, "wtime 500 btime 500 winc 10 binc 10 movestogo 1").and_then(|search| answered(&search))
}

pub(super) fn go_last_moment(peer: &mut CheckedProcess, _: &CheckedEngine) -> CheckAnswer {
    form(peer, "wtime 1 btime 1")?;
    form(peer, "wtime 1 btime 1 movestogo 1").and_then(|search| answered(&search))
}

pub(super) fn go_mate(peer: &mut CheckedProcess, _: &CheckedEngine) -> CheckAnswer {
    let at = standard(MATE_IN_ONE)?;
    let search = peer.go_legal(&at, "mate 1")?;
    let mut after = at.clone();
    after.play(&search.best)?;
    if after.position().over().is_none() {
        return Finding::warn(format!("{} is not a mate in one, at `{MATE_IN_ONE}`", search.best));
    }
    answered(&search)
}

pub(super) fn go_searchmoves(peer: &mut CheckedProcess, _: &CheckedEngine) -> CheckAnswer {
    let asked = ["a2a3", "h2h3"];
    let go = format!("depth 3 searchmoves {}", asked.join(" "));
    let search = peer.go_legal(&SentPosition::start(), &go)?;
    if !asked.contains(&search.best.as_str()) {
        return Err(format!("bestmove {} with `go {go}`", search.best));
    }
    answered(&search)
}

/// Sends a position in which the game is over: any answer will do, but the process must survive and
/// continue.
fn over(peer: &mut CheckedProcess, fen: &str) -> CheckAnswer {
    let at = standard(fen)?;
    let begun = peer.begin(&at.text(), "depth 3");
    let reason = match peer.answer(begun, peer.patience) {
        Ok(search) if ["(none)", "0000", "NULL"].contains(&search.best.as_str()) => format!("bestmove {}", search.best),
        Ok(search) => return Finding::warn(format!("bestmove `{}` where there is no move", search.best)),
        Err(why) => {
            peer.say("stop");
            peer.still_plays()?;
            return Finding::warn(format!("{why}; it lives"));
        }
    };
    peer.still_plays()?;
    Finding::pass(reason)
}

pub(super) fn mated(peer: &mut CheckedProcess, _: &CheckedEngine) -> CheckAnswer {
    over(peer, "R5k1/5ppp/8/8/8/8/8/7K b - - 0 1")
}

pub(super) fn stalemated(peer: &mut CheckedProcess, _: &CheckedEngine) -> CheckAnswer {
    over(peer, "7k/5Q2/8/8/8/8/8/K7 b - - 0 1")
}

pub(super) fn long_game(peer: &mut CheckedProcess, _: &CheckedEngine) -> CheckAnswer {
    const PLIES: usize = 500;
    let mut at = SentPosition::start();
    // Knights move back and forth with a pawn move now and then, so that no rule ends the game
    // early.
    let pawns = ["a2a3", "a7a6", "b2b3", "b7b6", "d2d3", "d7d6", "h2h3", "h7h6", "g2g3", "g7g6"];
    let mut pawn = pawns.iter();
    for lap in 0.. {
        if lap % 12 == 11 {
            for word in pawn.by_ref().take(2) {
                at.play(word)?;
            }
        }
        for word in ["b1c3", "b8c6", "c3b1", "c6b8"] {
            at.play(word)?;
        }
        if 4 * lap > PLIES {
            break;
        }
    }
    let search = peer.go_legal(&at, "depth 4")?;
    peer.go_legal(&at, "wtime 500 btime 500")?;
    answered(&search)
}

/// Only castling is legal: king c1, rook b1, sent as `c1b1`.
const ONLY_CASTLING: &str = "6k1/8/8/8/4n3/1p2n3/1P6/BRK5 w Q - 0 1";

/// After White's king b1 takes its rook g1, Black is in check and has one move.
const CASTLE_TO_CHECK: &str = "5k2/4p1p1/8/8/2B5/8/8/1K4R1 w K - 0 1";

pub(super) fn chess960(peer: &mut CheckedProcess, bench: &CheckedEngine) -> CheckAnswer {
    if bench.handshake.option(Variant::OPTION).is_none() {
        return Finding::skip("it has no option `UCI_Chess960`");
    }
    peer.set(Variant::OPTION, Some("true"))?;
    peer.ready()?;
    peer.go_legal(&SentPosition::new(ONLY_CASTLING, Variant::Chess960, "")?, "depth 3")?;
    peer.go_legal(&SentPosition::new(CASTLE_TO_CHECK, Variant::Chess960, "b1g1")?, "depth 3")?;
    // Rook files instead of KQkq.
    peer.go_legal(&SentPosition::new("6k1/8/8/8/4n3/1p2n3/1P6/BRK5 w B - 0 1", Variant::Chess960, "")?, "depth 3")?;
    let start = "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9";
    let mut at = SentPosition::new(start, Variant::Chess960, "")?;
    for _ in 0..20 {
        if at.position().over().is_some() {
            break;
        }
        let search = peer.go_legal(&at, "depth 3")?;
        at.play(&search.best)?;
    }
    peer.set(Variant::OPTION, Some("false"))?;
    peer.ready()?;
    peer.go_legal(&standard(ODD[1])?, "depth 3")?;
    Finding::pass("castles king takes rook, and understands it")
}

/// The first move of a variation that cannot be played.
fn broken_pv(position: &Position, pv: &str) -> Option<String> {
    let mut position = position.clone();
    pv.split_whitespace().find(|word| position.play(word).is_err()).map(str::to_owned)
}

pub(super) fn info(peer: &mut CheckedProcess, _: &CheckedEngine) -> CheckAnswer {
    let mut scored = 0;
    let mut odd = None;
    for fen in ODD {
        let at = standard(fen)?;
        let search = peer.go(&at.text(), "depth 5")?;
        for info in &search.infos {
            if let Some(word) = broken_pv(at.position(), &info.pv) {
                return Err(format!(
                    "`{word}` in the variation is not legal, at `{fen}`: {}",
                    super::peer::shown(&info.line)
                ));
            }
        }
        let exact: Vec<_> = search.infos.iter().filter(|info| info.score.is_some() && info.multipv == 1).collect();
        scored += exact.len();
        if let Some(info) = exact.iter().find(|info| info.depth.is_none()) {
            odd = odd.or_else(|| Some(format!("a score without a depth: {}", super::peer::shown(&info.line))));
        }
        if let Some(first) = exact.last().and_then(|info| info.pv.split_whitespace().next())
            && first != search.best
        {
            odd = odd.or_else(|| Some(format!("bestmove {}, but its variation begins with {first}", search.best)));
        }
    }
    match odd {
        Some(odd) => Finding::warn(odd),
        None if scored == 0 => Finding::warn("no score at all: nothing can be adjudicated"),
        None => Finding::pass(format!("{scored} scores, every variation legal")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_positions_are_what_they_are_taken_for() {
        for fen in ODD.iter().chain([&MIDDLE_GAME]) {
            assert!(standard(fen).expect(fen).position().over().is_none(), "{fen}");
        }
        let frc = |fen, moves| SentPosition::new(fen, Variant::Chess960, moves).expect(fen).position().legal_moves();
        assert_eq!(frc(ONLY_CASTLING, ""), ["c1b1"]);
        assert_eq!(frc(CASTLE_TO_CHECK, "b1g1"), ["f8e8"]);
        assert_eq!(standard(ONE_MOVE).expect("legal").position().legal_moves(), ["h1g2"]);
        let mut mate = standard(MATE_IN_ONE).expect("legal");
        mate.play("a1a8").expect("legal");
        assert!(mate.position().over().is_some());
    }
}
