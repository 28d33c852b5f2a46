//! Training on the CPU: each thread owns a slice of the neurons.
//!
//! All threads prepare a batch together, then each thread runs all positions through its own
//! neurons, forward and backward. Threads synchronise only where the sums of all neurons form a
//! position's output, once per round of a few tiles. Weights therefore need neither locks nor
//! atomics, and no gradients are merged. Sums are added in the order of the neurons, so the number
//! of threads changes no byte of the result.

use super::dispatch::Isa;
use super::head::{Head, Judgement, Loss};
use super::kernels::{Row, Step};
use super::network::{Parameters, Shape};
use super::shard::{ROWS, Shard};
use super::tile::{TILE, Tile};
use super::triplet::{TRIPLET, TripletLoss};
use bulletformat::ChessBoard;
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::sync::{Arc, Barrier, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Tiles between two synchronisations of the threads. With more of them, their activations leave
/// the L2 cache before the backward pass reads them.
const ROUND: usize = 2;

/// Positions between two synchronisations if they are triplets, so that none is in two rounds.
const TRIPLET_ROUND: usize = ROUND * TILE - ROUND * TILE % TRIPLET;

/// Batches queued for each thread.
const QUEUE: usize = 2;

/// Positions with the parameters of one training step.
#[derive(Debug, Clone)]
pub struct Batch {
    /// Positions of the batch.
    pub positions: Vec<ChessBoard>,
    /// Training method with the parameters of its loss.
    pub method: TrainingMethod,
    /// Parameters of the optimiser's step.
    pub step: Step,
}

/// Training method.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TrainingMethod {
    /// Each position has a target of its own.
    Eval(Loss),
    /// Each three positions are a triplet.
    Pqr(TripletLoss),
}

impl TrainingMethod {
    /// Returns the positions between two synchronisations of the threads.
    fn round(self, positions: usize) -> usize {
        match self {
            // The order of a whole batch is by output bucket and king buckets.
            TrainingMethod::Eval(_) => positions.next_multiple_of(ROUND * TILE).max(1),
            TrainingMethod::Pqr(_) => TRIPLET_ROUND,
        }
    }

    /// Returns the number of tiles of a batch.
    fn tiles(self, positions: usize) -> usize {
        let round = self.round(positions);
        positions / round * round.div_ceil(TILE) + (positions % round).div_ceil(TILE)
    }
}

/// Weights, and first and second moments of the optimiser.
pub type State = [Parameters; 3];

/// Network in training.
#[derive(Debug)]
pub struct Trainer {
    shape: Shape,
    isa: Isa,
    threads: usize,
    shards: Shards,
    head: Head,
}

/// Shards of the largest width that leaves work for several threads.
#[derive(Debug)]
enum Shards {
    By16(Vec<Shard<16>>),
    By32(Vec<Shard<32>>),
    By64(Vec<Shard<64>>),
}

/// Evaluates an expression for shards of any width.
macro_rules! with_shards {
    ($shards:expr, $name:ident => $body:expr) => {
        match $shards {
            Shards::By16($name) => $body,
            Shards::By32($name) => $body,
            Shards::By64($name) => $body,
        }
    };
}

impl Shards {
    fn new(shape: &Shape, state: [&Parameters; 3]) -> Shards {
        fn all<const N: usize>(shape: &Shape, state: [&Parameters; 3]) -> Vec<Shard<N>> {
            (0..shape.hidden / N).map(|index| Shard::new(shape, index, ROUND, state)).collect()
        }
        match shape.hidden {
            hidden if hidden % 128 == 0 => Shards::By64(all(shape, state)),
            hidden if hidden % 64 == 0 => Shards::By32(all(shape, state)),
            _ => Shards::By16(all(shape, state)),
        }
    }
}

impl Trainer {
    /// Creates a trainer from weights and moments with at most `threads` threads.
    pub fn new(shape: Shape, threads: usize, state: &State) -> Trainer {
        let [weights, momentum, velocity] = state;
        let head = Head::new(&shape, weights.head.clone(), momentum.head.clone(), velocity.head.clone());
        let shards = Shards::new(&shape, state.each_ref());
        let count = with_shards!(&shards, shards => shards.len());
        Trainer { shape, isa: Isa::detect(), threads: threads.clamp(1, count.max(1)), shards, head }
    }

    /// Returns the current weights and moments.
    pub fn state(&self) -> State {
        let mut state = [(); 3].map(|()| Parameters::zero(&self.shape));
        with_shards!(&self.shards, shards => shards.iter().for_each(|shard| shard.save(&self.shape, &mut state)));
        for (parameters, head) in state.iter_mut().zip([&self.head.weights, &self.head.momentum, &self.head.velocity]) {
            parameters.head.copy_from_slice(head);
        }
        state
    }

    /// Returns the shape of the network.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Sets the instruction set.
    #[cfg(test)]
    pub fn set_isa(&mut self, isa: Isa) {
        self.isa = isa;
    }

    /// Trains on batches of at most `largest` positions until `next` returns none. Passes the mean
    /// loss of each batch to `done`, in order.
    ///
    /// # Errors
    /// Returns the first error of `next`; the batches before it have been trained on.
    pub fn train<E>(
        &mut self,
        largest: usize,
        mut next: impl FnMut() -> Result<Option<Batch>, E>,
        mut done: impl FnMut(f64),
    ) -> Result<(), E> {
        let Trainer { shape, isa, threads, shards, head } = self;
        let (isa, threads) = (*isa, *threads);
        let trained = with_shards!(shards, shards => {
            let shared = SharedBuffers::new(shape, isa, threads, largest, shards.len());
            let share = shards.len().div_ceil(threads);
            let (report, losses) = channel();
            std::thread::scope(|scope| {
                let mut senders = Vec::with_capacity(threads);
                let mut workers = Vec::with_capacity(threads);
                for (thread, shards) in shards.chunks_mut(share).enumerate() {
                    let (sender, batches) = sync_channel::<Arc<Batch>>(QUEUE);
                    senders.push(sender);
                    let report = (thread == 0).then(|| report.clone());
                    let worker =
                        Worker { shared: &shared, thread, first: thread * share, shards, head: head.clone(), order: vec![] };
                    workers.push(scope.spawn(move || worker.run(&batches, report.as_ref())));
                }
                let mut feed = || -> Result<(), E> {
                    while let Some(batch) = next()? {
                        let batch = Arc::new(batch);
                        for sender in &senders {
                            // A worker that ended early has panicked; the join below resumes its
                            // panic.
                            let _ = sender.send(Arc::clone(&batch));
                        }
                        losses.try_iter().for_each(&mut done);
                    }
                    Ok(())
                };
                let fed = feed();
                drop((senders, report));
                losses.iter().for_each(&mut done);
                for (thread, worker) in workers.into_iter().enumerate() {
                    let trained = worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                    if thread == 0 {
                        *head = trained;
                    }
                }
                fed
            })
        });
        with_shards!(shards, shards => shards.iter_mut().for_each(Shard::settle));
        trained
    }

    /// Returns the network's output for each position before the sigmoid, from the side to move's
    /// view. An output of 1 is `scale` centipawns.
    pub fn outputs(&self, positions: &[ChessBoard]) -> Vec<f32> {
        let mut outputs = vec![0.0; positions.len()];
        let share = positions.len().div_ceil(self.threads).next_multiple_of(TILE);
        if share == 0 {
            return outputs;
        }
        with_shards!(&self.shards, shards => std::thread::scope(|scope| {
            for (positions, outputs) in positions.chunks(share).zip(outputs.chunks_mut(share)) {
                scope.spawn(|| self.outputs_of(shards, positions, outputs));
            }
        }));
        outputs
    }

    fn outputs_of<const N: usize>(&self, shards: &[Shard<N>], positions: &[ChessBoard], outputs: &mut [f32]) {
        let width = self.shape.sums();
        let mut tile = Tile::default();
        let mut rows = vec![Row::ZERO; ROWS * TILE];
        let (mut sums, mut total) = (vec![0.0; TILE * width], vec![0.0; TILE * width]);
        for (positions, outputs) in positions.chunks(TILE).zip(outputs.chunks_mut(TILE)) {
            let mut order: Vec<usize> = (0..positions.len()).collect();
            let bucket = |position: usize| self.shape.bucket(positions[position].occ.count_ones());
            order.sort_by_key(|&position| bucket(position));
            tile.fill(&self.shape.inputs, order.iter().map(|&i| (i as u32, &positions[i], bucket(i), 0.0)));
            let used = positions.len() * width;
            total.fill(0.0);
            for shard in shards {
                shard.forward_into(self.isa, &tile, &mut rows, &mut sums[..used]);
                total.iter_mut().zip(&sums[..used]).for_each(|(total, sum)| *total += sum);
            }
            for ((&place, &bucket), sums) in order.iter().zip(&tile.buckets).zip(total.chunks_exact(width)) {
                outputs[place] = self.head.forward(sums, usize::from(bucket));
            }
        }
    }
}

/// State shared by the threads.
#[derive(Debug)]
struct SharedBuffers<'a> {
    shape: &'a Shape,
    isa: Isa,
    threads: usize,
    tiles: Vec<RwLock<Tile>>,
    /// Sums by shard of the current and the previous round. Two buffers make one synchronisation
    /// per round enough.
    sums: [Vec<RwLock<Vec<f32>>>; 2],
    meeting: Barrier,
}

impl SharedBuffers<'_> {
    fn new(shape: &Shape, isa: Isa, threads: usize, largest: usize, shards: usize) -> SharedBuffers<'_> {
        let sums = || (0..shards).map(|_| RwLock::new(vec![0.0; ROUND * TILE * shape.sums()])).collect();
        let share = shards.div_ceil(threads);
        SharedBuffers {
            shape,
            isa,
            threads: shards.div_ceil(share),
            tiles: (0..largest.div_ceil(TRIPLET_ROUND) * ROUND).map(|_| RwLock::default()).collect(),
            sums: [sums(), sums()],
            meeting: Barrier::new(shards.div_ceil(share)),
        }
    }
}

fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}

/// Thread with its neurons and its own copy of the head.
struct Worker<'a, const N: usize> {
    shared: &'a SharedBuffers<'a>,
    thread: usize,
    /// Index of its first shard.
    first: usize,
    shards: &'a mut [Shard<N>],
    head: Head,
    /// Output bucket and king buckets of each position, and its place in the batch.
    order: Vec<([u8; 3], u32)>,
}

impl<const N: usize> Worker<'_, N> {
    fn run(mut self, batches: &Receiver<Arc<Batch>>, report: Option<&Sender<f64>>) -> Head {
        let mut totals = Vec::new();
        let mut slot = 0;
        for batch in batches {
            let count = batch.positions.len();
            if count == 0 {
                continue;
            }
            self.prepare(&batch);
            self.shared.meeting.wait();
            let mut loss = 0.0;
            let used = batch.method.tiles(count);
            for shard in self.shards.iter_mut() {
                for tile in &self.shared.tiles[..used] {
                    shard.bring_up(&read(tile));
                }
            }
            for round in (0..used).step_by(ROUND) {
                let tiles = round..used.min(round + ROUND);
                self.forward(tiles.clone(), slot);
                self.shared.meeting.wait();
                loss += self.judge(tiles.clone(), slot, &batch, &mut totals);
                self.backward(tiles, &totals);
                slot ^= 1;
            }
            self.head.step(&batch.step);
            for shard in self.shards.iter_mut() {
                shard.step(self.shared.isa, batch.step);
            }
            // Tiles may be refilled only after every thread has finished with them.
            self.shared.meeting.wait();
            let terms = if matches!(batch.method, TrainingMethod::Pqr(_)) { count / TRIPLET } else { count };
            if let Some(report) = report {
                // The receiver is gone if the caller stopped at an error.
                let _ = report.send(loss / terms.max(1) as f64);
            }
        }
        self.head
    }

    /// Fills this thread's share of the tiles with positions in order of their output buckets, then
    /// of their king buckets, so that a tile uses fewer rows of the first layer.
    fn prepare(&mut self, batch: &Batch) {
        let shape = self.shared.shape;
        self.order.clear();
        let keys = batch.positions.iter().map(|board| {
            let [ours, theirs] = shape.inputs.king_buckets_of(board);
            [shape.bucket(board.occ.count_ones()), ours, theirs]
        });
        self.order.extend(keys.zip(0..));
        let round = batch.method.round(batch.positions.len());
        self.order.chunks_mut(round).for_each(<[_]>::sort_unstable);
        let tiles = self.order.chunks(round).flat_map(|round| round.chunks(TILE)).zip(&self.shared.tiles);
        for (order, tile) in tiles.skip(self.thread).step_by(self.shared.threads) {
            let positions = order.iter().map(|&([bucket, ..], place)| {
                let board = &batch.positions[place as usize];
                let target = match batch.method {
                    TrainingMethod::Eval(loss) => loss.target(board.score, board.result),
                    TrainingMethod::Pqr(_) => 0.0,
                };
                (place, board, bucket, target)
            });
            write(tile).fill(&shape.inputs, positions);
        }
    }

    fn forward(&mut self, tiles: std::ops::Range<usize>, slot: usize) {
        let width = self.shared.shape.sums();
        for (number, shard) in self.shards.iter_mut().enumerate() {
            let mut sums = write(&self.shared.sums[slot][self.first + number]);
            for (place, tile) in self.shared.tiles[tiles.clone()].iter().enumerate() {
                let tile = read(tile);
                let from = place * TILE * width;
                shard.forward(self.shared.isa, place, &tile, &mut sums[from..from + tile.len() * width]);
            }
        }
    }

    /// Computes outputs and loss of a round; leaves the slopes of the sums in `totals`.
    fn judge(&mut self, tiles: std::ops::Range<usize>, slot: usize, batch: &Batch, totals: &mut Vec<f32>) -> f64 {
        let width = self.shared.shape.sums();
        totals.clear();
        totals.resize(ROUND * TILE * width, 0.0);
        for sums in &self.shared.sums[slot] {
            totals.iter_mut().zip(read(sums).iter()).for_each(|(total, sum)| *total += sum);
        }
        match batch.method {
            TrainingMethod::Eval(loss) => self.judge_positions(tiles, loss, 1.0 / batch.positions.len() as f32, totals),
            TrainingMethod::Pqr(loss) => self.judge_triplets(tiles, loss, batch.positions.len() / TRIPLET, totals),
        }
    }

    fn judge_positions(
        &mut self,
        tiles: std::ops::Range<usize>,
        form: Loss,
        per_position: f32,
        totals: &mut [f32],
    ) -> f64 {
        let width = self.shared.shape.sums();
        let mut loss = 0.0;
        for (tile, totals) in self.shared.tiles[tiles].iter().zip(totals.chunks_exact_mut(TILE * width)) {
            let (head, loss) = (&mut self.head, &mut loss);
            self.shared.isa.run(Judgement { head, tile: &read(tile), sums: totals, width, form, per_position, loss });
        }
        loss
    }

    /// Judges the triplets of a round. Their positions are in any of its tiles, so that all outputs
    /// come first. The loss is the mean over `triplets`.
    fn judge_triplets(
        &mut self,
        tiles: std::ops::Range<usize>,
        form: TripletLoss,
        triplets: usize,
        totals: &mut [f32],
    ) -> f64 {
        let width = self.shared.shape.sums();
        let first = tiles.start / ROUND * TRIPLET_ROUND;
        let mut values = vec![0.0; TRIPLET_ROUND];
        for (tile, totals) in self.shared.tiles[tiles.clone()].iter().zip(totals.chunks_exact(TILE * width)) {
            let tile = read(tile);
            let placed = tile.buckets.iter().zip(&tile.places);
            for ((&bucket, &place), sums) in placed.zip(totals.chunks_exact(width)) {
                values[place as usize - first] = self.head.forward(sums, usize::from(bucket));
            }
        }
        let count = self.shared.tiles[tiles.clone()].iter().map(|tile| read(tile).len()).sum::<usize>();
        let mut loss = 0.0;
        let per_triplet = 1.0 / triplets.max(1) as f32;
        for outputs in values[..count].as_chunks_mut::<TRIPLET>().0 {
            let (error, slopes) = form.of(*outputs);
            loss += f64::from(error);
            *outputs = slopes.map(|slope| slope * per_triplet);
        }
        for (tile, totals) in self.shared.tiles[tiles].iter().zip(totals.chunks_exact_mut(TILE * width)) {
            let tile = read(tile);
            let placed = tile.buckets.iter().zip(&tile.places);
            for ((&bucket, &place), sums) in placed.zip(totals.chunks_exact_mut(width)) {
                self.head.backward(sums, usize::from(bucket), values[place as usize - first]);
            }
        }
        loss
    }

    fn backward(&mut self, tiles: std::ops::Range<usize>, slopes: &[f32]) {
        let width = self.shared.shape.sums();
        for shard in self.shards.iter_mut() {
            for (place, tile) in self.shared.tiles[tiles.clone()].iter().enumerate() {
                let tile = read(tile);
                let from = place * TILE * width;
                shard.backward(self.shared.isa, place, &tile, &slopes[from..from + tile.len() * width]);
            }
        }
    }
}
