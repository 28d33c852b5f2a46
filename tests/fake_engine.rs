//! A scripted UCI peer: plays legal moves chosen by a hash, thinks as long as it is told to, and misbehaves on demand.
//!
//! ```text
//! fake_engine [--name NAME] [--seed N] [--sleep-us N] [--spin-us N] [--info N] [--score CP] [--mate N] [--resigns PERCENT]
//!             [--start-ms N] [--stop-ms N] [--clock] [--announce] [--pv MOVES] [--ponder SEED] [--fault NAME[@K]]...
//! ```
//!
//! The move is a function of the position and `--seed` alone, so two runs of a match play the same games. The score is the
//! mover's material balance, or `--score`, or mate in `--mate`; with `--resigns` the engine claims to be lost from the first ply in
//! that share of its games, chosen by the game's first position. With `--clock` it gives as `nodes` the microseconds between its
//! own stamps on `go` and on `bestmove`; with `--announce` it says `started` on standard error, so that starts can be counted.
//! With `--ponder` it names after `bestmove` the answer that it would give itself with that seed: the opponent's own seed is right
//! every time. A ponder search thinks as long as any other, and waits then for `ponderhit` or `stop`. `--pv` is a PV, `BEST` in it the move to be played, its words joined by commas. A fault strikes at the K-th `go` of a game, or from then on, or at the
//! start: see `FAULTS`.

use std::io::{self, BufRead, Write};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use shakmaty::fen::Fen;
use shakmaty::uci::UciMove;
use shakmaty::zobrist::Zobrist64;
use shakmaty::{CastlingMode, Chess, Color, EnPassantMode, Move, Position, Role};

/// When a fault strikes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum When {
    /// At the start of the process.
    Start,
    /// At one `go`: the fourth of a game unless `@K` says otherwise.
    Once,
    /// At every `go` from the first, or from the K-th.
    From,
}

/// Every fault and when it strikes.
const FAULTS: &[(&str, When)] = &[
    ("abort", When::Once),
    ("bad-default", When::Start),
    ("bad-option-lines", When::Start),
    ("bench-drifts", When::Start),
    ("byte-by-byte", When::From),
    ("castling-other-notation", When::From),
    ("chatter", When::Once),
    ("close-stdin", When::Once),
    ("close-stdout", When::Once),
    ("crlf", When::From),
    ("deaf-in-search", When::Start),
    ("die-on-junk", When::Start),
    ("die-on-mated", When::Start),
    ("die-on-new-game", When::Start),
    ("early-infinite", When::Start),
    ("early-ponder", When::Start),
    ("exit-after-bestmove", When::Once),
    ("exit-at-start", When::Start),
    ("exit-in-ponder", When::Once),
    ("exit-in-search", When::Once),
    ("exit-on-position", When::Once),
    ("flood", When::From),
    ("fork-child", When::Start),
    ("hang", When::Once),
    ("huge-numbers", When::From),
    ("ignore-quit", When::Start),
    ("ignore-sigterm", When::Start),
    ("ignore-eof", When::Start),
    ("illegal", When::Once),
    ("illegal-ponder", When::Start),
    ("illegal-pv", When::Start),
    ("invalid-utf8", When::From),
    ("late-on-clock", When::Start),
    ("leading-spaces", When::From),
    ("long-line", When::From),
    ("mate-scores", When::From),
    ("missing-move", When::Once),
    ("no-author", When::Start),
    ("no-newline", When::From),
    ("no-read", When::Once),
    ("no-readyok", When::From),
    ("no-searchmoves", When::Start),
    ("no-stop", When::Start),
    ("no-uciok", When::Start),
    ("none", When::Once),
    ("nul-bytes", When::From),
    ("null-move", When::Once),
    ("only-after-stop", When::From),
    ("promo-without-piece", When::From),
    ("segv", When::Once),
    ("stderr-flood", When::From),
    ("stop-harness", When::Once),
    ("tabs", When::From),
    ("two-bestmoves", When::From),
    ("uppercase", When::Once),
    ("weird-options", When::Start),
];

struct Fault {
    name: &'static str,
    when: When,
    at: u64,
}

impl Fault {
    fn parse(text: &str) -> Result<Self, String> {
        let (name, at) = text.split_once('@').unwrap_or((text, ""));
        let known = FAULTS.iter().find(|(known, _)| *known == name);
        let &(name, when) = known.ok_or_else(|| format!("no fault {name}"))?;
        let at = match (at, when) {
            ("", When::Once) => 4,
            ("", _) => 1,
            (at, _) => number(at)?,
        };
        Ok(Self { name, when, at })
    }
}

#[derive(Default)]
struct Settings {
    name: String,
    seed: u64,
    sleep: Duration,
    spin: Duration,
    info: u64,
    score: Option<i64>,
    mate: Option<i64>,
    resigns: u64,
    start: Duration,
    stop: Duration,
    clock: bool,
    announce: bool,
    pv: Option<String>,
    ponder: Option<u64>,
    linger: bool,
    bench: bool,
    faults: Vec<Fault>,
}

impl Settings {
    fn parse(mut args: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut settings = Self { name: "Fake".into(), ..Self::default() };
        while let Some(flag) = args.next() {
            let mut value = || args.next().ok_or_else(|| format!("{flag} needs a value"));
            let micros = |text: String| number(&text).map(Duration::from_micros);
            match flag.as_str() {
                "--name" => settings.name = value()?,
                "--seed" => settings.seed = number(&value()?)?,
                "--sleep-us" => settings.sleep = micros(value()?)?,
                "--spin-us" => settings.spin = micros(value()?)?,
                "--info" => settings.info = number(&value()?)?,
                "--score" => settings.score = Some(value()?.parse().map_err(|e| format!("--score: {e}"))?),
                "--mate" => settings.mate = Some(value()?.parse().map_err(|e| format!("--mate: {e}"))?),
                "--resigns" => settings.resigns = number(&value()?)?,
                "--start-ms" => settings.start = Duration::from_millis(number(&value()?)?),
                "--stop-ms" => settings.stop = Duration::from_millis(number(&value()?)?),
                "--clock" => settings.clock = true,
                "--announce" => settings.announce = true,
                "--pv" => settings.pv = Some(value()?.replace(',', " ")),
                "--ponder" => settings.ponder = Some(number(&value()?)?),
                "--fault" => settings.faults.push(Fault::parse(&value()?)?),
                // What `fork-child` starts: a process that does nothing but hold the pipes open.
                "--linger" => settings.linger = true,
                "bench" => settings.bench = true,
                _ => return Err(format!("no flag {flag}")),
            }
        }
        Ok(settings)
    }
}

fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|error| format!("{text}: {error}"))
}

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
    if settings.bench {
        return bench(&settings);
    }
    Engine::new(settings).run()
}

/// A count of nodes, always the same unless told otherwise.
fn bench(settings: &Settings) -> ExitCode {
    let drift = if settings.faults.iter().any(|fault| fault.name == "bench-drifts") { std::process::id() } else { 0 };
    let _ = writeln!(io::stdout(), "{} nodes 1000 nps", 4711 + drift);
    ExitCode::SUCCESS
}

fn park() -> ! {
    loop {
        std::thread::park();
    }
}

#[expect(clippy::zombie_processes, reason = "a child that outlives its parent is the fault")]
fn fork_child() {
    let this = std::env::current_exe().expect("a process knows its program");
    let child = Command::new(this).arg("--linger").stdin(Stdio::null()).spawn().expect("it runs already");
    let _ = writeln!(io::stderr(), "child {}", child.id());
}

/// What a command leads to.
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
    /// What `go` allows; anything if empty.
    searchmoves: Vec<String>,
    /// `go mate` asks for one.
    wants_mate: bool,
    gos: u64,
    positions: u64,
    /// `isready` commands of the process.
    syncs: u64,
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
            positions: 0,
            syncs: 0,
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

    /// What strikes before the first command.
    fn begin(&self) -> Option<tokio::runtime::Runtime> {
        if self.settings.announce {
            let _ = writeln!(io::stderr(), "started");
        }
        std::thread::sleep(self.settings.start);
        if self.at_start("fork-child") {
            fork_child();
        }
        // tokio's handler stands until the process ends; nobody looks at what it notes.
        self.at_start("ignore-sigterm").then(|| {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            let guard = runtime.enter();
            let _handler =
                tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()).expect("a handler");
            drop(guard);
            runtime
        })
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
                self.positions = 0;
                self.line.clear();
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
        match rest {
            "name UCI_Chess960 value true" => self.mode = CastlingMode::Chess960,
            "name UCI_Chess960 value false" => self.mode = CastlingMode::Standard,
            _ => {}
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

    fn hash(&self) -> u64 {
        hash(&self.position, self.settings.seed)
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

    fn go(&mut self, rest: &str, input: &mut impl BufRead) -> Next {
        let begun = Instant::now();
        self.gos += 1;
        if let Some(code) = self.break_down() {
            return Next::Exit(code);
        }
        if rest.starts_with("ponder") && self.now("exit-in-ponder") {
            return Next::Exit(3);
        }
        self.think(begun);
        if self.at_start("late-on-clock") && rest.contains("time") {
            std::thread::sleep(Duration::from_millis(300));
        }
        if self.at_start("die-on-mated") && self.position.legal_moves().is_empty() {
            return Next::Exit(0);
        }
        self.wants_mate = rest.starts_with("mate ");
        let says = |word: &str| rest.split_ascii_whitespace().any(|said| said == word);
        let waits = self.now("only-after-stop")
            || says("infinite") && !self.at_start("early-infinite")
            || says("ponder") && !self.at_start("early-ponder");
        if waits && !self.wait_for_stop(input) {
            return Next::Exit(0);
        }
        self.searchmoves = match rest.split_once("searchmoves ") {
            Some((_, moves)) if !self.at_start("no-searchmoves") => {
                moves.split_ascii_whitespace().map(str::to_owned).collect()
            }
            _ => Vec::new(),
        };
        if self.now("close-stdin") {
            rustix::stdio::dup2_stdin(std::fs::File::open("/dev/null").expect("it is there"))
                .expect("it can be closed");
        }
        self.print_info(begun);
        self.answer();
        if self.now("exit-after-bestmove") {
            return Next::Exit(0);
        }
        if self.now("close-stdin") || self.now("no-read") {
            park();
        }
        Next::Continue
    }

    /// The faults after which no answer comes.
    fn break_down(&mut self) -> Option<u8> {
        if self.now("exit-in-search") {
            let _ = writeln!(io::stderr(), "assertion failed: depth > 0");
            return Some(3);
        }
        if self.now("abort") {
            std::process::abort();
        }
        if self.now("stop-harness") {
            // As a user's Ctrl-Z and `fg` do, while this engine thinks on.
            let parent = rustix::process::getppid().expect("it has one");
            for (signal, pause) in [(rustix::process::Signal::STOP, 1_000), (rustix::process::Signal::CONT, 0)] {
                rustix::process::kill_process(parent, signal).expect("it is ours");
                std::thread::sleep(Duration::from_millis(pause));
            }
        }
        while self.now("segv") {
            // The run-time library's handler takes the first for a stack overflow, and steps aside.
            let this = rustix::process::getpid();
            rustix::process::kill_process(this, rustix::process::Signal::SEGV).expect("it is ours");
        }
        if self.now("hang") {
            park();
        }
        if self.now("chatter") {
            let lines = "info depth 1 seldepth 1 score cp 13 nodes 20 nps 20000 time 1 pv e2e4 e7e5\n".repeat(200);
            while io::stdout().lock().write_all(lines.as_bytes()).is_ok() {}
            park();
        }
        if self.now("close-stdout") {
            let _ = io::stdout().flush();
            rustix::stdio::dup2_stdout(std::fs::File::open("/dev/null").expect("it is there"))
                .expect("it can be closed");
            park();
        }
        None
    }

    fn think(&self, begun: Instant) {
        if !self.settings.sleep.is_zero() {
            std::thread::sleep(self.settings.sleep);
        }
        while begun.elapsed() < self.settings.spin {
            std::hint::spin_loop();
        }
    }

    fn wait_for_stop(&mut self, input: &mut impl BufRead) -> bool {
        let mut line = String::new();
        loop {
            line.clear();
            match input.read_line(&mut line) {
                Ok(count) if count > 0 => match line.trim() {
                    "stop" if self.at_start("no-stop") => {}
                    "stop" | "ponderhit" => {
                        std::thread::sleep(self.settings.stop);
                        return true;
                    }
                    "quit" => return false,
                    "isready" if !self.at_start("deaf-in-search") => self.say("readyok"),
                    _ => {}
                },
                _ => return false,
            }
        }
    }

    fn print_info(&mut self, begun: Instant) {
        for i in 0..self.settings.info {
            self.out.extend_from_slice(
                format!("info depth {i} seldepth {i} multipv 1 score cp 5 nodes {i} nps 1000 hashfull 1 tbhits 0 time 1 pv e2e4 e7e5 g1f3\n").as_bytes(),
            );
        }
        if self.now("stderr-flood") {
            let line = "this is on standard error, and there is a lot of it\n".repeat(100);
            for _ in 0..4000 {
                let _ = io::stderr().write_all(line.as_bytes());
            }
        }
        if self.now("flood") {
            let line = format!("info string {}\n", "flood ".repeat(30)).repeat(100);
            for _ in 0..1024 {
                self.write(line.as_bytes());
            }
        }
        if self.now("long-line") {
            self.write(b"info string ");
            for _ in 0..1024 {
                self.write(&[b'x'; 8192]);
            }
            self.write(b"\n");
        }
        if self.now("invalid-utf8") {
            self.out.extend_from_slice(b"info string \xff\xfe\x80 \xc3\n\xf0\x9f\n");
        }
        if self.now("nul-bytes") {
            self.out.extend_from_slice(b"info string a\0b\n\0\n\0");
        }
        if self.now("huge-numbers") {
            self.say("info depth 99999999999 seldepth 300 score cp 999999999999 nodes 9223372036854775808 nps 99999999999999999999 time 18446744073709551616 hashfull 70000");
            self.say("info depth 7 score cp 999999999 nodes 9223372036854775808");
            return;
        }
        let nodes = if self.settings.clock { begun.elapsed().as_micros() } else { 1 };
        let score = self.score();
        let pv = self.settings.pv.as_ref().map(|pv| format!(" pv {}", pv.replace("BEST", &self.choose())));
        let pv = if self.at_start("illegal-pv") { " pv a1a1".to_owned() } else { pv.unwrap_or_default() };
        self.say(&format!("info depth 1 score {score} nodes {nodes} time {}{pv}", begun.elapsed().as_millis()));
    }

    fn score(&self) -> String {
        if self.mix_of_game() % 100 < self.settings.resigns {
            return "cp -2000".into();
        }
        if self.now("mate-scores") {
            return format!("mate {}", if self.gos.is_multiple_of(2) { -3 } else { 3 });
        }
        match (self.settings.mate, self.settings.score) {
            (Some(moves), _) => format!("mate {moves}"),
            (None, Some(cp)) => format!("cp {cp}"),
            (None, None) => format!("cp {}", material(&self.position)),
        }
    }

    fn mix_of_game(&self) -> u64 {
        mix(self.first_hash)
    }

    fn answer(&mut self) {
        let uci = self.choose();
        let line = match () {
            () if self.now("illegal") => "bestmove a1a1".into(),
            () if self.now("none") => "bestmove (none)".into(),
            () if self.now("null-move") => "bestmove 0000".into(),
            () if self.now("missing-move") => "bestmove".into(),
            () if self.now("uppercase") => format!("bestmove {}", uci.to_uppercase()),
            () if self.now("tabs") => format!("bestmove\t{uci}\tponder\te7e5\t"),
            () if self.now("leading-spaces") => format!("  \t bestmove   {uci}   "),
            () if self.now("crlf") => format!("bestmove {uci}\r"),
            () => format!("bestmove {uci}{}", self.expects(&uci)),
        };
        if self.now("byte-by-byte") {
            self.flush();
            for byte in line.bytes().chain([b'\n']) {
                self.write(&[byte]);
                self.flush();
                std::thread::yield_now();
            }
            return;
        }
        self.out.extend_from_slice(line.as_bytes());
        if !self.now("no-newline") {
            self.out.push(b'\n');
        }
        if self.now("two-bestmoves") {
            self.out.extend_from_slice(b"bestmove a1a1\n");
        }
        self.flush();
    }

    /// The word `ponder` and a move, if it is to name one.
    fn expects(&self, best: &str) -> String {
        let Some(seed) = self.settings.ponder else { return String::new() };
        if self.at_start("illegal-ponder") {
            return " ponder a1a1".into();
        }
        let best = best.parse::<UciMove>().ok().and_then(|uci| uci.to_move(&self.position).ok());
        let after = best.and_then(|best| self.position.clone().play(best).ok());
        let answer = after.filter(|after| !after.legal_moves().is_empty()).map(|after| {
            let moves = after.legal_moves();
            pick(moves.iter().collect(), hash(&after, seed)).to_uci(self.mode).to_string()
        });
        answer.map(|answer| format!(" ponder {answer}")).unwrap_or_default()
    }

    fn choose(&self) -> String {
        let moves = self.position.legal_moves();
        if moves.is_empty() {
            return "(none)".into();
        }
        let other = match self.mode {
            CastlingMode::Standard => CastlingMode::Chess960,
            CastlingMode::Chess960 => CastlingMode::Standard,
        };
        if self.now("castling-other-notation")
            && let Some(castling) = moves.iter().find(|m| m.is_castle())
        {
            return castling.to_uci(other).to_string();
        }
        if self.now("promo-without-piece")
            && let Some(promotion) = moves.iter().find(|m| m.promotion().is_some())
        {
            let mut uci = promotion.to_uci(self.mode).to_string();
            uci.truncate(4);
            return uci;
        }
        let mates = |m: &&Move| self.position.clone().play(**m).is_ok_and(|after| after.is_checkmate());
        if self.wants_mate
            && let Some(mate) = moves.iter().find(mates)
        {
            return mate.to_uci(self.mode).to_string();
        }
        let allowed =
            |m: &&Move| self.searchmoves.is_empty() || self.searchmoves.contains(&m.to_uci(self.mode).to_string());
        let mut sorted: Vec<&Move> = moves.iter().filter(allowed).collect();
        if sorted.is_empty() {
            sorted = moves.iter().collect();
        }
        pick(sorted, self.hash()).to_uci(self.mode).to_string()
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

fn hash(position: &Chess, seed: u64) -> u64 {
    mix(position.zobrist_hash::<Zobrist64>(EnPassantMode::Legal).0 ^ mix(seed))
}

/// The move of some, at least one, that a hash stands for.
fn pick(mut moves: Vec<&Move>, hash: u64) -> &Move {
    moves.sort_by_key(|m| (m.from().map(u32::from), u32::from(m.to()), m.promotion()));
    moves[usize::try_from(hash % moves.len() as u64).expect("an index")]
}

/// The mover's material less the other side's, in centipawns.
fn material(position: &Chess) -> i64 {
    let side = |color: Color| -> i64 {
        [(Role::Pawn, 100), (Role::Knight, 300), (Role::Bishop, 300), (Role::Rook, 500), (Role::Queen, 900)]
            .iter()
            .map(|&(role, value)| {
                let count = (position.board().by_color(color) & position.board().by_role(role)).count();
                i64::try_from(count).expect("at most 64") * value
            })
            .sum()
    };
    side(position.turn()) - side(!position.turn())
}

/// The finaliser of SplitMix64 (Steele, Lea, Flood 2014).
fn mix(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
