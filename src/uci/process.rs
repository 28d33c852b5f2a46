//! Engine processes: the only place that starts one, writes to it, reads from it and ends it.
//!
//! The clock's rules. The stamp `t0` is taken right before the write that carries `position` and `go`; after it, an engine that
//! wakes first would think free of charge. The stamp `t1` is taken right after the read that brought the end of the `bestmove`
//! line, before a byte of it is looked at. A wait has one deadline: an engine that prints without end is flagged like a silent one.
//!
//! Everything runs on the caller's current-thread runtime (with I/O and time enabled) without tasks of its own. On Linux an engine
//! dies with the thread that started it, so that thread must outlive the engine.

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
mod talk;

use std::future::pending;
use std::io;
use std::pin::pin;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use tokio::time::sleep_until;

use self::child::{Happened, Process};
pub use self::config::{EngineConfig, Fault, StartError, is_shortage};
pub use self::files::FileError;
use self::load::LoadMeter;
use self::patience::Patience;
use self::pulse::Pulse;
pub use self::stderr::StderrSink;
pub use self::talk::{Heard, Talk};
use super::command::{Command, Go};
use super::framing::LineBuffer;
use super::option::EngineOption;
use super::reply::BestMove;
use super::session::{Identity, Session, SessionEvent, Warning};
use super::transcript::{Direction, Transcript};
use crate::plan::recording::LinePattern;
use crate::record::{MoveLoad, Score, SearchInfo};

/// How a search ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SearchOutcome {
    /// It answered; in time or not is the referee's to say.
    BestMove {
        /// The word after `bestmove` as it came: a move, `(none)`, `0000`, anything; empty where there was none.
        text: String,
        /// The word after `ponder`.
        ponder: Option<String>,
        /// From right before the write of `go` to right after the read that brought the answer.
        elapsed: Duration,
        /// What it said of the search.
        info: SearchInfo,
        /// What the system did meanwhile; without a clock only whether the harness was stopped.
        load: MoveLoad,
        /// What was odd.
        warnings: Vec<Warning>,
    },
    /// The deadline passed without an answer while the process was alive.
    Overrun {
        /// When that was noticed.
        elapsed: Duration,
        /// The answer to `stop`, if one came within the grace; otherwise the process was killed and must be restarted.
        late: Option<Late>,
        /// What the system did until that was noticed, or, where an answer came late, until then; without a clock only whether the
        /// harness was stopped.
        load: MoveLoad,
    },
    /// The process was gone before it answered.
    Exited {
        /// When that was noticed.
        elapsed: Duration,
        /// `exit status 3`, `signal 11 (SIGSEGV)`, `closed its standard output`, ...
        status: String,
    },
}

/// An answer that came only after `stop`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Late {
    /// The word after `bestmove`.
    pub text: String,
    /// From right before the write of `go`.
    pub elapsed: Duration,
}

/// What a crash report says of an engine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// What was said since the last new game, with microsecond stamps.
    pub transcript: String,
    /// The last KiB of its standard error.
    pub stderr: String,
    /// `exit status 3`, `signal 11 (SIGSEGV)`, `killed by the harness`, `still running`.
    pub status: String,
}

/// How an engine's process ended when it was asked to.
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
    /// While a clock runs.
    pulse: Option<Pulse>,
    /// When the mover's clock will be at zero, until it has been looked at then.
    flag: Option<Instant>,
    /// While the engine gets ready.
    patience: Option<Patience>,
    /// The last search had a clock.
    is_timed: bool,
    /// The bytes being sent; kept to be used again.
    out: Vec<u8>,
    /// Options to be sent before the next new game.
    unsent: Vec<u8>,
    ponder: ponder::Ponder,
}

/// What a wait came to.
#[derive(Debug)]
enum Waited {
    /// What was waited for came, at that time.
    Answer(Instant),
    /// The deadline passed.
    Deadline,
    /// The process is gone, in these words.
    Gone(String),
}

/// How long an unfinished line that reads as a whole `bestmove` is left to be finished.
const LINE_END_GRACE: Duration = Duration::from_millis(500);

/// Reads of a pipe that are done without a wait between them: an engine that prints all the time must not hold up its own clock's
/// start, nor its deadline. One read empties a pipe of the usual size.
const READS_AT_ONCE: usize = 4;

/// How long a process that closed a pipe has to end, so that its status can be told.
const EXIT_GRACE: Duration = Duration::from_secs(1);

impl Engine {
    /// Starts an engine on the given CPUs (any if empty), shakes hands, sets its options and waits until it is ready.
    ///
    /// # Errors
    /// It can't be started, ends, stays silent, or does not take its options.
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
            ponder: ponder::Ponder::default(),
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
        let said = || self.process.log.last_words();
        match waited {
            Waited::Answer(_) => Ok(()),
            Waited::Deadline => Err(StartError::Silent { name: name(), awaited, waited: limit, kept, said: said() }),
            Waited::Gone(status) => Err(StartError::Exited { name: name(), status, awaited, said: said() }),
        }
    }

    /// Announces a new game, waits until the engine is ready for it, and begins a new transcript.
    ///
    /// # Errors
    /// The process is gone, or was killed because it stayed silent. [`restart`](Self::restart) it.
    pub async fn new_game(&mut self) -> Result<(), Fault> {
        let now = Instant::now();
        self.transcript.clear(now);
        if let Some(status) = self.process.ending() {
            return Err(Fault::Exited { status });
        }
        self.read_what_is_there();
        self.session.begin_game();
        self.say(&[Command::UciNewGame, Command::IsReady]);
        self.out.splice(..0, self.unsent.drain(..));
        self.session.begin_sync();
        let limit = self.config.timeouts.new_game;
        match self.exchange_patiently(now, limit).await.0 {
            Waited::Answer(_) => {
                self.load.watch(self.process.pid);
                Ok(())
            }
            Waited::Gone(status) => Err(Fault::Exited { status }),
            Waited::Deadline => {
                self.process.kill();
                Err(Fault::Silent { awaited: "readyok", waited: limit })
            }
        }
    }

    /// Has the engine search. `position` is a complete `position ...` line; it and `go` are sent in one write. `deadline` counts
    /// from right before that write; `None` waits for ever.
    ///
    /// A missed deadline sends `stop`; an engine that does not answer that either is killed.
    ///
    /// An engine that [`ponder`](Self::ponder)s is told `ponderhit` where this is the position it thinks about. Otherwise it is told `stop`
    /// first, and `position` and `go` once it has answered that; the charge begins before the write of `stop`.
    pub async fn go(&mut self, position: &[u8], go: &Go, deadline: Option<Duration>) -> SearchOutcome {
        let is_timed = go.clocks.is_some() || go.movetime.is_some();
        match self.take_ponder(position) {
            None => {
                self.begin(position);
                go.write(&mut self.out);
                self.search(deadline, is_timed).await
            }
            Some(ponder::Came::Hit) => self.ponder_hit(deadline, is_timed).await,
            Some(ponder::Came::Miss) => self.ponder_miss(position, go, deadline, is_timed).await,
        }
    }

    /// As [`go`](Self::go), with the `go` line as it was once sent. `lines` are whole commands, the last of them `go`.
    pub async fn go_again(&mut self, lines: &[u8], deadline: Option<Duration>) -> SearchOutcome {
        self.begin(lines);
        self.search(deadline, false).await
    }

    /// Puts lines in the place of what was sent last.
    fn begin(&mut self, lines: &[u8]) {
        self.read_what_is_there();
        self.out.clear();
        self.out.extend_from_slice(lines);
        if !lines.ends_with(b"\n") {
            self.out.push(b'\n');
        }
    }

    /// Sends `out`, which ends with `go`, and waits for the answer; where the search `is_timed`, with what the system did.
    async fn search(&mut self, deadline: Option<Duration>, is_timed: bool) -> SearchOutcome {
        self.session.begin_search();
        let t0 = self.start_clock(deadline, is_timed);
        let waited = self.exchange(t0, deadline.and_then(|deadline| t0.checked_add(deadline))).await;
        self.conclude(waited, t0, deadline).await
    }

    /// Gets ready to charge; the time that it returns is taken last. To be followed by the write at once.
    fn start_clock(&mut self, deadline: Option<Duration>, is_timed: bool) -> Instant {
        if is_timed {
            self.load.begin();
        }
        self.is_timed = is_timed;
        self.pulse = deadline.map(|_| {
            let now = pulse::now();
            let waited = if is_timed { self.load.runner_waited_before() } else { self.load.runner_waited_lately(now) };
            Pulse::new(now, waited)
        });
        let t0 = Instant::now();
        let clock = deadline.filter(|_| is_timed).map(|deadline| deadline.saturating_sub(self.config.margin));
        self.flag = clock.and_then(|clock| t0.checked_add(clock));
        t0
    }

    /// What a search came to that was charged from `t0` on.
    async fn conclude(&mut self, waited: Waited, t0: Instant, deadline: Option<Duration>) -> SearchOutcome {
        match waited {
            Waited::Answer(t1) => {
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
            Waited::Gone(status) => {
                self.pulse = None;
                SearchOutcome::Exited { elapsed: t0.elapsed(), status }
            }
            Waited::Deadline => {
                let elapsed = t0.elapsed();
                let late = self.stop_search(t0).await;
                let answered = late.as_ref().map_or_else(Instant::now, |late| t0 + late.elapsed);
                SearchOutcome::Overrun { elapsed, late, load: self.end_load(true, answered) }
            }
        }
    }

    /// What the system did during the search that ends; of one without a clock only whether the harness was stopped.
    fn end_load(&mut self, late: bool, answered: Instant) -> MoveLoad {
        self.flag = None;
        let Some(pulse) = self.pulse.take() else { return MoveLoad::default() };
        let load = if self.is_timed { self.load.end(late, answered) } else { MoveLoad::default() };
        MoveLoad { stopped: pulse.absent(), ..load }
    }

    /// Has a search that missed its deadline end, so that the process can go on.
    async fn stop_search(&mut self, t0: Instant) -> Option<Late> {
        self.say(&[Command::Stop]);
        let now = Instant::now();
        if let (Waited::Answer(t1), _) = self.exchange_patiently(now, self.config.timeouts.stop).await {
            return Some(Late { text: self.session.answer().text, elapsed: t1 - t0 });
        }
        self.session.abandon_search();
        self.process.kill();
        None
    }

    /// Asks the engine to end and waits for it; kills what is left of its process group in any case.
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
            return QuitReport { status: spawn::describe(status), killed: false };
        }
        let status = self.end_now().await;
        QuitReport { status: status.map_or_else(|| "killed".into(), spawn::describe), killed: true }
    }

    /// Kills the process, if it is still there, and starts it anew. Take the transcript first: the new process begins
    /// its own.
    ///
    /// # Errors
    /// As [`start`](Self::start); the engine is then gone.
    pub async fn restart(&mut self) -> Result<(), StartError> {
        self.read_what_is_there();
        self.end_now().await;
        *self = Self::start(&self.config.clone(), &self.cpus.clone()).await?;
        Ok(())
    }

    /// True while the process has not been seen to end.
    #[must_use]
    pub fn alive(&self) -> bool {
        self.process.exit.is_none() && !self.process.was_killed
    }

    /// The process's number; it leads a process group of the same number.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.process.pid
    }

    /// How it was started.
    #[must_use]
    pub fn config(&self) -> &EngineConfig {
        &self.config
    }

    /// Who it says it is.
    #[must_use]
    pub fn identity(&self) -> &Identity {
        self.session.identity()
    }

    /// What it advertises.
    #[must_use]
    pub fn options(&self) -> &[EngineOption] {
        self.session.options()
    }

    /// Takes the remarks on failures since the last call.
    pub fn take_complaints(&mut self) -> Vec<String> {
        self.session.take_complaints()
    }

    /// Remarks on failures up to a game's first answer, and doubts about files that its options name.
    #[must_use]
    pub fn complaints(&self) -> &[String] {
        self.session.complaints()
    }

    /// Figures of its last search, ended or not.
    #[must_use]
    pub fn info(&self) -> &SearchInfo {
        self.session.info()
    }

    /// The principal variation of the last search's last exact score: words separated by blanks, as they came.
    #[must_use]
    pub fn pv(&self) -> &[u8] {
        self.session.pv()
    }

    /// The last principal variation of the last search, and its score if that was exact.
    #[must_use]
    pub fn last_pv(&self) -> (&[u8], Option<Score>) {
        self.session.last_pv()
    }

    /// For each pattern, in their order, the last line of the last search's output that matches, cut after 4096 characters and
    /// with what is no text replaced; patterns that no line matches are left out. Looks through as much as the transcript keeps.
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

    /// What was said since the last new game, for a crash report.
    #[must_use]
    pub fn transcript(&self) -> String {
        self.transcript.text()
    }

    /// What is known of it at this moment, for a crash report: the transcript of the game, the end of its standard error with
    /// what is still in the pipe, and how its process ended.
    pub fn evidence(&mut self) -> Evidence {
        self.process.read_said();
        Evidence {
            transcript: self.transcript.text(),
            stderr: self.process.log.tail(),
            status: self.process.ending().unwrap_or_else(|| "still running".to_owned()),
        }
    }

    /// The last KiB of its standard error.
    #[must_use]
    pub fn stderr_tail(&self) -> String {
        self.process.log.tail()
    }

    fn warnings(&mut self) -> Vec<Warning> {
        let overlong = self.lines.take_overlong();
        if overlong > 0 {
            self.session.warn(Warning::Overlong(overlong));
        }
        self.session.warnings()
    }

    /// Puts commands without arguments in the place of what was sent last.
    fn say(&mut self, commands: &[Command<'_>]) {
        self.out.clear();
        for command in commands {
            command.write(&mut self.out).expect("it has no argument");
        }
    }

    /// Sends `out`, then reads until what the session waits for comes. `from` is when that began.
    async fn exchange(&mut self, from: Instant, until: Option<Instant>) -> Waited {
        self.exchange_on(&mut 0, from, until).await
    }

    /// As [`exchange`](Self::exchange), within a limit that leaves out the time for which the engine waited for a CPU. Returns that
    /// time too.
    async fn exchange_patiently(&mut self, from: Instant, limit: Duration) -> (Waited, Duration) {
        self.patience = Some(Patience::new(limit, load::waited_by(self.process.pid)));
        let waited = self.exchange(from, from.checked_add(limit)).await;
        (waited, self.patience.take().map(|patience| patience.kept()).unwrap_or_default())
    }

    /// As [`exchange`](Self::exchange), where the first bytes of `out` are `sent`; keeps count of them.
    async fn exchange_on(&mut self, sent: &mut usize, from: Instant, mut until: Option<Instant>) -> Waited {
        let mut noted = *sent > 0;
        let mut last_read = from;
        // What the timer is for; where there is a deadline it goes off before that too, for the harness's own pulse.
        let mut due = until;
        let mut wake = self.wake_at(due);
        let mut timer = pin!(sleep_until(wake.unwrap_or(from).into()));
        loop {
            let timeout = async { if wake.is_some() { timer.as_mut().await } else { pending().await } };
            let happened = self.process.next(&self.out[*sent..], &mut self.lines, timeout).await;
            if !noted {
                noted = true;
                self.transcript.push(from, Direction::ToEngine, &self.out);
            }
            if let Some(pulse) = &mut self.pulse {
                pulse.look(pulse::now(), || self.load.runner_waited());
            }
            match happened {
                Happened::Wrote(Ok(count)) => *sent += count,
                Happened::Wrote(Err(_)) => return self.gone("closed its standard input").await,
                Happened::Read(Ok(count), at) if count > 0 => {
                    last_read = at;
                    if self.take_chunk(count, at) {
                        return Waited::Answer(at);
                    }
                    let unfinished = self.session.awaits_best_move() && BestMove::is_whole(self.lines.partial());
                    let next = unfinished.then(|| at + LINE_END_GRACE).into_iter().chain(until).min();
                    if next != due {
                        due = next;
                        wake = self.wake_at(due);
                        timer.as_mut().reset(wake.unwrap_or(at).into());
                    }
                }
                Happened::Read(..) if self.take_partial() => return Waited::Answer(last_read),
                Happened::Read(..) => return self.gone("closed its standard output").await,
                Happened::Said => {}
                Happened::Ended(status) => return self.read_the_last(last_read, status),
                Happened::TimeOut if due.is_none_or(|due| Instant::now() < due) => {
                    wake = self.wake_at(due);
                    timer.as_mut().reset(wake.unwrap_or(from).into());
                }
                Happened::TimeOut if self.patience.is_some() => {}
                Happened::TimeOut => return self.time_out(last_read),
            }
            if self.flag.take_if(|flag| Instant::now() >= *flag).is_some() {
                self.load.flag();
            }
            // Looked at after every event: an engine that keeps the pipe full would keep the timer waiting.
            if let Some(end) = until
                && Instant::now() >= end
            {
                let pid = self.process.pid;
                let more = self.patience.as_mut().and_then(|patience| patience.extension(|| load::waited_by(pid)));
                let Some(more) = more else { return self.time_out(last_read) };
                until = end.checked_add(more);
                due = until;
                wake = self.wake_at(due);
                timer.as_mut().reset(wake.unwrap_or(from).into());
            }
        }
    }

    /// When a wait for what is `due` is to look up next; `None` for not before something happens.
    fn wake_at(&self, due: Option<Instant>) -> Option<Instant> {
        let beat = self.pulse.as_ref().map(|_| Instant::now() + Pulse::BEAT);
        due.into_iter().chain(beat).chain(self.flag).min()
    }

    /// The last look before a deadline is called missed: what came by now is returned with its own stamp.
    fn time_out(&mut self, mut last_read: Instant) -> Waited {
        if self.read_rest(&mut last_read) { Waited::Answer(last_read) } else { Waited::Deadline }
    }

    /// What a process wrote before its end still counts. Its children may hold the pipe open, so no end is waited for.
    fn read_the_last(&mut self, mut last_read: Instant, status: io::Result<ExitStatus>) -> Waited {
        if self.read_rest(&mut last_read) {
            return Waited::Answer(last_read);
        }
        Waited::Gone(status.map_or_else(|error| error.to_string(), spawn::describe))
    }

    /// Takes what is in the pipe, the unfinished line with it; true if what was waited for is there.
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

    /// Takes what a read brought; true at the line that was waited for, and what follows it is left for later.
    fn take_chunk(&mut self, count: usize, at: Instant) -> bool {
        self.transcript.push(at, Direction::FromEngine, &self.lines.space()[..count]);
        self.lines.advance(count);
        self.take_lines()
    }

    /// Takes the whole lines that were read; true at the one that was waited for.
    fn take_lines(&mut self) -> bool {
        while let Some(line) = self.lines.next_line() {
            if self.session.on_line(line) != SessionEvent::Nothing {
                return true;
            }
        }
        false
    }

    /// Takes an unfinished line as if it were finished; true if that was waited for.
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

    /// Reads what came since the last wait, so that it is not taken for an answer to what is asked next.
    fn read_what_is_there(&mut self) {
        while let Some(line) = self.lines.next_line() {
            self.session.on_line(line);
        }
        for _ in 0..READS_AT_ONCE {
            let Some(count) = self.process.read_now(&mut self.lines) else { break };
            self.take_chunk(count, Instant::now());
        }
    }

    /// A pipe is closed: finds out how the process ended, and ends it if it did not.
    async fn gone(&mut self, why: &str) -> Waited {
        if let Some(status) = self.await_end().await {
            return Waited::Gone(spawn::describe(status));
        }
        self.end_now().await;
        Waited::Gone(format!("{why} and went on running; killed"))
    }

    /// Kills the process group and reaps its leader.
    async fn end_now(&mut self) -> Option<ExitStatus> {
        self.process.kill();
        self.await_end().await
    }

    /// Waits for the end of a process that is about to end. The grace leaves out its waits for a CPU.
    async fn await_end(&mut self) -> Option<ExitStatus> {
        let pid = self.process.pid;
        let mut patience = Patience::new(EXIT_GRACE, load::waited_by(pid));
        let mut until = Instant::now() + EXIT_GRACE;
        loop {
            let status = self.process.wait_end(&[], &mut self.lines, until).await;
            if status.is_some() {
                return status;
            }
            until = Instant::now() + patience.extension(|| load::waited_by(pid))?;
        }
    }
}
