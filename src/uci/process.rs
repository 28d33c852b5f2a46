//! Engine processes. Only this module starts, writes to, reads from and ends them.
//!
//! Clock: the stamp `t0` is taken right before the write of `position` and `go`, so that no search
//! time is free. The stamp `t1` is taken right after the read that completed the `bestmove` line,
//! before it is parsed. A wait has one deadline: an engine that floods its output still loses on
//! time.
//!
//! All of it runs on the caller's current-thread runtime (with I/O and time enabled) and spawns no
//! tasks. On Linux an engine dies with the thread that started it, so that thread must outlive the
//! engine.

mod ahead;
mod child;
mod config;
mod files;
mod load;
mod options;
mod patience;
mod ponder;
mod pulse;
mod spawn;
mod stderr;
mod strays;
mod sync;
mod talk;

use std::future::pending;
use std::io;
use std::pin::pin;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use tokio::time::sleep_until;

use self::child::{Process, ProcessEvent};
pub use self::config::{EngineConfig, StartError, StartFault};
pub use self::files::FileError;
#[cfg(feature = "cluster")]
pub(crate) use self::files::may_name_file;
pub use self::load::CpuWaits;
use self::load::LoadMeter;
pub(crate) use self::patience::Patience;
use self::pulse::Pulse;
#[cfg(feature = "cluster")]
pub(crate) use self::spawn::{bind_to_caller, output};
pub use self::stderr::StderrSink;
pub use self::talk::{Talk, TalkEvent};
use super::session::{Identity, Session, SessionEvent, Warning};
use super::transcript::{Direction, Transcript};
use super::{BestMove, Command, EngineOption, Go, LineBuffer};
use crate::os;
pub use crate::os::confine::{ConfineError, Confinement};
use crate::plan::recording::LinePattern;
use crate::record::{MoveLoad, Score, SearchInfo};

/// Result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SearchOutcome {
    /// The engine answered. The referee decides if that was in time.
    BestMove {
        /// Unaltered word after `bestmove`: a move, `(none)`, `0000` or anything else; empty if
        /// absent.
        text: String,
        /// The word after `ponder`.
        ponder: Option<String>,
        /// Time from right before the write of `go` to right after the read of the answer.
        elapsed: Duration,
        /// Figures from the engine's `info` lines.
        info: SearchInfo,
        /// System load during the search; without a clock only the time that the harness was
        /// stopped.
        load: MoveLoad,
        /// Protocol violations since the last answer.
        warnings: Vec<Warning>,
    },
    /// The deadline passed without an answer, and the process was alive.
    Overrun {
        /// Time until the harness noticed it.
        elapsed: Duration,
        /// Answer to `stop` within its timeout; `None` if the process was killed and must be
        /// restarted.
        late: Option<LateAnswer>,
        /// System load up to the late answer, or else up to the kill; without a clock only the time
        /// that the harness was stopped.
        load: MoveLoad,
    },
    /// The process ended before it answered.
    Exited {
        /// Time until the harness noticed it.
        elapsed: Duration,
        /// `exit status 3`, `signal 11 (SIGSEGV)`, `closed its standard output`, ...
        status: String,
    },
}

/// Answer that came only after `stop`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LateAnswer {
    /// The word after `bestmove`.
    pub text: String,
    /// Time from right before the write of `go`.
    pub elapsed: Duration,
}

/// Evidence for a crash report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// Traffic since the last new game, with microsecond stamps.
    pub transcript: String,
    /// Last 8 KiB of its standard error.
    pub stderr: String,
    /// `exit status 3`, `signal 11 (SIGSEGV)`, `killed by the harness`, `still running`.
    pub status: String,
}

/// Result of [`Engine::quit`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuitReport {
    /// `exit status 0`, ...
    pub status: String,
    /// True if it ignored `quit` and was killed.
    pub killed: bool,
}

/// A running engine. Dropping it kills its whole process group.
#[derive(Debug)]
pub struct Engine {
    config: EngineConfig,
    cpus: Vec<usize>,
    process: Process,
    session: Session,
    lines: LineBuffer,
    transcript: Transcript,
    load: LoadMeter,
    /// Detector of stops of the harness, during a search with a deadline.
    pulse: Option<Pulse>,
    /// Moment when the mover's clock reaches zero; `None` once it was handled.
    flag: Option<Instant>,
    /// Extension of the limit, during waits for readiness.
    patience: Option<Patience>,
    /// True if the last search had a clock.
    is_timed: bool,
    /// Bytes being sent; the allocation is reused.
    out: Vec<u8>,
    /// `setoption` lines to send before the next new game.
    unsent: Vec<u8>,
    ponder: ponder::PonderState,
}

/// Result of a wait.
#[derive(Debug)]
enum WaitOutcome {
    /// The awaited reply came, at this time.
    Answer(Instant),
    /// The deadline passed.
    Deadline,
    /// The process ended, with this description.
    Gone(String),
}

/// Wait for the line end of an unfinished line that reads as a complete `bestmove`.
const LINE_END_GRACE: Duration = Duration::from_millis(500);

/// Maximum number of reads without a wait between them, because an engine that floods its output
/// must not delay its own clock or deadline. One read empties a pipe of the usual size.
const READS_AT_ONCE: usize = 4;

/// Time for a process that closed a pipe to end, so that its exit status is known.
const EXIT_GRACE: Duration = Duration::from_secs(1);

impl Engine {
    /// Starts an engine on the given CPUs (any if empty), completes the handshake, sets its options
    /// and waits for `readyok`.
    ///
    /// # Errors
    /// Returns an error if the engine cannot be started, ends, does not answer, or refuses an
    /// option.
    pub async fn start(config: &EngineConfig, cpus: &[usize]) -> Result<Self, StartError> {
        let now = Instant::now();
        let process = Process::start(config, cpus).await?;
        let mut engine = Self {
            config: config.clone(),
            cpus: cpus.to_owned(),
            process,
            session: Session::new(),
            lines: LineBuffer::new(),
            transcript: Transcript::new(Transcript::CAPACITY, now),
            load: LoadMeter::default(),
            pulse: None,
            flag: None,
            patience: None,
            is_timed: false,
            out: Vec::with_capacity(2048),
            unsent: Vec::new(),
            ponder: ponder::PonderState::default(),
        };
        let timeouts = engine.config.timeouts;
        engine.say(&[Command::Uci]);
        engine.await_start("uciok", now, timeouts.start).await?;
        engine.read_what_is_there();
        engine.out.clear();
        engine.write_options()?;
        engine.session.begin_sync();
        Command::IsReady.write(&mut engine.out).expect("it has no argument");
        engine.await_start("readyok", Instant::now(), timeouts.ready).await?;
        Ok(engine)
    }

    async fn await_start(&mut self, awaited: &'static str, from: Instant, limit: Duration) -> Result<(), StartError> {
        let (waited, kept) = self.exchange_patiently(from, limit).await;
        let name = || self.config.name.clone();
        let said = || self.process.pipes.log.last_words();
        match waited {
            WaitOutcome::Answer(_) => Ok(()),
            WaitOutcome::Deadline => {
                Err(StartError::Silent { name: name(), awaited, waited: limit, kept, said: said() })
            }
            WaitOutcome::Gone(status) => Err(StartError::Exited { name: name(), status, awaited, said: said() }),
        }
    }

    /// Starts a new game and its transcript, and waits until the engine is ready.
    ///
    /// # Errors
    /// Returns an error if the process ended, or was killed because it did not answer.
    /// [`restart`](Self::restart) it.
    pub async fn new_game(&mut self) -> Result<(), StartFault> {
        let now = Instant::now();
        self.transcript.clear(now);
        if let Some(status) = self.process.ending() {
            return Err(StartFault::Exited { status });
        }
        self.read_what_is_there();
        self.session.begin_game();
        self.say(&[Command::UciNewGame, Command::IsReady]);
        self.out.splice(..0, self.unsent.drain(..));
        self.sync(now, self.config.timeouts.new_game).await?;
        self.load.watch(self.process.pid);
        Ok(())
    }

    /// Starts a search and waits for its answer. `position` is a complete `position` line, sent
    /// with `go` in one write. `deadline` counts from right before that write; `None` is no limit.
    ///
    /// If the deadline passes, `stop` is sent; an engine that does not answer that either is
    /// killed.
    ///
    /// An engine that [`ponder`](Self::ponder)s gets `ponderhit` if this is the expected position.
    /// Otherwise it gets `stop`, and `position` and `go` after its answer; its clock runs from
    /// right before the write of `stop`.
    pub async fn go(&mut self, position: &[u8], go: &Go, deadline: Option<Duration>) -> SearchOutcome {
        let is_timed = go.clocks.is_some() || go.movetime.is_some();
        match self.take_ponder(position) {
            None => {
                self.begin(position);
                go.write(&mut self.out);
                self.search(deadline, is_timed).await
            }
            Some(ponder::PonderOutcome::Hit) => self.ponder_hit(deadline, is_timed).await,
            Some(ponder::PonderOutcome::Miss) => self.ponder_miss(position, go, deadline, is_timed).await,
        }
    }

    /// Like [`go`](Self::go), but with recorded lines: complete commands, the last of them `go`.
    pub async fn go_again(&mut self, lines: &[u8], deadline: Option<Duration>) -> SearchOutcome {
        self.begin(lines);
        self.search(deadline, false).await
    }

    /// Replaces the bytes to send by these lines.
    fn begin(&mut self, lines: &[u8]) {
        self.read_what_is_there();
        self.out.clear();
        self.out.extend_from_slice(lines);
        if !lines.ends_with(b"\n") {
            self.out.push(b'\n');
        }
    }

    /// Sends `out`, which ends with `go`, and waits for the answer. Records the system load if the
    /// search `is_timed`.
    async fn search(&mut self, deadline: Option<Duration>, is_timed: bool) -> SearchOutcome {
        self.session.begin_search();
        let t0 = self.start_clock(deadline, is_timed);
        let waited = self.exchange(t0, deadline.and_then(|deadline| t0.checked_add(deadline))).await;
        self.conclude(waited, t0, deadline).await
    }

    /// Starts the clock and returns `t0`, which is taken last. The write must follow at once.
    fn start_clock(&mut self, deadline: Option<Duration>, is_timed: bool) -> Instant {
        self.process.pipes.log.flush();
        if is_timed {
            self.load.begin();
        }
        self.is_timed = is_timed;
        self.pulse = deadline.map(|_| {
            let now = os::since_boot();
            let waited = if is_timed { self.load.runner_waited_before() } else { self.load.runner_waited_lately(now) };
            Pulse::new(now, waited)
        });
        let t0 = Instant::now();
        let clock = deadline.filter(|_| is_timed).map(|deadline| deadline.saturating_sub(self.config.margin));
        self.flag = clock.and_then(|clock| t0.checked_add(clock));
        t0
    }

    /// Turns a wait that began at `t0` into the result of the search.
    async fn conclude(&mut self, waited: WaitOutcome, t0: Instant, deadline: Option<Duration>) -> SearchOutcome {
        match waited {
            WaitOutcome::Answer(t1) => {
                let elapsed = t1 - t0;
                let late = deadline.is_some_and(|deadline| elapsed > deadline);
                let load = self.end_load(late, t1);
                let answer = self.session.answer();
                SearchOutcome::BestMove {
                    text: answer.text,
                    ponder: answer.ponder,
                    elapsed,
                    info: *self.session.info(),
                    load,
                    warnings: self.warnings(),
                }
            }
            WaitOutcome::Gone(status) => {
                self.pulse = None;
                SearchOutcome::Exited { elapsed: t0.elapsed(), status }
            }
            WaitOutcome::Deadline => {
                let elapsed = t0.elapsed();
                let late = self.stop_search(t0).await;
                let answered = late.as_ref().map_or_else(Instant::now, |late| t0 + late.elapsed);
                SearchOutcome::Overrun { elapsed, late, load: self.end_load(true, answered) }
            }
        }
    }

    /// System load during the search that ends; without a clock only the time that the harness was
    /// stopped.
    fn end_load(&mut self, late: bool, answered: Instant) -> MoveLoad {
        self.flag = None;
        let Some(pulse) = self.pulse.take() else { return MoveLoad::default() };
        let load = if self.is_timed { self.load.end(late, answered) } else { MoveLoad::default() };
        MoveLoad { stopped: pulse.absent(), ..load }
    }

    /// Stops a search that missed its deadline, and kills the process if it does not answer.
    async fn stop_search(&mut self, t0: Instant) -> Option<LateAnswer> {
        self.say(&[Command::Stop]);
        let now = Instant::now();
        if let (WaitOutcome::Answer(t1), _) = self.exchange_patiently(now, self.config.timeouts.stop).await {
            return Some(LateAnswer { text: self.session.answer().text, elapsed: t1 - t0 });
        }
        self.session.abandon_search();
        self.process.kill();
        None
    }

    /// Sends `quit` and waits for the end of the process. Always kills the rest of its process
    /// group.
    pub async fn quit(mut self) -> QuitReport {
        if let Some(status) = self.process.ending() {
            return QuitReport { status, killed: false };
        }
        self.read_what_is_there();
        self.say(&[Command::Quit]);
        let now = Instant::now();
        self.transcript.push(now, Direction::ToEngine, &self.out);
        let until = now.checked_add(self.config.timeouts.quit).unwrap_or(now + EXIT_GRACE);
        self.process.hold_descendants();
        if let Some(status) = self.process.wait_end(&self.out, &mut self.lines, until).await {
            return QuitReport { status: os::describe(status), killed: false };
        }
        let status = self.end_now().await;
        QuitReport { status: status.map_or_else(|| "killed".into(), os::describe), killed: true }
    }

    /// Kills the process if it is alive and starts it again. Take the transcript before, because
    /// the new process starts its own.
    ///
    /// # Errors
    /// As [`start`](Self::start); the engine is gone after an error.
    pub async fn restart(&mut self) -> Result<(), StartError> {
        self.read_what_is_there();
        self.end_now().await;
        *self = Self::start(&self.config.clone(), &self.cpus.clone()).await?;
        Ok(())
    }

    /// True until the process is known to have ended or was killed.
    #[must_use]
    pub fn alive(&self) -> bool {
        self.process.exit.is_none() && !self.process.was_killed
    }

    /// Process id, which is also the id of its process group.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.process.pid
    }

    /// Configuration that it was started with, with later changes of options.
    #[must_use]
    pub fn config(&self) -> &EngineConfig {
        &self.config
    }

    /// Name and author from the `id` lines.
    #[must_use]
    pub fn identity(&self) -> &Identity {
        self.session.identity()
    }

    /// Advertised options.
    #[must_use]
    pub fn options(&self) -> &[EngineOption] {
        self.session.options()
    }

    /// Takes the reported failures since the last call.
    pub fn take_complaints(&mut self) -> Vec<String> {
        self.session.take_complaints()
    }

    /// Failures reported up to the first answer of a game, and doubts about files that options
    /// name.
    #[must_use]
    pub fn complaints(&self) -> &[String] {
        self.session.complaints()
    }

    /// Figures of its last search, complete or not.
    #[must_use]
    pub fn info(&self) -> &SearchInfo {
        self.session.info()
    }

    /// Unaltered PV of the last search's last exact score: words separated by blanks.
    #[must_use]
    pub fn pv(&self) -> &[u8] {
        self.session.pv()
    }

    /// Last PV of the last search, and its score if that was exact.
    #[must_use]
    pub fn last_pv(&self) -> (&[u8], Option<Score>) {
        self.session.last_pv()
    }

    /// Returns for each pattern the last line of the last search's output that matches, if any.
    /// Lines are cut at 4096 characters, and bytes that are not UTF-8 are replaced. Only lines in
    /// the transcript are searched.
    #[must_use]
    pub fn last_lines(&self, patterns: &[LinePattern]) -> Vec<String> {
        const LONGEST: usize = 4096;
        if patterns.is_empty() {
            return Vec::new();
        }
        let output = self.transcript.since_go();
        let lines: Vec<_> = output.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).collect();
        let last = |pattern: &LinePattern| lines.iter().rev().find(|line| !line.is_empty() && pattern.is_match(line));
        let text = |line: &&[u8]| String::from_utf8_lossy(line).chars().take(LONGEST).collect();
        patterns.iter().filter_map(last).map(text).collect()
    }

    /// Formatted transcript since the last new game, for a crash report.
    #[must_use]
    pub fn transcript(&self) -> String {
        self.transcript.text()
    }

    /// Collects the evidence for a crash report: the transcript, the latest standard error
    /// including the pipe's content, and the exit status.
    pub fn evidence(&mut self) -> Evidence {
        self.process.pipes.read_said();
        Evidence {
            transcript: self.transcript.text(),
            stderr: self.process.pipes.log.tail(),
            status: self.process.ending().unwrap_or_else(|| "still running".to_owned()),
        }
    }

    fn warnings(&mut self) -> Vec<Warning> {
        let overlong = self.lines.take_overlong();
        if overlong > 0 {
            self.session.warn(Warning::Overlong(overlong));
        }
        self.session.warnings()
    }

    /// Replaces the bytes to send by commands without arguments.
    fn say(&mut self, commands: &[Command<'_>]) {
        self.out.clear();
        for command in commands {
            command.write(&mut self.out).expect("it has no argument");
        }
    }

    /// Sends `out`, then reads until the awaited reply. `from` is the start of the wait.
    async fn exchange(&mut self, from: Instant, until: Option<Instant>) -> WaitOutcome {
        self.exchange_on(&mut 0, 0, from, until).await
    }

    /// Like [`exchange`](Self::exchange), with a limit that excludes the engine's waits for a CPU.
    /// Also returns the excluded time.
    async fn exchange_patiently(&mut self, from: Instant, limit: Duration) -> (WaitOutcome, Duration) {
        self.exchange_patiently_on(&mut 0, 0, from, limit).await
    }

    /// Like [`exchange_on`](Self::exchange_on), with the limit of
    /// [`exchange_patiently`](Self::exchange_patiently).
    async fn exchange_patiently_on(
        &mut self,
        sent: &mut usize,
        noted: usize,
        from: Instant,
        limit: Duration,
    ) -> (WaitOutcome, Duration) {
        self.patience = Some(Patience::new(limit, CpuWaits::of(self.process.pid)));
        let waited = self.exchange_on(sent, noted, from, from.checked_add(limit)).await;
        (waited, self.patience.take().map(|patience| patience.kept()).unwrap_or_default())
    }

    /// Like [`exchange`](Self::exchange), after the first `sent` bytes of `out`; updates that
    /// number. The transcript has the first `noted` bytes already.
    async fn exchange_on(
        &mut self,
        sent: &mut usize,
        mut noted: usize,
        from: Instant,
        mut until: Option<Instant>,
    ) -> WaitOutcome {
        let mut last_read = from;
        // Deadline of the wait, or of an unfinished line. The timer may fire earlier, for the pulse
        // or the flag.
        let mut due = until;
        let mut wake = self.wake_at(due);
        let mut timer = pin!(sleep_until(wake.unwrap_or(from).into()));
        loop {
            let timeout = async { if wake.is_some() { timer.as_mut().await } else { pending().await } };
            let happened = self.process.next(&self.out[*sent..], &mut self.lines, timeout).await;
            self.transcript.push(from, Direction::ToEngine, &self.out[noted..]);
            noted = self.out.len();
            if let Some(pulse) = &mut self.pulse {
                pulse.look(os::since_boot(), || self.load.runner_waited());
            }
            match happened {
                ProcessEvent::Wrote(Ok(count)) => *sent += count,
                ProcessEvent::Wrote(Err(_)) => return self.gone("closed its standard input").await,
                ProcessEvent::Read(Ok(count), at) if count > 0 => {
                    last_read = at;
                    if self.take_chunk(count, at) {
                        return WaitOutcome::Answer(at);
                    }
                    let unfinished = self.session.awaits_best_move() && BestMove::is_whole(self.lines.partial());
                    let next = unfinished.then(|| at + LINE_END_GRACE).into_iter().chain(until).min();
                    if next != due {
                        due = next;
                        wake = self.wake_at(due);
                        timer.as_mut().reset(wake.unwrap_or(at).into());
                    }
                }
                ProcessEvent::Read(..) if self.take_partial() => return WaitOutcome::Answer(last_read),
                ProcessEvent::Read(..) => return self.gone("closed its standard output").await,
                ProcessEvent::Said => {}
                ProcessEvent::Ended(status) => return self.read_the_last(last_read, status),
                ProcessEvent::TimeOut if due.is_none_or(|due| Instant::now() < due) => {
                    wake = self.wake_at(due);
                    timer.as_mut().reset(wake.unwrap_or(from).into());
                }
                // The end of the wait, which may be put off below.
                ProcessEvent::TimeOut if self.patience.is_some() && due == until => {}
                ProcessEvent::TimeOut => return self.time_out(last_read),
            }
            if self.flag.take_if(|flag| Instant::now() >= *flag).is_some() {
                self.load.flag();
            }
            // Checked after every event, because an engine that keeps the pipe full would starve
            // the timer.
            if let Some(end) = until
                && Instant::now() >= end
            {
                let more = self.patience.as_mut().and_then(Patience::extension);
                let Some(more) = more else { return self.time_out(last_read) };
                until = end.checked_add(more);
                due = until;
                wake = self.wake_at(due);
                timer.as_mut().reset(wake.unwrap_or(from).into());
            }
        }
    }

    /// Returns the next time to wake up; `None` if only an event ends the wait.
    fn wake_at(&self, due: Option<Instant>) -> Option<Instant> {
        let beat = self.pulse.as_ref().map(|_| Instant::now() + Pulse::BEAT);
        due.into_iter().chain(beat).chain(self.flag).min()
    }

    /// Reads once more at the deadline. An answer found here has its own stamp, so it may be late.
    fn time_out(&mut self, mut last_read: Instant) -> WaitOutcome {
        if self.read_rest(&mut last_read) { WaitOutcome::Answer(last_read) } else { WaitOutcome::Deadline }
    }

    /// Reads the last output of a process that ended. Its children may hold the pipe open, so the
    /// end of output is not awaited.
    fn read_the_last(&mut self, mut last_read: Instant, status: io::Result<ExitStatus>) -> WaitOutcome {
        if self.read_rest(&mut last_read) {
            return WaitOutcome::Answer(last_read);
        }
        WaitOutcome::Gone(status.map_or_else(|error| error.to_string(), os::describe))
    }

    /// Processes the pipe's content and the unfinished line; true if the awaited reply is among
    /// them.
    fn read_rest(&mut self, last_read: &mut Instant) -> bool {
        for _ in 0..READS_AT_ONCE {
            let Some(count) = self.process.read_now(&mut self.lines) else { break };
            *last_read = Instant::now();
            if self.take_chunk(count, *last_read) {
                return true;
            }
        }
        self.take_partial()
    }

    /// Processes the bytes of one read; true at the awaited reply. Later lines stay in the buffer.
    fn take_chunk(&mut self, count: usize, at: Instant) -> bool {
        self.transcript.push(at, Direction::FromEngine, &self.lines.space()[..count]);
        self.lines.advance(count);
        self.take_lines()
    }

    /// Processes the complete lines; true at the awaited reply.
    fn take_lines(&mut self) -> bool {
        while let Some(line) = self.lines.next_line() {
            if self.session.on_line(line) != SessionEvent::Nothing {
                return true;
            }
        }
        false
    }

    /// Processes an unfinished line as if it were complete; true if it is the awaited reply.
    fn take_partial(&mut self) -> bool {
        if self.session.awaits_best_move() && !BestMove::is_whole(self.lines.partial()) {
            return false;
        }
        let Some(line) = self.lines.take_partial() else { return false };
        let event = self.session.on_line(line);
        if event == SessionEvent::BestMove {
            self.session.warn(Warning::NoNewline);
        }
        event != SessionEvent::Nothing
    }

    /// Processes the output since the last wait, so that it does not count as an answer to the next
    /// command.
    fn read_what_is_there(&mut self) {
        while let Some(line) = self.lines.next_line() {
            self.session.on_line(line);
        }
        for _ in 0..READS_AT_ONCE {
            let Some(count) = self.process.read_now(&mut self.lines) else { break };
            self.take_chunk(count, Instant::now());
        }
    }

    /// Handles a closed pipe: waits for the exit status, and kills the process if it continues.
    async fn gone(&mut self, why: &str) -> WaitOutcome {
        if let Some(status) = self.await_end().await {
            return WaitOutcome::Gone(os::describe(status));
        }
        self.end_now().await;
        WaitOutcome::Gone(format!("{why} and went on running; killed"))
    }

    /// Kills the process group and reaps its leader.
    async fn end_now(&mut self) -> Option<ExitStatus> {
        self.process.kill();
        self.await_end().await
    }

    /// Waits for a process that is about to end. The limit excludes its waits for a CPU.
    async fn await_end(&mut self) -> Option<ExitStatus> {
        let mut patience = Patience::new(EXIT_GRACE, CpuWaits::of(self.process.pid));
        let mut until = Instant::now() + EXIT_GRACE;
        loop {
            let status = self.process.wait_end(&[], &mut self.lines, until).await;
            if status.is_some() {
                return status;
            }
            until = Instant::now() + patience.extension()?;
        }
    }
}
