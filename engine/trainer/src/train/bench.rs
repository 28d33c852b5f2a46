//! Speed of training on random positions.

use super::features::Inputs;
use super::head::{ErrorForm, Loss};
use super::kernels::Step;
use super::network::{Parameters, Random, Shape};
use super::trainer::{Batch, Trainer, TrainingMethod};
use bulletformat::ChessBoard;
use destrier::nnue::Kind;
use destrier::nnue::sets::FeatureSet;
use std::convert::Infallible;
use std::time::Instant;

/// Positions per batch.
const BATCH: usize = 16384;

/// Speed in positions per second.
#[derive(Debug, Clone, Copy)]
pub struct Speed {
    /// Positions per second of wall-clock time.
    pub per_second: f64,
    /// Positions per second of processor time, summed over all threads. Other load on the machine
    /// affects it little.
    pub per_processor: f64,
}

/// Measures the training of a mirrored SCReLU network with eight output buckets, `hidden` neurons
/// per perspective and batches of 16,384 positions.
pub fn measure(hidden: usize, threads: usize, batches: usize) -> Speed {
    measure_kind(Kind::Screlu, hidden, threads, batches)
}

/// Measures the training like [`measure`], of a network of any kind.
pub fn measure_kind(kind: Kind, hidden: usize, threads: usize, batches: usize) -> Speed {
    let inputs = Inputs::new(true, [0; 32]);
    measure_shape(
        Shape { kind, hidden, inputs, output_buckets: kind.usual_output_buckets(), factorised: false },
        threads,
        batches,
    )
}

/// Measures the training like [`measure`], of a network with a feature set.
pub fn measure_set(set: &FeatureSet, hidden: usize, threads: usize, batches: usize) -> Speed {
    let inputs = Inputs::of_set(set.clone());
    measure_shape(Shape { kind: Kind::Screlu, hidden, inputs, output_buckets: 8, factorised: false }, threads, batches)
}

/// Measures the training like [`measure`], of a network of any shape.
pub(crate) fn measure_shape(shape: Shape, threads: usize, batches: usize) -> Speed {
    let zero = Parameters::zero(&shape);
    let weights = Parameters::random(&shape, 1);
    let mut trainer = Trainer::new(shape, threads, &[weights, zero.clone(), zero]);
    let positions = positions(BATCH);
    let loss = Loss { form: ErrorForm::Power(2.0), blend: 0.3, scale: 400.0, gain: 1.0 };
    let step =
        Step { rate: 1e-3, decay: 0.01, beta1: 0.9, beta2: 0.999, epsilon: 1e-8, clip: 1.98, clip_features: 1.98 };
    let mut left = batches;
    let next = || -> Result<Option<Batch>, Infallible> {
        left = match left.checked_sub(1) {
            None => return Ok(None),
            Some(left) => left,
        };
        Ok(Some(Batch { positions: positions.clone(), method: TrainingMethod::Eval(loss), step }))
    };
    let (begun, used) = (Instant::now(), processor_seconds());
    let Ok(()) = trainer.train(BATCH, next, |_| ());
    let trained = (batches * BATCH) as f64;
    Speed {
        per_second: trained / begun.elapsed().as_secs_f64().max(1e-9),
        per_processor: trained / (processor_seconds() - used).max(1e-9),
    }
}

/// Creates random positions, the same in each call.
pub(crate) fn positions(count: usize) -> Vec<ChessBoard> {
    let mut random = Random::new(1);
    (0..count).map(|_| position(&mut random)).collect()
}

/// Returns the processor time of this process over all threads, in seconds.
pub(crate) fn processor_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Creates a random position with 18 pieces on average, about as many pieces and pawns as in
/// positions of games.
fn position(random: &mut Random) -> ChessBoard {
    let mut squares: Vec<u8> = (0..64).collect();
    random.shuffle(&mut squares);
    let mut pieces = vec![(squares[0], 5), (squares[1], 13)];
    for &square in &squares[2..6 + random.below(25)] {
        let kind = if random.below(2) == 0 && (8..56).contains(&square) { 0 } else { 1 + random.below(4) as u8 };
        pieces.push((square, kind + 8 * random.below(2) as u8));
    }
    pieces.sort_unstable();
    let score = random.below(1000) as i16 - 500;
    let mut board = ChessBoard { ksq: squares[0], opp_ksq: squares[1] ^ 56, score, result: 1, ..ChessBoard::default() };
    for (place, &(square, piece)) in pieces.iter().enumerate() {
        board.occ |= 1 << square;
        board.pcs[place / 2] |= piece << (4 * (place % 2));
    }
    board
}
