//! State machine of one engine's UCI session, without I/O and without a clock.

use std::fmt;
use std::time::Duration;

use super::complaint;
use super::listener::Listener;
use super::option::EngineOption;
use super::reply::{BestMove, Bound, IdField, InfoLine, Reply};
pub use quintain_record::EngineId as Identity;
use quintain_record::{Score, SearchInfo};

/// State of the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionState {
    /// `uci` is sent, `uciok` not seen.
    Starting,
    /// No reply is awaited.
    Idle,
    /// `isready` is sent, `readyok` not seen.
    Syncing,
    /// `go` is sent, `bestmove` not seen.
    Searching,
    /// `go ponder` is sent; no reply is awaited before `ponderhit` or `stop`.
    Pondering,
    /// `stop` is sent to a ponder search; its `bestmove` is awaited and will be discarded.
    Stopping,
}

/// Event that a line completes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionEvent {
    /// No awaited event.
    Nothing,
    /// The handshake is complete.
    UciOk,
    /// The engine has answered `isready`.
    ReadyOk,
    /// The search is complete: see [`Session::answer`].
    BestMove,
}

/// Answer to a search. Words are cut at 64 characters, and bytes that are not UTF-8 are replaced.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Unaltered word after `bestmove`: a move, `(none)`, `0000` or anything else; empty if absent.
    pub text: String,
    /// The word after `ponder`.
    pub ponder: Option<String>,
}

/// Violation of the protocol that the harness tolerates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Warning {
    /// A `bestmove` without a search, or a second one.
    UnexpectedBestMove(String),
    /// The `bestmove` of an abandoned search.
    LateBestMove(String),
    /// A `bestmove` without its line end.
    NoNewline,
    /// Number of lines longer than [`MAX_LINE`](super::MAX_LINE).
    Overlong(u64),
    /// More bytes of options than the harness keeps.
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

/// Line of a search: its depth, and the move that it would play.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Iteration {
    /// Depth in plies.
    pub depth: u32,
    /// Score from the side to move's point of view.
    pub score: Score,
    /// Nodes searched so far.
    pub nodes: Option<u64>,
    /// Time since the start of the search, as reported by the engine.
    pub time: Option<Duration>,
    /// First move of the principal variation, unaltered; empty without one.
    pub best: String,
}

/// The state machine of one engine process.
#[derive(Debug)]
pub struct Session {
    state: SessionState,
    /// Abandoned searches whose `bestmove` may still come.
    owed: u32,
    identity: Identity,
    options: Vec<EngineOption>,
    option_bytes: usize,
    info: SearchInfo,
    pv: Vec<u8>,
    /// PV that came after `pv`, with a bound or without a score.
    bound_pv: Vec<u8>,
    answer: Answer,
    warnings: Vec<Warning>,
    /// Failures reported up to the first `bestmove` of a game.
    complaints: Vec<String>,
    has_answered: bool,
    /// True if the engine's scores are those of its opponent's point of view.
    scores_are_reversed: bool,
    /// Lines of the search with an exact score; `None` if nobody asked for them.
    iterations: Option<Vec<Iteration>>,
    /// Listener to lines beyond the protocol; `None` if nobody asked for them.
    listener: Option<Listener>,
}

impl Default for Session {
    fn default() -> Self {
        Self::new()
    }
}

impl Session {
    /// Maximum size of `option` lines kept in bytes, because an engine may print them during its
    /// whole handshake.
    const MAX_OPTION_BYTES: usize = 1 << 20;
    /// Maximum number of warnings kept between two calls of [`Self::warnings`].
    const MAX_WARNINGS: usize = 16;
    /// Maximum number of failures kept.
    const MAX_COMPLAINTS: usize = 8;
    /// Maximum number of lines of a search kept.
    const MAX_ITERATIONS: usize = 4096;
    /// Maximum size of a PV kept in bytes: about 800 moves.
    const MAX_PV: usize = 4096;

    /// Creates a session whose `uci` is sent.
    #[must_use]
    pub fn new() -> Self {
        Self {
            state: SessionState::Starting,
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
            scores_are_reversed: false,
            iterations: None,
            listener: None,
        }
    }

    /// Current state.
    #[must_use]
    pub fn state(&self) -> SessionState {
        self.state
    }

    /// Name and author from the `id` lines.
    #[must_use]
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Advertised options, in the engine's order.
    #[must_use]
    pub fn options(&self) -> &[EngineOption] {
        &self.options
    }

    /// Figures of the last search.
    #[must_use]
    pub fn info(&self) -> &SearchInfo {
        &self.info
    }

    /// Unaltered PV of the last exact score: words separated by blanks.
    #[must_use]
    pub fn pv(&self) -> &[u8] {
        &self.pv
    }

    /// Last PV, and its score if that was exact.
    #[must_use]
    pub fn last_pv(&self) -> (&[u8], Option<Score>) {
        if self.bound_pv.is_empty() { (&self.pv, self.info.score) } else { (&self.bound_pv, None) }
    }

    /// Sets whether the scores of coming searches are those of the opponent's point of view, and
    /// are reversed when they are read.
    pub const fn reverse_scores(&mut self, are_reversed: bool) {
        self.scores_are_reversed = are_reversed;
    }

    /// Keeps the lines of each search from now on.
    pub fn keep_iterations(&mut self) {
        self.iterations = Some(Vec::new());
    }

    /// Lines of the last search with a depth and an exact score, if they are kept.
    #[must_use]
    pub fn iterations(&self) -> &[Iteration] {
        self.iterations.as_deref().unwrap_or_default()
    }

    /// Sets the words at the beginning of the lines that [`heard`](Self::heard) returns.
    pub fn listen_for(&mut self, words: &str) {
        self.listener = Some(Listener::new(words));
    }

    /// Takes the last line beyond the protocol that began with the words of
    /// [`listen_for`](Self::listen_for), the first 256 bytes of it.
    pub fn heard(&mut self) -> Option<Vec<u8>> {
        self.listener.as_mut()?.take()
    }

    /// Takes the answer to the last search.
    pub fn answer(&mut self) -> Answer {
        std::mem::take(&mut self.answer)
    }

    /// Takes the warnings since the last call.
    pub fn warnings(&mut self) -> Vec<Warning> {
        std::mem::take(&mut self.warnings)
    }

    /// Adds a warning of the process layer.
    pub fn warn(&mut self, warning: Warning) {
        if self.warnings.len() < Self::MAX_WARNINGS {
            self.warnings.push(warning);
        }
    }

    /// Failures that the engine reported by `info string` before the first `bestmove` of a game,
    /// each once. Examples are a network that it cannot load or an option that it does not know.
    #[must_use]
    pub fn complaints(&self) -> &[String] {
        &self.complaints
    }

    /// Takes the failures since the last call.
    pub fn take_complaints(&mut self) -> Vec<String> {
        std::mem::take(&mut self.complaints)
    }

    /// Records that `ucinewgame` is sent: failures count again, because engines may reload their
    /// files.
    pub const fn begin_game(&mut self) {
        self.has_answered = false;
    }

    /// Adds a failure found by the process layer.
    pub fn complain(&mut self, text: String) {
        if self.complaints.len() < Self::MAX_COMPLAINTS && !self.complaints.contains(&text) {
            self.complaints.push(text);
        }
    }

    /// True while a `bestmove` is awaited, even if it will be discarded.
    #[must_use]
    pub fn awaits_best_move(&self) -> bool {
        matches!(self.state, SessionState::Searching | SessionState::Stopping)
    }

    /// Records that `isready` is sent.
    pub fn begin_sync(&mut self) {
        self.state = SessionState::Syncing;
    }

    /// Records that `go` is sent.
    pub fn begin_search(&mut self) {
        self.state = SessionState::Searching;
        self.info = SearchInfo::default();
        self.pv.clear();
        self.bound_pv.clear();
        self.iterations.iter_mut().for_each(Vec::clear);
    }

    /// Records that `go ponder` is sent.
    pub fn begin_ponder(&mut self) {
        self.begin_search();
        self.state = SessionState::Pondering;
    }

    /// Records that `ponderhit` is sent: from now on the search counts like any other.
    pub fn ponder_hit(&mut self) {
        self.state = SessionState::Searching;
    }

    /// Records that `stop` is sent to a ponder search, whose answer will be discarded.
    pub fn stop_ponder(&mut self) {
        self.state = SessionState::Stopping;
    }

    /// Abandons the search: its `bestmove` will not count for the next one.
    pub fn abandon_search(&mut self) {
        self.owed += u32::from(self.awaits_best_move());
        self.state = SessionState::Idle;
    }

    /// Processes one line.
    pub fn on_line(&mut self, line: &[u8]) -> SessionEvent {
        if !self.has_answered
            && let Some(text) = complaint::read(line)
        {
            self.complain(text);
        }
        // In a game the thread may time another engine's move, so it parses no more than it needs.
        let is_starting = self.state == SessionState::Starting;
        let reply = if is_starting { Reply::read(line) } else { Reply::read_after_handshake(line) };
        match reply {
            // What is found while pondering holds for the answer to a hit, which may come at once.
            Reply::Info(mut info)
                if matches!(self.state, SessionState::Searching | SessionState::Pondering) && self.owed == 0 =>
            {
                if self.scores_are_reversed {
                    info.score = info.score.map(Score::reversed);
                }
                self.note_info(&info);
            }
            Reply::BestMove(best) => return self.on_best_move(&best),
            Reply::ReadyOk if self.state == SessionState::Syncing => {
                self.state = SessionState::Idle;
                return SessionEvent::ReadyOk;
            }
            Reply::UciOk if self.state == SessionState::Starting => {
                self.state = SessionState::Idle;
                return SessionEvent::UciOk;
            }
            Reply::Id(IdField::Name, name) => self.identity.name = clip(name),
            Reply::Id(IdField::Author, author) => self.identity.author = clip(author),
            Reply::Option(option) => self.note_option(line.len(), option),
            _ => {
                if let Some(listener) = self.listener.as_mut().filter(|_| self.state == SessionState::Syncing) {
                    listener.hear(line);
                }
            }
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
            // A ponder search that ends by itself will not answer `ponderhit` or `stop`.
            if self.state == SessionState::Pondering {
                self.state = SessionState::Idle;
            }
            self.warn(Warning::UnexpectedBestMove(text));
            return SessionEvent::Nothing;
        }
        self.state = SessionState::Idle;
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

    /// Records an `info` line. Counters are the latest ones; depth and PV belong to the last exact
    /// score, if there is one.
    fn keep(&mut self, line: &InfoLine<'_>) {
        let first = line.pv.split(|byte| super::framing::is_blank(*byte)).find(|word| !word.is_empty());
        if let (Some(lines), Some(depth), Some(score)) = (&mut self.iterations, line.depth, line.score)
            && lines.len() < Self::MAX_ITERATIONS
        {
            let time = line.time_ms.map(Duration::from_millis);
            lines.push(Iteration { depth, score, nodes: line.nodes, time, best: first.map(word).unwrap_or_default() });
        }
    }

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
            self.keep(line);
            self.pv.clear();
            self.pv.extend_from_slice(whole_words(line.pv, Self::MAX_PV));
            self.bound_pv.clear();
        } else if !line.pv.is_empty() {
            self.bound_pv.clear();
            self.bound_pv.extend_from_slice(whole_words(line.pv, Self::MAX_PV));
        }
    }
}

/// Returns at most `most` bytes, cut between two words, because half a move could read as another
/// move.
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
    use crate::LineBuffer;
    use quintain_record::Score;

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
        assert_eq!((session.state(), session.awaits_best_move()), (SessionState::Pondering, false));
        session.ponder_hit();
        check(&mut session, &[("info depth 6 score cp 6", Nothing), ("bestmove g1f3 ponder b8c6", Best)]);
        assert_eq!((session.info().score, session.info().nodes), (Some(Score::Cp(6)), Some(50)));
        assert_eq!(session.answer().ponder.as_deref(), Some("b8c6"));
        // The move may come at once.
        session.begin_ponder();
        check(&mut session, &[("info depth 7 score cp 7 nodes 70 pv e7e5", Nothing)]);
        session.ponder_hit();
        check(&mut session, &[("bestmove g1f3", Best)]);
        assert_eq!((session.info().score, session.info().nodes), (Some(Score::Cp(7)), Some(70)));
        // A stopped ponder search ends without a warning.
        session.begin_ponder();
        session.stop_ponder();
        check(&mut session, &[("info depth 9 score cp 9", Nothing), ("bestmove a2a3", Best)]);
        assert_eq!((session.state(), session.info().score, session.warnings()), (SessionState::Idle, None, vec![]));
        // A ponder search that ends by itself violates the protocol. Its answer is not awaited
        // later.
        session.begin_ponder();
        check(&mut session, &[("bestmove a2a3", Nothing)]);
        assert_eq!(session.state(), SessionState::Idle);
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
    fn lines_beyond_the_protocol_are_heard_before_readyok() {
        let mut session = started();
        session.listen_for("sum");
        session.on_line(b"sum 1");
        assert_eq!(session.heard(), None);
        session.begin_sync();
        for line in ["sum 2", "readyok", "sum 3"] {
            session.on_line(line.as_bytes());
        }
        assert_eq!((session.heard(), session.heard()), (Some(b"sum 2".to_vec()), None));
    }

    #[test]
    fn scores_of_the_other_side_are_reversed() {
        let mut session = started();
        session.keep_iterations();
        for (is_reversed, line, expected) in [
            (true, "info depth 5 score cp 31 pv e2e4", Score::Cp(-31)),
            (true, "info depth 5 score mate -3 pv e2e4", Score::Mate(3)),
            (true, "info depth 5 score cp -99999999999 pv e2e4", Score::Cp(i32::MAX)),
            (false, "info depth 5 score cp 31 pv e2e4", Score::Cp(31)),
        ] {
            session.reverse_scores(is_reversed);
            session.begin_search();
            check(&mut session, &[(line, Nothing), ("bestmove e2e4", Best)]);
            assert_eq!((session.info().score, session.last_pv().1), (Some(expected), Some(expected)), "{line}");
            assert_eq!(session.iterations()[0].score, expected, "{line}");
        }
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
        /// Arbitrary output in chunks of any size: nothing panics, and a search ends once, at its
        /// first `bestmove`.
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
            prop_assert_eq!(session.state(), SessionState::Idle);
        }
    }
}
