//! Activity of a network's neurons over data files: `neurons`.

use crate::data::{Input, say};
use crate::train::Integer;
use clap::Args;
use destrier::nnue::{self, FormatError};
use serde_json::json;
use std::path::PathBuf;

/// Arguments of `neurons`.
#[derive(Debug, Args)]
pub struct NeuronsArgs {
    /// Network file
    net: PathBuf,
    #[command(flatten)]
    input: Input,
    /// Positions to evaluate, from the first on
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(1..))]
    positions: u64,
    /// Print a line for each neuron
    #[arg(long)]
    each: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// Activity of one neuron.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Activity {
    zero: u64,
    saturated: u64,
    count: u64,
    sum: i64,
}

impl Activity {
    pub(super) fn record(&mut self, value: i64, one: i64) {
        self.zero += u64::from(value <= 0);
        self.saturated += u64::from(value >= one);
        self.count += 1;
        self.sum += value.clamp(0, one);
    }

    fn share(self, count: u64) -> f64 {
        100.0 * count as f64 / self.count.max(1) as f64
    }

    /// Returns the mean activation, from 0 to 1.
    fn mean(self, one: i64) -> f64 {
        self.sum as f64 / (one as f64 * self.count.max(1) as f64)
    }

    pub(super) fn is_dead(self) -> bool {
        self.count > 0 && self.zero == self.count
    }

    pub(super) fn is_stuck(self) -> bool {
        self.count > 0 && self.saturated == self.count
    }
}

/// Activities of a layer.
struct LayerActivity {
    name: String,
    one: i64,
    neurons: Vec<Activity>,
}

impl LayerActivity {
    fn new(name: &str, one: i64, neurons: usize) -> LayerActivity {
        LayerActivity { name: name.to_owned(), one, neurons: vec![Activity::default(); neurons] }
    }

    /// Records the values of the neurons from `first` on.
    fn record(&mut self, first: usize, values: &[i64]) {
        for (neuron, &value) in self.neurons.iter_mut().skip(first).zip(values) {
            neuron.record(value, self.one);
        }
    }

    fn print(&self, each: bool) -> anyhow::Result<()> {
        // Neurons of an output bucket without positions have no share.
        let used = self.neurons.iter().filter(|neuron| neuron.count > 0).count();
        let whole = |sum: f64| sum / used.max(1) as f64;
        let zero = whole(self.neurons.iter().map(|neuron| neuron.share(neuron.zero)).sum());
        let saturated = whole(self.neurons.iter().map(|neuron| neuron.share(neuron.saturated)).sum());
        let mean = whole(self.neurons.iter().map(|neuron| neuron.mean(self.one)).sum());
        say(&format!(
            "{}: {} neurons, {} dead, {} always saturated; at zero {zero:.1} %, between {:.1} %, saturated \
             {saturated:.1} %; mean {mean:.3}",
            self.name,
            used,
            self.neurons.iter().filter(|neuron| neuron.is_dead()).count(),
            self.neurons.iter().filter(|neuron| neuron.is_stuck()).count(),
            100.0 - zero - saturated
        ))?;
        for (place, neuron) in self.neurons.iter().enumerate().filter(|_| each) {
            if neuron.count == 0 {
                say(&format!("  {place:5}  no positions"))?;
                continue;
            }
            let (zero, saturated) = (neuron.share(neuron.zero), neuron.share(neuron.saturated));
            say(&format!(
                "  {place:5}  zero {zero:5.1} %  saturated {saturated:5.1} %  mean {:.3}",
                neuron.mean(self.one)
            ))?;
        }
        Ok(())
    }

    fn to_json(&self) -> serde_json::Value {
        let neuron = |neuron: &Activity| {
            let known = |value: f64| (neuron.count > 0).then_some(value);
            json!({
                "zero": known(neuron.share(neuron.zero) / 100.0),
                "saturated": known(neuron.share(neuron.saturated) / 100.0),
                "mean": known(neuron.mean(self.one)),
            })
        };
        json!({ "layer": self.name, "neurons": self.neurons.iter().map(neuron).collect::<Vec<_>>() })
    }
}

impl NeuronsArgs {
    /// Counts and prints.
    ///
    /// # Errors
    /// Fails if the network or an input cannot be read.
    pub fn run(&self) -> anyhow::Result<()> {
        let named = |error: FormatError| anyhow::anyhow!("{}: {error}", self.net.display());
        let network = Integer::of_file(&nnue::read_bytes(&self.net).map_err(named)?).map_err(named)?;
        let hidden = network.shape().hidden;
        let mut first = LayerActivity::new("first layer, both sides", network.one(), hidden);
        let buckets = network.shape().output_buckets;
        let names = ["second layer", "third layer"]
            .map(|name| if buckets > 1 { format!("{name}, by output bucket") } else { name.to_owned() });
        let mut dense: Vec<LayerActivity> = Vec::new();
        let mut used = vec![0_u64; network.shape().inputs.size()];
        let mut positions = 0;
        self.input.read_positions_while(|position| {
            let board = position.to_bullet();
            network.inputs(&board).iter().flatten().for_each(|&input| used[usize::from(input)] += 1);
            let sides = network.sides(&board);
            sides.iter().for_each(|values| first.record(0, values));
            let bucket = usize::from(network.shape().bucket(board.occ.count_ones()));
            for (place, values) in network.units(&sides, bucket).iter().enumerate() {
                if dense.len() == place {
                    dense.push(LayerActivity::new(&names[place.min(1)], network.unit_one(), buckets * values.len()));
                }
                dense[place].record(bucket * values.len(), values);
            }
            positions += 1;
            positions < self.positions
        })?;
        let dead_inputs = used.iter().filter(|&&count| count == 0).count();
        let norms = network.output_norms();
        if self.json {
            let layers: Vec<_> = std::iter::once(&first).chain(&dense).map(LayerActivity::to_json).collect();
            let all = json!({
                "positions": positions, "inputs": used.len(), "dead_inputs": dead_inputs, "layers": layers,
                "output_norms": norms,
            });
            say(&serde_json::to_string_pretty(&all)?)?;
            return Ok(());
        }
        say(&format!("{positions} positions; {dead_inputs} of {} inputs never on", used.len()))?;
        for layer in std::iter::once(&first).chain(&dense) {
            layer.print(self.each)?;
        }
        let norms: Vec<String> = norms.iter().map(|norm| format!("{norm:.0}")).collect();
        say(&format!("norms of the weights after the first layer, by output bucket and unit: {}", norms.join(" ")))?;
        Ok(())
    }
}
