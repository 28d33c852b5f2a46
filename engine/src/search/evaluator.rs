//! Evaluator of a search: the classical evaluation or a network.

use crate::board::Board;
use crate::eval;
use crate::nnue::{Accumulators, Counters, Network, embedded};
use crate::types::{Move, Piece, Score, Square};
use std::sync::Arc;

/// Choice of evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EvalMode {
    /// Classical evaluation of weighted terms, [`crate::eval`].
    Classical,
    /// Neural network, [`crate::nnue`].
    Nnue,
}

impl EvalMode {
    /// Both modes.
    pub const ALL: [EvalMode; 2] = [EvalMode::Classical, EvalMode::Nnue];

    /// Returns the name used in the UCI options.
    pub const fn name(self) -> &'static str {
        match self {
            EvalMode::Classical => "classical",
            EvalMode::Nnue => "nnue",
        }
    }
}

/// Configuration of the evaluation. All threads of a search share one network.
#[derive(Debug, Clone)]
pub struct EvalConfig {
    /// Evaluation in use.
    pub mode: EvalMode,
    /// Network; `None` for the embedded one.
    pub network: Option<Arc<Network>>,
}

impl Default for EvalConfig {
    /// Uses the built-in network, or the classical evaluation if there is none.
    fn default() -> EvalConfig {
        let network = embedded();
        let mode = if network.is_some() { EvalMode::Nnue } else { EvalMode::Classical };
        EvalConfig { mode, network }
    }
}

impl EvalConfig {
    /// Returns the network if there is one and it is selected.
    fn network_in_use(&self) -> Option<&Arc<Network>> {
        self.network.as_ref().filter(|_| self.mode == EvalMode::Nnue)
    }

    /// Formats both evaluations of a position for people: the classical terms, and the share of
    /// each piece in the network's value.
    pub fn describe(&self, board: &Board) -> String {
        let mut text = format!("classical: {} cp for the side to move\n", eval::evaluate(board));
        text += &terms_table(board);
        match &self.network {
            Some(network) => {
                let value = network.evaluate_alone(board);
                text += &format!("nnue: {value} cp for the side to move, {}\n", network.layout().describe());
                text += &shares_diagram(network, board);
            }
            None => text += "nnue: no network, see the option EvalFile",
        }
        text
    }
}

/// Formats a table of the classical terms: both sides by game phase, and White's less Black's at
/// the present phase.
fn terms_table(board: &Board) -> String {
    let mut text =
        format!("{:<22} {:>7} {:>7} {:>7} {:>7} {:>7}\n", "term, cp", "W mg", "W eg", "B mg", "B eg", "W - B");
    for term in eval::terms(board) {
        let name = term.name.to_lowercase().replace('_', " ");
        let [white, black] = term.sides;
        let cells = [white.mg(), white.eg(), black.mg(), black.eg(), term.value];
        text += &format!("{name:<22} {}\n", cells.map(|cell| format!("{cell:>7}")).join(" "));
    }
    text
}

/// Draws the board with the share of each piece in the network's evaluation below it, in centipawns
/// for White.
fn shares_diagram(network: &Network, board: &Board) -> String {
    let shares = network.piece_shares(board);
    let mut text = "share of each piece (change of the evaluation by taking it off), cp for White\n".to_owned();
    for rank in (0..8).rev() {
        let squares = (0..8).map(|file| Square::at(file, rank));
        let (pieces, values): (Vec<String>, Vec<String>) = squares
            .map(|square| {
                let letter = board.piece_at(square).map_or('.', Piece::letter);
                let share = shares.iter().find(|(at, _)| *at == square);
                (format!("{letter:>6}"), share.map_or(format!("{:>6}", ""), |(_, share)| format!("{share:>+6}")))
            })
            .unzip();
        text += &format!("{} {}\n", rank + 1, pieces.concat());
        text += format!("  {}", values.concat()).trim_end();
        text += "\n";
    }
    text += "       a     b     c     d     e     f     g     h";
    text
}

/// Evaluator of one thread's search.
///
/// It follows the line: [`Self::reset`] at its start, [`Self::push`] and [`Self::pop`] for each
/// move. Null moves need no call, because they change no input.
pub struct Evaluator {
    classical: eval::ClassicalEvaluator,
    /// Accumulators, if a network is in use.
    nnue: Option<Accumulators>,
    /// Observer of all evaluations; `None` in play.
    pub observer: Option<EvaluationObserver>,
}

/// Function that is called with each evaluated position and its value in centipawns, from the side
/// to move's view.
pub type EvaluationObserver = Box<dyn FnMut(&Board, Score) + Send>;

impl Evaluator {
    /// Creates an evaluator with the default [`EvalConfig`].
    pub fn new() -> Evaluator {
        let mut evaluator = Evaluator { classical: eval::ClassicalEvaluator::new(), nnue: None, observer: None };
        evaluator.configure(&EvalConfig::default());
        evaluator
    }

    /// Switches the evaluation.
    pub fn configure(&mut self, config: &EvalConfig) {
        self.nnue = config.network_in_use().map(|network| Accumulators::new(Arc::clone(network)));
    }

    /// Clears the caches.
    pub fn clear(&mut self) {
        self.classical.clear();
    }

    /// Returns the accumulator statistics since [`Self::configure`]; `None` without a network.
    pub fn nnue_counters(&self) -> Option<Counters> {
        self.nnue.as_ref().map(Accumulators::counters)
    }

    /// Starts a line at a position.
    pub fn reset(&mut self, board: &Board) {
        if let Some(nnue) = &mut self.nnue {
            nnue.reset(board);
        }
    }

    /// Follows a legal move from the current position.
    #[inline]
    pub fn push(&mut self, board: &Board, mv: Move) {
        if let Some(nnue) = &mut self.nnue {
            nnue.push(board, mv);
        }
    }

    /// Takes back the last move.
    #[inline]
    pub fn pop(&mut self) {
        if let Some(nnue) = &mut self.nnue {
            nnue.pop();
        }
    }

    /// Returns the value of the current position in centipawns, from the side to move's view. It is
    /// far below the mate scores.
    #[inline]
    pub fn evaluate(&mut self, board: &Board) -> Score {
        let value = match &mut self.nnue {
            Some(nnue) => nnue.evaluate(board),
            None => self.classical.evaluate(board),
        };
        if let Some(observer) = &mut self.observer {
            observer(board, value);
        }
        value
    }
}

impl Default for Evaluator {
    fn default() -> Evaluator {
        Evaluator::new()
    }
}
