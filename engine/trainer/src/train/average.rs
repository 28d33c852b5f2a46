//! Weighted mean of networks: `average`.
//!
//! Networks that were trained on from the same weights, but on other data, err differently. The
//! mean of their weights often errs less than each of them (P. Izmailov et al., "Averaging weights
//! leads to wider optima and better generalization", UAI 2018; M. Wortsman et al., "Model soups",
//! ICML 2022). Files have their neurons in order of activity, so those of the others are put in the
//! order of the first.

use super::export;
use super::loaded::{self, LoadedError};
use super::network::{Parameters, Shape};
use super::order;
use clap::Args;
use destrier::nnue::{self, FormatError};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Networks whose mean cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum AverageError {
    #[error("{}: {error}", path.display())]
    Read { path: PathBuf, error: FormatError },
    #[error("{}: {found}, and {} is {expected}; give networks of one shape", path.display(), first.display())]
    Shape { path: PathBuf, found: String, first: PathBuf, expected: String },
    #[error(
        "{}: its neuron {neuron} is like none of {}; give networks that were trained on from the same weights",
        path.display(), first.display()
    )]
    Unlike { path: PathBuf, neuron: usize, first: PathBuf },
    #[error(transparent)]
    Loaded(#[from] LoadedError),
}

/// Network file and its weight in the mean.
#[derive(Debug, Clone, PartialEq)]
struct AveragePart {
    path: PathBuf,
    weight: f64,
}

impl FromStr for AveragePart {
    type Err = String;

    /// Parses `net.nnue:3`; a word without a weight has the weight 1.
    fn from_str(word: &str) -> Result<AveragePart, String> {
        let alone = AveragePart { path: word.into(), weight: 1.0 };
        let Some((path, weight)) = word.rsplit_once(':') else { return Ok(alone) };
        match weight.parse::<f64>() {
            Ok(weight) if weight > 0.0 && weight.is_finite() => Ok(AveragePart { path: path.into(), weight }),
            Ok(_) => Err(format!("the weight {weight} is not above 0")),
            // The colon of a drive, or of a name.
            Err(_) => Ok(alone),
        }
    }
}

/// Networks to average.
#[derive(Debug, Clone, Args)]
pub struct AverageArgs {
    /// Network files of one shape, trained on from the same weights, each with its weight in the
    /// mean [default weight: 1]
    #[arg(required = true, num_args = 2.., value_name = "NET[:WEIGHT]")]
    parts: Vec<AveragePart>,
    /// Network file to write
    #[arg(long, short, value_name = "FILE")]
    out: PathBuf,
}

impl AverageArgs {
    /// Writes the mean, and says what it is on `out`.
    ///
    /// # Errors
    /// [`AverageError`], with file and remedy.
    pub fn run(&self, out: &mut dyn Write) -> Result<(), AverageError> {
        let Some((first, others)) = self.parts.split_first() else { return Ok(()) };
        let total: f64 = self.parts.iter().map(|part| part.weight).sum();
        let share = |part: &AveragePart| (part.weight / total) as f32;
        let (shape, weights) = read(&first.path)?;
        let mut mean = weights.clone();
        mean.groups_mut().into_iter().flatten().for_each(|weight| *weight *= share(first));
        for part in others {
            let (other_shape, other) = read(&part.path)?;
            if other_shape != shape {
                let [found, expected] = [other_shape, shape].map(|shape| shape.layout().describe());
                let (path, first) = (part.path.clone(), first.path.clone());
                return Err(AverageError::Shape { path, found, first, expected });
            }
            let order = order::like(&shape, &weights, &other).map_err(|neuron| AverageError::Unlike {
                path: part.path.clone(),
                neuron,
                first: first.path.clone(),
            })?;
            let mut other = order::reordered(&shape, other, &order);
            for (sum, more) in mean.groups_mut().into_iter().zip(other.groups_mut()) {
                sum.iter_mut().zip(more).for_each(|(sum, more)| *sum += share(part) * *more);
            }
        }
        Ok(loaded::write(&self.out, &self.out, &shape, &mean, out)?)
    }
}

/// Reads the shape and the weights of a network file.
fn read(path: &Path) -> Result<(Shape, Parameters), AverageError> {
    let fault = |error| AverageError::Read { path: path.to_owned(), error };
    let bytes = nnue::read_bytes(path).map_err(fault)?;
    let network = nnue::parse(&bytes).map_err(fault)?;
    let shape = Shape::of_layout(network.layout());
    let weights = export::dequantised(&shape, nnue::weights(&bytes, network.layout()));
    Ok((shape, weights))
}

#[cfg(test)]
mod tests {
    use super::super::features::Inputs;
    use super::*;
    use clap::Parser;
    use destrier::nnue::Kind;

    #[derive(Debug, Parser)]
    struct AverageLine {
        #[command(flatten)]
        args: AverageArgs,
    }

    /// Folder of the network files of a test.
    struct AverageFolder(tempfile::TempDir);

    impl AverageFolder {
        fn path(&self, name: &str) -> PathBuf {
            self.0.path().join(name)
        }

        fn write(&self, name: &str, shape: &Shape, weights: &Parameters) {
            let payload = export::payload(shape, weights).expect("weights in range");
            std::fs::write(self.path(name), export::network(shape, &payload).expect("a shape")).expect("written");
        }

        /// Runs the command; `@` stands for the folder.
        fn average(&self, words: &str) -> Result<(), String> {
            let words = words.replace('@', &format!("{}/", self.0.path().display()));
            let line = AverageLine::try_parse_from(std::iter::once("average").chain(words.split(' ')));
            line.map_err(|error| error.to_string())?.args.run(&mut Vec::new()).map_err(|error| error.to_string())
        }
    }

    fn shape(kind: Kind, hidden: usize) -> Shape {
        let inputs = Inputs::of_set("piece".parse().expect("a set"));
        Shape { kind, hidden, inputs, output_buckets: 8, factorised: false }
    }

    fn weights(shape: &Shape, seed: u64) -> Parameters {
        let mut weights = Parameters::random(shape, seed);
        weights.groups_mut().into_iter().flatten().for_each(|weight| *weight = weight.clamp(-0.9, 0.9));
        weights
    }

    /// The mean of a network with itself is itself, and that of two lies between their weights,
    /// whatever the order of the second one's neurons.
    #[test]
    fn a_mean_has_the_mean_weights() {
        for kind in Kind::ALL {
            let folder = AverageFolder(tempfile::tempdir().expect("a folder"));
            let shape = shape(kind, 2 * kind.hidden_step());
            let one = weights(&shape, 7);
            let mut two = one.clone();
            two.groups_mut().into_iter().flatten().step_by(3).for_each(|weight| *weight *= 1.08);
            let count = kind.second_inputs(shape.hidden) / 2;
            let turned: Vec<usize> = (0..count).map(|input| (input * 3 + 1) % count).collect();
            folder.write("one.nnue", &shape, &one);
            folder.write("two.nnue", &shape, &two);
            folder.write("turned.nnue", &shape, &order::reordered(&shape, two, &turned));
            folder.average("@one.nnue:2 @one.nnue:5 --out @same.nnue").unwrap();
            folder.average("@one.nnue @two.nnue:3 --out @mean.nnue").unwrap();
            folder.average("@one.nnue:1 @turned.nnue:3 --out @turned-mean.nnue").unwrap();
            let bytes = |name: &str| std::fs::read(folder.path(name)).expect("a file");
            assert_eq!(bytes("one.nnue"), bytes("same.nnue"), "{kind:?}");
            assert_eq!(bytes("mean.nnue"), bytes("turned-mean.nnue"), "{kind:?}");
            let whole = |name: &str| {
                let (shape, weights) = read(&folder.path(name)).expect("a network");
                export::payload(&shape, &weights).expect("weights in range")
            };
            let first_layer = |name: &str| -> Vec<i16> {
                let bytes = whole(name);
                let layer = &bytes[..2 * 769 * shape.hidden];
                layer.as_chunks().0.iter().map(|bytes| i16::from_le_bytes(*bytes)).collect()
            };
            let (one, two, found) = (first_layer("one.nnue"), first_layer("two.nnue"), first_layer("mean.nnue"));
            for ((one, two), found) in one.iter().zip(&two).zip(&found) {
                let expected = (f64::from(*one) + 3.0 * f64::from(*two)) / 4.0;
                assert!((expected - f64::from(*found)).abs() <= 0.51, "{kind:?}: {one}, {two}: {found}");
            }
            assert!(one != two && found != one && found != two, "{kind:?}");
        }
    }

    #[test]
    fn networks_without_a_mean_are_refused() {
        let folder = AverageFolder(tempfile::tempdir().expect("a folder"));
        let narrow = shape(Kind::Squared(8), 64);
        folder.write("one.nnue", &narrow, &weights(&narrow, 1));
        folder.write("other.nnue", &narrow, &weights(&narrow, 2));
        let wide = shape(Kind::Squared(8), 128);
        folder.write("wide.nnue", &wide, &weights(&wide, 1));
        std::fs::write(folder.path("text.nnue"), "no network").expect("written");
        for (words, fault) in [
            ("@one.nnue @other.nnue --out @no.nnue", "give networks that were trained on from the same weights"),
            ("@one.nnue @wide.nnue --out @no.nnue", "give networks of one shape"),
            ("@one.nnue @text.nnue --out @no.nnue", "text.nnue"),
            ("@one.nnue:0 @one.nnue --out @no.nnue", "the weight 0 is not above 0"),
            ("@one.nnue --out @no.nnue", "2 values required"),
            ("@one.nnue @missing.nnue --out @no.nnue", "missing.nnue"),
        ] {
            let told = folder.average(words).expect_err(words);
            assert!(told.contains(fault), "{words}: {told}");
        }
        assert!(!folder.path("no.nnue").exists());
    }
}
