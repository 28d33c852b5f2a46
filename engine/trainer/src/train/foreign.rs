//! Export of weights that another program trained: `export --from-npz`.

use super::export;
use super::features::Inputs;
use super::loaded::{self, LoadedError};
use super::network::{Parameters, Shape};
use super::npz::{self, NpzArray, NpzError};
use super::pairs::{PairFileError, read as read_pairs};
use super::plan::kind_of;
use clap::Args;
use destrier::nnue::sets::{FeatureSet, SetError};
use destrier::nnue::{HIDDEN_2, Kind, SECOND_LAYERS, SizeError};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Weights that cannot become a network.
#[derive(Debug, thiserror::Error)]
pub enum ForeignError {
    #[error("{}: {error}", path.display())]
    Npz { path: PathBuf, error: NpzError },
    #[error("{}: no array `{name}`, only {found}; a network of kind {kind} has {expected}", path.display())]
    Missing { path: PathBuf, name: &'static str, found: String, kind: &'static str, expected: String },
    #[error("{}: array `{name}`, which a network of kind {kind} does not have; leave it out", path.display())]
    Extra { path: PathBuf, name: String, kind: &'static str },
    #[error("{}: `{name}` has the shape {found:?}, not {expected:?} as {of}", path.display())]
    Shape { path: PathBuf, name: &'static str, found: Vec<usize>, expected: Vec<usize>, of: String },
    #[error("{}: `second_biases` of a second layer of {neurons} neurons; it has 8, 16, 32 or 64", path.display())]
    SecondLayer { path: PathBuf, neurons: usize },
    #[error("--features: {0}")]
    Set(#[from] SetError),
    #[error("--pairs: {0}")]
    Pairs(#[from] PairFileError),
    #[error("{}: {error}, by `biases`, `output_biases` and --features", path.display())]
    Size { path: PathBuf, error: SizeError },
    #[error(transparent)]
    Loaded(#[from] LoadedError),
}

/// Weights of another program to export.
#[derive(Debug, Clone, Args)]
pub struct ForeignArgs {
    /// Arrays of `numpy.savez`, instead of a plan
    #[arg(long, value_name = "FILE", requires = "out")]
    from_npz: Option<PathBuf>,
    /// Sum of feature blocks of --from-npz
    #[arg(long, value_name = "SET", default_value = "piece", requires = "from_npz", conflicts_with = "plan")]
    features: String,
    /// File with the pairs of a block top-pairs:K
    #[arg(long, value_name = "FILE", requires = "from_npz", conflicts_with = "plan")]
    pairs: Option<PathBuf>,
    /// Kind of the network, as in a plan; only `squared-32` needs it, whose arrays are those of
    /// `deep` [default: by the arrays]
    #[arg(long, value_name = "KIND", requires = "from_npz", conflicts_with = "plan", value_parser = kind_of)]
    kind: Option<Kind>,
    /// Network file to write
    #[arg(long, short, value_name = "FILE", requires = "from_npz", conflicts_with = "plan")]
    out: Option<PathBuf>,
}

impl ForeignArgs {
    /// Writes the network of --from-npz, if it is given, and says what it is on `out`.
    ///
    /// # Errors
    /// [`ForeignError`], with file, array and remedy.
    pub fn run(&self, out: &mut dyn Write) -> Result<(), ForeignError> {
        let (Some(from), Some(to)) = (&self.from_npz, &self.out) else { return Ok(()) };
        let pairs = self.pairs.as_ref().map(|path| read_pairs(path).map(Arc::new)).transpose()?;
        let set = FeatureSet::parse(&self.features, pairs.as_ref())?;
        let found = npz::read(from).map_err(|error| ForeignError::Npz { path: from.clone(), error })?;
        let (shape, weights) = parameters(from, set, self.kind, &found)?;
        Ok(loaded::write(to, from, &shape, &weights, out)?)
    }
}

/// Takes the weights from the arrays. Without a kind, it is that of the layers that are there.
fn parameters(
    path: &Path,
    set: FeatureSet,
    kind: Option<Kind>,
    found: &[NpzArray],
) -> Result<(Shape, Parameters), ForeignError> {
    let get = |name: &str| found.iter().find(|array| array.name == name);
    let size = |name: &str| get(name).map_or(0, |array| array.values.len());
    let (hidden, output_buckets) = (size("biases"), size("output_biases"));
    let second = size("second_biases") / output_buckets.max(1);
    let units = if SECOND_LAYERS.contains(&second) { second } else { HIDDEN_2 };
    let is_pairwise = get("second").is_some_and(|array| array.shape.last() == Some(&hidden));
    let kind = kind.unwrap_or_else(|| match (get("second"), get("third")) {
        (_, Some(_)) if is_pairwise => Kind::Pairwise(units),
        (_, Some(_)) if units == HIDDEN_2 => Kind::Deep,
        (_, Some(_)) => Kind::Squared(units),
        (Some(_), None) => Kind::Layered(units),
        (None, None) => Kind::Screlu,
    });
    if !matches!(kind, Kind::Screlu | Kind::Deep) && second > 0 && units != second {
        return Err(ForeignError::SecondLayer { path: path.to_owned(), neurons: second });
    }
    let shape = Shape { kind, hidden, inputs: Inputs::of_set(set), output_buckets, factorised: false };
    shape.layout().validate().map_err(|error| ForeignError::Size { path: path.to_owned(), error })?;
    let expected = export::parts(&shape);
    if let Some(extra) = found.iter().find(|array| expected.iter().all(|part| part.array != array.name)) {
        return Err(ForeignError::Extra { path: path.to_owned(), name: extra.name.clone(), kind: kind.name() });
    }
    if let Some(missing) = expected.iter().find(|part| get(part.array).is_none()) {
        let names = |names: Vec<&str>| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        return Err(ForeignError::Missing {
            path: path.to_owned(),
            name: missing.array,
            found: names(found.iter().map(|array| array.name.as_str()).collect()),
            kind: kind.name(),
            expected: names(expected.iter().map(|part| part.array).collect()),
        });
    }
    for (part, array) in expected.iter().filter_map(|part| Some((part, get(part.array)?))) {
        if array.shape != part.sizes {
            let of = format!("{} features of {} and {hidden} neurons need", shape.inputs.size(), shape.inputs.set());
            let (found, expected) = (array.shape.clone(), part.sizes.clone());
            return Err(ForeignError::Shape { path: path.to_owned(), name: part.array, found, expected, of });
        }
    }
    let weights = export::filled(&shape, |part| get(part.array).map(|array| array.values.clone()).unwrap_or_default());
    Ok((shape, weights))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(folder: &Path, features: &str) -> ForeignArgs {
        ForeignArgs {
            from_npz: Some(folder.join("weights.npz")),
            features: features.to_owned(),
            pairs: None,
            kind: None,
            out: Some(folder.join("net.nnue")),
        }
    }

    /// Arrays of a network's own weights.
    fn arrays_of(shape: &Shape, weights: &Parameters) -> Vec<NpzArray> {
        let mut groups = [&weights.features, &weights.bias, &weights.output, &weights.head].map(|group| &group[..]);
        let mut made = Vec::new();
        for (place, part) in export::parts(shape).into_iter().enumerate() {
            let group = &mut groups[place.min(3)];
            let (head, rest) = group.split_at(part.len());
            *group = rest;
            let values = part.order.in_file(head).into_owned();
            made.push(NpzArray { name: part.array.to_owned(), shape: part.sizes, values });
        }
        made
    }

    /// Weights of every kind become the file that a training of the same weights exports.
    #[test]
    fn arrays_become_the_network_of_the_trainer() {
        let folder = tempfile::tempdir().expect("a fresh folder");
        for (kind, output_buckets) in Kind::ALL.into_iter().flat_map(|kind| [(kind, 1), (kind, 8)]) {
            let inputs = Inputs::of_set("piece+file".parse().expect("a set"));
            let shape = Shape { kind, hidden: kind.hidden_step(), inputs, output_buckets, factorised: false };
            let mut weights = Parameters::random(&shape, 7);
            weights.groups_mut().into_iter().flatten().for_each(|weight| *weight = (*weight).clamp(-1.0, 1.0));
            std::fs::write(folder.path().join("weights.npz"), npz::write(&arrays_of(&shape, &weights)))
                .expect("a file");
            let mut told = Vec::new();
            // The arrays of deep and squared-32 are alike.
            let given = (kind == Kind::Squared(HIDDEN_2)).then_some(kind);
            ForeignArgs { kind: given, ..args(folder.path(), "piece+file") }.run(&mut told).expect("a network");
            let expected = export::payload(&shape, &weights).and_then(|payload| export::network(&shape, &payload));
            assert_eq!(std::fs::read(folder.path().join("net.nnue")).expect("a file"), expected.expect("a network"));
            assert!(String::from_utf8(told).expect("text").contains(&shape.layout().describe()));
        }
    }

    #[test]
    fn arrays_that_do_not_fit_are_named() {
        let folder = tempfile::tempdir().expect("a fresh folder");
        let inputs = Inputs::of_set("file".parse().expect("a set"));
        let shape = Shape { kind: Kind::LAYERED, hidden: 32, inputs, output_buckets: 1, factorised: false };
        let good = arrays_of(&shape, &Parameters::zero(&shape));
        let error = |features: &str, change: &dyn Fn(&mut Vec<NpzArray>)| {
            let mut arrays = good.clone();
            change(&mut arrays);
            std::fs::write(folder.path().join("weights.npz"), npz::write(&arrays)).expect("a file");
            args(folder.path(), features).run(&mut std::io::sink()).expect_err("an error").to_string()
        };
        let missing = error("file", &|arrays| drop(arrays.remove(3)));
        assert!(
            missing.contains("no array `second_biases`, only `features`, `biases`, `second`, `output`"),
            "{missing}"
        );
        assert!(missing.contains("kind layered has `features`, `biases`, `second`, `second_biases`"), "{missing}");
        let extra = error("file", &|arrays| arrays[3].name = "scale".to_owned());
        assert!(extra.contains("array `scale`, which a network of kind layered does not have"), "{extra}");
        let other = error("rank+file", &|_| ());
        assert!(
            other.contains("`features` has the shape [96, 32], not [192, 32] as 192 features of rank+file"),
            "{other}"
        );
        let large = error("file", &|arrays| arrays[2].values[0] = 3.0);
        assert!(large.contains("weights.npz: second layer: 3 does not fit"), "{large}");
        let narrow = error("file", &|arrays| {
            arrays.iter_mut().for_each(|array| array.shape.iter_mut().for_each(|size| *size = *size * 31 / 32));
            arrays.iter_mut().for_each(|array| array.values.truncate(array.shape.iter().product()));
        });
        assert!(narrow.contains("weights.npz: "), "{narrow}");
        let odd = error("file", &|arrays| {
            arrays[3].values.truncate(24);
            arrays[3].shape = vec![24];
        });
        assert!(odd.contains("`second_biases` of a second layer of 24 neurons; it has 8, 16, 32 or 64"), "{odd}");
        // Each weight fits its 16 bits, but not the sum of a few.
        let shape = Shape { kind: Kind::Screlu, output_buckets: 8, ..shape };
        let overflow = error("file", &|arrays| {
            *arrays = arrays_of(&shape, &Parameters::random(&shape, 7));
            arrays[0].values.fill(100.0);
        });
        assert!(overflow.contains("net.nnue: Destrier says ") && overflow.contains("a sum overflows"), "{overflow}");
        assert!(error("files", &|_| ()).contains("--features: unknown feature block `files`"));
        assert!(!folder.path().join("net.nnue").exists());
    }
}
