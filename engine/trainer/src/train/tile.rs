//! Positions prepared for the kernels: inputs by position and, transposed, positions by input.

use super::features::Inputs;
use bulletformat::ChessBoard;
use destrier::nnue::sets::ActiveFeatures;

/// Positions per tile. Its activations of 64 neurons take 128 KiB, with their squares 256 KiB, so
/// they stay in the L2 cache.
pub const TILE: usize = 256;

/// Positions of a batch in order of their output buckets and king buckets.
///
/// Row `2 * position` is the perspective of the side to move, `2 * position + 1` that of the
/// opponent.
#[derive(Debug, Default)]
pub struct Tile {
    /// Inputs of all rows, concatenated.
    features: Vec<u16>,
    /// Start of the inputs of each row, and the end of the last one.
    starts: Vec<u32>,
    /// Rows grouped by input: `rows[lists[i].1 .. lists[i + 1].1]` hold input `lists[i].0`.
    rows: Vec<u16>,
    lists: Vec<(u16, u32)>,
    /// Output bucket of each position, in ascending order.
    pub buckets: Vec<u8>,
    /// Target of the output's sigmoid for each position, 0 to 1.
    pub targets: Vec<f32>,
    /// Place of each position in its batch.
    pub places: Vec<u32>,
    them: Vec<u16>,
    active: ActiveFeatures,
    counts: Vec<u32>,
}

impl Tile {
    /// Replaces the positions, each given with its place in the batch, output bucket and target.
    pub fn fill<'a>(&mut self, inputs: &Inputs, positions: impl Iterator<Item = (u32, &'a ChessBoard, u8, f32)>) {
        self.features.clear();
        self.starts.clear();
        self.buckets.clear();
        self.targets.clear();
        self.places.clear();
        self.starts.push(0);
        for (place, board, bucket, target) in positions {
            self.them.clear();
            inputs.append(board, &mut self.active, &mut self.features, &mut self.them);
            self.starts.push(self.features.len() as u32);
            self.features.extend_from_slice(&self.them);
            self.starts.push(self.features.len() as u32);
            self.buckets.push(bucket);
            self.targets.push(target);
            self.places.push(place);
        }
        self.turn_round(inputs.size());
    }

    /// Transposes the inputs by a counting sort of rows. The scatter of gradients becomes a gather
    /// with its sum in registers.
    fn turn_round(&mut self, inputs: usize) {
        self.counts.clear();
        self.counts.resize(inputs, 0);
        for &feature in &self.features {
            self.counts[usize::from(feature)] += 1;
        }
        self.lists.clear();
        let mut begin = 0;
        for (feature, count) in self.counts.iter_mut().enumerate() {
            if *count > 0 {
                self.lists.push((feature as u16, begin));
                begin += std::mem::replace(count, begin);
            }
        }
        self.lists.push((0, begin));
        self.rows.clear();
        self.rows.resize(self.features.len(), 0);
        for (row, bounds) in self.starts.windows(2).enumerate() {
            for &feature in &self.features[bounds[0] as usize..bounds[1] as usize] {
                let place = &mut self.counts[usize::from(feature)];
                self.rows[*place as usize] = row as u16;
                *place += 1;
            }
        }
    }

    /// Returns the number of positions in the tile.
    pub fn len(&self) -> usize {
        self.targets.len()
    }

    /// Returns the inputs of each row.
    #[inline(always)]
    pub fn rows(&self) -> impl Iterator<Item = &[u16]> {
        self.starts.windows(2).map(|bounds| &self.features[bounds[0] as usize..bounds[1] as usize])
    }

    /// Returns the rows of each input that occurs, in ascending order.
    #[inline(always)]
    pub fn lists(&self) -> impl Iterator<Item = (usize, &[u16])> {
        self.lists.windows(2).map(|pair| (usize::from(pair[0].0), &self.rows[pair[0].1 as usize..pair[1].1 as usize]))
    }

    /// Returns the runs of positions with one output bucket: the bucket and the range.
    #[inline(always)]
    pub fn stretches(&self) -> impl Iterator<Item = (usize, std::ops::Range<usize>)> {
        let mut from = 0;
        self.buckets.chunk_by(|a, b| a == b).map(move |run| {
            let range = from..from + run.len();
            from = range.end;
            (usize::from(run[0]), range)
        })
    }
}
