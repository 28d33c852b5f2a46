//! Page about a network's neurons, or a picture of one: `show`.
//!
//! The page computes features itself; `show/features.js` mirrors `engine/src/nnue/sets`, and a test
//! compares both. Weights are stored exactly, as i16 in base64, of as many neurons as
//! [`MAX_WEIGHTS`] allows.

use super::neuron_picture::NeuronPicture;
use super::panels::{Panel, king_stride, panels};
use crate::train::SNAPSHOTS;
use anyhow::{Context as _, bail, ensure};
use clap::Args;
use destrier::nnue::{self, Activation, Kind, Layout, PAIR_DISTANCE};
use destrier::types::Square;
use quintain::report::html;
use quintain::text::base64;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// Maximum length of the first layer's weights of all networks in a page, in bytes before base64.
const MAX_WEIGHTS: usize = 6 << 20;

/// Position that a page shows first.
const FIRST_FEN: &str = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";

const EXAMPLES: &str = "\
Examples:
  destrier-trainer show net.nnue --out net.html
  destrier-trainer show early.nnue middle.nnue late.nnue --out growth.html
  destrier-trainer show runs/first --out growth.html
  destrier-trainer show net.nnue --svg 12 --king g1 --out neuron-12.svg

The page needs no network connection. Several networks of the same shape are snapshots, chosen by a slider. \
A training with `snapshots = true` in its plan keeps one of each superbatch in its folder.";

/// Arguments of `show`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ShowArgs {
    /// Network files of the same shape, or folders of trainings with snapshots
    #[arg(required = true, value_name = "NET")]
    nets: Vec<PathBuf>,
    /// Page to write, an .html file; with --svg a picture, an .svg file
    #[arg(long, short, value_name = "FILE")]
    out: PathBuf,
    /// Neuron, from 0 on, to draw alone as a picture
    #[arg(long, value_name = "N", conflicts_with_all = ["neurons", "fen"])]
    svg: Option<usize>,
    /// Square of the own king in that picture, for inputs that depend on it
    #[arg(long, value_name = "SQUARE", default_value = "e1", requires = "svg", value_parser = square)]
    king: Square,
    /// Neurons to show: those with the largest weights in and out [default: as many as fit in a
    /// page of about 9 MiB]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    neurons: Option<u16>,
    /// Position to show first
    #[arg(long, value_name = "FEN", default_value = FIRST_FEN)]
    fen: String,
}

impl ShowArgs {
    /// Writes the page.
    ///
    /// # Errors
    /// Fails if a network cannot be read, the networks have different shapes, or the page cannot be
    /// written.
    pub fn run(&self) -> anyhow::Result<()> {
        if let Some(neuron) = self.svg {
            return self.draw(neuron);
        }
        let out = self.out.display();
        ensure!(self.out.extension().is_some_and(|end| end == "html"), "{out}: not an .html file; name the page so");
        let paths = self.nets.iter().map(|path| network_files(path)).collect::<anyhow::Result<Vec<_>>>()?.concat();
        let nets = paths.iter().map(|path| RawNetwork::read(path)).collect::<anyhow::Result<Vec<_>>>()?;
        let Some(last) = nets.last() else { bail!("no network; name one") };
        if let Some(other) = nets.iter().find(|net| net.layout != last.layout) {
            let is_alike = other.layout.describe() == last.layout.describe();
            let only = if is_alike { " with other pairs or king buckets" } else { "" };
            bail!(
                "{}: a network {}{only}, not {} as {}; give networks of one shape",
                other.name,
                other.layout.describe(),
                last.layout.describe(),
                last.name
            );
        }
        destrier::board::Board::from_fen(&self.fen).map_err(|error| anyhow::anyhow!("--fen: {error}"))?;
        let hidden = last.layout.hidden;
        let fit = MAX_WEIGHTS / (2 * last.layout.features() * nets.len());
        let count = self.neurons.map_or(fit, usize::from).clamp(1, hidden);
        let neurons = last.strongest(count);
        let page = page(&nets, last, &neurons, &self.fen);
        fs::write(&self.out, &page).with_context(|| format!("{out}: cannot write it"))?;
        let mib = page.len() as f64 / f64::from(1 << 20);
        crate::data::say(&format!("{out}: {} of {hidden} neurons, {} snapshots, {mib:.1} MiB", count, nets.len()))?;
        Ok(())
    }

    /// Writes the picture of one neuron.
    fn draw(&self, neuron: usize) -> anyhow::Result<()> {
        let out = self.out.display();
        ensure!(self.out.extension().is_some_and(|end| end == "svg"), "{out}: not an .svg file; name the picture so");
        let [net] = &self.nets[..] else { bail!("{} networks; --svg draws a neuron of one", self.nets.len()) };
        let net = RawNetwork::read(net)?;
        let Layout { hidden, kind, .. } = net.layout;
        ensure!(neuron < hidden, "--svg {neuron}: {} has {hidden} neurons, 0 to {}", net.name, hidden - 1);
        let one = kind.one() as f64;
        let (rows, weight) = (net.layout.features(), |row| f64::from(net.weight(row, neuron)) / one);
        let picture = NeuronPicture {
            layout: &net.layout,
            title: format!("Neuron {neuron} of {}", net.file_name()),
            king: self.king,
            weights: (0..rows).map(weight).collect(),
            bias: weight(rows),
        };
        fs::write(&self.out, picture.to_svg()).with_context(|| format!("{out}: cannot write it"))?;
        crate::data::say(&format!("{out}: neuron {neuron} of {hidden}, {}", net.layout.describe()))?;
        Ok(())
    }
}

/// Returns the network files that a path stands for: itself, or the snapshots of a training's
/// folder in their order.
fn network_files(path: &Path) -> anyhow::Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let folder = path.join(SNAPSHOTS);
    let mut files = Vec::new();
    if folder.is_dir() {
        for entry in fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
            files.push(entry.with_context(|| folder.display().to_string())?.path());
        }
    }
    files.retain(|file| file.extension().is_some_and(|end| end == "nnue"));
    files.sort();
    ensure!(
        !files.is_empty(),
        "{}: no snapshots in it; train with `snapshots = true` in the plan, or name network files",
        path.display()
    );
    Ok(files)
}

/// Parses the name of a square.
fn square(name: &str) -> Result<Square, String> {
    Square::parse(name).ok_or_else(|| "not a square; write it as e1".to_owned())
}

/// Network with its weights as they are in the file.
struct RawNetwork {
    name: String,
    layout: Layout,
    weights: Vec<u8>,
}

/// Weights after the first layer.
struct RawHead {
    /// Weights `[bucket][unit][side][neuron]`, without units `[bucket][side][neuron]`. Both neurons
    /// of a pair have the weight of their product.
    output: Vec<i16>,
    biases: Vec<i32>,
    /// Weights `[bucket][unit][input]` and biases of the third layers.
    middle: Option<[Vec<i32>; 2]>,
    /// Weights `[bucket][unit]` and biases of the outputs.
    last: Option<[Vec<i32>; 2]>,
}

/// Decodes numbers of `width` bytes from the start of a slice, which moves past them.
fn take(bytes: &mut &[u8], count: usize, width: usize) -> Vec<i32> {
    let (head, rest) = bytes.split_at((count * width).min(bytes.len()));
    *bytes = rest;
    let number = |bytes: &[u8]| {
        let shift = 32 - 8 * bytes.len() as u32;
        let raw = bytes.iter().rev().fold(0_u32, |value, &byte| value << 8 | u32::from(byte));
        (raw << shift).cast_signed() >> shift
    };
    head.chunks_exact(width).map(number).collect()
}

impl RawNetwork {
    fn read(path: &Path) -> anyhow::Result<RawNetwork> {
        let named = |error| anyhow::anyhow!("{}: {error}", path.display());
        let bytes = nnue::read_bytes(path).map_err(named)?;
        let layout = nnue::parse(&bytes).map_err(named)?.layout().clone();
        let weights = nnue::weights(&bytes, &layout).to_vec();
        Ok(RawNetwork { name: path.display().to_string(), layout, weights })
    }

    /// Returns the name without its folder.
    fn file_name(&self) -> String {
        Path::new(&self.name).file_name().map_or_else(|| self.name.clone(), |name| name.to_string_lossy().into_owned())
    }

    /// Returns a weight of the first layer by row and neuron; the biases are the row after the
    /// last.
    fn weight(&self, row: usize, neuron: usize) -> i16 {
        let at = 2 * (row * self.layout.hidden + neuron);
        self.weights.get(at..at + 2).map_or(0, |bytes| i16::from_le_bytes([bytes[0], bytes[1]]))
    }

    fn head(&self) -> RawHead {
        let Layout { hidden, output_buckets, kind, .. } = self.layout;
        let mut rest = self.weights.get(2 * hidden * (self.layout.features() + 1)..).unwrap_or_default();
        let (weight_len, bias_len) = if kind == Kind::Screlu { (2, 2) } else { (1, 4) };
        let (neurons, third, len) = (kind.second_layer(), output_buckets * kind.third_layer(), kind.later_weight_len());
        let units = output_buckets * neurons.max(1);
        let inputs = take(&mut rest, units * kind.second_inputs(hidden), weight_len);
        let inputs = inputs.into_iter().map(|weight| weight as i16);
        let output = if kind.activation() == Activation::Products {
            let inputs: Vec<i16> = inputs.collect();
            let twice = |weights: &[i16; PAIR_DISTANCE]| [*weights, *weights].concat();
            inputs.as_chunks().0.iter().flat_map(twice).collect()
        } else {
            inputs.collect()
        };
        let biases = take(&mut rest, units, bias_len);
        let middle = (third > 0).then(|| [take(&mut rest, third * neurons, len), take(&mut rest, third, 4)]);
        let outputs = output_buckets * kind.last_layer();
        let last = (outputs > 0).then(|| [take(&mut rest, outputs, len), take(&mut rest, output_buckets, 4)]);
        RawHead { output, biases, middle, last }
    }

    /// Returns the neurons with the largest product of the norms of their weights in and out, the
    /// largest first.
    fn strongest(&self, count: usize) -> Vec<usize> {
        let hidden = self.layout.hidden;
        let square = |weight: i16| f64::from(weight).powi(2);
        let output = self.head().output;
        let strength = |neuron: usize| {
            let inward: f64 = (0..self.layout.features()).map(|row| square(self.weight(row, neuron))).sum();
            let outward: f64 = output.iter().skip(neuron).step_by(hidden).map(|&weight| square(weight)).sum();
            inward * outward
        };
        let mut list: Vec<(f64, usize)> = (0..hidden).map(|neuron| (strength(neuron), neuron)).collect();
        list.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        list.into_iter().take(count).map(|(_, neuron)| neuron).collect()
    }

    /// Returns the weights of some neurons for the page.
    fn snapshot(&self, neurons: &[usize]) -> Value {
        let rows = self.layout.features();
        let of_row = |row: usize| neurons.iter().map(move |&neuron| self.weight(row, neuron));
        let head = self.head();
        let output = head.output.chunks_exact(self.layout.hidden).flat_map(|half| neurons.iter().map(|&n| half[n]));
        let [middle, middle_biases] = head.middle.unwrap_or_default();
        let [last, last_biases] = head.last.unwrap_or_default();
        json!({
            "name": self.name,
            "weights": encoded((0..rows).flat_map(of_row)),
            "biases": encoded(of_row(rows)),
            "head": {
                "output": encoded(output),
                "biases": head.biases,
                "middle": middle,
                "middleBiases": middle_biases,
                "last": last,
                "lastBiases": last_biases,
            },
        })
    }
}

/// Returns the layout for the page.
fn layout_of(layout: &Layout, neurons: &[usize]) -> Value {
    let pairs = layout.set.pairs().map(|list| list.pairs().iter().map(|pair| pair.features()).collect::<Vec<_>>());
    // The page adds the stride of the own king's square to features of the first one.
    let panel = |panel: &Panel| {
        let grid = panel.grid();
        let features: Vec<_> = grid.iter().map(|cell| cell.map(|cell| cell.feature)).collect();
        let names: Vec<_> = grid.iter().map(|cell| cell.map(|cell| &cell.name)).collect();
        json!({ "title": panel.title, "columns": panel.columns, "rows": panel.rows, "features": features, "names": names })
    };
    let block = |(block, first): &(nnue::sets::FeatureBlock, usize)| {
        let of_pairs = matches!(block, nnue::sets::FeatureBlock::TopPairs(_)).then(|| pairs.clone()).flatten();
        json!({
            "name": block.to_string(),
            "size": block.size(),
            "first": first,
            "pairs": of_pairs,
            "kingStride": king_stride(block),
            "panels": panels(block, Square::at(0, 0)).iter().map(panel).collect::<Vec<_>>(),
        })
    };
    json!({
        "blocks": layout.set.blocks().iter().map(block).collect::<Vec<_>>(),
        "kind": layout.kind.name(),
        "one": layout.kind.one(),
        "activation": match layout.kind.activation() {
            Activation::Clipped => "clipped",
            Activation::Squared => "squared",
            Activation::Products => "products",
        },
        "grain": layout.kind.grain(),
        "fineness": layout.kind.fineness(),
        "third": layout.kind.third_layer() > 0,
        "hidden": layout.hidden,
        "neurons": neurons,
        "whole": neurons.len() == layout.hidden,
        "outputBuckets": layout.output_buckets,
        "kingBuckets": layout.king_buckets,
        "mirrored": layout.mirrored,
        "bucketMap": layout.bucket_map,
    })
}

/// Returns the page.
fn page(nets: &[RawNetwork], last: &RawNetwork, neurons: &[usize], fen: &str) -> String {
    let Layout { hidden, .. } = last.layout;
    let shown = if neurons.len() == hidden {
        format!("all {hidden} neurons")
    } else {
        format!("the {} of {hidden} neurons with the largest weights in and out", neurons.len())
    };
    let data = json!({
        "about": format!("{}: {}, {shown}.", last.name, last.layout.describe()),
        "layout": layout_of(&last.layout, neurons),
        "snapshots": nets.iter().map(|net| net.snapshot(neurons)).collect::<Vec<_>>(),
        "fen": fen,
    });
    // A name must not end the script.
    let data = data.to_string().replace('<', "\\u003c");
    let parts = [
        ("/*TOKENS*/", html::TOKENS),
        ("/*STYLE*/", include_str!("show/page.css")),
        ("/*FEATURES*/", include_str!("show/features.js")),
        ("/*PAGE*/", include_str!("show/page.js")),
        ("/*DATA*/", &data),
    ];
    parts.iter().fold(include_str!("show/page.html").to_owned(), |page, (mark, text)| page.replacen(mark, text, 1))
}

/// Encodes numbers, little endian, in base64.
fn encoded(numbers: impl Iterator<Item = i16>) -> String {
    base64(&numbers.flat_map(i16::to_le_bytes).collect::<Vec<u8>>())
}
