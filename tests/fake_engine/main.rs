//! A scripted UCI peer: plays legal moves chosen by a hash, thinks as long as it is told to, and
//! misbehaves on demand.
//!
//! ```text
//! fake_engine [--name NAME] [--seed N] [--sleep-us N] [--spin-us N] [--info N] [--score CP]
//!             [--mate N] [--resigns PERCENT] [--start-ms N] [--start-cpu-ms N] [--stop-ms N]
//!             [--clock] [--vary] [--announce] [--pv MOVES] [--ponder SEED] [--past-clock-ms N]
//!             [--tunes] [--net] [--crash-above NAME=VALUE] [--dies-at NAME=VALUE]
//!             [--dies-above NAME=VALUE] [--lost-below NAME=VALUE] [--hold FILE@GAME]
//!             [--perft-ms N] [--fault NAME[@K]]...
//! ```
//!
//! The move is a function of the position and `--seed` alone, so two runs of a match play the same
//! games. A ponder search thinks as long as any other, and then waits for `ponderhit` or `stop`.
//!
//! * `--vary` raises the seed by one at each `ucinewgame`.
//! * `--score` and `--mate` set the reported score, which is otherwise the mover's material
//!   balance.
//! * `--resigns` claims to be lost from the first ply in that share of its games, chosen by the
//!   game's first position.
//! * `--clock` reports as `nodes` the microseconds between its own timestamps on `go` and
//!   `bestmove`.
//! * `--announce` prints `started` on standard error, so that starts can be counted.
//! * `--past-clock-ms` spins until that time after its own clock reached zero, or before it if
//!   negative.
//! * `--start-ms` and `--start-cpu-ms` delay the start by that time, or by that CPU time.
//! * `--ponder` names after `bestmove` the answer that it would give with that seed. The opponent's
//!   own seed is right every time.
//! * `--pv` is the PV, its words joined by commas; `BEST` in it is the move to be played.
//! * `--tunes` has the options `Alpha` and `Beta` (spin), `Gamma` (string) and `Delta` (check),
//!   which change its moves, and `Idle`, which does not.
//! * `--net` has an option `EvalFile`; the number in that file is its seed.
//! * `--crash-above` ends in a search while such an option is above the value, `--dies-at` once an
//!   option is set to the value, `--dies-above` once it is set above it. `--lost-below` claims to
//!   be lost while it is below the value.
//! * `--perft-ms` answers `go perft`, after that time if it is more than one ply deep.
//! * `--hold` makes searches wait for a file, from that game of the process on. The first that
//!   waits makes a file with the ending `reached` beside it. A number in the file is the last game
//!   that may continue; an empty file lets all continue.
//! * `--fault` strikes at the K-th `go` of a game, or from then on, or at the start: see
//!   `settings::FAULTS`.

mod choice;
mod search;
mod settings;
mod system;

use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};
use std::process::{Command, ExitCode, Stdio};

use settings::{Settings, When};
use shakmaty::fen::Fen;
use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Chess, Position};

fn main() -> ExitCode {
    let settings = match Settings::parse(std::env::args().skip(1)) {
        Ok(settings) => settings,
        Err(message) => {
            let _ = writeln!(io::stderr(), "fake_engine: {message}");
            return ExitCode::from(2);
        }
    };
    if settings.linger {
        park();
    }
    if settings.leave {
        system::leave_session();
        let _ = writeln!(io::stdout(), "left {}", std::process::id());
        park();
    }
    if settings.orphan {
        leave(&mut this_program());
        return ExitCode::SUCCESS;
    }
    if settings.bench {
        return bench(&settings);
    }
    Engine::new(settings).run()
}

/// A count of nodes, always the same unless told otherwise, after `--start-cpu-ms`.
fn bench(settings: &Settings) -> ExitCode {
    while system::cpu_time() < settings.start_cpu {
        std::hint::spin_loop();
    }
    let has = |name: &str| settings.faults.iter().any(|fault| fault.name == name);
    let more = u32::from(has("bench-differs")) + if has("bench-drifts") { std::process::id() } else { 0 };
    let _ = writeln!(io::stdout(), "{} nodes 1000 nps", 4711 + more);
    ExitCode::SUCCESS
}

fn park() -> ! {
    loop {
        std::thread::park();
    }
}

#[expect(clippy::zombie_processes, reason = "a child that outlives its parent is the fault")]
fn fork_child() {
    let child = this_program().arg("--linger").stdin(Stdio::null()).spawn().expect("it runs already");
    let _ = writeln!(io::stderr(), "child {}", child.id());
}

fn this_program() -> Command {
    Command::new(std::env::current_exe().expect("a process knows its program"))
}

/// Starts a child in a session of its own, as daemons are.
fn leave(command: &mut Command) -> Option<std::process::ChildStdout> {
    command.arg("--leave").stdin(Stdio::null()).spawn().expect("it runs already").stdout
}

/// A daemon; with `orphan` one whose parent is gone, and that has nothing of the engine's
/// environment.
fn fork_daemon(orphan: bool) {
    let output = if orphan {
        let mut command = this_program();
        command.arg("--orphan").env_clear().stdin(Stdio::null()).stdout(Stdio::piped());
        let mut parent = command.spawn().expect("it runs already");
        parent.wait().expect("it ends");
        parent.stdout
    } else {
        leave(this_program().stdout(Stdio::piped()))
    };
    let mut line = String::new();
    io::BufReader::new(output.expect("a pipe")).read_line(&mut line).expect("it says that it left");
    let _ = writeln!(io::stderr(), "child {}", line.trim_start_matches("left ").trim());
}

/// Effect of a command.
enum Next {
    Continue,
    Exit(u8),
}

struct Engine {
    settings: Settings,
    mode: CastlingMode,
    position: Chess,
    /// The last `position` line, for `position` to be carried on from it.
    line: String,
    first_hash: u64,
    /// Moves that `go` allows; any move if empty.
    searchmoves: Vec<String>,
    /// `go mate` asks for one.
    wants_mate: bool,
    gos: u64,
    /// `ucinewgame` commands of the process.
    games: u64,
    positions: u64,
    /// `isready` commands of the process.
    syncs: u64,
    /// Values of the options that change moves, by name.
    tuned: BTreeMap<String, String>,
    out: Vec<u8>,
}

impl Engine {
    fn new(settings: Settings) -> Self {
        Self {
            settings,
            mode: CastlingMode::Standard,
            position: Chess::default(),
            line: String::new(),
            first_hash: 0,
            searchmoves: Vec::new(),
            wants_mate: false,
            gos: 0,
            games: 0,
            positions: 0,
            syncs: 0,
            tuned: BTreeMap::new(),
            out: Vec::new(),
        }
    }

    fn run(mut self) -> ExitCode {
        let terminated = self.begin();
        if self.at_start("exit-at-start") {
            let _ = writeln!(io::stderr(), "cannot find my network");
            return ExitCode::from(7);
        }
        let mut input = io::stdin().lock();
        let mut line = Vec::new();
        loop {
            line.clear();
            match input.read_until(b'\n', &mut line) {
                Ok(count) if count > 0 => match self.handle(&String::from_utf8_lossy(&line), &mut input) {
                    Next::Continue => {}
                    Next::Exit(code) => return ExitCode::from(code),
                },
                _ if self.at_start("ignore-quit") || self.at_start("ignore-eof") => park(),
                _ => break,
            }
        }
        drop(terminated);
        ExitCode::SUCCESS
    }

    /// Applies the faults that occur before the first command.
    fn begin(&self) -> Option<tokio::runtime::Runtime> {
        if self.settings.announce {
            let _ = writeln!(io::stderr(), "started");
        }
        std::thread::sleep(self.settings.start);
        while system::cpu_time() < self.settings.start_cpu {
            std::hint::spin_loop();
        }
        if self.at_start("fork-child") {
            fork_child();
        }
        for (fault, orphan) in [("leave-group", false), ("leave-family", true)] {
            if self.at_start(fault) {
                fork_daemon(orphan);
            }
        }
        self.at_start("ignore-sigterm").then(system::ignore_sigterm)
    }

    fn handle(&mut self, line: &str, input: &mut impl BufRead) -> Next {
        let line = line.trim();
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim_start();
        match word {
            "uci" => self.introduce(),
            "isready" => {
                self.syncs += 1;
                if !self.strikes("no-readyok", self.syncs) {
                    self.say("readyok");
                }
            }
            "ucinewgame" if self.at_start("die-on-new-game") && self.gos > 0 => return Next::Exit(0),
            "ucinewgame" => {
                self.gos = 0;
                self.games += 1;
                if self.games > 1 && self.at_start("complains-later") {
                    self.say("info string ERROR: network file could not be loaded");
                }
                self.positions = 0;
                self.line.clear();
                self.settings.seed += u64::from(self.settings.vary);
            }
            "setoption" if self.dies_of(rest) => {
                let _ = writeln!(io::stderr(), "division by zero");
                return Next::Exit(5);
            }
            "setoption" => self.set_option(rest),
            "position" => {
                self.positions += 1;
                if self.strikes("exit-on-position", self.positions) {
                    return Next::Exit(0);
                }
                self.set_position(rest);
            }
            "go" => return self.go(rest, input),
            "quit" if !self.at_start("ignore-quit") => return Next::Exit(0),
            "xyzzy" if self.at_start("die-on-junk") => return Next::Exit(9),
            _ => {}
        }
        Next::Continue
    }

    fn introduce(&mut self) {
        if self.at_start("no-uciok") {
            return;
        }
        let name = self.settings.name.clone();
        self.say("Fake engine, a scripted peer");
        self.say(&format!("id name {name}"));
        if !self.at_start("no-author") {
            self.say("id author The Quintain authors");
        }
        self.say("option name Hash type spin default 16 min 1 max 33554432");
        self.say("option name Threads type spin default 1 min 1 max 1024");
        self.say("option name Ponder type check default false");
        self.say("option name UCI_Chess960 type check default false");
        self.say("option name Clear Hash type button");
        self.say("option name Style type combo default Normal var Solid var Normal var Risky");
        self.say("option name SyzygyPath type string default <empty>");
        if self.settings.net {
            self.say("option name EvalFile type string default <embedded>");
        }
        if self.settings.tunes {
            self.say("option name Alpha type spin default 50 min 0 max 100");
            self.say("option name Beta type spin default -3 min -40 max 40");
            self.say("option name Gamma type string default 1.5");
            self.say("option name Delta type check default false");
            self.say("option name Idle type spin default 5 min 0 max 9");
        }
        if self.at_start("bad-default") {
            self.say("option name Contempt type spin default 10 min -5 max 5");
        }
        if self.at_start("weird-options") {
            self.say("option name Book file name type string default my minimum files");
            self.say("option name Typeface type string default x");
            self.say("option name Größe  of it type spin min 0 max 18446744073709551615 default 5");
            self.say("option name Mode type combo var A var B b default B b");
        }
        if self.at_start("bad-option-lines") {
            for line in [
                "option",
                "option name",
                "option name X",
                "option name X type",
                "option type spin name X",
                "option name  type check",
            ] {
                self.say(line);
            }
            self.say(&format!("option name {} type button", "x".repeat(100_000)));
            self.write(b"option name \xff\xfe type spin default \x00 min - max +\n");
        }
        self.say("uciok");
    }

    fn set_option(&mut self, rest: &str) {
        if self.at_start("complains") {
            self.say(&format!("info string ERROR: the network {} was not loaded", rest.trim_start_matches("name ")));
        }
        match rest {
            "name UCI_Chess960 value true" => self.mode = CastlingMode::Chess960,
            "name UCI_Chess960 value false" => self.mode = CastlingMode::Standard,
            _ => {}
        }
        if let Some(file) = rest.trim_start_matches("name ").strip_prefix("EvalFile value ")
            && self.settings.net
        {
            let text = std::fs::read_to_string(file).unwrap_or_default();
            self.settings.seed = text.trim().parse().unwrap_or_default();
        }
        if let Some((name, value)) = rest.trim_start_matches("name ").split_once(" value ")
            && (["Alpha", "Beta", "Gamma", "Delta"].contains(&name)
                || name == "Threads" && self.settings.grows.is_some())
        {
            self.tuned.insert(name.to_owned(), value.to_owned());
        }
    }

    /// The process does not survive an option that is set like this.
    fn dies_of(&self, rest: &str) -> bool {
        if self.settings.dies_at.as_deref() == Some(rest) {
            return true;
        }
        let Some((name, most)) = &self.settings.dies_above else { return false };
        let set = rest.trim_start_matches("name ").split_once(" value ").filter(|(set, _)| set == name);
        set.and_then(|(_, value)| value.parse::<f64>().ok()).is_some_and(|value| value > *most)
    }

    /// An option is where it makes this engine crash.
    fn crashes(&self) -> bool {
        let Some((name, most)) = &self.settings.crash_above else { return false };
        self.tuned(name).is_some_and(|value| value > *most)
    }

    /// An option is where this engine claims to be lost.
    fn is_hopeless(&self) -> bool {
        let Some((name, least)) = &self.settings.lost_below else { return false };
        self.tuned(name).is_some_and(|value| value < *least)
    }

    pub fn tuned(&self, name: &str) -> Option<f64> {
        match self.tuned.get(name)?.as_str() {
            "true" => Some(1.0),
            "false" => Some(0.0),
            number => number.parse().ok(),
        }
    }

    /// Plays only what was added since the last line, where it was.
    fn set_position(&mut self, rest: &str) {
        let moves = if let Some(more) = rest.strip_prefix(&self.line).filter(|_| !self.line.is_empty()) {
            more.trim_start().trim_start_matches("moves").to_owned()
        } else {
            let (start, moves) = rest.split_once(" moves").unwrap_or((rest, ""));
            let fen = start.strip_prefix("fen ").and_then(|fen| fen.trim().parse::<Fen>().ok());
            self.position = fen.and_then(|fen| fen.into_position(self.mode).ok()).unwrap_or_default();
            moves.to_owned()
        };
        for word in moves.split_ascii_whitespace() {
            let played = word.parse::<UciMove>().ok().and_then(|uci| uci.to_move(&self.position).ok());
            let Some(played) = played else { break };
            self.position.play_unchecked(played);
        }
        if self.line.is_empty() {
            self.first_hash = self.hash();
        }
        rest.clone_into(&mut self.line);
    }

    fn at_start(&self, name: &str) -> bool {
        self.settings.faults.iter().any(|fault| fault.name == name)
    }

    fn strikes(&self, name: &str, count: u64) -> bool {
        self.settings
            .faults
            .iter()
            .any(|fault| fault.name == name && (fault.at == count || fault.when == When::From && fault.at <= count))
    }

    fn now(&self, name: &str) -> bool {
        self.strikes(name, self.gos)
    }

    fn say(&mut self, line: &str) {
        self.out.extend_from_slice(line.as_bytes());
        self.out.push(b'\n');
        // Everything of a search goes out in one write, with its answer.
        if self.gos == 0 || !line.starts_with("info") {
            self.flush();
        }
    }

    fn write(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
        if self.out.len() > 1 << 16 {
            self.flush();
        }
    }

    fn flush(&mut self) {
        let mut stdout = io::stdout().lock();
        if stdout.write_all(&self.out).and_then(|()| stdout.flush()).is_err() && !self.at_start("ignore-quit") {
            std::process::abort();
        }
        self.out.clear();
    }
}
