//! Training plans: TOML files.

use super::features::Inputs;
use super::head::ErrorForm;
use super::network::Shape;
use super::pairs::{self, PairFileError};
use super::schedule::{Blend, Rate};
use super::triplet::{TRIPLET, TripletForm, TripletLoss, TripletSpace};
use destrier::nnue::sets::{FeatureBlock, FeatureSet, SetError};
use destrier::nnue::{Kind, MAX_KING_BUCKETS, SCALE, SizeError, sha256_hex};
use quintain::text::{TomlError, from_toml};
use serde::{Deserialize, Deserializer};
use std::ops::RangeInclusive;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// Scales that a plan may give, in centipawns at a win probability of 0.73.
pub(crate) const SCALES: RangeInclusive<f32> = 50.0..=2000.0;

/// Error in a plan.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    #[error("{}: {error}", path.display())]
    Io { path: PathBuf, error: std::io::Error },
    #[error(transparent)]
    Syntax(#[from] TomlError),
    #[error("{}: line {line}, `{key}` is {value}: {remedy}", path.display())]
    Value { path: PathBuf, line: usize, key: &'static str, value: String, remedy: &'static str },
    #[error("{}: line {line}, `features`: {error}", path.display())]
    Features { path: PathBuf, line: usize, error: SetError },
    #[error(transparent)]
    Pairs(#[from] PairFileError),
}

/// Plan of one training run. Relative paths start at the plan's folder.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Plan {
    /// Name of the run in tables and files.
    pub name: String,
    /// Folder for checkpoints, curves and the network.
    pub out: PathBuf,
    /// Seed of the initial weights and of the order of the data.
    #[serde(default = "defaults::seed")]
    pub seed: u64,
    /// Maximum number of threads; the number of processors by default. It does not affect the
    /// result.
    #[serde(default)]
    pub threads: Option<usize>,
    /// Keeps the network of every superbatch in `snapshots`, for `show`.
    #[serde(default)]
    pub snapshots: bool,
    /// Training and validation data.
    pub data: Data,
    /// Shape of the network.
    pub network: Network,
    /// Length of the training, batches and loss.
    pub training: Training,
    /// Learning rate schedule.
    pub rate: Rate,
    /// Share of the game result in the target.
    #[serde(default)]
    pub wdl: Blend,
    /// Parameters of AdamW.
    #[serde(default)]
    pub optimiser: Optimiser,
}

/// Training and validation data.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Data {
    /// Shuffled files of 32-byte bulletformat records; the method `pqr` needs none.
    #[serde(default)]
    pub files: Vec<PathBuf>,
    /// Files of positions that are never trained on, preferably split off by game.
    #[serde(default)]
    pub validation: Vec<PathBuf>,
    /// Share of `files` at their end that is held out if `validation` is empty; more than 0 and at
    /// most 0.5.
    #[serde(default = "defaults::validation_fraction")]
    pub validation_fraction: f64,
    /// Maximum number of held-out positions used.
    #[serde(default = "defaults::validation_positions")]
    pub validation_positions: u64,
    /// Files of triplets from `data triplets`, for the methods `pqr` and `mixed`.
    #[serde(default)]
    pub triplets: Option<Vec<PathBuf>>,
}

/// Shape of the network.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Network {
    /// Sum of feature blocks, such as `piece+file+rank`.
    #[serde(default = "defaults::features")]
    pub features: String,
    /// File with the pairs of the block `top-pairs`.
    #[serde(default)]
    pub pairs: Option<PathBuf>,
    /// Feature set of the two keys above.
    #[serde(skip, default = "FeatureSet::piece")]
    pub set: FeatureSet,
    /// Name of an architecture, see [`Kind::name`].
    #[serde(default = "defaults::kind", deserialize_with = "kind")]
    pub kind: Kind,
    /// Neurons per perspective, 32 to 4096 in steps of 32, of 128 in pairwise kinds.
    pub hidden: usize,
    /// Mirrors the board so that the own king stands on files a to d; true by default if the
    /// features are `piece`, the only set that allows it.
    #[serde(default)]
    pub mirrored: Option<bool>,
    /// Bucket numbers of the 32 squares of the own king, rank by rank, files a to d. If empty,
    /// there is one bucket.
    #[serde(default)]
    pub king_buckets: Vec<u8>,
    /// Shares a common part between king buckets, or between the squares of the own king in
    /// `king-piece` and `king-all` (factorised inputs). The default is true if the inputs have no
    /// block `piece` of their own.
    #[serde(default)]
    pub factorised: Option<bool>,
    /// Number of output buckets by material, 8 or 1; each has all layers after the first.
    #[serde(default = "defaults::output_buckets")]
    pub output_buckets: usize,
    /// Checkpoint of a run, or a network file, of this shape with the initial weights; random
    /// weights by default. It allows pretraining on many cheap labels, and more training of a
    /// network whose checkpoint is lost. Each king bucket begins with the bucket of the file that
    /// contains its squares, and each output bucket with the only one of a file that has one. A
    /// squared network begins with the evaluation of a SCReLU one with one output bucket or as
    /// many. If the layers after the first differ otherwise, the first is taken and they are
    /// random. If `hidden` is a multiple of the file's neurons, each of these begins several, with
    /// noise; not in pairwise kinds.
    #[serde(default)]
    pub start: Option<PathBuf>,
}

/// Deserialises the name of an architecture, as [`Kind::name`] returns it.
pub(crate) fn kind<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Kind, D::Error> {
    kind_of(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
}

/// Returns the architecture of a name.
///
/// # Errors
/// Returns a message with all names if there is none.
pub(crate) fn kind_of(name: &str) -> Result<Kind, String> {
    let names = || Kind::ALL.map(|kind| format!("`{}`", kind.name())).join(" or ");
    let found = Kind::ALL.into_iter().find(|kind| kind.name() == name);
    found.ok_or_else(|| format!("unknown kind `{name}`, expected {}", names()))
}

/// Length of the training, batches and loss.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Training {
    /// Superbatches to train, at least 1.
    pub superbatches: u32,
    /// Batches per superbatch; Bullet's 6,104 make it 100 million positions.
    #[serde(default = "defaults::batches")]
    pub batches: u32,
    /// Positions per batch; of triplets, as many whole ones as these are.
    #[serde(default = "defaults::batch")]
    pub batch: usize,
    /// Training method; `eval` by default.
    #[serde(default)]
    pub method: Option<MethodName>,
    /// Space in which triplets are compared; `wdl` by default.
    #[serde(default)]
    pub pqr_space: Option<TripletSpace>,
    /// Weight of the equality of a position and the one after its best move; 1 by default.
    #[serde(default)]
    pub pqr_equality: Option<f32>,
    /// Margin of the triplet loss with the position as anchor, in place of the logistic loss.
    #[serde(default)]
    pub pqr_margin: Option<f32>,
    /// Form of the loss: `power` of the error, or `epsilon`, which is zero within a margin.
    #[serde(default)]
    pub loss: LossName,
    /// Exponent of the error in the loss `power`.
    #[serde(default = "defaults::power")]
    pub power: f32,
    /// Error in win probability without a loss in the loss `epsilon`.
    #[serde(default = "defaults::margin")]
    pub margin: f32,
    /// Centipawns, of a score and of the network, at which the win probability is 0.73.
    #[serde(default = "defaults::scale")]
    pub scale: f32,
    /// Centipawns of a score at which the win probability is 0.73; `scale` by default.
    #[serde(default)]
    pub in_scale: Option<f32>,
    /// Centipawns of the network at which its win probability is 0.73; `scale` by default. An
    /// output of 1 is 400 centipawns.
    #[serde(default)]
    pub out_scale: Option<f32>,
    /// Superbatches between checkpoints; one also follows the last superbatch.
    #[serde(default = "defaults::save_every")]
    pub save_every: u32,
    /// Superbatches without a better validation loss against the last target before a message
    /// advises to stop; 0 disables it.
    #[serde(default = "defaults::patience")]
    pub patience: u32,
}

/// Key, value and remedy of a mistake.
type Fault = (&'static str, String, &'static str);

/// Returns a mistake.
fn wrong(key: &'static str, value: &dyn std::fmt::Display, remedy: &'static str) -> Result<(), Fault> {
    Err((key, value.to_string(), remedy))
}

/// Name of the form of the loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LossName {
    /// Power of the error.
    #[default]
    Power,
    /// Error less a margin.
    Epsilon,
}

/// Name of a training method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MethodName {
    /// Targets from scores and results.
    #[default]
    Eval,
    /// Order of the positions of triplets.
    Pqr,
    /// Batches of both in turn, `eval` first.
    Mixed,
}

impl Training {
    /// Returns the training method.
    pub fn method(&self) -> MethodName {
        self.method.unwrap_or_default()
    }

    /// Returns the positions of a batch of triplets.
    pub fn triplet_batch(&self) -> usize {
        self.batch - self.batch % TRIPLET
    }

    /// Returns the loss of triplets.
    pub fn triplet_loss(&self) -> TripletLoss {
        let form = match self.pqr_margin {
            Some(margin) => TripletForm::Margin { margin },
            None => TripletForm::Logistic { equality: self.pqr_equality.unwrap_or(1.0) },
        };
        TripletLoss { space: self.pqr_space.unwrap_or(TripletSpace::Wdl), form, gain: self.gain() }
    }

    fn check_triplets(&self) -> Result<(), Fault> {
        let keys = [
            ("pqr-space", self.pqr_space.is_some()),
            ("pqr-equality", self.pqr_equality.is_some()),
            ("pqr-margin", self.pqr_margin.is_some()),
        ];
        if let (MethodName::Eval, Some((key, _))) = (self.method(), keys.iter().find(|(_, is_set)| *is_set)) {
            return wrong(key, &"given", "only the methods `pqr` and `mixed` have it: leave the key out");
        }
        if self.method() != MethodName::Eval && self.batch < TRIPLET {
            return wrong("batch", &self.batch, "give 3 positions or more, one triplet");
        }
        if let Some(equality) = self.pqr_equality.filter(|equality| !(0.0..=100.0).contains(equality)) {
            return wrong("pqr-equality", &equality, "give 0 to 100; 1 is usual");
        }
        if let Some(margin) = self.pqr_margin.filter(|margin| !(0.0..=10.0).contains(margin)) {
            return wrong("pqr-margin", &margin, "give 0 to 10");
        }
        if self.pqr_margin.is_some() && self.pqr_equality.is_some() {
            return wrong("pqr-margin", &"given with pqr-equality", "they are two forms of the loss: leave one out");
        }
        Ok(())
    }

    fn check(&self) -> Result<(), Fault> {
        if self.superbatches == 0 || self.batches == 0 {
            return wrong("superbatches", &"zero, or batches is", "give at least 1 of each");
        }
        if self.batch == 0 || self.batch > 1 << 20 {
            return wrong("batch", &self.batch, "give 1 to 1048576 positions");
        }
        if !(1.5..=4.0).contains(&self.power) {
            return wrong("power", &self.power, "give 1.5 to 4; 2 and 2.6 are usual");
        }
        if !SCALES.contains(&self.scale) {
            return wrong("scale", &self.scale, "give 50 to 2000 centipawns");
        }
        for (key, scale) in [("in-scale", self.in_scale), ("out-scale", self.out_scale)] {
            if let Some(scale) = scale.filter(|scale| !SCALES.contains(scale)) {
                return wrong(key, &scale, "give 50 to 2000 centipawns");
            }
        }
        if !(0.0..0.5).contains(&self.margin) {
            return wrong("margin", &self.margin, "give 0 or more and less than 0.5 of a win probability");
        }
        match self.loss {
            LossName::Power if self.margin != defaults::margin() => {
                return wrong("margin", &self.margin, "only the loss `epsilon` has it: leave the key out");
            }
            LossName::Epsilon if self.power != defaults::power() => {
                return wrong("power", &self.power, "only the loss `power` has it: leave the key out");
            }
            LossName::Power | LossName::Epsilon => {}
        }
        if self.save_every == 0 {
            return wrong("save-every", &0, "give 1 or more superbatches");
        }
        Ok(())
    }

    /// Returns the dependence of the loss on the error.
    pub fn form(&self) -> ErrorForm {
        match self.loss {
            LossName::Power => ErrorForm::Power(self.power),
            LossName::Epsilon => ErrorForm::Margin(self.margin),
        }
    }

    /// Returns the centipawns of a score at which its win probability is 0.73.
    pub fn score_scale(&self) -> f32 {
        self.in_scale.unwrap_or(self.scale)
    }

    /// Returns the factor of the output in its sigmoid.
    pub fn gain(&self) -> f32 {
        SCALE as f32 / self.out_scale.unwrap_or(self.scale)
    }
}

/// Parameters of AdamW.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Optimiser {
    /// Weight decay, decoupled from the gradient.
    pub decay: f32,
    /// Decay rate of the first moment.
    pub beta1: f32,
    /// Decay rate of the second moment.
    pub beta2: f32,
    /// Term added to the denominator.
    pub epsilon: f32,
    /// Bound of the absolute value of every weight.
    pub clip: f32,
    /// Set if the bound also holds for the weights of the first layer.
    pub clip_features: bool,
}

impl Default for Optimiser {
    /// Returns Bullet's parameters, so that its schedules carry over.
    fn default() -> Optimiser {
        Optimiser { decay: 0.01, beta1: 0.9, beta2: 0.999, epsilon: 1e-8, clip: 1.98, clip_features: true }
    }
}

mod defaults {
    use destrier::nnue::Kind;

    pub fn features() -> String {
        "piece".to_owned()
    }
    pub fn kind() -> Kind {
        Kind::Screlu
    }
    pub fn seed() -> u64 {
        1
    }
    pub fn validation_fraction() -> f64 {
        0.02
    }
    pub fn validation_positions() -> u64 {
        1 << 20
    }
    pub fn output_buckets() -> usize {
        8
    }
    pub fn batches() -> u32 {
        6104
    }
    pub fn batch() -> usize {
        16384
    }
    pub fn power() -> f32 {
        2.0
    }
    pub fn margin() -> f32 {
        0.01
    }
    pub fn scale() -> f32 {
        400.0
    }
    pub fn save_every() -> u32 {
        1
    }
    pub fn patience() -> u32 {
        10
    }
}

/// Returns the absolute folder that a plan's paths start at, so that a run does not depend on the
/// working directory.
pub(crate) fn folder_of(plan: &Path) -> PathBuf {
    let folder = plan.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    full(folder)
}

/// Returns the absolute path without `..`, and without links in the part that exists, so that each
/// place has one path.
pub(crate) fn full(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let real = |part: &Path| Some((part.canonicalize().ok()?, path.strip_prefix(part).ok()?));
    let Some((mut whole, rest)) = path.ancestors().find_map(real) else { return path };
    for part in rest.components() {
        match part {
            Component::ParentDir => _ = whole.pop(),
            part => whole.push(part),
        }
    }
    whole
}

impl Plan {
    /// Reads a plan from a file.
    ///
    /// # Errors
    /// [`PlanError`], with file, line, key and remedy.
    pub fn load(path: &Path) -> Result<Plan, PlanError> {
        let text = std::fs::read_to_string(path).map_err(|error| PlanError::Io { path: path.to_owned(), error })?;
        let mut plan = Plan::parse(path, &text)?;
        let folder = folder_of(path);
        let data =
            plan.data.files.iter_mut().chain(&mut plan.data.validation).chain(plan.data.triplets.iter_mut().flatten());
        for file in data.chain(&mut plan.network.start) {
            *file = folder.join(&*file);
        }
        plan.out = full(&folder.join(&plan.out));
        Ok(plan)
    }

    /// Parses a plan; `path` is for messages.
    ///
    /// # Errors
    /// [`PlanError`], with file, line, key and remedy.
    pub fn parse(path: &Path, text: &str) -> Result<Plan, PlanError> {
        let mut plan: Plan = from_toml(path, text)?;
        let network = &mut plan.network;
        network.pairs = network.pairs.as_ref().map(|file| folder_of(path).join(file));
        let list = network.pairs.as_ref().map(|file| pairs::read(file).map(Arc::new)).transpose()?;
        network.set = FeatureSet::parse(&network.features, list.as_ref()).map_err(|error| PlanError::Features {
            path: path.to_owned(),
            line: line_of(text, "features"),
            error,
        })?;
        plan.checked(path, text)?;
        Ok(plan)
    }

    /// Checks the values of a plan; `path` and `text` are for messages.
    ///
    /// # Errors
    /// [`PlanError::Value`].
    pub fn checked(&self, path: &Path, text: &str) -> Result<(), PlanError> {
        self.check().map_err(|(key, value, remedy)| PlanError::Value {
            path: path.to_owned(),
            line: line_of(text, key),
            key,
            value,
            remedy,
        })
    }

    fn check(&self) -> Result<(), Fault> {
        if self.name.trim().is_empty() || self.name.contains(['/', '\\', '\0']) {
            return wrong(
                "name",
                &format_args!("\"{}\"", self.name),
                "give a word that can name a file, without slashes",
            );
        }
        let method = self.training.method();
        if self.data.files.is_empty() && method != MethodName::Pqr {
            return wrong("files", &"empty", "name at least one file of bulletformat");
        }
        if method != MethodName::Eval && self.data.triplets.as_ref().is_none_or(Vec::is_empty) {
            return wrong("triplets", &"not given", "name a file of `data triplets` in [data]");
        }
        if method == MethodName::Eval && self.data.triplets.is_some() {
            return wrong("triplets", &"given", "set `method` to \"pqr\" or \"mixed\", or leave the key out");
        }
        if method == MethodName::Pqr && self.data.validation.is_empty() {
            return wrong(
                "validation",
                &"empty",
                "name held-out positions with scores, on which the network is measured",
            );
        }
        let fraction = self.data.validation_fraction;
        if !(fraction > 0.0 && fraction <= 0.5) {
            return wrong("validation-fraction", &fraction, "give more than 0 and at most 0.5");
        }
        if self.data.validation_positions == 0 {
            return wrong("validation-positions", &0, "give 1 or more");
        }
        self.check_network()?;
        self.training.check()?;
        self.training.check_triplets()?;
        if self.threads == Some(0) {
            return wrong("threads", &0, "give 1 or more, or leave the key out");
        }
        let optimiser = &self.optimiser;
        if !(optimiser.clip > 0.0 && optimiser.clip <= 1.99) {
            return wrong(
                "clip",
                &optimiser.clip,
                "give more than 0 and at most 1.99, which a byte holds at 64 a unit",
            );
        }
        for (key, beta) in [("beta1", optimiser.beta1), ("beta2", optimiser.beta2)] {
            if !(0.0..1.0).contains(&beta) {
                return wrong(key, &beta, "give 0 or more and less than 1");
            }
        }
        if !(0.0..=1.0).contains(&optimiser.decay) {
            return wrong("decay", &optimiser.decay, "give 0 to 1; 0.01 is usual");
        }
        if !(optimiser.epsilon > 0.0 && optimiser.epsilon <= 1.0) {
            return wrong("epsilon", &optimiser.epsilon, "give more than 0 and at most 1; 1e-8 is usual");
        }
        self.rate.check().or_else(|(value, remedy)| wrong("rate", &value, remedy))?;
        self.wdl.check().or_else(|(value, remedy)| wrong("wdl", &value, remedy))
    }

    fn check_network(&self) -> Result<(), Fault> {
        let network = &self.network;
        if network.hidden == 0 || network.hidden > 4096 || !network.hidden.is_multiple_of(32) {
            return wrong("hidden", &network.hidden, "give 32 to 4096 in steps of 32");
        }
        if !network.hidden.is_multiple_of(network.kind.hidden_step()) {
            return wrong("hidden", &network.hidden, "give a pairwise network a multiple of 128");
        }
        if ![1, 8].contains(&network.output_buckets) {
            return wrong("output-buckets", &network.output_buckets, "give 8 or 1");
        }
        if ![0, 32].contains(&network.king_buckets.len()) {
            return wrong("king-buckets", &network.king_buckets.len(), "give 32 numbers, or leave the key out");
        }
        if network.king_buckets.iter().any(|&bucket| usize::from(bucket) >= MAX_KING_BUCKETS) {
            return wrong("king-buckets", &"too high", "number the buckets 0 to 31");
        }
        if !network.king_buckets.is_empty() && network.mirrored == Some(false) {
            return wrong("mirrored", &"false", "king buckets name files a to d only: set it to true");
        }
        if !network.set.is_piece() && !network.king_buckets.is_empty() {
            return wrong("king-buckets", &"given", "only the features `piece` have them: leave the key out");
        }
        if !network.set.is_piece() && network.mirrored == Some(true) {
            return wrong("mirrored", &"true", "only the features `piece` allow it: leave the key out");
        }
        if !network.set.is_piece() && network.factorised == Some(true) && self.inputs().shared().is_none() {
            return wrong(
                "factorised",
                &"true",
                "only king buckets, `king-piece` and `king-all` have a common part: leave the key out",
            );
        }
        if let Err(SizeError { what, found, expected }) = self.shape().layout().validate() {
            // The size's own remedy, after a colon, does not name the keys of a plan.
            let expected = expected.split(':').next().unwrap_or(expected);
            let (hidden, features) = (network.hidden, &network.features);
            let value = format!("{hidden}, with `{features}` {found} {what}, expected {expected}");
            return wrong("hidden", &value, "give fewer neurons, or a smaller set of features");
        }
        Ok(())
    }

    /// Returns the parts of the plan that determine the weights, along with seed and data. Settings
    /// of checkpoints and advice are reset to their defaults. The initial checkpoint counts by its
    /// content, not its path.
    ///
    /// # Errors
    /// Fails if the initial checkpoint cannot be read.
    pub fn decisive(&self) -> std::io::Result<(Network, Training, &Rate, &Blend, &Optimiser)> {
        let hash = |path: &PathBuf| Ok::<_, std::io::Error>(PathBuf::from(sha256_hex(&std::fs::read(path)?)));
        let [start, pairs] = [&self.network.start, &self.network.pairs].map(|file| file.as_ref().map(hash).transpose());
        let network = Network { start: start?, pairs: pairs?, ..self.network.clone() };
        let (save_every, patience) = (defaults::save_every(), defaults::patience());
        // Earlier versions gave the output another factor in its sigmoid for other scales.
        let scale = self.training.scale;
        let out_scale = self.training.out_scale.or_else(|| (scale != SCALE as f32).then_some(scale));
        let training = Training { save_every, patience, out_scale, ..self.training.clone() };
        Ok((network, training, &self.rate, &self.wdl, &self.optimiser))
    }

    /// Returns the inputs of the network.
    fn inputs(&self) -> Inputs {
        let network = &self.network;
        if !network.set.is_piece() {
            return Inputs::of_set(network.set.clone());
        }
        let mut map = [0; 32];
        map.iter_mut().zip(&network.king_buckets).for_each(|(to, from)| *to = *from);
        Inputs::new(network.mirrored.unwrap_or(true), map)
    }

    /// Returns the shape of the network.
    pub fn shape(&self) -> Shape {
        let network = &self.network;
        let inputs = self.inputs();
        let is_bare = !network.set.blocks().iter().any(|(block, _)| *block == FeatureBlock::Piece);
        let by_default = inputs.king_buckets() > 1 || is_bare;
        Shape {
            kind: network.kind,
            hidden: network.hidden,
            factorised: inputs.shared().is_some() && network.factorised.unwrap_or(by_default),
            inputs,
            output_buckets: network.output_buckets,
        }
    }
}

/// Returns the line of a key, of a key after its table and a dot, or of a table; 1 if it is not in
/// the text.
pub(crate) fn line_of(text: &str, key: &str) -> usize {
    let (table, name) = key.split_once('.').unwrap_or(("", key));
    let mut within = "";
    let found = text.lines().position(|line| {
        let line = line.trim();
        if let Some(head) = line.strip_prefix('[') {
            within = head.split(']').next().unwrap_or_default().trim();
            return within == key;
        }
        let is = |word: &str| line.split_once('=').is_some_and(|(before, _)| before.trim() == word);
        is(key) || is(name) && (table.is_empty() || within == table)
    });
    found.map_or(1, |line| line + 1)
}
