//! Searches: faults, thinking time, waiting, `info` and `bestmove`.

use std::io::{self, BufRead, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use shakmaty::Position;

use super::{Engine, Next, park, system};
use crate::choice::material;

/// The file of `--hold` lets this game go on.
fn lets_on(file: &Path, game: u64) -> bool {
    std::fs::read_to_string(file).is_ok_and(|last| last.trim().parse().map_or(true, |last: u64| game <= last))
}

impl Engine {
    pub fn go(&mut self, rest: &str, input: &mut impl BufRead) -> Next {
        if let (Some(time), Some(depth)) = (self.settings.perft, rest.strip_prefix("perft ")) {
            let depth = depth.parse().unwrap_or(1);
            std::thread::sleep(if depth > 1 { time } else { Duration::ZERO });
            self.say(&format!("Nodes searched: {}", shakmaty::perft(&self.position, depth)));
            return Next::Continue;
        }
        let begun = Instant::now();
        self.gos += 1;
        if let Some(code) = self.break_down() {
            return Next::Exit(code);
        }
        if rest.starts_with("ponder") && self.now("exit-in-ponder") {
            return Next::Exit(3);
        }
        self.hold();
        self.think(begun);
        self.think_past_clock(begun, rest);
        if self.at_start("late-on-clock") && rest.contains("time") {
            std::thread::sleep(Duration::from_millis(1_000));
        }
        if self.at_start("die-on-mated") && self.position.legal_moves().is_empty() {
            return Next::Exit(0);
        }
        self.wants_mate = rest.starts_with("mate ");
        let says = |word: &str| rest.split_ascii_whitespace().any(|said| said == word);
        let waits = self.now("only-after-stop")
            || says("infinite") && !self.at_start("early-infinite")
            || says("ponder") && !self.at_start("early-ponder");
        let ignores = says("nodes") && self.at_start("ignores-nodes");
        if ignores {
            self.say("info depth 9 score cp 0 nodes 500000 time 9");
            self.flush();
        }
        if (waits || ignores) && !self.wait_for_stop(input) {
            return Next::Exit(0);
        }
        self.searchmoves = match rest.split_once("searchmoves ") {
            Some((_, moves)) if !self.at_start("no-searchmoves") => {
                moves.split_ascii_whitespace().map(str::to_owned).collect()
            }
            _ => Vec::new(),
        };
        if self.now("close-stdin") {
            system::close_stdin();
        }
        match self.settings.grows {
            _ if self.at_start("no-info") => {}
            Some(factor) => self.print_iterations(factor, rest),
            None => self.print_info(begun),
        }
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
        if self.now("exit-in-search") || self.crashes() {
            let _ = writeln!(io::stderr(), "assertion failed: depth > 0");
            return Some(3);
        }
        if self.now("abort") {
            std::process::abort();
        }
        if self.now("kill-harness") {
            system::kill_parent();
        }
        if self.now("stop-harness") {
            // While this engine thinks on.
            system::stop_parent();
        }
        if self.now("segv") {
            system::segv();
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
            system::close_stdout();
            park();
        }
        None
    }

    /// Waits for the file that `--hold` names. The kernel ends it with the harness.
    fn hold(&self) {
        let Some((file, game)) = &self.settings.hold else { return };
        if self.games < *game || lets_on(file, self.games) {
            return;
        }
        // For tests that must know that a game is being played.
        std::fs::write(file.with_extension("reached"), "").expect("a folder of the test");
        while !lets_on(file, self.games) {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn think(&self, begun: Instant) {
        if !self.settings.sleep.is_zero() {
            std::thread::sleep(self.settings.sleep);
        }
        while begun.elapsed() < self.settings.spin {
            std::hint::spin_loop();
        }
    }

    /// Spins until so long after its own clock is at zero, by the wall clock, as engines do.
    fn think_past_clock(&self, begun: Instant, rest: &str) {
        let Some(past) = self.settings.past_clock else { return };
        let own = if self.position.turn().is_white() { "wtime" } else { "btime" };
        let mut words = rest.split_ascii_whitespace();
        let clock =
            words.find(|word| *word == own).and_then(|_| words.next()).and_then(|time| time.parse::<i64>().ok());
        let until = clock.map_or(0, |clock| u64::try_from(clock.saturating_add(past)).unwrap_or(0));
        while begun.elapsed() < Duration::from_millis(until) {
            std::hint::spin_loop();
        }
    }

    fn wait_for_stop(&mut self, input: &mut impl BufRead) -> bool {
        let mut line = String::new();
        let mut is_told_again = false;
        loop {
            line.clear();
            match input.read_line(&mut line) {
                Ok(count) if count > 0 => match line.trim() {
                    "stop" if self.at_start("no-stop") => {}
                    "stop" if self.at_start("late-stop") && !is_told_again => is_told_again = true,
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

    /// Prints the iterations of a tree that grows by a factor a ply, up to the limit of `go`. Each
    /// position has a size of its own, and one of eleven is a mate. Threads share the time.
    fn print_iterations(&mut self, factor: f64, rest: &str) {
        let limit = |word: &str| {
            let mut words = rest.split_ascii_whitespace().skip_while(|said| *said != word).skip(1);
            words.next().and_then(|number| number.parse::<u32>().ok())
        };
        let (depth, most) = (limit("depth").unwrap_or(64), f64::from(limit("nodes").unwrap_or(u32::MAX)));
        let threads = self.tuned("Threads").unwrap_or(1.0);
        let size = 100.0 + (self.mix_of_position() % 50) as f64;
        let is_mate = self.mix_of_position().is_multiple_of(11);
        for depth in 1..=depth {
            let nodes = size * factor.powi(depth.try_into().unwrap_or(i32::MAX));
            let cut = nodes > most;
            let nodes = nodes.min(most);
            let score = if is_mate && depth > 2 { "mate 3".to_owned() } else { self.score() };
            let time =
                if self.at_start("no-time") { String::new() } else { format!(" time {:.0}", nodes / threads / 10.0) };
            let count = if self.at_start("no-nodes") { String::new() } else { format!(" nodes {nodes:.0}") };
            self.say(&format!("info depth {depth} score {score}{count}{time}"));
            if cut {
                break;
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
        let nodes = match () {
            () if self.settings.clock => begun.elapsed().as_micros(),
            () if self.at_start("overcounts-nodes") || self.at_start("ignores-nodes") => 500_000,
            () if self.now("overuses-nodes") => 20_000,
            () => 1,
        };
        let depth = if self.now("overuses-depth") { 12 } else { 1 };
        let score = self.score();
        let pv = self.settings.pv.as_ref().map(|pv| format!(" pv {}", pv.replace("BEST", &self.choose())));
        let pv = if self.at_start("illegal-pv") { " pv a1a1".to_owned() } else { pv.unwrap_or_default() };
        // A machine of this speed, by the environment that its owner gives to the engine.
        let (nodes, time) = match std::env::var("FAKE_NPS").ok().and_then(|nps| nps.parse().ok()) {
            Some(nps) => (nps, 1_000),
            None => (nodes, begun.elapsed().as_millis()),
        };
        self.say(&format!("info depth {depth} score {score} nodes {nodes} time {time}{pv}"));
    }

    fn score(&self) -> String {
        if self.mix_of_game() % 100 < self.settings.resigns || self.is_hopeless() {
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
}
