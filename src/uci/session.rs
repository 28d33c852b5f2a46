//! One engine's side of the conversation: what state it is in, and what a line means in that state. No I/O, no clock.

use std::fmt;
use std::time::Duration;

use super::complaint;
use super::option::EngineOption;
use super::reply::{BestMove, Bound, IdField, InfoLine, Reply};
pub use crate::record::EngineId as Identity;
use crate::record::{Score, SearchInfo};

/// What the harness waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// `uci` is sent, `uciok` not seen.
    Starting,
    /// Nothing.
    Idle,
    /// `isready` is sent, `readyok` not seen.
    Syncing,
    /// `go` is sent, `bestmove` not seen.
    Searching,
    /// `go ponder` is sent: nothing is waited for until `ponderhit` or `stop` is.
    Pondering,
    /// `stop` is sent to a ponder search whose `bestmove` is of no use and not seen.
    Stopping,
}

/// What a line brought about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionEvent {
    /// Nothing that anybody waits for.
    Nothing,
    /// The handshake is over.
    UciOk,
    /// The engine has caught up.
    ReadyOk,
    /// The search is over: see [`Session::answer`].
    BestMove,
}

/// The answer to a search. Words longer than 64 characters are cut, bytes that are not UTF-8 replaced.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// The word after `bestmove` as it came: a move, `(none)`, `0000`, anything; empty where there was none.
    pub text: String,
    /// The word after `ponder`.
    pub ponder: Option<String>,
}

/// Something an engine did that the protocol does not allow, and that the harness lives with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Warning {
    /// A `bestmove` nobody asked for, or a second one.
    UnexpectedBestMove(String),
    /// The `bestmove` of a search that was given up.
    LateBestMove(String),
    /// `bestmove` without the end of its line.
    NoNewline,
    /// Lines longer than the harness keeps.
    Overlong(u64),
    /// More or longer options than the harness keeps.
    TooManyOptions,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnexpectedBestMove(text) => write!(f, "`bestmove {text}` came without a search"),
            Self::LateBestMove(text) => write!(f, "`bestmove {text}` came after its search was given up"),
            Self::NoNewline => f.write_str("`bestmove` came without a line end"),
            Self::Overlong(count) => write!(f, "{count} lines were longer than {} bytes and were cut", super::MAX_LINE),
            Self::TooManyOptions => f.write_str("more options than the harness keeps"),
        }
    }
}

/// The state machine of one engine process.
#[derive(Debug)]
pub struct Session {
    state: State,
    /// Searches that were given up and whose `bestmove` may still come.
    owed: u32,
    identity: Identity,
    options: Vec<EngineOption>,
    option_bytes: usize,
    info: SearchInfo,
    pv: Vec<u8>,
    /// A variation that came after `pv`, with a bound.
    bound_pv: Vec<u8>,
    answer: Answer,
    warnings: Vec<Warning>,
    /// Remarks on failures that came before the end of a game's first search.
    complaints: Vec<String>,
    has_answered: bool,
}

impl Default for Session {
    fn default() -> Self {
        Self::new()
    }
}

impl Session {
    /// Bytes of `option` lines kept; an engine may print them for as long as its handshake lasts.
    const MAX_OPTION_BYTES: usize = 1 << 20;
    /// Warnings kept a search.
    const MAX_WARNINGS: usize = 16;
    /// Remarks on failures kept.
    const MAX_COMPLAINTS: usize = 8;
    /// Bytes of a principal variation kept: some 800 moves.
    const MAX_PV: usize = 4096;

    /// A session whose `uci` is sent.
    #[must_use]
    pub fn new() -> Self {
        Self {
            state: State::Starting,
            owed: 0,
            identity: Identity::default(),
            options: Vec::new(),
            option_bytes: 0,
            info: SearchInfo::default(),
            pv: Vec::new(),
            bound_pv: Vec::new(),
            answer: Answer::default(),
            warnings: Vec::new(),
            complaints: Vec::new(),
            has_answered: false,
        }
    }

    /// What is waited for.
    #[must_use]
    pub fn state(&self) -> State {
        self.state
    }

    /// Who the engine says it is.
    #[must_use]
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// What it advertises, in its order.
    #[must_use]
    pub fn options(&self) -> &[EngineOption] {
        &self.options
    }

    /// What it said of its last search.
    #[must_use]
    pub fn info(&self) -> &SearchInfo {
        &self.info
    }

    /// The principal variation that came with the last exact score: words separated by blanks, as they came.
    #[must_use]
    pub fn pv(&self) -> &[u8] {
        &self.pv
    }

    /// The last principal variation that came, and the score if that was exact.
    #[must_use]
    pub fn last_pv(&self) -> (&[u8], Option<Score>) {
        if self.bound_pv.is_empty() { (&self.pv, self.info.score) } else { (&self.bound_pv, None) }
    }

    /// Takes the answer to the last search.
    pub fn answer(&mut self) -> Answer {
        std::mem::take(&mut self.answer)
    }

    /// Takes what was odd since the last call.
    pub fn warnings(&mut self) -> Vec<Warning> {
        std::mem::take(&mut self.warnings)
    }

    /// Adds a warning from the layer below.
    pub fn warn(&mut self, warning: Warning) {
        if self.warnings.len() < Self::MAX_WARNINGS {
            self.warnings.push(warning);
        }
    }

    /// Remarks (`info string`) on failures that the engine made before the first `bestmove` of a
    /// game: a network that it did not load, an option that it did not take. Each is there once.
    #[must_use]
    pub fn complaints(&self) -> &[String] {
        &self.complaints
    }

    /// Takes the remarks since the last call.
    pub fn take_complaints(&mut self) -> Vec<String> {
        std::mem::take(&mut self.complaints)
    }

    /// Says that `ucinewgame` is sent: engines load what they need again.
    pub const fn begin_game(&mut self) {
        self.has_answered = false;
    }

    /// Adds a remark of the layer below.
    pub fn complain(&mut self, text: String) {
        if self.complaints.len() < Self::MAX_COMPLAINTS && !self.complaints.contains(&text) {
            self.complaints.push(text);
        }
    }

    /// True while the `bestmove` of a search is waited for, whatever becomes of it.
    #[must_use]
    pub fn awaits_best_move(&self) -> bool {
        matches!(self.state, State::Searching | State::Stopping)
    }

    /// Says that `isready` is sent.
    pub fn begin_sync(&mut self) {
        self.state = State::Syncing;
    }

    /// Says that `go` is sent.
    pub fn begin_search(&mut self) {
        self.state = State::Searching;
        self.info = SearchInfo::default();
        self.pv.clear();
        self.bound_pv.clear();
    }

    /// Says that `go ponder` is sent.
    pub fn begin_ponder(&mut self) {
        self.begin_search();
        self.state = State::Pondering;
    }

    /// Says that `ponderhit` is sent: from now on the search is one as any other, and what is said of it counts.
    pub fn ponder_hit(&mut self) {
        self.state = State::Searching;
    }

    /// Says that `stop` is sent to a ponder search whose answer is of no use.
    pub fn stop_ponder(&mut self) {
        self.state = State::Stopping;
    }

    /// Says that the search is given up: a `bestmove` that still comes is not the next search's.
    pub fn abandon_search(&mut self) {
        self.owed += u32::from(self.awaits_best_move());
        self.state = State::Idle;
    }

    /// Takes one line.
    pub fn on_line(&mut self, line: &[u8]) -> SessionEvent {
        if !self.has_answered
            && let Some(text) = complaint::read(line)
        {
            self.complain(text);
        }
        match Reply::read(line) {
            Reply::Info(info) if self.state == State::Searching && self.owed == 0 => self.note_info(&info),
            Reply::BestMove(best) => return self.on_best_move(&best),
            Reply::ReadyOk if self.state == State::Syncing => {
                self.state = State::Idle;
                return SessionEvent::ReadyOk;
            }
            Reply::UciOk if self.state == State::Starting => {
                self.state = State::Idle;
                return SessionEvent::UciOk;
            }
            Reply::Id(IdField::Name, name) if self.state == State::Starting => self.identity.name = clip(name),
            Reply::Id(IdField::Author, author) if self.state == State::Starting => self.identity.author = clip(author),
            Reply::Option(option) if self.state == State::Starting => self.note_option(line.len(), option),
            _ => {}
        }
        SessionEvent::Nothing
    }

    fn on_best_move(&mut self, best: &BestMove<'_>) -> SessionEvent {
        let text = word(best.text);
        if self.owed > 0 {
            self.owed -= 1;
            self.warn(Warning::LateBestMove(text));
            return SessionEvent::Nothing;
        }
        if !self.awaits_best_move() {
            // A ponder search that ends by itself is over: no `ponderhit` and no `stop` will be answered.
            if self.state == State::Pondering {
                self.state = State::Idle;
            }
            self.warn(Warning::UnexpectedBestMove(text));
            return SessionEvent::Nothing;
        }
        self.state = State::Idle;
        self.has_answered = true;
        self.answer = Answer { text, ponder: best.ponder.map(word) };
        SessionEvent::BestMove
    }

    fn note_option(&mut self, length: usize, option: EngineOption) {
        self.option_bytes += length;
        if self.option_bytes > Self::MAX_OPTION_BYTES {
            if !self.warnings.contains(&Warning::TooManyOptions) {
                self.warn(Warning::TooManyOptions);
            }
        } else {
            self.options.push(option);
        }
    }

    /// Counters are the last that came; depth and variation belong to the last exact score, if there is one.
    fn note_info(&mut self, line: &InfoLine<'_>) {
        if line.multipv.is_some_and(|rank| rank > 1) {
            return;
        }
        let info = &mut self.info;
        info.nodes = line.nodes.or(info.nodes);
        info.nps = line.nps.or(info.nps);
        info.time = line.time_ms.map(Duration::from_millis).or(info.time);
        info.hashfull = line.hashfull.or(info.hashfull);
        info.tbhits = line.tbhits.or(info.tbhits);
        let exact = line.score.is_some() && line.bound == Bound::Exact;
        if exact || info.score.is_none() {
            info.depth = line.depth.or(info.depth);
            info.seldepth = line.seldepth.or(info.seldepth);
        }
        if exact {
            info.score = line.score;
            self.pv.clear();
            self.pv.extend_from_slice(whole_words(line.pv, Self::MAX_PV));
            self.bound_pv.clear();
        } else if !line.pv.is_empty() {
            self.bound_pv.clear();
            self.bound_pv.extend_from_slice(whole_words(line.pv, Self::MAX_PV));
        }
    }
}

/// At most `most` bytes, cut between two words: half a move would be an illegal one.
fn whole_words(bytes: &[u8], most: usize) -> &[u8] {
    match bytes.get(..most) {
        Some(head) if bytes.len() > most => {
            let end = head.iter().rposition(|byte| super::framing::is_blank(*byte)).unwrap_or(0);
            &head[..end]
        }
        _ => bytes,
    }
}

fn word(bytes: &[u8]) -> String {
    const LONGEST: usize = 64;
    String::from_utf8_lossy(&bytes[..bytes.len().min(4 * LONGEST)]).chars().take(LONGEST).collect()
}

fn clip(text: String) -> String {
    const LONGEST: usize = 200;
    if text.len() <= LONGEST { text } else { text.chars().take(LONGEST).collect() }
}

#[cfg(test)]
mod tests {
    use SessionEvent::{BestMove as Best, Nothing, ReadyOk, UciOk};
    use proptest::prelude::*;

    use super::*;
    use crate::record::Score;
    use crate::uci::LineBuffer;

    fn check(session: &mut Session, lines: &[(&str, SessionEvent)]) {
        for (line, expected) in lines {
            assert_eq!(session.on_line(line.as_bytes()), *expected, "{line} in {:?}", session.state());
        }
    }

    fn started() -> Session {
        let mut session = Session::new();
        check(&mut session, &[("uciok", UciOk)]);
        session
    }

    fn searched(lines: &[&str]) -> Session {
        let mut session = started();
        session.begin_search();
        for line in lines {
            assert_eq!(session.on_line(line.as_bytes()), Nothing, "{line}");
        }
        check(&mut session, &[("bestmove e2e4", Best)]);
        session
    }

    #[test]
    fn the_handshake_collects_identity_and_options() {
        let mut session = Session::new();
        check(
            &mut session,
            &[
                ("Fancy engine, banner", Nothing),
                ("readyok", Nothing),
                ("id name Fancy 1.0", Nothing),
                ("id author A", Nothing),
                ("option name Hash type spin default 1 min 1 max 2", Nothing),
                ("option name Broken type", Nothing),
                ("bestmove e2e4", Nothing),
                ("uciok", UciOk),
                ("uciok", Nothing),
                ("id name Other", Nothing),
                ("option name Late type check default true", Nothing),
            ],
        );
        assert_eq!(session.identity(), &Identity { name: "Fancy 1.0".into(), author: "A".into() });
        assert_eq!(session.options().iter().map(|o| o.name.as_str()).collect::<Vec<_>>(), ["Hash"]);
        assert_eq!(session.warnings(), [Warning::UnexpectedBestMove("e2e4".into())]);
        assert_eq!(session.warnings(), []);
    }

    #[test]
    fn options_without_end_stop_counting() {
        let mut session = Session::new();
        let line = format!("option name {} type button", "x".repeat(60_000));
        for _ in 0..100 {
            session.on_line(line.as_bytes());
        }
        assert!(session.options().len() < 20);
        assert_eq!(session.warnings(), [Warning::TooManyOptions]);
    }

    #[test]
    fn a_search_ends_with_its_own_bestmove() {
        let mut session = started();
        session.begin_sync();
        check(&mut session, &[("info string hello", Nothing), ("readyok", ReadyOk), ("readyok", Nothing)]);
        session.begin_search();
        check(&mut session, &[("readyok", Nothing), ("bestmove e2e4 ponder e7e5", Best), ("bestmove d2d4", Nothing)]);
        assert_eq!(session.answer(), Answer { text: "e2e4".into(), ponder: Some("e7e5".into()) });
        assert_eq!(session.warnings(), [Warning::UnexpectedBestMove("d2d4".into())]);
    }

    #[test]
    fn failures_are_kept_up_to_the_first_answer_of_a_game() {
        let mut session = Session::new();
        check(&mut session, &[("info string NNUE enabled", Nothing), ("uciok", UciOk)]);
        session.begin_sync();
        let failure = "info string ERROR: The network file x.nnue was not loaded successfully.";
        check(&mut session, &[(failure, Nothing), (failure, Nothing), ("readyok", ReadyOk)]);
        session.begin_search();
        check(&mut session, &[("info string cannot open a.bin", Nothing), ("bestmove e2e4", Best)]);
        session.begin_search();
        check(&mut session, &[("info string error 3", Nothing), ("bestmove e2e4", Best)]);
        let kept = ["ERROR: The network file x.nnue was not loaded successfully.", "cannot open a.bin"];
        assert_eq!(session.take_complaints(), kept);
        session.begin_game();
        session.begin_search();
        check(&mut session, &[("info string error 4", Nothing), ("bestmove e2e4", Best)]);
        session.begin_search();
        check(&mut session, &[("info string error 5", Nothing), ("bestmove e2e4", Best)]);
        assert_eq!(session.complaints(), ["error 4"]);
    }

    #[test]
    fn a_late_bestmove_is_not_the_next_searchs() {
        let mut session = started();
        session.begin_search();
        session.abandon_search();
        session.begin_search();
        check(
            &mut session,
            &[
                ("info depth 9 score cp 900 nodes 5", Nothing),
                ("bestmove a2a3", Nothing),
                ("info depth 1 score cp 1", Nothing),
                ("bestmove e2e4", Best),
            ],
        );
        assert_eq!(session.answer().text, "e2e4");
        assert_eq!(session.info().nodes, None);
        assert_eq!(session.info().score, Some(Score::Cp(1)));
        assert_eq!(session.warnings(), [Warning::LateBestMove("a2a3".into())]);
    }

    #[test]
    fn a_ponder_search_counts_from_the_hit_on() {
        let mut session = started();
        session.begin_ponder();
        check(&mut session, &[("info depth 5 score cp 5 nodes 50 pv e7e5", Nothing), ("readyok", Nothing)]);
        assert_eq!((session.state(), session.awaits_best_move()), (State::Pondering, false));
        session.ponder_hit();
        check(&mut session, &[("info depth 6 score cp 6", Nothing), ("bestmove g1f3 ponder b8c6", Best)]);
        assert_eq!((session.info().score, session.info().nodes), (Some(Score::Cp(6)), None));
        assert_eq!(session.answer().ponder.as_deref(), Some("b8c6"));
        // Of no use: it ends, and is no warning.
        session.begin_ponder();
        session.stop_ponder();
        check(&mut session, &[("info depth 9 score cp 9", Nothing), ("bestmove a2a3", Best)]);
        assert_eq!((session.state(), session.info().score, session.warnings()), (State::Idle, None, vec![]));
        // It ends by itself, which it may not: nothing is owed then.
        session.begin_ponder();
        check(&mut session, &[("bestmove a2a3", Nothing)]);
        assert_eq!(session.state(), State::Idle);
        session.begin_search();
        check(&mut session, &[("bestmove b2b3", Best)]);
        assert_eq!(session.warnings(), [Warning::UnexpectedBestMove("a2a3".into())]);
    }

    #[test]
    fn the_score_is_the_last_exact_one_of_the_first_line() {
        let check = |lines: &[&str], score, depth, nodes, pv: &str| {
            let session = searched(lines);
            let info = session.info();
            assert_eq!((info.score, info.depth, info.nodes), (score, depth, nodes), "{lines:?}");
            assert_eq!(session.pv(), pv.as_bytes(), "{lines:?}");
        };
        let first = "info depth 5 score cp 10 nodes 50 pv a2a3 a7a6";
        let ten = Some(Score::Cp(10));
        check(&[], None, None, None, "");
        check(&[first], ten, Some(5), Some(50), "a2a3 a7a6");
        let bound = "info depth 6 score cp 30 lowerbound nodes 99 pv b2b3";
        check(&[first, bound], ten, Some(5), Some(99), "a2a3 a7a6");
        let second = "info depth 5 multipv 2 score cp -5 nodes 60 pv b2b3";
        check(&[first, second], ten, Some(5), Some(50), "a2a3 a7a6");
        let next = "info depth 6 multipv 1 score mate 3 nodes 60 pv b2b3";
        check(&[first, next], Some(Score::Mate(3)), Some(6), Some(60), "b2b3");
        check(&["info depth 7 currmove e2e4 currmovenumber 1", "info nodes 70"], None, Some(7), Some(70), "");
        check(&[first, "info depth 6 currmove e2e4", "info nodes 77"], ten, Some(5), Some(77), "a2a3 a7a6");
        check(&["info depth 3 score cp 7 upperbound nodes 9"], None, Some(3), Some(9), "");
        let mut session = searched(&["info depth 5 score cp 10 pv a2a3"]);
        session.begin_search();
        assert_eq!(session.info(), &SearchInfo::default());
        assert_eq!(session.pv(), b"");
    }

    #[test]
    fn answers_are_cut_to_what_a_report_can_show() {
        let mut session = started();
        session.begin_search();
        let line = [b"bestmove \xff\x00".as_slice(), &[b'x'; 5000]].concat();
        assert_eq!(session.on_line(&line), Best);
        let text = session.answer().text;
        assert_eq!(text.chars().count(), 64);
        assert!(text.starts_with("\u{fffd}\0x"));
    }

    proptest! {
        /// Whatever an engine prints, in whatever pieces: nothing panics, and a search ends once, at its first `bestmove`.
        #[test]
        fn a_search_ends_once_whatever_is_printed(
            noise in prop::collection::vec(prop_oneof![
                prop::collection::vec(any::<u8>(), 0..80),
                prop::sample::select(vec![
                    "info depth 3 score cp 5 nodes 9 pv e2e4", "bestmove e2e4", "bestmove", "readyok", "uciok", "id name X", "info",
                    "option name Hash type spin default 1 min 1 max 2", "\r", "info string bestmove e2e4",
                ]).prop_map(|line| line.as_bytes().to_vec()),
            ], 0..20),
            chunk in 1usize..200,
        ) {
            let mut output = noise.join(&b'\n');
            output.extend_from_slice(b"\nbestmove d2d4\n");
            let mut session = started();
            session.begin_search();
            let mut buffer = LineBuffer::new();
            let mut ended = 0;
            for piece in output.chunks(chunk) {
                buffer.space()[..piece.len()].copy_from_slice(piece);
                buffer.advance(piece.len());
                while let Some(line) = buffer.next_line() {
                    ended += u32::from(session.on_line(line) == Best);
                }
            }
            prop_assert_eq!(ended, 1);
            prop_assert_eq!(session.state(), State::Idle);
        }
    }
}
