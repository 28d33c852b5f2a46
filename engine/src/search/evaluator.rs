//! The evaluation a search uses: the classical one or a network.

use crate::board::Board;
use crate::eval;
use crate::nnue::{Accumulators, Counters, Network, embedded};
use crate::types::{Move, Score};
use std::sync::Arc;

/// Which evaluation is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EvalMode {
    /// Weighted terms, [`crate::eval`].
    Classical,
    /// A network, [`crate::nnue`].
    Nnue,
}

impl EvalMode {
    pub const ALL: [EvalMode; 2] = [EvalMode::Classical, EvalMode::Nnue];

    /// The name in the options.
    pub const fn name(self) -> &'static str {
        match self {
            EvalMode::Classical => "classical",
            EvalMode::Nnue => "nnue",
        }
    }
}

/// What to evaluate with. All threads of a search share one network.
#[derive(Debug, Clone)]
pub struct EvalConfig {
    pub mode: EvalMode,
    pub network: Option<Arc<Network>>,
}

impl Default for EvalConfig {
    /// The network that is built in; the classical evaluation when there is none.
    fn default() -> EvalConfig {
        let network = embedded();
        let mode = if network.is_some() { EvalMode::Nnue } else { EvalMode::Classical };
        EvalConfig { mode, network }
    }
}

impl EvalConfig {
    /// The network to use: none without one, and none when the classical evaluation is wanted.
    fn network_in_use(&self) -> Option<&Arc<Network>> {
        self.network.as_ref().filter(|_| self.mode == EvalMode::Nnue)
    }

    /// What both evaluations say of a position, for people.
    pub fn describe(&self, board: &Board) -> String {
        let classical = eval::evaluate(board);
        let nnue = match &self.network {
            Some(network) => {
                format!("{} cp for the side to move, {}", network.evaluate_alone(board), network.layout().describe())
            }
            None => "no network, see the option EvalFile".to_owned(),
        };
        format!("classical: {classical} cp for the side to move\nnnue: {nnue}")
    }
}

/// Evaluates the positions of one thread's search.
///
/// It follows the line: [`Self::reset`] where it begins, [`Self::push`] and [`Self::pop`] for each move but passed ones, which
/// change nothing it looks at.
pub struct Evaluator {
    classical: eval::Evaluator,
    /// When a network is in use.
    nnue: Option<Accumulators>,
}

impl Evaluator {
    /// With the default of [`EvalConfig`].
    pub fn new() -> Evaluator {
        let mut evaluator = Evaluator { classical: eval::Evaluator::new(), nnue: None };
        evaluator.configure(&EvalConfig::default());
        evaluator
    }

    /// Evaluates by other means from now on.
    pub fn configure(&mut self, config: &EvalConfig) {
        self.nnue = config.network_in_use().map(|network| Accumulators::new(Arc::clone(network)));
    }

    /// Forgets what is only remembered for speed.
    pub fn clear(&mut self) {
        self.classical.clear();
    }

    /// What the accumulators did since [`Self::configure`]; none without a network.
    pub fn nnue_counters(&self) -> Option<Counters> {
        self.nnue.as_ref().map(Accumulators::counters)
    }

    /// Begins a line at a position.
    pub fn reset(&mut self, board: &Board) {
        if let Some(nnue) = &mut self.nnue {
            nnue.reset(board);
        }
    }

    /// Follows a legal move from the position the line stands at.
    #[inline]
    pub fn push(&mut self, board: &Board, mv: Move) {
        if let Some(nnue) = &mut self.nnue {
            nnue.push(board, mv);
        }
    }

    /// Takes the last move back.
    #[inline]
    pub fn pop(&mut self) {
        if let Some(nnue) = &mut self.nnue {
            nnue.pop();
        }
    }

    /// The value in centipawns of the position the line stands at, from the side to move's view. Far inside the mate scores.
    #[inline]
    pub fn evaluate(&mut self, board: &Board) -> Score {
        match &mut self.nnue {
            Some(nnue) => nnue.evaluate(board),
            None => self.classical.evaluate(board),
        }
    }
}

impl Default for Evaluator {
    fn default() -> Evaluator {
        Evaluator::new()
    }
}
