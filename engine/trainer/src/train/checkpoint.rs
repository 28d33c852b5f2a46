//! Checkpoints: the complete state of a run in one file, which is replaced atomically. A resumed
//! run continues as if it had never stopped.

use super::export;
use super::network::{Parameters, Shape};
use super::trainer::State;
use crate::data::{DataError, replace};
use destrier::nnue::{self, Kind, Layout};
use quintain::journal;
use sha2::{Digest, Sha256};
use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

const MAGIC: &[u8; 8] = b"DTRAINCK";
const VERSION: u32 = 2;
const DIGEST: usize = 32;

/// Error of a checkpoint.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    #[error(transparent)]
    Data(#[from] DataError),
    #[error("{}: {fault}; remove the file to start again", path.display())]
    Damaged { path: PathBuf, fault: &'static str },
    #[error("{}: {fault}; `start` is a network file or the `checkpoint.bin` of a run, both of the same shape; a network file may have no or larger king buckets, one output bucket, or other layers after the first, and, except in pairwise kinds, a number of neurons that divides the plan's", path.display())]
    Start { path: PathBuf, fault: String },
    #[error("{}: the weights are of {found}, not of {expected}; restore the plan, or remove the file to start again", path.display())]
    OtherShape { path: PathBuf, found: String, expected: String },
    #[error(
        "{}: it was made by another plan, from other data or another `start`, or by an earlier version of this program; restore \
         them, or give the plan another `out` folder",
        path.display()
    )]
    OtherPlan { path: PathBuf },
}

/// Weights that a run begins with.
#[derive(Debug, Clone, PartialEq)]
pub struct InitialWeights {
    /// Weights of the run's shape.
    pub weights: Parameters,
    /// True if the layers after the first are random, as those of the file are of another shape.
    pub has_new_layers: bool,
}

/// State of a run between two superbatches.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    /// Digest of the settings and data that must not change for the run to continue.
    pub plan: [u8; DIGEST],
    /// Signature of the network's shape, see [`Shape::signature`].
    pub shape: String,
    /// Superbatches trained so far.
    pub superbatches: u64,
    /// Number of positions taken from the data so far.
    pub position: u64,
    /// Learning curve so far, as CSV.
    pub curve: String,
    /// Weights and moments.
    pub state: State,
}

impl Checkpoint {
    /// Writes a temporary file and renames it, so that a kill leaves either the old or the new
    /// checkpoint.
    ///
    /// # Errors
    /// [`CheckpointError::Data`].
    pub fn save(&self, path: &Path) -> Result<(), CheckpointError> {
        let mut bytes = Vec::new();
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&self.plan);
        for number in [self.superbatches, self.position] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        for text in [&self.shape, &self.curve] {
            bytes.extend_from_slice(&(text.len() as u64).to_le_bytes());
            bytes.extend_from_slice(text.as_bytes());
        }
        for group in self.state.iter().flat_map(Parameters::groups) {
            bytes.extend(group.iter().flat_map(|value| value.to_le_bytes()));
        }
        let digest = Sha256::digest(&bytes);
        bytes.extend_from_slice(&digest);
        Ok(replace(path, &bytes)?)
    }

    /// Reads the checkpoint of a network of this shape; `None` if there is no file.
    ///
    /// # Errors
    /// [`CheckpointError`], among them [`CheckpointError::OtherPlan`] if the digest is not `plan`.
    pub fn load(path: &Path, shape: &Shape, plan: [u8; DIGEST]) -> Result<Option<Checkpoint>, CheckpointError> {
        Checkpoint::read(path, shape, Some(plan))
    }

    /// Reads the weights from the checkpoint of another run with a network of this shape, or from
    /// a network file, whose weights have been rounded. Each king bucket begins with the file's
    /// bucket of its squares. If the file has one output bucket, each of the run's begins with it.
    /// A squared network begins with the evaluation of a SCReLU one. If the layers after the first
    /// differ otherwise, they are random from the seed. Several neurons begin with each of the
    /// file, if the run's number is a multiple of the file's.
    ///
    /// # Errors
    /// [`CheckpointError::Start`], [`CheckpointError::Data`].
    pub fn weights(path: &Path, shape: &Shape, seed: u64) -> Result<InitialWeights, CheckpointError> {
        let unfit = |fault: String| CheckpointError::Start { path: path.to_owned(), fault };
        let of = |found: &str| format!("the weights are of {found}, not of {}", shape.signature());
        let other = nnue::read_bytes(path).ok().filter(|bytes| !bytes.starts_with(MAGIC));
        if let Some(bytes) = other {
            let network =
                nnue::parse(&bytes).map_err(|_| unfit("neither a network nor a checkpoint, or damaged".to_owned()))?;
            let found = network.layout();
            let payload = nnue::weights(&bytes, found);
            // The shape asked for, with the file's neurons. The order of those of pairwise kinds
            // matters, so copies of them would be other products.
            let has_copies = !matches!(shape.kind, Kind::Pairwise(_)) && shape.hidden.is_multiple_of(found.hidden);
            let narrow = Shape { hidden: if has_copies { found.hidden } else { shape.hidden }, ..shape.clone() };
            // That, with the file's layers after the first.
            let same = Shape { kind: found.kind, output_buckets: found.output_buckets, ..narrow.clone() };
            let (king_buckets, bucket_map) = (found.king_buckets, found.bucket_map);
            let differs = *found != Layout { king_buckets, bucket_map, ..same.layout() };
            let payload = if differs { None } else { export::in_king_buckets(&same, found, payload) };
            let payload = payload.ok_or_else(|| unfit(of(&Shape::of_layout(found).signature())))?;
            let mut weights = export::dequantised(&same, &payload);
            let has_buckets = [1, shape.output_buckets].contains(&same.output_buckets);
            let mut has_new_layers = false;
            match (same.kind, shape.kind) {
                _ if same == narrow => {}
                (of_file, kind) if of_file == kind && same.output_buckets == 1 => {
                    weights = weights.in_each_output_bucket(&narrow);
                }
                (Kind::Screlu, Kind::Squared(_)) if has_buckets => {
                    weights.with_windows(&narrow, same.output_buckets, seed);
                }
                _ => {
                    let Parameters { output, head, .. } = Parameters::random(&narrow, seed);
                    (weights.output, weights.head) = (output, head);
                    has_new_layers = true;
                }
            }
            if narrow != *shape {
                weights = weights.in_copies(shape.hidden / narrow.hidden, seed);
            }
            return Ok(InitialWeights { weights, has_new_layers });
        }
        match Checkpoint::read(path, shape, None) {
            Ok(Some(Checkpoint { state: [weights, ..], .. })) => Ok(InitialWeights { weights, has_new_layers: false }),
            Ok(None) => Err(unfit("there is no such file".to_owned())),
            Err(CheckpointError::Damaged { fault, .. }) => Err(unfit(fault.to_owned())),
            Err(CheckpointError::OtherShape { found, .. }) => Err(unfit(of(&found))),
            Err(error) => Err(error),
        }
    }

    fn read(path: &Path, shape: &Shape, expected: Option<[u8; DIGEST]>) -> Result<Option<Checkpoint>, CheckpointError> {
        let bytes = match std::fs::read(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(DataError::io(path, "read it")(error).into()),
            Ok(bytes) => bytes,
        };
        let damaged = |fault| CheckpointError::Damaged { path: path.to_owned(), fault };
        let body = bytes.len().checked_sub(DIGEST).ok_or_else(|| damaged("too short for a checkpoint"))?;
        let (body, digest) = bytes.split_at(body);
        let mut rest = body;
        let mut cut = |length: usize| -> Result<&[u8], CheckpointError> {
            let (head, tail) = rest.split_at_checked(length).ok_or_else(|| damaged("the file is cut short"))?;
            rest = tail;
            Ok(head)
        };
        if cut(8)? != MAGIC || cut(4)? != VERSION.to_le_bytes() {
            return Err(damaged("no checkpoint of this version"));
        }
        if Sha256::digest(body).as_slice() != digest {
            return Err(damaged("the digest does not fit"));
        }
        let mut plan = [0; DIGEST];
        plan.copy_from_slice(cut(DIGEST)?);
        // Checked before the weights, because those of another shape would not fit.
        if expected.is_some_and(|expected| expected != plan) {
            return Err(CheckpointError::OtherPlan { path: path.to_owned() });
        }
        let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte));
        let (superbatches, position) = (number(cut(8)?), number(cut(8)?));
        let mut text = || -> Result<String, CheckpointError> {
            let length = usize::try_from(number(cut(8)?)).unwrap_or(usize::MAX);
            Ok(String::from_utf8_lossy(cut(length)?).into_owned())
        };
        let (found, curve) = (text()?, text()?);
        let expected = shape.signature();
        if found != expected {
            return Err(CheckpointError::OtherShape { path: path.to_owned(), found, expected });
        }
        let mut state = [(); 3].map(|()| Parameters::zero(shape));
        for group in state.iter_mut().flat_map(Parameters::groups_mut) {
            let words = cut(4 * group.len())?.as_chunks::<4>().0;
            group.iter_mut().zip(words).for_each(|(value, word)| *value = f32::from_le_bytes(*word));
        }
        if !rest.is_empty() {
            return Err(damaged("there is more in it than the network has"));
        }
        Ok(Some(Checkpoint { plan, shape: found, superbatches, position, curve, state }))
    }
}

/// Name of the file that locks a folder.
pub const LOCK: &str = "lock";

/// Locks a folder by its file [`LOCK`] until the returned file is closed. Returns `None` if another
/// process holds the lock.
pub fn lock_folder(folder: &Path) -> io::Result<Option<File>> {
    let file = File::create(folder.join(LOCK))?;
    match journal::lock(&file) {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}
