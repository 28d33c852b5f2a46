//! UCI protocol: one thread reads commands, another searches (`engine`).
//!
//! Reading order: `command.rs` (the input), `options.rs`, this file (the session), `engine.rs`,
//! `format.rs` (the output). Only `quit`, the end of the input, or a `go` without the requested
//! network ends the session. Moves from another evaluation would be mistaken for those of that
//! network.

mod command;
mod engine;
mod format;
mod options;
mod output;
pub mod wdl;

use crate::board::Board;
use crate::nnue::{self, embedded};
use crate::search::tablebase::Tablebases;
use crate::search::time::{self, Clock, TimeBudget};
use crate::search::{EvalConfig, EvalMode, Game, Limits, Searcher};
use crate::types::{Color, Move};
use command::{Command, Go};
use engine::{Engine, Task};
use options::{DEFAULT_HASH_MIB, Effect, Options};
use output::Output;
use std::io::{self, BufRead, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Name and version.
pub const NAME: &str = concat!("Destrier ", env!("CARGO_PKG_VERSION"));

/// Speaks UCI until `quit` or the end of the input.
///
/// # Errors
/// Returns an error if the input cannot be read, or if memory or a thread is not available at the
/// start. Also if a search is requested after a network failed to load.
pub fn run(mut input: impl BufRead, output: impl Write + Send + 'static) -> io::Result<()> {
    let output = Output::new(output);
    let mut session = Session {
        engine: Engine::start(DEFAULT_HASH_MIB, output.clone())?,
        output,
        options: Options::default(),
        evaluation: EvalConfig::default(),
        network_error: None,
        game: Ok(Game::new(Board::startpos())),
    };
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? > 0 {
        let read_at = Instant::now();
        match session.hear(&String::from_utf8_lossy(&line), read_at) {
            SessionFlow::Line => line.clear(),
            SessionFlow::End => break,
            SessionFlow::Fail(message) => return Err(io::Error::other(message)),
        }
    }
    Ok(())
}

/// State of the session after a line.
enum SessionFlow {
    /// The session reads the next line.
    Line,
    /// The session ends.
    End,
    /// The session ends because the engine cannot do what was requested.
    Fail(String),
}

struct Session {
    engine: Engine,
    output: Output,
    options: Options,
    evaluation: EvalConfig,
    /// Reason why the last requested network could not be loaded.
    network_error: Option<String>,
    /// Game of the last `position`, or the reason why it was refused.
    game: Result<Game, String>,
}

impl Session {
    /// Handles a line.
    fn hear(&mut self, line: &str, read_at: Instant) -> SessionFlow {
        let command = match command::parse(line) {
            None => return SessionFlow::Line,
            Some(Ok(command)) => command,
            Some(Err(message)) => {
                self.output.remark(&message);
                return SessionFlow::Line;
            }
        };
        match command {
            Command::Uci => {
                let text = format!("id name {NAME}\nid author the Quintain authors\n{}uciok", options::list());
                self.output.line(&text);
            }
            Command::IsReady => self.output.line("readyok"),
            Command::NewGame => self.change("ucinewgame", |searcher| {
                searcher.new_game();
                Ok(())
            }),
            Command::SetOption { name, value } => self.set_option(&name, value.as_deref()),
            Command::Position { fen, moves } => self.take_position(set_up(fen.as_deref(), &moves)),
            Command::BadPosition(message) => self.take_position(Err(message)),
            Command::Go(go) => return self.go(&go, read_at),
            Command::Stop => self.engine.stop(),
            Command::PonderHit => self.engine.ponder_hit(),
            Command::Display => self.show(|board| format::display(board, self.options.chess960)),
            Command::Eval => self.show(|board| self.evaluation.describe(board)),
            Command::Ignored => {}
            Command::Quit => return SessionFlow::End,
        }
        SessionFlow::Line
    }

    /// Sets the position, or reports why it is refused. The previous position is dropped, because
    /// an answer for it would be taken for one to the position that was sent.
    fn take_position(&mut self, game: Result<Game, String>) {
        if let Err(message) = &game {
            self.output.remark(message);
        }
        self.game = game;
    }

    /// Prints something about the board, or the reason why there is none.
    fn show(&self, text: impl FnOnce(&Board) -> String) {
        match &self.game {
            Ok(game) => self.output.line(&text(game.board())),
            Err(message) => self.output.error(&refused(message)),
        }
    }

    fn set_option(&mut self, name: &str, value: Option<&str>) {
        if self.engine.is_searching() {
            self.output.remark(&format!("setoption: `{name}` not changed during a search, send `stop` first"));
            return;
        }
        // A stopped search may still be about to answer.
        self.engine.finish();
        match self.options.set(name, value) {
            Ok(Effect::Nothing) => {}
            Ok(Effect::ClearHash) => self.change("setoption", |searcher| {
                searcher.clear_hash();
                Ok(())
            }),
            Ok(Effect::ResizeHash { mib }) => self.change("setoption", move |searcher| {
                let message = |error| format!("no memory for a hash of {mib} MiB, the old one stays: {error}");
                searcher.set_hash(mib).map_err(message)
            }),
            Ok(Effect::SetThreads { threads }) => self.change("setoption", move |searcher| {
                let result = searcher.set_threads(threads);
                result.map_err(|error| format!("only {} threads, no more can be had: {error}", searcher.threads()))
            }),
            Ok(Effect::SetProbing(probing)) => self.change("setoption", move |searcher| {
                searcher.set_probing(probing);
                Ok(())
            }),
            Ok(Effect::OpenTables { path }) => self.open_tables(&path),
            Ok(Effect::SetEvalMode(mode)) => self.set_eval_mode(mode),
            Ok(Effect::LoadNetwork(path)) => self.load_network(path.as_deref()),
            Err(message) => self.output.remark(&message),
        }
    }

    fn set_eval_mode(&mut self, mode: EvalMode) {
        self.evaluation.mode = mode;
        if mode == EvalMode::Nnue && self.evaluation.network.is_none() {
            self.output.remark("EvalMode: there is no network, and no search until EvalFile names one that loads");
        }
        self.evaluate_anew();
    }

    /// Loads a network file or the embedded network. If the file cannot be loaded there is no
    /// network: a search with the previous one would be taken for one with the requested network.
    fn load_network(&mut self, path: Option<&Path>) {
        self.network_error = None;
        let network = match path.map(nnue::read_file) {
            None => embedded(),
            Some(Ok(network)) => Some(Arc::new(network)),
            Some(Err(error)) => {
                let message = format!("EvalFile: `{}` {error}", path.unwrap_or(Path::new("")).display());
                self.output.remark(&format!("{message}; there is no network until EvalFile names one that loads"));
                self.network_error = Some(message);
                None
            }
        };
        if let Some(network) = &network {
            let unused =
                if self.evaluation.mode == EvalMode::Classical { ", not used while EvalMode is classical" } else { "" };
            self.output.remark(&format!("EvalFile: network {}{unused}", network.layout().describe()));
        }
        self.evaluation.network = network;
        self.evaluate_anew();
    }

    /// Passes the evaluation to the searcher.
    fn evaluate_anew(&mut self) {
        let config = self.evaluation.clone();
        self.change("setoption", move |searcher| {
            searcher.set_evaluation(&config);
            Ok(())
        });
    }

    /// Opens the tablebases of these folders; on an error there are none.
    fn open_tables(&mut self, path: &str) {
        let tables = match path {
            "" | options::EMPTY => None,
            path => match Tablebases::open(path) {
                Ok(tables) => {
                    let (count, men) = (tables.count(), tables.most_men());
                    self.output.remark(&format!("{count} endgame tables of up to {men} men"));
                    Some(Arc::new(tables))
                }
                Err(error) => {
                    self.output.remark(&format!("setoption: SyzygyPath: {error}"));
                    None
                }
            },
        };
        self.change("setoption", |searcher| {
            searcher.set_tablebases(tables);
            Ok(())
        });
    }

    /// Changes the searcher between two searches.
    fn change(&mut self, command: &str, change: impl FnOnce(&mut Searcher) -> Result<(), String> + Send + 'static) {
        if let Err(message) = self.engine.change(change) {
            self.output.remark(&format!("{command}: {message}"));
        }
    }

    /// Starts a search, unless the requested position or network is missing.
    fn go(&mut self, go: &Go, start: Instant) -> SessionFlow {
        for complaint in &go.complaints {
            self.output.remark(complaint);
        }
        let game = match &self.game {
            Ok(game) => game,
            Err(message) => {
                self.engine.finish();
                self.output.error(&refused(message));
                if go.perft.is_none() {
                    self.output.line("bestmove (none)");
                }
                return SessionFlow::Line;
            }
        };
        if go.perft.is_none() && self.evaluation.mode == EvalMode::Nnue && self.evaluation.network.is_none() {
            self.engine.finish();
            let reason = self.network_error.as_deref().unwrap_or("EvalMode is nnue and there is no network");
            let message = format!("{reason}; name a network that loads with EvalFile, or set EvalMode to classical");
            self.output.error(&message);
            return SessionFlow::Fail(message);
        }
        let board = game.board();
        let limits = Limits {
            budget: self.time_budget(go, board.turn()),
            depth: go.depth,
            nodes: go.nodes,
            soft_nodes: None,
            mate: go.mate,
            lines: self.options.lines,
            search_moves: self.search_moves(board, &go.search_moves),
        };
        self.engine.go(Task {
            game: game.clone(),
            limits,
            start,
            infinite: go.is_unlimited(),
            ponder: go.ponder,
            perft: go.perft,
            chess960: self.options.chess960,
            show_wdl: self.options.show_wdl,
            strength: self.options.strength().filter(|_| !go.is_unlimited()),
        });
        SessionFlow::Line
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

    /// Returns the time budget; `None` if the command gives no time.
    fn time_budget(&self, go: &Go, turn: Color) -> Option<TimeBudget> {
        let overhead = self.options.move_overhead;
        if go.infinite {
            return None;
        }
        let us = match turn {
            Color::White => 0,
            Color::Black => 1,
        };
        let on_clock = |remaining| {
            let clock = Clock { remaining, increment: go.increment[us], moves_to_go: go.moves_to_go };
            time::budget(clock, overhead)
        };
        if let Some(time) = go.move_time {
            let fixed = time::fixed(time, overhead);
            let hard = go.time[us].map_or(fixed.hard, |remaining| fixed.hard.min(on_clock(remaining).hard));
            return Some(TimeBudget { soft: hard, hard, ..fixed });
        }
        let has_other_limit = go.depth.is_some() || go.nodes.is_some() || go.mate.is_some();
        let remaining = match go.time[us] {
            Some(remaining) => remaining,
            None if go.time[1 - us].is_none() || has_other_limit => return None,
            None => {
                let key = ["wtime", "btime"][us];
                self.output.remark(&format!("go: no `{key}` for the side to move, its clock is taken to be empty"));
                Duration::ZERO
            }
        };
        Some(on_clock(remaining))
    }
}

/// Formats the message about a refused position.
fn refused(reason: &str) -> String {
    format!("the last `position` was refused ({reason}); send another")
}

/// Builds the game described by `position`.
fn set_up(fen: Option<&str>, moves: &[String]) -> Result<Game, String> {
    let board = match fen {
        None => Board::startpos(),
        Some(fen) => Board::from_fen(fen).map_err(|error| format!("position: {error}"))?,
    };
    let mut game = Game::new(board);
    for (index, word) in moves.iter().enumerate() {
        let mv = game.board().parse_uci(word);
        let mv = mv.ok_or_else(|| format!("position: move {} `{word}` is not legal", index + 1))?;
        game.play(mv);
    }
    Ok(game)
}
