//! Order of a network's neurons, which changes no evaluation: by how often they are active, or as
//! in another network.
//!
//! The engine leaves out groups of four inputs of the second layer that are all zero. If neurons
//! that are seldom active stand together, more groups are.

use super::export::{self, ExportError};
use super::integer::Integer;
use super::network::{Parameters, Shape};
use bulletformat::ChessBoard;
use destrier::nnue::{Activation, Kind, PAIR_DISTANCE};

/// Returns the weights with the neurons sorted by how often their input of the second layer is not
/// zero in positions, the most active first. Pairs stay together. A SCReLU network, which has no
/// second layer, stays as it is.
///
/// # Errors
/// [`ExportError::Overflow`] if a weight is outside the range of its integer type.
pub fn by_activity(shape: &Shape, weights: Parameters, positions: &[ChessBoard]) -> Result<Parameters, ExportError> {
    if shape.kind == Kind::Screlu {
        return Ok(weights);
    }
    let network = Integer::new(shape, &export::payload(shape, &weights)?);
    let mut counts = vec![0_u32; shape.kind.second_inputs(shape.hidden) / 2];
    for board in positions {
        for side in network.sides(board) {
            let inputs = network.second_inputs(&side);
            counts.iter_mut().zip(inputs).for_each(|(count, input)| *count += u32::from(input > 0));
        }
    }
    let mut inputs: Vec<usize> = (0..counts.len()).collect();
    inputs.sort_by_key(|&input| std::cmp::Reverse(counts[input]));
    Ok(reordered(shape, weights, &inputs))
}

/// Least likeness of a neuron in two networks that were trained on from the same weights.
const LEAST_LIKENESS: f32 = 0.5;

/// Returns the order of `other`'s inputs of the second layer, of a side, in which they are like
/// those of `first`: the cosine between the first-layer weights of their neurons is highest. The
/// error is an input of `other` that is like none of `first`.
pub fn like(shape: &Shape, first: &Parameters, other: &Parameters) -> Result<Vec<usize>, usize> {
    let theirs = columns(shape, other);
    let mut is_free = vec![true; theirs.len()];
    columns(shape, first)
        .iter()
        .map(|column| {
            let likeness = |other: &[f32]| column.iter().zip(other).map(|(a, b)| a * b).sum::<f32>();
            let free = theirs.iter().enumerate().filter(|(input, _)| is_free[*input]);
            let best = free.map(|(input, other)| (input, likeness(other))).max_by(|a, b| a.1.total_cmp(&b.1));
            let (input, likeness) = best.ok_or(0_usize)?;
            // Neurons without any weight are all alike.
            let is_empty = |column: &[f32]| column.iter().all(|&weight| weight == 0.0);
            if likeness < LEAST_LIKENESS && !(is_empty(column) && is_empty(&theirs[input])) {
                return Err(input);
            }
            is_free[input] = false;
            Ok(input)
        })
        .collect()
}

/// Returns the first-layer weights of the neurons behind each input that the second layer has of a
/// side, as vectors of length one.
fn columns(shape: &Shape, weights: &Parameters) -> Vec<Vec<f32>> {
    let rows = || weights.features.chunks_exact(shape.hidden).chain([weights.bias.as_slice()]);
    let column = |input: usize| {
        let mut column: Vec<f32> =
            neurons_of(shape, input).flat_map(|neuron| rows().map(move |row| row[neuron])).collect();
        let length = column.iter().map(|weight| weight * weight).sum::<f32>().sqrt();
        column.iter_mut().for_each(|weight| *weight /= length.max(f32::MIN_POSITIVE));
        column
    };
    (0..shape.kind.second_inputs(shape.hidden) / 2).map(column).collect()
}

/// Returns the neurons that make an input of the second layer: one, or the two of a product.
fn neurons_of(shape: &Shape, input: usize) -> impl Iterator<Item = usize> {
    let is_product = shape.kind.activation() == Activation::Products;
    // Blocks of two halves: the neurons of the products, or a row's weights of both sides.
    let first = if is_product { input / PAIR_DISTANCE * 2 * PAIR_DISTANCE + input % PAIR_DISTANCE } else { input };
    [0, PAIR_DISTANCE].into_iter().take(if is_product { 2 } else { 1 }).map(move |half| first + half)
}

/// Returns the weights with the inputs that the second layer has of a side in this order.
pub fn reordered(shape: &Shape, weights: Parameters, inputs: &[usize]) -> Parameters {
    let hidden = shape.hidden;
    let mut neurons = vec![0; hidden];
    for (to, &from) in inputs.iter().enumerate() {
        for (to, from) in neurons_of(shape, to).zip(neurons_of(shape, from)) {
            neurons[to] = from;
        }
    }
    let moved = |values: &[f32]| -> Vec<f32> {
        values.chunks_exact(hidden).flat_map(|row| neurons.iter().map(|&neuron| row[neuron])).collect()
    };
    Parameters {
        features: moved(&weights.features),
        factor: moved(&weights.factor),
        bias: moved(&weights.bias),
        output: moved(&weights.output),
        head: weights.head,
    }
}

#[cfg(test)]
mod tests {
    use super::super::features::Inputs;
    use super::super::loaded::sample;
    use super::*;

    /// Weights whose neurons differ in how often they are active.
    fn weights(shape: &Shape) -> Parameters {
        let mut weights = Parameters::random(shape, 3);
        weights.groups_mut().into_iter().flatten().for_each(|weight| *weight = weight.clamp(-1.0, 1.0));
        for (neuron, bias) in weights.bias.iter_mut().enumerate() {
            *bias = if neuron * 7 % 5 == 0 { 0.3 } else { -0.4 };
        }
        weights
    }

    /// A network is found again behind another order, and after small changes.
    #[test]
    fn networks_are_put_in_the_order_of_another() {
        for kind in Kind::ALL {
            let hidden = 2 * kind.hidden_step();
            let inputs = Inputs::of_set("piece".parse().expect("a set"));
            let shape = Shape { kind, hidden, inputs, output_buckets: 8, factorised: false };
            let first = weights(&shape);
            let count = kind.second_inputs(hidden) / 2;
            let order: Vec<usize> = (0..count).map(|input| (input * 5 + 3) % count).collect();
            let mut other = reordered(&shape, first.clone(), &order);
            other.features.iter_mut().step_by(3).for_each(|weight| *weight *= 1.1);
            let back = reordered(&shape, other.clone(), &like(&shape, &first, &other).expect("alike"));
            for (found, expected) in back.features.iter().zip(&first.features) {
                assert!((found - expected).abs() <= 0.11 * expected.abs(), "{kind:?}: {found}, {expected}");
            }
            assert_eq!(
                (back.bias, back.output, back.head),
                (first.bias.clone(), first.output.clone(), first.head.clone())
            );
            assert!(like(&shape, &first, &Parameters::random(&shape, 4)).is_err(), "{kind:?}");
        }
    }

    #[test]
    fn the_order_changes_no_evaluation_and_leaves_out_more() {
        let positions = sample();
        for kind in Kind::ALL {
            let hidden = 2 * kind.hidden_step();
            let inputs = Inputs::of_set("piece".parse().expect("a set"));
            let shape = Shape { kind, hidden, inputs, output_buckets: 8, factorised: false };
            let network = |weights: &Parameters| {
                let payload = export::payload(&shape, weights).expect("weights in range");
                Integer::new(&shape, &payload)
            };
            let groups = |network: &Integer| -> usize {
                let sides = positions.iter().flat_map(|board| network.sides(board));
                let inputs: Vec<i64> = sides.flat_map(|side| network.second_inputs(&side)).collect();
                inputs.chunks_exact(4).filter(|group| group.iter().any(|&input| input > 0)).count()
            };
            let before = network(&weights(&shape));
            let after = network(&by_activity(&shape, weights(&shape), &positions).expect("weights in range"));
            for board in &positions {
                assert_eq!(after.evaluate(board), before.evaluate(board), "{kind:?}");
            }
            let (many, fewer) = (groups(&before), groups(&after));
            assert!(kind == Kind::Screlu && many == fewer || fewer < many * 9 / 10, "{kind:?}: {many}, then {fewer}");
        }
    }
}
