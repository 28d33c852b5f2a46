//! The engine's process as the checks use it: one question at a time, with one deadline for each
//! answer.

use std::io;
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;

use crate::chess::{Position, START_FEN, Variant};
use crate::record::Score;
use crate::text::excerpt;
use crate::uci::process::{CpuWaits, EngineConfig, Patience, StartError, Talk, TalkEvent};
use crate::uci::{BestMove, Command, EngineOption, IdField, InfoLine, Reply, set_option};

/// Output of an engine between `uci` and `uciok`.
#[derive(Clone, Debug, Default)]
pub(super) struct Handshake {
    pub(super) names: Vec<String>,
    pub(super) authors: Vec<String>,
    pub(super) options: Vec<EngineOption>,
    /// Lines that look like an option but do not parse.
    pub(super) unreadable: Vec<String>,
    /// Time from the start of the process to `uciok`, without its waits for a CPU.
    pub(super) took: Duration,
}

impl Handshake {
    /// An option by its name, ignoring case.
    pub(super) fn option(&self, name: &str) -> Option<&EngineOption> {
        self.options.iter().find(|option| option.name.eq_ignore_ascii_case(name))
    }
}

/// Reason that an engine cannot be checked.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The program cannot be started, or does not accept an option given by the user.
    #[error(transparent)]
    Start(#[from] StartError),
    /// It does not complete the handshake.
    #[error("engine {name}: {why} while starting{}", if said.is_empty() { ": is it a UCI engine?" } else { said })]
    Handshake {
        /// The engine.
        name: String,
        /// The event instead of `uciok`.
        why: String,
        /// Last line of its standard error.
        said: String,
    },
    /// No runtime for its pipes.
    #[error("cannot watch pipes: {0}")]
    Runtime(#[from] io::Error),
}

/// Fields of one `info` line.
#[derive(Clone, Debug)]
pub(super) struct Info {
    pub(super) line: String,
    pub(super) depth: Option<u32>,
    pub(super) score: Option<Score>,
    pub(super) nodes: Option<u64>,
    pub(super) multipv: u32,
    pub(super) pv: String,
}

impl Info {
    fn read(line: &[u8], info: &InfoLine<'_>) -> Self {
        Self {
            line: String::from_utf8_lossy(line).into_owned(),
            depth: info.depth,
            score: info.score,
            nodes: info.nodes,
            multipv: info.multipv.unwrap_or(1),
            pv: String::from_utf8_lossy(info.pv).into_owned(),
        }
    }
}

/// An answered search.
#[derive(Clone, Debug)]
pub(super) struct AnsweredSearch {
    pub(super) best: String,
    /// Time from just before `go` was written to just after the read that returned the answer.
    pub(super) elapsed: Duration,
    /// Wait for a CPU during the search, for which the engine is not to blame.
    pub(super) waited: Duration,
    /// The last `info` lines.
    pub(super) infos: Vec<Info>,
}

/// Event to wait for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ExpectedReply {
    UciOk,
    ReadyOk,
    BestMove,
    Info,
    Nothing,
}

impl ExpectedReply {
    const fn word(self) -> &'static str {
        match self {
            Self::UciOk => "uciok",
            Self::ReadyOk => "readyok",
            Self::BestMove => "bestmove",
            Self::Info => "info",
            Self::Nothing => "output",
        }
    }
}

/// One process of the engine under check.
pub(super) struct CheckedProcess {
    // Declared before the runtime, so that it is dropped before it.
    talk: Talk,
    runtime: Runtime,
    /// Longest wait for an answer that the protocol requires.
    pub(super) patience: Duration,
    /// Answers to searches that no check waited for.
    pub(super) strays: Vec<String>,
    infos: Vec<Info>,
    best: String,
    handshake: Handshake,
    /// Bytes of the lines that the handshake was read from.
    advertised: usize,
    /// Waits for a CPU before the last search.
    waits_before: CpuWaits,
}

impl CheckedProcess {
    /// `info` lines kept of a search, the last ones.
    const INFOS: usize = 2000;
    /// Maximum size of the lines kept of the handshake, in bytes.
    const MAX_HANDSHAKE_BYTES: usize = 1 << 20;

    /// Starts the engine, completes the handshake, sets the options of its configuration and waits
    /// until it is ready.
    pub(super) fn open(config: &EngineConfig, patience: Duration) -> Result<(Self, Handshake), OpenError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let begun = Instant::now();
        let talk = runtime.block_on(Talk::start(config, &[]))?;
        let mut peer = Self {
            waits_before: talk.no_waits(),
            talk,
            runtime,
            patience,
            strays: Vec::new(),
            infos: Vec::new(),
            best: String::new(),
            handshake: Handshake::default(),
            advertised: 0,
        };
        let refuse = |peer: &Self, why| {
            let tail = peer.talk.stderr_tail();
            let said = tail.lines().rfind(|line| !line.trim().is_empty());
            let said = said.map(|line| format!("; it said: {}", excerpt(line.trim(), 200))).unwrap_or_default();
            OpenError::Handshake { name: config.name.clone(), why, said }
        };
        peer.say("uci");
        peer.wait(ExpectedReply::UciOk, begun, config.timeouts.start).map_err(|why| refuse(&peer, why))?;
        let took = begun.elapsed().saturating_sub(peer.waits_before.since());
        let handshake = Handshake { took, ..std::mem::take(&mut peer.handshake) };
        let mut out = Vec::new();
        for (name, value) in &config.options {
            set_option(&handshake.options, name, value, &mut out)
                .map_err(|source| StartError::Option { name: config.name.clone(), source })?;
        }
        peer.talk.say(&out);
        peer.say("isready");
        peer.wait(ExpectedReply::ReadyOk, Instant::now(), config.timeouts.ready).map_err(|why| refuse(&peer, why))?;
        Ok((peer, handshake))
    }

    /// Sends a line.
    pub(super) fn say(&mut self, line: &str) -> Instant {
        self.say_bytes(format!("{line}\n").as_bytes())
    }

    /// Sends bytes as they are.
    pub(super) fn say_bytes(&mut self, bytes: &[u8]) -> Instant {
        self.talk.say(bytes)
    }

    /// Sets an option under the engine's spelling of its name; `None` presses a button.
    pub(super) fn set(&mut self, name: &str, value: Option<&str>) -> Result<(), String> {
        let mut out = Vec::new();
        Command::SetOption { name, value }.write(&mut out).map_err(|error| error.to_string())?;
        self.say_bytes(&out);
        Ok(())
    }

    /// Sends `isready` and returns the time to the answer.
    pub(super) fn ready(&mut self) -> Result<Duration, String> {
        let asked = self.say("isready");
        Ok(self.wait(ExpectedReply::ReadyOk, asked, self.patience)? - asked)
    }

    /// Starts a search without waiting. `position` is the text after that word.
    pub(super) fn begin(&mut self, position: &str, go: &str) -> Instant {
        self.drain();
        self.infos.clear();
        self.waits_before = self.talk.waits();
        self.say_bytes(format!("position {position}\ngo {go}\n").as_bytes())
    }

    /// Reads the output so far, so that it is not taken for an answer to the next question.
    fn drain(&mut self) {
        /// Bound for an engine that never stops printing.
        const LINES: usize = 10_000;
        for _ in 0..LINES {
            let TalkEvent::Line(line, _) = self.runtime.block_on(self.talk.hear(Instant::now())) else { break };
            self.note(&line, ExpectedReply::Nothing);
        }
    }

    /// Waits for the answer to a search.
    pub(super) fn answer(&mut self, begun: Instant, limit: Duration) -> Result<AnsweredSearch, String> {
        let at = self.wait(ExpectedReply::BestMove, begun, limit)?;
        Ok(AnsweredSearch {
            best: std::mem::take(&mut self.best),
            elapsed: at.saturating_duration_since(begun),
            waited: self.waits_before.since(),
            infos: std::mem::take(&mut self.infos),
        })
    }

    /// Searches and waits for the answer.
    pub(super) fn go(&mut self, position: &str, go: &str) -> Result<AnsweredSearch, String> {
        let begun = self.begin(position, go);
        self.answer(begun, self.patience)
    }

    /// Searches; the answer must be legal in the position.
    pub(super) fn go_legal(&mut self, position: &SentPosition, go: &str) -> Result<AnsweredSearch, String> {
        let search = self.go(&position.text(), go)?;
        position.check(&search.best)?;
        Ok(search)
    }

    /// A short search from the starting position, which shows that the engine still works.
    pub(super) fn still_plays(&mut self) -> Result<(), String> {
        self.ready()?;
        self.go_legal(&SentPosition::start(), "depth 1").map(drop)
    }

    /// Reads output for this long; returns true if a `bestmove` came.
    pub(super) fn answers_within(&mut self, time: Duration) -> Result<bool, String> {
        let now = Instant::now();
        match self.wait_or_silence(ExpectedReply::BestMove, now + time)? {
            Some(_) => {
                let answer = std::mem::take(&mut self.best);
                self.note_stray(answer);
                Ok(true)
            }
            None => Ok(false),
        }
    }

    /// Waits until a search shows that it is under way, but not for long, because it may print
    /// nothing.
    pub(super) fn sees_thinking(&mut self) -> Result<(), String> {
        self.wait_or_silence(ExpectedReply::Info, Instant::now() + Duration::from_millis(100)).map(drop)
    }

    /// Waits for the end of the process and returns its exit status in words.
    pub(super) fn end(&mut self, limit: Duration) -> Option<String> {
        self.wait_or_silence(ExpectedReply::Nothing, Instant::now() + limit).err()
    }

    /// Closes its input.
    pub(super) fn close_input(&mut self) -> Instant {
        self.talk.close_input();
        Instant::now()
    }

    /// The conversation, and the end of the standard error.
    pub(super) fn transcript(&self) -> String {
        let (mut text, stderr) = (self.talk.transcript(), self.talk.stderr_tail());
        if !stderr.trim().is_empty() {
            text.push_str("standard error:\n");
            text.push_str(stderr.trim_end());
            text.push('\n');
        }
        text
    }

    fn wait(&mut self, awaited: ExpectedReply, from: Instant, limit: Duration) -> Result<Instant, String> {
        // What was said at `from` may be sent only now.
        match self.wait_or_silence(awaited, from.max(Instant::now()) + limit) {
            Ok(Some(at)) => Ok(at),
            Ok(None) => Err(format!("no `{}` within {:.1} s", awaited.word(), limit.as_secs_f64())),
            Err(status) => Err(format!("{status} before `{}`", awaited.word())),
        }
    }

    /// Returns the timestamp of the awaited event, `None` at the deadline, or an error if the
    /// process ends. The deadline excludes waits for a CPU, the process's and our own.
    fn wait_or_silence(&mut self, awaited: ExpectedReply, mut until: Instant) -> Result<Option<Instant>, String> {
        let limit = until.saturating_duration_since(Instant::now());
        let mut patience = Patience::new(limit, self.talk.waits());
        loop {
            match self.runtime.block_on(self.talk.hear(until)) {
                TalkEvent::Silence => {}
                TalkEvent::Ended(status) => return Err(status),
                TalkEvent::Line(line, at) => {
                    if self.note(&line, awaited) {
                        return Ok(Some(at));
                    }
                }
            }
            if Instant::now() >= until {
                let Some(more) = patience.extension() else { return Ok(None) };
                until = Instant::now() + more;
            }
        }
    }

    /// Records a line; returns true if it is the awaited one.
    fn note(&mut self, line: &[u8], awaited: ExpectedReply) -> bool {
        match Reply::read(line) {
            Reply::UciOk => return awaited == ExpectedReply::UciOk,
            Reply::ReadyOk => return awaited == ExpectedReply::ReadyOk,
            Reply::BestMove(best) => return self.note_best(&best, awaited),
            Reply::Info(info) => {
                if self.infos.len() >= Self::INFOS {
                    self.infos.drain(..Self::INFOS / 2);
                }
                self.infos.push(Info::read(line, &info));
                return awaited == ExpectedReply::Info;
            }
            reply if awaited == ExpectedReply::UciOk => self.note_advertised(line, reply),
            _ => {}
        }
        false
    }

    /// Records a line of the handshake.
    fn note_advertised(&mut self, line: &[u8], reply: Reply<'_>) {
        if self.advertised.saturating_add(line.len()) > Self::MAX_HANDSHAKE_BYTES {
            return;
        }
        match reply {
            Reply::Id(IdField::Name, name) => self.handshake.names.push(name),
            Reply::Id(IdField::Author, author) => self.handshake.authors.push(author),
            Reply::Option(option) => self.handshake.options.push(option),
            Reply::Unknown if line.starts_with(b"option") => {
                self.handshake.unreadable.push(shown(&String::from_utf8_lossy(line)));
            }
            _ => return,
        }
        self.advertised += line.len();
    }

    fn note_best(&mut self, best: &BestMove<'_>, awaited: ExpectedReply) -> bool {
        let text = shown(&String::from_utf8_lossy(best.text));
        if awaited == ExpectedReply::BestMove {
            self.best = text;
            return true;
        }
        self.note_stray(text);
        false
    }

    fn note_stray(&mut self, answer: String) {
        /// Enough for a report.
        const MOST: usize = 100;
        if self.strays.len() < MOST {
            self.strays.push(answer);
        }
    }
}

/// Text shortened to one line for a report.
pub(super) fn shown(text: &str) -> String {
    excerpt(text, 80)
}

/// A position in the form that is sent, with its legal moves.
#[derive(Clone, Debug)]
pub(super) struct SentPosition {
    fen: String,
    moves: Vec<String>,
    position: Position,
}

impl SentPosition {
    pub(super) fn start() -> Self {
        Self { fen: START_FEN.to_owned(), moves: Vec::new(), position: Position::default() }
    }

    /// A position of the check's own tables.
    pub(super) fn new(fen: &str, variant: Variant, moves: &str) -> Result<Self, String> {
        let position = Position::from_fen(fen, variant).map_err(|error| format!("{fen}: {error}"))?;
        let mut at = Self { fen: fen.to_owned(), moves: Vec::new(), position };
        moves.split_whitespace().try_for_each(|word| at.play(word))?;
        Ok(at)
    }

    /// Plays a move chosen by a check, or one that was checked; castling in the other variant's
    /// notation is refused.
    pub(super) fn play(&mut self, word: &str) -> Result<(), String> {
        let played = self.position.play(word).map_err(|error| format!("{error}, at `{}`", self.position.fen()))?;
        if played.foreign_castling {
            return Err(format!("{word} castles in the wrong notation, it is {}", played.uci));
        }
        self.moves.push(word.to_owned());
        Ok(())
    }

    /// Checks that an answer is legal.
    pub(super) fn check(&self, word: &str) -> Result<(), String> {
        let mut after = self.position.clone();
        let place = || format!("in `position {}`", shown(&self.text()));
        match after.play(word) {
            Err(error) => Err(format!("bestmove {error}, {}", place())),
            Ok(played) if played.foreign_castling => {
                Err(format!("bestmove {word} castles in the wrong notation, it is {}, {}", played.uci, place()))
            }
            Ok(_) => Ok(()),
        }
    }

    pub(super) const fn position(&self) -> &Position {
        &self.position
    }

    /// The text after the word `position`.
    pub(super) fn text(&self) -> String {
        let start = if self.fen == START_FEN { "startpos".to_owned() } else { format!("fen {}", self.fen) };
        if self.moves.is_empty() { start } else { format!("{start} moves {}", self.moves.join(" ")) }
    }
}
