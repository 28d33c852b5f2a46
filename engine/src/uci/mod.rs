//! The UCI protocol: one thread reads commands, another searches ([`engine`]).
//!
//! Reading order: `command.rs` (what a GUI says), `options.rs`, this file (what is done about it), `engine.rs`, `format.rs`
//! (what is answered). Nothing a GUI sends stops the session but `quit` and the end of the input.

mod command;
mod engine;
mod format;
mod options;
mod output;

use crate::board::Board;
use crate::nnue::{self, embedded};
use crate::search::time::{self, Clock, TimeBudget};
use crate::search::{EvalConfig, EvalMode, Game, Limits};
use crate::types::{Color, Move};
use command::{Command, Go};
use engine::{Engine, Task};
use options::{DEFAULT_HASH_MIB, Effect, Options};
use output::Output;
use std::io::{self, BufRead, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// Name and version.
pub const NAME: &str = concat!("Destrier ", env!("CARGO_PKG_VERSION"));

/// Speaks UCI until `quit` or the end of the input.
///
/// # Errors
/// When the input cannot be read, or no memory or thread can be had at the start.
pub fn run(mut input: impl BufRead, output: impl Write + Send + 'static) -> io::Result<()> {
    let output = Output::new(output);
    let mut session = Session {
        engine: Engine::start(DEFAULT_HASH_MIB, output.clone())?,
        output,
        options: Options::default(),
        evaluation: EvalConfig::default(),
        game: Game::new(Board::startpos()),
    };
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? > 0 {
        let read_at = Instant::now();
        let keep_on = session.hear(&String::from_utf8_lossy(&line), read_at);
        if !keep_on {
            break;
        }
        line.clear();
    }
    Ok(())
}

struct Session {
    engine: Engine,
    output: Output,
    options: Options,
    evaluation: EvalConfig,
    game: Game,
}

impl Session {
    /// Acts on a line; false when it was the last.
    fn hear(&mut self, line: &str, read_at: Instant) -> bool {
        let command = match command::parse(line) {
            None => return true,
            Some(Ok(command)) => command,
            Some(Err(message)) => {
                self.output.remark(&message);
                return true;
            }
        };
        match command {
            Command::Uci => {
                let text = format!("id name {NAME}\nid author the Quintain authors\n{}uciok", options::list());
                self.output.line(&text);
            }
            Command::IsReady => self.output.line("readyok"),
            Command::NewGame => self.engine.new_game(),
            Command::SetOption { name, value } => self.set_option(&name, value.as_deref()),
            Command::Position { fen, moves } => match set_up(fen.as_deref(), &moves) {
                Ok(game) => self.game = game,
                Err(message) => self.output.remark(&message),
            },
            Command::Go(go) => self.go(&go, read_at),
            Command::Stop => self.engine.stop(),
            Command::PonderHit => self.engine.ponder_hit(),
            Command::Display => self.output.line(&format::display(self.game.board(), self.options.chess960)),
            Command::Eval => self.output.line(&self.evaluation.describe(self.game.board())),
            Command::Ignored => {}
            Command::Quit => return false,
        }
        true
    }

    fn set_option(&mut self, name: &str, value: Option<&str>) {
        match self.options.set(name, value) {
            Ok(Effect::Nothing) => {}
            Ok(Effect::ClearHash) => self.engine.clear_hash(),
            Ok(Effect::ResizeHash { mib }) => {
                if self.engine.resize_hash(mib).is_err() {
                    self.output.remark(&format!("setoption: no memory for a hash of {mib} MiB, the old one stays"));
                }
            }
            Ok(Effect::SetEvalMode(mode)) => self.set_eval_mode(mode),
            Ok(Effect::LoadNetwork(path)) => self.load_network(path.as_deref()),
            Err(message) => self.output.remark(&message),
        }
    }

    fn set_eval_mode(&mut self, mode: EvalMode) {
        self.evaluation.mode = mode;
        if mode == EvalMode::Nnue && self.evaluation.network.is_none() {
            self.output
                .remark("EvalMode: there is no network yet, the evaluation stays classical until EvalFile names one");
        }
        self.engine.set_evaluation(self.evaluation.clone());
    }

    /// Takes the network of a file, or the one that is built in.
    fn load_network(&mut self, path: Option<&Path>) {
        let network = match path.map(nnue::read_file) {
            None => embedded(),
            Some(Ok(network)) => Some(Arc::new(network)),
            Some(Err(error)) => {
                let path = path.unwrap_or(Path::new("")).display();
                self.output.remark(&format!("EvalFile: `{path}` {error}; the old evaluation stays"));
                return;
            }
        };
        if let Some(network) = &network {
            let unused =
                if self.evaluation.mode == EvalMode::Classical { ", not used while EvalMode is classical" } else { "" };
            self.output.remark(&format!("EvalFile: network {}{unused}", network.layout().describe()));
        }
        self.evaluation.network = network;
        self.engine.set_evaluation(self.evaluation.clone());
    }

    fn go(&mut self, go: &Go, start: Instant) {
        for complaint in &go.complaints {
            self.output.remark(complaint);
        }
        let board = self.game.board();
        let limits = Limits {
            budget: self.time_budget(go),
            depth: go.depth,
            nodes: go.nodes,
            soft_nodes: None,
            mate: go.mate,
            search_moves: self.search_moves(board, &go.search_moves),
        };
        self.engine.go(Task {
            game: self.game.clone(),
            limits,
            start,
            infinite: go.is_unlimited(),
            ponder: go.ponder,
            perft: go.perft,
            chess960: self.options.chess960,
        });
    }

    fn search_moves(&self, board: &Board, words: &[String]) -> Vec<Move> {
        let legal = |word: &String| {
            let mv = board.parse_uci(word);
            if mv.is_none() {
                self.output.remark(&format!("go: `{word}` of `searchmoves` is not legal here"));
            }
            mv
        };
        words.iter().filter_map(legal).collect()
    }

    /// None when nothing is said about time.
    fn time_budget(&self, go: &Go) -> Option<TimeBudget> {
        let overhead = self.options.move_overhead;
        if go.infinite {
            return None;
        }
        if let Some(time) = go.move_time {
            return Some(time::fixed(time, overhead));
        }
        let us = match self.game.board().turn() {
            Color::White => 0,
            Color::Black => 1,
        };
        let clock = Clock { remaining: go.time[us]?, increment: go.increment[us], moves_to_go: go.moves_to_go };
        Some(time::budget(clock, overhead))
    }
}

/// The game that `position` describes.
fn set_up(fen: Option<&str>, moves: &[String]) -> Result<Game, String> {
    let board = match fen {
        None => Board::startpos(),
        Some(fen) => Board::from_fen(fen).map_err(|error| format!("position: {error}"))?,
    };
    let mut game = Game::new(board);
    for (index, word) in moves.iter().enumerate() {
        let mv = game.board().parse_uci(word);
        let mv =
            mv.ok_or_else(|| format!("position: move {} `{word}` is not legal, position not changed", index + 1))?;
        game.play(mv);
    }
    Ok(game)
}
